// Bits, rounding and double-word arithmetic that the functions are written in.
//
// A double-word number is an unevaluated sum high + low of two doubles with |low| <= ulp(high)/2
// (about 106 bits).  Sums and products are the classical error-free transformations (Dekker 1971,
// Knuth TAOCP 4.2.2).
#pragma once

#include "lanes.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {

constexpr double infinity = __builtin_inf();
constexpr double not_a_number = __builtin_nan("");
constexpr uint64_t sign_bit = 0x8000000000000000u;

// Adding it to |x| < 2^51 leaves the nearest integer in the low bits of the sum.
constexpr double rounder = 0x1.8p52;

INLINE Real absolute(Real x) { return from_bits(bits_of(x) & ~sign_bit); }
INLINE double absolute(double x) { return __builtin_fabs(x); }
// `magnitude` with its sign changed where the top bit of `sign` is set.
INLINE Real with_sign(Real magnitude, Bits sign) {
    return from_bits(bits_of(magnitude) ^ (sign & sign_bit));
}

struct Pair {
    Real high, low;
};

INLINE Pair two_sum(Real a, Real b) {
    Real s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}

// Needs |a| >= |b| or a == 0.
INLINE Pair fast_two_sum(Real a, Real b) {
    Real s = a + b;
    return {s, b - (s - a)};
}

INLINE Pair halves(Real a) {
    Real c = a * 0x1.0000002p27, high = c - (c - a);
    return {high, a - high};
}

INLINE Pair two_product(Real a, Real b) {
    Real p = a * b;
    if constexpr (has_fma) return {p, fused(a, b, -p)};
    Pair x = halves(a), y = halves(b);
    return {p, ((x.high * y.high - p) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

INLINE Pair add(Pair a, Pair b) {
    Pair s = two_sum(a.high, b.high);
    return fast_two_sum(s.high, s.low + (a.low + b.low));
}

INLINE Pair multiply(Pair a, Pair b) {
    Pair p = two_product(a.high, b.high);
    return fast_two_sum(p.high, fused(a.high, b.low, fused(a.low, b.high, p.low)));
}

INLINE Pair multiply(Pair a, Real b) {
    Pair p = two_product(a.high, b);
    return fast_two_sum(p.high, fused(a.low, b, p.low));
}

// 1 / x to about 50 bits, for x and 1 / x well inside the range of doubles.
INLINE Real approximate_inverse(Real x) {
#if defined(__AVX512F__)
    Real r{_mm512_rcp14_pd(x.a), _mm512_rcp14_pd(x.b)};
    r = fused(r, fused(-x, r, 1), r);
    return fused(r, fused(-x, r, 1), r);
#else
    return 1 / x;
#endif
}

// 1 / x to about 28 bits.
INLINE Real rough_inverse(Real x) {
#if defined(__AVX512F__)
    Real r{_mm512_rcp14_pd(x.a), _mm512_rcp14_pd(x.b)};
    return fused(r, fused(-x, r, 1), r);
#else
    return 1 / x;
#endif
}

INLINE Pair divide(Pair a, Pair b) {
    Real inverse = approximate_inverse(b.high), q = a.high * inverse;
    Pair p = two_product(q, b.high);
    Real rest = ((a.high - p.high) - p.low) + (a.low - q * b.low);
    return fast_two_sum(q, rest * inverse);
}

// For positive a; zero gives zero.
INLINE Pair square_root(Pair a) {
    Real s = sqrt(a.high);
    Pair p = two_product(s, s);
    Real rest = ((a.high - p.high) - p.low) + a.low;
    Real low = rest * (0.5 * approximate_inverse(s));
    return {s, select(s == 0, 0, low)};
}

INLINE Real sum(Pair a) { return a.high + a.low; }

// c[first] + c[first + step] y + c[first + 2 step] y^2 ...
template <int first, int step, int count>
INLINE Real every(const double (&c)[count], Real y) {
    constexpr int last = first + (count - 1 - first) / step * step;
    Real result = c[last];
#pragma GCC unroll 16
    for (int k = last - step; k >= first; k -= step) result = fused(result, y, c[k]);
    return result;
}

// c[first] + c[first + 1] x + ...: Horner's rule on even and odd terms apart, which halves the
// chain of dependent operations.
template <int first = 0, int count>
INLINE Real polynomial(const double (&c)[count], Real x) {
    if constexpr (count - first < 4) {
        return every<first, 1>(c, x);
    } else {
        Real y = x * x;
        return fused(every<first + 1, 2>(c, y), x, every<first, 2>(c, y));
    }
}

// 2^k for the integer k that `shifted` = rounder + k holds, |k| <= 1022.
INLINE Real power_of_two(Real shifted) { return from_bits((bits_of(shifted) + 1023) << 52); }

// Whether the integer that `shifted` = rounder + k holds is odd.
INLINE Mask is_odd(Real shifted) { return from_bits((bits_of(shifted) & 1) << 62) > 1; }

// x * 2^k for -2100 < k < 2100, rounded once.
INLINE Real scale(Real x, Real shifted) {
#if defined(__AVX512F__)
    Real k = shifted - rounder;
    return {_mm512_scalef_pd(x.a, k.a), _mm512_scalef_pd(x.b, k.b)};
#else
    // Two factors, of which only the last can round.
    Bits k = bits_of(shifted), half = k >> 1;
    return x * from_bits((half + 1023) << 52) * from_bits((k - half + 1023) << 52);
#endif
}

// `x` moved into [low, high]; NaN stays NaN.
INLINE Real clamp(Real x, double low, double high) { return maximum(low, minimum(high, x)); }

}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
