/* Commands: argv in, exit status out.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_CLI_H
#define GI_CLI_CLI_H

#include <stdio.h>

#include "filters/filter.h"
#include "imgio/imgio.h"

#define GI_VERSION      "0.1.0"
#define GI_VERSION_DATE "2026-11-21" /* of the manual pages */

enum { GI_EXIT_OK = 0, GI_EXIT_FAILED = 1, GI_EXIT_USAGE = 2 };

enum { GI_OPTION_SETS_MAX = 4 };

/* A set of rows and the struct their values go to. */
struct gi_option_set {
    const char *title; /* heading in the help: "Options", "Input and output" */
    const struct gi_option *rows;
    size_t params_nbytes;
};

/* A command is one row. Filters of image to image get theirs made from the filter's row. */
struct gi_command {
    const char *name;
    const char *operands; /* for the synopsis: "INPUT OUTPUT", "[COMMAND]", "bash|zsh|fish"; "" for
                             none. COMMAND, OPERATION and words parted by | are what completion
                             offers; for any other it offers files */
    const char *summary;  /* one line, no full stop */
    const char *manual;   /* paragraphs, parted by blank lines */
    const char *examples; /* lines "gpuimg blur in.png out.png --k 5"; NULL: none */
    /* What help and manual say after the options, made from other tables: line i, NULL past the
     * last; line 0 is its heading. Returns `line`. NULL: nothing more. */
    const char *(*more)(int i, char *line, size_t nbytes);
    int min_operands, max_operands; /* max -1: any number */
    /* Ends with rows == NULL, or full. With a filter the first one may be left empty, and `summary`
     * and `manual` too: gi_command_at() fills them from the filter's row. */
    struct gi_option_set sets[GI_OPTION_SETS_MAX];
    int trouble; /* exit status where a file or the operation failed; 0: GI_EXIT_FAILED */
    const struct gi_filter *filter; /* NULL: none. One of the sets holds its options; its check() is
                                       called before `run` */
    /* Runs; `params[i]` belongs to sets[i]. Prints its own data to stdout; on failure fills `err`
     * and returns the status, which becomes the exit status. An error whose text is "" was already
     * said (gi_cli_say). */
    enum gi_status (*run)(const struct gi_command *command, void *const *params, char **operands,
                          int noperands, struct gi_err *err);
};

/* Every command, filters included, in the order of the help; false past the end. */
bool gi_command_at(struct gi_command *command, int index);
bool gi_command_find(struct gi_command *command, const char *name);

/* The set whose rows are `rows`: its index in command->sets, or -1. */
int gi_command_set(const struct gi_command *command, const struct gi_option *rows);

/* Whether many commands have these rows: help tells them once, as `gpuimg help common`. */
bool gi_options_are_shared(const struct gi_option *rows);

/* Whether the row is --format with the choice json: -j and --json are short for it. The command's
 * row that is so; NULL: none. */
bool gi_option_has_json(const struct gi_option *row);
const struct gi_option *gi_option_json(const struct gi_command *command);

/* What argv said to one command. */
struct gi_args {
    void *params[GI_OPTION_SETS_MAX]; /* defaults, then what was given */
    char **operands;                  /* point into argv; the array is owned here */
    int noperands;
    bool help;       /* --help was given: nothing else was tested */
    void **contents; /* text of files read for GI_OPT_CONTENT, owned here */
    int ncontents;
};

/* Reads argv[1] and on as options and operands of `command` (argv[0] is its name), and checks all
 * of it before any work. Errors: GI_E_USAGE, GI_E_MEMORY, GI_E_IO; `args` is to be freed always. */
enum gi_status gi_args_read(struct gi_args *args, const struct gi_command *command, int argc,
                            char **argv, struct gi_err *err);
void gi_args_free(struct gi_args *args);

/* What `name`, which is no command, may have meant ("blur", or with an option "edges --operator
 * sobel"); NULL where nothing is near. The same for an option of `command`, both without dashes
 * ("device cuda") (cli/guess.c). */
const char *gi_command_nearest(const char *name);
const char *gi_option_nearest(const struct gi_command *command, const char *name);

/* How many letters to change, add or drop to make b from a; large where the lengths differ much. */
int gi_word_distance(const char *a, const char *b);

/* Set "Input and output" of commands that read or write images (cli/common.c). */
struct gi_io_params {
    const char *format;
    const char *background;
    int depth; /* enum gi_depth */
    int gray;  /* 0: colour stays; else which weights */
    int strip; /* enum gi_strip */
    int quality, compression;
    bool no_clobber, allow_partial, strict, durable, quiet;
    bool header_only; /* no option: gi_load_options */
    uint64_t max_pixels, max_bytes;
};
enum gi_depth { GI_DEPTH_SAME, GI_DEPTH_8, GI_DEPTH_16, GI_DEPTH_FLOAT };
extern const struct gi_option gi_io_options[];    /* commands that write an image */
extern const struct gi_option gi_input_options[]; /* commands that only read one */

/* The row of --compression; `params` is the struct that holds it as `int compression`. The default
 * is GI_DEFAULT_COMPRESSION. */
#define GI_COMPRESSION_OPTION(params)                                                              \
    {                                                                                              \
        .name = "compression", .type = GI_OPT_INT, .offset = offsetof(params, compression),        \
        .default_text = "1", .min = 0, .max = 9,                                                   \
        .help = "Effort to make PNG and TIFF small; 0 stores"                                      \
    }

