/* Reads option values from text, strictly. If an option row does not allow a value, the message
 * contains the row's description of allowed values.
 * SPDX-License-Identifier: MIT */
#include "filters/option.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/tone/auto_threshold.h"

bool gi_number_read(double *value, const char *text, const char **end)
{
    /* strtod() also reads blanks, hexadecimal numbers, "inf" and "nan". The text is a decimal
     * number if a digit follows its signs and points, and if strtod() reads only the characters
     * below. */
    if (text[strspn(text, "+-.")] < '0' || text[strspn(text, "+-.")] > '9')
        return false;
    size_t n = strspn(text, "+-.0123456789eE");
    char *stop;
    *value = strtod(text, &stop);
    *end = stop;
    return stop > text && stop <= text + n && isfinite(*value);
}

static bool has_range(const struct gi_option *row)
{
    return row->min != 0 || row->max != 0;
}

static bool in_range(const struct gi_option *row, double v)
{
    return !has_range(row) || (v >= row->min && v <= row->max);
}

static bool read_real(double *value, const struct gi_option *row, const char *text)
{
    const char *end;
    if (!gi_number_read(value, text, &end))
        return false;
    end += *end == '%' && row->unit && *row->unit == '%';
    return *end == '\0' && in_range(row, *value);
}

static bool read_int(int *value, const struct gi_option *row, const char *text)
{
    double v;
    if (row->zero && strcmp(text, row->zero) == 0) {
        *value = 0;
        return true;
    }
    if (text[strspn(text, "+-0123456789")] != '\0' || !read_real(&v, row, text) || v < INT_MIN ||
        v > INT_MAX)
        return false;
    *value = (int)v;
    return row->type != GI_OPT_ODD || *value % 2 != 0;
}

static int reals_most(const struct gi_option *row)
{
    return row->most ? row->most : GI_REALS_MAX;
}

int gi_numbers_read(double *v, int most, const char *text)
{
    for (int n = 0; n < most;) {
        if (!gi_number_read(&v[n++], text, &text))
            return 0;
        if (*text == '\0')
            return n;
        if (*text++ != ',')
            return 0;
    }
    return 0;
}

static bool read_reals(struct gi_reals *reals, const struct gi_option *row, const char *text)
{
    reals->n = gi_numbers_read(reals->v, reals_most(row), text);
    for (int i = 0; i < reals->n; i++)
        if (!in_range(row, reals->v[i]))
            return false;
    return reals->n > 0 && reals->n >= row->least;
}

static bool read_choice(int *value, const struct gi_option *row, const char *text)
{
    for (const struct gi_choice *c = row->choices; c->name; c++)
        if (strcmp(c->name, text) == 0) {
            if (c->alias_of)
                return read_choice(value, row, c->alias_of);
            *value = (int)(c - row->choices);
            return true;
        }
    return false;
}

static bool read_level(struct gi_level *level, const struct gi_option *row, const char *text)
{
    const char *end;
    double v;
    for (int i = 0; i < GI_THRESHOLD_METHODS && !row->amount; i++)
        if (strcmp(text, gi_threshold_methods[i].name) == 0) {
            *level = (struct gi_level){.kind = GI_LEVEL_AUTO, .method = i};
            return true;
        }
    if (!gi_number_read(&v, text, &end))
        return false;
    if (strcmp(end, "%") == 0) {
        *level = (struct gi_level){.kind = GI_LEVEL_PERCENT, .value = v};
        return v >= 0 && v <= 100;
    }
    *level = (struct gi_level){.kind = GI_LEVEL_VALUE, .value = v};
    return *end == '\0' && in_range(row, v);
}

/* Returns whether the values of a SIZE are numbers of bytes. */
static bool is_of_bytes(const struct gi_option *row)
{
    return row->unit && strcmp(row->unit, "bytes") == 0;
}

static bool read_size(uint64_t *value, const struct gi_option *row, const char *text)
{
    uint64_t v = 0;
    if (*text < '0' || *text > '9')
        return false;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*text - '0'), &v))
            return false;
    if (*text) {
        static const char prefixes[] = "KMGT";
        const char *prefix = strchr(prefixes, *text == 'k' ? 'K' : *text); /* SI has "k" */
        text += prefix != NULL;
        bool binary = prefix && *text == 'i';
        text += binary;
        text += *text == 'B' && is_of_bytes(row);
        if (*text)
            return false;
        for (long times = prefix ? prefix - prefixes + 1 : 0; times > 0; times--)
            if (__builtin_mul_overflow(v, binary ? 1024 : 1000, &v))
                return false;
    }
    *value = v;
    return in_range(row, (double)v);
}

