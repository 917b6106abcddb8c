/* Reads PBM, PGM, PPM (plain and raw) and PAM, which are P1 to P7, as netpbm's manual pages pbm(5)
 * to pam(5) define them. If a file has several images, only the first is read here; pnm_stream.c
 * reads all.
 * SPDX-License-Identifier: MIT */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* -O2 vectorises no loop of unknown length */
#endif

#include "imgio/codecs.h"
#include "imgio/pieces.h"
#include "imgio/pnm/pnm_parts.h"

#include <stdlib.h>
#include <string.h>

/* Scales v from 0..maxval to 0..full, rounded to nearest. Values above maxval are clamped. */
static unsigned scale(unsigned v, unsigned maxval, unsigned full)
{
    return v >= maxval ? full : (v * full + maxval / 2) / maxval; /* the product is below 65536^2 */
}

/* Converts one row of the raster to an image row. Returns the largest value of the row, or 0 if
 * every value is allowed, because the largest value is then not computed. */
static unsigned unpack_row(void *row, const unsigned char *raster, size_t samples,
                           const struct gi_pnm_header *head, const uint8_t *table)
{
    unsigned largest = 0;
    uint8_t *out8 = row;
    uint16_t *out16 = row;
    if (head->magic == '4') {
        for (size_t i = 0; i < samples; i++)
            out8[i] = raster[i / 8] >> (7 - i % 8) & 1 ? 0 : 255;
    } else if (head->maxval == 255) {
        memcpy(row, raster, samples);
    } else if (head->maxval < 255) {
        for (size_t i = 0; i < samples; i++) {
            largest = raster[i] > largest ? raster[i] : largest;
            out8[i] = table[raster[i]];
        }
    } else {
        for (size_t i = 0; i < samples; i++)
            out16[i] = (uint16_t)(raster[2 * i] << 8 | raster[2 * i + 1]);
        for (size_t i = 0; head->maxval < 65535 && i < samples; i++) {
            largest = out16[i] > largest ? out16[i] : largest;
            out16[i] = (uint16_t)scale(out16[i], head->maxval, 65535);
        }
    }
    return largest;
}

static enum gi_status over_maxval(struct gi_decode *decode, unsigned value,
                                  const struct gi_pnm_header *head, int y, struct gi_err *err)
{
    return gi_decode_damaged(decode, err, "row %d has the sample %u, over its own maximum %u", y,
                             value, head->maxval);
}

/* A raw raster. Several threads convert pieces of its rows. */
struct raw {
    const struct gi_image *image;
    const struct gi_pnm_header *head;
    const unsigned char *at; /* row 0 of the image */
    size_t row_nbytes;
    int top; /* row of the file */
    int rows, piece_rows;
    uint8_t table[256];
    struct excess {
        unsigned value; /* the largest sample of row y, if above the maximum; otherwise 0 */
        int y;
    } * excess; /* the first such row of each piece */
};

static void unpack_piece(void *arg, int index, void *scratch)
{
    struct raw *raw = arg;
    int y = index * raw->piece_rows, left = raw->rows - y;
    int end = y + (left < raw->piece_rows ? left : raw->piece_rows);
    for (; y < end; y++) {
        unsigned largest = unpack_row(gi_row(raw->image, y), raw->at + (size_t)y * raw->row_nbytes,
                                      gi_row_samples(raw->image), raw->head, raw->table);
        if (largest > raw->head->maxval && !raw->excess[index].value)
            raw->excess[index] = (struct excess){largest, y};
    }
}

static enum gi_status unpack_all(struct gi_decode *decode, struct raw *raw, struct gi_err *err)
{
    const struct gi_parallel *parallel = decode->options->parallel;
    int n = (raw->rows + raw->piece_rows - 1) / raw->piece_rows;
    enum gi_status status = GI_OK;
    raw->excess = calloc((size_t)n + 1, sizeof *raw->excess);
    if (!raw->excess)
        return gi_fail(err, GI_E_MEMORY, "out of memory for reading");
    if (parallel && n > 1)
        status = parallel->run(parallel->self, n, unpack_piece, raw, 0, err);
    for (int i = 0; i < n && !(parallel && n > 1); i++)
        unpack_piece(raw, i, NULL);
    for (int i = 0; i < n && !status; i++)
        if (raw->excess[i].value)
            status = over_maxval(decode, raw->excess[i].value, raw->head,
                                 raw->top + raw->excess[i].y, err);
    free(raw->excess);
    return status;
}

