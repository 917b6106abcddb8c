/* Prints manual pages for man(7) from the rows of commands and options.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/option_text.h"
#include "cli/command.h"
#include "cli/help/help.h"
#include "imgio/imgio.h"

#include <ctype.h>
#include <string.h>

/* Prints text as roff: escapes backslashes and hyphens, and ensures that no line begins like a
 * request of roff. */
static void roff_n(FILE *out, const char *text, size_t n)
{
    bool start = true;
    for (size_t i = 0; i < n; i++) {
        if (start && (text[i] == '.' || text[i] == '\''))
            fputs("\\&", out);
        if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '-')
            fputs("\\-", out);
        else
            putc(text[i], out);
        start = text[i] == '\n';
    }
}

static void roff(FILE *out, const char *text)
{
    roff_n(out, text, strlen(text));
}

static void head(FILE *out, const char *name, const char *summary)
{
    fputs(".TH ", out);
    for (const char *p = name; *p; p++)
        putc(toupper((unsigned char)*p), out);
    fprintf(out, " 1 %s \"gpuimg %s\" \"gpuimg manual\"\n.SH NAME\n", GI_VERSION_DATE, GI_VERSION);
    roff(out, name);
    fputs(" \\- ", out);
    putc(tolower((unsigned char)*summary), out);
    roff(out, summary + 1);
    putc('\n', out);
}

/* Prints paragraphs. Lines that start with a blank are formulas or tables, and are not filled. In
 * all other paragraphs a newline counts as a blank. */
static void paragraphs(FILE *out, const char *text)
{
    for (bool first = true; *text; first = false) {
        const char *end = strstr(text, "\n\n");
        size_t n = end ? (size_t)(end - text) : strlen(text);
        bool verbatim = *text == ' ';
        if (!first)
            fputs(".PP\n", out);
        if (verbatim)
            fputs(".nf\n", out);
        for (const char *line; !verbatim && (line = memchr(text, '\n', n)); text = line + 1) {
            roff_n(out, text, (size_t)(line - text));
            fputs("\n.br\n", out);
            n -= (size_t)(line + 1 - text);
        }
        roff_n(out, text, n);
        fputs(verbatim ? "\n.fi\n" : "\n", out);
        text += n;
        text += strspn(text, "\n");
    }
}

static void option(FILE *out, const struct gi_option *row)
{
    char text[1024];
    fputs(".TP\n\\fB", out);
    roff(out, gi_option_names(row, text, sizeof text));
    fputs("\\fR", out);
    if (*gi_option_argument(row, text, sizeof text)) {
        fputs("\\fI", out);
        roff(out, text);
        fputs("\\fR", out);
    }
    putc('\n', out);
    roff(out, gi_option_describe(row, text, sizeof text));
    putc('\n', out);
    if (!gi_choices_have_help(row))
        return;
    fputs(".RS\n", out);
    for (const struct gi_choice *c = row->choices; c->name; c++) {
        if (c->alias_of)
            continue;
        fputs(".TP\n\\fB", out);
        roff(out, c->name);
        fputs("\\fR\n", out);
        gi_choice_describe(row, c, text, sizeof text);
        roff(out, *text ? text : c->name);
        putc('\n', out);
    }
    fputs(".RE\n", out);
}

static void examples(FILE *out, const char *lines)
{
    fputs(".SH EXAMPLES\n.nf\n", out);
    roff(out, lines);
    fputs("\n.fi\n", out);
}

static void more(FILE *out, const struct gi_command *command)
{
    char line[1024];
    for (int i = 0; command->more && command->more(i, line, sizeof line); i++) {
        fputs(i ? "" : ".SS \"", out);
        roff(out, line);
        fputs(i ? "\n" : "\"\n.nf\n", out);
    }
    if (command->more)
        fputs(".fi\n", out);
}

/* command NULL: the program as a whole. */
static void exit_status(FILE *out, const struct gi_command *command)
{
    bool judges = command && command->trouble == GI_EXIT_USAGE;
    fprintf(out,
            ".SH EXIT STATUS\n0 on success, 1 if %s, 2 if %sthe command line was wrong, 75 if the "
            "machine failed (disk full, I/O error, out of memory, device lost).\n",
            judges ? "a limit does not hold" : "a file or an operation failed",
            judges ? "a file or the operation failed or " : "");
}

static void options(FILE *out, const struct gi_command *command)
{
    bool any = false;
    for (int s = 0; s < GI_OPTION_SETS_MAX && command->sets[s].rows; s++) {
        if (!command->sets[s].rows->name)
            continue;
        if (!any)
            fputs(".SH OPTIONS\n", out);
        any = true;
        fprintf(out, ".SS \"%s\"\n", command->sets[s].title);
        for (const struct gi_option *row = command->sets[s].rows; row->name; row++)
            option(out, row);
    }
}

