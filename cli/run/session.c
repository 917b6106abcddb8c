/* The session: the devices of a command and the queues on them.
 * SPDX-License-Identifier: MIT */
#include "cli/run/session.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/process.h"
#include "cli/run/backoff.h"
#include "cli/run/rates.h"
#include "cli/run/session_device.h"
#include "cli/run/session_estimate.h"
#include "cli/run/timing.h"
#include "imgio/small.h"
#include "kernels/kernels.h"
#include "kernels/ways.h"

/* Minimum number of images per GPU that may wait. If more wait, `auto` lets the CPU compute some of
 * them, unless the GPU computes all of them sooner (gi_session_waiting()). */
enum { WAITING_A_GPU = 4 };

enum {
    MANY = 1000,            /* the assumed number of images if their number is unknown */
    OPENING_MS_MAX = 800,   /* maximum time that images of `auto` wait until a GPU is open */
    LARGE_NBYTES = 10000000 /* a core decodes such a JPEG in the 0.3 s in which CUDA opens */
};

struct gi_session {
    enum gi_device_choice choice;
    const char *asked_by; /* "--device" or "GPUIMG_DEVICE" */
    int threads;
    uint64_t images;
    bool one;              /* images come one at a time, each for a GPU or the CPU */
    bool verbose, decided; /* decided: `auto` has estimated the work */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* signals that a queue is idle, or a device opened or lost */
    struct gi_session_device cpu, *gpus;
    int ngpus;
    struct gi_backoff coded[GI_BACKOFF_KINDS]; /* of JPEGs and of PNGs that GPUs decode */
    int waiting;                               /* number of threads that wait for a queue */
    /* `auto` lets images wait until a GPU is open, up to this time; 0: it does not, and --device
     * cuda has no limit. */
    double opening_until_ms;
    int waiting_most; /* of them per GPU, before `auto` gives images to the CPU; 0: not known */
};

/* Starts to open all GPUs, each on a thread of its own. */
static void start_gpus(struct gi_session *devices)
{
    for (int i = 0; i < devices->ngpus; i++)
        gi_session_device_start(&devices->gpus[i], &devices->lock, &devices->changed);
}

static enum gi_status fill(struct gi_session *devices, const struct gi_device_params *device,
                           const struct gi_device_list *list, struct gi_err *err)
{
    struct gi_open_options options = {.threads = devices->threads,
                                      .max_bytes = (size_t)device->max_device_bytes,
                                      .yields = !devices->one,
                                      .keeps = !devices->one};
    /* A queue of the CPU computes in the thread that has taken the queue. There are more threads
     * than --threads says if there are GPUs, and the others wait. */
    int most = devices->one ? 1 : devices->threads;
    enum gi_status status = GI_OK;
    gi_session_device_init(&devices->cpu, gi_kernels_cpu(), &options, 0, most);
    if (!devices->one && !gi_session_device_wait(&devices->cpu)) {
        *err = devices->cpu.err;
        status = err->status;
    }
    if (status || devices->choice == GI_CHOOSE_CPU ||
        (devices->choice == GI_CHOOSE_AUTO && !gi_cuda_is_likely()))
        return status;
    status =
        gi_session_devices_list(&devices->gpus, &devices->ngpus, list, devices->one, &options, err);
    if (!status && devices->choice == GI_CHOOSE_CUDA && devices->one)
        start_gpus(devices);
    else if (!status && devices->choice == GI_CHOOSE_CUDA)
        status = gi_session_devices_open(devices->gpus, devices->ngpus, &devices->lock,
                                         &devices->changed, err);
    return status;
}

