// Instructions that run kernels and copy arrays.
#include <algorithm>

#include "axis_order.h"
#include "frame.h"
#include "kernel.h"
#include "memory.h"
#include "pool.h"
#include "small_buffer.h"
#include "strided.h"

namespace jitwise {

bool keep_order(Frame &frame, const Instruction &now) {
    const bool copies = now.op == Opcode::copy;
    const int *words = copies ? &now.source : frame.words(now);
    const int *outs = copies ? &now.slot : words + now.in_count;
    const Slot &first = frame.slots[outs[0]];
    const int ndim = first.view.ndim;
    int vectors[max_operands], count = 0;
    for (int k = 0; k < (copies ? 1 : now.in_count); ++k)
        if (copies || now.kernel->operands[k].role == Role::vector) vectors[count++] = words[k];
    int order[max_rank];
    for (int axis = 0; axis < ndim; ++axis) order[axis] = axis;
    if (!sort_axes(order, ndim, first.shape, count,
                   [&](int k, int axis) { return frame.slots[vectors[k]].strides[axis]; }))
        return false;
    for (int k = 0; k < (copies ? 1 : now.out_count); ++k)
        frame.lay_along(frame.slots[outs[k]], order);
    return true;
}

// words: in slots, out slots, dims of the iteration space, then `outer`.
void execute_kernel(Frame &frame, const Instruction &now) {
    const Kernel &kernel = *now.kernel;
    const int *words = frame.words(now);
    const int operands = now.in_count + now.out_count;
    if (now.keeps_order) keep_order(frame, now);
    SmallBuffer<View, 12> views(operands);
    for (int k = 0; k < operands; ++k) views[k] = frame.slots[words[k]].view;
    for (int k = now.in_count; k < operands; ++k)
        if (views[k].owner != nullptr) frame.before_write(true);
    words += operands;
    SmallBuffer<std::int64_t, 12> shape(now.ndim + 1);
    std::int64_t points = 1;
    for (int axis = 0; axis < now.ndim; ++axis) {
        shape[axis] = frame.dims[words[axis]];
        points *= shape[axis];
    }
    if (kernel.work(points) > release_threshold) frame.release_gil();
    kernel.run(views.data(), now.ndim, shape.data(), words[now.ndim]);
}

namespace {

// The code of a region knows no exceptions of C++. From the first poll on it runs without the GIL.
int poll_region(Frame *frame) {
    try {
        frame->look();
        frame->release_gil();
        return 0;
    } catch (const PythonError &) {
        return 1;
    }
}

}  // namespace

// words: in slots, out slots, dims.
void execute_region(Frame &frame, const Instruction &now) {
    const int *words = frame.words(now);
    const int operands = now.in_count + now.out_count;
    SmallBuffer<char *, 16> data(operands + 1);
    SmallBuffer<std::int64_t, 32> strides(now.ndim + 1);
    SmallBuffer<std::int64_t, 16> sizes(now.word_count + 1);
    int count = 0;
    for (int k = 0; k < operands; ++k) {
        const View &view = frame.slots[words[k]].view;
        data[k] = view.data;
        if (k < now.in_count)
            for (int axis = 0; axis < view.ndim; ++axis) strides[count++] = view.strides[axis];
        else if (view.owner != nullptr)
            frame.before_write(true);
    }
    for (int k = 0; k < now.word_count; ++k) sizes[k] = frame.dims[words[operands + k]];
    const int status = now.region(data.data(), strides.data(), sizes.data(), &frame, poll_region);
    if (status == 1) throw Deoptimized();
    if (status != 0) throw PythonError();
}

namespace {

struct Range {
    const char *begin, *end;
};

Range extent(const View &view, int itemsize) {
    Range range = {view.data, view.data + itemsize};
    for (int axis = 0; axis < view.ndim; ++axis) {
        std::int64_t reach = (view.shape[axis] - 1) * view.strides[axis];
        (reach < 0 ? range.begin : range.end) += reach;
    }
    return range;
}

bool same_strides(const View &a, const View &b) {
    for (int axis = 0; axis < a.ndim; ++axis)
        if (a.shape[axis] != 1 && a.strides[axis] != b.strides[axis]) return false;
    return true;
}

// The longest axis of the target's outer ones is split among threads.
void copy_apart(const View &dst, const View &src, int itemsize, std::int64_t bytes) {
    int split = -1;
    for (int axis = 0; axis < dst.ndim; ++axis)
        if (dst.shape[axis] > 1 &&
            (split < 0 || std::abs(dst.strides[axis]) > std::abs(dst.strides[split])))
            split = axis;
    if (split < 0 || bytes < parallel_copy_bytes) {
        copy_strided(dst.data, dst.strides, src.data, src.strides, dst.shape, dst.ndim, itemsize);
        return;
    }
    const std::int64_t length = dst.shape[split];
    std::int64_t grain = std::max<std::int64_t>(1, length * (parallel_copy_bytes / 4) / bytes);
    parallel_for((length + grain - 1) / grain, 1, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t shape[max_rank];
        std::copy_n(dst.shape, dst.ndim, shape);
        shape[split] = std::min(end * grain, length) - begin * grain;
        copy_strided(dst.data + begin * grain * dst.strides[split], dst.strides,
                     src.data + begin * grain * src.strides[split], src.strides, shape, dst.ndim,
                     itemsize);
    });
}

}  // namespace

