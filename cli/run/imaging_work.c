/* The usual work on an item, from its input to its results: loads the image, runs the chain, and
 * writes the tables of analyses and the image.
 * SPDX-License-Identifier: MIT */
#include "cli/run/imaging.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/paths/names.h"
#include "cli/paths/output.h"
#include "cli/process.h"
#include "cli/run/ready.h"
#include "cli/run/timing.h"
#include "imgio/bits.h"
#include "kernels/parallel.h"
#include "kernels/ways.h"

/* Makes the table or array of one image. */
enum gi_status gi_imaging_report(const struct gi_ready *ready, struct gi_item *item,
                                 unsigned maxval, const struct gi_imaging_table *table,
                                 struct gi_err *err)
{
    int last = ready->chain->n - 1;
    const struct gi_chain_step *step = &ready->chain->steps[last];
    struct gi_sink *sink = NULL;
    struct gi_timing_span span = gi_timing_begin();
    enum gi_status status =
        table->into_memory ? gi_sink_open_memory(&sink, item->line.input, err)
                           : gi_sink_open(&sink, item->line.output, gi_chain_no_clobber(step), err);
    struct gi_findings one = gi_ready_findings(ready, last, maxval);
    one.file = table->file;
    one.to = item->line.output ? item->line.output : item->line.input;
    one.table = sink;
    one.json = table->json;
    one.threads = 1;
    if (!status)
        status = step->reporter->write(&one, err);
    if (!status && table->into_memory && step->reporter->make_part)
        item->made.part = step->reporter->make_part(&one);
    if (!status && table->into_memory)
        status = gi_sink_take(&sink, &item->made.bytes, &item->made.nbytes, err);
    else if (!status)
        status = gi_sink_commit(&sink, false, err);
    gi_sink_abandon(&sink);
    gi_imaging_note(item, GI_STAGE_ENCODE, &span);
    gi_item_note_output(item);
    return status;
}

enum gi_status gi_imaging_analyse(struct gi_imaging *imaging, struct gi_item *item,
                                  struct gi_image *image, const struct gi_file_info *info,
                                  const struct gi_imaging_table *table, struct gi_err *err)
{
    struct gi_metadata none = {0};
    struct gi_ready ready = {0};
    unsigned maxval = gi_cli_maxval(image, info, gi_imaging_options(imaging)->io);
    enum gi_status status =
        info->bands.n
            ? gi_imaging_bands(imaging, item, image, &none, info, false, &ready, err)
            : gi_imaging_filter_ready(imaging, item, image, NULL, info, false, NULL, &ready, err);
    if (!status && (status = gi_imaging_report(&ready, item, maxval, table, err)))
        gi_err_prefix(err, "%s", item->line.input);
    gi_ready_free(&ready);
    return status;
}

/* Returns whether the file that `made` becomes has another size, type or number of channels than
 * the file that was loaded. */
static bool changes(const struct gi_io_params *io, const struct gi_file_info *info,
                    const struct gi_image *loaded, const struct gi_image *made)
{
    return info->bits != 8 * (int)gi_type_nbytes(loaded->type) || info->integers ||
           (info->orientation >= 5 && !io->encoding.keep_orientation) || /* sides exchanged */
           made->width != loaded->width || made->height != loaded->height ||
           made->channels != loaded->channels || made->type != loaded->type ||
           (io->depth && io->depth != GI_DEPTH_8 + (int)loaded->type) || io->gray ||
           io->background || io->work_depth;
}

/* The results of an item, and what they are made of. */
struct results {
    struct gi_ready ready; /* set if there is a chain */
    struct gi_image image;
    struct gi_metadata metadata;
    bool shows; /* a report copies pixels of the image, or a step draws: metadata is wanted */
    struct gi_file_info info;
    unsigned maxval; /* gi_cli_maxval() of the image as loaded */
    /* If a device has encoded the image, `image` has no samples. */
    struct gi_ending ending;
};

static void results_free(struct results *results)
{
    gi_ready_free(&results->ready);
    gi_image_free(&results->image);
    gi_metadata_free(&results->metadata);
    gi_encoded_free(&results->ending.encoded);
}

bool gi_imaging_may_keep_bits(const struct gi_item *item, const struct gi_io_params *io,
                              const struct gi_file_info *info)
{
    const char *output = item->line.output,
               *format = output ? gi_save_format(output, io->format) : NULL;
    if (output && !format) /* standard output has the format of the input */
        format = info->format;
    bool never = io->encoding.palette == GI_PALETTE_NEVER; /* PNG has 1 bit otherwise */
    bool holds = format && ((!strcmp(format, "png") && never) || !strcmp(format, "tiff"));
    return holds && info->bits == 1 && !io->depth && io->encoding.compression != GI_COMPRESSION_G4;
}

bool gi_imaging_is_black_and_white(const struct gi_image *image)
{
    struct gi_image packed;
    bool is = gi_bits_pack(&packed, image, NULL) == GI_OK;
    gi_image_free(&packed);
    return is;
}

