// Column kernels: out[c] = combine over r of f(x[r, c]), element by element of the kept axes.
//
// The kept axes are flattened and cut into blocks whose results stay in the first-level cache; a
// block goes through all rows before the next begins, eight rows at a call. Two refinements, both
// decided by the sizes alone, so that bits depend on nothing else:
//   few columns   m rows are taken as one row of m * columns; the m partial results are merged
//   pairwise:
//                     rows   a b | c d | e f | g h      2 columns, m = 2:   a b c d | e f g h
//   many rows     for a narrow result the rows are cut into fixed blocks, merged pairwise, shared
//   by threads
// Operands that are dense down the columns go another way: column_tall.cpp.
#include <algorithm>
#include <cstring>

#include "axis_order.h"
#include "columns.h"
#include "pool.h"

namespace jitwise {

namespace {

constexpr std::int64_t rows_per_call = 8;
constexpr std::int64_t block_budget = 24576;     // bytes of the results of a column block
constexpr std::int64_t stream_budget = 1 << 17;  // of one that is written only once
constexpr std::int64_t row_block_points = 65536;  // points of a block of rows

std::size_t aligned(std::size_t size) { return (size + 63) / 64 * 64; }

// Every operand with the reduced axes, and the kept ones, in the order of memory: inputs have all
// of them, row operands the reduced ones, outputs the kept ones.
class ColumnAxes {
public:
    ColumnAxes(const Kernel &kernel, const View *views, int ndim, const std::int64_t *shape,
               int outer)
        : strides_(static_cast<std::size_t>(kernel.operand_count()) * std::max(ndim, 1)),
          ndim_(ndim) {
        int order[max_rank], inputs[max_operands], count = 0;
        for (int k = 0; k < kernel.operand_count(); ++k) {
            const Role role = kernel.operands[k].role;
            if (role == Role::scalar) continue;
            if (role == Role::row)
                broadcast_strides(views[k], shape, outer, strides(k), kernel, k);
            else if (kernel.is_output(k))
                broadcast_strides(views[k], shape + outer, ndim - outer, strides(k) + outer, kernel,
                                  k);
            else broadcast_strides(views[k], shape, ndim, strides(k), kernel, k);
            if (role == Role::vector && !kernel.is_output(k)) inputs[count++] = k;
        }
        for (int axis = 0; axis < ndim; ++axis) order[axis] = axis;
        const auto stride = [&](int k, int axis) { return strides(inputs[k])[axis]; };
        bool is_sorted = sort_axes(order, outer, shape, count, stride);
        is_sorted |= sort_axes(order + outer, ndim - outer, shape, count, stride);
        for (int i = 0; i < ndim; ++i) this->shape[i] = shape[order[i]];
        for (int k = 0; is_sorted && k < kernel.operand_count(); ++k) {
            if (kernel.operands[k].role == Role::scalar) continue;
            std::int64_t sorted[max_rank];
            const int first = kernel.is_output(k) ? outer : 0;
            const int last = kernel.operands[k].role == Role::row ? outer : ndim;
            for (int i = first; i < last; ++i) sorted[i] = strides(k)[order[i]];
            std::copy(sorted + first, sorted + last, strides(k) + first);
        }
    }
    std::int64_t *strides(int k) { return strides_.data() + k * ndim_; }

