/* Removes the stuffed zeros and the restart markers of a scan (T.81, B.1.1.5), by stream
 * compaction. The first kernel counts the bytes that each tile keeps, the second sums the counts of
 * the tiles before its own and writes.
 *
 *   scan    12 ff 00 34 | ff d0 56 78 ff 00      kept 3 and 3, restart markers 0 and 1
 *   bytes   12 ff 34 56 78 ff                    restart intervals begin at 0 and 3
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/codec/jpeg_decode.h"
#include "kernels/cuda/common/measure.h"

enum { THREADS = 256, EACH = JPEG_TILE / THREADS /* bytes of a thread */ };

/* The kinds of the bytes of a thread, a bit per byte. */
struct sorted {
    uint32_t kept, restarts; /* the byte is kept; it is the second byte of a restart marker */
    bool damaged;            /* there is another marker */
};

static __device__ inline struct sorted sort_bytes(const struct jpeg_task &task, uint32_t first)
{
    struct sorted s = {};
    const uint8_t *scan = task.scan;
    const uint32_t n = task.scan_nbytes;
    uint8_t before = first > 0 && first <= n ? scan[first - 1] : 0;
    uint8_t here = first < n ? scan[first] : 0;
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        const uint32_t at = first + i;
        const uint8_t next = at + 1 < n ? scan[at + 1] : 0xd9;
        if (at < n) {
            const bool marks = here == 0xff && next != 0, marked = before == 0xff;
            const bool restart = marked && (here & 0xf8) == 0xd0;
            s.kept |= (uint32_t)(!marked && !marks) << i;
            s.restarts |= (uint32_t)restart << i;
            s.damaged |= (marked && here != 0 && !restart) || (here == 0xff && at + 1 == n);
        }
        before = here;
        here = next;
    }
    return s;
}

static __device__ inline uint32_t packed_counts(const struct sorted &s)
{
    return (uint32_t)__popc(s.kept) | (uint32_t)__popc(s.restarts) << 16;
}

static __global__ void __launch_bounds__(THREADS) count_bytes(const struct jpeg_task *tasks)
{
    const struct jpeg_task &task = tasks[blockIdx.y];
    if (blockIdx.x >= task.ntiles)
        return;
    uint32_t all, first = blockIdx.x * JPEG_TILE + threadIdx.x * EACH;
    block_before<THREADS / WARP>(packed_counts(sort_bytes(task, first)), &all);
    if (threadIdx.x == 0)
        task.tiles[blockIdx.x] = all;
}

/* Notes where the restart interval after marker number `restart` begins. */
static __device__ inline bool note_restart(const struct jpeg_task &task, uint32_t restart,
                                           uint32_t code, uint32_t at)
{
    if (restart + 1 >= task.nsegments || code % 8 != restart % 8)
        return false;
    task.segments[restart + 1] = at;
    return true;
}

static __global__ void __launch_bounds__(THREADS) keep_bytes(const struct jpeg_task *tasks)
{
    const struct jpeg_task &task = tasks[blockIdx.y];
    const uint32_t tile = blockIdx.x;
    if (tile >= task.ntiles)
        return;
    __shared__ uint8_t line[JPEG_TILE];
    uint32_t kept = 0, restarts = 0, all;
    for (uint32_t i = threadIdx.x; i < tile; i += THREADS) {
        kept += task.tiles[i] & 0xffff;
        restarts += task.tiles[i] >> 16;
    }
    block_before<THREADS / WARP>(kept, &kept);
    __syncthreads();
    block_before<THREADS / WARP>(restarts, &restarts);
    __syncthreads();
    const uint32_t first = tile * JPEG_TILE + threadIdx.x * EACH;
    struct sorted s = sort_bytes(task, first);
    const uint32_t before = block_before<THREADS / WARP>(packed_counts(s), &all);
    uint32_t at = before & 0xffff, restart = restarts + (before >> 16);
    for (uint32_t i = 0; i < EACH; i++) {
        if (s.restarts >> i & 1)
            s.damaged |= !note_restart(task, restart++, task.scan[first + i], kept + at);
        if (s.kept >> i & 1)
            line[at++] = task.scan[first + i];
    }
    __syncthreads();
    const uint32_t n = all & 0xffff;
    for (uint32_t i = threadIdx.x; i < n; i += THREADS)
        task.bytes[kept + i] = line[i];
    if (tile == 0 && threadIdx.x == 0)
        task.segments[0] = 0;
    if (tile == task.ntiles - 1) {
        if (threadIdx.x < JPEG_PADDING)
            task.bytes[kept + n + threadIdx.x] = 0;
        task.segments[task.nsegments] = kept + n;
        s.damaged |= restarts + (all >> 16) + 1 != task.nsegments;
    }
    if (s.damaged)
        atomicOr(task.status, JPEG_DAMAGED);
}

enum gi_status gi_cuda_jpeg_unstuff(struct gi_cuda_queue *cu, const struct jpeg_launch *launch,
                                    struct gi_err *err)
{
    const dim3 grid(launch->tiles, launch->n);
    count_bytes<<<grid, THREADS, 0, cu->stream>>>(launch->tasks);
    GI_CUDA_LAUNCHED();
    keep_bytes<<<grid, THREADS, 0, cu->stream>>>(launch->tasks);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
