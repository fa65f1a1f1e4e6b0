#include "accumulators.h"

#include <complex>
#include <cstring>
#include <limits>

#include "float_flags.h"
#include "half.h"
#include "view.h"
#include "wide.h"

namespace jitwise {

namespace {

template <class T>
bool is_nan(T value) {
    return value != value;
}
template <class T>
bool is_nan(std::complex<T> z) {
    return z.real() != z.real() || z.imag() != z.imag();
}
template <class T>
bool less(T a, T b) {
    return a < b;
}
// NumPy's order of complex numbers.
template <class T>
bool less(std::complex<T> a, std::complex<T> b) {
    return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}
struct Half {
    std::uint16_t bits;
};
bool is_nan(Half a) { return is_nan(half_to_float(a.bits)); }
bool less(Half a, Half b) { return half_to_float(a.bits) < half_to_float(b.bits); }

struct Add {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a + b);
    }
};
struct Multiply {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a * b);
    }
    static std::uint16_t apply(std::uint16_t a, std::uint16_t b) {
        return static_cast<std::uint16_t>(static_cast<unsigned>(a) * b);  // int would overflow
    }
    // Without the special cases of C's multiplication, which NumPy does not have either.
    template <class T>
    static std::complex<T> apply(std::complex<T> a, std::complex<T> b) {
        return {a.real() * b.real() - a.imag() * b.imag(),
                a.real() * b.imag() + a.imag() * b.real()};
    }
};
// As the code of a phase does it: the first nan wins; of equal values, which are zeros, the second.
struct Min {
    template <class T>
    static T apply(T a, T b) {
        return is_nan(a) | (less(a, b) & !is_nan(b)) ? a : b;
    }
};
struct Max {
    template <class T>
    static T apply(T a, T b) {
        return is_nan(a) | (less(b, a) & !is_nan(b)) ? a : b;
    }
};
struct And {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a & b);
    }
};
struct Or {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a | b);
    }
};
struct Xor {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a ^ b);
    }
};

template <class Op, class T>
void merge_plain(char *__restrict dst, const char *__restrict src, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        T value = Op::apply(load<T>(dst + i * sizeof(T)), load<T>(src + i * sizeof(T)));
        std::memcpy(dst + i * sizeof(T), &value, sizeof(T));
    }
}

// `target_clones` and templates do not mix: what is to be wide is spelt out, or chosen by a switch.
JITWISE_WIDE void add_f32(char *dst, const char *src, std::int64_t count) {
    float *__restrict a = reinterpret_cast<float *>(dst);
    const float *__restrict b = reinterpret_cast<const float *>(src);
    for (std::int64_t i = 0; i < count; ++i) a[i] = a[i] + b[i];
}
JITWISE_WIDE void add_f64(char *dst, const char *src, std::int64_t count) {
    double *__restrict a = reinterpret_cast<double *>(dst);
    const double *__restrict b = reinterpret_cast<const double *>(src);
    for (std::int64_t i = 0; i < count; ++i) a[i] = a[i] + b[i];
}
void add_c64(char *dst, const char *src, std::int64_t count) { add_f32(dst, src, 2 * count); }
void add_c128(char *dst, const char *src, std::int64_t count) { add_f64(dst, src, 2 * count); }

template <class Op, class T>
__attribute__((always_inline)) inline void merge_dense(char *dst, const char *src,
                                                       std::int64_t count) {
    T *__restrict a = reinterpret_cast<T *>(dst);
    const T *__restrict b = reinterpret_cast<const T *>(src);
    for (std::int64_t i = 0; i < count; ++i) a[i] = Op::apply(a[i], b[i]);
}
JITWISE_WIDE void min_f32(char *dst, const char *src, std::int64_t count) {
    merge_dense<Min, float>(dst, src, count);
}
JITWISE_WIDE void min_f64(char *dst, const char *src, std::int64_t count) {
    merge_dense<Min, double>(dst, src, count);
}
JITWISE_WIDE void max_f32(char *dst, const char *src, std::int64_t count) {
    merge_dense<Max, float>(dst, src, count);
}
JITWISE_WIDE void max_f64(char *dst, const char *src, std::int64_t count) {
    merge_dense<Max, double>(dst, src, count);
}

template <void (*merge)(char *, const char *, std::int64_t)>
void quietly(char *dst, const char *src, std::int64_t count) {
    const float_flags::Kept kept;
    merge(dst, src, count);
}

