// `wide::Real`: two native vectors of doubles, written like one double.
//
// Every function of the library is plain arithmetic on Real, Bits and Mask: operators, `select`
// instead of `?:`, no branches.  Two independent vectors per value let the processor overlap their
// long chains of dependent operations.  Only this file knows the instruction set: 8 lanes with
// AVX-512, 4 with AVX2, 2 otherwise (SSE2, NEON, or whatever the compiler makes of it).
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__FMA__) || defined(__aarch64__)
#define JITWISE_HAS_FMA 1
#else
#define JITWISE_HAS_FMA 0
#endif

// Tables of sixteen numbers in registers.
#if defined(__AVX512F__)
#define JITWISE_HAS_LOOKUP 1
#else
#define JITWISE_HAS_LOOKUP 0
#endif

#define INLINE static inline __attribute__((always_inline))

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {

constexpr bool has_fma = JITWISE_HAS_FMA;

namespace wide {

#if defined(__AVX512F__)
constexpr int width = 8;
#elif defined(__AVX2__)
constexpr int width = 4;
#else
constexpr int width = 2;
#endif
constexpr int lanes = 2 * width;

typedef double Vector __attribute__((vector_size(8 * width)));
typedef unsigned long long Words __attribute__((vector_size(8 * width)));

INLINE Vector splat(double c) { return c - Vector{}; }

#if defined(__AVX512F__)
typedef __mmask8 Chosen;
INLINE Vector native_fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_pd(a, b, c); }
INLINE Vector native_sqrt(Vector a) { return _mm512_sqrt_pd(a); }
INLINE Vector native_min(Vector a, Vector b) { return _mm512_min_pd(a, b); }
INLINE Vector native_max(Vector a, Vector b) { return _mm512_max_pd(a, b); }
INLINE Chosen native_less(Vector a, Vector b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
INLINE Chosen native_at_most(Vector a, Vector b) { return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ); }
INLINE Chosen native_equal(Vector a, Vector b) { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ); }
INLINE Vector native_select(Chosen m, Vector a, Vector b) { return _mm512_mask_blend_pd(m, b, a); }
INLINE Chosen native_not(Chosen m) { return static_cast<Chosen>(~m); }
INLINE bool native_any(Chosen m) { return m != 0; }
#else
typedef decltype(Vector{} < Vector{}) Chosen;
INLINE Vector native_fma(Vector a, Vector b, Vector c) {
#if defined(__FMA__)
    return _mm256_fmadd_pd(a, b, c);
#elif defined(__aarch64__)
    return vfmaq_f64(c, a, b);
#else
    return a * b + c;
#endif
}
INLINE Vector native_sqrt(Vector a) {
#if defined(__AVX2__)
    return _mm256_sqrt_pd(a);
#elif defined(__SSE2__)
    return _mm_sqrt_pd(a);
#else
    for (int k = 0; k < width; ++k) a[k] = __builtin_sqrt(a[k]);
    return a;
#endif
}
INLINE Chosen native_less(Vector a, Vector b) { return a < b; }
INLINE Chosen native_at_most(Vector a, Vector b) { return a <= b; }
INLINE Chosen native_equal(Vector a, Vector b) { return a == b; }
INLINE Vector native_select(Chosen m, Vector a, Vector b) {
#if defined(__AVX2__)
    return _mm256_blendv_pd(b, a, (Vector)m);
#endif
    return (Vector)(((Words)a & (Words)m) | ((Words)b & ~(Words)m));
}
// As the x86 instructions: the second operand where either is NaN.
#if defined(__AVX2__)
INLINE Vector native_min(Vector a, Vector b) { return _mm256_min_pd(a, b); }
INLINE Vector native_max(Vector a, Vector b) { return _mm256_max_pd(a, b); }
#else
INLINE Vector native_min(Vector a, Vector b) { return native_select(a < b, a, b); }
INLINE Vector native_max(Vector a, Vector b) { return native_select(b < a, a, b); }
#endif
INLINE Chosen native_not(Chosen m) { return ~m; }
INLINE bool native_any(Chosen m) {
#if defined(__AVX2__)
    return _mm256_movemask_pd((Vector)m) != 0;
#elif defined(__SSE2__)
    return _mm_movemask_pd((Vector)m) != 0;
#else
    long long found = 0;
    for (int k = 0; k < width; ++k) found |= m[k];
    return found != 0;
#endif
}
#endif

struct Mask {
    Chosen a, b;
};

struct Real {
    Vector a, b;
    Real() = default;
    __attribute__((always_inline)) Real(Vector x, Vector y) : a(x), b(y) {}
    __attribute__((always_inline)) Real(double c) : a(splat(c)), b(splat(c)) {}
};

struct Bits {
    Words a, b;
    Bits() = default;
    __attribute__((always_inline)) Bits(Words x, Words y) : a(x), b(y) {}
    __attribute__((always_inline)) Bits(uint64_t c) : a(Words{} + c), b(Words{} + c) {}
};

#define JITWISE_OPERATOR(TYPE, OP) \
    INLINE TYPE operator OP(TYPE x, TYPE y) { return {x.a OP y.a, x.b OP y.b}; }
JITWISE_OPERATOR(Real, +)
JITWISE_OPERATOR(Real, -)
JITWISE_OPERATOR(Real, *)
JITWISE_OPERATOR(Real, /)
JITWISE_OPERATOR(Bits, +)
JITWISE_OPERATOR(Bits, -)
JITWISE_OPERATOR(Bits, &)
JITWISE_OPERATOR(Bits, |)
JITWISE_OPERATOR(Bits, ^)
#undef JITWISE_OPERATOR
INLINE Real operator-(Real x) { return {-x.a, -x.b}; }
INLINE Bits operator<<(Bits x, int count) { return {x.a << count, x.b << count}; }
INLINE Bits operator>>(Bits x, int count) { return {x.a >> count, x.b >> count}; }

