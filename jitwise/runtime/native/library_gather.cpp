// Elements at positions: reading them, replacing them, combining them with others.
//
//     gather      [x, p...] -> [out], attrs [axis...]            out = x[..., p, ...]
//     scatter     [v, p...] -> [x], attrs [axis...]              x[..., p, ...] = v
//     scatter_at  [v, p...] -> [x], attrs [operation, axis...]   x[..., p, ...] op= v, one by one
//
// Positions are i64 of one shape; a negative one counts from the end. The axes of positions stand
// where the indexed axes stood when those are neighbours, and first otherwise. Elements are visited
// in C order of the positions: of several values for one place the last stays, and sums are NumPy's
// to the bit. What is written to is the program's own memory, so a position out of bounds that is
// found in the middle leaves nothing half-changed.
//
// Positions are turned into byte offsets a block at a time; the axes after them are a cell that is
// moved as a whole. Single elements at positions along one axis take a way of their own,
// without byte offsets.
#include <cmath>
#include <complex>
#include <cstring>
#include <new>
#include <stdexcept>
#include <type_traits>

#include "library.h"
#include "pool.h"
#include "strided.h"
#include "wide.h"

namespace jitwise {

namespace {

constexpr std::int64_t block = 512;  // positions turned into offsets at a time

// Where the elements of `whole` that the positions name stand in the result.
struct Places {
    const View *whole;
    std::int64_t count = 1;  // positions
    int indexed = 0;
    Strided positions[max_rank];
    std::int64_t strides[max_rank], sizes[max_rank];  // of the indexed axes
    int axes[max_rank];
    // Axes before the positions in the result, and the axes of a cell, after them.
    int outer_ndim = 0, cell_ndim = 0;
    std::int64_t outer_shape[max_rank], outer_strides[max_rank];
    std::int64_t cell_shape[max_rank], cell_strides[max_rank];
    std::int64_t outer = 1, cell = 1;  // elements
    int itemsize;
    bool dense_cell;

