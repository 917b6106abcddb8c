/* Brace lists as in shells and WebDataset: "x-{000..999}.tar", "{train,val}.tar".
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "imgio/status.h"

enum { GI_BRACE_NAMES_MAX = 1000000 };

/* Expands `text` to names, in order. A text without braces expands to one name. {A..B} stands for
 * all numbers from A to B. If A or B starts with 0, all numbers are filled up with zeros to the
 * length of the longer of A and B. {a,b,c} stands for each of its words. Other braces are kept.
 * Both arrays belong to the caller; gi_brace_free() frees them, also after an error. Errors:
 * GI_E_USAGE for more than GI_BRACE_NAMES_MAX. */
enum gi_status gi_brace_list(char ***names, size_t *n, const char *text, struct gi_err *err);
void gi_brace_free(char ***names, size_t n);
