/* The folder that a test program writes into, and the paths of files in it.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio_util.h"

extern char folder[64]; /* from setup() to teardown() */

/* Members of TEST_FRAME(). setup() makes the folder, teardown() removes it; enter_folder() also
 * makes it the working directory, and leave_folder() leaves it first. */
int setup(void **state);
int teardown(void **state);
int enter_folder(void **state);
int leave_folder(void **state);

/* Sets the array `path` to the path of the file `name` in the folder. */
#define TEST_PATH(path, name)                                                                      \
    static int set_path(void **state)                                                              \
    {                                                                                              \
        setup(state);                                                                              \
        snprintf(path, sizeof path, "%s/%s", folder, name);                                        \
        return 0;                                                                                  \
    }                                                                                              \
    TEST_FRAME(.first = set_path, .last = teardown)

/* Returns the path of the file `name` in the folder. The path is valid until the fourth call after
 * this one. */
const char *in_folder(const char *name);
