/* Reads PNG files whose chunks are in unusual places, have wrong lengths or are repeated.
 * Sources: imgio/png
 * SPDX-License-Identifier: MIT */
#include "imgio_util.h"

#include <libdeflate.h>

#include "imgio/metadata/metadata.h"
#include "imgio/png/png_quick.h"

static void put32(unsigned char *to, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(v >> (24 - 8 * i));
}

static const struct gi_png_frame small_frame = {
    .width = 9, .height = 7, .channels = 3, .type = GI_U8};

static struct bytes small_png(void)
{
    struct gi_image image = random_image(9, 7, 3, GI_U8, 5);
    const struct gi_save_options options = {.format = "png", .compression = 6};
    void *made;
    size_t n;
    assert_int_equal(gi_save_memory(&made, &n, &image, NULL, "x", &options, NULL, NULL), GI_OK);
    gi_image_free(&image);
    return (struct bytes){made, n};
}

/* Returns the offset of the chunk of this type. */
static size_t chunk_at(struct bytes file, const char *type)
{
    unsigned char *found = memmem(file.at, file.n, type, 4);
    assert_non_null(found);
    return (size_t)(found - file.at) - 4;
}

/* Returns `file` with a chunk inserted at `at`, and frees the old bytes. The chunk's checksum is
 * wrong by `off`. */
static struct bytes with_chunk(struct bytes file, size_t at, const char *type, const void *bytes,
                               size_t n, uint32_t off)
{
    struct bytes longer = {malloc(file.n + 12 + n), file.n + 12 + n};
    assert_non_null(longer.at);
    memcpy(longer.at, file.at, at);
    put32(longer.at + at, (uint32_t)n);
    memcpy(longer.at + at + 4, type, 4);
    memcpy(longer.at + at + 8, bytes, n);
    put32(longer.at + at + 8 + n, libdeflate_crc32(0, longer.at + at + 4, n + 4) + off);
    memcpy(longer.at + at + 12 + n, file.at + at, file.n - at);
    free(file.at);
    return longer;
}

