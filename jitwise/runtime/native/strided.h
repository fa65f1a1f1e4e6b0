// Copies between strided and dense memory, by flat position in C order.
//
//     gather(dst, source, 5, 4)     elements 5..8 of `source`, densely, to dst
//     scatter(target, 5, src, 4)    the way back
//
// A `Strided` is normalised: axes of length 1 dropped, neighbours merged. Itemsizes are 1, 2, 4,
// 8, 16.
#pragma once

#include <cstdint>
#include <cstring>

#include "view.h"

namespace jitwise {

struct Strided {
    char *data;
    int ndim;  // 0 means one element
    int itemsize;
    std::int64_t count;
    std::int64_t shape[max_rank];
    std::int64_t strides[max_rank];

    Strided() {}
    Strided(char *data, int ndim, const std::int64_t *shape, const std::int64_t *strides,
            int itemsize);

    bool is_dense() const { return ndim == 0 || (ndim == 1 && strides[0] == itemsize); }
    bool is_constant() const { return ndim == 0 || (ndim == 1 && strides[0] == 0); }
};

// One run of elements with constant strides on both sides.
void copy_run(char *dst, std::int64_t dst_stride, const char *src, std::int64_t src_stride,
              std::int64_t count, int itemsize);
// `count` copies of the element at `src`; dst is dense and may not contain src.
void fill_run(char *dst, const char *src, std::int64_t count, int itemsize);
// `valid` elements from dense `src`, then the last of them again up to `count`; dst is a chunk of
// `count`.
void copy_padded(char *dst, const char *src, std::int64_t valid, std::int64_t count, int itemsize);
// `data` stands in for the address in `source` or `target`.
void gather(char *dst, const Strided &source, const char *data, std::int64_t start,
            std::int64_t count);
void scatter(const Strided &target, char *data, std::int64_t start, const char *src,
             std::int64_t count);
inline void gather(char *dst, const Strided &source, std::int64_t start, std::int64_t count) {
    gather(dst, source, source.data, start, count);
}
inline void scatter(const Strided &target, std::int64_t start, const char *src,
                    std::int64_t count) {
    scatter(target, target.data, start, src, count);
}
// Any strides on both sides; equal shapes; the two do not overlap unless they are the same view.
void copy_strided(char *dst, const std::int64_t *dst_strides, const char *src,
                  const std::int64_t *src_strides, const std::int64_t *shape, int ndim,
                  int itemsize);

}  // namespace jitwise
