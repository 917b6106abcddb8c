/* TIFF, which is read through libtiff, if the build found a recent version, and is written by our
 * own code.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/codecs.h"
#include "imgio/tiff/tags.h"

#if __has_include(<tiffio.h>)
#include <tiffio.h>
#if TIFFLIB_VERSION >= 20221213 /* 4.5, the first version with errors and limits per file */
#define GI_HAVE_TIFF 1
#endif
#endif
#ifndef GI_HAVE_TIFF
#define GI_HAVE_TIFF 0
#endif

enum { GI_TIFF_MEMORY_MAX = 256 << 20 }; /* maximum bytes that libtiff may allocate at once */

/* A walk along the chain of directories, one per page, of a file that starts as a TIFF (pages.c).
 * After gi_tiff_walk() has returned true, the directory is at offset `at`, and `own` tells whether
 * the directory is an independent page, not a smaller version or a mask of another page. At the
 * end, `circle` tells whether the chain has a cycle. In that case some pages came twice. `broken`
 * tells whether the chain ended at an offset where no directory is, `cut` whether the file ends
 * within its last directory, behind all entries. */
struct gi_tiff_walk {
    struct gi_tags tags;
    uint64_t at, next, mark;
    uint64_t full; /* offset of the directory of the page's full picture: `at`, or a SubIFD */
    /* number of entries of the directory, all within the file; 0 if it is damaged */
    uint64_t entries;
    int number, marked; /* of the page, from 0 */
    bool own, circle, broken, cut;
};
void gi_tiff_walk_start(struct gi_tiff_walk *walk, const unsigned char *bytes, size_t nbytes);
bool gi_tiff_walk(struct gi_tiff_walk *walk);

/* Returns the offset of the directory of the largest picture of the page at w->at that is no
 * smaller version or mask: the page itself, if it is *own, or one of its SubIFDs, which sets *own.
 * Returns w->at if there is none (subifd.c). */
uint64_t gi_tiff_full(const struct gi_tiff_walk *w, bool *own);
/* Returns the number of SubIFDs of the directory if all are smaller versions or masks, otherwise 0
 * (subifd.c). */
int gi_tiff_smaller(const unsigned char *bytes, size_t nbytes, uint64_t directory);
/* Finds the page that has its picture in the SubIFD `directory`, among the first pages that have
 * it in a SubIFD (subifd.c). */
bool gi_tiff_find_page_of(struct gi_tiff_walk *page, const struct gi_decode *decode,
                          uint64_t directory);

/* What was found on a walk. */
struct gi_tiff_pages {
    int n;   /* number of directories; of a cycle each is counted once */
    int own; /* number of independent pages; if there are none, number of directories */
    /* the damage of the chain, as in "its pages go in a circle"; NULL: none */
    const char *damage;
    uint64_t offset;   /* offset of the wanted directory; 0 if there is none */
    bool in_subifd;    /* it is a SubIFD of a page that is a smaller version */
    bool only_reduced; /* all pages are smaller versions or masks */
};

/* Finds the directory of `page`, from 0. -1 means the first independent page. */
void gi_tiff_find_page(struct gi_tiff_pages *found, const unsigned char *bytes, size_t nbytes,
                       int page);
/* Returns the number of images if the file is a stack by ImageJ or tifffile with one directory,
 * otherwise 1.
 * Sets *nbytes to the distance, in bytes, from the samples of an image to those of the next, and
 * *end to the end of the samples of the last image (imagej.c). *end may be NULL. */
int gi_tiff_stack(uint64_t *nbytes, uint64_t *end, const unsigned char *bytes, size_t size);
/* The sums of all pages: bytes of strips and tiles, and pixels. Of a file whose pages go in a
 * circle they are too large. */
struct gi_tiff_weight {
    uint64_t coded, pixels;
};
/* Returns the offset of the end of the last byte that a page uses (extent.c). Fills in `weight`,
 * unless it is NULL. */
