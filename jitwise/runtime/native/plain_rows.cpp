// Rows reduced as they lie in memory: nothing is computed before the reduction, so no compiled code
// is called for the elements, and what a row costs besides them is small.
//
//     argmax   the best values of four vectors' lanes, and where they came from; then the first
//              of the best
//     sum      the lanes of a chunk in registers, then the tree of row_worker.cpp: the same bits
//
// For rows that are dense, on processors with vectors of 64 bytes. Float sums are served when the
// row is one block. The best values of floats are left out: which of two zeros is the larger
// depends on the order, and that must not depend on how a row lies in memory.
//
// No operation here sets a floating-point flag that the plain one would not: comparisons are quiet,
// and lanes without an element are masked.
#include "rows.h"

#include "pool.h"

#if defined(__x86_64__) && defined(__GNUC__) && defined(__linux__)
#define JITWISE_HAS_PLAIN_ROWS 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // of the intrinsics themselves
#include <immintrin.h>

#include <limits>
#include <type_traits>
#else
#define JITWISE_HAS_PLAIN_ROWS 0
#endif

namespace jitwise {

namespace {

constexpr std::int64_t shortest_row = 8, shortest_indexed_row = 16;  // for others a lane is better

#if JITWISE_HAS_PLAIN_ROWS

#define JITWISE_512 __attribute__((target("avx512f")))
#define JITWISE_512_INLINE __attribute__((target("avx512f"), always_inline)) static inline
#define JITWISE_512_MEMBER __attribute__((target("avx512f"), always_inline)) inline

template <class T>
struct Vector;

template <>
struct Vector<double> {
    using Index = std::int64_t;
    using Type = __m512d;
    using Mask = __mmask8;
    JITWISE_512_INLINE Type load(const char *p) { return _mm512_loadu_pd(p); }
    JITWISE_512_INLINE Type load(Type fill, Mask mask, const char *p) {
        return _mm512_mask_loadu_pd(fill, mask, p);
    }
    JITWISE_512_INLINE Type splat(double value) { return _mm512_set1_pd(value); }
    JITWISE_512_INLINE Type add(Type a, Type b) { return _mm512_add_pd(a, b); }
    JITWISE_512_INLINE Type add(Type a, Mask mask, Type b) {
        return _mm512_mask_add_pd(a, mask, a, b);
    }
    JITWISE_512_INLINE Type min(Type a, Type b) {
        return _mm512_min_round_pd(a, b, _MM_FROUND_NO_EXC);
    }
    JITWISE_512_INLINE Type max(Type a, Type b) {
        return _mm512_max_round_pd(a, b, _MM_FROUND_NO_EXC);
    }
    JITWISE_512_INLINE double lowest(Type a) { return _mm512_reduce_min_pd(a); }
    JITWISE_512_INLINE double highest(Type a) { return _mm512_reduce_max_pd(a); }
    JITWISE_512_INLINE Mask less(Type a, Type b) {
        return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
    }
    JITWISE_512_INLINE Type moved(Type a, Mask mask, Type b) {
        return _mm512_mask_mov_pd(a, mask, b);
    }
    JITWISE_512_INLINE Mask equal(Type a, Type b) {
        return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
    }
    JITWISE_512_INLINE Mask unordered(Type a, Type b) {
        return _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q);
    }
    // Folds the upper half onto the lower one until one is left.
    JITWISE_512_INLINE double sum(Type v) {
        const __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1));
        const __m128d two =
            _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
        return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
    }
};