void copy_view(const View &dst, const View &src, int itemsize) {
    std::int64_t count = product(dst.shape, dst.ndim);
    if (count == 0) return;
    Range to = extent(dst, itemsize), from = extent(src, itemsize);
    bool apart = to.end <= from.begin || from.end <= to.begin;
    if (apart) return copy_apart(dst, src, itemsize, count * itemsize);
    if (dst.data == src.data && same_strides(dst, src)) return;
    // The source is read in full before the target is written.
    SmallBuffer<char, 256> buffer(static_cast<std::size_t>(count) * itemsize);
    std::int64_t strides[max_rank], stride = itemsize;
    for (int axis = dst.ndim - 1; axis >= 0; --axis) {
        strides[axis] = stride;
        stride *= dst.shape[axis];
    }
    copy_strided(buffer.data(), strides, src.data, src.strides, dst.shape, dst.ndim, itemsize);
    copy_strided(dst.data, dst.strides, buffer.data(), strides, dst.shape, dst.ndim, itemsize);
}

namespace {

constexpr std::int64_t untouched_bytes = std::int64_t(32) << 20;  // where the C library maps pages

bool is_one_zero(const View &view, int itemsize) {
    for (int axis = 0; axis < view.ndim; ++axis)
        if (view.shape[axis] != 1 && view.strides[axis] != 0) return false;
    for (int i = 0; i < itemsize; ++i)
        if (view.data[i] != 0) return false;
    return true;
}

}  // namespace

void copy_finally(const View &dst, const View &src, int itemsize) {
    if (product(dst.shape, dst.ndim) * itemsize >= untouched_bytes && is_one_zero(src, itemsize) &&
        is_contiguous(dst.shape, dst.strides, dst.ndim, itemsize) && store_clear(dst.data))
        return;
    copy_view(dst, src, itemsize);
}

void execute_copy(Frame &frame, const Instruction &now) {
    const Slot &dst = frame.slots[now.slot], &src = frame.slots[now.source];
    for (int axis = 0; axis < dst.view.ndim; ++axis)
        if (dst.shape[axis] != src.shape[axis])
            throw ShapeMismatch("a copy between different shapes");
    if (now.keeps_order) keep_order(frame, now);
    const int itemsize = size_of(dst.type);
    if (dst.view.owner != nullptr) frame.before_write(false);
    if (product(dst.shape, dst.view.ndim) * itemsize > large_copy) frame.release_gil();
    if (now.is_final) copy_finally(dst.view, src.view, itemsize);
    else copy_view(dst.view, src.view, itemsize);
}

}  // namespace jitwise
