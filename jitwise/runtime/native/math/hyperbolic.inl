// Hyperbolic functions and their inverses.
//
// Included once per format: see elementary.h.

// 1 - 2 / (e^2x + 1), and x + x^3 P(x^2) near zero, where that cancels.
INLINE Real tangent_hyperbolic(Real x) {
    Real magnitude = absolute(x), z = x * x;
    Real twice = clamp(magnitude, 0, 22) * 2;
#if JITWISE_HAS_LOOKUP
    Sixteenth e = reduce_to_sixteenth(twice);
    Real power = scale_by(e.power, e.k), d = fused(power, e.rest, power + 1);
#else
    Exponent e = reduce_exponent(twice);
    Real rest = fused(e.r * e.r, polynomial(coefficients::expm1, e.r), e.low);
    Real power = power_of_two(e.shifted), d = fused(power, e.r + rest, power + 1);
#endif
    Real large = fused(-2, Real(1) / d, 1);
    Real small = fused(magnitude * z, polynomial(coefficients::tanh_rest, z), magnitude);
    return with_sign(select(magnitude < 0.55, small, large), bits_of(x));
}

// With q = e^|x| / 4:  sinh |x| = 2 q - 1 / (8 q),  cosh x = 2 q + 1 / (8 q).  Below 1 the sinh is
// x + x^3 P(x^2). At ease |x| is at most quarter_limit.
INLINE Real sine_hyperbolic_at_ease(Real x) {
    Real magnitude = absolute(x), z = x * x;
    Real small = fused(x * z, polynomial(coefficients::sinh_rest, z), x);
    Mask far = magnitude >= 1;
    if (!any(far)) return small;
    Pair q = quarter_exponential(magnitude);
    Real r = 0.0625 / q.high;
    Pair s = fast_two_sum(q.high, -r);
    Real large = s.high + (s.low + q.low);
    return select(far, with_sign(large + large, bits_of(x)), small);
}
INLINE Real sine_hyperbolic(Real x) {
    return sine_hyperbolic_at_ease(clamp(x, -quarter_limit, quarter_limit));
}

INLINE Real cosine_hyperbolic_at_ease(Real x) {
    Pair q = quarter_exponential(absolute(x));
    Real r = 0.0625 / q.high;
    Real result = q.high + (q.low + r);
    return result + result;
}
INLINE Real cosine_hyperbolic(Real x) {
    return cosine_hyperbolic_at_ease(clamp(x, -quarter_limit, quarter_limit));
}

// |x| + sqrt(x^2 + 1) as a double-word number, for |x| <= 2^28.
INLINE Pair exponential_of_inverse_sine(Real a) {
    Pair square = two_product(a, a), o = two_sum(1, square.high);
    Pair root = square_root_of_positive({o.high, o.low + square.low});
    Pair u = fast_two_sum(root.high, a);
    return {u.high, u.low + root.low};
}

// asinh x = log(|x| + sqrt(x^2 + 1)).
INLINE Real inverse_sine_hyperbolic_at_ease(Real x) {
    Real a = absolute(x), result = logarithm_of_pair(exponential_of_inverse_sine(a), 0);
    return select(a < cube_negligible, x, with_sign(result, bits_of(x)));
}

INLINE Real inverse_sine_hyperbolic(Real x) {
    Real a = absolute(x);
    Mask huge = a > 0x1p28;
    Pair u = exponential_of_inverse_sine(select(huge, 1, a));
    u = {select(huge, a, u.high), select(huge, 0, u.low)};
    Real result = logarithm_of_pair(u, select(huge, 1, 0));
    result = select(a < infinity, result, a);
    return select(a < cube_negligible, x, with_sign(result, bits_of(x)));
}

// acosh x = log(x + sqrt(x^2 - 1)), for 1 < x < inf.
INLINE Real inverse_cosine_hyperbolic_at_ease(Real x) {
    Mask huge = x > 0x1p28;
    Real inside = select(huge, 2, x);
    Pair square = two_product(inside, inside), o = two_sum(square.high, -1);
    Pair root = square_root_of_positive(fast_two_sum(o.high, o.low + square.low));
    Pair u = fast_two_sum(inside, root.high);
    u = {select(huge, x, u.high), select(huge, 0, u.low + root.low)};
    return logarithm_of_pair(u, select(huge, 1, 0));
}

INLINE Real inverse_cosine_hyperbolic(Real x) {
    Real result = select(x < infinity, inverse_cosine_hyperbolic_at_ease(x), x);
    result = select(x == 1, 0, result);
    return select(x < 1, not_a_number, result);
}

// atanh x = log((1 + x) / (1 - x)) / 2, for |x| < 1.
INLINE Real inverse_tangent_hyperbolic_at_ease(Real x) {
    Real a = absolute(x);
#if JITWISE_HAS_LOOKUP
    return with_sign(inverse_tangent_hyperbolic_of_magnitude(a), bits_of(x));
#else
    Pair u = divide(fast_two_sum(1, a), fast_two_sum(1, -a));
    Real result = with_sign(0.5 * logarithm_of_pair(u, 0), bits_of(x));
    return select(a < cube_negligible, x, result);
#endif
}

INLINE Real inverse_tangent_hyperbolic(Real x) {
    Real a = absolute(x);
    Real result = inverse_tangent_hyperbolic_at_ease(select(a < 1, x, 0.5));
    Real edge = select(a == 1, with_sign(infinity, bits_of(x)), not_a_number);
    return select(a < 1, result, edge);
}
