// One way to serve the calls of one signature: a program with the places its inputs come from, the
// guards under which it is right, and the recipe of the result.
//
// An entry is a Python object, so that the garbage collector sees what it holds and a running call
// keeps it alive whatever happens to the function meanwhile. Objects that the signature mentions by
// identity are held weakly where they allow it: the entry does not keep a `self` alive, and when
// such an object has died the entry can never match again and is swept.
#pragma once

#include <Python.h>

#include <vector>

#include "captures.h"
#include "outputs.h"
#include "program.h"
#include "signature.h"

namespace jitwise::dispatch {

// An object the key mentions by address: a weak reference, or the object itself.
struct Anchor {
    PyObject *reference;
    bool weak;
};

struct Input {
    enum class Kind : std::uint8_t { array, swapped, boolean, integer, floating, complex, scalar };
    Kind kind;
    bool captured;  // `index` counts captures, not leaves
    bool written;   // the program writes to this array
    std::uint32_t index;
};

struct EntryParts {
    std::vector<std::uint64_t> words;
    std::vector<Anchor> anchors;
    std::vector<Fetch> places;
    std::vector<Capture> captures;
    std::vector<Guard> guards;
    std::vector<Input> inputs;
    Recipe recipe;
    Program *program = nullptr;
    bool writes = false;
};

struct Entry {
    PyObject_HEAD
    PyObject *program;  // None: the function itself is run
    PyObject *name;     // whatever the caller wants to remember; shown by entries()
    EntryParts *parts;
    unsigned long long hits;
    unsigned long long deoptimizations;
    unsigned long long replays;  // hits served from memory
    bool watched;                // runs begin without flags; see attempt.h
};

// What became of trying an entry.
// remembered: done, and its memo knows all. failed: the program raised, and wrote to no argument.
enum class Outcome { done, remembered, no_match, fallback, error, failed };

// What a call gives, when an entry has served it.
struct Answer {
    PyObject *result = nullptr;  // null with flags: the program stopped before it wrote
    FloatErrors errors;          // those that are not ignored
};

class Memo;

struct EntryArguments {
    PyObject *program, *leaves, *captures, *guards, *outputs, *written, *name, *places;
};

bool prepare_entry_type(PyObject *module);
Entry *make_entry(const Signature &call, const EntryArguments &arguments);
bool entry_is_alive(const Entry *entry);
// Are the objects the call mentions the very ones the entry was made for, and not younger ones at
// the addresses of the dead?
bool anchors_match(const std::vector<Anchor> &anchors, const Signature &call);
// Would the entry serve the call? Nothing is run but what guards and captures ask for.
Found entry_matches(Entry *entry, const Signature &call);
// Serve the call if captures, guards and the program allow it. `words` are known to be equal.
// `memo` of the arguments, unless null, learns how the call was served: then `remembered`.
Outcome try_entry(Entry *entry, const Signature &call, Answer *answer, Memo *memo);

}  // namespace jitwise::dispatch
