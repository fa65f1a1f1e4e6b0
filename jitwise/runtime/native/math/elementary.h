// The elementary functions, once for float64 (`wide`) and once for float32 (`single`).
//
// The algorithms are the same; the formats differ in what this file defines: vectors, limits and
// the coefficients, which have the same names in `binary64` and `binary32`.
#pragma once

#include "coefficients.h"
#include "lanes.h"
#include "lanes_single.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {

namespace wide {

namespace coefficients = binary64;
constexpr double exponential_low = -746, exponential_high = 710;  // 0 and inf beyond
constexpr double base_two_limit = 1090;
constexpr double quarter_limit = 710.5;                           // sinh overflows before it
constexpr double cube_negligible = 0x1p-28;                       // x^3 / 3 is nothing beside x
constexpr double reduction_limit = 0x1p20;                        // for tan
constexpr double turn_limit = 0x1p30;                             // for sine and cosine

#include "arithmetic.inl"
#include "exponential.inl"
#include "logarithm.inl"
#include "circular.inl"
#include "hyperbolic.inl"
#include "inverse.inl"
#include "powers.inl"

}  // namespace wide

namespace single {

namespace coefficients = binary32;
using binary64::half_pi_head;  // not used in float
using binary64::pi_head;
constexpr double exponential_low = -105, exponential_high = 89;
constexpr double base_two_limit = 160;
constexpr double quarter_limit = 89.45;
constexpr double cube_negligible = 0x1p-13;
constexpr double reduction_limit = 0x1p13;  // for tan
constexpr double turn_limit = 0x1p17;       // for sine and cosine; beyond, x / pi is too coarse

#include "arithmetic.inl"
#include "exponential.inl"
#include "logarithm.inl"
#include "circular.inl"
#include "hyperbolic.inl"
#include "inverse.inl"
#include "powers.inl"

}  // namespace single

}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
