/* Ranges of members in the file of a tar: which members have one, their bytes, and files that grow
 * or get shorter.
 * Sources: imgio/tar/tar_range* imgio/tar/tar_stream* imgio/tar/tar_read.c imgio/reader*
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "imgio/reader.h"
#include "imgio/tar/tar.h"

TEST_FRAME(.first = enter_folder, .last = leave_folder)

static void shell(const char *command)
{
    assert_int_equal(system(command), 0);
}

/* Makes t.tar of files of random bytes, of which two.bin is longer than the reader's buffer, and
 * a sparse file. */
static void make_tar(const char *options)
{
    char command[256];
    struct gi_err err;
    assert_int_equal(gi_tar_load(&err), GI_OK);
    shell(
        "rm -f *.bin *.tar *.gz; head -c 40000 /dev/urandom >one.bin; head -c 900001 /dev/urandom "
        ">two.bin; truncate -s 500000 holes.bin; echo end >>holes.bin; head -c 70000 "
        "/dev/urandom >three.bin");
    snprintf(command, sizeof command, "tar %s -cf t.tar one.bin two.bin holes.bin three.bin",
             options);
    shell(command);
}

static struct gi_tar_reader *open_tar(const char *path)
{
    struct gi_tar_reader *reader;
    struct gi_err err;
    assert_int_equal(gi_tar_reader_open(&reader, path, &err), GI_OK);
    return reader;
}

/* Returns the range of the next member, which must have this name. */
static struct gi_tar_range *next_range(struct gi_tar_reader *reader, const char *name)
{
    struct gi_tar_entry *entry;
    struct gi_err err;
    assert_int_equal(gi_tar_next(reader, &entry, &err), GI_OK);
    assert_non_null(entry);
    assert_string_equal(gi_tar_entry_name(entry), name);
    struct gi_tar_range *range = gi_tar_member_range(reader, entry, true);
    gi_tar_entry_free(&entry);
    return range;
}

static void assert_is_over(struct gi_tar_reader *reader)
{
    struct gi_tar_entry *entry;
    struct gi_err err;
    assert_int_equal(gi_tar_next(reader, &entry, &err), GI_OK);
    assert_null(entry);
}

/* Compares the range with the file of this name, and frees it. */
static void check_range(struct gi_tar_range *range, const char *name)
{
    void *bytes = NULL;
    struct gi_err err;
    assert_non_null(range);
    struct bytes want = read_file(name);
    assert_int_equal(gi_tar_range_read(range, &bytes, name, &err), GI_OK);
    assert_memory_equal(bytes, want.at, want.n);
    free(bytes);
    free(want.at);
    gi_tar_range_free(&range);
    assert_null(range);
}

static void check_tar(const char *options, bool sparse)
{
    make_tar(options);
    struct gi_tar_reader *reader = open_tar("t.tar");
    struct gi_tar_range *one = next_range(reader, "one.bin");
    struct gi_tar_range *two = next_range(reader, "two.bin");
    struct gi_tar_range *holes = next_range(reader, "holes.bin");
    struct gi_tar_range *three = next_range(reader, "three.bin");
    assert_is_over(reader);
    assert_int_equal(gi_tar_range_read(NULL, NULL, "nothing", NULL), GI_OK);
    gi_tar_reader_close(&reader); /* the ranges outlive it */
    check_range(three, "three.bin");
    check_range(one, "one.bin");
    check_range(two, "two.bin");
    if (sparse)
        assert_null(holes);
    else
        check_range(holes, "holes.bin");
}

TEST(bytes_of_members)
{
    check_tar("--format=ustar", false);
    check_tar("--format=gnu", false);
    check_tar("--format=pax", false);
    check_tar("--format=pax --pax-option=comment=x", false);
}

TEST(sparse_members_have_none)
{
    check_tar("--format=gnu -S", true);
    check_tar("--format=pax -S --sparse-version=0.0", true);
    check_tar("--format=pax -S --sparse-version=0.1", true);
    check_tar("--format=pax -S --sparse-version=1.0", true);
}

/* Members of a compressed tar have ranges in memory, which outlive the reader. */
static void check_compressed(const char *options)
{
    make_tar(options);
    struct gi_tar_reader *reader = open_tar("t.tar");
    struct gi_buffer buffer = {0};
    struct gi_err err;
    struct gi_tar_range *one = next_range(reader, "one.bin");
    assert_int_equal(gi_tar_read(reader, &buffer, 1000000, &err), GI_OK);
    assert_int_equal(buffer.nbytes, 40000);
    free(buffer.at);
    struct gi_tar_range *two = next_range(reader, "two.bin");
    assert_true(gi_tar_stored_nbytes(reader) <= 1100000);
    struct gi_tar_range *holes = next_range(reader, "holes.bin");
    struct gi_tar_range *three = next_range(reader, "three.bin");
    assert_is_over(reader);
    gi_tar_reader_close(&reader);
    check_range(one, "one.bin");
    check_range(two, "two.bin");
    check_range(holes, "holes.bin");
    check_range(three, "three.bin");
}

