/* The work on a large image, a single one or one that is too large for its batch: the chain takes
 * it from file to file in bands of rows, so that neither the image nor its result has to fit in
 * memory. SPDX-License-Identifier: MIT */
#include "cli/run/imaging.h"

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
    BAND_NBYTES = 8 << 20, /* bands of this size are as fast as larger ones, if halos are small */
    TIMES_READ_MOST = 16,
};

/* Returns whether the chain and the options leave the work to the CPU, with one input file and one
 * output file. If times are asked for, bands would show all of them as that of writing, which only
 * the reports of a batch accept. */
static bool may_take(const struct gi_imaging *imaging, const struct gi_item *item)
{
    const struct gi_imaging_options *options = gi_imaging_options(imaging);
    const struct gi_chain *chain = gi_imaging_chain(imaging, item);
    bool files = !item->source.bytes && !item->source.pages && item->line.output;
    bool timed = options->device->timing || (options->one && options->times);
    if (!files || !chain || !chain->n || timed || item->line.in_parts ||
        gi_imaging_variants(imaging) > 1 || getenv("GPUIMG_WAY") || !gi_imaging_on_cpu(imaging))
        return false;
    for (int i = 0; i < chain->n; i++)
        if (chain->steps[i].reporter || chain->steps[i].nothers || !chain->steps[i].filter->run ||
            chain->steps[i].filter->sources.min > 1)
            return false;
    return true;
}

/* Returns whether the first step needs only a small part of the image, which is then decoded alone.
 */
