#include "memory.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

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

// Lies right before a block. Small blocks begin half a page after the start of one: a load waits for
// a store shortly before it whose address has nearly the same last 12 bits, and large arrays of NumPy
// begin 16 bytes after the start of a page. See Note: [Half a page]. Others begin where a huge page
// does.
struct Header {
    void *base;
    std::size_t length;  // of the mapping
    std::size_t size;    // the class
};

// Note: [Half a page]
//     np.multiply(x, x, out) of 100,000 f64, x 16 bytes after the start of a page
//     bytes from x to out      -16     48    240    496   1008   2032   3056
//     microseconds            24.5   33.7   32.0   25.8   24.7   24.7   24.6

constexpr std::size_t page = 4096, reserved = page / 2;
static_assert(sizeof(Header) <= 64);

Header *header_of(void *block) {
    return reinterpret_cast<Header *>(static_cast<char *>(block) - 64);
}

// Of `size` bytes a small block has what is left of its header and offset.
std::size_t class_for(std::size_t wanted) {
    return store_class(wanted < huge_from ? wanted + reserved : wanted);
}

std::size_t capacity_of(const Header &header) {
    return header.size < huge_from ? header.size - reserved : header.size;
}

struct Store {
    std::mutex mutex;
    std::map<std::size_t, std::vector<void *>> kept;  // by size; lists may be empty
    std::size_t live_bytes = 0, kept_bytes = 0, limit = 0;

    Store() {
        std::size_t pages = static_cast<std::size_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
        std::size_t memory = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        limit = std::min(memory / 4, std::size_t(1) << 30);
    }
    static void unmap(void *block) {
        const Header header = *header_of(block);
        munmap(header.base, header.length);
    }
    void unmap_kept() {
        for (auto &entry : kept)
            for (void *block : entry.second) unmap(block);
        kept.clear();
        kept_bytes = 0;
    }
    // A kept block of this size or little more, or null.
    void *take(std::size_t size) {
        for (auto found = kept.lower_bound(size);
             found != kept.end() && found->first <= size + size / 4; ++found) {
            if (found->second.empty()) continue;
            void *block = found->second.back();
            found->second.pop_back();
            kept_bytes -= found->first;
            return block;
        }
        return nullptr;
    }
    // The largest go first: they are the least likely to fit again, and free the most.
    void shrink() {
        while (kept_bytes > limit) {
            auto last = std::prev(kept.end());
            if (last->second.empty()) {
                kept.erase(last);
                continue;
            }
            unmap(last->second.back());
            last->second.pop_back();
            kept_bytes -= last->first;
        }
    }
    void *map(std::size_t size);
};

void *Store::map(std::size_t size) {
    const bool huge = size >= huge_from;
    const std::size_t length = size + (huge ? huge_page : 0);
    void *base = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return nullptr;
    std::uintptr_t address = reinterpret_cast<std::uintptr_t>(base);
    if (huge) address = (address + 64 + huge_page - 1) / huge_page * huge_page;
    else address += reserved;
    void *block = reinterpret_cast<void *>(address);
#ifdef MADV_HUGEPAGE
    if (huge) madvise(block, size, MADV_HUGEPAGE);
#endif
    *header_of(block) = {base, length, size};
    return block;
}

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

}  // namespace

void *store_allocate(std::size_t wanted) {
    const std::size_t size = class_for(wanted);
    if (size < wanted) return nullptr;
    Store &s = store();
    std::lock_guard<std::mutex> lock(s.mutex);
    void *block = s.take(size);
    if (block == nullptr) block = s.map(size);
    if (block == nullptr) {
        s.unmap_kept();
        block = s.map(size);
    }
    if (block != nullptr) s.live_bytes += header_of(block)->size;
    return block;
}

void store_free(void *block) {
    if (block == nullptr) return;
    Store &s = store();
    std::lock_guard<std::mutex> lock(s.mutex);
    const std::size_t size = header_of(block)->size;
    s.live_bytes -= size;
    if (size > s.limit) return Store::unmap(block);
    s.kept[size].push_back(block);
    s.kept_bytes += size;
    s.shrink();
}

std::size_t store_capacity(void *block) { return capacity_of(*header_of(block)); }

bool store_clear(void *block) {
#if defined(__linux__)
    char *const begin = static_cast<char *>(block), *const end = begin + store_capacity(block);
    char *const first = begin + (page - reinterpret_cast<std::uintptr_t>(begin) % page) % page;
    char *const last = end - reinterpret_cast<std::uintptr_t>(end) % page;
    if (first >= last || page % static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) != 0 ||
        madvise(first, static_cast<std::size_t>(last - first), MADV_DONTNEED) != 0)
        return false;
    std::memset(begin, 0, static_cast<std::size_t>(first - begin));
    std::memset(last, 0, static_cast<std::size_t>(end - last));
    return true;
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
