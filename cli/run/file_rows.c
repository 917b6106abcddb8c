/* Reads bands of rows of a file. Each band is decoded on its own, as a part of the picture, or
 * taken from a stream. SPDX-License-Identifier: MIT */
#include "cli/run/file_rows.h"

#include <string.h>
#include <unistd.h>

#include "cli/environment.h"
#include "cli/text.h"
#include "imgio/format.h"
#include "imgio/nodata.h"
#include "imgio/source.h"

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
    gi_row_stream_close(&rows->stream);
    gi_image_free(&rows->kept);
    gi_image_free(&rows->band);
    gi_metadata_free(&rows->head.metadata);
}

/* Loads from the bytes that are held, or from the file. */
static enum gi_status load(const struct gi_file_rows *rows, struct gi_image *image,
                           struct gi_metadata *metadata, struct gi_file_info *info,
                           const struct gi_io_params *io, struct gi_loading loading,
                           struct gi_err *err)
{
    loading.bytes = rows->loading.bytes;
    loading.nbytes = rows->loading.nbytes;
    enum gi_status status = gi_cli_load_by(image, metadata, info, rows->path, io, &loading, err);
    if (loading.bytes)
        gi_source_forget(loading.bytes, loading.nbytes);
    return status;
}

static enum gi_status load_head(const struct gi_file_rows *rows, struct gi_image *stored,
                                struct gi_metadata *metadata, struct gi_file_info *info,
                                struct gi_err *err)
{
    struct gi_io_params head = *rows->io;
    head.passed.header_only = true;
    return load(rows, stored, metadata, info, &head, (struct gi_loading){.again = true}, err);
}

/* Describes the regular file that is read, from its start. Returns false for other inputs. */
static bool find_file(struct stat *st, const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    return (standard ? fstat(STDIN_FILENO, st) : stat(path, st)) == 0 && S_ISREG(st->st_mode) &&
           (!standard || lseek(STDIN_FILENO, 0, SEEK_CUR) == 0);
}

/* Returns whether the path still names the file of the first rows, and that file is unchanged. */
static bool is_same_file(const struct gi_file_rows *rows)
{
    const struct stat *was = &rows->file;
    struct stat is;
    if (rows->loading.bytes)
        return true;
    return find_file(&is, rows->path) && is.st_dev == was->st_dev && is.st_ino == was->st_ino &&
           is.st_size == was->st_size && is.st_mtim.tv_sec == was->st_mtim.tv_sec &&
           is.st_mtim.tv_nsec == was->st_mtim.tv_nsec;
}

/* Decodes the wanted columns of rows. */
static enum gi_status decode(struct gi_file_rows *rows, int top, int bottom,
                             struct gi_metadata *metadata, struct gi_file_info *info,
                             struct gi_err *err)
{
    gi_image_free(&rows->band);
    rows->wanted.y = top;
    rows->wanted.height = bottom - top;
    return load(rows, &rows->band, metadata, info, rows->io, rows->loading, err);
}

/* Returns whether the band is the part that was wanted. */
static bool has_shape(const struct gi_file_rows *rows)
{
    const struct gi_image *shape = &rows->shape, *band = &rows->band;
    return band->width == rows->wanted.width && band->height == rows->wanted.height &&
           band->channels == shape->channels && band->type == shape->type && band->shrunk.by == 1 &&
           band->shrunk.width == shape->width && band->shrunk.height == shape->height;
}

static enum gi_status fail_changed(const struct gi_file_rows *rows, struct gi_err *err)
{
    const char *name = strcmp(rows->path, "-") == 0 ? "standard input" : rows->path;
    return gi_fail(err, GI_E_IO, "%s: the file changed while it was read", name);
}

/* Copies the band to its columns of rows that are as wide as the image. */
static enum gi_status widen(struct gi_file_rows *rows, struct gi_image *wanted, struct gi_err *err)
{
    const struct gi_image *shape = &rows->shape, *band = &rows->band;
    struct gi_image *kept = &rows->kept;
    enum gi_status status = GI_OK;
    if (!kept->data || kept->height < band->height) {
        gi_image_free(kept);
        status =
            gi_image_alloc(kept, shape->width, band->height, shape->channels, shape->type, err);
    }
    if (status)
        return status;
    *wanted = gi_image_rows(kept, 0, band->height);
    gi_rows_copy(wanted, rows->wanted.x, band);
    return GI_OK;
}

