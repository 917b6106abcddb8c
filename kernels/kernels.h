/* The backends: one table of functions, filled once by kernels/cpu/ and once by kernels/cuda/.
 *
 * Every primitive gives the same bytes on every backend, thread count and instruction level. So
 * each contract (kernels/FAMILY.h) is a definition: its order of float32 operations is binding,
 * `fmaf` is the fused one, nothing else is contracted, and sums start at +0. Images that a
 * primitive takes live on its backend (made by `alloc`, `upload` or another primitive of the same
 * queue). `dst` and `src` never overlap. Primitives enqueue; only `wait`, `sync`, copies without a
 * ticket and those that return host results wait for the device.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_KERNELS_H
#define GI_KERNELS_KERNELS_H

#include "imgio/image.h"
#include "kernels/device.h"
#include "kernels/parallel.h"
#include "kernels/primitives.h"
#include "kernels/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The types of each primitive: gi_box_fn is its function, gi_box_result and gi_box_spec are the
 * types of its arguments. */
#define GI_PRIMITIVE_TYPES(name, samples, shape, result_type, spec_type)                           \
    typedef result_type gi_##name##_result;                                                        \
    typedef spec_type gi_##name##_spec;                                                            \
    typedef enum gi_status gi_##name##_fn(struct gi_queue *queue, gi_##name##_result *result,      \
                                          const struct gi_image *src,                              \
                                          const gi_##name##_spec *spec, struct gi_err *err);
GI_PRIMITIVES(GI_PRIMITIVE_TYPES)

struct gi_ways;
struct gi_kernels {
    enum gi_device_kind kind;
    const char *name; /* "cpu" or "cuda" */

    /* Life. `probe` fills at most `max` infos and returns the number of devices; -1 with `err` if
     * the driver is missing or fails. device_open() may take 0.3 s on CUDA, and is safe on a side
     * thread; a device outlives its queues, and these what they made. `close` takes and nulls;
     * NULL: nothing happens. Errors: GI_E_DEVICE, GI_E_DEVICE_MEMORY, GI_E_MEMORY. */
    int (*probe)(struct gi_device_info *infos, int max, struct gi_err *err);
    /* Describes an open device without touching other devices. Errors: GI_E_DEVICE. */
    enum gi_status (*describe)(struct gi_device *device, struct gi_device_info *info,
                               struct gi_err *err);
    enum gi_status (*device_open)(struct gi_device **device, const struct gi_open_options *options,
                                  struct gi_err *err);
    void (*device_close)(struct gi_device **device);
    enum gi_status (*queue_open)(struct gi_queue **queue, struct gi_device *device,
                                 struct gi_err *err);
    void (*queue_close)(struct gi_queue **queue);

    /* Returns the limits of the queue now. Queues of one device share its memory in equal parts. */
    void (*limits)(struct gi_queue *queue, struct gi_device_limits *limits);

    /* Returns an allocator of pinned host memory, which is reused, and which copies to and from the
     * device access without staging. Images made from it are freed before the device is closed.
     * NULL: plain memory is as good (a CPU that keeps none). */
    const struct gi_allocator *(*host_allocator)(struct gi_device *device);

    /* Memory. `alloc` makes an image of the shape with uninitialised samples; `release` frees it (a
     * view: forgets it) and sets `data` to NULL. `upload` makes `dst` from a host image that must
     * outlive it (the CPU's is a view). `download` consumes the backend's `src` and makes the host
     * image `host`, which the caller frees with gi_image_free(); `download_into` consumes `src`,
     * too, but fills an existing host image of the same shape, which may be rows of another one.
     *
     * Copies are enqueued and fill `ticket`: the host's samples must not change (upload) and are
     * valid (download) only after wait() for it, or sync(). With a NULL ticket the call itself
     * waits. wait() zeroes the ticket, and may be called on another thread than the queue's.
     * Errors: GI_E_MEMORY, GI_E_DEVICE_MEMORY, GI_E_DEVICE; then nothing is left to free. */
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
    /* dst = src, of one shape, both on the backend. Errors: GI_E_DEVICE. */
    enum gi_status (*copy)(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                           struct gi_err *err);
    /* Host work on the queue's threads, as gi_pool_run(). */
    enum gi_status (*jobs)(struct gi_queue *queue, int njobs, gi_job_fn *fn, void *arg,
                           size_t scratch_nbytes, struct gi_err *err);

    /* A stopwatch of `nmarks` marks: `mark` notes a point in the queue's stream of work, `ms` gives
     * the time between two such points after a sync (CUDA events on CUDA, the monotonic clock on
     * the CPU). Freed before its queue is closed; NULL: marks nothing, frees nothing. Errors:
     * GI_E_MEMORY, GI_E_DEVICE. */
    enum gi_status (*stopwatch_new)(struct gi_stopwatch **watch, struct gi_queue *queue, int nmarks,
                                    struct gi_err *err);
    void (*stopwatch_mark)(struct gi_stopwatch *watch, int mark);
    double (*stopwatch_ms)(const struct gi_stopwatch *watch, int from, int to);
    void (*stopwatch_free)(struct gi_stopwatch **watch);

    /* Names the following calls and enqueued work for profilers (NVTX on CUDA); NULL ends the last
     * name that has not ended. Called on the thread that continues the work. */
    void (*range)(struct gi_queue *queue, const char *name);

    /* Measures, in about 0.2 s. Errors: GI_E_MEMORY, GI_E_DEVICE_MEMORY, GI_E_DEVICE. */
    enum gi_status (*roofline)(struct gi_queue *queue, struct gi_roofline *roofline,
                               struct gi_err *err);

    const struct gi_ways *const *ways; /* of the primitives (kernels/ways.h); NULL ends them */

    /* The primitives (kernels/primitives.h). NULL: not on this side. */
#define GI_PRIMITIVE_SLOT(name, samples, shape, result, spec) gi_##name##_fn *name;
    GI_PRIMITIVES(GI_PRIMITIVE_SLOT)
};

/* The CPU table for the best instruction level of this machine, limited by the environment variable
 * GPUIMG_CPU. gi_cpu_level() returns the level's name. */
const struct gi_kernels *gi_kernels_cpu(void);
const char *gi_cpu_level(void);

/* The name of level i of this build, ascending from "scalar"; NULL past the last. */
const char *gi_cpu_level_at(int i);

/* Returns the CPU table of a level by name; NULL: not in this build or machine. For tests. */
const struct gi_kernels *gi_kernels_cpu_level(const char *level);

/* The CUDA table; NULL in a build without CUDA. Calls no driver function. */
const struct gi_kernels *gi_kernels_cuda(void);

#ifdef __cplusplus
}
#endif
#endif
