/* Measures how many bytes of samples per second a device decodes and encodes when all its threads
 * or queues work at once, as in a batch. On a CPU the codecs are those of imgio, on a GPU the
 * primitives of the family codec, to which scans and from which results cross the bus.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "cli/process.h"
#include "cli/run/rates.h"
#include "cli/run/session_device.h"
#include "imgio/coded.h"
#include "imgio/imgio.h"
#include "imgio/small.h"
#include "kernels/codec.h"
#include "kernels/kernels.h"
#include "kernels/parallel.h"

enum {
    WIDTH = 1920,
    HEIGHT = 1080,
    TIME_MS = 100,
    TURNS_MAX = 200,
};

enum work { DECODE_JPEG, DECODE_PNG, ENCODE_JPEG, ENCODE_PNG, WORKS };

/* What all threads have in common. */
struct codecs {
    const struct gi_image *image; /* RGB on the host */
    struct gi_image coded[2];     /* files of it: of DECODE_JPEG and of DECODE_PNG */
    struct gi_coding codings[WORKS];
    struct gi_device *device; /* a GPU; NULL for a CPU */
    struct worker *workers;
    enum work work;
    int turns; /* images per worker */
};

/* A thread of a CPU, or a queue of a GPU with the image on it. */
struct worker {
    struct gi_queue *queue;
    struct gi_image image;
    struct gi_err err;
};

static const struct gi_save_options usual = {.quality = GI_DEFAULT_QUALITY,
                                             .compression = GI_DEFAULT_COMPRESSION};
static const char *const names[WORKS] = {"a.jpg", "a.png", "a.jpg", "a.png"};

/* Fills the image with noisy waves, whose JPEG has about as many bytes as one of a photograph. */
static void draw(struct gi_image *image)
{
    uint32_t noise = 1;
    for (int y = 0; y < image->height; y++) {
        uint8_t *row = gi_row(image, y);
        for (int i = 0; i < image->width * image->channels; i++) {
            int wave = abs((i / 5 + y) % 256 - 128) + abs((i / 3 + 7 * y) % 64 - 32) / 4;
            noise = noise * 1664525 + 1013904223; /* constants: Numerical Recipes, 1992 */
            row[i] = (uint8_t)(40 + wave + (int)(noise >> 29));
        }
    }
}

static enum gi_status on_cpu(const struct codecs *codecs, struct gi_err *err)
{
    void *bytes;
    size_t nbytes;
    if (codecs->work >= ENCODE_JPEG) {
        enum gi_status status = gi_save_memory(&bytes, &nbytes, codecs->image, NULL,
                                               names[codecs->work], &usual, NULL, err);
        if (!status)
            free(bytes);
        return status;
    }
    const struct gi_load_options any = {.limits = {GI_DEFAULT_MAX_PIXELS, GI_DEFAULT_MAX_BYTES}};
    const struct gi_coded *coded = codecs->coded[codecs->work].coded;
    struct gi_image image;
    enum gi_status status =
        gi_load_memory(&image, NULL, NULL, gi_coded_bytes(coded), (size_t)coded->file.width,
                       names[codecs->work], &any, NULL, err);
    gi_image_free(&image);
    return status;
}

/* Decodes a file into the image of the worker. */
static enum gi_status decode_on_gpu(const struct gi_coded *coded, struct worker *worker)
{
    struct gi_queue *queue = worker->queue;
    const struct gi_kernels *k = queue->k;
    const struct gi_image scan = gi_coded_scan(coded);
    struct gi_image src;
    enum gi_status status = k->upload(queue, &src, &scan, NULL, &worker->err);
    if (status)
        return status;
    status = gi_coded_decode(queue, &worker->image, &src, coded, &worker->err);
    k->release(queue, &src);
    return status;
}

static enum gi_status on_gpu(const struct codecs *codecs, struct worker *worker)
{
    struct gi_queue *queue = worker->queue;
    const struct gi_kernels *k = queue->k;
    const struct gi_allocator *pinned = k->host_allocator(codecs->device);
    struct gi_encoded encoded = {0};
    enum gi_status status;
    if (codecs->work < ENCODE_JPEG) {
        status = decode_on_gpu(codecs->coded[codecs->work].coded, worker);
    } else if (codecs->work == ENCODE_JPEG) {
        const struct gi_jpeg_encode spec = {&codecs->codings[ENCODE_JPEG].frame, pinned};
        status = k->jpeg_encode(queue, &encoded.scan, &worker->image, &spec, &worker->err);
    } else {
        const struct gi_png_encode spec = {codecs->codings[ENCODE_PNG].strip_rows, pinned};
        status = k->png_encode(queue, &encoded.strips, &worker->image, &spec, &worker->err);
    }
    gi_encoded_free(&encoded);
    return status;
}

static void work(void *arg, int index, void *scratch)
{
    const struct codecs *codecs = arg;
    struct worker *worker = &codecs->workers[index];
    for (int i = 0; i < codecs->turns && !worker->err.status; i++) {
        if (codecs->device)
            on_gpu(codecs, worker);
        else
            on_cpu(codecs, &worker->err);
    }
}