    Places(const View &whole, int itemsize, const LibraryCall &call, int first_attr, int indexed);
    const std::int64_t *positions_at(int i, std::int64_t start, std::int64_t many,
                                     std::int64_t *buffer) const;
    void offsets(std::int64_t start, std::int64_t many, std::int64_t *found) const;
    void places(int i, std::int64_t start, std::int64_t many, std::int64_t *found) const;
    void check(int i, std::int64_t start, std::int64_t many) const;
    void check() const;
    bool is_single() const { return indexed == 1 && cell == 1; }
    std::int64_t outer_offset(std::int64_t number) const {
        if (outer_ndim == 1) return number * outer_strides[0];
        std::int64_t offset = 0;
        for (int axis = outer_ndim - 1; axis >= 0; --axis) {
            offset += number % outer_shape[axis] * outer_strides[axis];
            number /= outer_shape[axis];
        }
        return offset;
    }
};

Places::Places(const View &array, int size, const LibraryCall &call, int first_attr, int many)
    : whole(&array), indexed(many), itemsize(size) {
    bool is_indexed[max_rank] = {}, neighbours = true;
    for (int i = 0; i < indexed; ++i) {
        const int axis = axes[i] = call.attr(first_attr + i);
        is_indexed[axis] = true;
        if (i > 0 && axis != axes[i - 1] + 1) neighbours = false;
        strides[i] = array.strides[axis];
        sizes[i] = array.shape[axis];
        const View &view = call.in(1 + i).view;
        // In place: a copy takes longer than reading a few elements.
        new (&positions[i]) Strided(view.data, view.ndim, view.shape, view.strides, 8);
        count = positions[i].count;
    }
    for (int axis = 0; axis < array.ndim; ++axis) {
        if (is_indexed[axis]) continue;
        if (neighbours && axis < axes[0]) {
            outer_shape[outer_ndim] = array.shape[axis];
            outer_strides[outer_ndim++] = array.strides[axis];
            outer *= array.shape[axis];
        } else {
            cell_shape[cell_ndim] = array.shape[axis];
            cell_strides[cell_ndim++] = array.strides[axis];
            cell *= array.shape[axis];
        }
    }
    dense_cell = is_contiguous(cell_shape, cell_strides, cell_ndim, itemsize);
}

// found[k] = position k counted from the start. Whether one is out of bounds.
JITWISE_WIDE bool find_places(const std::int64_t *given, std::int64_t many, std::int64_t size,
                              std::int64_t *found) {
    std::int64_t outside = 0;
    for (std::int64_t k = 0; k < many; ++k) {
        const std::int64_t place = given[k] + (given[k] < 0 ? size : 0);
        outside |= place | (size - 1 - place);  // the sign of either
        found[k] = place;
    }
    return outside < 0;
}

// Byte offsets of positions start .. start + many, of the first element of each cell.
void Places::offsets(std::int64_t start, std::int64_t many, std::int64_t *found) const {
    std::int64_t counted[block];
    for (int i = 0; i < indexed; ++i) {
        places(i, start, many, counted);
        for (std::int64_t k = 0; k < many; ++k)
            found[k] = (i == 0 ? 0 : found[k]) + counted[k] * strides[i];
    }
}

// Positions along an indexed axis, counted from the start.
void Places::places(int i, std::int64_t start, std::int64_t many, std::int64_t *found) const {
    const std::int64_t *given = positions_at(i, start, many, found);
    if (find_places(given, many, sizes[i], found)) check(i, start, many);
}

// Positions along an indexed axis, aligned: where they lie, or copied to `buffer`.
const std::int64_t *Places::positions_at(int i, std::int64_t start, std::int64_t many,
                                         std::int64_t *buffer) const {
    const Strided &all = positions[i];
    if (all.is_dense() && reinterpret_cast<std::uintptr_t>(all.data) % 8 == 0)
        return reinterpret_cast<const std::int64_t *>(all.data) + start;
    gather(reinterpret_cast<char *>(buffer), all, start, many);
    return buffer;
}

void Places::check(int i, std::int64_t start, std::int64_t many) const {
    std::int64_t buffer[block];
    const std::int64_t *given = positions_at(i, start, many, buffer);
    const std::int64_t size = sizes[i];
    for (std::int64_t k = 0; k < many; ++k)
        if (given[k] >= size || given[k] < -size) throw OutOfBounds{given[k], axes[i], size};
}

void Places::check() const {
    std::int64_t found[block];
    for (std::int64_t start = 0; start < count; start += block)
        offsets(start, count - start < block ? count - start : block, found);
}

// Visits the offset of each of many places along the one indexed axis: visit(k, offset).
template <int bytes, class Visit>
inline void for_elements(const std::int64_t *places, std::int64_t many, std::int64_t stride,
                         Visit visit) {
    if (stride == bytes)
        for (std::int64_t k = 0; k < many; ++k) visit(k, places[k] * bytes);
    else
        for (std::int64_t k = 0; k < many; ++k) visit(k, places[k] * stride);
}

template <int bytes>
void move_elements(char *to, const char *from, const std::int64_t *offsets, std::int64_t many) {
    for (std::int64_t k = 0; k < many; ++k)
        std::memcpy(to + k * bytes, from + offsets[k], bytes);
}

void read_block(const Places &places, const std::int64_t *offsets, std::int64_t many,
                const char *from, char *to) {
    if (places.cell == 1) {
        switch (places.itemsize) {
        case 1: return move_elements<1>(to, from, offsets, many);
        case 2: return move_elements<2>(to, from, offsets, many);
        case 4: return move_elements<4>(to, from, offsets, many);
        case 8: return move_elements<8>(to, from, offsets, many);
        default: return move_elements<16>(to, from, offsets, many);
        }
    }
    const std::int64_t bytes = places.cell * places.itemsize;
    if (places.dense_cell) {
        for (std::int64_t k = 0; k < many; ++k)
            std::memcpy(to + k * bytes, from + offsets[k], static_cast<std::size_t>(bytes));
        return;
    }
    std::int64_t dense[max_rank], stride = places.itemsize;
    for (int axis = places.cell_ndim - 1; axis >= 0; --axis) {
        dense[axis] = stride;
        stride *= places.cell_shape[axis];
    }
    for (std::int64_t k = 0; k < many; ++k)
        copy_strided(to + k * bytes, dense, from + offsets[k], places.cell_strides,
                     places.cell_shape, places.cell_ndim, places.itemsize);
}

// A part of the work: positions, and outer indices.
struct Range {
    std::int64_t begin, end, first, last;
};

// Visits blocks of positions for each outer index: work(offsets, many, base, at), where `base` is
// the outer index's place in the whole and `at` the first element in C order of the other array.
template <class Work>
void for_blocks(const Places &places, const Range &range, Work work) {
    std::int64_t found[block];
    for (std::int64_t start = range.begin; start < range.end; start += block) {
        const std::int64_t rest = range.end - start, many = rest < block ? rest : block;
        places.offsets(start, many, found);
        for (std::int64_t number = range.first; number < range.last; ++number)
            work(found, many, places.whole->data + places.outer_offset(number),
                 (number * places.count + start) * places.cell);
    }
}

template <int bytes>
void read_single(const Places &places, const Range &range, char *to) {
    std::int64_t found[block];
    for (std::int64_t start = range.begin; start < range.end; start += block) {
        const std::int64_t rest = range.end - start, many = rest < block ? rest : block;
        places.places(0, start, many, found);
        for (std::int64_t number = range.first; number < range.last; ++number) {
            const char *from = places.whole->data + places.outer_offset(number);
            char *now = to + (number * places.count + start) * bytes;
            for_elements<bytes>(found, many, places.strides[0],
                                [&](std::int64_t k, std::int64_t offset) {
                                    std::memcpy(now + k * bytes, from + offset, bytes);
                                });
        }
    }
}

void read_range(const Places &places, const Range &range, char *to) {
    if (places.is_single()) {
        switch (places.itemsize) {
        case 1: return read_single<1>(places, range, to);
        case 2: return read_single<2>(places, range, to);
        case 4: return read_single<4>(places, range, to);
        case 8: return read_single<8>(places, range, to);
        default: return read_single<16>(places, range, to);
        }
    }
    for_blocks(places, range,
               [&](const std::int64_t *offsets, std::int64_t many, const char *base,
                   std::int64_t at) {
                   read_block(places, offsets, many, base, to + at * places.itemsize);
               });
}

double nanoseconds(const Places &places) {
    const double cell = static_cast<double>(places.cell) * places.itemsize;
    return static_cast<double>(places.count) *
           (1.0 * places.indexed + static_cast<double>(places.outer) * (0.5 + cell / 16));
}

// The elements of `part` in C order, `cell` of them for each position; `dense` or through a buffer.
struct Part {
    Strided source;
    explicit Part(const View &view, int itemsize)
        : source(view.data, view.ndim, view.shape, view.strides, itemsize) {}
    // Elements start .. start + many, side by side: where they lie, or copied to `buffer`.
    const char *at(std::int64_t start, std::int64_t many, char *buffer) const {
        if (source.is_dense()) return source.data + start * source.itemsize;
        gather(buffer, source, start, many);
        return buffer;
    }
};

// Positions along one axis and the elements of `part` that belong there, a block at a time:
// work(found, many, base, from).
template <class Work>
void for_single(const Places &places, const Part &part, Work work) {
    std::int64_t found[block];
    char elements[16 * block];
    for (std::int64_t start = 0; start < places.count; start += block) {
        const std::int64_t rest = places.count - start, many = rest < block ? rest : block;
        places.places(0, start, many, found);
        for (std::int64_t number = 0; number < places.outer; ++number)
            work(found, many, places.whole->data + places.outer_offset(number),
                 part.at(number * places.count + start, many, elements));
    }
}

template <int bytes>
void write_single(const Places &places, const Part &part) {
    for_single(places, part,
               [&](const std::int64_t *found, std::int64_t many, char *base, const char *from) {
                   for_elements<bytes>(found, many, places.strides[0],
                                       [&](std::int64_t k, std::int64_t offset) {
                                           std::memcpy(base + offset, from + k * bytes, bytes);
                                       });
               });
}

template <class Visit>
void for_cell(const Places &places, Visit visit) {
    std::int64_t index[max_rank] = {}, offset = 0;
    for (std::int64_t k = 0; k < places.cell; ++k) {
        visit(offset, k);
        for (int axis = places.cell_ndim - 1; axis >= 0; --axis) {
            offset += places.cell_strides[axis];
            if (++index[axis] < places.cell_shape[axis]) break;
            offset -= index[axis] * places.cell_strides[axis];
            index[axis] = 0;
        }
    }
}

enum class Operation { add, subtract, multiply, maximum, minimum };

template <class T>
T combined(T a, T b, Operation operation) {
    if constexpr (std::is_same_v<T, bool>) {
        return operation == Operation::multiply || operation == Operation::minimum ? a && b
                                                                                  : a || b;
    } else if constexpr (std::is_integral_v<T>) {
        using U = std::conditional_t<sizeof(T) < 4, unsigned, std::make_unsigned_t<T>>;
        switch (operation) {
        case Operation::add: return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
        case Operation::subtract: return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
        case Operation::multiply: return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
        case Operation::maximum: return a > b ? a : b;
        default: return a < b ? a : b;
        }
    } else {
        switch (operation) {
        case Operation::add: return a + b;
        case Operation::subtract: return a - b;
        case Operation::multiply: return a * b;
        case Operation::maximum: return std::isgreater(a, b) || std::isnan(a) ? a : b;
        default: return std::isless(a, b) || std::isnan(a) ? a : b;
        }
    }
}

template <class T>
std::complex<T> combined(std::complex<T> a, std::complex<T> b, Operation operation) {
    if (operation == Operation::add) return a + b;
    return a - b;
}

template <class T>
void combine(const Places &places, const Part &part, Operation operation) {
    char buffer[16 * block];
    for_blocks(places, {0, places.count, 0, places.outer},
               [&](const std::int64_t *offsets, std::int64_t many, char *base, std::int64_t at) {
                   for (std::int64_t k = 0; k < many; ++k) {
                       const std::int64_t first = at + k * places.cell;
                       for_cell(places, [&](std::int64_t offset, std::int64_t number) {
                           const std::int64_t from = number % block;
                           if (from == 0) {
                               const std::int64_t rest = places.cell - number;
                               gather(buffer, part.source, first + number,
                                      rest < block ? rest : block);
                           }
                           char *place = base + offsets[k] + offset;
                           const T other = load<T>(buffer + from * static_cast<int>(sizeof(T)));
                           store(place, combined(load<T>(place), other, operation));
                       });
                   }
               });
}

template <class T, Operation operation>
void combine_single(const Places &places, const Part &part) {
    constexpr int bytes = static_cast<int>(sizeof(T));
    for_single(places, part,
               [&](const std::int64_t *found, std::int64_t many, char *base, const char *from) {
                   for_elements<bytes>(found, many, places.strides[0],
                                       [&](std::int64_t k, std::int64_t offset) {
                                           char *place = base + offset;
                                           const T other = load<T>(from + k * bytes);
                                           store(place,
                                                 combined(load<T>(place), other, operation));
                                       });
               });
}

template <class T>
void combine_all(const Places &places, const Part &part, Operation operation) {
    if (!places.is_single()) return combine<T>(places, part, operation);
    switch (operation) {
    case Operation::add: return combine_single<T, Operation::add>(places, part);
    case Operation::subtract: return combine_single<T, Operation::subtract>(places, part);
    case Operation::multiply: return combine_single<T, Operation::multiply>(places, part);
    case Operation::maximum: return combine_single<T, Operation::maximum>(places, part);
    case Operation::minimum: return combine_single<T, Operation::minimum>(places, part);
    }
}

void write_all_single(const Places &places, const Part &part) {
    switch (places.itemsize) {
    case 1: return write_single<1>(places, part);
    case 2: return write_single<2>(places, part);
    case 4: return write_single<4>(places, part);
    case 8: return write_single<8>(places, part);
    default: return write_single<16>(places, part);
    }
}

void write_block(const Places &places, const Part &part, const std::int64_t *offsets,
                 std::int64_t many, char *base, std::int64_t at) {
    const int size = places.itemsize;
    const Strided target(nullptr, places.cell_ndim, places.cell_shape, places.cell_strides, size);
    char buffer[16 * block];
    for (std::int64_t k = 0; k < many; ++k) {
        for (std::int64_t done = 0; done < places.cell; done += block) {
            const std::int64_t now = places.cell - done < block ? places.cell - done : block;
            gather(buffer, part.source, at + k * places.cell + done, now);
            scatter(target, base + offsets[k], done, buffer, now);
        }
    }
}

}  // namespace

void library_gather(Frame &frame, const Instruction &instruction) {
    LibraryCall call(frame, instruction);
    const Slot &out = call.out(0);
    const Places places(call.in(0).view, size_of(out.type), call, 0, instruction.in_count - 1);
    if (places.outer == 0 || places.cell == 0) return places.check();
    const double work = nanoseconds(places);
    if (work > release_threshold) frame.release_gil();
    // Shared by positions, or by outer indices where those are more.
    const std::int64_t blocks = (places.count + block - 1) / block;
    const bool by_outer = blocks < places.outer;
    const std::int64_t items = by_outer ? places.outer : blocks;
    auto part = [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t last = end * block < places.count ? end * block : places.count;
        const Range range = by_outer ? Range{0, places.count, begin, end}
                                     : Range{begin * block, last, 0, places.outer};
        read_range(places, range, out.view.data);
    };
    if (work < parallel_threshold || items < 2) return part(0, items);
    const double item = work / static_cast<double>(items);
    parallel_for(items, 1 + static_cast<std::int64_t>(8000 / item), part);
}

void library_scatter(Frame &frame, const Instruction &instruction) {
    LibraryCall call(frame, instruction);
    Slot &whole = call.out(0);
    const int size = size_of(whole.type);
    const Places places(whole.view, size, call, 0, instruction.in_count - 1);
    const double work = 2 * nanoseconds(places);
    if (work > release_threshold) frame.release_gil();
    if (places.outer == 0 || places.cell == 0) return places.check();
    const Part part(call.in(0).view, size);
    if (places.is_single()) return write_all_single(places, part);
    for_blocks(places, {0, places.count, 0, places.outer},
               [&](const std::int64_t *offsets, std::int64_t many, char *base, std::int64_t at) {
                   write_block(places, part, offsets, many, base, at);
               });
}

void library_scatter_at(Frame &frame, const Instruction &instruction) {
    LibraryCall call(frame, instruction);
    Slot &whole = call.out(0);
    const int size = size_of(whole.type);
    const auto operation = static_cast<Operation>(call.attr(0));
    const Places places(whole.view, size, call, 1, instruction.in_count - 1);
    const double work = 2 * nanoseconds(places);
    if (work > release_threshold) frame.release_gil();
    if (places.outer == 0 || places.cell == 0) return places.check();
    const Part part(call.in(0).view, size);
    switch (whole.type) {
    case ElementType::boolean: return combine_all<bool>(places, part, operation);
    case ElementType::i8: return combine_all<std::int8_t>(places, part, operation);
    case ElementType::u8: return combine_all<std::uint8_t>(places, part, operation);
    case ElementType::i16: return combine_all<std::int16_t>(places, part, operation);
    case ElementType::u16: return combine_all<std::uint16_t>(places, part, operation);
    case ElementType::i32: return combine_all<std::int32_t>(places, part, operation);
    case ElementType::u32: return combine_all<std::uint32_t>(places, part, operation);
    case ElementType::i64: return combine_all<std::int64_t>(places, part, operation);
    case ElementType::u64: return combine_all<std::uint64_t>(places, part, operation);
    case ElementType::f32: return combine_all<float>(places, part, operation);
    case ElementType::f64: return combine_all<double>(places, part, operation);
    case ElementType::c64: return combine_all<std::complex<float>>(places, part, operation);
    case ElementType::c128: return combine_all<std::complex<double>>(places, part, operation);
    default: throw std::logic_error("no combination of elements of this type");
    }
}

}  // namespace jitwise
