/* Every way of the layout primitives (copy with border, turns, channel permutation, bounds) gives
 * the same results as plain loops.
 * Sources: geometry color
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "primitives.h"
#include "kernels/color.h"
#include "kernels/geometry.h"

/* Returns the address of sample c of pixel x in row y. */
static void *at(const struct gi_image *image, int y, int x, int c)
{
    size_t i = (size_t)x * (size_t)image->channels + (size_t)c;
    return (char *)gi_row(image, y) + i * gi_type_nbytes(image->type);
}

/* Stores the constant value of a border, rounded as kernels.h defines. */
static void put_value(void *to, float v, enum gi_type type)
{
    double full = gi_type_full_scale(type), whole = !(v > 0) ? 0 : v > full ? full : rint(v);
    uint8_t u8 = (uint8_t)(type == GI_U8 ? whole : 0);
    uint16_t u16 = (uint16_t)(type == GI_U16 ? whole : 0);
    uint32_t nan = 0x7fc00000;
    const void *from = type == GI_U8    ? (void *)&u8
                       : type == GI_U16 ? (void *)&u16
                       : isnan(v)       ? (void *)&nan
                                        : (void *)&v;
    memcpy(to, from, gi_type_nbytes(type));
}

static void copy_border(const struct gi_copy_border *w, struct gi_image *dst,
                        const struct gi_image *src)
{
    int height = w->image_height ? w->image_height : src->height;
    for (int y = 0; y < dst->height; y++)
        for (int x = 0; x < dst->width; x++)
            for (int c = 0; c < dst->channels; c++) {
                int sy = gi_border_index((long long)y + w->top, height, w->border.mode);
                int sx = gi_border_index((long long)x + w->left, src->width, w->border.mode);
                if (sx < 0 || sy < 0)
                    put_value(at(dst, y, x, c), w->border.value[c], dst->type);
                else
                    memcpy(at(dst, y, x, c), at(src, sy - w->src_y, sx, c),
                           gi_type_nbytes(dst->type));
            }
}

/* Makes a source whose samples are random bits, so that a float may be any NaN. */
static struct gi_image *bits(struct walk_case *c, int width, int height, int channels)
{
    struct gi_image *image = walk_source(c, width, height, channels, c->type);
    for (int y = 0; y < height; y++)
        for (size_t i = 0; i < gi_row_nbytes(image); i++)
            ((uint8_t *)gi_row(image, y))[i] = (uint8_t)(case_random(c->seed) >> 11);
    return image;
}

/* Returns a random position for a window of n pixels: inside the image, across an end, or far
 * outside. */
static int place(struct walk_case *c, int image, int n)
{
    switch (walk_between(c, 0, 5)) {
    case 0:
        return 0;
    case 1:
        return image > n ? walk_between(c, 0, image - n) : -walk_between(c, 0, n);
    case 2:
        return -walk_between(c, 0, 2 * n + image);
    case 3:
        return walk_between(c, 0, 2 * image);
    case 4:
        return walk_between(c, 0, 1) ? 1000003 : -1000003;
    default:
        return walk_between(c, -3, 3);
    }
}

static struct gi_copy_border *window(struct walk_case *c, int height, int width_made,
                                     int height_made)
{
    struct gi_copy_border *w = WALK_SPEC(c, struct gi_copy_border);
    w->left = place(c, c->width, width_made);
    w->top = place(c, height, height_made);
    w->border = case_border(c->seed, c->border, c->type);
    if (walk_between(c, 0, 7) == 0)
        w->border.value[0] = NAN;
    return w;
}

static void draw_copy_border(struct walk_case *c)
{
    const int *made = case_sizes[walk_between(c, 0, CASE_SIZES - 1)];
    window(c, c->height, made[0], made[1]);
    bits(c, c->width, c->height, c->channels);
    walk_result(c, made[0], made[1], c->channels, c->type);
}

static void define_copy(struct walk_case *c)
{
    copy_border(c->spec, &c->want, &c->srcs[0].image);
}

/* The source is a band of a higher image, with only those rows that the window needs. The expected
 * result is computed from the whole image. */
static void draw_band(struct walk_case *c)
{
    int n = walk_between(c, 1, 20), first = c->height, last = 0;
    struct gi_copy_border *w = window(c, c->height, 30, n);
    struct gi_image whole, *band;
    whole = case_image(c->width, c->height, c->channels, c->type, c->seed);
    copy_border(w, walk_result(c, 30, n, c->channels, c->type), &whole);
    for (int y = 0; y < n; y++) {
        int row = gi_copy_border_row(w, &whole, y);
        first = row >= 0 && row < first ? row : first;
        last = row > last ? row : last;
    }
    first = first > last ? last : first;
    band = walk_source(c, c->width, last - first + 1, c->channels, c->type);
    for (int y = first; y <= last; y++)
        memcpy(gi_row(band, y - first), gi_row(&whole, y), gi_row_nbytes(&whole));
    w->src_y = first;
    w->image_height = c->height;
    gi_image_free(&whole);
}

static void is_defined(struct walk_case *c)
{
}

/* ---- turns and flips ---- */

