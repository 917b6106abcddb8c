/* gpuimg convert: converts format, depth or colour without changing the pixels otherwise.
 * SPDX-License-Identifier: MIT */
#include "cli/commands.h"
#include "cli/run/driver.h"
#include "cli/run/device_options.h"
#include "cli/inputs/image_files.h"

extern const struct gi_filter gi_filter_convert;

enum { SET_OWN };

struct params {
    int threads;
};

static const struct gi_option options[] = {
    {.name = "threads",
     .type = GI_OPT_INT,
     .offset = offsetof(struct params, threads),
     .min = 1,
     .max = 1024,
     .help = "Number of threads that decode and encode; by default one per CPU"},
    {0},
};

static enum gi_status run_convert(const struct gi_command *self, void *const *params,
                                  char **operands, int noperands, struct gi_err *err)
{
    struct gi_device_params device = {.device = "cpu",
                                      .threads = ((const struct params *)params[SET_OWN])->threads};
    struct gi_batch_job job = {.command = self, .params = params, .device = &device};
    return gi_drive(&job, operands, noperands, err);
}

const struct gi_command gi_command_convert = {
    .name = "convert",
    .operands = "INPUT OUTPUT",
    .summary = "Convert to another format or depth, or to gray",
    .manual = "The suffix of OUTPUT chooses its format. A prefix as in png:- overrides the "
              "suffix, and --format overrides both. Samples change only if an option says so: "
              "--depth changes their type, --gray makes the image gray (with --linear in linear "
              "light), and --background composites transparent pixels over a colour. gpuimg help "
              "common describes these options.",
    .examples = "gpuimg convert photo.jpg photo.png\n"
                "gpuimg convert scan.png scan.pgm --gray --depth 16\n"
                "gpuimg convert logo.png logo.jpg --background white --quality 95 --strip",
    .min_operands = 2,
    .max_operands = 2,
    .many = "gpuimg pages --out makes one file of several images",
    .sets = {{"Options", options, sizeof(struct params)},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Many images", gi_batch_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_convert, /* as a step of a chain */
    .run = run_convert,
};
