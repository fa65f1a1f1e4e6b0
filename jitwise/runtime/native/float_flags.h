// The floating-point status flags of the calling thread, numbered as NumPy numbers them.
//
//     Scope scope; ...; scope.finish()     the flags raised in between; the caller's are as before
//
// Reading the flags waits for all arithmetic before it: 6 ns on x86 when there is none, 8 ns after a
// small kernel. Writing them takes half a nanosecond, but needs the rest of their register.
#pragma once

#if !defined(__x86_64__)
#include <cfenv>
#endif

#define JITWISE_FLAGS static inline __attribute__((always_inline))

namespace jitwise::float_flags {

constexpr int divide = 1, overflow = 2, underflow = 4, invalid = 8;
constexpr int all = divide | overflow | underflow | invalid;

#if defined(__x86_64__)

// The control and status word of SSE. Nothing moves across: what was computed is in memory.
JITWISE_FLAGS unsigned word() {
    unsigned value;
    asm volatile("stmxcsr %0" : "=m"(value) : : "memory");
    return value;
}
JITWISE_FLAGS void set_word(unsigned value) {
    asm volatile("ldmxcsr %0" : : "m"(value) : "memory");
}
constexpr unsigned word_of(int flags) {
    return static_cast<unsigned>((flags & 7) << 2 | (flags & invalid) >> 3);
}
constexpr int flags_in(unsigned word) {
    return static_cast<int>((word >> 2 & 7) | (word & 1) << 3);
}
constexpr unsigned mask = word_of(all);
JITWISE_FLAGS int raised() { return flags_in(word()); }
// From `now`, what was read last, to these flags.
JITWISE_FLAGS void replace(unsigned now, int flags) {
    const unsigned wanted = (now & ~mask) | word_of(flags);
    if (wanted != now) set_word(wanted);
}

#else

constexpr unsigned word_of(int flags) {
    return static_cast<unsigned>((flags & divide ? FE_DIVBYZERO : 0) |
                                 (flags & overflow ? FE_OVERFLOW : 0) |
                                 (flags & underflow ? FE_UNDERFLOW : 0) |
                                 (flags & invalid ? FE_INVALID : 0));
}
constexpr unsigned mask = word_of(all);
JITWISE_FLAGS unsigned word() {
    asm volatile("" : : : "memory");
    return static_cast<unsigned>(std::fetestexcept(static_cast<int>(mask)));
}
constexpr int flags_in(unsigned word) {
    return (word & FE_DIVBYZERO ? divide : 0) | (word & FE_OVERFLOW ? overflow : 0) |
           (word & FE_UNDERFLOW ? underflow : 0) | (word & FE_INVALID ? invalid : 0);
}
JITWISE_FLAGS int raised() { return flags_in(word()); }
JITWISE_FLAGS void replace(unsigned now, int flags) {
    const unsigned wanted = word_of(flags);
    if (now & ~wanted) std::feclearexcept(static_cast<int>(now & ~wanted));
    if (wanted & ~now) std::feraiseexcept(static_cast<int>(wanted & ~now));
    asm volatile("" : : : "memory");
}

#endif

JITWISE_FLAGS void set(int flags) { replace(word(), flags); }
JITWISE_FLAGS void raise(int flags) {
    if (flags == 0) return;
    const unsigned now = word();
    replace(now, flags_in(now) | flags);
}

// What is done meanwhile raises no flag: comparisons, which NumPy's loops make quiet for nan.
class Kept {
public:
    explicit Kept(bool wanted = true) : before_(wanted ? word() : 0), wanted_(wanted) {}
    ~Kept() {
        if (wanted_) replace(word(), flags_in(before_));
    }
    Kept(const Kept &) = delete;
    Kept &operator=(const Kept &) = delete;

private:
    unsigned before_;
    bool wanted_;
};

// From here on no flag is raised; in the end the flags are what they were.
class Scope {
public:
    explicit Scope(bool wanted = true) : before_(wanted ? word() : 0), finished_(!wanted) {
        if (wanted) replace(before_, 0);
    }
    ~Scope() {
        if (!finished_) finish();
    }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

    int finish() {
        const unsigned now = word();
        replace(now, flags_in(before_));
        finished_ = true;
        return flags_in(now);
    }

private:
    unsigned before_;
    bool finished_;
};

}  // namespace jitwise::float_flags
