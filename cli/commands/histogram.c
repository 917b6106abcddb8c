/* gpuimg histogram: prints counts and statistics as text, CSV, JSON or a chart.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/args/reporter.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/paths/output.h"
#include "cli/plot/plot.h"
#include "cli/process.h"
#include "cli/tables/histogram_text.h"
#include "cli/tables/table_file.h"
#include "cli/text.h"
#include "imgio/small.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct output_params {
    int format; /* enum gi_table_format - GI_TABLE_TEXT */
    bool cumulative, log, bars, no_clobber;
    const char *plot;
};

static const struct gi_choice formats[] = {
    {"text", NULL, "a table to read; on a terminal it has bars, in colour unless NO_COLOR is set"},
    {"csv", NULL, "a line per bin"},
    {"json", NULL, "an object with everything"},
    {0},
};

static const struct gi_option output_options[] = {
    {GI_OPTION("format", CHOICE, struct output_params, format), .default_text = "text",
     .choices = formats, .help = "Format of the output"},
    {GI_OPTION("cumulative", FLAG, struct output_params, cumulative),
     .help = "Cumulative histogram: add to each bin the counts of all bins below it"},
    {GI_OPTION("log", FLAG, struct output_params, log),
     .help = "Draw bars and the plot with a logarithmic axis"},
    {GI_OPTION("bars", FLAG, struct output_params, bars),
     .help = "Print bars in place of counts, even if the output is no terminal"},
    {GI_OPTION("plot", PATH, struct output_params, plot), .metavar = "FILE",
     .help = "Draw the histogram to this file too, .png or .svg"},
    {GI_OPTION("no-clobber", FLAG, struct output_params, no_clobber),
     .help = "Never replace a plot that exists"},
    {0},
};

/* Keys are "p1", "p2.5". */
static json_t *percentiles_json(const struct gi_histogram_view *view, int c)
{
    json_t *object = json_object();
    for (int i = 0; i < view->histogram->npercentiles; i++) {
        char name[32];
        snprintf(name, sizeof name, "p%.15g", view->percentiles[i]);
        json_object_set_new(object, name,
                            gi_json_real(view->histogram->channels[c].percentiles[i]));
    }
    return object;
}

static json_t *channel_json(const struct gi_histogram_view *view, int c)
{
    const struct gi_histogram_channel *channel = &view->histogram->channels[c];
    json_t *bins = json_array(), *object = json_object();
    for (int i = 0; i < view->histogram->nbins; i++)
        json_array_append_new(bins, json_integer((json_int_t)channel->bins[i]));
    json_object_set_new(object, "name", json_string(channel->name));
    json_object_set_new(object, "range",
                        json_pack("[o,o]", gi_json_real(channel->lo), gi_json_real(channel->hi)));
    json_object_set_new(object, "bins", bins);
    gi_cells_json(object, gi_histogram_columns, GI_HISTOGRAM_COLUMNS - 1, channel);
    json_object_set_new(object, "percentiles", percentiles_json(view, c));
    gi_cells_json(object, gi_histogram_columns + GI_HISTOGRAM_COLUMNS - 1, 1, channel);
    return object;
}

static enum gi_status print_json(FILE *out, const struct gi_histogram_view *view,
                                 struct gi_err *err)
{
    json_t *channels = json_array();
    json_t *object = gi_report_json(view->file, view->image, view->maxval);
    for (int c = 0; c < view->histogram->nchannels; c++)
        json_array_append_new(channels, channel_json(view, c));
    if (view->cumulative)
        json_object_set_new(object, "cumulative", json_true());
    json_object_set_new(object, "channels", channels);
    return gi_json_print(out, object, 0, err);
}

static void print_csv(FILE *out, const struct gi_histogram_view *view)
{
    const struct gi_histogram *histogram = view->histogram;
    fprintf(out, "bin,lo,hi");
    for (int c = 0; c < histogram->nchannels; c++)
        fprintf(out, ",%s", histogram->channels[c].name);
    putc('\n', out);
    for (int i = 0; i < histogram->nbins; i++) {
        fprintf(out, "%d,%.12g,%.12g", i, gi_histogram_edge(histogram, i),
                gi_histogram_edge(histogram, i + 1));
        for (int c = 0; c < histogram->nchannels; c++)
            fprintf(out, ",%llu", (unsigned long long)histogram->channels[c].bins[i]);
        putc('\n', out);
    }
}

