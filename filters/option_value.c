/* Option values: comparison, and printing as text.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "filters/option.h"
#include "filters/tone/auto_threshold.h"

/* Compares bits, so that unset (NAN) values are equal. */
static bool same_bits(const void *a, const void *b, size_t nbytes)
{
    return memcmp(a, b, nbytes) == 0;
}

static bool same_length(const struct gi_length *a, const struct gi_length *b)
{
    return a->percent == b->percent && same_bits(&a->value, &b->value, sizeof a->value);
}

static bool same_extent(const struct gi_extent *a, const struct gi_extent *b)
{
    return same_length(&a->width, &b->width) && same_length(&a->height, &b->height) &&
           a->at_least == b->at_least;
}

static bool same_rect(const struct gi_rect *a, const struct gi_rect *b)
{
    return same_extent(&a->extent, &b->extent) && a->placed == b->placed &&
           same_length(&a->x, &b->x) && same_length(&a->y, &b->y);
}

static bool same_reals(const struct gi_reals *a, const struct gi_reals *b)
{
    return a->n == b->n && same_bits(a->v, b->v, (size_t)a->n * sizeof *a->v);
}

static bool same_color(const struct gi_color *a, const struct gi_color *b)
{
    return a->named == b->named && a->n == b->n &&
           same_bits(a->v, b->v, (size_t)a->n * sizeof *a->v);
}

static bool same_level(const struct gi_level *a, const struct gi_level *b)
{
    return a->kind == b->kind && a->method == b->method &&
           same_bits(&a->value, &b->value, sizeof a->value);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool gi_option_same(const struct gi_option *row, const void *a_params, const void *b_params)
{
    const void *a = (const char *)a_params + row->offset, *b = (const char *)b_params + row->offset;
    switch (row->type) {
    case GI_OPT_FLAG:
        return *(const bool *)a == *(const bool *)b;
    case GI_OPT_INT:
    case GI_OPT_ODD:
    case GI_OPT_CHOICE:
        return *(const int *)a == *(const int *)b;
    case GI_OPT_REAL:
        return same_bits(a, b, sizeof(double));
    case GI_OPT_REALS:
        return same_reals(a, b);
    case GI_OPT_LEVEL:
        return same_level(a, b);
    case GI_OPT_SIZE:
        return *(const uint64_t *)a == *(const uint64_t *)b;
    case GI_OPT_EXTENT:
        return same_extent(a, b);
    case GI_OPT_RECT:
        return same_rect(a, b);
    case GI_OPT_COLOR:
        return same_color(a, b);
    case GI_OPT_TEXT:
    case GI_OPT_CONTENT:
    case GI_OPT_PATH:
    case GI_OPT_IMAGE:
        return same_text(*(const char *const *)a, *(const char *const *)b);
    }
    return false;
}

static void print_length(FILE *out, const char *format, const struct gi_length *length)
{
    fprintf(out, format, length->value);
    if (length->percent)
        putc('%', out);
}

static void print_extent(FILE *out, const struct gi_extent *extent)
{
    if (!gi_length_is_open(&extent->width))
        print_length(out, "%.17g", &extent->width);
    putc('x', out);
    if (!gi_length_is_open(&extent->height))
        print_length(out, "%.17g", &extent->height);
    if (extent->at_least)
        putc('^', out);
}

static void print_rect(FILE *out, const struct gi_rect *rect)
{
    print_extent(out, &rect->extent);
    if (rect->placed) {
        print_length(out, "%+.17g", &rect->x);
        print_length(out, "%+.17g", &rect->y);
    }
}

static void print_numbers(FILE *out, const double *v, int n)
{
    for (int i = 0; i < n; i++)
        fprintf(out, "%s%.17g", i ? "," : "", v[i]);
}

static void print_color(FILE *out, const struct gi_color *color)
{
    if (!color->named) {
        print_numbers(out, color->v, color->n);
        return;
    }
    putc('#', out);
    for (int i = 0; i < color->n; i++)
        fprintf(out, "%02x", (unsigned)(255 * color->v[i] + 0.5));
}

static void print_level(FILE *out, const struct gi_level *level)
{
    if (level->kind == GI_LEVEL_AUTO)
        fputs(gi_threshold_methods[level->method].name, out);
    else
        fprintf(out, "%.17g%s", level->value, level->kind == GI_LEVEL_PERCENT ? "%" : "");
}

void gi_option_print(FILE *out, const struct gi_option *row, const void *params)
{
    const void *value = (const char *)params + row->offset;
    switch (row->type) {
    case GI_OPT_FLAG:
        break;
    case GI_OPT_INT:
    case GI_OPT_ODD:
        if (row->zero && *(const int *)value == 0)
            fputs(row->zero, out);
        else
            fprintf(out, "%d", *(const int *)value);
        break;
    case GI_OPT_REAL:
        fprintf(out, "%.17g", *(const double *)value);
        break;
    case GI_OPT_REALS:
        print_numbers(out, ((const struct gi_reals *)value)->v,
                      ((const struct gi_reals *)value)->n);
        break;
    case GI_OPT_CHOICE:
        fputs(row->choices[*(const int *)value].name, out);
        break;
    case GI_OPT_LEVEL:
        print_level(out, value);
        break;
    case GI_OPT_SIZE:
        fprintf(out, "%" PRIu64, *(const uint64_t *)value);
        break;
    case GI_OPT_EXTENT:
        print_extent(out, value);
        break;
    case GI_OPT_RECT:
        print_rect(out, value);
        break;
    case GI_OPT_COLOR:
        print_color(out, value);
        break;
    case GI_OPT_TEXT:
    case GI_OPT_CONTENT:
    case GI_OPT_PATH:
    case GI_OPT_IMAGE:
        fputs(*(const char *const *)value, out);
        break;
    }
}
