/* The program: finds the command, runs it, and reports errors.
 * SPDX-License-Identifier: MIT */
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/args/suggestion.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/help/help.h"
#include "cli/json.h"
#include "cli/log.h"
#include "cli/process.h"
#include "cli/run/timing.h"
#include "cli/shell.h"
#include "cli/stop.h"
#include "imgio/small.h"
#include "imgio/temporary.h"
#include "kernels/ways.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Opens descriptors 0 to 2 if they are closed, because an output file would otherwise become
 * standard output. A closed descriptor is replaced by /dev/null, opened in the wrong direction so
 * that any use of it fails. */
static void open_standard_files(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF &&
            open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            _exit(GI_EXIT_FAILED);
}

static void clean_up_and_die(int signal_number)
{
    gi_shell_signal_cleanup();
    gi_sink_signal_cleanup();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Ends the process if a small allocation (imgio/small.h) fails, in any thread. */
static void end_without_memory(void)
{
    static const char text[] = "gpuimg: out of memory\n";
    gi_shell_signal_cleanup();
    gi_temporary_end();
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written; /* the message is lost if standard error can't be written */
    _exit(GI_EXIT_AGAIN);
}

/* The program was started with SIGPIPE as it is by default, so that it ends by that signal. */
static bool ends_by_sigpipe;

/* If a pipe's reader has gone or a file is over the size limit, write() shall fail. Otherwise a
 * signal would end the process before it has removed its temporary files. */
static void set_signals(void)
{
    static const int deadly[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction old, act = {.sa_handler = clean_up_and_die, .sa_flags = SA_NODEFER};
    ends_by_sigpipe = signal(SIGPIPE, SIG_IGN) == SIG_DFL;
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        if (sigaction(deadly[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(deadly[i], &act, NULL); /* signals that nohup ignores stay ignored */
}

static enum gi_status flush_stdout(enum gi_status status, struct gi_err *err)
{
    struct gi_err fault = {0};
    enum gi_status flushed = gi_cli_flush(&fault);
    if (!status && flushed)
        *err = fault;
    return status ? status : flushed;
}

/* Returns the options for input, or NULL if the command has none. */
static struct gi_io_params *io_of(const struct gi_command *command, const struct gi_args *args)
{
    int io = gi_command_set(command, gi_io_options);
    if (io < 0)
        io = gi_command_set(command, gi_input_options);
    return io >= 0 ? args->params[io] : NULL;
}

static enum gi_status run(const struct gi_command *command, int argc, char **argv,
                          struct gi_err *err)
{
    struct gi_args args;
    double start = gi_now_ms();
    enum gi_status status = gi_args_read(&args, command, argc, argv, err);
    struct gi_io_params *io = !status ? io_of(command, &args) : NULL;
    int own = !status ? gi_command_set(command, gi_device_options) : -1;
    gi_cli_quiet(io && io->quiet);
    gi_cli_verbose(own >= 0 && ((const struct gi_device_params *)args.params[own])->verbose);
    gi_timing_want(own >= 0 && ((const struct gi_device_params *)args.params[own])->timing);
    if (io && !args.help)
        status = gi_cli_settle_bands(io, err);
    if (!status && args.help)
        gi_help_command(stdout, command);
    else if (!status)
        status = command->run(command, args.params, args.operands, args.noperands, err);
    int device = !status && !args.help ? gi_command_set(command, gi_device_options) : -1;
    if (device >= 0)
        gi_timing_print(args.params[device], gi_now_ms() - start);
    if (!status)
        status = gi_ways_forced_ran(err);
    gi_args_free(&args);
    return flush_stdout(status, err);
}

/* Reports an unknown command `name`. */
static enum gi_status fail_command(const char *name, struct gi_err *err)
{
    char hint[512];
    if (strcmp(name, "-") == 0 || (access(name, F_OK) == 0 && !gi_command_is_synonym(name)))
        return gi_fail(err, GI_E_USAGE,
                       "%s: is a file, want a command before it, as in gpuimg info %s (try gpuimg "
                       "help)",
                       name, name);
    return gi_fail(err, GI_E_USAGE, "%s: no such command%s (try gpuimg help)", name,
                   gi_command_hint(hint, sizeof hint, name));
}

/* Logs the error of a command, or prints its last line. Returns the exit status. */
static int conclude(enum gi_status status, const struct gi_command *command,
                    const struct gi_err *err)
{
    if (status && status != GI_E_PIPE && *err->text)
        gi_cli_log("%s", err->text);
    if (!status)
        gi_cli_print_conclusion();
    int failed =
        status != GI_E_DIFFERENT && command && command->trouble ? command->trouble : GI_EXIT_FAILED;
    /* GI_E_DEVICE can also mean that the machine never had such a device, so it is no reason to run
     * again. */
    bool again = status != GI_E_DEVICE && gi_status_is_machine(status);
    int code = !status                ? GI_EXIT_OK
               : status == GI_E_USAGE ? GI_EXIT_USAGE
               : again                ? GI_EXIT_AGAIN
                                      : failed;
    return gi_stop_signal() ? 128 + gi_stop_signal() : code;
}

/* Ends the process. Exiting at once loses nothing, because all outputs have been committed and
 * standard output has been flushed. */
static int finish(enum gi_status status, const struct gi_command *command, const struct gi_err *err)
{
    int code = conclude(status, command, err);
    if (status == GI_E_PIPE && ends_by_sigpipe) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    if (!gi_cli_tears_down())
        _exit(code);
    return code;
}

/* Returns whether a word is a command or an alias of a command. */
static bool is_command(const char *word)
{
    struct gi_command command;
    return gi_command_find(&command, word) || gi_alias_find(word);
}

/* Returns a copy of the command line in which the command `name` comes first, even if options
 * preceded it ("--device cpu blur in.png out.png"), and an alias is replaced by its words. The
 * caller frees the copy. */
static char **command_line(int *argc, char **argv, const char *name)
{
    char **line = gi_small_calloc((size_t)*argc + 3, sizeof *line);
    int at = 0, n = 0;
    for (int i = 1; *name == '-' && name[1] && !at && i < *argc; i++)
        at = is_command(argv[i]) ? i : 0;
    const char *word = at ? argv[at] : name;
    const struct gi_alias *alias = gi_alias_find(word);
    line[n++] = (char *)(alias ? alias->words[0] : word);
    if (alias && alias->words[1])
        line[n++] = (char *)alias->words[1];
    for (int i = at ? 0 : 1; i < *argc; i++)
        if (i != at || !at)
            line[n++] = argv[i];
    *argc = n;
    return line;
}

/* Finds the command of the line and runs it. Sets *found to whether there is such a command. */
static enum gi_status run_command(struct gi_command *command, bool *found, int argc, char **argv,
                                  struct gi_err *err)
{
    const char *name = argv[0];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    char **args = command_line(&argc, argv, name);
    *found = gi_command_find(command, args[0]);
    if (*found)
        gi_cli_name(command->name);
    enum gi_status status = *found ? run(command, argc, args, err) : fail_command(name, err);
    free(args);
    return status;
}

/* Runs a line of gpuimg jobs. */
static int run_line(int argc, char **argv, struct gi_err *err)
{
    struct gi_command command;
    bool found;
    gi_cli_name(NULL);
    gi_cli_conclude("%s", "");
    enum gi_status status = run_command(&command, &found, argc, argv, err);
    return conclude(status, found ? &command : NULL, err);
}

int main(int argc, char **argv)
{
    open_standard_files();
    gi_cli_quiet_libraries();
    set_signals();
    gi_small_ends_by(end_without_memory);
    gi_json_start();
    gi_commands_use(gi_command_rows);
    if (argc < 2) {
        gi_help_start(gi_cli_stream());
        return GI_EXIT_USAGE;
    }
    struct gi_err err = {0};
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0 || strcmp(name, "version") == 0) {
        gi_version_print(stdout);
        return finish(flush_stdout(GI_OK, &err), NULL, &err);
    }
    if (strcmp(name, "__libraries") == 0) { /* called by cli/packages/wheel.py */
        gi_libraries_print(stdout);
        return finish(flush_stdout(GI_OK, &err), NULL, &err);
    }
    if (strcmp(name, "__complete") == 0) { /* called by the scripts of `gpuimg completion` */
        gi_complete(argc - 2, argv + 2);
        return finish(flush_stdout(GI_OK, &err), NULL, &err);
    }
    struct gi_command command;
    bool found;
    gi_commands_run_by(run_line);
    enum gi_status status = run_command(&command, &found, argc - 1, argv + 1, &err);
    return finish(status, found ? &command : NULL, &err);
}
