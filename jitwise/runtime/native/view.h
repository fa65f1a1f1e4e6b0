// Memory of an array as the machine sees it. Shapes count elements, strides count bytes.
#pragma once

#include <cstdint>
#include <cstring>

namespace jitwise {

constexpr int max_rank = 64;

// One element at an address that need not be aligned.
template <class T>
inline T load(const char *address) {
    T value;
    std::memcpy(&value, address, sizeof(T));
    return value;
}
template <class T>
inline void store(char *address, T value) {
    std::memcpy(address, &value, sizeof(T));
}

struct View {
    char *data;
    int ndim;
    const std::int64_t *shape;
    const std::int64_t *strides;
    // The PyObject that owns the memory, or null when unknown: only what is handed to Python needs
    // it.
    void *owner = nullptr;
};

inline std::int64_t product(const std::int64_t *shape, int ndim) {
    std::int64_t count = 1;
    for (int axis = 0; axis < ndim; ++axis) count *= shape[axis];
    return count;
}

// C order without gaps; axes of length 1 may have any stride.
inline bool is_contiguous(const std::int64_t *shape, const std::int64_t *strides, int ndim,
                          std::int64_t itemsize) {
    std::int64_t expected = itemsize;
    for (int axis = ndim - 1; axis >= 0; --axis) {
        if (shape[axis] != 1 && strides[axis] != expected) return false;
        expected *= shape[axis];
    }
    return true;
}

}  // namespace jitwise
