/* Colour transforms of single pixels: colour spaces, white balance, saturation, hue, sepia, matrix
 * and principal components. All of them become steps of the primitive `color_transform`, which
 * applies the steps in one pass.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "filters/color/balance.h"
#include "filters/color/pca.h"
#include "filters/color/spaces.h"
#include "filters/convolution/kernel_text.h"
#include "kernels/kernels.h"

struct color_params {
    const char *text, *balance_text; /* --matrix, --balance */
    double saturation, hue;
    int from, to;
    bool pca, sepia, video;
    struct gi_matrix4 matrix; /* check() makes `matrix` and `balance` from the texts */
    struct gi_balance balance;
};

/* The results of the measuring pass, if there is one. */
union found {
    struct gi_balance_state balance;
    struct gi_pca_state pca;
};

/* In the order of enum gi_space. */
static const struct gi_choice spaces[] = {
    {"rgb", NULL, "sRGB, as files usually hold"},
    {"linear", NULL, "RGB in linear light"},
    {"xyz", NULL, "CIE 1931, with white D65"},
    {"lab", NULL, "CIE 1976 L*, a*, b*"},
    {"luv", NULL, "CIE 1976 L*, u*, v*"},
    {"lch", NULL, "L*, chroma and hue of Lab"},
    {"lchuv", NULL, "L*, chroma and hue of Luv"},
    {"hsv", NULL, "hue, saturation, value"},
    {"hsl", NULL, "hue, saturation, lightness"},
    {"ycbcr", NULL, "luma and colour differences, ITU-R BT.601, as in JPEG"},
    {"ycbcr709", NULL, "the same, ITU-R BT.709"},
    {"ycbcr2020", NULL, "the same, ITU-R BT.2020"},
    {"srgb", "rgb", NULL},
    {"ycbcr601", "ycbcr", NULL},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("from", CHOICE, struct color_params, from), .default_text = "rgb", .choices = spaces,
     .help = "Colour space of the image"},
    {GI_OPTION("balance", TEXT, struct color_params, balance_text), .metavar = "gray|X,Y|WxH+X+Y",
     .help = "White balance: \"gray\" makes the mean of all pixels gray, X,Y makes the pixel at "
             "this position gray, and WxH+X+Y makes the mean of this rectangle gray"},
    {GI_OPTION("pca", FLAG, struct color_params, pca),
     .help = "Principal components: rotate the colours so that the first channel has the largest "
             "variance; not with --from or --balance"},
    {GI_OPTION("saturation", REAL, struct color_params, saturation), .min = 0, .max = 10,
     .help = "Saturation factor: values above 1 give more colour, values below 1 give less, and "
             "0 gives gray"},
    {GI_OPTION("hue", REAL, struct color_params, hue), .min = -360, .max = 360, .unit = "degrees",
     .help = "Rotate all colours around the gray axis"},
    {GI_OPTION("sepia", FLAG, struct color_params, sepia),
     .help = "Brown tones of an old photograph"},
    {GI_OPTION("matrix", CONTENT, struct color_params, text), .metavar = "ROWS|FILE",
     .help = "Colour matrix: 3 rows of 3 numbers, 3 rows of 4 numbers with an offset, or 4 rows "
             "of 5 numbers with alpha and an offset"},
    {GI_OPTION("to", CHOICE, struct color_params, to), .default_text = "rgb", .example = "lab",
     .choices = spaces, .help = "Colour space of the result"},
    {GI_OPTION("video", FLAG, struct color_params, video),
     .help = "Use the limited range of video for YCbCr. In 8 bits, luma has the range 16 to 235, "
             "and colour differences have the range 16 to 240; other types use the same "
             "fractions of full scale"},
    {0},
};

/* ---- options ---- */

