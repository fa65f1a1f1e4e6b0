// Functions of two float64 arguments that need no more than the shared ones: atan2 and hypot.
#pragma once

#include "elementary.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {
namespace wide {

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

// Zeros, infinities, NaN and ratios near the ends of the range: left to the scalar function.
INLINE Mask arc_tangent_is_rare(Real y, Real x) {
    Real a = absolute(x), b = absolute(y), size = a + b;
    Mask usual = (size < 0x1p980) & (size > 0x1p-900);
    if constexpr (has_fma) return !usual;
    // The products of Dekker's splitting would underflow.
    Real zero = 0;
    return !(usual & ((a > 0x1p-900) | (a == zero)) & ((b > 0x1p-900) | (b == zero)));
}

INLINE Real arc_tangent_of_ratio(Real y, Real x) {
    Turn turn = reduce_ratio(absolute(y), absolute(x), is_negative(x));
    Real result = finish_turn(divide(turn.top, turn.bottom), turn.offset);
    return with_sign(result, bits_of(y));
}

// sqrt(a^2 + b^2), the sum as a double-word number and scaled away from overflow and underflow.
INLINE Real hypotenuse(Real a, Real b) {
    a = absolute(a), b = absolute(b);
    Real large = maximum(a, b), small = minimum(a, b);
    Mask infinite = (a == infinity) | (b == infinity), unknown = !((a == a) & (b == b));
    Mask high = large > 0x1p500, low = large < 0x1p-450;
    Real up = select(high, 0x1p-600, select(low, 0x1p600, 1));
    Real down = select(high, 0x1p600, select(low, 0x1p-600, 1));
    large = large * up, small = small * up;
    Pair x = two_product(large, large), y = two_product(small, small);
    Pair s = fast_two_sum(x.high, y.high);
    Real root = sqrt(s.high);
    Pair p = two_product(root, root);
    Real rest = ((s.high - p.high) - p.low) + (s.low + (x.low + y.low));
    Real result = fused(rest * 0.5, Real(1) / root, root);
    result = select(root == 0, 0, result) * down;
    return select(infinite, infinity, select(unknown, not_a_number, result));
}

}  // namespace wide
}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