TEST(members_of_compressed_tars)
{
    check_compressed("-z");
    check_compressed("-j");
    check_compressed("-J");
    if (system("zstd --version >/dev/null 2>&1") == 0)
        check_compressed("--zstd");
    else
        print_message("skipped: there is no zstd\n");
}

/* The members of one compressed tar, more than are decompressed ahead, are read late. */
TEST(many_compressed_members)
{
    enum { MEMBERS = 30 };
    struct gi_tar_range *ranges[MEMBERS];
    char name[32];
    make_tar("");
    for (int i = 0; i < MEMBERS; i++) {
        snprintf(name, sizeof name, "%02d.bin", i);
        assert_int_equal(i % 3 ? link("two.bin", name) : link("three.bin", name), 0);
    }
    shell("tar --hard-dereference -I 'gzip -1' -cf t.tar ??.bin");
    struct gi_tar_reader *reader = open_tar("t.tar");
    for (int i = 0; i < MEMBERS; i++) {
        snprintf(name, sizeof name, "%02d.bin", i);
        ranges[i] = next_range(reader, name);
    }
    assert_is_over(reader);
    gi_tar_reader_close(&reader);
    for (int i = MEMBERS; i--;)
        check_range(ranges[i], i % 3 ? "two.bin" : "three.bin");
}

TEST(compressed_tars_that_are_closed_early)
{
    make_tar("");
    shell("for i in $(seq 24); do ln two.bin x$i.bin; done; tar --hard-dereference -I 'gzip -1' "
          "-cf t.tar "
          "x*.bin one.bin");
    struct gi_tar_reader *reader = open_tar("t.tar");
    struct gi_tar_entry *entry;
    struct gi_err err;
    assert_int_equal(gi_tar_next(reader, &entry, &err), GI_OK);
    gi_tar_entry_free(&entry);
    gi_tar_reader_close(&reader); /* does not wait for the end */
    shell("head -c 300000 t.tar >cut.tar");
    reader = open_tar("cut.tar");
    assert_int_equal(gi_tar_next(reader, &entry, &err), GI_OK);
    assert_null(gi_tar_member_range(reader, entry, true)); /* its end is missing */
    gi_tar_entry_free(&entry);
    assert_int_equal(gi_tar_next(reader, &entry, &err), GI_E_FORMAT);
    assert_non_null(strstr(err.text, "cut.tar: "));
    gi_tar_reader_close(&reader);
    int pipes[2];
    assert_int_equal(pipe(pipes), 0); /* a compressed tar that comes slowly */
    struct bytes all = read_file("t.tar");
    assert_int_equal(write(pipes[1], all.at, 65536), 65536);
    int before = dup(STDIN_FILENO);
    assert_int_equal(dup2(pipes[0], STDIN_FILENO), STDIN_FILENO);
    reader = open_tar("-");
    assert_int_equal(gi_tar_next(reader, &entry, &err), GI_OK);
    gi_tar_entry_free(&entry);
    gi_tar_reader_close(&reader); /* although the thread waits for the pipe */
    dup2(before, STDIN_FILENO);
    close(before);
    close(pipes[0]);
    close(pipes[1]);
    free(all.at);
}

static void *return_it(void *arg)
{
    return arg;
}

/* With stacks that are larger than the address space. */
TEST(no_thread_can_be_started)
{
    pthread_attr_t before, huge;
    pthread_t thread;
    assert_int_equal(pthread_getattr_default_np(&before), 0);
    assert_int_equal(pthread_attr_init(&huge), 0);
    assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 48), 0);
    assert_int_equal(pthread_setattr_default_np(&huge), 0);
    assert_int_not_equal(pthread_create(&thread, NULL, return_it, NULL), 0);
    check_compressed("-z");
    check_compressed("-J");
    many_compressed_members(NULL);
    compressed_tars_that_are_closed_early(NULL);
    assert_int_equal(pthread_setattr_default_np(&before), 0);
    pthread_attr_destroy(&huge);
    pthread_attr_destroy(&before);
}

TEST(ranges_that_would_be_kept)
{
    make_tar("-z");
    struct gi_tar_reader *reader = open_tar("t.tar");
    struct gi_tar_entry *entry;
    struct gi_err err;
    assert_int_equal(gi_tar_next(reader, &entry, &err), GI_OK);
    assert_null(gi_tar_member_range(reader, entry, false));
    gi_tar_entry_free(&entry);
    gi_tar_reader_close(&reader);
}

TEST(a_member_can_be_read_in_both_ways)
{
    make_tar("");
    struct gi_tar_reader *reader = open_tar("t.tar");
    struct gi_buffer buffer = {0};
    struct gi_err err;
    gi_tar_range_free(&(struct gi_tar_range *){next_range(reader, "one.bin")});
    struct gi_tar_range *range = next_range(reader, "two.bin");
    struct bytes want = read_file("two.bin");
    assert_int_equal(gi_tar_read(reader, &buffer, 1000000, &err), GI_OK);
    assert_int_equal(buffer.nbytes, want.n);
    assert_memory_equal(buffer.at, want.at, want.n);
    free(buffer.at);
    free(want.at);
    check_range(range, "two.bin");
    gi_tar_reader_close(&reader);
}

