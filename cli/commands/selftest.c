/* gpuimg selftest: checks that every operation computes the same bytes on every backend of this
 * machine as plain C on one thread. Runs operations singly, and also in a mixed batch on several
 * queues at once.
 * SPDX-License-Identifier: MIT */
#include "cli/args/device_options.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/commands/selftest.h"
#include "cli/process.h"

#include <stdlib.h>
#include <string.h>

#include "filters/pipeline.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

enum {
    /* The maximum work of a case, in units of gi_cost.other. It allows the slowest passes over the
       largest images. */
    WORK_MAX = 20000000,
};

/* The test of one filter. */
struct test {
    struct gi_backends *bench;
    const struct gi_filter *filter;
    const struct gi_variant *variant;
    bool quick; /* leaves out the largest images, and 2 and 3 channels of most sizes */
    bool once;  /* leaves out backends that repeat others */
    struct gi_digest *digest; /* NULL, or it takes the results of the reference */
    struct gi_image src;
    struct gi_image others[GI_SOURCES_MAX - 1]; /* further sources of the same shape */
    int cases;
    char difference[512]; /* "" as long as all results are equal */
    struct gi_err err;    /* error of the reference backend if it can't run the case */
};

static void describe_case(struct test *test, const struct gi_backend *backend, const char *what)
{
    const struct gi_image *src = &test->src;
    snprintf(test->difference, sizeof test->difference, "%s: %d x %d, %d channels, %s, %s: %s",
             backend->detail, src->width, src->height, src->channels, gi_type_word(src->type),
             *test->variant->text ? test->variant->text : "defaults", what);
}

static bool compare_images(struct test *test, const struct gi_backend *backend,
                           const struct gi_image *want, const struct gi_image *got)
{
    char what[160];
    bool differ = gi_selftest_differ(what, want, got);
    if (differ)
        describe_case(test, backend, what);
    return !differ;
}

static int others_of(const struct test *test)
{
    return gi_filter_others(test->filter, test->variant->params);
}

/* Runs the case on one backend. */
static enum gi_status run_case(struct test *test, const struct gi_backend *backend,
                               struct gi_image *dst, void *result, struct gi_err *err)
{
    struct gi_step step = {.filter = test->filter,
                           .params = test->variant->params,
                           .others = test->others,
                           .nothers = others_of(test)};
    struct gi_side side = {.others = test->others, .result = result};
    struct gi_pipeline *pipeline;
    enum gi_status status = gi_pipeline_new(&pipeline, &step, 1, &test->src, NULL, err);
    if (status)
        return status;
    status = gi_pipeline_run(pipeline, backend->queue, dst, &test->src, &side, NULL, err);
    gi_pipeline_free(&pipeline);
    return status;
}

static bool test_filter(struct test *test)
{
    const struct gi_backend *backends = test->bench->backends;
    struct gi_image want, got;
    if (run_case(test, &backends[0], &want, NULL, &test->err))
        return false;
    if (test->digest)
        gi_digest_image(test->digest, &want);
    bool equal = true;
    for (int i = 1; equal && i < test->bench->n; i++) {
        struct gi_err err = {0};
        if (test->once && backends[i].repeats)
            continue;
        enum gi_status status = run_case(test, &backends[i], &got, NULL, &err);
        if (status == GI_E_DEVICE_MEMORY && backends[i].may_be_full)
            continue;
        if (status) {
            describe_case(test, &backends[i], err.text);
            equal = false;
            continue;
        }
        equal = compare_images(test, &backends[i], &want, &got);
        gi_image_free(&got);
    }
    gi_image_free(&want);
    return equal;
}

