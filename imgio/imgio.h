/* Reading and writing images.
 *
 * The format of an input is recognised by its content, never by its name. Outputs are written to an
 * unnamed or temporary file that then gets the final name, so that an output is either complete or
 * absent.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/animation.h"
#include "imgio/bands.h"
#include "imgio/buffer.h"
#include "imgio/coded.h"
#include "imgio/image.h"
#include "imgio/jpeg_options.h"
#include "imgio/parts.h"
#include "imgio/rows.h"

/* The defaults of struct gi_limits. */
enum { GI_DEFAULT_MAX_PIXELS = 1 << 28 };
#define GI_DEFAULT_MAX_BYTES (UINT64_C(64) << 30)

/* Callbacks during decoding. `tell` receives the shape (without samples) once the shape is known
 * and within the limits, so that the caller can prepare while the samples are decoded. It may be
 * called twice. Before `tell`, `shrink` gets the shape of the upright picture, and returns the
 * factor by which the picture's sides may be reduced, which is 1, 2, 4 or 8 (1 if `shrink` is
 * NULL). JPEGs are then decoded at the reduced size, rounded up (struct gi_shrunk), unless samples
 * are converted to linear light. Other formats are not reduced. */
struct gi_shape_listener {
    void (*tell)(void *arg, const struct gi_image *shape);
    void *arg;
    int (*shrink)(void *arg, const struct gi_image *picture);
    /* Returns whether only a rectangle of the upright picture is needed, and sets *window. Formats
     * of which parts can be read (TIFF, and rows that are not compressed) then read no other
     * samples. The image is that rectangle, its `shrunk` has the factor 1, and damage elsewhere is
     * not noticed. Other formats never ask. NULL if all samples are needed. */
    bool (*window)(void *arg, const struct gi_image *picture, struct gi_window *window);
    /* Before `tell`, gets the bytes of memory for a file that stays coded. May be NULL. */
    void (*coded)(void *arg, size_t nbytes);
};

struct gi_ahead; /* imgio/ahead.h */

struct gi_load_options {
    struct gi_limits limits;
    /* From a damaged file, returns what could be read, with a warning. Missing samples are 0,
     * except in a JPEG, where libjpeg fills them in. */
    bool allow_partial;
    const struct gi_shape_listener *listener; /* NULL if there are no callbacks */
    const struct gi_parallel *parallel;       /* NULL for one thread; the image is the same */
    const struct gi_allocator *allocator;     /* allocates the samples; NULL for plain memory */
    /* number, from 1, of an image of a file that holds several; 0 for the only image */
    int image;
    uint64_t offset; /* offset of that image, from its format's list; 0 if it has to be found */
    uint64_t skip;   /* with `offset`: the samples are that many bytes further on */
    /* The images of the file are read to be written together. A description that tells how the
     * images belong together (OME, ImageJ, tifffile) is then kept. */
    bool together;
    struct gi_ahead *ahead;   /* for gi_load(): an input to read instead of the path, or NULL */
    struct gi_frames *frames; /* the open animation of which `image` is a frame, or NULL */
    /* Decodes integer samples to linear light (floats, 0 to 1) by the file's profile or sRGB's
     * curve. Float samples are linear light already. gi_save() encodes the samples again with
     * light_bits bits, which is 8, 16, 32 for float, or 0 for the bits of the file. */
    bool linear;
    int light_bits;
    /* reads label arrays (signed integers, or integers of 32 bits or more) as GI_U32 images; can't
     * be combined with `linear` */
    bool labels;
    /* It is an error if a sample has more precision than a 32-bit float. Otherwise there is a
     * warning if that matters (imgio/rounding.h). */
    bool exact;
    bool channels_first; /* reads .npy in the order (channels, height, width) if that is possible */
    /* Reads no samples. The image has a shape but NULL data, no limit holds, and faults after the
     * header (damage, more images) are not noticed. */
    bool header_only;
    /* The caller takes images of several bands (imgio/bands.h), whose meaning is in
     * gi_file_info.bands. Without this they are an error that says how bands are chosen. */
    bool bands;
    struct gi_band_choice choose; /* takes these bands of the image */
    /* Hides pixels without data (imgio/nodata.h), which have the value that the text `nodata` or
     * else the file names, unless the image has several bands. */
    bool hide_nodata;
    const char *nodata;
    bool find_nodata; /* only finds the value, which is given if there are such pixels */
    /* Kinds of files that are not decoded if the primitives jpeg_decode and png_decode take them
     * (kernels/codec.h): `data` of the image stays NULL, and `coded` holds the file in
     * memory of `allocator`. Damage in the scan is not noticed. Files that need more than that
     * (linear light, --allow-partial) and all other files are decoded. */
    enum gi_coded_kinds coded;
    /* Takes the rows of the image, which gets no samples, as they are decoded from top to bottom.
     * For TIFF, PNG that is not interlaced and JPEG without CMYK, if the image has no orientation
     * and no band is chosen. NULL: the image has samples. */
    const struct gi_row_taker *taker;
    /* Samples are not turned upright: the image is as it is stored, and EXIF keeps, or gets from
     * the file, the orientation. */
    bool keep_orientation;
};

