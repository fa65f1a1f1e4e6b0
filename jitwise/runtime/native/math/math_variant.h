// What one compiled variant of the library offers to the table.
#pragma once

#include <cstddef>

struct VariantEntry {
    const char *name;
    const void *address;
};

struct Variant {
    const VariantEntry *entries;
    std::size_t count;
};

namespace jitwise {
namespace math {
namespace baseline {
Variant variant();
}
#if defined(__x86_64__)
namespace avx2 {
Variant variant();
}
namespace avx512 {
Variant variant();
}
#endif
}  // namespace math
}  // namespace jitwise
