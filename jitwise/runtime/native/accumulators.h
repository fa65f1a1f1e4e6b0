// Accumulators of reductions: layout, identities, merging, and the horizontal reduction of lanes.
//
// One reduction's accumulator is `lanes` elements, 64-byte aligned; argmin and argmax go on with
// `lanes` indices (i64, -1 before the first element) and one i64, the index of the first element of
// the next chunk. Lanes are reduced by a fixed tree (fold the upper half onto the lower one).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "element_type.h"

namespace jitwise {

enum class Combine : std::uint8_t {
    add,
    multiply,
    min,
    max,
    bit_and,
    bit_or,
    bit_xor,
    argmin,
    argmax
};

inline bool is_index(Combine op) { return op == Combine::argmin || op == Combine::argmax; }

// dst[i] = combine(dst[i], src[i]); src comes later in the order of the reduction.
using Merge = void (*)(char *dst, const char *src, std::int64_t count);
using MergeIndexed = void (*)(char *values, std::int64_t *indices, const char *other_values,
                              const std::int64_t *other_indices, std::int64_t count);

struct Reduction {
    Combine op;
    ElementType type;
    int phase;
    std::size_t offset = 0;          // of its accumulator
    std::size_t indices_offset = 0;  // argmin, argmax
    std::size_t counter_offset = 0;
    Merge merge = nullptr;
    MergeIndexed merge_indexed = nullptr;
    bool stops = false;  // one element may decide, whatever follows
    char identity[16] = {};
    char empty[16] = {};  // the result over no elements
};

// Fills in the derived members. False: no such combination of op and type.
bool prepare_reduction(Reduction &reduction);
bool combine_named(const char *name, Combine *op);

// The accumulators of reductions [first, last), all of `lanes` lanes.
void merge_accumulators(const Reduction *first, const Reduction *last, int lanes, char *dst,
                        const char *src);
// The result of reducing the lanes: 16 bytes per reduction to scalars[16 * r]; destroys the
// accumulator.
void reduce_lanes(const Reduction &reduction, int lanes, char *accumulators, char *scalar);
// The same for the common types, with wide vectors. False: not one of them.
bool reduce_by_tree(const Reduction &reduction, int lanes, char *accumulators, char *scalar);
// Result of one lane, when every lane is a row of its own (`lanes` lanes per chunk).
void result_of_wide_lane(const Reduction &reduction, int lanes, const char *accumulators, int lane,
                         char *scalar);
inline void result_of_lane(const Reduction &reduction, int lanes, const char *accumulators,
                           int lane, char *scalar) {
    const char *value = accumulators + reduction.offset;
    if (reduction.merge != nullptr && size_of(reduction.type) == 8)
        std::memcpy(scalar, value + lane * 8, 8);
    else if (reduction.merge != nullptr && size_of(reduction.type) == 4)
        std::memcpy(scalar, value + lane * 4, 4);
    else result_of_wide_lane(reduction, lanes, accumulators, lane, scalar);
}
// Whether no later element can change the result. For reductions that stop.
bool is_decided(const Reduction &reduction, int lanes, const char *accumulators);
void set_counters(const Reduction *first, const Reduction *last, char *accumulators,
                  std::int64_t index);

}  // namespace jitwise
