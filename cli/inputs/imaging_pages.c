/* The work on an item whose input has several images, such as the pages of a TIFF.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cli/inputs/page_cursor.h"
#include "cli/paths/names.h"
#include "cli/run/imaging.h"
#include "cli/text.h"
#include "imgio/small.h"

/* The outputs of the pages. */
struct outputs {
    struct gi_imaging *imaging;
    struct gi_item *item;
    struct gi_bundle *bundle; /* of a file per page; NULL: one file */
    struct gi_sink *sink;     /* of one file */
    struct gi_joiner *joiner; /* into it; NULL: PNM, one image behind the other */
};

/* Takes the result of a page. */
static enum gi_status put(struct outputs *outputs, const struct gi_image *image,
                          const struct gi_metadata *metadata, int number, struct gi_err *err)
{
    struct gi_item *item = outputs->item;
    if (!outputs->bundle) {
        enum gi_status status =
            gi_imaging_save(outputs->imaging, item, image, metadata, NULL, true, err);
        void *bytes = item->made.bytes;
        item->made.bytes = NULL;
        if (!status && outputs->joiner)
            return gi_joiner_add(outputs->joiner, bytes, item->made.nbytes, &item->made.timing,
                                 err);
        if (!status)
            status = gi_sink_write(outputs->sink, bytes, item->made.nbytes, err);
        free(bytes);
        return status;
    }
    char *name = gi_naming_page(item->line.output, number), *path = NULL;
    enum gi_status status = gi_imaging_name_size(&path, name, image, err);
    if (!status)
        status = gi_imaging_save_part(outputs->imaging, item, image, metadata, path,
                                      outputs->bundle, err);
    free(name);
    free(path);
    return status;
}

/* Makes the results of a page, which are several. */
static enum gi_status process_variants(struct outputs *outputs, int number, struct gi_err *err)
{
    struct gi_file_info info = {0};
    char *path = gi_naming_page(outputs->item->line.output, number);
    enum gi_status status =
        gi_imaging_add_variants(outputs->imaging, outputs->item, path, &info, outputs->bundle, err);
    free(path);
    return status;
}

/* Processes page i of `pages`. If `pages` is NULL, processes the only image of the input. */
static enum gi_status process(struct outputs *outputs, struct gi_pages *pages, int i,
                              struct gi_err *err)
{
    struct gi_item *item = outputs->item;
    struct gi_image image = {0};
    struct gi_metadata metadata = {0};
    if (pages)
        gi_item_take_page(item, pages, i);
    if (gi_imaging_variants(outputs->imaging) > 1)
        return process_variants(outputs, pages ? gi_pages_number(pages, i) : 0, err);
    item->source.together = pages && outputs->joiner && gi_pages_are_all(pages);
    enum gi_status status = gi_imaging_make(outputs->imaging, item, &image, &metadata, err);
    if (!status)
        status = put(outputs, &image, &metadata, pages ? gi_pages_number(pages, i) : 0, err);
    gi_image_free(&image);
    gi_metadata_free(&metadata);
    return status;
}

/* Returns the name of the output's format, or NULL if it is unknown. */
static const char *format_of(const struct gi_imaging *imaging, const struct gi_item *item)
{
    const char *wanted =
        item->source.format ? item->source.format : gi_imaging_options(imaging)->io->format;
    const char *output = item->line.output ? item->line.output : item->line.input;
    return gi_save_format(output, wanted);
}

static bool is_pnm(const char *format)
{
    return format && gi_text_is_one_of("pbm pgm ppm pnm pam", format, strlen(format));
}

