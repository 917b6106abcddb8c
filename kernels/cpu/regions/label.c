/* Connected components by runs. Each row is turned into bits; run i of a row is its i-th group of
 * set bits, so where two rows touch is a mask, and which runs touch is a count of starts before it.
 * A run takes the provisional label of the first run it touches above, others are united with it;
 * the least provisional label of a component is its root, and roots ascend in raster order. Until a
 * row of labels is filled, it holds the provisional labels of its runs.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/measure.h"

struct label_job {
    const struct gi_predicate *predicate;
    struct gi_image *labels;
    bool eight;
    int bands, nwords;
    uint64_t *bits;      /* nwords each row */
    uint32_t *first_run; /* height + 1: number of the row's first run */
    uint32_t *parent;    /* of each provisional label; a band's begin at first_label() */
    uint32_t *used;      /* of each band: the label after its last one */
};

static uint64_t *row_bits(const struct label_job *job, int y)
{
    return job->bits + (size_t)y * (size_t)job->nwords;
}

/* One label for each run, and one to spare for each band. */
static uint32_t first_label(const struct label_job *job, int band)
{
    return job->first_run[band_start(job->labels, band, job->bands)] + (uint32_t)band + 1;
}

static uint32_t runs_of(const struct label_job *job, int y)
{
    return job->first_run[y + 1] - job->first_run[y];
}

static void bits_band(void *arg, int index, void *scratch)
{
    (void)scratch;
    const struct label_job *job = arg;
    int y1 = band_start(job->labels, index + 1, job->bands);
    for (int y = band_start(job->labels, index, job->bands); y < y1; y++) {
        uint64_t *words = row_bits(job, y), carry = 0;
        uint32_t runs = 0;
        foreground_row(words, job->predicate, y);
        for (int w = 0; w < job->nwords; w++) {
            runs += (uint32_t)__builtin_popcountll(words[w] & ~(words[w] << 1 | carry));
            carry = words[w] >> 63;
        }
        job->first_run[y + 1] = runs;
    }
}

