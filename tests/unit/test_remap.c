/* The primitive that remaps pixels by random coordinate maps: every way, level and backend gives
 * what kernels.h defines, to the bit.
 * Sources: geometry
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "image_cases.h"
#include "ways_walk.h"
#include "kernels/geometry.h"

enum { SEED = 20261123, MAPS = 1000, SIDE_MAX = 300 };

/* ---- the definition ---- */

static float lerp(float a, float b, float t)
{
    return t == 0 ? a : fmaf(t, b - a, a);
}

static float chain(const float *w, const float *v)
{
    float sum = 0;
    for (int i = 0; i < 4; i++)
        if (w[i] != 0)
            sum = fmaf(w[i], v[i], sum);
    return sum;
}

/* Returns sample c at any (x, y); sets *inside to true if (x, y) is inside the image. */
static float at(const struct gi_image *src, const struct gi_remap *spec, bool weigh, int64_t x,
                int64_t y, int c, bool *inside)
{
    int i = gi_border_index(x, src->width, spec->border.mode), last = src->channels - 1;
    bool rings = spec->map.kind == GI_MAP_RINGS;
    int j = gi_border_index(y, src->height, rings ? GI_BORDER_WRAP : spec->border.mode);
    if (i < 0 || j < 0) {
        float v = spec->border.value[c];
        return weigh && c < last ? v * spec->border.value[last] : v;
    }
    *inside = true;
    size_t pixel = (size_t)i * (size_t)src->channels;
    float v = (float)gi_sample(gi_row(src, j), pixel + (size_t)c, src->type);
    float alpha = (float)gi_sample(gi_row(src, j), pixel + (size_t)last, src->type);
    return weigh && c < last ? v * alpha : v;
}

static float value(const struct gi_image *src, const struct gi_remap *spec, bool weigh,
                   struct gi_place place, int c, bool *inside)
{
    const int64_t one = 1 << GI_PLACE_BITS;
    int64_t half = spec->interpolation == GI_NEAREST ? one / 2 : 0;
    int64_t x = (place.x + half) >> GI_PLACE_BITS, y = (place.y + half) >> GI_PLACE_BITS;
    float t = (float)(place.x & (one - 1)) / (float)one, wx[4], v[4];
    float u = (float)(place.y & (one - 1)) / (float)one, wy[4], r[4];
    if (half)
        return at(src, spec, weigh, x, y, c, inside);
    int n = spec->interpolation == GI_LINEAR ? 2 : 4, before = n == 4;
    gi_cubic_weights(wx, spec->cubic, t);
    gi_cubic_weights(wy, spec->cubic, u);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++)
            v[i] = at(src, spec, weigh, x + i - before, y + j - before, c, inside);
        r[j] = n == 2 ? lerp(v[0], v[1], t) : chain(wx, v);
    }
    return n == 2 ? lerp(r[0], r[1], u) : chain(wy, r);
}

static void put(struct gi_image *dst, int y, size_t i, float v)
{
    float full = gi_type_full_scale(dst->type);
    double whole = v > 0 ? rint(fminf(v, full)) : 0;
    if (dst->type == GI_U8)
        ((uint8_t *)gi_row(dst, y))[i] = (uint8_t)whole;
    else if (dst->type == GI_U16)
        ((uint16_t *)gi_row(dst, y))[i] = (uint16_t)whole;
    else
        ((float *)gi_row(dst, y))[i] = isnan(v) ? NAN : v;
}

static struct gi_place place_of(const struct gi_map *map, int x, int y)
{
    switch (map->kind) {
    case GI_MAP_AFFINE:
        return gi_map_affine(map->affine, x, y);
    case GI_MAP_PROJECTIVE:
        return gi_map_projective(map->m, x, y);
    case GI_MAP_RAYS:
        return gi_map_rays(&map->rays, x, y);
    case GI_MAP_RINGS:
        return gi_map_rings(&map->rings, x, y);
    case GI_MAP_LENS:
        return gi_map_lens(&map->lens, x, y);
    default:
        return gi_map_field(map->field[0], map->field[1], map->relative, x, y);
    }
}

