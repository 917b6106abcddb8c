/* Stream compaction of the foreground pixels into a list. Each band of rows counts its pixels;
 * the index of each band's first entry in the list is a prefix sum of the counts. Then each band
 * writes its entries.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/bit_rows.h"

struct select_job {
    const struct gi_predicate *predicate;
    const struct gi_image *values;
    struct gi_pixel_list *list;
    uint64_t *first; /* bands + 1 entries: counts, then the index of each band's first entry */
    int bands;
};

static void count_band(void *arg, int index, void *scratch)
{
    const struct select_job *job = arg;
    uint64_t count = 0;
    int y1 = band_start(job->values, index + 1, job->bands);
    for (int y = band_start(job->values, index, job->bands); y < y1; y++)
        count += foreground_row(scratch, job->predicate, y);
    job->first[index + 1] = count;
}

static void gather_row(float *value, const uint32_t *x, size_t n, const struct gi_image *values,
                       int y)
{
    const void *row = gi_row(values, y);
    GI_CPU_TYPES(values->type, for (size_t i = 0; i < n; i++) value[i] = ((const T *)row)[x[i]]);
}

static void write_band(void *arg, int index, void *scratch)
{
    const struct select_job *job = arg;
    const struct gi_pixel_list *list = job->list;
    uint64_t *words = scratch, at = job->first[index];
    int y1 = band_start(job->values, index + 1, job->bands);
    for (int y = band_start(job->values, index, job->bands); y < y1; y++) {
        foreground_row(words, job->predicate, y);
        size_t n = bit_positions(list->x + at, words, row_words(job->values->width));
        for (size_t i = 0; i < n; i++)
            list->y[at + i] = (uint32_t)y;
        gather_row(list->value + at, list->x + at, n, job->values, y);
        at += n;
    }
}

static enum gi_status list_alloc(struct gi_pixel_list *list, uint64_t n, struct gi_err *err)
{
    size_t nbytes;
    *list = (struct gi_pixel_list){.n = n};
    if (gi_mul_size(&nbytes, (size_t)n, sizeof(uint32_t))) {
        list->x = huge_malloc(nbytes);
        list->y = huge_malloc(nbytes);
        list->value = huge_malloc(nbytes);
    }
    if (list->x && list->y && list->value)
        return GI_OK;
    gi_pixel_list_free(list);
    return gi_fail(err, GI_E_MEMORY, "out of memory: %llu points", (unsigned long long)n);
}

static enum gi_status by_bits(struct gi_queue *queue, struct gi_pixel_list *list,
                              const struct gi_image *values, const struct gi_predicate *predicate,
                              struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct select_job job = {.predicate = predicate, .values = values, .list = list};
    *list = (struct gi_pixel_list){0};
    enum gi_status status = gi_samples_check("compact", GI_SAMPLE_TYPES, predicate->on, err);
    if (status)
        return status;
    job.bands = band_count(pool, values, BAND_PIXELS);
    job.first = calloc((size_t)job.bands + 1, sizeof *job.first);
    if (!job.first)
        return gi_fail(err, GI_E_MEMORY, "out of memory: compact");
    size_t scratch = (size_t)row_words(values->width) * sizeof(uint64_t);
    status = gi_pool_run(pool, job.bands, count_band, &job, scratch, err);
    for (int i = 0; i < job.bands; i++)
        job.first[i + 1] += job.first[i];
    if (!status)
        status = list_alloc(list, job.first[job.bands], err);
    if (!status && list->n)
        status = gi_pool_run(pool, job.bands, write_band, &job, scratch, err);
    if (status)
        gi_pixel_list_free(list);
    free(job.first);
    return status;
}

GI_CPU_ONE_WAY(compact, "bits", by_bits);
