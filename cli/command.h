/* Commands: their rows, and how their arguments are read.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_COMMAND_H
#define GI_CLI_COMMAND_H

#include <stdio.h>

#include "filters/filter.h"

#define GI_VERSION      "0.1.0"
#define GI_VERSION_DATE "2026-11-21" /* date of the manual pages */

/* GI_EXIT_AGAIN: the machine failed rather than the input; a later run may succeed (EX_TEMPFAIL of
 * sysexits.h). */
enum { GI_EXIT_OK = 0, GI_EXIT_FAILED = 1, GI_EXIT_USAGE = 2, GI_EXIT_AGAIN = 75 };

enum { GI_OPTION_SETS_MAX = 5 };

/* A set of option rows, and the struct that receives their values. */
struct gi_option_set {
    const char *title; /* heading in the help: "Options", "Input and output" */
    const struct gi_option *rows;
    size_t params_nbytes;
};

/* A command is one row. Operations from image to image share one, gi_command_filter. */
struct gi_reporter;
struct gi_command {
    const char *name;
    enum gi_group group;
    const char *operands; /* for the synopsis: "INPUT OUTPUT", "[COMMAND]", "bash|zsh|fish"; ""
                             for none. Completion offers COMMAND, OPERATION, words separated by |
                             and a first word in lower case; else it offers files */
    const char *summary;  /* one line, no full stop */
    const char *manual;   /* paragraphs, separated by blank lines */
    const char *examples; /* lines "gpuimg blur in.png out.png --k 5"; NULL: none */
    /* Text that help and manual print after the options, made from other tables: returns line i in
     * `line`, NULL past the last; line 0 is the heading. NULL: nothing. */
    const char *(*more)(int i, char *line, size_t nbytes);
    int min_operands, max_operands; /* max -1: any number */
    /* Ends with rows == NULL, or at the end of the array. With a filter the first set may be left
     * empty, and `name`, `summary`, `manual` and `examples` too: gi_command_at() takes them from
     * the filter's row. */
    struct gi_option_set sets[GI_OPTION_SETS_MAX];
    int trouble; /* exit status if a file or the operation failed; 0: GI_EXIT_FAILED */
    const struct gi_filter *filter;     /* NULL: none. Its options are in one of the sets; its
                                           check() is called before `run` */
    const struct gi_reporter *reporter; /* for an analysis, used by its steps in chains; else
                                           NULL */
    /* Runs the command; `params[i]` belongs to sets[i]. Prints its data to stdout; on failure fills
     * `err` and returns the status, from which the exit status follows. An error whose text is ""
     * was reported already (gi_cli_log). */
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

/* Returns whether many commands share these rows: help then explains them once, in `gpuimg help
 * common`. */
bool gi_options_are_shared(const struct gi_option *rows);

/* Returns whether the row is --format with the choice json, for which -j and --json are short. */
bool gi_option_has_json(const struct gi_option *row);
const struct gi_option *gi_option_json(const struct gi_command *command);

/* The parsed arguments of a command. */
struct gi_args {
    void *params[GI_OPTION_SETS_MAX]; /* defaults, replaced by the given values */
    char **operands;                  /* point into argv; the array is owned here */
    int noperands;
    bool help;       /* --help was given: nothing else was checked */
    void **contents; /* text of files read for GI_OPT_CONTENT, owned here */
    int ncontents;
};

/* Reads argv[1] and on as options and operands of `command` (argv[0] is its name), and checks them
 * all before any work. Errors: GI_E_USAGE, GI_E_MEMORY, GI_E_IO; `args` must always be freed. */
enum gi_status gi_args_read(struct gi_args *args, const struct gi_command *command, int argc,
                            char **argv, struct gi_err *err);
void gi_args_free(struct gi_args *args);

/* Suggests a command for `name`, which is none ("blur", or with an option "edges --operator
 * sobel"); NULL if nothing is similar. The second suggests an option of `command`, without dashes
 * ("device cuda") (cli/help/suggestion.c). */
const char *gi_command_nearest(const char *name);
const char *gi_option_nearest(const struct gi_command *command, const char *name);

/* Returns other programs' names for commands, and the command, or command and option, that each
 * means; false past the end. Both are static. */
bool gi_synonym_at(const char **word, const char **means, int index);

/* Returns the number of letters to change, insert or delete, or neighbours to swap, to turn a into
 * b; large if the lengths differ much. */
int gi_word_distance(const char *a, const char *b);

#endif
