/* Rows that are read ahead are those of the source, in any order of reading; views stay valid until
 * the next call; an error is reported for its rows alone; closing waits for the thread.
 * Sources: imgio/rows_ahead* imgio/rows*
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "test.h"
#include "imgio/rows_ahead.h"

enum { WIDTH = 7, HEIGHT = 100 };

/* A source of two buffers, which fails for bands that hold row `bad`. */
struct drawn {
    struct gi_image bands[2];
    int turn, bad;
    int reads; /* calls so far */
    int last;  /* bottom of the last call */
};

static int sample(int y, int x)
{
    return (31 * y + 5 * x + 3) & 255;
}

static enum gi_status draw(void *self, struct gi_image *rows, int top, int bottom,
                           struct gi_err *err)
{
    struct drawn *drawn = self;
    drawn->reads++;
    drawn->last = bottom;
    if (top <= drawn->bad && drawn->bad < bottom)
        return gi_fail(err, GI_E_IO, "row %d is bad", drawn->bad);
    drawn->turn = !drawn->turn;
    struct gi_image *band = &drawn->bands[drawn->turn];
    memset(band->data, 0, band->stride * (size_t)band->height);
    for (int y = top; y < bottom; y++)
        for (int x = 0; x < WIDTH; x++)
            ((uint8_t *)gi_row(band, y - top))[x] = (uint8_t)sample(y, x);
    *rows = gi_image_rows(band, 0, bottom - top);
    return GI_OK;
}

static void open_source(struct drawn *drawn)
{
    *drawn = (struct drawn){.bad = -1};
    for (int i = 0; i < 2; i++)
        assert_int_equal(gi_image_alloc(&drawn->bands[i], WIDTH, HEIGHT, 1, GI_U8, NULL), GI_OK);
}

static void close_source(struct drawn *drawn)
{
    gi_image_free(&drawn->bands[0]);
    gi_image_free(&drawn->bands[1]);
}

static void assert_rows(const struct gi_row_source *rows, int top, int bottom)
{
    struct gi_image view;
    assert_int_equal(rows->read(rows->self, &view, top, bottom, NULL), GI_OK);
    assert_int_equal(view.height, bottom - top);
    for (int pass = 0; pass < 3; pass++) /* while the thread reads */
        for (int y = top; y < bottom; y++)
            for (int x = 0; x < WIDTH; x++)
                assert_int_equal(((const uint8_t *)gi_row(&view, y - top))[x], sample(y, x));
}

TEST(rows_in_order_are_read_once)
{
    for (int n = 1; n <= HEIGHT; n += 13) {
        struct drawn drawn;
        open_source(&drawn);
        const struct gi_row_source source = {&drawn, n, draw};
        struct gi_rows_ahead *ahead = gi_rows_ahead_open(&source, HEIGHT);
        const struct gi_row_source rows = gi_rows_ahead_result(ahead);
        assert_int_equal(rows.most, n);
        for (int y = 0; y < HEIGHT; y += n)
            assert_rows(&rows, y, y + n < HEIGHT ? y + n : HEIGHT);
        gi_rows_ahead_close(&ahead);
        assert_null(ahead);
        assert_int_equal(drawn.reads, (HEIGHT + n - 1) / n);
        assert_int_equal(drawn.last, HEIGHT);
        close_source(&drawn);
    }
}

TEST(rows_in_any_order_are_those_of_the_source)
{
    static const int spans[][2] = {{0, 1},   {0, 10},  {10, 20},  {5, 20}, {20, 35}, {35, 50},
                                   {50, 51}, {90, 99}, {99, 100}, {0, 60}, {60, 100}};
    struct drawn drawn;
    open_source(&drawn);
    const struct gi_row_source source = {&drawn, 1, draw};
    struct gi_rows_ahead *ahead = gi_rows_ahead_open(&source, HEIGHT);
    const struct gi_row_source rows = gi_rows_ahead_result(ahead);
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        assert_rows(&rows, spans[i][0], spans[i][1]);
    gi_rows_ahead_close(&ahead);
    close_source(&drawn);
}

TEST(an_error_is_that_of_its_rows)
{
    struct drawn drawn;
    struct gi_image view;
    struct gi_err err = {0};
    open_source(&drawn);
    drawn.bad = 25;
    const struct gi_row_source source = {&drawn, 10, draw};
    struct gi_rows_ahead *ahead = gi_rows_ahead_open(&source, HEIGHT);
    const struct gi_row_source rows = gi_rows_ahead_result(ahead);
    assert_rows(&rows, 0, 10);
    assert_rows(&rows, 10, 20); /* the thread fails at the next rows */
    assert_rows(&rows, 30, 40); /* which no read wants */
    assert_rows(&rows, 10, 20);
    assert_int_equal(rows.read(rows.self, &view, 20, 30, &err), GI_E_IO);
    assert_string_equal(err.text, "row 25 is bad");
    assert_int_equal(rows.read(rows.self, &view, 20, 30, NULL), GI_E_IO);
    assert_rows(&rows, 26, 40);
    gi_rows_ahead_close(&ahead);
    close_source(&drawn);
}

TEST(closing_waits_for_rows_that_are_read)
{
    for (int i = 0; i < 200; i++) {
        struct drawn drawn;
        open_source(&drawn);
        const struct gi_row_source source = {&drawn, 10, draw};
        struct gi_rows_ahead *ahead = gi_rows_ahead_open(&source, HEIGHT);
        const struct gi_row_source rows = gi_rows_ahead_result(ahead);
        assert_rows(&rows, 0, 10 + i % 3);
        gi_rows_ahead_close(&ahead);
        gi_rows_ahead_close(&ahead);
        close_source(&drawn);
    }
}
