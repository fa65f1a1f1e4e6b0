#include "entry.h"

#include <structmember.h>

#include <cstddef>

#include "dispatch_numpy.h"
#include "weak_reference.h"

namespace jitwise::dispatch {

namespace {

PyTypeObject *entry_type;

PyObject *referent_of(const Anchor &anchor) {
    return anchor.weak ? weak_referent(anchor.reference) : anchor.reference;
}

bool add_anchor(PyObject *object, std::vector<Anchor> *anchors) {
    PyObject *reference = PyWeakref_NewRef(object, nullptr);
    const bool weak = reference != nullptr;
    if (!weak) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
        PyErr_Clear();
        Py_INCREF(object);
        reference = object;
    }
    anchors->push_back({reference, weak});
    return true;
}

Input::Kind kind_of_input(const LeafToken &token) {
    switch (tag_of(token.word)) {
        case Tag::array:
            return swapped_of(token.word) ? Input::Kind::swapped : Input::Kind::array;
        case Tag::scalar: return Input::Kind::scalar;
        default: break;
    }
    switch (kind_of(token.word)) {
        case NumberKind::boolean: return Input::Kind::boolean;
        case NumberKind::integer: return Input::Kind::integer;
        case NumberKind::floating: return Input::Kind::floating;
        default: return Input::Kind::complex;
    }
}

// Parse ("leaf", k) or ("capture", j) and check it against what the program expects there.
bool parse_input(PyObject *item, std::size_t position, const Signature &call, EntryParts *parts) {
    const char *source;
    Py_ssize_t index;
    if (!PyTuple_Check(item)) {
        PyErr_SetString(PyExc_TypeError, "a program input is ('leaf', k) or ('capture', j)");
        return false;
    }
    if (!PyArg_ParseTuple(item, "sn;a program input is ('leaf', k) or ('capture', j)", &source,
                          &index))
        return false;
    const bool captured = source[0] == 'c';
    const std::size_t count = captured ? parts->captures.size() : call.leaves.size();
    if (index < 0 || static_cast<std::size_t>(index) >= count) {
        PyErr_Format(PyExc_IndexError, "there is no %s %zd", source, index);
        return false;
    }
    const auto place = static_cast<std::size_t>(index);
    const LeafToken token =
        captured ? parts->captures[place].token : leaf_token(call.leaves[place]);
    const int dtype = input_dtype(token);
    const int rank = tag_of(token.word) == Tag::array ? rank_of(token.word) : 0;
    const int wanted = canonical_dtype(parts->program->input_dtype(position));
    if (dtype < 0 || dtype != wanted || rank != parts->program->input_rank(position)) {
        PyErr_Format(PyExc_TypeError,
                     "input %zu of the program has dtype number %d and rank %d, the %s has %d and "
                     "%d", position, wanted, parts->program->input_rank(position), source, dtype,
                     rank);
        return false;
    }
    parts->inputs.push_back(
        {kind_of_input(token), captured, false, static_cast<std::uint32_t>(index)});
    return true;
}

// Call `parse(item, position)` for each item of a sequence; None is an empty one.
template <class Parse> bool parse_each(PyObject *sequence, const char *what, Parse parse) {
    if (sequence == nullptr || sequence == Py_None) return true;
    PyObject *items = PySequence_Fast(sequence, what);
    if (items == nullptr) return false;
    bool good = true;
    for (Py_ssize_t i = 0; good && i < PySequence_Fast_GET_SIZE(items); ++i)
        good = parse(PySequence_Fast_GET_ITEM(items, i), static_cast<std::size_t>(i));
    Py_DECREF(items);
    return good;
}

bool parse_program(PyObject *object, const Signature &call, const EntryArguments &arguments,
                   EntryParts *parts) {
    if (object == Py_None) return true;
    if (PyObject_TypeCheck(object, program_type())) parts->program = program_of(object);
    if (parts->program == nullptr) {
        PyErr_Format(PyExc_TypeError, "program must be a Program or None, not a %s",
                     Py_TYPE(object)->tp_name);
        return false;
    }
    const std::size_t wanted = parts->program->input_count();
    const bool good = parse_each(
        arguments.leaves, "leaves is a sequence", [&](PyObject *item, std::size_t position) {
            if (position < wanted) return parse_input(item, position, call, parts);
            PyErr_Format(PyExc_ValueError, "the program has only %zu inputs", wanted);
            return false;
        });
    if (!good) return false;
    if (parts->inputs.size() != wanted) {
        PyErr_Format(PyExc_ValueError, "the program has %zu inputs, leaves names %zu", wanted,
                     parts->inputs.size());
        return false;
    }
    return parse_each(arguments.written, "written is a sequence", [&](PyObject *item, std::size_t) {
        const Py_ssize_t index = PyNumber_AsSsize_t(item, PyExc_OverflowError);
        if (index == -1 && PyErr_Occurred()) return false;
        if (index < 0 || static_cast<std::size_t>(index) >= wanted) {
            PyErr_Format(PyExc_IndexError, "the program has no input %zd", index);
            return false;
        }
        parts->inputs[static_cast<std::size_t>(index)].written = true;
        return parts->writes = true;
    });
}

bool parse_parts(const Signature &call, const EntryArguments &arguments, EntryParts *parts) {
    parts->words.assign(call.words.begin(), call.words.end());
    for (PyObject *object : call.anchors)
        if (!add_anchor(object, &parts->anchors)) return false;
    Places places;
    const bool guarded =
        parse_each(arguments.places, "places is a sequence",
                   [&](PyObject *item, std::size_t) {
                       parts->places.emplace_back();
                       return parse_place(item, call, &places, &parts->places.back());
                   }) &&
        parse_each(arguments.captures, "captures is a sequence",
                   [&](PyObject *item, std::size_t) {
                       parts->captures.emplace_back();
                       return parse_capture(item, call, places, &parts->captures.back());
                   }) &&
        parse_each(arguments.guards, "guards is a sequence", [&](PyObject *item, std::size_t) {
            parts->guards.emplace_back();
            return parse_guard(item, call, places, &parts->guards.back());
        });
    if (!guarded || !parse_program(arguments.program, call, arguments, parts)) return false;
    if (parts->program == nullptr) return true;
    const Py_ssize_t named = call.names == nullptr ? 0 : PyTuple_GET_SIZE(call.names);
    const auto given = static_cast<std::size_t>(call.count + named);
    return parse_recipe(
        arguments.outputs,
        {parts->program->output_count(), call.leaves.size(), parts->captures.size(), given},
        &parts->recipe);
}

int entry_clear(PyObject *self) {
    auto *entry = reinterpret_cast<Entry *>(self);
    Py_CLEAR(entry->program);
    Py_CLEAR(entry->name);
    if (entry->parts == nullptr) return 0;
    EntryParts *parts = entry->parts;
    entry->parts = nullptr;  // releasing may run Python code that meets this entry again
    for (Anchor &anchor : parts->anchors) Py_CLEAR(anchor.reference);
    for (Fetch &place : parts->places) place.release();
    for (Capture &capture : parts->captures) capture.from.release();
    for (Guard &guard : parts->guards) {
        guard.from.release();
        Py_CLEAR(guard.expected);
    }
    parts->recipe.release();
    delete parts;
    return 0;
}

int entry_traverse(PyObject *self, visitproc visit, void *arg) {
    auto *entry = reinterpret_cast<Entry *>(self);
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(entry->program);
    Py_VISIT(entry->name);
    if (entry->parts == nullptr) return 0;
    for (const Anchor &anchor : entry->parts->anchors) Py_VISIT(anchor.reference);
    for (const Fetch &place : entry->parts->places)
        if (const int code = place.visit(visit, arg)) return code;
    for (const Capture &capture : entry->parts->captures)
        if (const int code = capture.from.visit(visit, arg)) return code;
    for (const Guard &guard : entry->parts->guards) {
        if (const int code = guard.from.visit(visit, arg)) return code;
        Py_VISIT(guard.expected);
    }
    return entry->parts->recipe.visit(visit, arg);
}

void entry_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    entry_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

PyMemberDef entry_members[] = {
    {"program", T_OBJECT, offsetof(Entry, program), READONLY, "The program, or None."},
    {"name", T_OBJECT, offsetof(Entry, name), READONLY, "What add_entry was given as name."},
    {"hits", T_ULONGLONG, offsetof(Entry, hits), READONLY, "Calls this entry has served."},
    {"deoptimizations", T_ULONGLONG, offsetof(Entry, deoptimizations), READONLY,
     "Calls the program gave up and Python served."},
    {"replays", T_ULONGLONG, offsetof(Entry, replays), READONLY,
     "Served calls that were like a remembered one."},
    {nullptr, 0, 0, 0, nullptr}};

PyType_Slot entry_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void *>(entry_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void *>(entry_traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(entry_clear)},
    {Py_tp_members, entry_members},
    {Py_tp_doc, const_cast<char *>("One compiled way to serve the calls of one signature.")},
    {0, nullptr}};

PyType_Spec entry_spec = {"jitwise.runtime._native.Entry", sizeof(Entry), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                              Py_TPFLAGS_DISALLOW_INSTANTIATION,
                          entry_slots};

}  // namespace

