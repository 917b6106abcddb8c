/* The work on a single large image: the chain takes it from file to file in bands of rows, so that
 * neither the image nor its result has to fit in memory. GPUIMG_BAND_BYTES sets the bytes of a band
 * and takes images of any size, for tests.
 * SPDX-License-Identifier: MIT */
#include "cli/run/imaging.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/args/level_check.h"
#include "cli/process.h"
#include "cli/run/ready.h"
#include "cli/text.h"
#include "filters/rows.h"
#include "imgio/nodata.h"
#include "kernels/kernels.h"

enum {
    FROM_NBYTES = 512 << 20, /* smaller images are processed at once, which is as fast */
    BAND_NBYTES = 64 << 20,
};

/* The rows of the input. Each band is decoded on its own, as a part of the picture. */
struct input {
    struct gi_imaging *imaging;
    const struct gi_item *item;
    const struct gi_io_params *io;
    struct stat file;        /* of the file before it was first read */
    struct gi_window wanted; /* the rows that are being decoded */
    struct gi_image shape;   /* of the picture; no data */
    struct gi_image band;    /* the rows that were decoded last */
    struct gi_loading loading;
    struct gi_shape_listener listener;
};

static void ignore_shape(void *arg, const struct gi_image *shape)
{
}

static bool on_window(void *arg, const struct gi_image *picture, struct gi_window *window)
{
    const struct input *input = arg;
    *window = input->wanted;
    /* A file that has become smaller is not decoded: read_rows() finds another shape. */
    if (window->y + window->height > picture->height || window->width > picture->width)
        *window = (struct gi_window){0, 0, 1, 1};
    return true;
}

static enum gi_status decode(struct input *input, struct gi_metadata *metadata,
                             struct gi_file_info *info, struct gi_err *err)
{
    gi_image_free(&input->band);
    return gi_cli_load_by(&input->band, metadata, info, input->item->line.input, input->io,
                          &input->loading, err);
}

/* Returns whether the path still names the file of the first rows, and that file is unchanged. */
static bool is_same_file(const struct input *input)
{
    const struct stat *was = &input->file;
    struct stat is;
    return stat(input->item->line.input, &is) == 0 && is.st_dev == was->st_dev &&
           is.st_ino == was->st_ino && is.st_size == was->st_size &&
           is.st_mtim.tv_sec == was->st_mtim.tv_sec && is.st_mtim.tv_nsec == was->st_mtim.tv_nsec;
}

static enum gi_status read_rows(void *self, struct gi_image *rows, int top, int bottom,
                                struct gi_err *err)
{
    struct input *input = self;
    const struct gi_image *shape = &input->shape, *band = &input->band;
    input->wanted = (struct gi_window){0, top, shape->width, bottom - top};
    enum gi_status status = decode(input, NULL, NULL, err);
    if (status)
        return status;
    if (!is_same_file(input) || band->shrunk.by != 1 || band->shrunk.width != shape->width ||
        band->shrunk.height != shape->height || band->width != shape->width ||
        band->height != bottom - top || band->channels != shape->channels ||
        band->type != shape->type)
        return gi_fail(err, GI_E_IO, "%s: the file changed while it was read",
                       input->item->line.input);
    *rows = gi_image_rows(band, 0, band->height);
    return GI_OK;
}

/* Returns the bytes of a band, and sets *from to the bytes of the smallest image. */
static size_t band_nbytes(uint64_t *from)
{
    const char *text = getenv("GPUIMG_BAND_BYTES");
    size_t nbytes = text ? strtoul(text, NULL, 10) : 0;
    *from = nbytes ? 1 : FROM_NBYTES;
    return nbytes ? nbytes : BAND_NBYTES;
}

/* Returns whether the chain and the options leave the work to the CPU, with one input file and one
 * output file. */
