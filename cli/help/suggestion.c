/* Suggestions for unknown commands and options: names that begin with the word, other programs'
 * names, and names that differ by a typing error, but never a name with another meaning.
 * SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/help/help.h"

#include <string.h>

/* A name that another program uses, and its equivalent here. */
struct synonym {
    const char *word, *means;
};

static const struct synonym commands[] = {
    {"adaptive", "local-threshold"},
    {"adaptive-threshold", "local-threshold"},
    {"adaptivethreshold", "local-threshold"},
    {"append", "montage"},
    {"autocontrast", "normalize"},
    {"average", "stack (of many images) or blur"},
    {"barrel", "undistort"},
    {"batch", "help batch"},
    {"binarise", "threshold"},
    {"binarize", "threshold"},
    {"border", "pad"},
    {"box", "blur"},
    {"canny", "edges"},
    {"cc", "extract"},
    {"clip", "levels"},
    {"closing", "close"},
    {"cmp", "compare"},
    {"colormap", "palette"},
    {"components", "extract"},
    {"contrast-stretch", "normalize"},
    {"conv", "convolve"},
    {"createclahe", "clahe"},
    {"cumsum", "cumulative"},
    {"denoise", "nlmeans"},
    {"despeckle", "median --threshold"},
    {"deskew", "rotate"},
    {"diff", "compare"},
    {"dilation", "dilate"},
    {"equalise", "equalize"},
    {"equalize_adapthist", "clahe"},
    {"equalizehist", "equalize"},
    {"erosion", "erode"},
    {"exif", "info"},
    {"gpus", "devices"},
    {"histeq", "equalize"},
    {"identify", "info"},
    {"join", "montage"},
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
    {"mip", "stack --method max"},
    {"modal", "mode"},
    {"mogrify", "help batch"},
    {"niblack", "local-threshold --method niblack"},
    {"normalise", "normalize"},
    {"opening", "open"},
    {"otsu", "threshold"},
    {"overlay", "composite"},
    {"percentile", "rank --percent"},
    {"pipeline", "run"},
    {"pincushion", "undistort"},
    {"posterize", "quantize"},
    {"prewitt", "edges --operator prewitt"},
    {"projection", "stack --method max"},
    {"psnr", "compare"},
    {"regions", "extract"},
    {"rescale", "resize"},
    {"rolling-ball", "background"},
    {"sauvola", "local-threshold --method sauvola"},
    {"scharr", "edges --operator scharr"},
    {"sepia", "color --sepia"},
    {"smooth", "gaussian"},
    {"sobel", "edges --operator sobel"},
    {"ssim", "compare"},
    {"strip", "convert --strip"},
    {"sum", "stats"},
    {"tile", "montage"},
    {"unsharp", "sharpen"},
    {"unsharp-mask", "sharpen"},
    {"usm", "sharpen"},
    {"watermark", "composite"},
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

/* `means` is suggested only for commands that have this option. */
static const struct synonym options[] = {
    {"background", "border-value"},
    {"buckets", "bins"},
    {"cpu", "device cpu"},
    {"cuda", "device cuda"},
    {"edge", "border"},
    {"edge-mode", "border"},
    {"fill", "border-value"},
    {"fuzz", "tolerance"},
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
    {"threshold", "tolerance"},
    {"tolerance", "max-diff"},
    {"weights", "kernel"},
    {"width", "size (WIDTHx)"},
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

/* Returns the equivalent of `word` in the table, or NULL if there is none. */
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

const char *gi_option_nearest(const struct gi_command *command, const char *name)
{
    const char *nearest = look_up(options, name);
    if (nearest && gi_command_has_option(command, nearest, strcspn(nearest, " ")))
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
