/* Radiance HDR: a text header, then rows of RGBE pixels (Ward, "Real Pixels", Graphics Gems II; the
 * Radiance manual, "picture file format"). Rows are uncompressed or run-length coded. The runs are
 * of the bytes of a component, or in the older coding of whole pixels. A mantissa m of 0 to 255
 * with the exponent e means m * 2^(e - 136).
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    RLE_MIN = 8,     /* widths of rows that may be run-length coded */
    RLE_MAX = 32767, /* the width has 15 bits */
    RUN_MIN = 4,     /* shorter runs are cheaper as plain bytes */
    RUN_MAX = 127,
    PLAIN_MAX = 128,
};

/* Writes one pixel, which consists of three mantissas of 8 bits and one exponent. The mantissas are
 * truncated, as Radiance does. */
static void put_rgbe(uint8_t *to, size_t step, const float *rgb)
{
    float v[3], largest = 0;
    for (int c = 0; c < 3; c++) {
        v[c] = rgb[c] > 0 ? fminf(rgb[c], 0x1.fep126f) : 0; /* NaN fails the test */
        largest = fmaxf(largest, v[c]);
    }
    int exponent = 0;
    float mantissa = frexpf(largest, &exponent);
    bool dark = largest < 1e-32f; /* below the smallest exponent */
    for (int c = 0; c < 3; c++)
        to[(size_t)c * step] = dark ? 0 : (uint8_t)(v[c] * (mantissa * 256 / largest));
    to[3 * step] = dark ? 0 : (uint8_t)(exponent + 128);
}

/* Returns the length of the run of equal bytes at `at`. */
static size_t run_length(const uint8_t *at, const uint8_t *end)
{
    size_t n = 1;
    while (n < RUN_MAX && n < (size_t)(end - at) && at[n] == *at)
        n++;
    return n;
}

/* Run-length encodes `n` bytes. A run is written as 128 + its length and the repeated byte. Other
 * bytes are written after a byte with their number. Returns the end of the output, which has at
 * most n + n / PLAIN_MAX + 1 bytes. */
static uint8_t *put_runs(uint8_t *to, const uint8_t *at, size_t n)
{
    const uint8_t *end = at + n;
    while (at < end) {
        const uint8_t *plain = at;
        size_t run = 0;
        while (at < end && at - plain < PLAIN_MAX && (run = run_length(at, end)) < RUN_MIN)
            at++;
        if (at > plain) {
            *to++ = (uint8_t)(at - plain);
            memcpy(to, plain, (size_t)(at - plain));
            to += at - plain;
        }
        if (at < end && run >= RUN_MIN) {
            *to++ = (uint8_t)(128 + run);
            *to++ = *at;
            at += run;
        }
    }
    return to;
}

static enum gi_status encode_hdr(struct gi_sink *sink, const struct gi_image *image,
                                 const struct gi_metadata *metadata,
                                 const struct gi_save_options *options, struct gi_err *err)
{
    size_t width = (size_t)image->width;
    bool coded = width >= RLE_MIN && width <= RLE_MAX;
    size_t line = 4 * (width + width / PLAIN_MAX + 2);
    uint8_t *row = malloc(4 * width + line), *out = row + 4 * width;
    if (!row)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    enum gi_status status = gi_sink_printf(sink, err, "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n");
    for (int i = 0; metadata && i < metadata->parts.n && !status; i++) {
        const struct gi_part *part = &metadata->parts.list[i];
        if (part->kind == GI_PART_HDR_LINE && part->fate == GI_PART_CARRIED)
            status = gi_sink_printf(sink, err, "%.*s\n", (int)part->nbytes, (char *)part->bytes);
    }
    if (!status)
        status = gi_sink_printf(sink, err, "\n-Y %d +X %d\n", image->height, image->width);
    for (int y = 0; y < image->height && !status; y++) {
        const float *in = gi_row(image, y);
        /* Coded rows store R of all pixels, then G, B and E. Other rows store pixel by pixel. */
        for (size_t x = 0; x < width; x++)
            put_rgbe(coded ? row + x : row + 4 * x, coded ? width : 1, in + 3 * x);
        const uint8_t head[] = {2, 2, (uint8_t)(width >> 8), (uint8_t)width};
        uint8_t *end = out;
        if (coded) {
            memcpy(out, head, sizeof head);
            end += sizeof head;
            for (size_t c = 0; c < 4; c++)
                end = put_runs(end, row + c * width, width);
        }
        status =
            gi_sink_write(sink, coded ? out : row, coded ? (size_t)(end - out) : 4 * width, err);
    }
    free(row);
    return status;
}

