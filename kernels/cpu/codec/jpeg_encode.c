/* Encodes JPEG scans in plain C, block by block, with a job per restart segment. This is the
 * definition of the primitive; libjpeg-turbo, whose vectors compute the same, is faster.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/jpeg_encode.h"

/* Maximum bytes of an MCU of six blocks, if every byte is followed by a stuffed zero. */
enum { MCU_NBYTES = 2 * 6 * (GI_JPEG_BLOCK_BITS / 8 + 1) };

/* The bytes of a restart segment. The last `nbits` bits of `bits` are not among the bytes yet. */
struct segment {
    unsigned char *bytes;
    size_t nbytes, room;
    uint64_t bits;
    int nbits; /* 0 to 7 between two calls of put_bits() */
    bool failed;
};

struct encoding {
    const struct gi_image *src;
    const struct gi_jpeg_plan *plan;
    struct segment *segments;
};

static void put_bits(struct segment *segment, uint32_t bits, int n)
{
    segment->bits = segment->bits << n | bits;
    segment->nbits += n;
    while (segment->nbits >= 8) {
        segment->nbits -= 8;
        unsigned char byte = (unsigned char)(segment->bits >> segment->nbits);
        segment->bytes[segment->nbytes++] = byte;
        if (byte == 0xff)
            segment->bytes[segment->nbytes++] = 0;
    }
}

static void put_code(struct segment *segment, uint32_t code, int v, int size)
{
    int length;
    uint32_t bits = gi_jpeg_bits(code, v, size, &length);
    put_bits(segment, bits, length);
}

static int clamp(int i, int n)
{
    return i < n ? i : n - 1;
}

/* Returns component c of the pixel at (x, y). Pixels beyond the right and lower edges repeat the
 * edge. */
static int sample_at(const struct gi_image *src, int c, int x, int y)
{
    const uint8_t *row = gi_row(src, clamp(y, src->height));
    const uint8_t *pixel = row + (size_t)clamp(x, src->width) * (size_t)src->channels;
    return src->channels == 1 ? pixel[0] - 128 : gi_jpeg_convert(c, pixel[0], pixel[1], pixel[2]);
}

/* Returns sample (x, y) of halved chroma. Below the image its own last row is repeated. */
static int halved_at(const struct gi_image *src, int c, int x, int y)
{
    int sum = 0;
    y = clamp(y, (src->height + 1) / 2);
    for (int i = 0; i < 4; i++)
        sum += sample_at(src, c, 2 * x + i % 2, 2 * y + i / 2);
    return gi_jpeg_halve(sum, x);
}

/* Makes the quantized coefficients, in zigzag order, of the block of component c whose first sample
 * is (left, top) of that component. */
static void make_block(int coefs[GI_JPEG_BLOCK], const struct encoding *e, int c, int left, int top)
{
    const struct gi_jpeg_coder *coder = &e->plan->coders[c];
    int block[GI_JPEG_SIDE][GI_JPEG_SIDE], column[GI_JPEG_SIDE];
    for (int y = 0; y < GI_JPEG_SIDE; y++) {
        for (int x = 0; x < GI_JPEG_SIDE; x++)
            block[y][x] = c && e->plan->layout.halved ? halved_at(e->src, c, left + x, top + y)
                                                      : sample_at(e->src, c, left + x, top + y);
        gi_jpeg_dct_row(block[y]);
    }
    for (int x = 0; x < GI_JPEG_SIDE; x++) {
        for (int y = 0; y < GI_JPEG_SIDE; y++)
            column[y] = block[y][x];
        gi_jpeg_dct_column(column);
        for (int y = 0; y < GI_JPEG_SIDE; y++) {
            int at = y * GI_JPEG_SIDE + x;
            coefs[e->plan->places[at]] =
                gi_jpeg_quantize(column[y], coder->reciprocals[at], coder->halves[at]);
        }
    }
}

/* Codes a block; `difference` is its DC minus the DC before. */
static void put_block(struct segment *segment, const struct gi_jpeg_coder *coder, int difference,
                      const int coefs[GI_JPEG_BLOCK])
{
    int last = 0, size = gi_jpeg_size(difference);
    put_code(segment, coder->dc[size], difference, size);
    for (int i = 1; i < GI_JPEG_BLOCK; i++) {
        if (coefs[i] == 0)
            continue;
        int zeros = i - last - 1;
        for (; zeros > 15; zeros -= 16)
            put_code(segment, coder->ac[GI_JPEG_ZEROS], 0, 0);
        size = gi_jpeg_size(coefs[i]);
        put_code(segment, coder->ac[16 * zeros + size], coefs[i], size);
        last = i;
    }
    if (last < GI_JPEG_BLOCK - 1)
        put_code(segment, coder->ac[GI_JPEG_END], 0, 0);
}

