/* PNM, PAM and PFM: netpbm is the oracle for the corpus; all other files are made by hand.
 * Sources: imgio/pnm/pnm* imgio/pnm/pfm.c
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include <math.h>

/* Compares with the output of `command` for the file, which is a raw P5 or P6 with maxval 255 or
 * 65535. */
static void compare(const char *path, const char *command)
{
    struct gi_image image = load_or_fail(path);
    struct bytes pnm = run_command(command, path);
    int kind, width, height, maxval, used;
    assert_true(pnm.n > 11);
    assert_int_equal(
        sscanf((char *)pnm.at, "P%d %d %d %d%n", &kind, &width, &height, &maxval, &used), 4);
    assert_int_equal(width, image.width);
    assert_int_equal(height, image.height);
    assert_int_equal(kind, image.channels == 1 ? 5 : 6);
    assert_int_equal(maxval, image.type == GI_U8 ? 255 : 65535);
    const unsigned char *at = pnm.at + used + 1;
    for (int y = 0; y < height; y++)
        for (size_t i = 0; i < gi_row_samples(&image); i++) {
            if (maxval == 255) {
                assert_int_equal(((uint8_t *)gi_row(&image, y))[i], *at++);
            } else {
                assert_int_equal(((uint16_t *)gi_row(&image, y))[i], at[0] << 8 | at[1]);
                at += 2;
            }
        }
    assert_int_equal(at - pnm.at, pnm.n);
    free(pnm.at);
    gi_image_free(&image);
}

TEST(as_netpbm)
{
    static const char *const files[][2] = {
        {"hopper.ppm", "pamdepth -quiet 255 '%s'"},
        {"hopper.pnm", "pamdepth -quiet 255 '%s'"},
        {"hopper_8bit.pgm", "pamdepth -quiet 255 '%s'"},
        {"hopper_8bit.ppm", "pamdepth -quiet 255 '%s'"},
        {"hopper_8bit_plain.pgm", "pamdepth -quiet 255 '%s'"},
        {"hopper_8bit_plain.ppm", "pamdepth -quiet 255 '%s'"},
        {"hopper_webp_bits.ppm", "pamdepth -quiet 255 '%s'"},
        {"hopper_webp_write.ppm", "pamdepth -quiet 255 '%s'"},
        {"hopper_1bit.pbm", "pamdepth -quiet 255 '%s'"},
        {"hopper_1bit_plain.pbm", "pamdepth -quiet 255 '%s'"},
        {"16_bit_binary.pgm", "pamdepth -quiet 65535 '%s'"},
        {"hopper_16bit.pgm", "pamdepth -quiet 65535 '%s'"},
        {"hopper_16bit_plain.pgm", "pamdepth -quiet 65535 '%s'"},
    };
    need_programs("pamdepth");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        compare(in_corpus("pnm", files[i][0]), files[i][1]);
    struct bytes file = read_file(in_corpus("pnm", "negative_size.ppm"));
    assert_refused(file.at, file.n, GI_E_FORMAT, "");
    free(file.at);
}

/* Compares PFM files with pfmtopam, which expects samples from 0 to 1 and writes 16 bits. So the
 * image is first scaled, and written as PFM. */
TEST(pfm_as_netpbm)
{
    need_programs("pfmtopam pamtopnm");
    struct gi_image image = load_or_fail(in_corpus("pnm", "hopper.pfm"));
    struct gi_image other = load_or_fail(in_corpus("pnm", "hopper_be.pfm"));
    assert_same_image(&image, &other);
    for (int y = 0; y < image.height; y++)
        for (int x = 0; x < image.width; x++)
            ((float *)gi_row(&image, y))[x] /= 256;
    const char *path = in_folder("a.pfm");
    save_or_fail(&image, path, (struct gi_save_options){0});
    /* pfmtopam of netpbm 11.1 compares -maxval with memory that it has not set, and refuses 65535
     * now and then. */
    struct bytes pnm = run_command("for i in 1 2 3 4 5 6 7 8 9 10; do pfmtopam -maxval=65535 '%s' "
                                   "2>/dev/null && break; done | pamtopnm",
                                   path);
    int width, height, used;
    assert_int_equal(sscanf((char *)pnm.at, "P5 %d %d 65535%n", &width, &height, &used), 2);
    assert_int_equal(width, image.width);
    const unsigned char *at = pnm.at + used + 1;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++, at += 2) {
            double v = (double)((float *)gi_row(&image, y))[x] * 65535;
            assert_true(fabs(v - (at[0] << 8 | at[1])) <= 1);
        }
    free(pnm.at);
    gi_image_free(&other);
    gi_image_free(&image);
}

