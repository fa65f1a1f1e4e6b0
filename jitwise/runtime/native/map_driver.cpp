// Map kernels. Two paths:
//   dense     every operand is dense or a scalar: the compiled loop runs over the operands
//   themselves general   axes are flipped, sorted by the output's strides and merged; then either
//   each inner run
//             is handled by itself (long runs) or the flattened space in blocks of about 4 KiB per
//             operand (short runs); operands that are not dense along it are packed
// The last elements: when at least one whole chunk came before, and no output overlaps an input,
// the last `lanes` elements are computed once more, a part of them for the second time; else they
// are packed.
#include <algorithm>
#include <cstring>

#include "kernel.h"
#include "pool.h"
#include "small_buffer.h"
#include "strided.h"

namespace jitwise {

namespace {

constexpr std::int64_t block_bytes = 4096;

struct Range {
    const char *begin, *end;
};

bool outputs_overlap_inputs(const Kernel &kernel, const Range *ranges) {
    for (int out = kernel.input_count; out < kernel.operand_count(); ++out)
        for (int in = 0; in < kernel.input_count; ++in)
            if (ranges[out].begin < ranges[in].end && ranges[in].begin < ranges[out].end)
                return true;
    return false;
}

// ---- dense

struct Dense {
    const Kernel &kernel;
    char *const *pointers;
    const std::int64_t *steps;

    bool overlapping(std::int64_t count) const {
        Range ranges[max_operands];
        for (int k = 0; k < kernel.operand_count(); ++k)
            ranges[k] = {pointers[k], steps[k] == 0
                                          ? pointers[k]
                                          : pointers[k] + count * kernel.operands[k].itemsize};
        return outputs_overlap_inputs(kernel, ranges);
    }

    // Elements [start, start + valid), valid < lanes, through padded copies.
    void padded(std::int64_t start, std::int64_t valid) const {
        SmallBuffer<char, 6144> buffer(kernel.chunk_bytes);
        char *now[max_operands];
        for (int k = 0; k < kernel.operand_count(); ++k) {
            const int itemsize = kernel.operands[k].itemsize;
            if (steps[k] == 0) {
                now[k] = pointers[k];
                continue;
            }
            now[k] = buffer.data() + kernel.chunk_offsets[k];
            if (kernel.is_output(k)) continue;
            copy_padded(now[k], pointers[k] + start * itemsize, valid, kernel.lanes, itemsize);
        }
        kernel.phases[0](now, steps, 1, valid, nullptr, nullptr);
        for (int k = kernel.input_count; k < kernel.operand_count(); ++k) {
            const int itemsize = kernel.operands[k].itemsize;
            std::memcpy(pointers[k] + start * itemsize, now[k], valid * itemsize);
        }
    }

    void span(std::int64_t start, std::int64_t count, bool may_repeat) const {
        const int lanes = kernel.lanes;
        std::int64_t chunks = count / lanes, tail = count - chunks * lanes;
        char *now[max_operands];
        if (chunks > 0) {
            shift(now, start);
            kernel.phases[0](now, steps, chunks, lanes, nullptr, nullptr);
        }
        if (tail == 0) return;
        if (chunks > 0 && may_repeat) {
            shift(now, start + count - lanes);
            kernel.phases[0](now, steps, 1, lanes, nullptr, nullptr);
        } else {
            padded(start + chunks * lanes, tail);
        }
    }

