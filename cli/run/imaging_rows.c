/* The work on a large image, a single one or one that is too large for its batch: the image is
 * converted, analysed or taken through a chain in bands of rows, so that neither the image nor its
 * result has to fit in memory. SPDX-License-Identifier: MIT */
#include "cli/run/imaging.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args/level_check.h"
#include "cli/log.h"
#include "cli/paths/output.h"
#include "cli/run/file_rows.h"
#include "cli/run/memory_budget.h"
#include "cli/run/ready.h"
#include "filters/rows.h"
#include "imgio/rows_ahead.h"
#include "kernels/kernels.h"

enum {
    /* Per thread: two pieces of 1 MiB of the result that threads encode, some more, and as many
     * bytes of the source. */
    BAND_NBYTES = 9 << 19,
    /* Smaller images are converted and analysed faster at once: no step is made while a band is
     * written. */
    PLAIN_FROM_NBYTES = 256 << 20,
    TIMES_READ_MOST = 16,
};

/* The work on one image. */
struct work {
    struct gi_imaging *imaging;
    struct gi_item *item;
    const struct gi_imaging_table *table; /* of a batch of tables, or NULL */
    struct gi_file_rows input;
    struct gi_io_params io;
    struct gi_metadata metadata;
    struct gi_file_info info;
    struct gi_pipeline *pipeline; /* NULL: the image is only converted */
    struct gi_queue *queue;
    struct gi_ready ready;
    bool taken;
    char why[100]; /* why the whole image is needed, or "" */
};

/* Notes why the whole image is needed. Returns false. */
__attribute__((format(printf, 2, 3))) static bool refuse(struct work *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(w->why, sizeof w->why, format, args);
    va_end(args);
    return false;
}

static const struct gi_chain *chain_of(const struct work *w)
{
    static const struct gi_chain none;
    const struct gi_chain *chain = gi_imaging_chain(w->imaging, w->item);
    return chain ? chain : &none;
}

/* Returns whether the result is an image. */
static bool writes_image(const struct work *w)
{
    return !w->table && w->item->line.output;
}

/* Returns whether the chain and the options allow bands. If times are asked for, bands would show
 * all of them as that of writing, which only the reports of a batch accept. */
static bool may_take(struct work *w)
{
    const struct gi_imaging_options *options = gi_imaging_options(w->imaging);
    const struct gi_chain *chain = chain_of(w);
    if (options->device->timing || (options->one && options->times))
        return refuse(w, "the times of its stages are measured");
    if (w->item->line.in_parts || gi_imaging_variants(w->imaging) > 1)
        return refuse(w, "the names of its results depend on their sizes");
    if (getenv("GPUIMG_WAY"))
        return refuse(w, "GPUIMG_WAY is set");
    if (!chain->n && w->info.bits == 1)
        return refuse(w, "it has one bit per pixel");
    for (int i = 0; i < chain->n; i++) {
        const struct gi_chain_step *step = &chain->steps[i];
        if (step->nothers || step->filter->sources.min > 1)
            return refuse(w, "%s has a further image", step->filter->name);
        if (step->reporter ? gi_chain_reports_samples(step) : !step->filter->run)
            return refuse(w, "%s reports samples", step->filter->name);
    }
    return true;
}

/* Sets *part to the only part of the image that is needed, if the first step needs only that.
 * Otherwise returns false. */
static bool find_part(struct gi_window *part, const struct work *w)
{
    const struct gi_chain *chain = chain_of(w);
    const struct gi_chain_step *first = chain->n ? &chain->steps[0] : NULL;
    return first && first->filter->sources.window &&
           first->filter->sources.window(first->args.params[GI_SET_STEP_FILTER], &w->input.shape,
                                         part);
}

/* Returns whether only a small part of the image is needed, which is then decoded alone. */
static bool takes_little(const struct work *w)
{
    struct gi_image part = w->input.shape;
    struct gi_window window;
    if (gi_file_rows_forced_nbytes() || !find_part(&window, w))
        return false;
    part.width = window.width;
    part.height = window.height;
    return gi_image_nbytes(&part) < GI_FILE_ROWS_FROM_NBYTES;
}

/* Returns the first step that needs the whole image, as far as the steps are planned, or NULL. */
static const struct gi_filter *find_global(const struct gi_pipeline *pipeline, int n)
{
    for (int i = 0; i < n; i++) {
        const struct gi_plan *plan = gi_pipeline_plan(pipeline, i);
        if (plan && plan->dependency == GI_DEPENDENCY_GLOBAL)
            return plan->filter;
    }
    return NULL;
}

static int count_passes(const struct gi_pipeline *pipeline, int n)
{
    int passes = 0;
    for (int i = 0; i < n; i++) {
        const struct gi_plan *plan = gi_pipeline_plan(pipeline, i);
        passes += plan ? plan->passes + plan->band_passes : 0;
    }
    return passes;
}