template <class Op>
void merge_half(char *dst, const char *src, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        float a = half_to_float(load<std::uint16_t>(dst + 2 * i));
        float b = half_to_float(load<std::uint16_t>(src + 2 * i));
        std::uint16_t value = float_to_half(Op::apply(a, b));
        std::memcpy(dst + 2 * i, &value, 2);
    }
}

// The first nan wins, then the extreme value, then the lowest index. Index -1, the highest without
// its sign, holds no element; the value there is the identity.
template <class T, bool is_min>
__attribute__((always_inline)) inline void take_better(char *values, std::int64_t *indices,
                                                       const char *other_values,
                                                       const std::int64_t *other_indices,
                                                       std::int64_t count) {
    T *__restrict a = reinterpret_cast<T *>(values);
    const T *__restrict b = reinterpret_cast<const T *>(other_values);
    std::uint64_t *__restrict at = reinterpret_cast<std::uint64_t *>(indices);
    const std::uint64_t *__restrict other =
        reinterpret_cast<const std::uint64_t *>(other_indices);
    for (std::int64_t i = 0; i < count; ++i) {
        const T x = a[i], y = b[i];
        const bool x_nan = is_nan(x), y_nan = is_nan(y);
        const bool better = (is_min ? less(y, x) : less(x, y)) & !x_nan;
        const bool worse = (is_min ? less(x, y) : less(y, x)) & !x_nan;
        const bool level = (x_nan & y_nan) | !(better | worse | x_nan | y_nan);
        const bool take = better | (y_nan & !x_nan) | (level & (other[i] < at[i]));
        a[i] = take ? y : x;
        at[i] = take ? other[i] : at[i];
    }
}

template <bool is_min>
__attribute__((always_inline)) inline void take_better_of(ElementType type, char *values,
                                                          std::int64_t *indices,
                                                          const char *other_values,
                                                          const std::int64_t *other_indices,
                                                          std::int64_t count) {
#define JITWISE_CASE(name, T)                                                           \
    case ElementType::name:                                                             \
        return take_better<T, is_min>(values, indices, other_values, other_indices, count);
    switch (type) {
        JITWISE_CASE(i8, std::int8_t)
        JITWISE_CASE(i16, std::int16_t)
        JITWISE_CASE(i32, std::int32_t)
        JITWISE_CASE(i64, std::int64_t)
        JITWISE_CASE(boolean, std::uint8_t)
        JITWISE_CASE(u8, std::uint8_t)
        JITWISE_CASE(u16, std::uint16_t)
        JITWISE_CASE(u32, std::uint32_t)
        JITWISE_CASE(u64, std::uint64_t)
        JITWISE_CASE(f16, Half)
        JITWISE_CASE(f32, float)
        JITWISE_CASE(f64, double)
        JITWISE_CASE(c64, std::complex<float>)
        JITWISE_CASE(c128, std::complex<double>)
    default: return;
    }
#undef JITWISE_CASE
}

JITWISE_WIDE void merge_index(ElementType type, bool is_min, char *values, std::int64_t *indices,
                              const char *other_values, const std::int64_t *other_indices,
                              std::int64_t count) {
    if (is_min) take_better_of<true>(type, values, indices, other_values, other_indices, count);
    else take_better_of<false>(type, values, indices, other_values, other_indices, count);
}

template <ElementType type, bool is_min>
void merge_indexed(char *values, std::int64_t *indices, const char *other_values,
                   const std::int64_t *other_indices, std::int64_t count) {
    const float_flags::Kept kept(type >= ElementType::f16);
    merge_index(type, is_min, values, indices, other_values, other_indices, count);
}

template <class T>
void set(char *place, T value) {
    std::memcpy(place, &value, sizeof(T));
}

template <class T>
Merge plain_merge(Combine op) {
    switch (op) {
    case Combine::add: return merge_plain<Add, T>;
    case Combine::multiply: return merge_plain<Multiply, T>;
    case Combine::min: return merge_plain<Min, T>;
    case Combine::max: return merge_plain<Max, T>;
    default: return nullptr;
    }
}

template <class T>
Merge bit_merge(Combine op) {
    switch (op) {
    case Combine::bit_and: return merge_plain<And, T>;
    case Combine::bit_or: return merge_plain<Or, T>;
    case Combine::bit_xor: return merge_plain<Xor, T>;
    default: return nullptr;
    }
}

template <ElementType type>
MergeIndexed merge_of(Combine op) {
    return op == Combine::argmin   ? merge_indexed<type, true>
           : op == Combine::argmax ? merge_indexed<type, false>
                                   : nullptr;
}

