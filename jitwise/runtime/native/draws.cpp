#include "draws.h"

namespace jitwise {

namespace {

thread_local PyObject *journal;  // a dict, or null: nothing was drawn
thread_local PyObject *const *places;
thread_local std::size_t place_count;
PyObject *rewind_function;

PyObject *get_journal(PyObject *, PyObject *) {
    if (journal == nullptr) journal = PyDict_New();
    Py_XINCREF(journal);
    return journal;
}

PyObject *get_place(PyObject *, PyObject *number) {
    const std::size_t index = PyLong_AsSize_t(number);
    if (index == static_cast<std::size_t>(-1) && PyErr_Occurred()) return nullptr;
    if (index >= place_count) return PyErr_Format(PyExc_LookupError, "no call has a place %zu", index);
    Py_INCREF(places[index]);
    return places[index];
}

PyObject *undo(PyObject *, PyObject *) {
    if (!undo_draws()) return nullptr;
    Py_RETURN_NONE;
}

PyObject *set_rewind(PyObject *, PyObject *function) {
    PyObject *old = rewind_function;
    Py_INCREF(function);
    rewind_function = function;
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"journal", get_journal, METH_NOARGS,
     "journal(): what the running call has drawn from, as the dict that `set_rewind` is given."},
    {"place", get_place, METH_O, "place(k): the k-th object that the running entry looked up."},
    {"undo_draws", undo, METH_NOARGS, "undo_draws(): undo what this call has drawn so far."},
    {"set_rewind", set_rewind, METH_O, "set_rewind(function): what undoes, given the journal."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

DrawScope::DrawScope() : outer_(journal) { journal = nullptr; }

DrawScope::~DrawScope() {
    PyObject *own = journal;
    journal = outer_;
    if (own == nullptr) return;
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    Py_DECREF(own);
    PyErr_Restore(type, error, traceback);
}

bool undo_draws() {
    if (journal == nullptr) return true;
    PyObject *own = journal;
    journal = nullptr;
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyObject *done = rewind_function == nullptr
                         ? nullptr
                         : PyObject_CallFunctionObjArgs(rewind_function, own, nullptr);
    Py_DECREF(own);
    if (done == nullptr && PyErr_Occurred()) {
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(traceback);
        return false;
    }
    Py_XDECREF(done);
    PyErr_Restore(type, error, traceback);
    return true;
}

RunningPlaces::RunningPlaces(PyObject *const *own, std::size_t count)
    : outer_(places), outer_count_(place_count) {
    places = own;
    place_count = count;
}

RunningPlaces::~RunningPlaces() {
    places = outer_;
    place_count = outer_count_;
}

bool add_draw_functions(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace jitwise
