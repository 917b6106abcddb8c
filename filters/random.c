/* Random choices by the names of images.
 * SPDX-License-Identifier: MIT */
#include "filters/random.h"

#include <string.h>

static uint64_t mix(uint64_t state)
{
    uint64_t z = state + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t hash(const char *text, size_t nbytes)
{
    uint64_t state = 0;
    for (size_t i = 0; i < nbytes; i++)
        state = mix(state ^ (unsigned char)text[i]);
    return state;
}

uint64_t gi_random_key(const char *name)
{
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    size_t points = strspn(last, ".");
    return hash(last, points + strcspn(last + points, ".:"));
}

uint64_t gi_random_bits(uint64_t key, int seed, const char *purpose)
{
    return mix(mix(key ^ hash(purpose, strlen(purpose))) ^ (uint64_t)seed);
}
