/* An operation is one row: its name, manual, options and plan. The list is in filters.c.
 *
 * A plan is the same for every backend: it makes weights or tables on the host, in double, and
 * calls primitives through the context. It sees no argv, no file and no device.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_FILTER_H
#define GI_FILTERS_FILTER_H

#include "filters/option.h"
#include "imgio/image.h"
#include "kernels/kernels.h"

/* Work a sample, for choosing a device (filters/estimate.c) and for `gpuimg bench`. */
struct gi_cost {
    double fmas;   /* fused multiply-adds that the definition asks for */
    double other;  /* further work: fused multiply-adds that would take a CPU as long */
    double nbytes; /* of memory besides one look at the source and one at the result */
};

/* What a row of output needs besides itself; an image that does not fit on the device is cut into
 * bands with this many rows more above and below. */
struct gi_halo {
    int rows;
    enum gi_border border; /* what stands outside the image; WRAP needs rows from its other end */
};

struct gi_filter {
    const char *name;    /* the subcommand and the file in filters/ */
    const char *summary; /* one line, no full stop */
    const char *manual;  /* paragraphs, parted by blank lines; formulas with their source */
    const struct gi_option *options;
    size_t params_nbytes;

    /* Tests the options against each other, before any file is read; fills what follows from
     * others. NULL: nothing to test. Errors: GI_E_USAGE. */
    enum gi_status (*check)(void *params, struct gi_err *err);

    /* NULL: a row of output needs its own row only. */
    struct gi_halo (*halo)(const void *params);

    struct gi_cost (*cost)(const struct gi_image *src, const void *params);

    /* Image to image. The runner gives `dst` on the backend with the shape of `src`, channels
     * included. `state` is what `measure` found, NULL without `measure`. NULL: an analysis. */
    enum gi_status (*run)(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                          const void *params, const void *state, struct gi_err *err);

    /* Looks at the whole image first, `passes` times (0: not at all): `measure` gets every band of
     * pass 0, then every band of pass 1 and so on, without halo, and sums into `state` (zeroed
     * before the first band; holds no pointers; what is not touched of it costs no memory). `src`
     * gives the shape only. NULL: never. */
    size_t (*state_nbytes)(const struct gi_image *src, const void *params);
    int (*passes)(const struct gi_image *src, const void *params);
    enum gi_status (*measure)(struct gi_queue *queue, void *state, int pass,
                              const struct gi_image *band, const void *params, struct gi_err *err);

    /* Analysis: image to result. `src` is on the backend; `result` (result_nbytes, zeroed) is
     * filled and owned by the caller, who frees it with result_free (also after an error).
     * `result_equal`: the same to the bit; used by selftest and tests. An analysis has either
     * `analyse`, which takes the whole image, or `measure` and `conclude`, which works in bands: it
     * makes the result on the host from what was measured (`src` gives the shape only). */
    size_t result_nbytes;
    enum gi_status (*analyse)(struct gi_queue *queue, void *result, const struct gi_image *src,
                              const void *params, struct gi_err *err);
    enum gi_status (*conclude)(void *result, const struct gi_image *src, const void *params,
                               const void *state, struct gi_err *err);
    void (*result_free)(void *result);
    bool (*result_equal)(const void *a, const void *b);
};

/* Every filter, in the order of the help; ends with NULL. */
extern const struct gi_filter *const gi_filters[];

/* The filter of that name, or NULL. */
const struct gi_filter *gi_filter_find(const char *name);

/* Parts that several rows share. --border and --border-value set a struct gi_border_params; the
 * macro's `params` is the struct that holds one as member `edge`. */
struct gi_border_params {
    int border; /* enum gi_border */
    struct gi_reals value;
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
        .name = "border-value", .type = GI_OPT_REALS, .offset = offsetof(params, edge.value),      \
        .default_text = "0", .metavar = "V[,V...]",                                                \
        .help = "Sample value outside the image under --border border: one for all channels, or "  \
                "one a channel, alpha last"                                                        \
    }

/* The edge for an image of `src`'s channels. A single value serves all channels. */
struct gi_edge gi_edge_from(const struct gi_border_params *params, const struct gi_image *src);

#endif
