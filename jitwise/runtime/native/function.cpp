#define JITWISE_IMPORTS_NUMPY
#include "dispatch_numpy.h"

#include "function.h"

#include <structmember.h>

#include <cstddef>
#include <cstring>
#include <new>

#include "answers.h"
#include "draws.h"

namespace jitwise::dispatch {

namespace {

constexpr std::size_t long_list = 4;  // beyond it, the entry that served last is tried first

PyTypeObject *function_type;
bool all_disabled = false;

// `*served` is the entry that gave the outcome, if one did.
Outcome try_list(EntryList *list, const Signature &signature, Entry **served, Answer *answer,
                 Memo *memo) {
    const std::size_t count = list->entries.size();
    const std::size_t first = count > long_list ? list->recent : count;
    if (first < count) {
        *served = list->entries[first];
        const Outcome outcome = try_entry(*served, signature, answer, memo);
        if (outcome != Outcome::no_match) return outcome;
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (i == first) continue;
        *served = list->entries[i];
        const Outcome outcome = try_entry(*served, signature, answer, memo);
        if (outcome == Outcome::no_match) continue;
        // Python entries stay last, whatever they serve: they may hold for every call.
        if (outcome == Outcome::done || outcome == Outcome::remembered) list->recent = i;
        return outcome;
    }
    return Outcome::no_match;
}

// The long way: describe the call, find its entries, try them. `*served`: a new reference to the
// entry that failed.
Outcome look_up(Function *function, const Call &call, Entry **served, Answer *answer) {
    Signature signature;
    if (!signature.scan(call.args, call.count(), call.names, function->opaque_types))
        return Outcome::no_match;
    Table &table = *function->table;
    EntryList *list = table.find(signature);
    if (list == nullptr) return Outcome::no_match;
    ++list->users;
    Memo *memo = table.memory.wants() ? Memo::of_arguments(signature) : nullptr;
    const std::uint64_t changes = table.changes();
    const Outcome outcome = try_list(list, signature, served, answer, memo);
    if (outcome == Outcome::failed || answer->errors.flags != 0) Py_INCREF(*served);
    list->release();
    if (memo == nullptr) return outcome;
    // The entry may have been removed during the run.
    if (outcome == Outcome::remembered && table.changes() == changes)
        table.memory.add(memo);
    else
        memo->release();
    return outcome;
}

// A call like one that is remembered.
Outcome recall(Function *function, const Call &call, Entry **served, Answer *answer) {
    const Memory &memory = function->table->memory;
    FoundLeaves found;
    PyObject *const *leaves;
    std::size_t place = 0;
    Outcome outcome = Outcome::no_match;
    // Several may be of the same arguments, for different captures, guards or integers.
    while (outcome == Outcome::no_match) {
        Memo *memo = memory.recall(call.args, call.count(), call.names, found, &leaves, place);
        if (memo == nullptr) break;
        ++memo->users;
        outcome = memo->run(leaves, answer);
        if (outcome == Outcome::failed || answer->errors.flags != 0) {
            *served = memo->entry();
            Py_INCREF(*served);
        }
        memo->release();
        if (outcome == Outcome::no_match) found.clear();
    }
    return outcome;
}

PyObject *dispatch(Function *function, const Call &call) {
    const DrawScope draws;
    Answer answer;
    Entry *served = nullptr;
    Outcome outcome = recall(function, call, &served, &answer);
    if (outcome == Outcome::no_match) outcome = look_up(function, call, &served, &answer);
    PyObject *result = answer.result;
    switch (outcome) {
        case Outcome::done:
        case Outcome::remembered:
            if (answer.errors.flags == 0) return result;
            result = call_flagged(function, served, answer, call);
            Py_DECREF(served);
            return result;
        case Outcome::fallback: return undo_draws() ? call_fallback(function, call) : nullptr;
        case Outcome::error: return nullptr;
        case Outcome::failed:
            result = call_failed(function, served, call);
            Py_DECREF(served);
            return result;
        default: return undo_draws() ? call_miss(function, call) : nullptr;
    }
}

PyObject *function_call(PyObject *self, PyObject *const *args, std::size_t nargsf,
                        PyObject *names) {
    Function *function = function_of(self);
    const Call call{args, nargsf, names};
    if (all_disabled || function->disabled) return call_fallback(function, call);
    try {
        return dispatch(function, call);
    } catch (const std::bad_alloc &) {
        return PyErr_NoMemory();
    }
}

PyObject *function_add_entry(PyObject *self, PyObject *args, PyObject *kwargs) {
    static const char *const names[] = {"args", "kwargs", "program", "leaves", "captures", "guards",
                                        "outputs", "written", "name", "front", "places", nullptr};
    PyObject *call_args, *call_kwargs;
    EntryArguments given{};
    int front = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OOOOOOOpO:add_entry",
                                     const_cast<char **>(names), &call_args, &call_kwargs,
                                     &given.program, &given.leaves, &given.captures, &given.guards,
                                     &given.outputs, &given.written, &given.name, &front,
                                     &given.places))
        return nullptr;
    if (given.program == nullptr) given.program = Py_None;
    if (given.outputs == nullptr) given.outputs = Py_None;
    try {
        Function *function = function_of(self);
        PackedCall packed;
        bool deep;
        if (!packed.scan(call_args, call_kwargs, function->opaque_types, &deep))
            return deep ? too_deep() : nullptr;
        Entry *entry = make_entry(packed.signature, given);
        if (entry == nullptr) return nullptr;
        function->table->add(entry, front != 0);
        return reinterpret_cast<PyObject *>(entry);
    } catch (const std::bad_alloc &) {
        return PyErr_NoMemory();
    }
}

