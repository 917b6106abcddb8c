/* WebP that is written without loss is read back unchanged, dwebp reads our files, and we read
 * files that cwebp writes.
 * Sources: imgio/webp/webp.c imgio/library*
 * SPDX-License-Identifier: MIT */
#include "imgio/image_stream.h"
#include "imgio_folder.h"

static char path[128];

/* Tests the message of a build without libwebp. */
TEST(left_out)
{
    if (!format_is_built_in("webp"))
        assert_refused("RIFF\x04\0\0\0WEBP", 12, GI_E_UNSUPPORTED, "libwebp");
}

/* Other RIFF files are of no known format, and neither are files that begin with only a part of
 * RIFF's letters. */
TEST(other_files)
{
    static const char *const files[] = {"RIFX\x04\0\0\0WEBP", "RIFF\x04\0\0\0WAVE"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        assert_refused(files[i], 12, GI_E_FORMAT, "is no image of a known format");
        assert_false(gi_image_stream_starts((const unsigned char *)files[i], 12));
    }
}

TEST(lossless)
{
    unsigned char icc[201] = {0}; /* an odd length */
    unsigned char exif[] = "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x01\0\0";
    need_format("webp");
    memcpy(icc + 16, "RGB ", 4);
    for (int channels = 3; channels <= 4; channels++)
        for (int with = 0; with < 4; with++) {
            struct gi_image image = random_image(97, 61, channels, GI_U8, 3), back;
            struct gi_metadata in = {.icc = with & 1 ? icc : NULL,
                                     .icc_nbytes = with & 1 ? sizeof icc : 0,
                                     .exif = with & 2 ? exif : NULL,
                                     .exif_nbytes = with & 2 ? sizeof exif : 0};
            struct gi_metadata out;
            struct gi_save_options options = {.quality = 100};
            struct gi_err warning;
            assert_int_equal(gi_save(&image, &in, path, &options, &warning, NULL), GI_OK);
            assert_int_equal(warning.status, GI_OK);
            assert_int_equal(gi_load(&back, &out, NULL, path, &strictly, &warning, NULL), GI_OK);
            assert_same_image(&image, &back);
            assert_int_equal(out.icc_nbytes, in.icc_nbytes);
            assert_int_equal(out.exif_nbytes, in.exif_nbytes);
            if (with & 1)
                assert_memory_equal(out.icc, icc, sizeof icc);
            if (with & 2)
                assert_memory_equal(out.exif, exif, sizeof exif);
            gi_metadata_free(&out);
            gi_image_free(&back);
            gi_image_free(&image);
            if (!with)
                continue;
            /* The header of the extended file format ("WebP Container Specification"): flags, 24
             * bits that are 0, and then width minus 1 and height minus 1 in 24 bits each. */
            unsigned char head[] = {'V', 'P', '8', 'X', 10, 0, 0,  0, 0,
                                    0,   0,   0,   96,  0,  0, 60, 0, 0};
            head[8] = (unsigned char)((with & 1 ? 0x20 : 0) | (channels == 4 ? 0x10 : 0) |
                                      (with & 2 ? 0x08 : 0));
            struct bytes file = read_file(path);
            assert_memory_equal(file.at + 12, head, sizeof head);
            free(file.at);
        }
}

/* dwebp and our reader decode the same pixels from our files and from cwebp's files, lossy and
 * lossless. */
TEST(as_dwebp)
{
    need_format("webp");
    need_programs("dwebp cwebp");
    for (int i = 0; i < 8; i++) {
        struct gi_image image = random_image(97, 61, i & 1 ? 4 : 3, GI_U8, 3);
        struct gi_save_options options = {.quality = i & 2 ? 100 : 80};
        save_or_fail(&image, path, options);
        if (i & 4) {
            options.format = "png";
            save_or_fail(&image, path, options);
            struct bytes made = run_command(i & 2 ? "cwebp -quiet -lossless -exact '%s' -o -"
                                                  : "cwebp -quiet -q 80 '%s' -o -",
                                            path);
            write_file(path, made.at, made.n);
            free(made.at);
        }
        gi_image_free(&image);
        image = load_or_fail(path);
        struct bytes pam = run_command("dwebp -quiet -pam '%s' -o -", path);
        struct gi_image oracle = decode_or_fail(pam.at, pam.n);
        for (int y = 0; y < image.height; y++)
            for (int x = 0; x < image.width; x++) /* dwebp's PAM always has alpha */
                assert_memory_equal((uint8_t *)gi_row(&image, y) + x * image.channels,
                                    (uint8_t *)gi_row(&oracle, y) + 4 * x, (size_t)image.channels);
        free(pam.at);
        gi_image_free(&oracle);
        gi_image_free(&image);
    }
}

TEST(damage)
{
    need_format("webp");
    for (int i = 0; i < 4; i++) {
        struct gi_image image = random_image(67, 41, i & 1 ? 4 : 3, GI_U8, 3);
        save_or_fail(&image, path, (struct gi_save_options){.quality = i & 2 ? 100 : 80});
        struct bytes file = read_file(path);
        check_truncations(file, file.n);
        check_flips(file, 2000, (uint64_t)i);
        free(file.at);
        gi_image_free(&image);
    }
}