/* Reads `text` into `value`. If the function returns false, the content of `value` is undefined. */
static bool read_value(void *value, const struct gi_option *row, const char *text)
{
    switch (row->type) {
    case GI_OPT_FLAG:
        *(bool *)value = true;
        return true;
    case GI_OPT_INT:
    case GI_OPT_ODD:
        return read_int(value, row, text);
    case GI_OPT_REAL:
        return read_real(value, row, text);
    case GI_OPT_REALS:
        return read_reals(value, row, text);
    case GI_OPT_CHOICE:
        return read_choice(value, row, text);
    case GI_OPT_LEVEL:
        return read_level(value, row, text);
    case GI_OPT_SIZE:
        return read_size(value, row, text);
    case GI_OPT_EXTENT:
        return gi_extent_read(value, text) &&
               (row->at_least || !((const struct gi_extent *)value)->at_least);
    case GI_OPT_RECT:
        return gi_rect_read(value, text);
    case GI_OPT_COLOR:
        return gi_color_read(value, text);
    case GI_OPT_PATH:
    case GI_OPT_IMAGE:
        if (!*text || strlen(text) >= PATH_MAX)
            return false;
        *(const char **)value = text;
        return true;
    case GI_OPT_TEXT:
    case GI_OPT_CONTENT:
        *(const char **)value = text;
        return true;
    }
    return false;
}

/* Makes ", for example 0.4" of 40% if a number with that value is possible, otherwise "". */
static const char *number_of_percent(const struct gi_option *row, const char *text, char *buffer,
                                     size_t nbytes)
{
    const char *end;
    double v;
    buffer[0] = '\0';
    if (text && row->type == GI_OPT_REAL && has_range(row) && gi_number_read(&v, text, &end) &&
        strcmp(end, "%") == 0 && in_range(row, v / 100))
        snprintf(buffer, nbytes, ", for example %.10g", v / 100);
    return buffer;
}

enum gi_status gi_option_read(void *params, const struct gi_option *row, const char *text,
                              struct gi_err *err)
{
    char want[512], example[64];
    if (row->type != GI_OPT_FLAG && !text)
        return gi_fail(err, GI_E_USAGE, "--%s: a value is missing: want %s", row->name,
                       gi_option_want(row, want, sizeof want));
    if ((row->type == GI_OPT_FLAG && text) || !read_value((char *)params + row->offset, row, text))
        return gi_fail(err, GI_E_USAGE, "--%s %s: want %s%s", row->name, text,
                       gi_option_want(row, want, sizeof want),
                       number_of_percent(row, text, example, sizeof example));
    return GI_OK;
}

static void unset(void *value, enum gi_option_type type)
{
    switch (type) {
    case GI_OPT_FLAG:
        *(bool *)value = false;
        break;
    case GI_OPT_INT:
    case GI_OPT_ODD:
    case GI_OPT_CHOICE:
        *(int *)value = 0;
        break;
    case GI_OPT_REAL:
        *(double *)value = NAN;
        break;
    case GI_OPT_REALS:
        *(struct gi_reals *)value = (struct gi_reals){0};
        break;
    case GI_OPT_LEVEL:
        *(struct gi_level *)value = (struct gi_level){0};
        break;
    case GI_OPT_SIZE:
        *(uint64_t *)value = 0;
        break;
    case GI_OPT_EXTENT:
        *(struct gi_extent *)value = GI_EXTENT_UNSET;
        break;
    case GI_OPT_RECT:
        *(struct gi_rect *)value = (struct gi_rect){.extent = GI_EXTENT_UNSET};
        break;
    case GI_OPT_COLOR:
        *(struct gi_color *)value = (struct gi_color){0};
        break;
    case GI_OPT_TEXT:
    case GI_OPT_CONTENT:
    case GI_OPT_PATH:
    case GI_OPT_IMAGE:
        *(const char **)value = NULL;
        break;
    }
}

const struct gi_option *gi_option_find(const struct gi_option *rows, const char *name)
{
    const struct gi_option *row = rows;
    while (row->name && strcmp(row->name, name) != 0)
        row++;
    return row->name ? row : NULL;
}

enum gi_status gi_option_set(void *params, const struct gi_option *rows, const char *name,
                             const char *text, struct gi_err *err)
{
    return gi_option_read(params, gi_option_find(rows, name), text, err);
}

