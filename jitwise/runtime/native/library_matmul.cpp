// The matrix product instruction: small ones unrolled, floats through BLAS, the rest by plain
// loops.
//
// BLAS is Fortran's: column-major. A C-ordered product out = a @ b is out' = b' @ a' to it, and a
// C-ordered matrix is its own transpose, so no operand moves; one stored the other way round is
// passed with flag T, and only a matrix whose rows and columns are both strided is packed.
#include <algorithm>
#include <atomic>
#include <climits>
#include <complex>
#include <cstring>

#include "library.h"
#include "matmul.h"
#include "pool.h"
#include "small_buffer.h"
#include "strided.h"

namespace jitwise {

namespace {

using Gemm = void (*)(char *, char *, int *, int *, int *, void *, void *, int *, void *, int *,
                      void *, void *, int *);
using Gemv = void (*)(char *, int *, int *, void *, void *, int *, void *, int *, void *, void *,
                      int *);

struct BlasRow {
    ElementType type;
    const char *gemm_name, *gemv_name;
    std::atomic<const void *> gemm{nullptr}, gemv{nullptr};
    BlasRow(ElementType type, const char *gemm_name, const char *gemv_name)
        : type(type), gemm_name(gemm_name), gemv_name(gemv_name) {}
};

BlasRow blas[] = {
    {ElementType::f32, "sgemm", "sgemv"},
    {ElementType::f64, "dgemm", "dgemv"},
    {ElementType::c64, "cgemm", "cgemv"},
    {ElementType::c128, "zgemm", "zgemv"},
};

BlasRow *row_of(ElementType type) {
    for (BlasRow &row : blas)
        if (row.type == type) return &row;
    return nullptr;
}

// A matrix as Fortran sees its transpose: flag N when C ordered, T when stored by columns.
struct Layout {
    char *data;
    int leading;
    char flag;
};

bool layout_of(const Matrix &matrix, std::int64_t rows, std::int64_t columns, std::int64_t itemsize,
               Layout *layout) {
    if (reinterpret_cast<std::uintptr_t>(matrix.data) % std::min<std::int64_t>(itemsize, 8) != 0)
        return false;
    auto fits = [&](std::int64_t along, std::int64_t across, std::int64_t length,
                    std::int64_t count, char flag) {
        if (along != itemsize && length != 1) return false;
        std::int64_t leading = count == 1 ? std::max<std::int64_t>(length, 1) : across / itemsize;
        if (count != 1 && (across % itemsize != 0 || leading < std::max<std::int64_t>(length, 1)))
            return false;
        if (leading > INT_MAX) return false;
        *layout = {matrix.data, static_cast<int>(leading), flag};
        return true;
    };
    return fits(matrix.column_stride, matrix.row_stride, columns, rows, 'N') ||
           fits(matrix.row_stride, matrix.column_stride, rows, columns, 'T');
}

void pack(const Matrix &matrix, std::int64_t rows, std::int64_t columns, int itemsize, char *dst) {
    const std::int64_t shape[2] = {rows, columns},
                       from[2] = {matrix.row_stride, matrix.column_stride};
    const std::int64_t to[2] = {columns * itemsize, itemsize};
    copy_strided(dst, to, matrix.data, from, shape, 2, itemsize);
}

// A matrix in a layout BLAS takes, packed if it must be.
class Operand {
public:
    Operand(const Matrix &matrix, std::int64_t rows, std::int64_t columns, int itemsize)
        : packed_(layout_of(matrix, rows, columns, itemsize, &layout) ? 0
                                                                      : rows * columns * itemsize) {
        if (packed_.size() == 0) return;
        pack(matrix, rows, columns, itemsize, packed_.data());
        layout = {packed_.data(), static_cast<int>(std::max<std::int64_t>(columns, 1)), 'N'};
    }
    Layout layout;

private:
    SmallBuffer<char, 512> packed_;
};

alignas(16) double one[2] = {1, 0}, zero[2] = {0, 0};
alignas(16) float one_f32[2] = {1, 0}, zero_f32[2] = {0, 0};

}  // namespace

bool set_blas_function(const char *name, const void *address) {
    for (BlasRow &row : blas) {
        if (std::strcmp(name, row.gemm_name) == 0) row.gemm.store(address);
        else if (std::strcmp(name, row.gemv_name) == 0) row.gemv.store(address);
        else continue;
        return true;
    }
    return false;
}

bool has_blas(ElementType type) {
    BlasRow *row = row_of(type);
    // Every other type has plain loops.
    return row == nullptr || row->gemm.load() != nullptr;
}

bool blas_product(ElementType type, const Product2d &p) {
    BlasRow *row = row_of(type);
    if (row == nullptr || row->gemm.load() == nullptr) return false;
    if (p.m > INT_MAX || p.n > INT_MAX || p.k > INT_MAX) return false;
    const int itemsize = size_of(type);
    const bool single = type == ElementType::f32 || type == ElementType::c64;
    void *alpha = single ? static_cast<void *>(one_f32) : one,
         *beta = single ? static_cast<void *>(zero_f32) : zero;
    int m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k), unit = 1;
    const Gemv gemv = reinterpret_cast<Gemv>(const_cast<void *>(row->gemv.load()));
    Operand a(p.a, p.m, p.k, itemsize), b(p.b, p.k, p.n, itemsize);
    if (gemv != nullptr && n == 1) {
        int step = b.layout.flag == 'N' ? b.layout.leading : 1;
        char flag = a.layout.flag == 'N' ? 'T' : 'N';
        int *rows = flag == 'T' ? &k : &m, *columns = flag == 'T' ? &m : &k;
        gemv(&flag, rows, columns, alpha, a.layout.data, &a.layout.leading, b.layout.data, &step,
             beta, p.out.data, &unit);
        return true;
    }
    if (gemv != nullptr && m == 1) {
        int step = a.layout.flag == 'T' ? a.layout.leading : 1;
        char flag = b.layout.flag;
        int *rows = flag == 'N' ? &n : &k, *columns = flag == 'N' ? &k : &n;
        gemv(&flag, rows, columns, alpha, b.layout.data, &b.layout.leading, a.layout.data, &step,
             beta, p.out.data, &unit);
        return true;
    }
    const Gemm gemm = reinterpret_cast<Gemm>(const_cast<void *>(row->gemm.load()));
    gemm(&b.layout.flag, &a.layout.flag, &n, &m, &k, alpha, b.layout.data, &b.layout.leading,
         a.layout.data, &a.layout.leading, beta, p.out.data, &n);
    return true;
}

namespace {

void one_product(ElementType type, const Product2d &p) {
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
    const double work = 0.05 * static_cast<double>(first.m) * first.k * first.n + 30;
    if (work * batches > release_threshold) frame.release_gil();
    if (first.k == 0) {
        std::memset(out.data, 0, product(out.shape, out.ndim) * itemsize);
        return;
    }
    // BLAS has threads of its own; many small products are shared here.
    const bool share = is_small_product(type, first) && work * batches >= parallel_threshold;
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
