/* Runs command lines of gpuimg in the test's own process.
 * SPDX-License-Identifier: MIT */
#include "command_line.h"

#include "test.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/json.h"

/* Points descriptor `fd` at the null device; returns a copy of the old descriptor. */
static int silence(int fd)
{
    int kept = dup(fd), null = open("/dev/null", O_WRONLY);
    assert_true(kept >= 0 && null >= 0);
    dup2(null, fd);
    close(null);
    return kept;
}

static void restore(int fd, int kept)
{
    dup2(kept, fd);
    close(kept);
}

enum gi_status run_command_line(const char *line, bool silent, struct gi_err *err)
{
    char text[1024], *argv[COMMAND_LINE_WORDS], *rest = text;
    struct gi_command command;
    struct gi_args args;
    int argc = 0;
    assert_true((size_t)snprintf(text, sizeof text, "%s", line) < sizeof text);
    for (char *word; (word = strsep(&rest, " "));) {
        assert_true(argc + 1 < COMMAND_LINE_WORDS);
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    for (int i = 0; i < argc; i++)
        for (char *c = argv[i]; (c = strchr(c, '_')); *c = ' ')
            ;
    gi_commands_use(gi_command_rows);
    gi_json_start();
    fflush(stdout);
    int output = silence(STDOUT_FILENO), errors = silent ? silence(STDERR_FILENO) : -1;
    assert_true(gi_command_find(&command, argv[0]));
    enum gi_status status = gi_args_read(&args, &command, argc, argv, err);
    if (!status)
        status = command.run(&command, args.params, args.operands, args.noperands, err);
    gi_args_free(&args);
    fflush(stdout);
    restore(STDOUT_FILENO, output);
    if (silent)
        restore(STDERR_FILENO, errors);
    return status;
}
