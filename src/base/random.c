/* Philox4x32 with ten rounds, and draws made from its words. */
#include "base/random.h"

#include <math.h>

#define MULTIPLIER_0 0xD2511F53u
#define MULTIPLIER_1 0xCD9E8D57u
#define WEYL_0 0x9E3779B9u
#define WEYL_1 0xBB67AE85u
#define ROUNDS 10

void pw_philox(uint64_t seed, uint64_t stream, uint64_t index, uint32_t out[4])
{
    uint32_t c0 = (uint32_t)index, c1 = (uint32_t)(index >> 32);
    uint32_t c2 = (uint32_t)stream, c3 = (uint32_t)(stream >> 32);
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t p0 = (uint64_t)MULTIPLIER_0 * c0;
        uint64_t p1 = (uint64_t)MULTIPLIER_1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += WEYL_0;
        k1 += WEYL_1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

uint32_t pw_random_u32(uint64_t seed, uint64_t stream, uint64_t i)
{
    uint32_t words[4];
    pw_philox(seed, stream, i / 4, words);
    return words[i % 4];
}

float pw_random_unit(uint64_t seed, uint64_t stream, uint64_t i)
{
    return (float)(pw_random_u32(seed, stream, i) >> 8) * 0x1p-24f;
}

double pw_random_normal(uint64_t seed, uint64_t stream, uint64_t i)
{
    uint32_t words[4];
    pw_philox(seed, stream, i, words);
    /* 53 bits each; the first in (0, 1], so that its logarithm is finite. */
    uint64_t a = (((uint64_t)words[0] << 32) | words[1]) >> 11;
    uint64_t b = (((uint64_t)words[2] << 32) | words[3]) >> 11;
    double radius = sqrt(-2.0 * log(((double)a + 1.0) * 0x1p-53));
    return radius * cos(6.283185307179586476925 * ((double)b * 0x1p-53));
}

int64_t pw_random_range(uint64_t seed, uint64_t stream, uint64_t i, int64_t lo, int64_t hi)
{
    if (hi <= lo)
        return lo;
    uint64_t span = (uint64_t)hi - (uint64_t)lo + 1; /* 0 = all of them */
    uint32_t words[4];
    pw_philox(seed, stream, i, words);
    uint64_t word = ((uint64_t)words[0] << 32) | words[1];
    if (span == 0)
        return (int64_t)word;
    /* The high half of the product: bias below span / 2^64. */
    uint64_t scaled = (uint64_t)(((unsigned __int128)word * span) >> 64);
    return (int64_t)((uint64_t)lo + scaled);
}
