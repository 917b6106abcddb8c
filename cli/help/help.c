/* Prints help from the rows of commands and options.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/args/option_text.h"
#include "cli/args/suggestion.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/help/help.h"

#include <string.h>

enum { OPTION_INDENT = 22, CHOICE_INDENT = 12, COMMAND_INDENT = 19 };

/* Prints paragraphs. Lines that start with a blank are formulas or tables, and are not wrapped. In
 * all other paragraphs a newline counts as a blank. */
static void print_manual(FILE *out, const char *manual)
{
    while (*manual) {
        const char *end = strstr(manual, "\n\n");
        int n = end ? (int)(end - manual) : (int)strlen(manual);
        char paragraph[4096], *rest = paragraph;
        snprintf(paragraph, sizeof paragraph, "%.*s", n, manual);
        putc('\n', out);
        if (*paragraph == ' ')
            fprintf(out, "%s\n", paragraph);
        else
            for (const char *line; (line = strsep(&rest, "\n"));)
                gi_help_wrap(out, line, 0, 0);
        manual += n;
        manual += strspn(manual, "\n");
    }
}

static void print_option(FILE *out, const struct gi_option *row)
{
    char text[1024], names[128];
    int column = fprintf(out, "  %s%s", gi_option_names(row, names, sizeof names),
                         gi_option_argument(row, text, sizeof text));
    if (column > OPTION_INDENT - 2) {
        putc('\n', out);
        column = 0;
    }
    gi_help_wrap(out, gi_option_describe(row, text, sizeof text), OPTION_INDENT, column);
    if (!gi_choices_have_help(row))
        return;
    for (const struct gi_choice *c = row->choices; c->name; c++) {
        if (c->alias_of)
            continue;
        column = fprintf(out, "%*s%-*s", OPTION_INDENT + 2, "", CHOICE_INDENT - 2, c->name);
        if (strlen(c->name) > CHOICE_INDENT - 2) {
            putc('\n', out);
            column = 0;
        }
        gi_help_wrap(out, gi_choice_describe(row, c, text, sizeof text),
                     OPTION_INDENT + CHOICE_INDENT + 2, column);
    }
}

static void print_examples(FILE *out, const char *line)
{
    fprintf(out, "\n");
    while (*line) {
        int n = (int)strcspn(line, "\n");
        fprintf(out, "  %.*s\n", n, line);
        line += n + (line[n] == '\n');
    }
}

static void print_set(FILE *out, const char *title, const struct gi_option *rows)
{
    if (rows->name)
        fprintf(out, "\n%s:\n", title);
    for (const struct gi_option *row = rows; row->name; row++)
        print_option(out, row);
}

bool gi_help_shared(const struct gi_command *command, bool many, char *text, size_t nbytes)
{
    const char *page = many ? "Options for many images (see gpuimg help batch):"
                            : "Common options (see gpuimg help common):";
    size_t n = (size_t)snprintf(text, nbytes, "%s", page), none = n;
    for (int s = 0; s < GI_OPTION_SETS_MAX && command->sets[s].rows; s++) {
        const struct gi_option *row = command->sets[s].rows;
        bool told = gi_options_are_shared(row) && gi_options_are_of_batches(row) == many;
        for (; told && row->name && n < nbytes; row++)
            n += (size_t)snprintf(text + n, nbytes - n, "%s --%s", n > none ? "," : "", row->name);
    }
    return n > none;
}

static void print_shared(FILE *out, const struct gi_command *command, bool many)
{
    char text[1024];
    if (!gi_help_shared(command, many, text, sizeof text))
        return;
    putc('\n', out);
    gi_help_wrap(out, text, 0, 0);
}

void gi_help_command(FILE *out, const struct gi_command *command)
{
    fprintf(out, "Usage: gpuimg %s [OPTION...]%s%s\n\n%s.\n", command->name,
            *command->operands ? " " : "", command->operands, command->summary);
    if (command->examples)
        print_examples(out, command->examples);
    if (command->manual)
        print_manual(out, command->manual);
    for (int s = 0; s < GI_OPTION_SETS_MAX && command->sets[s].rows; s++)
        if (!gi_options_are_shared(command->sets[s].rows))
            print_set(out, command->sets[s].title, command->sets[s].rows);
    char line[1024];
    for (int i = 0; command->more && command->more(i, line, sizeof line); i++) {
        int column = i ? fprintf(out, "  %-*.*s", COMMAND_INDENT - 2, (int)strcspn(line, " "), line)
                       : fprintf(out, "\n%s:\n", line);
        if (i)
            gi_help_wrap(out, line + strcspn(line, " "), COMMAND_INDENT, column);
    }
    print_shared(out, command, false);
    print_shared(out, command, true);
}

