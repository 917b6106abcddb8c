/* Times the primitives of the CPU. The program reads requests from standard input and prints times,
 * in the format of request.h. The input of a request is kept and used again if the next request has
 * the same input, so that a peer can be timed between two halves of the runs.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/parallel.h"
#include "kernels/regions.h"
#include "tests/bench/request.h"

struct bench {
    struct gi_queue *queue;
    struct gi_stopwatch *watch;
    struct gi_pool *pool; /* with the threads of the queue */
    struct gi_roofline rates;
    struct bench_request request; /* request that the following members belong to */
    struct bench_weights weights;
    struct gi_image src, other, dst;
    struct gi_labels labels;
    struct gi_region_sums *regions;
    double kept; /* number of foreground pixels or regions, see bench_cost_of() */
};

static void release(struct bench *bench)
{
    gi_image_free(&bench->src);
    gi_image_free(&bench->other);
    gi_image_free(&bench->dst);
    gi_image_free(&bench->labels.image);
    free(bench->regions);
    bench_weights_free(&bench->weights);
    bench->regions = NULL;
    bench->kept = 0;
    memset(&bench->request, 0, sizeof bench->request);
}

static void close_queue(struct bench *bench)
{
    if (bench->queue)
        bench->queue->k->stopwatch_free(&bench->watch);
    gi_queue_close_alone(&bench->queue);
    gi_pool_free(&bench->pool);
}

static enum gi_status open_threads(struct bench *bench, int threads, struct gi_err *err)
{
    struct gi_open_options options = {.threads = threads};
    if (bench->pool && gi_pool_threads(bench->pool) == threads)
        return GI_OK;
    close_queue(bench);
    enum gi_status status = gi_pool_new(&bench->pool, threads, err);
    if (!status)
        status = gi_queue_open_alone(&bench->queue, gi_kernels_cpu(), &options, err);
    if (!status)
        status = bench->queue->k->stopwatch_new(&bench->watch, bench->queue, 2, err);
    if (!status)
        status = bench->queue->k->roofline(bench->queue, &bench->rates, err);
    return status;
}

struct fill_job {
    const struct bench_picture *picture;
    struct gi_image *image;
};

static void fill_row(void *arg, int y, void *scratch)
{
    struct fill_job *job = arg;
    struct gi_image *image = job->image;
    void *row = gi_row(image, y);
    for (int x = 0, i = 0; x < image->width; x++)
        for (int c = 0; c < image->channels; c++, i++) {
            float v = bench_sample(job->picture, x, y, c);
            if (image->type == GI_U8)
                ((uint8_t *)row)[i] = (uint8_t)(v * 255.99f);
            else if (image->type == GI_U16)
                ((uint16_t *)row)[i] = (uint16_t)(v * 65535.99f);
            else
                ((float *)row)[i] = v;
        }
}

static enum gi_status save(const struct gi_image *image, const char *path, struct gi_err *err)
{
    FILE *file = fopen(path, "wb");
    bool good = file != NULL;
    for (int y = 0; good && y < image->height; y++)
        good = fwrite(gi_row(image, y), gi_row_nbytes(image), 1, file) == 1;
    if (file && fclose(file))
        good = false;
    return good ? GI_OK : gi_fail(err, GI_E_IO, "%s: cannot be written", path);
}

static struct gi_predicate above_half(const struct bench *bench)
{
    return (struct gi_predicate){.on = &bench->src,
                                 .above = gi_type_full_scale(bench->src.type) / 2};
}

static enum gi_status label(struct bench *bench, struct gi_err *err)
{
    struct gi_queue *queue = bench->queue;
    struct gi_predicate predicate = above_half(bench);
    struct gi_label spec = {predicate.above, predicate.invert, bench->request.connectivity};
    if (bench->labels.image.data)
        queue->k->release(queue, &bench->labels.image);
    return queue->k->label(queue, &bench->labels, predicate.on, &spec, err);
}

static enum gi_status region_stats(struct bench *bench, struct gi_err *err)
{
    free(bench->regions);
    bench->regions = malloc(((size_t)bench->labels.n + 1) * sizeof *bench->regions);
    if (!bench->regions)
        return gi_fail(err, GI_E_MEMORY, "out of memory: regions");
    bench->kept = bench->labels.n;
    struct gi_region_stats spec = {&bench->labels.image, bench->labels.n, 0, 1};
    return bench->queue->k->region_stats(bench->queue, bench->regions, &bench->src, &spec, err);
}

static enum gi_status run_select(struct bench *bench, struct gi_err *err)
{
    struct gi_predicate predicate = above_half(bench);
    struct gi_pixel_list points;
    enum gi_status status =
        bench->queue->k->compact(bench->queue, &points, &bench->src, &predicate, err);
    if (status)
        return status;
    bench->kept = (double)points.n;
    gi_pixel_list_free(&points);
    return GI_OK;
}

static enum gi_status run(struct bench *bench, struct gi_err *err)
{
    static uint64_t counts[GI_MAX_CHANNELS * 65536];
    struct gi_queue *queue = bench->queue;
    struct gi_reduction found[GI_MAX_CHANNELS];
    struct gi_reduce plain = {.sums_only = bench->request.work == BENCH_SUM};
    enum gi_status status;
    switch (bench->request.work) {
    case BENCH_HISTOGRAM: {
        struct gi_histogram_spec spec = bench_histogram_spec(&bench->request);
        memset(counts, 0, (size_t)bench->request.channels * (size_t)spec.nbins * sizeof *counts);
        return queue->k->histogram(queue, counts, &bench->src, &spec, err);
    }
    case BENCH_SUM:
    case BENCH_REDUCE:
        memset(found, 0, sizeof found);
        return queue->k->reduce(queue, found, &bench->src, &plain, err);
    case BENCH_SELECT:
        return run_select(bench, err);
    case BENCH_LABEL:
        return label(bench, err);
    case BENCH_REGION_STATS:
        return region_stats(bench, err);
    case BENCH_COMPONENTS:
        status = label(bench, err);
        return status ? status : region_stats(bench, err);
    default:
        return bench_filter_run(queue, &bench->dst, &bench->src, &bench->other, &bench->request,
                                &bench->weights, err);
    }
}

