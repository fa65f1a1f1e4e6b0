// Instructions that make views: no element moves, except in a reshape that NumPy would copy for
// too.
#include "frame.h"
#include "kernel.h"
#include "strided.h"

namespace jitwise {

namespace {

struct ViewPair {
    Slot &out;
    const Slot &in;
    const int *words;
    int ndim;
};

// words: perm.
void transpose(const ViewPair &p) {
    for (int axis = 0; axis < p.ndim; ++axis) {
        p.out.shape[axis] = p.in.shape[p.words[axis]];
        p.out.strides[axis] = p.in.strides[p.words[axis]];
    }
}

// words: start dims, strides, size dims.
void slice(const ViewPair &p, const std::int64_t *dims) {
    for (int axis = 0; axis < p.ndim; ++axis) {
        const std::int64_t start = dims[p.words[axis]], step = p.words[p.ndim + axis];
        const std::int64_t size = dims[p.words[2 * p.ndim + axis]],
                           last = start + (size - 1) * step;
        if (size < 0 || (size > 0 && (start < 0 || start >= p.in.shape[axis] || last < 0 ||
                                      last >= p.in.shape[axis])))
            throw ShapeMismatch("a slice reaches outside its array");
        if (size > 0) p.out.view.data += start * p.in.strides[axis];
        p.out.shape[axis] = size;
        p.out.strides[axis] = step * p.in.strides[axis];
    }
}

// words: for each axis the axis of the operand or -1, then size dims.
void broadcast(const ViewPair &p, const std::int64_t *dims) {
    for (int axis = 0; axis < p.ndim; ++axis) {
        const std::int64_t size = dims[p.words[p.ndim + axis]];
        const int from = p.words[axis];
        p.out.shape[axis] = size;
        if (from < 0) p.out.strides[axis] = 0;
        else if (p.in.shape[from] == size) p.out.strides[axis] = p.in.strides[from];
        else if (p.in.shape[from] == 1) p.out.strides[axis] = 0;
        else throw ShapeMismatch("a broadcast of an axis that is neither 1 nor the result's size");
        if (size < 0) throw ShapeMismatch("a broadcast to a negative size");
    }
}

// words: axes.
void reverse(const ViewPair &p, int count) {
    for (int axis = 0; axis < p.ndim; ++axis) {
        p.out.shape[axis] = p.in.shape[axis];
        p.out.strides[axis] = p.in.strides[axis];
    }
    for (int i = 0; i < count; ++i) {
        const int axis = p.words[i];
        if (p.in.shape[axis] > 0) p.out.view.data += (p.in.shape[axis] - 1) * p.in.strides[axis];
        p.out.strides[axis] = -p.in.strides[axis];
    }
}

// Strides of a view with another shape and the same elements in the same order; false: there is
// none.
bool reshaped_strides(const Slot &in, const std::int64_t *shape, int ndim, std::int64_t itemsize,
                      std::int64_t *strides) {
    Strided old(nullptr, in.view.ndim, in.shape, in.strides, static_cast<int>(itemsize));
    int axis = ndim - 1;
    std::int64_t trailing = itemsize;
    for (int group = old.ndim - 1; group >= 0; --group) {
        std::int64_t left = old.shape[group], stride = old.strides[group];
        while (left > 1) {
            if (axis < 0 || shape[axis] == 0 || left % shape[axis] != 0) return false;
            strides[axis] = stride;
            stride *= shape[axis];
            left /= shape[axis--];
        }
        trailing = stride;
    }
    for (; axis >= 0; --axis) {
        if (shape[axis] != 1) return false;
        strides[axis] = trailing;
    }
    return true;
}

Slot &redefined(Frame &frame, const Instruction &now) {
    Slot &out = frame.slots[now.slot];
    const Slot &in = frame.slots[now.source];
    if (out.owner != Owner::none) frame.free(out);
    out.type = in.type;
    out.view.ndim = now.ndim;
    out.view.data = in.view.data;
    out.view.owner = in.view.owner;
    return out;
}

}  // namespace

void execute_view(Frame &frame, const Instruction &now) {
    Slot &out = redefined(frame, now);
    ViewPair pair{out, frame.slots[now.source], frame.words(now), now.ndim};
    switch (now.op) {
    case Opcode::transpose: return transpose(pair);
    case Opcode::slice: return slice(pair, frame.dims);
    case Opcode::broadcast: return broadcast(pair, frame.dims);
    default: return reverse(pair, now.word_count);
    }
}

// words: size dims.
bool reshape_in_place(Frame &frame, const Instruction &now) {
    Slot &out = redefined(frame, now);
    const Slot &in = frame.slots[now.source];
    const int *words = frame.words(now);
    for (int axis = 0; axis < now.ndim; ++axis) {
        out.shape[axis] = frame.dims[words[axis]];
        if (out.shape[axis] < 0) throw ShapeMismatch("a reshape to a negative size");
    }
    const std::int64_t count = product(in.shape, in.view.ndim);
    if (count != product(out.shape, now.ndim))
        throw ShapeMismatch("a reshape to another number of elements");
    const int itemsize = size_of(in.type);
    return count > 0 && reshaped_strides(in, out.shape, now.ndim, itemsize, out.strides);
}

void execute_reshape(Frame &frame, const Instruction &now) {
    if (reshape_in_place(frame, now)) return;
    Slot &out = frame.slots[now.slot];
    const Slot &in = frame.slots[now.source];
    const int itemsize = size_of(in.type);
    const std::int64_t count = product(in.shape, in.view.ndim);
    frame.allocate(out, in.type, now.ndim, now.is_output);
    if (count * itemsize > large_copy) frame.release_gil();
    std::int64_t strides[max_rank], stride = itemsize;
    for (int axis = in.view.ndim - 1; axis >= 0; --axis) {
        strides[axis] = stride;
        stride *= in.shape[axis];
    }
    copy_view({out.view.data, in.view.ndim, in.shape, strides}, in.view, itemsize);
}

}  // namespace jitwise
