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

/* What every way has, and all that one knows of it who lists ways. */
struct gi_way {
    const char *name; /* lower case: "narrow" */
    const char *what; /* the work that it is quicker on, one line */
};

/* The table of one primitive on one backend. */
struct gi_ways {
    const char *primitive;      /* the slot of struct gi_kernels: "box" */
    unsigned types;             /* sample types that the primitive takes, 1 << enum gi_type each */
    const struct gi_way *first; /* n rows that begin with a struct gi_way, `nbytes` each */
    size_t nbytes;
    int n;
};

enum {
    GI_INTEGER_TYPES = 1 << GI_U8 | 1 << GI_U16,
    GI_SAMPLE_TYPES = GI_INTEGER_TYPES | 1 << GI_F32,
};

static inline const struct gi_way *gi_way_at(const struct gi_ways *ways, int i)
{
    return (const struct gi_way *)((const char *)ways->first + (size_t)i * ways->nbytes);
}

/* A row of a primitive's table. `takes`: whether `run` accepts this work, depending only on the
 * work and the device; NULL in a last row that accepts everything. */
#define GI_WAY_ROW(primitive, ...)                                                                 \
    typedef bool gi_##primitive##_takes_fn(const struct gi_queue *queue, __VA_ARGS__);             \
    struct gi_##primitive##_way {                                                                  \
        struct gi_way about;                                                                       \
        gi_##primitive##_takes_fn *takes;                                                          \
        gi_##primitive##_fn *run;                                                                  \
    }

GI_WAY_ROW(convolve_separable, const struct gi_image *src, const struct gi_separable *spec);
GI_WAY_ROW(convolve_2d, const struct gi_image *src, const struct gi_dense *spec);
GI_WAY_ROW(box, const struct gi_image *src, const struct gi_box *spec);
GI_WAY_ROW(gradient_magnitude, const struct gi_image *src,
           const struct gi_gradient_magnitude *spec);
GI_WAY_ROW(min_max, const struct gi_image *src, const struct gi_min_max *spec);
GI_WAY_ROW(rolling_ball, const struct gi_image *src);
GI_WAY_ROW(ignore_transparent, const struct gi_image *src);
GI_WAY_ROW(median, const struct gi_image *src, const struct gi_median *spec);
GI_WAY_ROW(mode, const struct gi_image *src, const struct gi_median *spec);
GI_WAY_ROW(bilateral, const struct gi_image *src, const struct gi_bilateral *spec);
GI_WAY_ROW(nlmeans, const struct gi_image *src, const struct gi_nlmeans *spec);
GI_WAY_ROW(pointwise, const struct gi_image *src, const struct gi_pointwise *spec);
GI_WAY_ROW(threshold, const struct gi_image *src);
GI_WAY_ROW(clahe, const struct gi_image *src);
GI_WAY_ROW(local_threshold, const struct gi_image *src, const struct gi_local *spec);
GI_WAY_ROW(local_spread, const struct gi_image *src, const struct gi_local *spec);
GI_WAY_ROW(bernsen, const struct gi_image *src);
GI_WAY_ROW(luma, const struct gi_image *src);
GI_WAY_ROW(colour_transform, const struct gi_image *src, const struct gi_colour_transform *spec);
GI_WAY_ROW(count_colours, const struct gi_image *src);
GI_WAY_ROW(recolour, const struct gi_image *src, const struct gi_recolour *spec);
GI_WAY_ROW(permute_channels, const struct gi_image *srcs, const struct gi_permute_channels *spec);
GI_WAY_ROW(copy_border, const struct gi_image *src, const struct gi_copy_border *spec);
GI_WAY_ROW(layout, const struct gi_image *src, int layout);
GI_WAY_ROW(bounds, const struct gi_image *src, const struct gi_bounds_spec *spec);
GI_WAY_ROW(resample, const struct gi_image *src, const struct gi_resample *spec);
GI_WAY_ROW(remap, const struct gi_image *src, const struct gi_remap *spec);
GI_WAY_ROW(arithmetic, const struct gi_image *src, const struct gi_arithmetic *spec);
GI_WAY_ROW(histogram, const struct gi_image *src, const struct gi_histogram_spec *spec);
GI_WAY_ROW(sums, const struct gi_image *src);
GI_WAY_ROW(reduce, const struct gi_image *src, const struct gi_reduce *spec);
GI_WAY_ROW(scan, const struct gi_image *src, const struct gi_scan *spec);
GI_WAY_ROW(stack, const struct gi_image *src, const struct gi_stack *spec);
GI_WAY_ROW(compact, const struct gi_image *values, const struct gi_predicate *predicate);
GI_WAY_ROW(label, const struct gi_predicate *predicate, int connectivity);
GI_WAY_ROW(region_stats, const struct gi_image *labels, const struct gi_image *values);
GI_WAY_ROW(paint, const struct gi_image *src);
GI_WAY_ROW(flood, const struct gi_image *src);
GI_WAY_ROW(scatter, const struct gi_image *src);

/* The value of a struct gi_ways for an array of such rows. */
#define GI_WAYS(primitive, types, rows)                                                            \
    {                                                                                              \
#primitive, types, &(rows)[0].about, sizeof *(rows), (int)(sizeof(rows) / sizeof *(rows))  \
    }

/* The body of a primitive: tests the type of `src`, then returns what the first row does that takes
 * `work`, or the one that is forced: GI_WAYS_RUN(box_ways, rows, queue, src, (queue, src, spec),
 * (queue, dst, src, spec, err), err). */
#define GI_WAYS_RUN(ways, rows, queue, src, work, arguments, err)                                  \
    do {                                                                                           \
        enum gi_status gi_status_ = gi_ways_check(&(ways), src, err);                              \
        if (gi_status_)                                                                            \
            return gi_status_;                                                                     \
        for (int gi_i_ = gi_way_next(queue, &(ways), -1); gi_i_ >= 0;                              \
             gi_i_ = gi_way_next(queue, &(ways), gi_i_))                                           \
            if (!(rows)[gi_i_].takes || (rows)[gi_i_].takes work) {                                \
                gi_way_note(queue, &(ways), gi_i_);                                                \
                return (rows)[gi_i_].run arguments;                                                \
            }                                                                                      \
        return gi_way_refuse(queue, &(ways), err);                                                 \
    } while (0)

/* GI_E_UNSUPPORTED where the primitive does not take the image's sample type. */
enum gi_status gi_ways_check(const struct gi_ways *ways, const struct gi_image *image,
                             struct gi_err *err);

/* For GI_WAYS_RUN: the row to ask after row i (-1: the first), -1 after the last; that row i runs;
 * GI_E_UNSUPPORTED, since the forced way does not take the work. */
int gi_way_next(const struct gi_queue *queue, const struct gi_ways *ways, int i);
void gi_way_note(struct gi_queue *queue, const struct gi_ways *ways, int i);
/* For a way while it runs: adds a detail, a static text, to its entry in gi_queue_ways(). */
void gi_way_detail(struct gi_queue *queue, const char *detail);
enum gi_status gi_way_refuse(const struct gi_queue *queue, const struct gi_ways *ways,
                             struct gi_err *err);

/* Makes queue->ways, once queue->k is set, and forces what the environment variable GPUIMG_WAY
 * says; for `open`. The other one frees it and nulls; for `close`. */
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

#ifdef __cplusplus
}
#endif
#endif
