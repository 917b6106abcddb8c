/* XYB on several scales. A job makes two rows of a scale, and from these a row of the next scale in
 * linear light. Rows in linear light are stored as three planes, so that vectors run along them.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/xyb.h"

enum { PIECE = 128 }; /* pixels that are converted at a time */

struct scale_job {
    const struct gi_image *src;
    const float *table;
    const float *light; /* rows of this scale; NULL: of `src` */
    float *half;        /* rows of the next scale; NULL: none */
    const struct gi_xyb_scale *scale;
    struct gi_image *dst;
};

static inline void load_bytes(float *to, const uint8_t *row, size_t width, size_t channels,
                              const float *table)
{
    for (size_t x = 0; x < width; x++)
        for (size_t c = 0; c < 3; c++)
            to[c * width + x] = table[row[x * channels + (channels == 3 ? c : 0)]];
}

/* Loads row y of `src` as three planes of linear light. */
static void load_row(float *to, const struct scale_job *job, int y)
{
    const struct gi_image *src = job->src;
    size_t width = (size_t)src->width, channels = (size_t)src->channels;
    const void *row = gi_row(src, y);
    if (src->type == GI_U8) {
        load_bytes(to, row, width, channels, job->table);
        return;
    }
    for (size_t x = 0; x < width; x++)
        for (size_t c = 0; c < 3; c++) {
            size_t i = x * channels + (channels == 3 ? c : 0);
            to[c * width + x] = src->type == GI_U16 ? job->table[((const uint16_t *)row)[i]]
                                                    : ((const float *)row)[i];
        }
}

/* Converts n pixels, at most PIECE, of planes that are `width` samples apart. */
static inline void convert_piece(float *const planes[3], const float *light, size_t width, size_t n)
{
    double lms[3][PIECE];
    float guesses[3][PIECE];
    uint32_t bits[3][PIECE];
    for (size_t x = 0; x < n; x++) {
        double mixed[3];
        gi_xyb_mix(mixed, light[x], light[width + x], light[2 * width + x]);
        for (int c = 0; c < 3; c++) {
            lms[c][x] = mixed[c];
            guesses[c][x] = (float)mixed[c];
        }
    }
    memcpy(bits, guesses, sizeof bits);
    for (int c = 0; c < 3; c++)
        for (size_t x = 0; x < n; x++)
            bits[c][x] = gi_xyb_guess(bits[c][x]);
    memcpy(guesses, bits, sizeof bits);
    for (int c = 0; c < 3; c++)
        for (size_t x = 0; x < n; x++)
            lms[c][x] = gi_xyb_cube_root(lms[c][x], (double)guesses[c][x]);
    float *restrict x_row = planes[0], *restrict y_row = planes[1], *restrict b_row = planes[2];
    for (size_t x = 0; x < n; x++) {
        float xyb[3];
        gi_xyb_of_roots(xyb, lms[0][x], lms[1][x], lms[2][x]);
        x_row[x] = xyb[0];
        y_row[x] = xyb[1];
        b_row[x] = xyb[2];
    }
}

static void convert_row(const struct scale_job *job, const float *light, int y)
{
    const struct gi_xyb_scale *scale = job->scale;
    size_t width = (size_t)scale->width;
    for (size_t x = 0; x < width; x += PIECE) {
        float *planes[3];
        for (int c = 0; c < 3; c++)
            planes[c] = (float *)gi_row(job->dst, scale->y + c * scale->height + y) + scale->x + x;
        if (width - x >= PIECE)
            convert_piece(planes, light + x, width, PIECE);
        else
            convert_piece(planes, light + x, width, width - x);
    }
}

static void halve_rows(float *restrict to, const float *restrict p, const float *restrict q,
                       size_t width)
{
    size_t half = (width + 1) / 2;
    for (size_t c = 0; c < 3; c++, p += width, q += width, to += half) {
        for (size_t x = 0; x < width / 2; x++)
            to[x] = gi_xyb_mean(p[2 * x], p[2 * x + 1], q[2 * x], q[2 * x + 1]);
        if (width % 2)
            to[half - 1] = gi_xyb_mean(p[width - 1], p[width - 1], q[width - 1], q[width - 1]);
    }
}

static void make_rows(void *arg, int index, void *memory)
{
    const struct scale_job *job = arg;
    const struct gi_xyb_scale *scale = job->scale;
    size_t width = (size_t)scale->width, half = (width + 1) / 2;
    const float *rows[2];
    for (int i = 0; i < 2; i++) {
        int y = 2 * index + i;
        if (y == scale->height) { /* the last row of an odd height is repeated */
            rows[1] = rows[0];
            break;
        }
        float *loaded = (float *)memory + (size_t)i * 3 * width;
        if (!job->light)
            load_row(loaded, job, y);
        rows[i] = job->light ? job->light + (size_t)y * 3 * width : loaded;
        convert_row(job, rows[i], y);
    }
    if (job->half)
        halve_rows(job->half + (size_t)index * 3 * half, rows[0], rows[1], width);
}

static size_t samples_of(const struct gi_xyb_scale *scale)
{
    return 3 * (size_t)scale->width * (size_t)scale->height;
}

static enum gi_status by_rows(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_xyb *spec,
                              struct gi_err *err)
{
    const struct gi_xyb_layout layout = gi_xyb_layout_of(src->width, src->height);
    size_t samples = 0;
    for (int s = 1; s < layout.n; s++)
        samples += samples_of(&layout.scales[s]);
    float *memory = malloc(samples ? samples * sizeof *memory : 1), *half = memory;
    if (!memory)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu samples", samples);
    struct scale_job job = {.src = src, .table = spec->light, .dst = dst};
    enum gi_status status = GI_OK;
    for (int s = 0; s < layout.n && !status; s++) {
        job.scale = &layout.scales[s];
        job.half = s + 1 < layout.n ? half : NULL;
        status = gi_pool_run(gi_cpu_pool(queue), (job.scale->height + 1) / 2, make_rows, &job,
                             6 * (size_t)job.scale->width * sizeof(float), err);
        job.light = half;
        half += job.half ? samples_of(&layout.scales[s + 1]) : 0;
    }
    free(memory);
    return status;
}

GI_CPU_ONE_WAY(xyb_scales, "rows", by_rows);