void gi_help_topic(FILE *out, const struct gi_command *topic)
{
    fprintf(out, "%s.\n", topic->summary);
    if (topic->examples)
        print_examples(out, topic->examples);
    print_manual(out, topic->manual);
    for (int s = 0; s < GI_OPTION_SETS_MAX && topic->sets[s].rows; s++)
        print_set(out, topic->sets[s].title, topic->sets[s].rows);
}

static void print_summary(FILE *out, const struct gi_command *row)
{
    int column = fprintf(out, "  %-*s", COMMAND_INDENT - 2, row->name);
    gi_help_wrap(out, row->summary, COMMAND_INDENT, column);
}

/* "gray for convert --gray, ..." */
static void print_aliases(FILE *out)
{
    char text[1024] = "Other names that work too:";
    const struct gi_alias *alias;
    size_t n = strlen(text);
    for (int i = 0; (alias = gi_alias_at(i)) && n < sizeof text; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s %s (%s%s%s)", i ? "," : "",
                              alias->name, alias->words[0], alias->words[1] ? " " : "",
                              alias->words[1] ? alias->words[1] : "");
    putc('\n', out);
    gi_help_wrap(out, text, 0, 0);
}

const char gi_help_introduction[] =
    "Filters images, measures them and extracts their regions. Computes on the CPU, or on an "
    "NVIDIA GPU where that is faster; both give the same bytes.";

const char gi_help_closing[] =
    "gpuimg help COMMAND explains a command, and gpuimg help TOPIC a topic. gpuimg "
    "help WORD finds commands and options by a word, for example gpuimg help "
    "sauvola. gpuimg help --all prints all pages. In place of a file name, - means "
    "standard input or output, and png:- means standard output in the format PNG. "
    "scan.tif[3] is the fourth page of a TIFF.";

void gi_help_start(FILE *out)
{
    fputs("Usage: gpuimg COMMAND [OPTION...] [OPERAND...]\n\n"
          "Filters, measures and segments images, on the CPU or on an NVIDIA GPU; both give\n"
          "the same bytes.\n\n"
          "  gpuimg info photo.jpg                            format, size, metadata\n"
          "  gpuimg resize *.jpg --out-dir small --size 800x800\n"
          "  gpuimg gaussian in.png out.png --sigma 2         blur\n"
          "  gpuimg threshold scan.png mask.png               by Otsu's method\n"
          "  gpuimg histogram in.png                          and its statistics\n"
          "  gpuimg compare a.png b.png --diff difference.png\n"
          "  gpuimg extract coins.png coins.csv --overlay found.png\n"
          "  gpuimg run 'median --k 3 | sharpen' in.tif out.tif\n\n"
          "  gpuimg help              all commands, by family\n"
          "  gpuimg help COMMAND      one command, its options and their ranges\n"
          "  gpuimg help WORD         commands and options with that word: help sauvola\n"
          "  gpuimg help batch        many images: files, folders, streams, tars\n"
          "  gpuimg selftest --quick  whether CPU and GPU agree on this machine\n",
          out);
}

void gi_help_all(FILE *out)
{
    struct gi_command row;
    fputs("Usage: gpuimg COMMAND [OPTION...] [OPERAND...]\n\n", out);
    gi_help_wrap(out, gi_help_introduction, 0, 0);
    for (int g = 1; g <= GI_GROUPS; g++) { /* group 0 (tools) is printed last */
        fprintf(out, "\n%s:\n", gi_group_titles[g % GI_GROUPS]);
        for (int i = 0; gi_command_at(&row, i); i++)
            if ((int)row.group == g % GI_GROUPS)
                print_summary(out, &row);
    }
    print_aliases(out);
    fputs("\nTopics of help:\n", out);
    for (int i = 0; gi_topic_at(&row, i); i++)
        print_summary(out, &row);
    putc('\n', out);
    gi_help_wrap(out, gi_help_closing, 0, 0);
}

