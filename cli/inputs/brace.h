/* Brace lists, as shells and WebDataset have them: "x-{000..999}.tar", "{train,val}.tar".
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_INPUTS_BRACE_H
#define GI_CLI_INPUTS_BRACE_H

#include <stddef.h>

#include "imgio/status.h"

enum { GI_BRACE_NAMES_MAX = 1000000 };

/* The names that `text` stands for, in order, one where it has no braces: {A..B} is every number
 * from A to B, as wide as the wider one where either starts with 0; {a,b,c} each of these; other
 * braces are themselves. Both are the caller's, to be freed by gi_brace_free(), also after an
 * error. Errors: GI_E_USAGE for more than GI_BRACE_NAMES_MAX, GI_E_MEMORY. */
enum gi_status gi_brace_list(char ***names, size_t *n, const char *text, struct gi_err *err);
void gi_brace_free(char ***names, size_t n);

#endif
