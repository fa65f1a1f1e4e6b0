// Random numbers that a program draws: which generators it draws from, and what is to be undone
// before a call that has drawn is run again, so that no number is drawn twice.
//
// A call that is run again - because a guard did not hold, a function of the host gave something
// else, floating-point flags were raised, an exception was - begins where the first run began:
//
//     run: draw, draw, give up    ->    the generators are set back    ->    run as Python
//
// What sets back is Python's (`set_rewind`); here is only kept what it needs, the journal of the
// innermost call of this thread.
#pragma once

#include <Python.h>

#include <cstddef>

namespace jitwise {

// The draws of one call of a compiled function.
class DrawScope {
public:
    DrawScope();
    ~DrawScope();
    DrawScope(const DrawScope &) = delete;
    DrawScope &operator=(const DrawScope &) = delete;

private:
    PyObject *outer_;
};

// Undo what this call has drawn so far. False: an exception is set. One that was set before stays.
bool undo_draws();

// While it lives, functions of the host can ask for the objects that the running entry looked up.
class RunningPlaces {
public:
    RunningPlaces(PyObject *const *places, std::size_t count);
    ~RunningPlaces();
    RunningPlaces(const RunningPlaces &) = delete;
    RunningPlaces &operator=(const RunningPlaces &) = delete;

private:
    PyObject *const *outer_;
    std::size_t outer_count_;
};

bool add_draw_functions(PyObject *module);

}  // namespace jitwise
