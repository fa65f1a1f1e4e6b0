// `Kernel` for Python: built by the code generator, run by programs, and by tests through `run`.
#include "kernel_object.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>

#include "machine_numpy.h"

namespace nb = nanobind;

namespace jitwise {

namespace {

Mode mode_named(const std::string &name) {
    if (name == "map") return Mode::map;
    if (name == "row") return Mode::row;
    if (name == "column") return Mode::column;
    throw nb::value_error("a kernel's mode is map, row or column");
}

Role role_named(const std::string &name) {
    if (name == "vector") return Role::vector;
    if (name == "row") return Role::row;
    if (name == "scalar") return Role::scalar;
    throw nb::value_error("an operand's role is vector, row or scalar");
}

int add_operands(Kernel &kernel, nb::handle specs) {
    int count = 0;
    for (nb::handle spec : specs) {
        kernel.operands.push_back(
            {nb::cast<int>(spec[0]), role_named(nb::cast<std::string>(spec[1]))});
        ++count;
    }
    return count;
}

void make_kernel(KernelObject *place, const std::string &name, int lanes, const std::string &mode,
                 nb::handle inputs, nb::handle outputs, nb::handle scratch, nb::handle reductions,
                 nb::handle phases, double flops, int plain, const std::string &plain_element,
                 nb::object owner) {
    auto *kernel = new (place) KernelObject;
    try {
        kernel->name = name;
        kernel->lanes = lanes;
        kernel->mode = mode_named(mode);
        kernel->input_count = add_operands(*kernel, inputs);
        kernel->output_count = add_operands(*kernel, outputs);
        for (nb::handle itemsize : scratch) kernel->scratch.push_back(nb::cast<int>(itemsize));
        for (nb::handle item : reductions) {
            Reduction reduction;
            if (!combine_named(nb::cast<std::string>(item[0]).c_str(), &reduction.op))
                throw nb::value_error("no such reduction");
            reduction.type = element_type_named(nb::cast<std::string>(item[1]).c_str());
            reduction.phase = nb::cast<int>(item[2]);
            kernel->reductions.push_back(reduction);
        }
        for (nb::handle address : phases)
            kernel->phases.push_back(reinterpret_cast<Phase>(nb::cast<std::uintptr_t>(address)));
        kernel->flops = flops;
        kernel->plain_operand = plain;
        if (plain >= 0) kernel->plain_element = element_type_named(plain_element.c_str());
        kernel->owner = std::move(owner);
        kernel->prepare();
    } catch (...) {
        kernel->~KernelObject();
        throw;
    }
}

View view_of(nb::handle object, int itemsize, bool is_output) {
    if (!PyArray_Check(object.ptr())) throw nb::type_error("operands are arrays");
    auto *array = reinterpret_cast<PyArrayObject *>(object.ptr());
    if (PyArray_ITEMSIZE(array) != itemsize)
        throw nb::type_error("an operand has another itemsize");
    if (is_output && !PyArray_ISWRITEABLE(array)) throw nb::value_error("an output is read-only");
    return {PyArray_BYTES(array), PyArray_NDIM(array),
            reinterpret_cast<const std::int64_t *>(PyArray_DIMS(array)),
            reinterpret_cast<const std::int64_t *>(PyArray_STRIDES(array))};
}

// The space is a tuple of lengths, or a rank: then the vector inputs broadcast against each other.
std::vector<std::int64_t> space_of(const Kernel &kernel, const std::vector<View> &views,
                                   nb::handle space) {
    std::vector<std::int64_t> shape;
    if (!PyLong_Check(space.ptr())) {
        for (nb::handle length : space) shape.push_back(nb::cast<std::int64_t>(length));
        return shape;
    }
    shape.assign(nb::cast<std::size_t>(space), 1);
    for (std::size_t k = 0; k < views.size(); ++k) {
        const int ndim = views[k].ndim, rank = static_cast<int>(shape.size());
        if (kernel.operands[k].role != Role::vector ||
            (kernel.mode == Mode::column && kernel.is_output(k)))
            continue;
        for (int axis = 0; axis < std::min(ndim, rank); ++axis) {
            std::int64_t length = views[k].shape[ndim - 1 - axis];
            if (length != 1) shape[rank - 1 - axis] = length;
        }
    }
    return shape;
}

void run_kernel(const KernelObject &kernel, nb::handle inputs, nb::handle outputs, nb::handle space,
                int outer) {
    std::vector<View> views;
    std::vector<nb::object> held;
    for (nb::handle list : {inputs, outputs})
        for (nb::handle item : list) {
            const std::size_t k = views.size();
            if (k >= kernel.operands.size()) throw nb::value_error("too many operands");
            views.push_back(
                view_of(item, kernel.operands[k].itemsize, kernel.is_output(static_cast<int>(k))));
            held.push_back(nb::borrow(item));
        }
    if (views.size() != kernel.operands.size()) throw nb::value_error("too few operands");
    std::vector<std::int64_t> shape = space_of(kernel, views, space);
    nb::gil_scoped_release release;
    kernel.run(views.data(), static_cast<int>(shape.size()), shape.data(), outer);
}

}  // namespace

void bind_kernel(nb::module_ &module) {
    nb::class_<KernelObject>(module, "Kernel", "Compiled code of one kernel, and how to drive it.")
        .def("__init__", make_kernel, nb::arg("name"), nb::arg("lanes"), nb::arg("mode"),
             nb::arg("inputs"), nb::arg("outputs"), nb::arg("scratch"), nb::arg("reductions"),
             nb::arg("phases"), nb::arg("flops") = 1.0, nb::arg("plain") = -1,
             nb::arg("plain_element") = "",
             nb::arg("owner") = nb::none())
        .def("run", run_kernel, nb::arg("inputs"), nb::arg("outputs"), nb::arg("space"),
             nb::arg("outer") = 0, "Run over a space, given by its shape or its rank.")
        .def_prop_ro("name", [](const KernelObject &kernel) { return kernel.name; })
        .def_prop_ro("lanes", [](const KernelObject &kernel) { return kernel.lanes; })
        .def_prop_ro("nanoseconds_per_point",
                     [](const KernelObject &kernel) { return kernel.nanoseconds_per_point; });
}

}  // namespace jitwise
