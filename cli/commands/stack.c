/* gpuimg stack: many images of one shape to one.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cli/run/batch_options.h"
#include "cli/run/engine.h"
#include "cli/run/imaging.h"
#include "cli/report/n_to_one.h"
#include "cli/inputs/input_list.h"
#include "cli/run/memory_budget.h"
#include "cli/commands/stack_strip.h"
#include "cli/inputs/feed.h"
#include "cli/run/session.h"
#include "cli/run/timing.h"
#include "cli/run/stop.h"
#include "cli/commands.h"
#include "cli/inputs/image_files.h"
#include "cli/run/output.h"
#include "cli/process.h"
#include "cli/run/watch.h"
#include "filters/statistics/stack.h"
#include "kernels/parallel.h"
#include "kernels/statistics.h"

enum { SET_OWN, SET_IO, SET_DEVICE };

enum {
    STRIP_IMAGES = 16,      /* that are reduced at a time */
    STRIP_NBYTES = 4 << 20, /* of small images more */
};

struct params {
    struct gi_stack_params stack;
    const char *files_from, *report;
    bool null, recursive, progress;
    uint64_t memory;
};

static const struct gi_option options[] = {
    GI_STACK_OPTIONS(struct params, stack.method, stack.kappa),
    {.name = "files-from",
     .type = GI_OPT_PATH,
     .offset = offsetof(struct params, files_from),
     .metavar = "LIST",
     .help = "Take inputs from this file too, one per line; - is standard input"},
    {.name = "null",
     .letter = '0',
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct params, null),
     .help = "Names in --files-from end with a zero byte"},
    {.name = "recursive",
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct params, recursive),
     .help = "Take the image files in input folders and below"},
    {.name = "memory",
     .type = GI_OPT_SIZE,
     .offset = offsetof(struct params, memory),
     .min = 1,
     .max = 1e15,
     .unit = "bytes",
     .help = "Memory for the images in progress; median and sigma-clip store the rest in a "
             "temporary file. Without it half of the free memory"},
    GI_N_TO_ONE_OPTION(struct params, report),
    GI_PROGRESS_OPTION(struct params, progress),
    {0},
};

struct stack {
    const struct params *params;
    const struct gi_io_params *io;
    struct gi_list list;
    struct gi_report report;
    struct gi_imaging *imaging;   /* decodes */
    struct gi_session *session;   /* computes */
    size_t next, n;               /* given to the engine; stacked */
    struct gi_image shape;        /* of all images: that of the first */
    struct gi_stack_strip *strip; /* images that are not reduced yet */
    struct gi_image sums;         /* of the images before those */
    struct gi_image result;       /* as long as it is made */
    struct gi_image made;         /* its shape */
};

/* Returns whether all images are needed at a time. */
static bool holds_all(const struct stack *stack)
{
    return stack->params->stack.method == GI_STACK_MEDIAN ||
           stack->params->stack.method == GI_STACK_SIGMA_CLIP;
}

static enum gi_status next(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    struct stack *stack = self;
    *more = stack->next < stack->list.n;
    if (!*more)
        return GI_OK;
    const struct gi_input *input = &stack->list.inputs[stack->next++];
    item->line.input = strdup(input->path);
    if (!item->line.input)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a path");
    gi_item_refuse(item, input);
    return GI_OK;
}

static void free_image(void *tag)
{
    gi_image_free(tag);
    free(tag);
}

static enum gi_status load(void *self, struct gi_item *item, struct gi_err *err)
{
    struct stack *stack = self;
    struct gi_file_info info;
    struct gi_image *image = calloc(1, sizeof *image);
    if (!image)
        return gi_fail(err, GI_E_MEMORY, "out of memory: an image");
    item->source.tag = image;
    item->source.untag = free_image;
    return gi_imaging_load(stack->imaging, item, image, NULL, &info, err);
}

/* The shape of the result: that of the first image. */
static struct gi_image result_of(const struct stack *stack, const struct gi_image *image)
{
    struct gi_image result = *image;
    result.data = NULL;
    if (stack->params->stack.method == GI_STACK_SUM)
        result.type = GI_F32;
    return result;
}

/* Returns the number of images that are reduced at a time; `memory` bytes are for all. */
static size_t strip_images(const struct stack *stack, const struct gi_image *image, uint64_t memory)
{
    uint64_t nbytes = gi_image_nbytes(image), n = STRIP_NBYTES / nbytes;
    if (holds_all(stack))
        return stack->list.n;
    n = n < STRIP_IMAGES ? STRIP_IMAGES : n;
    n = n > memory / 4 / nbytes ? memory / 4 / nbytes : n;
    n = n > GI_STACK_STRIP_COLUMNS_MAX / (uint64_t)image->width
            ? GI_STACK_STRIP_COLUMNS_MAX / (uint64_t)image->width
            : n;
    return n < 1 ? 1 : n < stack->list.n ? (size_t)n : stack->list.n;
}

