/* Registration of translations. On the smallest level of an image pyramid all shifts are compared,
 * and the best ones refined by Gauss-Newton steps (Lucas and Kanade 1981, with a gain and an offset
 * of brightness), which the host computes in double. The best of these is refined on each larger
 * level.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/align.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/geometry/align_ecc.h"
#include "filters/geometry/align_equations.h"
#include "filters/geometry/align_pyramid.h"
#include "filters/geometry/align_shift.h"
#include "filters/geometry/align_similarity.h"
#include "filters/geometry/transform.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

enum {
    REGION_MAX = 1024, /* pixels along a side that a step looks at */
    STEPS_MAX = 30,
    MARGIN = 3,   /* pixels of the image around a pixel that a step reads */
    PART_MIN = 5, /* a fifth of the region has to be finite */
    UNKNOWNS = 4,
    SMOOTHINGS = 1, /* of the pyramids before ECC */
};

#define PI      3.14159265358979323846
#define CLEARLY 0.005 /* by this a shift of less overlap has a better score */

extern const struct gi_filter gi_filter_shift, gi_filter_affine;

static const struct gi_choice motions[] = {
    {"none", NULL, "nothing"},
    {"translation", NULL, "the shift"},
    {"euclidean", NULL, "shift and rotation"},
    {"similarity", NULL, "shift, rotation and scale"},
    {"affine", NULL, "all six numbers of the matrix, so also shear and unequal scales"},
    {.name = NULL},
};

static const struct gi_option options[] = {
    {GI_OPTION("reference", IMAGE, struct gi_align_params, reference), .letter = 'r',
     .picture = true, .example = "reference.png",
     .help = "Image of the same size, over which the input is to be moved"},
    GI_ALIGN_OPTIONS(struct gi_align_params, rotate, scale, ""),
    {GI_OPTION("refine", CHOICE, struct gi_align_params, refine), .default_text = "none",
     .choices = motions,
     .help =
         "Refine what was found by the enhanced correlation coefficient (ECC), which may change "
         "this motion"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct gi_align_params *p = params;
    return p->reference ? GI_OK : gi_fail(err, GI_E_USAGE, "--reference: missing: want an image");
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_align_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0], *reference = &plan->sources[1];
    if (reference->width != src->width || reference->height != src->height)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "--reference %s: is %d x %d, want %d x %d as the input", p->reference,
                       reference->width, reference->height, src->width, src->height);
    if (src->width > INT32_MAX / GI_MAX_CHANNELS || src->height > INT32_MAX / GI_MAX_CHANNELS)
        return gi_fail(err, GI_E_UNSUPPORTED, "%d x %d pixels: want sides of at most %d pixels",
                       src->width, src->height, INT32_MAX / GI_MAX_CHANNELS);
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->cost.other = 100;
    plan->array_nbytes =
        4 * sizeof(float) * (size_t)src->width * (size_t)src->height +
        (p->rotate || p->scale ? gi_align_similarity_nbytes(src) : GI_ALIGN_SHIFTS_NBYTES);
    return GI_OK;
}

/* ---- refinement ---- */

/* The pixels of the reference that a step looks at, whose places in the image are inside it. */
struct region {
    int x0, y0, x1, y1;
};

static void clip(int *from, int *to, int size, double shift)
{
    double low = ceil(MARGIN - shift), high = floor(size - MARGIN - shift);
    *from = low > 1 ? (int)low : 1;
    *to = high < size - 1 ? (int)high : size - 1;
    int spare = *to - *from - REGION_MAX;
    if (spare > 0) {
        *from += spare / 2;
        *to = *from + REGION_MAX;
    }
}

/* Interpolates row y + dy of the image at x0 - 1 + dx to x1 + dx. */
static void interpolate(double *row, const struct gi_image *image, const struct region *r, int y,
                        const double shift[2])
{
    double across[4], down[4];
    int left = (int)floor(shift[0]), top = (int)floor(shift[1]) + y;
    gi_align_cubic(across, shift[0] - floor(shift[0]));
    gi_align_cubic(down, shift[1] - floor(shift[1]));
    for (int x = r->x0 - 1; x <= r->x1; x++) {
        double sum = 0;
        for (int j = 0; j < 4; j++) {
            const float *v = (const float *)gi_row(image, top + j - 1) + x + left - 1;
            sum += down[j] * (across[0] * (double)v[0] + across[1] * (double)v[1] +
                              across[2] * (double)v[2] + across[3] * (double)v[3]);
        }
        row[x - (r->x0 - 1)] = sum;
    }
}

