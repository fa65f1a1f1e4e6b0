#include "captures.h"

#include <cstring>

#include "dispatch_numpy.h"
#include "weak_reference.h"

namespace jitwise::dispatch {

namespace {

constexpr int max_compare_depth = 16;

struct HowName {
    const char *name;
    How how;
};
constexpr HowName how_names[] = {
    {"dict", How::dict},     {"own", How::own},       {"cell", How::cell}, {"attr", How::attr},
    {"item", How::item},     {"length", How::length}, {"keys", How::keys}, {"leaf", How::leaf},
    {"object", How::object},
};

bool parse_how(PyObject *text, How *how, Root *root) {
    const char *word = PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : nullptr;
    if (word == nullptr) {
        PyErr_Clear();
        word = "";
    }
    *root = Root::object;
    if (std::strncmp(word, "leaf.", 5) == 0) {
        *root = Root::leaf;
        word += 5;
    } else if (std::strncmp(word, "place.", 6) == 0) {
        *root = Root::place;
        word += 6;
    }
    for (const HowName &row : how_names)
        if (std::strcmp(word, row.name) == 0) {
            *how = row.how;
            return true;
        }
    PyErr_Format(PyExc_ValueError, "unknown way to fetch a value: %R", text);
    return false;
}

bool fits(How how, PyObject *container) {
    switch (how) {
        case How::dict:
        case How::keys: return PyDict_Check(container);
        case How::cell: return PyCell_Check(container);
        case How::item: return PyList_CheckExact(container) || PyTuple_Check(container);
        case How::length:
            return PyList_CheckExact(container) || PyTuple_Check(container) ||
                   PyDict_CheckExact(container);
        case How::leaf: return PyLong_Check(container) || container == Py_None;
        default: return true;
    }
}

// An exception while looking is "not there", and the Python function will meet it again by itself;
// KeyboardInterrupt, SystemExit and their like must not be swallowed.
Found not_found() {
    if (!PyErr_Occurred()) return Found::no;
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return Found::error;
    PyErr_Clear();
    return Found::no;
}

Found give(PyObject *borrowed, PyObject **value) {
    if (borrowed == nullptr) return not_found();
    Py_INCREF(borrowed);
    *value = borrowed;
    return Found::yes;
}

PyObject *item_of(PyObject *container, Py_ssize_t index) {
    const Py_ssize_t count =
        PyList_CheckExact(container) ? PyList_GET_SIZE(container) : PyTuple_GET_SIZE(container);
    if (index < 0) index += count;
    if (index < 0 || index >= count) return nullptr;
    return PyList_CheckExact(container) ? PyList_GET_ITEM(container, index)
                                        : PyTuple_GET_ITEM(container, index);
}

PyObject *length_of(PyObject *container) {
    if (PyDict_CheckExact(container)) return PyLong_FromSsize_t(PyDict_GET_SIZE(container));
    return PyLong_FromSsize_t(Py_SIZE(container));
}

PyObject *keys_of(PyObject *dict) {
    PyObject *keys = PyTuple_New(PyDict_GET_SIZE(dict));
    if (keys == nullptr) return nullptr;
    Py_ssize_t position = 0;
    PyObject *key;
    PyObject *value;
    for (Py_ssize_t i = 0; PyDict_Next(dict, &position, &key, &value); ++i) {
        Py_INCREF(key);
        PyTuple_SET_ITEM(keys, i, key);
    }
    return keys;
}

bool same_double(double left, double right) {
    if (left != left || right != right) return left != left && right != right;
    return std::memcmp(&left, &right, sizeof left) == 0;
}

bool same_scalar(PyObject *left, PyObject *right) {
    const LeafToken token = leaf_token(left);
    alignas(16) char a[16] = {};
    alignas(16) char b[16] = {};
    PyArray_ScalarAsCtype(left, a);
    PyArray_ScalarAsCtype(right, b);
    if (std::memcmp(a, b, 16) == 0) return true;
    // Different bits of the same value: only NaNs, whose payloads do not matter.
    PyObject *number = nullptr;
    const int dtype = input_dtype(token);
    if (PyTypeNum_ISFLOAT(dtype)) number = PyNumber_Float(left);
    if (number == nullptr) {
        PyErr_Clear();
        return false;
    }
    const bool left_nan = PyFloat_AS_DOUBLE(number) != PyFloat_AS_DOUBLE(number);
    Py_DECREF(number);
    number = PyNumber_Float(right);
    const bool right_nan = number != nullptr &&
                           PyFloat_AS_DOUBLE(number) != PyFloat_AS_DOUBLE(number);
    if (number == nullptr) PyErr_Clear();
    Py_XDECREF(number);
    return left_nan && right_nan;
}

bool is_comparable_at(PyObject *value, int depth) {
    if (value == Py_None || PyLong_CheckExact(value) || PyFloat_CheckExact(value) ||
        PyUnicode_CheckExact(value) || PyBool_Check(value) || PyBytes_CheckExact(value) ||
        PyComplex_CheckExact(value))
        return true;
    if (PyTuple_CheckExact(value)) {
        if (depth >= max_compare_depth) return false;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i)
            if (!is_comparable_at(PyTuple_GET_ITEM(value, i), depth + 1)) return false;
        return true;
    }
    return tag_of(leaf_token(value).word) == Tag::scalar;
}

}  // namespace