static bool takes_little(const struct gi_chain *chain, const struct gi_image *shape)
{
    const struct gi_filter *first = chain->steps[0].filter;
    struct gi_image part = *shape;
    struct gi_window window;
    if (!first->sources.window || gi_file_rows_forced_nbytes() ||
        !first->sources.window(chain->steps[0].args.params[GI_SET_STEP_FILTER], shape, &window))
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

static bool has_passes(const struct gi_pipeline *pipeline, int n)
{
    for (int i = 0; i < n; i++) {
        const struct gi_plan *plan = gi_pipeline_plan(pipeline, i);
        if (plan && plan->passes + plan->band_passes)
            return true;
    }
    return false;
}

static uint64_t memory_of(const struct gi_item *item)
{
    const uint64_t given = gi_engine_memory(item->turn.engine);
    return given < UINT64_MAX ? given : gi_memory_share();
}

/* Returns the bytes that the whole image and its results take. */
static uint64_t whole_nbytes(const struct gi_file_rows *input, const struct gi_pipeline *pipeline)
{
    return gi_image_nbytes(&input->shape) + gi_pipeline_nbytes(pipeline);
}

/* Returns whether the image is one of a batch that can hold it and its results. Bands are then no
 * gain, because other images are processed at the same time. */
static bool is_held(const struct gi_imaging *imaging, const struct gi_item *item,
                    const struct gi_file_rows *input, const struct gi_pipeline *pipeline)
{
    const struct gi_image result = gi_pipeline_result(pipeline);
    const uint64_t loaded = 2 * gi_image_nbytes(&input->shape), /* as stored, and converted */
        made = gi_pipeline_nbytes(pipeline) + gi_image_nbytes(&result);
    return !gi_imaging_options(imaging)->one &&
           loaded + (made > loaded ? made : loaded) <= memory_of(item);
}

/* Chooses the number of bytes of a band. Returns false if bands are no gain: rows would be read too
 * often. If the image and its results fit in `memory` bytes, that is more than once. */
static bool choose_bands(size_t *nbytes, const struct gi_file_rows *input,
                         const struct gi_pipeline *pipeline, int nsteps, struct gi_queue *queue,
                         uint64_t memory)
{
    const uint64_t whole = whole_nbytes(input, pipeline), share = memory / 2;
    bool fits = whole <= memory;
    const size_t most = fits ? whole / 4 : share < SIZE_MAX ? (size_t)share : SIZE_MAX;
    *nbytes = gi_file_rows_forced_nbytes();
    if (*nbytes)
        return true;
    double times = gi_pipeline_rows_size(nbytes, pipeline, queue,
                                         most < BAND_NBYTES ? most : BAND_NBYTES, most);
    return fits ? times <= GI_READS_FEW && !has_passes(pipeline, nsteps) : times <= TIMES_READ_MOST;
}

/* The rows of the result. With the last one, the rest of the input is read too, because damage in
 * it is an error. */
struct result {
    struct gi_row_source rows;
    struct gi_file_rows *input;
    int height;
};

static enum gi_status read_result(void *self, struct gi_image *rows, int top, int bottom,
                                  struct gi_err *err)
{
    const struct result *result = self;
    enum gi_status status = result->rows.read(result->rows.self, rows, top, bottom, err);
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

/* Runs the chain. The pipeline's rows are made while gi_imaging_save() writes them. */
static enum gi_status run(struct gi_file_rows *input, struct gi_imaging *imaging,
                          struct gi_item *item, bool *taken, const struct gi_pipeline *pipeline,
                          struct gi_queue *queue, struct gi_ready *ready,
                          struct gi_metadata *metadata, struct gi_file_info *info,
                          struct gi_err *err)
{
    bool parts;
    size_t nbytes;
    struct gi_io_params io = *input->io;
    const struct gi_row_source source = {.self = input, .most = 1, .read = gi_file_rows_read};
    struct gi_pipeline_rows *rows = NULL;
    const struct gi_image planned = gi_pipeline_result(pipeline);
    const uint64_t memory = memory_of(item);
    const enum gi_rows_order order = !gi_pipeline_rows_in_order(pipeline) ? GI_ROWS_IN_ANY_ORDER
                                     : ready->chain->steps[0].filter->sources.window
                                         ? GI_ROWS_OF_A_PART
                                         : GI_ROWS_FROM_TOP;
    const struct gi_filter *global = find_global(pipeline, ready->chain->n);
    if (global && whole_nbytes(input, pipeline) > memory)
        gi_cli_tell("%s: takes more memory than the limit, because %s needs the whole image",
                    item->line.input, global->name);
    if (gi_cli_check_way(item->line.input, item->line.output, &io, info, err))
        return err->status;
    if (global || !gi_cli_saves_rows(&planned, NULL, item->line.output, &io) ||
        !choose_bands(&nbytes, input, pipeline, ready->chain->n, queue, memory))
        return GI_OK;
    if (!gi_imaging_options(imaging)->one)
        gi_engine_reserve(item, memory); /* so that the image is alone */
    input->loading.allocator = queue->k->host_allocator(queue->device);
    enum gi_status status = gi_file_rows_first(input, order, &parts, metadata, info, err);
    *taken = status != GI_OK;
    if (status || !parts)
        return status;
    status = gi_pipeline_rows_open(&rows, pipeline, queue, &source, nbytes, ready->sides, err);
    if (status)
        return status;
    const struct gi_image result = gi_pipeline_rows_shape(rows);
    struct result last = {gi_pipeline_rows_result(rows), input, result.height};
    const struct gi_row_source made = {&last, last.rows.most, read_result};
    *taken = gi_cli_saves_rows(&result, metadata, item->line.output, &io);
    if (*taken) {
        gi_cli_tell("%s: read, processed and written in bands of %d rows", item->line.input,
                    made.most);
        gi_ready_tell(ready, item->line.input);
    }
    for (int i = 0; i < ready->chain->n && *taken && !status; i++)
        status = gi_cli_warn_or_fail(&ready->warnings[i], item->line.input, &io, err);
    if (!status && *taken) {
        struct gi_placement placement = gi_ready_placement(ready);
        status = gi_imaging_adapt(metadata, imaging, item, info, &result, &placement, err);
    }
    if (!status && *taken && is_written_directly(item->line.output))
        status = read_first(&made, err);
    struct gi_rows_ahead *ahead = gi_rows_ahead_open(&made, result.height);
    const struct gi_row_source next = gi_rows_ahead_result(ahead);
    io.passed.rows = &next;
    if (!status && *taken)
        status = gi_imaging_save(imaging, item, &result, metadata, &io, false, err);
    gi_rows_ahead_close(&ahead);
    if (status && input->fault.status) /* without the name of the output */
        *err = input->fault;
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

/* Prepares and runs the chain on the CPU. */
static enum gi_status run_chain(struct gi_file_rows *input, struct gi_imaging *imaging,
                                struct gi_item *item, bool *taken, struct gi_metadata *metadata,
                                struct gi_file_info *info, struct gi_err *err)
{
    const struct gi_imaging_options *options = gi_imaging_options(imaging);
    const struct gi_chain *chain = gi_imaging_chain(imaging, item);
    const struct gi_open_options open = {.threads = gi_thread_count(options->device->threads),
                                         .keeps = true};
    struct gi_ready ready;
    struct gi_pipeline *pipeline = NULL;
    struct gi_queue *queue = NULL;
    int failed;
    const struct gi_drawn_item of = gi_imaging_drawn_item(imaging, item, metadata);
    enum gi_status status = gi_ready_make(&ready, chain, &of, err);
    if (!status)
        status = gi_cli_check_levels(ready.steps, chain->n, &input->shape, info, options->io, err);
    if (!status)
        status = gi_pipeline_new_within(&pipeline, &options->io->limits, ready.steps, chain->n,
                                        &input->shape, &failed, err);
    bool held = !status && is_held(imaging, item, input, pipeline);
    if (!status && !held)
        status = gi_queue_open_alone(&queue, gi_kernels_cpu(), &open, err);
    if (!status && !held)
        status = run(input, imaging, item, taken, pipeline, queue, &ready, metadata, info, err);
    gi_file_rows_close(input);
    gi_queue_close_alone(&queue);
    gi_pipeline_free(&pipeline);
    gi_ready_free(&ready);
    return status;
}

enum gi_status gi_imaging_rows(struct gi_imaging *imaging, struct gi_item *item, bool *taken,
                               struct gi_err *err)
{
    struct gi_file_rows input;
    struct gi_metadata metadata = {0};
    struct gi_file_info info = {0};
    *taken = false;
    gi_file_rows_open(&input, item->line.input, gi_imaging_options(imaging)->io,
                      gi_imaging_parallel(imaging));
    struct shrinking shrinking = {imaging, item};
    const struct gi_shape_listener shrinker = {ignore_shape, &shrinking, shrink, NULL, NULL};
    input.shrinker = &shrinker;
    if (!may_take(imaging, item) ||
        !gi_file_rows_look(&input, gi_engine_memory(item->turn.engine), &info) ||
        takes_little(gi_imaging_chain(imaging, item), &input.shape))
        return GI_OK;
    gi_item_note_input(item);
    item->line.shape = input.shape;
    enum gi_status status = run_chain(&input, imaging, item, taken, &metadata, &info, err);
    gi_metadata_free(&metadata);
    /* Without bands, a step that needs the whole image, or a plan that fails, says so. */
    if (status && !*taken) {
        *err = (struct gi_err){0};
        return GI_OK;
    }
    return status;
}
