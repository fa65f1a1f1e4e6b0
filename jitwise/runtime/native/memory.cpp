#include "memory.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <unordered_map>

namespace jitwise {

namespace {

constexpr std::size_t huge_page = std::size_t(2) << 20;
constexpr std::size_t huge_from = std::size_t(4) << 20;

// Classes are eighths of a power of two: at most an eighth is wasted.
std::size_t store_class(std::size_t size) {
    std::size_t step = std::size_t(4096);
    while (step * 8 < size) step *= 2;
    if (size >= huge_from) step = std::max(step, huge_page);
    return (size + step - 1) / step * step;
}

struct Mapping {
    void *base;
    std::size_t length;
    std::size_t capacity;
};

struct Store {
    std::mutex mutex;
    std::unordered_map<void *, Mapping> live;
    std::multimap<std::size_t, std::pair<void *, Mapping>> kept;  // by capacity
    std::size_t live_bytes = 0, kept_bytes = 0, limit = 0;

    Store() {
        std::size_t pages = static_cast<std::size_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
        std::size_t memory = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        limit = std::min(memory / 4, std::size_t(1) << 30);
    }
    void unmap_kept() {
        for (auto &entry : kept) munmap(entry.second.second.base, entry.second.second.length);
        kept.clear();
        kept_bytes = 0;
    }
};

// Never destroyed: arrays may die after every destructor has run.
Store &store() {
    static Store *made = [] {
        Store *store = new Store;
        static Store *shared = store;
        // A fork while another thread holds the lock must not lock the child out.
        pthread_atfork([] { shared->mutex.lock(); }, [] { shared->mutex.unlock(); },
                       [] { shared->mutex.unlock(); });
        return store;
    }();
    return *made;
}

bool map_block(std::size_t capacity, void **block, Mapping *mapping) {
    bool huge = capacity >= huge_from;
    std::size_t length = capacity + (huge ? huge_page : 0);
    void *base = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return false;
    std::uintptr_t address = reinterpret_cast<std::uintptr_t>(base);
    if (huge) address = (address + huge_page - 1) / huge_page * huge_page;
    *block = reinterpret_cast<void *>(address);
    *mapping = {base, length, capacity};
#ifdef MADV_HUGEPAGE
    if (huge) madvise(*block, capacity, MADV_HUGEPAGE);
#endif
    return true;
}

}  // namespace

void *store_allocate(std::size_t size) {
    std::size_t capacity = store_class(std::max<std::size_t>(size, 1));
    if (capacity < size) return nullptr;
    Store &s = store();
    std::lock_guard<std::mutex> lock(s.mutex);
    void *block;
    Mapping mapping;
    auto found = s.kept.lower_bound(capacity);
    if (found != s.kept.end() && found->first <= capacity + capacity / 4) {
        block = found->second.first;
        mapping = found->second.second;
        s.kept_bytes -= mapping.capacity;
        s.kept.erase(found);
    } else if (!map_block(capacity, &block, &mapping)) {
        s.unmap_kept();
        if (!map_block(capacity, &block, &mapping)) return nullptr;
    }
    s.live.emplace(block, mapping);
    s.live_bytes += mapping.capacity;
    return block;
}

void store_free(void *block) {
    Store &s = store();
    std::lock_guard<std::mutex> lock(s.mutex);
    auto found = s.live.find(block);
    if (found == s.live.end()) return;
    Mapping mapping = found->second;
    s.live.erase(found);
    s.live_bytes -= mapping.capacity;
    if (mapping.capacity > s.limit) {
        munmap(mapping.base, mapping.length);
        return;
    }
    s.kept.emplace(mapping.capacity, std::make_pair(block, mapping));
    s.kept_bytes += mapping.capacity;
    // The largest go first: they are the least likely to fit again, and free the most.
    while (s.kept_bytes > s.limit) {
        auto last = std::prev(s.kept.end());
        munmap(last->second.second.base, last->second.second.length);
        s.kept_bytes -= last->first;
        s.kept.erase(last);
    }
}

std::size_t store_capacity(void *block) {
    Store &s = store();
    std::lock_guard<std::mutex> lock(s.mutex);
    auto found = s.live.find(block);
    return found == s.live.end() ? 0 : found->second.capacity;
}

bool store_clear(void *block) {
#if defined(__linux__)
    const std::size_t capacity = store_capacity(block);
    return capacity != 0 && madvise(block, capacity, MADV_DONTNEED) == 0;
#else
    (void)block;
    return false;
#endif
}

namespace {

// ---- temporaries below the store's size

constexpr int class_count = 64;
constexpr std::size_t bin_limit = std::size_t(16) << 20;  // bytes kept per thread

struct FreeBlock {
    FreeBlock *next;
};

// Four classes per power of two, from 64 bytes.
int class_of(std::size_t size, std::size_t *rounded) {
    if (size <= 256) {
        int index = static_cast<int>((std::max<std::size_t>(size, 1) + 63) / 64 - 1);
        *rounded = (index + 1) * 64;
        return index;
    }
    int bits = 63 - __builtin_clzll(size - 1);  // 2^bits < size <= 2^(bits + 1)
    std::size_t step = std::size_t(1) << (bits - 2);
    std::size_t above = (size - (std::size_t(1) << bits) + step - 1) / step;
    *rounded = (std::size_t(1) << bits) + above * step;
    return 4 + (bits - 8) * 4 + static_cast<int>(above) - 1;
}

struct Bins {
    FreeBlock *lists[class_count] = {};
    std::size_t kept = 0;
    char *scratch = nullptr;
    std::size_t scratch_size = 0;
    bool scratch_taken = false;