    std::int64_t shape[max_rank];

private:
    SmallBuffer<std::int64_t, 24> strides_;
    int ndim_;
};

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
    ColumnAxes axes(kernel, views, ndim, shape, outer);
    const std::int64_t *lengths = axes.shape;
    for (int k = 0; k < kernel.operand_count(); ++k) {
        const int itemsize = kernel.operands[k].itemsize;
        const std::int64_t *strides = axes.strides(k);
        const auto space = [&](int first, int last) {
            return Strided(views[k].data, last - first, lengths + first, strides + first, itemsize);
        };
        if (kernel.operands[k].role == Role::scalar) {
            spaces[k] = Strided(views[k].data, 0, nullptr, nullptr, itemsize);
        } else if (kernel.operands[k].role == Role::row) {
            spaces[k] = space(0, outer);
            has_row_operand = true;
        } else if (kernel.is_output(k)) {
            spaces[k] = space(outer, ndim);
        } else {
            spaces[k] = space(0, ndim);
            down[k] = space(0, outer);
            across[k] = space(outer, ndim);
        }
    }
    choose_sizes();
}

void ColumnPlan::choose_sizes() {
    const std::int64_t lanes = kernel.lanes;
    if (columns > 0 && columns < 4 * lanes && !has_row_operand)
        while (fold * columns < 8 * lanes && fold * 2 <= rows) fold *= 2;
    std::int64_t bytes = 0;
    for (int k = kernel.input_count; k < kernel.operand_count(); ++k)
        bytes += kernel.operands[k].itemsize;
    const std::int64_t budget = rows <= rows_per_call ? stream_budget : block_budget;
    column_block = std::max<std::int64_t>(1, budget / bytes / lanes) * lanes;
    if (fold > 1) column_block = std::max(column_block, (width() + lanes - 1) / lanes * lanes);
    const std::int64_t most =
        std::max<std::int64_t>(fold, row_block_points / std::max<std::int64_t>(columns, 1));
    row_block = columns <= 16 * lanes && rows > 2 * most ? most / fold * fold
                                                        : std::max<std::int64_t>(rows, 1);
}

namespace {

// One thread's buffers, and its work on some rows of a block of columns.
//
// Columns that do not fill a chunk are the end of a chunk of their own, which begins at earlier
// columns:
//     10 columns, lanes = 4     0 1 2 3 | 4 5 6 7       6 7 8 9
// so that nothing is copied; the columns that were done twice are dropped. Fewer columns than lanes
// are packed and padded.
class ColumnWorker {
public:
    ColumnWorker(const ColumnPlan &plan, std::int64_t block)
        : plan_(plan),
          kernel_(plan.kernel),
          lanes_(kernel_.lanes),
          capacity_(std::max(block, rows_per_call * lanes_)),
          block_(block),
          memory_(bytes()) {
        std::fill_n(packed_begin_, kernel_.input_count, -1);
        char *free = memory_.data();
        for (int k = 0; k < kernel_.operand_count(); ++k) {
            const int itemsize = kernel_.operands[k].itemsize;
            const Role role = kernel_.operands[k].role;
            steps_[k] = role == Role::vector ? static_cast<std::int64_t>(itemsize) * lanes_ : 0;
            downs_[k] = 0;
            if (role == Role::scalar) pointers_[k] = plan.spaces[k].data;
            buffers_[k] = free;
            if (!kernel_.is_output(k)) {
                free += aligned((role == Role::vector ? capacity_ : 1) * itemsize);
                continue;
            }
            ends_[k] = free + aligned(block_ * itemsize);
            partial_[k] = ends_[k] + aligned(lanes_ * itemsize);
            free = partial_[k] + aligned(block_ * itemsize);
        }
    }

    // Rows [row, row_end) of folded columns [begin, begin + count) to `results`, densely;
    // results[k] for output k.
    void accumulate(std::int64_t row, std::int64_t row_end, std::int64_t begin, std::int64_t count,
                    char *const *results) {
        const std::int64_t whole = (row_end - row) / plan_.fold;
        if (whole > 0) {
            pass(row, whole, begin, count, results);
        } else {
            for (int k = kernel_.input_count; k < kernel_.operand_count(); ++k)
                fill_run(results[k], reduction(k).identity, count, kernel_.operands[k].itemsize);
        }
        // Rows that do not fill a fold come last, and concern the first of the partial results.
        row += whole * plan_.fold;
        const std::int64_t left = std::min(count, (row_end - row) * plan_.columns - begin);
        if (row == row_end || left <= 0) return;
        pass(row, 1, begin, left, partial_);
        for (int k = kernel_.input_count; k < kernel_.operand_count(); ++k)
            reduction(k).merge(results[k], partial_[k], left);
    }

    // Room for the results of `block` columns.
    char *const *buffers() const { return buffers_; }

private:
    std::size_t bytes() const {
        std::size_t total = 0;
        for (int k = 0; k < kernel_.operand_count(); ++k) {
            const int itemsize = kernel_.operands[k].itemsize;
            if (kernel_.is_output(k))
                total += 2 * aligned(block_ * itemsize) + aligned(lanes_ * itemsize);
            else
                total += aligned((kernel_.operands[k].role == Role::vector ? capacity_ : 1) *
                                 itemsize);
        }
        return total;
    }
    const Reduction &reduction(int k) const {
        return kernel_.reductions[k - kernel_.input_count];
    }

