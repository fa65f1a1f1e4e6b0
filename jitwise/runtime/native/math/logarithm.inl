// The logarithm family: log, log2, log10, log1p, and the double-word logarithm that power needs.
//
//     x = 2^k m,   sqrt(1/2) <= m < sqrt(2),   f = m - 1,   s = f / (2 + f)
//     log m = 2 atanh s = f - s (f - z R(z)),   z = s^2
//
// Where tables fit into registers the reduction is another one: see logarithm_lookup.inl. The names
// in `at_ease` are for positive, finite, normal arguments.
//
// Included once per format: see elementary.h.

struct Scaled {
    Real k, m;
};

// k and m of a positive, finite, normal x; garbage (but no trap) for others.
INLINE Scaled split_exponent(Real x) {
#if defined(__AVX512F__)
    Real m = mantissa_of(x), k = exponent_of(x);
    Mask large = m > 0x1.6a09e667f3bcdp0;
    return {select(large, k + 1, k), select(large, m * 0.5, m)};
#else
    constexpr Word bias = exponent_bias + 1;
    Bits b = bits_of(x), k = (b - root_half_bits + (bias << mantissa_bits)) >> mantissa_bits;
    Real exponent = from_bits(k | integer_bits) - (largest_integer + bias);
    return {exponent, from_bits(b - ((k - bias) << mantissa_bits))};
#endif
}

INLINE Scaled split_exponent_subnormal(Real x) {
#if defined(__AVX512F__)
    return split_exponent(x);
#else
    constexpr double up = 4 * largest_integer;
    Mask tiny = x < smallest_normal;
    Scaled s = split_exponent(select(tiny, x * up, x));
    return {select(tiny, s.k - (mantissa_bits + 2), s.k), s.m};
#endif
}

#if JITWISE_HAS_LOOKUP
#include "logarithm_lookup.inl"
#else
INLINE Real logarithm_at_ease(Real x) {
    using namespace coefficients;
    Scaled n = split_exponent_subnormal(x);
    Real f = n.m - 1, s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    Real rest = z * polynomial(atanh, z);
    Real low = fused(s, half + rest, n.k * ln2_short[1]);
    return fused(n.k, ln2_short[0], -((half - low) - f));
}

// log of 2^extra (u.high + u.low), u.high positive and normal; accurate near u = 1 as well, where
// only the distance from 1 counts.
INLINE Real logarithm_of_pair(Pair u, Real extra) {
    using namespace coefficients;
    Scaled n = split_exponent(u.high);
    Real f = n.m - 1, s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    Real rest = z * polynomial(atanh, z);
    // u.low / u.high to a few per cent; where u is large it does not matter.
    Real down = power_of_two(rounder - minimum(n.k, 100));
    Real correction = u.low * down * (1 - s) * (1 - s);
    Real k = n.k + extra;
    Real low = fused(s, half + rest, fused(k, ln2_short[1], correction));
    return fused(k, ln2_short[0], f - (half - low));
}

// log(x) * (c[0] + c[1]) + k * (step[0] + step[1]), for base 2 and base 10.
INLINE Real scaled_logarithm(Real x, const double (&c)[2], double step, double step_low) {
    using namespace coefficients;
    Scaled n = split_exponent_subnormal(x);
    Real f = n.m - 1, s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    Real rest = z * polynomial(atanh, z);
    Pair log = fast_two_sum(f, -half);
    log = {log.high, fused(s, half + rest, log.low)};
    Pair p = two_product(log.high, c[0]);
    Real low = fused(log.high, c[1], fused(log.low, c[0], p.low));
    Pair r = fast_two_sum(n.k * step, p.high);
    return r.high + (r.low + fused(n.k, step_low, low));
}

INLINE Real logarithm_base_two_at_ease(Real x) {
    return scaled_logarithm(x, coefficients::ln2_inverse, 1, 0);
}

INLINE Real logarithm_base_ten_at_ease(Real x) {
    using namespace coefficients;
    return scaled_logarithm(x, ln10_inverse, log10_2[0], log10_2[1]);
}

// log2 of a positive finite normal x as a double-word number, to about 2^-66.  With z = s^2,
//     log2 m = s (c0 + z (c1 + z R(z))),   c0 = 2 / ln 2,   c1 = c0 / 3,
// where all but R are double-word.  Low parts are not normalised in between: they stay small.
INLINE Pair logarithm_base_two_pair(Real x) {
    using namespace coefficients;
    Scaled n = split_exponent(x);
    Real f = n.m - 1;
    Pair d = fast_two_sum(2, f);
    Real inverse = Real(1) / d.high, s = f * inverse;
    Pair back = two_product(s, d.high);
    Real s_low = (((f - back.high) - back.low) - s * d.low) * inverse;
    Pair z = two_product(s, s);
    z.low = fused(s + s, s_low, z.low);
    Real tail = z.high * polynomial(atanh_third_base_two, z.high);
    Pair c = fast_two_sum(two_thirds_over_ln2[0], tail);
    Real c_low = c.low + two_thirds_over_ln2[1];
    Pair w = two_product(z.high, c.high);
    Real w_low = fused(z.high, c_low, fused(z.low, c.high, w.low));
    Pair t = fast_two_sum(two_over_ln2[0], w.high);
    Real t_low = t.low + (w_low + two_over_ln2[1]);
    Pair log = two_product(s, t.high);
    Real log_low = fused(s, t_low, fused(s_low, t.high, log.low));
    Pair r = fast_two_sum(n.k, log.high);
    return {r.high, r.low + log_low};
}
#endif

// What a logarithm gives outside (0, inf).
INLINE Real logarithm_edges(Real x, Real result) {
    result = select(x < infinity, result, x);  // inf and nan
    result = select(x == 0, -infinity, result);
    return select(x < 0, not_a_number, result);
}

INLINE Real logarithm(Real x) { return logarithm_edges(x, logarithm_at_ease(x)); }

INLINE Real logarithm_base_two(Real x) {
    return logarithm_edges(x, logarithm_base_two_at_ease(x));
}

INLINE Real logarithm_base_ten(Real x) {
    return logarithm_edges(x, logarithm_base_ten_at_ease(x));
}

// log(1 + x) for -1 < x < inf.
INLINE Real logarithm_plus_one_at_ease(Real x) {
    return select(absolute(x) < 0x1p-54, x, logarithm_of_pair(two_sum(1, x), 0));
}

INLINE Real logarithm_plus_one(Real x) {
    Real result = logarithm_plus_one_at_ease(select(x > -1, x, 1));
    result = select(x < infinity, result, x);
    result = select(x == -1, -infinity, result);
    return select(x < -1, not_a_number, result);
}
