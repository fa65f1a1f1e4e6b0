#include "frame.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "float_flags.h"
#include "machine_numpy.h"
#include "memory.h"

namespace jitwise {

namespace {

constexpr int polls_to_a_look = 16;
constexpr std::int64_t poll_nanoseconds = 20'000'000;

void *handler_malloc(void *, std::size_t size) { return store_allocate(size); }

void *handler_calloc(void *, std::size_t count, std::size_t size) {
    std::size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
    void *block = store_allocate(bytes);
    if (block != nullptr) std::memset(block, 0, bytes);
    return block;
}

void handler_free(void *, void *block, std::size_t) { store_free(block); }

void *handler_realloc(void *, void *block, std::size_t size) {
    void *moved = store_allocate(size);
    if (moved != nullptr && block != nullptr) {
        std::memcpy(moved, block, std::min(size, store_capacity(block)));
        store_free(block);
    }
    return moved;
}

PyDataMem_Handler handler = {
    "jitwise_recycling",
    1,
    {nullptr, handler_malloc, handler_calloc, handler_realloc, handler_free}};

PyObject *handler_capsule() {
    static PyObject *capsule = PyCapsule_New(&handler, "mem_handler", nullptr);
    return capsule;
}

PyObject *plain_array(ElementType type, int ndim, const std::int64_t *shape) {
    // Of the built-in types there is one description each, which lives for ever.
    static PyArray_Descr *descriptions[element_type_count];
    PyArray_Descr *&descr = descriptions[static_cast<int>(type)];
    if (descr == nullptr) descr = PyArray_DescrFromType(numpy_type_of(type));
    Py_INCREF(descr);
    return PyArray_NewFromDescr(&PyArray_Type, descr, ndim,
                                reinterpret_cast<npy_intp *>(const_cast<std::int64_t *>(shape)),
                                nullptr, nullptr, 0, nullptr);
}

// False: the size does not fit, or an axis is negative.
bool bytes_of(ElementType type, int ndim, const std::int64_t *shape, std::size_t *bytes) {
    std::int64_t total = size_of(type);
    bool empty = false;
    for (int axis = 0; axis < ndim; ++axis) {
        if (shape[axis] < 0) return false;
        empty |= shape[axis] == 0;
    }
    for (int axis = 0; !empty && axis < ndim; ++axis)
        if (__builtin_mul_overflow(total, shape[axis], &total)) return false;
    *bytes = empty ? 0 : static_cast<std::size_t>(total);
    return true;
}

void set_dense_strides(Slot &slot) {
    std::int64_t stride = size_of(slot.type);
    for (int axis = slot.view.ndim - 1; axis >= 0; --axis) {
        slot.strides[axis] = stride;
        stride *= slot.shape[axis];
    }
}

void free_block(PyObject *capsule) {
    std::size_t bytes = reinterpret_cast<std::size_t>(PyCapsule_GetContext(capsule));
    temporary_free(PyCapsule_GetPointer(capsule, nullptr), bytes);
}

// Memory that Python has seen may be kept by Python: a reference decides when it is free.
PyObject *shared_owner(Slot &slot) {
    if (slot.owner == Owner::temporary) {
        PyObject *capsule = PyCapsule_New(slot.block, nullptr, free_block);
        if (capsule == nullptr) throw PythonError();
        PyCapsule_SetContext(capsule, reinterpret_cast<void *>(slot.bytes));
        slot.owner = Owner::object;
        slot.block = capsule;
    }
    return static_cast<PyObject *>(slot.owner == Owner::object ? slot.block : slot.view.owner);
}

bool is_fresh(PyArrayObject *array) {
    if (Py_REFCNT(array) != 1 || !PyArray_ISWRITEABLE(array)) return false;
    PyObject *base = PyArray_BASE(array);
    if (base == nullptr) return PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA);
    return Py_REFCNT(base) == 1 && PyArray_CheckExact(base) &&
           PyArray_BASE(reinterpret_cast<PyArrayObject *>(base)) == nullptr &&
           PyArray_CHKFLAGS(reinterpret_cast<PyArrayObject *>(base), NPY_ARRAY_OWNDATA);
}

// `object` is an array of exactly this view.
bool is_array_of(PyObject *object, const Slot &slot) {
    if (object == nullptr || !PyArray_CheckExact(object)) return false;
    auto *array = reinterpret_cast<PyArrayObject *>(object);
    if (PyArray_BYTES(array) != slot.view.data || PyArray_NDIM(array) != slot.view.ndim)
        return false;
    for (int axis = 0; axis < slot.view.ndim; ++axis)
        if (PyArray_DIM(array, axis) != slot.shape[axis] ||
            PyArray_STRIDE(array, axis) != slot.strides[axis])
            return false;
    return element_type_of_numpy(PyArray_TYPE(array)) == slot.type && PyArray_ISNOTSWAPPED(array);
}

// The slot's object is such an array, and nobody else knows it.
bool is_deliverable(const Slot &slot) {
    auto *object = static_cast<PyObject *>(slot.block);
    return slot.owner == Owner::object && is_array_of(object, slot) &&
           is_fresh(reinterpret_cast<PyArrayObject *>(object));
}

}  // namespace

void raise_no_memory(std::size_t bytes) {
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_MemoryError, "no memory for an array of %zu bytes", bytes);
    throw PythonError();
}

