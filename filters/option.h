/* An option is one row: parser, help, man page, completion and `list` are all printed from it.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_OPTION_H
#define GI_FILTERS_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "filters/option_colour.h"
#include "filters/option_size.h"
#include "imgio/status.h"

enum gi_option_type {
    GI_OPT_FLAG,    /* bool; takes no argument; always starts false */
    GI_OPT_INT,     /* int; unset: 0 */
    GI_OPT_ODD,     /* int, odd; unset: 0 */
    GI_OPT_REAL,    /* double; unset: NAN */
    GI_OPT_REALS,   /* struct gi_reals: numbers separated by commas; unset: n = 0 */
    GI_OPT_CHOICE,  /* int: the index in `choices` of the choice or of the choice it is an alias
                    of */
    GI_OPT_LEVEL,   /* struct gi_level: a number, a percentage "50%", or "otsu"; unset:
                    GI_LEVEL_UNSET */
    GI_OPT_SIZE,    /* uint64_t: a whole number with K, M, G, T (powers of 1000) or Ki, Mi, Gi, Ti
                       (powers of 1024); unset: 0 */
    GI_OPT_EXTENT,  /* struct gi_extent: a size in pixels or percent, "800x600"; unset: open */
    GI_OPT_RECT,    /* struct gi_rect: the same with an optional position, "800x600+10+20"; unset:
                    open */
    GI_OPT_COLOUR,  /* struct gi_colour: sample values, a name or "#rrggbb"; unset: n = 0 */
    GI_OPT_TEXT,    /* const char *: points into argv; unset: NULL */
    GI_OPT_CONTENT, /* const char *: the text itself, or if it names a readable file the content of
                       that file (owned by the reader of options); unset: NULL */
    GI_OPT_PATH,    /* const char *: a file or folder; unset: NULL */
    GI_OPT_IMAGE, /* const char *: a file with an image, which is a further source of the operation:
                     those that are set become sources[1] and so on, in the order of their rows;
                     unset: NULL */
};

enum { GI_REALS_MAX = 32 };

struct gi_reals {
    double v[GI_REALS_MAX];
    int n;
};

enum gi_level_kind { GI_LEVEL_UNSET, GI_LEVEL_VALUE, GI_LEVEL_PERCENT, GI_LEVEL_OTSU };

struct gi_level {
    enum gi_level_kind kind;
    double value; /* sample units, or percent of full scale */
};

struct gi_choice {
    const char *name;
    const char *alias_of; /* NULL: a choice of its own; else the name of an earlier choice */
    const char *help;     /* NULL if the name is self-explanatory */
};

/* A list of rows or choices ends with a row whose name is NULL. */
struct gi_option {
    const char *name; /* without dashes */
    const char *also; /* an alias, which help shows in brackets; NULL: none */
    char letter;      /* the short form, or 0 */
    enum gi_option_type type;
    size_t offset;    /* of the value in the parameter struct, by offsetof */
    const char *bare; /* the value of --name without an argument; then another value is given as
                         --name=TEXT; NULL: the argument is required */
    const char *default_text; /* parsed as if given; NULL: unset, see the types */
    double min, max;  /* inclusive; both 0: no range (INT, ODD, REAL, each of REALS, SIZE) */
    int least, most;  /* REALS: minimum and maximum count of numbers; most 0: GI_REALS_MAX */
    const char *unit; /* "px", "samples"; NULL: none */
    bool picture;     /* IMAGE: a picture like the input, so that --gray and --linear apply to it */
    bool amount;      /* LEVEL: an amount and not a level, so that "otsu" is not allowed */
    const char *form; /* EXTENT: the forms that are allowed, if not all; NULL: all */
    bool labels;      /* IMAGE: may be GI_U32 */
    bool drawn; /* CONTENT: may also be an image of one channel, which is read as "WxH:" and a 1 for
                   each sample that is not 0, else a 0 */
    const struct gi_choice *choices; /* GI_OPT_CHOICE */
    const char *example; /* for an option that is required, or one of several: a value that selftest
                            and tests use, "" for a flag; NULL: the default is used */
    bool one_of;         /* with `example`: another option can be given instead */
    const char *metavar; /* the argument's name in help: "N"; NULL: by type */
    const char *help;    /* one sentence, without range, default, unit or choices: those are printed
                            from the other members */
};

/* Sets every value of `params` to its row's default. */
void gi_options_default(void *params, const struct gi_option *rows);

/* Sets the defaults and then reads each row's example: parameters with which every filter runs. */
void gi_options_example(void *params, const struct gi_option *rows);

/* Reads `text` (NULL for a flag) into the row's value of `params`. GI_OPT_CONTENT is stored as
 * given; the caller replaces it by the file's content before. Errors: GI_E_USAGE with the text
 * "--sigma 999: want 0.1 to 250 px". */
enum gi_status gi_option_read(void *params, const struct gi_option *row, const char *text,
                              struct gi_err *err);

/* Returns whether the row's value is the same in two parameter structs: numbers are compared bit by
 * bit, texts by content. */
bool gi_option_same(const struct gi_option *row, const void *a_params, const void *b_params);

/* Prints the row's value in the form that gi_option_read() accepts, nothing for a flag. The value
 * must be set. */
void gi_option_print(FILE *out, const struct gi_option *row, const void *params);

/* Describes the allowed values, as messages and help print them: "0.1 to 250 px", "odd, 1 to 4001",
 * "clamp, border or wrap". Returns buffer. */
const char *gi_option_want(const struct gi_option *row, char *buffer, size_t nbytes);

/* Reads the finite decimal number at the beginning of `text` ("-1.5e3"; no leading blank, no
 * hexadecimal); *end becomes the rest. Returns false if there is none. */
bool gi_number_read(double *value, const char *text, const char **end);

/* Reads all of `text`, 1 to `most` numbers separated by commas, into `v`. Returns their number; 0
 * if the text has another form, and then `v` is undefined. */
int gi_numbers_read(double *v, int most, const char *text);

#endif
