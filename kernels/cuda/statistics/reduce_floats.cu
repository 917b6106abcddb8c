/* Exact sums of floats (the superaccumulator of kernels/cpu/statistics/reduce_floats.h). Every warp
 * has a window of exponents. Lanes add samples inside the window as doubles, without any rounding;
 * after 256 samples per lane these sums are added as integers. Samples outside are added one by
 * one, digit by digit; if there are many, the window moves.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/statistics/reduce.cuh"

enum { WINDOW = 20, LANE_SAMPLES = 256, FIELD = 23, MUCH = 32 };

static const uint32_t INFINITE = 0x7f800000u;

/* A window of exponent fields from bottom to top. The bits of |v| of samples inside are >= `least`
 * and < `limit`. All lanes of a warp have the same window. */
struct window {
    int top, bottom;
    uint32_t least, limit;
};

static __device__ inline struct window window_of(uint32_t most)
{
    int top = min((int)(most >> FIELD) + 1, 254), bottom = max(top - WINDOW, 1);
    return {top, bottom, bottom == 1 ? 1u : (uint32_t)bottom << FIELD,
            (uint32_t)(top + 1) << FIELD};
}

static __device__ inline double power_of_two(int e)
{
    return __longlong_as_double((long long)(1023 + e) << 52);
}

/* Returns the initial sum of squares: its last bit determines the precision of additions. */
static __device__ inline double high_start(const struct window &window)
{
    return 1.5 * power_of_two(2 * window.top - 242);
}

struct lane_sums {
    double sum, minus, high, low; /* minus: sum of negative samples */
};

static __device__ inline void lane_add(struct lane_sums *sums, float v)
{
    double d = (double)v, t = fma(d, d, sums->high);
    sums->sum += d;
    sums->low += fma(d, d, sums->high - t);
    sums->high = t;
}

/* digits += v * 2^shift. */
static __device__ inline void digits_add(device_u64 *digits, long long v, int shift)
{
    device_u64 size = v < 0 ? 0 - (device_u64)v : (device_u64)v, bit = (unsigned)shift % 32;
    device_u64 low = (size & 0xffffffffu) << bit, high = (size >> 32) << bit;
    device_u64 parts[3] = {low & 0xffffffffu, (low >> 32) + (high & 0xffffffffu), high >> 32};
    for (int i = 0; i < 3; i++)
        if (parts[i])
            atomicAdd(&digits[shift / 32 + i], v < 0 ? 0 - parts[i] : parts[i]);
}

/* Adds a single finite sample that is not 0. */
static __device__ __noinline__ void digits_add_float(struct digits *digits, float v)
{
    uint32_t bits = __float_as_uint(v);
    int field = bits >> FIELD & 255;
    long long whole = (bits & ((1u << FIELD) - 1)) | (field ? 1u << FIELD : 0);
    int shift = max(field, 1) - 1;
    digits_add(digits->sum, v < 0 ? -whole : whole, shift);
    digits_add(digits->magnitude, whole, shift);
    digits_add(digits->square, whole * whole, 2 * shift);
}

/* Adds the sums of all lanes, as integers, to the digits; the lanes then start again with window
 * `next`. All lanes of the warp call it. */
template <int CHANNELS>
static __device__ __forceinline__ void flush(struct digits *digits, struct lane_sums *sums,
                                             const struct window &window, const struct window &next)
{
    const int high = 2 * window.top - 242 - 52; /* exponent of the last bit of lane_sums.high */
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        double unit = power_of_two(150 - window.bottom);
        long long parts[4] = {
            __double2ll_rn(sums[c].sum * unit), __double2ll_rn(sums[c].minus * unit),
            __double2ll_rn((sums[c].high - high_start(window)) * power_of_two(-high)),
            __double2ll_rn(sums[c].low * power_of_two(300 - 2 * window.bottom))};
#pragma unroll
        for (int i = 0; i < 4; i++)
            parts[i] = (long long)warp_sum((device_u64)parts[i]);
        if (threadIdx.x % WARP == 0 && window.top) {
            digits_add(digits[c].sum, parts[0], window.bottom - 1);
            digits_add(digits[c].magnitude, parts[0] - 2 * parts[1], window.bottom - 1);
            digits_add(digits[c].square, parts[2], high - GI_EXACT_SQUARES);
            digits_add(digits[c].square, parts[3], 2 * window.bottom - 2);
        }
        sums[c] = {0, 0, high_start(next), 0};
    }
}

/* What a thread keeps per channel besides its sums. */
struct thread_part {
    struct ends<float> ends;
    uint32_t n;
};

/* Returns the bits of the largest finite |v| of a step, and sets bit masks of its samples.
 * `counted`: the sample counts. `odd`: it counts, is finite and not 0, and is outside the
 * window. */
