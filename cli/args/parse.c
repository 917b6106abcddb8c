/* Parses argv into parameter structs, with tables for getopt_long that are made from the option
 * rows.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/args/option_text.h"
#include "cli/command.h"
#include "cli/content.h"
#include "imgio/small.h"

#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CODE_OPERAND = 1, /* getopt's own code for an operand */
    CODE_HELP = 256,  /* larger than all letters; option row i has the code CODE_ROW + i */
    CODE_JSON,        /* --json, short for --format json */
    CODE_ROW,
};

/* The rows of all sets of a command, and the tables for getopt made from them. */
struct table {
    const struct gi_option **rows;
    int *sets;   /* the set of each row */
    bool *given; /* the row has had a value */
    int nrows;
    int json; /* number of the row of --format if it has the choice json, otherwise -1 */
    struct option *longs; /* names and aliases of rows, help, json */
    int nlongs;
    char *shorts; /* getopt's short options: "-:hv..." */
};

static void table_free(struct table *t)
{
    free(t->rows);
    free(t->sets);
    free(t->given);
    free(t->longs);
    free(t->shorts);
}

static int count_rows(const struct gi_command *command)
{
    int n = 0;
    for (int s = 0; s < GI_OPTION_SETS_MAX && command->sets[s].rows; s++)
        for (const struct gi_option *row = command->sets[s].rows; row->name; row++)
            n++;
    return n;
}

static void add_long(struct table *t, const char *name, int has_arg, int code)
{
    t->longs[t->nlongs++] = (struct option){name, has_arg, NULL, code};
}

static void table_make(struct table *t, const struct gi_command *command)
{
    size_t n = (size_t)count_rows(command);
    t->rows = gi_small_calloc(n + 1, sizeof *t->rows);
    t->sets = gi_small_calloc(n + 1, sizeof *t->sets);
    t->given = gi_small_calloc(n + 1, sizeof *t->given);
    t->longs = gi_small_calloc(2 * n + 3, sizeof *t->longs);
    t->shorts = gi_small_calloc(2 * n + 8, 1);
    /* With '-' getopt returns operands too, at the positions where they occur. With ':' it returns
     * the code ':' for a missing argument. */
    char *letter = t->shorts + sprintf(t->shorts, "-:h");
    for (int s = 0; s < GI_OPTION_SETS_MAX && command->sets[s].rows; s++)
        for (const struct gi_option *row = command->sets[s].rows; row->name; row++) {
            int has_arg = row->type == GI_OPT_FLAG ? no_argument
                          : row->bare              ? optional_argument
                                                   : required_argument;
            t->rows[t->nrows] = row;
            t->sets[t->nrows] = s;
            add_long(t, row->name, has_arg, CODE_ROW + t->nrows);
            if (row->also)
                add_long(t, row->also, has_arg, CODE_ROW + t->nrows);
            if (row->letter)
                letter += sprintf(letter, "%c%s", row->letter, has_arg ? ":" : "");
            t->nrows++;
        }
    add_long(t, "help", no_argument, CODE_HELP);
    const struct gi_option *format = gi_option_json(command);
    for (t->json = t->nrows - 1; t->json >= 0 && t->rows[t->json] != format;)
        t->json--;
    if (format) {
        add_long(t, "json", no_argument, CODE_JSON);
        sprintf(letter, "j");
    }
}

static int row_of_code(const struct table *t, int code)
{
    if (code >= CODE_ROW)
        return code - CODE_ROW;
    for (int i = 0; i < t->nrows; i++)
        if (code > 0 && t->rows[i]->letter == code)
            return i;
    return -1;
}

