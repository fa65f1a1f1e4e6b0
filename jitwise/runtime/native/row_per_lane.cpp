// A lane takes a row of its own: for rows of few elements, and for rows whose neighbours lie side
// by side.
//
//     rows   a0 a1 a2 | b0 b1 b2 | c0 ...      chunks   a0 b0 c0 ... | a1 b1 c1 ... | a2 b2 c2 ...
//
// So the lanes of the accumulator are the results of as many rows, nothing is reduced horizontally,
// and only the epilogue runs row by row. Two uses:
//   short    rows of at most 96 elements (160 where the order does not matter, 16 where
//            plain_rows.cpp has sums), in any layout:
//            packed; blocks of eight are merged pairwise
//   across   longer rows, when every chunk can be read in place, as in sums along the rows of a
//            Fortran-ordered array; a few groups of rows at a time, so that memory is read in long
//            pieces, and blocks of 16 elements are merged pairwise
// For kernels whose reductions are all in the first phase, which reads no row operand,
// and that write row operands only, in later phases.
#include <algorithm>
#include <cstring>

#include "pool.h"
#include "rows.h"
#include "transpose.h"

namespace jitwise {

namespace {

constexpr std::int64_t longest_in_order = 96, longest_of_plain_sums = 16,
                       longest_in_any_order = 160;
constexpr std::int64_t short_block = 8;
constexpr int groups_at_once = 16;

std::size_t aligned(std::size_t size) { return (size + 63) / 64 * 64; }

bool is_short(const RowPlan &plan) {
    return plan.inner <= longest_short_row(plan.kernel);
}

// Short rows that go over several axes, or are very short, are packed as wholes; others block by
// block.
bool is_whole(const RowPlan &plan) {
    const std::int64_t neighbours = plan.outer_shape[plan.outer_rank - 1];
    return is_short(plan) &&
           (plan.inner <= 16 || neighbours < plan.kernel.lanes / 2 || !plan.evenly_spaced);
}

// Elements [begin, end) of every row.
struct Elements {
    std::int64_t begin, end;
    std::int64_t count() const { return end - begin; }
};

class RowPerLane {
public:
    explicit RowPerLane(const RowPlan &plan)
        : plan_(plan),
          kernel_(plan.kernel),
          lanes_(kernel_.lanes),
          block_(is_short(plan) ? short_block : chunks_per_block),
          packed_chunks_(is_whole(plan) ? plan.inner : block_),
          sets_(is_whole(plan) ? 1 : groups_at_once),
          levels_count_(sets_ * Counter::levels_for((plan.inner + block_ - 1) / block_)),
          prefetches_(plan.rows * plan.inner > 100000),
          memory_(bytes()) {
        char *free = memory_.data();
        accumulators_ = free;
        levels_ = accumulators_ + sets_ * kernel_.accumulator_bytes;
        scalars_ = levels_ + levels_count_ * kernel_.accumulator_bytes;
        free = scalars_ + aligned(16 * kernel_.reductions.size());
        last_ = plan.outer_rank - 1;
        for (int k = 0; k < kernel_.operand_count(); ++k) {
            const bool moves = kernel_.operands[k].role == Role::vector;
            buffers_[k] = free;
            chunk_steps_[k] =
                moves ? static_cast<std::int64_t>(plan.operands[k].itemsize) * lanes_ : 0;
            free += moves ? aligned(chunk_steps_[k] * packed_chunks_) : 64;
            if (kernel_.is_output(k))
                written_.push_back({k, plan.operands[k].outer_strides[last_]});
        }
    }

    // Rows [begin, end) of short rows, packed lane by lane, whatever axes they run over.
    void run_short(std::int64_t begin, std::int64_t end) {
        char *data[max_operands];
        std::int64_t index[max_rank];
        start(begin, index, data);
        for (; begin < end; begin += lanes_) {
            const int count = static_cast<int>(std::min<std::int64_t>(lanes_, end - begin));
            std::int64_t first_index[max_rank];
            char *first[max_operands];
            std::copy_n(index, plan_.outer_rank, first_index);
            std::copy_n(data, kernel_.operand_count(), first);
            pack_group(count, index, data);
            finish(reduce_packed(), count, first_index, first);
        }
    }

