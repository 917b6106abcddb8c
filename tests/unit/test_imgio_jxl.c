/* JPEG XL that is written without loss is read back unchanged, with its metadata and orientation,
 * and damaged files are errors. Sources: imgio/jxl imgio/bits* imgio/library*
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "imgio_folder.h"

static char path[128];

/* Tests the message of a build without libjxl. */
TEST(left_out)
{
    if (!format_is_built_in("jxl"))
        assert_refused("\xff\x0a\0\0", 4, GI_E_UNSUPPORTED, "libjxl");
}

/* All types and numbers of channels, with the colour of transparent pixels. */
TEST(lossless)
{
    unsigned char exif[] = "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x01\0\0";
    char xmp[] = "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>";
    need_format("jxl");
    for (int i = 0; i < 12; i++) {
        struct gi_image image = random_image(
                            i & 1   ? 300
                            : i < 8 ? 1
                                    : 2,
                            61, 1 + i % 4, (const enum gi_type[]){GI_U8, GI_U16, GI_F32}[i / 4], 3),
                        back;
        struct gi_metadata in = {0}, out;
        if (i & 2)
            in = (struct gi_metadata){
                .exif = exif, .exif_nbytes = sizeof exif, .xmp = xmp, .xmp_nbytes = sizeof xmp - 1};
        struct gi_save_options options = {.quality = 100, .strict = true};
        struct gi_err warning, err = {0};
        if (gi_save(&image, &in, path, &options, &warning, &err))
            fail_msg("%s", err.text);
        assert_int_equal(gi_load(&back, &out, NULL, path, &strictly, &warning, NULL), GI_OK);
        assert_int_equal(warning.status, GI_OK);
        assert_same_image(&image, &back);
        assert_int_equal(out.parts.n, 0);
        assert_int_equal(out.icc_nbytes, 0);
        assert_int_equal(out.exif_nbytes, in.exif_nbytes);
        assert_int_equal(out.xmp_nbytes, in.xmp_nbytes);
        if (in.exif) {
            assert_memory_equal(out.exif, exif, sizeof exif);
            assert_memory_equal(out.xmp, xmp, sizeof xmp - 1);
        }
        gi_metadata_free(&out);
        gi_image_free(&back);
        gi_image_free(&image);
    }
}

/* Floats that libjxl codes only without loss are refused with loss, and others are not. */
TEST(floats)
{
    const struct {
        float sample;
        bool fits;
    } cases[] = {{NAN, false},  {INFINITY, false}, {-INFINITY, false}, {3e38F, false},
                 {1e6F, false}, {-1e6F, false},    {65504, true},      {-65504, true}};
    need_format("jxl");
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        bool alpha = i & 1, fits = cases[i / 2].fits || alpha;
        struct gi_image image = random_image(20, 20, alpha ? 4 : 3, GI_F32, 3), back;
        struct gi_err err = {0};
        *((float *)gi_row(&image, 7) + 3 * image.channels + (alpha ? 3 : 1)) = cases[i / 2].sample;
        for (int quality = 1; quality <= 100; quality += 33) { /* 1, 34, 67, 100 */
            struct gi_save_options options = {.quality = quality};
            enum gi_status want = fits || quality == 100 ? GI_OK : GI_E_UNSUPPORTED;
            assert_int_equal(gi_save(&image, NULL, path, &options, NULL, &err), want);
            if (want)
                assert_non_null(
                    strstr(err.text, " at 3,7: want -65504 to 65504, or --quality 100"));
        }
        assert_int_equal(gi_load(&back, NULL, NULL, path, &strictly, NULL, NULL), GI_OK);
        assert_memory_equal(gi_row(&back, 7), gi_row(&image, 7), gi_row_nbytes(&image));
        gi_image_free(&back);
        gi_image_free(&image);
    }
}

/* The picture is the same for each orientation in which it is stored. */
TEST(orientation)
{
    need_format("jxl");
    struct gi_image image = random_image(33, 20, 3, GI_U8, 4);
    for (int i = 2; i <= 8; i++) {
        struct gi_file_info info;
        struct gi_image back;
        save_or_fail(&image, path, (struct gi_save_options){.quality = 100, .orientation = i});
        assert_int_equal(gi_load(&back, NULL, &info, path, &strictly, NULL, NULL), GI_OK);
        assert_int_equal(info.orientation, i);
        assert_same_image(&image, &back);
        gi_image_free(&back);
    }
    gi_image_free(&image);
}

TEST(damage)
{
    need_format("jxl");
    for (int i = 0; i < 4; i++) {
        struct gi_image image = random_image(9, 7, i & 2 ? 4 : 3, i & 1 ? GI_F32 : GI_U8, 3);
        save_or_fail(&image, path, (struct gi_save_options){.quality = i & 2 ? 100 : 50});
        struct bytes file = read_file(path);
        check_truncations(file, file.n);
        check_flips(file, 300, (uint64_t)i);
        free(file.at);
        gi_image_free(&image);
    }
}

/* The size is checked before anything is decoded. */
TEST(limits)
{
    need_format("jxl");
    struct gi_image image = random_image(64, 48, 3, GI_U8, 3), back;
    struct gi_load_options limited = strictly;
    struct gi_err err;
    save_or_fail(&image, path, (struct gi_save_options){.quality = 50});
    struct bytes file = read_file(path);
    limited.limits.max_pixels = 64 * 48 - 1;
    assert_int_equal(load_bytes(&back, file.at, file.n, &limited, NULL, &err), GI_E_LIMIT);
    assert_non_null(strstr(err.text, "--max-pixels"));
    free(file.at);
    gi_image_free(&image);
    /* A size of 2^30 x 2^30 pixels in the header of a bare codestream (ISO/IEC 18181-1, D.2):
     * div8 = 0, selector 3, 30 bits of height, ratio 0, selector 3, 30 bits of width. */
    const unsigned char huge[16] = {0xff, 0x0a, 0xfe, 0xff, 0xff, 0xff,
                                    0x1f, 0xfe, 0xff, 0xff, 0xff, 0x07};
    struct gi_err warning;
    assert_int_not_equal(load_bytes(&back, huge, sizeof huge, &strictly, &warning, &err), GI_OK);
}

TEST_PATH(path, "a.jxl")
