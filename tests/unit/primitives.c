/* The walk over primitives (primitives.h).
 * SPDX-License-Identifier: MIT */
#include "kernels/kernels.h"
#include "primitives.h"

#include <pthread.h>

enum {
    SEED = 20261122,
    LEVELS = 4,
    THREAD_COUNTS = 4,
    WAYS_MAX = 16,
    USES_MAX = 64,
    PRIMITIVES_MAX = 64,
    /* number of cases of each row that are kept, to run again on several queues at once */
    KEPT = 12,
    QUEUES = 4, /* at once */
    /* Cases with more samples are not kept, and do not run with each number of threads. */
    BIG = 30 * 1000,
};

/* ---- queues ---- */

/* A backend at one instruction level, and how often each way has run. The queues have different
 * numbers of threads; the first queue is for forced ways. */
struct backend {
    const char *name;
    struct gi_queue *queues[THREAD_COUNTS];
    int nqueues;
    unsigned ran[PRIMITIVES_MAX][WAYS_MAX];
};
static const int threads[THREAD_COUNTS] = {3, 1, 2, 7};
static struct backend backends[LEVELS + 1];
static int nbackends;

static void open_backend(const char *name, const struct gi_kernels *k, int nqueues)
{
    struct backend *b = &backends[nbackends++];
    b->name = name;
    while (b->nqueues < nqueues) {
        b->queues[b->nqueues] = case_open(k, threads[b->nqueues]);
        b->nqueues++;
    }
}

static int open_all(void **state)
{
    struct gi_err err = {0};
    for (int i = 0; i < CASE_LEVELS; i++) {
        const struct gi_kernels *k = gi_kernels_cpu_level(case_levels[i]);
        if (k)
            open_backend(case_levels[i], k, THREAD_COUNTS);
        else
            print_message("not tested: this machine has no %s\n", case_levels[i]);
    }
    const struct gi_kernels *cuda = gi_kernels_cuda();
    if (cuda && cuda->probe(NULL, 0, &err) > 0)
        open_backend("cuda", cuda, 1);
    else
        print_message("not tested: %s\n", cuda ? "no CUDA device" : "built without CUDA");
    return 0;
}

static int close_all(void **state)
{
    for (; nbackends > 0; nbackends--)
        for (int i = 0; i < backends[nbackends - 1].nqueues; i++)
            gi_queue_close_alone(&backends[nbackends - 1].queues[i]);
    return 0;
}

/* ---- failures ---- */

static void fail_case(const struct walk_case *c, const char *backend, const char *how,
                      const char *wrong)
{
    fail_msg("%s (%s), case %d: %s, %s: %d x %d x %d, type %d, border %d: %s", c->row->primitive,
             c->row->what, c->turn, backend, how, c->width, c->height, c->channels, (int)c->type,
             (int)c->border, wrong);
}

static void run_or_fail(struct gi_queue *queue, const struct walk_case *c, int where,
                        const char *backend, const char *how)
{
    char wrong[400];
    if (walk_run(queue, c, where, wrong, sizeof wrong) != WALK_EQUAL)
        fail_case(c, backend, how, wrong);
}

/* ---- the walk ---- */

/* Returns the way of the case's primitive that has run on the queue, or NULL if several have. */
static const char *way_run(const struct gi_queue *queue, const struct walk_case *c)
{
    struct gi_way_use uses[USES_MAX];
    const char *way = NULL;
    int n = gi_queue_ways(queue, uses, USES_MAX);
    assert_in_range(n, 0, USES_MAX);
    for (int i = 0; i < n; i++)
        if (strcmp(uses[i].primitive, c->row->primitive) == 0) {
            if (way)
                return NULL;
            way = uses[i].way;
        }
    return way;
}

/* Runs the case by default, and by each way that has not run by default. */
static void run_ways(struct backend *b, const struct walk_case *c)
{
    struct gi_queue *queue = b->queues[0];
    const struct gi_ways *ways = gi_ways_find(queue->k, c->row->primitive);
    size_t p = walk_number(c->row->primitive);
    char text[80], wrong[400];
    gi_queue_ways_close(queue); /* clears the list of ways that have run */
    assert_int_equal(gi_queue_ways_open(queue, NULL), GI_OK);
    run_or_fail(queue, c, WALK_APART, b->name, "by default");
    const char *chosen = way_run(queue, c);
    for (int i = 0; ways && gi_way_at(ways, i); i++) {
        const char *name = gi_way_at(ways, i)->name;
        if (chosen && strcmp(name, chosen) == 0) {
            b->ran[p][i]++;
            continue;
        }
        snprintf(text, sizeof text, "%s:%s", c->row->primitive, name);
        assert_int_equal(gi_queue_force_ways(queue, text, NULL), GI_OK);
        enum walk_outcome outcome = walk_run(queue, c, WALK_APART, wrong, sizeof wrong);
        if (outcome == WALK_DIFFERENT ||
            (outcome == WALK_NOT_TAKEN && !strstr(wrong, "does not take this work")))
            fail_case(c, b->name, text, wrong);
        b->ran[p][i] += outcome == WALK_EQUAL;
    }
    assert_int_equal(gi_queue_force_ways(queue, NULL, NULL), GI_OK);
}

