/* A case of the random walk over operations.
 * SPDX-License-Identifier: MIT */
#include "walk_case.h"

#include <unistd.h>

#include "cli/args/level_check.h"
#include "filters/arithmetic/draw.h"
#include "filters/statistics/compare.h"
#include "imgio/imgio.h"

enum { SIDE_MAX = 400, TRIES = 12 };
/* The maximum of a case's estimated seconds on one thread. A case that takes longer is replaced by
 * another random case. */
static const double SECONDS_MAX = 0.01;

/* ---- further images ---- */

/* Makes random samples for the image that the option `row` names, and writes them to `path`.
 * `shape` is the shape of the first source. */
static void draw_other(const struct gi_option *row, const char *path, const struct gi_image *shape,
                       uint64_t *seed)
{
    struct gi_image other, drawn = draw_shape(seed, 2 * shape->width + 9);
    bool map = strncmp(row->name, "map", 3) == 0;
    drawn.type = map ? GI_F32 : draw_one_of(seed, 8) ? drawn.type : shape->type;
    drawn.channels = map                    ? case_between(seed, 1, 2)
                     : row->labels          ? 1
                     : draw_one_of(seed, 4) ? drawn.channels
                                            : shape->channels;
    if (!draw_one_of(seed, 5)) {
        drawn.width = shape->width;
        drawn.height = shape->height;
    }
    struct gi_err err = {0};
    assert_int_equal(
        gi_image_alloc(&other, drawn.width, drawn.height, drawn.channels, drawn.type, NULL), GI_OK);
    draw_samples(&other, seed);
    int most = map ? shape->width + 5 : 9;
    bool plain = !map && !(row->labels && !draw_one_of(seed, 4));
    for (int y = 0; y < other.height && !plain; y++)
        for (size_t i = 0; i < gi_row_samples(&other); i++) {
            float at = (float)draw_between(seed, map ? -5 : 0, most);
            case_put(&other, y, i, map ? at : floorf(at));
        }
    if (map)
        draw_odd_floats(&other, seed);
    if (gi_save(&other, NULL, path, &(struct gi_save_options){0}, NULL, &err))
        fail_msg("%s: %s", path, err.text);
    gi_image_free(&other);
}

/* Writes points for paste as CSV. */
static void draw_points(const char *path, const struct gi_image *shape, uint64_t *seed)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs("x,y,value\n", out);
    for (int i = case_between(seed, 0, 50); i > 0; i--)
        fprintf(out, "%d,%d,%d\n", case_between(seed, -2, shape->width),
                case_between(seed, -2, shape->height), case_between(seed, 0, 255));
    fclose(out);
}

/* Writes the files of all images that the parameters name. The first source has the shape
 * `shape`. */
static void draw_others(const struct gi_filter *filter, const void *params,
                        const struct gi_image *shape, uint64_t *seed)
{
    const struct gi_option *row;
    for (int i = 0; (row = gi_filter_image(filter, params, i)); i++) {
        const char *path = gi_option_path(row, params);
        if (strcmp(row->name, "points") == 0)
            draw_points(path, shape, seed);
        else
            draw_other(row, path, shape, seed);
    }
}

/* ---- steps ---- */

/* Removes the files of further images. */
static void remove_others(const struct gi_step *step)
{
    const struct gi_option *row;
    for (int i = 0; step->params && (row = gi_filter_image(step->filter, step->params, i)); i++)
        unlink(gi_option_path(row, step->params));
}

static struct gi_io_params quiet_io(void)
{
    struct gi_io_params io = {0};
    gi_options_default(&io, gi_input_options);
    io.quiet = true;
    return io;
}

/* In place of the drawings of cairo, which may be missing: a square of four colours. */
static enum gi_status draw_square(struct gi_drawer *drawer, const struct gi_image **drawing, int *x,
                                  int *y, int width, int height, struct gi_err *err)
{
    static uint8_t samples[2][8] = {{255, 0, 9, 255, 0, 200, 90, 128},
                                    {1, 2, 3, 0, 70, 80, 250, 7}};
    static const struct gi_image square = {
        .width = 2, .height = 2, .channels = 4, .type = GI_U8, .data = samples, .stride = 8};
    *drawing = &square;
    *x = width / 2 - 1;
    *y = height / 2 - 1;
    return GI_OK;
}

/* Parses `text` as step n of the case, and loads the images of this step. Returns false if the
 * command line would refuse the step. */
static bool read_step(struct walk_case *c, const char *text, const struct gi_image *shape)
{
    struct gi_chain *chain = &c->chains[c->n];
    struct gi_step *step = &c->steps[c->n];
    static struct gi_drawer drawer = {draw_square};
    struct gi_io_params io = quiet_io();
    struct gi_file_info info = {0};
    struct gi_err err = {0};
    *step = (struct gi_step){0};
    if (gi_chain_read(chain, text, &err))
        return false;
    *step = (struct gi_step){.filter = chain->steps[0].filter,
                             .params = chain->steps[0].args.params[GI_SET_STEP_FILTER]};
    draw_others(step->filter, step->params, shape, &c->seed);
    if (step->filter == &gi_filter_draw)
        ((struct gi_draw_params *)step->params)->drawer = &drawer;
    else if (gi_chain_load(chain, false, &io, 1, &err))
        return false;
    step->others = chain->steps[0].others;
    step->nothers = chain->steps[0].nothers;
    return !gi_cli_check_levels(c->steps, c->n + 1, &c->src, &info, &io, &err);
}

