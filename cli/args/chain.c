/* Parses chains. Splits the text into words, and makes steps from the words.
 * SPDX-License-Identifier: MIT */
#include "cli/args/chain.h"
#include "cli/args/suggestion.h"
#include "cli/commands.h"
#include "imgio/small.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { SET_OUTPUT = 1, SET_TO };

struct to_params {
    const char *to;
};

static const struct gi_option to_options[] = {
    {GI_OPTION("to", PATH, struct to_params, to), .default_text = "-", .metavar = "FILE",
     .help = "Where the table goes; - is standard output"},
    {0},
};

bool gi_chain_command(struct gi_command *command, const struct gi_filter *filter)
{
    const struct gi_reporter *reporter = filter->run ? NULL : gi_reporter_find(filter);
    if ((!filter->run && !reporter) ||
        (filter->run && filter->sources.min > 1)) /* has a command of its own */
        return false;
    *command = (struct gi_command){
        .name = filter->name,
        .operands = "",
        .summary = filter->summary,
        .sets = {{"Options", filter->options, filter->params_nbytes}},
        .filter = filter,
        .reporter = reporter,
    };
    if (gi_command_operand(command))
        command->operands = "EXPRESSION";
    if (reporter) {
        command->sets[SET_OUTPUT] =
            (struct gi_option_set){"Output", reporter->options, reporter->output_nbytes};
        command->sets[SET_TO] =
            (struct gi_option_set){"In a chain", to_options, sizeof(struct to_params)};
    }
    return true;
}

/* ---- text to words ---- */

/* The words of one step. `argv` points into the copy of the chain's text. */
struct words {
    char **argv;
    int argc;
};

static void add_word(struct words *words, char *word)
{
    words->argv = gi_small_realloc(words->argv, (size_t)words->argc + 2, sizeof *words->argv);
    words->argv[words->argc++] = word;
    words->argv[words->argc] = NULL;
}

/* Copies the word at *text to *to, and moves both pointers past the word. Returns false if a quote
 * is not closed. */
static bool copy_word(const char **text, char **to)
{
    char quote = 0;
    const char *from = *text;
    for (; *from; from++) {
        if (!quote && strchr(" \t\r\n|", *from))
            break;
        if (*from == '\\' && quote != '\'' && from[1])
            *(*to)++ = *++from;
        else if (quote ? *from == quote : *from == '\'' || *from == '"')
            quote = quote ? 0 : *from;
        else
            *(*to)++ = *from;
    }
    *(*to)++ = '\0';
    *text = from;
    return !quote;
}

/* Skips blanks and comments. */
static const char *skip(const char *text)
{
    for (;;) {
        text += strspn(text, " \t\r\n");
        if (*text != '#')
            return text;
        text += strcspn(text, "\n");
    }
}

/* Returns whether a step can begin with that name of an operation, or alias of one. */
static bool is_step(const char *name)
{
    struct gi_command command;
    const struct gi_alias *alias = gi_alias_find(name);
    const struct gi_filter *filter = gi_filter_find(alias ? alias->words[0] : name);
    return filter && gi_chain_command(&command, filter);
}

/* Returns whether a step begins at `text`. `words` are the words of the step before, and `blank` is
 * the start of the blanks and comments after these words. Steps take no operands, so the unquoted
 * name of an operation can begin a step only after a comma or at the start of a line. At the start
 * of a line, a word may still be the value of an option from the line before, unless the word is
 * the name of an operation. */
static bool begins_step(const struct words *words, const char *blank, const char *text, bool comma)
{
    size_t n = strcspn(text, " \t\r\n|,#");
    if (!words->argc || !islower((unsigned char)*text))
        return false;
    if (comma)
        return true;
    char name[64];
    const char *before = words->argv[words->argc - 1];
    bool line = memchr(blank, '\n', (size_t)(text - blank));
    snprintf(name, sizeof name, "%.*s", (int)n, text);
    return line && (*before != '-' || strchr(before, '=') || is_step(name));
}

