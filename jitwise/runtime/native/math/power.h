// Powers and roots: power, cbrt, hypot.
//
// a^b = 2^(b log2 a), the logarithm and the product in double-word arithmetic.
#pragma once

#include <cmath>

#include "exponential.h"
#include "logarithm.h"
#include "loops.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {

// Bases that are not positive, finite and normal, and infinite, NaN and huge exponents.
INLINE Mask power_is_rare(Real a, Real b) {
    return !((a >= 0x1p-1022) & (a < infinity) & (absolute(b) < 0x1p62));
}

// Of these only a negative base is common enough for vector code.
INLINE Mask power_is_special(Real a, Real b) { return power_is_rare(absolute(a), b); }

// The power of a negative base from that of its magnitude: negative when b is an odd integer, NaN
// when b is no integer.
INLINE Real power_sign(Real a, Real b, Real result) {
    Real magnitude = absolute(b);
    Mask large = magnitude >= 0x1p52;  // an integer, and even from 2^53 on
    Real shifted = select(large, magnitude, magnitude + 0x1p52);
    Mask integer = large | (shifted - 0x1p52 == magnitude);
    Bits parity = bits_of(select(magnitude < 0x1p53, shifted, 0)) << 63;
    Real negative = select(integer, with_sign(result, parity), not_a_number);
    return select(a < 0, negative, result);
}

INLINE Real power(Real a, Real b) {
    Pair log = logarithm_base_two_pair(a);
    Pair p = two_product(b, log.high);
    return exponential_base_two(Pair{p.high, fused(b, log.low, p.low)});
}

INLINE Real power_narrow(Real a, Real b) {
    return exponential_base_two_narrow(b * logarithm_base_two_finite(a));
}

__attribute__((noinline, cold)) Real power_aside(Real a, Real b) {
    Real result = power_sign(a, b, power(absolute(a), b));
    return patched(a, b, result, power_is_special(a, b), [](double v, double w) { return ::pow(v, w); });
}

__attribute__((noinline, cold)) Real power_aside_narrow(Real a, Real b) {
    Real result = power_sign(a, b, power_narrow(absolute(a), b));
    return patched(a, b, result, power_is_special(a, b), [](double v, double w) { return ::pow(v, w); });
}

// cbrt(2^(3q + r) m) = 2^q cbrt(2^r m), r in {-1, 0, 1}: a polynomial gives y to 16 bits, and from
// e = y^3 / (2^r m) - 1 follows the root y (1 + e)^(-1/3).
INLINE Real cube_root(Real x) {
    using namespace coefficients;
    Scaled n = split_exponent_subnormal(absolute(x));
    Real shifted = fused(n.k, 1.0 / 3, rounder);
    Real r = fused(rounder - shifted, 3, n.k);
    Real m = n.m * select(r > 0, 2, select(r < 0, 0.5, 1));
    Real y = polynomial(cbrt_start, n.m);
    y = y * select(r > 0, cbrt_2[0], select(r < 0, cbrt_half[0], 1));
    Pair square = two_product(y, y), cube = two_product(square.high, y);
    Real e = ((cube.high - m) + fused(square.low, y, cube.low)) * approximate_inverse(m);
    Real step = e * fused(e, fused(e, 14.0 / 81, -2.0 / 9), 1.0 / 3);
    Real root = fused(-y, step, y) * power_of_two(shifted);
    Real magnitude = absolute(x);
    Mask ordinary = (magnitude > 0) & (magnitude < infinity);
    return select(ordinary, with_sign(root, bits_of(x)), x);
}

INLINE Real cube_root_narrow(Real x) {
    using namespace coefficients;
    Scaled n = split_exponent(absolute(x));
    Real shifted = fused(n.k, 1.0 / 3, rounder);
    Real r = fused(rounder - shifted, 3, n.k);
    Real y = polynomial(cbrt_start, n.m);
    Real e = fused(y * y, y, -n.m) * rough_inverse(n.m);
    Real root = fused(-y, e * fused(e, -2.0 / 9, 1.0 / 3), y);
    root = root * select(r > 0, cbrt_2[0], select(r < 0, cbrt_half[0], 1)) * power_of_two(shifted);
    Real magnitude = absolute(x);
    Mask ordinary = (magnitude > 0) & (magnitude < infinity);
    return select(ordinary, with_sign(root, bits_of(x)), x);
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
    Real result = fused(rest * 0.5, rough_inverse(root), root);
    result = select(root == 0, 0, result) * down;
    return select(infinite, infinity, select(unknown, not_a_number, result));
}

INLINE Real hypotenuse_narrow(Real a, Real b) {
    Mask infinite = (absolute(a) == infinity) | (absolute(b) == infinity);
    return select(infinite, infinity, sqrt(fused(a, a, b * b)));
}

}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
