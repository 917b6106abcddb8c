/* gpuimg compare: measures the difference between two images, and reports it as text, JSON, picture
 * and exit status.
 * SPDX-License-Identifier: MIT */
#include "cli/commands/compare_pairs.h"
#include "cli/tables/compare_html.h"
#include "cli/tables/compare_junit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/inputs/driver.h"
#include "cli/json.h"
#include "cli/log.h"
#include "cli/paths/output.h"
#include "cli/process.h"
#include "filters/statistics/histogram.h"

static const struct gi_choice formats[] = {
    {"text", NULL, "lines to read"},
    {"json", NULL, "one object"},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("max-diff", REAL, struct gi_compare_params, max_diff), .min = 0, .max = 1e9,
     .metavar = "N",
     .help = "Exit with status 1 if any sample differs by more than this many sample values"},
    {GI_OPTION("min-psnr", REAL, struct gi_compare_params, min_psnr), .min = 0, .max = 1000,
     .unit = "dB", .metavar = "DB", .help = "Exit with status 1 if the PSNR is lower than this"},
    {GI_OPTION("min-ssim", REAL, struct gi_compare_params, min_ssim), .min = -1, .max = 1,
     .help = "Exit with status 1 if the SSIM is lower than this"},
    {GI_OPTION("min-ms-ssim", REAL, struct gi_compare_params, min_ms_ssim), .min = 0, .max = 1,
     .help = "Exit with status 1 if the MS-SSIM is lower than this, or if there is none"},
    {GI_OPTION("max-ciede2000", REAL, struct gi_compare_params, max_ciede2000), .min = 0,
     .max = 1000,
     .help = "Exit with status 1 if the mean CIEDE2000 colour difference is higher than this"},
    {GI_OPTION("min-ssimulacra2", REAL, struct gi_compare_params, min_ssimulacra2), .min = -1000,
     .max = 100,
     .help = "Exit with status 1 if the score of SSIMULACRA 2 is lower than this, or if there is "
             "none"},
    {GI_OPTION("max-differing", TEXT, struct gi_compare_params, max_differing), .metavar = "N|X%",
     .help = "Exit with status 1 if more samples differ than this: a number, or a percentage of "
             "all samples; with --metric pixelmatch of pixels"},
    {GI_OPTION("format", CHOICE, struct gi_compare_params, format), .default_text = "text",
     .choices = formats, .help = "Format of the output"},
    {GI_OPTION("diff", PATH, struct gi_compare_params, diff), .metavar = "FILE",
     .help = "Write a picture of the differences to this file: differing pixels are red, on the "
             "first image in faded gray. For many pairs this is a folder, which gets a PNG per "
             "pair with the name of the first file"},
    {GI_OPTION("gain", REAL, struct gi_compare_params, gain), .min = 0.001, .max = 65535,
     .help = "Make the picture of --diff the absolute difference, multiplied by this"},
    {GI_OPTION("ignore", PATH, struct gi_compare_params, ignore), .metavar = "MASK",
     .help = "Compare only the pixels that are black in this image of the same size. For two "
             "folders this may be a folder, in which the mask of a pair has its name; pairs "
             "without a mask are compared as a whole"},
    {GI_OPTION("visible", FLAG, struct gi_compare_params, visible),
     .help = "Compare only what is seen: colours under alpha 0 do not count, and neither does an "
             "alpha that is opaque everywhere, or whether gray is stored as equal R, G and B"},
    {GI_OPTION("html", PATH, struct gi_compare_params, html), .metavar = "FILE",
     .help = "Write a page to this file, with the numbers of every pair, both pictures, their "
             "difference and a slider between them. The pairs that differ most come first, and "
             "before them those that failed. The page needs no other file and no network. "
             "Pairs without a difference have no pictures"},
    {GI_OPTION("junit", PATH, struct gi_compare_params, junit), .metavar = "FILE",
     .help = "Write the results as JUnit XML to this file, with a test case per pair"},
    {0},
};

enum gi_status gi_compare_load_mask(struct gi_image *mask, struct gi_compare_rules *rules,
                                    const struct gi_compare_params *p,
                                    const struct gi_io_params *io, struct gi_err *err)
{
    struct gi_io_params how = {.limits = io->limits, .quiet = io->quiet};
    *mask = (struct gi_image){0};
    if (!p->ignore)
        return GI_OK;
    if (gi_cli_load(mask, NULL, NULL, p->ignore, &how, 0, NULL, err))
        return gi_err_prefix(err, "--ignore");
    rules->mask = mask;
    return GI_OK;
}

