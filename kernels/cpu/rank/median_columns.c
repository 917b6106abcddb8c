/* Median filter of bytes in constant time per pixel. Every column of the window has a histogram,
 * which changes by two samples per row. As the window moves along the row, the histograms of
 * columns are added to the window's histogram and subtracted from it. A histogram is cumulative: 16
 * counters for the upper digit, and for each upper digit 16 counters for the lower digit. Each
 * group of 16 is one vector, so that a sample is added by one vector addition, and a rank is found
 * by one comparison. Lower digits are only summed for the upper digit that contains the median.
 *
 * S. Perreault, P. Hebert, "Median filtering in constant time", IEEE TIP 16(9), 2007.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/rank/median.h"
#include "kernels/rank.h"

#if GI_LEVEL_avx2 || GI_LEVEL_avx512
#include <immintrin.h>
#endif

enum {
    DIGIT = 16,
    STRIP = 512,        /* pixels of a job, whose column histograms stay in L2 */
    COUNTS_MAX = 65535, /* maximum number of samples in a window */
};

/* Cumulative counters: entry d, 0 to 15, is the number of samples whose digit is at most d. */
typedef uint16_t counts __attribute__((vector_size(2 * DIGIT)));

struct columns {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_median *spec;
    struct gi_tiling tiling;
    size_t n; /* maximum number of columns in a job */
};

struct median_columns_worker {
    const struct columns *job;
    struct gi_tile tile;
    int n;          /* columns of the tile and of the halo of the window */
    char *row;      /* pixels */
    uint8_t *in[2]; /* one channel of the rows that enter and leave the window */
    counts *upper;  /* upper-digit counters of each column */
    counts *lower;  /* per column and upper digit: counters of the lower digit */
};

