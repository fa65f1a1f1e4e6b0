// One variant of the library: every function over buffers, and the list of them.
//
// The including file names the variant; the build gives it the flags of its instruction set.
#pragma once

#include <cmath>

#include "checked.h"
#include "elementary.h"
#include "logsum.h"
#include "loops.h"
#include "math_variant.h"
#include "narrow.h"
#include "pairs.h"
#include "power.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {

#define LAMBDA(...) [](__VA_ARGS__) __attribute__((always_inline))
// float64, and float32 in double.
#define WIDE(NAME, T, EXPRESSION) \
    void NAME(const T *x, T *out, int64_t n) { \
        using namespace wide; \
        map(x, out, n, LAMBDA(Real v) { return EXPRESSION; }); \
    }
#define WIDE_BINARY(NAME, T, EXPRESSION) \
    void NAME(const T *a, const T *b, T *out, int64_t n) { \
        using namespace wide; \
        map(a, b, out, n, LAMBDA(Real v, Real w) { return EXPRESSION; }); \
    }
#define WIDE_RARE(NAME, T, EXPRESSION, RARE, SLOW) \
    void NAME(const T *x, T *out, int64_t n) { \
        using namespace wide; \
        map(x, out, n, LAMBDA(Real v) { return EXPRESSION; }, \
            LAMBDA(Real v) { return RARE; }, [](double v) { return SLOW; }); \
    }
#define WIDE_BINARY_RARE(NAME, T, EXPRESSION, RARE, SLOW) \
    void NAME(const T *a, const T *b, T *out, int64_t n) { \
        using namespace wide; \
        map(a, b, out, n, LAMBDA(Real v, Real w) { return EXPRESSION; }, \
            LAMBDA(Real v, Real w) { return RARE; }, [](double v, double w) { return SLOW; }); \
    }
// float32 in float where there is fma, else in double.
#define SINGLE(NAME, FUNCTION, NARROW) \
    void NAME(const float *x, float *out, int64_t n) { \
        if constexpr (has_fma) \
            single::map(x, out, n, LAMBDA(single::Real v) { return single::FUNCTION(v); }); \
        else \
            wide::map(x, out, n, LAMBDA(wide::Real v) { return wide::NARROW(v); }); \
    }
