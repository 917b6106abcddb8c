/* Reads and writes images by the options of the set "Input and output".
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/quality_target.h"
#include "filters/option.h"
#include "imgio/imgio.h"
#include "imgio/joined.h"

/* --delay and --loop, of animations; NAN: as the input has it. */
struct gi_io_timing {
    double delay_ms, plays;
};

/* How files are encoded. */
struct gi_io_encoding {
    int strip;  /* enum gi_strip */
    int layout; /* order of .npy's axes: 0 channels last, 1 channels first */
    int quality, compression;
    uint64_t max_file_size; /* bytes; 0: unlimited */
    struct gi_quality_target target;
    struct gi_save_jpeg jpeg;
    int palette; /* enum gi_palette_use */
    double dpi;  /* resolution that is written; NAN: the resolution of the input */
    struct gi_save_color color;
    struct gi_io_timing timing;
    bool keep_orientation; /* passed to gi_load_options */
};

/* What commands pass to gi_load_options and gi_save_options for one file. */
struct gi_io_passed {
    bool hide_nodata, header_only, labels;
    struct gi_ahead *ahead; /* input read before */
    struct gi_bundle *bundle;
    int orientation;
    const struct gi_encoded *encoded;
    const struct gi_row_source *rows;
    const struct gi_quality_device *device; /* searches for the quality of a JPEG; NULL: the CPU */
    /* how JPEGs are turned without decoding them; NULL: they are decoded */
    const struct gi_lossless_params *lossless;
    int tile;   /* passed to gi_save_options */
    bool again; /* prints no warnings, because another part of the image has the same */
};

/* --lossless, by which gi_imaging_process() turns JPEGs (cli/run/imaging_lossless.c). */
struct gi_lossless_params {
    int way; /* enum gi_lossless_way */
};
enum gi_lossless_way {
    GI_LOSSLESS_NO,
    GI_LOSSLESS_PERFECT,
    GI_LOSSLESS_TRIM,
    GI_LOSSLESS_AUTO, /* images that can't be turned so are decoded and encoded */
};

/* The options of the set "Input and output". */
struct gi_io_params {
    const char *format;
    const char *nodata; /* --nodata; NULL: the value that the file names */
    const char *background;
    struct gi_io_bands {
        const char *list; /* --bands, for gi_band_choice_read(); NULL: all bands */
        bool rgb;         /* sets `list` */
    } bands;
    int depth; /* enum gi_depth of the output */
    /* The enum gi_depth of the computation. GI_DEPTH_SAME means the deeper one of the depths of
     * input and output. */
    int work_depth;
    int gray; /* which weights convert to gray; 0: the image stays in colour */
    bool no_clobber, allow_partial, strict, durable, quiet, linear;
    struct gi_io_encoding encoding;
    struct gi_limits limits;    /* limits on images that are read, and on results */
    struct gi_io_passed passed; /* not options */
};
enum gi_depth { GI_DEPTH_SAME, GI_DEPTH_8, GI_DEPTH_16, GI_DEPTH_FLOAT, GI_DEPTH_1 };
extern const struct gi_choice gi_depth_choices[]; /* in the order of enum gi_depth */
extern const struct gi_option gi_io_options[];    /* for commands that write an image */
extern const struct gi_option gi_input_options[]; /* for commands that only read one */

/* The choices of --compression: 0 to 9, and the other values of gi_save_options.compression. */
extern const struct gi_choice gi_compression_choices[];

/* The row of --compression with the default GI_DEFAULT_COMPRESSION. `member` of the struct `params`
 * is an int. */
#define GI_COMPRESSION_OPTION(params, member)                                                      \
    {                                                                                              \
        GI_OPTION("compression", CHOICE, params, member),                                          \
            .default_text = "auto", .choices = gi_compression_choices, .metavar = "LEVEL",         \
            .help =                                                                                \
                "Effort to make PNG and TIFF files small, from 1 to 9; 0 stores without "          \
                "compression, and auto chooses by the content: fast Huffman coding or level 1. "   \
                "g4 is for masks of black and white in TIFF: one bit per pixel, by CCITT Group 4"  \
    }

/* Checks --bands before any work, and sets io->bands.list by --rgb. Errors: GI_E_USAGE. */
enum gi_status gi_cli_settle_bands(struct gi_io_params *io, struct gi_err *err);

/* Loads an image, converts it to io->depth, and prints warnings. With `info` the image may have
 * bands (imgio/bands.h). Uses up to `threads` threads if
 * the format allows that; 0 means one per CPU. metadata, info and listener may be NULL. */
enum gi_status gi_cli_load(struct gi_image *image, struct gi_metadata *metadata,
                           struct gi_file_info *info, const char *path,
                           const struct gi_io_params *io, int threads,
                           const struct gi_shape_listener *listener, struct gi_err *err);
