// What some functions of NumPy do, by NumPy's C interface: without the Python around it, which takes
// as long as a small array. Each gives the same bits, the same layout and the same exceptions.
//
//     np.sort(a)   ->   sorted(a)        a copy in the order of memory of `a`, sorted in place
//
// The operands are ndarrays of native byte order, and nothing else. What a function does not take
// as it is goes to NumPy's own.
#include "library_calls.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "machine_numpy.h"

namespace jitwise {

namespace {

PyArrayObject *array(PyObject *object) { return reinterpret_cast<PyArrayObject *>(object); }

bool are_arrays(PyObject *const *arguments, Py_ssize_t given, Py_ssize_t count) {
    if (given < count) {
        PyErr_SetString(PyExc_TypeError, "too few arrays");
        return false;
    }
    for (Py_ssize_t i = 0; i < count; ++i)
        if (!PyArray_CheckExact(arguments[i])) {
            PyErr_SetString(PyExc_TypeError, "an ndarray is needed");
            return false;
        }
    return true;
}

// `*value` becomes the argument `place`, if there is one. False: an exception is set.
bool number(PyObject *const *arguments, Py_ssize_t given, Py_ssize_t place, int *value) {
    if (place >= given) return true;
    const long found = PyLong_AsLong(arguments[place]);
    if (found == -1 && PyErr_Occurred()) return false;
    *value = static_cast<int>(found);
    if (*value == found) return true;
    PyErr_SetString(PyExc_OverflowError, "a number is too large");
    return false;
}

// NumPy's own function of this name, for what is rare.
PyObject *numpys(const char *name, PyObject *const *arguments, Py_ssize_t given) {
    PyObject *module = PyImport_ImportModule("numpy");
    PyObject *function = module == nullptr ? nullptr : PyObject_GetAttrString(module, name);
    Py_XDECREF(module);
    if (function == nullptr) return nullptr;
    PyObject *result =
        PyObject_Vectorcall(function, arguments, static_cast<std::size_t>(given), nullptr);
    Py_DECREF(function);
    return result;
}

// sorted(a, axis=-1)
PyObject *sorted(PyObject *, PyObject *const *arguments, Py_ssize_t given) {
    int axis = -1;
    if (!are_arrays(arguments, given, 1) || !number(arguments, given, 1, &axis)) return nullptr;
    PyObject *copy = PyArray_NewCopy(array(arguments[0]), NPY_KEEPORDER);
    if (copy == nullptr || PyArray_Sort(array(copy), axis, NPY_QUICKSORT) == 0) return copy;
    Py_DECREF(copy);
    return nullptr;
}

// argsorted(a, axis=-1)
PyObject *argsorted(PyObject *, PyObject *const *arguments, Py_ssize_t given) {
    int axis = -1;
    if (!are_arrays(arguments, given, 1) || !number(arguments, given, 1, &axis)) return nullptr;
    return PyArray_ArgSort(array(arguments[0]), axis, NPY_QUICKSORT);
}

// partitioned(a, kth, axis=-1)
PyObject *partitioned(PyObject *, PyObject *const *arguments, Py_ssize_t given) {
    int axis = -1;
    if (!are_arrays(arguments, given, 1) || !number(arguments, given, 2, &axis)) return nullptr;
    PyObject *places = given < 2 ? nullptr : PyArray_FROM_O(arguments[1]);
    if (places == nullptr) return nullptr;
    PyObject *copy = PyArray_NewCopy(array(arguments[0]), NPY_KEEPORDER);
    const bool done = copy != nullptr && PyArray_Partition(array(copy), array(places), axis,
                                                           NPY_INTROSELECT) == 0;
    Py_DECREF(places);
    if (done) return copy;
    Py_XDECREF(copy);
    return nullptr;
}

// searched(a, v)
PyObject *searched(PyObject *, PyObject *const *arguments, Py_ssize_t given) {
    if (!are_arrays(arguments, given, 2)) return nullptr;
    return PyArray_SearchSorted(array(arguments[0]), arguments[1], NPY_SEARCHLEFT, nullptr);
}

// convolved(a, v): in full.
PyObject *convolved(PyObject *, PyObject *const *arguments, Py_ssize_t given) {
    if (!are_arrays(arguments, given, 2)) return nullptr;
    PyArrayObject *a = array(arguments[0]), *v = array(arguments[1]);
    if (PyArray_NDIM(a) != 1 || PyArray_NDIM(v) != 1 || PyArray_SIZE(a) == 0 ||
        PyArray_SIZE(v) == 0)
        return numpys("convolve", arguments, given);
    if (PyArray_SIZE(v) > PyArray_SIZE(a)) std::swap(a, v);
    npy_intp length = PyArray_DIM(v, 0), stride = -PyArray_STRIDE(v, 0);
    PyArray_Descr *descr = PyArray_DESCR(v);
    Py_INCREF(descr);
    PyObject *turned = PyArray_NewFromDescr(
        &PyArray_Type, descr, 1, &length, &stride,
        PyArray_BYTES(v) + (length - 1) * PyArray_STRIDE(v, 0), 0, nullptr);
    if (turned == nullptr) return nullptr;
    PyObject *result = PyArray_Correlate(reinterpret_cast<PyObject *>(a), turned, 2);
    Py_DECREF(turned);
    return result;
}

constexpr npy_intp most_bins = 1024;  // that are counted in tables of our own

// Counts of small numbers, in `tables` tables, so that equal neighbours do not wait for each other.
PyObject *small_counts(const npy_int64 *numbers, npy_intp count, npy_intp bins, int tables) {
    std::int64_t found[4 * most_bins];
    std::memset(found, 0, static_cast<std::size_t>(tables * bins) * sizeof found[0]);
    npy_intp i = 0;
    if (tables == 4)
        for (; i + 4 <= count; i += 4)
            for (int each = 0; each < 4; ++each) ++found[each * bins + numbers[i + each]];
    for (; i < count; ++i) ++found[numbers[i]];
    for (int each = 1; each < tables; ++each)
        for (npy_intp bin = 0; bin < bins; ++bin) found[bin] += found[each * bins + bin];
    while (bins > 1 && found[bins - 1] == 0) --bins;
    PyObject *result = PyArray_SimpleNew(1, &bins, NPY_INTP);
    if (result != nullptr)
        std::memcpy(PyArray_DATA(array(result)), found,
                    static_cast<std::size_t>(bins) * sizeof found[0]);
    return result;
}

// counted(x): np.bincount
PyObject *counted(PyObject *, PyObject *const *arguments, Py_ssize_t given) {
    if (!are_arrays(arguments, given, 1)) return nullptr;
    PyArrayObject *x = array(arguments[0]);
    static_assert(sizeof(npy_intp) == sizeof(npy_int64));
    if (given > 1 || PyArray_TYPE(x) != NPY_INT64 || PyArray_NDIM(x) != 1 ||
        !PyArray_ISCARRAY_RO(x) || PyArray_SIZE(x) == 0)
        return numpys("bincount", arguments, given);
    const auto *numbers = static_cast<const npy_int64 *>(PyArray_DATA(x));
    const npy_intp count = PyArray_SIZE(x);
    npy_int64 bits = 0;  // of any number: none is above, and the sign is that of the least
    for (npy_intp i = 0; i < count; ++i) bits |= numbers[i];
    if (bits < 0 || bits >= most_bins) return numpys("bincount", arguments, given);
    npy_intp bins = 1;
    while (bins <= bits) bins *= 2;
    return small_counts(numbers, count, bins, 8 * bins <= count ? 4 : 1);
}

// either(a, short, full, ...): what `short` gives of a and the rest, or `full` where that is None.
PyObject *either(PyObject *, PyObject *const *arguments, Py_ssize_t given) {
    if (given < 3 || given > 6) {
        PyErr_SetString(PyExc_TypeError, "an array, two functions and a few numbers are needed");
        return nullptr;
    }
    PyObject *passed[4] = {arguments[0]};
    for (Py_ssize_t i = 3; i < given; ++i) passed[i - 2] = arguments[i];
    const auto count = static_cast<std::size_t>(given - 2);
    PyObject *found = PyObject_Vectorcall(arguments[1], passed, count, nullptr);
    if (found != Py_None) return found;
    Py_DECREF(found);
    return PyObject_Vectorcall(arguments[2], passed, count, nullptr);
}

template <class T>
bool has_nan_in(const void *data, npy_intp count) {
    const T *numbers = static_cast<const T *>(data);
    bool found = false;
    for (npy_intp i = 0; i < count; ++i) found |= std::isunordered(numbers[i], numbers[i]);
    return found;
}

// has_nan(x): whether an element of an array is nan, or a number is; None where that is not known.
PyObject *has_nan(PyObject *, PyObject *value) {
    if (PyFloat_Check(value)) return PyBool_FromLong(std::isnan(PyFloat_AS_DOUBLE(value)));
    if (!PyArray_CheckExact(value)) Py_RETURN_NONE;
    PyArrayObject *x = array(value);
    if (PyArray_ISINTEGER(x) || PyArray_ISBOOL(x)) Py_RETURN_FALSE;
    if (!PyArray_ISBEHAVED_RO(x) || !PyArray_ISONESEGMENT(x)) Py_RETURN_NONE;
    const void *data = PyArray_DATA(x);
    const npy_intp count = PyArray_SIZE(x);
    switch (PyArray_TYPE(x)) {
    case NPY_FLOAT32: return PyBool_FromLong(has_nan_in<float>(data, count));
    case NPY_FLOAT64: return PyBool_FromLong(has_nan_in<double>(data, count));
    default: Py_RETURN_NONE;
    }
}

PyMethodDef functions[] = {
    {"sorted", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(sorted)), METH_FASTCALL,
     "np.sort of an ndarray, and an axis."},
    {"argsorted", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(argsorted)),
     METH_FASTCALL, "np.argsort of an ndarray, and an axis."},
    {"has_nan", has_nan, METH_O, "Whether a number or an element is nan, or None."},
    {"partitioned", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(partitioned)),
     METH_FASTCALL, "np.partition of an ndarray, a place or places, and an axis."},
    {"searched", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(searched)),
     METH_FASTCALL, "np.searchsorted of two ndarrays, from the left."},
    {"convolved", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(convolved)),
     METH_FASTCALL, "np.convolve of two ndarrays, in full."},
    {"counted", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(counted)),
     METH_FASTCALL, "np.bincount of an ndarray."},
    {"either", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(either)), METH_FASTCALL,
     "What the second gives for the first and the rest, or the third where that is None."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_library_calls(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace jitwise
