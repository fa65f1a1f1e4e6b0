#include "strided.h"

#include <algorithm>

#include "transpose.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__)
#define JITWISE_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define JITWISE_WIDE
#endif

namespace jitwise {

namespace {

struct Wide {
    std::uint64_t low, high;
};

template <class T>
void copy_typed(char *dst, std::int64_t dst_stride, const char *src, std::int64_t src_stride,
                std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        T value;
        std::memcpy(&value, src + i * src_stride, sizeof(T));
        std::memcpy(dst + i * dst_stride, &value, sizeof(T));
    }
}

template <class T, int step>
void gather_evenly(char *__restrict dst, const char *__restrict src, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(dst + i * sizeof(T), src + i * step * static_cast<std::int64_t>(sizeof(T)),
                    sizeof(T));
}

// Small steps and backwards are common, and with a known step the compiler shuffles
// vectors.
template <class T>
void gather_typed(char *__restrict dst, const char *__restrict src, std::int64_t src_stride,
                  std::int64_t count) {
    constexpr std::int64_t size = sizeof(T);
    if (src_stride == 2 * size) return gather_evenly<T, 2>(dst, src, count);
    if (src_stride == 3 * size) return gather_evenly<T, 3>(dst, src, count);
    if (src_stride == 4 * size) return gather_evenly<T, 4>(dst, src, count);
    if (src_stride == -size) return gather_evenly<T, -1>(dst, src, count);
    for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(dst + i * sizeof(T), src + i * src_stride, sizeof(T));
}

template <class T>
void fill_typed(char *dst, const char *src, std::int64_t count) {
    T value;
    std::memcpy(&value, src, sizeof(T));
    for (std::int64_t i = 0; i < count; ++i) std::memcpy(dst + i * sizeof(T), &value, sizeof(T));
}

// The flat position `start` as an index per axis, innermost last.
void unravel(const Strided &space, std::int64_t start, std::int64_t *index, std::int64_t *offset) {
    *offset = 0;
    for (int axis = space.ndim - 1; axis >= 0; --axis) {
        std::int64_t quotient = start / space.shape[axis];
        index[axis] = start - quotient * space.shape[axis];
        *offset += index[axis] * space.strides[axis];
        start = quotient;
    }
}

// Step from the end of an inner run to the start of the next one.
void carry(const Strided &space, std::int64_t *index, std::int64_t *offset) {
    int axis = space.ndim - 1;
    *offset -= index[axis] * space.strides[axis];
    index[axis] = 0;
    while (--axis >= 0) {
        *offset += space.strides[axis];
        if (++index[axis] < space.shape[axis]) return;
        *offset -= index[axis] * space.strides[axis];
        index[axis] = 0;
    }
}

// Rows of a few elements each are copied column by column, so that the loops stay long.
constexpr std::int64_t short_run = 16;

// Calls visit(element address, its stride, dense position, dense stride in elements, length) for
// each run.
template <class Visit>
void for_runs(const Strided &space, char *data, std::int64_t start, std::int64_t count,
              Visit visit) {
    if (space.ndim <= 1) {
        std::int64_t stride = space.ndim == 0 ? 0 : space.strides[0];
        visit(data + start * stride, stride, std::int64_t{0}, std::int64_t{1}, count);
        return;
    }
    std::int64_t index[max_rank], offset;
    unravel(space, start, index, &offset);
    const int last = space.ndim - 1;
    const std::int64_t length = space.shape[last];
    std::int64_t done = 0;
    while (done < count) {
        const std::int64_t rows =
            std::min(space.shape[last - 1] - index[last - 1], (count - done) / length);
        if (length <= short_run && index[last] == 0 && rows > 4) {
            for (std::int64_t column = 0; column < length; ++column)
                visit(data + offset + column * space.strides[last], space.strides[last - 1],
                      done + column, length, rows);
            done += rows * length;
            if (done == count) return;
            index[last - 1] += rows - 1;
            offset += (rows - 1) * space.strides[last - 1];
            carry(space, index, &offset);
            continue;
        }
        const std::int64_t run = std::min(length - index[last], count - done);
        visit(data + offset, space.strides[last], done, std::int64_t{1}, run);
        done += run;
        if (done == count) return;
        index[last] += run;
        offset += run * space.strides[last];
        carry(space, index, &offset);
    }
}

}  // namespace