/* Returns the part of the input that was read already, if `path` is that input, otherwise NULL. */
struct gi_ahead *gi_cli_ahead_of(const struct gi_io_params *io, const char *path);
/* Further parameters for loading in batches. */
struct gi_loading {
    const void *bytes; /* the encoded image; NULL if it is in a file */
    size_t nbytes;
    /* The open file whose page `page` is loaded; NULL if `bytes` or the path has the image. */
    const struct gi_pages *pages;
    int page;
    bool together; /* passed to gi_load_options */
    /* Files of these kinds may stay coded, as gi_load_options.coded says, if they are not converted
     * here. The caller prints the warning of such an image (struct gi_coded) once it is decoded. */
    enum gi_coded_kinds coded;
    bool hide_nodata, find_nodata;            /* passed to gi_load_options */
    bool bands;                               /* passed to gi_load_options */
    bool again;                               /* prints no warnings, because they were printed */
    const struct gi_parallel *parallel;       /* NULL: one thread */
    const struct gi_shape_listener *listener; /* NULL: no callbacks */
    const struct gi_allocator *allocator;     /* NULL: plain memory */
    /* Passed to gi_load_options; the rows are not converted (gi_cli_convert()). */
    const struct gi_row_taker *taker;
};
enum gi_status gi_cli_load_by(struct gi_image *image, struct gi_metadata *metadata,
                              struct gi_file_info *info, const char *path,
                              const struct gi_io_params *io, const struct gi_loading *loading,
                              struct gi_err *err);
/* Returns the shape of the image that gi_cli_load() makes of a file of the shape `stored`. */
struct gi_image gi_cli_shape(const struct gi_io_params *io, const struct gi_image *stored);
/* Makes the image of the stored image, as `io` asks. The path begins messages. Frees the image on
 * an error. Errors: GI_E_MEMORY, GI_E_LIMIT, with --strict GI_E_UNSUPPORTED. */
enum gi_status gi_cli_convert(struct gi_image *image, const char *path,
                              const struct gi_io_params *io, struct gi_err *err);
/* Returns full scale: that of the file, or that of `image` if --depth asks for another type. */
unsigned gi_cli_maxval(const struct gi_image *image, const struct gi_file_info *info,
                       const struct gi_io_params *io);
/* Prints a warning that is set, about the file `name`, or without a name if that is NULL. With
 * --strict it is an error, whose text does not have the name. */
enum gi_status gi_cli_warn_or_fail(const struct gi_err *warning, const char *name,
                                   const struct gi_io_params *io, struct gi_err *err);
/* Encodes an image with up to `threads` threads if the format allows that. */
enum gi_status gi_cli_save(const struct gi_image *image, const struct gi_metadata *metadata,
                           const char *path, const struct gi_io_params *io, int threads,
                           struct gi_err *err);
/* As gi_cli_save(), but uses the threads that `parallel` provides, or only the caller's thread if
 * it is NULL. If `bytes` is not NULL, encodes into memory. *bytes is then malloc()ed and owned by
 * the caller, and `path` only selects the format and is named in messages. */
enum gi_status gi_cli_save_by(const struct gi_image *image, const struct gi_metadata *metadata,
                              const char *path, const struct gi_io_params *io,
                              const struct gi_parallel *parallel, void **bytes, size_t *nbytes,
                              struct gi_err *err);
/* As gi_cli_save(), for a file that is encoded already (gi_save_bytes()). */
enum gi_status gi_cli_save_bytes(const void *bytes, size_t nbytes, const char *path,
                                 const struct gi_io_params *io, struct gi_err *err);
/* Returns the options of gi_save() without the background. */
struct gi_save_options gi_cli_save_options(const struct gi_io_params *io);
/* As gi_save_coding(): returns whether gi_cli_save() writes an image of this shape without any
 * conversion as a JPEG, or as a PNG with the default compression, and describes this file.
 * `quality` replaces --quality unless it is 0. */
bool gi_cli_save_coding(struct gi_coding *coding, const struct gi_image *shape,
                        const struct gi_metadata *metadata, const char *path,
                        const struct gi_io_params *io, int quality);
/* As gi_save_takes_rows(): returns whether gi_cli_save() can write such an image row by row. */
bool gi_cli_saves_rows(const struct gi_image *shape, const struct gi_metadata *metadata,
                       const char *path, const struct gi_io_params *io);
/* Checks the output of a command that reads `input` and writes `output`, as gi_cli_check_save()
 * does. If the output is "-" and --format was not given, it gets the format of the input. This
 * format is set in *io once `info` is known; `info` is NULL before. Errors: as gi_cli_check_save().
 */
enum gi_status gi_cli_check_way(const char *input, const char *output, struct gi_io_params *io,
                                const struct gi_file_info *info, struct gi_err *err);

/* Returns `status`, the result of checks before any work. If `status` is GI_E_USAGE and one of the
 * `n` inputs does not exist, returns GI_E_IO instead, and *err becomes the error of this input. */
enum gi_status gi_cli_missing_first(enum gi_status status, char *const *inputs, int n,
                                    struct gi_err *err);

/* Checks before any work that gi_cli_save() can choose a format and may write there. Errors:
 * GI_E_USAGE, GI_E_IO. */
enum gi_status gi_cli_check_save(const char *path, const struct gi_io_params *io,
                                 struct gi_err *err);

/* Returns whether the path names one file for several images: its suffix or prefix is that of TIFF
 * or of an animation (imgio/joined.h), and it has no brace, because fields such as {stem} make it a
 * template for a file per input. */
bool gi_cli_writes_pages(const char *path);
/* As gi_joiner_end(), for the file `path`. Warns of metadata of frames that are lost, which is an
 * error with --strict, GI_E_UNSUPPORTED. */
struct gi_joiner;
enum gi_status gi_cli_end_joined(struct gi_joiner *joiner, const char *path,
                                 const struct gi_io_params *io, struct gi_err *err);
/* Returns the options of gi_joiner_new(). */
struct gi_joined_timing gi_cli_timing(const struct gi_io_params *io);
