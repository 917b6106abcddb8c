/* Sums, minimum and maximum with their positions. If only sums of bytes are needed, instructions
 * add neighbouring lanes. Other integers are summed in lanes of neighbouring samples, for 1 to 4
 * channels. Floats are summed in lanes of doubles, without rounding, if the exponents of a block
 * are close enough (kernels/cpu/statistics/reduce_floats.h), and otherwise per exponent.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/statistics/reduce_floats.h"
#if !GI_LEVEL_scalar
#include "kernels/cpu/common/bytes.h"
#endif

enum {
    LANES = 48,                        /* a multiple of 1, 2, 3 and 4 channels, and of 16 */
    CHUNK = (1 << 18) / LANES * LANES, /* number of samples whose sums fit in 32-bit lanes */
};

#if GI_LEVEL_scalar
enum { HAS_PAIRS = false };
#else
enum { HAS_PAIRS = true };
#endif

struct reduce_job {
    const struct gi_image *src;
    const struct gi_reduce *spec;
    struct gi_reduction *parts; /* bands * channels */
    int bands;
    bool pairs; /* sums of bytes */
};

static void note_sums(struct gi_reduction *found, uint64_t n, uint64_t sum, uint64_t square)
{
    found->n += n;
    found->sum.w[0] += sum;
    found->magnitude.w[0] += sum;
    found->square.w[0] += square;
}

#if !GI_LEVEL_scalar

/* Sums in 64-bit lanes. Sample i of a row is added to q[i % period] and squares[i % period]; the
 * period is 2 or 4. Even and odd bytes are widened to 16 bits; with a period of 4 their lanes
 * alternate between two samples. */
struct pairs {
    GI_INTS q[4], squares[4];
};

/* `squares`: 32-bit lanes. */
static inline void pairs_add(struct pairs *pairs, GI_INTS *squares, GI_INTS bytes, const int period)
{
    const GI_INTS halves[2] = {both(bytes, ints_set(0x00ff00ff)), odd_bytes(bytes)};
    for (int i = 0; i < period; i++) {
        GI_INTS mask = ints_set(period == 2 ? 0xffffffff : i < 2 ? 0x0000ffff : 0xffff0000);
        GI_INTS v = both(halves[i % 2], mask);
        pairs->q[i] = add_wide(pairs->q[i], sums_of_bytes(v));
        squares[i] = ints_add(squares[i], squares_of_pairs(v));
    }
}

/* Adds up to CHUNK samples, so that a 32-bit lane is the sum of at most 2^15 times two squares. */
static inline void pairs_add_row(struct pairs *sums, const uint8_t *row, size_t n, const int period)
{
    enum { VECTOR = sizeof(GI_INTS) };
    struct pairs pairs = *sums;
    GI_INTS squares[4] = {ints_set(0), ints_set(0), ints_set(0), ints_set(0)};
    size_t at = 0;
    for (; at + VECTOR <= n; at += VECTOR) {
        prefetch_ahead(row + at, VECTOR);
        pairs_add(&pairs, squares, load_bytes(row + at), period);
    }
    if (at < n) {
        uint8_t rest[VECTOR] = {0};
        pairs_add(&pairs, squares, load_bytes(memcpy(rest, row + at, n - at)), period);
    }
    for (int i = 0; i < period; i++) {
        sums->q[i] = pairs.q[i];
        sums->squares[i] = add_wide(pairs.squares[i], wide_sums(squares[i]));
    }
}

/* Sums up rows y0 to y1 - 1. */
static void pairs_of_band(struct gi_reduction *found, const struct gi_image *src, int y0, int y1)
{
    size_t n = gi_row_samples(src), channels = (size_t)src->channels;
    struct pairs sums = {0};
    for (int y = y0; y < y1; y++)
        for (size_t at = 0, m; at < n; at += m) {
            const uint8_t *row = (const uint8_t *)gi_row(src, y) + at;
            m = n - at < CHUNK ? n - at : CHUNK;
            if (channels == 4)
                pairs_add_row(&sums, row, m, 4);
            else
                pairs_add_row(&sums, row, m, 2);
        }
    for (size_t i = 0; i < 4; i++)
        note_sums(&found[i % channels], 0, wide_total(sums.q[i]), wide_total(sums.squares[i]));
    for (size_t c = 0; c < channels; c++)
        found[c].n = (uint64_t)(y1 - y0) * (uint64_t)src->width;
}