Strided::Strided(char *data, int ndim, const std::int64_t *shape, const std::int64_t *strides,
                 int itemsize)
    : data(data), ndim(0), itemsize(itemsize), count(1) {
    for (int axis = 0; axis < ndim; ++axis) {
        count *= shape[axis];
        if (shape[axis] == 1) continue;
        int last = this->ndim - 1;
        if (last >= 0 && this->strides[last] == strides[axis] * shape[axis]) {
            this->shape[last] *= shape[axis];
            this->strides[last] = strides[axis];
        } else {
            this->shape[last + 1] = shape[axis];
            this->strides[last + 1] = strides[axis];
            ++this->ndim;
        }
    }
}

void copy_run(char *dst, std::int64_t dst_stride, const char *src, std::int64_t src_stride,
              std::int64_t count, int itemsize) {
    if (dst_stride == itemsize && src_stride == itemsize) {
        std::memmove(dst, src, static_cast<std::size_t>(count) * itemsize);
        return;
    }
    if (dst_stride == itemsize) {
        if (src_stride == 0) return fill_run(dst, src, count, itemsize);
        switch (itemsize) {
        case 1: return gather_typed<std::uint8_t>(dst, src, src_stride, count);
        case 2: return gather_typed<std::uint16_t>(dst, src, src_stride, count);
        case 4: return gather_typed<std::uint32_t>(dst, src, src_stride, count);
        case 8: return gather_typed<std::uint64_t>(dst, src, src_stride, count);
        default: return gather_typed<Wide>(dst, src, src_stride, count);
        }
    }
    switch (itemsize) {
    case 1: return copy_typed<std::uint8_t>(dst, dst_stride, src, src_stride, count);
    case 2: return copy_typed<std::uint16_t>(dst, dst_stride, src, src_stride, count);
    case 4: return copy_typed<std::uint32_t>(dst, dst_stride, src, src_stride, count);
    case 8: return copy_typed<std::uint64_t>(dst, dst_stride, src, src_stride, count);
    default: return copy_typed<Wide>(dst, dst_stride, src, src_stride, count);
    }
}

namespace {

constexpr std::int64_t wide_fill = 16, long_fill = 128;  // elements
constexpr std::int64_t pattern_bytes = 4096;

JITWISE_WIDE void fill_4(char *dst, std::uint32_t value, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) store(dst + i * 4, value);
}
JITWISE_WIDE void fill_8(char *dst, std::uint64_t value, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) store(dst + i * 8, value);
}

void fill_short(char *dst, const char *src, std::int64_t count, int itemsize) {
    switch (itemsize) {
    case 1: return fill_typed<std::uint8_t>(dst, src, count);
    case 2: return fill_typed<std::uint16_t>(dst, src, count);
    case 4: return fill_typed<std::uint32_t>(dst, src, count);
    case 8: return fill_typed<std::uint64_t>(dst, src, count);
    default: return fill_typed<Wide>(dst, src, count);
    }
}

bool has_equal_bytes(const char *element, int itemsize) {
    for (int i = 1; i < itemsize; ++i)
        if (element[i] != element[0]) return false;
    return true;
}

// A piece is filled, which stays in the nearest cache, and copied: the C library has the widest
// moves.
void fill_long(char *dst, const char *src, std::int64_t count, int itemsize) {
    const std::int64_t bytes = count * itemsize;
    if (has_equal_bytes(src, itemsize)) {
        std::memset(dst, src[0], static_cast<std::size_t>(bytes));
        return;
    }
    const std::int64_t piece = std::min(bytes, pattern_bytes);
    fill_short(dst, src, piece / itemsize, itemsize);
    for (std::int64_t done = piece; done < bytes; done += piece)
        std::memcpy(dst + done, dst, static_cast<std::size_t>(std::min(piece, bytes - done)));
}

}  // namespace

