/* When memory runs out, the process ends before it prints JSON, and a name that is not UTF-8 is
 * unchanged after writing and reading.
 * Sources: cli/json*
 * SPDX-License-Identifier: MIT */
#include "imgio_util.h"

#include "cli/command.h"
#include "cli/json.h"
#include "failing_memory.h"

/* Makes an object without checking what jansson's functions return, as the commands do. */
static json_t *make(void)
{
    json_t *object = json_object(), *rows = json_array();
    json_object_set_new(object, "file", gi_json_text("a\xff.png"));
    for (int i = 0; i < 20; i++) {
        json_t *row = json_object();
        json_object_set_new(row, "mean", gi_json_real(i / 3.0));
        json_object_set_new(row, "count", json_integer(i));
        json_array_append_new(rows, row);
    }
    json_object_set_new(object, "rows", rows);
    return object;
}

static struct bytes print(enum gi_status *status)
{
    int at = fails_at;
    fails_at = 0;
    FILE *file = tmpfile();
    struct gi_err err = {0};
    assert_non_null(file);
    setvbuf(file, NULL, _IONBF, 0);
    calls = 0;
    fails_at = at;
    gi_json_start();
    *status = gi_json_print(file, make(), 0, &err);
    stop_failing();
    assert_int_equal(*status, err.status);
    rewind(file);
    struct bytes b = read_stream(file);
    fclose(file);
    return b;
}

/* A name with bytes that are not UTF-8 is unchanged after writing and reading, and UTF-8 text stays
 * readable. */
TEST(names)
{
    static const char *const cases[] = {"a.png",     "\xc3\xa4.png", "\xef\xbf\xbd", "\xff",
                                        "a\xe4\n\"", "\xc3",         "\xed\xa0\x80", ""};
    static const char *const hexes[] = {NULL, NULL, NULL, "ff", "61e40a22", "c3", "eda080", NULL};
    gi_json_start();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *object = json_object(), *again;
        gi_json_set_name(object, "input", cases[i]);
        char *text = gi_json_dump(object, 0);
        assert_non_null(text);
        again = gi_json_read(text);
        assert_non_null(again);
        const char *hex = json_string_value(json_object_get(again, "input_hex"));
        assert_true(hex ? hexes[i] && strcmp(hex, hexes[i]) == 0 : !hexes[i]);
        char *name = gi_json_name(again, "input");
        assert_string_equal(name, cases[i]);
        assert_null(gi_json_name(again, "output"));
        free(name);
        free(text);
        json_decref(again);
    }
}

/* If the hexadecimal digits of a name are invalid, its readable form is used. */
TEST(damaged_names)
{
    static const char *const texts[] = {"{\"input\": \"a\", \"input_hex\": \"6\"}",
                                        "{\"input\": \"a\", \"input_hex\": \"6g\"}",
                                        "{\"input\": \"a\", \"input_hex\": 7}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_t *object = gi_json_read(texts[i]);
        char *name = gi_json_name(object, "input");
        assert_string_equal(name, "a");
        free(name);
        json_decref(object);
    }
}

static int print_as(void *want)
{
    enum gi_status status;
    struct bytes got = print(&status), *whole = want;
    assert_int_equal(status, GI_OK);
    assert_int_equal(got.n, whole->n);
    assert_memory_equal(got.at, whole->at, got.n);
    return 0;
}

TEST(every_allocation)
{
    if (!can_fail)
        skip();
    enum gi_status status;
    bool came = true;
    struct bytes want = print(&status);
    assert_int_equal(status, GI_OK);
    assert_non_null(memmem(want.at, want.n, "a\xef\xbf\xbd.png", 8));
    counted = -1;
    int ended = 0, n = 1;
    for (; came; n++)
        ended += run_without_memory(n, print_as, &want, &came) == SMALL_FAILED;
    free(want.at);
    print_message("%d of %d allocations ended the process\n", ended, n - 2);
    assert_true(ended > 100);
}
