/* Every instruction level gives the bytes of the scalar level and touches only samples. All
 * operations of the filter table run with every type, channel count, border mode and size, and with
 * options at their defaults and limits.
 * Sources: filters kernels/cpu
 * SPDX-License-Identifier: MIT */
#include "filter_cases.h"
#include "kernels/kernels.h"

#include <time.h>

/* Limits for options with extreme values, which may be slow: the maximum number of pixels per
 * image, and the maximum of work for k border rows under k taps. */
enum {
    HEAVY_PIXELS = 31 * 33,
    HEAVY_WORK = 5000000,
    HEAVY_OTHER = 4000000,
    SLOW_OTHER = 200000,
    VARIANTS_MAX = 64
};

/* One of EVERY cases runs, because a case takes ten times as long under a sanitizer. */
#ifdef __SANITIZE_ADDRESS__
enum { EVERY = 7 };
#else
enum { EVERY = 1 };
#endif

struct backend {
    const char *level;
    int threads;
    struct gi_queue *queue;
};

static struct backend backends[] = {
    {"scalar", 2, NULL}, {"avx2", 1, NULL}, {"avx512", 3, NULL}, {"neon", 3, NULL}};
enum { BACKENDS = 4 };

/* One option with the value that it gets. If `row` is NULL, all options are as in the example. */
struct variant {
    const struct gi_option *row;
    char text[64];
};

static int add(struct variant *variants, int n, const struct gi_option *row, const char *text)
{
    assert_true(n < VARIANTS_MAX);
    variants[n].row = row;
    snprintf(variants[n].text, sizeof variants[n].text, "%s", text);
    return n + 1;
}

static int make_variants(struct variant *variants, const struct gi_filter *filter)
{
    char end[32];
    int n = add(variants, 0, NULL, "");
    for (const struct gi_option *row = filter->options; row->name; row++) {
        if (strcmp(row->name, "border") == 0)
            continue; /* border modes have a loop of their own */
        if (row->type == GI_OPT_FLAG)
            n = add(variants, n, row, "");
        if (row->type == GI_OPT_IMAGE)
            n = add(variants, n, row, "image.png");
        if (row->type == GI_OPT_COLOUR && strcmp(row->name, "border-value") != 0)
            n = add(variants, n, row, "37");
        if (row->type == GI_OPT_LEVEL) {
            n = add(variants, n, row, "0");
            n = add(variants, n, row, "50%");
        }
        if (row->type == GI_OPT_EXTENT || row->type == GI_OPT_RECT) {
            n = add(variants, n, row, "30%");
            n = add(variants, n, row, "x70%");
        }
        if (row->type == GI_OPT_CHOICE)
            for (const struct gi_choice *c = row->choices; c->name; c++)
                n = c->alias_of ? n : add(variants, n, row, c->name);
        if (row->type == GI_OPT_REALS && row->least == 2) {
            n = add(variants, n, row, "12.5,60");
        } else if (row->min != 0 || row->max != 0) {
            snprintf(end, sizeof end, "%.17g", row->min);
            n = add(variants, n, row, end);
            snprintf(end, sizeof end, "%.17g", row->max);
            n = add(variants, n, row, end);
        }
    }
    return n;
}

/* Returns the example's parameters changed by a variant. Returns NULL if the check reports that the
 * options are incompatible. */
static void *make_params(const struct gi_filter *filter, const struct variant *variant,
                         enum gi_border border)
{
    void *params = calloc(1, filter->params_nbytes);
    enum gi_option_type type = variant->row ? variant->row->type : GI_OPT_FLAG;
    int instead = type == GI_OPT_IMAGE || type == GI_OPT_COLOUR; /* replaces another operand */
    for (int beside = 1; beside >= !instead; beside--) {
        (beside ? gi_options_example : gi_options_default)(params, filter->options);
        if (gi_option_find(filter->options, "border")) {
            case_set(filter, params, "border", gi_border_choices[border].name);
            case_set(filter, params, "border-value", "77");
        }
        if (variant->row)
            case_set(filter, params, variant->row->name, variant->text);
        if (!filter->check || filter->check(params, NULL) == GI_OK)
            return params;
    }
    free(params);
    return NULL;
}

/* Runs a plan without the pipeline, into an image that is made here. The padding and the page ends
 * of this image are guarded. */
