/* SSIMULACRA 2, a perceptual metric of compressed images, in double precision on the host. J.
 * Sneyers, https://github.com/cloudinary/ssimulacra2, version 2.1, from which the weights and the
 * constants are. On up to six scales, made by the means of 2 x 2 pixels in linear light, it
 * compares the channels of XYB by three maps: a structural similarity, edges that the second image
 * adds, and edges that it loses. The score is a weighted sum of two norms of each map.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/color/spaces.h"
#include "filters/statistics/compare_work.h"

enum {
    SCALES = 6,
    /* minimum side of the image, and of a scale that is halved, in pixels */
    LEAST = GI_COMPARE_SSIMULACRA2_SIDE,
    REACH = 4,  /* of the Gaussian on either side */
    BAND = 16,  /* rows per job */
    VALUES = 5, /* that are blurred: a, b, a^2, b^2, a b */
    NORMS = 6,  /* of the three maps, the sum and the sum of fourth powers of each */
};

/* The weights of the Gaussian of sigma 1.5 by D. Charalampidis, Recursive implementation of the
 * Gaussian filter using truncated cosine functions, 2016, whose impulse response is finite: the sum
 * of three cosines of k pi / 10, k = 1, 3, 5. Pixels outside the image are 0. */
static const double taps[REACH + 1] = {0.26462110548819867, 0.21292859201042236,
                                       0.10933537277746042, 0.036011114658364304,
                                       0.009414367809653585};

/* In the order channel (X, Y, B), scale, norm (1, 4), map (similarity, added, lost edges). */
static const double weights[3][SCALES][2][3] = {
    {{{0, 0.0007376606707406586, 0}, {0, 0.0007793481682867309, 0}},
     {{0, 0.0004371155730107379, 0},
      {1.1041726426657346, 0.00066284834129271, 0.00015231632783718752}},
     {{0, 0.0016406437456599754, 0}, {1.8422455520539298, 11.441172603757666, 0}},
     {{0.0007989109436015163, 0.000176816438078653, 0}, {1.8787594979546387, 10.94906990605142, 0}},
     {{0.0007289346991508072, 0.9677937080626833, 0},
      {0.00014003424285435884, 0.9981766977854967, 0.00031949755934435053}},
     {{0.0004550992113792063, 0, 0}, {0.0013648766163243398, 0, 0}}},
    {{{0, 0, 0}, {7.466890328078848, 0, 17.445833984131262}},
     {{0.0006235601634041466, 0, 0},
      {6.683678146179332, 0.00037724407979611296, 1.027889937768264}},
     {{225.20515300849274, 0, 0},
      {19.213238186143016, 0.0011401524586618361, 0.001237755635509985}},
     {{176.39317598450694, 0, 0}, {24.43300999870476, 0.28520802612117757, 0.0004485436923833408}},
     {{0, 0, 0}, {34.77906344483772, 44.835625328877896, 0}},
     {{0, 0, 0}, {0, 0, 0}}},
    {{{0, 0.0008680556573291698, 0}, {0, 0, 0}},
     {{0, 0.0005313191874358747, 0}, {0.00016533814161379112, 0, 0}},
     {{0, 0, 0}, {0.0004179171803251336, 0.0017290828234722833, 0}},
     {{0.0020827005846636437, 0, 0}, {8.826982764996862, 23.19243343998926, 0}},
     {{95.1080498811086, 0.9863978034400682, 0.9834382792465353},
      {0.0012286405048278493, 171.2667255897307, 0.9807858872435379}},
     {{0, 0, 0}, {0.0005130064588990679, 0, 0.00010854057858411537}}},
};

/* The norms of a row, or of an image. */
struct norms {
    double v[3][NORMS];
};

/* One scale of both images. */
struct scale {
    const struct gi_compare_work *work; /* the pixels of the first scale; `light` is NULL there */
    const float *table;                 /* linear light of the samples of integer types, or NULL */
    double backdrop;                    /* gray below transparent pixels, encoded, 0 to 1 */
    float *light[2];                    /* linear RGB, row by row; [1] is in the memory of [0] */
    int width, height;
    struct norms *rows;
    struct scale *smaller; /* for halve_row() */
};

