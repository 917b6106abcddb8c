/* When a system call fails while files are written or read, the result is an error that leaves
 * every file unchanged, or the right bytes.
 * Sources: imgio/sink* imgio/source* imgio/save.c imgio/temporary* imgio/bundle.c imgio/small*
 * SPDX-License-Identifier: MIT */
#include "failing_calls.h"
#include "imgio_folder.h"

static char *in[8];
static struct gi_image image;
static struct bytes want;
static const char older[] = "what was there before";

static const struct gi_save_options plainly = {.format = "pgm"},
                                    durably = {.format = "pgm", .durable = true},
                                    carefully = {.format = "pgm", .no_clobber = true};

static enum gi_status save(int name, const struct gi_save_options *options, struct gi_err *err)
{
    return gi_save(&image, NULL, in[name], options, NULL, err);
}

static void nothing(void)
{
    for (int i = 0; i < 8; i++)
        if (in[i])
            rmdir(in[i]), unlink(in[i]);
}

/* Makes an older file at the output's path. The file has another owner if the test runs as root. */
static void stands(int name)
{
    write_file(in[name], older, sizeof older);
    assert_int_equal(chmod(in[name], 0604), 0);
    if (geteuid() == 0)
        assert_int_equal(chown(in[name], 1, 1), 0);
}

static void older_file(void)
{
    stands(0);
}

static void older_by_link(void)
{
    stands(1);
    assert_int_equal(symlink("b", in[0]), 0);
}

static void older_of_two(void)
{
    stands(0);
    assert_int_equal(mkdir(in[2], 0705), 0);
}

static enum gi_status save_plainly(struct gi_err *err)
{
    return save(0, &plainly, err);
}

static enum gi_status save_durably(struct gi_err *err)
{
    return save(0, &durably, err);
}

static enum gi_status save_carefully(struct gi_err *err)
{
    return save(0, &carefully, err);
}

/* Commits three outputs at once: a file, a file that replaces an older file, and a folder with a
 * third file. */
static enum gi_status save_together(struct gi_err *err)
{
    struct gi_save_options options = durably;
    enum gi_status status = gi_bundle_new(&options.bundle, false, err);
    if (!status)
        status = save(0, &options, err);
    if (!status)
        status = save(1, &options, err);
    if (!status)
        status = gi_bundle_folder(options.bundle, in[2], NULL, err);
    if (!status)
        status = save(3, &options, err);
    if (!status)
        return gi_bundle_commit(&options.bundle, err);
    gi_bundle_abandon(&options.bundle);
    return status;
}

static const struct work {
    const char *name;
    void (*before)(void);
    enum gi_status (*run)(struct gi_err *err);
    int files[4], n; /* those that it writes */
    int more;        /* further names in the folder */
} works[] = {
    {"a new file", nothing, save_plainly, {0}, 1, 1},
    {"a new file, never over another", nothing, save_carefully, {0}, 1, 1},
    {"over an older file", older_file, save_durably, {0}, 1, 0},
    {"through a link", older_by_link, save_plainly, {1}, 1, 0},
    {"together", older_of_two, save_together, {0, 1, 3}, 3, 1},
};

static const struct fault faults[] = {
    {"open", EMFILE, false, false},    {"open", EOPNOTSUPP, false, false},
    {"close", EIO, false, false},      {"close", EINTR, false, true},
    {"fstat", EIO, false, false},      {"lstat", EIO, false, false},
    {"read", EIO, false, false},       {"read", EINTR, false, true},
    {"read", 0, true, true},           {"write", ENOSPC, false, false},
    {"write", EINTR, false, true},     {"write", 0, true, true},
    {"fsync", EIO, false, false},      {"fsync", EINVAL, false, true},
    {"fchmod", EPERM, false, false},   {"fchown", EIO, false, false},
    {"fchown", EPERM, false, true},    {"linkat", EIO, false, false},
    {"linkat", EEXIST, false, false},  {"renameat2", EACCES, false, false},
    {"renameat2", ENOSYS, true, true}, {"rename", EIO, false, false},
    {"mkdir", EACCES, false, false},   {"mkdir", EEXIST, false, true},
    {"readdir", EIO, false, false},    {"getrandom", EAGAIN, false, false},
    {"lseek", ESPIPE, false, true},    {"pread", EIO, false, false},
    {"pread", EINTR, false, true},     {"mmap", ENOMEM, false, true},
    {"malloc", ENOMEM, false, false},
};

static void assert_bytes(const char *path, const void *at, size_t n)
{
    struct bytes file = read_file(path);
    assert_int_equal(file.n, n);
    assert_memory_equal(file.at, at, n);
    free(file.at);
}

static int open_files(void)
{
    return count_files("/proc/self/fd");
}

/* Tests that each file is complete or as before (an older file at its own path), and that no other
 * file exists. */
static void check_files(const struct work *work, bool done, int before)
{
    struct stat st;
    for (int i = 0; i < work->n; i++) {
        const char *path = in[work->files[i]];
        if (done)
            assert_bytes(path, want.at, want.n);
        else if (i > 0 || work->before == nothing)
            assert_int_equal(access(path, F_OK), -1);
        else
            assert_bytes(path, older, sizeof older);
        if (i == 0 && work->before != nothing) {
            assert_int_equal(stat(path, &st), 0);
            assert_int_equal(st.st_mode & 07777, 0604);
        }
    }
    assert_int_equal(count_files(folder), before + (done ? work->more : 0));
}

