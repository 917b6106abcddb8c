/* The results of an analysis of an image of several bands, each part of which was analysed as an
 * image of its own.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

/* One part of the image. */
struct gi_part_names {
    int nchannels;           /* of the whole image */
    int n;                   /* channels of the part */
    int at[GI_MAX_CHANNELS]; /* number of each of them in the whole image */
    const char *names[GI_MAX_CHANNELS];
};

/* How an analysis joins the results of the parts. */
struct gi_parts_join {
    /* Adds the result of a part to that of the whole image, `all`, which is zeroed before the first
     * part and freed by gi_analysis.free. Errors: GI_E_MEMORY, GI_E_UNSUPPORTED. */
    enum gi_status (*add)(void *all, const void *part, const struct gi_part_names *names,
                          struct gi_err *err);
    /* Returns why the parameters make no sense for bands, or NULL. `alpha` says whether the first
     * part has alpha. NULL: they always do. */
    const char *(*refuses)(const void *params, bool alpha);
    /* Changes the parameters, a copy, to those with which the parts have to be analysed again so
     * that they fit together. Returns false if they do. NULL: they always do. */
    bool (*again)(void *params, const void *all, enum gi_type type);
};
