/* Times the primitives of CUDA and their peers with CUDA events. The program reads requests from
 * standard input and prints times, in the format of request.h. Our primitive, each peer and a copy
 * of the same bytes run in turn.
 * SPDX-License-Identifier: MIT */
#include <algorithm>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/common/measure.h"
#include "kernels/kernels.h"
#include "tests/bench/bench_cuda.h"

#ifndef BENCH_NPP
#define BENCH_NPP 0
#endif
#ifndef BENCH_CUBLAS
#define BENCH_CUBLAS 0
#endif

enum {
    WARM_UPS = 3,
    SLOW_US = 20000, /* work that takes longer than this gets at most SLOW_RUNS runs */
    SLOW_RUNS = 3,
    AHEAD_NBYTES = 256 << 20,
};

struct bench {
    struct gi_queue *queue;
    struct gi_cuda_queue *cu;
    struct gi_device_info info;
    /* These buffers are copied before each measurement. The copy evicts the contents of the L2
     * cache, and hides the time that the CPU needs for a launch. */
    char *ahead;
    int blocks; /* number of blocks that fill the device, with 2048 threads per multiprocessor */
    cudaEvent_t from, to;
    struct gi_roofline rates;
};

static void check(struct bench_job *job, cudaError_t error)
{
    bench_good(job, error == cudaSuccess, cudaGetErrorString(error));
}

/* ---- images ---- */

template <typename T>
static __global__ void fill(struct gi_image image, struct bench_picture picture, float scale)
{
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)blockIdx.y;
    if (x >= image.width)
        return;
    for (; y < image.height; y += (int)gridDim.y) {
        T *row = (T *)((char *)image.data + (size_t)y * image.stride);
        for (int c = 0; c < image.channels; c++)
            row[x * image.channels + c] = (T)(bench_sample(&picture, x, y, c) * scale);
    }
}

static void make_image(struct bench_job *job, struct gi_image *image, const struct gi_image *shape)
{
    struct gi_queue *queue = &job->cu->base;
    if (!job->err.status)
        queue->k->alloc(queue, image, shape->width, shape->height, shape->channels, shape->type,
                        &job->err);
}

static void fill_image(struct bench_job *job, struct gi_image *image, int set)
{
    struct bench_picture picture = job->request->picture;
    cudaStream_t stream = job->cu->stream;
    if (job->err.status)
        return;
    picture.seed = (uint64_t)set;
    dim3 grid((unsigned)(image->width + 255) / 256, (unsigned)std::min(image->height, 65535));
    if (image->type == GI_U8)
        fill<uint8_t><<<grid, 256, 0, stream>>>(*image, picture, 255.99f);
    else if (image->type == GI_U16)
        fill<uint16_t><<<grid, 256, 0, stream>>>(*image, picture, 65535.99f);
    else
        fill<float><<<grid, 256, 0, stream>>>(*image, picture, 1);
    check(job, cudaGetLastError());
}

static __global__ void fill_map(struct gi_image map, struct bench_request request)
{
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)blockIdx.y;
    if (x < map.width)
        for (; y < map.height; y += (int)gridDim.y)
            for (int c = 0; c < 2; c++)
                ((float *)((char *)map.data + (size_t)y * map.stride))[2 * x + c] =
                    bench_map(&request, x, y, c);
}

static void make_map(struct bench_job *job)
{
    struct gi_image shape = bench_map_shape(job->request);
    make_image(job, &job->map, &shape);
    if (job->err.status)
        return;
    dim3 grid((unsigned)(shape.width + 255) / 256, (unsigned)std::min(shape.height, 65535));
    fill_map<<<grid, 256, 0, job->cu->stream>>>(job->map, *job->request);
    check(job, cudaGetLastError());
}

static void *room(struct bench_job *job, size_t nbytes)
{
    void *p = NULL;
    if (!job->err.status)
        check(job, cudaMalloc(&p, nbytes));
    return p;
}

