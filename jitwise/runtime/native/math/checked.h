// The floating-point flags that a function over a buffer leaves: those NumPy's would, whatever the
// polynomials and blends inside have raised.
//
//     invalid                a result is nan and no argument is
//     divide or overflow     a result is infinite and all arguments are finite: by the function
//     underflow              e^x, 2^x, x^y are too small (elsewhere it is not told)
//
// A block whose arguments all lie where the function is at ease (`Domain`) raises nothing that
// matters, and is left alone: to read and write the flags takes as long as e^x of 64 numbers. Of
// others the results are looked at, as integers. Only where one is not finite are the arguments
// needed, so the function may not write over them: for callers who ask for that they are kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "elementary.h"
#include "float_flags.h"

namespace jitwise {
namespace math {
namespace JITWISE_MATH_VARIANT {
namespace {

// What an infinite result of finite arguments means. out_of_range: overflow, and numbers that are
// not normal mean underflow; power: that, or a pole where the base is 0.
// sum: of exponentials, whose difference NumPy takes first; a nan is invalid.
enum class Infinite { never, pole, overflow, out_of_range, power, sum };

// Arguments for which nothing but inexact and underflow is raised, and results are finite. `any` is
// none, for functions that take so long that looking costs more than it saves.
enum class Domain {
    any,
    nonzero,           // and normal
    turns,             // |x| <= 2^16
    few_turns,         // |x| <= 2^13, and not too small
    exponents,         // e^x is a normal number, and e^-x
    binary_exponents,  // 2^x is, and 2^-x
    below_one,         // |x| < 1
    inside_one,        // |x| < 1, and its square is a normal number
    positive,          // and normal
    above_one,
    above_minus_one,
    moderate,  // squares and quotients are normal numbers; not 0
    powers,     // |log2 x| <= 60 (float64), 7 (float32)
    exponents_of_powers,  // |x| <= 16 and not too small
};

// The domain of the second argument where that of the first is `domain`.
constexpr Domain of_second(Domain domain) {
    return domain == Domain::powers ? Domain::exponents_of_powers : domain;
}

constexpr int64_t block_size = 128;

template <typename T>
struct Format {
    using Word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    static constexpr Word size = ~Word(0) >> 1;
    static constexpr int mantissa = sizeof(T) == 8 ? 52 : 23;
    static constexpr Word infinity = Word(sizeof(T) == 8 ? 0x7ff : 0xff) << mantissa;
    static constexpr Word smallest_normal = Word(1) << mantissa;
    static constexpr Word one = infinity / 2 / smallest_normal * smallest_normal;
    static constexpr Word power_of_two(int k) {
        return static_cast<Word>(static_cast<int>(one >> mantissa) + k) << mantissa;
    }