static enum gi_status make(struct gi_session **out, const struct gi_device_params *device,
                           uint64_t images, bool one, struct gi_err *err)
{
    struct gi_device_list list;
    enum gi_device_choice choice;
    const char *asked_by = device->device ? "--device" : "GPUIMG_DEVICE";
    enum gi_status status = gi_device_parse_list(&choice, &list, device->device, err);
    *out = NULL;
    if (!status && choice == GI_CHOOSE_CUDA && !gi_kernels_cuda())
        status = gi_fail(err, GI_E_DEVICE, "%s cuda: this build has no CUDA backend", asked_by);
    if (status)
        return status;
    struct gi_session *devices = gi_small_calloc(1, sizeof *devices);
    devices->choice = choice;
    devices->asked_by = asked_by;
    devices->threads = gi_thread_count(device->threads);
    devices->images = images ? images : MANY;
    devices->one = one;
    devices->verbose = device->verbose;
    pthread_mutex_init(&devices->lock, NULL);
    gi_session_device_cond_init(&devices->changed);
    status = fill(devices, device, &list, err);
    if (status)
        gi_session_free(&devices);
    *out = devices;
    return status;
}

enum gi_status gi_session_new(struct gi_session **devices, const struct gi_device_params *device,
                              uint64_t images, struct gi_err *err)
{
    return make(devices, device, images, false, err);
}

enum gi_status gi_session_new_for_one(struct gi_session **devices,
                                      const struct gi_device_params *device, struct gi_err *err)
{
    return make(devices, device, 1, true, err);
}

void gi_session_free(struct gi_session **out)
{
    struct gi_session *devices = *out;
    *out = NULL;
    if (!devices)
        return;
    for (int i = 0; i < devices->ngpus; i++)
        gi_session_device_free(&devices->gpus[i]);
    gi_session_device_free(&devices->cpu);
    free(devices->gpus);
    free(devices);
}

int gi_session_threads(const struct gi_session *devices)
{
    return devices->threads + devices->ngpus * (GI_QUEUES_A_GPU + WAITING_A_GPU);
}

const struct gi_allocator *gi_session_allocator(struct gi_session *devices)
{
    const struct gi_allocator *allocator = NULL;
    if (devices->one)
        return NULL; /* one image saves less time than pinning memory costs */
    pthread_mutex_lock(&devices->lock);
    for (int i = 0; i < devices->ngpus && !allocator; i++)
        if (devices->gpus[i].ready)
            allocator = devices->gpus[i].k->host_allocator(devices->gpus[i].device);
    pthread_mutex_unlock(&devices->lock);
    return allocator ? allocator : devices->cpu.k->host_allocator(devices->cpu.device);
}

/* For `auto`. At the first image, decides whether all images together are enough work for a GPU. If
 * that image is still coded, a GPU would decode all of them. Called with the lock held. */
static void decide(struct gi_session *devices, const struct gi_session_job *job)
{
    if (devices->decided || devices->choice != GI_CHOOSE_AUTO || !devices->ngpus)
        return;
    devices->decided = true;
    int images = devices->images < INT32_MAX ? (int)devices->images : INT32_MAX;
    struct gi_estimate estimate = gi_session_estimate(job, images, devices->threads, NULL);
    bool worth = estimate.cuda_s < estimate.cpu_s;
    if (devices->verbose)
        gi_cli_tell("device auto: estimated %.3g s%s on cpu, at best %.3g s on cuda%s",
                    estimate.cpu_s, estimate.with_coding ? " with coding" : "", estimate.cuda_s,
                    worth ? ": opens it" : "");
    if (!worth)
        return;
    start_gpus(devices);
    /* Work on all CPUs would double the time until the GPU is open. */
    if (estimate.cuda_s < estimate.cpu_s * 2 / 3)
        devices->opening_until_ms = gi_now_ms() + OPENING_MS_MAX;
}

/* Finds out which GPUs have been opened meanwhile. Called with the lock held. */
static void note_open(struct gi_session *devices)
{
    for (int i = 0; i < devices->ngpus; i++) {
        struct gi_session_device *gpu = &devices->gpus[i];
        if (!gi_session_device_opened(gpu) || gpu->ready)
            continue;
        if (devices->choice == GI_CHOOSE_CUDA)
            gi_cli_warn("--device %s: %s; it gets no images", gpu->name, gpu->err.text);
        else if (devices->verbose)
            gi_cli_log("device auto: %s: %s", gpu->name, gpu->err.text);
    }
}

