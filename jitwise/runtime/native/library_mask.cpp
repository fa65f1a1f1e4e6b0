// Masks: how many elements are true, the elements there, their places, and putting elements back.
// The results were allocated for as many elements as were counted before.
#include <cstring>

#include "library.h"
#include "mask_lines.h"
#include "memory.h"
#include "strided.h"

namespace jitwise {

namespace {

constexpr std::int64_t large_slab = 64;  // elements that are copied at once, whatever their strides
constexpr std::int64_t much_work = 16384;  // elements of a mask for which the GIL is given up

// A view as dense memory: itself, or a copy.
class Dense {
public:
    Dense(const View &view, int itemsize) : bytes_(product(view.shape, view.ndim) * itemsize) {
        if (is_contiguous(view.shape, view.strides, view.ndim, itemsize)) {
            data_ = view.data;
            return;
        }
        data_ = copy_ = static_cast<char *>(temporary_allocate(bytes_));
        std::int64_t strides[max_rank], stride = itemsize;
        for (int axis = view.ndim - 1; axis >= 0; --axis) {
            strides[axis] = stride;
            stride *= view.shape[axis];
        }
        copy_view({copy_, view.ndim, view.shape, strides}, view, itemsize);
    }
    ~Dense() {
        if (copy_ != nullptr) temporary_free(copy_, bytes_);
    }
    Dense(const Dense &) = delete;
    Dense &operator=(const Dense &) = delete;
    char *data() const { return data_; }
    const std::uint8_t *mask() const { return reinterpret_cast<const std::uint8_t *>(data_); }

private:
    char *data_ = nullptr, *copy_ = nullptr;
    std::size_t bytes_;
};

[[noreturn]] void another_count() { throw std::logic_error("a mask has another count"); }

// Where a dense mask is true, in temporary memory.
class Places {
public:
    Places(const std::uint8_t *mask, std::int64_t count, std::int64_t room)
        : bytes_(room * sizeof(std::int64_t)),
          data_(static_cast<std::int64_t *>(temporary_allocate(bytes_))) {
        if (places_run(data_, room, mask, count, 0) == room) return;
        temporary_free(data_, bytes_);
        another_count();
    }
    ~Places() { temporary_free(data_, bytes_); }
    Places(const Places &) = delete;
    Places &operator=(const Places &) = delete;
    const std::int64_t *data() const { return data_; }

private:
    std::size_t bytes_;
    std::int64_t *data_;
};

// Whole rows of `bytes` where the mask is true.
std::int64_t compress_rows(char *out, std::int64_t room, const char *in, std::int64_t bytes,
                           const std::uint8_t *mask, std::int64_t count) {
    std::int64_t taken = 0;
    for (std::int64_t i = 0; i < count && taken < room; ++i)
        if (mask[i] != 0) std::memcpy(out + taken++ * bytes, in + i * bytes, bytes);
    return taken;
}

std::int64_t expand_rows(char *out, const char *in, std::int64_t room, std::int64_t bytes,
                         const std::uint8_t *mask, std::int64_t count) {
    std::int64_t taken = 0;
    for (std::int64_t i = 0; i < count && taken < room; ++i)
        if (mask[i] != 0) std::memcpy(out + i * bytes, in + taken++ * bytes, bytes);
    return taken;
}

void require_shapes(const View &whole, const View &part, const View &mask, int axis) {
    for (int a = 0; a < whole.ndim; ++a)
        if (whole.shape[a] != (a == axis ? mask.shape[0] : part.shape[a]))
            throw std::logic_error("a mask of another length");
}

bool is_element(std::int64_t bytes) {
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

}  // namespace

void library_count(Frame &frame, const Instruction &instruction) {
    LibraryCall call(frame, instruction);
    const View &mask = call.in(0).view;
    const std::int64_t size = product(mask.shape, mask.ndim);
    if (size > much_work) frame.release_gil();
    const Dense dense(mask, 1);
    const std::int64_t count = count_true(dense.mask(), size);
    std::memcpy(call.out(0).view.data, &count, sizeof count);
}

namespace {

// Several lines with one mask: its places are found once.
void compress_lines(char *out, std::int64_t room, const char *in, std::int64_t bytes,
                    const std::uint8_t *mask, std::int64_t count, std::int64_t lines) {
    if (lines == 1) {
        const std::int64_t taken =
            is_element(bytes) ? compress_run(out, room, in, mask, count, static_cast<int>(bytes))
                              : compress_rows(out, room, in, bytes, mask, count);
        if (taken != room) another_count();
        return;
    }
    Places places(mask, count, room);
    for (std::int64_t i = 0; i < lines; ++i)
        take_run(out + i * room * bytes, in + i * count * bytes, places.data(), room, bytes);
}

// What is not dense: for each true place all that lies there, any strides.
void compress_slabs(const View &out, const View &in, int axis, const Places &places,
                    int itemsize) {
    std::int64_t shape[max_rank], from[max_rank], to[max_rank];
    int ndim = 0;
    for (int a = 0; a < in.ndim; ++a)
        if (a != axis) shape[ndim] = in.shape[a], from[ndim] = in.strides[a],
                       to[ndim++] = out.strides[a];
    for (std::int64_t i = 0; i < out.shape[axis]; ++i)
        copy_strided(out.data + i * out.strides[axis], to,
                     in.data + places.data()[i] * in.strides[axis], from, shape, ndim, itemsize);
}

}  // namespace

void library_compress(Frame &frame, const Instruction &instruction) {
    LibraryCall call(frame, instruction);
    const View &out = call.out(0).view, &in = call.in(0).view, &mask = call.in(1).view;
    const int axis = call.attr(0), itemsize = size_of(call.out(0).type);
    require_shapes(in, out, mask, axis);
    const std::int64_t count = mask.shape[0], room = out.shape[axis];
    const std::int64_t size = product(in.shape, in.ndim);
    if (size > much_work) frame.release_gil();
    const Dense chosen(mask, 1);
    if (in.ndim == 1 && in.strides[0] != itemsize) {
        if (compress_strided(out.data, room, in.data, in.strides[0], chosen.mask(), count,
                             itemsize) != room)
            another_count();
        return;
    }
    if (product(out.shape, out.ndim) == 0) return;
    const bool dense = is_contiguous(in.shape, in.strides, in.ndim, itemsize);
    if (!dense && size / count >= large_slab)
        return compress_slabs(out, in, axis, Places(chosen.mask(), count, room), itemsize);
    const Dense whole(in, itemsize);
    const std::int64_t row = product(in.shape + axis + 1, in.ndim - axis - 1) * itemsize;
    compress_lines(out.data, room, whole.data(), row, chosen.mask(), count,
                   product(in.shape, axis));
}

void library_place(Frame &frame, const Instruction &instruction) {
    LibraryCall call(frame, instruction);
    const View &out = call.out(0).view, &mask = call.in(0).view, &in = call.in(1).view;
    const int axis = call.attr(0), itemsize = size_of(call.out(0).type);
    require_shapes(out, in, mask, axis);
    if (!is_contiguous(out.shape, out.strides, out.ndim, itemsize))
        throw std::logic_error("elements are put into dense memory");
    const std::int64_t count = mask.shape[0], room = in.shape[axis];
    if (product(out.shape, out.ndim) > much_work) frame.release_gil();
    const Dense chosen(mask, 1), part(in, itemsize);
    const std::int64_t outer = product(out.shape, axis);
    const std::int64_t row = product(out.shape + axis + 1, out.ndim - axis - 1) * itemsize;
    if (row == 0) return;
    for (std::int64_t i = 0; i < outer; ++i) {
        char *to = out.data + i * count * row;
        const char *from = part.data() + i * room * row;
        const std::int64_t taken =
            is_element(row)
                ? expand_run(to, from, room, chosen.mask(), count, static_cast<int>(row))
                : expand_rows(to, from, room, row, chosen.mask(), count);
        if (taken != room) another_count();
    }
}

void library_places(Frame &frame, const Instruction &instruction) {
    LibraryCall call(frame, instruction);
    const View &mask = call.in(0).view;
    const int last = mask.ndim - 1;
    const std::int64_t size = product(mask.shape, mask.ndim), room = call.out(0).view.shape[0];
    const std::int64_t length = mask.shape[last];
    if (size > much_work) frame.release_gil();
    const Dense dense(mask, 1);
    std::int64_t *found[max_rank], index[max_rank] = {}, taken = 0;
    for (int axis = 0; axis <= last; ++axis)
        found[axis] = reinterpret_cast<std::int64_t *>(call.out(axis).view.data);
    for (std::int64_t start = 0; start < size; start += length) {
        const std::int64_t here = places_run(found[last] + taken, room - taken,
                                             dense.mask() + start, length, 0);
        for (int axis = 0; axis < last; ++axis)
            for (std::int64_t i = 0; i < here; ++i) found[axis][taken + i] = index[axis];
        taken += here;
        for (int axis = last - 1; axis >= 0; --axis) {
            if (++index[axis] < mask.shape[axis]) break;
            index[axis] = 0;
        }
    }
    if (taken != room) another_count();
}

}  // namespace jitwise
