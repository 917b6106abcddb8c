/* Reductions: exact sums, sums of squares, minimum, maximum, and their positions, by a grid-stride
 * loop over pieces of 16 bytes, several per step. Integers are compared together with their index
 * within the step. For floats, the steps with the minimum and the maximum are searched again.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/statistics/reduce.cuh"

#include <limits.h>

/* A part is a word whose samples have twice their bits, with an index in the lower bits. A word of
 * samples becomes two parts. A part of bytes holds two samples: the even or the odd bytes of
 * the word. Part i of a step has index i, but UNDER - i for the maximum. Channels repeat after
 * PERIOD parts. */
template <typename T, int CHANNELS> struct parts {
    enum {
        BYTES = sizeof(T) == 1,
        IN_PART = BYTES ? 2 : 1,
        PERIOD = BYTES ? (CHANNELS == 3   ? 6
                          : CHANNELS == 1 ? 1
                                          : 2)
                       : CHANNELS,
        UNDER = BYTES ? 255 : 65535,
    };
    static __device__ constexpr unsigned sample(unsigned i, unsigned half)
    {
        return BYTES ? i / 2 * 4 + i % 2 + 2 * half : i;
    }
};

template <typename T>
static __device__ __forceinline__ uint32_t part_of(uint32_t word, int i, uint32_t under)
{
    return sizeof(T) == 1 ? __byte_perm(word, under, i % 2 ? 0x3414 : 0x2404)
                          : __byte_perm(word, under, i % 2 ? 0x3254 : 0x1054);
}

template <typename T> static __device__ __forceinline__ uint32_t least_of(uint32_t a, uint32_t b)
{
    return sizeof(T) == 1 ? __vminu2(a, b) : min(a, b);
}

template <typename T> static __device__ __forceinline__ uint32_t most_of(uint32_t a, uint32_t b)
{
    return sizeof(T) == 1 ? __vmaxu2(a, b) : max(a, b);
}

/* Returns a mask of the bytes of word `word` of a piece that belong to channel c. */
template <int CHANNELS> static __device__ constexpr uint32_t bytes_of(int word, int c)
{
    uint32_t mask = 0;
    for (int i = 0; i < 4; i++)
        mask |= (4 * word + i) % CHANNELS == c ? 0xffu << 8 * i : 0;
    return mask;
}

struct totals {
    device_u64 n, sum, square;
};

template <int CHANNELS, typename TURN>
static __device__ inline void turn_sums(struct totals *totals, const TURN &pieces, uint8_t)
{
    constexpr int WORDS = piece<uint8_t, CHANNELS>::SAMPLES / 4;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        uint32_t sum = 0, square = 0;
#pragma unroll
        for (int i = 0; i < reduce_shape<uint8_t, CHANNELS>::TURN * WORDS; i++) {
            uint32_t word = ((const uint32_t *)pieces[i / WORDS].samples)[i % WORDS];
            const uint32_t mask = bytes_of<CHANNELS>(i % WORDS, c);
            sum = __dp4a(word, mask & 0x01010101u, sum);
            square = __dp4a(word, word & mask, square);
        }
        totals[c].sum += sum;
        totals[c].square += square;
    }
}

template <int CHANNELS, typename TURN>
static __device__ inline void turn_sums(struct totals *totals, const TURN &pieces, uint16_t)
{
    constexpr int N = piece<uint16_t, CHANNELS>::SAMPLES;
    uint32_t sums[CHANNELS] = {};
#pragma unroll
    for (int i = 0; i < reduce_shape<uint16_t, CHANNELS>::TURN * N; i++) {
        uint32_t v = pieces[i / N].samples[i % N];
        sums[i % CHANNELS] += v;
        totals[i % CHANNELS].square += v * v; /* below 2^32 */
    }
    for (int c = 0; c < CHANNELS; c++)
        totals[c].sum += sums[c];
}

