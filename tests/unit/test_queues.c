/* Several queues of a device, and several devices, work at once on threads of their own and give
 * the bytes of one queue with one thread. Also copies in progress: tickets and pinned memory.
 * Sources: device
 * SPDX-License-Identifier: MIT */
#include <pthread.h>

#include "image_cases.h"
#include "kernels/convolution.h"
#include "kernels/regions.h"

enum { SEED = 20261122, QUEUES = 8, CASES = 24, ROUNDS = 2, DEVICES_MAX = 2, TICKETS = 40 };

enum work { GAUSSIAN, BOX, HISTOGRAM, LABEL, COPY, WORKS };

/* An operation on an image, and its result as bytes. */
struct piece {
    enum work work;
    int k;
    float taps[33];
    struct gi_border_spec border;
    struct gi_image src;
    char *want;
    size_t nbytes;
};

static struct piece pieces[CASES];

/* Returns the result's samples without gaps between rows; the caller frees them. */
static char *packed(struct gi_image *image, size_t *nbytes)
{
    size_t row = gi_row_nbytes(image);
    *nbytes = row * (size_t)image->height;
    char *bytes = malloc(*nbytes);
    for (int y = 0; bytes && y < image->height; y++)
        memcpy(bytes + (size_t)y * row, gi_row(image, y), row);
    gi_image_free(image);
    return bytes;
}

static enum gi_status filter(struct gi_queue *queue, const struct piece *piece,
                             struct gi_image *dst, const struct gi_image *src, struct gi_err *err)
{
    enum gi_alpha_rule alpha = gi_has_alpha(src) ? GI_ALPHA_WEIGH : GI_ALPHA_PLAIN;
    struct gi_separable separable = {.row = piece->taps,
                                     .col = piece->taps,
                                     .nrow = piece->k,
                                     .ncol = piece->k,
                                     .row_anchor = piece->k / 2,
                                     .col_anchor = piece->k / 2,
                                     .sum = 1,
                                     .alpha = alpha,
                                     .border = piece->border};
    struct gi_box box = {.k = piece->k, .alpha = alpha, .border = piece->border};
    return piece->work == BOX ? queue->k->box(queue, dst, src, &box, err)
                              : queue->k->convolve_separable(queue, dst, src, &separable, err);
}

/* Runs a filter or the labelling on `src`; `out` is in host memory. */
static enum gi_status image_work(struct gi_queue *queue, const struct piece *piece,
                                 struct gi_image *out, const struct gi_image *src,
                                 struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    struct gi_image dst;
    struct gi_label bright = {.above = 100, .connectivity = 8};
    struct gi_labels labels;
    struct gi_ticket ticket;
    enum gi_status status;
    if (piece->work == LABEL) {
        status = k->label(queue, &labels, src, &bright, err);
        dst = labels.image;
    } else {
        status = k->alloc(queue, &dst, src->width, src->height, src->channels, src->type, err);
        if (!status && (status = filter(queue, piece, &dst, src, err)))
            k->release(queue, &dst);
    }
    if (!status)
        status = k->download(queue, out, &dst, &ticket, err);
    if (!status && (status = k->wait(queue, &ticket, err)))
        gi_image_free(out);
    return status;
}

/* Returns the result as bytes, or NULL if the operation failed. */
static char *result(struct gi_queue *queue, const struct piece *piece, size_t *nbytes)
{
    const struct gi_kernels *k = queue->k;
    struct gi_image src, out;
    struct gi_ticket up, down = {0};
    struct gi_err err = {0};
    char *bytes = NULL;
    if (k->upload(queue, &src, &piece->src, &up, &err))
        return NULL;
    if (piece->work == HISTOGRAM) {
        struct gi_histogram_spec spec = {.key = GI_KEY_VALUE, .nbins = 256};
        *nbytes = (size_t)piece->src.channels * 256 * sizeof(uint64_t);
        bytes = calloc(1, *nbytes);
        if (k->histogram(queue, (uint64_t *)(void *)bytes, &src, &spec, &err))
            *nbytes = 0;
    } else if (piece->work == COPY) {
        if (!k->download(queue, &out, &src, &down, &err) && !k->wait(queue, &down, &err))
            bytes = packed(&out, nbytes);
    } else if (!image_work(queue, piece, &out, &src, &err)) {
        bytes = packed(&out, nbytes);
    }
    if (k->wait(queue, &up, &err) || up.number != 0)
        *nbytes = 0;
    k->release(queue, &src);
    return bytes;
}

