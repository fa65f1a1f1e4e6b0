// Sine, cosine and tangent.
//
// Sine and cosine are reduced by multiples of pi (Cody and Waite 1980), with pi as a sum of three
// doubles:  x = k pi + r,  |r| <= pi/2,  sin x = (-1)^k sin r.  For the cosine k is half-odd.  With
// fma the first product is exact; without it pi is split into shorter parts and the limit is lower.
#pragma once

#include "arithmetic.h"
#include "coefficients.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {

constexpr double reduction_limit = has_fma ? 0x1p28 : 0x1p20;

// x - k * (constant), as a double-word number.
INLINE Pair subtract_multiple(double x, double k, const double (&full)[3], const double (&part)[4]) {
    if constexpr (has_fma) {
        double a = __builtin_fma(-k, full[0], x), b = __builtin_fma(-k, full[1], a);
        return {b, __builtin_fma(-k, full[2], __builtin_fma(-k, full[1], a - b))};
    }
    double a = (x - k * part[0]) - k * part[1];
    Pair b = two_sum(a, -k * part[2]);
    return fast_two_sum(b.high, b.low - k * part[3]);
}

// r + r z p(z) for |r| <= pi/2.  Near pi/2 the correction is as large as half of the result, so the
// rounding errors of z and p are carried along; -0.13 is the slope of z p(z) there.
INLINE double sine_of_reduced(Pair r) {
    using coefficients::sine_wide;
    Pair z = two_product(r.high, r.high);
    double q = polynomial<1>(sine_wide, z.high);
    double p = fused(z.high, q, sine_wide[0]);
    double p_low = fused(z.high, q, sine_wide[0] - p);
    double low = fused(-0.5 * z.high, r.low, r.low);
    double w = z.high * p, w_low = fused(z.high, p_low, -0.13 * z.low);
    return r.high + fused(r.high, w, fused(r.high, w_low, low));
}

INLINE double sine(double x) {
    using namespace coefficients;
    uint64_t sign = bits_of(x);
    x = absolute(x);
    double shifted = fused(x, inverse_pi[0], rounder);
    Pair r = subtract_multiple(x, shifted - rounder, pi, pi_short);
    return with_sign(sine_of_reduced(r), sign ^ (bits_of(shifted) << 63));
}

INLINE double cosine(double x) {
    using namespace coefficients;
    x = absolute(x);
    double shifted = fused(x, inverse_pi[0], 0.5) + rounder;
    Pair r = subtract_multiple(x, shifted - rounder - 0.5, pi, pi_short);
    return with_sign(sine_of_reduced(r), bits_of(shifted) << 63);
}

// The same for float32: k stays below 2^30 and the float32 arguments are never closer to a
// multiple of pi than 2^-40 or so, for which two constants are enough.
INLINE double sine_of_reduced_narrow(double r) {
    double z = r * r;
    return fused(z * r, polynomial(coefficients::sine_narrow, z), r);
}

INLINE double reduce_narrow(double x, double k) {
    using namespace coefficients;
    if constexpr (has_fma) return fused(-k, pi[1], fused(-k, pi[0], x));
    return ((x - k * pi_short[0]) - k * pi_short[1]) - k * pi_short[2];
}

INLINE double sine_narrow_range(double x) {
    double shifted = fused(x, coefficients::inverse_pi[0], rounder);
    double r = reduce_narrow(x, shifted - rounder);
    double result = with_sign(sine_of_reduced_narrow(r), bits_of(shifted) << 63);
    return x == 0 ? x : result;
}

INLINE double cosine_narrow_range(double x) {
    x = absolute(x);
    double shifted = fused(x, coefficients::inverse_pi[0], 0.5) + rounder;
    double r = reduce_narrow(x, shifted - rounder - 0.5);
    return with_sign(sine_of_reduced_narrow(r), bits_of(shifted) << 63);
}

}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
