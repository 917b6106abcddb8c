/* Reads and writes images with the options of the command line.
 * SPDX-License-Identifier: MIT */
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/log.h"
#include "cli/paths/output.h"
#include "cli/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filters/color/gray.h"
#include "imgio/ahead.h"
#include "imgio/metadata/icc_convert.h"
#include "imgio/metadata/resolution.h"
#include "imgio/pages.h"
#include "imgio/reader.h"
#include "kernels/parallel.h"

/* The sample type for each enum gi_depth, to which a loaded image is at least converted. For
 * GI_DEPTH_SAME it is GI_U8, so that no image is converted. */
static const enum gi_type depth_types[] = {GI_U8, GI_U8, GI_U16, GI_F32, GI_U8};
static const int depth_bits[] = {0, 8, 16, 32, 1};

struct gi_image gi_cli_shape(const struct gi_io_params *io, const struct gi_image *stored)
{
    struct gi_image shape = *stored;
    if (io->work_depth != GI_DEPTH_SAME)
        shape.type = depth_types[io->work_depth];
    else if (depth_types[io->depth] > stored->type)
        shape.type = depth_types[io->depth];
    if (io->linear)
        shape.type = GI_F32;
    if (io->gray && gi_color_channels(stored) == 3)
        shape.channels -= 2;
    return shape;
}

/* Checks that --max-bytes allows an image of that shape with samples of `type`. */
static enum gi_status check_converted(const struct gi_image *shape, enum gi_type type,
                                      const struct gi_io_params *io, struct gi_err *err)
{
    const struct gi_limits limits = {.max_bytes = io->limits.max_bytes};
    struct gi_image made = *shape;
    made.type = type;
    return gi_limits_check(&limits, &made, err);
}

/* Applies --work-depth and --gray. */
enum gi_status gi_cli_convert(struct gi_image *image, const char *path,
                              const struct gi_io_params *io, struct gi_err *err)
{
    struct gi_image want = gi_cli_shape(io, image), made;
    struct gi_err cuts = {0};
    int cut = image->type == GI_F32 && want.type != GI_F32 ? gi_image_outside(image) : 0;
    if (cut)
        gi_fail(&cuts, GI_E_UNSUPPORTED,
                "--work-depth %s: samples outside 0 to 1 are cut off: %d %%",
                gi_depth_choices[io->work_depth].name, cut);
    enum gi_status status =
        gi_cli_warn_or_fail(&cuts, path, io, err) ? gi_err_prefix(err, "%s", path) : GI_OK;
    if (!status && gi_image_nbytes(&want) > gi_image_nbytes(image))
        status = check_converted(&want, want.type, io, err);
    if (status)
        gi_image_free(image);
    if (!status && image->type != want.type) {
        status = gi_image_convert(&made, image, want.type, err);
        gi_image_free(image);
        *image = made;
    }
    if (!status && image->channels != want.channels) {
        status = gi_image_gray(&made, image, gi_gray_weights[io->gray], err);
        gi_image_free(image);
        *image = made;
    }
    image->shrunk = want.shrunk;
    image->mask = want.mask;
    return status;
}

static enum gi_status read_background(struct gi_color *color, const char *text, struct gi_err *err)
{
    if (!gi_color_read(color, text) || !color->named || color->v[3] != 1)
        return gi_fail(err, GI_E_USAGE,
                       "--background %s: want a name such as white, #rgb or #rrggbb", text);
    return GI_OK;
}

struct gi_ahead *gi_cli_ahead_of(const struct gi_io_params *io, const char *path)
{
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    bool same = io->passed.ahead && io->passed.ahead->reader &&
                strcmp(gi_reader_name(io->passed.ahead->reader), name) == 0;
    return same ? io->passed.ahead : NULL;
}

/* Reads --bands. */
static enum gi_status read_bands(struct gi_band_choice *choice, const char *text,
                                 struct gi_err *err)
{
    *choice = (struct gi_band_choice){0};
    return !text || gi_band_choice_read(choice, text, text + strlen(text))
               ? GI_OK
               : gi_fail(err, GI_E_USAGE,
                         "--bands %s: want numbers from 1, such as 1, 3,2,1 or 1-6, or 1,2,3,a4 "
                         "with alpha at the end",
                         text);
}

enum gi_status gi_cli_settle_bands(struct gi_io_params *io, struct gi_err *err)
{
    struct gi_band_choice choice;
    if (io->bands.rgb && io->bands.list)
        return gi_fail(err, GI_E_USAGE, "--rgb and --bands %s: want one of them", io->bands.list);
    if (io->bands.rgb)
        io->bands.list = "1,2,3";
    return read_bands(&choice, io->bands.list, err);
}

