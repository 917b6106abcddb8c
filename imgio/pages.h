/* Files of several images that are opened once. These are TIFFs, whose images are their pages,
 * animations, whose images are their frames (imgio/frames.h), and files of PNG, JPEG, WebP, PNM and
 * PAM one behind the other. A file of another format has one image.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

struct gi_pages;

/* Opens the file at `path`, and selects the pages that the path names in brackets. Without
 * brackets, all pages that are not smaller versions or masks of others are selected. Messages begin
 * with the path. Errors: GI_E_IO, GI_E_FORMAT, GI_E_UNSUPPORTED (no such page), GI_E_LIMIT,
 * GI_E_MEMORY. A chain of pages that has no end, or leads outside the file, is an error. With
 * options->allow_partial it is only a warning, and each page is selected once. */
enum gi_status gi_pages_open(struct gi_pages **pages, const char *path,
                             const struct gi_load_options *options, struct gi_err *warning,
                             struct gi_err *err);
/* As gi_pages_open(), for a file in memory, which must outlive *pages. Messages begin with `name`.
 * If `joined` is set, the pages of all files are selected that are one behind the other, as in a
 * pipe. */
enum gi_status gi_pages_open_memory(struct gi_pages **pages, const void *bytes, size_t nbytes,
                                    bool joined, const char *name,
                                    const struct gi_load_options *options, struct gi_err *warning,
                                    struct gi_err *err);
/* Returns the same pages for another owner, who must also call gi_pages_close(). */
struct gi_pages *gi_pages_share(struct gi_pages *pages);
/* Sets *pages to NULL, and closes the file if this was the last owner. Does nothing if *pages is
 * NULL. Errors: GI_E_IO if the file was truncated while it was read. */
enum gi_status gi_pages_close(struct gi_pages **pages, struct gi_err *err);

/* Returns whether the bytes begin a file of a format that may hold several images. */
bool gi_pages_starts(const void *bytes, size_t nbytes);

/* Returns whether these bytes begin an animation, or a file of a format that may hold one. */
bool gi_frames_start(const void *bytes, size_t nbytes);

/* Returns the number of selected pages, 1 or more. */
int gi_pages_n(const struct gi_pages *pages);
/* Returns whether the selected pages are all pages of one file. */
bool gi_pages_are_all(const struct gi_pages *pages);
/* Returns the name of the file's format. */
const char *gi_pages_format(const struct gi_pages *pages);
/* Returns whether the images are frames of an animation, of which a decoder reads the first one if
 * it is not told which. */
bool gi_pages_are_frames(const struct gi_pages *pages);
/* Returns whether the images are files of their own, one behind the other. */
bool gi_pages_are_separate(const struct gi_pages *pages);
/* Returns the path of the file, without brackets. */
const char *gi_pages_file(const struct gi_pages *pages);
/* Returns the number that selected page i has in the file, from 0, as in "scan.tif[3]". */
int gi_pages_number(const struct gi_pages *pages, int i);

/* Reads selected page i, from 0, as gi_load() does. Several threads may call this function at once.
 * Messages begin with `name`. */
enum gi_status gi_pages_load(struct gi_image *image, struct gi_metadata *metadata,
                             struct gi_file_info *info, const struct gi_pages *pages, int i,
                             const char *name, const struct gi_load_options *options,
                             struct gi_err *warning, struct gi_err *err);

/* A TIFF of several pages that is being written. It becomes a BigTIFF once it exceeds 4 GB. */
struct gi_page_writer;

/* Makes a writer into the sink, which must outlive the writer. From `big_from` bytes on, the file
 * is a BigTIFF, but a file in a pipe cannot become one. A `big_from` of 0 means 4 GB. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_page_writer_new(struct gi_page_writer **writer, struct gi_sink *sink,
                                  uint64_t big_from, struct gi_err *err);
/* Adds the page in a TIFF that gi_save_memory() has made, and takes ownership of `bytes`, also
 * after an error. Errors: the sink's, and GI_E_UNSUPPORTED for more than 4 GB through a pipe. */
enum gi_status gi_page_writer_add(struct gi_page_writer *writer, void *bytes, size_t nbytes,
                                  struct gi_err *err);
/* Writes what is not written yet. The caller must commit the sink. Errors: the sink's. */
enum gi_status gi_page_writer_end(struct gi_page_writer *writer, struct gi_err *err);
void gi_page_writer_free(struct gi_page_writer **writer);
