/* Decodes JPEGs by the primitive jpeg_decode on each backend, and compares with libjpeg-turbo.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "jpeg_cases.h"
#include "primitives.h"

#include "imgio/coded.h"
#include "kernels/codec.h"

/* Returns a queue of CUDA or of the CPU, which is closed when the program ends, or NULL if there is
 * no CUDA device. */
struct gi_queue *jpeg_queue(bool cuda);

/* Loads a file, reduced by the denominator if it is a JPEG. If `coded`, the image stays coded if
 * imgio allows it. `warning` may be NULL. */
enum gi_status jpeg_load(struct gi_image *image, const struct bytes *file, int denominator,
                         bool coded, struct gi_err *warning);

/* Decodes the coded image on the queue. Returns GI_E_UNSUPPORTED if the primitive does not take it.
 * The image is not turned as EXIF's orientation says. The caller frees *image. */
enum gi_status jpeg_decode_on(struct gi_queue *queue, struct gi_image *image,
                              const struct gi_image *coded);

/* What became of files. */
struct jpeg_counts {
    int files, coded; /* coded: imgio keeps them coded */
    int decoded[2];   /* by the primitive on the CPU, and on CUDA */
};

/* Decodes a file by libjpeg-turbo and on both backends. Where the primitive decodes it, status,
 * warning, size and samples must equal those of libjpeg-turbo. */
void jpeg_check(const struct bytes *file, const char *name, int denominator,
                struct jpeg_counts *counts);

/* Changes, removes and cuts bytes behind the first third of the file, of which at least the first
 * byte remains. `turn` chooses one of four kinds of damage. */
void jpeg_damage(struct bytes *file, int turn, uint64_t *seed);

/* Draws waves, squares, areas of two colours or of one (kind 0 to 3), with noise of up to the given
 * number of samples. */
void jpeg_draw(struct gi_image *image, int kind, int noise, uint64_t *seed);

/* Returns a picture of a random kind. */
struct gi_image jpeg_picture(int width, int height, int channels, int noise, uint64_t *seed);

/* Begins a baseline JPEG of the image with random sampling factors, tables and restart interval. */
void jpeg_begin_random(struct jpeg_making *made, const struct gi_image *image, int quality,
                       uint64_t *seed);
