/* PNG files are read as libpng's simplified interface reads them, and libpng's reader reads the
 * files that we write.
 * Sources: imgio/png
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include <libdeflate.h>
#include <png.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "imgio/png/png_filter.h"
#include "imgio/png/png_quick.h"

/* Returns the 8-bit samples that libpng's simplified interface gives. Files of 16 bits (`wide`) are
 * read by read_wide() instead, because the interface makes 16-bit samples linear and
 * premultiplied. */
static struct gi_image read_simplified(const char *path, int channels)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&png, path))
        fail_msg("%s: %s", path, png.message);
    static const png_uint_32 formats[] = {0, PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB,
                                          PNG_FORMAT_RGBA};
    png.format = formats[channels];
    struct gi_image image;
    assert_int_equal(gi_image_alloc(&image, (int)png.width, (int)png.height, channels, GI_U8, NULL),
                     GI_OK);
    assert_true(png_image_finish_read(&png, NULL, image.data, (png_int_32)image.stride, NULL));
    return image;
}

/* Returns the 16-bit samples that png_read_png() gives in big-endian rows. */
static struct gi_image read_wide(const char *path)
{
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    png_init_io(png, file);
    png_read_png(png, info, PNG_TRANSFORM_EXPAND, NULL);
    assert_int_equal(png_get_bit_depth(png, info), 16);
    png_bytepp rows = png_get_rows(png, info);
    struct gi_image image;
    assert_int_equal(gi_image_alloc(&image, (int)png_get_image_width(png, info),
                                    (int)png_get_image_height(png, info),
                                    png_get_channels(png, info), GI_U16, NULL),
                     GI_OK);
    for (int y = 0; y < image.height; y++)
        for (size_t i = 0; i < gi_row_samples(&image); i++)
            ((uint16_t *)gi_row(&image, y))[i] =
                (uint16_t)(rows[y][2 * i] << 8 | rows[y][2 * i + 1]);
    png_destroy_read_struct(&png, &info, NULL);
    fclose(file);
    return image;
}

/* Returns whether the file has a gAMA chunk, which makes libpng's simplified interface change
 * samples. */
static bool has_gamma(struct bytes file)
{
    return memmem(file.at, file.n, "gAMA", 4) != NULL;
}

/* Writes the file to `path`, without its gAMA chunk. */
static void write_without_gamma(const char *path, struct bytes file)
{
    unsigned char *type = memmem(file.at, file.n, "gAMA", 4);
    size_t at = (size_t)(type - 4 - file.at), chunk = 4 + 4 + 4 + 4;
    memmove(file.at + at, file.at + at + chunk, file.n - at - chunk);
    write_file(path, file.at, file.n - chunk);
}

static void compare_with_libpng(const char *path, const char *scratch)
{
    struct gi_image image = load_or_fail(path), oracle;
    struct bytes file = read_file(path);
    const char *source = path;
    if (image.type == GI_U8 && has_gamma(file)) {
        write_without_gamma(scratch, file);
        source = scratch;
    }
    oracle = image.type == GI_U16 ? read_wide(path) : read_simplified(source, image.channels);
    assert_same_image(&image, &oracle);
    free(file.at);
    gi_image_free(&oracle);
    gi_image_free(&image);
}

/* Checks the channels and the type against the name of a PngSuite file, such as "basn3p04" or
 * "tbbn2c16". */
static void check_suite_shape(const char *name, const struct gi_image *image)
{
    int color = name[4] - '0', bits = atoi(name + 6);
    bool trns = name[0] == 't' && name[1] != 'p';
    int channels = color == 0 ? 1 : color == 4 ? 2 : color == 6 ? 4 : 3;
    if (color != 3)
        assert_int_equal(image->channels, channels + trns);
    else
        assert_true(image->channels == 3 || image->channels == 4);
    assert_int_equal(image->type, bits == 16 ? GI_U16 : GI_U8);
}

