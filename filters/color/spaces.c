/* Colour spaces: sRGB, linear light, XYZ, L*a*b*, L*u*v*, LCh, HSV, HSL and YCbCr. Their matrices,
 * in double precision, and the transfer curves of their standards become steps of a colour
 * transform. Consecutive matrices are multiplied into one matrix. SPDX-License-Identifier: MIT */
#include "filters/color/spaces.h"

enum { DECODE, ENCODE, ROOT };
static const double exponents[GI_POWERS_MAX] = {
    [DECODE] = 2.4, [ENCODE] = 1 / 2.4, [ROOT] = 1 / 3.};

/* The transfer curve of sRGB (IEC 61966-2-1), continued to negative values as an odd function. */
static const struct gi_color_curve decode = {.cut = 0.04045f,
                                             .slope = (float)(1 / 12.92),
                                             .in_scale = (float)(1 / 1.055),
                                             .in_offset = (float)(0.055 / 1.055),
                                             .scale = 1,
                                             .power = DECODE,
                                             .odd = true};
static const struct gi_color_curve encode = {.cut = 0.0031308f,
                                             .slope = 12.92f,
                                             .in_scale = 1,
                                             .scale = 1.055f,
                                             .offset = -0.055f,
                                             .power = ENCODE,
                                             .odd = true};

/* The curve of CIE 1976 L*a*b* (CIE 15), a cube root with a linear part, and its inverse, with the
 * rounded constants of scikit-image (colorconv.py): 216/24389 = 0.008856, 841/108 = 7.787. */
static const struct gi_color_curve root = {.cut = 0.008856f,
                                           .slope = 7.787f,
                                           .low = (float)(16. / 116),
                                           .in_scale = 1,
                                           .scale = 1,
                                           .power = ROOT};
static const struct gi_color_curve cube = {.cut = 0.2068966f,
                                           .slope = (float)(1 / 7.787),
                                           .low = (float)(-16. / 116 / 7.787),
                                           .in_scale = 1,
                                           .scale = 1,
                                           .power = -1};

/* L* of CIE 1976 as a function of Y, and its inverse, with the constants of scikit-image. */
static const struct gi_color_curve lightness = {
    .cut = 0.008856f, .slope = 903.3f, .in_scale = 1, .scale = 116, .offset = -16, .power = ROOT};
static const struct gi_color_curve luminance = {.cut = 7.999625f,
                                                .slope = (float)(1 / 903.3),
                                                .in_scale = (float)(1. / 116),
                                                .in_offset = (float)(16. / 116),
                                                .scale = 1,
                                                .power = -1};

/* The matrix from linear light with BT.709's primaries and D65 to XYZ, with the digits of OpenCV
 * and scikit-image. The white point is that of scikit-image (ASTM E308), which differs from this
 * matrix times (1, 1, 1), so white has a* = -0.0025 and b* = 0.0047. */
static const struct gi_matrix4 to_xyz = {{{0.412453, 0.357580, 0.180423, 0, 0},
                                          {0.212671, 0.715160, 0.072169, 0, 0},
                                          {0.019334, 0.119193, 0.950227, 0, 0},
                                          {0, 0, 0, 1, 0}}};
static const double white[3] = {0.95047, 1, 1.08883};

/* ---- matrices ---- */

struct gi_matrix4 gi_matrix4_identity(void)
{
    return (struct gi_matrix4){
        {{1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 0, 1, 0, 0}, {0, 0, 0, 1, 0}}};
}

/* Returns the matrix that first applies b, then a. */
static struct gi_matrix4 product(const struct gi_matrix4 *a, const struct gi_matrix4 *b)
{
    struct gi_matrix4 c = {{{0}}};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++) {
            for (int k = 0; k < 4; k++)
                c.m[i][j] += a->m[i][k] * b->m[k][j];
            c.m[i][j] += j == 4 ? a->m[i][4] : 0;
        }
    return c;
}

/* Returns the inverse of the affine map of the three colours, which leaves alpha unchanged. */
static struct gi_matrix4 inverse_of(const struct gi_matrix4 *matrix)
{
    const double(*m)[5] = matrix->m;
    struct gi_matrix4 inverse = gi_matrix4_identity();
    double determinant = 0;
    for (int i = 0; i < 3; i++)
        determinant += m[0][i] * (m[1][(i + 1) % 3] * m[2][(i + 2) % 3] -
                                  m[1][(i + 2) % 3] * m[2][(i + 1) % 3]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) /* by cofactors, in cyclic order */
            inverse.m[i][j] = (m[(j + 1) % 3][(i + 1) % 3] * m[(j + 2) % 3][(i + 2) % 3] -
                               m[(j + 1) % 3][(i + 2) % 3] * m[(j + 2) % 3][(i + 1) % 3]) /
                              determinant;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            inverse.m[i][4] -= inverse.m[i][k] * m[k][4];
    return inverse;
}

