#include "dims.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace jitwise {

namespace {

// Python's rounding: toward minus infinity; the remainder has the divisor's sign.
bool floor_divide(std::int64_t a, std::int64_t b, std::int64_t *quotient, std::int64_t *remainder) {
    if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return false;
    *quotient = a / b;
    *remainder = a % b;
    if (*remainder != 0 && (*remainder < 0) != (b < 0)) {
        --*quotient;
        *remainder += b;
    }
    return true;
}

bool apply(const DimStep &step, const std::int64_t *dims, std::int64_t *result) {
    if (step.op == DimOp::constant) {
        *result = step.a;
        return true;
    }
    const std::int64_t a = dims[step.a], b = dims[step.b];
    std::int64_t quotient, remainder;
    switch (step.op) {
    case DimOp::add: return !__builtin_add_overflow(a, b, result);
    case DimOp::subtract: return !__builtin_sub_overflow(a, b, result);
    case DimOp::multiply: return !__builtin_mul_overflow(a, b, result);
    case DimOp::floor_divide:
    case DimOp::modulo:
        if (!floor_divide(a, b, &quotient, &remainder)) return false;
        *result = step.op == DimOp::modulo ? remainder : quotient;
        return true;
    case DimOp::min: *result = std::min(a, b); return true;
    case DimOp::max: *result = std::max(a, b); return true;
    default: return false;
    }
}

bool holds(const Guard &guard, const std::int64_t *dims) {
    const std::int64_t value = dims[guard.dim];
    return guard.relation == Relation::equal       ? value == 0
           : guard.relation == Relation::not_equal ? value != 0
                                                   : value >= 0;
}

}  // namespace

std::vector<int> Dims::divide(const std::vector<int> &measured) {
    std::vector<int> stage_of(measured);
    int last = 0;
    for (int stage : measured) last = std::max(last, stage);
    if (last > 0) stages.resize(last + 1);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        int stage = 0;
        if (steps[i].op != DimOp::constant)
            stage = std::max(stage_of[steps[i].a], stage_of[steps[i].b]);
        stage_of.push_back(stage);
        if (last > 0) stages[stage].steps.push_back(static_cast<int>(i));
    }
    for (std::size_t i = 0; last > 0 && i < guards.size(); ++i)
        stages[stage_of[guards[i].dim]].guards.push_back(static_cast<int>(i));
    return stage_of;
}

bool Dims::evaluate(const View *inputs, std::int64_t *dims) const {
    for (const Symbol &symbol : symbols) {
        if (symbol.input < 0) {
            *dims++ = 0;
            continue;
        }
        const View &input = inputs[symbol.input];
        if (symbol.axis >= 0) *dims++ = input.shape[symbol.axis];
        else std::memcpy(dims++, input.data, sizeof(std::int64_t));
    }
    std::int64_t *first = dims - symbols.size();
    if (!stages.empty()) return evaluate_stage(0, first);
    for (const DimStep &step : steps)
        if (!apply(step, first, dims++)) return false;
    return true;
}

bool Dims::evaluate_stage(int stage, std::int64_t *dims) const {
    for (int step : stages[stage].steps)
        if (!apply(steps[step], dims, dims + symbols.size() + step)) return false;
    return true;
}

bool Dims::stage_holds(int stage, const std::int64_t *dims) const {
    for (int guard : stages[stage].guards)
        if (!holds(guards[guard], dims)) return false;
    return true;
}

bool Dims::guards_hold(const std::int64_t *dims) const {
    if (!stages.empty()) return stage_holds(0, dims);
    for (const Guard &guard : guards)
        if (!holds(guard, dims)) return false;
    return true;
}

}  // namespace jitwise