    void shift(char **now, std::int64_t start) const {
        for (int k = 0; k < kernel.operand_count(); ++k)
            now[k] =
                steps[k] == 0 ? pointers[k] : pointers[k] + start * kernel.operands[k].itemsize;
    }
};

// Elements that one thread takes at a time.
std::int64_t grain_of(const Kernel &kernel, std::int64_t count) {
    std::int64_t shared = count / (thread_count() * 8) + 1;
    std::int64_t worth = static_cast<std::int64_t>(3000 / kernel.nanoseconds_per_point) + 1;
    std::int64_t grain = std::max(shared, worth);
    return (grain + kernel.lanes - 1) / kernel.lanes * kernel.lanes;
}

}  // namespace

void run_dense(const Kernel &kernel, char *const *pointers, const std::int64_t *steps,
               std::int64_t count) {
    const Dense dense{kernel, pointers, steps};
    if (count < kernel.lanes) return dense.padded(0, count);
    bool may_repeat = count % kernel.lanes != 0 && !dense.overlapping(count);
    if (kernel.work(count) < parallel_threshold || thread_count() == 1)
        return dense.span(0, count, may_repeat);
    std::int64_t grain = grain_of(kernel, count);
    parallel_for((count + grain - 1) / grain, 1, [&](std::int64_t begin, std::int64_t end) {
        dense.span(begin * grain, std::min(end * grain, count) - begin * grain, may_repeat);
    });
}

bool gather_dense(const Kernel &kernel, const View *views, int ndim, const std::int64_t *shape,
                  char **pointers, std::int64_t *steps) {
    for (int k = 0; k < kernel.operand_count(); ++k) {
        const OperandSpec &spec = kernel.operands[k];
        const View &view = views[k];
        pointers[k] = view.data;
        if (spec.role == Role::scalar) {
            steps[k] = 0;
            continue;
        }
        steps[k] = static_cast<std::int64_t>(spec.itemsize) * kernel.lanes;
        if (view.ndim != ndim) return false;
        std::int64_t expected = spec.itemsize;
        for (int axis = ndim - 1; axis >= 0; --axis) {
            if (view.shape[axis] != shape[axis]) return false;
            if (view.strides[axis] != expected && shape[axis] != 1) return false;
            expected *= shape[axis];
        }
    }
    return true;
}

namespace {

// ---- general

enum class Access : std::uint8_t { direct, constant, packed };

struct Source {
    Access access;
    char *data;             // direct: the first element of the span; constant: the filled chunk
    const Strided *space;   // packed: by flat position in the span
    char *buffer;           // packed: a block
    char *value = nullptr;  // constant: what the chunk was filled with
};

// One span (an inner run or the flattened space) whose operands are described by `sources`.
class Span {
public:
    Span(const Kernel &kernel, const Strided *spaces, const bool *is_scalar, bool may_repeat)
        : kernel_(kernel),
          may_repeat_(may_repeat),
          block_(block_of(kernel)),
          sources_(kernel.operand_count()),
          scratch_(bytes()) {
        char *free = scratch_.data() + kernel.chunk_bytes;  // the first chunk of each is for tails
        for (int k = 0; k < kernel.operand_count(); ++k) {
            Source &source = sources_[k];
            source.value = nullptr;
            const int itemsize = kernel.operands[k].itemsize;
            steps_[k] = static_cast<std::int64_t>(itemsize) * kernel.lanes;
            source.buffer = free;
            source.space = &spaces[k];
            free += (block_ * itemsize + 63) / 64 * 64;
            if (is_scalar[k]) {
                source.access = Access::constant;
                source.data = spaces[k].data;
                steps_[k] = 0;
            } else if (spaces[k].is_dense() && !spaces[k].is_constant()) {
                source.access = Access::direct;
            } else if (spaces[k].is_constant() && !kernel.is_output(k)) {
                source.access = Access::constant;
                steps_[k] = 0;
            } else {
                source.access = Access::packed;
                any_packed_ = true;
            }
            if (!is_scalar[k]) begin_at(k, spaces[k].data);
        }
    }

    // Operand k of this span begins at `data`.
    void begin_at(int k, char *data) {
        Source &source = sources_[k];
        source.data = data;
        if (source.access == Access::constant && source.value != data) {
            source.value = data;
            fill_run(source.buffer, data, kernel_.lanes, kernel_.operands[k].itemsize);
        }
        if (source.access == Access::constant) source.data = source.buffer;
    }

    void run(std::int64_t start, std::int64_t count) {
        const std::int64_t end = start + count, size = any_packed_ ? block_ : count;
        for (; start < end; start += size) run_block(start, std::min(size, end - start));
    }

private:
    static std::int64_t block_of(const Kernel &kernel) {
        int widest = 1;
        for (const OperandSpec &operand : kernel.operands)
            widest = std::max(widest, operand.itemsize);
        return std::max<std::int64_t>(1, block_bytes / widest / kernel.lanes) * kernel.lanes;
    }
    std::size_t bytes() const {
        std::size_t total = kernel_.chunk_bytes;
        for (const OperandSpec &operand : kernel_.operands)
            total += (block_ * operand.itemsize + 63) / 64 * 64;
        return total;
    }

    void run_block(std::int64_t start, std::int64_t count) {
        const int lanes = kernel_.lanes;
        const std::int64_t chunks = count / lanes, tail = count - chunks * lanes;
        char *now[max_operands];
        for (int k = 0; k < kernel_.operand_count(); ++k) {
            Source &source = sources_[k];
            const int itemsize = kernel_.operands[k].itemsize;
            now[k] = source.data;
            if (source.access == Access::direct) now[k] = source.data + start * itemsize;
            if (source.access != Access::packed) continue;
            now[k] = source.buffer;
            if (kernel_.is_output(k)) continue;
            gather(source.buffer, *source.space, source.data, start, count);
            if (tail > 0)
                fill_run(source.buffer + count * itemsize, source.buffer + (count - 1) * itemsize,
                         lanes - tail, itemsize);
        }
        if (chunks > 0) kernel_.phases[0](now, steps_, chunks, lanes, nullptr, nullptr);
        if (tail > 0) run_tail(now, chunks, tail);
        for (int k = kernel_.input_count; k < kernel_.operand_count(); ++k)
            if (sources_[k].access == Access::packed)
                scatter(*sources_[k].space, sources_[k].data, start, sources_[k].buffer, count);
    }

