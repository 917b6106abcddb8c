/* When a system call or an allocation fails while the report of a batch is written, the result is
 * an error, or a complete report of whole lines.
 * Sources: cli/report/journal* cli/paths/path_conflicts*
 * SPDX-License-Identifier: MIT */
#include "failing_calls.h"
#include "imgio_folder.h"

#include "cli/paths/path_conflicts.h"
#include "cli/report/journal.h"
#include "cli/json.h"

enum { ITEMS = 3 };

static char *report, *paths[2 * ITEMS];
static struct bytes older; /* a report of the first two items */

static bool all(void *arg, const char *input, const char *output)
{
    return input && output;
}

static const struct gi_journal_wants wants = {.are = all};
static const struct gi_journal_head head = {.chain = "blur --k 3", .list = 7, .files = ITEMS};

/* Writes a report of the items `from` to `to`. If `resume`, they follow the items of an earlier
 * run. */
static enum gi_status write_report(bool resume, int from, int to, struct gi_err *err)
{
    struct gi_journal *journal;
    enum gi_status status = gi_journal_open(&journal, report, resume ? &wants : NULL, &head, err);
    for (int i = 0; i < ITEMS && !status; i++)
        assert_int_equal(gi_journal_has(journal, paths[2 * i], paths[2 * i + 1]), resume && i < 2);
    for (int i = from; i < to && !status; i++) {
        struct gi_line line = {.input = paths[2 * i],
                               .output = paths[2 * i + 1],
                               .shape = {.width = 3, .height = 2, .channels = 1},
                               .status = i == 2 ? GI_E_FORMAT : GI_OK};
        gi_line_note_input(&line);
        gi_line_note_output(&line);
        strcpy(line.err.text, "is damaged");
        status = gi_journal_add(journal, &line, err);
    }
    gi_journal_close(&journal);
    return status;
}

static enum gi_status anew(struct gi_err *err)
{
    return write_report(false, 0, ITEMS, err);
}

static enum gi_status resumed(struct gi_err *err)
{
    return write_report(true, 2, ITEMS, err);
}

/* Checks for conflicts between the path of one output and those of several inputs: one file under
 * three names, a missing file, and a file in another folder. */
static enum gi_status claimed(struct gi_err *err)
{
    char names[5][256];
    struct gi_paths set = {0};
    struct gi_path a, b;
    enum gi_status status = GI_OK;
    snprintf(names[0], sizeof names[0], "%s", paths[0]);
    snprintf(names[1], sizeof names[1], "%s/./in0", folder);
    snprintf(names[2], sizeof names[2], "%s/../%s/link", folder, strrchr(folder, '/') + 1);
    snprintf(names[3], sizeof names[3], "%s/missing", folder);
    snprintf(names[4], sizeof names[4], "/dev/null");
    for (size_t i = 0; i < 5 && !status; i++)
        status = gi_paths_add(&set, i ? GI_PATH_INPUT : GI_PATH_OUTPUT, i, names[i], err);
    if (!status)
        status = gi_paths_add_folder(&set, GI_PATH_OUTPUT, 9, names[3], err);
    if (!status) {
        assert_in_range(set.n, 5,
                        6); /* a path that can't be examined counts as a file of its own */
        assert_true(gi_paths_conflict(&set, false, &a, &b));
        assert_int_equal(a.kind, GI_PATH_OUTPUT);
        assert_int_equal(b.index, 1);
        assert_true(gi_paths_conflict(&set, true, &a, &b));
    }
    gi_paths_free(&set);
    return status;
}

static const struct work {
    const char *name;
    enum gi_status (*run)(struct gi_err *err);
    bool resumes, reports;
} works[] = {
    {"a report", anew, false, true},
    {"a report that goes on", resumed, true, true},
    {"paths", claimed, false, false},
};

static const struct fault faults[] = {
    {"open", EMFILE, false, false},   {"write", ENOSPC, false, false},
    {"write", EINTR, false, true},    {"write", 0, true, true},
    {"fstat", EIO, false, false},     {"linkat", EIO, false, false},
    {"rename", EACCES, false, false}, {"close", EIO, false, false},
    {"lstat", EIO, false, false},     {"malloc", ENOMEM, false, false},
};

/* Checks that after a fault the file has only whole lines or its earlier content. */
static void check_report(const struct work *work, bool done, struct bytes want)
{
    if (access(report, F_OK) != 0) {
        assert_false(done || work->resumes);
        return;
    }
    struct bytes got = read_file(report);
    bool before = work->resumes && got.n == older.n && memcmp(got.at, older.at, got.n) == 0;
    if (done)
        assert_int_equal(got.n, want.n);
    if (!before) {
        assert_true(got.n <= want.n && got.n > 0);
        assert_memory_equal(got.at, want.at, got.n);
    }
    free(got.at);
}

static void prepare(const struct work *work)
{
    unlink(report);
    if (work->resumes)
        write_file(report, older.at, older.n);
    gi_json_start();
}

/* Runs the work once for each call of the function that faults[f] names, and lets that call fail.
 * Returns how many runs did not finish their work. */
static int walk(const struct work *work, size_t f, struct bytes want)
{
    bool done = strcmp(faults[f].name, "malloc") == 0 && !can_fail;
    int failed = 0;
    for (int n = 1; !done; n++) {
        prepare(work);
        enum gi_status status = run_fault(work->name, faults[f], n, work->run, &done);
        failed += status != GI_OK;
        if (work->reports)
            check_report(work, !status, want);
    }
    return failed;
}

TEST(each_call)
{
    for (size_t w = 0; w < sizeof works / sizeof *works; w++) {
        struct gi_err err = {0};
        struct bytes want = {NULL, 0};
        int failed = 0, files = count_files("/proc/self/fd");
        prepare(&works[w]);
        if (works[w].run(&err))
            fail_msg("%s: %s", works[w].name, err.text);
        if (works[w].reports)
            want = read_file(report);
        for (size_t f = 0; f < sizeof faults / sizeof *faults; f++)
            failed += walk(&works[w], f, want);
        print_message("%s: %d calls failed the work\n", works[w].name, failed);
        assert_true(failed > (can_fail ? 2 : -1));
        assert_int_equal(count_files("/proc/self/fd"), files);
        free(want.at);
    }
}

static int start(void **state)
{
    setup(state);
    assert_true(asprintf(&report, "%s/report", folder) > 0);
    for (int i = 0; i < 2 * ITEMS; i++) {
        assert_true(asprintf(&paths[i], "%s/%s%d", folder, i % 2 ? "out" : "in", i / 2) > 0);
        write_file(paths[i], "some", 4);
    }
    assert_int_equal(symlink("in0", in_folder("link")), 0);
    gi_json_start();
    assert_int_equal(write_report(false, 0, 2, NULL), GI_OK);
    older = read_file(report);
    return 0;
}

static int end(void **state)
{
    for (int i = 0; i < 2 * ITEMS; i++)
        free(paths[i]);
    free(report);
    free(older.at);
    return teardown(state);
}

TEST_FRAME(.first = start, .last = end)
