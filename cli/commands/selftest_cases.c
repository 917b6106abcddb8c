/* Makes parameters and images for selftest from the option rows, so that a new filter needs no line
 * here.
 * SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/commands/selftest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/small.h"

/* A value for one option. A NULL text ends the list of values. */
struct trial {
    const struct gi_option *row;
    char text[64];
    bool heavy;
};

enum { TRIALS_MAX = 64 };

struct trials {
    struct trial at[TRIALS_MAX];
    int n;
};

static void add(struct trials *trials, const struct gi_option *row, const char *text, bool heavy)
{
    if (trials->n == TRIALS_MAX)
        return;
    struct trial *trial = &trials->at[trials->n++];
    trial->row = row;
    trial->heavy = heavy;
    snprintf(trial->text, sizeof trial->text, "%s", text);
}

static bool is_border(const struct gi_option *row)
{
    return row->type == GI_OPT_CHOICE && row->choices == gi_border_choices;
}

/* Adds both ends of the range and a value between them. */
static void add_range(struct trials *trials, const struct gi_option *row)
{
    char text[64];
    if (row->min == 0 && row->max == 0)
        return;
    snprintf(text, sizeof text, "%.17g", row->min);
    add(trials, row, text, true);
    snprintf(text, sizeof text, "%.17g", row->max);
    add(trials, row, text, true);
    double middle = row->min > 0 ? sqrt(row->min * row->max) : 0.3 * row->max + 0.7 * row->min;
    if (row->type != GI_OPT_REAL)
        middle = 2 * floor(middle / 2) + 1;
    snprintf(text, sizeof text, "%.17g", middle);
    add(trials, row, text, false);
}

/* Adds the values to try for a row, besides its default. Border modes are tried elsewhere. */
static void add_row(struct trials *trials, const struct gi_option *row)
{
    switch (row->type) {
    case GI_OPT_FLAG:
        add(trials, row, "", false);
        break;
    case GI_OPT_INT:
    case GI_OPT_ODD:
    case GI_OPT_REAL:
        add_range(trials, row);
        break;
    case GI_OPT_CHOICE:
        for (const struct gi_choice *c = row->choices; c->name && !is_border(row); c++)
            if (!c->alias_of)
                add(trials, row, c->name, false);
        break;
    case GI_OPT_LEVEL:
        if (!row->amount)
            add(trials, row, "otsu", false);
        add(trials, row, "37%", false);
        add(trials, row, "0", false);
        break;
    case GI_OPT_EXTENT:
    case GI_OPT_RECT: /* small enough for images of any size */
        add(trials, row, "30%", false);
        add(trials, row, "x70%", false);
        add(trials, row, "100%x10%", false);
        if (row->at_least)
            add(trials, row, "40%x20%^", false);
        break;
    case GI_OPT_COLOR:
        if (strcmp(row->name, "border-value") != 0)
            add(trials, row, "37", false);
        break;
    case GI_OPT_IMAGE: /* the images are generated */
        add(trials, row, "image.png", false);
        break;
    default:
        break;
    }
}

struct walk {
    const struct gi_filter *filter;
    const struct gi_option *border, *border_value; /* NULL: the filter has no border option */
    bool (*fn)(void *arg, const struct gi_variant *variant);
    void *arg;
    struct gi_variant variant;
};

static bool set(struct walk *walk, const struct gi_option *row, const char *text)
{
    char *to = walk->variant.text;
    size_t used = strlen(to), room = sizeof walk->variant.text - used;
    bool flag = row->type == GI_OPT_FLAG;
    snprintf(to + used, room, "%s--%s%s%s", used ? " " : "", row->name, flag ? "" : " ", text);
    return gi_option_read(walk->variant.params, row, flag ? NULL : text, NULL) == GI_OK;
}

/* Sets the options. Returns whether they are compatible. */
static bool set_all(struct walk *walk, const struct trial *trial, const struct gi_choice *border)
{
    const struct gi_filter *filter = walk->filter;
    bool fits = !trial || set(walk, trial->row, trial->text);
    if (border && walk->border_value && strcmp(border->name, "border") == 0)
        fits = fits && set(walk, walk->border_value, "37");
    if (border)
        fits = fits && set(walk, walk->border, border->name);
    if (fits && filter->check)
        fits = filter->check(walk->variant.params, NULL) == GI_OK;
    return fits;
}

/* Tries one value with one border mode. If `trial` is NULL, the values are those of the example. If
 * the border mode is NULL, none is set. Skips options that are incompatible. */
