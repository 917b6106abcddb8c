/* Where work is done: devices, queues of work on them, tickets for copies, stopwatches.
 *
 * A device is one GPU or the CPU. Threads share it: whatever it holds is locked within. A queue is
 * one stream of work on a device with scratch and staging of its own; one thread uses it at a time,
 * and any number of queues work at once. Images, scratch and stopwatches belong to the queue that
 * made them. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_DEVICE_H
#define GI_KERNELS_DEVICE_H

#include "imgio/image.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gi_kernels;
struct gi_stopwatch;

enum gi_device_kind { GI_DEVICE_CPU, GI_DEVICE_CUDA };

/* The first members of every backend's device and queue. */
struct gi_device {
    const struct gi_kernels *k;
};

struct gi_queue {
    const struct gi_kernels *k;
    struct gi_device *device;
    struct gi_way_log *ways; /* forced ones and those that ran (kernels/ways.h) */
};

struct gi_open_options {
    int threads;      /* of the host that a queue keeps at work, 1 or more: on the CPU they compute,
                         for CUDA they copy */
    int ordinal;      /* CUDA: which device, from 0 */
    bool yields;      /* CUDA: a thread that waits for the device leaves its CPU to others; else it
                         spins, which answers sooner */
    bool keeps;       /* CPU: memory of images is kept for those to come; all are freed before the
                         device is closed */
    size_t max_bytes; /* CUDA: maximum device memory to use; 0: what is free. For tests of bands */
};

/* What a device says of itself. Numbers are 0 where it does not say. */
struct gi_device_info {
    char name[96]; /* "NVIDIA H200", or the CPU's instruction level: "avx2" */
    int ordinal;
    int units;            /* multiprocessors, or CPUs this process may run on */
    int capability;       /* CUDA: 10 * major + minor; else 0 */
    size_t memory_nbytes; /* total */
    size_t free_nbytes;
    int lanes;           /* float32 fused multiply-adds that a unit begins in a clock */
    int clock_khz;       /* of a unit, at most */
    size_t cache_nbytes; /* the last cache before memory */
    double memory_rate;  /* bytes per second between memory and cache, from bus width and clock */
    double link_rate;    /* bytes per second, in each direction, between host and device memory */
};

/* The largest images that a queue's primitives take, and the memory for them. */
struct gi_device_limits {
    size_t free_nbytes; /* for images of this queue; SIZE_MAX: as much as the system gives */
    int rows;
    size_t row_nbytes;
    size_t row_align; /* rows are padded to a multiple of this many bytes */
};

/* A copy under way. Zero: nothing to wait for. May be dropped: then sync() is what ends it. */
struct gi_ticket {
    uint64_t number;
};

/* What a queue can do at most, a second: the ceilings that `gpuimg bench` holds times against. */
struct gi_roofline {
    double copy_rate; /* bytes of memory, those read and those written both counted */
    double fma_rate;  /* fused multiply-adds of float32 */
};

/* Opens a device with one queue, for callers that need only one, and closes both. `queue` is set to
 * NULL; if it is NULL nothing happens. Errors: as device_open() and queue_open(). */
enum gi_status gi_queue_open_alone(struct gi_queue **queue, const struct gi_kernels *k,
                                   const struct gi_open_options *options, struct gi_err *err);
void gi_queue_close_alone(struct gi_queue **queue);

#ifdef __cplusplus
}
#endif
#endif