/* Returns the number of GPUs that accept images. Called with the lock held. */
static int count_live(const struct gi_session *devices)
{
    int n = 0;
    for (int i = 0; i < devices->ngpus; i++)
        n += devices->gpus[i].ready && !devices->gpus[i].lost;
    return n;
}

/* Returns whether images wait until a GPU is open, because there is none that works. Called with
 * the lock held. */
static bool waits_for_opening(const struct gi_session *devices)
{
    bool opening = false;
    for (int i = 0; i < devices->ngpus; i++)
        opening = opening || devices->gpus[i].opening.pending;
    return opening && count_live(devices) == 0 &&
           (devices->choice == GI_CHOOSE_CUDA || gi_now_ms() < devices->opening_until_ms);
}

/* For `auto`: estimates how many images may wait for an open GPU. Called with the lock held. */
static void weigh(struct gi_session *devices, const struct gi_session_job *job)
{
    for (int i = 0; i < devices->ngpus && !devices->waiting_most; i++)
        if (devices->choice == GI_CHOOSE_AUTO && devices->gpus[i].ready && !devices->gpus[i].lost)
            devices->waiting_most =
                gi_session_waiting(job, devices->threads, devices->gpus[i].device, WAITING_A_GPU);
}

enum gi_coded_kinds gi_session_decodes(struct gi_session *devices, uint64_t nbytes)
{
    int kinds = (gi_ways_forces("jpeg_decode") ? GI_CODED_JPEG : 0) |
                (gi_ways_forces("png_decode") ? GI_CODED_PNG : 0);
    if (devices->one && devices->choice == GI_CHOOSE_CUDA && nbytes >= LARGE_NBYTES)
        kinds |= GI_CODED_JPEG;
    if (devices->one)
        return kinds;
    pthread_mutex_lock(&devices->lock);
    note_open(devices);
    bool undecided = devices->choice == GI_CHOOSE_AUTO && devices->ngpus && !devices->decided;
    if (undecided || waits_for_opening(devices))
        kinds = GI_CODED_ANY;
    else if (count_live(devices) > 0)
        kinds |= gi_backoffs_next(devices->coded);
    pthread_mutex_unlock(&devices->lock);
    return kinds;
}

void gi_session_not_coded(struct gi_session *devices, enum gi_coded_kinds kinds)
{
    pthread_mutex_lock(&devices->lock);
    gi_backoffs_unused(devices->coded, kinds);
    pthread_mutex_unlock(&devices->lock);
}

/* Picks the GPU with a free queue and the fewest busy ones, or the CPU if it may be used and enough
 * threads wait for the GPUs, or NULL if the caller must wait. Called with the lock held. */
static struct gi_session_device *pick(struct gi_session *devices, int live)
{
    struct gi_session_device *best = NULL;
    for (int i = 0; i < devices->ngpus; i++) {
        struct gi_session_device *gpu = &devices->gpus[i];
        if (!gpu->ready || gpu->lost)
            continue;
        int busy = gpu->nqueues - gpu->nidle;
        if (busy < gpu->most && (!best || busy < best->nqueues - best->nidle))
            best = gpu;
    }
    int most = devices->waiting_most ? devices->waiting_most : WAITING_A_GPU;
    bool enough = devices->waiting / most >= live;
    return best || devices->choice == GI_CHOOSE_CUDA || !enough ? best : &devices->cpu;
}

