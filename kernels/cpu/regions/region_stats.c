/* Statistics of each region. Rows of labels become bit masks, which say which neighbours have the
 * same label. Perimeter classes are counted in bit-sliced form. Neighbouring runs of one label in a
 * word of 64 pixels are summed together. A label belongs to the first band at whose end no larger
 * label has been seen. A band adds to its own labels directly. Other labels extend into the band
 * from above. They are added to a small hash table, which is merged into the result at the end.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/bit_rows.h"

#include <stdlib.h>

#include "kernels/cpu/regions/region_table.h"
#include "kernels/cpu/regions/region_values.h"

enum {
    PAD = 64,       /* number of labels of 0 before and after a row in scratch memory, for reads of
                       neighbours and of whole words */
    LABEL_ROWS = 5, /* in struct rows */
    MASK_ROWS = 3 * 6 + 4,
};

struct stats_job {
    const struct gi_image *labels, *values;
    struct gi_region_sums *regions;
    uint32_t n; /* number of regions */
    struct quantiser quantiser;
    struct region_table *foreign; /* a table per band */
    uint32_t *largest;            /* bands + 1 entries: the largest label above band i */
    int bands, nwords;
};

/* Bit masks of a row, bit x for pixel x. `on`: the pixel has a label. `right`, `down`,
 * `down_right`, `down_left`: this neighbour has the same label. `border`: the pixel is a border
 * pixel. A word of zeros precedes and follows each mask. */
struct masks {
    uint64_t *on, *right, *down, *down_right, *down_left, *border;
};

struct rows {
    uint32_t *labels[3]; /* row y is at y mod 3 */
    struct masks masks[3];
    uint64_t *classes[3]; /* straight, diagonal, mixed */
    /* Quantised values and keys of a row's samples. For GI_U8 q has the samples themselves. */
    uint32_t *q, *key;
    uint64_t *starts; /* first pixel of each run of one label */
};

static int modulo3(int y)
{
    return (y + 3) % 3; /* y is at least -2 */
}

static size_t label_row_nbytes(int nwords)
{
    return ((size_t)nwords * 64 + 2 * PAD) * sizeof(uint32_t);
}

static size_t mask_row_nbytes(int nwords)
{
    return ((size_t)nwords + 2) * sizeof(uint64_t);
}

static size_t rows_nbytes(int nwords)
{
    return LABEL_ROWS * label_row_nbytes(nwords) + MASK_ROWS * mask_row_nbytes(nwords);
}

/* Divides scratch memory of rows_nbytes() bytes, all 0, among the rows. */
static void rows_lay_out(struct rows *rows, char *scratch, int nwords)
{
    memset(scratch, 0, rows_nbytes(nwords));
    uint32_t **lines[LABEL_ROWS] = {&rows->labels[0], &rows->labels[1], &rows->labels[2], &rows->q,
                                    &rows->key};
    for (int i = 0; i < LABEL_ROWS; i++, scratch += label_row_nbytes(nwords))
        *lines[i] = (uint32_t *)(void *)scratch + PAD;
    uint64_t **words[MASK_ROWS] = {&rows->classes[0], &rows->classes[1], &rows->classes[2],
                                   &rows->starts};
    for (int i = 0; i < 3; i++) {
        struct masks *m = &rows->masks[i];
        uint64_t **six[] = {&m->on, &m->right, &m->down, &m->down_right, &m->down_left, &m->border};
        memcpy(&words[4 + 6 * i], six, sizeof six);
    }
    for (int i = 0; i < MASK_ROWS; i++, scratch += mask_row_nbytes(nwords))
        *words[i] = (uint64_t *)(void *)scratch + 1;
}

/* Loads row y of the labels, or zeros if there is no such row. */
static void load_labels(struct rows *rows, const struct gi_image *labels, int y)
{
    uint32_t *row = rows->labels[modulo3(y)];
    size_t nbytes = (size_t)labels->width * sizeof *row;
    if (y >= 0 && y < labels->height)
        memcpy(row, gi_row(labels, y), nbytes);
    else
        memset(row, 0, nbytes);
}

