/* For random chains of all operations with random options on random images, every run gives the
 * bytes, results, status and message of plain C on one thread. Runs use every instruction level of
 * the CPU, other numbers of threads, every CUDA device, bands, and primitives that are forced to
 * other ways. The steps of a chain that run one by one, through host images, give the same.
 *
 * By default the test runs WALK_CASES cases from a fixed seed, and more until every operation has
 * run. The environment variable SEED=N sets the seed, WALK_SECONDS=N runs for N seconds, and
 * WALK_CASE=N runs only case N. After a difference the test prints two command lines that reproduce
 * the difference, and keeps their files.
 *
 * Sources: filters kernels cli/args/chain* filters/pipeline* filters/plan* filters/bands.c
 * SPDX-License-Identifier: MIT */
#include <glob.h>
#include <time.h>
#include <unistd.h>

#include "kernels/kernels.h"
#include "walk_case.h"

#include "cli/commands.h"
#include "cli/log.h"
#include "cli/commands/selftest.h"
#include "imgio/imgio.h"
#include "kernels/ways.h"

#ifdef __SANITIZE_ADDRESS__
enum { WALK_CASES = 60 };
#else
enum { WALK_CASES = 400 };
#endif
enum {
    BACKENDS_MAX = 16,
    DIFFERENCES_MAX = 10,
    USES_MAX = 64,
    BAND_NBYTES = 256 << 10,
};
/* ---- backends ---- */

struct backend {
    char level[16];   /* of GPUIMG_CPU; "cuda" */
    char options[64]; /* of the command line */
    struct gi_queue *queue;
    bool may_be_full; /* true if the case may be refused, because the backend's memory is capped */
    /* The table of a backend of the CPU that takes most_rows rows at a time. Other backends have
     * none. */
    struct gi_kernels in_bands;
};

/* Backend 0 is the reference. */
static struct backend backends[BACKENDS_MAX];
static int nbackends;

static void add_backend(const char *level, const struct gi_kernels *k,
                        const struct gi_open_options *options, const char *words)
{
    struct backend *backend = &backends[nbackends++];
    struct gi_err err = {0};
    assert_true(nbackends <= BACKENDS_MAX);
    *backend = (struct backend){0};
    snprintf(backend->level, sizeof backend->level, "%s", level);
    snprintf(backend->options, sizeof backend->options, "%s", words);
    backend->may_be_full = options->max_bytes != 0;
    if (gi_queue_open_alone(&backend->queue, k, options, &err))
        fail_msg("%s: %s", level, err.text);
}

static int most_rows;

static void few_rows(struct gi_queue *queue, struct gi_device_limits *limits)
{
    *limits = (struct gi_device_limits){SIZE_MAX, most_rows, SIZE_MAX, 64};
}

static bool is_in_bands(const struct backend *backend)
{
    return backend->in_bands.limits == few_rows;
}

static void add_level(const char *level, int threads, bool bands)
{
    const struct gi_kernels *k = gi_kernels_cpu_level(level);
    struct gi_open_options options = {.threads = threads};
    char words[64];
    snprintf(words, sizeof words, "--device cpu --threads %d", threads);
    if (!k) {
        print_message("not tested: this machine has no %s\n", level);
        return;
    }
    struct backend *backend = &backends[nbackends];
    add_backend(level, k, &options, words);
    if (bands) {
        backend->in_bands = *k;
        backend->in_bands.limits = few_rows;
        backend->queue->k = &backend->in_bands;
    }
}

static void add_cuda(int ordinal)
{
    struct gi_open_options whole = {.threads = 1, .ordinal = ordinal}, bands = whole;
    char words[64];
    bands.max_bytes = BAND_NBYTES;
    snprintf(words, sizeof words, "--device cuda:%d", ordinal);
    add_backend("cuda", gi_kernels_cuda(), &whole, words);
    snprintf(words, sizeof words, "--device cuda:%d --max-device-bytes %d", ordinal, BAND_NBYTES);
    add_backend("cuda", gi_kernels_cuda(), &bands, words);
}

static char folder[512];
static unsigned walked[256]; /* how often each operation ran */
static int differences, ran, forced, banded;

/* ---- the outcome of a case ---- */

struct outcome {
    enum gi_status status;
    struct gi_err err;
    struct gi_image image;
    void *results[STEPS_MAX];
    struct gi_image sources[STEPS_MAX]; /* of the steps, in every second case */
};

