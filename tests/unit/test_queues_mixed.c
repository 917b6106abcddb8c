/* Every operation runs on 8 queues of one device or of several devices at once, each with another
 * image, and the results equal those of one queue of the CPU. Sizes, sample types, channels and
 * option values differ between the threads, so that a kernel is launched with different shared
 * memory, grids and tables at the same time. A test with equal shapes once hid a race. Sources:
 * filters kernels device SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <time.h>

#include "filter_cases.h"
#include "kernels/ways.h"

enum {
    SEED = 20261124,
    THREADS = 8,
    CASES = 24, /* per operation */
    /* per operation when all operations run; large enough that every primitive is used */
    CASES_OF_ALL = 8,
#ifdef __SANITIZE_ADDRESS__
    CASES_OF_THE_CPU = 4,
    CASES_OF_A_LEVEL = 1, /* of a level that is not the best, and of two devices */
#else
    CASES_OF_THE_CPU = CASES_OF_ALL,
    CASES_OF_A_LEVEL = 2,
#endif
    /* how often random options are made until they are compatible */
    TRIES = 60,
    SIDE_MAX = 400,
    /* a case with a larger gi_cost.other + gi_cost.fmas, times its samples, is left out */
    WORK_MAX = 40000000,
    USES_MAX = 256,
    PRIMITIVES_MAX = 96,
};

/* An operation with its options on an image, and the result that one thread of the CPU computes. */
struct piece {
    void *params;
    struct gi_image srcs[GI_SOURCES_MAX];
    struct gi_pipeline *pipeline;
    struct gi_image want; /* if the operation makes an image */
    void *result;         /* if it measures */
};

static const struct gi_filter *filter; /* the operation under test */
static struct piece pieces[CASES];
static int npieces;

/* The primitives that have run on the device, and the number of results that were compared. */
static const char *seen[PRIMITIVES_MAX];
static int nseen;
static unsigned long compared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Sets an option to a random value. Choices and flags change with `turn` from case to case, so that
 * all of their values occur. */
static void set_random(void *params, const struct gi_option *row, uint64_t *seed, int turn)
{
    char text[64] = "";
    double part = (double)case_between(seed, 0, 1000) / 1000, low = row->min, high = row->max;
    bool ranged = row->min != 0 || row->max != 0;
    switch (row->type) {
    case GI_OPT_INT:
    case GI_OPT_ODD:
    case GI_OPT_REAL:
        if (!ranged)
            return;
        high = low >= 0 && high > 60 ? fmax(low, 60) : high; /* the values that are mostly used */
        low += part * part * (high - low);
        low = row->type == GI_OPT_REAL  ? low
              : row->type == GI_OPT_ODD ? 2 * floor(low / 2) + 1
                                        : floor(low);
        snprintf(text, sizeof text, "%.9g", low);
        break;
    case GI_OPT_CHOICE: {
        int n = 0;
        while (row->choices[n].name)
            n++;
        snprintf(text, sizeof text, "%s", row->choices[turn % n].name);
        break;
    }
    case GI_OPT_LEVEL:
    case GI_OPT_EXTENT:
        snprintf(text, sizeof text, "%d%%", case_between(seed, 5, 150));
        break;
    case GI_OPT_FLAG:
        if (turn % 3 == 0)
            gi_option_read(params, row, NULL, NULL);
        return;
    default:
        return;
    }
    gi_option_read(params, row, text, NULL);
}

/* Makes random options in addition to those of the example, and a random image. The pipeline stays
 * NULL if the options are incompatible or the work is too heavy. */