static inline uint64_t left_of(const uint64_t *words, int w)
{
    return words[w] << 1 | words[w - 1] >> 63;
}

static inline uint64_t right_of(const uint64_t *words, int w)
{
    return words[w] >> 1 | words[w + 1] << 63;
}

/* Makes the masks of row y, after the next row has been loaded. `border` needs the masks of the row
 * above. */
static void make_masks(struct rows *rows, int y, int nwords)
{
    static const uint32_t zeros[64];
    const uint32_t *row = rows->labels[modulo3(y)], *below = rows->labels[modulo3(y + 1)];
    const struct masks *m = &rows->masks[modulo3(y)], *above = &rows->masks[modulo3(y - 1)];
    for (int w = 0; w < nwords; w++) {
        const uint32_t *a = row + 64 * w, *b = below + 64 * w;
        uint64_t on = ~equal64(a, zeros);
        m->on[w] = on;
        if (on == 0) {
            m->right[w] = m->down[w] = m->down_right[w] = m->down_left[w] = 0;
            continue;
        }
        m->right[w] = on & equal64(a, a + 1);
        m->down[w] = on & equal64(a, b);
        m->down_right[w] = on & equal64(a, b + 1);
        m->down_left[w] = on & equal64(a, b - 1);
    }
    for (int w = 0; w < nwords; w++)
        m->border[w] =
            m->on[w] & ~(m->right[w] & left_of(m->right, w) & m->down[w] & above->down[w]);
}

/* How many of four bits are set, as binary digits in bit-sliced form. */
struct sum4 {
    uint64_t ones, twos, fours;
};

static inline struct sum4 add4(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t ab = a ^ b, cd = c ^ d, both = a & b, other = c & d;
    return (struct sum4){ab ^ cd, (both ^ other) | (ab & cd), both & other};
}

static inline uint64_t left_and(const uint64_t *a, const uint64_t *b, int w)
{
    return (a[w] & b[w]) << 1 | (a[w - 1] & b[w - 1]) >> 63;
}

static inline uint64_t right_and(const uint64_t *a, const uint64_t *b, int w)
{
    return (a[w] & b[w]) >> 1 | (a[w + 1] & b[w + 1]) << 63;
}

/* Makes the perimeter classes of gi_region_sums for row y, from the masks of row y and of the rows
 * above and below. */
static void make_classes(struct rows *rows, int y, int nwords)
{
    const struct masks *u = &rows->masks[modulo3(y - 1)], *m = &rows->masks[modulo3(y)],
                       *d = &rows->masks[modulo3(y + 1)];
    for (int w = 0; w < nwords; w++) {
        struct sum4 side =
            add4(left_and(m->right, m->border, w), m->right[w] & right_of(m->border, w),
                 u->down[w] & u->border[w], m->down[w] & d->border[w]);
        struct sum4 corner = add4(
            left_and(u->down_right, u->border, w), right_and(u->down_left, u->border, w),
            m->down_left[w] & left_of(d->border, w), m->down_right[w] & right_of(d->border, w));
        uint64_t none = m->border[w] & ~(side.ones | side.twos | side.fours);
        uint64_t one = m->border[w] & side.ones & ~side.twos;
        uint64_t two_or_three = m->border[w] & side.twos;
        uint64_t corner2 = corner.twos & ~corner.ones, corner3 = corner.twos & corner.ones;
        uint64_t corner1 = corner.ones & ~corner.twos;
        rows->classes[0][w] = two_or_three & ~(corner3 | corner.fours);
        rows->classes[1][w] = (none & corner2) | (one & corner3);
        rows->classes[2][w] = one & (corner1 | corner2);
        rows->starts[w] = m->on[w] & ~left_of(m->right, w);
    }
}

