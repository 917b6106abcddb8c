/* Copies between host memory and a device are right while several are in progress, and around the
 * sizes of staging buffers. Also tests tickets, pinned memory and its reuse, limits of memory, and
 * images that do not fit.
 * Sources: device
 * SPDX-License-Identifier: MIT */
#include "cases.h"
#include "kernels/kernels.h"

enum { SEED = 20261122, TICKETS = 40 };

static struct gi_image image_of(const struct gi_allocator *allocator, int side, uint64_t *seed)
{
    struct gi_image image;
    assert_int_equal(gi_image_alloc_from(&image, allocator, side, side, 1, GI_U8, NULL), GI_OK);
    case_fill(&image, seed);
    return image;
}

/* Two uploads are in progress at once, and then two downloads of the same images. The images are in
 * pageable memory (small ones, and large ones that pass through staging buffers) or in pinned
 * memory. */
static void two_in_flight(struct gi_queue *queue, const struct gi_allocator *allocator, int side,
                          uint64_t *seed)
{
    const struct gi_kernels *k = queue->k;
    struct gi_image host[2], device[2], back[2];
    struct gi_ticket tickets[2];
    for (int i = 0; i < 2; i++) {
        host[i] = image_of(allocator, side, seed);
        back[i] = image_of(allocator, side, seed);
        assert_int_equal(k->upload(queue, &device[i], &host[i], &tickets[i], NULL), GI_OK);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(k->wait(queue, &tickets[i], NULL), GI_OK);
        assert_int_equal(tickets[i].number, 0);
        assert_int_equal(k->download_into(queue, &back[i], &device[i], &tickets[i], NULL), GI_OK);
        assert_null(device[i].data);
    }
    for (int i = 1; i >= 0; i--) {
        assert_int_equal(k->wait(queue, &tickets[i], NULL), GI_OK);
        case_equal(&back[i], &host[i], "two in flight");
        gi_image_free(&back[i]);
        gi_image_free(&host[i]);
    }
}

/* Uses more tickets than a queue distinguishes, and waits for the first ticket last. */
static void many_tickets(struct gi_queue *queue, const struct gi_allocator *allocator,
                         uint64_t *seed)
{
    const struct gi_kernels *k = queue->k;
    struct gi_image host[TICKETS], device[TICKETS], back[TICKETS];
    struct gi_ticket tickets[TICKETS];
    for (int i = 0; i < TICKETS; i++) {
        host[i] = image_of(allocator, 100 + i, seed);
        back[i] = image_of(allocator, 100 + i, seed);
        assert_int_equal(k->upload(queue, &device[i], &host[i], &tickets[i], NULL), GI_OK);
        assert_int_equal(k->download_into(queue, &back[i], &device[i], &tickets[i], NULL), GI_OK);
    }
    for (int i = TICKETS - 1; i >= 0; i--) {
        assert_int_equal(k->wait(queue, &tickets[i], NULL), GI_OK);
        case_equal(&back[i], &host[i], "many tickets");
    }
    for (int i = 0; i < TICKETS; i++) {
        gi_image_free(&back[i]);
        gi_image_free(&host[i]);
    }
}

/* Downloads into some rows of a larger image, and tests that the image's other rows are
 * unchanged. */
static void into_rows(struct gi_queue *queue, uint64_t *seed)
{
    const struct gi_kernels *k = queue->k;
    struct gi_image host = image_of(NULL, 90, seed), large = image_of(NULL, 90, seed), device;
    struct gi_image before;
    assert_int_equal(gi_image_convert(&before, &large, GI_U8, NULL), GI_OK);
    struct gi_image some = gi_image_rows(&host, 5, 35), there = gi_image_rows(&large, 30, 60);
    assert_int_equal(k->upload(queue, &device, &some, NULL, NULL), GI_OK);
    assert_int_equal(k->download_into(queue, &there, &device, NULL, NULL), GI_OK);
    case_equal(&there, &some, "rows of a larger image");
    for (int y = 0; y < 90; y++)
        if (y < 30 || y >= 60)
            assert_memory_equal(gi_row(&large, y), gi_row(&before, y), gi_row_nbytes(&large));
    gi_image_free(&before);
    gi_image_free(&large);
    gi_image_free(&host);
}

/* Copies images around the size of a staging buffer, 4 MiB. On the device they are one row, rows
 * without gaps, or rows with gaps. The last image is too large for a copy without staging buffers.
 * These buffers stay, so that all copies of the second round use them. */
static void around_staging(struct gi_queue *queue, uint64_t *seed)
{
    enum { STAGING = 4 << 20, ROWS = STAGING / 1000 };
    static const int sizes[][2] = {{1, 1},           {5, 3},       {STAGING - 1, 1}, {STAGING, 1},
                                   {STAGING + 1, 1}, {1024, 4095}, {1024, 4096},     {1024, 4097},
                                   {1000, ROWS - 1}, {1000, ROWS}, {1000, 4195},     {70001, 130},
                                   {5807, 5801}};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (int i = 0; i < 2 * SIZES; i++) {
        const int *size = sizes[i % SIZES];
        struct gi_image host, device, back;
        host = case_image(size[0], size[1], 1, GI_U8, seed);
        assert_int_equal(queue->k->upload(queue, &device, &host, NULL, NULL), GI_OK);
        assert_int_equal(queue->k->download(queue, &back, &device, NULL, NULL), GI_OK);
        assert_null(device.data);
        case_equal(&back, &host, "around the size of a staging buffer");
        gi_image_free(&back);
        gi_image_free(&host);
    }
}

