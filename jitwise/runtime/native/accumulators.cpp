#include "accumulators.h"

#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "half.h"

// Merging runs once per block and row: worth the widest vectors there are.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__)
#define JITWISE_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define JITWISE_WIDE
#endif

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
struct Min {
    template <class T>
    static T apply(T a, T b) {
        return is_nan(a) || less(a, b) || a == b ? a : b;
    }
};
struct Max {
    template <class T>
    static T apply(T a, T b) {
        return is_nan(a) || less(b, a) || a == b ? a : b;
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

template <class T>
T load(const char *address) {
    T value;
    std::memcpy(&value, address, sizeof(T));
    return value;
}

template <class Op, class T>
inline void merge_typed(char *__restrict dst, const char *__restrict src, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        T value = Op::apply(load<T>(dst + i * sizeof(T)), load<T>(src + i * sizeof(T)));
        std::memcpy(dst + i * sizeof(T), &value, sizeof(T));
    }
}

template <class Op, class T>
void merge_plain(char *dst, const char *src, std::int64_t count) {
    merge_typed<Op, T>(dst, src, count);
}

// Without branches: loops of these become vectors, and what is left of a tree does not depend on
// guesses. Of NumPy's extremes, the first nan wins, then the first of equals.
struct Sum {
    template <class T>
    static T apply(T a, T b) {
        return a + b;
    }
};

template <class T>
T chosen(bool second, T a, T b) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    Bits x, y;
    std::memcpy(&x, &a, sizeof(T));
    std::memcpy(&y, &b, sizeof(T));
    x ^= (x ^ y) & -static_cast<Bits>(second);
    std::memcpy(&a, &x, sizeof(T));
    return a;
}
struct Smallest {
    template <class T>
    static T apply(T a, T b) {
        return chosen(((b < a) | (b != b)) & (a == a), a, b);
    }
};
struct Largest {
    template <class T>
    static T apply(T a, T b) {
        return chosen(((b > a) | (b != b)) & (a == a), a, b);
    }
};

template <class Op, class T>
__attribute__((always_inline)) inline void merge_wide(T *__restrict a, const T *__restrict b,
                                                      std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) a[i] = Op::apply(a[i], b[i]);
}

// Folds the upper half onto the lower one, again and again.
template <class Op, class T, int lanes>
__attribute__((always_inline)) inline void fold(T *a) {
    if constexpr (lanes > 1) {
        merge_wide<Op, T>(a, a + lanes / 2, lanes / 2);
        fold<Op, T, lanes / 2>(a);
    }
}

template <class Op, class T>
__attribute__((always_inline)) inline void tree_of(T *a, int lanes) {
    if (lanes == 128) return fold<Op, T, 128>(a);
    if (lanes == 64) return fold<Op, T, 64>(a);
    if (lanes == 32) return fold<Op, T, 32>(a);
    for (int half; lanes > 1; lanes = half) {
        half = (lanes + 1) / 2;
        merge_wide<Op, T>(a, a + half, lanes - half);
    }
}

// `target_clones` and templates do not mix: what matters is spelt out.
#define JITWISE_WIDE_REDUCTION(name, Op, T)                                                 \
    JITWISE_WIDE void merge_##name(char *dst, const char *src, std::int64_t count) {        \
        merge_wide<Op, T>(reinterpret_cast<T *>(dst), reinterpret_cast<const T *>(src), count); \
    }                                                                                       \
    JITWISE_WIDE void tree_##name(char *values, int lanes) {                                \
        tree_of<Op, T>(reinterpret_cast<T *>(values), lanes);                               \
    }
JITWISE_WIDE_REDUCTION(sum_f32, Sum, float)
JITWISE_WIDE_REDUCTION(sum_f64, Sum, double)
JITWISE_WIDE_REDUCTION(smallest_f32, Smallest, float)
JITWISE_WIDE_REDUCTION(smallest_f64, Smallest, double)
JITWISE_WIDE_REDUCTION(largest_f32, Largest, float)
JITWISE_WIDE_REDUCTION(largest_f64, Largest, double)
#undef JITWISE_WIDE_REDUCTION

