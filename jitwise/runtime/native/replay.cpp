#include "replay.h"

#include <cstring>

#include "float_flags.h"
#include "frame.h"
#include "kernel.h"
#include "machine_numpy.h"
#include "memory.h"
#include "small_buffer.h"

namespace jitwise {

// Follows a program through a frame whose memory is imagined, and writes the steps down.
class Replay::Recorder {
public:
    Recorder(Replay &replay, Frame &frame)
        : replay_(replay),
          frame_(frame),
          array_step_(frame.program.slot_ranks.size(), 0),
          array_number_(frame.program.slot_ranks.size(), -1),
          taken_(frame.program.slot_ranks.size(), -1) {}

    // False: not a program to replay. Throws what the program would.
    bool record() {
        for (const Instruction &now : frame_.program.instructions)
            if (!record(now)) return false;
        for (std::size_t slot = 0; slot < taken_.size(); ++slot)
            if (taken_[slot] >= 0) free(static_cast<int>(slot));
        return record_results();
    }

private:
    bool record(const Instruction &now) {
        switch (now.op) {
        case Opcode::alloc: return allocate(now);
        case Opcode::free: return free(now.slot);
        case Opcode::kernel: return kernel(now);
        case Opcode::scalar:
            if (owns(now.slot)) return false;
            define(Kind::constant, now).value = frame_.program.constants[now.constant].bytes;
            return true;
        case Opcode::dimension:
            if (owns(now.slot)) return false;
            define(Kind::constant, now).shape = remember(&frame_.dims[now.source], 1);
            return true;
        case Opcode::transpose:
        case Opcode::slice:
        case Opcode::broadcast:
        case Opcode::reverse:
        case Opcode::reshape: return view(now);
        case Opcode::check: {
            Step step;
            step.kind = Kind::check;
            step.source = now.source;
            replay_.steps_.push_back(step);
            return true;
        }
        case Opcode::copy: return copy(now);
        default: return false;
        }
    }

    bool owns(int slot) const { return taken_[slot] >= 0 || array_number_[slot] >= 0; }

    Step &define(Kind kind, const Instruction &now) {
        Slot &slot = frame_.slots[now.slot];
        slot.type = now.type;
        slot.view.ndim = now.ndim;
        slot.view.data = slot.inline_bytes;  // never read: only distances between views count
        replay_.steps_.emplace_back();
        replay_.steps_.back().kind = kind;
        replay_.steps_.back().slot = now.slot;
        replay_.steps_.back().type = now.type;
        replay_.steps_.back().ndim = now.ndim;
        return replay_.steps_.back();
    }

    bool allocate(const Instruction &now) {
        if (owns(now.slot)) return false;
        Slot &slot = frame_.slots[now.slot];
        const int *words = frame_.words(now);
        for (int axis = 0; axis < now.ndim; ++axis) slot.shape[axis] = frame_.dims[words[axis]];
        Step &step = define(Kind::element, now);
        if (now.ndim == 0) return true;
        const std::size_t bytes = frame_.lay_out(slot);
        step.shape = remember(slot.shape, now.ndim);
        step.kind = now.is_output ? Kind::array : Kind::temporary;
        if (now.is_output) return name_result(now.slot, step);
        step.amount = static_cast<std::int64_t>(bytes);
        taken_[now.slot] = static_cast<int>(replay_.steps_.size()) - 1;
        return true;
    }

    bool name_result(int slot, Step &step) {
        const std::vector<int> &outputs = frame_.program.outputs;
        for (std::size_t i = 0; i < outputs.size(); ++i)
            if (outputs[i] == slot) {
                step.amount = array_number_[slot] = static_cast<int>(i);
                array_step_[slot] = replay_.steps_.size() - 1;
                return true;
            }
        return false;
    }

