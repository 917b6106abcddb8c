/* Rows of the sliding window in registers (sliding_window.cuh): how rows are copied asynchronously
 * (cp.async) from the image to the ring buffer in shared memory, how samples outside the image are
 * computed, and how rows are loaded into registers.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_SLIDING_WINDOW_RING_CUH
#define GI_KERNELS_CUDA_SLIDING_WINDOW_RING_CUH

#include <cuda_pipeline.h>

#include "kernels/cuda/common/arch.cuh"
#include "kernels/cuda/common/sliding_window_sums.cuh"

enum {
    SLIDING_ROWS = 4, /* rows per step, which share the cost of waiting and addressing */
    SLIDING_RING = 2, /* steps in the ring buffer: one in use, the other being copied */
};

/* Constants that describe the work of a thread and its warp. */
template <typename T, int CHANNELS, int N, int WORDS> struct sliding_shape {
    enum {
        S = WORDS * 4 / (int)sizeof(T),                /* samples per thread */
        HALO = N / 2 * CHANNELS,                       /* samples on each side of the window */
        HALO_WORDS = (HALO * (int)sizeof(T) + 3) / 4,  /* words on each side of the window */
        SKIP = HALO_WORDS * 4 / (int)sizeof(T) - HALO, /* samples before the window */
        WINDOW = S + 2 * HALO,                         /* samples of a thread's window */
        STRIP = 32 * WORDS * 4,                        /* bytes of a row that one warp owns */
        SIDE = (HALO * (int)sizeof(T) + 15) / 16 * 16, /* bytes copied on each side of the strip */
        SLOT = STRIP + 2 * SIDE,                       /* bytes of a row in the ring buffer */
        PITCH = SLOT + (2 * HALO + 3) / 4 * 16,        /* plus the words that WRAP copies */
        TURN = SLIDING_ROWS * PITCH,                   /* bytes of a step in the ring buffer */
    };
};

/* Loads n words from a shared-memory address. With a pointer instead, the compiler would recompute
 * the address for every row. */
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

/* Loads words AT to END - 1 from `from`, an address aligned to ALIGN words, with the widest
 * possible loads. */
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

/* If `yes`, starts an asynchronous copy of N bytes (4 or 16) to shared memory. On GPUs before sm_80
 * the copy is synchronous. */
