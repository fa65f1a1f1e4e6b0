#include "kernel.h"

#include <algorithm>
#include <cstring>

namespace jitwise {

namespace {

std::size_t aligned(std::size_t size) { return (size + 63) / 64 * 64; }

void check_spec(const Kernel &kernel) {
    if (kernel.lanes < 1 || kernel.lanes > 4096)
        throw std::invalid_argument("lanes must be 1..4096");
    if (kernel.phases.empty()) throw std::invalid_argument("a kernel has at least one phase");
    for (Phase phase : kernel.phases)
        if (phase == nullptr) throw std::invalid_argument("a phase has address 0");
    if (kernel.operand_count() + kernel.scratch.size() > max_operands)
        throw std::invalid_argument("too many operands");
    for (const OperandSpec &operand : kernel.operands)
        if (operand.itemsize < 1 || operand.itemsize > 16 ||
            (operand.itemsize & (operand.itemsize - 1)))
            throw std::invalid_argument("an itemsize is 1, 2, 4, 8 or 16");
    bool single = kernel.mode != Mode::row;
    if (single && (kernel.phases.size() != 1 || !kernel.scratch.empty()))
        throw std::invalid_argument("map and column kernels have one phase and no scratch");
    if (kernel.mode == Mode::map && !kernel.reductions.empty())
        throw std::invalid_argument("a map kernel has no reductions");
    if (kernel.mode == Mode::column) {
        if (static_cast<int>(kernel.reductions.size()) != kernel.output_count)
            throw std::invalid_argument("a column kernel has one reduction per output, in order");
        for (int r = 0; r < kernel.output_count; ++r)
            if (kernel.reductions[r].merge == nullptr ||
                size_of(kernel.reductions[r].type) !=
                    kernel.operands[kernel.input_count + r].itemsize)
                throw std::invalid_argument("a column reduction has the dtype of its output");
    }
}

std::size_t lay_out_accumulators(Kernel &kernel) {
    std::size_t position = 0;
    for (Reduction &reduction : kernel.reductions) {
        reduction.offset = position;
        position += aligned(static_cast<std::size_t>(size_of(reduction.type)) * kernel.lanes);
        if (is_index(reduction.op)) {
            reduction.indices_offset = position;
            position += aligned(sizeof(std::int64_t) * kernel.lanes);
            reduction.counter_offset = position;
            position += 64;
        }
    }
    return position;
}

void make_identities(Kernel &kernel) {
    kernel.identities.assign(kernel.accumulator_bytes, 0);
    for (const Reduction &r : kernel.reductions)
        for (int lane = 0; lane < kernel.lanes; ++lane) {
            char *base = kernel.identities.data();
            std::memcpy(base + r.offset + lane * size_of(r.type), r.identity, size_of(r.type));
            if (is_index(r.op)) std::memset(base + r.indices_offset + lane * 8, 0xff, 8);
        }
}

// One thread, data in the second-level cache; see the measurements in pool.h's threshold.
double estimate(const Kernel &kernel) {
    int bytes = 0, widest = 1;
    for (const OperandSpec &operand : kernel.operands)
        if (operand.role == Role::vector) {
            bytes += operand.itemsize;
            widest = std::max(widest, operand.itemsize);
        }
    return kernel.flops * 0.004 * widest + bytes * 0.006;
}

}  // namespace

void Kernel::prepare() {
    for (Reduction &reduction : reductions) {
        if (!prepare_reduction(reduction))
            throw std::invalid_argument("no such reduction of this dtype");
        if (reduction.phase < 0 || reduction.phase >= static_cast<int>(phases.size()))
            throw std::invalid_argument("a reduction names a phase that is not there");
    }
    check_spec(*this);
    std::stable_sort(reductions.begin(), reductions.end(),
                     [](const Reduction &a, const Reduction &b) { return a.phase < b.phase; });
    pointer_count = operand_count() + static_cast<int>(scratch.size());
    chunk_bytes = 0;
    chunk_offsets.clear();
    for (const OperandSpec &operand : operands) {
        chunk_offsets.push_back(static_cast<std::int64_t>(chunk_bytes));
        chunk_bytes += aligned(static_cast<std::size_t>(operand.itemsize) * lanes);
    }
    accumulator_bytes = lay_out_accumulators(*this);
    make_identities(*this);
    reduction_begin.assign(phases.size() + 1, 0);
    for (const Reduction &reduction : reductions) ++reduction_begin[reduction.phase + 1];
    for (std::size_t p = 0; p < phases.size(); ++p) reduction_begin[p + 1] += reduction_begin[p];
    nanoseconds_per_point = estimate(*this);
    transposable = mode == Mode::row && scratch.empty() && !reductions.empty() &&
                   reductions.back().phase == 0 && phases.size() > 1;
    choose_orders();
    for (int k = 0; k < operand_count(); ++k)
        if (operands[k].role == (is_output(k) ? Role::vector : Role::row)) transposable = false;
    if (plain_operand >= 0 && plain_operand < input_count && transposable &&
        plain_element != ElementType::none &&
        reductions.size() == 1 &&
        operands[plain_operand].itemsize == size_of(plain_element))
        reduce_row = plain_reduction(reductions[0], plain_element, lanes);
}

void Kernel::choose_orders() {
    bool stores = !scratch.empty();
    for (int k = input_count; k < operand_count(); ++k)
        stores = stores || operands[k].role == Role::vector;
    any_order = true;
    counts_positions = false;
    for (const Reduction &reduction : reductions)
        counts_positions |= is_index(reduction.op);
    orders.clear();
    for (std::size_t p = 0; p < phases.size(); ++p) {
        bool any = true, stops = !stores;
        for (int r = reduction_begin[p]; r < reduction_begin[p + 1]; ++r) {
            const Reduction &reduction = reductions[r];
            const bool counts =
                reduction.op == Combine::add || reduction.op == Combine::multiply;
            any = any && !(counts && reduction.type >= ElementType::f16);
            stops = stops && reduction.stops;
        }
        any_order = any_order && any;
        orders.push_back(!any ? PhaseOrder::blocks : stops ? PhaseOrder::stops : PhaseOrder::any);
    }
}

void Kernel::run(const View *views, int ndim, const std::int64_t *shape, int outer) const {
    switch (mode) {
    case Mode::map: return run_map(*this, views, ndim, shape);
    case Mode::row: return run_rows(*this, views, ndim, shape, outer);
    case Mode::column: return run_columns(*this, views, ndim, shape, outer);
    }
}

void broadcast_strides(const View &view, const std::int64_t *shape, int ndim, std::int64_t *strides,
                       const Kernel &kernel, int operand) {
    int missing = ndim - view.ndim;
    bool fits = missing >= 0;
    for (int axis = 0; fits && axis < ndim; ++axis) {
        if (axis < missing) {
            strides[axis] = 0;
        } else if (view.shape[axis - missing] == shape[axis]) {
            strides[axis] = view.strides[axis - missing];
        } else {
            fits = view.shape[axis - missing] == 1;
            strides[axis] = 0;
        }
    }
    if (!fits)
        throw ShapeMismatch("operand " + std::to_string(operand) + " of kernel " + kernel.name +
                            " does not have the shape of its iteration space");
}

}  // namespace jitwise
