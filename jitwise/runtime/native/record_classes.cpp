#include "record_classes.h"

#include <structmember.h>

#include <cstdint>
#include <unordered_map>

#include "weak_reference.h"

namespace jitwise::dispatch {

namespace {

constexpr std::size_t most_classes = 4096;  // instances of further ones are objects like others

PyObject *fields_attribute;
PyObject *field_type_attribute;
PyObject *name_attribute;
PyObject *tuple_fields_attribute;

struct Known {
    PyObject *reference;  // a weak one: the class has not died and given its address to another
    PyObject *names;      // a tuple, or null when instances are not to be taken apart
};

// By class address.
std::unordered_map<PyTypeObject *, Known> &known_classes() {
    static auto *classes = new std::unordered_map<PyTypeObject *, Known>();
    return *classes;
}

// Classes known not to be dataclasses, with the version they had: a change of the class or a base, or
// a new class at the address, has another. Most objects that are passed are `self`, again and again.
struct Plain {
    PyTypeObject *type;
    unsigned int version;
};
Plain plain_classes[64];

Plain &plain_slot(PyTypeObject *type) {
    return plain_classes[(reinterpret_cast<std::uintptr_t>(type) * 0x9E3779B97F4A7C15ull) >> 58];
}

// 0: the class has no version just now.
unsigned int version_of(PyTypeObject *type) {
    return PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG) ? type->tp_version_tag : 0;
}

// What the class or its bases have under the name; borrowed, no descriptor is called.
PyObject *class_attribute(PyTypeObject *type, PyObject *name) {
    PyObject *bases = type->tp_mro;
    if (bases == nullptr) return nullptr;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(bases); ++i) {
        auto *base = reinterpret_cast<PyTypeObject *>(PyTuple_GET_ITEM(bases, i));
        if (!PyType_HasFeature(base, Py_TPFLAGS_HEAPTYPE) || base->tp_dict == nullptr) continue;
        PyObject *value = PyDict_GetItemWithError(base->tp_dict, name);
        if (value != nullptr) return value;
    }
    return nullptr;
}

bool is_made_of_fields_only(PyTypeObject *type) {
    if (type->tp_getattro != PyObject_GenericGetAttr) return false;
    PyObject *bases = type->tp_mro;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(bases); ++i) {
        auto *base = reinterpret_cast<PyTypeObject *>(PyTuple_GET_ITEM(bases, i));
        if (base != &PyBaseObject_Type && !PyType_HasFeature(base, Py_TPFLAGS_HEAPTYPE))
            return false;
    }
    return true;
}

// 1: an ordinary field; 0: a ClassVar or InitVar; -1: something else, no exception is left.
int is_ordinary(PyObject *field) {
    PyObject *kind = PyObject_GetAttr(field, field_type_attribute);
    PyObject *name = kind == nullptr ? nullptr : PyObject_GetAttr(kind, name_attribute);
    int ordinary = -1;
    if (name != nullptr && PyUnicode_CheckExact(name))
        ordinary = PyUnicode_CompareWithASCIIString(name, "_FIELD") == 0;
    Py_XDECREF(kind);
    Py_XDECREF(name);
    PyErr_Clear();
    return ordinary;
}

bool is_property(PyTypeObject *type, PyObject *name) {
    PyObject *value = class_attribute(type, name);
    if (value == nullptr || Py_TYPE(value) == &PyMemberDescr_Type) return false;
    return Py_TYPE(value)->tp_descr_get != nullptr && Py_TYPE(value)->tp_descr_set != nullptr;
}

