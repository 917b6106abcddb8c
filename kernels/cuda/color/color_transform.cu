/* Colour transforms. With a single matrix, a thread owns 16 bytes of RGBA, or a lane owns the
 * pixels of 48 bytes of RGB. For RGB, the warp first loads all its 1536 bytes into shared memory,
 * so that accesses are coalesced. With several steps (matrices, curves, HSV, ...), there is one
 * thread per pixel, and the power tables are in shared memory.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/measure.h"
#include "kernels/cuda/common/pointwise.cuh"
#include "kernels/color.h"

enum { WIDE = 3, CHUNK = WIDE * WARP /* pieces per warp */, WARPS = POINTWISE_THREADS / WARP };

struct matrix_args {
    struct gi_image dst, src;
    struct walk walk; /* grid-stride loop of warps over chunks, or of threads over pieces */
    struct gi_color_step step;
    bool alpha_too;
};

/* ---- one matrix ---- */

/* The RGB pixels of 12 words. */
template <typename T>
static __device__ __forceinline__ void transform_three(unsigned *made, const unsigned *words,
                                                       const struct gi_color_step &step)
{
    constexpr int S = 4 / (int)sizeof(T) /* samples per word */;
#pragma unroll
    for (int i = 0; i < WIDE * WORDS; i++) {
        float v[S];
#pragma unroll
        for (int s = 0; s < S; s++) {
            int at = (i * S + s) / 3 * 3;
            v[s] =
                gi_settle(gi_color_matrix_row(&step, (i * S + s) % 3, sample_unpack<T>(words, at),
                                              sample_unpack<T>(words, at + 1),
                                              sample_unpack<T>(words, at + 2), 0, false),
                          sample_type<T>());
        }
        made[i] = sample_pack<T>(v);
    }
}

static __device__ __forceinline__ void chunk_load(uint4 *pieces, const struct gi_image &src,
                                                  unsigned x, unsigned y, int row_pieces)
{
#pragma unroll
    for (int i = 0; i < WIDE; i++) {
        int p = (int)(x * CHUNK + i * WARP + threadIdx.x % WARP);
        if (y < (unsigned)src.height && p < row_pieces)
            pieces[i] = *piece_at(src, p, (int)y);
    }
}

static __global__ void __launch_bounds__(POINTWISE_THREADS)
    matrix_of_three(const __grid_constant__ struct matrix_args args, int row_pieces)
{
    __shared__ uint4 stage[WARPS][CHUNK];
    uint4 *shared = stage[threadIdx.x / WARP], *mine = shared + WIDE * (threadIdx.x % WARP);
    uint4 ahead[WIDE] = {}, made[WIDE], in[WIDE];
    unsigned x, y;
    walk_start(args.walk, &y, &x, blockIdx.x * WARPS + threadIdx.x / WARP);
    chunk_load(ahead, args.src, x, y, row_pieces);
    while (y < (unsigned)args.src.height) {
        unsigned here_x = x, here_y = y;
#pragma unroll
        for (int i = 0; i < WIDE; i++)
            shared[i * WARP + threadIdx.x % WARP] = ahead[i];
        walk_next(args.walk, &y, &x);
        chunk_load(ahead, args.src, x, y, row_pieces);
        __syncwarp();
#pragma unroll
        for (int i = 0; i < WIDE; i++)
            in[i] = mine[i];
        SAMPLE_TYPES(args.src.type,
                     transform_three<T>((unsigned *)made, (const unsigned *)in, args.step));
#pragma unroll
        for (int i = 0; i < WIDE; i++)
            mine[i] = made[i];
        __syncwarp();
#pragma unroll
        for (int i = 0; i < WIDE; i++) {
            int p = (int)(here_x * CHUNK + i * WARP + threadIdx.x % WARP);
            if (p < row_pieces)
                *piece_at(args.dst, p, (int)here_y) = shared[i * WARP + threadIdx.x % WARP];
        }
        __syncwarp();
    }
}

/* The RGBA pixels of a piece. */
template <typename T>
static __device__ __forceinline__ uint4 transform_four(const uint4 &in,
                                                       const struct matrix_args &args)
{
    enum { S = 4 / (int)sizeof(T) /* samples per word */, PIXELS = WORDS * S / 4 };
    const unsigned *words = (const unsigned *)&in;
    float v[4 * PIXELS];
    uint4 made;
#pragma unroll
    for (int p = 0; p < 4 * PIXELS; p += 4) {
        float r = sample_unpack<T>(words, p), g = sample_unpack<T>(words, p + 1);
        float b = sample_unpack<T>(words, p + 2), a = sample_unpack<T>(words, p + 3);
#pragma unroll
        for (int c = 0; c < 4; c++)
            v[p + c] = gi_settle(gi_color_matrix_row(&args.step, c, r, g, b, a, args.alpha_too),
                                 sample_type<T>());
        v[p + 3] = args.alpha_too ? v[p + 3] : a;
    }
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        ((unsigned *)&made)[i] = sample_pack<T>(v + i * S);
    if (sizeof(T) == 4 && !args.alpha_too) /* copies NaN unchanged */
        made.w = in.w;
    return made;
}

