/* Writes animated PNGs ("Portable Network Graphics", third edition, 11.3.6). All frames have the
 * type and the channels that hold the samples of each of them, or if each has a palette, and these
 * have at most 256 colours together, that palette. A frame after the first one is the rectangle
 * that differs from the frame before, which it replaces. Metadata are those of the first frame.
 * SPDX-License-Identifier: MIT */
#include "imgio/changes.h"
#include "imgio/codecs.h"
#include "imgio/integer.h"
#include "imgio/joined_kinds.h"
#include "imgio/png/png_frames.h"
#include "imgio/png/png_palette.h"
#include "imgio/small.h"

#include <stdlib.h>
#include <string.h>

enum { PALETTE = 3 }; /* a colour type */
enum { IHDR = 13, IHDR_AT = GI_PNG_SIGNATURE + 8, DEPTH = 8, COLOR_TYPE = 9 };

/* A frame's file, which is behind this in `files`. */
struct record {
    size_t nbytes;
    int delay_ms;
};

struct state {
    struct gi_buffer files;
    struct gi_image shape; /* of all frames */
    struct gi_image shown; /* the last frame that was written */
    uint32_t sequence;     /* number of the next chunk fcTL or fdAT */
    bool palette;          /* each frame so far has one, and `coding` the colours of all */
    struct gi_png_coding coding;
};

static void measure(int *width, int *height, const unsigned char *bytes, size_t nbytes)
{
    *width = (int)gi_big32(bytes + IHDR_AT);
    *height = (int)gi_big32(bytes + IHDR_AT + 4);
}

/* ---- the common shape ---- */

static bool has_transparency(const unsigned char *bytes, size_t nbytes)
{
    struct gi_png_chunk chunk;
    size_t at = GI_PNG_SIGNATURE;
    while (gi_png_next_chunk(&chunk, bytes, nbytes, &at) && !gi_png_chunk_is(&chunk, "IDAT"))
        if (gi_png_chunk_is(&chunk, "tRNS"))
            return true;
    return false;
}

/* Adds the palette in the file of a frame to that of all frames. */
static void add_palette(struct state *s, const unsigned char *bytes, size_t nbytes)
{
    uint8_t colors[2 * GI_PNG_COLORS_MAX][4];
    struct gi_png_chunk chunk;
    size_t at = GI_PNG_SIGNATURE;
    int known = s->coding.ncolors, n = known;
    s->palette = s->palette && bytes[IHDR_AT + COLOR_TYPE] == PALETTE;
    if (!s->palette)
        return;
    memcpy(colors, s->coding.colors, 4 * (size_t)known);
    while (gi_png_next_chunk(&chunk, bytes, nbytes, &at) && !gi_png_chunk_is(&chunk, "IDAT")) {
        bool alpha = gi_png_chunk_is(&chunk, "tRNS");
        if (!alpha && !gi_png_chunk_is(&chunk, "PLTE"))
            continue;
        for (size_t i = 0; i < (alpha ? chunk.n : chunk.n / 3); i++) {
            if (alpha) {
                colors[known + (int)i][3] = chunk.data[i];
                continue;
            }
            memcpy(colors[n], chunk.data + 3 * i, 3);
            colors[n++][3] = 255;
        }
    }
    const struct gi_image row = {.data = colors,
                                 .stride = sizeof colors,
                                 .width = n,
                                 .height = 1,
                                 .channels = 4,
                                 .type = GI_U8};
    s->palette = gi_png_find_palette(&s->coding, &row, false);
}

/* Returns whether the palette in the file has the entries of `coding`, in their order. */
static bool has_palette(const struct gi_png_coding *coding, const unsigned char *bytes,
                        size_t nbytes)
{
    struct gi_png_chunk chunk;
    size_t at = GI_PNG_SIGNATURE, colors = 0, alphas = 0;
    while (gi_png_next_chunk(&chunk, bytes, nbytes, &at) && !gi_png_chunk_is(&chunk, "IDAT")) {
        bool alpha = gi_png_chunk_is(&chunk, "tRNS");
        if (!alpha && !gi_png_chunk_is(&chunk, "PLTE"))
            continue;
        size_t n = alpha ? chunk.n : chunk.n / 3;
        for (size_t i = 0; i < n; i++)
            if (i >= (size_t)coding->ncolors ||
                (alpha ? coding->colors[i][3] != chunk.data[i]
                       : memcmp(coding->colors[i], chunk.data + 3 * i, 3) != 0))
                return false;
        *(alpha ? &alphas : &colors) = n;
    }
    for (size_t i = alphas; i < colors; i++)
        if (coding->colors[i][3] != 255)
            return false;
    return colors == (size_t)coding->ncolors;
}

