/* gpuimg ANALYSIS [OPTION...] INPUT [TABLE]: loads, analyses, reports.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cli/run/batch_options.h"
#include "cli/tables/tables.h"
#include "cli/command.h"
#include "cli/run/device_options.h"
#include "cli/inputs/image_files.h"
#include "cli/json.h"
#include "cli/process.h"
#include "cli/commands/reporter.h"
#include "cli/run/session.h"
#include "cli/log.h"

void gi_report_print_head(FILE *out, const char *file, const struct gi_image *image,
                          unsigned maxval)
{
    unsigned full = (unsigned)gi_type_full_scale(image->type);
    gi_print_safe(out, file);
    fprintf(out, ": %d x %d, %d channel%s, %s", image->width, image->height, image->channels,
            image->channels == 1 ? "" : "s", gi_type_word(image->type));
    if (maxval != full)
        fprintf(out, ", 0 to %u read as 0 to %u", maxval, full);
}

json_t *gi_report_json(const char *file, const struct gi_image *image, unsigned maxval)
{
    json_t *object = json_object();
    gi_json_set_name(object, "file", file);
    json_object_set_new(object, "width", json_integer(image->width));
    json_object_set_new(object, "height", json_integer(image->height));
    json_object_set_new(object, "depth",
                        json_integer((json_int_t)(8 * gi_type_nbytes(image->type))));
    json_object_set_new(object, "maxval", json_integer(maxval));
    return object;
}

/* `further`: with the images that its options name. */
static enum gi_status analyse(struct gi_session *session, const struct gi_chain_step *further,
                              void *const *params, void *result, const char *path, const char *to,
                              struct gi_err *err)
{
    const struct gi_device_params *device = params[GI_SET_DEVICE];
    const struct gi_reporter *reporter = further->reporter;
    struct gi_image image = {0};
    struct gi_file_info info = {0};
    struct gi_step step = {.filter = reporter->filter,
                           .params = params[GI_SET_FILTER],
                           .others = further->others,
                           .nothers = further->nothers};
    struct gi_side side = {.others = further->others, .result = result};
    enum gi_status status =
        gi_session_load(session, &image, NULL, &info, path, params[GI_SET_INPUT], &step, 1, err);
    if (!status)
        status = gi_session_run(session, NULL, &image, &step, 1, &side, err);
    double start = gi_now_ms();
    struct gi_bundle *bundle = NULL;
    if (!status)
        status = gi_bundle_new(&bundle, true, err);
    struct gi_findings report = {.params = params[GI_SET_FILTER],
                                 .output = params[GI_SET_OUTPUT],
                                 .result = result,
                                 .image = &image,
                                 .maxval = gi_cli_maxval(&image, &info, params[GI_SET_INPUT]),
                                 .file = path,
                                 .to = to,
                                 .threads = gi_thread_count(device->threads),
                                 .bundle = bundle};
    if (!status)
        status = reporter->write(&report, err);
    if (!status)
        status = gi_bundle_commit(&bundle, err);
    gi_bundle_abandon(&bundle);
    gi_session_note(session, "report", gi_now_ms() - start);
    gi_image_free(&image);
    return status;
}

static enum gi_status run_one(const struct gi_chain *chain, void *const *params, const char *path,
                              const char *to, bool progress, struct gi_err *err)
{
    const struct gi_filter *filter = chain->steps[0].filter;
    struct gi_session *session = NULL;
    enum gi_status status = gi_session_new(&session, params[GI_SET_DEVICE], err);
    if (status)
        return status;
    gi_session_watch(session, progress, 1);
    void *result = calloc(1, filter->result_nbytes);
    status = result ? analyse(session, &chain->steps[0], params, result, path, to, err)
                    : gi_fail(err, GI_E_MEMORY, "out of memory: a result");
    if (result && filter->result_free)
        filter->result_free(result);
    free(result);
    if (!status)
        gi_session_report(session);
    gi_session_free(&session);
    return status;
}

enum gi_status gi_analysis_run(const struct gi_command *command, void *const *params,
                               char **operands, int noperands, struct gi_err *err)
{
    const struct gi_reporter *reporter = command->reporter;
    const struct gi_batch_params *batch = gi_batch_params_of(command, params);
    const struct gi_device_params *device = params[GI_SET_DEVICE];
    bool many = batch && gi_batch_is_wanted(batch);
    struct gi_chain_step step = {.filter = command->filter, .reporter = reporter};
    struct gi_chain chain = {.steps = &step, .n = 1};
    step.args.params[GI_SET_STEP_FILTER] = params[GI_SET_FILTER];
    step.args.params[GI_SET_STEP_OUTPUT] = params[GI_SET_OUTPUT];
    const char *to = noperands > 1 ? operands[1] : "-";
    const char *const outputs[] = {to, NULL};
    enum gi_status status = GI_OK;
    if (!many)
        status =
            reporter->check(operands[0], to, params[GI_SET_OUTPUT], params[GI_SET_FILTER], err);
    if (!many && !status)
        status = gi_chain_check_outputs(&chain, outputs, err);
    if (!status)
        status = gi_chain_load(&chain, many || strcmp(operands[0], "-") == 0, params[GI_SET_INPUT],
                               gi_thread_count(device->threads), err);
    if (!status && many) {
        struct gi_batch_job job = {.command = command, .params = params, .chain = &chain};
        status = gi_batch_tables(&job, operands, noperands, err);
    } else if (!status) {
        status = run_one(&chain, params, operands[0], to, batch && batch->progress, err);
    }
    gi_chain_unload(&chain);
    return status;
}
