/* Memory that runs out while a file is written or read: an error, never a crash or a wrong file.
 * SPDX-License-Identifier: MIT */
#include "failing_memory.h"
#include "imgio_util.h"

static const char *path;

static enum gi_status save(const char *format, const struct gi_image *image)
{
    struct gi_save_options options = {.format = format, .quality = 90, .compression = 1};
    struct gi_err err = {0};
    enum gi_status status = gi_save(image, NULL, path, &options, NULL, &err);
    assert_int_equal(status, err.status);
    return status;
}

/* Something that the format holds: black and white, gray or colour. */
static struct gi_image image_for(const char *format)
{
    bool bits = strcmp(format, "pbm") == 0, gray = bits || strcmp(format, "pgm") == 0;
    struct gi_image image = random_image(50, 40, gray ? 1 : 3, GI_F32, 3);
    for (int y = 0; bits && y < image.height; y++)
        for (int x = 0; x < image.width; x++)
            ((float *)gi_row(&image, y))[x] = (float)((x ^ y) & 1);
    return image;
}

/* For each format and each allocation of a save, one that fails: an error and no file, or the file
 * that there is without. */
static void saving(void **state)
{
    (void)state;
    if (!can_fail)
        skip();
    const struct gi_format_info *format;
    for (int f = 0; (format = gi_format_at(f)); f++) {
        if (!format->writes)
            continue;
        struct gi_image image = image_for(format->name);
        assert_int_equal(save(format->name, &image), GI_OK);
        struct bytes want = read_file(path);
        int failed = 0;
        for (int n = 1; n < 10000; n++) {
            unlink(path);
            calls = 0;
            fails_at = n;
            enum gi_status status = save(format->name, &image);
            bool done = calls < n;
            fails_at = 0;
            if (status) {
                failed++;
                assert_int_equal(access(path, F_OK), -1);
                continue;
            }
            struct bytes got = read_file(path);
            assert_int_equal(got.n, want.n);
            assert_memory_equal(got.at, want.at, want.n);
            free(got.at);
            if (done)
                break;
        }
        print_message("%s: %d allocations failed the save\n", format->name, failed);
        assert_true(failed > 0);
        free(want.at);
        gi_image_free(&image);
    }
}

/* The same for reading what was written. */
static void loading(void **state)
{
    (void)state;
    if (!can_fail)
        skip();
    const struct gi_format_info *format;
    for (int f = 0; (format = gi_format_at(f)); f++) {
        if (!format->reads || !format->writes)
            continue;
        if (strcmp(format->name, "tiff") == 0) {
            print_message("skipped: libtiff crashes where a small allocation fails\n");
            continue;
        }
        struct gi_image image = image_for(format->name), want;
        assert_int_equal(save(format->name, &image), GI_OK);
        want = load_or_fail(path);
        int failed = 0;
        for (int n = 1, done = 0; n < 10000 && !done; n++) {
            struct gi_image got;
            struct gi_err err = {0};
            calls = 0;
            fails_at = n;
            enum gi_status status = gi_load(&got, NULL, NULL, path, &strictly, NULL, &err);
            done = calls < n;
            fails_at = 0;
            assert_int_equal(status, err.status);
            failed += status != GI_OK;
            if (!status)
                assert_same_image(&want, &got);
            gi_image_free(&got);
        }
        print_message("%s: %d allocations failed the load\n", format->name, failed);
        assert_true(failed > 0);
        gi_image_free(&want);
        gi_image_free(&image);
    }
}

int main(void)
{
    char file[128];
    const char *folder = make_folder();
    snprintf(file, sizeof file, "%s/file", folder);
    path = file;
    const struct CMUnitTest tests[] = {cmocka_unit_test(saving), cmocka_unit_test(loading)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_folder(folder);
    return failed;
}
