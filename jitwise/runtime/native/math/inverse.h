// Inverse circular functions.
//
// The arc tangent of a ratio is reduced to |t| <= tan(pi/8):
//     small ratio   t = b / a               angle = atan t
//     middle        t = (b - a) / (b + a)   angle = pi/4 + atan t
//     large         t = -a / b              angle = pi/2 + atan t
// The arc sine uses asin x = pi/2 - 2 asin(sqrt((1 - x) / 2)) above 1/2.
#pragma once

#include "arithmetic.h"
#include "coefficients.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {

constexpr double tan_eighth = 0.41421356237309503;
constexpr double tan_three_eighths = 2.414213562373095;

struct Turn {
    Pair top, bottom;  // t = top / bottom
    Pair offset;
};

// For b, a >= 0; `left` says that the ratio's denominator was negative: the angle becomes pi - angle.
INLINE Turn reduce_ratio(Real b, Real a, Mask left) {
    using namespace coefficients;
    Mask middle = b > tan_eighth * a, large = b > tan_three_eighths * a;
    Pair difference = two_sum(b, -a), total = two_sum(b, a);
    Real zero = 0;
    Pair top{select(large, -a, select(middle, difference.high, b)),
             select(large, zero, select(middle, difference.low, zero))};
    Pair bottom{select(large, b, select(middle, total.high, a)),
                select(large, zero, select(middle, total.low, zero))};
    Real high = select(middle, select(left, three_quarter_pi[0], quarter_pi[0]),
                       select(left, pi[0], 0));
    Real low = select(middle, select(left, three_quarter_pi[1], quarter_pi[1]),
                      select(left, pi[1], 0));
    Pair offset{select(large, half_pi[0], high), select(large, half_pi[1], low)};
    top = {select(left, -top.high, top.high), select(left, -top.low, top.low)};
    return {top, bottom, offset};
}

INLINE Real finish_turn(Pair t, Pair offset) {
    Real z = t.high * t.high;
    Real rest = fused(t.high * z, polynomial(coefficients::atan_wide, z), t.low);
    Pair s = fast_two_sum(offset.high, t.high);
    return s.high + (s.low + (rest + offset.low));
}

// As above for a = 1, where more is known: b + 1 and b - 1 are close to exact where it matters.
INLINE Real arc_tangent(Real x) {
    using namespace coefficients;
    Real b = minimum(0x1p60, absolute(x)), zero = 0;
    Mask middle = b > tan_eighth, large = b > tan_three_eighths;
    Real top = select(large, -1, select(middle, b - 1, b));
    Pair total = fast_two_sum(1, b);  // exact enough: its low part is used for b < 2.5 only
    Real bottom = select(large, b, select(middle, total.high, 1));
    Real bottom_low = select(large, zero, select(middle, total.low, zero));
    Real inverse = approximate_inverse(bottom), t = top * inverse;
    Pair back = two_product(t, bottom);
    Real t_low = (((top - back.high) - back.low) - t * bottom_low) * inverse;
    Pair offset{select(large, half_pi[0], select(middle, quarter_pi[0], zero)),
                select(large, half_pi[1], select(middle, quarter_pi[1], zero))};
    Real result = finish_turn({t, t_low}, offset);
    return select(absolute(x) < 0x1p-28, x, with_sign(result, bits_of(x)));
}

// Zeros, infinities, NaN and ratios near the ends of the range: left to the scalar function.
INLINE Mask arc_tangent_is_rare(Real y, Real x) {
    Real a = absolute(x), b = absolute(y), size = a + b;
    Mask usual = (size < 0x1p980) & (size > 0x1p-900);
    if constexpr (has_fma) return !usual;
    // The products of Dekker's splitting would underflow.
    Real zero = 0;
    return !(usual & ((a > 0x1p-900) | (a == zero)) & ((b > 0x1p-900) | (b == zero)));
}

INLINE Mask is_negative(Real x) { return with_sign(1, bits_of(x)) < 0; }

INLINE Real arc_tangent_of_ratio(Real y, Real x) {
    Turn turn = reduce_ratio(absolute(y), absolute(x), is_negative(x));
    Real result = finish_turn(divide(turn.top, turn.bottom), turn.offset);
    return with_sign(result, bits_of(y));
}

