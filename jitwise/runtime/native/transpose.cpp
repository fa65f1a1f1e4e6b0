#include "transpose.h"

#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__)
#define JITWISE_WIDE __attribute__((target_clones("arch=skylake-avx512", "avx2", "default")))
#else
#define JITWISE_WIDE
#endif

namespace jitwise {

namespace {

template <class T>
struct Four {
    typedef T Vector __attribute__((vector_size(4 * sizeof(T))));
};

template <class T>
__attribute__((always_inline)) inline void tile(char *dst, std::int64_t dst_step, const char *src,
                                                std::int64_t src_step) {
    using Vector = typename Four<T>::Vector;
    Vector a, b, c, d;
    std::memcpy(&a, src, sizeof a);
    std::memcpy(&b, src + src_step, sizeof b);
    std::memcpy(&c, src + 2 * src_step, sizeof c);
    std::memcpy(&d, src + 3 * src_step, sizeof d);
    const Vector low_even = {0, 4, 1, 5}, high_even = {2, 6, 3, 7};
    const Vector first = {0, 1, 4, 5}, second = {2, 3, 6, 7};
    const Vector ab_low = __builtin_shuffle(a, b, low_even),
                 ab_high = __builtin_shuffle(a, b, high_even);
    const Vector cd_low = __builtin_shuffle(c, d, low_even),
                 cd_high = __builtin_shuffle(c, d, high_even);
    a = __builtin_shuffle(ab_low, cd_low, first);
    b = __builtin_shuffle(ab_low, cd_low, second);
    c = __builtin_shuffle(ab_high, cd_high, first);
    d = __builtin_shuffle(ab_high, cd_high, second);
    std::memcpy(dst, &a, sizeof a);
    std::memcpy(dst + dst_step, &b, sizeof b);
    std::memcpy(dst + 2 * dst_step, &c, sizeof c);
    std::memcpy(dst + 3 * dst_step, &d, sizeof d);
}

template <class T>
__attribute__((always_inline)) inline void plane(char *dst, std::int64_t dst_step, const char *src,
                                                 std::int64_t src_step, std::int64_t rows,
                                                 std::int64_t columns) {
    constexpr std::int64_t size = sizeof(T);
    const std::int64_t whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
    for (std::int64_t c = 0; c < whole_columns; c += 4)
        for (std::int64_t r = 0; r < whole_rows; r += 4)
            tile<T>(dst + c * dst_step + r * size, dst_step, src + r * src_step + c * size,
                    src_step);
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = r < whole_rows ? whole_columns : 0; c < columns; ++c)
            std::memcpy(dst + c * dst_step + r * size, src + r * src_step + c * size, size);
}

JITWISE_WIDE void plane_of_4(char *dst, std::int64_t dst_step, const char *src,
                             std::int64_t src_step, std::int64_t rows, std::int64_t columns) {
    plane<std::int32_t>(dst, dst_step, src, src_step, rows, columns);
}
JITWISE_WIDE void plane_of_8(char *dst, std::int64_t dst_step, const char *src,
                             std::int64_t src_step, std::int64_t rows, std::int64_t columns) {
    plane<std::int64_t>(dst, dst_step, src, src_step, rows, columns);
}

}  // namespace

bool transpose(char *dst, std::int64_t dst_step, const char *src, std::int64_t src_step,
               std::int64_t rows, std::int64_t columns, int itemsize) {
    if (itemsize == 8) plane_of_8(dst, dst_step, src, src_step, rows, columns);
    else if (itemsize == 4) plane_of_4(dst, dst_step, src, src_step, rows, columns);
    else return false;
    return true;
}

}  // namespace jitwise
