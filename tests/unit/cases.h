/* What the tests of primitives and operations share: shapes, random samples, guarded images, queues
 * and comparison.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "kernels/border.h"
#include "kernels/device.h"

enum {
    CASE_SIZES = 6,
    CASE_BORDERS = 5,
    CASE_LEVELS = 4,
    CASE_SEED = 20240607,
};
extern const int case_sizes[CASE_SIZES][2];
extern const char *const case_levels[CASE_LEVELS];

/* Returns the seed of a random test, which is constant unless the environment variable SEED is set.
 * Prints the seed, which helps in loops over many seeds:
 * for n in $(seq 1000); do SEED=$n test_walk || echo $n; done */
uint64_t case_seed(void);

/* case_random() returns the upper bits of a linear congruential generator (Knuth's MMIX constants).
 * case_between() returns a random number from lo to hi, and case_real() a random number from -1 to
 * 1. */
uint32_t case_random(uint64_t *seed);
int case_between(uint64_t *seed, int lo, int hi);
float case_real(uint64_t *seed);

/* Returns true for five of seven cases under AddressSanitizer, because there a case takes ten times
 * as long. */
bool case_is_left_out(void);

/* Read and write sample i of row y, for any type. */
double case_get(const struct gi_image *image, int y, size_t i);
void case_put(struct gi_image *image, int y, size_t i, float value);

/* Fills the image with random samples. A fifth of all samples, and so of all alphas, are 0 or full
 * scale. */
void case_fill_samples(struct gi_image *image, uint64_t *seed);
/* Calls case_fill_samples(). For half of the images, also calls case_fill_alpha(). */
void case_fill(struct gi_image *image, uint64_t *seed);
/* Makes an image and calls case_fill(). If `seed` is NULL, begins with CASE_SEED. */
struct gi_image case_image(int width, int height, int channels, enum gi_type type, uint64_t *seed);

/* Sets every alpha to a random value at one end of the 8-bit or 16-bit range, where a division by
 * alpha, or by a weighted sum of alphas, loses most precision. An image of 31 x 33 pixels has each
 * of the 64 pairs of values in neighbouring pixels. A float alpha is a fraction of 65535. An 8-bit
 * alpha is the low byte of the 16-bit value, which is also at an end of its range. */
void case_fill_alpha(struct gi_image *image, uint64_t *seed);

struct gi_border_spec case_border(uint64_t *seed, enum gi_border border, enum gi_type type);

/* Opens a queue on a device of its own. */
struct gi_queue *case_open(const struct gi_kernels *k, int threads);

/* case_device() opens a device without queues; case_close_device() closes it. */
struct gi_device *case_device(const struct gi_kernels *k, int ordinal, int threads);
void case_close_device(struct gi_device *device);

/* Returns CUDA's kernels if there are at least `want` devices. Otherwise prints the reason and
 * returns NULL. */
const struct gi_kernels *case_cuda(int want);

/* Writes to `text` a description of the first sample of `got` that differs from `want`. Returns
 * NULL if no sample differs. Both images have the same shape. */
const char *case_difference(const struct gi_image *got, const struct gi_image *want, char *text,
                            size_t size);
/* Returns whether the shapes and the samples are equal. */
bool case_is_equal(const struct gi_image *a, const struct gi_image *b);
/* Fails and prints the first sample of `got` that differs from `want`, if any differs. */
void case_equal(const struct gi_image *got, const struct gi_image *want, const char *what);

/* ---- guarded images ---- */

/* An image whose last row ends at an inaccessible page. The bytes between the rows and before the
 * first row hold sentinels, which guard_is_whole() checks. */
struct guard {
    struct gi_image image; /* a view into `map` */
    unsigned char *map;
    size_t nbytes; /* size of `map`, including the inaccessible page */
};
enum { GUARD_BYTE = 0xa5 };

/* Allocates guard->image with zero samples. The stride is the row's bytes plus `pad`. The rows are
 * aligned only if `pad` is a multiple of the sample's size. guard_free() frees the image. */
void guard_alloc(struct guard *guard, int width, int height, int channels, enum gi_type type,
                 size_t pad);
/* Returns whether the bytes outside the samples are unchanged. */
bool guard_is_whole(const struct guard *guard);
void guard_free(struct guard *guard);
