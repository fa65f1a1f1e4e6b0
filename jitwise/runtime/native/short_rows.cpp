// Rows of few elements, such as sums of triples: a lane takes a row of its own.
//
//     rows   a0 a1 a2 | b0 b1 b2 | c0 ...      chunks   a0 b0 c0 ... | a1 b1 c1 ... | a2 b2 c2 ...
//
// So the lanes of the accumulator are the results of as many rows, and only the epilogue runs row by row. Chunks
// are merged pairwise in blocks of eight. Whether a row is short depends on its length alone. For kernels
// whose reductions are all in the first phase, which reads no row operand, and that write row operands
// only, in later phases.
#include <algorithm>
#include <cstring>

#include "pool.h"
#include "rows.h"

namespace jitwise {

namespace {

constexpr std::int64_t longest_short_row = 32;
constexpr std::int64_t short_block = 8;

std::size_t aligned(std::size_t size) { return (size + 63) / 64 * 64; }

class ShortRows {
public:
    explicit ShortRows(const RowPlan &plan)
        : plan_(plan), kernel_(plan.kernel), lanes_(kernel_.lanes), memory_(bytes()), epilogue_(plan, nullptr) {
        char *free = memory_.data();
        accumulators_ = free;
        levels_ = accumulators_ + kernel_.accumulator_bytes;
        free = levels_ + 4 * kernel_.accumulator_bytes;
        for (int k = 0; k < kernel_.operand_count(); ++k) {
            const bool moves = kernel_.operands[k].role == Role::vector && !kernel_.is_output(k);
            const std::int64_t chunk = static_cast<std::int64_t>(plan.operands[k].itemsize) * lanes_;
            buffers_[k] = free;
            steps_[k] = moves ? chunk : 0;
            free += moves ? aligned(chunk * plan.inner) : 64;
        }
    }

    void run(std::int64_t begin, std::int64_t end) {
        char *data[max_operands];
        std::int64_t index[max_rank];
        start(begin, index, data);
        for (; begin < end; begin += lanes_) {
            const int count = static_cast<int>(std::min<std::int64_t>(lanes_, end - begin));
            std::int64_t first_index[max_rank];
            char *first[max_operands];
            std::copy_n(index, plan_.outer_rank, first_index);
            std::copy_n(data, kernel_.operand_count(), first);
            pack(count, index, data);
            char *result = reduce();
            finish(result, count, first_index, first);
        }
    }

private:
    std::size_t bytes() const {
        std::size_t total = 5 * kernel_.accumulator_bytes + 64 * kernel_.operand_count();
        for (int k = 0; k < kernel_.input_count; ++k)
            total += aligned(static_cast<std::size_t>(plan_.operands[k].itemsize) * lanes_ * plan_.inner);
        return total;
    }

    void start(std::int64_t row, std::int64_t *index, char **data) const {
        plan_.locate(row, data);
        for (int axis = plan_.outer_rank - 1; axis >= 0; --axis) {
            index[axis] = row % plan_.outer_shape[axis];
            row /= plan_.outer_shape[axis];
        }
    }

    // Rows come in runs along the last outer axis. Leaves `index` and `data` after the last of them.
    void pack(int count, std::int64_t *index, char **data) {
        int done = 0;
        const int last = plan_.outer_rank - 1;
        while (done < count) {
            std::int64_t left = plan_.outer_shape[last] - index[last];
            int run = static_cast<int>(std::min<std::int64_t>(left, count - done));
            for (int k = 0; k < kernel_.input_count; ++k) {
                if (steps_[k] == 0) {
                    buffers_[k] = data[k];
                    continue;
                }
                pack_run(k, data[k], done, run);
            }
            done += run;
            index[last] += run - 1;
            for (int k = 0; k < kernel_.operand_count(); ++k)
                data[k] += (run - 1) * plan_.operands[k].outer_strides[last];
            plan_.advance(index, data);
        }
        for (int k = 0; k < kernel_.input_count && count < lanes_; ++k) {
            if (steps_[k] == 0) continue;
            const int itemsize = plan_.operands[k].itemsize;
            for (std::int64_t i = 0; i < plan_.inner; ++i) {
                char *place = buffers_[k] + i * steps_[k] + count * itemsize;
                fill_run(place, place - itemsize, lanes_ - count, itemsize);
            }
        }
    }

