#include "pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

#include "float_flags.h"
#include "processors.h"

namespace jitwise {

namespace {

inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

using Clock = std::chrono::steady_clock;
constexpr auto spin_time = std::chrono::microseconds(60);

struct Job {
    Body body;
    void *context;
    std::int64_t items, grain;
    int seats;  // helpers that may still join
};

// Note: [Joining] A helper may arrive while the caller is leaving. It counts itself in (`inside`)
// before it reads `open`; the caller closes before it waits for `inside` to be 0. Both are
// sequentially consistent, so either the helper sees the job closed, or the caller waits for it.
// The job lives in the pool, so a late helper never reads a dead stack.
struct Pool {
    alignas(64) std::atomic<std::uint32_t> generation{0};
    std::atomic<bool> open{false};
    alignas(64) std::atomic<int> inside{0};
    alignas(64) std::atomic<std::int64_t> next{0};
    alignas(64) std::atomic<bool> busy{false};
    std::atomic<int> seats{0};
    Job job{};
    std::exception_ptr failure;
    std::atomic<bool> failed{false};
    std::atomic<int> float_errors{0};  // flags that helpers raised

    std::mutex mutex;  // parking, and starting helpers
    std::condition_variable wake;
    std::atomic<int> parked{0};
    std::atomic<int> helpers{0};
};

std::atomic<int> wished{0};
thread_local bool in_body = false;

// Never destroyed: helpers may outlive every destructor of the process.
alignas(Pool) unsigned char pool_memory[sizeof(Pool)];
Pool *pool = nullptr;

void reset_after_fork() {
    if (pool != nullptr) new (pool) Pool;
    in_body = false;
}

Pool *the_pool() {
    static Pool *made = [] {
        pool = new (pool_memory) Pool;
        pthread_atfork(nullptr, nullptr, reset_after_fork);
        return pool;
    }();
    return made;
}

void take_items(Pool &pool) {
    const Job job = pool.job;
    in_body = true;
    for (;;) {
        std::int64_t begin = pool.next.fetch_add(job.grain, std::memory_order_relaxed);
        if (begin >= job.items) break;
        try {
            job.body(job.context, begin, std::min(begin + job.grain, job.items));
        } catch (...) {
            if (!pool.failed.exchange(true)) pool.failure = std::current_exception();
            pool.next.store(job.items, std::memory_order_relaxed);
        }
    }
    in_body = false;
}

void try_to_help(Pool &pool) {
    if (!pool.open.load()) return;
    pool.inside.fetch_add(1);
    if (pool.open.load() && pool.seats.fetch_sub(1) > 0) {
        float_flags::Scope flags;
        take_items(pool);
        if (const int raised = flags.finish()) pool.float_errors.fetch_or(raised);
    }
    pool.inside.fetch_sub(1);
}

void park(Pool &pool, std::uint32_t seen) {
    std::unique_lock<std::mutex> lock(pool.mutex);
    pool.parked.fetch_add(1);
    pool.wake.wait(lock, [&] { return pool.generation.load() != seen; });
    pool.parked.fetch_sub(1);
}

void help_forever(Pool *pool) {
    std::uint32_t seen = pool->generation.load();
    try_to_help(*pool);
    for (;;) {
        auto until = Clock::now() + spin_time;
        bool found = false;
        while (!found) {
            for (int i = 0; i < 64 && !found; ++i) {
                found = pool->generation.load(std::memory_order_acquire) != seen;
                if (!found) pause();
            }
            if (!found && Clock::now() > until) break;
        }
        if (!found) park(*pool, seen);
        seen = pool->generation.load();
        try_to_help(*pool);
    }
}

void start_helpers(Pool &pool, int count) {
    std::lock_guard<std::mutex> lock(pool.mutex);
    while (pool.helpers.load() < count) {
        try {
            // Signals belong to the threads of the program, not to helpers.
            sigset_t all, old;
            sigfillset(&all);
            pthread_sigmask(SIG_SETMASK, &all, &old);
            std::thread(help_forever, &pool).detach();
            pthread_sigmask(SIG_SETMASK, &old, nullptr);
        } catch (const std::system_error &) {
            return;  // no more threads to be had: fewer helpers do
        }
        pool.helpers.fetch_add(1);
    }
}

void wait_for_helpers(Pool &pool) {
    for (int turns = 0; pool.inside.load() != 0; ++turns) {
        if (turns < 20000) pause();
        else std::this_thread::yield();
    }
}

}  // namespace

void parallel_for(std::int64_t items, std::int64_t grain, Body body, void *context) {
    if (items <= 0) return;
    grain = std::max<std::int64_t>(grain, 1);
    std::int64_t runs = (items + grain - 1) / grain;
    int threads = static_cast<int>(std::min<std::int64_t>(thread_count(), runs));
    Pool &pool = *the_pool();
    if (threads <= 1 || in_body || pool.busy.exchange(true, std::memory_order_acquire)) {
        body(context, 0, items);
        return;
    }
    if (pool.helpers.load() < threads - 1) start_helpers(pool, threads - 1);
    pool.job = {body, context, items, grain, threads - 1};
    pool.failed.store(false);
    pool.float_errors.store(0);
    pool.failure = nullptr;
    pool.seats.store(threads - 1);
    pool.next.store(0);
    pool.open.store(true);
    pool.generation.fetch_add(1);
    if (pool.parked.load() > 0) {
        std::lock_guard<std::mutex> lock(pool.mutex);
        pool.wake.notify_all();
    }
    take_items(pool);
    pool.open.store(false);
    wait_for_helpers(pool);
    float_flags::raise(pool.float_errors.load());
    std::exception_ptr failure = std::move(pool.failure);
    pool.failure = nullptr;
    pool.busy.store(false, std::memory_order_release);
    if (failure) std::rethrow_exception(failure);
}

int thread_count() {
    int wish = wished.load(std::memory_order_relaxed);
    if (wish > 0) return wish;
    static const int allowed = allowed_processors();
    return allowed;
}

void set_threads(int count) { wished.store(std::max(count, 0)); }

int helper_count() { return the_pool()->helpers.load(); }

bool inside_parallel() { return in_body; }

}  // namespace jitwise