static struct gi_matrix4 diagonal(double r, double g, double b, double a)
{
    return (struct gi_matrix4){
        {{r, 0, 0, 0, 0}, {0, g, 0, 0, 0}, {0, 0, b, 0, 0}, {0, 0, 0, a, 0}}};
}

/* ---- putting steps together ---- */

static bool is_identity(const struct gi_matrix4 *matrix)
{
    struct gi_matrix4 identity = gi_matrix4_identity();
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++)
            if (matrix->m[i][j] != identity.m[i][j])
                return false;
    return true;
}

/* Adds the pending matrix as a step. An identity is dropped, unless `anyway` is set. */
static void flush(struct gi_color_steps *steps, bool anyway)
{
    if (!steps->pending || (is_identity(&steps->matrix) && !anyway)) {
        steps->pending = false;
        return;
    }
    struct gi_color_step *step = &steps->transform.steps[steps->transform.nsteps++];
    *step = (struct gi_color_step){.kind = GI_COLOR_MATRIX};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++)
            step->matrix[i][j] = (float)steps->matrix.m[i][j];
        step->offset[i] = (float)steps->matrix.m[i][4];
    }
    steps->pending = false;
}

void gi_color_steps_matrix(struct gi_color_steps *steps, const struct gi_matrix4 *matrix)
{
    steps->matrix = steps->pending ? product(matrix, &steps->matrix) : *matrix;
    steps->pending = true;
}

static void add_step(struct gi_color_steps *steps, enum gi_color_step_kind kind)
{
    flush(steps, false);
    steps->transform.steps[steps->transform.nsteps++] = (struct gi_color_step){.kind = kind};
}

static void add_curve(struct gi_color_steps *steps, const struct gi_color_curve *curve)
{
    add_step(steps, GI_COLOR_CURVE);
    steps->transform.steps[steps->transform.nsteps - 1].curve = *curve;
    if (curve->power >= 0)
        steps->asks[curve->power] = true;
}

static void scale_all(struct gi_color_steps *steps, double by)
{
    struct gi_matrix4 scale = diagonal(by, by, by, by);
    if (by != 1)
        gi_color_steps_matrix(steps, &scale);
}

/* Adds a conversion to or from HSV or HSL. Samples are not scaled, so that hues are exact. */
static void add_hues(struct gi_color_steps *steps, enum gi_color_step_kind kind)
{
    double full = (double)gi_type_full_scale(steps->type);
    scale_all(steps, full);
    add_step(steps, kind);
    steps->transform.steps[steps->transform.nsteps - 1].full = (float)full;
    scale_all(steps, 1 / full);
}

void gi_color_steps_begin(struct gi_color_steps *steps, enum gi_type type)
{
    *steps = (struct gi_color_steps){.type = type};
    scale_all(steps, 1 / (double)gi_type_full_scale(type));
}

void gi_color_steps_end(struct gi_color_steps *steps)
{
    struct gi_matrix4 identity = gi_matrix4_identity();
    scale_all(steps, (double)gi_type_full_scale(steps->type));
    if (steps->transform.nsteps == 0 && !steps->pending)
        gi_color_steps_matrix(steps, &identity);
    flush(steps, steps->transform.nsteps == 0);
}

void gi_power_fill(struct gi_power *power, int i)
{
    for (int c = 0; c <= GI_POWER_CELLS; c++)
        power->cell[c] = (float)pow(1 + (double)c / GI_POWER_CELLS, exponents[i]);
    for (int e = 0; e < 255; e++)
        power->octave[e] = (float)pow(2, (e - 127) * exponents[i]);
    power->octave[255] = INFINITY;
}

/* ---- spaces ---- */

/* L*a*b* takes two matrices. over_white() converts linear light to XYZ relative to white, and
 * to_lab() is applied after the cube roots. Integers represent the ranges from 0 to 100 for L* and
 * from -128 to 127 for a* and b* (ICC.1:2022, 6.3.4.2). Floats are the numbers themselves. */
