// Hyperbolic functions, from e^x - 1 as a double-word number.
#pragma once

#include "exponential.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {

// tanh x = t / (t + 2),  t = e^2x - 1.
INLINE double tanh(double x) {
    uint64_t sign = bits_of(x) & sign_bit;
    double magnitude = absolute(x);
    Pair t = exponential_minus_one_pair(2 * clamp(magnitude, 0, 22));
    Pair d = two_sum(2, t.high);
    double result = sum(divide(t, {d.high, d.low + t.low}));
    return magnitude < 0x1p-30 ? x : with_sign(result, sign);
}

INLINE double tanh_narrow(double x) {
    double t = exponential_minus_one_narrow(2 * clamp(absolute(x), 0, 12));
    return with_sign(t / (t + 2), bits_of(x));
}

}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
