/* Min/max filter: two-pass fallback for rectangles that the single-pass kernels do not accept, and
 * the table of implementations. The vertical pass is van Herk/Gil-Werman, with backward minima in
 * dst. The horizontal pass doubles runs in scratch memory.
 *
 * M. van Herk, "A fast algorithm for local minimum and maximum filters on rectangular and octagonal
 * kernels", Pattern Recognition Letters 13, 1992; J. Gil and M. Werman, "Computing 2-D min, median,
 * and max filters", IEEE TPAMI 15(5), 1993.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/morphology/min_max.cuh"
#include "kernels/morphology.h"

enum {
    SCRATCH_NBYTES = 8 << 20, /* bytes per scratch image, so that two fit in the L2 cache */
};

struct passes_args {
    struct source src; /* border values are samples */
    struct target dst;
    int width, height, anchor_x, anchor_y;
    int nbytes; /* of a sample */
    unsigned turn;
    bool keep_alpha;
};

/* A row of keys, which are as large as the samples. */
static __device__ __forceinline__ unsigned key_at(const char *row, size_t i, enum gi_type type)
{
    return type == GI_U8    ? ((const uint8_t *)row)[i]
           : type == GI_U16 ? ((const uint16_t *)row)[i]
                            : ((const uint32_t *)row)[i];
}

static __device__ __forceinline__ void key_put(char *row, size_t i, enum gi_type type, unsigned key)
{
    if (type == GI_U8)
        ((uint8_t *)row)[i] = (uint8_t)key;
    else if (type == GI_U16)
        ((uint16_t *)row)[i] = (uint16_t)key;
    else
        ((uint32_t *)row)[i] = key;
}

/* Returns the key of the border value of channel c. Its lower bytes count. */
static __device__ __forceinline__ unsigned border_key(const struct passes_args *args, size_t c)
{
    float v = args->src.value[c];
    return args->src.type == GI_F32 ? min_max_key(__float_as_uint(v), args->turn)
                                    : (unsigned)v ^ args->turn;
}

/* Returns the minimum of each key in two words. */
static __device__ __forceinline__ unsigned least_keys(unsigned a, unsigned b, enum gi_type type)
{
    return type == GI_U8 ? __vminu4(a, b) : type == GI_U16 ? __vminu2(a, b) : min(a, b);
}

/* Returns the keys of a word of row p, or `value` if that row is outside the image. */
static __device__ __forceinline__ unsigned word_at(const struct passes_args *args, size_t word,
                                                   long long p, unsigned value)
{
    int y = gi_border_index(p, args->src.height, args->src.border);
    if (y < 0)
        return value;
    unsigned bits = ((const unsigned *)(args->src.data + (size_t)y * args->src.stride))[word];
    return args->src.type == GI_F32 ? min_max_key(bits, args->turn) : bits ^ args->turn;
}

/* Vertical pass. The rows are divided into groups of as many rows as the structuring element is
 * high. A thread computes one word in each row of a group. Row i of the result is the minimum of
 * the group's source rows from i on and of the next group's rows before i. */
static __global__ void __launch_bounds__(MIN_MAX_THREADS)
    min_max_down(const __grid_constant__ struct passes_args args, int words)
{
    int word = (int)(blockIdx.x * MIN_MAX_THREADS + threadIdx.x), height = args.height;
    enum gi_type type = args.src.type;
    if (word >= words)
        return;
    unsigned value = 0;
    for (int i = 4 / args.nbytes - 1; i >= 0; i--)
        key_put((char *)&value, (size_t)i, type,
                border_key(&args, ((size_t)word * (4 / args.nbytes) + i) % args.src.channels));
    for (long long y0 = (long long)blockIdx.y * height; y0 < args.src.height;
         y0 += (long long)gridDim.y * height) {
        int n = (int)min((long long)height, args.src.height - y0);
        long long top = y0 - args.anchor_y;
        unsigned *out = (unsigned *)(args.dst.data + (size_t)y0 * args.dst.stride) + word;
        size_t stride = args.dst.stride / sizeof *out;
        unsigned best = ~0u;
#pragma unroll 4
        for (int i = height - 1; i >= 0; i--) {
            best = least_keys(best, word_at(&args, (size_t)word, top + i, value), type);
            if (i < n)
                out[(size_t)i * stride] = best;
        }
        best = ~0u;
#pragma unroll 4
        for (int i = 1; i < n; i++) {
            best =
                least_keys(best, word_at(&args, (size_t)word, top + height - 1 + i, value), type);
            out[(size_t)i * stride] = least_keys(out[(size_t)i * stride], best, type);
        }
    }
}

/* Copies rows y0 and following of min_max_down()'s result to scratch memory, with halo columns on
 * both sides. */
static __global__ void __launch_bounds__(MIN_MAX_THREADS)
    min_max_spread(const __grid_constant__ struct passes_args args, char *to, size_t pitch, int y0,
                   int rows)
{
    int channels = args.src.channels, x = (int)(blockIdx.x * MIN_MAX_THREADS + threadIdx.x);
    if (x >= args.src.width + args.width - 1)
        return;
    int xi = gi_border_index(x - args.anchor_x, args.src.width, args.src.border);
    for (int y = (int)blockIdx.y; y < rows; y += (int)gridDim.y) {
        const char *row = args.dst.data + (size_t)(y0 + y) * args.dst.stride;
        for (int c = 0; c < channels; c++)
            key_put(to + y * pitch, (size_t)x * channels + c, args.src.type,
                    xi < 0 ? border_key(&args, (size_t)c)
                           : key_at(row, (size_t)xi * channels + c, args.src.type));
    }
}

