/* The ways (implementations) of a primitive. The file named after a primitive ends in its table of
 * ways. The first way that accepts the work runs. All work of the primitive is accepted by some
 * way, usually by the last one. A way exists because it is faster for some common work, which its
 * table row names.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_WAYS_H
#define GI_KERNELS_WAYS_H

#include "kernels/device.h"
#include "kernels/primitives.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A way's name and description, which are the first member of every table row. */
struct gi_way {
    const char *name; /* lower case: "narrow" */
    const char *what; /* the work for which the way is faster, in one line */
};

/* The columns `samples` and `shape` of kernels/primitives.h: the sample types that a primitive
 * takes, as bits 1 << enum gi_type, and the members of `src` that its image result shares. */
enum {
    GI_BYTE_TYPES = 1 << GI_U8,
    GI_FLOAT_TYPES = 1 << GI_F32,
    GI_INTEGER_TYPES = 1 << GI_U8 | 1 << GI_U16,
    GI_SAMPLE_TYPES = GI_INTEGER_TYPES | 1 << GI_F32,
};
enum gi_shape_rule { GI_SHAPE_SAME, GI_SHAPE_SIZE, GI_SHAPE_KIND, GI_SHAPE_OWN };

enum { GI_WAYS_MAX = 8 }; /* rows of a table; unused rows are zero */

/* The table of ways of one primitive on one backend. */
struct gi_ways {
    const char *primitive; /* the slot of struct gi_kernels: "box" */
    unsigned types;        /* bits 1 << enum gi_type of the types that the primitive takes */
    enum gi_shape_rule shape;
    const struct gi_way *first; /* GI_WAYS_MAX rows of `nbytes` bytes, which begin with a gi_way */
    size_t nbytes;
};

/* Returns table row i, which is 0 or more, or NULL past the last row. */
static inline const struct gi_way *gi_way_at(const struct gi_ways *ways, int i)
{
    const struct gi_way *way =
        (const struct gi_way *)((const char *)ways->first + (size_t)i * ways->nbytes);
    return i < GI_WAYS_MAX && way->name ? way : NULL;
}

/* Declares the type of a row of each primitive's table. `takes` returns whether `run` accepts this
 * work, and depends only on the work and the device. `takes` is NULL in a last row that accepts all
 * work. For box:
 *   typedef bool gi_box_takes_fn(const struct gi_queue *, const struct gi_image *src,
 *                                const struct gi_box *spec);
 *   struct gi_box_way { struct gi_way about; gi_box_takes_fn *takes; gi_box_fn *run; }; */
#define GI_WAY_TYPES(name, samples, shape, result_type, spec_type)                                 \
    typedef bool gi_##name##_takes_fn(const struct gi_queue *queue, const struct gi_image *src,    \
                                      const gi_##name##_spec *spec);                               \
    struct gi_##name##_way {                                                                       \
        struct gi_way about;                                                                       \
        gi_##name##_takes_fn *takes;                                                               \
        gi_##name##_fn *run;                                                                       \
    };
GI_PRIMITIVES(GI_WAY_TYPES)

/* Defines the function of a primitive, and its struct gi_ways, from its table of ways. The function
 * checks its arguments, then calls `run` of the forced row, or of the first row that takes the
 * work. GI_WAYS_FUNCTION(gi_cuda_box, gi_cuda_box_ways, box, INTEGER, SAME) defines
 *
 *   static const struct gi_ways box_about = {"box", GI_INTEGER_TYPES, GI_SHAPE_SAME, ...};
 *   enum gi_status gi_cuda_box(struct gi_queue *queue, struct gi_image *result, ...) {...} */
