// The exponential family: exp, exp2, expm1.
//
//     e^x = 2^k e^r,   k = round(x / ln 2),   |r| <= ln(2) / 2,   e^r = 1 + r + r^2 Q(r)
#pragma once

#include "arithmetic.h"
#include "coefficients.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {

struct Exponent {
    double shifted;  // rounder + k
    double r, low;   // reduced argument, double-word
};

// x = k ln 2 + r, for |x| < 2^10 ln 2 or so.
INLINE Exponent reduce_exponent(double x) {
    using namespace coefficients;
    double shifted = fused(x, ln2_inverse[0], rounder), k = shifted - rounder;
    double near = fused(-k, ln2_short[0], x);  // exact: the constant is short
    Pair r = fast_two_sum(near, -k * ln2_short[1]);
    return {shifted, r.high, r.low};
}

// e^x for float64.
INLINE double exponential(double x) {
    x = clamp(x, -746.0, 710.0);
    Exponent e = reduce_exponent(x);
    double rest = fused(e.r * e.r, polynomial(coefficients::expm1_wide, e.r), e.low);
    return scale(1 + (e.r + rest), e.shifted);
}

// 2^x for float64.
INLINE double exponential_base_two(double x) {
    using namespace coefficients;
    x = clamp(x, -1080.0, 1025.0);
    double shifted = x + rounder, f = x - (shifted - rounder);
    Pair r = two_product(f, ln2[0]);
    double rest = fused(r.high * r.high, polynomial(expm1_wide, r.high), fused(f, ln2[1], r.low));
    return scale(1 + (r.high + rest), shifted);
}

// 2^(high + low) for a double-word exponent.
INLINE double exponential_base_two(Pair p) {
    using namespace coefficients;
    double low = absolute(p.high) > 1090 ? 0 : p.low;
    double x = clamp(p.high, -1090.0, 1090.0);
    double shifted = x + rounder, f = (x - (shifted - rounder)) + low;
    double r = f * ln2[0];
    double rest = (r * r) * polynomial(expm1_wide, r);
    return scale(1 + (r + rest), shifted);
}

// e^x - 1 as a double-word number, for -708 < x < 709.
INLINE Pair exponential_minus_one_pair(double x) {
    Exponent e = reduce_exponent(x);
    double rest = fused(e.r * e.r, polynomial(coefficients::expm1_wide, e.r), e.low);
    Pair p = fast_two_sum(e.r, rest);
    double power = power_of_two(e.shifted);
    Pair s = two_sum(power - 1, power * p.high);
    return fast_two_sum(s.high, fused(power, p.low, s.low));
}

// e^x as a double-word number, for -708 < x < 709.
INLINE Pair exponential_pair(double x) {
    Exponent e = reduce_exponent(x);
    double rest = fused(e.r * e.r, polynomial(coefficients::expm1_wide, e.r), e.low);
    Pair p = fast_two_sum(e.r, rest), s = fast_two_sum(1, p.high);
    double power = power_of_two(e.shifted);
    return {power * s.high, power * (s.low + p.low)};
}

INLINE double exponential_minus_one(double x) {
    double inside = clamp(x, -60.0, 709.0);
    double result = sum(exponential_minus_one_pair(inside));
    result = x > 709 ? exponential(x) : result;
    return absolute(x) < 0x1p-54 ? x : result;
}

// e^x for float32, in double: about 30 bits, no overflow, rounded by the caller's conversion.
INLINE double exponential_narrow(double x) {
    using namespace coefficients;
    x = clamp(x, -110.0, 90.0);
    double shifted = fused(x, ln2_inverse[0], rounder);
    double r = fused(rounder - shifted, ln2[0], x);
    double rest = fused(r * r, polynomial(expm1_narrow, r), r);
    double power = power_of_two(shifted);
    return fused(power, rest, power);
}

INLINE double exponential_base_two_narrow(double x) {
    using namespace coefficients;
    x = clamp(x, -160.0, 130.0);
    double shifted = x + rounder, r = (x - (shifted - rounder)) * ln2[0];
    double rest = fused(r * r, polynomial(expm1_narrow, r), r);
    double power = power_of_two(shifted);
    return fused(power, rest, power);
}

// The difference keeps its relative accuracy: with k = 0 it is r + r^2 Q(r) itself.
INLINE double exponential_minus_one_narrow(double x) {
    using namespace coefficients;
    double inside = clamp(x, -110.0, 90.0);
    double shifted = fused(inside, ln2_inverse[0], rounder);
    double r = fused(rounder - shifted, ln2[0], inside);
    double rest = fused(r * r, polynomial(expm1_narrow, r), r);
    double power = power_of_two(shifted);
    double result = fused(power, rest, power - 1);
    return x == 0 ? x : result;
}

}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