/* Returns whether the options leave the samples of a JPEG in colour as they are. */
static bool keeps_samples(const struct gi_io_params *io)
{
    const struct gi_image rgb = {.width = 1, .height = 1, .channels = 3, .type = GI_U8};
    const struct gi_image converted = gi_cli_shape(io, &rgb);
    return converted.type == rgb.type && converted.channels == rgb.channels;
}

enum gi_status gi_cli_load_by(struct gi_image *image, struct gi_metadata *metadata,
                              struct gi_file_info *info, const char *path,
                              const struct gi_io_params *io, const struct gi_loading *loading,
                              struct gi_err *err)
{
    struct gi_load_options options = {
        .limits = io->limits,
        .allow_partial = io->allow_partial,
        .listener = loading->listener,
        .parallel = loading->parallel,
        .allocator = loading->allocator,
        .header_only = io->passed.header_only,
        .labels = io->passed.labels,
        .together = loading->together,
        .bands = loading->bands && (!io->gray || io->passed.header_only),
        .exact = io->strict,
        .channels_first = io->encoding.layout != 0,
        .keep_orientation = io->encoding.keep_orientation,
        .ahead = gi_cli_ahead_of(io, path),
        .linear = io->linear,
        .hide_nodata = loading->hide_nodata || io->passed.hide_nodata,
        .nodata = io->nodata,
        .find_nodata = loading->find_nodata,
        .light_bits = io->depth == GI_DEPTH_1 ? 8 : depth_bits[io->depth],
        .coded = keeps_samples(io) ? loading->coded : GI_CODED_NONE,
        .taker = loading->taker,
    };
    struct gi_err warning = {0};
    info = info ? info : &(struct gi_file_info){0};
    enum gi_status status = read_bands(&options.choose, io->bands.list, err);
    if (status)
        return status;
    if (!loading->bytes && strcmp(path, "-") == 0 && isatty(STDIN_FILENO))
        return gi_fail(err, GI_E_USAGE, "-: standard input is a terminal, want an image");
    if (io->linear && io->work_depth != GI_DEPTH_SAME && io->work_depth != GI_DEPTH_FLOAT)
        return gi_fail(err, GI_E_USAGE, "--work-depth %s: with --linear samples are float",
                       gi_depth_choices[io->work_depth].name);
    if (loading->pages)
        status = gi_pages_load(image, metadata, info, loading->pages, loading->page, path, &options,
                               &warning, err);
    else if (loading->bytes)
        status = gi_load_memory(image, metadata, info, loading->bytes, loading->nbytes,
                                strcmp(path, "-") == 0 ? "standard input" : path, &options,
                                &warning, err);
    else
        status = gi_load(image, metadata, info, path, &options, &warning, err);
    /* The number of an image can't be behind "-". */
    if (status == GI_E_UNSUPPORTED && info->images > 1 && strcmp(path, "-") == 0)
        gi_fail(err, status, "standard input: holds %d images, and one is wanted", info->images);
    if (status)
        return status;
    if (info->axes && !loading->again && !io->passed.header_only)
        gi_cli_tell("%s: array with %s: %d x %d pixels of %d channels", path, info->axes,
                    image->width, image->height, image->channels);
    if (*warning.text && !image->coded && !loading->again)
        gi_cli_warn("%s", warning.text);
    if (!io->passed.header_only && !loading->taker)
        status = gi_cli_convert(image, path, io, err);
    if (status && metadata)
        gi_metadata_free(metadata);
    if (!status && metadata && io->gray)
        gi_metadata_fit(metadata, gi_color_channels(image));
    if (!status && metadata)
        gi_metadata_strip(metadata, (enum gi_strip)io->encoding.strip);
    return status;
}

enum gi_status gi_cli_load(struct gi_image *image, struct gi_metadata *metadata,
                           struct gi_file_info *info, const char *path,
                           const struct gi_io_params *io, int threads,
                           const struct gi_shape_listener *listener, struct gi_err *err)
{
    struct gi_pool *pool;
    enum gi_status status = gi_pool_new(&pool, gi_thread_count(threads), err);
    if (status)
        return status;
    struct gi_parallel parallel = gi_pool_lend(pool);
    struct gi_loading loading = {.parallel = gi_pool_threads(pool) > 1 ? &parallel : NULL,
                                 .bands = info != NULL,
                                 .listener = listener};
    status = gi_cli_load_by(image, metadata, info, path, io, &loading, err);
    gi_pool_free(&pool);
    return status;
}

unsigned gi_cli_maxval(const struct gi_image *image, const struct gi_file_info *info,
                       const struct gi_io_params *io)
{
    enum gi_type stored = info->maxval > 255 ? GI_U16 : GI_U8;
    return info->maxval && image->type == stored && !io->linear
               ? info->maxval
               : (unsigned)gi_type_full_scale(image->type);
}

