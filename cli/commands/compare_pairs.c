/* gpuimg compare of many pairs, from a list or from two folders.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/rules.h"
#include "cli/commands/compare_masks.h"
#include "cli/commands/compare_pairs.h"
#include "cli/inputs/page_cursor.h"
#include "cli/inputs/pair_list.h"
#include "cli/inputs/tar_pairs.h"
#include "cli/inputs/text_batch.h"
#include "cli/json.h"
#include "cli/log.h"
#include "cli/process.h"
#include "cli/tables/compare_junit.h"
#include "cli/text.h"
#include "imgio/small.h"

struct pairs {
    struct gi_batch_files files; /* `list` has the first image of each pair */
    struct gi_text_batch table;
    const struct gi_compare_params *wishes;
    struct gi_io_params io;
    struct gi_image mask;           /* of --ignore, if it names no folder */
    struct gi_compare_masks *masks; /* if it does; else NULL */
    struct gi_pages *pages[2];      /* the files whose pages are compared, if both have several */
    bool json;
    int reader;                           /* descriptor that JSON is printed for; -1: a file */
    size_t n, different, missing, failed; /* `failed` are errors other than a missing file */
    void *const *params;
    struct gi_junit *junit;
    struct gi_page *page;
};

/* Returns the error if the machine failed, so that it is not known what the path names. Other
 * errors are reported when the file is compared. */
static enum gi_status unless_known(enum gi_status status, const struct gi_err *fault,
                                   struct gi_err *err)
{
    if (status != GI_E_AGAIN && status != GI_E_MEMORY)
        return GI_OK;
    *err = *fault;
    return status;
}

/* Finds out whether all `n` names are those of folders. */
static enum gi_status are_folders(bool *all, char *const *names, int n, struct gi_err *err)
{
    *all = true;
    for (int i = 0; i < n && *all; i++) {
        struct stat st;
        struct gi_err fault;
        enum gi_status status = GI_OK;
        if (stat(names[i], &st))
            status =
                gi_fail(&fault, gi_status_of_errno(errno), "%s: %s", names[i], strerror(errno));
        *all = !status && S_ISDIR(st.st_mode);
        status = unless_known(status, &fault, err);
        if (status)
            return status;
    }
    return GI_OK;
}

/* Finds out whether the file has several pages. */
static enum gi_status has_pages(bool *several, const char *path, const struct gi_io_params *io,
                                struct gi_err *err)
{
    struct gi_pages *pages;
    struct gi_err fault;
    enum gi_status status = gi_cli_open_pages(&pages, path, NULL, 0, io, true, &fault);
    *several = !status && pages && gi_pages_n(pages) > 1;
    gi_pages_close(&pages, NULL);
    return unless_known(status, &fault, err);
}

enum gi_status gi_pairs_are_wanted(bool *wanted, void *const *params, char **operands,
                                   int noperands, struct gi_err *err)
{
    const struct gi_batch_params *p = params[GI_SET_PAIRS];
    const struct gi_io_params *io = params[GI_SET_PAIR_INPUT];
    *wanted = p->files_from || p->table || p->report || p->shard || p->tar || p->choice.only ||
              p->choice.except;
    if (*wanted || noperands != 2)
        return GI_OK;
    enum gi_status status = are_folders(wanted, operands, 2, err);
    if (!status && !*wanted)
        status = has_pages(wanted, operands[0], io, err);
    else
        return status;
    return status || !*wanted ? status : has_pages(wanted, operands[1], io, err);
}

/* Adds two files, or the pairs of their pages. The files stay open, so that all pages are those of
 * the same files, also if other files get their names meanwhile. */
static enum gi_status add_files(struct pairs *pairs, char **names, struct gi_err *err)
{
    struct gi_batch_files *files = &pairs->files;
    struct gi_pages **pages = pairs->pages;
    enum gi_status status = GI_OK;
    for (int i = 0; i < 2 && !status; i++)
        status = gi_cli_open_pages(&pages[i], names[i], NULL, 0, &pairs->io, true, err);
    int n = pages[0] ? gi_pages_n(pages[0]) : 1, other = pages[1] ? gi_pages_n(pages[1]) : 1;
    if (!status && n != other)
        status = gi_fail(err, GI_E_USAGE, "%s has %d page%s, %s %d: want as many, or [0] after one",
                         names[0], n, n == 1 ? "" : "s", names[1], other);
    if (!status && n == 1)
        status = gi_pair_add(files, names[0], names[1], err);
    for (int i = 0; n > 1 && i < n && !status; i++) {
        char *a = gi_page_name(pages[0], i), *b = gi_page_name(pages[1], i);
        status = gi_pair_add(files, a, b, err);
        free(a);
        free(b);
    }
    for (int i = 0; i < 2 && n == 1; i++)
        gi_pages_close(&pages[i], NULL);
    return status;
}

