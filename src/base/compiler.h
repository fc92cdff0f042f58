/* Compiler facts. PW_HOT makes copies of a hot loop for the CPU's vector width, chosen at start;
 * off under sanitizers, whose runtimes are not ready when the choice is made. */
#ifndef PW_BASE_COMPILER_H
#define PW_BASE_COMPILER_H

#if defined(HAVE_CONFIG_H)
#include "config.h"
#endif

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(PW_SANITIZED)
#define PW_HOT __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PW_HOT
#endif

#define PW_UNUSED __attribute__((unused))
#define PW_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