bool is_comparable(PyObject *value) { return is_comparable_at(value, 0); }

bool same_value(PyObject *left, PyObject *right) {
    if (left == right) return true;  // both are immutable all the way down
    PyTypeObject *type = Py_TYPE(left);
    if (type != Py_TYPE(right)) return false;
    if (type == &PyFloat_Type)
        return same_double(PyFloat_AS_DOUBLE(left), PyFloat_AS_DOUBLE(right));
    if (type == &PyLong_Type || type == &PyBytes_Type)
        return PyObject_RichCompareBool(left, right, Py_EQ) == 1;
    if (type == &PyUnicode_Type) return PyUnicode_Compare(left, right) == 0;
    if (type == &PyComplex_Type) {
        const Py_complex a = PyComplex_AsCComplex(left);
        const Py_complex b = PyComplex_AsCComplex(right);
        return same_double(a.real, b.real) && same_double(a.imag, b.imag);
    }
    if (type == &PyTuple_Type) {
        const Py_ssize_t count = PyTuple_GET_SIZE(left);
        if (count != PyTuple_GET_SIZE(right)) return false;
        for (Py_ssize_t i = 0; i < count; ++i)
            if (!same_value(PyTuple_GET_ITEM(left, i), PyTuple_GET_ITEM(right, i))) return false;
        return true;
    }
    return tag_of(leaf_token(left).word) == Tag::scalar && same_scalar(left, right);
}

namespace {

bool parse_number(PyObject *number, std::size_t count, const char *what, Py_ssize_t *index) {
    *index = PyNumber_AsSsize_t(number, PyExc_OverflowError);
    if (*index == -1 && PyErr_Occurred()) return false;
    if (*index >= 0 && static_cast<std::size_t>(*index) < count) return true;
    PyErr_Format(PyExc_IndexError, "the call has no %s %zd", what, *index);
    return false;
}

// The leaf of the call that is this very object, if its identity is part of the key.
Py_ssize_t leaf_of(PyObject *object, const Signature &call) {
    for (PyObject *anchor : call.anchors)
        for (std::size_t i = 0; anchor == object && i < call.leaves.size(); ++i)
            if (call.leaves[i] == object) return static_cast<Py_ssize_t>(i);
    return -1;
}

PyObject *own_item_of(PyObject *instance, PyObject *key) {
    PyObject **dict = _PyObject_GetDictPtr(instance);
    return dict == nullptr || *dict == nullptr ? nullptr : PyDict_GetItemWithError(*dict, key);
}

}  // namespace

bool Fetch::parse(PyObject *where, PyObject *name, PyObject *how_text, const Signature &call,
                  std::size_t places) {
    if (!parse_how(how_text, &how, &root)) return false;
    if (root != Root::object) {
        const bool is_leaf = root == Root::leaf;
        if (!parse_number(where, is_leaf ? call.leaves.size() : places, is_leaf ? "leaf" : "place",
                          &number))
            return false;
    } else if (how == How::item && PyDict_Check(where)) {
        how = How::dict;
    }
    if (root == Root::object && !fits(how, where)) {
        PyErr_Format(PyExc_TypeError, "cannot fetch %R from a %s", how_text,
                     Py_TYPE(where)->tp_name);
        return false;
    }
    if (how == How::leaf)
        return parse_number(where == Py_None ? name : where, call.leaves.size(), "leaf", &index);
    if (how == How::item && (root == Root::object || PyLong_Check(name))) {
        index = PyNumber_AsSsize_t(name, PyExc_OverflowError);
        if (index == -1 && PyErr_Occurred()) return false;
    }
    if (root == Root::object && (number = leaf_of(where, call)) >= 0) root = Root::leaf;
    if (root == Root::object) {
        Py_INCREF(where);
        container = where;
    }
    if ((how == How::attr || how == How::own) && !PyUnicode_Check(name)) {
        PyErr_SetString(PyExc_TypeError, "attribute names are strings");
        return false;
    }
    Py_INCREF(name);
    key = name;
    if (PyUnicode_CheckExact(key)) PyUnicode_InternInPlace(&key);
    if (how == How::attr && PyUnicode_CompareWithASCIIString(key, "__code__") == 0)
        how = How::code;
    return true;
}

