/* A plan: one operation prepared for sources of one shape. It contains everything that follows from
 * shape and parameters (weights and tables, computed in double and stored as float; the shape of
 * the result; which source rows a result row needs), so that running it only calls primitives. A
 * plan is read-only once it is made. So many threads may run one plan, each on its own queue.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_PLAN_H
#define GI_FILTERS_PLAN_H

#include "imgio/image.h"
#include "kernels/border.h"

struct gi_alpha_parts;
struct gi_filter;
struct gi_queue;

enum { GI_SOURCES_MAX = 4 };

/* Work per sample of the first source, for the choice of a device (filters/estimate.c) and for
 * `gpuimg bench`. */
struct gi_cost {
    double fmas;   /* fused multiply-adds in the definition of the operation */
    double other;  /* other work, as the number of fused multiply-adds that take a CPU as long */
    double nbytes; /* memory traffic besides reading sources and writing the result once */
};

/* How result rows depend on source rows. */
enum gi_dependency {
    GI_DEPENDENCY_LOCAL,  /* local: row y depends on rows y - halo to y + halo; rows outside the
                             image follow `border`. In bands the result has the same rows as the
                             band of the sources, but rows within `halo` rows of a cut are not used
                           */
    GI_DEPENDENCY_MAPPED, /* mapped: the filter's `needs` returns the rows that a row depends on */
    GI_DEPENDENCY_GLOBAL, /* global: every row depends on all rows; never run in bands */
};

/* The rows top <= y < bottom. */
struct gi_span {
    int top, bottom;
};

/* Where pixels of a result come from: the affine map from coordinates in the result to coordinates
 * in the first source. (0, 0) is the upper left corner of the upper left pixel, whose centre is
 * (0.5, 0.5). (x, y) becomes (m[0] x + m[1] y + m[2], m[3] x + m[4] y + m[5]). */
struct gi_placement {
    bool known; /* false: there is no such map, or the operation does not tell it */
    /* The result shows all of the source and nothing else, to within half a pixel of the result. It
     * may be scaled, mirrored and turned by quarter turns. Set by gi_plan_make_within() and
     * gi_plan_settle(). */
    bool whole;
    double m[6];
};

struct gi_plan {
    /* Set before the filter's `plan` is called. */
    const struct gi_filter *filter;
    const void *params;                      /* owned by the caller; outlives the plan */
    int nsources;                            /* 1 to GI_SOURCES_MAX */
    struct gi_image sources[GI_SOURCES_MAX]; /* shapes: `data` is NULL */
    struct gi_limits limits;                 /* limits of the result; a limit of 0 means none */

    /* Set by the filter's `plan`. Before the call, the result has the shape of the first source,
     * row y depends on row y alone, and everything else is 0. */
    struct gi_image result; /* shape of the result; for an analysis that of its first source */
    enum gi_dependency dependency;
    int halo; /* for GI_DEPENDENCY_LOCAL, in rows */
    /* Before the call: the pixels stay where they are, or in operations of geometry nothing is
     * known. A result of another size that still says so is taken as unknown. */
    struct gi_placement placement;
    enum gi_border border; /* for GI_DEPENDENCY_LOCAL; WRAP needs rows from the other end */
    struct gi_cost cost;
    bool alpha_apart; /* the primitives do not process alpha like a colour, so that under --alpha
                         straight `run` is called for the colours and for alpha (filters/alpha.h) */
    int passes;       /* measuring passes over all sources, before `run` or `conclude` */
    int band_passes;  /* further passes if sources come in bands. If sources are whole, `run` does
                         the work of these passes and gets no state */
    bool wide;        /* GI_DEPENDENCY_LOCAL: measuring passes need the halo, too */
    size_t state_nbytes; /* size of the state that passes fill. The state is zeroed before the first
                            pass and contains no pointers; parts of it that are never written take
                            no memory */
    size_t scratch_nbytes; /* tables and counters of `run` whose size depends on options;
                              allocations that every run makes are not included */
    bool late;    /* the result depends on the measuring passes. Until gi_plan_settle() is called,
                     which must be before `run`, `result` has the shape of the first source */
    bool on_host; /* an analysis without primitives, with images in host memory */
    size_t array_nbytes;   /* bytes of arrays as large as the image in an analysis' result */
    struct gi_err warning; /* has a text if parameters have a surprising effect on these sources.
                              Its status is that of the error if warnings are errors, or GI_OK if
                              this warning never is one */
    void *tables;          /* one block from malloc(), owned by the plan; NULL: none */
    size_t tables_nbytes;  /* size of `tables`, set by gi_plan_tables() */