static void stopwatches(struct gi_queue *queue)
{
    const struct gi_kernels *k = queue->k;
    struct gi_stopwatch *a, *b, *none = NULL;
    assert_int_equal(k->stopwatch_new(&a, queue, 3, NULL), GI_OK);
    assert_int_equal(k->stopwatch_new(&b, queue, 20, NULL), GI_OK);
    k->stopwatch_mark(a, 0);
    k->stopwatch_mark(b, 19);
    k->stopwatch_mark(a, 2);
    k->stopwatch_mark(b, 7);
    k->stopwatch_mark(none, 1);
    assert_int_equal(k->sync(queue, NULL), GI_OK);
    assert_true(k->stopwatch_ms(a, 0, 2) >= 0 && k->stopwatch_ms(b, 19, 7) >= 0);
    k->stopwatch_free(&a);
    k->stopwatch_free(&b);
    k->stopwatch_free(&none);
    assert_null(a);
}

static void copies(const struct gi_kernels *k)
{
    uint64_t seed = SEED;
    struct gi_device *device = case_device(k, 0, 2);
    struct gi_queue *queue;
    assert_int_equal(k->queue_open(&queue, device, NULL), GI_OK);
    const struct gi_allocator *pinned = k->host_allocator(device);
    around_staging(queue, &seed);
    for (int i = 0; i < 2; i++) { /* the second round reuses the memory of the first */
        two_in_flight(queue, NULL, 333, &seed);
        two_in_flight(queue, pinned, 333, &seed);
        many_tickets(queue, NULL, &seed);
        many_tickets(queue, pinned, &seed);
        two_in_flight(queue, NULL, 6001, &seed);
        two_in_flight(queue, pinned, 6001, &seed);
    }
    into_rows(queue, &seed);
    stopwatches(queue);
    k->queue_close(&queue);
    case_close_device(device);
}

TEST(copies_on_the_cpu)
{
    copies(gi_kernels_cpu());
}

TEST(copies_on_a_gpu)
{
    if (!case_cuda(1))
        skip();
    copies(gi_kernels_cuda());
}

/* Queues report their share of the device's maximum of memory. Copies of images of many sizes
 * succeed although these images together exceed the maximum. */
TEST(memory_is_capped)
{
    enum { MAX = 12345678 };
    const struct gi_kernels *k = gi_kernels_cuda();
    const struct gi_open_options options = {.threads = 1, .max_bytes = MAX};
    struct gi_device *device;
    struct gi_queue *queues[2];
    struct gi_device_limits limits;
    uint64_t seed = SEED;
    if (!case_cuda(1))
        skip();
    assert_int_equal(k->device_open(&device, &options, NULL), GI_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(k->queue_open(&queues[i], device, NULL), GI_OK);
        k->limits(queues[i], &limits);
        assert_int_equal(limits.free_nbytes, MAX / (i + 1));
    }
    assert_true(limits.rows >= 32768 && limits.row_nbytes >= 65536);
    for (int side = 300; side < 1600; side += 100)
        two_in_flight(queues[side / 100 % 2], NULL, side, &seed);
    k->limits(queues[0], &limits);
    assert_int_equal(limits.free_nbytes, MAX / 2);
    k->queue_close(&queues[0]);
    k->queue_close(&queues[1]);
    case_close_device(device);
}

/* Memory is pinned only once, also if an image of another thread reuses the memory. */
TEST(pinned_is_kept)
{
    uint64_t seed = SEED;
    if (!case_cuda(1))
        skip();
    struct gi_device *device = case_device(gi_kernels_cuda(), 0, 1);
    const struct gi_allocator *pinned = device->k->host_allocator(device);
    struct gi_image a = image_of(pinned, 1000, &seed), b = image_of(pinned, 1000, &seed);
    void *first = a.data;
    assert_ptr_not_equal(a.data, b.data);
    gi_image_free(&a);
    a = image_of(pinned, 999, &seed);
    assert_ptr_equal(a.data, first);
    gi_image_free(&a);
    gi_image_free(&b);
    case_close_device(device);
}

/* An image that is too large for any device is refused. Afterwards as much memory is free as
 * before. */
TEST(failed_upload)
{
    if (getenv("GPUIMG_TEST_QUICK"))
        printf("skipped: compute-sanitizer takes the failure that is wanted here for a fault\n");
    if (getenv("GPUIMG_TEST_QUICK") || !case_cuda(1))
        skip();
    const struct gi_kernels *k = gi_kernels_cuda();
    struct gi_queue *queue;
    struct gi_device_limits before, after;
    struct gi_err err = {0};
    struct gi_ticket ticket = {0};
    char sample = 0;
    struct gi_image host = {.data = &sample,
                            .stride = 1 << 20,
                            .width = 1 << 20,
                            .height = 1 << 30,
                            .channels = 1,
                            .type = GI_U8};
    struct gi_image dst = {.data = &sample};
    uint64_t seed = SEED;
    queue = case_open(k, 1);
    two_in_flight(queue, NULL, 50, &seed); /* from now on the driver itself allocates memory */
    k->limits(queue, &before);
    assert_int_equal(k->upload(queue, &dst, &host, &ticket, &err), GI_E_DEVICE_MEMORY);
    assert_null(dst.data);
    assert_int_equal(ticket.number, 0);
    k->limits(queue, &after);
    assert_true(after.free_nbytes >= before.free_nbytes);
    two_in_flight(queue, NULL, 50, &seed);
    gi_queue_close_alone(&queue);
}
