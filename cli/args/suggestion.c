/* Suggestions for unknown commands and options: names that begin with the word, other programs'
 * names, and names that differ by a typing error, but never a name with another meaning. A word for
 * what gpuimg does in another way, or not yet, has a sentence instead.
 * SPDX-License-Identifier: MIT */
#include "cli/args/suggestion.h"
#include "cli/args/advice.h"
#include "cli/args/synonyms.h"
#include "cli/command.h"
#include "cli/commands.h"

#include <string.h>
#include <strings.h>

static int length_of(const struct gi_synonym *list)
{
    int n = 0;
    while (list[n].word)
        n++;
    return n;
}

bool gi_synonym_at(const char **word, const char **means, int index)
{
    const struct gi_synonym *const lists[] = {gi_synonyms_to_m, gi_synonyms_n_to_z};
    int nadvice = 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && index >= 0; i++) {
        const int n = length_of(lists[i]);
        if (index < n) {
            *word = lists[i][index].word;
            *means = lists[i][index].means;
            return true;
        }
        index -= n;
    }
    while (gi_command_advice_rows[nadvice].word)
        nadvice++;
    if (index < 0 || index >= nadvice)
        return false;
    *word = gi_command_advice_rows[index].word;
    *means = gi_command_advice_rows[index].place;
    return true;
}

static const char *synonym_in(const struct gi_synonym *list, const char *name)
{
    for (; list->word; list++)
        if (strcasecmp(list->word, name) == 0)
            return list->means;
    return NULL;
}

/* `means` is suggested only for commands that have this option. If a word occurs several times, the
 * first row counts whose option the command has. */
static const struct gi_synonym options[] = {
    {"R", "recursive"},
    {"alpha-remove", "background COLOUR"},
    {"background", "border-value"},
    {"box", "size (WIDTHxHEIGHT+X+Y)"},
    {"buckets", "bins"},
    {"cpu", "device cpu"},
    {"cuda", "device cuda"},
    {"edge", "border"},
    {"edge-mode", "border"},
    {"exclude", "except"},
    {"f", "no-clobber (files are replaced without it)"},
    {"fill", "border-value"},
    {"filter", "only"},
    {"flatten", "background COLOUR"},
    {"fuzz", "tolerance"},
    {"gpu", "device cuda"},
    {"glob", "only"},
    {"height", "size (xHEIGHT)"},
    {"ignore", "except"},
    {"include", "only"},
    {"interesting", "attention"},
    {"j", "threads"},
    {"jobs", "threads"},
    {"kernel-size", "k"},
    {"ksize", "k"},
    {"level", "threshold"},
    {"log", "report FILE (a JSON object per input)"},
    {"mask-size", "k"},
    {"method", "operator"},
    {"mean", "by mean"},
    {"median", "by median"},
    {"min-size", "min-area"},
    {"no-alpha", "background COLOUR"},
    {"no-auto-orient", "keep-orientation"},
    {"no-rotate", "keep-orientation"},
    {"offset", "position"},
    {"o", "out-dir (of one image the output is the last operand)"},
    {"outdir", "out-dir"},
    {"output", "out-dir (of one image the output is the last operand)"},
    {"output-dir", "out-dir"},
    {"overwrite", "no-clobber (files are replaced without it)"},
    {"padding", "border"},
    {"pattern", "only"},
    {"r", "recursive"},
    {"radius", "k (a side: 2 * radius + 1)"},
    {"radius", "sigma"},
    {"region", "size (WIDTHxHEIGHT+X+Y)"},
    {"remove-alpha", "background COLOUR"},
    {"sampling-factor", "subsampling"},
    {"silent", "quiet"},
    {"size", "k"},
    {"skip-existing", "no-clobber (or --resume with --report)"},
    {"smartcrop", "attention"},
    {"std", "sigma"},
    {"stddev", "sigma"},
    {"strength", "amount"},
    {"threshold", "tolerance"},
    {"tile", "columns"},
    {"tolerance", "max-diff"},
    {"validate", "check"},
    {"verify", "check"},
    {"weights", "kernel"},
    {"width", "size (WIDTHx)"},
    {0},
};

/* What to write in place of a value that an option refuses. */
struct value_advice {
    const char *command, *option;
    bool percent; /* for texts with a percentage; otherwise for plain numbers */
    const char *advice;
};

static const char share_of_scale[] = "10% of full scale is 25.5 in 8 bits and 6553.5 in 16 bits";
static const char share_as_factor[] = "110% is the number 1.1";

static const struct value_advice value_advice[] = {
    {"add", "value", true, share_of_scale},
    {"compare", "max-diff", true, share_of_scale},
    {"compare", "tolerance", true, share_of_scale},
    {"composite", "position", true, "--gravity center is 50%,50%, and southeast 100%,100%"},
    {"divide", "value", true, share_as_factor},
    {"multiply", "value", true, share_as_factor},
    {"pad", "border", false, "--margins 20 adds 20 pixels on each side"},
    {"subtract", "value", true, share_of_scale},
    {0},
};

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* The distance of Damerau and Levenshtein without editing a letter twice (optimal string
 * alignment), with one row of the table in memory. */
