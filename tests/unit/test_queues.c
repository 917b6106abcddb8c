/* Several queues of a device, and several devices, that work at once on different threads give the
 * same bytes as one queue with one thread.
 * Sources: device
 * SPDX-License-Identifier: MIT */
#include <pthread.h>

#include "cases.h"
#include "kernels/convolution.h"
#include "kernels/regions.h"

enum { SEED = 20261122, QUEUES = 8, CASES = 24, ROUNDS = 2, DEVICES_MAX = 2 };

enum work { GAUSSIAN, BOX, HISTOGRAM, LABEL, COPY, WORKS };

/* An operation on an image, and the bytes of its result. */
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

/* Returns the samples of the result without gaps between the rows. The caller frees them. */
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

/* Runs a filter or the labelling on `src`. The result `out` is in host memory. */
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

/* Returns the bytes of the result, or NULL if the operation failed. */
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

/* Makes work of every kind on images of many shapes. One thread of the CPU computes the expected
 * results. */
static int make_pieces(void **state)
{
    (void)state;
    uint64_t seed = SEED;
    struct gi_queue *queue;
    queue = case_open(gi_kernels_cpu(), 1);
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

/* A thread that has its own queue. Only the main thread may use assertions, so the other threads
 * record errors. */
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

static void queues_of_the_cpu(void **state)
{
    (void)state;
    for (int l = 0; l < CASE_LEVELS; l++) {
        const struct gi_kernels *k = gi_kernels_cpu_level(case_levels[l]);
        if (!k)
            continue;
        struct gi_device *device = case_device(k, 0, 3);
        work_on(&device, 1);
        case_close_device(device);
    }
    struct gi_device *two[] = {case_device(gi_kernels_cpu(), 0, 2),
                               case_device(gi_kernels_cpu(), 0, 4)};
    work_on(two, 2);
    case_close_device(two[0]);
    case_close_device(two[1]);
}

static void queues_of_a_gpu(void **state)
{
    (void)state;
    if (!case_cuda(1))
        skip();
    struct gi_device *device = case_device(gi_kernels_cuda(), 0, 2);
    work_on(&device, 1);
    case_close_device(device);
}

static void queues_of_several_gpus(void **state)
{
    (void)state;
    struct gi_device *devices[DEVICES_MAX];
    if (!case_cuda(DEVICES_MAX))
        skip();
    for (int i = 0; i < DEVICES_MAX; i++)
        devices[i] = case_device(gi_kernels_cuda(), i, 2);
    work_on(devices, DEVICES_MAX);
    for (int i = 0; i < DEVICES_MAX; i++)
        case_close_device(devices[i]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queues_of_the_cpu),
        cmocka_unit_test(queues_of_a_gpu),
        cmocka_unit_test(queues_of_several_gpus),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, make_pieces, free_pieces);
}
