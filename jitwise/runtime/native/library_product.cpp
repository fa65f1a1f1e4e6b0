// Products of floats over some axes, in NumPy's order: the same bits, and the same overflows.
//
//     product   [x] or [x, start] -> [out], attrs axes
//
// NumPy begins with `start`, or 1, and walks the axes in the order of their strides, the smallest
// innermost; of axes that are alike the last is the inner one. What is the same in another order is
// done so: results are taken eight at a time, since one product waits for the one before it, or a
// line of neighbours at a time where the results lie closer than what is multiplied.
//
//     rows a b c ...    a0*a1*a2...       eight chains side by side
//                       b0*b1*b2...
//     lines             a0 b0 c0 ...  *  a1 b1 c1 ...  *  ...       vectors
#include <algorithm>
#include <cstdlib>

#include "library.h"
#include "pool.h"
#include "small_buffer.h"
#include "strided.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__)
#define JITWISE_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define JITWISE_WIDE
#endif

namespace jitwise {

namespace {

constexpr int chains = 8;
constexpr std::int64_t shortest_line = 16;
constexpr std::int64_t line_block = 2048;  // elements: the results of a block stay in the cache
constexpr int rows_at_once = 4;

struct Axis {
    std::int64_t length, in, out;  // strides in bytes
};

struct ProductPlan {
    const char *in;
    char *out;
    const char *start;  // or null
    int kept_rank = 0, reduced_rank = 0;
    Axis kept[max_rank], reduced[max_rank];  // innermost first
    bool inner_is_kept = false;
    std::int64_t points = 1, results = 1;
};

// NumPy's iterator: from C order, sorted by strides; an axis of stride 0 is compared with none.
int sorted_axes(const View &in, int *order) {
    int count = 0;
    for (int axis = in.ndim - 1; axis >= 0; --axis) {
        if (in.shape[axis] == 1) continue;
        int place = count;
        const std::int64_t stride = std::abs(in.strides[axis]);
        for (int before = count - 1; before >= 0 && stride != 0; --before) {
            const std::int64_t other = std::abs(in.strides[order[before]]);
            if (other == 0) continue;
            if (other <= stride) break;
            place = before;
        }
        std::copy_backward(order + place, order + count, order + count + 1);
        order[place] = axis;
        ++count;
    }
    return count;
}

void add_axis(Axis *axes, int &rank, Axis axis) {
    Axis *last = rank > 0 ? &axes[rank - 1] : nullptr;
    if (last != nullptr && last->in * last->length == axis.in &&
        last->out * last->length == axis.out)
        last->length *= axis.length;
    else axes[rank++] = axis;
}

ProductPlan planned(const LibraryCall &call) {
    const Instruction &instruction = call.instruction;
    const View &in = call.in(0).view, &out = call.out(0).view;
    ProductPlan plan;
    plan.in = in.data;
    plan.out = out.data;
    plan.start = instruction.in_count > 1 ? call.in(1).view.data : nullptr;
    const int count = in.ndim - out.ndim;
    std::int64_t out_strides[max_rank];
    bool is_reduced[max_rank];
    for (int axis = 0, named = 0, kept = 0; axis < in.ndim; ++axis) {
        is_reduced[axis] = named < count && call.attr(named) == axis;
        if (is_reduced[axis]) {
            ++named;
            continue;
        }
        if (in.shape[axis] != out.shape[kept])
            throw std::logic_error("a product of another shape");
        plan.results *= in.shape[axis];
        out_strides[axis] = out.strides[kept++];
    }
    plan.points = product(in.shape, in.ndim);
    int order[max_rank];
    const int rank = sorted_axes(in, order);
    for (int i = 0; i < rank; ++i) {
        const int axis = order[i];
        if (is_reduced[axis])
            add_axis(plan.reduced, plan.reduced_rank, {in.shape[axis], in.strides[axis], 0});
        else
            add_axis(plan.kept, plan.kept_rank,
                     {in.shape[axis], in.strides[axis], out_strides[axis]});
    }
    plan.inner_is_kept = rank > 0 && !is_reduced[order[0]];
    if (plan.reduced_rank == 0) plan.reduced[plan.reduced_rank++] = {1, 0, 0};
    return plan;
}

// Calls visit(offset into the input) for every index of reduced axes from the second on, in order.
template <class Visit>
void for_runs(const ProductPlan &plan, Visit visit) {
    std::int64_t index[max_rank] = {}, offset = 0;
    for (;;) {
        visit(offset);
        int axis = 1;
        for (; axis < plan.reduced_rank; ++axis) {
            offset += plan.reduced[axis].in;
            if (++index[axis] < plan.reduced[axis].length) break;
            offset -= index[axis] * plan.reduced[axis].in;
            index[axis] = 0;
        }
        if (axis >= plan.reduced_rank) return;
    }
}

// Where the results begin whose index along the kept axes from the second on is `item`.
void locate(const ProductPlan &plan, std::int64_t item, const char **in, char **out) {
    *in = plan.in;
    *out = plan.out;
    for (int axis = 1; axis < plan.kept_rank; ++axis) {
        const std::int64_t index = item % plan.kept[axis].length;
        item /= plan.kept[axis].length;
        *in += index * plan.kept[axis].in;
        *out += index * plan.kept[axis].out;
    }
}

template <class T>
T start_of(const ProductPlan &plan) {
    return plan.start == nullptr ? T(1) : load<T>(plan.start);
}

template <class T>
T one_chain(const char *in, std::int64_t stride, std::int64_t count, T running) {
    if (stride == sizeof(T))
        for (std::int64_t i = 0; i < count; ++i) running *= load<T>(in + i * sizeof(T));
    else
        for (std::int64_t i = 0; i < count; ++i) running *= load<T>(in + i * stride);
    return running;
}

template <class T>
void all_chains(const char *const *places, std::int64_t offset, std::int64_t stride,
                std::int64_t count, T *running) {
    const char *from[chains];
    T now[chains];
    for (int chain = 0; chain < chains; ++chain) {
        from[chain] = places[chain] + offset;
        now[chain] = running[chain];
    }
    for (std::int64_t i = 0, at = 0; i < count; ++i, at += stride)
#pragma GCC unroll 8
        for (int chain = 0; chain < chains; ++chain) now[chain] *= load<T>(from[chain] + at);
    std::copy_n(now, chains, running);
}

// At most eight neighbours along the innermost kept axis. Chains to spare follow the last one.
template <class T>
void take_chains(const ProductPlan &plan, const char *in, char *out, std::int64_t count) {
    const Axis &run = plan.reduced[0];
    const Axis across = plan.kept_rank > 0 ? plan.kept[0] : Axis{1, 0, 0};
    if (count == 1) {
        T running = start_of<T>(plan);
        for_runs(plan, [&](std::int64_t offset) {
            running = one_chain<T>(in + offset, run.in, run.length, running);
        });
        return store(out, running);
    }
    const char *places[chains];
    T running[chains];
    for (int chain = 0; chain < chains; ++chain) {
        places[chain] = in + std::min<std::int64_t>(chain, count - 1) * across.in;
        running[chain] = start_of<T>(plan);
    }
    for_runs(plan, [&](std::int64_t offset) {
        all_chains<T>(places, offset, run.in, run.length, running);
    });
    for (std::int64_t chain = 0; chain < count; ++chain)
        store(out + chain * across.out, running[chain]);
}

// `rows` rows of `count` neighbours, each times what the line holds, or times `start`.
template <int rows, bool begins, class T>
inline __attribute__((always_inline)) void multiply_rows(T *__restrict line, T start,
                                                         const char *__restrict in,
                                                         std::int64_t down, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        T running = begins ? start : line[i];
#pragma GCC unroll 4
        for (int row = 0; row < rows; ++row)
            running *= load<T>(in + row * down + i * static_cast<std::int64_t>(sizeof(T)));
        line[i] = running;
    }
}

template <bool begins, class T>
inline __attribute__((always_inline)) void multiply_some(T *line, T start, const char *in,
                                                         std::int64_t down, std::int64_t rows,
                                                         std::int64_t count) {
    switch (rows) {
    case 1: return multiply_rows<1, begins>(line, start, in, down, count);
    case 2: return multiply_rows<2, begins>(line, start, in, down, count);
    case 3: return multiply_rows<3, begins>(line, start, in, down, count);
    default: return multiply_rows<4, begins>(line, start, in, down, count);
    }
}

JITWISE_WIDE void multiply_dense(double *line, const double *start, const char *in,
                                 std::int64_t down, std::int64_t rows, std::int64_t count) {
    if (start == nullptr) multiply_some<false>(line, 1.0, in, down, rows, count);
    else multiply_some<true>(line, *start, in, down, rows, count);
}
JITWISE_WIDE void multiply_dense(float *line, const float *start, const char *in,
                                 std::int64_t down, std::int64_t rows, std::int64_t count) {
    if (start == nullptr) multiply_some<false>(line, 1.0f, in, down, rows, count);
    else multiply_some<true>(line, *start, in, down, rows, count);
}

template <class T>
void multiply_strided(T *line, const T *start, const char *in, const Axis &across,
                      std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
        line[i] = (start == nullptr ? line[i] : *start) * load<T>(in + i * across.in);
}

// Neighbours along the innermost kept axis, at most a block of them.
template <class T>
void take_line(const ProductPlan &plan, const char *in, char *out, std::int64_t count) {
    alignas(64) T block[line_block];
    const Axis &down = plan.reduced[0], &across = plan.kept[0];
    const bool is_dense = across.in == sizeof(T);
    const bool in_place =
        across.out == sizeof(T) && reinterpret_cast<std::uintptr_t>(out) % sizeof(T) == 0;
    T *line = in_place ? reinterpret_cast<T *>(out) : block;
    const T number = start_of<T>(plan), *start = &number;
    for_runs(plan, [&](std::int64_t offset) {
        const char *row = in + offset;
        for (std::int64_t left = down.length, some; left > 0; left -= some) {
            some = is_dense ? std::min<std::int64_t>(left, rows_at_once) : 1;
            if (is_dense) multiply_dense(line, start, row, down.in, some, count);
            else multiply_strided(line, start, row, across, count);
            row += some * down.in;
            start = nullptr;
        }
    });
    if (!in_place)
        copy_run(out, across.out, reinterpret_cast<const char *>(line), sizeof(T), count,
                 sizeof(T));
}

template <class T>
void multiply_all(const ProductPlan &plan) {
    const std::int64_t length = plan.kept_rank > 0 ? plan.kept[0].length : 1;
    const bool in_lines = plan.inner_is_kept && length >= shortest_line;
    std::int64_t size = in_lines ? line_block : chains;
    if (in_lines) {  // a share for each thread, of whole cache lines
        const std::int64_t share = (length / thread_count() + 15) / 16 * 16;
        size = std::clamp<std::int64_t>(share, shortest_line, line_block);
    }
    const std::int64_t pieces = (length + size - 1) / size, items = plan.results / length * pieces;
    // Nanoseconds: chains of one wait for each other.
    const double work = plan.points * (plan.results == 1 ? 1.0 : in_lines ? 0.15 : 0.3);
    std::int64_t grain = std::max<std::int64_t>(1, static_cast<std::int64_t>(4000 * items / work));
    if (work < parallel_threshold) grain = items;
    parallel_for(items, grain, [&](std::int64_t begin, std::int64_t end) {
        for (; begin < end; ++begin) {
            const char *in;
            char *out;
            locate(plan, begin / pieces, &in, &out);
            const std::int64_t first = begin % pieces * size,
                               count = std::min(size, length - first);
            if (plan.kept_rank > 0) {
                in += first * plan.kept[0].in;
                out += first * plan.kept[0].out;
            }
            if (in_lines) take_line<T>(plan, in, out, count);
            else take_chains<T>(plan, in, out, count);
        }
    });
}

void fill_results(const View &out, const char *value, int itemsize) {
    const Strided space(out.data, out.ndim, out.shape, out.strides, itemsize);
    for (std::int64_t i = 0; i < space.count; ++i) scatter(space, i, value, 1);
}

template <class T>
void multiply_typed(const ProductPlan &plan, const View &out) {
    if (plan.results == 0) return;
    if (plan.points > 0) return multiply_all<T>(plan);
    const T start = start_of<T>(plan);
    fill_results(out, reinterpret_cast<const char *>(&start), sizeof(T));
}

}  // namespace

void library_product(Frame &frame, const Instruction &instruction) {
    LibraryCall call(frame, instruction);
    const ProductPlan plan = planned(call);
    if (plan.points > 10000) frame.release_gil();
    if (call.out(0).type == ElementType::f32) multiply_typed<float>(plan, call.out(0).view);
    else multiply_typed<double>(plan, call.out(0).view);
}

}  // namespace jitwise
