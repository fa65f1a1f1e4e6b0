// Loops over a buffer: a vector loop for everyone, and a way out for the rare element.
//
// A function that cannot treat some inputs in line says which (`rare`) and what to do with one
// (`slow`).  The buffer is scanned first; only a block of 16 that holds such an input is computed
// aside, so that inputs survive even when the output overwrites them.
#pragma once

#include "arithmetic.h"

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {

constexpr int64_t block = 16;
constexpr int64_t span = 512;

template <typename T, typename F>
INLINE void map(const T *x, T *out, int64_t n, F function) {
    n &= -block;
    INDEPENDENT
    for (int64_t i = 0; i < n; ++i) out[i] = function(x[i]);
}

template <typename T, typename F>
INLINE void map(const T *a, const T *b, T *out, int64_t n, F function) {
    n &= -block;
    INDEPENDENT
    for (int64_t i = 0; i < n; ++i) out[i] = function(a[i], b[i]);
}

template <typename T, typename Test>
INLINE bool any(const T *x, int64_t n, Test test) {
    uint32_t found = 0;
    n &= -block;
    for (int64_t i = 0; i < n; ++i) found |= test(x[i]) ? 1u : 0u;
    return found != 0;
}

template <typename T, typename Test>
INLINE bool any(const T *a, const T *b, int64_t n, Test test) {
    uint32_t found = 0;
    n &= -block;
    for (int64_t i = 0; i < n; ++i) found |= test(a[i], b[i]) ? 1u : 0u;
    return found != 0;
}

template <typename T, typename F, typename Test, typename Slow>
INLINE void map(const T *x, T *out, int64_t n, F function, Test rare, Slow slow) {
    for (int64_t start = 0; start < n; start += span) {
        int64_t length = n - start < span ? n - start : span;
        if (!any(x + start, length, rare)) {
            map(x + start, out + start, length, function);
            continue;
        }
        for (int64_t k = start; k < start + length; k += block) {
            T kept[block];
            for (int64_t i = 0; i < block; ++i) kept[i] = x[k + i];
            map(kept, out + k, block, function);
            for (int64_t i = 0; i < block; ++i)
                if (rare(kept[i])) out[k + i] = slow(kept[i]);
        }
    }
}

template <typename T, typename F, typename Test, typename Slow>
INLINE void map(const T *a, const T *b, T *out, int64_t n, F function, Test rare, Slow slow) {
    for (int64_t start = 0; start < n; start += span) {
        int64_t length = n - start < span ? n - start : span;
        if (!any(a + start, b + start, length, rare)) {
            map(a + start, b + start, out + start, length, function);
            continue;
        }
        for (int64_t k = start; k < start + length; k += block) {
            T kept_a[block], kept_b[block];
            for (int64_t i = 0; i < block; ++i) kept_a[i] = a[k + i], kept_b[i] = b[k + i];
            map(kept_a, kept_b, out + k, block, function);
            for (int64_t i = 0; i < block; ++i)
                if (rare(kept_a[i], kept_b[i])) out[k + i] = slow(kept_a[i], kept_b[i]);
        }
    }
}

}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