static bool may_take(const struct gi_imaging *imaging, const struct gi_item *item)
{
    const struct gi_imaging_options *options = gi_imaging_options(imaging);
    const struct gi_io_params *io = options->io;
    const struct gi_chain *chain = gi_imaging_chain(imaging, item);
    bool files = !item->source.bytes && !item->source.pages && item->line.output &&
                 strcmp(item->line.input, "-") != 0 && strcmp(item->line.output, "-") != 0;
    if (!options->one || !files || !chain || !chain->n || options->times ||
        options->device->timing || io->linear || io->allow_partial || io->passed.labels ||
        getenv("GPUIMG_WAY") || !gi_imaging_on_cpu(imaging))
        return false;
    for (int i = 0; i < chain->n; i++)
        if (chain->steps[i].reporter || chain->steps[i].nothers || !chain->steps[i].filter->run ||
            chain->steps[i].filter->sources.min > 1)
            return false;
    return !chain->steps[0].filter->sources.window; /* which makes the image small already */
}

/* Returns whether rows of such a file can be decoded without the others, without warnings for some
 * rows, and without turning the image. */
static bool has_rows(const struct gi_file_info *info)
{
    return gi_text_is_one_of("tiff pgm ppm pam pfm npy", info->format, strlen(info->format)) &&
           strcmp(info->detail, "YCbCr") != 0 && !info->integers && info->bits <= 32 &&
           !info->bands.n && info->orientation <= 4 && info->images == 1;
}

/* Returns whether the input is a regular file that may hold a large image, and notes it. A pipe is
 * not opened here, because its bytes can be read only once. */
static bool is_large_file(struct input *input, uint64_t from)
{
    enum { MOST_COMPRESSED = 64 };
    struct stat *st = &input->file;
    return stat(input->item->line.input, st) == 0 && S_ISREG(st->st_mode) &&
           (uint64_t)st->st_size >= from / MOST_COMPRESSED;
}

/* Returns whether the image is within the limits of gi_load(), which only knows the size of a band.
 */
static bool is_within(const struct gi_limits *limits, const struct gi_image *image,
                      const struct gi_file_info *info)
{
    uint64_t pixels = (uint64_t)image->width * (uint64_t)image->height;
    uint64_t nbytes = gi_image_nbytes(image);
    return nbytes <= limits->max_bytes &&
           (pixels <= limits->max_pixels || info->nbytes >= nbytes / 2);
}

/* Reads the header. Returns whether the image is large and can be decoded in bands. */
static bool look(struct input *input, struct gi_file_info *info)
{
    uint64_t from;
    struct gi_io_params head = *input->io;
    struct gi_image stored;
    const struct gi_loading loading = {.again = true};
    head.passed.header_only = true;
    band_nbytes(&from);
    if (!is_large_file(input, from) ||
        gi_cli_load_by(&stored, NULL, info, input->item->line.input, &head, &loading, NULL))
        return false;
    input->shape = gi_cli_shape(input->io, &stored);
    return gi_image_nbytes(&stored) >= from && has_rows(info) &&
           is_within(&input->io->limits, &stored, info);
}

/* Decodes the first row, with all metadata and warnings. Sets *parts if rows are decoded without
 * the others. */
static enum gi_status decode_first(struct input *input, bool *parts, struct gi_metadata *metadata,
                                   struct gi_file_info *info, struct gi_err *err)
{
    const struct gi_image *band = &input->band, *shape = &input->shape;
    struct gi_nodata nodata = {0};
    input->wanted = (struct gi_window){0, 0, shape->width, 1};
    enum gi_status status = decode(input, metadata, info, err);
    input->loading.again = true;
    *parts = !status && band->shrunk.by == 1 && band->channels == shape->channels &&
             band->type == shape->type;
    /* Pixels without data are hidden by alpha in memory. */
    if (*parts)
        status = gi_nodata_find(&nodata, input->io->nodata, metadata, info, band, err);
    *parts = *parts && !nodata.given;
    return status;
}

/* Returns whether no step needs the whole image, as far as the steps are planned. */
static bool is_local(const struct gi_pipeline *pipeline, int n)
{
    for (int i = 0; i < n; i++) {
        const struct gi_plan *plan = gi_pipeline_plan(pipeline, i);
        if (plan && plan->dependency == GI_DEPENDENCY_GLOBAL)
            return false;
    }
    return true;
}