void gi_man_command(FILE *out, const struct gi_command *command)
{
    char name[64];
    snprintf(name, sizeof name, "gpuimg-%s", command->name);
    head(out, name, command->summary);
    fputs(".SH SYNOPSIS\n\\fBgpuimg ", out);
    roff(out, command->name);
    fputs("\\fR [\\fIOPTION\\fR...]", out);
    if (*command->operands) {
        fputs(" \\fI", out);
        roff(out, command->operands);
        fputs("\\fR", out);
    }
    fputs("\n.SH DESCRIPTION\n", out);
    if (command->manual) {
        paragraphs(out, command->manual);
    } else {
        roff(out, command->summary);
        fputs(".\n", out);
    }
    options(out, command);
    more(out, command);
    exit_status(out, command);
    if (command->examples)
        examples(out, command->examples);
    fputs(".SH SEE ALSO\n.BR gpuimg (1)\n", out);
    if (gi_batch_writes_files(command) || gi_command_set(command, gi_layers_options) >= 0)
        fputs(".BR gpuimg\\-batch (1)\n", out);
}

void gi_man_topic(FILE *out, const struct gi_command *topic)
{
    char name[64];
    snprintf(name, sizeof name, "gpuimg-%s", topic->name);
    head(out, name, topic->summary);
    fputs(".SH DESCRIPTION\n", out);
    paragraphs(out, topic->manual);
    options(out, topic);
    if (topic->examples)
        examples(out, topic->examples);
    fputs(".SH SEE ALSO\n.BR gpuimg (1)\n", out);
}

static const char environment[] =
    ".SH ENVIRONMENT\n"
    ".TP\n\\fBGPUIMG_DEVICE\\fR\n"
    "The device without \\fB\\-\\-device\\fR: auto, cpu, cuda or cuda:N.\n"
    ".TP\n\\fBGPUIMG_CPU\\fR\n"
    "The highest instruction level of the CPU backend: scalar, avx2 or avx512, on Arm scalar or "
    "neon.\n"
    ".TP\n\\fBGPUIMG_RATES\\fR\n"
    "The file with the rates that \\fBgpuimg bench \\-\\-save\\fR measured.\n"
    ".TP\n\\fBGPUIMG_WAY\\fR\n"
    "Forces implementations of primitives: "
    "[\\fIbackend\\fR/]\\fIprimitive\\fR:\\fIway\\fR,... (for tests and measurements). A command "
    "that runs no such primitive ends with an error.\n";

static void formats(FILE *out)
{
    fputs(".SH FORMATS\n", out);
    const struct gi_format_info *format;
    for (int i = 0; (format = gi_format_at(i)); i++) {
        fprintf(out, ".TP\n\\fB%s\\fR\n", format->name);
        roff(out, format->summary);
        fprintf(out, ", %s\n",
                format->reads && format->writes ? "read and written"
                : format->reads                 ? "read"
                                                : "written");
    }
}

static void page(FILE *out, const struct gi_command *row)
{
    fputs(".TP\n\\fBgpuimg\\-", out);
    roff(out, row->name);
    fputs("\\fR(1)\n", out);
    roff(out, row->summary);
    putc('\n', out);
}

void gi_man_all(FILE *out)
{
    struct gi_command command;
    head(out, "gpuimg", "Filters images, measures them and extracts their regions");
    fputs(".SH SYNOPSIS\n\\fBgpuimg\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIOPERAND\\fR...]\n"
          ".SH DESCRIPTION\n",
          out);
    paragraphs(out, "Images are read by content, whatever their names are. The suffix of the "
                    "output chooses its format; a prefix as in png:- overrides the suffix, and "
                    "--format overrides both. In place of a file name, - means standard input or "
                    "output. An output file is written whole or not at all.\n\n"
                    "An operation gives the same bytes on the CPU and on CUDA, at every number "
                    "of threads and every instruction level; gpuimg selftest checks it.");
    fputs(".SH COMMANDS\n", out);
    for (int g = 1; g <= GI_GROUPS; g++) { /* group 0 (tools) is printed last */
        fprintf(out, ".SS \"%s\"\n", gi_group_titles[g % GI_GROUPS]);
        for (int i = 0; gi_command_at(&command, i); i++)
            if ((int)command.group == g % GI_GROUPS)
                page(out, &command);
    }
    fputs(".SH TOPICS\n", out);
    for (int i = 0; gi_topic_at(&command, i); i++)
        page(out, &command);
    formats(out);
    fputs(environment, out);
    exit_status(out, NULL);
    examples(out, "gpuimg blur in.png out.png --k 5\n"
                  "gpuimg gaussian photo.jpg - --sigma 3 --format png | gpuimg edges - edges.png\n"
                  "gpuimg help gaussian");
}
