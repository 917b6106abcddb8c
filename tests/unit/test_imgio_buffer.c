/* A buffer that may spill has the appended bytes, in memory or in an unnamed file. If the file
 * can't be made, or the disk is full, the bytes are in memory. Sources: imgio/buffer*
 * imgio/scratch_file* imgio/reader* SPDX-License-Identifier: MIT */
#include "failing_calls.h"
#include "imgio_folder.h"

#include "imgio/buffer.h"
#include "imgio/reader.h"

enum { NBYTES = 300000, FROM = 1000 };

static unsigned char bytes[NBYTES];

/* Appends pieces whose sizes grow, from memory. */
static enum gi_status fill(struct gi_buffer *buffer, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (size_t at = 0, n = 1; at < NBYTES && !status; at += n, n += n / 3 + 1) {
        n = n < NBYTES - at ? n : NBYTES - at;
        status = gi_buffer_append(buffer, bytes + at, n, err);
        assert_true(status || memcmp(buffer->at, bytes, at + n) == 0);
    }
    return status;
}

static void assert_has_all(const struct gi_buffer *buffer)
{
    assert_int_equal(buffer->nbytes, NBYTES);
    assert_memory_equal(buffer->at, bytes, NBYTES);
}

TEST(spills_and_comes_back)
{
    struct gi_buffer buffer = gi_buffer_spilling(FROM);
    assert_int_equal(gi_buffer_append(&buffer, bytes, FROM, NULL), GI_OK);
    assert_int_equal(gi_buffer_file(&buffer), -1);
    gi_buffer_free(&buffer);
    buffer = gi_buffer_spilling(FROM);
    assert_int_equal(fill(&buffer, NULL), GI_OK);
    assert_true(gi_buffer_file(&buffer) >= 0);
    assert_has_all(&buffer);
    gi_buffer_forget(&buffer);
    assert_has_all(&buffer);
    assert_int_equal(gi_buffer_take_back(&buffer, NULL), GI_OK);
    assert_null(buffer.spill);
    assert_has_all(&buffer);
    free(buffer.at);
}

TEST(never_spills)
{
    struct gi_buffer buffer = {0};
    assert_int_equal(fill(&buffer, NULL), GI_OK);
    assert_int_equal(gi_buffer_file(&buffer), -1);
    assert_has_all(&buffer);
    gi_buffer_free(&buffer);
    buffer = gi_buffer_spilling(2 * NBYTES);
    assert_int_equal(fill(&buffer, NULL), GI_OK);
    assert_int_equal(gi_buffer_take_back(&buffer, NULL), GI_OK);
    assert_has_all(&buffer);
    free(buffer.at);
}

TEST(reads_an_input)
{
    struct gi_reader *reader;
    size_t got;
    write_file(in_folder("input"), bytes, NBYTES);
    for (int spills = 0; spills < 2; spills++) {
        struct gi_buffer buffer = {0};
        if (spills)
            buffer = gi_buffer_spilling(FROM);
        assert_int_equal(gi_reader_open(&reader, in_folder("input"), NULL), GI_OK);
        assert_int_equal(gi_reader_append(reader, &buffer, 5, &got, NULL), GI_OK);
        assert_int_equal(got, 5);
        assert_int_equal(gi_reader_append(reader, &buffer, 2 * NBYTES, &got, NULL), GI_OK);
        assert_int_equal(got, NBYTES - 5);
        assert_int_equal(gi_reader_append(reader, &buffer, 1, &got, NULL), GI_OK);
        assert_int_equal(got, 0);
        assert_int_equal(gi_buffer_file(&buffer) >= 0, spills);
        assert_has_all(&buffer);
        gi_reader_close(&reader);
        gi_buffer_free(&buffer);
    }
}

TEST(a_disk_that_fails)
{
    static const struct fault faults[] = {{"open", ENOENT, true, true},
                                          {"mmap", ENOMEM, false, true},
                                          {"pwrite", EINTR, false, true},
                                          {"pwrite", 0, false, true},
                                          {"pwrite", ENOSPC, false, true}};
    for (size_t f = 0; f < sizeof faults / sizeof *faults; f++)
        for (int n = 1, done = 0; !done; n++) {
            struct gi_buffer buffer = gi_buffer_spilling(FROM);
            struct gi_err err = {0};
            arm(faults[f], n);
            enum gi_status status = fill(&buffer, &err);
            done = disarm("a buffer", status, &err);
            assert_has_all(&buffer);
            if (faults[f].name[0] == 'p') /* a sanitizer has an mmap() of its own */
                assert_true(n > 1 || !done);
            gi_buffer_free(&buffer);
        }
}

static int start(void **state)
{
    setup(state);
    for (size_t i = 0; i < NBYTES; i++)
        bytes[i] = (unsigned char)(i * 2654435761U >> 13);
    return setenv("TMPDIR", folder, 1);
}

TEST_FRAME(.first = start, .last = teardown)
