// Kernel and Program as Python objects.
#pragma once

#include <nanobind/nanobind.h>

#include "kernel.h"
#include "program.h"

namespace jitwise {

// The owner keeps the machine code loaded.
struct KernelObject : Kernel {
    nanobind::object owner;
};

struct ProgramObject : Program {
    nanobind::object references;  // a list: kernels and callables of the instructions
};

void bind_kernel(nanobind::module_ &module);
void bind_program(nanobind::module_ &module);
// Throws nanobind's python_error or value errors.
void parse_program(ProgramObject &program, nanobind::handle symbols, nanobind::handle dims,
                   nanobind::handle guards, nanobind::handle inputs, nanobind::handle slots,
                   nanobind::handle instructions, nanobind::handle outputs);
void parse_dims(Program &program, nanobind::handle symbols, nanobind::handle dims,
                nanobind::handle guards);
// For each symbol the number of its measurement, from 1 on; 0 for those of arguments.
std::vector<int> measurements(const Program &program, nanobind::handle instructions);
extern PyObject *deoptimize_exception;
extern PyObject *guard_failure_exception;

}  // namespace jitwise
