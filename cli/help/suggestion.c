/* Suggestions for unknown commands and options: names that begin with the word, other programs'
 * names, and names that differ by a typing error; never a name with another meaning.
 * SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/commands.h"

#include <string.h>

/* Another program's name, and its equivalent here. */
struct synonym {
    const char *word, *means;
};

static const struct synonym commands[] = {
    {"adaptive-threshold", "local-threshold"},
    {"adaptivethreshold", "local-threshold"},
    {"autocontrast", "normalize"},
    {"average", "blur"},
    {"batch", "help batch"},
    {"binarise", "threshold"},
    {"binarize", "threshold"},
    {"box", "blur"},
    {"cc", "extract"},
    {"closing", "close"},
    {"cmp", "compare"},
    {"components", "extract"},
    {"contrast-stretch", "normalize"},
    {"conv", "convolve"},
    {"createclahe", "clahe"},
    {"cumsum", "cumulative"},
    {"denoise", "nlmeans"},
    {"despeckle", "median --threshold"},
    {"diff", "compare"},
    {"dilation", "dilate"},
    {"equalise", "equalize"},
    {"equalize_adapthist", "clahe"},
    {"equalizehist", "equalize"},
    {"erosion", "erode"},
    {"gpus", "devices"},
    {"identify", "info"},
    {"kernel", "convolve"},
    {"label", "extract"},
    {"laplace", "edges --operator laplace"},
    {"laplacian", "edges --operator laplace"},
    {"majority", "mode"},
    {"man", "help --man"},
    {"max", "dilate"},
    {"maximum", "dilate"},
    {"mean", "blur"},
    {"medianblur", "median"},
    {"min", "erode"},
    {"minimum", "erode"},
    {"modal", "mode"},
    {"niblack", "local-threshold --method niblack"},
    {"normalise", "normalize"},
    {"opening", "open"},
    {"otsu", "threshold"},
    {"percentile", "rank --percent"},
    {"posterize", "quantize"},
    {"prewitt", "edges --operator prewitt"},
    {"psnr", "compare"},
    {"regions", "extract"},
    {"rolling-ball", "background"},
    {"sauvola", "local-threshold --method sauvola"},
    {"scharr", "edges --operator scharr"},
    {"sepia", "color --sepia"},
    {"smooth", "gaussian"},
    {"sobel", "edges --operator sobel"},
    {"ssim", "compare"},
    {"sum", "stats"},
    {"unsharp", "sharpen"},
    {"usm", "sharpen"},
    {0},
};

bool gi_synonym_at(const char **word, const char **means, int index)
{
    if (index < 0 || (size_t)index >= sizeof commands / sizeof *commands - 1)
        return false;
    *word = commands[index].word;
    *means = commands[index].means;
    return true;
}

/* `means` is suggested only for commands that have the option. */
static const struct synonym options[] = {
    {"background", "border-value"},
    {"buckets", "bins"},
    {"cpu", "device cpu"},
    {"cuda", "device cuda"},
    {"edge", "border"},
    {"edge-mode", "border"},
    {"fill", "border-value"},
    {"gpu", "device cuda"},
    {"height", "size (xHEIGHT)"},
    {"j", "threads"},
    {"jobs", "threads"},
    {"kernel-size", "k"},
    {"ksize", "k"},
    {"level", "threshold"},
    {"mask-size", "k"},
    {"method", "operator"},
    {"min-size", "min-area"},
    {"o", "out-dir (of one image the output is the last operand)"},
    {"outdir", "out-dir"},
    {"output", "out-dir (of one image the output is the last operand)"},
    {"output-dir", "out-dir"},
    {"padding", "border"},
    {"r", "recursive"},
    {"R", "recursive"},
    {"radius", "k (a side: 2 * radius + 1)"},
    {"silent", "quiet"},
    {"size", "k"},
    {"std", "sigma"},
    {"stddev", "sigma"},
    {"strength", "amount"},
    {"tolerance", "max-diff"},
    {"weights", "kernel"},
    {"width", "size (WIDTHx)"},
    {0},
};

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance, computed one row of the table at a time. */
int gi_word_distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    size_t na = strlen(a), nb = strlen(b);
    if (na > LONGEST || nb > LONGEST)
        return LONGEST;
    int row[LONGEST + 1];
    for (size_t j = 0; j <= nb; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(change, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[nb];
}

/* Returns how badly `candidate` explains `word`: 0 if the word is its beginning or end, else the
 * number of wrong letters, of which one in three, or two, are allowed. Large if it does not. */
static int badness(const char *candidate, const char *word)
{
    size_t n = strlen(word), length = strlen(candidate);
    if (n >= 2 && (strncmp(candidate, word, n) == 0 ||
                   (length >= 4 && strncmp(candidate, word, length) == 0)))
        return 0;
    int distance = gi_word_distance(candidate, word);
    return distance <= 2 && 3 * (size_t)distance <= n ? distance : 99;
}

/* Returns the equivalent of `word` from the table; NULL if it is not in it. */
static const char *look_up(const struct synonym *synonyms, const char *word)
{
    for (const struct synonym *s = synonyms; s->word; s++)
        if (strcmp(s->word, word) == 0)
            return s->means;
    return NULL;
}

const char *gi_command_nearest(const char *name)
{
    const char *nearest = look_up(commands, name);
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

static bool has_option(const struct gi_command *command, const char *name, size_t n)
{
    for (int s = 0; s < GI_OPTION_SETS_MAX && command->sets[s].rows; s++)
        for (const struct gi_option *row = command->sets[s].rows; row->name; row++)
            if (strlen(row->name) == n && strncmp(row->name, name, n) == 0)
                return true;
    return false;
}

const char *gi_option_nearest(const struct gi_command *command, const char *name)
{
    const char *nearest = look_up(options, name);
    if (nearest && has_option(command, nearest, strcspn(nearest, " ")))
        return nearest;
    nearest = NULL;
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
