/* The usual work on an item: decodes, runs a chain on a device, encodes.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/chain.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/run/engine.h"
#include "cli/run/timing.h"
#include "cli/run/watch.h"
#include "filters/pipeline.h"

struct gi_imaging;
struct gi_session;

struct gi_imaging_options {
    const struct gi_chain *chain; /* if this is NULL or has no steps, images are only converted */
    /* Number of chains at `chain`, if not 0: each makes a result of every image, and all have
     * steps. There are no `rules` with other chains then. */
    int nchains;
    const struct gi_rules *rules; /* which items have another chain; NULL: none */
    const struct gi_io_params *io;
    const struct gi_device_params *device;
    uint64_t images; /* number of images expected; 0: unknown */
    /* If this is not NULL, images come one at a time, as for gi_session_new_for_one(), and their
     * progress is shown. NULL if many images are processed at once. */
    struct gi_watch *one;
    /* If true, measures upload, kernels and download for `ms` of the items. Each measurement costs
     * a synchronisation. */
    bool times;
};

/* Opens the devices. The options must outlive it. Errors: as gi_session_new(). */
enum gi_status gi_imaging_new(struct gi_imaging **imaging, const struct gi_imaging_options *options,
                              struct gi_err *err);
void gi_imaging_free(struct gi_imaging **imaging);
const struct gi_imaging_options *gi_imaging_options(const struct gi_imaging *imaging);
/* Returns the chain of an item, by its rule. */
const struct gi_chain *gi_imaging_chain(const struct gi_imaging *imaging,
                                        const struct gi_item *item);
/* Describes the item for gi_ready_make(). `metadata` is that of its file, or NULL. */
struct gi_drawn_item gi_imaging_drawn_item(const struct gi_imaging *imaging,
                                           const struct gi_item *item,
                                           const struct gi_metadata *metadata);
/* Returns the factor by which the sides of a picture of this shape may be reduced by decoding. */
int gi_imaging_shrink(const struct gi_imaging *imaging, const struct gi_item *item,
                      const struct gi_image *picture);
/* Returns the number of results of an image, 1 or that of the chains. */
int gi_imaging_variants(const struct gi_imaging *imaging);
/* Returns whether the chain runs on the CPU, whatever the image. */
bool gi_imaging_on_cpu(const struct gi_imaging *imaging);
/* Returns whether a device may search for the quality of a file (--target-ssimulacra2). */
bool gi_imaging_searches(const struct gi_imaging *imaging);
struct gi_session *gi_imaging_session(const struct gi_imaging *imaging);
/* Returns whether a step of the chain, which may be NULL, makes an image of few colours. */
bool gi_imaging_reduces_colors(const struct gi_chain *chain);
/* Returns the threads for the work within an image. */
const struct gi_parallel *gi_imaging_parallel(const struct gi_imaging *imaging);
/* Returns the number of threads for the engine. */
int gi_imaging_threads(const struct gi_imaging *imaging);
/* Returns gi_session_allocator(), the best memory for images that gi_imaging_compute() gets. */
const struct gi_allocator *gi_imaging_allocator(const struct gi_imaging *imaging);

/* Decodes item->source.bytes, or the file item->line.input, and records shape, size and time. An
 * image `for_chain` is read only by gi_imaging_compute(), and the report of an analysis. It may
 * stay coded (gi_load_options.coded), if the devices of the chain decode it. */
enum gi_status gi_imaging_load(struct gi_imaging *imaging, struct gi_item *item,
                               struct gi_image *image, struct gi_metadata *metadata,
                               struct gi_file_info *info, bool for_chain, struct gi_err *err);
/* Replaces an image that is still coded by the decoded image. Called after gi_imaging_compute() has
 * returned GI_E_UNSUPPORTED for it. Its metadata, which may be NULL, get the losses that only
 * decoding finds. The image is freed after an error. Errors: as gi_imaging_load(). */
enum gi_status gi_imaging_decode(struct gi_imaging *imaging, struct gi_item *item,
                                 struct gi_image *image, struct gi_metadata *metadata,
                                 struct gi_err *err);
/* Where a further image is that is not read from a file by its path. */
struct gi_further {
    const void *bytes; /* the encoded image, or NULL */
    size_t nbytes;
    const struct gi_pages *pages; /* the open file whose selected page `page` it is, or NULL */
    int page;
    bool warned; /* no warnings are printed again */
};
/* Like gi_imaging_load(), for a further image of the item, which `from` has. If this or its members
 * are NULL, the image is in the file `path`. If it `is_input`, --bands holds for it. *bands becomes
 * the meaning of an image of bands; NULL: such an image is refused. `metadata` may be NULL; the
 * caller frees it. */
