/* gpuimg report merge: joins the reports of the tasks of a job array.
 * SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/log.h"
#include "cli/paths/output.h"
#include "cli/process.h"
#include "cli/report/journal_merge.h"

#include <inttypes.h>
#include <string.h>

enum { MISSING_NO, MISSING_FILES, MISSING_ARRAY };

struct report_merge_params {
    const char *output, *files_from;
    int missing;
    bool null;
};

static const struct gi_choice missing_choices[] = {
    {"no", NULL, "nothing; the merged report is printed"},
    {"files", NULL, "the names of the missing inputs, one per line, for --files-from"},
    {"array", NULL, "the numbers of the incomplete shards, for sbatch --array"},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("output", PATH, struct report_merge_params, output), .letter = 'o',
     .help = "Write the merged report to this file, whole or not at all. Without this option it "
             "is printed, unless --missing is given"},
    {GI_OPTION("missing", CHOICE, struct report_merge_params, missing), .choices = missing_choices,
     .help = "Print the inputs or shards that failed or never ran, in place of the merged report"},
    {GI_OPTION("files-from", PATH, struct report_merge_params, files_from), .metavar = "LIST",
     .help = "The list or the folder of inputs that the batch was given. --missing files needs "
             "it to name inputs that are in no report"},
    {GI_OPTION("null", FLAG, struct report_merge_params, null), .letter = '0',
     .help = "Names end with a zero byte, both in --files-from and in what --missing files prints"},
    {0},
};

/* Logs which inputs are missing; for this command that is not an error. */
static enum gi_status log_missing(const struct gi_journal_merge *merge, struct gi_err *err)
{
    uint64_t failed = gi_journal_merge_failed(merge), untold = gi_journal_merge_untold(merge);
    uint32_t absent = gi_journal_merge_absent(merge);
    if (failed + untold + absent == 0)
        return gi_journal_merge_check_outputs(merge, err);
    gi_fail(err, GI_E_DIFFERENT,
            "of %" PRIu64 " files %" PRIu64 " failed and %" PRIu64 " never ran", merge->files,
            failed, untold);
    return absent ? gi_err_prefix(err, "%" PRIu32 " shards have no report", absent)
                  : GI_E_DIFFERENT;
}

static enum gi_status merge_reports(struct gi_journal_merge *merge,
                                    const struct report_merge_params *p, char **paths, int n,
                                    struct gi_err *err)
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
    const struct report_merge_params *p = params[0];
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
        "Merges the reports that the tasks of a batch wrote with --report, for example one per "
        "shard. One file may hold several reports. The merged report has a line per input, in "
        "the order of the names. If there are several lines for one input, the last one with the "
        "status \"done\" counts. Reports of another list of inputs or of another chain are "
        "refused.\n\n"
        "Two cases cause a warning. If a shard is in two reports, its task ran again, or two "
        "tasks have the same number. A damaged line, or one that was cut off when a task ended, "
        "is left out. The names of all inputs are kept in memory, and of the lines more than 16 "
        "MiB in a temporary file in TMPDIR.\n\n"
        "--missing array prints the numbers of the incomplete shards, for a new job array. A "
        "task with --shard auto/N processes the same shard in every array.\n\n"
        "The exit status is 0 if every file of the list is done, 1 if some files failed or never "
        "ran, 75 if the machine failed, for example because of a full disk, and 2 for all other "
        "errors.",
    .examples = "gpuimg report merge shard-*.jsonl -o all.jsonl\n"
                "gpuimg report merge shard-*.jsonl --missing files --files-from photos.txt\n"
                "sbatch --array=$(gpuimg report merge shard-*.jsonl --missing array) job.sh",
    .min_operands = 2,
    .max_operands = -1,
    .trouble = 2,
    .sets = {{"Options", options, sizeof(struct report_merge_params)}},
    .run = run_report,
};