MergeIndexed indexed_merge(Combine op, ElementType type) {
    switch (type) {
    case ElementType::boolean: return merge_of<ElementType::boolean>(op);
    case ElementType::i8: return merge_of<ElementType::i8>(op);
    case ElementType::i16: return merge_of<ElementType::i16>(op);
    case ElementType::i32: return merge_of<ElementType::i32>(op);
    case ElementType::i64: return merge_of<ElementType::i64>(op);
    case ElementType::u8: return merge_of<ElementType::u8>(op);
    case ElementType::u16: return merge_of<ElementType::u16>(op);
    case ElementType::u32: return merge_of<ElementType::u32>(op);
    case ElementType::u64: return merge_of<ElementType::u64>(op);
    case ElementType::f16: return merge_of<ElementType::f16>(op);
    case ElementType::f32: return merge_of<ElementType::f32>(op);
    case ElementType::f64: return merge_of<ElementType::f64>(op);
    case ElementType::c64: return merge_of<ElementType::c64>(op);
    case ElementType::c128: return merge_of<ElementType::c128>(op);
    default: return nullptr;
    }
}

template <class T>
void prepare_integer(Reduction &r) {
    using limits = std::numeric_limits<T>;
    r.merge = plain_merge<T>(r.op);
    if (r.merge == nullptr) r.merge = bit_merge<T>(r.op);
    T identity = 0;
    if (r.op == Combine::multiply) identity = 1;
    if (r.op == Combine::min || r.op == Combine::argmin) identity = limits::max();
    if (r.op == Combine::max || r.op == Combine::argmax) identity = limits::min();
    if (r.op == Combine::bit_and) identity = static_cast<T>(~T(0));
    set(r.identity, identity);
    set(r.empty, identity);
}

template <class T>
void prepare_real(Reduction &r) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    r.merge = plain_merge<T>(r.op);
    if (r.op == Combine::add) r.merge = sizeof(T) == 4 ? add_f32 : add_f64;
    if (r.op == Combine::min) r.merge = sizeof(T) == 4 ? quietly<min_f32> : quietly<min_f64>;
    if (r.op == Combine::max) r.merge = sizeof(T) == 4 ? quietly<max_f32> : quietly<max_f64>;
    T identity = 0;
    if (r.op == Combine::multiply) identity = 1;
    if (r.op == Combine::min || r.op == Combine::argmin) identity = infinity;
    if (r.op == Combine::max || r.op == Combine::argmax) identity = -infinity;
    set(r.identity, identity);
    set(r.empty, identity);
}

template <class T>
void prepare_complex(Reduction &r) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    r.merge = plain_merge<std::complex<T>>(r.op);
    if (r.op == Combine::add) r.merge = sizeof(T) == 4 ? add_c64 : add_c128;
    if (r.op == Combine::min) r.merge = quietly<merge_plain<Min, std::complex<T>>>;
    if (r.op == Combine::max) r.merge = quietly<merge_plain<Max, std::complex<T>>>;
    std::complex<T> identity;
    if (r.op == Combine::multiply) identity = T(1);
    if (r.op == Combine::min || r.op == Combine::argmin) identity = {infinity, infinity};
    if (r.op == Combine::max || r.op == Combine::argmax) identity = {-infinity, -infinity};
    set(r.identity, identity);
    set(r.empty, identity);
}

void prepare_half(Reduction &r) {
    std::uint16_t identity = 0, infinity = 0x7c00;
    switch (r.op) {
    case Combine::add: r.merge = merge_half<Add>; break;
    case Combine::multiply:
        r.merge = merge_half<Multiply>;
        identity = 0x3c00;
        break;
    case Combine::min:
        r.merge = quietly<merge_half<Min>>;
        identity = infinity;
        break;
    case Combine::max:
        r.merge = quietly<merge_half<Max>>;
        identity = infinity | 0x8000;
        break;
    case Combine::argmin: identity = infinity; break;
    case Combine::argmax: identity = infinity | 0x8000; break;
    default: break;
    }
    set(r.identity, identity);
    set(r.empty, identity);
}

