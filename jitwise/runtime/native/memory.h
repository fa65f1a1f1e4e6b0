// Memory that is used again.
//
// Three kinds:
//   temporary   intermediate arrays: size classes, free lists of the thread; large ones from the
//               store
//   store       blocks of at least 128 KiB, shared, bounded; huge pages from 4 MiB up
//   scratch     packing buffers of one driver call, one growing block per thread
// Fresh results of at least 128 KiB come from the store too, through a NumPy memory handler that is
// set only around their allocation, so such arrays own their data and give it back when they die.
// The C library gives memory of that size back to the system when it is freed, and each call would
// wait for new pages: np.sort(x) * 2 of 100,000 numbers took ten times as long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace jitwise {

constexpr std::size_t large_size = std::size_t(1) << 17;

// The size that was asked for, for the message of MemoryError.
struct OutOfMemory : std::bad_alloc {
    explicit OutOfMemory(std::size_t size) : size(size) {}
    std::size_t size;
};

// 64-byte aligned. Throws OutOfMemory. `size` must be the same at both ends.
void *temporary_allocate(std::size_t size);
void temporary_free(void *block, std::size_t size);

// Null when there is no memory.
void *store_allocate(std::size_t size);
void store_free(void *block);
std::size_t store_capacity(void *block);
// Makes every byte of a block zero, as pages that are cleared when they are touched. False: nothing
// was done.
bool store_clear(void *block);

// At least `size` bytes, 64-byte aligned, valid until the next call of this thread; not nested.
class Scratch {
public:
    explicit Scratch(std::size_t size);
    ~Scratch();
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;
    char *data() const { return data_; }

private:
    char *data_;
    std::size_t own_size_;  // 0: the thread's block
};

struct MemoryStats {
    std::size_t live;       // bytes of store blocks in use
    std::size_t kept;       // bytes of store blocks waiting for use
    std::size_t limit;      // of `kept`
    std::size_t temporary;  // bytes in free lists of this thread
};

MemoryStats memory_stats();
void set_memory_limit(std::size_t bytes);
// Everything kept in the store, and by the calling thread, goes back to the system.
void release_memory();

}  // namespace jitwise
