/* Checks the names of a batch's outputs: whether they are names of formats that can be written.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/file_batch.h"

#include <stdlib.h>
#include <string.h>

#include "cli/args/image_files.h"
#include "imgio/imgio.h"

/* Returns what gives the results suffixes of their own, if those of the inputs name their formats;
 * otherwise NULL. */
static const char *other_suffix(const struct gi_naming *naming)
{
    if (!naming->template || strstr(naming->template, "{ext}"))
        return naming->suffix ? NULL : "--suffix, such as --suffix .png";
    return strstr(naming->template, "{name}") ? "--out with {stem}.png in place of {name}" : NULL;
}

/* Checks that the output of an input, an image, has the name of a format that can be written. One
 * that is named after a video passes, because its reader reports what can be done with it. */
static enum gi_status check_format(const struct gi_batch_files *files, const struct gi_input *of,
                                   const char *output, const char *image_format, struct gi_err *err)
{
    char *const *input = &of->path;
    const char *want = other_suffix(&files->out.naming), *format = gi_save_format(output, NULL);
    if (want && !image_format && format && strcmp(format, "y4m") == 0)
        return GI_OK;
    enum gi_status status = gi_save_check(output, image_format, err);
    status = gi_cli_missing_first(status, input, 1, err);
    return !status || status == GI_E_IO || !want || image_format
               ? status
               : gi_err_prefix(err, "%s: want %s", *input, want);
}

/* Checks the formats of all outputs. If some of them can be written, the inputs of the others fail
 * on their own. */
static enum gi_status check_formats(struct gi_batch_files *files, const char *image_format,
                                    struct gi_err *err)
{
    struct gi_err first = {0};
    bool any = false;
    for (size_t i = 0; i < files->in.list.n; i++) {
        struct gi_input *input = &files->in.list.inputs[i];
        if (input->why)
            continue;
        char *output = gi_naming_output(&files->out.naming, &files->in.list, i);
        struct gi_err refused = {0};
        input->unwritable = check_format(files, input, output, image_format, &refused);
        any |= !input->unwritable;
        first = first.status ? first : refused;
        free(output);
    }
    return any || !first.status ? GI_OK : gi_fail(err, first.status, "%s", first.text);
}

/* As check_formats(), but the inputs of the others fail only when they are taken. */
static enum gi_status check_stream_formats(struct gi_batch_files *files, const char *image_format,
                                           struct gi_err *err)
{
    struct gi_err first = {0};
    struct gi_list one;
    bool any = false, more = true;
    enum gi_status status = GI_OK;
    while (!any && !(status = gi_list_stream_next_one(files->in.stream, &one, &more, err)) &&
           more) {
        char *output = gi_naming_output(&files->out.naming, &one, 0);
        struct gi_err refused = {0};
        if (!one.inputs->why)
            any = !check_format(files, one.inputs, output, image_format, &refused);
        first = first.status ? first : refused;
        free(output);
    }
    gi_list_stream_rewind(files->in.stream);
    return status || any || !first.status ? status : gi_fail(err, first.status, "%s", first.text);
}

void gi_batch_refuse_format(struct gi_item *item, const struct gi_batch_files *files,
                            const struct gi_input *input)
{
    if (!item->line.status)
        item->line.status = check_format(files, input, item->line.output, NULL, &item->line.err);
    if (item->line.status == GI_E_USAGE)
        item->line.status = item->line.err.status = GI_E_UNSUPPORTED;
}

enum gi_status gi_batch_names(struct gi_batch_files *files, bool images, const char *image_format,
                              struct gi_err *err)
{
    files->out.named = true;
    files->out.images = images;
    files->out.image_format = image_format;
    files->out.a_file_a_page = images && gi_naming_has_page(&files->out.naming);
    files->out.a_file_a_size =
        files->out.naming.sizes && gi_naming_is_per_size(files->out.naming.template);
    if (!files->out.naming.suffix && image_format)
        files->out.naming.suffix = image_format;
    if (!files->params->out_dir && !files->params->out)
        return gi_fail(err, GI_E_USAGE, "want --out-dir or --out for the results");
    enum gi_status status = gi_naming_check(&files->out.naming, err);
    if (!status && images)
        status = files->in.stream ? check_stream_formats(files, image_format, err)
                                  : check_formats(files, image_format, err);
    return status ? status : gi_batch_check(files, err);
}
