// Threads that share the work of one call.
//
//     parallel_for(items, grain, [&](int64_t begin, int64_t end) { ... });
//
// Items are handed out in runs of `grain`, on demand. The caller works too. Helpers are started at
// the first need, spin for a moment after each job, then park. A caller that finds the pool at work
// for someone else, or that runs inside of it, does its items alone: nobody ever waits for the
// pool. After fork the child starts its own helpers. An exception in a body ends the job and is
// rethrown. Floating-point flags that helpers raise are raised in the caller.
#pragma once

#include <cstdint>
#include <type_traits>

namespace jitwise {

using Body = void (*)(void *context, std::int64_t begin, std::int64_t end);

// Work, in nanoseconds of one thread, from which sharing it pays.
constexpr double parallel_threshold = 12000;

void parallel_for(std::int64_t items, std::int64_t grain, Body body, void *context);

template <class Function>
void parallel_for(std::int64_t items, std::int64_t grain, Function &&function) {
    using Plain = std::remove_reference_t<Function>;
    parallel_for(
        items, grain,
        [](void *context, std::int64_t begin, std::int64_t end) {
            (*static_cast<Plain *>(context))(begin, end);
        },
        const_cast<void *>(static_cast<const void *>(&function)));
}

// Threads a job may use, the caller included; and the user's wish (0: as the machine allows).
int thread_count();
void set_threads(int count);
// Helpers alive now, for tests.
int helper_count();
// True where `parallel_for` would run alone: inside a body.
bool inside_parallel();

}  // namespace jitwise