/* The first image says what all are. */
static enum gi_status begin(struct stack *stack, const struct gi_image *image, struct gi_err *err)
{
    const struct gi_limits limits = {.max_bytes = stack->io->limits.max_bytes};
    struct gi_image result = result_of(stack, image);
    uint64_t share = stack->params->memory ? stack->params->memory : gi_memory_share();
    size_t n = strip_images(stack, image, share);
    stack->shape = *image;
    stack->shape.data = NULL;
    if (gi_limits_check(&limits, &result, err))
        return err->status;
    return gi_stack_strip_new(&stack->strip, image, n, holds_all(stack) ? share : UINT64_MAX, err);
}

/* Reduces a part of the strip to *made, the caller's, after the images in stack->sums if there are
 * any. With `continues` it is sums. */
static enum gi_status reduce(struct stack *stack, struct gi_image *made,
                             const struct gi_stack_strip_part *part, bool continues,
                             struct gi_err *err)
{
    struct gi_stack_params params = stack->params->stack;
    struct gi_step step = {.filter = &gi_filter_stack, .params = &params};
    struct gi_side side = {.others = &stack->sums};
    double start = gi_now_ms();
    params.images = gi_stack_strip_images(stack->strip);
    params.continues = continues;
    if (stack->sums.data) {
        params.nearlier = stack->n - (uint64_t)params.images;
        step.others = &stack->sums;
        step.nothers = 1;
    }
    enum gi_status status =
        gi_session_run(stack->session, made, &part->image, &step, 1, &side, err);
    stack->report.whole.ms[GI_STAGE_KERNELS] += gi_now_ms() - start;
    return status;
}

/* Adds the images of a strip to the sums. */
static enum gi_status flush(struct stack *stack, struct gi_err *err)
{
    struct gi_stack_strip_part part = {0};
    struct gi_image sums;
    bool more;
    enum gi_status status = gi_stack_strip_next(stack->strip, &part, &more, NULL, err);
    if (!status)
        status = reduce(stack, &sums, &part, true, err);
    if (status)
        return status;
    gi_image_free(&stack->sums);
    stack->sums = sums;
    gi_stack_strip_clear(stack->strip);
    return GI_OK;
}

static enum gi_status take(struct stack *stack, const struct gi_item *item, struct gi_err *err)
{
    const struct gi_image *image = item->source.tag, *want = &stack->shape;
    enum gi_status status = stack->n ? GI_OK : begin(stack, image, err);
    if (status)
        return status;
    if (image->width != want->width || image->height != want->height ||
        image->channels != want->channels || image->type != want->type)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "%s: is %d x %d, %d channels of %zu bytes, want %d x %d, %d of %zu as %s",
                       item->line.input, image->width, image->height, image->channels,
                       gi_type_nbytes(image->type), want->width, want->height, want->channels,
                       gi_type_nbytes(want->type), stack->list.inputs[0].path);
    if (gi_stack_strip_is_full(stack->strip))
        status = flush(stack, err);
    if (!status)
        status = gi_stack_strip_add(stack->strip, image, err);
    stack->n++;
    return status;
}

/* In the order of the list: so sums of floats are the same every time. The stack needs all of them.
 */
static enum gi_status deliver(void *self, struct gi_item *item, struct gi_err *err)
{
    struct stack *stack = self;
    if (!item->line.status)
        item->line.status = take(stack, item, &item->line.err);
    enum gi_status status = gi_report_add(&stack->report, &item->line, err);
    return status || !item->line.status ? status : gi_engine_end_by(item, err);
}

/* Copies what a part became to its place in the result. */
static void put(const struct stack *stack, const struct gi_stack_strip_part *part,
                const struct gi_image *made)
{
    size_t nbytes = gi_row_nbytes(made), at = nbytes / (size_t)made->width * (size_t)part->x;
    for (int y = 0; y < made->height; y++)
        memcpy((char *)gi_row(&stack->result, part->y + y) + at, gi_row(made, y), nbytes);
}

static enum gi_status finish_parts(struct stack *stack, struct gi_pool *pool, struct gi_err *err)
{
    struct gi_stack_strip_part part = {0};
    const struct gi_image shape = result_of(stack, &stack->shape);
    bool more = true;
    enum gi_status status = GI_OK;
    while (!status && !(status = gi_stack_strip_next(stack->strip, &part, &more, pool, err)) &&
           more) {
        struct gi_image made = {0};
        status = reduce(stack, &made, &part, false, err);
        if (!status && made.width == shape.width && made.height == shape.height) {
            stack->result = made; /* the part is the whole strip */
            return GI_OK;
        }
        if (!status && !stack->result.data)
            status = gi_image_alloc(&stack->result, shape.width, shape.height, shape.channels,
                                    shape.type, err);
        if (!status)
            put(stack, &part, &made);
        gi_image_free(&made);
    }
    return status;
}

