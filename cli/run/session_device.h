/* A device of the session, with its idle queues.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <pthread.h>

#include "cli/args/device_options.h"
#include "filters/pipeline.h"

/* Number of images in progress per GPU. While one image is computed, others are uploaded, decoded
 * and downloaded. A single JPEG does not fill a GPU: an H100 takes 4,100 JPEGs of 1080p (4:4:4) per
 * second through a Gaussian on 4 queues, 7,000 on 8, and 7,500 on 16; of 4:2:0 4,100 on 8 and 5,100
 * on 16. */
enum { GI_QUEUES_A_GPU = 16 };

/* While images run, the session holds its lock when it calls these functions, except
 * gi_session_device_run(). */
struct gi_session_device {
    const struct gi_kernels *k;
    struct gi_open_options options;
    char name[16]; /* "cuda:1", as --device counts; CUDA may see fewer GPUs */
    struct gi_opening {
        bool started, pending; /* pending: the session does not know the result yet */
        bool ended;            /* of `thread`; the session's lock protects it */
        bool has_thread;       /* `thread` must be joined */
        pthread_t thread;
        pthread_mutex_t *lock; /* of the session */
        pthread_cond_t *changed;
    } opening;
    bool with_queue;   /* opening also opens a queue, because an image is waiting for one */
    struct gi_err err; /* of opening; later only `status`, GI_E_DEVICE if a run failed with it */
    struct gi_device *device;
    struct gi_queue **idle;
    int nidle, nqueues, most; /* numbers of idle queues, of all queues, and the maximum */
    bool ready, lost;
    struct gi_fault {
        long at; /* number of the run that fails, counted from 1; 0: none fails */
        /* True: only this run fails, with GI_E_LAUNCH; false: this run and all later runs fail,
         * with GI_E_DEVICE. */
        bool once;
        long runs; /* counted for `at` */
    } fault;
};

/* Initialises a device, which --device calls by this number, and which may get up to `most` queues.
 */
void gi_session_device_init(struct gi_session_device *device, const struct gi_kernels *k,
                            const struct gi_open_options *options, int number, int most);
/* Sets *gpus to an array, which the caller frees, of the *n GPUs that --device names, or of the
 * first of them if the session is for one image. Errors: GI_E_DEVICE. */
enum gi_status gi_session_devices_list(struct gi_session_device **gpus, int *n,
                                       const struct gi_device_list *list, bool one,
                                       const struct gi_open_options *options, struct gi_err *err);
void gi_session_device_free(struct gi_session_device *device);

/* With `keep`, devices that are freed stay open, and the next device with the same options takes
 * one of them. Without, closes those that are kept. For the main thread. */
void gi_session_devices_keep(bool keep);

/* Starts to open the device, on a thread of its own, which takes `lock` and broadcasts `changed` at
 * the end. The caller may hold the lock. */
void gi_session_device_start(struct gi_session_device *device, pthread_mutex_t *lock,
                             pthread_cond_t *changed);
/* Waits until the device is open. If opening has not begun, opens the device. Returns false if it
 * can't be opened; device->err has the reason. The caller does not hold the lock. */
bool gi_session_device_wait(struct gi_session_device *device);
/* Opens n GPUs at the same time, and returns when the first is open; the session asks
 * gi_session_device_opened() for the others. Fails if one of them could not be opened so far; then
 * waits for all, and `err` has the reason of the first of the list. The caller does not hold the
 * lock. Errors: GI_E_DEVICE, GI_E_MEMORY. */
enum gi_status gi_session_devices_open(struct gi_session_device *gpus, int n, pthread_mutex_t *lock,
                                       pthread_cond_t *changed, struct gi_err *err);
/* Returns whether opening has ended since the last call of this function. */
bool gi_session_device_opened(struct gi_session_device *device);
/* Initialises a condition for gi_session_device_wait_for(), by the monotonic clock. */
void gi_session_device_cond_init(pthread_cond_t *changed);
/* Waits for the condition, until gi_now_ms() is `until_ms` if that is not 0. */
void gi_session_device_wait_for(pthread_cond_t *changed, pthread_mutex_t *lock, double until_ms);

/* Returns an idle queue of the device, or opens a new one. NULL if all queues are in use, or if a
 * queue could not be opened, in which case `err` says why. The caller returns the queue by
 * gi_session_device_give(). */
struct gi_queue *gi_session_device_take(struct gi_session_device *device, struct gi_err *err);
void gi_session_device_give(struct gi_session_device *device, struct gi_queue *queue);

/* The arguments of gi_pipeline_run(), for a pipeline on one image. */
struct gi_session_job {
    const struct gi_pipeline *pipeline;
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_side *sides;
    struct gi_times *times;
};
/* Runs the job on a queue of the device. Many threads may call this at once. If `queue` is NULL,
 * takes one once the device is open, which only one thread at a time may ask for. The CPU leaves
 * images that are still coded to imgio, whose libraries are faster than the primitives of the CPU,
 * unless GPUIMG_WAY forces these. Additional error: GI_E_UNSUPPORTED. */
enum gi_status gi_session_device_run(struct gi_session_device *device, struct gi_queue *queue,
                                     const struct gi_session_job *job, struct gi_err *err);
