#include "program.h"

#include <cstring>

#include "error_state.h"
#include "float_flags.h"
#include "frame.h"
#include "kernel.h"
#include "machine_numpy.h"
#include "memory.h"
#include "small_buffer.h"

namespace jitwise {

PyObject *fault_exception = nullptr;

void Program::measure() {
    extent_count = 0;
    for (int rank : slot_ranks) extent_count += rank;
    // Constants first: 16-byte alignment of the inline elements.
    frame_bytes = slot_ranks.size() * (16 + sizeof(Slot)) +
                  (2 * extent_count + dims.count()) * sizeof(std::int64_t);
    first_output.resize(outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        std::size_t j = 0;
        while (outputs[j] != outputs[i]) ++j;
        first_output[i] = static_cast<int>(j);
    }
}

Frame::Frame(const Program &program, char *memory, const View *inputs) : program(program) {
    const std::size_t count = program.slot_ranks.size();
    char *inline_bytes = memory;
    slots = reinterpret_cast<Slot *>(memory + 16 * count);
    dims = reinterpret_cast<std::int64_t *>(slots + count);
    std::int64_t *extent = dims + program.dims.count();
    for (std::size_t i = 0; i < count; ++i) {
        Slot &slot = slots[i];
        const int rank = program.slot_ranks[i];
        slot.owner = Owner::none;
        slot.inline_bytes = inline_bytes + 16 * i;
        slot.shape = extent;
        slot.strides = extent + rank;
        slot.view.shape = slot.shape;
        slot.view.strides = slot.strides;
        slot.view.owner = nullptr;
        extent += 2 * rank;
    }
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
        Slot &slot = slots[i];
        slot.type = program.inputs[i].type;
        slot.view.data = inputs[i].data;
        slot.view.ndim = program.inputs[i].ndim;
        slot.view.owner = inputs[i].owner;
        for (int axis = 0; axis < slot.view.ndim; ++axis) {
            slot.shape[axis] = inputs[i].shape[axis];
            slot.strides[axis] = inputs[i].strides[axis];
        }
    }
}

Frame::~Frame() {
    need_gil();
    const std::size_t count = program.slot_ranks.size();
    for (std::size_t i = 0; i < count; ++i)
        if (slots[i].owner != Owner::none) free(slots[i]);
}

void Frame::free(Slot &slot) {
    if (slot.owner == Owner::temporary) {
        temporary_free(slot.block, slot.bytes);
    } else if (slot.owner == Owner::object) {
        need_gil();
        Py_DECREF(static_cast<PyObject *>(slot.block));
    }
    slot.owner = Owner::none;
}

void mark_as_numpys() {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (PyObject_SetAttrString(value, "raised_by_numpy", Py_True) < 0) PyErr_Clear();
    PyErr_Restore(type, value, traceback);
}

void Frame::before_write(bool computes) {
    if (wrote) return;
    const int raised = errors == nullptr ? 0 : float_flags::raised();
    if (errors != nullptr && computes) {
        need_gil();
        if (float_errors_are_strict()) {
            errors->flags = unknown_flags;
            throw Flagged();
        }
        float_flags::set(raised);
    }
    if (raised != 0) {
        need_gil();
        const int counted = raised & ~ignored_float_errors();
        if (counted != 0) {
            errors->flags = counted;
            throw Flagged();
        }
        float_flags::set(raised);  // Python code may have run
    }
    wrote = true;
}

Status status_of_exception() {
    try {
        throw;
    } catch (const Deoptimized &) {
        return Status::deoptimize;
    } catch (const GuardFailed &) {
        return Status::guard_failed;
    } catch (const PythonError &) {
        return Status::error;
    } catch (const OutOfBounds &error) {
        PyErr_Format(PyExc_IndexError, "index %lld is out of bounds for axis %d with size %lld",
                     static_cast<long long>(error.position), error.axis,
                     static_cast<long long>(error.size));
        mark_as_numpys();
    } catch (const Flagged &) {
        return Status::flagged;
    } catch (const OutOfMemory &error) {
        PyErr_Format(PyExc_MemoryError, "no memory for a temporary of %zu bytes", error.size);
    } catch (const std::bad_alloc &) {
        PyErr_NoMemory();
    } catch (const std::exception &error) {
        PyErr_SetString(fault_exception, error.what());
    }
    return Status::error;
}