static float *to_device(struct bench_job *job, const float *host, size_t n)
{
    float *p = (float *)room(job, n * sizeof *p);
    if (p)
        check(job, cudaMemcpy(p, host, n * sizeof *p, cudaMemcpyHostToDevice));
    return p;
}

/* ---- our work ---- */

static struct gi_predicate above_half(const struct bench_job *job, int set)
{
    return {&job->src[set], gi_type_full_scale(job->src[set].type) / 2, false};
}

static void run_filter(struct bench_job *job, int set)
{
    const struct gi_image *other =
        bench_has_map(job->request) ? &job->map : &job->src[(set + 1) % BENCH_SETS];
    bench_filter_run(&job->cu->base, &job->dst[set], &job->src[set], other, job->request,
                     &job->weights, &job->err);
}

static void run_histogram(struct bench_job *job, int set)
{
    struct gi_histogram_spec spec = bench_histogram_spec(job->request);
    size_t n = (size_t)job->request->channels * (size_t)spec.nbins;
    check(job, cudaMemsetAsync(job->out, 0, n * sizeof(uint64_t), job->cu->stream));
    gi_cuda_histogram_launch(&job->cu->base, (uint64_t *)job->out, &job->src[set], &spec,
                             &job->err);
}

static void run_reduce(struct bench_job *job, int set)
{
    size_t nbytes = gi_cuda_reduce_nbytes(&job->src[set]);
    struct gi_reduce spec = {};
    check(job, cudaMemsetAsync(job->out, 0, nbytes, job->cu->stream));
    gi_cuda_reduce_launch(job->cu, job->out, &job->src[set], &spec, &job->err);
}

static void run_select(struct bench_job *job, int set)
{
    struct gi_predicate predicate = above_half(job, set);
    gi_cuda_compact_launch(job->cu, (uint32_t *)job->out, job->out2, (device_u64 *)job->scratch,
                           (char *)job->scratch + 16, &job->src[set], &predicate, &job->err);
}

static void run_label(struct bench_job *job, int set)
{
    struct gi_predicate predicate = above_half(job, set);
    gi_cuda_label_launch(job->cu, &job->labels[set], (device_u64 *)job->scratch,
                         (char *)job->scratch + 16, &predicate, job->request->connectivity,
                         &job->err);
}

static void run_region_stats(struct bench_job *job, int set)
{
    gi_cuda_region_stats_launch(job->cu, (struct gi_region_sums *)job->out, &job->labels[set],
                                &job->src[set], 0, 1, &job->err);
}

static void run_components(struct bench_job *job, int set)
{
    run_label(job, set);
    run_region_stats(job, set);
}

static struct bench_candidate ours(enum bench_work work)
{
    switch (work) {
    case BENCH_HISTOGRAM:
        return {"us", run_histogram};
    case BENCH_SUM:
    case BENCH_REDUCE:
        return {"us", run_reduce};
    case BENCH_SELECT:
        return {"us", run_select};
    case BENCH_LABEL:
        return {"us", run_label};
    case BENCH_REGION_STATS:
        return {"us", run_region_stats};
    case BENCH_COMPONENTS:
        return {"us", run_components};
    default:
        return {"us", bench_is_pattern(work) ? bench_run_pattern : run_filter};
    }
}

/* ---- a job ---- */

/* Returns the number of foreground pixels or labels that the first run found. */
static device_u64 count(struct bench_job *job)
{
    device_u64 n = 0;
    if (!job->err.status)
        check(job,
              cudaMemcpyAsync(&n, job->scratch, sizeof n, cudaMemcpyDeviceToHost, job->cu->stream));
    check(job, cudaStreamSynchronize(job->cu->stream));
    return n;
}