PyObject *names_of(PyTypeObject *type, PyObject *fields) {
    if (!is_made_of_fields_only(type)) return nullptr;
    PyObject *list = PyList_New(0);
    Py_ssize_t position = 0;
    PyObject *name;
    PyObject *field;
    while (list != nullptr && PyDict_Next(fields, &position, &name, &field)) {
        const int ordinary = is_ordinary(field);
        if (ordinary == 0) continue;
        if (ordinary < 0 || !PyUnicode_CheckExact(name) || is_property(type, name) ||
            PyList_Append(list, name) != 0)
            Py_CLEAR(list);
    }
    PyObject *names = list == nullptr ? nullptr : PyList_AsTuple(list);
    Py_XDECREF(list);
    PyErr_Clear();
    return names;
}

PyObject *names_of_fields(PyTypeObject *type) {
    PyObject *fields = class_attribute(type, fields_attribute);
    if (fields == nullptr || !PyDict_CheckExact(fields)) return nullptr;
    auto &classes = known_classes();
    const auto found = classes.find(type);
    if (found != classes.end()) {
        if (weak_referent(found->second.reference) == reinterpret_cast<PyObject *>(type))
            return found->second.names;
        Py_DECREF(found->second.reference);
        Py_XDECREF(found->second.names);
        classes.erase(found);
    }
    if (classes.size() >= most_classes) return nullptr;
    PyObject *reference = PyWeakref_NewRef(reinterpret_cast<PyObject *>(type), nullptr);
    if (reference == nullptr) {
        PyErr_Clear();
        return nullptr;
    }
    PyObject *names = names_of(type, fields);
    classes.emplace(type, Known{reference, names});
    return names;
}

// A slot's value, borrowed from the instance.
PyObject *slot_value(PyObject *instance, PyObject *name) {
    PyTypeObject *type = Py_TYPE(instance);
    PyObject *member = class_attribute(type, name);
    if (member == nullptr || Py_TYPE(member) != &PyMemberDescr_Type) return nullptr;
    PyObject *value = PyMemberDescr_Type.tp_descr_get(member, instance,
                                                      reinterpret_cast<PyObject *>(type));
    if (value == nullptr) PyErr_Clear();
    Py_XDECREF(value);
    return value;
}

}  // namespace

bool dataclass_values(PyObject *instance, InlineVector<PyObject *, 16> *values) {
    PyTypeObject *type = Py_TYPE(instance);
    if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) return false;
    const unsigned int version = version_of(type);
    Plain &plain = plain_slot(type);
    if (version != 0 && plain.type == type && plain.version == version) return false;
    PyObject *names = names_of_fields(type);
    if (names == nullptr) {
        plain = {type, version};
        return false;
    }
    PyObject *dict = nullptr;
    if (type->tp_dictoffset != 0) {
        dict = PyObject_GenericGetDict(instance, nullptr);
        if (dict == nullptr) {
            PyErr_Clear();
            return false;
        }
        Py_DECREF(dict);  // the instance holds it
    }
    Py_ssize_t in_dict = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        PyObject *value = dict == nullptr ? nullptr : PyDict_GetItemWithError(dict, name);
        if (value != nullptr)
            ++in_dict;
        else
            value = slot_value(instance, name);
        if (value == nullptr) return false;
        values->push_back(value);
    }
    return dict == nullptr || in_dict == PyDict_GET_SIZE(dict);
}

bool is_named_tuple(PyTypeObject *type) {
    if (!PyType_HasFeature(type, Py_TPFLAGS_TUPLE_SUBCLASS)) return false;
    PyObject *fields = class_attribute(type, tuple_fields_attribute);
    return fields != nullptr && PyTuple_CheckExact(fields);
}

bool prepare_record_classes() {
    tuple_fields_attribute = PyUnicode_InternFromString("_fields");
    fields_attribute = PyUnicode_InternFromString("__dataclass_fields__");
    field_type_attribute = PyUnicode_InternFromString("_field_type");
    name_attribute = PyUnicode_InternFromString("name");
    return tuple_fields_attribute != nullptr && fields_attribute != nullptr &&
           field_type_attribute != nullptr && name_attribute != nullptr;
}

}  // namespace jitwise::dispatch
