// Map kernels whose operands are not all dense in one order.
//
// Axes are flipped, sorted by the first output's strides and merged. Then one of three:
//   rows    long inner runs, each by itself
//   flat    short ones: the flattened space in blocks of about 4 KiB per operand
//   tiles   an operand lies across the grain of the output, as in x.T + y: pieces of a plane are
//           transposed into the nearest cache, so that each cache line is fetched once
// Operands that are not dense along the run are packed. The last elements: when at least one whole
// chunk came before, and no output overlaps an input, the last `lanes` elements are computed once
// more, a part of them for the second time; else they are packed.
#include <algorithm>
#include <cstring>

#include "maps.h"
#include "pool.h"
#include "small_buffer.h"
#include "strided.h"

namespace jitwise {

namespace {

constexpr std::int64_t block_bytes = 4096;

// See Note: [Tiles]
constexpr std::int64_t tile_row_bytes = 4096, tile_rows = 32, fewest_tiled = 4096;

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

// Note: [Tiles]
//     x.T + y of 1000 x 1000 f64, one thread, microseconds of processor time
//     bytes of a tile's rows     256    512   1024   2048   4096
//     16 rows                   4566   4428   4040   3343   3148
//     32 rows                   4107   4245   3581   3041   2845
//     64 rows                   4089   4081   3600   3696   2883
struct Tile {
    std::int64_t first_row, first_column, rows, columns, outer;

    // Of the tile's first element.
    std::int64_t offset(Space &space, int k) const {
        std::int64_t left = outer, bytes = first_row * space.stride(k, space.rank - 2) +
                                           first_column * space.stride(k, space.rank - 1);
        for (int axis = space.rank - 3; axis >= 0; --axis) {
            bytes += left % space.shape[axis] * space.stride(k, axis);
            left /= space.shape[axis];
        }
        return bytes;
    }
};

// How the plane of the last two axes is cut, where an input's elements lie closer together down it
// than along its rows.
struct Tiling {
    SmallBuffer<bool, 64> is_crossed;
    std::int64_t columns = 0;  // of a tile
    std::int64_t down = 0, along = 0, count = 0;  // tiles
    std::size_t bytes = 0;     // of the buffers

