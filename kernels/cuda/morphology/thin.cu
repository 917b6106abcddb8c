/* Thinning by lookup tables, on images of bits in scratch memory: 32 pixels are a word, and a row
 * of zeros is above and below the image, a word of zeros after each row. A pass reads one image of
 * bits and writes the other one. A thread has a word and looks up only pixels with a background
 * neighbour.
 *
 *     bits:  0 | 0 0 0 0 | 0     1. thin_pack: a warp makes a word by a ballot
 *              | w w w w | 0     2. thin_pass, launched for CYCLES cycles at a time; notes for each
 *              | w w w w | 0        cycle whether it has removed a pixel
 *              | 0 0 0 0 | 0     3. thin_unpack
 *
 * Example: 8192 x 8192 pixels are 8 MiB of bits, which stay in the L2 cache.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/morphology/bit_image.cuh"
#include "kernels/morphology.h"

enum {
    THIN_THREADS = 256,
    THIN_GRID_ROWS = 16384,
    CYCLES = 8, /* between two looks of the host; more than needed change nothing */
};

struct thin_args {
    struct gi_image dst, src;
    struct gi_thin spec;
    struct bit_image bits[2];
    unsigned *removed; /* CYCLES flags */
    int nwords;        /* per row, without the word of zeros */
};

static __global__ void __launch_bounds__(BITS_THREADS)
    thin_pack(const __grid_constant__ struct thin_args args)
{
    SAMPLE_TYPES(args.src.type, bits_pack<T>(args.bits[0], args.src, 0));
}

static __global__ void __launch_bounds__(BITS_THREADS)
    thin_unpack(const __grid_constant__ struct thin_args args, int which)
{
    SAMPLE_TYPES(args.src.type, bits_unpack<T>(args.dst, args.bits[which]));
}

/* Returns the word at `own` without the pixels that the pass removes. `stride` is the number of
 * words per row. */
static __device__ __forceinline__ uint32_t word_thinned(const uint32_t *own, int stride,
                                                        const uint32_t *removes)
{
    uint32_t n[8], left = *own, looked = *own;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        int at = k < 4 ? k : k + 1, column = at % 3;
        const uint32_t *row = own + (at / 3 - 1) * (ptrdiff_t)stride;
        n[k] = column == 0   ? __funnelshift_l(row[-1], row[0], 1)
               : column == 1 ? row[0]
                             : __funnelshift_r(row[0], row[1], 1);
    }
    /* Pixels whose neighbours are all foreground have code 255. */
    if (!(removes[7] >> 31))
        looked &= ~(n[0] & n[1] & n[2] & n[3] & n[4] & n[5] & n[6] & n[7]);
    for (; looked; looked &= looked - 1) {
        int bit = __ffs((int)looked) - 1;
        unsigned code = 0;
#pragma unroll
        for (int k = 0; k < 8; k++)
            code |= (n[k] >> bit & 1) << k;
        if (removes[code / 32] >> code % 32 & 1)
            left &= ~(1u << bit);
    }
    return left;
}

/* Pass `pass` of its cycle; reads bits[which]. */
static __global__ void __launch_bounds__(THIN_THREADS)
    thin_pass(const __grid_constant__ struct thin_args args, int which, int pass, int cycle)
{
    __shared__ uint32_t removes[8];
    if (threadIdx.x < 8)
        removes[threadIdx.x] = args.spec.removes[pass][threadIdx.x];
    __syncthreads();
    int word = (int)(blockIdx.x * THIN_THREADS + threadIdx.x);
    bool removed = false;
    if (word >= args.nwords)
        return;
    for (int y = (int)blockIdx.y; y < args.src.height; y += (int)gridDim.y) {
        const uint32_t *own = bits_row(args.bits[which], y) + word;
        uint32_t made = *own ? word_thinned(own, args.bits[0].pitch, removes) : 0;
        bits_row(args.bits[!which], y)[word] = made;
        removed |= made != *own;
    }
    if (removed)
        args.removed[cycle] = 1;
}

/* Runs cycles of passes. *which becomes the image of bits that has the result. */
static enum gi_status cycles_run(struct gi_cuda_queue *cu, const struct thin_args *args, int *which,
                                 struct gi_err *err)
{
    const struct gi_thin *spec = &args->spec;
    int height = args->src.height;
    dim3 grid((unsigned)ceil_div(args->nwords, THIN_THREADS),
              (unsigned)(height < THIN_GRID_ROWS ? height : THIN_GRID_ROWS));
    unsigned removed = 1;
    for (int done = 0; removed && (!spec->cycles || done < spec->cycles);) {
        int n = spec->cycles && spec->cycles - done < CYCLES ? spec->cycles - done : CYCLES;
        GI_CUDA_TRY(cudaMemsetAsync(args->removed, 0, CYCLES * sizeof(unsigned), cu->stream));
        for (int cycle = 0; cycle < n; cycle++)
            for (int pass = 0; pass < spec->npasses; pass++, *which = !*which)
                thin_pass<<<grid, THIN_THREADS, 0, cu->stream>>>(*args, *which, pass, cycle);
        GI_CUDA_LAUNCHED();
        enum gi_status status =
            gi_cuda_copy_to_host(cu, &removed, sizeof removed, &args->removed[n - 1],
                                 sizeof removed, sizeof removed, 1, err);
        if (status)
            return status;
        done += n;
    }
    return GI_OK;
}

static enum gi_status by_words(struct gi_queue *queue, struct gi_image *dst,
                               const struct gi_image *src, const struct gi_thin *spec,
                               struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct thin_args args = {*dst, *src, *spec, {}, NULL, ceil_div(src->width, WORD_PIXELS)};
    const int pitch = args.nwords + 1;
    size_t room = ((size_t)src->height + 2) * (size_t)pitch + 1;
    size_t nbytes = (2 * room + CYCLES) * sizeof(uint32_t);
    void *scratch;
    enum gi_status status = gi_cuda_scratch(cu, &scratch, nbytes, err);
    if (status)
        return status;
    for (int i = 0; i < 2; i++)
        args.bits[i] = {(uint32_t *)scratch + i * room + pitch + 1, pitch};
    args.removed = (uint32_t *)scratch + 2 * room;
    GI_CUDA_TRY(cudaMemsetAsync(scratch, 0, nbytes, cu->stream));
    thin_pack<<<bits_grid(src), BITS_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    int which = 0;
    status = cycles_run(cu, &args, &which, err);
    if (status)
        return status;
    thin_unpack<<<bits_grid(src), BITS_THREADS, 0, cu->stream>>>(args, which);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

const struct gi_thin_way gi_cuda_thin_ways[GI_WAYS_MAX] = {
    {{"words", "everything"}, NULL, by_words},
};
