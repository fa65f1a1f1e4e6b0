// Products of any type, for those that BLAS does not know: four rows of the result at a time, so
// that a row of b is read once for four.
#include <complex>
#include <cstring>

#include "half.h"
#include "matmul.h"
#include "memory.h"
#include "small_buffer.h"
#include "strided.h"

namespace jitwise {

namespace {

template <class T>
struct Same {
    using Sum = T;
    static Sum read(const char *address) {
        T value;
        std::memcpy(&value, address, sizeof(T));
        return value;
    }
    static void write(char *address, Sum sum) {
        T value = static_cast<T>(sum);
        std::memcpy(address, &value, sizeof(T));
    }
    static Sum join(Sum sum, Sum a, Sum b) { return static_cast<Sum>(sum + a * b); }
    static constexpr int size = sizeof(T);
};
struct Logical : Same<std::uint8_t> {
    static std::uint8_t join(std::uint8_t sum, std::uint8_t a, std::uint8_t b) {
        return sum | (a & b);
    }
};
struct Half {
    using Sum = float;
    static float read(const char *address) {
        return half_to_float(Same<std::uint16_t>::read(address));
    }
    static void write(char *address, float sum) {
        Same<std::uint16_t>::write(address, float_to_half(sum));
    }
    static float join(float sum, float a, float b) { return sum + a * b; }
    static constexpr int size = 2;
};

constexpr std::int64_t columns_at_once = 512;
constexpr int rows_at_once = 4;

template <class Element>
void tile(const Product2d &p, std::int64_t row, int rows, std::int64_t column, std::int64_t columns,
          typename Element::Sum *sums, typename Element::Sum *b) {
    using Sum = typename Element::Sum;
    for (std::int64_t i = 0; i < rows * columns_at_once; ++i) sums[i] = Sum(0);
    for (std::int64_t r = 0; r < p.k; ++r) {
        const char *source = p.b.data + r * p.b.row_stride + column * p.b.column_stride;
        for (std::int64_t c = 0; c < columns; ++c)
            b[c] = Element::read(source + c * p.b.column_stride);
        for (int i = 0; i < rows; ++i) {
            const Sum a =
                Element::read(p.a.data + (row + i) * p.a.row_stride + r * p.a.column_stride);
            Sum *sum = sums + i * columns_at_once;
            for (std::int64_t c = 0; c < columns; ++c) sum[c] = Element::join(sum[c], a, b[c]);
        }
    }
    for (int i = 0; i < rows; ++i) {
        char *out = p.out.data + (row + i) * p.out.row_stride + column * Element::size;
        for (std::int64_t c = 0; c < columns; ++c)
            Element::write(out + c * Element::size, sums[i * columns_at_once + c]);
    }
}

template <class Element>
void product_of(const Product2d &p, std::int64_t begin, std::int64_t end) {
    using Sum = typename Element::Sum;
    Scratch memory((rows_at_once + 1) * columns_at_once * sizeof(Sum));
    Sum *sums = reinterpret_cast<Sum *>(memory.data()), *b = sums + rows_at_once * columns_at_once;
    for (std::int64_t column = 0; column < p.n; column += columns_at_once) {
        const std::int64_t columns = std::min(columns_at_once, p.n - column);
        for (std::int64_t row = begin; row < end; row += rows_at_once)
            tile<Element>(p, row, static_cast<int>(std::min<std::int64_t>(rows_at_once, end - row)),
                          column, columns, sums, b);
    }
}

}  // namespace

void plain_product(ElementType type, const Product2d &p, std::int64_t begin, std::int64_t end) {
    switch (type) {
    case ElementType::boolean: return product_of<Logical>(p, begin, end);
    case ElementType::i8:
    case ElementType::u8: return product_of<Same<std::uint8_t>>(p, begin, end);
    case ElementType::i16:
    case ElementType::u16: return product_of<Same<std::uint16_t>>(p, begin, end);
    case ElementType::i32:
    case ElementType::u32: return product_of<Same<std::uint32_t>>(p, begin, end);
    case ElementType::i64:
    case ElementType::u64: return product_of<Same<std::uint64_t>>(p, begin, end);
    case ElementType::f16: return product_of<Half>(p, begin, end);
    case ElementType::f32: return product_of<Same<float>>(p, begin, end);
    case ElementType::f64: return product_of<Same<double>>(p, begin, end);
    case ElementType::c64: return product_of<Same<std::complex<float>>>(p, begin, end);
    case ElementType::c128: return product_of<Same<std::complex<double>>>(p, begin, end);
    default: return;
    }
}

}  // namespace jitwise
