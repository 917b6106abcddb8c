/* The device pool: the devices of a batch and the queues on them.
 * SPDX-License-Identifier: MIT */
#include "cli/run/device_pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run/rates.h"
#include "cli/log.h"
#include "kernels/kernels.h"

/* Images in progress per GPU: while one is computed, another is uploaded and a third downloaded. */
enum { QUEUES_A_GPU = 4 };

/* Decoded images that wait per GPU. If more wait, `auto` lets the CPU compute some. */
enum { WAITING_A_GPU = 4 };

/* Assumed number of images if it is unknown. */
enum { MANY = 1000 };

/* A device of the pool with its idle queues. */
struct member {
    const struct gi_kernels *k;
    struct gi_open_options options;
    char name[16]; /* "cuda:1" */
    pthread_t thread;
    bool opening;      /* `thread` runs and must be joined */
    struct gi_err err; /* error of opening */
    struct gi_device *device;
    struct gi_queue **idle;
    int nidle, nqueues, most; /* nqueues: existing queues; most: their maximum number */
    bool ready, lost;
    struct fault {
        long at;   /* number of the run that fails, from 1; 0: none */
        bool once; /* only that run fails, with GI_E_LAUNCH; else it and all later ones, with
                      GI_E_DEVICE */
    } fault;
    long runs; /* counted for `fault` */
};

struct gi_device_pool {
    enum gi_device_choice choice;
    int threads;
    uint64_t images;
    bool verbose, decided; /* decided: `auto` has estimated the work */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a queue has become idle, or a member ready or lost */
    struct member cpu, *gpus;
    int ngpus;
    int waiting; /* number of threads that wait for a queue */
};

/* Opens the device of a member; for GPUs on a thread of its own. */
static void *open_member(void *arg)
{
    struct member *member = arg;
    member->k->device_open(&member->device, &member->options, &member->err);
    return NULL;
}

/* For tests: with GPUIMG_FAULT=cuda:1@20 the 20th image and all later ones fail on that device as
 * they do on a lost device; with cuda:1@20:launch only that image fails, as by a launch that CUDA
 * refuses. */
static struct fault fault_of(const char *name)
{
    const char *text = getenv("GPUIMG_FAULT");
    size_t n = strlen(name);
    struct fault fault = {0};
    if (text && strncmp(text, name, n) == 0 && text[n] == '@') {
        char *end;
        fault.at = strtol(text + n + 1, &end, 10);
        fault.once = strcmp(end, ":launch") == 0;
    }
    return fault;
}

static enum gi_status member_init(struct member *member, const struct gi_kernels *k,
                                  const struct gi_open_options *options, int most,
                                  struct gi_err *err)
{
    *member = (struct member){.k = k, .options = *options, .most = most};
    snprintf(member->name, sizeof member->name, "%s:%d", k->name, options->ordinal);
    member->idle = calloc((size_t)most, sizeof(struct gi_queue *));
    member->fault = fault_of(member->name);
    return member->idle ? GI_OK : gi_fail(err, GI_E_MEMORY, "out of memory: a device");
}

static void member_free(struct member *member)
{
    if (member->opening)
        pthread_join(member->thread, NULL);
    for (int i = 0; i < member->nidle; i++)
        member->k->queue_close(&member->idle[i]);
    if (member->device)
        member->k->device_close(&member->device);
    free(member->idle);
}

/* Starts to open all GPUs, each on a thread of its own. */
static void start_gpus(struct gi_device_pool *devices)
{
    for (int i = 0; i < devices->ngpus; i++) {
        struct member *gpu = &devices->gpus[i];
        gpu->opening = pthread_create(&gpu->thread, NULL, open_member, gpu) == 0;
        if (!gpu->opening)
            open_member(gpu);
    }
}

