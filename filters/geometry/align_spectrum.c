/* Phase correlation of images and of their spectra in log-polar coordinates.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/align_spectrum.h"

#include "filters/geometry/fourier.h"
#include "kernels/elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIDE = 256, /* of all transforms */
    AREA = SIDE * SIDE,
    SIDE_MIN = 16,     /* smaller images show no direction */
    RADIUS_MIN = 6,    /* of the spectrum, in cycles per SIDE pixels */
    RADIUS_MAX = 110,  /* within SIDE / 2 */
    ANGLES = SIDE / 2, /* steps of the angle that are searched on both sides */
    PEAK_APART = 4,    /* minimum distance of two peaks, in steps */
};

/* The magnitude, the same on every machine. */
static double length(double complex v)
{
    return sqrt(creal(v) * creal(v) + cimag(v) * cimag(v));
}

/* The ratio of two radii that are neighbours in log-polar coordinates: the SIDE-th root of that of
 * the largest one. */
static double growth(void)
{
    double ratio = (double)RADIUS_MAX / RADIUS_MIN;
    for (int n = 1; n < SIDE; n *= 2)
        ratio = sqrt(ratio);
    return ratio;
}

/* Replaces v by its phase correlation with u: entry d is large if v(p + d) is like u(p). Both are
 * transforms. Magnitudes become 1, or their square roots if `half`. */
static void correlate(double complex *v, const double complex *u, bool half,
                      double complex *scratch)
{
    for (int i = 0; i < AREA; i++) {
        double complex product = v[i] * conj(u[i]);
        double magnitude = length(product);
        v[i] = magnitude > 1e-30 ? product / (half ? sqrt(magnitude) : magnitude) : 0;
    }
    gi_fourier(v, scratch, SIDE, SIDE, true);
}

/* ---- images ---- */

/* The square that is compared. */
struct square {
    int side, left, top;
};

static struct square square_of(const struct gi_image *image)
{
    int side = image->width < image->height ? image->width : image->height;
    side = side < SIDE ? side : SIDE;
    return (struct square){side, (image->width - side) / 2, (image->height - side) / 2};
}

/* Interpolates linearly. Returns false outside the image. */
static bool sample(double *v, const struct gi_image *image, double complex at)
{
    double x = creal(at), y = cimag(at);
    if (!(x >= 0 && y >= 0 && x <= image->width - 1 && y <= image->height - 1))
        return false;
    int i = (int)x, j = (int)y, right = i + 1 < image->width, below = j + 1 < image->height;
    double t = x - i, u = y - j;
    const float *row = (const float *)gi_row(image, j) + i,
                *next = (const float *)gi_row(image, j + below) + i;
    *v = (1 - u) * ((1 - t) * (double)row[0] + t * (double)row[right]) +
         u * ((1 - t) * (double)next[0] + t * (double)next[right]);
    return isfinite(*v);
}

/* Transforms the square of the image behind `seen`, minus its mean, under a window of Hann around
 * the middle, which has no direction. */
static void spectrum(double complex *v, const struct gi_image *image,
                     const struct gi_similarity *seen, double complex *scratch)
{
    const struct square square = square_of(image);
    double sum = 0, n = 0, value = 0, middle = (square.side - 1) / 2.0;
    memset(v, 0, AREA * sizeof *v);
    for (int pass = 0; pass < 2; pass++)
        for (int y = 0; y < square.side; y++)
            for (int x = 0; x < square.side; x++) {
                double complex p = square.left + x + I * (square.top + y);
                double r = length(x - middle + I * (y - middle)) / (middle + 1);
                if (r >= 1 || !sample(&value, image, seen->turn * p + seen->shift))
                    continue;
                double window = (1 + creal(gi_unit(r / 2))) / 2;
                if (pass)
                    v[y * SIDE + x] = (value - sum / n) * window;
                sum += pass ? 0 : value * window;
                n += pass ? 0 : window;
            }
    gi_fourier(v, scratch, SIDE, SIDE, false);
}

/* Samples the logarithm of the magnitudes in log-polar coordinates: rows are angles from 0 to pi,
 * columns are radii, as logarithms. Each radius has the mean 0 and the variance 1, so that all
 * radii count alike, under a window of Hann. */
