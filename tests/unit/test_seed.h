/* What random tests start from: the same each time, or SEED of the environment.
 * SPDX-License-Identifier: MIT */
#ifndef TEST_SEED_H
#define TEST_SEED_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Printed, for whoever tries many: for n in $(seq 1000); do SEED=$n test_chains || echo $n; done */
static inline uint64_t test_seed(void)
{
    const char *given = getenv("SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 20261123;
    printf("SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

#endif
