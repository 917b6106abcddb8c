/* Decides whether a chain ignores pixels without data, and warns if they count.
 * SPDX-License-Identifier: MIT */
#include "cli/run/counted_nodata.h"

#include "cli/log.h"
#include "imgio/nodata.h"

bool gi_chain_makes_image(const struct gi_chain *chain)
{
    for (int i = 0; i < chain->n; i++)
        if (chain->steps[i].filter->run)
            return true;
    return false;
}

bool gi_nodata_hidden_by(const struct gi_chain *chain)
{
    for (int i = 0; chain && i < chain->n; i++) {
        const struct gi_filter *filter = chain->steps[i].filter;
        bool measures = !filter->run, masks = filter->samples.masks_others || measures;
        if ((chain->steps[i].nothers && !masks) ||
            (measures && !filter->analysis.leaves_out_masked))
            return false;
    }
    return chain && chain->n;
}

bool gi_nodata_counted_by(const struct gi_chain *chain)
{
    return chain && chain->n && !gi_nodata_hidden_by(chain) && !gi_chain_makes_image(chain);
}

void gi_nodata_name_written(struct gi_metadata *metadata, const struct gi_nodata *nodata,
                            enum gi_type type, const struct gi_io_params *io)
{
    enum gi_type written = metadata->light ? nodata->type : type;
    bool one_bit = io->depth == GI_DEPTH_1 || io->encoding.compression == GI_COMPRESSION_G4;
    if (io->depth && !one_bit)
        written = (enum gi_type)(io->depth - GI_DEPTH_8);
    const struct gi_nodata own = gi_nodata_in(written, nodata);
    gi_nodata_remove(metadata);
    gi_nodata_name(metadata, &own);
    if (one_bit || written < nodata->type)
        gi_nodata_drop(metadata, "samples have another type");
}

enum gi_status gi_nodata_warn(struct gi_image *image, const char *input,
                              const struct gi_io_params *io, struct gi_err *err)
{
    static const char words[] = "pixels without data count like others, because only "
                                "filters, stats and histogram ignore them, and filters with a "
                                "further image only if that is an operand: want --nodata none";
    if (io->strict) {
        gi_image_free(image);
        return gi_fail(err, GI_E_UNSUPPORTED, "%s: --strict: %s", input, words);
    }
    gi_cli_warn_of(input, words);
    return GI_OK;
}
