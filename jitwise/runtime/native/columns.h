// Column kernels: what the driver knows of the operands.
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

// Inputs that are dense down the columns, such as Fortran-ordered ones. False: these are not.
bool run_tall_columns(const ColumnPlan &plan);

}  // namespace jitwise
