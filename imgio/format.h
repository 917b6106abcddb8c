/* A format is one row: how files of it are recognised, read and written. The table is in formats.c.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_FORMAT_H
#define GI_IMGIO_FORMAT_H

#include "imgio/imgio.h"
#include "imgio/library.h"

/* Arguments and results of a decoder: the bytes of the whole file, and where its results go. */
struct gi_decode {
    const unsigned char *bytes;
    size_t nbytes;
    const struct gi_load_options *options;
    struct gi_image *image;       /* made by the decoder (gi_decode_alloc) */
    struct gi_metadata *metadata; /* never NULL here */
    struct gi_file_info *info;    /* never NULL here */
    struct gi_err *warning;       /* never NULL here */
    int orientation;              /* as EXIF numbers it, from formats with a field of their own;
                                     0: use EXIF's */
    int shrink;                   /* factor by which the decoder reduces each side; 0 means 1 */
};

/* Returns the factor for decode->shrink, for a picture of this size. Called by decoders that can
 * reduce the picture, after its metadata was read. */
int gi_decode_shrink(const struct gi_decode *decode, uint64_t width, uint64_t height);

/* Checks the shape against the limits, then allocates decode->image for a picture of that size. If
 * only the header is wanted, no limit holds, `data` stays NULL and the decoder returns next. */
enum gi_status gi_decode_alloc(struct gi_decode *decode, uint64_t width, uint64_t height,
                               int channels, enum gi_type type, struct gi_err *err);

/* Checks files whose codes can stand for any number of pixels in almost no bits: refuses more
 * `pixels` than a file of this length may claim. Errors: GI_E_LIMIT. */
enum gi_status gi_decode_check_flat(const struct gi_decode *decode, uint64_t pixels,
                                    struct gi_err *err);

struct gi_format {
    struct gi_format_info info;
    /* Returns whether the bytes begin as this format does. NULL: write only, or, if info.reads is
     * set, files with this suffix begin as those of another row. */
    bool (*probe)(const unsigned char *bytes, size_t nbytes);
    /* On an error the caller frees the image. NULL with a probe: info.missing says why. */
    enum gi_status (*decode)(struct gi_decode *decode, struct gi_err *err);
    /* NULL: read only. Is called only with types and channel counts that its info allows. */
    enum gi_status (*encode)(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err);
    /* Loaded before `decode` and `encode` are called. NULL: none. */
    const struct gi_library *reads_by, *writes_by;
    bool images;    /* decode() knows options->image */
    bool gray, rgb; /* channel counts it can write, with alpha where its info says so */
    bool metadata;  /* writes ICC profile, EXIF, XMP and resolution ... */
    bool no_exif, no_resolution; /* ... except these */
    bool texts, colour;          /* writes texts, PNG's colour chunks */
    size_t metadata_max;         /* maximum bytes of EXIF, of XMP and of a text; 0: unlimited */
};

/* Handles data that ends early or is damaged. Returns GI_OK and fills `warning` if partial images
 * are allowed, and the decoder continues with the samples it has; else GI_E_FORMAT. */
enum gi_status gi_decode_damaged(struct gi_decode *decode, struct gi_err *err, const char *format,
                                 ...) __attribute__((format(printf, 3, 4)));

/* Returns whether `rows` of decode->image are enough to continue if partial images are allowed: a
 * sixteenth, or any number in an image of at most 16 MiB, so that a header alone can't take memory.
 */
bool gi_decode_has_enough(const struct gi_decode *decode, int rows);

/* Does the same with ", in row R of N" in the text; it is an error if too few rows precede that
 * row. */
enum gi_status gi_decode_damaged_at(struct gi_decode *decode, struct gi_err *err, int row,
                                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Every format, in the order of probing; ends with NULL. */
extern const struct gi_format *const gi_formats[];

#endif
