// How many processors this process may use: the least of its affinity, its cgroup's quota, and the
// wishes in JITWISE_THREADS or OMP_NUM_THREADS.
#pragma once

namespace jitwise {

int allowed_processors();

}  // namespace jitwise
