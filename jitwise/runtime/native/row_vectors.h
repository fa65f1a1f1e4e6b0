// Vectors of 64 bytes, of numbers of one type: what the loops over rows are written in.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__) && defined(__linux__)
#define JITWISE_HAS_ROW_VECTORS 1
#include <immintrin.h>

#define JITWISE_512 __attribute__((target("avx512f,avx512dq,avx512bw")))
#define JITWISE_512_INLINE __attribute__((target("avx512f,avx512dq,avx512bw"), always_inline)) static inline
#define JITWISE_512_MEMBER __attribute__((target("avx512f,avx512dq,avx512bw"), always_inline)) inline

namespace jitwise {

// Whether this processor has what is used here.
inline bool has_row_vectors() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw");
}

namespace {

struct Sum {
    static constexpr bool multiplies = false;
    static constexpr int identity = 0;
    template <class T>
    JITWISE_512_INLINE T of(T a, T b) {
        return a + b;
    }
};

struct Product {
    static constexpr bool multiplies = true;
    static constexpr int identity = 1;
    template <class T>
    JITWISE_512_INLINE T of(T a, T b) {
        return a * b;
    }
};

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
    JITWISE_512_INLINE Type multiply(Type a, Type b) { return _mm512_mul_pd(a, b); }
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
    template <class Op>
    JITWISE_512_INLINE double fold(Type v) {
        const auto four = Op::of(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1));
        const auto two = Op::of(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
        return Op::of(two[0], two[1]);
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
    JITWISE_512_INLINE Type multiply(Type a, Type b) { return _mm512_mul_ps(a, b); }
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
    template <class Op>
    JITWISE_512_INLINE float fold(Type v) {
        const __m256 upper = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(v), 1));
        const __m256 eight = Op::of(_mm512_castps512_ps256(v), upper);
        const __m128 four = Op::of(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
        return Op::of(Op::of(four[0], four[2]), Op::of(four[1], four[3]));
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
    JITWISE_512_INLINE Type multiply(Type a, Type b) { return _mm512_mullo_epi64(a, b); }
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
    template <class Op>
    JITWISE_512_INLINE std::int64_t fold(Type v) {
        return Op::multiplies ? _mm512_reduce_mul_epi64(v) : _mm512_reduce_add_epi64(v);
    }
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
    JITWISE_512_INLINE Type multiply(Type a, Type b) { return _mm512_mullo_epi32(a, b); }
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
    template <class Op>
    JITWISE_512_INLINE std::int32_t fold(Type v) {
        return Op::multiplies ? _mm512_reduce_mul_epi32(v) : _mm512_reduce_add_epi32(v);
    }
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

}  // namespace

}  // namespace jitwise

#else
#define JITWISE_HAS_ROW_VECTORS 0
#endif
