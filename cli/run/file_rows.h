/* Rows of an image file that are decoded when they are needed, for images that are larger than
 * memory, if the file has one image that needs no turning. A pipe is first read to its end, into a
 * file if it is large (struct gi_ahead). Any rows of PNM, PFM, .npy and TIFF can
 * be decoded without the others. Rows of PNG, JPEG and compressed TIFF come from top to bottom,
 * from a thread that decodes all of them; if a row above the last ones is read, it begins again.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "cli/args/image_files.h"
#include "imgio/row_stream.h"

/* What the header of a file holds. */
struct gi_file_head {
    struct gi_image stored;      /* shape of the image as it is stored */
    struct gi_metadata metadata; /* until gi_file_rows_first() */
};

struct gi_file_rows {
    const char *path;
    const struct gi_io_params *io;
    struct stat file;        /* of the file before it was first read */
    struct gi_window wanted; /* the part of the image that is being decoded */
    struct gi_image shape;   /* of the image that the options make of the picture; no data */
    struct gi_file_head head;
    struct gi_image band; /* the rows that were decoded last */
    /* With all bytes of an input that is no file. `again` is set once warnings were printed; while
     * there is a stream, its thread sets it. */
    struct gi_loading loading;
    struct gi_shape_listener listener;
    /* Its function `shrink` is that of gi_load_options; set by the caller, or NULL. */
    const struct gi_shape_listener *shrinker;
    bool streams; /* rows come from `stream` */
    /* Rows kept_top to next - 1 of the image as it is stored, of which the last ones came from the
     * stream. */
    struct gi_row_stream *stream;
    struct gi_image kept;
    int kept_top, next;
    struct gi_err fault; /* the first error */
};

/* Prepares the reading of `path`. All arguments must outlive `rows`, which must not be moved, and
 * which gi_file_rows_close() frees. */
void gi_file_rows_open(struct gi_file_rows *rows, const char *path, const struct gi_io_params *io,
                       const struct gi_parallel *parallel);
void gi_file_rows_close(struct gi_file_rows *rows);

/* Smaller images are processed at once, which is as fast and takes little memory. */
enum { GI_FILE_ROWS_FROM_NBYTES = 16 << 20 };

/* Reads the header, and sets rows->shape. Returns whether the image is so large that it is worth
 * reading in bands, which it is too if it has more than an eighth of `memory` bytes, and can be
 * read so. GPUIMG_BAND_BYTES takes images of any size, for tests. */
bool gi_file_rows_look(struct gi_file_rows *rows, uint64_t memory, struct gi_file_info *info);

/* Returns why the rows of a large image, of which gi_file_rows_look() has read the header, can't be
 * read alone, or NULL. */
const char *gi_file_rows_why(const struct gi_file_rows *rows, const struct gi_file_info *info);

/* How rows will be read after the first one. */
enum gi_rows_order {
    GI_ROWS_IN_ANY_ORDER,
    GI_ROWS_FROM_TOP, /* from top to bottom, perhaps several times */
};

/* Decodes the first row, with all metadata, and warnings if rows have no stream. Sets *parts if
 * rows can be read. Only `part` will be needed, or all of the image if it is NULL: damage elsewhere
 * in a TIFF is ignored, and other columns may have any samples. Errors: as gi_cli_load(). */
enum gi_status gi_file_rows_first(struct gi_file_rows *rows, enum gi_rows_order order,
                                  const struct gi_window *part, bool *parts,
                                  struct gi_metadata *metadata, struct gi_file_info *info,
                                  struct gi_err *err);

/* The function of struct gi_row_source, whose `self` is `rows`. Errors: as gi_cli_load(), GI_E_IO
 * if the file has changed. */
enum gi_status gi_file_rows_read(void *rows, struct gi_image *band, int top, int bottom,
                                 struct gi_err *err);

/* To be called when no more rows are read: finds damage in the rest of a stream, and prints
 * warnings. Errors: as gi_cli_load(). */
enum gi_status gi_file_rows_end(struct gi_file_rows *rows, struct gi_err *err);

/* Checks GPUIMG_BAND_BYTES. Errors: GI_E_USAGE. */
enum gi_status gi_file_rows_check(struct gi_err *err);
/* Returns GPUIMG_BAND_BYTES, the number of bytes of a band of rows, or 0. */
size_t gi_file_rows_forced_nbytes(void);
