// Calls of Python functions from within a program. Arguments are ndarrays that share the slots'
// memory; what comes back must have the dtype and rank that were seen when the function was traced,
// else the whole call runs again as Python.
#include <cstring>

#include "error_state.h"
#include "float_flags.h"
#include "frame.h"
#include "machine_numpy.h"
#include "small_buffer.h"

namespace jitwise {

namespace {

class Reference {
public:
    explicit Reference(PyObject *object = nullptr) : object_(object) {}
    ~Reference() { Py_XDECREF(object_); }
    Reference(const Reference &) = delete;
    Reference &operator=(const Reference &) = delete;
    PyObject *get() const { return object_; }
    PyObject *take() {
        PyObject *object = object_;
        object_ = nullptr;
        return object;
    }

private:
    PyObject *object_;
};

PyObject *call(Frame &frame, const Instruction &now, const int *words) {
    Reference arguments(PyTuple_New(now.in_count));
    if (arguments.get() == nullptr) throw PythonError();
    for (int i = 0; i < now.in_count; ++i) {
        Slot &slot = frame.slots[words[i]];
        PyTuple_SET_ITEM(arguments.get(), i,
                         now.is_direct ? frame.same_array(slot) : frame.array_of(slot));
    }
    // NumPy clears the flags for itself, and reports its own errors.
    const int before = float_flags::raised();
    reported_float_errors = 0;
    PyObject *result;
    {
        Reporting reporting(now.is_direct);
        result = PyObject_Call(now.callable, arguments.get(), nullptr);
    }
    float_flags::set(before | reported_float_errors);
    if (result == nullptr) {
        if (now.is_direct) mark_as_numpys();
        throw PythonError();
    }
    return result;
}

// words of one result: slot, type, ndim; of a direct call also the dims it must have.
void store_result(Frame &frame, const int *words, PyObject *value, bool is_direct) {
    Slot &slot = frame.slots[words[0]];
    const ElementType type = static_cast<ElementType>(words[1]);
    Reference made(PyArray_FROM_O(value));
    if (made.get() == nullptr) throw PythonError();
    auto *array = reinterpret_cast<PyArrayObject *>(made.get());
    if (element_type_of_numpy(PyArray_TYPE(array)) != type || PyArray_NDIM(array) != words[2] ||
        !PyArray_ISNOTSWAPPED(array))
        throw Deoptimized();
    for (int axis = 0; is_direct && axis < words[2]; ++axis)
        if (PyArray_DIM(array, axis) != frame.dims[words[3 + axis]]) throw Deoptimized();
    if (slot.owner != Owner::none) frame.free(slot);
    slot.type = type;
    slot.view.owner = nullptr;
    slot.view.ndim = words[2];
    if (words[2] == 0) {
        std::memcpy(slot.inline_bytes, PyArray_BYTES(array), size_of(type));
        slot.view.data = slot.inline_bytes;
        return;
    }
    slot.view.data = PyArray_BYTES(array);
    for (int axis = 0; axis < words[2]; ++axis) {
        slot.shape[axis] = PyArray_DIM(array, axis);
        slot.strides[axis] = PyArray_STRIDE(array, axis);
    }
    slot.block = made.take();
    slot.owner = Owner::object;
}

}  // namespace

// words: in slots, then (slot, type, ndim) of each result.
void execute_host(Frame &frame, const Instruction &now) {
    frame.need_gil();
    const int *words = frame.words(now);
    Reference result(call(frame, now, words));
    words += now.in_count;
    if (now.out_count == 1) {
        PyObject *value = result.get();
        // A function of one result may also return it in a sequence of one.
        bool wrapped =
            (PyTuple_CheckExact(value) || PyList_CheckExact(value)) && PySequence_Size(value) == 1;
        return store_result(frame, words, wrapped ? PySequence_Fast_GET_ITEM(value, 0) : value,
                            now.is_direct);
    }
    if (now.out_count == 0) return;
    Reference items(
        PySequence_Fast(result.get(), "a host call with several results must return a sequence"));
    if (items.get() == nullptr) throw PythonError();
    if (PySequence_Fast_GET_SIZE(items.get()) != now.out_count) throw Deoptimized();
    for (int i = 0; i < now.out_count; ++i) {
        store_result(frame, words, PySequence_Fast_GET_ITEM(items.get(), i), now.is_direct);
        words += 3 + (now.is_direct ? words[2] : 0);
    }
}

}  // namespace jitwise
