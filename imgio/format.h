/* Each format is described by one struct gi_format, which says how files of the format are
 * recognised, read and written. The table of all formats is in formats.c.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"
#include "imgio/library.h"
#include "imgio/rounding.h"
#include "imgio/source.h"

/* Arguments of a decoder, such as the bytes of the whole file, and the addresses at which it stores
 * its results. */
struct gi_decode {
    const unsigned char *bytes;
    size_t nbytes;
    struct gi_source
        *source; /* owner of the bytes, from which a coded image may take them; or NULL */
    const struct gi_load_options *options;
    struct gi_image *image;       /* made by the decoder (gi_decode_alloc) */
    struct gi_metadata *metadata; /* never NULL here */
    struct gi_file_info *info;    /* never NULL here */
    struct gi_err *warning;       /* never NULL here */
    /* EXIF's number, set by formats with a field for it; if 0, that of EXIF or XMP is used */
    int orientation;
    struct gi_rounding rounding; /* of samples that the decoder reads as 32-bit floats */
    bool coded; /* set by a decoder whose image stays coded: gi_decode_alloc() then only checks */
    size_t coded_nbytes; /* with `coded`: of the copy of the file; 0: there is none */
    size_t kept_nbytes;  /* with `coded`: of the file, and of data that are kept behind it */
    bool followed;       /* another file of an image is behind this one (gi_decode_add_rest()) */
    bool profile_used;   /* the ICC profile converted inks, and is not kept */
    int shrink;          /* factor by which the decoder reduces each side; 0 means 1 */
    /* rectangle of the stored picture that is read; a width of 0 means the whole picture */
    struct gi_window window;
    int whole_width, whole_height; /* of the picture, if only the window, or only rows, are read */
    /* With options->taker: the rows that are being decoded, from row `lent_top` of the image on,
     * and the bytes of the file that are not needed again. */
    struct gi_image lent;
    int lent_top;
    size_t forgotten;
    bool
        begun; /* the shape is known and within the limits: damage is in a row, not in the header */
};

/* Sets decode->lent to memory of the taker for rows top <= y < bottom. Returns false if the decoder
 * must end, with any error. */
bool gi_decode_lend(struct gi_decode *decode, int top, int bottom);
/* Returns the memory for row y, of the image or of the taker. Called in the order of rows. Returns
 * NULL if the decoder must end, with any error. */
void *gi_decode_row(struct gi_decode *decode, int y);
/* Releases the memory of the file's bytes before byte `at`, if they are mapped because rows are
 * taken or only the header is read. They can still be read. Called with rising offsets. */
void gi_decode_forget(struct gi_decode *decode, size_t at);

/* Returns the orientation by which the picture is turned: 1 if it is kept. */
int gi_decode_orientation(const struct gi_decode *decode);

/* Returns the factor for decode->shrink for a picture of this size. Decoders that can reduce a
 * picture call it after reading the metadata. */
int gi_decode_shrink(const struct gi_decode *decode, uint64_t width, uint64_t height);

/* Called before gi_decode_alloc() by decoders that can read a part of a picture of this size, after
 * they have read the metadata. Sets decode->window if a part is enough (window.c). */
void gi_decode_window(struct gi_decode *decode, uint64_t width, uint64_t height);
/* Returns the part that is read, which may be the whole picture. */
struct gi_window gi_decode_part(const struct gi_decode *decode, uint32_t width, uint32_t height);

/* Checks the shape against the limits, then allocates decode->image for a picture of that size. If
 * only the header was asked for, no limit holds, `data` stays NULL, and the decoder must return. */
enum gi_status gi_decode_alloc(struct gi_decode *decode, uint64_t width, uint64_t height,
                               int channels, enum gi_type type, struct gi_err *err);

/* Returns whether the caller wants an image of this kind to stay coded, and its file is small
 * enough. */
bool gi_decode_wants_coded(const struct gi_decode *decode, enum gi_coded_kinds kind);
/* Called before gi_decode_alloc() if the image stays coded: it will keep the file, or a copy of it,
 * behind which there is memory for `more` bytes. */
void gi_decode_stay_coded(struct gi_decode *decode, size_t more);
/* After gi_decode_alloc(), sets decode->image->coded to *coded with that file. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_decode_keep_coded(const struct gi_decode *decode, const struct gi_coded *coded,
                                    struct gi_err *err);

/* Takes the chosen bands of the image that was decoded, or refuses bands that the caller does not
 * take (imgio/bands.c). Errors: GI_E_UNSUPPORTED, GI_E_MEMORY. */
