/* A plan: one operation made ready for sources of one shape. It holds all that follows from shape
 * and parameters (weights and tables in float, made in double; what the result looks like; which
 * rows need which), so running it calls primitives and nothing else. Read-only once made: many
 * threads may run one plan, each on its own queue. SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_PLAN_H
#define GI_FILTERS_PLAN_H

#include "imgio/image.h"
#include "kernels/kernels.h"

struct gi_filter;

enum { GI_SOURCES_MAX = 4 };

/* Work a sample of the first source, for choosing a device (filters/estimate.c) and for
 * `gpuimg bench`. */
struct gi_cost {
    double fmas;   /* fused multiply-adds that the definition asks for */
    double other;  /* further work: fused multiply-adds that would take a CPU as long */
    double nbytes; /* of memory besides one look at the sources and one at the result */
};

/* Which rows of the sources a row of the result comes from. */
enum gi_reach {
    GI_REACH_NEAR,   /* row y from rows y - halo to y + halo; what stands outside is `border`. In
                        bands the result has the rows of the sources' band, those within `halo` of
                        a cut unused */
    GI_REACH_MAPPED, /* from the rows that the filter's `needs` names */
    GI_REACH_ALL,    /* from all rows: never in bands */
};

/* Rows top <= y < bottom. */
struct gi_span {
    int top, bottom;
};

struct gi_plan {
    /* Set before the filter's `plan` is called. */
    const struct gi_filter *filter;
    const void *params;                      /* the caller's; outlives the plan */
    int nsources;                            /* 1 to GI_SOURCES_MAX */
    struct gi_image sources[GI_SOURCES_MAX]; /* shapes: `data` is NULL */

    /* For `plan` to say; at first the result is shaped like the first source, row y comes from row
     * y alone, and the rest is 0. */
    struct gi_image result; /* shape; of an analysis: what it passes on, its first source */
    enum gi_reach reach;
    int halo;              /* rows, GI_REACH_NEAR */
    enum gi_border border; /* GI_REACH_NEAR: WRAP needs rows from the other end */
    struct gi_cost cost;
    int passes;          /* looks at all of the sources before `run` or `conclude` */
    int band_passes;     /* and as many more where they come in bands: of whole ones `run` does what
                            they are for, and has no state */
    bool wide;           /* of GI_REACH_NEAR: the looks want the halo too */
    size_t state_nbytes; /* what those looks fill: zeroed before the first; holds no pointers;
                            what is not touched of it costs no memory */
    size_t scratch_nbytes; /* tables and counters of `run` whose size follows from the options;
                              not what every run takes */
    bool late;    /* the result follows from what the looks find: until then it is shaped like
                     the first source, and gi_plan_settle() must come before `run` */
    bool on_host; /* an analysis without primitives: its images come in host memory */
    void *tables; /* one malloc()ed block, the plan's own; NULL: none */
};

/* What one look of a plan takes: images on the queue's backend, whole or bands of the same rows. */
struct gi_look {
    int pass;                    /* from 0 */
    const struct gi_image *srcs; /* plan->nsources */
    int above, below; /* of a plan that is wide: rows at the top and at the bottom that are there
                         for those between them, and are looked at with other bands */
};

/* What one run of a plan takes: images on the queue's backend, whole or bands. */
struct gi_work {
    struct gi_image *dst;        /* of the result's width, channels and type */
    const struct gi_image *srcs; /* plan->nsources */
    int dst_y, src_y;  /* the rows of result and sources that stand first in dst and srcs, but for
                          sources whose rows filter->beside names */
    const void *state; /* what `measure` found; NULL without passes, and of whole sources without
                          any but band_passes */
};

/* Makes the plan of `filter` for sources of these shapes; `params` have passed gi_filter's check
 * and outlive the plan, which gi_plan_free() ends. Errors: GI_E_UNSUPPORTED for shapes that the
 * operation can't take, GI_E_USAGE for options that don't fit them, GI_E_MEMORY; then nothing is
 * left to free. */
enum gi_status gi_plan_make(struct gi_plan *plan, const struct gi_filter *filter,
                            const void *params, const struct gi_image *sources, int nsources,
                            struct gi_err *err);
void gi_plan_free(struct gi_plan *plan);

/* Makes *settled of a plan that is late, and of what its looks have found: as gi_plan_make(), no
 * longer late and without looks. */
enum gi_status gi_plan_settle(struct gi_plan *settled, const struct gi_plan *plan,
                              const void *state, struct gi_err *err);

/* For the filter's `plan`: plan->tables becomes `nbytes` of zeroed memory. NULL with `err` where
 * there is none. */
void *gi_plan_tables(struct gi_plan *plan, size_t nbytes, struct gi_err *err);

/* The rows of the sources that the rows y0 <= y < y1 of the result need: within the image, or under
 * GI_BORDER_WRAP past its ends, where the image stands again. */
struct gi_span gi_plan_needs(const struct gi_plan *plan, int y0, int y1);
/* The rows of source j, 1 and on, that stand beside these rows of the first. */
struct gi_span gi_plan_beside(const struct gi_plan *plan, int j, int y0, int y1);

#endif
