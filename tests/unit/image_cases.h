/* Shapes, random samples and random specs for tests of the image primitives.
 * SPDX-License-Identifier: MIT */
#ifndef GI_TESTS_IMAGE_CASES_H
#define GI_TESTS_IMAGE_CASES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "guard.h"
#include "kernels/kernels.h"

static const int case_sizes[][2] = {{1, 1}, {1, 17}, {17, 1}, {31, 33}, {67, 5}, {257, 129}};
enum { CASE_SIZES = 6, CASE_BORDERS = 5, CASE_TAPS_MAX = 300 };

static const char *const case_levels[] = {"scalar", "avx2", "avx512", "neon"};
enum { CASE_LEVELS = 4 };

/* A linear congruential generator with its upper bits returned (Knuth's MMIX constants). */
static uint32_t case_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static int case_between(uint64_t *seed, int lo, int hi)
{
    return lo + (int)(case_random(seed) % (uint32_t)(hi - lo + 1));
}

/* -1 to 1 */
static float case_real(uint64_t *seed)
{
    return (float)case_random(seed) / (float)(1u << 30) - 1.0f;
}

/* Returns true for five of seven cases under AddressSanitizer, where a case takes ten times as
 * long. */
static inline bool case_is_left_out(void)
{
#ifdef __SANITIZE_ADDRESS__
    static int met;
    return met++ % 7 > 1;
#else
    return false;
#endif
}

/* Sets sample i of row y to `value`, for any type. */
static inline void case_put(struct gi_image *image, int y, size_t i, float value)
{
    if (image->type == GI_U8)
        ((uint8_t *)gi_row(image, y))[i] = (uint8_t)value;
    else if (image->type == GI_U16)
        ((uint16_t *)gi_row(image, y))[i] = (uint16_t)value;
    else
        ((float *)gi_row(image, y))[i] = value;
}

/* Sets every alpha to a value at one end of the 8-bit or 16-bit range, where a division by alpha or
 * by a sum of its products with weights loses most. The values are drawn at random: an image of 31
 * x 33 pixels has each of the 64 pairs of values in neighbouring pixels. Floats are fractions of
 * 65535; 8-bit alpha is the low byte of the 16-bit value, which is also at an end. */
static inline void case_fill_alpha(struct gi_image *image, uint64_t *seed)
{
    static const uint16_t ends[] = {0, 1, 2, 254, 255, 256, 65534, 65535};
    size_t channels = (size_t)image->channels, n = gi_has_alpha(image) ? gi_row_samples(image) : 0;
    for (int y = 0; y < image->height; y++)
        for (size_t i = channels - 1; i < n; i += channels) {
            uint16_t v = ends[case_random(seed) >> 16 & 7];
            case_put(image, y, i,
                     image->type == GI_F32  ? (float)v / 65535.0f
                     : image->type == GI_U8 ? (float)(v & 255)
                                            : (float)v);
        }
}

/* Random samples; a fifth of them are 0 or full scale, so that alpha is often one of these. In half
 * of the images alpha is filled by case_fill_alpha(). */
static inline void case_fill(struct gi_image *image, uint64_t *seed)
{
    uint64_t alpha_seed = *seed; /* a copy: the cases after this one stay the same */
    bool ends = *seed >> 40 & 1;
    for (int y = 0; y < image->height; y++)
        for (size_t i = 0; i < gi_row_samples(image); i++) {
            uint32_t r = case_random(seed);
            uint32_t pick = r >> 16 & 15, v = pick == 0 ? 0 : pick < 3 ? 65535 : r & 65535;
            if (image->type == GI_U8)
                ((uint8_t *)gi_row(image, y))[i] = (uint8_t)(v >> 8);
            else if (image->type == GI_U16)
                ((uint16_t *)gi_row(image, y))[i] = (uint16_t)v;
            else
                ((float *)gi_row(image, y))[i] = (float)v / 65535.0f;
        }
    if (ends)
        case_fill_alpha(image, &alpha_seed);
}

static inline struct gi_border_spec case_border(uint64_t *seed, enum gi_border border,
                                                enum gi_type type)
{
    struct gi_border_spec border_spec = {.mode = border};
    bool whole = case_between(seed, 0, 1); /* numbers that integer images can hold */
    for (int c = 0; c < GI_MAX_CHANNELS; c++) {
        border_spec.value[c] = (case_real(seed) + 1) / 2 * gi_type_full_scale(type);
        border_spec.value[c] = whole ? rintf(border_spec.value[c]) : border_spec.value[c];
    }
    return border_spec;
}

static inline void case_open(struct gi_queue **queue, const struct gi_kernels *k, int threads)
{
    struct gi_open_options options = {.threads = threads};
    struct gi_err err = {0};
    assert_int_equal(gi_queue_open_alone(queue, k, &options, &err), GI_OK);
}

/* Fails if a sample of `got` differs from `want`, and prints which one. */
static inline void case_equal(const struct gi_image *got, const struct gi_image *want,
                              const char *what)
{
    size_t nbytes = gi_type_nbytes(want->type);
    for (int y = 0; y < want->height; y++) {
        const char *a = gi_row(got, y), *b = gi_row(want, y);
        if (memcmp(a, b, gi_row_nbytes(want)) == 0)
            continue;
        size_t i = 0;
        while (memcmp(a + i * nbytes, b + i * nbytes, nbytes) == 0)
            i++;
        fail_msg("%s: %d x %d x %d, type %d: row %d, sample %zu of %zu differs", what, want->width,
                 want->height, want->channels, (int)want->type, y, i, gi_row_samples(want));
    }
}

#endif
