/* gpuimg stack: many images of one shape to one.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run/batch_options.h"
#include "cli/run/engine.h"
#include "cli/run/imaging.h"
#include "cli/report/n_to_one.h"
#include "cli/inputs/input_list.h"
#include "cli/run/memory_budget.h"
#include "cli/commands/stack_samples.h"
#include "cli/inputs/feed.h"
#include "cli/commands/stack_rank.h"
#include "cli/run/stop.h"
#include "cli/commands.h"
#include "cli/inputs/image_files.h"
#include "cli/run/output.h"
#include "cli/process.h"
#include "cli/run/watch.h"
#include "kernels/parallel.h"

enum { SET_OWN, SET_IO };
enum { BY_MEAN, BY_MEDIAN, BY_MIN, BY_MAX, BY_SUM, BY_CLIP };
enum { CLIPS_MAX = 5 }; /* rounds of leaving out */
enum { PIECE = 4096 };  /* samples a job */

struct params {
    int by, threads;
    double kappa;
    const char *files_from, *report;
    bool null, recursive, progress;
    uint64_t memory;
};

static const struct gi_choice ways[] = {
    {"mean", NULL, "exact for integers, ties rounded up"},
    {"median", NULL, "for an even number the mean of the two in the middle"},
    {"min", NULL, "the minimum"},
    {"max", NULL, "the maximum"},
    {"sum", NULL, "as float: 1 is full scale"},
    {"sigma-clip", NULL, "mean of the samples within --kappa standard deviations of the median"},
    {0},
};

static const struct gi_option options[] = {
    {.name = "method",
     .also = "by",
     .type = GI_OPT_CHOICE,
     .offset = offsetof(struct params, by),
     .default_text = "mean",
     .choices = ways,
     .help = "How the samples at one place are combined"},
    {.name = "kappa",
     .type = GI_OPT_REAL,
     .offset = offsetof(struct params, kappa),
     .default_text = "3",
     .min = 0.1,
     .max = 100,
     .help = "Standard deviations that sigma-clip keeps, in five passes"},
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
    {.name = "threads",
     .type = GI_OPT_INT,
     .offset = offsetof(struct params, threads),
     .min = 1,
     .max = 1024,
     .help = "Threads; without it one per CPU"},
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
    struct gi_imaging *imaging;
    size_t next, n;                   /* given to the engine; stacked */
    struct gi_image shape;            /* of all: that of the first */
    double *sums;                     /* a sample each: sum, least or largest so far */
    struct gi_stack_samples *samples; /* of all, where they are held */
    struct gi_image result;           /* as long as it is made */
    struct gi_image made;             /* its shape */
    struct gi_stack_samples_band band;
};

static bool holds_all(const struct stack *stack)
{
    return stack->params->by == BY_MEDIAN || stack->params->by == BY_CLIP;
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
    result.type = stack->params->by == BY_SUM ? GI_F32 : image->type;
    return result;
}

/* The first image says what all are. */
static enum gi_status begin(struct stack *stack, const struct gi_image *image, struct gi_err *err)
{
    const struct gi_limits limits = {.max_bytes = stack->io->limits.max_bytes};
    struct gi_image result = result_of(stack, image);
    size_t n = gi_row_samples(image) * (size_t)image->height;
    uint64_t share = stack->params->memory ? stack->params->memory : gi_memory_share();
    stack->shape = *image;
    stack->shape.data = NULL;
    if (gi_limits_check(&limits, &result, err))
        return err->status;
    if (holds_all(stack))
        return gi_stack_samples_new(&stack->samples, image, stack->list.n, share, err);
    stack->sums = calloc(n, sizeof *stack->sums);
    return stack->sums ? GI_OK : gi_fail(err, GI_E_MEMORY, "out of memory: a stack");
}