/* The value of pixels without data. */
struct gi_nodata {
    bool given;
    double value; /* in sample units of `type`; NaN is possible, too */
    enum gi_type type;
};

/* Properties of a file besides its samples. */
struct gi_file_info {
    const char *format; /* name of the format's row: "png" */
    int bits;           /* bits per stored sample, 1 to 16, or 32 or 64 for float and integers */
    /* The largest sample value that the file declares, 1 to 65535, which is read as full scale. 0
     * for float. */
    unsigned maxval;
    bool integers; /* the file's samples are integers, which were read as floats of equal value */
    /* Which axis of an array is taken for the channels, and why, if another reading of its shape is
     * usual or possible; constant text. NULL otherwise. */
    const char *axes;
    const char *detail; /* constant text such as "palette, interlaced" or "progressive", or "" */
    /* EXIF orientation, 1 to 8, applied to the image unless it was kept; 1 if none */
    int orientation;
    double dpi_x, dpi_y;   /* 0 if unknown */
    struct gi_bands bands; /* `n` is 0 unless gi_load_options.bands is set */
    /* Number of pages of a TIFF that are not smaller versions or masks of other pages, or of PNG,
     * JPEG, WebP and PNM images that are one behind the other; 1 in other formats. 0 if the number
     * is unknown because the TIFF is damaged. Set after an error too if that is its reason. */
    int images;
    /* Rows can be decoded without those above them: a TIFF has strips that are not compressed
     * (struct gi_shape_listener.window), or a JPEG has restart markers. */
    bool rows_apart;
    /* Decoding divides the colours of a TIFF by alpha. Whether colours above alpha are cut off is
     * known once all pixels are decoded. */
    bool premultiplied;
    uint64_t nbytes;                    /* of the file */
    struct gi_animation_info animation; /* unless one of several images was asked for */
    struct gi_nodata nodata;            /* if gi_load_options.hide_nodata or find_nodata is set */
};

/* A text of the file (a title, a comment), in UTF-8. */
struct gi_text {
    /* Keyword as in PNG: "Title", "Author", "Comment"... The memory at this pointer is owned here,
     * and also contains the other texts. */
    char *keyword;
    const char *language, *translated; /* the keyword translated; "" for none */
    const char *text;
};

/* Metadata that accompany an image. Each member is owned here, and is NULL if the file had no such
 * metadata. */