/* Reports "--foo: no such option", or which options an abbreviation may mean. */
static enum gi_status fail_unknown(const struct table *t, const struct gi_command *command,
                                   const char *word, int letter, struct gi_err *err)
{
    char name[64] = "", fits[256] = "", dash[] = {'-', (char)letter, '\0'};
    word = letter ? dash : word;
    size_t n = strcspn(word, "="), dashes = letter ? 1 : 2;
    snprintf(name, sizeof name, "%.*s", (int)(n - dashes), word + dashes);
    int nfits = 0;
    for (int i = 0; i < t->nlongs && !letter; i++) {
        const char *candidate = t->longs[i].name;
        size_t used = strlen(fits);
        if (strncmp(candidate, name, strlen(name)) == 0 && nfits++ < 6)
            snprintf(fits + used, sizeof fits - used, "%s--%s", used ? ", " : "", candidate);
    }
    const char *nearest = gi_option_nearest(command, name);
    if (nfits > 1)
        return gi_fail(err, GI_E_USAGE, "%.*s: could be any of %s", (int)n, word, fits);
    const char *advice = gi_option_advice(command, name);
    if (advice)
        return gi_fail(err, GI_E_USAGE, "%.*s: no such option, %s", (int)n, word, advice);
    if (strcmp(command->name, "help") == 0 && !nearest)
        return gi_fail(err, GI_E_USAGE, "%.*s: no such option, did you mean gpuimg help %s?",
                       (int)n, word, name);
    if (nearest)
        return gi_fail(err, GI_E_USAGE,
                       "%.*s: no such option, did you mean --%s? (try gpuimg help %s)", (int)n,
                       word, nearest, command->name);
    return gi_fail(err, GI_E_USAGE, "%.*s: no such option (try gpuimg help %s)", (int)n, word,
                   command->name);
}

/* Reports what getopt returns as '?': an unknown option, an ambiguous abbreviation, or
 * --flag=text. */
static enum gi_status fail_option(const struct table *t, const struct gi_command *command,
                                  const char *word, int code, struct gi_err *err)
{
    int row = row_of_code(t, code);
    if (code == CODE_HELP)
        return gi_fail(err, GI_E_USAGE, "--help takes no argument");
    if (code == CODE_JSON)
        return gi_fail(err, GI_E_USAGE, "--json takes no argument (%s)", word);
    if (row >= 0)
        return gi_fail(err, GI_E_USAGE, "--%s takes no argument (%s)", t->rows[row]->name, word);
    return fail_unknown(t, command, word, code, err);
}

/* Reports that the argument of an option is missing. */
static enum gi_status fail_argument(const struct gi_option *row, struct gi_err *err)
{
    const char *example = row->type == GI_OPT_TEXT ? row->form : NULL;
    return gi_fail(err, GI_E_USAGE, "--%s: wants %s: %s%s%s", row->name,
                   row->two ? "two arguments" : "an argument", gi_option_metavar(row),
                   example ? ", for example " : "", example ? example : "");
}

/* Joins the text, its second argument if there is one, and the value that `params` have so far.
 * *joined is malloc()ed. */
static enum gi_status join(char **joined, const struct gi_option *row, const void *params,
                           const char *text, const char *second, struct gi_err *err)
{
    static const char separators[] = {GI_OPTION_NEXT, GI_OPTION_WORD, '\0'};
    const char *before;
    memcpy(&before, (const char *)params + row->offset, sizeof before);
    if (strpbrk(text, separators) || (second && strpbrk(second, separators)))
        return gi_fail(err, GI_E_USAGE, "--%s: has a control character", row->name);
    *joined = gi_small_format("%s%.*s%s%.*s%s", before ? before : "", before != NULL, separators,
                              text, second != NULL, separators + 1, second ? second : "");
    return GI_OK;
}

/* Returns the row that gets the value: that of an image that may be given again is the next one
 * without a value. Returns NULL if all have one. */
static const struct gi_option *row_unset(const struct gi_option *row, const void *params)
{
    while (row->named && gi_option_path(row, params))
        row++;
    return row->named ? row : NULL;
}

/* Refuses a second value of an option that names files, because those of the first would be
 * missing. The last value of any other option counts. */
static enum gi_status check_once(const struct table *t, int index, const char *text,
                                 struct gi_err *err)
{
    const struct gi_option *row = t->rows[index];
    bool once = row->type == GI_OPT_PATH;
    bool twice = once && !row->repeats && t->given[index];
    t->given[index] = true;
    return twice ? gi_fail(err, GI_E_USAGE, "--%s %s: --%s is given twice: want it once", row->name,
                           text, row->name)
                 : GI_OK;
}

