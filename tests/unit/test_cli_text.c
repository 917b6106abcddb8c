/* Text that is printed into memory is complete or reported as missing, whichever allocation fails.
 * Sources: cli/text*
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "test.h"
#include "cli/text.h"
#include "failing_memory.h"

enum { LINES = 3000 };

static char *print(int fail)
{
    struct gi_text_memory memory;
    calls = 0;
    fails_at = fail;
    FILE *out = gi_text_open(&memory);
    for (int i = 0; i < LINES && out; i++)
        fprintf(out, "line %d\n", i);
    char *text = gi_text_close(out, &memory);
    fails_at = 0;
    if (text)
        assert_int_equal(memory.nbytes, strlen(text));
    return text;
}

TEST(whole)
{
    char *text = print(0), *at = text;
    assert_non_null(text);
    for (int i = 0, n = 0, number = -1; i < LINES; i++, at += n) {
        assert_int_equal(sscanf(at, "line %d\n%n", &number, &n), 1);
        assert_int_equal(number, i);
    }
    assert_int_equal(*at, '\0');
    free(text);
}

TEST(nothing)
{
    struct gi_text_memory memory;
    char *text = gi_text_close(gi_text_open(&memory), &memory);
    assert_string_equal(text, "");
    free(text);
    assert_null(gi_text_close(NULL, &memory));
}

TEST(without_memory)
{
    if (!can_fail) {
        print_message("skipped: memory can't be made to fail in this build\n");
        skip();
    }
    char *want = print(0);
    int all = calls;
    assert_true(all > 3);
    for (int i = 1; i <= all; i++) {
        char *text = print(i);
        if (text)
            assert_string_equal(text, want);
        free(text);
    }
    char *text = print(all - 1); /* one of the last allocations */
    assert_null(text);
    free(want);
}
