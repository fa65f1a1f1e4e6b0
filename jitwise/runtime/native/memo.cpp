#include "memo.h"

#include <algorithm>
#include <utility>

#include "attempt.h"
#include "weak_reference.h"

namespace jitwise::dispatch {

Memo::~Memo() {
    forget_captures();
    for (const Record &record : records_)
        if (record.kind == Kind::array || record.kind == Kind::same) Py_DECREF(record.object);
    Py_XDECREF(names_);
}

void Memo::forget_captures() {
    while (records_.size() > captures_) {
        if (records_.back().kind == Kind::array) Py_DECREF(records_.back().object);
        records_.pop_back();
    }
    Py_CLEAR(entry_);
}

Memo *Memo::of_arguments(const Signature &call) {
    Memo *memo = new Memo;
    memo->names_ = call.names;
    Py_XINCREF(call.names);
    memo->count_ = call.count;
    memo->total_ = static_cast<std::size_t>(
        call.count + (call.names == nullptr ? 0 : PyTuple_GET_SIZE(call.names)));
    memo->nested_ = call.has_containers();
    Cursor cursor{call};
    bool good = true;
    for (std::size_t i = 0; good && i < memo->total_; ++i) good = memo->add(call.args[i], cursor);
    memo->captures_ = memo->records_.size();
    if (good && cursor.leaf == call.leaves.size()) return memo;
    memo->release();
    return nullptr;
}

bool Memo::add(PyObject *value, Cursor &cursor) {
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyDict_Type || type == &PyTuple_Type || type == &PyList_Type)
        return add_container(value, cursor);
    // Something else than the signature's next leaf is a container of another kind.
    const std::size_t leaf = cursor.leaf++;
    if (leaf >= cursor.call.leaves.size() || cursor.call.leaves[leaf] != value) return false;
    if (leaf_token(value).word != 0)
        add_leaf(value);
    else
        add_object(value, cursor);
    return true;
}

bool Memo::add_container(PyObject *value, Cursor &cursor) {
    PyTypeObject *type = Py_TYPE(value);
    const bool is_dict = type == &PyDict_Type;
    const Py_ssize_t count = is_dict ? PyDict_GET_SIZE(value) : PySequence_Fast_GET_SIZE(value);
    records_.push_back({is_dict ? Kind::dict : Kind::items, 0, static_cast<std::size_t>(count),
                        nullptr, type});
    if (!is_dict) {
        for (Py_ssize_t i = 0; i < count; ++i)
            if (!add(PySequence_Fast_GET_ITEM(value, i), cursor)) return false;
        return true;
    }
    Py_ssize_t position = 0;
    PyObject *key, *item;
    while (PyDict_Next(value, &position, &key, &item)) {
        if (!PyUnicode_CheckExact(key)) return false;
        Py_INCREF(key);
        records_.push_back({Kind::same, 0, 0, key, Py_TYPE(key)});
        if (!add(item, cursor)) return false;
    }
    return true;
}

// An array or a number.
void Memo::add_leaf(PyObject *value) {
    PyTypeObject *type = Py_TYPE(value);
    if (type != &PyArray_Type) {
        records_.push_back({Kind::number, 0, 0, reinterpret_cast<PyObject *>(type), type});
        return;
    }
    auto *array = reinterpret_cast<PyArrayObject *>(value);
    const int ndim = PyArray_NDIM(array);
    auto *descr = reinterpret_cast<PyObject *>(PyArray_DESCR(array));
    Py_INCREF(descr);
    records_.push_back({Kind::array, ndim, extents_.size(), descr, type});
    extents_.insert(extents_.end(), PyArray_DIMS(array), PyArray_DIMS(array) + ndim);
    extents_.insert(extents_.end(), PyArray_STRIDES(array), PyArray_STRIDES(array) + ndim);
}

