/* Fast conversion of 8-bit RGB between ICC profiles of curves and a matrix, with lcms2's bytes.
 *
 * lcms2 computes out[c] = round(curve[c](t)), t = sum over j of m[c][j] light[j](in[j]), in which
 * each stage rounds to float. Here light[] is a table of lcms2's own values, and t is a sum of
 * doubles that differs from lcms2's t by less than a known error. Because the curve rises, the t at
 * which the byte becomes k + 1 is found once, by bisection of lcms2's curve. A pixel whose t is
 * farther than the error from all of them has lcms2's byte. All other pixels, a few in a thousand,
 * are converted by lcms2 itself. So nothing depends on how lcms2 orders its operations.
 * SPDX-License-Identifier: MIT */
#include "imgio/metadata/icc_matrix.h"

#ifdef GI_HAS_LCMS
#include <math.h>
#include <stdlib.h>

enum { LEVELS = 256, BUCKETS = 1 << 13, BISECTIONS = 24 };

/* More than the error of rounding to float, 2^-24 of the maximum; the rest is for doubles. */
#define ROUNDING 0x1p-22

/* The values of t with which a byte may be k or k + 1. The last one is not reached. */
struct doubt {
    double from, to;
};

/* t is scaled so that its minimum is 0 and its maximum is BUCKETS. */
struct gi_icc_matrix {
    cmsHTRANSFORM transform;
    double part[3][LEVELS][4]; /* of each input channel and sample in the t of each output */
    struct doubt doubts[3][LEVELS];
    uint8_t first[3][BUCKETS + 2]; /* the smallest k that t in this bucket may need */
};

/* The stages between the curves as one matrix. */
struct product {
    double m[3][3], offset[3];
    double most[3], error[3]; /* the maximum of |t|, and of the difference from lcms2's t */
};

/* ---- the stages of lcms2 ---- */

static bool are_curves(const cmsStage *stage)
{
    return stage && gi_lcms.cmsStageType(stage) == cmsSigCurveSetElemType &&
           ((const _cmsStageToneCurvesData *)gi_lcms.cmsStageData(stage))->nCurves == 3;
}

/* Returns whether the stage is a matrix of 3 x 3, and multiplies *p by it. */
static bool multiply(struct product *p, const cmsStage *stage)
{
    struct product q = {0};
    if (gi_lcms.cmsStageType(stage) != cmsSigMatrixElemType ||
        gi_lcms.cmsStageInputChannels(stage) != 3 || gi_lcms.cmsStageOutputChannels(stage) != 3)
        return false;
    const _cmsStageMatrixData *data = gi_lcms.cmsStageData(stage);
    for (int i = 0; i < 3; i++) {
        const double *row = data->Double + 3 * i;
        q.offset[i] = data->Offset ? data->Offset[i] : 0;
        q.most[i] = fabs(q.offset[i]);
        for (int k = 0; k < 3; k++) {
            q.offset[i] += row[k] * p->offset[k];
            q.most[i] += fabs(row[k]) * p->most[k];
            q.error[i] += fabs(row[k]) * p->error[k];
            for (int j = 0; j < 3; j++)
                q.m[i][j] += row[k] * p->m[k][j];
        }
        q.error[i] += ROUNDING * q.most[i]; /* lcms2 rounds the result */
    }
    *p = q;
    return true;
}

/* ---- the tables ---- */

/* Fills the table of the light of each sample and its maximum. Returns false if it is not finite.
 */
static bool read_light(double light[3][LEVELS], double most[3], const cmsStage *curves)
{
    const _cmsStageToneCurvesData *data = gi_lcms.cmsStageData(curves);
    for (int c = 0; c < 3; c++)
        for (int v = 0; v < LEVELS; v++) {
            cmsFloat32Number in = (cmsFloat32Number)(257 * v) / 65535.0F;
            light[c][v] = (double)gi_lcms.cmsEvalToneCurveFloat(data->TheCurves[c], in);
            most[c] = fmax(most[c], fabs(light[c][v]));
            if (!isfinite(light[c][v]))
                return false;
        }
    return true;
}

/* The curve of an output channel: its value at the start of each bucket, and the unscaled t of
 * bucket i, least + i * step. */
struct rising {
    const cmsToneCurve *curve;
    double least, step;
    float at[BUCKETS + 1];
};

static float evaluate(const struct rising *r, double bucket)
{
    double t = r->least + bucket * r->step;
    return gi_lcms.cmsEvalToneCurveFloat(r->curve, (cmsFloat32Number)t);
}

/* Returns the t at which the curve reaches `value`, or INFINITY. *bucket, at which the search
 * begins, becomes its bucket. */
static double reaches(const struct rising *r, double value, int *bucket)
{
    while (*bucket < BUCKETS && (double)r->at[*bucket + 1] < value)
        ++*bucket;
    if (*bucket == BUCKETS)
        return INFINITY;
    double low = *bucket, high = low + 1;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        *((double)evaluate(r, middle) < value ? &low : &high) = middle;
    }
    return high;
}

