/* Decodes the pixels of PNGs: gathers the stream from its chunks (png_gather.cu), divides it
 * (png_segments.cu), inflates it (png_inflate.cu, png_expand.cu), finds the bytes that matches copy
 * and undoes the filters (png_unfilter.cu), and replaces indices by the colours of the palette.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/codec/png_decode.h"
#include "kernels/cuda/codec/take.cuh"

#include <string.h>

enum {
    STREAM_NBYTES_MAX = 1 << 28, /* so that positions of bits fit in 32 bits */
    RAW_NBYTES_MAX = 1 << 27,    /* of which each takes five bytes of scratch memory or more */
    ROWS_PART_MAX = 8,   /* size of png_task.rows, which has gaps, in parts of the filtered rows */
    GROUP_COST_MOST = 8, /* of undoing the filters of a group, in units of png_task.cost_most */
    SIDE_BY_SIDE = 4,    /* segments that are read at the same time, at least */
};

/* Arrays on the device that are copied from the host. */
struct uploads {
    struct png_palette *palette;
    struct png_idat *idats;
};

/* Divides the scratch memory from `base` on. If `base` is NULL, only counts. Returns its size. The
 * first *zeroed_nbytes bytes must be 0. */
static size_t place(struct png_task *task, struct uploads *uploads, size_t *zeroed_nbytes,
                    char *base)
{
    const size_t nplanes = (size_t)task->ngroups * task->pixel_nbytes; /* of all groups */
    size_t used = 0;
    task->state = take<struct png_state>(base, &used, 1);
    task->edges = take<unsigned long long>(base, &used, nplanes * task->nwords);
    task->starts = take<uint32_t>(base, &used, task->stream_nbytes / 4 + 1);
    task->remainders = take<uint32_t>(base, &used, task->nidats);
    *zeroed_nbytes = used;
    uploads->palette = take<struct png_palette>(base, &used, 1);
    if (task->nidats) {
        task->idats = uploads->idats = take<struct png_idat>(base, &used, task->nidats + 1);
        task->words = take<uint32_t>(base, &used, task->stream_nbytes / 4 + 1);
    }
    task->segments = take<struct png_segment>(base, &used, task->nblocks_most);
    task->links = take<struct png_link>(base, &used, task->nblocks_most);
    task->lengths = take<struct png_lengths>(base, &used, task->nblocks_most);
    task->windows = take<struct png_window>(base, &used, task->nwindows_most);
    task->subs = take<struct png_sub>(base, &used, task->nsubs_most);
    task->origins = take<uint32_t>(base, &used, task->raw_nbytes);
    task->filters = take<uint8_t>(base, &used, task->height);
    task->rows = take<uint32_t>(base, &used, nplanes * task->nsteps * PNG_GROUP_ROWS);
    return used;
}

/* Returns a limit of the time of inflating, in microseconds: that of a CPU, which takes 3 ns per
 * byte of the stream and 1.5 ns per byte of the rows, and 1 ms. */
static uint32_t cost_most(uint32_t stream_nbytes, uint32_t raw_nbytes)
{
    return 1000 + stream_nbytes / 330 + raw_nbytes / 660;
}

/* Returns the length of the stream. */
static size_t stream_nbytes(const struct gi_image *src, const struct gi_png_decode *spec)
{
    size_t nbytes = spec->nidats ? 0 : (size_t)src->width;
    for (uint32_t i = 0; i < spec->nidats; i++)
        nbytes += spec->idats[i].nbytes;
    return nbytes;
}

/* Fills in the task except for its arrays. Returns false if the stream can't be decoded here. */
static bool task_make(struct png_task *task, const struct gi_image *result,
                      const struct gi_image *src, const struct gi_png_decode *spec)
{
    const struct gi_png_frame *frame = spec->frame;
    const size_t nbytes = stream_nbytes(src, spec);
    const size_t pixel_nbytes = (size_t)frame->channels * gi_type_nbytes(frame->type);
    const size_t row_nbytes = (size_t)frame->width * pixel_nbytes;
    const int channels = !frame->ncolors ? frame->channels : result->channels == 4 ? 4 : 3;
    if (nbytes > STREAM_NBYTES_MAX || nbytes < 8 ||
        row_nbytes + 1 > RAW_NBYTES_MAX / (size_t)frame->height || result->width != frame->width ||
        result->height != frame->height || result->channels != channels ||
        result->type != frame->type)
        return false;
    memset(task, 0, sizeof *task);
    task->words = (const uint32_t *)src->data; /* if it is the stream */
    task->src = (const uint8_t *)src->data;
    task->nidats = spec->nidats;
    task->stream_nbytes = (uint32_t)nbytes;
    task->row_nbytes = (uint32_t)row_nbytes;
    task->height = (uint32_t)frame->height;
    task->raw_nbytes = (task->row_nbytes + 1) * task->height;
    task->pixel_nbytes = (uint32_t)pixel_nbytes;
    task->nwords = ((uint32_t)frame->width + 3) / 4;
    task->nsteps = task->nwords + PNG_GROUP_ROWS - 1;
    task->ngroups = (task->height + PNG_GROUP_ROWS - 1) / PNG_GROUP_ROWS;
    task->cost_most = cost_most(task->stream_nbytes, task->raw_nbytes);
    const uint64_t rows_nbytes =
        (uint64_t)task->ngroups * task->nsteps * task->pixel_nbytes * 4 * PNG_GROUP_ROWS;
    if (rows_nbytes > ROWS_PART_MAX * (uint64_t)task->raw_nbytes + (1 << 24) ||
        (uint64_t)task->ngroups * GROUP_COST_MOST > task->cost_most)
        return false; /* narrow and high images */
    task->all_most = SIDE_BY_SIDE * task->cost_most;
    task->nblocks_most = task->all_most / PNG_COST_BLOCK + 2;
    task->nwindows_most = task->all_most / PNG_COST_ROUND + 2;
    task->nsubs_most = task->stream_nbytes / (PNG_SUB_BITS / 8) + task->nwindows_most;
    return true;
}