/* Decodes rows as a part of the picture. */
static enum gi_status read_part(struct gi_file_rows *rows, struct gi_image *wanted, int top,
                                int bottom, struct gi_err *err)
{
    enum gi_status status = decode(rows, top, bottom, NULL, NULL, err);
    if (status)
        return status;
    if (!is_same_file(rows) || !has_shape(rows))
        return fail_changed(rows, err);
    *wanted = gi_image_rows(&rows->band, 0, rows->band.height);
    return rows->wanted.width < rows->shape.width ? widen(rows, wanted, err) : GI_OK;
}

/* ---- streams ---- */

/* The work of the thread. */
static enum gi_status decode_rows(void *arg, const struct gi_row_taker *taker, struct gi_err *err)
{
    struct gi_file_rows *rows = arg;
    struct gi_image image;
    const struct gi_loading loading = {
        .again = rows->loading.again, .listener = rows->shrinker, .taker = taker};
    enum gi_status status = load(rows, &image, NULL, NULL, rows->io, loading, err);
    rows->loading.again = rows->loading.again || !status; /* the next pass prints no warnings */
    return status;
}

/* Moves rows from row `top` on to the start of rows->kept, which gets room for `n` rows. */
static enum gi_status keep_from(struct gi_file_rows *rows, int top, int n, struct gi_err *err)
{
    const struct gi_image *stored = &rows->head.stored;
    struct gi_image *kept = &rows->kept, old = *kept;
    int first = top - rows->kept_top, have = rows->next > top ? rows->next - top : 0;
    enum gi_status status = GI_OK;
    if (!old.data || old.height < n)
        status = gi_image_alloc(kept, stored->width, n, stored->channels, stored->type, err);
    if (status) {
        *kept = old;
        return status;
    }
    if (have) {
        const struct gi_image to = gi_image_rows(kept, 0, have);
        const struct gi_image from = gi_image_rows(&old, first, first + have);
        gi_rows_copy(&to, 0, &from);
    }
    if (kept->data != old.data)
        gi_image_free(&old);
    rows->kept_top = top;
    return GI_OK;
}

/* Takes rows from the stream until rows top <= y < bottom are in rows->kept. */
static enum gi_status take_rows(struct gi_file_rows *rows, int top, int bottom, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    if (!rows->stream || top < rows->kept_top) {
        gi_row_stream_close(&rows->stream);
        rows->kept_top = rows->next = 0;
        rows->stream = gi_row_stream_open(decode_rows, rows);
    }
    struct gi_image passed = rows->head.stored;
    passed.height = top - rows->next;
    if (!status && passed.height > 0) {
        status = gi_row_stream_read(rows->stream, &passed, err);
        rows->next = top;
    }
    int end = bottom > rows->next ? bottom : rows->next;
    if (!status)
        status = keep_from(rows, top, end - top, err);
    if (!status && end > rows->next) {
        const struct gi_image more = gi_image_rows(&rows->kept, rows->next - top, end - top);
        status = gi_row_stream_read(rows->stream, &more, err);
        rows->next = end;
    }
    return status;
}

static enum gi_status read_stream(struct gi_file_rows *rows, struct gi_image *wanted, int top,
                                  int bottom, struct gi_err *err)
{
    const struct gi_image *shape = &rows->shape;
    enum gi_status status = take_rows(rows, top, bottom, err);
    if (!is_same_file(rows))
        return fail_changed(rows, err);
    if (status)
        return status;
    *wanted = gi_image_rows(&rows->kept, 0, bottom - top);
    if (shape->channels == rows->head.stored.channels && shape->type == rows->head.stored.type)
        return GI_OK;
    gi_image_free(&rows->band);
    status = gi_image_convert(&rows->band, wanted, wanted->type, err);
    if (!status)
        status = gi_cli_convert(&rows->band, rows->path, rows->io, err);
    if (!status)
        *wanted = gi_image_rows(&rows->band, 0, bottom - top);
    return status;
}

