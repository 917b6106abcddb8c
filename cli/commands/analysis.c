/* gpuimg ANALYSIS [OPTION...] INPUT [TABLE]: loads, analyses, reports.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/args/reporter.h"
#include "cli/inputs/driver.h"
#include "cli/json.h"
#include "cli/log.h"
#include "imgio/pages.h"

void gi_report_print_head(FILE *out, const char *file, const struct gi_image *image,
                          unsigned maxval)
{
    unsigned full = (unsigned)gi_type_full_scale(image->type);
    gi_print_safe(out, file);
    fprintf(out, ": %d x %d, %d channel%s, %s", image->width, image->height,
            gi_shown_channels(image), gi_shown_channels(image) == 1 ? "" : "s",
            gi_type_word(image->type));
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

/* Names the option for an input of several images, which is the reason for the error. */
static enum gi_status say_table(const char *input, const struct gi_io_params *io,
                                enum gi_status status, struct gi_err *err)
{
    const struct gi_load_options options = {.limits = io->limits};
    struct gi_file_info info = {0};
    struct gi_image image = {0};
    struct gi_pages *pages = NULL;
    struct gi_err fault;
    int n = 0;
    if (status != GI_E_UNSUPPORTED)
        return status;
    if (strcmp(input, "-") == 0 && strstr(err->text, "one is wanted")) {
        *err = (struct gi_err){0};
        return gi_fail(err, status,
                       "standard input: holds several images: want --table FILE, with rows for "
                       "each");
    }
    if (strcmp(input, "-") == 0)
        return status;
    if (gi_pages_open(&pages, input, &options, NULL, &fault) == GI_OK)
        n = gi_pages_n(pages);
    bool video = n == 1 &&
                 gi_pages_load(&image, NULL, &info, pages, 0, input,
                               &(struct gi_load_options){.limits = io->limits, .header_only = true},
                               NULL, &fault) == GI_OK &&
                 strcmp(info.format, "y4m") == 0;
    if (n > 1 || video) {
        *err = (struct gi_err){0};
        gi_fail(err, status,
                "%s: holds several images: want --table FILE, with rows for each%s%s%s", input,
                video ? "" : ", or one of them, as ", video ? "" : gi_pages_file(pages),
                video ? "" : "[0]");
    }
    gi_pages_close(&pages, NULL);
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
    if (!many)
        step.to = to;
    const char *const outputs[] = {to, NULL};
    enum gi_status status = GI_OK;
    if (!many)
        status =
            reporter->check(operands[0], to, params[GI_SET_OUTPUT], params[GI_SET_FILTER], err);
    if (!many)
        status = gi_cli_missing_first(status, operands, 1, err);
    if (!many && !status)
        status = gi_chain_check_outputs(&chain, outputs, err);
    if (!status)
        status = gi_chain_load(&chain, many || strcmp(operands[0], "-") == 0, params[GI_SET_INPUT],
                               gi_thread_count(device->threads), err);
    struct gi_batch_job job = {.command = command, .params = params, .chain = &chain};
    if (!status)
        status = gi_drive(&job, operands, many ? noperands : 1, err);
    gi_chain_unload(&chain);
    if (!many && batch && gi_command_set(command, gi_table_options) >= 0)
        status = say_table(operands[0], params[GI_SET_INPUT], status, err);
    return status;
}
