/* Joining of images into one file, for commands other than `gpuimg pages`.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/batch_options.h"
#include "cli/args/image_files.h"

/* What `gpuimg pages` gets as its options. `batch` gives all of the set "Many images" except
 * --out. */
struct gi_pages_joined {
    const char *output;
    const struct gi_batch_params *batch;
    struct gi_io_params *io;
    int threads;
};

/* Joins the images of the `n` inputs into a TIFF or a video, as `gpuimg pages` does. Errors: its
 * own. */
enum gi_status gi_pages_join(const struct gi_pages_joined *joined, char **inputs, int n,
                             struct gi_err *err);
