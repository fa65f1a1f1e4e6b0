// Functions for Python that do what some functions of NumPy do.
#pragma once

#include <Python.h>

namespace jitwise {

// False: a Python exception is set.
bool add_library_calls(PyObject *module);

}  // namespace jitwise
