// The vector math functions of this machine, by name.
//
// Names are "<primitive>.<f32|f64>", for example "sine.f32": the fastest variant that the processor
// can run.  Every variant it can run is there too, as "sine.f32@baseline", "sine.f32@avx2" and so
// on, so that tests reach them all.  Unary functions have the type
//     void (*)(const T *x, T *out, int64_t n)
// and binary ones
//     void (*)(const T *a, const T *b, T *out, int64_t n)
// with n a multiple of 16; `out` may be one of the inputs, but may not overlap one in part.
#pragma once

#include <cstddef>

struct MathEntry {
    const char *name;
    const void *address;
};

const MathEntry *math_entries(std::size_t *count);
