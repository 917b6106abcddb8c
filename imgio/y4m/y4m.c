/* Reads and writes YUV4MPEG2, which consists of header lines and planes. Planes are read directly
 * into images.
 * SPDX-License-Identifier: MIT */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* -O2 vectorises no loop of unknown length */
#endif

#include "imgio/codecs.h"
#include "imgio/y4m/y4m.h"

#include <endian.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/small.h"

static const char magic[] = "YUV4MPEG2";

bool gi_y4m_starts(const unsigned char *bytes, size_t nbytes)
{
    return nbytes >= sizeof magic && memcmp(bytes, magic, sizeof magic - 1) == 0 &&
           (bytes[sizeof magic - 1] == ' ' || bytes[sizeof magic - 1] == '\n');
}

/* Takes a line, without its newline. Sets *end to true if the input has no more bytes. */
static enum gi_status take_line(char *line, bool *end, struct gi_reader *reader, struct gi_err *err)
{
    const unsigned char *bytes, *stop = NULL;
    size_t nbytes, least = 1, looked = 0;
    *end = false;
    while (!stop) {
        enum gi_status status = gi_reader_peek(reader, &bytes, &nbytes, least, err);
        if (status)
            return status;
        if ((*end = !nbytes))
            return GI_OK;
        stop = memchr(bytes + looked, '\n', nbytes - looked);
        looked = nbytes;
        if (!stop && (nbytes < least || nbytes >= GI_Y4M_LINE_MAX))
            break;
        least = nbytes + 1;
    }
    if (!stop || stop - bytes >= GI_Y4M_LINE_MAX || memchr(bytes, 0, (size_t)(stop - bytes)))
        return gi_fail(err, GI_E_FORMAT, "%s: want a line of Y4M at byte %llu",
                       gi_reader_name(reader), gi_reader_at(reader));
    memcpy(line, bytes, (size_t)(stop - bytes));
    line[stop - bytes] = '\0';
    gi_reader_skip(reader, (size_t)(stop - bytes) + 1);
    return GI_OK;
}

/* Reads the sample format, such as "420p10", "420jpeg", "mono16" or "444alpha". */
static bool read_kind(struct gi_y4m *video, const char *text)
{
    static const struct {
        const char *name;
        int nplanes, shift_x, shift_y;
    } kinds[] = {{"420", 3, 1, 1}, {"422", 3, 1, 0}, {"444", 3, 0, 0},
                 {"411", 3, 2, 0}, {"410", 3, 2, 2}, {"mono", 1, 0, 0}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i].name);
        const char *more = text + n;
        char *stop;
        if (strncmp(text, kinds[i].name, n) != 0)
            continue;
        video->nplanes = kinds[i].nplanes;
        video->shift_x = kinds[i].shift_x;
        video->shift_y = kinds[i].shift_y;
        if (strcmp(text, "444alpha") == 0)
            video->nplanes = 4;
        else if (i == 0 && (strcmp(more, "jpeg") == 0 || strcmp(more, "mpeg2") == 0 ||
                            strcmp(more, "paldv") == 0))
            return true;
        else if (*more) {
            more += i != 5 && *more == 'p';
            long bits = *more >= '1' && *more <= '9' ? strtol(more, &stop, 10) : 0;
            video->bits = (int)bits;
            return bits >= 8 && bits <= 16 && !*stop;
        }
        return true;
    }
    return false;
}

static bool read_size(int *value, const char *text)
{
    char *stop;
    long v = *text >= '0' && *text <= '9' ? strtol(text, &stop, 10) : 0;
    *value = v > INT_MAX ? 0 : (int)v;
    return *value >= 1 && (!*stop || *stop == ' ');
}

