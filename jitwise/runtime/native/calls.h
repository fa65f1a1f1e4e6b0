// The forms of a call: as CPython makes it, as a tuple and a dict, and those two as a signature.
#pragma once

#include <Python.h>

#include <cstddef>

#include "signature.h"

namespace jitwise::dispatch {

// A call in vectorcall form.
struct Call {
    PyObject *const *args;
    std::size_t nargsf;
    PyObject *names;

    Py_ssize_t count() const { return PyVectorcall_NARGS(nargsf); }
};

// A call as a tuple and a dict.
class TupleAndDict {
public:
    explicit TupleAndDict(const Call &call)
        : args(PyTuple_New(call.count())), kwargs(PyDict_New()) {
        const Py_ssize_t count = call.count();
        good = args != nullptr && kwargs != nullptr;
        for (Py_ssize_t i = 0; good && i < count; ++i) {
            Py_INCREF(call.args[i]);
            PyTuple_SET_ITEM(args, i, call.args[i]);
        }
        const Py_ssize_t named = call.names == nullptr ? 0 : PyTuple_GET_SIZE(call.names);
        for (Py_ssize_t i = 0; good && i < named; ++i)
            good = PyDict_SetItem(kwargs, PyTuple_GET_ITEM(call.names, i),
                                  call.args[count + i]) == 0;
    }
    ~TupleAndDict() {
        Py_XDECREF(args);
        Py_XDECREF(kwargs);
    }
    TupleAndDict(const TupleAndDict &) = delete;
    TupleAndDict &operator=(const TupleAndDict &) = delete;

    PyObject *args, *kwargs;
    bool good;  // else an exception is set
};

// The signature of a call given as a tuple and a dict; the arguments outlive it.
class PackedCall {
public:
    ~PackedCall() { Py_XDECREF(names_); }

    // False: exception set, or `*deep` when the call cannot be described.
    bool scan(PyObject *args, PyObject *kwargs, PyObject *opaque_types, bool *deep) {
        *deep = false;
        if (!PyTuple_Check(args) || (kwargs != Py_None && !PyDict_Check(kwargs))) {
            PyErr_SetString(PyExc_TypeError, "a call is described by a tuple and a dict");
            return false;
        }
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i)
            values_.push_back(PyTuple_GET_ITEM(args, i));
        const Py_ssize_t named = kwargs == Py_None ? 0 : PyDict_GET_SIZE(kwargs);
        if (named != 0) {
            names_ = PySequence_Tuple(kwargs);
            if (names_ == nullptr) return false;
            for (Py_ssize_t i = 0; i < named; ++i) {
                PyObject *name = PyTuple_GET_ITEM(names_, i);
                PyObject *value = PyDict_GetItemWithError(kwargs, name);
                if (value == nullptr || !PyUnicode_Check(name)) {
                    PyErr_SetString(PyExc_TypeError, "keywords are strings");
                    return false;
                }
                values_.push_back(value);
            }
        }
        *deep = !signature.scan(values_.data(), PyTuple_GET_SIZE(args), names_, opaque_types);
        return !*deep;
    }

    Signature signature;

private:
    InlineVector<PyObject *, 16> values_;
    PyObject *names_ = nullptr;
};

inline PyObject *too_deep() {
    PyErr_Format(PyExc_ValueError, "the arguments are nested more than %d deep", max_depth);
    return nullptr;
}

}  // namespace jitwise::dispatch
