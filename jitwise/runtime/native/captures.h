// What an entry depends on besides its arguments: captured arrays and numbers, which become program
// inputs at each call, and guards, which must still hold for the entry to be usable.
//
//     W = np.ones(3); scale = 2                capture (globals, "W", "dict")
//     def f(x): return W * x * scale           guard   (globals, "scale", "dict", 2, "equal")
//
// Both are fetched afresh at every call, so rebinding, in-place writes and deletion are all seen.
// Where to look ("how"):
//     dict    container[key] of a dict (globals, an instance's __dict__)
//     cell    the contents of a closure cell
//     attr    getattr(container, key); Python code runs only if the class defines such code
//     item    container[key] of an exact list or tuple, or of a dict
//     length  len(container) of an exact list, tuple or dict
//     keys    the keys of a dict, in order, as a tuple: equal when each is the same object or value
//     object  the container itself
//     leaf    the call's own leaf number `key` (container None)
// A container that is itself an object argument of the call is not kept alive by the entry: it is
// taken from the call instead.
#pragma once

#include <Python.h>

#include <vector>

#include "signature.h"

namespace jitwise::dispatch {

enum class How : std::uint8_t { dict, cell, attr, item, length, keys, object, leaf };
enum class Test : std::uint8_t { is, equal, absent };
enum class Found : std::uint8_t { yes, no, error };

// One place to look. Owns its references; `visit` and `release` serve the entry's GC slots.
struct Fetch {
    How how = How::object;
    Py_ssize_t index = -1;          // leaf number, or item index
    Py_ssize_t container_leaf = -1; // the container is this leaf of the call
    PyObject *container = nullptr;
    PyObject *key = nullptr;

    bool parse(PyObject *container, PyObject *key, PyObject *how, const Signature &call);
    // A new reference in *value when found. Errors: only what is not an Exception passes through.
    Found fetch(const Signature &call, PyObject **value) const;
    int visit(visitproc visit, void *arg) const;
    void release();
};

struct Capture {
    Fetch from;
    LeafToken token;  // dtype, rank and ones, or number kind, that the program was built for
};

struct Guard {
    Fetch from;
    // The version of the dict when the guard last held: as long as it is the same, it still does.
    // Every change of a dict gives it a version that no dict has had before (CPython up to 3.12).
    mutable std::uint64_t version = 0;
    PyObject *expected = nullptr;
    Test test = Test::is;
};

// Parse (container, key, how); the value now there fixes dtype, rank and kind.
bool parse_capture(PyObject *item, const Signature &call, Capture *capture);
// Parse (container, key, how, expected, test).
bool parse_guard(PyObject *item, const Signature &call, Guard *guard);

Found check_capture(const Capture &capture, const Signature &call, PyObject **value);
Found check_guard(const Guard &guard, const Signature &call);

// Same type and same value, for immutable built-in values and NumPy numbers only: all NaNs are
// equal, 0.0 and -0.0 are not. Never runs Python code.
bool same_value(PyObject *left, PyObject *right);
bool is_comparable(PyObject *value);

}  // namespace jitwise::dispatch
