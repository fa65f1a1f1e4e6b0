// The state of one call of a program, and what its instructions do with it.
#pragma once

#include <Python.h>

#include <cstdint>
#include <stdexcept>

#include "program.h"

namespace jitwise {

enum class Owner : std::uint8_t { none, temporary, object };

struct Slot {
    View view;  // shape and strides point into the frame; owner: who keeps memory that is not ours
    std::int64_t *shape;
    std::int64_t *strides;
    char *inline_bytes;  // room for one element
    void *block;         // temporary: the allocation; object: a PyObject
    std::size_t bytes;   // of a temporary
    ElementType type;
    Owner owner;
};

// A Python exception is set.
struct PythonError {};
// A check failed or a value did not fit: the call runs again as Python.
struct Deoptimized {};
// A position outside of an array.
struct OutOfBounds {
    std::int64_t position;
    int axis;
    std::int64_t size;
};
// What was assumed of a measured size does not hold: another program is for this call.
struct GuardFailed {};
// Floating-point errors that are not ignored, before anything was written to.
struct Flagged {};

// Work, in nanoseconds, for which the GIL is given up.
constexpr double release_threshold = 5000;
// Bytes, for a copy.
constexpr std::int64_t large_copy = 262144;
constexpr std::int64_t parallel_copy_bytes = std::int64_t(1) << 20;

struct Frame {
    const Program &program;
    std::int64_t *dims;
    Slot *slots;
    PyThreadState *released = nullptr;
    bool wrote = false;  // to memory that is not ours
    FloatErrors *errors = nullptr;
    int polls = 0;
    std::int64_t polled = 0;  // when a poll last did something, in nanoseconds

    Frame(const Program &program, char *memory, const View *inputs);
    ~Frame();
    Frame(const Frame &) = delete;
    Frame &operator=(const Frame &) = delete;

    const int *words(const Instruction &instruction) const {
        return program.words.data() + instruction.at;
    }
    void release_gil() {
        if (released == nullptr) released = PyEval_SaveThread();
    }
    // In a loop: lets other threads of Python run now and then, and raises what a signal asks for.
    void poll();
    void look();  // the same at once
    void need_gil() {
        if (released != nullptr) {
            PyEval_RestoreThread(released);
            released = nullptr;
        }
    }
    // An argument is written to next; with `computes` by arithmetic, which may raise more flags.
    // Throws Flagged.
    void before_write(bool computes);
    void free(Slot &slot);
    // Dense memory of the slot's own for the shape now in `slot.shape`; sets strides.
    void allocate(Slot &slot, ElementType type, int ndim, bool is_output);
    void allocate_temporary(Slot &slot);
    // The same memory with its axes in this order, outermost first: nothing is in it yet.
    void lay_along(Slot &slot, const int *order);
    // Dense strides for the slot's type and shape; its bytes. Throws Deoptimized: not a size.
    std::size_t lay_out(Slot &slot);
    // `slot` as a new ndarray that shares memory; a reference, never null.
    PyObject *array_of(Slot &slot);
    // The ndarray that `slot` is all of, itself, if it is one; else `array_of`. For functions that
    // do not write to it.
    PyObject *same_array(Slot &slot);
    void finish(Slot &slot, Result *result);
};

// Marks the Python exception that is set as NumPy's: no fault of ours. Where nothing was written the
// call runs again as Python, which raises it at the user's line.
void mark_as_numpys();
// Sets the Python exception for the C++ one now in flight.
Status status_of_exception();
// Throws PythonError with MemoryError set.
[[noreturn]] void raise_no_memory(std::size_t bytes);
// A new C-ordered array; large ones from recycled memory. Needs the GIL. Throws.
PyObject *new_array(ElementType type, int ndim, const std::int64_t *shape);
// Of an array that nobody knows yet, with the same elements in memory.
void set_strides(PyObject *array, const std::int64_t *strides);

void execute_kernel(Frame &frame, const Instruction &instruction);
void execute_region(Frame &frame, const Instruction &instruction);
void execute_view(Frame &frame, const Instruction &instruction);
void execute_reshape(Frame &frame, const Instruction &instruction);
// False: the elements must be copied, and only the shape of the slot is set.
bool reshape_in_place(Frame &frame, const Instruction &instruction);
void execute_copy(Frame &frame, const Instruction &instruction);
void execute_host(Frame &frame, const Instruction &instruction);
// Results of a map, and copies, lie as NumPy's would: in the order of the operands where these agree
// on another than C order. False: they lie in C order.
bool keep_order(Frame &frame, const Instruction &instruction);
// Same shape and type; any strides; buffered when they overlap.
void copy_view(const View &dst, const View &src, int itemsize);
// The same to a whole result that nothing else touches: large zeros are pages that were never
// written, as NumPy's are.
void copy_finally(const View &dst, const View &src, int itemsize);

// Library instructions: words are in slots, out slots, attrs, dims (counted in `word_count`).
LibraryFunction library_named(const char *name);

}  // namespace jitwise
