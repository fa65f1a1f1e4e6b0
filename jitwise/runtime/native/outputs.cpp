#include "outputs.h"

#include <cstring>

#include "dispatch_numpy.h"

namespace jitwise::dispatch {

namespace {

struct KindName {
    const char *name;
    Recipe::Kind kind;
};
constexpr KindName kind_names[] = {
    {"array", Recipe::Kind::array},      {"scalar", Recipe::Kind::scalar},
    {"float", Recipe::Kind::floating},   {"int", Recipe::Kind::integer},
    {"bool", Recipe::Kind::boolean},     {"complex", Recipe::Kind::complex},
    {"either", Recipe::Kind::either},    {"const", Recipe::Kind::constant},
    {"leaf", Recipe::Kind::leaf},
    {"capture", Recipe::Kind::capture},  {"argument", Recipe::Kind::argument},
    {"tuple", Recipe::Kind::tuple},      {"list", Recipe::Kind::list},
    {"dict", Recipe::Kind::dict},        {"call", Recipe::Kind::call},
};

bool parse_kind(PyObject *text, Recipe::Kind *kind) {
    if (PyUnicode_Check(text))
        for (const KindName &row : kind_names)
            if (PyUnicode_CompareWithASCIIString(text, row.name) == 0) {
                *kind = row.kind;
                return true;
            }
    PyErr_Format(PyExc_ValueError, "unknown output recipe: %R", text);
    return false;
}

bool parse_index(PyObject *number, std::size_t count, const char *what, std::size_t *index) {
    const Py_ssize_t value = PyNumber_AsSsize_t(number, PyExc_OverflowError);
    if (value == -1 && PyErr_Occurred()) return false;
    if (value < 0 || static_cast<std::size_t>(value) >= count) {
        PyErr_Format(PyExc_IndexError, "there is no %s %zd", what, value);
        return false;
    }
    *index = static_cast<std::size_t>(value);
    return true;
}

bool parse_parts(PyObject *list, const Counts &counts, Recipe *recipe) {
    PyObject *items = PySequence_Fast(list, "the parts of an output recipe are a sequence");
    if (items == nullptr) return false;
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
    bool good = true;
    for (Py_ssize_t i = 0; good && i < count; ++i) {
        PyObject *part = PySequence_Fast_GET_ITEM(items, i);
        if (recipe->kind == Recipe::Kind::dict) {
            PyObject *key;
            good = PyTuple_Check(part)
                       ? PyArg_ParseTuple(part, "OO;a dict recipe has (key, recipe) pairs", &key,
                                          &part) != 0
                       : (PyErr_SetString(PyExc_TypeError, "a dict recipe has (key, recipe) pairs"),
                          false);
            if (!good) break;
            Py_INCREF(key);
            recipe->keys.push_back(key);
        }
        recipe->parts.emplace_back();
        good = parse_recipe(part, counts, &recipe->parts.back());
        recipe->is_of_call |= recipe->parts.back().is_of_call;
    }
    Py_DECREF(items);
    return good;
}

bool parse_argument(PyObject *item, const Counts &counts, Recipe *recipe) {
    PyObject *kind, *place, *path;
    if (!PyArg_ParseTuple(item, "OOO!;an argument recipe is ('argument', place, keys)", &kind,
                          &place, &PyTuple_Type, &path) ||
        !parse_index(place, counts.arguments, "argument", &recipe->index))
        return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(path); ++i) {
        Py_INCREF(PyTuple_GET_ITEM(path, i));
        recipe->keys.push_back(PyTuple_GET_ITEM(path, i));
    }
    return recipe->is_of_call = true;
}

// The item of a tuple, list or dict, or the field of a dataclass instance.
PyObject *item_at(PyObject *holder, PyObject *key) {
    if (PyTuple_Check(holder) || PyList_Check(holder) || PyDict_Check(holder))
        return PyObject_GetItem(holder, key);
    return PyObject_GetAttr(holder, key);
}

PyObject *argument_of(const Recipe &recipe, const Named &named) {
    PyObject *found = named.arguments[recipe.index];
    Py_INCREF(found);
    for (PyObject *key : recipe.keys) {
        PyObject *holder = found;
        found = item_at(holder, key);
        Py_DECREF(holder);
        if (found == nullptr) break;
    }
    return found;
}

PyObject *number_of(const Result &result, Recipe::Kind kind) {
    // A rank-0 result of any dtype, as the Python number asked for.
    const char *data = result.array == nullptr
                           ? result.value
                           : PyArray_BYTES(reinterpret_cast<PyArrayObject *>(result.array));
    if (kind == Recipe::Kind::floating && result.dtype_num == NPY_DOUBLE) {
        double value;
        std::memcpy(&value, data, sizeof value);
        return PyFloat_FromDouble(value);
    }
    if (kind == Recipe::Kind::integer && result.dtype_num == NPY_INT64) {
        npy_int64 value;
        std::memcpy(&value, data, sizeof value);
        return PyLong_FromLongLong(value);
    }
    if (kind == Recipe::Kind::boolean && result.dtype_num == NPY_BOOL)
        return PyBool_FromLong(*data != 0);
    if (kind == Recipe::Kind::scalar && result.dtype_num == NPY_DOUBLE) {
        PyObject *scalar = PyArrayScalar_New(Double);
        if (scalar != nullptr) std::memcpy(&PyArrayScalar_VAL(scalar, Double), data, sizeof(double));
        return scalar;
    }
    PyArray_Descr *descr = PyArray_DescrFromType(result.dtype_num);
    if (descr == nullptr) return nullptr;
    PyObject *scalar = PyArray_Scalar(const_cast<char *>(data), descr, nullptr);
    Py_DECREF(descr);
    if (scalar == nullptr || kind == Recipe::Kind::scalar) return scalar;
    PyTypeObject *type = kind == Recipe::Kind::floating  ? &PyFloat_Type
                         : kind == Recipe::Kind::integer ? &PyLong_Type
                         : kind == Recipe::Kind::boolean ? &PyBool_Type
                                                         : &PyComplex_Type;
    PyObject *number = PyObject_CallOneArg(reinterpret_cast<PyObject *>(type), scalar);
    Py_DECREF(scalar);
    return number;
}

// A number of rank 0, which is an int or bool (0), a float (1) or a NumPy scalar (2) by an int8.
PyObject *either_of(const Result &result, const Result &which) {
    const char *code = which.array == nullptr
                           ? which.value
                           : PyArray_BYTES(reinterpret_cast<PyArrayObject *>(which.array));
    const bool is_bool = result.dtype_num == NPY_BOOL;
    return number_of(result, *code == 2   ? Recipe::Kind::scalar
                             : *code == 1 ? Recipe::Kind::floating
                             : is_bool    ? Recipe::Kind::boolean
                                          : Recipe::Kind::integer);
}

PyObject *array_of(const Result &result) {
    if (result.array != nullptr) {
        Py_INCREF(result.array);
        return result.array;
    }
    PyArray_Descr *descr = PyArray_DescrFromType(result.dtype_num);
    if (descr == nullptr) return nullptr;
    const std::size_t size = static_cast<std::size_t>(PyDataType_ELSIZE(descr));
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, descr, 0, nullptr, nullptr, nullptr, 0,
                                           nullptr);
    if (array != nullptr)
        std::memcpy(PyArray_DATA(reinterpret_cast<PyArrayObject *>(array)), result.value, size);
    return array;
}