static void job_make(struct bench_job *job, struct gi_cuda_queue *cu,
                     const struct bench_request *request)
{
    enum bench_work work = request->work;
    bool labels = work >= BENCH_LABEL;
    size_t pixels = (size_t)request->picture.width * (size_t)request->picture.height;
    memset(job, 0, sizeof *job);
    job->cu = cu;
    job->request = request;
    bench_weights_fill(&job->weights, request, &job->err);
    job->taps = to_device(job, job->weights.taps, BENCH_K_MAX);
    job->dense = to_device(job, job->weights.dense, BENCH_DENSE_MAX * BENCH_DENSE_MAX);
    struct gi_image dst = bench_dst_shape(request), src = dst, label = dst;
    src.width = label.width = request->picture.width;
    src.height = label.height = request->picture.height;
    src.channels = request->channels;
    src.type = request->type;
    label.channels = 1;
    label.type = GI_U32;
    for (int i = 0; i < BENCH_SETS; i++) {
        make_image(job, &job->src[i], &src);
        fill_image(job, &job->src[i], i);
        if (bench_is_filter(work) || work == BENCH_MATRIX || work == BENCH_SORT)
            make_image(job, &job->dst[i], &dst);
        if (labels)
            make_image(job, &job->labels[i], &label);
    }
    if (bench_has_map(request))
        make_map(job);
    bench_make_pattern(job);
    if (job->err.status)
        return;
    /* Enough for our work, NPP's labels and CUB, each of which needs less than 16 bytes per
     * pixel. */
    job->scratch_nbytes = (64 << 20) + (labels ? 16 * pixels : 0);
    if (labels)
        job->scratch_nbytes += gi_cuda_label_scratch(&job->labels[0]);
    if (work == BENCH_SORT) /* CUB copies the keys */
        job->scratch_nbytes += 4 * pixels + gi_cuda_sort_scratch(pixels, 4);
    if (work == BENCH_SELECT)
        job->scratch_nbytes += gi_cuda_compact_scratch(&job->src[0]);
    job->scratch = room(job, job->scratch_nbytes);
    if (labels) {
        for (int i = 0; i < BENCH_SETS; i++)
            run_label(job, i);
        job->kept = job->nlabels = (uint32_t)count(job);
    }
    size_t regions = ((size_t)job->nlabels + 1) * sizeof(struct gi_region_sums);
    job->out = room(job, std::max(std::max(regions, 4 * pixels), (size_t)4 * 65536 * 8));
    job->out2 = room(job, 4 * pixels);
    if (work == BENCH_SELECT && !job->err.status) {
        run_select(job, 0);
        job->kept = (double)count(job);
    }
}

static void job_free(struct bench_job *job)
{
    struct gi_queue *queue = &job->cu->base;
    void *rooms[] = {job->taps, job->dense, job->out, job->out2, job->scratch, job->doubles};
    struct gi_err err;
    for (int i = 0; i < BENCH_SETS; i++) {
        struct gi_image *images[] = {&job->src[i], &job->dst[i], &job->labels[i]};
        for (struct gi_image *image : images)
            if (image->data)
                queue->k->release(queue, image);
    }
    if (job->map.data)
        queue->k->release(queue, &job->map);
    queue->k->sync(queue, &err);
    for (void *p : rooms)
        cudaFree(p);
    bench_weights_free(&job->weights);
}

/* ---- timing ---- */

/* Reads the whole buffer. `out` is always NULL, but without it the compiler would drop the
 * reads. */
static __global__ void sweep(const uint4 *src, size_t n, uint32_t *out)
{
    uint32_t sum = 0;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        sum ^= src[i].x ^ src[i].y ^ src[i].z ^ src[i].w;
    if (out)
        *out = sum;
}

/* Runs before a measurement, so that each measurement begins with equally many dirty lines in the
 * L2 cache. Work that writes an image writes back the dirty lines of the copy, and leaves as many
 * lines itself. Work that only reads would pay for the copy's dirty lines. Before such work a sweep
 * causes these lines to be written back. */
