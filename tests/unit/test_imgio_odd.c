/* A small handmade file with an unusual header is read, or refused with an error that names the
 * reason. Metadata that a format can't hold causes a warning.
 * Sources: imgio
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include <math.h>

#include "imgio/metadata/metadata.h"
#include "imgio/reader.h"
#include "imgio/source.h"

static char path[128];

/* The string literal and its length. The literal may contain zeros. */
#define BYTES(text) text, sizeof text - 1

#define TGA_PALETTE(bits, of_pixel) "\0\1\1\0\0\1\0" bits "\0\0\0\0\1\0\1\0" of_pixel "\0"
#define TGA_GRAY                    "\0\0\3\0\0\0\0\0\0\0\0\0\1\0\1\0\10\0"
#define BMP_HEAD                    "BM\0\0\0\0\0\0\0\0\x46\0\0\0\50\0\0\0\1\0\0\0\1\0\0\0\1\0\2\0\0\0\0\0\0\0\0\0"
#define BMP_OF(kind)                                                                               \
    "BM\0\0\0\0\0\0\0\0\x46\0\0\0\50\0\0\0\1\0\0\0\1\0\0\0\1\0\30\0" kind                          \
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define BMP_FOUR "\0\0\0\0\4\0\0\0\0\0\0\0" /* colours */
#define GIF_HEAD "GIF89a\1\0\1\0\x80\0\0\0\0\0\x20\x40\x60,"