TEST(suite)
{
    DIR *dir = opendir(in_corpus("pngsuite", ""));
    assert_non_null(dir);
    int good = 0, refused = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t n = strlen(entry->d_name);
        if (n < 5 || strcmp(entry->d_name + n - 4, ".png") != 0)
            continue;
        const char *path = in_corpus("pngsuite", entry->d_name);
        struct gi_image image;
        struct gi_err err = {0};
        if (entry->d_name[0] == 'x') {
            assert_int_equal(gi_load(&image, NULL, NULL, path, &strictly, NULL, &err), GI_E_FORMAT);
            assert_true(strncmp(err.text, path, strlen(path)) == 0);
            refused++;
            continue;
        }
        compare_with_libpng(path, in_folder("plain.png"));
        if (entry->d_name[0] != 'P') {
            image = load_or_fail(path);
            check_suite_shape(entry->d_name, &image);
            gi_image_free(&image);
        }
        good++;
    }
    closedir(dir);
    assert_int_equal(good, 162);
    assert_int_equal(refused, 14);
}

TEST(gray_with_transparency)
{
    struct gi_image image = load_or_fail(in_corpus("pngsuite", "tbbn0g04.png"));
    assert_int_equal(image.channels, 2);
    bool clear = false, opaque = false;
    for (int y = 0; y < image.height; y++)
        for (int x = 0; x < image.width; x++) {
            uint8_t alpha = ((uint8_t *)gi_row(&image, y))[2 * x + 1];
            clear |= alpha == 0;
            opaque |= alpha == 255;
        }
    assert_true(clear && opaque);
    gi_image_free(&image);
}

/* An image of every channel count and type, written at every level, is read back unchanged by our
 * reader and by libpng. */
TEST(round_trip)
{
    static const int sizes[][2] = {{1, 1}, {1, 17}, {17, 1}, {67, 5}, {257, 129}};
    static const int levels[] = {0, 1, 3, 6, 9, GI_COMPRESSION_AUTO};
    const char *path = in_folder("a.png");
    for (int channels = 1; channels <= 4; channels++)
        for (int type = GI_U8; type <= GI_U16; type++)
            for (int i = 0; i < 30; i++) {
                struct gi_save_options options = {.compression = levels[i / 5]};
                struct gi_image image =
                    random_image(sizes[i % 5][0], sizes[i % 5][1], channels, (enum gi_type)type, 7);
                struct gi_err err = {0}, warning = {0};
                if (gi_save(&image, NULL, path, &options, &warning, &err))
                    fail_msg("%s", err.text);
                assert_int_equal(warning.status, GI_OK);
                struct gi_image back = load_or_fail(path);
                assert_same_image(&image, &back);
                struct gi_image oracle =
                    type == GI_U16 ? read_wide(path) : read_simplified(path, channels);
                assert_same_image(&image, &oracle);
                gi_image_free(&oracle);
                gi_image_free(&back);
                gi_image_free(&image);
            }
    assert_int_equal(count_files(folder), 1);
}

/* Writes an image of several strips, with gaps between its rows, stored and deflated. */
TEST(strips)
{
    const char *path = in_folder("a.png");
    struct gi_image whole = random_image(1500, 2100, 3, GI_U8, 11);
    struct gi_image view = gi_image_rows(&whole, 3, 2099);
    view.width = 1490;
    static const int levels[] = {0, 3, 9, GI_COMPRESSION_AUTO};
    for (int i = 0; i < 4; i++) {
        save_or_fail(&view, path, (struct gi_save_options){.compression = levels[i]});
        struct gi_image back = load_or_fail(path), oracle = read_simplified(path, 3);
        assert_same_image(&view, &back);
        assert_same_image(&view, &oracle);
        gi_image_free(&back);
        gi_image_free(&oracle);
    }
    gi_image_free(&whole);
}