/* Updates minimum and maximum with a step in which all samples count. */
template <typename T, int CHANNELS, typename TURN>
static __device__ inline void turn_ends(struct ends<int> *ends, const TURN &pieces, unsigned turn)
{
    typedef parts<T, CHANNELS> by;
    constexpr int WORDS = piece<T, CHANNELS>::SAMPLES * sizeof(T) / 4;
    constexpr int ALL = reduce_shape<T, CHANNELS>::TURN * WORDS * 2;
    static_assert(ALL <= by::UNDER, "numbers fit beneath samples");
    uint32_t least[by::PERIOD], most[by::PERIOD] = {};
    for (int i = 0; i < by::PERIOD; i++)
        least[i] = UINT32_MAX;
#pragma unroll
    for (int i = 0; i < ALL; i++) {
        uint32_t word = ((const uint32_t *)pieces[i / 2 / WORDS].samples)[i / 2 % WORDS];
        uint32_t *low = &least[i % by::PERIOD], *high = &most[i % by::PERIOD];
        *low = least_of<T>(*low, part_of<T>(word, i, i));
        *high = most_of<T>(*high, part_of<T>(word, i, by::UNDER - i));
    }
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        unsigned low = UINT_MAX, high = 0; /* with indices of samples below */
#pragma unroll
        for (int i = 0; i < by::IN_PART * by::PERIOD; i++) {
            const int half = i / by::PERIOD, at = i % by::PERIOD;
            if (by::sample(at, half) % CHANNELS != c)
                continue;
            uint32_t l = least[at] >> 16 * half, m = most[at] >> 16 * half;
            const unsigned bits = 8 * sizeof(T), under = by::UNDER;
            if (by::BYTES)
                l &= 0xffff, m &= 0xffff;
            low = min(low, sample_tag(l >> bits, by::sample(l & under, half)));
            high =
                max(high, sample_tag(m >> bits, LAST_TAG - by::sample(under - (m & under), half)));
        }
        ends_note(&ends[c], (int)(low >> TAG_BITS), sample_tag(turn, low & LAST_TAG),
                  (int)(high >> TAG_BITS), sample_tag(turn, LAST_TAG - (high & LAST_TAG)));
    }
}

/* Adds a step with samples that do not count: past the end of a row, or transparent. */
template <typename T, int CHANNELS, bool OPAQUE, typename TURN>
static __device__ inline void turn_some(struct totals *totals, struct ends<int> *ends,
                                        const TURN &pieces, unsigned turn)
{
    constexpr int N = piece<T, CHANNELS>::SAMPLES;
#pragma unroll
    for (int i = 0; i < reduce_shape<T, CHANNELS>::TURN * N; i++) {
        const struct piece<T, CHANNELS> &piece = pieces[i / N];
        const int c = i % CHANNELS, last = i % N - c + CHANNELS - 1;
        if (i % N >= piece.n || (OPAQUE && piece.samples[last] == 0))
            continue;
        int v = piece.samples[i % N];
        totals[c].n++;
        totals[c].sum += (uint32_t)v;
        totals[c].square += (uint32_t)v * (uint32_t)v;
        unsigned tag = sample_tag(turn, (unsigned)i);
        ends_note(&ends[c], v, tag, v, tag);
    }
}

template <typename T, int CHANNELS, bool OPAQUE>
static __global__ void __launch_bounds__(REDUCE_THREADS, (reduce_shape<T, CHANNELS>::BLOCKS))
    reduce(struct device_reduction *found, struct gi_image src, struct walk walk)
{
    struct totals mine[CHANNELS] = {};
    struct ends<int> ends[CHANNELS];
    unsigned index, y;
    for (int c = 0; c < CHANNELS; c++)
        ends[c] = {{INT_MAX, -1}, {0, 0}};
    walk_start(walk, &y, &index, blockIdx.x * REDUCE_THREADS + threadIdx.x);
    for (unsigned turn = 0; y < (unsigned)src.height; turn++) {
        typename reduce_shape<T, CHANNELS>::turn pieces;
        bool whole = !OPAQUE;
#pragma unroll
        for (struct piece<T, CHANNELS> &piece : pieces) {
            piece_load(&piece, src, y, index);
            whole &= piece.n == piece.SAMPLES;
            walk_next(walk, &y, &index);
        }
        if (!whole) {
            turn_some<T, CHANNELS, OPAQUE>(mine, ends, pieces, turn);
            continue;
        }
        turn_sums<CHANNELS>(mine, pieces, (T)0);
        for (int c = 0; c < CHANNELS; c++)
            mine[c].n += piece<T, CHANNELS>::SAMPLES / CHANNELS * reduce_shape<T, CHANNELS>::TURN;
        turn_ends<T, CHANNELS>(ends, pieces, turn);
    }
    __shared__ device_u64 partial[REDUCE_WARPS][CHANNELS][3];
    for (int c = 0; c < CHANNELS; c++) {
        device_u64 sums[3] = {warp_sum(mine[c].n), warp_sum(mine[c].sum), warp_sum(mine[c].square)};
        for (int i = 0; i < 3; i++)
            if (threadIdx.x % WARP == 0)
                partial[threadIdx.x / WARP][c][i] = sums[i];
    }
    ends_finish<T, CHANNELS, OPAQUE>(found, ends, src, walk); /* with a barrier */
    if (threadIdx.x < CHANNELS * 3) {
        const int c = threadIdx.x / 3, i = threadIdx.x % 3;
        device_u64 sum = 0;
        for (int w = 0; w < REDUCE_WARPS; w++)
            sum += partial[w][c][i];
        struct digits *digits = &found[c].digits;
        if (sum)
            atomicAdd(i == 0 ? &found[c].n : i == 1 ? &digits->sum[0] : &digits->square[0], sum);
    }
}

