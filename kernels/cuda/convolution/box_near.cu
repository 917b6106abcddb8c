/* Box filter (mean of k x k) whose windows extend at most 16 bytes to each side, up to k = 31 of
 * 8-bit gray, and the mask of gray samples above their mean: running column sums, then row sums.
 *
 * A block is one warp. It moves down or up a band of a strip of STRIP bytes, ROWS rows per step. A
 * thread owns 16 bytes of each of the PARTS parts and keeps the sums of k samples of its columns.
 *              SIDE  part 0: 32 lanes x 16 bytes    part 1 (k <= 15)    SIDE
 *             +----+----+----+----+- ... -+----+----+- ... -+----+----+
 *   row y-R-1 |    | l0 | l1 | l2 |       |l31 | l0 |       |l31 |    |  leaves: subtract from sums
 *   row y+R   |    |    |    |    |       |    |    |       |    |    |  enters: add to column sums
 *             +----+----+----+----+- ... -+----+----+- ... -+----+----+
 * Shared memory: a ring buffer of k + AHEAD + ROWS rows, so that each row is loaded once (cp.async,
 * AHEAD rows in flight); `exchange`, the column sums that neighbours need, in planes of WIDE words
 * (double buffering, free of bank conflicts); `beyond`, words that WRAP needs from the other end.
 * Phases of a step: load, compute columns, exchange, compute rows, store.
 * Example: k = 5, 8-bit gray. STRIP = 1024, the ring buffer has 9 rows of 1056 bytes; a thread
 * keeps 2 x 16 sums of 16 bits and reads BESIDE = 1 word of each neighbour.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/convolution/box_near.cuh"
#include "kernels/cuda/common/sliding_window_ring.cuh"
#include "kernels/cuda/tone/local_threshold.cuh"

enum { WARPS = 8 }; /* warps per multiprocessor that saturate memory; more need shorter bands */

/* Shape of the work of a warp and its threads. */
template <typename T, int CHANNELS, bool WEIGH, int K> struct near_shape {
    typedef T sample;
    enum {
        R = K / 2,
        CHANNEL_COUNT = CHANNELS,
        WEIGHED = WEIGH,
        N = 16 / (int)sizeof(T),               /* samples per thread and part */
        PARTS = K <= 15 && !WEIGH ? 2 : 1,     /* side by side: 2 read fewer sides */
        ROWS = K <= 15 ? 1 : 2,                /* rows per step; with large windows few warps fit */
        AHEAD = K <= 15 ? 3 : 6,               /* rows in flight, a multiple of ROWS */
        PART = 32 * 16,                        /* bytes */
        SIDE = NEAR_NBYTES,                    /* bytes on each side of a strip */
        STRIP = PARTS * PART,                  /* bytes of a row that a warp computes */
        SLOT = STRIP + 2 * SIDE,               /* bytes of a row in the ring buffer */
        RING = K + AHEAD + ROWS,               /* rows in the ring buffer */
        SUM = WEIGH ? 4 : 2 * (int)sizeof(T),  /* bytes per column sum */
        WORDS = N * SUM / 4,                   /* words of a thread's sums per part */
        BESIDE = (R * CHANNELS * SUM + 3) / 4, /* words needed of each neighbour */
        WIDE = BESIDE > 2 ? 4 : BESIDE,        /* words read at once; width of a plane */
        PLANES = BESIDE <= WIDE ? 2 : WORDS / WIDE, /* planes of first and of last words */
        PLANE = (PARTS * 32 + 2) * WIDE * 4,        /* bytes, with the sides */
        PART_PLANE = 32 * WIDE * 4,
        TURN = ROWS * PLANES * PLANE,        /* bytes exchanged per step */
        BEYOND = AHEAD + ROWS <= 8 ? 8 : 16, /* rows of words for WRAP */
    };
    static_assert(R * CHANNELS <= N, "the window reaches into SIDE at most");
    static_assert(AHEAD % ROWS == 0 && 2 * R % ROWS == 0, "whole turns");
};

static __device__ __forceinline__ unsigned shared_at(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

template <int N> static __device__ __forceinline__ void shared_store(unsigned at, const unsigned *v)
{
    if constexpr (N == 4)
        asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(v[0]), "r"(v[1]),
                     "r"(v[2]), "r"(v[3])
                     : "memory");
    else if constexpr (N == 2)
        asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(at), "r"(v[0]), "r"(v[1]) : "memory");
    else
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(v[0]) : "memory");
}