/* Reads one parameter of the header, which has n characters. */
static enum gi_status read_word(struct gi_y4m *video, const char *word, size_t n,
                                struct gi_err *err)
{
    char kind[16] = "";
    if (*word == 'I')
        video->interlaced = n > 1 && strchr("tbm", word[1]);
    else if ((*word == 'W' && !read_size(&video->width, word + 1)) ||
             (*word == 'H' && !read_size(&video->height, word + 1)))
        return gi_fail(err, GI_E_FORMAT, "has a damaged Y4M header: want W and H, 1 to %d",
                       INT_MAX);
    if (*word != 'C')
        return GI_OK;
    if (n <= sizeof kind)
        memcpy(kind, word + 1, n - 1);
    return read_kind(video, kind)
               ? GI_OK
               : gi_fail(err, GI_E_UNSUPPORTED,
                         "is Y4M with %.*s: want C420, C422, C444, C411, C410 or Cmono, of 8 to "
                         "16 bits (C420p10, Cmono16), or C444alpha",
                         (int)(n < 40 ? n : 40), word);
}

static enum gi_status read_words(struct gi_y4m *video, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (const char *at = video->line + sizeof magic - 1; *at && !status;) {
        at += strspn(at, " ");
        size_t n = strcspn(at, " ");
        if (n)
            status = read_word(video, at, n, err);
        at += n;
    }
    if (!status && (!video->width || !video->height))
        return gi_fail(err, GI_E_FORMAT, "has a damaged Y4M header: want W and H, 1 to %d",
                       INT_MAX);
    return status;
}

/* Adds one parameter, which has n characters. */
static void add_word(struct gi_metadata *metadata, const char *word, size_t n)
{
    static const char *const used[] = {"XMATRIX=", "XCOLORRANGE=", "XYSCSS="};
    int width, height; /* of a pixel */
    if (*word == 'A' && sscanf(word, "A%9d:%9d", &width, &height) == 2 && width > 0 && height > 0 &&
        width != height) {
        metadata->dpi_x = height;
        metadata->dpi_y = width;
        metadata->no_unit = true;
    }
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        if (strncmp(word, used[i], strlen(used[i])) == 0)
            return;
    unsigned frames, seconds;
    if (sscanf(word, "F%u:%u", &frames, &seconds) == 2 && frames && seconds)
        metadata->timing =
            (struct gi_timing){.given = true, .delay_ms = (int)(1000.0 * seconds / frames + 0.5)};
    bool unknown = strcspn(word + 1, "?0:") == 0; /* as in F0:0 and I? */
    bool plain = unknown || (*word == 'I' && word[1] == 'p');
    if (*word == 'X' || ((*word == 'F' || *word == 'I') && n > 1 && !plain))
        gi_metadata_add_part(
            metadata, &(struct gi_part){.kind = GI_PART_FIELD, .fate = GI_PART_LOST, .nbytes = n},
            "parameter %.*s", (int)n, word);
}

void gi_y4m_frame_metadata(struct gi_metadata *metadata, const char *line)
{
    for (const char *at = line + strcspn(line, " "); *at;) {
        at += strspn(at, " ");
        size_t n = strcspn(at, " ");
        if (n)
            gi_metadata_add_part(
                metadata,
                &(struct gi_part){.kind = GI_PART_FIELD, .fate = GI_PART_LOST, .nbytes = n},
                "parameter %.*s of a frame", (int)(n < 40 ? n : 40), at);
        at += n;
    }
}

void gi_y4m_metadata(struct gi_metadata *metadata, const struct gi_y4m *video)
{
    for (const char *at = video->line + sizeof magic - 1; *at;) {
        at += strspn(at, " ");
        size_t n = strcspn(at, " ");
        if (n)
            add_word(metadata, at, n);
        at += n;
    }
}

static enum gi_status check_limits(const struct gi_y4m *video, const struct gi_limits *limits,
                                   struct gi_err *err)
{
    uint64_t pixels = (uint64_t)video->width * (uint64_t)video->height;
    if (pixels > limits->max_pixels)
        return gi_fail(err, GI_E_LIMIT,
                       "is Y4M of %d x %d pixels, over the limit of %llu; --max-pixels raises it",
                       video->width, video->height, (unsigned long long)limits->max_pixels);
    if (pixels * (video->bits > 8 ? 2 : 1) > limits->max_bytes)
        return gi_fail(err, GI_E_LIMIT,
                       "is Y4M with planes of more than %llu bytes; --max-bytes raises the limit",
                       (unsigned long long)limits->max_bytes);
    return GI_OK;
}

