/* Every way of the bilateral filter, also with a guide image, and of non-local means gives the same
 * results as plain loops that follow the definition in kernels/denoise.h.
 * Sources: denoise
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "primitives.h"
#include "kernels/denoise.h"

/* Adds the weighted neighbour (y + j, x + i) of (y, x) to the sums. The last sum is the sum of the
 * weights. */
static void exact_alike(float *sums, const struct gi_image *src, const struct gi_bilateral *spec,
                        const struct gi_border_spec *borders, const int *at, int j, int i)
{
    int half = spec->k / 2, colors = gi_color_channels(src), y = at[0], x = at[1];
    const struct gi_image *guide = spec->guide ? spec->guide : src;
    float q[4], d = 0, space = spec->space[abs(j) * (half + 1) + abs(i)];
    for (int c = 0; c < src->channels; c++)
        q[c] = exact_at(src, &borders[0], GI_ALPHA_PLAIN, (long long)y + j, (long long)x + i, c);
    for (int c = 0; c < gi_color_channels(guide); c++) {
        float there =
            exact_at(guide, &borders[1], GI_ALPHA_PLAIN, (long long)y + j, (long long)x + i, c);
        float difference = fabsf(there - exact_sample(guide, y, x, c));
        d = c == 0 ? difference : d + difference;
    }
    float t = d * spec->scale;
    if (!(t < (float)spec->n - 0.5f) || space == 0)
        return;
    for (int c = 0; spec->guide && c < colors; c++)
        if (!isfinite(q[c]))
            return;
    float e = rintf(t), slope = spec->slope ? spec->slope[(int)e] : 0;
    float w = fmaf(t - e, slope, spec->value[(int)e]) * space;
    w = colors < src->channels ? w * q[colors] : w;
    for (int c = 0; c < colors; c++)
        sums[c] = fmaf(w, q[c], sums[c]);
    sums[colors] += w;
}

static void exact_bilateral(struct gi_image *dst, const struct gi_image *src,
                            const struct gi_bilateral *spec)
{
    int half = spec->k / 2, colors = gi_color_channels(src);
    struct gi_border_spec outside = {.mode = spec->border.mode},
                          borders[2] = {exact_border(&spec->border, src)};
    memcpy(outside.value, spec->guide_value, sizeof outside.value);
    borders[1] = spec->guide ? exact_border(&outside, spec->guide) : borders[0];
    for (int at[2] = {0, 0}; at[0] < src->height; at[0]++)
        for (at[1] = 0; at[1] < src->width; at[1]++) {
            float sums[4] = {0};
            for (int j = -half; j <= half; j++) {
                float row[4] = {0};
                for (int i = -half; i <= half; i++)
                    exact_alike(row, src, spec, borders, at, j, i);
                for (int c = 0; c <= colors; c++)
                    sums[c] += row[c];
            }
            for (int c = 0; c < src->channels; c++) {
                float s = exact_sample(src, at[0], at[1], c);
                bool mean = c < colors && sums[colors] > 0;
                exact_put(dst, at[0], at[1], c, mean ? sums[c] / sums[colors] : s);
            }
        }
}

/* Returns the sample of colour c at (y, x) as the integer from which distances are computed. */
static int exact_step(const struct gi_image *src, const struct gi_nlmeans *spec,
                      const struct gi_border_spec *border, long long y, long long x, int c)
{
    float v = exact_at(src, border, GI_ALPHA_PLAIN, y, x, c), t = v * spec->scale;
    if (src->type == GI_U8)
        return (int)v;
    return isfinite(v) ? (int)rintf(fminf(fmaxf(t, -0x1p29f), 0x1p29f)) : 0;
}

static uint32_t exact_distance(const struct gi_image *src, const struct gi_nlmeans *spec,
                               const struct gi_border_spec *border, const int *at, int j, int i)
{
    int half = spec->patch / 2;
    uint32_t sum = 0;
    for (int c = 0; c < gi_color_channels(src); c++)
        for (int v = -half; v <= half; v++)
            for (int u = -half; u <= half; u++) {
                long long y = (long long)at[0] + v, x = (long long)at[1] + u;
                int d = abs(exact_step(src, spec, border, y, x, c) -
                            exact_step(src, spec, border, y + j, x + i, c));
                d = d > GI_NLMEANS_STEPS ? GI_NLMEANS_STEPS : d;
                sum += (uint32_t)(d * d);
            }
    return sum;
}

struct exact_means {
    uint64_t s[4]; /* weights last */
    float f[4];
};

static void exact_add(struct exact_means *means, const struct gi_image *src,
                      const struct gi_border_spec *border, long long y, long long x,
                      uint32_t weight)
{
    int colors = gi_color_channels(src);
    float v[4], share = 1;
    for (int c = 0; c < src->channels; c++) {
        v[c] = exact_at(src, border, GI_ALPHA_PLAIN, y, x, c);
        share = c == colors ? v[c] : share;
    }
    for (int c = 0; c < src->channels; c++)
        share = isfinite(v[c]) ? share : 0;
    for (int c = 0; c < colors; c++) {
        means->s[c] += src->type == GI_F32 ? 0 : weight * (uint64_t)share * (uint64_t)v[c];
        means->f[c] = fmaf((float)weight * share, isfinite(v[c]) ? v[c] : 0, means->f[c]);
    }
    means->s[colors] += src->type == GI_F32 ? 0 : weight * (uint64_t)share;
    means->f[colors] += (float)weight * share;
}