    // Groups of up to `lanes` neighbours along the last outer axis.
    void run_groups(std::int64_t begin, std::int64_t end) {
        const std::int64_t length = plan_.outer_shape[last_],
                           groups = (length + lanes_ - 1) / lanes_;
        char *data[max_operands];
        std::int64_t index[max_rank];
        for (std::int64_t now; begin < end; begin += now) {
            const std::int64_t line = begin / groups, first = begin - line * groups;
            now = std::min<std::int64_t>({groups_at_once, groups - first, end - begin});
            start(line * length + first * lanes_, index, data);
            const std::int64_t rows = std::min(now * lanes_, length - first * lanes_);
            const char *accumulators = reduce_groups(data, rows);
            for (std::int64_t done = 0; done < rows; done += lanes_) {
                const int count = static_cast<int>(std::min<std::int64_t>(lanes_, rows - done));
                start(line * length + first * lanes_ + done, index, data);
                finish(accumulators, count, index, data);
                accumulators += kernel_.accumulator_bytes;
            }
        }
    }

private:
    struct Written {
        int operand;
        std::int64_t stride;
    };

    std::size_t bytes() const {
        std::size_t total = (sets_ + levels_count_) * kernel_.accumulator_bytes +
                            aligned(16 * kernel_.reductions.size());
        for (int k = 0; k < kernel_.operand_count(); ++k)
            total += 64 + aligned(static_cast<std::size_t>(plan_.operands[k].itemsize) * lanes_ *
                                  packed_chunks_);
        return total;
    }

    void start(std::int64_t row, std::int64_t *index, char **data) const {
        plan_.locate(row, data);
        for (int axis = last_; axis >= 0; --axis) {
            index[axis] = row % plan_.outer_shape[axis];
            row /= plan_.outer_shape[axis];
        }
    }

    // Rows come in runs along the last outer axis. Leaves `index` and `data` after the last of
    // them.
    void pack_group(int count, std::int64_t *index, char **data) {
        for (int done = 0; done < count;) {
            const std::int64_t left = plan_.outer_shape[last_] - index[last_];
            const int run = static_cast<int>(std::min<std::int64_t>(left, count - done));
            for (int k = 0; k < kernel_.input_count; ++k) {
                if (chunk_steps_[k] == 0) buffers_[k] = data[k];
                else pack(k, data[k], {0, plan_.inner}, done, run);
            }
            done += run;
            index[last_] += run - 1;
            for (int k = 0; k < kernel_.operand_count(); ++k)
                data[k] += (run - 1) * plan_.operands[k].outer_strides[last_];
            plan_.advance(index, data);
        }
        for (int k = 0; k < kernel_.input_count; ++k)
            if (chunk_steps_[k] != 0) pad(k, plan_.inner, count);
    }

    // Lanes that are no row repeat the last one.
    void pad(int k, std::int64_t chunks, int count) {
        if (count == lanes_) return;
        const int itemsize = plan_.operands[k].itemsize;
        for (std::int64_t i = 0; i < chunks; ++i) {
            char *place = buffers_[k] + i * chunk_steps_[k] + count * itemsize;
            fill_run(place, place - itemsize, lanes_ - count, itemsize);
        }
    }

    // Rows are read a few columns at a time, which hides from the processor that memory is read in
    // order.
    void prefetch_next(int k, const char *row, const Elements &elements, int run) const {
        const RowOperand &operand = plan_.operands[k];
        const std::int64_t stride = operand.outer_strides[last_],
                           begin = elements.begin * operand.itemsize;
        const std::int64_t bytes = elements.count() * operand.itemsize;
        if (!prefetches_ || operand.inner.ndim != 1 || operand.inner.strides[0] != operand.itemsize)
            return;
        const char *next = row + run * stride + begin;
        if (stride >= bytes && stride < 2 * bytes) {
            for (std::int64_t offset = 0; offset < run * stride; offset += 64)
                __builtin_prefetch(next + offset);
        } else {
            for (int r = 0; r < run; ++r)
                for (std::int64_t offset = 0; offset < bytes; offset += 64)
                    __builtin_prefetch(next + r * stride + offset);
        }
    }

