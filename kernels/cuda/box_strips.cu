/* The mean of k x k in one pass, at a cost that hardly depends on k. A block goes down a strip of
 * columns; each thread keeps the sums of k samples of its columns, adding a row and taking one
 * off, and their prefix sums along the row give every window as a difference. All modulo 2^32,
 * which is exact as windows fit. SPDX-License-Identifier: MIT */
#include "kernels/cuda/box.h"

enum {
    PIXELS = 8, /* side by side, of a thread */
    WARPS = 32, /* of a block at most */
    EDGE_THREADS = 128,
    FEW_ROWS = 2, /* of gray a turn: so each barrier serves two */
};

struct strips_args {
    struct source src; /* border values are samples */
    struct target dst;
    const char *edges; /* rows of whole threads: those of the halos and at the image's right end */
    unsigned edges_stride;
    int r, halo;        /* pixels of a strip beside those it makes: more than r, whole threads */
    int strips, across; /* strips of a row; pixels that each makes, whole threads */
    int band;           /* rows that a block makes */
    int high[PIXELS], low[PIXELS]; /* words from a thread's prefix sums to those of pixel j's window
                                    */
    unsigned n, half;              /* k * k; half of it rounded down */
    unsigned magic, shift, byte;   /* v / n is v * magic >> 32 >> shift >> 8 * byte, at 8 bits */
};

/* What a thread reads of a row: 8 pixels, in words. */
template <typename T, int CHANNELS> struct chunk {
    unsigned words[PIXELS * CHANNELS * sizeof(T) / 4];
};

/* The first pixel of those at the right end that the image has only in part or not at all. */
static __host__ __device__ __forceinline__ int right_end(int width)
{
    return width / PIXELS * PIXELS;
}

/* Lays out the pixels at both ends of the rows, in the image and outside: `halo` to the left; and
 * to the right PIXELS + halo from right_end() on. So strips read whole words everywhere. */
template <typename T>
static __global__ void __launch_bounds__(EDGE_THREADS) box_edges(const struct strips_args args)
{
    int channels = args.src.channels;
    int i = (int)(blockIdx.x * EDGE_THREADS + threadIdx.x), pixel = i / channels, c = i % channels;
    if (pixel >= 2 * args.halo + PIXELS)
        return;
    int x = pixel - args.halo + (pixel < args.halo ? 0 : right_end(args.src.width));
    int xi = gi_border_index(x, args.src.width, args.src.border);
    for (int y = (int)blockIdx.y; y < args.src.height; y += (int)gridDim.y) {
        const T *row = (const T *)(args.src.data + (size_t)y * args.src.stride);
        ((T *)(args.edges + (size_t)y * args.edges_stride))[i] =
            xi < 0 ? (T)args.src.value[c] : row[(size_t)xi * channels + c];
    }
}

static __device__ __noinline__ int row_outside(const struct source *src, int y)
{
    return gi_border_index(y, src->height, src->border);
}

/* The thread's pixels of row y, which may be outside; of row 0 they lie at `first`. */
template <typename T, int CHANNELS>
static __device__ __forceinline__ void chunk_load(struct chunk<T, CHANNELS> *chunk,
                                                  const struct source *src, const char *first,
                                                  unsigned stride, int y)
{
    enum { WORDS = sizeof chunk->words / 4, PER_WORD = 4 / (int)sizeof(T) };
    if ((unsigned)y >= (unsigned)src->height) {
        y = row_outside(src, y);
        if (y < 0) {
#pragma unroll
            for (int i = 0; i < WORDS; i++) {
                chunk->words[i] = 0;
#pragma unroll
                for (int b = 0; b < PER_WORD; b++)
                    chunk->words[i] |= (unsigned)src->value[(i * PER_WORD + b) % CHANNELS]
                                       << (b * 8 * (int)sizeof(T));
            }
            return;
        }
    }
    const char *p = first + (size_t)(unsigned)y * stride;
    if constexpr (WORDS % 4 == 0) {
#pragma unroll
        for (int i = 0; i < WORDS; i += 4) {
            uint4 v = ((const uint4 *)p)[i / 4];
            chunk->words[i] = v.x, chunk->words[i + 1] = v.y;
            chunk->words[i + 2] = v.z, chunk->words[i + 3] = v.w;
        }
    } else {
#pragma unroll
        for (int i = 0; i < WORDS; i += 2) {
            uint2 v = ((const uint2 *)p)[i / 2];
            chunk->words[i] = v.x, chunk->words[i + 1] = v.y;
        }
    }
}