template <class T>
void prepare_wide(Reduction &r) {
    constexpr bool single = sizeof(T) == 4;
    if (r.op == Combine::add) {
        r.merge = single ? merge_sum_f32 : merge_sum_f64;
        r.tree = single ? tree_sum_f32 : tree_sum_f64;
    } else if (r.op == Combine::min) {
        r.merge = single ? merge_smallest_f32 : merge_smallest_f64;
        r.tree = single ? tree_smallest_f32 : tree_smallest_f64;
    } else if (r.op == Combine::max) {
        r.merge = single ? merge_largest_f32 : merge_largest_f64;
        r.tree = single ? tree_largest_f32 : tree_largest_f64;
    }
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

struct Widen {
    template <class T>
    static T from(const char *address) {
        return load<T>(address);
    }
};
struct WidenHalf {
    template <class T>
    static float from(const char *address) {
        return half_to_float(load<std::uint16_t>(address));
    }
};

// The first nan wins, then the extreme value, then the lowest index; index -1 holds no element.
template <class T, bool is_min, class Read>
void merge_indexed(char *values, std::int64_t *indices, const char *other_values,
                   const std::int64_t *other_indices, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        if (other_indices[i] < 0) continue;
        auto a = Read::template from<T>(values + i * sizeof(T));
        auto b = Read::template from<T>(other_values + i * sizeof(T));
        bool earlier = other_indices[i] < indices[i];
        bool take;
        if (indices[i] < 0) take = true;
        else if (is_nan(a) || is_nan(b)) take = is_nan(b) && (!is_nan(a) || earlier);
        else if (is_min ? less(b, a) : less(a, b)) take = true;
        else take = earlier && !(is_min ? less(a, b) : less(b, a));
        if (!take) continue;
        std::memcpy(values + i * sizeof(T), other_values + i * sizeof(T), sizeof(T));
        indices[i] = other_indices[i];
    }
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

template <class T, class Read>
MergeIndexed indexed_merge(Combine op) {
    if (op == Combine::argmin) return merge_indexed<T, true, Read>;
    if (op == Combine::argmax) return merge_indexed<T, false, Read>;
    return nullptr;
}

template <class T>
void prepare_integer(Reduction &r) {
    using limits = std::numeric_limits<T>;
    r.merge = plain_merge<T>(r.op);
    if (r.merge == nullptr) r.merge = bit_merge<T>(r.op);
    r.merge_indexed = indexed_merge<T, Widen>(r.op);
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
    prepare_wide<T>(r);
    r.merge_indexed = indexed_merge<T, Widen>(r.op);
    T identity = T(-0.0);
    if (r.op == Combine::multiply) identity = 1;
    if (r.op == Combine::min || r.op == Combine::argmin) identity = infinity;
    if (r.op == Combine::max || r.op == Combine::argmax) identity = -infinity;
    set(r.identity, identity);
    set(r.empty, r.op == Combine::add ? T(0) : identity);
}

template <class T>
void prepare_complex(Reduction &r) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    r.merge = plain_merge<std::complex<T>>(r.op);
    r.merge_indexed = indexed_merge<std::complex<T>, Widen>(r.op);
    std::complex<T> identity(T(-0.0), T(-0.0));
    if (r.op == Combine::multiply) identity = T(1);
    if (r.op == Combine::min || r.op == Combine::argmin) identity = {infinity, infinity};
    if (r.op == Combine::max || r.op == Combine::argmax) identity = {-infinity, -infinity};
    set(r.identity, identity);
    set(r.empty, r.op == Combine::add ? std::complex<T>() : identity);
}

void prepare_half(Reduction &r) {
    std::uint16_t identity = 0x8000, infinity = 0x7c00;
    switch (r.op) {
    case Combine::add: r.merge = merge_half<Add>; break;
    case Combine::multiply:
        r.merge = merge_half<Multiply>;
        identity = 0x3c00;
        break;
    case Combine::min:
        r.merge = merge_half<Min>;
        identity = infinity;
        break;
    case Combine::max:
        r.merge = merge_half<Max>;
        identity = infinity | 0x8000;
        break;
    case Combine::argmin: identity = infinity; break;
    case Combine::argmax: identity = infinity | 0x8000; break;
    default: break;
    }
    r.merge_indexed = indexed_merge<std::uint16_t, WidenHalf>(r.op);
    set(r.identity, identity);
    set(r.empty, r.op == Combine::add ? std::uint16_t(0) : identity);
}

// A sum of booleans is `or`, a product `and`, and so are the extremes.
void prepare_boolean(Reduction &r) {
    bool all = r.op == Combine::multiply || r.op == Combine::min || r.op == Combine::bit_and;
    bool parity = r.op == Combine::bit_xor;
    r.merge = is_index(r.op) ? nullptr
                             : bit_merge<std::uint8_t>(all      ? Combine::bit_and
                                                       : parity ? Combine::bit_xor
                                                                : Combine::bit_or);
    r.merge_indexed = indexed_merge<std::uint8_t, Widen>(r.op);
    std::uint8_t identity = all || r.op == Combine::argmin;
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
    if (r.tree != nullptr) {
        r.tree(values, lanes);
        lanes = 1;
    }
    while (lanes > 1) {
        int half = (lanes + 1) / 2;
        if (r.merge != nullptr) r.merge(values, values + half * itemsize, lanes - half);
        else
            r.merge_indexed(values, indices, values + half * itemsize, indices + half,
                            lanes - half);
        lanes = half;
    }
    // All 16 bytes: a copy of a known size is no call. An accumulator is no smaller.
    std::memcpy(scalar, r.merge != nullptr ? values : reinterpret_cast<char *>(indices), 16);
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

void set_counters(const Reduction *first, const Reduction *last, char *accumulators,
                  std::int64_t index) {
    for (; first != last; ++first)
        if (first->merge_indexed != nullptr)
            std::memcpy(accumulators + first->counter_offset, &index, sizeof(index));
}

}  // namespace jitwise
