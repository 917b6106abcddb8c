/* JSON when memory runs out: all of it or an error, never less.
 * SPDX-License-Identifier: MIT */
#include "imgio_util.h"

#include "cli/command.h"
#include "cli/json.h"
#include "failing_memory.h"

/* As a command makes an object: without a look at what jansson returns. */
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
    FILE *file = tmpfile();
    struct gi_err err = {0};
    assert_non_null(file);
    setvbuf(file, NULL, _IONBF, 0);
    calls = 0;
    gi_json_start();
    *status = gi_json_print(file, make(), 0, &err);
    int at = fails_at;
    fails_at = 0;
    assert_int_equal(*status, err.status);
    rewind(file);
    struct bytes b = read_stream(file);
    fclose(file);
    fails_at = at;
    return b;
}

static void every_allocation(void **state)
{
    (void)state;
    if (!can_fail)
        skip();
    enum gi_status status;
    fails_at = 0;
    struct bytes want = print(&status);
    assert_int_equal(status, GI_OK);
    assert_non_null(memmem(want.at, want.n, "a\xef\xbf\xbd.png", 8));
    int total = calls, failed = 0;
    for (int n = 1; n <= total; n++) {
        fails_at = n;
        struct bytes got = print(&status);
        fails_at = 0;
        failed += status == GI_E_MEMORY;
        assert_true(status == GI_OK || status == GI_E_MEMORY);
        assert_int_equal(got.n, status ? 0 : want.n);
        assert_memory_equal(got.at, want.at, got.n);
        free(got.at);
    }
    free(want.at);
    print_message("%d of %d allocations failed\n", failed, total);
    assert_true(failed > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
