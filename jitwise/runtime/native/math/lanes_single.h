// `single::Real`: one native vector of floats, with the same words as `wide::Real`.
//
// It has as many lanes as a wide::Real, so that a rare vector can be done again in double.  Used
// where there is fma; without it float32 is computed in double throughout.
#pragma once

#include "lanes.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {
namespace single {

constexpr int width = wide::lanes;
constexpr int lanes = width;

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
    Chosen v;
};

struct Real {
    Vector v;
    Real() = default;
    __attribute__((always_inline)) Real(Vector x) : v(x) {}
    __attribute__((always_inline)) Real(double c) : v(float(c) - Vector{}) {}
};

struct Bits {
    Words v;
    Bits() = default;
    __attribute__((always_inline)) Bits(Words x) : v(x) {}
    __attribute__((always_inline)) Bits(uint32_t c) : v(Words{} + c) {}
};

#define JITWISE_OPERATOR(TYPE, OP) \
    INLINE TYPE operator OP(TYPE x, TYPE y) { return {x.v OP y.v}; }
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
INLINE Real operator-(Real x) { return {-x.v}; }
INLINE Bits operator<<(Bits x, int count) { return {x.v << count}; }
INLINE Bits operator>>(Bits x, int count) { return {x.v >> count}; }

INLINE Mask operator&(Mask x, Mask y) { return {Chosen(x.v & y.v)}; }
INLINE Mask operator|(Mask x, Mask y) { return {Chosen(x.v | y.v)}; }
INLINE Mask operator!(Mask x) { return {native_not(x.v)}; }
INLINE Mask operator<(Real x, Real y) { return {native_less(x.v, y.v)}; }
INLINE Mask operator>(Real x, Real y) { return y < x; }
INLINE Mask operator<=(Real x, Real y) { return {native_at_most(x.v, y.v)}; }
INLINE Mask operator>=(Real x, Real y) { return y <= x; }
INLINE Mask operator==(Real x, Real y) { return {native_equal(x.v, y.v)}; }
INLINE bool any(Mask m) { return native_any(m.v); }

INLINE Real select(Mask m, Real x, Real y) { return {native_select(m.v, x.v, y.v)}; }
INLINE Real sqrt(Real x) { return {native_sqrt(x.v)}; }
INLINE Real minimum(Real x, Real y) { return {native_min(x.v, y.v)}; }
INLINE Real maximum(Real x, Real y) { return {native_max(x.v, y.v)}; }
INLINE Bits bits_of(Real x) { return {(Words)x.v}; }
INLINE Real from_bits(Bits x) { return {(Vector)x.v}; }
INLINE Real fused(Real x, Real y, Real z) { return {native_fma(x.v, y.v, z.v)}; }

INLINE Real load(const float *x) {
    Real r;
    std::memcpy(&r.v, x, sizeof r.v);
    return r;
}
INLINE void store(float *out, Real r) { std::memcpy(out, &r.v, sizeof r.v); }

typedef uint32_t Word;
constexpr int word_bits = 32, mantissa_bits = 23;
constexpr Word exponent_bias = 127;
constexpr double rounder = 0x1.8p23;
constexpr Word integer_bits = 0x4b000000u, root_half_bits = 0x3f3504f3u;
constexpr double largest_integer = 0x1p23, smallest_normal = 0x1p-126;

#if defined(__AVX512F__)
INLINE Real scale_by(Real x, Real k) { return {Vector(_mm512_scalef_ps(x.v, k.v))}; }
INLINE Real exponent_of(Real x) { return {Vector(_mm512_getexp_ps(x.v))}; }
INLINE Real mantissa_of(Real x) {
    return {Vector(_mm512_getmant_ps(x.v, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src))};
}
#endif

}  // namespace single
}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
