/* Makes PNGs of every kind with zlib, chunk by chunk, to compare png_decode with imgio.
 * SPDX-License-Identifier: MIT */
#include "png_device.h"

#include <zlib.h>

#include "imgio/integer.h"

/* ---- pictures ---- */

static unsigned value_of(int kind, int x, int y, int c, unsigned levels, unsigned run,
                         uint64_t *seed)
{
    unsigned noise = case_random(seed);
    int wave = abs((x * 3 + c * 20) % 200 - 100) + abs((y * 2 + x) % 120 - 60);
    switch (kind) {
    case 1:
        return noise % levels;
    case 2:
        return (unsigned)wave * (levels / 170 + 1) + noise % (levels / 32 + 1);
    case 3:
        return run;
    case 5:
        return noise % 3 ? 7 : levels - 1;
    case 6:
        return (unsigned)(x % 11 * 7919 + c * 104729) >> 3;
    case 7:
        return y % 40 < 12 ? noise % levels : 9;
    default:
        return 5 + (unsigned)c;
    }
}

void png_draw(struct gi_image *image, int kind, unsigned levels, uint64_t *seed)
{
    unsigned run = 0;
    for (int y = 0; y < image->height; y++)
        for (int i = 0; i < (int)gi_row_samples(image); i++) {
            run = case_random(seed) % 40 ? run : case_random(seed);
            unsigned v = value_of(kind == 4 && y < 3 ? 1 : kind, i / image->channels, y,
                                  i % image->channels, levels, run, seed);
            if (kind == 4 && y >= 3)
                v = (unsigned)case_get(image, y - 3, (size_t)i);
            v %= levels;
            if (image->type == GI_U8)
                ((uint8_t *)gi_row(image, y))[i] = (uint8_t)v;
            else
                ((uint16_t *)gi_row(image, y))[i] = (uint16_t)v;
        }
}

struct png_recipe png_random(bool palette, uint64_t *seed)
{
    static const int flushes[] = {Z_NO_FLUSH, Z_NO_FLUSH, Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH};
    static const size_t parts[] = {0, 0, 8, 100, 8192};
    struct png_recipe recipe = {.filter = case_between(seed, 0, PNG_MIXED),
                                .level = case_between(seed, 0, 9),
                                .strategy = case_between(seed, Z_DEFAULT_STRATEGY, Z_FIXED),
                                .window_bits = case_between(seed, 9, 15),
                                .mem_level = case_between(seed, 1, 9),
                                .flush = flushes[case_between(seed, 0, 4)],
                                .part = parts[case_between(seed, 0, 4)]};
    if (palette) {
        recipe.ncolors = case_between(seed, 0, 3) ? 256 : case_between(seed, 1, 256);
        recipe.nalphas = case_between(seed, 0, 1) ? case_between(seed, 1, recipe.ncolors) : 0;
        recipe.filter = case_between(seed, 0, 1) ? 0 : recipe.filter;
    }
    return recipe;
}

/* ---- the stream ---- */

/* Returns what a filter predicts for a byte (PNG 1.2, section 6). */
static int predict(int filter, int left, int up, int corner)
{
    int guess = left + up - corner;
    int a = abs(guess - left), b = abs(guess - up), c = abs(guess - corner);
    int paeth = a <= b && a <= c ? left : b <= c ? up : corner;
    const int predicted[PNG_FILTERS] = {0, left, up, (left + up) / 2, paeth};
    return predicted[filter];
}

struct bytes png_filter_rows(const struct gi_image *image, int filter, uint64_t *seed)
{
    size_t bpp = (size_t)image->channels * gi_type_nbytes(image->type), n = gi_row_nbytes(image);
    uint8_t *rows = calloc(2, n), *row = rows, *above = rows + n;
    struct bytes raw = {malloc((n + 1) * (size_t)image->height), (n + 1) * (size_t)image->height};
    uint8_t *out = raw.at;
    for (int y = 0; y < image->height; y++) {
        int kind = filter == PNG_MIXED ? case_between(seed, 0, PNG_FILTERS - 1) : filter;
        memcpy(row, gi_row(image, y), n);
        for (size_t i = 0; image->type == GI_U16 && i < n; i += 2) { /* big-endian */
            uint16_t v;
            memcpy(&v, row + i, 2);
            gi_put_big16(row + i, v);
        }
        *out++ = (uint8_t)kind;
        for (size_t i = 0; i < n; i++)
            *out++ = (uint8_t)(row[i] - predict(kind, i < bpp ? 0 : row[i - bpp], above[i],
                                                i < bpp ? 0 : above[i - bpp]));
        uint8_t *was = above;
        above = row;
        row = was;
    }
    free(rows);
    return raw;
}

