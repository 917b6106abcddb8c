/* Every way of colour transforms, which change a pixel's channels, gives the bytes of plain C, also
 * in place. Results of matrices equal their definition to the bit. Results of curves and hues are
 * close to their definition in double.
 * Sources: color
 * SPDX-License-Identifier: MIT */
#include "primitives.h"
#include "kernels/color.h"

enum { KINDS = 13 };

static struct gi_power powers[2];

static const double exponents[2] = {2.4, 1. / 3};

__attribute__((constructor)) static void fill_powers(void)
{
    for (int p = 0; p < 2; p++) {
        for (int i = 0; i <= GI_POWER_CELLS; i++)
            powers[p].cell[i] = (float)pow(1 + (double)i / GI_POWER_CELLS, exponents[p]);
        for (int e = 0; e < 256; e++)
            powers[p].octave[e] = (float)pow(2, (e - 127) * exponents[p]);
    }
}

static struct gi_color_step random_step(struct walk_case *c, enum gi_color_step_kind kind,
                                        float full)
{
    struct gi_color_step step = {.kind = kind, .full = full};
    bool luv = kind == GI_COLOR_TO_LUV || kind == GI_COLOR_FROM_LUV;
    bool diagonal = walk_between(c, 0, 2) == 0;
    for (int i = 0; i < 4; i++) {
        step.offset[i] = walk_real(c) * full / 4;
        for (int j = 0; j < 4; j++)
            step.matrix[i][j] = i == j || !diagonal ? walk_real(c) : 0;
    }
    step.curve = (struct gi_color_curve){.cut = full / 16,
                                         .slope = 0.75f,
                                         .low = full / 8,
                                         .in_scale = 0.9f / full,
                                         .in_offset = 0.1f,
                                         .scale = 0.8f * full,
                                         .offset = full / 16,
                                         .power = walk_between(c, -1, 1),
                                         .odd = walk_between(c, 0, 1)};
    if (luv)
        step.offset[0] = 0.2f, step.offset[1] = 0.47f;
    return step;
}

/* Makes weights of one decimal, whose sums are often ties, or results beyond 16 bits. */
static void vary_matrix(struct walk_case *c, struct gi_color_step *step)
{
    int decimals = walk_between(c, 0, 1), large = walk_between(c, 0, 1);
    for (int i = 0; i < 3; i++) {
        step->offset[i] = decimals ? rintf(step->offset[i]) : step->offset[i];
        for (int j = 0; j < 3; j++) {
            float m = decimals ? rintf(10 * step->matrix[i][j]) / 10 : step->matrix[i][j];
            step->matrix[i][j] = large ? 100 * m : m;
        }
    }
}

/* Makes transforms of one step (kinds 0 to 10) or of four steps (the other kinds). */
static void draw(struct walk_case *c)
{
    static const enum gi_color_step_kind kinds[] = {
        GI_COLOR_MATRIX,   GI_COLOR_MATRIX,   GI_COLOR_CURVE,  GI_COLOR_TO_HSV,   GI_COLOR_FROM_HSV,
        GI_COLOR_TO_HSL,   GI_COLOR_FROM_HSL, GI_COLOR_TO_LUV, GI_COLOR_FROM_LUV, GI_COLOR_TO_LCH,
        GI_COLOR_FROM_LCH, GI_COLOR_CURVE,    GI_COLOR_MATRIX};
    int kind = c->turn % KINDS;
    struct gi_color_transform *transform = WALK_SPEC(c, struct gi_color_transform);
    if (c->channels < 3)
        return;
    *transform = (struct gi_color_transform){.nsteps = kind < 11 ? 1 : 4,
                                             .powers = {&powers[0], &powers[1]},
                                             .alpha_too = kind == 1 && c->channels == 4};
    for (int i = 0; i < transform->nsteps; i++)
        transform->steps[i] =
            random_step(c, kinds[(kind + 3 * i) % KINDS], gi_type_full_scale(c->type));
    if (kind == 0)
        vary_matrix(c, &transform->steps[0]);
    walk_source_here(c);
}

/* ---- the definition in double ---- */

static double bent(const struct gi_color_curve *curve, double x)
{
    double size = curve->odd ? fabs(x) : x,
           u = (double)curve->in_scale * size + (double)curve->in_offset;
    double p = curve->power < 0 ? 3 : exponents[curve->power];
    double y = size > (double)curve->cut ? (double)curve->scale * pow(u, p) + (double)curve->offset
                                         : (double)curve->slope * size + (double)curve->low;
    return curve->odd && x < 0 ? -y : y;
}

/* Converts hues by distinguishing cases, as textbooks do. */
static void hues(enum gi_color_step_kind kind, double v[3], double full)
{
    double a = v[0] / full, b = v[1] / full, c = v[2] / full;
    double most = fmax(a, fmax(b, c)), least = fmin(a, fmin(b, c)), spread = most - least;
    if (kind == GI_COLOR_TO_HSV || kind == GI_COLOR_TO_HSL) {
        double h = spread == 0 ? 0
                   : most == a ? fmod((b - c) / spread + 6, 6)
                   : most == b ? (c - a) / spread + 2
                               : (a - b) / spread + 4;
        double l = (most + least) / 2, s = spread == 0 ? 0 : spread / (l > 0.5 ? 2 - 2 * l : 2 * l);
        v[0] = h / 6 * full;
        v[1] = (kind == GI_COLOR_TO_HSL ? s : most > 0 ? spread / most : 0) * full;
        v[2] = (kind == GI_COLOR_TO_HSL ? l : most) * full;
        return;
    }
    double chroma = kind == GI_COLOR_FROM_HSV ? c * b : (1 - fabs(2 * c - 1)) * b;
    double low = kind == GI_COLOR_FROM_HSV ? c - chroma : c - chroma / 2;
    double turn = fmod(a * 6, 6), x = chroma * (1 - fabs(fmod(turn, 2) - 1));
    const double parts[6][3] = {{chroma, x, 0}, {x, chroma, 0}, {0, chroma, x},
                                {0, x, chroma}, {x, 0, chroma}, {chroma, 0, x}};
    for (int i = 0; i < 3; i++)
        v[i] = (parts[(int)turn][i] + low) * full;
}

