// Eight bytes of a mask at a time: none true, all true, or each element is written and the place
// moves on when its byte is true. With AVX-512 the instruction that does just that.
#include "mask_lines.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "view.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__)
#define JITWISE_COMPRESS 1
#include <immintrin.h>
#define JITWISE_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl")))
#else
#define JITWISE_COMPRESS 0
#endif

namespace jitwise {

namespace {

constexpr std::uint64_t each_byte = 0x0101010101010101;

// 1 in each byte that is not 0.
std::uint64_t truth_of(const std::uint8_t *mask) {
    std::uint64_t word;
    std::memcpy(&word, mask, 8);
    word |= word >> 4;
    word |= word >> 2;
    word |= word >> 1;
    return word & each_byte;
}

int sum_of_bytes(std::uint64_t word) { return static_cast<int>((word * each_byte) >> 56); }

template <int itemsize>
struct Element {
    char bytes[itemsize];
};

template <class T>
std::int64_t compress_typed(char *out, std::int64_t room, const char *in, std::int64_t stride,
                            const std::uint8_t *mask, std::int64_t count) {
    std::int64_t i = 0, taken = 0;
    for (; i + 8 <= count && taken + 8 <= room; i += 8) {
        std::uint64_t truth = truth_of(mask + i);
        if (truth == 0) continue;
        const char *from = in + i * stride;
        if (truth == each_byte && stride == static_cast<std::int64_t>(sizeof(T))) {
            std::memcpy(out + taken * sizeof(T), from, 8 * sizeof(T));
            taken += 8;
            continue;
        }
        for (int k = 0; k < 8; ++k, truth >>= 8) {
            store(out + taken * sizeof(T), load<T>(from + k * stride));
            taken += static_cast<std::int64_t>(truth & 1);
        }
    }
    for (; i < count && taken < room; ++i)
        if (mask[i] != 0) store(out + taken++ * sizeof(T), load<T>(in + i * stride));
    return taken;
}

template <class T>
std::int64_t expand_typed(char *out, const char *in, std::int64_t room, const std::uint8_t *mask,
                          std::int64_t count) {
    std::int64_t i = 0, taken = 0;
    for (; i + 8 <= count && taken + 8 <= room; i += 8) {
        std::uint64_t truth = truth_of(mask + i);
        if (truth == 0) continue;
        char *to = out + i * sizeof(T);
        if (truth == each_byte) {
            std::memcpy(to, in + taken * sizeof(T), 8 * sizeof(T));
            taken += 8;
            continue;
        }
        for (int k = 0; k < 8; ++k, truth >>= 8) {
            const char *from = (truth & 1) != 0 ? in + taken * sizeof(T) : to + k * sizeof(T);
            store(to + k * sizeof(T), load<T>(from));
            taken += static_cast<std::int64_t>(truth & 1);
        }
    }
    for (; i < count && taken < room; ++i)
        if (mask[i] != 0) store(out + i * sizeof(T), load<T>(in + taken++ * sizeof(T)));
    return taken;
}

template <class T>
void take_typed(char *out, const char *in, const std::int64_t *places, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
        store(out + i * sizeof(T), load<T>(in + places[i] * sizeof(T)));
}

#if JITWISE_COMPRESS

constexpr int few = 8;  // true elements of 64 that are quicker taken one by one

bool has_compress() {
    static const bool has = __builtin_cpu_supports("avx512f") &&
                            __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512vl");
    return has;
}

JITWISE_AVX512 std::uint64_t bits_of(const std::uint8_t *mask) {
    const __m512i bytes = _mm512_loadu_si512(mask);
    return _mm512_test_epi8_mask(bytes, bytes);
}

// Elements of 8 or 4 bytes in one vector.
template <int bytes>
constexpr int lanes = 64 / bytes;
template <int bytes>
using Lanes = std::conditional_t<bytes == 8, __mmask8, __mmask16>;

// The first `*done` elements, a multiple of 64; as many as `room` is sure to hold.
template <int bytes>
JITWISE_AVX512 std::int64_t compress_wide(char *out, std::int64_t room, const char *in,
                                          const std::uint8_t *mask, std::int64_t count,
                                          std::int64_t *done) {
    std::int64_t i = 0, taken = 0;
    for (; i + 64 <= count && taken + 64 <= room; i += 64) {
        std::uint64_t bits = bits_of(mask + i);
        if (__builtin_popcountll(bits) <= few) {
            for (; bits != 0; bits &= bits - 1, ++taken)
                std::memcpy(out + taken * bytes, in + (i + __builtin_ctzll(bits)) * bytes, bytes);
            continue;
        }
        for (int k = 0; k < 64; k += lanes<bytes>, bits >>= lanes<bytes>) {
            const auto part = static_cast<Lanes<bytes>>(bits);
            const __m512i all = _mm512_loadu_si512(in + (i + k) * bytes);
            __m512i found;
            if constexpr (bytes == 8) found = _mm512_maskz_compress_epi64(part, all);
            else found = _mm512_maskz_compress_epi32(part, all);
            _mm512_storeu_si512(out + taken * bytes, found);
            taken += __builtin_popcount(part);
        }
    }
    *done = i;
    return taken;
}

template <int bytes>
JITWISE_AVX512 std::int64_t expand_wide(char *out, const char *in, std::int64_t room,
                                        const std::uint8_t *mask, std::int64_t count,
                                        std::int64_t *done) {
    std::int64_t i = 0, taken = 0;
    for (; i + 64 <= count && taken + 64 <= room; i += 64) {
        std::uint64_t bits = bits_of(mask + i);
        if (__builtin_popcountll(bits) <= few) {
            for (; bits != 0; bits &= bits - 1, ++taken)
                std::memcpy(out + (i + __builtin_ctzll(bits)) * bytes, in + taken * bytes, bytes);
            continue;
        }
        for (int k = 0; k < 64; k += lanes<bytes>, bits >>= lanes<bytes>) {
            const auto part = static_cast<Lanes<bytes>>(bits);
            const __m512i values = _mm512_loadu_si512(in + taken * bytes);
            char *to = out + (i + k) * bytes;
            if constexpr (bytes == 8)
                _mm512_mask_storeu_epi64(to, part, _mm512_maskz_expand_epi64(part, values));
            else
                _mm512_mask_storeu_epi32(to, part, _mm512_maskz_expand_epi32(part, values));
            taken += __builtin_popcount(part);
        }
    }
    *done = i;
    return taken;
}

JITWISE_AVX512 std::int64_t places_wide(std::int64_t *out, std::int64_t room,
                                        const std::uint8_t *mask, std::int64_t count,
                                        std::int64_t first, std::int64_t *done) {
    std::int64_t i = 0, taken = 0;
    const __m512i steps = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    for (; i + 64 <= count && taken + 64 <= room; i += 64) {
        std::uint64_t bits = bits_of(mask + i);
        if (__builtin_popcountll(bits) <= few) {
            for (; bits != 0; bits &= bits - 1) out[taken++] = first + i + __builtin_ctzll(bits);
            continue;
        }
        for (int k = 0; k < 64; k += 8, bits >>= 8) {
            const __mmask8 part = static_cast<__mmask8>(bits);
            const __m512i places = _mm512_add_epi64(steps, _mm512_set1_epi64(first + i + k));
            _mm512_storeu_si512(out + taken, _mm512_maskz_compress_epi64(part, places));
            taken += __builtin_popcount(part);
        }
    }
    *done = i;
    return taken;
}

JITWISE_AVX512 std::int64_t count_wide(const std::uint8_t *mask, std::int64_t count,
                                       std::int64_t *done) {
    std::int64_t i = 0, total = 0;
    for (; i + 64 <= count; i += 64) total += __builtin_popcountll(bits_of(mask + i));
    *done = i;
    return total;
}

#endif

}  // namespace

std::int64_t count_true(const std::uint8_t *mask, std::int64_t count) {
    std::int64_t total = 0, i = 0;
#if JITWISE_COMPRESS
    if (has_compress()) total = count_wide(mask, count, &i);
#endif
    for (; i + 8 <= count; i += 8) total += sum_of_bytes(truth_of(mask + i));
    for (; i < count; ++i) total += mask[i] != 0;
    return total;
}

std::int64_t compress_run(char *out, std::int64_t room, const char *in, const std::uint8_t *mask,
                          std::int64_t count, int itemsize) {
    std::int64_t taken = 0, done = 0;
#if JITWISE_COMPRESS
    if (has_compress() && itemsize == 8) taken = compress_wide<8>(out, room, in, mask, count, &done);
    if (has_compress() && itemsize == 4) taken = compress_wide<4>(out, room, in, mask, count, &done);
#endif
    return taken + compress_strided(out + taken * itemsize, room - taken, in + done * itemsize,
                                    itemsize, mask + done, count - done, itemsize);
}

std::int64_t compress_strided(char *out, std::int64_t room, const char *in, std::int64_t stride,
                              const std::uint8_t *mask, std::int64_t count, int itemsize) {
    switch (itemsize) {
    case 1: return compress_typed<std::uint8_t>(out, room, in, stride, mask, count);
    case 2: return compress_typed<std::uint16_t>(out, room, in, stride, mask, count);
    case 4: return compress_typed<std::uint32_t>(out, room, in, stride, mask, count);
    case 8: return compress_typed<std::uint64_t>(out, room, in, stride, mask, count);
    default: return compress_typed<Element<16>>(out, room, in, stride, mask, count);
    }
}

std::int64_t expand_run(char *out, const char *in, std::int64_t room, const std::uint8_t *mask,
                        std::int64_t count, int itemsize) {
    std::int64_t taken = 0, done = 0;
#if JITWISE_COMPRESS
    if (has_compress() && itemsize == 8) taken = expand_wide<8>(out, in, room, mask, count, &done);
    if (has_compress() && itemsize == 4) taken = expand_wide<4>(out, in, room, mask, count, &done);
#endif
    out += done * itemsize, in += taken * itemsize, mask += done;
    room -= taken, count -= done;
    switch (itemsize) {
    case 1: return taken + expand_typed<std::uint8_t>(out, in, room, mask, count);
    case 2: return taken + expand_typed<std::uint16_t>(out, in, room, mask, count);
    case 4: return taken + expand_typed<std::uint32_t>(out, in, room, mask, count);
    case 8: return taken + expand_typed<std::uint64_t>(out, in, room, mask, count);
    default: return taken + expand_typed<Element<16>>(out, in, room, mask, count);
    }
}

void take_run(char *out, const char *in, const std::int64_t *places, std::int64_t count,
              std::int64_t bytes) {
    switch (bytes) {
    case 1: return take_typed<std::uint8_t>(out, in, places, count);
    case 2: return take_typed<std::uint16_t>(out, in, places, count);
    case 4: return take_typed<std::uint32_t>(out, in, places, count);
    case 8: return take_typed<std::uint64_t>(out, in, places, count);
    case 16: return take_typed<Element<16>>(out, in, places, count);
    default:
        for (std::int64_t i = 0; i < count; ++i)
            std::memcpy(out + i * bytes, in + places[i] * bytes, bytes);
    }
}

std::int64_t places_run(std::int64_t *out, std::int64_t room, const std::uint8_t *mask,
                        std::int64_t count, std::int64_t first) {
    std::int64_t taken = 0, i = 0;
#if JITWISE_COMPRESS
    if (has_compress()) taken = places_wide(out, room, mask, count, first, &i);
#endif
    for (; i + 8 <= count && taken + 8 <= room; i += 8) {
        std::uint64_t truth = truth_of(mask + i);
        if (truth == 0) continue;
        for (int k = 0; k < 8; ++k, truth >>= 8) {
            out[taken] = first + i + k;
            taken += static_cast<std::int64_t>(truth & 1);
        }
    }
    for (; i < count && taken < room; ++i)
        if (mask[i] != 0) out[taken++] = first + i;
    return taken;
}

}  // namespace jitwise