/* A handmade file, and its samples, which have 16 bits if `type` is GI_U16. */
struct sample_file {
    const char *bytes;
    size_t nbytes;
    int width, height, channels;
    enum gi_type type;
    unsigned samples[8];
};
#define FILE_BYTES(text) text, sizeof text - 1

static const struct sample_file files[] = {
    {FILE_BYTES("P1\n# a comment\n3 2\n101\n0 1 0\n"), 3, 2, 1, GI_U8, {0, 255, 0, 255, 0, 255}},
    {FILE_BYTES("P4 3 2\n\xa0\x40"), 3, 2, 1, GI_U8, {0, 255, 0, 255, 0, 255}},
    {FILE_BYTES("P2#c\n2#c\n 2 # more\n#and more\n15\n0 5\r\n10 15"),
     2,
     2,
     1,
     GI_U8,
     {0, 85, 170, 255}},
    {FILE_BYTES("P5\n2 2\n3\n\0\1\2\3"), 2, 2, 1, GI_U8, {0, 85, 170, 255}},
    {FILE_BYTES("P5 4 1 255 \n\t #"), 4, 1, 1, GI_U8, {10, 9, 32, 35}},
    {FILE_BYTES("P5 2 1 65535\n\x12\x34\xff\xfe"), 2, 1, 1, GI_U16, {0x1234, 0xfffe}},
    {FILE_BYTES("P5 3 1 256\n\0\0\0\x80\1\0"), 3, 1, 1, GI_U16, {0, 32768, 65535}},
    {FILE_BYTES("P5 2 1 1000\n\0\1\x03\xe8"), 2, 1, 1, GI_U16, {66, 65535}},
    {FILE_BYTES("P3 1 2 7 0 1 2 3 4 7"), 1, 2, 3, GI_U8, {0, 36, 73, 109, 146, 255}},
    {FILE_BYTES("P6 1 1 255\nabc"), 1, 1, 3, GI_U8, {'a', 'b', 'c'}},
    {FILE_BYTES("P7\nWIDTH 1\nHEIGHT 2\n# c\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\n"
                "ENDHDR\nabcd"),
     1,
     2,
     2,
     GI_U8,
     {'a', 'b', 'c', 'd'}},
    {FILE_BYTES("P7\nMAXVAL 1\nDEPTH 1\nHEIGHT 1\nWIDTH 2\nTUPLTYPE BLACKANDWHITE\nENDHDR\n\1\0"),
     2,
     1,
     1,
     GI_U8,
     {255, 0}},
    {FILE_BYTES("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 65535\nENDHDR\n\0\1\0\2\0\3\xff\xff"),
     1,
     1,
     4,
     GI_U16,
     {1, 2, 3, 65535}},
};

TEST(hand_made)
{
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        const struct sample_file *file = &files[f];
        struct gi_image image = decode_or_fail(file->bytes, file->nbytes);
        assert_int_equal(image.width, file->width);
        assert_int_equal(image.height, file->height);
        assert_int_equal(image.channels, file->channels);
        assert_int_equal(image.type, file->type);
        size_t row = gi_row_samples(&image);
        for (size_t i = 0; i < row * (size_t)image.height; i++) {
            const void *line = gi_row(&image, (int)(i / row));
            unsigned v = image.type == GI_U8 ? ((const uint8_t *)line)[i % row]
                                             : ((const uint16_t *)line)[i % row];
            if (v != file->samples[i])
                fail_msg("file %zu, sample %zu: %u, want %u", f, i, v, file->samples[i]);
        }
        gi_image_free(&image);
        /* A plain file may still be complete without its last byte or its last 2 bytes, because
         * these are digits or white space. */
        bool plain = file->bytes[1] <= '3';
        check_truncations((struct bytes){(unsigned char *)file->bytes, file->nbytes},
                          file->nbytes - (plain ? 2 : 0));
    }
}