/* Stores 16 bytes if `yes`. */
static __device__ __forceinline__ void store_if(char *out, const unsigned *v, bool yes)
{
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0;\n"
                 "@p st.global.v4.u32 [%1], {%2, %3, %4, %5}; }" ::"r"((int)yes),
                 "l"(out), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
                 : "memory");
}

/* The sample outside the image that this lane writes into each row of the ring buffer. It is the
 * border value or a copy of another sample of the row (with WRAP, from the row's other end). */
struct near_patch {
    int to, from; /* byte offsets; `to` -1: no sample; `from` -1: border value */
    int word;     /* WRAP: byte offset in the image row of the word to copy; -1: none */
    unsigned value;
};

/* The rows that a warp loads, in order. A lane copies 16 bytes per part; end lanes also copy a
 * side. */
struct near_feed {
    const char *from; /* in row `low` of the image */
    unsigned to;      /* in slot 0 of the ring buffer */
    int parts;        /* parts in which the lane's bytes are inside the image */
    int left, right;  /* whether the lane copies a side */
    int low;          /* first image row that the band reads */
    unsigned simple;  /* number of rows from `low` on that are copied unchanged */
    int row, step;    /* next row, relative to `low`; 1 or -1 */
    unsigned slot;    /* offset of the next row in the ring buffer */
    int n;            /* total number of rows */
    int at_edge;      /* whether the strip and its sides extend outside the image */
    struct near_patch patch;
};

template <typename S> static __device__ __forceinline__ unsigned slot_after(unsigned slot)
{
    return slot == (S::RING - 1) * S::SLOT ? 0 : slot + S::SLOT;
}

template <typename S>
static __device__ __forceinline__ void near_copy(const struct near_feed *feed, unsigned row,
                                                 unsigned stride)
{
    enum { LAST = (S::PARTS - 1) * S::PART };
    unsigned to = feed->to + feed->slot;
    const char *from;
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(from) : "r"(row), "r"(stride), "l"(feed->from));
#pragma unroll
    for (int p = 0; p < S::PARTS; p++)
        copy_start<16>(to + p * S::PART, from + p * S::PART, feed->parts > p);
    copy_start<16>(to - S::SIDE, from - S::SIDE, feed->left);
    copy_start<16>(to + LAST + S::SIDE, from + LAST + S::SIDE, feed->right);
}

/* Copies one row, which may be outside the image, and the words that WRAP needs. */
template <typename S>
static __device__ __noinline__ void
near_copy_any(const struct near_args *args, struct near_feed feed, char *ring, unsigned *beyond)
{
    typedef typename S::sample T;
    const struct source *src = &args->src;
    int y = feed.low + feed.row;
    y = y < 0 ? args->rows[0][-1 - y] : y >= src->height ? args->rows[1][y - src->height] : y;
    if (y < 0) {
        int c0 = (int)blockIdx.x * (S::STRIP / (int)sizeof(T)) + (S::CHANNEL_COUNT - 1) * S::N;
        for (int i = (int)threadIdx.x; i < S::SLOT / (int)sizeof(T); i += 32)
            ((T *)(ring + feed.slot))[i] = (T)src->value[(c0 + i) % S::CHANNEL_COUNT];
        return;
    }
    feed.from += (long long)(y - feed.low) * (long long)src->stride;
    near_copy<S>(&feed, 0, 0);
    if (feed.patch.word >= 0)
        copy_start<4>(shared_at(beyond + threadIdx.x),
                      src->data + (size_t)y * src->stride + feed.patch.word, 1);
}

/* Starts to copy the rows of a step, of which row t is the first. */
template <typename S>
static __device__ __forceinline__ void near_fetch(struct near_feed *feed,
                                                  const struct near_args *args, char *ring,
                                                  unsigned *beyond, int t)
{
#pragma unroll
    for (int i = 0; i < S::ROWS; i++) {
        if ((unsigned)feed->row < feed->simple)
            near_copy<S>(feed, feed->row, (unsigned)args->src.stride);
        else if (t + i < feed->n)
            near_copy_any<S>(args, *feed, ring, beyond + (t + i) % S::BEYOND * 32);
        feed->row += feed->step;
        feed->slot = slot_after<S>(feed->slot);
    }
    __pipeline_commit();
}

