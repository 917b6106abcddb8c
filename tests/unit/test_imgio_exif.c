/* In EXIF blocks made by hand, gpuimg resets or removes certain tags and leaves all other bytes
 * unchanged.
 * Sources: imgio/metadata/exif* imgio/metadata/orientation.c
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "cases.h"
#include "imgio/metadata/exif.h"

/* Sizes from TIFF 6.0, section 2. A block is the header and one directory of two entries: Make
 * (0x010f), and `tag`, which is a SHORT. */
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

/* The day is that of DateTimeOriginal, in the directory to which tag 0x8769 points. A text that is
 * no date, and entries that lead outside the block, are no day. */
TEST(day)
{
    enum { OWN = 8 + 2 + 12 + 4, TEXT = OWN + 2 + 12 + 4, ALL = TEXT + 20 };
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"2019:05:06 07:08:09", "2019-05-06"}, {"1999:12:31 23:59:59", "1999-12-31"},
        {"0000:00:00 00:00:00", NULL},         {"2019:13:01 00:00:00", NULL},
        {"2019:00:01 00:00:00", NULL},         {"2019:12:32 00:00:00", NULL},
        {"2019:12:00 00:00:00", NULL},         {"2019-05-06 07:08:09", NULL},
        {"    :  :     :  :  ", NULL},
    };
    for (int big = 0; big < 2; big++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            unsigned char block[ALL] = {0};
            char date[11] = "unchanged";
            memcpy(block, big ? "MM\0*" : "II*\0", 4);
            block[big ? 7 : 4] = 8;
            put16(block + 8, 1, big);
            put16(block + 10, 0x8769, big);
            put16(block + 12, 4, big);
            block[big ? 17 : 14] = 1;
            block[big ? 21 : 18] = OWN;
            put16(block + OWN, 1, big);
            put16(block + OWN + 2, 0x9003, big);
            put16(block + OWN + 4, 2, big);
            block[OWN + (big ? 9 : 6)] = 20;
            block[OWN + (big ? 13 : 10)] = TEXT;
            memcpy(block + TEXT, cases[i].text, 20);
            assert_int_equal(gi_exif_date(date, block, ALL), cases[i].want != NULL);
            assert_string_equal(date, cases[i].want ? cases[i].want : "unchanged");
            for (size_t n = 0; n < TEXT + 10; n++) { /* the block ends early */
                unsigned char *cut = malloc(n + !n);
                memcpy(cut, block, n);
                assert_false(gi_exif_date(date, cut, n));
                free(cut);
            }
            put16(block + OWN + 4, 3, big);
            assert_false(gi_exif_date(date, block, ALL));
        }
    assert_false(gi_exif_date((char[11]){0}, NULL, 0));
}

