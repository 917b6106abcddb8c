/* Every way of the primitive that remaps pixels by random coordinate maps gives exactly the result
 * that its definition gives.
 * Sources: geometry SPDX-License-Identifier: MIT */
#include "kernels/kernels.h"
#include "primitives.h"
#include "definitions.h"
#include "kernels/geometry.h"

enum { SEED = 20261123, SIDE_MAX = 300 };

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

/* Returns sample c at any (x, y), inside or outside the image. Sets *inside to true if (x, y) is
 * inside. */
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
    gi_cubic_weights(wx, &spec->cubic, t);
    gi_cubic_weights(wy, &spec->cubic, u);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++)
            v[i] = at(src, spec, weigh, x + i - before, y + j - before, c, inside);
        r[j] = n == 2 ? lerp(v[0], v[1], t) : chain(wx, v);
    }
    return n == 2 ? lerp(r[0], r[1], u) : chain(wy, r);
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
        return gi_map_field(map, map->field[0], map->field[1], x, y);
    }
}

/* Returns whether a coordinate of the result pixel (x, y) is NaN in a field. */
static bool is_nowhere(const struct gi_map *map, int x, int y)
{
    if (map->kind != GI_MAP_FIELD)
        return false;
    const struct gi_image *a = map->field[0], *b = map->field[1];
    size_t first = (size_t)x * (size_t)a->channels, second = first + (a->channels > 1);
    return isnan(gi_sample(gi_row(a, y), first, GI_F32)) ||
           isnan(gi_sample(gi_row(b, y), second, GI_F32));
}

static void define_remap(struct gi_image *dst, const struct gi_image *src,
                         const struct gi_remap *spec)
{
    int channels = src->channels, last = channels - 1;
    bool weigh =
        gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH && spec->interpolation != GI_NEAREST;
    for (int y = 0; y < dst->height; y++)
        for (int x = 0; x < dst->width; x++) {
            struct gi_place place = place_of(&spec->map, x, y);
            bool inside = false, nowhere = is_nowhere(&spec->map, x, y);
            float alpha = value(src, spec, weigh, place, last, &inside);
            for (int c = 0; c < channels; c++) {
                float f = value(src, spec, weigh, place, c, &inside);
                if (weigh)
                    f = !(alpha > 0) ? 0 : c < last ? f / alpha : alpha;
                exact_put(dst, y, x, c, inside && !nowhere ? f : spec->border.value[c]);
            }
        }
}

/* ---- random maps ---- */

static double real(struct walk_case *c, double low, double high)
{
    return low + (high - low) * (walk_real(c) + 1.0) / 2;
}

/* Makes a random source, and a random spec that lacks only its map. */
static struct gi_remap *random_spec(struct walk_case *c, enum gi_map_kind kind)
{
    static const float cubics[] = {-0.5f, -0.75f, -1, 0, -0.0625f, -0.01f, 0.25f};
    int cubic = walk_between(c, 0, 9);
    struct gi_remap *spec = WALK_SPEC(c, struct gi_remap);
    *spec = (struct gi_remap){.interpolation = (enum gi_interpolation)(walk_between(c, 0, 2)),
                              .cubic = cubic < 7 ? gi_cubic_keys(cubics[cubic]) : gi_cubic_spline(),
                              .alpha = walk_between(c, 0, 3) ? GI_ALPHA_WEIGH : GI_ALPHA_PLAIN,
                              .border = case_border(c->seed, c->border, c->type),
                              .height = c->height,
                              .map.kind = kind};
    walk_source_here(c);
    return spec;
}

/* Makes a random size for the result, which is sometimes long. */
static void random_size(struct walk_case *c, int *width, int *height)
{
    *width = walk_between(c, 1, 90);
    *height = walk_between(c, 1, 70);
    if (c->turn % 25 == 0)
        *(walk_between(c, 0, 1) ? height : width) = SIDE_MAX;
    walk_result(c, *width, *height, c->channels, c->type);
}

/* Makes a random affine matrix with any rotation and scale or with small ones, often about the
 * centre. Sometimes the matrix is a shift by whole pixels. */
