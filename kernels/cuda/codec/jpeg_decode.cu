/* Decodes scans of JPEGs: unstuffing (jpeg_unstuff.cu), Huffman decoding (jpeg_entropy.cu), inverse
 * transform and colour (jpeg_pixels.cu). Each kernel serves all images of a launch, one per value
 * of the last coordinate of the grid; a task describes each image.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/codec/jpeg_decode.h"
#include "kernels/cuda/codec/take.cuh"

#include <string.h>

/* The arguments of one call, and what became of it. */
struct call {
    struct gi_image *result;
    const struct gi_image *scan;
    const struct gi_jpeg_decode *spec;
};

/* What a launch uploads for each image, in pinned memory. */
struct upload {
    struct jpeg_task task;
    struct gi_jpeg_codes codes[2 * GI_JPEG_COMPONENTS];
};

/* ---- tasks ---- */

static void set_quantization(struct jpeg_task *task, const struct gi_jpeg_frame *frame)
{
    for (int c = 0; c < frame->ncomponents; c++)
        for (int i = 0; i < GI_JPEG_BLOCK; i++)
            task->quantization[c][i % 8 * 8 + i / 8] =
                frame->quantization[frame->components[c].quantization][i];
}

/* Chooses the length of a subsequence. As many bits before it are decoded to guess its start. With
 * several blocks per component in an MCU, guesses become right after 1,200 bits in the mean,
 * otherwise after 130 to 260 (1080p photographs of quality 90 to 95). Blocks of more than 100 bits,
 * as of quality 95, take longer, and JPEG_LEAD_SUBS subsequences must suffice. */
static void set_length(struct jpeg_task *task)
{
    const bool simple = task->grid.nunits <= GI_JPEG_COMPONENTS;
    const bool dense = task->scan_nbytes * UINT64_C(8) > task->grid.ncoded * UINT64_C(100);
    task->sub_bits = (simple ? 512 : 1024) * (dense ? 2 : 1);
    task->nsubs_most = (task->scan_nbytes * 8 + task->sub_bits - 1) / task->sub_bits;
}

/* Limits the time of a scan whose subsequences never synchronise. libjpeg-turbo takes at least 20
 * ns per byte and 1.5 ns per pixel, a block 90 ns per symbol of the slowest thread in each round
 * (H100). So the rounds take half the time of libjpeg-turbo at most, or about 0.25 ms for small
 * images. Scans of photographs need 25,000 bits at most, which are 5,000 symbols, if they are
 * large. */
static uint32_t symbols_most(uint32_t scan_nbytes, const struct gi_jpeg_frame *frame)
{
    const uint64_t least = 3000, pixels = (uint64_t)frame->width * (uint64_t)frame->height;
    const uint64_t symbols = scan_nbytes / 9 + pixels / 120;
    return (uint32_t)(symbols > least ? symbols : least);
}

/* Fills in the task except for its arrays. Returns false if the scan can't be decoded here. */
static bool task_make(struct upload *upload, const struct call *call)
{
    static const uint8_t zigzag[GI_JPEG_BLOCK] = GI_JPEG_ZIGZAG;
    const struct gi_jpeg_frame *frame = call->spec->frame;
    struct jpeg_task *task = &upload->task;
    memset(task, 0, sizeof *task);
    if (!gi_jpeg_grid_make(&task->grid, frame, call->spec->denominator) ||
        !gi_jpeg_fits(call->result, call->spec) || call->scan->width > 1 << 28)
        return false;
    for (int c = 0; c < frame->ncomponents; c++)
        if (!gi_jpeg_codes_make(&upload->codes[2 * c], &frame->dc[frame->components[c].dc], 15) ||
            !gi_jpeg_codes_make(&upload->codes[2 * c + 1], &frame->ac[frame->components[c].ac],
                                255))
            return false;
    for (int i = 0; i < task->grid.nunits; i++)
        task->components |= (uint32_t)task->grid.component_of[i] << 2 * i;
    for (int i = 0; i < GI_JPEG_BLOCK; i++)
        task->columns[i] = (uint8_t)(zigzag[i] % 8 * 8 + zigzag[i] / 8);
    set_quantization(task, frame);
    task->scan = (const uint8_t *)call->scan->data;
    task->scan_nbytes = (uint32_t)call->scan->width;
    task->ntiles = (task->scan_nbytes + JPEG_TILE - 1) / JPEG_TILE;
    uint32_t mcus = task->grid.ncoded / (uint32_t)task->grid.nunits;
    uint32_t interval =
        frame->restart_interval && frame->restart_interval < mcus ? frame->restart_interval : mcus;
    task->nsegments = (mcus + interval - 1) / interval;
    task->segment_blocks = interval * (uint32_t)task->grid.nunits;
    set_length(task);
    task->symbols_most = symbols_most(task->scan_nbytes, frame);
    task->result = *call->result;
    task->ycc = frame->ycc;
    return true;
}

/* Places the arrays of a task in scratch memory, except coefficients and status. */
static void task_place(struct jpeg_task *task, char *base, size_t *used)
{
    task->tiles = take<uint32_t>(base, used, task->ntiles);
    task->bytes = take<uint8_t>(base, used, task->scan_nbytes + JPEG_PADDING);
    task->segments = take<uint32_t>(base, used, task->nsegments + 1);
    task->subs = take<struct jpeg_sub>(base, used, task->nsubs_most);
    task->chunks = take<struct jpeg_sums>(base, used, task->nsubs_most / JPEG_CHUNK + 1);
    for (int c = 0; c < task->result.channels; c++) {
        const struct gi_jpeg_plane *plane = &task->grid.planes[c];
        task->planes[c] =
            take<uint8_t>(base, used, (size_t)plane->across * (size_t)plane->down * GI_JPEG_BLOCK);
    }
}

