/* Times nvJPEG, a peer of the device's JPEG codec. peers_nvjpeg IMAGES BATCH THREADS QUALITY
 * FILE... decodes each JPEG IMAGES times, in batches, by several threads with a decoder each, and
 * encodes its pixels as often. Prints a JSON object per file, with microseconds of wall time per
 * image or the reason why a way did not run. Pixels stay on the GPU, files cross the bus.
 * SPDX-License-Identifier: MIT */
#include <cuda_runtime_api.h>
#include <jansson.h>
#include <nvjpeg.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS_MAX = 64, BATCH_MAX = 512 };

/* How nvJPEG decodes: where, and whether it interpolates chroma or repeats samples. */
static const struct way {
    const char *name;
    nvjpegBackend_t backend;
    unsigned flags;
} ways[] = {
    {"repeated", NVJPEG_BACKEND_GPU_HYBRID, NVJPEG_FLAGS_DEFAULT},
    {"interpolated", NVJPEG_BACKEND_GPU_HYBRID, NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION},
    {"unit, repeated", NVJPEG_BACKEND_HARDWARE, NVJPEG_FLAGS_DEFAULT},
    {"unit, interpolated", NVJPEG_BACKEND_HARDWARE, NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION},
};

struct job {
    unsigned char *bytes;
    size_t nbytes;
    int width, height, components;
    nvjpegChromaSubsampling_t sampling;
    const struct way *way; /* NULL: encodes */
    int each, batch, quality;
    pthread_barrier_t begin, end;
    int fault; /* what nvJPEG or CUDA said last; 0: nothing */
};

/* What a thread works with. */
struct worker {
    nvjpegHandle_t handle;
    nvjpegJpegState_t state;
    nvjpegEncoderState_t encoder;
    nvjpegEncoderParams_t parameters;
    cudaStream_t stream;
    nvjpegImage_t images[BATCH_MAX]; /* interleaved RGB; the first one is encoded */
    const unsigned char *files[BATCH_MAX];
    size_t nbytes[BATCH_MAX];
    unsigned char *coded; /* memory of the host for a file that was encoded */
};

#define GOOD(call)                                                                                 \
    do {                                                                                           \
        int made = (int)(call);                                                                    \
        if (made) {                                                                                \
            job->fault = made;                                                                     \
            return;                                                                                \
        }                                                                                          \
    } while (0)

static void decode_batch(struct job *job, struct worker *w)
{
    GOOD(nvjpegDecodeBatched(w->handle, w->state, w->files, w->nbytes, w->images, w->stream));
    GOOD(cudaStreamSynchronize(w->stream));
}

static void encode_one(struct job *job, struct worker *w)
{
    size_t n = 0;
    GOOD(nvjpegEncodeImage(w->handle, w->encoder, w->parameters, &w->images[0], NVJPEG_INPUT_RGBI,
                           job->width, job->height, w->stream));
    GOOD(nvjpegEncodeRetrieveBitstream(w->handle, w->encoder, NULL, &n, w->stream));
    if (n > (size_t)job->width * (size_t)job->height * 3) {
        job->fault = -1;
        return;
    }
    GOOD(nvjpegEncodeRetrieveBitstream(w->handle, w->encoder, w->coded, &n, w->stream));
    GOOD(cudaStreamSynchronize(w->stream));
}

static void begin(struct job *job, struct worker *w)
{
    static const struct way plain = {"", NVJPEG_BACKEND_GPU_HYBRID, NVJPEG_FLAGS_DEFAULT};
    const struct way *way = job->way ? job->way : &plain;
    size_t row = (size_t)job->width * 3, image = row * (size_t)job->height;
    GOOD(nvjpegCreateEx(way->backend, NULL, NULL, way->flags, &w->handle));
    GOOD(nvjpegJpegStateCreate(w->handle, &w->state));
    GOOD(cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking));
    for (int i = 0; i < job->batch; i++) {
        GOOD(cudaMalloc((void **)&w->images[i].channel[0], image));
        w->images[i].pitch[0] = row;
        w->files[i] = job->bytes;
        w->nbytes[i] = job->nbytes;
    }
    GOOD(cudaMallocHost((void **)&w->coded, image));
    GOOD(nvjpegDecodeBatchedInitialize(w->handle, w->state, job->batch, 1, NVJPEG_OUTPUT_RGBI));
    decode_batch(job, w);
    if (job->way || job->fault)
        return;
    GOOD(nvjpegEncoderStateCreate(w->handle, &w->encoder, w->stream));
    GOOD(nvjpegEncoderParamsCreate(w->handle, &w->parameters, w->stream));
    GOOD(nvjpegEncoderParamsSetQuality(w->parameters, job->quality, w->stream));
    GOOD(nvjpegEncoderParamsSetSamplingFactors(w->parameters, job->sampling, w->stream));
    encode_one(job, w);
}