/* Waits until the GPUs that --device names are open: all of them must exist. */
static enum gi_status need_gpus(struct gi_device_pool *devices, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (int i = 0; i < devices->ngpus; i++) {
        struct member *gpu = &devices->gpus[i];
        if (gpu->opening)
            pthread_join(gpu->thread, NULL);
        gpu->opening = false;
        gpu->ready = gpu->device != NULL;
        if (!gpu->ready && !status) {
            *err = gpu->err;
            status = gi_err_prefix(err, "--device %s", gpu->name);
        }
    }
    return status;
}

/* Lists the GPUs that --device names. */
static enum gi_status list_gpus(struct gi_device_pool *devices, const struct gi_device_list *list,
                                const struct gi_open_options *options, struct gi_err *err)
{
    int n = list->n;
    if (list->all) {
        struct gi_device_info info;
        n = gi_kernels_cuda()->probe(&info, 0, err);
        if (n < 0)
            return gi_err_prefix(err, "--device cuda:all");
        if (n == 0)
            return gi_fail(err, GI_E_DEVICE, "--device cuda:all: there is no CUDA device");
    }
    devices->gpus = calloc((size_t)n, sizeof *devices->gpus);
    if (!devices->gpus)
        return gi_fail(err, GI_E_MEMORY, "out of memory: devices");
    enum gi_status status = GI_OK;
    for (int i = 0; i < n && !status; i++) {
        struct gi_open_options one = *options;
        one.ordinal = list->all ? i : list->ordinals[i];
        status = member_init(&devices->gpus[i], gi_kernels_cuda(), &one, QUEUES_A_GPU, err);
        devices->ngpus++;
    }
    return status;
}

static enum gi_status fill(struct gi_device_pool *devices, const struct gi_device_params *device,
                           const struct gi_device_list *list, struct gi_err *err)
{
    struct gi_open_options options = {.threads = devices->threads,
                                      .max_bytes = (size_t)device->max_device_bytes,
                                      .yields = true,
                                      .keeps = true};
    /* A queue of the CPU computes in the thread that took it, and every thread may take one. */
    int most = gi_device_pool_threads(devices) + QUEUES_A_GPU * GI_DEVICES_MAX;
    enum gi_status status = member_init(&devices->cpu, gi_kernels_cpu(), &options, most, err);
    if (!status)
        status = gi_kernels_cpu()->device_open(&devices->cpu.device, &options, err);
    devices->cpu.ready = !status;
    if (status || devices->choice == GI_CHOOSE_CPU ||
        (devices->choice == GI_CHOOSE_AUTO && !gi_cuda_is_likely()))
        return status;
    status = list_gpus(devices, list, &options, err);
    if (!status && devices->choice == GI_CHOOSE_CUDA) {
        start_gpus(devices);
        status = need_gpus(devices, err);
    }
    return status;
}

enum gi_status gi_device_pool_new(struct gi_device_pool **out,
                                  const struct gi_device_params *device, uint64_t images,
                                  struct gi_err *err)
{
    struct gi_device_list list;
    enum gi_device_choice choice;
    enum gi_status status = gi_device_parse_list(&choice, &list, device->device, err);
    *out = NULL;
    if (!status && choice == GI_CHOOSE_CUDA && !gi_kernels_cuda())
        status = gi_fail(err, GI_E_DEVICE, "--device cuda: this build has no CUDA backend");
    if (status)
        return status;
    struct gi_device_pool *devices = calloc(1, sizeof *devices);
    if (!devices)
        return gi_fail(err, GI_E_MEMORY, "out of memory: devices");
    devices->choice = choice;
    devices->threads = gi_thread_count(device->threads);
    devices->images = images ? images : MANY;
    devices->verbose = device->verbose;
    pthread_mutex_init(&devices->lock, NULL);
    pthread_cond_init(&devices->changed, NULL);
    status = fill(devices, device, &list, err);
    if (status)
        gi_device_pool_free(&devices);
    *out = devices;
    return status;
}

void gi_device_pool_free(struct gi_device_pool **out)
{
    struct gi_device_pool *devices = *out;
    *out = NULL;
    if (!devices)
        return;
    for (int i = 0; i < devices->ngpus; i++)
        member_free(&devices->gpus[i]);
    member_free(&devices->cpu);
    free(devices->gpus);
    free(devices);
}

