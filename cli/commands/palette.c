/* gpuimg palette: prints the colours of an image and their counts, as text, CSV, JSON or .npy.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/tables/cells.h"
#include "cli/tables/table_file.h"

#include <string.h>

#include "filters/color/palette.h"
#include "filters/statistics/histogram.h"
#include "imgio/npy.h"

/* A row of the table. */
struct row {
    int samples[GI_MAX_CHANNELS]; /* in the order of the channels */
    uint64_t pixels;
    double share;
};

static struct row row_of(const struct gi_findings *report, size_t i)
{
    const struct gi_palette *palette = report->result;
    unsigned bits = 8 * (unsigned)gi_type_nbytes(report->image->type);
    uint64_t color = palette->each[i].color, pixels = palette->each[i].count;
    struct row row = {.pixels = pixels, .share = (double)pixels / (double)palette->pixels};
    for (int c = report->image->channels - 1; c >= 0; c--, color >>= bits)
        row.samples[c] = (int)(color & ((1u << bits) - 1));
    return row;
}

/* The columns behind those of the channels. */
static const struct gi_column counts[] = {
    GI_COLUMN("pixels", NULL, WHOLE, struct row, pixels),
    GI_COLUMN("share", NULL, REAL, struct row, share),
};
enum { NCOUNTS = sizeof counts / sizeof *counts, COLUMNS_MAX = GI_MAX_CHANNELS + NCOUNTS };

/* Sets the columns, and returns their number. */
static int find_columns(struct gi_column columns[COLUMNS_MAX], const struct gi_image *image)
{
    for (int c = 0; c < image->channels; c++)
        columns[c] =
            (struct gi_column){.name = gi_channel_name(image, c),
                               .type = GI_COLUMN_INT,
                               .offset = offsetof(struct row, samples) + (size_t)c * sizeof(int)};
    memcpy(columns + image->channels, counts, sizeof counts);
    return image->channels + NCOUNTS;
}

static void print_text(FILE *out, const struct gi_findings *report)
{
    const struct gi_palette *palette = report->result;
    const struct gi_image *image = report->image;
    gi_report_print_head(out, report->file, image, report->maxval);
    fprintf(out, "\n%zu colour%s in %llu pixel%s\n\n%12s %9s ", (size_t)palette->unique,
            palette->unique == 1 ? "" : "s", (unsigned long long)palette->pixels,
            palette->pixels == 1 ? "" : "s", "pixels", "share");
    for (int c = 0; c < image->channels; c++)
        fprintf(out, "%7s", gi_channel_name(image, c));
    putc('\n', out);
    for (size_t i = 0; i < palette->n; i++) {
        const struct row row = row_of(report, i);
        fprintf(out, "%12llu %8.3f%% ", (unsigned long long)row.pixels, 100 * row.share);
        for (int c = 0; c < image->channels; c++)
            fprintf(out, "%7d", row.samples[c]);
        putc('\n', out);
    }
}

static void print_csv(FILE *out, const struct gi_findings *report)
{
    static const struct gi_cell_style style = {.digits = 17, .missing = ""};
    struct gi_column columns[COLUMNS_MAX];
    int n = find_columns(columns, report->image);
    gi_cells_csv_names(out, columns, n);
    putc('\n', out);
    for (size_t i = 0; i < ((const struct gi_palette *)report->result)->n; i++) {
        const struct row row = row_of(report, i);
        gi_cells_csv(out, columns, n, &style, &row);
        putc('\n', out);
    }
}

static enum gi_status print_json(FILE *out, const struct gi_findings *report, struct gi_err *err)
{
    const struct gi_palette *palette = report->result;
    json_t *object = gi_report_json(report->file, report->image, report->maxval);
    json_t *channels = json_array(), *colors = json_array();
    for (int c = 0; c < report->image->channels; c++)
        json_array_append_new(channels, json_string(gi_channel_name(report->image, c)));
    for (size_t i = 0; i < palette->n; i++) {
        const struct row row = row_of(report, i);
        json_t *color = json_object(), *values = json_array();
        for (int c = 0; c < report->image->channels; c++)
            json_array_append_new(values, json_integer(row.samples[c]));
        json_object_set_new(color, "color", values);
        gi_cells_json(color, counts, NCOUNTS, &row);
        json_array_append_new(colors, color);
    }
    json_object_set_new(object, "channels", channels);
    json_object_set_new(object, "unique", json_integer((json_int_t)palette->unique));
    json_object_set_new(object, "palette", colors);
    return gi_json_print(out, object, 0, err);
}

/* Writes rows of samples in the image's type, followed by the counts. */
static enum gi_status write_npy(struct gi_sink *sink, const struct gi_findings *report,
                                struct gi_err *err)
{
    const struct gi_palette *palette = report->result;
    const struct gi_image *image = report->image;
    char type[100];
    snprintf(type, sizeof type, "[('color', '%s', (%d,)), ('pixels', '%su8')]",
             image->type == GI_U8 ? "|u1" : GI_NPY_ORDER "u2", image->channels, GI_NPY_ORDER);
    const uint64_t rows = palette->n;
    enum gi_status status = gi_npy_head(sink, type, &rows, 1, err);
    for (size_t i = 0; i < palette->n && !status; i++) {
        const struct row row = row_of(report, i);
        uint8_t bytes[GI_MAX_CHANNELS * sizeof(uint16_t) + sizeof(uint64_t)], *at = bytes;
        for (int c = 0; c < image->channels; c++) {
            uint16_t wide = (uint16_t)row.samples[c];
            if (image->type == GI_U8)
                *at++ = (uint8_t)wide;
            else
                at = (uint8_t *)memcpy(at, &wide, sizeof wide) + sizeof wide;
        }
        memcpy(at, &row.pixels, sizeof row.pixels);
        status = gi_sink_write(sink, bytes, (size_t)(at - bytes) + sizeof row.pixels, err);
    }
    return status;
}

static enum gi_status print(FILE *out, struct gi_sink *sink, enum gi_table_format format,
                            const struct gi_findings *report, struct gi_err *err)
{
    if (format == GI_TABLE_NPY)
        return write_npy(sink, report, err);
    if (format == GI_TABLE_JSON)
        return print_json(out, report, err);
    (format == GI_TABLE_CSV ? print_csv : print_text)(out, report);
    return GI_OK;
}

/* ---- the command ---- */

static enum gi_status write_report(const struct gi_findings *report, struct gi_err *err)
{
    return gi_table_file_write(report, print, err);
}

static const struct gi_reporter reporter = {
    .filter = &gi_filter_palette,
    .options = gi_table_file_options,
    .output_nbytes = sizeof(struct gi_table_file_params),
    .check = gi_table_file_check,
    .write = write_report,
};

const struct gi_command gi_command_palette = {
    .name = "palette",
    .operands = "INPUT [TABLE]",
    .examples = "gpuimg palette picture.png --top 10\n"
                "gpuimg palette logo.png colours.csv\n"
                "gpuimg palette scan.tif colours.npy",
    .min_operands = 1,
    .max_operands = 2,
    .sets = {{0}, /* the filter's options */
             {"Output", gi_table_file_options, sizeof(struct gi_table_file_params)},
             {"Input", gi_input_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_table_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_palette,
    .reporter = &reporter,
    .run = gi_analysis_run,
};
