// How the results of a program become the value of the call: a tree of recipes.
//
//     return {"loss": loss, "out": (y, n)}
//     ("dict", [("loss", ("scalar", 0)), ("out", ("tuple", [("array", 1), ("int", 2)]))])
//
// A number that is an int, a float or a NumPy scalar in turn is ("either", number, which).
//
// A container of the call that is returned is ("argument", place, keys): what the keys lead to from
// the argument at that place, keywords counted after the others.
//
// Recipes are checked once, when the entry is added, so building has no cases to reject. Building
// runs Python code only for ("call", callable, parts) and for exotic dict keys.
#pragma once

#include <Python.h>

#include <vector>

#include "program.h"

namespace jitwise::dispatch {

struct Recipe {
    enum class Kind : std::uint8_t {
        array, scalar, floating, integer, boolean, complex, either,
        constant, leaf, capture, argument, tuple, list, dict, call,
    };
    Kind kind = Kind::constant;
    bool is_of_call = false;       // names an argument, or has a part that does
    std::size_t index = 0;         // of a result, leaf, capture or argument
    std::size_t which = 0;         // of the result that says of what kind a number is
    PyObject *object = nullptr;    // the constant, or the callable
    std::vector<PyObject *> keys;  // of a dict; from an argument
    std::vector<Recipe> parts;

    int visit(visitproc visit, void *arg) const;
    void release();
};

// How many there are of what a recipe may name.
struct Counts {
    std::size_t results, leaves, captures, arguments;
};

bool parse_recipe(PyObject *item, const Counts &counts, Recipe *recipe);

// What a recipe may name, borrowed: results, leaves of the call, captured arrays, arguments.
struct Named {
    const Result *results;
    PyObject *const *leaves;
    PyObject *const *captures;
    PyObject *const *arguments;
};

// A new reference, or null with an exception set.
PyObject *build_output(const Recipe &recipe, const Named &named);

}  // namespace jitwise::dispatch