static void define(struct gi_image *dst, const struct gi_image *src, const struct gi_remap *spec)
{
    int channels = src->channels, last = channels - 1;
    bool weigh =
        gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH && spec->interpolation != GI_NEAREST;
    for (int y = 0; y < dst->height; y++)
        for (int x = 0; x < dst->width; x++) {
            struct gi_place place = place_of(&spec->map, x, y);
            bool inside = false;
            float alpha = value(src, spec, weigh, place, last, &inside);
            for (int c = 0; c < channels; c++) {
                float f = value(src, spec, weigh, place, c, &inside);
                if (weigh)
                    f = !(alpha > 0) ? 0 : c < last ? f / alpha : alpha;
                put(dst, y, (size_t)(x * channels + c), inside ? f : spec->border.value[c]);
            }
        }
}

/* ---- all ways ---- */

static void check_way(struct gi_queue *queue, const struct gi_remap *spec, int way,
                      const struct gi_image *src, const struct gi_image *want, size_t pad)
{
    const struct gi_kernels *k = queue->k;
    struct gi_err err = {0};
    struct guard got;
    struct gi_image dst, back;
    guard_alloc(&got, want->width, want->height, want->channels, want->type, pad);
    for (int y = 0; y < want->height; y++)
        memset(gi_row(&got.image, y), 0x5a, gi_row_nbytes(&got.image));
    assert_int_equal(k->upload(queue, &dst, &got.image, NULL, &err), GI_OK);
    if (walk_ran(queue, "remap", way, k->remap(queue, &dst, src, spec, &err), &err)) {
        assert_int_equal(k->download(queue, &back, &dst, NULL, &err), GI_OK);
        case_equal(&back, want, walk_what(queue, "remap", way));
        guard_check(&got);
        gi_image_free(&back);
    } else {
        k->release(queue, &dst);
    }
    guard_free(&got);
}

static void check_queue(struct gi_queue *queue, const struct gi_remap *spec,
                        const struct gi_image *src, const struct gi_image *want, size_t pad)
{
    struct gi_image device, fields[2];
    struct gi_remap on_device = *spec;
    const struct gi_kernels *k = queue->k;
    assert_int_equal(k->upload(queue, &device, src, NULL, NULL), GI_OK);
    for (int i = 0; i < 2 && spec->map.kind == GI_MAP_FIELD; i++) {
        assert_int_equal(k->upload(queue, &fields[i], spec->map.field[i], NULL, NULL), GI_OK);
        on_device.map.field[i] = &fields[i];
    }
    for (int i = -1; walk_force(queue, "remap", i); i++)
        check_way(queue, &on_device, i, &device, want, pad);
    for (int i = 0; i < 2 && spec->map.kind == GI_MAP_FIELD; i++)
        k->release(queue, &fields[i]);
    k->release(queue, &device);
}

static void fill_odd(struct gi_image *image, uint64_t *seed)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 1e-40f, -1e30f, 1e30f};
    for (int i = 0; i < image->width; i++) {
        float *row = gi_row(image, case_between(seed, 0, image->height - 1));
        row[case_between(seed, 0, (int)gi_row_samples(image) - 1)] = odd[case_between(seed, 0, 6)];
    }
}

static void check(const struct gi_remap *spec, const struct gi_image *shape, int width, int height,
                  uint64_t *seed)
{
    struct guard src, want;
    size_t pad = gi_type_nbytes(shape->type) * (size_t)case_between(seed, 0, 70);
    guard_alloc(&src, shape->width, shape->height, shape->channels, shape->type, pad);
    guard_alloc(&want, width, height, shape->channels, shape->type, 0);
    case_fill(&src.image, seed);
    if (shape->type == GI_F32 && case_between(seed, 0, 3) == 0)
        fill_odd(&src.image, seed);
    define(&want.image, &src.image, spec);
    for (int q = 0; q < WALK_QUEUES; q++)
        if (walk_queues[q])
            check_queue(walk_queues[q], spec, &src.image, &want.image, pad);
    guard_check(&src);
    guard_free(&src);
    guard_free(&want);
}

