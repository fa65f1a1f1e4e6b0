// Column kernels: out[c] = combine over r of f(x[r, c]), element by element of the kept axes.
//
// The kept axes are flattened and cut into blocks that stay in the first-level cache; a block goes
// through all rows before the next begins. Outputs accumulate in a padded buffer. Two refinements,
// both decided by the sizes alone, so that bits depend on nothing else:
//   few columns   m rows are taken as one row of m * columns; the m partial results are merged
//   pairwise:
//                     rows   a b | c d | e f | g h      2 columns, m = 2:   a b c d | e f g h
//   many rows     for a narrow result the rows are cut into fixed blocks, merged pairwise, shared
//   by threads
// Operands that are dense down the columns go another way: column_tall.cpp.
#include <algorithm>
#include <cstring>

#include "columns.h"
#include "pool.h"

namespace jitwise {

namespace {

constexpr std::int64_t block_budget =
    24576;  // bytes of operands and accumulators of a column block
constexpr std::int64_t row_block_points = 65536;  // points of a block of rows

std::size_t aligned(std::size_t size) { return (size + 63) / 64 * 64; }

}  // namespace

ColumnPlan::ColumnPlan(const Kernel &kernel, const View *views, int ndim, const std::int64_t *shape,
                       int outer)
    : kernel(kernel),
      spaces(kernel.operand_count()),
      down(kernel.operand_count()),
      across(kernel.operand_count()) {
    if (outer < 0 || outer > ndim)
        throw ShapeMismatch("more outer axes than axes in kernel " + kernel.name);
    rows = product(shape, outer);
    columns = product(shape + outer, ndim - outer);
    for (int k = 0; k < kernel.operand_count(); ++k) {
        const int itemsize = kernel.operands[k].itemsize;
        std::int64_t strides[max_rank];
        if (kernel.operands[k].role == Role::scalar) {
            spaces[k] = Strided(views[k].data, 0, nullptr, nullptr, itemsize);
        } else if (kernel.operands[k].role == Role::row) {
            broadcast_strides(views[k], shape, outer, strides, kernel, k);
            spaces[k] = Strided(views[k].data, outer, shape, strides, itemsize);
            has_row_operand = true;
        } else if (kernel.is_output(k)) {
            broadcast_strides(views[k], shape + outer, ndim - outer, strides, kernel, k);
            spaces[k] = Strided(views[k].data, ndim - outer, shape + outer, strides, itemsize);
        } else {
            broadcast_strides(views[k], shape, ndim, strides, kernel, k);
            spaces[k] = Strided(views[k].data, ndim, shape, strides, itemsize);
            down[k] = Strided(views[k].data, outer, shape, strides, itemsize);
            across[k] =
                Strided(views[k].data, ndim - outer, shape + outer, strides + outer, itemsize);
        }
    }
    choose_sizes();
}

void ColumnPlan::choose_sizes() {
    const std::int64_t lanes = kernel.lanes;
    if (columns > 0 && columns < 2 * lanes && !has_row_operand)
        while (fold * columns < 4 * lanes && fold * 2 <= rows) fold *= 2;
    std::int64_t bytes = 0;
    for (const OperandSpec &operand : kernel.operands)
        bytes += operand.role == Role::vector ? operand.itemsize : 0;
    column_block =
        std::max<std::int64_t>(1, block_budget / std::max<std::int64_t>(bytes, 1) / lanes) * lanes;
    if (fold > 1) column_block = std::max(column_block, (width() + lanes - 1) / lanes * lanes);
    const std::int64_t most =
        std::max<std::int64_t>(fold, row_block_points / std::max<std::int64_t>(columns, 1));
    row_block = columns <= 8 * lanes && rows > 2 * most ? most / fold * fold
                                                        : std::max<std::int64_t>(rows, 1);
}

namespace {

// One thread's buffers, and its work on one block of rows by one block of columns.
class ColumnWorker {
public:
    explicit ColumnWorker(const ColumnPlan &plan)
        : plan_(plan),
          kernel_(plan.kernel),
          lanes_(kernel_.lanes),
          block_(std::min(plan.column_block, (plan.width() + lanes_ - 1) / lanes_ * lanes_)),
          memory_(bytes()) {
        char *free = memory_.data();
        for (int k = 0; k < kernel_.operand_count(); ++k) {
            const int itemsize = kernel_.operands[k].itemsize;
            buffers_[k] = free;
            free += aligned(block_ * itemsize);
            steps_[k] = kernel_.operands[k].role == Role::vector
                            ? static_cast<std::int64_t>(itemsize) * lanes_
                            : 0;
            if (kernel_.operands[k].role == Role::scalar) pointers_[k] = plan.spaces[k].data;
        }
        saved_ = free;
    }