static bool make_room(struct segment *segment)
{
    if (segment->room - segment->nbytes >= MCU_NBYTES)
        return true;
    size_t room = 2 * segment->room + MCU_NBYTES;
    unsigned char *bytes = realloc(segment->bytes, room);
    segment->failed = !bytes;
    if (!bytes)
        return false;
    segment->bytes = bytes;
    segment->room = room;
    return true;
}

/* Encodes one MCU. `dc` has the DC before of each component. */
static void put_mcu(struct segment *segment, const struct encoding *e, int mcu,
                    int dc[GI_JPEG_COMPONENTS])
{
    const struct gi_jpeg_layout *layout = &e->plan->layout;
    int left = mcu % layout->across * GI_JPEG_SIDE, top = mcu / layout->across * GI_JPEG_SIDE;
    int luma = layout->halved ? 4 : 1; /* blocks of the first component */
    for (int k = 0; k < layout->nblocks; k++) {
        int c = k < luma ? 0 : k - luma + 1, factor = layout->halved && c == 0 ? 2 : 1;
        int coefs[GI_JPEG_BLOCK] = {0};
        int x = factor * left + (c == 0 ? k % 2 * GI_JPEG_SIDE : 0);
        int y = factor * top + (c == 0 ? k / 2 * GI_JPEG_SIDE : 0);
        if (gi_jpeg_is_dummy(layout, k, 2 * left, 2 * top))
            coefs[0] = dc[c];
        else
            make_block(coefs, e, c, x, y);
        put_block(segment, &e->plan->coders[c], coefs[0] - dc[c], coefs);
        dc[c] = coefs[0];
    }
}

static void encode_segment(void *arg, int index, void *scratch)
{
    const struct encoding *e = arg;
    const struct gi_jpeg_layout *layout = &e->plan->layout;
    struct segment *segment = &e->segments[index];
    int dc[GI_JPEG_COMPONENTS] = {0}, first = index * layout->interval;
    int left = layout->nmcus - first, n = left < layout->interval ? left : layout->interval;
    for (int i = 0; i < n && make_room(segment); i++)
        put_mcu(segment, e, first + i, dc);
    if (!segment->failed && segment->nbits) /* ones fill the last byte */
        put_bits(segment, (1u << (8 - segment->nbits)) - 1, 8 - segment->nbits);
}

/* Joins the segments by restart markers. */
static enum gi_status join(struct gi_jpeg_scan *scan, const struct segment *segments, int n,
                           const struct gi_allocator *allocator, struct gi_err *err)
{
    size_t nbytes = 2 * ((size_t)n - 1), at = 0;
    for (int i = 0; i < n; i++) {
        nbytes += segments[i].nbytes;
        if (segments[i].failed)
            return gi_fail(err, GI_E_MEMORY, "out of memory: a JPEG");
    }
    enum gi_status status = gi_jpeg_scan_alloc(scan, nbytes, allocator, err);
    for (int i = 0; i < n && !status; i++) {
        memcpy(scan->bytes + at, segments[i].bytes, segments[i].nbytes);
        at += segments[i].nbytes;
        if (i == n - 1)
            break;
        scan->bytes[at++] = 0xff;
        scan->bytes[at++] = (unsigned char)(GI_JPEG_MARKER_RST0 + i % 8);
    }
    return status;
}

static enum gi_status by_blocks(struct gi_queue *queue, struct gi_jpeg_scan *scan,
                                const struct gi_image *src, const struct gi_jpeg_encode *spec,
                                struct gi_err *err)
{
    struct gi_jpeg_plan plan;
    *scan = (struct gi_jpeg_scan){0};
    enum gi_status status = gi_jpeg_plan_make(&plan, src, spec->frame, err);
    if (status)
        return status;
    int n = (plan.layout.nmcus - 1) / plan.layout.interval + 1;
    struct encoding e = {src, &plan, calloc((size_t)n, sizeof *e.segments)};
    status = e.segments ? gi_pool_run(gi_cpu_pool(queue), n, encode_segment, &e, 0, err)
                        : gi_fail(err, GI_E_MEMORY, "out of memory: %d segments of a JPEG", n);
    if (!status)
        status = join(scan, e.segments, n, spec->allocator, err);
    for (int i = 0; e.segments && i < n; i++)
        free(e.segments[i].bytes);
    free(e.segments);
    return status;
}

GI_CPU_ONE_WAY(jpeg_encode, "blocks", by_blocks);