enum gi_status gi_compare_save_picture(const struct gi_image *a, const struct gi_image *b,
                                       const char *path, void *const *params,
                                       const struct gi_io_params *io, int threads,
                                       struct gi_err *err)
{
    const struct gi_compare_params *p = params[GI_SET_PAIR_COMPARE];
    struct gi_image picture;
    const struct gi_compare_rules *rules = params[GI_SET_PAIR_FILTER];
    enum gi_status status = gi_compare_draw(&picture, a, b, p->gain, rules, err);
    if (status)
        return status;
    status = gi_cli_save(&picture, NULL, path, io, threads, err);
    gi_image_free(&picture);
    return status;
}

/* Reads "12" or "0.1%": a number of samples, or a percentage of `samples`. */
static enum gi_status read_share(double *count, const char *text, double samples,
                                 struct gi_err *err)
{
    const char *end;
    bool number = gi_number_read(count, text, &end) && *count >= 0, share = number && *end == '%';
    if (!number || end[share] || (share && *count > 100) || (!share && *count != floor(*count)))
        return gi_fail(err, GI_E_USAGE,
                       "--max-differing %s: want a whole number, or 0%% to 100%% of the samples",
                       text);
    if (share)
        *count *= samples / 100;
    return GI_OK;
}

/* Checks a metric against its limit, if there is one. */
static enum gi_status judge_low(const char *name, double value, double min, const char *unit,
                                struct gi_err *err)
{
    if (isnan(min) || value >= min)
        return GI_OK;
    return gi_fail(err, GI_E_DIFFERENT, "%s %.6g%s: want at least %.6g%s", name, value, unit, min,
                   unit);
}

/* Checks how many samples differ, or by pixelmatch how many pixels. */
static enum gi_status judge_count(const struct gi_comparison *comparison, bool unlimited,
                                  const char *limit, struct gi_err *err)
{
    const struct gi_difference *all = &comparison->all;
    bool pixels = comparison->metrics & GI_COMPARE_PIXELMATCH;
    uint64_t n = pixels ? all->pixelmatch : all->differing;
    uint64_t of = pixels ? comparison->channels[0].samples : all->samples;
    double most = unlimited ? 0 : (double)INFINITY;
    if (limit)
        read_share(&most, limit, (double)of, NULL);
    if ((double)n <= most)
        return GI_OK;
    return gi_fail(err, GI_E_DIFFERENT, "%llu of %llu %s differ%s%s", (unsigned long long)n,
                   (unsigned long long)of, pixels ? "pixels" : "samples",
                   limit ? ": want at most " : "", limit ? limit : "");
}

enum gi_status gi_compare_judge(const struct gi_comparison *comparison,
                                const struct gi_compare_params *p, struct gi_err *err)
{
    const struct gi_difference *all = &comparison->all;
    bool none = isnan(p->max_diff) && isnan(p->min_psnr) && isnan(p->min_ssim) &&
                isnan(p->min_ms_ssim) && isnan(p->max_ciede2000) && isnan(p->min_ssimulacra2) &&
                !p->max_differing;
    if (all->max > p->max_diff)
        return gi_fail(err, GI_E_DIFFERENT, "max difference %.6g: want at most %.6g", all->max,
                       p->max_diff);
    enum gi_status status = judge_low("PSNR", all->psnr, p->min_psnr, " dB", err);
    if (!status)
        status = judge_low("SSIM", all->ssim, p->min_ssim, "", err);
    if (!status)
        status = judge_low("MS-SSIM", all->ms_ssim, p->min_ms_ssim, "", err);
    if (!status)
        status = judge_low("SSIMULACRA 2", all->ssimulacra2, p->min_ssimulacra2, "", err);
    if (status)
        return status;
    if (!isnan(p->max_ciede2000) && !(all->ciede2000 <= p->max_ciede2000))
        return gi_fail(err, GI_E_DIFFERENT, "CIEDE2000 %.6g: want at most %.6g", all->ciede2000,
                       p->max_ciede2000);
    return judge_count(comparison, none, p->max_differing, err);
}

