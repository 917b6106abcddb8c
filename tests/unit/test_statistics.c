/* Every way of histograms, sums and prefix sums gives the same results as plain loops that follow
 * the definition in kernels/statistics.h.
 * Sources: statistics
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "primitives.h"
#include "kernels/statistics.h"

/* Returns a random sample: any integer, or a float from -1 to 2, which is sometimes unusual or
 * NaN. */
static float any_sample(struct walk_case *c, enum gi_type type)
{
    static const float odd[] = {0.0f, -0.0f, 1.0f, INFINITY, -INFINITY, NAN, 0.5f, 1e-40f};
    if (type != GI_F32)
        return (float)(case_random(c->seed) & (type == GI_U8 ? 255 : 65535));
    return walk_between(c, 0, 15) ? walk_real(c) * 1.5f + 0.5f : odd[walk_between(c, 0, 7)];
}

static struct gi_image *source(struct walk_case *c)
{
    struct gi_image *image = walk_source_here(c);
    bool constant = walk_between(c, 0, 4) == 0;
    float v = any_sample(c, c->type);
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            for (int i = 0; i < c->channels; i++)
                exact_put(image, y, x, i, constant ? v : any_sample(c, c->type));
    return image;
}

static double get(const struct gi_image *image, int x, int y, int c)
{
    return (double)exact_sample(image, y, x, c);
}

/* ---- histogram ---- */

/* Returns the number of the bin that counts the sample, or -1 if no bin does. With a prefix key,
 * bins only count samples whose prefix is `p`. With other keys p is 0. */
static int bin_of(const struct gi_histogram_spec *spec, int p, double v)
{
    float f = (float)v;
    uint32_t bits, key;
    if (spec->key == GI_KEY_VALUE)
        return (int)v;
    if (isnan(v))
        return -1;
    if (spec->key == GI_KEY_RANGE) {
        double width = (spec->hi - spec->lo) / spec->nbins;
        for (int i = 0; i < spec->nbins; i++) {
            double low = spec->lo + i * width;
            double high = i + 1 == spec->nbins ? spec->hi : spec->lo + (i + 1) * width;
            if ((low <= v && v < high) || (i + 1 == spec->nbins && v == high && v >= spec->lo))
                return i;
        }
        return -1;
    }
    memcpy(&bits, &f, 4);
    key = bits >> 31 ? ~bits : bits + 0x80000000u;
    if (spec->key == GI_KEY_FLOAT_LOW)
        return key / 65536 == spec->prefixes[p] ? (int)(key % 65536) : -1;
    return (int)(key / 65536);
}

static void histogram_oracle(uint64_t *counts, const struct gi_image *image,
                             const struct gi_histogram_spec *spec)
{
    int nprefixes = spec->key == GI_KEY_FLOAT_LOW ? spec->nprefixes : 1;
    for (int p = 0; p < nprefixes; p++)
        for (int y = 0; y < image->height; y++)
            for (int x = 0; x < image->width; x++)
                for (int c = 0; c < image->channels; c++) {
                    int bin = bin_of(spec, p, get(image, x, y, c));
                    if (bin >= 0)
                        counts[(p * image->channels + c) * spec->nbins + bin]++;
                }
}

static void draw_histogram(struct walk_case *c)
{
    static const struct gi_histogram_spec floats[] = {
        {GI_KEY_RANGE, 1, 0, 1, {0}, 0},
        {GI_KEY_RANGE, 7, -0.25, 1.1, {0}, 0},
        {GI_KEY_RANGE, 256, 0, 1, {0}, 0},
        {GI_KEY_RANGE, 3, 0.5, 0.5, {0}, 0},
        {GI_KEY_RANGE, 3, 1, 0, {0}, 0},
        {GI_KEY_RANGE, 1500, -0.3, 1.2, {0}, 0},
        {GI_KEY_FLOAT_HIGH, 65536, 0, 0, {0}, 0},
        {GI_KEY_FLOAT_LOW, 65536, 0, 0, {0xff80}, 1},
        {GI_KEY_FLOAT_LOW, 65536, 0, 0, {0x8000, 0xff80, 0xbf80}, 3},
        {GI_KEY_FLOAT_LOW, 65536, 0, 0, {0xff81, 0xbf80, 0, 0xff80, 7}, 5},
        {GI_KEY_RANGE, 65536, -1, 2, {0}, 0}};
    struct gi_histogram_spec *spec = WALK_SPEC(c, struct gi_histogram_spec);
    bool small = c->width * c->height < 2000; /* bins are sought one by one */
    *spec = c->type == GI_F32 ? floats[small              ? c->turn % 11
                                       : c->turn % 5 == 3 ? 6
                                                          : c->turn % 5]
                              : (struct gi_histogram_spec){.key = GI_KEY_VALUE,
                                                           .nbins = c->type == GI_U8 ? 256 : 65536};
    source(c);
}

/* Makes runs of equal samples, which are counted at once. A run is whole, broken at one position,
 * or broken repeatedly. */
