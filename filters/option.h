/* An option is one constant option row, a struct gi_option, which the parser, the help, the man
 * page, the completion and the command list share.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "filters/option_color.h"
#include "filters/option_size.h"
#include "imgio/status.h"

enum gi_option_type {
    GI_OPT_FLAG,    /* bool; has no argument; is false at first */
    GI_OPT_INT,     /* int, or the word `zero`, which is 0; unset: 0 */
    GI_OPT_ODD,     /* int, odd; unset: 0 */
    GI_OPT_REAL,    /* double; unset: NAN */
    GI_OPT_REALS,   /* struct gi_reals: numbers separated by commas; unset: n = 0 */
    GI_OPT_CHOICE,  /* int: index in `choices`; an alias has the index of its original */
    GI_OPT_LEVEL,   /* struct gi_level: a number, a percentage "50%", or a method such as "otsu";
                       unset: GI_LEVEL_UNSET */
    GI_OPT_SIZE,    /* uint64_t: a whole number with K, M, G, T (powers of 1000) or Ki, Mi, Gi, Ti
                       (powers of 1024); unset: 0 */
    GI_OPT_EXTENT,  /* struct gi_extent: a size in pixels or percent, "800x600"; unset: open */
    GI_OPT_RECT,    /* struct gi_rect: a size and maybe a position, "800x600+10+20"; unset: open */
    GI_OPT_COLOR,   /* struct gi_color: sample values, a name or "#rrggbb"; unset: n = 0 */
    GI_OPT_TEXT,    /* const char *: points into argv; unset: NULL */
    GI_OPT_CONTENT, /* const char *: the text, or if the text names a readable file, the content of
                       the file (owned by the reader of options); unset: NULL */
    GI_OPT_PATH,    /* const char *: a file or folder; unset: NULL */
    GI_OPT_IMAGE,   /* const char *: a file with an image, a further source of the operation. Images
                       that are set become sources[1], sources[2] ... in the order of the option
                       rows; unset: NULL */
};

enum { GI_REALS_MAX = 32 };

/* The record and unit separators of ASCII, which the texts themselves may not contain. */
enum { GI_OPTION_NEXT = 0x1e, GI_OPTION_WORD = 0x1f };

struct gi_reals {
    double v[GI_REALS_MAX];
    int n;
};

enum gi_level_kind { GI_LEVEL_UNSET, GI_LEVEL_VALUE, GI_LEVEL_PERCENT, GI_LEVEL_AUTO };

struct gi_level {
    enum gi_level_kind kind;
    double value; /* sample units, or percent of full scale */
    int method;   /* GI_LEVEL_AUTO: enum gi_threshold_method (filters/tone/auto_threshold.h) */
};

struct gi_choice {
    const char *name;
    const char *alias_of; /* NULL: no alias; else the name of an earlier choice */
    const char *help;     /* NULL if the name is self-explanatory */
};

/* An option row. A list of rows or of choices ends with a NULL name. */
struct gi_option {
    const char *name; /* without dashes */
    const char *also; /* an alias, which help shows in brackets; NULL: none */
    char letter;      /* the short form, or 0 */
    enum gi_option_type type;
    size_t offset;    /* offsetof() the value in the parameter struct */
    const char *bare; /* value if --name has no argument, so that other values are written as
                         --name=TEXT; NULL if an argument is required */
    const char *default_text; /* read if the option is not given; NULL: unset, see the types */
    double min, max;  /* INT, ODD, REAL, REALS (each), SIZE: inclusive range; both 0: no range */
    const char *zero; /* INT: the word for 0, which is outside the range; NULL: none */
    int least, most;  /* REALS: minimum and maximum count; `most` 0: GI_REALS_MAX */
    const char *unit; /* "px", "samples", NULL: none; with "%..." a REAL may end in "%" */
    bool picture;     /* IMAGE: --gray and --linear apply to it as to the input */
    bool amount;      /* LEVEL: an amount, not a level, so that no method is allowed */
    const char *form; /* EXTENT: the forms that are allowed; NULL: all forms. TEXT: an example */
    bool at_least;    /* EXTENT: "^" may follow two sides */
    bool labels;      /* IMAGE: may be GI_U32 */
    /* IMAGE: the value may be "NAME=PATH". If the option is given again, the following row, which
     * is `named` too, gets the value. */
    bool named;
    bool operand; /* TEXT: the first operand of the command is its value, if it is not given */
    /* TEXT: the option may be given several times. The texts are joined, with GI_OPTION_NEXT
     * between them. */
    bool repeats;
    bool two;   /* TEXT: has two arguments, which are joined with GI_OPTION_WORD between them */
    bool alone; /* the option is one of the command alone: a step of a chain does not have it */
    bool drawn; /* CONTENT: may also be an image of one channel. It is read as "WxH:", followed by 1
                   for each sample that is not 0 and by 0 for each other sample */
    const struct gi_choice *choices; /* GI_OPT_CHOICE */
    const char *example; /* value for selftest and tests if this option, or one of several options,
                            is required; "" for a flag; NULL: selftest and tests use the default */
    bool one_of;         /* with `example`: another option may be given instead of this one */
    const char *metavar; /* name of the argument in help: "N"; NULL: depends on the type */
    const char *help;    /* one sentence, without range, default, unit and choices, which are
                            printed from the other members */
};