static enum gi_status open_output(struct outputs *outputs, const struct gi_pages *pages,
                                  bool into_memory, struct gi_err *err)
{
    const struct gi_item *item = outputs->item;
    enum gi_status status;
    if (gi_naming_is_per_page(item->line.output))
        return gi_bundle_new(&outputs->bundle, false, err);
    if (item->line.in_parts || gi_imaging_variants(outputs->imaging) > 1)
        return gi_fail(err, GI_E_UNSUPPORTED, "%s: has %d %s: want --out with {page} in it",
                       item->line.input, gi_pages_n(pages),
                       gi_pages_are_separate(pages) ? "images" : "pages");
    const char *format = format_of(outputs->imaging, item);
    bool joins = gi_joins(format, gi_pages_are_frames(pages) ? GI_JOIN_FRAMES : GI_JOIN_PAGES);
    const struct gi_joined_timing timing = gi_cli_timing(gi_imaging_options(outputs->imaging)->io);
    if (!joins && !is_pnm(format))
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "%s: has %d %s, and %s holds one image: want a TIFF%s", item->line.input,
                       gi_pages_n(pages), gi_pages_are_separate(pages) ? "images" : "pages",
                       item->line.output ? item->line.output : "the result",
                       into_memory ? "" : ", or --out with {page} in it");
    status = into_memory ? gi_sink_open_memory(&outputs->sink, item->line.input, err)
                         : gi_sink_open(&outputs->sink, item->line.output,
                                        gi_imaging_options(outputs->imaging)->io->no_clobber, err);
    return status || !joins ? status
                            : gi_joiner_new(&outputs->joiner, outputs->sink, format, &timing, err);
}

static enum gi_status end_output(struct outputs *outputs, bool into_memory, struct gi_err *err)
{
    struct gi_item *item = outputs->item;
    if (outputs->bundle)
        return gi_bundle_commit(&outputs->bundle, err);
    const char *path = item->line.output ? item->line.output : item->line.input;
    enum gi_status status = GI_OK;
    if (outputs->joiner)
        status =
            gi_cli_end_joined(outputs->joiner, path, gi_imaging_options(outputs->imaging)->io, err);
    if (!status && into_memory)
        status = gi_sink_take(&outputs->sink, &item->made.bytes, &item->made.nbytes, err);
    else if (!status)
        status =
            gi_sink_commit(&outputs->sink, gi_imaging_options(outputs->imaging)->io->durable, err);
    return status;
}

bool gi_imaging_found_joined(const struct gi_item *item, const struct gi_file_info *info,
                             enum gi_status status, struct gi_err *err)
{
    if (status != GI_E_UNSUPPORTED || info->images < 2 || item->source.pages)
        return false;
    *err = (struct gi_err){0};
    return true;
}

enum gi_status gi_imaging_pages(struct gi_imaging *imaging, struct gi_item *item, bool into_memory,
                                bool joined, bool *taken, struct gi_err *err)
{
    const struct gi_io_params *io = gi_imaging_options(imaging)->io;
    struct outputs outputs = {.imaging = imaging, .item = item};
    struct gi_pages *pages = NULL;
    enum gi_status status = GI_OK;
    bool per_page = item->line.in_parts && gi_naming_is_per_page(item->line.output);
    struct gi_selection selection = {0};
    if (!item->source.bytes && !item->source.pages)
        gi_path_file(item->line.input, &selection);
    joined = joined || per_page || !gi_selection_is_all(&selection);
    if (!item->source.pages)
        status = gi_cli_open_pages(&pages, item->line.input, item->source.bytes,
                                   item->source.nbytes, io, joined, err);
    const char *format = format_of(imaging, item);
    if (pages && gi_pages_are_frames(pages) && !per_page && !gi_joins(format, GI_JOIN_FRAMES) &&
        !is_pnm(format))
        gi_pages_close(&pages, NULL); /* the first frame */
    *taken = per_page || (pages && gi_pages_n(pages) > 1);
    if (!status && *taken)
        status = open_output(&outputs, pages, into_memory, err);
    char *file = item->line.input; /* the pages have other names */
    if (pages)
        item->line.input = NULL;
    for (int i = 0; *taken && i < (pages ? gi_pages_n(pages) : 1) && !status; i++)
        status = process(&outputs, pages, i, err);
    if (pages) {
        free(item->line.input);
        item->line.input = file;
        gi_pages_close(&item->source.pages, NULL);
    }
    if (!status && *taken)
        status = end_output(&outputs, into_memory, err);
    gi_joiner_free(&outputs.joiner);
    gi_sink_abandon(&outputs.sink);
    gi_bundle_abandon(&outputs.bundle);
    gi_pages_close(&pages, NULL);
    if (*taken && !status) {
        gi_item_note_input(item);
        gi_item_note_output(item);
    }
    return status;
}