void gi_imaging_warn_of_bits(const struct gi_item *item)
{
    gi_cli_warn_of(item->line.input, "1 bit per pixel becomes 8, although the result is black and "
                                     "white (--depth 1 keeps 1 bit)");
}

bool gi_imaging_reduces_colors(const struct gi_chain *chain)
{
    for (int i = 0; chain && i < chain->n; i++)
        if (chain->steps[i].filter->samples.few_colors)
            return true;
    return false;
}

/* Drops a description of all pages whose sizes or type no longer fit, with a warning. With `strict`
 * this is an error, GI_E_UNSUPPORTED. */
static enum gi_status drop_sizes(const struct gi_item *item, struct gi_metadata *metadata,
                                 bool strict, struct gi_err *err)
{
    static const char why[] = "because the pages get another size or type";
    const char *writer = gi_metadata_drop_sizes(metadata);
    if (writer && strict)
        return gi_fail(err, GI_E_UNSUPPORTED, "%s: --strict: its %s description is dropped, %s",
                       item->line.input, writer, why);
    if (writer)
        gi_cli_warn("%s: its %s description is dropped, %s", item->line.input, writer, why);
    return GI_OK;
}

/* Loads the image of the item and runs the chain. The result may be encoded if the caller has set
 * results->ending. The caller frees the results, also after an error. */
static enum gi_status make_results(struct gi_imaging *imaging, struct gi_item *item, bool wanted,
                                   struct results *results, struct gi_err *err)
{
    struct gi_image *image = &results->image;
    const struct gi_imaging_options *options = gi_imaging_options(imaging);
    const struct gi_chain *chain = gi_imaging_chain(imaging, item);
    struct gi_placement placement = {0};   /* where the chain moves the pixels */
    bool keeps = wanted || results->shows; /* metadata */
    enum gi_status status = gi_imaging_load(imaging, item, image, keeps ? &results->metadata : NULL,
                                            &results->info, true, err);
    bool bands = !status && results->info.bands.n;
    if (gi_imaging_reduces_colors(chain)) { /* before a device may encode the result */
        results->metadata.few_colors = true;
        free(results->metadata.palette); /* there will be another one */
        results->metadata.palette = NULL;
    }
    struct gi_image loaded = *image;
    loaded.channels = gi_shown_channels(image);
    if (loaded.shrunk.by) {
        loaded.width = loaded.shrunk.width;
        loaded.height = loaded.shrunk.height;
    }
    if (!status)
        results->maxval = gi_cli_maxval(image, &results->info, options->io);
    if (bands && chain && chain->n)
        status = gi_imaging_bands(imaging, item, image, &results->metadata, &results->info, wanted,
                                  &results->ready, err);
    else if (!status && chain && chain->n)
        status = gi_imaging_filter_ready(
            imaging, item, image, &results->metadata, &results->info, wanted,
            results->ending.coding_of ? &results->ending : NULL, &results->ready, err);
    /* An image that a device has encoded has no samples to look at. */
    if (!status && wanted && image->data &&
        gi_imaging_may_keep_bits(item, options->io, &results->info) &&
        gi_imaging_is_black_and_white(image))
        gi_imaging_warn_of_bits(item);
    if (!status && keeps && chain && chain->n)
        placement = gi_ready_placement(&results->ready);
    if (!status && keeps)
        status = gi_imaging_adapt(&results->metadata, imaging, item, &results->info, image,
                                  &placement, err);
    if (!status && item->source.together && changes(options->io, &results->info, &loaded, image))
        status = drop_sizes(item, &results->metadata, options->io->strict, err);
    return status;
}

enum gi_status gi_imaging_make(struct gi_imaging *imaging, struct gi_item *item,
                               struct gi_image *made, struct gi_metadata *metadata,
                               struct gi_err *err)
{
    struct results results = {0};
    enum gi_status status = make_results(imaging, item, true, &results, err);
    gi_ready_free(&results.ready);
    if (status) {
        gi_image_free(&results.image);
        gi_metadata_free(&results.metadata);
    }
    *made = results.image;
    *metadata = results.metadata;
    return status;
}

static bool has_tables(const struct gi_chain *chain)
{
    for (int i = 0; chain && i < chain->n; i++)
        if (chain->steps[i].reporter)
            return true;
    return false;
}

static bool wants_metadata(const struct gi_chain *chain)
{
    for (int i = 0; chain && i < chain->n; i++)
        if (gi_chain_reports_samples(&chain->steps[i]) || chain->steps[i].drawings)
            return true;
    return false;
}

static enum gi_status write_tables(const struct gi_imaging_options *options,
                                   const struct gi_item *item, const struct results *results,
                                   struct gi_bundle *bundle, struct gi_err *err)
{
    double start = gi_now_ms();
    enum gi_status status = gi_ready_report(
        &results->ready, item->line.input, results->shows ? &results->metadata : NULL,
        results->maxval, gi_thread_count(options->device->threads), bundle, err);
    gi_timing_add("report", gi_now_ms() - start);
    return status;
}