/* Waits for a free queue, or if `on_cpu` is true for a free queue of the CPU. */
static struct gi_queue *take(struct gi_session *devices, const struct gi_session_job *job,
                             bool on_cpu, struct gi_session_device **from, struct gi_err *err)
{
    struct gi_queue *queue = NULL;
    pthread_mutex_lock(&devices->lock);
    for (;;) {
        note_open(devices);
        weigh(devices, job);
        int live = count_live(devices);
        bool opening = !on_cpu && waits_for_opening(devices);
        *from = on_cpu ? &devices->cpu : opening ? NULL : pick(devices, live);
        if (*from && ((queue = gi_session_device_take(*from, err)) || *err->text))
            break;
        if (!*from && !live && !opening) {
            gi_fail(err, GI_E_DEVICE, "no device is left");
            break;
        }
        double start = gi_now_ms();
        devices->waiting++;
        gi_session_device_wait_for(&devices->changed, &devices->lock,
                                   opening ? devices->opening_until_ms : 0);
        devices->waiting--;
        gi_timing_add_wait(GI_WAIT_DEVICE, gi_now_ms() - start);
    }
    pthread_mutex_unlock(&devices->lock);
    return queue;
}

/* `coded`: NULL, or the coded image that the queue got, with this status. */
static void give_back(struct gi_session *devices, struct gi_session_device *member,
                      struct gi_queue *queue, const struct gi_coded *coded, enum gi_status status)
{
    pthread_mutex_lock(&devices->lock);
    if (coded && member != &devices->cpu && (!status || status == GI_E_UNSUPPORTED))
        gi_backoff_note(&devices->coded[coded->is_png], status != GI_OK);
    note_open(devices);
    gi_session_device_give(member, queue);
    pthread_cond_signal(&devices->changed);
    pthread_mutex_unlock(&devices->lock);
}

/* Removes a device from the session, so that it gets no more images. Logs this once. */
static void drop(struct gi_session *devices, struct gi_session_device *member,
                 const struct gi_err *why)
{
    pthread_mutex_lock(&devices->lock);
    if (!member->lost)
        gi_cli_log("%s: %s; it gets no more images", member->name, why->text);
    member->lost = true;
    pthread_cond_broadcast(&devices->changed);
    pthread_mutex_unlock(&devices->lock);
}

