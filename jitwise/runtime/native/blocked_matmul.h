// Products of float and double in registers and caches, on the runtime's own threads.
//
//     out[i : i+8, j : j+24] = sum over k of a[i : i+8, k] * b[k, j : j+24]       one tile
//
// A tile of the result stays in registers while k runs: for each k a row of b is loaded and each
// element of a column of a is spread over a vector, one fused multiply-add for each vector of the
// tile. Rows of a are read where they are when they are dense; columns of b are packed, once for
// all threads, into slivers as wide as a tile, so that they stream from the second-level cache. k
// is cut into blocks, which bounds both; later blocks add to what is there. A tile belongs to one
// thread and its sums run in the order of k: the bits do not depend on threads, nor on strides.
//
// Not here: complex numbers, vectors (which wait for memory, not for arithmetic), processors
// without 512-bit vectors; for them there is BLAS.
#pragma once

#include <cstdint>

#include "element_type.h"
#include "matmul.h"

namespace jitwise {

// Whether it is for this product, and for this processor.
bool is_blocked_product(ElementType type, const Product2d &p);
void blocked_product(ElementType type, const Product2d &p);

}  // namespace jitwise
