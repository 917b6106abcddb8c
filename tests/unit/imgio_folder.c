/* The folder that a test program writes into.
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

char folder[64];

int setup(void **state)
{
    strcpy(folder, make_folder());
    return 0;
}

int teardown(void **state)
{
    remove_folder(folder);
    return 0;
}

int enter_folder(void **state)
{
    setup(state);
    return chdir(folder);
}

int leave_folder(void **state)
{
    return chdir("/") || teardown(state);
}

const char *in_folder(const char *name)
{
    static char paths[4][512];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}
