/* Layout and tables of the JPEG encoder, and the memory of scans.
 * SPDX-License-Identifier: MIT */
#include "kernels/jpeg_encode.h"

#include <stdlib.h>
#include <string.h>

enum { CODE_BITS = 16, BLOCKS_MAX = 1 << 24 /* the bytes of their codes fit in 32 bits */ };

/* Positions in row-major order, in zigzag order (T.81, figure A.6). */
static const uint8_t zigzag[GI_JPEG_BLOCK] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

enum gi_status gi_jpeg_scan_alloc(struct gi_jpeg_scan *scan, size_t nbytes,
                                  const struct gi_allocator *allocator, struct gi_err *err)
{
    unsigned char *bytes = allocator ? allocator->alloc(allocator->self, gi_coded_room(nbytes))
                                     : malloc(nbytes ? nbytes : 1);
    if (!bytes)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a JPEG of %zu bytes", nbytes);
    *scan = (struct gi_jpeg_scan){bytes, nbytes, allocator};
    return GI_OK;
}

void gi_jpeg_scan_free(struct gi_jpeg_scan *scan)
{
    if (scan->bytes && scan->allocator)
        scan->allocator->free(scan->allocator->self, scan->bytes);
    else
        free(scan->bytes);
    *scan = (struct gi_jpeg_scan){0};
}

static bool is_halved(const struct gi_jpeg_frame *frame)
{
    return frame->ncomponents == 3 && frame->components[0].h == 2 && frame->components[0].v == 2;
}

static bool takes_components(const struct gi_jpeg_frame *frame)
{
    bool takes = frame->ncomponents == 1 || (frame->ncomponents == 3 && frame->ycc);
    for (int c = 0; takes && c < frame->ncomponents; c++) {
        const struct gi_jpeg_component *component = &frame->components[c];
        bool whole = component->h == 1 && component->v == 1;
        takes = (whole || (c == 0 && is_halved(frame))) && component->quantization < 4 &&
                component->dc < 4 && component->ac < 4;
    }
    return takes;
}

static enum gi_status make_layout(struct gi_jpeg_layout *layout, const struct gi_jpeg_frame *frame,
                                  struct gi_err *err)
{
    bool halved = is_halved(frame);
    int side = halved ? 2 * GI_JPEG_SIDE : GI_JPEG_SIDE;
    int across = (frame->width - 1) / side + 1, down = (frame->height - 1) / side + 1;
    int nblocks = halved ? 6 : frame->ncomponents;
    if ((int64_t)across * down > BLOCKS_MAX / nblocks)
        return gi_fail(err, GI_E_UNSUPPORTED, "jpeg_encode: %d x %d pixels: want at most %d blocks",
                       frame->width, frame->height, BLOCKS_MAX);
    int nmcus = across * down;
    bool whole = frame->restart_interval == 0 || frame->restart_interval > (unsigned)nmcus;
    *layout = (struct gi_jpeg_layout){
        .width = frame->width,
        .height = frame->height,
        .ncomponents = frame->ncomponents,
        .halved = halved,
        .nblocks = nblocks,
        .across = across,
        .nmcus = nmcus,
        .interval = whole ? nmcus : (int)frame->restart_interval,
    };
    return GI_OK;
}

/* Fills codes[symbol] for the symbols of a table (T.81, C.2). Symbols from `room` on are left
 * out. */
static void make_codes(uint32_t *codes, size_t room, const struct gi_jpeg_huffman *table)
{
    uint32_t code = 0;
    size_t n = 0;
    memset(codes, 0, room * sizeof *codes);
    for (uint32_t length = 1; length <= CODE_BITS; length++, code <<= 1)
        for (int i = 0; i < table->counts[length - 1] && n < sizeof table->values; i++, code++) {
            uint8_t symbol = table->values[n++];
            if (symbol < room)
                codes[symbol] = length << GI_JPEG_LENGTH_SHIFT | (code & 0xffff);
        }
}

static bool has_all_codes(const struct gi_jpeg_coder *coder)
{
    bool all = coder->ac[GI_JPEG_END] && coder->ac[GI_JPEG_ZEROS];
    for (int size = 0; size < GI_JPEG_DC_SIZES; size++)
        all = all && coder->dc[size];
    for (int symbol = 0; symbol < 256; symbol++)
        all = all && (symbol % 16 == 0 || symbol % 16 >= GI_JPEG_AC_SIZES || coder->ac[symbol]);
    return all;
}

static enum gi_status make_coder(struct gi_jpeg_coder *coder, const struct gi_jpeg_frame *frame,
                                 const struct gi_jpeg_component *component, struct gi_err *err)
{
    const uint16_t *quanta = frame->quantization[component->quantization];
    for (int i = 0; i < GI_JPEG_BLOCK; i++) {
        if (quanta[i] < 1 || quanta[i] > GI_JPEG_MAX_QUANTUM)
            return gi_fail(err, GI_E_UNSUPPORTED, "jpeg_encode: quantum %d: want 1 to %d",
                           quanta[i], GI_JPEG_MAX_QUANTUM);
        uint32_t divisor = 8u * quanta[i];
        coder->reciprocals[i] = (uint32_t)((((uint64_t)1 << 32) + divisor - 1) / divisor);
        coder->halves[i] = divisor / 2;
    }
    make_codes(coder->dc, GI_JPEG_DC_SIZES, &frame->dc[component->dc]);
    make_codes(coder->ac, sizeof coder->ac / sizeof *coder->ac, &frame->ac[component->ac]);
    return has_all_codes(coder)
               ? GI_OK
               : gi_fail(err, GI_E_UNSUPPORTED, "jpeg_encode: a Huffman table lacks codes");
}

enum gi_status gi_jpeg_plan_make(struct gi_jpeg_plan *plan, const struct gi_image *src,
                                 const struct gi_jpeg_frame *frame, struct gi_err *err)
{
    if (frame->width != src->width || frame->height != src->height ||
        frame->ncomponents != src->channels)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "jpeg_encode: %d x %d pixels, %d channels: want the frame's %d x %d, %d",
                       src->width, src->height, src->channels, frame->width, frame->height,
                       frame->ncomponents);
    if (!takes_components(frame))
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "jpeg_encode: want gray, or Y, Cb and Cr with sampling factors of 1, or of "
                       "2 for Y");
    enum gi_status status = make_layout(&plan->layout, frame, err);
    for (int i = 0; i < GI_JPEG_BLOCK; i++)
        plan->places[zigzag[i]] = (uint8_t)i;
    for (int c = 0; c < frame->ncomponents && !status; c++)
        status = make_coder(&plan->coders[c], frame, &frame->components[c], err);
    return status;
}
