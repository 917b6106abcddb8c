/* Reading and writing images.
 * | The format of an input is recognised by its content, never by its name. Outputs are written
 * through an unnamed or temporary file and a rename, so that an output is either complete or
 * absent.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_IMGIO_H
#define GI_IMGIO_IMGIO_H

#include "imgio/buffer.h"
#include "imgio/image.h"

/* The defaults of struct gi_limits. */
enum { GI_DEFAULT_MAX_PIXELS = 1 << 28 };
#define GI_DEFAULT_MAX_BYTES (UINT64_C(64) << 30)

/* Callbacks during decoding. `tell` receives the shape (without samples) once it is known and
 * within the limits, so that the caller can prepare while the samples are decoded; it may be called
 * twice. Before that `shrink` gets the shape of the upright picture, and returns the factor by
 * which its sides may be reduced: 1, 2, 4 or 8 (NULL: 1). JPEGs are then decoded at that size,
 * rounded up (struct gi_shrunk), unless samples are converted to linear light; other formats are
 * not reduced. */
struct gi_shape_listener {
    void (*tell)(void *arg, const struct gi_image *shape);
    void *arg;
    int (*shrink)(void *arg, const struct gi_image *picture);
};

/* The part of an input that was read to recognise its format, and the reader for the rest.
 * gi_load() takes both from here. gi_ahead_free() frees what is left and sets the pointer to NULL;
 * if it is NULL already, nothing happens. */
struct gi_ahead {
    struct gi_buffer bytes;
    struct gi_reader *reader; /* imgio/reader.h */
};
void gi_ahead_free(struct gi_ahead **ahead);

struct gi_load_options {
    struct gi_limits limits;
    bool allow_partial; /* a damaged file gives a warning and what could be read; missing samples
                           are 0, in a JPEG what libjpeg fills in */
    const struct gi_shape_listener *listener; /* NULL: no callbacks */
    const struct gi_parallel *parallel;       /* NULL: one thread. The image is the same */
    const struct gi_allocator *allocator;     /* allocates the samples; NULL: plain memory */
    int image;       /* image of a file that holds several, from 1; 0: the only one */
    uint64_t offset; /* where that image is, from the list of its format; 0: it has to be found */
    uint64_t skip;   /* with `offset`: the samples are that many bytes further on */
    bool together;   /* the images of the file are read to be written together: a description that
                        tells how they belong together (OME, ImageJ) is kept */
    struct gi_ahead *ahead; /* for gi_load(): an input to read instead of the path; NULL: none */
    /* Decodes integer samples to linear light (floats, 0 to 1) by the file's profile or sRGB's
     * curve; float samples are linear light already. gi_save() encodes them again in light_bits
     * bits (8, 16, 32 for float; 0: as in the file). */
    bool linear;
    int light_bits;
    bool labels; /* reads label arrays (signed integers, or 32 bits and more) as GI_U32 images; not
                    together with `linear` */
    bool channels_first; /* reads .npy in the order (channels, height, width) if that is possible */
    bool header_only; /* reads no samples: the image has a shape but NULL data, no limit holds, and
                         faults after the header (damage, more images) are not noticed */
};

/* Properties of a file besides its samples. */
struct gi_file_info {
    const char *format; /* name of the format's row: "png" */
    int bits;           /* bits per stored sample: 1 to 16; 32 or 64 for float and integers */
    unsigned maxval; /* largest sample value that the file declares, read as full scale: 1 to 65535;
                        0 for float */
    bool integers;   /* the file's samples are integers, read as floats of the same value */
    const char *detail;  /* constant text: "palette, interlaced", "progressive"; "" for none */
    int orientation;     /* EXIF, 1 to 8; 1: none. Already applied to the image */
    double dpi_x, dpi_y; /* 0 if unknown */
    int images; /* pages of a TIFF, except smaller versions and masks of others; 1 in other formats;
                   0: unknown, because the TIFF is damaged */
    uint64_t nbytes; /* of the file */
};

/* A text of the file (a title, a comment), in UTF-8. */
struct gi_text {
    char *keyword; /* as in PNG: "Title", "Author", "Comment"...; owned; one allocation holds it and
                      the other texts */
    const char *language, *translated; /* the keyword translated; "" for none */
    const char *text;
};