/* Sets the linear RGB of a pixel of an image whose samples are encoded as sRGB. */
static void load_pixel(float rgb[3], const struct scale *scale, const struct gi_image *image,
                       const void *row, size_t x)
{
    size_t i = x * (size_t)image->channels, colors = (size_t)gi_color_channels(image);
    double full = gi_type_full_scale(image->type);
    double alpha = gi_has_alpha(image) ? gi_sample(row, i + colors, image->type) / full : 1;
    for (size_t c = 0; c < 3; c++) {
        double v = gi_sample(row, i + (colors == 3 ? c : 0), image->type);
        if (scale->table && alpha == 1)
            rgb[c] = scale->table[(int)v];
        else
            rgb[c] = (float)gi_srgb_light(alpha * v / full + (1 - alpha) * scale->backdrop);
    }
}

/* Returns row y of image k in linear RGB, which is in `buffer` on the first scale. Pixels that are
 * not compared are those of the first image. */
static const float *load_row(float *buffer, const struct scale *scale, int k, int y)
{
    const struct gi_compare_work *work = scale->work;
    const uint8_t *ignored = gi_compare_ignored_row(work, y);
    if (scale->light[0])
        return scale->light[k] + 3 * (size_t)y * (size_t)scale->width;
    for (size_t x = 0; x < (size_t)scale->width; x++) {
        const struct gi_image *image = k == 0 || (ignored && ignored[x]) ? work->a : work->b;
        load_pixel(buffer + 3 * x, scale, image, gi_row(image, y), x);
    }
    return buffer;
}

/* Returns the cube root of 0 to 4 with a relative error below 1e-13: two steps of Halley's method
 * from the exponent's third. Unlike cbrt() it is the same on all machines. */
static inline double cube_root(double x)
{
    float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    bits = bits / 3 + 0x2a5119f2;
    memcpy(&f, &bits, sizeof f);
    double t = (double)f;
    for (int i = 0; i < 2; i++) {
        double t3 = t * t * t;
        t *= (t3 + 2 * x) / (2 * t3 + x);
    }
    return t;
}

/* Converts a row to the channels X, Y and B, of width samples each, which are shifted and scaled to
 * about 0 to 1. */
static void row_to_xyb(float *xyb, const float *rgb, size_t width)
{
    const double bias = 0.0037930732552754493, root = 0.15595420054924862;
    for (size_t x = 0; x < width; x++) {
        double r = (double)rgb[3 * x], g = (double)rgb[3 * x + 1], b = (double)rgb[3 * x + 2];
        double l = 0.30 * r + 0.622 * g + 0.078 * b + bias;
        double m = 0.23 * r + 0.692 * g + 0.078 * b + bias;
        double s =
            0.24342268924547819 * r + 0.20476744424496821 * g + 0.5518098665095536 * b + bias;
        l = cube_root(l > 0 ? l : 0) - root;
        m = cube_root(m > 0 ? m : 0) - root;
        s = cube_root(s > 0 ? s : 0) - root;
        double luma = 0.5 * (l + m);
        xyb[x] = (float)(0.5 * (l - m) * 14 + 0.42);
        xyb[width + x] = (float)(luma + 0.01);
        xyb[2 * width + x] = (float)(s - luma + 0.55);
    }
}

/* Blurs five values along the columns: rows[k][j] is the row of image k at the tap j, NULL outside
 * the image. sums[v] has `width` entries. */
static void blur_columns(double *const sums[VALUES], const float *rows[2][2 * REACH + 1], int width)
{
    for (int v = 0; v < VALUES; v++)
        memset(sums[v], 0, (size_t)width * sizeof *sums[v]);
    for (int j = 0; j <= 2 * REACH; j++) {
        const float *p = rows[0][j], *q = rows[1][j];
        double w = taps[abs(j - REACH)];
        for (int x = 0; p && x < width; x++) {
            double a = (double)p[x], b = (double)q[x];
            sums[0][x] += w * a;
            sums[1][x] += w * b;
            sums[2][x] += w * (a * a);
            sums[3][x] += w * (b * b);
            sums[4][x] += w * (a * b);
        }
    }
}

/* Blurs along a row. REACH entries before and behind the row are 0. */
static void blur_row(double *to, const double *from, int width)
{
    for (int x = 0; x < width; x++) {
        double sum = taps[0] * from[x];
        for (int i = 1; i <= REACH; i++)
            sum += taps[i] * (from[x - i] + from[x + i]);
        to[x] = sum;
    }
}

static void add_norms(double norms[2], double v)
{
    double square = v * v;
    norms[0] += v;
    norms[1] += square * square;
}

