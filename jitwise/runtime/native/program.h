// A compiled function: a flat list of instructions over slots, and the machine that runs it.
//
// A slot is an array: address, shape, strides, type, and what it owns. Slots 0.. are the inputs. A
// program does not change once it is made and keeps nothing of a call, so any number of threads may
// run it at once; the state of a call is its Frame, on the stack when it is small.
//
//     alloc 2 f64 [d0]; kernel k [0, 1] -> [2] over [d0]; outputs [2]
//
// The lock of the interpreter (GIL) is given up at the first instruction with microseconds of work,
// and taken back when an instruction needs Python: an output array, a call of the host. A slice,
// transposition or other view stays valid only while the slot it came from is not freed.
#pragma once

#include <Python.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "dims.h"
#include "element_type.h"
#include "view.h"

namespace jitwise {

struct Kernel;

struct Result {
    PyObject *array;  // a new reference; null for a result of rank 0
    alignas(16) char value[16];
    int dtype_num;
};

// error: a Python exception is set, and arguments are as they were. broken: one is set, and an
// argument may have been written to. flagged: stopped before the first write to an argument, for
// floating-point errors that are not ignored.
enum class Status { ok, guard_failed, deoptimize, error, broken, flagged };

// What is to be done about flags has to be known before they are raised.
constexpr int unknown_flags = 16;

// The floating-point errors of a run.
struct FloatErrors {
    int flags = 0;         // see float_flags.h; unknown_flags where they cannot be waited for
    bool written = false;  // arguments were written to
};

// The exception for a program that the machine cannot run: a fault of who built it.
extern PyObject *fault_exception;

enum class Opcode : std::uint8_t {
    alloc,
    free,
    kernel,
    scalar,
    dimension,
    transpose,
    slice,
    broadcast,
    reshape,
    reverse,
    copy,
    library,
    host,
    check,
    measure,
    jump,
    jump_unless,
    move,
    region,
};

struct Frame;
struct Instruction;

// A native loop: the first element of each operand and result, the strides of operands in bytes, one
// after another, sizes, and how to look for signals. 0: done, 1: run as Python, 2: an exception.
using Region = int (*)(char **data, const std::int64_t *strides, const std::int64_t *sizes,
                       Frame *frame, int (*poll)(Frame *));
using LibraryFunction = void (*)(Frame &, const Instruction &);

// What a host instruction calls: with the operands, then `more` (a tuple), of which the last have
// `names` (a tuple, or null). Borrowed: the program's references keep them.
struct HostCall {
    PyObject *callable, *more, *names;
};

// `at` indexes Program::words; what lies there depends on the opcode, see program_parse.cpp.
struct Instruction {
    Opcode op;
    ElementType type = ElementType::none;
    bool is_output = false;
    bool is_final = false;   // copy: to a whole result that nothing else touches later
    bool keeps_order = false;  // kernel, copy: what it makes lies in the order of the operands
    bool is_direct = false;  // host: of a library's own function
    bool is_quiet = false;   // host: which reports no floating-point errors
    int slot = -1;    // the slot defined, if one
    int source = -1;  // the slot read, if one
    int ndim = 0;
    int at = 0;  // jumps: the instruction that comes next
    int in_count = 0, out_count = 0, word_count = 0;
    union {
        const Kernel *kernel;
        const HostCall *host;
        LibraryFunction library;
        Region region;
        std::int64_t constant;  // index into Program::constants
    };
    Instruction() : op(Opcode::free), kernel(nullptr) {}
};

struct InputSpec {
    ElementType type;
    int ndim;
};

struct alignas(16) Constant {
    char bytes[16];
};

class Program {
public:
    // With `errors` the run begins without flags, looks at them before it writes to an argument,
    // and tells them; the flags of the thread are then what they were. Else they add up.
    Status run(const View *inputs, Result *results, FloatErrors *errors = nullptr) const;

    std::size_t input_count() const { return inputs.size(); }
    std::size_t output_count() const { return outputs.size(); }
    int input_dtype(std::size_t input) const { return numpy_type_of(inputs[input].type); }
    int input_rank(std::size_t input) const { return inputs[input].ndim; }
    const Dims &sizes() const { return dims; }

    std::string name;
    Dims dims;
    std::vector<InputSpec> inputs;
    std::vector<int> slot_ranks;  // the highest rank each slot has
    std::vector<Instruction> instructions;
    std::vector<int> words;
    std::vector<Constant> constants;
    std::deque<HostCall> host_calls;
    std::vector<int> outputs;
    std::vector<int> first_output;  // of those with the same slot

    std::size_t frame_bytes = 0;
    std::size_t extent_count = 0;  // sum of slot_ranks

    void measure();  // fills in the last two
};

PyTypeObject *program_type();
Program *program_of(PyObject *handle);

}  // namespace jitwise
