/* Names that are read from a long list equal those that a plain loop finds in its bytes, and the
 * ranges of any number of shards have every name once. Equal keys are found among more keys than
 * memory keeps. Sources: cli/paths/list_stream* cli/paths/equal_keys* SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "cli/lines.h"
#include "cli/paths/equal_keys.h"
#include "cli/paths/list_stream.h"
#include "cli/paths/matcher.h"

enum { NAMES_MAX = 200 };

static char path[] = "/tmp/gpuimg-list-XXXXXX";

static int make_file(void **state)
{
    int fd = mkstemp(path);
    setenv("GPUIMG_LIST_BYTES", "0", 1);
    return fd < 0 || close(fd);
}

static int remove_file(void **state)
{
    return unlink(path);
}

TEST_FRAME(.first = make_file, .last = remove_file)

static void write_list(const char *bytes, size_t nbytes)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, nbytes, file), nbytes);
    assert_int_equal(fclose(file), 0);
}

static struct gi_list_stream *open_list(bool zero)
{
    struct gi_list_stream *stream;
    struct gi_err err = {0};
    assert_int_equal(gi_list_stream_open(&stream, path, zero, NULL, &err), GI_OK);
    assert_non_null(stream);
    return stream;
}

/* Appends the names of shard k of n, each with a newline, to `out`. Checks their numbers. */
static void read_shard(char *out, uint32_t k, uint32_t n, bool zero, uint64_t *number)
{
    struct gi_list_stream *stream = open_list(zero);
    const struct gi_shard shard = {k, n};
    struct gi_err err = {0};
    struct gi_input input;
    bool more = true;
    assert_int_equal(gi_list_stream_select(stream, &shard, NULL, true, &err), GI_OK);
    for (int turn = 0; turn < 2; turn++) {
        uint64_t before = *number;
        while (!gi_list_stream_next(stream, &input, &more, &err) && more) {
            assert_int_equal(input.number, ++*number);
            if (turn)
                strcat(strcat(out, input.path), "\n");
        }
        assert_string_equal(err.text, "");
        if (!turn)
            *number = before;
        gi_list_stream_rewind(stream);
    }
    gi_list_stream_close(&stream);
}

TEST(shards_have_every_name_once)
{
    char bytes[NAMES_MAX * 12], want[NAMES_MAX * 12], got[NAMES_MAX * 12];
    srand(1);
    for (int round = 0; round < 60; round++) {
        int names = rand() % NAMES_MAX;
        bool zero = round % 2;
        size_t nbytes = 0;
        *want = '\0';
        for (int i = 0; i < names; i++) {
            char name[12] = "";
            int length = rand() % 10; /* some are empty */
            for (int j = 0; j < length; j++)
                name[j] = (char)('a' + rand() % 26);
            memcpy(bytes + nbytes, name, (size_t)length);
            nbytes += (size_t)length;
            if (i + 1 < names || rand() % 2)
                bytes[nbytes++] = zero ? '\0' : '\n';
            if (length)
                strcat(strcat(want, name), "\n");
        }
        if (!nbytes)
            continue;
        write_list(bytes, nbytes);
        for (uint32_t n = 0; n <= 40; n += 1 + n / 4) {
            uint64_t number = 0;
            *got = '\0';
            for (uint32_t k = n > 0; k <= n; k++)
                read_shard(got, k, n, zero, &number);
            assert_string_equal(got, want);
        }
    }
}

TEST(names_across_buffers)
{
    enum { LINE = 99991, LINES = 90 }; /* 9 MB, several buffers */
    char *bytes = malloc((size_t)LINE * LINES + 1);
    struct gi_err err = {0};
    struct gi_input input;
    bool more;
    assert_non_null(bytes);
    for (int i = 0; i < LINES; i++) {
        memset(bytes + (size_t)i * LINE, 'a' + i % 26, LINE);
        bytes[(size_t)(i + 1) * LINE - 1] = '\n';
    }
    write_list(bytes, (size_t)LINE * LINES);
    struct gi_list_stream *stream = open_list(false);
    assert_int_equal(gi_list_stream_nbytes(stream), (uint64_t)LINE * LINES);
    for (int i = 0; i < LINES; i++) {
        assert_int_equal(gi_list_stream_next(stream, &input, &more, &err), GI_OK);
        assert_true(more);
        assert_int_equal(strlen(input.path), LINE - 1);
        assert_memory_equal(input.path, bytes + (size_t)i * LINE, LINE - 1);
        assert_int_not_equal(input.why, 0); /* too long for a path */
    }
    assert_int_equal(gi_list_stream_next(stream, &input, &more, &err), GI_OK);
    assert_false(more);
    gi_list_stream_close(&stream);
    free(bytes);
}

