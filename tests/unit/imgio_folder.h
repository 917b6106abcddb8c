/* The folder that a test program writes into, and the paths of files in it.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio_util.h"

extern char folder[64]; /* from setup() to teardown() */
int setup(void **state);
int teardown(void **state);
/* Returns the path of the file `name` in the folder. The path is valid until the fourth call after
 * this one. */
const char *in_folder(const char *name);
