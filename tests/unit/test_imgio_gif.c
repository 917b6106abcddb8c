/* Reads GIF files that are made here code by code, and files written by netpbm. Also, netpbm reads
 * the files that we write.
 * Sources: imgio/gif/gif.c
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

static char path[128];

/* A file under construction. */
struct made {
    unsigned char at[1 << 16];
    size_t n, block;       /* offset of the current block's length */
    unsigned bits, n_bits; /* codes not yet written */
};

static void put(struct made *m, int n, ...)
{
    va_list args;
    va_start(args, n);
    while (n--)
        m->at[m->n++] = (unsigned char)va_arg(args, int);
    va_end(args);
}

static void put16(struct made *m, int v)
{
    put(m, 2, v & 255, v >> 8);
}

static void put_byte(struct made *m, unsigned v)
{
    if (m->at[m->block] == 255) {
        m->block = m->n;
        put(m, 1, 0);
    }
    put(m, 1, (int)v);
    m->at[m->block]++;
}

static void put_code(struct made *m, unsigned code, unsigned width)
{
    m->bits |= code << m->n_bits;
    for (m->n_bits += width; m->n_bits >= 8; m->n_bits -= 8, m->bits >>= 8)
        put_byte(m, m->bits & 255);
}

/* The properties of a frame. Entry c of its palette is the colour (3 c, 5 c, 7 c) or, if `gray`,
 * the gray c * 255 / (colours - 1). */
struct frame {
    int left, top, width, height, bits, transparent; /* -1: none */
    bool interlaced, own_palette, gray;
};

static int index_at(const struct frame *f, int x, int y)
{
    return (x * 7 + y * 3 + x * y) % (1 << f->bits);
}

static int color_at(const struct frame *f, int index, int c)
{
    return f->gray ? index * 255 / ((1 << f->bits) - 1) : index * (3 + 2 * c) % 256;
}

static void put_palette(struct made *m, const struct frame *f)
{
    for (int i = 0; i < 1 << f->bits; i++)
        for (int c = 0; c < 3; c++)
            put(m, 1, color_at(f, i, c));
}

static void put_head(struct made *m, int width, int height, const struct frame *f)
{
    memcpy(m->at, "GIF89a", m->n = 6);
    put16(m, width);
    put16(m, height);
    put(m, 3, f->own_palette ? 0 : 0x80 | (f->bits - 1), 0, 0);
    if (!f->own_palette)
        put_palette(m, f);
}

/* Appends a frame all of whose codes have the first width, because the table is cleared before it
 * grows. */
static void put_frame(struct made *m, const struct frame *f)
{
    static const int starts[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2};
    unsigned least = f->bits < 2 ? 2 : (unsigned)f->bits, clear = 1u << least, n = 0;
    if (f->transparent >= 0)
        put(m, 8, 0x21, 0xf9, 4, 1, 0, 0, f->transparent, 0);
    put(m, 1, 0x2c);
    put16(m, f->left);
    put16(m, f->top);
    put16(m, f->width);
    put16(m, f->height);
    put(m, 1, (f->own_palette ? 0x80 | (f->bits - 1) : 0) | (f->interlaced ? 0x40 : 0));
    if (f->own_palette)
        put_palette(m, f);
    put(m, 1, (int)least);
    m->block = m->n;
    put(m, 1, 0);
    for (int pass = 0; pass < (f->interlaced ? 4 : 1); pass++)
        for (int y = f->interlaced ? starts[pass] : 0; y < f->height;
             y += f->interlaced ? steps[pass] : 1)
            for (int x = 0; x < f->width; x++, n++) {
                if (n % (clear - 2) == 0)
                    put_code(m, clear, least + 1);
                put_code(m, (unsigned)index_at(f, x, y), least + 1);
            }
    put_code(m, clear + 1, least + 1);
    put_code(m, 0, 7); /* the bits left of the last byte */
    m->bits = m->n_bits = 0;
    put(m, 1, 0);
}

static void check_frame(const struct made *m, const struct frame *f, int width, int height)
{
    struct gi_image image = decode_or_fail(m->at, m->n);
    bool alpha = f->transparent >= 0 || f->width < width || f->height < height;
    int colors = f->gray ? 1 : 3;
    assert_true(image.width == width && image.height == height && image.type == GI_U8);
    assert_int_equal(image.channels, colors + alpha);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const uint8_t *pixel = (uint8_t *)gi_row(&image, y) + x * image.channels;
            bool inside =
                x >= f->left && x < f->left + f->width && y >= f->top && y < f->top + f->height;
            int index = inside ? index_at(f, x - f->left, y - f->top) : -1;
            for (int c = 0; c < colors; c++)
                assert_int_equal(pixel[c], inside ? color_at(f, index, c) : 0);
            if (alpha)
                assert_int_equal(pixel[colors], inside && index != f->transparent ? 255 : 0);
        }
    gi_image_free(&image);
}

