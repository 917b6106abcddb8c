/* Makes several results of an image by several chains, such as its sizes for a web page, from one
 * decoding.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cli/args/image_files.h"
#include "cli/paths/names.h"
#include "cli/paths/output.h"
#include "cli/run/imaging.h"
#include "cli/run/ready.h"
#include "imgio/joined.h"
#include "imgio/small.h"
#include "kernels/ways.h"

/* The decoded image, from which all results are made. */
struct source {
    struct gi_image image;
    struct gi_metadata metadata;
    struct gi_file_info info;
};

/* Decodes the image. A device would decode it again for each chain, so that it must not stay
 * coded. */
static enum gi_status load(struct gi_imaging *imaging, struct gi_item *item, struct source *source,
                           struct gi_err *err)
{
    enum gi_status status =
        gi_imaging_load(imaging, item, &source->image, &source->metadata, &source->info, true, err);
    return status || !source->image.coded
               ? status
               : gi_imaging_decode(imaging, item, &source->image, &source->metadata, err);
}

/* Runs the chain of the item on a view of the image. The caller frees *made and *metadata, also
 * after an error. */
static enum gi_status make(struct gi_imaging *imaging, struct gi_item *item, struct gi_image *made,
                           struct gi_metadata *metadata, const struct source *source,
                           struct gi_err *err)
{
    const struct gi_file_info *info = &source->info;
    struct gi_ready ready = {0};
    *made = source->image;
    made->owner = GI_OWNER_NONE;
    enum gi_status status = gi_metadata_copy(metadata, &source->metadata, err);
    if (!status && info->bands.n)
        status = gi_imaging_bands(imaging, item, made, metadata, info, true, &ready, err);
    else if (!status)
        status =
            gi_imaging_filter_ready(imaging, item, made, metadata, info, true, NULL, &ready, err);
    if (!status) {
        struct gi_placement placement = gi_ready_placement(&ready);
        status = gi_imaging_adapt(metadata, imaging, item, info, made, &placement, err);
    }
    gi_ready_free(&ready);
    return status;
}

enum gi_status gi_imaging_name_size(char **path, const char *output, const struct gi_image *made,
                                    struct gi_err *err)
{
    *path = gi_naming_size(output, made->width, made->height);
    return gi_naming_is_per_size(output) ? gi_naming_size_folder(output, *path, err) : GI_OK;
}

/* A result that was written. */
struct written {
    char *path; /* "": it is in the joined file */
    int width, height;
};

/* The files of the results: a file each, in the bundle, or one file, by the joiner. */
struct files {
    const char *output;
    struct gi_bundle *bundle;
    struct gi_joiner *joiner; /* or NULL */
};

/* Encodes a result and writes it. */
static enum gi_status write(struct gi_imaging *imaging, struct gi_item *item,
                            const struct files *files, const struct gi_image *made,
                            const struct gi_metadata *metadata, const char *path,
                            struct gi_err *err)
{
    if (!files->joiner)
        return gi_imaging_save_part(imaging, item, made, metadata, path, files->bundle, err);
    enum gi_status status = gi_imaging_save(imaging, item, made, metadata, NULL, true, err);
    void *bytes = item->made.bytes;
    item->made.bytes = NULL;
    if (!status)
        return gi_joiner_add(files->joiner, bytes, item->made.nbytes, &item->made.timing, err);
    free(bytes);
    return status;
}

/* Returns whether one of the `n` results has this name. Several results of one size are the same,
 * because no chain enlarges the image. Errors: GI_E_USAGE if the other one has another size. */
static enum gi_status find(bool *found, const struct written *all, int n, const struct written *one,
                           const char *input, struct gi_err *err)
{
    *found = false;
    for (int i = 0; i < n && !*found; i++) {
        bool same = all[i].width == one->width && all[i].height == one->height;
        *found = all[i].path && strcmp(all[i].path, one->path) == 0 && (same || *one->path);
        if (*found && !same)
            return gi_fail(err, GI_E_USAGE,
                           "%s: %s would be the name of %d x %d and of %d x %d pixels: want "
                           "{width} and {height} in it",
                           input, one->path, all[i].width, all[i].height, one->width, one->height);
    }
    return GI_OK;
}

