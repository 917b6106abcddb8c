/* Text that is printed into memory is complete or reported as missing, whichever allocation fails.
 * Sources: cli/text*
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "test.h"
#include "cli/text.h"
#include "failing_memory.h"

enum { LINES = 3000 };

static char *print(bool large)
{
    struct gi_text_memory memory;
    FILE *out = large ? gi_text_open_large(&memory) : gi_text_open(&memory);
    for (int i = 0; i < LINES; i++)
        fprintf(out, "line %d\n", i);
    char *text = gi_text_close(out, &memory);
    if (text)
        assert_int_equal(memory.nbytes, strlen(text));
    return text;
}

TEST(whole)
{
    char *text = print(false), *at = text;
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
}

/* Whether the text is large, and what it must be. */
struct wanted {
    bool large;
    const char *text;
};

/* Returns whether the text is missing. */
static int print_wanted(void *arg)
{
    const struct wanted *wanted = arg;
    char *text = print(wanted->large);
    stop_failing();
    if (text)
        assert_string_equal(text, wanted->text);
    return !text;
}

/* A small text ends the process, and a large one is missing. */
TEST(without_memory)
{
    if (!can_fail) {
        print_message("skipped: memory can't be made to fail in this build\n");
        skip();
    }
    char *want = print(false);
    for (int large = 0; large < 2; large++) {
        struct wanted wanted = {large, want};
        int ended = 0, missing = 0;
        bool came = true;
        for (int n = 1; came; n++) {
            int result = run_without_memory(n, print_wanted, &wanted, &came);
            ended += result == SMALL_FAILED;
            missing += result == 1;
        }
        assert_true(ended > 1);
        assert_int_equal(missing > 2, large);
    }
    free(want);
}
