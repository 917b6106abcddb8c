/* The ordinary work on an item: decode, run a chain on a device, encode.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_IMAGING_H
#define GI_CLI_RUN_IMAGING_H

#include "cli/run/engine.h"
#include "cli/run/chain.h"
#include "cli/run/device_options.h"
#include "cli/inputs/image_files.h"

struct gi_imaging;

struct gi_imaging_options {
    const struct gi_chain *chain; /* NULL or of no steps: the image is only converted */
    const struct gi_io_params *io;
    const struct gi_device_params *device;
    uint64_t images; /* number of images expected; 0: unknown */
    bool times;      /* fill the items' `ms` of upload, kernels and download: each wait costs */
};

/* Opens the devices. What the options point to outlives it. Errors: as gi_device_pool_new(). */
enum gi_status gi_imaging_new(struct gi_imaging **imaging, const struct gi_imaging_options *options,
                              struct gi_err *err);
void gi_imaging_free(struct gi_imaging **imaging);
/* Threads for the engine. */
int gi_imaging_threads(const struct gi_imaging *imaging);
/* That of the options. */
const struct gi_chain *gi_imaging_chain(const struct gi_imaging *imaging);
/* As gi_device_pool_allocator(): where images that gi_imaging_compute() takes had best be. */
const struct gi_allocator *gi_imaging_allocator(const struct gi_imaging *imaging);

/* Decodes item->source.bytes, or the file item->line.input; notes its shape, size and time. */
enum gi_status gi_imaging_load(struct gi_imaging *imaging, struct gi_item *item,
                               struct gi_image *image, struct gi_metadata *metadata,
                               struct gi_file_info *info, struct gi_err *err);
/* *dst = what the chain makes of `src`; `ready` holds the sides (cli/run/ready.h), and may be NULL
 * where no step has any. Plans are kept for images of the same shape. `item` gets the times. */
struct gi_ready;
enum gi_status gi_imaging_compute(struct gi_imaging *imaging, struct gi_item *item,
                                  struct gi_image *dst, const struct gi_image *src,
                                  const struct gi_ready *ready, struct gi_err *err);
/* The same of one operation that is no step of the chain; `params` and `other`, a second source or
 * NULL, are its own. */
enum gi_status gi_imaging_step(struct gi_imaging *imaging, struct gi_item *item,
                               struct gi_image *dst, const struct gi_image *src,
                               const struct gi_filter *filter, const void *params,
                               const struct gi_image *other, struct gi_err *err);
/* Encodes to `path` as a file of the bundle, and notes it as a part of the item. */
enum gi_status gi_imaging_save_part(struct gi_imaging *imaging, struct gi_item *item,
                                    const struct gi_image *image,
                                    const struct gi_metadata *metadata, const char *path,
                                    struct gi_bundle *bundle, struct gi_err *err);
/* Encodes to the file item->line.output, or where `into_memory` as item->made.bytes,
 * item->line.output (or the input where that is NULL) naming the format. */
enum gi_status gi_imaging_save(struct gi_imaging *imaging, struct gi_item *item,
                               const struct gi_image *image, const struct gi_metadata *metadata,
                               bool into_memory, struct gi_err *err);

/* Where a chain ends in an analysis: computes, and writes its table or array to the file
 * item->line.output, or where `into_memory` as item->made.bytes, item->line.output (or the input
 * where that is NULL) naming the format. */
struct gi_imaging_table {
    const char *file; /* that it names as what was analysed */
    bool into_memory;
    bool json; /* a table: not CSV */
};
enum gi_status gi_imaging_analyse(struct gi_imaging *imaging, struct gi_item *item,
                                  const struct gi_image *image, const struct gi_file_info *info,
                                  const struct gi_imaging_table *table, struct gi_err *err);

/* All three, from file to file, or from memory to memory; gi_work_on.run with `self` an imaging.
 * What the chain's analyses found is written where their steps say. */
enum gi_status gi_imaging_file(void *imaging, struct gi_item *item, struct gi_err *err);
enum gi_status gi_imaging_memory(void *imaging, struct gi_item *item, struct gi_err *err);

#endif