static void random_matrix(struct walk_case *c, double *m, int width, int height)
{
    double angle = real(c, -4, 4), size = exp(real(c, -1, 1)), x = size * cos(angle);
    double s = size * sin(angle), shear = walk_between(c, 0, 1) ? 0 : real(c, -0.5, 0.5);
    double about[6] = {x, -s, 0, s + shear, x, 0};
    if (walk_between(c, 0, 9) == 0)
        for (int i = 0; i < 6; i++)
            about[i] = rint(about[i]);
    about[2] = c->width / 2.0 - about[0] * width / 2 - about[1] * height / 2;
    about[5] = c->height / 2.0 - about[3] * width / 2 - about[4] * height / 2;
    about[2] += walk_between(c, 0, 1) ? 0 : real(c, -50, 50);
    memcpy(m, about, sizeof about);
}

static void draw_affine(struct walk_case *c)
{
    struct gi_remap *spec = random_spec(c, GI_MAP_AFFINE);
    int width, height;
    double m[6];
    random_size(c, &width, &height);
    random_matrix(c, m, width, height);
    for (int j = 0; j < 6; j++)
        spec->map.affine[j] = llrint(ldexp(m[j], GI_AFFINE_BITS));
}

static void draw_projective(struct walk_case *c)
{
    struct gi_remap *spec = random_spec(c, GI_MAP_PROJECTIVE);
    double steep = c->turn % 4 ? 0.005 : 0.05; /* often with a horizon within the result */
    int width, height;
    random_size(c, &width, &height);
    random_matrix(c, spec->map.m, width, height);
    spec->map.m[6] = real(c, -steep, steep);
    spec->map.m[7] = real(c, -steep, steep);
    spec->map.m[8] = c->turn % 40 ? 1 : 0;
}

/* Makes random polar maps and lenses, which include their singular points. */
static void draw_round(struct walk_case *c)
{
    struct gi_map *map = &random_spec(c, (enum gi_map_kind)(GI_MAP_RAYS + c->turn % 3))->map;
    double *tables = walk_alloc(c, 3 * SIDE_MAX * sizeof *tables);
    int width, height;
    random_size(c, &width, &height);
    for (int j = 0; j < SIDE_MAX; j++) {
        double angle = 6.283185307179586 * j / height;
        tables[j] = j * 0.7;
        tables[SIDE_MAX + j] = cos(angle);
        tables[2 * SIDE_MAX + j] = sin(angle);
    }
    double x = rint(real(c, 0, c->width)), y = rint(real(c, 0, c->height));
    map->relative = walk_between(c, 0, 1);
    map->rays = (struct gi_rays){tables, tables + SIDE_MAX, tables + 2 * SIDE_MAX, x, y};
    map->rings =
        (struct gi_rings){rint(real(c, 0, width)),    rint(real(c, 0, height)), real(c, 0.1, 9),
                          height / 6.283185307179586, walk_between(c, 0, 1),    0};
    map->rings.left = walk_between(c, 0, 1) * 12;
    map->lens = (struct gi_lens){.fx = width, .fy = width * 1.1, .cx = x, .cy = y};
    map->lens.per_x = 1.0 / width;
    map->lens.per_y = 0.9 / width;
    map->lens.at_x = width / 2.0;
    map->lens.at_y = height / 2.0;
    for (int j = 0; j < 6; j++)
        map->lens.k[j] = real(c, -0.3, 0.3);
    for (int j = 0; j < 2; j++)
        map->lens.p[j] = real(c, -0.3, 0.3);
}

/* Makes random maps in one image of two channels, or in two images. */
static void draw_field(struct walk_case *c)
{
    struct gi_map *map = &random_spec(c, GI_MAP_FIELD)->map;
    int width, height, images = walk_between(c, 1, 2);
    random_size(c, &width, &height);
    map->relative = walk_between(c, 0, 1);
    map->margin = walk_between(c, 0, 1) * 12;
    for (int j = 0; j < images; j++) {
        struct gi_image *field =
            walk_other(c, &map->field[j], width, height, images == 1 ? 2 : 1, GI_F32);
        for (int y = 0; y < height; y++)
            for (size_t i = 0; i < gi_row_samples(field); i++)
                case_put(field, y, i, (float)(map->relative ? real(c, -6, 6) : real(c, -9, 60)));
        walk_fill_odd(field, c->seed);
    }
    if (images == 1) {
        map->field[1] = map->field[0];
        c->again_at = (size_t)((char *)&map->field[1] - (char *)c->spec);
    }
}

