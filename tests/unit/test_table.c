/* The filter table's rows of all operations, with their options, ranges, help, plan and hooks, are
 * consistent before any pixel is processed.
 * Sources: filters/filter.h filters/filters.c filters
 * SPDX-License-Identifier: MIT */
#include "filter_cases.h"

#include <ctype.h>

static size_t value_nbytes(enum gi_option_type type)
{
    switch (type) {
    case GI_OPT_FLAG:
        return sizeof(bool);
    case GI_OPT_INT:
    case GI_OPT_ODD:
    case GI_OPT_CHOICE:
        return sizeof(int);
    case GI_OPT_REAL:
        return sizeof(double);
    case GI_OPT_REALS:
        return sizeof(struct gi_reals);
    case GI_OPT_LEVEL:
        return sizeof(struct gi_level);
    case GI_OPT_SIZE:
        return sizeof(uint64_t);
    case GI_OPT_EXTENT:
        return sizeof(struct gi_extent);
    case GI_OPT_RECT:
        return sizeof(struct gi_rect);
    case GI_OPT_COLOR:
        return sizeof(struct gi_color);
    default:
        return sizeof(const char *);
    }
}

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789_-"

static bool is_made_of(const char *name, const char *characters)
{
    return name[0] && name[strspn(name, characters)] == '\0';
}

static bool is_name(const char *name)
{
    return is_made_of(name, NAME_CHARACTERS);
}

static void check_choices(const char *where, const struct gi_choice *choices)
{
    for (const struct gi_choice *c = choices; c->name; c++) {
        bool known = !c->alias_of;
        for (const struct gi_choice *d = choices; d != c; d++) {
            if (strcmp(c->name, d->name) == 0)
                fail_msg("%s: %s occurs twice", where, c->name);
            known |= c->alias_of && !d->alias_of && strcmp(c->alias_of, d->name) == 0;
        }
        if (!known || !is_made_of(c->name, NAME_CHARACTERS ".")) /* versions have points */
            fail_msg("%s: %s: no such choice before it, or no name", where, c->name);
    }
}

/* The help must not repeat a number that another column of the option row states. */
static void check_help(const char *where, const struct gi_option *row)
{
    if (!row->help || strlen(row->help) < 10 || !isupper((unsigned char)row->help[0]) ||
        row->help[strlen(row->help) - 1] == '.')
        fail_msg("%s: help: want one sentence, no full stop", where);
    char ends[2][32];
    snprintf(ends[0], 32, "%.10g", row->min);
    snprintf(ends[1], 32, "%.10g", row->max);
    for (int i = 0; i < 2; i++)
        if (strlen(ends[i]) > 1 && strstr(row->help, ends[i]))
            fail_msg("%s: help repeats %s", where, ends[i]);
    if (row->default_text && row->type != GI_OPT_CHOICE && strlen(row->default_text) > 1 &&
        strstr(row->help, row->default_text))
        fail_msg("%s: help repeats the default", where);
}

static void check_option(const struct gi_filter *filter, const struct gi_option *row, void *params)
{
    char where[64], want[512];
    struct gi_err err = {0};
    snprintf(where, sizeof where, "%s --%s", filter->name, row->name);
    if (!is_name(row->name) || row->offset + value_nbytes(row->type) > filter->params_nbytes)
        fail_msg("%s: a bad name, or outside its struct", where);
    for (const struct gi_option *other = filter->options; other != row; other++)
        if (strcmp(other->name, row->name) == 0 || other->offset == row->offset ||
            (row->letter && other->letter == row->letter))
            fail_msg("%s: like --%s", where, other->name);
    if (row->default_text && gi_option_read(params, row, row->default_text, &err))
        fail_msg("%s: default: %s", where, err.text);
    const char *example = row->type == GI_OPT_FLAG ? NULL : row->example;
    if (row->example && gi_option_read(params, row, example, &err))
        fail_msg("%s: example: %s", where, err.text);
    if (row->example && row->default_text) { /* defaults alone are refused */
        gi_options_default(params, filter->options);
        if (!filter->check || !filter->check(params, &err))
            fail_msg("%s: example beside a default", where);
    }
    assert_true(row->min <= row->max);
    assert_int_equal(row->type == GI_OPT_CHOICE, row->choices != NULL);
    if (row->choices)
        check_choices(where, row->choices);
    if (row->least < 2 && (row->min != 0 || row->max != 0))
        for (int i = 0; i < 2; i++) {
            char end[32];
            snprintf(end, sizeof end, "%.17g", i ? row->max : row->min);
            if (gi_option_read(params, row, end, &err))
                fail_msg("%s: its own end of range: %s", where, err.text);
        }
    assert_true(strlen(gi_option_want(row, want, sizeof want)) > 0);
    check_help(where, row);
}