static void end(struct worker *w, int batch)
{
    if (w->parameters)
        nvjpegEncoderParamsDestroy(w->parameters);
    if (w->encoder)
        nvjpegEncoderStateDestroy(w->encoder);
    for (int i = 0; i < batch; i++)
        cudaFree(w->images[i].channel[0]);
    if (w->state)
        nvjpegJpegStateDestroy(w->state);
    if (w->handle)
        nvjpegDestroy(w->handle);
    if (w->stream)
        cudaStreamDestroy(w->stream);
    cudaFreeHost(w->coded);
}

static void *work(void *arg)
{
    struct job *job = arg;
    struct worker *w = calloc(1, sizeof *w);
    begin(job, w);
    pthread_barrier_wait(&job->begin);
    for (int i = 0; i < job->each && !job->fault; i += job->way ? job->batch : 1) {
        if (job->way)
            decode_batch(job, w);
        else
            encode_one(job, w);
    }
    pthread_barrier_wait(&job->end);
    end(w, job->batch);
    free(w);
    return NULL;
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* Returns microseconds per image, or a text with the number of the error. */
static json_t *run(struct job *job, int threads)
{
    pthread_t ids[THREADS_MAX];
    job->fault = 0;
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
    return job->fault ? json_sprintf("status %d", job->fault) : json_real(us);
}

/* Reads the file and its header. Returns false if it can't be read. */
static int open_file(struct job *job, const char *path)
{
    nvjpegHandle_t handle;
    int widths[NVJPEG_MAX_COMPONENT], heights[NVJPEG_MAX_COMPONENT];
    FILE *file = fopen(path, "rb");
    long n = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    int good = n > 0 && cudaMallocHost((void **)&job->bytes, (size_t)n) == cudaSuccess;
    if (good)
        rewind(file);
    job->nbytes = good ? fread(job->bytes, 1, (size_t)n, file) : 0;
    if (file)
        fclose(file);
    if (!good || nvjpegCreateSimple(&handle))
        return 0;
    good = !nvjpegGetImageInfo(handle, job->bytes, job->nbytes, &job->components, &job->sampling,
                               widths, heights);
    nvjpegDestroy(handle);
    job->width = widths[0];
    job->height = heights[0];
    return good;
}

int main(int argc, char **argv)
{
    int images = argc > 5 ? atoi(argv[1]) : 0, batch = argc > 5 ? atoi(argv[2]) : 0;
    int threads = argc > 5 ? atoi(argv[3]) : 0, quality = argc > 5 ? atoi(argv[4]) : 0;
    if (images < 1 || batch < 1 || batch > BATCH_MAX || threads < 1 || threads > THREADS_MAX ||
        quality < 1 || quality > 100) {
        fprintf(stderr, "usage: peers_nvjpeg IMAGES BATCH THREADS QUALITY FILE...\n");
        return 2;
    }
    for (int i = 5; i < argc; i++) {
        int each = (images - 1) / threads / batch + 1;
        struct job job = {.each = each * batch, .batch = batch, .quality = quality};
        json_t *answer = json_pack("{s:s}", "file", argv[i]);
        if (!open_file(&job, argv[i])) {
            fprintf(stderr, "peers_nvjpeg: %s: can't be read, or there is no CUDA\n", argv[i]);
            return 1;
        }
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            char name[64];
            job.way = &ways[w];
            snprintf(name, sizeof name, "decode, %s", ways[w].name);
            json_object_set_new(answer, name, run(&job, threads));
        }
        job.way = NULL;
        json_object_set_new(answer, "encode", run(&job, threads));
        json_dumpf(answer, stdout, JSON_REAL_PRECISION(6) | JSON_PRESERVE_ORDER);
        puts("");
        fflush(stdout);
        json_decref(answer);
        cudaFreeHost(job.bytes);
    }
    return 0;
}