/* Lists the masks if --ignore names a folder. */
static enum gi_status list_masks(struct pairs *pairs, struct gi_err *err)
{
    char *const names[] = {(char *)pairs->wishes->ignore};
    bool folder = false;
    enum gi_status status = names[0] ? are_folders(&folder, names, 1, err) : GI_OK;
    return status || !folder ? status
                             : gi_compare_masks_new(&pairs->masks, names[0], &pairs->files, err);
}

static enum gi_status read_names(struct pairs *pairs, const struct gi_batch_job *job,
                                 char **operands, int noperands, struct gi_err *err)
{
    struct gi_batch_files *files = &pairs->files;
    const struct gi_batch_params *p = files->params;
    if (pairs->wishes->diff && p->tar)
        return gi_fail(err, GI_E_USAGE, "--diff %s: of pairs in tars there is a table alone",
                       pairs->wishes->diff);
    if (noperands != (p->files_from ? 0 : 2))
        return gi_fail(err, GI_E_USAGE,
                       p->files_from ? "--pairs %s: want no names beside it"
                                     : "%s: want A and B, or --pairs",
                       p->files_from ? p->files_from
                       : noperands   ? operands[0]
                                     : "nothing");
    if (p->tar && p->files_from)
        return gi_fail(err, GI_E_USAGE, "--tar: want A and B, and no --pairs");
    bool folders = false;
    enum gi_status status = gi_rules_new(&files->rules, job, err);
    if (!status && !p->tar && !p->files_from)
        status = are_folders(&folders, operands, 2, err);
    if (!status && !folders && !p->tar && !p->files_from && files->rules)
        status =
            gi_fail(err, GI_E_USAGE, "--only and --except: want two folders, --pairs or --tar");
    if (!status)
        status = p->tar          ? gi_tar_pairs_list(files, operands, err)
                 : p->files_from ? gi_pairs_read(files, err)
                 : folders       ? gi_pairs_of_folders(files, operands, err)
                                 : add_files(pairs, operands, err);
    if (!status && !files->in.list.n)
        status = gi_fail(err, GI_E_USAGE, "no pairs of images%s",
                         files->rules ? " that --only and --except choose" : "");
    if (!status && folders)
        status = list_masks(pairs, err);
    if (!status && (folders || p->files_from))
        gi_matcher_warn(gi_rules_matcher(files->rules));
    if (!status)
        status = gi_pairs_share(files, err);
    if (!status && p->tar)
        gi_tar_pairs_new(&files->tar_pairs, files, &pairs->io);
    return status;
}

static void print_csv(FILE *out, const struct gi_comparison *comparison, const struct gi_image *a,
                      const char *other, bool ok)
{
    const struct gi_cell_style style = {12, "nan", 0, 0};
    const struct gi_compare_columns columns = gi_compare_columns(comparison->metrics);
    fputs("b,ok,width,height,depth,", out);
    gi_cells_csv_names(out, columns.of, columns.n);
    putc('\n', out);
    gi_cells_csv_text(out, other);
    fprintf(out, ",%d,%d,%d,%zu,", ok, a->width, a->height, 8 * gi_type_nbytes(comparison->type));
    gi_cells_csv(out, columns.of, columns.n, &style, &comparison->all);
    putc('\n', out);
}

/* Stores the row of a pair in item->made.bytes. */
static enum gi_status put(const struct pairs *pairs, struct gi_item *item,
                          const struct gi_comparison *comparison, const struct gi_image *a, bool ok,
                          struct gi_err *err)
{
    const char *tar, *names[2] = {item->line.input, item->line.other};
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    enum gi_status status = GI_OK;
    if (gi_batch_row(&pairs->files.source, item, &tar, &names[0]) && tar)
        names[1] = names[0]; /* two members with the same name */
    if (pairs->json) {
        json_t *object = gi_compare_json(comparison, a, names);
        json_object_set_new(object, "ok", json_boolean(ok));
        status = gi_json_print_for(pairs->reader, out, object, 0, err);
    } else {
        print_csv(out, comparison, a, names[1], ok);
    }
    item->made.bytes = gi_text_close(out, &memory);
    item->made.nbytes = memory.nbytes;
    return status;
}

