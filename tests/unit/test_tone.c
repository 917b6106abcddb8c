/* Every way of pointwise operations, lookup tables, thresholds and luma, also in place, gives
 * exactly the results that kernels/tone.h or kernels/color.h defines, which are close to those of
 * double precision.
 * Sources: tone filters/tone/levels.c kernels/cpu/color/luma.c
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "kernels/kernels.h"
#include "primitives.h"
#include "kernels/statistics.h"
#include "kernels/tone.h"

static float entry(const void *table, float a, enum gi_type type)
{
    if (type == GI_F32) {
        double bin = floor(65536 * (double)a);
        return !table || isnan(a) ? a : ((const float *)table)[(int)fmin(fmax(bin, 0), 65535)];
    }
    return type == GI_U8 ? ((const uint8_t *)table)[(int)a] : ((const uint16_t *)table)[(int)a];
}

/* Fails if `got`, a sample of the definition, differs too much from the value `mean` computed in
 * double. */
static void check_meant(enum gi_type type, float got, double mean)
{
    double slack = type == GI_F32 ? 0x1p-20 * fmax(fabs(mean), 1) : 0.51;
    if (type != GI_F32)
        mean = fmin(fmax(mean, 0), (double)gi_type_full_scale(type));
    if (fabs(mean) < 1e6)
        assert_true(fabs((double)got - mean) <= slack);
}

/* Returns whether channel i is an alpha channel that the operation leaves unchanged. */
static bool is_kept(const struct gi_image *src, bool alpha_too, int i)
{
    return !alpha_too && gi_has_alpha(src) && i == src->channels - 1;
}

static void define_pointwise(struct walk_case *c)
{
    const struct gi_pointwise *spec = c->spec;
    const struct gi_image *src = &c->srcs[0].image;
    struct gi_image *want = walk_result(c, src->width, src->height, src->channels, src->type);
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            for (int i = 0; i < src->channels; i++) {
                float a = exact_sample(src, y, x, i), scale = spec->scale[i];
                bool kept = is_kept(src, spec->alpha_too, i);
                bool affine = spec->op == GI_POINTWISE_AFFINE && !kept;
                exact_put(want, y, x, i,
                          kept     ? a
                          : affine ? fmaf(scale, a, spec->offset[i])
                                   : entry(spec->table[i], a, c->type));
                if (affine && fabsf(a) < 1e6f)
                    check_meant(c->type, exact_sample(want, y, x, i),
                                (double)scale * (double)a + (double)spec->offset[i]);
            }
}

static struct gi_pointwise *pointwise(struct walk_case *c, enum gi_pointwise_op op)
{
    struct gi_pointwise *spec = WALK_SPEC(c, struct gi_pointwise);
    spec->op = op;
    struct gi_image *src = walk_source_here(c);
    if (c->turn % 2)
        walk_fill_odd_bits(c, src);
    return spec;
}

/* Makes random tables, either one for each channel or one for all channels. */
static void draw_tables(struct walk_case *c, struct gi_pointwise *spec)
{
    bool same = walk_between(c, 0, 1), floats = c->type == GI_F32;
    int n = c->type == GI_U8 ? 256 : 65536;
    for (int i = 0; i < c->channels; i++) {
        void *table = walk_alloc(c, (size_t)n * gi_type_nbytes(c->type));
        for (int k = 0; k < n; k++)
            if (floats)
                ((float *)table)[k] = 2 * walk_real(c);
            else if (n == 256)
                ((uint8_t *)table)[k] = (uint8_t)case_random(c->seed);
            else
                ((uint16_t *)table)[k] = (uint16_t)case_random(c->seed);
        spec->table[i] = same && i ? spec->table[0] : table;
        if (floats && walk_between(c, 0, 3) == 0)
            spec->table[i] = NULL; /* the channel is unchanged */
    }
    if (c->channels % 2 == 0 && !spec->alpha_too) /* the table is not used */
        spec->table[c->channels - 1] = NULL;
}

static void draw_pointwise(struct walk_case *c)
{
    float full = gi_type_full_scale(c->type);
    bool alike = walk_between(c, 0, 1);
    bool affine = walk_between(c, 0, 1);
    struct gi_pointwise *spec = pointwise(c, affine ? GI_POINTWISE_AFFINE : GI_POINTWISE_TABLE);
    spec->alpha_too = walk_between(c, 0, 1);
    for (int i = 0; i < GI_MAX_CHANNELS; i++) {
        spec->scale[i] = alike && i ? spec->scale[0] : 3 * walk_real(c);
        spec->offset[i] = alike && i ? spec->offset[0] : walk_real(c) * full;
    }
    if (!affine)
        draw_tables(c, spec);
}

/* Makes images of all bytes, and affine maps at the ends of their ranges and between these ends. */
static void draw_all_bytes(struct walk_case *c)
{
    static const float scale[] = {-1, 1, 0.5f, 2, 255};
    int i = c->turn % 5;
    if (c->type != GI_U8)
        return;
    struct gi_pointwise *spec = pointwise(c, (enum gi_pointwise_op)(c->turn / 5 % 2));
    for (int k = 0; k < GI_MAX_CHANNELS; k++) {
        spec->scale[k] = scale[i];
        spec->offset[k] = i ? (float)-i : 255;
    }
    spec->alpha_too = true;
    draw_tables(c, spec);
    for (int y = 0; y < 256; y++)
        for (int x = 0; x < c->width; x++)
            for (int k = 0; k < c->channels; k++)
                exact_put(&c->srcs[0].image, y, x, k, (float)(x % 256));
}