template <>
struct Vector<float> {
    using Index = std::int32_t;
    using Type = __m512;
    using Mask = __mmask16;
    JITWISE_512_INLINE Type load(const char *p) { return _mm512_loadu_ps(p); }
    JITWISE_512_INLINE Type load(Type fill, Mask mask, const char *p) {
        return _mm512_mask_loadu_ps(fill, mask, p);
    }
    JITWISE_512_INLINE Type splat(float value) { return _mm512_set1_ps(value); }
    JITWISE_512_INLINE Type add(Type a, Type b) { return _mm512_add_ps(a, b); }
    JITWISE_512_INLINE Type add(Type a, Mask mask, Type b) {
        return _mm512_mask_add_ps(a, mask, a, b);
    }
    JITWISE_512_INLINE Type min(Type a, Type b) {
        return _mm512_min_round_ps(a, b, _MM_FROUND_NO_EXC);
    }
    JITWISE_512_INLINE Type max(Type a, Type b) {
        return _mm512_max_round_ps(a, b, _MM_FROUND_NO_EXC);
    }
    JITWISE_512_INLINE float lowest(Type a) { return _mm512_reduce_min_ps(a); }
    JITWISE_512_INLINE float highest(Type a) { return _mm512_reduce_max_ps(a); }
    JITWISE_512_INLINE Mask less(Type a, Type b) {
        return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
    }
    JITWISE_512_INLINE Type moved(Type a, Mask mask, Type b) {
        return _mm512_mask_mov_ps(a, mask, b);
    }
    JITWISE_512_INLINE Mask equal(Type a, Type b) {
        return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
    }
    JITWISE_512_INLINE Mask unordered(Type a, Type b) {
        return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q);
    }
    JITWISE_512_INLINE float sum(Type v) {
        const __m256 upper = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(v), 1));
        const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(v), upper);
        const __m128 four =
            _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
        const __m128 two = _mm_add_ps(four, _mm_movehl_ps(_mm_setzero_ps(), four));
        return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
    }
};

template <>
struct Vector<std::int64_t> {
    using Index = std::int64_t;
    using Type = __m512i;
    using Mask = __mmask8;
    JITWISE_512_INLINE Type load(const char *p) { return _mm512_loadu_si512(p); }
    JITWISE_512_INLINE Type load(Type fill, Mask mask, const char *p) {
        return _mm512_mask_loadu_epi64(fill, mask, p);
    }
    JITWISE_512_INLINE Type splat(std::int64_t value) { return _mm512_set1_epi64(value); }
    JITWISE_512_INLINE Type add(Type a, Type b) { return _mm512_add_epi64(a, b); }
    JITWISE_512_INLINE Type add(Type a, Mask mask, Type b) {
        return _mm512_mask_add_epi64(a, mask, a, b);
    }
    JITWISE_512_INLINE Type min(Type a, Type b) { return _mm512_min_epi64(a, b); }
    JITWISE_512_INLINE Type max(Type a, Type b) { return _mm512_max_epi64(a, b); }
    JITWISE_512_INLINE std::int64_t lowest(Type a) { return _mm512_reduce_min_epi64(a); }
    JITWISE_512_INLINE std::int64_t highest(Type a) { return _mm512_reduce_max_epi64(a); }
    JITWISE_512_INLINE Mask less(Type a, Type b) { return _mm512_cmplt_epi64_mask(a, b); }
    JITWISE_512_INLINE Type moved(Type a, Mask mask, Type b) {
        return _mm512_mask_mov_epi64(a, mask, b);
    }
    JITWISE_512_INLINE Mask equal(Type a, Type b) { return _mm512_cmpeq_epi64_mask(a, b); }
    JITWISE_512_INLINE Mask unordered(Type, Type) { return 0; }
    JITWISE_512_INLINE Type counting() { return _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0); }
    JITWISE_512_INLINE std::int64_t sum(Type v) { return _mm512_reduce_add_epi64(v); }
};