/* Writes the lane's border sample into the rows of a step; row t is at `slot`. */
template <typename S>
static __device__ __forceinline__ void near_mend(const struct near_patch *patch, char *ring,
                                                 const unsigned *beyond, unsigned slot, int t)
{
    typedef typename S::sample T;
#pragma unroll
    for (int i = 0; i < S::ROWS; i++, slot = slot_after<S>(slot)) {
        const char *from = ring + slot + patch->from;
        if (patch->word >= 0)
            from = (const char *)(beyond + (t + i) % S::BEYOND * 32) + patch->from;
        *(T *)(ring + slot + patch->to) = patch->from < 0 ? (T)patch->value : *(const T *)from;
    }
}

/* Collects a thread's column sums, and its neighbours' from address `from` in the exchange. */
template <typename S>
static __device__ __forceinline__ void near_gather(unsigned *near, const unsigned *own,
                                                   unsigned from)
{
    enum { BESIDE = S::BESIDE, WIDE = S::WIDE, END = BESIDE + S::WORDS };
#pragma unroll
    for (int j = 0; j < S::WORDS; j++)
        near[BESIDE + j] = own[j];
#pragma unroll
    for (int i = 0; i < BESIDE; i += WIDE) { /* nearest first */
        unsigned before[4], after[4];
        shared_load(before, from + (S::PLANES - 1 - i / WIDE) * S::PLANE - 4 * WIDE, WIDE);
        shared_load(after, from + i / WIDE * S::PLANE + 4 * WIDE, WIDE);
#pragma unroll
        for (int j = i; j < i + WIDE && j < BESIDE; j++) {
            near[BESIDE - 1 - j] = before[i + WIDE - 1 - j];
            near[END + j] = after[j - i];
        }
    }
}

/* A lane's sums in the exchange: planes of WIDE words per thread, with the sides at both ends. */
struct near_places {
    unsigned mine;    /* in the first plane */
    unsigned halo_at; /* address in slot 0 of the sample in the lane's column of the sides */
    int halo_to;      /* address in the exchange of that column's sum; -1: not needed */
};

template <typename S>
static __device__ __forceinline__ struct near_places near_places_of(const char *ring,
                                                                    const char *exchange)
{
    typedef typename S::sample T;
    int lane = (int)threadIdx.x, i = lane % S::N, right = lane / S::N % 2;
    int word = i * S::SUM / 4, size = S::WIDE * 4;
    int far = (right ? word : S::WORDS - 1 - word) / S::WIDE; /* planes from the nearest one */
    int plane = right ? far : S::PLANES - 1 - far;
    int to = plane * S::PLANE + right * (S::PARTS * 32 + 1) * size + i * S::SUM % size;
    bool reached = far <= (S::BESIDE - 1) / S::WIDE && lane < 2 * S::N;
    int at = right * (S::SIDE + S::STRIP) + i * (int)sizeof(T);
    struct near_places places = {(unsigned)kept((int)shared_at(exchange) + (lane + 1) * size),
                                 (unsigned)kept((int)shared_at(ring) + at),
                                 kept(reached ? (int)shared_at(exchange) + to : -1)};
    return places;
}

/* Returns the patch for rows that start with byte `first` of the image row. */
template <typename S>
static __device__ __forceinline__ struct near_patch near_patch_of(const struct near_args *args,
                                                                  int first)
{
    enum { SIZE = (int)sizeof(typename S::sample), C = S::CHANNEL_COUNT };
    int lane = (int)threadIdx.x, right = lane / S::N, i = lane % S::N;
    int at = right ? args->src.width * C + i : i - S::N, to = at * SIZE - first;
    struct near_patch patch = {-1, -1, -1, 0};
    if (right > 1 || to < 0 || to >= S::SLOT)
        return patch;
    int from = args->samples[right][i] * SIZE;
    patch.value = (unsigned)args->src.value[(at + C * S::N) % C];
    if (from < 0) {
        patch.to = to;
    } else if (args->src.border == GI_BORDER_WRAP) {
        patch = {to, lane * 4 + from % 4, from - from % 4, 0};
    } else if (from >= first && from < first + S::SLOT) { /* others are in no window */
        patch.to = to;
        patch.from = from - first;
    }
    return patch;
}

/* Makes the feed of rows y0 to y1 - 1 and of the halo rows of their windows. Odd bands move up, and
 * even bands move down, so that neighbouring bands read common rows at about the same time. */
