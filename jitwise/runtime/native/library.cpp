// Library instructions by name.
#include <cstring>

#include "frame.h"
#include "library.h"

namespace jitwise {

LibraryFunction library_named(const char *name) {
    static const struct {
        const char *name;
        LibraryFunction function;
    } rows[] = {
        {"iota", library_iota},
        {"cumsum", library_cumsum},
        {"cumprod", library_cumprod},
        {"product", library_product},
        {"gather", library_gather},
        {"scatter", library_scatter},
        {"scatter_at", library_scatter_at},
        {"matmul", library_matmul},
        {"count", library_count},
        {"compress", library_compress},
        {"place", library_place},
        {"places", library_places},
    };
    for (const auto &row : rows)
        if (std::strcmp(row.name, name) == 0) return row.function;
    return nullptr;
}

}  // namespace jitwise