PyObject *new_array(ElementType type, int ndim, const std::int64_t *shape) {
    std::size_t bytes;
    if (!bytes_of(type, ndim, shape, &bytes)) throw Deoptimized();
    if (bytes < large_size) {
        PyObject *array = plain_array(type, ndim, shape);
        if (array == nullptr) throw PythonError();
        return array;
    }
    PyObject *before = PyDataMem_SetHandler(handler_capsule());
    if (before == nullptr) throw PythonError();
    PyObject *array = plain_array(type, ndim, shape);
    PyObject *kind = nullptr, *value = nullptr, *traceback = nullptr;
    if (array == nullptr) PyErr_Fetch(&kind, &value, &traceback);
    PyObject *ours = PyDataMem_SetHandler(before);
    Py_DECREF(before);
    Py_XDECREF(ours);
    if (array == nullptr) {
        PyErr_Restore(kind, value, traceback);
        throw PythonError();  // NumPy's MemoryError, with shape and size
    }
    return array;
}

void set_strides(PyObject *object, const std::int64_t *strides) {
    auto *array = reinterpret_cast<PyArrayObject *>(object);
    std::copy_n(strides, PyArray_NDIM(array), PyArray_STRIDES(array));
    PyArray_UpdateFlags(array, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS);
}

void Frame::poll() {
    if (++polls % polls_to_a_look == 0) look();
}

void Frame::look() {
    const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                 std::chrono::steady_clock::now().time_since_epoch())
                                 .count();
    if (polled == 0) polled = now;
    if (now - polled < poll_nanoseconds) return;
    polled = now;
    const int raised = float_flags::raised();
    release_gil();
    need_gil();
    const bool ended = PyErr_CheckSignals() < 0;
    float_flags::set(raised);  // Python code may have run
    if (ended) throw PythonError();
}

void Frame::lay_along(Slot &slot, const int *order) {
    std::int64_t stride = size_of(slot.type);
    for (int i = slot.view.ndim - 1; i >= 0; --i) {
        slot.strides[order[i]] = stride;
        stride *= slot.shape[order[i]];
    }
    if (slot.owner != Owner::object) return;
    need_gil();
    set_strides(static_cast<PyObject *>(slot.block), slot.strides);
}

std::size_t Frame::lay_out(Slot &slot) {
    std::size_t bytes;
    if (!bytes_of(slot.type, slot.view.ndim, slot.shape, &bytes)) throw Deoptimized();
    set_dense_strides(slot);
    return bytes;
}

void Frame::allocate_temporary(Slot &slot) {
    const std::size_t bytes = lay_out(slot);
    slot.view.owner = nullptr;
    if (slot.view.ndim == 0) {
        slot.view.data = slot.inline_bytes;
        return;
    }
    slot.block = temporary_allocate(bytes);
    slot.bytes = bytes;
    slot.owner = Owner::temporary;
    slot.view.data = static_cast<char *>(slot.block);
}

void Frame::allocate(Slot &slot, ElementType type, int ndim, bool is_output) {
    slot.type = type;
    slot.view.ndim = ndim;
    if (!is_output || ndim == 0) return allocate_temporary(slot);
    need_gil();
    PyObject *array = new_array(type, ndim, slot.shape);
    slot.block = array;
    slot.owner = Owner::object;
    slot.view.owner = nullptr;
    slot.view.data = PyArray_BYTES(reinterpret_cast<PyArrayObject *>(array));
    set_dense_strides(slot);
}

PyObject *Frame::same_array(Slot &slot) {
    auto *object =
        static_cast<PyObject *>(slot.owner == Owner::object ? slot.block : slot.view.owner);
    if (!is_array_of(object, slot)) return array_of(slot);
    Py_INCREF(object);
    return object;
}

PyObject *Frame::array_of(Slot &slot) {
    PyObject *owner = shared_owner(slot);
    // A view of another slot, or an inline element: nobody to share with, so a copy.
    if (owner == nullptr) {
        PyObject *copy = new_array(slot.type, slot.view.ndim, slot.shape);
        auto *array = reinterpret_cast<PyArrayObject *>(copy);
        std::int64_t strides[max_rank];
        for (int axis = 0; axis < slot.view.ndim; ++axis)
            strides[axis] = PyArray_STRIDE(array, axis);
        copy_view({PyArray_BYTES(array), slot.view.ndim, slot.shape, strides}, slot.view,
                  size_of(slot.type));
        return copy;
    }
    PyObject *array =
        PyArray_New(&PyArray_Type, slot.view.ndim, reinterpret_cast<npy_intp *>(slot.shape),
                    numpy_type_of(slot.type), reinterpret_cast<npy_intp *>(slot.strides),
                    slot.view.data, 0, NPY_ARRAY_WRITEABLE, nullptr);
    if (array == nullptr) throw PythonError();
    Py_INCREF(owner);
    if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject *>(array), owner) < 0) {
        Py_DECREF(array);
        throw PythonError();
    }
    return array;
}

void Frame::finish(Slot &slot, Result *result) {
    result->dtype_num = numpy_type_of(slot.type);
    if (slot.view.ndim == 0) {
        std::memcpy(result->value, slot.view.data, size_of(slot.type));
        return;
    }
    if (is_deliverable(slot)) {
        result->array = static_cast<PyObject *>(slot.block);
        slot.owner = Owner::none;
        return;
    }
    // Results are fresh arrays: an input or a part of another array is copied.
    PyObject *copy = new_array(slot.type, slot.view.ndim, slot.shape);
    auto *array = reinterpret_cast<PyArrayObject *>(copy);
    result->array = copy;
    std::int64_t strides[max_rank];
    for (int axis = 0; axis < slot.view.ndim; ++axis) strides[axis] = PyArray_STRIDE(array, axis);
    copy_view({PyArray_BYTES(array), slot.view.ndim, slot.shape, strides}, slot.view,
              size_of(slot.type));
}

}  // namespace jitwise
