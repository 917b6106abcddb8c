/* The usual work on an item: decodes, runs the chain, encodes.
 * SPDX-License-Identifier: MIT */
#include "cli/run/imaging.h"

#include <stdlib.h>
#include <string.h>

#include "cli/args/rules.h"
#include "cli/log.h"
#include "cli/process.h"
#include "cli/run/counted_nodata.h"
#include "cli/run/file_rows.h"
#include "cli/run/plans.h"
#include "cli/run/ready.h"
#include "cli/run/session.h"
#include "cli/run/timing.h"
#include "imgio/coded.h"
#include "imgio/small.h"
#include "kernels/parallel.h"

struct gi_imaging {
    struct gi_imaging_options options;
    struct gi_session *devices;
    struct gi_plans **plans; /* of the chain of each rule; NULL for one without steps */
    int nplans;
    /* Threads for the work within an image, which stay until the batch ends. */
    struct gi_pool *pool;
    struct gi_parallel parallel;
};

static void new_plans(struct gi_imaging *imaging)
{
    const struct gi_imaging_options *options = &imaging->options;
    int rules = gi_rules_n(options->rules), n = rules * gi_imaging_variants(imaging);
    imaging->plans = gi_small_calloc((size_t)n, sizeof *imaging->plans);
    imaging->nplans = n;
    for (int i = 0; i < n; i++) {
        const struct gi_chain *chain =
            i < rules ? gi_rules_chain(options->rules, i, options->chain) : &options->chain[i];
        if (chain && chain->n)
            imaging->plans[i] = gi_plans_new(chain, options->io);
    }
}

enum gi_status gi_imaging_new(struct gi_imaging **out, const struct gi_imaging_options *options,
                              struct gi_err *err)
{
    struct gi_imaging *imaging = *out = gi_small_calloc(1, sizeof *imaging);
    imaging->options = *options;
    enum gi_status status = gi_file_rows_check(err);
    if (!status)
        status = options->one
                     ? gi_session_new_for_one(&imaging->devices, options->device, err)
                     : gi_session_new(&imaging->devices, options->device, options->images, err);
    if (!status)
        status = gi_pool_new(&imaging->pool, gi_thread_count(options->device->threads), err);
    if (status) {
        gi_imaging_free(out);
        return status;
    }
    new_plans(imaging);
    imaging->parallel = gi_pool_lend(imaging->pool);
    return GI_OK;
}

void gi_imaging_free(struct gi_imaging **out)
{
    struct gi_imaging *imaging = *out;
    *out = NULL;
    if (!imaging)
        return;
    for (int i = 0; i < imaging->nplans; i++) /* the rules may have been freed before */
        gi_plans_free(&imaging->plans[i]);
    free(imaging->plans);
    gi_pool_free(&imaging->pool);
    gi_session_free(&imaging->devices);
    free(imaging);
}

int gi_imaging_threads(const struct gi_imaging *imaging)
{
    return gi_session_threads(imaging->devices);
}

const struct gi_imaging_options *gi_imaging_options(const struct gi_imaging *imaging)
{
    return &imaging->options;
}

const struct gi_chain *gi_imaging_chain(const struct gi_imaging *imaging,
                                        const struct gi_item *item)
{
    const struct gi_chain *chain = imaging->options.chain;
    return item->source.variant ? &chain[item->source.variant]
                                : gi_rules_chain(imaging->options.rules, item->source.rule, chain);
}

struct gi_drawn_item gi_imaging_drawn_item(const struct gi_imaging *imaging,
                                           const struct gi_item *item,
                                           const struct gi_metadata *metadata)
{
    return (struct gi_drawn_item){.name = gi_item_own_name(item),
                                  .number = item->source.number,
                                  .metadata = metadata,
                                  .only = imaging->options.one != NULL};
}

int gi_imaging_variants(const struct gi_imaging *imaging)
{
    int n = imaging->options.nchains;
    return n > 1 ? n : 1;
}

static struct gi_plans *plans_of(const struct gi_imaging *imaging, const struct gi_item *item)
{
    int variant = item->source.variant;
    return imaging->plans[variant ? variant : item->source.rule];
}