struct cursor {
    const unsigned char *at, *end;
};

/* Keeps a line of the header, such as "EXPOSURE=2" or a comment, for another .hdr. */
static void keep_line(struct gi_decode *decode, const char *line, size_t n)
{
    const char *equals = memchr(line, '=', n);
    int length = equals && *line != '#' ? (int)(equals - line) : 0;
    const struct gi_part part = {
        .kind = GI_PART_HDR_LINE, .fate = GI_PART_CARRIED, .nbytes = n, .bytes = (void *)line};
    if (length > 0 && length < 40)
        gi_decode_add_part(decode, &part, "line %.*s", length, line);
    else
        gi_decode_add_part(decode, &part,
                           *line == '#' ? "comment in the header" : "line of the header");
}

/* Sets *line to the next line and *n to its length without the newline. Returns false if no newline
 * follows. */
static bool next_line(struct cursor *in, const char **line, size_t *n)
{
    const unsigned char *newline = memchr(in->at, '\n', (size_t)(in->end - in->at));
    *line = (const char *)in->at;
    if (!newline)
        return false;
    *n = (size_t)(newline - in->at);
    in->at = newline + 1;
    return true;
}

/* Returns the size after the axis "-Y " or "+X ", or 0 if there is none. */
static uint64_t read_size(const char **at, const char *axis)
{
    uint64_t v = 0;
    if (strncmp(*at, axis, strlen(axis)) != 0)
        return 0;
    for (*at += strlen(axis); **at >= '0' && **at <= '9' && v < UINT32_MAX; ++*at)
        v = 10 * v + (uint64_t)(**at - '0');
    *at += **at == ' ';
    return v;
}

/* Reads the header lines, up to an empty line and the line with the sizes, which follows it. */
static enum gi_status read_header(struct gi_decode *decode, struct cursor *in, uint64_t *width,
                                  uint64_t *height, struct gi_err *err)
{
    const char *line;
    size_t n;
    bool rgbe = true;
    next_line(in, &line, &n); /* the signature */
    while (next_line(in, &line, &n) && n > 0)
        if (n <= 7 || strncmp(line, "FORMAT=", 7) != 0)
            keep_line(decode, line, n);
        else
            rgbe = n == 22 && strncmp(line, "FORMAT=32-bit_rle_rgbe", 22) == 0;
    if (!rgbe)
        return gi_fail(err, GI_E_UNSUPPORTED, "is a Radiance picture of another kind than RGBE");
    char sizes[64] = "";
    const char *at = sizes;
    if (!next_line(in, &line, &n) || n >= sizeof sizes)
        return gi_fail(err, GI_E_FORMAT, "has a damaged header: want its width and height");
    memcpy(sizes, line, n);
    *height = read_size(&at, "-Y ");
    *width = read_size(&at, "+X ");
    if (*at || !*width || !*height)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "has the sizes \"%s\"; want \"-Y height +X width\", rows from the top",
                       sizes);
    return GI_OK;
}

/* Decodes one component of a row. A run is stored as 128 + its length and the repeated byte. Other
 * bytes follow a byte with their number. */
static bool read_runs(struct cursor *in, uint8_t *to, size_t n)
{
    while (n) {
        if (in->end - in->at < 2)
            return false;
        size_t count = *in->at++;
        bool run = count > 128;
        count -= run ? 128 : 0;
        if (!count || count > n || (!run && count > (size_t)(in->end - in->at)))
            return false;
        if (run)
            memset(to, *in->at, count);
        else
            memcpy(to, in->at, count);
        in->at += run ? 1 : count;
        to += count;
        n -= count;
    }
    return true;
}

/* Reads pixels that are uncompressed or in the older coding. There a pixel with mantissas 1, 1, 1
 * repeats the pixel before it, as many times as its exponent says. A second such pixel directly
 * after the first repeats 256 times as often, and so on. */