/* Adds the pixels of the region, except those that are not finite. `rows` has memory for three rows
 * of a region. Returns false if the region is small or most of its pixels are left out. */
static bool add_region(struct gi_align_equations *e, const struct gi_image *image,
                       const struct gi_image *reference, const double shift[2], double *rows)
{
    struct region r;
    clip(&r.x0, &r.x1, image->width, shift[0]);
    clip(&r.y0, &r.y1, image->height, shift[1]);
    *e = (struct gi_align_equations){.unknowns = UNKNOWNS};
    if (r.x1 - r.x0 < MARGIN || r.y1 - r.y0 < MARGIN)
        return false;
    size_t n = (size_t)(r.x1 - r.x0) + 2;
    double *above = rows, *row = rows + n, *below = row + n;
    interpolate(above, image, &r, r.y0 - 1, shift);
    interpolate(row, image, &r, r.y0, shift);
    for (int y = r.y0; y < r.y1; y++) {
        const float *p = gi_row(reference, y);
        double *last = above;
        interpolate(below, image, &r, y + 1, shift);
        for (int x = r.x0, i = 1; x < r.x1; x++, i++) {
            const double slope[] = {(row[i + 1] - row[i - 1]) / 2, (below[i] - above[i]) / 2};
            if (isfinite(slope[0] + slope[1] + row[i] + (double)p[x]))
                gi_align_add(e, (double)p[x], row[i], slope);
        }
        above = row;
        row = below;
        below = last;
    }
    return e->n * PART_MIN >= (double)(r.x1 - r.x0) * (r.y1 - r.y0);
}

/* Refines the shift on one level, and computes its score. A shift that moves away by more than two
 * pixels is given up. */
static void refine(double shift[2], double *score, const struct gi_image *image,
                   const struct gi_image *reference, double *rows)
{
    struct gi_align_equations e;
    double at[2] = {shift[0], shift[1]}, x[GI_ALIGN_UNKNOWNS_MAX];
    *score = 0;
    for (int i = 0; i < STEPS_MAX; i++) {
        if (!add_region(&e, image, reference, at, rows))
            return;
        double now = gi_align_score(&e);
        if (i && now < *score) /* the step before was too long */
            return;
        *score = now;
        shift[0] = at[0];
        shift[1] = at[1];
        if (!gi_align_solve(&e, x) || fabs(x[0]) > 2 || fabs(x[1]) > 2)
            return;
        at[0] += x[0];
        at[1] += x[1];
        if (fabs(x[0]) < 1e-4 && fabs(x[1]) < 1e-4)
            return;
    }
}

/* Sets the result from its matrix. */
static void set_result(struct gi_align *found, const double m[6], const struct gi_image *image)
{
    double x = (image->width - 1) / 2.0, y = (image->height - 1) / 2.0;
    double complex turn = (m[0] + m[4]) / 2 + I * ((m[3] - m[1]) / 2);
    for (int i = 0; i < 6; i++)
        found->matrix[i] = m[i] + 0.0; /* not -0 */
    found->dx = (m[0] - 1) * x + m[1] * y + m[2];
    found->dy = m[3] * x + (m[4] - 1) * y + m[5];
    found->scale = sqrt(creal(turn) * creal(turn) + cimag(turn) * cimag(turn));
    found->angle_deg = 0 - carg(turn) * (180 / PI);
}