static void run_case(struct outcome *outcome, const struct walk_case *c, struct gi_queue *queue)
{
    struct gi_side sides[STEPS_MAX] = {{0}};
    *outcome = (struct outcome){0};
    for (int i = 0; i < c->n; i++) {
        outcome->results[i] = calloc(1, c->steps[i].filter->analysis.nbytes + 1);
        sides[i].others = c->steps[i].others;
        sides[i].result = outcome->results[i];
        sides[i].copy_out = c->number % 2 ? &outcome->sources[i] : NULL;
    }
    outcome->status =
        gi_pipeline_run(c->pipeline, queue, &outcome->image, &c->src, sides, NULL, &outcome->err);
    ran++;
}

static void free_outcome(struct outcome *outcome, const struct walk_case *c)
{
    for (int i = 0; i < c->n; i++) {
        const struct gi_filter *filter = c->steps[i].filter;
        if (filter->analysis.free)
            filter->analysis.free(outcome->results[i]);
        free(outcome->results[i]);
        gi_image_free(&outcome->sources[i]);
    }
    gi_image_free(&outcome->image);
}

/* Runs the steps one by one, each on a host image. */
static void run_steps(struct outcome *outcome, const struct walk_case *c, struct gi_queue *queue)
{
    struct gi_image image;
    *outcome = (struct outcome){0};
    outcome->status = gi_image_convert(&image, &c->src, c->src.type, &outcome->err);
    for (int i = 0; i < c->n && !outcome->status; i++) {
        const struct gi_step *step = &c->steps[i];
        struct gi_side side = {.others = step->others};
        struct gi_pipeline *pipeline;
        struct gi_image made = {0};
        side.result = outcome->results[i] = calloc(1, step->filter->analysis.nbytes + 1);
        if (c->number % 2)
            gi_image_convert(&outcome->sources[i], &image, image.type, NULL);
        outcome->status = gi_pipeline_new(&pipeline, step, 1, &image, NULL, &outcome->err);
        if (!outcome->status)
            outcome->status = gi_pipeline_run(pipeline, queue, step->filter->run ? &made : NULL,
                                              &image, &side, NULL, &outcome->err);
        gi_pipeline_free(&pipeline);
        if (!step->filter->run)
            continue;
        gi_image_free(&image);
        image = made;
    }
    outcome->image = image;
}

static bool outcomes_differ(char what[160], const struct walk_case *c, const struct outcome *want,
                            const struct outcome *got)
{
    if (want->status != got->status || strcmp(want->err.text, got->err.text) != 0) {
        snprintf(what, 160, "status %d \"%.40s\", want %d \"%.40s\"", (int)got->status,
                 got->err.text, (int)want->status, want->err.text);
        return true;
    }
    for (int i = 0; i < c->n && !want->status; i++) {
        const struct gi_filter *filter = c->steps[i].filter;
        if (filter->analysis.digest &&
            !gi_results_equal(filter, want->results[i], got->results[i])) {
            snprintf(what, 160, "the result of step %d, %s", i + 1, filter->name);
            return true;
        }
        if (want->sources[i].data && got->sources[i].data &&
            gi_selftest_differ(what, &want->sources[i], &got->sources[i]))
            return true;
    }
    return !want->status && want->image.data && gi_selftest_differ(what, &want->image, &got->image);
}

/* ---- the report of a difference ---- */

static void print_command(const struct walk_case *c, const struct backend *backend, const char *way,
                          const char *output)
{
    print_message("    ");
    if (strncmp(backend->level, "cuda", 4) != 0)
        print_message("GPUIMG_CPU=%s ", backend->level);
    if (*way)
        print_message("GPUIMG_WAY=%s ", way);
    if (c->pair.data) {
        print_message("gpuimg %s %s %d-in.npy %d-b.npy\n", c->texts[0], backend->options, c->number,
                      c->number);
        return;
    }
    print_message("gpuimg run '");
    for (int i = 0; i < c->n; i++)
        print_message("%s%s", i ? " | " : "", c->texts[i]);
    print_message("' %s %d-in.npy %d-%s.npy%s\n", backend->options, c->number, c->number, output,
                  is_in_bands(backend) ? " # in bands" : "");
}

