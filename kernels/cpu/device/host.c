/* Device, queues and memory of the CPU backend, and the choice of its instruction level.
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
#include "kernels/cpu/device/kept.h"
#include "kernels/ways.h"
#include "kernels/regions.h"

extern const struct gi_kernels gi_cpu_kernels_scalar, gi_cpu_kernels_avx2, gi_cpu_kernels_avx512,
    gi_cpu_kernels_neon;

#ifdef __x86_64__
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}
#endif

/* The test for the level that every processor of this architecture supports. */
static bool always(void)
{
    return true;
}

/* From the fastest to the scalar one. */
static const struct level {
    const char *name;
    const struct gi_kernels *kernels;
    bool (*here)(void);
    int lanes; /* float32 fused multiply-adds per clock, nominally two vectors */
} levels[] = {
#ifdef __x86_64__
    {"avx512", &gi_cpu_kernels_avx512, has_avx512, 32},
    {"avx2", &gi_cpu_kernels_avx2, has_avx2, 16},
#elif defined __aarch64__
    {"neon", &gi_cpu_kernels_neon, always, 8},
#endif
    {"scalar", &gi_cpu_kernels_scalar, always, 2},
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

/* Fails if GPUIMG_CPU is set but does not name a level. */
static enum gi_status check_level(struct gi_err *err)
{
    const char *cap = getenv("GPUIMG_CPU");
    char names[64] = "";
    for (int i = 0; i < NLEVELS; i++) {
        if (!cap || !*cap || strcmp(cap, levels[i].name) == 0)
            return GI_OK;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", levels[i].name);
    }
    return gi_fail(err, GI_E_USAGE, "GPUIMG_CPU=%s: want one of %s", cap, names);
}

const struct gi_kernels *gi_kernels_cpu(void)
{
    return pick_level()->kernels;
}

const char *gi_cpu_level(void)
{
    return pick_level()->name;
}

const char *gi_cpu_level_at(int i)
{
    return i < NLEVELS ? levels[NLEVELS - 1 - i].name : NULL;
}

const struct gi_kernels *gi_kernels_cpu_level(const char *name)
{
    for (int i = 0; i < NLEVELS; i++)
        if (strcmp(name, levels[i].name) == 0)
            return levels[i].here() ? levels[i].kernels : NULL;
    return NULL;
}

/* Returns the maximum clock of the first CPU in kHz, or 0 if it is unknown. */
static int clock_khz(void)
{
    int khz = 0;
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "r");
    if (!file)
        return 0;
    if (fscanf(file, "%d", &khz) != 1)
        khz = 0;
    fclose(file);
    return khz;
}

int gi_cpu_host_probe(struct gi_device_info *infos, int max, struct gi_err *err)
{
    if (max < 1)
        return 1;
    cpu_set_t set;
    int cpus = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    infos[0] = (struct gi_device_info){.units = cpus,
                                       .memory_nbytes = page * (size_t)sysconf(_SC_PHYS_PAGES),
                                       .free_nbytes = page * (size_t)sysconf(_SC_AVPHYS_PAGES),
                                       .lanes = pick_level()->lanes,
                                       .clock_khz = clock_khz(),
                                       .cache_nbytes = cache > 0 ? (size_t)cache : 0};
    snprintf(infos[0].name, sizeof infos[0].name, "%s", gi_cpu_level());
    return 1;
}

enum gi_status gi_cpu_host_describe(struct gi_device *device, struct gi_device_info *info,
                                    struct gi_err *err)
{
    gi_cpu_host_probe(info, 1, err);
    return GI_OK;
}

enum gi_status gi_cpu_host_device_open(struct gi_device **device, const struct gi_kernels *k,
                                       const struct gi_open_options *options, struct gi_err *err)
{
    *device = NULL;
    enum gi_status status = check_level(err);
    if (status)
        return status;
    struct gi_cpu_device *cpu = calloc(1, sizeof *cpu);
    if (!cpu)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a device");
    status = gi_pool_new(&cpu->pool, options->threads < 1 ? 1 : options->threads, err);
    cpu->base.k = k;
    *device = &cpu->base;
    if (!status && options->keeps && !(cpu->kept = gi_kept_new()))
        status = gi_fail(err, GI_E_MEMORY, "out of memory: a device");
    if (status)
        gi_cpu_host_device_close(device);
    return status;
}

void gi_cpu_host_device_close(struct gi_device **device)
{
    struct gi_cpu_device *cpu = (struct gi_cpu_device *)*device;
    if (!cpu)
        return;
    gi_pool_free(&cpu->pool);
    gi_kept_free(&cpu->kept);
    free(*device);
    *device = NULL;
}

enum gi_status gi_cpu_host_queue_open(struct gi_queue **queue, struct gi_device *device,
                                      struct gi_err *err)
{
    *queue = NULL;
    struct gi_cpu_queue *cpu = calloc(1, sizeof *cpu);
    if (!cpu)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a queue");
    cpu->base = (struct gi_queue){device->k, device, NULL};
    cpu->pool = ((struct gi_cpu_device *)device)->pool;
    *queue = &cpu->base;
    enum gi_status status = gi_queue_ways_open(*queue, err);
    if (status)
        gi_cpu_host_queue_close(queue);
    return status;
}

void gi_cpu_host_queue_close(struct gi_queue **queue)
{
    if (*queue)
        gi_queue_ways_close(*queue);
    free(*queue);
    *queue = NULL;
}