#define GI_WAYS_FUNCTION(function, rows, name, samples, rule)                                      \
    static const struct gi_ways name##_about = {#name, GI_##samples##_TYPES, GI_SHAPE_##rule,      \
                                                &(rows)[0].about, sizeof *(rows)};                 \
    enum gi_status function(struct gi_queue *queue, gi_##name##_result *result,                    \
                            const struct gi_image *src, const gi_##name##_spec *spec,              \
                            struct gi_err *err)                                                    \
    {                                                                                              \
        enum gi_status status = gi_ways_check(&name##_about, result, src, err);                    \
        for (int i = -1; !status && (i = gi_way_next(queue, &name##_about, i)) >= 0;)              \
            if (!(rows)[i].takes || (rows)[i].takes(queue, src, spec)) {                           \
                gi_way_note(queue, &name##_about, i);                                              \
                return (rows)[i].run(queue, result, src, spec, err);                               \
            }                                                                                      \
        return status ? status : gi_way_refuse(queue, &name##_about, err);                         \
    }

/* Fails with GI_E_UNSUPPORTED if the primitive does not take the sample type of `src`, or if
 * `result` has the wrong shape (if the primitive's shape is OWN, `result` is not checked). */
enum gi_status gi_ways_check(const struct gi_ways *ways, const void *result,
                             const struct gi_image *src, struct gi_err *err);

/* Checks only the sample type of one image; `types` consists of bits 1 << enum gi_type. */
enum gi_status gi_samples_check(const char *primitive, unsigned types, const struct gi_image *image,
                                struct gi_err *err);

/* For GI_WAYS_FUNCTION. gi_way_next() returns the table row to try after row i, or the first row if
 * i is -1. It returns -1 after the last row. gi_way_note() notes that row i runs.
 * gi_way_refuse() fails with GI_E_UNSUPPORTED, because the forced way does not take the work. */
int gi_way_next(const struct gi_queue *queue, const struct gi_ways *ways, int i);
void gi_way_note(struct gi_queue *queue, const struct gi_ways *ways, int i);
/* Adds a detail, which is a static string, to the entry of a way in gi_queue_ways(). The way calls
 * this function while it runs. */
void gi_way_detail(struct gi_queue *queue, const char *detail);
enum gi_status gi_way_refuse(const struct gi_queue *queue, const struct gi_ways *ways,
                             struct gi_err *err);

/* Returns the table of the primitive with this name, or NULL if there is none. `k` may be NULL. */
const struct gi_ways *gi_ways_find(const struct gi_kernels *k, const char *primitive);

/* Makes queue->ways, and forces the ways that the environment variable GPUIMG_WAY names. Called
 * when a queue is opened, after queue->k is set. gi_queue_ways_close() frees queue->ways and sets
 * it to NULL. */
enum gi_status gi_queue_ways_open(struct gi_queue *queue, struct gi_err *err);
void gi_queue_ways_close(struct gi_queue *queue);

/* Forces the ways that `text` names in the form "[BACKEND/]PRIMITIVE:WAY,...", and no other ways.
 * If `text` is "" or NULL, no way is forced. Names that only the other backend has are ignored.
 * Errors: GI_E_USAGE, with a message that lists the names. */
enum gi_status gi_queue_force_ways(struct gi_queue *queue, const char *text, struct gi_err *err);

/* gi_queue_ways() fills at most `max` uses with the ways that have run on the queue, in the order
 * of their first run, and returns their number. */
struct gi_way_use {
    const char *primitive, *way; /* static */
    const char *detail;          /* static string from the last run, or NULL */
    uint64_t runs;
};
int gi_queue_ways(const struct gi_queue *queue, struct gi_way_use *uses, int max);

/* Like gi_queue_ways(), for all queues that the process has opened on the backend `k`, and in the
 * order of the list of primitives. */
int gi_ways_used(const struct gi_kernels *k, struct gi_way_use *uses, int max);

/* Returns whether GPUIMG_WAY forces a way of the primitive with this name. */
bool gi_ways_forces(const char *primitive);

/* Called at the end of a command. Fails with GI_E_USAGE if GPUIMG_WAY names a primitive that has
 * not run on any queue of the process, although other primitives have run. */
enum gi_status gi_ways_forced_ran(struct gi_err *err);

#ifdef __cplusplus
}
#endif
#endif