/* The file that an item becomes, for gi_ending.coding_of. */
struct target {
    const struct gi_item *item;
    const struct gi_metadata *metadata; /* those that are written, once the image is loaded */
    struct gi_io_params io;
};

static bool coding_at(const struct target *target, struct gi_coding *coding,
                      const struct gi_image *shape, int quality)
{
    const struct gi_line *line = &target->item->line;
    return gi_cli_save_coding(coding, shape, target->metadata,
                              line->output ? line->output : line->input, &target->io, quality);
}

static bool coding_of(void *self, struct gi_coding *coding, const struct gi_image *shape)
{
    return coding_at(self, coding, shape, 0);
}

static bool frame_at(void *self, struct gi_jpeg_frame *frame, const struct gi_image *shape,
                     int quality)
{
    struct gi_coding coding;
    bool takes = coding_at(self, &coding, shape, quality);
    *frame = coding.frame;
    return takes;
}

/* For batches with --no-clobber and --report, which skip nothing. Refuses an output that exists
 * before the image is decoded. The output is checked again when it is opened. */
static enum gi_status check_existing(const struct gi_item *item, const struct gi_io_params *io,
                                     struct gi_err *err)
{
    const char *output = item->line.output;
    if (!io->no_clobber || !output || gi_naming_is_many(output) || !gi_output_exists(output))
        return GI_OK;
    return gi_fail(err, GI_E_IO, "%s: %s", output, strerror(EEXIST));
}

/* Writes the image. If the name of the output has the size of the image in it, it is a part. */
static enum gi_status save(struct gi_imaging *imaging, struct gi_item *item,
                           const struct results *results, const struct gi_io_params *io,
                           bool into_memory, struct gi_err *err)
{
    char *common = item->line.output, *path = NULL;
    bool named = item->line.in_parts && !into_memory;
    enum gi_status status =
        named ? gi_imaging_name_size(&path, common, &results->image, err) : GI_OK;
    if (named && !status)
        item->line.output = path;
    if (!status)
        status = gi_imaging_save(imaging, item, &results->image, &results->metadata, io,
                                 into_memory, err);
    item->line.output = common;
    if (named && !status) {
        gi_line_add_part(&item->line, path);
        gi_item_note_output(item);
    }
    free(path);
    return status;
}

enum gi_status gi_imaging_process(struct gi_imaging *imaging, struct gi_item *item,
                                  bool into_memory, struct gi_err *err)
{
    const struct gi_imaging_options *options = gi_imaging_options(imaging);
    bool wanted = into_memory || item->line.output, taken = false;
    bool tables = has_tables(gi_imaging_chain(imaging, item));
    struct gi_io_params io = *options->io;
    struct results results;
    struct target target = {item, &results.metadata, io};
    results =
        (struct results){.shows = wants_metadata(gi_imaging_chain(imaging, item)),
                         .ending = {coding_of, &target, .on_cpu = gi_ways_forces("jpeg_encode"),
                                    .frame_at = frame_at}};
    enum gi_status status = GI_OK;
    /* An input of --for has a chain of its own, which is not lossless. */
    if (io.passed.lossless && gi_imaging_chain(imaging, item) == options->chain)
        status = gi_imaging_lossless(imaging, item, into_memory, &taken, err);
    if (status || taken)
        return status;
    if (item->source.format)
        target.io.format = item->source.format;
    if (!options->one && !into_memory)
        status = check_existing(item, &io, err);
    if (!status && !options->one)
        status = gi_imaging_pages(imaging, item, into_memory, false, &taken, err);
    if (!status && !taken && !into_memory)
        status = gi_imaging_rows(imaging, item, NULL, &taken, err);
    if (status || taken)
        return status;
    if (gi_imaging_variants(imaging) > 1)
        return gi_imaging_variants_process(imaging, item, err);
    status = make_results(imaging, item, wanted, &results, err);
    if (!options->one && gi_imaging_found_joined(item, &results.info, status, err)) {
        results_free(&results);
        return gi_imaging_pages(imaging, item, into_memory, true, &taken, err);
    }
    if (!status && options->one && !gi_imaging_searches(imaging))
        status = gi_ways_forced_ran(err);
    if (!status && tables)
        status = gi_bundle_new(&io.passed.bundle, true, err);
    if (!status && tables)
        status = write_tables(options, item, &results, io.passed.bundle, err);
    if (!status && wanted && !into_memory)
        status = gi_cli_check_way(item->line.input, item->line.output, &io, &results.info, err);
    io.passed.encoded = gi_is_encoded(&results.ending.encoded) ? &results.ending.encoded : NULL;
    if (!status && wanted)
        status = save(imaging, item, &results, &io, into_memory, err);
    if (!status && tables)
        status = gi_bundle_commit(&io.passed.bundle, err);
    gi_bundle_abandon(&io.passed.bundle);
    results_free(&results);
    return status;
}
