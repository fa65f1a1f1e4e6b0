// Loops over a buffer: vectors for everyone, and a way out for the rare element.
//
// A function that cannot treat some inputs in line says which (`rare`) and what to do with one
// (`slow`, scalar).  Its lanes are then patched one by one in a register copy, so that inputs
// survive even when the output overwrites them.
#pragma once

#include "arithmetic.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {

template <typename T, typename F>
INLINE void map(const T *x, T *out, int64_t n, F function) {
    for (int64_t i = 0; i < n; i += lanes) store(out + i, function(load(x + i)));
}

template <typename T, typename F>
INLINE void map(const T *a, const T *b, T *out, int64_t n, F function) {
    for (int64_t i = 0; i < n; i += lanes) store(out + i, function(load(a + i), load(b + i)));
}

// The lanes of `m` as an array of flags.
INLINE void flags_of(Mask m, double (&flags)[lanes]) { store(flags, select(m, 1, 0)); }

template <typename T, typename Slow>
__attribute__((noinline, cold)) void patch(Real x, Mask m, T *out, Slow slow) {
    double flags[lanes], inputs[lanes];
    flags_of(m, flags);
    store(inputs, x);
    for (int k = 0; k < lanes; ++k)
        if (flags[k] != 0) out[k] = T(slow(inputs[k]));
}

template <typename T, typename Slow>
__attribute__((noinline, cold)) void patch(Real x, Real y, Mask m, T *out, Slow slow) {
    double flags[lanes], left[lanes], right[lanes];
    flags_of(m, flags);
    store(left, x);
    store(right, y);
    for (int k = 0; k < lanes; ++k)
        if (flags[k] != 0) out[k] = T(slow(left[k], right[k]));
}

template <typename T, typename F, typename Test, typename Slow>
INLINE void map(const T *x, T *out, int64_t n, F function, Test rare, Slow slow) {
    for (int64_t i = 0; i < n; i += lanes) {
        Real v = load(x + i);
        store(out + i, function(v));
        Mask m = rare(v);
        if (__builtin_expect(any(m), 0)) patch(v, m, out + i, slow);
    }
}

template <typename T, typename F, typename Test, typename Slow>
INLINE void map(const T *a, const T *b, T *out, int64_t n, F function, Test rare, Slow slow) {
    for (int64_t i = 0; i < n; i += lanes) {
        Real v = load(a + i), w = load(b + i);
        store(out + i, function(v, w));
        Mask m = rare(v, w);
        if (__builtin_expect(any(m), 0)) patch(v, w, m, out + i, slow);
    }
}

// As above, with a vector function for the rare cases.
template <typename T, typename F, typename Test, typename Aside>
INLINE void map_aside(const T *a, const T *b, T *out, int64_t n, F function, Test rare,
                      Aside aside) {
    for (int64_t i = 0; i < n; i += lanes) {
        Real v = load(a + i), w = load(b + i);
        Real result = function(v, w);
        Mask m = rare(v, w, result);
        if (__builtin_expect(any(m), 0)) result = select(m, aside(v, w), result);
        store(out + i, result);
    }
}

}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