/* Adds up the maps of a row of one channel. m has the blurred values, a and b the samples. */
static void measure_row(double norms[NORMS], double *const m[VALUES], const float *a,
                        const float *b, int width)
{
    const double c2 = 0.0009;
    for (int x = 0; x < width; x++) {
        double ma = m[0][x], mb = m[1][x], apart = ma - mb;
        double covariance = 2 * (m[4][x] - ma * mb) + c2;
        double variances = (m[2][x] - ma * ma) + (m[3][x] - mb * mb) + c2;
        double error = 1 - (1 - apart * apart) * covariance / variances;
        double edge = (1 + fabs((double)b[x] - mb)) / (1 + fabs((double)a[x] - ma)) - 1;
        add_norms(norms, error > 0 ? error : 0);
        add_norms(norms + 2, edge > 0 ? edge : 0);
        add_norms(norms + 4, edge < 0 ? -edge : 0);
    }
}

/* The memory of a job, in the order of its members. */
struct scratch {
    double *columns[VALUES], *blurred[VALUES]; /* width entries; REACH zeros around each column */
    float *xyb[2][BAND + 2 * REACH];           /* 3 * width entries */
    float *rgb;
};

static size_t scratch_nbytes(const struct scale *scale)
{
    size_t width = (size_t)scale->width;
    return VALUES * (2 * width + 2 * REACH) * sizeof(double) +
           3 * width * (2 * (BAND + 2 * REACH) + 1) * sizeof(float);
}

static void scratch_layout(struct scratch *s, char *memory, size_t width)
{
    double *at = (double *)memory;
    for (int v = 0; v < VALUES; v++, at += 2 * width + 2 * REACH) {
        memset(at, 0, REACH * sizeof *at);
        memset(at + REACH + width, 0, REACH * sizeof *at);
        s->columns[v] = at + REACH;
        s->blurred[v] = at + 2 * REACH + width;
    }
    float *rows = (float *)at;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < BAND + 2 * REACH; i++, rows += 3 * width)
            s->xyb[k][i] = rows;
    s->rgb = rows;
}

static void measure_band(void *arg, int index, void *memory)
{
    const struct scale *scale = arg;
    int width = scale->width, top = index * BAND, first = top - REACH;
    int end = scale->height - top < BAND ? scale->height : top + BAND;
    struct scratch s;
    scratch_layout(&s, memory, (size_t)width);
    for (int k = 0; k < 2; k++)
        for (int y = first < 0 ? 0 : first; y < end + REACH && y < scale->height; y++)
            row_to_xyb(s.xyb[k][y - first], load_row(s.rgb, scale, k, y), (size_t)width);
    for (int y = top; y < end; y++)
        for (int c = 0; c < 3; c++) {
            const float *rows[2][2 * REACH + 1] = {{NULL}};
            for (int j = 0; j <= 2 * REACH; j++)
                for (int k = 0;
                     k < 2 && first + y - top + j >= 0 && first + y - top + j < scale->height; k++)
                    rows[k][j] = s.xyb[k][y - top + j] + (size_t)c * (size_t)width;
            blur_columns(s.columns, rows, width);
            for (int v = 0; v < VALUES; v++)
                blur_row(s.blurred[v], s.columns[v], width);
            measure_row(scale->rows[y].v[c], s.blurred, rows[0][REACH], rows[1][REACH], width);
        }
}

/* Makes a row of both images of the smaller scale. The last row or column of an odd size is
 * repeated. */
static void halve_row(void *arg, int y, void *memory)
{
    const struct scale *scale = arg, *to = scale->smaller;
    int below = 2 * y + 1 < scale->height ? 2 * y + 1 : scale->height - 1;
    float *buffer = memory;
    for (int k = 0; k < 2; k++) {
        const float *p = load_row(buffer, scale, k, 2 * y);
        const float *q = load_row(buffer + 3 * (size_t)scale->width, scale, k, below);
        float *row = to->light[k] + 3 * (size_t)y * (size_t)to->width;
        for (size_t x = 0; x < (size_t)to->width; x++) {
            size_t i = 6 * x, j = 2 * x + 1 < (size_t)scale->width ? i + 3 : i;
            for (size_t c = 0; c < 3; c++)
                row[3 * x + c] = (p[i + c] + p[j + c] + q[i + c] + q[j + c]) * 0.25f;
        }
    }
}

