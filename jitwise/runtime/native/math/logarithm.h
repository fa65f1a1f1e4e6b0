// The logarithm family: log, log2, log10, log1p, and the double-word logarithm that power needs.
//
//     x = 2^k m,   sqrt(1/2) <= m < sqrt(2),   f = m - 1,   s = f / (2 + f)
//     log m = 2 atanh s = f - s (f - z R(z)),   z = s^2
#pragma once

#include "arithmetic.h"
#include "coefficients.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {

struct Scaled {
    Real k, m;
};

// k and m of a positive, finite, normal x; garbage (but no trap) for others.
INLINE Scaled split_exponent(Real x) {
#if defined(__AVX512F__)
    constexpr _MM_MANTISSA_NORM_ENUM norm = _MM_MANT_NORM_1_2;
    constexpr _MM_MANTISSA_SIGN_ENUM sign = _MM_MANT_SIGN_src;
    Real m{_mm512_getmant_pd(x.a, norm, sign), _mm512_getmant_pd(x.b, norm, sign)};
    Real k{_mm512_getexp_pd(x.a), _mm512_getexp_pd(x.b)};
    Mask large = m > 0x1.6a09e667f3bcdp0;
    return {select(large, k + 1, k), select(large, m * 0.5, m)};
#else
    constexpr uint64_t root_half = 0x3fe6a09e667f3bcdu;
    constexpr uint64_t bias = uint64_t(1024) << 52;
    Bits b = bits_of(x), k = (b - root_half + bias) >> 52;
    Real exponent = from_bits(k | 0x4330000000000000u) - (0x1p52 + 1024);
    return {exponent, from_bits(b - ((k - 1024) << 52))};
#endif
}

INLINE Scaled split_exponent_subnormal(Real x) {
#if defined(__AVX512F__)
    return split_exponent(x);
#else
    Mask tiny = x < 0x1p-1022;
    Scaled s = split_exponent(select(tiny, x * 0x1p54, x));
    return {select(tiny, s.k - 54, s.k), s.m};
#endif
}

// What a logarithm gives outside (0, inf).
INLINE Real logarithm_edges(Real x, Real result) {
    result = select(x < infinity, result, x);  // inf and nan
    result = select(x == 0, -infinity, result);
    return select(x < 0, not_a_number, result);
}

INLINE Real logarithm(Real x) {
    using namespace coefficients;
    Scaled n = split_exponent_subnormal(x);
    Real f = n.m - 1, s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    Real rest = z * polynomial(atanh_wide, z);
    Real low = fused(s, half + rest, n.k * ln2_short[1]);
    Real result = fused(n.k, ln2_short[0], -((half - low) - f));
    return logarithm_edges(x, result);
}

// log of 2^extra (u.high + u.low), u.high positive and normal; accurate near u = 1 as well, where
// only the distance from 1 counts.
INLINE Real logarithm_of_pair(Pair u, Real extra) {
    using namespace coefficients;
    Scaled n = split_exponent(u.high);
    Real f = n.m - 1, s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    Real rest = z * polynomial(atanh_wide, z);
    // u.low / u.high to a few per cent; where u is large it does not matter.
    Real down = power_of_two(rounder - minimum(n.k, 200));
    Real correction = u.low * down * (1 - s) * (1 - s);
    Real k = n.k + extra;
    Real low = fused(s, half + rest, fused(k, ln2_short[1], correction));
    return fused(k, ln2_short[0], f - (half - low));
}

INLINE Real logarithm_plus_one(Real x) {
    Real inside = select(x > -1, x, 1);
    Pair u = two_sum(1, inside);
    Real result = select(absolute(x) < 0x1p-54, x, logarithm_of_pair(u, 0));
    result = select(x < infinity, result, x);
    result = select(x == -1, -infinity, result);
    return select(x < -1, not_a_number, result);
}

