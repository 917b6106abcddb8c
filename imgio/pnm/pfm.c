/* Portable float map: "PF" or "Pf", size, scale, then rows from bottom to top. The sign of the
 * scale tells the byte order (negative for little-endian). The magnitude of the scale is a unit,
 * which is carried to another PFM and otherwise ignored.
 * SPDX-License-Identifier: MIT */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* -O2 vectorises no loop of unknown length */
#endif

#include "imgio/pnm/pfm.h"

#include "imgio/codecs.h"
#include "imgio/integer.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TOKEN_MAX = 32 };

static bool is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Copies the next word of the header, and skips the single white space after the word. */
static bool read_token(char *token, const unsigned char **at, const unsigned char *end)
{
    size_t n = 0;
    while (*at < end && is_space(**at))
        ++*at;
    for (; *at < end && !is_space(**at) && n < TOKEN_MAX - 1; ++*at)
        token[n++] = (char)**at;
    token[n] = 0;
    return n && *at < end && is_space(*(*at)++);
}

static bool parse_size(const char *token, uint64_t *size)
{
    char *end;
    *size = strtoull(token, &end, 10);
    return token[0] >= '0' && token[0] <= '9' && !*end && *size <= INT_MAX;
}

static float get_float(const unsigned char *p, bool little_endian)
{
    uint32_t word = little_endian ? gi_little32(p) : gi_big32(p);
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* `width` and `height` are those of the picture. */
static enum gi_status read_rows(struct gi_decode *decode, const unsigned char *raster, size_t have,
                                uint32_t width, uint32_t height, bool little_endian,
                                struct gi_err *err)
{
    const struct gi_image *image = decode->image;
    const struct gi_window part = gi_decode_part(decode, width, height);
    size_t channels = (size_t)image->channels, row_nbytes = 4 * channels * width;
    int rows = (int)height;
    if (have / row_nbytes < height) {
        rows = (int)(have / row_nbytes);
        enum gi_status status = gi_decode_damaged_at(decode, err, rows, "ends early");
        if (status)
            return status;
    }
    for (int i = 0; i < part.height; i++) {
        int stored = (int)height - 1 - part.y - i; /* rows are stored from bottom to top */
        const unsigned char *in =
            raster + (size_t)stored * row_nbytes + (size_t)part.x * 4 * channels;
        float *out = gi_row(image, i);
        for (size_t k = 0; k < gi_row_samples(image) && stored < rows; k++)
            out[k] = get_float(in + 4 * k, little_endian);
    }
    return GI_OK;
}

static enum gi_status decode_pfm(struct gi_decode *decode, struct gi_err *err)
{
    const unsigned char *at = decode->bytes + 2, *end = decode->bytes + decode->nbytes;
    char token[TOKEN_MAX];
    uint64_t width, height;
    if (!read_token(token, &at, end) || !parse_size(token, &width) ||
        !read_token(token, &at, end) || !parse_size(token, &height))
        return gi_fail(err, GI_E_FORMAT,
                       "has a damaged header: want width and height, 1 to 2147483647");
    char *rest;
    double scale = read_token(token, &at, end) ? strtod(token, &rest) : 0;
    if (!(scale > 0 || scale < 0) || *rest)
        return gi_fail(err, GI_E_FORMAT, "has a damaged header: want a scale other than 0");
    decode->info->bits = 32;
    decode->info->detail = scale < 0 ? "little-endian" : "big-endian";
    gi_decode_window(decode, width, height);
    enum gi_status status =
        gi_decode_alloc(decode, width, height, decode->bytes[1] == 'F' ? 3 : 1, GI_F32, err);
    if (status)
        return status;
    const char *magnitude = token + (*token == '-' || *token == '+');
    if (fabs(scale) != 1)
        gi_decode_add_part(decode,
                           &(struct gi_part){.kind = GI_PART_PFM_SCALE,
                                             .fate = GI_PART_CARRIED,
                                             .nbytes = strlen(magnitude),
                                             .bytes = (void *)magnitude},
                           "scale %s", magnitude);
    gi_decode_add_trailing(decode, (uint64_t)(at - decode->bytes) +
                                       4 * width * height * (uint64_t)decode->image->channels);
    return decode->options->header_only ? GI_OK
                                        : read_rows(decode, at, (size_t)(end - at), (uint32_t)width,
                                                    (uint32_t)height, scale < 0, err);
}

static bool probe_pfm(const unsigned char *bytes, size_t nbytes)
{
    return nbytes >= 3 && bytes[0] == 'P' && (bytes[1] == 'F' || bytes[1] == 'f') &&
           is_space(bytes[2]);
}

/* Writes the header. `scale` is its magnitude; its sign tells the byte order, that of this machine.
 * NULL: 1. */
static enum gi_status write_head(struct gi_sink *sink, int width, int height, int channels,
                                 const struct gi_part *scale, struct gi_err *err)
{
    bool little_endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    return gi_sink_printf(sink, err, "P%c\n%d %d\n%s%.*s\n", channels == 3 ? 'F' : 'f', width,
                          height, little_endian ? "-" : "", scale ? (int)scale->nbytes : 3,
                          scale ? (char *)scale->bytes : "1.0");
}

bool gi_pfm_is(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ".pfm") == 0;
}

enum gi_status gi_pfm_write(struct gi_sink *sink, int width, int height, int channels,
                            gi_pfm_row *make, const void *self, struct gi_err *err)
{
    size_t nbytes = (size_t)width * (size_t)channels * sizeof(float);
    float *row = malloc(nbytes);
    enum gi_status status = row ? write_head(sink, width, height, channels, NULL, err)
                                : gi_fail(err, GI_E_MEMORY, "out of memory: a row");
    for (int y = height; y-- > 0 && !status;) {
        make(row, y, self);
        status = gi_sink_write(sink, row, nbytes, err);
    }
    free(row);
    return status;
}

static enum gi_status encode_pfm(struct gi_sink *sink, const struct gi_image *image,
                                 const struct gi_metadata *metadata,
                                 const struct gi_save_options *options, struct gi_err *err)
{
    const struct gi_part *scale =
        metadata ? gi_parts_find(&metadata->parts, GI_PART_PFM_SCALE, 0) : NULL;
    enum gi_status status =
        write_head(sink, image->width, image->height, image->channels, scale, err);
    for (int y = image->height; y-- > 0 && !status;)
        status = gi_sink_write(sink, gi_row(image, y), gi_row_nbytes(image), err);
    return status;
}

static enum gi_holding pfm_holds(const struct gi_part *part, const struct gi_image *written)
{
    return part->kind == GI_PART_PFM_SCALE ? GI_HOLDS : GI_CANNOT_HOLD;
}

const struct gi_format gi_format_pfm = {
    .info = {.name = "pfm",
             .suffixes = "pfm",
             .summary = "Portable float map",
             GI_READS_AND_WRITES,
             .f32 = true},
    .probe = probe_pfm,
    .decode = decode_pfm,
    .encode = encode_pfm,
    .holds = pfm_holds,
    .raw = true,
    GI_HOLDS_GRAY_AND_RGB,
};
