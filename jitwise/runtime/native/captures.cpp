#include "captures.h"

#include <cstring>

#include "dispatch_numpy.h"

namespace jitwise::dispatch {

namespace {

constexpr int max_compare_depth = 16;

struct HowName {
    const char *name;
    How how;
};
constexpr HowName how_names[] = {
    {"dict", How::dict},     {"cell", How::cell}, {"attr", How::attr},     {"item", How::item},
    {"length", How::length}, {"keys", How::keys}, {"object", How::object}, {"leaf", How::leaf},
};

bool parse_how(PyObject *text, How *how) {
    if (PyUnicode_Check(text))
        for (const HowName &row : how_names)
            if (PyUnicode_CompareWithASCIIString(text, row.name) == 0) {
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
        case How::item: return PyList_CheckExact(container) || PyTuple_CheckExact(container);
        case How::length:
            return PyList_CheckExact(container) || PyTuple_CheckExact(container) ||
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

bool Fetch::parse(PyObject *where, PyObject *name, PyObject *how_text, const Signature &call) {
    if (!parse_how(how_text, &how)) return false;
    if (how == How::item && PyDict_Check(where)) how = How::dict;
    if (!fits(how, where)) {
        PyErr_Format(PyExc_TypeError, "cannot fetch %R from a %s", how_text,
                     Py_TYPE(where)->tp_name);
        return false;
    }
    PyObject *number = nullptr;
    if (how == How::leaf) number = where == Py_None ? name : where;
    if (how == How::item) number = name;
    if (number != nullptr) {
        index = PyNumber_AsSsize_t(number, PyExc_OverflowError);
        if (index == -1 && PyErr_Occurred()) return false;
        if (how == How::leaf && (index < 0 || (size_t)index >= call.leaves.size())) {
            PyErr_Format(PyExc_IndexError, "the call has no leaf %zd", index);
            return false;
        }
        if (how == How::leaf) return true;
    }
    for (PyObject *anchor : call.anchors)
        for (std::size_t i = 0; anchor == where && i < call.leaves.size(); ++i)
            if (call.leaves[i] == where) container_leaf = static_cast<Py_ssize_t>(i);
    if (container_leaf < 0) {
        Py_INCREF(where);
        container = where;
    }
    if (how != How::dict && how != How::attr) return true;
    if (how == How::attr && !PyUnicode_Check(name)) {
        PyErr_SetString(PyExc_TypeError, "attribute names are strings");
        return false;
    }
    Py_INCREF(name);
    key = name;
    if (PyUnicode_CheckExact(key)) PyUnicode_InternInPlace(&key);
    return true;
}

Found Fetch::fetch(const Signature &call, PyObject **value) const {
    PyObject *where = container;
    if (container_leaf >= 0) where = call.leaves[static_cast<std::size_t>(container_leaf)];
    switch (how) {
        case How::dict: return give(PyDict_GetItemWithError(where, key), value);
        case How::cell: return give(PyCell_GET(where), value);
        case How::item: return give(item_of(where, index), value);
        case How::object: return give(where, value);
        case How::leaf: return give(call.leaves[static_cast<std::size_t>(index)], value);
        case How::length: *value = length_of(where); break;
        case How::keys: *value = keys_of(where); break;
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

bool parse_capture(PyObject *item, const Signature &call, Capture *capture) {
    PyObject *container;
    PyObject *key;
    PyObject *how;
    if (!PyTuple_Check(item)) {
        PyErr_SetString(PyExc_TypeError, "a capture is a tuple (container, key, how)");
        return false;
    }
    if (!PyArg_ParseTuple(item, "OOO;a capture is (container, key, how)", &container, &key, &how))
        return false;
    if (!capture->from.parse(container, key, how, call)) return false;
    PyObject *value = nullptr;
    const Found found = capture->from.fetch(call, &value);
    if (found == Found::error) return false;
    if (found == Found::no) {
        PyErr_Format(PyExc_LookupError, "the captured value %R is no longer there", key);
        return false;
    }
    capture->token = leaf_token(value);
    if (input_dtype(capture->token) < 0) {
        PyErr_Format(PyExc_TypeError, "the captured %R is a %s, not a numeric array or number", key,
                     Py_TYPE(value)->tp_name);
        Py_DECREF(value);
        return false;
    }
    Py_DECREF(value);
    return true;
}

bool parse_guard(PyObject *item, const Signature &call, Guard *guard) {
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
    if (!guard->from.parse(container, key, how, call)) return false;
    if (std::strcmp(test, "is") == 0) {
        guard->test = Test::is;
    } else if (std::strcmp(test, "absent") == 0) {
        guard->test = Test::absent;
    } else if (std::strcmp(test, "equal") == 0) {
        guard->test = Test::equal;
        // Keys that are no plain values compare by identity.
        if (guard->from.how == How::keys ? !PyTuple_CheckExact(expected)
                                         : !is_comparable(expected)) {
            PyErr_Format(PyExc_TypeError, "a %s cannot be guarded by equality",
                         Py_TYPE(expected)->tp_name);
            return false;
        }
    } else {
        PyErr_Format(PyExc_ValueError, "unknown test of a guard: '%s'", test);
        return false;
    }
    Py_INCREF(expected);
    guard->expected = expected;
    return true;
}

Found check_capture(const Capture &capture, const Signature &call, PyObject **value) {
    const Found found = capture.from.fetch(call, value);
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
#else
std::uint64_t version_of(PyObject *) { return 0; }
#endif

Found test_guard(const Guard &guard, const Signature &call) {
    PyObject *value = nullptr;
    const Found found = guard.from.fetch(call, &value);
    if (guard.test == Test::absent && found != Found::error) {
        Py_XDECREF(value);
        return found == Found::no ? Found::yes : Found::no;
    }
    if (found != Found::yes) return found;
    const bool holds = value == guard.expected ||
                       (guard.test == Test::equal && same_value(value, guard.expected));
    Py_DECREF(value);
    return holds ? Found::yes : Found::no;
}

}  // namespace

Found check_guard(const Guard &guard, const Signature &call) {
    const How how = guard.from.how;
    if ((how != How::dict && how != How::keys) || guard.from.container == nullptr)
        return test_guard(guard, call);
    const std::uint64_t version = version_of(guard.from.container);
    if (version != 0 && version == guard.version) return Found::yes;
    const Found found = test_guard(guard, call);
    // Remember the version from before the look-up: looking can, with odd keys, run Python code.
    if (found == Found::yes) guard.version = version;
    return found;
}

}  // namespace jitwise::dispatch