static bool is_stdout(const char *path)
{
    return strcmp(gi_output_file(path), "-") == 0;
}

/* Checks that the output can be compressed by Group 4. */
static enum gi_status check_g4(const char *path, const struct gi_io_params *io, struct gi_err *err)
{
    const char *format = gi_save_format(path, io->format);
    if (io->depth != GI_DEPTH_SAME && io->depth != GI_DEPTH_1)
        return gi_fail(err, GI_E_USAGE,
                       "--compression g4: is for one bit per pixel, want no --depth %s",
                       gi_depth_choices[io->depth].name);
    return format && strcmp(format, "tiff") == 0
               ? GI_OK
               : gi_fail(err, GI_E_USAGE, "--compression g4: is for TIFF, and %s is none", path);
}

/* Checks that the output has a quality, if its format is known. */
static enum gi_status check_size(const char *path, const struct gi_io_params *io,
                                 struct gi_err *err)
{
    const struct gi_quality_target *target = &io->encoding.target;
    const struct {
        bool given;
        const char *name;
    } options[] = {{io->encoding.max_file_size != 0, "max-file-size"},
                   {target->ssimulacra2 > 0, "target-ssimulacra2"},
                   {target->ssim > 0, "target-ssim"}};
    const char *option = NULL, *name = gi_save_format(path, io->format);
    const struct gi_format_info *format = NULL;
    for (int i = 0; i < 3; i++) {
        if (options[i].given && option)
            return gi_fail(err, GI_E_USAGE, "--%s and --%s: want one of them", option,
                           options[i].name);
        option = options[i].given ? options[i].name : option;
    }
    if (!option)
        return GI_OK;
    for (int i = 0; name && (format = gi_format_at(i)) && strcmp(format->name, name) != 0;)
        i++;
    return !format || format->quality || is_stdout(path)
               ? GI_OK
               : gi_fail(err, GI_E_USAGE, "--%s: is for formats with a --quality, not for %s",
                         option, name);
}

/* Checks that the output is a JPEG if an option for JPEGs was given and the format is known. */
static enum gi_status check_jpeg(const char *path, const struct gi_io_params *io,
                                 struct gi_err *err)
{
    const struct gi_save_jpeg *jpeg = &io->encoding.jpeg;
    const char *option = jpeg->progressive   ? "progressive"
                         : jpeg->optimize    ? "optimize"
                         : jpeg->subsampling ? "subsampling"
                                             : NULL;
    const char *name = option ? gi_save_format(path, io->format) : NULL;
    if (jpeg->progressive == GI_JPEG_YES && jpeg->optimize == GI_JPEG_NO)
        return gi_fail(err, GI_E_USAGE,
                       "--optimize no: a progressive JPEG has computed Huffman tables: want no "
                       "--progressive");
    return !name || strcmp(name, "jpeg") == 0
               ? GI_OK
               : gi_fail(err, GI_E_USAGE, "--%s: is for JPEG, not for %s", option, name);
}

enum gi_status gi_cli_check_save(const char *path, const struct gi_io_params *io,
                                 struct gi_err *err)
{
    struct gi_color color;
    enum gi_status status = io->passed.orientation > 1
                                ? gi_save_check_orientation(path, io->format, err)
                                : gi_save_check(path, io->format, err);
    if (!status && io->background)
        status = read_background(&color, io->background, err);
    if (!status && io->encoding.compression == GI_COMPRESSION_G4)
        status = check_g4(path, io, err);
    if (!status)
        status = check_size(path, io, err);
    if (!status)
        status = check_jpeg(path, io, err);
    if (!status)
        status = gi_color_check_profiles(&io->encoding.color, err);
    if (status)
        return status;
    if (is_stdout(path))
        return isatty(STDOUT_FILENO)
                   ? gi_fail(err, GI_E_USAGE,
                             "%s: standard output is a terminal, want a file or a pipe", path)
                   : GI_OK;
    struct stat st;
    if (!gi_output_has_folder(path))
        return gi_path_fail(gi_output_file(path), gi_output_file(path), errno, err);
    if (stat(gi_output_file(path), &st) != 0)
        return GI_OK;
    if (S_ISDIR(st.st_mode))
        return gi_fail(err, GI_E_IO, "%s: is a folder, want a file", path);
    if (io->no_clobber)
        return gi_fail(err, GI_E_IO, "%s: exists, and --no-clobber was given", path);
    return GI_OK;
}