static struct gi_matrix4 over_white(void)
{
    struct gi_matrix4 scale = diagonal(1 / white[0], 1 / white[1], 1 / white[2], 1);
    return product(&scale, &to_xyz);
}

static struct gi_matrix4 to_lab(enum gi_type type)
{
    struct gi_matrix4 lab = {
        {{0, 116, 0, 0, -16}, {500, -500, 0, 0, 0}, {0, 200, -200, 0, 0}, {0, 0, 0, 1, 0}}};
    struct gi_matrix4 hold = diagonal(1. / 100, 1. / 255, 1. / 255, 1);
    hold.m[1][4] = hold.m[2][4] = 128. / 255;
    return type == GI_F32 ? lab : product(&hold, &lab);
}

/* The matrix that scales three ranges of numbers to 0 to 1, which integers represent. */
static struct gi_matrix4 to_ranges(const double low[3], const double high[3])
{
    struct gi_matrix4 matrix = gi_matrix4_identity();
    for (int i = 0; i < 3; i++) {
        matrix.m[i][i] = 1 / (high[i] - low[i]);
        matrix.m[i][4] = -low[i] / (high[i] - low[i]);
    }
    return matrix;
}

/* Integers represent the ranges of OpenCV for L*u*v*, 0 to 255 for chroma, and 0 to 360 degrees for
 * hue. Floats are the numbers themselves. */
static struct gi_matrix4 to_held(enum gi_space space, enum gi_type type)
{
    if (type == GI_F32)
        return gi_matrix4_identity();
    return space == GI_SPACE_LUV
               ? to_ranges((const double[]){0, -134, -140}, (const double[]){100, 220, 122})
               : to_ranges((const double[]){0, 0, 0}, (const double[]){100, 255, 360});
}

/* Adds a conversion to or from L*u*v*. */
static void add_luv(struct gi_color_steps *steps, enum gi_color_step_kind kind)
{
    double sum = white[0] + 15 * white[1] + 3 * white[2];
    add_step(steps, kind);
    struct gi_color_step *step = &steps->transform.steps[steps->transform.nsteps - 1];
    step->curve = kind == GI_COLOR_TO_LUV ? lightness : luminance;
    step->offset[0] = (float)(4 * white[0] / sum);
    step->offset[1] = (float)(9 * white[1] / sum);
    steps->asks[ROOT] = steps->asks[ROOT] || kind == GI_COLOR_TO_LUV;
}

