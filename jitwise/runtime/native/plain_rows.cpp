// Rows reduced as they lie in memory: nothing is computed before the reduction, so no compiled code
// is called for the elements, and what a row costs besides them is small.
//
//     argmax   the best values of four vectors' lanes, and where they came from; then the first
//              of the best
//     sum      the lanes of a chunk in registers, then the tree of row_worker.cpp: the same bits;
//              products too
//     any      deciding_rows.cpp
//
// For rows that are dense, on processors with vectors of 64 bytes. Float sums and products are served when the
// row is one block. The best values of floats are left out: which of two zeros is the larger
// depends on the order, and that must not depend on how a row lies in memory.
//
// No operation here sets a floating-point flag that the plain one would not: comparisons are quiet,
// and lanes without an element are masked.
#include "rows.h"

#include "pool.h"

#include <limits>
#include <type_traits>

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // of the intrinsics themselves
#endif
#include "row_vectors.h"

namespace jitwise {

namespace {

constexpr std::int64_t shortest_row = 8, shortest_indexed_row = 16;  // for others a lane is better

#if JITWISE_HAS_ROW_VECTORS

// The best values of a row so far, lane by lane, and the vectors they came from: the index of a
// vector's first element.
template <class T, bool is_min>
struct Best {
    using V = Vector<T>;
    using W = Vector<typename V::Index>;
    typename V::Type value;
    typename W::Type where;

    JITWISE_512_MEMBER void take(typename V::Type other, std::int64_t start) {
        const auto better = is_min ? V::less(other, value) : V::less(value, other);
        value = V::moved(value, better, other);
        where = W::moved(where, better, W::splat(static_cast<typename V::Index>(start)));
    }
};

template <class T, bool is_min>
JITWISE_512_INLINE T best_lane(typename Vector<T>::Type a) {
    return is_min ? Vector<T>::lowest(a) : Vector<T>::highest(a);
}

template <class T, bool is_min>
JITWISE_512_INLINE typename Vector<T>::Type better_of(typename Vector<T>::Type a,
                                                      typename Vector<T>::Type b) {
    return is_min ? Vector<T>::min(a, b) : Vector<T>::max(a, b);
}

struct Found {
    std::int64_t index;
    bool nan;  // there is one, and `index` has no meaning
};

constexpr std::int64_t longest_piece = 1 << 16;  // a narrow index counts this far

// The first of the best values among at least one and at most `longest_piece` elements. The last
// vectors may take elements for the second time.
template <class T, bool is_min>
JITWISE_512_INLINE Found first_best(const char *row, std::int64_t count, T *best) {
    using V = Vector<T>;
    using W = Vector<typename V::Index>;
    constexpr std::int64_t w = width<T>, size = sizeof(T);
    const auto none = W::splat(0);
    const auto start = V::load(V::splat(first_of<T>(row)), first_lanes<T>(count), row);
    typename V::Mask strange = V::unordered(start, start);
    Best<T, is_min> b[4] = {{start, none}, {start, none}, {start, none}, {start, none}};
    std::int64_t i = w;
    for (; i + 4 * w <= count; i += 4 * w) {
        typename V::Type e[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
            e[j] = load_once<T>(row + (i + j * w) * size);
            b[j].take(e[j], i + j * w);
        }
        strange |= V::unordered(e[0], e[1]) | V::unordered(e[2], e[3]);
    }
    if (i < count) {
        typename V::Type e[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
            const std::int64_t from = std::min(i + j * w, count - w);
            e[j] = load_once<T>(row + from * size);
            b[j].take(e[j], from);
        }
        strange |= V::unordered(e[0], e[1]) | V::unordered(e[2], e[3]);
    }
    if (strange != 0) return {0, true};
    const auto top = best_lane<T, is_min>(
        better_of<T, is_min>(better_of<T, is_min>(b[0].value, b[1].value),
                             better_of<T, is_min>(b[2].value, b[3].value)));
    const auto wanted = V::splat(top);
    auto first = W::splat(std::numeric_limits<typename V::Index>::max() - 64);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j)
        first = W::moved(first, V::equal(b[j].value, wanted), W::min(first, b[j].where));
    *best = top;
    return {W::lowest(W::add(first, W::counting())), false};
}

template <class T>
JITWISE_512_INLINE std::int64_t first_nan(const char *row, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        const T value = first_of<T>(row + i * sizeof(T));
        if (value != value) return i;
    }
    return -1;
}