/* Makes result i and adds it to the files, unless it is there. */
static enum gi_status add(struct gi_imaging *imaging, struct gi_item *item,
                          const struct source *source, struct written *all, int i,
                          const struct files *files, struct gi_err *err)
{
    struct gi_image made = {0};
    struct gi_metadata metadata = {0};
    struct written one = {0};
    bool found = false;
    item->source.variant = i;
    enum gi_status status = make(imaging, item, &made, &metadata, source, err);
    if (!status && files->joiner)
        one.path = gi_small_copy("");
    else if (!status)
        status = gi_imaging_name_size(&one.path, files->output, &made, err);
    one.width = made.width;
    one.height = made.height;
    if (!status)
        status = find(&found, all, i, &one, item->line.input, err);
    if (!status && !found)
        status = write(imaging, item, files, &made, &metadata, one.path, err);
    if (!status && !found)
        all[i] = one;
    else
        free(one.path);
    gi_image_free(&made);
    gi_metadata_free_copy(&metadata);
    item->source.variant = 0;
    return status;
}

static enum gi_status add_all(struct gi_imaging *imaging, struct gi_item *item,
                              const struct files *files, struct gi_file_info *info,
                              struct gi_err *err)
{
    struct source source = {0};
    int n = gi_imaging_variants(imaging);
    struct written *all = gi_small_calloc((size_t)n, sizeof *all);
    enum gi_status status = load(imaging, item, &source, err);
    for (int i = 0; i < n && !status; i++)
        status = add(imaging, item, &source, all, i, files, err);
    *info = source.info;
    for (int i = 0; i < n; i++)
        free(all[i].path);
    free(all);
    gi_image_free(&source.image);
    gi_metadata_free(&source.metadata);
    return status;
}

enum gi_status gi_imaging_add_variants(struct gi_imaging *imaging, struct gi_item *item,
                                       const char *output, struct gi_file_info *info,
                                       struct gi_bundle *bundle, struct gi_err *err)
{
    const struct files files = {.output = output, .bundle = bundle};
    return add_all(imaging, item, &files, info, err);
}

/* Writes all results into one file, such as an icon. */
static enum gi_status join(struct gi_imaging *imaging, struct gi_item *item,
                           struct gi_file_info *info, struct gi_err *err)
{
    const struct gi_io_params *io = gi_imaging_options(imaging)->io;
    const struct gi_joined_timing timing = gi_cli_timing(io);
    const char *format = gi_save_format(item->line.output, io->format);
    struct files files = {0};
    struct gi_sink *sink = NULL;
    enum gi_status status =
        gi_sink_open(&sink, gi_output_file(item->line.output), io->no_clobber, err);
    if (!status)
        status = gi_joiner_new(&files.joiner, sink, format, &timing, err);
    if (!status)
        status = add_all(imaging, item, &files, info, err);
    if (!status)
        status = gi_joiner_end(files.joiner, err);
    if (!status && gi_imaging_options(imaging)->one)
        status = gi_ways_forced_ran(err);
    if (!status)
        status = gi_sink_commit(&sink, io->durable, err);
    gi_joiner_free(&files.joiner);
    gi_sink_abandon(&sink);
    if (!status)
        gi_item_note_output(item);
    return status;
}

enum gi_status gi_imaging_variants_process(struct gi_imaging *imaging, struct gi_item *item,
                                           struct gi_err *err)
{
    struct gi_file_info info = {0};
    struct gi_bundle *bundle = NULL;
    bool one = gi_imaging_options(imaging)->one, taken;
    if (!gi_naming_is_per_size(item->line.output))
        return join(imaging, item, &info, err);
    enum gi_status status = gi_bundle_new(&bundle, one, err);
    if (!status)
        status = gi_imaging_add_variants(imaging, item, item->line.output, &info, bundle, err);
    if (!one && gi_imaging_found_joined(item, &info, status, err)) {
        gi_bundle_abandon(&bundle);
        return gi_imaging_pages(imaging, item, false, true, &taken, err);
    }
    if (!status && one)
        status = gi_ways_forced_ran(err);
    if (!status)
        status = gi_bundle_commit(&bundle, err);
    gi_bundle_abandon(&bundle);
    if (!status)
        gi_item_note_output(item);
    return status;
}
