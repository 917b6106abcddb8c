/* The backends: struct gi_kernels, a table of functions, filled once by kernels/cpu/ and once by
 * kernels/cuda/.
 *
 * Every primitive computes the same bytes on every backend, with every number of threads, and at
 * every instruction level. Therefore each contract (kernels/FAMILY.h) is a definition. Its order of
 * float32 operations is binding, nothing is fused except `fmaf` and `fma`, and sums start at +0.
 * Images that a primitive takes are on its backend, made by `alloc`, by `upload` or by another
 * primitive of the same queue. `dst` and `src` never overlap unless the contract says so.
 * Primitives enqueue their work. The calls that wait for the device are `wait`, `sync`, copies
 * without a ticket, and primitives with results in host memory.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_KERNELS_H
#define GI_KERNELS_KERNELS_H

#include "imgio/image.h"
#include "kernels/device.h"
#include "kernels/parallel.h"
#include "kernels/primitives.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gi_ways;
struct gi_kernels {
    enum gi_device_kind kind;
    const char *name; /* "cpu" or "cuda" */

    /* Opening and closing. `probe` fills at most `max` infos and returns the number of devices, or
     * -1 with `err` if the driver is missing or fails. device_open() may take 0.3 s on CUDA and may
     * be called on any thread. A device must outlive its queues, and a queue must outlive what it
     * has made. The close functions take a pointer to a pointer, set it to NULL, and accept NULL.
     * Errors: GI_E_DEVICE, GI_E_DEVICE_MEMORY, GI_E_MEMORY. */
    int (*probe)(struct gi_device_info *infos, int max, struct gi_err *err);
    /* Fills `info` for an open device without touching other devices. Errors: GI_E_DEVICE. */
    enum gi_status (*describe)(struct gi_device *device, struct gi_device_info *info,
                               struct gi_err *err);
    enum gi_status (*device_open)(struct gi_device **device, const struct gi_open_options *options,
                                  struct gi_err *err);
    void (*device_close)(struct gi_device **device);
    enum gi_status (*queue_open)(struct gi_queue **queue, struct gi_device *device,
                                 struct gi_err *err);
    void (*queue_close)(struct gi_queue **queue);

    /* Returns the current limits of the queue. The queues of a device share its memory equally. */
    void (*limits)(struct gi_queue *queue, struct gi_device_limits *limits);

    /* Returns an allocator of pinned host memory, which is reused. Copies between this memory and
     * the device need no staging. Images in this memory must be freed before the device is closed.
     * Returns NULL if plain memory is as good, on a CPU that keeps no memory. */
    const struct gi_allocator *(*host_allocator)(struct gi_device *device);

    /* Memory. `alloc` makes an image with uninitialised samples. `release` frees an image and sets
     * `data` to NULL; of a view it frees only the description. `upload` makes `dst` from a host
     * image, which must outlive `dst` (on the CPU `dst` is a view of it). `download` makes the host
     * image `host`, which the caller frees with gi_image_free(), and releases `src`.
     * `download_into` also releases `src`, but fills an existing host image of the same shape,
     * which may be rows of a larger one.
     *
     * Copies are enqueued and fill `ticket`. Until wait() for that ticket, or sync(), host samples
     * must not change (upload) and are not valid (download). With a NULL ticket the call itself
     * waits. wait() zeroes the ticket and may be called on any thread. Errors: GI_E_MEMORY,
     * GI_E_DEVICE_MEMORY, GI_E_DEVICE; then there is nothing to free. */
    enum gi_status (*alloc)(struct gi_queue *queue, struct gi_image *image, int width, int height,
                            int channels, enum gi_type type, struct gi_err *err);
    void (*release)(struct gi_queue *queue, struct gi_image *image);
    enum gi_status (*upload)(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *host, struct gi_ticket *ticket,
                             struct gi_err *err);
    enum gi_status (*download)(struct gi_queue *queue, struct gi_image *host, struct gi_image *src,
                               struct gi_ticket *ticket, struct gi_err *err);
    enum gi_status (*download_into)(struct gi_queue *queue, const struct gi_image *host,
                                    struct gi_image *src, struct gi_ticket *ticket,
                                    struct gi_err *err);
    enum gi_status (*wait)(struct gi_queue *queue, struct gi_ticket *ticket, struct gi_err *err);
    enum gi_status (*sync)(struct gi_queue *queue, struct gi_err *err);
    /* Copies `src` to `dst`. Both are on the backend and have the same shape. Errors:
     * GI_E_DEVICE. */
    enum gi_status (*copy)(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                           struct gi_err *err);
    /* Runs jobs on the queue's host threads, as gi_pool_run() does. */
    enum gi_status (*jobs)(struct gi_queue *queue, int njobs, gi_job_fn *fn, void *arg,
                           size_t scratch_nbytes, struct gi_err *err);

    /* A stopwatch with `nmarks` marks. `mark` notes a point in the queue's stream of work. `ms`
     * returns the time between two such points, after a sync. The clock is CUDA events, or the
     * monotonic clock on the CPU. A stopwatch must be freed before its queue is closed. If the
     * stopwatch is NULL, calls do nothing. Errors: GI_E_MEMORY, GI_E_DEVICE. */
    enum gi_status (*stopwatch_new)(struct gi_stopwatch **watch, struct gi_queue *queue, int nmarks,
                                    struct gi_err *err);
    void (*stopwatch_mark)(struct gi_stopwatch *watch, int mark);
    double (*stopwatch_ms)(const struct gi_stopwatch *watch, int from, int to);
    void (*stopwatch_free)(struct gi_stopwatch **watch);

    /* Begins a named range for profilers (NVTX on CUDA), which covers the following calls. If
     * `name` is NULL, ends the last range that is open. Called on the thread that issues the
     * work. */
    void (*range)(struct gi_queue *queue, const char *name);

    /* Measures peak rates, in about 0.2 s. Errors: GI_E_MEMORY, GI_E_DEVICE_MEMORY, GI_E_DEVICE. */
    enum gi_status (*roofline)(struct gi_queue *queue, struct gi_roofline *roofline,
                               struct gi_err *err);

    const struct gi_ways *const *ways; /* one per primitive (kernels/ways.h); NULL ends the list */

    /* One pointer per primitive (kernels/primitives.h), which is NULL if this backend lacks the
     * primitive. */
#define GI_PRIMITIVE_SLOT(name, samples, shape, result, spec) gi_##name##_fn *name;
    GI_PRIMITIVES(GI_PRIMITIVE_SLOT)
};

/* The first function returns the CPU table for the best instruction level of this machine, which
 * the environment variable GPUIMG_CPU can limit. The second function returns the name of that
 * level. */
const struct gi_kernels *gi_kernels_cpu(void);
const char *gi_cpu_level(void);

/* Returns the name of level i of this build, in ascending order from "scalar", or NULL past the
 * last level. */
const char *gi_cpu_level_at(int i);

/* Returns the CPU table of the level with this name, or NULL if this build or this CPU lacks it.
 * For tests. */
const struct gi_kernels *gi_kernels_cpu_level(const char *level);

/* Returns the CUDA table, or NULL in a build without CUDA. Calls no driver function. */
const struct gi_kernels *gi_kernels_cuda(void);

#ifdef __cplusplus
}
#endif
#endif
