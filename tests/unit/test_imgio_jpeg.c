/* Reads JPEG files, for which djpeg is the oracle, and CMYK files and damaged files, which are made
 * here.
 * Sources: imgio/jpeg/jpeg*
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include "imgio/metadata/exif.h"
#include "jpeg_cases.h"

/* Parses a raw 8-bit PGM or PPM, as djpeg writes it. */
static struct gi_image parse_djpeg(struct bytes pnm)
{
    int kind, width, height, used;
    assert_true(pnm.n > 11);
    assert_int_equal(sscanf((char *)pnm.at, "P%d %d %d 255%n", &kind, &width, &height, &used), 3);
    struct gi_image image;
    assert_int_equal(gi_image_alloc(&image, width, height, kind == 6 ? 3 : 1, GI_U8, NULL), GI_OK);
    size_t row = gi_row_nbytes(&image);
    assert_int_equal(pnm.n, (size_t)used + 1 + row * (size_t)height);
    for (int y = 0; y < height; y++)
        memcpy(gi_row(&image, y), pnm.at + used + 1 + (size_t)y * row, row);
    free(pnm.at);
    return image;
}

TEST(as_djpeg)
{
    static const char *const names[] = {"testorig.jpg", "testimgint.jpg", "testimgari.jpg"};
    need_programs("djpeg");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *path = in_corpus("jpeg/libjpeg-turbo", names[i]);
        struct gi_image image = load_or_fail(path);
        struct gi_image oracle = parse_djpeg(run_command("djpeg '%s'", path));
        assert_same_image(&image, &oracle);
        gi_image_free(&oracle);
        gi_image_free(&image);
    }
    struct bytes file = read_file(in_corpus("jpeg/libjpeg-turbo", "monkey12.jpg"));
    assert_refused(file.at, file.n, GI_E_UNSUPPORTED, "12 bits");
    free(file.at);
}

TEST(made_as_djpeg)
{
    need_programs("djpeg");
    const char *path = in_folder("a.jpg");
    for (size_t i = 0; i < JPEG_RECIPES; i++) {
        struct gi_image source = random_image(jpeg_recipes[i].width, jpeg_recipes[i].height,
                                              jpeg_recipes[i].channels, GI_U8, i);
        struct bytes file = jpeg_make(&source, &jpeg_recipes[i], 95);
        write_file(path, file.at, file.n);
        struct gi_image image;
        struct gi_file_info info;
        assert_int_equal(gi_load(&image, NULL, &info, path, &strictly, NULL, NULL), GI_OK);
        assert_int_equal(strstr(info.detail, "CMYK") != NULL, jpeg_recipes[i].channels == 4);
        assert_int_equal(strstr(info.detail, "arithmetic") != NULL, jpeg_recipes[i].arithmetic);
        struct gi_image oracle = parse_djpeg(run_command("djpeg '%s'", path));
        assert_int_equal(image.channels, jpeg_recipes[i].channels == 1 ? 1 : 3);
        if (jpeg_recipes[i].channels < 4) {
            assert_same_image(&image, &oracle);
        } else { /* djpeg converts CMYK by another formula, so samples may differ by 1 */
            for (int y = 0; y < image.height; y++)
                for (size_t x = 0; x < gi_row_samples(&image); x++)
                    assert_in_range(((uint8_t *)gi_row(&image, y))[x] -
                                        ((uint8_t *)gi_row(&oracle, y))[x] + 1,
                                    0, 2);
        }
        gi_image_free(&oracle);
        gi_image_free(&image);
        gi_image_free(&source);
        free(file.at);
    }
}

/* Inks are stored inverted, with Adobe's marker or without, as OpenCV, libvips and Pillow agree. No
 * ink is white, and full black is black. */
TEST(plain_cmyk)
{
    static const uint8_t inks[4][4] = {
        {0, 0, 0, 0}, {0, 0, 0, 255}, {255, 0, 0, 0}, {0, 255, 255, 0}};
    static const uint8_t want[4][3] = {{255, 255, 255}, {0, 0, 0}, {0, 255, 255}, {255, 0, 0}};
    for (int adobe = 0; adobe < 2; adobe++)
        for (int i = 0; i < 4; i++) {
            struct gi_image source;
            assert_int_equal(gi_image_alloc(&source, 8, 8, 4, GI_U8, NULL), GI_OK);
            for (int y = 0; y < 8; y++)
                for (int x = 0; x < 32; x++)
                    ((uint8_t *)gi_row(&source, y))[x] = (uint8_t)(255 - inks[i][x % 4]);
            struct bytes file = jpeg_make(
                &source, &(struct jpeg_recipe){8, 8, 4, false, adobe, JCS_CMYK, 1, false}, 95);
            struct gi_image image = decode_or_fail(file.at, file.n);
            for (int c = 0; c < 3; c++)
                assert_in_range(((uint8_t *)image.data)[c] + 2, want[i][c], want[i][c] + 4);
            gi_image_free(&image);
            gi_image_free(&source);
            free(file.at);
        }
}