void fill_run(char *dst, const char *src, std::int64_t count, int itemsize) {
    if (count >= long_fill) return fill_long(dst, src, count, itemsize);
    if (count < wide_fill) return fill_short(dst, src, count, itemsize);
    if (itemsize == 8) return fill_8(dst, load<std::uint64_t>(src), count);
    if (itemsize == 4) return fill_4(dst, load<std::uint32_t>(src), count);
    fill_short(dst, src, count, itemsize);
}

void copy_padded(char *dst, const char *src, std::int64_t valid, std::int64_t count, int itemsize) {
    // The whole chunk is filled, from its aligned start: the elements then overwrite their part.
    if (itemsize == 8) {
        std::uint64_t value;
        std::memcpy(&value, src + (valid - 1) * 8, 8);
        fill_8(dst, value, count);
    } else if (itemsize == 4) {
        std::uint32_t value;
        std::memcpy(&value, src + (valid - 1) * 4, 4);
        fill_4(dst, value, count);
    } else {
        fill_run(dst + valid * itemsize, src + (valid - 1) * itemsize, count - valid, itemsize);
    }
    std::memcpy(dst, src, valid * itemsize);
}

void gather(char *dst, const Strided &source, const char *data, std::int64_t start,
            std::int64_t count) {
    const int itemsize = source.itemsize;
    for_runs(source, const_cast<char *>(data), start, count,
             [=](const char *src, std::int64_t stride, std::int64_t position, std::int64_t step,
                 std::int64_t run) {
                 copy_run(dst + position * itemsize, step * itemsize, src, stride, run, itemsize);
             });
}

void scatter(const Strided &target, char *data, std::int64_t start, const char *src,
             std::int64_t count) {
    const int itemsize = target.itemsize;
    for_runs(target, data, start, count,
             [=](char *dst, std::int64_t stride, std::int64_t position, std::int64_t step,
                 std::int64_t run) {
                 copy_run(dst, stride, src + position * itemsize, step * itemsize, run, itemsize);
             });
}

namespace {

struct CopyAxis {
    std::int64_t length, dst, src;
};

// Length-1 axes dropped, ordered by the target's strides (largest first), neighbours merged.
int normalise(CopyAxis *axes, const std::int64_t *dst, const std::int64_t *src,
              const std::int64_t *shape, int ndim) {
    int rank = 0;
    for (int axis = 0; axis < ndim; ++axis)
        if (shape[axis] != 1) axes[rank++] = {shape[axis], dst[axis], src[axis]};
    std::stable_sort(axes, axes + rank, [](const CopyAxis &a, const CopyAxis &b) {
        return std::abs(a.dst) > std::abs(b.dst);
    });
    int kept = 0;
    for (int axis = 0; axis < rank; ++axis) {
        CopyAxis &now = axes[axis];
        if (kept > 0 && axes[kept - 1].dst == now.dst * now.length &&
            axes[kept - 1].src == now.src * now.length) {
            now.length *= axes[kept - 1].length;
            axes[kept - 1] = now;
        } else {
            axes[kept++] = now;
        }
    }
    return kept;
}

// Each element of a dense source a few times over, into a dense target. Neither need be aligned.
template <class T, int times>
void repeat_times(char *__restrict dst, const char *__restrict src, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        T value;
        std::memcpy(&value, src + i * sizeof(T), sizeof(T));
        for (int k = 0; k < times; ++k)
            std::memcpy(dst + (i * times + k) * sizeof(T), &value, sizeof(T));
    }
}