/* ---- turns and flips ---- */

static void turn(int layout, struct gi_image *dst, const struct gi_image *src)
{
    for (int y = 0; y < dst->height; y++)
        for (int x = 0; x < dst->width; x++) {
            int sx = layout & GI_LAYOUT_TRANSPOSE ? y : x,
                sy = layout & GI_LAYOUT_TRANSPOSE ? x : y;
            sx = layout & GI_LAYOUT_MIRROR_X ? src->width - 1 - sx : sx;
            sy = layout & GI_LAYOUT_MIRROR_Y ? src->height - 1 - sy : sy;
            memcpy(at(dst, y, x, 0), at(src, sy, sx, 0),
                   (size_t)src->channels * gi_type_nbytes(src->type));
        }
}

static void draw_turn(struct walk_case *c, int layout)
{
    *WALK_SPEC(c, int) = layout;
    bits(c, c->width, c->height, c->channels);
}

/* Two walk rows test the eight layouts, and in both the case's border mode selects the layout. */
static void draw_first_turns(struct walk_case *c)
{
    draw_turn(c, (int)c->border);
}

static void draw_other_turns(struct walk_case *c)
{
    draw_turn(c, 3 + (int)c->border);
}

static void define_turn(struct walk_case *c)
{
    const int *layout = c->spec;
    bool swap = *layout & GI_LAYOUT_TRANSPOSE;
    turn(*layout,
         walk_result(c, swap ? c->height : c->width, swap ? c->width : c->height, c->channels,
                     c->type),
         &c->srcs[0].image);
}

/* Each turn, followed by its inverse, restores the source. The orientations produce the letter F as
 * in EXIF's figure. */
TEST(orientations)
{
    static const char stored[9][13] = {
        [1] = "11\n10\n10", [2] = "11\n01\n01", [3] = "01\n01\n11", [4] = "10\n10\n11",
        [5] = "111\n100",   [6] = "100\n111",   [7] = "001\n111",   [8] = "111\n001"};
    for (int o = 1; o <= 8; o++) {
        struct guard from, to;
        int width = (int)strcspn(stored[o], "\n"), height = width == 2 ? 3 : 2;
        guard_alloc(&from, width, height, 1, GI_U8, 0);
        guard_alloc(&to, 2, 3, 1, GI_U8, 0);
        for (int y = 0; y < height; y++)
            memcpy(gi_row(&from.image, y), stored[o] + y * (width + 1), (size_t)width);
        turn(gi_orientation_layout(o), &to.image, &from.image);
        for (int y = 0; y < 3; y++)
            assert_memory_equal(gi_row(&to.image, y), stored[1] + y * 3, 2);
        struct guard again;
        guard_alloc(&again, width, height, 1, GI_U8, 0);
        turn(gi_layout_inverse(gi_orientation_layout(o)), &again.image, &to.image);
        case_equal(&again.image, &from.image, "there and back");
        guard_free(&from);
        guard_free(&to);
        guard_free(&again);
    }
}

/* Two turns, one after the other, are the turn that gi_layout_join() returns. The centre of each
 * pixel of the result comes from the pixel that gi_layout_map() says. */
TEST(joined_turns)
{
    enum { WIDTH = 3, HEIGHT = 2 };
    for (int first = 0; first < 8; first++)
        for (int second = 0; second < 8; second++) {
            bool swap1 = first & GI_LAYOUT_TRANSPOSE, swap2 = second & GI_LAYOUT_TRANSPOSE;
            int width = swap1 ? HEIGHT : WIDTH, height = swap1 ? WIDTH : HEIGHT;
            struct guard from, half, once, to;
            double m[6];
            guard_alloc(&from, WIDTH, HEIGHT, 1, GI_U8, 0);
            guard_alloc(&half, width, height, 1, GI_U8, 0);
            guard_alloc(&to, swap2 ? height : width, swap2 ? width : height, 1, GI_U8, 0);
            guard_alloc(&once, to.image.width, to.image.height, 1, GI_U8, 0);
            for (int i = 0; i < WIDTH * HEIGHT; i++)
                ((uint8_t *)gi_row(&from.image, i / WIDTH))[i % WIDTH] = (uint8_t)i;
            turn(first, &half.image, &from.image);
            turn(second, &to.image, &half.image);
            int both = gi_layout_join(first, second);
            turn(both, &once.image, &from.image);
            case_equal(&once.image, &to.image, "two turns");
            gi_layout_map(m, both, WIDTH, HEIGHT);
            for (int y = 0; y < to.image.height; y++)
                for (int x = 0; x < to.image.width; x++) {
                    double sx = m[0] * (x + 0.5) + m[1] * (y + 0.5) + m[2];
                    double sy = m[3] * (x + 0.5) + m[4] * (y + 0.5) + m[5];
                    assert_int_equal(((uint8_t *)gi_row(&to.image, y))[x],
                                     (int)sy * WIDTH + (int)sx);
                }
            guard_free(&from);
            guard_free(&half);
            guard_free(&to);
            guard_free(&once);
        }
}

/* ---- channels ---- */

