/* Matches corners of two images. A corner is described by 8 x 8 samples around it, in the direction
 * of its gradient and minus their mean (M. Brown, R. Szeliski, S. Winder, "Multi-image matching
 * using multi-scale oriented patches", CVPR 2005). In the image the samples are taken at several
 * scales, because corners are sought at one. Two matches give a transform, and the one on which
 * most matches agree is fitted to these.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/align_features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/geometry/align_pyramid.h"
#include "filters/regions/peaks.h"

enum {
    CORNERS_MAX = 400,
    TENSOR_PASSES = 3, /* of smoothing */
    SIDE = 8,          /* of a description, in samples */
    SAMPLES = SIDE * SIDE,
    SPACING = 2, /* px between samples at the scale 1 */
    RADIUS = 8,  /* px of the disk whose gradients are added, at the scale 1 */
    SCALES = 5,
    MATCHES_MAX = 160,
    PAIRED = 70,     /* the best matches, each two of which are tried */
    PAIR_APART = 12, /* minimum distance of two corners, in px */
    AGREE = 4,       /* px by which a match may be off */
    AGREE_MIN = 4,   /* matches that have to agree */
    OTHER_APART = 8, /* px between the best corner and the second */
    FITS = 3,
    PLANES = 7,
};

/* Steps of about the root of the root of 2. */
static const double scale_steps[SCALES] = {1, 0.84, 1.19, 0.71, 1.41};

/* A corner in one direction and at one scale. */
struct feature {
    double complex at, direction; /* times the scale */
    float samples[SAMPLES];       /* mean 0, sum of squares 1 */
};

struct features {
    struct feature *list;
    int n;
};

struct match {
    double complex from, to, turn; /* reference, image, the transform by their directions */
    double doubt; /* distance to the best description divided by that to the second */
    bool used;
};

/* The smoothed image and its gradients. */
struct planes {
    struct gi_image soft, gx, gy, responses;
};

static void planes_free(struct planes *planes)
{
    gi_image_free(&planes->soft);
    gi_image_free(&planes->gx);
    gi_image_free(&planes->gy);
    gi_image_free(&planes->responses);
}

static float *pixel(const struct gi_image *image, int x, int y)
{
    return (float *)gi_row(image, y) + x;
}

/* Makes the responses det / trace of the structure tensor, and `tensor` its members. */
static enum gi_status respond(struct planes *planes, struct gi_image tensor[3], struct gi_err *err)
{
    const int w = planes->soft.width, h = planes->soft.height;
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++) {
            float gx = (*pixel(&planes->soft, x + 1, y) - *pixel(&planes->soft, x - 1, y)) / 2;
            float gy = (*pixel(&planes->soft, x, y + 1) - *pixel(&planes->soft, x, y - 1)) / 2;
            if (!isfinite(gx) || !isfinite(gy))
                gx = gy = 0;
            *pixel(&planes->gx, x, y) = gx;
            *pixel(&planes->gy, x, y) = gy;
            *pixel(&tensor[0], x, y) = gx * gx;
            *pixel(&tensor[1], x, y) = gx * gy;
            *pixel(&tensor[2], x, y) = gy * gy;
        }
    for (int i = 0; i < 3; i++)
        for (int pass = 0; pass < TENSOR_PASSES; pass++) {
            enum gi_status status = gi_align_smooth(&tensor[i], err);
            if (status)
                return status;
        }
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float a = *pixel(&tensor[0], x, y), b = *pixel(&tensor[1], x, y),
                  c = *pixel(&tensor[2], x, y);
            *pixel(&planes->responses, x, y) = a + c > 0 ? (a * c - b * b) / (a + c) : 0;
        }
    return GI_OK;
}