/* `second` is the second argument of an option that has two; otherwise NULL. */
static enum gi_status read_row(struct gi_args *args, const struct table *t, int index,
                               const char *text, const char *second, struct gi_err *err)
{
    const struct gi_option *row = t->rows[index];
    void *params = args->params[t->sets[index]];
    if (!text)
        text = row->bare;
    if (check_once(t, index, text, err))
        return err->status;
    if (row->named && !(row = row_unset(row, params)))
        return gi_fail(err, GI_E_USAGE, "--%s %s: is one image too many", t->rows[index]->name,
                       text);
    if (row->type == GI_OPT_CONTENT || row->repeats) {
        args->contents =
            gi_small_realloc(args->contents, (size_t)args->ncontents + 1, sizeof *args->contents);
        char *content;
        enum gi_status status = row->repeats ? join(&content, row, params, text, second, err)
                                             : gi_content_read(&content, row, text, err);
        if (status)
            return status;
        args->contents[args->ncontents++] = (struct gi_content){
            .text = content, .row = row, .file = content && !row->repeats ? text : NULL};
        text = content ? content : text;
    }
    return gi_option_read(params, row, text, err);
}

/* Refuses options in the style of ImageMagick ("-resize"), which getopt would take for letters. */
static enum gi_status check_dashes(const struct table *t, int argc, char **argv, struct gi_err *err)
{
    struct gi_command command;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (*argv[i] != '-')
            continue;
        const char *name = argv[i] + 1;
        size_t n = strcspn(name, "=");
        if (*name == '-' || n < 3)
            continue;
        for (int j = 0; j < t->nlongs; j++)
            if (strlen(t->longs[j].name) == n && strncmp(t->longs[j].name, name, n) == 0)
                return gi_fail(err, GI_E_USAGE, "%s: no such option, did you mean -%s?", argv[i],
                               argv[i]);
        if (gi_command_find(&command, name))
            return gi_fail(err, GI_E_USAGE, "%s: no such option, did you mean gpuimg %s?", argv[i],
                           name);
    }
    return GI_OK;
}

/* Adds to the error of a refused value what to write instead, if that is known. */
static void add_advice(const struct gi_command *command, const struct gi_option *row,
                       const char *text, struct gi_err *err)
{
    const char *advice = text ? gi_value_advice(command, row->name, text) : NULL;
    size_t used = strlen(err->text);
    if (advice)
        snprintf(err->text + used, sizeof err->text - used, "; %s", advice);
}

