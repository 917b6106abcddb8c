/* The options of batches, and the printing of options as text.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/hash.h"
#include "cli/text.h"
#include "imgio/small.h"

#define WHERE                                                                                      \
    {GI_OPTION("out-dir", PATH, struct gi_batch_params, out_dir), .metavar = "DIR",                \
     .help = "Take any number of inputs, and write each result into this folder under the name "   \
             "of its input; with --recursive the folder tree is kept"},                            \
    {                                                                                              \
        GI_OPTION("out", PATH, struct gi_batch_params, out),                                       \
            .metavar = "TEMPLATE",                                                                 \
            .help =                                                                                \
                "Template for the name of each result, below --out-dir if that is given. "         \
                "Fields: {dir} is the folder of the input, {tree} its folder below that of "       \
                "--recursive, {stem} its name without suffix, {ext} its suffix, {name} its "       \
                "whole name, {date} the day on which the picture was taken (EXIF's "               \
                "DateTimeOriginal), or else the day of the file's last change, as 2026-11-25, "    \
                "{index} its number in the list "                                                  \
                "from 1 (with --shard in the sorted list), {page} the number of a page, from 0, "  \
                "{width} and {height} the size of the result; {index:04} is filled with zeros"     \
    }

#define TABLE                                                                                      \
    {                                                                                              \
        GI_OPTION("table", PATH, struct gi_batch_params, table),                                   \
            .metavar = "FILE",                                                                     \
            .help =                                                                                \
                "Take any number of inputs, and write one table for all of them to this file, "    \
                "with a column for the name of the input: .csv, .jsonl (an object per input) or "  \
                ".npy (a structured array); - is standard output, as CSV"                          \
    }

#define CHOICE GI_CHOICE_OPTIONS(struct gi_batch_params, choice.only, choice.except)

#define FOR                                                                                        \
    {                                                                                              \
        GI_OPTION("for", TEXT, struct gi_batch_params, choice.rules),                              \
            .repeats = true, .two = true, .metavar = "PATTERN[,PATTERN...] CHAIN",                 \
            .help = "Process the inputs whose names match one of these patterns by this chain "    \
                    "instead, for example masks: --for '*.seg.png' 'resize --size 256x256 "        \
                    "--filter nearest'. If several --for match a name, the first one applies"      \
    }

#define NULL_NAMES(help_text)                                                                      \
    {                                                                                              \
        GI_OPTION("null", FLAG, struct gi_batch_params, null), .letter = '0', .help = help_text    \
    }

#define FROM                                                                                       \
    {GI_OPTION("files-from", PATH, struct gi_batch_params, files_from), .metavar = "LIST",         \
     .help = "Read names of further inputs from this file, one per line; - is standard input. A "  \
             "list of more than 64 MiB is not read into memory (see LONG LISTS in gpuimg help "    \
             "batch)"},                                                                            \
        NULL_NAMES("Names in --files-from end with a zero byte, as find -print0 prints them"),     \
    {                                                                                              \
        GI_OPTION("recursive", FLAG, struct gi_batch_params, recursive),                           \
            .help = "Take the image files in folders that are inputs, and in the folders below "   \
                    "them, by their suffixes"                                                      \
    }

#define SHARD                                                                                      \
    {                                                                                              \
        GI_OPTION("shard", TEXT, struct gi_batch_params, shard),                                   \
            .metavar = "K/N",                                                                      \
            .help =                                                                                \
                "Process only share K of N (K = 1 to N): every N-th input of the sorted list, "    \
                "beginning with the K-th. With \"auto/N\", K is the task number (of Slurm, "       \
                "Kubernetes, AWS Batch or GNU parallel) modulo N. With \"auto\", K is found in "   \
                "the same way, and N is the number of tasks. If a list of more than 64 MiB names " \
                "the inputs, share K is the K-th of N equal ranges of its bytes"                   \
    }

#define REPORT                                                                                     \
    {                                                                                              \
        GI_OPTION("report", PATH, struct gi_batch_params, report),                                 \
            .metavar = "FILE",                                                                     \
            .help =                                                                                \
                "Write a report (a log) to this file, with a JSON object per line: the first "     \
                "line describes the batch, and then each input has a line when it is finished. "   \
                "With --tar there is a line per member, named TAR:MEMBER, and after the lines of " \
                "its members a line for the tar. For a stream there is a line per image or "       \
                "frame, and then a line for the stream"                                            \
    }

#define RESUME                                                                                     \
    {                                                                                              \
        GI_OPTION("resume", FLAG, struct gi_batch_params, resume),                                 \
            .help =                                                                                \
                "Continue an earlier run and its --report: skip the inputs that it finished, "     \
                "unless the size or time of the input or its output has changed, and try failed "  \
                "ones again (retry). With --tar and without --report, skip the tars that exist"    \
    }

#define TAR(more)                                                                                  \
    {                                                                                              \
        GI_OPTION("tar", FLAG, struct gi_batch_params, tar),                                       \
            .help = "The inputs are tars, brace lists of tars such as 'x-{000..999}.tar', - for "  \
                    "standard input, or pipe:COMMAND for the output of a command; the table has "  \
                    "a row for each member that is an image by its "                               \
                    "content, and a column for the tar" more                                       \
    }

#define RUNNING                                                                                    \
    {GI_OPTION("fail-fast", FLAG, struct gi_batch_params, fail_fast),                              \
     .help = "Stop at the first file that fails; without this option the other files are "         \
             "processed"},                                                                         \
        {GI_OPTION("memory", SIZE, struct gi_batch_params, memory), .min = 1, .max = 1e15,         \
         .unit = "bytes",                                                                          \
         .help = "Limit of the memory for the images in progress, their results and tables; an "   \
                 "image that needs more is processed alone, and on the CPU in bands of rows if "   \
                 "possible (gpuimg help limits). The default is half of the free memory"},         \
    {                                                                                              \
        GI_OPTION("progress", FLAG, struct gi_batch_params, progress),                             \
            .help = "Print a line of progress every few seconds, even if standard error is no "    \
                    "terminal"                                                                     \
    }

#define INPUTS_AND_REPORT FROM, CHOICE, SHARD, REPORT, RESUME, RUNNING

#define TARS                                                                                       \
    {                                                                                              \
        GI_OPTION("tar", FLAG, struct gi_batch_params, tar),                                       \
            .help =                                                                                \
                "INPUT and OUTPUT are tars: members that are images by their content are "         \
                "processed, all others are copied, and names and order stay. A brace list such "   \
                "as 'x-{000..999}.tar' names many tars; there are as many outputs as inputs, or "  \
                "one. \"pipe:COMMAND\" is a tar that a command writes or reads (gpuimg help "      \
                "batch)"                                                                           \
    }

#define IMAGES                                                                                     \
    WHERE,                                                                                         \
        {GI_OPTION("suffix", TEXT, struct gi_batch_params, suffix), .metavar = ".EXT",             \
         .help = "Suffix of the results, which chooses their format; without this option each "    \
                 "result has the suffix of its input"},                                            \
        FOR, INPUTS_AND_REPORT, TARS

const struct gi_option gi_batch_options[] = {
    IMAGES,
    {0},
};

const struct gi_option gi_chain_options[] = {
    IMAGES,
    TABLE,
    {0},
};

const struct gi_option gi_table_options[] = {
    TABLE,
    WHERE,
    {GI_OPTION("suffix", TEXT, struct gi_batch_params, suffix), .metavar = ".EXT",
     .help = "Suffix of a table for each image, .csv or .json; without this option .csv"},
    INPUTS_AND_REPORT,
    TAR(". With --suffix there are two tars, INPUT and OUTPUT, and each image becomes a table in "
        "OUTPUT"),
    {0},
};

const struct gi_option gi_array_options[] = {
    WHERE,
    {GI_OPTION("suffix", TEXT, struct gi_batch_params, suffix), .metavar = ".EXT",
     .default_text = ".npy", .help = "Suffix of the arrays, .npy or .pfm"},
    INPUTS_AND_REPORT,
    TARS,
    {0},
};

const struct gi_option gi_layers_options[] = {
    {GI_OPTION("out", PATH, struct gi_batch_params, out), .metavar = "TEMPLATE",
     .help = "Take any number of inputs, and write the results of each into a folder of this "
             "name, for example 'out/{stem}'"},
    INPUTS_AND_REPORT,
    {0},
};

const struct gi_option gi_table_only_options[] = {
    TABLE,
    {0},
};

const struct gi_option gi_listing_options[] = {
    TABLE, FROM, CHOICE, SHARD, REPORT, RUNNING, TAR(""), {0},
};

const struct gi_option gi_pairs_options[] = {
    {GI_OPTION("pairs", PATH, struct gi_batch_params, files_from), .metavar = "LIST",
     .help = "Compare the pairs that this file lists, one per line, with a tab between the two "
             "names; - is standard input"},
    NULL_NAMES("In the list of --pairs each name, the first and the second of a pair, ends with "
               "a zero byte"),
    {GI_OPTION("table", PATH, struct gi_batch_params, table), .metavar = "FILE",
     .help = "Write the table of many pairs to this file: .csv, .jsonl (an object per pair) or "
             ".npy (a structured array). Without this option, or with -, the table goes to "
             "standard output as CSV"},
    {GI_OPTION("report", PATH, struct gi_batch_params, report), .metavar = "FILE",
     .help = "Write a report to this file, with a JSON object per line: the first line describes "
             "the batch, and then each pair has a line when it is finished"},
    CHOICE,
    SHARD,
    RUNNING,
    {GI_OPTION("tar", FLAG, struct gi_batch_params, tar),
     .help = "A and B are tars, or brace lists of the same number of tars, such as "
             "'x-{000..999}.tar'; one of them may be - for standard input. Members that are "
             "images by their content are paired by name, and the table has a column for the tar"},
    {0},
};

bool gi_options_are_of_batches(const struct gi_option *rows)
{
    return rows == gi_batch_options || rows == gi_table_options || rows == gi_chain_options ||
           rows == gi_array_options || rows == gi_layers_options || rows == gi_listing_options ||
           rows == gi_pairs_options;
}

bool gi_options_are_shared(const struct gi_option *rows)
{
    return rows == gi_io_options || rows == gi_input_options || rows == gi_device_options ||
           rows == gi_batch_options || rows == gi_table_options || rows == gi_chain_options ||
           rows == gi_array_options || rows == gi_layers_options;
}

static bool writes_images(const struct gi_command *command)
{
    return gi_command_set(command, gi_batch_options) >= 0 ||
           gi_command_set(command, gi_chain_options) >= 0;
}

bool gi_batch_writes_files(const struct gi_command *command)
{
    return writes_images(command) || gi_command_set(command, gi_array_options) >= 0;
}

bool gi_batch_is_wanted(const struct gi_batch_params *params)
{
    return params->tar || params->out_dir || params->out || params->files_from || params->table;
}

const struct gi_batch_params *gi_batch_params_of(const struct gi_command *command,
                                                 void *const *params)
{
    for (int s = 0; s < GI_OPTION_SETS_MAX && command->sets[s].rows; s++)
        if (gi_options_are_of_batches(command->sets[s].rows))
            return params[s];
    return NULL;
}

const struct gi_batch_params *gi_batch_params(const struct gi_batch_job *job)
{
    return job->batch ? job->batch : gi_batch_params_of(job->command, job->params);
}

const struct gi_device_params *gi_batch_device(const struct gi_batch_job *job)
{
    int set = gi_command_set(job->command, gi_device_options);
    return job->device || set < 0 ? job->device : job->params[set];
}

struct gi_io_params *gi_batch_io(const struct gi_batch_job *job)
{
    int input = gi_command_set(job->command, gi_input_options);
    return job->params[input >= 0 ? input : gi_command_set(job->command, gi_io_options)];
}

bool gi_batch_is_no_clobber(const struct gi_batch_job *job)
{
    const struct gi_chain *chain = job->chain;
    const struct gi_chain_step *last = chain && chain->n ? &chain->steps[chain->n - 1] : NULL;
    return last && last->reporter ? gi_chain_no_clobber(last) : gi_batch_io(job)->no_clobber;
}

const char *gi_tables_want(const struct gi_chain *chain, char *buffer, size_t nbytes)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (const char *at = gi_chain_suffixes(chain); *at && used < nbytes;) {
        int n = (int)strcspn(at, " ");
        const char *between = !used ? "" : at[n] ? ", " : " or ";
        used += (size_t)snprintf(buffer + used, nbytes - used, "%s.%.*s", between, n, at);
        at += n + (at[n] == ' ');
    }
    return buffer;
}

enum gi_status gi_tables_suffix(const char **suffix, const struct gi_chain *chain,
                                struct gi_err *err)
{
    const bool arrays = gi_chain_makes_arrays(chain);
    const char *suffixes = gi_chain_suffixes(chain);
    char name[64], want[100];
    if (!*suffix)
        *suffix = arrays ? ".npy" : ".csv";
    snprintf(name, sizeof name, "x.%s", *suffix + (**suffix == '.'));
    if (!gi_text_has_suffix(name, suffixes))
        return gi_fail(err, GI_E_USAGE, "--suffix %s: the results are %s, want %s", *suffix,
                       arrays ? "arrays" : "tables", gi_tables_want(chain, want, sizeof want));
    return GI_OK;
}

static bool is_text(enum gi_option_type type)
{
    return type == GI_OPT_TEXT || type == GI_OPT_CONTENT || type == GI_OPT_PATH ||
           type == GI_OPT_IMAGE;
}

/* Returns whether an option has no influence on the bytes of the result. */
static bool has_no_say(const struct gi_option *row)
{
    static const char *const names[] = {
        "report",  "files-from", "null",    "recursive",  "memory",    "progress", "quiet",
        "durable", "no-clobber", "threads", "max-pixels", "max-bytes", "force"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(row->name, names[i]) == 0)
            return true;
    return false;
}