enum gi_status gi_bands_settle(struct gi_decode *decode, struct gi_err *err);

/* Checks that gi_save() can write channels or bands as these. Errors: GI_E_UNSUPPORTED, with a text
 * that says what is possible (imgio/bands.c). */
struct gi_format;
enum gi_status gi_bands_check_save(const struct gi_format *format, const struct gi_image *image,
                                   const struct gi_metadata *metadata,
                                   const struct gi_save_options *options, struct gi_err *err);
/* Returns the meaning of the samples of an image with `metadata`, which may be NULL. */
const struct gi_bands *gi_bands_of(const struct gi_metadata *metadata);
/* Returns what of the bands' meaning is lost in the format, or NULL. */
const char *gi_bands_loss(const struct gi_format *format, const struct gi_image *image,
                          const struct gi_bands *bands, const struct gi_save_options *options);

/* Checks a file in a format that can code many pixels in almost no bits. It is an error if `pixels`
 * is more than a file of this length may have. Errors: GI_E_LIMIT. */
enum gi_status gi_decode_check_flat(const struct gi_decode *decode, uint64_t pixels,
                                    struct gi_err *err);

/* The images in a file that may hold several. */
struct gi_image_place {
    uint64_t offset, skip; /* for gi_load_options */
    /* true unless the image is a smaller version or a mask of another image, or is beside the
     * primary one: images are then read only by their numbers */
    bool own;
    /* If several files are one behind the other: offsets of the image's file and of the next file
     * (or of the end of all bytes), and index of the first image of this file. `list` does not set
     * them. */
    size_t file_at, file_end;
    int file_first;
};
struct gi_image_list {
    struct gi_image_place *images; /* malloc()ed by the format */
    int all;                       /* their number */
    uint64_t end;                  /* offset of the end of the last byte that an image uses */
    /* If images share bytes, so that they have more bytes than the file: the sum of their pixels.
     * Otherwise 0. */
    uint64_t shared_pixels;
    const char *damage; /* of the list, as in "its pages go in a circle", or NULL */
    /* Images that are not `own`, in the plural; NULL: "smaller versions or masks of its pages" */
    const char *others;
    bool frames; /* the images are frames of an animation */
};

/* What a format does with a carried part of another file (imgio/parts.h). */
enum gi_holding {
    GI_CANNOT_HOLD, /* the format has no place for it */
    GI_NOT_WRITTEN, /* the format has a place, but gpuimg does not write it */
    GI_HOLDS,       /* `encode` writes it */
};

struct gi_animation_kind;
struct gi_format {
    struct gi_format_info info;
    /* Returns whether the bytes begin like a file of this format. NULL if the format is only
     * written, or, with info.reads set, if the probes of other formats recognise its files. */
    bool (*probe)(const unsigned char *bytes, size_t nbytes);
    /* The caller frees the image after an error. If this is NULL although `probe` is set,
     * info.missing says why. */
    enum gi_status (*decode)(struct gi_decode *decode, struct gi_err *err);
    /* Called only with the types and channel counts that `info` allows. NULL if the format is only
     * read. */
    enum gi_status (*encode)(struct gi_sink *sink, const struct gi_image *image,
                             const struct gi_metadata *metadata,
                             const struct gi_save_options *options, struct gi_err *err);
    /* Libraries that are loaded before `decode` and `encode` are called, or NULL. */
    const struct gi_library *reads_by, *writes_by;
    /* Lists the images of a file that begins as this format does. The `decode` of such a format
     * obeys options->image and options->offset. NULL if files of the format have only one image.
     * Errors: GI_E_MEMORY. */
    enum gi_status (*list)(struct gi_image_list *list, const unsigned char *bytes, size_t nbytes,
                           struct gi_err *err);
    /* The format's animations, whose frames `list` lists, or NULL (imgio/frames.h). */
    const struct gi_animation_kind *animation;
    /* Large files are mapped and not read into a buffer, because they contain the samples as they
     * are. The decoder reads lengths and offsets once, as files may change meanwhile. */
    bool raw;
    bool coded; /* images may stay coded (imgio/coded.h) */
    /* Lists the parts of the file that `decode` does not use (gi_decode_add_part()), and texts.
     * Called after `decode`, also if only the header was asked for. Lengths and offsets in the file
     * may be anything. NULL if `decode` lists them. */
    void (*parts)(struct gi_decode *decode);
    /* Says whether `encode` writes the carried part with an image of this shape. NULL if the format
     * holds no parts. */
    enum gi_holding (*holds)(const struct gi_part *part, const struct gi_image *written);
    /* Says whether `encode` writes the colour space that PNG's colour chunks of the metadata
     * declare. NULL: it writes none, unless `color` is set. */
    bool (*holds_color)(const struct gi_metadata *metadata);
    /* Says whether `encode` writes the XMP, of a format without `metadata`, or NULL. */
    bool (*holds_xmp)(const struct gi_metadata *metadata);
    bool by_rows;                /* `encode` takes options->rows */
    bool one_bit;                /* can write samples of one bit */
    bool gray, rgb;              /* can write gray or RGB, with alpha if `info` says so */
    bool metadata;               /* writes ICC profile, EXIF, XMP and resolution ... */
    bool no_exif, no_resolution; /* ... except these */
    bool texts, color;           /* writes texts, PNG's colour chunks */
    bool has_texts;              /* the format has these, but gpuimg does not write them */
    bool upright;                /* its readers do not turn images by EXIF's orientation */
    /* Numbers of bits with which 16-bit samples are written, in rising order; 0, 0 for 16. */
    int depths[2];
    bool comments;        /* writes comments of one line, without `texts` */
    bool icc, resolution; /* writes these, without `metadata` */
    bool ratio;           /* writes a resolution without a unit */
    /* Returns what is lost of the resolution, of a format that writes it, or NULL. */
    const char *(*resolution_loss)(const struct gi_metadata *metadata);
    bool bands;          /* writes bands; only TIFF says which are colours and alpha */
    size_t metadata_max; /* maximum bytes of EXIF, of XMP and of a text; 0 if unlimited */
};

