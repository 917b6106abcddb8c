/* The seed of random tests: constant, or the variable SEED of the environment.
 * SPDX-License-Identifier: MIT */
#ifndef TEST_SEED_H
#define TEST_SEED_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Prints the seed, for loops over many: for n in $(seq 1000); do SEED=$n test_chains || echo $n;
 * done */
static inline uint64_t test_seed(void)
{
    const char *given = getenv("SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 20261123;
    printf("SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

#endif