static void run_ahead(struct bench *bench, const struct bench_request *request)
{
    cudaStream_t stream = bench->cu->stream;
    cudaMemcpyAsync(bench->ahead, bench->ahead + AHEAD_NBYTES, AHEAD_NBYTES,
                    cudaMemcpyDeviceToDevice, stream);
    if (request->work == BENCH_HISTOGRAM || request->work == BENCH_SUM ||
        request->work == BENCH_REDUCE || request->work == BENCH_DOUBLES ||
        request->work == BENCH_BODIES)
        sweep<<<(unsigned)bench->blocks, 256, 0, stream>>>(
            (const uint4 *)(bench->ahead + AHEAD_NBYTES), AHEAD_NBYTES / sizeof(uint4), NULL);
}

static double microseconds(struct bench *bench, struct bench_job *job,
                           const struct bench_candidate *candidate, int set)
{
    cudaStream_t stream = bench->cu->stream;
    float ms = 0;
    run_ahead(bench, job->request);
    check(job, cudaEventRecord(bench->from, stream));
    candidate->run(job, set);
    check(job, cudaEventRecord(bench->to, stream));
    check(job, cudaEventSynchronize(bench->to));
    if (!job->err.status)
        check(job, cudaEventElapsedTime(&ms, bench->from, bench->to));
    return 1000.0 * (double)ms;
}

/* Copies as many bytes as the work must move (half of them are read, half written), up to the size
 * of the buffers. */
static void run_copy(struct bench_job *job, int set)
{
    const struct gi_image *src = &job->src[set], *dst = &job->dst[set];
    size_t pixels = (size_t)src->width * (size_t)src->height;
    size_t half = (size_t)bench_cost_of(job->request, job->kept).bytes / 2;
    if (job->doubles) {
        check(job, cudaMemcpyAsync(job->doubles + job->ndoubles / 2, job->doubles, half,
                                   cudaMemcpyDeviceToDevice, job->cu->stream));
        return;
    }
    size_t most =
        dst->data ? std::min(dst->stride * (size_t)dst->height, src->stride * (size_t)src->height)
                  : 4 * pixels;
    check(job, cudaMemcpyAsync(dst->data ? dst->data : job->out, dst->data ? src->data : job->out2,
                               std::min(half, most), cudaMemcpyDeviceToDevice, job->cu->stream));
}

/* Times all candidates in turn, `runs` times each. Our times are in the list "us", and the peers'
 * times are in "peers". Peers that fail are named in "failed". */
static void time_all(struct bench *bench, struct bench_job *job, json_t *object,
                     const struct bench_candidate *candidates, int n)
{
    json_t *peers = json_object(), *failed = json_object();
    int runs[BENCH_PEERS_MAX + 1];
    for (int c = 0; c < n; c++) {
        double us = 0;
        for (int i = 0; i < WARM_UPS && us < SLOW_US && !job->err.status; i++)
            us = microseconds(bench, job, &candidates[c], i);
        runs[c] = us < SLOW_US ? job->request->runs : std::min(job->request->runs, (int)SLOW_RUNS);
        if (job->err.status && c > 0) {
            runs[c] = 0;
            json_object_set_new(failed, candidates[c].name, json_string(job->err.text));
            job->err = {};
            cudaGetLastError();
        }
    }
    for (int i = 0; i < job->request->runs; i++)
        for (int c = 0; c < n && !job->err.status; c++)
            if (i < runs[c])
                bench_log_time(c ? peers : object, candidates[c].name,
                               microseconds(bench, job, &candidates[c], i % BENCH_SETS));
    json_object_set_new(object, "peers", peers);
    json_object_set_new(object, "failed", failed);
}