enum gi_status gi_file_rows_read(void *self, struct gi_image *wanted, int top, int bottom,
                                 struct gi_err *err)
{
    struct gi_file_rows *rows = self;
    enum gi_status status = rows->streams ? read_stream(rows, wanted, top, bottom, err)
                                          : read_part(rows, wanted, top, bottom, err);
    if (status && err && !rows->fault.status)
        rows->fault = *err;
    return status;
}

enum gi_status gi_file_rows_end(struct gi_file_rows *rows, struct gi_err *err)
{
    struct gi_image rest = rows->head.stored;
    rest.height = rows->head.stored.height - rows->next;
    if (!rows->streams)
        return GI_OK;
    enum gi_status status = GI_OK;
    if (!rows->stream)
        rows->stream = gi_row_stream_open(decode_rows, rows);
    if (rest.height > 0)
        status = gi_row_stream_read(rows->stream, &rest, err);
    rows->next = rows->head.stored.height;
    if (!status)
        status = gi_row_stream_end(rows->stream, err);
    if (status && err && !rows->fault.status)
        rows->fault = *err;
    return status;
}

enum gi_status gi_file_rows_check(struct gi_err *err)
{
    uint64_t nbytes;
    return gi_environment_bytes("GPUIMG_BAND_BYTES", &nbytes, err);
}

size_t gi_file_rows_forced_nbytes(void)
{
    uint64_t nbytes = 0;
    gi_environment_bytes("GPUIMG_BAND_BYTES", &nbytes, NULL);
    return (size_t)nbytes;
}

static bool is_one_of(const char *names, const struct gi_file_info *info)
{
    return gi_text_is_one_of(names, info->format, strlen(info->format));
}

/* Returns whether a thread can decode the rows one after the other. */
static bool can_stream(const struct gi_file_rows *rows, const struct gi_file_info *info)
{
    const struct gi_io_params *io = rows->io;
    struct gi_selection selection;
    return is_one_of("png jpeg tiff", info) && !strstr(info->detail, "interlaced") &&
           !strstr(info->detail, "CMYK") && !io->bands.list &&
           (info->orientation == 1 || io->encoding.keep_orientation) &&
           gi_path_file(rows->path, &selection) == strlen(rows->path);
}

/* Returns whether rows of such a file can be decoded without the others, without warnings for some
 * rows, and without turning the image. */
static bool has_rows(const struct gi_file_rows *rows, const struct gi_file_info *info)
{
    if (info->images != 1 || info->bands.n || info->integers || info->bits > 32 ||
        strcmp(info->detail, "YCbCr") == 0)
        return false;
    return (is_one_of("tiff pgm ppm pam pfm npy", info) && info->orientation <= 4) ||
           can_stream(rows, info);
}

/* Returns whether the input may hold a large image, and notes the file or the bytes. A pipe is only
 * read if the caller has opened it, because its bytes can be read only once. */
