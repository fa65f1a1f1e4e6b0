#include "signature.h"

#include <cstring>

#include "dispatch_numpy.h"
#include "record_classes.h"

namespace jitwise::dispatch {

namespace {

constexpr std::uint64_t word_of(Tag tag, std::uint64_t rest = 0) {
    return static_cast<std::uint64_t>(tag) | (rest << 8);
}

std::uint64_t address_word(const void *pointer) {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
}

// Type of a NumPy scalar -> its dtype number. Filled once; open addressing on the type's address.
struct ScalarTypes {
    static constexpr std::size_t capacity = 128;
    PyTypeObject *types[capacity];
    int dtypes[capacity];

    static std::size_t slot_of(PyTypeObject *type) {
        return (reinterpret_cast<std::uintptr_t>(type) * 0x9E3779B97F4A7C15ull) >> 57;
    }
    void insert(PyTypeObject *type, int dtype) {
        std::size_t slot = slot_of(type);
        while (types[slot] != nullptr && types[slot] != type) slot = (slot + 1) % capacity;
        types[slot] = type;
        dtypes[slot] = dtype;
    }
    int find(PyTypeObject *type) const {
        std::size_t slot = slot_of(type);
        for (; types[slot] != nullptr; slot = (slot + 1) % capacity)
            if (types[slot] == type) return dtypes[slot];
        return -1;
    }
};

ScalarTypes scalar_types;

LeafToken array_token(PyArrayObject *array) {
    PyArray_Descr *descr = PyArray_DESCR(array);
    const int rank = PyArray_NDIM(array);
    const auto dtype = static_cast<std::uint16_t>(canonical_dtype(descr->type_num));
    const std::uint64_t swapped = !PyArray_ISNBO(descr->byteorder);
    return {static_cast<std::uint64_t>(Tag::array) | static_cast<std::uint64_t>(dtype) << 8 |
            swapped << 24 | static_cast<std::uint64_t>(rank) << 32};
}

inline std::uint64_t number_word(PyTypeObject *type) {
    if (type == &PyFloat_Type) return word_of(Tag::number, (int)NumberKind::floating);
    if (type == &PyLong_Type) return word_of(Tag::number, (int)NumberKind::integer);
    if (type == &PyBool_Type) return word_of(Tag::number, (int)NumberKind::boolean);
    if (type == &PyComplex_Type) return word_of(Tag::number, (int)NumberKind::complex);
    return 0;
}

inline std::uint64_t scalar_word(PyTypeObject *type) {
    const int dtype = scalar_types.find(type);
    return dtype < 0 ? 0 : word_of(Tag::scalar, static_cast<std::uint64_t>(dtype));
}

bool names_type(PyObject *types, PyTypeObject *type) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(types); ++i)
        if (PyTuple_GET_ITEM(types, i) == reinterpret_cast<PyObject *>(type)) return true;
    return false;
}

}  // namespace

Signature::~Signature() {
    if (holding_)
        for (PyObject *leaf : leaves) Py_DECREF(leaf);
}

bool Signature::scan(PyObject *const *arguments, Py_ssize_t positional, PyObject *keywords,
                     PyObject *opaque_types) {
    args = arguments;
    count = positional;
    names = keywords;
    opaque_types_ = opaque_types;
    const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
    words.push_back(word_of(Tag::call, static_cast<std::uint64_t>(count) |
                                           static_cast<std::uint64_t>(named) << 28));
    for (Py_ssize_t i = 0; i < count; ++i)
        if (!scan_value(args[i], 0)) return false;
    for (Py_ssize_t i = 0; i < named; ++i) {
        append_text(PyTuple_GET_ITEM(names, i));
        if (!scan_value(args[count + i], 0)) return false;
    }
    if (nested_) {
        for (PyObject *leaf : leaves) Py_INCREF(leaf);
        holding_ = true;
    }
    return true;
}

bool Signature::scan_value(PyObject *value, int depth) {
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyArray_Type) {
        auto *array = reinterpret_cast<PyArrayObject *>(value);
        const LeafToken token = array_token(array);
        words.push_back(token.word);
        if (__builtin_expect(!is_numeric_dtype(dtype_of(token.word)), 0))
            words.push_back(static_cast<std::uint64_t>(PyArray_ITEMSIZE(array)));
        leaves.push_back(value);
        return true;
    }
    const std::uint64_t number = number_word(type);
    if (number != 0) {
        words.push_back(number);
        leaves.push_back(value);
        return true;
    }
    return scan_other(value, depth);
}

