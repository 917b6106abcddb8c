/* The march: small neighbourhoods of N x N, one warp a strip of columns and a band of its rows,
 * every thread WORDS words of samples. Rows come through a ring in shared memory, copied ahead of
 * their use, with their halo; where that leaves the image the warp puts the border's samples there.
 * Sums of the outputs in flight stay in registers: a new row adds its part to each, and each moves
 * one place on in the same fmaf. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_MARCH_CUH
#define GI_KERNELS_CUDA_MARCH_CUH

#include <cuda_pipeline.h>
#include <limits.h>

#include "kernels/cuda/march_sums.cuh"

enum {
    MARCH_RING = 4, /* rows of a warp in shared memory: one at work, the others under way */
};

template <enum march_kind KIND, int N> struct march_args {
    struct source src;
    struct target dst;
    struct rule rule;
    int row_nbytes, band_rows;
    bool whole; /* GRADIENT: sums below 2^24 are whole numbers */
    struct march_weights<KIND, N> weights;
};

template <int WORDS>
static __device__ __forceinline__ void words_fetch(unsigned *words, const char *from)
{
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        words[i] = ((const unsigned *)from)[i];
}

template <typename T, int WORDS>
static __device__ __forceinline__ void march_store(void *out, const float *f)
{
    unsigned words[WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        words[i] = sample_pack<T>(f + i * (4 / (int)sizeof(T)));
    words_store<WORDS>(out, words);
}

/* The shape of the work of a thread and its warp. */
template <typename T, int CHANNELS, int N, int WORDS> struct march_shape {
    enum {
        S = WORDS * 4 / (int)sizeof(T),                /* samples a thread */
        HALO = N / 2 * CHANNELS,                       /* samples on each side */
        HALO_WORDS = (HALO * (int)sizeof(T) + 3) / 4,  /* words on each side */
        SKIP = HALO_WORDS * 4 / (int)sizeof(T) - HALO, /* samples before the window in them */
        WINDOW = S + 2 * HALO,                         /* samples */
        STRIP = 32 * WORDS * 4,                        /* bytes of a row for one warp */
        SIDE = (HALO * (int)sizeof(T) + 15) / 16 * 16, /* bytes copied on each side of that */
        SLOT = STRIP + 2 * SIDE,                       /* bytes of a row in the ring */
        PITCH = SLOT + (2 * HALO + 3) / 4 * 16,        /* and the words that WRAP copies besides */
    };
};

/* n words. By an address of shared memory: a pointer the compiler works out anew for every row. */
static __device__ __forceinline__ void shared_load(unsigned *words, unsigned at, int n)
{
    if (n == 4)
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                     : "r"(at));
    else if (n == 2)
        asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "r"(at));
    else
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(words[0]) : "r"(at));
}

/* Words AT to END of those at `from`, which is aligned for ALIGN of them. */
template <int AT, int END, int ALIGN>
static __device__ __forceinline__ void window_load(unsigned *words, unsigned from)
{
    if constexpr (AT < END) {
        constexpr int STEP = ALIGN >= 4 && AT % 4 == 0 && AT + 4 <= END   ? 4
                             : ALIGN >= 2 && AT % 2 == 0 && AT + 2 <= END ? 2
                                                                          : 1;
        shared_load(words, from + (unsigned)(AT * 4), STEP);
        window_load<AT + STEP, END, ALIGN>(words + STEP, from);
    }
}

/* Where `yes`, starts to copy N bytes, 4 or 16, to shared memory; before sm_80 copies them. */
template <int N>
static __device__ __forceinline__ void copy_start(unsigned to, const char *from, int yes)
{
#if __CUDA_ARCH__ >= 800
    if (N == 16)
        asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0;\n"
                     "@p cp.async.cg.shared.global [%0], [%1], 16; }" ::"r"(to),
                     "l"(from), "r"(yes)
                     : "memory");
    else
        asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0;\n"
                     "@p cp.async.ca.shared.global [%0], [%1], 4; }" ::"r"(to),
                     "l"(from), "r"(yes)
                     : "memory");