/* What samples add to the counters: a sample with digit d adds the 16 entries from DIGIT - d on. */
static const uint16_t steps[2 * DIGIT] = {[DIGIT] = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static inline void come(counts *to, int digit)
{
    counts one;
    memcpy(&one, steps + DIGIT - digit, sizeof one);
    *to += one;
}

static inline void go(counts *from, int digit)
{
    counts one;
    memcpy(&one, steps + DIGIT - digit, sizeof one);
    *from -= one;
}

/* Returns the digit of the sample at index `rank` in ascending order. */
static inline int digit_of(const counts *v, unsigned rank)
{
#if GI_LEVEL_avx512
    __m256i all = _mm256_load_si256((const __m256i *)v);
    return __builtin_popcount(_mm256_cmple_epu16_mask(all, _mm256_set1_epi16((short)rank)));
#elif GI_LEVEL_avx2
    __m256i all = _mm256_load_si256((const __m256i *)v), r = _mm256_set1_epi16((short)rank);
    __m256i less = _mm256_cmpeq_epi16(_mm256_max_epu16(all, r), r);
    return __builtin_popcount((unsigned)_mm256_movemask_epi8(less)) / 2;
#else
    uint16_t n = 0;
    for (int i = 0; i < DIGIT; i++)
        n = (uint16_t)(n + ((*v)[i] <= rank));
    return n;
#endif
}

/* Returns the size of the scratch memory in bytes. If `scratch` is not NULL, divides the memory
 * among the buffers. */
static size_t lay_out(struct median_columns_worker *w, const struct columns *job, char *scratch)
{
    size_t row = (job->n * (size_t)job->src->channels + 63) / 64 * 64,
           plain = (job->n + 63) / 64 * 64;
    w->job = job;
    if (scratch) {
        w->row = scratch;
        w->in[0] = (uint8_t *)(scratch += row);
        w->in[1] = (uint8_t *)(scratch += plain);
        w->upper = (counts *)(void *)(scratch += plain);
        w->lower = w->upper + job->n;
    }
    return row + 2 * plain + (DIGIT + 1) * job->n * sizeof(counts);
}

/* Returns channel c of the tile's columns in row y, which may be outside the image. */
static const uint8_t *load(const struct median_columns_worker *w, uint8_t *out, int c, long long y)
{
    const struct gi_image *src = w->job->src;
    const struct gi_median *spec = w->job->spec;
    size_t channels = (size_t)src->channels;
    char *row = channels == 1 ? (char *)out : w->row;
    GI_CPU(row_copy)
    (row, src, &spec->border, y, (long long)w->tile.x0 - spec->width / 2, (size_t)w->n);
    for (size_t x = 0; channels > 1 && x < (size_t)w->n; x++)
        out[x] = (uint8_t)row[x * channels + (size_t)c];
    return out;
}

static void begin(struct median_columns_worker *w, int c)
{
    memset(w->upper, 0, (DIGIT + 1) * w->job->n * sizeof(counts));
    int height = w->job->spec->height;
    for (int j = 0; j < height - 1; j++) {
        const uint8_t *in = load(w, w->in[0], c, (long long)w->tile.y0 - height / 2 + j);
        for (int x = 0; x < w->n; x++) {
            come(&w->upper[x], in[x] / DIGIT);
            come(&w->lower[(size_t)(in[x] / DIGIT) * w->job->n + (size_t)x], in[x] % DIGIT);
        }
    }
}

/* Adds a row to the column histograms and, except in the first window, removes the row that
 * leaves. */
static void step_down(struct median_columns_worker *w, int c, int y)
{
    size_t n = w->job->n;
    int height = w->job->spec->height, above = height / 2;
    const uint8_t *in = load(w, w->in[0], c, (long long)y - above + height - 1), *out = NULL;
    if (y > w->tile.y0)
        out = load(w, w->in[1], c, (long long)y - above - 1);
    for (size_t x = 0; x < (size_t)w->n; x++) {
        counts upper = w->upper[x];
        come(&upper, in[x] / DIGIT);
        come(&w->lower[(size_t)(in[x] / DIGIT) * n + x], in[x] % DIGIT);
        if (out) {
            go(&upper, out[x] / DIGIT);
            go(&w->lower[(size_t)(out[x] / DIGIT) * n + x], out[x] % DIGIT);
        }
        w->upper[x] = upper;
    }
}

/* Moves the window's sum for one upper digit to position x. *at is the present position of *sum; if
 * *at < 0, *sum is undefined. */
static inline void catch_up(counts *sum, int *at, const counts *columns, int x, int width)
{
    counts now = *sum;
    if (*at < 0 || x - *at >= width) {
        now = columns[x];
        for (int i = 1; i < width; i++)
            now += columns[x + i];
    } else {
        for (int i = *at; i < x; i++)
            now += columns[i + width] - columns[i];
    }
    *sum = now;
    *at = x;
}

/* Computes channel c of row y. */
static void go_along(const struct median_columns_worker *w, int c, int y)
{
    const struct gi_median *spec = w->job->spec;
    int width = spec->width, count = w->tile.x1 - w->tile.x0, at[DIGIT];
    unsigned rank = (unsigned)spec->rank;
    size_t channels = (size_t)w->job->src->channels;
    uint8_t *out = (uint8_t *)gi_row(w->job->dst, y) + (size_t)w->tile.x0 * channels + (size_t)c;
    counts sums[DIGIT], all = w->upper[0];
    for (int i = 0; i < DIGIT; i++)
        at[i] = -1;
    for (int i = 1; i < width; i++)
        all += w->upper[i];
    for (int x = 0; x < count; x++, out += channels) {
        if (x)
            all += w->upper[x + width - 1] - w->upper[x - 1];
        int digit = digit_of(&all, rank);
        unsigned left = digit ? rank - all[digit - 1] : rank;
        catch_up(&sums[digit], &at[digit], w->lower + (size_t)digit * w->job->n, x, width);
        *out = (uint8_t)(DIGIT * digit + digit_of(&sums[digit], left));
    }
}

static void columns_tile(void *arg, int index, void *scratch)
{
    const struct columns *job = arg;
    struct median_columns_worker w = {0};
    lay_out(&w, job, scratch);
    w.tile = GI_CPU(tile)(&job->tiling, job->src, index);
    w.n = w.tile.x1 - w.tile.x0 + job->spec->width - 1;
    bool keep = gi_has_alpha(job->src) && !job->spec->alpha_too;
    for (int c = 0; c < job->src->channels - keep; c++) {
        begin(&w, c);
        for (int y = w.tile.y0; y < w.tile.y1; y++) {
            step_down(&w, c, y);
            go_along(&w, c, y);
        }
    }
    for (int y = w.tile.y0; keep && y < w.tile.y1; y++)
        median_keep_alpha(job->dst, job->src, &w.tile, y);
}

bool GI_CPU(median_columns_takes)(const struct gi_queue *queue, const struct gi_image *src,
                                  const struct gi_median *spec)
{
    return !spec->runs && src->type == GI_U8 && spec->width * spec->height <= COUNTS_MAX;
}

enum gi_status GI_CPU(median_columns)(struct gi_queue *queue, struct gi_image *dst,
                                      const struct gi_image *src, const struct gi_median *spec,
                                      struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct columns job = {.dst = dst, .src = src, .spec = spec};
    struct median_columns_worker w = {0};
    job.tiling = GI_CPU(tiling)(src, gi_pool_threads(pool), STRIP, spec->height - 1);
    job.n = (size_t)(job.tiling.strip + spec->width - 1);
    return gi_pool_run(pool, job.tiling.nstrips * job.tiling.nbands, columns_tile, &job,
                       lay_out(&w, &job, NULL), err);
}
