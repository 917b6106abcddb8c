/* Goes through the images of a list of files one by one. In a TIFF of several pages each page is an
 * image.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/image_files.h"
#include "cli/paths/input_list.h"
#include "cli/paths/list_stream.h"
#include "cli/run/item.h"
#include "imgio/pages.h"

/* Opens the input at `path` if it may have several images; otherwise *pages becomes NULL. Its
 * content tells, but a file with the suffix of a format that holds one image is not examined. With
 * `joined`, images of PNG, JPEG, WebP and PNM that are one behind the other count too; finding the
 * end of the first one takes 2 % of the time of decoding a JPEG. Without, loading such a file fails
 * with a gi_file_info.images above 1. If `bytes` is not NULL, it has the nbytes bytes of the file,
 * and must outlive *pages. Warns of images that are left out. Errors: as gi_pages_open(). */
enum gi_status gi_cli_open_pages(struct gi_pages **pages, const char *path, const void *bytes,
                                 size_t nbytes, const struct gi_io_params *io, bool joined,
                                 struct gi_err *err);

/* Returns the name of selected page i, such as "scan.tif[3]", which the caller frees. */
char *gi_page_name(const struct gi_pages *pages, int i);
/* Makes the item that of selected page i, with its name. */
void gi_item_take_page(struct gi_item *item, struct gi_pages *pages, int i);

/* What gi_page_cursor_count() found of an input. */
struct gi_page_count {
    struct gi_pages *pages; /* open until its pages are taken; NULL if it has one or is not kept */
    struct gi_err *fault;   /* why it can't be opened; NULL if it can */
    int n;                  /* number of pages; 0: not opened, because it holds one image */
    bool may_have_pages;    /* its name and its beginning allow several */
};

/* A place in the list. */
struct gi_page_cursor {
    const struct gi_list *list;
    const struct gi_io_params *io;
    struct gi_input *const *share; /* the inputs to go through; NULL: all of `list` */
    bool named;                    /* takes all pages only of inputs whose path has brackets */
    /* leaves images that are one behind the other in their file to the work on it, unless the path
     * has brackets */
    bool tells_joined;
    size_t n; /* number of inputs */
    /* If this is not NULL, the inputs are read from here in place of `list`, and `current` is the
     * last one. */
    struct gi_list_stream *stream;
    struct gi_input current;
    size_t next;            /* the next input */
    struct gi_pages *pages; /* the open file whose page `page` is next; NULL: none */
    int page;
    struct gi_page_count *counted; /* per input; NULL if none was counted */
};

/* Fills in the source of the next item and the name of its input, such as "scan.tif[3]". *more
 * becomes false past the last item. A file that can't be opened becomes an item that fails. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_page_cursor_next(struct gi_page_cursor *cursor, struct gi_item *item, bool *more,
                                   struct gi_err *err);
void gi_page_cursor_close(struct gi_page_cursor *cursor);

/* *n becomes the number of images that the cursor will go through; the cursor must be at its
 * beginning. Some files with several pages stay open, so that their pages are listed once. A file
 * that can't be opened counts as one image, and its item fails for that reason. So does the item of
 * a file that later has another number of pages. Errors: GI_E_MEMORY. */
enum gi_status gi_page_cursor_count(size_t *n, struct gi_page_cursor *cursor, struct gi_err *err);