#else
    for (int i = 0; yes && i < N; i += 4)
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(to + i), "r"(*(const unsigned *)(from + i))
                     : "memory");
#endif
}

/* The same number, but not one that the compiler can work out: it has to keep it. */
static __device__ __forceinline__ int kept(int v)
{
    return __shfl_sync(~0u, v, (int)threadIdx.x);
}

static __device__ __forceinline__ const char *kept(const char *p)
{
    return (const char *)__shfl_sync(~0u, (unsigned long long)p, (int)threadIdx.x);
}

/* A lane's sample of the halo that lies outside the image, left or right: a copy of one in the same
 * slot, or of the border value. WRAP takes it from the other end of the row, whose word is copied
 * to the end of the slot. */
struct march_patch {
    int to, from; /* bytes of a slot; to -1: no such sample; from -1: the value */
    int word;     /* byte of the row that is copied for it, -1: none */
    float value;
};

template <typename T, int CHANNELS, int HALO, int SLOT>
static __device__ __noinline__ struct march_patch march_patch_of(const struct source *src,
                                                                 int first)
{
    enum { SIZE = (int)sizeof(T) };
    int lane = (int)threadIdx.x, c = lane % CHANNELS;
    int x = lane / CHANNELS - HALO / CHANNELS + (lane < HALO ? 0 : src->width);
    int xi = gi_border_index(x, src->width, src->border);
    int to = (x * CHANNELS + c) * SIZE - first, from = (xi * CHANNELS + c) * SIZE;
    struct march_patch p = {lane < 2 * HALO && to >= 0 && to < SLOT ? to : -1, from - first, -1,
                            src->value[c]};
    if (xi < 0) {
        p.from = -1;
    } else if (src->border == GI_BORDER_WRAP && p.to >= 0) {
        p.word = from & ~3;
        p.from = SLOT + lane * 4 + (from & 3);
    }
    return p;
}

/* What a lane copies of every row: 16 bytes of the strip; the first lanes the left side too, the
 * last the right. */
struct march_copy {
    const char *from; /* in row 0 */
    unsigned to;      /* in slot 0 */
    int middle, left, right;
};

template <int SIDE>
static __device__ __forceinline__ void march_copy_row(const struct march_copy *copy, unsigned slot,
                                                      int row, unsigned stride)
{
    const char *from;
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(from) : "r"(row), "r"(stride), "l"(copy->from));
    copy_start<16>(copy->to + slot, from, copy->middle);
    copy_start<16>(copy->to + slot - SIDE, from - SIDE, copy->left);
    copy_start<16>(copy->to + slot + SIDE, from + SIDE, copy->right);
}

/* The same for rows outside, and with the words that WRAP wants. */
template <typename T, int CHANNELS, int SIDE, int SLOT>
static __device__ __noinline__ void march_copy_any(struct march_copy copy, struct march_patch patch,
                                                   char *slot, unsigned at,
                                                   const struct source *src, int row, int first)
{
    int lane = (int)threadIdx.x;
    row = gi_border_index(row, src->height, src->border);
    if (row < 0) {
        int c0 = first / (int)sizeof(T) + SLOT * CHANNELS;
        for (int i = lane; i < SLOT / (int)sizeof(T); i += 32)
            ((T *)slot)[i] = (T)src->value[(c0 + i) % CHANNELS];
        return;
    }
    march_copy_row<SIDE>(&copy, at, row, (unsigned)src->stride);
    if (patch.word >= 0)
        copy_start<4>((unsigned)__cvta_generic_to_shared(slot) + SLOT + lane * 4,
                      src->data + (size_t)row * src->stride + patch.word, 1);
}

/* The samples of `words` from number `skip` on, colour times alpha where that is wanted. */
template <typename T, int CHANNELS, int N>
static __device__ __forceinline__ void march_unpack(float *w, const unsigned *words, int skip,
                                                    bool premultiply)
{
#pragma unroll
    for (int k = 0; k < N; k++)
        w[k] = sample_unpack<T>(words, skip + k);
    if (CHANNELS % 2 == 0 && premultiply) {
#pragma unroll
        for (int k = 0; k < N; k++)
            if (k % CHANNELS != CHANNELS - 1)
                w[k] = __fmul_rn(w[k], w[k | (CHANNELS - 1)]);
    }
}

