// Functions compiled for the widest vectors there are, chosen when the module is loaded.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__)
#define JITWISE_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define JITWISE_WIDE
#endif
