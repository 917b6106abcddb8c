/* Decodes the scan of a JPEG: Huffman codes and inverse transform of one block after another into a
 * plane per component, then upsampling and colour, row by row. Serves forced runs and tests, and
 * defines the result; libjpeg-turbo, which imgio calls, is faster.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/jpeg_decode.h"

enum { BAND_ROWS = 16 /* rows of the result per job */ };

struct decoder {
    const struct gi_jpeg_frame *frame;
    struct gi_jpeg_grid grid;
    struct gi_jpeg_codes dc[GI_JPEG_COMPONENTS], ac[GI_JPEG_COMPONENTS];
    uint8_t *planes[GI_JPEG_COMPONENTS]; /* [0] is malloc()ed */
    struct gi_image *result;
};

/* The bits of the current restart interval. */
struct bits {
    const uint8_t *at, *end;
    uint64_t window; /* the next bits, from the upper end on */
    int n;           /* number of bits in the window */
    bool over;       /* the scan or the restart interval has no more bytes */
};

/* Fills the window with bytes up to the next marker, without stuffed zeros. */
static void refill(struct bits *b)
{
    while (b->n <= 56 && !b->over) {
        size_t left = (size_t)(b->end - b->at);
        if (!left || (*b->at == 0xff && (left < 2 || b->at[1]))) {
            b->over = true;
            return;
        }
        b->window |= (uint64_t)*b->at << (56 - b->n);
        b->at += *b->at == 0xff ? 2 : 1;
        b->n += 8;
    }
}

static void skip(struct bits *b, unsigned n)
{
    b->window <<= n;
    b->n -= (int)n;
}

/* Decodes a symbol, then as many additional bits as its lower 4 bits say, into *value. Returns the
 * symbol, or GI_JPEG_NO_CODE if the data are damaged. */
static uint32_t decode_symbol(struct bits *b, const struct gi_jpeg_codes *codes, int *value)
{
    if (b->n < 32)
        refill(b);
    uint32_t symbol = gi_jpeg_symbol(codes, (uint32_t)(b->window >> 32));
    skip(b, symbol >> 8 & 31);
    unsigned n = symbol & 15;
    *value = gi_jpeg_extend((uint32_t)(b->window >> 32), n);
    skip(b, n);
    return symbol & GI_JPEG_NO_CODE || b->n < 0 ? GI_JPEG_NO_CODE : symbol & 255;
}

/* Decodes the coefficients of a block, in row-major order, without multiplying them by their
 * quantization steps. `dc` is the component's last DC coefficient. */
static bool decode_block(struct bits *b, const struct decoder *d, int component, int *dc,
                         int block[GI_JPEG_BLOCK])
{
    static const uint8_t zigzag[GI_JPEG_BLOCK] = GI_JPEG_ZIGZAG;
    int value;
    if (decode_symbol(b, &d->dc[component], &value) == GI_JPEG_NO_CODE)
        return false;
    *dc += value;
    if (gi_jpeg_leaves16(*dc))
        return false;
    memset(block, 0, GI_JPEG_BLOCK * sizeof *block);
    block[0] = *dc;
    for (unsigned k = 1; k < GI_JPEG_BLOCK; k++) {
        uint32_t symbol = decode_symbol(b, &d->ac[component], &value);
        if (symbol == GI_JPEG_NO_CODE)
            return false;
        if (!(symbol & 15) && symbol != 0xf0)
            return true;
        k += symbol >> 4;
        if (k >= GI_JPEG_BLOCK)
            return false;
        block[zigzag[k]] = value;
    }
    return true;
}

/* Transforms a block into `size` x `size` samples. Returns false if a value leaves 16 bits. */
static bool transform_block(int block[GI_JPEG_BLOCK], const uint16_t quantization[GI_JPEG_BLOCK],
                            int size, uint8_t *samples, size_t stride)
{
    uint32_t leaves = 0;
    for (int x = 0; x < 8; x++) {
        int v[8];
        if (!gi_jpeg_uses(x, size))
            continue;
        for (int y = 0; y < 8; y++)
            v[y] = gi_jpeg_uses(y, size) ? block[8 * y + x] * quantization[8 * y + x] : 0;
        leaves |= gi_jpeg_idct_column(v, size);
        for (int y = 0; y < size; y++)
            block[8 * y + x] = v[y];
    }
    for (int y = 0; y < size; y++) {
        leaves |= gi_jpeg_idct_row(block + (size_t)8 * (size_t)y, size);
        for (int x = 0; x < size; x++)
            samples[(size_t)y * stride + (size_t)x] = (uint8_t)block[8 * y + x];
    }
    return !leaves;
}

static bool decode_mcu(struct bits *b, const struct decoder *d, int mx, int my,
                       int dc[GI_JPEG_COMPONENTS])
{
    for (int unit = 0; unit < d->grid.nunits; unit++) {
        int component = d->grid.component_of[unit], block[GI_JPEG_BLOCK];
        const struct gi_jpeg_plane *plane = &d->grid.planes[component];
        int within = unit - plane->first_unit;
        size_t size = (size_t)plane->size, stride = (size_t)plane->across * size;
        size_t x = (size_t)(mx * plane->h + within % plane->h) * size;
        size_t y = (size_t)(my * plane->v + within / plane->h) * size;
        const uint16_t *quantization =
            d->frame->quantization[d->frame->components[component].quantization];
        if (!decode_block(b, d, component, &dc[component], block) ||
            !transform_block(block, quantization, plane->size,
                             d->planes[component] + y * stride + x, stride))
            return false;
    }
    return true;
}