static enum gi_status read_words(struct gi_args *args, const struct table *t,
                                 const struct gi_command *command, int argc, char **argv,
                                 struct gi_err *err)
{
    opterr = 0;
    optind = 0; /* makes the getopt of glibc and musl start again, because it may have read another
                   command line before */
    for (;;) {
        int word = optind ? optind : 1;
        optopt = 0;
        int code = getopt_long(argc, argv, t->shorts, t->longs, NULL);
        if (code == -1)
            break;
        enum gi_status status = GI_OK;
        int row = row_of_code(t, code);
        if (code == CODE_OPERAND)
            args->operands[args->noperands++] = optarg;
        else if (code == CODE_HELP || code == 'h')
            args->help = true;
        else if (t->json >= 0 && (code == CODE_JSON || code == 'j'))
            status = read_row(args, t, t->json, "json", NULL, err);
        else if (code == ':' && (row = row_of_code(t, optopt)) >= 0)
            status = fail_argument(t->rows[row], err);
        else if (row >= 0 && t->rows[row]->two && optind >= argc)
            status = fail_argument(t->rows[row], err);
        else if (row >= 0)
            status = read_row(args, t, row, optarg, t->rows[row]->two ? argv[optind++] : NULL, err);
        else
            status = fail_option(t, command, argv[word], optopt, err);
        if (status && row >= 0)
            add_advice(command, t->rows[row], optarg, err);
        if (status || args->help)
            return status;
    }
    while (optind < argc)
        args->operands[args->noperands++] = argv[optind++];
    return GI_OK;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Refuses a folder as the operand for a single image. */
static enum gi_status check_folders(const struct gi_args *args, const struct gi_command *command,
                                    struct gi_err *err)
{
    int n = args->noperands;
    if (n < 2 || n != command->max_operands || !gi_batch_writes_files(command))
        return GI_OK;
    if (is_folder(args->operands[n - 2]))
        return gi_fail(err, GI_E_USAGE,
                       "%s: is a folder, want an image; for all in a folder use --recursive and "
                       "--out-dir",
                       args->operands[n - 2]);
    if (is_folder(args->operands[n - 1]))
        return gi_fail(err, GI_E_USAGE, "%s: is a folder, want the name of a file, or --out-dir %s",
                       args->operands[n - 1], args->operands[n - 1]);
    return GI_OK;
}

/* Returns an option of the operation whose value operand i may be, because the operand is a number,
 * a size, or the name of a file for an option that names a further image. Returns NULL if there is
 * no such option. */
static const struct gi_option *option_of_operand(const struct gi_args *args,
                                                 const struct gi_command *command, int i)
{
    /* The first file is an input, and of commands that write tables all may be. */
    bool images = i > 0 && gi_command_set(command, gi_table_options) < 0;
    const char *text = args->operands[i], *end;
    double number;
    bool sized = gi_number_read(&number, text, &end), plain = sized && !*end;
    for (const struct gi_option *row = command->sets[0].rows; row->name && command->filter; row++) {
        bool size = row->type == GI_OPT_EXTENT || row->type == GI_OPT_RECT;
        bool amount = row->type == GI_OPT_INT || row->type == GI_OPT_ODD ||
                      row->type == GI_OPT_REAL || row->type == GI_OPT_REALS ||
                      row->type == GI_OPT_LEVEL || strcmp(row->name, "value") == 0;
        bool percent = row->type == GI_OPT_LEVEL && sized && strcmp(end, "%") == 0;
        bool fits = row->type == GI_OPT_IMAGE ? images && access(text, F_OK) == 0
                    : size                    ? sized && (*end == 'x' || *end == '%')
                                              : amount && (plain || percent);
        if (fits && gi_option_read(args->params[0], row, text, NULL) == GI_OK)
            return row;
    }
    return NULL;
}

/* Returns whether the operand after the input is the name of a new picture, and so meant for --plot
 * of `command`. */
static bool is_plot(const struct gi_args *args, const struct gi_command *command, const char *text)
{
    const char *dot = strrchr(text, '.');
    return args->noperands == 2 && gi_command_has_option(command, "plot", strlen("plot")) && dot &&
           (strcasecmp(dot, ".png") == 0 || strcasecmp(dot, ".svg") == 0) &&
           access(text, F_OK) != 0;
}

/* Returns whether the text is a factor such as 0.5, for a command whose --size may be 50%. */
static bool is_factor(const struct gi_command *command, const char *text, double *factor)
{
    const char *end;
    const struct gi_option *size =
        command->filter ? gi_option_find(command->sets[0].rows, "size") : NULL;
    return size && size->type == GI_OPT_EXTENT && gi_number_read(factor, text, &end) && !*end &&
           *factor > 0 && *factor <= 10;
}

static enum gi_status fail_operand(const struct gi_args *args, const struct gi_command *command,
                                   struct gi_err *err)
{
    const char *text = args->operands[command->max_operands];
    if (is_plot(args, command, text))
        return gi_fail(err, GI_E_USAGE, "%s: one operand too many, did you mean --plot %s?", text,
                       text);
    for (int i = command->max_operands; i >= 0; i--) {
        const struct gi_option *row = option_of_operand(args, command, i);
        if (row)
            return gi_fail(err, GI_E_USAGE, "%s: one operand too many, did you mean --%s %s?", text,
                           row->name, args->operands[i]);
    }
    double factor;
    if (is_factor(command, text, &factor))
        return gi_fail(err, GI_E_USAGE, "%s: one operand too many, did you mean --size %.10g%%?",
                       text, 100 * factor);
    return gi_fail(err, GI_E_USAGE, "%s: one operand too many (usage: gpuimg %s%s%s)%s%s", text,
                   command->name, *command->operands ? " " : "", command->operands,
                   gi_batch_writes_files(command) ? "; for many images use --out-dir"
                   : gi_command_set(command, gi_layers_options) >= 0 ? "; for many images use --out"
                   : gi_command_set(command, gi_table_options) >= 0
                       ? "; for many images use --table FILE, or --table - to print it"
                   : gi_command_set(command, gi_pairs_options) >= 0
                       ? "; for many pairs give two folders or --pairs LIST"
                       : "",
                   command->joins ? "; gpuimg pages --out makes one file of several images" : "");
}

static enum gi_status check_operands(const struct gi_args *args, const struct gi_command *command,
                                     struct gi_err *err)
{
    int max = command->max_operands, min = command->min_operands;
    const struct gi_batch_params *many = gi_batch_params_of(command, args->params);
    if (many && gi_batch_is_wanted(many)) {
        max = -1;
        min = min > 1 || many->files_from ? 0 : min;
    } else if (gi_batch_check_one(command, args->params, err) ||
               check_folders(args, command, err)) {
        return err->status;
    }
    bool joins = command->joins && args->noperands > max && max > 0 &&
                 gi_cli_writes_pages(args->operands[args->noperands - 1]);
    if (max >= 0 && args->noperands > max && !joins)
        return fail_operand(args, command, err);
    if (args->noperands < min)
        return gi_fail(err, GI_E_USAGE, "want %s, got %s (usage: gpuimg %s [OPTION...] %s)",
                       command->operands, args->noperands ? args->operands[0] : "nothing",
                       command->name, command->operands);
    for (int i = 0; i < args->noperands; i++)
        if (!*args->operands[i])
            return gi_fail(err, GI_E_USAGE, "operand %d is empty, want %s", i + 1,
                           command->operands);
    return GI_OK;
}

/* Reads the first operand as the value of an option that it stands for. */
static enum gi_status take_operand(struct gi_args *args, const struct gi_command *command,
                                   struct gi_err *err)
{
    const struct gi_option *row = gi_command_operand(command);
    if (!row || args->noperands == 0 || gi_option_path(row, args->params[0]))
        return GI_OK;
    enum gi_status status = gi_option_read(args->params[0], row, args->operands[0], err);
    args->noperands--;
    memmove(args->operands, args->operands + 1, (size_t)args->noperands * sizeof *args->operands);
    return status;
}

/* If the error begins with the name of an option that read a file, adds the name of the file. */
static void name_file(const struct gi_args *args, struct gi_err *err)
{
    for (int i = 0; i < args->ncontents; i++) {
        const struct gi_content *content = &args->contents[i];
        char option[64];
        size_t n = (size_t)snprintf(option, sizeof option, "--%s: ", content->row->name);
        if (!content->file || strncmp(err->text, option, n) != 0)
            continue;
        const struct gi_err why = *err;
        gi_fail(err, why.status, "--%s %s: %s", content->row->name, content->file, why.text + n);
        return;
    }
}

enum gi_status gi_args_read(struct gi_args *args, const struct gi_command *command, int argc,
                            char **argv, struct gi_err *err)
{
    *args = (struct gi_args){.operands = gi_small_calloc((size_t)argc + 1, sizeof *args->operands)};
    for (int s = 0; s < GI_OPTION_SETS_MAX && command->sets[s].rows; s++) {
        args->params[s] = gi_small_calloc(1, command->sets[s].params_nbytes);
        gi_options_default(args->params[s], command->sets[s].rows);
    }
    struct table t = {0};
    table_make(&t, command);
    enum gi_status status = check_dashes(&t, argc, argv, err);
    if (!status)
        status = read_words(args, &t, command, argc, argv, err);
    table_free(&t);
    if (status || args->help)
        return status;
    status = take_operand(args, command, err);
    if (!status)
        status = check_operands(args, command, err);
    if (status || !command->filter || !command->filter->check)
        return status;
    int set = gi_command_set(command, command->filter->options);
    status = set < 0 ? GI_OK : command->filter->check(args->params[set], err);
    if (status)
        name_file(args, err);
    return status;
}

void gi_args_free(struct gi_args *args)
{
    for (int s = 0; s < GI_OPTION_SETS_MAX; s++)
        free(args->params[s]);
    for (int i = 0; i < args->ncontents; i++)
        free(args->contents[i].text);
    free(args->contents);
    free(args->operands);
    *args = (struct gi_args){0};
}
