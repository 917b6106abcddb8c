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

struct box_args {
    struct source src; /* border values are integers */
    struct target dst;
    int k;
    bool weigh;
    int y0, y1;    /* rows to compute */
    int run;       /* rows per thread of the column pass */
    char *scratch; /* sums of k samples of a column around each of the rows y0 to y1 - 1 */
    size_t pitch;  /* sums per row of the scratch */
};

/* Returns a sample as an integer. If weighted, colour is multiplied by alpha. */
template <typename T>
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
    const T *row = (const T *)(src->data + (size_t)yi * src->stride);
    return weigh ? (unsigned)row[sample] * row[sample + last - c] : row[sample];
}

/* Column pass: a thread moves down one column of samples. A is an integer type that holds the sum
 * of any k x k samples. */
template <typename T, typename A>
static __global__ void __launch_bounds__(THREADS) box_down(const struct box_args args)
{
    int samples = args.src.width * args.src.channels;
    int sample = (int)(blockIdx.x * THREADS + threadIdx.x), c = sample % args.src.channels;
    int y0 = args.y0 + (int)blockIdx.y * args.run, y1 = min(y0 + args.run, args.y1);
    if (sample >= samples)
        return;
    A sum = 0, *out = (A *)args.scratch + (size_t)(y0 - args.y0) * args.pitch + sample;
    int r = args.k / 2;
    for (int y = y0 - r; y < y0 + r; y++)
        sum += box_sample<T>(&args, sample, c, y);
    for (int y = y0; y < y1; y++, out += args.pitch) {
        sum += box_sample<T>(&args, sample, c, y + r);
        *out = sum;
        sum -= box_sample<T>(&args, sample, c, y - r);
    }
}

/* Returns the column sum of channel c at pixel x, which may be outside the image. */
template <typename A>
static __device__ __forceinline__ A box_column(const struct box_args *args, const A *row,
                                               long long x, int c)
{
    const struct source *src = &args->src;
    int xi = gi_border_index(x, src->width, src->border), last = src->channels - 1;
    if (xi >= 0)
        return row[(size_t)xi * src->channels + c];
    A v = (A)src->value[c];
    if (args->weigh && c != last)
        v *= (A)src->value[last];
    return v * (A)args->k;
}

/* Row pass: sums[e] is the sum over the k pixels around pixel x0 + threadIdx.x + e * THREADS.
 * `prefix` has TILE + k entries. */
template <typename A>
static __device__ void box_window(A *sums, A *prefix, const struct box_args *args, const A *row,
                                  long long x0, int c)
{
    int n = TILE + args->k - 1;
    __syncthreads();
    for (int i = (int)threadIdx.x; i < n; i += THREADS)
        prefix[i] = box_column<A>(args, row, x0 - args->k / 2 + i, c);
    prefix_of_block<THREADS>(prefix, n);
    for (int e = 0; e < EACH; e++) {
        int i = (int)threadIdx.x + e * THREADS;
        sums[e] = prefix[i + args->k] - prefix[i];
    }
}

template <typename T, typename A>
static __global__ void __launch_bounds__(THREADS) box_across(const struct box_args args)
{
    extern __shared__ unsigned long long memory[];
    A *prefix = (A *)memory, sums[EACH], alpha[EACH];
    const struct source *src = &args.src;
    int c = (int)blockIdx.z, last = src->channels - 1;
    long long x0 = (long long)blockIdx.x * TILE;
    A count = (A)args.k * (A)args.k;
    for (int y = args.y0 + (int)blockIdx.y; y < args.y1; y += (int)gridDim.y) {
        const A *row = (const A *)args.scratch + (size_t)(y - args.y0) * args.pitch;
        bool weigh = args.weigh && c != last;
        if (weigh)
            box_window<A>(alpha, prefix, &args, row, x0, last);
        box_window<A>(sums, prefix, &args, row, x0, c);
        T *out = (T *)(args.dst.data + (size_t)y * args.dst.stride);
        for (int e = 0; e < EACH; e++) {
            long long x = x0 + threadIdx.x + e * THREADS;
            if (x < src->width)
                out[x * src->channels + c] = (T)box_quotient(sums[e], weigh ? alpha[e] : count);
        }
    }
}

