/* Outputs that are also inputs are detected under any name.
 * Sources: cli/paths/output*
 * SPDX-License-Identifier: MIT */
#include "imgio_util.h"

#include <fcntl.h>
#include <pthread.h>

#include "cli/command.h"
#include "cli/paths/output.h"

static enum gi_status check(const char *output, const char *input, struct gi_err *err)
{
    const char *const outputs[] = {"new", output, NULL}, *const inputs[] = {"b.png", input, NULL};
    *err = (struct gi_err){0};
    return gi_output_check_inputs(outputs, inputs, err);
}

TEST(names_and_links)
{
    struct gi_err err;
    const char *folder = make_folder();
    assert_int_equal(chdir(folder), 0);
    write_file("a.png", "a", 1);
    write_file("b.png", "b", 1);
    write_file("c.png", "c", 1);
    assert_int_equal(symlink("a.png", "soft.png"), 0);
    assert_int_equal(link("a.png", "hard.png"), 0);
    static const char *const same[][2] = {
        {"a.png", "a.png"},    {"./a.png", "a.png"},     {"soft.png", "a.png"},
        {"a.png", "soft.png"}, {"hard.png", "soft.png"}, {"png:a.png", "a.png"},
        {"b.png", "c.png"}, /* the first input */
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        assert_int_equal(check(same[i][0], same[i][1], &err), GI_E_USAGE);
        assert_memory_equal(err.text, same[i][0], strlen(same[i][0]));
    }
    static const char *const other[][2] = {
        {"c.png", "a.png"}, {"none.png", "none.png"}, {"/dev/null", "/dev/null"}, {"c.png", "-"}};
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        assert_int_equal(check(other[i][0], other[i][1], &err), GI_OK);
    assert_int_equal(chdir("/"), 0);
    remove_folder(folder);
}

/* Replaces both files again and again, so that each may get the inode that the other has had. */
static void *replace(void *arg)
{
    const bool *stop = arg;
    for (int i = 0; !__atomic_load_n(stop, __ATOMIC_RELAXED); i++) {
        write_file("next", "n", 1);
        rename("next", i % 2 ? "x.png" : "y.png");
    }
    return NULL;
}

TEST(files_that_are_replaced_differ)
{
    bool stop = false;
    int same = 0;
    pthread_t thread;
    const char *folder = make_folder();
    assert_int_equal(chdir(folder), 0);
    write_file("x.png", "x", 1);
    write_file("y.png", "y", 1);
    assert_int_equal(pthread_create(&thread, NULL, replace, &stop), 0);
    for (int i = 0; i < 100000; i++)
        same += gi_output_same("x.png", "y.png");
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    assert_int_equal(same, 0);
    assert_int_equal(chdir("/"), 0);
    remove_folder(folder);
}

/* Inputs and outputs are also compared when standard input and output are redirected to files. */
TEST(redirected)
{
    struct gi_err err;
    const char *folder = make_folder();
    assert_int_equal(chdir(folder), 0);
    write_file("a.png", "a", 1);
    int fd = open("a.png", O_RDWR), in = dup(STDIN_FILENO), out = dup(STDOUT_FILENO);
    fflush(NULL);
    dup2(fd, STDIN_FILENO);
    enum gi_status from_input = check("a.png", "-", &err);
    dup2(in, STDIN_FILENO);
    dup2(fd, STDOUT_FILENO);
    enum gi_status to_output = check("-", "a.png", &err), prefixed = check("png:-", "a.png", &err);
    dup2(out, STDOUT_FILENO);
    assert_int_equal(from_input, GI_E_USAGE);
    assert_int_equal(to_output, GI_E_USAGE);
    assert_int_equal(prefixed, GI_E_USAGE);
    assert_int_equal(check("-", "a.png", &err), GI_OK);
    assert_int_equal(chdir("/"), 0);
    remove_folder(folder);
}
