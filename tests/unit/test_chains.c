/* A pipeline of random steps, in bands or not, gives the same bytes, analyses and copied images as
 * its steps run one by one through host images of their types, at every level and on CUDA.
 * Sources: filters/pipeline* filters/plan* filters/bands.c
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"
#include "filter_cases.h"
#include "kernels/kernels.h"
#include "walk_case.h"

#include <unistd.h>

#include "cli/commands.h"
#include "cli/log.h"

/* Under AddressSanitizer a case takes ten times as long. */
#ifdef __SANITIZE_ADDRESS__
enum { CHAINS = 60 };
#else
enum { CHAINS = 220 };
#endif
enum { BACKENDS_MAX = 8 };

/* ---- chains ---- */

struct chain {
    int n;
    struct gi_step steps[STEPS_MAX];
    char text[1024]; /* for messages */
};

/* Returns the chain of a case of the random walk, which keeps what the chain names. */
static struct chain chain_of(const struct walk_case *c)
{
    struct chain chain = {.n = c->n};
    for (int i = 0; i < c->n; i++) {
        size_t used = strlen(chain.text);
        chain.steps[i] = c->steps[i];
        snprintf(chain.text + used, sizeof chain.text - used, "%s%s", i ? " | " : "", c->texts[i]);
    }
    return chain;
}

static void free_params(struct chain *chain)
{
    for (int i = 0; i < chain->n; i++)
        free((void *)chain->steps[i].params);
}

/* The results of a run of a chain. */
struct outcome {
    struct gi_image image, taps[STEPS_MAX];
    void *results[STEPS_MAX];
};

static void free_outcome(struct outcome *outcome, const struct chain *chain)
{
    for (int i = 0; i < chain->n; i++) {
        const struct gi_filter *filter = chain->steps[i].filter;
        if (filter->result_free)
            filter->result_free(outcome->results[i]);
        free(outcome->results[i]);
        gi_image_free(&outcome->taps[i]);
    }
    gi_image_free(&outcome->image);
}

static void init_outcome(struct outcome *outcome, const struct chain *chain)
{
    *outcome = (struct outcome){0};
    for (int i = 0; i < chain->n; i++)
        outcome->results[i] = calloc(1, chain->steps[i].filter->result_nbytes + 1);
}

static struct gi_image copy_of(const struct gi_image *image)
{
    struct gi_image copy;
    assert_int_equal(gi_image_convert(&copy, image, image->type, NULL), GI_OK);
    return copy;
}

/* Runs each step alone on a host image. Returns false if a step refuses its image. */
static bool run_singly(struct outcome *outcome, struct gi_queue *queue, const struct chain *chain,
                       const struct gi_image *src)
{
    init_outcome(outcome, chain);
    struct gi_image image = copy_of(src), made;
    for (int i = 0; i < chain->n; i++) {
        const struct gi_step *step = &chain->steps[i];
        struct gi_err err = {0};
        struct gi_side side = {.others = step->others, .result = outcome->results[i]};
        struct gi_pipeline *pipeline;
        outcome->taps[i] = copy_of(&image);
        enum gi_status status = gi_pipeline_new(&pipeline, step, 1, &image, NULL, &err);
        if (!status)
            status = gi_pipeline_run(pipeline, queue, step->filter->run ? &made : NULL, &image,
                                     &side, NULL, &err);
        gi_pipeline_free(&pipeline);
        if (status) {
            gi_image_free(&image);
            return false;
        }
        if (!step->filter->run)
            continue;
        gi_image_free(&image);
        image = made;
    }
    outcome->image = image;
    return true;
}

/* Runs the chain as one pipeline. Returns false if it reports that memory does not suffice. */
static bool run_together(struct outcome *outcome, struct gi_queue *queue, const struct chain *chain,
                         const struct gi_image *src)
{
    struct gi_side sides[STEPS_MAX] = {{0}};
    struct gi_pipeline *pipeline;
    struct gi_err err = {0};
    init_outcome(outcome, chain);
    for (int i = 0; i < chain->n; i++)
        sides[i] = (struct gi_side){.others = chain->steps[i].others,
                                    .result = outcome->results[i],
                                    .copy_out = &outcome->taps[i]};
    if (gi_pipeline_new(&pipeline, chain->steps, chain->n, src, NULL, &err))
        fail_msg("%s: %s", chain->text, err.text);
    enum gi_status status =
        gi_pipeline_run(pipeline, queue, &outcome->image, src, sides, NULL, &err);
    gi_pipeline_free(&pipeline);
    if (status && status != GI_E_DEVICE_MEMORY)
        fail_msg("%s: %s", chain->text, err.text);
    return !status;
}

