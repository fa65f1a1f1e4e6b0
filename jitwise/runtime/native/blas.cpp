// Products of two matrices through BLAS, by the routines that NumPy's matmul would call.
//
// BLAS is Fortran's: column-major. A C-ordered product out = a @ b is out' = b' @ a' to it, and a
// C-ordered matrix is its own transpose, so no operand moves; one stored the other way round is
// passed with flag T, and only a matrix whose rows and columns are both strided is packed.
//
//     row @ column      dot       (real types: how complex ones return differs between compilers)
//     matrix @ vector   gemv      also vector @ matrix
//     x @ x.T           syrk      one triangle, then mirrored; also x.T @ x
//     the rest          gemm
#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "library.h"
#include "matmul.h"
#include "small_buffer.h"
#include "strided.h"

namespace jitwise {

namespace {

// All arguments by address; `Int` is the library's integer.
template <class Int>
struct Routines {
    using Gemm = void (*)(const char *, const char *, const Int *, const Int *, const Int *,
                          const void *, const void *, const Int *, const void *, const Int *,
                          const void *, void *, const Int *);
    using Gemv = void (*)(const char *, const Int *, const Int *, const void *, const void *,
                          const Int *, const void *, const Int *, const void *, void *,
                          const Int *);
    using Syrk = void (*)(const char *, const char *, const Int *, const Int *, const void *,
                          const void *, const Int *, const void *, void *, const Int *);
    template <class T>
    using Dot = T (*)(const Int *, const void *, const Int *, const void *, const Int *);
};

enum Routine { gemm, gemv, syrk, dot, routine_count };

struct BlasRow {
    ElementType type;
    const char *names[routine_count];
    std::atomic<const void *> routines[routine_count];

