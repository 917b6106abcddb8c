/* The engine of a batch: the order of deliveries, the number of items and the memory in progress,
 * and the ends of a batch, with items that only count and sleep. The waits that --timing prints
 * are counted by their cause.
 * Sources: cli/run/engine* cli/run/timing*
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

#include "cli/log.h"
#include "cli/run/engine.h"
#include "cli/run/timing.h"
#include "imgio/small.h"

enum {
    ITEMS = 300,
    THREADS = 8,
    AHEAD = 5 * THREADS, /* maximum of taken - delivered: per thread 1 in work and 4 finished */
    SLOW_US = 60000,
};

/* A batch of ITEMS items. */
static struct batch {
    bool ordered;
    uint64_t nbytes;          /* that each item reserves */
    uint64_t kept;            /* that the source keeps from its first item on */
    int slow;                 /* number of the item that is slow, or -1 */
    int fails;                /* number of the item that fails, or -1 */
    int full_from;            /* number of the first item that finds the disk full; 0: none does */
    int ends_at;              /* number of items after which the source fails, or -1 */
    unsigned next_us, put_us; /* how long the source and the target take */
    struct gi_engine *engine;
    pthread_mutex_t lock; /* of the following members */
    int taken, delivered, inside;
    int most_taken;           /* maximum of taken - delivered */
    uint64_t held, most_held; /* bytes, while an item is worked on */
    int calls_inside, ended;  /* of next() */
    int order[ITEMS];         /* numbers of the items as they were delivered */
} batch;

static enum gi_status next(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    (void)self;
    assert_int_equal(__atomic_add_fetch(&batch.calls_inside, 1, __ATOMIC_SEQ_CST), 1);
    assert_int_equal(batch.ended, 0); /* not called after the end */
    usleep(batch.next_us);
    pthread_mutex_lock(&batch.lock);
    bool fails = batch.taken == batch.ends_at;
    *more = batch.taken < ITEMS && !fails;
    if (!batch.taken)
        gi_engine_count_kept(item->turn.engine, (int64_t)batch.kept);
    item->source.place = (size_t)batch.taken;
    batch.taken += *more;
    batch.ended += !*more;
    if (batch.taken - batch.delivered > batch.most_taken)
        batch.most_taken = batch.taken - batch.delivered;
    pthread_mutex_unlock(&batch.lock);
    item->line.input = gi_small_copy("item");
    __atomic_sub_fetch(&batch.calls_inside, 1, __ATOMIC_SEQ_CST);
    return fails ? gi_fail(err, GI_E_IO, "the source ends") : GI_OK;
}

/* Waits until no more items are taken, because this one is not delivered. */
static void wait_until_full(void)
{
    bool full = false;
    for (int i = 0; i < 1000 && !full; i++) {
        usleep(SLOW_US / 10);
        pthread_mutex_lock(&batch.lock);
        full = !batch.ordered || batch.taken - batch.delivered == AHEAD;
        pthread_mutex_unlock(&batch.lock);
    }
    usleep(SLOW_US);
}

static enum gi_status work(void *self, struct gi_imaging *imaging, struct gi_item *item,
                           struct gi_err *err)
{
    (void)self, (void)imaging;
    if (batch.nbytes)
        gi_engine_reserve(item, batch.nbytes);
    pthread_mutex_lock(&batch.lock);
    batch.held += batch.nbytes;
    if (batch.held > batch.most_held)
        batch.most_held = batch.held;
    pthread_mutex_unlock(&batch.lock);
    usleep(200);
    if ((int)item->source.place == batch.slow)
        wait_until_full();
    pthread_mutex_lock(&batch.lock);
    batch.held -= batch.nbytes;
    pthread_mutex_unlock(&batch.lock);
    if (batch.full_from && (int)item->source.place >= batch.full_from)
        return gi_fail(err, GI_E_AGAIN, "item: %s", strerror(ENOSPC));
    return (int)item->source.place == batch.fails ? gi_fail(err, GI_E_IO, "item fails") : GI_OK;
}

static enum gi_status put(void *self, struct gi_item *item, struct gi_err *err)
{
    (void)self, (void)err;
    assert_int_equal(__atomic_add_fetch(&batch.inside, 1, __ATOMIC_SEQ_CST), 1);
    usleep(batch.put_us);
    pthread_mutex_lock(&batch.lock);
    batch.order[batch.delivered++] = (int)item->source.place;
    pthread_mutex_unlock(&batch.lock);
    __atomic_sub_fetch(&batch.inside, 1, __ATOMIC_SEQ_CST);
    return GI_OK;
}

/* Runs `of`, whose results are then in `batch`. */
static enum gi_status run(struct batch of, uint64_t memory, bool fail_fast, struct gi_err *err)
{
    static const struct gi_source_kind kind = {.next = next};
    const struct gi_source source = {.kind = &kind, .n = ITEMS};
    const struct gi_target_kind target = {.ordered = of.ordered, .put = put};
    const struct gi_item_work works = {.target = &target, .run = work};
    const struct gi_engine_options options = {
        .threads = THREADS, .memory = memory, .fail_fast = fail_fast};
    struct gi_tally tally;
    batch = of;
    pthread_mutex_init(&batch.lock, NULL);
    assert_int_equal(gi_engine_new(&batch.engine, &options, &source, &works, NULL), GI_OK);
    enum gi_status status = gi_engine_run(batch.engine, err);
    gi_engine_tally(batch.engine, &tally);
    assert_int_equal(tally.done + tally.failed, batch.delivered);
    gi_engine_free(&batch.engine);
    return status;
}