static __device__ __forceinline__ unsigned dot4(unsigned a, unsigned b, unsigned sum)
{
    asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}

static __device__ __forceinline__ unsigned dot2(unsigned a, unsigned b, unsigned sum)
{
    asm("dp2a.lo.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}

/* columns[s] += fresh sample - old sample; where WEIGH, of colour times alpha. */
template <typename T, int CHANNELS, bool WEIGH>
static __device__ __forceinline__ void columns_move(unsigned *columns,
                                                    const struct chunk<T, CHANNELS> *fresh,
                                                    const struct chunk<T, CHANNELS> *old)
{
    enum { WORDS = sizeof fresh->words / 4, LAST = CHANNELS - 1 };
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        unsigned f = fresh->words[i], o = old->words[i];
        if (sizeof(T) == 2) {
            columns[2 * i] = dot2(__byte_perm(f, o, 0x5410), 0xff01, columns[2 * i]);
            columns[2 * i + 1] = dot2(__byte_perm(f, o, 0x7632), 0xff01, columns[2 * i + 1]);
        } else if (WEIGH) {
#pragma unroll
            for (int b = 0; b < 4; b++) {
                unsigned v = f >> 8 * b & 255, w = o >> 8 * b & 255;
                if (b % CHANNELS == LAST)
                    columns[4 * i + b] += v - w;
                else
                    columns[4 * i + b] +=
                        v * (f >> 8 * (b | LAST) & 255) - w * (o >> 8 * (b | LAST) & 255);
            }
        } else { /* pairs of fresh and old, times 1 and -1 */
            unsigned low = __byte_perm(f, o, 0x5140), high = __byte_perm(f, o, 0x7362);
            columns[4 * i] = dot4(low, 0x0000ff01, columns[4 * i]);
            columns[4 * i + 1] = dot4(low, 0xff010000, columns[4 * i + 1]);
            columns[4 * i + 2] = dot4(high, 0x0000ff01, columns[4 * i + 2]);
            columns[4 * i + 3] = dot4(high, 0xff010000, columns[4 * i + 3]);
        }
    }
}

/* Where prefix sum i lies: one place left free every 8, so that threads which are 8 apart don't
 * meet in a bank of shared memory. */
static __host__ __device__ __forceinline__ int padded(int i)
{
    return i + (i >> 3);
}

/* N words from or to shared memory, by wide accesses where N allows. */
template <int N> static __device__ __forceinline__ void words_get(unsigned *v, const unsigned *p)
{
    if constexpr (N == 4) {
        uint4 t = *(const uint4 *)p;
        v[0] = t.x, v[1] = t.y, v[2] = t.z, v[3] = t.w;
    } else if constexpr (N == 2) {
        uint2 t = *(const uint2 *)p;
        v[0] = t.x, v[1] = t.y;
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            v[i] = p[i];
    }
}

template <int N> static __device__ __forceinline__ void words_put(unsigned *p, const unsigned *v)
{
    if constexpr (N == 3)
        p[0] = v[0], p[1] = v[1], p[2] = v[2];
    else
        words_store<N>(p, v);
}

/* The mean of a window from its sum and, where alpha weighs, that of alpha. At 8 bits it may lie
 * higher in the word, see means_pack(). */
template <typename T, int CHANNELS, bool WEIGH>
static __device__ __forceinline__ unsigned window_mean(const struct strips_args *args,
                                                       const unsigned *sums, int c)
{
    if (WEIGH && c != CHANNELS - 1)
        return box_quotient(sums[c], sums[CHANNELS - 1]);
    if (sizeof(T) == 2)
        return box_quotient(sums[c], args->n);
    unsigned v = __umulhi(sums[c] + args->half, args->magic);
    return WEIGH ? v >> args->shift >> 8 * args->byte : v;
}

/* N means to words of samples. */
template <typename T, int N, bool WEIGH>
static __device__ __forceinline__ void means_pack(unsigned *words, unsigned *means,
                                                  const struct strips_args *args)
{
    if (sizeof(T) == 2) {
#pragma unroll
        for (int i = 0; i < N / 2; i++)
            words[i] = __byte_perm(means[2 * i], means[2 * i + 1], 0x5410);
        return;
    }
    if (!WEIGH && args->shift)
#pragma unroll
        for (int i = 0; i < N; i++)
            means[i] >>= args->shift;
    unsigned pick = WEIGH ? 0x40 : 0x40 + args->byte * 0x11;
#pragma unroll
    for (int i = 0; i < N / 4; i++) {
        unsigned *m = means + 4 * i;
        words[i] =
            __byte_perm(__byte_perm(m[0], m[1], pick), __byte_perm(m[2], m[3], pick), 0x5410);
    }
}

/* The samples at `out`, of which the image's rows have `n` more. */
template <typename T, int WORDS>
static __device__ __forceinline__ void samples_store(T *out, const unsigned *words, int n)
{
    enum { PER_WORD = 4 / (int)sizeof(T), WIDE = WORDS % 4 ? 2 : 4 };
    if (n < WORDS * PER_WORD) {
#pragma unroll
        for (int s = 0; s < WORDS * PER_WORD; s++)
            if (s < n)
                out[s] = (T)(words[s / PER_WORD] >> s % PER_WORD * 8 * (int)sizeof(T));
        return;
    }
#pragma unroll
    for (int i = 0; i < WORDS; i += WIDE)
        words_store<WIDE>((unsigned *)out + i, words + i);
}

/* sum += that of the lane d before, where there is one. */
static __device__ __forceinline__ void add_lane(unsigned *sum, int d)
{
    asm volatile("{\n\t.reg .u32 other;\n\t.reg .pred there;\n\t"
                 "shfl.sync.up.b32 other|there, %0, %1, 0, 0xffffffff;\n\t"
                 "@there add.u32 %0, %0, other;\n\t}"
                 : "+r"(*sum)
                 : "r"(d));
}

/* base[v] = the sums of the threads before this one in its warp, from each thread's sums[v]; adds
 * those of the warp to `before` of the warps after it. */
template <int N>
static __device__ __forceinline__ void threads_scan(unsigned *base, unsigned *before,
                                                    const unsigned *sums)
{
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
#pragma unroll
    for (int v = 0; v < N; v++)
        base[v] = sums[v];
#pragma unroll
    for (int d = 1; d < 32; d *= 2)
#pragma unroll
        for (int v = 0; v < N; v++)
            add_lane(&base[v], d);
#pragma unroll
    for (int v = 0; v < N; v++) {
        unsigned all = __shfl_sync(~0u, base[v], 31);
        if (lane > warp)
            atomicAdd(&before[lane * N + v], all);
        base[v] -= sums[v];
    }
}

template <typename T, int CHANNELS> struct strips_shape {
    enum {
        THREADS = CHANNELS == 1 ? 1024 : 512,
        ROWS = CHANNELS == 1 ? FEW_ROWS : 1,
        VALUES = ROWS * CHANNELS, /* of a pixel in a turn */
    };
};

template <typename T, int CHANNELS, bool WEIGH>
static __global__ void __launch_bounds__(strips_shape<T, CHANNELS>::THREADS)
    box_strips(const __grid_constant__ struct strips_args args)
{
    enum { SAMPLES = PIXELS * CHANNELS, PIXEL_NBYTES = CHANNELS * sizeof(T) };
    enum { ROWS = strips_shape<T, CHANNELS>::ROWS, VALUES = strips_shape<T, CHANNELS>::VALUES };
    extern __shared__ uint4 memory[];
    __shared__ __align__(16) unsigned before[2][WARPS * VALUES];
    int me = (int)threadIdx.x, r = args.r, width = args.src.width;
    unsigned *prefix = (unsigned *)memory + me * (PIXELS + 1) * VALUES;
    int x = (int)blockIdx.x % args.strips * args.across - args.halo + me * PIXELS;
    int y0 = (int)blockIdx.x / args.strips * args.band, y1 = min(y0 + args.band, args.src.height);
    bool inside = x >= 0 && x + PIXELS <= width;
    bool makes = me * PIXELS >= args.halo && me * PIXELS < args.halo + args.across && x < width;
    int edge = x < 0 ? x + args.halo : min(x - right_end(width), args.halo) + args.halo;
    const char *first = inside ? args.src.data + (size_t)x * PIXEL_NBYTES
                               : args.edges + (size_t)edge * PIXEL_NBYTES;
    unsigned stride = inside ? (unsigned)args.src.stride : args.edges_stride;
    char *out = args.dst.data + (size_t)y0 * args.dst.stride + (long long)x * PIXEL_NBYTES;
    for (int i = me; i < WARPS * VALUES; i += (int)blockDim.x)
        before[0][i] = 0;
    __syncthreads();

    unsigned columns[SAMPLES] = {};
    struct chunk<T, CHANNELS> fresh[ROWS], old[ROWS] = {
    };
#pragma unroll 4
    for (int y = y0 - r - 1; y < y0 + r; y++) {
        chunk_load(&fresh[0], &args.src, first, stride, y);
        columns_move<T, CHANNELS, WEIGH>(columns, &fresh[0], &old[0]);
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        chunk_load(&fresh[i], &args.src, first, stride, y0 + i + r);
        chunk_load(&old[i], &args.src, first, stride, y0 + i - r - 1);
    }
    for (int y = y0, turn = 0; y < y1; y += ROWS, turn ^= 1) {
        unsigned sums[PIXELS][VALUES], base[VALUES];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            columns_move<T, CHANNELS, WEIGH>(columns, &fresh[i], &old[i]);
#pragma unroll
            for (int s = 0; s < SAMPLES; s++) {
                int j = s / CHANNELS, v = s % CHANNELS + i * CHANNELS;
                sums[j][v] = columns[s] + (j ? sums[j - 1][v] : 0);
            }
        }
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            chunk_load(&fresh[i], &args.src, first, stride, y + ROWS + i + r);
            chunk_load(&old[i], &args.src, first, stride, y + ROWS + i - r - 1);
        }
        threads_scan<VALUES>(base, before[turn], sums[PIXELS - 1]);
        __syncthreads();
#pragma unroll
        for (int v = 0; v < VALUES; v++)
            base[v] += before[turn][me / 32 * VALUES + v];
        if (me < WARPS)
#pragma unroll
            for (int v = 0; v < VALUES; v++)
                before[turn ^ 1][me * VALUES + v] = 0;
#pragma unroll
        for (int j = 0; j < PIXELS; j++) {
#pragma unroll
            for (int v = 0; v < VALUES; v++)
                sums[j][v] += base[v];
            words_put<VALUES>(prefix + j * VALUES, sums[j]);
        }
        __syncthreads();
        if (!makes)
            continue;
        unsigned means[ROWS][SAMPLES], words[ROWS][SAMPLES * sizeof(T) / 4];
#pragma unroll
        for (int j = 0; j < PIXELS; j++) {
            unsigned high[VALUES], low[VALUES];
            words_get<VALUES>(high, prefix + args.high[j]);
            words_get<VALUES>(low, prefix + args.low[j]);
#pragma unroll
            for (int v = 0; v < VALUES; v++)
                high[v] -= low[v];
#pragma unroll
            for (int v = 0; v < VALUES; v++)
                means[v / CHANNELS][j * CHANNELS + v % CHANNELS] = window_mean<T, CHANNELS, WEIGH>(
                    &args, high + v / CHANNELS * CHANNELS, v % CHANNELS);
        }
        means_pack<T, ROWS * SAMPLES, WEIGH>(words[0], means[0], &args);
#pragma unroll
        for (int i = 0; i < ROWS; i++, out += args.dst.stride)
            if (y + i < y1)
                samples_store<T, SAMPLES *(int)sizeof(T) / 4>((T *)out, words[i],
                                                              (width - x) * CHANNELS);
    }
}

