/* Random pointwise operations, and their definition sample by sample.
 * SPDX-License-Identifier: MIT */
#ifndef GI_TESTS_POINTWISE_CASES_H
#define GI_TESTS_POINTWISE_CASES_H

#include "image_cases.h"
#include "kernels/tone.h"

enum { POINTWISE_OPERATIONS = GI_POINTWISE_OUTLIER + 1 };

static const char *const pointwise_names[POINTWISE_OPERATIONS] = {
    "affine", "table",   "add",     "subtract",   "multiply", "blend",
    "middle", "minimum", "maximum", "difference", "outlier"};

/* The storage of the tables that random_pointwise() makes. */
struct pointwise_tables {
    uint16_t entry[GI_MAX_CHANNELS][65536];
    float of_floats[GI_MAX_CHANNELS][65536];
};

static bool pointwise_has_two(enum gi_pointwise_op op)
{
    return op >= GI_POINTWISE_ADD;
}

static void random_pointwise(struct gi_pointwise *spec, struct pointwise_tables *tables,
                             enum gi_pointwise_op op, const struct gi_image *src, uint64_t *seed)
{
    static const float weights[] = {0, 1, 0.5f, 0.25f, -0.75f, 1.5f};
    float full = gi_type_full_scale(src->type);
    bool alike = case_between(seed, 0, 1), same = case_between(seed, 0, 1);
    *spec = (struct gi_pointwise){.op = op, .alpha_too = case_between(seed, 0, 1)};
    spec->t = case_between(seed, 0, 2) ? case_real(seed) : weights[case_between(seed, 0, 5)];
    if (op == GI_POINTWISE_OUTLIER)
        spec->t = fabsf(spec->t) * full / 2;
    for (int c = 0; c < GI_MAX_CHANNELS; c++) {
        int from = alike ? 0 : c;
        spec->scale[c] = from < c ? spec->scale[0] : 3 * case_real(seed);
        spec->offset[c] = from < c ? spec->offset[0] : case_real(seed) * full;
        spec->table[c] = src->type == GI_F32 ? (const void *)tables->of_floats[same ? 0 : c]
                                             : tables->entry[same ? 0 : c];
        if (src->type == GI_F32 && case_between(seed, 0, 3) == 0)
            spec->table[c] = NULL; /* the channel is unchanged */
    }
    for (int c = 0; op == GI_POINTWISE_TABLE && c < GI_MAX_CHANNELS; c++)
        for (int i = 0; i < 65536; i++) {
            tables->entry[c][i] = (uint16_t)case_random(seed);
            tables->of_floats[c][i] = 2 * case_real(seed);
        }
    if (gi_has_alpha(src) && !spec->alpha_too) /* the table is not used */
        spec->table[src->channels - 1] = NULL;
}

/* Sets some samples to values that only floats can hold. */
static void fill_odd(struct gi_image *image, uint64_t *seed)
{
    static const uint32_t odd[] = {0x7fc00000, 0xffc12345, 0x7f812345, 0x7f800000, 0xff800000,
                                   0x80000000, 0,          0x00000123, 0xff7fffff, 0x7f7fffff};
    for (int y = 0; image->type == GI_F32 && y < image->height; y++)
        for (size_t i = 0; i < gi_row_samples(image); i++)
            if (case_between(seed, 0, 2) == 0)
                memcpy((float *)gi_row(image, y) + i, &odd[case_between(seed, 0, 9)], 4);
}

#endif