/* Reads the header from its line of n characters. Error texts don't name the input, which the
 * caller must do. */
static enum gi_status read_header(struct gi_y4m *video, const char *line, size_t n,
                                  struct gi_err *err)
{
    *video = (struct gi_y4m){.nplanes = 3, .shift_x = 1, .shift_y = 1, .bits = 8};
    memcpy(video->line, line, n);
    video->line[n] = '\0';
    return read_words(video, err);
}

enum gi_status gi_y4m_read_head(struct gi_y4m *video, struct gi_reader *reader,
                                const struct gi_limits *limits, struct gi_err *err)
{
    char line[GI_Y4M_LINE_MAX];
    bool end;
    enum gi_status status = take_line(line, &end, reader, err);
    if (status)
        return status;
    if (end || !gi_y4m_starts((const unsigned char *)line, sizeof line))
        return gi_fail(err, GI_E_FORMAT, "%s: is no Y4M video", gi_reader_name(reader));
    status = read_header(video, line, strlen(line), err);
    if (!status)
        status = check_limits(video, limits, err);
    return status ? gi_err_prefix(err, "%s", gi_reader_name(reader)) : GI_OK;
}

struct gi_image gi_y4m_plane(const struct gi_y4m *video, int plane)
{
    bool chroma = plane == 1 || plane == 2;
    int64_t x = chroma ? video->shift_x : 0, y = chroma ? video->shift_y : 0;
    return (struct gi_image){.width = (int)((video->width + ((int64_t)1 << x) - 1) >> x),
                             .height = (int)((video->height + ((int64_t)1 << y) - 1) >> y),
                             .channels = 1,
                             .type = video->bits > 8 ? GI_U16 : GI_U8};
}

enum gi_status gi_y4m_read_frame(char *line, bool *end, struct gi_reader *reader,
                                 struct gi_err *err)
{
    unsigned long long at = gi_reader_at(reader);
    enum gi_status status = take_line(line, end, reader, err);
    if (status || *end)
        return status;
    if (strncmp(line, "FRAME", 5) != 0 || (line[5] && line[5] != ' '))
        return gi_fail(err, GI_E_FORMAT, "%s: want FRAME at byte %llu", gi_reader_name(reader), at);
    return GI_OK;
}

enum gi_status gi_y4m_read_plane(const struct gi_image *image, struct gi_reader *reader,
                                 struct gi_err *err)
{
    size_t row = gi_row_nbytes(image), got = 0;
    bool whole = image->stride == row; /* rows without padding are read at once */
    size_t piece = whole ? row * (size_t)image->height : row;
    enum gi_status status = GI_OK;
    for (int y = 0; y < (whole ? 1 : image->height) && !status; y++) {
        status = gi_reader_read(reader, gi_row(image, y), piece, &got, err);
        if (!status && got < piece)
            return gi_fail(err, GI_E_FORMAT, "%s: ends in the middle of a frame",
                           gi_reader_name(reader));
    }
    return status;
}

/* Converts a row to host byte order. Returns its largest sample. */
static unsigned order_row(uint16_t *row, size_t n)
{
    uint16_t largest = 0;
    for (size_t i = 0; i < n; i++) {
        row[i] = le16toh(row[i]);
        largest = row[i] > largest ? row[i] : largest;
    }
    return largest;
}

