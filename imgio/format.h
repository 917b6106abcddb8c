/* A format is one row: how it is known, read and written. The table is in formats.c.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_FORMAT_H
#define GI_IMGIO_FORMAT_H

#include "imgio/imgio.h"
#include "imgio/library.h"

/* What a decoder gets: all bytes of the file, and where to put things. */
struct gi_decode {
    const unsigned char *bytes;
    size_t nbytes;
    const struct gi_load_options *options;
    struct gi_image *image;       /* made by the decoder (gi_decode_alloc) */
    struct gi_metadata *metadata; /* never NULL here */
    struct gi_file_info *info;    /* never NULL here */
    struct gi_err *warning;       /* never NULL here */
    int orientation;              /* as EXIF numbers it, for formats with a field of their own; 0:
                                     what EXIF says */
    int shrink;                   /* factor by which the decoder reduces each side; 0 means 1 */
};

/* For a decoder that can make the picture smaller, its metadata being read: what decode->shrink
 * should be, for a picture of that size. */
int gi_decode_shrink(const struct gi_decode *decode, uint64_t width, uint64_t height);

/* Tests the shape against the limits, then makes decode->image of a picture of that size. Where
 * only the header is wanted no limit holds, `data` stays NULL and the decoder returns next. */
enum gi_status gi_decode_alloc(struct gi_decode *decode, uint64_t width, uint64_t height,
                               int channels, enum gi_type type, struct gi_err *err);

/* For codes that can say any number of pixels in no bits at all: whether `pixels` are more than
 * such a short file may claim. Errors: GI_E_LIMIT. */
enum gi_status gi_decode_check_flat(const struct gi_decode *decode, uint64_t pixels,
                                    struct gi_err *err);

struct gi_format {
    struct gi_format_info info;
    /* True where the bytes start as this format does. NULL: write only,
     * or, where info.reads is set, files of this suffix start as those of another row do. */
    bool (*probe)(const unsigned char *bytes, size_t nbytes);
    /* On an error the caller frees what was made. NULL beside a probe: info.missing says why. */
    enum gi_status (*decode)(struct gi_decode *decode, struct gi_err *err);
    /* NULL: read only. Gets only types and channel counts that its info allows. */
    enum gi_status (*encode)(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err);
    /* Loaded before `decode` and `encode` are called. NULL: none. */
    const struct gi_library *reads_by, *writes_by;
    bool images;    /* decode() knows options->image */
    bool gray, rgb; /* channel counts it can write, with alpha where its info says so */
    bool metadata;  /* writes ICC profile, EXIF, XMP and resolution */
    bool no_exif, no_resolution; /* but not that of these */
    bool texts, colour;          /* writes texts, PNG's colour chunks */
    size_t metadata_max;         /* bytes that EXIF, XMP and a text may have; 0: any number */
};

/* For a decoder whose data ends early or is damaged: GI_OK and `warning` filled where partial
 * images are allowed (the decoder goes on with what it has), else GI_E_FORMAT. */
enum gi_status gi_decode_damaged(struct gi_decode *decode, struct gi_err *err, const char *format,
                                 ...) __attribute__((format(printf, 3, 4)));

/* Whether `rows` of decode->image are enough to go on with where partial images are allowed: a
 * sixteenth, or any number in an image of at most 16 MiB, so that a header alone can't take memory.
 */
bool gi_decode_has_enough(const struct gi_decode *decode, int rows);

/* As gi_decode_damaged() with ", in row R of N"; an error where the rows before it are not enough.
 */
enum gi_status gi_decode_damaged_at(struct gi_decode *decode, struct gi_err *err, int row,
                                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Every format, in the order of probing; ends with NULL. */
extern const struct gi_format *const gi_formats[];

#endif