/* ---- random maps ---- */

static double real(uint64_t *seed, double low, double high)
{
    return low + (high - low) * (case_real(seed) + 1.0) / 2;
}

static struct gi_image random_shape(uint64_t *seed, int i)
{
    const int *size = case_sizes[case_between(seed, 0, CASE_SIZES - 1)];
    return (struct gi_image){.width = size[0],
                             .height = size[1],
                             .channels = 1 + i % GI_MAX_CHANNELS,
                             .type = (enum gi_type)(i / GI_MAX_CHANNELS % 3)};
}

static void random_rest(struct gi_remap *spec, uint64_t *seed, const struct gi_image *shape, int i)
{
    spec->interpolation = (enum gi_interpolation)(i / 12 % 3);
    static const float cubics[] = {-0.5f, -0.75f, -1, 0, -0.0625f, -0.01f, 0.25f};
    spec->cubic = cubics[case_between(seed, 0, 6)];
    spec->alpha = case_between(seed, 0, 3) ? GI_ALPHA_WEIGH : GI_ALPHA_PLAIN;
    spec->border = case_border(seed, (enum gi_border)(i / 36 % CASE_BORDERS), shape->type);
    spec->height = shape->height;
}

/* Draws an affine matrix with a small or any rotation and scale, often about the centre; sometimes
 * a shift by whole pixels. */
static void random_matrix(double *m, uint64_t *seed, const struct gi_image *shape, int width,
                          int height)
{
    double angle = real(seed, -4, 4), size = exp(real(seed, -1, 1)), c = size * cos(angle);
    double s = size * sin(angle), shear = case_between(seed, 0, 1) ? 0 : real(seed, -0.5, 0.5);
    double about[6] = {c, -s, 0, s + shear, c, 0};
    if (case_between(seed, 0, 9) == 0)
        for (int i = 0; i < 6; i++)
            about[i] = rint(about[i]);
    about[2] = shape->width / 2.0 - about[0] * width / 2 - about[1] * height / 2;
    about[5] = shape->height / 2.0 - about[3] * width / 2 - about[4] * height / 2;
    about[2] += case_between(seed, 0, 1) ? 0 : real(seed, -50, 50);
    memcpy(m, about, sizeof about);
}

static void test_affine(void **unused)
{
    (void)unused;
    uint64_t seed = SEED;
    for (int i = 0; i < MAPS; i++) {
        struct gi_image shape = random_shape(&seed, i);
        struct gi_remap spec = {.map.kind = GI_MAP_AFFINE};
        int width = case_between(&seed, 1, 90), height = case_between(&seed, 1, 70);
        double m[6];
        if (i % 25 == 0)
            *(case_between(&seed, 0, 1) ? &height : &width) = SIDE_MAX;
        random_matrix(m, &seed, &shape, width, height);
        for (int j = 0; j < 6; j++)
            spec.map.affine[j] = llrint(ldexp(m[j], GI_AFFINE_BITS));
        random_rest(&spec, &seed, &shape, i);
        check(&spec, &shape, width, height, &seed);
    }
}

static void test_projective(void **unused)
{
    (void)unused;
    uint64_t seed = SEED + 1;
    for (int i = 0; i < MAPS; i++) {
        struct gi_image shape = random_shape(&seed, i);
        struct gi_remap spec = {.map.kind = GI_MAP_PROJECTIVE};
        int width = case_between(&seed, 1, 90), height = case_between(&seed, 1, 70);
        double steep = i % 4 ? 0.005 : 0.05; /* often with a horizon within the result */
        if (i % 25 == 0)
            *(case_between(&seed, 0, 1) ? &height : &width) = SIDE_MAX;
        random_matrix(spec.map.m, &seed, &shape, width, height);
        spec.map.m[6] = real(&seed, -steep, steep);
        spec.map.m[7] = real(&seed, -steep, steep);
        spec.map.m[8] = i % 40 ? 1 : 0;
        random_rest(&spec, &seed, &shape, i);
        check(&spec, &shape, width, height, &seed);
    }
}