/* Finds the bins first <= i < end that a plot shows. If --range was not given, and the image has 16
 * bits or floats, these are only the bins that hold its samples, because such images often use a
 * small part of their range. */
static void find_shown(const struct gi_histogram_view *view, int *first, int *end)
{
    const struct gi_histogram *histogram = view->histogram;
    *first = 0;
    *end = histogram->nbins;
    if (view->ranged || view->image->type == GI_U8)
        return;
    double least = NAN, most = NAN;
    for (int c = 0; c < histogram->nchannels; c++) {
        least = fmin(least, histogram->channels[c].min);
        most = fmax(most, histogram->channels[c].max);
    }
    while (*first < *end - 1 && gi_histogram_edge(histogram, *first + 1) <= least)
        ++*first;
    while (*end > *first + 1 && gi_histogram_edge(histogram, *end - 1) > most)
        --*end;
}

static enum gi_status draw(const struct gi_histogram_view *view, const struct output_params *output,
                           struct gi_bundle *bundle, struct gi_err *err)
{
    static const struct {
        const char *name;
        double red, green, blue;
    } inks[] = {{"red", 0.84, 0.15, 0.16},
                {"green", 0.17, 0.60, 0.17},
                {"blue", 0.12, 0.40, 0.78},
                {"alpha", 0.60, 0.35, 0.70},
                /* of bands: the colours of Okabe and Ito, which the colour-blind tell apart */
                {"band1", 0.90, 0.62, 0.00},
                {"band2", 0.34, 0.71, 0.91},
                {"band3", 0.00, 0.62, 0.45},
                {"band4", 0.84, 0.37, 0.00},
                {"band5", 0.00, 0.45, 0.70},
                {"band6", 0.80, 0.47, 0.65}};
    const struct gi_histogram *histogram = view->histogram;
    if (histogram->nchannels > GI_PLOT_SERIES_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "--plot: shows %d bands at most, and it has %d: choose some, as in "
                       "x.tif[bands=1-3]",
                       GI_PLOT_SERIES_MAX, histogram->nchannels);
    const char *base = strrchr(view->file, '/');
    json_t *title = gi_json_text(base ? base + 1 : view->file); /* cairo needs UTF-8 */
    char subtitle[64];
    int first, end;
    find_shown(view, &first, &end);
    snprintf(subtitle, sizeof subtitle, "%d x %d pixels, %d bins", view->image->width,
             view->image->height, histogram->nbins);
    struct gi_plot plot = {.title = json_string_value(title),
                           .subtitle = subtitle,
                           .x_label = "sample value",
                           .y_label = view->cumulative ? "samples up to here" : "samples a bin",
                           .lo = end - first < histogram->nbins
                                     ? gi_histogram_edge(histogram, first)
                                     : histogram->channels[0].lo,
                           .hi = end - first < histogram->nbins ? gi_histogram_edge(histogram, end)
                                                                : histogram->channels[0].hi,
                           .nbins = end - first,
                           .log = output->log,
                           .nseries = histogram->nchannels};
    for (int c = 0; c < histogram->nchannels; c++) {
        const char *name = histogram->channels[c].name;
        plot.series[c] = (struct gi_plot_series){.name = name,
                                                 .counts = histogram->channels[c].bins + first,
                                                 .red = 0.3,
                                                 .green = 0.3,
                                                 .blue = 0.3};
        for (size_t i = 0; i < sizeof inks / sizeof *inks; i++)
            if (strcmp(inks[i].name, name) == 0) {
                plot.series[c].red = inks[i].red;
                plot.series[c].green = inks[i].green;
                plot.series[c].blue = inks[i].blue;
            }
    }
    enum gi_status status = gi_plot_save(&plot, output->plot, output->no_clobber, bundle, err);
    json_decref(title);
    return status;
}

/* Returns whether the locale says that the terminal shows UTF-8. The first variable that is set
 * decides. */
static bool shows_unicode(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "UTF-8") || strcasestr(value, "UTF8");
    }
    return false;
}

/* Returns whether colours are wanted (https://no-color.org). */
static bool shows_color(void)
{
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && (!no || !*no) && term && strcmp(term, "dumb") != 0;
}

/* Replaces the channels by a copy with cumulative bins, in which each count is the sum of the
 * original count and all counts before. The bins follow the channels in the copy, which the caller
 * frees. */
