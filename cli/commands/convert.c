/* gpuimg convert: converts format, depth or colour without changing the pixels otherwise.
 * SPDX-License-Identifier: MIT */
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/commands.h"
#include "cli/commands/pages.h"
#include "cli/inputs/driver.h"
#include "cli/paths/output.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

extern const struct gi_filter gi_filter_convert;

enum { SET_OWN, SET_IO, SET_DEVICE };

struct convert_params {
    bool force;
};

static const struct gi_option options[] = {
    {GI_OPTION("force", FLAG, struct convert_params, force), .letter = 'f',
     .help = "Replace an image of the same format. Without this option and without a conversion "
             "that an option names, this is an error, because both names may be inputs that were "
             "meant to be joined"},
    {0},
};

/* Returns whether the file is an image other than the input. */
static bool is_other_image(const char *path, const char *input)
{
    const struct gi_load_options header = {.limits = {GI_DEFAULT_MAX_PIXELS, GI_DEFAULT_MAX_BYTES},
                                           .header_only = true,
                                           .bands = true};
    struct stat st;
    struct gi_image image = {0};
    struct gi_err err;
    if (stat(input, &st) || stat(path, &st) || !S_ISREG(st.st_mode) || gi_output_same(path, input))
        return false;
    bool is = gi_load(&image, NULL, NULL, path, &header, NULL, &err) == GI_OK;
    gi_image_free(&image);
    return is;
}

/* Returns whether no option asks for a conversion. */
static bool is_copy(const struct gi_command *self, void *const *params)
{
    char *text = gi_batch_text(self, self->name, params);
    bool is = strcmp(text, self->name) == 0;
    free(text);
    return is;
}

/* Refuses an output that is another image in the format of one of the inputs, because other
 * programs' users may mean all operands as inputs. */
static enum gi_status check_copy(char *const *inputs, int n, const char *output, struct gi_err *err)
{
    const char *to = gi_save_format(output, NULL);
    for (int i = 0; i < n; i++) {
        const char *from = gi_save_format(inputs[i], NULL);
        if (from && to && strcmp(from, to) == 0 && is_other_image(output, inputs[i]))
            return gi_fail(err, GI_E_USAGE,
                           "%s: is an image already: want --force to replace it, or gpuimg pages "
                           "--out FILE to join the images",
                           output);
    }
    return GI_OK;
}

/* Returns whether the options of batches are only --out with the name of one file. */
static bool out_is_pages(const struct gi_batch_params *p)
{
    return p->out && !p->out_dir && !p->suffix && !p->files_from && !p->shard && !p->report &&
           !p->tar && !p->recursive && !p->resume && !p->choice.rules &&
           gi_cli_writes_pages(p->out);
}

static enum gi_status run_convert(const struct gi_command *self, void *const *params,
                                  char **operands, int noperands, struct gi_err *err)
{
    const struct convert_params *p = params[SET_OWN];
    struct gi_io_params *io = params[SET_IO];
    struct gi_device_params device = *(const struct gi_device_params *)params[SET_DEVICE];
    struct gi_batch_job job = {.command = self, .params = params, .device = &device};
    const struct gi_batch_params *batch = gi_batch_params_of(self, params);
    bool one = !gi_batch_is_wanted(batch);
    struct gi_device_list list;
    enum gi_device_choice choice;
    if (gi_device_parse_list(&choice, &list, device.device, err))
        return err->status;
    if (!(io->encoding.target.ssimulacra2 > 0)) /* perhaps NAN */
        device.device = "cpu";
    bool joins = one ? noperands > 2 : noperands > 1 && out_is_pages(batch);
    if (one && !p->force && (joins || is_copy(self, params)) &&
        check_copy(operands, noperands - 1, operands[noperands - 1], err))
        return err->status;
    const struct gi_pages_joined joined = {.output = one ? operands[noperands - 1] : batch->out,
                                           .batch = batch,
                                           .io = io,
                                           .threads = device.threads};
    return joins ? gi_pages_join(&joined, operands, one ? noperands - 1 : noperands, err)
                 : gi_drive(&job, operands, noperands, err);
}

const struct gi_command gi_command_convert = {
    .name = "convert",
    .operands = "INPUT OUTPUT",
    .summary = "Convert to another format or depth, or to gray",
    .manual =
        "The suffix of OUTPUT chooses its format. A prefix as in png:- overrides the "
        "suffix, and --format overrides both. In lossless formats samples change only if an "
        "option says so, or if the output's format cannot hold them. A JPEG or WebP is "
        "decoded and encoded again with --quality, also for --strip alone; this changes "
        "its samples (WebP, HEIC, AVIF and JPEG XL are lossless at --quality 100). The bytes "
        "of lossy files "
        "depend on the version of the library. "
        "--depth changes their type, --gray makes the image gray (with --linear in linear "
        "light), --profile srgb converts colours to another ICC profile, and --background "
        "composites transparent pixels over a colour. gpuimg help "
        "common describes these options.\n\n"
        "More than two operands of which the last is a TIFF, GIF, WebP or ICO are joined, as by "
        "gpuimg pages: "
        "gpuimg convert a.png b.png doc.tif. So are the inputs of --out doc.tif; "
        "--out '{stem}.tif', a name with fields, makes a file per input. "
        "The reverse is gpuimg convert doc.tif "
        "'page-{page}.png': {page} counts from 0, as the brackets in doc.tif[0] do, and "
        "{index} counts from 1.\n\n"
        "A conversion runs on the CPU, and --device does not matter, with one exception: the "
        "qualities of a JPEG that --target-ssimulacra2 tries are encoded, decoded and compared on "
        "the GPU that --device or its estimate chooses. The file has the same bytes.",
    .examples = "gpuimg convert photo.jpg photo.png\n"
                "gpuimg convert scan.png scan.pgm --gray --depth 16\n"
                "gpuimg convert p3.jpg web.jpg --profile srgb\n"
                "gpuimg convert logo.png logo.jpg --background white --quality 95 --strip\n"
                "gpuimg convert *.png --out-dir web --suffix .jpg --target-ssimulacra2 80",
    .min_operands = 2,
    .max_operands = 2,
    .joins = true,
    .sets = {{"Options", options, sizeof(struct convert_params)},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_batch_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_convert, /* as a step of a chain */
    .run = run_convert,
};