TEST(tars_at_a_position_of_standard_input)
{
    make_tar("");
    shell("{ head -c 777 /dev/urandom; cat t.tar; } >later.tar");
    int before = dup(STDIN_FILENO), fd = open("later.tar", O_RDONLY);
    assert_true(before >= 0 && fd >= 0);
    assert_int_equal(lseek(fd, 777, SEEK_SET), 777);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    struct gi_tar_reader *reader = open_tar("-");
    struct gi_tar_range *one = next_range(reader, "one.bin");
    struct gi_tar_range *two = next_range(reader, "two.bin");
    gi_tar_reader_close(&reader);
    dup2(before, STDIN_FILENO);
    close(before);
    close(fd);
    check_range(one, "one.bin");
    check_range(two, "two.bin");
}

TEST(a_file_gets_shorter)
{
    make_tar("");
    struct gi_tar_reader *reader = open_tar("t.tar");
    struct gi_tar_range *one = next_range(reader, "one.bin");
    struct gi_tar_range *two = next_range(reader, "two.bin");
    void *bytes = NULL;
    struct gi_err err = {0};
    assert_int_equal(truncate("t.tar", 300000), 0);
    check_range(one, "one.bin");
    assert_int_equal(gi_tar_range_read(two, &bytes, "t.tar: two.bin", &err), GI_E_AGAIN);
    assert_string_equal(err.text, "t.tar: two.bin: the tar got shorter while it was read");
    free(bytes);
    gi_tar_range_free(&two);
    struct gi_tar_entry *entry;
    err = (struct gi_err){0};
    assert_int_not_equal(gi_tar_next(reader, &entry, &err), GI_OK);
    assert_null(entry);
    gi_tar_reader_close(&reader);
}

static enum gi_status never_ends(void *arg, bool *ended, struct gi_err *err)
{
    (void)arg, (void)err;
    *ended = false;
    return GI_OK;
}

TEST(a_file_grows)
{
    make_tar("");
    shell("head -c 300000 t.tar >start.tar");
    int fd = open("start.tar", O_RDONLY);
    const struct gi_reader_growth growth = {never_ends, NULL};
    struct gi_tar_reader *reader;
    struct gi_err err;
    assert_int_equal(gi_tar_reader_open_growing(&reader, "grows", fd, &growth, &err), GI_OK);
    check_range(next_range(reader, "one.bin"), "one.bin");
    assert_null(next_range(reader, "two.bin")); /* its end is not there yet */
    shell("tail -c +300001 t.tar >>start.tar");
    struct gi_tar_range *holes = next_range(reader, "holes.bin");
    check_range(holes, "holes.bin");
    check_range(next_range(reader, "three.bin"), "three.bin");
    gi_tar_reader_close(&reader);
}

TEST(a_member_needs_its_padding)
{
    make_tar("--format=ustar"); /* one.bin ends at 40512, and its padding at 40960 */
    shell("head -c 40600 t.tar >cut.tar; head -c 40960 t.tar >whole.tar; gzip -k cut.tar");
    for (int i = 0; i < 2; i++) {
        struct gi_tar_reader *reader = open_tar(i ? "cut.tar.gz" : "cut.tar");
        assert_null(next_range(reader, "one.bin"));
        gi_tar_reader_close(&reader);
    }
    struct gi_tar_reader *reader = open_tar("whole.tar");
    check_range(next_range(reader, "one.bin"), "one.bin");
    gi_tar_reader_close(&reader);
}

TEST(passes_of_a_reader)
{
    static char bytes[200000];
    const unsigned char *at;
    struct gi_reader *reader;
    struct gi_err err;
    size_t n;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i % 251);
    write_file("bytes", bytes, sizeof bytes);
    assert_int_equal(gi_reader_open(&reader, "bytes", &err), GI_OK);
    assert_int_equal(gi_reader_pass(reader, 100), 0); /* so few are read */
    assert_int_equal(gi_reader_pass(reader, 100001), 100001);
    assert_int_equal(gi_reader_at(reader), 100001);
    assert_int_equal(gi_reader_peek(reader, &at, &n, 1, &err), GI_OK);
    assert_true(n < 50000); /* a short read, because another pass may follow */
    assert_memory_equal(at, bytes + 100001, n);
    gi_reader_skip(reader, n);
    assert_int_equal(gi_reader_pass(reader, UINT64_MAX / 2), sizeof bytes - 100001 - n);
    assert_int_equal(gi_reader_at(reader), sizeof bytes);
    assert_int_equal(gi_reader_pass(reader, 100001), 0);
    assert_int_equal(gi_reader_peek(reader, &at, &n, 1, &err), GI_OK);
    assert_int_equal(n, 0);
    gi_reader_close(&reader);
}
