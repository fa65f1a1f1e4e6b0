// Rows of which it is asked whether any element, or every one, is true: one cache line after
// another until that is known.
//
//     any   0 0 0 0 | 0 5 . . | . . . .   ->   the third line is never read
//
// Elements are tested by their bits, so no floating-point flag is raised: all but the sign count in
// a float. Where an element begins does not matter to `any`, which takes complex numbers too.
#include "rows.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // of the intrinsics themselves
#endif
#include "row_vectors.h"

namespace jitwise {

namespace {

#if JITWISE_HAS_ROW_VECTORS

constexpr std::int64_t line = 64;
constexpr std::uint64_t every_bit = ~std::uint64_t(0);
// All bits but the sign, whatever elements of this size there are in 8 bytes.
constexpr std::uint64_t half = 0x7fff7fff7fff7fff, single = 0x7fffffff7fffffff,
                        twice = 0x7fffffffffffffff;

template <std::uint64_t bits, int>
struct Any {
    static constexpr char fill = 0;
    JITWISE_512_INLINE bool is_decided(__m512i v) {
        return _mm512_test_epi64_mask(v, _mm512_set1_epi64(static_cast<long long>(bits))) != 0;
    }
    JITWISE_512_INLINE bool is_decided(const __m512i *v) {
        return is_decided((v[0] | v[1]) | (v[2] | v[3]));
    }
};

template <std::uint64_t bits, int size>
struct All {
    static constexpr char fill = -1;
    JITWISE_512_INLINE bool is_decided(__m512i v) {
        const __m512i counted = _mm512_set1_epi64(static_cast<long long>(bits));
        if constexpr (size == 1) return _mm512_testn_epi8_mask(v, counted) != 0;
        else if constexpr (size == 2) return _mm512_testn_epi16_mask(v, counted) != 0;
        else if constexpr (size == 4) return _mm512_testn_epi32_mask(v, counted) != 0;
        else return _mm512_testn_epi64_mask(v, counted) != 0;
    }
    JITWISE_512_INLINE bool is_decided(const __m512i *v) {
        return is_decided(v[0]) | is_decided(v[1]) | is_decided(v[2]) | is_decided(v[3]);
    }
};

template <class Test>
JITWISE_512_INLINE bool is_decided(const char *row, std::int64_t bytes, int size) {
    const auto address = reinterpret_cast<std::uintptr_t>(row);
    std::int64_t at = line - static_cast<std::int64_t>(address % line);  // the end of the first one
    if (address % static_cast<std::uintptr_t>(size) != 0) at = line;
    if (at > bytes) at = bytes;
    const __mmask64 first = every_bit >> (line - at);
    if (Test::is_decided(_mm512_mask_loadu_epi8(_mm512_set1_epi8(Test::fill), first, row)))
        return true;
    for (; at + 4 * line <= bytes; at += 4 * line) {
        __m512i v[4];
        for (int k = 0; k < 4; ++k) v[k] = _mm512_loadu_si512(row + at + k * line);
        if (Test::is_decided(v)) return true;
    }
    for (; at + line <= bytes; at += line)
        if (Test::is_decided(_mm512_loadu_si512(row + at))) return true;
    if (at == bytes) return false;
    const __mmask64 last = every_bit >> (line - (bytes - at));
    return Test::is_decided(_mm512_mask_loadu_epi8(_mm512_set1_epi8(Test::fill), last, row + at));
}

template <std::uint64_t bits, int size>
JITWISE_512 void any_of(const char *row, std::int64_t count, char *scalar) {
    *scalar = is_decided<Any<bits, size>>(row, count * size, size);
}

template <std::uint64_t bits, int size>
JITWISE_512 void all_of(const char *row, std::int64_t count, char *scalar) {
    *scalar = !is_decided<All<bits, size>>(row, count * size, size);
}

template <std::uint64_t bits, int size>
ReduceRow any_or_all(Combine op) {
    return op == Combine::bit_or    ? any_of<bits, size>
           : op == Combine::bit_and ? all_of<bits, size>
                                    : nullptr;
}

#pragma GCC diagnostic pop
#endif

}  // namespace

ReduceRow deciding_reduction(Combine op, ElementType element) {
#if JITWISE_HAS_ROW_VECTORS
    const bool is_any = op == Combine::bit_or;
    switch (element) {
    case ElementType::f16: return any_or_all<half, 2>(op);
    case ElementType::f32: return any_or_all<single, 4>(op);
    case ElementType::f64: return any_or_all<twice, 8>(op);
    case ElementType::c64: return is_any ? any_of<single, 8> : nullptr;
    case ElementType::c128: return is_any ? any_of<twice, 16> : nullptr;
    default: break;
    }
    switch (size_of(element)) {
    case 1: return any_or_all<every_bit, 1>(op);
    case 2: return any_or_all<every_bit, 2>(op);
    case 4: return any_or_all<every_bit, 4>(op);
    default: return any_or_all<every_bit, 8>(op);
    }
#else
    (void)op, (void)element;
    return nullptr;
#endif
}

}  // namespace jitwise
