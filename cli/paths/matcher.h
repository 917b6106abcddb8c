/* Which inputs are processed, by patterns of names (--only, --except, --for).
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "imgio/status.h"

/* A list of patterns. */
struct gi_patterns {
    char **patterns; /* owned here */
    size_t n;
    bool used; /* some name matched */
};

/* Adds the patterns in the value of --OPTION, "*.jpg,*.png", which ends at a zero or at
 * GI_OPTION_NEXT. NULL adds none. Errors: GI_E_USAGE for an empty pattern. */
enum gi_status gi_patterns_read(struct gi_patterns *patterns, const char *option, const char *text,
                                struct gi_err *err);
/* Prints " --OPTION 'PATTERNS'", nothing if there are none. */
void gi_patterns_print(FILE *out, const struct gi_patterns *patterns, const char *option);

/* The rule of an input. Rule N above GI_RULE_MAIN is the N-th --for, which has a chain of its own.
 */
enum { GI_RULE_NOT_CHOSEN = -1, GI_RULE_MAIN = 0 };

/* The patterns of the options; all zero: every input has GI_RULE_MAIN. */
struct gi_matcher {
    struct gi_patterns only, except;
    struct gi_patterns *of_rules; /* n, those of --for; owned here */
    int n;
};

/* Reads values of --only and --except, which may be NULL. gi_matcher_free() frees the patterns,
 * also after an error. Errors: as gi_patterns_read(). */
enum gi_status gi_matcher_read(struct gi_matcher *matcher, const char *only, const char *except,
                               struct gi_err *err);
void gi_matcher_free(struct gi_matcher *matcher);

/* Returns the rule of the input with this name, which is a path in a tree, the name of a member of
 * a tar, or a path as the user gave it. `matcher` may be NULL. One thread at a time may call
 * this.
 */
int gi_matcher_rule(struct gi_matcher *matcher, const char *name);
/* Warns of the options with patterns that no name has matched so far. `matcher` may be NULL. */
void gi_matcher_warn(const struct gi_matcher *matcher);
