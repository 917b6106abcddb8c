/* Headers of .npy files, byte by byte, both valid (NEP 1), as NumPy writes them, and malformed.
 * Sources: imgio/npy*
 * SPDX-License-Identifier: MIT */
#include "imgio_util.h"

enum { HEAD = 200, DATA = 24 };

/* Makes a file of version `version` whose header is `words`, followed by DATA samples 1, 2, 3 and
 * so on. Returns the file's length. */
static size_t make_file(unsigned char file[HEAD + DATA], int version, const char *words)
{
    size_t start = version == 1 ? 10 : 12, n = strlen(words);
    memset(file, 0, HEAD + DATA);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (unsigned char)version;
    file[8] = (unsigned char)n;
    memcpy(file + start, words, n);
    for (size_t i = 0; i < DATA; i++)
        file[start + n + i] = (unsigned char)(i + 1);
    return start + n + DATA;
}

TEST(headers)
{
    static const struct {
        const char *words, *says; /* NULL: it is an image of this shape */
        int width, height, channels;
        enum gi_type type;
        unsigned first, second; /* samples of the first row */
    } cases[] = {
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (4, 6), }\n", NULL, 6, 4, 1, GI_U8, 1,
         2},
        {"{'shape':(2,3,4),'descr':\"<u1\",'fortran_order':False}", NULL, 3, 2, 4, GI_U8, 1, 2},
        {"{'descr' : '=u1', 'fortran_order': True, 'shape': ( 4 , 6 )}", NULL, 6, 4, 1, GI_U8, 1,
         5},
        {"{'descr': '>u2', 'fortran_order': False, 'shape': (3, 4)}", NULL, 4, 3, 1, GI_U16, 0x102,
         0x304},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (3, 4)}", NULL, 4, 3, 1, GI_U16, 0x201,
         0x403},
        {"{'descr': '>u2', 'fortran_order': True, 'shape': (3, 4)}", NULL, 4, 3, 1, GI_U16, 0x102,
         0x708},
        {"{'descr': '!u1', 'fortran_order': False, 'shape': (4, 6)}",
         "want bool, integers or floats", 0, 0, 0, 0, 0, 0},
        {"{'descr': '<u1x', 'fortran_order': False, 'shape': (4, 6)}",
         "want bool, integers or floats", 0, 0, 0, 0, 0, 0},
        {"{'descr': '<f1', 'fortran_order': False, 'shape': (4, 6)}", "an array of '<f1'; want", 0,
         0, 0, 0, 0, 0},
        {"{'descr': [('a', '<u1')], 'fortran_order': False, 'shape': (4, 6)}", "want bool", 0, 0, 0,
         0, 0, 0},
        {"{'descr'; '|u1', 'fortran_order': False, 'shape': (4, 6)}", "want descr, shape", 0, 0, 0,
         0, 0, 0},
        {"{'descr': '|u1', 'shape': (4, 6)}", "want descr, shape, fortran_order", 0, 0, 0, 0, 0, 0},
        {"{'descr': '|u1', 'fortran_order': False}", "want descr, shape", 0, 0, 0, 0, 0, 0},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': 24}", "shape", 0, 0, 0, 0, 0, 0},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (24,)}", "shape", 0, 0, 0, 0, 0, 0},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (-4, 6)}", "shape", 0, 0, 0, 0, 0, 0},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (four, 6)}", "shape", 0, 0, 0, 0, 0, 0},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (4; 6)}", "shape", 0, 0, 0, 0, 0, 0},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 4, 6)}", "shape", 0, 0, 0, 0, 0,
         0},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2000, 1, 2000)}", "shape", 0, 0, 0, 0,
         0, 0},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (4, 6, 0)}", "pixels", 0, 0, 0, 0, 0,
         0},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (4, 0)}", "pixels", 0, 0, 0, 0, 0, 0},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999, 6)}", "shape", 0,
         0, 0, 0, 0, 0},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (5, 6)}", "ends early", 0, 0, 0, 0, 0,
         0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int version = 1; version <= 3; version++) {
            unsigned char file[HEAD + DATA];
            size_t n = make_file(file, version, cases[i].words);
            if (cases[i].says) {
                assert_refused(file, n, GI_OK, cases[i].says);
                continue;
            }
            struct gi_image image = decode_or_fail(file, n);
            assert_int_equal(image.width, cases[i].width);
            assert_int_equal(image.height, cases[i].height);
            assert_int_equal(image.channels, cases[i].channels);
            assert_int_equal(image.type, cases[i].type);
            const uint8_t *bytes = (const uint8_t *)gi_row(&image, 0);
            const uint16_t *words = (const uint16_t *)gi_row(&image, 0);
            assert_int_equal(image.type == GI_U8 ? bytes[0] : words[0], cases[i].first);
            assert_int_equal(image.type == GI_U8 ? bytes[1] : words[1], cases[i].second);
            gi_image_free(&image);
        }
}