struct gi_session *gi_imaging_session(const struct gi_imaging *imaging)
{
    return imaging->devices;
}

const struct gi_allocator *gi_imaging_allocator(const struct gi_imaging *imaging)
{
    return gi_session_allocator(imaging->devices);
}

bool gi_imaging_on_cpu(const struct gi_imaging *imaging)
{
    return !gi_session_has_gpus(imaging->devices);
}

const struct gi_parallel *gi_imaging_parallel(const struct gi_imaging *imaging)
{
    return &imaging->parallel;
}

/* Data for the shape listener. */
struct coming {
    const struct gi_imaging *imaging;
    struct gi_item *item;
    bool told;
    size_t coded_nbytes; /* of the copy of a file that stays coded */
};

/* Takes the chain's pipeline for an image of this shape. Returns false if there is no chain, or if
 * it can't be planned; the item will then fail. */
static bool take_pipeline(struct gi_plans_use *use, const struct gi_imaging *imaging,
                          const struct gi_item *item, const struct gi_image *shape)
{
    struct gi_plans *plans = plans_of(imaging, item);
    struct gi_ready ready;
    if (!plans)
        return false;
    const struct gi_drawn_item of = gi_imaging_drawn_item(imaging, item, NULL);
    enum gi_status status = gi_ready_make(&ready, gi_imaging_chain(imaging, item), &of, NULL);
    if (!status)
        status = gi_plans_take(plans, use, shape, &ready, NULL);
    gi_ready_free(&ready);
    return !status;
}

/* Returns the bytes that the chain needs for an image of this shape, in addition to the image
 * itself. They hold the results, counts and tables of its steps. Encoding the result needs about as
 * many bytes as the result again. Several chains run one after the other, so that the maximum
 * counts. */
static uint64_t chain_nbytes(const struct gi_imaging *imaging, struct gi_item *item,
                             const struct gi_image *shape)
{
    struct gi_plans_use use;
    uint64_t most = 0;
    int n = gi_imaging_variants(imaging);
    for (int i = 0; i < n; i++) {
        item->source.variant = i;
        if (!take_pipeline(&use, imaging, item, shape))
            continue;
        struct gi_image result = gi_pipeline_result(use.pipeline);
        uint64_t nbytes = gi_pipeline_nbytes(use.pipeline) + gi_image_nbytes(&result);
        gi_plans_give_back(plans_of(imaging, item), &use);
        most = nbytes > most ? nbytes : most;
    }
    item->source.variant = 0;
    return most;
}

/* For a single image. If the chain will run on CUDA, opens CUDA while the image is decoded. */
static void expect(const struct gi_imaging *imaging, const struct gi_item *item,
                   const struct gi_image *shape)
{
    struct gi_plans_use use;
    if (!gi_session_may_open(imaging->devices) || !take_pipeline(&use, imaging, item, shape))
        return;
    gi_session_expect(imaging->devices, use.pipeline);
    gi_plans_give_back(plans_of(imaging, item), &use);
}

static void on_coded(void *arg, size_t nbytes)
{
    struct coming *coming = arg;
    coming->coded_nbytes = nbytes;
}

/* Reserves memory for the copy of a file that stays coded, for the samples as stored, which imgio
 * decodes if no device can, for the converted samples, for the results, and for the search for
 * their quality. */
static void on_shape(void *arg, const struct gi_image *file)
{
    struct coming *coming = arg;
    struct gi_image image = *file, *stored = &image;
    if (image.channels > GI_MAX_CHANNELS) /* bands, which are processed one at a time */
        image.channels = GI_MAX_CHANNELS;
    const struct gi_imaging *imaging = coming->imaging;
    if (imaging->options.one) {
        struct gi_image shape = gi_cli_shape(imaging->options.io, stored);
        gi_watch_size(imaging->options.one, stored);
        expect(imaging, coming->item, &shape);
        return;
    }
    if (!coming->item->turn.engine || coming->told)
        return;
    struct gi_image shape = gi_cli_shape(coming->imaging->options.io, stored);
    uint64_t made = chain_nbytes(coming->imaging, coming->item, &shape),
             least = 2 * gi_image_nbytes(&shape);
    uint64_t nbytes = coming->coded_nbytes + gi_image_nbytes(stored) + gi_image_nbytes(&shape) +
                      (made > least ? made : least);
    if (imaging->options.io->encoding.target.ssimulacra2 > 0)
        nbytes += gi_ssimulacra2_nbytes(shape.width, shape.height);
    uint64_t before = coming->item->source.page ? coming->item->turn.reserved : 0;
    if (nbytes > before) /* the page before is freed */
        gi_engine_reserve(coming->item, nbytes - before);
    coming->told = true;
}

