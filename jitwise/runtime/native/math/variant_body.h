// One variant of the library: every function over buffers, and the list of them.
//
// The including file names the variant; the build gives it the flags of its instruction set.
#pragma once

#include <cmath>

#include "circular.h"
#include "exponential.h"
#include "hyperbolic.h"
#include "logarithm.h"
#include "loops.h"
#include "math_variant.h"
#include "power.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {

#define UNARY(NAME, T, EXPRESSION) \
    void NAME(const T *x, T *out, int64_t n) { \
        map(x, out, n, [](T v) __attribute__((always_inline)) { return T(EXPRESSION); }); \
    }
#define BINARY(NAME, T, EXPRESSION) \
    void NAME(const T *a, const T *b, T *out, int64_t n) { \
        map(a, b, out, n, [](T v, T w) __attribute__((always_inline)) { return T(EXPRESSION); }); \
    }
#define UNARY_RARE(NAME, T, EXPRESSION, RARE, SLOW) \
    void NAME(const T *x, T *out, int64_t n) { \
        map(x, out, n, [](T v) __attribute__((always_inline)) { return T(EXPRESSION); }, \
            [](T v) __attribute__((always_inline)) { return RARE; }, [](T v) { return T(SLOW); }); \
    }
#define BINARY_RARE(NAME, T, EXPRESSION, RARE, SLOW) \
    void NAME(const T *a, const T *b, T *out, int64_t n) { \
        map(a, b, out, n, [](T v, T w) __attribute__((always_inline)) { return T(EXPRESSION); }, \
            [](T v, T w) __attribute__((always_inline)) { return RARE; }, \
            [](T v, T w) { return T(SLOW); }); \
    }

UNARY_RARE(sine_f64, double, sine(v), !(absolute(v) <= reduction_limit), ::sin(v))
UNARY_RARE(cosine_f64, double, cosine(v), !(absolute(v) <= reduction_limit), ::cos(v))
UNARY_RARE(sine_f32, float, sine_narrow_range(v), !(absolute(v) <= reduction_limit), ::sin(double(v)))
UNARY_RARE(cosine_f32, float, cosine_narrow_range(v), !(absolute(v) <= reduction_limit), ::cos(double(v)))
UNARY(tan_f64, double, ::tan(v))
UNARY(tan_f32, float, ::tan(double(v)))

UNARY(exponential_f64, double, exponential(v))
UNARY(exponential_f32, float, exponential_narrow(v))
UNARY(exp2_f64, double, exponential_base_two(v))
UNARY(exp2_f32, float, exponential_base_two_narrow(v))
UNARY(exponential_minus_one_f64, double, exponential_minus_one(v))
UNARY(exponential_minus_one_f32, float, ::expm1(double(v)))

UNARY(log_f64, double, logarithm(v))
UNARY(log_f32, float, logarithm_narrow(v))
UNARY(log2_f64, double, ::log2(v))
UNARY(log2_f32, float, ::log2(double(v)))
UNARY(log10_f64, double, ::log10(v))
UNARY(log10_f32, float, ::log10(double(v)))
UNARY(log_plus_one_f64, double, ::log1p(v))
UNARY(log_plus_one_f32, float, ::log1p(double(v)))

UNARY(sinh_f64, double, ::sinh(v))
UNARY(sinh_f32, float, ::sinh(double(v)))
UNARY(cosh_f64, double, ::cosh(v))
UNARY(cosh_f32, float, ::cosh(double(v)))
UNARY(tanh_f64, double, tanh(v))
UNARY(tanh_f32, float, tanh_narrow(v))

UNARY(asin_f64, double, ::asin(v))
UNARY(asin_f32, float, ::asin(double(v)))
UNARY(acos_f64, double, ::acos(v))
UNARY(acos_f32, float, ::acos(double(v)))
UNARY(atan_f64, double, ::atan(v))
UNARY(atan_f32, float, ::atan(double(v)))
UNARY(asinh_f64, double, ::asinh(v))
UNARY(asinh_f32, float, ::asinh(double(v)))
UNARY(acosh_f64, double, ::acosh(v))
UNARY(acosh_f32, float, ::acosh(double(v)))
UNARY(atanh_f64, double, ::atanh(v))
UNARY(atanh_f32, float, ::atanh(double(v)))
UNARY(cbrt_f64, double, ::cbrt(v))
UNARY(cbrt_f32, float, ::cbrt(double(v)))

BINARY_RARE(power_f64, double, power(v, w), power_is_rare(v, w), ::pow(v, w))
BINARY_RARE(power_f32, float, power_narrow(v, w), power_is_rare(v, w), ::pow(double(v), double(w)))
BINARY(atan2_f64, double, ::atan2(v, w))
BINARY(atan2_f32, float, ::atan2(double(v), double(w)))
BINARY(hypot_f64, double, ::hypot(v, w))
BINARY(hypot_f32, float, ::hypot(double(v), double(w)))

INLINE double logaddexp(double a, double b) {
    if (a == b) return a + coefficients::ln2[0];
    double d = a - b;
    if (d > 0) return a + ::log1p(::exp(-d));
    if (d <= 0) return b + ::log1p(::exp(d));
    return d;
}
INLINE double logaddexp2(double a, double b) {
    if (a == b) return a + 1;
    double d = a - b;
    if (d > 0) return a + coefficients::ln2_inverse[0] * ::log1p(::exp2(-d));
    if (d <= 0) return b + coefficients::ln2_inverse[0] * ::log1p(::exp2(d));
    return d;
}
BINARY(logaddexp_f64, double, logaddexp(v, w))
BINARY(logaddexp_f32, float, logaddexp(v, w))
BINARY(logaddexp2_f64, double, logaddexp2(v, w))
BINARY(logaddexp2_f32, float, logaddexp2(v, w))

#define BOTH(NAME) \
    {#NAME ".f32", reinterpret_cast<const void *>(&NAME##_f32)}, \
    {#NAME ".f64", reinterpret_cast<const void *>(&NAME##_f64)}

const VariantEntry entries[] = {
    BOTH(sine), BOTH(cosine), BOTH(tan), BOTH(exponential), BOTH(exp2),
    BOTH(exponential_minus_one), BOTH(log), BOTH(log2), BOTH(log10), BOTH(log_plus_one),
    BOTH(sinh), BOTH(cosh), BOTH(tanh), BOTH(asin), BOTH(acos), BOTH(atan), BOTH(atan2),
    BOTH(asinh), BOTH(acosh), BOTH(atanh), BOTH(cbrt), BOTH(power), BOTH(hypot),
    BOTH(logaddexp), BOTH(logaddexp2),
};

}  // namespace

Variant variant() { return {entries, sizeof(entries) / sizeof(entries[0])}; }

}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