// The same with a limit: beyond it in double, and further out by the scalar function.
#define CIRCULAR(NAME, FUNCTION, NARROW, SCALAR, BEYOND) \
    __attribute__((noinline, cold)) wide::Real NAME##_aside(wide::Real v) { \
        return wide::patched(v, wide::NARROW(v), wide::beyond_reduction(v), \
                             [](double u) { return ::SCALAR(u); }); \
    } \
    WIDE_RARE(NAME##_f64, double, FUNCTION(v), BEYOND(v), ::SCALAR(v)) \
    WIDE_RARE(NAME##_f32_wide, float, NARROW(v), beyond_reduction(v), ::SCALAR(v)) \
    void NAME##_f32(const float *x, float *out, int64_t n) { \
        if constexpr (!has_fma) return NAME##_f32_wide(x, out, n); \
        single::map(x, out, n, LAMBDA(single::Real v) { return single::FUNCTION(v); }, \
                    LAMBDA(single::Real v) { return single::BEYOND(v); }, NAME##_aside); \
    }
#define BOTH_FORMATS(NAME, FUNCTION) \
    WIDE(NAME##_f64, double, FUNCTION(v)) \
    SINGLE(NAME##_f32, FUNCTION, FUNCTION##_narrow)
// A faster form for arguments in the domain where the function is at ease.
#define EASE(NAME, FUNCTION) \
    WIDE(NAME##_f64_at_ease, double, FUNCTION##_at_ease(v)) \
    SINGLE(NAME##_f32_at_ease, FUNCTION##_at_ease, FUNCTION##_narrow)
#define BOTH_FORMATS_AND_EASE(NAME, FUNCTION) BOTH_FORMATS(NAME, FUNCTION) EASE(NAME, FUNCTION)

CIRCULAR(sine, sine, sine_narrow_range, sin, beyond_turns)
CIRCULAR(cosine, cosine, cosine_narrow_range, cos, beyond_turns)
CIRCULAR(tan, tangent, tangent_narrow, tan, beyond_reduction)
EASE(tan, tangent)
BOTH_FORMATS(exponential, exponential)
BOTH_FORMATS(exp2, exponential_base_two)
BOTH_FORMATS(exponential_minus_one, exponential_minus_one)
BOTH_FORMATS_AND_EASE(log, logarithm)
BOTH_FORMATS_AND_EASE(log2, logarithm_base_two)
BOTH_FORMATS_AND_EASE(log10, logarithm_base_ten)
BOTH_FORMATS_AND_EASE(log_plus_one, logarithm_plus_one)
BOTH_FORMATS_AND_EASE(sinh, sine_hyperbolic)
BOTH_FORMATS_AND_EASE(cosh, cosine_hyperbolic)
BOTH_FORMATS(tanh, tangent_hyperbolic)
BOTH_FORMATS(asin, arc_sine)
BOTH_FORMATS(acos, arc_cosine)
BOTH_FORMATS_AND_EASE(atan, arc_tangent)
BOTH_FORMATS_AND_EASE(asinh, inverse_sine_hyperbolic)
BOTH_FORMATS_AND_EASE(acosh, inverse_cosine_hyperbolic)
BOTH_FORMATS_AND_EASE(atanh, inverse_tangent_hyperbolic)
BOTH_FORMATS_AND_EASE(cbrt, cube_root)

WIDE_BINARY(hypot_f64, double, hypotenuse(v, w))
WIDE_BINARY(hypot_f32, float, hypotenuse_narrow(v, w))
WIDE_BINARY_RARE(atan2_f64, double, arc_tangent_of_ratio(v, w), arc_tangent_is_rare(v, w),
                 ::atan2(v, w))
WIDE_BINARY_RARE(atan2_f32, float, arc_tangent_of_ratio_narrow(v, w), arc_tangent_is_rare(v, w),
                 ::atan2(v, w))
#define LOG_SUM(NAME, T, SUM, TWICE) \
    void NAME(const T *a, const T *b, T *out, int64_t n) { \
        using namespace wide; \
        map_sums(a, b, out, n, LAMBDA(Real v, Real w) { return SUM(v, w); }, \
                 LAMBDA(Real v) { return TWICE; }, SUM##_rare<Close>, SUM##_rare<Precise>); \
    }
LOG_SUM(logaddexp_f32, float, log_sum, log_of_twice(v))
LOG_SUM(logaddexp_f64, double, log_sum, log_of_twice(v))
LOG_SUM(logaddexp2_f32, float, log_sum_base_two, v + 1)
LOG_SUM(logaddexp2_f64, double, log_sum_base_two, v + 1)
void power_f64(const double *a, const double *b, double *out, int64_t n) {
    using namespace wide;
    map_aside(a, b, out, n, power, LAMBDA(Real v, Real w, Real) { return power_is_rare(v, w); },
              power_aside);
}
WIDE_BINARY(power_f64_at_ease, double, power_at_ease(v, w))
void power_f32_at_ease(const float *a, const float *b, float *out, int64_t n) {
    if constexpr (has_fma)
        single::map(a, b, out, n, single::power_at_ease);
    else
        wide::map(a, b, out, n, wide::power_narrow);
}
void power_f32(const float *a, const float *b, float *out, int64_t n) {
    if constexpr (has_fma)
        single::map(a, b, out, n, single::power, single::power_is_rare, wide::power_aside_narrow);
    else
        wide::map_aside(a, b, out, n, wide::power_narrow,
                        LAMBDA(wide::Real v, wide::Real w, wide::Real) {
                            return wide::power_is_rare(v, w);
                        }, wide::power_aside_narrow);
}

#define ENTRY(NAME, FORMAT, EASE, T, CHECKED, MEANING, DOMAIN) \
    {#NAME "." #FORMAT, reinterpret_cast<const void *>( \
        &CHECKED<T, NAME##_##FORMAT, NAME##_##FORMAT##EASE, Infinite::MEANING, Domain::DOMAIN>)}
#define ENTRIES(NAME, EASE, CHECKED, MEANING, DOMAIN) \
    ENTRY(NAME, f32, EASE, float, CHECKED, MEANING, DOMAIN), \
    ENTRY(NAME, f64, EASE, double, CHECKED, MEANING, DOMAIN)
#define UNARY(NAME, MEANING, DOMAIN) ENTRIES(NAME, , checked, MEANING, DOMAIN)
#define EASED(NAME, MEANING, DOMAIN) ENTRIES(NAME, _at_ease, checked, MEANING, DOMAIN)
#define BINARY(NAME, MEANING, DOMAIN) ENTRIES(NAME, , checked_binary, MEANING, DOMAIN)
#define EASED_BINARY(NAME, MEANING, DOMAIN) ENTRIES(NAME, _at_ease, checked_binary, MEANING, DOMAIN)

const VariantEntry entries[] = {
    UNARY(sine, never, turns), UNARY(cosine, never, turns), EASED(tan, never, few_turns),
    UNARY(exponential, out_of_range, exponents), UNARY(exp2, out_of_range, binary_exponents),
    UNARY(exponential_minus_one, overflow, exponents), EASED(log, pole, positive),
    EASED(log2, pole, positive), EASED(log10, pole, positive),
    EASED(log_plus_one, pole, above_minus_one), EASED(sinh, overflow, exponents),
    EASED(cosh, overflow, exponents), UNARY(tanh, never, exponents),
    UNARY(asin, never, inside_one), UNARY(acos, never, inside_one), EASED(atan, never, nonzero),
    EASED(asinh, never, turns), EASED(acosh, never, above_one), EASED(atanh, pole, below_one),
    EASED(cbrt, never, nonzero), BINARY(atan2, never, moderate), EASED_BINARY(power, power, powers),
    BINARY(hypot, overflow, moderate), BINARY(logaddexp, sum, exponents),
    BINARY(logaddexp2, sum, exponents),
};

}  // namespace

Variant variant() { return {entries, sizeof(entries) / sizeof(entries[0])}; }

}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