#else

static void pairs_of_band(struct gi_reduction *found, const struct gi_image *src, int y0, int y1)
{
}

#endif

/* Finds sums, minimum and maximum of up to CHUNK samples, which are whole pixels. The first sample
 * is at `place`. SQUARE is a type that holds the squares of a lane. */
#define DEFINE_CHUNK(name, T, SQUARE)                                                              \
    static void name(struct gi_reduction *found, const T *row, size_t n, size_t channels,          \
                     uint64_t place)                                                               \
    {                                                                                              \
        uint32_t sum[LANES] = {0};                                                                 \
        SQUARE square[LANES] = {0};                                                                \
        T min[LANES], max[LANES] = {0};                                                            \
        memset(min, 0xff, sizeof min);                                                             \
        for (size_t at = 0, lanes; at < n; at += lanes) {                                          \
            lanes = n - at < LANES ? n - at : LANES;                                               \
            prefetch_ahead(row + at, LANES * sizeof(T));                                           \
            if (lanes == LANES)                                                                    \
                name##_lanes(sum, square, min, max, row + at, LANES);                              \
            else                                                                                   \
                name##_lanes(sum, square, min, max, row + at, lanes);                              \
        }                                                                                          \
        for (size_t c = 0; c < channels; c++) {                                                    \
            T least = min[c], most = max[c];                                                       \
            uint64_t total = 0, squares = 0;                                                       \
            for (size_t l = c; l < LANES; l += channels) {                                         \
                total += sum[l];                                                                   \
                squares += square[l];                                                              \
                least = min[l] < least ? min[l] : least;                                           \
                most = max[l] > most ? max[l] : most;                                              \
            }                                                                                      \
            size_t i = c, j = c;                                                                   \
            if (!found[c].n || least < found[c].min) {                                             \
                while (row[i] != least)                                                            \
                    i += channels;                                                                 \
                found[c].min = least;                                                              \
                found[c].min_at = place + i / channels;                                            \
            }                                                                                      \
            if (!found[c].n || most > found[c].max) {                                              \
                while (row[j] != most)                                                             \
                    j += channels;                                                                 \
                found[c].max = most;                                                               \
                found[c].max_at = place + j / channels;                                            \
            }                                                                                      \
            note_sums(&found[c], n / channels, total, squares);                                    \
        }                                                                                          \
    }

#define DEFINE_LANES(name, T, SQUARE)                                                              \
    static inline void name##_lanes(uint32_t *sum, SQUARE *square, T *min, T *max, const T *row,   \
                                    size_t n)                                                      \
    {                                                                                              \
        for (size_t l = 0; l < n; l++) {                                                           \
            uint32_t v = row[l];                                                                   \
            sum[l] += v;                                                                           \
            square[l] += v * v;                                                                    \
            min[l] = row[l] < min[l] ? row[l] : min[l];                                            \
            max[l] = row[l] > max[l] ? row[l] : max[l];                                            \
        }                                                                                          \
    }

DEFINE_LANES(bytes, uint8_t, uint32_t)
DEFINE_LANES(words, uint16_t, uint64_t)
DEFINE_CHUNK(bytes, uint8_t, uint32_t)
DEFINE_CHUNK(words, uint16_t, uint64_t)

static void row_of_all(struct gi_reduction *found, struct by_exponent *odd,
                       const struct gi_image *src, int y, uint64_t place)
{
    const void *row = gi_row(src, y);
    size_t n = gi_row_samples(src), channels = (size_t)src->channels;
    size_t most = src->type == GI_F32 ? BLOCK : CHUNK;
    for (size_t at = 0, m; at < n; at += m, place += m / channels) {
        m = n - at < most ? n - at : most;
        if (src->type == GI_U8)
            bytes(found, (const uint8_t *)row + at, m, channels, place);
        else if (src->type == GI_U16)
            words(found, (const uint16_t *)row + at, m, channels, place);
        else
            floats(found, odd, (const float *)row + at, m, channels, place);
    }
}

