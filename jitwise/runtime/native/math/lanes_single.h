// `single::Real`: two native vectors of floats, with the same words as `wide::Real`.
//
// Each vector has as many lanes as a wide::Real, in which the rare ones are done again.  Used where
// there is fma; without it float32 is computed in double throughout.
#pragma once

#include "lanes.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {
namespace single {

constexpr int width = wide::lanes;
constexpr int lanes = 2 * width;

typedef float Vector __attribute__((vector_size(4 * width)));
typedef unsigned Words __attribute__((vector_size(4 * width)));

#if defined(__AVX512F__)
typedef __mmask16 Chosen;
INLINE Vector native_fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
INLINE Vector native_sqrt(Vector a) { return _mm512_sqrt_ps(a); }
INLINE Vector native_min(Vector a, Vector b) { return _mm512_min_ps(a, b); }
INLINE Vector native_max(Vector a, Vector b) { return _mm512_max_ps(a, b); }
INLINE Chosen native_less(Vector a, Vector b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
INLINE Chosen native_at_most(Vector a, Vector b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
INLINE Chosen native_equal(Vector a, Vector b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
INLINE Vector native_select(Chosen m, Vector a, Vector b) { return _mm512_mask_blend_ps(m, b, a); }
INLINE Chosen native_not(Chosen m) { return static_cast<Chosen>(~m); }
INLINE bool native_any(Chosen m) { return m != 0; }
#else
typedef decltype(Vector{} < Vector{}) Chosen;
INLINE Vector native_fma(Vector a, Vector b, Vector c) {
#if defined(__FMA__)
    return _mm256_fmadd_ps(a, b, c);
#elif defined(__aarch64__)
    return vfmaq_f32(c, a, b);
#else
    return a * b + c;
#endif
}
INLINE Vector native_sqrt(Vector a) {
#if defined(__AVX2__)
    return _mm256_sqrt_ps(a);
#elif defined(__SSE2__)
    return _mm_sqrt_ps(a);
#else
    for (int k = 0; k < width; ++k) a[k] = __builtin_sqrtf(a[k]);
    return a;
#endif
}
INLINE Chosen native_less(Vector a, Vector b) { return a < b; }
INLINE Chosen native_at_most(Vector a, Vector b) { return a <= b; }
INLINE Chosen native_equal(Vector a, Vector b) { return a == b; }
INLINE Vector native_select(Chosen m, Vector a, Vector b) {
#if defined(__AVX2__)
    return _mm256_blendv_ps(b, a, (Vector)m);
#else
    return (Vector)(((Words)a & (Words)m) | ((Words)b & ~(Words)m));
#endif
}
// As the x86 instructions: the second operand where either is NaN.
#if defined(__AVX2__)
INLINE Vector native_min(Vector a, Vector b) { return _mm256_min_ps(a, b); }
INLINE Vector native_max(Vector a, Vector b) { return _mm256_max_ps(a, b); }
#else
INLINE Vector native_min(Vector a, Vector b) { return native_select(a < b, a, b); }
INLINE Vector native_max(Vector a, Vector b) { return native_select(b < a, a, b); }
#endif
INLINE Chosen native_not(Chosen m) { return ~m; }
INLINE bool native_any(Chosen m) {
#if defined(__AVX2__)
    return _mm256_movemask_ps((Vector)m) != 0;
#elif defined(__SSE2__)
    return _mm_movemask_ps((Vector)m) != 0;
#else
    int found = 0;
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
    __attribute__((always_inline)) Real(double c) : a(float(c) - Vector{}), b(float(c) - Vector{}) {}
};

struct Bits {
    Words a, b;
    Bits() = default;
    __attribute__((always_inline)) Bits(Words x, Words y) : a(x), b(y) {}
    __attribute__((always_inline)) Bits(uint32_t c) : a(Words{} + c), b(Words{} + c) {}
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

INLINE Real load(const float *x) {
    Real r;
    std::memcpy(&r.a, x, sizeof r.a);
    std::memcpy(&r.b, x + width, sizeof r.b);
    return r;
}
INLINE void store(float *out, Real r) {
    std::memcpy(out, &r.a, sizeof r.a);
    std::memcpy(out + width, &r.b, sizeof r.b);
}

// One vector alone, where only half of the lanes are left.
INLINE Real load_half(const float *x) {
    Vector v;
    std::memcpy(&v, x, sizeof v);
    return {v, v};
}
INLINE void store_half(float *out, Real r) { std::memcpy(out, &r.a, sizeof r.a); }

typedef uint32_t Word;
constexpr int word_bits = 32, mantissa_bits = 23;
constexpr Word exponent_bias = 127;
constexpr double rounder = 0x1.8p23;
constexpr Word integer_bits = 0x4b000000u, root_half_bits = 0x3f3504f3u;
constexpr double largest_integer = 0x1p23, smallest_normal = 0x1p-126;

#if defined(__AVX512F__)
INLINE Real scale_by(Real x, Real k) {
    return {_mm512_scalef_ps(x.a, k.a), _mm512_scalef_ps(x.b, k.b)};
}
// table[index mod 16].
INLINE Real lookup(const double (&table)[16], Bits index) {
    Vector all;
    for (int k = 0; k < width; ++k) all[k] = float(table[k]);
    return {_mm512_permutexvar_ps((__m512i)index.a, all),
            _mm512_permutexvar_ps((__m512i)index.b, all)};
}
INLINE Real reciprocal_estimate(Real x) { return {_mm512_rcp14_ps(x.a), _mm512_rcp14_ps(x.b)}; }
INLINE Real rounded_to_32nd(Real x) {
    constexpr int places = 5 << 4 | 8;
    return {_mm512_roundscale_ps(x.a, places), _mm512_roundscale_ps(x.b, places)};
}
INLINE Real exponent_of(Real x) { return {_mm512_getexp_ps(x.a), _mm512_getexp_ps(x.b)}; }
INLINE Real mantissa_of(Real x) {
    constexpr _MM_MANTISSA_NORM_ENUM norm = _MM_MANT_NORM_1_2;
    constexpr _MM_MANTISSA_SIGN_ENUM sign = _MM_MANT_SIGN_src;
    return {_mm512_getmant_ps(x.a, norm, sign), _mm512_getmant_ps(x.b, norm, sign)};
}
#endif

}  // namespace single
}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