/* Members that many rows share. */
#define GI_READS_AND_WRITES   .reads = true, .writes = true
#define GI_HOLDS_INTEGERS     .u8 = true, .u16 = true
#define GI_HOLDS_GRAY_AND_RGB .gray = true, .rgb = true

/* Handles data that ends early or is damaged. If the damage is allowed, fills `warning` and returns
 * GI_OK, and the decoder goes on with the samples that it has. Otherwise returns GI_E_FORMAT. */
enum gi_status gi_decode_report(struct gi_decode *decode, struct gi_err *err, bool allowed,
                                const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Reports damage, which is allowed if partial images are. */
#define gi_decode_damaged(decode, err, ...)                                                        \
    gi_decode_report(decode, err, (decode)->options->allow_partial, __VA_ARGS__)

/* Reports damage that changes no pixel, such as a missing end of the file. It is also allowed if
 * only the header was asked for. */
#define gi_decode_damaged_beside(decode, err, ...)                                                 \
    gi_decode_report(decode, err,                                                                  \
                     (decode)->options->allow_partial || (decode)->options->header_only,           \
                     __VA_ARGS__)

/* Returns whether `rows` rows of decode->image suffice for a partial image. A sixteenth of the rows
 * is needed if the image is larger than 16 MiB, so that a header alone can't take much memory. For
 * smaller images any number suffices. */
bool gi_decode_has_enough(const struct gi_decode *decode, int rows);

/* As gi_decode_damaged(), with ", in row R of N" in the text. It is an error if too few rows
 * precede row R. */
enum gi_status gi_decode_damaged_at(struct gi_decode *decode, struct gi_err *err, int row,
                                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A gi_source_chooser: only files of raw samples, and files whose header alone is read, are
 * mapped. */
enum gi_source_way gi_format_way(const unsigned char *bytes, size_t nbytes, bool header_only);

/* Opens the file that `path` names, or options->ahead. If the path selects one image of the file,
 * sets options->image. Errors: as gi_source_open(), without the path; GI_E_USAGE for several
 * images.
 */
enum gi_status gi_source_open_image(struct gi_source *source, struct gi_load_options *options,
                                    const char *path, struct gi_err *err);

/* Sets *rows to rows of the image that is encoded, as options->rows or as a view of `image`. Valid
 * until the next call. */
static inline enum gi_status gi_encode_rows(struct gi_image *rows, const struct gi_image *image,
                                            const struct gi_save_options *options, int top,
                                            int bottom, struct gi_err *err)
{
    if (options->rows)
        return options->rows->read(options->rows->self, rows, top, bottom, err);
    *rows = gi_image_rows(image, top, bottom);
    return GI_OK;
}

/* Returns the number of rows that are encoded at a time, 1 or more. */
static inline int gi_encode_most(const struct gi_image *image,
                                 const struct gi_save_options *options)
{
    return !options->rows                        ? image->height
           : options->rows->most < image->height ? options->rows->most
                                                 : image->height;
}

/* All formats, in the order of probing, and then NULL. */
extern const struct gi_format *const gi_formats[];
