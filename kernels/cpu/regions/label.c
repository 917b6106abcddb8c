/* Connected components labelling by runs: numbers the roots, then fills the rows of labels.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/regions/bit_runs.h"
#include "kernels/kernels.h"

/* Replaces parents by final labels, and returns the number of final labels. A parent has a smaller
 * label than its children. */
static uint32_t number_roots(const struct runs_job *job)
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

/* Writes the labels of eight pixels. runs[0] is the label of a run that began earlier, and runs[i]
 * is the label of the i-th run that begins at the bits `starts`. Eight labels after these must be
 * readable. */
static inline void fill_eight(uint32_t *row, const uint32_t *runs, uint64_t on, uint64_t starts)
{
    uint64_t which =
        bit_a_byte(starts) * 0x0101010101010101; /* byte i: number of starts up to bit i */
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

/* Fills a row of labels, which is padded to a multiple of eight. `finals` has room for the labels
 * of the row's runs, for one label before these labels, and for eight after them. */
static void fill_row(const struct runs_job *job, uint32_t *finals, int y)
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
    const struct runs_job *job = arg;
    int y1 = band_start(job->labels, index + 1, job->bands);
    for (int y = band_start(job->labels, index, job->bands); y < y1; y++)
        fill_row(job, scratch, y);
}

static enum gi_status by_runs(struct gi_queue *queue, struct gi_labels *found,
                              const struct gi_image *src, const struct gi_label *spec,
                              struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct gi_predicate predicate = {src, spec->above, spec->invert};
    struct gi_image *labels = &found->image;
    enum gi_status status = queue->k->alloc(queue, labels, src->width, src->height, 1, GI_U32, err);
    if (status)
        return status;
    advise_huge(labels->data, labels->stride * (size_t)labels->height);
    struct runs_job job = {
        .predicate = &predicate, .labels = labels, .eight = spec->connectivity == 8};
    status = GI_CPU(runs_join)(&job, pool, err);
    if (!status) {
        size_t scratch = ((size_t)src->width / 2 + 10) * sizeof(uint32_t);
        found->n = number_roots(&job);
        status = gi_pool_run(pool, job.bands, fill_band, &job, scratch, err);
    }
    GI_CPU(runs_free)(&job);
    if (status)
        queue->k->release(queue, labels);
    return status;
}

GI_CPU_ONE_WAY(label, "runs", by_runs);