/* The caller frees the planes, also after an error. */
static enum gi_status planes_make(struct planes *planes, const struct gi_image *image,
                                  struct gi_err *err)
{
    struct gi_image tensor[3] = {{0}};
    struct gi_image *const all[PLANES] = {&planes->soft,      &planes->gx, &planes->gy,
                                          &planes->responses, &tensor[0],  &tensor[1],
                                          &tensor[2]};
    enum gi_status status = GI_OK;
    memset(planes, 0, sizeof *planes);
    for (int i = 0; i < PLANES && !status; i++) {
        status = gi_image_alloc(all[i], image->width, image->height, 1, GI_F32, err);
        for (int y = 0; y < image->height && !status; y++)
            if (i)
                memset(gi_row(all[i], y), 0, (size_t)image->width * sizeof(float));
            else
                memcpy(gi_row(all[i], y), gi_row(image, y), (size_t)image->width * sizeof(float));
    }
    if (!status)
        status = gi_align_smooth(&planes->soft, err);
    if (!status)
        status = respond(planes, tensor, err);
    for (int i = 0; i < 3; i++)
        gi_image_free(&tensor[i]);
    return status;
}

/* Finds corners, the strongest first, which are spread over the image. */
static enum gi_status find_corners(struct gi_peaks *corners, const struct gi_image *responses,
                                   struct gi_err *err)
{
    enum gi_status status = GI_OK;
    const int w = responses->width, h = responses->height;
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1 && !status; x++) {
            float v = *pixel(responses, x, y);
            bool peak = v > 0;
            for (int i = 0; i < 9 && peak; i++) {
                float other = *pixel(responses, x + i % 3 - 1, y + i / 3 - 1);
                peak = i < 4 ? v > other : v >= other;
            }
            if (peak)
                status = gi_peaks_add(corners, (struct gi_peak){x, y, (double)v}, err);
        }
    int apart = (int)sqrt((double)w * h / (2 * CORNERS_MAX));
    return status ? status : gi_peaks_order(corners, apart, CORNERS_MAX, w, h, err);
}

/* Returns the direction of the sum of the gradients around a point, or 0 if that is 0. */
static double complex direction_of(const struct planes *planes, int x, int y, double scale)
{
    int reach = (int)(RADIUS * scale), w = planes->soft.width, h = planes->soft.height;
    double r2 = RADIUS * scale * RADIUS * scale, gx = 0, gy = 0;
    for (int dy = -reach; dy <= reach; dy++)
        for (int dx = -reach; dx <= reach; dx++) {
            double weight = 1 - (dx * dx + dy * dy) / r2;
            if (weight <= 0 || x + dx < 0 || y + dy < 0 || x + dx >= w || y + dy >= h)
                continue;
            gx += weight * (double)*pixel(&planes->gx, x + dx, y + dy);
            gy += weight * (double)*pixel(&planes->gy, x + dx, y + dy);
        }
    double norm = sqrt(gx * gx + gy * gy);
    return norm > 0 ? (gx + I * gy) / norm : 0;
}

/* Samples the surroundings. Returns false if they are outside the image, flat, or not finite. */
static bool describe(struct feature *feature, const struct gi_image *soft)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < SAMPLES; i++) {
        double complex step = (i % SIDE - (SIDE - 1) / 2.0) + I * (i / SIDE - (SIDE - 1) / 2.0);
        double complex at = feature->at + SPACING * step * feature->direction;
        double x = creal(at), y = cimag(at);
        if (!(x >= 0 && y >= 0 && x < soft->width - 1 && y < soft->height - 1))
            return false;
        double t = x - (int)x, u = y - (int)y;
        const float *row = pixel(soft, (int)x, (int)y), *next = pixel(soft, (int)x, (int)y + 1);
        double v = (1 - u) * ((1 - t) * (double)row[0] + t * (double)row[1]) +
                   u * ((1 - t) * (double)next[0] + t * (double)next[1]);
        feature->samples[i] = (float)v;
        sum += v;
    }
    for (int i = 0; i < SAMPLES; i++) {
        feature->samples[i] -= (float)(sum / SAMPLES);
        squares += (double)feature->samples[i] * (double)feature->samples[i];
    }
    for (int i = 0; i < SAMPLES; i++)
        feature->samples[i] /= (float)sqrt(squares);
    return squares > 1e-12 && isfinite(squares);
}

