/* Work of the bench that is not an operation: pixels of many channels times a matrix, and the sum
 * of doubles.
 * SPDX-License-Identifier: MIT */
#include "tests/bench/bench_cuda.h"

enum {
    N = BENCH_MATRIX_SIDE,
    TILE = 128, /* pixels per block */
    DEPTH = 16, /* channels of these pixels at a time */
    EACH = 8,   /* pixels and results per thread */
    THREADS = 256,
    SUM_THREADS = 512,
    SUM_BLOCKS = 64, /* per multiprocessor; enough that no block ends long after the others */
    AHEAD = 4,       /* loads in flight per thread */
    WARP = 32
};

static void check(struct bench_job *job, cudaError_t error)
{
    bench_good(job, error == cudaSuccess, cudaGetErrorString(error));
}

/* ---- pixels times a matrix ---- */

/* Computes to(i, j), the sum over k of from(i, k) * matrix(k, j), by fmaf with k ascending, from +0
 * on. A block computes 128 x 128 results. In each quarter of these, a thread computes 4 x 4. */
static __global__ void __launch_bounds__(THREADS)
    matrix_tiles(float *to, const float *from, const float *matrix, int pixels)
{
    __shared__ float4 a[DEPTH][TILE / 4 + 1], b[DEPTH][N / 4];
    int x = (int)threadIdx.x % 16, y = (int)threadIdx.x / 16, first = (int)blockIdx.x * TILE;
    float sums[EACH][EACH] = {};
    for (int k = 0; k < N; k += DEPTH) {
        for (int i = (int)threadIdx.x; i < TILE * DEPTH / 4; i += THREADS) {
            int pixel = i / (DEPTH / 4), four = i % (DEPTH / 4);
            float4 v = make_float4(0, 0, 0, 0);
            if (first + pixel < pixels)
                v = ((const float4 *)from)[((size_t)(first + pixel) * N + k) / 4 + four];
            float *column = (float *)a[4 * four] + pixel;
            const int pitch = TILE + 4;
            column[0] = v.x, column[pitch] = v.y, column[2 * pitch] = v.z, column[3 * pitch] = v.w;
        }
        for (int i = (int)threadIdx.x; i < DEPTH * N / 4; i += THREADS)
            b[i / (N / 4)][i % (N / 4)] = ((const float4 *)matrix)[k * N / 4 + i];
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            float4 p = a[d][y], q = a[d][16 + y], r = b[d][x], t = b[d][16 + x];
            const float u[EACH] = {p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w};
            const float v[EACH] = {r.x, r.y, r.z, r.w, t.x, t.y, t.z, t.w};
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++)
                    sums[i][j] = __fmaf_rn(u[i], v[j], sums[i][j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        int pixel = first + 4 * y + i % 4 + i / 4 * 64;
        float4 *row = (float4 *)to + (size_t)pixel * (N / 4);
        if (pixel >= pixels)
            continue;
        row[x] = make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
        row[16 + x] = make_float4(sums[i][4], sums[i][5], sums[i][6], sums[i][7]);
    }
}

void bench_run_matrix(struct bench_job *job, int set)
{
    int pixels = bench_matrix_pixels(job);
    matrix_tiles<<<(unsigned)(pixels + TILE - 1) / TILE, THREADS, 0, job->cu->stream>>>(
        (float *)job->dst[set].data, (const float *)job->src[set].data,
        (const float *)job->src[(set + 1) % BENCH_SETS].data, pixels);
    check(job, cudaGetLastError());
}

/* ---- the sum of doubles ---- */

static __global__ void fill_doubles(double *to, size_t n)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        to[i] = (double)(unsigned)(i * 2654435761u) / 4294967296.0;
}

void bench_make_doubles(struct bench_job *job)
{
    const struct bench_picture *picture = &job->request->picture;
    job->ndoubles = BENCH_DOUBLES_A_PIXEL * (size_t)picture->width * (size_t)picture->height;
    if (job->err.status)
        return;
    check(job, cudaMalloc((void **)&job->doubles, job->ndoubles * sizeof(double)));
    if (!job->err.status)
        fill_doubles<<<1024, 256, 0, job->cu->stream>>>(job->doubles, job->ndoubles);
    check(job, cudaGetLastError());
}

static __device__ __forceinline__ double block_sum(double v)
{
    __shared__ double warps[SUM_THREADS / WARP];
    for (int step = WARP / 2; step; step /= 2)
        v += __shfl_down_sync(0xffffffffu, v, step);
    if (threadIdx.x % WARP == 0)
        warps[threadIdx.x / WARP] = v;
    __syncthreads();
    v = threadIdx.x < SUM_THREADS / WARP ? warps[threadIdx.x] : 0;
    if (threadIdx.x < WARP)
        for (int step = WARP / 2; step; step /= 2)
            v += __shfl_down_sync(0xffffffffu, v, step);
    return v;
}

/* Each block stores the sum of `share` adjacent pairs (the last block has fewer pairs). The block
 * that finishes last adds the sums of all blocks, always in the same order, and resets *done to
 * 0. */
static __global__ void __launch_bounds__(SUM_THREADS)
    sum_doubles(double *sum, double *parts, unsigned *done, const double2 *from, size_t share,
                size_t n)
{
    __shared__ bool last;
    double sums[AHEAD] = {0};
    const size_t step = SUM_THREADS, end = min(share * (blockIdx.x + 1), n);
    size_t i = share * blockIdx.x + threadIdx.x;
    for (; i + (AHEAD - 1) * step < end; i += AHEAD * step) {
        double2 v[AHEAD];
#pragma unroll
        for (int j = 0; j < AHEAD; j++)
            v[j] = __ldcs(from + i + j * step);
#pragma unroll
        for (int j = 0; j < AHEAD; j++)
            sums[j] += v[j].x + v[j].y;
    }
    for (; i < end; i += step)
        sums[0] += from[i].x + from[i].y;
    double own = block_sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = own;
        __threadfence();
        last = atomicAdd(done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    own = 0;
    for (unsigned j = threadIdx.x; j < gridDim.x; j += SUM_THREADS)
        own += ((volatile double *)parts)[j];
    own = block_sum(own);
    if (threadIdx.x == 0) {
        *sum = own;
        *done = 0;
    }
}

void bench_run_doubles(struct bench_job *job, int set)
{
    double *sum = (double *)job->out, *parts = sum + 2;
    unsigned *done = (unsigned *)(sum + 1);
    const size_t turn = AHEAD * SUM_THREADS, pairs = job->ndoubles / 2;
    size_t blocks = (size_t)SUM_BLOCKS * (size_t)job->cu->units;
    size_t share = (pairs / (blocks * turn) + 1) * turn;
    blocks = (pairs + share - 1) / share;
    (void)set;
    check(job, cudaMemsetAsync(done, 0, sizeof *done, job->cu->stream));
    sum_doubles<<<(unsigned)blocks, SUM_THREADS, 0, job->cu->stream>>>(
        sum, parts, done, (const double2 *)job->doubles, share, pairs);
    check(job, cudaGetLastError());
}