template <int CHUNKS, int SIDE>
static __device__ __forceinline__ struct march_copy
march_copy_of(const struct source *src, unsigned slots, int strip, int row_nbytes)
{
    int lane = (int)threadIdx.x, chunk = strip + lane * 16;
    struct march_copy copy = {
        kept(src->data + chunk), (unsigned)kept((int)slots + lane * 16),
        kept(lane < CHUNKS && chunk < row_nbytes), kept(lane < SIDE / 16 && strip > 0),
        kept(lane < CHUNKS && lane >= CHUNKS - SIDE / 16 && chunk + SIDE < row_nbytes)};
    return copy;
}

template <enum march_kind KIND, typename T, int CHANNELS, int N, int WORDS, bool PLAIN>
static __global__ void __launch_bounds__(32)
    march(const __grid_constant__ struct march_args<KIND, N> args)
{
    typedef struct march_shape<T, CHANNELS, N, WORDS> shape;
    enum { S = shape::S, HALO = shape::HALO, SLOT = shape::SLOT, PITCH = shape::PITCH };
    enum { AHEAD = MARCH_RING - 1, SIDE = shape::SIDE, CHUNKS = shape::STRIP / 16 };
    static_assert(2 * HALO <= 32, "a lane patches one sample of the halo");
    __shared__ __align__(16) char ring[MARCH_RING * PITCH];
    const struct source *src = &args.src;
    int lane = (int)threadIdx.x, y0 = (int)blockIdx.y * args.band_rows;
    int start = kept(y0 - N / 2); /* row of the source, maybe outside */
    int last = kept(min(args.band_rows, src->height - y0) + N - 2);
    int strip = (int)blockIdx.x * shape::STRIP, mine = strip + lane * (WORDS * 4); /* bytes */
    int store = kept(mine < args.row_nbytes ? N - 1 : INT_MAX); /* from this row on */
    int edge = kept(strip == 0 || strip + shape::STRIP + SIDE > args.row_nbytes);
    char *out = args.dst.data + ((long long)y0 - N) * (long long)args.dst.stride + mine;
    unsigned slots = (unsigned)__cvta_generic_to_shared(ring) + SIDE; /* the strip in slot 0 */
    unsigned window = (unsigned)kept((int)slots + lane * (WORDS * 4));
    const struct march_copy copy = march_copy_of<CHUNKS, SIDE>(src, slots, strip, args.row_nbytes);
    struct march_patch patch = {-1, -1, -1, 0};
    if (edge)
        patch = march_patch_of<T, CHANNELS, HALO, SLOT>(src, strip - SIDE);
    /* Rows before this one are copied as they are. */
    int whole = min(start + last + 1, src->height);
    unsigned simple = (unsigned)kept(edge && src->border == GI_BORDER_WRAP ? 0 : whole);

    struct march_state<KIND, N, S> state = {
    };
    int at = PITCH, fill = 0; /* bytes of the ring */
    for (int i = kept(-AHEAD); i <= last; i++) {
        __pipeline_wait_prior(AHEAD - 1);
        __syncwarp();
        int row = start + i + AHEAD;
        if ((unsigned)row < simple)
            march_copy_row<SIDE>(&copy, (unsigned)fill, row, (unsigned)src->stride);
        else if (i + AHEAD <= last)
            march_copy_any<T, CHANNELS, SIDE, SLOT>(copy, patch, ring + fill, (unsigned)fill, src,
                                                    row, strip - SIDE);
        __pipeline_commit();
        fill = at;
        at = at == AHEAD * PITCH ? 0 : at + PITCH;
        if (i < 0)
            continue;
        out += args.dst.stride;
        if (edge) {
            if (patch.to >= 0)
                *(T *)(ring + fill + patch.to) =
                    patch.from >= 0 ? *(const T *)(ring + fill + patch.from) : (T)patch.value;
            __syncwarp();
        }
        unsigned words[2 * shape::HALO_WORDS + WORDS];
        window_load<-shape::HALO_WORDS, WORDS + shape::HALO_WORDS, WORDS>(words, window + fill);
        float w[shape::WINDOW], f[S];
        march_unpack<T, CHANNELS, shape::WINDOW>(w, words, shape::SKIP, src->premultiply);
        march_step<KIND, N, S, CHANNELS, sizeof(T) != 4>(f, &state, w, args.weights.w);
        if (KIND == MARCH_GRADIENT)
            march_roots<S, PLAIN && sizeof(T) == 1>(f);
        if (PLAIN && sizeof(T) == 4) {
#pragma unroll
            for (int s = 0; s < S; s++) /* -0 becomes 0, but not in alpha */
                f[s] = CHANNELS % 2 == 0 && s % CHANNELS == CHANNELS - 1 ? f[s] : f[s] + 0.0f;
        } else if (!PLAIN) {
            unsigned centre[WORDS];
            float source[S];
            if (i < store)
                continue;
            size_t skip = (size_t)(unsigned)(start + i - N / 2) * (unsigned)src->stride;
            words_fetch<WORDS>(centre, src->data + skip + mine);
            march_unpack<T, 1, S>(source, centre, 0, false);
            march_finish<S, CHANNELS>(f, source, &args.rule);
        }
        if (i >= store)
            march_store<T, WORDS>(out, f);
    }
}