/* The beginning of an option row: its name, its type without GI_OPT_, and the member of a parameter
 * struct that the value is written to. It does not compile if the member has another C type.
 *   {GI_OPTION("sigma", REAL, struct params, sigma), .min = 0.1, .max = 250, .unit = "px"}, */
#define GI_OPTION(text, kind, params, member)                                                      \
    .name = text, .type = GI_OPT_##kind,                                                           \
    .offset = offsetof(params, member) +                                                           \
              0 * sizeof(char[_Generic(((params *)0)->member, GI_C_TYPE_##kind : 1)])

#define GI_C_TYPE_FLAG    bool
#define GI_C_TYPE_INT     int
#define GI_C_TYPE_ODD     int
#define GI_C_TYPE_REAL    double
#define GI_C_TYPE_REALS   struct gi_reals
#define GI_C_TYPE_CHOICE  int
#define GI_C_TYPE_LEVEL   struct gi_level
#define GI_C_TYPE_SIZE    uint64_t
#define GI_C_TYPE_EXTENT  struct gi_extent
#define GI_C_TYPE_RECT    struct gi_rect
#define GI_C_TYPE_COLOR   struct gi_color
#define GI_C_TYPE_TEXT    const char *
#define GI_C_TYPE_CONTENT const char *
#define GI_C_TYPE_PATH    const char *
#define GI_C_TYPE_IMAGE   const char *

/* Sets every value of `params` to its row's default. */
void gi_options_default(void *params, const struct gi_option *rows);

/* Sets defaults, then reads the example of each option row. Every filter runs with these
 * parameters. */
void gi_options_example(void *params, const struct gi_option *rows);

/* Reads `text` (NULL for a flag) into the row's value in `params`. If a GI_OPT_CONTENT names a
 * file, the caller must have replaced `text` by the content of the file. Errors: GI_E_USAGE with a
 * message such as "--sigma 999: want 0.1 to 250 px". */
enum gi_status gi_option_read(void *params, const struct gi_option *row, const char *text,
                              struct gi_err *err);

/* Returns the row of that name, or NULL. */
const struct gi_option *gi_option_find(const struct gi_option *rows, const char *name);
/* As gi_option_read(), for the row of that name, which must exist. */
enum gi_status gi_option_set(void *params, const struct gi_option *rows, const char *name,
                             const char *text, struct gi_err *err);

/* Returns whether a row's value is the same in two parameter structs. Numbers are compared bit by
 * bit, texts by content. */
bool gi_option_same(const struct gi_option *row, const void *a_params, const void *b_params);

/* Prints a row's value, which must be set, in the form that gi_option_read() accepts. Prints
 * nothing for a flag. */
void gi_option_print(FILE *out, const struct gi_option *row, const void *params);

/* Describes the allowed values for messages and help: "0.1 to 250 px", "odd, 1 to 4001", "clamp,
 * border or wrap". Returns buffer. */
const char *gi_option_want(const struct gi_option *row, char *buffer, size_t nbytes);

/* Reads the finite decimal number at the beginning of `text`, such as "-1.5e3". A blank before the
 * number and hexadecimal digits are not allowed. *end becomes the rest of the text. Returns false
 * if there is no such number. */
bool gi_number_read(double *value, const char *text, const char **end);

/* Reads 1 to `most` numbers, separated by commas, from all of `text` into `v`. Returns how many
 * numbers there are. If the text has another form, returns 0, and `v` is undefined. */
int gi_numbers_read(double *v, int most, const char *text);
