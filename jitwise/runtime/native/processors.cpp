#include "processors.h"

#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace jitwise {

namespace {

bool read_line(const std::string &path, char *line, int size) {
    std::FILE *file = std::fopen(path.c_str(), "r");
    if (file == nullptr) return false;
    bool ok = std::fgets(line, size, file) != nullptr;
    std::fclose(file);
    return ok;
}

int rounded_up(double quota, double period) {
    return quota > 0 && period > 0 ? std::max(1, static_cast<int>(std::ceil(quota / period))) : 0;
}

// Processors that the quota in one group's folder amounts to; 0 without one.
int quota_in(const std::string &folder) {
    char line[256];
    double quota = 0, period = 0;
    if (read_line(folder + "/cpu.max", line, sizeof line))
        return std::sscanf(line, "%lf %lf", &quota, &period) == 2 ? rounded_up(quota, period) : 0;
    if (!read_line(folder + "/cpu.cfs_quota_us", line, sizeof line)) return 0;
    quota = std::atof(line);
    if (!read_line(folder + "/cpu.cfs_period_us", line, sizeof line)) return 0;
    return rounded_up(quota, std::atof(line));
}

// A quota binds everything below it: the least one on the way to the root counts.
int cgroup_quota() {
    int least = 0;
    std::FILE *file = std::fopen("/proc/self/cgroup", "r");
    if (file == nullptr) return 0;
    char line[4096];
    while (std::fgets(line, sizeof line, file) != nullptr) {
        line[std::strcspn(line, "\n")] = 0;
        char *controllers = std::strchr(line, ':');
        char *path = controllers == nullptr ? nullptr : std::strchr(controllers + 1, ':');
        if (path == nullptr) continue;
        *path++ = 0;
        bool unified = std::strcmp(controllers, ":") == 0;
        if (!unified && std::strstr(controllers, "cpu") == nullptr) continue;
        std::string root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
        std::string group = path;
        for (;;) {
            int quota = quota_in(group == "/" ? root : root + group);
            if (quota > 0) least = least == 0 ? quota : std::min(least, quota);
            std::size_t slash = group.rfind('/');
            if (slash == std::string::npos || group == "/" || group.empty()) break;
            group = slash == 0 ? "/" : group.substr(0, slash);
        }
    }
    std::fclose(file);
    return least;
}

int wish_of(const char *variable) {
    const char *text = std::getenv(variable);
    int count =
        text == nullptr ? 0 : std::atoi(text);  // OMP_NUM_THREADS may be a list; its first counts
    return std::max(count, 0);
}

}  // namespace

int allowed_processors() {
    int count = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) count = std::max(1, CPU_COUNT(&set));
#endif
    if (int quota = cgroup_quota()) count = std::min(count, quota);
    int wish = wish_of("JITWISE_THREADS");
    if (wish == 0) wish = wish_of("OMP_NUM_THREADS");
    return wish > 0 ? std::min(count, wish) : count;
}

}  // namespace jitwise