/* Metadata that accompany an image. Each member is owned here, and NULL if the file had none. */
struct gi_metadata {
    void *icc; /* ICC profile */
    size_t icc_nbytes;
    void *exif; /* TIFF block without the leading "Exif\0\0"; its orientation is reset to 1 */
    size_t exif_nbytes;
    double dpi_x, dpi_y; /* 0: unknown */
    void *xmp;           /* XMP packet */
    size_t xmp_nbytes;
    struct gi_text *texts;
    int ntexts;
    size_t texts_nbytes; /* of memory */
    void *colour; /* PNG's gAMA, cHRM, sRGB, cICP, mDCV and cLLI; of each its name, the length in
                     one byte, its data */
    size_t colour_nbytes;
    struct gi_linear_light *light; /* not NULL: the samples are linear light, and gi_save() encodes
                                      them with this; NULL: they are as in the file */
    bool starved; /* memory ran out for a part of the metadata, so that gi_load() fails */
};

void gi_metadata_free(struct gi_metadata *metadata);

/* Metadata to be dropped. EXIF: also XMP, which repeats it. GPS: the GPS directory in EXIF with its
 * data, and any XMP or text that names a place. */
enum gi_strip { GI_STRIP_NOTHING, GI_STRIP_ALL, GI_STRIP_EXIF, GI_STRIP_GPS };
void gi_metadata_strip(struct gi_metadata *metadata, enum gi_strip what);
/* Drops a description by OME, which names size, type and channels of the pages; returns whether
 * there was one. */
bool gi_metadata_drop_ome(struct gi_metadata *metadata);
/* Drops an ICC profile that is not for images with this number of colour channels: 1 or 3. */
void gi_metadata_fit(struct gi_metadata *metadata, int colour_channels);

/* The images of a file that a path names in brackets. */
struct gi_selection {
    bool given;      /* there are brackets */
    bool several;    /* "[0-7]" or "[*]", also if that is one image */
    int first, last; /* from 0; `last` -1: the last of the file */
};

/* Returns the number of bytes of `path` that name the file: "scan.tif[3]" is the fourth image of
 * scan.tif, "scan.tif[0-7]" its first eight and "scan.tif[*]" all of them, unless a file has that
 * whole name. */
size_t gi_path_file(const char *path, struct gi_selection *selection);

/* Reads the image at `path`; "-" is standard input. A file of several images is read at
 * options->image, or at the number in the path (gi_path_file()); without one it is an error
 * (imgio/pages.h reads all of them). `image` and `metadata` are made here and freed by the caller;
 * info, metadata and warning may be NULL. The error text starts with the path. Errors: GI_E_IO,
 * GI_E_FORMAT, GI_E_UNSUPPORTED, GI_E_LIMIT, GI_E_MEMORY. */
enum gi_status gi_load(struct gi_image *image, struct gi_metadata *metadata,
                       struct gi_file_info *info, const char *path,
                       const struct gi_load_options *options, struct gi_err *warning,
                       struct gi_err *err);

/* Reads an image from memory; messages begin with `name`. The fuzzers call this function. */
enum gi_status gi_load_memory(struct gi_image *image, struct gi_metadata *metadata,
                              struct gi_file_info *info, const void *bytes, size_t nbytes,
                              const char *name, const struct gi_load_options *options,
                              struct gi_err *warning, struct gi_err *err);

/* A file being written: nothing exists under its name before gi_sink_commit(). */
struct gi_sink;

/* Opens a sink for `path`; "-" is standard output, which gets the bytes as they come. With
 * `no_clobber` an existing file is an error, even if it appears only before the commit. A symbolic
 * link is followed and stays. Device files, pipes and the like are written directly. Errors:
 * GI_E_IO, GI_E_AGAIN, GI_E_MEMORY; from writing also GI_E_PIPE. The process must ignore SIGXFSZ
 * and SIGPIPE, or EFBIG and EPIPE end it instead. */
enum gi_status gi_sink_open(struct gi_sink **sink, const char *path, bool no_clobber,
                            struct gi_err *err);
