/* Reading and writing with several threads gives the same bytes as with one thread, and a failure
 * leaves no thread and no file behind.
 * Sources: imgio/png imgio/jpeg/jpeg* imgio/save.c
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include "kernels/parallel.h"

static enum gi_status run_backwards(void *self, int njobs, gi_job_fn *job, void *arg,
                                    size_t scratch_nbytes, struct gi_err *err)
{
    void *scratch = malloc(scratch_nbytes);
    *(int *)self = njobs;
    while (njobs-- > 0)
        job(arg, njobs, scratch);
    free(scratch);
    return GI_OK;
}

static enum gi_status run_nothing(void *self, int njobs, gi_job_fn *job, void *arg,
                                  size_t scratch_nbytes, struct gi_err *err)
{
    return gi_fail(err, GI_E_MEMORY, "none today");
}

static void assert_file_is(const char *path, struct bytes want)
{
    struct bytes file = read_file(path);
    assert_int_equal(file.n, want.n);
    assert_memory_equal(file.at, want.at, want.n);
    free(file.at);
}

static void save_by(const struct gi_parallel *parallel, const struct gi_image *image,
                    const char *path, int level)
{
    struct gi_save_options options = {
        .compression = level, .quality = 80 + 5 * level, .parallel = parallel};
    assert_int_equal(gi_save(image, NULL, path, &options, NULL, NULL), GI_OK);
}

/* The bytes of the file depend neither on the number of threads nor on their order. */
static void any_threads(const char *suffix)
{
    char path[128];
    snprintf(path, sizeof path, "%s/a.%s", folder, suffix);
    bool exact = strcmp(suffix, "png") == 0;
    for (int type = GI_U8; type <= (exact ? GI_U16 : GI_U8); type++) {
        struct gi_image image =
            random_image(900, 1800, exact && type == GI_U8 ? 4 : 3, (enum gi_type)type, 19);
        for (int i = 0; i < (exact ? 4 : 3); i++) {
            int level = i < 3 ? 3 * i : GI_COMPRESSION_AUTO;
            save_by(NULL, &image, path, level);
            struct bytes want = read_file(path);
            struct gi_image back = load_or_fail(path);
            if (exact)
                assert_same_image(&image, &back);
            gi_image_free(&back);
            for (int threads = 1; threads <= 9; threads += 2) {
                struct gi_pool *pool;
                assert_int_equal(gi_pool_new(&pool, threads, NULL), GI_OK);
                struct gi_parallel parallel = gi_pool_lend(pool);
                save_by(&parallel, &image, path, level);
                assert_file_is(path, want);
                gi_pool_free(&pool);
            }
            int njobs = 0;
            struct gi_parallel backwards = {&njobs, 1, run_backwards};
            save_by(&backwards, &image, path, level);
            assert_file_is(path, want);
            assert_true(njobs >= 5);
            free(want.at);
        }
        gi_image_free(&image);
    }
}

/* Reads a file with the given threads, and sets *said to the error or the warning. The result and
 * this message must be those of one thread, even if several threads find samples over the
 * maximum. */
static void read_by(const struct gi_parallel *parallel, struct bytes file, bool allow_partial,
                    struct gi_image *image, struct gi_err *said)
{
    struct gi_load_options options = allow_partial ? partially : strictly;
    struct gi_err warning = {0}, err;
    options.parallel = parallel;
    if (load_bytes(image, file.at, file.n, &options, &warning, &err))
        assert_null(image->data);
    *said = err.status ? err : warning;
}

static void same_reading(struct bytes file, bool allow_partial, const char *says)
{
    struct gi_image want, image;
    struct gi_err want_said, said;
    read_by(NULL, file, allow_partial, &want, &want_said);
    if (!strstr(want_said.text, says))
        fail_msg("\"%s\", want \"%s\"", want_said.text, says);
    for (int threads = 0; threads <= 9; threads += 3) {
        struct gi_pool *pool;
        int njobs = 0;
        assert_int_equal(gi_pool_new(&pool, threads + 1, NULL), GI_OK);
        struct gi_parallel backwards = {&njobs, 1, run_backwards}, lent = gi_pool_lend(pool);
        read_by(threads ? &lent : &backwards, file, allow_partial, &image, &said);
        assert_true(threads || njobs >= 4 || !want.data);
        assert_string_equal(said.text, want_said.text);
        if (want.data)
            assert_same_image(&image, &want);
        gi_image_free(&image);
        gi_pool_free(&pool);
    }
    gi_image_free(&want);
}

TEST(any_readers)
{
    static const struct {
        const char *head;
        size_t sample_nbytes;
        unsigned most; /* maximum of a sample's first byte */
    } cases[] = {{"P5 1000 900 255\n", 1, 255},
                 {"P5 1000 900 99\n", 1, 99},
                 {"P5 1000 900 65535\n", 2, 255},
                 {"P5 1000 900 1023\n", 2, 3}};
    for (int i = 0; i < 4; i++) {
        uint64_t seed = (uint64_t)i;
        size_t head = strlen(cases[i].head), row = 1000 * cases[i].sample_nbytes;
        struct bytes file = {malloc(head + 900 * row), head + 900 * row};
        memcpy(file.at, cases[i].head, head);
        for (size_t at = head; at < file.n; at++)
            file.at[at] = (unsigned char)(next_random(&seed) % (cases[i].most + 1));
        same_reading(file, false, "");
        file.n -= 3 * row + 1;
        same_reading(file, false, "ends early, in row 896 of 900");
        same_reading(file, true, "ends early, in row 896 of 900");
        if (cases[i].most < 255) {
            file.at[head + 500 * row] = file.at[head + 800 * row] = 250;
            same_reading(file, false, "ends early");
            file.n += 3 * row + 1;
            same_reading(file, false, "row 500 has the sample");
            same_reading(file, true, "row 500 has the sample");
        }
        free(file.at);
    }
}

/* Some threads can't be created, or a file can't be written while its strips are in progress. */
TEST(threads_fail)
{
    const char *path = in_folder("a.png");
    struct gi_image image = random_image(900, 1800, 4, GI_U8, 23);
    struct gi_parallel none = {NULL, 4, run_nothing};
    struct gi_save_options options = {.compression = 1, .parallel = &none};
    struct gi_err err = {0};
    assert_int_equal(gi_save(&image, NULL, path, &options, NULL, &err), GI_E_MEMORY);
    assert_non_null(strstr(err.text, "a.png: none today"));
    assert_int_equal(count_files(folder), 0);
    struct gi_image small = gi_image_rows(&image, 0, 30); /* one strip: no thread is needed */
    assert_int_equal(gi_save(&small, NULL, path, &options, NULL, &err), GI_OK);
    struct gi_pool *pool;
    assert_int_equal(gi_pool_new(&pool, 3, NULL), GI_OK);
    struct gi_parallel parallel = gi_pool_lend(pool);
    options.parallel = &parallel;
    options.format = "png";
    assert_int_equal(gi_save(&image, NULL, "/dev/full", &options, NULL, &err), GI_E_AGAIN);
    assert_non_null(strstr(err.text, "/dev/full: No space left"));
    gi_pool_free(&pool);
    gi_image_free(&image);
}

TEST(any_threads_png)
{
    any_threads("png");
}

TEST(any_threads_jpg)
{
    any_threads("jpg");
}

TEST_FRAME(.before = setup, .after = teardown)
