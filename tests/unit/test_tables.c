/* The parts of analyses' tables and pictures are right: numbers as text, headers of .npy files, and
 * overlays.
 * Sources: cli/tables cli/plot imgio/npy*
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "imgio/npy.h"
#include "cli/json.h"
#include "cli/tables/cells.h"
#include "cli/tables/number.h"
#include "cli/text.h"
#include "cli/plot/overlay.h"

static void check_real(double value, const char *want)
{
    char text[GI_NUMBER_NBYTES + 1];
    *gi_number_real(text, value, "null") = '\0';
    assert_string_equal(text, want);
}

TEST(test_numbers)
{
    char text[GI_NUMBER_NBYTES + 1];
    *gi_number_whole(text, UINT64_MAX) = '\0';
    assert_string_equal(text, "18446744073709551615");
    *gi_number_whole(text, 0) = '\0';
    assert_string_equal(text, "0");
    check_real(0, "0");
    check_real(-0.0, "0");
    check_real(-17, "-17");
    check_real(2.5, "2.5");
    check_real(-1.000000001, "-1.000000001");
    check_real(1.0000000004, "1");
    check_real(1.9999999999, "2");
    check_real(0.1, "0.1");
    check_real(9007199254740991.0, "9007199254740991");
    check_real(1e300, "1e+300");
    check_real(1.0 / 3, "0.333333333333");
    check_real(NAN, "null");
    check_real(-INFINITY, "null");
}

/* A row with every type of column, and one whose values are missing. */
TEST(test_cells)
{
    struct row {
        char name[16];
        const char *text;
        int whole;
        uint64_t large;
        bool flag;
        double real;
    } rows[] = {{"red", "a, \"b\"", 7, UINT64_MAX, true, 0.1}, {"blue", NULL, -1, 0, false, NAN}};
    const struct gi_column columns[] = {
        GI_COLUMN("name", NULL, NAME, struct row, name),
        GI_COLUMN("text", NULL, TEXT, struct row, text),
        GI_COLUMN("whole", NULL, INT, struct row, whole),
        GI_COLUMN("large", NULL, WHOLE, struct row, large),
        GI_COLUMN("flag", NULL, BOOL, struct row, flag),
        GI_COLUMN("real_part", "dB", REAL, struct row, real),
    };
    const struct gi_cell_style csv = {0, "", 0, 0}, line = {3, "-", 14, 5};
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    gi_cells_csv_names(out, columns, 6);
    for (int i = 0; i < 2; i++) {
        putc('\n', out);
        gi_cells_csv(out, columns, 6, &csv, &rows[i]);
    }
    putc('\n', out);
    gi_cells_line(out, &columns[5], &line, rows, sizeof *rows, 2);
    json_t *object = json_object();
    gi_cells_json(object, columns, 3, &rows[1]);
    gi_cells_json(object, columns + 4, 2, &rows[0]);
    gi_json_print_for(-1, out, object, 0, NULL);
    char *text = gi_text_close(out, &memory);
    assert_string_equal(text,
                        "name,text,whole,large,flag,real_part\n"
                        "red,\"a, \"\"b\"\"\",7,18446744073709551615,1,0.1\n"
                        "blue,,,0,0,\n"
                        "real part, dB   0.1    -\n"
                        "{\"name\": \"blue\", \"text\": null, \"whole\": null, \"flag\": true, "
                        "\"real_part\": 0.10000000000000001}\n");
    free(text);
}

/* Every float is unchanged after printing and parsing. */
TEST(test_floats_return)
{
    uint32_t bits = 12345;
    for (int i = 0; i < 200000; i++) {
        float value;
        char text[GI_NUMBER_NBYTES + 1];
        bits = bits * 1664525u + 1013904223u;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        *gi_number_real(text, (double)value, "null") = '\0';
        assert_true(strtof(text, NULL) == value);
    }
}

