// Small products: a row of the result lives in registers while the rows of b stream by.
#include <cstring>

#include "matmul.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__)
#define JITWISE_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define JITWISE_WIDE
#endif

namespace jitwise {

namespace {

// b is padded to N columns; the padding computes zeros that are not stored.
template <class T, int N>
__attribute__((always_inline)) inline void rows(const Product2d &p) {
    alignas(64) T b[largest_small_matrix * N];
    for (std::int64_t r = 0; r < p.k; ++r) {
        const char *source = p.b.data + r * p.b.row_stride;
        for (int c = 0; c < N; ++c) b[r * N + c] = 0;
        if (p.b.column_stride == sizeof(T)) {
            std::memcpy(&b[r * N], source, p.n * sizeof(T));
        } else {
            for (std::int64_t c = 0; c < p.n; ++c)
                std::memcpy(&b[r * N + c], source + c * p.b.column_stride, sizeof(T));
        }
    }
    for (std::int64_t i = 0; i < p.m; ++i) {
        alignas(64) T sum[N];
        for (int c = 0; c < N; ++c) sum[c] = 0;
        const char *a = p.a.data + i * p.a.row_stride;
        for (std::int64_t r = 0; r < p.k; ++r) {
            T factor;
            std::memcpy(&factor, a + r * p.a.column_stride, sizeof(T));
            for (int c = 0; c < N; ++c) sum[c] += factor * b[r * N + c];
        }
        std::memcpy(p.out.data + i * p.out.row_stride, sum, p.n * sizeof(T));
    }
}

JITWISE_WIDE void f32_by_4(const Product2d &p) { rows<float, 4>(p); }
JITWISE_WIDE void f32_by_8(const Product2d &p) { rows<float, 8>(p); }
JITWISE_WIDE void f32_by_16(const Product2d &p) { rows<float, 16>(p); }
JITWISE_WIDE void f64_by_4(const Product2d &p) { rows<double, 4>(p); }
JITWISE_WIDE void f64_by_8(const Product2d &p) { rows<double, 8>(p); }
JITWISE_WIDE void f64_by_16(const Product2d &p) { rows<double, 16>(p); }

}  // namespace

bool is_small_product(ElementType type, const Product2d &p) {
    return (type == ElementType::f32 || type == ElementType::f64) && p.n <= largest_small_matrix &&
           p.k <= largest_small_matrix && p.m <= 4 * largest_small_matrix;
}

void small_product(ElementType type, const Product2d &p) {
    const bool single = type == ElementType::f32;
    if (p.n <= 4) return single ? f32_by_4(p) : f64_by_4(p);
    if (p.n <= 8) return single ? f32_by_8(p) : f64_by_8(p);
    return single ? f32_by_16(p) : f64_by_16(p);
}

}  // namespace jitwise