    // `count` columns of `steps` folded rows from `row` on.
    void pass(std::int64_t row, std::int64_t steps, std::int64_t begin, std::int64_t count,
              char *const *results) {
        const char *starts = kernel_.identities.data();
        const bool is_narrow = count < lanes_;
        const std::int64_t chunks = count / lanes_, tail = count - chunks * lanes_;
        for (std::int64_t group; steps > 0; steps -= group, row += group * plan_.fold) {
            group = locate(row, begin, count, std::min(steps, rows_per_call));
            if (is_narrow) pack_narrow(group, count);
            char *now[max_operands];
            std::copy_n(pointers_, kernel_.operand_count(), now);
            for (int k = kernel_.input_count; k < kernel_.operand_count(); ++k) now[k] = results[k];
            if (chunks > 0)
                run_column_phase(kernel_, now, steps_, chunks, group, starts, downs_);
            if (tail > 0) {
                for (int k = 0; k < kernel_.operand_count(); ++k) {
                    now[k] = pointers_[k];
                    if (kernel_.is_output(k)) now[k] = ends_[k];
                    else if (steps_[k] != 0 && !is_narrow)
                        now[k] += (count - lanes_) * kernel_.operands[k].itemsize;
                }
                run_column_phase(kernel_, now, steps_, 1, group, starts, downs_);
            }
            starts = nullptr;
        }
        for (int k = kernel_.input_count; tail > 0 && k < kernel_.operand_count(); ++k) {
            const int itemsize = kernel_.operands[k].itemsize;
            std::memcpy(results[k] + chunks * lanes_ * itemsize,
                        ends_[k] + (is_narrow ? 0 : lanes_ - tail) * itemsize, tail * itemsize);
        }
    }

    // Sets pointers and distances for up to `most` folded rows; how many.
    std::int64_t locate(std::int64_t row, std::int64_t begin, std::int64_t count,
                        std::int64_t most) {
        std::int64_t group = plan_.has_row_operand ? 1 : most;
        bool is_packed[max_operands];
        for (int k = 0; k < kernel_.input_count; ++k) {
            is_packed[k] = false;
            if (kernel_.operands[k].role == Role::row) {
                gather(buffers_[k], plan_.spaces[k], row, 1);
                pointers_[k] = buffers_[k];
            } else if (kernel_.operands[k].role == Role::vector) {
                const std::int64_t direct = locate_directly(k, row, begin, group);
                is_packed[k] = direct == 0;
                group = std::min(group, is_packed[k] ? std::max<std::int64_t>(
                                                           1, capacity_ / std::max(count, lanes_))
                                                     : direct);
            }
        }
        for (int k = 0; k < kernel_.input_count; ++k)
            if (is_packed[k]) pack(k, row, begin, count, group);
        return group;
    }

    // How many of `most` folded rows are dense and lie at equal distances; 0: not even the first.
    std::int64_t locate_directly(int k, std::int64_t row, std::int64_t begin, std::int64_t most) {
        const Strided &space = plan_.spaces[k], &down = plan_.down[k];
        const int itemsize = kernel_.operands[k].itemsize;
        if (space.is_dense()) {
            pointers_[k] = space.data + (row * plan_.columns + begin) * itemsize;
            downs_[k] = plan_.width() * itemsize;
            return most;
        }
        if (plan_.fold > 1 || !plan_.across[k].is_dense()) return 0;
        pointers_[k] = down.data + offset_of(down, row) + begin * itemsize;
        downs_[k] = 0;
        if (down.ndim == 0) return most;
        const std::int64_t length = down.shape[down.ndim - 1];
        downs_[k] = down.strides[down.ndim - 1];
        return std::min(most, length - row % length);
    }

    // Rows at a distance of `count` elements, or of a chunk. What is the same in all rows once.
    void pack(int k, std::int64_t row, std::int64_t begin, std::int64_t count,
              std::int64_t group) {
        const int itemsize = kernel_.operands[k].itemsize;
        const std::int64_t pitch = std::max(count, lanes_);
        const bool is_same = plan_.down[k].is_constant();
        pointers_[k] = buffers_[k];
        downs_[k] = is_same ? 0 : pitch * itemsize;
        if (is_same && packed_begin_[k] == begin && packed_count_[k] >= count) return;
        packed_begin_[k] = begin;
        packed_count_[k] = count;
        for (std::int64_t i = 0; i < (is_same ? 1 : group); ++i)
            gather(buffers_[k] + i * pitch * itemsize, plan_.spaces[k],
                   (row + i * plan_.fold) * plan_.columns + begin, count);
    }