/* Makes plans for a small image of each type. Everything that a plan's counts announce must
 * exist. */
static void check_plan(const struct gi_filter *filter)
{
    void *params = case_params(filter, NULL);
    for (int type = GI_U8; type <= GI_F32; type++) {
        struct gi_image shape = {
            .width = 31, .height = 17, .channels = 3, .type = (enum gi_type)type};
        struct gi_image other = shape;
        if (strcmp(filter->name, "remap") == 0) /* a map */
            other.type = GI_F32;
        struct gi_image sources[GI_SOURCES_MAX] = {shape, other, other, other};
        struct gi_plan plan;
        int n = 1 + gi_filter_others(filter, params);
        enum gi_status status = gi_plan_make(&plan, filter, params, sources, n, NULL);
        sources[0].channels = 1;
        if (status == GI_E_UNSUPPORTED) /* the operation may want a gray image */
            status = gi_plan_make(&plan, filter, params, sources, n, NULL);
        if (type != GI_U8 && status == GI_E_UNSUPPORTED) /* the operation uses lookup tables */
            continue;
        assert_int_equal(status, GI_OK);
        assert_true(plan.cost.fmas + plan.cost.other > 0);
        assert_int_equal(plan.passes + plan.band_passes > 0, plan.state_nbytes > 0);
        assert_true(plan.passes + plan.band_passes == 0 || filter->measure);
        assert_true(plan.dependency != GI_DEPENDENCY_MAPPED || filter->sources.needs);
        /* An operation with a halo must have a border mode, unless nothing outside the image is
         * of interest, as in expand-labels. */
        if (filter->run && plan.halo > 0 && strcmp(filter->name, "expand-labels") != 0)
            assert_non_null(gi_option_find(filter->options, "border"));
        gi_plan_free(&plan);
    }
    free(params);
}

static void check_hooks(const struct gi_filter *filter)
{
    if (!filter->run) {
        assert_true(filter->analysis.run || filter->analysis.conclude);
        assert_true(filter->analysis.nbytes > 0 && filter->analysis.digest);
    }
    assert_true(filter->analysis.conclude == NULL || filter->measure != NULL);
    assert_true(filter->sources.max <= GI_SOURCES_MAX);
    assert_true(filter->sources.min <= (filter->sources.max ? filter->sources.max : 1));
}

TEST(test_rows)
{
    for (int i = 0; gi_filters[i]; i++) {
        const struct gi_filter *filter = gi_filters[i];
        assert_true(is_name(filter->name));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(filter->name, gi_filters[j]->name);
        assert_ptr_equal(gi_filter_find(filter->name), filter);
        assert_true(strlen(filter->summary) > 10 && strlen(filter->summary) < 72);
        assert_true(filter->summary[strlen(filter->summary) - 1] != '.');
        assert_true(strlen(filter->manual) > 100);
        void *params = calloc(1, filter->params_nbytes);
        for (const struct gi_option *row = filter->options; row->name; row++)
            check_option(filter, row, params);
        free(params);
        free(case_params(filter, NULL)); /* the example passes the check */
        check_hooks(filter);
        check_plan(filter);
    }
    assert_null(gi_filter_find("no-such-filter"));
}

