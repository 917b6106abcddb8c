/* Work of the bench that is not an operation: pixels of many channels times a matrix, sorting, the
 * forces between bodies, sums as a tree, and the sum of doubles.
 * SPDX-License-Identifier: MIT */
#include "tests/bench/bench_cuda.h"

enum {
    N = BENCH_MATRIX_SIDE,
    TILE = 128, /* pixels per block */
    DEPTH = 16, /* channels of these pixels at a time */
    EACH = 8,   /* pixels and results per thread */
    THREADS = 256,
    PARTS = TILE * DEPTH / 4 / THREADS, /* 16-byte loads of a thread per chunk */
    OWN_BODIES = 64,                    /* per block */
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

/* Channels k to k + DEPTH - 1 of the pixels of a tile, one row per channel. */
typedef float4 matrix_chunk[DEPTH][TILE / 4 + 1];

/* Loads a thread's part of a chunk. Pixels past the last are 0. */
static __device__ __forceinline__ void chunk_get(float4 (&part)[PARTS], const float4 *from,
                                                 int first, int k, int pixels)
{
#pragma unroll
    for (int i = 0; i < PARTS; i++) {
        int at = i * THREADS + (int)threadIdx.x, pixel = first + at / (DEPTH / 4);
        part[i] = make_float4(0, 0, 0, 0);
        if (pixel < pixels)
            part[i] = __ldcs(from + (size_t)pixel * (N / 4) + k / 4 + at % (DEPTH / 4));
    }
}

static __device__ __forceinline__ void chunk_put(matrix_chunk &chunk, const float4 (&part)[PARTS])
{
    const int pitch = TILE + 4;
#pragma unroll
    for (int i = 0; i < PARTS; i++) {
        int at = i * THREADS + (int)threadIdx.x;
        float *column = (float *)chunk[at % (DEPTH / 4) * 4] + at / (DEPTH / 4);
        column[0] = part[i].x, column[pitch] = part[i].y;
        column[2 * pitch] = part[i].z, column[3 * pitch] = part[i].w;
    }
}

/* Adds the products of a chunk and the rows of the matrix from `rows` on. */
static __device__ __forceinline__ void chunk_multiply(float (&sums)[EACH][EACH],
                                                      const matrix_chunk &chunk, const float4 *rows)
{
    int x = (int)threadIdx.x % 16, y = (int)threadIdx.x / 16;
#pragma unroll
    for (int d = 0; d < DEPTH; d++, rows += N / 4) {
        float4 p = chunk[d][y], q = chunk[d][16 + y], r = rows[x], t = rows[16 + x];
        const float u[EACH] = {p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w};
        const float v[EACH] = {r.x, r.y, r.z, r.w, t.x, t.y, t.z, t.w};
#pragma unroll
        for (int i = 0; i < EACH; i++)
#pragma unroll
            for (int j = 0; j < EACH; j++)
                sums[i][j] = __fmaf_rn(u[i], v[j], sums[i][j]);
    }
}

/* Computes to(i, j), the sum over k of from(i, k) * matrix(k, j), by fmaf with k ascending, from +0
 * on. The matrix stays in shared memory. A block computes 128 x 128 results at a time; in each
 * quarter of these, a thread computes 4 x 4. The next chunk is loaded while one is multiplied
 * (double buffering). */
static __global__ void __launch_bounds__(THREADS, 2)
    matrix_tiles(float4 *to, const float4 *from, const float4 *matrix, int pixels)
{
    extern __shared__ float4 shared[];
    float4 *whole = shared, part[PARTS];
    matrix_chunk *chunks = (matrix_chunk *)(shared + N * N / 4);
    int x = (int)threadIdx.x % 16, y = (int)threadIdx.x / 16;
    for (int i = (int)threadIdx.x; i < N * N / 4; i += THREADS)
        whole[i] = matrix[i];
    chunk_get(part, from, (int)blockIdx.x * TILE, 0, pixels);
    chunk_put(chunks[0], part);
    __syncthreads();
    for (int first = (int)blockIdx.x * TILE; first < pixels; first += (int)gridDim.x * TILE) {
        float sums[EACH][EACH] = {};
        for (int k = 0; k < N; k += DEPTH) {
            bool last = k + DEPTH == N; /* then the first chunk of the next tile */
            chunk_get(part, from, last ? first + (int)gridDim.x * TILE : first,
                      last ? 0 : k + DEPTH, pixels);
            chunk_multiply(sums, chunks[k / DEPTH % 2], whole + k * N / 4);
            chunk_put(chunks[(k / DEPTH + 1) % 2], part);
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            int pixel = first + 4 * y + i % 4 + i / 4 * 64;
            float4 *row = to + (size_t)pixel * (N / 4);
            if (pixel >= pixels)
                continue;
            row[x] = make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
            row[16 + x] = make_float4(sums[i][4], sums[i][5], sums[i][6], sums[i][7]);
        }
    }
}

static void run_matrix(struct bench_job *job, int set)
{
    const size_t shared = N * N * sizeof(float) + 2 * sizeof(matrix_chunk);
    int pixels = bench_matrix_pixels(job), tiles = (pixels + TILE - 1) / TILE;
    int blocks = 2 * job->cu->units;
    check(job, cudaFuncSetAttribute(matrix_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    (int)shared));
    matrix_tiles<<<(unsigned)(tiles < blocks ? tiles : blocks), THREADS, shared, job->cu->stream>>>(
        (float4 *)job->dst[set].data, (const float4 *)job->src[set].data,
        (const float4 *)job->src[(set + 1) % BENCH_SETS].data, pixels);
    check(job, cudaGetLastError());
}

/* ---- sorting ---- */

static __global__ void fill_keys(uint32_t *to, size_t n, uint32_t seed)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x) {
        uint32_t v = (uint32_t)i * 2654435761u + seed;
        v = (v ^ v >> 16) * 0x85ebca6bu;
        to[i] = (v ^ v >> 13) * 0xc2b2ae35u;
    }
}