/* Every item is delivered once, and in order if that is asked for. */
static void expect_all(void)
{
    bool seen[ITEMS] = {false};
    assert_int_equal(batch.delivered, ITEMS);
    for (int i = 0; i < ITEMS; i++) {
        assert_false(seen[batch.order[i]]);
        seen[batch.order[i]] = true;
        if (batch.ordered)
            assert_int_equal(batch.order[i], i);
    }
}

TEST(a_slow_item_bounds_those_ahead)
{
    for (int ordered = 0; ordered < 2; ordered++) {
        const struct batch slow = {.ordered = ordered, .slow = 3, .fails = -1, .ends_at = -1};
        assert_int_equal(run(slow, UINT64_MAX, false, NULL), GI_OK);
        expect_all();
        if (ordered)
            assert_int_equal(batch.most_taken, AHEAD);
        else
            assert_in_range(batch.most_taken, 1, AHEAD);
    }
}

TEST(memory_is_not_exceeded)
{
    for (int ordered = 0; ordered < 2; ordered++) {
        struct batch many = {
            .ordered = ordered, .nbytes = 1000, .slow = -1, .fails = -1, .ends_at = -1};
        assert_int_equal(run(many, 3500, false, NULL), GI_OK);
        expect_all();
        /* with the item that is delivered next, which never waits */
        assert_in_range(batch.most_held, 1000, 4000);
        many.kept = 2000;
        assert_int_equal(run(many, 5500, false, NULL), GI_OK);
        expect_all();
        assert_in_range(batch.most_held, 1000, 4000);
        many.kept = 20000; /* more than the limit: the items go one by one */
        assert_int_equal(run(many, 5500, false, NULL), GI_OK);
        expect_all();
        assert_in_range(batch.most_held, 1000, 2000);
        many.kept = 0;
        many.nbytes = 10000; /* each is larger than the limit */
        many.put_us = 100;
        assert_int_equal(run(many, 3500, false, NULL), GI_OK);
        expect_all();
        assert_in_range(batch.most_held, 10000, 20000);
    }
}

TEST(ends)
{
    struct gi_err err = {0};
    struct batch one = {.ordered = true, .slow = -1, .fails = 20, .ends_at = -1};
    gi_cli_quiet(true);
    assert_int_equal(run(one, UINT64_MAX, true, &err), GI_OK);
    assert_int_equal(batch.delivered, 21);
    one.ordered = false;
    assert_int_equal(run(one, UINT64_MAX, true, &err), GI_OK);
    assert_in_range(batch.delivered, 1, 21 + AHEAD);
    one.fails = -1;
    one.ends_at = 57;
    assert_int_equal(run(one, UINT64_MAX, false, &err), GI_E_IO);
    assert_string_equal(err.text, "the source ends");
    assert_in_range(batch.delivered, 0, 57);
}

/* On a full disk each thread fails once at most, although another thread is slow to deliver. */
TEST(full_disk)
{
    for (int ordered = 0; ordered < 2; ordered++) {
        const struct batch full = {.ordered = ordered,
                                   .slow = -1,
                                   .fails = -1,
                                   .full_from = 1,
                                   .ends_at = -1,
                                   .put_us = SLOW_US};
        gi_cli_quiet(true);
        run(full, UINT64_MAX, false, NULL);
        assert_in_range(batch.taken, 1, THREADS + 1);
    }
}

/* Returns the milliseconds of a row of the table, or -1 if it has no such row. */
static double row_ms(const char *table, const char *name)
{
    const char *line = strstr(table, name);
    double ms = -1;
    if (line)
        sscanf(line + strlen(name), "%lf", &ms);
    return ms;
}

/* Runs the batch, and returns what --timing prints. */
static char *timing_of(struct batch of, uint64_t memory)
{
    static char text[4096];
    const struct gi_device_params device = {.timing = true};
    FILE *file = tmpfile();
    assert_non_null(file);
    int before = dup(STDERR_FILENO);
    gi_timing_want(true);
    gi_timing_of_many();
    assert_int_equal(run(of, memory, false, NULL), GI_OK);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    gi_timing_print(&device, 1);
    fflush(gi_cli_stream());
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* Rows are sums since the process began: each batch adds to one of them. A sleep is no work of a
 * stage. */
TEST(waits_are_counted_by_cause)
{
    const struct batch slow = {.ordered = true, .slow = 3, .fails = -1, .ends_at = -1};
    char *table = timing_of(slow, UINT64_MAX);
    double order = row_ms(table, "wait for order");
    assert_true(order > 1e-3 * SLOW_US);
    assert_true(row_ms(table, "wait for memory") < 0);
    const struct batch heavy = {.nbytes = 1000, .slow = -1, .fails = -1, .ends_at = -1};
    table = timing_of(heavy, 1000);
    assert_true(row_ms(table, "wait for memory") > 1);
    const struct batch fed = {.next_us = 200, .slow = -1, .fails = -1, .ends_at = -1};
    double files = row_ms(table, "wait for files");
    table = timing_of(fed, UINT64_MAX);
    assert_true(row_ms(table, "wait for input") > 1e-3 * ITEMS * 200);
    assert_true(row_ms(table, "wait for files") > files + 1e-3 * ITEMS * 200 - 1);
    assert_true(row_ms(table, "\ninput") >= 0 || strncmp(table, "input", 5) == 0);
    assert_true(row_ms(table, "deliver") >= 0);
    assert_true(row_ms(table, "wait for device") < 0);
}
