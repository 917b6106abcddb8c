/* gpuimg pages: joins images into one file, as the pages of a TIFF or the frames of a video.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/commands.h"
#include "cli/commands/pages.h"
#include "cli/inputs/stream.h"
#include "cli/paths/matcher.h"
#include "cli/paths/output.h"

#include <sys/stat.h>

enum { SET_OWN, SET_IO };

struct pages_params {
    struct gi_batch_params batch;
    const char *rate;
    int threads;
};

static const struct gi_option options[] = {
    {GI_OPTION("out", PATH, struct pages_params, batch.out), .letter = 'o', .metavar = "FILE",
     .help = "The TIFF that gets the pages, or the animated GIF, WebP or PNG, or Y4M video, that "
             "gets the "
             "frames"},
    {GI_OPTION("fps", TEXT, struct pages_params, rate), .metavar = "RATE", .default_text = "25",
     .help = "Frames per second of a video: 25, 29.97 or 30000/1001"},
    {GI_OPTION("files-from", PATH, struct pages_params, batch.files_from), .metavar = "LIST",
     .help = "Take inputs from this file too, one per line; - is standard input"},
    {GI_OPTION("null", FLAG, struct pages_params, batch.null), .letter = '0',
     .help = "Names in --files-from end with a zero byte"},
    {GI_OPTION("recursive", FLAG, struct pages_params, batch.recursive),
     .help = "Take the image files in input folders and below"},
    GI_CHOICE_OPTIONS(struct pages_params, batch.choice.only, batch.choice.except),
    {GI_OPTION("report", PATH, struct pages_params, batch.report), .metavar = "FILE",
     .help = "Write a JSON object per line: the first line describes the command, then a line "
             "per page follows, and the last line describes the file"},
    {GI_OPTION("memory", SIZE, struct pages_params, batch.memory), .min = 1, .max = 1e15,
     .unit = "bytes",
     .help = "Memory for the images in progress. The default is half of the free memory"},
    {GI_OPTION("progress", FLAG, struct pages_params, batch.progress),
     .help = "Print a line of progress every few seconds even if standard error is no terminal"},
    {GI_OPTION("threads", INT, struct pages_params, threads), .min = 1, .max = 1024,
     .help = "Threads that decode and encode; by default one per CPU"},
    {0},
};

static enum gi_status list_inputs(struct gi_list *list, const struct pages_params *p,
                                  char **operands, int noperands, struct gi_err *err)
{
    const struct gi_batch_params *batch = &p->batch;
    const char *const outputs[] = {batch->out, NULL}, *const lists[] = {batch->files_from, NULL};
    struct gi_matcher matcher = {.n = 0};
    enum gi_status status =
        gi_matcher_read(&matcher, batch->choice.only, batch->choice.except, err);
    list->matcher = &matcher;
    if (!status)
        status = gi_list_operands(list, operands, noperands, batch->recursive, err);
    if (!status && batch->files_from)
        status = gi_list_from(list, batch->files_from, batch->null, batch->recursive, err);
    if (!status)
        status = gi_list_check(list, err);
    list->matcher = NULL;
    gi_matcher_free(&matcher);
    for (size_t i = 0; i < list->n && !status; i++) {
        const char *const inputs[] = {list->inputs[i].path, NULL};
        status = gi_output_check_inputs(outputs, inputs, err);
    }
    return status ? status : gi_output_check_inputs(outputs, lists, err);
}

/* The last operand may be meant as the output. */
static enum gi_status fail_output(char **operands, int noperands, struct gi_err *err)
{
    struct stat st;
    const char *last = noperands ? operands[noperands - 1] : NULL;
    return last && stat(last, &st) != 0
               ? gi_fail(err, GI_E_USAGE, "want --out FILE for the pages, did you mean --out %s?",
                         last)
               : gi_fail(err, GI_E_USAGE, "want --out FILE for the pages, as in --out doc.tif");
}

static enum gi_status run(const struct gi_command *self, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    const struct pages_params *p = params[SET_OWN];
    const struct gi_device_params device = {.device = "cpu", .threads = p->threads};
    const struct gi_batch_job job = {
        .command = self, .params = params, .device = &device, .batch = &p->batch};
    struct gi_list list = {0};
    struct gi_stream *stream = NULL;
    enum gi_status status = p->batch.out ? GI_OK : fail_output(operands, noperands, err);
    if (!status)
        status = list_inputs(&list, p, operands, noperands, err);
    if (!status)
        status = gi_stream_of_files(&stream, &list, p->batch.out, p->rate, params[SET_IO], err);
    gi_list_free(&list);
    return status ? status : gi_stream_run(&stream, &job, err);
}

const struct gi_command gi_command_pages = {
    .name = "pages",
    .group = GI_GROUP_IMAGES,
    .operands = "INPUT...",
    .summary = "Join images into a multi-page TIFF, an animation or a video",
    .manual =
        "Each input becomes a page of the file of --out, in the order of the inputs. Each page "
        "of a TIFF of several pages becomes a page of its own. Pages may differ in "
        "size, depth and "
        "channels, and keep their metadata. Several images are read and encoded at a time. The "
        "file appears as a whole or not at all: an input that cannot be read ends the command. "
        "It is a BigTIFF if it exceeds 4 GB.\n\n"
        "If --out is a Y4M video, each image becomes a frame of 4:2:0 in 8 bits, and all must have "
        "the same size; gray images give a video of luma alone. Red, green and blue become luma "
        "and chroma by BT.601, or by BT.709 if the video has 720 or more rows.\n\n"
        "If --out is a GIF, WebP or PNG, each image becomes a frame of an animation, shown for "
        "--delay milliseconds and played --loop times. All must have the same size. Frames of "
        "animated inputs keep their delays. If --out is an ICO, each image becomes one of the "
        "icon's, at most 256 x 256 pixels; gpuimg resize --sizes makes them from one.\n\n"
        "gpuimg convert doc.tif 'page-{page:03}.png' does the reverse, and so does gpuimg convert "
        "in.y4m 'frame-{index:05}.png'.",
    .examples = "gpuimg pages a.png b.png --out doc.tif\n"
                "gpuimg pages cover.jpg 'scan.tif[*]' --out book.tif\n"
                "gpuimg pages frames/*.png --out out.y4m --fps 30\n"
                "gpuimg pages frames/*.png --out anim.gif --delay 40 --loop 0\n"
                "gpuimg pages frames/*.png --out anim.apng --delay 40\n"
                "gpuimg pages --recursive slices --out stack.tif --gray --depth 16",
    .min_operands = 0,
    .max_operands = -1,
    .sets = {{"Options", options, sizeof(struct pages_params)},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)}},
    .run = run,
};

enum gi_status gi_pages_join(const struct gi_pages_joined *joined, char **inputs, int n,
                             struct gi_err *err)
{
    struct pages_params own = {.batch = *joined->batch, .threads = joined->threads};
    own.batch.out = joined->output;
    void *const params[] = {&own, joined->io};
    return run(&gi_command_pages, params, inputs, n, err);
}