static void draw_permutation(struct walk_case *c)
{
    struct gi_permute_channels *spec = WALK_SPEC(c, struct gi_permute_channels);
    spec->nsources = walk_between(c, 1, GI_PERMUTE_CHANNELS_SOURCES);
    for (int s = 0; s < spec->nsources; s++)
        bits(c, c->width, c->height, walk_between(c, 1, GI_MAX_CHANNELS));
    for (int i = 0; i < GI_MAX_CHANNELS; i++) {
        int s = walk_between(c, -1, spec->nsources - 1);
        spec->from[i].source = s;
        spec->from[i].channel = s < 0 ? 0 : walk_between(c, 0, c->srcs[s].image.channels - 1);
        spec->value[i] = walk_real(c) * 1.2f * gi_type_full_scale(c->type);
    }
}

static void define_permutation(struct walk_case *c)
{
    const struct gi_permute_channels *spec = c->spec;
    struct gi_image *want = walk_result(c, c->width, c->height, c->channels, c->type);
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            for (int i = 0; i < c->channels; i++) {
                int s = spec->from[i].source;
                if (s < 0)
                    put_value(at(want, y, x, i), spec->value[i], c->type);
                else
                    memcpy(at(want, y, x, i), at(&c->srcs[s].image, y, x, spec->from[i].channel),
                           gi_type_nbytes(c->type));
            }
}

/* ---- bounding boxes ---- */

static struct gi_bounds bounds_of(const struct gi_image *image, const struct gi_bounds_spec *spec)
{
    struct gi_bounds bounds = {image->width, image->height, 0, 0};
    int last = image->channels - 1;
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            for (int c = 0; c <= last; c++) {
                bool weigh = gi_has_alpha(image) && c < last;
                float s = exact_sample(image, y, x, c), p = spec->pixel[c], t = spec->tolerance;
                s = weigh ? s * exact_sample(image, y, x, last) : s;
                p = weigh ? p * spec->pixel[last] : p;
                t = weigh ? t * gi_type_full_scale(image->type) : t;
                if (fabsf(s - p) <= t)
                    continue;
                bounds.left = x < bounds.left ? x : bounds.left;
                bounds.top = y < bounds.top ? y : bounds.top;
                bounds.right = x + 1 > bounds.right ? x + 1 : bounds.right;
                bounds.bottom = y + 1;
            }
    return bounds.bottom ? bounds : (struct gi_bounds){0};
}

/* Makes an image of one colour with a few other pixels, some of which are within the tolerance. */
static void draw_bounds(struct walk_case *c)
{
    struct gi_bounds_spec *spec = WALK_SPEC(c, struct gi_bounds_spec);
    struct gi_image *src = walk_source_here(c);
    float full = gi_type_full_scale(c->type);
    spec->tolerance = c->type == GI_F32 ? 0.01f : 3;
    for (int i = 0; i < c->channels; i++) {
        exact_put(src, 0, 0, i, (walk_real(c) + 1) / 2 * full);
        spec->pixel[i] = exact_sample(src, 0, 0, i);
    }
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            for (int i = 0; i < c->channels; i++)
                exact_put(src, y, x, i, spec->pixel[i]);
    for (int strays = walk_between(c, 0, 3); strays > 0; strays--) {
        int x = walk_between(c, 0, c->width - 1), y = walk_between(c, 0, c->height - 1);
        int i = walk_between(c, 0, c->channels - 1);
        float by = (float)walk_between(c, -5, 5) * (c->type == GI_F32 ? 0.004f : 1);
        bool nan = c->type == GI_F32 && walk_between(c, 0, 7) == 0;
        exact_put(src, y, x, i, nan ? NAN : spec->pixel[i] + by);
    }
}

static void define_bounds(struct walk_case *c)
{
    struct gi_bounds none = {-1, -1, -1, -1};
    struct gi_bounds *want = walk_data(c, &none, sizeof none);
    *want = bounds_of(&c->srcs[0].image, c->spec);
}

static const int low[][2] = {{13, 1},  {13, 2},  {13, 5},  {13, 9},  {13, 17},
                             {13, 23}, {13, 31}, {13, 44}, {13, 59}, {0, 0}};
/* A row is processed in chunks, and the widest image has several chunks per row. */
static const int wide[][2] = {{1, 1},  {1, 17},    {17, 1},   {31, 33},
                              {67, 5}, {257, 129}, {3001, 2}, {0, 0}};
static const int turned[][2] = {{1, 1},    {1, 17},   {17, 1},    {31, 33}, {67, 5},  {257, 129},
                                {150, 77}, {299, 16}, {128, 150}, {33, 64}, {64, 64}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("copy_border", "any window", draw_copy_border, define_copy),
    WALK_ROW("copy_border", "bands", draw_band, is_defined, .sizes = low),
    WALK_ROW("layout", "first turns", draw_first_turns, define_turn, .sizes = turned),
    WALK_ROW("layout", "other turns", draw_other_turns, define_turn, .sizes = turned),
    WALK_ROW("permute_channels", "any", draw_permutation, define_permutation, .sizes = wide),
    WALK_ROW("bounds", "a few pixels", draw_bounds, define_bounds),
};

WALK_ROWS(rows)
