/* Devices, queues of work on devices, tickets for copies, and stopwatches.
 *
 * A device is one GPU or the CPU. Threads share a device, whose lock protects its data. A queue is
 * one stream of work on a device with scratch and staging memory of its own. One thread uses a
 * queue at a time, and any number of queues work at once. Images, scratch and stopwatches belong to
 * the queue that made them.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_DEVICE_H
#define GI_KERNELS_DEVICE_H

#include "imgio/image.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gi_kernels;
struct gi_stopwatch;

enum gi_device_kind { GI_DEVICE_CPU, GI_DEVICE_CUDA };

/* The backends' own device and queue structs begin with these two structs. */
struct gi_device {
    const struct gi_kernels *k;
};

struct gi_queue {
    const struct gi_kernels *k;
    struct gi_device *device;
    struct gi_ways_run *ways; /* the ways that are forced and those that ran (kernels/ways.h) */
};

struct gi_open_options {
    int threads; /* host threads per queue, 1 or more, which compute (CPU) or copy (CUDA) */
    int ordinal; /* CUDA: number of the device, from 0 */
    bool yields; /* CUDA: a thread that waits for the device yields its CPU, instead of spinning,
                    which reacts faster */
    bool keeps;  /* CPU: memory of freed images is kept for reuse; every image must be freed before
                    the device is closed */
    size_t max_bytes; /* CUDA: limit of device memory, for tests of bands, or 0 for no limit */
};

/* Properties that a device reports. A number that is unknown is 0. */
struct gi_device_info {
    char name[96]; /* "NVIDIA H200", or the CPU's instruction level: "avx2" */
    int ordinal;
    int units;            /* number of multiprocessors, or of CPUs that this process may use */
    int capability;       /* CUDA: 10 * major + minor; else 0 */
    size_t memory_nbytes; /* total */
    size_t free_nbytes;
    int lanes;           /* float32 fused multiply-adds that a unit starts per clock */
    int clock_khz;       /* maximum clock of a unit */
    size_t cache_nbytes; /* the last cache before memory */
    double memory_rate;  /* bytes per second between memory and cache, by bus width and clock */
    double link_rate;    /* bytes per second, in each direction, between host and device memory */
};

/* The largest images that a queue's primitives take, and the memory for them. */
struct gi_device_limits {
    size_t free_nbytes; /* for images of this queue; SIZE_MAX: unlimited */
    int rows;
    size_t row_nbytes;
    size_t row_align; /* rows are padded to a multiple of this many bytes */
};

/* Identifies a copy in progress, or no copy if it is 0. A ticket may be dropped, because sync()
 * waits for all copies. */
struct gi_ticket {
    uint64_t number;
};

/* Peak rates of a queue per second; `gpuimg bench` compares measured times with them. */
struct gi_roofline {
    double copy_rate; /* bytes copied, counting read and written bytes */
    double fma_rate;  /* fused multiply-adds of float32 */
};

/* Opens a device with one queue, for callers that need only one. gi_queue_close_alone() closes
 * both, sets the pointer to NULL, and accepts NULL. Errors: as device_open() and queue_open(). */
enum gi_status gi_queue_open_alone(struct gi_queue **queue, const struct gi_kernels *k,
                                   const struct gi_open_options *options, struct gi_err *err);
void gi_queue_close_alone(struct gi_queue **queue);

#ifdef __cplusplus
}
#endif
#endif
