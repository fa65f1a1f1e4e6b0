// Map kernels whose operands are dense, all in one order of axes, or scalars: the compiled loop runs
// over the operands themselves. Others are in map_general.cpp.
//
// The last elements: when at least one whole chunk came before, and no output overlaps an input,
// the last `lanes` elements are computed once more, a part of them for the second time; else they
// are packed.
#include <algorithm>
#include <cstring>

#include "maps.h"
#include "pool.h"
#include "small_buffer.h"
#include "strided.h"

namespace jitwise {

bool outputs_overlap_inputs(const Kernel &kernel, const Range *ranges) {
    for (int out = kernel.input_count; out < kernel.operand_count(); ++out)
        for (int in = 0; in < kernel.input_count; ++in)
            if (ranges[out].begin < ranges[in].end && ranges[in].begin < ranges[out].end)
                return true;
    return false;
}

namespace {

struct Dense {
    const Kernel &kernel;
    char *const *pointers;
    const std::int64_t *steps;

    bool overlapping(std::int64_t count) const {
        Range ranges[max_operands];
        for (int k = 0; k < kernel.operand_count(); ++k)
            ranges[k] = {pointers[k], steps[k] == 0
                                          ? pointers[k]
                                          : pointers[k] + count * kernel.operands[k].itemsize};
        return outputs_overlap_inputs(kernel, ranges);
    }

    // Elements [start, start + valid), valid < lanes, through padded copies.
    void padded(std::int64_t start, std::int64_t valid) const {
        SmallBuffer<char, 6144> buffer(kernel.chunk_bytes);
        char *now[max_operands];
        for (int k = 0; k < kernel.operand_count(); ++k) {
            const int itemsize = kernel.operands[k].itemsize;
            if (steps[k] == 0) {
                now[k] = pointers[k];
                continue;
            }
            now[k] = buffer.data() + kernel.chunk_offsets[k];
            if (kernel.is_output(k)) continue;
            copy_padded(now[k], pointers[k] + start * itemsize, valid, kernel.lanes, itemsize);
        }
        kernel.phases[0](now, steps, 1, valid, nullptr, nullptr);
        for (int k = kernel.input_count; k < kernel.operand_count(); ++k) {
            const int itemsize = kernel.operands[k].itemsize;
            std::memcpy(pointers[k] + start * itemsize, now[k], valid * itemsize);
        }
    }

    void span(std::int64_t start, std::int64_t count, bool may_repeat) const {
        const int lanes = kernel.lanes;
        std::int64_t chunks = count / lanes, tail = count - chunks * lanes;
        char *now[max_operands];
        if (chunks > 0) {
            shift(now, start);
            kernel.phases[0](now, steps, chunks, lanes, nullptr, nullptr);
        }
        if (tail == 0) return;
        if (chunks > 0 && may_repeat) {
            shift(now, start + count - lanes);
            kernel.phases[0](now, steps, 1, lanes, nullptr, nullptr);
        } else {
            padded(start + chunks * lanes, tail);
        }
    }

    void shift(char **now, std::int64_t start) const {
        for (int k = 0; k < kernel.operand_count(); ++k)
            now[k] =
                steps[k] == 0 ? pointers[k] : pointers[k] + start * kernel.operands[k].itemsize;
    }
};

}  // namespace

// Elements that one thread takes at a time.
std::int64_t grain_of(const Kernel &kernel, std::int64_t count) {
    std::int64_t shared = count / (thread_count() * 8) + 1;
    std::int64_t worth = static_cast<std::int64_t>(3000 / kernel.nanoseconds_per_point) + 1;
    std::int64_t grain = std::max(shared, worth);
    return (grain + kernel.lanes - 1) / kernel.lanes * kernel.lanes;
}

void run_dense(const Kernel &kernel, char *const *pointers, const std::int64_t *steps,
               std::int64_t count) {
    const Dense dense{kernel, pointers, steps};
    if (count < kernel.lanes) return dense.padded(0, count);
    bool may_repeat = count % kernel.lanes != 0 && !dense.overlapping(count);
    if (kernel.work(count) < parallel_threshold || thread_count() == 1)
        return dense.span(0, count, may_repeat);
    std::int64_t grain = grain_of(kernel, count);
    parallel_for((count + grain - 1) / grain, 1, [&](std::int64_t begin, std::int64_t end) {
        dense.span(begin * grain, std::min(end * grain, count) - begin * grain, may_repeat);
    });
}

namespace {

// Strides, in elements, of an array of this shape in C order.
void c_order(int ndim, const std::int64_t *shape, std::int64_t *units) {
    std::int64_t unit = 1;
    for (int axis = ndim - 1; axis >= 0; --axis) {
        units[axis] = unit;
        unit *= shape[axis];
    }
}

// The same for the order in which `view` lies without gaps; false: it has some.
bool order_of(const View &view, int ndim, int itemsize, std::int64_t *units) {
    if (view.ndim != ndim) return false;
    bool is_placed[max_rank];
    int left = 0;
    for (int axis = 0; axis < ndim; ++axis) {
        units[axis] = 1;
        is_placed[axis] = view.shape[axis] == 1;
        left += !is_placed[axis];
    }
    for (std::int64_t unit = 1; left > 0; --left) {
        int axis = 0;
        while (axis < ndim && (is_placed[axis] || view.strides[axis] != unit * itemsize)) ++axis;
        if (axis == ndim) return false;
        is_placed[axis] = true;
        units[axis] = unit;
        unit *= view.shape[axis];
    }
    return true;
}

bool lies_in(const View &view, int ndim, const std::int64_t *shape, const std::int64_t *units,
             int itemsize) {
    if (view.ndim != ndim) return false;
    for (int axis = 0; axis < ndim; ++axis) {
        if (view.shape[axis] != shape[axis]) return false;
        if (view.strides[axis] != units[axis] * itemsize && shape[axis] != 1) return false;
    }
    return true;
}

}  // namespace

bool gather_dense(const Kernel &kernel, const View *views, int ndim, const std::int64_t *shape,
                  char **pointers, std::int64_t *steps) {
    std::int64_t units[max_rank];
    c_order(ndim, shape, units);
    bool is_other = false;
    for (int k = 0; k < kernel.operand_count(); ++k) {
        const OperandSpec &spec = kernel.operands[k];
        pointers[k] = views[k].data;
        if (spec.role == Role::scalar) {
            steps[k] = 0;
            continue;
        }
        steps[k] = static_cast<std::int64_t>(spec.itemsize) * kernel.lanes;
        if (lies_in(views[k], ndim, shape, units, spec.itemsize)) continue;
        if (is_other || ndim < 2 || kernel.output_count == 0) return false;
        const int guide = kernel.input_count;
        if (!order_of(views[guide], ndim, kernel.operands[guide].itemsize, units)) return false;
        is_other = true;
        k = -1;  // once more, from the first
    }
    return true;
}

void run_map(const Kernel &kernel, const View *views, int ndim, const std::int64_t *shape) {
    const std::int64_t count = product(shape, ndim);
    if (count == 0) return;
    char *pointers[max_operands];
    std::int64_t steps[max_operands];
    if (gather_dense(kernel, views, ndim, shape, pointers, steps))
        return run_dense(kernel, pointers, steps, count);
    run_general(kernel, views, ndim, shape);
}

}  // namespace jitwise