struct gi_metadata {
    void *icc; /* ICC profile */
    size_t icc_nbytes;
    void *exif; /* TIFF block without "Exif\0\0"; its orientation is 1 unless it is kept */
    size_t exif_nbytes;
    double dpi_x, dpi_y; /* 0: unknown */
    bool no_unit;        /* dpi_x and dpi_y are pixels per an unknown unit, not per inch */
    bool new_resolution; /* gi_save() sets it where EXIF, XMP and Photoshop's resources name one */
    int new_color_space; /* the same for EXIF and XMP: enum gi_exif_color (exif.h), or 0 */
    void *xmp;           /* XMP packet */
    size_t xmp_nbytes;
    struct gi_text *texts;
    int ntexts;
    size_t texts_nbytes; /* of memory */
    /* PNG's chunks gAMA, cHRM, sRGB, cICP, mDCV and cLLI. Each chunk is stored as its name, the
     * length in one byte, and the data. */
    void *color;
    size_t color_nbytes;
    bool inks_read; /* the samples are sRGB, made of CMYK by the profile of the file */
    /* samples are linear light, which gi_save() encodes with this; NULL: they are as in the file */
    struct gi_linear_light *light;
    /* of a JPEG whose tables another JPEG can have (imgio/coded.h) */
    struct gi_jpeg_tables *jpeg;
    /* The file has a palette or fewer than 8 bits per sample, or the image was quantized, so that
     * gi_save() counts its colours (GI_PALETTE_AUTO). */
    bool few_colors;
    void *palette; /* of the file: at most 256 entries of 4 bytes, red, green, blue and alpha */
    size_t palette_nbytes;
    /* The meaning of the samples of an image of several bands, for gi_save(). Otherwise `n` is
     * 0. */
    struct gi_bands bands;
    struct gi_timing timing;
    struct gi_parts parts; /* all other parts of the file */
    bool starved;          /* memory ran out for a part of the metadata, so that gi_load() fails */
    int width,
        height; /* of the upright picture in the file; 0: unknown, or its pixels have moved */
};

void gi_metadata_free(struct gi_metadata *metadata);
/* Makes a copy whose parts, profile, colour chunks, EXIF and XMP may be changed. All else remains
 * owned by `metadata`. gi_metadata_free_copy() frees the copy, also after an error. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_metadata_copy(struct gi_metadata *copy, const struct gi_metadata *metadata,
                                struct gi_err *err);
void gi_metadata_free_copy(struct gi_metadata *copy);

/* Metadata to be dropped. GI_STRIP_EXIF also drops XMP, which repeats EXIF. GI_STRIP_GPS drops the
 * GPS directory in EXIF with its data, and any XMP or text that names a place. */
enum gi_strip { GI_STRIP_NOTHING, GI_STRIP_ALL, GI_STRIP_EXIF, GI_STRIP_GPS };
void gi_metadata_strip(struct gi_metadata *metadata, enum gi_strip what);
/* Returns whether a description by tifffile names the shape of an array: the number of pages, their
 * size and channels, as in {"shape": [6, 120, 160]}, or before 2018 in shape=(6, 120, 160). */
bool gi_text_is_shape_of_pages(const char *text);
/* Drops descriptions by OME and tifffile, which name size and channels of the pages. Returns the
 * name of the writer if more than a shape was dropped, otherwise NULL. */
const char *gi_metadata_drop_sizes(struct gi_metadata *metadata);
/* Drops an ICC profile that is not for images with this number of colour channels, which is 1 or
 * 3. */
void gi_metadata_fit(struct gi_metadata *metadata, int color_channels);
/* Returns the colour chunk after `at`, or the first one if `at` is NULL, or NULL if there is none.
 * Each is stored as name (4 bytes), length (1 byte) and data. */
const unsigned char *gi_metadata_next_color(const struct gi_metadata *metadata,
                                            const unsigned char *at);
/* Drops the ICC profile and PNG's colour chunks, because samples have another meaning now. They
 * become dropped parts. */
void gi_metadata_drop_color(struct gi_metadata *metadata);

/* The images of a file that a path names in brackets. */
struct gi_selection {
    bool given;                  /* there are brackets */
    bool several;                /* "[0-7]", "[2-]" or "[*]", also if that is one image */
    int first, last;             /* from 0; a `last` of -1 is the last image of the file */
    int step;                    /* every step-th of them, from the first on; 1 or more */
    struct gi_band_choice bands; /* from "[bands=3,2,1]", which may follow the other brackets */
};

/* Returns the number of bytes of `path` that name the file. "scan.tif[3]" is the fourth image of
 * scan.tif, "scan.tif[0-7]" is its first eight images, "scan.tif[2-]" is all from the third one on
 * and "scan.tif[*]" is all its images, unless there is a file with that whole name. "[0-7..2]",
 * "[2-..2]" and "[*..2]" are every second one of these, beginning with the first.
 * "scan.tif[bands=3,2,1]" and "scan.tif[3][bands=3,2,1]" are bands of images. */
