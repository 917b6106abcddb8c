/* A plan: one operation prepared for sources of one shape. It contains everything that follows from
 * shape and parameters (weights and tables in float, computed in double; the shape of the result;
 * which rows need which), so that running it only calls primitives. It is read-only once made: many
 * threads may run one plan, each on its own queue.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_PLAN_H
#define GI_FILTERS_PLAN_H

#include "imgio/image.h"
#include "kernels/kernels.h"

struct gi_filter;

enum { GI_SOURCES_MAX = 4 };

/* Work per sample of the first source, for choosing a device (filters/estimate.c) and for `gpuimg
 * bench`. */
struct gi_cost {
    double fmas; /* fused multiply-adds in the operation's definition */
    double
        other; /* other work, as the number of fused multiply-adds that would take a CPU as long */
    double nbytes; /* memory traffic besides reading the sources and writing the result once */
};

/* The dependency of result rows on source rows. */
enum gi_dependency {
    GI_DEPENDENCY_LOCAL,  /* local: row y depends on rows y - halo to y + halo; rows outside the
                       image  follow `border`. In bands the result has the rows of the sources' band,
                       and  those within `halo` of a cut are not used */
    GI_DEPENDENCY_MAPPED, /* mapped: row y depends on the rows that the filter's `needs` returns */
    GI_DEPENDENCY_GLOBAL, /* global: every row depends on all rows; never in bands */
};

/* The rows top <= y < bottom. */
struct gi_span {
    int top, bottom;
};

struct gi_plan {
    /* Set before the filter's `plan` is called. */
    const struct gi_filter *filter;
    const void *params;                      /* owned by the caller; outlives the plan */
    int nsources;                            /* 1 to GI_SOURCES_MAX */
    struct gi_image sources[GI_SOURCES_MAX]; /* shapes: `data` is NULL */
    struct gi_limits limits;                 /* of the result; members that are 0: no limit */

    /* Set by the filter's `plan`; initially the result has the shape of the first source, row y
     * depends on row y alone, and the rest is 0. */
    struct gi_image result; /* shape; for an analysis that of its first source, which it passes
                               on */
    enum gi_dependency dependency;
    int halo;              /* rows, GI_DEPENDENCY_LOCAL */
    enum gi_border border; /* GI_DEPENDENCY_LOCAL: WRAP needs rows from the other end */
    struct gi_cost cost;
    int passes;      /* measuring passes over all sources before `run` or `conclude` */
    int band_passes; /* additional passes if the sources come in bands: for whole sources `run` does
                        their work and gets no state */
    bool wide;       /* for GI_DEPENDENCY_LOCAL: the passes need the halo, too */
    size_t state_nbytes; /* size of what the passes fill: zeroed before the first pass; contains no
                            pointers; parts that are never written cost no memory */
    size_t scratch_nbytes; /* tables and counters of `run` whose size depends on the options, not
                              counting what every run allocates */
    bool late; /* the result depends on what the passes measure: until then it has the shape of the
                  first source, and gi_plan_settle() must be called before `run` */
    bool on_host;         /* an analysis without primitives: its images are in host memory */
    size_t array_nbytes;  /* arrays as large as the image that an analysis has in its result */
    void *tables;         /* one malloc()ed block, owned by the plan; NULL: none */
    size_t tables_nbytes; /* its size, set by gi_plan_tables() */
};

/* Arguments of one measuring pass: images on the queue's backend, whole or bands of the same rows.
 */
struct gi_look {
    int pass;                    /* number of the pass, from 0 */
    const struct gi_image *srcs; /* plan->nsources */
    int above, below; /* with plan->wide: halo rows at the top and at the bottom, which serve the
                         rows between them and are measured with other bands */
};

/* Arguments of one run: images on the queue's backend, whole or bands. */
struct gi_work {
    struct gi_image *dst;        /* of the result's width, channels and type */
    const struct gi_image *srcs; /* plan->nsources */
    int dst_y, src_y;  /* the first rows of result and sources in dst and srcs, except for sources
                          whose rows filter->beside returns */
    const void *state; /* what `measure` found; NULL without passes, and for whole sources if there
                          are only band_passes */
};

/* Makes the plan of `filter` for sources of these shapes; `params` have passed gi_filter's check
 * and outlive the plan, which gi_plan_free() frees. Errors: GI_E_UNSUPPORTED for shapes that the
 * operation does not accept, GI_E_USAGE for options that do not fit them, GI_E_MEMORY; then nothing
 * is left to free. */
enum gi_status gi_plan_make(struct gi_plan *plan, const struct gi_filter *filter,
                            const void *params, const struct gi_image *sources, int nsources,
                            struct gi_err *err);
/* Makes a plan whose result is within `limits`, which are checked before memory is allocated.
 * Errors: as gi_plan_make(), GI_E_LIMIT. */
enum gi_status gi_plan_make_within(struct gi_plan *plan, const struct gi_limits *limits,
                                   const struct gi_filter *filter, const void *params,
                                   const struct gi_image *sources, int nsources,
                                   struct gi_err *err);
void gi_plan_free(struct gi_plan *plan);

/* Makes *settled from a late plan and what was measured: as gi_plan_make_within() with the limits
 * of the plan, no longer late and without passes. */
enum gi_status gi_plan_settle(struct gi_plan *settled, const struct gi_plan *plan,
                              const void *state, struct gi_err *err);

/* For the filter's `plan`, which has set the shape of the result first if the size of the tables
 * depends on it: sets plan->tables to `nbytes` of zeroed memory. Returns NULL if
 * memory ran out, with `err`, or if the result is over the plan's limits: `plan` then returns
 * GI_E_MEMORY, which gi_plan_make_within() replaces by the limit's error. */
void *gi_plan_tables(struct gi_plan *plan, size_t nbytes, struct gi_err *err);

/* Returns the source rows that the rows y0 <= y < y1 of the result need: within the image, or with
 * GI_BORDER_WRAP past its ends, where the image repeats. */
struct gi_span gi_plan_needs(const struct gi_plan *plan, int y0, int y1);
/* Returns the rows of source j, from 1 on, that are needed with these rows of the first source. */
struct gi_span gi_plan_beside(const struct gi_plan *plan, int j, int y0, int y1);

#endif
