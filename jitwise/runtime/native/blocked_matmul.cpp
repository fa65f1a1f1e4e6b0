#include "blocked_matmul.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__)

#include <immintrin.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "pool.h"
#include "small_buffer.h"
#include "strided.h"
#include "transpose.h"

namespace jitwise {

namespace {

constexpr int tile_rows = 8, tile_vectors = 3;
constexpr std::int64_t most_rows = 4096, most_columns = 4096;  // packed at a time
constexpr std::int64_t small_operand = 128 << 10;              // bytes; read where it is

template <class T>
constexpr int lanes = 64 / sizeof(T);
template <class T>
constexpr std::int64_t depth = sizeof(T) == 4 ? 448 : 384;  // of a block of k

// Rows of a, or of a packed sliver of b: steps are in elements.
template <class T>
struct Block {
    const T *data;
    std::int64_t row_step, column_step;
};

#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,fma")

inline __m512 spread(float x) { return _mm512_set1_ps(x); }
inline __m512d spread(double x) { return _mm512_set1_pd(x); }
inline __m512 load(const float *p, unsigned mask) { return _mm512_maskz_loadu_ps(mask, p); }
inline __m512d load(const double *p, unsigned mask) { return _mm512_maskz_loadu_pd(mask, p); }
inline void store(float *p, unsigned mask, __m512 x) { _mm512_mask_storeu_ps(p, mask, x); }
inline void store(double *p, unsigned mask, __m512d x) { _mm512_mask_storeu_pd(p, mask, x); }
inline __m512 fma(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
inline __m512d fma(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }

template <class T>
struct Tile {
    std::int64_t k;
    Block<T> a;
    const T *b;
    std::int64_t b_step;
    T *out;
    std::int64_t out_step;
    unsigned mask;  // columns of the last vector
    bool add;
};

template <class T, int R, int V>
void tile(const Tile<T> &t) {
    constexpr int L = lanes<T>;
    using Vector = decltype(spread(T()));
    constexpr unsigned all = (1u << L) - 1;
    const auto mask = [&](int v) { return v == V - 1 ? t.mask : all; };
    Vector sums[R][V];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 3
        for (int v = 0; v < V; ++v) {
            __builtin_prefetch(t.out + r * t.out_step + v * L, 1);
            sums[r][v] = spread(T(0));
        }
    const T *a = t.a.data, *b = t.b;
    const std::int64_t row_step = t.a.row_step, column_step = t.a.column_step, b_step = t.b_step;
    for (std::int64_t k = t.k; k > 0; --k, a += column_step, b += b_step) {
        Vector row[V];
#pragma GCC unroll 3
        for (int v = 0; v < V; ++v) row[v] = load(b + v * L, mask(v));
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
            const Vector factor = spread(a[r * row_step]);
#pragma GCC unroll 3
            for (int v = 0; v < V; ++v) sums[r][v] = fma(factor, row[v], sums[r][v]);
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 3
        for (int v = 0; v < V; ++v) {
            T *out = t.out + r * t.out_step + v * L;
            store(out, mask(v), t.add ? load(out, mask(v)) + sums[r][v] : sums[r][v]);
        }
}

#pragma GCC pop_options

template <class T>
using TileFunction = void (*)(const Tile<T> &);

template <class T, int V>
TileFunction<T> tile_of_rows(int rows) {
    static constexpr TileFunction<T> tiles[tile_rows] = {
        tile<T, 1, V>, tile<T, 2, V>, tile<T, 3, V>, tile<T, 4, V>,
        tile<T, 5, V>, tile<T, 6, V>, tile<T, 7, V>, tile<T, 8, V>,
    };
    return tiles[rows - 1];
}

template <class T>
TileFunction<T> tile_of(int rows, int vectors) {
    return vectors == 1   ? tile_of_rows<T, 1>(rows)
           : vectors == 2 ? tile_of_rows<T, 2>(rows)
                          : tile_of_rows<T, 3>(rows);
}

// The columns of a sliver, from its first vector: three vectors, but 2 + 2 for a last 3 + 1, which
// would wait for loads.
struct Slivers {
    std::int64_t columns, vectors, count;

    Slivers(std::int64_t columns, int lanes)
        : columns(columns),
          vectors((columns + lanes - 1) / lanes),
          count((vectors + tile_vectors - 1) / tile_vectors) {}
    std::int64_t first(std::int64_t sliver) const {
        if (sliver == count) return vectors;
        return sliver * tile_vectors - (sliver > 0 && sliver == count - 1 && vectors % 3 == 1);
    }
};

// What is multiplied at a time: rows of a, columns of b, a block of k.
struct Part {
    std::int64_t row, rows, column, first, k;
    Slivers slivers;
};

// Blocks of k: whole ones, and the last two of about equal length. Cut as OpenBLAS does for such
// processors, so that most results have the bits of NumPy's.
template <class T>
std::int64_t next_depth(std::int64_t left) {
    constexpr std::int64_t whole = depth<T>;
    if (left >= 2 * whole) return whole;
    return left > whole ? (left / 2 + 15) / 16 * 16 : left;
}

template <class T>
class Blocked {
public:
    explicit Blocked(const Product2d &p)
        : p_(p),
          symmetric_(is_with_its_transpose(p)),
          in_place_a_(is_aligned(p.a) &&
                      (p.a.column_stride == size || p.m * p.k * size <= small_operand)),
          in_place_b_(is_in_place(p)),
          threads_(ns(p.m, p.k, p.n) >= parallel_threshold),
          packed_a_(in_place_a_ ? 0 : packed_rows(p.m) * block(p.k)),
          packed_b_(in_place_b_ ? 0 : packed_columns(p.n) * block(p.k)) {}

    // The rest is left to BLAS: too few rows to pay for packing b, or too little to compute for
    // what is read. Small products do without its calls.
    static bool serves(const Product2d &p) {
        const double terms = static_cast<double>(p.m) * p.k * p.n;
        if (terms <= 16 * 16 * 16) return true;
        const double elements = static_cast<double>(p.m) * p.k + static_cast<double>(p.k) * p.n +
                                static_cast<double>(p.m) * p.n;
        return p.k >= 8 && terms >= 1.9 * elements && (p.m >= 96 || is_in_place(p));
    }

    void run() {
        for (std::int64_t column = 0; column < p_.n; column += most_columns)
            for (std::int64_t first = 0, k; first < p_.k; first += k) {
                k = next_depth<T>(p_.k - first);
                for (std::int64_t row = 0; row < p_.m; row += most_rows)
                    multiply({row, std::min(most_rows, p_.m - row), column, first, k,
                              Slivers(std::min(most_columns, p_.n - column), L)});
            }
        if (symmetric_) mirror(p_, size);
    }

private:
    static constexpr std::int64_t size = sizeof(T), L = lanes<T>;

    static double ns(double m, double k, double n) { return m * k * n * size / 450; }
    static std::int64_t block(std::int64_t k) { return std::min(k, depth<T>); }
    static std::int64_t packed_rows(std::int64_t m) {
        return (std::min(m, most_rows) + tile_rows - 1) / tile_rows * tile_rows;
    }
    static std::int64_t packed_columns(std::int64_t n) {
        return (std::min(n, most_columns) + L - 1) / L * L;
    }
    static bool is_aligned(const Matrix &matrix) {
        return matrix.row_stride % size == 0 && matrix.column_stride % size == 0 &&
               reinterpret_cast<std::uintptr_t>(matrix.data) % size == 0;
    }
    static bool is_in_place(const Product2d &p) {
        return is_aligned(p.b) && p.b.column_stride == size &&
               block(p.k) * std::abs(p.b.row_stride) <= small_operand;
    }
    template <class Function>
    void share(std::int64_t items, Function &&function) const {
        if (threads_) parallel_for(items, 1, function);
        else function(0, items);
    }

    void multiply(const Part &part) {
        const std::int64_t slivers = part.slivers.count,
                           groups = (part.rows + tile_rows - 1) / tile_rows;
        const std::int64_t packed_b = in_place_b_ || part.row > 0 ? 0 : slivers,
                           packed_a = in_place_a_ ? 0 : (groups + 15) / 16;
        share(packed_a + packed_b, [&](std::int64_t begin, std::int64_t end) {
            for (; begin < end; ++begin)
                if (begin < packed_b) pack_sliver(part, begin);
                else
                    for (std::int64_t group = (begin - packed_b) * 16;
                         group < std::min((begin - packed_b + 1) * 16, groups); ++group)
                        pack_group(part, group);
        });
        // An item is what two levels of cache hold: rows of a by slivers of b.
        const std::int64_t broad = 4, across = (slivers + broad - 1) / broad;
        std::int64_t tall = 12, down = (groups + tall - 1) / tall;
        while (threads_ && tall > 2 && down * across < 4 * thread_count()) {
            tall = (tall + 1) / 2;
            down = (groups + tall - 1) / tall;
        }
        share(down * across, [&](std::int64_t begin, std::int64_t end) {
            for (; begin < end; ++begin) {
                const std::int64_t group = begin % down * tall, sliver = begin / down * broad;
                item(part, group, std::min(group + tall, groups), sliver,
                     std::min(sliver + broad, slivers));
            }
        });
    }

    void item(const Part &part, std::int64_t group, std::int64_t group_end, std::int64_t sliver,
              std::int64_t sliver_end) {
        for (; group < group_end; ++group) {
            const std::int64_t row = part.row + group * tile_rows;
            const int rows = std::min<std::int64_t>(tile_rows, part.row + part.rows - row);
            for (std::int64_t s = sliver; s < sliver_end; ++s) {
                const std::int64_t first = part.slivers.first(s), end = part.slivers.first(s + 1),
                                   column = part.column + first * L;
                if (symmetric_ && part.column + end * L <= row) continue;
                const int vectors = end - first;
                const std::int64_t in_last = std::min(L, part.slivers.columns - (end - 1) * L);
                const unsigned mask = (2u << (in_last - 1)) - 1;
                Tile<T> t = {part.k, rows_of_a(part, group, row), nullptr, 0,
                             reinterpret_cast<T *>(p_.out.data + row * p_.out.row_stride) + column,
                             p_.out.row_stride / size, mask, part.first > 0};
                if (in_place_b_) {
                    t.b_step = p_.b.row_stride / size;
                    t.b = reinterpret_cast<const T *>(p_.b.data) + part.first * t.b_step + column;
                } else {
                    t.b_step = vectors * L;
                    t.b = packed_b_.data() + first * L * part.k;
                }
                tile_of<T>(rows, vectors)(t);
            }
        }
    }

    Block<T> rows_of_a(const Part &part, std::int64_t group, std::int64_t row) const {
        if (!in_place_a_) return {packed_a_.data() + group * tile_rows * part.k, 1, tile_rows};
        const std::int64_t row_step = p_.a.row_stride / size, step = p_.a.column_stride / size;
        return {reinterpret_cast<const T *>(p_.a.data) + row * row_step + part.first * step,
                row_step, step};
    }

    // [k][8]: the elements of a column of the group side by side.
    void pack_group(const Part &part, std::int64_t group) {
        const std::int64_t row = part.row + group * tile_rows,
                           rows = std::min<std::int64_t>(tile_rows, part.row + part.rows - row);
        T *target = packed_a_.data() + group * tile_rows * part.k;
        const char *source =
            p_.a.data + row * p_.a.row_stride + part.first * p_.a.column_stride;
        if (p_.a.row_stride == size && rows == tile_rows) {
            for (std::int64_t k = 0; k < part.k; ++k)
                std::memcpy(target + k * tile_rows, source + k * p_.a.column_stride,
                            tile_rows * size);
            return;
        }
        const std::int64_t shape[2] = {part.k, rows}, to[2] = {tile_rows * size, size},
                           from[2] = {p_.a.column_stride, p_.a.row_stride};
        copy_strided(reinterpret_cast<char *>(target), to, source, from, shape, 2, size);
    }

    // [k][columns], the last vector filled up with zeros.
    void pack_sliver(const Part &part, std::int64_t sliver) {
        const std::int64_t first = part.slivers.first(sliver),
                           padded = (part.slivers.first(sliver + 1) - first) * L,
                           columns = std::min(padded, part.slivers.columns - first * L);
        T *target = packed_b_.data() + first * L * part.k;
        const char *source =
            p_.b.data + part.first * p_.b.row_stride +
            (part.column + first * L) * p_.b.column_stride;
        char *bytes = reinterpret_cast<char *>(target);
        if (p_.b.column_stride == size && columns == tile_vectors * L) {
            for (std::int64_t k = 0; k < part.k; ++k)  // without calls
                std::memcpy(target + k * padded, source + k * p_.b.row_stride,
                            tile_vectors * L * size);
        } else if (p_.b.column_stride == size) {
            for (std::int64_t k = 0; k < part.k; ++k)
                std::memcpy(target + k * padded, source + k * p_.b.row_stride, columns * size);
        } else if (p_.b.row_stride == size) {
            transpose(bytes, padded * size, source, p_.b.column_stride, columns, part.k, size);
        } else {
            const std::int64_t shape[2] = {part.k, columns}, to[2] = {padded * size, size},
                               from[2] = {p_.b.row_stride, p_.b.column_stride};
            copy_strided(bytes, to, source, from, shape, 2, size);
        }
        for (std::int64_t k = 0; k < part.k && columns < padded; ++k)
            std::fill(target + k * padded + columns, target + (k + 1) * padded, T(0));
    }

    const Product2d &p_;
    const bool symmetric_, in_place_a_, in_place_b_, threads_;
    SmallBuffer<T, 16> packed_a_, packed_b_;
};

bool has_wide_vectors() {
    static const bool has =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    return has;
}

}  // namespace

bool is_blocked_product(ElementType type, const Product2d &p) {
    if (p.m == 1 || p.n == 1 || !has_wide_vectors()) return false;
    if (type == ElementType::f32) return Blocked<float>::serves(p);
    return type == ElementType::f64 && Blocked<double>::serves(p);
}

void blocked_product(ElementType type, const Product2d &p) {
    if (type == ElementType::f32) Blocked<float>(p).run();
    else Blocked<double>(p).run();
}

}  // namespace jitwise

#else

namespace jitwise {

bool is_blocked_product(ElementType, const Product2d &) { return false; }
void blocked_product(ElementType, const Product2d &) {}

}  // namespace jitwise

#endif
