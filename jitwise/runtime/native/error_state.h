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

// While it lives, NumPy reports its floating-point errors to the program that is being run. `is_on`
// false: nothing changes.
class Reporting {
public:
    explicit Reporting(bool is_on);
    ~Reporting();
    Reporting(const Reporting &) = delete;
    Reporting &operator=(const Reporting &) = delete;
    // NumPy's context variable, and the state in which it reports.
    static void set(PyObject *variable, PyObject *state);

private:
    PyObject *token_ = nullptr;
};

// Flags that functions of NumPy, called by a program, reported in this thread.
extern thread_local int reported_float_errors;

}  // namespace jitwise