static enum gi_status run_item(void *self, struct gi_imaging *imaging, struct gi_item *item,
                               struct gi_err *err)
{
    struct pairs *pairs = self;
    struct gi_compare_pair pair = {0};
    struct gi_compare_rules rules =
        *(const struct gi_compare_rules *)pairs->params[GI_SET_PAIR_FILTER];
    struct gi_compare_params wishes = *pairs->wishes;
    struct gi_image mask = {0};
    void *params[GI_OPTION_SETS_MAX];
    struct gi_err verdict = {0};
    struct gi_further from = {.pages = pairs->pages[1], .page = (int)item->source.place};
    if (pairs->files.tar_pairs)
        from.bytes = gi_tar_pairs_second(item, &from.nbytes);
    if (pairs->pages[0]) {
        item->source.pages = gi_pages_share(pairs->pages[0]);
        item->source.page = (int)item->source.place;
    }
    memcpy(params, pairs->params, sizeof params);
    params[GI_SET_PAIR_FILTER] = &rules;
    wishes.ignore = pairs->masks ? gi_compare_mask(pairs->masks, item->line.input) : NULL;
    enum gi_status status = gi_compare_load_mask(&mask, &rules, &wishes, &pairs->io, err);
    if (!status)
        status = gi_compare_pair(&pair, imaging, item, item->line.other, &from, params, err);
    bool ok = !status && !gi_compare_judge(&pair.comparison, pairs->wishes, &verdict);
    if (!status && pairs->wishes->diff)
        status = gi_compare_save_picture(&pair.a, &pair.b, item->line.output, params, &pairs->io, 1,
                                         err);
    struct gi_page_body *body = NULL;
    if (!status)
        status = gi_compare_body(&body, &pair, params, err);
    item->made.part = body;
    if (!status)
        status = put(pairs, item, &pair.comparison, &pair.a, ok, err);
    if (!status && !ok) { /* read by count() */
        *err = verdict;
        gi_err_prefix(err, "%s and %s", item->line.input, item->line.other);
    }
    gi_image_free(&pair.a);
    gi_image_free(&pair.b);
    gi_image_free(&mask);
    return status;
}

/* Returns whether the message ends in the text of the system's error that a file does not exist. */
static bool is_missing(const char *why)
{
    const char *text = strerror(ENOENT);
    size_t n = strlen(why), length = strlen(text);
    return n > length && strcmp(why + n - length, text) == 0;
}

static void count(struct pairs *pairs, const struct gi_item *item)
{
    const char *tar, *file, *why = item->line.err.text;
    bool row = gi_batch_row(&pairs->files.source, item, &tar, &file), differs = row && *why;
    if (row || item->line.status) {
        const char *other = tar || !item->line.other ? file : item->line.other;
        enum gi_status verdict = differs ? GI_E_DIFFERENT : item->line.status;
        gi_junit_add(pairs->junit, file, other, verdict, why);
        gi_page_add(pairs->page, file, other, verdict, why, item->made.part);
    }
    pairs->n += row;
    pairs->different += differs;
    pairs->missing += item->line.status && is_missing(why);
    pairs->failed += item->line.status && !is_missing(why);
    if (differs && !pairs->io.quiet)
        gi_cli_log("%s", why);
}

/* If pairs failed, prints how many there are of each outcome. */
static void print_outcomes(const struct pairs *pairs)
{
    char failed[64] = "";
    if (pairs->failed)
        snprintf(failed, sizeof failed, "%zu failed, ", pairs->failed);
    if (pairs->missing || pairs->failed)
        gi_cli_log("%zu differ%s, %zu missing, %s%zu match%s", pairs->different,
                   pairs->different == 1 ? "s" : "", pairs->missing, failed,
                   pairs->n - pairs->different, pairs->n - pairs->different == 1 ? "es" : "");
}

/* After the last pair. */
static enum gi_status judge_all(struct pairs *pairs, enum gi_status status, struct gi_err *err)
{
    if (!status && pairs->different)
        status =
            gi_fail(err, GI_E_DIFFERENT, "%zu of %zu pairs differ", pairs->different, pairs->n);
    status = gi_junit_end(&pairs->junit, status, err);
    status = gi_page_end(&pairs->page, status, err);
    if (status == GI_E_DIFFERENT && pairs->io.quiet)
        err->text[0] = '\0'; /* which is not printed */
    return status;
}