static void compare(const struct chain *chain, const struct outcome *want,
                    const struct outcome *got, const char *where, const struct gi_image *src)
{
    for (int i = 0; i < chain->n; i++) {
        const struct gi_filter *filter = chain->steps[i].filter;
        if (!case_is_equal(&want->taps[i], &got->taps[i]))
            fail_msg("%s: %s: %d x %d: what step %d takes differs", where, chain->text, src->width,
                     src->height, i + 1);
        if (!filter->run && !filter->result_equal(want->results[i], got->results[i]))
            fail_msg("%s: %s: %d x %d: what step %d finds differs", where, chain->text, src->width,
                     src->height, i + 1);
    }
    if (!case_is_equal(&want->image, &got->image))
        fail_msg("%s: %s: %d x %d: the image differs", where, chain->text, src->width, src->height);
}

/* ---- backends ---- */

struct backend {
    char name[48];
    struct gi_queue *queue;
    int rows; /* maximum rows at a time; 0: no limit */
};

static struct backend backends[BACKENDS_MAX];
static int nbackends, ncpu;
static int most_rows;
static struct gi_kernels few_rows[BACKENDS_MAX];

static void few_limits(struct gi_queue *queue, struct gi_device_limits *limits)
{
    *limits = (struct gi_device_limits){SIZE_MAX, most_rows, SIZE_MAX, 64};
}

static void add(const char *level, int threads, bool bands)
{
    const struct gi_kernels *k = gi_kernels_cpu_level(level);
    if (!k) {
        printf("skipped: no %s on this machine\n", level);
        return;
    }
    struct backend *backend = &backends[nbackends];
    snprintf(backend->name, sizeof backend->name, "%s, %d threads%s", level, threads,
             bands ? ", in bands" : "");
    backend->queue = case_open(k, threads);
    if (bands) {
        few_rows[nbackends] = *k;
        few_rows[nbackends].limits = few_limits;
        backend->queue->k = &few_rows[nbackends];
        backend->rows = 1;
    }
    nbackends++;
}

static void add_cuda(size_t max_bytes)
{
    const struct gi_kernels *k = gi_kernels_cuda();
    struct gi_open_options options = {.threads = 2, .max_bytes = max_bytes};
    struct gi_err err = {0};
    struct backend *backend = &backends[nbackends];
    if (!k || gi_queue_open_alone(&backend->queue, k, &options, &err)) {
        printf("skipped: CUDA: %s\n", k ? err.text : "this build has no CUDA backend");
        return;
    }
    snprintf(backend->name, sizeof backend->name, "cuda%s", max_bytes ? ", in bands" : "");
    nbackends++;
}

static int open_backends(void **unused)
{
    gi_commands_use(gi_command_rows);
    gi_cli_quiet(true);
    add("scalar", 1, false);
    add("scalar", 2, true);
    add("avx2", 3, true);
    add("avx512", 2, false);
    add("neon", 3, true);
    ncpu = nbackends;
    add_cuda(0);
    add_cuda(100 << 10);
    return enter_folder(unused); /* for the images that steps name */
}

static int close_backends(void **unused)
{
    for (int i = 0; i < nbackends; i++) {
        if (backends[i].rows)
            backends[i].queue->k = backends[i].queue->device->k;
        gi_queue_close_alone(&backends[i].queue);
    }
    return leave_folder(unused);
}

/* ---- tests ---- */

/* Runs the chain on backend b, in bands of few rows at first. Returns whether it ran in bands. */
static bool check_on(int b, const struct chain *chain, const struct gi_image *src,
                     const struct outcome *want, uint64_t *seed)
{
    bool fits = false, bands = false;
    most_rows = 30 + (int)(case_random(seed) % 60);
    while (!fits && most_rows < 1 << 24) { /* many halos, high results, whole images */
        struct outcome got;
        fits = run_together(&got, backends[b].queue, chain, src);
        if (fits)
            compare(chain, want, &got, backends[b].name, src);
        bands |= fits && backends[b].rows && most_rows < src->height;
        free_outcome(&got, chain);
        if (!backends[b].rows)
            break;
        most_rows *= 2;
    }
    if (!fits && b < ncpu)
        fail_msg("%s: %s: fits nowhere", backends[b].name, chain->text);
    return bands;
}

TEST(test_random)
{
    uint64_t seed = case_seed();
    int bands = 0, chains = 0;
    for (int number = 0; chains < CHAINS; number++) {
        struct walk_case c;
        struct outcome want;
        draw_case(&c, number, seed);
        struct chain chain = chain_of(&c);
        seed = c.seed;
        if (run_singly(&want, backends[0].queue, &chain, &c.src) && !c.pair.data) {
            chains++;
            for (int b = 0; b < nbackends; b++)
                bands += check_on(b, &chain, &c.src, &want, &seed);
        }
        free_outcome(&want, &chain);
        free_case(&c, false);
    }
    assert_true(bands > CHAINS / 8);
}

