/* Statistics of images of several bands.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *refuses(const void *params, bool alpha)
{
    const struct gi_stats_params *p = params;
    return p->opaque && alpha ? "--opaque: alpha is that of the first bands alone" : NULL;
}

/* Allocates the statistics of all bands, for the zones of the part, which are those of all. */
static enum gi_status alloc(struct gi_stats *all, const struct gi_stats *part, int nchannels,
                            struct gi_err *err)
{
    size_t n = (size_t)nchannels, nzones = (size_t)part->nzones;
    all->nchannels = nchannels;
    all->npercentiles = part->npercentiles;
    all->type = part->type;
    all->by = part->by;
    all->nzones = part->nzones;
    if (part->by) {
        all->zones = malloc((nzones + 1) * sizeof *all->zones);
        all->of_zones = calloc(nzones * n + 1, sizeof *all->of_zones);
    } else {
        all->of_bands = calloc(n, sizeof *all->of_bands);
        all->sums_of_bands = calloc(n, sizeof *all->sums_of_bands);
    }
    if (part->by ? !all->zones || !all->of_zones : !all->of_bands || !all->sums_of_bands)
        return gi_fail(err, GI_E_MEMORY, "out of memory: statistics of %d bands", nchannels);
    if (part->by)
        memcpy(all->zones, part->zones, nzones * sizeof *all->zones);
    return GI_OK;
}

static enum gi_status add(void *all_stats, const void *part_stats,
                          const struct gi_part_names *names, struct gi_err *err)
{
    struct gi_stats *all = all_stats;
    const struct gi_stats *part = part_stats;
    enum gi_status status = all->nchannels ? GI_OK : alloc(all, part, names->nchannels, err);
    struct gi_stats_channel *to = part->by ? all->of_zones : all->of_bands;
    const struct gi_stats_channel *from = gi_stats_channels(part);
    int nzones = part->by ? part->nzones : 1;
    for (int i = 0; i < nzones * names->n && !status; i++) {
        int zone = i / names->n, c = i % names->n;
        struct gi_stats_channel *channel = &to[zone * all->nchannels + names->at[c]];
        *channel = from[i];
        snprintf(channel->name, sizeof channel->name, "%s", names->names[c]);
        if (!part->by)
            all->sums_of_bands[names->at[c]] = part->sums[c];
    }
    return status;
}

const struct gi_parts_join gi_stats_parts = {.add = add, .refuses = refuses};
