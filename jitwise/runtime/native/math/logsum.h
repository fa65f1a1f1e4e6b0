// logaddexp and logaddexp2: log(e^a + e^b) = high + log(1 + e^(low - high)).
//
// For high < 0 the two terms may cancel, so both are double-word numbers with an absolute error of
// about 2^-57.  That is enough down to results of 2^-5.  Smaller ones are log1p(e^a + e^b - 1) with
// exponentials of 100 bits, computed aside. Of equal operands the sum is a + log 2: one addition,
// and no element of such a vector needs more.
#pragma once

#include "elementary.h"
#include "loops.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {
namespace wide {

// log of u.high + u.low in [1, 2] as a double-word number.
INLINE Pair logarithm_pair_up_to_two(Pair u) {
    using namespace coefficients;
    Mask upper = u.high > 0x1.6a09e667f3bcdp0;
    Real scale_down = select(upper, 0.5, 1), f = u.high * scale_down - 1;
    Real s = f / (2 + f), z = s * s;
    Pair square = two_product(f, f);
    Real half = 0.5 * square.high, rest = z * polynomial(atanh, z);
    Real correction = u.low * scale_down * (1 - s) * (1 - s);
    Pair near = fast_two_sum(f, -half);
    Pair sum = fast_two_sum(select(upper, ln2_short[0], 0), near.high);
    Real low = fused(s, half + rest, fused(-0.5, square.low, near.low + correction));
    return fast_two_sum(sum.high, low + (sum.low + select(upper, ln2_short[1], 0)));
}

struct Ordered {
    Real high;
    Pair difference;  // low - high, at least -700
    Mask far;         // it was below -700
};

INLINE Ordered order(Real a, Real b) {
    Real high = maximum(a, b);
    Pair d = two_sum(minimum(a, b), -high);
    Mask near = d.high > -700;
    return {high, {select(near, d.high, -700), select(near, d.low, 0)}, !near};
}

// Infinities, NaN, and the far case, where the sum is `high` (never -0).
INLINE Real finish_sum(Real a, Real b, Ordered o, Pair log) {
    Pair s = two_sum(o.high, log.high);
    Real result = select(o.far, o.high + 0.0, s.high + (s.low + log.low));
    result = select(absolute(o.high) == infinity, o.high, result);
    return select((a == a) & (b == b), result, not_a_number);
}

// log(2 e^a)
INLINE Real log_of_twice(Real a) {
    Pair s = two_sum(a, coefficients::ln2[0]);
    return select(absolute(a) < infinity, s.high + (s.low + coefficients::ln2[1]), a);
}

INLINE Real log_sum(Real a, Real b) {
    Ordered o = order(a, b);
    Exponent e = reduce_exponent(o.difference.high);
    Real rest = fused(e.r * e.r, polynomial(coefficients::expm1, e.r), e.low);
    // The difference may have a low part well above ulp(r): e^(r + low) = e^r (1 + low).
    Real more = fused(o.difference.low, e.r + rest, o.difference.low);
    Pair p = fast_two_sum(e.r, rest + more), s = fast_two_sum(1, p.high);
    Real power = power_of_two(e.shifted);
    Pair u = fast_two_sum(1, power * s.high);
    u.low = fused(power, s.low + p.low, u.low);
    return finish_sum(a, b, o, logarithm_pair_up_to_two(u));
}

INLINE Real log_sum_base_two(Real a, Real b) {
    using namespace coefficients;
    Ordered o = order(a, b);
    Real shifted = o.difference.high + rounder, f = o.difference.high - (shifted - rounder);
    Pair r = two_product(f, ln2[0]);
    Real r_low = fused(f, ln2[1], r.low);
    Real rest = fused(r.high * r.high, polynomial(expm1, r.high), r_low);
    Real low = o.difference.low * ln2[0];
    rest = rest + fused(low, r.high + rest, low);
    Pair p = fast_two_sum(r.high, rest), s = fast_two_sum(1, p.high);
    Real power = power_of_two(shifted);
    Pair u = fast_two_sum(1, power * s.high);
    u.low = fused(power, s.low + p.low, u.low);
    Pair log = logarithm_pair_up_to_two(u);
    return finish_sum(a, b, o, multiply(log, {ln2_inverse[0], ln2_inverse[1]}));
}

INLINE Mask log_sum_is_rare(Real a, Real b, Real result) {
    Real high = maximum(a, b), low = minimum(a, b);
    Mask cancels = (high < 0) & (absolute(result) < minimum(0x1p-5, high * -0.25));
    Mask far = (low - high < -700) & (absolute(high) < 0x1p-600);
    return cancels | far;
}

// e^x - 1 for |x| <= 1, to about 100 bits: the Taylor series at x / 512, then nine doublings.
struct Precise {
    static __attribute__((noinline)) Pair exponential_minus_one(Pair x) {
        Pair y{x.high * 0x1p-9, x.low * 0x1p-9}, sum{1, 0};
        for (int n = 14; n >= 2; --n)
            sum = add({1, 0}, divide(multiply(sum, y), {double(n), 0}));
        Pair p = multiply(sum, y);
        for (int n = 0; n < 9; ++n) p = add({2 * p.high, 2 * p.low}, multiply(p, p));
        return p;
    }
};

// To about 76 bits, in a third of the time: at x / 32, and of the series only the first terms are
// double-word numbers.
struct Close {
    static __attribute__((noinline)) Pair exponential_minus_one(Pair x) {
        Pair y{x.high * 0x1p-5, x.low * 0x1p-5};
        Real tail = 1;
        for (int n = 11; n >= 5; --n) tail = fused(tail * y.high, 1.0 / n, 1);
        Pair sum = fast_two_sum(1, 0.25 * tail * y.high);
        sum = add({1, 0}, multiply(multiply(sum, y), {0x1.5555555555555p-2, 0x1.5555555555555p-56}));
        Pair half = multiply(sum, y);
        sum = add({1, 0}, {0.5 * half.high, 0.5 * half.low});
        Pair p = multiply(sum, y);
        for (int n = 0; n < 5; ++n) p = add({2 * p.high, 2 * p.low}, multiply(p, p));
        return p;
    }
};
constexpr double close_enough = 0x1p-20;  // of a result: smaller ones need more bits

// e^x for -700 <= x <= 0, with as many bits.
template <typename Bits>
INLINE Pair exponential_of_pair(Pair x) {
    using namespace coefficients;
    Real shifted = fused(x.high, ln2_inverse[0], rounder), k = rounder - shifted;
    Pair far = two_product(k, ln2_short[1]);
    Pair r = add({fused(k, ln2_short[0], x.high), x.low}, far);
    r = fast_two_sum(r.high, fused(k, ln2_short[2], r.low));
    Pair p = add({1, 0}, Bits::exponential_minus_one(r));
    Real power = power_of_two(shifted);
    return {power * p.high, power * p.low};
}

// The rare cases, given high and low as exponents of e: cancelling, or far apart.
template <typename Bits>
INLINE Real log_sum_aside(Pair high, Pair low) {
    Mask usual = low.high > -700;
    Pair least{select(usual, low.high, -700), select(usual, low.low, 0)};
    Pair sum = add(Bits::exponential_minus_one(high), exponential_of_pair<Bits>(least));
    Real close = logarithm_plus_one(sum.high);
    close = fused(sum.low, Real(1) / (1 + sum.high), close);
    return select(usual, close, high.high + exponential(low.high));
}

template <typename Bits>
__attribute__((noinline, cold)) Real log_sum_rare(Real a, Real b) {
    return log_sum_aside<Bits>({maximum(a, b), 0}, {minimum(a, b), 0});
}

template <typename Bits>
__attribute__((noinline, cold)) Real log_sum_base_two_rare(Real a, Real b) {
    using namespace coefficients;
    Pair ln{ln2[0], ln2[1]};
    Real high = maximum(a, b), low = minimum(a, b);
    Real close = log_sum_aside<Bits>(multiply(ln, high), multiply(ln, low)) * ln2_inverse[0];
    Real far = high + exponential_base_two(low) * ln2_inverse[0];
    return select(low < -1000, far, close);
}

// `close` and `precise` are for rare cases.
template <typename T, typename Sum, typename Twice, typename Close, typename Precise>
INLINE void map_sums(const T *a, const T *b, T *out, int64_t n, Sum sum, Twice twice, Close close,
                     Precise precise) {
    for (int64_t i = 0; i < n; i += lanes) {
        Real v = load(a + i), w = load(b + i), result = twice(v);
        Mask different = !(v == w);
        if (any(different)) {
            Real other = sum(v, w);
            if constexpr (sizeof(T) == 8) {
                Mask rare = different & log_sum_is_rare(v, w, other);
                if (__builtin_expect(any(rare), 0)) {
                    Mask tiny = rare & (absolute(other) < 2 * close_enough);
                    other = select(rare, any(tiny) ? precise(v, w) : close(v, w), other);
                }
            }
            result = select(different, other, result);
        }
        store(out + i, result);
    }
}

}  // namespace wide
}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