namespace {

void execute_alloc(Frame &frame, const Instruction &now) {
    Slot &slot = frame.slots[now.slot];
    if (slot.owner != Owner::none) frame.free(slot);
    const int *words = frame.words(now);
    for (int axis = 0; axis < now.ndim; ++axis) slot.shape[axis] = frame.dims[words[axis]];
    frame.allocate(slot, now.type, now.ndim, now.is_output);
}

void set_scalar(Frame &frame, const Instruction &now, char *data) {
    Slot &slot = frame.slots[now.slot];
    if (slot.owner != Owner::none) frame.free(slot);
    slot.type = now.type;
    slot.view.ndim = 0;
    slot.view.owner = nullptr;
    slot.view.data = data;
}

void execute_dimension(Frame &frame, const Instruction &now) {
    Slot &slot = frame.slots[now.slot];
    std::memcpy(slot.inline_bytes, &frame.dims[now.source], sizeof(std::int64_t));
    set_scalar(frame, now, slot.inline_bytes);
}

// words: the dim, the axis or -1, the stage.
void execute_measure(Frame &frame, const Instruction &now) {
    const View &view = frame.slots[now.source].view;
    const int *words = frame.words(now);
    if (words[1] >= 0) frame.dims[words[0]] = view.shape[words[1]];
    else std::memcpy(&frame.dims[words[0]], view.data, sizeof(std::int64_t));
    const Dims &sizes = frame.program.dims;
    if (!sizes.evaluate_stage(words[2], frame.dims)) throw Deoptimized();
    if (!sizes.stage_holds(words[2], frame.dims)) throw GuardFailed();
}

// What was in the slot is freed; arrays change hands.
void execute_move(Frame &frame, const Instruction &now) {
    Slot &to = frame.slots[now.slot], &from = frame.slots[now.source];
    if (now.ndim == 0) {
        char bytes[16];
        std::memcpy(bytes, from.view.data, size_of(now.type));
        std::memcpy(to.inline_bytes, bytes, size_of(now.type));
        return set_scalar(frame, now, to.inline_bytes);
    }
    if (to.owner != Owner::none) frame.free(to);
    to.type = from.type;
    to.owner = from.owner;
    to.block = from.block;
    to.bytes = from.bytes;
    to.view.data = from.view.data;
    to.view.ndim = from.view.ndim;
    to.view.owner = from.view.owner;
    std::memcpy(to.shape, from.shape, sizeof(std::int64_t) * now.ndim);
    std::memcpy(to.strides, from.strides, sizeof(std::int64_t) * now.ndim);
    from.owner = Owner::none;
}

// True: go on at the target.
bool execute_jump(Frame &frame, const Instruction &now, std::size_t place) {
    if (now.op == Opcode::jump_unless) {
        const char *data = frame.slots[now.source].view.data;
        std::int64_t value;
        if (now.type == ElementType::i64) std::memcpy(&value, data, sizeof value);
        if (now.type == ElementType::i64 ? value == now.constant : *data != 0) return false;
    }
    if (static_cast<std::size_t>(now.at) <= place) frame.poll();
    return true;
}

void execute(Frame &frame, const Program &program) {
    const std::size_t count = program.instructions.size();
    for (std::size_t place = 0; place < count; ++place) {
        const Instruction &now = program.instructions[place];
        switch (now.op) {
        case Opcode::alloc: execute_alloc(frame, now); break;
        case Opcode::free: frame.free(frame.slots[now.slot]); break;
        case Opcode::kernel: execute_kernel(frame, now); break;
        case Opcode::scalar:
            set_scalar(frame, now, const_cast<char *>(program.constants[now.constant].bytes));
            break;
        case Opcode::dimension: execute_dimension(frame, now); break;
        case Opcode::transpose:
        case Opcode::slice:
        case Opcode::broadcast:
        case Opcode::reverse: execute_view(frame, now); break;
        case Opcode::reshape: execute_reshape(frame, now); break;
        case Opcode::copy: execute_copy(frame, now); break;
        case Opcode::library: now.library(frame, now); break;
        case Opcode::host: execute_host(frame, now); break;
        case Opcode::check:
            if (*frame.slots[now.source].view.data == 0) throw Deoptimized();
            break;
        case Opcode::measure: execute_measure(frame, now); break;
        case Opcode::jump:
        case Opcode::jump_unless:
            if (execute_jump(frame, now, place)) place = static_cast<std::size_t>(now.at) - 1;
            break;
        case Opcode::move: execute_move(frame, now); break;
        case Opcode::region: execute_region(frame, now); break;
        }
    }
}

void deliver(Frame &frame, const Program &program, Result *results) {
    const std::size_t count = program.outputs.size();
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t first = program.first_output[i];
        if (first == i) {
            frame.finish(frame.slots[program.outputs[i]], &results[i]);
        } else {
            results[i] = results[first];
            Py_XINCREF(results[i].array);
        }
    }
}

Status run_in_frame(const Program &program, char *memory, const View *inputs, Result *results,
                    FloatErrors *errors) {
    Frame frame(program, memory, inputs);
    frame.errors = errors;
    if (!program.dims.evaluate(inputs, frame.dims)) return Status::deoptimize;
    if (!program.dims.guards_hold(frame.dims)) return Status::guard_failed;
    const std::size_t count = program.outputs.size();
    for (std::size_t i = 0; i < count; ++i) results[i].array = nullptr;
    float_flags::Scope flags(errors != nullptr);
    try {
        execute(frame, program);
        if (errors != nullptr) *errors = {flags.finish(), frame.wrote};
        frame.need_gil();
        deliver(frame, program, results);
        return Status::ok;
    } catch (...) {
        frame.need_gil();
        Status status = status_of_exception();
        if (status == Status::error && frame.wrote) status = Status::broken;
        for (std::size_t i = 0; i < count; ++i) Py_CLEAR(results[i].array);
        return status;
    }
}

}  // namespace

Status Program::run(const View *inputs, Result *results, FloatErrors *errors) const {
    try {
        SmallBuffer<char, 3072> memory(frame_bytes);
        return run_in_frame(*this, memory.data(), inputs, results, errors);
    } catch (const std::bad_alloc &) {
        PyErr_NoMemory();
        return Status::error;
    }
}

}  // namespace jitwise
