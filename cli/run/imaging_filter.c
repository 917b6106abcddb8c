/* The chain's work on a loaded image and on its metadata.
 * SPDX-License-Identifier: MIT */
#include "cli/run/imaging.h"

#include <string.h>

#include "cli/args/level_check.h"
#include "cli/run/counted_nodata.h"
#include "cli/run/other_colors.h"
#include "cli/run/ready.h"
#include "imgio/jpeg/gain_map.h"
#include "imgio/metadata/color_tags.h"
#include "imgio/metadata/geo.h"
#include "imgio/nodata.h"

/* Returns the value of the first further image that has one. */
static struct gi_nodata nodata_of_others(const struct gi_chain *chain)
{
    for (int i = 0; chain && i < chain->n; i++)
        for (int j = 0; j < chain->steps[i].nothers; j++)
            if (chain->steps[i].other_nodata[j].given)
                return chain->steps[i].other_nodata[j];
    return (struct gi_nodata){0};
}

/* Marks the pixels without data of an image by alpha where gi_load() could not: in a part of an
 * image of several bands, and in an image of a stream. An image without such pixels may get some
 * from a further image. Frees the image on an error. */
static enum gi_status hide_late(struct gi_imaging *imaging, const struct gi_item *item,
                                struct gi_image *image, const struct gi_metadata *metadata,
                                const struct gi_file_info *info, struct gi_nodata *nodata,
                                struct gi_err *err)
{
    const struct gi_io_params *io = gi_imaging_options(imaging)->io;
    const struct gi_chain *chain = gi_imaging_chain(imaging, item);
    enum gi_status status =
        nodata->given ? GI_OK : gi_nodata_find(nodata, io->nodata, metadata, info, image, err);
    bool hides = gi_nodata_hidden_by(chain), own = nodata->given;
    if (!status && !own)
        *nodata = nodata_of_others(chain);
    if (!status && nodata->given && hides && (!own || !io->linear))
        return gi_nodata_hide(image, own ? nodata : NULL, err);
    bool told = info->nodata.given && !gi_chain_makes_image(chain);
    if (!status && nodata->given && !told &&
        (gi_chain_makes_image(chain) || gi_nodata_is_in(image, nodata)))
        status = gi_nodata_warn(image, item->line.input, io, err);
    if (status)
        gi_image_free(image);
    return status;
}

enum gi_status gi_imaging_filter_ready(struct gi_imaging *imaging, struct gi_item *item,
                                       struct gi_image *image, struct gi_metadata *metadata,
                                       const struct gi_file_info *info, bool wanted,
                                       struct gi_ending *ending, struct gi_ready *ready,
                                       struct gi_err *err)
{
    const struct gi_imaging_options *options = gi_imaging_options(imaging);
    const struct gi_chain *chain = gi_imaging_chain(imaging, item);
    struct gi_nodata nodata = info->nodata;
    enum gi_status status = metadata && image->data && !image->mask
                                ? hide_late(imaging, item, image, metadata, info, &nodata, err)
                                : GI_OK;
    if (status)
        return status;
    struct gi_image src = *image;
    *image = (struct gi_image){0};
    const struct gi_drawn_item of = gi_imaging_drawn_item(imaging, item, metadata);
    status = ready->chain ? GI_OK : gi_ready_make(ready, chain, &of, err);
    if (!status)
        status = gi_cli_check_levels(ready->steps, chain->n, &src, info, options->io, err);
    if (!status)
        ready->sides[chain->n - 1].ending = src.mask ? NULL : ending;
    bool looks = !status && chain->n == 1 && chain->steps[0].reporter;
    if (looks) {
        ready->sides[0].copy_out = ready->sides[0].shape = NULL;
        ready->inputs[0] = src; /* which gi_ready_free() frees */
    }
    if (!status)
        status = gi_imaging_compute(imaging, item, wanted ? image : NULL, &src, ready, err);
    if (status == GI_E_UNSUPPORTED && src.coded) {
        *err = (struct gi_err){0};
        status = gi_imaging_decode(imaging, item, &src, metadata, err);
        if (looks)
            ready->inputs[0] = src;
        if (status)
            return status;
        status = gi_imaging_compute(imaging, item, wanted ? image : NULL, &src, ready, err);
    }
    if (!looks)
        gi_image_free(&src);
    if (status && !options->one)
        gi_err_prefix(err, "%s", item->line.input);
    return status || !wanted || !image->mask
               ? status
               : gi_nodata_restore(image, &nodata, metadata ? metadata->light : NULL, err);
}

