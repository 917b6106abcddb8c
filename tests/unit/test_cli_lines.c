/* A list or a table is read to its end, or there is an error: a lack of memory for a line is not
 * the end of the file, and a line of any length takes bounded memory.
 * Sources: cli/lines* cli/paths/input_list* cli/inputs/pair_list* cli/csv*
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "failing_memory.h"
#include "imgio_folder.h"
#include "cli/inputs/pair_list.h"
#include "cli/lines.h"
#include "cli/csv.h"

enum { LINES = 5, WORD = 300 }; /* longer than the first buffer of a line */

/* Writes LINES lines: two words of WORD letters with `between`, and `end` behind each line. */
static void write_lines(const char *path, const char *head, char between, char end)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(head, file);
    for (int i = 0; i < LINES; i++)
        fprintf(file, "%0*d%c%0*d%c", WORD, i, between, WORD, i + 1, end);
    fclose(file);
}

/* Each returns the status, and the number of lines that were read. */
static enum gi_status read_list(size_t *n, const char *path, struct gi_err *err)
{
    struct gi_list list = {0};
    enum gi_status status = gi_list_from(&list, path, false, false, err);
    *n = list.n;
    gi_list_free(&list);
    return status;
}

static enum gi_status read_pairs(size_t *n, const char *path, bool zero, struct gi_err *err)
{
    struct gi_batch_params params = {.files_from = (char *)path, .null = zero};
    struct gi_batch_files files = {.params = &params};
    enum gi_status status = gi_pairs_read(&files, err);
    *n = files.in.others.n;
    gi_list_free(&files.in.list);
    gi_list_free(&files.in.others);
    return status;
}

static enum gi_status read_tabs(size_t *n, const char *path, struct gi_err *err)
{
    return read_pairs(n, path, false, err);
}

static enum gi_status read_zeros(size_t *n, const char *path, struct gi_err *err)
{
    return read_pairs(n, path, true, err);
}

static enum gi_status read_csv(size_t *n, const char *path, struct gi_err *err)
{
    static const char *const names[] = {"x", "y"};
    struct gi_csv csv;
    double v[2];
    bool end = false;
    enum gi_status status = gi_csv_open(&csv, path, names, 2, 2, err);
    for (*n = 0; !status && !end; *n += !status && !end)
        status = gi_csv_next(&csv, v, &end, err);
    gi_csv_close(&csv);
    return status;
}

static const struct {
    enum gi_status (*read)(size_t *n, const char *path, struct gi_err *err);
    const char *head;
    char between, end;
} kinds[] = {{read_list, "", '-', '\n'},
             {read_tabs, "", '\t', '\n'},
             {read_zeros, "", '\0', '\0'},
             {read_csv, "x,y\n", ',', '\n'}};

struct reading {
    enum gi_status (*read)(size_t *n, const char *path, struct gi_err *err);
    const char *path;
};

static int read_all(void *arg)
{
    const struct reading *reading = arg;
    struct gi_err err = {0};
    size_t n;
    enum gi_status status = reading->read(&n, reading->path, &err);
    stop_failing();
    if (!status)
        assert_int_equal(n, LINES);
    return (int)status;
}

TEST(no_memory)
{
    if (!can_fail)
        skip();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *path = in_folder("list");
        write_lines(path, kinds[i].head, kinds[i].between, kinds[i].end);
        struct reading reading = {kinds[i].read, path};
        int failures = 0;
        bool came = true;
        for (int at = 1; came; at++) {
            int result = run_without_memory(at, read_all, &reading, &came);
            failures += result != GI_OK;
            if (result > 0 && at > 1) /* the first is fopen()'s */
                assert_int_equal(result, GI_E_MEMORY);
        }
        assert_true(failures > 3);
    }
}

TEST(long_line)
{
    const char *path = in_folder("long");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("x,y\n", file);
    for (int i = 0; i <= GI_LINE_MAX; i++)
        putc('1', file);
    fclose(file);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct gi_err err = {0};
        size_t n;
        if (kinds[i].read == read_tabs) /* its first line is no pair */
            continue;
        assert_int_equal(kinds[i].read(&n, path, &err), GI_E_FORMAT);
        assert_non_null(strstr(err.text, "is longer than 1048576 bytes"));
    }
}

TEST_FRAME(.first = setup, .last = teardown)
