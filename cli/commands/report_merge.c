/* gpuimg report merge: joins the reports of the tasks of a job array.
 * SPDX-License-Identifier: MIT */
#include "cli/report/journal_merge.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/run/output.h"
#include "cli/process.h"
#include "cli/log.h"

#include <inttypes.h>
#include <string.h>

enum { MISSING_NO, MISSING_FILES, MISSING_ARRAY };

struct params {
    const char *output, *files_from;
    int missing;
    bool null;
};

static const struct gi_choice missing_choices[] = {
    {"no", NULL, "nothing: the joined report is printed"},
    {"files", NULL, "the names of the inputs, one per line, as --files-from takes them"},
    {"array", NULL, "the shards, as sbatch --array takes them"},
    {0},
};

static const struct gi_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = GI_OPT_PATH,
     .offset = offsetof(struct params, output),
     .help = "File of the joined report, written whole or not at all; standard output unless "
             "--missing is given"},
    {.name = "missing",
     .type = GI_OPT_CHOICE,
     .offset = offsetof(struct params, missing),
     .choices = missing_choices,
     .help = "Print what failed or never ran"},
    {.name = "files-from",
     .type = GI_OPT_PATH,
     .offset = offsetof(struct params, files_from),
     .metavar = "LIST",
     .help = "The list that the batch was given, or its folder: for the names of --missing files "
             "that no report speaks of"},
    {.name = "null",
     .letter = '0',
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct params, null),
     .help = "Names end with a zero byte, those printed and those in --files-from"},
    {0},
};

/* Reports inputs that are missing, which is not an error of this command. */
static enum gi_status log_missing(const struct gi_journal_merge *merge, struct gi_err *err)
{
    uint64_t failed = gi_journal_merge_failed(merge), untold = gi_journal_merge_untold(merge);
    if (failed + untold == 0)
        return GI_OK;
    return gi_fail(err, GI_E_DIFFERENT,
                   "of %" PRIu64 " files %" PRIu64 " failed and %" PRIu64 " never ran",
                   merge->files, failed, untold);
}

static enum gi_status merge_reports(struct gi_journal_merge *merge, const struct params *p,
                                    char **paths, int n, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (int i = 0; i < n && !status; i++)
        status = gi_journal_merge_add(merge, paths[i], err);
    if (!status)
        status = gi_journal_merge_join(merge, err);
    if (!status && p->missing == MISSING_ARRAY)
        status = gi_journal_merge_print_tasks(merge, stdout, err);
    if (!status && p->missing == MISSING_FILES)
        status =
            gi_journal_merge_print_files(merge, stdout, p->files_from, p->null ? '\0' : '\n', err);
    if (!status)
        status = gi_cli_flush(err);
    if (!status && (p->output || !p->missing))
        status = gi_journal_merge_write(merge, p->output ? p->output : "-", err);
    return status ? status : log_missing(merge, err);
}

static enum gi_status run_report(const struct gi_command *self, void *const *params,
                                 char **operands, int noperands, struct gi_err *err)
{
    (void)self;
    const struct params *p = params[0];
    const char *outputs[] = {p->output, NULL};
    struct gi_journal_merge merge = {0};
    if (strcmp(operands[0], "merge") != 0)
        return gi_fail(err, GI_E_USAGE, "%s: want merge REPORT...", operands[0]);
    operands[noperands] = NULL;
    enum gi_status status = gi_output_check_inputs(outputs, (const char *const *)operands + 1, err);
    if (!status && p->output)
        status = gi_output_check(p->output, false, err);
    if (!status)
        status = merge_reports(&merge, p, operands + 1, noperands - 1, err);
    gi_journal_merge_free(&merge);
    return status;
}

const struct gi_command gi_command_report = {
    .name = "report",
    .operands = "merge REPORT...",
    .summary = "Merge the reports of a batch's tasks and list what is missing",
    .manual =
        "Joins what --report of several runs wrote: of the shards of one list, of tasks that ran "
        "again; one file may hold several reports. The joined report has a line per input, in the "
        "order of names. If there are several lines for one input, the last that says it is done "
        "counts. A shard that is in two reports causes a warning: a task ran again, or another "
        "task has its number. A line that is cut off by the end of a task, or damaged, is left out "
        "with a warning. Reports of another list of files or of another chain are refused.\n"
        "\n"
        "--missing array prints the shards that are not complete as sbatch takes them: a task with "
        "--shard auto/N has the same shard in any array.\n"
        "\n"
        "Exit status: 0 if every file of the list is done, 1 if some failed or never ran, 75 if "
        "the machine failed, for example by a full disk, 2 for other trouble.",
    .examples = "gpuimg report merge shard-*.jsonl -o all.jsonl\n"
                "gpuimg report merge shard-*.jsonl --missing files --files-from photos.txt\n"
                "sbatch --array=$(gpuimg report merge shard-*.jsonl --missing array) job.sh",
    .min_operands = 2,
    .max_operands = -1,
    .trouble = 2,
    .sets = {{"Options", options, sizeof(struct params)}},
    .run = run_report,
};
