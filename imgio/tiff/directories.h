/* The directories that EXIF consists of: the first one, EXIF's own, that of GPS and that of
 * interoperability (Exif 2.32, 4.6). They are read from a TIFF or an EXIF block, and written to
 * either.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/format.h"
#include "imgio/tiff/tags.h"

enum gi_directory {
    GI_DIRECTORY_FIRST,
    GI_DIRECTORY_EXIF,
    GI_DIRECTORY_GPS,
    GI_DIRECTORY_INTEROPERABILITY,
    GI_DIRECTORIES,
};

/* Directories that were read. Entries are sorted by tag, each tag occurs once, and all values are
 * within the bytes. Entries that point to directories are left out. */
struct gi_directories {
    struct gi_tags tags;
    struct {
        struct gi_tag *entries; /* owned here */
        int n;
        /* number of entries that are damaged, or come a second time; a directory that is not where
         * its pointer says counts as one */
        unsigned left_out;
    } list[GI_DIRECTORIES];
};

/* Reads the directories, beginning with that at offset `first`. Takes from it only tags for which
 * `wanted` returns true. Values of 64 bits are left out. The caller frees the directories. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_directories_read(struct gi_directories *d, const struct gi_tags *tags,
                                   uint64_t first, bool (*wanted)(unsigned tag),
                                   struct gi_err *err);
void gi_directories_free(struct gi_directories *d);

/* The form in which directories are written. */
struct gi_directory_form {
    bool big_endian, big;
};

/* Returns the number of bytes, a multiple of 8, of a directory with its values. A directory without
 * entries takes none, except the first. */
size_t gi_directory_nbytes(const struct gi_directories *d, enum gi_directory which,
                           const struct gi_directory_form *form);

/* Writes a directory to `to`, which is at offset `at` of the file, with its values. children[i] is
 * the offset of directory i, or 0 if that is not written; the entries that point to it are added
 * here. */
void gi_directory_put(unsigned char *to, uint64_t at, const struct gi_directories *d,
                      enum gi_directory which, const uint64_t children[GI_DIRECTORIES],
                      const struct gi_directory_form *form);

/* Sets at[i] to the offset of each directory, or to 0 if it has no entries, if the directories from
 * `from` on are written one behind the other, beginning at offset `start`. Returns the offset of
 * their end. */
uint64_t gi_directories_place(uint64_t at[GI_DIRECTORIES], uint64_t start,
                              const struct gi_directories *d, enum gi_directory from,
                              const struct gi_directory_form *form);

/* Makes an EXIF block in the byte order of the source. Sets *nbytes. Returns NULL if memory ran
 * out. */
void *gi_directories_exif(const struct gi_directories *d, size_t *nbytes);