    void pack_run(int k, const char *row, int done, int run) {
        const RowOperand &operand = plan_.operands[k];
        const int itemsize = operand.itemsize;
        const std::int64_t stride = plan_.outer_rank > 0 ? operand.outer_strides[plan_.outer_rank - 1] : 0;
        if (operand.inner.ndim <= 1) {
            const std::int64_t inner_stride = operand.inner.ndim == 0 ? 0 : operand.inner.strides[0];
            for (std::int64_t i = 0; i < plan_.inner; ++i)
                copy_run(buffers_[k] + i * steps_[k] + done * itemsize, itemsize, row + i * inner_stride, stride,
                         run, itemsize);
            return;
        }
        char element_row[longest_short_row * 16];
        for (int r = 0; r < run; ++r) {
            Strided source = operand.inner;
            source.data = const_cast<char *>(row) + r * stride;
            gather(element_row, source, 0, plan_.inner);
            copy_run(buffers_[k] + (done + r) * itemsize, steps_[k], element_row, itemsize, plan_.inner, itemsize);
        }
    }

    char *reduce() {
        const Reduction *first = kernel_.reductions.data(), *last = first + kernel_.reductions.size();
        Counter counter(first, last, lanes_, kernel_.accumulator_bytes, levels_);
        char *now[max_operands];
        for (std::int64_t begin = 0; begin < plan_.inner; begin += short_block) {
            std::memcpy(accumulators_, kernel_.identities.data(), kernel_.accumulator_bytes);
            set_counters(first, last, accumulators_, begin * lanes_);
            for (int k = 0; k < kernel_.operand_count(); ++k) now[k] = buffers_[k] + begin * steps_[k];
            const std::int64_t chunks = std::min(short_block, plan_.inner - begin);
            kernel_.phases[0](now, steps_, chunks, lanes_, accumulators_, nullptr);
            if (plan_.inner <= short_block) return accumulators_;
            counter.push(accumulators_);
        }
        return counter.collapse();
    }

    void finish(const char *accumulators, int count, std::int64_t *index, char **data) {
        char *scalars = epilogue_.scalars();
        for (int lane = 0; lane < count; ++lane) {
            for (std::size_t r = 0; r < kernel_.reductions.size(); ++r)
                result_of_lane(kernel_.reductions[r], lanes_, accumulators, lane, scalars + 16 * r);
            epilogue_.run_epilogue(data);
            plan_.advance(index, data);
        }
    }

    const RowPlan &plan_;
    const Kernel &kernel_;
    const int lanes_;
    Scratch memory_;
    RowWorker epilogue_;
    char *accumulators_, *levels_;
    char *buffers_[max_operands];
    std::int64_t steps_[max_operands];
};

}  // namespace

bool run_short_rows(const RowPlan &plan) {
    const Kernel &kernel = plan.kernel;
    if (!kernel.transposable || plan.outer_rank == 0 || plan.inner > longest_short_row) return false;
    const int lanes = kernel.lanes;
    const double row_work = plan.row_work() + 8;
    const std::int64_t groups = (plan.rows + lanes - 1) / lanes;
    std::int64_t grain = std::max<std::int64_t>(1, static_cast<std::int64_t>(8000 / (row_work * lanes)));
    if (row_work * plan.rows < parallel_threshold) grain = groups;
    parallel_for(groups, grain, [&](std::int64_t begin, std::int64_t end) {
        ShortRows(plan).run(begin * lanes, std::min(end * lanes, plan.rows));
    });
    return true;
}

}  // namespace jitwise
