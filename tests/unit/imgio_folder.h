/* The folder that a test program writes into, and the paths of files in it.
 * SPDX-License-Identifier: MIT */
#ifndef GI_TESTS_IMGIO_FOLDER_H
#define GI_TESTS_IMGIO_FOLDER_H

#include "imgio_util.h"

static char folder[64]; /* from setup() to teardown() */

static int setup(void **state)
{
    (void)state;
    strcpy(folder, make_folder());
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    remove_folder(folder);
    return 0;
}

/* Returns the path of the file `name` in the folder. The path is valid until the fourth call after
 * this one. */
static const char *in_folder(const char *name)
{
    static char paths[4][512];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

#endif