/* Doubles the pixels of which each of n keys per row is the minimum. */
static __global__ void __launch_bounds__(MIN_MAX_THREADS)
    min_max_widen(char *to, const char *from, size_t pitch, int n, int shift, int rows,
                  enum gi_type type)
{
    int i = (int)(blockIdx.x * MIN_MAX_THREADS + threadIdx.x);
    for (int y = (int)blockIdx.y; i < n && y < rows; y += (int)gridDim.y) {
        const char *row = from + y * pitch;
        key_put(to + y * pitch, i, type, min(key_at(row, i, type), key_at(row, i + shift, type)));
    }
}

static __global__ void __launch_bounds__(MIN_MAX_THREADS)
    min_max_store(const __grid_constant__ struct passes_args args, const char *from, size_t pitch,
                  int shift, int y0, int rows)
{
    int i = (int)(blockIdx.x * MIN_MAX_THREADS + threadIdx.x), channels = args.src.channels;
    enum gi_type type = args.src.type;
    bool keep = args.keep_alpha && i % channels == channels - 1;
    for (int y = (int)blockIdx.y; i < args.src.width * channels && y < rows; y += (int)gridDim.y) {
        const char *row = from + y * pitch;
        unsigned v = min(key_at(row, i, type), key_at(row, i + shift, type));
        v = type == GI_F32 ? min_max_bits(v, args.turn) : v ^ args.turn;
        if (keep)
            v = key_at(args.src.data + (size_t)(y0 + y) * args.src.stride, i, type);
        key_put(args.dst.data + (size_t)(y0 + y) * args.dst.stride, i, type, v);
    }
}

static enum gi_status along(struct gi_cuda_queue *cu, const struct passes_args *args,
                            struct gi_err *err)
{
    int channels = args->src.channels, width = args->width, m = 1;
    long long n = (long long)args->src.width * channels, sides = (width - 1LL) * channels;
    size_t pitch = (size_t)(n + sides + 127) / 128 * 128 * (size_t)args->nbytes;
    long long band = SCRATCH_NBYTES / (long long)pitch;
    band = band < 1 ? 1 : band > args->src.height ? args->src.height : band;
    void *scratch;
    enum gi_status status = gi_cuda_scratch(cu, &scratch, 2 * pitch * (size_t)band, err);
    if (status)
        return status;
    for (long long y = 0; y < args->src.height; y += band, m = 1) {
        int rows = (int)(band < args->src.height - y ? band : args->src.height - y);
        char *a = (char *)scratch, *b = a + pitch * (size_t)band;
        min_max_spread<<<min_max_grid(args->src.width + width - 1LL, rows), MIN_MAX_THREADS, 0,
                         cu->stream>>>(*args, a, pitch, (int)y, rows);
        GI_CUDA_LAUNCHED();
        for (long long left = n + sides; 2 * m < width; m *= 2) {
            left -= (long long)m * channels;
            min_max_widen<<<min_max_grid(left, rows), MIN_MAX_THREADS, 0, cu->stream>>>(
                b, a, pitch, (int)left, m * channels, rows, args->src.type);
            GI_CUDA_LAUNCHED();
            char *swap = a;
            a = b;
            b = swap;
        }
        int shift = width > 1 ? (width - m) * channels : 0;
        min_max_store<<<min_max_grid(n, rows), MIN_MAX_THREADS, 0, cu->stream>>>(
            *args, a, pitch, shift, (int)y, rows);
        GI_CUDA_LAUNCHED();
    }
    return GI_OK;
}

static enum gi_status passes_run(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, const struct gi_min_max *spec,
                                 struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct gi_border_spec border = min_max_border(src, &spec->border);
    struct passes_args args = {source_of(src, &border, GI_ALPHA_PLAIN),
                               target_of(dst),
                               spec->width,
                               spec->height,
                               spec->anchor_x,
                               spec->anchor_y,
                               (int)gi_type_nbytes(src->type),
                               spec->greatest ? ~0u : 0,
                               gi_has_alpha(src) && !spec->alpha_too};
    int words = ceil_div((long long)gi_row_nbytes(src), 4);
    min_max_down<<<min_max_grid(words, ceil_div(src->height, args.height)), MIN_MAX_THREADS, 0,
                   cu->stream>>>(args, words);
    GI_CUDA_LAUNCHED();
    return along(cu, &args, err);
}

static bool passes_takes(const struct gi_queue *queue, const struct gi_image *src,
                         const struct gi_min_max *spec)
{
    (void)queue, (void)src;
    return !spec->runs;
}

/* Time of each way in us, 8192 x 8192, 8-bit gray, on an H200: 3 x 3: strips 44, passes 759; 31 x
 * 31: strips 67, passes 1294; on an H100: disks: 5 x 5: levels 1580, runs 1154; 9 x 9: levels 1902,
 * runs 2214; 31 x 31: levels 2810, runs 14715; 101 x 101: levels 5998, runs 128800. strips costs
 * 1040 lines and 8 kernels, levels 262 and 3. */
const struct gi_min_max_way gi_cuda_min_max_ways[GI_WAYS_MAX] = {
    {{"strips", "rectangles no higher than the image, of which a multiprocessor holds rows or "
                "minima of 8 rows"},
     gi_cuda_min_max_strips_takes,
     gi_cuda_min_max_strips},
    {{"passes", "rectangles"}, passes_takes, passes_run},
    {{"levels", "windows of long runs, such as disks"},
     gi_cuda_min_max_levels_takes,
     gi_cuda_min_max_levels},
    {{"runs", "windows of any other shape"}, gi_cuda_min_max_runs_takes, gi_cuda_min_max_runs},
};