    void release() {
        for (FreeBlock *&list : lists)
            while (list != nullptr) {
                FreeBlock *next = list->next;
                std::free(list);
                list = next;
            }
        kept = 0;
        if (!scratch_taken) {
            std::free(scratch);
            scratch = nullptr;
            scratch_size = 0;
        }
    }
    ~Bins() { release(); }
};

thread_local Bins bins;

constexpr std::size_t scratch_kept = std::size_t(1) << 20;

void *aligned_block(std::size_t size) {
    void *block = std::aligned_alloc(64, (size + 63) / 64 * 64);
    if (block == nullptr) throw OutOfMemory(size);
    return block;
}

}  // namespace

void *temporary_allocate(std::size_t size) {
    if (size >= large_size) {
        void *block = store_allocate(size);
        if (block == nullptr) throw OutOfMemory(size);
        return block;
    }
    std::size_t rounded;
    FreeBlock *&list = bins.lists[class_of(size, &rounded)];
    if (list != nullptr) {
        FreeBlock *block = list;
        list = block->next;
        bins.kept -= rounded;
        return block;
    }
    return aligned_block(rounded);
}

void temporary_free(void *block, std::size_t size) {
    if (size >= large_size) return store_free(block);
    std::size_t rounded;
    FreeBlock *&list = bins.lists[class_of(size, &rounded)];
    if (bins.kept + rounded > bin_limit) {
        std::free(block);
        return;
    }
    FreeBlock *free_block = static_cast<FreeBlock *>(block);
    free_block->next = list;
    list = free_block;
    bins.kept += rounded;
}

Scratch::Scratch(std::size_t size) : own_size_(0) {
    if (bins.scratch_taken || size > scratch_kept) {
        own_size_ = std::max<std::size_t>(size, 1);
        data_ = static_cast<char *>(temporary_allocate(own_size_));
        return;
    }
    if (size > bins.scratch_size) {
        std::free(bins.scratch);
        bins.scratch = nullptr;
        bins.scratch_size = 0;
        std::size_t grown = std::max<std::size_t>(size, 65536);
        bins.scratch = static_cast<char *>(aligned_block(grown));
        bins.scratch_size = grown;
    }
    bins.scratch_taken = true;
    data_ = bins.scratch;
}

Scratch::~Scratch() {
    if (own_size_ > 0) temporary_free(data_, own_size_);
    else bins.scratch_taken = false;
}

MemoryStats memory_stats() {
    Store &s = store();
    std::lock_guard<std::mutex> lock(s.mutex);
    return {s.live_bytes, s.kept_bytes, s.limit, bins.kept + bins.scratch_size};
}

void set_memory_limit(std::size_t bytes) {
    Store &s = store();
    std::lock_guard<std::mutex> lock(s.mutex);
    s.limit = bytes;
}

void release_memory() {
    Store &s = store();
    {
        std::lock_guard<std::mutex> lock(s.mutex);
        s.unmap_kept();
    }
    bins.release();
}

}  // namespace jitwise
