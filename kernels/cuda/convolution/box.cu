/* Box filter (mean of k x k): the two-pass fallback for images that the single-pass kernels do not
 * accept. The column pass writes integer running sums to scratch memory; the row pass computes
 * prefix sums along each row, and the sum of every window as the difference of two prefix sums.
 * This file also has the kernel that writes the row ends for other kernels (box.cuh).
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/pdl.cuh"
#include "kernels/cuda/common/prefix.cuh"
#include "kernels/convolution.h"

enum {
    THREADS = 256,
    TILE = 1024,               /* pixels per block of the row pass */
    EACH = TILE / THREADS,     /* pixels per thread */
    SCRATCH_NBYTES = 32 << 20, /* maximum size of column sums, so that they stay in L2 */
    BAND_MIN = 256,
};

typedef unsigned long long u64;

struct box_args {
    struct source src; /* border values are integers */
    struct target dst;
    int k;
    bool weigh;
    int y0, y1;   /* rows to compute */
    int run;      /* rows per thread of the column pass */
    u64 *scratch; /* sums of k samples of a column around each of the rows y0 to y1 - 1 */
    size_t pitch; /* sums per row of the scratch */
};

static __device__ __forceinline__ unsigned integer_at(const char *row, int sample,
                                                      enum gi_type type)
{
    return type == GI_U8 ? ((const uint8_t *)row)[sample] : ((const uint16_t *)row)[sample];
}

/* Returns a sample as an integer. If weighted, colour is multiplied by alpha. */
static __device__ __forceinline__ unsigned box_sample(const struct box_args *args, int sample,
                                                      int c, int y)
{
    const struct source *src = &args->src;
    int yi = gi_border_index(y, src->height, src->border), last = src->channels - 1;
    bool weigh = args->weigh && c != last;
    if (yi < 0) {
        unsigned v = (unsigned)src->value[c];
        return weigh ? v * (unsigned)src->value[last] : v;
    }
    const char *row = src->data + (size_t)yi * src->stride;
    unsigned v = integer_at(row, sample, src->type);
    return weigh ? v * integer_at(row, sample + last - c, src->type) : v;
}

/* Column pass: a thread moves down one column of samples. */
static __global__ void __launch_bounds__(THREADS) box_down(const struct box_args args)
{
    int samples = args.src.width * args.src.channels;
    int sample = (int)(blockIdx.x * THREADS + threadIdx.x), c = sample % args.src.channels;
    int y0 = args.y0 + (int)blockIdx.y * args.run, y1 = min(y0 + args.run, args.y1);
    if (sample >= samples)
        return;
    u64 sum = 0, *out = args.scratch + (size_t)(y0 - args.y0) * args.pitch + sample;
    int r = args.k / 2;
    for (int y = y0 - r; y < y0 + r; y++)
        sum += box_sample(&args, sample, c, y);
    for (int y = y0; y < y1; y++, out += args.pitch) {
        sum += box_sample(&args, sample, c, y + r);
        *out = sum;
        sum -= box_sample(&args, sample, c, y - r);
    }
}

/* Returns the column sum of channel c at pixel x, which may be outside the image. */
static __device__ __forceinline__ u64 box_column(const struct box_args *args, const u64 *row,
                                                 long long x, int c)
{
    const struct source *src = &args->src;
    int xi = gi_border_index(x, src->width, src->border), last = src->channels - 1;
    if (xi >= 0)
        return row[(size_t)xi * src->channels + c];
    u64 v = (u64)src->value[c];
    if (args->weigh && c != last)
        v *= (u64)src->value[last];
    return v * (u64)args->k;
}

/* Row pass: sums[e] is the sum over the k pixels around pixel x0 + threadIdx.x + e * THREADS.
 * `prefix` has TILE + k entries. */