/* Runs the job on the next free queue. If the device is lost meanwhile, runs it on another one. */
static enum gi_status run_one_of_many(struct gi_session *devices, const struct gi_session_job *job,
                                      struct gi_err *err)
{
    pthread_mutex_lock(&devices->lock);
    decide(devices, job);
    pthread_mutex_unlock(&devices->lock);
    for (bool on_cpu = false;;) {
        struct gi_session_device *member;
        struct gi_err fault = {0};
        struct gi_queue *queue = take(devices, job, on_cpu, &member, &fault);
        enum gi_status status =
            queue ? gi_session_device_run(member, queue, job, &fault) : fault.status;
        if (queue)
            give_back(devices, member, queue, job->src->coded, status);
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

/* Estimates one image with the rates that are known so far. */
static struct gi_estimate estimate_one(const struct gi_session *devices,
                                       const struct gi_session_job *job)
{
    bool open = devices->ngpus && devices->gpus[0].ready;
    return gi_session_estimate(job, 1, devices->threads, open ? devices->gpus[0].device : NULL);
}

bool gi_session_has_gpus(const struct gi_session *devices)
{
    return devices->ngpus > 0;
}

bool gi_session_may_open(const struct gi_session *devices)
{
    return devices->choice == GI_CHOOSE_AUTO && devices->ngpus && !devices->gpus[0].opening.started;
}

void gi_session_expect(struct gi_session *devices, const struct gi_pipeline *pipeline)
{
    const struct gi_session_job job = {.pipeline = pipeline};
    struct gi_estimate estimate = estimate_one(devices, &job);
    if (gi_session_may_open(devices) && estimate.cuda_s < estimate.cpu_s)
        start_gpus(devices);
}

/* Waits until the CUDA device is open. Returns false if it can't be opened. */
static bool need_cuda(struct gi_session *devices)
{
    double start = gi_now_ms();
    bool open = gi_session_device_wait(&devices->gpus[0]);
    gi_timing_add("context", gi_now_ms() - start);
    return open;
}

/* Returns whether CUDA is faster. Opens the CUDA device only if it may be faster, and then repeats
 * the estimate with the rates of the device. */
static bool takes_cuda(struct gi_session *devices, const struct gi_session_job *job)
{
    struct gi_estimate estimate = estimate_one(devices, job);
    if (estimate.cuda_s >= estimate.cpu_s || !need_cuda(devices))
        return false;
    estimate = estimate_one(devices, job);
    return estimate.cuda_s < estimate.cpu_s;
}

static void log_choice(const struct gi_session *devices, const struct gi_session_job *job,
                       bool cuda, const char *reason)
{
    if (!devices->verbose)
        return;
    struct gi_estimate estimate = estimate_one(devices, job);
    bool open = devices->ngpus && devices->gpus[0].ready;
    gi_session_log(cuda ? devices->gpus[0].name : NULL, devices->threads, open, &estimate, reason);
}

/* For --device auto. Returns whether CUDA has run the job, with *status; otherwise the CPU is to
 * run it. Logs that a device is missing only if -v was given. */
static bool cuda_ran(struct gi_session *devices, const struct gi_session_job *job,
                     enum gi_status *status, struct gi_err *err)
{
    const char *reason = "the quicker by estimate";
    struct gi_err cuda_err = {0};
    if (!gi_kernels_cuda())
        reason = "this build has no CUDA backend";
    else if (!devices->ngpus)
        reason = "no NVIDIA driver here";
    else if (takes_cuda(devices, job)) {
        log_choice(devices, job, true, reason);
        *status = gi_session_device_run(&devices->gpus[0], NULL, job, &cuda_err);
        if (*status != GI_E_DEVICE && *status != GI_E_DEVICE_MEMORY && *status != GI_E_LAUNCH) {
            *err = cuda_err;
            return true;
        }
        reason = cuda_err.text;
    } else if (*devices->gpus[0].err.text) {
        reason = devices->gpus[0].err.text;
    }
    log_choice(devices, job, false, reason);
    return false;
}

/* Runs the job on the CUDA device that was asked for. */
static enum gi_status cuda_run(struct gi_session *devices, const struct gi_session_job *job,
                               const char *reason, struct gi_err *err)
{
    struct gi_session_device *gpu = &devices->gpus[0];
    if (!need_cuda(devices)) {
        *err = gpu->err;
        return gi_err_prefix(err, "%s %s", devices->asked_by,
                             strcmp(gpu->name, "cuda:0") ? gpu->name : "cuda");
    }
    log_choice(devices, job, true, reason);
    enum gi_status status = gi_session_device_run(gpu, NULL, job, err);
    if (status != GI_E_DEVICE_MEMORY)
        return status;
    struct gi_err cause = *err;
    return gi_fail(err, status, "%s cuda: %s; want --device cpu or auto%s", devices->asked_by,
                   cause.text, gpu->options.max_bytes ? ", or more --max-device-bytes" : "");
}

enum gi_status gi_session_run(struct gi_session *devices, const struct gi_pipeline *pipeline,
                              struct gi_image *dst, const struct gi_image *src,
                              const struct gi_side *sides, struct gi_times *times,
                              struct gi_err *err)
{
    const struct gi_session_job job = {pipeline, dst, src, sides, times};
    enum gi_status status;
    char reason[32];
    if (!devices->one)
        return run_one_of_many(devices, &job, err);
    snprintf(reason, sizeof reason, "by %s", devices->asked_by);
    if (devices->choice == GI_CHOOSE_AUTO && cuda_ran(devices, &job, &status, err))
        return status;
    if (devices->choice != GI_CHOOSE_AUTO && devices->choice != GI_CHOOSE_CPU)
        return cuda_run(devices, &job, reason, err);
    if (devices->choice == GI_CHOOSE_CPU)
        log_choice(devices, &job, false, reason);
    return gi_session_device_run(&devices->cpu, NULL, &job, err);
}