/* Runs the chain. The pipeline's rows are made while gi_imaging_save() writes them. */
static enum gi_status run(struct input *input, struct gi_item *item, bool *taken,
                          const struct gi_pipeline *pipeline, struct gi_queue *queue,
                          struct gi_ready *ready, struct gi_metadata *metadata,
                          struct gi_file_info *info, struct gi_err *err)
{
    uint64_t from;
    bool parts;
    struct gi_io_params io = *input->io;
    const struct gi_row_source source = {.self = input, .most = 1, .read = read_rows};
    struct gi_pipeline_rows *rows = NULL;
    const struct gi_image planned = gi_pipeline_result(pipeline);
    if (!is_local(pipeline, ready->chain->n) ||
        !gi_cli_saves_rows(&planned, NULL, item->line.output, &io))
        return GI_OK;
    enum gi_status status = decode_first(input, &parts, metadata, info, err);
    *taken = status != GI_OK;
    if (status || !parts)
        return status;
    status = gi_pipeline_rows_open(&rows, pipeline, queue, &source, band_nbytes(&from),
                                   ready->sides, err);
    if (status)
        return status;
    const struct gi_image result = gi_pipeline_rows_shape(rows);
    const struct gi_row_source made = gi_pipeline_rows_result(rows);
    *taken = gi_cli_saves_rows(&result, metadata, item->line.output, &io);
    for (int i = 0; i < ready->chain->n && *taken && !status; i++)
        status = gi_cli_warn_or_fail(&ready->warnings[i], item->line.input, &io, err);
    if (!status && *taken) {
        struct gi_placement placement = gi_ready_placement(ready);
        status = gi_imaging_adapt(metadata, input->imaging, item, info, &result, &placement, err);
        if (!status)
            status = gi_cli_check_way(item->line.input, item->line.output, &io, info, err);
        io.passed.rows = &made;
    }
    if (!status && *taken)
        status = gi_imaging_save(input->imaging, item, &result, metadata, &io, false, err);
    gi_pipeline_rows_close(&rows);
    return status;
}

/* Prepares and runs the chain on the CPU. */
static enum gi_status run_chain(struct input *input, struct gi_item *item, bool *taken,
                                struct gi_metadata *metadata, struct gi_file_info *info,
                                struct gi_err *err)
{
    const struct gi_imaging_options *options = gi_imaging_options(input->imaging);
    const struct gi_chain *chain = gi_imaging_chain(input->imaging, item);
    const struct gi_open_options open = {.threads = gi_thread_count(options->device->threads)};
    struct gi_ready ready;
    struct gi_pipeline *pipeline = NULL;
    struct gi_queue *queue = NULL;
    int failed;
    enum gi_status status = gi_ready_make(&ready, chain, gi_item_own_name(item), err);
    if (!status)
        status = gi_cli_check_levels(ready.steps, chain->n, &input->shape, info, options->io, err);
    if (!status)
        status = gi_pipeline_new_within(&pipeline, &options->io->limits, ready.steps, chain->n,
                                        &input->shape, &failed, err);
    if (!status)
        status = gi_queue_open_alone(&queue, gi_kernels_cpu(), &open, err);
    if (!status)
        status = run(input, item, taken, pipeline, queue, &ready, metadata, info, err);
    gi_queue_close_alone(&queue);
    gi_pipeline_free(&pipeline);
    gi_ready_free(&ready);
    return status;
}

enum gi_status gi_imaging_rows(struct gi_imaging *imaging, struct gi_item *item, bool *taken,
                               struct gi_err *err)
{
    struct input input = {
        .imaging = imaging,
        .item = item,
        .io = gi_imaging_options(imaging)->io,
        .loading = {.parallel = gi_imaging_parallel(imaging), .listener = &input.listener},
        .listener = {.tell = ignore_shape, .arg = &input, .window = on_window}};
    struct gi_metadata metadata = {0};
    struct gi_file_info info = {0};
    *taken = false;
    if (!may_take(imaging, item) || !look(&input, &info))
        return GI_OK;
    gi_item_note_input(item);
    item->line.shape = input.shape;
    enum gi_status status = run_chain(&input, item, taken, &metadata, &info, err);
    gi_image_free(&input.band);
    gi_metadata_free(&metadata);
    /* Without bands, a step that needs the whole image, or a plan that fails, says so. */
    if (status && !*taken) {
        *err = (struct gi_err){0};
        return GI_OK;
    }
    return status;
}