static void save(const struct walk_case *c, const struct gi_image *image, const char *name)
{
    char path[64];
    struct gi_err err = {0};
    snprintf(path, sizeof path, "%d-%s.npy", c->number, name);
    if (image->data && gi_save(image, NULL, path, &(struct gi_save_options){0}, NULL, &err))
        print_message("%s: %s\n", path, err.text);
}

static void tell_difference(const struct walk_case *c, const struct backend *backend,
                            const char *way, const char *what)
{
    save(c, &c->src, "in");
    save(c, &c->pair, "b");
    print_message("case %d, %d x %d, %d channels, %s: %s\n    cd %s\n", c->number, c->src.width,
                  c->src.height, c->src.channels, gi_type_word(c->src.type), what, folder);
    print_command(c, &backends[0], "", "want");
    print_command(c, backend, way, "got");
    differences++;
}

/* ---- all cases ---- */

/* Chooses a random other way for one of the primitives that have run on the queue. `text` becomes
 * this way as in GPUIMG_WAY, or "" if no primitive has another way. */
static void draw_way(char text[96], const struct gi_queue *queue, uint64_t *seed)
{
    struct gi_way_use uses[USES_MAX];
    int n = gi_queue_ways(queue, uses, USES_MAX), choices = 0;
    *text = '\0';
    for (int i = 0; i < n; i++)
        for (const struct gi_ways *const *ways = queue->k->ways; *ways; ways++)
            for (int w = 0;
                 strcmp((*ways)->primitive, uses[i].primitive) == 0 && gi_way_at(*ways, w); w++) {
                const char *name = gi_way_at(*ways, w)->name;
                if (strcmp(name, uses[i].way) != 0 && draw_one_of(seed, ++choices))
                    snprintf(text, 96, "%s/%s:%s", queue->k->name, uses[i].primitive, name);
            }
}

/* Runs the case on one backend. If `way` is "", the backend chooses its ways, else this way is
 * forced. Returns false if the outcome differs from `want`. */
static bool check_on(const struct walk_case *c, const struct backend *backend, const char *way,
                     const struct outcome *want)
{
    struct gi_queue *queue = backend->queue;
    struct outcome got;
    char what[160] = "";
    gi_queue_ways_close(queue);
    assert_int_equal(gi_queue_ways_open(queue, NULL),
                     GI_OK); /* clears the list of primitives that ran */
    if (*way)
        assert_int_equal(gi_queue_force_ways(queue, way, NULL), GI_OK);
    most_rows = 30 + c->number * 7 % 60;
    run_case(&got, c, queue);
    /* Some chains have halos or results that need more rows at a time. */
    while (is_in_bands(backend) && got.status == GI_E_DEVICE_MEMORY && most_rows < 1 << 24) {
        free_outcome(&got, c);
        most_rows *= 2;
        run_case(&got, c, queue);
    }
    banded += is_in_bands(backend) && most_rows < c->src.height;
    bool refused = (*way && strstr(got.err.text, "this way does not take this work")) ||
                   (backend->may_be_full && got.status == GI_E_DEVICE_MEMORY);
    forced += *way && !refused;
    bool differs = !refused && outcomes_differ(what, c, want, &got);
    free_outcome(&got, c);
    if (differs)
        tell_difference(c, backend, way, what);
    return !differs;
}

/* Runs the steps one by one. Returns false if the outcome differs from `want`. */
static bool check_steps(const struct walk_case *c, const struct outcome *want)
{
    struct outcome got;
    char what[160];
    run_steps(&got, c, backends[0].queue);
    bool differs = outcomes_differ(what, c, want, &got);
    free_outcome(&got, c);
    if (differs)
        tell_difference(c, &backends[0], "", what);
    return !differs;
}