PyObject *sequence_of(const Recipe &recipe, const Named &named) {
    const bool as_list = recipe.kind == Recipe::Kind::list;
    const auto count = static_cast<Py_ssize_t>(recipe.parts.size());
    PyObject *sequence = as_list ? PyList_New(count) : PyTuple_New(count);
    if (sequence == nullptr) return nullptr;
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject *part = build_output(recipe.parts[static_cast<std::size_t>(i)], named);
        if (part == nullptr) {
            Py_DECREF(sequence);
            return nullptr;
        }
        if (as_list)
            PyList_SET_ITEM(sequence, i, part);
        else
            PyTuple_SET_ITEM(sequence, i, part);
    }
    return sequence;
}

PyObject *dict_of(const Recipe &recipe, const Named &named) {
    PyObject *dict = PyDict_New();
    if (dict == nullptr) return nullptr;
    for (std::size_t i = 0; i < recipe.parts.size(); ++i) {
        PyObject *part = build_output(recipe.parts[i], named);
        const bool stored = part != nullptr && PyDict_SetItem(dict, recipe.keys[i], part) == 0;
        Py_XDECREF(part);
        if (!stored) {
            Py_DECREF(dict);
            return nullptr;
        }
    }
    return dict;
}

}  // namespace

bool parse_recipe(PyObject *item, const Counts &counts, Recipe *recipe) {
    if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) < 2) {
        PyErr_Format(PyExc_TypeError, "an output recipe is a tuple, not %R", item);
        return false;
    }
    if (!parse_kind(PyTuple_GET_ITEM(item, 0), &recipe->kind)) return false;
    PyObject *first = PyTuple_GET_ITEM(item, 1);
    if (recipe->kind == Recipe::Kind::leaf)
        return parse_index(first, counts.leaves, "leaf", &recipe->index);
    if (recipe->kind == Recipe::Kind::capture)
        return parse_index(first, counts.captures, "capture", &recipe->index);
    if (recipe->kind == Recipe::Kind::either)
        return PyTuple_GET_SIZE(item) == 3 &&
               parse_index(first, counts.results, "result", &recipe->index) &&
               parse_index(PyTuple_GET_ITEM(item, 2), counts.results, "result", &recipe->which);
    if (recipe->kind == Recipe::Kind::argument) return parse_argument(item, counts, recipe);
    if (recipe->kind < Recipe::Kind::constant)
        return parse_index(first, counts.results, "result", &recipe->index);
    const bool is_call = recipe->kind == Recipe::Kind::call;
    if (recipe->kind == Recipe::Kind::constant || is_call) {
        Py_INCREF(first);
        recipe->object = first;
        if (!is_call) return true;
        if (PyTuple_GET_SIZE(item) != 3 || !PyCallable_Check(first)) {
            PyErr_SetString(PyExc_TypeError, "a call recipe is ('call', callable, parts)");
            return false;
        }
        first = PyTuple_GET_ITEM(item, 2);
    }
    if (Py_EnterRecursiveCall(" in an output recipe")) return false;
    const bool good = parse_parts(first, counts, recipe);
    Py_LeaveRecursiveCall();
    return good;
}

