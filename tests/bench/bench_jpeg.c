/* Times the encoding of JPEGs and the decoding of JPEGs and PNGs by several threads at once: by
 * libjpeg-turbo and libdeflate, and by the primitives of the family codec on a GPU, where every
 * thread has a queue. bench_jpeg IMAGES THREADS QUALITY FILE... encodes each file of gray or RGB of
 * 8 bits IMAGES times as JPEG, decodes it as often if it is a JPEG or PNG that a GPU may decode,
 * and prints a JSON object per file, with microseconds of wall time per image. Pixels stay on the
 * GPU, scans cross the bus. SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "filters/pipeline.h"
#include "imgio/imgio.h"
#include "kernels/codec.h"
#include "kernels/kernels.h"

static const struct gi_load_options any = {.limits = {UINT64_MAX, UINT64_MAX}};

enum { THREADS_MAX = 256, WARM_UP = 4 /* images per thread that are not timed */ };

struct job {
    const char *path;
    const struct gi_image *image;
    const struct gi_image *coded; /* the file, which is decoded; NULL: `image` is encoded */
    struct gi_device *device;     /* NULL: the libraries do the work */
    struct gi_save_options options;
    struct gi_coding coding;
    int each; /* images per thread */
    pthread_barrier_t begin, end;
    size_t nbytes; /* of a file, or of a scan */
};

static void check(enum gi_status status, const struct gi_err *err)
{
    if (!status)
        return;
    fprintf(stderr, "bench_jpeg: %s\n", err->text);
    exit(1);
}

static void encode(struct job *job, struct gi_queue *queue, const struct gi_image *image)
{
    struct gi_err err = {0};
    if (queue) {
        struct gi_jpeg_scan scan;
        const struct gi_jpeg_encode spec = {&job->coding.frame,
                                            queue->k->host_allocator(job->device)};
        check(queue->k->jpeg_encode(queue, &scan, image, &spec, &err), &err);
        job->nbytes = scan.nbytes;
        gi_jpeg_scan_free(&scan);
    } else {
        void *bytes;
        check(gi_save_memory(&bytes, &job->nbytes, image, NULL, "a.jpg", &job->options, NULL, &err),
              &err);
        free(bytes);
    }
}

static void decode_on(const struct job *job, struct gi_queue *queue)
{
    const struct gi_kernels *k = queue->k;
    const struct gi_coded *coded = job->coded->coded;
    const struct gi_image scan = gi_coded_scan(coded);
    struct gi_err err = {0};
    struct gi_image src, image;
    check(k->upload(queue, &src, &scan, NULL, &err), &err);
    check(k->alloc(queue, &image, job->image->width, job->image->height, job->image->channels,
                   job->image->type, &err),
          &err);
    check(gi_coded_decode(queue, &image, &src, coded, &err), &err);
    k->release(queue, &src);
    k->release(queue, &image);
}

/* Decodes the file into an image that is freed at once. */
static void decode(const struct job *job, struct gi_queue *queue)
{
    const struct gi_coded *coded = job->coded->coded;
    struct gi_err err = {0};
    struct gi_image image;
    if (queue) {
        decode_on(job, queue);
        return;
    }
    check(gi_load_memory(&image, NULL, NULL, gi_coded_bytes(coded), (size_t)coded->file.width,
                         job->path, &any, NULL, &err),
          &err);
    gi_image_free(&image);
}