template <class T, bool is_min>
JITWISE_512 std::int64_t index_of_best_in_pieces(const char *row, std::int64_t count) {
    std::int64_t index = 0;
    T best = 0;
    for (std::int64_t i = 0; i < count; i += longest_piece) {
        const char *here = row + i * sizeof(T);
        const std::int64_t size = std::min(longest_piece, count - i);
        T value = 0;
        const Found found = first_best<T, is_min>(here, size, &value);
        if (found.nan) return i + first_nan<T>(here, size);
        if (i == 0 || (is_min ? value < best : value > best)) {
            best = value;
            index = i + found.index;
        }
    }
    return index;
}

template <class T, bool is_min>
JITWISE_512 void index_of_best(const char *row, std::int64_t count, char *scalar) {
    T value = 0;
    Found found{0, true};
    if (count <= longest_piece) found = first_best<T, is_min>(row, count, &value);
    if (found.nan) found.index = index_of_best_in_pieces<T, is_min>(row, count);
    std::memcpy(scalar, &found.index, sizeof found.index);
}

template <class T, bool is_min>
JITWISE_512_INLINE T best_of(const char *row, std::int64_t count) {
    using V = Vector<T>;
    constexpr std::int64_t w = width<T>, size = sizeof(T);
    const auto start = V::load(V::splat(first_of<T>(row)), first_lanes<T>(count), row);
    typename V::Type b[4] = {start, start, start, start};
    std::int64_t i = w;
    for (; i + 4 * w <= count; i += 4 * w) {
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j)
            b[j] = better_of<T, is_min>(b[j], V::load(row + (i + j * w) * size));
    }
    if (i < count) {
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j)
            b[j] = better_of<T, is_min>(b[j],
                                        V::load(row + std::min(i + j * w, count - w) * size));
    }
    return best_lane<T, is_min>(better_of<T, is_min>(better_of<T, is_min>(b[0], b[1]),
                                                     better_of<T, is_min>(b[2], b[3])));
}

template <class T, bool is_min>
JITWISE_512 void best_value(const char *row, std::int64_t count, char *scalar) {
    const T best = best_of<T, is_min>(row, count);
    std::memcpy(scalar, &best, sizeof best);
}

template <class T, class Op>
JITWISE_512_INLINE typename Vector<T>::Type combined(typename Vector<T>::Type a,
                                                     typename Vector<T>::Type b) {
    return Op::multiplies ? Vector<T>::multiply(a, b) : Vector<T>::add(a, b);
}

// Chunks of eight vectors, as the compiled code takes them.
template <class T, class Op>
JITWISE_512 void total(const char *row, std::int64_t count, char *scalar) {
    using V = Vector<T>;
    constexpr std::int64_t w = width<T>, size = sizeof(T);
    const auto identity = V::splat(Op::identity);
    typename V::Type lanes[8];
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) lanes[j] = identity;
    std::int64_t i = 0;
    for (; i + 8 * w <= count; i += 8 * w) {
#pragma GCC unroll 8
        for (int j = 0; j < 8; ++j)
            lanes[j] = combined<T, Op>(lanes[j], V::load(row + (i + j * w) * size));
    }
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
        const std::int64_t left = count - i - j * w;
        if (left <= 0) continue;
        const auto mask = first_lanes<T>(left);
        const auto last = V::load(identity, mask, row + (i + j * w) * size);
        lanes[j] = V::moved(lanes[j], mask, combined<T, Op>(lanes[j], last));
    }
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) lanes[j] = combined<T, Op>(lanes[j], lanes[j + 4]);
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) lanes[j] = combined<T, Op>(lanes[j], lanes[j + 2]);
    const T result = V::template fold<Op>(combined<T, Op>(lanes[0], lanes[1]));
    std::memcpy(scalar, &result, sizeof result);
}