/* The formulas of CIE 15. */
static void luvs(const struct gi_color_step *step, double v[3])
{
    double a = (double)step->offset[0], b = (double)step->offset[1], in[3] = {v[0], v[1], v[2]};
    if (step->kind == GI_COLOR_TO_LUV) {
        double sum = in[0] + 15 * in[1] + 3 * in[2];
        v[0] = bent(&step->curve, in[1]);
        v[1] = sum == 0 ? 0 : 13 * v[0] * (4 * in[0] / sum - a);
        v[2] = sum == 0 ? 0 : 13 * v[0] * (9 * in[1] / sum - b);
        return;
    }
    double u = in[1] / (13 * in[0]) + a, w = in[2] / (13 * in[0]) + b;
    v[1] = in[0] == 0 ? 0 : bent(&step->curve, in[0]);
    v[0] = in[0] == 0 ? 0 : v[1] * 9 * u / (4 * w);
    v[2] = in[0] == 0 ? 0 : v[1] * (12 - 3 * u - 20 * w) / (4 * w);
}

static void polar(enum gi_color_step_kind kind, double v[3])
{
    const double degree = 3.14159265358979323846 / 180;
    double a = v[1], b = v[2], angle = atan2(b, a) / degree;
    bool to = kind == GI_COLOR_TO_LCH;
    v[1] = to ? hypot(a, b) : a * cos(b * degree);
    v[2] = to ? (angle < 0 ? angle + 360 : angle) : a * sin(b * degree);
}

static void meant(const struct gi_color_step *step, double v[4], bool alpha_too)
{
    double in[4] = {v[0], v[1], v[2], v[3]};
    if (step->kind == GI_COLOR_CURVE) {
        for (int i = 0; i < 3; i++)
            v[i] = bent(&step->curve, v[i]);
    } else if (step->kind == GI_COLOR_TO_LUV || step->kind == GI_COLOR_FROM_LUV) {
        luvs(step, v);
    } else if (step->kind == GI_COLOR_TO_LCH || step->kind == GI_COLOR_FROM_LCH) {
        polar(step->kind, v);
    } else if (step->kind != GI_COLOR_MATRIX) {
        hues(step->kind, v, (double)step->full);
    } else {
        for (int i = 0; i < (alpha_too ? 4 : 3); i++) {
            float f = step->offset[i]; /* the first step is exact to the bit */
            for (int j = 0; j < (alpha_too ? 4 : 3); j++)
                f = fmaf(step->matrix[i][j], (float)in[j], f);
            v[i] = (double)f;
        }
    }
}

/* Fails if `got` differs too much from the definition, which is computed in double. */
static void check_meaning(const struct gi_color_transform *transform, const struct gi_image *src,
                          const struct gi_image *got)
{
    double full = (double)gi_type_full_scale(src->type);
    bool exact = transform->nsteps == 1 && transform->steps[0].kind == GI_COLOR_MATRIX;
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++) {
            size_t at = (size_t)x * (size_t)src->channels;
            double v[4] = {0};
            for (int c = 0; c < src->channels; c++)
                v[c] = case_get(src, y, at + (size_t)c);
            for (int i = 0; i < transform->nsteps; i++)
                meant(&transform->steps[i], v, transform->alpha_too);
            for (int c = 0; c < src->channels; c++) {
                if (exact && src->type == GI_U8 && (c < 3 || transform->alpha_too))
                    v[c] = (double)(((float)v[c] + 3072.0f) - 3072.0f);
                double want = src->type == GI_F32 ? v[c] : rint(fmin(fmax(v[c], 0), full));
                double slack = exact ? 0 : src->type == GI_F32 ? 0x1p-18 : 1;
                if (transform->steps[0].kind >=
                    GI_COLOR_TO_LUV) /* larger numbers, also as angles */
                    slack *= src->type == GI_U8 ? 1 : 16 + 16 * fabs(want) / full;
                double is = case_get(got, y, at + (size_t)c);
                if (!(fabs(is - want) <= slack))
                    fail_msg("%d, %d, channel %d: %g, want %g", x, y, c, is, want);
            }
        }
}

static void define(struct walk_case *c)
{
    const struct gi_color_transform *transform = c->spec;
    walk_result(c, c->width, c->height, c->channels, c->type);
    walk_plain(c);
    if (transform->nsteps == 1 && !walk_is_odd(c))
        check_meaning(transform, &c->srcs[0].image, &c->want);
}

static const int sizes[][2] = {{1, 1}, {1, 17}, {17, 1}, {31, 9}, {67, 5}, {1029, 3}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("color_transform", "any", draw, define, .sizes = sizes, .in_place = 1),
};

WALK_ROWS(rows)
