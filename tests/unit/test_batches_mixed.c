/* Batch commands over images of different sizes, sample types and channels, run on a GPU in this
 * process, write the same files as on the CPU. The queues of a batch launch one kernel with
 * different shapes at the same time. A race between such launches once went unnoticed. `make
 * torture-batches` runs 5000 batches.
 * Sources: cli/run/engine* cli/run/imaging* device
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <sys/stat.h>

#include "command_line.h"
#include "cases.h"
#include "imgio_folder.h"

#include "kernels/kernels.h"

enum {
    SEED = 11,
    IMAGES = 14,
    SIDE_MAX = 700,
    COMMANDS = 120, /* different ones, each run many times */
    /* number of commands, unless the variable GPUIMG_TEST_BATCHES is set */
    BATCHES = 240,
    STEPS_MAX = 4,
    LINE = 256,
};

/* An operation and one of its options. The option's value is from `low` to `high`, and odd if
 * `odd`. */
static const struct operation {
    const char *name, *option, *unit;
    double low, high;
    bool odd;
} operations[] = {
    {"gaussian", "--sigma", "", 0.5, 12, false},
    {"median", "--k", "", 3, 31, true},
    {"blur", "--k", "", 3, 201, true},
    {"erode", "--k", "", 3, 61, true},
    {"rotate", "--angle", "", -180, 180, false},
    {"resize", "--size", "%", 10, 300, false},
    {"sharpen", "--sigma", "", 0.5, 9, false},
    {"clahe", "--tiles", "", 1, 13, true},
    {"local-threshold", "--k", "", 3, 101, true},
    {"bilateral", "--sigma", "", 1, 5, false},
    {"nlmeans", "--search", "", 5, 21, true},
    {"equalize", NULL, "", 0, 0, false},
    {"normalize", NULL, "", 0, 0, false},
    {"edges", NULL, "", 0, 0, false},
};

static char names[IMAGES * 8]; /* of the inputs, separated by spaces */

/* Appends an operation with its option to `line`, with `space` between the words. */
static void add_operation(char *line, char space, uint64_t *seed)
{
    int count = sizeof operations / sizeof *operations;
    const struct operation *o = &operations[case_between(seed, 0, count - 1)];
    double part = case_between(seed, 0, 1000) / 1000.0, value = o->low + part * (o->high - o->low);
    size_t n = strlen(line);
    if (o->odd)
        value = 2 * floor(value / 2) + 1;
    if (!o->option)
        snprintf(line + n, LINE - n, "%s", o->name);
    else if (strcmp(o->name, "clahe") == 0)
        snprintf(line + n, LINE - n, "%s%c%s%c%.0fx%.0f", o->name, space, o->option, space, value,
                 value);
    else
        snprintf(line + n, LINE - n, "%s%c%s%c%.*f%s", o->name, space, o->option, space,
                 o->odd ? 0 : 3, value, o->unit);
}

static void draw_command(char line[LINE], uint64_t *seed)
{
    int steps = case_between(seed, 0, 9) < 6 ? 1 : case_between(seed, 2, STEPS_MAX);
    strcpy(line, steps > 1 ? "run " : "");
    for (int i = 0; i < steps; i++) {
        if (i)
            strcat(line, "_|_");
        add_operation(line, steps > 1 ? '_' : ' ', seed);
    }
}

static void write_images(uint64_t *seed)
{
    for (int i = 0; i < IMAGES; i++) {
        char name[16];
        struct gi_image image =
            random_image(case_between(seed, 1, SIDE_MAX), case_between(seed, 1, SIDE_MAX),
                         case_between(seed, 1, 4), case_between(seed, 0, 1) ? GI_U16 : GI_U8,
                         (uint64_t)i + SEED);
        for (int y = 0; y < image.height; y++) /* random bytes, alpha among them */
            for (size_t x = 0; x < gi_row_nbytes(&image); x++)
                ((unsigned char *)gi_row(&image, y))[x] ^= (unsigned char)next_random(seed);
        snprintf(name, sizeof name, "%02d.pam", i);
        assert_int_equal(gi_save(&image, NULL, name, &(struct gi_save_options){0}, NULL, NULL),
                         GI_OK);
        gi_image_free(&image);
        strcat(strcat(names, " "), name);
    }
}

static void run_batch(const char *command, const char *to, const char *device)
{
    char line[1024];
    struct gi_err err = {0};
    snprintf(line, sizeof line, "%s%s --out-dir %s --device %s -q", command, names, to, device);
    if (run_command_line(line, false, &err))
        fail_msg("%s: %s", line, err.text);
}

/* Fails if a file of the batch in the folder `have` differs from the file of the same name in
 * `want`. */
static void compare_folders(const char *command, const char *want, const char *have)
{
    for (int i = 0; i < IMAGES; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%02d.pam", want, i);
        struct bytes expected = read_file(path);
        snprintf(path, sizeof path, "%s/%02d.pam", have, i);
        struct bytes got = read_file(path);
        if (got.n != expected.n || memcmp(got.at, expected.at, got.n) != 0)
            fail_msg("%s: other bytes in %s", command, path);
        free(expected.at);
        free(got.at);
        unlink(path);
    }
}

TEST(batches_on_a_gpu)
{
    const struct gi_kernels *k = gi_kernels_cuda();
    struct gi_err err = {0};
    const char *text = getenv("GPUIMG_TEST_BATCHES");
    static char commands[COMMANDS][LINE];
    static bool known[COMMANDS];
    int count = text ? atoi(text) : BATCHES, devices = k ? k->probe(NULL, 0, &err) : 0;
    uint64_t seed = SEED;
    if (devices < 1) {
        printf("skipped: %s\n", k ? "no CUDA device" : "built without CUDA");
        skip();
    }
    write_images(&seed);
    for (int i = 0; i < COMMANDS; i++)
        draw_command(commands[i], &seed);
    for (int n = 0; n < count; n++) {
        int i = n % COMMANDS;
        char want[32];
        snprintf(want, sizeof want, "want-%d", i);
        if (!known[i])
            run_batch(commands[i], want, "cpu");
        known[i] = true;
        run_batch(commands[i], "out", n % 3 == 2 ? "cuda:all" : "cuda");
        compare_folders(commands[i], want, "out");
    }
    print_message("%d batches of %d images equal\n", count, IMAGES);
}

static int start(void **state)
{
    setenv("GPUIMG_RATES", "/dev/null", 1);
    return enter_folder(state);
}

TEST_FRAME(.first = start, .last = leave_folder)
