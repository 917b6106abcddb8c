/* EXIF blocks made by hand: what is reset, what is forgotten, and that nothing else changes.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "guard.h"
#include "imgio/exif.h"

/* TIFF 6.0, section 2: head; one directory of two entries: Make (0x010f), and `tag`, a SHORT. */
enum { BLOCK = 8 + 2 + 2 * 12 + 4, VALUE = 8 + 2 + 12 + 8 };

static void put16(unsigned char *at, unsigned value, bool big)
{
    at[big] = (unsigned char)(value & 255);
    at[!big] = (unsigned char)(value >> 8);
}

static void make_block(unsigned char block[BLOCK], unsigned tag, unsigned value, bool big)
{
    memset(block, 0, BLOCK);
    memcpy(block, big ? "MM\0*" : "II*\0", 4);
    block[big ? 7 : 4] = 8;
    put16(block + 8, 2, big);
    unsigned char *first = block + 10, *second = first + 12;
    put16(first, 0x010f, big);
    put16(first + 2, 2, big);
    memcpy(first + 8, "abc", 4);
    put16(second, tag, big);
    put16(second + 2, 3, big);
    second[big ? 7 : 4] = 1;
    put16(second + 8, value, big);
}

static void reset_changes_the_value_alone(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++)
        for (unsigned value = 1; value <= 8; value++) {
            unsigned char block[BLOCK], want[BLOCK];
            make_block(block, 0x0112, value, big);
            make_block(want, 0x0112, 1, big);
            assert_int_equal(gi_exif_orientation(block, BLOCK), value);
            gi_exif_reset(block, BLOCK);
            assert_memory_equal(block, want, BLOCK);
        }
}

/* Another tag, another type, no directory, no entries, a directory past the end. */
static void without_the_tag_nothing_changes(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++)
        for (int which = 0; which < 5; which++) {
            unsigned char block[BLOCK], want[BLOCK];
            make_block(block, which == 0 ? 0x0113 : 0x0112, 6, big);
            if (which == 1)
                put16(block + VALUE - 6, 4, big);
            else if (which == 2)
                block[big ? 7 : 4] = 0;
            else if (which == 3)
                put16(block + 8, 0, big);
            else if (which == 4)
                block[big ? 7 : 4] = BLOCK;
            memcpy(want, block, BLOCK);
            assert_int_equal(gi_exif_orientation(block, BLOCK), 1);
            gi_exif_reset(block, BLOCK);
            assert_memory_equal(block, want, BLOCK);
            gi_exif_forget_place(block, BLOCK);
            assert_memory_equal(block, want, BLOCK);
        }
    gi_exif_reset(NULL, 0);
    gi_exif_forget_place(NULL, 0);
}

/* Cut anywhere, at the end of readable memory. */
static void cuts(void **state)
{
    (void)state;
    unsigned char block[BLOCK];
    for (int big = 0; big < 2; big++)
        for (size_t n = 0; n <= BLOCK; n++) {
            make_block(block, 0x0112, 6, big);
            struct guard guard;
            guard_alloc(&guard, n ? (int)n : 1, 1, 1, GI_U8, 0);
            unsigned char *cut = guard.image.data;
            memcpy(cut, block, n);
            /* The offset of the next directory is not looked at. */
            assert_int_equal(gi_exif_orientation(cut, n), n >= BLOCK - 4 ? 6 : 1);
            gi_exif_reset(cut, n);
            gi_exif_forget_place(cut, n);
            guard_check(&guard);
            guard_free(&guard);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reset_changes_the_value_alone),
        cmocka_unit_test(without_the_tag_nothing_changes),
        cmocka_unit_test(cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
