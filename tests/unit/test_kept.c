/* The cache of image memory reuses blocks, returns other blocks to the system, and never exceeds
 * its maximum.
 * Sources: kernels/cpu/device
 * SPDX-License-Identifier: MIT */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "test.h"
#include "kernels/cpu/device/kept.h"
#include "kernels/kernels.h"

enum { MIB = 1 << 20 };

TEST(is_taken_again)
{
    struct gi_kept *kept = gi_kept_new();
    const struct gi_allocator *a = gi_kept_allocator(kept);
    void *small = a->alloc(a->self, 1000);
    assert_null(small);
    void *first = a->alloc(a->self, 3 * MIB), *second = a->alloc(a->self, 3 * MIB);
    assert_non_null(first);
    assert_non_null(second);
    assert_ptr_not_equal(first, second);
    assert_int_equal((uintptr_t)first % GI_ROW_ALIGN, 0);
    memset(first, 1, 3 * MIB);
    a->free(a->self, first);
    /* The block fits a slightly smaller size, but not half the size. */
    void *third = a->alloc(a->self, 5 * MIB / 2);
    assert_ptr_equal(third, first);
    a->free(a->self, third);
    void *half = a->alloc(a->self, MIB);
    assert_ptr_not_equal(half, first);
    /* The smallest block that fits is taken. */
    void *large = a->alloc(a->self, 4 * MIB);
    a->free(a->self, large);
    a->free(a->self, half);
    a->free(a->self, second);
    second = a->alloc(a->self, 3 * MIB);
    assert_ptr_not_equal(second, large);
    a->free(a->self, second);
    gi_kept_free(&kept);
    assert_null(kept);
}

/* Returns whether the address is still mapped. Each large block has a mapping of its own. */
static bool is_mapped(void *at)
{
    char line[256];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        uintptr_t from, to;
        if (sscanf(line, "%lx-%lx", &from, &to) == 2)
            found |= from <= (uintptr_t)at && (uintptr_t)at < to;
    }
    if (maps)
        fclose(maps);
    return found;
}

/* The cache holds at most as much memory as the maximum that was lent at one time. At that limit, a
 * block of another size replaces idle blocks. */
TEST(never_more_than_was_lent)
{
#ifdef __SANITIZE_ADDRESS__
    print_message("skipped: AddressSanitizer keeps what is freed\n");
    skip();
#endif
    mallopt(M_MMAP_THRESHOLD, MIB);
    struct gi_kept *kept = gi_kept_new();
    const struct gi_allocator *a = gi_kept_allocator(kept);
    void *first = a->alloc(a->self, 64 * MIB);
    a->free(a->self, first);
    assert_true(is_mapped(first));
    void *other = a->alloc(a->self, 32 * MIB);
    assert_false(is_mapped(first));
    void *third = a->alloc(a->self, 20 * MIB);
    a->free(a->self, other);
    a->free(a->self, third);
    /* 52 of 64 MiB are idle. So 8 MiB more fit, and then 10 MiB more replace one of the idle
     * blocks. */
    void *fourth = a->alloc(a->self, 8 * MIB);
    assert_true(is_mapped(other));
    assert_true(is_mapped(third));
    void *fifth = a->alloc(a->self, 10 * MIB);
    assert_true(is_mapped(other) != is_mapped(third));
    a->free(a->self, fourth);
    a->free(a->self, fifth);
    gi_kept_free(&kept);
}

enum { THREADS = 8, ROUNDS = 400 };

static void *take_and_fill(void *arg)
{
    const struct gi_allocator *a = arg;
    uintptr_t mark = (uintptr_t)pthread_self();
    for (int i = 0; i < ROUNDS; i++) {
        size_t nbytes = (size_t)MIB / 2 + (size_t)(i % 7) * 100000;
        uintptr_t *block = a->alloc(a->self, nbytes);
        if (!block)
            return NULL;
        block[0] = block[nbytes / sizeof *block - 1] = mark;
        if (block[0] != mark || block[nbytes / sizeof *block - 1] != mark)
            return NULL;
        a->free(a->self, block);
    }
    return arg;
}

TEST(threads_share_it)
{
    struct gi_kept *kept = gi_kept_new();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, take_and_fill, (void *)gi_kept_allocator(kept));
    for (int i = 0; i < THREADS; i++) {
        void *good;
        pthread_join(threads[i], &good);
        assert_non_null(good);
    }
    gi_kept_free(&kept);
}

/* The CPU's device caches memory if that is requested, and then results are in cached memory. */
TEST(a_device_keeps_it)
{
    const struct gi_kernels *k = gi_kernels_cpu();
    struct gi_open_options options = {.threads = 2};
    struct gi_device *device;
    struct gi_queue *queue;
    struct gi_image image;
    assert_int_equal(k->device_open(&device, &options, NULL), GI_OK);
    assert_null(k->host_allocator(device));
    k->device_close(&device);
    options.keeps = true;
    assert_int_equal(k->device_open(&device, &options, NULL), GI_OK);
    assert_int_equal(k->queue_open(&queue, device, NULL), GI_OK);
    assert_int_equal(k->alloc(queue, &image, 1000, 1000, 3, GI_U8, NULL), GI_OK);
    assert_ptr_equal(image.allocator, k->host_allocator(device));
    void *first = image.data;
    gi_image_free(&image);
    assert_int_equal(k->alloc(queue, &image, 1000, 999, 3, GI_U8, NULL), GI_OK);
    assert_ptr_equal(image.data, first);
    gi_image_free(&image);
    k->queue_close(&queue);
    k->device_close(&device);
}