    // `now` points at the block's first element; direct operands end after chunks * lanes + tail.
    void run_tail(char **now, std::int64_t chunks, std::int64_t tail) {
        const int lanes = kernel_.lanes;
        const bool repeat = chunks > 0 && may_repeat_;
        char *ends[max_operands];
        for (int k = 0; k < kernel_.operand_count(); ++k) {
            const int itemsize = kernel_.operands[k].itemsize;
            ends[k] = now[k];
            if (steps_[k] == 0) continue;
            ends[k] += (repeat ? (chunks - 1) * lanes + tail : chunks * lanes) * itemsize;
            if (repeat || sources_[k].access != Access::direct) continue;
            char *padded = scratch_.data() + kernel_.chunk_offsets[k];
            if (!kernel_.is_output(k)) {
                copy_padded(padded, ends[k], tail, lanes, itemsize);
            }
            ends[k] = padded;
        }
        kernel_.phases[0](ends, steps_, 1, repeat ? lanes : tail, nullptr, nullptr);
        if (repeat) return;
        for (int k = kernel_.input_count; k < kernel_.operand_count(); ++k) {
            const int itemsize = kernel_.operands[k].itemsize;
            if (sources_[k].access == Access::direct)
                std::memcpy(now[k] + chunks * lanes * itemsize, ends[k], tail * itemsize);
        }
    }

    const Kernel &kernel_;
    bool may_repeat_;
    bool any_packed_ = false;
    std::int64_t block_;
    SmallBuffer<Source, 16> sources_;
    Scratch scratch_;
    std::int64_t steps_[max_operands];
};

// The iteration space after flipping, sorting and merging; one row of strides per operand.
struct Space {
    int rank = 0;
    int operands;
    std::int64_t shape[max_rank];
    SmallBuffer<std::int64_t, 256> strides;
    SmallBuffer<char *, 16> data;
    int stride_rank;

    Space(int operands, int ndim)
        : operands(operands),
          strides(operands * std::max(ndim, 1)),
          data(operands),
          stride_rank(std::max(ndim, 1)) {}
    std::int64_t &stride(int operand, int axis) { return strides[operand * stride_rank + axis]; }

    void drop_axes_of_length_one(int ndim, const std::int64_t *lengths) {
        for (int axis = 0; axis < ndim; ++axis) {
            if (lengths[axis] == 1) continue;
            for (int k = 0; k < operands; ++k) stride(k, rank) = stride(k, axis);
            shape[rank++] = lengths[axis];
        }
    }
    void flip() {
        for (int axis = 0; axis < rank; ++axis) {
            bool negative = false, positive = false;
            for (int k = 0; k < operands; ++k) {
                negative |= stride(k, axis) < 0;
                positive |= stride(k, axis) > 0;
            }
            if (!negative || positive) continue;
            for (int k = 0; k < operands; ++k) {
                data[k] += (shape[axis] - 1) * stride(k, axis);
                stride(k, axis) = -stride(k, axis);
            }
        }
    }
    void swap(int a, int b) {
        std::swap(shape[a], shape[b]);
        for (int k = 0; k < operands; ++k) std::swap(stride(k, a), stride(k, b));
    }
    void sort(int by) {
        for (int axis = 1; axis < rank; ++axis)
            for (int i = axis; i > 0 && std::abs(stride(by, i)) > std::abs(stride(by, i - 1)); --i)
                swap(i, i - 1);
    }
    bool mergeable(int a, int b) {
        for (int k = 0; k < operands; ++k)
            if (stride(k, a) != stride(k, b) * shape[b]) return false;
        return true;
    }
    void merge() {
        int kept = 0;
        for (int axis = 0; axis < rank; ++axis) {
            if (kept > 0 && mergeable(kept - 1, axis)) {
                shape[kept - 1] *= shape[axis];
                for (int k = 0; k < operands; ++k) stride(k, kept - 1) = stride(k, axis);
                continue;
            }
            if (kept != axis) {
                shape[kept] = shape[axis];
                for (int k = 0; k < operands; ++k) stride(k, kept) = stride(k, axis);
            }
            ++kept;
        }
        rank = kept;
    }
    Range extent(int k, int itemsize) {
        const char *low = data[k], *high = data[k] + itemsize;
        for (int axis = 0; axis < rank; ++axis) {
            std::int64_t reach = (shape[axis] - 1) * stride(k, axis);
            (reach < 0 ? low : high) += reach;
        }
        return {low, high};
    }
};

struct General {
    const Kernel &kernel;
    Space &space;
    const bool *is_scalar;
    bool may_repeat;

