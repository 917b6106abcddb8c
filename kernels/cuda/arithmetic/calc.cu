/* Runs the program of an expression, a small register machine. All threads execute the same step at
 * the same time, so that decoding steps does not diverge.
 *
 *   block      THREADS * PIXELS pixels of a row: thread t has the pixels x0 + t + k * THREADS,
 *              k = 0 .. PIXELS - 1. A step is decoded once for the PIXELS pixels of the thread, and
 *              neighbouring threads load neighbouring pixels.
 *   registers  in shared memory, as the program needs them: register r of pixel k of thread t is
 *              word (r * PIXELS + k) * THREADS + t, free of bank conflicts. No thread reads a word
 *              of another one, so there is no barrier. 6 registers take 6 KiB per block.
 *   program    in constant memory, with the arguments of the launch.
 *
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/sample.cuh"
#include "kernels/calc.h"

enum { THREADS = 128, PIXELS = 2, REGISTER_NBYTES = THREADS * PIXELS * 4 };

static_assert(GI_CALC_REGISTERS * REGISTER_NBYTES <= 48 * 1024, "more shared memory needs a grant");

struct calc_args {
    struct gi_image dst, srcs[1 + GI_CALC_OTHERS]; /* `data` is NULL if no step loads the image */
    int y, nsteps;
    struct gi_calc_step steps[GI_CALC_STEPS];
    float constants[GI_CALC_CONSTANTS];
};

/* Returns the sample of a channel at the pixel (x, y), or at the nearest pixel of the image. */
static __device__ __forceinline__ float load(const struct gi_image &image, int channel, int x,
                                             int y)
{
    x = min(max(x, 0), image.width - 1);
    y = min(max(y, 0), image.height - 1);
    const char *row = (const char *)image.data + (size_t)y * image.stride;
    size_t at = (size_t)x * (unsigned)image.channels + (unsigned)channel;
    float v = 0;
    SAMPLE_TYPES(image.type, v = (float)((const T *)row)[at]);
    return v;
}

static __device__ __forceinline__ void store(const struct gi_image &dst, int channel, int x, int y,
                                             float v)
{
    char *row = (char *)dst.data + (size_t)y * dst.stride;
    size_t at = (size_t)x * (unsigned)dst.channels + (unsigned)channel;
    SAMPLE_TYPES(dst.type, sample_store((T *)row + at, gi_settle(v, dst.type)));
}

static __device__ __forceinline__ float operand(const struct calc_args &args,
                                                const float *registers, unsigned number, int k)
{
    return number < GI_CALC_REGISTERS ? registers[(number * PIXELS + k) * THREADS]
                                      : args.constants[number - GI_CALC_REGISTERS];
}

/* Executes one step for the pixels x + k * THREADS, k = 0 .. n - 1, of row y. `registers` are those
 * of this thread. */
static __device__ __forceinline__ void execute(const struct calc_args &args,
                                               const struct gi_calc_step step, float *registers,
                                               int x, int y, int n)
{
    float a[PIXELS] = {}, b[PIXELS] = {}, c[PIXELS] = {}, v[PIXELS] = {};
    if (step.op > GI_CALC_Y)
#pragma unroll
        for (int k = 0; k < PIXELS; k++)
            a[k] = operand(args, registers, step.a, k);
    if (step.op > GI_CALC_STORE)
#pragma unroll
        for (int k = 0; k < PIXELS; k++) {
            b[k] = operand(args, registers, step.b, k);
            c[k] = operand(args, registers, step.c, k);
        }
    switch (step.op) {
    case GI_CALC_LOAD:
        for (int k = 0; k < n; k++)
            v[k] = load(args.srcs[step.a], step.b, x + k * THREADS + step.dx, y + step.dy);
        break;
    case GI_CALC_X:
#pragma unroll
        for (int k = 0; k < PIXELS; k++)
            v[k] = (float)(x + k * THREADS);
        break;
    case GI_CALC_Y:
#pragma unroll
        for (int k = 0; k < PIXELS; k++)
            v[k] = (float)(args.y + y);
        break;
    case GI_CALC_STORE:
        for (int k = 0; k < n; k++)
            store(args.dst, step.to, x + k * THREADS, y, a[k]);
        return;
#define GI_CALC_OPERATION(name, value)                                                             \
    case GI_CALC_##name:                                                                           \
        _Pragma("unroll") for (int k = 0; k < PIXELS; k++) v[k] =                                  \
            gi_calc_value(GI_CALC_##name, a[k], b[k], c[k]);                                       \
        break;
        GI_CALC_OPERATIONS(GI_CALC_OPERATION)
#undef GI_CALC_OPERATION
    }
#pragma unroll
    for (int k = 0; k < PIXELS; k++)
        registers[(step.to * PIXELS + k) * THREADS] = v[k];
}

static __global__ void __launch_bounds__(THREADS)
    calc(const __grid_constant__ struct calc_args args)
{
    extern __shared__ float shared[];
    float *registers = shared + threadIdx.x;
    int x = (int)(blockIdx.x * (THREADS * PIXELS) + threadIdx.x), n = 0;
#pragma unroll
    for (int k = 0; k < PIXELS; k++)
        n += x + k * THREADS < args.dst.width;
    for (int y = (int)blockIdx.y; y < args.dst.height; y += (int)gridDim.y)
        for (int i = 0; i < args.nsteps; i++)
            execute(args, args.steps[i], registers, x, y, n);
}

static enum gi_status by_pixels(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_calc *spec,
                                struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct calc_args args = {};
    args.dst = *dst;
    args.srcs[0] = *src;
    for (int j = 0; j < GI_CALC_OTHERS; j++)
        if (spec->others[j])
            args.srcs[1 + j] = *spec->others[j];
    args.y = spec->y;
    args.nsteps = spec->nsteps;
    memcpy(args.steps, spec->steps, sizeof args.steps);
    memcpy(args.constants, spec->constants, sizeof args.constants);
    dim3 grid((unsigned)ceil_div(dst->width, THREADS * PIXELS),
              (unsigned)(dst->height < 65535 ? dst->height : 65535));
    size_t shared_nbytes = (size_t)spec->nregisters * REGISTER_NBYTES;
    calc<<<grid, THREADS, shared_nbytes, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

const struct gi_calc_way gi_cuda_calc_ways[GI_WAYS_MAX] = {
    {{"pixels", "everything"}, NULL, by_pixels},
};