TEST(test_border_names)
{
    static const struct {
        const char *name;
        enum gi_border border;
    } names[] = {
        {"clamp", GI_BORDER_CLAMP},
        {"edge", GI_BORDER_CLAMP},
        {"replicate", GI_BORDER_CLAMP},
        {"nearest", GI_BORDER_CLAMP},
        {"copy", GI_BORDER_CLAMP},
        {"border", GI_BORDER_VALUE},
        {"constant", GI_BORDER_VALUE},
        {"zero", GI_BORDER_VALUE},
        {"black", GI_BORDER_VALUE},
        {"wrap", GI_BORDER_WRAP},
        {"tile", GI_BORDER_WRAP},
        {"repeat", GI_BORDER_WRAP},
        {"periodic", GI_BORDER_WRAP},
        {"mirror", GI_BORDER_MIRROR},
        {"reflect", GI_BORDER_MIRROR},
        {"symmetric", GI_BORDER_MIRROR},
        {"reflect101", GI_BORDER_REFLECT101},
        {"reflect_101", GI_BORDER_REFLECT101},
        {"default", GI_BORDER_REFLECT101},
    };
    static const struct gi_option rows[] = {
        GI_BORDER_OPTIONS(struct { struct gi_border_params border; }), {0}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct gi_border_params params = {0};
        assert_int_equal(gi_option_read(&params, &rows[0], names[i].name, NULL), GI_OK);
        assert_int_equal(params.mode, (int)names[i].border);
    }
}

TEST(test_border_values)
{
    struct gi_image rgba = {.channels = 4, .type = GI_U8}, gray = {.channels = 1, .type = GI_U8};
    struct gi_border_params p = {GI_BORDER_VALUE, {.n = 1, .v = {9}}};
    struct gi_border_spec border = gi_border_spec_from(&p, &rgba);
    for (int c = 0; c < 4; c++)
        assert_true(border.value[c] == 9);
    p.value = (struct gi_color){.n = 3, .v = {1, 2, 3}};
    border = gi_border_spec_from(&p, &rgba);
    assert_true(border.value[0] == 1 && border.value[2] == 3 && border.value[3] == 255);
    p.value = (struct gi_color){.n = 4, .v = {1, 2, 3, 4}};
    assert_true(gi_border_spec_from(&p, &rgba).value[3] == 4);
    assert_true(gi_border_spec_from(&p, &gray).value[0] == 1);
    /* The values of a named colour are fractions of full scale. The luma of red is 0.2126, which is
     * 54.2 of 255. */
    p.value = (struct gi_color){.named = true, .n = 4, .v = {1, 0, 0, 0.5}};
    border = gi_border_spec_from(&p, &rgba);
    assert_true(border.value[0] == 255 && border.value[1] == 0 && border.value[3] == 128);
    assert_true(gi_border_spec_from(&p, &gray).value[0] == 54);
    struct gi_image gray_alpha = {.channels = 2, .type = GI_U16};
    border = gi_border_spec_from(&p, &gray_alpha); /* 13932.741 and 32767.5 */
    assert_true(border.value[0] == 13933 && border.value[1] == 32768);
    struct gi_image floats = {.channels = 3, .type = GI_F32};
    border = gi_border_spec_from(&p, &floats);
    assert_true(border.value[0] == 1 && border.value[1] == 0 && border.value[2] == 0);
}

/* If no plan can be made, a caller that passes no gi_err still gets the status. */
TEST(test_refused_without_err)
{
    const struct gi_filter *stats = gi_filter_find("stats");
    void *params = case_params(stats, (const char *const[]){"labels=labels.npy", NULL});
    struct gi_image shapes[2] = {{.width = 9, .height = 4, .channels = 1, .type = GI_U8},
                                 {.width = 4, .height = 9, .channels = 1, .type = GI_U8}};
    struct gi_err err = {0};
    struct gi_plan plan;
    assert_int_equal(gi_plan_make(&plan, stats, params, shapes, 2, &err), GI_E_UNSUPPORTED);
    assert_int_equal(gi_plan_make(&plan, stats, params, shapes, 2, NULL), GI_E_UNSUPPORTED);
    free(params);
}