    // Less than a chunk: padded with the last element, in the buffers.
    void pack_narrow(std::int64_t group, std::int64_t count) {
        for (int k = 0; k < kernel_.input_count; ++k) {
            if (kernel_.operands[k].role != Role::vector) continue;
            const int itemsize = kernel_.operands[k].itemsize;
            for (std::int64_t i = 0; i < group; ++i) {
                char *place = buffers_[k] + i * lanes_ * itemsize, *end = place + count * itemsize;
                const char *source = pointers_[k] + i * downs_[k];
                if (source != place)
                    copy_padded(place, source, count, lanes_, itemsize);
                else
                    fill_run(end, end - itemsize, lanes_ - count, itemsize);
            }
            pointers_[k] = buffers_[k];
            downs_[k] = lanes_ * itemsize;
        }
    }

    const ColumnPlan &plan_;
    const Kernel &kernel_;
    const std::int64_t lanes_, capacity_, block_;
    Scratch memory_;
    char *buffers_[max_operands];
    char *ends_[max_operands];     // of outputs: the chunk of the last columns
    char *partial_[max_operands];  // of outputs: rows that do not fill a fold
    char *pointers_[max_operands];
    std::int64_t steps_[max_operands];
    std::int64_t downs_[max_operands];
    // Of inputs that are the same in all rows: the columns that lie in the buffer.
    std::int64_t packed_begin_[max_operands], packed_count_[max_operands];
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

// Where output k's columns from `column` on lie, if they are dense.
char *direct_output(const ColumnPlan &plan, int k, std::int64_t column) {
    const Strided &space = plan.spaces[k];
    return space.is_dense() ? space.data + column * space.itemsize : nullptr;
}

// Every column block through all rows.
void run_wide(const ColumnPlan &plan) {
    const Kernel &kernel = plan.kernel;
    const std::int64_t lanes = kernel.lanes;
    const bool is_folded = plan.fold > 1;
    std::int64_t block = is_folded ? plan.width() : std::min(plan.column_block, plan.columns);
    const bool parallel =
        kernel.work(plan.rows * plan.columns) >= parallel_threshold && !is_folded;
    if (parallel) {
        std::int64_t share = (plan.columns / thread_count() + lanes - 1) / lanes * lanes;
        block = std::max(lanes, std::min(block, share));
    }
    const std::int64_t blocks = (plan.width() + block - 1) / block;
    parallel_for(blocks, parallel ? 1 : blocks, [&](std::int64_t begin, std::int64_t end) {
        ColumnWorker worker(plan, block);
        char *results[max_operands];
        for (; begin < end; ++begin) {
            const std::int64_t first = begin * block, count = std::min(block, plan.width() - first);
            for (int k = kernel.input_count; k < kernel.operand_count(); ++k) {
                results[k] = is_folded ? nullptr : direct_output(plan, k, first);
                if (results[k] == nullptr) results[k] = worker.buffers()[k];
            }
            worker.accumulate(0, plan.rows, first, count, results);
            for (int k = kernel.input_count; k < kernel.operand_count(); ++k) {
                if (is_folded)
                    unfold(kernel.reductions[k - kernel.input_count], results[k], plan.fold,
                           plan.columns);
                if (results[k] == worker.buffers()[k])
                    scatter(plan.spaces[k], first, results[k], is_folded ? plan.columns : count);
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
        // The columns are at most a few chunks: one block.
        ColumnWorker worker(plan, plan.width());
        char *results[max_operands];
        for (; begin < end; ++begin) {
            const std::int64_t row = begin * plan.row_block,
                               row_end = std::min(row + plan.row_block, plan.rows);
            for (int output = 0; output < kernel.output_count; ++output) {
                const int k = kernel.input_count + output;
                char *place = partial.data() + begin * bytes + offsets[output];
                results[k] = plan.fold > 1 ? worker.buffers()[k] : place;
            }
            worker.accumulate(row, row_end, 0, plan.width(), results);
            for (int output = 0; output < kernel.output_count && plan.fold > 1; ++output) {
                const int k = kernel.input_count + output;
                unfold(kernel.reductions[output], results[k], plan.fold, plan.columns);
                std::memcpy(partial.data() + begin * bytes + offsets[output], results[k],
                            plan.columns * kernel.operands[k].itemsize);
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