template <>
struct Vector<std::int32_t> {
    using Index = std::int32_t;
    using Type = __m512i;
    using Mask = __mmask16;
    JITWISE_512_INLINE Type load(const char *p) { return _mm512_loadu_si512(p); }
    JITWISE_512_INLINE Type load(Type fill, Mask mask, const char *p) {
        return _mm512_mask_loadu_epi32(fill, mask, p);
    }
    JITWISE_512_INLINE Type splat(std::int32_t value) { return _mm512_set1_epi32(value); }
    JITWISE_512_INLINE Type add(Type a, Type b) { return _mm512_add_epi32(a, b); }
    JITWISE_512_INLINE Type add(Type a, Mask mask, Type b) {
        return _mm512_mask_add_epi32(a, mask, a, b);
    }
    JITWISE_512_INLINE Type min(Type a, Type b) { return _mm512_min_epi32(a, b); }
    JITWISE_512_INLINE Type max(Type a, Type b) { return _mm512_max_epi32(a, b); }
    JITWISE_512_INLINE std::int32_t lowest(Type a) { return _mm512_reduce_min_epi32(a); }
    JITWISE_512_INLINE std::int32_t highest(Type a) { return _mm512_reduce_max_epi32(a); }
    JITWISE_512_INLINE Mask less(Type a, Type b) { return _mm512_cmplt_epi32_mask(a, b); }
    JITWISE_512_INLINE Type moved(Type a, Mask mask, Type b) {
        return _mm512_mask_mov_epi32(a, mask, b);
    }
    JITWISE_512_INLINE Mask equal(Type a, Type b) { return _mm512_cmpeq_epi32_mask(a, b); }
    JITWISE_512_INLINE Mask unordered(Type, Type) { return 0; }
    JITWISE_512_INLINE Type counting() {
        return _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    }
    JITWISE_512_INLINE std::int32_t sum(Type v) { return _mm512_reduce_add_epi32(v); }
};

template <class T>
constexpr std::int64_t width = 64 / sizeof(T);

// A vector that is used more than once, loaded once: the compiler would read memory at each use,
// and a vector that crosses a cache line costs two reads.
template <class T>
JITWISE_512_INLINE typename Vector<T>::Type load_once(const char *p) {
    auto value = Vector<T>::load(p);
    asm("" : "+v"(value));
    return value;
}

template <class T>
JITWISE_512_INLINE typename Vector<T>::Mask first_lanes(std::int64_t count) {
    return static_cast<typename Vector<T>::Mask>(count >= width<T> ? ~0u : (1u << count) - 1);
}

template <class T>
JITWISE_512_INLINE T first_of(const char *row) {
    T value;
    std::memcpy(&value, row, sizeof(T));
    return value;
}

// The best values of a row so far, lane by lane, and the vectors they came from: the index of a
// vector's first element.
template <class T, bool is_min>
struct Best {
    using V = Vector<T>;
    using W = Vector<typename V::Index>;
    typename V::Type value;
    typename W::Type where;

    JITWISE_512_MEMBER void take(typename V::Type other, std::int64_t start) {
        const auto better = is_min ? V::less(other, value) : V::less(value, other);
        value = V::moved(value, better, other);
        where = W::moved(where, better, W::splat(static_cast<typename V::Index>(start)));
    }
};

template <class T, bool is_min>
JITWISE_512_INLINE T best_lane(typename Vector<T>::Type a) {
    return is_min ? Vector<T>::lowest(a) : Vector<T>::highest(a);
}

template <class T, bool is_min>
JITWISE_512_INLINE typename Vector<T>::Type better_of(typename Vector<T>::Type a,
                                                      typename Vector<T>::Type b) {
    return is_min ? Vector<T>::min(a, b) : Vector<T>::max(a, b);
}

struct Found {
    std::int64_t index;
    bool nan;  // there is one, and `index` has no meaning
};

constexpr std::int64_t longest_piece = 1 << 16;  // a narrow index counts this far