template <typename S>
static __device__ __forceinline__ struct near_feed
near_feed_of(const struct near_args *args, const char *ring, int y0, int y1, bool up)
{
    const struct source *src = &args->src;
    int lane = (int)threadIdx.x, strip = (int)blockIdx.x * S::STRIP, mine = strip + lane * 16;
    int end = src->width * S::CHANNEL_COUNT * (int)sizeof(typename S::sample),
        low = max(y0 - S::R, 0);
    int at_edge = kept(strip == 0 || end - strip < S::STRIP + S::SIDE);
    bool plain = !at_edge || src->border != GI_BORDER_WRAP;
    struct near_feed feed = {kept(src->data + (long long)low * (long long)src->stride + mine),
                             (unsigned)kept((int)shared_at(ring) + S::SIDE + lane * 16),
                             kept(min((end - mine + S::PART - 1) / S::PART, (int)S::PARTS)),
                             kept(lane == 0 && strip > 0),
                             kept(lane == 31 && end - strip > S::STRIP),
                             low,
                             (unsigned)kept(plain ? min(y1 + S::R, src->height) - low : 0),
                             (up ? y1 - 1 + S::R : y0 - S::R) - low,
                             up ? -1 : 1,
                             0,
                             kept(y1 - y0 + 2 * S::R),
                             at_edge,
                             {-1, -1, -1, 0}};
    if (at_edge)
        feed.patch = near_patch_of<S>(args, strip - S::SIDE);
    return feed;
}

/* Adds the row in slot `at` to the column sums (including the lane's column of the sides),
 * subtracts the row in slot `gone`, and writes the sums to the exchange, at offset `to`. */
template <typename S>
static __device__ __forceinline__ void near_move(unsigned (*columns)[S::WORDS], unsigned *halo,
                                                 const struct near_places *places, unsigned row,
                                                 unsigned at, unsigned gone, unsigned to)
{
    typedef typename S::sample T;
    *halo += side_load<T, S::WEIGHED>(places->halo_at + at) -
             side_load<T, S::WEIGHED>(places->halo_at + gone);
    if (places->halo_to >= 0)
        side_store<S::SUM>((unsigned)places->halo_to + to, *halo);
#pragma unroll
    for (int p = 0; p < S::PARTS; p++) {
        unsigned fresh[4], old[4], mine = places->mine + to + p * S::PART_PLANE;
        shared_load(fresh, row + at + p * S::PART, 4);
        shared_load(old, row + gone + p * S::PART, 4);
        columns_move<T, S::WEIGHED>(columns[p], fresh, old);
#pragma unroll
        for (int i = 0; i < S::PLANES; i++) {
            int first = i < S::PLANES / 2 ? i * S::WIDE : S::WORDS - (S::PLANES - i) * S::WIDE;
            shared_store<S::WIDE>(mine + i * S::PLANE, columns[p] + first);
        }
    }
}