TEST(test_npy)
{
    char path[] = "/tmp/gpuimg-npy-XXXXXX", bytes[256];
    const uint64_t shape[] = {3, 5};
    struct gi_sink *sink;
    struct gi_err err = {0};
    close(mkstemp(path));
    assert_int_equal(gi_sink_open(&sink, path, false, &err), GI_OK);
    assert_int_equal(gi_npy_head(sink, "'<u4'", shape, 2, &err), GI_OK);
    assert_int_equal(gi_sink_commit(&sink, false, &err), GI_OK);
    FILE *file = fopen(path, "rb");
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    unlink(path);
    assert_int_equal(n, 128);
    assert_memory_equal(bytes, "\x93NUMPY\x01\x00\x76\x00", 10);
    const char *words = "{'descr': '<u4', 'fortran_order': False, 'shape': (3, 5), }";
    assert_memory_equal(bytes + 10, words, strlen(words));
    assert_int_equal(bytes[127], '\n');
    assert_true(gi_npy_is("a.NPY") && !gi_npy_is("npy") && !gi_npy_is("a.npy.png"));
}

/* Gray with alpha becomes RGBA, and a frame surrounds the region. The pixels of the region are
 * stretched: black and white are near the 0.1th and the 99.9th percentile of all samples. */
TEST(test_overlay)
{
    enum { SIDE = 40 };
    static uint16_t samples[SIDE * SIDE * 2];
    for (int i = 0; i < SIDE * SIDE; i++) {
        samples[2 * i] = (uint16_t)(i * 3);
        samples[2 * i + 1] = 1000;
    }
    struct gi_image src = {.data = samples,
                           .stride = SIDE * 4,
                           .width = SIDE,
                           .height = SIDE,
                           .channels = 2,
                           .type = GI_U16};
    struct gi_region_sums region = {
        .area = 100, .min_x = 20, .max_x = 29, .min_y = 20, .max_y = 29};
    struct gi_extract extract = {.n = 1, .found = 1, .regions = &region};
    struct gi_image dst;
    assert_int_equal(gi_overlay(&dst, &src, &extract, 1, NULL), GI_OK);
    assert_true(dst.channels == 4 && dst.type == GI_U16);
    for (int y = 20; y < 30; y++) {
        const uint16_t *row = gi_row(&dst, y);
        for (int x = 20; x < 30; x++) {
            double want = 65535.0 * (y * SIDE + x) / (SIDE * SIDE - 1);
            for (int c = 0; c < 3; c++)
                assert_true(fabs(row[4 * x + c] - want) < 0.002 * 65535);
            assert_int_equal(row[4 * x + 3], 1000);
        }
        assert_true(row[4 * 19] == 65535 && row[4 * 19 + 3] == 65535 && row[4 * 30] == 65535);
    }
    assert_int_equal(((uint16_t *)gi_row(&dst, 0))[0], 0);
    assert_int_equal(((uint16_t *)gi_row(&dst, 39))[4 * 39], 65535);
    gi_image_free(&dst);
    /* The region fills the image, so the frame and the number are drawn inside it. */
    region = (struct gi_region_sums){.area = 1, .max_x = SIDE - 1, .max_y = SIDE - 1};
    assert_int_equal(gi_overlay(&dst, &src, &extract, 1, NULL), GI_OK);
    assert_int_equal(((uint16_t *)gi_row(&dst, 39))[4 * 20], 65535);
    gi_image_free(&dst);
}

/* The image is narrower than the number. The excess is clipped, and does not continue in the next
 * row. */
TEST(test_overlay_narrow)
{
    float samples[20] = {0};
    struct gi_image dst, src = {.data = samples,
                                .stride = sizeof(float),
                                .width = 1,
                                .height = 20,
                                .channels = 1,
                                .type = GI_F32};
    struct gi_region_sums region = {.area = 1};
    struct gi_extract extract = {.n = 1, .found = 1, .regions = &region};
    assert_int_equal(gi_overlay(&dst, &src, &extract, 1, NULL), GI_OK);
    for (int y = 0; y < 20; y++)
        assert_true(*(float *)gi_row(&dst, y) ==
                    (y < 9 ? 1.0f : 0.0f)); /* the number's background is 9 high */
    gi_image_free(&dst);
}