/* Halves the path on the way. */
static uint32_t find_root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = find_root(parent, a);
    b = find_root(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

/* The runs of two rows, as seen from the word at hand. */
struct run_pair {
    const uint32_t *up; /* labels of the runs from this word on */
    uint32_t *down;
    uint64_t up_starts, down_starts; /* the word's bits that begin a run */
};

/* Joins, for each bit of `touch`, the lower row's run there with the upper row's run that begins at
 * or before it; `next`: with the one after that. */
static inline void join_runs(const struct run_pair *rows, uint64_t touch, int next,
                             uint32_t *parent)
{
    for (; touch; touch &= touch - 1) {
        uint64_t upto = touch ^ (touch - 1); /* the lowest bit and all below it */
        int up = __builtin_popcountll(rows->up_starts & upto) - 1 + next;
        int down = __builtin_popcountll(rows->down_starts & upto) - 1;
        uint32_t label = rows->down[down], above = parent[rows->up[up]];
        rows->down[down] = label ? label : above;
        if (label && label != above)
            unite(parent, label, above);
    }
}

/* Joins the runs of row y with those of the row above. Two runs that overlap do so in one interval,
 * and a diagonal contact without an overlap lies at the end of one of them: every pair that touches
 * gives one bit. */
static void join_rows(const struct label_job *job, int y)
{
    const uint64_t *up = row_bits(job, y - 1), *down = row_bits(job, y);
    struct run_pair rows = {.up = gi_row(job->labels, y - 1), .down = gi_row(job->labels, y)};
    uint64_t up_carry = 0, down_carry = 0;
    for (int w = 0; w < job->nwords; w++) {
        uint64_t u = up[w], d = down[w];
        uint64_t u_left = u << 1 | up_carry, d_left = d << 1 | down_carry;
        rows.up_starts = u & ~u_left;
        rows.down_starts = d & ~d_left;
        uint64_t touch = u & d & ~(u_left & d_left);
        if (job->eight) {
            bool more = w + 1 < job->nwords;
            uint64_t u_right = u >> 1 | (more ? up[w + 1] << 63 : 0);
            uint64_t d_right = d >> 1 | (more ? down[w + 1] << 63 : 0);
            touch |= rows.down_starts & u_left & ~u;
            join_runs(&rows, touch, 0, job->parent);
            join_runs(&rows, d & ~d_right & u_right & ~u, 1, job->parent);
        } else {
            join_runs(&rows, touch, 0, job->parent);
        }
        rows.up += __builtin_popcountll(rows.up_starts);
        rows.down += __builtin_popcountll(rows.down_starts);
        up_carry = u >> 63;
        down_carry = d >> 63;
    }
}

/* Provisional labels for a band by itself. The store for a new label is made always and kept only
 * where the run has none, for the branch would be a toss-up. */
static void join_band(void *arg, int index, void *scratch)
{
    (void)scratch;
    const struct label_job *job = arg;
    int y0 = band_start(job->labels, index, job->bands);
    int y1 = band_start(job->labels, index + 1, job->bands);
    uint32_t next = first_label(job, index);
    for (int y = y0; y < y1; y++) {
        uint32_t *label = gi_row(job->labels, y), runs = runs_of(job, y);
        memset(label, 0, runs * sizeof *label); /* none yet */
        if (y > y0)
            join_rows(job, y);
        for (uint32_t i = 0; i < runs; i++) {
            bool fresh = label[i] == 0;
            label[i] = fresh ? next : label[i];
            job->parent[next] = next;
            next += fresh;
        }
    }
    job->used[index] = next;
}

/* Turns parents into final labels; returns how many. A parent comes before its children. */
static uint32_t number_roots(const struct label_job *job)
{
    uint32_t n = 0, *parent = job->parent;
    for (int b = 0; b < job->bands; b++)
        for (uint32_t i = first_label(job, b); i < job->used[b]; i++) {
            bool root = parent[i] == i;
            n += root;
            parent[i] = root ? n : parent[parent[i]];
        }
    return n;
}

/* The lowest bits of the bytes of the result, from its lowest byte on: the eight bits of `bits`. */
static inline uint64_t bit_a_byte(uint64_t bits)
{
    const uint64_t ones = 0x0101010101010101;
    uint64_t one_a_byte = bits * ones & 0x8040201008040201;
    return (one_a_byte + 0x7f * ones) >> 7 & ones;
}

/* Writes eight pixels. runs[0] is the label of the run that lies before them or reaches into them,
 * runs[i] that of the i-th one of those that begin at `starts`; eight more can be read. */
static inline void fill_eight(uint32_t *row, const uint32_t *runs, uint64_t on, uint64_t starts)
{
    uint64_t which = bit_a_byte(starts) * 0x0101010101010101; /* each byte: starts up to it */
#if defined __AVX512VL__
    __m256i from = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)which));
    __m256i some = _mm256_loadu_si256((const __m256i *)runs);
    _mm256_storeu_si256((__m256i *)row, _mm256_maskz_permutexvar_epi32((__mmask8)on, from, some));
#elif defined __AVX2__
    __m256i from = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)which));
    __m256i some = _mm256_loadu_si256((const __m256i *)runs);
    __m256i keep = _mm256_cvtepi8_epi32(_mm_cvtsi64_si128((int64_t)(bit_a_byte(on) * 255)));
    _mm256_storeu_si256((__m256i *)row,
                        _mm256_and_si256(keep, _mm256_permutevar8x32_epi32(some, from)));
#elif GI_LEVEL_neon
    const uint8x16x2_t some = {
        {vld1q_u8((const uint8_t *)runs), vld1q_u8((const uint8_t *)runs + 16)}};
    uint16x8_t from = vmovl_u8(vcreate_u8(which));
    int16x8_t keep = vmovl_s8(vcreate_s8(bit_a_byte(on) * 255));
    for (int h = 0; h < 2; h++) {
        uint32x4_t four = vmovl_u16(h ? vget_high_u16(from) : vget_low_u16(from));
        uint32x4_t bytes = vmlaq_n_u32(vdupq_n_u32(0x03020100), four, 0x04040404);
        uint32x4_t values = vreinterpretq_u32_u8(vqtbl2q_u8(some, vreinterpretq_u8_u32(bytes)));
        int32x4_t mask = vmovl_s16(h ? vget_high_s16(keep) : vget_low_s16(keep));
        vst1q_u32(row + 4 * h, vandq_u32(values, vreinterpretq_u32_s32(mask)));
    }
#else
    for (int i = 0; i < 8; i++)
        row[i] = on >> i & 1 ? runs[which >> 8 * i & 255] : 0;
#endif
}

/* `finals` has room for the labels of the row's runs, one before them and eight behind. A row of
 * labels is padded to whole eights. */