static enum gi_status read_raw(struct gi_decode *decode, struct gi_pnm_cursor *in,
                               const struct gi_pnm_header *head, struct gi_err *err)
{
    const struct gi_image *image = decode->image;
    size_t have = (size_t)(in->end - in->at);
    size_t row_nbytes = gi_pnm_row_nbytes(head);
    int height = (int)head->height, rows = height;
    struct gi_window part = gi_decode_part(decode, head->width, head->height);
    struct raw raw = {.image = image,
                      .head = head,
                      .at = in->at + (size_t)part.y * row_nbytes +
                            (size_t)part.x * (row_nbytes / head->width),
                      .row_nbytes = row_nbytes,
                      .top = part.y,
                      .rows = part.height};
    raw.piece_rows = gi_piece_rows(gi_row_nbytes(image), image->height);
    for (unsigned v = 0; head->maxval < 256 && v < 256; v++)
        raw.table[v] = (uint8_t)scale(v, head->maxval, 255);
    enum gi_status status = GI_OK;
    if (have / row_nbytes < (size_t)height) {
        rows = (int)(have / row_nbytes);
        raw.rows = rows; /* without an error the whole picture is read */
        status = gi_decode_damaged_at(decode, err, rows, "ends early");
    }
    if (!status)
        status = unpack_all(decode, &raw, err);
    in->at += (size_t)rows * row_nbytes;
    return status;
}

/* Reads one sample of a plain raster. In P1 there need be no white space between samples. */
static bool read_plain(struct gi_pnm_cursor *in, const struct gi_pnm_header *head, unsigned *value)
{
    if (head->magic != '1')
        return gi_pnm_read_number(in, value);
    gi_pnm_skip_space(in);
    if (in->at == in->end || (*in->at != '0' && *in->at != '1'))
        return false;
    *value = *in->at++ == '0'; /* 1 is black */
    return true;
}

/* Warns that the last number may be truncated, because no white space follows the number (some
 * complete files end like that). A number can't be truncated if one more digit would exceed the
 * maximum, or if the number starts with 0. */
static void warn_of_cut(const struct gi_decode *decode, const struct gi_pnm_cursor *in,
                        const struct gi_pnm_header *head)
{
    struct gi_pnm_cursor last = *in;
    unsigned v;
    if (head->magic == '1' || in->at != in->end)
        return;
    while (last.at > decode->bytes && last.at[-1] >= '0' && last.at[-1] <= '9')
        last.at--;
    if (gi_pnm_read_number(&last, &v) && v && v <= head->maxval / 10 && !decode->warning->status)
        gi_fail(decode->warning, GI_E_FORMAT,
                "ends in the number %u without white space after it, and may be cut there", v);
}

static enum gi_status read_plain_raster(struct gi_decode *decode, struct gi_pnm_cursor *in,
                                        const struct gi_pnm_header *head, struct gi_err *err)
{
    const struct gi_image *image = decode->image;
    size_t samples = gi_row_samples(image);
    unsigned full = image->type == GI_U8 ? 255 : 65535;
    for (int y = 0; y < image->height; y++) {
        void *row = gi_row(image, y);
        for (size_t i = 0; i < samples; i++) {
            unsigned v;
            enum gi_status status = GI_OK;
            if (!read_plain(in, head, &v))
                return gi_decode_damaged_at(
                    decode, err, y, in->at == in->end ? "ends early" : "has what is no number");
            if (v > head->maxval)
                status = over_maxval(decode, v, head, y, err);
            if (status)
                return status;
            v = scale(v, head->maxval, full);
            if (image->type == GI_U8)
                ((uint8_t *)row)[i] = (uint8_t)v;
            else
                ((uint16_t *)row)[i] = (uint16_t)v;
        }
    }
    warn_of_cut(decode, in, head);
    return GI_OK;
}

/* Checks the length of a plain raster. A sample takes at least two characters, or one in P1, so
 * that a short file can't declare a huge raster. */
static enum gi_status check_plain_length(struct gi_decode *decode, const struct gi_pnm_cursor *in,
                                         const struct gi_pnm_header *head, struct gi_err *err)
{
    uint64_t samples = (uint64_t)head->width * head->height; /* without channels: a lower bound */
    uint64_t have = (uint64_t)(in->end - in->at);
    if (head->magic != '1')
        have = (have + 1) / 2;
    return samples <= have
               ? GI_OK
               : gi_decode_damaged(decode, err, "ends early: %llu samples of %llu",
                                   (unsigned long long)have, (unsigned long long)samples);
}

static int bits_of(unsigned maxval)
{
    int bits = 1;
    while (maxval >> bits)
        bits++;
    return bits;
}