static void *make_cumulative(struct gi_histogram *histogram)
{
    size_t n = (size_t)histogram->nbins;
    size_t nchannels = (size_t)histogram->nchannels;
    struct gi_histogram_channel *channels =
        gi_small_alloc(nchannels * (sizeof *channels + n * sizeof(uint64_t)));
    uint64_t *all = (uint64_t *)(channels + nchannels);
    memcpy(channels, histogram->channels, nchannels * sizeof *channels);
    for (size_t c = 0; c < nchannels; c++) {
        uint64_t *bins = all + c * n, sum = 0;
        for (size_t i = 0; i < n; i++)
            bins[i] = sum += histogram->channels[c].bins[i];
        channels[c].bins = bins;
    }
    return histogram->channels = channels;
}

/* Prints the view that is the result of `report`. */
static enum gi_status print(FILE *out, struct gi_sink *sink, enum gi_table_format format,
                            const struct gi_findings *report, struct gi_err *err)
{
    if (format == GI_TABLE_JSON)
        return print_json(out, report->result, err);
    (format == GI_TABLE_CSV ? print_csv : gi_histogram_text)(out, report->result);
    return GI_OK;
}

static enum gi_status write_report(const struct gi_findings *report, struct gi_err *err)
{
    const struct gi_histogram_params *asked = report->params;
    const struct output_params *output = report->output;
    struct gi_histogram histogram = *(const struct gi_histogram *)report->result;
    bool to_stdout = !report->table && strcmp(report->to, "-") == 0;
    struct gi_histogram_view view = {
        .histogram = &histogram,
        .image = report->image,
        .file = report->file,
        .maxval = report->maxval,
        .percentiles = asked->percentiles.v,
        .cumulative = output->cumulative,
        .ranged = asked->range.n > 0,
        .log = output->log,
        .bars = output->bars || (to_stdout && isatty(STDOUT_FILENO)),
        .unicode = shows_unicode(),
        .color = to_stdout && shows_color(),
    };
    void *copy = output->cumulative ? make_cumulative(&histogram) : NULL;
    const enum gi_table_format format = (enum gi_table_format)output->format + GI_TABLE_TEXT;
    const struct gi_table_file_params file = {(int)format, output->no_clobber};
    struct gi_findings viewed = *report;
    viewed.result = &view;
    viewed.output = &file;
    enum gi_status status =
        output->plot && !report->table ? draw(&view, output, report->bundle, err) : GI_OK;
    if (!status)
        status = to_stdout ? print(stdout, NULL, format, &viewed, err)
                           : gi_table_file_write(&viewed, print, err);
    if (!status && to_stdout)
        status = gi_cli_flush(err); /* the text is printed before the image of a chain is written */
    free(copy);
    return status;
}

static enum gi_status check(const char *input, const char *to, const void *arg, void *params,
                            struct gi_err *err)
{
    const struct output_params *output = arg;
    struct gi_histogram_params *p = params;
    p->fit = true; /* tables of many images have the same bins for all */
    const char *const outputs[] = {to, output->plot, NULL}, *const inputs[] = {input, NULL};
    enum gi_status status = output->plot ? gi_plot_check(output->plot, err) : GI_OK;
    if (!status)
        status = gi_output_check_plain("--plot", output->plot, err);
    if (!status)
        status = gi_output_check_plain("--to", to, err);
    if (!status)
        status = gi_output_check_inputs(outputs, inputs, err);
    if (!status && output->plot)
        status = gi_output_check(output->plot, output->no_clobber, err);
    return status ? status : gi_output_check(to, output->no_clobber, err);
}

static const struct gi_reporter reporter = {
    .filter = &gi_filter_histogram,
    .options = output_options,
    .output_nbytes = sizeof(struct output_params),
    .check = check,
    .write = write_report,
    .parts = &gi_histogram_parts,
};

const struct gi_command gi_command_histogram = {
    .name = "histogram",
    .operands = "INPUT",
    .examples = "gpuimg histogram photo.png\n"
                "gpuimg histogram photo.png --bins 64 --format csv > bins.csv\n"
                "gpuimg histogram photo.png --luminance --percentiles 5,95 --format json\n"
                "gpuimg histogram photo.png --log --plot histogram.svg",
    .min_operands = 1,
    .max_operands = 1,
    .sets = {{0}, /* the filter's options */
             {"Output", output_options, sizeof(struct output_params)},
             {"Input", gi_input_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_table_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_histogram,
    .reporter = &reporter,
    .run = gi_analysis_run,
};