// Vectors of equal elements, which may reach over the ends of their places: what follows there is
// written later, and near the end of the target nothing reaches over.
template <class T>
void repeat_typed(char *dst, const char *src, std::int64_t count, std::int64_t times) {
    if (times == 2) return repeat_times<T, 2>(dst, src, count);
    if (times == 3) return repeat_times<T, 3>(dst, src, count);
    if (times == 4) return repeat_times<T, 4>(dst, src, count);
    typedef T Vector __attribute__((vector_size(16)));
    const std::int64_t size = times * sizeof(T), stored = (size + 15) / 16 * 16;
    std::int64_t i = 0;
    for (; i < count && (count - i) * size >= stored; ++i, dst += size) {
        T value;
        std::memcpy(&value, src + i * sizeof(T), sizeof(T));
        const Vector values = Vector{} + value;
        for (std::int64_t k = 0; k < stored; k += 16) std::memcpy(dst + k, &values, 16);
    }
    for (; i < count; ++i, dst += size) fill_typed<T>(dst, src + i * sizeof(T), times);
}

// False: not a kind of element for which there is a loop.
bool repeat(char *dst, const char *src, std::int64_t count, std::int64_t times, int itemsize) {
    switch (itemsize) {
    case 1: repeat_typed<std::uint8_t>(dst, src, count, times); return true;
    case 2: repeat_typed<std::uint16_t>(dst, src, count, times); return true;
    case 4: repeat_typed<std::uint32_t>(dst, src, count, times); return true;
    case 8: repeat_typed<std::uint64_t>(dst, src, count, times); return true;
    default: return false;
    }
}

// A transposition is copied in tiles, so that every cache line fetched is used up before it leaves.
void copy_plane(char *dst, const char *src, const CopyAxis &outer, const CopyAxis &inner,
                int itemsize) {
    constexpr std::int64_t tile = 32;
    if (inner.src == 0 && inner.dst == itemsize && outer.src == itemsize &&
        outer.dst == inner.length * itemsize &&
        repeat(dst, src, outer.length, inner.length, itemsize))
        return;
    bool crossed =
        std::abs(inner.src) > std::abs(outer.src) && inner.length > tile && outer.src != 0;
    std::int64_t width = crossed ? tile : inner.length;
    for (std::int64_t start = 0; start < inner.length; start += width) {
        std::int64_t run = std::min(width, inner.length - start);
        if (crossed && inner.dst == itemsize && outer.src == itemsize &&
            transpose(dst + start * itemsize, outer.dst, src + start * inner.src, inner.src, run,
                      outer.length, itemsize))
            continue;
        for (std::int64_t row = 0; row < outer.length; ++row)
            copy_run(dst + row * outer.dst + start * inner.dst, inner.dst,
                     src + row * outer.src + start * inner.src, inner.src, run, itemsize);
    }
}

}  // namespace

void copy_strided(char *dst, const std::int64_t *dst_strides, const char *src,
                  const std::int64_t *src_strides, const std::int64_t *shape, int ndim,
                  int itemsize) {
    if (product(shape, ndim) == 0) return;
    CopyAxis axes[max_rank];
    int rank = normalise(axes, dst_strides, src_strides, shape, ndim);
    const CopyAxis one = {1, 0, 0};
    const CopyAxis &inner = rank > 0 ? axes[rank - 1] : one;
    const CopyAxis &outer = rank > 1 ? axes[rank - 2] : one;
    const int leading = std::max(rank - 2, 0);
    std::int64_t index[max_rank] = {};
    for (;;) {
        copy_plane(dst, src, outer, inner, itemsize);
        int axis = leading;
        while (--axis >= 0) {
            dst += axes[axis].dst;
            src += axes[axis].src;
            if (++index[axis] < axes[axis].length) break;
            dst -= axes[axis].dst * axes[axis].length;
            src -= axes[axis].src * axes[axis].length;
            index[axis] = 0;
        }
        if (axis < 0) return;
    }
}

}  // namespace jitwise