static bool may_be_large(struct gi_file_rows *rows, uint64_t from)
{
    enum { MOST_COMPRESSED = 64 };
    struct gi_ahead *ahead = gi_cli_ahead_of(rows->io, rows->path);
    struct gi_selection selection;
    if (!ahead)
        return find_file(&rows->file, rows->path) &&
               (uint64_t)rows->file.st_size >= from / MOST_COMPRESSED;
    return gi_path_file(rows->path, &selection) == strlen(rows->path) &&
           !gi_ahead_complete(ahead, &rows->loading.bytes, &rows->loading.nbytes, &rows->io->limits,
                              gi_format_way, NULL) &&
           rows->loading.nbytes >= from / MOST_COMPRESSED;
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

/* Returns the number of bytes from which on images are worth reading in bands. Smaller PNGs, and
 * JPEGs that several threads can decode, are decoded faster at once. */
static uint64_t least_nbytes(const struct gi_file_info *info, uint64_t memory)
{
    enum { CODED_FROM_NBYTES = 256 << 20 };
    bool faster = is_one_of("png", info) || (is_one_of("jpeg", info) && info->rows_apart);
    uint64_t from = faster ? CODED_FROM_NBYTES : GI_FILE_ROWS_FROM_NBYTES;
    return gi_file_rows_forced_nbytes() ? 1 : memory / 8 < from ? memory / 8 : from;
}

bool gi_file_rows_look(struct gi_file_rows *rows, uint64_t memory, struct gi_file_info *info)
{
    const struct gi_io_params *io = rows->io;
    const struct gi_file_info raw = {.format = "ppm"};
    struct gi_image *stored = &rows->head.stored;
    if (io->passed.labels || !may_be_large(rows, least_nbytes(&raw, memory)) ||
        load_head(rows, stored, &rows->head.metadata, info, NULL))
        return false;
    bool fits = is_within(&io->limits, stored, info);
    if (rows->shrinker && is_one_of("jpeg", info))
        gi_image_shrink(stored, rows->shrinker->shrink(rows->shrinker->arg, stored));
    rows->shape = gi_cli_shape(io, stored);
    return fits && gi_image_nbytes(stored) >= least_nbytes(info, memory) &&
           !gi_file_rows_why(rows, info);
}

const char *gi_file_rows_why(const struct gi_file_rows *rows, const struct gi_file_info *info)
{
    if (!rows->shape.width)
        return NULL;
    const struct gi_image *stored = &rows->head.stored;
    if (stored->type == GI_F32 && gi_cli_shape(rows->io, stored).type != GI_F32)
        return "--work-depth tells how many of its samples are cut off";
    if (info->premultiplied)
        return "colours above their premultiplied alpha are looked for";
    if (rows->io->strict && is_one_of("png", info))
        return "--strict looks for surplus data";
    return rows->io->linear          ? "--linear decodes it at once"
           : rows->io->allow_partial ? "--allow-partial decodes it at once"
           : has_rows(rows, info)    ? NULL
           : info->images > 1        ? "its file has several images"
           : info->orientation > 1   ? "it is turned"
                                     : "its file can't be decoded row by row";
}

/* Reads the metadata and the first row of a stream. */
static enum gi_status first_of_stream(struct gi_file_rows *rows, struct gi_image *row, bool *parts,
                                      struct gi_metadata *metadata, struct gi_file_info *info,
                                      struct gi_err *err)
{
    *metadata = rows->head.metadata;
    rows->head.metadata = (struct gi_metadata){0};
    enum gi_status status = gi_file_rows_read(rows, row, 0, 1, err);
    *parts = !status;
    if (status == GI_E_UNSUPPORTED && err)
        *err = (struct gi_err){0};
    return status == GI_E_UNSUPPORTED ? GI_OK : status;
}

/* Decodes the first wanted row as a part of the picture, with the metadata. */
static enum gi_status first_part(struct gi_file_rows *rows, struct gi_image *row, bool *parts,
                                 struct gi_metadata *metadata, struct gi_file_info *info,
                                 struct gi_err *err)
{
    int y = rows->wanted.y;
    enum gi_status status = decode(rows, y, y + 1, metadata, info, err);
    rows->loading.again = true;
    *parts = !status && has_shape(rows);
    if (!status)
        *row = gi_image_rows(&rows->band, 0, rows->band.height);
    return status;
}

enum gi_status gi_file_rows_first(struct gi_file_rows *rows, enum gi_rows_order order,
                                  const struct gi_window *part, bool *parts,
                                  struct gi_metadata *metadata, struct gi_file_info *info,
                                  struct gi_err *err)
{
    const struct gi_image *shape = &rows->shape;
    struct gi_nodata nodata = {0};
    struct gi_image row = {0};
    enum gi_status status = GI_OK;
    *parts = false;
    rows->wanted = part ? *part : (struct gi_window){0, 0, shape->width, shape->height};
    bool all = rows->wanted.width == shape->width && rows->wanted.height == shape->height;
    rows->streams = order == GI_ROWS_FROM_TOP && can_stream(rows, info) &&
                    !(is_one_of("tiff", info) && (!all || info->rows_apart));
    if (rows->streams)
        status = first_of_stream(rows, &row, parts, metadata, info, err);
    else if (!is_one_of("png jpeg", info))
        status = first_part(rows, &row, parts, metadata, info, err);
    /* Pixels without data are hidden by alpha in memory. */
    if (!status && *parts)
        status = gi_nodata_find(&nodata, rows->io->nodata, metadata, info, &row, err);
    *parts = *parts && !nodata.given;
    if (!*parts)
        gi_row_stream_close(&rows->stream);
    return status;
}
