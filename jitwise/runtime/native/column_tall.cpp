// Column kernels over inputs that are dense down the columns, such as sums over axis 0 of a
// Fortran-ordered array.
//
// One column at a time: its chunks are given to the kernel as rows of one chunk, so each lane
// collects every lanes-th element of the column. Where the order matters blocks of chunks are
// merged pairwise; the lanes are reduced as in a row kernel:
//
//     column   x0 x1 x2 x3 x4 x5 ...     lanes = 2     (x0 x2 x4 ...) (x1 x3 x5 ...)
#include <algorithm>
#include <cstring>

#include "columns.h"
#include "pool.h"

namespace jitwise {

namespace {

std::size_t aligned(std::size_t size) { return (size + 63) / 64 * 64; }

class TallWorker {
public:
    explicit TallWorker(const ColumnPlan &plan)
        : plan_(plan),
          kernel_(plan.kernel),
          lanes_(kernel_.lanes),
          first_(kernel_.reductions.data()),
          last_(first_ + kernel_.reductions.size()),
          memory_(bytes()) {
        char *free = memory_.data();
        accumulators_ = free;
        ends_ = accumulators_ + kernel_.accumulator_bytes;
        levels_ = ends_ + kernel_.accumulator_bytes;
        free = levels_ + levels() * kernel_.accumulator_bytes;
        for (int k = 0; k < kernel_.operand_count(); ++k) {
            buffers_[k] = free;
            free += aligned(static_cast<std::size_t>(kernel_.operands[k].itemsize) * lanes_);
            moves_[k] = kernel_.operands[k].role == Role::vector && !kernel_.is_output(k) &&
                        !plan.down[k].is_constant();
            downs_[k] =
                moves_[k] ? static_cast<std::int64_t>(kernel_.operands[k].itemsize) * lanes_ : 0;
            if (kernel_.is_output(k))
                buffers_[k] = accumulators_ + first_[k - kernel_.input_count].offset;
        }
    }

    void run(std::int64_t column) {
        for (int k = 0; k < kernel_.input_count; ++k) {
            column_[k] = plan_.spaces[k].data;
            if (kernel_.operands[k].role != Role::vector) continue;
            column_[k] = plan_.across[k].data + offset_of(plan_.across[k], column);
            if (!moves_[k]) fill_run(buffers_[k], column_[k], lanes_, kernel_.operands[k].itemsize);
        }
        char *merged = accumulators_;
        if (kernel_.any_order) {
            accumulate(0, plan_.rows);
        } else {
            Counter counter(first_, last_, lanes_, kernel_.accumulator_bytes, levels_);
            const std::int64_t block = static_cast<std::int64_t>(chunks_per_block) * lanes_;
            for (std::int64_t row = 0; row < plan_.rows; row += block) {
                accumulate(row, std::min(block, plan_.rows - row));
                counter.push(accumulators_);
            }
            merged = counter.collapse();
        }
        for (const Reduction *r = first_; r != last_; ++r) {
            alignas(16) char value[16];
            reduce_lanes(*r, lanes_, merged, value);
            scatter(plan_.spaces[kernel_.input_count + (r - first_)], column, value, 1);
        }
    }

private:
    int levels() const {
        const std::int64_t block = static_cast<std::int64_t>(chunks_per_block) * kernel_.lanes;
        return Counter::levels_for((plan_.rows + block - 1) / block);
    }
    std::size_t bytes() const {
        std::size_t total = (2 + levels()) * kernel_.accumulator_bytes;
        for (const OperandSpec &operand : kernel_.operands)
            total += aligned(static_cast<std::size_t>(operand.itemsize) * lanes_);
        return total;
    }
    void accumulate(std::int64_t row, std::int64_t count) {
        const std::int64_t chunks = count / lanes_, tail = count - chunks * lanes_;
        const char *starts = kernel_.identities.data();
        char *now[max_operands];
        for (int k = 0; k < kernel_.operand_count(); ++k) {
            now[k] = buffers_[k];
            if (moves_[k]) now[k] = column_[k] + row * kernel_.operands[k].itemsize;
            if (kernel_.operands[k].role == Role::scalar) now[k] = column_[k];
        }
        if (chunks > 0) run_column_phase(kernel_, now, downs_, 1, chunks, starts, downs_);
        else std::memcpy(accumulators_, starts, kernel_.accumulator_bytes);
        if (tail == 0) return;
        // Only lanes of the tail may enter.
        for (int k = 0; k < kernel_.operand_count(); ++k) {
            if (kernel_.is_output(k)) now[k] = ends_ + first_[k - kernel_.input_count].offset;
            if (!moves_[k]) continue;
            const int itemsize = kernel_.operands[k].itemsize;
            copy_padded(buffers_[k], now[k] + chunks * downs_[k], tail, lanes_, itemsize);
            now[k] = buffers_[k];
        }
        run_column_phase(kernel_, now, downs_, 1, 1, starts, downs_);
        for (const Reduction *r = first_; r != last_; ++r)
            r->merge(accumulators_ + r->offset, ends_ + r->offset, tail);
    }

    const ColumnPlan &plan_;
    const Kernel &kernel_;
    const int lanes_;
    const Reduction *first_, *last_;
    Scratch memory_;
    char *accumulators_, *ends_, *levels_;  // ends_: what the last elements give
    char *column_[max_operands];
    char *buffers_[max_operands];
    bool moves_[max_operands];
    std::int64_t downs_[max_operands];
};

bool is_tall(const ColumnPlan &plan) {
    if (plan.has_row_operand || plan.rows < 2 * plan.kernel.lanes) return false;
    bool dense = false;
    for (int k = 0; k < plan.kernel.input_count; ++k) {
        if (plan.kernel.operands[k].role != Role::vector) continue;
        const Strided &down = plan.down[k], &across = plan.across[k];
        if (down.is_constant() && down.ndim == 1) continue;
        if (down.ndim != 1 || down.strides[0] != down.itemsize) return false;
        if (across.ndim > 0 && std::abs(across.strides[across.ndim - 1]) <= across.itemsize)
            return false;
        dense = true;
    }
    return dense;
}

}  // namespace

bool run_tall_columns(const ColumnPlan &plan) {
    if (!is_tall(plan)) return false;
    const double column_work = plan.kernel.work(plan.rows) + 50;
    std::int64_t grain = std::max<std::int64_t>(1, static_cast<std::int64_t>(4000 / column_work));
    if (column_work * plan.columns < parallel_threshold) grain = plan.columns;
    parallel_for(plan.columns, grain, [&](std::int64_t begin, std::int64_t end) {
        TallWorker worker(plan);
        for (; begin < end; ++begin) worker.run(begin);
    });
    return true;
}

}  // namespace jitwise