size_t gi_path_file(const char *path, struct gi_selection *selection);
/* Returns whether the selection leaves no image out. */
bool gi_selection_is_all(const struct gi_selection *selection);
/* Returns whether image `i` of a file without smaller versions is selected. */
bool gi_selection_has(const struct gi_selection *selection, uint64_t i);
/* Returns the end of the error for a path that names no file. If its brackets choose images of a
 * file in another form, as in "scan.tif[0:2]", it tells the form that is wanted; otherwise it is
 * "".
 */
const char *gi_path_hint(const char *path);

/* Reads the image at `path`, where "-" is standard input. If the file holds several images,
 * options->image or the path (gi_path_file()) must tell the number of the image to read
 * (imgio/pages.h reads all images). `image` and `metadata` are made here and freed by the caller.
 * info, metadata and warning may be NULL. The error text starts with the path. Errors: GI_E_IO,
 * GI_E_FORMAT, GI_E_UNSUPPORTED, GI_E_LIMIT, GI_E_MEMORY. */
enum gi_status gi_load(struct gi_image *image, struct gi_metadata *metadata,
                       struct gi_file_info *info, const char *path,
                       const struct gi_load_options *options, struct gi_err *warning,
                       struct gi_err *err);

/* Reads an image from memory. Messages begin with `name`. The fuzzers call this function. */
enum gi_status gi_load_memory(struct gi_image *image, struct gi_metadata *metadata,
                              struct gi_file_info *info, const void *bytes, size_t nbytes,
                              const char *name, const struct gi_load_options *options,
                              struct gi_err *warning, struct gi_err *err);

/* A file being written. Nothing exists under its name before gi_sink_commit(). */
struct gi_sink;

/* Opens a sink for `path`. "-" is standard output, to which bytes are written as they come. With
 * `no_clobber` an existing file is an error, even if the file appears only before the commit. A
 * symbolic link is followed and stays. Device files, pipes and the like are written directly.
 * Errors: GI_E_IO, GI_E_AGAIN, GI_E_MEMORY; functions that write may also return GI_E_PIPE. The
 * process must ignore SIGXFSZ and SIGPIPE, because otherwise these signals end the process in place
 * of the errors EFBIG and EPIPE. */
enum gi_status gi_sink_open(struct gi_sink **sink, const char *path, bool no_clobber,
                            struct gi_err *err);
/* Fills `err` for an output `path`, called `name` in messages, that could not be made because of
 * `why`, an errno. The first folder of the path that does not exist is named. Returns the status.
 */
enum gi_status gi_path_fail(const char *name, const char *path, int why, struct gi_err *err);
/* Opens a sink that collects its bytes in memory. Messages begin with `name`. gi_sink_take() ends
 * the sink and passes the malloc()ed bytes to the caller (NULL if there are none).
 * gi_sink_abandon() discards the sink. Errors: GI_E_MEMORY. */
enum gi_status gi_sink_open_memory(struct gi_sink **sink, const char *name, struct gi_err *err);
enum gi_status gi_sink_take(struct gi_sink **sink, void **bytes, size_t *nbytes,
                            struct gi_err *err);
/* Opens a sink for an open file without a name, which the sink closes. Messages begin with `name`.
 */
void gi_sink_open_fd(struct gi_sink **sink, const char *name, int fd);
/* Returns the number of further names (hard links) of the file that is replaced. */
unsigned long gi_sink_other_links(const struct gi_sink *sink);
/* Returns whether a file appears when the sink is committed. Otherwise the bytes go to standard
 * output, a pipe or a device as they are written. */
bool gi_sink_is_file(const struct gi_sink *sink);
/* Appends bytes to a buffer. After an error every further write fails without a message. */
enum gi_status gi_sink_write(struct gi_sink *sink, const void *bytes, size_t nbytes,
                             struct gi_err *err);