static bool read_plain(struct cursor *in, uint8_t *row, size_t width)
{
    unsigned shift = 0;
    for (size_t x = 0; x < width;) {
        if (in->end - in->at < 4)
            return false;
        const unsigned char *p = in->at;
        in->at += 4;
        if (p[0] != 1 || p[1] != 1 || p[2] != 1) {
            for (size_t c = 0; c < 4; c++)
                row[c * width + x] = p[c];
            x++;
            shift = 0;
            continue;
        }
        size_t count = shift < 32 ? (size_t)p[3] << shift : SIZE_MAX;
        if (!x || count > width - x)
            return false;
        for (size_t c = 0; c < 4; c++)
            memset(row + c * width + x, row[c * width + x - 1], count);
        x += count;
        shift += 8;
    }
    return true;
}

/* Reads a row into four components (R, G, B, E) of `width` bytes each. */
static bool read_row(struct cursor *in, uint8_t *row, size_t width)
{
    const unsigned char *p = in->at;
    bool coded = width >= RLE_MIN && width <= RLE_MAX && in->end - p >= 4 && p[0] == 2 &&
                 p[1] == 2 && p[2] < 128;
    if (!coded)
        return read_plain(in, row, width);
    if ((size_t)(p[2] << 8 | p[3]) != width)
        return false;
    in->at += 4;
    for (size_t c = 0; c < 4; c++)
        if (!read_runs(in, row + c * width, width))
            return false;
    return true;
}

/* Reads the rows. If only the header was asked for, walks over them to find the end of the image.
 */
static enum gi_status read_rows(struct gi_decode *decode, struct cursor *in, size_t width,
                                int height, uint8_t *row, struct gi_err *err)
{
    for (int y = 0; y < height; y++) {
        if (!read_row(in, row, width))
            return decode->options->header_only
                       ? GI_OK
                       : gi_decode_damaged_at(decode, err, y,
                                              in->end - in->at < 4 ? "ends early" : "is damaged");
        if (decode->options->header_only)
            continue;
        float *out = gi_row(decode->image, y);
        for (size_t x = 0; x < width; x++) {
            int exponent = row[3 * width + x];
            float unit = exponent ? ldexpf(1, exponent - 136) : 0;
            for (size_t c = 0; c < 3; c++)
                out[3 * x + c] = (float)row[c * width + x] * unit;
        }
    }
    gi_decode_add_trailing(decode, (uint64_t)(in->at - decode->bytes));
    return GI_OK;
}

static enum gi_status decode_hdr(struct gi_decode *decode, struct gi_err *err)
{
    struct cursor in = {decode->bytes, decode->bytes + decode->nbytes};
    uint64_t width = 0, height = 0;
    enum gi_status status = read_header(decode, &in, &width, &height, err);
    if (status)
        return status;
    decode->info->bits = 32;
    decode->info->detail = "RGBE";
    status = gi_decode_alloc(decode, width, height, 3, GI_F32, err);
    /* A header may promise more rows than anybody wants to walk over. */
    bool large = width * height > decode->options->limits.max_pixels;
    if (status || (decode->options->header_only && large))
        return status;
    uint8_t *row = malloc(4 * (size_t)width);
    if (!row)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    status = read_rows(decode, &in, (size_t)width, (int)height, row, err);
    free(row);
    return status;
}

static enum gi_holding hdr_holds(const struct gi_part *part, const struct gi_image *written)
{
    return part->kind == GI_PART_HDR_LINE ? GI_HOLDS : GI_CANNOT_HOLD;
}

static bool probe_hdr(const unsigned char *bytes, size_t nbytes)
{
    return nbytes >= 11 &&
           (memcmp(bytes, "#?RADIANCE\n", 11) == 0 || memcmp(bytes, "#?RGBE\n", 7) == 0);
}

const struct gi_format gi_format_hdr = {
    .info = {.name = "hdr",
             .suffixes = "hdr",
             .summary = "Radiance HDR (RGBE)",
             GI_READS_AND_WRITES,
             .f32 = true},
    .probe = probe_hdr,
    .decode = decode_hdr,
    .encode = encode_hdr,
    .holds = hdr_holds,
    .rgb = true,
};
