// What serving a call the long way and serving it from memory have in common.
#pragma once

#include "entry.h"

namespace jitwise::dispatch {

struct ScalarStorage {
    alignas(16) char bytes[16];
};

// A number as the program reads it. `no`: it does not fit.
Found store_number(Input::Kind kind, PyObject *value, char *bytes);
// The value of the call; an array may be taken out of `results`.
PyObject *take_output(const Recipe &recipe, Result *results, PyObject *const *leaves);

}  // namespace jitwise::dispatch