/* Returns the shape of the samples in the file, without a palette. */
static struct gi_image shape_of(const unsigned char *bytes, size_t nbytes)
{
    enum { RGB = 2, ALPHA = 4 }; /* bits of the colour type */
    int type = bytes[IHDR_AT + COLOR_TYPE];
    bool alpha = type & ALPHA || has_transparency(bytes, nbytes);
    return (struct gi_image){.channels = (type & RGB ? 3 : 1) + alpha,
                             .type = bytes[IHDR_AT + DEPTH] == 16 ? GI_U16 : GI_U8};
}

/* Returns whether the pixels of the file are coded as those of all frames. */
static bool is_coded_alike(const unsigned char *bytes, size_t nbytes, const struct state *s)
{
    struct gi_image own = shape_of(bytes, nbytes);
    const struct gi_image *shape = &s->shape;
    if (s->palette)
        return own.channels == shape->channels && has_palette(&s->coding, bytes, nbytes);
    return bytes[IHDR_AT + DEPTH] >= 8 && bytes[IHDR_AT + COLOR_TYPE] != PALETTE &&
           !has_transparency(bytes, nbytes) && own.channels == shape->channels &&
           own.type == shape->type;
}

static void widen_shape(struct gi_image *shape, const struct gi_image *by)
{
    if (!shape->channels)
        *shape = *by;
    bool alpha = gi_has_alpha(shape) || gi_has_alpha(by);
    bool color = gi_color_channels(shape) == 3 || gi_color_channels(by) == 3;
    shape->channels = (color ? 3 : 1) + alpha;
    shape->type = shape->type > by->type ? shape->type : by->type;
}

/* Copies the samples of an image whose type is that of `to`: gray into each colour, and alpha,
 * which is opaque if there is none. */
static void spread(const struct gi_image *to, const struct gi_image *from)
{
    size_t n = gi_type_nbytes(to->type);
    int colors = gi_color_channels(to), own = gi_color_channels(from);
    for (int y = 0; y < to->height; y++) {
        uint8_t *out = gi_row(to, y);
        const uint8_t *in = gi_row(from, y);
        for (int x = 0; x < to->width; x++, in += n * (size_t)from->channels) {
            for (int c = 0; c < colors; c++, out += n)
                memcpy(out, in + (own == 3 ? (size_t)c * n : 0), n);
            if (to->channels == colors)
                continue;
            memset(out, 0xff, n);
            if (from->channels > own)
                memcpy(out, in + n * (size_t)own, n);
            out += n;
        }
    }
}

/* Decodes a frame into the common shape. The caller frees image and metadata. */
static enum gi_status read_frame(struct gi_image *image, struct gi_metadata *metadata,
                                 const unsigned char *bytes, size_t nbytes,
                                 const struct gi_image *shape, struct gi_err *err)
{
    const struct gi_load_options options = {.limits = {UINT64_MAX, UINT64_MAX}};
    struct gi_image read = {0}, wide = {0};
    *image = (struct gi_image){0};
    enum gi_status status =
        gi_load_memory(&read, metadata, NULL, bytes, nbytes, "a frame", &options, NULL, err);
    if (!status)
        status = gi_image_convert(&wide, &read, shape->type, err);
    gi_image_free(&read);
    if (!status)
        status = gi_image_alloc(image, wide.width, wide.height, shape->channels, shape->type, err);
    if (!status)
        spread(image, &wide);
    gi_image_free(&wide);
    return status;
}

/* ---- the file ---- */

