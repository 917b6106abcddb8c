/* Files to images and back.
 *
 * Reading: by content, never by name. Writing: through an unnamed or temporary file and a rename,
 * so that an output is either whole or not there. SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_IMGIO_H
#define GI_IMGIO_IMGIO_H

#include "imgio/buffer.h"
#include "imgio/image.h"

/* The defaults of struct gi_limits. */
enum { GI_DEFAULT_MAX_PIXELS = 1 << 28 };
#define GI_DEFAULT_MAX_BYTES (UINT64_C(64) << 30)

/* Callbacks during decoding. `tell` receives the shape (without samples) when it is known and
 * within the limits, before the samples are decoded, so that the caller can prepare meanwhile; it
 * may be called twice. `shrink` is called before that with the shape of the picture, the right way
 * up, and returns by which factor its sides may be reduced: 1, 2, 4 or 8. JPEGs are then decoded at
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
    int image; /* of a file that holds several, from 1; 0: the first, with a warning */
    struct gi_ahead
        *ahead; /* of gi_load(): read this in place of the path. NULL: nothing was taken */
    /* Whole numbers become amounts of light, 0 to 1 in float, by the file's profile or sRGB's
     * curve, and samples of light_bits (8, 16, 32 for float; 0: as they were) again when they are
     * saved. Float samples are taken for light as they are. */
    bool linear;
    int light_bits;
    bool labels;      /* arrays of 32-bit labels too, as GI_U32 images; not with `linear` */
    bool header_only; /* no samples: the image has its shape and NULL data, no limit holds, and what
                         the file does not say in its header (damage, more images) is not seen */
};

/* What a file says besides its samples. */
struct gi_file_info {
    const char *format;  /* name of the format's row: "png" */
    int bits;            /* a sample, as stored: 1 to 16, 32 for float */
    unsigned maxval;     /* the file's own largest sample value, which reads as full scale: 1 to
                            65535; 0 for float */
    const char *detail;  /* static words: "palette, interlaced", "progressive"; "" for none */
    int orientation;     /* EXIF, 1 to 8; 1 where none. Already applied to the image */
    double dpi_x, dpi_y; /* 0 where unknown */
    int images;          /* pages of a TIFF; 0: unknown, because it is damaged; otherwise 1 */
    uint64_t nbytes;     /* of the file */
};

/* A text of the file, in UTF-8. */
struct gi_text {
    char *keyword; /* as in PNG: "Title", "Author", "Comment"...; owned; the other texts are in the
                      same block */
    const char *language, *translated; /* of the keyword; "" for none */
    const char *text;
};

/* Bytes that travel with an image: each NULL where absent, owned here. */
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
    void *colour; /* PNG's gAMA, cHRM, sRGB, cICP, mDCV and cLLI: name, length in a byte, bytes */
    size_t colour_nbytes;
    struct gi_linear_light *light; /* the samples are amounts of light, and gi_save() turns them
                               back by this. NULL: they are as the file has them */
    bool starved;                  /* memory ran out for a part of it; gi_load() fails then */
};

void gi_metadata_free(struct gi_metadata *metadata);

/* Metadata to be dropped. EXIF: XMP too, which repeats it. GPS: the directory of places in EXIF and
 * the data that it refers to, and XMP and texts that name a place. */
enum gi_strip { GI_STRIP_NOTHING, GI_STRIP_ALL, GI_STRIP_EXIF, GI_STRIP_GPS };
void gi_metadata_strip(struct gi_metadata *metadata, enum gi_strip what);
/* Forgets an ICC profile that is not for gray (1) or colour (3). */
void gi_metadata_fit(struct gi_metadata *metadata, int colour_channels);

/* Bytes of `path` that are the file's name: "scan.tif[3]" is the fourth image of scan.tif, unless a
 * file has that whole name. *image: which, from 1; 0 where the path says none. */
size_t gi_path_file(const char *path, int *image);

/* *n: images in the file at `path`, each of which loads by its number in brackets. 1 in formats
 * whose further images are not read. Errors: as gi_load(), of whose work it does the least. */