static void try_piece(struct piece *piece, uint64_t *seed, int tries)
{
    *piece = (struct piece){.params = calloc(1, filter->params_nbytes)};
    gi_options_example(piece->params, filter->options);
    for (const struct gi_option *row = filter->options; row->name; row++)
        if (tries > 1 && (row->type == GI_OPT_CHOICE || row->type == GI_OPT_FLAG ||
                          case_between(seed, 0, 2) == 0))
            set_random(piece->params, row, seed, npieces + tries + (int)(row - filter->options));
    if (filter->ask_all)
        filter->ask_all(piece->params);
    if (filter->check && filter->check(piece->params, NULL))
        return;
    enum gi_type type = (enum gi_type)case_between(seed, 0, 2);
    int width = case_between(seed, 1, SIDE_MAX), height = case_between(seed, 1, SIDE_MAX),
        channels = case_between(seed, 1, GI_MAX_CHANNELS),
        n = 1 + gi_filter_others(filter, piece->params);
    for (int i = 0; i < n; i++) {
        assert_int_equal(gi_image_alloc(&piece->srcs[i], width, height, channels, type, NULL),
                         GI_OK);
        case_fill(&piece->srcs[i], seed);
    }
    struct gi_plan plan;
    if (gi_plan_make(&plan, filter, piece->params, piece->srcs, n, NULL))
        return;
    double samples =
        (double)fmax(width, plan.result.width) * fmax(height, plan.result.height) * channels;
    bool heavy = (plan.cost.other + plan.cost.fmas) * samples > WORK_MAX;
    gi_plan_free(&plan);
    struct gi_step step = {
        .filter = filter, .params = piece->params, .others = piece->srcs + 1, .nothers = n - 1};
    if (!heavy && gi_pipeline_new(&piece->pipeline, &step, 1, piece->srcs, NULL, NULL))
        piece->pipeline = NULL;
}

static enum gi_status run_piece(struct gi_queue *queue, const struct piece *piece,
                                struct gi_image *dst, void *result, struct gi_err *err)
{
    struct gi_side side = {.others = piece->srcs + 1, .result = result};
    return gi_pipeline_run(piece->pipeline, queue, filter->run ? dst : NULL, piece->srcs, &side,
                           NULL, err);
}

static void free_piece(struct piece *piece)
{
    if (piece->result && filter->result_free)
        filter->result_free(piece->result);
    free(piece->result);
    gi_image_free(&piece->want);
    gi_pipeline_free(&piece->pipeline);
    for (int i = 0; i < GI_SOURCES_MAX; i++)
        gi_image_free(&piece->srcs[i]);
    free(piece->params);
    *piece = (struct piece){0};
}

/* Fills `pieces` with at most `cases` pieces of work for the operation. */
static void make_pieces(struct gi_queue *cpu, int cases, uint64_t *seed)
{
    for (npieces = 0; npieces < cases; npieces++) {
        struct piece *piece = &pieces[npieces];
        for (int tries = TRIES; tries > 0; tries--) {
            try_piece(piece, seed, tries);
            if (piece->pipeline && filter->result_nbytes)
                piece->result = calloc(1, filter->result_nbytes);
            if (piece->pipeline && !run_piece(cpu, piece, &piece->want, piece->result, NULL))
                break;
            free_piece(piece);
        }
        if (!piece->pipeline)
            break;
    }
    if (npieces == 0)
        fail_msg("%s: no options go together", filter->name);
}

static void note_primitives(struct gi_queue *queue)
{
    struct gi_way_use uses[USES_MAX];
    int n = gi_queue_ways(queue, uses, USES_MAX);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (k < nseen && strcmp(seen[k], uses[i].primitive) != 0)
            k++;
        if (k == nseen && nseen < PRIMITIVES_MAX)
            seen[nseen++] = uses[i].primitive;
    }
    pthread_mutex_unlock(&lock);
}

/* A thread that has its own queue. Only the main thread may use cmocka's assertions, so the other
 * threads record their first difference. */
struct worker {
    pthread_t thread;
    struct gi_device *device;
    int number, rounds;
    unsigned long compared;
    char wrong[256];
};

static bool check_piece(struct worker *worker, struct gi_queue *queue, const struct piece *piece)
{
    struct gi_image got = {0};
    struct gi_err err = {0};
    void *result = filter->result_nbytes ? calloc(1, filter->result_nbytes) : NULL;
    enum gi_status status = run_piece(queue, piece, &got, result, &err);
    bool equal = !status && (filter->run ? case_is_equal(&piece->want, &got)
                                         : filter->result_equal(piece->result, result));
    if (!equal)
        snprintf(worker->wrong, sizeof worker->wrong, "%s: case %d, %d x %d x %d, type %d: %.120s",
                 filter->name, (int)(piece - pieces), piece->srcs[0].width, piece->srcs[0].height,
                 piece->srcs[0].channels, (int)piece->srcs[0].type,
                 status ? err.text : "another result");
    gi_image_free(&got);
    if (result && filter->result_free)
        filter->result_free(result);
    free(result);
    return equal;
}