/* A constant lossless image takes no bits per pixel, so that 16384 x 16384 pixels fit in 40
 * bytes. */
TEST(flat)
{
    need_format("webp");
    struct gi_image image, back;
    struct gi_load_options limited = strictly;
    struct gi_err err;
    assert_int_equal(gi_image_alloc(&image, 6000, 4000, 3, GI_U8, NULL), GI_OK);
    memset(image.data, 7, image.stride * 4000);
    save_or_fail(&image, path, (struct gi_save_options){.quality = 100});
    struct bytes file = read_file(path);
    assert_true(file.n < 2000);
    assert_int_equal(load_bytes(&back, file.at, file.n, &limited, NULL, &err), GI_OK);
    assert_same_image(&image, &back);
    gi_image_free(&back);
    limited.limits.max_pixels = 24000000;
    assert_int_equal(load_bytes(&back, file.at, file.n, &limited, NULL, &err), GI_E_LIMIT);
    assert_non_null(strstr(err.text, "--max-pixels"));
    free(file.at);
    gi_image_free(&image);
}

/* The format allows at most 16383 pixels per side. */
TEST(too_large)
{
    need_format("webp");
    for (int side = 16383; side <= 16384; side++)
        for (int tall = 0; tall < 2; tall++) {
            struct gi_image image;
            struct gi_save_options options = {.quality = 100};
            struct gi_err err = {0};
            assert_int_equal(
                gi_image_alloc(&image, tall ? 1 : side, tall ? side : 1, 3, GI_U8, NULL), GI_OK);
            for (int y = 0; y < image.height; y++)
                memset(gi_row(&image, y), 7, gi_row_nbytes(&image));
            assert_int_equal(gi_save(&image, NULL, path, &options, NULL, &err),
                             side == 16383 ? GI_OK : GI_E_UNSUPPORTED);
            assert_true(side == 16383 || strstr(err.text, "at most 16383 a side"));
            gi_image_free(&image);
        }
}

/* EXIF that begins with JPEG's prefix is read without the prefix. An animation is refused. */
TEST(extended)
{
    static const unsigned char exif[] = "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x01\0\0";
    need_format("webp");
    struct gi_image image = random_image(9, 5, 3, GI_U8, 3), back;
    unsigned char headed[6 + sizeof exif] = "Exif\0";
    memcpy(headed + 6, exif, sizeof exif);
    struct gi_metadata in = {.exif = headed, .exif_nbytes = sizeof headed}, out;
    struct gi_save_options options = {.quality = 100};
    assert_int_equal(gi_save(&image, &in, path, &options, NULL, NULL), GI_OK);
    assert_int_equal(gi_load(&back, &out, NULL, path, &strictly, NULL, NULL), GI_OK);
    assert_same_image(&image, &back);
    assert_int_equal(out.exif_nbytes, sizeof exif);
    assert_memory_equal(out.exif, exif, sizeof exif);
    gi_metadata_free(&out);
    gi_image_free(&back);
    gi_image_free(&image);
    struct bytes file = read_file(path);
    assert_memory_equal(file.at + 12, "VP8X", 4);
    file.at[20] |= 2; /* set the flag of VP8X that declares an animation (RFC 9649, 2.7) */
    assert_refused(file.at, file.n, GI_E_FORMAT, "first frame");
    free(file.at);
}

/* ---- animations (RFC 9649, 2.7) ---- */

static void put_number(struct bytes *file, uint32_t v, int nbytes)
{
    for (int i = 0; i < nbytes; i++)
        file->at[file->n++] = (unsigned char)(v >> (8 * i));
}

static void put_head(struct bytes *file, const char *name, uint32_t nbytes)
{
    memcpy(file->at + file->n, name, 4);
    file->n += 4;
    put_number(file, nbytes, 4);
}

enum { STILL_HEAD = 12, STILL_EXTENDED = 30, FRAME_HEAD = 16 };

/* Returns an animation of 64 x 40 pixels with `nframes` frames, each of which is the still image.
 * The caller frees the bytes. */
static struct bytes animate(struct bytes still, const struct gi_image *image, int left, int top,
                            int nframes)
{
    /* The chunks of the pixels follow the RIFF header or, if there is a chunk VP8X, follow that
     * chunk. */
    size_t skip = memcmp(still.at + STILL_HEAD, "VP8X", 4) == 0 ? STILL_EXTENDED : STILL_HEAD;
    uint32_t n = (uint32_t)(still.n - skip);
    struct bytes file = {calloc(1, 64 + (size_t)nframes * (still.n + 64)), 0};
    assert_non_null(file.at);
    assert_int_equal(n % 2, 0);
    put_head(&file, "RIFF", 4 + 18 + 14 + (uint32_t)nframes * (8 + FRAME_HEAD + n));
    memcpy(file.at + file.n, "WEBP", 4);
    file.n += 4;
    put_head(&file, "VP8X", 10);
    put_number(&file, 0x02 | 0x10, 4); /* animation, alpha */
    put_number(&file, 64 - 1, 3);
    put_number(&file, 40 - 1, 3);
    put_head(&file, "ANIM", 6);
    put_number(&file, 0xff00ff00, 4); /* the background, which viewers do not show */
    put_number(&file, 0, 2);
    for (int i = 0; i < nframes; i++) {
        put_head(&file, "ANMF", FRAME_HEAD + n);
        put_number(&file, (uint32_t)left / 2, 3);
        put_number(&file, (uint32_t)top / 2, 3);
        put_number(&file, (uint32_t)image->width - 1, 3);
        put_number(&file, (uint32_t)image->height - 1, 3);
        put_number(&file, 100, 4);
        memcpy(file.at + file.n, still.at + skip, n);
        file.n += n;
    }
    return file;
}