/* Returns whether an option may be used for one image. If `images` is true, the command writes
 * images, and --report counts too, because it may be used for a stream of images; gi_stream_find()
 * decides about that. */
static bool is_for_one(const struct gi_option *row, bool images)
{
    return strcmp(row->name, "memory") == 0 || strcmp(row->name, "progress") == 0 ||
           (strcmp(row->name, "report") == 0 && images);
}

enum gi_status gi_batch_check_one(const struct gi_command *command, void *const *params,
                                  struct gi_err *err)
{
    const char *given = (const char *)gi_batch_params_of(command, params);
    bool tables = gi_command_set(command, gi_table_options) >= 0, images = writes_images(command);
    bool layers = gi_command_set(command, gi_layers_options) >= 0;
    const struct gi_option *row = tables   ? gi_table_options
                                  : images ? gi_chain_options
                                  : layers ? gi_layers_options
                                           : gi_array_options;
    if (!given || (!tables && !layers && !gi_batch_writes_files(command)))
        return GI_OK;
    struct gi_batch_params defaults = {0};
    gi_options_default(&defaults, row);
    for (; row->name; row++)
        if (!is_for_one(row, images) && !gi_option_same(row, given, &defaults))
            return gi_fail(err, GI_E_USAGE, "--%s: is for many images: want %s too", row->name,
                           tables   ? "--table, --out-dir or --out"
                           : layers ? "--out"
                                    : "--out-dir, --out or --tar");
    return GI_OK;
}

