/* A device of the session with its idle queues.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_SESSION_DEVICE_H
#define GI_CLI_RUN_SESSION_DEVICE_H

#include <pthread.h>

#include "filters/pipeline.h"

/* The session calls all of its functions with its lock held, except gi_session_device_run(). */
struct gi_session_device {
    const struct gi_kernels *k;
    struct gi_open_options options;
    char name[16];         /* "cuda:1" */
    bool started, opening; /* opening has begun; `thread` runs and must be joined */
    bool with_queue;       /* opening opens a queue too, for an image that waits for it */
    pthread_t thread;
    struct gi_err err; /* of opening */
    struct gi_device *device;
    struct gi_queue **idle;
    int nidle, nqueues, most; /* nqueues: existing queues; most: their maximum number */
    bool ready, lost;
    struct gi_fault {
        long at;   /* number of the run that fails, from 1; 0: none */
        bool once; /* only that run fails, with GI_E_LAUNCH; else it and all later ones, with
                      GI_E_DEVICE */
    } fault;
    long runs; /* counted for `fault` */
};

/* Adds a pair. Errors: GI_E_MEMORY. */
enum gi_status gi_session_device_init(struct gi_session_device *device, const struct gi_kernels *k,
                                      const struct gi_open_options *options, int most,
                                      struct gi_err *err);
void gi_session_device_free(struct gi_session_device *device);

/* Starts to open it on a thread of its own. */
void gi_session_device_start(struct gi_session_device *device);
/* Waits until it is open, and opens it if that has not begun. Returns false with the reason in
 * device->err if it can't be opened. */
bool gi_session_device_wait(struct gi_session_device *device);
/* Returns whether opening has ended since the last call. */
bool gi_session_device_opened(struct gi_session_device *device);

/* Returns an idle queue of the device, or a new one; NULL if it has none, with `err` if opening one
 * failed. The caller returns it with gi_session_device_give(). */
struct gi_queue *gi_session_device_take(struct gi_session_device *device, struct gi_err *err);
void gi_session_device_give(struct gi_session_device *device, struct gi_queue *queue);

/* A pipeline on one image, as the arguments of gi_pipeline_run(). */
struct gi_session_job {
    const struct gi_pipeline *pipeline;
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_side *sides;
    struct gi_times *times;
};
/* Runs it on a queue of the device; many threads may call it at once. */
enum gi_status gi_session_device_run(struct gi_session_device *device, struct gi_queue *queue,
                                     const struct gi_session_job *job, struct gi_err *err);

#endif
