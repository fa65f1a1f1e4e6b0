// The native object of a compiled function, and what it asks of Python where no program gives the
// answer to a call.
#pragma once

#include <Python.h>

#include "calls.h"
#include "entry_table.h"

namespace jitwise::dispatch {

struct Function {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *miss;
    PyObject *fallback;
    PyObject *failed;  // or null
    PyObject *flagged;  // or null
    PyObject *opaque_types;  // a tuple, or null
    PyObject *dict;
    PyObject *weak_references;
    Table *table;
    unsigned long long misses;
    bool disabled;
};

inline Function *function_of(PyObject *self) { return reinterpret_cast<Function *>(self); }

// Each gives the result of the call, or null with an exception set.
PyObject *call_fallback(Function *function, const Call &call);
PyObject *call_miss(Function *function, const Call &call);
PyObject *call_failed(Function *function, Entry *entry, const Call &call);
PyObject *call_flagged(Function *function, Entry *entry, const Answer &answer, const Call &call);

}  // namespace jitwise::dispatch
