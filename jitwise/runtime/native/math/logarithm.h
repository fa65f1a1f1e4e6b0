// The logarithm family: log, log2, log10, log1p, and the double-word logarithm that power needs.
//
//     x = 2^k m,   sqrt(1/2) <= m < sqrt(2),   f = m - 1,   s = f / (2 + f)
//     log m = 2 atanh s = f - s (f - z R(z)),   z = s^2
#pragma once

#include "arithmetic.h"
#include "coefficients.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {

struct Scaled {
    double k, m;
};

// k and m of a positive, finite, normal x; garbage (but no trap) for others.
INLINE Scaled split_exponent(double x) {
    constexpr uint64_t root_half = 0x3fe6a09e667f3bcdu;
    constexpr uint64_t bias = uint64_t(1024) << 52;
    uint64_t b = bits_of(x), k = (b - root_half + bias) >> 52;
    double exponent = from_bits(k | 0x4330000000000000u) - (0x1p52 + 1024);
    return {exponent, from_bits(b - ((k - 1024) << 52))};
}

INLINE Scaled split_exponent_subnormal(double x) {
    bool tiny = x < 0x1p-1022;
    Scaled s = split_exponent(tiny ? x * 0x1p54 : x);
    return {tiny ? s.k - 54 : s.k, s.m};
}

// What a logarithm gives outside (0, inf).
INLINE double logarithm_edges(double x, double result) {
    result = x < infinity ? result : x;  // inf and nan
    result = x == 0 ? -infinity : result;
    return x < 0 ? not_a_number : result;
}

INLINE double logarithm(double x) {
    using namespace coefficients;
    Scaled n = split_exponent_subnormal(x);
    double f = n.m - 1, s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    double rest = z * polynomial(atanh_wide, z);
    double low = fused(s, half + rest, n.k * ln2_short[1]);
    double result = fused(n.k, ln2_short[0], -((half - low) - f));
    return logarithm_edges(x, result);
}

INLINE double logarithm_narrow(double x) {
    using namespace coefficients;
    Scaled n = split_exponent(x);  // a float32 subnormal is a normal double
    double f = n.m - 1, s = f / (2 + f), z = s * s;
    double result = fused(s * z, polynomial(atanh_narrow, z), fused(n.k, ln2[0], 2 * s));
    return logarithm_edges(x, result);
}

// log2 of a positive finite normal x as a double-word number, to about 2^-66.  With
// z = s^2:  log2 m = (2 / ln 2) s (1 + z / 3 + z^2 ...), the first two terms double-word.
INLINE Pair logarithm_base_two_pair(double x) {
    using namespace coefficients;
    Scaled n = split_exponent(x);
    double f = n.m - 1;
    Pair s = divide({f, 0}, fast_two_sum(2, f));
    Pair z = multiply(s, s);
    double tail = z.high * polynomial(atanh_third, z.high);
    Pair c = fast_two_sum(two_thirds[0], tail);
    Pair w = multiply(z, {c.high, c.low + two_thirds[1]});
    Pair t = fast_two_sum(2, w.high);
    Pair log = multiply({t.high, t.low + w.low}, s);
    Pair log2 = multiply(log, {ln2_inverse[0], ln2_inverse[1]});
    Pair r = fast_two_sum(n.k, log2.high);
    return fast_two_sum(r.high, r.low + log2.low);
}

// log2 for float32 powers: about 40 bits.
INLINE double logarithm_base_two_narrow(double x) {
    using namespace coefficients;
    Scaled n = split_exponent(x);
    double f = n.m - 1, s = f / (2 + f), z = s * s;
    double log = fused(s * z, polynomial(atanh_narrow, z), 2 * s);
    return fused(log, ln2_inverse[0], n.k);
}

}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