static enum gi_status read_matrix(struct gi_matrix4 *matrix, const char *text, struct gi_err *err)
{
    struct gi_kernel rows;
    enum gi_status status = gi_kernel_read(&rows, text, err);
    if (status) {
        gi_err_prefix(err, "--matrix");
        return status;
    }
    bool fits = (rows.height == 3 && (rows.width == 3 || rows.width == 4)) ||
                (rows.height == 4 && rows.width == 5);
    *matrix = gi_matrix4_identity();
    for (int i = 0; i < rows.height && fits; i++)
        for (int j = 0; j < rows.width; j++)
            matrix->m[i][j == 3 && rows.width == 4 ? 4 : j] = rows.weights[i * rows.width + j];
    if (!fits)
        status = gi_fail(err, GI_E_USAGE,
                         "--matrix: %d row%s of %d: want 3 rows of 3 or 4 numbers, or 4 of 5",
                         rows.height, rows.height == 1 ? "" : "s", rows.width);
    gi_kernel_free(&rows);
    return status;
}

static bool uses_ycbcr(const struct color_params *p)
{
    return p->from >= GI_SPACE_YCBCR_601 || p->to >= GI_SPACE_YCBCR_601;
}

static enum gi_status check(void *arg, struct gi_err *err)
{
    struct color_params *p = arg;
    enum gi_status status = GI_OK;
    p->matrix = gi_matrix4_identity();
    p->balance = (struct gi_balance){0};
    if (p->text)
        status = read_matrix(&p->matrix, p->text, err);
    if (!status && p->balance_text)
        status = gi_balance_read(&p->balance, p->balance_text, err);
    if (status)
        return status;
    if (p->balance_text && p->from != GI_SPACE_RGB)
        return gi_fail(err, GI_E_USAGE, "--balance: want an image in RGB, without --from");
    if (p->pca && (p->balance_text || p->from != GI_SPACE_RGB))
        return gi_fail(err, GI_E_USAGE, "--pca: want it without --%s",
                       p->balance_text ? "balance" : "from");
    if (p->video && !uses_ycbcr(p))
        return gi_fail(err, GI_E_USAGE, "--video: want --from or --to ycbcr");
    if (!p->text && !p->balance_text && isnan(p->saturation) && isnan(p->hue) && !p->sepia &&
        !p->pca && p->from == p->to)
        return gi_fail(
            err, GI_E_USAGE,
            "nothing to do: want --saturation, --matrix, --to lab or another of its options");
    return GI_OK;
}

static bool recolors(const void *params)
{
    const struct color_params *p = params;
    return p->from != GI_SPACE_RGB || p->to != GI_SPACE_RGB || p->pca;
}

/* ---- the steps ---- */

/* Matrices of CSS: https://www.w3.org/TR/filter-effects-1/, feColorMatrix and sepia(). */
static struct gi_matrix4 sepia(void)
{
    return (struct gi_matrix4){{{0.393, 0.769, 0.189, 0, 0},
                                {0.349, 0.686, 0.168, 0, 0},
                                {0.272, 0.534, 0.131, 0, 0},
                                {0, 0, 0, 1, 0}}};
}

static const double grays[3] = {0.213, 0.715, 0.072};

static struct gi_matrix4 saturation(double by)
{
    struct gi_matrix4 matrix = gi_matrix4_identity();
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            matrix.m[i][j] = grays[j] + by * ((i == j) - grays[j]);
    return matrix;
}

static struct gi_matrix4 hue(double degrees)
{
    static const double by_sine[3][3] = {
        {-0.213, -0.715, 0.928}, {0.143, 0.140, -0.283}, {-0.787, 0.715, 0.072}};
    double angle = degrees * (3.14159265358979323846 / 180), c = cos(angle), s = sin(angle);
    struct gi_matrix4 matrix = gi_matrix4_identity();
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            matrix.m[i][j] = grays[j] + c * ((i == j) - grays[j]) + s * by_sine[i][j];
    return matrix;
}

