// Row kernels: classifies operands, and decides who does which rows.
#include <algorithm>
#include <cstring>

#include "axis_order.h"
#include "kernel.h"
#include "pool.h"
#include "rows.h"

namespace jitwise {

namespace {

constexpr std::int64_t fetched_row_bytes = std::int64_t(1) << 16;  // they must stay until used
constexpr std::int64_t cached_bytes = std::int64_t(1) << 20;       // near enough without fetching

RowAccess access_of(const Strided &inner, bool is_output) {
    if (inner.ndim == 0) return RowAccess::direct;  // a single element: the tail takes care of it
    if (inner.is_dense()) return RowAccess::direct;
    return inner.is_constant() && !is_output ? RowAccess::constant : RowAccess::packed;
}

// A row operand has an element per row; axes kept with length 1 are let pass.
View over_rows(const View &view, int ndim, int outer) {
    if (view.ndim != ndim || view.ndim <= outer) return view;
    for (int axis = outer; axis < ndim; ++axis)
        if (view.shape[axis] != 1) return view;
    return {view.data, outer, view.shape, view.strides};
}

// The axes of a row by themselves, as memory lies, for the vector operands. In C order where they
// disagree, and where positions are counted.
class InnerAxes {
public:
    InnerAxes(const Kernel &kernel, const View *views, int ndim, const std::int64_t *shape,
              int outer)
        : kernel_(kernel),
          ndim_(ndim),
          outer_(outer),
          strides_(static_cast<std::size_t>(kernel.operand_count()) * std::max(ndim, 1)) {
        for (int k = 0; k < kernel.operand_count(); ++k)
            if (kernel.operands[k].role == Role::vector)
                broadcast_strides(views[k], shape, ndim, strides(k), kernel, k);
        if (ndim - outer >= 2 && !kernel.counts_positions) sort(shape);
    }
    std::int64_t *strides(int k) { return strides_.data() + k * ndim_; }
    Strided of(int k, const std::int64_t *shape) {
        const std::int64_t *from = is_sorted_ ? shape_ : shape + outer_;
        return Strided(nullptr, ndim_ - outer_, from, strides(k) + outer_,
                       kernel_.operands[k].itemsize);
    }

private:
    void sort(const std::int64_t *shape) {
        int order[max_rank], vectors[max_operands], count = 0;
        for (int axis = outer_; axis < ndim_; ++axis) order[axis - outer_] = axis;
        for (int k = 0; k < kernel_.operand_count(); ++k)
            if (kernel_.operands[k].role == Role::vector) vectors[count++] = k;
        is_sorted_ = sort_axes(order, ndim_ - outer_, shape, count,
                               [&](int k, int axis) { return strides(vectors[k])[axis]; });
        if (!is_sorted_) return;
        for (int i = 0; i < ndim_ - outer_; ++i) shape_[i] = shape[order[i]];
        for (int k = 0; k < count; ++k) {
            std::int64_t sorted[max_rank];
            for (int i = 0; i < ndim_ - outer_; ++i) sorted[i] = strides(vectors[k])[order[i]];
            std::copy_n(sorted, ndim_ - outer_, strides(vectors[k]) + outer_);
        }
    }