static void run_plan(struct gi_queue *queue, struct guard *dst, const struct gi_image *srcs,
                     const struct gi_filter *filter, const void *params)
{
    struct gi_err err = {0};
    struct gi_plan plan = case_plan(filter, params, srcs), settled;
    void *state = plan.passes ? calloc(1, plan.state_nbytes) : NULL;
    for (int pass = 0; pass < plan.passes; pass++)
        if (filter->measure(&plan, queue, state, &(struct gi_look){.pass = pass, .srcs = srcs},
                            &err))
            fail_msg("%s", err.text);
    if (plan.late) {
        if (gi_plan_settle(&settled, &plan, state, &err))
            fail_msg("%s: %s", filter->name, err.text);
        gi_plan_free(&plan);
        plan = settled;
    }
    struct gi_image shape = plan.result;
    guard_alloc(dst, shape.width, shape.height, shape.channels, shape.type,
                3 * gi_type_nbytes(shape.type));
    struct gi_work work = {.dst = &dst->image, .srcs = srcs, .state = state};
    if (filter->run(&plan, queue, &work, &err))
        fail_msg("%s: %s", filter->name, err.text);
    free(state);
    gi_plan_free(&plan);
}

/* Runs the filter by the pipeline. */
static void run_first(struct gi_image *want, const struct gi_image *srcs,
                      const struct gi_filter *filter, const void *params, const char *where)
{
    struct gi_step step = {.filter = filter,
                           .params = params,
                           .others = srcs + 1,
                           .nothers = gi_filter_others(filter, params)};
    struct gi_side side = {.others = srcs + 1};
    struct gi_pipeline *pipeline;
    struct gi_err err = {0};
    if (gi_pipeline_new(&pipeline, &step, 1, srcs, NULL, &err) ||
        gi_pipeline_run(pipeline, backends[0].queue, want, srcs, &side, NULL, &err))
        fail_msg("%s: %s", where, err.text);
    gi_pipeline_free(&pipeline);
}

static void check_case(const struct gi_filter *filter, const struct variant *variant,
                       const void *params, const struct guard *guards, const char *where)
{
    int n = 1 + gi_filter_others(filter, params);
    struct gi_image in[GI_SOURCES_MAX], want;
    for (int i = 0; i < n; i++)
        in[i] = guards[i].image;
    run_first(&want, in, filter, params, where);
    for (int i = 0; i < BACKENDS; i++) {
        if (!backends[i].queue)
            continue;
        struct guard dst;
        run_plan(backends[i].queue, &dst, in, filter, params);
        if (!case_is_equal(&want, &dst.image))
            fail_msg("%s --%s %s: %s on %d threads differs", where,
                     variant->row ? variant->row->name : "", variant->text, backends[i].level,
                     backends[i].threads);
        assert_true(guard_is_whole(&dst));
        guard_free(&dst);
    }
    for (int i = 0; i < n; i++)
        assert_true(guard_is_whole(&guards[i]));
    gi_image_free(&want);
}

/* Returns whether the filter accepts the sample type. Some filters refuse types when they plan. */
static bool takes(const struct gi_filter *filter, const void *params, const struct gi_image *shape)
{
    struct gi_plan plan;
    struct gi_err err = {0};
    struct gi_image shapes[GI_SOURCES_MAX] = {*shape, *shape, *shape, *shape};
    enum gi_status status =
        gi_plan_make(&plan, filter, params, shapes, 1 + gi_filter_others(filter, params), &err);
    if (!status)
        gi_plan_free(&plan);
    return status != GI_E_UNSUPPORTED;
}

/* Returns how many cases there are for each case that is to run: 1, or 5 if the work is slow.
 * Returns 0 if the work is so heavy that no case is to run. */
static int one_of(const struct gi_filter *filter, const struct variant *variant, const void *params,
                  const struct gi_image *shape)
{
    struct gi_image shapes[GI_SOURCES_MAX] = {*shape, *shape, *shape, *shape};
    struct gi_plan plan = case_plan(filter, params, shapes);
    double taps = 2.0 * plan.halo + 1, pixels = (double)shape->width * shape->height;
    double other = plan.cost.other * pixels * shape->channels;
    bool colours = strcmp(filter->name, "quantize") == 0; /* builds a table of all colours */
    gi_plan_free(&plan);
    if (other > HEAVY_OTHER ||
        (variant->row &&
         (pixels > HEAVY_PIXELS || taps * taps * shape->width * shape->channels > HEAVY_WORK)))
        return 0;
    return other > SLOW_OTHER || colours ? 5 : 1;
}