TEST(frames)
{
    need_format("gif");
    for (int bits = 1; bits <= 8; bits++)
        for (int form = 0; form < 32; form++) {
            struct frame f = {0, 0, 21, 19, bits, form & 1 ? 1 : -1, form & 2, form & 4, form & 8};
            int width = form & 16 ? 30 : 21, height = form & 16 ? 27 : 19;
            if (form & 16) {
                f.left = 5;
                f.top = 7;
            }
            struct made m = {0};
            put_head(&m, width, height, &f);
            put_frame(&m, &f);
            put(&m, 1, 0x3b);
            check_frame(&m, &f, width, height);
        }
}

/* A frame beyond the screen enlarges the screen, further frames cause a warning, and a comment is
 * skipped. */
TEST(odd_files)
{
    need_format("gif");
    struct frame f = {3, 2, 21, 19, 4, -1, false, false, false};
    struct made m = {0};
    struct gi_image image;
    struct gi_err warning, err;
    put_head(&m, 8, 8, &f);
    put(&m, 8, 0x21, 0xfe, 4, 'n', 'o', 't', 'e', 0);
    put_frame(&m, &f);
    size_t first = m.n;
    put(&m, 1, 0x3b);
    check_frame(&m, &f, 24, 21);
    m.n = first;
    put_frame(&m, &f);
    put(&m, 1, 0x3b);
    assert_int_equal(load_bytes(&image, m.at, m.n, &strictly, &warning, &err), GI_OK);
    assert_non_null(strstr(warning.text, "more frames"));
    gi_image_free(&image);

    struct frame wide = {0, 3, 21, 19, 4, -1, false, false, false}; /* wider but not as high */
    struct made below = {0};
    put_head(&below, 21, 27, &wide);
    put_frame(&below, &wide);
    put(&below, 1, 0x3b);
    check_frame(&below, &wide, 21, 27);

    struct made empty = {0}, bare = {0}, few = {0};
    put_head(&empty, 8, 8, &f);
    put(&empty, 1, 0x3b);
    assert_refused(empty.at, empty.n, GI_E_FORMAT, "no image");
    f.own_palette = true; /* the palette is missing */
    put_head(&bare, 8, 8, &f);
    f.own_palette = false;
    put_frame(&bare, &f);
    assert_refused(bare.at, bare.n, GI_E_FORMAT, "palette");
    f.bits = 1;
    put_head(&few, 24, 21, &f);
    f.bits = 4;
    put_frame(&few, &f);
    assert_refused(few.at, few.n, GI_E_FORMAT, "beyond its palette");
}

TEST(as_netpbm)
{
    need_format("gif");
    need_programs("pamtogif ppmquant");
    struct gi_image image = random_image(301, 203, 3, GI_U8, 3), want, got;
    char command[900];
    save_or_fail(&image, in_folder("a.ppm"), (struct gi_save_options){0});
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        snprintf(command, sizeof command,
                 "cd %s && ppmquant 200 a.ppm >q.ppm 2>/dev/null && pamtogif %s q.ppm >a.gif "
                 "2>/dev/null",
                 folder, interlaced ? "-interlace" : "");
        assert_int_equal(system(command), 0);
        want = load_or_fail(in_folder("q.ppm"));
        got = load_or_fail(path);
        assert_same_image(&want, &got);
        gi_image_free(&want);
        gi_image_free(&got);
    }
    gi_image_free(&image);
}

TEST(damage)
{
    need_format("gif");
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        struct frame f = {2, 1, 40, 33, 5, 3, interlaced, interlaced, false};
        struct made m = {0};
        put_head(&m, 44, 40, &f);
        put_frame(&m, &f);
        put_frame(&m, &f);
        put(&m, 1, 0x3b);
        struct bytes file = {m.at, m.n};
        check_truncations(file, file.n); /* also behind the first frame, and without trailer */
        check_flips(file, 5000, (uint64_t)interlaced);
    }
}

/* A screen of 65535 x 65535 pixels takes only 13 bytes of the file. */
TEST(bomb)
{
    need_format("gif");
    struct frame f = {0, 0, 3, 3, 2, -1, false, false, false};
    struct made m = {0};
    struct gi_image image;
    struct gi_err err;
    put_head(&m, 65535, 65535, &f);
    put_frame(&m, &f);
    struct gi_load_options options = partially;
    options.limits.max_pixels = UINT64_C(1) << 33;
    assert_int_equal(load_bytes(&image, m.at, m.n, &options, NULL, &err), GI_E_LIMIT);
    assert_non_null(strstr(err.text, "--max-pixels"));
}

/* The message of a build without giflib. */
TEST(left_out)
{
    if (!format_is_built_in("gif"))
        assert_refused("GIF89a", 6, GI_E_UNSUPPORTED, "giflib");
}

TEST_PATH(path, "a.gif")