int gi_device_pool_threads(const struct gi_device_pool *devices)
{
    return devices->threads + devices->ngpus * (QUEUES_A_GPU + WAITING_A_GPU);
}

const struct gi_allocator *gi_device_pool_allocator(struct gi_device_pool *devices)
{
    const struct gi_allocator *allocator = NULL;
    pthread_mutex_lock(&devices->lock);
    for (int i = 0; i < devices->ngpus && !allocator; i++)
        if (devices->gpus[i].ready)
            allocator = devices->gpus[i].k->host_allocator(devices->gpus[i].device);
    pthread_mutex_unlock(&devices->lock);
    return allocator ? allocator : devices->cpu.k->host_allocator(devices->cpu.device);
}

/* For `auto`: decides at the first image whether all images are enough work for a GPU. Called with
 * the lock held. */
static void decide(struct gi_device_pool *devices, const struct gi_pipeline *pipeline)
{
    if (devices->decided || devices->choice != GI_CHOOSE_AUTO || !devices->ngpus)
        return;
    devices->decided = true;
    struct gi_rates cpu = gi_rates_cpu(devices->threads), cuda = gi_rates_cuda_unopened();
    int images = devices->images < INT32_MAX ? (int)devices->images : INT32_MAX;
    struct gi_estimate estimate =
        gi_pipeline_estimate(pipeline, images, devices->threads, &cpu, &cuda);
    bool worth = estimate.cuda_s < estimate.cpu_s;
    if (devices->verbose)
        gi_cli_log("device auto: estimated %.3g s of kernels on cpu, at best %.3g s on cuda%s",
                   estimate.cpu_s, estimate.cuda_s, worth ? ": opens it" : "");
    if (worth)
        start_gpus(devices);
}

/* Notes GPUs that have been opened meanwhile. Called with the lock held. */
static void note_open(struct gi_device_pool *devices)
{
    for (int i = 0; i < devices->ngpus; i++) {
        struct member *gpu = &devices->gpus[i];
        if (!gpu->opening || pthread_tryjoin_np(gpu->thread, NULL))
            continue;
        gpu->opening = false;
        gpu->ready = gpu->device != NULL;
        if (!gpu->ready && devices->verbose)
            gi_cli_log("device auto: %s: %s", gpu->name, gpu->err.text);
    }
}

/* Returns an idle queue of the member, or a new one; NULL if it has none, with `err` if opening one
 * failed. */
static struct gi_queue *take_from(struct member *member, struct gi_err *err)
{
    if (!member->ready || member->lost)
        return NULL;
    if (member->nidle)
        return member->idle[--member->nidle];
    struct gi_queue *queue = NULL;
    if (member->nqueues == member->most)
        return NULL;
    enum gi_status status = member->k->queue_open(&queue, member->device, err);
    member->nqueues += !status;
    if ((status == GI_E_DEVICE_MEMORY || status == GI_E_MEMORY) && member->nqueues) {
        member->most = member->nqueues; /* continues with the existing queues */
        *err = (struct gi_err){0};
    }
    return queue;
}

/* Returns the number of GPUs that take images. Called with the lock held. */
static int count_live(const struct gi_device_pool *devices)
{
    int n = 0;
    for (int i = 0; i < devices->ngpus; i++)
        n += devices->gpus[i].ready && !devices->gpus[i].lost;
    return n;
}

/* Picks the GPU with the fewest busy queues that has a free one; else the CPU, if it may be used
 * and enough threads already wait for a GPU to keep it busy. NULL: wait. Called with the lock
 * held. */