template <typename T, typename A>
static enum gi_status launch_any(struct gi_cuda_queue *cu, struct gi_image *dst,
                                 const struct gi_image *src, const struct gi_border_spec *border,
                                 const struct gi_box *spec, struct gi_err *err)
{
    struct box_args args = {};
    args.src = source_of(src, border, GI_ALPHA_PLAIN);
    args.dst = target_of(dst);
    args.k = spec->k;
    args.weigh = gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH;
    args.pitch = gi_row_samples(src);
    long long band = SCRATCH_NBYTES / (long long)(args.pitch * sizeof(A));
    long long least = BAND_MIN, most = 32768; /* rows of a grid */
    band = band < least ? least : band > most ? most : band;
    band = band > src->height ? src->height : band;
    args.run = spec->k < 64 ? 64 : spec->k; /* rows per thread: its first sum needs k samples */
    void *scratch;
    enum gi_status status =
        gi_cuda_scratch(cu, &scratch, args.pitch * sizeof(A) * (size_t)band, err);
    if (status)
        return status;
    args.scratch = (char *)scratch;
    size_t shared = (TILE + (size_t)spec->k) * sizeof(A);
    for (long long y = 0; y < src->height; y += band) {
        args.y0 = (int)y;
        args.y1 = (int)(y + band < src->height ? y + band : src->height);
        dim3 columns(ceil_div((long long)args.pitch, THREADS),
                     ceil_div(args.y1 - args.y0, args.run));
        box_down<T, A><<<columns, THREADS, 0, cu->stream>>>(args);
        GI_CUDA_LAUNCHED();
        dim3 rows(ceil_div(src->width, TILE), args.y1 - args.y0, src->channels);
        box_across<T, A><<<rows, THREADS, shared, cu->stream>>>(args);
        GI_CUDA_LAUNCHED();
    }
    return GI_OK;
}

/* Returns whether window sums fit in 32 bits. Samples have 8 bits and may be multiplied by
 * alpha. */
static bool sums_fit(const struct gi_image *src, const struct gi_box *spec)
{
    bool weigh = gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH;
    return !weigh || 255LL * 255 * spec->k * spec->k <= UINT32_MAX;
}

/* One warp writes each row of ends, and a further warp writes the additional row of border
 * values. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    box_ends(const __grid_constant__ struct box_rows rows)
{
    pdl_allow();
    int channels = rows.src.channels, n = 2 * rows.halo + rows.unit;
    int y = (int)(blockIdx.x * (THREADS / 32) + threadIdx.x / 32);
    if (y > rows.src.height)
        return;
    const T *row = (const T *)(rows.src.data + (size_t)y * rows.src.stride);
    T *out = (T *)(rows.ends + (size_t)y * rows.ends_stride);
    for (int i = (int)threadIdx.x % 32; i < n; i += 32) {
        int sample = i < rows.halo ? i - rows.halo : i - rows.halo + rows.whole;
        int x = (sample < 0 ? sample - channels + 1 : sample) / channels, c = sample - x * channels;
        int xi = y < rows.src.height ? gi_border_index(x, rows.src.width, rows.src.border) : -1;
        out[i] = xi < 0 ? (T)rows.src.value[y < rows.src.height ? c : i % channels]
                        : row[(size_t)xi * channels + c];
    }
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
    int blocks = ceil_div(src->height + 1LL, THREADS / 32);
    if (src->type == GI_U8)
        box_ends<uint8_t><<<blocks, THREADS, 0, cu->stream>>>(*rows);
    else if (src->type == GI_U16)
        box_ends<uint16_t><<<blocks, THREADS, 0, cu->stream>>>(*rows);
    else
        box_ends<float><<<blocks, THREADS, 0, cu->stream>>>(*rows);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status passes_run(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, const struct gi_box *spec,
                                 struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct gi_border_spec border = box_border(src, &spec->border);
    bool u8 = src->type == GI_U8;
    if (u8 && sums_fit(src, spec))
        return launch_any<uint8_t, unsigned>(cu, dst, src, &border, spec, err);
    return u8 ? launch_any<uint8_t, unsigned long long>(cu, dst, src, &border, spec, err)
              : launch_any<uint16_t, unsigned long long>(cu, dst, src, &border, spec, err);
}

/* Time of each way in us on an H200, 8192 x 8192, 8-bit gray. k = 5: strips 58, passes 1080. strips
 * costs 271 lines and 18 kernels, and 577 lines that it shares with local thresholds. */
const struct gi_box_way gi_cuda_box_ways[GI_WAYS_MAX] = {
    {{"strips", "sums that fit in 32 bits, images higher than half the window"},
     gi_cuda_box_strips_takes,
     gi_cuda_box_strips},
    {{"passes", "everything"}, NULL, passes_run},
};
