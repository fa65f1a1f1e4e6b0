// Map kernels: what the drivers of dense operands and of others share.
#pragma once

#include <cstdint>

#include "kernel.h"

namespace jitwise {

struct Range {
    const char *begin, *end;
};

bool outputs_overlap_inputs(const Kernel &kernel, const Range *ranges);
// Elements that one thread takes at a time.
std::int64_t grain_of(const Kernel &kernel, std::int64_t count);
void run_general(const Kernel &kernel, const View *views, int ndim, const std::int64_t *shape);

}  // namespace jitwise
