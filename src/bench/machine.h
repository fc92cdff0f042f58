/*
 * Facts about this machine that a measurement is worth nothing without: processor, caches, clock governor,
 * memory, operating system. Read from /proc, /sys and uname; what is not known is empty or 0. Thread-safe.
 */
#ifndef PW_BENCH_MACHINE_H
#define PW_BENCH_MACHINE_H

#include <stdint.h>

struct pw_machine {
    char cpu[128]; /* model name */
    char architecture[32];
    char governor[32]; /* "performance", "powersave"…; "" unknown (virtual machines have none) */
    char system[128];  /* "Linux 6.1.0" */
    char distribution[128];
    char hypervisor[32];                  /* "yes" when the processor says that it is a virtual one, else "" */
    int cores;                            /* online */
    int64_t l1_bytes, l2_bytes, l3_bytes; /* data caches of one core; L3 of one instance */
    int64_t memory_bytes;
};

void pw_machine_read(struct pw_machine *out);

#endif
