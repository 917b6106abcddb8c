/* HEIC and AVIF that are written without loss are read back unchanged, avifdec and heif-convert
 * read our files, and we read theirs. Sources: imgio/heif imgio/bits* imgio/boxes* imgio/library*
 * SPDX-License-Identifier: MIT */
#include "imgio/bits.h"
#include "imgio_folder.h"

#ifdef __SANITIZE_ADDRESS__
/* x265's encoder leaks its parameters, and libheif 1.15 leaks data that dav1d refuses. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libx265\nleak:libdav1d\n";
}
#endif

static char path[128];
static const char *const names[] = {"a.heic", "a.avif"};

/* Selects the format of the next file. */
static void name_file(int i)
{
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
}

/* Tests the message of a build without libheif. */
TEST(left_out)
{
    if (!format_is_built_in("avif"))
        assert_refused("\0\0\0\x14"
                       "ftypavif\0\0\0\0mif1",
                       20, GI_E_UNSUPPORTED, "libheif");
}

/* The brands decide; mif1 leaves it to the further brands. Other files of ISO/IEC 14496-12 are not
 * images. */
TEST(brands)
{
    static const struct {
        const char *bytes, *format;
    } cases[] = {
        {"\0\0\0\x14"
         "ftypheic\0\0\0\0mif1",
         "heic"},
        {"\0\0\0\x14"
         "ftyphevc\0\0\0\0msf1",
         "heic"},
        {"\0\0\0\x14"
         "ftypavif\0\0\0\0mif1",
         "avif"},
        {"\0\0\0\x14"
         "ftypavis\0\0\0\0msf1",
         "avif"},
        {"\0\0\0\x14"
         "ftypmif1\0\0\0\0heic",
         "heic"},
        {"\0\0\0\x14"
         "ftypmif1\0\0\0\0avif",
         "avif"},
        {"\0\0\0\x10"
         "ftypmif1\0\0\0\0avif",
         "heic"},
        {"\0\0\0\x14"
         "ftypmp42\0\0\0\0isom",
         NULL},
        {"\0\0\0\x14"
         "ftypcrx \0\0\0\0isom",
         NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gi_format_info *info = gi_format_of(cases[i].bytes, 20);
        if (!cases[i].format)
            assert_null(info);
        else
            assert_string_equal(info->name, cases[i].format);
    }
    if (format_is_built_in("avif"))
        for (int i = 0; i < 7; i++)
            assert_refused(cases[i].bytes, 20, GI_OK, "can't be read");
}

TEST(lossless)
{
    unsigned char icc[200] = {0};
    unsigned char exif[] = "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x01\0\0";
    char xmp[] = "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>";
    need_format("avif");
    for (int i = 0; i < 16; i++) {
        int channels = 1 + i / 2 % 4;
        bool with = i & 8;
        struct gi_image image = random_image(i & 1 ? 97 : 32, 61, channels, GI_U8, 3), back;
        memcpy(icc + 16, channels < 3 ? "GRAY" : "RGB ", 4);
        struct gi_metadata in = {0}, out;
        if (with)
            in = (struct gi_metadata){.icc = icc,
                                      .icc_nbytes = sizeof icc,
                                      .exif = exif,
                                      .exif_nbytes = sizeof exif,
                                      .xmp = xmp,
                                      .xmp_nbytes = sizeof xmp - 1};
        struct gi_save_options options = {.quality = 100, .strict = true};
        struct gi_err warning, err = {0};
        name_file(i & 1);
        if (gi_save(&image, &in, path, &options, &warning, &err))
            fail_msg("%s", err.text);
        assert_int_equal(gi_load(&back, &out, NULL, path, &strictly, &warning, NULL), GI_OK);
        assert_int_equal(warning.status, GI_OK);
        assert_same_image(&image, &back);
        assert_int_equal(out.parts.n, 0);
        assert_int_equal(out.icc_nbytes, in.icc_nbytes);
        assert_int_equal(out.exif_nbytes, in.exif_nbytes);
        assert_int_equal(out.xmp_nbytes, in.xmp_nbytes);
        if (with) {
            assert_memory_equal(out.icc, icc, sizeof icc);
            assert_memory_equal(out.exif, exif, sizeof exif);
            assert_memory_equal(out.xmp, xmp, sizeof xmp - 1);
        }
        gi_metadata_free(&out);
        gi_image_free(&back);
        gi_image_free(&image);
    }
}

/* Images whose samples have 10 (HEIC) or 12 bits are written without loss. The others are rounded
 * to 12 bits, which is named, and an error with --strict. */
TEST(sixteen)
{
    need_format("avif");
    for (int i = 0; i < 16; i++) {
        int bits = (const int[]){10, 12, 16, 12}[i / 2 % 4], channels = i & 8 ? 4 : 3;
        bool exact = bits == 12 || (bits == 10 && !(i & 1));
        struct gi_image image = random_image(33, 40, channels, GI_U16, 3), back;
        for (int y = 0; y < image.height && bits < 16; y++)
            for (size_t k = 0; k < gi_row_samples(&image); k++) {
                uint16_t *row = gi_row(&image, y);
                row[k] =
                    (uint16_t)gi_bits_scale(gi_bits_narrow(row[k], bits), (1u << bits) - 1, 65535);
            }
        struct gi_save_options options = {.quality = 100, .strict = true};
        struct gi_err warning, err = {0};
        struct gi_file_info info;
        name_file(i & 1);
        assert_int_equal(gi_save(&image, NULL, path, &options, &warning, &err),
                         exact ? GI_OK : GI_E_UNSUPPORTED);
        assert_true(exact || strstr(err.text, "16-bit samples (rounded to 12-bit)"));
        options.strict = false;
        assert_int_equal(gi_save(&image, NULL, path, &options, &warning, NULL), GI_OK);
        assert_int_equal(warning.status, exact ? GI_OK : GI_E_UNSUPPORTED);
        assert_int_equal(gi_load(&back, NULL, &info, path, &strictly, NULL, NULL), GI_OK);
        assert_int_equal(info.bits, bits == 10 && exact ? 10 : 12);
        if (exact)
            assert_same_image(&image, &back);
        for (int y = 0; y < image.height; y++)
            for (size_t k = 0; k < gi_row_samples(&image); k++)
                assert_in_range(8 + ((uint16_t *)gi_row(&image, y))[k] -
                                    ((uint16_t *)gi_row(&back, y))[k],
                                0, 16);
        gi_image_free(&back);
        gi_image_free(&image);
    }
}

/* Returns the image in a PNG that a program made of the file. */
static struct gi_image convert_by(const char *command)
{
    char png[160];
    free(run_command(command, path).at);
    snprintf(png, sizeof png, "%s.png", path);
    struct gi_image image = load_or_fail(png);
    assert_int_equal(remove(png), 0);
    return image;
}

/* heif-convert decodes the same pixels, of our files and of heif-enc's. */
TEST(as_heif_convert)
{
    need_format("avif");
    need_programs("heif-convert heif-enc");
    for (int i = 0; i < 12; i++) {
        struct gi_image image = random_image(97, 61, i & 2 ? 4 : 3, GI_U8, 3);
        name_file(i & 1);
        save_or_fail(&image, path, (struct gi_save_options){.quality = i & 4 ? 95 : 70});
        gi_image_free(&image);
        if (i & 8) {
            image = load_or_fail(path);
            save_or_fail(&image, path, (struct gi_save_options){.quality = 90, .format = "png"});
            gi_image_free(&image);
            struct bytes png = read_file(path);
            char other[160];
            snprintf(other, sizeof other, "%s.in.png", path);
            write_file(other, png.at, png.n);
            free(png.at);
            free(run_command(i & 1 ? "heif-enc -A '%s.in.png' -o '%1$s'"
                                   : "heif-enc '%s.in.png' -o '%1$s'",
                             path)
                     .at);
        }
        struct gi_image read = load_or_fail(path);
        struct gi_image oracle = convert_by("heif-convert '%s' '%1$s.png'");
        assert_same_image(&read, &oracle);
        gi_image_free(&oracle);
        gi_image_free(&read);
    }
}

/* avifdec, which has another decoder of the container, reads our files without loss unchanged. */
TEST(as_avifdec)
{
    need_format("avif");
    need_programs("avifdec");
    name_file(1);
    for (int channels = 1; channels <= 4; channels++) {
        if (channels == 2) /* avifdec writes RGB with alpha */
            continue;
        struct gi_image image = random_image(97, 61, channels, GI_U8, 3);
        save_or_fail(&image, path, (struct gi_save_options){.quality = 100});
        struct gi_image oracle = convert_by("avifdec '%s' '%1$s.png'");
        assert_same_image(&image, &oracle);
        gi_image_free(&oracle);
        gi_image_free(&image);
    }
}

TEST(damage)
{
    need_format("avif");
    for (int i = 0; i < 4; i++) {
        struct gi_image image = random_image(40, 24, i & 2 ? 4 : 3, GI_U8, 3);
        name_file(i & 1);
        save_or_fail(&image, path, (struct gi_save_options){.quality = 50});
        struct bytes file = read_file(path);
        check_truncations(file, file.n);
        check_flips(file, 1000, (uint64_t)i);
        free(file.at);
        gi_image_free(&image);
    }
}

/* The size is checked before anything is decoded, and blank images of many pixels are refused. */
TEST(limits)
{
    need_format("avif");
    struct gi_image image = random_image(64, 48, 3, GI_U8, 3);
    for (int i = 0; i < 2; i++) {
        struct gi_load_options limited = strictly;
        struct gi_image back;
        struct gi_err err;
        name_file(i);
        save_or_fail(&image, path, (struct gi_save_options){.quality = 50});
        struct bytes file = read_file(path);
        limited.limits.max_pixels = 64 * 48 - 1;
        assert_int_equal(load_bytes(&back, file.at, file.n, &limited, NULL, &err), GI_E_LIMIT);
        assert_non_null(strstr(err.text, "--max-pixels"));
        /* ispe (ISO/IEC 23008-12, 6.5.3): a version, then width and height. */
        for (size_t at = 0; at + 16 <= file.n; at++)
            if (memcmp(file.at + at, "ispe", 4) == 0)
                memcpy(file.at + at + 8, "\0\0\x78\0\0\0\x78\0", 8);
        assert_refused(file.at, file.n, GI_E_LIMIT, "--max-pixels");
        free(file.at);
    }
    gi_image_free(&image);
}

/* HEVC is not coded below 16 pixels per side; AVIF may have one pixel. */
TEST(small)
{
    need_format("avif");
    struct gi_image image = random_image(15, 16, 3, GI_U8, 3);
    struct gi_save_options options = {.quality = 100};
    struct gi_err err = {0};
    name_file(0);
    assert_int_equal(gi_save(&image, NULL, path, &options, NULL, &err), GI_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "at least 16 a side"));
    gi_image_free(&image);
    for (int size = 1; size < 4; size++) {
        name_file(1);
        check_round_trip(random_image(size, 1, size, GI_U8, 3), path, options);
    }
}

TEST_PATH(path, "a.avif")