// The first of the best values among at least one and at most `longest_piece` elements. The last
// vectors may take elements for the second time.
template <class T, bool is_min>
JITWISE_512_INLINE Found first_best(const char *row, std::int64_t count, T *best) {
    using V = Vector<T>;
    using W = Vector<typename V::Index>;
    constexpr std::int64_t w = width<T>, size = sizeof(T);
    const auto none = W::splat(0);
    const auto start = V::load(V::splat(first_of<T>(row)), first_lanes<T>(count), row);
    typename V::Mask strange = V::unordered(start, start);
    Best<T, is_min> b[4] = {{start, none}, {start, none}, {start, none}, {start, none}};
    std::int64_t i = w;
    for (; i + 4 * w <= count; i += 4 * w) {
        typename V::Type e[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
            e[j] = load_once<T>(row + (i + j * w) * size);
            b[j].take(e[j], i + j * w);
        }
        strange |= V::unordered(e[0], e[1]) | V::unordered(e[2], e[3]);
    }
    if (i < count) {
        typename V::Type e[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
            const std::int64_t from = std::min(i + j * w, count - w);
            e[j] = load_once<T>(row + from * size);
            b[j].take(e[j], from);
        }
        strange |= V::unordered(e[0], e[1]) | V::unordered(e[2], e[3]);
    }
    if (strange != 0) return {0, true};
    const auto top = best_lane<T, is_min>(
        better_of<T, is_min>(better_of<T, is_min>(b[0].value, b[1].value),
                             better_of<T, is_min>(b[2].value, b[3].value)));
    const auto wanted = V::splat(top);
    auto first = W::splat(std::numeric_limits<typename V::Index>::max() - 64);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j)
        first = W::moved(first, V::equal(b[j].value, wanted), W::min(first, b[j].where));
    *best = top;
    return {W::lowest(W::add(first, W::counting())), false};
}

template <class T>
JITWISE_512_INLINE std::int64_t first_nan(const char *row, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        const T value = first_of<T>(row + i * sizeof(T));
        if (value != value) return i;
    }
    return -1;
}

template <class T, bool is_min>
JITWISE_512 std::int64_t index_of_best_in_pieces(const char *row, std::int64_t count) {
    std::int64_t index = 0;
    T best = 0;
    for (std::int64_t i = 0; i < count; i += longest_piece) {
        const char *here = row + i * sizeof(T);
        const std::int64_t size = std::min(longest_piece, count - i);
        T value = 0;
        const Found found = first_best<T, is_min>(here, size, &value);
        if (found.nan) return i + first_nan<T>(here, size);
        if (i == 0 || (is_min ? value < best : value > best)) {
            best = value;
            index = i + found.index;
        }
    }
    return index;
}

template <class T, bool is_min>
JITWISE_512 void index_of_best(const char *row, std::int64_t count, char *scalar) {
    T value = 0;
    Found found{0, true};
    if (count <= longest_piece) found = first_best<T, is_min>(row, count, &value);
    if (found.nan) found.index = index_of_best_in_pieces<T, is_min>(row, count);
    std::memcpy(scalar, &found.index, sizeof found.index);
}

template <class T, bool is_min>
JITWISE_512_INLINE T best_of(const char *row, std::int64_t count) {
    using V = Vector<T>;
    constexpr std::int64_t w = width<T>, size = sizeof(T);
    const auto start = V::load(V::splat(first_of<T>(row)), first_lanes<T>(count), row);
    typename V::Type b[4] = {start, start, start, start};
    std::int64_t i = w;
    for (; i + 4 * w <= count; i += 4 * w) {
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j)
            b[j] = better_of<T, is_min>(b[j], V::load(row + (i + j * w) * size));
    }
    if (i < count) {
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j)
            b[j] = better_of<T, is_min>(b[j],
                                        V::load(row + std::min(i + j * w, count - w) * size));
    }
    return best_lane<T, is_min>(better_of<T, is_min>(better_of<T, is_min>(b[0], b[1]),
                                                     better_of<T, is_min>(b[2], b[3])));
}

template <class T, bool is_min>
JITWISE_512 void best_value(const char *row, std::int64_t count, char *scalar) {
    const T best = best_of<T, is_min>(row, count);
    std::memcpy(scalar, &best, sizeof best);
}

