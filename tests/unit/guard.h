/* Guarded images for tests. The last row ends at an inaccessible page; the bytes between the rows
 * and before the first one hold sentinels, which guard_check() compares.
 * SPDX-License-Identifier: MIT */
#ifndef GI_TESTS_GUARD_H
#define GI_TESTS_GUARD_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "imgio/image.h"

enum { GUARD_BYTE = 0xa5 };

struct guard {
    struct gi_image image; /* a view into `map` */
    unsigned char *map;
    size_t nbytes; /* of `map`, including the inaccessible page */
};

/* Allocates guard->image with zero samples. The stride is the row's bytes plus `pad` (a multiple of
 * the sample's size, otherwise the rows are not aligned). guard_free() frees it. */
static inline void guard_alloc(struct guard *guard, int width, int height, int channels,
                               enum gi_type type, size_t pad)
{
    struct gi_image *image = &guard->image;
    *image =
        (struct gi_image){.width = width, .height = height, .channels = channels, .type = type};
    size_t page = (size_t)sysconf(_SC_PAGESIZE), row = gi_row_nbytes(image);
    image->stride = row + pad;
    size_t used = image->stride * (size_t)height - pad;
    size_t open = (used + 64 + page - 1) / page * page;
    guard->nbytes = open + page;
    guard->map =
        mmap(NULL, guard->nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(guard->map != MAP_FAILED);
    memset(guard->map, GUARD_BYTE, open);
    assert_int_equal(mprotect(guard->map + open, page, PROT_NONE), 0);
    image->data = guard->map + open - used;
    for (int y = 0; y < height; y++)
        memset(gi_row(image, y), 0, row);
}

/* Fails the test if a byte outside the samples has changed. */
static inline void guard_check(const struct guard *guard)
{
    const struct gi_image *image = &guard->image;
    size_t row = gi_row_nbytes(image);
    for (const unsigned char *p = guard->map; p < (unsigned char *)image->data; p++)
        assert_int_equal(*p, GUARD_BYTE);
    for (int y = 0; y + 1 < image->height; y++)
        for (size_t i = row; i < image->stride; i++)
            assert_int_equal(((unsigned char *)gi_row(image, y))[i], GUARD_BYTE);
}

static inline void guard_free(struct guard *guard)
{
    munmap(guard->map, guard->nbytes);
    guard->map = NULL;
}

#endif