enum gi_status gi_imaging_load_further(struct gi_imaging *imaging, struct gi_item *item,
                                       struct gi_image *image, const char *path,
                                       const struct gi_further *from, bool is_input,
                                       struct gi_bands *bands, struct gi_metadata *metadata,
                                       struct gi_err *err);
/* Computes *dst, the chain's result for `src`. `ready` has the further inputs and outputs of the
 * steps (cli/run/ready.h). Plans are kept for later images of the same
 * shape. `item` gets the times. */
struct gi_ready;
enum gi_status gi_imaging_compute(struct gi_imaging *imaging, struct gi_item *item,
                                  struct gi_image *dst, const struct gi_image *src,
                                  const struct gi_ready *ready, struct gi_err *err);
/* Runs a single operation that need not be in the chain. An analysis stores its result in `result`,
 * as in struct gi_side; for other operations `result` is NULL. `line` gets the times. */
enum gi_status gi_imaging_step(struct gi_imaging *imaging, struct gi_line *line,
                               struct gi_image *dst, const struct gi_image *src,
                               const struct gi_step *step, void *result, struct gi_err *err);
/* Encodes to the file `path`, a part of the bundle, and records the file as one of the results of
 * the item. */
enum gi_status gi_imaging_save_part(struct gi_imaging *imaging, struct gi_item *item,
                                    const struct gi_image *image,
                                    const struct gi_metadata *metadata, const char *path,
                                    struct gi_bundle *bundle, struct gi_err *err);
/* Encodes the image to the file item->line.output, or to item->made.bytes if `into_memory` is true.
 * The format is that of item->line.output, or that of the input if item->line.output is NULL. `io`
 * has the options for writing; NULL: those of the imaging. */
enum gi_status gi_imaging_save(struct gi_imaging *imaging, struct gi_item *item,
                               const struct gi_image *image, const struct gi_metadata *metadata,
                               const struct gi_io_params *io, bool into_memory, struct gi_err *err);
/* Adds the time of a stage, since gi_timing_begin(), to the item and to the table of --timing. */
void gi_imaging_note(struct gi_item *item, enum gi_stage stage, const struct gi_timing_span *span);

/* ---- the whole work on an item (cli/run/imaging_work.c) ---- */

/* Adapts metadata of the file that `info` describes to the chain's result `made`, which need not
 * have samples, and to where the chain has moved the pixels. Errors: GI_E_MEMORY. */
enum gi_status gi_imaging_adapt(struct gi_metadata *metadata, const struct gi_imaging *imaging,
                                const struct gi_item *item, const struct gi_file_info *info,
                                const struct gi_image *made, const struct gi_placement *placement,
                                struct gi_err *err);
/* Returns whether an input of one bit per pixel is written with 8 to a format that can hold one. A
 * warning says so if the result is black and white. */
bool gi_imaging_may_keep_bits(const struct gi_item *item, const struct gi_io_params *io,
                              const struct gi_file_info *info);
bool gi_imaging_is_black_and_white(const struct gi_image *image);
void gi_imaging_warn_of_bits(const struct gi_item *item);

struct gi_imaging_table;
/* Converts a large image, or takes it through its chain and its analyses, in bands of rows, if the
 * image is the only one, or needs more memory than its batch has, the chain runs on the CPU and no
 * step needs the whole image, and the formats allow it. It is then alone in the batch. Otherwise
 * *taken is false, and nothing was done (cli/run/imaging_rows.c). `table` is as in
 * gi_imaging_analyse(), or NULL. Errors: as gi_imaging_process().
 */
enum gi_status gi_imaging_rows(struct gi_imaging *imaging, struct gi_item *item,
                               const struct gi_imaging_table *table, bool *taken,
                               struct gi_err *err);

/* Replaces the loaded image of several bands (imgio/bands.h) by the chain's result, which has the
 * same bands, or by no image if the result is not `wanted`. The colours, with their alpha, are
 * processed as an image, and each further band as a gray image. `ready` gets the joined results of
 * the analyses; the caller frees it, also after an error. After an error the image has been freed
 * (cli/run/imaging_bands.c). Errors: as gi_imaging_filter(), GI_E_UNSUPPORTED. */
enum gi_status gi_imaging_bands(struct gi_imaging *imaging, struct gi_item *item,
                                struct gi_image *image, struct gi_metadata *metadata,
                                const struct gi_file_info *info, bool wanted,
                                struct gi_ready *ready, struct gi_err *err);

/* Replaces the loaded image by the chain's result, or by no image if the result is not `wanted`.
 * Its metadata tell which pixels have no data. These are hidden by alpha meanwhile, and have their
 * value again later; NULL: the loader has hidden them. If the chain is a single analysis, it reads
 * the image itself; otherwise analyses read copies of the images at their steps. `ending` may be
 * NULL, and is not used if pixels are hidden. The caller frees `ready`, which gets the results of
 * the analyses, also after an error; it is made here if it is zeroed. After an error the image has
 * been freed. */
