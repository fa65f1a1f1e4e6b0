// IEEE half precision to single and back, in integer arithmetic, rounding to nearest even. Of the
// flags only overflow is raised.
#pragma once

#include <cstdint>
#include <cstring>

#include "float_flags.h"

namespace jitwise {

inline float half_to_float(std::uint16_t half) {
    std::uint32_t sign = std::uint32_t(half & 0x8000) << 16, rest = half & 0x7fff, bits;
    if (rest >= 0x7c00) {
        bits = sign | 0x7f800000 | ((rest & 0x3ff) << 13);
    } else if (rest >= 0x400) {
        bits = sign | ((rest + 0x1c000) << 13);
    } else {
        float value = static_cast<float>(rest) * 5.9604644775390625e-8f;  // 2^-24, exact
        std::memcpy(&bits, &value, 4);
        bits |= sign;
    }
    float result;
    std::memcpy(&result, &bits, 4);
    return result;
}

inline std::uint16_t float_to_half(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, 4);
    std::uint16_t sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
    bits &= 0x7fffffff;
    if (bits > 0x7f800000)
        return sign | 0x7c00 | static_cast<std::uint16_t>((bits >> 13) & 0x3ff) | 0x200;
    if (bits >= 0x477ff000) {
        if (bits != 0x7f800000) float_flags::raise(float_flags::overflow);
        return sign | 0x7c00;
    }
    if (bits >= 0x38800000) {
        std::uint32_t rounded = bits + 0xfff + ((bits >> 13) & 1);
        return sign | static_cast<std::uint16_t>((rounded - 0x38000000) >> 13);
    }
    if (bits < 0x33000000) return sign;
    std::uint32_t shift = 126 - (bits >> 23);
    std::uint32_t mantissa = (bits & 0x7fffff) | 0x800000;
    std::uint32_t kept = mantissa >> shift, left = mantissa & ((1u << shift) - 1),
                  half = 1u << (shift - 1);
    if (left > half || (left == half && (kept & 1))) ++kept;
    return sign | static_cast<std::uint16_t>(kept);
}

}  // namespace jitwise