TEST(reset_changes_the_value_alone)
{
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

/* Without the tag nothing changes: another tag, another type, no directory, no entries, or a
 * directory past the end of the block. */
TEST(without_the_tag_nothing_changes)
{
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

/* The entry that refers to the GPS directory is removed, even if the offset in it is invalid. */
TEST(place)
{
    for (int big = 0; big < 2; big++) {
        unsigned char block[BLOCK], want[BLOCK];
        make_block(block, 0x8825, 0xffff, big);
        make_block(want, 0, 0, big);
        put16(want + 8, 1, big);
        memset(want + 10 + 12, 0, BLOCK - 10 - 12);
        gi_exif_forget_place(block, BLOCK);
        assert_memory_equal(block, want, BLOCK);
    }
}

/* A damaged block may have two such entries. */
TEST(two_places)
{
    for (int big = 0; big < 2; big++) {
        unsigned char block[BLOCK];
        make_block(block, 0x8825, 0xffff, big);
        memcpy(block + 10, block + 10 + 12, 12);
        gi_exif_forget_place(block, BLOCK);
        assert_int_equal(block[8] | block[9], 0);
        for (size_t i = 10; i < BLOCK; i++)
            assert_int_equal(block[i], 0);
    }
}

/* The block is cut at every byte. It ends at the end of readable memory. */
TEST(cuts)
{
    unsigned char block[BLOCK];
    for (int big = 0; big < 2; big++)
        for (size_t n = 0; n <= BLOCK; n++) {
            size_t removed;
            make_block(block, 0x0112, 6, big);
            struct guard guard;
            guard_alloc(&guard, n ? (int)n : 1, 1, 1, GI_U8, 0);
            unsigned char *cut = guard.image.data;
            memcpy(cut, block, n);
            /* The offset of the next directory is not used. */
            assert_int_equal(gi_exif_orientation(cut, n), n >= BLOCK - 4 ? 6 : 1);
            gi_exif_reset(cut, n);
            gi_exif_forget_place(cut, n);
            assert_int_equal(gi_exif_forget_thumbnail(cut, n, &removed), n);
            assert_true(guard_is_whole(&guard));
            guard_free(&guard);
        }
}

static unsigned take16(const unsigned char *at, bool big)
{
    return (unsigned)at[big] | (unsigned)at[!big] << 8;
}

static unsigned take32(const unsigned char *at, bool big)
{
    return big ? take16(at, big) << 16 | take16(at + 2, big)
               : take16(at, big) | take16(at + 2, big) << 16;
}

/* If the block has an orientation, it is set in place. Otherwise an entry is added in a copy of the
 * directory. The copy is sorted by tag (TIFF 6.0, section 2), has all old entries and refers to the
 * same next directory. The data that entries refer to are not moved. */
TEST(orient)
{
    static const unsigned others[] = {0x0110, 0x0112, 0x8769};
    for (int big = 0; big < 2; big++)
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            for (size_t cut = 0; cut <= 5;
                 cut += 5) { /* cut: the block ends before the offset of the next directory */
                unsigned char block[BLOCK];
                make_block(block, others[i], 6, big);
                block[BLOCK - 1] = 0x77;
                size_t n = BLOCK - cut + (cut ? 1 : 0);
                void *exif = malloc(n);
                memcpy(exif, block, n);
                assert_int_equal(gi_exif_orient(&exif, &n, 3, NULL), GI_OK);
                unsigned char *made = exif;
                assert_int_equal(gi_exif_orientation(made, n), 3);
                if (others[i] == 0x0112) {
                    put16(block + VALUE, 3, big);
                    assert_memory_equal(made, block, BLOCK - 4);
                    free(exif);
                    continue;
                }
                size_t at = take32(made + 4, big), from = 10;
                assert_true(at % 2 == 0 && at + 2 + 3 * 12 + 4 <= n);
                assert_int_equal(take16(made + at, big), 3);
                assert_memory_equal(made, block, 4);
                assert_memory_equal(made + 8, block + 8, BLOCK - 4 - 8);
                unsigned before = 0;
                for (int e = 0; e < 3; e++) {
                    const unsigned char *entry = made + at + 2 + 12 * e;
                    unsigned tag = take16(entry, big);
                    assert_true(tag > before);
                    before = tag;
                    if (tag == 0x0112) {
                        assert_int_equal(take16(entry + 2, big), 3);
                        assert_int_equal(take32(entry + 4, big), 1);
                        assert_int_equal(take16(entry + 8, big), 3);
                    } else {
                        assert_memory_equal(entry, block + from, 12);
                        from += 12;
                    }
                }
                assert_memory_equal(made + at + 2 + 3 * 12,
                                    cut ? "\0\0\0\0" : (char *)block + BLOCK - 4, 4);
                free(exif);
            }
}

/* No bytes at all, or bytes that are not an EXIF block, become a block that has only the
 * orientation. */
TEST(orient_nothing)
{
    static const char *const blocks[] = {NULL, "II*", "XX*\0\x08\0\0\0\0\0", "II*\0\x07\0\0\0\1\0",
                                         "MM\0*\0\0\0\x09\0\1"};
    static const unsigned char want[] = {'I', 'I', '*', 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3,
                                         0,   1,   0,   0, 0, 5, 0, 0, 0, 0, 0,    0, 0};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        size_t n = i == 0 ? 0 : i == 1 ? 3 : 10;
        void *exif = i ? malloc(n) : NULL;
        if (i)
            memcpy(exif, blocks[i], n);
        assert_int_equal(gi_exif_orient(&exif, &n, 5, NULL), GI_OK);
        assert_int_equal(n, sizeof want);
        assert_memory_equal(exif, want, sizeof want);
        free(exif);
    }
}

static void put32(unsigned char *at, unsigned value, bool big)
{
    put16(at + (big ? 2 : 0), value & 0xffff, big);
    put16(at + (big ? 0 : 2), value >> 16, big);
}

/* The second directory and its thumbnail (TIFF 6.0, section 2; Exif 2.3, 4.6.9) are zeroed, and are
 * cut off if they are at the end of the block. The first directory is unchanged. */
TEST(thumbnails)
{
    enum { FIRST = 8 + 2 + 12, START = FIRST + 4, DIRECTORY = 2 + 2 * 12 + 4, PIXELS = 10 };
    static const struct {
        unsigned tags[2], directory, pixels, n, nbytes; /* offsets in the block */
        unsigned left;                                  /* bytes left of it */
    } cases[] = {
        {{0x0201, 0x0202}, START, START + DIRECTORY, 10, START + DIRECTORY + PIXELS, START},
        {{0x0111, 0x0117}, START, START + DIRECTORY, 10, START + DIRECTORY + PIXELS, START},
        {{0x0111, 0x0117}, START + 10, START, 10, START + DIRECTORY + PIXELS, START + PIXELS},
        {{0x0201, 0x0202},
         START,
         START + DIRECTORY,
         10,
         START + DIRECTORY + PIXELS + 1,
         START + DIRECTORY + PIXELS + 1}, /* other data follow */
        {{0x0201, 0x0202}, START + 3, START, 40, START + 3 + DIRECTORY, START}, /* it overlaps */
        {{0x0103, 0x0106}, START, START + DIRECTORY, 10, START + DIRECTORY, START},
        {{0x0201, 0x0202}, START, 8, 10, START + DIRECTORY, START}, /* it overlaps the first
                                                                       directory */
        {{0x0201, 0x0202}, START, START + DIRECTORY, 10, START + DIRECTORY, START}, /* cut off */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int big = 0; big < 2; big++) {
            unsigned char block[START + DIRECTORY + PIXELS + 1], before[FIRST];
            memset(block, 0x55, sizeof block);
            memcpy(block, big ? "MM\0*" : "II*\0", 4);
            put32(block + 4, 8, big);
            put16(block + 8, 1, big);
            put32(block + FIRST, cases[i].directory, big);
            unsigned char *at = block + cases[i].directory;
            put16(at, 2, big);
            for (int e = 0; e < 2; e++) {
                put16(at + 2 + 12 * e, cases[i].tags[e], big);
                put16(at + 4 + 12 * e, 4, big);
                put32(at + 6 + 12 * e, 1, big);
                put32(at + 10 + 12 * e, e ? cases[i].n : cases[i].pixels, big);
            }
            memcpy(before, block, FIRST);
            size_t removed, left = gi_exif_forget_thumbnail(block, cases[i].nbytes, &removed);
            if (left != cases[i].left)
                fail_msg("case %zu: %zu bytes are left, want %u", i, left, cases[i].left);
            assert_memory_equal(block, before, FIRST);
            for (size_t b = FIRST; b < START + (size_t)DIRECTORY - 3 && b < left; b++)
                assert_int_equal(block[b], 0);
        }
    /* The second directory has more entries than fit, or is outside the block. */
    for (int past = 0; past < 2; past++) {
        size_t removed;
        unsigned char cut[START + 2 + 12] = "II*\0\10\0\0\0\1";
        cut[FIRST] = past ? sizeof cut - 1 : START;
        cut[START] = 9;
        assert_int_equal(gi_exif_forget_thumbnail(cut, sizeof cut, &removed),
                         past ? sizeof cut : START);
    }
    /* A directory that refers to itself as the next directory is not followed. */
    size_t removed;
    unsigned char block[START] = "II*\0\10\0\0\0\1";
    block[FIRST] = 8;
    assert_int_equal(gi_exif_forget_thumbnail(block, START, &removed), START);
}