static enum gi_status finish(struct stack *stack, const char *path, int threads, struct gi_err *err)
{
    struct gi_pool *pool;
    enum gi_status status = gi_pool_new(&pool, threads, err);
    if (status)
        return status;
    status = finish_parts(stack, pool, err);
    double start = gi_now_ms(), *ms = &stack->report.whole.ms[GI_STAGE_ENCODE];
    if (!status)
        status = gi_cli_save(&stack->result, NULL, path, stack->io, threads, err);
    *ms = gi_now_ms() - start;
    gi_timing_add("encode", *ms);
    stack->made = stack->result;
    gi_image_free(&stack->result);
    gi_pool_free(&pool);
    return status;
}

static enum gi_status run_engine(struct stack *stack, struct gi_err *err)
{
    static const struct gi_feed_kind kind = {.next = next};
    const struct gi_feed feed = {.kind = &kind, .self = stack, .n = stack->list.n};
    struct gi_work_on work = {.self = stack, .run = load, .deliver = deliver, .ordered = true};
    const struct gi_batch_params how = {
        .memory = stack->params->memory, .progress = stack->params->progress, .fail_fast = true};
    enum gi_status status =
        gi_feed_run(&feed, &work, &how, gi_imaging_threads(stack->imaging), err);
    if (!status && stack->n < stack->list.n)
        status = gi_fail(err, GI_E_IO, "ended by a signal: nothing was written");
    return status;
}

static enum gi_status run(const struct gi_command *command, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    const struct params *p = params[SET_OWN];
    const struct gi_io_params *io = params[SET_IO];
    const char *path = operands[noperands - 1];
    const struct gi_device_params *device = params[SET_DEVICE];
    struct gi_device_params decoding = {.device = "cpu", .threads = device->threads};
    struct gi_imaging_options how = {.io = io, .device = &decoding};
    struct stack stack = {.params = p, .io = io};
    enum gi_status status = gi_cli_check_save(path, io, err);
    if (!status)
        status = gi_list_operands(&stack.list, operands, noperands - 1, p->recursive, err);
    if (!status && p->files_from)
        status = gi_list_from(&stack.list, p->files_from, p->null, p->recursive, err);
    if (!status && !stack.list.n)
        status = gi_fail(err, GI_E_USAGE, "want INPUT... before the output %s", path);
    for (size_t i = 0; i < stack.list.n && !status; i++) {
        const char *const out[] = {path, NULL}, *const in[] = {stack.list.inputs[i].path, NULL};
        status = gi_output_check_inputs(out, in, err);
    }
    if (!status)
        status = gi_session_new(&stack.session, device, err);
    if (!status)
        status = gi_imaging_new(&stack.imaging, &how, err);
    if (!status)
        status =
            gi_n_to_one_open(&stack.report, p->report, command, params, &stack.list, path, err);
    if (!status)
        status = run_engine(&stack, err);
    if (!status)
        status = finish(&stack, path, gi_thread_count(device->threads), err);
    status = gi_report_end(&stack.report, &stack.made, status, err);
    gi_stack_strip_free(&stack.strip);
    gi_image_free(&stack.sums);
    gi_imaging_free(&stack.imaging);
    gi_list_free(&stack.list);
    gi_session_free(&stack.session);
    return status;
}

const struct gi_command gi_command_stack = {
    .name = "stack",
    .group = GI_GROUP_IMAGES,
    .operands = "INPUT... OUTPUT",
    .summary = "Stack images into one: mean, median, sum, sigma clipping",
    .manual = "Each sample of the output is computed from the samples at the same place in "
              "all inputs, and is NaN if one of them is NaN. Alpha is treated like any other "
              "channel. The inputs must have the same size, channels and type. Every file is "
              "read once.\n"
              "\n"
              "mean, min, max and sum need memory for their sums and a few images. median "
              "and sigma-clip need all images at once. If these take more than --memory, the "
              "decoded images are stored in a temporary file in $TMPDIR, or else in "
              "/var/tmp, and read from it part by part; the result is the same. The command "
              "fails if an image cannot be read or has another size, type or number of "
              "channels.\n"
              "\n"
              "--report has a line per input and then one for the whole stack, whose field "
              "inputs is the number of inputs.",
    .examples = "gpuimg stack night/*.tif mean.tif\n"
                "gpuimg stack --method sigma-clip --kappa 2.5 frames/*.png clean.png\n"
                "gpuimg stack --method sum --recursive darks sum.pfm",
    .min_operands = 1,
    .max_operands = -1,
    .sets = {{"Options", options, sizeof(struct params)},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)}},
    .filter = &gi_filter_stack,
    .run = run,
};
