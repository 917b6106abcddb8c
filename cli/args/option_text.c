/* Prints options from their rows, and wraps text.
 * SPDX-License-Identifier: MIT */
#include "cli/args/option_text.h"

#include "cli/commands.h"

#include <string.h>

enum { WIDTH = 80 };

const char *gi_option_metavar(const struct gi_option *row)
{
    if (row->metavar)
        return row->metavar;
    switch (row->type) {
    case GI_OPT_FLAG:
        return NULL;
    case GI_OPT_INT:
    case GI_OPT_ODD:
        return "N";
    case GI_OPT_REAL:
        return "X";
    case GI_OPT_REALS:
        return "X[,X...]";
    case GI_OPT_CHOICE:
        return "WORD";
    case GI_OPT_LEVEL:
        return "LEVEL";
    case GI_OPT_SIZE:
        return "SIZE";
    case GI_OPT_EXTENT:
        return "WxH";
    case GI_OPT_RECT:
        return "WxH[+X+Y]";
    case GI_OPT_COLOR:
        return "COLOUR";
    case GI_OPT_TEXT:
        return "TEXT";
    case GI_OPT_CONTENT:
        return "TEXT|FILE";
    case GI_OPT_PATH:
        return "PATH";
    case GI_OPT_IMAGE:
        return "IMAGE";
    }
    return NULL;
}

const char *gi_option_names(const struct gi_option *row, char *buffer, size_t nbytes)
{
    char letter[8] = "";
    if (row->letter)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(buffer, nbytes, "%s--%s", letter, row->name);
    return buffer;
}

const char *gi_option_argument(const struct gi_option *row, char *buffer, size_t nbytes)
{
    const char *metavar = gi_option_metavar(row);
    snprintf(buffer, nbytes, metavar ? row->bare ? "[=%s]" : " %s" : "%s", metavar ? metavar : "");
    return buffer;
}

bool gi_choices_have_help(const struct gi_option *row)
{
    if (row->type == GI_OPT_CHOICE)
        for (const struct gi_choice *c = row->choices; c->name; c++)
            if (c->help || c->alias_of)
                return true;
    return false;
}

const char *gi_choice_describe(const struct gi_option *row, const struct gi_choice *choice,
                               char *buffer, size_t nbytes)
{
    int n = snprintf(buffer, nbytes, "%s", choice->help ? choice->help : ""), aliases = 0;
    for (const struct gi_choice *c = row->choices; c->name; c++)
        if (c->alias_of && strcmp(c->alias_of, choice->name) == 0 && (size_t)n < nbytes &&
            strcmp(c->name, "default") != 0) /* would read as the default of the option */
            n += snprintf(buffer + n, nbytes - (size_t)n, "%s%s",
                          aliases++ ? ", "
                          : n       ? " (also "
                                    : "(also ",
                          c->name);
    if (aliases && (size_t)n < nbytes)
        snprintf(buffer + n, nbytes - (size_t)n, ")");
    return buffer;
}

const char *gi_option_describe(const struct gi_option *row, char *buffer, size_t nbytes)
{
    bool says_little = row->type == GI_OPT_FLAG || row->type == GI_OPT_TEXT ||
                       row->type == GI_OPT_PATH || row->type == GI_OPT_CONTENT ||
                       row->type == GI_OPT_IMAGE;
    char want[512] = "";
    if (!says_little && !gi_choices_have_help(row))
        gi_option_want(row, want, sizeof want);
    bool required = !row->default_text && row->example && !row->one_of;
    int n = snprintf(buffer, nbytes, "%s%s", row->help,
                     gi_option_has_json(row) ? "; -j and --json are short for json" : "");
    const char *const parts[][2] = {
        {"", want},
        {required ? "" : "default ", required ? "required" : row->default_text},
        {"also --", row->also}};
    const char *between = " (";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i][1] && *parts[i][1] && (size_t)n < nbytes) {
            n += snprintf(buffer + n, nbytes - (size_t)n, "%s%s%s", between, parts[i][0],
                          parts[i][1]);
            between = "; ";
        }
    if (*between == ';' && (size_t)n < nbytes)
        snprintf(buffer + n, nbytes - (size_t)n, ")");
    return buffer;
}

void gi_help_wrap(FILE *out, const char *text, int indent, int column)
{
    bool start = true;
    while (*text) {
        int n = (int)strcspn(text, " \n");
        if (!start && column + 1 + n > WIDTH) {
            putc('\n', out);
            column = 0;
            start = true;
        }
        if (start)
            column += fprintf(out, "%*s", column < indent ? indent - column : 0, "");
        else if (n)
            column += fprintf(out, " ");
        column += fprintf(out, "%.*s", n, text);
        start = start && n == 0;
        text += n;
        text += strspn(text, " \n");
    }
    putc('\n', out);
}
