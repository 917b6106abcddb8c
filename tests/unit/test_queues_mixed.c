/* Every operation runs on 8 queues of one device or of several devices at once, and the results
 * equal those of one queue of the CPU. Sizes, sample types, channels and option values differ
 * between the threads, so that a kernel is launched with different shared memory, grids and tables
 * at the same time. A test with equal shapes once hid a race. The pieces of work are those of the
 * mixed batch of `gpuimg selftest`.
 * Sources: filters kernels device
 * SPDX-License-Identifier: MIT */
#include <pthread.h>

#include "cases.h"
#include "kernels/kernels.h"

#include "cli/commands/selftest.h"

/* AddressSanitizer finds no races between devices, and without it the same test runs two. */
#ifdef __SANITIZE_ADDRESS__
enum { CPU_DEVICES = 1 };
#else
enum { CPU_DEVICES = 2 };
#endif

static struct gi_queue *reference; /* one thread of the CPU */
static struct gi_mixed *mixed;

/* A device whose queues run all pieces, `rounds` times. Only the main thread may use cmocka's
 * assertions, so the other threads record the first difference. */
struct worker {
    pthread_t thread;
    struct gi_device *device;
    int rounds, runs;
    char difference[512];
};

static void *work(void *arg)
{
    struct worker *worker = arg;
    for (int i = 0; i < worker->rounds && !*worker->difference; i++)
        worker->runs += gi_mixed_run(mixed, worker->device, worker->difference);
    return NULL;
}

/* Runs the pieces on `n` devices of one kind at once. */
static void run_mixed(const struct gi_kernels *k, int n, int rounds)
{
    struct worker workers[2] = {0};
    for (int i = 0; i < n; i++) {
        int ordinal = k->kind == GI_DEVICE_CUDA ? i : 0;
        workers[i] =
            (struct worker){.device = case_device(k, ordinal, 2 + 2 * i), .rounds = rounds};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < n; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        print_message("%s: %d results equal\n", k->name, workers[i].runs);
        case_close_device(workers[i].device);
    }
    for (int i = 0; i < n; i++)
        if (*workers[i].difference)
            fail_msg("%s", workers[i].difference);
}

/* Runs the levels below the highest one, which two devices run. */
TEST(on_the_cpu)
{
    for (int l = 0; l < CASE_LEVELS; l++) {
        const struct gi_kernels *k = gi_kernels_cpu_level(case_levels[l]);
        if (k && k != gi_kernels_cpu())
            run_mixed(k, 1, 1);
    }
}

TEST(on_two_devices)
{
    run_mixed(gi_kernels_cpu(), CPU_DEVICES, 1);
}

static void on_gpus(int n)
{
    const char *rounds = getenv("GPUIMG_TEST_ROUNDS"); /* few under compute-sanitizer */
    if (!case_cuda(n))
        skip();
    run_mixed(gi_kernels_cuda(), n, rounds ? atoi(rounds) : 10);
}

TEST(on_a_gpu)
{
    on_gpus(1);
}

TEST(on_two_gpus)
{
    on_gpus(2);
}

static int start(void **state)
{
    struct gi_err err = {0};
    reference = case_open(gi_kernels_cpu_level("scalar"), 1);
    if (gi_mixed_new(&mixed, NULL, 0, reference, &err))
        fail_msg("%s", err.text);
    return 0;
}

static int end(void **state)
{
    gi_mixed_free(&mixed);
    gi_queue_close_alone(&reference);
    return 0;
}

TEST_FRAME(.first = start, .last = end)