static void draw_flat(struct walk_case *c)
{
    draw_histogram(c);
    for (int y = 0; c->type != GI_F32 && y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            for (int i = 0; i < c->channels; i++)
                exact_put(&c->srcs[0].image, y, x, i,
                          (float)(60 * i + (x == y        ? 70
                                            : x > y + 100 ? 3
                                                          : 7)));
}

/* Makes more than 65536 samples of each of two values in turn, whose counts do not fit in 16 bits.
 */
static void draw_many(struct walk_case *c)
{
    draw_histogram(c);
    for (int y = 0; c->type != GI_F32 && y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            for (int i = 0; i < c->channels; i++)
                exact_put(&c->srcs[0].image, y, x, i, x % 2 ? 9 : 200);
}

/* Makes samples at every boundary of the bins, and at the floats next to it. Some bins are narrower
 * than the spacing of floats, so that boundaries coincide. */
static void draw_edges(struct walk_case *c)
{
    static const double ranges[][2] = {
        {0, 1}, {0.1, 0.7}, {-3, 1e6}, {1e16, 1e16 + 64}, {0, 1e-44}};
    if (c->type != GI_F32 || c->channels > 1)
        return;
    struct gi_histogram_spec *spec = WALK_SPEC(c, struct gi_histogram_spec);
    const double *range = ranges[(int)c->border];
    *spec = (struct gi_histogram_spec){
        .key = GI_KEY_RANGE, .nbins = c->width / 3 - 1, .lo = range[0], .hi = range[1]};
    struct gi_image *image = walk_source_here(c);
    for (int i = 0; i <= spec->nbins; i++) {
        float e = (float)(spec->lo + i * ((spec->hi - spec->lo) / spec->nbins));
        exact_put(image, 0, 3 * i, 0, nextafterf(e, -INFINITY));
        exact_put(image, 0, 3 * i + 1, 0, e);
        exact_put(image, 0, 3 * i + 2, 0, nextafterf(e, INFINITY));
    }
}

static void define_histogram(struct walk_case *c)
{
    const struct gi_histogram_spec *spec = c->spec;
    int prefixes = spec->key == GI_KEY_FLOAT_LOW ? spec->nprefixes : 1;
    size_t n = (size_t)(prefixes * c->channels) * (size_t)spec->nbins;
    uint64_t *counts = walk_data(c, NULL, n * sizeof *counts), *start = c->start;
    for (size_t i = 0; i < n; i++)
        counts[i] = start[i] = i % 3; /* counts are added over bands */
    histogram_oracle(counts, &c->srcs[0].image, spec);
}

/* ---- sums ---- */

static void sums_oracle(struct gi_sums *sums, const struct gi_image *image, const float *lo,
                        const float *hi)
{
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            for (int c = 0; c < image->channels; c++) {
                double v = get(image, x, y, c), span = (double)hi[c] - (double)lo[c];
                if (isnan(v))
                    continue;
                v = fmin(fmax(v, (double)lo[c]), (double)hi[c]);
                v = span > 0 ? rint((v - (double)lo[c]) * (2147483647.0 / span)) : 0;
                uint64_t q = (uint64_t)v;
                sums[c].n++;
                sums[c].q += q;
                sums[c].q2_low += q * q % (1ull << 32);
                sums[c].q2_high += q * q / (1ull << 32);
            }
}

static void draw_sums(struct walk_case *c)
{
    static const float lo[] = {0, -0.5f, 0.25f, 0.5f}, hi[] = {1, 1.5f, 0.75f, 0.5f};
    *WALK_SPEC(c, struct gi_sums_range) = (struct gi_sums_range){lo, hi};
    source(c);
}

/* Makes rows in which 32-bit sums and 16-bit counters would overflow. */
static void draw_full(struct walk_case *c)
{
    if (c->channels > 1)
        return;
    bool sums = c->row->what[0] == 's';
    if (sums)
        draw_sums(c);
    else
        draw_histogram(c);
    for (int x = 0; (sums || c->type != GI_F32) && x < c->width; x++)
        exact_put(&c->srcs[0].image, 0, x, 0, 65535);
}

static void define_sums(struct walk_case *c)
{
    const struct gi_sums_range *range = c->spec;
    const struct gi_sums start[GI_MAX_CHANNELS] = {{1, 2, 3, 4}};
    struct gi_sums *sums = walk_data(c, start, (size_t)c->channels * sizeof *sums);
    sums_oracle(sums, &c->srcs[0].image, range->lo, range->hi);
}

/* ---- scan ---- */

/* Returns a sample, or its square, as an integer. A finite float becomes an integer when it is
 * multiplied by 2^shift; other floats count as 0. */
static int64_t value(double v, const struct gi_scan *spec, enum gi_type type)
{
    if (type == GI_F32)
        return isfinite(v) ? (int64_t)nearbyint(ldexp(spec->squares ? v * v : v, spec->shift)) : 0;
    return (int64_t)(spec->squares ? v * v : v);
}

/* Computes the prefix sum sums[y * n + i] for each of the n samples of each row from the sums of
 * its neighbours. */
static void sums_of(int64_t *sums, const struct gi_image *src, const struct gi_scan *spec)
{
    size_t n = gi_row_samples(src), c = (size_t)src->channels;
    for (size_t y = 0; y < (size_t)src->height; y++)
        for (size_t i = 0; i < n; i++) {
            bool left = i >= c && spec->along != GI_SCAN_COLUMNS;
            bool up = y > 0 && spec->along != GI_SCAN_ROWS;
            int64_t *at = sums + y * n + i;
            *at = value(gi_sample(gi_row(src, (int)y), i, src->type), spec, src->type);
            *at += left ? at[-(ptrdiff_t)c] : 0;
            *at += up ? at[-(ptrdiff_t)n] : 0;
            *at -= left && up ? at[-(ptrdiff_t)n - (ptrdiff_t)c] : 0;
        }
}

static void draw_scan(struct walk_case *c)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f};
    struct gi_scan *spec = WALK_SPEC(c, struct gi_scan);
    struct gi_image *image = &c->srcs[0].image;
    *spec = (struct gi_scan){(enum gi_scan_along)(c->turn % 3), c->turn / 3 % 2,
                             c->type == GI_F32 ? 2 : c->turn / 6 % 2 + 1, 40};
    guard_alloc(&c->srcs[c->nsrcs++], c->width, c->height, c->channels, c->type, 16);
    case_fill(image, c->seed);
    for (int y = 0; y < c->height && c->type == GI_F32; y++)
        for (size_t i = 0; i < gi_row_samples(image); i++) {
            float *at = (float *)gi_row(image, y) + i;
            *at = walk_between(c, 0, 50) ? 2 * *at - 1 : odd[walk_between(c, 0, 3)];
        }
}

