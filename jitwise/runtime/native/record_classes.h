// Named tuples and dataclass instances taken apart without running Python code.
//
// A named tuple is a tuple of a class with `_fields`. A dataclass instance counts as the tuple of its fields when that is all it is: its class derives from
// Python classes only and leaves attribute access alone, no field is a property, every field is set
// on the instance, and nothing else is. Any other instance is an object like others.
#pragma once

#include <Python.h>

#include "inline_vector.h"

namespace jitwise::dispatch {

// Appends the instance's field values, in order, borrowed from it. False: not to be taken apart.
bool dataclass_values(PyObject *instance, InlineVector<PyObject *, 16> *values);

bool is_named_tuple(PyTypeObject *type);

bool prepare_record_classes();

}  // namespace jitwise::dispatch
