// Inverse circular functions.
//
// The arc tangent of a ratio is reduced to |t| <= tan(pi/8):
//     small ratio   t = b / a               angle = atan t
//     middle        t = (b - a) / (b + a)   angle = pi/4 + atan t
//     large         t = -a / b              angle = pi/2 + atan t
// The arc sine uses asin x = pi/2 - 2 asin(sqrt((1 - x) / 2)) above 1/2.
//
// Included once per format: see elementary.h.

constexpr double tan_eighth = 0.41421356237309503;
constexpr double tan_three_eighths = 2.414213562373095;

INLINE Real finish_turn(Pair t, Pair offset) {
    Real z = t.high * t.high;
    Real rest = fused(t.high * z, polynomial(coefficients::atan_rest, z), t.low);
    Pair s = fast_two_sum(offset.high, t.high);
    return s.high + (s.low + (rest + offset.low));
}

// For b - 1 and b + 1 rounding is harmless: t is small beside pi/4 or they are nearly exact.
INLINE Real arc_tangent_at_ease(Real x) {
    using namespace coefficients;
    Real b = minimum(0x1p60, absolute(x)), zero = 0;
    Mask middle = b > tan_eighth, large = b > tan_three_eighths;
    Real top = select(large, -1, select(middle, b - 1, b));
    Real bottom = select(large, b, select(middle, b + 1, 1));
    Real inverse = Real(1) / bottom, t = top * inverse;
    Pair back = two_product(t, bottom);
    Real t_low = ((top - back.high) - back.low) * inverse;
    Pair offset{select(large, half_pi[0], select(middle, quarter_pi[0], zero)),
                select(large, half_pi[1], select(middle, quarter_pi[1], zero))};
    return with_sign(finish_turn({t, t_low}, offset), bits_of(x));
}

INLINE Real arc_tangent(Real x) {
    return select(absolute(x) < 0x1p-28, x, arc_tangent_at_ease(x));
}

INLINE Mask is_negative(Real x) { return with_sign(1, bits_of(x)) < 0; }

struct HalfAngle {
    Mask outer;      // |x| > 1/2
    Pair s;          // |x|, or sqrt((1 - |x|) / 2)
    Real rest;       // asin(s) - s.high
};

INLINE HalfAngle half_angle(Real x) {
    Real a = absolute(x);
    Mask outer = a > 0.5;
    Real z = select(outer, fused(-0.5, a, 0.5), a * a);
    Pair root = square_root({z, 0});
    Real s = select(outer, root.high, a), s_low = select(outer, root.low, 0);
    return {outer, {s, s_low}, fused(s * z, polynomial(coefficients::asin_rest, z), s_low)};
}

INLINE Real arc_sine(Real x) {
    using namespace coefficients;
    HalfAngle h = half_angle(x);
    Pair s = fast_two_sum(half_pi[0], -2 * h.s.high);
    Real outer = s.high + (s.low + fused(-2, h.rest, half_pi[1]));
    return with_sign(select(h.outer, outer, h.s.high + h.rest), bits_of(x));
}

INLINE Real arc_cosine(Real x) {
    using namespace coefficients;
    HalfAngle h = half_angle(x);
    // Inside: pi/2 - asin x.  Outside: 2 asin s, or pi minus that.
    Mask negative = is_negative(x);
    Real factor = select(h.outer, select(negative, -2, 2), select(negative, 1, -1));
    Real base = select(h.outer, select(negative, pi[0], 0), half_pi[0]);
    Real base_low = select(h.outer, select(negative, pi[1], 0), half_pi[1]);
    Pair s = fast_two_sum(base, factor * h.s.high);
    return s.high + (s.low + fused(factor, h.rest, base_low));
}
