/* gpuimg stack: reduces many images of one shape to one image.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/commands.h"
#include "cli/commands/stack_align.h"
#include "cli/commands/stack_fusion.h"
#include "cli/commands/stack_strip.h"
#include "cli/commands/stack_sums.h"
#include "cli/inputs/n_to_one.h"
#include "cli/paths/matcher.h"
#include "cli/run/memory_budget.h"
#include "filters/geometry/align.h"
#include "imgio/nodata.h"
#include "kernels/parallel.h"

enum { SET_OWN };

enum {
    STRIP_IMAGES = 8,       /* that are reduced at a time */
    STRIP_NBYTES = 4 << 20, /* of small images more */
    PART_SUMS_NBYTES = 32 << 20,
};

struct stack_params {
    struct gi_stack_params stack;
    const char *files_from, *report, *only, *except;
    bool null, recursive, progress, align, rotate, scale;
    uint64_t memory;
};

static const struct gi_option options[] = {
    GI_STACK_OPTIONS(struct stack_params, stack.method, stack.kappa),
    {GI_OPTION("align", FLAG, struct stack_params, align),
     .help = "Move each image over the first one, by the transform that gpuimg align finds, "
             "with bicubic interpolation; at the sides the outer pixels are repeated"},
    GI_ALIGN_OPTIONS(struct stack_params, rotate, scale, ", with --align"),
    {GI_OPTION("files-from", PATH, struct stack_params, files_from), .metavar = "LIST",
     .help = "Read names of further inputs from this file, one per line; - is standard input"},
    {GI_OPTION("null", FLAG, struct stack_params, null), .letter = '0',
     .help = "Names in --files-from end with a zero byte"},
    {GI_OPTION("recursive", FLAG, struct stack_params, recursive),
     .help = "Take the image files in folders that are inputs, and in the folders below them"},
    GI_CHOICE_OPTIONS(struct stack_params, only, except),
    {GI_OPTION("memory", SIZE, struct stack_params, memory), .min = 1, .max = 1e15, .unit = "bytes",
     .help = "Limit of the memory for images in progress; further images and sums are stored in a "
             "temporary file. The default is half of the free memory"},
    GI_N_TO_ONE_OPTIONS(struct stack_params, report, progress),
    {0},
};

struct stack {
    const struct stack_params *params;
    struct gi_n_to_one job;
    struct gi_image shape;        /* of all images: that of the first */
    struct gi_bands bands;        /* of all images; `n` is 0 if they have none */
    struct gi_stack_strip *strip; /* images that are not reduced yet */
    struct gi_stack_sums *sums;   /* of the images before those; NULL: none */
    uint64_t summed;              /* number of those images */
    struct gi_stack_align align;  /* with --align */
    struct gi_stack_fusion fusion;
    uint64_t memory;      /* of the strip, the sums and the parts, in bytes */
    struct gi_pool *pool; /* reads the parts */
};

/* Returns an image of several bands as a gray one, in which the samples of a pixel are side by
 * side. They are stacked alike. Returns other images unchanged. */
static struct gi_image flat(const struct stack *stack, const struct gi_image *image)
{
    struct gi_image made = *image;
    if (stack->bands.n) {
        made.width *= made.channels;
        made.channels = 1;
    }
    return made;
}

/* Returns whether the method needs all images at the end. */
static bool holds_all(const struct stack *stack)
{
    return gi_stack_fuses(&stack->params->stack) ||
           stack->params->stack.method == GI_STACK_MEDIAN ||
           stack->params->stack.method == GI_STACK_SIGMA_CLIP;
}

/* Returns the shape of the result for images like the first one. */
static struct gi_image result_of(const struct stack *stack, const struct gi_image *image)
{
    struct gi_image result = *image;
    result.data = NULL;
    if (stack->params->stack.method == GI_STACK_SUM)
        result.type = GI_F32;
    return result;
}

/* Returns the bytes of the sums of images like this one, which are doubles. */
static uint64_t sums_nbytes(const struct gi_image *image)
{
    return gi_image_nbytes(image) / gi_type_nbytes(image->type) * sizeof(double);
}

/* Returns how many images are reduced at the same time. If the sums fit in memory, these images are
 * in memory too. Otherwise the sums are read and written once for STRIP_IMAGES images. */
