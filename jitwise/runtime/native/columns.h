// Column kernels: what the driver knows of the operands, and how their code is called.
//
// A phase of a column kernel takes several rows at a call, with its accumulators in registers.
#pragma once

#include "kernel.h"
#include "rows.h"
#include "small_buffer.h"
#include "strided.h"

namespace jitwise {

struct ColumnPlan {
    const Kernel &kernel;
    std::int64_t rows, columns;
    std::int64_t fold = 1;      // rows taken as one
    std::int64_t row_block;     // rows per partial result
    std::int64_t column_block;  // columns per pass, a multiple of lanes; counted in folded columns
    bool has_row_operand = false;
    SmallBuffer<Strided, 2>
        spaces;  // vector: the whole space; row: the reduced axes; output: the kept axes
    SmallBuffer<Strided, 2> down,
        across;  // vector inputs: the reduced and the kept axes by themselves

    ColumnPlan(const Kernel &kernel, const View *views, int ndim, const std::int64_t *shape,
               int outer);
    std::int64_t width() const { return columns * fold; }

private:
    void choose_sizes();
};

// `chunks` chunks through `rows` rows. `downs`: bytes from a row of an input to the next. `starts`:
// accumulators that every chunk begins with instead of what its outputs hold, or null.
inline void run_column_phase(const Kernel &kernel, char **pointers, const std::int64_t *steps,
                             std::int64_t chunks, std::int64_t rows, const char *starts,
                             const std::int64_t *downs) {
    kernel.phases[0](pointers, steps, chunks, rows, const_cast<char *>(starts),
                     reinterpret_cast<char *>(const_cast<std::int64_t *>(downs)));
}

// Bytes from the first element of `space` to element `position`.
inline std::int64_t offset_of(const Strided &space, std::int64_t position) {
    std::int64_t offset = 0;
    for (int axis = space.ndim - 1; axis >= 0; --axis) {
        offset += position % space.shape[axis] * space.strides[axis];
        position /= space.shape[axis];
    }
    return offset;
}

// Inputs that are dense down the columns, such as Fortran-ordered ones. False: these are not.
bool run_tall_columns(const ColumnPlan &plan);

}  // namespace jitwise
