/* The frame of a test program: TEST(name) {...} is a test, and main(), in test.c, runs the tests in
 * the order of the file. A word on the command line selects tests by name.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>

#define TEST(name)                                                                                 \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void name##_is_a_test(void)                                \
    {                                                                                              \
        test_add((struct CMUnitTest)cmocka_unit_test(name));                                       \
    }                                                                                              \
    static void name(void **state)

void test_add(struct CMUnitTest test);

/* Functions around the tests of a program. Each returns 0, or another number if it fails. NULL:
 * none. */
struct test_frame {
    CMFixtureFunction first, last;   /* before the first test, after the last test */
    CMFixtureFunction before, after; /* before and after each test */
    bool reads_words;                /* the words of the command line do not select tests */
};
extern struct test_frame test_frame;

/* Sets members of test_frame: TEST_FRAME(.first = open_cpu, .last = close_cpu) */
#define TEST_FRAME(...)                                                                            \
    __attribute__((constructor)) static void test_frame_is_set(void)                               \
    {                                                                                              \
        test_frame = (struct test_frame){__VA_ARGS__};                                             \
    }

/* The words of the command line. */
extern char **test_words;
extern int test_nwords;
