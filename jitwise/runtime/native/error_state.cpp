// NumPy keeps its error state in a context variable, whose value is an object that never changes: a
// new state is a new object. So the last object is remembered with what it says, and in general
// nothing but the variable is read. Where NumPy has no such variable, `np.geterr` is asked.
#include "error_state.h"

#include <initializer_list>

#include "float_flags.h"

namespace jitwise {

thread_local int reported_float_errors = 0;

namespace {

PyObject *attribute_of(const char *module_name, const char *name) {
    PyObject *module = PyImport_ImportModule(module_name);
    PyObject *value = module == nullptr ? nullptr : PyObject_GetAttrString(module, name);
    Py_XDECREF(module);
    if (value == nullptr) PyErr_Clear();
    return value;
}

bool is_mode(PyObject *state, const char *kind, const char *name) {
    PyObject *mode = PyDict_GetItemString(state, kind);
    return mode != nullptr && PyUnicode_Check(mode) &&
           PyUnicode_CompareWithASCIIString(mode, name) == 0;
}

bool is_ignored(PyObject *state, const char *kind) { return is_mode(state, kind, "ignore"); }

struct State {
    int ignored;
    bool strict;
};

State ask() {
    static PyObject *geterr = attribute_of("numpy", "geterr");
    PyObject *state = geterr == nullptr ? nullptr : PyObject_CallNoArgs(geterr);
    if (state == nullptr || !PyDict_Check(state)) {
        Py_XDECREF(state);
        PyErr_Clear();
        return {0, true};
    }
    const int ignored = (is_ignored(state, "divide") ? float_flags::divide : 0) |
                        (is_ignored(state, "over") ? float_flags::overflow : 0) |
                        (is_ignored(state, "under") ? float_flags::underflow : 0) |
                        (is_ignored(state, "invalid") ? float_flags::invalid : 0);
    bool strict = false;
    for (const char *kind : {"divide", "over", "under", "invalid"})
        strict |= !is_mode(state, kind, "ignore") && !is_mode(state, kind, "warn");
    Py_DECREF(state);
    return {ignored, strict};
}

// The value of the context variable: a new reference, or null.
PyObject *current_state() {
    static PyObject *variable = attribute_of("numpy._core.umath", "_extobj_contextvar");
    PyObject *value = nullptr;
    if (variable == nullptr || !PyContextVar_CheckExact(variable)) return nullptr;
    if (PyContextVar_Get(variable, nullptr, &value) != 0) PyErr_Clear();
    return value;
}

State state_now() {
    static PyObject *known = nullptr;
    static State known_state{0, true};
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyObject *state = current_state();
    State found;
    if (state != nullptr && state == known) {
        Py_DECREF(state);
        found = known_state;
    } else {
        found = ask();
        PyObject *old = known;
        known = state;
        known_state = found;
        Py_XDECREF(old);
    }
    PyErr_Restore(type, error, traceback);
    return found;
}

}  // namespace

static PyObject *reporting_variable = nullptr, *reporting_state = nullptr;

void Reporting::set(PyObject *variable, PyObject *state) {
    Py_XINCREF(variable);
    Py_XINCREF(state);
    reporting_variable = variable;
    reporting_state = state;
}

Reporting::Reporting(bool is_on) {
    if (!is_on || reporting_variable == nullptr) return;
    token_ = PyContextVar_Set(reporting_variable, reporting_state);
    if (token_ == nullptr) PyErr_Clear();
}

Reporting::~Reporting() {
    if (token_ == nullptr) return;
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    if (PyContextVar_Reset(reporting_variable, token_) < 0) PyErr_Clear();
    Py_DECREF(token_);
    PyErr_Restore(type, error, traceback);
}

int ignored_float_errors() { return state_now().ignored; }

bool float_errors_are_strict() { return state_now().strict; }

}  // namespace jitwise
