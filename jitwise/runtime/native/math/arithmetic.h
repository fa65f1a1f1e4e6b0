// Bits, rounding and double-word arithmetic that the functions are written in.
//
// A double-word number is an unevaluated sum high + low of two doubles with |low| <= ulp(high)/2
// (about 106 bits).  Sums and products are the classical error-free transformations (Dekker 1971,
// Knuth TAOCP 4.2.2).  Everything is branch-free, so that loops over it become vector code.
// Included inside the namespace of a variant: no include guard problem, no shared inline code.
#pragma once

#include <cstdint>

#define INLINE static inline __attribute__((always_inline))

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {

#if defined(__FMA__) || defined(__aarch64__)
constexpr bool has_fma = true;
#else
constexpr bool has_fma = false;
#endif

constexpr double infinity = __builtin_inf();
constexpr double not_a_number = __builtin_nan("");
constexpr uint64_t sign_bit = 0x8000000000000000u;

// Adding it to |x| < 2^51 leaves the nearest integer in the low bits of the sum.
constexpr double rounder = 0x1.8p52;

INLINE uint64_t bits_of(double x) { return __builtin_bit_cast(uint64_t, x); }
INLINE double from_bits(uint64_t b) { return __builtin_bit_cast(double, b); }
INLINE double absolute(double x) { return from_bits(bits_of(x) & ~sign_bit); }
INLINE double with_sign(double magnitude, uint64_t sign) {
    return from_bits(bits_of(magnitude) ^ (sign & sign_bit));
}

// a * b + c with one rounding where the machine has it; where it matters, callers ask has_fma.
INLINE double fused(double a, double b, double c) {
    if constexpr (has_fma) return __builtin_fma(a, b, c);
    return a * b + c;
}

struct Pair {
    double high, low;
};

INLINE Pair two_sum(double a, double b) {
    double s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}

// Needs |a| >= |b| or a == 0.
INLINE Pair fast_two_sum(double a, double b) {
    double s = a + b;
    return {s, b - (s - a)};
}

INLINE Pair halves(double a) {
    double c = a * 0x1.0000002p27, high = c - (c - a);
    return {high, a - high};
}

INLINE Pair two_product(double a, double b) {
    double p = a * b;
    if constexpr (has_fma) return {p, __builtin_fma(a, b, -p)};
    Pair x = halves(a), y = halves(b);
    return {p, ((x.high * y.high - p) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

INLINE Pair multiply(Pair a, Pair b) {
    Pair p = two_product(a.high, b.high);
    return fast_two_sum(p.high, fused(a.high, b.low, fused(a.low, b.high, p.low)));
}

INLINE Pair multiply(Pair a, double b) {
    Pair p = two_product(a.high, b);
    return fast_two_sum(p.high, fused(a.low, b, p.low));
}

INLINE Pair divide(Pair a, Pair b) {
    double inverse = 1 / b.high, q = a.high * inverse;
    Pair p = two_product(q, b.high);
    double rest = ((a.high - p.high) - p.low) + (a.low - q * b.low);
    return fast_two_sum(q, rest * inverse);
}

INLINE double sum(Pair a) { return a.high + a.low; }

// c[first] + c[first + 1] x + ...
template <int first = 0, int count>
INLINE double polynomial(const double (&c)[count], double x) {
    double result = c[count - 1];
#pragma GCC unroll 16
    for (int k = count - 2; k >= first; --k) result = fused(result, x, c[k]);
    return result;
}

// 2^k for the integer k that `shifted` = rounder + k holds, |k| <= 1022.
INLINE double power_of_two(double shifted) { return from_bits((bits_of(shifted) + 1023) << 52); }

// x * 2^k for -2100 < k < 2100, rounded once: two factors, of which only the last can round.
INLINE double scale(double x, double shifted) {
    uint64_t k = bits_of(shifted), half = k >> 1;
    return x * from_bits((half + 1023) << 52) * from_bits((k - half + 1023) << 52);
}

// `x` moved into [low, high]; NaN stays NaN.
INLINE double clamp(double x, double low, double high) {
    x = x > high ? high : x;
    return x < low ? low : x;
}

}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
