#include "element_type.h"

#include <cstring>

#include "machine_numpy.h"

namespace jitwise {

namespace {

struct Row {
    const char *name;
    int number;
};

constexpr Row rows[element_type_count] = {
    {"bool", NPY_BOOL},     {"i8", NPY_INT8},         {"i16", NPY_INT16},   {"i32", NPY_INT32},
    {"i64", NPY_INT64},     {"u8", NPY_UINT8},        {"u16", NPY_UINT16},  {"u32", NPY_UINT32},
    {"u64", NPY_UINT64},    {"f16", NPY_FLOAT16},     {"f32", NPY_FLOAT32}, {"f64", NPY_FLOAT64},
    {"c64", NPY_COMPLEX64}, {"c128", NPY_COMPLEX128},
};

}  // namespace

ElementType element_type_named(const char *name) {
    for (int i = 0; i < element_type_count; ++i)
        if (std::strcmp(rows[i].name, name) == 0) return static_cast<ElementType>(i);
    return ElementType::none;
}

const char *name_of(ElementType type) {
    return type == ElementType::none ? "none" : rows[static_cast<int>(type)].name;
}

int numpy_type_of(ElementType type) { return rows[static_cast<int>(type)].number; }

ElementType element_type_of_numpy(int number) {
    for (int i = 0; i < element_type_count; ++i)
        if (rows[i].number == number) return static_cast<ElementType>(i);
    // C has two names for one 64-bit integer; NumPy keeps both.
    if (number == NPY_LONGLONG && sizeof(npy_longlong) == 8) return ElementType::i64;
    if (number == NPY_ULONGLONG && sizeof(npy_longlong) == 8) return ElementType::u64;
    if (number == NPY_LONG && sizeof(npy_long) == 4) return ElementType::i32;
    if (number == NPY_ULONG && sizeof(npy_long) == 4) return ElementType::u32;
    return ElementType::none;
}

}  // namespace jitwise