/* Copies the words of one step to `to`, and sets *more to whether another step follows. */
static enum gi_status read_words(struct words *words, const char **text, char **to, bool *more,
                                 struct gi_err *err)
{
    for (*text = skip(*text); **text && **text != '|';) {
        char *word = *to;
        const char *start = *text;
        if (!copy_word(text, to))
            return gi_fail(err, GI_E_USAGE, "%.40s: a quote is not closed", start);
        add_word(words, word);
        const char *end = *text, *next = skip(end);
        size_t n = (size_t)(end - start);
        bool comma = next > end && end[-1] == ',' && (n == 1 || end[-2] != '\\');
        *text = next;
        *more = begins_step(words, end, next, comma);
        if (*more && comma && !*(word + 1)) /* the comma was a word */
            words->argc--;
        if (*more && comma)
            (*to)[-2] = '\0';
        if (*more)
            return GI_OK;
    }
    *more = **text == '|';
    *text += *more;
    return GI_OK;
}

/* ---- words to steps ---- */

static enum gi_status find_operation(const struct gi_filter **filter, const char *name,
                                     struct gi_err *err)
{
    struct gi_command command;
    *filter = gi_filter_find(name);
    if (*filter && gi_chain_command(&command, *filter))
        return GI_OK;
    bool found = *filter || gi_command_find(&command, name);
    if (found)
        return gi_fail(err, GI_E_USAGE, "%s: can't be a step of a chain (gpuimg help run)", name);
    const char *nearest = gi_command_nearest(name);
    char hint[512] = "";
    if (gi_command_advice(name) || (nearest && gi_filter_find(nearest)))
        gi_command_hint(hint, sizeof hint, name);
    return gi_fail(err, GI_E_USAGE, "%s: no such operation%s", name, hint);
}

/* If a comma without a blank precedes the name of an operation, adds to the error how steps are
 * separated. */
static void hint_comma(const struct words *words, struct gi_err *err)
{
    char name[64];
    for (int i = 0; i < words->argc; i++)
        for (const char *s = words->argv[i]; (s = strchr(s, ','));) {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(s + 1, ", |"), s + 1);
            s++;
            size_t used = strlen(err->text);
            if (!is_step(name))
                continue;
            snprintf(err->text + used, sizeof err->text - used,
                     "; if %s is a step: want | or a comma and a blank before it", name);
            return;
        }
}

/* Replaces an alias, as in "gray" for "convert --gray", by its words. */
static void expand_alias(struct words *words)
{
    const struct gi_alias *alias = gi_alias_find(words->argv[0]);
    if (!alias)
        return;
    words->argv[0] = (char *)alias->words[0];
    if (!alias->words[1])
        return;
    add_word(words, NULL);
    memmove(words->argv + 2, words->argv + 1, ((size_t)words->argc - 2) * sizeof *words->argv);
    words->argv[1] = (char *)alias->words[1];
}

/* If the error is that a step has no such option, but the command run has it, says where the option
 * is possible. */
static void hint_common(const struct words *words, struct gi_err *err)
{
    struct gi_command run, convert;
    if (!gi_command_find(&run, "run") || !gi_chain_command(&convert, gi_filter_find("convert")))
        return;
    for (int i = 1; i < words->argc; i++) {
        const char *word = words->argv[i], *why = ": no such option";
        size_t n = strcspn(word, "=");
        if (n < 3 || strncmp(word, "--", 2) != 0 || strncmp(err->text, word, n) != 0 ||
            strncmp(err->text + n, why, strlen(why)) != 0 ||
            !gi_command_has_option(&run, word + 2, n - 2))
            continue;
        bool step = gi_command_has_option(&convert, word + 2, n - 2);
        gi_fail(err, GI_E_USAGE, "%s: applies to the whole chain: want it after the chain%s%s",
                word, step ? ", or the step convert " : "", step ? word : "");
        return;
    }
}

/* Refuses options that only the command of the operation has. */
static enum gi_status check_alone(const struct gi_chain_step *step, struct gi_err *err)
{
    const struct gi_filter *filter = step->filter;
    void *unset = gi_small_calloc(1, filter->params_nbytes);
    enum gi_status status = GI_OK;
    gi_options_default(unset, filter->options);
    for (const struct gi_option *row = filter->options; row->name && !status; row++)
        if (row->alone && !gi_option_same(row, step->args.params[GI_SET_STEP_FILTER], unset))
            status = gi_fail(err, GI_E_USAGE, "--%s: want the command %s, not a chain", row->name,
                             filter->name);
    free(unset);
    return status;
}