/* Memory that is copied to and from the device, pinned. */
struct exchange {
    struct png_palette palette;
    struct png_state state;
    struct png_idat idats[1]; /* nidats + 1 */
};

/* Decodes one image. Waits. */
static enum gi_status decode(struct gi_cuda_queue *cu, struct png_task *task,
                             const struct gi_image *result, struct exchange *exchange,
                             struct gi_err *err)
{
    char *scratch;
    struct uploads there;
    const struct png_palette *palette = &exchange->palette;
    struct png_state *state = &exchange->state;
    size_t zeroed_nbytes, nbytes = place(task, &there, &zeroed_nbytes, NULL);
    enum gi_status made = gi_cuda_scratch(cu, (void **)&scratch, nbytes, err);
    if (made)
        return made;
    place(task, &there, &zeroed_nbytes, scratch);
    GI_CUDA_TRY(cudaMemsetAsync(scratch, 0, zeroed_nbytes, cu->stream));
    if (palette->ncolors)
        GI_CUDA_TRY(cudaMemcpyAsync(there.palette, palette, sizeof *palette, cudaMemcpyHostToDevice,
                                    cu->stream));
    if (task->nidats) {
        GI_CUDA_TRY(cudaMemcpyAsync(there.idats, exchange->idats,
                                    (task->nidats + 1) * sizeof *there.idats,
                                    cudaMemcpyHostToDevice, cu->stream));
        made = gi_cuda_png_gather(cu, task, err);
    }
    if (!made)
        made = gi_cuda_png_search(cu, task, err);
    if (!made)
        made = gi_cuda_png_inflate(cu, task, err);
    if (!made)
        made = gi_cuda_png_join(cu, task, err);
    if (!made)
        made = gi_cuda_png_expand(cu, task, err);
    if (!made)
        made = gi_cuda_png_resolve(cu, task, err);
    if (!made)
        made = gi_cuda_png_unfilter(cu, task, result, palette->ncolors ? there.palette : NULL, err);
    if (made)
        return made;
    GI_CUDA_TRY(
        cudaMemcpyAsync(state, task->state, sizeof *state, cudaMemcpyDeviceToHost, cu->stream));
    GI_CUDA_TRY(cudaStreamSynchronize(cu->stream));
    return GI_OK;
}

/* Fills in the palette and the list of chunks. */
static void exchange_fill(struct exchange *exchange, const struct gi_png_decode *spec)
{
    const struct gi_png_frame *frame = spec->frame;
    uint32_t first = 0;
    memset(exchange, 0, sizeof *exchange);
    exchange->palette.ncolors = (uint32_t)frame->ncolors;
    for (int i = 0; i < frame->ncolors; i++)
        for (int c = 0; c < 4; c++)
            exchange->palette.colors[i] |= (uint32_t)frame->palette[i][c] << 8 * c;
    for (uint32_t i = 0; i < spec->nidats; i++) {
        exchange->idats[i] = {spec->idats[i].at, first};
        first += spec->idats[i].nbytes;
    }
    exchange->idats[spec->nidats] = {0, first};
}

static enum gi_status subsequences(struct gi_queue *queue, struct gi_image *result,
                                   const struct gi_image *src, const struct gi_png_decode *spec,
                                   struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    const struct gi_allocator *pinned = &cu->device->host_allocator;
    struct png_task task;
    if (!gi_cuda_png_fits(cu) || !task_make(&task, result, src, spec))
        return gi_fail(err, GI_E_UNSUPPORTED, "png_decode: this kind of PNG is not decoded");
    const size_t nbytes = sizeof(struct exchange) + spec->nidats * sizeof(struct png_idat);
    struct exchange *exchange =
        (struct exchange *)pinned->alloc(pinned->self, gi_coded_room(nbytes));
    if (!exchange)
        return gi_fail(err, GI_E_MEMORY, "out of memory: pinned memory");
    exchange_fill(exchange, spec);
    enum gi_status made = decode(cu, &task, result, exchange, err);
    if (!made && (exchange->state.status || exchange->state.damaged))
        made = gi_fail(err, GI_E_UNSUPPORTED, "png_decode: %s",
                       exchange->state.status & PNG_TOO_SLOW ? "this stream takes too long"
                                                             : "this stream is not decoded");
    pinned->free(pinned->self, exchange);
    return made;
}

const struct gi_png_decode_way gi_cuda_png_decode_ways[GI_WAYS_MAX] = {
    {{"subsequences", "everything"}, NULL, subsequences},
};