/* Runs the chain in bands of `rows`, `rows` + `step` and so on rows. All bands must fit. */
static void check_bands(const struct chain *chain, const struct gi_image *src, int rows, int step)
{
    struct outcome want, got;
    assert_true(run_singly(&want, backends[0].queue, chain, src));
    for (int b = 0; b < nbackends; b++)
        for (most_rows = rows; most_rows < src->height; most_rows += step) {
            if (!run_together(&got, backends[b].queue, chain, src))
                fail_msg("%s: %s: %d rows do not fit", backends[b].name, chain->text, most_rows);
            compare(chain, &want, &got, backends[b].name, src);
            free_outcome(&got, chain);
        }
    free_outcome(&want, chain);
}

/* Tests a border that wraps, after a step whose result depends on the row's position. The rows
 * beyond one end of the image must equal the rows that this step computes at the other end. */
TEST(test_wrap_after)
{
    static const char *const words[][3] = {
        {"k=7", "border=clamp", NULL}, {"tiles=2x3", NULL}, {"k=9", "border=wrap", NULL}};
    static const char *const names[] = {"blur", "clahe", "blur"};
    for (int turn = 0; turn < 2; turn++) {
        struct chain chain = {.n = 3};
        snprintf(chain.text, sizeof chain.text, "%s | blur wrap | blur wrap", names[turn]);
        for (int i = 0, at = turn; i < 3; i++, at = 2) {
            const struct gi_filter *filter = gi_filter_find(names[at]);
            chain.steps[i] =
                (struct gi_step){.filter = filter, .params = case_params(filter, words[at])};
        }
        struct gi_image src;
        uint64_t seed = CASE_SEED;
        assert_int_equal(gi_image_alloc(&src, 23, 97, 3, GI_U16, NULL), GI_OK);
        case_fill(&src, &seed);
        check_bands(&chain, &src, 45, 9);
        free_params(&chain);
        gi_image_free(&src);
    }
}

/* The result wraps around its source several times above and below. */
TEST(test_wrap_over_and_over)
{
    static const char *const below[] = {"matrix=1 0 0; 0.1 1 0", "size=33x97", "border=wrap", NULL};
    static const char *const above[] = {"matrix=1 0 0; 0.1 1 80.5", "size=33x97", "border=wrap",
                                        NULL};
    const struct gi_filter *affine = gi_filter_find("affine");
    for (int i = 0; i < 2; i++) {
        struct chain chain = {.n = 1};
        snprintf(chain.text, sizeof chain.text, "affine from %s", i ? "above" : "below");
        chain.steps[0] =
            (struct gi_step){.filter = affine, .params = case_params(affine, i ? above : below)};
        struct gi_image src;
        uint64_t seed = CASE_SEED;
        assert_int_equal(gi_image_alloc(&src, 40, 22, 3, GI_U8, NULL), GI_OK);
        case_fill(&src, &seed);
        check_bands(&chain, &src, 12, 3);
        free_params(&chain);
        gi_image_free(&src);
    }
}

/* The times count one upload and one download, and the bytes that each step reads and writes. */
TEST(test_times)
{
    static const char *const words[] = {"sigma=1.5", NULL};
    const struct gi_filter *filters[] = {gi_filter_find("gaussian"), gi_filter_find("edges"),
                                         gi_filter_find("threshold")};
    struct gi_step steps[3];
    for (int i = 0; i < 3; i++)
        steps[i] = (struct gi_step){.filter = filters[i],
                                    .params = case_params(filters[i], i ? NULL : words)};
    struct gi_image src, dst;
    uint64_t seed = CASE_SEED;
    double ms[3], nbytes[3];
    struct gi_times times = {.step_ms = ms, .step_nbytes = nbytes};
    struct gi_pipeline *pipeline;
    assert_int_equal(gi_image_alloc(&src, 60, 50, 1, GI_U8, NULL), GI_OK);
    case_fill(&src, &seed);
    assert_int_equal(gi_pipeline_new(&pipeline, steps, 3, &src, NULL, NULL), GI_OK);
    assert_int_equal(gi_pipeline_run(pipeline, backends[0].queue, &dst, &src, NULL, &times, NULL),
                     GI_OK);
    assert_true(times.uploads == 1 && times.downloads == 1 && times.bands == 1);
    assert_true(nbytes[0] == 2 * 3000 && nbytes[1] == 2 * 3000 && nbytes[2] == 3 * 3000);
    gi_image_free(&dst);
    gi_pipeline_free(&pipeline);
    gi_image_free(&src);
    for (int i = 0; i < 3; i++)
        free((void *)steps[i].params);
}

TEST_FRAME(.first = open_backends, .last = close_backends)
