// A program for inputs of known shapes and strides: everything that follows from sizes is worked
// out once - dims, guards, shapes of temporaries, offsets of views, set-up of kernels - and a call
// only moves addresses.
//
//     alloc 2 f64 [d0]; kernel k [0, 1] -> [2] over [d0]         any size
//     array 0 f64 [8];  dense k [0, 1, 2] steps [64, 64, 64]     inputs f64[8], 8 bytes apart
//
// A replay does not change once it is made and keeps nothing of a call: any number of threads may
// run it. Its program must outlive it.
// Where sizes follow from the value of an integer, the replay is for that value.
// Left out, `make` gives null: programs that call Python or a library, that copy in a reshape, or
// that deliver something else than arrays of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "program.h"

namespace jitwise {

struct Frame;

class Replay {
public:
    static std::unique_ptr<const Replay> make(const Program &program, const View *inputs);

    // `inputs` are addresses. guard_failed: an integer has another value. The arrays of failed
    // results are null.
    Status run(char *const *inputs, Result *results, FloatErrors *errors) const;

private:
    enum class Kind : std::uint8_t {
        array, temporary, element, free, constant, offset, check, copy, move, dense, any,
    };

    struct Step {
        Kind kind;
        ElementType type = ElementType::none;
        bool releases = false;  // the GIL
        bool is_final = false;  // see Instruction
        int ndim = 0, outer = 0;
        int slot = -1;
        int source = -1;  // the slot a view is of; the step that took what is freed
        std::size_t operands = 0;  // where a kernel's operands begin
        std::size_t shape = 0;     // where its space, or the shape of an array, begins
        std::size_t strides = 0;   // of an array that does not lie in C order; else 0
        std::int64_t amount = 0;   // bytes, points, or the number of a result
        const Kernel *kernel = nullptr;
        const char *value = nullptr;
    };
    struct Operand {
        int slot, ndim;
        std::int64_t step;          // bytes to the next chunk, of a dense kernel
        std::size_t shape, strides; // where they begin
    };
    struct Integer {
        int input;
        std::int64_t value;
    };
    struct Delivered {
        int slot;
        bool is_array;
        int bytes, dtype_num;
    };
    struct State;
    class Recorder;

    explicit Replay(const Program &program) : program_(program) {}
    void take(State &state, const Step &step, Result *results) const;
    void run_dense_kernel(State &state, const Step &step) const;
    void run_kernel(State &state, const Step &step) const;
    View view_of(State &state, std::size_t operand) const;
    void deliver(State &state, Result *results) const;

    const Program &program_;
    std::vector<Step> steps_;
    std::vector<Operand> operands_;
    std::vector<std::int64_t> extents_;
    std::vector<Integer> integers_;
    std::vector<Delivered> results_;
};

}  // namespace jitwise