void Memo::add_object(PyObject *value, Cursor &cursor) {
    PyTypeObject *type = Py_TYPE(value);
    if (value == Py_None || type == &PyUnicode_Type || type == &PyBytes_Type) {
        Py_INCREF(value);
        records_.push_back({Kind::same, 0, 0, value, type});
        return;
    }
    const std::size_t at = cursor.anchor++;
    const bool by_type = cursor.call.anchors[at] == reinterpret_cast<PyObject *>(type);
    records_.push_back({by_type ? Kind::type : Kind::weak, 0, at, cursor.call.anchors[at], type});
}

bool Memo::learn(Entry *entry, const Signature &call, const View *views,
                 PyObject *const *captured) {
    const EntryParts &parts = *entry->parts;
    forget_captures();
    if (parts.writes || parts.recipe.is_of_call) return false;
    for (const Input &input : parts.inputs)
        if (input.kind == Input::Kind::swapped) return false;
    std::unique_ptr<const Replay> replay = Replay::make(*parts.program, views);
    if (replay == nullptr) return false;
    replay_ = std::move(replay);
    Py_INCREF(entry);
    entry_ = entry;
    for (std::size_t i = 0; i < parts.captures.size(); ++i) add_leaf(captured[i]);
    // Python code that guards ran may have changed the arguments after they were recorded.
    FoundLeaves found;
    return serves(call.args, call.count, call.names, found) != nullptr;
}

bool Memo::serves_nested(PyObject *const *args, FoundLeaves &found) const {
    const Record *record = records_.data();
    for (std::size_t i = 0; i < total_; ++i)
        if (!match(record, args[i], found)) {
            found.clear();
            return false;
        }
    return true;
}

bool Memo::match(const Record *&record, PyObject *value, FoundLeaves &found) const {
    const Record &now = *record++;
    if (now.kind == Kind::array || now.kind < Kind::items) {
        found.add(value);
        return fits(now, value);
    }
    if (Py_TYPE(value) != now.type) return false;
    const auto count = static_cast<Py_ssize_t>(now.at);
    if (now.kind == Kind::items) {
        if (PySequence_Fast_GET_SIZE(value) != count) return false;
        for (Py_ssize_t i = 0; i < count; ++i)
            if (!match(record, PySequence_Fast_GET_ITEM(value, i), found)) return false;
        return true;
    }
    if (PyDict_GET_SIZE(value) != count) return false;
    Py_ssize_t position = 0;
    PyObject *key, *item;
    for (Py_ssize_t i = 0; i < count && PyDict_Next(value, &position, &key, &item); ++i)
        if (key != (record++)->object || !match(record, item, found)) return false;
    return true;
}

bool Memo::fits_otherwise(const Record &record, PyObject *value) const {
    switch (record.kind) {
        case Kind::number: return Py_TYPE(value) == record.type;
        case Kind::same: return value == record.object && Py_TYPE(value) == record.type;
        case Kind::weak:
            if (value != record.object || Py_TYPE(value) != record.type) return false;
            break;
        case Kind::type:
            if (Py_TYPE(value) != record.type) return false;
            break;
        default: return false;
    }
    if (entry_->parts == nullptr) return false;
    const Anchor &anchor = entry_->parts->anchors[record.at];
    return !anchor.weak || weak_referent(anchor.reference) == record.object;
}

// One run; its destructor gives back all references taken.
class Memo::Run {
public:
    Run(const Memo &memo, PyObject *const *leaves) : memo_(memo), leaves_(leaves) {}
    ~Run() {
        for (PyObject *object : held_) Py_DECREF(object);
        for (Result &result : results_) Py_XDECREF(result.array);
    }

    Found look_up(const EntryParts &parts) {
        const Found placed = places_.look_up(parts.places, leaves_);
        if (placed != Found::yes) return placed;
        const Sources sources{leaves_, places_.data()};
        const Record *record = memo_.records_.data() + memo_.captures_;
        for (const Capture &capture : parts.captures) {
            PyObject *value = nullptr;
            const Found found = capture.from.fetch(sources, &value);
            if (found != Found::yes) return found;
            held_.push_back(value);
            if (!memo_.fits(*record++, value)) return Found::no;
        }
        for (const Guard &guard : parts.guards) {
            const Found found = check_guard(guard, sources);
            if (found != Found::yes) return found;
        }
        return Found::yes;
    }