/* Ends a restart interval: fewer than 8 bits may be left before the marker number `restart`. */
static bool restart(struct bits *b, unsigned number)
{
    refill(b);
    if (b->n >= 8 || b->end - b->at < 2 || b->at[0] != 0xff || b->at[1] != (0xd0 | number % 8))
        return false;
    *b = (struct bits){.at = b->at + 2, .end = b->end};
    return true;
}

static bool decode_scan(const struct decoder *d, const struct gi_image *scan)
{
    struct bits b = {.at = scan->data, .end = (const uint8_t *)scan->data + scan->width};
    int dc[GI_JPEG_COMPONENTS] = {0};
    unsigned left = d->frame->restart_interval, nrestarts = 0;
    for (int my = 0; my < d->grid.down; my++)
        for (int mx = 0; mx < d->grid.across; mx++) {
            if (d->frame->restart_interval && left-- == 0) {
                if (!restart(&b, nrestarts++))
                    return false;
                memset(dc, 0, sizeof dc);
                left = d->frame->restart_interval - 1;
            }
            if (!decode_mcu(&b, d, mx, my, dc))
                return false;
        }
    refill(&b);
    return b.n < 8 && b.at == b.end;
}

/* ---- upsampling and colour ---- */

static void put_row(const struct decoder *d, uint8_t *out, int y)
{
    const struct gi_jpeg_plane *planes = d->grid.planes;
    int n = d->frame->ncomponents;
    for (int x = 0; x < d->result->width; x++, out += n) {
        int v[GI_JPEG_COMPONENTS];
        for (int i = 0; i < n; i++)
            v[i] = gi_jpeg_sample(d->planes[i], &planes[i], x, y);
        if (d->frame->ycc)
            gi_jpeg_rgb(out, v[0], v[1], v[2]);
        for (int i = 0; !d->frame->ycc && i < n; i++)
            out[i] = (uint8_t)v[i];
    }
}

static void put_rows(void *arg, int index, void *scratch)
{
    const struct decoder *d = arg;
    int y0 = index * BAND_ROWS, y1 = y0 + BAND_ROWS;
    for (int y = y0; y < y1 && y < d->result->height; y++)
        put_row(d, gi_row(d->result, y), y);
}

/* ---- the primitive ---- */

/* Fills in everything but the planes. Returns false if the frame can't be decoded here. */
static bool prepare(struct decoder *d, const struct gi_jpeg_decode *spec,
                    const struct gi_image *result)
{
    const struct gi_jpeg_frame *frame = spec->frame;
    d->frame = frame;
    if (!gi_jpeg_grid_make(&d->grid, frame, spec->denominator) || !gi_jpeg_fits(result, spec))
        return false;
    bool good = true;
    for (int i = 0; i < frame->ncomponents; i++)
        good = good && gi_jpeg_codes_make(&d->dc[i], &frame->dc[frame->components[i].dc], 15) &&
               gi_jpeg_codes_make(&d->ac[i], &frame->ac[frame->components[i].ac], 255);
    return good;
}

static enum gi_status alloc_planes(struct decoder *d, struct gi_err *err)
{
    size_t nbytes = (size_t)d->grid.ncoded * GI_JPEG_BLOCK;
    uint8_t *at = d->planes[0] = malloc(nbytes);
    if (!at)
        return gi_fail(err, GI_E_MEMORY, "out of memory: planes of %zu bytes", nbytes);
    for (int i = 0; i < d->frame->ncomponents; i++) {
        const struct gi_jpeg_plane *plane = &d->grid.planes[i];
        d->planes[i] = at;
        at += (size_t)plane->across * (size_t)plane->down * GI_JPEG_BLOCK;
    }
    return GI_OK;
}

static enum gi_status sequential(struct gi_queue *queue, struct gi_image *result,
                                 const struct gi_image *scan, const struct gi_jpeg_decode *spec,
                                 struct gi_err *err)
{
    struct decoder *d = calloc(1, sizeof *d);
    if (!d)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a JPEG decoder");
    d->result = result;
    enum gi_status status = GI_OK;
    if (!prepare(d, spec, result))
        status = gi_fail(err, GI_E_UNSUPPORTED, "jpeg_decode: this kind of JPEG is not decoded");
    if (!status)
        status = alloc_planes(d, err);
    if (!status && !decode_scan(d, scan))
        status = gi_fail(err, GI_E_UNSUPPORTED, "jpeg_decode: this scan is not decoded");
    if (!status)
        status = gi_pool_run(gi_cpu_pool(queue), gi_jpeg_ceil(result->height, BAND_ROWS), put_rows,
                             d, 0, err);
    free(d->planes[0]);
    free(d);
    return status;
}

GI_CPU_ONE_WAY(jpeg_decode, "sequential", sequential);