static void check_sources(const struct walk_case *c)
{
    for (int i = 0; i < c->nsrcs; i++)
        if (!guard_is_whole(&c->srcs[i]))
            fail_case(c, "any", "source", "bytes around it have changed");
}

static void check(const struct walk_case *c)
{
    bool big = (long)c->width * c->height * c->channels > BIG;
    for (int i = 0; i < nbackends; i++) {
        struct backend *b = &backends[i];
        if (!walk_exists(b->queues[0]->k, c->row->primitive))
            continue;
        run_ways(b, c);
        for (int where = 0; c->row->in_place >> where; where++)
            if (c->row->in_place >> where & 1 && where <= c->nothers)
                run_or_fail(b->queues[0], c, where, b->name, "in place");
        for (int q = 1; (!big || c->turn % 4 == 0) && c->turn % 3 == 0 && q < b->nqueues; q++)
            run_or_fail(b->queues[q], c, WALK_APART, b->name, "with other threads");
    }
    check_sources(c);
}

/* One of several threads that use a device. Each thread has its own queue and its own case. */
struct worker {
    pthread_t thread;
    struct gi_device *device;
    const struct walk_case *cases;
    int ncases, number, wrong_case;
    char wrong[400];
};

static void *work(void *arg)
{
    struct worker *w = arg;
    struct gi_queue *queue;
    struct gi_err err = {0};
    if (w->device->k->queue_open(&queue, w->device, &err)) {
        snprintf(w->wrong, sizeof w->wrong, "%.300s", err.text);
        return NULL;
    }
    for (int i = 0; i < w->ncases && !*w->wrong; i++) {
        char wrong[sizeof w->wrong];
        w->wrong_case = (i * 5 + w->number * 3) % w->ncases;
        if (walk_run(queue, &w->cases[w->wrong_case], WALK_APART, wrong, sizeof wrong) !=
            WALK_EQUAL)
            snprintf(w->wrong, sizeof w->wrong, "%s", *wrong ? wrong : "failed");
    }
    w->device->k->queue_close(&queue);
    return NULL;
}

static void check_at_once(const struct walk_case *cases, int n)
{
    for (int i = 0; n > 1 && i < nbackends; i++) {
        struct worker workers[QUEUES] = {0};
        struct gi_device *device;
        struct gi_open_options options = {.threads = 2};
        const struct gi_kernels *k = backends[i].queues[0]->k;
        if (!walk_exists(k, cases->row->primitive))
            continue;
        assert_int_equal(k->device_open(&device, &options, NULL), GI_OK);
        for (int t = 0; t < QUEUES; t++) {
            workers[t].device = device;
            workers[t].cases = cases;
            workers[t].ncases = n;
            workers[t].number = t;
            assert_int_equal(pthread_create(&workers[t].thread, NULL, work, &workers[t]), 0);
        }
        for (int t = 0; t < QUEUES; t++)
            assert_int_equal(pthread_join(workers[t].thread, NULL), 0);
        for (int t = 0; t < QUEUES; t++)
            if (*workers[t].wrong)
                fail_case(&cases[workers[t].wrong_case], backends[i].name, "several queues",
                          workers[t].wrong);
        k->device_close(&device);
    }
}

/* Leaves cases out because a case takes ten times as long under AddressSanitizer, and a hundred
 * times as long under compute-sanitizer (which sets GPUIMG_TEST_QUICK). */
static bool is_left_out(int turn)
{
#ifdef __SANITIZE_ADDRESS__
    return turn % 7 > 1;
#else
    return getenv("GPUIMG_TEST_QUICK") && turn % 16;
#endif
}

/* Returns the sample types that a primitive takes, as bits, or 0 if no backend here has it. */
static unsigned types_of(const char *primitive)
{
    const struct gi_ways *ways = NULL;
    for (int i = 0; i < nbackends && !ways; i++)
        ways = gi_ways_find(backends[i].queues[0]->k, primitive);
    return ways ? ways->types : 0;
}