static enum gi_status measure_scale(struct norms *sums, struct scale *scale, struct gi_err *err)
{
    struct gi_queue *queue = scale->work->queue;
    size_t height = (size_t)scale->height;
    double pixels = (double)scale->width * (double)scale->height;
    scale->rows = calloc(height, sizeof *scale->rows);
    if (!scale->rows)
        return gi_fail(err, GI_E_MEMORY, "out of memory: norms of %zu rows", height);
    enum gi_status status = queue->k->jobs(queue, (scale->height + BAND - 1) / BAND, measure_band,
                                           scale, scratch_nbytes(scale), err);
    *sums = (struct norms){0};
    for (size_t y = 0; y < height; y++)
        for (int i = 0; i < 3 * NORMS; i++)
            sums->v[i / NORMS][i % NORMS] += scale->rows[y].v[i / NORMS][i % NORMS];
    for (int i = 0; i < 3 * NORMS; i++) {
        double mean = sums->v[i / NORMS][i % NORMS] / pixels;
        sums->v[i / NORMS][i % NORMS] = i % 2 ? sqrt(sqrt(mean)) : mean;
    }
    free(scale->rows);
    return status;
}

/* Makes the scale that is half as large. The caller frees its light[0]. */
static enum gi_status halve(struct scale *half, struct scale *scale, struct gi_err *err)
{
    struct gi_queue *queue = scale->work->queue;
    *half = *scale;
    half->width = (scale->width + 1) / 2;
    half->height = (scale->height + 1) / 2;
    size_t samples = 3 * (size_t)half->width * (size_t)half->height;
    half->light[0] = malloc(2 * samples * sizeof(float));
    if (!half->light[0])
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu samples", 2 * samples);
    half->light[1] = half->light[0] + samples;
    scale->smaller = half;
    return queue->k->jobs(queue, half->height, halve_row, scale,
                          6 * (size_t)scale->width * sizeof(float), err);
}

/* Returns the score of the norms of n scales. If there are fewer than six, the weights of a channel
 * follow those of the channel before, as in the program of the source. */
static double score_of(const struct norms norms[SCALES], int n)
{
    const double *weight = &weights[0][0][0][0];
    double sum = 0;
    for (int c = 0; c < 3; c++)
        for (int scale = 0; scale < n; scale++)
            for (int i = 0; i < 6; i++)
                sum += *weight++ * norms[scale].v[c][i / 3 + 2 * (i % 3)];
    sum *= 0.9562382616834844;
    sum = 2.326765642916932 * sum - 0.020884521182843837 * sum * sum +
          6.248496625763138e-05 * sum * sum * sum;
    return sum > 0 ? 100 - 10 * pow(sum, 0.6276336467831387) : 100;
}

static bool is_halved(const struct scale *scale)
{
    return scale->width >= LEAST && scale->height >= LEAST;
}

static enum gi_status measure(double *score, const struct scale *first, struct gi_err *err)
{
    struct scale scale = *first, half;
    struct norms norms[SCALES];
    enum gi_status status = GI_OK;
    int n = 0;
    bool goes_on = is_halved(&scale);
    while (goes_on) {
        status = measure_scale(&norms[n++], &scale, err);
        goes_on = !status && n < SCALES && is_halved(&scale);
        if (goes_on) {
            status = halve(&half, &scale, err);
            free(scale.light[0]);
            scale = half;
            goes_on = !status;
        }
    }
    free(scale.light[0]);
    *score = n ? score_of(norms, n) : NAN;
    return status;
}

enum gi_status gi_compare_ssimulacra2(struct gi_comparison *result,
                                      const struct gi_compare_work *work, struct gi_err *err)
{
    const struct gi_image *a = work->a;
    struct scale scale = {.work = work, .width = a->width, .height = a->height};
    float *table = NULL;
    if (a->type != GI_F32) {
        int full = (int)gi_type_full_scale(a->type);
        table = malloc(((size_t)full + 1) * sizeof *table);
        if (!table)
            return gi_fail(err, GI_E_MEMORY, "out of memory: a table of linear light");
        for (int v = 0; v <= full; v++)
            table[v] = (float)gi_srgb_light((double)v / full);
    }
    scale.table = table;
    /* Images with alpha are compared over a dark and over a bright gray. */
    scale.backdrop = 0.1;
    double score, other;
    enum gi_status status = measure(&score, &scale, err);
    scale.backdrop = 0.9;
    if (!status && gi_has_alpha(a)) {
        status = measure(&other, &scale, err);
        score = other < score ? other : score;
    }
    result->all.ssimulacra2 = score;
    free(table);
    return status;
}
