/* Inputs of huge cases: a hash of the index, eight bytes of it at once where an element has one. */
#include "base/parallel.h"
#include "verify/huge.h"

#define GRAIN ((int64_t)1 << 20)

struct job {
    struct pw_tensor *t;
    uint64_t key;
    int64_t low;
    uint64_t span; /* values from low on */
};

/* Every bit of the result depends on every bit of the index (the finalizer of MurmurHash3, and a Weyl step). */
static uint64_t mix(uint64_t x)
{
    x *= 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
    return x ^ (x >> 33);
}

static void fill_bytes(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    uint8_t *bytes = job->t->data;
    uint64_t word = 0;

    for (int64_t i = begin; i < end; i++) {
        if (i % 8 == 0 || i == begin)
            word = mix(job->key + (uint64_t)i / 8 + 1) >> 8 * (i % 8);
        bytes[i] = (uint8_t)(job->low + (int64_t)((word & 0xff) * job->span >> 8));
        word >>= 8;
    }
}

static void fill_any(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;

    for (int64_t i = begin; i < end; i++) {
        uint64_t word = mix(job->key + (uint64_t)i + 1);

        pw_tensor_set_int(job->t, i, job->low + (int64_t)(job->span ? word % job->span : word));
    }
}

bool pw_draw_hashed(struct pw_tensor *t, const struct pw_fill *fill, uint64_t seed, uint64_t stream)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(t->dtype);
    bool boolean = t->dtype == PW_DTYPE_BOOL;
    int64_t most = facts->max < 9e18 ? (int64_t)facts->max : INT64_MAX;
    int64_t least = facts->kind == PW_KIND_SIGNED ? -most - 1 : 0;
    int64_t low = boolean || fill->int_low < least ? least : fill->int_low;
    int64_t high = boolean ? 1 : fill->int_high > most ? most : fill->int_high;
    struct job job = {.t = t, .key = mix(seed) ^ mix(~stream), .low = low, .span = (uint64_t)high - (uint64_t)low + 1};

    if ((!boolean && !pw_dtype_is_integer(t->dtype)) || low > high || fill->distinct || fill->distinct_all ||
        fill->ascending)
        return false;
    pw_parallel_for(t->count, GRAIN, facts->bytes == 1 && facts->bits == 8 ? fill_bytes : fill_any, &job);
    return true;
}