/* Processes, one by one, the samples of pixels whose alpha is > 0. */
static void row_of_opaque(struct gi_reduction *found, struct by_exponent *odd,
                          const struct gi_image *src, int y, uint64_t place)
{
    const void *row = gi_row(src, y);
    size_t channels = (size_t)src->channels;
    for (size_t x = 0; x < (size_t)src->width; x++) {
        size_t at = x * channels;
        if (!(gi_sample(row, at + channels - 1, src->type) > 0))
            continue;
        for (size_t c = 0; c < channels; c++) {
            float v = (float)gi_sample(row, at + c, src->type);
            if (src->type == GI_F32) {
                float_add(&found[c], &odd[c], v, place + x);
                continue;
            }
            uint64_t q = (uint64_t)v;
            note_ends(&found[c], v, v, place + x, place + x);
            note_sums(&found[c], 1, q, q * q);
        }
    }
}

static void reduce_band(void *arg, int index, void *scratch)
{
    const struct reduce_job *job = arg;
    const struct gi_image *src = job->src;
    struct by_exponent *odd = scratch;
    struct gi_reduction *found = &job->parts[(size_t)index * (size_t)src->channels];
    int y1 = band_start(src, index + 1, job->bands);
    bool opaque = job->spec->opaque && gi_has_alpha(src);
    if (job->pairs) {
        pairs_of_band(found, src, band_start(src, index, job->bands), y1);
        return;
    }
    if (src->type == GI_F32)
        memset(odd, 0, (size_t)src->channels * sizeof *odd);
    for (int y = band_start(src, index, job->bands); y < y1; y++) {
        uint64_t place = (uint64_t)(job->spec->y + y) * (uint64_t)src->width;
        (opaque ? row_of_opaque : row_of_all)(found, odd, src, y, place);
    }
    for (int c = 0; c < src->channels && src->type == GI_F32; c++)
        by_exponent_fold(&found[c], &odd[c]);
}

static enum gi_status run(struct gi_queue *queue, struct gi_reduction *found,
                          const struct gi_image *src, const struct gi_reduce *spec, bool pairs,
                          struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    size_t channels = (size_t)src->channels;
    struct reduce_job job = {
        .src = src, .spec = spec, .bands = band_count(pool, src, BAND_PIXELS), .pairs = pairs};
    job.parts = calloc((size_t)job.bands * channels, sizeof *job.parts);
    if (!job.parts)
        return gi_fail(err, GI_E_MEMORY, "out of memory: sums of %d bands", job.bands);
    enum gi_status status =
        gi_pool_run(pool, job.bands, reduce_band, &job,
                    src->type == GI_F32 ? channels * sizeof(struct by_exponent) : 0, err);
    for (size_t i = 0; i < (size_t)job.bands * channels && !status; i++) {
        struct gi_reduction *part = &job.parts[i];
        if (spec->sums_only)
            part->min = part->max = 0, part->min_at = part->max_at = 0;
        gi_reduction_add(&found[i % channels], part);
    }
    free(job.parts);
    return status;
}

static bool pairs_takes(const struct gi_queue *queue, const struct gi_image *src,
                        const struct gi_reduce *spec)
{
    return HAS_PAIRS && src->type == GI_U8 && src->channels != 3 && spec->sums_only &&
           !(spec->opaque && gi_has_alpha(src));
}

static enum gi_status by_pairs(struct gi_queue *queue, struct gi_reduction *found,
                               const struct gi_image *src, const struct gi_reduce *spec,
                               struct gi_err *err)
{
    return run(queue, found, src, spec, true, err);
}

static enum gi_status by_lanes(struct gi_queue *queue, struct gi_reduction *found,
                               const struct gi_image *src, const struct gi_reduce *spec,
                               struct gi_err *err)
{
    return run(queue, found, src, spec, false, err);
}

/* Time of each way in us with AVX-512, one thread, 2048 x 2048, 8-bit gray: pairs 175, lanes
 * 713. */
const struct gi_reduce_way GI_CPU(reduce_ways)[GI_WAYS_MAX] = {
    {{"pairs", "sums of bytes without extremes, not of 3 channels, by vectors"},
     pairs_takes,
     by_pairs},
    {{"lanes", "everything"}, NULL, by_lanes},
};