/* Tests all other kinds of map, also at their singular points. */
static void test_other_maps(void **unused)
{
    (void)unused;
    uint64_t seed = SEED + 2;
    static double tables[3][SIDE_MAX];
    for (int i = 0; i < 4 * 36 * CASE_BORDERS; i++) {
        struct gi_image shape = random_shape(&seed, i);
        int width = case_between(&seed, 1, 70), height = case_between(&seed, 1, 50);
        struct gi_remap spec = {.map.relative = i % 2};
        struct gi_map *map = &spec.map;
        struct guard field[2];
        for (int j = 0; j < SIDE_MAX; j++) {
            double angle = 6.283185307179586 * j / height;
            tables[0][j] = j * 0.7;
            tables[1][j] = cos(angle);
            tables[2][j] = sin(angle);
        }
        double x = rint(real(&seed, 0, shape.width)), y = rint(real(&seed, 0, shape.height));
        map->rays = (struct gi_rays){tables[0], tables[1], tables[2], x, y};
        map->rings = (struct gi_rings){rint(real(&seed, 0, width)), rint(real(&seed, 0, height)),
                                       real(&seed, 0.1, 9), height / 6.283185307179586, i % 2};
        map->lens = (struct gi_lens){.fx = width, .fy = width * 1.1, .cx = x, .cy = y};
        map->lens.per_x = 1.0 / width;
        map->lens.per_y = 0.9 / width;
        map->lens.at_x = width / 2.0;
        map->lens.at_y = height / 2.0;
        for (int j = 0; j < 8; j++)
            (j < 6 ? map->lens.k : map->lens.p - 6)[j] = real(&seed, -0.3, 0.3);
        for (int j = 0; j < 2; j++) {
            guard_alloc(&field[j], width, height, i % 3 ? 2 : 1, GI_F32, 4);
            for (int v = 0; v < height; v++)
                for (size_t u = 0; u < gi_row_samples(&field[j].image); u++)
                    ((float *)gi_row(&field[j].image, v))[u] =
                        (float)(spec.map.relative ? real(&seed, -6, 6) : real(&seed, -9, 60));
            fill_odd(&field[j].image, &seed);
            map->field[j] = &field[i % 3 ? 0 : j].image;
        }
        map->kind = (enum gi_map_kind)(GI_MAP_RAYS + i / 36 % 4);
        random_rest(&spec, &seed, &shape, i);
        check(&spec, &shape, width, height, &seed);
        guard_free(&field[0]);
        guard_free(&field[1]);
    }
}

/* ---- the choice on CUDA ---- */

struct choice {
    const char *want;
    enum gi_map_kind kind;
    enum gi_interpolation how;
    enum gi_border border;
    float value;
    int channels;
    enum gi_type type;
};