TEST(metadata)
{
    const char *path = in_folder("a.png");
    unsigned char icc[600] = {0}, exif[] = "II*\0\x08\0\0\0\0\0\0\0\0\0";
    icc[2] = 600 >> 8, icc[3] = 600 & 255, icc[8] = 4;
    for (size_t i = 132; i < sizeof icc;
         /* Fill the profile with noise, because libpng refuses a profile that compresses to 80
          * bytes. */
         i++)
        icc[i] = (unsigned char)(i * i * i >> 5);
    memcpy(icc + 12, "mntrRGB XYZ ", 12);
    memcpy(icc + 36, "acsp", 4);
    struct gi_metadata in = {.icc = icc,
                             .icc_nbytes = sizeof icc,
                             .exif = exif,
                             .exif_nbytes = sizeof exif,
                             .dpi_x = 300,
                             .dpi_y = 150},
                       out;
    struct gi_image image = random_image(20, 10, 3, GI_U8, 3), back;
    struct gi_save_options options = {.compression = 1};
    struct gi_file_info info;
    struct gi_err warning;
    assert_int_equal(gi_save(&image, &in, path, &options, &warning, NULL), GI_OK);
    assert_int_equal(warning.status, GI_OK);
    assert_int_equal(gi_load(&back, &out, &info, path, &strictly, NULL, NULL), GI_OK);
    assert_int_equal(out.exif_nbytes, sizeof exif);
    assert_memory_equal(out.exif, exif, sizeof exif);
    assert_true(out.dpi_x > 299.9 && out.dpi_x < 300.1 && out.dpi_y > 149.9 && out.dpi_y < 150.1);
    assert_string_equal(info.format, "png");
    assert_int_equal(info.bits, 8);
    assert_int_equal(out.icc_nbytes, sizeof icc);
    assert_memory_equal(out.icc, icc, sizeof icc);
    gi_metadata_free(&out);
    gi_image_free(&back);
    gi_image_free(&image);
}

/* The Paeth predictor (PNG 1.2, 6.6). */
static int paeth(int left, int up, int corner)
{
    int guess = left + up - corner;
    int a = abs(guess - left), b = abs(guess - up), c = abs(guess - corner);
    return a <= b && a <= c ? left : b <= c ? up : corner;
}

/* Filters a row by the formulas of the PNG standard. */
static void filter_by_paper(uint8_t *packed, const uint8_t *row, const uint8_t *above, size_t n,
                            size_t bpp, int kind)
{
    for (size_t i = 0; i < n; i++) {
        int left = i < bpp ? 0 : row[i - bpp], corner = i < bpp ? 0 : above[i - bpp];
        int guesses[] = {0, left, above[i], (left + above[i]) / 2, paeth(left, above[i], corner)};
        packed[i] = (uint8_t)(row[i] - guesses[kind]);
    }
}

/* The writer's choice among the filters is the one with the minimum sum of absolute values, and the
 * filters are those of the PNG standard, with vectors of every width. */
TEST(filter)
{
    uint64_t seed = 78;
    for (size_t bpp = 1; bpp <= 8; bpp++)
        for (size_t pixels = 1; pixels < 120; pixels += 1 + pixels / 16)
            for (int content = 0; content < 6; content++) {
                size_t n = bpp * pixels;
                uint8_t *rows = malloc(2 * n), *want = malloc(n + 1), *by = malloc(n);
                for (size_t i = 0; i < 2 * n; i++)
                    rows[i] =
                        (uint8_t)(next_random(&seed) % (content % 3 ? 1 + 20 * content : 256) +
                                  (content > 3 ? 5 * (i / bpp) : 0));
                long least = LONG_MAX;
                for (int kind = 4; kind >= 0; kind--) {
                    long sum = 0;
                    filter_by_paper(by, rows + n, rows, n, bpp, kind);
                    for (size_t i = 0; i < n; i++)
                        sum += abs((int8_t)by[i]);
                    if (sum >= least)
                        continue;
                    least = sum;
                    want[0] = (uint8_t)kind;
                    memcpy(want + 1, by, n);
                }
                for (int avx2 = 0; avx2 <= gi_png_has_avx2(); avx2++) {
                    uint8_t *got = malloc(n + 1);
                    gi_png_filter_row(got, rows + n, rows, n, bpp, avx2);
                    assert_memory_equal(got, want, n + 1);
                    free(got);
                }
                free(rows);
                free(want);
                free(by);
            }
}

/* This test applies PNG's filters, and our reader undoes them. Tests every pixel size, short rows,
 * and every pair of filters in two successive rows. */
