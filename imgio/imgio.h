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

/* Callbacks during decoding. `tell` receives the shape (without samples) when it is known and
 * within the limits, before the samples are decoded, so that the caller can prepare meanwhile; it
 * may be called twice. `shrink` is called before that with the shape of the upright picture, and
 * returns the factor by which its sides may be reduced: 1, 2, 4 or 8. JPEGs are then decoded at
 * that reduced size, rounded up (struct gi_shrunk), unless samples are converted to linear light;
 * other formats are not reduced. NULL: 1. */
struct gi_shape_listener {
    void (*tell)(void *arg, const struct gi_image *shape);
    void *arg;
    int (*shrink)(void *arg, const struct gi_image *picture);
};

/* The part of an input that was read to recognise its format, and the reader for the rest. Both are
 * owned here until gi_load() takes them. gi_ahead_free() frees them and sets them to NULL; NULL:
 * nothing happens. */
struct gi_ahead {
    struct gi_buffer bytes;
    struct gi_reader *reader; /* imgio/reader.h */
};
void gi_ahead_free(struct gi_ahead **ahead);

struct gi_load_options {
    struct gi_limits limits;
    bool allow_partial; /* a damaged file yields what could be read (missing samples are 0, in a
                           JPEG what libjpeg puts there), and `warning` is filled */
    const struct gi_shape_listener *listener; /* NULL: no callbacks */
    const struct gi_parallel *parallel;       /* NULL: one thread. The image is the same */
    const struct gi_allocator *allocator;     /* where the samples go; NULL: plain memory */
    int image; /* image of a file that holds several, from 1; 0: the first, with a warning */
    struct gi_ahead *ahead; /* for gi_load(): the input to read in place of the path. NULL: none */
    /* Decodes integer samples to linear light, 0 to 1 in float, by the file's profile or sRGB's
     * curve; gi_save() encodes them again, with light_bits (8, 16, 32 for float; 0: as in the
     * file). Float samples are taken as linear light unchanged. */
    bool linear;
    int light_bits;
    bool labels; /* reads arrays of labels (integers of 32 bits or more, or with a sign) as GI_U32
                    images; not with `linear` */
    bool channels_first; /* reads .npy as (channels, height, width) if both orders are possible */
    bool header_only;    /* reads no samples: the image has its shape and NULL data, no limit holds,
                            and faults behind the header (damage, more images) are not seen */
};

/* Properties of a file besides its samples. */
struct gi_file_info {
    const char *format;  /* name of the format's row: "png" */
    int bits;            /* bits per sample as stored: 1 to 16; 32 or 64 for float and integers */
    unsigned maxval;     /* the file's own largest sample value, which reads as full scale: 1 to
                            65535; 0 for float */
    bool integers;       /* the file has integers that are read as floats of the same value */
    const char *detail;  /* static words: "palette, interlaced", "progressive"; "" for none */
    int orientation;     /* EXIF, 1 to 8; 1 where none. Already applied to the image */
    double dpi_x, dpi_y; /* 0 if unknown */
    int images;          /* pages of a TIFF; 0: unknown, because it is damaged; otherwise 1 */
    uint64_t nbytes;     /* of the file */
};

/* A text of the file (a title, a comment), in UTF-8. */
struct gi_text {
    char *keyword; /* as in PNG: "Title", "Author", "Comment"...; owned; the other texts are in
                      the same allocation */
    const char *language, *translated; /* the keyword translated; "" for none */
    const char *text;
};

