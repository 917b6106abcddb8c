/* An output file is complete or does not exist, whatever happens while it is written.
 * Sources: imgio/sink* imgio/temporary* imgio/bundle.c
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void assert_content(const char *path, const char *text)
{
    struct bytes file = read_file(path);
    assert_int_equal(file.n, strlen(text));
    assert_memory_equal(file.at, text, file.n);
    free(file.at);
}

static int mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

/* Writes `text` to `path` through a sink. Returns the first status that is not GI_OK, or GI_OK. */
static enum gi_status put(const char *path, const char *text, bool no_clobber, struct gi_err *err)
{
    struct gi_sink *sink;
    *err = (struct gi_err){0};
    enum gi_status status = gi_sink_open(&sink, path, no_clobber, err);
    if (status) {
        assert_null(sink);
        return status;
    }
    status = gi_sink_write(sink, text, strlen(text), err);
    if (!status)
        status = gi_sink_commit(&sink, true, err);
    gi_sink_abandon(&sink);
    return status;
}

TEST(writes)
{
    struct gi_err err;
    const char *path = in_folder("a");
    mode_t mask = umask(027);
    assert_int_equal(put(path, "one", false, &err), GI_OK);
    umask(mask);
    assert_content(path, "one");
    assert_int_equal(mode_of(path), 0640);
    assert_int_equal(chmod(path, 0604), 0);
    assert_int_equal(put(path, "two", false, &err), GI_OK);
    assert_content(path, "two");
    assert_int_equal(mode_of(path), 0604);
    assert_int_equal(count_files(folder), 1);
}

TEST(large_and_formatted)
{
    struct gi_sink *sink;
    struct gi_err err = {0};
    const char *path = in_folder("a");
    unsigned char *block = malloc(3 << 20);
    for (int i = 0; i < 3 << 20; i++)
        block[i] = (unsigned char)(i * 7 >> 3);
    assert_int_equal(gi_sink_open(&sink, path, false, &err), GI_OK);
    size_t want = 0;
    static const size_t sizes[] = {1, 1000, (1 << 20) - 1001, 1, 3 << 20, 5, 1 << 20, 7};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(gi_sink_write(sink, block, sizes[i], &err), GI_OK);
        want += sizes[i];
    }
    assert_int_equal(gi_sink_printf(sink, &err, "%d %s\n", 42, "end"), GI_OK);
    assert_int_equal(access(path, F_OK), -1); /* not before the commit */
    assert_int_equal(gi_sink_commit(&sink, false, &err), GI_OK);
    assert_null(sink);
    struct bytes file = read_file(path);
    assert_int_equal(file.n, want + 7);
    assert_memory_equal(file.at + want, "42 end\n", 7);
    size_t at = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; at += sizes[i++])
        assert_memory_equal(file.at + at, block, sizes[i]);
    free(file.at);
    free(block);
}

TEST(abandoned)
{
    struct gi_sink *sink;
    struct gi_err err;
    assert_int_equal(put(in_folder("a"), "old", false, &err), GI_OK);
    assert_int_equal(gi_sink_open(&sink, in_folder("a"), false, &err), GI_OK);
    assert_int_equal(gi_sink_write(sink, "new", 3, &err), GI_OK);
    gi_sink_abandon(&sink);
    assert_null(sink);
    gi_sink_abandon(&sink);
    assert_content(in_folder("a"), "old");
    assert_int_equal(count_files(folder), 1);
}

