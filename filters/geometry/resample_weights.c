/* Weights of resampling (resizing) filters. For each result along a side there are the source
 * pixels within the support of the filter, and the weights of these pixels, computed in double and
 * rounded to float. Results whose positions differ by whole source pixels share a row of weights (a
 * phase). With --like pillow the computations are those of Pillow, in the same order.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/resample_weights.h"
#include "filters/convolution/weights.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static double box(double x)
{
    return x > -0.5 && x <= 0.5 ? 1 : 0;
}

static double triangle(double x)
{
    x = fabs(x);
    return x < 1 ? 1 - x : 0;
}

/* A Hamming-windowed sinc with one lobe. */
static double hamming(double x)
{
    x = fabs(x);
    if (x == 0)
        return 1;
    if (x >= 1)
        return 0;
    x *= PI;
    return sin(x) / x * (0.54 + 0.46 * cos(x));
}

/* Pillow's filter has float constants (libImaging/Resample.c, hamming_filter), which decide
 * ties. */
static double hamming_of_pillow(double x)
{
    x = fabs(x);
    if (x == 0)
        return 1;
    if (x >= 1)
        return 0;
    x *= PI;
    return sin(x) / x * ((double)0.54f + (double)0.46f * cos(x));
}

static double hermite(double x)
{
    x = fabs(x);
    return x < 1 ? (2 * x - 3) * x * x + 1 : 0;
}

/* The cubic filter with B = C = 1/3. D. Mitchell, A. Netravali, "Reconstruction filters in computer
 * graphics", 1988. */
static double mitchell(double x)
{
    x = fabs(x);
    if (x < 1)
        return ((7 * x - 12) * x * x + 16.0 / 3) / 6;
    return x < 2 ? (((-7.0 / 3 * x + 12) * x - 20) * x + 32.0 / 3) / 6 : 0;
}

/* The cubic filter with a = -1/2. R. Keys, "Cubic convolution interpolation for digital image
 * processing", 1981. */
