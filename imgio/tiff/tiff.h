/* TIFF: read through libtiff, if the build found a recent one; written by our own code.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_TIFF_H
#define GI_IMGIO_TIFF_H

#include "imgio/codecs.h"

#if __has_include(<tiffio.h>)
#include <tiffio.h>
#if TIFFLIB_VERSION >= 20221213 /* 4.5, the first one with errors and limits per file */
#define GI_HAVE_TIFF 1
#endif
#endif
#ifndef GI_HAVE_TIFF
#define GI_HAVE_TIFF 0
#endif

enum { GI_TIFF_MEMORY_MAX = 256 << 20 }; /* maximum bytes that libtiff may allocate at once */

/* A walk along the chain of directories, one per page, of a file that starts as a TIFF (pages.c).
 * After gi_tiff_walk() has returned true the directory is at `at`, and `own` tells whether it is a
 * page of its own, not a smaller version or a mask of another page. At the end `circle` tells
 * whether the chain has a cycle; some pages then came twice. */
struct gi_tiff_walk {
    const unsigned char *bytes;
    uint64_t nbytes, at, next, mark;
    uint64_t entries;   /* of the directory, all within the file; 0: it is damaged */
    int number, marked; /* of the page, from 0 */
    bool big_endian, big, own, circle;
};
void gi_tiff_walk_start(struct gi_tiff_walk *walk, const unsigned char *bytes, size_t nbytes);
bool gi_tiff_walk(struct gi_tiff_walk *walk);
/* Reads a number of `n` bytes at `at`, which must be within the file. */
uint64_t gi_tiff_number(const struct gi_tiff_walk *walk, uint64_t at, unsigned n);

/* What was found on a walk. */
struct gi_tiff_pages {
    int n, own;      /* number of directories, and of pages of their own; all if there are none */
    bool circle;     /* the chain has a cycle, of which each directory is counted once */
    uint64_t offset; /* of the wanted directory; 0: there is none */
};

/* Finds the directory of `page`, from 0; -1: the first page of its own. */
void gi_tiff_find_page(struct gi_tiff_pages *found, const unsigned char *bytes, size_t nbytes,
                       int page);
/* Returns the number of images of a stack by ImageJ with one directory; 1 if it is not one. *nbytes
 * becomes the distance of their samples in the file (imagej.c). */
int gi_tiff_stack(uint64_t *nbytes, const unsigned char *bytes, size_t size);
/* Returns the number of bytes from the beginning to the last byte that a page uses (extent.c). */
uint64_t gi_tiff_end(const unsigned char *bytes, size_t nbytes);
/* As gi_format.list. */
enum gi_status gi_tiff_list_pages(struct gi_image_list *list, const unsigned char *bytes,
                                  size_t nbytes, struct gi_err *err);

/* Texts with a tag of their own, and their keywords in PNG; ends with tag 0. */
struct gi_tiff_text {
    uint16_t tag;
    const char *keyword;
};
extern const struct gi_tiff_text gi_tiff_texts[];

/* Divides colour by alpha, which makes associated (premultiplied) alpha straight (unmultiply.c).
 * The last channel is alpha. */
void gi_tiff_unmultiply(struct gi_image *image);

/* Writes a TIFF, like gi_format.encode, without libtiff (tiff_write.c): deflated with a predictor,
 * in strips, or in tiles of a BigTIFF if the samples exceed 4 GB. */
enum gi_status gi_tiff_encode(struct gi_sink *sink, const struct gi_image *image,
                              const struct gi_metadata *metadata,
                              const struct gi_save_options *options, struct gi_err *err);

/* Writes a BigTIFF of tiles or strips, whatever the image's size. */
enum gi_status gi_tiff_encode_tiles(struct gi_sink *sink, const struct gi_image *image,
                                    const struct gi_metadata *metadata,
                                    const struct gi_save_options *options, bool tiles,
                                    struct gi_err *err);

#endif
