// Serving a call with an entry: fetch captures, check guards, lay out views, run, build the result.
//
// Nothing is allocated for the common sizes and no Python code runs unless a guard or recipe asks
// for it. Everything the program reads is referenced for the length of the run: leaves by the
// signature or its caller, captures and copies here.
#include <cstring>

#include "attempt.h"
#include "dispatch_numpy.h"
#include "draws.h"
#include "memo.h"

namespace jitwise::dispatch {

Found store_number(Input::Kind kind, PyObject *value, char *bytes) {
    switch (kind) {
        case Input::Kind::floating: {
            const double number = PyFloat_AS_DOUBLE(value);
            std::memcpy(bytes, &number, sizeof number);
            return Found::yes;
        }
        case Input::Kind::integer: {
            int overflow = 0;
            const npy_int64 number = PyLong_AsLongLongAndOverflow(value, &overflow);
            std::memcpy(bytes, &number, sizeof number);
            return overflow == 0 ? Found::yes : Found::no;
        }
        case Input::Kind::boolean: *bytes = value == Py_True; return Found::yes;
        case Input::Kind::complex: {
            const Py_complex number = PyComplex_AsCComplex(value);
            std::memcpy(bytes, &number, sizeof number);
            return Found::yes;
        }
        default: PyArray_ScalarAsCtype(value, bytes); return Found::yes;
    }
}

PyObject *take_output(const Recipe &recipe, Result *results, PyObject *const *leaves,
                      PyObject *const *captures, PyObject *const *arguments) {
    if (recipe.kind == Recipe::Kind::array && results[recipe.index].array != nullptr) {
        PyObject *array = results[recipe.index].array;
        results[recipe.index].array = nullptr;
        return array;
    }
    return build_output(recipe, {results, leaves, captures, arguments});
}

namespace {

struct Range {
    std::uintptr_t low, high;
};

// The bytes an array spans; low == high for an empty one.
Range range_of(PyArrayObject *array) {
    auto low = reinterpret_cast<std::uintptr_t>(PyArray_DATA(array));
    std::uintptr_t high = low + static_cast<std::uintptr_t>(PyArray_ITEMSIZE(array));
    for (int axis = 0; axis < PyArray_NDIM(array); ++axis) {
        const npy_intp length = PyArray_DIM(array, axis);
        if (length == 0) return {low, low};
        const npy_intp span = PyArray_STRIDE(array, axis) * (length - 1);
        (span < 0 ? low : high) += static_cast<std::uintptr_t>(span);
    }
    return {low, high};
}

// The state of one attempt; its destructor gives back all references taken.
class Attempt {
public:
    Attempt(EntryParts *parts, const Signature &call) : parts_(parts), call_(call) {}
    ~Attempt() {
        for (PyObject *object : held_) Py_DECREF(object);
        for (Result &result : results_) Py_XDECREF(result.array);
    }

    Found find_places() { return places_.look_up(parts_->places, call_.leaves.data()); }

    Found fetch_captures() {
        for (const Capture &capture : parts_->captures) {
            PyObject *value = nullptr;
            const Found found = check_capture(capture, sources(), &value);
            if (found != Found::yes) return found;
            held_.push_back(value);  // the first held objects are the captures, in order
        }
        return Found::yes;
    }

    Found check_guards() const {
        for (const Guard &guard : parts_->guards) {
            const Found found = check_guard(guard, sources());
            if (found != Found::yes) return found;
        }
        return Found::yes;
    }

    Sources sources() const { return {call_.leaves.data(), places_.data()}; }

    PyObject *source(const Input &input) const {
        return input.captured ? held_[input.index] : call_.leaves[input.index];
    }

    Found make_views() {
        const std::size_t count = parts_->inputs.size();
        views_.reserve(count);
        storage_.reserve(count);  // views point into it
        for (const Input &input : parts_->inputs) {
            PyObject *value = source(input);
            if (input.kind == Input::Kind::array) {
                views_.push_back(view_of(reinterpret_cast<PyArrayObject *>(value)));
                continue;
            }
            const Found found = make_other_view(input, value);
            if (found != Found::yes) return found;
        }
        return Found::yes;
    }

    // An array the program writes to must be writable in place and share no memory with the other
    // inputs, whose values the program has already read when NumPy would see the change.
    bool writes_are_safe() const {
        for (const Input &input : parts_->inputs)
            if (input.written && !is_safely_written(input)) return false;
        return true;
    }

    Status run(FloatErrors *errors) {
        const std::size_t count = parts_->program->output_count();
        results_.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            results_.push_back(Result());
            results_[i].array = nullptr;
        }
        const RunningPlaces running(places_.data(), places_.size());
        return parts_->program->run(views_.data(), results_.data(), errors);
    }

    bool program_guards_hold() const {
        const Dims &sizes = parts_->program->sizes();
        InlineVector<std::int64_t, 16> values;
        values.reserve(sizes.count());
        return sizes.evaluate(views_.data(), values.data()) && sizes.guards_hold(values.data());
    }

    PyObject *output() {
        return take_output(parts_->recipe, results_.data(), call_.leaves.data(), held_.data(),
                           call_.args);
    }

