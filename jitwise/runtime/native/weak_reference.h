// What a weak reference refers to, for comparing addresses only.
#pragma once

#include <Python.h>

namespace jitwise::dispatch {

// Borrowed; None or null when the object has died.
inline PyObject *weak_referent(PyObject *reference) {
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *object = nullptr;
    if (PyWeakref_GetRef(reference, &object) < 0) PyErr_Clear();
    Py_XDECREF(object);
    return object;
#else
    return PyWeakref_GetObject(reference);
#endif
}

}  // namespace jitwise::dispatch