static void log_polar(double complex *v, const double complex *from, double complex *scratch)
{
    const double factor = growth();
    double r = RADIUS_MIN;
    for (int k = 0; k < SIDE; k++, r *= factor) {
        double sum = 0, squares = 0, window = (1 - creal(gi_unit((k + 0.5) / SIDE))) / 2;
        for (int j = 0; j < SIDE; j++) {
            double complex ray = r * gi_unit(0.5 * j / SIDE);
            double x = creal(ray) + SIDE, y = cimag(ray) + SIDE;
            int left = (int)x, top = (int)y;
            double t = x - left, u = y - top, level = 0;
            for (int corner = 0; corner < 4; corner++) {
                int column = (left + corner % 2) % SIDE, row = (top + corner / 2) % SIDE;
                level += (corner % 2 ? t : 1 - t) * (corner / 2 ? u : 1 - u) *
                         (double)gi_log((float)(1e-9 + length(from[row * SIDE + column])));
            }
            v[j * SIDE + k] = level;
            sum += level;
            squares += level * level;
        }
        double mean = sum / SIDE, spread = squares / SIDE - mean * mean;
        for (int j = 0; j < SIDE; j++)
            v[j * SIDE + k] =
                spread > 1e-9 ? (creal(v[j * SIDE + k]) - mean) / sqrt(spread) * window : 0;
    }
    gi_fourier(v, scratch, SIDE, SIDE, false);
}

/* ---- peaks ---- */

/* Returns the signed number of steps that entry i of a cyclic correlation means. */
static int signed_steps(int i)
{
    return i < SIDE / 2 ? i : i - SIDE;
}

/* Returns the largest entry within these steps of the angle and the radius, and clears its
 * surroundings. */
static int take_peak(double complex *v, int turns, int radii)
{
    int best = -1;
    for (int i = 0; i < AREA; i++)
        if (abs(signed_steps(i / SIDE)) <= turns && abs(signed_steps(i % SIDE)) <= radii &&
            (best < 0 || creal(v[i]) > creal(v[best])))
            best = i;
    for (int y = -PEAK_APART; y <= PEAK_APART; y++)
        for (int x = -PEAK_APART; x <= PEAK_APART; x++)
            v[(best / SIDE + y + SIDE) % SIDE * SIDE + (best % SIDE + x + SIDE) % SIDE] = -1e300;
    return best;
}

/* Completes the transform, whose turn is known, by the shift. `work` and `scratch` have memory for
 * a transform each. */
static void find_shift(struct gi_similarity *found, const struct gi_image *image,
                       const double complex *reference, double complex *work,
                       double complex *scratch)
{
    double complex middle = (image->width - 1) / 2.0 + I * ((image->height - 1) / 2.0);
    found->shift = middle - found->turn * middle;
    spectrum(work, image, found, scratch);
    correlate(work, reference, false, scratch);
    int best = take_peak(work, SIDE, SIDE);
    found->shift += found->turn * (signed_steps(best % SIDE) + I * signed_steps(best / SIDE));
}

enum gi_status gi_align_candidates(struct gi_similarity *found, int *n,
                                   const struct gi_image *image, const struct gi_image *reference,
                                   bool rotates, bool scales, struct gi_err *err)
{
    const struct gi_similarity same = {1, 0};
    const double factor = growth();
    int radii = 1; /* steps of the radius within a factor of 2 */
    for (double scale = factor; scales && scale * factor < 2; scale *= factor)
        radii++;
    *n = 1;
    found[0] = same;
    if (square_of(image).side < SIDE_MIN || square_of(reference).side < SIDE_MIN)
        return GI_OK;
    double complex *fixed = malloc(4 * AREA * sizeof *fixed), *work = fixed + AREA,
                   *polar = work + AREA, *scratch = polar + AREA;
    if (!fixed)
        return gi_fail(err, GI_E_MEMORY, "out of memory: spectra of %d x %d pixels", SIDE, SIDE);
    spectrum(fixed, reference, &same, scratch);
    spectrum(work, image, &same, scratch);
    log_polar(polar, work, scratch);
    log_polar(work, fixed, scratch);
    correlate(polar, work, true, scratch);
    for (*n = 0; *n < GI_ALIGN_CANDIDATES; *n += 2) {
        int best = take_peak(polar, rotates ? ANGLES : 1, radii);
        double turns = rotates ? 0.5 * signed_steps(best / SIDE) / SIDE : 0, scale = 1;
        for (int i = scales ? signed_steps(best % SIDE) : 0; i; i += i < 0 ? 1 : -1)
            scale = i < 0 ? scale * factor : scale / factor;
        for (int half = 0; half < 2; half++) {
            found[*n + half].turn = scale * gi_unit(turns + (rotates ? 0.5 * half : 0));
            find_shift(&found[*n + half], image, fixed, work, scratch);
        }
    }
    free(fixed);
    return GI_OK;
}
