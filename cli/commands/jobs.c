/* gpuimg jobs: runs one command line after the other in one process, which keeps its devices.
 * SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/lines.h"
#include "cli/log.h"
#include "cli/process.h"
#include "cli/run/session_device.h"
#include "imgio/scratch_file.h"
#include "cli/stop.h"
#include "imgio/small.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUTPUT_MAX = 64 << 20 }; /* bytes that a line may print */

struct jobs_params {
    bool fail_fast;
};

static const struct gi_option options[] = {
    {GI_OPTION("fail-fast", FLAG, struct jobs_params, fail_fast),
     .help = "End after the first line that fails; the lines after it are not run"},
    {0},
};

/* The run of all lines. */
struct jobs {
    struct gi_lines lines;
    FILE *results; /* standard output of this command */
    int printed;   /* temporary file in place of standard output while a line runs */
    bool failed, again;
};

/* ---- words ---- */

/* Reads the next word at *text into `to`, as a POSIX shell does without expansions: quotes, double
 * quotes, in which a backslash escapes only " and \, and backslashes. Returns false at the end of
 * the line, at a comment, and after an error. */
static bool read_word(char *to, const char **text, struct gi_err *err)
{
    const char *from = *text + strspn(*text, " \t\r");
    char quote = 0;
    if (!*from || *from == '#')
        return false;
    for (; *from && (quote || !strchr(" \t\r", *from)); from++) {
        bool escapes =
            *from == '\\' && from[1] && (!quote || (quote == '"' && strchr("\"\\", from[1])));
        if (escapes)
            *to++ = *++from;
        else if (*from == quote)
            quote = 0;
        else if (!quote && (*from == '\'' || *from == '"'))
            quote = *from;
        else
            *to++ = *from;
    }
    *to = '\0';
    *text = from;
    if (quote)
        gi_fail(err, GI_E_USAGE, "the quotation mark %c is not closed", quote);
    return !quote;
}

/* Splits the line into words, which the caller frees by free_words(). A first word gpuimg is left
 * out. Returns their number. */
static int read_words(char ***words, const struct gi_lines *line, struct gi_err *err)
{
    char **all = gi_small_calloc(line->n / 2 + 2, sizeof *all);
    char *word = gi_small_calloc(line->n + 1, 1);
    const char *text = line->text;
    int n = 0;
    bool first = true;
    if (memchr(line->text, '\0', line->n))
        gi_fail(err, GI_E_USAGE, "the line has a zero byte");
    while (!err->status && read_word(word, &text, err)) {
        if (!first || strcmp(word, "gpuimg") != 0)
            all[n++] = gi_small_copy(word);
        first = false;
    }
    free(word);
    *words = all;
    return n;
}

static void free_words(char **words, int n)
{
    for (int i = 0; i < n; i++)
        free(words[i]);
    free(words);
}

/* ---- a line ---- */

/* Reads what the line has printed. Sets *output to NULL if that is nothing. Fails if it is no text,
 * or too long. */
static enum gi_status take_output(char **output, int fd, struct gi_err *err)
{
    off_t n = lseek(fd, 0, SEEK_END);
    *output = NULL;
    if (n <= 0)
        return GI_OK;
    if (n > OUTPUT_MAX)
        return gi_fail(err, GI_E_LIMIT, "printed %lld bytes: want at most %d, or a file",
                       (long long)n, OUTPUT_MAX);
    char *text = gi_small_calloc((size_t)n + 1, 1);
    if (!gi_scratch_file_read(fd, text, (size_t)n, 0)) {
        free(text);
        return gi_scratch_file_fail(err);
    }
    const char *at = text;
    for (size_t step; *at && (step = gi_utf8_nbytes(at)); at += step)
        ;
    if (at != text + n) {
        free(text);
        return gi_fail(err, GI_E_USAGE,
                       "what the line prints is no text: want a file as its output");
    }
    *output = text;
    return GI_OK;
}

/* Makes `to` a copy of the descriptor `from`. Returns whether that has succeeded. */
static bool copy_descriptor(int from, int to)
{
    int made;
    do
        made = dup2(from, to);
    while (made < 0 && errno == EINTR);
    return made == to;
}

/* Runs the words with standard output in the temporary file. Returns the exit status. */
static int run_words(const struct jobs *jobs, char **words, int n, char **output,
                     struct gi_err *err)
{
    if (ftruncate(jobs->printed, 0) || lseek(jobs->printed, 0, SEEK_SET) < 0 ||
        !copy_descriptor(jobs->printed, STDOUT_FILENO)) {
        gi_scratch_file_fail(err);
        gi_cli_log("%s", err->text);
        return GI_EXIT_AGAIN;
    }
    int code = gi_command_line_run(n, words, err);
    struct gi_err fault = {0};
    enum gi_status status = take_output(output, jobs->printed, &fault);
    if (status && !code) {
        *err = fault;
        gi_cli_log("%s", fault.text);
        code = status == GI_E_USAGE ? GI_EXIT_USAGE : GI_EXIT_FAILED;
    }
    copy_descriptor(fileno(jobs->results), STDOUT_FILENO);
    return code;
}

