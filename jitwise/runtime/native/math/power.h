// a^b = 2^(b log2 a), the logarithm and the product in double-word arithmetic; for float32 without
// fma in plain double.
#pragma once

#include <cmath>

#include "loops.h"
#include "narrow.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {
namespace wide {

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

}  // namespace wide

namespace single {

INLINE Mask power_is_rare(Real a, Real b) {
    return !((a >= smallest_normal) & (a < infinity) & (absolute(b) < 0x1p62));
}

}  // namespace single
}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