/* Makes the features of an image at the first `nscales` scales. The caller frees features->list,
 * also after an error. */
static enum gi_status find_features(struct features *features, const struct gi_image *image,
                                    int nscales, bool rotates, struct gi_err *err)
{
    struct planes planes;
    struct gi_peaks corners = {0};
    *features = (struct features){0};
    enum gi_status status = planes_make(&planes, image, err);
    if (!status)
        status = find_corners(&corners, &planes.responses, err);
    if (!status) {
        features->list = malloc(((size_t)corners.n * (size_t)nscales + 1) * sizeof *features->list);
        if (!features->list)
            status = gi_fail(err, GI_E_MEMORY, "out of memory: features of an image");
    }
    for (uint64_t i = 0; i < corners.n && !status; i++)
        for (int s = 0; s < nscales; s++) {
            const struct gi_peak *corner = &corners.peaks[i];
            struct feature *feature = &features->list[features->n];
            double complex direction =
                rotates ? direction_of(&planes, corner->x, corner->y, scale_steps[s]) : 1;
            feature->at = corner->x + I * corner->y;
            feature->direction = scale_steps[s] * direction;
            features->n += direction != 0 && describe(feature, &planes.soft);
        }
    gi_peaks_free(&corners);
    planes_free(&planes);
    return status;
}

/* ---- matches ---- */

static double square(double complex v)
{
    return creal(v) * creal(v) + cimag(v) * cimag(v);
}

/* Finds the feature of the image that is most like one of the reference. Returns false if there is
 * none, or no second one elsewhere. `likeness` has memory for a number per feature of the image. */
static bool find_match(struct match *match, const struct feature *from,
                       const struct features *image, float *likeness)
{
    int best = -1, second = -1;
    for (int i = 0; i < image->n; i++) {
        float sum = 0;
        for (int k = 0; k < SAMPLES; k++)
            sum += from->samples[k] * image->list[i].samples[k];
        likeness[i] = sum;
        if (best < 0 || sum > likeness[best])
            best = i;
    }
    for (int i = 0; i < image->n; i++)
        if (square(image->list[i].at - image->list[best].at) > OTHER_APART * OTHER_APART &&
            (second < 0 || likeness[i] > likeness[second]))
            second = i;
    if (second < 0 || likeness[best] < 0.5f)
        return false;
    *match = (struct match){.from = from->at,
                            .to = image->list[best].at,
                            .turn = image->list[best].direction / from->direction,
                            .doubt = (1 - (double)likeness[best]) /
                                     (1.000001 - (double)likeness[second])};
    return true;
}

static int by_doubt(const void *a, const void *b)
{
    const struct match *m = a, *n = b;
    if (m->doubt != n->doubt)
        return m->doubt < n->doubt ? -1 : 1;
    double order =
        cimag(m->from - n->from) != 0 ? cimag(m->from - n->from) : creal(m->from - n->from);
    return order < 0 ? -1 : order > 0;
}

/* Finds the least doubtful matches. The caller frees *matches. */
static enum gi_status find_matches(struct match **matches, int *n, const struct features *reference,
                                   const struct features *image, struct gi_err *err)
{
    *n = 0;
    *matches = malloc(((size_t)reference->n + 1) * sizeof **matches);
    float *likeness = malloc(((size_t)image->n + 1) * sizeof *likeness);
    if (!*matches || !likeness) {
        free(likeness);
        return gi_fail(err, GI_E_MEMORY, "out of memory: matches of two images");
    }
    for (int i = 0; i < reference->n && image->n; i++)
        *n += find_match(&(*matches)[*n], &reference->list[i], image, likeness);
    free(likeness);
    qsort(*matches, (size_t)*n, sizeof **matches, by_doubt);
    *n = *n < MATCHES_MAX ? *n : MATCHES_MAX;
    return GI_OK;
}

/* ---- transforms ---- */