TEST(no_clobber)
{
    struct gi_err err;
    struct gi_sink *sink;
    assert_int_equal(put(in_folder("a"), "old", true, &err), GI_OK);
    assert_int_equal(put(in_folder("a"), "new", true, &err), GI_E_IO);
    assert_non_null(strstr(err.text, strerror(EEXIST)));
    /* Nor is a file overwritten that appears between opening and committing. */
    assert_int_equal(gi_sink_open(&sink, in_folder("b"), true, &err), GI_OK);
    write_file(in_folder("b"), "rival", 5);
    assert_int_equal(gi_sink_commit(&sink, false, &err), GI_E_IO);
    assert_content(in_folder("b"), "rival");
    assert_content(in_folder("a"), "old");
    assert_int_equal(count_files(folder), 2);
    /* Without no_clobber, a file that appears between opening and committing is replaced. */
    assert_int_equal(gi_sink_open(&sink, in_folder("c"), false, &err), GI_OK);
    write_file(in_folder("c"), "rival", 5);
    assert_int_equal(gi_sink_write(sink, "mine", 4, &err), GI_OK);
    assert_int_equal(gi_sink_commit(&sink, false, &err), GI_OK);
    assert_content(in_folder("c"), "mine");
    assert_int_equal(count_files(folder), 3);
}