    bool free(int slot) {
        if (array_number_[slot] >= 0) return false;
        if (taken_[slot] < 0) return true;
        Step step;
        step.kind = Kind::free;
        step.slot = slot;
        step.source = taken_[slot];
        step.amount = replay_.steps_[static_cast<std::size_t>(taken_[slot])].amount;
        replay_.steps_.push_back(step);
        taken_[slot] = -1;
        return true;
    }

    bool view(const Instruction &now) {
        if (owns(now.slot)) return false;
        if (now.op != Opcode::reshape) execute_view(frame_, now);
        else if (!reshape_in_place(frame_, now)) return false;
        Step step;
        step.kind = Kind::offset;
        step.slot = now.slot;
        step.source = now.source;
        step.amount = frame_.slots[now.slot].view.data - frame_.slots[now.source].view.data;
        replay_.steps_.push_back(step);
        return true;
    }

    bool copy(const Instruction &now) {
        const Slot &dst = frame_.slots[now.slot], &src = frame_.slots[now.source];
        if (dst.view.owner != nullptr) return false;  // an argument is written to
        for (int axis = 0; axis < dst.view.ndim; ++axis)
            if (dst.shape[axis] != src.shape[axis]) return false;
        if (now.keeps_order && keep_order(frame_, now)) arrange(&now.slot, 1);
        Step step;
        step.kind = Kind::copy;
        step.operands = replay_.operands_.size();
        step.amount = size_of(dst.type);
        const std::int64_t bytes = product(dst.shape, dst.view.ndim) * step.amount;
        step.releases = bytes > large_copy;
        step.is_final = now.is_final;
        if (bytes < parallel_copy_bytes && is_dense(dst) && is_dense(src)) {
            step.kind = Kind::move;
            step.slot = now.slot;
            step.source = now.source;
            step.amount = bytes;
        } else {
            add_operand(now.slot);
            add_operand(now.source);
        }
        replay_.steps_.push_back(step);
        return true;
    }

    static bool is_dense(const Slot &slot) {
        return is_contiguous(slot.shape, slot.strides, slot.view.ndim, size_of(slot.type));
    }

    void add_operand(int slot) {
        const View &view = frame_.slots[slot].view;
        const std::size_t shape = remember(view.shape, view.ndim);
        const std::size_t strides = remember(view.strides, view.ndim);
        replay_.operands_.push_back({slot, view.ndim, 0, shape, strides});
    }

    bool kernel(const Instruction &now) {
        const int *words = frame_.words(now);
        const int count = now.in_count + now.out_count;
        if (now.keeps_order && keep_order(frame_, now)) arrange(words + now.in_count, now.out_count);
        std::vector<View> views;
        Step step;
        step.kernel = now.kernel;
        step.operands = replay_.operands_.size();
        for (int k = 0; k < count; ++k) {
            views.push_back(frame_.slots[words[k]].view);
            add_operand(words[k]);
        }
        step.ndim = now.ndim;
        step.shape = replay_.extents_.size();
        for (int axis = 0; axis < now.ndim; ++axis)
            replay_.extents_.push_back(frame_.dims[words[count + axis]]);
        step.outer = words[count + now.ndim];
        const std::int64_t *shape = replay_.extents_.data() + step.shape;
        step.amount = product(shape, now.ndim);
        step.releases = now.kernel->work(step.amount) > release_threshold;
        step.kind = Kind::any;
        if (now.kernel->mode == Mode::map) {
            SmallBuffer<char *, 16> pointers(count);
            SmallBuffer<std::int64_t, 16> steps(count);
            if (gather_dense(*now.kernel, views.data(), now.ndim, shape, pointers.data(),
                             steps.data())) {
                step.kind = Kind::dense;
                for (int k = 0; k < count; ++k)
                    replay_.operands_[step.operands + k].step = steps[k];
            }
        }
        replay_.steps_.push_back(step);
        return true;
    }