    // Elements of `run` rows into lanes from `lane` on.
    void pack(int k, const char *row, const Elements &elements, int lane, int run) {
        const RowOperand &operand = plan_.operands[k];
        const int itemsize = operand.itemsize;
        const std::int64_t stride = operand.outer_strides[last_];
        char *to = buffers_[k] + lane * itemsize;
        prefetch_next(k, row, elements, run);
        if (operand.inner.ndim <= 1) {
            const std::int64_t inner_stride =
                operand.inner.ndim == 0 ? 0 : operand.inner.strides[0];
            if (inner_stride == itemsize &&
                transpose(to, chunk_steps_[k], row + elements.begin * itemsize, stride, run,
                          elements.count(), itemsize))
                return;
            for (std::int64_t i = elements.begin; i < elements.end; ++i, to += chunk_steps_[k])
                copy_run(to, itemsize, row + i * inner_stride, stride, run, itemsize);
            return;
        }
        // Only short rows packed as wholes get here.
        char values[longest_in_any_order * 16];
        for (int r = 0; r < run; ++r) {
            gather(values, operand.inner, row + r * stride, 0, plan_.inner);
            copy_run(to + r * itemsize, chunk_steps_[k], values, itemsize, plan_.inner, itemsize);
        }
    }

    // All that is packed.
    char *reduce_packed() {
        const Reduction *first = kernel_.reductions.data(),
                        *last = first + kernel_.reductions.size();
        Counter counter(first, last, lanes_, kernel_.accumulator_bytes, levels_);
        char *now[max_operands];
        for (std::int64_t begin = 0; begin < plan_.inner; begin += block_) {
            const std::int64_t end = std::min(begin + block_, plan_.inner);
            std::memcpy(accumulators_, kernel_.identities.data(), kernel_.accumulator_bytes);
            set_counters(first, last, accumulators_, begin * lanes_);
            for (int k = 0; k < kernel_.operand_count(); ++k)
                now[k] = buffers_[k] + begin * chunk_steps_[k];
            kernel_.phases[0](now, chunk_steps_, end - begin, lanes_, accumulators_, scalars_);
            if (plan_.inner <= block_) return accumulators_;
            counter.push(accumulators_);
        }
        return counter.collapse();
    }

    // `rows` neighbours from `data` on, read in place where they are dense; a set of accumulators
    // for each group of lanes.
    char *reduce_groups(char *const *data, std::int64_t rows) {
        const Reduction *first = kernel_.reductions.data(),
                        *last = first + kernel_.reductions.size();
        const int sets = static_cast<int>((rows + lanes_ - 1) / lanes_);
        const bool goes_on = kernel_.any_order && !kernel_.counts_positions;
        Counter counter(first, last, lanes_, kernel_.accumulator_bytes, levels_, sets);
        for (std::int64_t begin = 0; begin < plan_.inner; begin += block_) {
            const Elements elements = {begin, std::min(begin + block_, plan_.inner)};
            char *accumulators = accumulators_;
            for (int set = 0; set < sets; ++set, accumulators += kernel_.accumulator_bytes) {
                if (begin == 0 || !goes_on) {
                    std::memcpy(accumulators, kernel_.identities.data(),
                                kernel_.accumulator_bytes);
                    set_counters(first, last, accumulators, begin * lanes_);
                }
                const std::int64_t done = static_cast<std::int64_t>(set) * lanes_;
                run_elements(elements, data, done, std::min<std::int64_t>(lanes_, rows - done),
                             accumulators);
            }
            if (plan_.inner <= block_) return accumulators_;
            if (!goes_on) counter.push(accumulators_);
        }
        return goes_on ? accumulators_ : counter.collapse();
    }

    // Elements of `count` rows from row `row` on.
    void run_elements(const Elements &elements, char *const *data, std::int64_t row,
                      std::int64_t count, char *accumulators) {
        char *now[max_operands];
        std::int64_t steps[max_operands];
        for (int k = 0; k < kernel_.operand_count(); ++k) {
            steps[k] = chunk_steps_[k];
            now[k] = buffers_[k];
            if (!kernel_.is_output(k))
                locate_block(k, data[k] + row * plan_.operands[k].outer_strides[last_], elements,
                             static_cast<int>(count), &now[k], &steps[k]);
        }
        kernel_.phases[0](now, steps, elements.count(), lanes_, accumulators, scalars_);
    }