double gi_srgb_light(double v)
{
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

void gi_lab_of_srgb(double lab[3], const double rgb[3])
{
    double light[3], f[3];
    for (int i = 0; i < 3; i++)
        light[i] = gi_srgb_light(rgb[i]);
    for (int i = 0; i < 3; i++) {
        const double *m = to_xyz.m[i];
        double t = (m[0] * light[0] + m[1] * light[1] + m[2] * light[2]) / white[i];
        f[i] = t > 0.008856 ? cbrt(t) : 7.787 * t + 16. / 116;
    }
    lab[0] = 116 * f[1] - 16;
    lab[1] = 500 * (f[0] - f[1]);
    lab[2] = 200 * (f[1] - f[2]);
}

/* The matrix from RGB to YCbCr by ITU-R BT.601-7, BT.709-6 or BT.2020-2. Full range is as in
 * BT.2100 or JFIF. */
static struct gi_matrix4 to_ycbcr(enum gi_space space, enum gi_type type, bool video)
{
    static const double weights[][2] = {
        {0.299, 0.114}, {GI_LUMA_RED, GI_LUMA_BLUE}, {0.2627, 0.0593}};
    double r = weights[space - GI_SPACE_YCBCR_601][0], b = weights[space - GI_SPACE_YCBCR_601][1];
    double g = 1 - r - b, full = (double)gi_type_full_scale(type);
    /* `unit` is one 8-bit code as a fraction of full scale, and `middle` is where Cb and Cr are
     * 0. */
    double unit = type == GI_U16 ? 256 / full : 1. / 255,
           middle = type == GI_F32 ? 0.5 : 128 * unit;
    struct gi_matrix4 m = {{{r, g, b, 0, 0},
                            {-r / (2 * (1 - b)), -g / (2 * (1 - b)), 0.5, 0, 0},
                            {0.5, -g / (2 * (1 - r)), -b / (2 * (1 - r)), 0, 0},
                            {0, 0, 0, 1, 0}}};
    struct gi_matrix4 range =
        video ? diagonal(219 * unit, 224 * unit, 224 * unit, 1) : gi_matrix4_identity();
    range.m[0][4] = video ? 16 * unit : 0;
    range.m[1][4] = range.m[2][4] = video ? 128 * unit : middle;
    return product(&range, &m);
}

static void add_inverse(struct gi_color_steps *steps, struct gi_matrix4 matrix)
{
    struct gi_matrix4 inverse = inverse_of(&matrix);
    gi_color_steps_matrix(steps, &inverse);
}

/* Adds the steps from L*a*b*, held by `type`, to RGB. */
static void add_lab_to_rgb(struct gi_color_steps *steps, enum gi_type type)
{
    add_inverse(steps, to_lab(type));
    add_curve(steps, &cube);
    add_inverse(steps, over_white());
    add_curve(steps, &encode);
}

/* Adds the steps from RGB to L*a*b*, held by `type`. */
static void add_rgb_to_lab(struct gi_color_steps *steps, enum gi_type type)
{
    struct gi_matrix4 matrix = over_white();
    add_curve(steps, &decode);
    gi_color_steps_matrix(steps, &matrix);
    add_curve(steps, &root);
    matrix = to_lab(type);
    gi_color_steps_matrix(steps, &matrix);
}

void gi_color_steps_to_rgb(struct gi_color_steps *steps, enum gi_space from, bool video)
{
    switch (from) {
    case GI_SPACE_RGB:
        break;
    case GI_SPACE_LINEAR:
        add_curve(steps, &encode);
        break;
    case GI_SPACE_XYZ:
        add_inverse(steps, to_xyz);
        add_curve(steps, &encode);
        break;
    case GI_SPACE_LCH:
        add_inverse(steps, to_held(from, steps->type));
        add_step(steps, GI_COLOR_FROM_LCH);
        add_lab_to_rgb(steps, GI_F32);
        break;
    case GI_SPACE_LAB:
        add_lab_to_rgb(steps, steps->type);
        break;
    case GI_SPACE_LUV:
    case GI_SPACE_LCHUV:
        add_inverse(steps, to_held(from, steps->type));
        if (from == GI_SPACE_LCHUV)
            add_step(steps, GI_COLOR_FROM_LCH);
        add_luv(steps, GI_COLOR_FROM_LUV);
        add_inverse(steps, to_xyz);
        add_curve(steps, &encode);
        break;
    case GI_SPACE_HSV:
        add_hues(steps, GI_COLOR_FROM_HSV);
        break;
    case GI_SPACE_HSL:
        add_hues(steps, GI_COLOR_FROM_HSL);
        break;
    default:
        add_inverse(steps, to_ycbcr(from, steps->type, video));
        break;
    }
}

void gi_color_steps_from_rgb(struct gi_color_steps *steps, enum gi_space to, bool video)
{
    struct gi_matrix4 matrix;
    switch (to) {
    case GI_SPACE_RGB:
        break;
    case GI_SPACE_LINEAR:
        add_curve(steps, &decode);
        break;
    case GI_SPACE_XYZ:
        add_curve(steps, &decode);
        gi_color_steps_matrix(steps, &to_xyz);
        break;
    case GI_SPACE_LAB:
        add_rgb_to_lab(steps, steps->type);
        break;
    case GI_SPACE_LCH:
        add_rgb_to_lab(steps, GI_F32);
        add_step(steps, GI_COLOR_TO_LCH);
        matrix = to_held(to, steps->type);
        gi_color_steps_matrix(steps, &matrix);
        break;
    case GI_SPACE_LUV:
    case GI_SPACE_LCHUV:
        add_curve(steps, &decode);
        gi_color_steps_matrix(steps, &to_xyz);
        add_luv(steps, GI_COLOR_TO_LUV);
        if (to == GI_SPACE_LCHUV)
            add_step(steps, GI_COLOR_TO_LCH);
        matrix = to_held(to, steps->type);
        gi_color_steps_matrix(steps, &matrix);
        break;
    case GI_SPACE_HSV:
        add_hues(steps, GI_COLOR_TO_HSV);
        break;
    case GI_SPACE_HSL:
        add_hues(steps, GI_COLOR_TO_HSL);
        break;
    default:
        matrix = to_ycbcr(to, steps->type, video);
        gi_color_steps_matrix(steps, &matrix);
        break;
    }
}