static __global__ void __launch_bounds__(POINTWISE_THREADS)
    matrix_of_four(const __grid_constant__ struct matrix_args args, int)
{
    unsigned x, y;
    walk_start(args.walk, &y, &x, blockIdx.x * POINTWISE_THREADS + threadIdx.x);
    for (; y < (unsigned)args.src.height; walk_next(args.walk, &y, &x)) {
        uint4 in = *piece_at(args.src, (int)x, (int)y);
        SAMPLE_TYPES(args.src.type,
                     *piece_at(args.dst, (int)x, (int)y) = transform_four<T>(in, args));
    }
}

typedef void matrix_kernel(const struct matrix_args args, int row_pieces);

static bool is_matrix(const struct gi_color_transform *spec)
{
    return spec->nsteps == 1 && spec->steps[0].kind == GI_COLOR_MATRIX;
}

static bool three_takes(const struct gi_queue *, const struct gi_image *src,
                        const struct gi_color_transform *spec)
{
    return is_matrix(spec) && src->channels == 3;
}

static bool four_takes(const struct gi_queue *, const struct gi_image *src,
                       const struct gi_color_transform *spec)
{
    return is_matrix(spec) && src->channels == 4;
}

/* Returns the number of blocks. It is the number that can be resident at once, or fewer if there is
 * less work. */
static int blocks_of(const struct gi_cuda_queue *cu, long long threads, int fit)
{
    long long blocks = (threads + POINTWISE_THREADS - 1) / POINTWISE_THREADS,
              most = fit * cu->units;
    return (int)(blocks < most ? blocks : most);
}

/* Launches the kernel of a single matrix. `lanes` threads process `wide` pieces. */
static enum gi_status by_matrix(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_color_transform *spec,
                                matrix_kernel *kernel, int wide, int lanes, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct matrix_args args = {*dst, *src, {}, spec->steps[0], spec->alpha_too};
    int fit = 0, pieces = pieces_of(src);
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, POINTWISE_THREADS, 0));
    int blocks = blocks_of(cu, (long long)ceil_div(pieces, wide) * lanes * src->height, fit);
    args.walk = walk_of(src, (size_t)wide * PIECE, (size_t)(blocks * (POINTWISE_THREADS / lanes)));
    kernel<<<blocks, POINTWISE_THREADS, 0, cu->stream>>>(args, pieces);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status by_three(struct gi_queue *queue, struct gi_image *dst,
                               const struct gi_image *src, const struct gi_color_transform *spec,
                               struct gi_err *err)
{
    return by_matrix(queue, dst, src, spec, matrix_of_three, CHUNK, WARP, err);
}

static enum gi_status by_four(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_color_transform *spec,
                              struct gi_err *err)
{
    return by_matrix(queue, dst, src, spec, matrix_of_four, 1, 1, err);
}

/* ---- several steps ---- */

struct steps_args {
    struct gi_image dst, src;
    struct walk walk; /* over pixels by threads */
    int nsteps, npowers;
    struct gi_color_step steps[GI_COLOR_STEPS_MAX];
    bool alpha_too;
    struct gi_power powers[GI_POWERS_MAX];
};

static __device__ float curve_one(float x, const struct gi_color_curve &curve,
                                  const struct gi_power *powers)
{
    const struct gi_power *power = powers + (curve.power < 0 ? 0 : curve.power);
    return gi_color_curve_at(&curve, power->cell, power->octave, x);
}

static __device__ void curve_all(float v[4], const struct gi_color_curve &curve,
                                 const struct gi_power *powers)
{
#pragma unroll
    for (int c = 0; c < 3; c++)
        v[c] = curve_one(v[c], curve, powers);
}