enum gi_status gi_imaging_filter_ready(struct gi_imaging *imaging, struct gi_item *item,
                                       struct gi_image *image, struct gi_metadata *metadata,
                                       const struct gi_file_info *info, bool wanted,
                                       struct gi_ending *ending, struct gi_ready *ready,
                                       struct gi_err *err);

/* Replaces the loaded image by the chain's result. *placement, unless it is NULL, becomes that of
 * the chain. After an error the image has been freed. */
enum gi_status gi_imaging_filter(struct gi_imaging *imaging, struct gi_item *item,
                                 struct gi_image *image, struct gi_metadata *metadata,
                                 const struct gi_file_info *info, struct gi_placement *placement,
                                 struct gi_err *err);
/* Does gi_imaging_load() and, if there is a chain, gi_imaging_filter(); nothing has to be freed
 * after an error. */
enum gi_status gi_imaging_make(struct gi_imaging *imaging, struct gi_item *item,
                               struct gi_image *made, struct gi_metadata *metadata,
                               struct gi_err *err);

/* Parameters of gi_imaging_analyse(), for chains that end in an analysis. This function writes the
 * table or array to the file item->line.output, or to item->made.bytes if `into_memory` is true.
 * The format is that of item->line.output, or that of the input if item->line.output is NULL. */
struct gi_imaging_table {
    const char *file; /* name of the analysed file in the table */
    bool into_memory;
    bool json; /* JSON instead of CSV */
};
/* Writes the table of the last step, an analysis, that `ready` has the results of. `maxval` is
 * gi_cli_maxval() of the image. */
enum gi_status gi_imaging_report(const struct gi_ready *ready, struct gi_item *item,
                                 unsigned maxval, const struct gi_imaging_table *table,
                                 struct gi_err *err);
/* The image is freed. */
enum gi_status gi_imaging_analyse(struct gi_imaging *imaging, struct gi_item *item,
                                  struct gi_image *image, const struct gi_file_info *info,
                                  const struct gi_imaging_table *table, struct gi_err *err);

/* Makes a result by each of the chains from one decoded image, and adds them to the bundle, under
 * the names that `output` gives with {width} and {height} (cli/run/imaging_variants.c). Results of
 * one name and size are written once. *info becomes that of the file. Errors: as
 * gi_imaging_process(), GI_E_USAGE if results of several sizes have one name. */
enum gi_status gi_imaging_add_variants(struct gi_imaging *imaging, struct gi_item *item,
                                       const char *output, struct gi_file_info *info,
                                       struct gi_bundle *bundle, struct gi_err *err);
/* Writes all results of the item, or none. */
enum gi_status gi_imaging_variants_process(struct gi_imaging *imaging, struct gi_item *item,
                                           struct gi_err *err);
/* Names the result of this size, in place of the name item->line.output with {width} or {height},
 * and makes its folder. The caller frees *path. */
enum gi_status gi_imaging_name_size(char **path, const char *output, const struct gi_image *made,
                                    struct gi_err *err);

/* Returns whether loading the item failed because several images are in its file, one behind the
 * other. Clears *err then. */
bool gi_imaging_found_joined(const struct gi_item *item, const struct gi_file_info *info,
                             enum gi_status status, struct gi_err *err);

/* If the input of the item has several pages, or the name of its output has {page} in it,
 * processes all pages, one at a time. With `joined`, the images that are one
 * behind the other in a file are its pages. The results are the pages of a TIFF,
 * images of PNM one behind the other, or one file per page, of which either all or none appear.
 * *taken tells whether this function has processed the item (cli/inputs/imaging_pages.c). Errors:
 * as gi_imaging_process(), GI_E_UNSUPPORTED if the output holds one image. */
enum gi_status gi_imaging_pages(struct gi_imaging *imaging, struct gi_item *item, bool into_memory,
                                bool joined, bool *taken, struct gi_err *err);
/* Turns a JPEG by the chain without decoding it, as io->passed.lossless says
 * (cli/run/imaging_lossless.c). *taken tells whether this function has processed the item. With
 * GI_LOSSLESS_AUTO it is false, without an error, for other formats and blocks that can't be
 * turned. Errors: as gi_imaging_process(), and otherwise GI_E_UNSUPPORTED for these. */
enum gi_status gi_imaging_lossless(struct gi_imaging *imaging, struct gi_item *item,
                                   bool into_memory, bool *taken, struct gi_err *err);
/* Loads, filters and saves an item, to its file or to item->made.bytes. Tables of analyses, which
 * go to the paths that their steps name, are written first; either all of these files appear or
 * none. If images come one at a time, item->line.output may be NULL: then only tables are
 * written. */
enum gi_status gi_imaging_process(struct gi_imaging *imaging, struct gi_item *item,
                                  bool into_memory, struct gi_err *err);