template <int N>
static __device__ __forceinline__ void copy_start(unsigned to, const char *from, int yes)
{
#if GI_CUDA_ARCH >= 800
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

/* Returns v unchanged. It passes v through a shuffle, so that the compiler keeps v in a register
 * instead of computing it again. */
static __device__ __forceinline__ int kept(int v)
{
    return __shfl_sync(~0u, v, (int)threadIdx.x);
}

static __device__ __forceinline__ const char *kept(const char *p)
{
    return (const char *)__shfl_sync(~0u, (unsigned long long)p, (int)threadIdx.x);
}

/* The halo sample that this lane writes, left or right of the image. The halo sample is the border
 * value or a copy of another sample of the row. With WRAP, that other sample is at the other end of
 * the row, and the word with it is first copied behind the row in the ring buffer. */
struct sliding_patch {
    int to, from; /* byte offsets in the row; `to` -1: no sample; `from` -1: take `value` */
    int word;     /* WRAP: byte offset in the image row of the word to copy, or -1 for none */
    float value;
};

template <typename T, int CHANNELS, int HALO, int SLOT>
static __device__ __noinline__ struct sliding_patch sliding_patch_of(const struct source *src,
                                                                     int first)
{
    enum { SIZE = (int)sizeof(T) };
    int lane = (int)threadIdx.x, c = lane % CHANNELS;
    int x = lane / CHANNELS - HALO / CHANNELS + (lane < HALO ? 0 : src->width);
    int xi = gi_border_index(x, src->width, src->border);
    int to = (x * CHANNELS + c) * SIZE - first, from = (xi * CHANNELS + c) * SIZE;
    struct sliding_patch p = {lane < 2 * HALO && to >= 0 && to < SLOT ? to : -1, from - first, -1,
                              src->value[c]};
    if (xi < 0) {
        p.from = -1;
    } else if (src->border == GI_BORDER_WRAP && p.to >= 0) {
        p.word = from & ~3;
        p.from = SLOT + lane * 4 + (from & 3);
    }
    return p;
}

/* Writes the lane's halo sample into all rows of a step. */
template <typename T, int PITCH>
static __device__ __forceinline__ void sliding_patch_turn(char *turn,
                                                          const struct sliding_patch *patch)
{
    if (patch->to >= 0)
#pragma unroll
        for (int r = 0; r < SLIDING_ROWS; r++, turn += PITCH)
            *(T *)(turn + patch->to) =
                patch->from >= 0 ? *(const T *)(turn + patch->from) : (T)patch->value;
    __syncwarp();
}

/* What a lane copies in every step. It copies 16 bytes of the strip in each row and, if `side`, 16
 * bytes of the halo in one of the rows. */
struct sliding_copy {
    const char *from, *from_side; /* piece of the strip in image row 0; piece of the halo */
    unsigned to, to_side;         /* addresses of their copies in step 0 of the ring buffer */
    int strip, side;              /* whether this lane has such a piece */
};

template <int STRIP, int SIDE, int PITCH>
static __device__ __forceinline__ struct sliding_copy
sliding_copy_of(const struct source *src, unsigned slots, int strip, int row_nbytes)
{
    enum { SIDES = SIDE / 16 };
    static_assert(2 * SIDES * SLIDING_ROWS <= 32, "a lane copies one piece of the sides");
    int lane = (int)threadIdx.x, row = lane % SLIDING_ROWS, piece = lane / SLIDING_ROWS;
    int at = lane * 16; /* bytes of the strip */
    int side = piece < SIDES ? piece * 16 - SIDE : STRIP + (piece - SIDES) * 16;
    struct sliding_copy copy = {
        kept(src->data + strip + at),
        kept(src->data + (size_t)row * src->stride + strip + side),
        (unsigned)kept((int)slots + at),
        (unsigned)kept((int)slots + row * PITCH + side),
        kept(at < STRIP && strip + at < row_nbytes),
        kept(piece < 2 * SIDES && strip + side >= 0 && strip + side < row_nbytes)};
    return copy;
}

/* Starts to copy SLIDING_ROWS rows of the image, of which `row` is the first, to the step at byte
 * `turn` of the ring buffer. */
template <int PITCH>
static __device__ __forceinline__ void sliding_copy_turn(const struct sliding_copy *copy,
                                                         unsigned turn, int row, size_t stride)
{
    const char *from;
    asm("mad.wide.u32 %0, %1, %2, %3;"
        : "=l"(from)
        : "r"(row), "r"((unsigned)stride), "l"(copy->from));
#pragma unroll
    for (int r = 0; r < SLIDING_ROWS; r++)
        copy_start<16>(copy->to + turn + r * PITCH, from + r * stride, copy->strip);
    asm("mad.wide.u32 %0, %1, %2, %3;"
        : "=l"(from)
        : "r"(row), "r"((unsigned)stride), "l"(copy->from_side));
    copy_start<16>(copy->to_side + turn, from, copy->side);
}

/* Copies one row, which may be outside the image, to `slot`, a row of the ring buffer that begins
 * with byte `first` of the image row. Also copies the words that WRAP needs. */
template <typename T, int CHANNELS, int SLOT>
static __device__ __noinline__ void sliding_copy_any(char *slot, const struct source *src, int row,
                                                     int first, int row_nbytes, int word)
{
    int lane = (int)threadIdx.x;
    row = gi_border_index(row, src->height, src->border);
    if (row < 0) {
        int c0 = first / (int)sizeof(T) + SLOT * CHANNELS;
        for (int i = lane; i < SLOT / (int)sizeof(T); i += 32)
            ((T *)slot)[i] = (T)src->value[(c0 + i) % CHANNELS];
        return;
    }
    const char *from = src->data + (size_t)row * src->stride;
    unsigned to = (unsigned)__cvta_generic_to_shared(slot);
    for (int at = lane * 16; at < SLOT; at += 32 * 16)
        copy_start<16>(to + at, from + first + at, first + at >= 0 && first + at < row_nbytes);
    if (word >= 0)
        copy_start<4>(to + SLOT + lane * 4, from + word, 1);
}

#endif
