// What an entry depends on besides its arguments: captured arrays and numbers, which become program
// inputs at each call, and guards, which must still hold for the entry to be usable.
//
//     W = np.ones(3); scale = 2                capture (globals, "W", "dict")
//     def f(x): return W * x * scale           guard   (globals, "scale", "dict", 2, "equal")
//
// Both are fetched afresh at every call, so rebinding, in-place writes and deletion are all seen.
// Where to look ("how"):
//     dict    container[key] of a dict (globals)
//     own     the same in the dict of an instance, past its class
//     cell    the contents of a closure cell
//     attr    getattr(container, key); Python code runs only if the class defines such code
//             (`__code__` of a function, which every entry asks for, is read without getattr)
//     item    container[key] of an exact list or dict, or of a tuple
//     length  len(container) of an exact list or dict, or of a tuple
//     keys    the keys of a dict, in order, as a tuple: equal when each is the same object or value
//     object  the container itself
//     leaf    the call's own leaf number `key` (container None)
// The container is an object, which the entry keeps alive; or, with "leaf." or "place." before the
// word, the number of a leaf or place. Places are looked up once per call, in order, and may lie in
// each other, so that nothing that belongs to an argument is kept:
//     places  (0, "layer", "leaf.attr")        the first leaf's attribute `layer`
//     capture (0, "weights", "place.attr")     the attribute `weights` of that
// An object argument given as a container is taken from the call too.
#pragma once

#include <Python.h>

#include <vector>

#include "signature.h"

namespace jitwise::dispatch {

enum class How : std::uint8_t { dict, own, cell, attr, code, item, length, keys, object, leaf };
enum class Root : std::uint8_t { object, leaf, place };
// weak: identity with an object that is not kept alive, if it allows that.
// `apart`: it is not the leaf whose number is expected.
enum class Test : std::uint8_t { is, equal, absent, type, weak, apart };
enum class Found : std::uint8_t { yes, no, error };

// What a call has to look in; borrowed.
struct Sources {
    PyObject *const *leaves;
    PyObject *const *places;
};

// One place to look. Owns its references; `visit` and `release` serve the entry's GC slots.
struct Fetch {
    How how = How::object;
    Root root = Root::object;
    Py_ssize_t index = -1;   // leaf number, or item index
    Py_ssize_t number = -1;  // of the leaf or place that is the container
    PyObject *container = nullptr;
    PyObject *key = nullptr;

    bool parse(PyObject *container, PyObject *key, PyObject *how, const Signature &call,
               std::size_t places);
    // A new reference in *value when found. Errors: only what is not an Exception passes through.
    Found fetch(const Sources &sources, PyObject **value) const;
    int visit(visitproc visit, void *arg) const;
    void release();
};

struct Capture {
    Fetch from;
    LeafToken token;  // dtype and rank, or number kind, that the program was built for
};

struct Guard {
    Fetch from;
    // The version of the dict, or of the class whose attribute it is, when the guard last held: as
    // long as it is the same, it still does. Every change of a dict gives it a version that no dict
    // has had before (CPython up to 3.12); so with classes, their bases included.
    mutable std::uint64_t version = 0;
    PyObject *expected = nullptr;
    Test test = Test::is;
};

// The places of one call, referenced.
class Places {
public:
    Places() = default;
    ~Places() {
        for (PyObject *value : values_) Py_DECREF(value);
    }
    Found look_up(const std::vector<Fetch> &places, PyObject *const *leaves);
    Found add(const Fetch &place, PyObject *const *leaves);
    PyObject *const *data() const { return values_.data(); }
    std::size_t size() const { return values_.size(); }

private:
    InlineVector<PyObject *, 8> values_;
};

// Parse (container, key, how), and look it up: it must be there. `places` are those of the call.
bool parse_place(PyObject *item, const Signature &call, Places *places, Fetch *place);
// The value now there fixes dtype, rank and kind.
bool parse_capture(PyObject *item, const Signature &call, const Places &places, Capture *capture);
// Parse (container, key, how, expected, test). `expected` of a weak test may be a weak reference.
bool parse_guard(PyObject *item, const Signature &call, const Places &places, Guard *guard);

Found check_capture(const Capture &capture, const Sources &sources, PyObject **value);
Found check_guard(const Guard &guard, const Sources &sources);
// Can it still hold? Not when the object it asks for has died.
bool guard_is_alive(const Guard &guard);

// Same type and same value, for immutable built-in values and NumPy numbers only: all NaNs are
// equal, 0.0 and -0.0 are not. Never runs Python code.
bool same_value(PyObject *left, PyObject *right);
bool is_comparable(PyObject *value);

}  // namespace jitwise::dispatch