template <typename T, int CHANNELS, bool WEIGH, int K>
static __global__ void __launch_bounds__(32) box_near(const __grid_constant__ struct near_args args)
{
    typedef near_shape<T, CHANNELS, WEIGH, K> S;
    enum { R = S::R, PARTS = S::PARTS, ROWS = S::ROWS, AHEAD = S::AHEAD };
    __shared__ __align__(16) char ring[S::RING * S::SLOT];
    __shared__ __align__(16) char exchange[2 * S::TURN];
    __shared__ unsigned beyond[S::BEYOND * 32];
    int mine = (int)blockIdx.x * S::STRIP + (int)threadIdx.x * 16;
    int y0 = (int)blockIdx.y * args.band, y1 = min(y0 + args.band, args.src.height);
    bool up = blockIdx.y % 2;
    struct near_feed feed = near_feed_of<S>(&args, ring, y0, y1, up);
#pragma unroll 1
    for (int t = 0; t < AHEAD - ROWS; t += ROWS)
        near_fetch<S>(&feed, &args, ring, beyond, t);
    for (int i = AHEAD * S::SLOT / 16 + (int)threadIdx.x; i < S::RING * S::SLOT / 16; i += 32)
        ((uint4 *)ring)[i] = make_uint4(0, 0, 0, 0); /* rows that are subtracted first */

    const struct near_places places = near_places_of<S>(ring, exchange);
    long long stride = (long long)args.dst.stride;
    char *out = args.dst.data + (up ? y1 - 1 : y0) * stride + mine;
    stride = (long long)kept((const char *)(up ? -stride : stride));
    unsigned columns[PARTS][S::WORDS] = {}, own[ROWS][PARTS][S::WORDS];
    unsigned halo = 0, at = 0, turn = 0, centre = R * S::SLOT; /* slot of the output row */
    for (int t = kept(-ROWS); t < feed.n; t += ROWS) {
        /* Load: start to copy later rows, wait for the rows of this step. */
        near_fetch<S>(&feed, &args, ring, beyond, t + AHEAD);
        __pipeline_wait_prior(AHEAD / ROWS - 1);
        __syncwarp();
        /* Compute columns: add and subtract a row, publish the sums. */
        unsigned gone = feed.slot;
#pragma unroll
        for (int i = 0; i < ROWS && t >= 0; i++) {
            near_move<S>(columns, &halo, &places, feed.to, at, gone,
                         turn + i * S::PLANES * S::PLANE);
            memcpy(own[i], columns, sizeof columns);
            at = slot_after<S>(at);
            gone = slot_after<S>(gone);
        }
        if (feed.at_edge && feed.patch.to >= 0) /* border samples of the next step */
            near_mend<S>(&feed.patch, ring, beyond, at, t + ROWS);
        /* Exchange: the sums of neighbours are visible after this barrier. */
        __syncwarp();
        if (t < 2 * R)
            continue;
#pragma unroll
        for (int i = 0; i < ROWS; i++, out += stride, centre = slot_after<S>(centre)) {
#pragma unroll
            for (int p = 0; p < PARTS; p++) {
                /* Compute rows and store. */
                unsigned near[S::WORDS + 2 * S::BESIDE], sums[S::N], words[4];
                near_gather<S>(near, own[i][p],
                               places.mine + turn + i * S::PLANES * S::PLANE + p * S::PART_PLANE);
                near_sums<T, CHANNELS, WEIGH, K, S::BESIDE>(sums, near, args.start);
                if (CHANNELS == 1 && args.n) {
                    unsigned samples[4];
                    shared_load(samples, feed.to + centre + p * S::PART, 4);
                    near_mask<T>(words, sums, samples, &args);
                } else {
                    near_means<T, CHANNELS, WEIGH>(words, sums, &args);
                }
                store_if(out + p * S::PART, words, t + i < feed.n && p < feed.parts);
            }
        }
        turn ^= S::TURN;
    }
}

template <typename T, int CHANNELS, bool WEIGH, int K>
static enum gi_status launch(struct gi_cuda_queue *cu, struct near_args *args, struct gi_err *err)
{
    typedef near_shape<T, CHANNELS, WEIGH, K> S;
    int blocks = 1, n = K * K, below = (n - 8388608 % n) % n;
    if (args->n == 0)
        args->start = sizeof(T) == 1 ? 0x4b000000u + (unsigned)below : (unsigned)n / 2;
    args->inverse = 1.0f / (float)n;
    args->offset = (float)(8388608 - (8388608 + below) / n);
    args->magic = (unsigned)((4294967296 + n - 1) / n);
    void (*kernel)(const struct near_args) = box_near<T, CHANNELS, WEIGH, K>;
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32, 0));
    blocks = blocks < WARPS ? blocks : WARPS;
    int strips = ceil_div((long long)args->src.width * CHANNELS * (int)sizeof(T), S::STRIP);
    int bands = blocks * cu->units / strips; /* one wave */
    bands = bands < 1 ? 1 : bands > 65535 ? 65535 : bands;
    args->band = ceil_div(args->src.height, bands);
    kernel<<<dim3(strips, ceil_div(args->src.height, args->band)), 32, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static void borders_fill(struct near_args *args)
{
    const struct source *src = &args->src;
    int c = src->channels, n = NEAR_NBYTES / (int)gi_type_nbytes(src->type);
    for (int i = 0; i < NEAR_NBYTES; i++) {
        args->rows[0][i] = gi_border_index(-1 - i, src->height, src->border);
        args->rows[1][i] = gi_border_index((long long)src->height + i, src->height, src->border);
    }
    for (int i = 0; i < n; i++) { /* samples i - n (before the row) and width * c + i (after it) */
        int before = (i + n * (c - 1)) / c - n, after = i / c;
        int x = gi_border_index(before, src->width, src->border);
        args->samples[0][i] = x < 0 ? x : x * c + (i - n) - before * c;
        x = gi_border_index((long long)src->width + after, src->width, src->border);
        args->samples[1][i] = x < 0 ? x : x * c + i - after * c;
    }
}

typedef enum gi_status launch_fn(struct gi_cuda_queue *cu, struct near_args *args,
                                 struct gi_err *err);