static void fill_map(struct gi_image *map, const struct bench_request *request)
{
    for (int y = 0; y < map->height; y++)
        for (int i = 0; i < 2 * map->width; i++)
            ((float *)gi_row(map, y))[i] = bench_map(request, i / 2, y, i % 2);
}

/* Makes the image and the weights, and runs the work once to warm up. */
static enum gi_status prepare(struct bench *bench, const struct bench_request *request,
                              struct gi_err *err)
{
    const struct bench_picture *picture = &request->picture;
    struct bench_picture another = *picture;
    struct fill_job fill = {picture, &bench->src}, fill_other = {&another, &bench->other};
    another.seed++;
    release(bench);
    enum gi_status status = open_threads(bench, request->threads, err);
    if (!status)
        status = gi_queue_force_ways(bench->queue, NULL, err);
    if (!status)
        status = gi_image_alloc(&bench->src, picture->width, picture->height, request->channels,
                                request->type, err);
    struct gi_image dst = bench_dst_shape(request);
    if (!status && bench_is_filter(request->work))
        status = gi_image_alloc(&bench->dst, dst.width, dst.height, dst.channels, dst.type, err);
    if (!status)
        status = gi_pool_run(bench->pool, picture->height, fill_row, &fill, 0, err);
    if (!status && bench_is_pattern(request->work))
        status = gi_fail(err, GI_E_UNSUPPORTED, "the CPU has no such work");
    if (!status && bench_has_other(request))
        status = gi_image_alloc(&bench->other, picture->width, picture->height, request->channels,
                                request->type, err);
    if (!status && bench->other.data)
        status = gi_pool_run(bench->pool, picture->height, fill_row, &fill_other, 0, err);
    struct gi_image map = bench_map_shape(request);
    if (!status && bench_has_map(request))
        status = gi_image_alloc(&bench->other, map.width, map.height, map.channels, map.type, err);
    if (!status && bench_has_map(request))
        fill_map(&bench->other, request);
    if (!status && request->save[0])
        status = save(&bench->src, request->save, err);
    if (!status)
        status = bench_weights_fill(&bench->weights, request, err);
    if (status)
        return status;
    bench->request = *request;
    if (request->work == BENCH_REGION_STATS)
        status = label(bench, err);
    if (!status)
        status = bench_force_way(bench->queue, request, -1, err);
    return status ? status : run(bench, err);
}

static enum gi_status time_run(struct bench *bench, json_t *object, const char *name,
                               struct gi_err *err)
{
    const struct gi_kernels *k = bench->queue->k;
    k->stopwatch_mark(bench->watch, 0);
    enum gi_status status = run(bench, err);
    k->stopwatch_mark(bench->watch, 1);
    bench_log_time(object, name, 1e3 * k->stopwatch_ms(bench->watch, 0, 1));
    return status;
}

/* Times all ways that accept the work, in turn. */
static enum gi_status time_ways(struct bench *bench, json_t *object, struct gi_err *err)
{
    const struct bench_request *request = &bench->request;
    const struct gi_ways *ways = bench_ways(bench->queue->k, request->work);
    json_t *times = json_object();
    bool takes[32] = {false};
    enum gi_status status = GI_OK;
    for (int i = 0; ways && gi_way_at(ways, i) && !status; i++) {
        struct gi_err refused;
        bench_force_way(bench->queue, request, i, err);
        takes[i] = !run(bench, &refused);
        if (!takes[i] && refused.status != GI_E_UNSUPPORTED) {
            *err = refused;
            status = refused.status;
        }
    }
    for (int r = 0; r < request->runs; r++)
        for (int i = 0; ways && gi_way_at(ways, i) && !status; i++) {
            bench_force_way(bench->queue, request, i, err);
            if (takes[i])
                status = time_run(bench, times, gi_way_at(ways, i)->name, err);
        }
    json_object_set_new(object, "ways", times);
    return status ? status : bench_force_way(bench->queue, request, -1, err);
}

static enum gi_status answer(void *self, json_t *object, const struct bench_request *request,
                             struct gi_err *err)
{
    struct bench *bench = self;
    enum gi_status status = GI_OK;
    if (memcmp(request, &bench->request, sizeof *request) != 0)
        status = prepare(bench, request, err);
    for (int i = 0; i < request->runs && !status; i++)
        status = time_run(bench, object, "us", err);
    if (request->ways && !status)
        status = time_ways(bench, object, err);
    if (status) {
        release(bench);
        return status;
    }
    struct bench_cost cost = bench_cost_of(request, bench->kept);
    json_object_set_new(object, "device", json_string(gi_cpu_level()));
    json_object_set_new(object, "bytes", json_real(cost.bytes));
    json_object_set_new(object, "fmas", json_real(cost.fmas));
    json_object_set_new(object, "kept", json_real(bench->kept));
    json_object_set_new(object, "copy_rate", json_real(bench->rates.copy_rate));
    json_object_set_new(object, "fma_rate", json_real(bench->rates.fma_rate));
    return GI_OK;
}

int main(void)
{
    static struct bench bench;
    int status = bench_serve(&bench, answer);
    release(&bench);
    close_queue(&bench);
    return status;
}