/* Makes work of every kind on images of many shapes; one thread of the CPU computes the results. */
static int make_pieces(void **state)
{
    (void)state;
    uint64_t seed = SEED;
    struct gi_queue *queue;
    case_open(&queue, gi_kernels_cpu(), 1);
    int most = getenv("GPUIMG_TEST_QUICK") ? 150 : 400;
    for (int i = 0; i < CASES; i++) {
        struct piece *piece = &pieces[i];
        piece->work = (enum work)(i % WORKS);
        piece->k = 2 * case_between(&seed, 0, 16) + 1;
        enum gi_type type =
            piece->work == GAUSSIAN ? (enum gi_type)case_between(&seed, 0, 2) : GI_U8;
        piece->border = case_border(&seed, (enum gi_border)(i % CASE_BORDERS), type);
        int channels = piece->work == LABEL ? 1 : case_between(&seed, 1, 4);
        for (int t = 0; t < piece->k; t++)
            piece->taps[t] = 1.0f / (float)piece->k;
        assert_int_equal(gi_image_alloc(&piece->src, case_between(&seed, 1, most),
                                        case_between(&seed, 1, most), channels, type, NULL),
                         GI_OK);
        case_fill(&piece->src, &seed);
        assert_non_null(piece->want = result(queue, piece, &piece->nbytes));
    }
    gi_queue_close_alone(&queue);
    return 0;
}

static int free_pieces(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        gi_image_free(&pieces[i].src);
        free(pieces[i].want);
    }
    return 0;
}

/* A thread with a queue of its own. Only the main thread may assert: the others record errors. */
struct hand {
    pthread_t thread;
    struct gi_device *device;
    int number, wrong;
};

static void *work(void *arg)
{
    struct hand *hand = arg;
    const struct gi_kernels *k = hand->device->k;
    struct gi_queue *queue;
    for (int round = 0; round < ROUNDS; round++) {
        if (k->queue_open(&queue, hand->device, NULL)) {
            hand->wrong++;
            return NULL;
        }
        for (int i = 0; i < CASES; i++) {
            const struct piece *piece = &pieces[(i * 5 + hand->number * 7 + round) % CASES];
            size_t nbytes = 0;
            char *got = result(queue, piece, &nbytes);
            if (!got || nbytes != piece->nbytes || memcmp(got, piece->want, nbytes) != 0)
                hand->wrong++;
            free(got);
        }
        k->queue_close(&queue);
    }
    return NULL;
}

static void work_on(struct gi_device **devices, int ndevices)
{
    struct hand hands[QUEUES] = {0};
    for (int i = 0; i < QUEUES; i++) {
        hands[i].device = devices[i % ndevices];
        hands[i].number = i;
        assert_int_equal(pthread_create(&hands[i].thread, NULL, work, &hands[i]), 0);
    }
    for (int i = 0; i < QUEUES; i++)
        assert_int_equal(pthread_join(hands[i].thread, NULL), 0);
    for (int i = 0; i < QUEUES; i++)
        assert_int_equal(hands[i].wrong, 0);
}

static struct gi_device *device_of(const struct gi_kernels *k, int ordinal, int threads)
{
    struct gi_device *device;
    struct gi_err err = {0};
    struct gi_open_options options = {.threads = threads, .ordinal = ordinal};
    if (k->device_open(&device, &options, &err))
        fail_msg("%s", err.text);
    return device;
}

static void close_device(struct gi_device *device)
{
    device->k->device_close(&device);
    assert_null(device);
}

static void queues_of_the_cpu(void **state)
{
    (void)state;
    for (int l = 0; l < CASE_LEVELS; l++) {
        const struct gi_kernels *k = gi_kernels_cpu_level(case_levels[l]);
        if (!k)
            continue;
        struct gi_device *device = device_of(k, 0, 3);
        work_on(&device, 1);
        close_device(device);
    }
    struct gi_device *two[] = {device_of(gi_kernels_cpu(), 0, 2),
                               device_of(gi_kernels_cpu(), 0, 4)};
    work_on(two, 2);
    close_device(two[0]);
    close_device(two[1]);
}

/* Returns the number of CUDA devices, and prints that tests are skipped if fewer than `want` exist.
 */