template <typename T, int CHANNELS>
static enum gi_status launch(struct gi_cuda_queue *cu, struct device_reduction *found,
                             const struct gi_image *src, bool opaque, struct gi_err *err)
{
    unsigned blocks = (unsigned)(cu->units * reduce_shape<T, CHANNELS>::BLOCKS);
    struct walk walk =
        walk_of(src, piece<T, CHANNELS>::SAMPLES * sizeof(T), (size_t)blocks * REDUCE_THREADS);
    void (*kernel)(struct device_reduction *, struct gi_image, struct walk) =
        opaque ? reduce<T, CHANNELS, CHANNELS % 2 == 0> : reduce<T, CHANNELS, false>;
    kernel<<<blocks, REDUCE_THREADS, 0, cu->stream>>>(found, *src, walk);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_reduce_launch(struct gi_cuda_queue *cu, void *device,
                                     const struct gi_image *src, const struct gi_reduce *spec,
                                     struct gi_err *err)
{
    struct device_reduction *found = (struct device_reduction *)device;
    bool opaque = spec->opaque && gi_has_alpha(src);
    if (src->type == GI_F32)
        return gi_cuda_reduce_floats(cu, found, src, opaque, err);
    if (src->type == GI_U16)
        GI_CUDA_CHANNELS(src->channels, launch<uint16_t, CHANNELS>(cu, found, src, opaque, err));
    GI_CUDA_CHANNELS(src->channels, launch<uint8_t, CHANNELS>(cu, found, src, opaque, err));
}

size_t gi_cuda_reduce_nbytes(const struct gi_image *src)
{
    return (size_t)src->channels * sizeof(struct device_reduction);
}

/* ---- on the host ---- */

static void add_digits(struct gi_exact *to, const device_u64 *digits, int n)
{
    for (int i = 0; i < n; i++) {
        bool minus = digits[i] >> 63;
        gi_exact_add(to, minus ? 0 - digits[i] : digits[i], 32 * (unsigned)i, minus);
    }
}

static float end_value(uint32_t key, enum gi_type type)
{
    uint32_t bits = gi_float_key_bits(key);
    float v;
    memcpy(&v, &bits, sizeof v);
    return type == GI_F32 ? v : (float)key;
}

static struct gi_reduction from_device(const struct device_reduction *device,
                                       const struct gi_image *src, const struct gi_reduce *spec)
{
    struct gi_reduction found = {};
    found.n = device->n;
    found.nan = device->digits.nan;
    found.above = device->digits.above;
    found.below = device->digits.below;
    if (src->type == GI_F32) {
        add_digits(&found.sum, device->digits.sum, SUM_DIGITS);
        add_digits(&found.magnitude, device->digits.magnitude, SUM_DIGITS);
        add_digits(&found.square, device->digits.square, SQUARE_DIGITS);
    } else {
        found.sum.w[0] = found.magnitude.w[0] = device->digits.sum[0];
        found.square.w[0] = device->digits.square[0];
    }
    if (found.n && !spec->sums_only) {
        uint64_t before = (uint64_t)spec->y * (uint64_t)src->width;
        uint64_t min = ~device->ends[0], max = ~device->ends[1];
        found.min = end_value((uint32_t)(min >> 32), src->type);
        found.max = end_value(~(uint32_t)(max >> 32), src->type);
        found.min_at = before + (uint32_t)min;
        found.max_at = before + (uint32_t)max;
    }
    return found;
}

static enum gi_status run(struct gi_queue *queue, struct gi_reduction *found,
                          const struct gi_image *src, const struct gi_reduce *spec,
                          struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct device_reduction *device, host[GI_MAX_CHANNELS];
    size_t nbytes = gi_cuda_reduce_nbytes(src);
    enum gi_status status = gi_cuda_scratch(cu, (void **)&device, nbytes, err);
    if (status)
        return status;
    GI_CUDA_TRY(cudaMemsetAsync(device, 0, nbytes, cu->stream));
    status = gi_cuda_reduce_launch(cu, device, src, spec, err);
    if (!status)
        status = gi_cuda_copy_to_host(cu, host, nbytes, device, nbytes, nbytes, 1, err);
    for (int c = 0; c < src->channels && !status; c++) {
        struct gi_reduction part = from_device(&host[c], src, spec);
        gi_reduction_add(&found[c], &part);
    }
    return status;
}

static bool integers_takes(const struct gi_queue *queue, const struct gi_image *src,
                           const struct gi_reduce *spec)
{
    return src->type != GI_F32;
}

static bool floats_takes(const struct gi_queue *queue, const struct gi_image *src,
                         const struct gi_reduce *spec)
{
    return src->type == GI_F32;
}

const struct gi_reduce_way gi_cuda_reduce_ways[GI_WAYS_MAX] = {
    {{"integers", "8 and 16 bits"}, integers_takes, run},
    {{"floats", "floats: sums of digits (reduce_floats.cu)"}, floats_takes, run},
};