/* Metadata that stay with an image: each NULL if absent, owned here. */
struct gi_metadata {
    void *icc; /* ICC profile */
    size_t icc_nbytes;
    void *exif; /* TIFF block without the "Exif\0\0" head; its orientation is reset to 1 */
    size_t exif_nbytes;
    double dpi_x, dpi_y; /* 0: unknown */
    void *xmp;           /* XMP packet */
    size_t xmp_nbytes;
    struct gi_text *texts;
    int ntexts;
    size_t texts_nbytes; /* of memory */
    void *colour;        /* PNG's gAMA, cHRM, sRGB, cICP, mDCV and cLLI, each as name, length in one
                            byte, data */
    size_t colour_nbytes;
    struct gi_linear_light *light; /* the samples are linear light, and gi_save() encodes them by
                                      this. NULL: they are as in the file */
    bool starved;                  /* memory ran out for a part of the metadata; gi_load() fails
                                      then */
};

void gi_metadata_free(struct gi_metadata *metadata);

/* Metadata to be dropped. EXIF: drops XMP too, which repeats it. GPS: drops the GPS directory in
 * EXIF with its data, and XMP and texts that name a place. */
enum gi_strip { GI_STRIP_NOTHING, GI_STRIP_ALL, GI_STRIP_EXIF, GI_STRIP_GPS };
void gi_metadata_strip(struct gi_metadata *metadata, enum gi_strip what);
/* Drops an ICC profile that is not for gray (1) or colour (3). */
void gi_metadata_fit(struct gi_metadata *metadata, int colour_channels);

/* Returns the number of bytes of `path` that name the file: "scan.tif[3]" is the fourth image of
 * scan.tif, unless a file has that whole name. *image: its number from 1; 0 if the path gives none.
 */
size_t gi_path_file(const char *path, int *image);

/* *n becomes the number of images in the file at `path`, each of which loads by its number in
 * brackets; 1 in formats of which only the first image is read. Reads no more than it needs.
 * Errors: as gi_load(). */
enum gi_status gi_count_images(int *n, const char *path, const struct gi_load_options *options,
                               struct gi_err *err);

/* Reads the image at `path`, which may name one of several (gi_path_file()) unless options->image
 * does; "-" is standard input. `image` and `metadata` are made here and freed by the caller. info,
 * metadata and warning may be NULL. The error text starts with the path. Errors: GI_E_IO,
 * GI_E_FORMAT, GI_E_UNSUPPORTED, GI_E_LIMIT, GI_E_MEMORY. */
enum gi_status gi_load(struct gi_image *image, struct gi_metadata *metadata,
                       struct gi_file_info *info, const char *path,
                       const struct gi_load_options *options, struct gi_err *warning,
                       struct gi_err *err);

/* Reads an image from memory; messages begin with `name`. The fuzzers call this one. */
enum gi_status gi_load_memory(struct gi_image *image, struct gi_metadata *metadata,
                              struct gi_file_info *info, const void *bytes, size_t nbytes,
                              const char *name, const struct gi_load_options *options,
                              struct gi_err *warning, struct gi_err *err);

/* A file being written: nothing exists under its name before gi_sink_commit(). */
struct gi_sink;

/* Opens a sink for `path`; "-" is standard output (bytes go out as they come). With `no_clobber` an
 * existing file is an error, also one that appears meanwhile. A path that is a symbolic link is
 * written through: the link stays. Device files, pipes and the like are written directly.
 * Errors: GI_E_IO, GI_E_AGAIN, GI_E_MEMORY; from writing also GI_E_PIPE. EFBIG and EPIPE arrive as
 * errors only where the process ignores SIGXFSZ and SIGPIPE. */
enum gi_status gi_sink_open(struct gi_sink **sink, const char *path, bool no_clobber,
                            struct gi_err *err);
/* A sink that collects its bytes in memory; messages begin with `name`. It is ended by
 * gi_sink_take(), which gives the bytes, malloc()ed, to the caller (NULL if there are none), or by
 * gi_sink_abandon(). Errors: GI_E_MEMORY. */
enum gi_status gi_sink_open_memory(struct gi_sink **sink, const char *name, struct gi_err *err);
enum gi_status gi_sink_take(struct gi_sink **sink, void **bytes, size_t *nbytes,
                            struct gi_err *err);
/* Returns the number of other names (hard links) that the older file has besides the one that is
 * replaced. */
