/* A device of the session, with its idle queues.
 * SPDX-License-Identifier: MIT */
#include "cli/run/session_device.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/run/gpus.h"
#include "imgio/small.h"
#include "kernels/codec.h"
#include "kernels/kernels.h"
#include "kernels/ways.h"

/* Devices that stay open between the lines of gpuimg jobs. Threads that open devices share them. */
enum { KEPT_MAX = 32 };
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gi_session_device kept[KEPT_MAX];
static int nkept;
static bool keeps;

static bool has_options(const struct gi_session_device *device, const struct gi_kernels *k,
                        const struct gi_open_options *o)
{
    const struct gi_open_options *p = &device->options;
    return device->k == k && p->threads == o->threads && p->ordinal == o->ordinal &&
           p->yields == o->yields && p->keeps == o->keeps && p->max_bytes == o->max_bytes;
}

static void close_all(struct gi_session_device *device)
{
    for (int i = 0; i < device->nidle; i++)
        device->k->queue_close(&device->idle[i]);
    if (device->device)
        device->k->device_close(&device->device);
    free(device->idle);
}

/* Keeps the device with its queues. Returns false if it is to be closed. */
static bool keep_device(const struct gi_session_device *device)
{
    pthread_mutex_lock(&kept_lock);
    bool fits = keeps && nkept < KEPT_MAX && device->device && !device->lost &&
                !device->err.status && device->nidle == device->nqueues;
    if (fits)
        kept[nkept++] = *device;
    pthread_mutex_unlock(&kept_lock);
    return fits;
}

/* Takes a kept device with the same options. Returns false if there is none. */
static bool take_kept(struct gi_session_device *device)
{
    struct gi_session_device found = {0};
    pthread_mutex_lock(&kept_lock);
    for (int i = nkept - 1; i >= 0 && !found.device; i--)
        if (has_options(&kept[i], device->k, &device->options)) {
            found = kept[i];
            kept[i] = kept[--nkept];
        }
    pthread_mutex_unlock(&kept_lock);
    if (!found.device)
        return false;
    while (found.nidle > device->most)
        found.k->queue_close(&found.idle[--found.nidle]);
    memcpy(device->idle, found.idle, (size_t)found.nidle * sizeof(struct gi_queue *));
    device->device = found.device;
    device->nidle = device->nqueues = found.nidle;
    free(found.idle);
    return true;
}

void gi_session_devices_keep(bool keep)
{
    keeps = keep;
    while (!keep && nkept)
        close_all(&kept[--nkept]);
}

static void open_device(struct gi_session_device *device)
{
    const struct gi_kernels *k = device->k;
    if (take_kept(device))
        return;
    if (k->device_open(&device->device, &device->options, &device->err) || !device->with_queue)
        return;
    if (k->queue_open(&device->idle[0], device->device, &device->err))
        k->device_close(&device->device);
    else
        device->nidle = device->nqueues = 1;
}

static void *open_on_thread(void *arg)
{
    struct gi_session_device *device = arg;
    open_device(device);
    pthread_mutex_lock(device->opening.lock);
    device->opening.ended = true;
    pthread_cond_broadcast(device->opening.changed);
    pthread_mutex_unlock(device->opening.lock);
    return NULL;
}

/* For tests: GPUIMG_FAULT=cuda:1@20 makes the 20th image and all later ones fail on that device, as
 * if it were lost. With cuda:1@20:launch only the 20th image fails, as if CUDA refused a launch. */
static struct gi_fault fault_of(const char *name)
{
    const char *text = getenv("GPUIMG_FAULT");
    size_t n = strlen(name);
    struct gi_fault fault = {0};
    if (text && strncmp(text, name, n) == 0 && text[n] == '@') {
        char *end;
        fault.at = strtol(text + n + 1, &end, 10);
        fault.once = strcmp(end, ":launch") == 0;
    }
    return fault;
}

