/* Finds the images that are one behind the other in a file, by the structure of each image and
 * without decoding it. The images may be PNG, JPEG and WebP, PNM and PAM.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/reader.h"

/* The bytes of a file: in memory, or of a reader of a file, from its current position on. */
struct gi_file_bytes {
    const unsigned char *at;
    size_t nbytes;
    const struct gi_reader *reader; /* NULL: in memory */
};

/* Copies up to `nbytes` bytes from the offset `from` on. *got is smaller than nbytes only at the
 * end of the file. Errors: GI_E_IO. */
enum gi_status gi_file_bytes_copy(const struct gi_file_bytes *file, void *to, size_t nbytes,
                                  uint64_t from, size_t *got, struct gi_err *err);

/* Returns whether the bytes, which are behind an image, begin another one after at most 48 bytes of
 * white space. *spaces, which may be NULL, becomes the number of these. */
bool gi_image_follows(const unsigned char *bytes, size_t nbytes, size_t *spaces);

/* Sets *next to the offset of the image that follows, after white space if there is any, the image
 * that begins at offset `at`. Sets it to 0 if none follows, or if the end of the image at `at` is
 * unknown because it is damaged, or if that is a JPEG with an index
 * (gi_image_stream_has_index()), to which the further images belong. Errors: GI_E_IO. */
enum gi_status gi_image_next(uint64_t *next, const struct gi_file_bytes *file, uint64_t at,
                             struct gi_err *err);

/* Returns the number of images that are one behind the other in memory, which is 1 or more. */
int gi_image_count(const unsigned char *bytes, size_t nbytes);

/* Reduces the bytes of a file to those of image number `number`, from 1, with the white space
 * behind it. The last image has all bytes that follow. Errors: GI_E_UNSUPPORTED if there are fewer
 * images. */
enum gi_status gi_image_choose(const unsigned char **bytes, size_t *nbytes, int number,
                               struct gi_err *err);