static void print_everything(FILE *out)
{
    struct gi_command row;
    gi_help_all(out);
    for (int i = 0; gi_command_at(&row, i); i++) {
        fputs("\n\n", out);
        gi_help_command(out, &row);
    }
    for (int i = 0; gi_topic_at(&row, i); i++) {
        fputs("\n\n", out);
        gi_help_topic(out, &row);
    }
}

struct help_params {
    bool all, man, markdown;
};

static const struct gi_option help_options[] = {
    {GI_OPTION("all", FLAG, struct help_params, all),
     .help = "Print the help of all commands and topics"},
    {GI_OPTION("man", FLAG, struct help_params, man),
     .help = "Print the source of the manual page, which man(1) formats"},
    {GI_OPTION("markdown", FLAG, struct help_params, markdown),
     .help = "Print Markdown; with --all, all help as one document"},
    {0},
};

/* Joins the operands with blanks. Text over `nbytes` is truncated. */
static void join(char *text, size_t nbytes, char **operands, int noperands)
{
    size_t n = 0;
    for (int i = 0; i < noperands && n < nbytes; i++)
        n += (size_t)snprintf(text + n, nbytes - n, "%s%s", i ? " " : "", operands[i]);
}

/* How pages are printed: as text, as the source of manual pages or as Markdown. */
struct style {
    void (*list)(FILE *), (*command)(FILE *, const struct gi_command *),
        (*topic)(FILE *, const struct gi_command *);
};
static const struct style text_style = {gi_help_all, gi_help_command, gi_help_topic},
                          man_style = {gi_man_all, gi_man_command, gi_man_topic},
                          markdown_style = {gi_markdown_list, gi_markdown_command,
                                            gi_markdown_topic};

static enum gi_status explain(const char *words, const struct style *style, struct gi_err *err)
{
    struct gi_command row;
    if (gi_topic_find(&row, words)) {
        style->topic(stdout, &row);
        return GI_OK;
    }
    const struct gi_alias *alias = gi_alias_find(words);
    if (gi_command_find(&row, alias ? alias->words[0] : words)) {
        style->command(stdout, &row);
        return GI_OK;
    }
    bool searched = style == &text_style;
    if (searched && gi_help_search(stdout, words))
        return GI_OK;
    char hint[512];
    gi_command_hint(hint, sizeof hint, words);
    return gi_fail(err, GI_E_USAGE, "%s: no such command%s", words,
                   *hint || !searched ? hint : ", and no help has this text");
}

static enum gi_status run_help(const struct gi_command *self, void *const *params, char **operands,
                               int noperands, struct gi_err *err)
{
    const struct help_params *p = params[0];
    const struct style *style = p->man ? &man_style : p->markdown ? &markdown_style : &text_style;
    char words[256];
    if (p->all && (p->man || noperands))
        return gi_fail(err, GI_E_USAGE, "--all: want no %s", p->man ? "--man" : operands[0]);
    if (p->man && p->markdown)
        return gi_fail(err, GI_E_USAGE, "--man: want no --markdown");
    if (p->all)
        (p->markdown ? gi_markdown_all : print_everything)(stdout);
    else if (noperands == 0)
        style->list(stdout);
    if (noperands == 0)
        return GI_OK;
    join(words, sizeof words, operands, noperands);
    return explain(words, style, err);
}

const struct gi_command gi_command_help = {
    .name = "help",
    .operands = "[COMMAND|TOPIC|WORD...]",
    .summary = "Explain a command or a topic, or search the help",
    .manual = "For a command, gpuimg help prints examples, an explanation, and the options with "
              "their ranges and defaults. gpuimg COMMAND --help prints the same. The topics are "
              "batch (many images, streams and tars), cluster (many machines), common (options "
              "that most commands share), compatibility (versions of other programs) and "
              "limits.\n\n"
              "Other words are searched in the help of all commands and options, including the "
              "names that other programs use. The best match comes first; case and hyphens do "
              "not matter.",
    .examples = "gpuimg help blur\ngpuimg help batch\ngpuimg help sauvola\n"
                "gpuimg help non local means\ngpuimg help --all | less\n"
                "gpuimg help --man blur | man -l -\n"
                "gpuimg help --all --markdown > gpuimg.md",
    .max_operands = -1,
    .sets = {{"Options", help_options, sizeof(struct help_params)}},
    .run = run_help,
};