static bool skips(const struct fault *with)
{
    return strcmp(with->name, "malloc") == 0 && !can_fail;
}

TEST(writing)
{
    int failed = 0;
    for (size_t w = 0; w < sizeof works / sizeof *works; w++)
        for (size_t f = 0; f < sizeof faults / sizeof *faults; f++)
            for (int n = 1, stop = skips(&faults[f]); !stop; n++) {
                bool done;
                const struct work *work = &works[w];
                unlink(in[3]);
                nothing();
                work->before();
                int files = count_files(folder), fds = open_files();
                enum gi_status status = run_fault(work->name, faults[f], n, work->run, &done);
                stop = done;
                failed += status != GI_OK;
                check_files(work, !status, files);
                assert_int_equal(open_files(), fds);
            }
    unlink(in[3]);
    nothing();
    print_message("%d calls failed the work\n", failed);
    assert_in_range(failed, 40, 1000);
}

/* An older folder that contains a foreign file is never replaced, not even if an error of readdir()
 * hides the foreign file. */
TEST(older_folder)
{
    for (int n = 0, done = 0; !done; n++) {
        struct gi_err err = {0};
        struct gi_save_options options = plainly;
        nothing();
        assert_int_equal(mkdir(in[2], 0700), 0);
        write_file(in[3], older, sizeof older);
        assert_int_equal(gi_bundle_new(&options.bundle, false, &err), GI_OK);
        assert_int_equal(gi_bundle_folder(options.bundle, in[2], NULL, &err), GI_OK);
        arm((struct fault){"readdir", EIO, false, false}, n);
        enum gi_status status = gi_bundle_commit(&options.bundle, &err);
        done = disarm("an older folder", status, &err) && n;
        assert_int_equal(status, n && !done ? GI_E_AGAIN : GI_E_IO);
        assert_bytes(in[3], older, sizeof older);
        unlink(in[3]);
    }
    nothing();
}

static void clear_dead(void)
{
    gi_sink_clear_dead(folder);
}

/* While outputs get their names, the older files that they replace have temporary names. A process
 * that removes abandoned temporary files leaves these older files alone, because they are restored
 * if a later exchange fails. */
TEST(older_while_cleared)
{
    nothing();
    older_of_two();
    stands(1);
    for (int n = 2; n >= 0; n--) {
        struct gi_err err = {0};
        arm((struct fault){"renameat2", EACCES, false, false}, n);
        after_rename = clear_dead;
        enum gi_status status = save_together(&err);
        after_rename = NULL;
        disarm("together", status, &err);
        assert_int_equal(status, n ? GI_E_IO : GI_OK);
        for (int i = 0; n && i < 2; i++)
            assert_bytes(in[i], older, sizeof older);
    }
    assert_bytes(in[0], want.at, want.n);
    unlink(in[3]);
    nothing();
    assert_int_equal(count_files(folder), 0);
}

/* Makes standard input a pipe that holds `n` bytes. */
static void feed(const void *bytes, size_t n)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, n), n);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
}

static const char *loaded_path;
static const struct gi_image *loaded_want;

static enum gi_status load(struct gi_err *err)
{
    struct gi_image got;
    enum gi_status status = gi_load(&got, NULL, NULL, loaded_path, &strictly, NULL, err);
    stop_failing();
    if (!status)
        assert_same_image(loaded_want, &got);
    gi_image_free(&got);
    return status;
}

TEST(reading)
{
    struct gi_image large = random_image(1100, 1000, 1, GI_U8, 9);
    int failed = 0, standard = dup(STDIN_FILENO);
    assert_int_equal(save(0, &plainly, NULL), GI_OK);
    assert_int_equal(gi_save(&large, NULL, in[1], &plainly, NULL, NULL), GI_OK);
    const char *const paths[] = {in[0], in[1], "-"};
    for (int w = 0; w < 3; w++)
        for (size_t f = 0; f < sizeof faults / sizeof *faults; f++)
            for (int n = 1, stop = skips(&faults[f]); !stop; n++) {
                bool done;
                feed(want.at, want.n);
                int fds = open_files();
                struct fault with = faults[f];
                with.on = with.on && w != 1; /* single bytes would take long */
                loaded_path = paths[w];
                loaded_want = w == 1 ? &large : &image;
                failed += run_fault(paths[w], with, n, load, &done) != GI_OK;
                stop = done;
                assert_int_equal(open_files(), fds);
            }
    dup2(standard, STDIN_FILENO);
    close(standard);
    nothing();
    gi_image_free(&large);
    print_message("%d calls failed the work\n", failed);
    assert_in_range(failed, 6, 1000);
}

static int start(void **state)
{
    static const char *const names[] = {"a", "b", "c", "c/d"};
    setup(state);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(asprintf(&in[i], "%s/%s", folder, names[i]) > 0);
    image = random_image(20, 10, 1, GI_U8, 7);
    save(0, &plainly, NULL);
    want = read_file(in[0]);
    nothing();
    return 0;
}

TEST_FRAME(.first = start, .last = teardown)
