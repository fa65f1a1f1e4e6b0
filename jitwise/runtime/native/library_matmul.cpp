// The matrix product instruction: floats in blocks where the processor has wide vectors, else small
// ones unrolled and large ones through BLAS; the rest by plain loops.
#include <algorithm>
#include <cstring>

#include "blocked_matmul.h"
#include "library.h"
#include "matmul.h"
#include "pool.h"
#include "strided.h"
#include "transpose.h"

namespace jitwise {

void mirror(const Product2d &p, int itemsize) {
    constexpr std::int64_t block = 32;
    const auto at = [&](std::int64_t row, std::int64_t column) {
        return p.out.data + row * p.out.row_stride + column * itemsize;
    };
    for (std::int64_t row = 0; row < p.n; row += block) {
        const std::int64_t rows = std::min(block, p.n - row);
        for (std::int64_t i = row; i < row + rows; ++i)
            for (std::int64_t j = row; j < i; ++j) std::memcpy(at(i, j), at(j, i), itemsize);
        for (std::int64_t column = row + block; column < p.n; column += block) {
            const std::int64_t columns = std::min(block, p.n - column);
            if (transpose(at(column, row), p.out.row_stride, at(row, column), p.out.row_stride,
                          rows, columns, itemsize))
                continue;
            const std::int64_t shape[2] = {rows, columns}, to[2] = {itemsize, p.out.row_stride},
                               from[2] = {p.out.row_stride, itemsize};
            copy_strided(at(column, row), to, at(row, column), from, shape, 2, itemsize);
        }
    }
}

namespace {

void one_product(ElementType type, const Product2d &p) {
    if (is_blocked_product(type, p)) return blocked_product(type, p);
    if (is_small_product(type, p)) return small_product(type, p);
    if (blas_product(type, p)) return;
    const double row_work = 0.3 * static_cast<double>(p.k) * p.n;
    const std::int64_t grain =
        row_work * p.m < parallel_threshold
            ? p.m
            : std::max<std::int64_t>(4, static_cast<std::int64_t>(4000 / (row_work + 1)));
    parallel_for(p.m, grain,
                 [&](std::int64_t begin, std::int64_t end) { plain_product(type, p, begin, end); });
}

// Axes before the last two, which both operands and the result share.
Product2d product_at(const View &a, const View &b, const View &out, std::int64_t batch) {
    const int last = out.ndim - 1;
    Product2d p = {out.shape[last - 1],
                   a.shape[last],
                   out.shape[last],
                   {a.data, a.strides[last - 1], a.strides[last]},
                   {b.data, b.strides[last - 1], b.strides[last]},
                   {out.data, out.strides[last - 1], out.strides[last]}};
    for (int axis = last - 2; axis >= 0; --axis) {
        const std::int64_t index = batch % out.shape[axis];
        batch /= out.shape[axis];
        p.a.data += index * a.strides[axis];
        p.b.data += index * b.strides[axis];
        p.out.data += index * out.strides[axis];
    }
    return p;
}

void check_shapes(const View &a, const View &b, const View &out) {
    const int last = out.ndim - 1;
    bool fit = a.shape[last - 1] == out.shape[last - 1] && b.shape[last] == out.shape[last] &&
               a.shape[last] == b.shape[last - 1];
    for (int axis = 0; axis < last - 1; ++axis)
        fit = fit && a.shape[axis] == out.shape[axis] && b.shape[axis] == out.shape[axis];
    if (!fit) throw std::logic_error("operands of a matrix product do not fit");
}

}  // namespace

void library_matmul(Frame &frame, const Instruction &instruction) {
    LibraryCall call(frame, instruction);
    const View &a = call.in(0).view, &b = call.in(1).view, &out = call.out(0).view;
    const ElementType type = call.out(0).type;
    const int itemsize = size_of(type);
    check_shapes(a, b, out);
    if (!is_contiguous(out.shape, out.strides, out.ndim, itemsize))
        throw std::logic_error("the result of a matrix product is C ordered");
    if (product(out.shape, out.ndim) == 0) return;
    const std::int64_t batches = product(out.shape, out.ndim - 2);
    const Product2d first = product_at(a, b, out, 0);
    const bool blocked = is_blocked_product(type, first);
    const double term = blocked ? itemsize / 450.0 : 0.05;  // nanoseconds
    const double work = term * static_cast<double>(first.m) * first.k * first.n + 30;
    if (work * batches > release_threshold) frame.release_gil();
    if (first.k == 0) {
        std::memset(out.data, 0, product(out.shape, out.ndim) * itemsize);
        return;
    }
    // Large products have threads of their own, or BLAS has; many small ones are shared here.
    const bool small = blocked || is_small_product(type, first);
    const bool share = small && work * batches >= parallel_threshold &&
                       (work < parallel_threshold || batches >= 2 * thread_count());
    const std::int64_t grain =
        share ? std::max<std::int64_t>(1, static_cast<std::int64_t>(4000 / work)) : batches;
    if (!share) {
        for (std::int64_t batch = 0; batch < batches; ++batch)
            one_product(type, product_at(a, b, out, batch));
        return;
    }
    parallel_for(batches, grain, [&](std::int64_t begin, std::int64_t end) {
        for (; begin < end; ++begin) one_product(type, product_at(a, b, out, begin));
    });
}

}  // namespace jitwise
