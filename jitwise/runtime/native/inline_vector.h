// A growable array of plain values whose first N live on the stack.
//
// The call path of a compiled function collects tokens, leaves and views for every call; with room
// for the common sizes in place, such a call allocates nothing. Only trivially copyable types, no
// removal, no copying of the vector itself.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

namespace jitwise::dispatch {

template <class T, std::size_t N> class InlineVector {
    static_assert(std::is_trivially_copyable<T>::value, "elements are moved with memcpy");

public:
    InlineVector() : data_(reinterpret_cast<T *>(inline_)), size_(0), capacity_(N) {}
    ~InlineVector() {
        if (data_ != reinterpret_cast<T *>(inline_)) std::free(data_);
    }
    InlineVector(const InlineVector &) = delete;
    InlineVector &operator=(const InlineVector &) = delete;

    void push_back(const T &value) {
        if (__builtin_expect(size_ == capacity_, 0)) {
            T copy = value;  // `value` may live in the block that is about to move
            grow(capacity_ * 2);
            data_[size_++] = copy;
            return;
        }
        data_[size_++] = value;
    }
    // Room for `count` elements in all; pointers to elements stay valid until then.
    void reserve(std::size_t count) {
        if (count > capacity_) grow(count);
    }
    void clear() { size_ = 0; }

    T *data() { return data_; }
    const T *data() const { return data_; }
    std::size_t size() const { return size_; }
    T &operator[](std::size_t i) { return data_[i]; }
    const T &operator[](std::size_t i) const { return data_[i]; }
    T *begin() { return data_; }
    T *end() { return data_ + size_; }
    const T *begin() const { return data_; }
    const T *end() const { return data_ + size_; }

private:
    void grow(std::size_t capacity) {
        T *data = static_cast<T *>(std::malloc(capacity * sizeof(T)));
        if (data == nullptr) throw std::bad_alloc();
        std::memcpy(static_cast<void *>(data), data_, size_ * sizeof(T));
        if (data_ != reinterpret_cast<T *>(inline_)) std::free(data_);
        data_ = data;
        capacity_ = capacity;
    }

    T *data_;
    std::size_t size_;
    std::size_t capacity_;
    alignas(T) unsigned char inline_[N * sizeof(T)];
};

}  // namespace jitwise::dispatch