void gi_session_device_init(struct gi_session_device *device, const struct gi_kernels *k,
                            const struct gi_open_options *options, int number, int most)
{
    *device = (struct gi_session_device){.k = k, .options = *options, .most = most};
    snprintf(device->name, sizeof device->name, "%s:%d", k->name, number);
    device->idle = gi_small_calloc((size_t)most, sizeof(struct gi_queue *));
    device->fault = fault_of(device->name);
}

enum gi_status gi_session_devices_list(struct gi_session_device **gpus, int *count,
                                       const struct gi_device_list *list, bool one,
                                       const struct gi_open_options *options, struct gi_err *err)
{
    int n = one ? 1 : list->n, ordinals[GI_DEVICES_MAX];
    bool all = list->all && !one;
    gi_gpus_see_only(ordinals, list->ordinals, all ? 0 : n);
    if (all) {
        struct gi_device_info info;
        n = gi_kernels_cuda()->probe(&info, 0, err);
        if (n < 0)
            return gi_err_prefix(err, "--device cuda:all");
        if (n == 0)
            return gi_fail(err, GI_E_DEVICE, "--device cuda:all: there is no CUDA device");
    }
    *gpus = gi_small_calloc((size_t)n, sizeof **gpus);
    *count = n;
    for (int i = 0; i < n; i++) {
        struct gi_open_options its = *options;
        its.ordinal = all ? i : ordinals[i];
        gi_session_device_init(&(*gpus)[i], gi_kernels_cuda(), &its, all ? i : list->ordinals[i],
                               GI_QUEUES_A_GPU);
        (*gpus)[i].with_queue = one;
    }
    return GI_OK;
}

static void join(struct gi_session_device *device)
{
    if (device->opening.has_thread)
        pthread_join(device->opening.thread, NULL);
    device->opening.has_thread = false;
}

void gi_session_device_free(struct gi_session_device *device)
{
    join(device);
    if (!keep_device(device))
        close_all(device);
}

void gi_session_device_start(struct gi_session_device *device, pthread_mutex_t *lock,
                             pthread_cond_t *changed)
{
    device->opening.lock = lock;
    device->opening.changed = changed;
    device->opening.started = device->opening.pending = true;
    device->opening.has_thread =
        pthread_create(&device->opening.thread, NULL, open_on_thread, device) == 0;
    if (!device->opening.has_thread) {
        open_device(device);
        device->opening.ended = true;
    }
}

/* Takes the result of opening, which has ended. */
static bool take_result(struct gi_session_device *device)
{
    join(device);
    device->opening.pending = false;
    return device->ready = device->device != NULL;
}

bool gi_session_device_wait(struct gi_session_device *device)
{
    if (!device->opening.started)
        open_device(device);
    device->opening.started = true;
    return take_result(device);
}

bool gi_session_device_opened(struct gi_session_device *device)
{
    if (!device->opening.pending || !device->opening.ended)
        return false;
    take_result(device);
    return true;
}

/* Tries to open those of several GPUs that don't exist, which fails at once. Otherwise another GPU
 * could be open first, and the command would not fail. */
static void open_missing(struct gi_session_device *gpus, int n)
{
    struct gi_device_info info;
    int count = n > 1 ? gpus->k->probe(&info, 0, NULL) : INT_MAX;
    for (int i = 0; i < n; i++)
        if (gpus[i].options.ordinal >= count)
            gi_session_device_wait(&gpus[i]);
}

/* Returns whether a GPU is open. Sets *opening to whether one is still being opened, and *failed to
 * the first that can't be opened, or NULL. Called with the lock held. */
static bool is_one_open(struct gi_session_device *gpus, int n, bool *opening,
                        struct gi_session_device **failed)
{
    bool ready = false;
    *opening = false;
    *failed = NULL;
    for (int i = n - 1; i >= 0; i--) {
        gi_session_device_opened(&gpus[i]);
        *opening = *opening || gpus[i].opening.pending;
        ready = ready || gpus[i].ready;
        if (!gpus[i].opening.pending && !gpus[i].ready)
            *failed = &gpus[i];
    }
    return ready;
}

