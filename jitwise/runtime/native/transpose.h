// Transposition of a plane of elements of 4 or 8 bytes, in 4 by 4 tiles of vector shuffles.
#pragma once

#include <cstdint>

namespace jitwise {

// dst[c * dst_step + r * itemsize] = src[r * src_step + c * itemsize]. False: not for this
// itemsize.
bool transpose(char *dst, std::int64_t dst_step, const char *src, std::int64_t src_step,
               std::int64_t rows, std::int64_t columns, int itemsize);

}  // namespace jitwise