static void exact_nlmeans(struct gi_image *dst, const struct gi_image *src,
                          const struct gi_nlmeans *spec)
{
    int half = spec->search / 2, colors = gi_color_channels(src);
    struct gi_border_spec border = exact_border(&spec->border, src);
    for (int at[2] = {0, 0}; at[0] < src->height; at[0]++)
        for (at[1] = 0; at[1] < src->width; at[1]++) {
            struct exact_means m = {0};
            for (int j = -half; j <= half; j++)
                for (int i = -half; i <= half; i++) {
                    uint32_t place = exact_distance(src, spec, &border, at, j, i) >> spec->shift;
                    if (place < (uint32_t)spec->n)
                        exact_add(&m, src, &border, (long long)at[0] + j, (long long)at[1] + i,
                                  spec->weights[place]);
                }
            for (int c = 0; c < src->channels; c++) {
                float v = exact_sample(src, at[0], at[1], c);
                if (c < colors && src->type == GI_F32 && m.f[colors] > 0)
                    v = m.f[c] / m.f[colors];
                if (c < colors && src->type != GI_F32 && m.s[colors])
                    v = (float)((2 * m.s[c] + m.s[colors]) / (2 * m.s[colors]));
                exact_put(dst, at[0], at[1], c, v);
            }
        }
}

/* Makes a disk of random diameter up to `most`, and random weights that decrease with the
 * difference in the guide. For bytes there is usually one weight per difference, otherwise there
 * are tangents (value and slope). */
static struct gi_bilateral *bilateral(struct walk_case *c, enum gi_type type, int colors, int most)
{
    struct gi_bilateral *b = WALK_SPEC(c, struct gi_bilateral);
    int half = walk_between(c, 0, most / 2);
    bool whole = type == GI_U8 && walk_between(c, 0, 3);
    float fall = 0.02f + 0.2f * (walk_real(c) + 1), full = gi_type_full_scale(type);
    float *value = walk_alloc(c, GI_RANGE_ENTRIES * sizeof *value);
    float *slope = walk_alloc(c, GI_RANGE_ENTRIES * sizeof *slope);
    float *space = walk_alloc(c, (size_t)((half + 1) * (half + 1)) * sizeof *space);
    *b = (struct gi_bilateral){.k = 2 * half + 1,
                               .n = whole ? colors * 255 + 1 : walk_between(c, 1, 500),
                               .space = space,
                               .value = value,
                               .slope = whole ? NULL : slope,
                               .border = case_border(c->seed, c->border, c->type)};
    b->scale = whole ? 1 : (float)b->n / full * (walk_real(c) + 1.5f);
    for (int i = 0; i < b->n; i++) {
        value[i] = i == 0 ? 1 : value[i - 1] * (1 - fall) + 0x1p-60f;
        slope[i] = -fall * value[i];
    }
    for (int j = 0; j <= half; j++)
        for (int i = 0; i <= half; i++)
            space[j * (half + 1) + i] =
                i * i + j * j > half * half ? 0 : 1 / (1 + 0.1f * (float)(i * i + j * j));
    walk_source_here(c);
    return b;
}

static void draw_bilateral(struct walk_case *c)
{
    bilateral(c, c->type, 3, c->large ? 5 : walk_between(c, 0, 1) ? 9 : 15);
}

static void draw_joint(struct walk_case *c)
{
    enum gi_type type = (enum gi_type)walk_between(c, GI_U8, GI_F32);
    int channels = walk_between(c, 1, GI_MAX_CHANNELS);
    struct gi_bilateral *b = bilateral(c, type, 3, 9);
    struct gi_border_spec outside = case_border(c->seed, c->border, type);
    memcpy(b->guide_value, outside.value, sizeof outside.value);
    walk_other(c, &b->guide, c->width, c->height, channels, type);
}

static void define_bilateral(struct walk_case *c)
{
    exact_bilateral(walk_result(c, c->width, c->height, c->channels, c->type), &c->srcs[0].image,
                    c->spec);
}

/* Makes random patch and search sizes, which are small and sometimes 7 x 7, and random samples,
 * some of which are similar. */
static void draw_nlmeans(struct walk_case *c)
{
    struct gi_nlmeans *m = WALK_SPEC(c, struct gi_nlmeans);
    uint16_t *weights = walk_alloc(c, GI_NLMEANS_ENTRIES * sizeof *weights);
    int most = c->large ? 1 : 4;
    *m = (struct gi_nlmeans){.patch = 2 * walk_between(c, 0, most) + 1,
                             .search = 2 * walk_between(c, 0, most) + 1,
                             .n = walk_between(c, 1, GI_NLMEANS_ENTRIES),
                             .weights = weights,
                             .border = case_border(c->seed, c->border, c->type)};
    m->patch = walk_between(c, 0, 1) && !c->large ? 7 : m->patch;
    m->scale = 255 / gi_type_full_scale(c->type) * (walk_real(c) + 1.5f);
    m->scale *= walk_between(c, 0, 2) ? 1 : 4; /* differences above GI_NLMEANS_STEPS */
    while (m->n << m->shift < 20000 * m->patch * m->patch)
        m->shift++;
    for (int i = 0; i < m->n; i++)
        weights[i] = (uint16_t)(GI_NLMEANS_ONE - i * (GI_NLMEANS_ONE / GI_NLMEANS_ENTRIES));
    walk_source_here(c);
}

static void define_nlmeans(struct walk_case *c)
{
    exact_nlmeans(walk_result(c, c->width, c->height, c->channels, c->type), &c->srcs[0].image,
                  c->spec);
}

static const int small[][2] = {{1, 1}, {1, 17}, {17, 1}, {31, 33}, {67, 5}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("bilateral", "own colours", draw_bilateral, define_bilateral),
    WALK_ROW("bilateral", "a guide", draw_joint, define_bilateral, .sizes = small),
    WALK_ROW("nlmeans", "any", draw_nlmeans, define_nlmeans),
};

WALK_ROWS(rows)