int gi_imaging_shrink(const struct gi_imaging *imaging, const struct gi_item *item,
                      const struct gi_image *picture)
{
    const struct gi_chain *chain = gi_imaging_chain(imaging, item);
    int factor = 1, n = gi_imaging_variants(imaging);
    for (int i = 0; chain && chain->n && i < n; i++) { /* several chains begin alike */
        const struct gi_chain_step *first = &chain[i].steps[0];
        if (!first->filter->sources.shrink)
            return 1;
        int of = first->filter->sources.shrink(first->args.params[GI_SET_STEP_FILTER], picture);
        factor = i && of > factor ? factor : of;
    }
    return factor;
}

static int on_picture(void *arg, const struct gi_image *picture)
{
    const struct coming *coming = arg;
    return gi_imaging_shrink(coming->imaging, coming->item, picture);
}

static bool on_window(void *arg, const struct gi_image *picture, struct gi_window *window)
{
    const struct coming *coming = arg;
    const struct gi_chain *chain = gi_imaging_chain(coming->imaging, coming->item);
    const struct gi_chain_step *first = chain && chain->n ? &chain->steps[0] : NULL;
    return first && gi_imaging_variants(coming->imaging) == 1 && first->filter->sources.window &&
           first->filter->sources.window(first->args.params[GI_SET_STEP_FILTER], picture, window);
}

void gi_imaging_note(struct gi_item *item, enum gi_stage stage, const struct gi_timing_span *span)
{
    item->line.ms[stage] += gi_timing_end(span, gi_stage_names[stage]);
}

/* Shows the stage that begins, if the progress of a single image is shown. */
static void show_stage(const struct gi_imaging *imaging, const char *name)
{
    if (imaging->options.one)
        gi_watch_stage(imaging->options.one, name);
}

/* Returns whether the chain is a single analysis whose report shows the image. */
static bool reports_samples(const struct gi_chain *chain)
{
    return chain->n == 1 && gi_chain_reports_samples(&chain->steps[0]);
}

enum gi_status gi_imaging_load(struct gi_imaging *imaging, struct gi_item *item,
                               struct gi_image *image, struct gi_metadata *metadata,
                               struct gi_file_info *info, bool for_chain, struct gi_err *err)
{
    struct gi_timing_span span = gi_timing_begin();
    const struct gi_chain *chain = gi_imaging_chain(imaging, item);
    gi_item_note_input(item);
    bool may_stay = for_chain && !imaging->options.io->nodata && plans_of(imaging, item) &&
                    !reports_samples(chain);
    enum gi_coded_kinds coded =
        may_stay ? gi_session_decodes(imaging->devices, item->line.input_file.nbytes)
                 : GI_CODED_NONE;
    struct coming coming = {.imaging = imaging, .item = item};
    struct gi_shape_listener listener = {on_shape, &coming, on_picture,
                                         for_chain ? on_window : NULL, on_coded};
    struct gi_loading loading = {
        .bytes = item->source.bytes,
        .nbytes = item->source.nbytes,
        .pages = item->source.pages,
        .page = item->source.page,
        .together = item->source.together,
        .again = item->source.warned,
        .coded = coded,
        .hide_nodata = for_chain ? gi_nodata_hidden_by(chain) : item->source.hides_nodata,
        .find_nodata = for_chain ? gi_nodata_counted_by(chain) : item->source.counts_nodata,
        .bands = info && (for_chain || item->source.takes_bands),
        .parallel = &imaging->parallel,
        .listener = &listener,
        .allocator = gi_session_allocator(imaging->devices)};
    show_stage(imaging, "decode");
    enum gi_status status =
        gi_cli_load_by(image, metadata, info, item->line.input, imaging->options.io, &loading, err);
    if (!status && loading.find_nodata && info->nodata.given)
        status = gi_nodata_warn(image, item->line.input, imaging->options.io, err);
    gi_imaging_note(item, GI_STAGE_DECODE, &span);
    gi_session_not_coded(imaging->devices,
                         coded & ~(status ? GI_CODED_NONE : gi_coded_kind(image->coded)));
    if (!status) {
        item->line.shape = *image;
        item->line.shape.data = NULL;
        item->line.shape.coded = NULL;
        item->line.shape.channels = gi_shown_channels(image);
        if (image->shrunk.by) {
            item->line.shape.width = image->shrunk.width;
            item->line.shape.height = image->shrunk.height;
        }
    }
    return status;
}