/* For every maxval, every value is scaled and rounded to nearest. */
TEST(scaling)
{
    static const unsigned maxvals[] = {1,   2,   3,    100,  127,   254,  255,
                                       256, 257, 1023, 4095, 65534, 65535};
    unsigned char *file = malloc(200000);
    for (size_t m = 0; m < sizeof maxvals / sizeof maxvals[0]; m++) {
        unsigned maxval = maxvals[m], full = maxval > 255 ? 65535 : 255;
        size_t n = (size_t)sprintf((char *)file, "P5 %u 1 %u\n", maxval + 1, maxval);
        for (unsigned v = 0; v <= maxval; v++) {
            if (full == 65535)
                file[n++] = (unsigned char)(v >> 8);
            file[n++] = (unsigned char)v;
        }
        struct gi_image image = decode_or_fail(file, n);
        for (unsigned v = 0; v <= maxval; v++) {
            unsigned got = full == 255 ? ((uint8_t *)image.data)[v] : ((uint16_t *)image.data)[v];
            assert_true(fabs((double)got - (double)v * full / maxval) <= 0.5);
        }
        gi_image_free(&image);
    }
    free(file);
}

TEST(refused)
{
    static const struct {
        const char *bytes;
        size_t nbytes;
        enum gi_status status;
        const char *says;
    } cases[] = {
        {FILE_BYTES("P5 -1 5 255\n"), GI_E_FORMAT, "width"},
        {FILE_BYTES("P5 0 5 255\n"), GI_E_FORMAT, "0 x 5"},
        {FILE_BYTES("P5 5 5 0\n"), GI_E_FORMAT, "1 to 65535"},
        {FILE_BYTES("P5 5 5 65536\n"), GI_E_FORMAT, "1 to 65535"},
        {FILE_BYTES("P5 99999999999 5 255\n"), GI_E_FORMAT, "width"},
        {FILE_BYTES("P5 2147483647 2147483647 255\nabc"), GI_E_LIMIT, "--max-pixels"},
        {FILE_BYTES("P5 100000 100000 255\nabc"), GI_E_LIMIT, "--max-pixels"},
        {FILE_BYTES("P2 100000 100000 255\n1 2 3"), GI_E_FORMAT, "ends early"},
        {FILE_BYTES("P5 2 1 100\n\x64\x65"), GI_E_FORMAT, "101"},
        {FILE_BYTES("P5 2 1 1000\n\x03\xe8\x03\xe9"), GI_E_FORMAT, "1001"},
        {FILE_BYTES("P2 2 1 100\n100 101"), GI_E_FORMAT, "101"},
        {FILE_BYTES("P2 2 1 100\n100 x1  "), GI_E_FORMAT, "no number"},
        {FILE_BYTES("P1 3 1\n012"), GI_E_FORMAT, "no number"},
        {FILE_BYTES("P5 2 2 255\nabc"), GI_E_FORMAT, "row 1 of 2"},
        {FILE_BYTES("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 5\nMAXVAL 255\nENDHDR\nabcde"), GI_E_UNSUPPORTED,
         "5 bands"},
        {FILE_BYTES("P7\nWIDTH 1\nHEIGHT 1\nMAXVAL 255\nENDHDR\nabcde"), GI_E_FORMAT, "DEPTH"},
        {FILE_BYTES("P7\nWIDTH 1\nHEIGHT x\nMAXVAL 255\nENDHDR\nabcde"), GI_E_FORMAT, "number"},
        {FILE_BYTES("Pf -3 4 -1.0\nabcdabcd"), GI_E_FORMAT, "width"},
        {FILE_BYTES("Pf 1 1 0\nabcd"), GI_E_FORMAT, "scale"},
        {FILE_BYTES("Pf 1 1 nan\nabcd"), GI_E_FORMAT, "scale"},
        {FILE_BYTES("Pf 1 2 -1\nabcdabc"), GI_E_FORMAT, "row 1 of 2"},
        {FILE_BYTES("Pf 99999 99999 -1\nabcdabc"), GI_E_LIMIT, "--max-pixels"},
        {FILE_BYTES("P8 1 1 255\nabcd"), GI_E_FORMAT, "known format"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_refused(cases[i].bytes, cases[i].nbytes, cases[i].status, cases[i].says);
}

/* In PFM, both byte orders are read, the bottom row comes first, and every bit pattern is kept. */
TEST(pfm)
{
    static const unsigned char little[] = "PF 1 2 -1.0\n"
                                          "\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40"
                                          "\1\0\xc0\x7f\0\0\x80\x7f\0\0\0\x80";
    static const unsigned char big[] = "PF\n1 2\n0.5\n"
                                       "\x3f\x80\0\0\x40\0\0\0\x40\x40\0\0"
                                       "\x7f\xc0\0\1\x7f\x80\0\0\x80\0\0\0";
    static const uint32_t want[2][3] = {{0x7fc00001, 0x7f800000, 0x80000000},
                                        {0x3f800000, 0x40000000, 0x40400000}};
    for (int order = 0; order < 2; order++) {
        struct gi_image image =
            decode_or_fail(order ? big : little, (order ? sizeof big : sizeof little) - 1);
        assert_int_equal(image.channels, 3);
        for (int y = 0; y < 2; y++)
            assert_memory_equal(gi_row(&image, y), want[y], sizeof want[y]);
        gi_image_free(&image);
    }
    check_truncations((struct bytes){(unsigned char *)little, sizeof little - 1},
                      sizeof little - 1);
}

/* Headers without sizes or without a scale. */
TEST(pfm_headers)
{
    static const struct {
        const char *bytes;
        enum gi_status want;
    } cases[] = {
        {"Pf 1 1 -1\nabcd", GI_OK},
        {"Pf\t1\r\n1\v1e3 abcd", GI_OK},
        {"Pf -1 1 -1\nabcd", GI_E_FORMAT},
        {"Pf 1x 1 -1\nabcd", GI_E_FORMAT},
        {"Pf 1 x -1\nabcd", GI_E_FORMAT},
        {"Pf 1 2147483648 -1\nabcd", GI_E_FORMAT},
        {"Pf 1 1 0\nabcd", GI_E_FORMAT},
        {"Pf 1 1 nan\nabcd", GI_E_FORMAT},
        {"Pf 1 1 1x\nabcd", GI_E_FORMAT},
        {"Pf 1 1 x\nabcd", GI_E_FORMAT},
        {"Pf 1 0000000000000000000000000000000000000001 1\nabcd", GI_E_FORMAT},
        {"Pf 1 1 -1", GI_E_FORMAT},
        {"Pf 1 1 ", GI_E_FORMAT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cases[i].want) {
            assert_refused(cases[i].bytes, strlen(cases[i].bytes), cases[i].want, "");
            continue;
        }
        struct gi_image image = decode_or_fail(cases[i].bytes, strlen(cases[i].bytes));
        gi_image_free(&image);
    }
}

/* Several images are an error unless one is chosen. Other bytes at the end do not count as an
 * image. */
TEST(streams)
{
    static const struct {
        const char *bytes;
        bool more;
    } cases[] = {
        {"P5 2 1 255 abP5 2 1 255 cd", true}, {"P2 2 1 255 97 98\nP2 1 1 255 7", true},
        {"P5 2 1 255 ab\n", false},           {"P5 2 1 255 abP", false},
        {"P5 2 1 255 abP5x", false},          {"P2 2 1 255 97 98\n\n", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gi_image image;
        struct gi_err warning = {0}, err = {0};
        size_t n = strlen(cases[i].bytes);
        struct gi_load_options first = strictly;
        first.image = 1;
        enum gi_status status = load_bytes(&image, cases[i].bytes, n, &strictly, &warning, &err);
        assert_int_equal(status, cases[i].more ? GI_E_UNSUPPORTED : GI_OK);
        assert_true(!cases[i].more || strstr(err.text, "holds 2 images, and one is wanted"));
        gi_image_free(&image);
        assert_int_equal(load_bytes(&image, cases[i].bytes, n, &first, &warning, &err), GI_OK);
        assert_memory_equal(gi_row(&image, 0), "ab", 2);
        assert_string_equal(warning.text, "");
        gi_image_free(&image);
    }
}

/* Bitmaps are written with black as 1 and with rows that end at a byte. Images that have other
 * samples than black and white are refused. */
TEST(bitmaps)
{
    const char *path = in_folder("a.pbm");
    struct gi_save_options options = {0};
    struct gi_image image;
    assert_int_equal(gi_image_alloc(&image, 10, 2, 1, GI_U8, NULL), GI_OK);
    for (int x = 0; x < 10; x++) {
        ((uint8_t *)gi_row(&image, 0))[x] = x % 3 ? 255 : 0;
        ((uint8_t *)gi_row(&image, 1))[x] = x == 9 ? 0 : 255;
    }
    save_or_fail(&image, path, options);
    static const char want[] = "P4\n10 2\n\x92\x40\x00\x40";
    struct bytes file = read_file(path);
    assert_int_equal(file.n, sizeof want - 1);
    assert_memory_equal(file.at, want, file.n);
    free(file.at);
    struct gi_image back = load_or_fail(path);
    assert_same_image(&image, &back);
    gi_image_free(&back);
    ((uint8_t *)gi_row(&image, 1))[4] = 254;
    struct gi_err err;
    assert_int_equal(gi_save(&image, NULL, path, &options, NULL, &err), GI_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "a.pbm: pbm holds black and white only, and row 1"));
    gi_image_free(&image);
}

TEST(flips)
{
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        struct bytes file = {malloc(files[f].nbytes), files[f].nbytes};
        memcpy(file.at, files[f].bytes, file.n);
        check_flips(file, 1000, f);
        free(file.at);
    }
}

/* A plain file that does not end in white space may be cut within its last number. */
TEST(cut_numbers)
{
    static const struct {
        const char *file;
        bool warns;
    } cases[] = {
        {"P2 2 1 255 7 123\n", false},  {"P2 2 1 255 7 123", false}, {"P2 2 1 255 7 12", true},
        {"P2 2 1 255 7 25", true},      {"P2 2 1 255 7 26", false},  {"P2 2 1 255 7 0", false},
        {"P2 2 1 255 7 1 ", false},     {"P2 2 1 255 7 1#", false},  {"P2 2 1 1 1 1", false},
        {"P3 1 1 65535 7 8 655", true}, {"P1 2 1 11", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gi_image image;
        struct gi_err err, warning;
        assert_int_equal(
            load_bytes(&image, cases[i].file, strlen(cases[i].file), &strictly, &warning, &err),
            GI_OK);
        assert_int_equal(warning.status, cases[i].warns ? GI_E_FORMAT : GI_OK);
        gi_image_free(&image);
    }
}

/* Only the first warning in this order is given: a sample over the maximum, a truncated number. */
TEST(first_warning)
{
    static const char *const both[] = {"P2 2 1 99 100 1", "P2 2 1 99 100 1 #P2 1 1 9 5",
                                       "P5 2 1 99 \xffx"};
    for (int i = 0; i < 3; i++) {
        struct gi_image image;
        struct gi_err err, warning;
        assert_int_equal(load_bytes(&image, both[i], strlen(both[i]), &partially, &warning, &err),
                         GI_OK);
        assert_non_null(strstr(warning.text, "over its own maximum 99"));
        gi_image_free(&image);
    }
}

TEST_FRAME(.before = setup, .after = teardown)