/* Prints the result. Commits the picture only after the text has been printed. */
static enum gi_status report(const struct gi_comparison *comparison, const struct gi_image *a,
                             const struct gi_image *b, char **names, void *const *params,
                             const struct gi_io_params *io, int threads, struct gi_err *err)
{
    const struct gi_compare_params *p = params[GI_SET_PAIR_COMPARE];
    struct gi_io_params bundled = *io;
    enum gi_status status = gi_bundle_new(&bundled.passed.bundle, true, err);
    if (!status && p->diff)
        status = gi_compare_save_picture(a, b, p->diff, params, &bundled, threads, err);
    bool prints = !io->quiet && !gi_compare_reports_to_stdout(p);
    if (!status && p->format == 1 && prints)
        status = gi_json_print(
            stdout, gi_compare_json(comparison, a, (const char *const[]){names[0], names[1]}), 0,
            err);
    else if (!status && prints)
        gi_compare_print(stdout, comparison, a, names);
    if (!status)
        status = gi_cli_flush(err);
    if (!status)
        status = gi_bundle_commit(&bundled.passed.bundle, err);
    gi_bundle_abandon(&bundled.passed.bundle);
    return status;
}

enum gi_status gi_compare_pair(struct gi_compare_pair *pair, struct gi_imaging *imaging,
                               struct gi_item *item, const char *other,
                               const struct gi_further *from, void *const *params,
                               struct gi_err *err)
{
    const struct gi_compare_params *p = params[GI_SET_PAIR_COMPARE];
    const struct gi_step step = {.filter = &gi_filter_compare,
                                 .params = params[GI_SET_PAIR_FILTER],
                                 .others = &pair->b,
                                 .nothers = 1};
    *pair = (struct gi_compare_pair){0};
    struct gi_file_info info = {0};
    struct gi_bands bands[2] = {{0}};
    struct gi_further second = from ? *from : (struct gi_further){0};
    bool taken;
    enum gi_status status =
        gi_compare_rows(pair, &taken, imaging, item, &second, other, params, err);
    if (status || taken)
        return status;
    item->source.takes_bands = item->source.counts_nodata = true;
    status = gi_imaging_load(imaging, item, &pair->a, NULL, &info, false, err);
    bands[0] = info.bands;
    if (!status)
        status = gi_imaging_load_further(imaging, item, &pair->b, other, &second, true, &bands[1],
                                         NULL, err);
    if (!status && (bands[0].n || bands[1].n)) {
        status = gi_compare_bands(pair, imaging, item, bands, params, err);
        return status ? gi_err_prefix(err, "%s and %s", item->line.input, other) : GI_OK;
    }
    if (!status && p->visible)
        status = gi_compare_visible(&pair->a, &pair->b, err);
    if (status)
        return status;
    status = gi_imaging_step(imaging, &item->line, NULL, &pair->a, &step, &pair->comparison, err);
    return status ? gi_err_prefix(err, "%s and %s", item->line.input, other) : GI_OK;
}

/* One pair. */
struct compare_one {
    void *const *params;
    struct gi_page_body *body; /* of --html */
    char **names;
    struct gi_io_params io; /* for writing a picture */
};

/* The work on the only item of a batch of one pair. Compares the pair. */
static enum gi_status run_item(void *self, const struct gi_batch_files *files,
                               struct gi_imaging *imaging, struct gi_item *item, struct gi_err *err)
{
    struct compare_one *one = self;
    const struct gi_device_params *device = one->params[GI_SET_PAIR_DEVICE];
    struct gi_compare_pair pair;
    enum gi_status status =
        gi_compare_pair(&pair, imaging, item, one->names[1], NULL, one->params, err);
    if (!status)
        status = report(&pair.comparison, &pair.a, &pair.b, one->names, one->params, &one->io,
                        gi_thread_count(device->threads), err);
    if (!status)
        status = gi_compare_body(&one->body, &pair, one->params, err);
    if (!status)
        status = gi_compare_judge(&pair.comparison, one->params[GI_SET_PAIR_COMPARE], err);
    gi_image_free(&pair.a);
    gi_image_free(&pair.b);
    return status;
}