// Chunks of eight vectors, as the compiled code takes them.
template <class T>
JITWISE_512 void sum(const char *row, std::int64_t count, char *scalar) {
    using V = Vector<T>;
    constexpr std::int64_t w = width<T>, size = sizeof(T);
    typename V::Type lanes[8];
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) lanes[j] = V::splat(0);
    std::int64_t i = 0;
    for (; i + 8 * w <= count; i += 8 * w) {
#pragma GCC unroll 8
        for (int j = 0; j < 8; ++j)
            lanes[j] = V::add(lanes[j], V::load(row + (i + j * w) * size));
    }
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
        const std::int64_t left = count - i - j * w;
        if (left <= 0) continue;
        const auto mask = first_lanes<T>(left);
        lanes[j] = V::add(lanes[j], mask, V::load(V::splat(0), mask, row + (i + j * w) * size));
    }
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) lanes[j] = V::add(lanes[j], lanes[j + 4]);
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) lanes[j] = V::add(lanes[j], lanes[j + 2]);
    const T total = V::sum(V::add(lanes[0], lanes[1]));
    std::memcpy(scalar, &total, sizeof total);
}

template <class T>
ReduceRow reduction_of(Combine op) {
    constexpr bool is_float = std::is_floating_point<T>::value;
    switch (op) {
    case Combine::add: return sum<T>;
    case Combine::min: return is_float ? nullptr : best_value<T, true>;
    case Combine::max: return is_float ? nullptr : best_value<T, false>;
    case Combine::argmin: return index_of_best<T, true>;
    case Combine::argmax: return index_of_best<T, false>;
    default: return nullptr;
    }
}

#pragma GCC diagnostic pop
#endif

}  // namespace

ReduceRow plain_reduction(const Reduction &reduction, int lanes) {
#if JITWISE_HAS_PLAIN_ROWS
    if (!__builtin_cpu_supports("avx512f")) return nullptr;
    if (lanes != 8 * 64 / size_of(reduction.type) && reduction.op == Combine::add) return nullptr;
    switch (reduction.type) {
    case ElementType::i32: return reduction_of<std::int32_t>(reduction.op);
    case ElementType::i64: return reduction_of<std::int64_t>(reduction.op);
    case ElementType::f32: return reduction_of<float>(reduction.op);
    case ElementType::f64: return reduction_of<double>(reduction.op);
    default: return nullptr;
    }
#else
    (void)reduction, (void)lanes;
    return nullptr;
#endif
}

bool is_plain(const RowPlan &plan) {
    const Kernel &kernel = plan.kernel;
    if (kernel.reduce_row == nullptr || plan.inner < shortest_row) return false;
    if (is_index(kernel.reductions[0].op) && plan.inner < shortest_indexed_row) return false;
    if (plan.operands[kernel.plain_operand].access != RowAccess::direct) return false;
    return kernel.any_order || (plan.blocks == 1 && plan.inner > longest_short_row(kernel));
}

void run_plain_rows(const RowPlan &plan, std::int64_t begin, std::int64_t end) {
    const Kernel &kernel = plan.kernel;
    const int operands = kernel.operand_count(), last = plan.outer_rank - 1,
              phases = static_cast<int>(kernel.phases.size());
    alignas(64) char scalars[64] = {};
    const std::int64_t steps[max_operands] = {};
    char *data[max_operands];
    std::int64_t index[max_rank], left = begin;
    plan.locate(begin, data);
    for (int axis = last; axis >= 0; --axis) {
        index[axis] = left % plan.outer_shape[axis];
        left /= plan.outer_shape[axis];
    }
    while (begin < end) {
        const std::int64_t run =
            last < 0 ? 1 : std::min(plan.outer_shape[last] - index[last], end - begin);
        for (std::int64_t row = 0; row < run; ++row) {
            kernel.reduce_row(data[kernel.plain_operand], plan.inner, scalars);
            for (int phase = 1; phase < phases; ++phase)
                kernel.phases[phase](data, steps, 0, kernel.lanes, nullptr, scalars);
            if (row == run - 1) break;
            for (int k = 0; k < operands; ++k) data[k] += plan.operands[k].outer_strides[last];
        }
        begin += run;
        if (last >= 0) index[last] += run - 1;
        plan.advance(index, data);
    }
}

}  // namespace jitwise
