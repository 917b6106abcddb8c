/* The image primitives of CUDA against the device's own copy, as a table in Markdown: median of 15
 * by CUDA events after 3 warm-ups, four pairs of images in turn, random samples. A large copy runs
 * ahead of each measurement: it empties the L2 cache and hides the time that a launch takes the
 * CPU. gpu_image [SIDE [WORD]]   SIDE of the square images, 8192 unless said; rows with WORD only
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda.h"

enum { SETS = 4, WARM_UPS = 3, RUNS = 15, TAPS = 61 };

enum which { GAUSSIAN, BOX, DENSE, GRADIENT, THRESHOLD, LUMA };

static const struct row {
    const char *name;
    enum which which;
    int k, channels;
    enum gi_type type;
    double target_us; /* at 8192 x 8192; 0: none */
} rows[] = {
    {"gaussian k=3, u8 gray", GAUSSIAN, 3, 1, GI_U8, 42},
    {"gaussian k=5, u8 gray", GAUSSIAN, 5, 1, GI_U8, 45},
    {"gaussian k=7, u8 gray", GAUSSIAN, 7, 1, GI_U8, 55},
    {"gaussian k=9, u8 gray", GAUSSIAN, 9, 1, GI_U8, 0},
    {"gaussian k=15, u8 gray", GAUSSIAN, 15, 1, GI_U8, 90},
    {"gaussian k=31, u8 gray", GAUSSIAN, 31, 1, GI_U8, 180},
    {"gaussian k=61, u8 gray", GAUSSIAN, 61, 1, GI_U8, 350},
    {"gaussian k=5, u8 RGB", GAUSSIAN, 5, 3, GI_U8, 125},
    {"gaussian k=5, u8 RGBA", GAUSSIAN, 5, 4, GI_U8, 165},
    {"gaussian k=5, u16 gray", GAUSSIAN, 5, 1, GI_U16, 85},
    {"gaussian k=5, f32 gray", GAUSSIAN, 5, 1, GI_F32, 0},
    {"box k=5, u8 gray", BOX, 5, 1, GI_U8, 42},
    {"box k=31, u8 gray", BOX, 31, 1, GI_U8, 60},
    {"box k=301, u8 gray", BOX, 301, 1, GI_U8, 0},
    {"any 3x3, u8 gray", DENSE, 3, 1, GI_U8, 45},
    {"any 5x5, u8 gray", DENSE, 5, 1, GI_U8, 75},
    {"any 9x9, u8 gray", DENSE, 9, 1, GI_U8, 220},
    {"any 15x15, u8 gray", DENSE, 15, 1, GI_U8, 600},
    {"any 31x31, u8 gray", DENSE, 31, 1, GI_U8, 2500},
    {"any 9x9, f32 gray", DENSE, 9, 1, GI_F32, 250},
    {"sobel magnitude, u8 gray", GRADIENT, 3, 1, GI_U8, 0},
    {"threshold, u8 gray", THRESHOLD, 1, 1, GI_U8, 0},
    {"luma, u8 RGB", LUMA, 1, 3, GI_U8, 0},
};

static void stop_at(const char *what, const char *why)
{
    fprintf(stderr, "gpu_image: %s: %s\n", what, why);
    exit(1);
}

/* Random bytes; for floats numbers between 0 and 1. */
static void fill(struct gi_image *image, uint64_t seed)
{
    size_t n = image->stride * (size_t)image->height / 4;
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint32_t v = (uint32_t)(seed >> 32);
        if (image->type == GI_F32)
            ((float *)image->data)[i] = (float)v / 4294967296.0f;
        else
            ((uint32_t *)image->data)[i] = v;
    }
}

static enum gi_status run(struct gi_context *cx, const struct row *row, struct gi_image *dst,
                          const struct gi_image *src, struct gi_err *err)
{
    static float weights[TAPS * TAPS];
    float taps[TAPS];
    struct gi_edge edge = {GI_BORDER_CLAMP, {0}};
    struct gi_finish store = {GI_FINISH_STORE, 0, 0, 0};
    int k = row->k;
    if (row->which == BOX) {
        struct gi_box spec = {k, GI_ALPHA_PLAIN, edge};
        return cx->k->box(cx, dst, src, &spec, err);
    }
    if (row->which == GRADIENT) {
        struct gi_gradient spec = {{1, 2, 1}, GI_ALPHA_PLAIN, edge};
        return cx->k->gradient(cx, dst, src, &spec, err);
    }
    if (row->which == THRESHOLD)
        return cx->k->threshold(cx, dst, src, 127, false, err);
    if (row->which == LUMA)
        return cx->k->luma(cx, dst, src, err);
    double sum = 0, sigma = k / 6.0;
    for (int i = 0; i < k; i++)
        sum += taps[i] = (float)exp(-(i - k / 2) * (i - k / 2) / (2 * sigma * sigma));
    for (int i = 0; i < k; i++)
        taps[i] = (float)(taps[i] / sum);
    if (row->which == GAUSSIAN) {
        struct gi_separable spec = {taps, taps, k, k, k / 2, k / 2, 1, GI_ALPHA_PLAIN, edge, store};
        return cx->k->convolve_separable(cx, dst, src, &spec, err);
    }
    for (int i = 0; i < k * k; i++)
        weights[i] = 1.0f / (float)(k * k + i);
    struct gi_dense spec = {weights, k, k, k / 2, k / 2, 1, GI_ALPHA_PLAIN, edge, store};
    return cx->k->convolve_2d(cx, dst, src, &spec, err);
}

