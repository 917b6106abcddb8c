/* The CPU backend's contexts and memory, and the choice of its instruction level.
 * SPDX-License-Identifier: MIT */
#define GI_LEVEL scalar
#include "kernels/cpu/cpu.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernels/cpu/device/host.h"

extern const struct gi_kernels gi_cpu_kernels_scalar;
#ifdef __x86_64__
extern const struct gi_kernels gi_cpu_kernels_avx2, gi_cpu_kernels_avx512;
#endif

static bool has_avx2(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
#else
    return false;
#endif
}

static bool has_avx512(void)
{
#ifdef __x86_64__
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
#else
    return false;
#endif
}

static bool has_scalar(void)
{
    return true;
}

/* From the best to the plainest. */
static const struct level {
    const char *name;
    const struct gi_kernels *kernels;
    bool (*here)(void);
} levels[] = {
#ifdef __x86_64__
    {"avx512", &gi_cpu_kernels_avx512, has_avx512},
    {"avx2", &gi_cpu_kernels_avx2, has_avx2},
#endif
    {"scalar", &gi_cpu_kernels_scalar, has_scalar},
};

enum { NLEVELS = sizeof levels / sizeof *levels };

static const struct level *pick_level(void)
{
    const char *cap = getenv("GPUIMG_CPU");
    int i = 0;
    for (int j = 0; cap && j < NLEVELS; j++)
        if (strcmp(cap, levels[j].name) == 0)
            i = j;
    while (!levels[i].here())
        i++;
    return &levels[i];
}

const struct gi_kernels *gi_kernels_cpu(void)
{
    return pick_level()->kernels;
}

const char *gi_cpu_level(void)
{
    return pick_level()->name;
}

const struct gi_kernels *gi_kernels_cpu_level(const char *name)
{
    for (int i = 0; i < NLEVELS; i++)
        if (strcmp(name, levels[i].name) == 0)
            return levels[i].here() ? levels[i].kernels : NULL;
    return NULL;
}

int gi_cpu_host_probe(struct gi_device_info *infos, int max, struct gi_err *err)
{
    (void)err;
    if (max < 1)
        return 1;
    cpu_set_t set;
    int cpus = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    infos[0] = (struct gi_device_info){.units = cpus,
                                       .memory_nbytes = page * (size_t)sysconf(_SC_PHYS_PAGES),
                                       .free_nbytes = page * (size_t)sysconf(_SC_AVPHYS_PAGES)};
    snprintf(infos[0].name, sizeof infos[0].name, "%s", gi_cpu_level());
    return 1;
}

enum gi_status gi_cpu_host_open(struct gi_queue **queue, const struct gi_kernels *k,
                                const struct gi_open_options *options, struct gi_err *err)
{
    struct gi_cpu_queue *cpu = calloc(1, sizeof *cpu);
    if (!cpu)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a context");
    enum gi_status status =
        gi_pool_new(&cpu->pool, options->threads < 1 ? 1 : options->threads, err);
    if (status) {
        free(cpu);
        return status;
    }
    cpu->base.k = k;
    *queue = &cpu->base;
    return GI_OK;
}

void gi_cpu_host_close(struct gi_queue **queue)
{
    if (!*queue)
        return;
    gi_pool_free(&((struct gi_cpu_queue *)*queue)->pool);
    free(*queue);
    *queue = NULL;
}

enum gi_status gi_cpu_host_alloc(struct gi_queue *queue, struct gi_image *image, int width,
                                 int height, int channels, enum gi_type type, struct gi_err *err)
{
    (void)queue;
    return gi_image_alloc(image, width, height, channels, type, err);
}

void gi_cpu_host_release(struct gi_queue *queue, struct gi_image *image)
{
    (void)queue;
    gi_image_free(image);
}

enum gi_status gi_cpu_host_upload(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *host, struct gi_err *err)
{
    (void)queue;
    (void)err;
    *dst = *host;
    dst->owner = GI_OWNER_NONE;
    return GI_OK;
}

enum gi_status gi_cpu_host_download(struct gi_queue *queue, struct gi_image *host,
                                    struct gi_image *src, struct gi_err *err)
{
    (void)queue;
    enum gi_status status = GI_OK;
    if (src->owner == GI_OWNER_HOST)
        *host = *src; /* the samples change hands */
    else
        status = gi_image_convert(host, src, src->type, err);
    src->data = NULL;
    return status;
}

enum gi_status gi_cpu_host_sync(struct gi_queue *queue, struct gi_err *err)
{
    (void)queue;
    (void)err;
    return GI_OK;
}

enum gi_status gi_cpu_host_copy(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, struct gi_err *err)
{
    (void)queue;
    (void)err;
    for (int y = 0; y < src->height; y++)
        memcpy(gi_row(dst, y), gi_row(src, y), gi_row_nbytes(src));
    return GI_OK;
}

enum gi_status gi_cpu_host_jobs(struct gi_queue *queue, int njobs, gi_job_fn *fn, void *arg,
                                size_t scratch_nbytes, struct gi_err *err)
{
    return gi_pool_run(gi_cpu_pool(queue), njobs, fn, arg, scratch_nbytes, err);
}

void gi_cpu_host_limits(struct gi_queue *queue, size_t *nbytes, int *rows, size_t *row_nbytes)
{
    (void)queue;
    *nbytes = SIZE_MAX;
    *rows = INT_MAX;
    *row_nbytes = SIZE_MAX;
}

void gi_cpu_host_mark(struct gi_queue *queue, int slot)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    ((struct gi_cpu_queue *)queue)->marks_ms[slot] =
        1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

double gi_cpu_host_elapsed_ms(struct gi_queue *queue, int from, int to)
{
    const double *ms = ((struct gi_cpu_queue *)queue)->marks_ms;
    return ms[to] - ms[from];
}

void gi_points_free(struct gi_points *points)
{
    free(points->x);
    free(points->y);
    free(points->value);
    *points = (struct gi_points){0};
}