static bool walk_one(struct walk *walk, const struct trial *trial, const struct gi_choice *border)
{
    const struct gi_filter *filter = walk->filter;
    walk->variant.text[0] = '\0';
    walk->variant.heavy = trial && trial->heavy;
    gi_options_example(walk->variant.params, filter->options);
    bool fits = set_all(walk, trial, border);
    bool operand = trial && (trial->row->type == GI_OPT_IMAGE || trial->row->type == GI_OPT_COLOR);
    if (!fits && operand) { /* instead of the example's value */
        walk->variant.text[0] = '\0';
        gi_options_default(walk->variant.params, filter->options);
        fits = set_all(walk, trial, border);
    }
    if (filter->analysis.ask_all)
        filter->analysis.ask_all(walk->variant.params);
    return !fits || walk->fn(walk->arg, &walk->variant);
}

static bool walk_borders(struct walk *walk, const struct trial *trial)
{
    if (!walk->border)
        return walk_one(walk, trial, NULL);
    for (const struct gi_choice *c = gi_border_choices; c->name; c++)
        if (!c->alias_of && !walk_one(walk, trial, c))
            return false;
    return true;
}

void gi_variants_walk(const struct gi_filter *filter,
                      bool (*fn)(void *arg, const struct gi_variant *variant), void *arg)
{
    struct walk walk = {.filter = filter, .fn = fn, .arg = arg};
    struct trials *trials = gi_small_calloc(1, sizeof *trials);
    walk.variant.params = gi_small_calloc(1, filter->params_nbytes);
    for (const struct gi_option *row = filter->options; row->name; row++) {
        add_row(trials, row);
        if (is_border(row))
            walk.border = row;
        else if (strcmp(row->name, "border-value") == 0)
            walk.border_value = row;
    }
    bool on = walk_borders(&walk, NULL);
    for (int i = 0; on && i < trials->n; i++)
        on = walk_borders(&walk, &trials->at[i]);
    free(walk.variant.params);
    free(trials);
}

/* S. Vigna's splitmix64 (public domain), which makes a good sequence from every seed. */
uint64_t gi_selftest_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void put_sample(void *row, size_t i, enum gi_type type, uint64_t random)
{
    static const float odd_floats[] = {0, 1, -0.25f, 1.75f, 1e-6f, 1000, 0.5f, -1e-3f};
    bool odd = (random >> 32 & 15) == 0;
    if (type == GI_U8)
        ((uint8_t *)row)[i] = odd ? (random & 1 ? 255 : 0) : (uint8_t)random;
    else if (type == GI_U16)
        ((uint16_t *)row)[i] = odd ? (random & 1 ? 65535 : 0) : (uint16_t)random;
    else
        ((float *)row)[i] = odd ? odd_floats[random & 7] : (float)(random & 0xffffff) / 16777215.0f;
}

void gi_selftest_fill(struct gi_image *image, uint64_t seed)
{
    for (int y = 0; y < image->height; y++) {
        void *row = gi_row(image, y);
        uint64_t random = 0;
        int run = 0; /* remaining samples of a constant run */
        for (size_t i = 0; i < gi_row_samples(image); i++) {
            if (run == 0) {
                random = gi_selftest_random(&seed);
                run = (random >> 40 & 31) == 0 ? (int)(random >> 48 & 31) : 1;
                run += run == 0;
            }
            run--;
            put_sample(row, i, image->type, random);
        }
    }
}

bool gi_selftest_differ(char what[160], const struct gi_image *want, const struct gi_image *got)
{
    if (want->width != got->width || want->height != got->height ||
        want->channels != got->channels || want->type != got->type) {
        snprintf(what, 160, "%d x %d x %d, %s, want %d x %d x %d, %s", got->width, got->height,
                 got->channels, gi_type_word(got->type), want->width, want->height, want->channels,
                 gi_type_word(want->type));
        return true;
    }
    for (int y = 0; y < want->height; y++) {
        const char *a = gi_row(want, y), *b = gi_row(got, y);
        if (memcmp(a, b, gi_row_nbytes(want)) == 0)
            continue;
        size_t size = gi_type_nbytes(want->type), i = 0;
        while (memcmp(a + i * size, b + i * size, size) == 0)
            i++;
        snprintf(what, 160, "pixel (%zu, %d) channel %zu is %.9g, want %.9g",
                 i / (size_t)want->channels, y, i % (size_t)want->channels,
                 gi_sample(gi_row(got, y), i, got->type),
                 gi_sample(gi_row(want, y), i, want->type));
        return true;
    }
    return false;
}