static uint64_t memory_of(const struct gi_item *item)
{
    const uint64_t given = gi_engine_memory(item->turn.engine);
    return given < UINT64_MAX ? given : gi_memory_share();
}

/* Returns the bytes that the whole image and its results take. */
static uint64_t whole_nbytes(const struct work *w)
{
    return gi_image_nbytes(&w->input.shape) + (w->pipeline ? gi_pipeline_nbytes(w->pipeline) : 0);
}

static struct gi_image planned_result(const struct work *w)
{
    return w->pipeline ? gi_pipeline_result(w->pipeline) : w->input.shape;
}

/* Returns whether the image is one of a batch that can hold it and its results. Bands are then no
 * gain, because other images are processed at the same time. */
static bool is_held(const struct work *w)
{
    const struct gi_image result = planned_result(w);
    const uint64_t loaded = 2 * gi_image_nbytes(&w->input.shape), /* as stored, and converted */
        made = whole_nbytes(w) - loaded / 2 + gi_image_nbytes(&result);
    return !gi_imaging_options(w->imaging)->one &&
           loaded + (made > loaded ? made : loaded) <= memory_of(w->item);
}

/* Chooses the number of bytes of a band. Returns false if bands are no gain: rows would be read too
 * often. If the image and its results fit in memory, that is more than once. */
static bool choose_bands(size_t *nbytes, struct work *w)
{
    const uint64_t whole = whole_nbytes(w), memory = memory_of(w->item), share = memory / 2;
    bool fits = whole <= memory;
    const size_t most = fits ? whole / 4 : share < SIZE_MAX ? (size_t)share : SIZE_MAX;
    const int threads = gi_imaging_threads(w->imaging);
    const size_t enough = (size_t)BAND_NBYTES * (size_t)(threads < 2 ? 2 : threads);
    const size_t least = most < enough ? most : enough;
    const uint64_t shape = gi_image_nbytes(&w->input.shape);
    *nbytes = gi_file_rows_forced_nbytes() ? gi_file_rows_forced_nbytes() : least;
    if (gi_file_rows_forced_nbytes())
        return true;
    if ((!w->pipeline || !writes_image(w)) && shape < PLAIN_FROM_NBYTES &&
        shape <= gi_engine_memory(w->item->turn.engine) / 8)
        return false;
    if (!w->pipeline)
        return true;
    double times = gi_pipeline_rows_size(nbytes, w->pipeline, w->queue, least, most);
    double reads = count_passes(w->pipeline, chain_of(w)->n) + (writes_image(w) ? times : 0);
    return (fits ? reads <= GI_READS_FEW : times <= TIMES_READ_MOST) ||
           refuse(w, "bands would read it too often");
}

/* The rows of the result. With the last one, the rest of the input is read too, because damage in
 * it is an error. */
struct result {
    struct gi_row_source rows;
    struct gi_file_rows *input;
    int height;
    bool keeps_bits; /* all rows so far are black and white, and a warning is to say so */
};

static enum gi_status read_result(void *self, struct gi_image *rows, int top, int bottom,
                                  struct gi_err *err)
{
    struct result *result = self;
    enum gi_status status = result->rows.read(result->rows.self, rows, top, bottom, err);
    result->keeps_bits = !status && result->keeps_bits && gi_imaging_is_black_and_white(rows);
    return status || bottom < result->height ? status : gi_file_rows_end(result->input, err);
}

/* Returns whether bytes go to standard output, a pipe or a device, where they can't be taken back.
 */
static bool is_written_directly(const char *output)
{
    const char *file = gi_output_file(output);
    struct stat st;
    return strcmp(file, "-") == 0 || (stat(file, &st) == 0 && !S_ISREG(st.st_mode));
}

/* Makes the first row, so that nothing is written if that fails. */
static enum gi_status read_first(const struct gi_row_source *rows, struct gi_err *err)
{
    struct gi_image row;
    return rows->read(rows->self, &row, 0, 1, err);
}

/* Returns how the rows of the input are read. */
static enum gi_rows_order order_of(const struct work *w)
{
    return w->pipeline && !gi_pipeline_rows_in_order(w->pipeline) ? GI_ROWS_IN_ANY_ORDER
                                                                  : GI_ROWS_FROM_TOP;
}

