/* Facts about this machine. */
#include "bench/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void trim(char *text)
{
    size_t size = strlen(text);
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == ' ' || text[size - 1] == '"'))
        text[--size] = '\0';
}

static void read_line(const char *path, char *dst, size_t size)
{
    FILE *file = fopen(path, "re");
    dst[0] = '\0';
    if (file) {
        if (!fgets(dst, (int)size, file))
            dst[0] = '\0';
        fclose(file);
    }
    trim(dst);
}

/* The value behind "key" and a separator in the first line that begins with it. */
static void read_value(const char *path, const char *key, char separator, char *dst, size_t size)
{
    char line[1024];
    FILE *file = fopen(path, "re");
    dst[0] = '\0';
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        const char *value = strchr(line, separator);
        if (!value)
            continue;
        value += 1 + strspn(value + 1, " \t\"");
        snprintf(dst, size, "%s", value);
        trim(dst);
        break;
    }
    if (file)
        fclose(file);
}

/* "32K", "1024K", "32M" */
static int64_t parse_size(const char *text)
{
    char *end = NULL;
    long long value = strtoll(text, &end, 10);
    if (end == text || value < 0 || value > (1LL << 40))
        return 0;
    return value * (*end == 'K' ? 1024 : *end == 'M' ? 1024 * 1024 : 1);
}

static void read_caches(struct pw_machine *out)
{
    for (int i = 0; i < 8; i++) {
        char path[96], level[16], type[32], size[32];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
        read_line(path, level, sizeof level);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
        read_line(path, type, sizeof type);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        read_line(path, size, sizeof size);
        int64_t *places[] = {&out->l1_bytes, &out->l2_bytes, &out->l3_bytes};
        int n = level[0] - '1';
        if (n >= 0 && n < 3 && strcmp(type, "Instruction") != 0)
            *places[n] = parse_size(size);
    }
}

void pw_machine_read(struct pw_machine *out)
{
    char flags[4096];
    struct utsname name;
    memset(out, 0, sizeof *out);
    read_value("/proc/cpuinfo", "model name", ':', out->cpu, sizeof out->cpu);
    read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", out->governor, sizeof out->governor);
    read_value("/etc/os-release", "PRETTY_NAME", '=', out->distribution, sizeof out->distribution);
    read_value("/proc/cpuinfo", "flags", ':', flags, sizeof flags);
    if (strstr(flags, " hypervisor"))
        snprintf(out->hypervisor, sizeof out->hypervisor, "yes");
    if (uname(&name) == 0) {
        snprintf(out->architecture, sizeof out->architecture, "%.31s", name.machine);
        snprintf(out->system, sizeof out->system, "%.60s %.60s", name.sysname, name.release);
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    out->cores = cores > 0 ? (int)cores : 0;
    out->memory_bytes = pages > 0 && page > 0 ? (int64_t)pages * page : 0;
    read_caches(out);
}
