/* An operation is one row: its name, manual, options and what makes and runs its plan. The list is
 * in filters.c.
 *
 * A row is the same for every backend: its plan makes weights or tables on the host, in double, and
 * its run calls primitives through the queue. It sees no argv, no file and no device.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_FILTER_H
#define GI_FILTERS_FILTER_H

#include "filters/option.h"
#include "filters/plan.h"
#include "imgio/image.h"
#include "kernels/kernels.h"

struct gi_filter {
    const char *name;    /* the subcommand and the file in filters/ */
    const char *summary; /* one line, no full stop */
    const char *manual;  /* paragraphs, parted by blank lines; formulas with their source */
    /* Of an operation of image to image: three lines "gpuimg blur in.png out.png --k 5". */
    const char *examples;
    const struct gi_option *options;
    size_t params_nbytes;
    int min_sources, max_sources; /* images that it takes besides those that options name; 0 stands
                                     for 1 */
    bool mixes;                   /* adds up the light of several pixels, as cameras and eyes do */

    /* Tests the options against each other, before any file is read; fills what follows from
     * others. NULL: nothing to test. Errors: GI_E_USAGE. */
    enum gi_status (*check)(void *params, struct gi_err *err);

    /* Of an image that an option names, sources[j], once it is loaded: tests what it holds, or
     * makes of it what plans take; `other` is in host memory and the caller's to free. NULL:
     * nothing to do. Errors: GI_E_UNSUPPORTED, without a name in front; GI_E_MEMORY. */
    enum gi_status (*admit)(const void *params, int j, struct gi_image *other, struct gi_err *err);

    /* How many pixels of a first source of that shape a side may become one while it is decoded: 1,
     * 2, 4 or 8. Then its shape says so (struct gi_shrunk). NULL: 1. */
    int (*shrink)(const void *params, const struct gi_image *source);

    /* Fills what follows from parameters and shapes (filters/plan.h). NULL: nothing does. Errors:
     * as gi_plan_make(). */
    enum gi_status (*plan)(struct gi_plan *plan, struct gi_err *err);

    /* The rows of source j, 1 and on, that stand beside rows y0 <= y < y1 of the first; none of
     * them where top is bottom. NULL: the same rows. Not asked under GI_REACH_ALL, which wants all.
     */
    struct gi_span (*beside)(const struct gi_plan *plan, int j, int y0, int y1);

    /* GI_REACH_MAPPED only: as gi_plan_needs(). */
    struct gi_span (*needs)(const struct gi_plan *plan, int y0, int y1);

    /* Image to image. NULL: an analysis. Errors: as the primitives'. */
    enum gi_status (*run)(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err);

    /* Looks at the whole sources first, plan->passes times: gets every band of pass 0, then every
     * band of pass 1 and so on, and sums into `state`. */
    enum gi_status (*measure)(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                              const struct gi_look *look, struct gi_err *err);

    /* plan->late only: the plan as `plan` left it, but for `late` and `passes`, becomes that for
     * what the looks have found. Errors: as `plan`. */
    enum gi_status (*settle)(struct gi_plan *plan, const void *state, struct gi_err *err);

    /* Analysis: images to a result, `result_nbytes`, zeroed, filled here and owned by the caller,
     * who frees it with result_free (also after an error). An analysis has `analyse`, which takes
     * the whole images, or `measure` and `conclude`, which works in bands: it makes the result on
     * the host from what was measured; with both, `analyse` is for plans that are on_host.
     * `result_equal`: the same to the bit; used by selftest and tests. `ask_all` asks for the parts
     * of the result that no option names. */
    size_t result_nbytes;
    enum gi_status (*analyse)(const struct gi_plan *plan, struct gi_queue *queue, void *result,
                              const struct gi_image *srcs, struct gi_err *err);
    enum gi_status (*conclude)(const struct gi_plan *plan, void *result, const void *state,
                               struct gi_err *err);
    void (*result_free)(void *result);
    bool (*result_equal)(const void *a, const void *b);
    void (*ask_all)(void *params);
};

/* Every filter, in the order of the help; ends with NULL. */
extern const struct gi_filter *const gi_filters[];

/* The filter of that name, or NULL. */
const struct gi_filter *gi_filter_find(const char *name);

/* The row of the i-th image that options name, from 0; NULL past the last. */
const struct gi_option *gi_filter_image(const struct gi_filter *filter, const void *params, int i);
/* The path that it is set to. */
const char *gi_option_path(const struct gi_option *row, const void *params);
/* Sources besides the first that the operation takes at least, by those options or by its row. */
int gi_filter_others(const struct gi_filter *filter, const void *params);

/* Parts that several rows share. --border and --border-value set a struct gi_border_params; the
 * macro's `params` is the struct that holds one as member `edge`. */
struct gi_border_params {
    int border; /* enum gi_border */
    struct gi_colour value;
};

extern const struct gi_choice gi_border_choices[];

#define GI_BORDER_OPTIONS(params)                                                                  \
    {.name = "border",                                                                             \
     .type = GI_OPT_CHOICE,                                                                        \
     .offset = offsetof(params, edge.border),                                                      \
     .default_text = "clamp",                                                                      \
     .choices = gi_border_choices,                                                                 \
     .help = "What stands outside the image"},                                                     \
    {                                                                                              \
        .name = "border-value", .type = GI_OPT_COLOUR, .offset = offsetof(params, edge.value),     \
        .default_text = "0",                                                                       \
        .help = "What stands outside the image under --border border: a colour, or a "             \
                "sample value for all channels or one a channel, alpha last"                       \
    }

/* The row of --border-value where it says what an operation adds, `what`: there it is --background
 * too. `member` is the struct gi_border_params within `params`. */
#define GI_ADDED_VALUE_OPTION(params, member, what)                                                \
    {                                                                                              \
        .name = "border-value", .also = "background", .type = GI_OPT_COLOUR,                       \
        .offset = offsetof(params, member.value), .default_text = "0",                             \
        .help = what ": a colour, or a sample value for all channels or one a channel, alpha last" \
    }

/* The edge for an image of `src`'s type and channels (gi_colour_pixel()). */
struct gi_edge gi_edge_from(const struct gi_border_params *params, const struct gi_image *src);

#endif
