/* Commands and what argv says to them: argv in, exit status out.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_COMMAND_H
#define GI_CLI_COMMAND_H

#include <stdio.h>

#include "filters/filter.h"

#define GI_VERSION      "0.1.0"
#define GI_VERSION_DATE "2026-11-21" /* of the manual pages */

/* GI_EXIT_AGAIN: the machine failed, not the file; the same may work later (EX_TEMPFAIL of
 * sysexits.h). */
enum { GI_EXIT_OK = 0, GI_EXIT_FAILED = 1, GI_EXIT_USAGE = 2, GI_EXIT_AGAIN = 75 };

enum { GI_OPTION_SETS_MAX = 5 };

/* A set of rows and the struct their values go to. */
struct gi_option_set {
    const char *title; /* heading in the help: "Options", "Input and output" */
    const struct gi_option *rows;
    size_t params_nbytes;
};

/* A command is one row. Operations of image to image share one, gi_command_filter. */
struct gi_reporter;
struct gi_command {
    const char *name;
    enum gi_group group;
    const char *operands; /* for the synopsis: "INPUT OUTPUT", "[COMMAND]", "bash|zsh|fish"; "" for
                             none. COMMAND, OPERATION, words parted by | and a first word in
                             small letters are what completion offers; else it offers files */
    const char *summary;  /* one line, no full stop */
    const char *manual;   /* paragraphs, separated by blank lines */
    const char *examples; /* lines "gpuimg blur in.png out.png --k 5"; NULL: none */
    /* What help and manual say after the options, made from other tables: line i, NULL past the
     * last; line 0 is its heading. Returns `line`. NULL: nothing more. */
    const char *(*more)(int i, char *line, size_t nbytes);
    int min_operands, max_operands; /* max -1: any number */
    /* Ends with rows == NULL, or full. With a filter the first one may be left empty, and `name`,
     * `summary`, `manual` and `examples` too: gi_command_at() fills them from the filter's row. */
    struct gi_option_set sets[GI_OPTION_SETS_MAX];
    int trouble; /* exit status where a file or the operation failed; 0: GI_EXIT_FAILED */
    const struct gi_filter *filter; /* NULL: none. One of the sets holds its options; its check() is
                                       called before `run` */
    const struct gi_reporter *reporter; /* of an analysis, for its steps in chains; else NULL */
    /* Runs; `params[i]` belongs to sets[i]. Prints its own data to stdout; on failure fills `err`
     * and returns the status, which becomes the exit status. An error whose text is "" was already
     * said (gi_cli_log). */
    enum gi_status (*run)(const struct gi_command *command, void *const *params, char **operands,
                          int noperands, struct gi_err *err);
};

/* Every command, operations included, in the order of the help; false past the end. */
bool gi_command_at(struct gi_command *command, int index);
bool gi_command_find(struct gi_command *command, const char *name);

/* The headings of the help, by enum gi_group. */
extern const char *const gi_group_titles[GI_GROUPS];

/* The set whose rows are `rows`: its index in command->sets, or -1. */
int gi_command_set(const struct gi_command *command, const struct gi_option *rows);

/* Whether many commands have these rows: help tells them once, as `gpuimg help common`. */
bool gi_options_are_shared(const struct gi_option *rows);

/* Whether the row is --format with the choice json: -j and --json are short for it. The command's
 * row that is so; NULL: none. */
bool gi_option_has_json(const struct gi_option *row);
const struct gi_option *gi_option_json(const struct gi_command *command);

/* What argv said to one command. */
struct gi_args {
    void *params[GI_OPTION_SETS_MAX]; /* defaults, then what was given */
    char **operands;                  /* point into argv; the array is owned here */
    int noperands;
    bool help;       /* --help was given: nothing else was tested */
    void **contents; /* text of files read for GI_OPT_CONTENT, owned here */
    int ncontents;
};

/* Reads argv[1] and on as options and operands of `command` (argv[0] is its name), and checks all
 * of it before any work. Errors: GI_E_USAGE, GI_E_MEMORY, GI_E_IO; `args` is to be freed always. */
enum gi_status gi_args_read(struct gi_args *args, const struct gi_command *command, int argc,
                            char **argv, struct gi_err *err);
void gi_args_free(struct gi_args *args);

/* What `name`, which is no command, may have meant ("blur", or with an option "edges --operator
 * sobel"); NULL where nothing is near. The same for an option of `command`, both without dashes
 * ("device cuda") (cli/help/suggestion.c). */
const char *gi_command_nearest(const char *name);
const char *gi_option_nearest(const struct gi_command *command, const char *name);

/* Another program's name for a command, and the command or command and option that it means; false
 * past the end. Both are static. */
bool gi_synonym_at(const char **word, const char **means, int index);

/* How many letters to change, add or drop to make b from a; large where the lengths differ much. */
int gi_word_distance(const char *a, const char *b);

#endif
