// Elements where a mask is true, of one dense run: counting, collecting, putting back.
//
//     mask  0 1 1 0 1
//     in    a b c d e   ->   out  b c e            (compress_run)
//     out   a b c d e   ->        a x y d z        (expand_run of x y z)
//
// Any byte but 0 is true. `room` is how many elements `out` (or `in`) has: nothing beyond it is
// touched, whatever the mask says.
#pragma once

#include <cstdint>

namespace jitwise {

std::int64_t count_true(const std::uint8_t *mask, std::int64_t count);
// Gives how many elements were collected. Itemsizes are 1, 2, 4, 8, 16.
std::int64_t compress_run(char *out, std::int64_t room, const char *in, const std::uint8_t *mask,
                          std::int64_t count, int itemsize);
// The same of elements `stride` bytes apart.
std::int64_t compress_strided(char *out, std::int64_t room, const char *in, std::int64_t stride,
                              const std::uint8_t *mask, std::int64_t count, int itemsize);
std::int64_t expand_run(char *out, const char *in, std::int64_t room, const std::uint8_t *mask,
                        std::int64_t count, int itemsize);
// The elements of `bytes` at these places.
void take_run(char *out, const char *in, const std::int64_t *places, std::int64_t count,
              std::int64_t bytes);
// The numbers of the true elements, counted from `first`.
std::int64_t places_run(std::int64_t *out, std::int64_t room, const std::uint8_t *mask,
                        std::int64_t count, std::int64_t first);

}  // namespace jitwise