TEST(unfilter)
{
    enum { ROWS = 4, PAIRS = 25 };
    uint64_t seed = 77;
    for (size_t bpp = 1; bpp <= 8; bpp++)
        for (size_t pixels = 1; pixels < 24; pixels++)
            for (int pair = 0; pair < PAIRS; pair++) {
                size_t n = bpp * pixels, stride = n + 5;
                uint8_t *rows = malloc((ROWS + 1) * n), *packed = malloc(ROWS * (n + 1)),
                        *out = calloc(ROWS, stride);
                for (size_t i = 0; i < (ROWS + 1) * n; i++)
                    rows[i] = (uint8_t)(next_random(&seed) % (pair % 2 ? 9 : 256));
                for (size_t y = 0; y < ROWS; y++) {
                    int kind = y % 2 ? pair / 5 : pair % 5;
                    packed[y * (n + 1)] = (uint8_t)kind;
                    filter_by_paper(packed + y * (n + 1) + 1, rows + (y + 1) * n, rows + y * n, n,
                                    bpp, kind);
                }
                assert_true(gi_png_unfilter(out, stride, packed, ROWS, n, bpp, rows));
                for (size_t y = 0; y < ROWS; y++) {
                    assert_memory_equal(out + y * stride, rows + (y + 1) * n, n);
                    assert_memory_equal(out + y * stride + n, "\0\0\0\0", 5);
                }
                packed[n + 1] = 5;
                assert_false(gi_png_unfilter(out, stride, packed, ROWS, n, bpp, rows));
                free(rows);
                free(packed);
                free(out);
            }
}

/* Fills a row of pixels so that each pair of bytes occurs in successive pixels of each channel (a
 * sequence of de Bruijn). */
static void put_all_pairs(uint8_t *row, size_t bpp)
{
    size_t at = 0;
    for (int i = 0; i < 256; i++) {
        memset(row + at++ * bpp, i, bpp);
        for (int k = i + 1; k < 256; k++) {
            memset(row + at++ * bpp, i, bpp);
            memset(row + at++ * bpp, k, bpp);
        }
    }
}

/* Paeth's choice among all values of the three neighbours. The row above has all pairs, and the
 * four channels of the row have a constant each. */
TEST(unfilter_paeth)
{
    enum { BPP = 4, PIXELS = 256 * 256 + 1, N = BPP * PIXELS };
    uint8_t *above = calloc(1, N), *row = malloc(N), *packed = malloc(N + 1), *out = malloc(N);
    put_all_pairs(above, BPP); /* the last pixel is 0 as the first one */
    packed[0] = GI_PNG_PAETH;
    for (int a = 0; a < 256 / BPP; a++) {
        for (size_t i = 0; i < N; i++)
            row[i] = (uint8_t)(a + (int)(i % BPP) * (256 / BPP));
        filter_by_paper(packed + 1, row, above, N, BPP, GI_PNG_PAETH);
        assert_true(gi_png_unfilter(out, N, packed, 1, N, BPP, above));
        assert_memory_equal(out, row, N);
    }
    free(above);
    free(row);
    free(packed);
    free(out);
}

/* Returns a small PNG that we have written. */
static const struct gi_png_frame small_frame = {
    .width = 9, .height = 7, .channels = 3, .type = GI_U8};

static struct bytes small_png(void)
{
    const char *path = in_folder("a.png");
    struct gi_image image = random_image(9, 7, 3, GI_U8, 5);
    save_or_fail(&image, path, (struct gi_save_options){.compression = 6});
    gi_image_free(&image);
    return read_file(path);
}

TEST(damage)
{
    struct bytes file = small_png();
    check_truncations(file, file.n);
    /* A checksum covers every byte, so that each change of a single byte must be detected. */
    for (size_t i = 0; i < file.n; i++) {
        file.at[i] ^= 0x10;
        assert_refused(file.at, file.n, GI_E_FORMAT, "");
        file.at[i] ^= 0x10;
    }
    check_flips(file, 3000, 17);
    free(file.at);
}

/* The fast decoder accepts the files that it is made for, including files with text after the
 * pixels, and leaves all other files to libpng. */
