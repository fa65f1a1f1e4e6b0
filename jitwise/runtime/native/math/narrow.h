// float32 functions computed in double with short polynomials: about 30 good bits before rounding,
// so nearly always the correctly rounded result, and no overflow or underflow on the way.
//
// All of them where there is no fma; elsewhere those that are no faster in float.
#pragma once

#include "elementary.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {
namespace wide {

// e^x for float32, in double: about 30 bits, no overflow, rounded by the caller's conversion.
INLINE Real exponential_narrow(Real x) {
    using namespace binary64;
    using namespace narrow_fits;
    x = clamp(x, -110.0, 90.0);
    Real shifted = fused(x, ln2_inverse[0], rounder);
    Real r = fused(rounder - shifted, ln2[0], x);
    Real rest = fused(r * r, polynomial(expm1_narrow, r), r);
    Real power = power_of_two(shifted);
    return fused(power, rest, power);
}

INLINE Real exponential_base_two_narrow(Real x) {
    using namespace binary64;
    using namespace narrow_fits;
    x = clamp(x, -160.0, 130.0);
    Real shifted = x + rounder, r = (x - (shifted - rounder)) * ln2[0];
    Real rest = fused(r * r, polynomial(expm1_narrow, r), r);
    Real power = power_of_two(shifted);
    return fused(power, rest, power);
}

// The difference keeps its relative accuracy: with k = 0 it is r + r^2 Q(r) itself.
INLINE Real exponential_minus_one_narrow(Real x) {
    using namespace binary64;
    using namespace narrow_fits;
    Real inside = clamp(x, -110.0, 90.0);
    Real shifted = fused(inside, ln2_inverse[0], rounder);
    Real r = fused(rounder - shifted, ln2[0], inside);
    Real rest = fused(r * r, polynomial(expm1_narrow, r), r);
    Real power = power_of_two(shifted);
    Real result = fused(power, rest, power - 1);
    return select(x == 0, x, result);
}

INLINE Real logarithm_narrow(Real x) {
    using namespace binary64;
    using namespace narrow_fits;
    Scaled n = split_exponent(x);  // a float32 subnormal is a normal double
    Real f = n.m - 1, s = f / (2 + f), z = s * s;
    Real result = fused(s * z, polynomial(atanh_narrow, z), fused(n.k, ln2[0], 2 * s));
    return logarithm_edges(x, result);
}

// log2 for float32 powers: about 45 bits.
INLINE Real logarithm_base_two_finite(Real x) {
    using namespace binary64;
    using namespace narrow_fits;
    Scaled n = split_exponent(x);
    Real f = n.m - 1, s = f / (2 + f), z = s * s;
    Real log = fused(s * z, polynomial(atanh_middle, z), 2 * s);
    return fused(log, ln2_inverse[0], n.k);
}

INLINE Real logarithm_base_two_narrow(Real x) {
    using namespace binary64;
    using namespace narrow_fits;
    Scaled n = split_exponent(x);
    Real f = n.m - 1, s = f / (2 + f), z = s * s;
    Real log = fused(s * z, polynomial(atanh_narrow, z), 2 * s);
    return logarithm_edges(x, fused(log, ln2_inverse[0], n.k));
}

INLINE Real logarithm_base_ten_narrow(Real x) {
    return logarithm_narrow(x) * binary64::ln10_inverse[0];
}

INLINE Real logarithm_plus_one_narrow(Real x) {
    return select(absolute(x) < 0x1p-26, x, logarithm_narrow(1 + x));
}

// float32 arguments below 2^20 are never closer to a multiple of pi than 2^-40 or so, for which two
// parts of pi are enough.
INLINE Real sine_of_reduced_narrow(Real r) {
    Real z = r * r;
    return fused(z * r, polynomial(narrow_fits::sine_narrow, z), r);
}

INLINE Real reduce_narrow(Real x, Real k, const double (&c)[3], const double (&head)[2]) {
    Real a = has_fma ? fused(-k, c[0], x) : (x - k * head[0]) - k * head[1];
    return fused(-k, c[1], a);
}

INLINE Real sine_narrow_range(Real x) {
    Real shifted = fused(x, binary64::inverse_pi[0], rounder);
    Real r = reduce_narrow(x, shifted - rounder, binary64::pi_parts, binary64::pi_head);
    Real result = with_sign(sine_of_reduced_narrow(r), bits_of(shifted) << 63);
    return select(x == 0, x, result);
}

INLINE Real cosine_narrow_range(Real x) {
    x = absolute(x);
    Real shifted = fused(x, binary64::inverse_pi[0], 0.5) + rounder;
    Real r = reduce_narrow(x, shifted - rounder - 0.5, binary64::pi_parts, binary64::pi_head);
    return with_sign(sine_of_reduced_narrow(r), bits_of(shifted) << 63);
}

INLINE Real tangent_narrow(Real x) {
    using namespace binary64;
    using namespace narrow_fits;
    Real shifted = fused(x, two_over_pi[0], rounder);
    Real r = reduce_narrow(x, shifted - rounder, half_pi_parts, half_pi_head);
    Real z = r * r, t = fused(z * r, polynomial(tan_narrow, z), r);
    return select(x == 0, x, select(is_odd(shifted), Real(-1) / t, t));
}

INLINE Real tangent_hyperbolic_narrow(Real x) {
    Real t = exponential_minus_one_narrow(clamp(absolute(x), 0, 12) * 2);
    return with_sign(t / (t + 2), bits_of(x));
}

INLINE Real sine_hyperbolic_narrow(Real x) {
    Real t = exponential_minus_one_narrow(absolute(x));
    return with_sign(0.5 * fused(t, Real(1) / (t + 1), t), bits_of(x));
}

INLINE Real cosine_hyperbolic_narrow(Real x) {
    Real e = exponential_narrow(absolute(x));
    return 0.5 * (e + Real(1) / e);
}

INLINE Real inverse_sine_hyperbolic_narrow(Real x) {
    Real a = absolute(x), z = a * a;
    Real large = logarithm_narrow(a + sqrt(z + 1));
    Real small = fused(z * a, -1.0 / 6, a);
    return with_sign(select(a < 0x1p-12, small, large), bits_of(x));
}

INLINE Real inverse_cosine_hyperbolic_narrow(Real x) {
    Real result = logarithm_narrow(x + sqrt(fused(x, x, -1)));
    return select(x < 1, not_a_number, result);
}

INLINE Real inverse_tangent_hyperbolic_narrow(Real x) {
    Real a = absolute(x), z = a * a;
    Real large = 0.5 * logarithm_narrow((1 + a) / (1 - a));
    Real small = fused(z * a, 1.0 / 3, a);
    return with_sign(select(a < 0x1p-12, small, large), bits_of(x));
}

INLINE Real finish_turn_narrow(Real t, Real offset) {
    Real z = t * t;
    return offset + fused(t * z, polynomial(narrow_fits::atan_narrow, z), t);
}

INLINE Real arc_tangent_narrow(Real x) {
    using namespace binary64;
    using namespace narrow_fits;
    Real a = minimum(0x1p60, absolute(x));
    Mask middle = a > tan_eighth, large = a > tan_three_eighths;
    Real top = select(large, -1, select(middle, a - 1, a));
    Real bottom = select(large, a, select(middle, a + 1, 1));
    Real offset = select(large, half_pi[0], select(middle, quarter_pi[0], 0));
    Real result = finish_turn_narrow(top / bottom, offset);
    return with_sign(result, bits_of(x));
}

INLINE Real arc_tangent_of_ratio_narrow(Real y, Real x) {
    using namespace binary64;
    using namespace narrow_fits;
    Real b = absolute(y), a = absolute(x);
    Mask middle = b > tan_eighth * a, large = b > tan_three_eighths * a;
    Real top = select(large, -a, select(middle, b - a, b));
    Real bottom = select(large, b, select(middle, b + a, a));
    Real offset = select(large, half_pi[0], select(middle, quarter_pi[0], 0));
    Real result = finish_turn_narrow(top / bottom, offset);
    result = select(is_negative(x), pi[0] - result, result);
    return with_sign(result, bits_of(y));
}

INLINE HalfAngle half_angle_narrow(Real x) {
    Real a = absolute(x);
    Mask outer = a > 0.5;
    Real z = select(outer, fused(-0.5, a, 0.5), a * a);
    Real s = select(outer, sqrt(z), a);
    return {outer, {s, 0}, s * z * polynomial(narrow_fits::asin_narrow, z)};
}

INLINE Real arc_sine_narrow(Real x) {
    HalfAngle h = half_angle_narrow(x);
    Real angle = h.s.high + h.rest;
    Real outer = fused(-2, angle, binary64::half_pi[0]);
    return with_sign(select(h.outer, outer, angle), bits_of(x));
}

INLINE Real arc_cosine_narrow(Real x) {
    using namespace binary64;
    using namespace narrow_fits;
    HalfAngle h = half_angle_narrow(x);
    Mask negative = is_negative(x);
    Real factor = select(h.outer, select(negative, -2, 2), select(negative, 1, -1));
    Real base = select(h.outer, select(negative, pi[0], 0), half_pi[0]);
    return fused(factor, h.s.high + h.rest, base);
}

INLINE Real cube_root_narrow(Real x) {
    using namespace binary64;
    using namespace narrow_fits;
    Scaled n = split_exponent(absolute(x));
    Real shifted = fused(n.k, 1.0 / 3, rounder);
    Real r = fused(rounder - shifted, 3, n.k);
    Real y = polynomial(cbrt_start, n.m);
    Real e = fused(y * y, y, -n.m) / n.m;
    Real root = fused(-y, e * fused(e, -2.0 / 9, 1.0 / 3), y);
    root = root * select(r > 0, cbrt_2[0], select(r < 0, cbrt_half[0], 1)) * power_of_two(shifted);
    Real magnitude = absolute(x);
    Mask ordinary = (magnitude > 0) & (magnitude < infinity);
    return select(ordinary, with_sign(root, bits_of(x)), x);
}

INLINE Real hypotenuse_narrow(Real a, Real b) {
    Mask infinite = (absolute(a) == infinity) | (absolute(b) == infinity);
    return select(infinite, infinity, sqrt(fused(a, a, b * b)));
}

}  // namespace wide
}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