/* Prints an option as on a command line. A long file is shown by the beginning, the length and the
 * 64-bit FNV-1a hash are printed. */
static void print_row(FILE *out, const struct gi_option *row, const void *params)
{
    enum { LONG = 240, HEAD = 60 };
    const char *quote = is_text(row->type) ? "'" : "", *text = NULL;
    fprintf(out, " --%s%s%s", row->name, row->type == GI_OPT_FLAG ? "" : " ", quote);
    if (row->type == GI_OPT_CONTENT)
        memcpy(&text, (const char *)params + row->offset, sizeof text);
    if (text && strlen(text) > LONG) {
        size_t n = strlen(text);
        fprintf(out, "%.*s... (%zu bytes, fnv1a %016" PRIx64 ")", HEAD, text, n,
                gi_hash(GI_HASH_START, text, n));
    } else {
        gi_option_print(out, row, params);
    }
    fputs(quote, out);
}

char *gi_batch_text(const struct gi_command *command, const char *first, void *const *params)
{
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    fputs(first, out);
    for (int s = 0; s < GI_OPTION_SETS_MAX && command->sets[s].rows; s++) {
        const struct gi_option_set *set = &command->sets[s];
        if (gi_options_are_of_batches(set->rows) || set->rows == gi_device_options)
            continue;
        char *defaults = gi_small_calloc(1, set->params_nbytes);
        gi_options_default(defaults, set->rows);
        for (const struct gi_option *row = set->rows; row->name; row++) {
            if (has_no_say(row) || gi_option_same(row, params[s], defaults))
                continue;
            print_row(out, row, params[s]);
        }
        free(defaults);
    }
    return gi_text_close(out, &memory);
}