static void define(struct walk_case *c)
{
    define_remap(&c->want, &c->srcs[0].image, c->spec);
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

/* Fails unless `want` is the default way for a source of this size. `height` is the number of rows
 * of the whole image; the source may be a band of it. */
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

TEST(test_choice_on_cuda)
{
    if (!case_cuda(1))
        skip();
    struct gi_queue *queue = case_open(gi_kernels_cuda(), 1);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        check_choice(queue, &choices[i], choices[i].want, 1100, 1000, 1000);
    check_choice(queue, &choices[0], "plain", 512, 512, 512);   /* too small to pay */
    check_choice(queue, &choices[4], "plain", 1100, 990, 1000); /* a band */
    check_choice(queue, &choices[0], "plain", 200000, 20, 20);  /* wider than any texture */
    gi_queue_close_alone(&queue);
}

/* Maps an image by the default way or, if `forced`, by the way "texture". Fails unless the samples
 * equal the definition's and the detail that the way reports contains `says`. */
static void check_kept(struct gi_queue *queue, int width, int height, bool forced, const char *says)
{
    enum { USES_MAX = 64, W = 30, H = 20 };
    static uint64_t seed = SEED;
    struct gi_way_use uses[USES_MAX];
    struct gi_image src, want, device, dst, got;
    struct gi_remap spec = {.interpolation = GI_LINEAR, .height = height};
    const struct gi_kernels *k = queue->k;
    const char *detail = NULL;
    spec.map.kind = GI_MAP_RINGS;
    spec.map.rings = (struct gi_rings){W / 2.0, H / 2.0, 2.7, height / 6.3, false, 0};
    assert_int_equal(gi_image_alloc(&src, width, height, 1, GI_U8, NULL), GI_OK);
    assert_int_equal(gi_image_alloc(&want, W, H, 1, GI_U8, NULL), GI_OK);
    case_fill(&src, &seed);
    define_remap(&want, &src, &spec);
    assert_int_equal(gi_queue_force_ways(queue, forced ? "remap:texture" : "", NULL), GI_OK);
    assert_int_equal(k->upload(queue, &device, &src, NULL, NULL), GI_OK);
    assert_int_equal(k->alloc(queue, &dst, W, H, 1, GI_U8, NULL), GI_OK);
    assert_int_equal(k->remap(queue, &dst, &device, &spec, NULL), GI_OK);
    assert_int_equal(k->download(queue, &got, &dst, NULL, NULL), GI_OK);
    case_equal(&got, &want, says);
    k->release(queue, &device);
    int n = gi_queue_ways(queue, uses, USES_MAX);
    for (int i = 0; i < n; i++)
        if (strcmp(uses[i].primitive, "remap") == 0 && strcmp(uses[i].way, "texture") == 0)
            detail = uses[i].detail;
    assert_non_null(detail);
    if (!strstr(detail, says))
        fail_msg("%d x %d: \"%s\" says not \"%s\"", width, height, detail, says);
    gi_image_free(&src);
    gi_image_free(&want);
    gi_image_free(&got);
}

/* The way "texture" keeps its CUDA array for the next image. For an image of another shape, a new
 * array is made only if this image is the second of its shape in a row, or if the way is forced. */
TEST(test_kept_array_on_cuda)
{
    if (!case_cuda(1))
        skip();
    struct gi_queue *queue = case_open(gi_kernels_cuda(), 1);
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
    gi_queue_close_alone(&queue);
}

static const struct walk_row rows[] = {
    WALK_ROW("remap", "affine", draw_affine, define),
    WALK_ROW("remap", "projective", draw_projective, define),
    WALK_ROW("remap", "polar and lens", draw_round, define),
    WALK_ROW("remap", "field", draw_field, define),
};

WALK_ROWS(rows)
