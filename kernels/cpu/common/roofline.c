/* Measures the peak rates of the machine with all threads at once: copied bytes of memory per
 * second, and fused multiply-adds per second.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/simd.h"

#include <stdlib.h>
#include <time.h>

#include "kernels/cpu/cpu.h"

enum {
    COPY_NBYTES = 128 << 20, /* bytes on each side of the copy: more than caches hold */
    SLICE_NBYTES = 1 << 20,
    CHAINS = 16, /* independent chains; two units with a latency of 4 cycles need 8 chains, and 16
                    are safe */
    STEPS = 4096,
    TRIES = 4,
};

#define ENOUGH_S 0.01

struct copy_job {
    char *dst;
    const char *src;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void copy_slice(void *arg, int index, void *scratch)
{
    const struct copy_job *job = arg;
    size_t at = (size_t)index * SLICE_NBYTES;
    memcpy(job->dst + at, job->src + at, SLICE_NBYTES);
}

/* The sums are stored in scratch memory, so that the compiler has to compute them. */
static void fma_chains(void *arg, int index, void *scratch)
{
    GI_VEC sums[CHAINS];
    int rounds = *(const int *)arg;
    /* The sums approach index + 1, because denormal numbers would slow some processors down. */
    GI_VEC factor = vec_set(0.999f), step = vec_set(0.001f * (float)(index + 1));
    for (int c = 0; c < CHAINS; c++)
        sums[c] = vec_set((float)c);
    for (int i = 0; i < rounds * STEPS; i++)
        for (int c = 0; c < CHAINS; c++)
            sums[c] = vec_fma(sums[c], factor, step);
    for (int c = 0; c < CHAINS; c++)
        vec_store((float *)scratch + c * GI_LANES, sums[c]);
}

static enum gi_status measure_copy(struct gi_pool *pool, double *rate, struct gi_err *err)
{
    char *dst = malloc(COPY_NBYTES), *src = malloc(COPY_NBYTES);
    enum gi_status status =
        dst && src ? GI_OK : gi_fail(err, GI_E_MEMORY, "out of memory: two buffers to copy");
    if (!status)
        memset(src, 1, COPY_NBYTES);
    for (int i = 0; i < TRIES && !status;
         i++) { /* the first round writes dst for the first time (page faults) */
        struct copy_job job = {dst, src};
        double start = now_s();
        status = gi_pool_run(pool, COPY_NBYTES / SLICE_NBYTES, copy_slice, &job, 0, err);
        double seen = 2.0 * COPY_NBYTES / (now_s() - start);
        *rate = seen > *rate ? seen : *rate;
    }
    free(dst);
    free(src);
    return status;
}

static enum gi_status measure_fma(struct gi_pool *pool, double *rate, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    int threads = gi_pool_threads(pool), rounds = 8;
    for (int enough = 0; enough < TRIES && !status;) {
        double work = (double)rounds * STEPS * CHAINS * GI_LANES * threads, start = now_s();
        status =
            gi_pool_run(pool, threads, fma_chains, &rounds, CHAINS * GI_LANES * sizeof(float), err);
        double seen = work / (now_s() - start);
        *rate = seen > *rate ? seen : *rate;
        if (work / *rate < ENOUGH_S &&
            rounds < 1 << 18) /* repeated until a run is long enough to measure */
            rounds *= 2;
        else
            enough++;
    }
    return status;
}

enum gi_status GI_CPU(roofline)(struct gi_queue *queue, struct gi_roofline *roofline,
                                struct gi_err *err)
{
    *roofline = (struct gi_roofline){0};
    enum gi_status status = measure_copy(gi_cpu_pool(queue), &roofline->copy_rate, err);
    return status ? status : measure_fma(gi_cpu_pool(queue), &roofline->fma_rate, err);
}
