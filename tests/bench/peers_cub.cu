/* Peers of the bench from CUB and thrust, which every CUDA Toolkit includes.
 * SPDX-License-Identifier: MIT */
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>

#include "tests/bench/bench_cuda.h"

/* CUB and thrust treat an image as one array of samples, so rows must have no padding. */
static int pixels(const struct bench_job *job)
{
    return job->src[0].width * job->src[0].height;
}

static void check(struct bench_job *job, cudaError_t error)
{
    bench_good(job, error == cudaSuccess, cudaGetErrorString(error));
}

template <typename T> static void histogram(struct bench_job *job, int set)
{
    int nbins = bench_histogram_spec(job->request).nbins;
    size_t nbytes = job->scratch_nbytes;
    check(job, cub::DeviceHistogram::HistogramEven(
                   job->scratch, nbytes, (const T *)job->src[set].data, (int *)job->out, nbins + 1,
                   0, nbins, pixels(job), job->cu->stream));
}

/* The deprecated form is used, because older releases lack the newer form with cuda::std::array. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void histogram_rgba(struct bench_job *job, int set)
{
    int *counts[3] = {(int *)job->out, (int *)job->out + 256, (int *)job->out + 512};
    int levels[3] = {257, 257, 257}, low[3] = {0, 0, 0}, high[3] = {256, 256, 256};
    size_t nbytes = job->scratch_nbytes;
    check(job, (cub::DeviceHistogram::MultiHistogramEven<4, 3>(
                   job->scratch, nbytes, (const uint8_t *)job->src[set].data, counts, levels, low,
                   high, pixels(job), job->cu->stream)));
}

struct above_127 {
    const uint8_t *samples;
    __device__ bool operator()(uint32_t i) const
    {
        return samples[i] > 127;
    }
};

static void select(struct bench_job *job, int set)
{
    size_t nbytes = job->scratch_nbytes - 16;
    check(job, cub::DeviceSelect::If(
                   (char *)job->scratch + 16, nbytes, thrust::counting_iterator<uint32_t>(0),
                   (uint32_t *)job->out, (unsigned long long *)job->scratch, pixels(job),
                   above_127{(const uint8_t *)job->src[set].data}, job->cu->stream));
}

template <typename T, typename SUM> struct widen {
    __host__ __device__ SUM operator()(T v) const
    {
        return (SUM)v;
    }
};

template <typename T, typename SUM> static void cub_sum(struct bench_job *job, int set)
{
    size_t nbytes = job->scratch_nbytes;
    thrust::transform_iterator<widen<T, SUM>, const T *> samples((const T *)job->src[set].data,
                                                                 widen<T, SUM>());
    check(job, cub::DeviceReduce::Sum(job->scratch, nbytes, samples, (SUM *)job->out, pixels(job),
                                      job->cu->stream));
}

/* thrust returns the sum to the host and therefore waits; it has no asynchronous form. */
template <typename T, typename SUM> static void thrust_sum(struct bench_job *job, int set)
{
    thrust::transform_iterator<widen<T, SUM>, const T *> samples((const T *)job->src[set].data,
                                                                 widen<T, SUM>());
    volatile SUM sum =
        thrust::reduce(thrust::cuda::par.on(job->cu->stream), samples, samples + pixels(job));
    (void)sum;
}

static void cub_doubles(struct bench_job *job, int set)
{
    size_t nbytes = job->scratch_nbytes;
    (void)set;
    check(job,
          cub::DeviceReduce::Sum(job->scratch, nbytes, (const double *)job->doubles,
                                 (double *)job->out, (long long)job->ndoubles, job->cu->stream));
}

static void thrust_doubles(struct bench_job *job, int set)
{
    const double *from = job->doubles;
    (void)set;
    volatile double sum =
        thrust::reduce(thrust::cuda::par.on(job->cu->stream), from, from + job->ndoubles);
    (void)sum;
}

static void cub_sort(struct bench_job *job, int set)
{
    size_t nbytes = job->scratch_nbytes;
    check(job, cub::DeviceRadixSort::SortKeys(
                   job->scratch, nbytes, (const uint32_t *)job->src[set].data,
                   (uint32_t *)job->dst[set].data, pixels(job), 0, 32, job->cu->stream));
}

int bench_peers_cub(struct bench_candidate *peers, const struct bench_job *job)
{
    const struct bench_request *request = job->request;
    const struct gi_image *src = &job->src[0];
    bool gray = src->channels == 1, u8 = src->type == GI_U8, f32 = src->type == GI_F32;
    int n = 0;
    if (request->work == BENCH_DOUBLES) {
        peers[n++] = {"CUB", cub_doubles};
        peers[n++] = {"thrust", thrust_doubles};
        return n;
    }
    if (src->stride != gi_row_nbytes(src))
        return 0;
    if (request->work == BENCH_SORT)
        peers[n++] = {"CUB", cub_sort};
    if (request->work == BENCH_HISTOGRAM && gray && !f32)
        peers[n++] = {"CUB", u8 ? histogram<uint8_t> : histogram<uint16_t>};
    if (request->work == BENCH_HISTOGRAM && src->channels == 4 && u8)
        peers[n++] = {"CUB", histogram_rgba};
    if (request->work == BENCH_SELECT && gray && u8)
        peers[n++] = {"CUB", select};
    if (request->work == BENCH_SUM && gray && (u8 || f32)) {
        peers[n++] = {"CUB", u8 ? cub_sum<uint8_t, uint64_t> : cub_sum<float, float>};
        peers[n++] = {"thrust", u8 ? thrust_sum<uint8_t, uint64_t> : thrust_sum<float, float>};
    }
    return n;
}