    const void *operator[](Routine routine) const { return routines[routine].load(); }
};

BlasRow blas[] = {
    {ElementType::f32, {"sgemm", "sgemv", "ssyrk", "sdot"}, {}},
    {ElementType::f64, {"dgemm", "dgemv", "dsyrk", "ddot"}, {}},
    {ElementType::c64, {"cgemm", "cgemv", "csyrk", nullptr}, {}},
    {ElementType::c128, {"zgemm", "zgemv", "zsyrk", nullptr}, {}},
};
std::atomic<bool> wide_integers{false};

BlasRow *row_of(ElementType type) {
    for (BlasRow &row : blas)
        if (row.type == type) return &row;
    return nullptr;
}

template <class Function>
Function as(const void *address) {
    return reinterpret_cast<Function>(const_cast<void *>(address));
}

// A matrix as Fortran sees its transpose: flag N when C ordered, T when stored by columns.
struct Layout {
    char *data;
    std::int64_t leading;
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
        *layout = {matrix.data, leading, flag};
        return true;
    };
    return fits(matrix.column_stride, matrix.row_stride, columns, rows, 'N') ||
           fits(matrix.row_stride, matrix.column_stride, rows, columns, 'T');
}

// A matrix in a layout BLAS takes, packed if it must be.
class Operand {
public:
    Operand(const Matrix &matrix, std::int64_t rows, std::int64_t columns, int itemsize)
        : packed_(layout_of(matrix, rows, columns, itemsize, &layout) ? 0
                                                                      : rows * columns * itemsize) {
        if (packed_.size() == 0) return;
        const std::int64_t shape[2] = {rows, columns},
                           from[2] = {matrix.row_stride, matrix.column_stride};
        const std::int64_t to[2] = {columns * itemsize, itemsize};
        copy_strided(packed_.data(), to, matrix.data, from, shape, 2, itemsize);
        layout = {packed_.data(), std::max<std::int64_t>(columns, 1), 'N'};
    }
    Layout layout;

private:
    SmallBuffer<char, 512> packed_;
};

alignas(16) const double one[2] = {1, 0}, zero[2] = {0, 0};
alignas(16) const float one_f32[2] = {1, 0}, zero_f32[2] = {0, 0};

// What one call of BLAS needs besides the operands.
struct Call {
    const BlasRow &row;
    const Product2d &p;
    Layout a, b;
    const void *alpha, *beta;
};

template <class Int, class T>
bool by_dot(const Call &call) {
    const auto routine = as<typename Routines<Int>::template Dot<T>>(call.row[dot]);
    if (routine == nullptr) return false;
    const Int k = call.p.k, a_step = call.a.flag == 'T' ? call.a.leading : 1,
              b_step = call.b.flag == 'N' ? call.b.leading : 1;
    const T sum = routine(&k, call.a.data, &a_step, call.b.data, &b_step);
    std::memcpy(call.p.out.data, &sum, sizeof sum);
    return true;
}

// matrix @ vector is a gemv of the matrix, vector @ matrix one of its transpose.
template <class Int>
bool by_gemv(const Call &call) {
    const auto routine = as<typename Routines<Int>::Gemv>(call.row[gemv]);
    if (routine == nullptr) return false;
    const bool row = call.p.m == 1;
    const Layout &matrix = row ? call.b : call.a, &vector = row ? call.a : call.b;
    const Int unit = 1, leading = matrix.leading,
              step = vector.flag == (row ? 'T' : 'N') ? vector.leading : 1;
    const Int length = row ? call.p.n : call.p.m, k = call.p.k;
    const bool summed_first = (matrix.flag == 'N') != row;  // k is Fortran's first axis
    const char flag = summed_first ? 'T' : 'N';
    routine(&flag, summed_first ? &k : &length, summed_first ? &length : &k, call.alpha,
            matrix.data, &leading, vector.data, &step, call.beta, call.p.out.data, &unit);
    return true;
}

template <class Int>
bool by_syrk(const Call &call) {
    const auto routine = as<typename Routines<Int>::Syrk>(call.row[syrk]);
    if (routine == nullptr || !is_with_its_transpose(call.p) || call.a.flag == call.b.flag)
        return false;
    const Int n = call.p.n, k = call.p.k, leading = call.a.leading;
    const char lower = 'L', flag = call.a.flag == 'N' ? 'T' : 'N';  // upper in C order
    routine(&lower, &flag, &n, &k, call.alpha, call.a.data, &leading, call.beta, call.p.out.data,
            &n);
    mirror(call.p, size_of(call.row.type));
    return true;
}

template <class Int>
void by_gemm(const Call &call) {
    const Int m = call.p.m, n = call.p.n, k = call.p.k, a_leading = call.a.leading,
              b_leading = call.b.leading;
    as<typename Routines<Int>::Gemm>(call.row[gemm])(
        &call.b.flag, &call.a.flag, &n, &m, &k, call.alpha, call.b.data, &b_leading, call.a.data,
        &a_leading, call.beta, call.p.out.data, &n);
}

template <class Int>
bool product(const Call &call) {
    const Product2d &p = call.p;
    if (std::max({p.m, p.k, p.n, call.a.leading, call.b.leading}) > std::numeric_limits<Int>::max())
        return false;
    if (p.m == 1 && p.n == 1) {
        if (call.row.type == ElementType::f32 && by_dot<Int, float>(call)) return true;
        if (call.row.type == ElementType::f64 && by_dot<Int, double>(call)) return true;
    }
    if ((p.m == 1 || p.n == 1) && by_gemv<Int>(call)) return true;
    if (p.k == 1 || !by_syrk<Int>(call)) by_gemm<Int>(call);
    return true;
}

}  // namespace

bool set_blas_function(const char *name, const void *address) {
    for (BlasRow &row : blas)
        for (int i = 0; i < routine_count; ++i)
            if (row.names[i] != nullptr && std::strcmp(name, row.names[i]) == 0) {
                row.routines[i].store(address);
                return true;
            }
    return false;
}

void set_blas_integers(bool wide) { wide_integers.store(wide); }

bool has_blas(ElementType type) {
    BlasRow *row = row_of(type);
    // Every other type has plain loops.
    return row == nullptr || (*row)[gemm] != nullptr;
}

bool blas_product(ElementType type, const Product2d &p) {
    const BlasRow *row = row_of(type);
    if (row == nullptr || (*row)[gemm] == nullptr) return false;
    const int itemsize = size_of(type);
    const bool single = type == ElementType::f32 || type == ElementType::c64;
    const Operand a(p.a, p.m, p.k, itemsize), b(p.b, p.k, p.n, itemsize);
    const Call call = {*row,
                       p,
                       a.layout,
                       b.layout,
                       single ? static_cast<const void *>(one_f32) : one,
                       single ? static_cast<const void *>(zero_f32) : zero};
    return wide_integers.load() ? product<std::int64_t>(call) : product<std::int32_t>(call);
}

}  // namespace jitwise
