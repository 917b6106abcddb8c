/* Permutes channels row by row, and copies one channel of the result after another.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/pixel_bytes.h"
#include "kernels/color.h"

enum { CHUNK = 1024 /* pixels: the cache keeps what was read for one channel until the next */ };

struct permute_channels_work {
    struct gi_image *dst;
    const struct gi_image *srcs;
    const struct gi_permute_channels *spec;
    char value[GI_PIXEL_NBYTES_MAX];
};

/* Copies n samples. Neighbouring samples are `to_step` apart at `to`, and `from_step` apart at
 * `from`. A step of 0 repeats one sample. */
static inline void copy_samples(char *to, size_t to_step, const char *from, size_t from_step,
                                size_t n, size_t nbytes)
{
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * to_step * nbytes, from + i * from_step * nbytes, nbytes);
}

static void permute_channels_row(void *arg, int y, void *scratch)
{
    const struct permute_channels_work *work = arg;
    const struct gi_image *dst = work->dst;
    size_t nbytes = gi_type_nbytes(dst->type), made = (size_t)dst->channels;
    size_t width = (size_t)dst->width;
    for (size_t x = 0; x < width; x += CHUNK)
        for (int c = 0; c < dst->channels; c++) {
            int s = work->spec->from[c].source;
            const char *from = work->value + (size_t)c * nbytes;
            size_t step = 0, n = width - x < CHUNK ? width - x : CHUNK;
            char *to = (char *)gi_row(dst, y) + (x * made + (size_t)c) * nbytes;
            if (s >= 0) {
                step = (size_t)work->srcs[s].channels;
                from = (const char *)gi_row(&work->srcs[s], y) +
                       (x * step + (size_t)work->spec->from[c].channel) * nbytes;
            }
            if (nbytes == 1)
                copy_samples(to, made, from, step, n, 1);
            else if (nbytes == 2)
                copy_samples(to, made, from, step, n, 2);
            else
                copy_samples(to, made, from, step, n, 4);
        }
}

static enum gi_status by_rows(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *srcs, const struct gi_permute_channels *spec,
                              struct gi_err *err)
{
    struct permute_channels_work work = {.dst = dst, .srcs = srcs, .spec = spec};
    struct gi_border_spec border = {.mode = GI_BORDER_VALUE};
    memcpy(border.value, spec->value, sizeof border.value);
    gi_border_pixel(work.value, &border, dst);
    return gi_pool_run(gi_cpu_pool(queue), dst->height, permute_channels_row, &work, 0, err);
}

GI_CPU_ONE_WAY(permute_channels, "rows", by_rows);
