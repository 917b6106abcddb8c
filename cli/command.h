/* The rows that describe commands, and the functions that read their arguments.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "filters/filter.h"

#define GI_VERSION      "0.1.0"
#define GI_VERSION_DATE "2026-11-21" /* date of the manual pages */

/* GI_EXIT_AGAIN means that the machine failed and not the input, so that a later run may succeed
 * (EX_TEMPFAIL of sysexits.h). */
enum { GI_EXIT_OK = 0, GI_EXIT_FAILED = 1, GI_EXIT_USAGE = 2, GI_EXIT_AGAIN = 75 };

enum { GI_OPTION_SETS_MAX = 5 };

/* A set of option rows, and the struct that receives their values. */
struct gi_option_set {
    const char *title; /* heading in the help: "Options", "Input and output" */
    const struct gi_option *rows;
    size_t params_nbytes;
};

/* A command is one row. Operations from image to image share the row gi_command_filter. */
struct gi_reporter;
struct gi_drawings;
struct gi_command {
    const char *name;
    enum gi_group group;
    /* The operands in the synopsis: "INPUT OUTPUT", "[COMMAND]", "bash|zsh|fish", or "" if there
     * are none. Completion recognises COMMAND, OPERATION, words separated by |, and a first word in
     * lower case. For all other operands it offers files. */
    const char *operands;
    const char *summary; /* one line, no full stop */
    const char *manual;  /* paragraphs, separated by blank lines */
    /* Lines like "gpuimg blur in.png out.png --k 5"; NULL if there are none. */
    const char *examples;
    /* Sets `line` to line i of a text that help and manual print after the options: line 0 is the
     * heading of the text, and the other lines come from other tables. Returns NULL past the end.
     * The pointer is NULL if there is no such text. */
    const char *(*more)(int i, char *line, size_t nbytes);
    int min_operands, max_operands; /* max -1: any number */
    /* More operands than max_operands are allowed if the last one names a TIFF, in which the images
     * of the others become pages. */
    bool joins;
    /* The sets of options. A set without rows ends the array. If `filter` is not NULL, sets[0] may
     * be empty, and `name`, `summary`, `manual` and `examples` may be missing, because
     * gi_command_at() takes them from the filter. */
    struct gi_option_set sets[GI_OPTION_SETS_MAX];
    /* The exit status after a failed file or operation; 0 means GI_EXIT_FAILED. */
    int trouble;
    /* The operation of the command, or NULL. Its options are in one of the sets, and its check() is
     * called before `run`. */
    const struct gi_filter *filter;
    const struct gi_reporter *reporter; /* of an analysis and its steps in chains */
    const struct gi_drawings *drawings; /* of an operation that draws (cli/args/drawings.h) */
    /* Runs the command and prints its data to stdout; `params[i]` belongs to sets[i]. On failure it
     * fills `err` and returns the status, from which main() derives the exit status. If the text of
     * `err` is "", the error has already been logged (gi_cli_log). */
    enum gi_status (*run)(const struct gi_command *command, void *const *params, char **operands,
                          int noperands, struct gi_err *err);
};

/* Fills `command` with the row at `index` in the order of the help, operations included. Returns
 * false past the end. */
bool gi_command_at(struct gi_command *command, int index);
bool gi_command_find(struct gi_command *command, const char *name);

/* The headings of the help, by enum gi_group. */
extern const char *const gi_group_titles[GI_GROUPS];

/* Returns the index in command->sets of the set with these rows, or -1. */
int gi_command_set(const struct gi_command *command, const struct gi_option *rows);
/* Returns the row of the first set that the first operand stands for, or NULL if there is none. */
const struct gi_option *gi_command_operand(const struct gi_command *command);

/* Returns whether many commands share these rows, so that help explains them once, in `gpuimg help
 * common`. */
bool gi_options_are_shared(const struct gi_option *rows);

/* Returns whether the row is --format and has the choice json, which -j and --json abbreviate. */
bool gi_option_has_json(const struct gi_option *row);
const struct gi_option *gi_option_json(const struct gi_command *command);

/* A text that an option needs besides argv: that of the file that a GI_OPT_CONTENT names, or the
 * joined texts of an option that repeats. */
struct gi_content {
    void *text;                  /* owned; NULL: the option's value is itself the text */
    const struct gi_option *row; /* the option */
    const char *file;            /* as given; NULL: `text` is not that of a file */
};

/* The parsed arguments of a command. */
struct gi_args {
    void *params[GI_OPTION_SETS_MAX]; /* defaults, replaced by the given values */
    char **operands;                  /* the array is owned here; its texts belong to argv */
    int noperands;
    bool help; /* --help was given, so that nothing else was checked */
    struct gi_content *contents;
    int ncontents;
};

/* Reads argv[1] and on as options and operands of `command` (argv[0] is its name), and checks them
 * all before any work. Errors: GI_E_USAGE, GI_E_MEMORY, GI_E_IO; `args` must always be freed. */
enum gi_status gi_args_read(struct gi_args *args, const struct gi_command *command, int argc,
                            char **argv, struct gi_err *err);
void gi_args_free(struct gi_args *args);

/* gi_command_nearest() suggests a command for the unknown `name`, such as "blur", or a command with
 * an option, such as "edges --operator sobel". gi_option_nearest() suggests an option of `command`
 * without dashes, such as "device cuda". Both return NULL if nothing is similar
 * (cli/args/suggestion.c). */
const char *gi_command_nearest(const char *name);
const char *gi_option_nearest(const struct gi_command *command, const char *name);
/* Return a sentence on what to use in place of the unknown name, or NULL if there is none. It comes
 * before a suggestion. */
const char *gi_command_advice(const char *name);
const char *gi_option_advice(const struct gi_command *command, const char *name);
/* Returns what to write in place of the value `text` that the option refused, or NULL. */
const char *gi_value_advice(const struct gi_command *command, const char *option, const char *text);
/* Returns whether another program has a command of this name that is known here. */
bool gi_command_is_synonym(const char *name);
/* Writes the advice or the suggestion for the unknown command `name` as the end of a message: ",
 * did you mean blur?", or "" if there is none. Returns buffer. */
const char *gi_command_hint(char *buffer, size_t nbytes, const char *name);
/* Returns whether the command has an option with that name of `n` characters, without dashes. */
bool gi_command_has_option(const struct gi_command *command, const char *name, size_t n);

/* Looks up the name number `index` that another program has for a command. *word becomes this name,
 * and *means the command here with the same meaning, perhaps followed by an option, or "help" and
 * the page that explains more. Both texts are static. Returns false past the end. */
bool gi_synonym_at(const char **word, const char **means, int index);

/* Returns how many letters must be changed, inserted or deleted, or neighbours swapped, to turn a
 * into b. If the lengths differ much, the number may be too large. */
int gi_word_distance(const char *a, const char *b);
