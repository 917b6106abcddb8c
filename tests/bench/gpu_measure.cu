/* Times the measuring kernels by CUDA events: median of 15 after 3 warm-ups, four buffer sets in
 * turn, beside the device copy of the same run and CUB. Prints a Markdown table.
 * Usage: gpu_measure [WIDTH HEIGHT] [ROW], ROW a part of a row's name.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include "kernels/cuda/measure.h"

enum { SETS = 4, WARM_UPS = 3, RUNS = 15 };

enum content { RANDOM, CONSTANT, RAMP, NOISE_41, CHECKERS, STRIPES_X, STRIPES_Y, SPIRAL };

static int width = 8192, height = 8192;
static const char *only = "";
static struct gi_context *cx;
static struct gi_cuda_context *cu;
static double copy_rate; /* bytes a second, both ways counted */

/* A copy runs ahead of each measurement: it empties the L2 cache and hides the time that a launch
 * takes the CPU. */
enum { AHEAD_NBYTES = 256 << 20 };
static char *ahead;

static void die(const char *what)
{
    fprintf(stderr, "gpu_measure: %s\n", what);
    exit(1);
}

static void must(cudaError_t error)
{
    if (error != cudaSuccess)
        die(cudaGetErrorString(error));
}

static void must_gi(enum gi_status status, const struct gi_err *err)
{
    if (status)
        die(err->text);
}

/* ---- contents ---- */

static __device__ uint32_t hash(uint64_t i)
{
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (uint32_t)(z >> 32);
}

/* A sample as a part of full scale, 0 to 1. */
static __device__ float content_at(enum content content, int x, int y, int width, int height,
                                   uint64_t i)
{
    int ring = min(min(x, y), min(width - 1 - x, height - 1 - y));
    switch (content) {
    case RANDOM:
        return (float)(hash(i) >> 8) / 16777216.0f;
    case CONSTANT:
        return 0.75f;
    case RAMP: /* smooth with a little noise, as a photograph */
        return 0.9f * (float)(x + y) / (float)(width + height) +
               (float)(hash(i) >> 8) / 335544320.0f;
    case NOISE_41:
        return hash(i) < 1760936591u ? 0.75f : 0.25f;
    case CHECKERS:
        return (x + y) % 2 ? 0.75f : 0.25f;
    case STRIPES_X:
        return y % 2 ? 0.75f : 0.25f;
    case STRIPES_Y:
        return x % 2 ? 0.75f : 0.25f;
    default: /* rings of 1 pixel, each open to the next at one place */
        return (ring % 2 == 0) != (x == ring && (y == ring + 1 || y == ring + 2)) ? 0.75f : 0.25f;
    }
}

template <typename T>
static __global__ void fill(struct gi_image image, enum content content, uint64_t seed)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t row = (size_t)image.width * image.channels;
    if (i >= row * image.height)
        return;
    int y = (int)(i / row), sample = (int)(i % row);
    float scale = sizeof(T) == 1 ? 255.99f : sizeof(T) == 2 ? 65535.99f : 1.0f;
    float v =
        content_at(content, sample / image.channels, y, image.width, image.height, i ^ seed << 40);
    ((T *)((char *)image.data + (size_t)y * image.stride))[sample] = (T)(v * scale);
}

static struct gi_image make(int channels, enum gi_type type, enum content content, uint64_t seed)
{
    struct gi_image image;
    struct gi_err err = {};
    must_gi(cx->k->alloc(cx, &image, width, height, channels, type, &err), &err);
    size_t n = (size_t)width * height * channels;
    unsigned blocks = (unsigned)((n + 255) / 256);
    if (type == GI_U8)
        fill<uint8_t><<<blocks, 256, 0, cu->stream>>>(image, content, seed);
    else if (type == GI_U16)
        fill<uint16_t><<<blocks, 256, 0, cu->stream>>>(image, content, seed);
    else
        fill<float><<<blocks, 256, 0, cu->stream>>>(image, content, seed);
    must(cudaGetLastError());
    return image;
}

/* ---- timing ---- */

struct work {
    const char *name;
    struct gi_image images[SETS], labels[SETS];
    struct gi_histogram_spec spec;
    int connectivity;
    uint32_t n; /* labels */
    void *scratch, *out, *out2;
    size_t scratch_nbytes;
};

typedef void run_fn(struct work *work, int set);

static void sort(double *v, int n)
{
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && v[j] < v[j - 1]; j--) {
            double t = v[j];
            v[j] = v[j - 1];
            v[j - 1] = t;
        }
}