/* Fills the doubts of output channel c. Returns false if the curve falls somewhere. */
static bool fill_doubts(struct gi_icc_matrix *made, int c, struct rising *r, double error)
{
    const double unsure = 0x1p-14; /* of 65535: lcms2 rounds down with 16 binary places */
    struct doubt *doubts = made->doubts[c];
    int from = 0, to = 0;
    for (int i = 0; i <= BUCKETS; i++) {
        r->at[i] = evaluate(r, i);
        if (!isfinite(r->at[i]) || (i && r->at[i] < r->at[i - 1]))
            return false;
    }
    for (int k = 0; k < LEVELS - 1; k++) {
        double middle = 257 * k + 128.5; /* of 65535, from which on k + 1 is nearer */
        doubts[k] = (struct doubt){reaches(r, (middle - unsure) / 65535, &from) - error,
                                   reaches(r, (middle + unsure) / 65535, &to) + error};
    }
    doubts[LEVELS - 1] = (struct doubt){INFINITY, INFINITY};
    for (int i = 0, k = 0; i < BUCKETS + 2; i++) {
        while (doubts[k].to < i - 1)
            k++;
        made->first[c][i] = (uint8_t)k;
    }
    return true;
}

/* Fills the tables of output channel c. */
static bool fill_output(struct gi_icc_matrix *made, int c, double light[3][LEVELS],
                        const struct product *p, struct rising *r)
{
    double most = p->offset[c];
    r->least = p->offset[c];
    for (int j = 0; j < 3; j++) {
        double low = INFINITY, high = -INFINITY;
        for (int v = 0; v < LEVELS; v++) {
            made->part[j][v][c] = p->m[c][j] * light[j][v];
            low = fmin(low, made->part[j][v][c]);
            high = fmax(high, made->part[j][v][c]);
        }
        r->least += low;
        most += high;
        for (int v = 0; v < LEVELS; v++)
            made->part[j][v][c] -= low;
    }
    r->step = (most - r->least) / BUCKETS;
    if (!isnormal(r->step))
        return false;
    for (int j = 0; j < 3; j++)
        for (int v = 0; v < LEVELS; v++)
            made->part[j][v][c] /= r->step;
    /* evaluate() rounds t to float, and bisection ends */
    double error = p->error[c] + ROUNDING * p->most[c];
    return fill_doubts(made, c, r, error / r->step + 2 * ldexp(1, -BISECTIONS));
}

/* Fills the tables from the stages. Returns false if they are others. */
static bool fill(struct gi_icc_matrix *made, const cmsStage *stage)
{
    struct product p = {.m = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    struct rising rising;
    double light[3][LEVELS];
    if (!are_curves(stage) || !read_light(light, p.most, stage))
        return false;
    while ((stage = gi_lcms.cmsStageNext(stage)) && !are_curves(stage))
        if (!multiply(&p, stage))
            return false;
    if (!stage || gi_lcms.cmsStageNext(stage))
        return false;
    const _cmsStageToneCurvesData *data = gi_lcms.cmsStageData(stage);
    for (int c = 0; c < 3; c++) {
        rising.curve = data->TheCurves[c];
        if (!fill_output(made, c, light, &p, &rising))
            return false;
    }
    return true;
}

struct gi_icc_matrix *gi_icc_matrix_new(cmsHTRANSFORM transform)
{
    struct gi_icc_matrix *made = calloc(1, sizeof *made);
    /* A profile that has the stages of the transform in memory, with whole precision. */
    cmsHPROFILE link = made ? gi_lcms.cmsTransform2DeviceLink(transform, 4.3, 0) : NULL;
    const cmsPipeline *stages = link ? gi_lcms.cmsReadTag(link, cmsSigAToB0Tag) : NULL;
    bool good = stages && fill(made, gi_lcms.cmsPipelineGetPtrToFirstStage(stages));
    if (link)
        gi_lcms.cmsCloseProfile(link);
    if (!good) {
        free(made);
        return NULL;
    }
    made->transform = transform;
    return made;
}

void gi_icc_matrix_convert(const struct gi_icc_matrix *matrix, uint8_t *out, const uint8_t *in,
                           int n, int channels)
{
    for (int i = 0; i < n; i++, in += channels, out += channels) {
        const double *r = matrix->part[0][in[0]], *g = matrix->part[1][in[1]],
                     *b = matrix->part[2][in[2]];
        bool sure = true;
        for (int c = 0; c < 3; c++) {
            double t = r[c] + g[c] + b[c];
            const struct doubt *doubt = &matrix->doubts[c][matrix->first[c][(int)t]];
            while (t > doubt->to)
                doubt++;
            sure = sure && t < doubt->from;
            out[c] = (uint8_t)(doubt - matrix->doubts[c]);
        }
        if (channels == 4)
            out[3] = in[3];
        if (!sure)
            gi_lcms.cmsDoTransform(matrix->transform, in, out, 1);
    }
}
#endif