    // Results whose strides are not those of C order any more.
    void arrange(const int *slots, int count) {
        for (int k = 0; k < count; ++k) {
            if (array_number_[slots[k]] < 0) continue;
            const Slot &slot = frame_.slots[slots[k]];
            replay_.steps_[array_step_[slots[k]]].strides =
                remember(slot.strides, slot.view.ndim);
        }
    }

    bool record_results() {
        for (std::size_t i = 0; i < frame_.program.outputs.size(); ++i) {
            const Slot &slot = frame_.slots[frame_.program.outputs[i]];
            const bool is_array = slot.view.ndim != 0;
            if (is_array && array_number_[frame_.program.outputs[i]] < 0) return false;
            replay_.results_.push_back({frame_.program.outputs[i], is_array, size_of(slot.type),
                                        numpy_type_of(slot.type)});
        }
        return true;
    }

    std::size_t remember(const std::int64_t *values, int count) {
        const std::size_t at = replay_.extents_.size();
        replay_.extents_.insert(replay_.extents_.end(), values, values + count);
        return at;
    }

    Replay &replay_;
    Frame &frame_;
    std::vector<std::size_t> array_step_;  // that makes the result a slot is
    std::vector<int> array_number_;  // the result a slot is, or -1
    std::vector<int> taken_;         // the step that took the slot's block, or -1
};

std::unique_ptr<const Replay> Replay::make(const Program &program, const View *inputs) {
    if (!program.dims.stages.empty()) return nullptr;  // shapes differ from call to call
    std::unique_ptr<Replay> replay(new Replay(program));
    for (const Symbol &symbol : program.dims.symbols) {
        if (symbol.axis >= 0) continue;
        replay->integers_.push_back({symbol.input, 0});
        std::memcpy(&replay->integers_.back().value, inputs[symbol.input].data, 8);
    }
    SmallBuffer<char, 3072> memory(program.frame_bytes);
    Frame frame(program, memory.data(), inputs);
    if (!program.dims.evaluate(inputs, frame.dims) || !program.dims.guards_hold(frame.dims))
        return nullptr;
    try {
        if (!Recorder(*replay, frame).record()) return nullptr;
    } catch (const Deoptimized &) {
        return nullptr;
    } catch (const ShapeMismatch &) {
        return nullptr;
    }
    return replay;
}

// The addresses of one run, and what it must give back when a step throws.
struct Replay::State {
    State(const Replay &replay, std::size_t slots)
        : replay(replay), data(slots), elements(slots) {}
    ~State() {
        if (released != nullptr) PyEval_RestoreThread(released);
        // After an exception: the temporaries taken and not yet given back.
        for (std::size_t i = done; i < replay.steps_.size(); ++i) {
            const Step &step = replay.steps_[i];
            if (step.kind == Kind::free && static_cast<std::size_t>(step.source) < done)
                temporary_free(data[step.slot], static_cast<std::size_t>(step.amount));
        }
    }
    void release_gil() {
        if (released == nullptr) released = PyEval_SaveThread();
    }
    void need_gil() {
        if (released == nullptr) return;
        PyEval_RestoreThread(released);
        released = nullptr;
    }