/* Returns the mean absolute difference of the samples, or 1000 if the shapes differ. */
static double mean_difference(const struct gi_image *a, const struct gi_image *b)
{
    if (a->width != b->width || a->height != b->height || a->channels != b->channels)
        return 1000;
    double sum = 0;
    for (int y = 0; y < a->height; y++)
        for (size_t i = 0; i < gi_row_samples(a); i++)
            sum += abs(((uint8_t *)gi_row(a, y))[i] - ((uint8_t *)gi_row(b, y))[i]);
    return sum / ((double)gi_row_samples(a) * a->height);
}

TEST(orientations)
{
    for (int shape = 0; shape < 2; shape++) {
        struct gi_image first = {0};
        for (int i = 1; i <= 8; i++) {
            char name[32];
            struct gi_image image;
            struct gi_metadata metadata;
            struct gi_file_info info;
            snprintf(name, sizeof name, "%s_%d.jpg", shape ? "Portrait" : "Landscape", i);
            const char *path = in_corpus("jpeg/exif-orientation", name);
            assert_int_equal(gi_load(&image, &metadata, &info, path, &strictly, NULL, NULL), GI_OK);
            assert_int_equal(info.orientation, i);
            assert_int_equal(gi_exif_orientation(metadata.exif, metadata.exif_nbytes), 1);
            gi_metadata_free(&metadata);
            if (i == 1)
                first = image;
            else
                /* The two files were compressed separately, so their images are similar but not
                 * equal. */
                assert_true(mean_difference(&first, &image) < 6);
            if (i > 1)
                gi_image_free(&image);
        }
        gi_image_free(&first);
    }
}

/* Finds the stored pixel (*sx, *sy) that is displayed at (x, y). The computation follows EXIF's
 * wording, which says on which side row 0 and column 0 are displayed. */
static void stored_at(int *sx, int *sy, int x, int y, int width, int height, int orientation)
{
    bool swap = orientation >= 5;
    int w = swap ? height : width, h = swap ? width : height; /* of the stored image */
    bool row_right_or_bottom =
        orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    bool column_right_or_bottom =
        orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    int along_rows = swap ? x : y, along_columns = swap ? y : x;
    *sy = row_right_or_bottom ? h - 1 - along_rows : along_rows;
    *sx = column_right_or_bottom ? w - 1 - along_columns : along_columns;
}

TEST(turning)
{
    for (int orientation = 1; orientation <= 8; orientation++)
        for (int type = GI_U8; type <= GI_F32; type++) {
            struct gi_image stored = random_image(67, 41, 3, (enum gi_type)type, 23), seen;
            assert_int_equal(gi_image_convert(&seen, &stored, stored.type, NULL), GI_OK);
            assert_int_equal(gi_orientation_apply(&seen, orientation, NULL), GI_OK);
            size_t pixel = 3 * gi_type_nbytes(stored.type);
            assert_int_equal(seen.width, orientation >= 5 ? 41 : 67);
            for (int y = 0; y < seen.height; y++)
                for (int x = 0; x < seen.width; x++) {
                    int sx, sy;
                    stored_at(&sx, &sy, x, y, seen.width, seen.height, orientation);
                    assert_memory_equal((char *)gi_row(&seen, y) + (size_t)x * pixel,
                                        (char *)gi_row(&stored, sy) + (size_t)sx * pixel, pixel);
                }
            gi_image_free(&seen);
            gi_image_free(&stored);
        }
}

TEST(exif_damage)
{
    unsigned char little[] = "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0";
    unsigned char big[] = "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0";
    assert_int_equal(gi_exif_orientation(little, 22), 6);
    assert_int_equal(gi_exif_orientation(big, 22), 8);
    assert_int_equal(gi_exif_orientation(NULL, 0), 1);
    for (size_t n = 0; n < 22; n++) {
        unsigned char *cut = malloc(n + 1);
        memcpy(cut, big, n);
        assert_int_equal(gi_exif_orientation(cut, n), 1);
        free(cut);
    }
    little[18] = 9;
    assert_int_equal(gi_exif_orientation(little, 22), 1);
    gi_exif_reset(little, 22);
    gi_exif_reset(big, 22);
    assert_int_equal(little[18], 1);
    assert_int_equal(big[19], 1);
    memset(little + 4, 0xff, 4); /* the offset of the directory is beyond the block */
    assert_int_equal(gi_exif_orientation(little, 22), 1);
}