/* 32-bit integers are read as labels if the caller asks for labels, and otherwise as floats. */
TEST(labels)
{
    static const struct {
        const char *words;
        uint32_t first, second;
    } cases[] = {
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (2, 3)}", 0x4030201, 0x8070605},
        {"{'descr': '>u4', 'fortran_order': False, 'shape': (2, 3)}", 0x1020304, 0x5060708},
        {"{'descr': '>u4', 'fortran_order': True, 'shape': (2, 3)}", 0x1020304, 0x90a0b0c},
    };
    struct gi_load_options options = strictly;
    unsigned char file[HEAD + DATA];
    struct gi_image image;
    struct gi_err err;
    options.labels = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = make_file(file, 1, cases[i].words);
        image = decode_or_fail(file, n);
        assert_true(image.type == GI_F32 && *(float *)gi_row(&image, 0) == (float)cases[i].first);
        gi_image_free(&image);
        assert_int_equal(load_bytes(&image, file, n, &options, NULL, &err), GI_OK);
        assert_true(image.type == GI_U32 && image.width == 3 && image.height == 2);
        assert_int_equal(((uint32_t *)gi_row(&image, 0))[0], cases[i].first);
        assert_int_equal(((uint32_t *)gi_row(&image, 0))[1], cases[i].second);
        gi_image_free(&image);
    }
    size_t n = make_file(file, 1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3)}");
    file[n - DATA + 3] = 0x80;
    assert_int_equal(load_bytes(&image, file, n, &options, NULL, &err), GI_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "has a label outside 0 to 4294967295 in row 0"));
}

/* Some lengths and versions are invalid, and some files are cut within their first bytes. */
TEST(preamble)
{
    static const char words[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 6), }\n";
    static const struct {
        size_t at;
        int value;
        const char *says;
    } cases[] = {
        {6, 0, "damaged header"},  {6, 4, "damaged header"}, {8, 0, "want descr"},
        {8, 255, "in its header"}, {9, 15, "in its header"}, {9, 16, "in its header"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char file[HEAD + DATA];
        size_t n = make_file(file, 1, words);
        file[cases[i].at] = (unsigned char)cases[i].value;
        assert_refused(file, n, GI_E_FORMAT, cases[i].says);
    }
    unsigned char file[HEAD + DATA];
    size_t n = make_file(file, 1, words);
    check_truncations((struct bytes){file, n}, n);
    n = make_file(file, 2, words);
    file[10] = 1; /* 65,536 bytes more */
    assert_refused(file, n, GI_E_FORMAT, "in its header");
}

/* In Fortran order a truncated array lacks samples in every row. In C order its first rows are
 * complete. */
TEST(parts)
{
    static const char *const words[] = {
        "{'descr': '|u1', 'fortran_order': False, 'shape': (8, 6)}",
        "{'descr': '|u1', 'fortran_order': True, 'shape': (8, 6)}",
    };
    for (int i = 0; i < 2; i++) {
        unsigned char file[HEAD + DATA];
        size_t n = make_file(file, 1, words[i]);
        struct gi_image image;
        struct gi_err err, warning = {0};
        assert_int_equal(load_bytes(&image, file, n, &partially, &warning, &err), GI_OK);
        assert_int_equal(warning.status, GI_E_FORMAT);
        for (int y = 0; y < 8; y++)
            assert_int_equal(((uint8_t *)gi_row(&image, y))[5], i == 0 && y < 4 ? 6 * y + 6 : 0);
        gi_image_free(&image);
    }
}
