/* gpuimg info: what files hold.
 * SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/say.h"

#include <inttypes.h>

enum { SET_OWN, SET_INPUT };

struct params {
    bool json, check;
};

static const struct gi_option options[] = {
    {.name = "json",
     .letter = 'j',
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct params, json),
     .help = "Print one JSON object a line"},
    {.name = "check",
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct params, check),
     .help = "Decode the whole file, so that a damaged one is found out"},
    {0},
};

static const char *channel_names(const struct gi_image *image)
{
    static const char *const names[] = {"", "gray", "gray and alpha", "RGB", "RGBA"};
    return names[image->channels];
}

static void print_text(const char *path, const struct gi_image *image,
                       const struct gi_metadata *metadata, const struct gi_file_info *info,
                       const struct gi_io_params *input)
{
    char bytes[32];
    gi_print_safe(stdout, path);
    printf(": %s, %d x %d, %s, %d bit%s%s%s%s", info->format, image->width, image->height,
           channel_names(image), info->bits, info->bits == 1 ? "" : "s",
           info->bits == 32 ? " float" : "", *info->detail ? ", " : "", info->detail);
    unsigned full = (unsigned)gi_type_full_scale(image->type);
    if (info->maxval && info->maxval != full && input->depth == GI_DEPTH_SAME)
        printf(", 0 to %u read as 0 to %u", info->maxval, full);
    if (info->images > 1)
        printf(", %d images", info->images);
    if (info->orientation > 1)
        printf(", orientation %d (applied)", info->orientation);
    if (metadata->dpi_x > 0)
        printf(", %.4g x %.4g dpi", metadata->dpi_x, metadata->dpi_y);
    if (metadata->icc)
        printf(", ICC profile of %zu bytes", metadata->icc_nbytes);
    if (metadata->exif)
        printf(", EXIF of %zu bytes", metadata->exif_nbytes);
    if (metadata->xmp)
        printf(", XMP of %zu bytes", metadata->xmp_nbytes);
    if (metadata->ntexts)
        printf(", %d text%s", metadata->ntexts, metadata->ntexts == 1 ? "" : "s");
    printf(", %s\n", gi_text_nbytes((double)info->nbytes, bytes));
}

static json_t *texts_json(const struct gi_metadata *metadata)
{
    json_t *texts = json_array();
    for (int i = 0; i < metadata->ntexts; i++) {
        json_t *text = json_object();
        json_object_set_new(text, "keyword", gi_json_text(metadata->texts[i].keyword));
        json_object_set_new(text, "text", gi_json_text(metadata->texts[i].text));
        json_array_append_new(texts, text);
    }
    return texts;
}

static enum gi_status print_json(const char *path, const struct gi_image *image,
                                 const struct gi_metadata *metadata,
                                 const struct gi_file_info *info, struct gi_err *err)
{
    json_t *object = json_object();
    gi_json_set_name(object, "file", path);
    json_object_set_new(object, "format", gi_json_text(info->format));
    json_object_set_new(object, "width", json_integer(image->width));
    json_object_set_new(object, "height", json_integer(image->height));
    json_object_set_new(object, "channels", json_integer(image->channels));
    json_object_set_new(object, "bits", json_integer(info->bits));
    json_object_set_new(object, "maxval", info->maxval ? json_integer(info->maxval) : json_null());
    json_object_set_new(object, "float", json_boolean(info->bits == 32));
    json_object_set_new(object, "detail", gi_json_text(info->detail));
    json_object_set_new(object, "images", json_integer(info->images));
    json_object_set_new(object, "orientation", json_integer(info->orientation));
    json_object_set_new(object, "dpi_x",
                        metadata->dpi_x > 0 ? gi_json_real(metadata->dpi_x) : json_null());
    json_object_set_new(object, "dpi_y",
                        metadata->dpi_y > 0 ? gi_json_real(metadata->dpi_y) : json_null());
    json_object_set_new(object, "icc_bytes", json_integer((json_int_t)metadata->icc_nbytes));
    json_object_set_new(object, "exif_bytes", json_integer((json_int_t)metadata->exif_nbytes));
    json_object_set_new(object, "xmp_bytes", json_integer((json_int_t)metadata->xmp_nbytes));
    json_object_set_new(object, "texts", texts_json(metadata));
    json_object_set_new(object, "bytes", json_integer((json_int_t)info->nbytes));
    return gi_json_print(stdout, object, 0, err);
}

static enum gi_status print_file(const char *path, const struct params *own,
                                 const struct gi_io_params *input, struct gi_err *err)
{
    struct gi_image image;
    struct gi_metadata metadata = {0};
    struct gi_file_info info = {0};
    struct gi_io_params io = *input;
    io.header_only = !own->check;
    enum gi_status status = gi_cli_load(&image, &metadata, &info, path, &io, 0, NULL, err);
    if (status)
        return status;
    if (own->json)
        status = print_json(path, &image, &metadata, &info, err);
    else
        print_text(path, &image, &metadata, &info, input);
    gi_image_free(&image);
    gi_metadata_free(&metadata);
    return status;
}

static enum gi_status run_info(const struct gi_command *self, void *const *params, char **operands,
                               int noperands, struct gi_err *err)
{
    (void)self;
    enum gi_status worst = GI_OK;
    for (int i = 0; i < noperands; i++) {
        enum gi_status status = print_file(operands[i], params[SET_OWN], params[SET_INPUT], err);
        if (status == GI_E_PIPE)
            return status;
        if (status) {
            gi_cli_say("%s", err->text);
            err->text[0] = '\0'; /* said */
            worst = status;
        }
    }
    return worst;
}

const struct gi_command gi_command_info = {
    .name = "info",
    .operands = "FILE...",
    .summary = "Say what image files hold",
    .manual =
        "Format, size, channels, depth, resolution and profiles, as the header says: no pixels are "
        "read and no limit holds. --check decodes the whole file within the limits, so that a "
        "damaged one is found out. The size is that after the orientation was applied. Of a TIFF "
        "of "
        "several pages the first is told; scan.tif[3] is the fourth.",
    .examples = "gpuimg info photo.jpg\ngpuimg info --json *.png",
    .min_operands = 1,
    .max_operands = -1,
    .sets = {{"Options", options, sizeof(struct params)},
             {"Input", gi_input_options, sizeof(struct gi_io_params)}},
    .run = run_info,
};
