// A compiled kernel and its driver.
//
// Compiled code only ever sees chunks: `lanes` consecutive elements of each operand. Everything
// about layout is done here, by one of three drivers:
//   map     map_driver.cpp      one output element per point; the space is permuted and flattened;
//           map_general.cpp
//   row     row_driver.cpp      reductions along rows, in phases; short_rows.cpp, long_rows.cpp
//   column  column_driver.cpp   reductions over rows, element by element
// Operands that are not dense along the run, and the last elements that do not fill a chunk, are
// packed into scratch. A driver reads each chunk before it writes the same positions, so an output
// may be an input at identical positions, and nothing else.
//
// Results do not depend on the number of threads or on alignment. The order of a reduction over
// several axes depends on the order in which they lie in memory, and that of columns on which axis
// is dense, as NumPy's does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "accumulators.h"
#include "view.h"

namespace jitwise {

// What the arguments of a column phase are is said in columns.h.
using Phase = void (*)(char **pointers, const std::int64_t *steps, std::int64_t chunks,
                       std::int64_t valid, char *accumulators, char *scalars);

// A row of `count` dense elements to its result; see plain_rows.cpp.
using ReduceRow = void (*)(const char *row, std::int64_t count, char *scalar);
// Null: none for this reduction, or for this processor.
// `element`: of the row, which a reduction of bools converts.
ReduceRow plain_reduction(const Reduction &reduction, ElementType element, int lanes);
// The same for bools that are combined by and, or; see deciding_rows.cpp.
ReduceRow deciding_reduction(Combine op, ElementType element);

enum class Mode : std::uint8_t { map, row, column };
enum class Role : std::uint8_t { vector, row, scalar };

// In what order the elements of a row must be reduced. Sums and products of floats take blocks,
// merged pairwise; what is left gives the same bits in any order, and what stops need not take all.
enum class PhaseOrder : std::uint8_t { blocks, any, stops };

struct OperandSpec {
    int itemsize;
    Role role;
};

struct ShapeMismatch : std::logic_error {
    using std::logic_error::logic_error;
};

constexpr int max_operands = 256;
constexpr int chunks_per_block = 16;

struct Kernel {
    std::string name;
    int lanes = 0;
    Mode mode = Mode::map;
    int input_count = 0;
    int output_count = 0;
    std::vector<OperandSpec> operands;  // inputs, then outputs
    std::vector<int> scratch;           // itemsizes
    std::vector<Reduction> reductions;
    std::vector<Phase> phases;
    double flops = 1;  // per point of the iteration space
    int plain_operand = -1;  // the operand that phase 0 reduces as it is, if it does nothing else
    ElementType plain_element = ElementType::none;  // of that operand

    // Facts derived by `prepare`.
    int pointer_count = 0;
    std::size_t chunk_bytes = 0;  // one chunk of every operand, each aligned to 64
    std::size_t accumulator_bytes = 0;
    std::vector<std::int64_t> chunk_offsets;
    std::vector<char> identities;      // image of the initial accumulators
    std::vector<int> reduction_begin;  // reductions of phase p are [begin[p], begin[p + 1])
    double nanoseconds_per_point = 1;
    bool counts_positions = false;  // reductions find positions, counted in C order
    bool any_order = true;      // reductions give the same bits in any order of the elements
    std::vector<PhaseOrder> orders;  // of each phase's reductions
    ReduceRow reduce_row = nullptr;  // phase 0, when it is plain
    bool transposable = false;  // phase 0 can treat one row per lane; only prologues follow

    void prepare();  // throws std::invalid_argument

    // `views` are inputs, then outputs; the iteration space has `ndim` axes, of which the first
    // `outer` are rows (row mode) or reduced (column mode). Throws ShapeMismatch or std::bad_alloc.
    // No Python.
    void run(const View *views, int ndim, const std::int64_t *shape, int outer) const;

    double work(std::int64_t points) const { return points * nanoseconds_per_point; }
    bool is_output(int operand) const { return operand >= input_count; }
    int operand_count() const { return static_cast<int>(operands.size()); }

private:
    void choose_orders();
};

void run_map(const Kernel &kernel, const View *views, int ndim, const std::int64_t *shape);
// The two halves of a map kernel whose operands are all dense in one order of axes, or scalars. The first one is the same
// for equal shapes and strides; false: not such operands.
bool gather_dense(const Kernel &kernel, const View *views, int ndim, const std::int64_t *shape,
                  char **pointers, std::int64_t *steps);
void run_dense(const Kernel &kernel, char *const *pointers, const std::int64_t *steps,
               std::int64_t count);
void run_rows(const Kernel &kernel, const View *views, int ndim, const std::int64_t *shape,
              int outer);
void run_columns(const Kernel &kernel, const View *views, int ndim, const std::int64_t *shape,
                 int outer);

// Strides of `view` over an iteration space it is broadcast to, right-aligned. `role` and `operand`
// only word the error.
void broadcast_strides(const View &view, const std::int64_t *shape, int ndim, std::int64_t *strides,
                       const Kernel &kernel, int operand);

}  // namespace jitwise