INLINE Mask operator&(Mask x, Mask y) { return {Chosen(x.a & y.a), Chosen(x.b & y.b)}; }
INLINE Mask operator|(Mask x, Mask y) { return {Chosen(x.a | y.a), Chosen(x.b | y.b)}; }
INLINE Mask operator!(Mask x) { return {native_not(x.a), native_not(x.b)}; }
INLINE Mask operator<(Real x, Real y) { return {native_less(x.a, y.a), native_less(x.b, y.b)}; }
INLINE Mask operator>(Real x, Real y) { return y < x; }
INLINE Mask operator<=(Real x, Real y) {
    return {native_at_most(x.a, y.a), native_at_most(x.b, y.b)};
}
INLINE Mask operator>=(Real x, Real y) { return y <= x; }
INLINE Mask operator==(Real x, Real y) { return {native_equal(x.a, y.a), native_equal(x.b, y.b)}; }
INLINE bool any(Mask m) { return native_any(m.a | m.b); }

INLINE Real select(Mask m, Real x, Real y) {
    return {native_select(m.a, x.a, y.a), native_select(m.b, x.b, y.b)};
}
INLINE Real sqrt(Real x) { return {native_sqrt(x.a), native_sqrt(x.b)}; }

// The second operand where either is NaN.
INLINE Real minimum(Real x, Real y) { return {native_min(x.a, y.a), native_min(x.b, y.b)}; }
INLINE Real maximum(Real x, Real y) { return {native_max(x.a, y.a), native_max(x.b, y.b)}; }

INLINE Bits bits_of(Real x) { return {(Words)x.a, (Words)x.b}; }
INLINE Real from_bits(Bits x) { return {(Vector)x.a, (Vector)x.b}; }

// a * b + c, with one rounding where the machine has it; code for which that matters asks has_fma.
INLINE Real fused(Real x, Real y, Real z) {
    return {native_fma(x.a, y.a, z.a), native_fma(x.b, y.b, z.b)};
}

INLINE Real load(const double *x) {
    Real r;
    std::memcpy(&r.a, x, sizeof r.a);
    std::memcpy(&r.b, x + width, sizeof r.b);
    return r;
}
INLINE void store(double *out, Real r) {
    std::memcpy(out, &r.a, sizeof r.a);
    std::memcpy(out + width, &r.b, sizeof r.b);
}

#if defined(__AVX512F__)
INLINE Vector widen(const float *x) { return _mm512_cvtps_pd(_mm256_loadu_ps(x)); }
INLINE void narrow(float *out, Vector x) { _mm256_storeu_ps(out, _mm512_cvtpd_ps(x)); }
#elif defined(__AVX2__)
INLINE Vector widen(const float *x) { return _mm256_cvtps_pd(_mm_loadu_ps(x)); }
INLINE void narrow(float *out, Vector x) { _mm_storeu_ps(out, _mm256_cvtpd_ps(x)); }
#else
INLINE Vector widen(const float *x) { return Vector{x[0], x[1]}; }
INLINE void narrow(float *out, Vector x) { out[0] = float(x[0]), out[1] = float(x[1]); }
#endif
INLINE Real load(const float *x) { return {widen(x), widen(x + width)}; }
INLINE void store(float *out, Real r) {
    narrow(out, r.a);
    narrow(out + width, r.b);
}

// What the shared functions know of the format.
typedef uint64_t Word;
constexpr int word_bits = 64, mantissa_bits = 52;
constexpr Word exponent_bias = 1023;
// Adding it to |x| < 2^51 leaves the nearest integer in the low bits of the sum.
constexpr double rounder = 0x1.8p52;
// Bits of 2^52 and of sqrt(1/2).
constexpr Word integer_bits = 0x4330000000000000u, root_half_bits = 0x3fe6a09e667f3bcdu;
constexpr double largest_integer = 0x1p52, smallest_normal = 0x1p-1022;

#if defined(__AVX512F__)
// x * 2^k, rounded once; the exponent of x, and its mantissa in [1, 2).
INLINE Real scale_by(Real x, Real k) {
    return {_mm512_scalef_pd(x.a, k.a), _mm512_scalef_pd(x.b, k.b)};
}
// table[index mod 16].
INLINE Real lookup(const double (&table)[16], Bits index) {
    Vector low, high;
    std::memcpy(&low, table, sizeof low);
    std::memcpy(&high, table + width, sizeof high);
    return {_mm512_permutex2var_pd(low, (__m512i)index.a, high),
            _mm512_permutex2var_pd(low, (__m512i)index.b, high)};
}
// 1 / x to 14 bits; x in [1/2, 1] rounded to a multiple of 1/32.
INLINE Real reciprocal_estimate(Real x) { return {_mm512_rcp14_pd(x.a), _mm512_rcp14_pd(x.b)}; }
INLINE Real rounded_to_32nd(Real x) {
    constexpr int places = 5 << 4 | 8;  // 5 bits after the point; inexact is not raised
    return {_mm512_roundscale_pd(x.a, places), _mm512_roundscale_pd(x.b, places)};
}
INLINE Real exponent_of(Real x) { return {_mm512_getexp_pd(x.a), _mm512_getexp_pd(x.b)}; }
INLINE Real mantissa_of(Real x) {
    constexpr _MM_MANTISSA_NORM_ENUM norm = _MM_MANT_NORM_1_2;
    constexpr _MM_MANTISSA_SIGN_ENUM sign = _MM_MANT_SIGN_src;
    return {_mm512_getmant_pd(x.a, norm, sign), _mm512_getmant_pd(x.b, norm, sign)};
}
#endif

}  // namespace wide
}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
