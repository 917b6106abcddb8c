/* Names that other programs have for commands.
 * SPDX-License-Identifier: MIT */
#pragma once

/* A name that another program uses, in lower case, and its equivalent here: a command, perhaps with
 * an option or a note behind it, or "help" and a page. */
struct gi_synonym {
    const char *word, *means;
};

/* Meanings of words in both lists. */
#define GI_SYNONYM_DESPECKLE                                                                       \
    "median --threshold (in masks remove-small; for dark specks gpuimg run 'invert | "             \
    "remove-small "                                                                                \
    "| invert')"

/* Lists that end with a row whose word is NULL. */
extern const struct gi_synonym gi_synonyms_to_m[], gi_synonyms_n_to_z[];