    void locate_block(int k, char *data, const Elements &elements, int count, char **now,
                      std::int64_t *step) {
        const RowOperand &operand = plan_.operands[k];
        if (*step == 0) {
            *now = data;
        } else if (count == lanes_ && operand.inner.ndim == 1 &&
                   operand.outer_strides[last_] == operand.itemsize) {
            *step = operand.inner.strides[0];
            *now = data + elements.begin * operand.inner.strides[0];
        } else {
            pack(k, data, elements, 0, count);
            pad(k, elements.count(), count);
        }
    }

    // The phases after the first, row by row: prologues only.
    void finish(const char *accumulators, int count, std::int64_t *index, char **data) {
        for (int lane = 0; lane < count;) {
            const std::int64_t left = plan_.outer_shape[last_] - index[last_];
            const int end = lane + static_cast<int>(std::min<std::int64_t>(left, count - lane));
            const int run = end - lane;
            char *now[max_operands];
            std::copy_n(data, kernel_.operand_count(), now);
            for (; lane < end; ++lane) {
                for (std::size_t r = 0; r < kernel_.reductions.size(); ++r)
                    result_of_lane(kernel_.reductions[r], lanes_, accumulators, lane,
                                   scalars_ + 16 * r);
                for (std::size_t phase = 1; phase < kernel_.phases.size(); ++phase)
                    kernel_.phases[phase](now, chunk_steps_, 0, lanes_, accumulators_, scalars_);
                for (const Written &written : written_) now[written.operand] += written.stride;
            }
            index[last_] += run - 1;
            for (int k = 0; k < kernel_.operand_count(); ++k)
                data[k] += (run - 1) * plan_.operands[k].outer_strides[last_];
            plan_.advance(index, data);
        }
    }

    const RowPlan &plan_;
    const Kernel &kernel_;
    const int lanes_;
    const std::int64_t block_, packed_chunks_;
    const int sets_, levels_count_;
    const bool prefetches_;
    Scratch memory_;
    int last_;
    char *accumulators_, *levels_, *scalars_;
    std::vector<Written> written_;
    char *buffers_[max_operands];
    std::int64_t chunk_steps_[max_operands];
};

// Neighbours side by side, elements of a row apart, in every operand that has both.
bool lies_across(const RowPlan &plan) {
    const int last = plan.outer_rank - 1;
    if (plan.outer_shape[last] < plan.kernel.lanes / 2) return false;
    for (int k = 0; k < plan.kernel.input_count; ++k) {
        const RowOperand &operand = plan.operands[k];
        if (plan.kernel.operands[k].role != Role::vector) continue;
        if (operand.inner.ndim != 1 || operand.outer_strides[last] != operand.itemsize ||
            std::abs(operand.inner.strides[0]) <= operand.itemsize)
            return false;
    }
    return true;
}

}  // namespace

std::int64_t longest_short_row(const Kernel &kernel) {
    if (kernel.any_order) return longest_in_any_order;
    return kernel.reduce_row == nullptr ? longest_in_order : longest_of_plain_sums;
}

bool run_row_per_lane(const RowPlan &plan) {
    const Kernel &kernel = plan.kernel;
    if (!kernel.transposable || plan.outer_rank == 0) return false;
    const bool short_rows = is_short(plan);
    if (!short_rows && !lies_across(plan)) return false;
    const int lanes = kernel.lanes;
    const double row_work = plan.row_work() + 8;
    const std::int64_t length = plan.outer_shape[plan.outer_rank - 1];
    const bool whole = is_whole(plan);
    const std::int64_t groups = whole ? (plan.rows + lanes - 1) / lanes
                                      : plan.rows / length * ((length + lanes - 1) / lanes);
    std::int64_t grain =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(8000 / (row_work * lanes)));
    if (!whole) grain = std::max<std::int64_t>(grain, std::min<std::int64_t>(groups_at_once, groups / thread_count()));
    if (row_work * plan.rows < parallel_threshold) grain = groups;
    parallel_for(groups, grain, [&](std::int64_t begin, std::int64_t end) {
        RowPerLane worker(plan);
        if (whole) worker.run_short(begin * lanes, std::min(end * lanes, plan.rows));
        else worker.run_groups(begin, end);
    });
    return true;
}

}  // namespace jitwise