static enum gi_status make_step(struct gi_chain_step *step, struct words *words, struct gi_err *err)
{
    if (words->argc == 0)
        return gi_fail(err, GI_E_USAGE, "is empty, want an operation");
    expand_alias(words);
    enum gi_status status = find_operation(&step->filter, words->argv[0], err);
    if (status)
        return status;
    gi_chain_command(&step->command, step->filter);
    step->reporter = step->command.reporter;
    status = gi_args_read(&step->args, &step->command, words->argc, words->argv, err);
    if (status == GI_E_USAGE)
        hint_common(words, err);
    if (!status || status == GI_E_USAGE) /* this message says more than that of another error */
        status = check_alone(step, err) ? GI_E_USAGE : status;
    if (!status && step->args.help)
        status = gi_fail(err, GI_E_USAGE, "--help: want gpuimg help %s", step->filter->name);
    if (status || !step->reporter)
        return status ? gi_err_prefix(err, "%s", step->filter->name) : GI_OK;
    step->to = ((struct to_params *)step->args.params[SET_TO])->to;
    return GI_OK;
}

static enum gi_status add_step(struct gi_chain *chain, struct words *words, struct gi_err *err)
{
    chain->steps = gi_small_realloc(chain->steps, (size_t)chain->n + 1, sizeof *chain->steps);
    chain->steps[chain->n] = (struct gi_chain_step){0};
    return make_step(&chain->steps[chain->n++], words, err);
}

enum gi_status gi_chain_read(struct gi_chain *chain, const char *text, struct gi_err *err)
{
    *chain = (struct gi_chain){.words = gi_small_alloc(2 * strlen(text) + 2)};
    char *to = chain->words;
    enum gi_status status = GI_OK;
    bool more = true;
    for (int step = 1; more && !status; step++) {
        struct words words = {0};
        status = step > GI_CHAIN_STEPS_MAX
                     ? gi_fail(err, GI_E_USAGE, "want at most %d steps", GI_CHAIN_STEPS_MAX)
                     : read_words(&words, &text, &to, &more, err);
        if (!status && (status = add_step(chain, &words, err)) == GI_E_USAGE)
            hint_comma(&words, err);
        if (status)
            gi_err_prefix(err, "step %d", step);
        free(words.argv);
    }
    return status;
}

void gi_chain_free(struct gi_chain *chain)
{
    gi_chain_unload(chain);
    for (int i = 0; i < chain->n; i++)
        gi_args_free(&chain->steps[i].args);
    free(chain->steps);
    free(chain->words);
    *chain = (struct gi_chain){0};
}

static const struct gi_reporter *last_reporter(const struct gi_chain *chain)
{
    return chain && chain->n ? chain->steps[chain->n - 1].reporter : NULL;
}

bool gi_chain_ends_in_analysis(const struct gi_chain *chain)
{
    return last_reporter(chain) != NULL;
}

bool gi_chain_reports_samples(const struct gi_chain_step *step)
{
    const struct gi_reporter *reporter = step->reporter;
    return reporter && reporter->wants_image &&
           reporter->wants_image(step->args.params[GI_SET_STEP_OUTPUT]);
}

bool gi_chain_makes_arrays(const struct gi_chain *chain)
{
    const struct gi_reporter *last = last_reporter(chain);
    return last && last->arrays;
}

const char *gi_chain_suffixes(const struct gi_chain *chain)
{
    const struct gi_reporter *last = last_reporter(chain);
    return last && last->suffixes ? last->suffixes : last && last->arrays ? "npy pfm" : "csv json";
}

bool gi_chain_no_clobber(const struct gi_chain_step *step)
{
    const char *output = step->args.params[GI_SET_STEP_OUTPUT];
    bool given = false;
    for (const struct gi_option *row = step->reporter->options; row->name; row++)
        if (strcmp(row->name, "no-clobber") == 0)
            memcpy(&given, output + row->offset, sizeof given);
    return given;
}
