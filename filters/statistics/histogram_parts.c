/* Histograms of images of several bands.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/histogram.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/small.h"

static const char *refuses(const void *params, bool alpha)
{
    const struct gi_histogram_params *p = params;
    return p->luminance ? "--luminance: wants colours alone" : NULL;
}

/* Takes the bins of the part over. */
static enum gi_status add_part(void *all, const void *part, const struct gi_part_names *names,
                               struct gi_err *err)
{
    struct gi_histogram *to = all;
    const struct gi_histogram *from = part;
    size_t nbytes = (size_t)from->nbins * sizeof *from->channels[0].bins;
    if (!to->channels) {
        *to = (struct gi_histogram){
            .nbins = from->nbins,
            .npercentiles = from->npercentiles,
            .channels = gi_small_calloc((size_t)names->nchannels, sizeof *to->channels),
            .least = NAN,
            .most = NAN};
        to->nchannels = names->nchannels;
    }
    to->least = fmin(to->least, from->least);
    to->most = fmax(to->most, from->most);
    for (int c = 0; c < names->n; c++) {
        struct gi_histogram_channel *channel = &to->channels[names->at[c]];
        *channel = from->channels[c];
        snprintf(channel->name, sizeof channel->name, "%s", names->names[c]);
        channel->bins = gi_small_alloc(nbytes);
        memcpy(channel->bins, from->channels[c].bins, nbytes);
    }
    return GI_OK;
}

/* Asks for the range of the bins that all bands together have. */
static bool again(void *params, const void *all, enum gi_type type)
{
    struct gi_histogram_params *p = params;
    const struct gi_histogram *h = all;
    double lo = h->channels[0].lo, hi = h->channels[0].hi;
    bool same = true;
    for (int c = 1; c < h->nchannels; c++) {
        same = same && h->channels[c].lo == lo && h->channels[c].hi == hi;
        lo = fmin(lo, h->channels[c].lo);
        hi = fmax(hi, h->channels[c].hi);
    }
    if (!same && type == GI_F32) {
        lo = h->least;
        hi = h->most;
        gi_histogram_widen(&lo, &hi);
    }
    if (!same)
        p->range = (struct gi_reals){.n = 2, .v = {lo, hi}};
    return !same;
}

const struct gi_parts_join gi_histogram_parts = {
    .add = add_part, .refuses = refuses, .again = again};