/* The first frame is read at its position on a transparent canvas. Further frames cause a
 * warning. */
TEST(animation)
{
    static const struct {
        int width, height, left, top, channels, quality, nframes;
    } cases[] = {
        {64, 40, 0, 0, 3, 100, 2},  {64, 40, 0, 0, 4, 100, 1}, {31, 20, 6, 4, 3, 100, 3},
        {31, 20, 32, 20, 4, 80, 2}, {64, 40, 0, 0, 3, 80, 1},
    };
    need_format("webp");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int left = cases[i].left, top = cases[i].top, w = cases[i].width, h = cases[i].height;
        struct gi_image frame = random_image(w, h, cases[i].channels, GI_U8, 3), back;
        struct gi_err err = {0}, warning;
        save_or_fail(&frame, path, (struct gi_save_options){.quality = cases[i].quality});
        struct bytes still = read_file(path);
        struct bytes file = animate(still, &frame, left, top, cases[i].nframes);
        /* The test as_dwebp compares such bytes with those of dwebp. */
        if (cases[i].quality < 100) {
            gi_image_free(&frame);
            frame = load_or_fail(path);
        }
        if (load_bytes(&back, file.at, file.n, &strictly, &warning, &err))
            fail_msg("case %zu: %s", i, err.text);
        bool covered = w == 64 && h == 40;
        assert_true(back.width == 64 && back.height == 40);
        assert_int_equal(back.channels, covered ? cases[i].channels : 4);
        if (cases[i].nframes > 1)
            assert_non_null(strstr(warning.text, "holds more frames; only the first is read"));
        else
            assert_int_equal(warning.status, GI_OK);
        for (int y = 0; y < 40; y++)
            for (int x = 0; x < 64; x++) {
                bool in = x >= left && x < left + w && y >= top && y < top + h;
                uint8_t want[4] = {0, 0, 0, 0};
                if (in) {
                    memset(want, 255, 4);
                    memcpy(want, (uint8_t *)gi_row(&frame, y - top) + (x - left) * frame.channels,
                           (size_t)frame.channels);
                }
                assert_memory_equal((uint8_t *)gi_row(&back, y) + x * back.channels, want,
                                    (size_t)back.channels);
            }
        gi_image_free(&back);
        check_truncations(file, file.n);
        check_flips(file, 500, i);
        free(file.at);
        if (!covered) { /* beyond the canvas */
            file = animate(still, &frame, 64 - w + 2, top, 1);
            assert_refused(file.at, file.n, GI_E_FORMAT, "");
            free(file.at);
        }
        free(still.at);
        gi_image_free(&frame);
    }
}

/* Data may follow the image. A chunk without its padding byte ends the search, whatever follows
 * it. */
TEST(tail)
{
    need_format("webp");
    static const struct {
        const char *bytes;
        size_t n;
        size_t exif; /* number of bytes found */
    } cases[] = {
        {"EXIF\4\0\0\0II*\0", 12, 4},    {"EXIF\10\0\0\0Exif\0\0II", 16, 2},
        {"EXIF\6\0\0\0Exif\0\0", 14, 6}, /* only the prefix */
        {"ODD \1\0\0\0x", 9, 0},         {"ODD \1\0\0\0x\0EXIF\2\0\0\0II", 20, 2},
        {"ODD \377\0\0\0x", 9, 0},       {"ODD", 3, 0},
    };
    struct gi_image image = random_image(9, 5, 3, GI_U8, 3), back;
    save_or_fail(&image, path, (struct gi_save_options){.quality = 100});
    struct bytes file = read_file(path);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char *longer = malloc(file.n + cases[i].n);
        struct gi_metadata metadata;
        memcpy(longer, file.at, file.n);
        memcpy(longer + file.n, cases[i].bytes, cases[i].n);
        assert_int_equal(gi_load_memory(&back, &metadata, NULL, longer, file.n + cases[i].n, "x",
                                        &strictly, NULL, NULL),
                         GI_OK);
        assert_same_image(&image, &back);
        assert_int_equal(metadata.exif_nbytes, cases[i].exif);
        gi_metadata_free(&metadata);
        gi_image_free(&back);
        free(longer);
    }
    free(file.at);
    gi_image_free(&image);
}

TEST_PATH(path, "a.webp")