static __device__ void run_step(float v[4], const struct gi_color_step &step, bool alpha_too,
                                const struct gi_power *powers)
{
    float r = v[0], g = v[1], b = v[2], a = v[3];
    switch (step.kind) {
    case GI_COLOR_MATRIX:
#pragma unroll
        for (int c = 0; c < 4; c++)
            v[c] = c < 3 || alpha_too ? gi_color_matrix_row(&step, c, r, g, b, a, alpha_too) : a;
        break;
    case GI_COLOR_CURVE:
        curve_all(v, step.curve, powers);
        break;
    case GI_COLOR_TO_HSV:
        gi_color_to_hsv(&v[0], &v[1], &v[2], step.full);
        break;
    case GI_COLOR_FROM_HSV:
        gi_color_from_hsv(&v[0], &v[1], &v[2], step.full);
        break;
    case GI_COLOR_TO_HSL:
        gi_color_to_hsl(&v[0], &v[1], &v[2], step.full);
        break;
    case GI_COLOR_FROM_HSL:
        gi_color_from_hsl(&v[0], &v[1], &v[2], step.full);
        break;
    case GI_COLOR_TO_LUV:
        gi_color_to_luv(&v[0], &v[1], &v[2], curve_one(g, step.curve, powers), step.offset);
        break;
    case GI_COLOR_FROM_LUV:
        gi_color_from_luv(&v[0], &v[1], &v[2], curve_one(r, step.curve, powers), step.offset);
        break;
    case GI_COLOR_TO_LCH:
        gi_color_to_lch(&v[1], &v[2]);
        break;
    case GI_COLOR_FROM_LCH:
        gi_color_from_lch(&v[1], &v[2]);
        break;
    }
}

template <typename T>
static __device__ __forceinline__ void pixel_transform(const struct steps_args &args,
                                                       const struct gi_power *powers, unsigned x,
                                                       unsigned y)
{
    const int channels = args.src.channels;
    const T *in = (const T *)((const char *)args.src.data + y * args.src.stride) + x * channels;
    T *out = (T *)((char *)args.dst.data + y * args.dst.stride) + x * channels;
    float v[4] = {(float)in[0], (float)in[1], (float)in[2], 0};
    T alpha = channels == 4 ? in[3] : in[0];
    v[3] = (float)alpha;
#pragma unroll 1
    for (int i = 0; i < args.nsteps; i++)
        run_step(v, args.steps[i], args.alpha_too, powers);
#pragma unroll
    for (int c = 0; c < 3; c++)
        sample_store(&out[c], gi_settle(v[c], sample_type<T>()));
    if (channels == 4 && args.alpha_too)
        sample_store(&out[3], gi_settle(v[3], sample_type<T>()));
    else if (channels == 4)
        out[3] = alpha;
}

static __global__ void __launch_bounds__(POINTWISE_THREADS)
    many_steps(const __grid_constant__ struct steps_args args)
{
    extern __shared__ float table[];
    const float *from = (const float *)args.powers;
    for (unsigned i = threadIdx.x;
         i < (unsigned)args.npowers * (sizeof *args.powers / sizeof *from); i += POINTWISE_THREADS)
        table[i] = from[i];
    __syncthreads();
    unsigned x, y;
    walk_start(args.walk, &y, &x, blockIdx.x * POINTWISE_THREADS + threadIdx.x);
    for (; y < (unsigned)args.src.height; walk_next(args.walk, &y, &x))
        SAMPLE_TYPES(args.src.type, pixel_transform<T>(args, (const struct gi_power *)table, x, y));
}

static enum gi_status by_steps(struct gi_queue *queue, struct gi_image *dst,
                               const struct gi_image *src, const struct gi_color_transform *spec,
                               struct gi_err *err)
{
    static_assert(sizeof(struct steps_args) <= 32764, "more than a launch takes");
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct steps_args args = {*dst, *src, {}, spec->nsteps, 0, {}, spec->alpha_too, {}};
    memcpy(args.steps, spec->steps, sizeof args.steps);
    for (int i = 0; i < GI_POWERS_MAX; i++)
        if (spec->powers[i]) {
            args.powers[i] = *spec->powers[i];
            args.npowers = i + 1;
        }
    int fit = 0;
    size_t nbytes = (size_t)args.npowers * sizeof *args.powers;
    GI_CUDA_TRY(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, many_steps, POINTWISE_THREADS, nbytes));
    int blocks = blocks_of(cu, (long long)src->width * src->height, fit);
    size_t pixel = (size_t)src->channels * gi_type_nbytes(src->type);
    args.walk = walk_of(src, pixel, (size_t)(blocks * POINTWISE_THREADS));
    many_steps<<<blocks, POINTWISE_THREADS, nbytes, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

const struct gi_color_transform_way gi_cuda_color_transform_ways[GI_WAYS_MAX] = {
    {{"three", "one matrix, of RGB"}, three_takes, by_three},
    {{"four", "one matrix, of RGBA"}, four_takes, by_four},
    {{"steps", "everything"}, NULL, by_steps},
};