static double microseconds(run_fn *run, struct work *work)
{
    cudaEvent_t from, to;
    double times[RUNS];
    must(cudaEventCreate(&from));
    must(cudaEventCreate(&to));
    for (int i = 0; i < WARM_UPS + RUNS; i++) {
        float ms;
        must(cudaMemcpyAsync(ahead, ahead + AHEAD_NBYTES, AHEAD_NBYTES, cudaMemcpyDeviceToDevice,
                             cu->stream));
        must(cudaEventRecord(from, cu->stream));
        run(work, i % SETS);
        must(cudaEventRecord(to, cu->stream));
        must(cudaEventSynchronize(to));
        must(cudaEventElapsedTime(&ms, from, to));
        if (i >= WARM_UPS)
            times[i - WARM_UPS] = 1000.0 * (double)ms;
    }
    cudaEventDestroy(from);
    cudaEventDestroy(to);
    sort(times, RUNS);
    return times[RUNS / 2];
}

/* A row: `nbytes` read and written at the least; peer NULL: none; target 0: none. */
static void row(const char *name, run_fn *run, run_fn *peer, struct work *work, double nbytes,
                double target)
{
    double us = microseconds(run, work), floor_us = copy_rate ? nbytes / copy_rate * 1e6 : 0;
    printf("| %-52s | %8.1f | %6.0f | %5.0f %% | ", name, us, nbytes / us / 1000,
           100 * (copy_rate ? floor_us / us : 1));
    if (peer)
        printf("%8.1f | ", microseconds(peer, work));
    else
        printf("%8s | ", "");
    if (target > 0)
        printf("%6.0f %s |\n", target, us <= target ? "met" : "MISSED");
    else
        printf("%10s |\n", "");
    fflush(stdout);
}

static void run_copy(struct work *w, int set)
{
    must(cudaMemcpyAsync(w->out, w->images[set].data, w->images[set].stride * w->images[set].height,
                         cudaMemcpyDeviceToDevice, cu->stream));
}

static void run_histogram(struct work *w, int set)
{
    struct gi_err err = {};
    must(cudaMemsetAsync(w->out, 0, (size_t)w->images[set].channels * w->spec.nbins * 8,
                         cu->stream));
    must_gi(gi_cuda_histogram_launch(cu, (uint64_t *)w->out, &w->images[set], &w->spec, &err),
            &err);
}

static void run_moments(struct work *w, int set)
{
    static const float lo[4] = {0, 0, 0, 0}, hi[4] = {1, 1, 1, 1};
    struct gi_err err = {};
    must(cudaMemsetAsync(w->out, 0, 4 * sizeof(struct gi_sums), cu->stream));
    must_gi(gi_cuda_moments_launch(cu, (struct gi_sums *)w->out, &w->images[set], lo, hi, &err),
            &err);
}

static struct gi_predicate above_half(struct work *w, int set)
{
    return {&w->images[set], w->images[set].type == GI_F32 ? 0.5f : 127.0f, false};
}

static void run_select(struct work *w, int set)
{
    struct gi_err err = {};
    struct gi_predicate p = above_half(w, set);
    must_gi(gi_cuda_select_launch(cu, (uint32_t *)w->out, w->out2, (device_u64 *)w->scratch,
                                  (char *)w->scratch + 16, &w->images[set], &p, &err),
            &err);
}

static void run_label(struct work *w, int set)
{
    struct gi_err err = {};
    struct gi_predicate p = above_half(w, set);
    must_gi(gi_cuda_label_launch(cu, &w->labels[set], (device_u64 *)w->scratch,
                                 (char *)w->scratch + 16, &p, w->connectivity, &err),
            &err);
}

static void run_stats(struct work *w, int set)
{
    struct gi_err err = {};
    must_gi(gi_cuda_region_stats_launch(cu, (struct gi_region_sums *)w->out, w->n, &w->labels[set],
                                        &w->images[set], 0, 1, &err),
            &err);
}

static void run_label_stats(struct work *w, int set)
{
    run_label(w, set);
    run_stats(w, set);
}

/* ---- peers ---- */

template <typename T> static void cub_histogram(struct work *w, int set)
{
    const T *samples = (const T *)w->images[set].data;
    size_t n = (size_t)width * height, nbytes = w->scratch_nbytes;
    int *counts = (int *)w->out, levels = w->spec.nbins + 1;
    must(cub::DeviceHistogram::HistogramEven(w->scratch, nbytes, samples, counts, levels, 0,
                                             w->spec.nbins, (int)n, cu->stream));
}

