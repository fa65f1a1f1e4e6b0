// Sizes known at run time: a straight line of integer operations, checked for overflow.
//
//     symbols  n = size of axis 0 of input 0        dims[0]
//     dims     2 * n + 1                            dims[1..]
//     guards   n != 1
//
// A symbol may be measured while the program runs. What follows from it alone is a stage: computed,
// and its guards looked at, when it is there. Stage 0 follows from the arguments.
#pragma once

#include <cstdint>
#include <vector>

#include "view.h"

namespace jitwise {

enum class DimOp : std::uint8_t {
    constant,
    add,
    subtract,
    multiply,
    floor_divide,
    modulo,
    min,
    max
};
enum class Relation : std::uint8_t { equal, not_equal, not_negative };

struct Symbol {
    int input;  // -1: measured
    int axis;   // -1: the value of an integer argument
};

struct DimStep {
    DimOp op;
    std::int64_t a, b;  // indices of earlier dims; a constant is `a` itself
};

struct Guard {
    Relation relation;
    int dim;
};

// By their numbers.
struct Stage {
    std::vector<int> steps, guards;
};

struct Dims {
    std::vector<Symbol> symbols;
    std::vector<DimStep> steps;
    std::vector<Guard> guards;
    std::vector<Stage> stages;  // empty: nothing is measured

    std::size_t count() const { return symbols.size() + steps.size(); }
    // `measured`: for each symbol the number of its measurement, from 1 on, or 0. Fills in `stages`;
    // gives the stage of each dim.
    std::vector<int> divide(const std::vector<int> &measured);
    // Stage 0. False: a result does not fit 64 bits, or a division by zero.
    bool evaluate(const View *inputs, std::int64_t *dims) const;
    bool guards_hold(const std::int64_t *dims) const;
    // A later one, after its symbol was set.
    bool evaluate_stage(int stage, std::int64_t *dims) const;
    bool stage_holds(int stage, const std::int64_t *dims) const;
};

}  // namespace jitwise
