// The order in which NumPy's iterator walks the axes of its operands.
//
// From C order, an axis of larger strides goes before one of smaller strides (insertion sort); where
// two operands disagree, C order wins; an axis of stride 0 is compared with none, and neither is one
// of length 1. It is also the order ("K") in which the results of NumPy's elementwise functions lie.
//
//     f64[300, 20] strides (8, 2400)                       1, 0
//     the same and f64[300, 20] strides (160, 8)           0, 1
#pragma once

#include <cstdint>
#include <cstdlib>

#include "view.h"

namespace jitwise {

// Sorts `order`, which names axes in C order. `stride(operand, axis)`; false: it is in C order.
template <class Stride>
bool sort_axes(int *order, int count, const std::int64_t *shape, int operands, Stride stride) {
    enum { unknown, before, after };
    bool is_moved = false;
    for (int i = count - 2; i >= 0; --i) {  // innermost first, as NumPy
        const int axis = order[i];
        if (shape[axis] == 1) continue;
        int place = i;
        for (int j = i + 1; j < count; ++j) {
            if (shape[order[j]] == 1) continue;
            int found = unknown;
            for (int k = 0; k < operands; ++k) {
                const std::int64_t own = std::abs(stride(k, axis)),
                                   other = std::abs(stride(k, order[j]));
                if (own == 0 || other == 0) continue;
                if (other <= own) found = before;
                else if (found == unknown) found = after;
            }
            if (found == before) break;
            if (found == after) place = j;
        }
        is_moved |= place != i;
        for (int j = i; j < place; ++j) order[j] = order[j + 1];
        order[place] = axis;
    }
    return is_moved;
}

}  // namespace jitwise