INLINE Real finish_turn_narrow(Real t, Real offset) {
    Real z = t * t;
    return offset + fused(t * z, polynomial(coefficients::atan_narrow, z), t);
}

INLINE Real arc_tangent_narrow(Real x) {
    using namespace coefficients;
    Real a = minimum(0x1p60, absolute(x));
    Mask middle = a > tan_eighth, large = a > tan_three_eighths;
    Real top = select(large, -1, select(middle, a - 1, a));
    Real bottom = select(large, a, select(middle, a + 1, 1));
    Real offset = select(large, half_pi[0], select(middle, quarter_pi[0], 0));
    Real result = finish_turn_narrow(top * rough_inverse(bottom), offset);
    return with_sign(result, bits_of(x));
}

INLINE Real arc_tangent_of_ratio_narrow(Real y, Real x) {
    using namespace coefficients;
    Real b = absolute(y), a = absolute(x);
    Mask middle = b > tan_eighth * a, large = b > tan_three_eighths * a;
    Real top = select(large, -a, select(middle, b - a, b));
    Real bottom = select(large, b, select(middle, b + a, a));
    Real offset = select(large, half_pi[0], select(middle, quarter_pi[0], 0));
    Real result = finish_turn_narrow(top * rough_inverse(bottom), offset);
    result = select(is_negative(x), pi[0] - result, result);
    return with_sign(result, bits_of(y));
}

struct HalfAngle {
    Mask outer;      // |x| > 1/2
    Pair s;          // |x|, or sqrt((1 - |x|) / 2)
    Real rest;       // asin(s) - s.high
};

template <int count>
INLINE HalfAngle half_angle(Real x, const double (&c)[count]) {
    Real a = absolute(x);
    Mask outer = a > 0.5;
    Real z = select(outer, fused(-0.5, a, 0.5), a * a);
    Pair root = square_root({z, 0});
    Real s = select(outer, root.high, a), s_low = select(outer, root.low, 0);
    return {outer, {s, s_low}, fused(s * z, polynomial(c, z), s_low)};
}

INLINE Real arc_sine(Real x) {
    using namespace coefficients;
    HalfAngle h = half_angle(x, asin_wide);
    Pair s = fast_two_sum(half_pi[0], -2 * h.s.high);
    Real outer = s.high + (s.low + fused(-2, h.rest, half_pi[1]));
    return with_sign(select(h.outer, outer, h.s.high + h.rest), bits_of(x));
}

INLINE Real arc_cosine(Real x) {
    using namespace coefficients;
    HalfAngle h = half_angle(x, asin_wide);
    // Inside: pi/2 - asin x.  Outside: 2 asin s, or pi minus that.
    Mask negative = is_negative(x);
    Real factor = select(h.outer, select(negative, -2, 2), select(negative, 1, -1));
    Real base = select(h.outer, select(negative, pi[0], 0), half_pi[0]);
    Real base_low = select(h.outer, select(negative, pi[1], 0), half_pi[1]);
    Pair s = fast_two_sum(base, factor * h.s.high);
    return s.high + (s.low + fused(factor, h.rest, base_low));
}

INLINE HalfAngle half_angle_narrow(Real x) {
    Real a = absolute(x);
    Mask outer = a > 0.5;
    Real z = select(outer, fused(-0.5, a, 0.5), a * a);
    Real s = select(outer, sqrt(z), a);
    return {outer, {s, 0}, s * z * polynomial(coefficients::asin_narrow, z)};
}

INLINE Real arc_sine_narrow(Real x) {
    HalfAngle h = half_angle_narrow(x);
    Real angle = h.s.high + h.rest;
    Real outer = fused(-2, angle, coefficients::half_pi[0]);
    return with_sign(select(h.outer, outer, angle), bits_of(x));
}

INLINE Real arc_cosine_narrow(Real x) {
    using namespace coefficients;
    HalfAngle h = half_angle_narrow(x);
    Mask negative = is_negative(x);
    Real factor = select(h.outer, select(negative, -2, 2), select(negative, 1, -1));
    Real base = select(h.outer, select(negative, pi[0], 0), half_pi[0]);
    return fused(factor, h.s.high + h.rest, base);
}

}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
