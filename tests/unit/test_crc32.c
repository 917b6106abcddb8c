/* CRC-32 in parts equals that of zlib, however the bytes are divided.
 * Sources: kernels/crc32.h
 * SPDX-License-Identifier: MIT */
#include "cases.h"
#include "test.h"

#include <string.h>
#include <zlib.h>

#include "kernels/crc32.h"

enum { NBYTES = 5000 };

static struct gi_crc32_tables tables;
static uint8_t bytes[NBYTES + 4] = "IDAT"; /* a type and data */

static void draw(uint64_t *seed)
{
    gi_crc32_fill(&tables, 0, 1);
    for (int i = 4; i < NBYTES + 4; i++)
        bytes[i] = (uint8_t)case_random(seed);
}

static uint32_t crc_of(const uint8_t *data, size_t nbytes)
{
    return (uint32_t)crc32(0, data, (uInt)nbytes);
}

/* Returns the remainder of n bytes, of which `head` are added one by one, and the others by words.
 */
static uint32_t remainder_of(const uint8_t *data, uint32_t n, uint32_t head)
{
    uint32_t r = 0, i = 0;
    for (; i < head && i < n; i++)
        r = gi_crc32_byte(&tables, r, data[i]);
    for (; i + 4 <= n; i += 4)
        r = gi_crc32_word(&tables, r,
                          data[i] | (uint32_t)data[i + 1] << 8 | (uint32_t)data[i + 2] << 16 |
                              (uint32_t)data[i + 3] << 24);
    for (; i < n; i++)
        r = gi_crc32_byte(&tables, r, data[i]);
    return r;
}

/* The check value of the algorithm: the CRC of "123456789" is 0xcbf43926. */
TEST(known_values)
{
    static const uint8_t digits[] = "123456789";
    uint64_t seed = CASE_SEED;
    draw(&seed);
    uint32_t r = gi_crc32_shift(UINT32_MAX, 9) ^ remainder_of(digits, 9, 0);
    assert_int_equal(~r, 0xcbf43926);
    assert_int_equal(GI_CRC32_IDAT, crc_of(bytes, 4));
}

/* Threads fill in entries in turn. */
TEST(tables_are_those_of_zlib)
{
    struct gi_crc32_tables shared;
    const z_crc_t *want = get_crc_table();
    for (uint32_t thread = 0; thread < 96; thread++)
        gi_crc32_fill(&shared, thread, 96);
    for (int byte = 0; byte < 256; byte++) {
        assert_int_equal(shared.of[0][byte], want[byte]);
        for (int i = 1; i < 4; i++) {
            uint32_t before = shared.of[i - 1][byte];
            assert_int_equal(shared.of[i][byte], before >> 8 ^ want[before & 255]);
        }
    }
}

/* Shifts by each power of two, and by sums of them, equal those of zlib, which combines a CRC with
 * that of zeros. */
TEST(shifts)
{
    uint64_t seed = CASE_SEED;
    for (int turn = 0; turn < 400; turn++) {
        uint32_t a = case_random(&seed);
        uint32_t n = turn < 31 ? UINT32_C(1) << turn : case_random(&seed) >> (1 + turn % 31);
        assert_int_equal(gi_crc32_shift(a, n), crc32_combine(a, 0, (z_off_t)n));
    }
    assert_int_equal(gi_crc32_shift(12345, 0), 12345);
    /* x has the order 2^32 - 1: the generator polynomial is primitive. */
    uint32_t all = gi_crc32_shift(12345, UINT32_MAX);
    assert_int_equal(all, 12345);
    assert_int_equal(gi_crc32_multiply(UINT32_C(1) << 31, 12345), 12345);
}

/* Chunks of all short lengths, and of some longer ones, in one part and in random parts that are
 * added in another order. */
TEST(chunks_in_parts)
{
    uint64_t seed = CASE_SEED;
    for (uint32_t turn = 0; turn < 600; turn++) {
        uint32_t n = turn < 300 ? turn : (uint32_t)case_between(&seed, 300, NBYTES);
        draw(&seed);
        uint32_t want = crc_of(bytes, n + 4);
        assert_int_equal(gi_crc32_of_idat(remainder_of(bytes + 4, n, turn % 4), n), want);
        uint32_t sum = 0;
        for (uint32_t end = n, begin; end; end = begin) { /* from the last part to the first */
            uint32_t most = turn % 2 ? 9 : 700;
            begin = end - (uint32_t)case_between(&seed, 1, (int)(end < most ? end : most));
            uint32_t r = remainder_of(bytes + 4 + begin, end - begin, begin % 4);
            sum ^= gi_crc32_shift(r, n - end);
        }
        assert_int_equal(gi_crc32_of_idat(sum, n), want);
    }
}
