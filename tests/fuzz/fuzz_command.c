/* Fuzzes the whole command line. The input consists of words separated by newlines, the first of
 * which is the command. The words are parsed and checked as in main(). If the command is an
 * operation, it then runs on a few pixels, without files.
 * Sources: cli/args/parse.c cli/commands filters
 * SPDX-License-Identifier: MIT */
#include "small.h"

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/log.h"

enum { WORDS_MAX = 40 };

static void run(const struct gi_command *command, int argc, char **argv)
{
    struct gi_args args;
    struct gi_err err = {0};
    enum gi_status status = gi_args_read(&args, command, argc, argv, &err);
    if (status != err.status || (status && !*err.text))
        abort();
    int set = command->filter ? gi_command_set(command, command->filter->options) : -1;
    if (!status && !args.help && set >= 0 && command->filter->sources.max < 2) {
        struct gi_step step = {.filter = command->filter, .params = args.params[set]};
        small_run(&step, 1, (unsigned)argc);
    }
    gi_args_free(&args);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    gi_commands_use(gi_command_rows);
    char *text = small_text(bytes, nbytes), *argv[WORDS_MAX + 1] = {NULL}, *rest = text;
    struct gi_command command;
    int argc = 0;
    for (char *word; text && argc < WORDS_MAX && (word = strsep(&rest, "\n"));)
        argv[argc++] = word;
    if (text && gi_command_find(&command, argv[0]))
        run(&command, argc, argv);
    else if (text)
        gi_command_nearest(argv[0]);
    free(text);
    return 0;
}