/* The first colour chunk of each name is used, if its length and its checksum are right. */
TEST(colors)
{
    static const char gamma[] = "\0\0\xb1\x8f", other[] = "\0\1\x86\xa0";
    static const char light[33] = "\0\0\0\1";
    static const struct {
        const char *type, *bytes;
        size_t n;
        uint32_t off;
        const char *again; /* bytes of a second one, or NULL */
        size_t want;
    } cases[] = {
        {"cLLI", light, 8, 0, NULL, 13},  {"cLLI", light, 8, 1, NULL, 0},
        {"cLLI", light, 32, 0, NULL, 37}, {"cLLI", light, 33, 0, NULL, 0},
        {"gAMA", gamma, 4, 0, NULL, 9},   {"gAMA", gamma, 4, 0, other, 9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes file = small_png();
        struct gi_image image;
        struct gi_metadata metadata;
        struct gi_err err = {0};
        /* Put the repeated chunk after the pixels, where libpng accepts it. */
        if (cases[i].again)
            file = with_chunk(file, chunk_at(file, "IEND"), cases[i].type, cases[i].again,
                              cases[i].n, 0);
        file = with_chunk(file, chunk_at(file, "IDAT"), cases[i].type, cases[i].bytes, cases[i].n,
                          cases[i].off);
        if (gi_load_memory(&image, &metadata, NULL, file.at, file.n, "x", &partially, NULL, &err))
            fail_msg("case %zu: %s", i, err.text);
        if (metadata.color_nbytes != cases[i].want)
            fail_msg("case %zu: %zu bytes", i, metadata.color_nbytes);
        if (cases[i].want) {
            const unsigned char *kept = metadata.color;
            assert_memory_equal(kept, cases[i].type, 4);
            assert_int_equal(kept[4], cases[i].n);
            assert_memory_equal(kept + 5, cases[i].bytes, cases[i].n);
        }
        gi_metadata_free(&metadata);
        gi_image_free(&image);
        free(file.at);
    }
}

/* The fast decoder accepts text, tIME and empty IDAT chunks after the pixels, and leaves files with
 * any other chunks there to libpng. */
TEST(quick_notes)
{
    static const struct {
        const char *type, *before;
        size_t n;
        bool taken;
    } cases[] = {
        {"tEXt", "IEND", 3, true},  {"zTXt", "IEND", 4, true},  {"iTXt", "IEND", 7, true},
        {"tIME", "IEND", 7, true},  {"eXIf", "IEND", 7, false}, {"IDAT", "IEND", 0, true},
        {"IDAT", "IEND", 1, false}, /* after the end of the pixels */
        {"IDAT", "IDAT", 0, true},  {"IEND", "IEND", 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes file = small_png();
        struct gi_image image = random_image(9, 7, 3, GI_U8, 1),
                        want = random_image(9, 7, 3, GI_U8, 5);
        file = with_chunk(file, chunk_at(file, cases[i].before), cases[i].type, "a\0bcdefg",
                          cases[i].n, 0);
        size_t at = chunk_at(file, "IDAT");
        if (gi_png_quick(&image, file.at, file.n, at + 8, &small_frame) != cases[i].taken)
            fail_msg("case %zu: %s", i, cases[i].type);
        if (cases[i].taken)
            assert_same_image(&image, &want);
        gi_image_free(&image);
        gi_image_free(&want);
        free(file.at);
    }
    struct bytes none = small_png(); /* two empty chunks hold no pixels */
    size_t at = chunk_at(none, "IDAT"), end = chunk_at(none, "IEND");
    memmove(none.at + at, none.at + end, none.n - end);
    none.n -= end - at;
    none = with_chunk(none, at, "IDAT", "", 0, 0);
    none = with_chunk(none, at, "IDAT", "", 0, 0);
    struct gi_image image = random_image(9, 7, 3, GI_U8, 1);
    assert_false(gi_png_quick(&image, none.at, none.n, at + 8, &small_frame));
    gi_image_free(&image);
    free(none.at);
}

/* Wrong checksums. An ancillary chunk is left out, with a warning that names it, and the pixels are
 * read; a critical one is an error that names --allow-partial. That a chunk with the transparent
 * colour is left out too is what libpng's own defaults do, and with them OpenCV. */
TEST(checksums)
{
    static const char exif[] = "MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6\0\0\0\0\0\0";
    static const struct {
        const char *type, *bytes, *before;
        size_t n;
    } cases[] = {
        {"tEXt", "a\0b", "IDAT", 3},
        {"tEXt", "a\0b", "IEND", 3},
        {"eXIf", exif, "IDAT", sizeof exif - 1},
        {"eXIf", exif, "IEND", sizeof exif - 1},
        {"tRNS", "\0\1\0\2\0\3", "IDAT", 6},
        {"gAMA", "\0\0\xb1\x8f", "IDAT", 4},
        {"pHYs", "\0\0\1\0\0\0\1\0\1", "IDAT", 9},
        {"sBIT", "\5\5\5", "IDAT", 3},
        {"tIME", "\7\350\1\1\0\0\0", "IEND", 7},
        {"vpAg", "x", "IDAT", 1},
        {"vpAG", "x", "IEND", 1},
        {"iCCP", "a\0\0x", "IDAT", 4},
        {"acTL", "\0\0\0\2\0\0\0\0", "IDAT", 8},
    };
    struct gi_load_options header = {.limits = strictly.limits, .header_only = true};
    struct gi_image want = random_image(9, 7, 3, GI_U8, 5), image;
    struct gi_err warning, err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes file = small_png();
        struct gi_metadata metadata;
        char says[64];
        snprintf(says, sizeof says, "wrong checksum in its chunk %s, which is left out",
                 cases[i].type);
        file = with_chunk(file, chunk_at(file, cases[i].before), cases[i].type, cases[i].bytes,
                          cases[i].n, 1);
        if (gi_load_memory(&image, &metadata, NULL, file.at, file.n, "x", &strictly, &warning,
                           &err))
            fail_msg("%s: %s", cases[i].type, err.text);
        assert_non_null(strstr(warning.text, says));
        assert_same_image(&image, &want);
        assert_false(metadata.exif || metadata.icc || metadata.ntexts || metadata.color ||
                     metadata.dpi_x > 0);
        gi_metadata_free(&metadata);
        gi_image_free(&image);
        struct gi_file_info info;
        assert_int_equal(
            gi_load_memory(&image, NULL, &info, file.at, file.n, "x", &header, NULL, &err), GI_OK);
        assert_int_equal(info.orientation, 1);
        free(file.at);
    }
    static const char *const critical[] = {"IHDR", "IDAT", "IEND"};
    for (size_t i = 0; i < 3; i++) {
        struct bytes file = small_png();
        size_t at = chunk_at(file, critical[i]);
        size_t n = (size_t)file.at[at + 2] << 8 | file.at[at + 3];
        file.at[at + 8 + n] ^= 1;
        assert_refused(file.at, file.n, GI_E_FORMAT, "--allow-partial");
        assert_int_equal(load_bytes(&image, file.at, file.n, &partially, &warning, &err), GI_OK);
        assert_non_null(strstr(warning.text, critical[i]));
        assert_same_image(&image, &want);
        gi_image_free(&image);
        free(file.at);
    }
    gi_image_free(&want);
}

/* An animation causes a warning, also behind more texts than are kept, which are parts. */
TEST(animations)
{
    for (int frames = 1; frames < 3; frames++)
        for (int texts = 0; texts < 2; texts++) {
            struct bytes file = small_png();
            struct gi_image image;
            struct gi_err warning, err;
            unsigned char control[8] = {0, 0, 0, (unsigned char)frames};
            for (int i = 0; i < texts * (GI_TEXTS_MAX + 1); i++)
                file = with_chunk(file, chunk_at(file, "IDAT"), "tEXt", "a\0b", 3, 0);
            file = with_chunk(file, chunk_at(file, "IDAT"), "acTL", control, 8, 0);
            assert_int_equal(load_bytes(&image, file.at, file.n, &strictly, &warning, &err), GI_OK);
            const char *says = frames > 1 ? "2 frames" : "";
            assert_non_null(strstr(warning.text, says));
            assert_int_equal(!warning.status, !*says);
            gi_image_free(&image);
            free(file.at);
        }
}

/* EXIF after the pixels is found without decoding the pixels, as long as the chunks are
 * complete. */
TEST(late_exif)
{
    static const char exif[] = "MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6\0\0\0\0\0\0";
    struct bytes file = small_png();
    size_t end = chunk_at(file, "IEND");
    file = with_chunk(file, end, "eXIf", exif, sizeof exif - 1, 0);
    struct gi_load_options options = strictly;
    options.header_only = true;
    for (size_t n = chunk_at(file, "IDAT") + 8; n <= file.n; n++) {
        struct gi_image image;
        struct gi_file_info info;
        unsigned char *cut = malloc(n);
        assert_non_null(cut);
        memcpy(cut, file.at, n);
        assert_int_equal(gi_load_memory(&image, NULL, &info, cut, n, "x", &options, NULL, NULL),
                         GI_OK);
        assert_int_equal(info.orientation, n >= end + 12 + sizeof exif - 1 ? 6 : 1);
        free(cut);
    }
    static const char large[70000]; /* a chunk whose length takes three bytes */
    file = with_chunk(file, end, "prVt", large, sizeof large, 0);
    struct gi_image image;
    struct gi_file_info info;
    assert_int_equal(
        gi_load_memory(&image, NULL, &info, file.at, file.n, "x", &options, NULL, NULL), GI_OK);
    assert_int_equal(info.orientation, 6);
    free(file.at);
}