static int cuda_devices(int want)
{
    const struct gi_kernels *k = gi_kernels_cuda();
    struct gi_err err = {0};
    int n = k ? k->probe(NULL, 0, &err) : 0;
    if (n < want)
        printf("skipped: %s\n", !k      ? "built without CUDA"
                                : n < 0 ? err.text
                                : n     ? "only one CUDA device"
                                        : "no CUDA device");
    return n;
}

static void queues_of_a_gpu(void **state)
{
    (void)state;
    if (cuda_devices(1) < 1)
        skip();
    struct gi_device *device = device_of(gi_kernels_cuda(), 0, 2);
    work_on(&device, 1);
    close_device(device);
}

static void queues_of_several_gpus(void **state)
{
    (void)state;
    struct gi_device *devices[DEVICES_MAX];
    if (cuda_devices(DEVICES_MAX) < DEVICES_MAX)
        skip();
    for (int i = 0; i < DEVICES_MAX; i++)
        devices[i] = device_of(gi_kernels_cuda(), i, 2);
    work_on(devices, DEVICES_MAX);
    for (int i = 0; i < DEVICES_MAX; i++)
        close_device(devices[i]);
}

static struct gi_image image_of(const struct gi_allocator *allocator, int side, uint64_t *seed)
{
    struct gi_image image;
    assert_int_equal(gi_image_alloc_from(&image, allocator, side, side, 1, GI_U8, NULL), GI_OK);
    case_fill(&image, seed);
    return image;
}

/* Two uploads are in progress at once, then two downloads of the same images: from pageable memory,
 * small and through staging buffers, and from pinned memory. */
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

/* Uses more tickets than a queue distinguishes, and waits for the first one last. */
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

/* Downloads into some rows of a larger image, whose other rows are unchanged. */
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
    struct gi_device *device = device_of(k, 0, 2);
    struct gi_queue *queue;
    assert_int_equal(k->queue_open(&queue, device, NULL), GI_OK);
    const struct gi_allocator *pinned = k->host_allocator(device);
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
    close_device(device);
}

static void copies_on_the_cpu(void **state)
{
    (void)state;
    copies(gi_kernels_cpu());
}

static void copies_on_a_gpu(void **state)
{
    (void)state;
    if (cuda_devices(1) < 1)
        skip();
    copies(gi_kernels_cuda());
}

/* Memory is pinned once, also if another thread's image reuses it. */
static void pinned_is_kept(void **state)
{
    (void)state;
    uint64_t seed = SEED;
    if (cuda_devices(1) < 1)
        skip();
    struct gi_device *device = device_of(gi_kernels_cuda(), 0, 1);
    const struct gi_allocator *pinned = device->k->host_allocator(device);
    struct gi_image a = image_of(pinned, 1000, &seed), b = image_of(pinned, 1000, &seed);
    void *first = a.data;
    assert_ptr_not_equal(a.data, b.data);
    gi_image_free(&a);
    a = image_of(pinned, 999, &seed);
    assert_ptr_equal(a.data, first);
    gi_image_free(&a);
    gi_image_free(&b);
    close_device(device);
}

/* An image that fits on no device is refused, and as much memory is free as before. */
static void failed_upload(void **state)
{
    (void)state;
    if (getenv("GPUIMG_TEST_QUICK"))
        printf("skipped: compute-sanitizer takes the failure that is wanted here for a fault\n");
    if (getenv("GPUIMG_TEST_QUICK") || cuda_devices(1) < 1)
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
    case_open(&queue, k, 1);
    two_in_flight(queue, NULL, 50, &seed); /* the driver allocates its own memory now */
    k->limits(queue, &before);
    assert_int_equal(k->upload(queue, &dst, &host, &ticket, &err), GI_E_DEVICE_MEMORY);
    assert_null(dst.data);
    assert_int_equal(ticket.number, 0);
    k->limits(queue, &after);
    assert_true(after.free_nbytes >= before.free_nbytes);
    two_in_flight(queue, NULL, 50, &seed);
    gi_queue_close_alone(&queue);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queues_of_the_cpu),      cmocka_unit_test(queues_of_a_gpu),
        cmocka_unit_test(queues_of_several_gpus), cmocka_unit_test(copies_on_the_cpu),
        cmocka_unit_test(copies_on_a_gpu),        cmocka_unit_test(pinned_is_kept),
        cmocka_unit_test(failed_upload),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, make_pieces, free_pieces);
}
