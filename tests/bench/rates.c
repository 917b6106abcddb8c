/* The rates of the CPU: memcpy far past the caches, and chains of fused multiply-adds at the widest
 * vectors there are. SPDX-License-Identifier: MIT */
#include "tests/bench/rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

enum {
    COPY_NBYTES = 256 << 20,
    CHAINS = 10, /* latency 4, two units: eight would do */
    STEPS = 1 << 20,
    RUNS = 9,
};

struct copy_job {
    char *dst, *src;
    size_t part;
};

static void copy_part(void *arg, int index, void *scratch)
{
    struct copy_job *job = arg;
    (void)scratch;
    memcpy(job->dst + (size_t)index * job->part, job->src + (size_t)index * job->part, job->part);
}

#ifdef __x86_64__
__attribute__((target("avx512f"))) static float chains_512(void)
{
    __m512 v[CHAINS], a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(0.001f);
    for (int i = 0; i < CHAINS; i++)
        v[i] = _mm512_set1_ps((float)i);
    for (int step = 0; step < STEPS; step++)
#pragma GCC unroll 10
        for (int i = 0; i < CHAINS; i++)
            v[i] = _mm512_fmadd_ps(v[i], a, b);
    for (int i = 1; i < CHAINS; i++)
        v[0] = _mm512_add_ps(v[0], v[i]);
    return _mm512_cvtss_f32(v[0]);
}

__attribute__((target("avx2,fma"))) static float chains_256(void)
{
    __m256 v[CHAINS], a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(0.001f);
    for (int i = 0; i < CHAINS; i++)
        v[i] = _mm256_set1_ps((float)i);
    for (int step = 0; step < STEPS; step++)
#pragma GCC unroll 10
        for (int i = 0; i < CHAINS; i++)
            v[i] = _mm256_fmadd_ps(v[i], a, b);
    for (int i = 1; i < CHAINS; i++)
        v[0] = _mm256_add_ps(v[0], v[i]);
    return _mm256_cvtss_f32(v[0]);
}
#endif

static float chains_1(void)
{
    float v[CHAINS] = {0};
    for (int step = 0; step < STEPS; step++)
#pragma GCC unroll 10
        for (int i = 0; i < CHAINS; i++)
            v[i] = fmaf(v[i], 0.999f, 0.001f + (float)i);
    for (int i = 1; i < CHAINS; i++)
        v[0] += v[i];
    return v[0];
}

static int lanes(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return 16;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return 8;
#endif
    return 1;
}

static void fma_part(void *arg, int index, void *scratch)
{
    float *sums = arg;
    (void)scratch;
#ifdef __x86_64__
    if (lanes() > 1) {
        sums[16 * index] = lanes() == 16 ? chains_512() : chains_256();
        return;
    }
#endif
    sums[16 * index] = chains_1();
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The shortest of several runs of one job a thread; the first warms up. */
static double shortest(struct gi_pool *pool, gi_job_fn *fn, void *arg)
{
    double best = HUGE_VAL;
    for (int i = 0; i <= RUNS; i++) {
        double from = seconds();
        if (gi_pool_run(pool, gi_pool_threads(pool), fn, arg, 0, NULL))
            return HUGE_VAL;
        double s = seconds() - from;
        if (i > 0 && s < best)
            best = s;
    }
    return best;
}

struct bench_rates bench_cpu_rates(struct gi_pool *pool)
{
    int threads = gi_pool_threads(pool);
    size_t part = COPY_NBYTES / (size_t)threads;
    struct copy_job copy = {malloc(COPY_NBYTES), malloc(COPY_NBYTES), part};
    float *sums = malloc((size_t)threads * 16 * sizeof *sums);
    struct bench_rates rates = {0, 0};
    if (copy.dst && copy.src && sums) {
        memset(copy.src, 7, COPY_NBYTES);
        rates.copy = 2 * (double)part * threads / shortest(pool, copy_part, &copy);
        rates.fma = (double)lanes() * CHAINS * STEPS * threads / shortest(pool, fma_part, sums);
    }
    free(copy.dst);
    free(copy.src);
    free(sums);
    return rates;
}
