// The exponential family: exp, exp2, expm1.
//
//     e^x = 2^k e^r,   k = round(x / ln 2),   |r| <= ln(2) / 2,   e^r = 1 + r + r^2 Q(r)
//
// Included once per format: see elementary.h.

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

#if JITWISE_HAS_LOOKUP
// e^x = 2^k power (1 + rest) with k - floor(k) in sixteenths, power = 2^(k - floor(k)).
struct Sixteenth {
    Real k, power, power_low, rest;
};

INLINE Sixteenth reduce_to_sixteenth(Real x) {
    using namespace coefficients;
    // The last four bits of `shifted` are the fraction of k.
    Real shifted = fused(x, ln2_inverse[0], rounder / 16), k = shifted - rounder / 16;
    Real r = fused(k, -ln2_parts[1], fused(k, -ln2_parts[0], x));
    Bits index = bits_of(shifted);
    return {k, lookup(exp2_sixteenths, index), lookup(exp2_sixteenths_low, index),
            fused(r * r, horner(expm1_sixteenth, r), r)};
}
#endif

// e^x.
INLINE Real exponential(Real x) {
    using namespace coefficients;
    x = clamp(x, exponential_low, exponential_high);
#if JITWISE_HAS_LOOKUP
    Sixteenth e = reduce_to_sixteenth(x);
    return scale_by(fused(e.power, e.rest, e.power), e.k);
#else
    Real shifted = fused(x, ln2_inverse[0], rounder), k = shifted - rounder;
    Real r = fused(k, -ln2_short[1], fused(k, -ln2_short[0], x));
    return scale(fused(r, fused(r, polynomial(expm1, r), 1), 1), shifted);
#endif
}

// 2^x.
INLINE Real exponential_base_two(Real x) {
    using namespace coefficients;
    x = clamp(x, -base_two_limit, base_two_limit);
    Real shifted = x + rounder, f = x - (shifted - rounder);
    Pair r = two_product(f, ln2[0]);
    Real rest = fused(r.high * r.high, polynomial(expm1, r.high), fused(f, ln2[1], r.low));
    return scale(1 + (r.high + rest), shifted);
}

// 2^(high + low), for sums of at most base_two_limit; `low` need not be small.
INLINE Real exponential_base_two_at_ease(Pair p) {
    using namespace coefficients;
#if JITWISE_HAS_LOOKUP
    Real shifted = sum(p) + rounder / 16, k = shifted - rounder / 16;
    Real r = ((p.high - k) + p.low) * ln2[0];
    Real rest = fused(r * r, horner(expm1_sixteenth, r), r);
    Bits index = bits_of(shifted);
    Real power = lookup(exp2_sixteenths, index), low = lookup(exp2_sixteenths_low, index);
    return scale_by(power + fused(power, rest, low), k);
#else
    Real shifted = sum(p) + rounder, r = ((p.high - (shifted - rounder)) + p.low) * ln2[0];
    Real rest = (r * r) * polynomial(expm1, r);
    return scale(1 + (r + rest), shifted);
#endif
}

INLINE Real exponential_base_two(Pair p) {
    Real all = sum(p), x = clamp(all, -base_two_limit, base_two_limit);
    Mask inside = x == all;
    return exponential_base_two_at_ease(
        {select(inside, p.high, x), select(inside, p.low, 0)});
}

// e^x / 4 as a double-word number, for 0 <= x <= quarter_limit.
INLINE Pair quarter_exponential(Real x) {
#if JITWISE_HAS_LOOKUP
    Sixteenth e = reduce_to_sixteenth(x);
    Real high = fused(e.power, e.rest, e.power);
    Real low = fused(e.power, e.rest, e.power - high) + e.power_low;
    return {scale_by(high, e.k - 2), scale_by(low, e.k - 2)};
#else
    Exponent e = reduce_exponent(x);
    Real rest = fused(e.r * e.r, polynomial(coefficients::expm1, e.r), e.low);
    Pair p = fast_two_sum(e.r, rest), s = fast_two_sum(1, p.high);
    Real power = power_of_two(e.shifted - 2);
    return {power * s.high, power * (s.low + p.low)};
#endif
}

// 2^k (1 + p) - 1, computed at half size so that the largest numbers does not overflow too early.
INLINE Real exponential_minus_one(Real x) {
    Exponent e = reduce_exponent(clamp(x, -60.0, exponential_high));
    Real rest = fused(e.r * e.r, polynomial(coefficients::expm1, e.r), e.low);
    Pair p = fast_two_sum(e.r, rest);
    Real power = power_of_two(e.shifted - 1);
    Real half = fused(power, p.low, fused(power, p.high, power - 0.5));
    return select(absolute(x) < 0x1p-54, x, half + half);
}
