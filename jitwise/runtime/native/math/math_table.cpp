// Chooses, once, the variant of the math library that fits the processor.

#include "math_table.h"

#include <deque>
#include <string>
#include <vector>

#include "math_variant.h"

namespace {

struct Named {
    const char *name;
    Variant variant;
};

// Slowest first; the last one is the best.
std::vector<Named> supported_variants() {
    using namespace jitwise::math;
    std::vector<Named> found{{"baseline", baseline::variant()}};
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (wide) found.push_back({"avx2", avx2::variant()});
    if (wide && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        found.push_back({"avx512", avx512::variant()});
#endif
    return found;
}

struct Table {
    std::deque<std::string> names;
    std::vector<MathEntry> entries;

    Table() {
        std::vector<Named> variants = supported_variants();
        const Variant &best = variants.back().variant;
        for (std::size_t k = 0; k < best.count; ++k)
            entries.push_back({best.entries[k].name, best.entries[k].address});
        for (const Named &named : variants) {
            for (std::size_t k = 0; k < named.variant.count; ++k) {
                const VariantEntry &entry = named.variant.entries[k];
                names.push_back(std::string(entry.name) + "@" + named.name);
                entries.push_back({names.back().c_str(), entry.address});
            }
        }
    }
};

}  // namespace

const MathEntry *math_entries(std::size_t *count) {
    static const Table table;
    *count = table.entries.size();
    return table.entries.data();
}