/* Writes the buffered bytes to a pipe or, in case of a file, to the file that has no name yet. */
enum gi_status gi_sink_flush(struct gi_sink *sink, struct gi_err *err);
enum gi_status gi_sink_printf(struct gi_sink *sink, struct gi_err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Gives the complete file its name, and sets *sink to NULL. On an error no file appears and an
 * older file stays. With `durable`, fsync() is called first. */
enum gi_status gi_sink_commit(struct gi_sink **sink, bool durable, struct gi_err *err);
/* Discards the output and sets *sink to NULL. Does nothing if *sink is NULL already. */
void gi_sink_abandon(struct gi_sink **sink);
/* A bundle of outputs, which gi_bundle_commit() moves to their targets all together or not at all.
 * Only one thread may use a bundle at a time, but several may write files into its folders. */
struct gi_bundle;

/* Makes a bundle. With `clears`, the bundle also removes what killed processes left in the folders
 * of the outputs, by gi_sink_clear_dead(). `clears` is false if the caller has done that. */
enum gi_status gi_bundle_new(struct gi_bundle **bundle, bool clears, struct gi_err *err);
/* Open a file and keep it for the bundle. gi_bundle_open() is called in place of gi_sink_open().
 * Once the file is written, gi_bundle_keep() is called in place of gi_sink_commit(). If `bundle` is
 * NULL, the two functions do the same as those of the sink. */
enum gi_status gi_bundle_open(struct gi_bundle *bundle, struct gi_sink **sink, const char *path,
                              bool no_clobber, struct gi_err *err);
enum gi_status gi_bundle_keep(struct gi_bundle *bundle, struct gi_sink **sink, bool durable,
                              struct gi_err *err);
/* Adds a folder to the bundle. gi_bundle_open() then opens the folder's files as `path`/name. The
 * new folder replaces an older folder if that is empty, or contains only files for which `ours`
 * (may be NULL) returns true. Those files are removed. Errors: GI_E_IO, GI_E_MEMORY. */
enum gi_status gi_bundle_folder(struct gi_bundle *bundle, const char *path,
                                bool (*ours)(const char *name), struct gi_err *err);
/* Creates a folder below one of the bundle, unless it exists. Errors: GI_E_IO, GI_E_AGAIN. */
enum gi_status gi_bundle_subfolder(const struct gi_bundle *bundle, const char *path,
                                   struct gi_err *err);
/* Returns whether `path`, which need not exist yet, is in a folder of the bundle. Returns false if
 * `bundle` is NULL. */
bool gi_bundle_holds(const struct gi_bundle *bundle, const char *path);
/* Returns whether the file `name` may be removed together with its folder, whose descriptor is
 * `folder`. This is true for "." and "..", and for regular files (no links) for which `ours`
 * returns true. */
bool gi_bundle_replaces(int folder, const char *name, bool (*ours)(const char *name));
/* Moves all outputs to their targets, and sets *bundle to NULL. Output to standard output, pipes
 * and devices was written by gi_bundle_keep() already. On an error nothing appears and older files
 * stay. There is one exception: on a file system that can't exchange names, files that were
 * replaced before the failure stay replaced. */
enum gi_status gi_bundle_commit(struct gi_bundle **bundle, struct gi_err *err);
/* Discards everything and sets *bundle to NULL. Does nothing if *bundle is NULL already. */
void gi_bundle_abandon(struct gi_bundle **bundle);

/* Removes the temporary files and folders of all open sinks and bundles. Only signal handlers may
 * call this function, which is safe in them. The process must end afterwards. */
void gi_sink_signal_cleanup(void);

/* Removes the temporary files in `folder` that killed processes left. Files of running processes
 * stay. If a process is committing several outputs in the folder, nothing is removed. Files that
 * can't be removed stay. */
void gi_sink_clear_dead(const char *folder);

/* Values in place of a level of compression. */
enum {
    /* CCITT Group 4 for images of black and white in TIFF, which then have one bit per sample. It
     * is an error for other formats and images. */
    GI_COMPRESSION_G4 = 10,
    /* What suits the content: in PNG, for each strip of rows, runs and Huffman codes
     * (imgio/png/png_runs.h) or level GI_AUTO_LEVEL, and in TIFF that level. */
    GI_COMPRESSION_AUTO,
    GI_AUTO_LEVEL = 1,
};

/* Default JPEG quality and compression. PNG files of photographs are at most 7 % larger than those
 * of libpng's level 6, and are written in less than a tenth of the time. */
enum { GI_QUALITY_KEEP, GI_DEFAULT_QUALITY = 90, GI_DEFAULT_COMPRESSION = GI_COMPRESSION_AUTO };

/* When a PNG has a palette, or gray samples of 1, 2 or 4 bits. Pixels are the same either way. */
enum gi_palette_use {
    GI_PALETTE_AUTO, /* if gi_metadata.few_colors is set, and there are at most 256 colours */
    GI_PALETTE_NEVER,
    GI_PALETTE_ALWAYS, /* it is an error if that is impossible */
};

/* The colours of an output: conversion between ICC profiles (imgio/metadata/icc_convert.h). A
 * profile is srgb, display-p3, adobe-rgb, gray or the path of a file. */
struct gi_save_color {
    const char *profile; /* the image is converted to it; NULL: its samples stay */
    const char *assign;  /* taken as the profile of the image; NULL: that of its file */
    int intent; /* 0 perceptual, 1 relative, 2 saturation, 3 absolute (ICC.1:2022, 7.2.15) */
    bool no_black_point; /* without compensation of the black point */
};

struct gi_save_options {
    /* suffix of a format; if NULL, the format follows from the prefix ("png:-") or suffix of the
     * path */
    const char *format;
    /* Bits per sample to write, if the format can hold them: 1, 8, 16, 32 for float, or 0 for the
     * bits of the image. With 1, it is an error if the format can't hold samples of one bit, or if
     * samples are neither black nor white. */
    int bits;
    /* JPEG, WebP, HEIC and AVIF, 1 to 100. GI_QUALITY_KEEP: a JPEG has the tables and sampling
     * factors of gi_metadata.jpeg, otherwise those of GI_DEFAULT_QUALITY. */
    int quality;
    /* If not 0, the quality is the highest, up to `quality`, at which the file has at most that
     * many bytes. Formats without a quality are an error. */
    uint64_t max_nbytes;
    const struct gi_judge *judge; /* judge.h; NULL: none */
    struct gi_save_jpeg jpeg;
    int palette;     /* PNG: enum gi_palette_use */
    int compression; /* PNG and TIFF: 0 to 9, GI_COMPRESSION_G4 or GI_COMPRESSION_AUTO */
    bool no_clobber;
    bool durable;
    /* Background for images with alpha: red, green and blue, 0 to 1. The image is composited over
     * this colour and loses its alpha. If this is NULL, the image is composited over black, but
     * only if the format can't hold alpha. */
    const double *background;
    struct gi_save_color color;
    bool channels_first; /* .npy: writes (channels, height, width) */
    int tile;    /* TIFF: pixels along the sides of tiles, a multiple of 16; 0: by the size */
    bool strict; /* a property that the format can't hold is an error, not a warning */
    bool joined; /* the image becomes a page or frame of a file with several */
    /* EXIF orientation to write, 2 to 8. Samples are turned so that viewers show the same picture.
     * 0 and 1 write no orientation. */
    int orientation;
    /* threads that encode, on which the file's bytes do not depend; NULL for one thread */
    const struct gi_parallel *parallel;
    struct gi_bundle *bundle; /* commits the file; NULL: gi_save() commits it */
    /* The samples as gi_save_coding() describes them, encoded before. The image then needs no
     * samples. NULL: the image is encoded. */
    const struct gi_encoded *encoded;
    /* The rows of the image, which then needs no samples. Only if gi_save_takes_rows() returns
     * true. NULL: the image has samples. */
    const struct gi_row_source *rows;
};

/* Returns whether gi_save() can write an image of this shape row by row, because no sample has to
 * be converted and the format is written from top to bottom. */
bool gi_save_takes_rows(const struct gi_image *shape, const struct gi_metadata *metadata,
                        const char *path, const struct gi_save_options *options);

/* Writes `image` to `path`, which may begin with a format such as "png:". "-" is standard output.
 * Samples are converted to the nearest type that the format can hold (float to 16 bits, 16 to 8
 * bits). If the format can't hold alpha, the image is composited over black, with a warning.
 * `metadata` may be NULL. Errors: GI_E_IO, GI_E_PIPE, GI_E_USAGE (no such format),
 * GI_E_UNSUPPORTED, GI_E_MEMORY. */
enum gi_status gi_save(const struct gi_image *image, const struct gi_metadata *metadata,
                       const char *path, const struct gi_save_options *options,
                       struct gi_err *warning, struct gi_err *err);

/* Writes an image into malloc()ed memory, *bytes, which the caller frees. The format is
 * options->format. If that is NULL, the format follows from the suffix of `name`. Messages begin
 * with `name`. */
enum gi_status gi_save_memory(void **bytes, size_t *nbytes, const struct gi_image *image,
                              const struct gi_metadata *metadata, const char *name,
                              const struct gi_save_options *options, struct gi_err *warning,
                              struct gi_err *err);

/* Writes a file that is encoded already, with options->format, bundle, no_clobber and durable. A
 * warning is added to `warning`. Errors: as gi_save(). */
enum gi_status gi_save_bytes(const void *bytes, size_t nbytes, const char *path,
                             const struct gi_save_options *options, struct gi_err *warning,
                             struct gi_err *err);

/* Returns whether gi_save() with these arguments writes the samples of the image, whose shape
 * suffices, unchanged as a JPEG, or as a PNG with the default compression. Then *coding describes
 * this file, so that the samples can be encoded elsewhere (options->encoded). */
bool gi_save_coding(struct gi_coding *coding, const struct gi_image *image,
                    const struct gi_metadata *metadata, const char *path,
                    const struct gi_save_options *options);

/* Returns the name of the format that gi_save() would use for this path and format, or NULL if
 * there is none. */
const char *gi_save_format(const char *path, const char *format);

/* Names in `warning` the metadata that a file of the format loses which is written by other means
 * than gi_save(). With options->strict a loss is an error. Messages begin with `name`. Errors:
 * GI_E_UNSUPPORTED. */
enum gi_status gi_save_losses(const struct gi_image *image, const struct gi_metadata *metadata,
                              const char *format, const char *name,
                              const struct gi_save_options *options, struct gi_err *warning,
                              struct gi_err *err);

/* Returns the percentage of float samples outside 0 to 1, which become black and white in integers.
 * NaN does not count. */
int gi_image_outside(const struct gi_image *image);

/* Checks that gi_save() would find a format, so that a command can be refused before anything is
 * computed. Errors: GI_E_USAGE, with a text that lists the formats that can be written. */
enum gi_status gi_save_check(const char *path, const char *format, struct gi_err *err);

/* As gi_save_check(), for options with an orientation above 1. The check then also fails if the
 * format has no EXIF. */
enum gi_status gi_save_check_orientation(const char *path, const char *format, struct gi_err *err);

/* The part of struct gi_format that `gpuimg list` prints. gi_format_info() returns NULL past the
 * end of the table of formats. */
struct gi_format_info {
    const char *name;     /* "png" */
    const char *suffixes; /* `name` and other suffixes, as in "jpg jpeg", for --format and paths */
    const char *summary;  /* "Portable Network Graphics" */
    bool reads, writes, u8, u16, f32, alpha;
    bool quality; /* is written with gi_save_options.quality */
    /* the format is for video, whose frames are processed and written as video, not as images */
    bool video;
    const char *missing; /* the library that this build lacks for the format, or NULL */
};
const struct gi_format_info *gi_format_at(int index);
/* Returns the information about the format whose files begin with these bytes (64 bytes are
 * enough), or NULL if there is no such format. */
const struct gi_format_info *gi_format_of(const void *bytes, size_t nbytes);

/* Loads the libraries for the format with this index in the table. Errors: GI_E_UNSUPPORTED,
 * because this build or this system lacks the library. */
enum gi_status gi_format_ready(int index, struct gi_err *err);