static bool test_analysis(struct test *test)
{
    const struct gi_backend *backends = test->bench->backends;
    const struct gi_filter *filter = test->filter;
    void *want = gi_small_calloc(1, filter->analysis.nbytes);
    void *got = gi_small_alloc(filter->analysis.nbytes);
    bool equal = !run_case(test, &backends[0], NULL, want, &test->err);
    if (equal && test->digest)
        filter->analysis.digest(want, test->digest);
    for (int i = 1; equal && i < test->bench->n; i++) {
        struct gi_err err = {0};
        if (test->once && backends[i].repeats)
            continue;
        memset(got, 0, filter->analysis.nbytes);
        enum gi_status status = run_case(test, &backends[i], NULL, got, &err);
        equal = status ? status == GI_E_DEVICE_MEMORY && backends[i].may_be_full
                       : gi_results_equal(filter, want, got);
        if (!equal)
            describe_case(test, &backends[i], status ? err.text : "the results differ");
        if (filter->analysis.free)
            filter->analysis.free(got);
    }
    if (filter->analysis.free)
        filter->analysis.free(want);
    free(want);
    free(got);
    return equal;
}

/* Makes all sources of a case, with samples that differ from source to source. */
static bool make_sources(struct test *test, int width, int height, int channels, enum gi_type type)
{
    uint64_t seed = (uint64_t)test->cases + 1;
    bool made = !gi_image_alloc(&test->src, width, height, channels, type, &test->err);
    if (made)
        gi_selftest_fill(&test->src, seed);
    for (int i = 0; i < others_of(test) && made; i++) {
        made = !gi_image_alloc(&test->others[i], width, height, channels, type, &test->err);
        if (made)
            gi_selftest_fill(&test->others[i], seed + 1000000 * (uint64_t)(i + 1));
    }
    return made;
}

/* Returns whether the operation can be tested with the case. Planning fails for sample types that
 * the operation does not accept, and some cases would take minutes. */
static bool takes(const struct test *test, int width, int height, int channels, enum gi_type type)
{
    struct gi_image sources[GI_SOURCES_MAX];
    struct gi_plan plan;
    int n = 1 + others_of(test);
    for (int i = 0; i < n; i++)
        sources[i] =
            (struct gi_image){.width = width, .height = height, .channels = channels, .type = type};
    enum gi_status status =
        gi_plan_make(&plan, test->filter, test->variant->params, sources, n, NULL);
    double other = status ? 0 : plan.cost.other * width * height * channels;
    if (!status)
        gi_plan_free(&plan);
    return status != GI_E_UNSUPPORTED && other <= WORK_MAX;
}

static bool test_image(struct test *test, int width, int height, int channels, enum gi_type type)
{
    if (!takes(test, width, height, channels, type))
        return true;
    bool equal = make_sources(test, width, height, channels, type);
    if (equal)
        equal = test->filter->run ? test_filter(test) : test_analysis(test);
    gi_image_free(&test->src);
    for (int i = 0; i < GI_SOURCES_MAX - 1; i++)
        gi_image_free(&test->others[i]);
    test->cases += equal;
    /* for example label images with fractions */
    bool refused = !equal && test->err.status == GI_E_UNSUPPORTED;
    if (refused)
        test->err = (struct gi_err){0};
    return equal || refused;
}

/* Runs all cases with one variant of the parameters. */
static bool test_variant(void *arg, const struct gi_variant *variant)
{
    static const int sizes[][2] = {
        {19, 3},  {1, 1},  {1, 17},   {17, 1},
        {31, 33}, {67, 5}, {257, 129}}; /* the last takes most of the time */
    struct test *test = arg;
    test->variant = variant;
    size_t all = sizeof sizes / sizeof *sizes, nsizes = variant->heavy ? 1 : all - test->quick;
    for (size_t s = 0; s < nsizes; s++) {
        bool small = sizes[s][0] * sizes[s][1] < 300;
        test->once = variant->heavy || (test->quick && small);
        int step = variant->heavy || (test->quick && s > 0) ? 3 : 1; /* only channels 1 and 4 */
        for (int type = GI_U8; type <= GI_F32; type++)
            for (int channels = 1; channels <= GI_MAX_CHANNELS; channels += step)
                if (!test_image(test, sizes[s][0], sizes[s][1], channels, (enum gi_type)type))
                    return false;
    }
    return true;
}

