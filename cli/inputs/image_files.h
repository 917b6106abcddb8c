/* Images from files and into them, by the options of the set "Input and output".
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_INPUTS_IMAGE_FILES_H
#define GI_CLI_INPUTS_IMAGE_FILES_H

#include "filters/option.h"
#include "imgio/imgio.h"

/* Set "Input and output" of commands that read or write images. */
struct gi_io_params {
    const char *format;
    const char *background;
    int depth;      /* enum gi_depth: of the output */
    int work_depth; /* enum gi_depth: to compute in; SAME: the deeper of input's and output's */
    int gray;       /* 0: colour stays; else which weights */
    int strip;      /* enum gi_strip */
    int layout;     /* of .npy: 0 channels last, 1 first */
    int quality, compression;
    bool no_clobber, allow_partial, strict, durable, quiet, linear;
    bool header_only, labels; /* no options: gi_load_options */
    struct gi_ahead
        *ahead; /* not an option: what was already read of the input of that name; NULL: nothing */
    struct gi_bundle *bundle; /* no option: gi_save_options */
    int orientation;          /* no option: gi_save_options */
    struct gi_limits limits;  /* of images that are read, and of results */
};
enum gi_depth { GI_DEPTH_SAME, GI_DEPTH_8, GI_DEPTH_16, GI_DEPTH_FLOAT };
extern const struct gi_option gi_io_options[];    /* commands that write an image */
extern const struct gi_option gi_input_options[]; /* commands that only read one */

/* The row of --compression; `params` is the struct that holds it as `int compression`. The default
 * is GI_DEFAULT_COMPRESSION. */
#define GI_COMPRESSION_OPTION(params)                                                              \
    {                                                                                              \
        .name = "compression", .type = GI_OPT_INT, .offset = offsetof(params, compression),        \
        .default_text = "1", .min = 0, .max = 9,                                                   \
        .help = "Effort to make PNG and TIFF small; 0 stores"                                      \
    }

/* Loads by up to `threads` threads (0: as many as CPUs) where the format lets it, converts to
 * io->depth, prints warnings. metadata, info and listener may be NULL. */
enum gi_status gi_cli_load(struct gi_image *image, struct gi_metadata *metadata,
                           struct gi_file_info *info, const char *path,
                           const struct gi_io_params *io, int threads,
                           const struct gi_shape_listener *listener, struct gi_err *err);
/* What a batch says besides: where the encoded bytes are, who decodes, where the samples go. */
struct gi_loading {
    const void *bytes; /* NULL: in the file */
    size_t nbytes;
    const struct gi_parallel *parallel;       /* NULL: one thread */
    const struct gi_shape_listener *listener; /* NULL: no callbacks */
    const struct gi_allocator *allocator;     /* NULL: plain memory */
};
enum gi_status gi_cli_load_by(struct gi_image *image, struct gi_metadata *metadata,
                              struct gi_file_info *info, const char *path,
                              const struct gi_io_params *io, const struct gi_loading *loading,
                              struct gi_err *err);
/* What gi_cli_load() makes of an image of that shape. */
struct gi_image gi_cli_shape(const struct gi_io_params *io, const struct gi_image *stored);
/* The largest sample of the file's own scale, which reads as full scale of `image`; full scale
 * itself where --depth asks for another. */
unsigned gi_cli_maxval(const struct gi_image *image, const struct gi_file_info *info,
                       const struct gi_io_params *io);
/* Encodes by up to `threads` threads where the format lets it. */
enum gi_status gi_cli_save(const struct gi_image *image, const struct gi_metadata *metadata,
                           const char *path, const struct gi_io_params *io, int threads,
                           struct gi_err *err);
/* The same with borrowed threads (NULL: one), and, if `bytes` is not NULL, into memory: *bytes are
 * malloc()ed and owned by the caller, and `path` only determines the format and is named in
 * messages. */
enum gi_status gi_cli_save_by(const struct gi_image *image, const struct gi_metadata *metadata,
                              const char *path, const struct gi_io_params *io,
                              const struct gi_parallel *parallel, void **bytes, size_t *nbytes,
                              struct gi_err *err);
/* gi_cli_check_save() for a command that reads `input` and writes `output`: from - to - without
 * --format the input's format is kept, and *io gets it once `info` is known (before: NULL). Errors:
 * as gi_cli_check_save(). */
enum gi_status gi_cli_check_way(const char *input, const char *output, struct gi_io_params *io,
                                const struct gi_file_info *info, struct gi_err *err);

/* Whether gi_cli_save() would know the format and may write there: before any work.
 * Errors: GI_E_USAGE, GI_E_IO. */
enum gi_status gi_cli_check_save(const char *path, const struct gi_io_params *io,
                                 struct gi_err *err);

#endif