static void *work(void *arg)
{
    struct job *job = arg;
    struct gi_queue *queue = NULL;
    struct gi_image image = *job->image;
    struct gi_err err = {0};
    if (job->device) {
        check(job->device->k->queue_open(&queue, job->device, &err), &err);
        check(queue->k->upload(queue, &image, job->image, NULL, &err), &err);
    }
    for (int i = -WARM_UP; i < job->each; i++) {
        if (i == 0)
            pthread_barrier_wait(&job->begin);
        if (job->coded)
            decode(job, queue);
        else
            encode(job, queue, &image);
    }
    pthread_barrier_wait(&job->end);
    if (queue) {
        queue->k->release(queue, &image);
        queue->k->queue_close(&queue);
    }
    return NULL;
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* Returns microseconds per image. */
static double run(struct job *job, int threads)
{
    pthread_t ids[THREADS_MAX];
    pthread_barrier_init(&job->begin, NULL, (unsigned)threads + 1);
    pthread_barrier_init(&job->end, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, work, job);
    pthread_barrier_wait(&job->begin);
    double start = now_us();
    pthread_barrier_wait(&job->end);
    double us = (now_us() - start) / (job->each * threads);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    pthread_barrier_destroy(&job->begin);
    pthread_barrier_destroy(&job->end);
    return us;
}

static void time_encoding(json_t *answer, struct job *job, struct gi_device *device, int threads)
{
    json_object_set_new(answer, "quality", json_integer(job->options.quality));
    json_object_set_new(answer, "libjpeg_us", json_real(run(job, threads)));
    json_object_set_new(answer, "bytes", json_integer((json_int_t)job->nbytes));
    job->device = device;
    if (device)
        json_object_set_new(answer, "cuda_us", json_real(run(job, threads)));
}

/* Adds the times of decoding, if the file stays coded. Returns false otherwise. */
static bool time_decoding(json_t *answer, struct job *job, struct gi_device *device, int threads)
{
    struct gi_image coded;
    struct gi_load_options keep = any;
    struct gi_err err = {0};
    keep.coded = GI_CODED_ANY;
    if (device)
        keep.allocator = device->k->host_allocator(device);
    check(gi_load(&coded, NULL, NULL, job->path, &keep, NULL, &err), &err);
    bool stays = coded.coded && !coded.coded->layout;
    if (stays) {
        job->coded = &coded;
        job->device = NULL;
        json_object_set_new(answer,
                            coded.coded->is_png ? "libdeflate_decode_us" : "libjpeg_decode_us",
                            json_real(run(job, threads)));
        job->device = device;
        if (device)
            json_object_set_new(answer, "cuda_decode_us", json_real(run(job, threads)));
        json_object_set_new(answer, "file_bytes", json_integer(coded.coded->file.width));
    }
    gi_image_free(&coded);
    return stays;
}

static void time_file(const char *path, struct gi_device *device, int images, int threads,
                      int quality)
{
    struct gi_image image;
    struct gi_err err = {0};
    check(gi_load(&image, NULL, NULL, path, &any, NULL, &err), &err);
    struct job job = {.path = path,
                      .image = &image,
                      .options = {.quality = quality},
                      .each = (images - 1) / threads + 1};
    json_t *answer = json_pack("{s:s, s:i, s:i, s:i, s:i, s:i}", "file", path, "width", image.width,
                               "height", image.height, "channels", image.channels, "bits",
                               image.type == GI_U16 ? 16 : 8, "threads", threads);
    bool encodes = gi_save_coding(&job.coding, &image, NULL, "a.jpg", &job.options);
    if (encodes)
        time_encoding(answer, &job, device, threads);
    if (!time_decoding(answer, &job, device, threads) && !encodes) {
        fprintf(stderr, "bench_jpeg: %s: want gray or RGB of 8 bits, or an ordinary PNG\n", path);
        exit(1);
    }
    json_dumpf(answer, stdout, JSON_REAL_PRECISION(6) | JSON_PRESERVE_ORDER);
    puts("");
    fflush(stdout);
    json_decref(answer);
    gi_image_free(&image);
}

int main(int argc, char **argv)
{
    int images = argc > 4 ? atoi(argv[1]) : 0, threads = argc > 4 ? atoi(argv[2]) : 0;
    int quality = argc > 4 ? atoi(argv[3]) : 0;
    if (images < 1 || threads < 1 || threads > THREADS_MAX || quality < 1 || quality > 100) {
        fprintf(stderr, "usage: bench_jpeg IMAGES THREADS QUALITY FILE...\n");
        return 2;
    }
    struct gi_device *device = NULL;
    struct gi_err err = {0};
    const struct gi_open_options options = {.threads = 1};
    const struct gi_kernels *cuda = gi_kernels_cuda();
    if (cuda && cuda->probe(NULL, 0, &err) > 0)
        check(cuda->device_open(&device, &options, &err), &err);
    for (int i = 4; i < argc; i++)
        time_file(argv[i], device, images, threads, quality);
    if (device)
        cuda->device_close(&device);
    return 0;
}
