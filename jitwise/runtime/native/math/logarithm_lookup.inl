// Logarithms with tables of sixteen numbers in registers: no division, short polynomials.
//
//     x = 2^k (1 + r) / c,   c = 1, 17/16, ... 31/16,   |r| <= 1/32
//     log x = k log 2 - log c + log1p r,   log1p r = r - r^2 / 2 + r^3 P(r)
//
// The high part of k log 2 - log c is exact, and zero where x is near 1, for there c is 1 and k 0.
//
// Included once per format: see elementary.h.

struct Near {
    Real exponent;  // of x
    Real k, c, r;   // c here in [1/2, 1]: its mantissa is the c above
    Bits index;     // of c, modulo 16
};

// For a positive, finite x; r is exact. Garbage (but no trap) for others.
INLINE Near reduce_near_one(Real x) {
    Real m = mantissa_of(x), c = rounded_to_32nd(reciprocal_estimate(m)), e = exponent_of(x);
    return {e, e - exponent_of(c), c, fused(m, c, -1), bits_of(c) >> (mantissa_bits - 4)};
}

// log1p r - r.
INLINE Real log1p_tail(Real r) {
    return r * r * fused(r, polynomial(coefficients::log1p_rest, r), -0.5);
}

INLINE Real finish_logarithm(Near n, Real r) {
    using namespace coefficients;
    Real high = fused(n.k, ln2_short[0], lookup(log_sixteenths, n.index));
    Real low = fused(n.k, ln2_short[1], lookup(log_sixteenths_low, n.index));
    Real tail = fused(r * r, fused(r, polynomial(log1p_rest, r), -0.5), low);
    Pair s = fast_two_sum(high, r);
    return s.high + (s.low + tail);
}

INLINE Real logarithm_at_ease(Real x) {
    Near n = reduce_near_one(x);
    return finish_logarithm(n, n.r);
}

// log of 2^extra (u.high + u.low), u.high positive; accurate near u = 1 as well, where only the
// distance from 1 counts.
INLINE Real logarithm_of_pair(Pair u, Real extra) {
    Near n = reduce_near_one(u.high);
    n.k = n.k + extra;
    return finish_logarithm(n, n.r + scale_by(u.low * n.c, -n.exponent));
}

// log(x) in another base, of which `c` is the inverse of the natural logarithm: `high` and `low`,
// of k and the table, are in that base.
INLINE Real scaled_logarithm(Near n, Real high, Real low, const double (&c)[2]) {
    Pair p = two_product(n.r, c[0]);
    low = fused(n.r, c[1], p.low + low);
    Pair s = fast_two_sum(high, p.high);
    return s.high + (s.low + fused(log1p_tail(n.r), c[0], low));
}

INLINE Real logarithm_base_two_at_ease(Real x) {
    using namespace coefficients;
    Near n = reduce_near_one(x);
    Real high = n.k + lookup(log2_sixteenths, n.index);
    return scaled_logarithm(n, high, lookup(log2_sixteenths_low, n.index), ln2_inverse);
}

INLINE Real logarithm_base_ten_at_ease(Real x) {
    using namespace coefficients;
    Near n = reduce_near_one(x);
    Real high = fused(n.k, log10_2[0], lookup(log10_sixteenths, n.index));
    Real low = fused(n.k, log10_2[1], lookup(log10_sixteenths_low, n.index));
    return scaled_logarithm(n, high, low, ln10_inverse);
}

// log2 of a positive finite x as a sum of two numbers, to about 2^-64: r - r^2 / 2 and the product
// with 1 / ln 2 are double-word; r^3 P(r) is in the low part, which may be 2^-12 of the high one.
INLINE Pair logarithm_base_two_pair(Real x) {
    using namespace coefficients;
    Near n = reduce_near_one(x);
    Real high = n.k + lookup(log2_sixteenths, n.index);
    Pair half = two_product(0.5 * n.r, n.r), log = fast_two_sum(n.r, -half.high);
    Real cube = (half.high + half.high) * n.r;
    log.low = fused(cube, polynomial(log1p_precise, n.r), log.low - half.low);
    Pair p = two_product(log.high, ln2_inverse[0]);
    Real low = fused(log.high, ln2_inverse[1], fused(log.low, ln2_inverse[0], p.low));
    Pair s = fast_two_sum(high, p.high);
    return {s.high, s.low + (low + lookup(log2_sixteenths_low, n.index))};
}

// atanh a = log((1 + a) / (1 - a)) / 2 for 0 <= a < 1. With c near (1 - a) / (1 + a), to five bits,
//     log((1 + a) / (1 - a)) = -log c + 2 atanh t,   t = ((1 + a) c - (1 - a)) / ((1 + a) c + (1 - a))
// and |t| <= 1/64.
INLINE Real inverse_tangent_hyperbolic_of_magnitude(Real a) {
    using namespace coefficients;
    constexpr Word half_unit = Word(1) << (mantissa_bits - 5);
    Pair p = fast_two_sum(1, a), q = fast_two_sum(1, -a);
    Bits rounded = bits_of(q.high * reciprocal_estimate(p.high)) + half_unit;
    Real c = from_bits(rounded & ~(2 * half_unit - 1)), k = exponent_of(c);
    Bits index = bits_of(c) >> (mantissa_bits - 4);
    Real top = fused(p.high, c, -q.high) + fused(p.low, c, -q.low);
    Real bottom = fused(p.high, c, q.high), inverse = Real(1) / bottom;
    Real t = top * inverse, t_low = fused(t, -bottom, top) * inverse, z = t * t;
    Real s = t + t, tail = fused(t * z, polynomial(atanh_close, z), t_low + t_low);
    Real high = fused(k, -ln2_short[0], lookup(log_sixteenths, index));
    Real low = fused(k, -ln2_short[1], lookup(log_sixteenths_low, index));
    Pair sum = fast_two_sum(high, s);
    return 0.5 * (sum.high + (sum.low + (tail + low)));
}
