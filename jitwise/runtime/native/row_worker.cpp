// One thread's work on rows of a row kernel.
//
// A row is `chunks` chunks, the last of them perhaps short; 16 chunks are a block. A phase with
// reductions accumulates a block, then merges the accumulators of blocks pairwise, then reduces the
// lanes:
//
//     blocks   a b c d e   ->   ((a b) (c d)) e
//
// Where any order gives the same bits a row goes through one accumulator instead, and a phase that
// one element decides (any, all) is looked at from time to time.
//
// A short last chunk is packed and padded once per row, packed operands once per row if the row is
// one block, else once per block and phase.
#include <cstring>

#include "rows.h"

namespace jitwise {

namespace {

constexpr std::int64_t first_look = 2, chunks_per_look = 64;  // chunks between looks for the end

std::size_t aligned(std::size_t size) { return (size + 63) / 64 * 64; }

}  // namespace

void Counter::merge(char *earlier, const char *later) const {
    for (int copy = 0; copy < copies_; ++copy)
        merge_accumulators(first_, last_, lanes_, earlier + copy * bytes_, later + copy * bytes_);
}

void Counter::push(char *accumulators) {
    int level = 0;
    char *merged = accumulators;
    for (; (count_ >> level) & 1; ++level) {
        char *earlier = levels_ + level * bytes_ * copies_;
        merge(earlier, merged);
        merged = earlier;
    }
    std::memcpy(levels_ + level * bytes_ * copies_, merged, bytes_ * copies_);
    ++count_;
}

char *Counter::collapse() {
    char *merged = nullptr;
    for (int level = 0; (count_ >> level) != 0; ++level) {
        if (!((count_ >> level) & 1)) continue;
        char *earlier = levels_ + level * bytes_ * copies_;
        if (merged != nullptr) merge(earlier, merged);
        merged = earlier;
    }
    return merged;
}

std::size_t RowWorker::scratch_row_bytes(const RowPlan &plan) {
    std::size_t total = 0;
    for (int itemsize : plan.kernel.scratch)
        total += aligned(static_cast<std::size_t>(plan.chunks) * plan.kernel.lanes * itemsize);
    return total;
}

std::size_t RowWorker::bytes(char *shared_scratch) const {
    std::size_t total = kernel_.accumulator_bytes * (1 + Counter::levels_for(plan_.blocks));
    total += aligned(16 * kernel_.reductions.size());
    for (int k = 0; k < kernel_.operand_count(); ++k) {
        const std::size_t chunk = static_cast<std::size_t>(plan_.operands[k].itemsize) * lanes_;
        const bool packed = plan_.operands[k].access == RowAccess::packed;
        total += aligned(packed ? chunk * chunks_per_block : chunk);
    }
    return total + (shared_scratch == nullptr ? scratch_row_bytes(plan_) : 0);
}

RowWorker::RowWorker(const RowPlan &plan, char *shared_scratch)
    : plan_(plan), kernel_(plan.kernel), lanes_(plan.kernel.lanes), memory_(bytes(shared_scratch)) {
    carve(shared_scratch);
}

void RowWorker::carve(char *shared_scratch) {
    char *free = memory_.data();
    auto take = [&free](std::size_t size) {
        char *place = free;
        free += aligned(size);
        return place;
    };
    accumulators_ = take(kernel_.accumulator_bytes);
    levels_ = take(kernel_.accumulator_bytes * Counter::levels_for(plan_.blocks));
    scalars_ = take(16 * kernel_.reductions.size());
    for (int k = 0; k < kernel_.operand_count(); ++k) {
        const std::int64_t chunk = static_cast<std::int64_t>(plan_.operands[k].itemsize) * lanes_;
        const RowAccess access = plan_.operands[k].access;
        buffers_[k] = take(access == RowAccess::packed ? chunk * chunks_per_block : chunk);
        steps_[k] = access == RowAccess::direct || access == RowAccess::packed ? chunk : 0;
    }
    if (shared_scratch != nullptr) free = shared_scratch;
    for (std::size_t s = 0; s < kernel_.scratch.size(); ++s) {
        const int k = kernel_.operand_count() + static_cast<int>(s);
        steps_[k] = static_cast<std::int64_t>(kernel_.scratch[s]) * lanes_;
        buffers_[k] = take(static_cast<std::size_t>(plan_.chunks) * steps_[k]);
        pointers_[k] = buffers_[k];
        tail_pointers_[k] = buffers_[k] + (plan_.chunks - 1) * steps_[k];
    }
    is_simple_ = plan_.blocks == 1 && !plan_.any_packed && shared_scratch == nullptr;
    for (int k = kernel_.input_count; k < kernel_.operand_count(); ++k)
        if (plan_.operands[k].access == RowAccess::direct)
            is_simple_ = is_simple_ && plan_.tail == 0;
    for (const Reduction &r : kernel_.reductions) has_index_ = has_index_ || is_index(r.op);
}

void RowWorker::begin_row(char *const *data) {
    for (int k = 0; k < kernel_.operand_count(); ++k) {
        const RowOperand &operand = plan_.operands[k];
        data_[k] = data[k];
        pointers_[k] = operand.access == RowAccess::constant ? buffers_[k] : data[k];
        tail_pointers_[k] = operand.access == RowAccess::single ? data[k] : buffers_[k];
        if (plan_.inner == 0 || kernel_.is_output(k)) continue;
        if (operand.access == RowAccess::constant) {
            fill_run(buffers_[k], data[k], lanes_, operand.itemsize);
        } else if (operand.access == RowAccess::direct && plan_.tail > 0) {
            const int tail = plan_.tail, itemsize = operand.itemsize;
            copy_padded(buffers_[k], data[k] + (plan_.inner - tail) * itemsize, tail, lanes_,
                        itemsize);
        }
    }
    if (plan_.any_packed && plan_.blocks == 1) gather_block(0, plan_.chunks);
}

void RowWorker::gather_block(std::int64_t begin, std::int64_t end) {
    const std::int64_t count = elements(begin, end), padded = (end - begin) * lanes_;
    for (int k = 0; k < kernel_.input_count; ++k) {
        const RowOperand &operand = plan_.operands[k];
        if (operand.access != RowAccess::packed) continue;
        gather(buffers_[k], operand.inner, data_[k], begin * lanes_, count);
        char *last = buffers_[k] + (count - 1) * operand.itemsize;
        if (padded > count)
            fill_run(last + operand.itemsize, last, padded - count, operand.itemsize);
    }
}

void RowWorker::scatter_block(std::int64_t begin, std::int64_t end) {
    for (int k = kernel_.input_count; k < kernel_.operand_count(); ++k) {
        if (plan_.operands[k].access != RowAccess::packed) continue;
        scatter(plan_.operands[k].inner, data_[k], begin * lanes_, buffers_[k],
                elements(begin, end));
    }
}

void RowWorker::set_pointers(std::int64_t begin) {
    for (int k = 0; k < kernel_.operand_count(); ++k) {
        switch (plan_.operands[k].access) {
        case RowAccess::direct: pointers_[k] = data_[k] + begin * steps_[k]; break;
        case RowAccess::single: pointers_[k] = data_[k]; break;
        default: pointers_[k] = buffers_[k]; break;
        }
    }
    for (int k = kernel_.operand_count(); k < kernel_.pointer_count; ++k)
        pointers_[k] = buffers_[k] + begin * steps_[k];
}

// Chunks [begin, end) of one phase, at most a block if anything is packed.
void RowWorker::run_chunks(int phase, std::int64_t begin, std::int64_t end) {
    const bool short_end = plan_.tail > 0 && end == plan_.chunks;
    const bool apart = short_end && plan_.any_direct;
    const std::int64_t whole = end - begin - (apart ? 1 : 0);
    set_pointers(begin);
    if (whole > 0)
        kernel_.phases[phase](pointers_, steps_, whole, short_end && !apart ? plan_.tail : lanes_,
                              accumulators_, scalars_);
    if (apart) run_tail(phase, whole);
}

void RowWorker::run_tail(int phase, std::int64_t offset) {
    for (int k = 0; k < kernel_.operand_count(); ++k) {
        if (plan_.operands[k].access == RowAccess::direct) pointers_[k] = buffers_[k];
        else pointers_[k] += offset * steps_[k];
    }
    for (int k = kernel_.operand_count(); k < kernel_.pointer_count; ++k)
        pointers_[k] += offset * steps_[k];
    const int tail = plan_.tail;
    // What an earlier phase stored there must survive a phase that does not store.
    for (int k = kernel_.input_count; k < kernel_.operand_count(); ++k)
        if (plan_.operands[k].access == RowAccess::direct)
            std::memcpy(buffers_[k], data_[k] + (plan_.inner - tail) * plan_.operands[k].itemsize,
                        tail * plan_.operands[k].itemsize);
    kernel_.phases[phase](pointers_, steps_, 1, tail, accumulators_, scalars_);
    for (int k = kernel_.input_count; k < kernel_.operand_count(); ++k)
        if (plan_.operands[k].access == RowAccess::direct)
            std::memcpy(data_[k] + (plan_.inner - tail) * plan_.operands[k].itemsize, buffers_[k],
                        tail * plan_.operands[k].itemsize);
}

// The identities of reductions [first, last), whose accumulators are neighbours.
void RowWorker::reset_accumulators(const Reduction *first, const Reduction *last) {
    const Reduction *end = kernel_.reductions.data() + kernel_.reductions.size();
    const std::size_t begin = first->offset;
    const std::size_t size = (last < end ? last->offset : kernel_.accumulator_bytes) - begin;
    std::memcpy(accumulators_ + begin, kernel_.identities.data() + begin, size);
}

char *RowWorker::reduce_blocks(int phase, std::int64_t begin, std::int64_t end) {
    const Reduction *first = kernel_.reductions.data() + kernel_.reduction_begin[phase];
    const Reduction *last = kernel_.reductions.data() + kernel_.reduction_begin[phase + 1];
    if (kernel_.orders[phase] != PhaseOrder::blocks) return reduce_at_once(phase, begin, end);
    Counter counter(first, last, lanes_, kernel_.accumulator_bytes, levels_);
    for (std::int64_t block = begin; block < end; ++block) {
        const std::int64_t from = block * chunks_per_block;
        const std::int64_t to = std::min(from + chunks_per_block, plan_.chunks);
        reset_accumulators(first, last);
        set_counters(first, last, accumulators_, from * lanes_);
        if (plan_.any_packed && plan_.blocks > 1) gather_block(from, to);
        run_chunks(phase, from, to);
        if (plan_.any_packed) scatter_block(from, to);
        if (end - begin == 1) return accumulators_;
        counter.push(accumulators_);
    }
    return counter.collapse();
}

// One accumulator for all blocks, and as few calls as packing and stopping allow.
char *RowWorker::reduce_at_once(int phase, std::int64_t begin, std::int64_t end) {
    const bool stops = kernel_.orders[phase] == PhaseOrder::stops;
    const Reduction *first = kernel_.reductions.data() + kernel_.reduction_begin[phase];
    const Reduction *last = kernel_.reductions.data() + kernel_.reduction_begin[phase + 1];
    std::int64_t from = begin * chunks_per_block;
    const std::int64_t to = std::min(end * chunks_per_block, plan_.chunks);
    std::int64_t size = plan_.any_packed ? chunks_per_block : stops ? first_look : to - from;
    reset_accumulators(first, last);
    set_counters(first, last, accumulators_, from * lanes_);
    for (std::int64_t stop; from < to; from = stop) {
        stop = std::min(from + size, to);
        if (plan_.any_packed && plan_.blocks > 1) gather_block(from, stop);
        run_chunks(phase, from, stop);
        if (plan_.any_packed) scatter_block(from, stop);
        if (stops && is_decided(phase)) break;
        if (!plan_.any_packed) size = chunks_per_look;
    }
    return accumulators_;
}

bool RowWorker::is_decided(int phase) const {
    for (int r = kernel_.reduction_begin[phase]; r < kernel_.reduction_begin[phase + 1]; ++r)
        if (!jitwise::is_decided(kernel_.reductions[r], lanes_, accumulators_)) return false;
    return true;
}

void RowWorker::map_blocks(int phase, std::int64_t begin, std::int64_t end) {
    const std::int64_t to = std::min(end * chunks_per_block, plan_.chunks);
    std::int64_t from = begin * chunks_per_block;
    const std::int64_t size = plan_.any_packed ? chunks_per_block : to - from;
    for (; from < to; from += size) {
        const std::int64_t stop = std::min(from + size, to);
        if (plan_.any_packed && plan_.blocks > 1) gather_block(from, stop);
        run_chunks(phase, from, stop);
        if (plan_.any_packed) scatter_block(from, stop);
    }
}

void RowWorker::finish_phase(int phase, char *accumulators) {
    for (int r = kernel_.reduction_begin[phase]; r < kernel_.reduction_begin[phase + 1]; ++r)
        reduce_lanes(kernel_.reductions[r], lanes_, accumulators, scalars_ + 16 * r);
}

// Note: [Fetching] The phases in the middle of a row work in scratch, and memory is idle. What the
// last phase writes, and the row that follows, is fetched meanwhile. Softmax of 1024 rows of 1024
// float64, ns per element on one thread: 0.88 without, 0.84 with; 1.02 and 0.87 beside a neighbour
// that keeps memory busy. Rows in the caches would lose 2 %: see `fetches`.
void RowWorker::fetch(char *const *next) const {
    if (!plan_.fetches) return;
    for (int k = 0; k < kernel_.operand_count(); ++k) {
        if (plan_.operands[k].access != RowAccess::direct) continue;
        const std::int64_t bytes = plan_.inner * plan_.operands[k].itemsize;
        if (kernel_.is_output(k))
            for (std::int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(data_[k] + at, 1, 3);
        else if (next != nullptr)
            for (std::int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(next[k] + at, 0, 2);
    }
}

void RowWorker::run_simple_row(char *const *next) {
    const std::int64_t whole = plan_.chunks - (plan_.tail > 0 ? 1 : 0);
    const int phases = static_cast<int>(kernel_.phases.size());
    for (int phase = 0; phase < phases; ++phase) {
        const int first = kernel_.reduction_begin[phase], last = kernel_.reduction_begin[phase + 1];
        const Phase function = kernel_.phases[phase];
        if (phase == 1) fetch(next);
        if (first < last) {
            reset_accumulators(kernel_.reductions.data() + first, kernel_.reductions.data() + last);
            if (has_index_)
                set_counters(&kernel_.reductions[first], &kernel_.reductions[0] + last,
                             accumulators_, 0);
        }
        if (whole > 0) function(pointers_, steps_, whole, lanes_, accumulators_, scalars_);
        if (plan_.tail > 0)
            function(tail_pointers_, steps_, 1, plan_.tail, accumulators_, scalars_);
        for (int r = first; r < last; ++r)
            reduce_lanes(kernel_.reductions[r], lanes_, accumulators_, scalars_ + 16 * r);
    }
}

void RowWorker::run_row(char *const *next) {
    if (is_simple_) return run_simple_row(next);
    for (int phase = 0; phase < static_cast<int>(kernel_.phases.size()); ++phase) {
        if (phase == 1) fetch(next);
        if (kernel_.reduction_begin[phase] == kernel_.reduction_begin[phase + 1])
            map_blocks(phase, 0, plan_.blocks);
        else finish_phase(phase, reduce_blocks(phase, 0, plan_.blocks));
    }
}

// No chunks, but a prologue may store row operands.
void RowWorker::run_empty_row() {
    for (std::size_t r = 0; r < kernel_.reductions.size(); ++r)
        std::memcpy(scalars_ + 16 * r, kernel_.reductions[r].empty, 16);
    set_pointers(0);
    for (Phase phase : kernel_.phases) phase(pointers_, steps_, 0, lanes_, accumulators_, scalars_);
}

}  // namespace jitwise