/* Makes floats at or just below a step of a lookup table. Each entry of the table is its own
 * index. */
static void draw_float_steps(struct walk_case *c)
{
    if (c->type != GI_F32 || c->channels > 1)
        return;
    struct gi_pointwise *spec = WALK_SPEC(c, struct gi_pointwise);
    struct gi_image *src = walk_source_here(c);
    float *table = walk_alloc(c, 65536 * sizeof *table);
    spec->op = GI_POINTWISE_TABLE;
    spec->table[0] = table;
    for (int x = 0; x < 65536; x++) {
        float v = (float)x / 65536, below = nextafterf(v, -1);
        table[x] = (float)x;
        exact_put(src, 0, x, 0, v);
        exact_put(src, 1, x, 0, below);
        assert_int_equal(gi_unit_bin(v), x);
        assert_int_equal(gi_unit_bin(below), x ? x - 1 : 0);
    }
}

/* Floats at the boundaries of 65536 histogram bins belong to the bins that lookup tables use. */
TEST(steps_are_bins)
{
    static uint64_t counts[65536];
    const struct gi_histogram_spec spec = {.key = GI_KEY_RANGE, .nbins = 65536, .lo = 0, .hi = 1};
    struct gi_queue *queue;
    struct gi_image src;
    assert_int_equal(gi_image_alloc(&src, 65536, 1, 1, GI_F32, NULL), GI_OK);
    for (int x = 0; x < 65536; x++)
        exact_put(&src, 0, x, 0, x % 2 ? nextafterf((float)x / 65536, 0) : (float)x / 65536);
    queue = case_open(gi_kernels_cpu(), 1);
    assert_int_equal(queue->k->histogram(queue, counts, &src, &spec, NULL), GI_OK);
    for (int i = 0; i < 65536; i++)
        assert_int_equal(counts[i], i % 2 ? 0 : 2);
    gi_queue_close_alone(&queue);
    gi_image_free(&src);
}

/* ---- threshold and luma ---- */

static void draw_threshold(struct walk_case *c)
{
    static const float at[] = {-1, 0, 0.25f, 0.5f, 1, 2, -INFINITY, NAN};
    struct gi_threshold *t = WALK_SPEC(c, struct gi_threshold);
    float part = walk_between(c, 0, 1) ? at[walk_between(c, 0, 7)] : walk_real(c) * 0.6f + 0.5f;
    *t = (struct gi_threshold){part * gi_type_full_scale(c->type), walk_between(c, 0, 1)};
    walk_source_here(c);
}

static void define_threshold(struct walk_case *c)
{
    const struct gi_threshold *t = c->spec;
    const struct gi_image *src = &c->srcs[0].image;
    struct gi_image *want = walk_result(c, c->width, c->height, c->channels, c->type);
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            for (int i = 0; i < c->channels; i++) {
                float s = exact_sample(src, y, x, i);
                float v = (s > t->above) != t->invert ? gi_type_full_scale(c->type) : 0;
                exact_put(want, y, x, i, gi_has_alpha(src) && i == c->channels - 1 ? s : v);
            }
}

static void draw_luma(struct walk_case *c)
{
    walk_source_here(c);
}

static void define_luma(struct walk_case *c)
{
    const struct gi_image *src = &c->srcs[0].image;
    struct gi_image *want = walk_result(c, c->width, c->height, 1, c->type);
    exact_luma(want, src);
    for (int y = 0; y < c->height && !walk_is_odd(c); y++)
        for (int x = 0; x < c->width; x++) {
            double v[3];
            for (int i = 0; i < 3; i++)
                v[i] = (double)exact_sample(src, y, x, c->channels > 2 ? i : 0);
            check_meant(c->type, exact_sample(want, y, x, 0),
                        0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]);
        }
}

static const int usual[][2] = {{1, 1},     {1, 17},    {17, 1},     {31, 33}, {67, 5},
                               {257, 129}, {70001, 3}, {1031, 517}, {0, 0}};
static const int bytes[][2] = {{256, 256}, {257, 256}, {258, 256}, {0, 0}};
static const int steps[][2] = {{65536, 2}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("pointwise", "any", draw_pointwise, define_pointwise, .sizes = usual, .in_place = 1),
    WALK_ROW("pointwise", "all bytes", draw_all_bytes, define_pointwise, .sizes = bytes),
    WALK_ROW("pointwise", "steps of floats", draw_float_steps, define_pointwise, .sizes = steps,
             .few = true),
    WALK_ROW("threshold", "any", draw_threshold, define_threshold, .sizes = usual, .in_place = 1),
    WALK_ROW("luma", "any", draw_luma, define_luma, .sizes = usual),
};

WALK_ROWS(rows)