int gi_word_distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    size_t na = strlen(a), nb = strlen(b);
    if (na > LONGEST || nb > LONGEST)
        return LONGEST;
    int rows[3][LONGEST + 1]; /* row i of the table is rows[i % 3] */
    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int change = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(change, least(row[j - 1], above[j]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[na % 3][nb];
}

/* Commands by the names of other programs. */
static const struct gi_alias aliases[] = {
    {"brightness", {"add", NULL}},
    {"contrast", {"normalize", NULL}},
    {"gray", {"convert", "--gray"}},
    {"grayscale", {"convert", "--gray"}},
    {"desaturate", {"convert", "--gray"}},
    {"mirror", {"flip", "--h"}},
    {"saturation", {"color", NULL}},
    {"scale", {"resize", NULL}},
    {"thumbnail", {"resize", NULL}},
    {"trim", {"crop", "--trim"}},
    {NULL, {NULL, NULL}},
};

const struct gi_alias *gi_alias_at(int index)
{
    return index >= 0 && (size_t)index < sizeof aliases / sizeof *aliases - 1 ? &aliases[index]
                                                                              : NULL;
}

const struct gi_alias *gi_alias_find(const char *name)
{
    for (const struct gi_alias *alias = aliases; alias->name; alias++)
        if (strcmp(alias->name, name) == 0)
            return alias;
    return NULL;
}

/* Returns how badly `candidate` explains `word`. This is 0 if either of them begins with the other,
 * and otherwise the number of wrong letters. Returns 99 if more than 2 letters, or more than a
 * third of the letters, are wrong. */
static int badness(const char *candidate, const char *word)
{
    size_t n = strlen(word), length = strlen(candidate);
    if (n >= 2 && (strncmp(candidate, word, n) == 0 ||
                   (length >= 4 && strncmp(candidate, word, length) == 0)))
        return 0;
    int distance = gi_word_distance(candidate, word);
    return distance <= 2 && 3 * (size_t)distance <= n ? distance : 99;
}

const char *gi_command_advice(const char *name)
{
    for (const struct gi_advice *a = gi_command_advice_rows; a->word; a++)
        if (strcasecmp(a->word, name) == 0)
            return a->sentence;
    return NULL;
}

bool gi_command_is_synonym(const char *name)
{
    const char *word, *means;
    for (int i = 0; gi_synonym_at(&word, &means, i); i++)
        if (strcasecmp(word, name) == 0)
            return true;
    return false;
}

const char *gi_command_nearest(const char *name)
{
    const char *nearest = synonym_in(gi_synonyms_to_m, name);
    if (!nearest)
        nearest = synonym_in(gi_synonyms_n_to_z, name);
    if (nearest)
        return nearest;
    int near = 99;
    struct gi_command command;
    for (int i = 0; gi_command_at(&command, i); i++) {
        int bad = badness(command.name, name);
        if (bad < near) {
            near = bad;
            nearest = command.name;
        }
    }
    return nearest;
}

const char *gi_command_hint(char *buffer, size_t nbytes, const char *name)
{
    const char *advice = gi_command_advice(name), *nearest = gi_command_nearest(name);
    if (advice)
        snprintf(buffer, nbytes, ", %s", advice);
    else if (nearest)
        snprintf(buffer, nbytes, ", did you mean %s?", nearest);
    else
        *buffer = '\0';
    return buffer;
}

static bool is_name(const char *candidate, const char *name, size_t n)
{
    return candidate && strlen(candidate) == n && strncmp(candidate, name, n) == 0;
}

bool gi_command_has_option(const struct gi_command *command, const char *name, size_t n)
{
    for (int s = 0; s < GI_OPTION_SETS_MAX && command->sets[s].rows; s++)
        for (const struct gi_option *row = command->sets[s].rows; row->name; row++)
            if (is_name(row->name, name, n) || is_name(row->also, name, n))
                return true;
    return false;
}

const char *gi_option_advice(const struct gi_command *command, const char *name)
{
    for (const struct gi_advice *a = gi_option_advice_rows; a->word; a++)
        if (strcmp(a->word, name) == 0 && (!a->place || strcmp(a->place, command->name) == 0))
            return a->sentence;
    return NULL;
}

const char *gi_value_advice(const struct gi_command *command, const char *option, const char *text)
{
    double number;
    const char *end;
    if (!gi_number_read(&number, text, &end))
        return NULL;
    for (const struct value_advice *a = value_advice; a->command; a++)
        if (strcmp(a->command, command->name) == 0 && strcmp(a->option, option) == 0 &&
            (a->percent ? *end == '%' : !*end))
            return a->advice;
    return NULL;
}

const char *gi_option_nearest(const struct gi_command *command, const char *name)
{
    for (const struct gi_synonym *s = options; s->word; s++)
        if (strcmp(s->word, name) == 0 &&
            gi_command_has_option(command, s->means, strcspn(s->means, " ")))
            return s->means;
    const char *nearest = NULL;
    int near = 99;
    for (int s = 0; s < GI_OPTION_SETS_MAX && command->sets[s].rows; s++)
        for (const struct gi_option *row = command->sets[s].rows; row->name; row++) {
            int bad = badness(row->name, name), other = row->also ? badness(row->also, name) : 99;
            if (bad < near || other < near) {
                near = least(bad, other);
                nearest = bad <= other ? row->name : row->also;
            }
        }
    return nearest;
}