    const Replay &replay;
    PyThreadState *released = nullptr;
    std::size_t done = 0;
    SmallBuffer<char *, 32> data;
    SmallBuffer<Constant, 16> elements;
};

View Replay::view_of(State &state, std::size_t number) const {
    const Operand &operand = operands_[number];
    return {state.data[operand.slot], operand.ndim, extents_.data() + operand.shape,
            extents_.data() + operand.strides};
}

void Replay::run_dense_kernel(State &state, const Step &step) const {
    const int count = step.kernel->operand_count();
    SmallBuffer<char *, 16> pointers(count);
    SmallBuffer<std::int64_t, 16> steps(count);
    for (int k = 0; k < count; ++k) {
        pointers[k] = state.data[operands_[step.operands + k].slot];
        steps[k] = operands_[step.operands + k].step;
    }
    if (step.amount != 0) run_dense(*step.kernel, pointers.data(), steps.data(), step.amount);
}

void Replay::run_kernel(State &state, const Step &step) const {
    const int count = step.kernel->operand_count();
    SmallBuffer<View, 12> views(count);
    for (int k = 0; k < count; ++k) views[k] = view_of(state, step.operands + k);
    step.kernel->run(views.data(), step.ndim, extents_.data() + step.shape, step.outer);
}

void Replay::take(State &state, const Step &step, Result *results) const {
    switch (step.kind) {
    case Kind::array: {
        state.need_gil();
        PyObject *array = new_array(step.type, step.ndim, extents_.data() + step.shape);
        if (step.strides != 0) set_strides(array, extents_.data() + step.strides);
        results[step.amount].array = array;
        state.data[step.slot] = PyArray_BYTES(reinterpret_cast<PyArrayObject *>(array));
        return;
    }
    case Kind::temporary:
        state.data[step.slot] =
            static_cast<char *>(temporary_allocate(static_cast<std::size_t>(step.amount)));
        return;
    case Kind::element: state.data[step.slot] = state.elements[step.slot].bytes; return;
    case Kind::free:
        temporary_free(state.data[step.slot], static_cast<std::size_t>(step.amount));
        return;
    case Kind::constant:
        state.data[step.slot] = const_cast<char *>(
            step.value != nullptr ? step.value
                                  : reinterpret_cast<const char *>(&extents_[step.shape]));
        return;
    case Kind::offset: state.data[step.slot] = state.data[step.source] + step.amount; return;
    case Kind::check:
        if (*state.data[step.source] == 0) throw Deoptimized();
        return;
    case Kind::copy:
        if (step.releases) state.release_gil();
        return (step.is_final ? copy_finally : copy_view)(
            view_of(state, step.operands), view_of(state, step.operands + 1),
            static_cast<int>(step.amount));
    case Kind::move:
        if (step.releases) state.release_gil();
        std::memmove(state.data[step.slot], state.data[step.source],
                     static_cast<std::size_t>(step.amount));
        return;
    case Kind::dense:
        if (step.releases) state.release_gil();
        return run_dense_kernel(state, step);
    case Kind::any:
        if (step.releases) state.release_gil();
        return run_kernel(state, step);
    }
}

void Replay::deliver(State &state, Result *results) const {
    for (std::size_t i = 0; i < results_.size(); ++i) {
        const Delivered &delivered = results_[i];
        results[i].dtype_num = delivered.dtype_num;
        if (!delivered.is_array) {
            std::memcpy(results[i].value, state.data[delivered.slot],
                        static_cast<std::size_t>(delivered.bytes));
        } else if (results[i].array == nullptr) {
            results[i].array = results[program_.first_output[i]].array;
            Py_INCREF(results[i].array);
        }
    }
}

Status Replay::run(char *const *inputs, Result *results, FloatErrors *errors) const {
    // A program that the garbage collector has emptied has lost its kernels.
    if (program_.instructions.empty()) return Status::deoptimize;
    const std::size_t count = results_.size();
    for (std::size_t i = 0; i < count; ++i) results[i].array = nullptr;
    for (const Integer &integer : integers_)
        if (std::memcmp(inputs[integer.input], &integer.value, 8) != 0) return Status::guard_failed;
    float_flags::Scope flags(errors != nullptr);
    try {
        State state(*this, program_.slot_ranks.size());
        std::memcpy(state.data.data(), inputs, program_.inputs.size() * sizeof(char *));
        for (const Step &step : steps_) {
            take(state, step, results);
            ++state.done;
        }
        if (errors != nullptr) errors->flags = flags.finish();
        state.need_gil();
        deliver(state, results);
        return Status::ok;
    } catch (...) {
        const Status status = status_of_exception();
        for (std::size_t i = 0; i < count; ++i) Py_CLEAR(results[i].array);
        return status;
    }
}

}  // namespace jitwise