// A sum of booleans is `or`, a product `and`, and so are the extremes. The first element that is
// not the identity decides.
void prepare_boolean(Reduction &r) {
    bool all = r.op == Combine::multiply || r.op == Combine::min || r.op == Combine::bit_and;
    bool parity = r.op == Combine::bit_xor;
    r.merge = is_index(r.op) ? nullptr
                             : bit_merge<std::uint8_t>(all      ? Combine::bit_and
                                                       : parity ? Combine::bit_xor
                                                                : Combine::bit_or);
    std::uint8_t identity = all || r.op == Combine::argmin;
    r.stops = !parity;
    set(r.identity, identity);
    set(r.empty, identity);
}

}  // namespace

bool combine_named(const char *name, Combine *op) {
    static const char *const names[] = {"add", "multiply", "min",    "max",   "and",
                                        "or",  "xor",      "argmin", "argmax"};
    for (int i = 0; i < 9; ++i)
        if (std::strcmp(names[i], name) == 0) {
            *op = static_cast<Combine>(i);
            return true;
        }
    return false;
}

bool prepare_reduction(Reduction &r) {
    r.merge_indexed = indexed_merge(r.op, r.type);
    switch (r.type) {
    case ElementType::boolean: prepare_boolean(r); break;
    case ElementType::i8: prepare_integer<std::int8_t>(r); break;
    case ElementType::i16: prepare_integer<std::int16_t>(r); break;
    case ElementType::i32: prepare_integer<std::int32_t>(r); break;
    case ElementType::i64: prepare_integer<std::int64_t>(r); break;
    case ElementType::u8: prepare_integer<std::uint8_t>(r); break;
    case ElementType::u16: prepare_integer<std::uint16_t>(r); break;
    case ElementType::u32: prepare_integer<std::uint32_t>(r); break;
    case ElementType::u64: prepare_integer<std::uint64_t>(r); break;
    case ElementType::f16: prepare_half(r); break;
    case ElementType::f32: prepare_real<float>(r); break;
    case ElementType::f64: prepare_real<double>(r); break;
    case ElementType::c64: prepare_complex<float>(r); break;
    case ElementType::c128: prepare_complex<double>(r); break;
    default: return false;
    }
    // An index over nothing is an error upstream; the machine's answer for it is 0.
    if (is_index(r.op)) std::memset(r.empty, 0, sizeof(r.empty));
    return r.merge != nullptr || r.merge_indexed != nullptr;
}

void merge_accumulators(const Reduction *first, const Reduction *last, int lanes, char *dst,
                        const char *src) {
    for (; first != last; ++first) {
        if (first->merge != nullptr) {
            first->merge(dst + first->offset, src + first->offset, lanes);
        } else {
            first->merge_indexed(
                dst + first->offset, reinterpret_cast<std::int64_t *>(dst + first->indices_offset),
                src + first->offset,
                reinterpret_cast<const std::int64_t *>(src + first->indices_offset), lanes);
        }
    }
}

void reduce_lanes(const Reduction &r, int lanes, char *accumulators, char *scalar) {
    const int itemsize = size_of(r.type);
    char *values = accumulators + r.offset;
    std::int64_t *indices = reinterpret_cast<std::int64_t *>(accumulators + r.indices_offset);
    if (reduce_by_tree(r, lanes, accumulators, scalar)) return;
    while (lanes > 1) {
        int half = (lanes + 1) / 2;
        if (r.merge != nullptr) r.merge(values, values + half * itemsize, lanes - half);
        else
            r.merge_indexed(values, indices, values + half * itemsize, indices + half,
                            lanes - half);
        lanes = half;
    }
    if (r.merge != nullptr) std::memcpy(scalar, values, itemsize);
    else std::memcpy(scalar, indices, sizeof(std::int64_t));
}

void result_of_wide_lane(const Reduction &r, int lanes, const char *accumulators, int lane,
                         char *scalar) {
    const int itemsize = size_of(r.type);
    if (r.merge != nullptr) {
        std::memcpy(scalar, accumulators + r.offset + lane * itemsize, itemsize);
        return;
    }
    std::int64_t index;
    std::memcpy(&index, accumulators + r.indices_offset + lane * sizeof(index), sizeof(index));
    index /= lanes;
    std::memcpy(scalar, &index, sizeof(index));
}

bool is_decided(const Reduction &r, int lanes, const char *accumulators) {
    return std::memchr(accumulators + r.offset, !r.identity[0], lanes) != nullptr;
}

void set_counters(const Reduction *first, const Reduction *last, char *accumulators,
                  std::int64_t index) {
    for (; first != last; ++first)
        if (first->merge_indexed != nullptr)
            std::memcpy(accumulators + first->counter_offset, &index, sizeof(index));
}

}  // namespace jitwise