enum gi_status gi_imaging_decode(struct gi_imaging *imaging, struct gi_item *item,
                                 struct gi_image *image, struct gi_metadata *metadata,
                                 struct gi_err *err)
{
    const struct gi_coded *coded = image->coded;
    struct coming coming = {.imaging = imaging, .item = item, .told = true};
    struct gi_shape_listener listener = {on_shape, &coming, on_picture, NULL, NULL};
    const struct gi_loading loading = {.bytes = gi_coded_bytes(coded),
                                       .nbytes = (size_t)coded->file.width,
                                       .parallel = &imaging->parallel,
                                       .listener = &listener,
                                       .allocator = gi_imaging_allocator(imaging)};
    struct gi_image decoded;
    struct gi_metadata found = {0};
    struct gi_timing_span span = gi_timing_begin();
    enum gi_status status = gi_cli_load_by(&decoded, metadata ? &found : NULL, NULL,
                                           item->line.input, imaging->options.io, &loading, err);
    gi_imaging_note(item, GI_STAGE_DECODE, &span);
    gi_image_free(image);
    if (status)
        item->line.shape = (struct gi_image){0};
    else
        *image = decoded;
    if (!status && metadata) {
        gi_metadata_add_losses(metadata, &found);
        gi_metadata_free(&found);
    }
    return status;
}

enum gi_status gi_imaging_load_further(struct gi_imaging *imaging, struct gi_item *item,
                                       struct gi_image *image, const char *path,
                                       const struct gi_further *from, bool is_input,
                                       struct gi_bands *bands, struct gi_metadata *metadata,
                                       struct gi_err *err)
{
    struct gi_file_info info = {0};
    struct gi_io_params io = *imaging->options.io;
    const struct gi_loading loading = {.bytes = from ? from->bytes : NULL,
                                       .nbytes = from ? from->nbytes : 0,
                                       .pages = from ? from->pages : NULL,
                                       .page = from ? from->page : 0,
                                       .again = from && from->warned,
                                       .bands = bands != NULL,
                                       .find_nodata = item->source.counts_nodata,
                                       .parallel = &imaging->parallel,
                                       .allocator = gi_imaging_allocator(imaging)};
    struct gi_timing_span span = gi_timing_begin();
    if (!is_input)
        io.bands.list = NULL;
    enum gi_status status = gi_cli_load_by(image, metadata, &info, path, &io, &loading, err);
    if (!status && info.nodata.given)
        status = gi_nodata_warn(image, path, imaging->options.io, err);
    if (bands)
        *bands = info.bands;
    gi_imaging_note(item, GI_STAGE_DECODE, &span);
    return status;
}

/* Adds the times of a run of the steps of `chain` to the line and to the table of --timing. */
static void note_times(struct gi_line *line, const struct gi_times *times,
                       const struct gi_side *sides, const struct gi_chain *chain, bool complete)
{
    gi_timing_add_copies("upload", times->upload_ms, times->uploads);
    for (int i = 0; i < chain->n && complete; i++) {
        gi_timing_add_step(i, chain->steps[i].filter->name, times->step_ms[i],
                           times->step_nbytes[i]);
        line->ms[GI_STAGE_KERNELS] += times->step_ms[i];
    }
    if (times->encodes)
        gi_timing_add_copies(sides[chain->n - 1].ending->encoded.strips.strips ? "png" : "jpeg",
                             times->encode_ms, times->encodes);
    gi_timing_add_copies("download", times->download_ms, times->downloads);
    gi_timing_bands(times->bands);
    line->ms[GI_STAGE_UPLOAD] += times->upload_ms;
    line->ms[GI_STAGE_DOWNLOAD] += times->download_ms;
    line->ms[GI_STAGE_ENCODE] += times->encode_ms;
}

