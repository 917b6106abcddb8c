/* Outputs of a batch get the right names, and different names of the same file are detected.
 * Sources: cli/paths/names* cli/paths/path_conflicts*
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include <sys/stat.h>

#include "cli/paths/path_conflicts.h"
#include "cli/paths/names.h"

TEST(templates)
{
    static const struct {
        const char *folder, *template, *suffix, *input, *want;
        size_t root;
        const char *channel;
    } cases[] = {
        {"out", NULL, NULL, "a/b.png", "out/b.png", 2, NULL},
        {"out/", NULL, NULL, "a/b/c.png", "out/b/c.png", 2, NULL},
        {"out", NULL, ".tif", "b", "out/b.tif", 0, NULL},
        {"out", NULL, "tif", ".b", "out/.b.tif", 0, NULL},
        {NULL, "{dir}/{stem}_n.{ext}", NULL, "a/b.c.png", "a/b.c_n.png", 2, NULL},
        {NULL, "{dir}/{name}", NULL, "b.png", "./b.png", 0, NULL},
        {NULL, "{dir}{name}", NULL, "/b.png", "/b.png", 1, NULL},
        {NULL, "{tree}/{index}.pgm", NULL, "a/b.png", "1.pgm", 2, NULL},
        {NULL, "{index:03}-{index:01}", NULL, "a/b.png", "001-1", 2, NULL},
        {NULL, "{index:3}{index:00}{index:0}", NULL, "a", "{index:3}{index:00}{index:0}", 0, NULL},
        {NULL, "x{tree}{stem}", NULL, "a/b.png", "xb", 2, NULL},
        {NULL, "{nothing}{stem", NULL, "a/b.png", "{nothing}{stem", 2, NULL},
        {"", "{stem}", NULL, "b.", "b", 0, NULL},
        {"out", NULL, "png", "a/b.ppm", "out/b_r.png", 2, "r"},
        {"out", NULL, NULL, "a/b.ppm", "out/b_{channel}.ppm", 2, ""},
        {NULL, "{channel}/{name}", NULL, "a/b.ppm", "k/b.ppm", 2, "k"},
        {NULL, "{channel}", NULL, "b", "{channel}", 0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gi_input input = {.path = (char *)cases[i].input, .root = cases[i].root};
        const struct gi_list list = {.inputs = &input, .n = 1};
        const struct gi_naming naming = {.folder = cases[i].folder,
                                         .template = cases[i].template,
                                         .suffix = cases[i].suffix,
                                         .channel = cases[i].channel};
        char *output = gi_naming_output(&naming, &list, 0);
        assert_string_equal(output, cases[i].want);
        free(output);
    }
}

TEST(fields)
{
    static const char *const good[] = {NULL, "", "x", "{dir}/{tree}/{stem}.{ext}", "{name}{index}"};
    static const char *const bad[] = {"{",  "{stem",    "{Stem}",    "{stem}{",    "{stem }",
                                      "{}", "{index:}", "{index:4}", "{index:00}", "{index:0a}"};
    struct gi_err err;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(gi_naming_check(&(struct gi_naming){.template = good[i]}, &err), GI_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(gi_naming_check(&(struct gi_naming){.template = bad[i]}, &err),
                         GI_E_USAGE);
    static const struct {
        const char *template, *channel;
        enum gi_status want;
    } channels[] = {
        {"{channel}", NULL, GI_E_USAGE},
        {"{channel}", "", GI_OK},
        {"{stem}", "", GI_E_USAGE},
        {NULL, "", GI_OK},
    };
    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++)
        assert_int_equal(gi_naming_check(&(struct gi_naming){.template = channels[i].template,
                                                             .channel = channels[i].channel},
                                         &err),
                         channels[i].want);
}

/* Makes the folder, in it the file a/in, links of each kind to this file, a dangling link, and a
 * link to itself. */
static int start(void **state)
{
    char absolute[256];
    enter_folder(state);
    assert_int_equal(mkdir("a", 0777), 0);
    write_file("a/in", "some", 4);
    snprintf(absolute, sizeof absolute, "%s/a/in", folder);
    assert_int_equal(symlink(absolute, "absolute"), 0);
    assert_int_equal(symlink("a/in", "relative"), 0);
    assert_int_equal(symlink("../relative", "a/twice"), 0);
    assert_int_equal(symlink("a", "folder"), 0);
    assert_int_equal(symlink("a/new", "nothing"), 0);
    assert_int_equal(symlink("itself", "itself"), 0);
    return 0;
}

TEST(same_files)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"a/in", "a/in", true},
        {"a/in", "./a//in", true},
        {"a/in", "a/../a/in", true},
        {"a/in", "folder/in", true},
        {"a/in", "absolute", true},
        {"a/in", "relative", true},
        {"a/in", "a/twice", true},
        {"a/in", "in", false},
        {"a/new", "nothing", true},
        {"b/c/out", "b//c/out", true},
        {"b/c/out", "b/c/./out", true},
        {"b/c/out", "b/d/../c/out", true},
        {"b/c/out", "b/out", false},
        {"b/out", "b/c/d/../../out", true},
        {"a/out", "b/../a/out", true},
        {"itself", "itself", true},
        {"/dev/null", "/dev/null", false},
        {"-", "-", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gi_paths paths = {0};
        struct gi_path a, b;
        assert_int_equal(gi_paths_add(&paths, GI_PATH_OUTPUT, 0, cases[i].a, NULL), GI_OK);
        assert_int_equal(gi_paths_add(&paths, GI_PATH_OUTPUT, 1, cases[i].b, NULL), GI_OK);
        assert_int_equal(gi_paths_add(&paths, GI_PATH_OUTPUT, 2, NULL, NULL), GI_OK);
        if (gi_paths_conflict(&paths, true, &a, &b) != cases[i].same)
            fail_msg("%s and %s: want %d", cases[i].a, cases[i].b, cases[i].same);
        gi_paths_free(&paths);
    }
}

TEST_FRAME(.first = start, .last = leave_folder)