/* The numerator and denominator of a delay in seconds. */
static void put_delay(unsigned char *to, int delay_ms)
{
    int per_second = 1000;
    while (delay_ms > 65535 && per_second > 1) {
        delay_ms = (delay_ms + 5) / 10;
        per_second /= 10;
    }
    gi_put_big16(to, (uint16_t)(delay_ms < 65535 ? delay_ms : 65535));
    gi_put_big16(to + 2, (uint16_t)per_second);
}

static enum gi_status put_control(struct gi_joined *joined, struct gi_rect rect, int delay_ms,
                                  struct gi_err *err)
{
    struct state *s = joined->state;
    unsigned char control[GI_PNG_CONTROL] = {0}; /* it stays, and replaces the pixels before */
    gi_put_big32(control, s->sequence++);
    gi_put_big32(control + 4, (uint32_t)rect.width);
    gi_put_big32(control + 8, (uint32_t)rect.height);
    gi_put_big32(control + 12, (uint32_t)rect.left);
    gi_put_big32(control + 16, (uint32_t)rect.top);
    put_delay(control + 20, delay_ms);
    return gi_png_append_chunk(&joined->file, "fcTL", control, sizeof control, err);
}

static enum gi_status put_pixels(struct gi_joined *joined, const struct gi_png_chunk *chunk,
                                 struct gi_buffer *room, struct gi_err *err)
{
    struct state *s = joined->state;
    unsigned char sequence[GI_PNG_SEQUENCE];
    gi_put_big32(sequence, s->sequence++);
    room->nbytes = 0;
    enum gi_status status = gi_buffer_append(room, sequence, sizeof sequence, err);
    if (!status)
        status = gi_buffer_append(room, chunk->data, chunk->n, err);
    return status ? status
                  : gi_png_append_chunk(&joined->file, "fdAT", room->at, room->nbytes, err);
}

/* Appends the pixels of a frame's file. */
static enum gi_status put_frame(struct gi_joined *joined, const unsigned char *bytes, size_t nbytes,
                                struct gi_rect rect, int delay_ms, struct gi_err *err)
{
    struct gi_png_chunk chunk;
    struct gi_buffer room = {0};
    size_t at = GI_PNG_SIGNATURE;
    enum gi_status status = put_control(joined, rect, delay_ms, err);
    while (!status && gi_png_next_chunk(&chunk, bytes, nbytes, &at))
        if (gi_png_chunk_is(&chunk, "IDAT"))
            status = put_pixels(joined, &chunk, &room, err);
    free(room.at);
    return status;
}

/* Begins the file with the one of the first frame. */
static enum gi_status put_first(struct gi_joined *joined, const unsigned char *bytes, size_t nbytes,
                                int delay_ms, struct gi_err *err)
{
    const struct gi_rect all = {0, 0, joined->width, joined->height};
    struct gi_png_chunk chunk;
    unsigned char animation[8];
    size_t at = IHDR_AT + IHDR + 4;
    bool begun = false;
    gi_put_big32(animation, (uint32_t)joined->n);
    gi_put_big32(animation + 4, (uint32_t)joined->plays);
    enum gi_status status = gi_buffer_append(&joined->file, bytes, at, err);
    if (!status)
        status = gi_png_append_chunk(&joined->file, "acTL", animation, sizeof animation, err);
    while (!status && gi_png_next_chunk(&chunk, bytes, nbytes, &at)) {
        bool pixels = gi_png_chunk_is(&chunk, "IDAT");
        if (pixels && !begun)
            status = put_control(joined, all, delay_ms, err);
        begun = begun || pixels;
        if (!status)
            status = gi_buffer_append(begun && !pixels ? &joined->after : &joined->file,
                                      chunk.type - 4, chunk.n + GI_PNG_AROUND, err);
    }
    return status;
}