enum gi_status gi_count_images(int *n, const char *path, const struct gi_load_options *options,
                               struct gi_err *err);

/* Reads the image at `path`, which may name one of several (gi_path_file()) unless options->image
 * does; "-" is standard input. `image` is made here and freed by the caller,
 * also `metadata`. info, metadata and warning may be NULL. The error text starts with the path.
 * Errors: GI_E_IO, GI_E_FORMAT, GI_E_UNSUPPORTED, GI_E_LIMIT, GI_E_MEMORY. */
enum gi_status gi_load(struct gi_image *image, struct gi_metadata *metadata,
                       struct gi_file_info *info, const char *path,
                       const struct gi_load_options *options, struct gi_err *warning,
                       struct gi_err *err);

/* The same from memory; messages begin with `name`. The fuzzers call this one. */
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
/* Names by which the older file goes on to be known (hard links), besides the one that is replaced.
 */
unsigned long gi_sink_other_links(const struct gi_sink *sink);
/* Whether a file appears when the sink is committed; false if the bytes go to standard output, a
 * pipe or a device as they are written. */
bool gi_sink_is_file(const struct gi_sink *sink);
/* Appends bytes; buffered. After an error every further write is quietly refused. */
enum gi_status gi_sink_write(struct gi_sink *sink, const void *bytes, size_t nbytes,
                             struct gi_err *err);
/* Hands on what was appended so far: to a pipe at once, to a file that is still without its name.
 */