template <int CHANNELS, bool OPAQUE, typename TURN>
static __device__ inline uint32_t turn_look(uint32_t *counted, uint32_t *odd, const TURN &pieces,
                                            const struct window &window)
{
    constexpr int N = piece<float, CHANNELS>::SAMPLES;
    uint32_t most = 0;
    *counted = *odd = 0;
#pragma unroll
    for (int i = 0; i < reduce_shape<float, CHANNELS>::TURN * N; i++) {
        const struct piece<float, CHANNELS> &piece = pieces[i / N];
        const int last = i % N - i % CHANNELS + CHANNELS - 1;
        uint32_t size = __float_as_uint(piece.samples[i % N]) & 0x7fffffffu;
        bool counts = i % N < piece.n && (!OPAQUE || piece.samples[last] > 0);
        bool finite = counts && size < INFINITE && size > 0;
        *counted |= counts ? 1u << i : 0;
        *odd |= finite && (size < window.least || size >= window.limit) ? 1u << i : 0;
        most = finite ? max(most, size) : most;
    }
    return most;
}

/* Sets *next to the window for a step with samples outside of `window`, if there are many of these
 * or if there is no window yet. Returns whether it did. All lanes of the warp call it. */
template <int CHANNELS, bool OPAQUE, typename TURN>
static __device__ inline bool window_moves(struct window *next, const TURN &pieces,
                                           const struct window &window)
{
    uint32_t counted, odd, most = turn_look<CHANNELS, OPAQUE>(&counted, &odd, pieces, window);
    if (warp_sum(__popc(odd)) <= MUCH && window.top)
        return false;
    for (int step = WARP / 2; step > 0; step /= 2)
        most = max(most, __shfl_xor_sync(ALL_LANES, most, step));
    *next = window_of(most);
    return true;
}

/* Adds a step with samples that do not count, are not finite, or are outside the window. */
template <int CHANNELS, bool OPAQUE, typename TURN>
static __device__ inline void turn_some(struct digits *digits, struct lane_sums *sums,
                                        struct thread_part *parts, const struct window &window,
                                        const TURN &pieces, unsigned turn)
{
    constexpr int N = piece<float, CHANNELS>::SAMPLES;
    uint32_t counted, odd;
    turn_look<CHANNELS, OPAQUE>(&counted, &odd, pieces, window);
#pragma unroll
    for (int i = 0; i < reduce_shape<float, CHANNELS>::TURN * N; i++) {
        const int c = i % CHANNELS;
        float v = pieces[i / N].samples[i % N];
        uint32_t size = __float_as_uint(v) & 0x7fffffffu;
        if (!(counted >> i & 1))
            continue;
        if (size >= INFINITE) {
            atomicAdd(size > INFINITE ? &digits[c].nan
                      : v > 0         ? &digits[c].above
                                      : &digits[c].below,
                      1);
            continue;
        }
        parts[c].n++;
        ends_note(&parts[c].ends, v, turn, v, turn);
        if (odd >> i & 1)
            digits_add_float(&digits[c], v);
        else {
            lane_add(&sums[c], v);
            sums[c].minus += (double)fminf(v, 0);
        }
    }
}

/* Adds a step whose samples are all 0 or inside the window. */
template <int CHANNELS, typename TURN>
static __device__ inline void turn_whole(struct lane_sums *sums, struct thread_part *parts,
                                         const TURN &pieces, unsigned turn)
{
    constexpr int N = piece<float, CHANNELS>::SAMPLES,
                  ALL = N * reduce_shape<float, CHANNELS>::TURN;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        float least = pieces[0].samples[c], most = least;
#pragma unroll
        for (int i = c; i < ALL; i += CHANNELS) {
            float v = pieces[i / N].samples[i % N];
            least = fminf(least, v);
            most = fmaxf(most, v);
            lane_add(&sums[c], v);
        }
        if (least < 0)
#pragma unroll
            for (int i = c; i < ALL; i += CHANNELS)
                sums[c].minus += (double)fminf(pieces[i / N].samples[i % N], 0);
        parts[c].n += ALL / CHANNELS;
        ends_note(&parts[c].ends, least, turn, most, turn);
    }
}

template <int CHANNELS, typename TURN>
static __device__ inline bool fits(const TURN &pieces, const struct window &window)
{
    constexpr int N = piece<float, CHANNELS>::SAMPLES;
    uint32_t least = UINT32_MAX, most = 0;
    bool whole = true;
#pragma unroll
    for (int i = 0; i < reduce_shape<float, CHANNELS>::TURN * N; i++) {
        uint32_t size = __float_as_uint(pieces[i / N].samples[i % N]) & 0x7fffffffu;
        most = max(most, size);
        least = min(least, size - 1); /* 0 becomes the largest value */
        whole &= pieces[i / N].n == N;
    }
    return whole && most < window.limit && least >= window.least - 1;
}