/* Finds magic, shift and byte for 8-bit means: v * magic / 2^b, b = 32 + shift + 8 * byte, is
 * v * rest / (n * 2^b) above v / n, which is too little to reach the next whole number, at least
 * 1 / n away, while v * rest < 2^b; v is below 256 * n. A few large n have none. */
static bool division_of(struct strips_args *args)
{
    uint64_t n = args->n;
    for (unsigned i = 0; i < 48; i++) { /* whole bytes first: they cost nothing */
        unsigned down = i < 24 ? i / 8 * 8 : i - 24;
        uint64_t power = 1ull << (32 + down), magic = (power + n - 1) / n, rest = magic * n - power;
        args->magic = (unsigned)magic;
        args->shift = down % 8;
        args->byte = down / 8;
        if (magic <= UINT32_MAX && rest * 256 * n <= power)
            return true;
    }
    return false;
}

/* Strips of a row so that few threads do what others do too. */
static int division_of_rows(struct strips_args *args, int most)
{
    double best = 1e30;
    int threads = 0;
    for (int n = 32; n <= most; n += 32) {
        int across = n * PIXELS - 2 * args->halo;
        if (across <= 0)
            continue;
        int strips = ceil_div(args->src.width, across);
        double cost = (double)strips * n * (1 + n / 2048.0); /* large blocks wait longer */
        if (cost < best) {
            best = cost;
            threads = n;
            args->strips = strips;
            args->across = across;
        }
    }
    return threads;
}