static const struct odd {
    const char *bytes;
    size_t n;
    bool header_only;
    int channels; /* 0: the file is refused */
    const char *says;
} odds[] = {
    {BYTES("YUV4MPEG2 W4 H2 Cmono \n"), true, 1, ""},
    {BYTES("YUV4MPEG2  W4 H2 I C422\n"), true, 1, ""},
    {BYTES("YUV4MPEG2 W4 H2 It\n"), true, 1, ""},
    {BYTES("YUV4MPEG2 W4 H2"), true, 0, "want a line"},
    {BYTES("YUV4MPEG2 W4 H2 C9\n"), true, 0, "C9: want"},
    {BYTES("YUV4MPEG2 W4 H2 C420p10x\n"), true, 0, "C420p10x: want"},
    {BYTES("YUV4MPEG2 W4 H0\n"), true, 0, "want W and H"},
    {BYTES("YUV4MPEG2 H2\n"), true, 0, "want W and H"},
    {BYTES("YUV4MPEG2\n"), true, 0, "want W and H"},
    {BYTES("YUV4MPEG2x W4 H2\n"), true, 0, "no image of a known format"},
    {BYTES("YUV4MPEG2 W4 H2\nFRAME\n"), false, 0, "video"},
    {BYTES("GIF89a\1\0\1\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2\x44\1\0;"), true, 0, "palette"},
    {BYTES(GIF_HEAD "\0\0\0\0\0\0\1\0\0\2\2\x44\1\0;"), true, 0, "damaged"},
    {BYTES(GIF_HEAD "\0\0\0\0\1\0\0\0\0\2\2\x44\1\0;"), true, 0, "damaged"},
    {BYTES(GIF_HEAD "\1\0\0\0\1\0\1\0\0\2\2\x44\1\0;"), true, 4, ""},
    {BYTES(GIF_HEAD "\0\0\1\0\1\0\1\0\0\2\2\x44\1\0;"), true, 4, ""},
    {BYTES(TGA_PALETTE("\17", "\10") "\0\x7c\0"), false, 3, ""},
    {BYTES(TGA_PALETTE("\30", "\10") "\5\7\7\0"), false, 3, ""},
    {BYTES(TGA_PALETTE("\30", "\10") "\7\7\5\0"), false, 3, ""},
    {BYTES(TGA_PALETTE("\30", "\10") "\7\7\7\0"), false, 1, ""},
    {BYTES(TGA_PALETTE("\30", "\20") "\7\7\7\0\0"), false, 1, ""},
    {BYTES(TGA_PALETTE("\14", "\10") "\7\7\7\0"), false, 0, "no image of a known format"},
    {BYTES(TGA_PALETTE("\30", "\14") "\7\7\7\0"), false, 0, "no image of a known format"},
    {BYTES(TGA_GRAY "\7\0\0\0\0\0\0\0\0TRUEVISION-XFILE.\0"), false, 1, ""},
    {BYTES(TGA_GRAY "\7\377\377\0\0\0\0\0\0TRUEVISION-XFILE.\0"), false, 1, ""},
    {BYTES(BMP_HEAD "\0\0\0\0\0\0\0\0" BMP_FOUR "\1\2\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), false,
     3, ""},
    {BYTES(BMP_HEAD "\1\0\0\0\0\0\0\0" BMP_FOUR "\1\2\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), false,
     3, ""},
    {BYTES(BMP_OF("\4\0\0\0")), false, 0, "with a JPEG inside"},
    {BYTES(BMP_OF("\5\0\0\0")), false, 0, "with a PNG inside"},
    {BYTES("Pfx 1 1 1"), false, 0, "no image of a known format"},
    {BYTES("P5 # to the end"), false, 0, ""},
    {BYTES("P5 1 1 255 "), false, 0, ""},
    {BYTES("P2 1 1 99 12"), false, 1, ""},
    {BYTES("P2 1 1 99 0"), false, 1, ""},
    {BYTES("P2 1 1 99 1"), false, 1, "cut"},
    {BYTES("P2 1 1 9 1"), false, 1, ""},
    {BYTES("P2 1 1 99 1\rx"), false, 1, ""},
    {BYTES("\x93NUMPY\1\0\103\0{'descr': '|u1', 'fortran_order': False, 'shape': (1, "
           "3000000000)}\n"),
     false, 0, "at most 2147483647"},
    {BYTES("\x93NUMPY\1\0\103\0{'descr': '|u1', 'fortran_order': False, 'shape': (3000000000, "
           "1)}\n"),
     false, 0, "at most 2147483647"},
    {BYTES("\x93NUMPY\0\0\2\0{}  "), false, 0, "damaged header"},
    {BYTES("P7\nWIDTH 2147483647\nHEIGHT 2147483647\nDEPTH 4\nMAXVAL 65535\nENDHDR\n"), false, 0,
     "--max-pixels"}, /* more bytes than 64 bits count */
    {BYTES("#?RADIANCE\n\n-Y 1 +X 2\n\1\1\2\x80\1\2\1\x80"), false, 3,
     ""}, /* they look like runs and are none */
    {BYTES("#?RADIANCE\n\n-Y 1 +X 2\n\2\1\1\x80\1\1\1\1"), false, 3, ""},
    {BYTES("#?RADIANCE\n\n-Y 1 +X 2\n\1\1\1\1\1\1\1\1"), false, 0, "damaged"},
};

TEST(heads)
{
    for (size_t i = 0; i < sizeof odds / sizeof *odds; i++) {
        const struct odd *odd = &odds[i];
        struct gi_load_options options = strictly;
        struct gi_image image;
        struct gi_err err = {0}, warning = {0};
        unsigned char *bytes = malloc(odd->n);
        assert_non_null(bytes);
        memcpy(bytes, odd->bytes, odd->n); /* a read past the end must be detected */
        options.header_only = odd->header_only;
        gi_load_memory(&image, NULL, NULL, bytes, odd->n, "odd", &options, &warning, &err);
        if (image.channels != odd->channels && !(err.status && !odd->channels))
            fail_msg("odd head %zu: %d channels, want %d: %s", i, image.channels, odd->channels,
                     err.text);
        if (!err.status == !odd->channels ||
            !strstr(err.status ? err.text : warning.text, odd->says))
            fail_msg("odd head %zu: said %s%s; want %s", i, err.text, warning.text, odd->says);
        gi_image_free(&image);
        free(bytes);
    }
}

/* Numbers in brackets behind a name select images of the file. */
TEST(names)
{
    static const struct {
        const char *name;
        size_t n;
        int first, last; /* first -1: none are selected */
    } cases[] = {
        {"a.tif[3]", 5, 3, 3},
        {"a[0]", 1, 0, 0},
        {"[3]", 3, -1, -1},
        {"a]", 2, -1, -1},
        {"]", 1, -1, -1},
        {"a[]", 3, -1, -1},
        {"a[x]", 4, -1, -1},
        {"a3]", 3, -1, -1},
        {"333]", 4, -1, -1},
        {"a[123456789]", 1, 123456789, 123456789},
        {"a[1234567890]", 13, -1, -1},
        {"a[3", 3, -1, -1},
        {"a[0-7]", 1, 0, 7},
        {"a[5-5]", 1, 5, 5},
        {"a[7-0]", 6, -1, -1},
        {"a[7-]", 1, 7, -1},
        {"a[0-7..2]", 1, 0, 7},
        {"a[7-..3]", 1, 7, -1},
        {"a[*..4]", 1, 0, -1},
        {"a[0-7..0]", 9, -1, -1},
        {"a[0-7..]", 8, -1, -1},
        {"a[0-7.2]", 8, -1, -1},
        {"a[3..2]", 7, -1, -1},
        {"a[0-7..2..2]", 12, -1, -1},
        {"a[-7]", 5, -1, -1},
        {"a[1-2-3]", 8, -1, -1},
        {"a[*]", 1, 0, -1},
        {"a[**]", 5, -1, -1},
        {"a[*-3]", 6, -1, -1},
        {"a[3][*]", 4, 0, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gi_selection s = {.given = true};
        assert_int_equal(gi_path_file(cases[i].name, &s), cases[i].n);
        assert_int_equal(s.given, cases[i].first >= 0);
        if (s.given) {
            assert_int_equal(s.first, cases[i].first);
            assert_int_equal(s.last, cases[i].last);
            const char *step = strstr(cases[i].name, "..");
            assert_int_equal(s.step, step ? atoi(step + 2) : 1);
            assert_int_equal(s.several, strpbrk(strrchr(cases[i].name, '['), "-*") != NULL);
        }
    }
}

/* A resolution that a format can't hold, in either direction, is dropped. All other resolutions are
 * read back, or rounded with a warning: JPEG has whole numbers per inch or per cm. */
TEST(resolutions)
{
    static const double dpis[][2] = {{100, 100}, {72, 300},  {0.5, 100},  {100, 0.5},  {70000, 100},
                                     {100, 7e4}, {1e12, 90}, {90, 1e12},  {0.001, 90}, {90, 0.001},
                                     {0, 90},    {90, 0},    {300, 0.004}};
    const struct gi_format_info *format;
    struct gi_image image = random_image(4, 3, 3, GI_U8, 1), back;
    for (int f = 0; (format = gi_format_at(f)); f++)
        for (size_t d = 0; d < sizeof dpis / sizeof *dpis; d++) {
            struct gi_metadata metadata = {.dpi_x = dpis[d][0], .dpi_y = dpis[d][1]}, said;
            struct gi_save_options options = {.format = format->name, .quality = 90};
            struct gi_err warning = {0};
            if (!format->reads || gi_save(&image, &metadata, path, &options, &warning, NULL))
                continue;
            assert_int_equal(gi_load(&back, &said, NULL, path, &strictly, NULL, NULL), GI_OK);
            bool none = said.dpi_x == 0 && said.dpi_y == 0;
            bool same = fabs(said.dpi_x - dpis[d][0]) <= 0.51 + 0.001 * dpis[d][0] &&
                        fabs(said.dpi_y - dpis[d][1]) <= 0.51 + 0.001 * dpis[d][1];
            bool rounded = *warning.text && fabs(said.dpi_x - dpis[d][0]) <= 2.54 / 2 &&
                           fabs(said.dpi_y - dpis[d][1]) <= 2.54 / 2;
            if (!none && !same && !rounded)
                fail_msg("%s: %g x %g comes back as %g x %g", format->name, dpis[d][0], dpis[d][1],
                         said.dpi_x, said.dpi_y);
            if (d < 2 && strstr("png jpeg tiff", format->name))
                assert_true(same);
            gi_metadata_free(&said);
            gi_image_free(&back);
        }
    gi_image_free(&image);
}

/* Metadata blocks longer than a JPEG segment cause a warning that names these blocks, and the image
 * is written. */
TEST(too_long)
{
    enum { LONG = 70000 };
    static const char *const names[] = {"EXIF", "XMP", "a text so long"};
    struct gi_image image = random_image(4, 3, 3, GI_U8, 1);
    const struct gi_save_options options = {.format = "jpeg", .quality = 90};
    char *exif = calloc(1, LONG), *words = calloc(1, LONG + 1), keyword[] = "Title";
    assert_true(exif && words);
    memcpy(exif, "II*\0\10\0\0\0", 8); /* without entries */
    memset(words, 'x', LONG);
    for (int i = 0; i < 3; i++)
        for (int n = 100; n <= LONG; n += LONG - 100) {
            struct gi_text text = {keyword, "", "", words + LONG - n};
            struct gi_metadata metadata = {0};
            struct gi_err warning = {0};
            if (i == 0)
                metadata.exif = exif, metadata.exif_nbytes = (size_t)n;
            else if (i == 1)
                metadata.xmp = words, metadata.xmp_nbytes = (size_t)n;
            else
                metadata.texts = &text, metadata.ntexts = 1;
            assert_int_equal(gi_save(&image, &metadata, path, &options, &warning, NULL), GI_OK);
            if (!strstr(warning.text, names[i]) == (n == LONG))
                fail_msg("%s of %d bytes: %s", names[i], n, warning.text);
        }
    free(exif);
    free(words);
    gi_image_free(&image);
}

/* Metadata blocks are kept unless they are empty or are profiles for other colour models. */
TEST(blocks)
{
    struct gi_metadata metadata = {0};
    char icc[128] = "";
    gi_metadata_keep(&metadata, &metadata.xmp, &metadata.xmp_nbytes, "one", 0);
    assert_null(metadata.xmp);
    gi_metadata_keep(&metadata, &metadata.xmp, &metadata.xmp_nbytes, "one", 3);
    gi_metadata_keep(&metadata, &metadata.xmp, &metadata.xmp_nbytes, "another", 7);
    assert_int_equal(metadata.xmp_nbytes, 3);
    gi_metadata_fit(&metadata, 1);
    memcpy(icc + 16, "GRAY", 4);
    gi_metadata_keep(&metadata, &metadata.icc, &metadata.icc_nbytes, icc, sizeof icc);
    gi_metadata_fit(&metadata, 1);
    assert_non_null(metadata.icc);
    gi_metadata_fit(&metadata, 3);
    assert_null(metadata.icc);
    gi_metadata_keep(&metadata, &metadata.icc, &metadata.icc_nbytes, icc, sizeof icc - 1);
    gi_metadata_fit(&metadata, 1);
    assert_null(metadata.icc);
    gi_metadata_free(&metadata);
    struct gi_err err;
    assert_int_equal(gi_save_check_orientation("a.ppm", NULL, &err), GI_E_USAGE);
    assert_int_equal(gi_save_check_orientation("a.tif", NULL, &err), GI_OK);
    assert_int_equal(gi_save_check_orientation("a", NULL, &err), GI_E_USAGE);
    assert_int_equal(gi_save_check_orientation("a.png", NULL, &err), GI_OK);
}

/* An image without EXIF is written with the requested orientation. Its samples are unchanged. */
TEST(orientations)
{
    struct gi_image image = random_image(5, 3, 3, GI_U8, 1), back;
    for (int o = 1; o <= 8; o++) {
        const struct gi_save_options options = {.format = "png", .orientation = o};
        struct gi_file_info info;
        struct gi_metadata none = {0};
        assert_int_equal(gi_save(&image, o % 2 ? &none : NULL, path, &options, NULL, NULL), GI_OK);
        assert_int_equal(gi_load(&back, NULL, &info, path, &strictly, NULL, NULL), GI_OK);
        assert_int_equal(info.orientation, o);
        assert_same_image(&image, &back);
        gi_image_free(&back);
    }
    gi_image_free(&image);
}

/* JFIF's density is a number per direction, which is per inch, per centimetre or without a unit
 * (JFIF 1.02). */
TEST(densities)
{
    static const struct {
        unsigned char unit, x, y;
        double dpi; /* or the number alone, without a unit */
    } cases[] = {{0, 1, 1, 0},     {0, 5, 5, 5},  {1, 72, 72, 72}, {2, 100, 100, 254},
                 {3, 100, 100, 0}, {1, 0, 72, 0}, {1, 72, 0, 0}};
    struct gi_image image = random_image(5, 3, 3, GI_U8, 1), back;
    const struct gi_save_options options = {.format = "jpeg", .quality = 90};
    void *made;
    size_t n;
    assert_int_equal(gi_save_memory(&made, &n, &image, NULL, "x", &options, NULL, NULL), GI_OK);
    unsigned char *jpeg = made;
    assert_memory_equal(jpeg + 6, "JFIF", 5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gi_metadata metadata;
        jpeg[13] = cases[i].unit;
        jpeg[15] = cases[i].x;
        jpeg[17] = cases[i].y;
        assert_int_equal(
            gi_load_memory(&back, &metadata, NULL, jpeg, n, "x", &strictly, NULL, NULL), GI_OK);
        if (metadata.dpi_x != cases[i].dpi || metadata.dpi_y != cases[i].dpi)
            fail_msg("case %zu: %g x %g", i, metadata.dpi_x, metadata.dpi_y);
        assert_int_equal(metadata.no_unit, cases[i].unit == 0 && cases[i].dpi > 0);
        gi_metadata_free(&metadata);
        gi_image_free(&back);
    }
    assert_int_not_equal(gi_load_memory(&back, NULL, NULL, jpeg, 40, "x", &strictly, NULL, NULL),
                         GI_OK);
    free(made);
    gi_image_free(&image);
}

struct asked {
    int by, width, height;
};

static void told(void *arg, const struct gi_image *shape)
{
}

static int shrink(void *arg, const struct gi_image *picture)
{
    struct asked *asked = arg;
    asked->width = picture->width;
    asked->height = picture->height;
    return asked->by;
}

/* A caller that asks for a smaller image gets the size of the upright image in whole pixels. */
TEST(smaller)
{
    struct gi_image image = random_image(64, 48, 3, GI_U8, 1), back;
    for (int o = 1; o <= 8; o += 5) /* upright, or rotated by 90 degrees */
        for (int by = 1; by <= 2; by++)
            for (int how = 0; how < 3; how++) {
                const struct gi_save_options save = {
                    .format = "jpeg", .quality = 90, .orientation = o};
                struct asked asked = {.by = by};
                const struct gi_shape_listener listener = {told, &asked, shrink, NULL, NULL};
                struct gi_load_options options = strictly;
                options.listener = &listener;
                options.linear = how == 1;
                options.header_only = how == 2;
                assert_int_equal(gi_save(&image, NULL, path, &save, NULL, NULL), GI_OK);
                assert_int_equal(gi_load(&back, NULL, NULL, path, &options, NULL, NULL), GI_OK);
                assert_int_equal(asked.width, how ? 0 : 64);
                assert_int_equal(asked.height, how ? 0 : 48);
                assert_int_equal(back.width, how || by == 1 ? 64 : 32);
                assert_int_equal(back.height, how || by == 1 ? 48 : 24);
                gi_image_free(&back);
            }
    gi_image_free(&image);
}

/* If a format can't hold a side of an image, the error says whether the image is too wide or too
 * high. */
TEST(sides)
{
    const struct gi_format_info *format;
    for (int f = 0; (format = gi_format_at(f)); f++)
        for (int high = 0; high < 2; high++) {
            struct gi_image image, back;
            struct gi_err err = {0}, warning;
            const struct gi_save_options options = {.format = format->name, .quality = 90};
            assert_int_equal(
                gi_image_alloc(&image, high ? 1 : 66000, high ? 66000 : 1, 1, GI_U8, NULL), GI_OK);
            memset(image.data, 0, image.stride * (size_t)image.height);
            if (gi_save(&image, NULL, path, &options, &warning, &err)) {
                assert_true(strstr(err.text, "66000") || err.status == GI_E_USAGE);
            } else if (format->reads) {
                assert_int_equal(gi_load(&back, NULL, NULL, path, &strictly, NULL, NULL), GI_OK);
                assert_int_equal(back.width, image.width);
                assert_int_equal(back.height, image.height);
                gi_image_free(&back);
            }
            gi_image_free(&image);
        }
}

static bool stops(void)
{
    return true;
}

/* Tests sources: more mapped files than there are guards against truncation, files over the limit,
 * and a wait for a pipe that a signal interrupts.
 * Sources: more mapped files than there are guards against truncation, files over the limit, and
 * waiting for a pipe when a signal interrupts it. */
TEST(sources)
{
    enum { MANY = 70, NBYTES = 1 << 20 };
    static struct gi_source open[MANY];
    char *bytes = calloc(1, NBYTES);
    struct gi_err err;
    const struct gi_load_options small = {.limits = {GI_DEFAULT_MAX_PIXELS, 1000}};
    assert_non_null(bytes);
    bytes[NBYTES - 1] = 'x';
    write_file(path, bytes, NBYTES);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(gi_source_open(&open[i], path, &strictly, NULL, NULL), GI_OK);
        assert_true(open[i].nbytes == NBYTES && open[i].bytes[NBYTES - 1] == 'x');
    }
    assert_true(open[0].guard >= 0 && open[MANY - 1].guard < 0);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(gi_source_close(&open[i], NULL), GI_OK);
    write_file(path, bytes, 1001);
    assert_int_equal(gi_source_open(&open[0], path, &small, NULL, &err), GI_E_LIMIT);
    free(bytes);
    int ends[2], standard = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    gi_input_heed(stops);
    assert_int_not_equal(gi_source_open(&open[0], "-", &strictly, NULL, &err), GI_OK);
    gi_input_heed(NULL);
    assert_int_equal(write(ends[1], "some", 4), 4);
    close(ends[1]);
    assert_int_equal(gi_source_open(&open[0], "-", &strictly, NULL, &err), GI_OK);
    assert_int_equal(open[0].nbytes, 4);
    assert_int_equal(gi_source_close(&open[0], NULL), GI_OK);
    dup2(standard, STDIN_FILENO);
    close(standard);
    close(ends[0]);
    struct gi_reader *reader;
    assert_int_equal(gi_reader_open(&reader, "/", &err), GI_E_IO);
}

/* Reads the rest of an input whose header has been read before. */
TEST(ahead)
{
    static const char text[] = "P5 2 2 255\nabcd";
    for (int limit = 0; limit < 2; limit++)
        for (size_t taken = 0; taken < sizeof text; taken++) {
            struct gi_ahead from = {0};
            struct gi_load_options options = strictly;
            struct gi_image image;
            struct gi_err err = {0};
            options.ahead = &from;
            options.limits.max_bytes = limit ? 10 : options.limits.max_bytes;
            write_file(path, text + taken, sizeof text - 1 - taken);
            assert_int_equal(gi_buffer_append(&from.bytes, text, taken, NULL), GI_OK);
            assert_int_equal(gi_reader_open(&from.reader, path, NULL), GI_OK);
            enum gi_status status = gi_load(&image, NULL, NULL, path, &options, NULL, &err);
            assert_int_equal(status, limit ? GI_E_LIMIT : GI_OK);
            assert_null(from.reader);
            if (!status)
                assert_memory_equal(image.data, "ab", 2);
            gi_image_free(&image);
        }
    struct gi_ahead from = {0};
    struct gi_source source;
    struct gi_err err;
    write_file(path, "", 0);
    assert_int_equal(gi_reader_open(&from.reader, path, NULL), GI_OK);
    assert_int_equal(gi_source_continue(&source, &from, &strictly, NULL, &err), GI_E_FORMAT);
}

TEST_PATH(path, "file")