/* The least odd size that holds n taps round their anchor in its middle. */
static inline int march_centred(int n, int anchor)
{
    int after = n - 1 - anchor;
    return 2 * (anchor > after ? anchor : after) + 1;
}

/* By how much weights can enlarge a sample; below MARCH_MOST no sum over 16-bit samples times alpha
 * overflows, so zero taps add exactly nothing. */
#define MARCH_MOST 1e20

static inline double march_most(const float *weights, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most += weights[i] < 0 ? -(double)weights[i] : (double)weights[i];
    return most;
}

/* Can the ring hold the border's values? It holds samples of the image's type. */
static inline bool march_holds(const struct gi_image *src, const struct gi_edge *edge)
{
    float full = gi_type_full_scale(src->type);
    if (edge->border == GI_BORDER_VALUE && src->type != GI_F32)
        for (int c = 0; c < src->channels; c++)
            if (!(edge->value[c] >= 0 && edge->value[c] <= full &&
                  edge->value[c] == (float)(int)edge->value[c]))
                return false;
    return true;
}

/* Fills in the division of work and launches. */
template <enum march_kind KIND, typename T, int CHANNELS, int N, int WORDS>
static enum gi_status march_launch(struct gi_cuda_context *cu, struct gi_image *dst,
                                   const struct gi_image *src, struct march_args<KIND, N> *args,
                                   struct gi_err *err)
{
    args->dst = target_of(dst);
    args->row_nbytes = (int)gi_row_nbytes(src);
    void (*kernel)(struct march_args<KIND, N>) = march<KIND, T, CHANNELS, N, WORDS, true>;
    bool near = KIND != MARCH_GRADIENT || sizeof(T) > 1 || args->whole;
    if (!args->rule.plain || !near)
        kernel = march<KIND, T, CHANNELS, N, WORDS, false>;
    int warps_per_unit = 1;
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&warps_per_unit, kernel, 32, 0));
    int strips = ceil_div(args->row_nbytes, march_shape<T, CHANNELS, N, WORDS>::STRIP);
    int bands =
        warps_per_unit * cu->units / strips; /* one wave, so that nobody waits for a place */
    bands = bands < 1 ? 1 : bands > 65535 ? 65535 : bands;
    args->band_rows = ceil_div(src->height, bands);
    args->band_rows = args->band_rows < 2 * N ? 2 * N : args->band_rows;
    dim3 grid(strips, ceil_div(src->height, args->band_rows));
    kernel<<<grid, 32, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

#endif