static int compare(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;
    return d < 0 ? -1 : d > 0;
}

/* Median microseconds of `row`, or of a plain copy where `row` is NULL. */
static double measure(struct gi_context *cx, const struct row *row, struct gi_image *dst,
                      struct gi_image *src)
{
    struct gi_cuda_context *cu = gi_cuda(cx);
    struct gi_err err;
    double us[RUNS];
    for (int i = -WARM_UPS; i < RUNS; i++) {
        int set = (i + WARM_UPS) % SETS, ahead = (set + 2) % SETS;
        cudaMemcpyAsync(dst[ahead].data, src[ahead].data, src->stride * (size_t)src->height,
                        cudaMemcpyDeviceToDevice, cu->stream);
        cx->k->mark(cx, 0);
        if (!row)
            cudaMemcpyAsync(dst[set].data, src[set].data, src->stride * (size_t)src->height,
                            cudaMemcpyDeviceToDevice, cu->stream);
        else if (run(cx, row, &dst[set], &src[set], &err))
            stop_at(row->name, err.text);
        cx->k->mark(cx, 1);
        if (cx->k->sync(cx, &err))
            stop_at(row ? row->name : "copy", err.text);
        if (i >= 0)
            us[i] = 1e3 * cx->k->elapsed_ms(cx, 0, 1);
    }
    qsort(us, RUNS, sizeof *us, compare);
    return us[RUNS / 2];
}

static void bench(struct gi_context *cx, const struct row *row, int side)
{
    struct gi_image host, src[SETS], dst[SETS];
    struct gi_err err;
    if (gi_image_alloc(&host, side, side, row->channels, row->type, &err))
        stop_at(row->name, err.text);
    for (int i = 0; i < SETS; i++) {
        fill(&host, 1234 + (uint64_t)i);
        int channels = row->which == LUMA ? 1 : row->channels;
        if (cx->k->upload(cx, &src[i], &host, &err) ||
            cx->k->alloc(cx, &dst[i], side, side, row->channels, row->type, &err))
            stop_at(row->name, err.text);
        dst[i].channels = channels;
    }
    double us = measure(cx, row, dst, src), copy = measure(cx, NULL, dst, src);
    double in = (double)gi_row_nbytes(&src[0]) * side, out = (double)gi_row_nbytes(&dst[0]) * side;
    double rate = (in + out) / us * 1e-3, copy_rate = 2 * in / copy * 1e-3;
    printf("| %-24s | %8.1f | %6.0f | %6.0f | %5.1f | ", row->name, us, rate, copy_rate,
           100 * rate / copy_rate);
    if (row->target_us > 0 && side == 8192)
        printf("%6.0f | %s |\n", row->target_us, us <= row->target_us ? "yes" : "no");
    else
        printf("       |  |\n");
    fflush(stdout);
    for (int i = 0; i < SETS; i++) {
        cx->k->release(cx, &src[i]);
        cx->k->release(cx, &dst[i]);
    }
    gi_image_free(&host);
}

int main(int argc, char **argv)
{
    int side = argc > 1 ? atoi(argv[1]) : 8192;
    const char *word = argc > 2 ? argv[2] : "";
    const struct gi_kernels *k = gi_kernels_cuda();
    struct gi_device_info info;
    struct gi_open_options options = {8, 0, 0};
    struct gi_context *cx;
    struct gi_err err;
    if (k->probe(&info, 1, &err) < 1)
        stop_at("probe", "no device");
    if (k->open(&cx, &options, &err))
        stop_at("open", err.text);
    printf("%s, %d x %d\n\n", info.name, side, side);
    printf("| work | us | GB/s | copy GB/s | %% of copy | target us | met |\n");
    printf("|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(rows[i].name, word))
            bench(cx, &rows[i], side);
    k->close(&cx);
    return 0;
}