static void check_error(const char *bytes, size_t nbytes, enum gi_status want, const char *text)
{
    struct gi_err err = {0};
    struct gi_input input;
    bool more = true;
    enum gi_status status = GI_OK;
    write_list(bytes, nbytes);
    struct gi_list_stream *stream = open_list(false);
    while (!status && more)
        status = gi_list_stream_next(stream, &input, &more, &err);
    assert_int_equal(status, want);
    assert_non_null(strstr(err.text, text));
    gi_list_stream_close(&stream);
}

TEST(errors)
{
    static char line[GI_LINE_MAX + 1];
    check_error("ab\nc\0d\n", 7, GI_E_USAGE, "byte 3: holds a zero byte, want -0");
    check_error("ab\nc\r\n", 6, GI_E_USAGE, "byte 3: ends in a carriage return");
    check_error("ab\n-\n", 5, GI_E_USAGE, "byte 3: -: want the name of a file");
    memset(line, 'a', sizeof line);
    check_error(line, sizeof line, GI_E_FORMAT, "byte 0: a line is longer than 1048576 bytes");
    write_list("abc\ndef\n", 8);
    struct gi_list_stream *stream = open_list(false);
    struct gi_err err = {0};
    struct gi_input input;
    bool more;
    write_list("abc\n", 4);
    assert_int_equal(gi_list_stream_next(stream, &input, &more, &err), GI_E_IO);
    assert_non_null(strstr(err.text, "became shorter"));
    gi_list_stream_close(&stream);
}

TEST(matcher_and_size)
{
    struct gi_matcher matcher = {0};
    struct gi_list_stream *stream;
    struct gi_err err = {0};
    struct gi_input input;
    bool more;
    uint64_t hash, other;
    write_list("a/x.png\nb/y.jpg\nz.png\n", 22);
    assert_int_equal(gi_matcher_read(&matcher, "*.png", NULL, &err), GI_OK);
    stream = open_list(false);
    assert_int_equal(gi_list_stream_select(stream, &(struct gi_shard){0}, &matcher, false, &err),
                     GI_OK);
    assert_int_equal(gi_list_stream_next(stream, &input, &more, &err), GI_OK);
    assert_string_equal(input.path, "a/x.png");
    assert_int_equal(input.root, 2);
    assert_int_equal(gi_list_stream_next(stream, &input, &more, &err), GI_OK);
    assert_string_equal(input.path, "z.png");
    assert_int_equal(input.root, 0);
    assert_int_equal(input.number, 2);
    assert_int_equal(gi_list_stream_left_out(stream), 1);
    assert_int_equal(gi_list_stream_hash(&hash, stream, &err), GI_OK);
    gi_list_stream_close(&stream);
    gi_matcher_free(&matcher);
    write_list("a/x.png\nb/y.jpg\nZ.png\n", 22);
    stream = open_list(false);
    assert_int_equal(gi_list_stream_hash(&other, stream, &err), GI_OK);
    assert_true(hash != other);
    gi_list_stream_close(&stream);
    setenv("GPUIMG_LIST_BYTES", "22", 1);
    assert_int_equal(gi_list_stream_open(&stream, path, false, NULL, &err), GI_OK);
    assert_null(stream);
    setenv("GPUIMG_LIST_BYTES", "0", 1);
}

/* Returns hash i of a sequence without repetitions. */
static uint64_t hash_of(uint64_t i)
{
    return i * UINT64_C(0x9e3779b97f4a7c15) & ~UINT64_C(1);
}

TEST(equal_keys)
{
    enum { KEYS = 2500000 }; /* 1024 partitions keep 1048576 keys in memory */
    static const uint64_t twice[] = {0, 7, 1000000, KEYS - 1}, read_twice[] = {5, 2000000};
    struct gi_equal_keys *keys = gi_equal_keys_new();
    struct gi_err err = {0};
    uint64_t found[8];
    size_t n;
    for (uint64_t i = 0; i < KEYS; i++)
        assert_int_equal(gi_equal_keys_add(keys, hash_of(i), i % 2 && i != 5, &err), GI_OK);
    assert_int_equal(gi_equal_keys_find(keys, found, 8, &n, &err), GI_OK);
    assert_int_equal(n, 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(gi_equal_keys_add(keys, hash_of(twice[i]), true, &err), GI_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(gi_equal_keys_add(keys, hash_of(read_twice[i]), false, &err), GI_OK);
    assert_int_equal(gi_equal_keys_find(keys, found, 8, &n, &err), GI_OK);
    assert_int_equal(n, 4);
    for (int i = 0; i < 4; i++) {
        bool has = false;
        for (int j = 0; j < 4; j++)
            has |= found[j] == gi_equal_keys_key(hash_of(twice[i]));
        assert_true(has);
    }
    assert_int_equal(gi_equal_keys_find(keys, found, 3, &n, &err), GI_OK);
    assert_int_equal(n, 3);
    gi_equal_keys_free(&keys);
}
