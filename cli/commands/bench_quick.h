/* gpuimg bench --quick: whole commands beside those of other programs.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"
#include "imgio/status.h"

/* Draws the picture of the bench: noisy waves, with smooth parts, edges and thousands of regions.
 * `image` is in host memory and has samples of GI_U8. */
void gi_bench_draw(struct gi_image *image);

/* Times whole commands of this program, of vips and of ImageMagick on one picture, in a folder of
 * its own below TMPDIR, and prints a table. A program that is not installed has no times. Takes
 * less than a minute. Errors: GI_E_IO, GI_E_MEMORY; GI_E_UNSUPPORTED if a command of this program
 * fails. */
enum gi_status gi_bench_quick(struct gi_err *err);
