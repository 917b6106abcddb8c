/* Decodes JPEGs and PNGs by the primitives jpeg_decode and png_decode on each backend, and compares
 * with imgio.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio_util.h"
#include "primitives.h"

#include "imgio/coded.h"
#include "kernels/codec.h"

/* Returns a queue of CUDA or of the CPU, which is closed when the program ends, or NULL if there is
 * no CUDA device. */
struct gi_queue *coded_queue(bool cuda);

/* Loads a file, reduced by the denominator if it is a JPEG. If `coded`, the image stays coded if
 * imgio allows it. `said` becomes the warning, or the error; it may be NULL. */
enum gi_status coded_load(struct gi_image *image, const struct bytes *file, int denominator,
                          bool coded, struct gi_err *said);

/* Decodes the coded image on the queue. Returns GI_E_UNSUPPORTED if the primitive does not take it.
 * The image is not turned as EXIF's orientation says. The caller frees *image. */
enum gi_status coded_decode_on(struct gi_queue *queue, struct gi_image *image,
                               const struct gi_image *coded);

/* What became of files. */
struct coded_counts {
    int files, coded; /* coded: imgio keeps them coded */
    int decoded[2];   /* by the primitive on the CPU, and on CUDA */
};

/* Decodes a file by imgio and on both backends. Where the primitive decodes it, status, warning,
 * size and samples must equal those of imgio. So must those of the copy that a coded image holds.
 */
void coded_check(const struct bytes *file, const char *name, int denominator,
                 struct coded_counts *counts);

/* Changes, removes and cuts bytes behind the first third of the file, of which at least the first
 * byte remains. `turn` chooses one of four kinds of damage. */
void coded_damage(struct bytes *file, int turn, uint64_t *seed);