static const struct choice choices[] = {
    {"texture", GI_MAP_FIELD, GI_LINEAR, GI_BORDER_CLAMP, 0, 1, GI_U8},
    {"texture", GI_MAP_FIELD, GI_LINEAR, GI_BORDER_VALUE, 17, 1, GI_U16},
    {"plain", GI_MAP_FIELD, GI_LINEAR, GI_BORDER_VALUE, 0.5f, 1, GI_F32},
    {"plain", GI_MAP_FIELD, GI_NEAREST, GI_BORDER_VALUE, 255, 1, GI_U8},
    {"texture", GI_MAP_LENS, GI_LINEAR, GI_BORDER_VALUE, 0, 1, GI_U8},
    {"texture", GI_MAP_RINGS, GI_LINEAR, GI_BORDER_CLAMP, 0, 1, GI_U16},
    {"texture", GI_MAP_RAYS, GI_LINEAR, GI_BORDER_CLAMP, 0, 1, GI_U16},
    {"plain", GI_MAP_FIELD, GI_LINEAR, GI_BORDER_WRAP, 0, 1, GI_U8},
    {"plain", GI_MAP_LENS, GI_LINEAR, GI_BORDER_MIRROR, 0, 1, GI_U8},
    {"plain", GI_MAP_RINGS, GI_LINEAR, GI_BORDER_REFLECT101, 0, 1, GI_U8},
    {"plain", GI_MAP_FIELD, GI_LINEAR, GI_BORDER_VALUE, 0.5f, 1, GI_U8},
    {"plain", GI_MAP_FIELD, GI_NEAREST, GI_BORDER_VALUE, 256, 1, GI_U8},
    {"plain", GI_MAP_FIELD, GI_LINEAR, GI_BORDER_VALUE, INFINITY, 1, GI_F32},
    {"plain", GI_MAP_FIELD, GI_CUBIC, GI_BORDER_CLAMP, 0, 1, GI_U8},
    {"plain", GI_MAP_FIELD, GI_LINEAR, GI_BORDER_CLAMP, 0, 2, GI_U8},
    {"plain", GI_MAP_FIELD, GI_LINEAR, GI_BORDER_CLAMP, 0, 3, GI_U8},
    {"plain", GI_MAP_LENS, GI_LINEAR, GI_BORDER_CLAMP, 0, 4, GI_U16},
    {"tiles", GI_MAP_AFFINE, GI_LINEAR, GI_BORDER_CLAMP, 0, 1, GI_U8},
    {"tiles", GI_MAP_PROJECTIVE, GI_CUBIC, GI_BORDER_VALUE, 0, 3, GI_F32},
    {"plain", GI_MAP_AFFINE, GI_NEAREST, GI_BORDER_CLAMP, 0, 1, GI_U8},
};

/* Fails unless the default way for a source of this size is `want`. `height` counts the rows of the
 * whole image, of which the source may be a band. */
static void check_choice(struct gi_queue *queue, const struct choice *choice, const char *want,
                         int width, int rows, int height)
{
    enum { USES_MAX = 64, W = 5, H = 3 };
    static const double table[W];
    const struct gi_kernels *k = queue->k;
    static float zeros[H][2 * W];
    struct gi_image src, dst, field,
        host = {.data = zeros,
                .width = W,
                .height = H,
                .channels = 2,
                .type = GI_F32,
                .stride = sizeof *zeros};
    struct gi_remap spec = {.interpolation = choice->how, .height = height};
    struct gi_way_use before[USES_MAX], after[USES_MAX];
    spec.map.kind = choice->kind;
    spec.map.m[8] = 1;
    spec.map.lens = (struct gi_lens){.fx = 1, .fy = 1, .per_x = 1, .per_y = 1};
    spec.map.rays = (struct gi_rays){table, table, table, 0, 0};
    spec.map.rings = (struct gi_rings){.radial = 1, .angular = 1};
    spec.map.field[0] = spec.map.field[1] = &field;
    spec.border.mode = choice->border;
    for (int c = 0; c < GI_MAX_CHANNELS; c++)
        spec.border.value[c] = choice->value;
    assert_int_equal(k->alloc(queue, &src, width, rows, choice->channels, choice->type, NULL),
                     GI_OK);
    assert_int_equal(k->alloc(queue, &dst, W, H, choice->channels, choice->type, NULL), GI_OK);
    assert_int_equal(k->upload(queue, &field, &host, NULL, NULL), GI_OK);
    int nbefore = gi_queue_ways(queue, before, USES_MAX);
    assert_int_equal(k->remap(queue, &dst, &src, &spec, NULL), GI_OK);
    int nafter = gi_queue_ways(queue, after, USES_MAX);
    const char *ran = NULL;
    for (int i = 0; i < nafter; i++)
        if (i >= nbefore || after[i].runs != before[i].runs)
            ran = after[i].way;
    assert_non_null(ran);
    if (strcmp(ran, want) != 0)
        fail_msg("row %d of %d x %d: %s ran instead of %s", (int)(choice - choices), width, rows,
                 ran, want);
    k->release(queue, &src);
    k->release(queue, &dst);
    k->release(queue, &field);
}