static void check_case(int number, uint64_t seed)
{
    struct walk_case c;
    struct outcome want;
    char way[96];
    bool equal = true;
    /* The seeds of the cases are mixed (splitmix64, Steele, Lea and Flood 2014), so that the cases
     * draw independent numbers. */
    uint64_t mixed = seed + (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    draw_case(&c, number, mixed ^ mixed >> 31);
    run_case(&want, &c, backends[0].queue);
    for (int i = 0; i < c.n; i++)
        for (int f = 0; gi_filters[f]; f++)
            walked[f] += gi_filters[f] == c.steps[i].filter;
    if (!want.status && !c.pair.data)
        equal = check_steps(&c, &want);
    for (int i = 1; i < nbackends && equal; i++) {
        equal = check_on(&c, &backends[i], "", &want);
        draw_way(way, backends[i].queue, &c.seed);
        if (equal && *way)
            equal = check_on(&c, &backends[i], way, &want);
    }
    free_outcome(&want, &c);
    free_case(&c, !equal);
}

static bool all_walked(void)
{
    for (int i = 0; gi_filters[i]; i++)
        if (!walked[i])
            return false;
    return true;
}

TEST(test_walk)
{
    const char *seconds = getenv("WALK_SECONDS"), *alone = getenv("WALK_CASE");
    uint64_t seed = case_seed();
    time_t start = time(NULL);
    int number = alone ? atoi(alone) : 0, cases = 0;
    do {
        check_case(number + cases++, seed);
    } while (!alone && differences < DIFFERENCES_MAX &&
             (seconds ? time(NULL) - start < atoi(seconds)
                      : cases < WALK_CASES ||
                            (WALK_CASES >= 400 && cases < 2 * WALK_CASES && !all_walked())));
    print_message("%d cases in %d runs, %d of them with a way forced, %d in bands of few rows\n",
                  cases, ran, forced, banded);
    assert_true(alone || banded > cases / 8);
    for (int i = 0; gi_filters[i] && !alone && !seconds; i++)
        if (!walked[i] && WALK_CASES >= 400)
            fail_msg("%s was not walked", gi_filters[i]->name);
    assert_int_equal(differences, 0);
}

/* ---- a backend with an error ---- */

static struct gi_kernels wrong;

static enum gi_status wrong_download(struct gi_queue *queue, struct gi_image *host,
                                     struct gi_image *image, struct gi_ticket *ticket,
                                     struct gi_err *err)
{
    enum gi_status status = gi_kernels_cpu()->download(queue, host, image, ticket, err);
    if (!status)
        *(unsigned char *)gi_row(host, host->height - 1) ^= 1;
    return status;
}

/* The walk finds a single wrong bit, and keeps the image in which it is. */
TEST(test_difference)
{
    int all = nbackends, number = 0;
    char path[32];
    glob_t kept;
    struct backend second = backends[1];
    struct gi_open_options options = {.threads = 1};
    wrong = *gi_kernels_cpu();
    wrong.download = wrong_download;
    nbackends = 1;
    add_backend("scalar", gi_kernels_cpu(), &options, "--device cpu");
    backends[1].queue->k = &wrong;
    print_message("of a backend that is made wrong for this test:\n");
    while (!differences && number < 20)
        check_case(++number, 1);
    assert_int_equal(differences, 1);
    differences = 0;
    snprintf(path, sizeof path, "%d-in.npy", number);
    assert_int_equal(access(path, R_OK), 0);
    assert_int_equal(glob("*", 0, NULL, &kept), 0);
    for (size_t i = 0; i < kept.gl_pathc; i++)
        unlink(kept.gl_pathv[i]);
    globfree(&kept);
    backends[1].queue->k = gi_kernels_cpu();
    gi_queue_close_alone(&backends[1].queue);
    backends[1] = second;
    nbackends = all;
}

static int open_backends(void **unused)
{
    const struct gi_kernels *cuda = gi_kernels_cuda();
    struct gi_err err = {0};
    const char *base = getenv("TMPDIR");
    gi_commands_use(gi_command_rows);
    gi_cli_quiet(true);
    add_level("scalar", 1, false);
    add_level("scalar", 3, true);
    add_level("avx2", 2, true);
    add_level("avx512", 3, false);
    add_level("neon", 3, true);
    int n = cuda ? cuda->probe(NULL, 0, &err) : 0;
    for (int i = 0; i < n && nbackends + 2 <= BACKENDS_MAX; i++)
        add_cuda(i);
    if (n < 1)
        print_message("not tested: %s\n", cuda ? "no CUDA device" : "built without CUDA");
    snprintf(folder, sizeof folder, "%s/gpuimg-walk.XXXXXX", base && *base ? base : "/tmp");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int close_backends(void **unused)
{
    for (int i = 0; i < nbackends; i++) {
        backends[i].queue->k = backends[i].queue->device->k;
        gi_queue_close_alone(&backends[i].queue);
    }
    /* This fails if the folder holds the files of a difference, which are to be kept. */
    rmdir(folder);
    return 0;
}

TEST_FRAME(.first = open_backends, .last = close_backends)
