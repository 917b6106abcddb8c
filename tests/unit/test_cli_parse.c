/* The parser of command lines, and the option rows of all commands with their defaults, ranges and
 * messages.
 * Sources: cli/args/parse.c cli/command.h cli/help/help* cli/args/device_options*
 * SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"
#include "cli/commands.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/help/help.h"
#include "cli/args/option_text.h"

/* Reads a command line whose words are separated by blanks. */
static enum gi_status read_line(struct gi_args *args, const char *line, struct gi_err *err)
{
    static char text[256];
    static char *argv[32];
    int argc = 0;
    struct gi_command command;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    assert_true(gi_command_find(&command, argv[0]));
    return gi_args_read(args, &command, argc, argv, err);
}

TEST(test_operands_and_options)
{
    static const char *const lines[] = {
        "blur in.png out.png --quality 7 --threads 3 -v",
        "blur --quality=7 in.png --threads=3 out.png --verbose",
        "blur -v --qual 7 --quality 6 --quality 7 --threads 3 -- in.png out.png",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct gi_args args;
        struct gi_err err = {0};
        assert_int_equal(read_line(&args, lines[i], &err), GI_OK);
        const struct gi_io_params *io = args.params[1];
        const struct gi_device_params *device = args.params[2];
        assert_int_equal(args.noperands, 2);
        assert_string_equal(args.operands[0], "in.png");
        assert_string_equal(args.operands[1], "out.png");
        assert_int_equal(io->encoding.quality, 7);
        assert_int_equal(device->threads, 3);
        assert_true(device->verbose && !device->timing && !io->strict);
        gi_args_free(&args);
    }
}

TEST(test_dash_is_an_operand)
{
    struct gi_args args;
    struct gi_err err = {0};
    assert_int_equal(read_line(&args, "blur - png:-", &err), GI_OK);
    assert_string_equal(args.operands[0], "-");
    assert_string_equal(args.operands[1], "png:-");
    gi_args_free(&args);
    assert_int_equal(read_line(&args, "blur --help", &err), GI_OK);
    assert_true(args.help);
    gi_args_free(&args);
    assert_int_equal(read_line(&args, "blur a --threads", &err), GI_E_USAGE);
    assert_string_equal(err.text, "--threads: wants an argument: N");
    gi_args_free(&args);
}

/* An operand that is empty, at the end of readable memory, is refused without reading behind it. */
TEST(test_empty_operand)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    char *argv[] = {"blur", memory + page - 1, "out.png", NULL};
    struct gi_command command;
    struct gi_args args;
    struct gi_err err = {0};
    assert_true(gi_command_find(&command, "blur"));
    assert_int_equal(gi_args_read(&args, &command, 3, argv, &err), GI_E_USAGE);
    assert_string_equal(err.text, "operand 1 is empty, want INPUT OUTPUT");
    gi_args_free(&args);
    munmap(memory, 2 * page);
}

/* Defaults that option rows state as text equal the constants of imgio. */
TEST(test_defaults_are_those_of_imgio)
{
    struct gi_io_params io;
    gi_options_default(&io, gi_io_options);
    assert_true(io.limits.max_pixels == GI_DEFAULT_MAX_PIXELS);
    assert_true(io.limits.max_bytes == GI_DEFAULT_MAX_BYTES);
    assert_int_equal(io.encoding.quality, GI_QUALITY_KEEP);
    assert_int_equal(io.encoding.compression, GI_DEFAULT_COMPRESSION);
    assert_int_equal(io.depth, GI_DEPTH_SAME);
    memset(&io, 0xff, sizeof io);
    gi_options_default(&io, gi_input_options);
    assert_true(io.limits.max_pixels == GI_DEFAULT_MAX_PIXELS && !io.allow_partial);
}

/* Returns whether the command has an option of its own in place of the common one. The set of the
 * command is searched first. tonemap, distance and the operations with labels compute with the
 * depth of their result, which a conversion after them could not restore. The layout of tiles is
 * not that of .npy. */
static bool replaces_common(const struct gi_command *command, const struct gi_option *row)
{
    static const char *const pairs[][2] = {{"tonemap", "depth"},
                                           {"distance", "depth"},
                                           {"watershed", "depth"},
                                           {"split-touching", "depth"},
                                           {"tiles", "layout"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(command->name, pairs[i][0]) == 0 && strcmp(row->name, pairs[i][1]) == 0)
            return true;
    return false;
}

static void check_row(const struct gi_command *command, const struct gi_option *row, int *letters)
{
    char text[1024];
    if (row->letter && letters[(unsigned char)row->letter]++)
        fail_msg("%s: -%c occurs twice", command->name, row->letter);
    if (strcmp(row->name, "help") == 0 || row->letter == 'h')
        fail_msg("%s: --help and -h are taken", command->name);
    if (!row->help || row->help[strlen(row->help) - 1] == '.')
        fail_msg("%s --%s: help wants a sentence without full stop", command->name, row->name);
    if (strlen(gi_option_describe(row, text, sizeof text)) >= sizeof text - 1)
        fail_msg("%s --%s: help is too long", command->name, row->name);
    for (int s = 0, same = 0; s < GI_OPTION_SETS_MAX && command->sets[s].rows; s++)
        for (const struct gi_option *other = command->sets[s].rows; other->name; other++)
            if (strcmp(other->name, row->name) == 0 && same++ && !replaces_common(command, row))
                fail_msg("%s: --%s occurs twice", command->name, row->name);
}

TEST(test_rows_of_commands)
{
    struct gi_command command, found;
    for (int i = 0; gi_command_at(&command, i); i++) {
        int letters[256] = {0};
        assert_true(command.name && command.operands && command.summary && command.run);
        assert_true(gi_command_find(&found, command.name) && found.run == command.run);
        assert_true(command.max_operands < 0 || command.max_operands >= command.min_operands);
        for (int s = 0; s < GI_OPTION_SETS_MAX && command.sets[s].rows; s++)
            for (const struct gi_option *row = command.sets[s].rows; row->name; row++)
                check_row(&command, row, letters);
        /* The commands stack and convert have option rows that repeat the options of their
         * filters. */
        if (command.filter && strcmp(command.name, "stack") != 0 &&
            strcmp(command.name, "convert") != 0)
            if (gi_command_set(&command, command.filter->options) < 0)
                fail_msg("%s: lacks the options of its filter", command.name);
    }
}

TEST(test_nearest)
{
    assert_int_equal(gi_word_distance("", ""), 0);
    assert_int_equal(gi_word_distance("kitten", "sitting"), 3);
    assert_int_equal(gi_word_distance("flaw", "lawn"), 2);
    assert_int_equal(gi_word_distance("", "abc"), 3);
    assert_string_equal(gi_command_nearest("tresholdd"), "threshold");
    assert_null(gi_command_nearest("zz"));
    assert_null(gi_command_nearest(""));
}

static int use_commands(void **state)
{
    gi_commands_use(gi_command_rows);
    return 0;
}

TEST_FRAME(.first = use_commands)
