// Matrix products of one pair of matrices: out = a @ b.
#pragma once

#include <cstdint>

#include "element_type.h"

namespace jitwise {

// Strides in bytes.
struct Matrix {
    char *data;
    std::int64_t row_stride, column_stride;
};

struct Product2d {
    std::int64_t m, k, n;
    Matrix a, b, out;
};

constexpr std::int64_t largest_small_matrix = 16;

// float and double up to 16 x 16: unrolled, without calls, on every processor. `out` has dense rows.
bool is_small_product(ElementType type, const Product2d &p);
void small_product(ElementType type, const Product2d &p);

// Every type; integers wrap, booleans are `or` of `and`, half precision accumulates in single. Adds
// nothing to `out`, which has dense rows and shares no memory with a and b. Rows [begin, end).
void plain_product(ElementType type, const Product2d &p, std::int64_t begin, std::int64_t end);

// x @ x.T, also of views: the result is symmetric.
inline bool is_with_its_transpose(const Product2d &p) {
    return p.a.data == p.b.data && p.m == p.n && p.a.row_stride == p.b.column_stride &&
           p.a.column_stride == p.b.row_stride;
}
// Copies what is above the diagonal of a square result to below.
void mirror(const Product2d &p, int itemsize);

// Through BLAS; false if there is no function or the sizes do not fit its integers. `out` is C
// ordered.
bool blas_product(ElementType type, const Product2d &p);

}  // namespace jitwise