static size_t strip_images(const struct stack *stack, const struct gi_image *image)
{
    uint64_t nbytes = gi_image_nbytes(image), n = STRIP_NBYTES / nbytes;
    uint64_t columns = GI_STACK_STRIP_COLUMNS_MAX / (uint64_t)image->width;
    if (holds_all(stack))
        return stack->job.n;
    n = n < STRIP_IMAGES ? STRIP_IMAGES : n;
    if (sums_nbytes(image) <= stack->memory / 2)
        n = n > stack->memory / 4 / nbytes ? stack->memory / 4 / nbytes : n;
    n = n > columns ? columns : n;
    return n < 1 ? 1 : n < stack->job.n ? (size_t)n : stack->job.n;
}

/* Makes the strip. Parts are so small that their sums take little memory. */
static enum gi_status new_strip(struct stack *stack, const struct gi_image *image,
                                struct gi_err *err)
{
    size_t n = strip_images(stack, image);
    uint64_t most = stack->memory / 16, sample = gi_type_nbytes(image->type);
    if (holds_all(stack))
        return gi_stack_strip_new(&stack->strip, image, n, stack->memory,
                                  gi_stack_fuses(&stack->params->stack) ? 1 : stack->memory, err);
    most = most < PART_SUMS_NBYTES ? most : PART_SUMS_NBYTES;
    return gi_stack_strip_new(&stack->strip, image, n, stack->memory / 4,
                              most / sizeof(double) * sample * n, err);
}

/* The first image says what all are. */
static enum gi_status begin(struct stack *stack, const struct gi_image *image,
                            const struct gi_bands *bands, struct gi_err *err)
{
    struct gi_err warning = {0};
    const struct gi_limits limits = {.max_bytes = stack->job.io->limits.max_bytes};
    struct gi_image result = result_of(stack, image);
    gi_stack_warn(&warning, &stack->params->stack, stack->job.n);
    if (gi_cli_warn_or_fail(&warning, NULL, stack->job.io, err))
        return err->status;
    stack->shape = *image;
    stack->shape.data = NULL;
    stack->bands = *bands;
    if (gi_limits_check(&limits, &result, err))
        return err->status;
    if (bands->n && image->width > GI_STACK_STRIP_COLUMNS_MAX / image->channels)
        return gi_fail(err, GI_E_UNSUPPORTED, "%d columns of %d bands: want fewer", image->width,
                       image->channels);
    const struct gi_image one = flat(stack, image);
    enum gi_status status = gi_pool_new(&stack->pool, stack->job.threads, err);
    return status ? status : new_strip(stack, &one, err);
}

/* Reduces a part of the strip to *made, which the caller frees. If there are sums of earlier
 * images, those of the part, at offset `at`, are continued. If `continues` is true, *made becomes
 * sums too.
 */
static enum gi_status reduce(struct stack *stack, struct gi_image *made,
                             const struct gi_stack_strip_part *part, uint64_t at, bool continues,
                             struct gi_err *err)
{
    struct gi_stack_params params = stack->params->stack;
    struct gi_step step = {.filter = &gi_filter_stack, .params = &params};
    struct gi_image sums = part->image;
    enum gi_status status = GI_OK;
    params.images = gi_stack_strip_images(stack->strip);
    params.continues = continues;
    if (stack->summed) {
        sums.type = GI_U32;
        sums.width = 2 * (part->image.width / params.images);
        status = gi_stack_sums_get(stack->sums, &sums, at, err);
        params.nearlier = stack->summed;
        step.others = &sums;
        step.nothers = 1;
    }
    return status ? status
                  : gi_imaging_step(stack->job.computing, stack->job.whole, made, &part->image,
                                    &step, NULL, err);
}

/* Adds the images of the strip to the sums. */
static enum gi_status flush(struct stack *stack, struct gi_err *err)
{
    struct gi_stack_strip_part part = {0};
    struct gi_image sums;
    uint64_t at = 0;
    bool more;
    enum gi_status status =
        stack->sums
            ? GI_OK
            : gi_stack_sums_new(&stack->sums, sums_nbytes(&stack->shape), stack->memory / 2, err);
    while (!status &&
           !(status = gi_stack_strip_next(stack->strip, &part, &more, stack->pool, err)) && more) {
        status = reduce(stack, &sums, &part, at, true, err);
        if (status)
            break;
        status = gi_stack_sums_put(stack->sums, &sums, at, err);
        at += gi_image_nbytes(&sums);
        gi_image_free(&sums);
    }
    stack->summed += (uint64_t)gi_stack_strip_images(stack->strip);
    gi_stack_strip_clear(stack->strip);
    return status;
}

static const char *what_of(char text[GI_BANDS_TEXT], const struct gi_bands *bands)
{
    return bands->n ? gi_bands_text(text, bands) : "colours or gray";
}