static void test_choice_on_cuda(void **unused)
{
    (void)unused;
    struct gi_queue *queue = walk_queues[WALK_CPU_LEVELS];
    if (!queue)
        skip();
    assert_int_equal(gi_queue_force_ways(queue, NULL, NULL), GI_OK);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        check_choice(queue, &choices[i], choices[i].want, 1100, 1000, 1000);
    check_choice(queue, &choices[0], "plain", 512, 512, 512);   /* too small to pay */
    check_choice(queue, &choices[4], "plain", 1100, 990, 1000); /* a band */
    check_choice(queue, &choices[0], "plain", 200000, 20, 20);  /* wider than any texture */
}

/* Maps an image by the default way, or by the way "texture" if `forced`. Fails unless the samples
 * are those of the definition and the detail that the way reports contains `says`. */
static void check_kept(struct gi_queue *queue, int width, int height, bool forced, const char *says)
{
    enum { USES_MAX = 64, W = 30, H = 20 };
    static uint64_t seed = SEED;
    struct gi_way_use uses[USES_MAX];
    struct guard src, want;
    struct gi_image device;
    struct gi_remap spec = {.interpolation = GI_LINEAR, .height = height};
    const char *detail = NULL;
    spec.map.kind = GI_MAP_RINGS;
    spec.map.rings = (struct gi_rings){W / 2.0, H / 2.0, 2.7, height / 6.3, false};
    guard_alloc(&src, width, height, 1, GI_U8, 0);
    guard_alloc(&want, W, H, 1, GI_U8, 0);
    case_fill(&src.image, &seed);
    define(&want.image, &src.image, &spec);
    assert_int_equal(gi_queue_force_ways(queue, forced ? "remap:texture" : "", NULL), GI_OK);
    assert_int_equal(queue->k->upload(queue, &device, &src.image, NULL, NULL), GI_OK);
    check_way(queue, &spec, -1, &device, &want.image, 0);
    queue->k->release(queue, &device);
    int n = gi_queue_ways(queue, uses, USES_MAX);
    for (int i = 0; i < n; i++)
        if (strcmp(uses[i].primitive, "remap") == 0 && strcmp(uses[i].way, "texture") == 0)
            detail = uses[i].detail;
    assert_non_null(detail);
    if (!strstr(detail, says))
        fail_msg("%d x %d: \"%s\" says not \"%s\"", width, height, detail, says);
    guard_free(&src);
    guard_free(&want);
}

/* The way "texture" keeps its CUDA array for the next image. An image of another shape gets a new
 * array if it is the second of that shape in a row, or if the way is forced. */
static void test_kept_array_on_cuda(void **unused)
{
    (void)unused;
    struct gi_queue *queue = walk_queues[WALK_CPU_LEVELS];
    if (!queue)
        skip();
    check_kept(queue, 1100, 1000, true, "address mode clamp");
    check_kept(queue, 1100, 1000, false, "address mode clamp");
    check_kept(queue, 1050, 1010, false, "plain loads");
    check_kept(queue, 1100, 1000, false, "address mode clamp");
    check_kept(queue, 1050, 1010, false, "plain loads");
    check_kept(queue, 1050, 1010, false, "address mode clamp");
    check_kept(queue, 1100, 1000, false, "plain loads");
    check_kept(queue, 1050, 1010, false, "address mode clamp");
    check_kept(queue, 7, 50, true, "address mode clamp");
    check_kept(queue, 1050, 1010, true, "address mode clamp");
    assert_int_equal(gi_queue_force_ways(queue, NULL, NULL), GI_OK);
}

static void test_labels(void **unused)
{
    (void)unused;
    struct gi_err err = {0};
    struct gi_image labels = {.width = 1, .height = 1, .channels = 1, .type = GI_U32};
    struct gi_remap spec = {.height = 1};
    for (int q = 0; q < WALK_QUEUES; q++)
        if (walk_queues[q])
            walk_refused("remap",
                         walk_queues[q]->k->remap(walk_queues[q], &labels, &labels, &spec, &err),
                         &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_affine),
        cmocka_unit_test(test_projective),
        cmocka_unit_test(test_other_maps),
        cmocka_unit_test(test_choice_on_cuda),
        cmocka_unit_test(test_kept_array_on_cuda),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(walk_check_all),
    };
    return cmocka_run_group_tests(tests, walk_open, walk_close);
}