/* Combines all steps for images with the type and channels of the source. */
static void put_together(struct gi_color_steps *steps, const struct color_params *p,
                         const struct gi_image *src, const union found *found)
{
    struct gi_matrix4 matrix;
    gi_color_steps_begin(steps, src->type);
    gi_color_steps_to_rgb(steps, (enum gi_space)p->from, p->video);
    if (p->balance.kind) {
        matrix = gi_balance_matrix(&found->balance);
        gi_color_steps_matrix(steps, &matrix);
    }
    if (p->pca) {
        matrix = gi_pca_matrix(&found->pca);
        gi_color_steps_matrix(steps, &matrix);
    }
    if (!isnan(p->saturation)) {
        matrix = saturation(p->saturation);
        gi_color_steps_matrix(steps, &matrix);
    }
    if (!isnan(p->hue)) {
        matrix = hue(p->hue);
        gi_color_steps_matrix(steps, &matrix);
    }
    if (p->sepia) {
        matrix = sepia();
        gi_color_steps_matrix(steps, &matrix);
    }
    if (p->text) {
        matrix = p->matrix;
        steps->transform.alpha_too = gi_has_alpha(src);
        for (int i = 0; i < 3 && !gi_has_alpha(src); i++) /* alpha is 1 everywhere */
            matrix.m[i][4] += matrix.m[i][3];
        gi_color_steps_matrix(steps, &matrix);
    }
    gi_color_steps_from_rgb(steps, (enum gi_space)p->to, p->video);
    gi_color_steps_end(steps);
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    const struct color_params *p = plan->params;
    static const union found none;
    struct gi_color_steps steps;
    if (src->channels < 3 && p->from != GI_SPACE_RGB)
        return gi_fail(err, GI_E_UNSUPPORTED, "--from: a gray image: want three channels");
    if (src->channels < 3) {
        plan->result.channels += 2;
        plan->cost.nbytes = 2 * (double)gi_type_nbytes(src->type);
    }
    put_together(&steps, p, src, &none);
    struct gi_power *powers = gi_plan_tables(plan, sizeof *powers * GI_POWERS_MAX, err);
    if (!powers)
        return GI_E_MEMORY;
    plan->cost.fmas = 3;
    plan->cost.other = steps.transform.nsteps > 1 ? 8 * steps.transform.nsteps : 0;
    for (int i = 0; i < GI_POWERS_MAX; i++)
        if (steps.asks[i])
            gi_power_fill(&powers[i], i);
    if (p->pca)
        return gi_pca_plan(plan, err);
    return p->balance.kind ? gi_balance_plan(&p->balance, plan, err) : GI_OK;
}

static enum gi_status measure(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                              const struct gi_look *look, struct gi_err *err)
{
    const struct gi_image *band = look->srcs;
    const struct color_params *p = plan->params;
    return p->pca ? gi_pca_measure(queue, state, band, err)
                  : gi_balance_measure(&p->balance, queue, state, band, err);
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct gi_power *powers = plan->tables;
    const struct gi_image *src = work->srcs;
    struct gi_color_steps steps;
    put_together(&steps, plan->params, src, work->state);
    for (int i = 0; i < GI_POWERS_MAX; i++)
        steps.transform.powers[i] = steps.asks[i] ? &powers[i] : NULL;
    if (src->channels < 3) {
        struct gi_permute_channels spread = {.from = {{0, 0}, {0, 0}, {0, 0}, {0, 1}},
                                             .nsources = 1};
        enum gi_status status = queue->k->permute_channels(queue, work->dst, src, &spread, err);
        if (status)
            return status;
        src = work->dst;
    }
    return queue->k->color_transform(queue, work->dst, src, &steps.transform, err);
}