static void walk_row(const struct walk_row *row)
{
    static const int usual[][2] = {{1, 1}, {1, 17}, {17, 1}, {31, 33}, {67, 5}, {257, 129}, {0, 0}};
    const int(*sizes)[2] = row->sizes ? row->sizes : usual;
    const unsigned types = types_of(row->primitive);
    struct walk_case kept[KEPT];
    uint64_t seed = SEED;
    int turn = 0, nkept = 0;
    for (int s = 0; sizes[s][0]; s++)
        for (int type = GI_U8; type <= GI_F32; type++)
            for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
                for (int border = 0; border < CASE_BORDERS; border++) {
                    bool large = (long)sizes[s][0] * sizes[s][1] > 20000;
                    struct walk_case c = {.row = row,
                                          .type = (enum gi_type)type,
                                          .channels = channels,
                                          .width = sizes[s][0],
                                          .height = sizes[s][1],
                                          .border = (enum gi_border)border,
                                          .turn = turn,
                                          .large = large,
                                          .seed = &seed};
                    if (!(types >> type & 1) ||
                        ((row->few || large) && border != (channels + type + s) % CASE_BORDERS))
                        continue;
                    if (is_left_out(turn++))
                        continue;
                    row->draw(&c);
                    if (c.nsrcs == 0) { /* the primitive does not take such images */
                        walk_free(&c);
                        continue;
                    }
                    row->define(&c);
                    check(&c);
                    if (nkept < KEPT && turn % 11 == 0 && sizes[s][0] * sizes[s][1] < BIG)
                        kept[nkept++] = c;
                    else
                        walk_free(&c);
                }
    check_at_once(kept, nkept);
    while (nkept > 0)
        walk_free(&kept[--nkept]);
}

static const struct walk_row *walked;
static size_t nwalked;

static bool is_wanted(const struct walk_row *row)
{
    bool found = test_nwords == 0;
    for (int i = 0; i < test_nwords; i++)
        found |= strstr(row->primitive, test_words[i]) != NULL;
    return found;
}

static void every_way(void **state)
{
    print_message("seed %d\n", SEED);
    for (size_t i = 0; i < nwalked; i++)
        if (is_wanted(&walked[i]))
            walk_row(&walked[i]);
}

/* Returns whether this machine has all instructions that the CPU's ways need. */
static bool is_whole_machine(void)
{
#ifdef __x86_64__
    return gi_kernels_cpu_level("avx512") != NULL;
#else
    return false;
#endif
}

/* Returns how often a way has run, summed over all levels of one kind of device. */
static unsigned times_run(enum gi_device_kind kind, const char *primitive, int way)
{
    unsigned ran = 0;
    for (int b = 0; b < nbackends; b++)
        if (backends[b].queues[0]->k->kind == kind)
            ran += backends[b].ran[walk_number(primitive)][way];
    return ran;
}

static void every_way_has_run(void **state)
{
    unsigned never = 0;
    for (int cuda = 0; cuda < 2; cuda++)
        for (size_t r = 0; r < nwalked; r++) {
            const struct gi_kernels *k = cuda ? gi_kernels_cuda() : gi_kernels_cpu();
            const struct gi_ways *ways = gi_ways_find(k, walked[r].primitive);
            bool first = r == 0 || strcmp(walked[r].primitive, walked[r - 1].primitive);
            bool here = cuda ? !strcmp(backends[nbackends - 1].name, "cuda") : is_whole_machine();
            for (int i = 0; ways && first && is_wanted(&walked[r]) && gi_way_at(ways, i); i++) {
                unsigned ran = times_run(k->kind, ways->primitive, i);
                print_message("%s/%s:%s ran %u times\n", k->name, ways->primitive,
                              gi_way_at(ways, i)->name, ran);
                never += here && ran == 0 && !walked[r].some_ways;
            }
        }
    assert_int_equal(never, 0);
}

/* Tests that a sample type that the primitive does not take is refused with a message. */
static void check_refused(struct gi_queue *queue, const char *primitive, enum gi_type type)
{
    static const char *const names[] = {"u8", "u16", "f32", "u32"};
    struct gi_image src, dst;
    struct gi_err err = {0};
    char want[80], spec[4096] = {0};
    snprintf(want, sizeof want, "%s: %s samples: want ", primitive, names[type]);
    assert_int_equal(queue->k->alloc(queue, &src, 5, 3, 3, type, &err), GI_OK);
    assert_int_equal(queue->k->alloc(queue, &dst, 5, 3, 3, type, &err), GI_OK);
    assert_int_equal(walk_call(primitive)(queue, &dst, &src, spec, &err), GI_E_UNSUPPORTED);
    if (strncmp(err.text, want, strlen(want)) != 0)
        fail_msg("\"%s\" says not \"%s\"", err.text, want);
    queue->k->release(queue, &src);
    queue->k->release(queue, &dst);
}

static void other_samples_are_refused(void **state)
{
    for (int b = 0; b < nbackends; b++)
        for (size_t r = 0; r < nwalked; r++) {
            struct gi_queue *queue = backends[b].queues[0];
            const struct gi_ways *ways = gi_ways_find(queue->k, walked[r].primitive);
            for (int type = GI_U8; ways && type <= GI_U32; type++)
                if (!(ways->types >> type & 1))
                    check_refused(queue, walked[r].primitive, (enum gi_type)type);
        }
}

void walk_use(const struct walk_row *rows, size_t nrows)
{
    walked = rows;
    nwalked = nrows;
    test_frame = (struct test_frame){.first = open_all, .last = close_all, .reads_words = true};
    test_add((struct CMUnitTest)cmocka_unit_test(every_way));
    test_add((struct CMUnitTest)cmocka_unit_test(every_way_has_run));
    test_add((struct CMUnitTest)cmocka_unit_test(other_samples_are_refused));
}
