/* Principal components. Covariances follow from exact sums of squares, because 2 x y = x^2 + y^2 -
 * (x - y)^2. Eigenvectors are computed by Jacobi rotations.
 * SPDX-License-Identifier: MIT */
#include "filters/color/pca.h"

#include <math.h>

#include "filters/statistics/exact.h"
#include "kernels/arithmetic.h"
#include "kernels/kernels.h"
#include "kernels/tone.h"

enum { SWEEPS = 32 /* more than enough, because convergence is quadratic */ };

enum gi_status gi_pca_plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    if (src->channels < 3)
        return gi_fail(err, GI_E_UNSUPPORTED, "--pca: a gray image: want three channels");
    if ((uint64_t)src->width * (uint64_t)src->height > UINT32_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "--pca: %d x %d: want fewer than 2^32 pixels",
                       src->width, src->height);
    plan->passes = 1;
    plan->state_nbytes = sizeof(struct gi_pca_state);
    plan->cost.other += src->type == GI_F32 ? 20 : 10;
    return GI_OK;
}

/* ---- measuring ---- */

/* Permutes the colours cyclically. Colour c of `dst` is colour c + `by` of `src`, modulo 3. */
static enum gi_status turn_colors(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *src, int by, struct gi_err *err)
{
    struct gi_permute_channels spec = {
        .from = {{0, by % 3}, {0, (by + 1) % 3}, {0, (by + 2) % 3}, {0, 3}}, .nsources = 1};
    return queue->k->permute_channels(queue, dst, src, &spec, err);
}

/* Halves float samples, so that their differences do not overflow. If a colour of a pixel is not
 * finite, no colour of the pixel stays finite. `spare` is overwritten. */
static enum gi_status halve(struct gi_queue *queue, struct gi_image *half, struct gi_image *spare,
                            const struct gi_image *band, struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    struct gi_image zero;
    struct gi_pointwise by_half = {.op = GI_POINTWISE_AFFINE, .scale = {0.5f, 0.5f, 0.5f}};
    struct gi_pointwise by_none = {.op = GI_POINTWISE_AFFINE};
    struct gi_arithmetic sum = {.op = GI_ARITHMETIC_ADD, .plain = true, .other = spare};
    enum gi_status status =
        k->alloc(queue, &zero, band->width, band->height, band->channels, band->type, err);
    if (status)
        return status;
    status = k->pointwise(queue, &zero, band, &by_none, err);
    if (!status)
        status = k->pointwise(queue, half, band, &by_half, err);
    for (int by = 1; by < 3 && !status; by++) {
        status = turn_colors(queue, spare, &zero, by, err);
        if (!status)
            status = k->arithmetic(queue, half, half, &sum, err);
    }
    k->release(queue, &zero);
    return status;
}

/* Adds the sums of `colours`, and the sums of the differences of neighbouring colours. The
 * differences are computed in `spare`. */
static enum gi_status add_sums(struct gi_queue *queue, struct gi_pca_state *state,
                               const struct gi_image *colors, struct gi_image *spare,
                               struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    struct gi_reduce opaque = {.sums_only = true, .opaque = true, .y = state->rows};
    struct gi_arithmetic difference = {
        .op = GI_ARITHMETIC_DIFFERENCE, .plain = true, .other = spare};
    enum gi_status status = k->reduce(queue, state->found, colors, &opaque, err);
    if (!status)
        status = turn_colors(queue, spare, colors, 1, err);
    if (!status)
        status = k->arithmetic(queue, spare, colors, &difference, err);
    return status ? status : k->reduce(queue, state->differences, spare, &opaque, err);
}