/* Opens a sink that collects its bytes in memory; messages begin with `name`. gi_sink_take() ends
 * it and gives the malloc()ed bytes to the caller (NULL if there are none); gi_sink_abandon()
 * discards it. Errors: GI_E_MEMORY. */
enum gi_status gi_sink_open_memory(struct gi_sink **sink, const char *name, struct gi_err *err);
enum gi_status gi_sink_take(struct gi_sink **sink, void **bytes, size_t *nbytes,
                            struct gi_err *err);
/* Returns the number of further names (hard links) of the file that is replaced. */
unsigned long gi_sink_other_links(const struct gi_sink *sink);
/* Returns whether a file appears when the sink is committed. Otherwise the bytes go to standard
 * output, a pipe or a device as they are written. */
bool gi_sink_is_file(const struct gi_sink *sink);
/* Appends bytes to a buffer. After an error every further write fails without a message. */
enum gi_status gi_sink_write(struct gi_sink *sink, const void *bytes, size_t nbytes,
                             struct gi_err *err);
/* Writes out the buffered bytes: to a pipe at once, otherwise to the file, still without a name. */
enum gi_status gi_sink_flush(struct gi_sink *sink, struct gi_err *err);
enum gi_status gi_sink_printf(struct gi_sink *sink, struct gi_err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Gives the complete file its name, and sets *sink to NULL. On an error no file appears and an
 * older file stays. `durable`: calls fsync() first. */
enum gi_status gi_sink_commit(struct gi_sink **sink, bool durable, struct gi_err *err);
/* Discards the output and sets *sink to NULL. NULL: does nothing. */
void gi_sink_abandon(struct gi_sink **sink);
/* A bundle of outputs, which gi_bundle_commit() puts in place all together or not at all. Only one
 * thread may use it at a time. */
struct gi_bundle;

/* Makes a bundle. `clears`: it also removes what killed processes left in the folders of the
 * outputs, by gi_sink_clear_dead(); false if the caller has done that. */
enum gi_status gi_bundle_new(struct gi_bundle **bundle, bool clears, struct gi_err *err);
/* Open a file and keep it for the bundle: gi_bundle_open() in place of gi_sink_open(), and, once
 * the file is written, gi_bundle_keep() in place of gi_sink_commit(). If `bundle` is NULL they do
 * the same as those functions. */
enum gi_status gi_bundle_open(struct gi_bundle *bundle, struct gi_sink **sink, const char *path,
                              bool no_clobber, struct gi_err *err);
enum gi_status gi_bundle_keep(struct gi_bundle *bundle, struct gi_sink **sink, bool durable,
                              struct gi_err *err);
/* Adds a folder to the bundle. gi_bundle_open() then opens its files as `path`/name. It replaces an
 * older folder if that is empty, or contains only files for which `ours` (may be NULL) returns
 * true; these are removed. Errors: GI_E_IO, GI_E_MEMORY. */
enum gi_status gi_bundle_folder(struct gi_bundle *bundle, const char *path,
                                bool (*ours)(const char *name), struct gi_err *err);
/* Returns whether `path`, which need not exist yet, is in a folder of the bundle. NULL bundle:
 * false. */
bool gi_bundle_holds(const struct gi_bundle *bundle, const char *path);
/* Returns whether `name` may be removed together with its folder, whose descriptor is given: "."
 * and "..", and regular files (no links) for which `ours` returns true. */
bool gi_bundle_replaces(int folder, const char *name, bool (*ours)(const char *name));
/* Puts everything in place, and sets *bundle to NULL. Output to standard output, pipes and devices
 * was written by gi_bundle_keep() already. On an error nothing appears and older files stay, except
 * a file replaced before the failure on a file system that can't exchange names. */
enum gi_status gi_bundle_commit(struct gi_bundle **bundle, struct gi_err *err);
/* Discards everything and sets *bundle to NULL. NULL: does nothing. */
void gi_bundle_abandon(struct gi_bundle **bundle);

/* Removes the temporary files and folders of all open sinks and bundles. For signal handlers only,
 * in which it is safe: the process must end afterwards. */
void gi_sink_signal_cleanup(void);

/* Removes the temporary files in `folder` of killed processes, not of running ones. If a process is
 * committing several outputs there, nothing is removed. Files that can't be removed stay. */
void gi_sink_clear_dead(const char *folder);

/* Default JPEG quality and PNG compression. On photographs level 1 gives files at most 3 % larger
 * than libpng's level 6, in a tenth of its time. */
enum { GI_DEFAULT_QUALITY = 90, GI_DEFAULT_COMPRESSION = 1 };

struct gi_save_options {
    const char *format; /* suffix of a format; NULL: by prefix ("png:-") or suffix of the path */
    int bits; /* bits per sample to write, if the format can hold them: 1 (an error if it can't or
                 if samples are neither black nor white), 8, 16, 32 for float; 0: as in the image */
    int quality;     /* JPEG and WebP, 1 to 100 */
    int compression; /* PNG and TIFF, 0 to 9 */
    bool no_clobber;
    bool durable;
    /* Background for images with alpha: red, green and blue, 0 to 1. The image is composited over
     * it and loses its alpha. NULL: black, and only if the format can't hold alpha. */
    const double *background;
    bool channels_first; /* .npy: writes (channels, height, width) */
    bool strict;         /* a property that the format can't hold is an error, not a warning */
    int orientation; /* EXIF orientation to write, 2 to 8; samples are turned so that viewers show
                        the same; 0 or 1: none */
    const struct gi_parallel *parallel; /* the file's bytes do not depend on it; NULL: one thread */
    struct gi_bundle *bundle; /* bundle that commits the file; NULL: gi_save() commits it */
};

/* Writes `image` to `path`, which may begin with a format such as "png:"; "-" is standard output.
 * Samples are converted to the nearest type that the format can hold (float to 16 bits, 16 to 8).
 * Alpha that it can't hold is composited over black, with a warning. `metadata` may be NULL.
 * Errors: GI_E_IO, GI_E_PIPE, GI_E_USAGE (no such format), GI_E_UNSUPPORTED, GI_E_MEMORY. */
enum gi_status gi_save(const struct gi_image *image, const struct gi_metadata *metadata,
                       const char *path, const struct gi_save_options *options,
                       struct gi_err *warning, struct gi_err *err);

/* Writes an image into malloc()ed memory, *bytes, which the caller frees. The format is
 * options->format, or follows from the suffix of `name`, with which messages begin. */
enum gi_status gi_save_memory(void **bytes, size_t *nbytes, const struct gi_image *image,
                              const struct gi_metadata *metadata, const char *name,
                              const struct gi_save_options *options, struct gi_err *warning,
                              struct gi_err *err);

/* Returns the name of the format that gi_save() would use for these; NULL: there is none. */
const char *gi_save_format(const char *path, const char *format);

/* Checks that gi_save() would find a format, so that a command can be refused before it computes.
 * Errors: GI_E_USAGE with the list of formats that can be written. */
enum gi_status gi_save_check(const char *path, const char *format, struct gi_err *err);

/* As gi_save_check(), for an options.orientation above 1, which also fails if the format has no
 * EXIF. */
enum gi_status gi_save_check_orientation(const char *path, const char *format, struct gi_err *err);

/* The part of a format's row that `gpuimg list` prints; NULL past the end of the table. */
struct gi_format_info {
    const char *name;     /* "png" */
    const char *suffixes; /* "jpg jpeg": `name` and others, for --format and paths */
    const char *summary;  /* "Portable Network Graphics" */
    bool reads, writes, u8, u16, f32, alpha;
    bool video;          /* video: frames are processed and written as video, not as images */
    const char *missing; /* library that this build lacks for it; NULL: none */
};
const struct gi_format_info *gi_format_at(int index);
/* Returns the row of the format whose files begin with these bytes (64 are enough); NULL: none. */
const struct gi_format_info *gi_format_of(const void *bytes, size_t nbytes);

/* Loads the libraries for the format with this index. Errors: GI_E_UNSUPPORTED, because this build
 * or this system lacks the library. */
enum gi_status gi_format_ready(int index, struct gi_err *err);

#endif