static enum gi_status align(struct gi_align *found, const struct gi_align_pyramid *image,
                            const struct gi_align_pyramid *reference, struct gi_err *err)
{
    double shifts[GI_ALIGN_SHIFTS][2], shift[2] = {0, 0}, score;
    int last = image->n - 1;
    enum gi_status status =
        gi_align_shifts(shifts, &image->levels[last], &reference->levels[last], err);
    double *rows = status ? NULL : calloc(3 * (REGION_MAX + 2), sizeof *rows);
    if (status)
        return status;
    if (!rows)
        return gi_fail(err, GI_E_MEMORY, "out of memory: rows of an image");
    for (int i = 0; i < GI_ALIGN_SHIFTS; i++) {
        refine(shifts[i], &score, &image->levels[last], &reference->levels[last], rows);
        if (score > found->score + CLEARLY || !i) {
            found->score = score;
            memcpy(shift, shifts[i], sizeof shift);
        }
    }
    for (int i = last - 1; i >= 0; i--) {
        shift[0] *= 2;
        shift[1] *= 2;
        refine(shift, &found->score, &image->levels[i], &reference->levels[i], rows);
    }
    set_result(found, (double[]){1, 0, -shift[0], 0, 1, -shift[1]}, &image->levels[0]);
    free(rows);
    return GI_OK;
}

/* Refines the result by ECC, whose map is from the reference to the image. Smooths the pyramids,
 * because noise has slopes that do not belong to the picture. */
static enum gi_status refine_ecc(struct gi_align *found, const struct gi_align_pyramid *image,
                                 const struct gi_align_pyramid *reference,
                                 enum gi_align_motion motion, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (int i = 0; i < SMOOTHINGS * image->n && !status; i++) {
        status = gi_align_smooth(&image->levels[i % image->n], err);
        if (!status)
            status = gi_align_smooth(&reference->levels[i % image->n], err);
    }
    double m[9] = {0, 0, 0, 0, 0, 0, 0, 0, 1};
    memcpy(m, found->matrix, sizeof found->matrix);
    if (status || !gi_matrix_invert(m))
        return status;
    gi_align_ecc(m, &found->score, image, reference, motion);
    if (gi_matrix_invert(m))
        set_result(found, m, &image->levels[0]);
    return GI_OK;
}

/* Finds rotation, scale and shift, and inverts them. */
static enum gi_status align_similarity(struct gi_queue *queue, struct gi_align *found,
                                       const struct gi_align_params *p,
                                       const struct gi_align_pyramid *image,
                                       const struct gi_align_pyramid *reference, struct gi_err *err)
{
    struct gi_similarity seen;
    enum gi_status status =
        gi_align_similarity(queue, &seen, &found->score, image->levels, reference->levels, image->n,
                            p->rotate, p->scale, err);
    if (status)
        return status;
    double complex turn = 1 / seen.turn, shift = -turn * seen.shift;
    const double m[] = {creal(turn), -cimag(turn), creal(shift),
                        cimag(turn), creal(turn),  cimag(shift)};
    set_result(found, m, &image->levels[0]);
    return GI_OK;
}

static enum gi_status analyse(const struct gi_plan *plan, struct gi_queue *queue, void *result,
                              const struct gi_image *srcs, struct gi_err *err)
{
    const struct gi_align_params *p = plan->params;
    struct gi_align *found = result;
    struct gi_align_pyramid image = {.n = 0}, reference = {.n = 0};
    enum gi_status status = gi_align_pyramid_make(queue, &image, &srcs[0], err);
    if (!status)
        status = gi_align_pyramid_make(queue, &reference, &srcs[1], err);
    if (!status && (p->rotate || p->scale)) {
        status = align_similarity(queue, found, p, &image, &reference, err);
    } else if (!status) {
        status = align(found, &image, &reference, err);
    }
    if (!status && p->refine)
        status = refine_ecc(found, &image, &reference, (enum gi_align_motion)p->refine, err);
    gi_align_pyramid_free(&image);
    gi_align_pyramid_free(&reference);
    return status;
}

static void result_digest(const void *result, struct gi_digest *digest)
{
    const struct gi_align *found = result;
    const double values[] = {found->dx, found->dy, found->angle_deg, found->scale, found->score};
    gi_digest_reals(digest, values, 5);
    gi_digest_reals(digest, found->matrix, 6);
}

bool gi_align_only_moves(const struct gi_align *found)
{
    const double *m = found->matrix;
    return m[0] == 1 && m[1] == 0 && m[3] == 0 && m[4] == 1;
}