static void load_values(struct rows *rows, const struct gi_image *values, int y,
                        const struct quantiser *z)
{
    int n = values->width;
    const void *row = gi_row(values, y);
    uint32_t *q = rows->q;
    if (values->type == GI_U8)
        memcpy(q, row, (size_t)n);
    else if (values->type == GI_U16)
        for (int i = 0; i < n; i++)
            q[i] = ((const uint16_t *)row)[i];
    else
        for (int i = 0; i < n; i++) {
            float v = ((const float *)row)[i];
            q[i] = v == v ? quantise(v, z) : (uint32_t)NAN_Q;
            rows->key[i] = gi_float_key(float_bits(v));
        }
}

/* Returns the sum of the positions of the set bits. */
static inline uint64_t sum_of_bit_numbers(uint64_t bits)
{
    static const uint64_t with[6] = {0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0,
                                     0xff00ff00ff00ff00, 0xffff0000ffff0000, 0xffffffff00000000};
    uint64_t sum = 0;
    for (int i = 0; i < 6; i++)
        sum += (uint64_t)__builtin_popcountll(bits & with[i]) << i;
    return sum;
}

static inline struct gi_region_sums *region_of(const struct stats_job *job, int band,
                                               uint32_t label)
{
    return label > job->largest[band] ? &job->regions[label - 1]
                                      : region_table_at(&job->foreign[band], label);
}

/* Adds to a region those pixels of word w in row y whose bits are set. */
static inline void add_pixels(struct gi_region_sums *r, const struct rows *rows, int y, int w,
                              uint64_t pixels, const enum gi_type type)
{
    bool is_float = type == GI_F32;
    const uint32_t *q = rows->q + 64 * w, *key = rows->key + 64 * w;
    struct values v = type == GI_U8 ? sum_bytes((const uint8_t *)rows->q + 64 * w, pixels)
                                    : sum_samples(q, is_float ? key : q, pixels, is_float);
    uint64_t n = (uint64_t)__builtin_popcountll(pixels), x = 64 * (uint64_t)w;
    uint32_t x0 = (uint32_t)x + (uint32_t)__builtin_ctzll(pixels);
    uint32_t x1 = (uint32_t)x + 63 - (uint32_t)__builtin_clzll(pixels);
    r->area += n;
    r->sum_x += n * x + sum_of_bit_numbers(pixels);
    r->sum_y += n * (uint64_t)y;
    r->min_x = x0 < r->min_x ? x0 : r->min_x;
    r->max_x = x1 > r->max_x ? x1 : r->max_x;
    r->min_y = (uint32_t)y < r->min_y ? (uint32_t)y : r->min_y;
    r->max_y = (uint32_t)y; /* rows come in order */
    r->value.n += v.n;
    r->value.q += v.q;
    r->value.q2_low += v.low;
    if (is_float)
        r->value.q2_high += v.high;
    r->min_key = v.min < r->min_key ? v.min : r->min_key;
    r->max_key = v.max > r->max_key ? v.max : r->max_key;
    r->straight += (uint64_t)__builtin_popcountll(rows->classes[0][w] & pixels);
    r->diagonal += (uint64_t)__builtin_popcountll(rows->classes[1][w] & pixels);
    r->mixed += (uint64_t)__builtin_popcountll(rows->classes[2][w] & pixels);
}

/* Adds word w of row y to the regions; neighbouring runs of one label are added together. */
static inline void add_word(const struct stats_job *job, int band, struct rows *rows, int y, int w,
                            const enum gi_type type)
{
    const uint32_t *labels = rows->labels[modulo3(y)] + 64 * w;
    uint64_t on = rows->masks[modulo3(y)].on[w];
    uint64_t starts = rows->starts[w] | (on & 1);
    while (starts) {
        uint32_t label = labels[__builtin_ctzll(starts)];
        uint64_t next = starts & (starts - 1);
        while (next && labels[__builtin_ctzll(next)] == label)
            next &= next - 1;
        add_pixels(region_of(job, band, label), rows, y, w,
                   on & ((next & -next) - (starts & -starts)), type);
        starts = next;
    }
}