/* Runs images of all types, channel counts and sizes with one border mode and one set of
 * options. */
static int walk_images(const struct gi_filter *filter, const struct variant *variant,
                       enum gi_border border, uint64_t *seed)
{
    static int met;
    int cases = 0;
    void *params = make_params(filter, variant, border);
    for (int i = 0; params && i < 3 * GI_MAX_CHANNELS * CASE_SIZES; i++) {
        enum gi_type type = (enum gi_type)(i % 3);
        int channels = i / 3 % GI_MAX_CHANNELS + 1;
        const int *size = case_sizes[i / (3 * GI_MAX_CHANNELS)];
        struct gi_image shape = {
            .width = size[0], .height = size[1], .channels = channels, .type = type};
        int every = takes(filter, params, &shape) ? one_of(filter, variant, params, &shape) : 0;
        if (every == 0 || met++ % (every * EVERY) != 0)
            continue;
        char where[128];
        snprintf(where, sizeof where, "%s %dx%d, %d channels, type %d, border %d", filter->name,
                 size[0], size[1], channels, (int)type, (int)border);
        struct guard srcs[GI_SOURCES_MAX];
        int n = 1 + gi_filter_others(filter, params);
        for (int j = 0; j < n; j++) {
            guard_alloc(&srcs[j], size[0], size[1], channels, type, gi_type_nbytes(type) * 5);
            case_fill(&srcs[j].image, seed);
        }
        check_case(filter, variant, params, srcs, where);
        for (int j = 0; j < n; j++)
            guard_free(&srcs[j]);
        cases++;
    }
    free(params);
    return cases;
}

TEST(test_walk)
{
    uint64_t seed = CASE_SEED;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("seed %d\n", CASE_SEED);
    for (int i = 0; gi_filters[i]; i++) {
        if (!gi_filters[i]->run)
            continue;
        struct variant variants[VARIANTS_MAX];
        int n = make_variants(variants, gi_filters[i]), cases = 0;
        int borders = gi_option_find(gi_filters[i]->options, "border") ? 5 : 1;
        clock_t start = clock();
        for (int v = 0; v < n; v++)
            for (int border = 0; border < borders; border++)
                cases += walk_images(gi_filters[i], &variants[v], (enum gi_border)border, &seed);
        assert_true(cases > 0);
        printf("%-10s %5d cases, %.1f s\n", gi_filters[i]->name, cases,
               (double)(clock() - start) / CLOCKS_PER_SEC);
    }
}

/* If no plan can be made, a caller that passes no gi_err still gets the status. */
TEST(test_refused_without_err)
{
    const struct gi_filter *stats = gi_filter_find("stats");
    const char *const words[] = {"labels=labels.npy", NULL};
    void *params = case_params(stats, words);
    struct gi_image shapes[2] = {{.width = 9, .height = 4, .channels = 1, .type = GI_U8},
                                 {.width = 4, .height = 9, .channels = 1, .type = GI_U8}};
    struct gi_err err = {0};
    struct gi_plan plan;
    assert_int_equal(gi_plan_make(&plan, stats, params, shapes, 2, &err), GI_E_UNSUPPORTED);
    assert_int_equal(gi_plan_make(&plan, stats, params, shapes, 2, NULL), GI_E_UNSUPPORTED);
    free(params);
}

static int open_backends(void **unused)
{
    for (int i = 0; i < BACKENDS; i++) {
        const struct gi_kernels *k = gi_kernels_cpu_level(backends[i].level);
        if (k)
            backends[i].queue = case_open(k, backends[i].threads);
        else
            printf("skipped: no %s on this machine\n", backends[i].level);
    }
    return 0;
}

static int close_backends(void **unused)
{
    for (int i = 0; i < BACKENDS; i++)
        if (backends[i].queue)
            gi_queue_close_alone(&backends[i].queue);
    return 0;
}

TEST_FRAME(.first = open_backends, .last = close_backends)
