/* Copies the stream of a PNG from its IDAT chunks into one piece.
 *
 *   src       | length IDAT | data | CRC | length IDAT |    data    | CRC | ...
 *   stream                  | data |    data    | ...
 *   threads                 |  0  |  1  |  2  | ...
 *
 * Each thread makes PIECE_NBYTES bytes of the stream, which may be in several chunks.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/codec/png_decode.h"

enum { THREADS = 128, PIECE_NBYTES = 256 /* a multiple of 4 */ };

/* Returns the number of the chunk that holds byte `at` of the stream. It is the last one that does
 * not begin behind the byte, so that empty chunks are left out. */
static __device__ inline uint32_t idat_of(const struct png_task &task, uint32_t at)
{
    uint32_t low = 0, high = task.nidats;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (task.idats[middle].first <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Copies n bytes of one chunk, by words of `to`. The CRC is behind the data, so that whole words
 * can be loaded. */
static __device__ inline void copy_bytes(uint8_t *to, const uint8_t *from, uint32_t n)
{
    uint32_t i = 0;
    for (; i < n && (uintptr_t)(to + i) % 4; i++)
        to[i] = from[i];
    const uint32_t shift = (uint32_t)((uintptr_t)(from + i) % 4);
    const uint32_t *words = (const uint32_t *)(from + i - shift);
    uint32_t low = i + 4 <= n ? __ldg(words) : 0;
    for (; i + 4 <= n; i += 4) {
        const uint32_t high = __ldg(++words);
        *(uint32_t *)(to + i) = __funnelshift_r(low, high, 8 * shift);
        low = high;
    }
    for (; i < n; i++)
        to[i] = from[i];
}

static __global__ void __launch_bounds__(THREADS)
    gather_idats(struct png_task task, uint8_t *stream)
{
    uint32_t at = (blockIdx.x * THREADS + threadIdx.x) * PIECE_NBYTES;
    const uint32_t end = min(at + PIECE_NBYTES, task.stream_nbytes);
    while (at < end) {
        const uint32_t i = idat_of(task, at);
        const struct png_idat idat = task.idats[i];
        const uint32_t n = min(task.idats[i + 1].first, end) - at;
        copy_bytes(stream + at, task.src + idat.at + (at - idat.first), n);
        at += n;
    }
}

enum gi_status gi_cuda_png_gather(struct gi_cuda_queue *cu, const struct png_task *task,
                                  struct gi_err *err)
{
    const uint32_t each = THREADS * PIECE_NBYTES;
    gather_idats<<<(task->stream_nbytes + each - 1) / each, THREADS, 0, cu->stream>>>(
        *task, (uint8_t *)task->words);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
