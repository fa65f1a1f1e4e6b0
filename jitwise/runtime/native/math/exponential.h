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
    Real shifted;  // rounder + k
    Real r, low;   // reduced argument, double-word
};

// x = k ln 2 + r, for |x| < 2^10 ln 2 or so.
INLINE Exponent reduce_exponent(Real x) {
    using namespace coefficients;
    Real shifted = fused(x, ln2_inverse[0], rounder), k = shifted - rounder;
    Real near = fused(-k, ln2_short[0], x);  // exact: the constant is short
    Pair r = fast_two_sum(near, -k * ln2_short[1]);
    return {shifted, r.high, r.low};
}

// e^x for float64.
INLINE Real exponential(Real x) {
    x = clamp(x, -746.0, 710.0);
    Exponent e = reduce_exponent(x);
    Real rest = fused(e.r * e.r, polynomial(coefficients::expm1_wide, e.r), e.low);
    return scale(1 + (e.r + rest), e.shifted);
}

// 2^x for float64.
INLINE Real exponential_base_two(Real x) {
    using namespace coefficients;
    x = clamp(x, -1080.0, 1025.0);
    Real shifted = x + rounder, f = x - (shifted - rounder);
    Pair r = two_product(f, ln2[0]);
    Real rest = fused(r.high * r.high, polynomial(expm1_wide, r.high), fused(f, ln2[1], r.low));
    return scale(1 + (r.high + rest), shifted);
}

// 2^(high + low) for a double-word exponent.
INLINE Real exponential_base_two(Pair p) {
    using namespace coefficients;
    Real x = clamp(p.high, -1090.0, 1090.0);
    Real low = select(x == p.high, p.low, 0);
    Real shifted = x + rounder, f = (x - (shifted - rounder)) + low;
    Real r = f * ln2[0];
    Real rest = (r * r) * polynomial(expm1_wide, r);
    return scale(1 + (r + rest), shifted);
}

// e^x / 4 as a double-word number, for -700 < x < 710.5.
INLINE Pair quarter_exponential(Real x) {
    Exponent e = reduce_exponent(x);
    Real rest = fused(e.r * e.r, polynomial(coefficients::expm1_wide, e.r), e.low);
    Pair p = fast_two_sum(e.r, rest), s = fast_two_sum(1, p.high);
    Real power = power_of_two(e.shifted - 2);
    return {power * s.high, power * (s.low + p.low)};
}

// 2^k (1 + p) - 1, computed at half size so that 2^1024 does not overflow too early.
INLINE Real exponential_minus_one(Real x) {
    Exponent e = reduce_exponent(clamp(x, -60.0, 710.0));
    Real rest = fused(e.r * e.r, polynomial(coefficients::expm1_wide, e.r), e.low);
    Pair p = fast_two_sum(e.r, rest);
    Real power = power_of_two(e.shifted - 1);
    Real half = fused(power, p.low, fused(power, p.high, power - 0.5));
    return select(absolute(x) < 0x1p-54, x, half + half);
}

// e^x for float32, in double: about 30 bits, no overflow, rounded by the caller's conversion.
INLINE Real exponential_narrow(Real x) {
    using namespace coefficients;
    x = clamp(x, -110.0, 90.0);
    Real shifted = fused(x, ln2_inverse[0], rounder);
    Real r = fused(rounder - shifted, ln2[0], x);
    Real rest = fused(r * r, polynomial(expm1_narrow, r), r);
    Real power = power_of_two(shifted);
    return fused(power, rest, power);
}

INLINE Real exponential_base_two_narrow(Real x) {
    using namespace coefficients;
    x = clamp(x, -160.0, 130.0);
    Real shifted = x + rounder, r = (x - (shifted - rounder)) * ln2[0];
    Real rest = fused(r * r, polynomial(expm1_narrow, r), r);
    Real power = power_of_two(shifted);
    return fused(power, rest, power);
}

// The difference keeps its relative accuracy: with k = 0 it is r + r^2 Q(r) itself.
INLINE Real exponential_minus_one_narrow(Real x) {
    using namespace coefficients;
    Real inside = clamp(x, -110.0, 90.0);
    Real shifted = fused(inside, ln2_inverse[0], rounder);
    Real r = fused(rounder - shifted, ln2[0], inside);
    Real rest = fused(r * r, polynomial(expm1_narrow, r), r);
    Real power = power_of_two(shifted);
    Real result = fused(power, rest, power - 1);
    return select(x == 0, x, result);
}

}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