/* For any offsets and counts, no byte outside the block is touched, which the sanitizers check. */
TEST(place_damage)
{
    uint32_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        unsigned char block[96] = "II*\0\x08\0\0\0\x02\0\x25\x88\x04\0\x01\0\0\0\x28\0\0\0";
        for (size_t j = 24; j < sizeof block; j++)
            block[j] = (unsigned char)((seed = seed * 1664525 + 1013904223) >> 24) & 63;
        if (i % 3)
            block[8 + (seed >> 8) % 16] = (unsigned char)(seed >> 16);
        if (i % 2)
            block[18] = (unsigned char)(seed >> 24); /* offset of the GPS directory */
        size_t n = 8 + (seed >> 12) % 88;
        unsigned char *exact = malloc(n);
        memcpy(exact, block, n);
        gi_exif_forget_place(exact, n);
        assert_memory_equal(exact, block, 4);
        free(exact);
    }
    gi_exif_forget_place(NULL, 0);
}

TEST(round_trip)
{
    const char *path = in_folder("a.jpg");
    unsigned char exif[] = "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x01\0\0";
    unsigned char *icc = calloc(1, 100000); /* more than one marker segment holds */
    memcpy(icc + 16, "RGB ", 4);
    struct gi_metadata in = {.icc = icc,
                             .icc_nbytes = 100000,
                             .exif = exif,
                             .exif_nbytes = sizeof exif,
                             .dpi_x = 300,
                             .dpi_y = 150},
                       out;
    struct gi_save_options options = {.quality = 95};
    struct gi_image image = random_image(97, 61, 3, GI_U8, 3), back;
    for (int y = 0; y < 61; y++)
        for (int x = 0; x < 97 * 3; x++)
            ((uint8_t *)gi_row(&image, y))[x] = (uint8_t)(x / 3 + 2 * y);
    struct gi_err warning;
    assert_int_equal(gi_save(&image, &in, path, &options, &warning, NULL), GI_OK);
    assert_int_equal(warning.status, GI_OK);
    assert_int_equal(gi_load(&back, &out, NULL, path, &strictly, NULL, NULL), GI_OK);
    assert_true(mean_difference(&image, &back) < 2);
    assert_int_equal(out.icc_nbytes, in.icc_nbytes);
    assert_memory_equal(out.icc, icc, in.icc_nbytes);
    assert_int_equal(out.exif_nbytes, sizeof exif);
    assert_true(out.dpi_x == 300 && out.dpi_y == 150);
    gi_metadata_free(&out);
    gi_image_free(&back);
    gi_image_free(&image);
    free(icc);
    image = random_image(70000, 1, 1, GI_U8, 1);
    struct gi_err err;
    assert_int_equal(gi_save(&image, NULL, path, &options, NULL, &err), GI_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "65500"));
    gi_image_free(&image);
}

/* Returns the number of restart markers, or -1 if one is out of order. Markers count modulo 8. */
static int count_restarts(struct bytes file)
{
    int n = 0;
    for (size_t i = 0; i + 1 < file.n; i++)
        if (file.at[i] == 0xff && file.at[i + 1] >= 0xd0 && file.at[i + 1] <= 0xd7 &&
            file.at[i + 1] != 0xd0 + n++ % 8)
            return -1;
    return n;
}

/* An image that is encoded in strips has the pixels of the file that a single encoder writes. */
TEST(strips)
{
    static const struct {
        int width, height, channels, quality;
        bool cut;
    } cases[] = {
        {1000, 1203, 1, 95, true}, {1000, 1203, 1, 40, true}, {700, 1025, 3, 95, true},
        {700, 1025, 3, 50, true},  {65500, 33, 3, 95, true},  {65500, 40, 3, 50, true},
        {3, 65500, 3, 50, true},   {65500, 203, 1, 90, true}, {200, 200, 3, 90, false},
    };
    const char *path = in_folder("a.jpg"), *plain = in_folder("b.jpg");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gi_image image =
            random_image(cases[i].width, cases[i].height, cases[i].channels, GI_U8, i);
        struct jpeg_recipe recipe = {.space = image.channels == 1 ? JCS_GRAYSCALE : JCS_YCbCr,
                                     .sampling =
                                         image.channels == 3 && cases[i].quality < 90 ? 2 : 1};
        struct bytes want = jpeg_make(&image, &recipe, cases[i].quality);
        write_file(plain, want.at, want.n);
        save_or_fail(&image, path, (struct gi_save_options){.quality = cases[i].quality});
        struct gi_image a = load_or_fail(path), b = load_or_fail(plain);
        assert_same_image(&a, &b);
        struct bytes file = read_file(path);
        int restarts = count_restarts(file);
        assert_true(cases[i].cut ? restarts > 0 : restarts == 0);
        free(file.at);
        free(want.at);
        gi_image_free(&a);
        gi_image_free(&b);
        gi_image_free(&image);
    }
}

TEST(damage)
{
    for (size_t i = 0; i < 8; i++) {
        struct gi_image source = random_image(jpeg_recipes[i].width, jpeg_recipes[i].height,
                                              jpeg_recipes[i].channels, GI_U8, i);
        struct bytes file = jpeg_make(&source, &jpeg_recipes[i], 95);
        check_truncations(file, file.n);
        check_flips(file, 1000, i);
        free(file.at);
        gi_image_free(&source);
    }
}

TEST_FRAME(.first = setup, .last = teardown)
