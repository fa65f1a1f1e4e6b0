// What NumPy is to do about floating-point errors: `np.errstate`, `np.seterr`.
#pragma once

#include <Python.h>

namespace jitwise {

// The flags that the error state of this thread and context ignores. Needs the GIL; keeps an
// exception that is set.
int ignored_float_errors();

// Whether an error is to raise, to be printed, to be logged or to call: NumPy has to do that before
// anything was changed that NumPy would not have changed.
bool float_errors_are_strict();

// Flags that functions of NumPy, called by a program, reported in this thread.
extern thread_local int reported_float_errors;

}  // namespace jitwise
