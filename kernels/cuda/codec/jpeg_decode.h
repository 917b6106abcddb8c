/* Internals of jpeg_decode on CUDA: the tasks of a launch, and the launchers of its kernels.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_JPEG_DECODE_H
#define GI_KERNELS_CUDA_JPEG_DECODE_H

#include "kernels/cuda/cuda.h"
#include "kernels/jpeg_decode.h"

enum {
    JPEG_TILE = 4096,     /* bytes of a scan that a block unstuffs */
    JPEG_CHUNK = 256,     /* subsequences that a block synchronises ... */
    JPEG_LEAD_SUBS = 32,  /* ... after this number of subsequences of the chunk before */
    JPEG_PADDING = 16,    /* zeros after the last byte, for loads ahead of use */
    JPEG_ROUNDS = 64,     /* maximum number of rounds until all subsequences agree */
    JPEG_LAUNCH_MAX = 64, /* images of a launch */
};

/* Reasons to leave a scan to libjpeg-turbo, in jpeg_task.status. */
enum { JPEG_DAMAGED = 1, JPEG_NOT_SYNCHRONISED = 2, JPEG_LEAVES_16_BITS = 4 };

/* A position in a scan: the next bit, the block within the MCU, and the next coefficient of the
 * zigzag order (0: the DC coefficient). */
struct jpeg_place {
    uint32_t bit;
    uint16_t unit, zigzag;
};

/* Sums over the symbols of consecutive subsequences. */
struct jpeg_sums {
    uint32_t blocks;            /* number of blocks that end there */
    uint32_t restarts;          /* 1 if a restart interval begins there, else 0 */
    int dc[GI_JPEG_COMPONENTS]; /* of DC differences, since the last restart interval began */
};

/* A subsequence: sub_bits bits of the scan without stuffed bytes. It begins and ends at symbols,
 * the first that begin at or after its border. `in` and `out` are these positions. `sums` are those
 * of its own symbols, and once its chunk is synchronised those of the subsequences of the chunk
 * before it. */
struct jpeg_sub {
    struct jpeg_place in, out;
    struct jpeg_sums sums;
};

/* One image of a launch. All pointers are to device memory. */
struct jpeg_task {
    struct gi_jpeg_grid grid;
    const uint8_t *scan;
    uint32_t scan_nbytes, ntiles;
    uint32_t *tiles;    /* per tile: bytes that are kept | restart markers << 16 */
    uint8_t *bytes;     /* the scan without stuffed zeros and markers, then JPEG_PADDING zeros */
    uint32_t *segments; /* first byte of each restart interval, then the end of the last one */
    uint32_t nsegments;
    uint32_t segment_blocks; /* blocks of a restart interval */
    uint32_t sub_bits;
    uint32_t symbols_most; /* symbols that a block decodes one after another in all rounds */
    uint32_t nsubs_most;   /* subsequences, if no byte is stuffed */
    struct jpeg_sub *subs;
    struct jpeg_sums *chunks;          /* sums of all subsequences of each chunk */
    const struct gi_jpeg_codes *codes; /* of DC and AC, for each component */
    uint32_t components;               /* 2 bits for each block of an MCU: its component */
    uint8_t columns[GI_JPEG_BLOCK];    /* position, column by column, of zigzag place i */
    int16_t *coefficients;             /* blocks in the order of the scan, each column by column */
    __align__(16) uint16_t quantization[GI_JPEG_COMPONENTS][GI_JPEG_BLOCK]; /* column by column */
    uint8_t *planes[GI_JPEG_COMPONENTS];
    struct gi_image result;
    bool ycc;
    uint32_t *status; /* bits JPEG_DAMAGED and so on */
};

/* The largest numbers of a launch, which has `n` tasks. */
struct jpeg_launch {
    const struct jpeg_task *tasks; /* device memory */
    unsigned n, tiles, subs;
    unsigned across, down; /* blocks of a row of a plane, and rows of blocks of all planes */
    int width, height;
};

/* Removes stuffed bytes and finds the restart intervals. */
enum gi_status gi_cuda_jpeg_unstuff(struct gi_cuda_queue *cu, const struct jpeg_launch *launch,
                                    struct gi_err *err);
/* Decodes the coefficients, which must be 0 before. */
enum gi_status gi_cuda_jpeg_entropy(struct gi_cuda_queue *cu, const struct jpeg_launch *launch,
                                    struct gi_err *err);
/* Transforms the coefficients into planes, and the planes into the results. */
enum gi_status gi_cuda_jpeg_pixels(struct gi_cuda_queue *cu, const struct jpeg_launch *launch,
                                   struct gi_err *err);

/* For kernels: returns whether an earlier kernel has given up the image. All threads of the block
 * call it. */
static __device__ inline bool jpeg_gave_up(const struct jpeg_task &task)
{
    return __syncthreads_or(threadIdx.x == 0 && *task.status != 0);
}

#endif