/* ---- a launch ---- */

/* The parts of a launch's memory. Those that are zeroed come first. */
struct parts {
    uint32_t *status;
    size_t zeroed_nbytes, nbytes;
};

/* Places the arrays of all tasks. Returns the memory that they need. */
static struct parts place(struct upload *uploads, unsigned n, char *base)
{
    struct parts parts = {};
    size_t used = 0;
    parts.status = take<uint32_t>(base, &used, n);
    for (unsigned i = 0; i < n; i++) {
        struct jpeg_task *task = &uploads[i].task;
        task->status = parts.status + i;
        task->coefficients = take<int16_t>(base, &used, (size_t)task->grid.ncoded * GI_JPEG_BLOCK);
    }
    parts.zeroed_nbytes = used;
    for (unsigned i = 0; i < n; i++)
        task_place(&uploads[i].task, base, &used);
    parts.nbytes = used;
    return parts;
}

static struct jpeg_launch launch_of(const struct upload *uploads, unsigned n)
{
    struct jpeg_launch launch = {};
    launch.n = n;
    for (unsigned i = 0; i < n; i++) {
        const struct jpeg_task *task = &uploads[i].task;
        launch.tiles = task->ntiles > launch.tiles ? task->ntiles : launch.tiles;
        launch.subs = task->nsubs_most > launch.subs ? task->nsubs_most : launch.subs;
        unsigned down = 0;
        for (int c = 0; c < task->result.channels; c++) {
            const unsigned across = (unsigned)task->grid.planes[c].across;
            launch.across = across > launch.across ? across : launch.across;
            down += (unsigned)task->grid.planes[c].down;
        }
        launch.down = down > launch.down ? down : launch.down;
        launch.width = task->result.width > launch.width ? task->result.width : launch.width;
        launch.height = task->result.height > launch.height ? task->result.height : launch.height;
    }
    return launch;
}

/* Decodes n images. `pinned` has room for their uploads, which are filled in, and for n words,
 * which become their status. Waits. */
static enum gi_status decode(struct gi_cuda_queue *cu, struct upload *uploads, uint32_t *status,
                             unsigned n, struct gi_err *err)
{
    char *scratch;
    size_t uploads_nbytes = (n * sizeof *uploads + TAKE_ALIGN - 1) / TAKE_ALIGN * TAKE_ALIGN;
    size_t nbytes = place(uploads, n, NULL).nbytes + uploads_nbytes;
    enum gi_status made = gi_cuda_scratch(cu, (void **)&scratch, nbytes, err);
    if (made)
        return made;
    struct parts parts = place(uploads, n, scratch + uploads_nbytes);
    struct upload *there = (struct upload *)scratch;
    struct jpeg_launch launch = launch_of(uploads, n);
    for (unsigned i = 0; i < n; i++)
        uploads[i].task.codes = there[i].codes;
    launch.tasks = &there->task;
    GI_CUDA_TRY(
        cudaMemcpyAsync(there, uploads, n * sizeof *uploads, cudaMemcpyHostToDevice, cu->stream));
    GI_CUDA_TRY(cudaMemsetAsync(parts.status, 0, parts.zeroed_nbytes, cu->stream));
    made = gi_cuda_jpeg_unstuff(cu, &launch, err);
    if (!made)
        made = gi_cuda_jpeg_entropy(cu, &launch, err);
    if (!made)
        made = gi_cuda_jpeg_pixels(cu, &launch, err);
    if (made)
        return made;
    GI_CUDA_TRY(cudaMemcpyAsync(status, parts.status, n * sizeof *status, cudaMemcpyDeviceToHost,
                                cu->stream));
    GI_CUDA_TRY(cudaStreamSynchronize(cu->stream));
    return GI_OK;
}

/* If the subsequences don't synchronise, their sums are wrong and the scan seems to be damaged. */
static enum gi_status refuse(uint32_t status, struct gi_err *err)
{
    return gi_fail(err, GI_E_UNSUPPORTED, "jpeg_decode: %s",
                   status & JPEG_NOT_SYNCHRONISED ? "the subsequences don't synchronise"
                   : status & JPEG_DAMAGED        ? "this scan is not decoded"
                                                  : "values leave 16 bits");
}

static enum gi_status subsequences(struct gi_queue *queue, struct gi_image *result,
                                   const struct gi_image *scan, const struct gi_jpeg_decode *spec,
                                   struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    const struct gi_allocator *pinned = &cu->device->host_allocator;
    const struct call call = {result, scan, spec};
    struct upload *upload =
        (struct upload *)pinned->alloc(pinned->self, sizeof *upload + TAKE_ALIGN);
    if (!upload)
        return gi_fail(err, GI_E_MEMORY, "out of memory: pinned memory");
    uint32_t *status = (uint32_t *)(upload + 1);
    enum gi_status made = GI_OK;
    if (!task_make(upload, &call))
        made = gi_fail(err, GI_E_UNSUPPORTED, "jpeg_decode: this kind of JPEG is not decoded");
    if (!made)
        made = decode(cu, upload, status, 1, err);
    if (!made && *status)
        made = refuse(*status, err);
    pinned->free(pinned->self, upload);
    return made;
}

const struct gi_jpeg_decode_way gi_cuda_jpeg_decode_ways[GI_WAYS_MAX] = {
    {{"subsequences", "everything"}, NULL, subsequences},
};
