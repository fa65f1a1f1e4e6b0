// The last step of a reduction: one value of the lanes of an accumulator, or one index.
//
// Sums of floats fold the upper half of the lanes onto the lower one until one is left, as merging
// does. Whatever gives the same bits in any order goes through whole vectors first:
//
//     lanes   a0 .. a7 | a8 .. a15 | ...     ->  one vector  ->  halves  ->  one value
//
// The index of an extreme is the least index among the lanes that hold it, or that hold a nan if
// there is one. Lanes without an element have the highest index there is, -1 without its sign.
#include <algorithm>
#include <cstring>

#include "accumulators.h"
#include "float_flags.h"
#include "wide.h"

#define JITWISE_INLINE __attribute__((always_inline)) inline

namespace jitwise {

namespace {

struct Add {
    template <class T>
    JITWISE_INLINE static T apply(T a, T b) {
        return static_cast<T>(a + b);
    }
};
struct Multiply {
    template <class T>
    JITWISE_INLINE static T apply(T a, T b) {
        return static_cast<T>(a * b);
    }
};
struct And {
    template <class T>
    JITWISE_INLINE static T apply(T a, T b) {
        return static_cast<T>(a & b);
    }
};
struct Or {
    template <class T>
    JITWISE_INLINE static T apply(T a, T b) {
        return static_cast<T>(a | b);
    }
};
struct Xor {
    template <class T>
    JITWISE_INLINE static T apply(T a, T b) {
        return static_cast<T>(a ^ b);
    }
};
// As merging does it: the first nan wins; of equal values, which are zeros, the second.
struct Min {
    template <class T>
    JITWISE_INLINE static T apply(T a, T b) {
        const T best = a < b ? a : b;
        return a != a ? a : best;
    }
};
struct Max {
    template <class T>
    JITWISE_INLINE static T apply(T a, T b) {
        const T best = a > b ? a : b;
        return a != a ? a : best;
    }
};

// Folds the upper half of n values onto the lower one. Plain loops of known length: vector types
// would be taken apart for the oldest processor before they are inlined.
template <class Op, class T, int n>
JITWISE_INLINE void halve(T *values) {
    if constexpr (n > 1) {
        for (int i = 0; i < n / 2; ++i)
            values[i] = Op::apply(values[i], values[i + n / 2]);
        halve<Op, T, n / 2>(values);
    }
}

template <class Op, class T, int n>
JITWISE_INLINE T halved(const T *values) {
    alignas(64) T copy[n];
    std::memcpy(copy, values, sizeof(copy));
    halve<Op, T, n>(copy);
    return copy[0];
}

template <class Op, class T>
JITWISE_INLINE T in_any_order(const char *values, int lanes) {
    constexpr int width = 64 / sizeof(T);
    const T *__restrict a = reinterpret_cast<const T *>(values);
    if (lanes == 8 * width) return halved<Op, T, 8 * width>(a);
    if (lanes == 4 * width) return halved<Op, T, 4 * width>(a);
    if (lanes == 2 * width) return halved<Op, T, 2 * width>(a);
    T best = a[0];
    for (int i = 1; i < lanes; ++i) best = Op::apply(best, a[i]);
    return best;
}

template <class T>
JITWISE_INLINE void sum_in_order(char *values, int lanes) {
    T *a = reinterpret_cast<T *>(values);
    constexpr int width = 64 / sizeof(T);
    if (lanes == 8 * width) return halve<Add, T, 8 * width>(a);
    if (lanes == 4 * width) return halve<Add, T, 4 * width>(a);
    if (lanes == 2 * width) return halve<Add, T, 2 * width>(a);
    for (int half; lanes > 1; lanes = half) {
        half = (lanes + 1) / 2;
        for (int i = 0; i < lanes - half; ++i) a[i] = a[i] + a[i + half];
    }
}
JITWISE_WIDE void sum_f32(char *values, int lanes) { sum_in_order<float>(values, lanes); }
JITWISE_WIDE void sum_f64(char *values, int lanes) { sum_in_order<double>(values, lanes); }

template <class Op>
JITWISE_INLINE void reduce_bits(int itemsize, char *values, int lanes) {
    std::uint64_t value = 0;
    switch (itemsize) {
    case 1: value = in_any_order<Op, std::uint8_t>(values, lanes); break;
    case 2: value = in_any_order<Op, std::uint16_t>(values, lanes); break;
    case 4: value = in_any_order<Op, std::uint32_t>(values, lanes); break;
    default: value = in_any_order<Op, std::uint64_t>(values, lanes); break;
    }
    std::memcpy(values, &value, itemsize);  // little-endian, as the machines this runs on
}

#define JITWISE_ORDERED_TYPES(CASE) \
    CASE(i8, std::int8_t)           \
    CASE(i16, std::int16_t)         \
    CASE(i32, std::int32_t)         \
    CASE(i64, std::int64_t)         \
    CASE(boolean, std::uint8_t)     \
    CASE(u8, std::uint8_t)          \
    CASE(u16, std::uint16_t)        \
    CASE(u32, std::uint32_t)        \
    CASE(u64, std::uint64_t)        \
    CASE(f32, float)                \
    CASE(f64, double)

template <class Op>
JITWISE_INLINE void reduce_extreme(ElementType type, char *values, int lanes) {
#define JITWISE_CASE(name, T)                               \
    case ElementType::name: {                               \
        const T best = in_any_order<Op, T>(values, lanes);  \
        std::memcpy(values, &best, sizeof(T));              \
        return;                                             \
    }
    switch (type) {
        JITWISE_ORDERED_TYPES(JITWISE_CASE)
    default: return;
    }
#undef JITWISE_CASE
}

JITWISE_WIDE void reduce_wide(Combine op, ElementType type, char *values, int lanes) {
    switch (op) {
    case Combine::add: return reduce_bits<Add>(size_of(type), values, lanes);
    case Combine::multiply: return reduce_bits<Multiply>(size_of(type), values, lanes);
    case Combine::bit_and: return reduce_bits<And>(size_of(type), values, lanes);
    case Combine::bit_or: return reduce_bits<Or>(size_of(type), values, lanes);
    case Combine::bit_xor: return reduce_bits<Xor>(size_of(type), values, lanes);
    case Combine::min: return reduce_extreme<Min>(type, values, lanes);
    case Combine::max: return reduce_extreme<Max>(type, values, lanes);
    default: return;
    }
}

template <class Op, class T>
JITWISE_INLINE std::int64_t index_of_extreme(const char *values, const std::int64_t *indices,
                                             int lanes) {
    const T *__restrict a = reinterpret_cast<const T *>(values);
    const std::uint64_t *__restrict at = reinterpret_cast<const std::uint64_t *>(indices);
    const T best = in_any_order<Op, T>(values, lanes);
    constexpr std::uint64_t none = ~std::uint64_t(0);
    std::uint64_t first = none;
    if (best == best) {
        for (int i = 0; i < lanes; ++i) first = std::min(first, a[i] == best ? at[i] : none);
    } else {
        for (int i = 0; i < lanes; ++i) first = std::min(first, a[i] != a[i] ? at[i] : none);
    }
    return static_cast<std::int64_t>(first);
}

JITWISE_WIDE std::int64_t index_wide(Combine op, ElementType type, const char *values,
                                     const std::int64_t *indices, int lanes) {
#define JITWISE_CASE(name, T)                                                            \
    case ElementType::name:                                                              \
        return op == Combine::argmin ? index_of_extreme<Min, T>(values, indices, lanes)  \
                                     : index_of_extreme<Max, T>(values, indices, lanes);
    switch (type) {
        JITWISE_ORDERED_TYPES(JITWISE_CASE)
    default: return -1;
    }
#undef JITWISE_CASE
}

bool is_ordered(ElementType type) { return type != ElementType::f16 && type < ElementType::c64; }

// A reduction of booleans is one of bits.
Combine as_bits(Combine op) {
    switch (op) {
    case Combine::multiply:
    case Combine::min:
    case Combine::bit_and: return Combine::bit_and;
    case Combine::bit_xor: return op;
    default: return Combine::bit_or;
    }
}

}  // namespace

bool reduce_by_tree(const Reduction &r, int lanes, char *accumulators, char *scalar) {
    char *values = accumulators + r.offset;
    if (!is_ordered(r.type)) return false;
    const float_flags::Kept kept(r.type > ElementType::f16 && r.op != Combine::add);
    if (is_index(r.op)) {
        const std::int64_t index = index_wide(
            r.op, r.type, values,
            reinterpret_cast<const std::int64_t *>(accumulators + r.indices_offset), lanes);
        std::memcpy(scalar, &index, sizeof(index));
        return true;
    }
    const bool is_float = r.type >= ElementType::f16;
    if (is_float && r.op == Combine::multiply) return false;
    if (is_float && r.op == Combine::add)
        r.type == ElementType::f32 ? sum_f32(values, lanes) : sum_f64(values, lanes);
    else if (r.type == ElementType::boolean) reduce_wide(as_bits(r.op), r.type, values, lanes);
    else reduce_wide(r.op, r.type, values, lanes);
    std::memcpy(scalar, values, 16);  // a known size is no call; an accumulator is no smaller
    return true;
}

}  // namespace jitwise