PyObject *function_remove_entry(PyObject *self, PyObject *entry) {
    if (std::strcmp(Py_TYPE(entry)->tp_name, "jitwise.runtime._native.Entry") != 0)
        return PyErr_Format(PyExc_TypeError, "remove_entry takes an Entry");
    return PyBool_FromLong(function_of(self)->table->remove(reinterpret_cast<Entry *>(entry)));
}

PyObject *function_clear_entries(PyObject *self, PyObject *) {
    function_of(self)->table->clear();
    Py_RETURN_NONE;
}

PyObject *list_of(const std::vector<std::string> &lines) {
    PyObject *list = PyList_New(static_cast<Py_ssize_t>(lines.size()));
    for (std::size_t i = 0; list != nullptr && i < lines.size(); ++i) {
        PyObject *line = PyUnicode_FromString(lines[i].c_str());
        if (line == nullptr) {
            Py_DECREF(list);
            return nullptr;
        }
        PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), line);
    }
    return list;
}

PyObject *function_entries(PyObject *self, PyObject *) {
    std::vector<Entry *> entries = function_of(self)->table->all();
    for (Entry *entry : entries) Py_INCREF(entry);
    PyObject *list = PyList_New(0);
    for (Entry *entry : entries) {
        if (list != nullptr && entry->parts != nullptr) {
            const auto &words = entry->parts->words;
            PyObject *key = list_of(describe(words.data(), words.size()));
            PyObject *row = key == nullptr ? nullptr
                                           : Py_BuildValue("(ONOKK)", entry, key, entry->program,
                                                           entry->hits, entry->deoptimizations);
            if (row == nullptr || PyList_Append(list, row) != 0) Py_CLEAR(list);
            Py_XDECREF(row);
        }
        Py_DECREF(entry);
    }
    return list;
}

PyObject *function_describe(PyObject *self, PyObject *args) {
    PyObject *call_args;
    PyObject *call_kwargs = Py_None;
    if (!PyArg_ParseTuple(args, "O|O:describe", &call_args, &call_kwargs)) return nullptr;
    PackedCall packed;
    bool deep;
    if (!packed.scan(call_args, call_kwargs, function_of(self)->opaque_types, &deep))
        return deep ? too_deep() : nullptr;
    const Signature &signature = packed.signature;
    return list_of(describe(signature.words.data(), signature.words.size()));
}

Found matches(Function *function, const Call &call) {
    Signature signature;
    if (!signature.scan(call.args, call.count(), call.names, function->opaque_types))
        return Found::no;
    EntryList *list = function->table->find(signature);
    if (list == nullptr) return Found::no;
    ++list->users;
    Found found = Found::no;
    for (std::size_t i = 0; found == Found::no && i < list->entries.size(); ++i)
        found = entry_matches(list->entries[i], signature);
    list->release();
    return found;
}

