/* Normalised cross-correlation of what overlaps, for all shifts: products by a Fourier transform,
 * all other sums by integral images (J. P. Lewis, "Fast normalized cross-correlation", 1995).
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/align_shift.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/fourier.h"

enum {
    AREA = 1 << 16, /* of the transforms */
    SIDE_MIN = 16,
    PART_MIN = 5, /* a fifth has to overlap */
    APART = 3,    /* minimum distance of two shifts, in px */
};

/* Sums of an image minus its mean, and of the squares of that, as integral images with a row and a
 * column of zeros in front. */
struct sums {
    double plain[AREA / 2], squares[AREA / 2];
};

struct work {
    int across, down;  /* sides of the transforms */
    int width, height; /* of the compared parts: at most half a side, so that shifts do not wrap */
    struct sums image, reference;
    double complex products[AREA], scratch[AREA];
    double scores[AREA]; /* entry (x, y) is the shift (x - across / 2, y - down / 2) */
};

/* Chooses long transforms for long images. */
static void choose_sides(struct work *work, const struct gi_image *image)
{
    int w = image->width, h = image->height;
    work->across = work->down = 256;
    while (w > work->across / 2 && h <= work->down / 4 && work->down > SIDE_MIN) {
        work->across *= 2;
        work->down /= 2;
    }
    while (h > work->down / 2 && w <= work->across / 4 && work->across > SIDE_MIN) {
        work->down *= 2;
        work->across /= 2;
    }
    work->width = w < work->across / 2 ? w : work->across / 2;
    work->height = h < work->down / 2 ? h : work->down / 2;
}

static double sum_of(const double *sums, int stride, int x0, int y0, int w, int h)
{
    const double *above = sums + y0 * stride + x0, *below = above + h * stride;
    return below[w] - below[0] - above[w] + above[0];
}

/* Takes the middle of an image, and adds it to the products, times `unit`. */
static void take(struct work *work, struct sums *sums, double complex unit,
                 const struct gi_image *image)
{
    int left = (image->width - work->width) / 2, top = (image->height - work->height) / 2;
    double mean = 0, n = 0;
    for (int y = 0; y < work->height; y++)
        for (int x = 0; x < work->width; x++) {
            float v = ((const float *)gi_row(image, top + y))[left + x];
            mean += isfinite(v) ? (double)v : 0;
            n += isfinite(v);
        }
    mean = n > 0 ? mean / n : 0;
    for (int y = 0; y < work->height; y++) {
        double sum = 0, squares = 0;
        for (int x = 0; x < work->width; x++) {
            float sample = ((const float *)gi_row(image, top + y))[left + x];
            double v = isfinite(sample) ? (double)sample - mean : 0;
            int above = y * (work->width + 1) + x + 1, at = above + work->width + 1;
            sum += v;
            squares += v * v;
            sums->plain[at] = sums->plain[above] + sum;
            sums->squares[at] = sums->squares[above] + squares;
            work->products[y * work->across + x] += unit * v;
        }
    }
}

/* Replaces a + i b by the products of all shifts: entry d is the sum of a(p) times b(p + d). */
static void multiply(double complex *v, double complex *scratch, int across, int down)
{
    gi_fourier(v, scratch, across, down, false);
    for (int y = 0; y <= down / 2; y++)
        for (int x = 0; x < across; x++) {
            int i = y * across + x, j = (down - y) % down * across + (across - x) % across;
            if ((y == 0 || y == down / 2) && j < i)
                continue;
            double complex a = (v[i] + conj(v[j])) / 2, b = (v[i] - conj(v[j])) * (-0.5 * I);
            v[i] = conj(a) * b;
            v[j] = conj(v[i]);
        }
    gi_fourier(v, scratch, across, down, true);
}

/* Returns the correlation coefficient of what overlaps, times the root of its share of all pixels,
 * because a small part is similar more easily. */
static double score_of(const struct work *work, int dx, int dy)
{
    const struct sums *a = &work->reference, *b = &work->image;
    int w = work->width - abs(dx), h = work->height - abs(dy), stride = work->width + 1;
    int ax = dx < 0 ? -dx : 0, ay = dy < 0 ? -dy : 0, bx = dx > 0 ? dx : 0, by = dy > 0 ? dy : 0;
    double all = (double)work->width * work->height, n = (double)w * h;
    if (w <= 0 || h <= 0 || n * PART_MIN < all)
        return -1;
    double sa = sum_of(a->plain, stride, ax, ay, w, h), sb = sum_of(b->plain, stride, bx, by, w, h);
    double va = sum_of(a->squares, stride, ax, ay, w, h) - sa * sa / n;
    double vb = sum_of(b->squares, stride, bx, by, w, h) - sb * sb / n;
    int row = dy < 0 ? dy + work->down : dy, column = dx < 0 ? dx + work->across : dx;
    double product = creal(work->products[row * work->across + column]) / AREA;
    double norm = va > 0 && vb > 0 ? sqrt(va) * sqrt(vb) : 0;
    double score = (product - sa * sb / n) / norm * sqrt(n / all);
    return norm > 0 && isfinite(score) ? score : -1;
}

/* Returns the entry of a shift in the scores. */
static double *entry(struct work *work, int dx, int dy)
{
    return &work->scores[(dy + work->down / 2) * work->across + dx + work->across / 2];
}

/* Takes the best shift, of equal ones the nearest, and clears its surroundings. */
static void take_best(double found[2], struct work *work)
{
    const int w = work->width, h = work->height;
    double best = -2;
    int bx = 0, by = 0;
    for (int dy = 1 - h; dy < h; dy++)
        for (int dx = 1 - w; dx < w; dx++) {
            double score = *entry(work, dx, dy);
            bool nearer = abs(dx) + abs(dy) < abs(bx) + abs(by);
            if (score > best || (score == best && nearer)) {
                best = score;
                bx = dx;
                by = dy;
            }
        }
    for (int dy = by - APART; dy <= by + APART; dy++)
        for (int dx = bx - APART; dx <= bx + APART; dx++)
            if (abs(dx) < w && abs(dy) < h)
                *entry(work, dx, dy) = -2;
    found[0] = bx;
    found[1] = by;
}

enum gi_status gi_align_shifts(double found[GI_ALIGN_SHIFTS][2], const struct gi_image *image,
                               const struct gi_image *reference, struct gi_err *err)
{
    struct work *work = calloc(1, sizeof *work);
    if (!work)
        return gi_fail(err, GI_E_MEMORY, "out of memory: products of all shifts");
    choose_sides(work, image);
    take(work, &work->reference, 1, reference);
    take(work, &work->image, I, image);
    multiply(work->products, work->scratch, work->across, work->down);
    for (int dy = 1 - work->height; dy < work->height; dy++)
        for (int dx = 1 - work->width; dx < work->width; dx++)
            *entry(work, dx, dy) = score_of(work, dx, dy);
    for (int i = 0; i < GI_ALIGN_SHIFTS; i++)
        take_best(found[i], work);
    free(work);
    return GI_OK;
}