static enum gi_status check(void *self, struct gi_err *err)
{
    struct pairs *pairs = self;
    struct gi_table_writer_options *table = &pairs->table.table;
    enum gi_status status = gi_text_batch_check(&pairs->table, err);
    bool to_stdout = strcmp(table->path, "-") == 0;
    bool reports = gi_compare_reports_to_stdout(pairs->wishes);
    bool named = pairs->files.params->table; /* by --quiet --table - too */
    bool wanted = (!pairs->io.quiet && !reports) || named;
    if (!status && reports && named && to_stdout)
        status = gi_fail(err, GI_E_USAGE, "--table -: --junit or --html writes there too");
    if (to_stdout && !wanted)
        table->path = "/dev/null";
    pairs->json = table->format == GI_TABLE_WRITER_JSONL ||
                  (to_stdout && wanted && pairs->wishes->format == 1);
    if (pairs->json)
        table->format = GI_TABLE_WRITER_JSONL;
    pairs->reader = to_stdout && wanted ? STDOUT_FILENO : -1;
    return status;
}

static enum gi_status open(void *self, struct gi_imaging *imaging, struct gi_err *err)
{
    struct pairs *pairs = self;
    enum gi_status status =
        pairs->masks ? GI_OK
                     : gi_compare_load_mask(&pairs->mask, pairs->params[GI_SET_PAIR_FILTER],
                                            pairs->wishes, &pairs->io, err);
    if (!status) {
        gi_junit_new(&pairs->junit, pairs->wishes->junit);
        gi_page_new(&pairs->page, pairs->wishes->html);
    }
    if (!status && pairs->files.out.named)
        status = gi_batch_places(&pairs->files, err);
    return status ? status : gi_text_batch_open(&pairs->table, imaging, err);
}

static enum gi_status take(void *self, struct gi_item *item, struct gi_err *err)
{
    struct pairs *pairs = self;
    count(pairs, item);
    return gi_text_batch_put(&pairs->table, item, err);
}

/* Judges all pairs. */
static enum gi_status end(void *self, enum gi_status status, struct gi_err *err)
{
    struct pairs *pairs = self;
    status = gi_text_batch_end(&pairs->table, status, err);
    if (!pairs->files.params->tar && !pairs->io.quiet)
        print_outcomes(pairs);
    return judge_all(pairs, status, err);
}

enum gi_status gi_pairs_run(const struct gi_command *command, void *const *params, char **operands,
                            int noperands, struct gi_err *err)
{
    const struct gi_batch_params *p = params[GI_SET_PAIRS];
    static const char *const texts[] = {"b", NULL};
    static const struct gi_target_kind table = {
        .ordered = true, .check = check, .open = open, .put = take, .end = end};
    struct pairs pairs = {.params = params,
                          .wishes = params[GI_SET_PAIR_COMPARE],
                          .io = *(const struct gi_io_params *)params[GI_SET_PAIR_INPUT]};
    struct gi_batch_files *files = &pairs.files;
    const struct gi_batch_job job = {
        .command = command, .params = params, .text = p->tar ? "compare --tar" : NULL};
    const struct gi_batch batch = {.job = &job,
                                   .io = &pairs.io,
                                   .source = &files->source,
                                   .target = &table,
                                   .self = &pairs,
                                   .run = run_item};
    *files =
        (struct gi_batch_files){.params = p,
                                .unit = "pairs",
                                .junit = pairs.wishes->junit,
                                .html = pairs.wishes->html,
                                .out = {.naming = {.folder = pairs.wishes->diff, .suffix = ".png"},
                                        .named = pairs.wishes->diff != NULL},
                                .source = {.kind = &gi_source_files, .self = files}};
    pairs.table = (struct gi_text_batch){
        .files = files,
        .source = &files->source,
        .table = {.path = p->table ? p->table : "-", .first = "a", .texts = texts}};
    pairs.io.encoding.quality = GI_DEFAULT_QUALITY; /* of the pictures of --diff */
    pairs.io.encoding.compression = GI_DEFAULT_COMPRESSION;
    enum gi_status status = read_names(&pairs, &job, operands, noperands, err);
    if (!status)
        status = gi_batch_run(&batch, err);
    gi_image_free(&pairs.mask);
    gi_compare_masks_free(&pairs.masks);
    gi_batch_close(files);
    for (int i = 0; i < 2; i++) {
        enum gi_status closed = gi_pages_close(&pairs.pages[i], status ? NULL : err);
        status = status ? status : closed;
    }
    return status;
}