/* Adds the results of a block to those in global memory. */
template <int CHANNELS>
static __device__ inline void block_finish(struct device_reduction *found,
                                           const struct digits *digits,
                                           const struct thread_part *parts)
{
    enum { WORDS = sizeof(struct digits) / sizeof(device_u64) };
    for (unsigned i = threadIdx.x; i < CHANNELS * WORDS; i += REDUCE_THREADS) {
        device_u64 v = ((const device_u64 *)digits)[i], low = v & 0xffffffffu;
        device_u64 *to = (device_u64 *)&found[i / WORDS].digits + i % WORDS;
        long long carry = (long long)v >> 32; /* never for the last digit of a number */
        if (low)
            atomicAdd(to, low);
        if (carry)
            atomicAdd(to + 1, (device_u64)carry);
    }
    for (int c = 0; c < CHANNELS; c++) {
        device_u64 n = warp_sum(parts[c].n);
        if (threadIdx.x % WARP == 0 && n)
            atomicAdd(&found[c].n, n);
    }
}

template <int CHANNELS, bool OPAQUE>
static __global__ void __launch_bounds__(REDUCE_THREADS, (reduce_shape<float, CHANNELS>::BLOCKS))
    reduce_floats(struct device_reduction *found, struct gi_image src, struct walk walk)
{
    constexpr int TURN_SAMPLES =
        reduce_shape<float, CHANNELS>::TURN * piece<float, CHANNELS>::SAMPLES / CHANNELS;
    __shared__ struct digits digits[CHANNELS];
    struct lane_sums sums[CHANNELS] = {};
    struct thread_part parts[CHANNELS];
    struct window window = {};
    unsigned index, y;
    int used = 0;
    for (unsigned i = threadIdx.x; i < sizeof digits / sizeof(device_u64); i += REDUCE_THREADS)
        ((device_u64 *)digits)[i] = 0;
    for (int c = 0; c < CHANNELS; c++)
        parts[c] = {{{INFINITY, -INFINITY}, {0, 0}}, 0};
    __syncthreads();
    walk_start(walk, &y, &index, blockIdx.x * REDUCE_THREADS + threadIdx.x);
    for (unsigned turn = 0;; turn++) {
        bool more = __any_sync(ALL_LANES, y < (unsigned)src.height);
        typename reduce_shape<float, CHANNELS>::turn pieces;
#pragma unroll
        for (struct piece<float, CHANNELS> &piece : pieces) {
            piece_load(&piece, src, y, index);
            walk_next(walk, &y, &index);
        }
        bool whole = !OPAQUE && __all_sync(ALL_LANES, fits<CHANNELS>(pieces, window));
        bool full = !more || used + TURN_SAMPLES > LANE_SAMPLES;
        struct window next = window;
        if (more && !whole)
            full |= window_moves<CHANNELS, OPAQUE>(&next, pieces, window);
        if (full) {
            flush<CHANNELS>(digits, sums, window, next);
            window = next;
            used = 0;
        }
        if (!more)
            break;
        used += TURN_SAMPLES;
        if (whole)
            turn_whole<CHANNELS>(sums, parts, pieces, turn);
        else
            turn_some<CHANNELS, OPAQUE>(digits, sums, parts, window, pieces, turn);
    }
    struct ends<float> ends[CHANNELS];
    for (int c = 0; c < CHANNELS; c++)
        ends[c] = parts[c].ends;
    ends_finish<float, CHANNELS, OPAQUE>(found, ends, src, walk); /* with a barrier */
    block_finish<CHANNELS>(found, digits, parts);
}

template <int CHANNELS>
static enum gi_status launch(struct gi_cuda_queue *cu, struct device_reduction *found,
                             const struct gi_image *src, bool opaque, struct gi_err *err)
{
    unsigned blocks = (unsigned)(cu->units * reduce_shape<float, CHANNELS>::BLOCKS);
    struct walk walk = walk_of(src, piece<float, CHANNELS>::SAMPLES * sizeof(float),
                               (size_t)blocks * REDUCE_THREADS);
    if (opaque)
        reduce_floats<CHANNELS, CHANNELS % 2 == 0>
            <<<blocks, REDUCE_THREADS, 0, cu->stream>>>(found, *src, walk);
    else
        reduce_floats<CHANNELS, false>
            <<<blocks, REDUCE_THREADS, 0, cu->stream>>>(found, *src, walk);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_reduce_floats(struct gi_cuda_queue *cu, struct device_reduction *found,
                                     const struct gi_image *src, bool opaque, struct gi_err *err)
{
    GI_CUDA_CHANNELS(src->channels, launch<CHANNELS>(cu, found, src, opaque, err));
}