static void fill_row(const struct label_job *job, uint32_t *finals, int y)
{
    const uint64_t *words = row_bits(job, y);
    uint32_t *row = gi_row(job->labels, y), runs = runs_of(job, y);
    uint64_t carry = 0;
    size_t width = (size_t)job->labels->width;
    for (uint32_t i = 0; i < runs; i++)
        finals[i + 1] = job->parent[row[i]];
    for (int w = 0; w < job->nwords; w++) {
        uint64_t on = words[w], starts = on & ~(on << 1 | carry);
        size_t first = 64 * (size_t)w, end = first + 64;
        carry = on >> 63;
        if (on + 1 <= 1 && !starts && end <= width) {
            uint32_t value = on ? finals[0] : 0;
            for (size_t x = first; x < end; x++)
                row[x] = value;
            continue;
        }
        for (size_t x = first; x < end && x < width; x += 8) {
            fill_eight(row + x, finals, on & 255, starts & 255);
            finals += __builtin_popcountll(starts & 255);
            on >>= 8;
            starts >>= 8;
        }
    }
}

static void fill_band(void *arg, int index, void *scratch)
{
    const struct label_job *job = arg;
    int y1 = band_start(job->labels, index + 1, job->bands);
    for (int y = band_start(job->labels, index, job->bands); y < y1; y++)
        fill_row(job, scratch, y);
}

static enum gi_status label_rows(struct label_job *job, struct gi_pool *pool, uint32_t *n,
                                 struct gi_err *err)
{
    int height = job->labels->height;
    enum gi_status status = gi_pool_run(pool, job->bands, bits_band, job, 0, err);
    if (status)
        return status;
    for (int y = 0; y < height; y++)
        job->first_run[y + 1] += job->first_run[y];
    size_t runs = job->first_run[height];
    job->parent = huge_malloc((runs + (size_t)job->bands + 1) * sizeof *job->parent);
    if (!job->parent)
        return gi_fail(err, GI_E_MEMORY, "out of memory: labels for %zu runs of pixels", runs);
    status = gi_pool_run(pool, job->bands, join_band, job, 0, err);
    if (status)
        return status;
    for (int b = 1; b < job->bands; b++)
        join_rows(job, band_start(job->labels, b, job->bands));
    *n = number_roots(job);
    size_t scratch = ((size_t)job->labels->width / 2 + 10) * sizeof(uint32_t);
    return gi_pool_run(pool, job->bands, fill_band, job, scratch, err);
}

static enum gi_status by_runs(struct gi_queue *queue, struct gi_image *labels, uint32_t *n,
                              const struct gi_predicate *predicate, int connectivity,
                              struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    const struct gi_image *on = predicate->on;
    enum gi_status status = queue->k->alloc(queue, labels, on->width, on->height, 1, GI_U32, err);
    if (status)
        return status;
    advise_huge(labels->data, labels->stride * (size_t)labels->height);
    struct label_job job = {.predicate = predicate, .labels = labels, .eight = connectivity == 8};
    job.bands = band_count(pool, on, BAND_PIXELS);
    job.nwords = row_words(on->width);
    job.bits = huge_malloc((size_t)on->height * (size_t)job.nwords * sizeof *job.bits);
    job.first_run = calloc((size_t)on->height + 1, sizeof *job.first_run);
    job.used = calloc((size_t)job.bands, sizeof *job.used);
    if (job.bits && job.first_run && job.used)
        status = label_rows(&job, pool, n, err);
    else
        status = gi_fail(err, GI_E_MEMORY, "out of memory: labels of %d x %d pixels", on->width,
                         on->height);
    free(job.used);
    free(job.first_run);
    free(job.bits);
    free(job.parent);
    if (status)
        queue->k->release(queue, labels);
    return status;
}

static const struct gi_label_way ways[] = {
    {{"runs", "everything"}, NULL, by_runs},
};

const struct gi_ways GI_CPU(label_ways) = GI_WAYS(label, GI_SAMPLE_TYPES, ways);

enum gi_status GI_CPU(label)(struct gi_queue *queue, struct gi_image *labels, uint32_t *n,
                             const struct gi_predicate *predicate, int connectivity,
                             struct gi_err *err)
{
    GI_WAYS_RUN(GI_CPU(label_ways), ways, queue, predicate->on, (queue, predicate, connectivity),
                (queue, labels, n, predicate, connectivity, err), err);
}
