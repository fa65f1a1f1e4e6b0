// An array whose length is known when it is made; short ones live on the stack. Not initialised.
#pragma once

#include <cstddef>
#include <type_traits>

#include "memory.h"

namespace jitwise {

template <class T, std::size_t N>
class SmallBuffer {
    static_assert(std::is_trivially_destructible<T>::value, "elements are never destroyed");

public:
    explicit SmallBuffer(std::size_t count) : size_(count) {
        data_ = count <= N ? reinterpret_cast<T *>(inline_)
                           : static_cast<T *>(temporary_allocate(count * sizeof(T)));
    }
    ~SmallBuffer() {
        if (size_ > N) temporary_free(data_, size_ * sizeof(T));
    }
    SmallBuffer(const SmallBuffer &) = delete;
    SmallBuffer &operator=(const SmallBuffer &) = delete;

    T *data() { return data_; }
    const T *data() const { return data_; }
    std::size_t size() const { return size_; }
    T &operator[](std::size_t i) { return data_[i]; }
    const T &operator[](std::size_t i) const { return data_[i]; }

private:
    T *data_;
    std::size_t size_;
    alignas(64) unsigned char inline_[N * sizeof(T)];
};

}  // namespace jitwise
