/* Names that other programs have for commands.
 * SPDX-License-Identifier: MIT */
#pragma once

/* A name that another program uses, in lower case, and its equivalent here: a command, perhaps with
 * an option or a note behind it, or "help" and a page. */
struct gi_synonym {
    const char *word, *means;
};

/* The list ends with a row whose word is NULL. */
extern const struct gi_synonym gi_command_synonyms[];