Found Fetch::fetch(const Sources &sources, PyObject **value) const {
    PyObject *where = container;
    if (root == Root::leaf) where = sources.leaves[number];
    if (root == Root::place) where = sources.places[number];
    if (root != Root::object && !fits(how, where) &&
        !(how == How::item && PyDict_CheckExact(where)))
        return Found::no;
    switch (how) {
        case How::dict: return give(PyDict_GetItemWithError(where, key), value);
        case How::own: return give(own_item_of(where, key), value);
        case How::cell: return give(PyCell_GET(where), value);
        case How::item:
            if (PyDict_CheckExact(where)) return give(PyDict_GetItemWithError(where, key), value);
            return PyLong_Check(key) ? give(item_of(where, index), value) : Found::no;
        case How::object: return give(where, value);
        case How::leaf: return give(sources.leaves[index], value);
        case How::length: *value = length_of(where); break;
        case How::keys: *value = keys_of(where); break;
        case How::code:
            if (PyFunction_Check(where)) return give(PyFunction_GET_CODE(where), value);
            [[fallthrough]];
        case How::attr: *value = PyObject_GetAttr(where, key); break;
    }
    return *value == nullptr ? not_found() : Found::yes;
}

int Fetch::visit(visitproc visit, void *arg) const {
    Py_VISIT(container);
    Py_VISIT(key);
    return 0;
}

void Fetch::release() {
    Py_CLEAR(container);
    Py_CLEAR(key);
}

Found Places::add(const Fetch &place, PyObject *const *leaves) {
    PyObject *value = nullptr;
    const Found found = place.fetch({leaves, values_.data()}, &value);
    if (found == Found::yes) values_.push_back(value);
    return found;
}

Found Places::look_up(const std::vector<Fetch> &places, PyObject *const *leaves) {
    for (const Fetch &place : places) {
        const Found found = add(place, leaves);
        if (found != Found::yes) return found;
    }
    return Found::yes;
}

namespace {

bool parse_fetch(PyObject *item, const Signature &call, std::size_t places, Fetch *fetch) {
    PyObject *container, *key, *how;
    if (PyTuple_Check(item) && PyTuple_GET_SIZE(item) == 3) {
        container = PyTuple_GET_ITEM(item, 0);
        key = PyTuple_GET_ITEM(item, 1);
        how = PyTuple_GET_ITEM(item, 2);
        return fetch->parse(container, key, how, call, places);
    }
    PyErr_SetString(PyExc_TypeError, "a capture or place is a tuple (container, key, how)");
    return false;
}

bool raise_missing(Found found, const Fetch &fetch) {
    if (found == Found::no)
        PyErr_Format(PyExc_LookupError, "the captured value %R is no longer there",
                     fetch.key == nullptr ? Py_None : fetch.key);
    return false;
}

}  // namespace

bool parse_place(PyObject *item, const Signature &call, Places *places, Fetch *place) {
    if (!parse_fetch(item, call, places->size(), place)) return false;
    const Found found = places->add(*place, call.leaves.data());
    return found == Found::yes || raise_missing(found, *place);
}

bool parse_capture(PyObject *item, const Signature &call, const Places &places, Capture *capture) {
    if (!parse_fetch(item, call, places.size(), &capture->from)) return false;
    PyObject *value = nullptr;
    const Found found = capture->from.fetch({call.leaves.data(), places.data()}, &value);
    if (found != Found::yes) return raise_missing(found, capture->from);
    capture->token = leaf_token(value);
    const bool good = input_dtype(capture->token) >= 0;
    if (!good)
        PyErr_Format(PyExc_TypeError, "the captured %R is a %s, not a numeric array or number",
                     capture->from.key == nullptr ? Py_None : capture->from.key,
                     Py_TYPE(value)->tp_name);
    Py_DECREF(value);
    return good;
}

namespace {

struct TestName {
    const char *name;
    Test test;
};
constexpr TestName test_names[] = {
    {"is", Test::is},     {"equal", Test::equal}, {"absent", Test::absent},
    {"type", Test::type}, {"weak", Test::weak},   {"apart", Test::apart},
};

bool parse_test(const char *text, How how, PyObject *expected, Test *test) {
    for (const TestName &row : test_names) {
        if (std::strcmp(text, row.name) != 0) continue;
        *test = row.test;
        // Keys that are no plain values compare by identity.
        if (row.test != Test::equal ||
            (how == How::keys ? PyTuple_CheckExact(expected) : is_comparable(expected)))
            return true;
        PyErr_Format(PyExc_TypeError, "a %s cannot be guarded by equality",
                     Py_TYPE(expected)->tp_name);
        return false;
    }
    PyErr_Format(PyExc_ValueError, "unknown test of a guard: '%s'", text);
    return false;
}

}  // namespace