enum gi_status gi_y4m_widen(const struct gi_image *image, int bits, struct gi_err *err)
{
    uint32_t most = (1u << bits) - 1;
    if (bits == 8)
        return GI_OK;
    uint16_t *table = gi_small_alloc((most + 1) * sizeof *table);
    for (uint32_t v = 0; v <= most; v++)
        table[v] = (uint16_t)((v * 65535 + most / 2) / most);
    enum gi_status status = GI_OK;
    for (int y = 0; y < image->height && !status; y++) {
        uint16_t *row = gi_row(image, y);
        unsigned largest = order_row(row, gi_row_samples(image));
        if (largest > most)
            status = gi_fail(err, GI_E_FORMAT, "row %d has the sample %u, over its maximum of %u",
                             y, largest, most);
        for (int x = 0; x < image->width && !status && most < 65535; x++)
            row[x] = table[row[x]];
    }
    free(table);
    return status;
}

void gi_y4m_narrow(const struct gi_image *image, int bits)
{
    uint32_t most = (1u << bits) - 1;
    for (int y = 0; y < image->height && bits > 8; y++) {
        uint16_t *row = gi_row(image, y);
        for (int x = 0; x < image->width; x++)
            row[x] = htole16((uint16_t)((row[x] * most + 32767) / 65535));
    }
}

enum gi_status gi_y4m_write_head(struct gi_sink *sink, const struct gi_y4m *video,
                                 struct gi_err *err)
{
    enum gi_status status = gi_sink_printf(sink, err, "%s", magic);
    for (const char *at = video->line + sizeof magic - 1; *at && !status;) {
        at += strspn(at, " ");
        size_t n = strcspn(at, " ");
        if (*at == 'W')
            status = gi_sink_printf(sink, err, " W%d", video->width);
        else if (*at == 'H')
            status = gi_sink_printf(sink, err, " H%d", video->height);
        else if (n)
            status = gi_sink_printf(sink, err, " %.*s", (int)n, at);
        at += n;
    }
    return status ? status : gi_sink_write(sink, "\n", 1, err);
}

enum gi_status gi_y4m_write_plane(struct gi_sink *sink, const struct gi_image *image,
                                  struct gi_err *err)
{
    size_t row = gi_row_nbytes(image);
    enum gi_status status = GI_OK;
    if (image->stride == row)
        return gi_sink_write(sink, image->data, row * (size_t)image->height, err);
    for (int y = 0; y < image->height && !status; y++)
        status = gi_sink_write(sink, gi_row(image, y), row, err);
    return status;
}

/* If a video is read as an image, the image has the shape of the luma plane. */
static enum gi_status decode_y4m(struct gi_decode *decode, struct gi_err *err)
{
    const unsigned char *end = memchr(decode->bytes, '\n', decode->nbytes);
    size_t n = end ? (size_t)(end - decode->bytes) : GI_Y4M_LINE_MAX;
    struct gi_y4m video;
    if (n >= GI_Y4M_LINE_MAX)
        return gi_fail(err, GI_E_FORMAT, "has a damaged Y4M header: want a line");
    enum gi_status status = read_header(&video, (const char *)decode->bytes, n, err);
    if (status)
        return status;
    if (!decode->options->header_only)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "is a Y4M video: it goes through operations of image to image into "
                       "another one (OUTPUT.y4m), or as an image of each frame into "
                       "'NAME-{index}.png'");
    struct gi_image shape = gi_y4m_plane(&video, 0);
    gi_y4m_metadata(decode->metadata, &video);
    decode->info->bits = video.bits;
    decode->info->maxval = (1u << video.bits) - 1;
    decode->info->detail = video.nplanes == 1 ? "luma alone" : "luma of a video";
    return gi_decode_alloc(decode, (uint64_t)shape.width, (uint64_t)shape.height, 1, shape.type,
                           err);
}

const struct gi_format gi_format_y4m = {
    .info = {.name = "y4m",
             .suffixes = "y4m",
             .summary = "YUV4MPEG2 video",
             .reads = true,
             GI_HOLDS_INTEGERS,
             .video = true},
    .probe = gi_y4m_starts,
    .decode = decode_y4m,
    .raw = true,
};