void gi_options_default(void *params, const struct gi_option *rows)
{
    for (const struct gi_option *row = rows; row->name; row++) {
        unset((char *)params + row->offset, row->type);
        if (row->default_text)
            gi_option_read(params, row, row->default_text, NULL);
    }
}

void gi_options_example(void *params, const struct gi_option *rows)
{
    gi_options_default(params, rows);
    for (const struct gi_option *row = rows; row->name; row++)
        if (row->example)
            gi_option_read(params, row, row->type == GI_OPT_FLAG ? NULL : row->example, NULL);
}

/* A buffer to which text is appended. Text that does not fit is cut off. */
struct line {
    char *text;
    size_t n, room;
};

static void add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line->text + line->n, line->room - line->n, format, args);
    va_end(args);
    if (n > 0)
        line->n = line->n + (size_t)n < line->room ? line->n + (size_t)n : line->room - 1;
}

static void add_choices(struct line *line, const struct gi_choice *choices)
{
    int left = 0;
    for (const struct gi_choice *c = choices; c->name; c++)
        left += !c->alias_of;
    for (const struct gi_choice *c = choices; c->name; c++)
        if (!c->alias_of)
            add(line, "%s%s", c->name, --left > 1 ? ", " : left == 1 ? " or " : "");
}

/* Appends the range of the option, such as "1 to 9 px", or `otherwise` if the option has no
 * range. */
static void add_range(struct line *line, const struct gi_option *row, const char *otherwise)
{
    if (has_range(row))
        add(line, "%.10g to %.10g", row->min, row->max);
    else
        add(line, "%s", otherwise);
    if (row->unit)
        add(line, " %s", row->unit);
}

static void add_reals(struct line *line, const struct gi_option *row)
{
    if (row->least == reals_most(row))
        add(line, "%d numbers separated by %s", row->least, row->least > 2 ? "commas" : "a comma");
    else
        add(line, "%d to %d numbers separated by commas", row->least > 1 ? row->least : 1,
            reals_most(row));
    if (has_range(row)) {
        add(line, ", each ");
        add_range(line, row, "a number");
    } else if (row->unit) {
        add(line, ", in %s", row->unit);
    }
}

const char *gi_option_want(const struct gi_option *row, char *buffer, size_t nbytes)
{
    struct line line = {buffer, 0, nbytes};
    buffer[0] = '\0';
    switch (row->type) {
    case GI_OPT_FLAG:
        add(&line, "no value");
        break;
    case GI_OPT_INT:
        if (row->zero)
            add(&line, "%s, or ", row->zero);
        add_range(&line, row, "a whole number");
        break;
    case GI_OPT_ODD:
        add(&line, "odd, ");
        add_range(&line, row, "a whole number");
        break;
    case GI_OPT_REAL:
        add_range(&line, row, "a number");
        break;
    case GI_OPT_REALS:
        add_reals(&line, row);
        break;
    case GI_OPT_CHOICE:
        add_choices(&line, row->choices);
        break;
    case GI_OPT_LEVEL:
        add_range(&line, row, "a sample value");
        add(&line, row->amount ? " or 0%% to 100%% of full scale" : ", 0%% to 100%% of full scale");
        for (int i = 0; i < GI_THRESHOLD_METHODS && !row->amount; i++)
            add(&line, "%s%s", i + 1 < GI_THRESHOLD_METHODS ? ", " : " or ",
                gi_threshold_methods[i].name);
        break;
    case GI_OPT_SIZE:
        add_range(&line, row, "a whole number");
        add(&line, ", also with K, M, G, T or Ki, Mi, Gi, Ti%s",
            is_of_bytes(row) ? ", with B after them or without" : "");
        break;
    case GI_OPT_EXTENT:
        add(&line, "%s", row->form ? row->form : "WIDTHxHEIGHT, WIDTHx, xHEIGHT or 50%");
        break;
    case GI_OPT_RECT:
        add(&line, "WIDTHxHEIGHT, WIDTHx, xHEIGHT or 50%%, or one of these with +X+Y, as 9x8+1+2");
        break;
    case GI_OPT_COLOR:
        add(&line,
            "1 to %d sample values separated by commas, or a colour: a name such as white or "
            "transparent, #rgb, #rgba, #rrggbb or #rrggbbaa",
            GI_MAX_CHANNELS);
        break;
    case GI_OPT_TEXT:
        add(&line, "text");
        break;
    case GI_OPT_CONTENT:
        add(&line, "text or the name of a file");
        break;
    case GI_OPT_PATH:
    case GI_OPT_IMAGE:
        add(&line, "a path of 1 to %d bytes", PATH_MAX - 1);
        break;
    }
    return buffer;
}
