// What a function remembers of a call it served: which entry it was, and all that followed from the
// layout of the arguments, so that the next call like it is one comparison and a replay.
//
//     f(x, 2.0)   ->   array descr f8, (8,), (8,)   float      entry, replay
//
// A memo serves a call whose arrays have the very descr, rank, shape and strides of the first one,
// whose numbers have the same types, whose dicts have the same key objects in the same order and
// whose other arguments are the same objects. What can change behind an equal call - captures,
// guards - is looked up again each time; if it does not hold, the call takes the long way.
// Left out: named tuples, dataclasses, keys that are no strings, byte swapped arrays, arrays
// written in place, and programs that cannot be replayed.
#pragma once

#include <Python.h>

#include <memory>
#include <vector>

#include "dispatch_numpy.h"
#include "entry.h"
#include "inline_vector.h"
#include "replay.h"

namespace jitwise::dispatch {

// The leaves found in containers, referenced as long as they are looked at.
class FoundLeaves {
public:
    FoundLeaves() = default;
    ~FoundLeaves() { clear(); }
    void add(PyObject *leaf) {
        Py_INCREF(leaf);
        leaves_.push_back(leaf);
    }
    void clear() {
        for (PyObject *leaf : leaves_) Py_DECREF(leaf);
        leaves_.clear();
    }
    PyObject *const *data() const { return leaves_.data(); }

private:
    InlineVector<PyObject *, 64> leaves_;
};

class Memo {
public:
    // The arguments of a call. Null: they are not of a kind that is remembered.
    static Memo *of_arguments(const Signature &call);
    Memo(const Memo &) = delete;
    Memo &operator=(const Memo &) = delete;

    // What the entry does with this call, before it is known to succeed. `views` are the inputs,
    // `captured` the captures. False: it is not remembered.
    bool learn(Entry *entry, const Signature &call, const View *views, PyObject *const *captured);

    // The leaves of a call like this one, or null; kept by the call or by `found`.
    PyObject *const *serves(PyObject *const *args, Py_ssize_t count, PyObject *names,
                            FoundLeaves &found) const {
        if (count != count_ || names != names_) return nullptr;
        if (nested_) return serves_nested(args, found) ? found.data() : nullptr;
        for (std::size_t i = 0; i < total_; ++i)
            if (!fits(records_[i], args[i])) return nullptr;
        return args;
    }
    // Serve the call if captures and guards allow it; the caller keeps the memo.
    Outcome run(PyObject *const *leaves, Answer *answer) const;

    void release() {
        if (--users == 0) delete this;
    }
    int visit(visitproc visit, void *arg) const;
    Entry *entry() const { return entry_; }  // borrowed

    int users = 1;  // under the GIL

private:
    enum class Kind : std::uint8_t {
        array,   // `object` is the descr, owned; extents at `at`
        number,  // `object` is the type, which lives for ever
        same,    // `object` itself, owned
        weak,    // `object` itself, alive while the entry's anchor `at` is
        type,    // `object` is the type, alive while the entry's anchor `at` is
        items,   // a tuple or list of `at` items, which follow
        dict,    // a dict of `at` items; keys (`same`) and values follow in turn
    };
    struct Record {
        Kind kind;
        int ndim;
        std::size_t at;
        PyObject *object;
        PyTypeObject *type;
    };
    class Run;

    struct Cursor {
        const Signature &call;
        std::size_t leaf = 0, anchor = 0;
    };

    Memo() = default;
    ~Memo();
    void add_leaf(PyObject *value);
    void add_object(PyObject *value, Cursor &cursor);
    bool add(PyObject *value, Cursor &cursor);
    bool add_container(PyObject *value, Cursor &cursor);
    void forget_captures();
    bool fits(const Record &record, PyObject *value) const;
    bool fits_otherwise(const Record &record, PyObject *value) const;
    bool serves_nested(PyObject *const *args, FoundLeaves &found) const;
    bool match(const Record *&record, PyObject *value, FoundLeaves &found) const;

    Entry *entry_ = nullptr;  // owned, as are the names
    PyObject *names_ = nullptr;
    Py_ssize_t count_ = 0;           // of positional arguments
    std::size_t total_ = 0;          // of arguments
    std::size_t captures_ = 0;       // where their records begin
    bool nested_ = false;            // some arguments are containers
    std::vector<Record> records_;    // of arguments, then of captures
    std::vector<npy_intp> extents_;  // shapes and strides
    std::unique_ptr<const Replay> replay_;
};

inline bool Memo::fits(const Record &record, PyObject *value) const {
    if (record.kind != Kind::array) return fits_otherwise(record, value);
    if (Py_TYPE(value) != &PyArray_Type) return false;
    auto *array = reinterpret_cast<PyArrayObject *>(value);
    const int ndim = record.ndim;
    if (reinterpret_cast<PyObject *>(PyArray_DESCR(array)) != record.object ||
        PyArray_NDIM(array) != ndim)
        return false;
    const npy_intp *shape = PyArray_DIMS(array);
    const npy_intp *strides = PyArray_STRIDES(array);
    const npy_intp *known = extents_.data() + record.at;
    npy_intp difference = 0;
    for (int axis = 0; axis < ndim; ++axis)
        difference |= (shape[axis] ^ known[axis]) | (strides[axis] ^ known[ndim + axis]);
    return difference == 0;
}

// The few memos of a function.
class Memory {
public:
    Memory() = default;
    ~Memory() { clear(); }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;

    // The next memo from `place` on that is of calls like this one: borrowed, or null; with the
    // leaves of the call.
    Memo *recall(PyObject *const *args, Py_ssize_t count, PyObject *names, FoundLeaves &found,
                 PyObject *const **leaves, std::size_t &place) const {
        while (place < capacity && memos_[place] != nullptr) {
            Memo *memo = memos_[place++];
            *leaves = memo->serves(args, count, names, found);
            if (*leaves != nullptr) return memo;
        }
        return nullptr;
    }
    // Should the call now served the long way be remembered? Beyond the first few, each attempt
    // makes the next one wait longer: a function that is never called alike twice hardly pays.
    bool wants();
    // Takes over the reference; drops the oldest.
    void add(Memo *memo);
    void clear();
    int visit(visitproc visit, void *arg) const;

private:
    static constexpr std::size_t capacity = 4;
    static constexpr unsigned longest_pause = 1023;
    Memo *memos_[capacity] = {};
    std::size_t next_ = 0;
    std::size_t attempts_ = 0;
    unsigned pause_ = 0;
    unsigned wait_ = 0;
};

}  // namespace jitwise::dispatch