/* Makes sums beyond 32 bits, along one row and down the columns. */
static void draw_full_scan(struct walk_case *c)
{
    draw_scan(c);
    struct gi_scan *spec = c->spec;
    spec->words = 2;
    for (int y = 0; c->type != GI_F32 && y < c->height; y++)
        memset(gi_row(&c->srcs[0].image, y), 0xff, gi_row_nbytes(&c->srcs[0].image));
}

static void define_scan(struct walk_case *c)
{
    const struct gi_scan *spec = c->spec;
    const struct gi_image *src = &c->srcs[0].image;
    size_t n = gi_row_samples(src);
    int64_t *sums = walk_alloc(c, (size_t)c->height * n * sizeof *sums);
    struct gi_image *want = walk_result(c, c->width * spec->words, c->height, c->channels, GI_U32);
    sums_of(sums, src, spec);
    for (int y = 0; y < c->height; y++)
        for (size_t i = 0; i < n; i++) {
            int64_t w = sums[(size_t)y * n + i];
            if (c->type == GI_F32)
                ((double *)gi_row(want, y))[i] = ldexp((double)w, -spec->shift);
            else if (spec->words == 1)
                ((uint32_t *)gi_row(want, y))[i] = (uint32_t)w;
            else
                ((uint64_t *)gi_row(want, y))[i] = (uint64_t)w;
        }
}

/* The last image is so large that it is divided into bands with each number of threads. */
static const int usual[][2] = {{1, 1},     {1, 17},    {17, 1},     {31, 33}, {67, 5},
                               {257, 129}, {391, 203}, {1537, 517}, {0, 0}};
static const int flat[][2] = {{20, 230}, {65, 230}, {110, 230}, {220, 230}, {0, 0}};
static const int many[][2] = {{1, 70000}, {7, 80000}, {600001, 1}, {0, 0}};
static const int bins[][2] = {{6, 1},   {105, 1}, {195, 1}, {204, 1},
                              {303, 1}, {501, 1}, {771, 1}, {0, 0}};
static const int full[][2] = {{3300001, 1}, {0, 0}};
static const int scanned[][2] = {{1, 1},     {1, 17},   {17, 1},   {31, 33},   {67, 5},
                                 {257, 129}, {1300, 3}, {2, 2100}, {1100, 70}, {0, 0}};
static const int square[][2] = {{300, 300}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("histogram", "any samples", draw_histogram, define_histogram, .sizes = usual,
             .few = true),
    WALK_ROW("histogram", "flat pieces", draw_flat, define_histogram, .sizes = flat, .few = true),
    WALK_ROW("histogram", "many equal samples", draw_many, define_histogram, .sizes = many,
             .few = true),
    WALK_ROW("histogram", "edges of bins", draw_edges, define_histogram, .sizes = bins),
    WALK_ROW("histogram", "full scale", draw_full, define_histogram, .sizes = full, .few = true),
    WALK_ROW("sums", "any samples", draw_sums, define_sums, .sizes = usual, .few = true),
    WALK_ROW("sums", "sums at full scale", draw_full, define_sums, .sizes = full, .few = true),
    WALK_ROW("scan", "any samples", draw_scan, define_scan, .sizes = scanned),
    WALK_ROW("scan", "full scale", draw_full_scan, define_scan, .sizes = square),
};

WALK_ROWS(rows)