enum gi_status gi_sink_flush(struct gi_sink *sink, struct gi_err *err);
enum gi_status gi_sink_printf(struct gi_sink *sink, struct gi_err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Makes the file appear under its name, whole; takes and nulls the sink. On an error nothing
 * appears and an older file stays. `durable`: fsync first. */
enum gi_status gi_sink_commit(struct gi_sink **sink, bool durable, struct gi_err *err);
/* Forgets everything; takes and nulls. NULL: nothing happens. */
void gi_sink_abandon(struct gi_sink **sink);
/* Outputs that belong together: gi_bundle_commit() puts all of them in place, or none. One thread
 * at a time. */
struct gi_bundle;

/* `clears`: removes from the folders of the outputs what runs left there that were killed, by
 * gi_sink_clear_dead(); false if the caller has done so. */
enum gi_status gi_bundle_new(struct gi_bundle **bundle, bool clears, struct gi_err *err);
/* gi_sink_open() for a file of the bundle, and in place of gi_sink_commit() what keeps the written
 * file for the bundle's; takes and nulls the sink. With NULL for a bundle they are just these. */
enum gi_status gi_bundle_open(struct gi_bundle *bundle, struct gi_sink **sink, const char *path,
                              bool no_clobber, struct gi_err *err);
enum gi_status gi_bundle_keep(struct gi_bundle *bundle, struct gi_sink **sink, bool durable,
                              struct gi_err *err);
/* A folder of the bundle, for files that gi_bundle_open() opens as `path`/name. It replaces an
 * older folder that is empty; with `ours`, also one that contains only files for which `ours`
 * returns true, and these are removed. Errors: GI_E_IO, GI_E_MEMORY. */
enum gi_status gi_bundle_folder(struct gi_bundle *bundle, const char *path,
                                bool (*ours)(const char *name), struct gi_err *err);
/* Whether `path` is a file in a folder of the bundle, which may not exist yet. `bundle` NULL: no.
 */
bool gi_bundle_holds(const struct gi_bundle *bundle, const char *path);
/* Whether `name` in that open folder, by its descriptor, may go with it: "." and "..", and a
 * regular file, no link to one, of which `ours` says yes. */
bool gi_bundle_replaces(int folder, const char *name, bool (*ours)(const char *name));
/* Puts everything in place; takes and nulls. Bytes to standard output, pipes and devices went out
 * with gi_bundle_keep(). On an error nothing appears and what was there stays (where the file
 * system can't exchange names, a file that was replaced before another failed is replaced). */
enum gi_status gi_bundle_commit(struct gi_bundle **bundle, struct gi_err *err);
/* Forgets everything; takes and nulls. NULL: nothing happens. */
void gi_bundle_abandon(struct gi_bundle **bundle);

/* Removes the temporary files and folders of every open sink and bundle. Safe to call in a signal
 * handler, and only there: the process is expected to end next. */
void gi_sink_signal_cleanup(void);

/* Removes temporaries that processes left in `folder` when they were killed; those of running
 * processes stay. While a process puts several outputs in place there, nothing is removed. What
 * can't be removed stays too. */
void gi_sink_clear_dead(const char *folder);

/* Default JPEG quality and PNG compression: level 1 is within 3 % of the size of libpng's level 6
 * on photographs, in a tenth of its time. */
enum { GI_DEFAULT_QUALITY = 90, GI_DEFAULT_COMPRESSION = 1 };

struct gi_save_options {
    const char *format; /* a suffix of a row; NULL: by prefix ("png:-") or suffix */
    int quality;        /* JPEG and WebP, 1 to 100 */
    int compression;    /* PNG and TIFF, 0 to 9 */
    bool no_clobber;
    bool durable;
    /* Red, green and blue, 0 to 1, that alpha is laid over and dropped; NULL: over black where the
     * format holds none */
    const double *background;
    bool strict;     /* what the format cannot hold is an error, not a warning */
    int orientation; /* that EXIF is to say, 2 to 8: the samples are turned for it, so that the file
                        shows the same; 0 or 1: upright */
    const struct gi_parallel *parallel; /* NULL: one thread. The bytes are the same */
    struct gi_bundle *bundle;           /* that the file belongs to; NULL: it stands for itself */
};

/* Writes `image` to `path`, which may carry a prefix "png:"; "-" is standard output. A type that
 * the format cannot hold is converted to the nearest it can (float to 16 bits, 16 to 8); alpha that
 * it cannot hold is laid over black and named in `warning`. `metadata` may be NULL. Errors:
 * GI_E_IO, GI_E_PIPE, GI_E_USAGE (no format of that name), GI_E_UNSUPPORTED, GI_E_MEMORY. */
enum gi_status gi_save(const struct gi_image *image, const struct gi_metadata *metadata,
                       const char *path, const struct gi_save_options *options,
                       struct gi_err *warning, struct gi_err *err);

/* The same into memory: *bytes are malloc()ed and owned by the caller. The format is
 * options->format, or follows from the suffix of `name`, with which messages begin. */
enum gi_status gi_save_memory(void **bytes, size_t *nbytes, const struct gi_image *image,
                              const struct gi_metadata *metadata, const char *name,
                              const struct gi_save_options *options, struct gi_err *warning,
                              struct gi_err *err);

/* Name of the format that `format` (NULL: prefix or suffix of `path`) stands for, of a row of the
 * table; NULL: of none. */
const char *gi_save_format(const char *path, const char *format);

/* Whether gi_save() would know the format, so that a command can refuse before it works.
 * Errors: GI_E_USAGE with the list of what can be written. */
enum gi_status gi_save_check(const char *path, const char *format, struct gi_err *err);

/* The same for options.orientation above 1. Errors: GI_E_USAGE too where the format holds no EXIF.
 */
enum gi_status gi_save_check_orientation(const char *path, const char *format, struct gi_err *err);

/* For `gpuimg list`: the rows of the table of formats; NULL past the end. */
struct gi_format_info {
    const char *name;     /* "png" */
    const char *suffixes; /* "jpg jpeg", separated by spaces; --format accepts these, too, so that
                             `name` is one of them */
    const char *summary;  /* "Portable Network Graphics" */
    bool reads, writes, u8, u16, f32, alpha;
    bool video;          /* not an image: frames go through operations, from one into another */
    const char *missing; /* the library that this build lacks for it; NULL: none */
};
const struct gi_format_info *gi_format_at(int index);
/* The row whose files begin with these bytes (64 are enough); NULL: none. */
const struct gi_format_info *gi_format_of(const void *bytes, size_t nbytes);

/* Whether all is there that the format of that row needs; loads its libraries.
 * Errors: GI_E_UNSUPPORTED: "this build has no libtiff", or it is not installed. */
enum gi_status gi_format_ready(int index, struct gi_err *err);

#endif
