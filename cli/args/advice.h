/* Sentences for words that no command or option has, because gpuimg does it in another way or not.
 * SPDX-License-Identifier: MIT */
#pragma once

/* A sentence on what to use in place of an unknown command or option. */
struct gi_advice {
    const char *place; /* of a command: the help page that explains more; of an option: the command
                          that lacks it, or NULL for any */
    const char *word, *sentence;
};

/* Both lists end with a row whose word is NULL. */
extern const struct gi_advice gi_command_advice_rows[], gi_option_advice_rows[];