void gi_align_matrix_text(char text[GI_ALIGN_MATRIX_NBYTES], const struct gi_align *found)
{
    const double *m = found->matrix;
    bool only_moves = gi_align_only_moves(found);
    snprintf(text, GI_ALIGN_MATRIX_NBYTES,
             only_moves ? "%.0f %.0f %.6f; %.0f %.0f %.6f" : "%.9f %.9f %.6f; %.9f %.9f %.6f", m[0],
             m[1], m[2], m[3], m[4], m[5]);
}

enum gi_status gi_align_step(const struct gi_filter **filter, void **params,
                             const struct gi_align *found, struct gi_err *err)
{
    bool only_moves = gi_align_only_moves(found);
    *filter = only_moves ? &gi_filter_shift : &gi_filter_affine;
    size_t nbytes = (*filter)->params_nbytes;
    /* The parameters refer to the text, which is behind them. */
    *params = gi_small_realloc(gi_filter_params(*filter), 1, nbytes + GI_ALIGN_MATRIX_NBYTES);
    char *text = (char *)*params + nbytes;
    if (only_moves)
        snprintf(text, GI_ALIGN_MATRIX_NBYTES, "%.6f,%.6f", found->dx, found->dy);
    else
        gi_align_matrix_text(text, found);
    enum gi_status status =
        gi_option_set(*params, (*filter)->options, only_moves ? "offset" : "matrix", text, err);
    return status ? status
                  : gi_option_set(*params, (*filter)->options, "interpolation", "bicubic", err);
}

const struct gi_filter gi_filter_align = {
    .name = "align",
    .group = GI_GROUP_MEASUREMENT,
    .planes = GI_PLANES_LUMA,
    .summary = "Align: find shift, rotation and scale between images (registration)",
    .manual =
        "Prints the numbers of pixels, with fractions, by which the input has to be moved to the "
        "right and down so that it matches the image of --reference, and the correlation "
        "coefficient of both images after that. A score below 0.5 means that the result is "
        "probably wrong. With --rotate and --scale, the input is first rotated about its middle by "
        "the angle, counterclockwise, and multiplied by the scale. A JSON table also has the "
        "matrix "
        "of all that, for gpuimg affine --matrix.\n\n"
        "Both images become gray. Pixels that are NaN or infinite do not count. The shift is found "
        "on a version of 64 to 127 pixels along the "
        "shorter side, by the correlation coefficient of what overlaps (Lewis 1995), for all "
        "shifts with which a fifth of the middle 128 x 128 pixels overlaps: up to 2/5 of each side "
        "of an image, and more along one side alone. The six best shifts, and on each larger "
        "version, up to the images themselves, the best one, are refined by Gauss-Newton steps for "
        "the shift, and a gain and an offset of brightness (Lucas and Kanade 1981), with cubic "
        "interpolation, on at most 1024 x 1024 pixels in the middle of what overlaps. On pictures "
        "with detail the shift is exact to about 0.02 pixels.\n\n"
        "With --rotate or --scale, up to 400 corners of both images are matched by their "
        "surroundings, which are 8 x 8 samples in the direction of the gradient and in the image "
        "at five scales (Brown, Szeliski and Winder 2005), on the first version of less than 256 "
        "pixels along the shorter side. Each two of the 70 clearest matches give a transform, and "
        "up to four, on which most matches agree, are refined there by the same steps, with "
        "unknowns for the angle and the scale, and the one with the best score on the larger "
        "versions. Below a score of 0.9 there the smaller versions are matched too, which have "
        "less noise. On pictures with detail, shifts of up to a third of each side, any angles, "
        "and scales from 0.7 to 1.4, the angle is exact to 0.1 degrees, the scale to 0.2 % and the "
        "shift to 0.1 pixels.\n\n"
        "--refine then maximizes the correlation coefficient by the steps of Evangelidis and "
        "Psarakis (ECC, 2008), as OpenCV's findTransformECC() does, on the same versions, from at "
        "most 1024 x 1024 pixels that are spread evenly. It begins with what was found, so add "
        "--rotate and --scale if the images differ by more than some degrees or per cent. On "
        "pictures with detail the corners are exact to 0.05 pixels. With affine the matrix has all "
        "of the result, and angle and scale are those nearest to it.",
    .options = options,
    .params_nbytes = sizeof(struct gi_align_params),
    .check = check,
    .plan = plan,
    .analysis = {.nbytes = sizeof(struct gi_align), .run = analyse, .digest = result_digest},
};