static __device__ void box_window(u64 *sums, u64 *prefix, const struct box_args *args,
                                  const u64 *row, long long x0, int c)
{
    int n = TILE + args->k - 1;
    __syncthreads();
    for (int i = (int)threadIdx.x; i < n; i += THREADS)
        prefix[i] = box_column(args, row, x0 - args->k / 2 + i, c);
    prefix_of_block<THREADS>(prefix, n);
    for (int e = 0; e < EACH; e++) {
        int i = (int)threadIdx.x + e * THREADS;
        sums[e] = prefix[i + args->k] - prefix[i];
    }
}

static __global__ void __launch_bounds__(THREADS) box_across(const struct box_args args)
{
    extern __shared__ u64 prefix[];
    u64 sums[EACH], alpha[EACH], count = (u64)args.k * (u64)args.k;
    const struct source *src = &args.src;
    int c = (int)blockIdx.z, last = src->channels - 1;
    long long x0 = (long long)blockIdx.x * TILE;
    for (int y = args.y0 + (int)blockIdx.y; y < args.y1; y += (int)gridDim.y) {
        const u64 *row = args.scratch + (size_t)(y - args.y0) * args.pitch;
        bool weigh = args.weigh && c != last;
        if (weigh)
            box_window(alpha, prefix, &args, row, x0, last);
        box_window(sums, prefix, &args, row, x0, c);
        char *out = args.dst.data + (size_t)y * args.dst.stride;
        for (int e = 0; e < EACH; e++) {
            long long x = x0 + threadIdx.x + e * THREADS;
            if (x >= src->width)
                continue;
            u64 mean = box_quotient(sums[e], weigh ? alpha[e] : count);
            if (src->type == GI_U8)
                ((uint8_t *)out)[x * src->channels + c] = (uint8_t)mean;
            else
                ((uint16_t *)out)[x * src->channels + c] = (uint16_t)mean;
        }
    }
}

static enum gi_status passes_run(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, const struct gi_box *spec,
                                 struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct gi_border_spec border = box_border(src, &spec->border);
    struct box_args args = {};
    args.src = source_of(src, &border, GI_ALPHA_PLAIN);
    args.dst = target_of(dst);
    args.k = spec->k;
    args.weigh = gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH;
    args.pitch = gi_row_samples(src);
    long long band = SCRATCH_NBYTES / (long long)(args.pitch * sizeof(u64));
    long long least = BAND_MIN, most = 32768; /* rows of a grid */
    band = band < least ? least : band > most ? most : band;
    band = band > src->height ? src->height : band;
    args.run = spec->k < 64 ? 64 : spec->k; /* rows per thread: its first sum needs k samples */
    void *scratch;
    enum gi_status status =
        gi_cuda_scratch(cu, &scratch, args.pitch * sizeof(u64) * (size_t)band, err);
    if (status)
        return status;
    args.scratch = (u64 *)scratch;
    size_t shared = (TILE + (size_t)spec->k) * sizeof(u64);
    for (long long y = 0; y < src->height; y += band) {
        args.y0 = (int)y;
        args.y1 = (int)(y + band < src->height ? y + band : src->height);
        dim3 columns(ceil_div((long long)args.pitch, THREADS),
                     ceil_div(args.y1 - args.y0, args.run));
        box_down<<<columns, THREADS, 0, cu->stream>>>(args);
        GI_CUDA_LAUNCHED();
        dim3 rows(ceil_div(src->width, TILE), args.y1 - args.y0, src->channels);
        box_across<<<rows, THREADS, shared, cu->stream>>>(args);
        GI_CUDA_LAUNCHED();
    }
    return GI_OK;
}

