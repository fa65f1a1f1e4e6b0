// What serving a call the long way and serving it from memory have in common.
#pragma once

#include "entry.h"
#include "error_state.h"
#include "float_flags.h"

namespace jitwise::dispatch {

struct ScalarStorage {
    alignas(16) char bytes[16];
};

// A number as the program reads it. `no`: it does not fit.
Found store_number(Input::Kind kind, PyObject *value, char *bytes);
// Leaves the errors that matter.
inline void leave_out_ignored(FloatErrors &errors) {
    if (errors.flags != 0) errors.flags &= ~ignored_float_errors();
}
// To know a run's own flags, those from before it have to be read; which takes longer than small
// programs do much else. So the flags are read afterwards, and in general there are none. Else they
// are cleared, as NumPy does, and if they matter the program is run again, watched, and from then
// on always if they were its own. True: run again.
inline bool must_be_watched(Entry *entry) {
    if (entry->watched) return false;
    const int raised = float_flags::raised();
    if (raised == 0) return false;
    const int counted = raised & ~ignored_float_errors();
    float_flags::set(0);
    entry->watched = counted != 0;
    return entry->watched;
}
// The value of the call; an array may be taken out of `results`. `arguments` are needed by recipes
// that are of the call.
PyObject *take_output(const Recipe &recipe, Result *results, PyObject *const *leaves,
                      PyObject *const *captures, PyObject *const *arguments);

}  // namespace jitwise::dispatch
