/* What the machine can do at best: the two rates that floors are computed from.
 * SPDX-License-Identifier: MIT */
#ifndef GI_BENCH_RATES_H
#define GI_BENCH_RATES_H

#include "kernels/parallel.h"

struct bench_rates {
    double copy; /* bytes a second, read and written both counted */
    double fma;  /* float32 multiply-adds a second */
};

/* Of the threads of `pool`. Zeros where memory is short. */
struct bench_rates bench_cpu_rates(struct gi_pool *pool);

#endif