enum gi_status gi_imaging_filter(struct gi_imaging *imaging, struct gi_item *item,
                                 struct gi_image *image, struct gi_metadata *metadata,
                                 const struct gi_file_info *info, struct gi_placement *placement,
                                 struct gi_err *err)
{
    struct gi_ready ready = {0};
    enum gi_status status =
        gi_imaging_filter_ready(imaging, item, image, metadata, info, true, NULL, &ready, err);
    if (!status && placement)
        *placement = gi_ready_placement(&ready);
    gi_ready_free(&ready);
    return status;
}

/* Returns whether a step leaves the colour space of the file's profile. */
static bool recolors(const struct gi_chain *chain)
{
    for (int i = 0; i < chain->n; i++) {
        const struct gi_chain_step *step = &chain->steps[i];
        const struct gi_filter *filter = step->filter;
        if (filter->samples.recolors &&
            filter->samples.recolors(step->args.params[GI_SET_STEP_FILTER]))
            return true;
    }
    return false;
}

/* Returns whether a step changes samples, and not only their places. */
static bool changes_samples(const struct gi_chain *chain)
{
    for (int i = 0; i < chain->n; i++) {
        const struct gi_filter *filter = chain->steps[i].filter;
        if (filter->run && filter->group != GI_GROUP_GEOMETRY)
            return true;
    }
    return false;
}

/* Returns the type as which the file's samples are read. */
static enum gi_type stored_type(const struct gi_file_info *info)
{
    return !info->maxval ? GI_F32 : info->bits <= 8 ? GI_U8 : GI_U16;
}

/* Returns whether samples of type `of` are written in their unit, if the result is `made`. */
static bool keeps_unit(enum gi_type of, const struct gi_image *made,
                       const struct gi_metadata *metadata, const struct gi_file_info *info,
                       const struct gi_io_params *io)
{
    bool loses = made->type < of; /* the value too may have been rounded */
    if (loses || io->depth == GI_DEPTH_1 || io->encoding.compression == GI_COMPRESSION_G4)
        return false;
    if (io->depth)
        return (int)of == io->depth - GI_DEPTH_8;
    return of == (metadata->light ? stored_type(info) : made->type);
}

enum gi_status gi_imaging_adapt(struct gi_metadata *metadata, const struct gi_imaging *imaging,
                                const struct gi_item *item, const struct gi_file_info *info,
                                const struct gi_image *made, const struct gi_placement *placement,
                                struct gi_err *err)
{
    const struct gi_io_params *io = gi_imaging_options(imaging)->io;
    const struct gi_chain *chain = gi_imaging_chain(imaging, item);
    struct gi_nodata others = nodata_of_others(chain);
    bool fits = others.given && !io->nodata && keeps_unit(others.type, made, metadata, info, io);
    bool named = fits && gi_nodata_name(metadata, &others);
    if (!named && !keeps_unit(stored_type(info), made, metadata, info, io))
        gi_nodata_drop(metadata, "samples have another type");
    if (chain && gi_chain_makes_image(chain))
        gi_geo_forget_statistics(metadata);
    if (chain)
        gi_other_colors_name(metadata, chain);
    if (chain && chain->n)
        gi_geo_move(metadata, placement->known ? placement->m : NULL, placement->whole, made);
    if (io->passed.orientation > 1) /* of the image as it will be stored */
        gi_geo_orient(metadata, made, gi_orientation_inverse(io->passed.orientation));
    if (chain && recolors(chain))
        gi_metadata_drop_color(metadata);
    if (io->encoding.color.profile || io->encoding.color.assign)
        gi_metadata_drop_color_tags(metadata);
    if (chain && changes_samples(chain))
        gi_gain_map_drop(metadata, "of the old samples");
    if (io->gray || io->encoding.color.profile || io->encoding.color.assign)
        gi_gain_map_drop(metadata, "of the old colours");
    enum gi_status status = gi_gain_map_settle(metadata, &io->limits, false, err);
    if (status)
        return status;
    return metadata->starved ? gi_fail(err, GI_E_MEMORY, "out of memory: metadata") : GI_OK;
}