static void cub_histogram_rgba(struct work *w, int set)
{
    int *counts[3] = {(int *)w->out, (int *)w->out + 256, (int *)w->out + 512};
    int levels[3] = {257, 257, 257}, low[3] = {0, 0, 0}, high[3] = {256, 256, 256};
    size_t nbytes = w->scratch_nbytes;
    must((cub::DeviceHistogram::MultiHistogramEven<4, 3>(
        w->scratch, nbytes, (const uint8_t *)w->images[set].data, counts, levels, low, high,
        width * height, cu->stream)));
}

struct above_127 {
    const uint8_t *samples;
    __device__ bool operator()(uint32_t i) const
    {
        return samples[i] > 127;
    }
};

static void cub_select(struct work *w, int set)
{
    size_t nbytes = w->scratch_nbytes - 16;
    must(cub::DeviceSelect::If((char *)w->scratch + 16, nbytes,
                               thrust::counting_iterator<uint32_t>(0), (uint32_t *)w->out,
                               (unsigned long long *)w->scratch, width * height,
                               above_127{(const uint8_t *)w->images[set].data}, cu->stream));
}

/* ---- rows ---- */

static bool wanted(const char *name)
{
    return strstr(name, only) != NULL;
}

static void work_make(struct work *w, int channels, enum gi_type type, enum content content,
                      bool labels)
{
    struct gi_err err = {};
    *w = {};
    w->connectivity = 8;
    w->scratch_nbytes = 64 << 20;
    must(cudaMalloc(&w->scratch, w->scratch_nbytes));
    for (int i = 0; i < SETS; i++) {
        w->images[i] = make(channels, type, content, i);
        if (labels)
            must_gi(cx->k->alloc(cx, &w->labels[i], width, height, 1, GI_U32, &err), &err);
    }
}

static void work_free(struct work *w)
{
    for (int i = 0; i < SETS; i++) {
        cx->k->release(cx, &w->images[i]);
        if (w->labels[i].data)
            cx->k->release(cx, &w->labels[i]);
    }
    must(cudaFree(w->scratch));
    must(cudaFree(w->out));
    if (w->out2)
        must(cudaFree(w->out2));
}

static void *room(size_t nbytes)
{
    void *p;
    must(cudaMalloc(&p, nbytes));
    return p;
}

static void bench_histogram(const char *name, int channels, enum gi_type type, enum content content,
                            enum gi_histogram_key key, int nbins, run_fn *peer, double target)
{
    struct work w;
    if (!wanted(name))
        return;
    work_make(&w, channels, type, content, false);
    w.out = room(4 * 65536 * 8);
    w.spec.key = key;
    w.spec.nbins = nbins;
    w.spec.hi = 1;
    row(name, run_histogram, peer, &w, (double)gi_row_nbytes(&w.images[0]) * height, target);
    work_free(&w);
}

static void bench_moments(const char *name, int channels, enum gi_type type, double target)
{
    struct work w;
    if (!wanted(name))
        return;
    work_make(&w, channels, type, RANDOM, false);
    w.out = room(4096);
    row(name, run_moments, NULL, &w, (double)gi_row_nbytes(&w.images[0]) * height, target);
    work_free(&w);
}

static void bench_select(const char *name, enum gi_type type, enum content content, double kept,
                         double target)
{
    struct work w;
    if (!wanted(name))
        return;
    work_make(&w, 1, type, content, false);
    double pixels = (double)width * height, size = (double)gi_type_nbytes(type);
    w.out = room((size_t)pixels * 4);
    w.out2 = room((size_t)pixels * 4);
    row(name, run_select, type == GI_U8 && content == RANDOM ? cub_select : NULL, &w,
        pixels * (size + kept * (4 + size)), target);
    work_free(&w);
}

static void bench_label(const char *name, enum content content, int connectivity, double target)
{
    struct work w;
    struct gi_err err = {};
    char text[96];
    device_u64 n;
    if (!wanted(name))
        return;
    work_make(&w, 1, GI_U8, content, true);
    w.connectivity = connectivity;
    for (int i = 0; i < SETS; i++)
        run_label(&w, i);
    must(cudaMemcpyAsync(&n, w.scratch, sizeof n, cudaMemcpyDeviceToHost, cu->stream));
    must_gi(cx->k->sync(cx, &err), &err);
    w.n = (uint32_t)n;
    w.out = room((n + 1) * sizeof(struct gi_region_sums));
    double pixels = (double)width * height, table = (double)n * sizeof(struct gi_region_sums);
    snprintf(text, sizeof text, "label %s, %d-connected", name, connectivity);
    row(text, run_label, NULL, &w, pixels * 5, 0);
    snprintf(text, sizeof text, "statistics of these %u", w.n);
    row(text, run_stats, NULL, &w, pixels * 5 + table, 0);
    row("both", run_label_stats, NULL, &w, pixels * 10 + table, target);
    work_free(&w);
}