static double catrom(double x)
{
    const double a = -0.5;
    x = fabs(x);
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

static double sinc(double x)
{
    if (x == 0)
        return 1;
    x *= PI;
    return sin(x) / x;
}

static double lanczos2(double x)
{
    return x >= -2 && x < 2 ? sinc(x) * sinc(x / 2) : 0;
}

static double lanczos3(double x)
{
    return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
}

/* In the order of enum gi_resample_filter. `reach` is the support on either side, in pixels.
 * Weights without a function are not computed from distances. */
static const struct {
    double reach;
    double (*at)(double x);
} filters[] = {{0, NULL},    {0.5, box},    {0, NULL},   {1, triangle}, {1, hamming},
               {1, hermite}, {2, mitchell}, {2, catrom}, {2, lanczos2}, {3, lanczos3}};

/* A side (rows or columns) whose weights are computed, and the support of the current result. */
struct side {
    enum gi_resample_filter filter;
    struct gi_resample_places places;
    bool like_pillow;
    bool settles;        /* GI_F32: constant images stay constant; takes up to 7 us per result */
    double scale, reach; /* `scale` of the filter is 1 or more; `reach` is the support on either
                            side, in source pixels */
    bool stays;          /* every result is at the centre of a source pixel */
    int64_t period;      /* number of results after which fractional positions repeat */
    int64_t low, high;   /* AREA: the ends of the current result, in 1 / (2 unit) source pixels */
    int first, n;        /* support of the current result, limited to the source */
    double middle;       /* position of the result, counted from source pixel `from` */
    int64_t from;
};

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static struct side side_of(enum gi_resample_filter filter, const struct gi_resample_places *places,
                           bool like_pillow)
{
    struct side s = {.filter = filter, .places = *places, .like_pillow = like_pillow};
    double ratio = (double)places->step / (double)places->unit;
    s.scale = ratio > 1 ? ratio : 1;
    s.reach = filters[filter].reach * s.scale;
    s.stays = places->step == places->unit && places->offset % (2 * places->unit) == 0;
    s.period = places->unit / gcd(places->unit, places->step);
    return s;
}

static int clip(int64_t x, int most)
{
    return x < 0 ? 0 : x > most ? most : (int)x;
}

/* Finds the support of result i, which is the source pixels whose centres are at most `reach` away.
 * Fractional positions are computed from integers. So they are exact, and equal positions get equal
 * weights. */
static void window(struct side *s, int i)
{
    const struct gi_resample_places *p = &s->places;
    int64_t at = p->offset + (2 * (int64_t)i + 1) * p->step, whole = 2 * p->unit;
    s->from = at / whole - (at % whole < 0);
    s->middle = (double)(at - s->from * whole) / (double)whole;
    int64_t first, end;
    if (s->stays || s->filter == GI_RESAMPLE_NEAREST) {
        first = s->from;
        end = first + 1;
    } else if (s->filter == GI_RESAMPLE_AREA) {
        s->low = at - p->step;
        s->high = at + p->step;
        first = s->low / whole - (s->low % whole < 0);
        end = (s->high - 1) / whole + (s->high > 0);
    } else if (s->like_pillow) { /* in double, as Pillow does (libImaging/Resample.c,
                                    precompute_coeffs) */
        float in0 = (float)((double)p->offset / (double)whole);
        float in1 = (float)((double)(p->offset + 2 * p->step * p->result) / (double)whole);
        double scale = (double)(in1 - in0) / p->result;
        s->scale = scale < 1 ? 1 : scale;
        s->reach = filters[s->filter].reach * s->scale;
        s->from = 0;
        s->middle = in0 + (i + 0.5) * scale;
        first = (int)(s->middle - s->reach + 0.5);
        end = (int)(s->middle + s->reach + 0.5);
    } else {
        first = s->from + (int64_t)floor(s->middle - s->reach + 0.5);
        end = s->from + (int64_t)floor(s->middle + s->reach + 0.5);
    }
    s->first = clip(first, p->source - 1);
    s->n = clip(end, p->source) - s->first;
    s->n = s->n < 1 ? 1 : s->n;
}

/* Returns the part of source pixel j that the result covers, in units of 1 / (2 unit). */
static double covered(const struct side *s, int64_t j)
{
    int64_t whole = 2 * s->places.unit, low = j * whole, high = low + whole;
    low = low > s->low ? low : s->low;
    high = high < s->high ? high : s->high;
    return high > low ? (double)(high - low) : 0;
}

/* Computes the weights of the support and returns their sum. The sum is 1, except for the box
 * filter without --like pillow, whose weights are not normalised. */
static double window_weights(const struct side *s, double *weights)
{
    double sum = 0, inverse = 1 / s->scale, (*at)(double) = filters[s->filter].at;
    if (s->like_pillow && s->filter == GI_RESAMPLE_HAMMING)
        at = hamming_of_pillow;
    for (int j = 0; j < s->n; j++) {
        double x = (double)(s->first - s->from + j) - s->middle + 0.5;
        weights[j] = s->n == 1 ? 1 : at ? at(x * inverse) : covered(s, s->first + j);
        sum += weights[j];
    }
    bool divide = s->filter != GI_RESAMPLE_BOX || s->like_pillow;
    for (int j = 0; j < s->n && divide && sum != 0; j++)
        weights[j] /= sum;
    return divide ? 1 : sum;
}

/* Computes positions for Pillow's nearest filter, which adds up steps (libImaging/Geometry.c,
 * ImagingScaleAffine). */
static void nearest_of_pillow(const struct gi_resample_side *side, int32_t *first,
                              const struct gi_resample_places *p)
{
    double whole = 2.0 * (double)p->unit;
    float in0 = (float)((double)p->offset / whole);
    float in1 = (float)((double)(p->offset + 2 * p->step * p->result) / whole);
    double step = (double)(in1 - in0) / p->result, at = in0 + step * 0.5;
    for (int i = 0; i < side->n; i++, at += step)
        first[i] = clip((int64_t)at, p->source - 1);
}

/* Rounds a weight to fixed point, as Pillow does (normalize_coeffs_8bpc). */
static int32_t integer_of(double weight)
{
    return (int32_t)((weight < 0 ? -0.5 : 0.5) + weight * (1 << 22));
}

/* The tables of one side, in one block of memory. */
struct memory {
    int32_t *first, *phase, *integers;
    float *weights, *sums;
    double *window;
};

static int most_taps(struct side *s)
{
    int most = 1;
    for (int i = 0; i < s->places.result; i++) {
        window(s, i);
        most = s->n > most ? s->n : most;
    }
    return most;
}

/* Returns the size in bytes of the tables of a side with `taps` taps per result. If `at` is not
 * NULL, makes the pointers of `m` point into the memory at `at`. */
static size_t lay_out(struct memory *m, const struct side *s, int taps, char *at)
{
    size_t n = (size_t)s->places.result, weights = n * (size_t)taps;
    size_t window = (size_t)taps * sizeof(double);
    if (at) {
        m->window = (double *)at;
        m->first = (int32_t *)(at + window);
        m->phase = m->first + n;
        m->sums = (float *)(m->phase + n);
        m->weights = m->sums + n;
        m->integers = s->like_pillow ? (int32_t *)(m->weights + weights) : NULL;
    }
    size_t words = 3 * n + weights * (s->like_pillow ? 2 : 1);
    return window + (words + words % 2) * sizeof(int32_t);
}

/* Writes `lead` zeros and the weights of the current result of `s` to row `to` of the tables. A row
 * has `taps` entries. */
static void put_weights(const struct side *s, const struct memory *m, int to, int lead, int taps)
{
    float *weights = m->weights + (size_t)to * (size_t)taps;
    memset(weights, 0, (size_t)taps * sizeof *weights);
    m->sums[to] = (float)window_weights(s, m->window);
    for (int j = 0; j < s->n; j++)
        weights[lead + j] = (float)m->window[j];
    if (s->settles)
        gi_taps_settle(weights, taps);
    if (!s->like_pillow)
        return;
    int32_t *integers = m->integers + (size_t)to * (size_t)taps;
    memset(integers, 0, (size_t)taps * sizeof *integers);
    for (int j = 0; j < s->n; j++)
        integers[lead + j] = integer_of(m->window[j]);
}

/* Fills the tables of a side. If a result has the same weights as the result one period before,
 * both results share a row of weights. */
static struct gi_resample_side side_fill(struct side *s, const struct memory *m, int taps)
{
    struct gi_resample_side side = {.n = s->places.result,
                                    .taps = taps,
                                    .first = m->first,
                                    .phase = m->phase,
                                    .weights = m->weights,
                                    .sums = s->filter == GI_RESAMPLE_BOX ? m->sums : NULL,
                                    .integers = m->integers};
    size_t row = (size_t)taps;
    for (int i = 0; i < side.n; i++) {
        window(s, i);
        int latest = s->places.source - taps;
        m->first[i] = s->first < latest ? s->first : latest;
        put_weights(s, m, side.nphases, s->first - m->first[i], taps);
        int before = i >= s->period ? m->phase[i - s->period] : side.nphases;
        bool same = before < side.nphases &&
                    !memcmp(m->weights + (size_t)before * row,
                            m->weights + (size_t)side.nphases * row, row * sizeof(float)) &&
                    (!m->integers ||
                     !memcmp(m->integers + (size_t)before * row,
                             m->integers + (size_t)side.nphases * row, row * sizeof(int32_t)));
        m->phase[i] = same ? before : side.nphases++;
    }
    if (s->like_pillow && s->filter == GI_RESAMPLE_NEAREST)
        nearest_of_pillow(&side, m->first, &s->places);
    return side;
}

struct gi_resample *gi_resample_tables(struct gi_plan *plan, enum gi_resample_filter filter,
                                       const struct gi_resample_places *row,
                                       const struct gi_resample_places *col, bool like_pillow,
                                       struct gi_err *err)
{
    struct side x = side_of(filter, row, like_pillow), y = side_of(filter, col, like_pillow);
    x.settles = y.settles = plan->sources[0].type == GI_F32 && filter != GI_RESAMPLE_BOX;
    int xtaps = most_taps(&x), ytaps = most_taps(&y);
    struct memory m;
    size_t head = (sizeof(struct gi_resample) + 15) / 16 * 16;
    size_t nbytes = lay_out(&m, &x, xtaps, NULL);
    char *at = gi_plan_tables(plan, head + nbytes + lay_out(&m, &y, ytaps, NULL), err);
    if (!at)
        return NULL;
    struct gi_resample *tables = (struct gi_resample *)at;
    lay_out(&m, &x, xtaps, at + head);
    tables->row = side_fill(&x, &m, xtaps);
    lay_out(&m, &y, ytaps, at + head + nbytes);
    tables->col = side_fill(&y, &m, ytaps);
    tables->alpha = filter == GI_RESAMPLE_NEAREST ? GI_ALPHA_PLAIN : GI_ALPHA_WEIGH;
    tables->integer = like_pillow && filter != GI_RESAMPLE_NEAREST;
    return tables;
}