/* Runs the work `turns` times on each of n workers. Returns bytes per second. */
static double run(struct codecs *codecs, struct gi_pool *pool, int n, int turns, struct gi_err *err)
{
    codecs->turns = turns;
    double start = gi_now_ms();
    gi_pool_run(pool, n, work, codecs, 0, err);
    double seconds = 1e-3 * (gi_now_ms() - start);
    for (int i = 0; i < n && !err->status; i++)
        *err = codecs->workers[i].err;
    return (double)n * turns * (double)gi_image_nbytes(codecs->image) / seconds;
}

/* Measures the rate of the present work. Does not change *rate after an error. */
static void measure_work(double *rate, struct codecs *codecs, struct gi_pool *pool, int n,
                         struct gi_err *err)
{
    double first = run(codecs, pool, n, 1, err); /* allocates, too */
    if (err->status)
        return;
    double ms = 1e3 * n * (double)gi_image_nbytes(codecs->image) / first;
    double measured = run(codecs, pool, n, (int)fmin(fmax(TIME_MS / ms, 1), TURNS_MAX), err);
    if (!err->status)
        *rate = measured;
}

/* Clears the error if it only says that a codec is not in the build or that the device has too
 * little memory for it. The rate of this codec then stays the derived one. */
static enum gi_status excuse(struct gi_err *err)
{
    if (err->status == GI_E_DEVICE_MEMORY || err->status == GI_E_UNSUPPORTED)
        *err = (struct gi_err){0};
    return err->status;
}

static enum gi_status measure(struct gi_rates *rates, struct codecs *codecs, struct gi_pool *pool,
                              int n, struct gi_err *err)
{
    double *const rate[WORKS] = {&rates->jpeg_decode, &rates->png_decode, &rates->jpeg_encode,
                                 &rates->png_encode};
    for (codecs->work = 0; codecs->work < WORKS && !err->status; codecs->work++) {
        measure_work(rate[codecs->work], codecs, pool, n, err);
        excuse(err);
        for (int i = 0; i < n; i++)
            codecs->workers[i].err = (struct gi_err){0};
    }
    return err->status;
}

/* Opens the workers of a GPU. */
static enum gi_status open_workers(struct codecs *codecs, int n, struct gi_err *err)
{
    for (int i = 0; codecs->device && i < n; i++) {
        struct worker *worker = &codecs->workers[i];
        const struct gi_kernels *k = codecs->device->k;
        enum gi_status status = k->queue_open(&worker->queue, codecs->device, err);
        if (!status)
            status = k->upload(worker->queue, &worker->image, codecs->image, NULL, err);
        if (status)
            return status;
    }
    return GI_OK;
}

static void close_workers(struct codecs *codecs, int n)
{
    for (int i = 0; codecs->workers && i < n; i++) {
        struct worker *worker = &codecs->workers[i];
        if (!worker->queue)
            continue;
        if (worker->image.data)
            worker->queue->k->release(worker->queue, &worker->image);
        worker->queue->k->queue_close(&worker->queue);
    }
    free(codecs->workers);
}

/* Makes the file of the image that the work decodes, which stays coded in *coded. */
static enum gi_status make_coded(struct gi_image *coded, const struct gi_image *image,
                                 enum work work, struct gi_err *err)
{
    void *bytes;
    size_t nbytes;
    const struct gi_load_options keep = {.limits = {GI_DEFAULT_MAX_PIXELS, GI_DEFAULT_MAX_BYTES},
                                         .coded = GI_CODED_ANY};
    /* Most PNGs were compressed by a search for matches, as level 6 does. */
    const struct gi_save_options options = {.quality = GI_DEFAULT_QUALITY, .compression = 6};
    enum gi_status status =
        gi_save_memory(&bytes, &nbytes, image, NULL, names[work], &options, NULL, err);
    if (status)
        return status;
    status = gi_load_memory(coded, NULL, NULL, bytes, nbytes, names[work], &keep, NULL, err);
    free(bytes);
    return status;
}

enum gi_status gi_rates_measure_codecs(struct gi_rates *rates, struct gi_queue *queue, int threads,
                                       struct gi_err *err)
{
    struct gi_image image = {0};
    struct gi_pool *pool = NULL;
    bool gpu = queue->k->kind == GI_DEVICE_CUDA;
    int n = gpu ? GI_QUEUES_A_GPU : threads;
    struct codecs codecs = {.image = &image,
                            .device = gpu ? queue->device : NULL,
                            .workers = gi_small_calloc((size_t)n, sizeof *codecs.workers)};
    enum gi_status status = gi_image_alloc(&image, WIDTH, HEIGHT, 3, GI_U8, err);
    if (!status) {
        draw(&image);
        for (int i = ENCODE_JPEG; i < WORKS; i++)
            gi_save_coding(&codecs.codings[i], &image, NULL, names[i], &usual);
    }
    for (int i = 0; i < ENCODE_JPEG && !status; i++)
        status = make_coded(&codecs.coded[i], &image, i, err);
    if (!status)
        status = open_workers(&codecs, n, err);
    if (!status)
        status = gi_pool_new(&pool, n, err);
    if (!status)
        status = measure(rates, &codecs, pool, n, err);
    gi_pool_free(&pool);
    close_workers(&codecs, n);
    for (int i = 0; i < ENCODE_JPEG; i++)
        gi_image_free(&codecs.coded[i]);
    gi_image_free(&image);
    return status ? excuse(err) : GI_OK;
}