enum gi_status gi_pca_measure(struct gi_queue *queue, struct gi_pca_state *state,
                              const struct gi_image *band, struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    struct gi_image spare, half = {0};
    enum gi_status status =
        k->alloc(queue, &spare, band->width, band->height, band->channels, band->type, err);
    if (status)
        return status;
    if (band->type == GI_F32) {
        status = k->alloc(queue, &half, band->width, band->height, band->channels, band->type, err);
        if (!status)
            status = halve(queue, &half, &spare, band, err);
    }
    if (!status)
        status = add_sums(queue, state, half.data ? &half : band, &spare, err);
    if (half.data)
        k->release(queue, &half);
    k->release(queue, &spare);
    state->type = band->type;
    state->rows += band->height;
    return status;
}

/* ---- concluding ---- */

struct eigen {
    double value, vector[3];
};

/* Makes a[p][q] zero by a rotation, and applies the same rotation to `v`. C. Jacobi, 1846; G. Golub
 * and C. Van Loan, "Matrix Computations", 8.5.2. */
static void rotate(double a[3][3], double v[3][3], int p, int q)
{
    double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    double app = a[p][p] - t * a[p][q], aqq = a[q][q] + t * a[p][q];
    int r = 3 - p - q;
    double arp = c * a[r][p] - s * a[r][q], arq = s * a[r][p] + c * a[r][q];
    a[p][p] = app;
    a[q][q] = aqq;
    a[p][q] = a[q][p] = 0;
    a[r][p] = a[p][r] = arp;
    a[r][q] = a[q][r] = arq;
    for (int i = 0; i < 3; i++) {
        double vp = v[i][p], vq = v[i][q];
        v[i][p] = c * vp - s * vq;
        v[i][q] = s * vp + c * vq;
    }
}

/* Sorts eigenvectors by eigenvalue, largest first. The component of a vector with the largest
 * magnitude is made positive. */
static void eigenvectors(struct eigen found[3], double a[3][3])
{
    double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++)
                if (a[p][q] != 0)
                    rotate(a, v, p, q);
    for (int k = 0; k < 3; k++) {
        struct eigen next = {.value = a[k][k], .vector = {v[0][k], v[1][k], v[2][k]}};
        int far = 0, at = k;
        for (int i = 1; i < 3; i++)
            if (fabs(next.vector[i]) > fabs(next.vector[far]))
                far = i;
        for (int i = 0; i < 3 && v[far][k] < 0; i++)
            next.vector[i] = -next.vector[i];
        for (; at > 0 && found[at - 1].value < next.value; at--)
            found[at] = found[at - 1];
        found[at] = next;
    }
}

struct gi_matrix4 gi_pca_matrix(const struct gi_pca_state *state)
{
    struct gi_matrix4 matrix = gi_matrix4_identity();
    bool whole = state->type != GI_F32;
    int squares = whole ? 0 : GI_EXACT_SQUARES;
    double covariance[3][3] = {{0}}, mean[3] = {0};
    struct eigen found[3];
    for (int c = 0; c < 3 && state->found[c].n; c++) {
        int next = (c + 1) % 3;
        const struct gi_reduction *x = &state->found[c], *y = &state->found[next];
        if (!whole) /* the sums are of halves */
            mean[c] = 2 * gi_exact_quotient(&x->sum, GI_EXACT_SUM, x->n);
        struct gi_exact spread = gi_exact_spread(x);
        struct gi_exact both = gi_exact_spread_of_two(x, y, &state->differences[c]);
        covariance[c][c] = gi_exact_quotient(&spread, squares, x->n * x->n);
        covariance[c][next] = covariance[next][c] =
            gi_exact_quotient(&both, squares, x->n * x->n) / 2;
    }
    eigenvectors(found, covariance);
    for (int k = 0; k < 3; k++) {
        double low = 0, high = 0, at_mean = 0;
        for (int c = 0; c < 3; c++) {
            double v = found[k].vector[c];
            *(v < 0 ? &low : &high) += v;
            at_mean += v * mean[c];
        }
        for (int c = 0; c < 3; c++)
            matrix.m[k][c] = whole ? found[k].vector[c] / (high - low) : found[k].vector[c];
        matrix.m[k][4] = whole ? -low / (high - low) : -at_mean;
    }
    return matrix;
}