static void add_row(const struct stats_job *job, int band, struct rows *rows, int y)
{
    for (int w = 0; w < job->nwords; w++)
        GI_CPU_TYPES(job->values->type, add_word(job, band, rows, y, w, TYPE));
}

/* Processes a band. The perimeter classes of a row need the border pixels of the rows above and
 * below, and border pixels need one more row on each side. */
static void stats_band(void *arg, int index, void *scratch)
{
    const struct stats_job *job = arg;
    struct rows rows;
    rows_lay_out(&rows, scratch, job->nwords);
    int y0 = band_start(job->labels, index, job->bands);
    int y1 = band_start(job->labels, index + 1, job->bands);
    load_labels(&rows, job->labels, y0 - 2);
    for (int y = y0 - 2; y <= y1; y++) {
        load_labels(&rows, job->labels, y + 1);
        make_masks(&rows, y, job->nwords);
        if (y <= y0)
            continue;
        make_classes(&rows, y - 1, job->nwords);
        load_values(&rows, job->values, y - 1, &job->quantiser);
        add_row(job, index, &rows, y - 1);
    }
}

/* Clears share `index` of the regions, which are divided into as many shares as there are bands. */
static void clear_share(void *arg, int index, void *scratch)
{
    const struct stats_job *job = arg;
    uint64_t n = job->n, share = (uint64_t)index, shares = (uint64_t)job->bands;
    for (uint64_t i = n * share / shares; i < n * (share + 1) / shares; i++)
        region_clear(&job->regions[i]);
}

static void largest_band(void *arg, int index, void *scratch)
{
    const struct stats_job *job = arg;
    uint32_t largest = 0;
    int y1 = band_start(job->labels, index + 1, job->bands);
    for (int y = band_start(job->labels, index, job->bands); y < y1; y++) {
        const uint32_t *row = gi_row(job->labels, y);
        for (int x = 0; x < job->labels->width; x++)
            largest = row[x] > largest ? row[x] : largest;
    }
    job->largest[index + 1] = largest;
}

static enum gi_status stats_run(struct stats_job *job, struct gi_pool *pool, struct gi_err *err)
{
    enum gi_status status = gi_pool_run(pool, job->bands, clear_share, job, 0, err);
    if (!status && job->bands > 1)
        status = gi_pool_run(pool, job->bands, largest_band, job, 0, err);
    for (int b = 1; b < job->bands; b++)
        if (job->largest[b] < job->largest[b - 1])
            job->largest[b] = job->largest[b - 1];
    if (!status)
        status = gi_pool_run(pool, job->bands, stats_band, job, rows_nbytes(job->nwords), err);
    for (int b = 0; b < job->bands && !status; b++)
        if (!region_table_merge(job->regions, &job->foreign[b]))
            status = gi_fail(err, GI_E_MEMORY, "out of memory: statistics of regions");
    return status;
}

static enum gi_status by_words(struct gi_queue *queue, struct gi_region_sums *regions,
                               const struct gi_image *values, const struct gi_region_stats *spec,
                               struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct stats_job job = {
        .labels = spec->labels, .values = values, .regions = regions, .n = spec->n};
    job.quantiser = quantiser_make(spec->lo, spec->hi);
    job.bands = band_count(pool, values, BAND_PIXELS);
    job.nwords = row_words(values->width);
    job.largest = calloc((size_t)job.bands + 1, sizeof *job.largest);
    job.foreign = calloc((size_t)job.bands, sizeof *job.foreign);
    enum gi_status status = job.largest && job.foreign
                                ? stats_run(&job, pool, err)
                                : gi_fail(err, GI_E_MEMORY, "out of memory: statistics of regions");
    for (int b = 0; b < job.bands && job.foreign; b++)
        free(job.foreign[b].slots);
    free(job.foreign);
    free(job.largest);
    return status;
}

GI_CPU_ONE_WAY(region_stats, "words", by_words);