TEST(quick_way)
{
    static const unsigned char text[] = "\0\0\0\3tEXta\0b\x18\x32\x05\x1c";
    struct bytes file = small_png();
    struct gi_image image = random_image(9, 7, 3, GI_U8, 1), want = random_image(9, 7, 3, GI_U8, 5);
    size_t at = (size_t)((unsigned char *)memmem(file.at, file.n, "IDAT", 4) - file.at) + 4;
    assert_true(gi_png_quick(&image, file.at, file.n, at, &small_frame));
    assert_same_image(&image, &want);
    unsigned char *longer = malloc(file.n + 15);
    memcpy(longer, file.at, file.n - 12);
    memcpy(longer + file.n - 12, text, 15);
    uint32_t crc = libdeflate_crc32(0, text + 4, 7);
    for (int b = 0; b < 4; b++)
        longer[file.n - 12 + 11 + (size_t)b] = (unsigned char)(crc >> (24 - 8 * b));
    memcpy(longer + file.n + 3, file.at + file.n - 12, 12);
    assert_true(gi_png_quick(&image, longer, file.n + 15, at, &small_frame));
    longer[file.n + 2] ^= 1; /* the text's checksum */
    assert_false(gi_png_quick(&image, longer, file.n + 15, at, &small_frame));
    for (size_t n = at; n < file.n; n++)
        assert_false(gi_png_quick(&image, file.at, n, at, &small_frame));
    for (size_t i = at; i < file.n; i++) {
        file.at[i] ^= 4;
        assert_false(gi_png_quick(&image, file.at, file.n, at, &small_frame));
        file.at[i] ^= 4;
    }
    gi_image_free(&image);
    gi_image_free(&want);
    free(longer);
    free(file.at);
}

/* From a file that is cut within its pixels, the first rows are read and the others are zeros. */
TEST(partial)
{
    const char *path = in_corpus("kodak", "1.png");
    struct bytes file = read_file(path);
    struct gi_image whole = load_or_fail(path), part;
    struct gi_err err, warning;
    assert_refused(file.at, file.n / 2, GI_E_FORMAT, "");
    assert_int_equal(load_bytes(&part, file.at, file.n / 2, &partially, &warning, &err), GI_OK);
    assert_int_equal(warning.status, GI_E_FORMAT);
    assert_memory_equal(part.data, whole.data, whole.stride * 100);
    static const unsigned char zeros[64];
    assert_memory_equal(gi_row(&part, part.height - 1), zeros, sizeof zeros);
    gi_image_free(&part);
    gi_image_free(&whole);
    free(file.at);
}

/* A file of a few bytes that declares gigabytes is refused before anything is allocated, even
 * libpng's own row buffers, so that an address space of 1 GiB suffices. (Under AddressSanitizer,
 * which needs more, the limit is not set.) */
TEST(bombs)
{
    static const uint32_t shapes[][2] = {
        {0x7fffffff, 1}, {1, 0x7fffffff}, {0x7fffffff, 0x7fffffff}, {600000000, 1}, {65536, 65536}};
    struct bytes file = small_png();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
#ifndef __SANITIZE_ADDRESS__
        struct rlimit limit = {1 << 30, 1 << 30};
        setrlimit(RLIMIT_AS, &limit);
#endif
        int wrong = 0;
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
            for (int b = 0; b < 4; b++) {
                file.at[16 + b] = (unsigned char)(shapes[i][0] >> (24 - 8 * b));
                file.at[20 + b] = (unsigned char)(shapes[i][1] >> (24 - 8 * b));
            }
            uint32_t crc = libdeflate_crc32(0, file.at + 12, 17);
            for (int b = 0; b < 4; b++)
                file.at[29 + b] = (unsigned char)(crc >> (24 - 8 * b));
            struct gi_load_options options = {.limits = {1 << 24, 1 << 30}, .allow_partial = i % 2};
            struct gi_image image;
            struct gi_err err;
            wrong += gi_load_memory(&image, NULL, NULL, file.at, file.n, "bomb", &options, NULL,
                                    &err) != GI_E_LIMIT ||
                     !strstr(err.text, "--max-pixels");
        }
        _exit(wrong);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    free(file.at);
}

TEST_FRAME(.before = setup, .after = teardown)
