/* Compares the colours of further images with those of the input.
 * SPDX-License-Identifier: MIT */
#include "cli/run/other_colors.h"
#include "filters/regions/paste.h"
#include "imgio/metadata/metadata.h"

#include <string.h>

void gi_other_colors_keep(struct gi_metadata *kept, struct gi_metadata *loaded)
{
    *kept = (struct gi_metadata){.icc = loaded->icc,
                                 .icc_nbytes = loaded->icc_nbytes,
                                 .color = loaded->color,
                                 .color_nbytes = loaded->color_nbytes};
    loaded->icc = loaded->color = NULL;
    loaded->icc_nbytes = loaded->color_nbytes = 0;
    gi_metadata_free(loaded);
}

static bool has_other_profile(const struct gi_metadata *other, const struct gi_metadata *metadata)
{
    return other->icc && (!metadata->icc || other->icc_nbytes != metadata->icc_nbytes ||
                          memcmp(other->icc, metadata->icc, other->icc_nbytes) != 0);
}

static bool has_other_chunks(const struct gi_metadata *other, const struct gi_metadata *metadata)
{
    return other->color && !(gi_metadata_is_srgb(other) && gi_metadata_is_srgb(metadata)) &&
           (!metadata->color || other->color_nbytes != metadata->color_nbytes ||
            memcmp(other->color, metadata->color, other->color_nbytes) != 0);
}

bool gi_other_colors_differ(const struct gi_metadata *other, const struct gi_metadata *metadata)
{
    return has_other_profile(other, metadata) || has_other_chunks(other, metadata);
}

void gi_other_colors_name(struct gi_metadata *metadata, const struct gi_chain *chain)
{
    const struct gi_part part = {
        .kind = GI_PART_METADATA, .fate = GI_PART_DROPPED, .why = "differs from that of the input"};
    for (int s = 0; s < chain->n; s++) {
        const struct gi_chain_step *step = &chain->steps[s];
        for (int i = 0; i < step->nothers; i++) {
            const struct gi_metadata *other = &step->other_colors[i];
            const struct gi_option *row =
                gi_filter_image(step->filter, step->args.params[GI_SET_STEP_FILTER], i);
            const char *name = step->filter == &gi_filter_paste || !row ? "crops" : row->name;
            if (has_other_profile(other, metadata))
                gi_metadata_add_part(metadata, &part, "the ICC profile of --%s", name);
            else if (has_other_chunks(other, metadata))
                gi_metadata_add_part(metadata, &part, "the colour (gAMA, cHRM, cICP) of --%s",
                                     name);
        }
    }
}