static enum gi_status decode_pnm(struct gi_decode *decode, struct gi_err *err)
{
    struct gi_pnm_cursor in = {decode->bytes, decode->bytes + decode->nbytes};
    struct gi_pnm_header head = {0};
    enum gi_status status = gi_pnm_read_header(&in, &head, err);
    if (status)
        return status;
    bool plain = gi_pnm_is_plain(&head);
    decode->info->bits = bits_of(head.maxval);
    decode->info->maxval = head.maxval;
    decode->info->detail = plain ? "plain" : "";
    decode->info->bands = head.bands;
    if (plain && !decode->options->header_only)
        status = check_plain_length(decode, &in, &head, err);
    if (!status && !plain && head.magic != '4')
        gi_decode_window(decode, head.width, head.height);
    if (!status)
        status = gi_decode_alloc(decode, head.width, head.height, (int)head.channels,
                                 head.maxval > 255 ? GI_U16 : GI_U8, err);
    if (status)
        return status;
    gi_pnm_header_parts(decode, in.at, &head);
    const unsigned char *raster = in.at;
    if (!decode->options->header_only)
        status =
            plain ? read_plain_raster(decode, &in, &head, err) : read_raw(decode, &in, &head, err);
    else if (!plain)
        gi_pnm_skip_raster(&in, &head);
    if (!status && plain && !decode->options->header_only)
        gi_pnm_raster_comments(decode, raster, &in);
    if (!status && !(plain && decode->options->header_only))
        gi_pnm_rest(decode, in);
    return status;
}

static bool has_magic(const unsigned char *bytes, size_t nbytes, char plain, char raw)
{
    return gi_pnm_starts(bytes, nbytes) && (bytes[1] == plain || bytes[1] == raw);
}

static bool probe_pbm(const unsigned char *bytes, size_t nbytes)
{
    return has_magic(bytes, nbytes, '1', '4');
}

static bool probe_pgm(const unsigned char *bytes, size_t nbytes)
{
    return has_magic(bytes, nbytes, '2', '5');
}

static bool probe_ppm(const unsigned char *bytes, size_t nbytes)
{
    return has_magic(bytes, nbytes, '3', '6');
}

static bool probe_pam(const unsigned char *bytes, size_t nbytes)
{
    return has_magic(bytes, nbytes, '7', '7');
}

const struct gi_format gi_format_pbm = {
    .info = {.name = "pbm",
             .suffixes = "pbm",
             .summary = "Portable bitmap, P1 and P4",
             GI_READS_AND_WRITES,
             .u8 = true},
    .probe = probe_pbm,
    .decode = decode_pnm,
    .encode = gi_pbm_encode,
    .comments = true,
    .raw = true,
    .one_bit = true,
    .gray = true,
};

const struct gi_format gi_format_pgm = {
    .info = {.name = "pgm",
             .suffixes = "pgm",
             .summary = "Portable graymap, P2 and P5",
             GI_READS_AND_WRITES,
             GI_HOLDS_INTEGERS},
    .probe = probe_pgm,
    .decode = decode_pnm,
    .encode = gi_pnm_encode,
    .by_rows = true,
    .comments = true,
    .raw = true,
    .gray = true,
};

const struct gi_format gi_format_ppm = {
    .info = {.name = "ppm",
             .suffixes = "ppm",
             .summary = "Portable pixmap, P3 and P6",
             GI_READS_AND_WRITES,
             GI_HOLDS_INTEGERS},
    .probe = probe_ppm,
    .decode = decode_pnm,
    .encode = gi_pnm_encode,
    .by_rows = true,
    .comments = true,
    .raw = true,
    .rgb = true,
};

const struct gi_format gi_format_pnm = {
    .info = {.name = "pnm",
             .suffixes = "pnm",
             .summary = "PGM or PPM, by the image's channels",
             /* the probes of the other formats recognise such files, and their decoders read
              * them */
             GI_READS_AND_WRITES,
             GI_HOLDS_INTEGERS},
    .encode = gi_pnm_encode,
    .by_rows = true,
    .comments = true,
    GI_HOLDS_GRAY_AND_RGB,
};

const struct gi_format gi_format_pam = {
    .info = {.name = "pam",
             .suffixes = "pam",
             .summary = "Portable arbitrary map, P7",
             GI_READS_AND_WRITES,
             GI_HOLDS_INTEGERS,
             .alpha = true},
    .probe = probe_pam,
    .decode = decode_pnm,
    .encode = gi_pam_encode,
    .by_rows = true,
    .bands = true,
    .holds = gi_pam_holds,
    .comments = true,
    .raw = true,
    GI_HOLDS_GRAY_AND_RGB,
};
