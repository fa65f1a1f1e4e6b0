// Calls of Python functions from within a program. Arguments are ndarrays that share the slots'
// memory; what comes back must have the dtype and rank that were seen when the function was traced,
// else the whole call runs again as Python.
#include <cstring>
#include <vector>

#include "error_state.h"
#include "float_flags.h"
#include "inline_vector.h"
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

// The operands, and what else a function is called with.
class Arguments {
public:
    Arguments(Frame &frame, const Instruction &now, const int *words) : count_(now.in_count) {
        const PyObject *more = now.host->more;
        const auto rest = static_cast<std::size_t>(more == nullptr ? 0 : Py_SIZE(more));
        total_ = static_cast<std::size_t>(count_) + rest;
        if (total_ >= room) large_.resize(total_ + 1);
        items_ = (large_.empty() ? small_ : large_.data()) + 1;  // one before is the callee's
        for (int i = 0; i < count_; ++i) items_[i] = nullptr;
        try {
            for (int i = 0; i < count_; ++i) {
                Slot &slot = frame.slots[words[i]];
                items_[i] = now.is_direct ? frame.same_array(slot) : frame.array_of(slot);
            }
        } catch (...) {
            release();
            throw;
        }
        for (std::size_t i = 0; i < rest; ++i)
            items_[static_cast<std::size_t>(count_) + i] =
                PyTuple_GET_ITEM(now.host->more, static_cast<Py_ssize_t>(i));
    }
    ~Arguments() { release(); }
    Arguments(const Arguments &) = delete;
    Arguments &operator=(const Arguments &) = delete;

    PyObject *call(const HostCall &host) {
        const auto named =
            static_cast<std::size_t>(host.names == nullptr ? 0 : Py_SIZE(host.names));
        return PyObject_Vectorcall(host.callable, items_,
                                   (total_ - named) | PY_VECTORCALL_ARGUMENTS_OFFSET, host.names);
    }

private:
    void release() {
        for (int i = 0; i < count_; ++i) Py_XDECREF(items_[i]);
    }

    static constexpr std::size_t room = 12;
    PyObject *small_[room] = {};
    std::vector<PyObject *> large_;
    PyObject **items_;
    int count_;
    std::size_t total_;
};

PyObject *call(Frame &frame, const Instruction &now, const int *words) {
    PyObject *result;
    {
        Arguments arguments(frame, now, words);
        // NumPy clears the flags for itself, and reports its own errors.
        const int before = float_flags::raised();
        reported_float_errors = 0;
        {
            Reporting reporting(now.is_direct && !now.is_quiet);
            result = arguments.call(*now.host);
        }
        float_flags::set(before | reported_float_errors);
    }
    if (result == nullptr) {
        if (now.is_direct) mark_as_numpys();
        throw PythonError();
    }
    return result;
}

// Nobody else has this array or its memory: `references` to it are all there are. It may then be
// written to, given to the caller, and outlive what it was made of.
bool is_unshared(PyArrayObject *array, Py_ssize_t references) {
    if (Py_REFCNT(array) != references || !PyArray_CheckExact(array) ||
        !PyArray_ISWRITEABLE(array))
        return false;
    PyObject *base = PyArray_BASE(array);
    if (base == nullptr) return PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA);
    auto *whole = reinterpret_cast<PyArrayObject *>(base);
    return Py_REFCNT(base) == 1 && PyArray_CheckExact(base) && PyArray_BASE(whole) == nullptr &&
           PyArray_CHKFLAGS(whole, NPY_ARRAY_OWNDATA) &&
           (PyArray_IS_C_CONTIGUOUS(array) || PyArray_IS_F_CONTIGUOUS(array));
}

// `*array` in memory of its own.
PyObject *copied(PyArrayObject *array, ElementType type) {
    const int ndim = PyArray_NDIM(array);
    const auto *shape = reinterpret_cast<const std::int64_t *>(PyArray_DIMS(array));
    PyObject *made = new_array(type, ndim, shape);
    auto *copy = reinterpret_cast<PyArrayObject *>(made);
    copy_view({PyArray_BYTES(copy), ndim, shape,
               reinterpret_cast<const std::int64_t *>(PyArray_STRIDES(copy))},
              {PyArray_BYTES(array), ndim, shape,
               reinterpret_cast<const std::int64_t *>(PyArray_STRIDES(array))},
              size_of(type));
    return made;
}