static void bench_copy(void)
{
    struct work w;
    work_make(&w, 4, GI_U8, RANDOM, false);
    double nbytes = 2 * (double)w.images[0].stride * height;
    w.out = room((size_t)nbytes / 2);
    copy_rate = nbytes / microseconds(run_copy, &w) * 1e6;
    row("device to device copy, u8 RGBA", run_copy, NULL, &w, nbytes, 0);
    work_free(&w);
}

int main(int argc, char **argv)
{
    struct gi_open_options options = {};
    struct gi_err err = {};
    struct cudaDeviceProp properties;
    if (argc > 2) {
        width = atoi(argv[1]);
        height = atoi(argv[2]);
    }
    only = argc == 2 ? argv[1] : argc == 4 ? argv[3] : "";
    must_gi(gi_kernels_cuda()->open(&cx, &options, &err), &err);
    cu = gi_cuda(cx);
    must(cudaGetDeviceProperties(&properties, 0));
    must(cudaMalloc((void **)&ahead, 2 * (size_t)AHEAD_NBYTES));
    printf("%s, %d x %d, median of %d\n\n", properties.name, width, height, RUNS);
    printf("| work | us | GB/s | of copy rate | CUB us | target us |\n|---|---|---|---|---|---|\n");
    bench_copy();
    bench_histogram("histogram u8 gray, random", 1, GI_U8, RANDOM, GI_KEY_VALUE, 256,
                    cub_histogram<uint8_t>, 30);
    bench_histogram("histogram u8 gray, constant", 1, GI_U8, CONSTANT, GI_KEY_VALUE, 256,
                    cub_histogram<uint8_t>, 21);
    bench_histogram("histogram u8 gray, ramp", 1, GI_U8, RAMP, GI_KEY_VALUE, 256,
                    cub_histogram<uint8_t>, 0);
    bench_histogram("histogram u8 RGB, random", 3, GI_U8, RANDOM, GI_KEY_VALUE, 256, NULL, 0);
    bench_histogram("histogram u8 RGBA, random", 4, GI_U8, RANDOM, GI_KEY_VALUE, 256,
                    cub_histogram_rgba, 90);
    bench_histogram("histogram u8 RGBA, constant", 4, GI_U8, CONSTANT, GI_KEY_VALUE, 256,
                    cub_histogram_rgba, 0);
    bench_histogram("histogram u16 gray, random", 1, GI_U16, RANDOM, GI_KEY_VALUE, 65536,
                    cub_histogram<uint16_t>, 200);
    bench_histogram("histogram u16 gray, constant", 1, GI_U16, CONSTANT, GI_KEY_VALUE, 65536,
                    cub_histogram<uint16_t>, 100);
    bench_histogram("histogram f32 gray, 256 bins of a range, random", 1, GI_F32, RANDOM,
                    GI_KEY_RANGE, 256, NULL, 0);
    bench_histogram("histogram f32 gray, upper 16 bits, random", 1, GI_F32, RANDOM,
                    GI_KEY_FLOAT_HIGH, 65536, NULL, 0);
    bench_moments("moments u8 gray", 1, GI_U8, 22);
    bench_moments("moments u16 RGB", 3, GI_U16, 0);
    bench_moments("moments f32 gray", 1, GI_F32, 0);
    bench_select("select u8 gray, half kept", GI_U8, RANDOM, 0.5, 75);
    bench_select("select u8 gray, all kept", GI_U8, CONSTANT, 1, 0);
    bench_select("select f32 gray, half kept", GI_F32, RANDOM, 0.5, 0);
    bench_label("noise 41 %", NOISE_41, 8, 1000);
    bench_label("noise 41 %", NOISE_41, 4, 0);
    bench_label("half", RANDOM, 8, 0);
    bench_label("all foreground", CONSTANT, 8, 0);
    bench_label("checkerboard", CHECKERS, 8, 0);
    bench_label("checkerboard", CHECKERS, 4, 0);
    bench_label("rows", STRIPES_X, 8, 0);
    bench_label("columns", STRIPES_Y, 8, 0);
    bench_label("spiral", SPIRAL, 4, 0);
    must(cudaFree(ahead));
    cx->k->close(&cx);
    return 0;
}