const struct gi_filter gi_filter_color = {
    .name = "color",
    .group = GI_GROUP_COLOR,
    .planes = GI_PLANES_RGB,
    .samples.needs_color = true,
    .samples.recolors = recolors,
    .summary = "Change colours: saturation, hue, white balance, matrix, colour space",
    .examples = "gpuimg color in.png vivid.png --saturation 1.5\n"
                "gpuimg color in.jpg lab.tif --to lab --depth 16\n"
                "gpuimg color photo.jpg white.png --balance 120,80\n"
                "gpuimg color photo.jpg lch.tif --to lch --depth float",
    .manual =
        "At least one option is required. Several options are applied in this order: "
        "--from, --balance or --pca, --saturation, --hue, --sepia, --matrix, --to. A gray "
        "image counts as red = green = blue, and the result has three colour channels. Alpha "
        "does not change, except with a --matrix of 4 rows. The result is rounded once, and "
        "in 8 and 16 bits it is limited to the range of the samples. gpuimg help levels has "
        "an example for more saturation, contrast and brightness.\n\n"
        "gpuimg colormap shows gray images in false colours.\n\n"
        "--matrix computes R' = m11 R + m12 G + m13 B + o1, and G' and B' in the same way "
        "from the next rows; full scale is 1. The offset o1 may be left out. A matrix of 4 "
        "rows of 5 numbers is that of SVG's feColorMatrix: its columns are red, green, "
        "blue, alpha and offset. Rows are separated by ';' or line ends. --saturation, "
        "--hue and --sepia are the matrices of CSS "
        "(https://www.w3.org/TR/filter-effects-1/), applied to the samples as they are "
        "stored.\n\n"
        "--balance multiplies each channel by (mR + mG + mB) / 3 / m, where mR, mG and mB "
        "are the means of the three channels and m is the mean of this channel. --balance "
        "gray takes the means of the whole image, except fully transparent pixels (gray "
        "world). --balance X,Y takes the samples of one pixel as the means, and --balance "
        "WxH+X+Y takes the means of a rectangle. That pixel or rectangle should be "
        "gray.\n\n"
        "--pca computes the eigenvectors v1, v2, v3 of the covariance matrix of red, green "
        "and blue, with v1 for the largest eigenvalue. The sign of each vector is chosen "
        "so that its component of the largest magnitude is positive. In float images "
        "channel k becomes the dot product of vk and (colour - mean). In 8 and 16 bits it "
        "becomes the dot product of vk and the colour, scaled so that the possible values "
        "fill the range 0 to full scale and nothing is cut off. The covariances are "
        "computed from exact sums over the channels and over the differences of two "
        "channels, such as R - G. In float images each of these differences is first "
        "rounded to float. Pixels that are fully transparent or not finite do not "
        "count.\n\n"
        "Colour spaces: \"linear\" and \"xyz\" use the curve of sRGB (IEC 61966-2-1). "
        "\"xyz\" has the primaries of BT.709 and white D65, for which Y = 1. \"lab\" is "
        "the colour space of CIE 15 with white D65 (0.95047, 1, 1.08883). Float images hold L*, a* "
        "and b* "
        "themselves. In 8 and 16 bits, the samples from 0 to full scale represent L* from "
        "0 to 100, and a* and b* from -128 to 127 are stored as in ICC profiles. \"luv\" is "
        "L*u*v* with the same white; 8 and 16 bits represent L* from 0 to 100, u* from -134 to "
        "220 and v* from -140 to 122, as in OpenCV. \"lch\" has L*, chroma and hue, "
        "which are the length and the angle of (a*, b*), and \"lchuv\" those of (u*, v*); 8 and "
        "16 bits represent a chroma of 0 to 255 and a hue of 0 to 360 degrees. The hue of gray "
        "is that of rounding errors. In "
        "\"hsv\" and \"hsl\", the samples from 0 to full scale represent a hue of 0 to 360 "
        "degrees, and in the other two channels a value of 0 to 1. In \"ycbcr\", half of "
        "full scale represents a colour difference of 0. In 8 and 16 bits values above "
        "full scale are cut off; this matters for white in \"xyz\", where Z = 1.09.\n\n"
        "Except for these scales the values are those of scikit-image 0.26, whose white differs "
        "from the sum of the primaries in the fifth digit, so that gray has an a* and b* of up to "
        "0.005. In float images "
        "OpenCV differs by up to 0.6 in Lab, which it interpolates, by 0.03 in Luv, and by 0.002 "
        "in "
        "other spaces; its XYZ treats RGB samples as linear light.",
    .options = options,
    .params_nbytes = sizeof(struct color_params),
    .check = check,
    .plan = plan,
    .run = run,
    .measure = measure,
};