    INLINE Word magnitude(T x) {
        Word word;
        std::memcpy(&word, &x, sizeof x);
        return word & size;
    }
};

// A number is in the domain when its word without `cleared`, less `least`, is at most `span`.
template <typename T>
struct Interval {
    typename Format<T>::Word cleared, least, span;
};

template <typename T>
constexpr Interval<T> interval_of(Domain domain) {
    using F = Format<T>;
    constexpr auto sign = F::size + 1;
    constexpr int far = sizeof(T) == 8 ? 500 : 60;
    constexpr auto half = F::smallest_normal / 2;
    switch (domain) {
    case Domain::turns: return {sign, 0, F::power_of_two(16)};
    case Domain::few_turns:
        return {sign, F::power_of_two(-far), F::power_of_two(13) - F::power_of_two(-far)};
    case Domain::exponents:  // 1.25 * 2^9 = 640, 1.25 * 2^6 = 80
        return {sign, 0, F::power_of_two(sizeof(T) == 8 ? 9 : 6) + half / 2};
    case Domain::binary_exponents: return {sign, 0, F::power_of_two(sizeof(T) == 8 ? 9 : 6)};
    case Domain::below_one: return {sign, 0, F::one - 1};
    case Domain::inside_one:
        return {sign, F::power_of_two(-far), F::one - 1 - F::power_of_two(-far)};
    case Domain::positive: return {0, F::smallest_normal, F::infinity - F::smallest_normal - 1};
    case Domain::above_one: return {0, F::one + 1, F::infinity - F::one - 2};
    case Domain::powers: {
        constexpr int most = sizeof(T) == 8 ? 60 : 7;
        return {0, F::power_of_two(-most), F::power_of_two(most) - F::power_of_two(-most)};
    }
    case Domain::exponents_of_powers:
        return {sign, F::power_of_two(-far), F::power_of_two(4) - F::power_of_two(-far)};
    case Domain::moderate:
        return {sign, F::power_of_two(-far), F::power_of_two(far) - F::power_of_two(-far)};
    default: return {sign, F::smallest_normal, F::infinity - F::smallest_normal - 1};
    }
}

template <typename T, Domain domain>
INLINE bool is_at_ease(const T *x, int64_t n) {
    using F = Format<T>;
    using Word = typename F::Word;
    constexpr Interval<T> interval = interval_of<T>(domain);
#if defined(__AVX512F__)
    constexpr int native = 64 / sizeof(T);
    __mmask16 outside = 0;
    for (int64_t i = 0; i < n; i += native) {
        __m512i words = _mm512_loadu_si512(x + i);
        if constexpr (sizeof(T) == 8) {
            if constexpr (domain == Domain::above_minus_one) {
                const __m512i size = _mm512_and_si512(words, _mm512_set1_epi64(F::size));
                outside |= _mm512_cmpge_epu64_mask(words, _mm512_set1_epi64(F::infinity)) &
                           _mm512_cmpge_epu64_mask(size, _mm512_set1_epi64(F::one));
                continue;
            }
            words = _mm512_and_si512(words, _mm512_set1_epi64(~interval.cleared));
            if (interval.least != 0)
                words = _mm512_sub_epi64(words, _mm512_set1_epi64(interval.least));
            outside |= _mm512_cmpgt_epu64_mask(words, _mm512_set1_epi64(interval.span));
        } else {
            if constexpr (domain == Domain::above_minus_one) {
                const __m512i size = _mm512_and_si512(words, _mm512_set1_epi32(F::size));
                outside |= _mm512_cmpge_epu32_mask(words, _mm512_set1_epi32(F::infinity)) &
                           _mm512_cmpge_epu32_mask(size, _mm512_set1_epi32(F::one));
                continue;
            }
            words = _mm512_and_si512(words, _mm512_set1_epi32(~interval.cleared));
            if (interval.least != 0)
                words = _mm512_sub_epi32(words, _mm512_set1_epi32(interval.least));
            outside |= _mm512_cmpgt_epu32_mask(words, _mm512_set1_epi32(interval.span));
        }
    }
    return outside == 0;
#else
    constexpr int width = 16;  // n is a multiple of it
    Word worst[width] = {};
    for (int64_t i = 0; i < n; i += width)
        for (int k = 0; k < width; ++k) {
            Word word;
            std::memcpy(&word, x + i + k, sizeof word);
            Word distance = (word & ~interval.cleared) - interval.least;
            // What is above -1 and negative has a magnitude below 1.
            if (domain == Domain::above_minus_one)
                distance = (word & F::size) < F::one ? 0 : word;
            worst[k] = std::max(worst[k], distance);
        }
    Word most = 0;
    for (int k = 0; k < width; ++k) most = std::max(most, worst[k]);
    return most <= interval.span;
#endif
}

template <Infinite meaning>
constexpr bool may_underflow = meaning == Infinite::out_of_range || meaning == Infinite::power;

template <typename T, Infinite meaning>
INLINE bool is_ordinary(const T *out, int64_t n) {
    using F = Format<T>;
    typename F::Word largest = 0, least = F::size;
    for (int64_t i = 0; i < n; ++i) {
        const auto word = F::magnitude(out[i]);
        largest = std::max(largest, word);
        if (may_underflow<meaning>) least = std::min(least, word);
    }
    return largest < F::infinity && !(may_underflow<meaning> && least < F::smallest_normal);
}

// `larger`, of the arguments' magnitudes; `base`, the first one's.
template <typename T, Infinite meaning>
INLINE int flags_of(typename Format<T>::Word larger, typename Format<T>::Word base,
                    typename Format<T>::Word result) {
    using F = Format<T>;
    using namespace float_flags;
    if (result > F::infinity)
        return larger > F::infinity && meaning != Infinite::sum ? 0 : invalid;
    if (meaning == Infinite::power && base == 0 && result == F::infinity) return divide;
    if (larger >= F::infinity) return 0;
    if (may_underflow<meaning> && result < F::smallest_normal)
        return meaning == Infinite::power && base == 0 ? 0 : underflow;
    if (result < F::infinity || meaning == Infinite::never) return 0;
    return meaning == Infinite::pole ? divide : overflow;
}

template <typename T, Infinite meaning>
__attribute__((noinline, cold)) int flags_of_block(const T *a, const T *b, const T *out,
                                                   int64_t n) {
    using F = Format<T>;
    int raised = 0;
    for (int64_t i = 0; i < n; ++i) {
        const auto base = F::magnitude(a[i]);
        raised |= flags_of<T, meaning>(std::max(base, F::magnitude(b[i])), base,
                                       F::magnitude(out[i]));
        if (meaning == Infinite::sum && F::magnitude(a[i]) < F::infinity &&
            F::magnitude(b[i]) < F::infinity && F::magnitude(a[i] - b[i]) == F::infinity)
            raised |= float_flags::overflow;
    }
    return raised;
}

template <typename T>
INLINE const T *kept(const T *x, const T *out, T *room, int64_t n) {
    if (x != out) return x;
    std::memcpy(room, x, static_cast<std::size_t>(n) * sizeof(T));
    return room;
}

template <typename T, Infinite meaning>
INLINE void put_right(unsigned before, const T *a, const T *b, const T *out, int64_t n) {
    int flags = float_flags::flags_in(before);
    if (meaning == Infinite::sum || !is_ordinary<T, meaning>(out, n)) flags |= flags_of_block<T, meaning>(a, b, out, n);
    float_flags::replace(float_flags::word(), flags);
}

// `at_ease` is `function`, or a faster form of it for arguments in the domain.
template <typename T, void (*function)(const T *, T *, int64_t),
          void (*at_ease)(const T *, T *, int64_t), Infinite meaning, Domain domain>
void checked(const T *x, T *out, int64_t n) {
    for (int64_t i = 0; i < n; i += block_size) {
        const int64_t count = std::min(block_size, n - i);
        if (domain != Domain::any && is_at_ease<T, domain>(x + i, count)) {
            at_ease(x + i, out + i, count);
            continue;
        }
        T room[block_size];
        const T *a = kept(x + i, out + i, room, count);
        const unsigned before = float_flags::word();
        function(a, out + i, count);
        put_right<T, meaning>(before, a, a, out + i, count);
    }
}

template <typename T, void (*function)(const T *, const T *, T *, int64_t),
          void (*at_ease)(const T *, const T *, T *, int64_t), Infinite meaning, Domain domain>
void checked_binary(const T *x, const T *y, T *out, int64_t n) {
    for (int64_t i = 0; i < n; i += block_size) {
        const int64_t count = std::min(block_size, n - i);
        if (domain != Domain::any && is_at_ease<T, domain>(x + i, count) &&
            is_at_ease<T, of_second(domain)>(y + i, count)) {
            at_ease(x + i, y + i, out + i, count);
            continue;
        }
        T room[block_size], more[block_size];
        const T *a = kept(x + i, out + i, room, count);
        const T *b = kept(y + i, out + i, more, count);
        const unsigned before = float_flags::word();
        function(a, b, out + i, count);
        put_right<T, meaning>(before, a, b, out + i, count);
    }
}

}  // namespace
}  // namespace JITWISE_MATH_VARIANT
}  // namespace math
}  // namespace jitwise