/* Returns whether all steps and the output allow bands, of *nbytes bytes. */
static bool allows_bands(size_t *nbytes, struct work *w)
{
    const struct gi_image planned = planned_result(w);
    const struct gi_metadata known = {.few_colors = gi_imaging_reduces_colors(chain_of(w))};
    const struct gi_filter *global = w->pipeline ? find_global(w->pipeline, chain_of(w)->n) : NULL;
    if (global)
        return refuse(w, "%s needs the whole image", global->name);
    if (writes_image(w) && !gi_cli_saves_rows(&planned, &known, w->item->line.output, &w->io))
        return refuse(w, "its result can't be written row by row");
    return choose_bands(nbytes, w);
}

/* Writes the tables of the analyses, once all passes are made. */
static enum gi_status report(struct work *w, struct gi_bundle *bundle, struct gi_err *err)
{
    const struct gi_imaging_options *options = gi_imaging_options(w->imaging);
    const unsigned maxval = gi_cli_maxval(&w->input.shape, &w->info, &w->io);
    if (options->one && !writes_image(w)) /* tables may go to the terminal */
        gi_watch_end(options->one);
    if (w->table && gi_imaging_report(&w->ready, w->item, maxval, w->table, err))
        return gi_err_prefix(err, "%s", w->item->line.input);
    if (w->table)
        return GI_OK;
    return gi_ready_report(&w->ready, w->item->line.input, NULL, maxval,
                           gi_thread_count(options->device->threads), bundle, err);
}

/* Writes the image whose rows are `made`. */
static enum gi_status save(struct work *w, const struct gi_row_source *made,
                           const struct gi_image *result, struct gi_err *err)
{
    struct gi_placement placement = {0};
    if (w->pipeline)
        placement = gi_ready_placement(&w->ready);
    enum gi_status status =
        gi_imaging_adapt(&w->metadata, w->imaging, w->item, &w->info, result, &placement, err);
    if (!status && is_written_directly(w->item->line.output))
        status = read_first(made, err);
    if (status)
        return status;
    /* Rows of a pipeline are valid until the second next call, those of a file until the next. */
    struct gi_rows_ahead *ahead = w->pipeline ? gi_rows_ahead_open(made, result->height) : NULL;
    const struct gi_row_source next = ahead ? gi_rows_ahead_result(ahead) : *made;
    w->io.passed.rows = &next;
    status = gi_imaging_save(w->imaging, w->item, result, &w->metadata, &w->io, false, err);
    gi_rows_ahead_close(&ahead);
    return status;
}

/* Writes all that is made of the image, or nothing. */
static enum gi_status finish(struct work *w, struct gi_row_source rows,
                             const struct gi_image *result, struct gi_err *err)
{
    const struct gi_chain *chain = chain_of(w);
    const bool keeps = writes_image(w) && gi_imaging_may_keep_bits(w->item, &w->io, &w->info);
    struct result last = {rows, &w->input, result->height, keeps};
    const struct gi_row_source made = {&last, rows.most, read_result};
    bool tables = false;
    gi_cli_tell("%s: read, processed and written in bands of %d rows", w->item->line.input,
                rows.most);
    if (chain->n)
        gi_ready_tell(&w->ready, w->item->line.input);
    enum gi_status status = GI_OK;
    for (int i = 0; i < chain->n && !status; i++) {
        tables = tables || chain->steps[i].reporter;
        status = gi_cli_warn_or_fail(&w->ready.warnings[i], w->item->line.input, &w->io, err);
    }
    if (!status && !writes_image(w))
        status = gi_file_rows_end(&w->input, err);
    if (!status && tables && !w->table)
        status = gi_bundle_new(&w->io.passed.bundle, true, err);
    if (!status && tables)
        status = report(w, w->io.passed.bundle, err);
    if (!status && writes_image(w))
        status = save(w, &made, result, err);
    if (!status && last.keeps_bits)
        gi_imaging_warn_of_bits(w->item);
    if (!status && w->io.passed.bundle)
        status = gi_bundle_commit(&w->io.passed.bundle, err);
    gi_bundle_abandon(&w->io.passed.bundle);
    return status;
}

