// The element types of the machine, by the names that the tensor IR uses.
#pragma once

#include <cstdint>

namespace jitwise {

enum class ElementType : std::int8_t {
    boolean,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
    f16,
    f32,
    f64,
    c64,
    c128,
    none = -1,
};

constexpr int element_type_count = 14;

constexpr std::int8_t element_sizes[element_type_count] = {1, 1, 2, 4, 8, 1, 2,
                                                           4, 8, 2, 4, 8, 8, 16};

inline int size_of(ElementType type) { return element_sizes[static_cast<int>(type)]; }

// `none` when there is no such name.
ElementType element_type_named(const char *name);
const char *name_of(ElementType type);
// NumPy's type number and back; `none` for a dtype that the machine does not handle.
int numpy_type_of(ElementType type);
ElementType element_type_of_numpy(int number);

}  // namespace jitwise