    // Rows [begin, end) of pieces of the innermost axis.
    void rows(std::int64_t begin, std::int64_t end, std::int64_t piece, std::int64_t pieces) const {
        const int inner = space.rank - 1;
        SmallBuffer<Strided, 4> spaces(kernel.operand_count());
        for (int k = 0; k < kernel.operand_count(); ++k)
            spaces[k] = Strided(space.data[k], 1, space.shape + inner, &space.stride(k, inner),
                                kernel.operands[k].itemsize);
        Span span(kernel, spaces.data(), is_scalar, may_repeat);
        for (; begin < end; ++begin) {
            const std::int64_t row = begin / pieces, start = (begin - row * pieces) * piece;
            for (int k = 0; k < kernel.operand_count(); ++k) {
                std::int64_t offset = 0, left = row;
                for (int axis = inner - 1; axis > 0; --axis) {
                    offset += left % space.shape[axis] * space.stride(k, axis);
                    left /= space.shape[axis];
                }
                if (!is_scalar[k])
                    span.begin_at(k, space.data[k] + offset + left * space.stride(k, 0));
            }
            span.run(start, std::min(piece, space.shape[inner] - start));
        }
    }
    void flat(std::int64_t start, std::int64_t count) const {
        SmallBuffer<Strided, 4> spaces(kernel.operand_count());
        for (int k = 0; k < kernel.operand_count(); ++k)
            spaces[k] = Strided(space.data[k], space.rank, space.shape, &space.stride(k, 0),
                                kernel.operands[k].itemsize);
        Span(kernel, spaces.data(), is_scalar, may_repeat).run(start, count);
    }
};

void run_general(const Kernel &kernel, const View *views, int ndim, const std::int64_t *shape) {
    const int operands = kernel.operand_count();
    const std::int64_t count = product(shape, ndim);
    Space space(operands, ndim);
    SmallBuffer<bool, 64> is_scalar(operands);
    for (int k = 0; k < operands; ++k) {
        is_scalar[k] = kernel.operands[k].role == Role::scalar;
        space.data[k] = views[k].data;
        View scalar = {views[k].data, 0, nullptr, nullptr};
        broadcast_strides(is_scalar[k] ? scalar : views[k], shape, ndim, &space.stride(k, 0),
                          kernel, k);
    }
    space.drop_axes_of_length_one(ndim, shape);
    space.flip();
    if (kernel.output_count > 0) space.sort(kernel.input_count);
    space.merge();
    Range ranges[max_operands];
    for (int k = 0; k < operands; ++k)
        ranges[k] = is_scalar[k] ? Range{views[k].data, views[k].data}
                                 : space.extent(k, kernel.operands[k].itemsize);
    General general{kernel, space, is_scalar.data(), !outputs_overlap_inputs(kernel, ranges)};
    const bool parallel = kernel.work(count) >= parallel_threshold && thread_count() > 1;
    std::int64_t grain = parallel ? grain_of(kernel, count) : count;
    const std::int64_t run = space.rank > 0 ? space.shape[space.rank - 1] : 1;
    if (space.rank > 1 && run >= std::max(4 * kernel.lanes, 256)) {
        std::int64_t piece = std::min(run, grain), pieces = (run + piece - 1) / piece;
        std::int64_t rows = count / run * pieces;
        parallel_for(
            rows, parallel ? std::max<std::int64_t>(1, grain / run) : rows,
            [&](std::int64_t begin, std::int64_t end) { general.rows(begin, end, piece, pieces); });
        return;
    }
    parallel_for((count + grain - 1) / grain, 1, [&](std::int64_t begin, std::int64_t end) {
        general.flat(begin * grain, std::min(end * grain, count) - begin * grain);
    });
}

}  // namespace

void run_map(const Kernel &kernel, const View *views, int ndim, const std::int64_t *shape) {
    const std::int64_t count = product(shape, ndim);
    if (count == 0) return;
    char *pointers[max_operands];
    std::int64_t steps[max_operands];
    if (gather_dense(kernel, views, ndim, shape, pointers, steps))
        return run_dense(kernel, pointers, steps, count);
    run_general(kernel, views, ndim, shape);
}

}  // namespace jitwise
