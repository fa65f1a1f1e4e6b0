// One variant of the library: every function over buffers, and the list of them.
//
// The including file names the variant; the build gives it the flags of its instruction set.
#pragma once

#include <cmath>

#include "circular.h"
#include "exponential.h"
#include "hyperbolic.h"
#include "inverse.h"
#include "logarithm.h"
#include "logsum.h"
#include "loops.h"
#include "math_variant.h"
#include "power.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {

#define LAMBDA(...) [](__VA_ARGS__) __attribute__((always_inline))
#define UNARY(NAME, T, EXPRESSION) \
    void NAME(const T *x, T *out, int64_t n) { \
        map(x, out, n, LAMBDA(Real v) { return EXPRESSION; }); \
    }
#define BINARY(NAME, T, EXPRESSION) \
    void NAME(const T *a, const T *b, T *out, int64_t n) { \
        map(a, b, out, n, LAMBDA(Real v, Real w) { return EXPRESSION; }); \
    }
#define UNARY_RARE(NAME, T, EXPRESSION, RARE, SLOW) \
    void NAME(const T *x, T *out, int64_t n) { \
        map(x, out, n, LAMBDA(Real v) { return EXPRESSION; }, \
            LAMBDA(Real v) { return RARE; }, [](double v) { return SLOW; }); \
    }
#define BINARY_RARE(NAME, T, EXPRESSION, RARE, SLOW) \
    void NAME(const T *a, const T *b, T *out, int64_t n) { \
        map(a, b, out, n, LAMBDA(Real v, Real w) { return EXPRESSION; }, \
            LAMBDA(Real v, Real w) { return RARE; }, [](double v, double w) { return SLOW; }); \
    }
UNARY_RARE(sine_f64, double, sine(v), beyond_reduction(v), ::sin(v))
UNARY_RARE(cosine_f64, double, cosine(v), beyond_reduction(v), ::cos(v))
UNARY_RARE(sine_f32, float, sine_narrow_range(v), beyond_reduction(v), ::sin(v))
UNARY_RARE(cosine_f32, float, cosine_narrow_range(v), beyond_reduction(v), ::cos(v))
UNARY_RARE(tan_f64, double, tangent(v), beyond_reduction(v), ::tan(v))
UNARY_RARE(tan_f32, float, tangent_narrow(v), beyond_reduction(v), ::tan(v))

UNARY(exponential_f64, double, exponential(v))
UNARY(exponential_f32, float, exponential_narrow(v))
UNARY(exp2_f64, double, exponential_base_two(v))
UNARY(exp2_f32, float, exponential_base_two_narrow(v))
UNARY(exponential_minus_one_f64, double, exponential_minus_one(v))
UNARY(exponential_minus_one_f32, float, exponential_minus_one_narrow(v))

UNARY(log_f64, double, logarithm(v))
UNARY(log_f32, float, logarithm_narrow(v))
UNARY(log2_f64, double, logarithm_base_two(v))
UNARY(log2_f32, float, logarithm_base_two_narrow(v))
UNARY(log10_f64, double, logarithm_base_ten(v))
UNARY(log10_f32, float, logarithm_base_ten_narrow(v))
UNARY(log_plus_one_f64, double, logarithm_plus_one(v))
UNARY(log_plus_one_f32, float, logarithm_plus_one_narrow(v))

UNARY(sinh_f64, double, sine_hyperbolic(v))
UNARY(sinh_f32, float, sine_hyperbolic_narrow(v))
UNARY(cosh_f64, double, cosine_hyperbolic(v))
UNARY(cosh_f32, float, cosine_hyperbolic_narrow(v))
UNARY(tanh_f64, double, tangent_hyperbolic(v))
UNARY(tanh_f32, float, tangent_hyperbolic_narrow(v))

UNARY(asin_f64, double, arc_sine(v))
UNARY(asin_f32, float, arc_sine_narrow(v))
UNARY(acos_f64, double, arc_cosine(v))
UNARY(acos_f32, float, arc_cosine_narrow(v))
UNARY(atan_f64, double, arc_tangent(v))
UNARY(atan_f32, float, arc_tangent_narrow(v))
UNARY(asinh_f64, double, inverse_sine_hyperbolic(v))
UNARY(asinh_f32, float, inverse_sine_hyperbolic_narrow(v))
UNARY(acosh_f64, double, inverse_cosine_hyperbolic(v))
UNARY(acosh_f32, float, inverse_cosine_hyperbolic_narrow(v))
UNARY(atanh_f64, double, inverse_tangent_hyperbolic(v))
UNARY(atanh_f32, float, inverse_tangent_hyperbolic_narrow(v))
UNARY(cbrt_f64, double, cube_root(v))
UNARY(cbrt_f32, float, cube_root_narrow(v))

void power_f64(const double *a, const double *b, double *out, int64_t n) {
    map_aside(a, b, out, n, power, LAMBDA(Real v, Real w, Real) { return power_is_rare(v, w); }, power_aside);
}
void power_f32(const float *a, const float *b, float *out, int64_t n) {
    map_aside(a, b, out, n, power_narrow, LAMBDA(Real v, Real w, Real) { return power_is_rare(v, w); }, power_aside_narrow);
}
BINARY_RARE(atan2_f64, double, arc_tangent_of_ratio(v, w), arc_tangent_is_rare(v, w), ::atan2(v, w))
BINARY_RARE(atan2_f32, float, arc_tangent_of_ratio_narrow(v, w), arc_tangent_is_rare(v, w), ::atan2(v, w))
BINARY(hypot_f64, double, hypotenuse(v, w))
BINARY(hypot_f32, float, hypotenuse_narrow(v, w))

BINARY(logaddexp_f32, float, log_sum(v, w))
BINARY(logaddexp2_f32, float, log_sum_base_two(v, w))
void logaddexp_f64(const double *a, const double *b, double *out, int64_t n) {
    map_aside(a, b, out, n, log_sum, log_sum_is_rare, log_sum_rare);
}
void logaddexp2_f64(const double *a, const double *b, double *out, int64_t n) {
    map_aside(a, b, out, n, log_sum_base_two, log_sum_is_rare, log_sum_base_two_rare);
}

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
