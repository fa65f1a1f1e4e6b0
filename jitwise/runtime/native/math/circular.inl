// Sine, cosine and tangent.
//
// Sine and cosine are reduced by multiples of pi (Cody and Waite 1980), with pi in parts:
//     x = k pi + r,  |r| <= pi/2,  sin x = (-1)^k sin r.
// For the cosine k is half-odd.
//
// Included once per format: see elementary.h.

// Larger, infinite and NaN arguments go to the scalar functions: of tan, and of sine and cosine.
INLINE Mask beyond_reduction(Real x) { return !(absolute(x) <= reduction_limit); }
INLINE Mask beyond_turns(Real x) {
    return !(absolute(x) <= (has_fma ? turn_limit : reduction_limit));
}

// x - k c for a constant c in parts, as r.high + r.low.  The first difference is exact: x and k c
// agree in their leading bits.  So is each difference with a product k c[i] where it cancels, and
// where it does not, its rounding error is (the parts are short enough for k <= limit / c).
template <int count>
INLINE Pair subtract_multiple(Real x, Real k, const double (&c)[count], const double (&head)[2]) {
    Real a = has_fma ? fused(-k, c[0], x) : (x - k * head[0]) - k * head[1];
    Real low = 0;
#pragma GCC unroll 4
    for (int i = 1; i < count - 1; ++i) {
        Real product = k * c[i], b = a - product;
        low = low + ((a - b) - product);
        a = b;
    }
    return {a, fused(-k, c[count - 1], low)};
}

// sin r = r + r w, w a polynomial in r^2 - c: with c about 1 rounding errors of r^2 count little
// near pi/2, where r w is as large as half of the result, and little near 0.  At most 1.7 ulp,
// most of it from r, and never beyond 1: before the last rounding it is less than one.
INLINE Real sine_of_reduced(Real r) {
    using namespace coefficients;
    return fused(r, horner(sine_ratio, fused(r, r, -sine_centre[0])), r);
}

// x - k c for a constant c in three parts, where fma makes the first difference exact and rounds
// the others once.
INLINE Real subtract_multiple(Real x, Real k, const double (&c)[3]) {
    return fused(k, -c[2], fused(k, -c[1], fused(k, -c[0], x)));
}

// The same without fma, where products lose too much: r + r z p(z), rounding errors carried along.
// -0.13 is the slope of z p(z) near pi/2.
INLINE Real sine_of_reduced(Pair r) {
    using coefficients::sine_rest;
    Pair z = two_product(r.high, r.high);
    Real q = polynomial<1>(sine_rest, z.high);
    Real p = fused(z.high, q, sine_rest[0]);
    Real p_low = fused(z.high, q, sine_rest[0] - p);
    Real low = fused(-0.5 * z.high, r.low, r.low);
    Real w = z.high * p, w_low = fused(z.high, p_low, -0.13 * z.low);
    Pair product = two_product(r.high, w), s = fast_two_sum(r.high, product.high);
    return clamp(s.high + (s.low + (product.low + fused(r.high, w_low, low))), -1, 1);
}

INLINE Real sine_reduced(Real x, Real k) {
    using namespace coefficients;
    if constexpr (has_fma) return sine_of_reduced(subtract_multiple(x, k, pi_thirds));
    else return sine_of_reduced(subtract_multiple(x, k, pi_parts, pi_head));
}

INLINE Real sine(Real x) {
    Bits sign = bits_of(x);
    x = absolute(x);
    Real shifted = fused(x, coefficients::inverse_pi[0], rounder);
    Real result = sine_reduced(x, shifted - rounder);
    return with_sign(result, sign ^ (bits_of(shifted) << (word_bits - 1)));
}

INLINE Real cosine(Real x) {
    x = absolute(x);
    Real shifted = fused(x, coefficients::inverse_pi[0], 0.5) + rounder;
    Real result = sine_reduced(x, (shifted - rounder) - 0.5);
    return with_sign(result, bits_of(shifted) << (word_bits - 1));
}

// tan x for x = k pi/2 + r, |r| <= pi/4: sin r / cos r or, for odd k, -cos r / sin r, both as
// double-word numbers.
INLINE Real tangent_of_quotient(Pair r, Mask odd) {
    using namespace coefficients;
    Real z = r.high * r.high, half = 0.5 * z;
    Real s_rest = r.high * z * polynomial(sine_quarter, z);
    Pair s = fast_two_sum(r.high, fused(-half, r.low, r.low) + s_rest);
    // The rounding error of z / 2 is in the cosine's low part.
    Real z_low = fused(r.high, r.high, -z);
    Real c_rest = fused(z * z, polynomial(cosine_rest, z), -0.5 * z_low);
    Pair c = fast_two_sum(1, -half);
    c = fast_two_sum(c.high, c.low + fused(-r.high, r.low, c_rest));
    Pair top{select(odd, c.high, s.high), select(odd, c.low, s.low)};
    Pair bottom{select(odd, -s.high, c.high), select(odd, -s.low, c.low)};
    Real inverse = Real(1) / bottom.high, q = top.high * inverse;
    Pair back = two_product(q, bottom.high);
    Real rest = ((top.high - back.high) - back.low) + fused(-q, bottom.low, top.low);
    return fused(rest, inverse, q);
}

// The same for float32: r + r^3 P(r^2), or its negative inverse.
INLINE Real tangent_of_polynomial(Pair r, Mask odd) {
    using namespace coefficients;
    Real z = r.high * r.high;
    Pair t = fast_two_sum(r.high, fused(r.high * z, polynomial(tan_rest, z), r.low));
    Real inverse = Real(-1) / t.high;
    Real rest = fused(t.low, inverse, fused(t.high, inverse, 1));
    return select(odd, fused(rest, inverse, inverse), t.high);
}

// At ease x is not tiny.
INLINE Real tangent_at_ease(Real x) {
    using namespace coefficients;
    Real shifted = fused(x, two_over_pi[0], rounder);
    Pair r = subtract_multiple(x, shifted - rounder, half_pi_parts, half_pi_head);
    Mask odd = is_odd(shifted);
    if constexpr (mantissa_bits > 40) return tangent_of_quotient(r, odd);
    else return tangent_of_polynomial(r, odd);
}

INLINE Real tangent(Real x) { return select(absolute(x) < 0x1p-27, x, tangent_at_ease(x)); }