PyObject *function_matches(PyObject *self, PyObject *const *args, Py_ssize_t count,
                           PyObject *names) {
    try {
        const Call call{args, static_cast<std::size_t>(count), names};
        const Found found = matches(function_of(self), call);
        return found == Found::error ? nullptr : PyBool_FromLong(found == Found::yes);
    } catch (const std::bad_alloc &) {
        return PyErr_NoMemory();
    }
}

PyObject *function_get(PyObject *self, PyObject *instance, PyObject *) {
    if (instance == nullptr || instance == Py_None) {
        Py_INCREF(self);
        return self;
    }
    return PyMethod_New(self, instance);
}

PyObject *function_repr(PyObject *self) {
    PyObject *name = PyObject_GetAttrString(self, "__qualname__");
    if (name == nullptr) {
        PyErr_Clear();
        return PyUnicode_FromFormat("<compiled function at %p>", self);
    }
    PyObject *text = PyUnicode_FromFormat("<compiled function %S>", name);
    Py_DECREF(name);
    return text;
}

PyObject *function_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *const names[] = {"miss", "fallback", "failed", "flagged", nullptr};
    PyObject *miss, *fallback, *failed = nullptr, *flagged = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO:Function", const_cast<char **>(names),
                                     &miss, &fallback, &failed, &flagged))
        return nullptr;
    if (failed == Py_None) failed = nullptr;
    if (flagged == Py_None) flagged = nullptr;
    if (!PyCallable_Check(miss) || !PyCallable_Check(fallback) ||
        (failed != nullptr && !PyCallable_Check(failed)) ||
        (flagged != nullptr && !PyCallable_Check(flagged)))
        return PyErr_Format(PyExc_TypeError,
                            "miss, fallback, failed and flagged must be callable");
    PyObject *self = type->tp_alloc(type, 0);
    if (self == nullptr) return nullptr;
    Function *function = function_of(self);
    function->vectorcall = function_call;
    Py_INCREF(miss);
    function->miss = miss;
    Py_INCREF(fallback);
    function->fallback = fallback;
    Py_XINCREF(failed);
    function->failed = failed;
    Py_XINCREF(flagged);
    function->flagged = flagged;
    function->table = new (std::nothrow) Table();
    if (function->table != nullptr) return self;
    Py_DECREF(self);
    return PyErr_NoMemory();
}

int function_traverse(PyObject *self, visitproc visit, void *arg) {
    Function *function = function_of(self);
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(function->miss);
    Py_VISIT(function->fallback);
    Py_VISIT(function->failed);
    Py_VISIT(function->flagged);
    Py_VISIT(function->opaque_types);
    Py_VISIT(function->dict);
    return function->table == nullptr ? 0 : function->table->visit(visit, arg);
}

int function_clear(PyObject *self) {
    Function *function = function_of(self);
    Py_CLEAR(function->miss);
    Py_CLEAR(function->fallback);
    Py_CLEAR(function->failed);
    Py_CLEAR(function->flagged);
    Py_CLEAR(function->opaque_types);
    Py_CLEAR(function->dict);
    if (function->table != nullptr) function->table->clear();
    return 0;
}

void function_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (function_of(self)->weak_references != nullptr) PyObject_ClearWeakRefs(self);
    function_clear(self);
    delete function_of(self)->table;
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject *get_opaque_types(PyObject *self, void *) {
    PyObject *types = function_of(self)->opaque_types;
    if (types == nullptr) return PyTuple_New(0);
    Py_INCREF(types);
    return types;
}

int set_opaque_types(PyObject *self, PyObject *value, void *) {
    PyObject *types = value == nullptr ? PyTuple_New(0) : PySequence_Tuple(value);
    if (types == nullptr) return -1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(types); ++i)
        if (!PyType_Check(PyTuple_GET_ITEM(types, i))) {
            Py_DECREF(types);
            PyErr_SetString(PyExc_TypeError, "opaque_types are types");
            return -1;
        }
    if (PyTuple_GET_SIZE(types) == 0) Py_CLEAR(types);
    PyObject *old = function_of(self)->opaque_types;
    function_of(self)->opaque_types = types;
    Py_XDECREF(old);
    function_of(self)->table->memory.clear();
    return 0;
}

PyObject *set_disabled(PyObject *, PyObject *flag) {
    const int value = PyObject_IsTrue(flag);
    if (value < 0) return nullptr;
    const bool before = all_disabled;
    all_disabled = value != 0;
    return PyBool_FromLong(before);
}

