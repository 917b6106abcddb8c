/* Rows of an image file that are decoded when they are needed, for images that are larger than
 * memory: TIFF, PNM, PFM and .npy, if they have one image that needs no turning.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "cli/args/image_files.h"

struct gi_file_rows {
    const char *path;
    const struct gi_io_params *io;
    struct stat file;        /* of the file before it was first read */
    struct gi_window wanted; /* the rows that are being decoded */
    struct gi_image shape;   /* of the image that the options make of the picture; no data */
    struct gi_image band;    /* the rows that were decoded last */
    struct gi_loading loading;
    struct gi_shape_listener listener;
};

/* Prepares the reading of `path`. All arguments must outlive `rows`, which must not be moved, and
 * which gi_file_rows_close() frees. */
void gi_file_rows_open(struct gi_file_rows *rows, const char *path, const struct gi_io_params *io,
                       const struct gi_parallel *parallel);
void gi_file_rows_close(struct gi_file_rows *rows);

/* Smaller images are processed at once, which is as fast and takes little memory. */
enum { GI_FILE_ROWS_FROM_NBYTES = 32 << 20 };

/* Reads the header, and sets rows->shape. Returns whether the image is so large that it is worth
 * reading in bands, which it is too if it has more than an eighth of `memory` bytes, and can be
 * read so. GPUIMG_BAND_BYTES takes images of any size, for tests. */
bool gi_file_rows_look(struct gi_file_rows *rows, uint64_t memory, struct gi_file_info *info);

/* Decodes the first row, with all metadata and warnings. Sets *parts if rows are decoded without
 * the others. Errors: as gi_cli_load(). */
enum gi_status gi_file_rows_first(struct gi_file_rows *rows, bool *parts,
                                  struct gi_metadata *metadata, struct gi_file_info *info,
                                  struct gi_err *err);

/* The function of struct gi_row_source, whose `self` is `rows`. Errors: as gi_cli_load(), GI_E_IO
 * if the file has changed. */
enum gi_status gi_file_rows_read(void *rows, struct gi_image *band, int top, int bottom,
                                 struct gi_err *err);

/* Returns GPUIMG_BAND_BYTES, the number of bytes of a band of rows, or 0. */
size_t gi_file_rows_forced_nbytes(void);
