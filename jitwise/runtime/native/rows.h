// Row kernels: what the driver knows of the operands (RowPlan), and one thread's working state
// (RowWorker).
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernel.h"
#include "memory.h"
#include "small_buffer.h"
#include "strided.h"

namespace jitwise {

enum class RowAccess : std::uint8_t {
    direct,    // dense along the row: used in place, except the last elements
    constant,  // one value per row: a chunk is filled with it
    packed,    // anything else: copied block by block
    single,    // a row or scalar operand: one address
};

struct RowOperand {
    RowAccess access;
    int itemsize;
    char *data;
    std::int64_t outer_strides[max_rank];
    Strided inner;
};

struct RowPlan {
    const Kernel &kernel;
    std::int64_t rows, inner;
    std::int64_t chunks, blocks;
    int tail;  // valid elements of the last chunk if it is not full, else 0
    int outer_rank;
    std::int64_t outer_shape[max_rank];
    bool any_packed = false;
    bool any_direct = false;
    bool fetches = false;      // see Note: [Fetching]
    bool evenly_spaced = true;  // every vector operand has one stride along the row
    SmallBuffer<RowOperand, 2> operands;

    RowPlan(const Kernel &kernel, const View *views, int ndim, const std::int64_t *shape,
            int outer);
    // Addresses of every operand's first element in row `row`.
    void locate(std::int64_t row, char **data) const;
    void advance(std::int64_t *index, char **data) const;
    double row_work() const { return kernel.work(inner); }

private:
    void order_rows();
};

// Merges accumulators pairwise, as a binary counter: the tree depends on their number only.
class Counter {
public:
    // What is pushed is `copies` sets of accumulators of `bytes` each, merged set by set.
    Counter(const Reduction *first, const Reduction *last, int lanes, std::size_t bytes,
            char *levels, int copies = 1)
        : first_(first),
          last_(last),
          lanes_(lanes),
          copies_(copies),
          bytes_(bytes),
          levels_(levels) {}
    void push(char *accumulators);
    // The merge of all that was pushed; at least one.
    char *collapse();
    static int levels_for(std::int64_t pushes) {
        int levels = 1;
        while ((std::int64_t(1) << levels) <= pushes) ++levels;
        return levels;
    }

private:
    void merge(char *earlier, const char *later) const;
    const Reduction *first_, *last_;
    int lanes_, copies_;
    std::size_t bytes_;
    char *levels_;
    std::uint64_t count_ = 0;
};

class RowWorker {
public:
    // `shared_scratch`: row-long temporaries that several workers of one row share, or null.
    RowWorker(const RowPlan &plan, char *shared_scratch);

    static std::size_t scratch_row_bytes(const RowPlan &plan);

    void begin_row(char *const *data);
    // All phases of the row begun last. `next`: where the row that follows lies, or null; it is
    // fetched while this one is computed.
    void run_row(char *const *next = nullptr);
    // Blocks [begin, end) of one phase; the accumulators of its reductions, valid until the next
    // call.
    char *reduce_blocks(int phase, std::int64_t begin, std::int64_t end);
    void map_blocks(int phase, std::int64_t begin, std::int64_t end);
    void finish_phase(int phase, char *accumulators);
    // Whether the elements taken last have decided a phase that stops.
    bool is_decided(int phase) const;
    char *scalars() { return scalars_; }
    void run_empty_row();

private:
    void carve(char *shared_scratch);
    void run_simple_row(char *const *next);
    void fetch(char *const *next) const;
    void reset_accumulators(const Reduction *first, const Reduction *last);
    char *reduce_at_once(int phase, std::int64_t begin, std::int64_t end);
    void run_chunks(int phase, std::int64_t begin, std::int64_t end);
    void set_pointers(std::int64_t begin);
    void run_tail(int phase, std::int64_t offset);
    void gather_block(std::int64_t begin, std::int64_t end);
    void scatter_block(std::int64_t begin, std::int64_t end);
    std::int64_t elements(std::int64_t begin, std::int64_t end) const {
        return std::min(end * lanes_, plan_.inner) - begin * lanes_;
    }
    std::size_t bytes(char *shared_scratch) const;

    const RowPlan &plan_;
    const Kernel &kernel_;
    const int lanes_;
    Scratch memory_;
    char *accumulators_, *levels_, *scalars_;
    char *data_[max_operands];
    char *
        buffers_[max_operands];  // a block of a packed operand, a chunk of a constant or direct one
    char *pointers_[max_operands];
    std::int64_t steps_[max_operands];
    // A row of one block, nothing packed: the pointers of its whole chunks and of its tail are set
    // once.
    bool is_simple_ = false;
    bool has_index_ = false;
    char *tail_pointers_[max_operands];
};

// Rows up to this length are short: a lane takes a row.
std::int64_t longest_short_row(const Kernel &kernel);
// Whether the rows are reduced as they lie, by `kernel.reduce_row`; and rows [begin, end) of such a
// plan.
bool is_plain(const RowPlan &plan);
void run_plain_rows(const RowPlan &plan, std::int64_t begin, std::int64_t end);
// Short rows, or rows side by side: a row per lane. False: this kernel or call is not of that kind.
bool run_row_per_lane(const RowPlan &plan);
// Few rows with much work: each phase of a row is shared by all threads.
void run_long_rows(const RowPlan &plan);

}  // namespace jitwise