unsigned long gi_sink_other_links(const struct gi_sink *sink);
/* Returns whether a file appears when the sink is committed; false if the bytes go to standard
 * output, a pipe or a device as they are written. */
bool gi_sink_is_file(const struct gi_sink *sink);
/* Appends bytes; buffered. After an error every further write is refused without a message. */
enum gi_status gi_sink_write(struct gi_sink *sink, const void *bytes, size_t nbytes,
                             struct gi_err *err);
/* Writes out the buffered bytes: to a pipe at once, else to the file that has no name yet. */
enum gi_status gi_sink_flush(struct gi_sink *sink, struct gi_err *err);
enum gi_status gi_sink_printf(struct gi_sink *sink, struct gi_err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Gives the complete file its name; takes and nulls the sink. On an error no file appears and an
 * older file stays. `durable`: calls fsync() first. */
enum gi_status gi_sink_commit(struct gi_sink **sink, bool durable, struct gi_err *err);
/* Discards the output; takes and nulls. NULL: does nothing. */
void gi_sink_abandon(struct gi_sink **sink);
/* A bundle of outputs: gi_bundle_commit() puts all of them in place, or none. For one thread at a
 * time. */
struct gi_bundle;

/* `clears`: also removes what killed runs left in the folders of the outputs, by
 * gi_sink_clear_dead(); false if the caller has done so. */
enum gi_status gi_bundle_new(struct gi_bundle **bundle, bool clears, struct gi_err *err);
/* Opens a file of the bundle, as gi_sink_open() does, and keeps the written file for
 * gi_bundle_commit(), in place of gi_sink_commit(); takes and nulls the sink. If `bundle` is NULL
 * they are the same as these functions. */
enum gi_status gi_bundle_open(struct gi_bundle *bundle, struct gi_sink **sink, const char *path,
                              bool no_clobber, struct gi_err *err);
enum gi_status gi_bundle_keep(struct gi_bundle *bundle, struct gi_sink **sink, bool durable,
                              struct gi_err *err);
/* Adds a folder to the bundle, for files that gi_bundle_open() opens as `path`/name. It replaces an
 * older folder that is empty; with `ours`, also one that contains only files for which `ours`
 * returns true, and these are removed. Errors: GI_E_IO, GI_E_MEMORY. */
enum gi_status gi_bundle_folder(struct gi_bundle *bundle, const char *path,
                                bool (*ours)(const char *name), struct gi_err *err);
/* Returns whether `path` is in a folder of the bundle. It may not exist yet. `bundle` NULL: false.
 */
bool gi_bundle_holds(const struct gi_bundle *bundle, const char *path);
/* Returns whether the file `name` in the folder with that descriptor may be removed with the
 * folder: "." and "..", and a regular file (not a link) for which `ours` returns true. */
bool gi_bundle_replaces(int folder, const char *name, bool (*ours)(const char *name));
/* Puts everything in place; takes and nulls. Bytes to standard output, pipes and devices were
 * written by gi_bundle_keep(). On an error nothing appears and older files stay (if the file system
 * can't exchange names, a file that was replaced before the failure stays replaced). */
enum gi_status gi_bundle_commit(struct gi_bundle **bundle, struct gi_err *err);
/* Discards everything; takes and nulls. NULL: does nothing. */
void gi_bundle_abandon(struct gi_bundle **bundle);

/* Removes the temporary files and folders of every open sink and bundle. Safe to call in a signal
 * handler, and only there: the process is expected to end next. */
void gi_sink_signal_cleanup(void);

/* Removes temporary files that killed processes left in `folder`; those of running processes stay.
 * While a process is committing several outputs there, nothing is removed. Files that can't be
 * removed stay. */
void gi_sink_clear_dead(const char *folder);

/* Default JPEG quality and PNG compression: files of level 1 are at most 3 % larger than those of
 * libpng's level 6 on photographs, in a tenth of its time. */
enum { GI_DEFAULT_QUALITY = 90, GI_DEFAULT_COMPRESSION = 1 };

struct gi_save_options {
    const char *format; /* a suffix from the table of formats; NULL: chosen by prefix ("png:-")
                           or suffix */
    int bits;        /* bits per sample in the file, as far as the format holds them: 8, 16, 32 for
                        float; 0: those of the image */
    int quality;     /* JPEG and WebP, 1 to 100 */
    int compression; /* PNG and TIFF, 0 to 9 */
    bool no_clobber;
    bool durable;
    /* Background colour for images with alpha: red, green and blue, 0 to 1. The image is composited
     * over it and its alpha dropped. NULL: over black if the format can't hold alpha. */
    const double *background;
    bool channels_first; /* .npy: writes (channels, height, width) */
    bool strict;     /* a loss (something that the format cannot hold) is an error, not a warning */
    int orientation; /* EXIF orientation to be stored, 2 to 8: the samples are turned so that the
                        file looks the same; 0 or 1: upright */
    const struct gi_parallel *parallel; /* NULL: one thread. The bytes are the same */
    struct gi_bundle *bundle;           /* the bundle that the file belongs to; NULL: the file is
                                           committed alone */
};

/* Writes `image` to `path`, which may have a prefix "png:"; "-" is standard output. A type that the
 * format cannot hold is converted to the nearest that it can (float to 16 bits, 16 to 8); alpha
 * that it cannot hold is composited over black and named in `warning`. `metadata` may be NULL.
 * Errors: GI_E_IO, GI_E_PIPE, GI_E_USAGE (no format of that name), GI_E_UNSUPPORTED, GI_E_MEMORY.
 */
enum gi_status gi_save(const struct gi_image *image, const struct gi_metadata *metadata,
                       const char *path, const struct gi_save_options *options,
                       struct gi_err *warning, struct gi_err *err);

/* Writes an image into memory: *bytes are malloc()ed and owned by the caller. The format is
 * options->format, or follows from the suffix of `name`, with which messages begin. */
enum gi_status gi_save_memory(void **bytes, size_t *nbytes, const struct gi_image *image,
                              const struct gi_metadata *metadata, const char *name,
                              const struct gi_save_options *options, struct gi_err *warning,
                              struct gi_err *err);

/* Returns the name of the format that `format` (NULL: prefix or suffix of `path`) selects from the
 * table; NULL if there is none. */
const char *gi_save_format(const char *path, const char *format);

/* Checks whether gi_save() would find a format, so that a command can refuse before it works.
 * Errors: GI_E_USAGE with the list of formats that can be written. */
enum gi_status gi_save_check(const char *path, const char *format, struct gi_err *err);

/* Checks the same for an options.orientation above 1. Errors: GI_E_USAGE also if the format has no
 * EXIF. */
enum gi_status gi_save_check_orientation(const char *path, const char *format, struct gi_err *err);

/* The part of a format's row that `gpuimg list` prints; NULL past the end of the table. */
struct gi_format_info {
    const char *name;     /* "png" */
    const char *suffixes; /* "jpg jpeg", separated by spaces; --format accepts these, too, so that
                             `name` is one of them */
    const char *summary;  /* "Portable Network Graphics" */
    bool reads, writes, u8, u16, f32, alpha;
    bool video;          /* a video format: its frames are processed and written as video, not as
                            images */
    const char *missing; /* the library that this build lacks for the format; NULL: none */
};
const struct gi_format_info *gi_format_at(int index);
/* Returns the row of the format whose files begin with these bytes (64 are enough); NULL: none. */
const struct gi_format_info *gi_format_of(const void *bytes, size_t nbytes);

/* Loads the libraries that the format of that row needs. Errors: GI_E_UNSUPPORTED: "this build has
 * no libtiff", or the library is not installed. */
enum gi_status gi_format_ready(int index, struct gi_err *err);

#endif