/* Returns the launcher for this work, or NULL if no launcher is compiled. */
static launch_fn *launcher(const struct gi_image *src, int k, bool weigh)
{
    /* Indexed by channels - 1, then by k / 2 - 1. Each list ends where a window exceeds 16 bytes on
     * a side or, at 16 bits, where results with `magic` would no longer be exact. */
    enum { LONGEST = 15 };
    static launch_fn *const u8[GI_MAX_CHANNELS][LONGEST] = {
        {launch<uint8_t, 1, false, 3>, launch<uint8_t, 1, false, 5>, launch<uint8_t, 1, false, 7>,
         launch<uint8_t, 1, false, 9>, launch<uint8_t, 1, false, 11>, launch<uint8_t, 1, false, 13>,
         launch<uint8_t, 1, false, 15>, launch<uint8_t, 1, false, 17>,
         launch<uint8_t, 1, false, 19>, launch<uint8_t, 1, false, 21>,
         launch<uint8_t, 1, false, 23>, launch<uint8_t, 1, false, 25>,
         launch<uint8_t, 1, false, 27>, launch<uint8_t, 1, false, 29>,
         launch<uint8_t, 1, false, 31>},
        {},
        {launch<uint8_t, 3, false, 3>, launch<uint8_t, 3, false, 5>, launch<uint8_t, 3, false, 7>,
         launch<uint8_t, 3, false, 9>, launch<uint8_t, 3, false, 11>},
        {launch<uint8_t, 4, false, 3>, launch<uint8_t, 4, false, 5>, launch<uint8_t, 4, false, 7>,
         launch<uint8_t, 4, false, 9>}};
    static launch_fn *const u16[GI_MAX_CHANNELS][LONGEST] = {
        {launch<uint16_t, 1, false, 3>, launch<uint16_t, 1, false, 5>,
         launch<uint16_t, 1, false, 7>, launch<uint16_t, 1, false, 9>,
         launch<uint16_t, 1, false, 11>, launch<uint16_t, 1, false, 13>,
         launch<uint16_t, 1, false, 15>},
        {},
        {launch<uint16_t, 3, false, 3>, launch<uint16_t, 3, false, 5>},
        {launch<uint16_t, 4, false, 3>, launch<uint16_t, 4, false, 5>}};
    static launch_fn *const weighed[LONGEST] = {launch<uint8_t, 4, true, 3>,
                                                launch<uint8_t, 4, true, 5>};
    bool bytes = src->type == GI_U8;
    int i = k / 2 - 1, c = src->channels - 1;
    if (i < 0 || i >= LONGEST)
        return NULL;
    return !weigh ? (bytes ? u8 : u16)[c][i] : bytes && c == 3 ? weighed[i] : NULL;
}

static launch_fn *mean_launcher(const struct gi_image *src, const struct gi_box *spec)
{
    return launcher(src, spec->k, gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH);
}

bool gi_cuda_box_near_takes(const struct gi_queue *queue, const struct gi_image *src,
                            const struct gi_box *spec)
{
    return mean_launcher(src, spec) != NULL;
}

static enum gi_status run(struct gi_queue *queue, launch_fn *launch, struct near_args *args,
                          struct gi_image *dst, const struct gi_image *src,
                          const struct gi_border_spec *border, struct gi_err *err)
{
    struct gi_border_spec whole = box_border(src, border);
    args->src = source_of(src, &whole, GI_ALPHA_PLAIN);
    args->dst = target_of(dst);
    borders_fill(args);
    return launch(gi_cuda(queue), args, err);
}

enum gi_status gi_cuda_box_near(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_box *spec,
                                struct gi_err *err)
{
    struct near_args args = {};
    return run(queue, mean_launcher(src, spec), &args, dst, src, &spec->border, err);
}

bool gi_cuda_local_near_takes(const struct gi_queue *queue, const struct gi_image *src,
                              const struct gi_local *spec)
{
    return spec->mean && src->channels == 1 && src->type != GI_F32 &&
           launcher(src, spec->k, false) != NULL;
}

enum gi_status gi_cuda_local_near(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_local *spec,
                                  struct gi_err *err)
{
    struct near_args args = {};
    double most = 1 << 30; /* exceeds n * sample */
    args.n = spec->k * spec->k;
    args.start = (unsigned)(int)fmin(fmax(floor(-spec->shift), -most), most);
    args.flip = spec->invert ? ~0u : 0;
    return run(queue, launcher(src, spec->k, false), &args, dst, src, &spec->border, err);
}