    // Accumulates rows [row, row_end) into the buffers of the outputs: columns [begin, begin +
    // count), folded.
    void accumulate(std::int64_t row, std::int64_t row_end, std::int64_t begin,
                    std::int64_t count) {
        const std::int64_t padded = (count + lanes_ - 1) / lanes_ * lanes_;
        for (int k = kernel_.input_count; k < kernel_.operand_count(); ++k) {
            const Reduction &reduction = kernel_.reductions[k - kernel_.input_count];
            fill_run(buffers_[k], reduction.identity, padded, kernel_.operands[k].itemsize);
        }
        const std::int64_t whole = (row_end - row) / plan_.fold * plan_.fold + row;
        for (; row < whole; row += plan_.fold) step(row, begin, count);
        // Rows that do not fill a fold come last and must leave the partial results beyond them
        // alone.
        const std::int64_t left = std::min(count, (row_end - row) * plan_.columns - begin);
        if (row < row_end && left > 0) partial_step(row, begin, left, padded);
    }

    char *result(int output) { return buffers_[kernel_.input_count + output]; }
    std::int64_t block() const { return block_; }

private:
    std::size_t bytes() const {
        std::size_t total = 0;
        for (const OperandSpec &operand : kernel_.operands)
            total += aligned(block_ * operand.itemsize);
        for (int k = kernel_.input_count; k < kernel_.operand_count(); ++k)
            total += aligned(block_ * kernel_.operands[k].itemsize);
        return total;
    }

    // Position of an operand's element, when it lies in one dense or evenly strided piece.
    bool dense_at(const Strided &space, std::int64_t position, std::int64_t count,
                  char **address) const {
        if (space.is_dense() && space.ndim == 1) {
            *address = space.data + position * space.itemsize;
            return true;
        }
        if (space.ndim != 2 || space.strides[1] != space.itemsize) return false;
        const std::int64_t row = position / space.shape[1],
                           column = position - row * space.shape[1];
        if (column + count > space.shape[1]) return false;
        *address = space.data + row * space.strides[0] + column * space.itemsize;
        return true;
    }

    void step(std::int64_t row, std::int64_t begin, std::int64_t count) {
        const std::int64_t chunks = count / lanes_, tail = count - chunks * lanes_;
        const std::int64_t position = row * plan_.columns + begin;
        bool direct[max_operands];
        bool any_direct = false;
        for (int k = 0; k < kernel_.operand_count(); ++k) {
            const Strided &space = plan_.spaces[k];
            direct[k] = false;
            if (kernel_.operands[k].role == Role::row) {
                gather(buffers_[k], space, row, 1);
                pointers_[k] = buffers_[k];
            } else if (kernel_.is_output(k)) {
                pointers_[k] = buffers_[k];
            } else if (kernel_.operands[k].role == Role::vector) {
                direct[k] = dense_at(space, position, count, &pointers_[k]);
                any_direct |= direct[k];
                if (direct[k]) continue;
                pointers_[k] = buffers_[k];
                gather_padded(k, position, count);
            }
        }
        if (tail == 0 || !any_direct) {
            kernel_.phases[0](pointers_, steps_, chunks + (tail > 0), tail > 0 ? tail : lanes_,
                              nullptr, nullptr);
            return;
        }
        if (chunks > 0) kernel_.phases[0](pointers_, steps_, chunks, lanes_, nullptr, nullptr);
        for (int k = 0; k < kernel_.operand_count(); ++k) {
            pointers_[k] += chunks * steps_[k];
            if (!direct[k]) continue;
            const int itemsize = kernel_.operands[k].itemsize;
            copy_padded(buffers_[k], pointers_[k], tail, lanes_, itemsize);
            pointers_[k] = buffers_[k];
        }
        kernel_.phases[0](pointers_, steps_, 1, tail, nullptr, nullptr);
        for (int k = 0; k < kernel_.input_count; ++k)
            if (kernel_.operands[k].role == Role::scalar) pointers_[k] = plan_.spaces[k].data;
    }

    void gather_padded(int k, std::int64_t position, std::int64_t count) {
        const int itemsize = kernel_.operands[k].itemsize;
        gather(buffers_[k], plan_.spaces[k], position, count);
        char *last = buffers_[k] + (count - 1) * itemsize;
        const std::int64_t missing = (count + lanes_ - 1) / lanes_ * lanes_ - count;
        if (missing > 0) fill_run(last + itemsize, last, missing, itemsize);
    }

    void partial_step(std::int64_t row, std::int64_t begin, std::int64_t left,
                      std::int64_t padded) {
        char *saved = saved_;
        for (int k = kernel_.input_count; k < kernel_.operand_count(); ++k) {
            const std::int64_t size = padded * kernel_.operands[k].itemsize;
            std::memcpy(saved, buffers_[k], size);
            saved += aligned(block_ * kernel_.operands[k].itemsize);
        }
        step(row, begin, left);
        saved = saved_;
        for (int k = kernel_.input_count; k < kernel_.operand_count(); ++k) {
            const int itemsize = kernel_.operands[k].itemsize;
            std::memcpy(buffers_[k] + left * itemsize, saved + left * itemsize,
                        (padded - left) * itemsize);
            saved += aligned(block_ * itemsize);
        }
    }