bool parse_guard(PyObject *item, const Signature &call, const Places &places, Guard *guard) {
    PyObject *container;
    PyObject *key;
    PyObject *how;
    PyObject *expected;
    const char *test;
    if (!PyTuple_Check(item)) {
        PyErr_SetString(PyExc_TypeError,
                        "a guard is a tuple (container, key, how, expected, test)");
        return false;
    }
    if (!PyArg_ParseTuple(item, "OOOOs;a guard is (container, key, how, expected, test)",
                          &container, &key, &how, &expected, &test))
        return false;
    if (!guard->from.parse(container, key, how, call, places.size()) ||
        !parse_test(test, guard->from.how, expected, &guard->test))
        return false;
    if (guard->test == Test::weak && !PyWeakref_CheckRef(expected)) {
        guard->expected = PyWeakref_NewRef(expected, nullptr);
        if (guard->expected != nullptr) return true;
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
        PyErr_Clear();
        guard->test = Test::is;
    }
    Py_ssize_t leaf;
    if (guard->test == Test::apart &&
        !parse_number(expected, call.leaves.size(), "leaf", &leaf))
        return false;
    Py_INCREF(expected);
    guard->expected = expected;
    return true;
}

Found check_capture(const Capture &capture, const Sources &sources, PyObject **value) {
    const Found found = capture.from.fetch(sources, value);
    if (found != Found::yes || leaf_token(*value) == capture.token) return found;
    Py_CLEAR(*value);
    return Found::no;
}

namespace {

#if PY_VERSION_HEX < 0x030D0000
std::uint64_t version_of(PyObject *dict) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return reinterpret_cast<PyDictObject *>(dict)->ma_version_tag;
#pragma GCC diagnostic pop
}

std::uint64_t version_of(PyTypeObject *type) {
    return PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG) ? type->tp_version_tag : 0;
}
#else
std::uint64_t version_of(PyObject *) { return 0; }
std::uint64_t version_of(PyTypeObject *) { return 0; }
#endif

// Is getattr(container, key) a look-up in the dicts of a class and its bases, and nothing more?
bool is_class_look_up(PyObject *container, PyObject *key) {
    if (!PyType_CheckExact(container) || _PyType_Lookup(&PyType_Type, key) != nullptr) return false;
    PyObject *found = _PyType_Lookup(reinterpret_cast<PyTypeObject *>(container), key);
    return found != nullptr &&
           (PyFunction_Check(found) || Py_TYPE(found)->tp_descr_get == nullptr);
}

bool holds_for(const Guard &guard, PyObject *value, const Sources &sources) {
    switch (guard.test) {
        case Test::apart: return value != sources.leaves[PyLong_AsSsize_t(guard.expected)];
        case Test::is: return value == guard.expected;
        case Test::equal: return same_value(value, guard.expected);
        case Test::type: return reinterpret_cast<PyObject *>(Py_TYPE(value)) == guard.expected;
        case Test::weak: return weak_referent(guard.expected) == value;
        default: return false;
    }
}

Found test_guard(const Guard &guard, const Sources &sources) {
    PyObject *value = nullptr;
    const Found found = guard.from.fetch(sources, &value);
    if (guard.test == Test::absent && found != Found::error) {
        Py_XDECREF(value);
        return found == Found::no ? Found::yes : Found::no;
    }
    if (found != Found::yes) return found;
    const bool holds = holds_for(guard, value, sources);
    Py_DECREF(value);
    return holds ? Found::yes : Found::no;
}

}  // namespace

Found check_guard(const Guard &guard, const Sources &sources) {
    PyObject *container = guard.from.container;
    const How how = guard.from.how;
    const bool of_class =
        how == How::attr && container != nullptr && PyType_CheckExact(container);
    if (container == nullptr || guard.test == Test::apart ||
        (how != How::dict && how != How::keys && !of_class))
        return test_guard(guard, sources);
    const std::uint64_t version = of_class ? version_of(reinterpret_cast<PyTypeObject *>(container))
                                           : version_of(container);
    if (version != 0 && version == guard.version) return Found::yes;
    const Found found = test_guard(guard, sources);
    // Remember the version from before the look-up: looking can, with odd keys, run Python code.
    if (found == Found::yes && (!of_class || is_class_look_up(container, guard.from.key)))
        guard.version = version;
    return found;
}

bool guard_is_alive(const Guard &guard) {
    if (guard.test != Test::weak) return true;
    PyObject *object = weak_referent(guard.expected);
    return object != nullptr && object != Py_None;
}

}  // namespace jitwise::dispatch
