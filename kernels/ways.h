/* The ways (implementations) of a primitive. The file named after a primitive ends in its table of
 * ways: the first that accepts the work runs; every work that the primitive does is accepted by one
 * of them, usually the last. A way exists because it is faster on some common work, which its line
 * names.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_WAYS_H
#define GI_KERNELS_WAYS_H

#include "kernels/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The first member of every way: its name and description. */
struct gi_way {
    const char *name; /* lower case: "narrow" */
    const char *what; /* the work for which it is faster, one line */
};

/* Which samples a primitive takes, and which members of `src` its image result shares: the columns
 * of kernels/primitives.h. Samples are 1 << enum gi_type each. */
enum {
    GI_BYTE_TYPES = 1 << GI_U8,
    GI_FLOAT_TYPES = 1 << GI_F32,
    GI_INTEGER_TYPES = 1 << GI_U8 | 1 << GI_U16,
    GI_SAMPLE_TYPES = GI_INTEGER_TYPES | 1 << GI_F32,
};
enum gi_shape_rule { GI_SHAPE_SAME, GI_SHAPE_SIZE, GI_SHAPE_KIND, GI_SHAPE_OWN };

enum { GI_WAYS_MAX = 8 }; /* rows of a table; those that are not used are zero */

/* The table of one primitive on one backend. */
struct gi_ways {
    const char *primitive; /* the slot of struct gi_kernels: "box" */
    unsigned types;        /* sample types that the primitive takes, 1 << enum gi_type each */
    enum gi_shape_rule shape;
    const struct gi_way *first; /* GI_WAYS_MAX rows of `nbytes`, which begin with a struct gi_way */
    size_t nbytes;
};

/* Returns row i, 0 or more; NULL past the last one. */
static inline const struct gi_way *gi_way_at(const struct gi_ways *ways, int i)
{
    const struct gi_way *way =
        (const struct gi_way *)((const char *)ways->first + (size_t)i * ways->nbytes);
    return i < GI_WAYS_MAX && way->name ? way : NULL;
}

/* The type of a row of each primitive's table. `takes`: whether `run` accepts this work, depending
 * only on the work and the device; NULL in a last row that accepts everything. For box:
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

/* Defines the function of a primitive, and its struct gi_ways, from its table of ways: it checks
 * the arguments, then returns what the first row does that takes the work, or the one that is
 * forced. GI_WAYS_FUNCTION(gi_cuda_box, gi_cuda_box_ways, box, INTEGER, SAME) is
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

/* GI_E_UNSUPPORTED where the primitive does not take the sample type of `src`, or, unless its shape
 * is OWN, the struct gi_image `result` has another shape than it makes. */
enum gi_status gi_ways_check(const struct gi_ways *ways, const void *result,
                             const struct gi_image *src, struct gi_err *err);

/* The same for one image and its sample type alone; `types` are those that are taken. */
enum gi_status gi_samples_check(const char *primitive, unsigned types, const struct gi_image *image,
                                struct gi_err *err);

/* For GI_WAYS_FUNCTION: the row to ask after row i (-1: the first), -1 after the last; that row i
 * runs; GI_E_UNSUPPORTED, since the forced way does not take the work. */
int gi_way_next(const struct gi_queue *queue, const struct gi_ways *ways, int i);
void gi_way_note(struct gi_queue *queue, const struct gi_ways *ways, int i);
/* For a way while it runs: adds a detail, a static text, to its entry in gi_queue_ways(). */
void gi_way_detail(struct gi_queue *queue, const char *detail);
enum gi_status gi_way_refuse(const struct gi_queue *queue, const struct gi_ways *ways,
                             struct gi_err *err);

/* The table of a primitive by its name, NULL where there is none. `k` may be NULL. */
const struct gi_ways *gi_ways_find(const struct gi_kernels *k, const char *primitive);

/* For `open`: makes queue->ways once queue->k is set, and forces the ways that the environment
 * variable GPUIMG_WAY names. For `close`: frees and nulls it. */
enum gi_status gi_queue_ways_open(struct gi_queue *queue, struct gi_err *err);
void gi_queue_ways_close(struct gi_queue *queue);

/* Forces the ways that `text` names, "[BACKEND/]PRIMITIVE:WAY,..."; all others are free again. ""
 * or NULL: all are. Names that the other backend has and this one has not change nothing here.
 * Errors: GI_E_USAGE, which says what there is. */
enum gi_status gi_queue_force_ways(struct gi_queue *queue, const char *text, struct gi_err *err);

/* The ways that have run on the queue since it was opened, in the order of their first time: fills
 * at most `max` uses, returns how many there are. */
struct gi_way_use {
    const char *primitive, *way; /* static */
    const char *detail;          /* static; NULL: none; of the last run */
    uint64_t runs;
};
int gi_queue_ways(const struct gi_queue *queue, struct gi_way_use *uses, int max);

/* The same for all queues of the backend that the process has opened, in the order of the list of
 * primitives. */
int gi_ways_used(const struct gi_kernels *k, struct gi_way_use *uses, int max);

/* GI_E_USAGE where GPUIMG_WAY names a primitive that has run on no queue of the process although
 * others have: for the end of a command. */
enum gi_status gi_ways_forced_ran(struct gi_err *err);

#ifdef __cplusplus
}
#endif
#endif
