/* Copies the stream of a PNG from its IDAT chunks into one piece, and checks their CRCs.
 *
 *   src       | length IDAT | data | CRC | length IDAT |    data    | CRC | ...
 *   stream                  | data |    data    | ...
 *   threads                 |  0  |  1  |  2  | ...
 *
 * Each thread makes PIECE_NBYTES bytes of the stream, which may be in several chunks. It adds the
 * remainder of each part to that of the part's chunk (kernels/crc32.h).
 * SPDX-License-Identifier: MIT */
#include "kernels/crc32.h"
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
 * can be loaded. Returns the remainder of the bytes. */
static __device__ inline uint32_t copy_bytes(const struct gi_crc32_tables &tables, uint8_t *to,
                                             const uint8_t *from, uint32_t n)
{
    uint32_t i = 0, remainder = 0;
    const auto copy_byte = [&] {
        to[i] = from[i];
        remainder = gi_crc32_byte(&tables, remainder, from[i]);
    };
    for (; i < n && (uintptr_t)(to + i) % 4; i++)
        copy_byte();
    const uint32_t shift = (uint32_t)((uintptr_t)(from + i) % 4);
    const uint32_t *words = (const uint32_t *)(from + i - shift);
    uint32_t low = i + 4 <= n ? __ldg(words) : 0;
    for (; i + 4 <= n; i += 4) {
        const uint32_t high = __ldg(++words), word = __funnelshift_r(low, high, 8 * shift);
        *(uint32_t *)(to + i) = word;
        remainder = gi_crc32_word(&tables, remainder, word);
        low = high;
    }
    for (; i < n; i++)
        copy_byte();
    return remainder;
}

static __global__ void __launch_bounds__(THREADS)
    gather_idats(struct png_task task, uint8_t *stream)
{
    __shared__ struct gi_crc32_tables tables;
    gi_crc32_fill(&tables, threadIdx.x, THREADS);
    __syncthreads();
    uint32_t at = (blockIdx.x * THREADS + threadIdx.x) * PIECE_NBYTES;
    const uint32_t end = min(at + PIECE_NBYTES, task.stream_nbytes);
    while (at < end) {
        const uint32_t i = idat_of(task, at);
        const struct png_idat idat = task.idats[i];
        const uint32_t idat_end = task.idats[i + 1].first, n = min(idat_end, end) - at;
        const uint8_t *from = task.src + idat.at + (at - idat.first);
        const uint32_t remainder = copy_bytes(tables, stream + at, from, n);
        at += n;
        atomicXor(&task.remainders[i], gi_crc32_shift(remainder, idat_end - at));
    }
}

/* Compares the CRC of each chunk, also of those without data, with the one that is stored. */
static __global__ void __launch_bounds__(THREADS) check_idats(struct png_task task)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= task.nidats)
        return;
    const struct png_idat idat = task.idats[i];
    const uint32_t nbytes = task.idats[i + 1].first - idat.first;
    const uint8_t *sum = task.src + idat.at + nbytes;
    const uint32_t stored =
        (uint32_t)sum[0] << 24 | (uint32_t)sum[1] << 16 | (uint32_t)sum[2] << 8 | sum[3];
    if (gi_crc32_of_idat(task.remainders[i], nbytes) != stored)
        atomicOr(&task.state->status, PNG_DAMAGED);
}

enum gi_status gi_cuda_png_gather(struct gi_cuda_queue *cu, const struct png_task *task,
                                  struct gi_err *err)
{
    const uint32_t each = THREADS * PIECE_NBYTES;
    gather_idats<<<(task->stream_nbytes + each - 1) / each, THREADS, 0, cu->stream>>>(
        *task, (uint8_t *)task->words);
    GI_CUDA_LAUNCHED();
    check_idats<<<(task->nidats + THREADS - 1) / THREADS, THREADS, 0, cu->stream>>>(*task);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