template <class T>
ReduceRow reduction_of(Combine op) {
    constexpr bool is_float = std::is_floating_point<T>::value;
    switch (op) {
    case Combine::add: return total<T, Sum>;
    case Combine::multiply: return total<T, Product>;
    case Combine::min: return is_float ? nullptr : best_value<T, true>;
    case Combine::max: return is_float ? nullptr : best_value<T, false>;
    case Combine::argmin: return index_of_best<T, true>;
    case Combine::argmax: return index_of_best<T, false>;
    default: return nullptr;
    }
}

#pragma GCC diagnostic pop
#endif

}  // namespace

ReduceRow plain_reduction(const Reduction &reduction, ElementType element, int lanes) {
#if JITWISE_HAS_ROW_VECTORS
    if (!has_row_vectors()) return nullptr;
    if (reduction.type == ElementType::boolean) return deciding_reduction(reduction.op, element);
    const bool is_total = reduction.op == Combine::add || reduction.op == Combine::multiply;
    if (element != reduction.type || (is_total && lanes != 8 * 64 / size_of(element)))
        return nullptr;
    switch (element) {
    case ElementType::i32: return reduction_of<std::int32_t>(reduction.op);
    case ElementType::i64: return reduction_of<std::int64_t>(reduction.op);
    case ElementType::f32: return reduction_of<float>(reduction.op);
    case ElementType::f64: return reduction_of<double>(reduction.op);
    default: return nullptr;
    }
#else
    (void)reduction, (void)element, (void)lanes;
    return nullptr;
#endif
}

bool is_plain(const RowPlan &plan) {
    const Kernel &kernel = plan.kernel;
    if (kernel.reduce_row == nullptr || plan.inner < shortest_row) return false;
    if (is_index(kernel.reductions[0].op) && plan.inner < shortest_indexed_row) return false;
    if (plan.operands[kernel.plain_operand].access != RowAccess::direct) return false;
    return kernel.any_order || (plan.blocks == 1 && plan.inner > longest_short_row(kernel));
}

void run_plain_rows(const RowPlan &plan, std::int64_t begin, std::int64_t end) {
    const Kernel &kernel = plan.kernel;
    const int operands = kernel.operand_count(), last = plan.outer_rank - 1,
              phases = static_cast<int>(kernel.phases.size());
    alignas(64) char scalars[64] = {};
    const std::int64_t steps[max_operands] = {};
    char *data[max_operands];
    std::int64_t index[max_rank], left = begin;
    plan.locate(begin, data);
    for (int axis = last; axis >= 0; --axis) {
        index[axis] = left % plan.outer_shape[axis];
        left /= plan.outer_shape[axis];
    }
    while (begin < end) {
        const std::int64_t run =
            last < 0 ? 1 : std::min(plan.outer_shape[last] - index[last], end - begin);
        for (std::int64_t row = 0; row < run; ++row) {
            kernel.reduce_row(data[kernel.plain_operand], plan.inner, scalars);
            for (int phase = 1; phase < phases; ++phase)
                kernel.phases[phase](data, steps, 0, kernel.lanes, nullptr, scalars);
            if (row == run - 1) break;
            for (int k = 0; k < operands; ++k) data[k] += plan.operands[k].outer_strides[last];
        }
        begin += run;
        if (last >= 0) index[last] += run - 1;
        plan.advance(index, data);
    }
}

}  // namespace jitwise
