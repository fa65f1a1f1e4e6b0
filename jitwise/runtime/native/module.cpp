// The extension module `jitwise.runtime._native`.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstring>

#define JITWISE_MACHINE_IMPORTS_NUMPY
#include "machine_numpy.h"

#include "kernel_object.h"
#include "error_state.h"
#include "float_flags.h"
#include "library.h"
#include "library_calls.h"
#include "memory.h"
#include "pool.h"
#if JITWISE_HAS_MATH
#include "math/math_table.h"
#endif

namespace nb = nanobind;

#if JITWISE_HAS_DISPATCHER
void bind_function(nb::module_ &module);
#endif

namespace jitwise {

namespace {

PyObject *make_exception(nb::module_ &module, const char *name, const char *meaning,
                         PyObject *base = nullptr) {
    std::string full = std::string("jitwise.runtime._native.") + name;
    PyObject *type = PyErr_NewExceptionWithDoc(full.c_str(), meaning, base, nullptr);
    if (type == nullptr) throw nb::python_error();
    module.attr(name) = nb::borrow(type);
    return type;
}

nb::dict math_symbols() {
    nb::dict symbols;
#if JITWISE_HAS_MATH
    std::size_t count = 0;
    const MathEntry *entries = math_entries(&count);
    for (std::size_t i = 0; i < count; ++i)
        symbols[entries[i].name] = reinterpret_cast<std::uintptr_t>(entries[i].address);
#endif
    return symbols;
}

nb::dict stats() {
    const MemoryStats now = memory_stats();
    nb::dict result;
    result["live"] = now.live;
    result["kept"] = now.kept;
    result["limit"] = now.limit;
    result["temporary"] = now.temporary;
    return result;
}

void set_blas(nb::dict functions, bool wide) {
    for (auto [name, address] : functions)
        if (!set_blas_function(nb::cast<std::string>(name).c_str(),
                               reinterpret_cast<const void *>(nb::cast<std::uintptr_t>(address))))
            throw nb::value_error("not a BLAS function that is used");
    set_blas_integers(wide);
}

bool blas_serves(const std::string &dtype) {
    ElementType type = element_type_named(dtype.c_str());
    return type != ElementType::none && has_blas(type);
}

void bind_settings(nb::module_ &module) {
    module.def("math_symbols", math_symbols,
               "Addresses of the vector math functions, by `primitive.dtype`.");
    module.def("set_threads", set_threads, nb::arg("count"),
               "Threads to use; 0 means as the machine allows.");
    module.def("thread_count", thread_count, "Threads that a kernel may use.");
    module.def("helper_count", helper_count, "Helper threads alive.");
    module.def("release_memory", release_memory, "Give kept memory back to the system.");
    module.def("memory_stats", stats, "Bytes of recycled memory in use and kept.");
    module.def("set_memory_limit", set_memory_limit, nb::arg("bytes"), "The most bytes to keep.");
    module.def("set_blas", set_blas, nb::arg("functions"), nb::arg("wide") = false,
               "Addresses of Fortran BLAS functions by name; wide: with 64-bit integers.");
    module.def("has_blas", blas_serves, nb::arg("dtype"),
               "Whether matrix products of a dtype run natively.");
}

// What NumPy calls, with its name of an error and its number, where `np.errstate(call=...)` says.
void report_float_error(nb::handle, int flags) { reported_float_errors |= flags; }

void bind_float_errors(nb::module_ &module) {
    module.def("report_float_error", report_float_error, nb::arg("name"), nb::arg("flags"),
               "Raise flags in the program that is being run, once its call of Python is over.");
    module.def(
        "set_reporting",
        [](nb::handle variable, nb::handle state) { Reporting::set(variable.ptr(), state.ptr()); },
        nb::arg("variable"), nb::arg("state"),
        "NumPy's context variable for its error state, and the state in which it reports.");
    module.def("ignored_float_errors", ignored_float_errors,
               "The flags that NumPy's error state ignores.");
    module.def("float_flags", float_flags::raised, "The flags of this thread.");
    module.def("set_float_flags", float_flags::set, nb::arg("flags"),
               "Have these flags raised in this thread, and no others.");
}

}  // namespace

}  // namespace jitwise

NB_MODULE(_native, module) {
    if (_import_array() < 0) throw nb::python_error();
    nb::set_leak_warnings(false);
    module.doc() = "The native runtime: kernels, programs, threads, memory, dispatch.";
    using namespace jitwise;
    deoptimize_exception =
        make_exception(module, "Deoptimize", "A check failed: the call must run as Python.");
    guard_failure_exception =
        make_exception(module, "GuardFailure", "The program does not fit these sizes.");
    fault_exception = make_exception(module, "Fault", "The program itself is wrong.",
                                     PyExc_RuntimeError);
    bind_kernel(module);
    bind_program(module);
    bind_settings(module);
    bind_float_errors(module);
    if (!add_library_calls(module.ptr())) throw nb::python_error();
#if JITWISE_HAS_DISPATCHER
    bind_function(module);
#endif
}
