// The sizes of a program from tuples: symbols, steps, guards, and which symbols are measured when.
#include <nanobind/stl/string.h>

#include "kernel_object.h"

namespace nb = nanobind;

namespace jitwise {

namespace {

[[noreturn]] void reject(const std::string &message) { throw nb::value_error(message.c_str()); }

DimOp dim_op_named(const std::string &name) {
    static const char *const names[] = {"const",    "add", "sub", "mul",
                                        "floordiv", "mod", "min", "max"};
    for (int i = 0; i < 8; ++i)
        if (name == names[i]) return static_cast<DimOp>(i);
    reject("no dim operation " + name);
}

}  // namespace

void parse_dims(Program &program, nb::handle symbols, nb::handle dims, nb::handle guards) {
    for (nb::handle item : symbols) {
        if (nb::cast<std::string>(item[0]) == "measured") {
            program.dims.symbols.push_back({-1, -1});
            continue;
        }
        const bool is_size = nb::cast<std::string>(item[0]) == "size";
        Symbol symbol = {nb::cast<int>(item[1]), is_size ? nb::cast<int>(item[2]) : -1};
        if (symbol.input < 0 || symbol.input >= static_cast<int>(program.inputs.size()))
            reject("a symbol of no input");
        const InputSpec &input = program.inputs[symbol.input];
        if (is_size ? symbol.axis < 0 || symbol.axis >= input.ndim
                    : input.ndim != 0 || input.type != ElementType::i64)
            reject("a symbol is the size of an axis or the value of an i64 of rank 0");
        program.dims.symbols.push_back(symbol);
    }
    for (nb::handle item : dims) {
        DimStep step = {dim_op_named(nb::cast<std::string>(item[0])),
                        nb::cast<std::int64_t>(item[1]), 0};
        if (step.op != DimOp::constant) {
            step.b = nb::cast<std::int64_t>(item[2]);
            const std::int64_t known = static_cast<std::int64_t>(program.dims.count());
            if (step.a < 0 || step.b < 0 || step.a >= known || step.b >= known)
                reject("a dim of later dims");
        }
        program.dims.steps.push_back(step);
    }
    for (nb::handle item : guards) {
        const std::string name = nb::cast<std::string>(item[0]);
        if (name != "eq" && name != "ne" && name != "ge") reject("a guard is eq, ne or ge");
        Guard guard = {name == "eq"   ? Relation::equal
                       : name == "ne" ? Relation::not_equal
                                      : Relation::not_negative,
                       nb::cast<int>(item[1])};
        if (guard.dim < 0 || guard.dim >= static_cast<int>(program.dims.count()))
            reject("a guard of no dim");
        program.dims.guards.push_back(guard);
    }
}

std::vector<int> measurements(const Program &program, nb::handle instructions) {
    std::vector<int> found(program.dims.symbols.size(), 0);
    int count = 0;
    for (nb::handle item : instructions) {
        if (nb::cast<std::string>(item[0]) != "measure") continue;
        const int symbol = nb::cast<int>(item[1]);
        if (symbol < 0 || symbol >= static_cast<int>(found.size()) || found[symbol] != 0)
            reject("a symbol is measured once");
        found[symbol] = ++count;
    }
    for (std::size_t i = 0; i < found.size(); ++i)
        if (program.dims.symbols[i].input < 0 && found[i] == 0)
            reject("a symbol is never measured");
    return found;
}

}  // namespace jitwise