static enum gi_status write_result(struct jobs *jobs, const char *command, int code, double seconds,
                                   const char *output, const struct gi_err *line_err,
                                   struct gi_err *err)
{
    const char *why = *line_err->text ? line_err->text : gi_cli_first_logged();
    json_t *object = json_object();
    json_object_set_new(object, "line", json_integer((json_int_t)jobs->lines.number));
    json_object_set_new(object, "command", gi_json_text(command));
    json_object_set_new(object, "status", json_integer(code));
    json_object_set_new(object, "seconds", json_real(0.001 * (int)(1000 * seconds)));
    json_object_set_new(object, "error", gi_json_text(code ? why : NULL));
    json_object_set_new(object, "output", gi_json_text(output));
    enum gi_status status = GI_OK;
    char *text = gi_json_dump(object, JSON_REAL_PRECISION(9));
    if (fprintf(jobs->results, "%s\n", text) < 0 || fflush(jobs->results))
        status = gi_fail(err, errno == EPIPE ? GI_E_PIPE : GI_E_IO, "standard output: %s",
                         strerror(errno));
    free(text);
    return status;
}

/* Runs the current line, unless it is empty, and writes its result. */
static enum gi_status run_line(struct jobs *jobs, struct gi_err *err)
{
    struct gi_err line_err = {0};
    char **words, *output = NULL;
    int n = read_words(&words, &jobs->lines, &line_err);
    double start = gi_now_ms();
    int code = 0;
    gi_cli_forget_logged();
    enum gi_status status = GI_OK;
    if (line_err.status) {
        gi_cli_log("line %zu: %s", jobs->lines.number, line_err.text);
        code = GI_EXIT_USAGE;
    } else if (n) {
        code = run_words(jobs, words, n, &output, &line_err);
    }
    if (n || code)
        status = write_result(jobs, n ? words[0] : NULL, code, (gi_now_ms() - start) / 1000, output,
                              &line_err, err);
    jobs->failed = jobs->failed || code;
    jobs->again = jobs->again || code == GI_EXIT_AGAIN;
    free_words(words, n);
    free(output);
    gi_cli_name("jobs");
    return status;
}

/* ---- the command ---- */

/* Opens a file for reading; -1: errno says why not. */
static int open_file(const char *path)
{
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR && !gi_stop_asked());
    return fd;
}

/* Opens the lines, and moves standard input and output away from the commands. */
static enum gi_status open_files(struct jobs *jobs, const char *path, struct gi_err *err)
{
    int in = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open_file(path);
    int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), none = open_file("/dev/null");
    jobs->lines.end = '\n';
    jobs->lines.file = in >= 0 ? fdopen(in, "r") : NULL;
    if (!jobs->lines.file)
        return gi_fail(err, GI_E_IO, "%s: %s", path, strerror(errno));
    jobs->results = out >= 0 ? fdopen(out, "w") : NULL;
    if (!jobs->results || none < 0 || !copy_descriptor(none, STDIN_FILENO))
        return gi_fail(err, GI_E_IO, "standard input and output: %s", strerror(errno));
    close(none);
    return gi_scratch_file_open(&jobs->printed, 0, err);
}

static void close_files(struct jobs *jobs)
{
    gi_lines_free(&jobs->lines);
    if (jobs->lines.file)
        fclose(jobs->lines.file);
    if (jobs->results)
        fclose(jobs->results);
    if (jobs->printed >= 0)
        close(jobs->printed);
}

static enum gi_status run_jobs(const struct gi_command *self, void *const *params, char **operands,
                               int noperands, struct gi_err *err)
{
    static bool inside;
    const struct jobs_params *own = params[0];
    struct jobs jobs = {.printed = -1};
    if (inside)
        return gi_fail(err, GI_E_USAGE, "is a line of jobs, want another command");
    inside = true;
    enum gi_status status = open_files(&jobs, operands[0], err);
    gi_cli_go_on(true);
    gi_session_devices_keep(true);
    for (bool more = true; more && !status && !gi_stop_asked();) {
        status = gi_lines_next(&jobs.lines, &more, err);
        if (!status && more)
            status = run_line(&jobs, err);
        more = more && !(jobs.failed && own->fail_fast);
    }
    gi_session_devices_keep(false);
    gi_cli_go_on(false);
    close_files(&jobs);
    inside = false;
    if (status || !jobs.failed)
        return status;
    *err =
        (struct gi_err){.status = jobs.again ? GI_E_MEMORY : GI_E_IO}; /* each line has said why */
    return err->status;
}

const struct gi_command gi_command_jobs = {
    .name = "jobs",
    .group = GI_GROUP_TOOLS,
    .operands = "FILE",
    .summary = "Run many command lines in one process, which keeps its devices",
    .manual =
        "Each line of the file is a command line, with or without the word gpuimg. The lines run "
        "one after the other in one process, so that the GPU and the threads are started once. "
        "If FILE is -, the lines come from standard input: a program can write a line, read its "
        "result, "
        "and write the next line. Words are separated by blanks. Single and double quotation "
        "marks and backslashes work as in a shell; nothing else is expanded, neither variables "
        "nor patterns. Empty lines and comments, which begin with #, are skipped.\n\n"
        "For each line a JSON object is printed, in the order of the lines: \"line\" is its "
        "number from 1, \"command\" its first word, \"status\" the exit status that the command "
        "would have had, \"seconds\" its time, \"error\" the message if it failed, and "
        "\"output\" the text that the command printed, null if there is none. Messages go to "
        "standard error as well; \"error\" is the first if several were logged. A line can't print "
        "an image, and reads nothing from standard input.\n\n"
        "A line that fails does not end the others, except with --fail-fast. The exit status is 0 "
        "if all lines succeeded, 75 if one of them had 75 (the machine failed, so that another "
        "run may succeed), and otherwise 1. A line may not be jobs itself.",
    .examples = "gpuimg jobs commands.txt\n"
                "gpuimg jobs commands.txt --fail-fast >results.jsonl",
    .min_operands = 1,
    .max_operands = 1,
    .sets = {{"Options", options, sizeof(struct jobs_params)}},
    .run = run_jobs,
};