    const Kernel &kernel_;
    int ndim_, outer_;
    bool is_sorted_ = false;
    SmallBuffer<std::int64_t, 24> strides_;
    std::int64_t shape_[max_rank];
};

}  // namespace

RowPlan::RowPlan(const Kernel &kernel, const View *views, int ndim, const std::int64_t *shape,
                 int outer)
    : kernel(kernel), outer_rank(outer), operands(kernel.operand_count()) {
    if (outer < 0 || outer > ndim)
        throw ShapeMismatch("more outer axes than axes in kernel " + kernel.name);
    std::copy_n(shape, outer, outer_shape);
    rows = product(shape, outer);
    inner = product(shape + outer, ndim - outer);
    chunks = (inner + kernel.lanes - 1) / kernel.lanes;
    blocks = (chunks + chunks_per_block - 1) / chunks_per_block;
    tail = static_cast<int>(inner % kernel.lanes);
    std::int64_t element_bytes = 0;
    InnerAxes axes(kernel, views, ndim, shape, outer);
    for (int k = 0; k < kernel.operand_count(); ++k) {
        RowOperand &operand = operands[k];
        operand.itemsize = kernel.operands[k].itemsize;
        operand.data = views[k].data;
        switch (kernel.operands[k].role) {
        case Role::scalar:
            operand.access = RowAccess::single;
            std::fill_n(operand.outer_strides, outer, 0);
            break;
        case Role::row:
            operand.access = RowAccess::single;
            broadcast_strides(over_rows(views[k], ndim, outer), shape, outer, operand.outer_strides,
                              kernel, k);
            break;
        case Role::vector:
            std::copy_n(axes.strides(k), outer, operand.outer_strides);
            operand.inner = axes.of(k, shape);
            operand.access = access_of(operand.inner, kernel.is_output(k));
            evenly_spaced &= operand.inner.ndim <= 1;
            any_packed |= operand.access == RowAccess::packed;
            any_direct |= operand.access == RowAccess::direct;
            element_bytes += operand.itemsize;
            break;
        }
    }
    fetches = kernel.phases.size() > 2 && inner * element_bytes <= fetched_row_bytes &&
              rows * inner * element_bytes > cached_bytes;
    order_rows();
}

// Rows may come in any order: along memory, as the first vector operand lies, and over as few axes
// as possible.
void RowPlan::order_rows() {
    const int count = kernel.operand_count();
    int guide = 0;
    while (guide < count - 1 && kernel.operands[guide].role != Role::vector) ++guide;
    auto stride = [this](int k, int axis) -> std::int64_t & {
        return operands[k].outer_strides[axis];
    };
    for (int axis = 1; axis < outer_rank; ++axis)
        for (int i = axis; i > 0 && std::abs(stride(guide, i)) > std::abs(stride(guide, i - 1));
             --i) {
            std::swap(outer_shape[i], outer_shape[i - 1]);
            for (int k = 0; k < count; ++k) std::swap(stride(k, i), stride(k, i - 1));
        }
    int kept = 0;
    for (int axis = 0; axis < outer_rank; ++axis) {
        if (outer_shape[axis] == 1) continue;
        bool merges = kept > 0;
        for (int k = 0; merges && k < count; ++k)
            merges = stride(k, kept - 1) == stride(k, axis) * outer_shape[axis];
        const int to = merges ? kept - 1 : kept++;
        outer_shape[to] = merges ? outer_shape[to] * outer_shape[axis] : outer_shape[axis];
        for (int k = 0; k < count; ++k) stride(k, to) = stride(k, axis);
    }
    if (outer_rank > 0 && kept == 0) outer_shape[kept++] = 1;
    outer_rank = kept;
}

void RowPlan::locate(std::int64_t row, char **data) const {
    for (int k = 0; k < kernel.operand_count(); ++k) data[k] = operands[k].data;
    for (int axis = outer_rank - 1; axis >= 0; --axis) {
        std::int64_t quotient = row / outer_shape[axis], index = row - quotient * outer_shape[axis];
        for (int k = 0; k < kernel.operand_count(); ++k)
            data[k] += index * operands[k].outer_strides[axis];
        row = quotient;
    }
}

void RowPlan::advance(std::int64_t *index, char **data) const {
    for (int axis = outer_rank - 1; axis >= 0; --axis) {
        const bool wraps = ++index[axis] == outer_shape[axis];
        const std::int64_t steps = wraps ? 1 - outer_shape[axis] : 1;
        for (int k = 0; k < kernel.operand_count(); ++k)
            data[k] += steps * operands[k].outer_strides[axis];
        if (!wraps) return;
        index[axis] = 0;
    }
}

namespace {

void run_range(const RowPlan &plan, std::int64_t begin, std::int64_t end) {
    RowWorker worker(plan, nullptr);
    char *data[max_operands];
    std::int64_t index[max_rank], left = begin;
    plan.locate(begin, data);
    for (int axis = plan.outer_rank - 1; axis >= 0; --axis) {
        index[axis] = left % plan.outer_shape[axis];
        left /= plan.outer_shape[axis];
    }
    for (; begin < end; ++begin) {
        worker.begin_row(data);
        plan.advance(index, data);
        if (plan.inner == 0) worker.run_empty_row();
        else worker.run_row(begin + 1 < end ? data : nullptr);
    }
}

}  // namespace

void run_rows(const Kernel &kernel, const View *views, int ndim, const std::int64_t *shape,
              int outer) {
    RowPlan plan(kernel, views, ndim, shape, outer);
    if (plan.rows == 0) return;
    const bool plain = is_plain(plan);
    if (!plain && plan.inner > 0 && run_row_per_lane(plan)) return;
    const double row_work = plan.row_work() + 20, work = row_work * plan.rows;
    const int threads = thread_count();
    const auto run = plain ? run_plain_rows : run_range;
    if (work < parallel_threshold || threads == 1) return run(plan, 0, plan.rows);
    if (plan.rows < 4 * threads && row_work > parallel_threshold) return run_long_rows(plan);
    std::int64_t shared = plan.rows / (threads * 8) + 1;
    std::int64_t worth = static_cast<std::int64_t>(3000 / row_work) + 1;
    parallel_for(plan.rows, std::max(shared, worth),
                 [&](std::int64_t begin, std::int64_t end) { run(plan, begin, end); });
}

}  // namespace jitwise