    /* Set after the filter's `plan` by gi_masked_plan(): alpha marks pixels without data, and
     * gi_masked_run() finishes it, or adds that of the first source. */
    bool masked, adds_alpha;
    struct gi_alpha_parts
        *parts; /* set after the filter's `plan` by gi_alpha_plan(); mostly NULL */
};

/* Arguments of a measuring pass. The images are on the queue's backend, as whole images or as bands
 * of the same rows. */
struct gi_look {
    int pass;                    /* number of the pass, from 0 */
    const struct gi_image *srcs; /* plan->nsources */
    int above, below; /* if plan->wide: rows of halo at the top and at the bottom of the band. The
                         rows in between need them, and other bands measure them */
};

/* Arguments of one run. The images are on the queue's backend, as whole images or as bands. */
struct gi_work {
    struct gi_image *dst;        /* has the width, channels and type of the result */
    const struct gi_image *srcs; /* plan->nsources */
    /* `dst_y`: row of the result with which `dst` begins. `src_y`: row of the sources with which
     * `srcs` begin, except sources whose rows filter->sources.beside returns. */
    int dst_y, src_y;
    const void *state; /* what `measure` found. NULL if there are no passes, or if sources are whole
                          and there are only band_passes */
};

/* Makes the plan of `filter` for sources of these shapes. `params` must have passed the filter's
 * check and outlive the plan. gi_plan_free() frees it. Errors: GI_E_UNSUPPORTED for shapes that the
 * operation does not accept, GI_E_USAGE for options that do not fit them, GI_E_MEMORY. After an
 * error there is nothing to free. */
enum gi_status gi_plan_make(struct gi_plan *plan, const struct gi_filter *filter,
                            const void *params, const struct gi_image *sources, int nsources,
                            struct gi_err *err);
/* As gi_plan_make(), for a result within `limits`, which are checked before memory is allocated.
 * Additional error: GI_E_LIMIT. */
enum gi_status gi_plan_make_within(struct gi_plan *plan, const struct gi_limits *limits,
                                   const struct gi_filter *filter, const void *params,
                                   const struct gi_image *sources, int nsources,
                                   struct gi_err *err);
void gi_plan_free(struct gi_plan *plan);

/* Computes the result of a plan that is not late and whose filter has `run`. Errors: those of the
 * primitives. */
enum gi_status gi_plan_run(const struct gi_plan *plan, struct gi_queue *queue,
                           const struct gi_work *work, struct gi_err *err);

/* Makes *settled from a late plan and from what was measured, as gi_plan_make_within() does with
 * the limits of the plan. *settled is not late and has no passes. */
enum gi_status gi_plan_settle(struct gi_plan *settled, const struct gi_plan *plan,
                              const void *state, struct gi_err *err);

/* Called by the filter's `plan` and `settle`. Sets plan->tables to `nbytes` of zeroed memory, in
 * place of tables that were made before, which are freed. If that size
 * depends on the result, the shape of the result must be set before. Returns NULL and sets `err` if
 * memory runs out or if the result is over the plan's limits. Then `plan` returns GI_E_MEMORY,
 * which gi_plan_make_within() replaces by GI_E_LIMIT if the limits are the cause. */
void *gi_plan_tables(struct gi_plan *plan, size_t nbytes, struct gi_err *err);

/* Returns the placement of a step behind another one: coordinates in the result of `second` become
 * those in the source of `first`. */
struct gi_placement gi_placement_join(const struct gi_placement *first,
                                      const struct gi_placement *second);

/* Called by the filter's `plan`: pixel (x, y) of the result is from (x + left, y + top). */
void gi_plan_place(struct gi_plan *plan, double left, double top);

/* Returns the source rows that rows y0 to y1 - 1 of the result need. They are within the image, but
 * with GI_BORDER_WRAP they may extend past its ends, where the image repeats. */
struct gi_span gi_plan_needs(const struct gi_plan *plan, int y0, int y1);
/* Returns the rows of source j (1 or more) that are needed with rows y0 to y1 - 1 of the first
 * source. */
struct gi_span gi_plan_beside(const struct gi_plan *plan, int j, int y0, int y1);

#endif