static size_t samples(const struct bench_job *job)
{
    const struct gi_image *src = &job->src[0];
    bool packed = src->stride == gi_row_nbytes(src);
    return (size_t)src->width * (packed ? (size_t)src->height : 1);
}

static void make_keys(struct bench_job *job)
{
    for (int i = 0; i < BENCH_SETS && !job->err.status; i++) {
        fill_keys<<<1024, 256, 0, job->cu->stream>>>((uint32_t *)job->src[i].data, samples(job),
                                                     (uint32_t)i);
        check(job, cudaGetLastError());
    }
}

static void run_sort(struct bench_job *job, int set)
{
    gi_cuda_sort_launch(job->cu, job->dst[set].data, job->out2, job->src[set].data, job->scratch,
                        samples(job), 4, BENCH_SORT_PASSES, &job->err);
}

/* ---- the forces between bodies ---- */

/* Computes the accelerations of n bodies by all n: the sum of mass * d / (|d|^2 + SOFT)^1.5, d the
 * vector between two bodies. A block computes OWN_BODIES of them. Bodies are loaded into shared
 * memory THREADS at a time, and each of the block's groups of OWN_BODIES threads adds a part of
 * these. L. Nyland, M. Harris, J. Prins, "Fast N-Body Simulation with CUDA", GPU Gems 3, 2007. */