struct gi_save_options gi_cli_save_options(const struct gi_io_params *io)
{
    return (struct gi_save_options){
        .format = io->format,
        .bits = depth_bits[io->depth],
        .quality = io->encoding.quality,
        .max_nbytes = io->encoding.max_file_size,
        .jpeg = io->encoding.jpeg,
        .color = io->encoding.color,
        .palette = io->encoding.palette,
        .compression = io->encoding.compression,
        .channels_first = io->encoding.layout != 0,
        .no_clobber = io->no_clobber,
        .durable = io->durable,
        .strict = io->strict,
        .bundle = io->passed.bundle,
        .orientation = io->passed.orientation,
        .tile = io->passed.tile,
        .encoded = io->passed.encoded,
        .rows = io->passed.rows,
    };
}

enum gi_status gi_cli_warn_or_fail(const struct gi_err *warning, const char *name,
                                   const struct gi_io_params *io, struct gi_err *err)
{
    if (warning->status && io->strict)
        return gi_fail(err, warning->status, "--strict: %s", warning->text);
    if (*warning->text && name)
        gi_cli_warn_of(name, warning->text);
    else if (*warning->text)
        gi_cli_warn("%s", warning->text);
    return GI_OK;
}

/* Reads --background for this image. */
static enum gi_status background_for(struct gi_color *color, const struct gi_image *image,
                                     const char *path, const struct gi_io_params *io,
                                     struct gi_err *err)
{
    struct gi_err warning = {0};
    enum gi_status status = read_background(color, io->background, err);
    if (!status && gi_has_alpha(image) && !io->gray)
        status = gi_color_check(&warning, color, "background", image, err);
    const char *name = is_stdout(path) ? "standard output" : gi_output_file(path);
    if (io->passed.again)
        warning = (struct gi_err){0};
    return status ? status : gi_cli_warn_or_fail(&warning, name, io, err);
}

/* Returns the status of a file that was written. Its folder existed before the work began. If it is
 * gone now, the machine failed. */
static enum gi_status blame_folder(enum gi_status status, const char *path,
                                   const struct gi_io_params *io, struct gi_err *err)
{
    if (status == GI_E_IO && !gi_bundle_holds(io->passed.bundle, path) &&
        !gi_output_has_folder(path))
        status = err->status = GI_E_AGAIN;
    return status;
}

enum gi_status gi_cli_save_by(const struct gi_image *image, const struct gi_metadata *metadata,
                              const char *path, const struct gi_io_params *io,
                              const struct gi_parallel *parallel, void **bytes, size_t *nbytes,
                              struct gi_err *err)
{
    struct gi_color background;
    enum gi_status status =
        io->background ? background_for(&background, image, path, io, err) : GI_OK;
    if (!status && depth_types[io->depth] > image->type)
        status = check_converted(image, depth_types[io->depth], io, err);
    if (status)
        return status;
    struct gi_save_options options = gi_cli_save_options(io);
    options.background = io->background ? background.v : NULL;
    options.parallel = parallel;
    struct gi_quality_judge judge;
    gi_quality_judge_begin(&judge, &io->encoding.target, io->passed.device,
                           parallel ? parallel->threads : 1);
    if (gi_quality_target_is_set(&io->encoding.target))
        options.judge = &judge.judge;
    struct gi_err warning = {0};
    struct gi_metadata own = metadata ? *metadata : (struct gi_metadata){0};
    if (io->encoding.dpi > 0)
        gi_metadata_set_resolution(&own, io->encoding.dpi);
    options.joined = bytes != NULL;
    if (io->encoding.timing.delay_ms >= 0) /* replaces those of the input */
        own.timing.given = false;
    status = bytes ? gi_save_memory(bytes, nbytes, image, &own, path, &options, &warning, err)
                   : gi_save(image, &own, path, &options, &warning, err);
    gi_quality_judge_end(&judge);
    if (!status && *warning.text && !io->passed.again)
        gi_cli_warn("%s", warning.text);
    return bytes ? status : blame_folder(status, path, io, err);
}

enum gi_status gi_cli_save_bytes(const void *bytes, size_t nbytes, const char *path,
                                 const struct gi_io_params *io, struct gi_err *err)
{
    const struct gi_save_options options = gi_cli_save_options(io);
    struct gi_err warning = {0};
    enum gi_status status = gi_save_bytes(bytes, nbytes, path, &options, &warning, err);
    if (!status && *warning.text)
        gi_cli_warn("%s", warning.text);
    return blame_folder(status, path, io, err);
}

enum gi_status gi_cli_save(const struct gi_image *image, const struct gi_metadata *metadata,
                           const char *path, const struct gi_io_params *io, int threads,
                           struct gi_err *err)
{
    struct gi_pool *pool;
    enum gi_status status = gi_pool_new(&pool, threads, err);
    if (status)
        return status;
    struct gi_parallel parallel = gi_pool_lend(pool);
    status = gi_cli_save_by(image, metadata, path, io, &parallel, NULL, NULL, err);
    gi_pool_free(&pool);
    return status;
}
