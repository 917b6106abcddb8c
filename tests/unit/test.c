/* The main() of the test programs.
 * SPDX-License-Identifier: MIT */
#include "test.h"

enum { TESTS_MAX = 64 };

struct test_frame test_frame;
char **test_words;
int test_nwords;

static struct CMUnitTest tests[TESTS_MAX];
static size_t ntests;

void test_add(struct CMUnitTest test)
{
    assert_in_range(ntests, 0, TESTS_MAX - 1);
    tests[ntests++] = test;
}

int main(int argc, char **argv)
{
    test_words = argv + 1;
    test_nwords = argc - 1;
    if (test_nwords && !test_frame.reads_words)
        cmocka_set_test_filter(test_words[0]);
    for (size_t i = 0; i < ntests; i++) {
        tests[i].setup_func = test_frame.before;
        tests[i].teardown_func = test_frame.after;
    }
    return _cmocka_run_group_tests("tests", tests, ntests, test_frame.first, test_frame.last);
}
