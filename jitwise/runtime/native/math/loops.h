// Loops over a buffer: vectors for everyone, and a way out for the rare element.
//
// A function that cannot treat some inputs in line says which (`rare`) and what to do with one
// (`slow`, scalar, or `aside`, for whole vectors).  Inputs and result stay in registers meanwhile,
// because the output may overwrite the input.
#pragma once

#include "elementary.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {
namespace wide {

template <typename T, typename F>
INLINE void map(const T *x, T *out, int64_t n, F function) {
    for (int64_t i = 0; i < n; i += lanes) store(out + i, function(load(x + i)));
}

template <typename T, typename F>
INLINE void map(const T *a, const T *b, T *out, int64_t n, F function) {
    for (int64_t i = 0; i < n; i += lanes) store(out + i, function(load(a + i), load(b + i)));
}

// `result` with the lanes of `m` computed anew by a scalar function.
template <typename Slow>
INLINE Real patched(Real x, Real result, Mask m, Slow slow) {
    double flags[lanes], inputs[lanes], outputs[lanes];
    store(flags, select(m, 1, 0));
    store(inputs, x);
    store(outputs, result);
    for (int k = 0; k < lanes; ++k)
        if (flags[k] != 0) outputs[k] = slow(inputs[k]);
    return load(outputs);
}

template <typename Slow>
INLINE Real patched(Real x, Real y, Real result, Mask m, Slow slow) {
    double flags[lanes], left[lanes], right[lanes], outputs[lanes];
    store(flags, select(m, 1, 0));
    store(left, x);
    store(right, y);
    store(outputs, result);
    for (int k = 0; k < lanes; ++k)
        if (flags[k] != 0) outputs[k] = slow(left[k], right[k]);
    return load(outputs);
}

template <typename Slow>
__attribute__((noinline, cold)) Real patched_aside(Real x, Real y, Real result, Mask m, Slow slow) {
    return patched(x, y, result, m, slow);
}

// From the first rare element on a buffer goes to a function of its own, so that the ordinary loop
// calls nothing and keeps no frame.
template <typename T, typename F, typename Test, typename Slow>
__attribute__((noinline, cold)) void map_patched(const T *x, T *out, int64_t n, F function,
                                                 Test rare, Slow slow) {
    for (int64_t i = 0; i < n; i += lanes) {
        Real v = load(x + i), result = function(v);
        Mask m = rare(v);
        store(out + i, any(m) ? patched(v, result, m, slow) : result);
    }
}

template <typename T, typename F, typename Test, typename Slow>
INLINE void map(const T *x, T *out, int64_t n, F function, Test rare, Slow slow) {
    for (int64_t i = 0; i < n; i += lanes) {
        Real v = load(x + i);
        if (__builtin_expect(any(rare(v)), 0))
            return map_patched(x + i, out + i, n - i, function, rare, slow);
        store(out + i, function(v));
    }
}

template <typename T, typename F, typename Test, typename Slow>
INLINE void map(const T *a, const T *b, T *out, int64_t n, F function, Test rare, Slow slow) {
    for (int64_t i = 0; i < n; i += lanes) {
        Real v = load(a + i), w = load(b + i), result = function(v, w);
        Mask m = rare(v, w);
        if (__builtin_expect(any(m), 0)) result = patched_aside(v, w, result, m, slow);
        store(out + i, result);
    }
}

// As above, with a vector function for the rare cases.
template <typename T, typename F, typename Test, typename Aside>
INLINE void map_aside(const T *a, const T *b, T *out, int64_t n, F function, Test rare,
                      Aside aside) {
    for (int64_t i = 0; i < n; i += lanes) {
        Real v = load(a + i), w = load(b + i), result = function(v, w);
        Mask m = rare(v, w, result);
        if (__builtin_expect(any(m), 0)) result = select(m, aside(v, w), result);
        store(out + i, result);
    }
}

}  // namespace wide

namespace single {

template <typename F>
INLINE void map(const float *x, float *out, int64_t n, F function) {
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(out + i, function(load(x + i)));
    if (i < n) store_half(out + i, function(load_half(x + i)));
}

template <typename F>
INLINE void map(const float *a, const float *b, float *out, int64_t n, F function) {
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(out + i, function(load(a + i), load(b + i)));
    if (i < n) store_half(out + i, function(load_half(a + i), load_half(b + i)));
}

// Recomputes the lanes of `m` in double: `aside` takes half of them at a time.
template <typename Aside>
INLINE Real redone(Real result, Mask m, Aside aside) {
    float memory[lanes];
    wide::store(memory, aside(0));
    wide::store(memory + width, aside(width));
    return select(m, load(memory), result);
}

template <typename Aside>
__attribute__((noinline, cold)) Real redone(Real x, Real result, Mask m, Aside aside) {
    float left[lanes];
    store(left, x);
    return redone(result, m, [&](int k) { return aside(wide::load(left + k)); });
}

template <typename Aside>
__attribute__((noinline, cold)) Real redone(Real x, Real y, Real result, Mask m, Aside aside) {
    float left[lanes], right[lanes];
    store(left, x);
    store(right, y);
    return redone(result, m,
                  [&](int k) { return aside(wide::load(left + k), wide::load(right + k)); });
}

template <typename F, typename Test, typename Aside>
__attribute__((noinline, cold)) void map_redone(const float *x, float *out, int64_t n, F function,
                                                Test rare, Aside aside) {
    map(x, out, n, [=](Real v) __attribute__((always_inline)) {
        Real result = function(v);
        Mask m = rare(v);
        return any(m) ? redone(v, result, m, aside) : result;
    });
}

template <typename F, typename Test, typename Aside>
INLINE void map(const float *x, float *out, int64_t n, F function, Test rare, Aside aside) {
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        Real v = load(x + i);
        if (__builtin_expect(any(rare(v)), 0))
            return map_redone(x + i, out + i, n - i, function, rare, aside);
        store(out + i, function(v));
    }
    if (i == n) return;
    Real v = load_half(x + i);
    if (__builtin_expect(any(rare(v)), 0))
        return map_redone(x + i, out + i, n - i, function, rare, aside);
    store_half(out + i, function(v));
}

template <typename F, typename Test, typename Aside>
INLINE void map(const float *a, const float *b, float *out, int64_t n, F function, Test rare,
                Aside aside) {
    auto one = [=](Real v, Real w) __attribute__((always_inline)) {
        Real result = function(v, w);
        Mask m = rare(v, w);
        if (__builtin_expect(any(m), 0)) result = redone(v, w, result, m, aside);
        return result;
    };
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(out + i, one(load(a + i), load(b + i)));
    if (i < n) store_half(out + i, one(load_half(a + i), load_half(b + i)));
}

}  // namespace single
}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
