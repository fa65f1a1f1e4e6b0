// `Program` for Python.
#include "kernel_object.h"

#include <nanobind/stl/string.h>

#include "machine_numpy.h"

namespace nb = nanobind;

namespace jitwise {

PyObject *deoptimize_exception = nullptr;
PyObject *guard_failure_exception = nullptr;

namespace {

void make_program(ProgramObject *place, const std::string &name, nb::handle symbols,
                  nb::handle dims, nb::handle guards, nb::handle inputs, nb::handle slots,
                  nb::handle instructions, nb::handle outputs) {
    auto *program = new (place) ProgramObject;
    try {
        program->name = name;
        parse_program(*program, symbols, dims, guards, inputs, slots, instructions, outputs);
    } catch (...) {
        program->~ProgramObject();
        throw;
    }
}

// Arrays, or anything NumPy makes an array of with the dtype and rank of the input.
std::vector<nb::object> converted(const Program &program, nb::handle arguments) {
    std::vector<nb::object> arrays;
    for (nb::handle item : arguments) {
        if (arrays.size() >= program.input_count()) throw nb::value_error("too many inputs");
        const InputSpec &spec = program.inputs[arrays.size()];
        nb::object array = nb::steal(PyArray_FROM_O(item.ptr()));
        if (!array.is_valid()) throw nb::python_error();
        auto *plain = reinterpret_cast<PyArrayObject *>(array.ptr());
        if (element_type_of_numpy(PyArray_TYPE(plain)) != spec.type ||
            PyArray_NDIM(plain) != spec.ndim || !PyArray_ISNOTSWAPPED(plain))
            throw nb::type_error("an input has another dtype or rank");
        arrays.push_back(std::move(array));
    }
    if (arrays.size() != program.input_count()) throw nb::value_error("too few inputs");
    return arrays;
}

nb::object array_of(Result &result) {
    if (result.array != nullptr) return nb::steal(result.array);
    PyObject *array =
        PyArray_New(&PyArray_Type, 0, nullptr, result.dtype_num, nullptr, nullptr, 0, 0, nullptr);
    if (array == nullptr) throw nb::python_error();
    std::memcpy(PyArray_DATA(reinterpret_cast<PyArrayObject *>(array)), result.value,
                PyArray_ITEMSIZE(reinterpret_cast<PyArrayObject *>(array)));
    return nb::steal(array);
}

nb::list run_program(const ProgramObject &program, nb::handle arguments,
                     FloatErrors *errors = nullptr) {
    std::vector<nb::object> arrays = converted(program, arguments);
    std::vector<View> views;
    for (nb::object &object : arrays) {
        auto *array = reinterpret_cast<PyArrayObject *>(object.ptr());
        views.push_back({PyArray_BYTES(array), PyArray_NDIM(array),
                         reinterpret_cast<const std::int64_t *>(PyArray_DIMS(array)),
                         reinterpret_cast<const std::int64_t *>(PyArray_STRIDES(array)),
                         object.ptr()});
    }
    std::vector<Result> results(program.output_count());
    switch (program.run(views.data(), results.data(), errors)) {
    case Status::ok: break;
    case Status::flagged: return nb::list();
    case Status::guard_failed:
        PyErr_SetString(guard_failure_exception, "a guard does not hold");
        throw nb::python_error();
    case Status::deoptimize:
        PyErr_SetString(deoptimize_exception, "a check failed");
        throw nb::python_error();
    case Status::error:
    case Status::broken: throw nb::python_error();
    }
    nb::list list;
    for (Result &result : results) list.append(array_of(result));
    return list;
}

// Results, and the floating-point flags that were raised on the way. Without results, the program
// stopped before it wrote to an input.
nb::tuple run_and_tell(const ProgramObject &program, nb::handle arguments) {
    FloatErrors errors;
    nb::list results = run_program(program, arguments, &errors);
    return nb::make_tuple(results, errors.flags);
}

int traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    Py_VISIT(nb::inst_ptr<ProgramObject>(self)->references.ptr());
    return 0;
}

int clear(PyObject *self) {
    // Without its callables a program cannot run: it forgets its instructions with them.
    auto *program = nb::inst_ptr<ProgramObject>(self);
    program->instructions.clear();
    program->outputs.clear();
    program->references.reset();
    return 0;
}

PyType_Slot slots[] = {
    {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(clear)},
    {0, nullptr},
};

}  // namespace

PyTypeObject *program_type() {
    return reinterpret_cast<PyTypeObject *>(nb::type<ProgramObject>().ptr());
}

Program *program_of(PyObject *handle) { return nb::inst_ptr<ProgramObject>(handle); }

void bind_program(nb::module_ &module) {
    nb::class_<ProgramObject>(module, "Program", nb::type_slots(slots),
                              "A flat list of instructions, and the machine that runs it.")
        .def("__init__", make_program, nb::arg("name"), nb::arg("symbols"), nb::arg("dims"),
             nb::arg("guards"), nb::arg("inputs"), nb::arg("slots"), nb::arg("instructions"),
             nb::arg("outputs"))
        .def(
            "run",
            [](const ProgramObject &program, nb::handle arrays) {
                return run_program(program, arrays);
            },
            nb::arg("arrays"), "Results for these inputs, as arrays.")
        .def("run_and_tell", run_and_tell, nb::arg("arrays"),
             "Results for these inputs, and the floating-point flags, as NumPy numbers them.")
        .def_prop_ro("name", [](const ProgramObject &program) { return program.name; })
        .def_prop_ro("instruction_count",
                     [](const ProgramObject &program) { return program.instructions.size(); });
}

}  // namespace jitwise
