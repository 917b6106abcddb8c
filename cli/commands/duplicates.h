/* The images of gpuimg duplicates, with their hashes.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* Images in the order of the inputs. */
struct gi_hashed {
    struct gi_hashed_image {
        char *tar, *file; /* owned; `tar` is NULL for files */
    } * images;
    uint64_t *hashes;
    size_t n, room;
};

/* Adds an image with the hash of 16 hexadecimal digits at `text`, of `nbytes` bytes. Errors:
 * GI_E_FORMAT for another text, which the message gives with `place`; GI_E_MEMORY. */
enum gi_status gi_hashed_add(struct gi_hashed *hashed, const char *tar, const char *file,
                             const char *text, size_t nbytes, const char *place,
                             struct gi_err *err);
void gi_hashed_free(struct gi_hashed *hashed);

/* Returns whether the path is that of a table: .csv, .jsonl or - (CSV). */
bool gi_hashed_is_table(const char *path);
/* Adds the images of a table that gpuimg hash --table wrote. Errors: GI_E_FORMAT, GI_E_IO. */
enum gi_status gi_hashed_read(struct gi_hashed *hashed, const char *path, struct gi_err *err);