    Found find_inputs(const EntryParts &parts) {
        const std::size_t count = parts.inputs.size();
        inputs_.reserve(count);
        storage_.reserve(count);  // inputs point into it
        for (const Input &input : parts.inputs) {
            PyObject *value = input.captured ? held_[input.index] : leaves_[input.index];
            if (input.kind == Input::Kind::array) {
                inputs_.push_back(PyArray_BYTES(reinterpret_cast<PyArrayObject *>(value)));
                continue;
            }
            storage_.push_back(ScalarStorage());
            char *bytes = storage_[storage_.size() - 1].bytes;
            inputs_.push_back(bytes);
            const Found found = store_number(input.kind, value, bytes);
            if (found != Found::yes) return found;
        }
        return Found::yes;
    }

    Status run(const Program &program, FloatErrors *errors) {
        const std::size_t count = program.output_count();
        results_.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            results_.push_back(Result());
            results_[i].array = nullptr;
        }
        return memo_.replay_->run(inputs_.data(), results_.data(), errors);
    }

    PyObject *output(const Recipe &recipe) {
        return take_output(recipe, results_.data(), leaves_, held_.data(), nullptr);
    }

private:
    const Memo &memo_;
    PyObject *const *leaves_;
    Places places_;
    InlineVector<PyObject *, 8> held_;
    InlineVector<char *, 64> inputs_;
    InlineVector<ScalarStorage, 8> storage_;
    InlineVector<Result, 2> results_;
};

Outcome Memo::run(PyObject *const *leaves, Answer *answer) const {
    const EntryParts *parts = entry_->parts;
    if (parts == nullptr) return Outcome::no_match;
    Run run(*this, leaves);
    Found found = run.look_up(*parts);
    if (found == Found::yes) found = run.find_inputs(*parts);
    if (found != Found::yes) return found == Found::no ? Outcome::no_match : Outcome::error;
    switch (run.run(*parts->program, entry_->watched ? &answer->errors : nullptr)) {
        case Status::flagged:  // what writes is not remembered
        case Status::ok: break;
        case Status::error: return Outcome::failed;
        case Status::broken: return Outcome::error;
        case Status::guard_failed: return Outcome::no_match;
        case Status::deoptimize: ++entry_->deoptimizations; return Outcome::no_match;
    }
    ++entry_->hits;
    ++entry_->replays;
    leave_out_ignored(answer->errors);
    answer->result = run.output(parts->recipe);
    if (answer->result == nullptr) return Outcome::failed;
    if (must_be_watched(entry_)) {
        Py_CLEAR(answer->result);
        const Outcome again = this->run(leaves, answer);
        entry_->watched = answer->errors.flags != 0;
        return again;
    }
    return Outcome::done;
}

int Memo::visit(visitproc visit, void *arg) const {
    Py_VISIT(entry_);
    return 0;
}

bool Memory::wants() {
    if (wait_ > 0) {
        --wait_;
        return false;
    }
    if (++attempts_ >= capacity) pause_ = std::min(2 * pause_ + 1, longest_pause);
    wait_ = pause_;
    return true;
}

void Memory::add(Memo *memo) {
    Memo *old = memos_[next_];
    memos_[next_] = memo;
    next_ = (next_ + 1) % capacity;
    if (old != nullptr) old->release();
}

// Releasing may run Python code that comes back here.
void Memory::clear() {
    next_ = attempts_ = 0;
    pause_ = wait_ = 0;
    for (Memo *&place : memos_) {
        Memo *memo = std::exchange(place, nullptr);
        if (memo != nullptr) memo->release();
    }
}

int Memory::visit(visitproc visit, void *arg) const {
    for (const Memo *memo : memos_) {
        const int code = memo == nullptr ? 0 : memo->visit(visit, arg);
        if (code != 0) return code;
    }
    return 0;
}

}  // namespace jitwise::dispatch