bool prepare_entry_type(PyObject *module) {
    PyObject *type = PyType_FromSpec(&entry_spec);
    if (type == nullptr) return false;
    entry_type = reinterpret_cast<PyTypeObject *>(type);  // this reference is kept for good
    return PyObject_SetAttrString(module, "Entry", type) == 0;
}

Entry *make_entry(const Signature &call, const EntryArguments &arguments) {
    Entry *entry = PyObject_GC_New(Entry, entry_type);
    if (entry == nullptr) return nullptr;
    entry->program = nullptr;
    entry->name = nullptr;
    entry->hits = entry->deoptimizations = entry->replays = 0;
    entry->watched = false;
    entry->parts = new EntryParts();
    PyObject_GC_Track(entry);
    Py_INCREF(arguments.program);
    entry->program = arguments.program;
    PyObject *name = arguments.name == nullptr ? Py_None : arguments.name;
    Py_INCREF(name);
    entry->name = name;
    if (parse_parts(call, arguments, entry->parts)) {
        entry->watched = entry->parts->writes;
        return entry;
    }
    Py_DECREF(entry);
    return nullptr;
}

bool anchors_match(const std::vector<Anchor> &anchors, const Signature &call) {
    for (std::size_t i = 0; i < anchors.size(); ++i)
        if (anchors[i].weak && referent_of(anchors[i]) != call.anchors[i]) return false;
    return true;
}

bool entry_is_alive(const Entry *entry) {
    if (entry->parts == nullptr) return false;
    for (const Anchor &anchor : entry->parts->anchors)
        if (anchor.weak) {
            PyObject *object = referent_of(anchor);
            if (object == nullptr || object == Py_None) return false;
        }
    for (const Guard &guard : entry->parts->guards)
        if (!guard_is_alive(guard)) return false;
    return true;
}

}  // namespace jitwise::dispatch