bool Signature::scan_other(PyObject *value, int depth) {
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyDict_Type) return scan_dict(value, depth);
    if (type == &PyTuple_Type)
        return scan_items(Tag::tuple, reinterpret_cast<PyTupleObject *>(value)->ob_item,
                          PyTuple_GET_SIZE(value), depth);
    if (type == &PyList_Type)
        return scan_items(Tag::list, reinterpret_cast<PyListObject *>(value)->ob_item,
                          PyList_GET_SIZE(value), depth);
    if (is_named_tuple(type)) {
        append_identity(Tag::named_tuple, reinterpret_cast<PyObject *>(type));
        return scan_items(Tag::tuple, reinterpret_cast<PyTupleObject *>(value)->ob_item,
                          PyTuple_GET_SIZE(value), depth);
    }
    const std::uint64_t scalar = scalar_word(type);
    if (scalar == 0 && PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
        InlineVector<PyObject *, 16> values;
        if (dataclass_values(value, &values))
            return scan_dataclass(reinterpret_cast<PyObject *>(type), values.data(), values.size(),
                                  depth);
    }
    leaves.push_back(value);
    if (scalar != 0) {
        words.push_back(scalar);
    } else if (value == Py_None) {
        words.push_back(word_of(Tag::none));
    } else if (type == &PyUnicode_Type) {
        append_text(value);
    } else if (type == &PyBytes_Type) {
        words.push_back(word_of(Tag::bytes, static_cast<std::uint64_t>(PyBytes_GET_SIZE(value))));
        append_bytes(PyBytes_AS_STRING(value), static_cast<std::size_t>(PyBytes_GET_SIZE(value)));
    } else if (opaque_types_ != nullptr && names_type(opaque_types_, type)) {
        append_identity(Tag::opaque, reinterpret_cast<PyObject *>(type));
    } else {
        append_identity(Tag::object, value);
        words.push_back(address_word(type));
    }
    return true;
}

bool Signature::scan_items(Tag tag, PyObject *const *items, Py_ssize_t count, int depth) {
    if (depth >= max_depth) return false;
    nested_ = true;
    words.push_back(word_of(tag, static_cast<std::uint64_t>(count)));
    for (Py_ssize_t i = 0; i < count; ++i)
        if (!scan_value(items[i], depth + 1)) return false;
    return true;
}

bool Signature::scan_dataclass(PyObject *type, PyObject *const *values, std::size_t count,
                               int depth) {
    append_identity(Tag::dataclass, type);
    return scan_items(Tag::tuple, values, static_cast<Py_ssize_t>(count), depth);
}

bool Signature::scan_dict(PyObject *value, int depth) {
    if (depth >= max_depth) return false;
    nested_ = true;
    words.push_back(word_of(Tag::dict, static_cast<std::uint64_t>(PyDict_GET_SIZE(value))));
    Py_ssize_t position = 0;
    PyObject *key;
    PyObject *item;
    while (PyDict_Next(value, &position, &key, &item))
        if (!scan_key(key, depth + 1) || !scan_value(item, depth + 1)) return false;
    return true;
}

// A dict key is part of the structure: its value is told apart, not only its kind.
bool Signature::scan_key(PyObject *key, int depth) {
    PyTypeObject *type = Py_TYPE(key);
    if (type == &PyUnicode_Type) {
        append_text(key);
        return true;
    }
    if (type == &PyTuple_Type) {
        if (depth >= max_depth) return false;
        const Py_ssize_t count = PyTuple_GET_SIZE(key);
        words.push_back(word_of(Tag::tuple_key, static_cast<std::uint64_t>(count)));
        for (Py_ssize_t i = 0; i < count; ++i)
            if (!scan_key(PyTuple_GET_ITEM(key, i), depth + 1)) return false;
        return true;
    }
    if (type == &PyBool_Type) {
        words.push_back(word_of(Tag::integer_key, key == Py_True ? 3 : 1));
        return true;
    }
    if (type == &PyLong_Type) {
        int overflow = 0;
        const long long value = PyLong_AsLongLongAndOverflow(key, &overflow);
        if (overflow == 0) {
            words.push_back(word_of(Tag::integer_key));
            words.push_back(static_cast<std::uint64_t>(value));
            return true;
        }
    }
    if (type == &PyFloat_Type) {
        const double value = PyFloat_AS_DOUBLE(key);
        words.push_back(word_of(Tag::float_key));
        append_bytes(&value, sizeof value);
        return true;
    }
    append_identity(Tag::object, key);
    words.push_back(address_word(type));
    return true;
}

