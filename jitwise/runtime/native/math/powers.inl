// Positive powers and the cube root.
//
// Included once per format: see elementary.h.

// a^b = 2^(b log2 a) for positive, finite, normal a and finite b.
INLINE Pair power_exponent(Real a, Real b) {
    Pair log = logarithm_base_two_pair(a);
    Pair p = two_product(b, log.high);
    return {p.high, fused(b, log.low, p.low)};
}
INLINE Real power(Real a, Real b) { return exponential_base_two(power_exponent(a, b)); }
// The same where neither overflows nor underflows.
INLINE Real power_at_ease(Real a, Real b) {
    return exponential_base_two_at_ease(power_exponent(a, b));
}

// cbrt(2^(3q + r) m) = 2^q cbrt(2^r m), r in {-1, 0, 1}: a polynomial gives y to 16 bits, and from
// e = y^3 / (2^r m) - 1 follows the root y (1 + e)^(-1/3).
INLINE Real cube_root_at_ease(Real x) {
    using namespace coefficients;
    Scaled n = split_exponent_subnormal(absolute(x));
    Real shifted = fused(n.k, 1.0 / 3, rounder);
    Real r = fused(rounder - shifted, 3, n.k);
    Real m = n.m * select(r > 0, 2, select(r < 0, 0.5, 1));
    Real y = polynomial(cbrt_start, n.m);
    y = y * select(r > 0, cbrt_2[0], select(r < 0, cbrt_half[0], 1));
    Real rest;  // y^3 - 2^r m
    if constexpr (has_fma && mantissa_bits > 40) {
        // With 17 bits of y its square is exact.
        y = from_bits(bits_of(y) & ~((Word(1) << (mantissa_bits / 2 + 10)) - 1));
        rest = fused(y * y, y, -m);
    } else {
        Pair square = two_product(y, y), cube = two_product(square.high, y);
        rest = (cube.high - m) + fused(square.low, y, cube.low);
    }
    Real e = rest / m;
    Real step = e * fused(e, fused(e, 14.0 / 81, -2.0 / 9), 1.0 / 3);
    return with_sign(fused(-y, step, y) * power_of_two(shifted), bits_of(x));
}

INLINE Real cube_root(Real x) {
    Real magnitude = absolute(x);
    Mask ordinary = (magnitude > 0) & (magnitude < infinity);
    return select(ordinary, cube_root_at_ease(x), x);
}