enum gi_status gi_session_devices_open(struct gi_session_device *gpus, int n, pthread_mutex_t *lock,
                                       pthread_cond_t *changed, struct gi_err *err)
{
    struct gi_session_device *failed;
    bool opening;
    open_missing(gpus, n);
    for (int i = 0; i < n; i++)
        if (!gpus[i].opening.started)
            gi_session_device_start(&gpus[i], lock, changed);
    pthread_mutex_lock(lock);
    while ((!is_one_open(gpus, n, &opening, &failed) || failed) && opening)
        pthread_cond_wait(changed, lock);
    pthread_mutex_unlock(lock);
    if (!failed)
        return GI_OK;
    *err = failed->err;
    return gi_err_prefix(err, "--device %s", failed->name);
}

void gi_session_device_cond_init(pthread_cond_t *changed)
{
    pthread_condattr_t by;
    pthread_condattr_init(&by);
    pthread_condattr_setclock(&by, CLOCK_MONOTONIC);
    pthread_cond_init(changed, &by);
    pthread_condattr_destroy(&by);
}

void gi_session_device_wait_for(pthread_cond_t *changed, pthread_mutex_t *lock, double until_ms)
{
    enum { NS_PER_MS = 1000000 };
    long ms = (long)until_ms + 1; /* not before that time */
    struct timespec until = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * NS_PER_MS};
    if (until_ms > 0)
        pthread_cond_timedwait(changed, lock, &until);
    else
        pthread_cond_wait(changed, lock);
}

struct gi_queue *gi_session_device_take(struct gi_session_device *device, struct gi_err *err)
{
    if (!device->ready || device->lost)
        return NULL;
    if (device->nidle)
        return device->idle[--device->nidle];
    struct gi_queue *queue = NULL;
    if (device->nqueues == device->most)
        return NULL;
    enum gi_status status = device->k->queue_open(&queue, device->device, err);
    device->nqueues += !status;
    if ((status == GI_E_DEVICE_MEMORY || status == GI_E_MEMORY) && device->nqueues) {
        device->most = device->nqueues; /* continues with the existing queues */
        *err = (struct gi_err){0};
    }
    return queue;
}

void gi_session_device_give(struct gi_session_device *device, struct gi_queue *queue)
{
    device->idle[device->nidle++] = queue;
}

/* Returns why the device does not run the job: a fault for tests, or an image that is coded. */
static enum gi_status refuse(struct gi_session_device *device, const struct gi_session_job *job,
                             struct gi_err *err)
{
    const struct gi_fault *fault = &device->fault;
    long run = fault->at ? __atomic_add_fetch(&device->fault.runs, 1, __ATOMIC_RELAXED) : 0;
    if (fault->at && fault->once && run == fault->at)
        return gi_fail(err, GI_E_LAUNCH, "not launched, as GPUIMG_FAULT asks");
    if (fault->at && !fault->once && run >= fault->at)
        return gi_fail(err, GI_E_DEVICE, "lost, as GPUIMG_FAULT asks");
    if (job->src->coded && device->k->kind == GI_DEVICE_CPU &&
        !gi_ways_forces(gi_coded_primitive(job->src->coded)))
        return gi_fail(err, GI_E_UNSUPPORTED, "the CPU decodes images before it processes them");
    return GI_OK;
}

enum gi_status gi_session_device_run(struct gi_session_device *device, struct gi_queue *queue,
                                     const struct gi_session_job *job, struct gi_err *err)
{
    struct gi_queue *own = NULL;
    if (!queue && !gi_session_device_wait(device)) {
        *err = device->err;
        return err->status;
    }
    if (!queue && !(queue = own = gi_session_device_take(device, err)))
        return err->status;
    enum gi_status status = refuse(device, job, err);
    if (!status)
        status =
            gi_pipeline_run(job->pipeline, queue, job->dst, job->src, job->sides, job->times, err);
    if (status == GI_E_DEVICE)
        __atomic_store_n(&device->err.status, GI_E_DEVICE, __ATOMIC_RELAXED);
    if (own)
        gi_session_device_give(device, own);
    return status;
}