PyObject *call_leaves(PyObject *, PyObject *args) {
    PyObject *call_args;
    PyObject *call_kwargs = Py_None;
    if (!PyArg_ParseTuple(args, "O|O:call_leaves", &call_args, &call_kwargs)) return nullptr;
    PackedCall packed;
    bool deep;
    if (!packed.scan(call_args, call_kwargs, nullptr, &deep)) return deep ? too_deep() : nullptr;
    const auto &leaves = packed.signature.leaves;
    PyObject *list = PyList_New(static_cast<Py_ssize_t>(leaves.size()));
    for (std::size_t i = 0; list != nullptr && i < leaves.size(); ++i) {
        Py_INCREF(leaves[i]);
        PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), leaves[i]);
    }
    return list;
}

PyMethodDef function_methods[] = {
    {"add_entry", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function_add_entry)),
     METH_VARARGS | METH_KEYWORDS,
     "add_entry(args, kwargs, program=None, leaves=(), captures=(), guards=(), outputs=None,\n"
     "          written=(), name=None, front=False, places=()) -> Entry"},
    {"matches", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function_matches)),
     METH_FASTCALL | METH_KEYWORDS,
     "matches(*args, **kwargs): would an entry serve this call? Nothing is run."},
    {"remove_entry", function_remove_entry, METH_O, "remove_entry(entry) -> was it there?"},
    {"entries", function_entries, METH_NOARGS,
     "A list of (entry, tokens in words, program, hits, deoptimizations)."},
    {"clear", function_clear_entries, METH_NOARGS, "Forget all entries."},
    {"describe", function_describe, METH_VARARGS,
     "describe(args, kwargs=None): the tokens of a call in words, one line each."},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef function_members[] = {
    {"miss", T_OBJECT, offsetof(Function, miss), READONLY, "Called when no entry fits."},
    {"fallback", T_OBJECT, offsetof(Function, fallback), READONLY, "The function as Python."},
    {"disabled", T_BOOL, offsetof(Function, disabled), 0, "Always call the fallback?"},
    {"misses", T_ULONGLONG, offsetof(Function, misses), READONLY, "Calls no entry fitted."},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Function, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(Function, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Function, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyGetSetDef function_properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"opaque_types", get_opaque_types, set_opaque_types,
     "Types whose instances are told apart by type alone.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot function_slots[] = {
    {Py_tp_new, reinterpret_cast<void *>(function_new)},
    {Py_tp_dealloc, reinterpret_cast<void *>(function_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void *>(function_traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(function_clear)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void *>(function_get)},
    {Py_tp_repr, reinterpret_cast<void *>(function_repr)},
    {Py_tp_methods, function_methods},
    {Py_tp_members, function_members},
    {Py_tp_getset, function_properties},
    {Py_tp_doc,
     const_cast<char *>("Function(miss, fallback, failed=None): compiled entries behind one call.")},
    {0, nullptr}};

PyType_Spec function_spec = {
    "jitwise.runtime._native.Function", sizeof(Function), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL |
        Py_TPFLAGS_METHOD_DESCRIPTOR,
    function_slots};

PyMethodDef module_functions[] = {
    {"set_disabled", set_disabled, METH_O,
     "set_disabled(flag) -> the flag before; true: every Function calls its fallback."},
    {"call_leaves", call_leaves, METH_VARARGS,
     "call_leaves(args, kwargs=None): the leaves of a call, in the order that entries count them."},
    {nullptr, nullptr, 0, nullptr}};

bool prepare(PyObject *module) {
    import_array1(false);
    if (!prepare_signatures() || !prepare_entry_type(module)) return false;
    PyObject *type = PyType_FromSpec(&function_spec);
    if (type == nullptr) return false;
    function_type = reinterpret_cast<PyTypeObject *>(type);  // kept for good
    return PyObject_SetAttrString(module, "Function", type) == 0 &&
           PyModule_AddFunctions(module, module_functions) == 0 && add_draw_functions(module);
}

}  // namespace

}  // namespace jitwise::dispatch

void bind_function(nanobind::module_ &module) {
    if (!jitwise::dispatch::prepare(module.ptr())) throw nanobind::python_error();
}