const struct gi_allocator *gi_cpu_host_host_allocator(struct gi_device *device)
{
    const struct gi_kept *kept = ((struct gi_cpu_device *)device)->kept;
    return kept ? gi_kept_allocator(kept) : NULL;
}

void gi_cpu_host_limits(struct gi_queue *queue, struct gi_device_limits *limits)
{
    *limits = (struct gi_device_limits){.free_nbytes = SIZE_MAX,
                                        .rows = INT_MAX,
                                        .row_nbytes = SIZE_MAX,
                                        .row_align = GI_ROW_ALIGN};
}

enum gi_status gi_cpu_host_alloc(struct gi_queue *queue, struct gi_image *image, int width,
                                 int height, int channels, enum gi_type type, struct gi_err *err)
{
    return gi_image_alloc_from(image, gi_cpu_host_host_allocator(queue->device), width, height,
                               channels, type, err);
}

void gi_cpu_host_release(struct gi_queue *queue, struct gi_image *image)
{
    gi_image_free(image);
}

static void no_ticket(struct gi_ticket *ticket)
{
    if (ticket)
        *ticket = (struct gi_ticket){0};
}

enum gi_status gi_cpu_host_upload(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *host, struct gi_ticket *ticket,
                                  struct gi_err *err)
{
    *dst = *host;
    dst->owner = GI_OWNER_NONE;
    no_ticket(ticket);
    return GI_OK;
}

enum gi_status gi_cpu_host_download(struct gi_queue *queue, struct gi_image *host,
                                    struct gi_image *src, struct gi_ticket *ticket,
                                    struct gi_err *err)
{
    enum gi_status status = GI_OK;
    if (src->owner == GI_OWNER_HOST)
        *host = *src; /* the samples change their owner */
    else
        status = gi_image_convert(host, src, src->type, err);
    src->data = NULL;
    no_ticket(ticket);
    return status;
}

/* Copies rows of one image to another of the same shape. */
struct copy {
    const struct gi_image *dst, *src;
    int slice_rows;
};

static void copy_slice(void *arg, int index, void *scratch)
{
    const struct copy *copy = arg;
    int first = index * copy->slice_rows, left = copy->src->height - first;
    for (int y = first; y < first + (left < copy->slice_rows ? left : copy->slice_rows); y++)
        memcpy(gi_row(copy->dst, y), gi_row(copy->src, y), gi_row_nbytes(copy->src));
}

enum gi_status gi_cpu_host_download_into(struct gi_queue *queue, const struct gi_image *host,
                                         struct gi_image *src, struct gi_ticket *ticket,
                                         struct gi_err *err)
{
    const size_t slice_nbytes = 256 << 10; /* enough to be worth waking a worker */
    size_t row = gi_row_nbytes(src), rows = row < slice_nbytes ? slice_nbytes / row : 1;
    struct copy copy = {host, src, rows < (size_t)src->height ? (int)rows : src->height};
    int nslices = 1 + (src->height - 1) / copy.slice_rows;
    enum gi_status status = gi_pool_run(gi_cpu_pool(queue), nslices, copy_slice, &copy, 0, err);
    gi_cpu_host_release(queue, src);
    no_ticket(ticket);
    return status;
}

enum gi_status gi_cpu_host_wait(struct gi_queue *queue, struct gi_ticket *ticket,
                                struct gi_err *err)
{
    no_ticket(ticket);
    return GI_OK;
}

enum gi_status gi_cpu_host_sync(struct gi_queue *queue, struct gi_err *err)
{
    return GI_OK;
}

enum gi_status gi_cpu_host_copy(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, struct gi_err *err)
{
    for (int y = 0; y < src->height; y++)
        memcpy(gi_row(dst, y), gi_row(src, y), gi_row_nbytes(src));
    return GI_OK;
}

enum gi_status gi_cpu_host_jobs(struct gi_queue *queue, int njobs, gi_job_fn *fn, void *arg,
                                size_t scratch_nbytes, struct gi_err *err)
{
    return gi_pool_run(gi_cpu_pool(queue), njobs, fn, arg, scratch_nbytes, err);
}

struct gi_stopwatch {
    int nmarks;
    double ms[]; /* ms from an arbitrary start of the clock to each mark */
};

enum gi_status gi_cpu_host_stopwatch_new(struct gi_stopwatch **watch, struct gi_queue *queue,
                                         int nmarks, struct gi_err *err)
{
    *watch = calloc(1, sizeof **watch + (size_t)nmarks * sizeof(double));
    if (!*watch)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a stopwatch");
    (*watch)->nmarks = nmarks;
    return GI_OK;
}

void gi_cpu_host_stopwatch_mark(struct gi_stopwatch *watch, int mark)
{
    struct timespec t;
    if (!watch)
        return;
    clock_gettime(CLOCK_MONOTONIC, &t);
    watch->ms[mark] = 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

double gi_cpu_host_stopwatch_ms(const struct gi_stopwatch *watch, int from, int to)
{
    return watch->ms[to] - watch->ms[from];
}

void gi_cpu_host_stopwatch_free(struct gi_stopwatch **watch)
{
    free(*watch);
    *watch = NULL;
}

/* Does nothing, because profilers of the CPU read the call stack. */
void gi_cpu_host_range(struct gi_queue *queue, const char *name)
{
}

void gi_pixel_list_free(struct gi_pixel_list *points)
{
    free(points->x);
    free(points->y);
    free(points->value);
    *points = (struct gi_pixel_list){0};
}