struct bytes png_deflate(const struct bytes *raw, const struct png_recipe *recipe, size_t row)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, recipe->level, Z_DEFLATED, recipe->window_bits,
                                  recipe->mem_level, recipe->strategy),
                     Z_OK);
    size_t room = 2 * raw->n + 64 + 16 * (raw->n / row + 1);
    struct bytes stream = {malloc(room), 0};
    z.next_out = stream.at;
    z.avail_out = (uInt)room;
    z.next_in = raw->at;
    for (size_t left = raw->n; left;) {
        size_t n = left < row ? left : row;
        if (recipe->changes) { /* levels 0, 1, 6 and 9, all strategies */
            static const int levels[] = {0, 6, 1, 9, 6};
            size_t turn = left / row;
            assert_int_equal(deflateParams(&z, levels[turn % 5], (int)(turn / 3 % 5)), Z_OK);
        }
        z.avail_in = (uInt)n;
        assert_int_equal(deflate(&z, recipe->flush), Z_OK);
        assert_int_equal(z.avail_in, 0);
        left -= n;
    }
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    stream.n = z.total_out;
    deflateEnd(&z);
    return stream;
}

void png_mend_sum(const struct bytes *stream, size_t raw_nbytes)
{
    size_t room = raw_nbytes + 1000;
    uint8_t *raw = malloc(room);
    z_stream z = {.next_in = stream->at,
                  .avail_in = (uInt)stream->n,
                  .next_out = raw,
                  .avail_out = (uInt)room};
    assert_int_equal(inflateInit(&z), Z_OK);
    inflate(&z, Z_FINISH);
    if (z.total_in >= 4)
        gi_put_big32(stream->at + z.total_in - 4, (uint32_t)adler32(1, raw, (uInt)z.total_out));
    inflateEnd(&z);
    free(raw);
}

/* ---- the file ---- */

size_t png_append(struct bytes *file, const char *type, const void *data, size_t n)
{
    file->at = realloc(file->at, file->n + n + 12);
    unsigned char *chunk = file->at + file->n;
    gi_put_big32(chunk, (uint32_t)n);
    memcpy(chunk + 4, type, 4);
    if (n)
        memcpy(chunk + 8, data, n);
    gi_put_big32(chunk + 8 + n, (uint32_t)crc32(0, chunk + 4, (uInt)n + 4));
    return file->n += n + 12;
}

static void append_palette(struct bytes *file, const struct png_recipe *recipe)
{
    uint8_t colors[256][3], alphas[256];
    for (int i = 0; i < recipe->ncolors; i++) {
        const uint8_t color[3] = {(uint8_t)(i * 37), (uint8_t)(255 - i), (uint8_t)(i * i)};
        memcpy(colors[i], color, 3);
        alphas[i] = (uint8_t)(i * 91);
    }
    png_append(file, "PLTE", colors, 3 * (size_t)recipe->ncolors);
    if (recipe->nalphas)
        png_append(file, "tRNS", alphas, (size_t)recipe->nalphas);
}

struct bytes png_wrap(const struct gi_image *image, const struct bytes *stream,
                      const struct png_recipe *recipe)
{
    static const uint8_t color_types[] = {0, 0, 4, 2, 6}; /* by the number of channels */
    enum { PALETTE = 3 };
    struct bytes file = {malloc(8), 8};
    uint8_t header[13] = {0};
    memcpy(file.at, "\x89PNG\r\n\x1a\n", 8);
    gi_put_big32(header, (uint32_t)image->width);
    gi_put_big32(header + 4, (uint32_t)image->height);
    header[8] = image->type == GI_U16 ? 16 : 8;
    header[9] = recipe->ncolors ? PALETTE : color_types[image->channels];
    png_append(&file, "IHDR", header, sizeof header);
    if (recipe->ncolors)
        append_palette(&file, recipe);
    size_t part = recipe->part ? recipe->part : stream->n;
    for (size_t at = 0; at < stream->n; at += part)
        png_append(&file, "IDAT", stream->at + at, stream->n - at < part ? stream->n - at : part);
    png_append(&file, "IEND", "", 0);
    return file;
}

struct bytes png_stream(const struct gi_coded *coded)
{
    const struct gi_image scan = gi_coded_scan(coded);
    struct bytes stream = {malloc((size_t)scan.width), 0};
    for (uint32_t i = 0; i < coded->nidats; i++) {
        const struct gi_png_idat *idat = &coded->idats[i];
        memcpy(stream.at + stream.n, (uint8_t *)scan.data + idat->at, idat->nbytes);
        stream.n += idat->nbytes;
    }
    return stream;
}

struct bytes png_make(const struct gi_image *image, const struct png_recipe *recipe, uint64_t *seed)
{
    struct bytes raw = png_filter_rows(image, recipe->filter, seed);
    struct bytes stream = png_deflate(&raw, recipe, gi_row_nbytes(image) + 1);
    struct bytes file = png_wrap(image, &stream, recipe);
    free(raw.at);
    free(stream.at);
    return file;
}