/* Compares one pair. */
static enum gi_status run_pair(const struct gi_command *command, void *const *params,
                               char **operands, struct gi_err *err)
{
    const struct gi_compare_params *p = params[GI_SET_PAIR_COMPARE];
    struct compare_one one = {.params = params,
                              .names = operands,
                              .io = *(const struct gi_io_params *)params[GI_SET_PAIR_INPUT]};
    const struct gi_batch_work work = {.self = &one, .run = run_item};
    const struct gi_batch_job job = {.command = command, .params = params, .work = &work};
    struct gi_image mask = {0};
    struct gi_junit *junit = NULL;
    struct gi_page *page = NULL;
    one.io.encoding.quality = GI_DEFAULT_QUALITY;
    one.io.encoding.compression = GI_DEFAULT_COMPRESSION;
    const char *outputs[5] = {"-"}, *const files[] = {p->diff, p->junit, p->html};
    for (int i = 0, n = 1; i < 3; i++)
        if (files[i])
            outputs[n++] = files[i];
    const char *const inputs[] = {operands[0], operands[1], p->ignore, NULL};
    enum gi_status status = p->diff ? gi_cli_check_save(p->diff, &one.io, err) : GI_OK;
    status = gi_cli_missing_first(status, operands, 2, err);
    if (!status)
        status = gi_output_check_inputs(outputs, inputs, err);
    if (!status) {
        gi_junit_new(&junit, p->junit);
        gi_page_new(&page, p->html);
        status = gi_compare_load_mask(&mask, params[GI_SET_PAIR_FILTER], p, &one.io, err);
    }
    if (!status)
        status = gi_drive(&job, operands, 1, err);
    gi_image_free(&mask);
    gi_junit_add(junit, operands[0], operands[1], status, err->text);
    gi_page_add(page, operands[0], operands[1], status, err->text, one.body);
    free(one.body);
    status = gi_junit_end(&junit, status, err);
    status = gi_page_end(&page, status, err);
    if (status == GI_E_DIFFERENT && one.io.quiet)
        err->text[0] = '\0'; /* which is not printed */
    return status;
}

/* Adds the metrics that limits need to those of --metric, and leaves out metrics that are not
 * printed. */
static void choose_metrics(void *const *params)
{
    const struct gi_compare_params *p = params[GI_SET_PAIR_COMPARE];
    const struct gi_io_params *io = params[GI_SET_PAIR_INPUT];
    const struct gi_batch_params *pairs = params[GI_SET_PAIRS];
    struct gi_compare_rules *rules = params[GI_SET_PAIR_FILTER];
    bool seen = !io->quiet || pairs->table || p->html;
    if (!rules->metrics)
        rules->metrics = seen ? GI_COMPARE_DEFAULT : GI_COMPARE_NO_METRIC;
    rules->metrics |= (isnan(p->min_psnr) ? 0 : GI_COMPARE_PSNR) |
                      (isnan(p->min_ssim) ? 0 : GI_COMPARE_SSIM) |
                      (isnan(p->min_ms_ssim) ? 0 : GI_COMPARE_MS_SSIM) |
                      (isnan(p->max_ciede2000) ? 0 : GI_COMPARE_CIEDE2000) |
                      (isnan(p->min_ssimulacra2) ? 0 : GI_COMPARE_SSIMULACRA2);
}

static enum gi_status run(const struct gi_command *command, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    const struct gi_compare_params *p = params[GI_SET_PAIR_COMPARE];
    choose_metrics(params);
    double count;
    enum gi_status status = p->max_differing ? read_share(&count, p->max_differing, 1, err) : GI_OK;
    bool pairs = false;
    if (!status)
        status = gi_compare_check_reports(p, err);
    if (!status)
        status = gi_pairs_are_wanted(&pairs, params, operands, noperands, err);
    if (status)
        return status;
    return pairs ? gi_pairs_run(command, params, operands, noperands, err)
                 : run_pair(command, params, operands, err);
}

const struct gi_command gi_command_compare = {
    .name = "compare",
    .operands = "A B",
    .examples = "gpuimg compare before.png after.png\n"
                "gpuimg compare a.png b.png --max-differing 0.1% --min-ssim 0.98 --json\n"
                "gpuimg compare a.png b.png --min-psnr 40 --diff difference.png --gain 8\n"
                "gpuimg compare before/ after/ --table all.csv\n"
                "gpuimg compare before/ after/ --metric pixelmatch --max-differing 0.1% --ignore "
                "mask.png --junit results.xml --html report.html\n"
                "gpuimg compare shot.png want.png --tolerance 3 --ignore-region 120x20+10+5 -q\n"
                "gpuimg compare --tar 'before-{0..9}.tar' 'after-{0..9}.tar' --table all.csv",
    .min_operands = 2,
    .max_operands = 2,
    .sets = {{0}, /* the filter's options */
             {"Limits and output", options, sizeof(struct gi_compare_params)},
             {"Input", gi_input_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many pairs", gi_pairs_options, sizeof(struct gi_batch_params)}},
    .trouble = GI_EXIT_USAGE,
    .filter = &gi_filter_compare,
    .run = run,
};
