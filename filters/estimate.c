/* How long a filter would take on either kind of device: what --device auto goes by.
 * SPDX-License-Identifier: MIT */
#include "filters/run.h"

/* Seconds of one process for the first driver call, a context and the tear-down at its end: 0.10 to
 * 0.21 + 0.09 to 0.11 + 0.10 on an H200 host, less the part that hides behind decoding. */
#define CUDA_START_S 0.3

/* Bytes a second from and to pageable host memory through pinned staging: the link alone carries
 * 55e9, the copy into the staging buffer and out of it is one thread's memcpy. */
#define CUDA_COPY_RATE 10e9

/* What any card of the last years has at least: a fifth of an H200's 4.1e12 bytes and 33e12 fused
 * multiply-adds a second. Next to start and copies a filter's kernels hardly count. */
#define CUDA_MEMORY_RATE 0.8e12
#define CUDA_FLOP_RATE   6e12

/* One thread: a Gaussian of 31 x 31 on 4096^2 samples, 62 multiply-adds each, in 45 ms; a copy of
 * them in 1.2 ms counting both ways. Memory is shared by all threads. */
#define CPU_FLOP_RATE   23e9
#define CPU_MEMORY_RATE 28e9

static double larger(double a, double b)
{
    return a > b ? a : b;
}

struct gi_estimate gi_run_estimate(const struct gi_filter *filter, const void *params,
                                   const struct gi_image *src, int images, int threads)
{
    double samples = (double)gi_row_samples(src) * src->height;
    double flops = samples * (filter->cost ? filter->cost(src, params).flops : 1);
    double in = (double)gi_row_nbytes(src) * src->height, out = filter->run ? in : 0;
    double cpu =
        larger(flops / (CPU_FLOP_RATE * (threads < 1 ? 1 : threads)), (in + out) / CPU_MEMORY_RATE);
    double cuda =
        (in + out) / CUDA_COPY_RATE + larger(flops / CUDA_FLOP_RATE, (in + out) / CUDA_MEMORY_RATE);
    return (struct gi_estimate){.cpu_s = images * cpu, .cuda_s = CUDA_START_S + images * cuda};
}