static enum gi_status take(void *self, struct gi_item *item, struct gi_image *image,
                           struct gi_metadata *metadata, struct gi_err *err)
{
    struct stack *stack = self;
    const struct gi_image *want = &stack->shape;
    char text[2][GI_BANDS_TEXT];
    enum gi_status status = stack->job.taken ? GI_OK : begin(stack, image, &metadata->bands, err);
    if (status)
        return status;
    if (image->width != want->width || image->height != want->height ||
        image->channels != want->channels || image->type != want->type)
        return gi_fail(
            err, GI_E_UNSUPPORTED,
            "%s: has %d x %d pixels with %d channel%s of %zu bits: want %d x %d pixels with %d "
            "channel%s of %zu bits, as %s",
            item->line.input, image->width, image->height, image->channels,
            image->channels == 1 ? "" : "s", 8 * gi_type_nbytes(image->type), want->width,
            want->height, want->channels, want->channels == 1 ? "" : "s",
            8 * gi_type_nbytes(want->type), stack->job.list.inputs[0].path);
    if (memcmp(&metadata->bands, &stack->bands, sizeof stack->bands) != 0)
        return gi_fail(err, GI_E_UNSUPPORTED, "%s: has %s: want %s, as %s", item->line.input,
                       what_of(text[0], &metadata->bands), what_of(text[1], &stack->bands),
                       stack->job.list.inputs[0].path);
    if (stack->bands.n && gi_stack_fuses(&stack->params->stack))
        return gi_fail(err, GI_E_UNSUPPORTED, "--method %s: not of images of several bands",
                       gi_stack_methods[stack->params->stack.method].name);
    if (stack->params->align)
        status = stack->bands.n
                     ? gi_fail(err, GI_E_UNSUPPORTED, "--align: not of images of several bands")
                     : gi_stack_align(&stack->align, image, stack->job.computing, item, err);
    if (stack->params->stack.method == GI_STACK_SUM)
        gi_nodata_drop(metadata, "samples are sums");
    const struct gi_image one = flat(stack, image);
    if (!status && gi_stack_strip_is_full(stack->strip))
        status = flush(stack, err);
    if (!status && gi_stack_fuses(&stack->params->stack))
        status = gi_stack_fusion_take(&stack->fusion, &stack->params->stack, image,
                                      gi_stack_strip_images(stack->strip), stack->job.computing,
                                      &item->line, err);
    return status ? status : gi_stack_strip_add(stack->strip, &one, err);
}

/* Copies the result of a part to its place in the image. */
static void put(const struct gi_image *result, const struct gi_stack_strip_part *part,
                const struct gi_image *made)
{
    size_t nbytes = gi_row_nbytes(made), at = nbytes / (size_t)made->width * (size_t)part->x;
    for (int y = 0; y < made->height; y++)
        memcpy((char *)gi_row(result, part->y + y) + at, gi_row(made, y), nbytes);
}

/* Makes the result, which is flat(). */
static enum gi_status make(struct stack *stack, struct gi_image *result, struct gi_err *err)
{
    struct gi_stack_strip_part part = {0};
    const struct gi_image all = result_of(stack, &stack->shape), shape = flat(stack, &all);
    uint64_t at = 0;
    bool more = true;
    enum gi_status status = GI_OK;
    while (!status &&
           !(status = gi_stack_strip_next(stack->strip, &part, &more, stack->pool, err)) && more) {
        struct gi_image made = {0};
        status = reduce(stack, &made, &part, at, false, err);
        if (!status && made.width == shape.width && made.height == shape.height) {
            *result = made; /* the part is the whole strip */
            return GI_OK;
        }
        if (!status && !result->data)
            status =
                gi_image_alloc(result, shape.width, shape.height, shape.channels, shape.type, err);
        if (!status)
            put(result, &part, &made);
        at += sums_nbytes(&made);
        gi_image_free(&made);
    }
    return status;
}

static enum gi_status finish(void *self, struct gi_image *result, struct gi_err *err)
{
    struct stack *stack = self;
    enum gi_status status =
        gi_stack_fuses(&stack->params->stack)
            ? gi_stack_fusion_finish(&stack->fusion, result, &stack->params->stack, stack->strip,
                                     &stack->shape, stack->job.computing, stack->job.whole, err)
            : make(stack, result, err);
    if (stack->bands.n && result->data) {
        result->width = stack->shape.width;
        result->channels = stack->shape.channels;
    }
    stack->job.metadata.bands = stack->bands;
    return status;
}