static double join(int by, double a, double b)
{
    if (by == BY_MIN)
        return b < a || isnan(b) ? b : a;
    if (by == BY_MAX)
        return b > a || isnan(b) ? b : a;
    return a + b;
}

static void add(struct stack *stack, const struct gi_image *image)
{
    size_t n = gi_row_samples(image);
    for (int y = 0; y < image->height; y++) {
        double *sums = stack->sums + (size_t)y * n;
        for (size_t i = 0; i < n; i++) {
            double v = gi_sample(gi_row(image, y), i, image->type);
            sums[i] = stack->n ? join(stack->params->by, sums[i], v) : v;
        }
    }
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
    if (holds_all(stack))
        status = gi_stack_samples_add(stack->samples, image, err);
    else
        add(stack, image);
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

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double mean_of(const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return sum / (double)n;
}

static double median_of(const double *v, size_t n)
{
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Of sorted values: in rounds, those further than kappa standard deviations from the median of the
 * rest are left out, on either side. */
static double clipped_mean(const double *v, size_t n, double kappa)
{
    for (int round = 0; round < CLIPS_MAX; round++) {
        double mean = mean_of(v, n), middle = median_of(v, n), sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += (v[i] - mean) * (v[i] - mean);
        double reach = kappa * sqrt(sum / (double)n);
        size_t from = 0, to = n;
        while (from < to - 1 && middle - v[from] > reach)
            from++;
        while (to > from + 1 && v[to - 1] - middle > reach)
            to--;
        if (to - from == n)
            break;
        v += from;
        n = to - from;
    }
    return mean_of(v, n);
}

/* What stands at sample i of the band; `v` has room for all values there. */
static double value_at(const struct stack *stack, size_t i, double *v)
{
    const struct params *p = stack->params;
    const struct gi_stack_samples_band *band = &stack->band;
    if (!holds_all(stack)) {
        double sum = stack->sums[band->from + i];
        if (p->by == BY_SUM)
            return sum / (double)gi_type_full_scale(stack->shape.type);
        return p->by == BY_MEAN ? sum / (double)stack->n : sum;
    }
    for (size_t k = 0; k < stack->n; k++) {
        v[k] = gi_sample(band->at + k * band->stride, i, stack->shape.type);
        if (isnan(v[k]))
            return NAN;
    }
    qsort(v, stack->n, sizeof *v, by_value);
    return p->by == BY_MEDIAN ? median_of(v, stack->n) : clipped_mean(v, stack->n, p->kappa);
}

static void put(const struct stack *stack, size_t i, double v)
{
    size_t samples = gi_row_samples(&stack->result), place = stack->band.from + i;
    void *row = gi_row(&stack->result, (int)(place / samples));
    size_t x = place % samples;
    if (stack->result.type == GI_U8)
        ((uint8_t *)row)[x] = (uint8_t)floor(v + 0.5);
    else if (stack->result.type == GI_U16)
        ((uint16_t *)row)[x] = (uint16_t)floor(v + 0.5);
    else
        ((float *)row)[x] = (float)v;
}

/* The medians of GI_RANK_PLACES samples of integers. */
static void put_medians(const struct stack *stack, size_t first)
{
    uint16_t below[GI_RANK_PLACES], above[GI_RANK_PLACES];
    size_t n = stack->n;
    gi_rank(above, &stack->band, n, stack->shape.type, first, n / 2);
    if (n % 2 == 0)
        gi_rank(below, &stack->band, n, stack->shape.type, first, n / 2 - 1);
    for (int i = 0; i < GI_RANK_PLACES; i++)
        put(stack, first + (size_t)i, n % 2 ? above[i] : (below[i] + above[i]) / 2.0);
}

/* A piece of the band. */
static void finish_piece(void *arg, int piece, void *scratch)
{
    const struct stack *stack = arg;
    size_t i = (size_t)piece * PIECE;
    size_t end = i + PIECE < stack->band.n ? i + PIECE : stack->band.n;
    bool ranks = stack->params->by == BY_MEDIAN && gi_rank_takes(stack->shape.type, stack->n);
    for (; ranks && end - i >= GI_RANK_PLACES; i += GI_RANK_PLACES)
        put_medians(stack, i);
    for (; i < end; i++)
        put(stack, i, value_at(stack, i, scratch));
}

/* Band by band. */
static enum gi_status finish_all(struct stack *stack, struct gi_pool *pool, struct gi_err *err)
{
    struct gi_stack_samples_band *band = &stack->band;
    size_t all = gi_row_samples(&stack->shape) * (size_t)stack->shape.height;
    enum gi_status status = GI_OK;
    *band = (struct gi_stack_samples_band){.n = all};
    for (size_t from = 0; from < all && !status; from += band->n) {
        if (stack->samples)
            status = gi_stack_samples_band(stack->samples, band, from, pool, err);
        if (!status)
            status = gi_pool_run(pool, (int)((band->n + PIECE - 1) / PIECE), finish_piece, stack,
                                 stack->n * sizeof(double), err);
    }
    return status;
}

static enum gi_status finish(struct stack *stack, const char *path, struct gi_err *err)
{
    const struct gi_image made = result_of(stack, &stack->shape);
    int threads = gi_thread_count(stack->params->threads);
    struct gi_pool *pool;
    enum gi_status status = gi_pool_new(&pool, threads, err);
    if (status)
        return status;
    status = gi_image_alloc(&stack->result, made.width, made.height, made.channels, made.type, err);
    double start = gi_now_ms(), *ms = stack->report.whole.ms;
    if (!status)
        status = finish_all(stack, pool, err);
    ms[GI_STAGE_KERNELS] = gi_now_ms() - start;
    start = gi_now_ms();
    if (!status)
        status = gi_cli_save(&stack->result, NULL, path, stack->io, threads, err);
    ms[GI_STAGE_ENCODE] = gi_now_ms() - start;
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
    struct gi_device_params device = {.device = "cpu", .threads = p->threads};
    struct gi_imaging_options how = {.io = io, .device = &device};
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
        status = gi_imaging_new(&stack.imaging, &how, err);
    if (!status)
        status =
            gi_n_to_one_open(&stack.report, p->report, command, params, &stack.list, path, err);
    if (!status)
        status = run_engine(&stack, err);
    if (!status)
        status = finish(&stack, path, err);
    status = gi_report_end(&stack.report, &stack.made, status, err);
    gi_stack_samples_free(&stack.samples);
    free(stack.sums);
    gi_imaging_free(&stack.imaging);
    gi_list_free(&stack.list);
    return status;
}

const struct gi_command gi_command_stack = {
    .name = "stack",
    .group = GI_GROUP_IMAGES,
    .operands = "INPUT... OUTPUT",
    .summary = "Stack images into one: mean, median, sum, sigma clipping",
    .manual = "Each sample of the output is computed from the samples at its place in all "
              "inputs, alpha like any other channel; it is NaN if one of them is NaN. The inputs "
              "have the same size, channels and type. Every file is read once.\n\n"
              "mean, min, max and sum hold one image of sums. median and sigma-clip need all "
              "images; if these take more than --memory, they are stored, decoded, in a "
              "temporary file in $TMPDIR, or else in /var/tmp, and read from it part by part. "
              "The bytes are the same. An image that cannot be read, or of another shape, ends "
              "the command.\n\n"
              "--report has a line per input and then one of the whole, with inputs, their "
              "number.",
    .examples = "gpuimg stack night/*.tif mean.tif\n"
                "gpuimg stack --method sigma-clip --kappa 2.5 frames/*.png clean.png\n"
                "gpuimg stack --method sum --recursive darks sum.pfm",
    .min_operands = 1,
    .max_operands = -1,
    .sets = {{"Options", options, sizeof(struct params)},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)}},
    .run = run,
};
