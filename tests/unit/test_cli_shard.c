/* The option --shard splits a list into disjoint shards that together are the whole list, however a
 * scheduler numbers its tasks.
 * Sources: cli/paths/shard*
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "cli/paths/shard.h"

static const char *const variables[] = {
    "SLURM_ARRAY_TASK_ID",       "SLURM_ARRAY_TASK_COUNT",   "SLURM_ARRAY_TASK_MIN",
    "SLURM_ARRAY_TASK_MAX",      "JOB_COMPLETION_INDEX",     "PARALLEL_SEQ",
    "AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE",
};

static void clear(void)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
}

static void set(const char *name, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    setenv(name, text, 1);
}

static void set_slurm(int id, int count, int lowest, int highest)
{
    set("SLURM_ARRAY_TASK_ID", id);
    set("SLURM_ARRAY_TASK_COUNT", count);
    set("SLURM_ARRAY_TASK_MIN", lowest);
    set("SLURM_ARRAY_TASK_MAX", highest);
}

static void check(const char *text, uint32_t k, uint32_t n)
{
    struct gi_shard shard;
    struct gi_err err = {0};
    int status = gi_shard_read(&shard, text, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(status, GI_OK);
    assert_int_equal(shard.k, k);
    assert_int_equal(shard.n, n);
}

static void check_error(const char *text, const char *want)
{
    struct gi_shard shard;
    struct gi_err err = {0};
    assert_int_equal(gi_shard_read(&shard, text, &err), GI_E_USAGE);
    assert_string_equal(err.text, want);
}

TEST(every_item_once)
{
    for (uint32_t n = 1; n <= 9; n++)
        for (uint64_t total = 0; total <= 20; total++) {
            int taken[20] = {0};
            for (uint32_t k = 1; k <= n; k++) {
                struct gi_shard shard = {k, n};
                uint64_t size = 0;
                for (uint64_t i = 0; i < total; i++)
                    if (gi_shard_takes(&shard, i)) {
                        taken[i]++;
                        size++;
                    }
                assert_int_equal(size, gi_shard_size(&shard, total));
            }
            for (uint64_t i = 0; i < total; i++)
                assert_int_equal(taken[i], 1);
        }
    struct gi_shard none = {0, 0};
    assert_true(gi_shard_takes(&none, 0) && gi_shard_takes(&none, 17));
    assert_int_equal(gi_shard_size(&none, 18), 18);
    struct gi_shard second = {2, 3};
    assert_false(gi_shard_takes(&second, 0));
    assert_true(gi_shard_takes(&second, 1) && gi_shard_takes(&second, 4));
}

TEST(given)
{
    clear();
    check(NULL, 0, 0);
    check("1/1", 1, 1);
    check("3/8", 3, 8);
    check("8/8", 8, 8);
    set_slurm(5, 8, 1, 8);
    check("3/8", 3, 8);
    static const char *const wrong[] = {
        "",     "0/8",       "9/8",   "3",      "3/",  "/8",   "3/0",     "3/8/1",        "-1/8",
        "3/8 ", "automatic", "auto/", "auto/0", "a/b", " 3/8", "auto/8x", "1/99999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char want[128];
        snprintf(want, sizeof want, "--shard %s: want K/N with K from 1 to N, auto or auto/N",
                 wrong[i]);
        check_error(wrong[i], want);
    }
}

TEST(slurm)
{
    clear();
    for (int first = 0; first <= 1; first++)
        for (int id = first; id < 8 + first; id++) {
            set_slurm(id, 8, first, 7 + first);
            check("auto", id ? (uint32_t)id : 8, 8);
            check("auto/8", id ? (uint32_t)id : 8, 8);
        }
    set_slurm(103, 8, 101, 108); /* 103 is 7 modulo 8 */
    check("auto", 7, 8);
    /* If only some tasks run again, each task has the same shard as before. */
    set_slurm(5, 2, 3, 5);
    check("auto/8", 5, 8);
    check_error("auto", "--shard auto: the array's 2 tasks are numbered 3 to 5 with gaps: want "
                        "numbers in a row, or auto/N");
    set_slurm(2, 4, 0, 6);
    check_error("auto/4", "--shard auto/4: the array's 4 tasks are numbered 0 to 6 with gaps: want "
                          "numbers in a row");
    set_slurm(2, 16, 1, 16);
    check_error("auto/8", "--shard auto/8: SLURM_ARRAY_TASK_COUNT is 16: want at most 8 tasks");
    setenv("SLURM_ARRAY_TASK_ID", "-2", 1);
    check_error("auto/8", "--shard auto/8: SLURM_ARRAY_TASK_ID is -2: want a number up to "
                          "1000000000");
    clear();
}

TEST(others)
{
    clear();
    set("JOB_COMPLETION_INDEX", 0);
    check("auto/3", 3, 3);
    check_error("auto", "--shard auto: JOB_COMPLETION_INDEX comes without the number of tasks: "
                        "want auto/N");
    set("JOB_COMPLETION_INDEX", 2);
    check("auto/3", 2, 3);
    set("JOB_COMPLETION_INDEX", 3);
    check_error("auto/3", "--shard auto/3: JOB_COMPLETION_INDEX is 3: want 0 to 2");
    clear();
    set("AWS_BATCH_JOB_ARRAY_INDEX", 4);
    set("AWS_BATCH_JOB_ARRAY_SIZE", 5);
    check("auto", 4, 5);
    check_error("auto/4", "--shard auto/4: AWS_BATCH_JOB_ARRAY_SIZE is 5: want at most 4 tasks");
    clear();
    set("PARALLEL_SEQ", 4);
    check("auto/4", 4, 4);
    set("PARALLEL_SEQ", 5);
    check_error("auto/4", "--shard auto/4: PARALLEL_SEQ is 5: want 1 to 4");
    set("JOB_COMPLETION_INDEX", 0);
    check_error("auto/4", "--shard auto/4: JOB_COMPLETION_INDEX and PARALLEL_SEQ are both set: "
                          "want K/N, or one of them unset");
    check("2/4", 2, 4);
    clear();
    setenv("PARALLEL_SEQ", "", 1);
    check_error("auto/4", "--shard auto/4: none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, "
                          "AWS_BATCH_JOB_ARRAY_INDEX, PARALLEL_SEQ is set: want K/N");
    clear();
}
