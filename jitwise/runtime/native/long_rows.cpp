// Few rows with much work in each: every phase of a row is shared by the threads.
//
// A reduction is cut into segments of a power of two of blocks. Such a segment is a whole subtree
// of the tree that one thread would have built, so the bits are those of one thread. A reduction
// that an element may decide skips the segments after one that has decided.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "pool.h"
#include "rows.h"

namespace jitwise {

namespace {

constexpr std::int64_t first_blocks = 8;

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

    // The first elements alone, before any thread is woken.
    bool is_soon_decided(int phase) const {
        RowWorker worker(plan, shared_scratch);
        std::memcpy(worker.scalars(), scalars, 16 * plan.kernel.reductions.size());
        worker.begin_row(data);
        char *accumulators =
            worker.reduce_blocks(phase, 0, std::min(first_blocks, plan.blocks));
        if (!worker.is_decided(phase)) return false;
        worker.finish_phase(phase, accumulators);
        std::memcpy(scalars, worker.scalars(), 16 * plan.kernel.reductions.size());
        return true;
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
        const bool stops = kernel.orders[phase] == PhaseOrder::stops;
        if (stops && is_soon_decided(phase)) return;
        const std::size_t bytes = kernel.accumulator_bytes;
        SmallBuffer<char, 1024> results(bytes * segments);
        std::atomic<std::int64_t> deciding{segments};  // the first segment known to decide
        share([&](RowWorker &worker, std::int64_t number, std::int64_t begin, std::int64_t end) {
            const bool is_late = number > deciding.load(std::memory_order_relaxed);
            const char *result = is_late ? kernel.identities.data()
                                         : worker.reduce_blocks(phase, begin, end);
            std::memcpy(results.data() + number * bytes, result, bytes);
            if (!stops || is_late || !worker.is_decided(phase)) return;
            std::int64_t known = deciding.load();
            while (number < known && !deciding.compare_exchange_weak(known, number)) {}
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