/* What a transform may do, and the matches. */
struct search {
    struct match *matches;
    int n;
    bool rotates, scales;
};

/* Sets the transform that takes the middle `from` to `to`. Returns false if its turn is not
 * allowed. */
static bool set(struct gi_similarity *found, const struct search *search, double complex turn,
                double complex from, double complex to)
{
    double size = sqrt(square(turn));
    if (!(size > 0.6 && size < 1.67) || (!search->scales && fabs(size - 1) > 0.1) ||
        (!search->rotates && !(creal(turn) > 0.95 * size)))
        return false;
    turn = search->rotates ? turn : size;
    found->turn = search->scales ? turn : turn / size;
    found->shift = to - found->turn * from;
    return true;
}

static bool agrees(const struct gi_similarity *seen, const struct match *match)
{
    return !match->used &&
           square(seen->turn * match->from + seen->shift - match->to) < AGREE * AGREE;
}

static int count(const struct search *search, const struct gi_similarity *seen)
{
    int n = 0;
    for (int i = 0; i < search->n; i++)
        n += agrees(seen, &search->matches[i]);
    return n;
}

/* Fits the transform to the matches that agree, by least squares. */
static void fit(struct gi_similarity *found, const struct search *search)
{
    double complex from = 0, to = 0, product = 0;
    double n = 0, squares = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < search->n; i++) {
            const struct match *match = &search->matches[i];
            if (!agrees(found, match))
                continue;
            if (!pass) {
                from += match->from;
                to += match->to;
                n++;
                continue;
            }
            product += (match->to - to / n) * conj(match->from - from / n);
            squares += square(match->from - from / n);
        }
    if (squares > 0)
        set(found, search, product / squares, from / n, to / n);
}

/* Finds the transform on which most matches agree, and uses these up. Returns false if fewer than
 * AGREE_MIN do. */
static bool take_best(struct gi_similarity *found, const struct search *search)
{
    int best = 0, paired = search->n < PAIRED ? search->n : PAIRED;
    for (int i = 0; i < paired; i++)
        for (int j = i + 1; j < paired; j++) {
            const struct match *a = &search->matches[i], *b = &search->matches[j];
            struct gi_similarity seen;
            double complex apart = b->from - a->from, turn = (b->to - a->to) / apart;
            if (a->used || b->used || !(square(apart) >= PAIR_APART * PAIR_APART) ||
                square(turn - a->turn) > 0.5 || square(turn - b->turn) > 0.5 ||
                !set(&seen, search, turn, (a->from + b->from) / 2, (a->to + b->to) / 2))
                continue;
            int n = count(search, &seen);
            if (n > best) {
                best = n;
                *found = seen;
            }
        }
    if (best < AGREE_MIN)
        return false;
    for (int i = 0; i < FITS; i++)
        fit(found, search);
    for (int i = 0; i < search->n; i++)
        search->matches[i].used = search->matches[i].used || agrees(found, &search->matches[i]);
    return true;
}

enum gi_status gi_align_features(struct gi_similarity *found, int *n, const struct gi_image *image,
                                 const struct gi_image *reference, bool rotates, bool scales,
                                 struct gi_err *err)
{
    struct search search = {.rotates = rotates, .scales = scales};
    struct features fixed = {0}, moving = {0};
    *n = 0;
    enum gi_status status = find_features(&fixed, reference, 1, rotates, err);
    if (!status)
        status = find_features(&moving, image, scales ? SCALES : 1, rotates, err);
    if (!status)
        status = find_matches(&search.matches, &search.n, &fixed, &moving, err);
    while (!status && *n < GI_ALIGN_CANDIDATES && take_best(&found[*n], &search))
        ++*n;
    free(search.matches);
    free(fixed.list);
    free(moving.list);
    return status;
}

size_t gi_align_features_nbytes(size_t npixels)
{
    return (PLANES + 2) * sizeof(float) * npixels + /* and the corners, one in 4 pixels or fewer */
           (SCALES + 1) * CORNERS_MAX * sizeof(struct feature);
}