/* Makes a file of the image, which the caller frees. */
static enum gi_status encode(void **made, size_t *nbytes, const struct state *s,
                             const struct gi_image *image, const struct gi_metadata *metadata,
                             struct gi_err *err)
{
    const struct gi_save_options options = {
        .format = "png", .palette = GI_PALETTE_NEVER, .compression = GI_DEFAULT_COMPRESSION};
    struct gi_sink *sink = NULL;
    if (!s->palette)
        return gi_save_memory(made, nbytes, image, metadata, "a frame", &options, NULL, err);
    enum gi_status status = gi_sink_open_memory(&sink, "a frame", err);
    if (!status)
        status = gi_png_encode_as(sink, image, metadata, &s->coding, &options, err);
    if (!status)
        status = gi_sink_take(&sink, made, nbytes, err);
    gi_sink_abandon(&sink);
    return status;
}

/* Encodes the rectangle of an image, unless `bytes` are a file of it, and appends it. */
static enum gi_status put_part(struct gi_joined *joined, const struct gi_image *image,
                               const struct gi_metadata *metadata, struct gi_rect rect,
                               const unsigned char *bytes, const struct record *record,
                               struct gi_err *err)
{
    struct state *s = joined->state;
    const struct gi_image part = gi_rect_view(image, rect);
    size_t nbytes = record->nbytes;
    void *made = NULL;
    enum gi_status status = GI_OK;
    if (rect.width < image->width || rect.height < image->height ||
        !is_coded_alike(bytes, nbytes, s)) {
        status = encode(&made, &nbytes, s, &part, metadata, err);
        bytes = made;
    }
    if (!status && !s->sequence)
        status = put_first(joined, bytes, nbytes, record->delay_ms, err);
    else if (!status)
        status = put_frame(joined, bytes, nbytes, rect, record->delay_ms, err);
    free(made);
    return status;
}

static enum gi_status write_frame(struct gi_joined *joined, const unsigned char *bytes,
                                  const struct record *record, struct gi_err *err)
{
    struct state *s = joined->state;
    struct gi_metadata metadata = {0};
    struct gi_image image;
    struct gi_rect rect = {0, 0, joined->width, joined->height};
    bool first = !s->sequence;
    enum gi_status status =
        read_frame(&image, first ? &metadata : NULL, bytes, record->nbytes, &s->shape, err);
    if (!status && !first) {
        rect = gi_changes(&s->shown, &image, false);
        rect = rect.width ? rect : (struct gi_rect){0, 0, 1, 1};
    }
    if (!status)
        status = put_part(joined, &image, first ? &metadata : NULL, rect, bytes, record, err);
    gi_metadata_free(&metadata);
    gi_image_free(&s->shown);
    s->shown = image;
    return status;
}

static enum gi_status add(struct gi_joined *joined, const unsigned char *bytes, size_t nbytes,
                          int delay_ms, struct gi_err *err)
{
    struct state *s = joined->state;
    if (!s) {
        s = joined->state = gi_small_calloc(1, sizeof *s);
        s->palette = true;
    }
    const struct record record = {nbytes, delay_ms};
    const struct gi_image shape = shape_of(bytes, nbytes);
    widen_shape(&s->shape, &shape);
    add_palette(s, bytes, nbytes);
    enum gi_status status = gi_buffer_append(&s->files, &record, sizeof record, err);
    return status ? status : gi_buffer_append(&s->files, bytes, nbytes, err);
}

static enum gi_status end(struct gi_joined *joined, struct gi_err *err)
{
    struct state *s = joined->state;
    struct record record;
    enum gi_status status = GI_OK;
    if (!gi_has_alpha(&s->shape))
        s->coding.ntransparent = 0;
    for (size_t at = 0; !status && at < s->files.nbytes; at += record.nbytes) {
        memcpy(&record, s->files.at + at, sizeof record);
        at += sizeof record;
        status = write_frame(joined, s->files.at + at, &record, err);
    }
    return status ? status
                  : gi_buffer_append(&joined->file, joined->after.at, joined->after.nbytes, err);
}

static void release(void *state)
{
    struct state *s = state;
    gi_image_free(&s->shown);
    free(s->files.at);
    free(s);
}

const struct gi_joined_kind gi_joined_png = {.format = "png",
                                             .reasons = 1 << GI_JOIN_FRAMES | 1 << GI_JOIN_ASKED,
                                             .measure = measure,
                                             .add = add,
                                             .end = end,
                                             .release = release};
