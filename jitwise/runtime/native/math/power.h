// a^b = 2^(b log2 a), the logarithm and the product in double-word arithmetic.
#pragma once

#include "exponential.h"
#include "logarithm.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {

// Zero, subnormal, infinite and NaN bases, infinite, NaN and huge exponents: left to the scalar pow.
INLINE bool power_is_rare(double a, double b) {
    double magnitude = absolute(a);
    return !(magnitude >= 0x1p-1022 && magnitude < infinity && absolute(b) < 0x1p62);
}

// The sign of a power of a negative base: set when b is an odd integer; NaN when b is no integer.
INLINE double power_sign(double a, double b, double result) {
    double magnitude = absolute(b);
    bool large = magnitude >= 0x1p52;  // an integer, and even from 2^53 on
    double shifted = (large ? 0 : magnitude) + 0x1p52;
    bool integer = large || shifted - 0x1p52 == magnitude;
    uint64_t parity = bits_of(large ? magnitude : shifted) << 63;
    parity = magnitude >= 0x1p53 ? 0 : parity;
    double negative = integer ? with_sign(result, parity) : not_a_number;
    return a < 0 ? negative : result;
}

INLINE double power(double a, double b) {
    Pair log = logarithm_base_two_pair(absolute(a));
    Pair p = two_product(b, log.high);
    double result = exponential_base_two(Pair{p.high, fused(b, log.low, p.low)});
    return power_sign(a, b, result);
}

INLINE double power_narrow(double a, double b) {
    double result = exponential_base_two_narrow(b * logarithm_base_two_narrow(absolute(a)));
    return power_sign(a, b, result);
}

}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
