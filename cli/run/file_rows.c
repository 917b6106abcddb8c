/* Reads bands of rows of a file. Each band is decoded on its own, as a part of the picture.
 * SPDX-License-Identifier: MIT */
#include "cli/run/file_rows.h"

#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "imgio/nodata.h"

static void ignore_shape(void *arg, const struct gi_image *shape)
{
}

static bool on_window(void *arg, const struct gi_image *picture, struct gi_window *window)
{
    const struct gi_file_rows *rows = arg;
    *window = rows->wanted;
    /* A file that has become smaller is not decoded: gi_file_rows_read() finds another shape. */
    if (window->y + window->height > picture->height || window->width > picture->width)
        *window = (struct gi_window){0, 0, 1, 1};
    return true;
}

void gi_file_rows_open(struct gi_file_rows *rows, const char *path, const struct gi_io_params *io,
                       const struct gi_parallel *parallel)
{
    *rows =
        (struct gi_file_rows){.path = path,
                              .io = io,
                              .loading = {.parallel = parallel, .listener = &rows->listener},
                              .listener = {.tell = ignore_shape, .arg = rows, .window = on_window}};
}

void gi_file_rows_close(struct gi_file_rows *rows)
{
    gi_image_free(&rows->band);
}

static enum gi_status decode(struct gi_file_rows *rows, struct gi_metadata *metadata,
                             struct gi_file_info *info, struct gi_err *err)
{
    gi_image_free(&rows->band);
    return gi_cli_load_by(&rows->band, metadata, info, rows->path, rows->io, &rows->loading, err);
}

/* Returns whether the path still names the file of the first rows, and that file is unchanged. */
static bool is_same_file(const struct gi_file_rows *rows)
{
    const struct stat *was = &rows->file;
    struct stat is;
    return stat(rows->path, &is) == 0 && is.st_dev == was->st_dev && is.st_ino == was->st_ino &&
           is.st_size == was->st_size && is.st_mtim.tv_sec == was->st_mtim.tv_sec &&
           is.st_mtim.tv_nsec == was->st_mtim.tv_nsec;
}

enum gi_status gi_file_rows_read(void *self, struct gi_image *wanted, int top, int bottom,
                                 struct gi_err *err)
{
    struct gi_file_rows *rows = self;
    const struct gi_image *shape = &rows->shape, *band = &rows->band;
    rows->wanted = (struct gi_window){0, top, shape->width, bottom - top};
    enum gi_status status = decode(rows, NULL, NULL, err);
    if (status)
        return status;
    if (!is_same_file(rows) || band->shrunk.by != 1 || band->shrunk.width != shape->width ||
        band->shrunk.height != shape->height || band->width != shape->width ||
        band->height != bottom - top || band->channels != shape->channels ||
        band->type != shape->type)
        return gi_fail(err, GI_E_IO, "%s: the file changed while it was read", rows->path);
    *wanted = gi_image_rows(band, 0, band->height);
    return GI_OK;
}

size_t gi_file_rows_forced_nbytes(void)
{
    const char *text = getenv("GPUIMG_BAND_BYTES");
    return text ? strtoul(text, NULL, 10) : 0;
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
static bool is_large_file(struct gi_file_rows *rows, uint64_t from)
{
    enum { MOST_COMPRESSED = 64 };
    struct stat *st = &rows->file;
    return stat(rows->path, st) == 0 && S_ISREG(st->st_mode) &&
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

bool gi_file_rows_look(struct gi_file_rows *rows, uint64_t memory, struct gi_file_info *info)
{
    uint64_t from = GI_FILE_ROWS_FROM_NBYTES;
    from = gi_file_rows_forced_nbytes() ? 1 : memory / 8 < from ? memory / 8 : from;
    const struct gi_io_params *io = rows->io;
    struct gi_io_params head = *io;
    struct gi_image stored;
    const struct gi_loading loading = {.again = true};
    head.passed.header_only = true;
    if (io->linear || io->allow_partial || io->passed.labels || strcmp(rows->path, "-") == 0 ||
        !is_large_file(rows, from) ||
        gi_cli_load_by(&stored, NULL, info, rows->path, &head, &loading, NULL))
        return false;
    rows->shape = gi_cli_shape(io, &stored);
    return gi_image_nbytes(&stored) >= from && has_rows(info) &&
           is_within(&io->limits, &stored, info);
}

enum gi_status gi_file_rows_first(struct gi_file_rows *rows, bool *parts,
                                  struct gi_metadata *metadata, struct gi_file_info *info,
                                  struct gi_err *err)
{
    const struct gi_image *band = &rows->band, *shape = &rows->shape;
    struct gi_nodata nodata = {0};
    rows->wanted = (struct gi_window){0, 0, shape->width, 1};
    enum gi_status status = decode(rows, metadata, info, err);
    rows->loading.again = true;
    *parts = !status && band->shrunk.by == 1 && band->channels == shape->channels &&
             band->type == shape->type;
    /* Pixels without data are hidden by alpha in memory. */
    if (*parts)
        status = gi_nodata_find(&nodata, rows->io->nodata, metadata, info, band, err);
    *parts = *parts && !nodata.given;
    return status;
}