/* Times all ways that accept the work, in turn. */
static void time_ways(struct bench *bench, struct bench_job *job, json_t *object)
{
    const struct bench_request *request = job->request;
    const struct gi_ways *ways = bench_ways(bench->queue->k, request->work);
    struct bench_candidate work = ours(request->work);
    json_t *times = json_object();
    int runs[32] = {0};
    for (int w = 0; ways && gi_way_at(ways, w) && !job->err.status; w++) {
        double us = 0;
        bench_force_way(bench->queue, request, w, &job->err);
        for (int i = 0; i < WARM_UPS && us < SLOW_US && !job->err.status; i++)
            us = microseconds(bench, job, &work, i);
        runs[w] = us < SLOW_US ? request->runs : std::min(request->runs, (int)SLOW_RUNS);
        if (job->err.status == GI_E_UNSUPPORTED) {
            runs[w] = 0;
            job->err = {};
        }
    }
    for (int i = 0; i < request->runs; i++)
        for (int w = 0; ways && gi_way_at(ways, w) && !job->err.status; w++)
            if (i < runs[w]) {
                bench_force_way(bench->queue, request, w, &job->err);
                bench_log_time(times, gi_way_at(ways, w)->name,
                               microseconds(bench, job, &work, i % BENCH_SETS));
            }
    json_object_set_new(object, "ways", times);
}

static int peers(struct bench_candidate *candidates, const struct bench_job *job)
{
    int n = bench_peers_cub(candidates, job);
#if BENCH_NPP
    n += bench_peers_npp(candidates + n, job);
#endif
#if BENCH_CUBLAS
    n += bench_peers_cublas(candidates + n, job);
#endif
    return n;
}

static enum gi_status answer(void *self, json_t *object, const struct bench_request *request,
                             struct gi_err *err)
{
    struct bench *bench = (struct bench *)self;
    static struct bench_job job;
    struct bench_candidate candidates[BENCH_PEERS_MAX + 1];
    gi_queue_force_ways(bench->queue, NULL, err);
    job_make(&job, bench->cu, request);
    if (!job.err.status)
        bench_force_way(bench->queue, request, -1, &job.err);
    if (!job.err.status) {
        int n = 0;
        candidates[n++] = ours(request->work);
        if (request->peers)
            n += peers(candidates + n, &job);
        candidates[n++] = {"copy", run_copy};
        time_all(bench, &job, object, candidates, n);
        if (request->ways)
            time_ways(bench, &job, object);
    }
    *err = job.err;
    job_free(&job);
    cudaGetLastError(); /* clears the error of a failed allocation, which the next launch would
                           report */
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "bench_cuda: %s: the context is lost\n", err->text);
        exit(1); /* the caller starts a new process */
    }
    struct bench_cost cost = bench_cost_of(request, job.kept);
    json_object_set_new(object, "device", json_string(bench->info.name));
    json_object_set_new(object, "bytes", json_real(cost.bytes));
    json_object_set_new(object, "fmas", json_real(cost.fmas));
    json_object_set_new(object, "kept", json_real(job.kept));
    json_object_set_new(object, "copy_rate", json_real(bench->rates.copy_rate));
    json_object_set_new(object, "fma_rate", json_real(bench->rates.fma_rate));
    json_object_set_new(
        object, "libraries",
        json_pack("[s*, s*]", BENCH_NPP ? "NPP" : NULL, BENCH_CUBLAS ? "cuBLAS" : NULL));
    return err->status;
}

static void open_bench(struct bench *bench, struct bench_job *job)
{
    const struct gi_kernels *k = gi_kernels_cuda();
    struct gi_open_options options = {};
    if (k->probe(&bench->info, 1, &job->err) < 1 ||
        gi_queue_open_alone(&bench->queue, k, &options, &job->err) ||
        k->roofline(bench->queue, &bench->rates, &job->err))
        return;
    bench->cu = job->cu = gi_cuda(bench->queue);
    bench->blocks = bench->cu->units * 8;
    bench->ahead = (char *)room(job, 2 * (size_t)AHEAD_NBYTES);
    check(job, cudaEventCreate(&bench->from));
    check(job, cudaEventCreate(&bench->to));
}

int main(void)
{
    struct bench bench = {};
    struct bench_job job = {};
    open_bench(&bench, &job);
    if (job.err.status) {
        fprintf(stderr, "bench_cuda: %s\n", job.err.text[0] ? job.err.text : "no device");
        return 1;
    }
    return bench_serve(&bench, answer);
}