static enum gi_status run(const struct gi_command *command, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    const struct stack_params *p = params[SET_OWN];
    uint64_t memory = p->memory ? p->memory : gi_memory_share();
    struct stack stack = {.params = p,
                          .memory = memory - memory / 2,
                          .align = {.rotate = p->rotate, .scale = p->scale},
                          .job = {.output = operands[noperands - 1],
                                  .work = {.command = command,
                                           .params = params,

                                           .report = p->report,
                                           .list = p->files_from,
                                           .progress = p->progress,
                                           .memory = memory / 2,
                                           .self = &stack,
                                           .bands = true,
                                           .counts_nodata = true,
                                           .take = take,
                                           .finish = finish}}};
    struct gi_list *list = &stack.job.list;
    struct gi_matcher matcher = {.n = 0};
    enum gi_status status = gi_matcher_read(&matcher, p->only, p->except, err);
    list->matcher = &matcher;
    if (!status && (p->rotate || p->scale) && !p->align)
        status = gi_fail(err, GI_E_USAGE, "%s: want --align", p->rotate ? "--rotate" : "--scale");
    if (!status)
        status = gi_list_operands(list, operands, noperands - 1, p->recursive, err);
    if (!status && p->files_from)
        status = gi_list_from(list, p->files_from, p->null, p->recursive, err);
    if (!status && !list->n && !list->not_chosen)
        status = gi_fail(err, GI_E_USAGE, "want INPUT... before the output %s", stack.job.output);
    if (!status)
        status = gi_list_check(list, err);
    list->matcher = NULL;
    gi_matcher_free(&matcher);
    if (!status)
        status = gi_n_to_one_run(&stack.job, err);
    gi_stack_strip_free(&stack.strip);
    gi_stack_sums_free(&stack.sums);
    gi_stack_align_free(&stack.align);
    gi_stack_fusion_free(&stack.fusion);
    gi_pool_free(&stack.pool);
    gi_n_to_one_close(&stack.job);
    return status;
}

const struct gi_command gi_command_stack = {
    .name = "stack",
    .group = GI_GROUP_IMAGES,
    .operands = "INPUT... OUTPUT",
    .summary = "Stack images into one: mean, median, sigma clipping, exposure fusion",
    .manual =
        "Each sample of the output is computed from the samples at the same place in all "
        "inputs, by --method. The result is NaN if one of these samples is NaN. Alpha "
        "and further bands are treated like any other channel. The command fails if an image "
        "cannot be read, or "
        "if the images do not all have the same size, sample type and number of "
        "channels.\n\n"
        "Each page of a TIFF counts as an image. --method max gives the maximum intensity "
        "projection (MIP) of the pages.\n\n" GI_STACK_FUSION_MANUAL ".\n\n"
        "In a stack of few images no sample is many standard deviations away from the "
        "median, because an outlier enlarges the deviation: at most 2.74 with 6 images and "
        "3.1 with 8. So few images need --method sigma-clip --kappa 2; a --kappa that cannot "
        "reject anything causes a warning.\n\n"
        "Every file is read once. The methods \"mean\", \"min\", \"max\" and \"sum\" need "
        "8 bytes for each sample of an image, and memory for 8 images and those that are "
        "being decoded. The methods \"median\" and \"sigma-clip\" need all images at once, and "
        "\"exposure\" and \"focus\" visit all images twice, with 30 to 40 bytes per sample of "
        "one image on top of --memory. "
        "Whatever takes more than --memory is stored in a temporary file, in the folder "
        "$TMPDIR or else in /var/tmp, and read from there part by part. The result is the "
        "same. The memory in use is at most --memory, and in addition one input and the "
        "result.\n\n"
        "The report of --report has a line per input and then a line for the result. In "
        "that line, the field \"inputs\" holds the number of inputs.\n\n"
        "In a chain (gpuimg help run), the step stack --images N stacks N images that are "
        "side by side in one image: image k begins at column k * width / N, rounded down.",
    .examples = "gpuimg stack night/*.tif mean.tif\n"
                "gpuimg stack --method max pages.tif projection.tif\n"
                "gpuimg stack --method sigma-clip --kappa 2.5 frames/*.png clean.png\n"
                "gpuimg stack --method sum --recursive darks sum.pfm\n"
                "gpuimg stack --align --method median shots/*.jpg sharp.jpg\n"
                "gpuimg stack --align --rotate --scale --method exposure bracket/*.jpg fused.jpg\n"
                "gpuimg stack --method focus macro/*.tif sharp.tif",
    .min_operands = 1,
    .max_operands = -1,
    .sets = {{"Options", options, sizeof(struct stack_params)},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)}},
    .filter = &gi_filter_stack,
    .run = run,
};