/* Plans the steps so far in *pipeline. Returns whether planning succeeds and the estimated time is
 * short. Also tests that a caller that wants no message gets the same status. */
static bool plan_steps(struct gi_pipeline **pipeline, const struct walk_case *c)
{
    struct gi_err err = {0};
    const struct gi_rates rates = {.memory = 4e9, .fmas = 2e9, .up = INFINITY, .down = INFINITY};
    enum gi_status status = gi_pipeline_new(pipeline, c->steps, c->n + 1, &c->src, NULL, &err);
    if (status)
        assert_int_equal(gi_pipeline_new(pipeline, c->steps, c->n + 1, &c->src, NULL, NULL),
                         status);
    if (status)
        return false;
    const struct gi_estimate_options work = {.images = 1, .threads = 1};
    if (gi_pipeline_estimate(*pipeline, &work, &rates, &rates).cpu_s <= SECONDS_MAX)
        return true;
    gi_pipeline_free(pipeline);
    return false;
}

static void drop_step(struct walk_case *c)
{
    remove_others(&c->steps[c->n]);
    gi_chain_free(&c->chains[c->n]);
    free(c->texts[c->n]);
}

/* Adds a step of this operation with random options. Returns false if the step takes too long, or
 * if its options are incompatible with each other, with the images or with the steps before. */
static bool add_step(struct walk_case *c, const struct gi_filter *filter)
{
    struct gi_pipeline *longer;
    struct gi_image shape = c->n ? gi_pipeline_result(c->pipeline) : c->src;
    char prefix[32];
    snprintf(prefix, sizeof prefix, "%d-%d", c->number, c->n + 1);
    c->texts[c->n] = draw_step(filter, &shape, prefix, &c->seed);
    if (!read_step(c, c->texts[c->n], &shape) || !plan_steps(&longer, c)) {
        drop_step(c);
        return false;
    }
    if (filter->analysis.ask_all)
        filter->analysis.ask_all((void *)c->steps[c->n].params);
    gi_pipeline_free(&c->pipeline);
    c->pipeline = longer;
    c->n++;
    return true;
}

/* Adds a single step that is the command compare. No option names the second image of this command,
 * so it can't be in a chain. */
static bool add_pair(struct walk_case *c, const struct gi_filter *filter)
{
    static const struct gi_compare_rules rules = {.metrics = GI_COMPARE_ALL, .threshold = 0.1};
    assert_true(filter->params_nbytes == sizeof rules);
    assert_int_equal(
        gi_image_alloc(&c->pair, c->src.width, c->src.height, c->src.channels, c->src.type, NULL),
        GI_OK);
    draw_samples(&c->pair, &c->seed);
    c->steps[0] = (struct gi_step){filter, &rules, &c->pair, 1};
    if (!plan_steps(&c->pipeline, c))
        return false;
    c->texts[0] = strdup(filter->name);
    c->n = 1;
    return true;
}

/* Replaces the first source by a random image with sides of at most `side`. */
static void draw_source(struct walk_case *c, int side)
{
    struct gi_image shape = draw_shape(&c->seed, side);
    gi_image_free(&c->src);
    gi_image_free(&c->pair);
    assert_int_equal(
        gi_image_alloc(&c->src, shape.width, shape.height, shape.channels, shape.type, NULL),
        GI_OK);
    draw_samples(&c->src, &c->seed);
}

/* Adds a step of this operation, or the command compare if there are no steps yet. */
static bool add(struct walk_case *c, const struct gi_filter *filter)
{
    struct gi_command command;
    if (gi_chain_command(&command, filter))
        return add_step(c, filter);
    return !c->n && add_pair(c, filter);
}

void draw_case(struct walk_case *c, int number, uint64_t seed)
{
    int nfilters = 0, steps, side = SIDE_MAX;
    while (gi_filters[nfilters])
        nfilters++;
    *c = (struct walk_case){.number = number, .seed = seed};
    for (; !c->n; side = (side + 1) / 2) {
        draw_source(c, side);
        steps = case_between(&c->seed, 1, STEPS_MAX);
        for (int i = 0; i < TRIES && c->n < steps && !c->pair.data; i++)
            add(c, gi_filters[i ? case_between(&c->seed, 0, nfilters - 1) : number % nfilters]);
    }
}

void free_case(struct walk_case *c, bool keep)
{
    gi_pipeline_free(&c->pipeline);
    for (; c->n > 0; c->n--) {
        if (!keep)
            remove_others(&c->steps[c->n - 1]);
        gi_chain_free(&c->chains[c->n - 1]);
        free(c->texts[c->n - 1]);
    }
    gi_image_free(&c->pair);
    gi_image_free(&c->src);
}