static void print_backends(const struct gi_backends *bench)
{
    for (int i = bench->n - 1; i >= 0; i--)
        if (i == bench->n - 1 || strcmp(bench->backends[i].name, bench->backends[i + 1].name) != 0)
            printf(" %s", bench->backends[i].name);
    putchar('\n');
}

/* Tests an operation and prints one line. Returns false if a backend differs. */
static bool test_operation(struct gi_backends *bench, const struct gi_filter *filter, bool quick)
{
    struct test test = {.bench = bench, .filter = filter, .quick = quick};
    gi_variants_walk(filter, test_variant, &test);
    if (test.err.status) {
        printf("%-16s failed  %s\n", filter->name, test.err.text);
    } else if (*test.difference) {
        printf("%-16s DIFFERS after %d equal cases: %s\n", filter->name, test.cases,
               test.difference);
    } else {
        printf("%-16s equal   %6d cases on", filter->name, test.cases);
        print_backends(bench);
    }
    return !test.err.status && !*test.difference;
}

static bool ask_variant(void *arg, const struct gi_variant *variant)
{
    struct test *test = arg;
    test->variant = variant;
    for (int type = GI_U8; type <= GI_F32 && !variant->heavy; type++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++) {
            test->err = (struct gi_err){0};
            test_image(test, 19, 13, channels, (enum gi_type)type);
        }
    return test->err.status != GI_E_MEMORY;
}

enum gi_status gi_selftest_ask(const struct gi_filter *filter, struct gi_queue *queue,
                               struct gi_err *err)
{
    struct gi_backends bench = {.backends = {{.queue = queue}}, .n = 1};
    struct test test = {.bench = &bench, .filter = filter};
    gi_variants_walk(filter, ask_variant, &test);
    if (test.err.status == GI_E_MEMORY)
        *err = test.err;
    return err->status;
}

/* Runs the mixed batch on several queues of each backend with all threads of the machine, or with a
 * whole GPU, and prints one line. Returns false if a result differs. */
static bool test_mixed(struct gi_backends *bench, char **operands, int noperands,
                       struct gi_err *err)
{
    struct gi_mixed *mixed;
    char difference[512] = "";
    int runs = 0;
    enum gi_status status =
        gi_mixed_new(&mixed, operands, noperands, bench->backends[0].queue, err);
    for (int i = 1; i < bench->n && !status && !*difference; i++) {
        const struct gi_backend *backend = &bench->backends[i];
        if (backend->may_be_full || (backend->queue->k->kind == GI_DEVICE_CPU && !backend->repeats))
            continue;
        runs += gi_mixed_run(mixed, backend->queue->device, difference);
        if (*difference)
            printf("%-16s DIFFERS: %s: %s\n", "mixed batch", backend->detail, difference);
    }
    if (status)
        printf("%-16s failed  %s\n", "mixed batch", err->text);
    else if (!*difference) {
        printf("%-16s equal   %6d runs on", "mixed batch", runs);
        print_backends(bench);
    }
    gi_mixed_free(&mixed);
    return !status && !*difference;
}

struct selftest_params {
    const char *device;
    bool quick, digest;
};

/* Prints a digest of the results that one backend computes, for each operation, and then one of all
 * lines printed before. Errors: those of the operations. */
static enum gi_status print_digests(const struct gi_backends *bench, char **operands, int noperands,
                                    struct gi_err *err)
{
    struct gi_digest all;
    char text[GI_DIGEST_TEXT], line[128];
    gi_digest_begin(&all, false);
    for (int i = 0; gi_filters[i]; i++) {
        const struct gi_filter *filter = gi_filters[i];
        struct gi_backends one = {.backends = {bench->backends[0]}, .n = 1};
        struct gi_digest digest;
        struct test test = {.bench = &one, .filter = filter, .quick = true, .digest = &digest};
        if (!gi_operation_is_named(filter->name, operands, noperands))
            continue;
        gi_digest_begin(&digest, false);
        gi_variants_walk(filter, test_variant, &test);
        if (test.err.status)
            return gi_fail(err, test.err.status, "%s: %s", filter->name, test.err.text);
        gi_digest_end(&digest, text);
        snprintf(line, sizeof line, "%s  %s\n", text, filter->name);
        gi_digest_bytes(&all, line, strlen(line));
        fputs(line, stdout);
        if (gi_cli_flush(err))
            return err->status;
    }
    gi_digest_end(&all, text);
    printf("%s  all on %s\n", text, bench->backends[0].name);
    return GI_OK;
}

