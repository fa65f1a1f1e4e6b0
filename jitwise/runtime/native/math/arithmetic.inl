// Bits, rounding and double-word arithmetic that the functions are written in.
//
// A double-word number is an unevaluated sum high + low of two numbers with |low| <= ulp(high)/2
// (106 bits or 48).  Sums and products are the classical error-free transformations (Dekker 1971,
// Knuth TAOCP 4.2.2).
//
// Included once per format: see elementary.h.

constexpr double infinity = __builtin_inf();
constexpr double not_a_number = __builtin_nan("");
constexpr Word sign_bit = Word(1) << (word_bits - 1);

INLINE Real absolute(Real x) { return from_bits(bits_of(x) & ~sign_bit); }
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

// Veltkamp's splitting; for doubles only, since only they are computed without fma.
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

INLINE Pair divide(Pair a, Pair b) {
    Real inverse = Real(1) / b.high, q = a.high * inverse;
    Pair p = two_product(q, b.high);
    Real rest = ((a.high - p.high) - p.low) + (a.low - q * b.low);
    return fast_two_sum(q, rest * inverse);
}

INLINE Pair square_root_of_positive(Pair a) {
    Real s = sqrt(a.high);
    Pair p = two_product(s, s);
    Real rest = ((a.high - p.high) - p.low) + a.low;
    return {s, rest * (0.5 / s)};
}

// Zero gives zero.
INLINE Pair square_root(Pair a) {
    Pair root = square_root_of_positive(a);
    return {root.high, select(root.high == 0, 0, root.low)};
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

// Horner's rule: the fewest operations.
template <int count>
INLINE Real horner(const double (&c)[count], Real x) {
    return every<0, 1>(c, x);
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

// 2^k for the integer k that `shifted` = rounder + k holds, |k| < exponent_bias.
INLINE Real power_of_two(Real shifted) { return from_bits((bits_of(shifted) + exponent_bias) << mantissa_bits); }

// Whether the integer that `shifted` = rounder + k holds is odd.
INLINE Mask is_odd(Real shifted) { return from_bits((bits_of(shifted) & 1) << (word_bits - 2)) > 1; }

// x * 2^k for |k| < 2 exponent_bias, rounded once.
INLINE Real scale(Real x, Real shifted) {
#if defined(__AVX512F__)
    return scale_by(x, shifted - rounder);
#else
    // Two factors, of which only the last can round.
    Bits k = bits_of(shifted), half = k >> 1;
    Bits rest = k - half;
    return x * from_bits((half + exponent_bias) << mantissa_bits) *
           from_bits((rest + exponent_bias) << mantissa_bits);
#endif
}

// `x` moved into [low, high]; NaN stays NaN.
INLINE Real clamp(Real x, double low, double high) { return maximum(low, minimum(high, x)); }