    // Turns the space so that the plane is there; `count` is 0 where nothing is gained.
    Tiling(const Kernel &kernel, Space &space, const bool *is_scalar)
        : is_crossed(kernel.operand_count()) {
        const int inner = space.rank - 1;
        if (space.rank < 2 || space.shape[inner] < kernel.lanes ||
            product(space.shape, space.rank) < fewest_tiled)
            return;
        for (int k = kernel.input_count; k < kernel.operand_count(); ++k)
            if (space.stride(k, inner) != kernel.operands[k].itemsize) return;
        int axis = -1, widest = 1;
        for (int k = 0; k < kernel.input_count && axis < 0; ++k)
            if (!is_scalar[k]) axis = nearer(space, k, kernel.operands[k].itemsize);
        if (axis < 0) return;
        for (int i = axis; i < inner - 1; ++i) space.swap(i, i + 1);
        for (int k = 0; k < kernel.operand_count(); ++k) {
            is_crossed[k] = !kernel.is_output(k) && !is_scalar[k] &&
                            crosses(space, k, inner - 1, kernel.operands[k].itemsize);
            widest = std::max(widest, kernel.operands[k].itemsize);
        }
        const std::int64_t lanes = kernel.lanes;
        columns = (tile_row_bytes / widest + lanes - 1) / lanes * lanes;
        for (int k = 0; k < kernel.input_count; ++k)
            if (is_crossed[k]) bytes += tile_rows * pitch(kernel.operands[k].itemsize);
        down = (space.shape[inner - 1] + tile_rows - 1) / tile_rows;
        along = (space.shape[inner] + columns - 1) / columns;
        count = product(space.shape, inner - 1) * down * along;
    }
    // A cache line more than a row: neighbours do not meet in one set of the cache.
    std::int64_t pitch(std::int64_t itemsize) const { return columns * itemsize + 64; }
    Tile at(std::int64_t number, const Space &space) const {
        const std::int64_t column = number % along * columns;
        const std::int64_t row = number / along % down * tile_rows;
        return {row, column, std::min(tile_rows, space.shape[space.rank - 2] - row),
                std::min(columns, space.shape[space.rank - 1] - column), number / along / down};
    }

private:
    static bool crosses(Space &space, int k, int axis, int itemsize) {
        const std::int64_t along = std::abs(space.stride(k, space.rank - 1)),
                           down = std::abs(space.stride(k, axis));
        return along > itemsize && down != 0 && down < along;
    }
    // The axis along which the elements of input k lie closest, if not the inner one; or -1.
    static int nearer(Space &space, int k, int itemsize) {
        int found = -1;
        for (int axis = 0; axis < space.rank - 1; ++axis)
            if (space.shape[axis] >= 4 && crosses(space, k, axis, itemsize) &&
                (found < 0 || std::abs(space.stride(k, axis)) < std::abs(space.stride(k, found))))
                found = axis;
        return found;
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
    // Tiles [begin, end) of the plane of the last two axes; see `Tiling`.
    void tiles(std::int64_t begin, std::int64_t end, const Tiling &tiling) const {
        const int inner = space.rank - 1, down = inner - 1, operands = kernel.operand_count();
        SmallBuffer<Strided, 4> spaces(operands);
        SmallBuffer<char *, 16> buffers(operands);
        Scratch scratch(tiling.bytes);
        char *free = scratch.data();
        for (int k = 0; k < operands; ++k) {
            const std::int64_t itemsize = kernel.operands[k].itemsize;
            buffers[k] = tiling.is_crossed[k] ? free : nullptr;
            if (tiling.is_crossed[k]) free += tile_rows * tiling.pitch(itemsize);
            spaces[k] = Strided(buffers[k] ? buffers[k] : space.data[k], 1, &tiling.columns,
                                buffers[k] ? &itemsize : &space.stride(k, inner),
                                kernel.operands[k].itemsize);
        }
        Span span(kernel, spaces.data(), is_scalar, may_repeat);
        for (; begin < end; ++begin) {
            const Tile tile = tiling.at(begin, space);
            for (int k = 0; k < operands; ++k)
                if (buffers[k]) {
                    const std::int64_t itemsize = kernel.operands[k].itemsize;
                    const std::int64_t shape[2] = {tile.rows, tile.columns};
                    const std::int64_t to[2] = {tiling.pitch(itemsize), itemsize};
                    const std::int64_t from[2] = {space.stride(k, down), space.stride(k, inner)};
                    copy_strided(buffers[k], to, space.data[k] + tile.offset(space, k), from, shape,
                                 2, kernel.operands[k].itemsize);
                }
            for (std::int64_t row = 0; row < tile.rows; ++row) {
                for (int k = 0; k < operands; ++k) {
                    if (is_scalar[k]) continue;
                    const std::int64_t itemsize = kernel.operands[k].itemsize;
                    span.begin_at(k, buffers[k] ? buffers[k] + row * tiling.pitch(itemsize)
                                                : space.data[k] + tile.offset(space, k) +
                                                      row * space.stride(k, down));
                }
                span.run(0, tile.columns);
            }
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

}  // namespace

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
    const Tiling tiling(kernel, space, is_scalar.data());
    if (tiling.count > 0) {
        const std::int64_t tile = tile_rows * tiling.columns;
        parallel_for(tiling.count, parallel ? std::max<std::int64_t>(1, grain / tile) : tiling.count,
                     [&](std::int64_t begin, std::int64_t end) {
                         general.tiles(begin, end, tiling);
                     });
        return;
    }
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

}  // namespace jitwise
