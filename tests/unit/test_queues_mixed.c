/* Every operation runs on 8 queues of one device or of several devices at once, each with another
 * image, and the results equal those of one queue of the CPU. Sizes, sample types, channels and
 * option values differ between the threads, so that a kernel is launched with different shared
 * memory, grids and tables at the same time. A test with equal shapes once hid a race. Sources:
 * filters kernels device SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <unistd.h>

#include "imgio_folder.h"
#include "kernels/kernels.h"
#include "walk_case.h"

#include "cli/commands.h"
#include "cli/log.h"
#include "kernels/ways.h"

enum {
    /* With these seeds the CPU's and the GPU's number of cases use every primitive. */
    SEED = 20261124,
    SEED_OF_A_GPU = 20261126,
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
    USES_MAX = 256,
    PRIMITIVES_MAX = 96,
};

/* An operation with its options on an image, and the result that one thread of the CPU computes. */
struct piece {
    struct walk_case c;
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

static enum gi_status run_piece(struct gi_queue *queue, const struct piece *piece,
                                struct gi_image *dst, void *result, struct gi_err *err)
{
    struct gi_side side = {.others = piece->c.steps[0].others, .result = result};
    return gi_pipeline_run(piece->c.pipeline, queue, filter->run ? dst : NULL, &piece->c.src, &side,
                           NULL, err);
}

static void free_piece(struct piece *piece)
{
    if (piece->result && filter->result_free)
        filter->result_free(piece->result);
    free(piece->result);
    gi_image_free(&piece->want);
    free_case(&piece->c, false);
    *piece = (struct piece){0};
}

/* Fills `pieces` with pieces of work for the operation. */
static void make_pieces(struct gi_queue *cpu, int cases, uint64_t *seed)
{
    for (npieces = 0; npieces < cases;) {
        struct piece *piece = &pieces[npieces];
        draw_single(&piece->c, filter, npieces, *seed);
        *seed = piece->c.seed;
        if (filter->result_nbytes)
            piece->result = calloc(1, filter->result_nbytes);
        if (run_piece(cpu, piece, &piece->want, piece->result, NULL))
            free_piece(piece);
        else
            npieces++;
    }
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
                 filter->name, (int)(piece - pieces), piece->c.src.width, piece->c.src.height,
                 piece->c.src.channels, (int)piece->c.src.type,
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
static void run_mixed(struct gi_device *const *devices, int ndevices, int cases, int rounds,
                      uint64_t seed)
{
    const struct gi_kernels *k = devices[0]->k;
    struct gi_queue *cpu;
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
        /* No operation codes files: that is done where images enter and leave a pipeline. */
        if (i == nseen && strncmp(primitive, "jpeg_", 5) != 0 && strncmp(primitive, "png_", 4) != 0)
            fail_msg("%s: no case has used it", primitive);
    }
}

TEST(on_the_cpu)
{
    for (int l = 0; l < CASE_LEVELS; l++) {
        const struct gi_kernels *k = gi_kernels_cpu_level(case_levels[l]);
        if (!k)
            continue;
        struct gi_device *device = case_device(k, 0, 2);
        run_mixed(&device, 1, k == gi_kernels_cpu() ? CASES_OF_THE_CPU : CASES_OF_A_LEVEL, 1, SEED);
        case_close_device(device);
    }
}

TEST(on_two_devices)
{
    struct gi_device *two[] = {case_device(gi_kernels_cpu(), 0, 2),
                               case_device(gi_kernels_cpu(), 0, 4)};
    run_mixed(two, 2, CASES_OF_A_LEVEL, 1, SEED);
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
    run_mixed(devices, n, CASES, rounds ? atoi(rounds) : 3, SEED_OF_A_GPU);
    for (int i = 0; i < n; i++)
        case_close_device(devices[i]);
}

TEST(on_a_gpu)
{
    on_gpus(1);
}

TEST(on_two_gpus)
{
    on_gpus(2);
}

/* In a folder for the images that options name. */
static int start(void **state)
{
    gi_commands_use(gi_command_rows);
    gi_cli_quiet(true);
    return enter_folder(state);
}

TEST_FRAME(.first = start, .last = leave_folder)