// log(x) * (c[0] + c[1]) + k * (step[0] + step[1]), for base 2 and base 10.
INLINE Real scaled_logarithm(Real x, const double (&c)[2], double step, double step_low) {
    using namespace coefficients;
    Scaled n = split_exponent_subnormal(x);
    Real f = n.m - 1, s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    Real rest = z * polynomial(atanh_wide, z);
    Pair log = fast_two_sum(f, -half);
    log = {log.high, fused(s, half + rest, log.low)};
    Pair p = two_product(log.high, c[0]);
    Real low = fused(log.high, c[1], fused(log.low, c[0], p.low));
    Pair r = fast_two_sum(n.k * step, p.high);
    return logarithm_edges(x, r.high + (r.low + fused(n.k, step_low, low)));
}

INLINE Real logarithm_base_two(Real x) {
    return scaled_logarithm(x, coefficients::ln2_inverse, 1, 0);
}

INLINE Real logarithm_base_ten(Real x) {
    using namespace coefficients;
    return scaled_logarithm(x, ln10_inverse, log10_2[0], log10_2[1]);
}

INLINE Real logarithm_narrow(Real x) {
    using namespace coefficients;
    Scaled n = split_exponent(x);  // a float32 subnormal is a normal double
    Real f = n.m - 1, s = f * rough_inverse(2 + f), z = s * s;
    Real result = fused(s * z, polynomial(atanh_narrow, z), fused(n.k, ln2[0], 2 * s));
    return logarithm_edges(x, result);
}

// log2 of a positive finite normal x as a double-word number, to about 2^-66.  With z = s^2,
//     log2 m = s (c0 + z (c1 + z R(z))),   c0 = 2 / ln 2,   c1 = c0 / 3,
// where all but R are double-word.  Low parts are not normalised in between: they stay small.
INLINE Pair logarithm_base_two_pair(Real x) {
    using namespace coefficients;
    Scaled n = split_exponent(x);
    Real f = n.m - 1;
    Pair d = fast_two_sum(2, f);
    Real inverse = approximate_inverse(d.high), s = f * inverse;
    Pair back = two_product(s, d.high);
    Real s_low = (((f - back.high) - back.low) - s * d.low) * inverse;
    Pair z = two_product(s, s);
    z.low = fused(s + s, s_low, z.low);
    Real tail = z.high * polynomial(atanh_third_base_two, z.high);
    Pair c = fast_two_sum(two_thirds_over_ln2[0], tail);
    Real c_low = c.low + two_thirds_over_ln2[1];
    Pair w = two_product(z.high, c.high);
    Real w_low = fused(z.high, c_low, fused(z.low, c.high, w.low));
    Pair t = fast_two_sum(two_over_ln2[0], w.high);
    Real t_low = t.low + (w_low + two_over_ln2[1]);
    Pair log = two_product(s, t.high);
    Real log_low = fused(s, t_low, fused(s_low, t.high, log.low));
    Pair r = fast_two_sum(n.k, log.high);
    return {r.high, r.low + log_low};
}

// log2 for float32 powers: about 45 bits.
INLINE Real logarithm_base_two_finite(Real x) {
    using namespace coefficients;
    Scaled n = split_exponent(x);
    Real f = n.m - 1, s = f * approximate_inverse(2 + f), z = s * s;
    Real log = fused(s * z, polynomial(atanh_middle, z), 2 * s);
    return fused(log, ln2_inverse[0], n.k);
}

INLINE Real logarithm_base_two_narrow(Real x) {
    using namespace coefficients;
    Scaled n = split_exponent(x);
    Real f = n.m - 1, s = f * rough_inverse(2 + f), z = s * s;
    Real log = fused(s * z, polynomial(atanh_narrow, z), 2 * s);
    return logarithm_edges(x, fused(log, ln2_inverse[0], n.k));
}

INLINE Real logarithm_base_ten_narrow(Real x) {
    return logarithm_narrow(x) * coefficients::ln10_inverse[0];
}

INLINE Real logarithm_plus_one_narrow(Real x) {
    return select(absolute(x) < 0x1p-26, x, logarithm_narrow(1 + x));
}

}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
