/* Help as Markdown, for web pages, search engines and agents, printed from the rows of commands and
 * options.
 * SPDX-License-Identifier: MIT */
#include "cli/args/option_text.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/help/help.h"

#include <string.h>

/* Prints text with a backslash before each character that Markdown would take as markup, and before
 * each newline within a paragraph, except before the items of a list: a line break in Markdown. */
static void escaped(FILE *out, const char *text, int nbytes)
{
    for (int i = 0; i < nbytes; i++) {
        if (strchr("\\`*_<", text[i]) || (text[i] == '\n' && text[i + 1] != '-'))
            putc('\\', out);
        putc(text[i], out);
    }
}

static void prose(FILE *out, const char *text)
{
    escaped(out, text, (int)strlen(text));
}

/* Returns the end of the paragraph, or of successive paragraphs that all start with a blank. */
static const char *paragraph_end(const char *text)
{
    const char *end = strstr(text, "\n\n");
    while (end && *text == ' ' && end[strspn(end, "\n")] == ' ')
        end = strstr(end + strspn(end, "\n"), "\n\n");
    return end ? end : text + strlen(text);
}

/* Prints paragraphs. Those that start with a blank are formulas or tables, and become code. */
static void paragraphs(FILE *out, const char *manual)
{
    while (*manual) {
        int n = (int)(paragraph_end(manual) - manual);
        if (*manual == ' ') {
            fprintf(out, "\n```text\n%.*s\n```\n", n, manual);
        } else {
            putc('\n', out);
            escaped(out, manual, n);
            putc('\n', out);
        }
        manual += n;
        manual += strspn(manual, "\n");
    }
}

static void option(FILE *out, const struct gi_option *row)
{
    char text[1024], names[128];
    fprintf(out, "- `%s%s`: ", gi_option_names(row, names, sizeof names),
            gi_option_argument(row, text, sizeof text));
    prose(out, gi_option_describe(row, text, sizeof text));
    putc('\n', out);
    if (!gi_choices_have_help(row))
        return;
    for (const struct gi_choice *c = row->choices; c->name; c++) {
        if (c->alias_of)
            continue;
        fprintf(out, "  - `%s`: ", c->name);
        prose(out, gi_choice_describe(row, c, text, sizeof text));
        putc('\n', out);
    }
}

static void set(FILE *out, const char *title, const struct gi_option *rows)
{
    if (rows->name)
        fprintf(out, "\n### %s\n\n", title);
    for (const struct gi_option *row = rows; row->name; row++)
        option(out, row);
}

static void more(FILE *out, const struct gi_command *command)
{
    char line[1024];
    for (int i = 0; command->more && command->more(i, line, sizeof line); i++) {
        int n = (int)strcspn(line, " ");
        if (i == 0) {
            fprintf(out, "\n### %s\n\n", line);
            continue;
        }
        fprintf(out, "- `%.*s`: ", n, line);
        prose(out, line + n + strspn(line + n, " "));
        putc('\n', out);
    }
}

void gi_markdown_command(FILE *out, const struct gi_command *command)
{
    fprintf(out, "## gpuimg %s\n\n```text\nUsage: gpuimg %s [OPTION...]%s%s\n```\n\n",
            command->name, command->name, *command->operands ? " " : "", command->operands);
    prose(out, command->summary);
    fputs(".\n", out);
    if (command->examples)
        fprintf(out, "\n```sh\n%s\n```\n", command->examples);
    if (command->manual)
        paragraphs(out, command->manual);
    for (int s = 0; s < GI_OPTION_SETS_MAX && command->sets[s].rows; s++)
        if (!gi_options_are_shared(command->sets[s].rows))
            set(out, command->sets[s].title, command->sets[s].rows);
    more(out, command);
    for (int many = 0; many < 2; many++) {
        char text[1024];
        if (gi_help_shared(command, many, text, sizeof text))
            paragraphs(out, text);
    }
}

void gi_markdown_topic(FILE *out, const struct gi_command *topic)
{
    fprintf(out, "## gpuimg help %s\n\n", topic->name);
    prose(out, topic->summary);
    fputs(".\n", out);
    if (topic->examples)
        fprintf(out, "\n```sh\n%s\n```\n", topic->examples);
    paragraphs(out, topic->manual);
    for (int s = 0; s < GI_OPTION_SETS_MAX && topic->sets[s].rows; s++)
        set(out, topic->sets[s].title, topic->sets[s].rows);
}

static void summary(FILE *out, const struct gi_command *row)
{
    fprintf(out, "- `%s`: ", row->name);
    prose(out, row->summary);
    putc('\n', out);
}

void gi_markdown_list(FILE *out)
{
    struct gi_command row;
    fprintf(out, "# gpuimg %s\n\n```text\nUsage: gpuimg COMMAND [OPTION...] [OPERAND...]\n```\n",
            GI_VERSION);
    paragraphs(out, gi_help_introduction);
    for (int g = 1; g <= GI_GROUPS; g++) { /* group 0 (tools) is printed last */
        fprintf(out, "\n### %s\n\n", gi_group_titles[g % GI_GROUPS]);
        for (int i = 0; gi_command_at(&row, i); i++)
            if ((int)row.group == g % GI_GROUPS)
                summary(out, &row);
    }
    fputs("\n### Topics of help\n\n", out);
    for (int i = 0; gi_topic_at(&row, i); i++)
        summary(out, &row);
    putc('\n', out);
    fputs(gi_help_closing, out);
    putc('\n', out);
}

void gi_markdown_all(FILE *out)
{
    struct gi_command row;
    gi_markdown_list(out);
    for (int i = 0; gi_command_at(&row, i); i++) {
        putc('\n', out);
        gi_markdown_command(out, &row);
    }
    for (int i = 0; gi_topic_at(&row, i); i++) {
        putc('\n', out);
        gi_markdown_topic(out, &row);
    }
}