/* A thread writes a word of a row of ends, or of the additional row of border values. */
template <typename T>
static __device__ __forceinline__ void ends_make(const struct box_rows &rows, int words)
{
    enum { EACH = 4 / (int)sizeof(T) };
    int i = (int)(blockIdx.x * THREADS + threadIdx.x), y = i / words, channels = rows.src.channels;
    int at = (i - y * words) * EACH;
    if (y > rows.src.height)
        return;
    const T *row = (const T *)(rows.src.data + (size_t)y * rows.src.stride);
    T v[EACH];
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        int sample = at + j - rows.halo + (at + j < rows.halo ? 0 : rows.whole);
        int x = channels == 1 ? sample : (sample < 0 ? sample - channels + 1 : sample) / channels;
        int c = sample - x * channels;
        int xi = y < rows.src.height ? gi_border_index(x, rows.src.width, rows.src.border) : -1;
        v[j] = xi < 0 ? (T)rows.src.value[y < rows.src.height ? c : (at + j) % channels]
                      : row[(size_t)xi * channels + c];
    }
    char *out = (char *)rows.ends + (size_t)y * rows.ends_stride + (size_t)at * sizeof(T);
    unsigned word = 0;
#pragma unroll
    for (int j = 0; j < EACH; j++)
        word |= (sizeof(T) == 4 ? __float_as_uint((float)v[j]) : (unsigned)v[j])
                << 8 * (int)sizeof(T) * j;
    *(unsigned *)out = word;
}

static __global__ void __launch_bounds__(THREADS)
    box_ends(const __grid_constant__ struct box_rows rows, int words)
{
    pdl_allow();
    SAMPLE_TYPES(rows.src.type, ends_make<T>(rows, words));
}

/* Sets `above`, `below`, `step` and `least`. They replace gi_border_index() for rows whose distance
 * from the image is at most the height of the image. */
static void fold(struct box_rows *rows)
{
    int n = rows->src.height;
    rows->above = rows->step = rows->least = 0;
    rows->below = n - 1;
    switch (rows->src.border) {
    case GI_BORDER_VALUE:
        rows->above = rows->below = rows->least = -1;
        break;
    case GI_BORDER_WRAP:
        rows->above = n;
        rows->below = -n;
        rows->step = 1;
        break;
    case GI_BORDER_MIRROR:
        rows->above = rows->step = -1;
        rows->below = 2 * n - 1;
        break;
    case GI_BORDER_REFLECT101:
        rows->below = 2 * n - 2;
        rows->step = -1;
        break;
    default:
        break;
    }
}

enum gi_status gi_cuda_box_rows(struct gi_cuda_queue *cu, struct box_rows *rows,
                                const struct gi_image *src, const struct gi_border_spec *border,
                                int unit, int halo, void **more, size_t more_nbytes,
                                struct gi_err *err)
{
    long long n = 2LL * halo + unit;
    rows->src = source_of(src, border, GI_ALPHA_PLAIN);
    rows->unit = unit;
    rows->halo = halo;
    rows->whole = (int)gi_row_samples(src) / unit * unit;
    rows->ends_stride = (unsigned)ceil_div(n * (long long)gi_type_nbytes(src->type), 16) * 16;
    void *ends;
    size_t nbytes = (rows->ends_stride * ((size_t)src->height + 1) + 255) / 256 * 256;
    enum gi_status status = gi_cuda_scratch(cu, &ends, nbytes + more_nbytes, err);
    if (status)
        return status;
    rows->ends = (const char *)ends;
    if (more)
        *more = (char *)ends + nbytes;
    fold(rows);
    int words = ceil_div(n * (long long)gi_type_nbytes(src->type), 4);
    box_ends<<<ceil_div((src->height + 1LL) * words, THREADS), THREADS, 0, cu->stream>>>(*rows,
                                                                                         words);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* Time of each way in us on an H200, 8192 x 8192, 8-bit gray. k = 5: strips 56, passes 1080. strips
 * costs 270 lines and 18 kernels, and 571 lines that it shares with local thresholds. */
const struct gi_box_way gi_cuda_box_ways[GI_WAYS_MAX] = {
    {{"strips", "sums that fit in 32 bits, images higher than half the window"},
     gi_cuda_box_strips_takes,
     gi_cuda_box_strips},
    {{"passes", "everything"}, NULL, passes_run},
};
