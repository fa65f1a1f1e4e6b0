// The signature of a call: a string of tokens that two calls share exactly when one compiled entry
// may serve both, and the leaves (arrays, numbers, static objects) in the order of their tokens.
//
//     f(np.ones((3, 1)), 2.0, mode="a")   ->   call/2/1  array/f64/2  float  text/1 "a"...
//
// Tokens are 64-bit words compared exactly, so equal hashes of unequal calls cannot be confused.
//   - exact ndarray: dtype, byte order, rank; never lengths or strides
//   - bool, int, float, complex (exact types) and numeric NumPy scalars: kind only; they are inputs
//   - str, bytes: content; None: itself
//   - exact tuple, list, dict, named tuples and plain dataclass instances: recursion; dict keys by
//     content, in order
//   - everything else, array subclasses included: type and identity
// What a word mentions by address is listed in `anchors`; whoever keeps the words must make sure
// that those objects have not died before believing that two addresses mean the same object.
// Nothing here runs Python code, so arguments cannot change while they are scanned.
// Left out: arguments nested deeper than `max_depth` (and cyclic ones): `scan` answers false.
#pragma once

#include <Python.h>

#include <cstdint>
#include <string>
#include <vector>

#include "inline_vector.h"

namespace jitwise::dispatch {

enum class Tag : std::uint8_t {
    call = 1, array, number, scalar, none, text, bytes, tuple, list, dict, named_tuple,
    dataclass, object, opaque, integer_key, float_key, tuple_key,
};

enum class NumberKind : std::uint8_t { boolean, integer, floating, complex };

// The token of one value that can be a program input. `word == 0`: it cannot be one.
struct LeafToken {
    std::uint64_t word;
    bool operator==(const LeafToken &other) const { return word == other.word; }
};

constexpr int max_depth = 32;

inline Tag tag_of(std::uint64_t word) { return static_cast<Tag>(word & 0xff); }
inline int dtype_of(std::uint64_t word) { return static_cast<std::int16_t>(word >> 8); }
inline bool swapped_of(std::uint64_t word) { return (word >> 24) & 1; }
inline int rank_of(std::uint64_t word) { return static_cast<int>((word >> 32) & 0xff); }
inline NumberKind kind_of(std::uint64_t word) { return static_cast<NumberKind>((word >> 8) & 3); }

class Signature {
public:
    Signature() = default;
    ~Signature();
    Signature(const Signature &) = delete;
    Signature &operator=(const Signature &) = delete;

    // Read a call in vectorcall form. False: too deep to describe. `opaque_types` is a tuple of
    // types whose instances are told apart by type alone, or null.
    bool scan(PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject *opaque_types);

    bool has_containers() const { return nested_; }

    // The call itself, borrowed.
    PyObject *const *args = nullptr;
    Py_ssize_t count = 0;  // of positional arguments
    PyObject *names = nullptr;
    InlineVector<std::uint64_t, 48> words;
    InlineVector<PyObject *, 16> leaves;
    InlineVector<PyObject *, 4> anchors;

private:
    bool scan_value(PyObject *value, int depth);
    bool scan_items(Tag tag, PyObject *const *items, Py_ssize_t count, int depth);
    bool scan_dict(PyObject *value, int depth);
    bool scan_dataclass(PyObject *type, PyObject *const *values, std::size_t count, int depth);
    bool scan_other(PyObject *value, int depth);
    bool scan_key(PyObject *key, int depth);
    void append_text(PyObject *text);
    void append_bytes(const void *data, std::size_t size);
    void append_identity(Tag tag, PyObject *value);

    PyObject *opaque_types_ = nullptr;
    bool nested_ = false;  // leaves sit in containers others may change: they are held
    bool holding_ = false;
};

std::uint64_t hash_words(const std::uint64_t *words, std::size_t count);

// The token of an exact ndarray or number; word 0 for anything else.
LeafToken leaf_token(PyObject *value);
// The dtype number the value has as a program input, or -1: int -> int64, float -> float64.
int input_dtype(const LeafToken &token);
int canonical_dtype(int type_num);
bool is_numeric_dtype(int type_num);

// One readable line per token, for records of misses.
std::vector<std::string> describe(const std::uint64_t *words, std::size_t count);

// Prepare type tables; NumPy must have been imported. False with an exception set.
bool prepare_signatures();

}  // namespace jitwise::dispatch