void Signature::append_text(PyObject *text) {
    const auto length = static_cast<std::uint64_t>(PyUnicode_GET_LENGTH(text));
    const auto width = static_cast<std::uint64_t>(PyUnicode_KIND(text));
    words.push_back(word_of(Tag::text, width | length << 8));
    append_bytes(PyUnicode_DATA(text), length * width);
}

void Signature::append_bytes(const void *data, std::size_t size) {
    const char *source = static_cast<const char *>(data);
    for (std::size_t done = 0; done < size; done += 8) {
        std::uint64_t word = 0;
        const std::size_t part = size - done;
        if (part >= 8)
            std::memcpy(&word, source + done, 8);
        else
            std::memcpy(&word, source + done, part);
        words.push_back(word);
    }
}

void Signature::append_identity(Tag tag, PyObject *value) {
    words.push_back(word_of(tag));
    words.push_back(address_word(value));
    anchors.push_back(value);
}

std::uint64_t hash_words(const std::uint64_t *words, std::size_t count) {
    std::uint64_t hash = 0x243F6A8885A308D3ull ^ count;
    for (std::size_t i = 0; i < count; ++i) {
        hash = (hash ^ words[i]) * 0x9E3779B97F4A7C15ull;
        hash ^= hash >> 29;
    }
    return hash;
}

LeafToken leaf_token(PyObject *value) {
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyArray_Type) return array_token(reinterpret_cast<PyArrayObject *>(value));
    const std::uint64_t number = number_word(type);
    return {number != 0 ? number : scalar_word(type)};
}

int input_dtype(const LeafToken &token) {
    switch (tag_of(token.word)) {
        case Tag::array: {
            const int dtype = dtype_of(token.word);
            return is_numeric_dtype(dtype) ? dtype : -1;
        }
        case Tag::scalar: return dtype_of(token.word);
        case Tag::number: break;
        default: return -1;
    }
    switch (kind_of(token.word)) {
        case NumberKind::boolean: return NPY_BOOL;
        case NumberKind::integer: return NPY_INT64;
        case NumberKind::floating: return NPY_DOUBLE;
        default: return NPY_CDOUBLE;
    }
}

// Types of one size and kind under two C names are one dtype here.
int canonical_dtype(int type_num) {
    if (type_num < NPY_INT || type_num > NPY_ULONGLONG) return type_num;
    switch (type_num) {
        case NPY_INT: return NPY_INT32;
        case NPY_UINT: return NPY_UINT32;
        case NPY_LONG: return sizeof(long) == 8 ? NPY_INT64 : NPY_INT32;
        case NPY_ULONG: return sizeof(long) == 8 ? NPY_UINT64 : NPY_UINT32;
        case NPY_LONGLONG: return NPY_INT64;
        default: return NPY_UINT64;
    }
}

bool is_numeric_dtype(int type_num) {
    constexpr std::uint32_t numeric = 0x1fffu | 3u << NPY_CFLOAT | 1u << NPY_HALF;
    return type_num >= 0 && type_num < 32 && (numeric >> type_num & 1);
}

bool prepare_signatures() {
    if (!prepare_record_classes()) return false;
    for (int dtype = 0; dtype < 32; ++dtype) {
        if (!is_numeric_dtype(dtype)) continue;
        PyObject *type = PyArray_TypeObjectFromType(dtype);  // kept for good: the table mentions it
        if (type == nullptr) return false;
        scalar_types.insert(reinterpret_cast<PyTypeObject *>(type), canonical_dtype(dtype));
    }
    return true;
}

}  // namespace jitwise::dispatch
