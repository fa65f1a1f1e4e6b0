// The callable that users hold: it looks a call up among the compiled entries and runs the one that
// fits, without a Python call and without allocating more than the result.
//
//     Function(miss, fallback, failed=None, flagged=None)
//     call -> signature -> entries of that signature, in order -> result
//                       -> none fits, or all give up: miss(args, kwargs)
//                       -> an entry without a program: fallback(*args, **kwargs)
//                       -> a program raises: failed(entry, exception, args, kwargs), if given
//                       -> a program raises floating-point flags that NumPy's error state does not
//                          ignore: flagged(entry, flags, written, results, args, kwargs), if given;
//                          no results: it stopped before it wrote to an argument
//
// It behaves like a Python function otherwise: binds as a method, has a __dict__, can be weakly
// referenced, takes part in garbage collection. The type is mutable, so that the Python layer can
// give it further methods. Thread-safe under the GIL; not made for free-threaded builds.
// Left out: tracing, compiling, deciding, pickling - all of it is in `miss` and in Python.
#pragma once

#include <nanobind/nanobind.h>

// Adds Function, Entry, set_disabled and call_leaves to the module.
void bind_function(nanobind::module_ &module);