/* Set "Running" (cli/device.c). */
struct gi_device_params {
    const char *device; /* auto, cpu, cuda, cuda:N; NULL: GPUIMG_DEVICE, then auto */
    int threads;        /* 0: as many as CPUs */
    uint64_t max_device_bytes;
    bool timing, verbose;
};
extern const struct gi_option gi_device_options[];

/* Loads by up to `threads` threads (0: as many as CPUs) where the format lets it, converts to
 * io->depth, prints warnings. metadata, info and listener may be NULL. */
enum gi_status gi_cli_load(struct gi_image *image, struct gi_metadata *metadata,
                           struct gi_file_info *info, const char *path,
                           const struct gi_io_params *io, int threads,
                           const struct gi_shape_listener *listener, struct gi_err *err);
/* What gi_cli_load() makes of an image of that shape. */
struct gi_image gi_cli_shape(const struct gi_io_params *io, const struct gi_image *stored);
/* The largest sample of the file's own scale, which reads as full scale of `image`; full scale
 * itself where --depth asks for another. */
unsigned gi_cli_maxval(const struct gi_image *image, const struct gi_file_info *info,
                       const struct gi_io_params *io);
/* Encodes by up to `threads` threads where the format lets it. */
enum gi_status gi_cli_save(const struct gi_image *image, const struct gi_metadata *metadata,
                           const char *path, const struct gi_io_params *io, int threads,
                           struct gi_err *err);
/* The same for a command that reads `input` and writes `output`: from - to - without --format the
 * input's format is kept, and *io gets it once `info` is known (before: NULL). Errors: as
 * gi_cli_check_save(). */
enum gi_status gi_cli_check_way(const char *input, const char *output, struct gi_io_params *io,
                                const struct gi_file_info *info, struct gi_err *err);

/* Whether gi_cli_save() would know the format and may write there: before any work.
 * Errors: GI_E_USAGE, GI_E_IO. */
enum gi_status gi_cli_check_save(const char *path, const struct gi_io_params *io,
                                 struct gi_err *err);

/* One line on stderr: "gpuimg: COMMAND: text". */
void gi_cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "gpuimg: warning: COMMAND: text", unless warnings are off. */
void gi_cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The COMMAND of both, NULL: none, and whether warnings are off (--quiet): set by main(). */
void gi_cli_name(const char *name);
void gi_cli_quiet(bool quiet);

/* Bytes of the UTF-8 sequence at `text`, 1 to 4; 0 where there is none. */
size_t gi_utf8_nbytes(const char *text);

/* Prints text of files or paths so that it can't drive a terminal: control characters as \xNN, also
 * those of 8 bits (0x80 to 0x9f), alone or as U+0080 to U+009F in UTF-8. */
void gi_print_safe(FILE *out, const char *text);

/* A number of bytes for people, "3.1 MB". Returns buffer. */
const char *gi_text_nbytes(double nbytes, char buffer[32]);

/* Help of all commands, of one, and manual pages (cli/help.c, cli/man.c). */
void gi_help_all(FILE *out);
void gi_help_common(FILE *out);
void gi_help_command(FILE *out, const struct gi_command *command);
void gi_man_all(FILE *out);
void gi_man_command(FILE *out, const struct gi_command *command);

/* The names of an option and its argument: "-t, --at, --threshold", " LEVEL"; "[=WHAT]" where the
 * argument may be left out, "" for a flag. Both return buffer. */
const char *gi_option_names(const struct gi_option *row, char *buffer, size_t nbytes);
const char *gi_option_argument(const struct gi_option *row, char *buffer, size_t nbytes);
/* The argument alone: "LEVEL"; NULL for a flag. */
const char *gi_option_metavar(const struct gi_option *row);
/* "Side of the box (odd, 1 to 4001 px; default 3)". Returns buffer. */
const char *gi_option_describe(const struct gi_option *row, char *buffer, size_t nbytes);
/* Whether each choice is worth a line of its own, and what that line says: "the nearest pixel of
 * the image (also edge, copy)". `choice` is no alias. Returns buffer. */
bool gi_choices_have_help(const struct gi_option *row);
const char *gi_choice_describe(const struct gi_option *row, const struct gi_choice *choice,
                               char *buffer, size_t nbytes);

/* What --device or GPUIMG_DEVICE names. */
enum gi_device_choice { GI_CHOOSE_AUTO, GI_CHOOSE_CPU, GI_CHOOSE_CUDA };
/* NULL text: GPUIMG_DEVICE, then auto. Errors: GI_E_USAGE. */
enum gi_status gi_device_parse(enum gi_device_choice *choice, int *ordinal, const char *text,
                               struct gi_err *err);
/* CPUs that this process may run on. */
int gi_cpu_count(void);
/* What --threads says (0: it was not given), or the CPUs. */
int gi_thread_count(int asked);

/* Whether a command that has done its work frees what the system takes back anyway: contexts and
 * their threads. Only leak checkers want that (a sanitizer's build, or GPUIMG_TEAR_DOWN is set). */
bool gi_cli_tears_down(void);

/* Flushes standard output. Errors: GI_E_PIPE where its reader is gone, GI_E_IO. */
enum gi_status gi_cli_flush(struct gi_err *err);

/* Milliseconds of the monotonic clock. */
double gi_now_ms(void);

#endif