    bool teach(Memo *memo, Entry *entry) const {
        return memo->learn(entry, call_, views_.data(), held_.data());
    }

private:
    static View view_of(PyArrayObject *array) {
        static_assert(sizeof(npy_intp) == sizeof(std::int64_t), "shapes are read in place");
        return {PyArray_BYTES(array), PyArray_NDIM(array),
                reinterpret_cast<const std::int64_t *>(PyArray_DIMS(array)),
                reinterpret_cast<const std::int64_t *>(PyArray_STRIDES(array)), array};
    }

    Found make_other_view(const Input &input, PyObject *value) {
        if (input.kind == Input::Kind::swapped) {
            auto *array = reinterpret_cast<PyArrayObject *>(value);
            PyArray_Descr *native = PyArray_DescrFromType(PyArray_TYPE(array));
            PyObject *copy = native == nullptr ? nullptr : PyArray_FromArray(array, native, 0);
            if (copy == nullptr) return Found::error;
            held_.push_back(copy);
            views_.push_back(view_of(reinterpret_cast<PyArrayObject *>(copy)));
            return Found::yes;
        }
        storage_.push_back(ScalarStorage());
        char *bytes = storage_[storage_.size() - 1].bytes;
        views_.push_back({bytes, 0, nullptr, nullptr, nullptr});
        return store_number(input.kind, value, bytes);
    }

    bool is_safely_written(const Input &written) const {
        if (written.kind != Input::Kind::array) return false;
        auto *array = reinterpret_cast<PyArrayObject *>(source(written));
        if (!PyArray_ISWRITEABLE(array)) return false;
        if (PyArray_SIZE(array) == 0) return true;  // NumPy gives such arrays strides of 0
        for (int axis = 0; axis < PyArray_NDIM(array); ++axis)
            if (PyArray_STRIDE(array, axis) == 0 && PyArray_DIM(array, axis) > 1) return false;
        const Range range = range_of(array);
        for (const Input &other : parts_->inputs) {
            if (&other == &written || other.kind > Input::Kind::swapped) continue;
            const Range apart = range_of(reinterpret_cast<PyArrayObject *>(source(other)));
            if (range.low < apart.high && apart.low < range.high) return false;
        }
        return true;
    }

    EntryParts *parts_;
    const Signature &call_;
    Places places_;
    InlineVector<PyObject *, 8> held_;
    InlineVector<View, 8> views_;
    InlineVector<ScalarStorage, 8> storage_;
    InlineVector<Result, 2> results_;
};

// Everything that must hold before the program is run.
Found prepare(Attempt &attempt, const EntryParts &parts) {
    Found found = attempt.find_places();
    if (found == Found::yes) found = attempt.fetch_captures();
    if (found == Found::yes) found = attempt.check_guards();
    if (found == Found::yes && parts.program != nullptr) found = attempt.make_views();
    return found;
}

}  // namespace

Outcome try_entry(Entry *entry, const Signature &call, Answer *answer, Memo *memo) {
    EntryParts *parts = entry->parts;
    if (parts == nullptr || !anchors_match(parts->anchors, call)) return Outcome::no_match;
    Attempt attempt(parts, call);
    const Found found = prepare(attempt, *parts);
    if (found != Found::yes) return found == Found::no ? Outcome::no_match : Outcome::error;
    if (parts->program == nullptr) {
        ++entry->hits;
        return Outcome::fallback;
    }
    if (parts->writes && !attempt.writes_are_safe()) {
        ++entry->deoptimizations;
        return Outcome::no_match;
    }
    if (!undo_draws()) return Outcome::error;  // of an entry that gave up, or a run not watched
    // Before the run: while it has given up the GIL, arguments may be given another shape.
    const bool learned = memo != nullptr && attempt.teach(memo, entry);
    switch (attempt.run(entry->watched ? &answer->errors : nullptr)) {
        case Status::ok: break;
        case Status::flagged: return Outcome::done;
        case Status::guard_failed: return Outcome::no_match;
        case Status::deoptimize: ++entry->deoptimizations; return Outcome::no_match;
        case Status::error: return Outcome::failed;
        case Status::broken: return Outcome::error;  // what was written cannot be taken back
    }
    ++entry->hits;
    leave_out_ignored(answer->errors);
    answer->result = attempt.output();
    if (answer->result == nullptr) return parts->writes ? Outcome::error : Outcome::failed;
    if (must_be_watched(entry)) {
        Py_CLEAR(answer->result);
        const Outcome again = try_entry(entry, call, answer, memo);
        entry->watched = answer->errors.flags != 0;
        return again;
    }
    return learned ? Outcome::remembered : Outcome::done;
}

Found entry_matches(Entry *entry, const Signature &call) {
    EntryParts *parts = entry->parts;
    if (parts == nullptr || !anchors_match(parts->anchors, call)) return Found::no;
    Attempt attempt(parts, call);
    const Found found = prepare(attempt, *parts);
    if (found != Found::yes || parts->program == nullptr) return found;
    if (parts->writes && !attempt.writes_are_safe()) return Found::no;
    return attempt.program_guards_hold() ? Found::yes : Found::no;
}

}  // namespace jitwise::dispatch