/* Runs a pipeline of the steps of `chain` on a device. Measures times if the options ask for times.
 * Shows the progress of a single image, which ends before tables are written, because tables may go
 * to the terminal. */
static enum gi_status apply_pipeline(struct gi_imaging *imaging, struct gi_line *line,
                                     const struct gi_pipeline *pipeline, struct gi_image *dst,
                                     const struct gi_image *src, const struct gi_side *sides,
                                     const struct gi_chain *chain, struct gi_err *err)
{
    bool measures = imaging->options.times || imaging->options.device->timing;
    double *steps = measures ? gi_small_calloc(2 * (size_t)chain->n, sizeof *steps) : NULL;
    struct gi_times times = {.step_ms = steps, .step_nbytes = steps ? steps + chain->n : NULL};
    show_stage(imaging, "kernels");
    enum gi_status status =
        gi_session_run(imaging->devices, pipeline, dst, src, sides, measures ? &times : NULL, err);
    if (measures)
        note_times(line, &times, sides, chain, !status);
    free(steps);
    if (imaging->options.one && !dst)
        gi_watch_end(imaging->options.one);
    show_stage(imaging, "encode");
    return status;
}

/* Prints the warnings of the steps. With --strict the first of them is an error. */
static enum gi_status warn(const struct gi_imaging *imaging, const struct gi_line *line,
                           const struct gi_ready *ready, struct gi_err *err)
{
    int n = ready->chain->n;
    enum gi_status status = GI_OK;
    for (int i = 0; i < n && !status; i++) {
        struct gi_err *warning = &ready->warnings[i];
        if (*warning->text && n > 1)
            gi_err_prefix(warning, "step %d, %s", i + 1, ready->chain->steps[i].filter->name);
        status = gi_cli_warn_or_fail(warning, line->input, imaging->options.io, err);
    }
    return status;
}

enum gi_status gi_imaging_compute(struct gi_imaging *imaging, struct gi_item *item,
                                  struct gi_image *dst, const struct gi_image *src,
                                  const struct gi_ready *ready, struct gi_err *err)
{
    struct gi_plans *plans = plans_of(imaging, item);
    struct gi_plans_use use;
    enum gi_status status = gi_plans_take(plans, &use, src, ready, err);
    if (status)
        return status;
    status = apply_pipeline(imaging, &item->line, use.pipeline, dst, src, ready->sides,
                            gi_imaging_chain(imaging, item), err);
    gi_plans_give_back(plans, &use);
    if (status != GI_E_UNSUPPORTED && src->coded && src->coded->warning.status)
        gi_cli_warn("%s", src->coded->warning.text);
    if (!status)
        gi_ready_tell(ready, item->line.input);
    if (!status && (status = warn(imaging, &item->line, ready, err)) && dst)
        gi_image_free(dst);
    return status;
}

enum gi_status gi_imaging_step(struct gi_imaging *imaging, struct gi_line *line,
                               struct gi_image *dst, const struct gi_image *src,
                               const struct gi_step *step, void *result, struct gi_err *err)
{
    struct gi_side side = {.others = step->others, .result = result};
    struct gi_chain_step only = {.filter = step->filter};
    const struct gi_chain chain = {.steps = &only, .n = 1};
    struct gi_pipeline *pipeline = NULL;
    enum gi_status status =
        gi_pipeline_new_within(&pipeline, &imaging->options.io->limits, step, 1, src, NULL, err);
    if (!status)
        status = apply_pipeline(imaging, line, pipeline, dst, src, &side, &chain, err);
    gi_pipeline_free(&pipeline);
    return status;
}