void clear(Frame &frame, Slot &slot, ElementType type, int ndim) {
    if (slot.owner != Owner::none) frame.free(slot);
    slot.type = type;
    slot.view.owner = nullptr;
    slot.view.ndim = ndim;
}

// A scalar of NumPy's as a result of rank 0.
void store_scalar(Frame &frame, Slot &slot, ElementType type, PyObject *value) {
    if (type == ElementType::f64 && Py_IS_TYPE(value, &PyDoubleArrType_Type)) {  // the most
        clear(frame, slot, type, 0);
        store(slot.inline_bytes, PyArrayScalar_VAL(value, Double));
        slot.view.data = slot.inline_bytes;
        return;
    }
    PyArray_Descr *descr = PyArray_DescrFromScalar(value);
    if (descr == nullptr) throw PythonError();
    const int number = descr->type_num;
    Py_DECREF(descr);
    if (element_type_of_numpy(number) != type) throw Deoptimized();
    clear(frame, slot, type, 0);
    PyArray_ScalarAsCtype(value, slot.inline_bytes);
    slot.view.data = slot.inline_bytes;
}

// The array becomes the slot's.
void store_array(Frame &frame, Slot &slot, ElementType type, Reference &made) {
    auto *array = reinterpret_cast<PyArrayObject *>(made.get());
    const int ndim = PyArray_NDIM(array);
    clear(frame, slot, type, ndim);
    if (ndim == 0) {
        std::memcpy(slot.inline_bytes, PyArray_BYTES(array), size_of(type));
        slot.view.data = slot.inline_bytes;
        return;
    }
    slot.view.data = PyArray_BYTES(array);
    for (int axis = 0; axis < ndim; ++axis) {
        slot.shape[axis] = PyArray_DIM(array, axis);
        slot.strides[axis] = PyArray_STRIDE(array, axis);
    }
    slot.block = made.take();
    slot.owner = Owner::object;
}

// words of one result: slot, type, ndim; of a direct call also the dims it must have, or -1 - dim
// of those that it tells.
void store_result(Frame &frame, const int *words, PyObject *value, bool is_direct) {
    Slot &slot = frame.slots[words[0]];
    const ElementType type = static_cast<ElementType>(words[1]);
    if (words[2] == 0 && PyArray_IsScalar(value, Generic))
        return store_scalar(frame, slot, type, value);
    Reference made(PyArray_FROM_O(value));
    if (made.get() == nullptr) throw PythonError();
    auto *array = reinterpret_cast<PyArrayObject *>(made.get());
    if (element_type_of_numpy(PyArray_TYPE(array)) != type || PyArray_NDIM(array) != words[2] ||
        !PyArray_ISNOTSWAPPED(array))
        throw Deoptimized();
    for (int axis = 0; is_direct && axis < words[2]; ++axis) {
        const int dim = words[3 + axis];
        if (dim < 0) frame.dims[-1 - dim] = PyArray_DIM(array, axis);
        else if (PyArray_DIM(array, axis) != frame.dims[dim]) throw Deoptimized();
    }
    if (words[2] > 0 && !is_unshared(array, made.get() == value ? 2 : 1)) {
        Reference copy(copied(array, type));
        return store_array(frame, slot, type, copy);
    }
    store_array(frame, slot, type, made);
}

// The results in a nest of tuples and lists, in order and borrowed; see `results_of` in ops/call.py.
void add_results(PyObject *value, dispatch::InlineVector<PyObject *, 8> &found) {
    if (!PyTuple_Check(value) && !PyList_Check(value)) return found.push_back(value);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i)
        add_results(PySequence_Fast_GET_ITEM(value, i), found);
}

}  // namespace

// words: in slots, then (slot, type, ndim) of each result.
void execute_host(Frame &frame, const Instruction &now) {
    frame.need_gil();
    const int *words = frame.words(now);
    Reference result(call(frame, now, words));
    words += now.in_count;
    if (now.out_count == 0) return;
    dispatch::InlineVector<PyObject *, 8> found;
    add_results(result.get(), found);
    if (found.size() != static_cast<std::size_t>(now.out_count)) throw Deoptimized();
    for (std::size_t i = 0; i < found.size(); ++i) {
        store_result(frame, words, found[i], now.is_direct);
        words += 3 + (now.is_direct ? words[2] : 0);
    }
}

}  // namespace jitwise