PyObject *build_output(const Recipe &recipe, const Named &named) {
    switch (recipe.kind) {
        case Recipe::Kind::array: return array_of(named.results[recipe.index]);
        case Recipe::Kind::either:
            return either_of(named.results[recipe.index], named.results[recipe.which]);
        case Recipe::Kind::constant: Py_INCREF(recipe.object); return recipe.object;
        case Recipe::Kind::leaf: {
            PyObject *leaf = named.leaves[recipe.index];
            Py_INCREF(leaf);
            return leaf;
        }
        case Recipe::Kind::capture: {
            PyObject *capture = named.captures[recipe.index];
            Py_INCREF(capture);
            return capture;
        }
        case Recipe::Kind::argument: return argument_of(recipe, named);
        case Recipe::Kind::tuple:
        case Recipe::Kind::list: return sequence_of(recipe, named);
        case Recipe::Kind::dict: return dict_of(recipe, named);
        case Recipe::Kind::call: {
            PyObject *arguments = sequence_of(recipe, named);
            if (arguments == nullptr) return nullptr;
            PyObject *value = PyObject_CallObject(recipe.object, arguments);
            Py_DECREF(arguments);
            return value;
        }
        default: return number_of(named.results[recipe.index], recipe.kind);
    }
}

int Recipe::visit(visitproc visit, void *arg) const {
    Py_VISIT(object);
    for (PyObject *key : keys) Py_VISIT(key);
    for (const Recipe &part : parts) {
        const int code = part.visit(visit, arg);
        if (code != 0) return code;
    }
    return 0;
}

void Recipe::release() {
    Py_CLEAR(object);
    for (PyObject *&key : keys) Py_CLEAR(key);
    for (Recipe &part : parts) part.release();
}

}  // namespace jitwise::dispatch
