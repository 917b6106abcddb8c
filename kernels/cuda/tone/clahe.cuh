/* Shared by the kernels of contrast-limited adaptive histogram equalization (CLAHE).
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_CLAHE_CUH
#define GI_KERNELS_CUDA_CLAHE_CUH

#include "kernels/cuda/common/sample.cuh"
#include "kernels/tone.h"

enum {
    BINS8 = 256,
    PITCH8 = 256, /* bytes per bin: 64 counters, one for each lane of two warps */
    COUNT_THREADS = 512,
    COUNT_NBYTES = BINS8 * PITCH8, /* of shared memory */
    COUNT_AHEAD = 2,               /* pieces per thread in flight */
    PARTS_MIN_ROWS = 16,
    LOOK_THREADS = 128,
    LOOK_ROWS = 64,
    LOOK_AHEAD = 8,
    EACH_THREADS = 256,
    EACH_BLOCKS = 6,                    /* per multiprocessor */
    LARGE_MIN_PIXELS = 3 << 14,         /* per tile */
    INTERLEAVED_MAX_NBYTES = 256 << 20, /* of interleaved tables */
};

struct clahe_args {
    struct gi_image dst, src, judge;
    struct gi_clahe_shape shape;
    int sets;         /* sets of tables: 1 for all channels, or 1 per colour */
    int y;            /* row of the whole image that is the first row of `src` */
    uint32_t *counts; /* of one set: [tile][value] */
    void *tables;     /* of 8 or 16 bits: [set][tile][value] */
    size_t tables_nbytes;
    ushort4 *four; /* interleaved tables [set][cell][value] of the way "interleaved" */
};

/* The block that makes the table of a tile, whose entries have type T. */
template <typename T> struct table_block {
    enum { THREADS = sizeof(T) == 1 ? 256 : 1024 };
};

/* The bin of a sample. */
template <typename T> static __device__ __forceinline__ unsigned value_of(T v)
{
    if constexpr (sizeof(T) == 4)
        return (unsigned)gi_unit_bin(v);
    else
        return v;
}

template <typename T>
static __device__ __forceinline__ unsigned judged(const struct clahe_args &args, const T *row,
                                                  int x, int set)
{
    x = gi_border_index(x, args.judge.width, GI_BORDER_REFLECT101);
    return value_of(row[x * args.judge.channels + set]);
}

#endif
