/* The images of gpuimg duplicates, with their hashes.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/image_files.h"

struct gi_pool;

/* Images in the order of the inputs. */
struct gi_hashed {
    struct gi_hashed_image {
        char *tar, *file; /* owned; `tar` is NULL for files */
    } * images;
    uint64_t *hashes; /* `words` of each image, the highest one first */
    int words;        /* 1 or GI_HASH_WORDS; 0 without images */
    size_t n, room;
};

/* Returns the hash of image i. */
static inline const uint64_t *gi_hashed_at(const struct gi_hashed *hashed, size_t i)
{
    return hashed->hashes + i * (size_t)hashed->words;
}

/* Adds an image with the hash of 16 or 64 hexadecimal digits at `text`, of `nbytes` bytes, as many
 * as those of the images before. Errors: GI_E_FORMAT for another text, which the message gives with
 * `place`; GI_E_MEMORY. */
enum gi_status gi_hashed_add(struct gi_hashed *hashed, const char *tar, const char *file,
                             const char *text, size_t nbytes, const char *place,
                             struct gi_err *err);
void gi_hashed_free(struct gi_hashed *hashed);

/* Returns whether the path is that of a table: .csv, .jsonl or - (CSV). */
bool gi_hashed_is_table(const char *path);
/* Adds the images of a table that gpuimg hash --table wrote. Errors: GI_E_FORMAT, GI_E_IO. */
enum gi_status gi_hashed_read(struct gi_hashed *hashed, const char *path, struct gi_err *err);

/* What the page of --html shows. `order` has the `n` members of groups, group by group, as indexes
 * of images; first[i] is the first image of the group of image i. */
struct gi_duplicates_page {
    const char *path;
    const struct gi_hashed *hashed;
    const uint32_t *first, *order;
    size_t n;
    int thumbnails; /* maximum number of pictures on the page */
    const struct gi_io_params *io;
    struct gi_pool *pool;
};

/* Writes the page, whole or not at all. It is not written if a signal has asked for the end. Images
 * of tars, and those that can't be read, have no picture. Errors: GI_E_IO, GI_E_PIPE,
 * GI_E_MEMORY. */
enum gi_status gi_duplicates_write_page(const struct gi_duplicates_page *page, struct gi_err *err);