static enum gi_status run_selftest(const struct gi_command *self, void *const *params,
                                   char **operands, int noperands, struct gi_err *err)
{
    const struct selftest_params *p = params[0];
    struct gi_backends bench = {0};
    struct gi_err skipped = {0};
    enum gi_status status = gi_operations_check(operands, noperands, err);
    if (!status)
        status = p->digest ? gi_backends_add_best(&bench, p->device, err)
                           : gi_backends_add_cpu(&bench, err);
    if (!status && !p->digest)
        status = gi_backends_add_cuda(&bench, p->device, &skipped, err);
    if (!status && p->digest) {
        status = print_digests(&bench, operands, noperands, err);
        gi_backends_close(&bench);
        return status;
    }
    int wrong = 0;
    for (int i = 0; !status && gi_filters[i]; i++)
        if (gi_operation_is_named(gi_filters[i]->name, operands, noperands)) {
            wrong += !test_operation(&bench, gi_filters[i], p->quick);
            status = gi_cli_flush(err);
        }
    if (!status) {
        wrong += !test_mixed(&bench, operands, noperands, err);
        status = gi_cli_flush(err);
    }
    gi_backends_close(&bench);
    if (status)
        return status;
    if (*skipped.text)
        printf("CUDA: skipped, %s\n", skipped.text);
    return wrong ? gi_fail(err, GI_E_DIFFERENT, "%d of these tests failed", wrong) : GI_OK;
}

static const struct gi_option options[] = {
    {GI_OPTION("device", TEXT, struct selftest_params, device), .metavar = "auto|cpu|cuda[:N]",
     .help = "The devices that are tested: \"auto\" tests the CPU and every CUDA device; "
             "\"cuda\" tests the CPU and one CUDA device, which must exist; \"cpu\" tests only "
             "the CPU"},
    {GI_OPTION("digest", FLAG, struct selftest_params, digest),
     .help = "Compare with another machine: print the SHA-256 of the results of each operation on "
             "the CPU, or with --device cuda on the GPU, for the images of --quick, and at the end "
             "the SHA-256 of these lines"},
    {GI_OPTION("quick", FLAG, struct selftest_params, quick),
     .help =
         "Take at most about a minute: leave out the images of 257 x 129 pixels, and those of 2 "
         "and 3 channels except at 19 x 3 pixels; the largest that remain have 31 x 33 and "
         "67 x 5, and only these run with several threads"},
    {0},
};

const struct gi_command gi_command_selftest = {
    .name = "selftest",
    .operands = "[OPERATION...]",
    .summary = "Check that all backends of this machine give the same bytes",
    .manual =
        "Compares the result of every operation with a reference, which is computed by "
        "plain C code on one thread. The operations run with many combinations of sample "
        "types, channels, border modes, sizes and options: on the CPU at every instruction "
        "level that it has, with one thread and with several, and on every CUDA device, "
        "with whole images and in bands. A line is printed per operation. If a result "
        "differs, the first difference is printed, and the exit status is 1.\n\n"
        "At the end a mixed batch runs different operations, options, sizes, sample types "
        "and channels at the same time, on eight queues per device and per instruction "
        "level of the CPU, with a thread per queue. Its results are compared with the "
        "reference too.\n\n"
        "--digest compares machines that do not see each other: equal programs print the same "
        "lines on every processor, GPU and compiler.",
    .examples =
        "gpuimg selftest\ngpuimg selftest --quick\ngpuimg selftest gaussian --device cuda:1\n"
        "gpuimg selftest --digest | tail -1",
    .max_operands = -1,
    .sets = {{"Options", options, sizeof(struct selftest_params)}},
    .run = run_selftest,
};