static void *work(void *arg)
{
    struct worker *worker = arg;
    struct gi_queue *queue;
    struct gi_err err = {0};
    if (worker->device->k->queue_open(&queue, worker->device, &err)) {
        snprintf(worker->wrong, sizeof worker->wrong, "%.200s", err.text);
        return NULL;
    }
    for (int i = 0; i < worker->rounds * npieces && !*worker->wrong; i++)
        if (check_piece(worker, queue, &pieces[(i * 5 + worker->number * 7) % npieces]))
            worker->compared++;
    note_primitives(queue);
    worker->device->k->queue_close(&queue);
    return NULL;
}

/* Runs all operations on queues of these devices, which are all of one kind. */
static void run_mixed(struct gi_device *const *devices, int ndevices, int cases, int rounds)
{
    const struct gi_kernels *k = devices[0]->k;
    struct gi_queue *cpu;
    uint64_t seed = SEED;
    char wrong[1024] = "";
    compared = 0;
    nseen = 0;
    cpu = case_open(gi_kernels_cpu(), 1);
    for (int f = 0; gi_filters[f]; f++) {
        struct worker workers[THREADS] = {0};
        filter = gi_filters[f];
        make_pieces(cpu, cases, &seed);
        for (int i = 0; i < THREADS; i++) {
            workers[i].device = devices[i % ndevices];
            workers[i].number = i;
            workers[i].rounds = rounds;
            assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
            compared += workers[i].compared;
        }
        for (int i = 0; i < THREADS; i++)
            if (*workers[i].wrong)
                snprintf(wrong + strlen(wrong), sizeof wrong - strlen(wrong), "%s\n",
                         workers[i].wrong);
        for (int i = 0; i < npieces; i++)
            free_piece(&pieces[i]);
    }
    gi_queue_close_alone(&cpu);
    print_message("%s: %lu results of %d threads equal, %d primitives\n", k->name, compared,
                  THREADS, nseen);
    if (*wrong)
        fail_msg("%s", wrong);
    for (int t = 0; cases >= CASES_OF_ALL && k->ways[t]; t++) {
        const char *primitive = k->ways[t]->primitive;
        int i = 0;
        while (i < nseen && strcmp(seen[i], primitive) != 0)
            i++;
        /* No operation codes JPEG: that is done where images enter and leave a pipeline. */
        if (i == nseen && strncmp(primitive, "jpeg_", 5) != 0)
            fail_msg("%s: no case has used it", primitive);
    }
}

static void on_the_cpu(void **state)
{
    (void)state;
    for (int l = 0; l < CASE_LEVELS; l++) {
        const struct gi_kernels *k = gi_kernels_cpu_level(case_levels[l]);
        if (!k)
            continue;
        struct gi_device *device = case_device(k, 0, 2);
        run_mixed(&device, 1, k == gi_kernels_cpu() ? CASES_OF_THE_CPU : CASES_OF_A_LEVEL, 1);
        case_close_device(device);
    }
}

static void on_two_devices(void **state)
{
    (void)state;
    struct gi_device *two[] = {case_device(gi_kernels_cpu(), 0, 2),
                               case_device(gi_kernels_cpu(), 0, 4)};
    run_mixed(two, 2, CASES_OF_A_LEVEL, 1);
    case_close_device(two[0]);
    case_close_device(two[1]);
}

static void on_gpus(int n)
{
    const char *rounds = getenv("GPUIMG_TEST_ROUNDS"); /* few under compute-sanitizer */
    struct gi_device *devices[2];
    if (!case_cuda(n))
        skip();
    for (int i = 0; i < n; i++)
        devices[i] = case_device(gi_kernels_cuda(), i, 2);
    run_mixed(devices, n, CASES, rounds ? atoi(rounds) : 3);
    for (int i = 0; i < n; i++)
        case_close_device(devices[i]);
}

static void on_a_gpu(void **state)
{
    (void)state;
    on_gpus(1);
}

static void on_two_gpus(void **state)
{
    (void)state;
    on_gpus(2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_the_cpu),
        cmocka_unit_test(on_two_devices),
        cmocka_unit_test(on_a_gpu),
        cmocka_unit_test(on_two_gpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