    const ColumnPlan &plan_;
    const Kernel &kernel_;
    const int lanes_;
    const std::int64_t block_;
    Scratch memory_;
    char *saved_;
    char *buffers_[max_operands];
    char *pointers_[max_operands];
    std::int64_t steps_[max_operands];
};

// Merges the `fold` partial results in `values` pairwise into the first.
void unfold(const Reduction &reduction, char *values, std::int64_t fold, std::int64_t columns) {
    const int itemsize = size_of(reduction.type);
    for (; fold > 1; fold /= 2)
        reduction.merge(values, values + fold / 2 * columns * itemsize, fold / 2 * columns);
}

void fill_empty(const ColumnPlan &plan) {
    for (int k = plan.kernel.input_count; k < plan.kernel.operand_count(); ++k) {
        const Reduction &reduction = plan.kernel.reductions[k - plan.kernel.input_count];
        for (std::int64_t column = 0; column < plan.columns; ++column)
            scatter(plan.spaces[k], column, reduction.empty, 1);
    }
}

// Every column block through all rows.
void run_wide(const ColumnPlan &plan) {
    const Kernel &kernel = plan.kernel;
    const std::int64_t lanes = kernel.lanes;
    std::int64_t block = plan.fold > 1 ? plan.width() : plan.column_block;
    const bool parallel =
        kernel.work(plan.rows * plan.columns) >= parallel_threshold && plan.fold == 1;
    if (parallel) {
        std::int64_t share = (plan.columns / thread_count() + lanes - 1) / lanes * lanes;
        block = std::max(lanes, std::min(block, share));
    }
    const std::int64_t blocks = (plan.width() + block - 1) / block;
    parallel_for(blocks, parallel ? 1 : blocks, [&](std::int64_t begin, std::int64_t end) {
        ColumnWorker worker(plan);
        for (; begin < end; ++begin) {
            const std::int64_t first = begin * block, count = std::min(block, plan.width() - first);
            worker.accumulate(0, plan.rows, first, count);
            for (int output = 0; output < kernel.output_count; ++output) {
                if (plan.fold > 1)
                    unfold(kernel.reductions[output], worker.result(output), plan.fold,
                           plan.columns);
                scatter(plan.spaces[kernel.input_count + output], first, worker.result(output),
                        plan.fold > 1 ? plan.columns : count);
            }
        }
    });
}

// Narrow results: blocks of rows, each to a partial result, merged by a binary counter.
void run_narrow(const ColumnPlan &plan) {
    const Kernel &kernel = plan.kernel;
    const std::int64_t blocks = (plan.rows + plan.row_block - 1) / plan.row_block;
    const std::int64_t grain =
        kernel.work(plan.rows * plan.columns) < parallel_threshold ? blocks : 1;
    std::size_t bytes = 0;
    SmallBuffer<std::size_t, 16> offsets(kernel.output_count);
    for (int output = 0; output < kernel.output_count; ++output) {
        offsets[output] = bytes;
        bytes += aligned(plan.columns * kernel.operands[kernel.input_count + output].itemsize);
    }
    SmallBuffer<char, 1024> partial(bytes * blocks);
    parallel_for(blocks, grain, [&](std::int64_t begin, std::int64_t end) {
        ColumnWorker worker(plan);
        for (; begin < end; ++begin) {
            const std::int64_t row = begin * plan.row_block,
                               row_end = std::min(row + plan.row_block, plan.rows);
            for (std::int64_t first = 0; first < plan.width(); first += worker.block()) {
                const std::int64_t count = std::min(worker.block(), plan.width() - first);
                worker.accumulate(row, row_end, first, count);
                for (int output = 0; output < kernel.output_count; ++output) {
                    const int itemsize = kernel.operands[kernel.input_count + output].itemsize;
                    if (plan.fold > 1)
                        unfold(kernel.reductions[output], worker.result(output), plan.fold,
                               plan.columns);
                    std::memcpy(partial.data() + begin * bytes + offsets[output] +
                                    (plan.fold > 1 ? 0 : first * itemsize),
                                worker.result(output),
                                (plan.fold > 1 ? plan.columns : count) * itemsize);
                }
            }
        }
    });
    for (int output = 0; output < kernel.output_count; ++output) {
        const Reduction &reduction = kernel.reductions[output];
        char *base = partial.data() + offsets[output];
        for (std::int64_t step = 1; step < blocks; step *= 2)
            for (std::int64_t block = 0; block + step < blocks; block += 2 * step)
                reduction.merge(base + block * bytes, base + (block + step) * bytes, plan.columns);
        scatter(plan.spaces[kernel.input_count + output], 0, base, plan.columns);
    }
}

}  // namespace

void run_columns(const Kernel &kernel, const View *views, int ndim, const std::int64_t *shape,
                 int outer) {
    ColumnPlan plan(kernel, views, ndim, shape, outer);
    if (plan.columns == 0) return;
    if (plan.rows == 0) return fill_empty(plan);
    if (run_tall_columns(plan)) return;
    if (plan.row_block < plan.rows) run_narrow(plan);
    else run_wide(plan);
}

}  // namespace jitwise