uint64_t gi_tiff_end(struct gi_tiff_weight *weight, const unsigned char *bytes, size_t nbytes);
/* Sets *at to the offset of the next TIFF behind one that ends at `end`. Returns false if there is
 * none (extent.c). */
bool gi_tiff_find_next(size_t *at, const unsigned char *bytes, size_t nbytes, uint64_t end);
/* Returns the number of bytes at the end of the file, behind `end`, which is that of its pages, but
 * without padding (extent.c). */
size_t gi_tiff_trailing(const unsigned char *bytes, size_t nbytes, uint64_t end);
/* As gi_format.list. */
enum gi_status gi_tiff_list_pages(struct gi_image_list *list, const unsigned char *bytes,
                                  size_t nbytes, struct gi_err *err);

/* The name of the part that is a description of several pages, of which one is read. */
#define GI_TIFF_OF_ALL "description of several pages"

/* Sets decode->orientation to that of the directory to read, or of the page that has its picture in
 * this directory. If only XMP of the page names it, keeps that XMP (subifd.c). An offset of 0
 * means the first directory. */
void gi_tiff_find_orientation(struct gi_decode *decode, uint64_t directory);
/* Adds the tags of the directory, which was read, to the parts, and makes metadata of EXIF and IPTC
 * (tiff_parts.c). An offset of 0 means the first directory. */
void gi_tiff_add_parts(struct gi_decode *decode, uint64_t directory);
/* Adds what follows the end of the file's pages: further TIFFs, or other bytes (tiff_parts.c). */
void gi_tiff_add_rest(struct gi_decode *decode);
/* Returns whether the tag describes how an image is stored, or is not carried for another reason.
 */
bool gi_tiff_is_structure(unsigned tag);
/* Returns whether the reader uses the tag. */
bool gi_tiff_is_used(unsigned tag);
/* Returns whether the tag is not carried, although it does not describe how an image is stored. */
bool gi_tiff_is_not_carried(unsigned tag);
/* Returns the number of tags of the metadata's EXIF that are not written to a TIFF: damaged ones,
 * and those whose place another text or block takes (directory_write.c). */
unsigned gi_tiff_exif_left_out(const struct gi_metadata *metadata);
/* As gi_format.holds. */
enum gi_holding gi_tiff_holds(const struct gi_part *part, const struct gi_image *written);

/* The texts that have their own tag, with their keywords in PNG. The last element has tag 0. */
struct gi_tiff_text {
    uint16_t tag;
    const char *keyword;
};
extern const struct gi_tiff_text gi_tiff_texts[];

/* Divides the first `colours` channels by channel `alpha`, so that associated (premultiplied) alpha
 * becomes straight (unmultiply.c). Returns whether a colour above alpha was cut off. */
bool gi_tiff_unmultiply(struct gi_image *image, int colors, int alpha);

/* Compresses `height` rows of `width` bits by CCITT Group 4, into malloc()ed memory, which the
 * caller frees. A row begins at a byte, and a bit of 0 is white. Errors: GI_E_MEMORY;
 * GI_E_UNSUPPORTED without libtiff. */
enum gi_status gi_tiff_fax(void **bytes, size_t *nbytes, const void *rows, int width, int height,
                           struct gi_err *err);

/* Writes a TIFF without libtiff, like gi_format.encode (tiff_write.c). Samples are deflated with a
 * predictor, stored with compression 0, or compressed by Group 4 (fax.c). They are in strips, or in
 * tiles of a BigTIFF if the samples exceed 4 GB. */
enum gi_status gi_tiff_encode(struct gi_sink *sink, const struct gi_image *image,
                              const struct gi_metadata *metadata,
                              const struct gi_save_options *options, struct gi_err *err);

/* Writes a BigTIFF of tiles or strips, whatever the image's size. */
enum gi_status gi_tiff_encode_tiles(struct gi_sink *sink, const struct gi_image *image,
                                    const struct gi_metadata *metadata,
                                    const struct gi_save_options *options, bool tiles,
                                    struct gi_err *err);