static struct member *pick(struct gi_device_pool *devices, int live)
{
    struct member *best = NULL;
    for (int i = 0; i < devices->ngpus; i++) {
        struct member *gpu = &devices->gpus[i];
        int busy = gpu->nqueues - gpu->nidle;
        if (gpu->ready && !gpu->lost && busy < gpu->most &&
            (!best || busy < best->nqueues - best->nidle))
            best = gpu;
    }
    bool enough = devices->waiting >= live * WAITING_A_GPU;
    return best || devices->choice == GI_CHOOSE_CUDA || !enough ? best : &devices->cpu;
}

/* Waits for a free queue; `on_cpu`: for one of the CPU. */
static struct gi_queue *take(struct gi_device_pool *devices, bool on_cpu, struct member **from,
                             struct gi_err *err)
{
    struct gi_queue *queue = NULL;
    pthread_mutex_lock(&devices->lock);
    for (;;) {
        note_open(devices);
        int live = count_live(devices);
        *from = on_cpu ? &devices->cpu : pick(devices, live);
        if (*from && ((queue = take_from(*from, err)) || *err->text))
            break;
        if (!*from && !live) {
            gi_fail(err, GI_E_DEVICE, "no device is left");
            break;
        }
        devices->waiting++;
        pthread_cond_wait(&devices->changed, &devices->lock);
        devices->waiting--;
    }
    pthread_mutex_unlock(&devices->lock);
    return queue;
}

static void give_back(struct gi_device_pool *devices, struct member *member, struct gi_queue *queue)
{
    pthread_mutex_lock(&devices->lock);
    member->idle[member->nidle++] = queue;
    pthread_cond_signal(&devices->changed);
    pthread_mutex_unlock(&devices->lock);
}

/* Removes the member from the pool: it gets no more images, which is logged once. */
static void drop(struct gi_device_pool *devices, struct member *member, const struct gi_err *why)
{
    pthread_mutex_lock(&devices->lock);
    if (!member->lost)
        gi_cli_log("%s: %s; it gets no more images", member->name, why->text);
    member->lost = true;
    pthread_cond_broadcast(&devices->changed);
    pthread_mutex_unlock(&devices->lock);
}

static enum gi_status run_on(struct member *member, struct gi_queue *queue,
                             const struct gi_pipeline *pipeline, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_side *sides,
                             struct gi_times *times, struct gi_err *err)
{
    const struct fault *fault = &member->fault;
    long run = fault->at ? __atomic_add_fetch(&member->runs, 1, __ATOMIC_RELAXED) : 0;
    if (fault->at && fault->once && run == fault->at)
        return gi_fail(err, GI_E_LAUNCH, "not launched, as GPUIMG_FAULT asks");
    if (fault->at && !fault->once && run >= fault->at)
        return gi_fail(err, GI_E_DEVICE, "lost, as GPUIMG_FAULT asks");
    return gi_pipeline_run(pipeline, queue, dst, src, sides, times, err);
}

enum gi_status gi_device_pool_run(struct gi_device_pool *devices,
                                  const struct gi_pipeline *pipeline, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_side *sides,
                                  struct gi_times *times, struct gi_err *err)
{
    pthread_mutex_lock(&devices->lock);
    decide(devices, pipeline);
    pthread_mutex_unlock(&devices->lock);
    for (bool on_cpu = false;;) {
        struct member *member;
        struct gi_err fault = {0};
        struct gi_queue *queue = take(devices, on_cpu, &member, &fault);
        enum gi_status status =
            queue ? run_on(member, queue, pipeline, dst, src, sides, times, &fault) : fault.status;
        if (queue)
            give_back(devices, member, queue);
        bool of_gpu = member && member->k->kind == GI_DEVICE_CUDA;
        if (status == GI_E_DEVICE && of_gpu) {
            drop(devices, member, &fault);
            continue;
        }
        on_cpu = status == GI_E_LAUNCH && of_gpu && devices->choice == GI_CHOOSE_AUTO;
        if (on_cpu) {
            if (devices->verbose)
                gi_cli_log("device auto: %s: %s; the CPU does that image", member->name,
                           fault.text);
            continue;
        }
        if (status)
            *err = fault;
        return status;
    }
}