static __global__ void __launch_bounds__(THREADS) attract(float4 *to, const float4 *bodies, int n)
{
    __shared__ float4 tile[THREADS];
    const float soft = 1.0f / 1024;
    int me = (int)threadIdx.x, own = (int)blockIdx.x * OWN_BODIES + me % OWN_BODIES;
    const float4 *part = tile + me / OWN_BODIES * OWN_BODIES;
    float4 body = bodies[min(own, n - 1)], sum = make_float4(0, 0, 0, 0);
    for (int first = 0; first < n; first += THREADS) {
        float4 none = make_float4(0, 0, 0, 0);
        tile[me] = first + me < n ? bodies[first + me] : none;
        __syncthreads();
#pragma unroll 16
        for (int j = 0; j < OWN_BODIES; j++) {
            float4 other = part[j];
            float x = other.x - body.x, y = other.y - body.y, z = other.z - body.z;
            float square = __fmaf_rn(x, x, __fmaf_rn(y, y, __fmaf_rn(z, z, soft)));
            float inverse = rsqrtf(square);
            float pull = inverse * inverse * (inverse * other.w);
            sum.x = __fmaf_rn(x, pull, sum.x);
            sum.y = __fmaf_rn(y, pull, sum.y);
            sum.z = __fmaf_rn(z, pull, sum.z);
        }
        __syncthreads();
    }
    tile[me] = sum;
    __syncthreads();
    for (int i = me + OWN_BODIES; me < OWN_BODIES && i < THREADS; i += OWN_BODIES)
        sum.x += tile[i].x, sum.y += tile[i].y, sum.z += tile[i].z;
    if (me < OWN_BODIES && own < n)
        to[own] = sum;
}

static void run_bodies(struct bench_job *job, int set)
{
    int n = (int)samples(job);
    attract<<<(unsigned)(n + OWN_BODIES - 1) / OWN_BODIES, THREADS, 0, job->cu->stream>>>(
        (float4 *)job->out, (const float4 *)job->src[set].data, n);
    check(job, cudaGetLastError());
}

/* ---- sums as a tree ---- */

/* One level: to[i] is the sum of the BY values from[BY * i] and following, in pairs. */
template <int BY>
static __global__ void __launch_bounds__(THREADS) add_level(float *to, const float *from, size_t n)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x, left = n - min(n, i * BY);
    float v[BY] = {};
    if (left >= BY) {
#pragma unroll
        for (int j = 0; j < BY; j += BY == 2 ? 2 : 4)
            if (BY == 2)
                *(float2 *)v = ((const float2 *)from)[i];
            else
                *(float4 *)(v + j) = *(const float4 *)(from + i * BY + j);
    } else {
#pragma unroll
        for (int j = 0; j < BY; j++)
            v[j] = j < (int)left ? from[i * BY + j] : 0;
    }
#pragma unroll
    for (int step = 1; step < BY; step *= 2)
#pragma unroll
        for (int j = 0; j < BY; j += 2 * step)
            v[j] += v[j + step];
    if (left)
        to[i] = v[0];
}

template <int BY> static void add_levels(struct bench_job *job, const float *from, size_t n)
{
    float *rooms[2] = {(float *)job->out, (float *)job->out2};
    for (int level = 0; n > 1; level++) {
        size_t sums = (n + BY - 1) / BY;
        add_level<BY><<<(unsigned)((sums + THREADS - 1) / THREADS), THREADS, 0, job->cu->stream>>>(
            rooms[level % 2], from, n);
        check(job, cudaGetLastError());
        from = rooms[level % 2];
        n = sums;
    }
}

static void run_tree(struct bench_job *job, int set)
{
    const float *from = (const float *)job->src[set].data;
    int by = job->request->by;
    (by == 2 ? add_levels<2> : by == 4 ? add_levels<4> : add_levels<8>)(job, from, samples(job));
}

/* ---- the sum of doubles ---- */

static __global__ void fill_doubles(double *to, size_t n)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        to[i] = (double)(unsigned)(i * 2654435761u) / 4294967296.0;
}

static void make_doubles(struct bench_job *job)
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

static void run_doubles(struct bench_job *job, int set)
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

/* ---- all of these ---- */

void bench_make_pattern(struct bench_job *job)
{
    if (job->request->work == BENCH_DOUBLES)
        make_doubles(job);
    if (job->request->work == BENCH_SORT)
        make_keys(job);
}

void bench_run_pattern(struct bench_job *job, int set)
{
    switch (job->request->work) {
    case BENCH_MATRIX:
        run_matrix(job, set);
        break;
    case BENCH_SORT:
        run_sort(job, set);
        break;
    case BENCH_BODIES:
        run_bodies(job, set);
        break;
    case BENCH_TREE:
        run_tree(job, set);
        break;
    default:
        run_doubles(job, set);
    }
}