/* Reads the image in bands. The rows of the result are made while they are written. */
static enum gi_status run(struct work *w, struct gi_err *err)
{
    bool parts;
    size_t nbytes;
    struct gi_window part;
    const struct gi_row_source source = {.self = &w->input, .most = 1, .read = gi_file_rows_read};
    struct gi_row_source made = source;
    struct gi_pipeline_rows *rows = NULL;
    struct gi_image result = w->input.shape;
    enum gi_status status = GI_OK;
    if (writes_image(w))
        status = gi_cli_check_way(w->item->line.input, w->item->line.output, &w->io, &w->info, err);
    if (status || !allows_bands(&nbytes, w))
        return status;
    if (!gi_imaging_options(w->imaging)->one)
        gi_engine_reserve(w->item, memory_of(w->item)); /* so that the image is alone */
    if (w->queue)
        w->input.loading.allocator = w->queue->k->host_allocator(w->queue->device);
    status = gi_file_rows_first(&w->input, order_of(w), find_part(&part, w) ? &part : NULL, &parts,
                                &w->metadata, &w->info, err);
    w->taken = status != GI_OK;
    if (status || !parts) {
        refuse(w, "its rows can't be read one after the other");
        return status;
    }
    if (w->pipeline) {
        status = gi_pipeline_rows_open(&rows, w->pipeline, w->queue, &source, nbytes,
                                       w->ready.sides, err);
        if (status)
            return status;
        result = gi_pipeline_rows_shape(rows);
        made = gi_pipeline_rows_result(rows);
    } else {
        size_t most = nbytes / gi_row_nbytes(&result);
        made.most = most < 1 ? 1 : most < (size_t)result.height ? (int)most : result.height;
    }
    w->taken = !writes_image(w) ||
               gi_cli_saves_rows(&result, &w->metadata, w->item->line.output, &w->io) ||
               refuse(w, "its result can't be written row by row");
    if (w->taken && w->pipeline) /* only now, because it warns */
        status = gi_cli_check_levels(w->ready.steps, chain_of(w)->n, &w->input.shape, &w->info,
                                     &w->io, err);
    if (w->taken && !status)
        status = finish(w, made, &result, err);
    if (status && w->input.fault.status) /* without the name of the output */
        *err = w->input.fault;
    gi_pipeline_rows_close(&rows);
    return status;
}

struct shrinking {
    const struct gi_imaging *imaging;
    const struct gi_item *item;
};

static int shrink(void *arg, const struct gi_image *picture)
{
    const struct shrinking *shrinking = arg;
    return gi_imaging_shrink(shrinking->imaging, shrinking->item, picture);
}

static void ignore_shape(void *arg, const struct gi_image *shape)
{
}

/* Prepares the chain, if there is one, for the CPU. */
static enum gi_status prepare(struct work *w, struct gi_err *err)
{
    const struct gi_imaging_options *options = gi_imaging_options(w->imaging);
    const struct gi_chain *chain = chain_of(w);
    const struct gi_open_options open = {.threads = gi_thread_count(options->device->threads),
                                         .keeps = true};
    int failed;
    const struct gi_drawn_item of = gi_imaging_drawn_item(w->imaging, w->item, &w->metadata);
    if (!chain->n)
        return GI_OK;
    enum gi_status status = gi_ready_make(&w->ready, chain, &of, err);
    if (!status)
        status = gi_pipeline_new_within(&w->pipeline, &options->io->limits, w->ready.steps,
                                        chain->n, &w->input.shape, &failed, err);
    if (!status && !is_held(w))
        status = gi_queue_open_alone(&w->queue, gi_kernels_cpu(), &open, err);
    return status;
}

enum gi_status gi_imaging_rows(struct gi_imaging *imaging, struct gi_item *item,
                               const struct gi_imaging_table *table, bool *taken,
                               struct gi_err *err)
{
    const struct gi_imaging_options *options = gi_imaging_options(imaging);
    struct work w = {.imaging = imaging, .item = item, .table = table, .io = *options->io};
    struct shrinking shrinking = {imaging, item};
    const struct gi_shape_listener shrinker = {ignore_shape, &shrinking, shrink, NULL, NULL};
    enum gi_status status = GI_OK;
    *taken = false;
    if (item->source.bytes || item->source.pages || !gi_imaging_on_cpu(imaging))
        return GI_OK;
    gi_file_rows_open(&w.input, item->line.input, options->io, gi_imaging_parallel(imaging));
    w.input.shrinker = &shrinker;
    bool large = gi_file_rows_look(&w.input, gi_engine_memory(item->turn.engine), &w.info);
    if (gi_file_rows_why(&w.input, &w.info))
        refuse(&w, "%s", gi_file_rows_why(&w.input, &w.info));
    if (large && may_take(&w) && !takes_little(&w)) {
        gi_item_note_input(item);
        item->line.shape = w.input.shape;
        status = prepare(&w, err);
        if (!status && !is_held(&w))
            status = run(&w, err);
    }
    if (!w.taken && *w.why && whole_nbytes(&w) > memory_of(item))
        gi_cli_tell("%s: takes more memory than the limit, because %s", item->line.input, w.why);
    gi_file_rows_close(&w.input);
    item->source.warned = w.input.loading.again;
    gi_queue_close_alone(&w.queue);
    gi_pipeline_free(&w.pipeline);
    if (w.ready.chain)
        gi_ready_free(&w.ready);
    gi_metadata_free(&w.metadata);
    *taken = w.taken;
    /* Without bands, a step that needs the whole image, or a plan that fails, says so. */
    if (status && !w.taken) {
        *err = (struct gi_err){0};
        return GI_OK;
    }
    return status;
}