TEST(symlinks)
{
    struct gi_err err;
    struct stat st;
    assert_int_equal(mkdir(in_folder("sub"), 0755), 0);
    assert_int_equal(symlink("sub/real", in_folder("one")), 0);
    assert_int_equal(symlink("one", in_folder("two")), 0);
    assert_int_equal(put(in_folder("two"), "first", false, &err), GI_OK); /* a dangling link */
    assert_content(in_folder("sub/real"), "first");
    assert_int_equal(put(in_folder("two"), "second", false, &err), GI_OK);
    assert_content(in_folder("sub/real"), "second");
    assert_int_equal(lstat(in_folder("two"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(symlink("loop", in_folder("loop")), 0);
    assert_int_equal(put(in_folder("loop"), "x", false, &err), GI_E_IO);
    assert_int_equal(count_files(in_folder("sub")), 1);
}

TEST(unwritable)
{
    struct gi_err err;
    assert_int_equal(put(folder, "x", false, &err), GI_E_IO);
    assert_non_null(strstr(err.text, strerror(EISDIR)));
    assert_int_equal(put(in_folder("no/such"), "x", false, &err), GI_E_IO);
    assert_true(strncmp(err.text, folder, strlen(folder)) == 0);
    assert_int_equal(put("", "x", false, &err), GI_E_IO);
    assert_int_equal(put("/dev/full", "x", false, &err), GI_E_AGAIN);
    assert_string_equal(err.text, "/dev/full: No space left on device");
    assert_int_equal(put("/dev/null", "x", true, &err), GI_OK);
    if (geteuid() != 0) {
        assert_int_equal(put(in_folder("a"), "old", false, &err), GI_OK);
        assert_int_equal(chmod(in_folder("a"), 0444), 0);
        assert_int_equal(put(in_folder("a"), "new", false, &err), GI_E_IO);
        assert_content(in_folder("a"), "old");
    }
}

/* In a child process, replaces an older file by more bytes than the limit on file sizes allows. */
static int over_file_limit(void)
{
    struct rlimit limit = {100000, 100000};
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_IGN);
    struct gi_sink *sink;
    struct gi_err err = {0};
    static unsigned char block[2 << 20];
    if (gi_sink_open(&sink, in_folder("a"), false, &err))
        return 1;
    enum gi_status status = gi_sink_write(sink, block, sizeof block, &err);
    if (status != GI_E_IO || !strstr(err.text, strerror(EFBIG)) || !strstr(err.text, folder))
        return 2;
    if (gi_sink_write(sink, block, 1, NULL) != GI_E_IO)
        return 3;
    return gi_sink_commit(&sink, false, &err) == GI_E_IO ? 0 : 4;
}

/* In a child process, writes to a pipe whose reader has exited. */
static int broken_pipe(void)
{
    int ends[2];
    if (pipe(ends) || dup2(ends[1], STDOUT_FILENO) < 0)
        return 1;
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    struct gi_err err = {0};
    if (put("-", "x", false, &err) != GI_E_PIPE)
        return 2;
    return strstr(err.text, "standard output: ") == err.text && strstr(err.text, strerror(EPIPE))
               ? 0
               : 3;
}

/* Runs `task` in a child process. Returns its exit status, or 1000 + signal if a signal ended
 * it. */
static int in_child(int (*task)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(task());
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    return WIFEXITED(result) ? WEXITSTATUS(result) : 1000 + WTERMSIG(result);
}

TEST(failing_writes)
{
    write_file(in_folder("a"), "old", 3);
    assert_int_equal(in_child(over_file_limit), 0);
    assert_content(in_folder("a"), "old");
    assert_int_equal(count_files(folder), 1);
    assert_int_equal(in_child(broken_pipe), 0);
}

static int killed_half_way(void)
{
    struct gi_sink *sink;
    static unsigned char block[3 << 20];
    if (gi_sink_open(&sink, in_folder("a"), false, NULL) ||
        gi_sink_write(sink, block, sizeof block, NULL))
        return 1;
    kill(getpid(), SIGKILL);
    return 2;
}

static void on_signal(int number)
{
    gi_sink_signal_cleanup();
    _exit(7);
}

static int terminated_half_way(void)
{
    struct gi_sink *sinks[3];
    signal(SIGTERM, on_signal);
    for (int i = 0; i < 3; i++)
        if (gi_sink_open(&sinks[i], in_folder("a"), false, NULL) ||
            gi_sink_write(sinks[i], "abc", 3, NULL))
            return 1;
    raise(SIGTERM);
    return 2;
}

TEST(signals)
{
    int fd = open(folder, O_TMPFILE | O_WRONLY, 0600);
    write_file(in_folder("a"), "old", 3);
    assert_int_equal(in_child(terminated_half_way), 7);
    assert_int_equal(count_files(folder), 1);
    if (fd < 0) {
        print_message("no O_TMPFILE here: SIGKILL is not tried\n");
        return;
    }
    close(fd);
    assert_int_equal(in_child(killed_half_way), 1000 + SIGKILL);
    assert_content(in_folder("a"), "old");
    assert_int_equal(count_files(folder), 1);
}

/* Hides /proc in a mount namespace of this process. An unnamed file can't get a name without /proc.
 * Returns false if hiding it is not permitted. */
static bool hide_proc(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", "/proc", "tmpfs", 0, NULL) == 0;
}

enum { NOT_ALLOWED = 77 };

/* In a child process, repeats all tests with a named temporary file. */
static int named_temporary(void)
{
    struct gi_err err;
    struct gi_sink *sink;
    if (!hide_proc())
        return NOT_ALLOWED;
    if (put(in_folder("a"), "one", false, &err) || put(in_folder("a"), "two", false, &err))
        return 1;
    if (put(in_folder("a"), "three", true, &err) != GI_E_IO || put(in_folder("b"), "b", true, &err))
        return 2;
    if (gi_sink_open(&sink, in_folder("c"), true, &err) || count_files(folder) != 3)
        return 3;
    write_file(in_folder("c"), "rival", 5);
    if (gi_sink_commit(&sink, false, &err) != GI_E_IO || count_files(folder) != 3)
        return 4;
    if (gi_sink_open(&sink, in_folder("d"), false, &err))
        return 5;
    gi_sink_abandon(&sink);
    return count_files(folder) == 3 ? terminated_half_way() : 6;
}

TEST(without_unnamed_files)
{
    int result = in_child(named_temporary);
    if (result == NOT_ALLOWED) {
        print_message("skipped: may not hide /proc\n");
        skip();
    }
    assert_int_equal(result, 7); /* the signal handler's exit status */
    assert_content(in_folder("a"), "two");
    assert_content(in_folder("b"), "b");
    assert_content(in_folder("c"), "rival");
    assert_int_equal(count_files(folder), 3);
}

/* One call reads the input and writes the output, which are the same file. */
TEST(in_place)
{
    const char *path = in_folder("a.pgm");
    write_file(path, "P5 2 1 255\nab", 13);
    struct gi_image image = load_or_fail(path);
    struct gi_save_options options = {0};
    assert_int_equal(gi_save(&image, NULL, path, &options, NULL, NULL), GI_OK);
    assert_content(path, "P5\n2 1\n255\nab");
    gi_image_free(&image);
}

TEST_FRAME(.before = setup, .after = teardown)
