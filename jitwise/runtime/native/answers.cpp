#include "dispatch_numpy.h"

#include "answers.h"
#include "draws.h"

namespace jitwise::dispatch {

PyObject *call_fallback(Function *function, const Call &call) {
    PyObject *fallback = function->fallback;
    if (fallback == nullptr) return PyErr_Format(PyExc_RuntimeError, "the function was collected");
    if (Py_EnterRecursiveCall(" while calling a compiled function's Python code")) return nullptr;
    Py_INCREF(fallback);
    PyObject *result = PyObject_Vectorcall(fallback, call.args, call.nargsf, call.names);
    Py_DECREF(fallback);
    Py_LeaveRecursiveCall();
    return result;
}

PyObject *call_miss(Function *function, const Call &call) {
    ++function->misses;
    PyObject *miss = function->miss;
    if (miss == nullptr) return PyErr_Format(PyExc_RuntimeError, "the function was collected");
    const TupleAndDict packed(call);
    if (!packed.good || Py_EnterRecursiveCall(" while compiling a function")) return nullptr;
    Py_INCREF(miss);
    PyObject *result = PyObject_CallFunctionObjArgs(miss, packed.args, packed.kwargs, nullptr);
    Py_DECREF(miss);
    Py_LeaveRecursiveCall();
    return result;
}

// The program of `entry` raised the exception that is set. Whether it is the function's own, and
// what to do if it is not, is for `failed` to say; want of memory and interrupts are not asked
// about.
PyObject *call_failed(Function *function, Entry *entry, const Call &call) {
    PyObject *failed = function->failed;
    if (failed == nullptr || !PyErr_ExceptionMatches(PyExc_Exception) ||
        PyErr_ExceptionMatches(PyExc_MemoryError))
        return nullptr;
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback != nullptr) PyException_SetTraceback(error, traceback);
    PyObject *result = nullptr;
    const TupleAndDict packed(call);
    if (packed.good) {
        Py_INCREF(failed);
        result = PyObject_CallFunctionObjArgs(failed, reinterpret_cast<PyObject *>(entry), error,
                                              packed.args, packed.kwargs, nullptr);
        Py_DECREF(failed);
    }
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    return result;
}

// The program of `entry` raised floating-point flags that NumPy's error state does not ignore:
// `flagged` says what the call gives. Takes over the reference to the result.
PyObject *call_flagged(Function *function, Entry *entry, const Answer &answer, const Call &call) {
    PyObject *flagged = function->flagged;
    if (flagged == nullptr)
        return answer.result != nullptr ? answer.result
               : undo_draws()           ? call_fallback(function, call)
                                        : nullptr;
    PyObject *found = answer.result == nullptr ? PyTuple_New(0) : PyTuple_Pack(1, answer.result);
    Py_XDECREF(answer.result);
    PyObject *result = nullptr;
    const TupleAndDict packed(call);
    if (packed.good && found != nullptr) {
        Py_INCREF(flagged);
        result = PyObject_CallFunction(flagged, "OiOOOO", reinterpret_cast<PyObject *>(entry),
                                       answer.errors.flags,
                                       answer.errors.written ? Py_True : Py_False, found,
                                       packed.args, packed.kwargs);
        Py_DECREF(flagged);
    }
    Py_XDECREF(found);
    return result;
}

}  // namespace jitwise::dispatch
