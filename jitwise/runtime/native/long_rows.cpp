// Few rows with much work in each: every phase of a row is shared by the threads.
//
// A reduction is cut into segments of a power of two of blocks. Such a segment is a whole subtree
// of the tree that one thread would have built, so the bits are those of one thread.
#include <cstring>

#include "pool.h"
#include "rows.h"

namespace jitwise {

namespace {

std::int64_t segment_blocks(const RowPlan &plan) {
    const double block_work =
        plan.kernel.work(static_cast<std::int64_t>(chunks_per_block) * plan.kernel.lanes);
    std::int64_t blocks = 1;
    while (blocks * block_work < 4000 || plan.blocks / blocks > 64 * thread_count()) blocks *= 2;
    return blocks;
}

struct LongRow {
    const RowPlan &plan;
    char *const *data;
    char *shared_scratch;
    char *scalars;
    std::int64_t segment, segments;

    template <class Work>
    void share(Work work) const {
        parallel_for(segments, 1, [&](std::int64_t begin, std::int64_t end) {
            RowWorker worker(plan, shared_scratch);
            std::memcpy(worker.scalars(), scalars, 16 * plan.kernel.reductions.size());
            worker.begin_row(data);
            for (; begin < end; ++begin)
                work(worker, begin, begin * segment, std::min((begin + 1) * segment, plan.blocks));
        });
    }

    void run_phase(int phase) const {
        const Kernel &kernel = plan.kernel;
        const Reduction *first = kernel.reductions.data() + kernel.reduction_begin[phase];
        const Reduction *last = kernel.reductions.data() + kernel.reduction_begin[phase + 1];
        if (first == last) {
            share([&](RowWorker &worker, std::int64_t, std::int64_t begin, std::int64_t end) {
                worker.map_blocks(phase, begin, end);
            });
            return;
        }
        const std::size_t bytes = kernel.accumulator_bytes;
        SmallBuffer<char, 1024> results(bytes * segments);
        share([&](RowWorker &worker, std::int64_t number, std::int64_t begin, std::int64_t end) {
            std::memcpy(results.data() + number * bytes, worker.reduce_blocks(phase, begin, end),
                        bytes);
        });
        SmallBuffer<char, 1024> levels(bytes * Counter::levels_for(segments));
        Counter counter(first, last, kernel.lanes, bytes, levels.data());
        for (std::int64_t number = 0; number < segments; ++number)
            counter.push(results.data() + number * bytes);
        char *merged = counter.collapse();
        for (const Reduction *r = first; r != last; ++r)
            reduce_lanes(*r, kernel.lanes, merged, scalars + 16 * (r - kernel.reductions.data()));
    }
};

}  // namespace

void run_long_rows(const RowPlan &plan) {
    SmallBuffer<char, 64> shared_scratch(RowWorker::scratch_row_bytes(plan) + 64);
    SmallBuffer<char, 1024> scalars(16 * plan.kernel.reductions.size() + 16);
    const std::int64_t segment = segment_blocks(plan);
    char *data[max_operands];
    for (std::int64_t row = 0; row < plan.rows; ++row) {
        plan.locate(row, data);
        LongRow long_row{plan,           data,    shared_scratch.data(),
                         scalars.data(), segment, (plan.blocks + segment - 1) / segment};
        for (int phase = 0; phase < static_cast<int>(plan.kernel.phases.size()); ++phase)
            long_row.run_phase(phase);
    }
}

}  // namespace jitwise