template <typename T, int CHANNELS>
static enum gi_status lay_out_edges(struct gi_cuda_context *cu, struct strips_args *args,
                                    struct gi_err *err)
{
    int samples = (2 * args->halo + PIXELS) * CHANNELS;
    args->edges_stride = (unsigned)ceil_div(samples * (long long)sizeof(T), 16) * 16;
    void *edges;
    enum gi_status status =
        gi_cuda_scratch(cu, &edges, (size_t)args->edges_stride * (size_t)args->src.height, err);
    if (status)
        return status;
    args->edges = (const char *)edges;
    int rows = args->src.height < 32768 ? args->src.height : 32768;
    dim3 grid(ceil_div(samples, EDGE_THREADS), rows);
    box_edges<T><<<grid, EDGE_THREADS, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

template <typename T, int CHANNELS, bool WEIGH>
static enum gi_status launch(struct gi_cuda_context *cu, bool *fits, struct strips_args *args,
                             struct gi_err *err)
{
    enum { VALUES = strips_shape<T, CHANNELS>::VALUES };
    int threads = division_of_rows(args, strips_shape<T, CHANNELS>::THREADS);
    size_t shared = (size_t)threads * (PIXELS + 1) * VALUES * sizeof(unsigned);
    *fits = threads && shared + 4096 <= (size_t)cu->shared_nbytes;
    if (!*fits)
        return GI_OK;
    for (int j = 0; j < PIXELS; j++) {
        args->high[j] = padded(j + args->r) * VALUES;
        args->low[j] = padded(j - args->r - 1) * VALUES;
    }
    enum gi_status status = lay_out_edges<T, CHANNELS>(cu, args, err);
    if (status)
        return status;
    void (*kernel)(const struct strips_args) = box_strips<T, CHANNELS, WEIGH>;
    GI_CUDA_TRY(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    int blocks = 1;
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared));
    int bands = blocks * cu->units / args->strips; /* one wave */
    args->band = ceil_div(args->src.height, bands < 1 ? 1 : bands);
    kernel<<<args->strips * ceil_div(args->src.height, args->band), threads, shared, cu->stream>>>(
        *args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_box_strips(struct gi_cuda_context *cu, bool *fits, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_edge *edge,
                                  const struct gi_box *spec, struct gi_err *err)
{
    struct strips_args args = {};
    args.src = source_of(src, edge, GI_ALPHA_PLAIN);
    args.dst = target_of(dst);
    args.r = spec->k / 2;
    args.halo = (args.r / PIXELS + 1) * PIXELS;
    args.n = (unsigned)(spec->k * spec->k);
    args.half = args.n / 2;
    bool weigh = gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH, u8 = src->type == GI_U8;
    double most = gi_type_full_scale(src->type) * (weigh ? 255.0 : 1.0) + 0.5;
    *fits = spec->k > 1 && src->channels != 2 && most * args.n < 4294967296.0 && (u8 || !weigh) &&
            (!u8 || division_of(&args));
    if (!*fits)
        return GI_OK;
    if (src->channels == 1)
        return u8 ? launch<uint8_t, 1, false>(cu, fits, &args, err)
                  : launch<uint16_t, 1, false>(cu, fits, &args, err);
    if (src->channels == 3)
        return u8 ? launch<uint8_t, 3, false>(cu, fits, &args, err)
                  : launch<uint16_t, 3, false>(cu, fits, &args, err);
    if (weigh)
        return launch<uint8_t, 4, true>(cu, fits, &args, err);
    return u8 ? launch<uint8_t, 4, false>(cu, fits, &args, err)
              : launch<uint16_t, 4, false>(cu, fits, &args, err);
}
