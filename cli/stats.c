/* gpuimg stats: statistics of the channels as text, CSV, JSON or .npy.
 * SPDX-License-Identifier: MIT */
#include "cli/batch/batch.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/device.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/process.h"
#include "cli/table_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/statistics/stats.h"
#include "imgio/npy.h"

/* What stands in a table, in this order; percentiles follow the median. */
enum kind { WHOLE, REAL, PLACE };

#define COLUMN(kind, name)                                                                         \
    {                                                                                              \
#name, kind, offsetof(struct gi_stats_channel, name)                                       \
    }
static const struct column {
    const char *name;
    enum kind kind; /* uint64_t; double, NaN: none; int, -1: none */
    size_t offset;
} columns[] = {
    COLUMN(WHOLE, count),
    COLUMN(WHOLE, nan),
    COLUMN(WHOLE, positive_infinity),
    COLUMN(WHOLE, negative_infinity),
    COLUMN(REAL, sum),
    COLUMN(REAL, mean),
    COLUMN(REAL, deviation),
    COLUMN(REAL, variance),
    COLUMN(REAL, min),
    COLUMN(PLACE, min_x),
    COLUMN(PLACE, min_y),
    COLUMN(REAL, max),
    COLUMN(PLACE, max_x),
    COLUMN(PLACE, max_y),
    COLUMN(REAL, range),
    COLUMN(REAL, l1),
    COLUMN(REAL, l2),
    COLUMN(REAL, rms),
    COLUMN(REAL, entropy),
    COLUMN(WHOLE, unique),
    COLUMN(REAL, median),
};

enum {
    COLUMNS = sizeof columns / sizeof *columns,
    ALL_MAX = COLUMNS + GI_REALS_MAX,
    CELL = 18, /* width of a column of text */
    NAME_NBYTES = 40,
};

struct view {
    const struct gi_stats *stats;
    const struct gi_stats_params *asked;
    const struct gi_report *report;
};

static int columns_of(const struct view *view)
{
    return COLUMNS + view->stats->npercentiles;
}

/* Column i, percentiles too; `name` is where the name of one of these may be made. */
static struct column column_at(char name[NAME_NBYTES], const struct view *view, int i)
{
    if (i < COLUMNS)
        return columns[i];
    snprintf(name, NAME_NBYTES, "p%.15g", view->asked->percentiles.v[i - COLUMNS]);
    return (struct column){name, REAL,
                           offsetof(struct gi_stats_channel, percentiles) +
                               (size_t)(i - COLUMNS) * sizeof(double)};
}

struct value {
    bool none;
    uint64_t whole;
    double real; /* REAL only */
    int place;
};

static struct value value_at(const struct view *view, const struct column *column, int c)
{
    const struct gi_stats_channel *channel = &view->stats->channels[c];
    const char *at = (const char *)channel + column->offset;
    struct value value = {0};
    if (column->kind == WHOLE) {
        memcpy(&value.whole, at, sizeof value.whole);
        value.none = column->offset == offsetof(struct gi_stats_channel, unique) &&
                     view->report->image->type == GI_F32;
    } else if (column->kind == REAL) {
        memcpy(&value.real, at, sizeof value.real);
        value.none = isnan(value.real);
    } else {
        memcpy(&value.place, at, sizeof value.place);
        value.none = value.place < 0;
    }
    return value;
}

/* ---- text ---- */

/* Counts of what is no finite sample only where there is some. */
static bool shows(const struct view *view, const struct column *column)
{
    bool odd = column->offset >= offsetof(struct gi_stats_channel, nan) &&
               column->offset <= offsetof(struct gi_stats_channel, negative_infinity);
    bool any = !odd;
    for (int c = 0; c < view->stats->nchannels; c++)
        any = any || value_at(view, column, c).whole;
    return any && column->kind != PLACE;
}

static void text_row(FILE *out, const struct view *view, const struct column *column)
{
    char name[NAME_NBYTES];
    snprintf(name, sizeof name, "%s", column->name);
    for (char *p = name; *p; p++)
        *p = *p == '_' ? ' ' : *p;
    fprintf(out, "%-*s", CELL, name);
    for (int c = 0; c < view->stats->nchannels; c++) {
        struct value value = value_at(view, column, c);
        if (value.none)
            fprintf(out, "%*s", CELL, "-");
        else if (column->kind == WHOLE)
            fprintf(out, "%*llu", CELL, (unsigned long long)value.whole);
        else
            fprintf(out, "%*.12g", CELL, value.real);
    }
    putc('\n', out);
}

/* "min at           12,7": x and y. */
static void text_place(FILE *out, const struct view *view, const struct column *x)
{
    char cell[CELL * 2];
    snprintf(cell, sizeof cell, "%.3s at", x->name);
    fprintf(out, "%-*s", CELL, cell);
    for (int c = 0; c < view->stats->nchannels; c++) {
        int at[2] = {value_at(view, &x[0], c).place, value_at(view, &x[1], c).place};
        snprintf(cell, sizeof cell, at[0] < 0 ? "-" : "%d,%d", at[0], at[1]);
        fprintf(out, "%*s", CELL, cell);
    }
    putc('\n', out);
}

static void print_text(FILE *out, const struct view *view)
{
    gi_report_print_head(out, view->report->file, view->report->image, view->report->maxval);
    fprintf(out, "\n\n%-*s", CELL, "");
    for (int c = 0; c < view->stats->nchannels; c++)
        fprintf(out, "%*s", CELL, view->stats->channels[c].name);
    putc('\n', out);
    for (int i = 0; i < columns_of(view); i++) {
        char name[NAME_NBYTES];
        struct column column = column_at(name, view, i);
        if (shows(view, &column))
            text_row(out, view, &column);
        else if (column.kind == PLACE && columns[i - 1].kind == REAL)
            text_place(out, view, &columns[i]);
    }
}

/* ---- tables ---- */

/* The fewest digits that give the number back. */
static void print_real(FILE *out, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (memcmp(&back, &value, sizeof back) == 0)
            break;
    }
    fputs(text, out);
}

static void print_csv(FILE *out, const struct view *view)
{
    char name[NAME_NBYTES];
    fputs("channel", out);
    for (int i = 0; i < columns_of(view); i++)
        fprintf(out, ",%s", column_at(name, view, i).name);
    for (int c = 0; c < view->stats->nchannels; c++) {
        fprintf(out, "\n%s", view->stats->channels[c].name);
        for (int i = 0; i < columns_of(view); i++) {
            struct column column = column_at(name, view, i);
            struct value value = value_at(view, &column, c);
            putc(',', out);
            if (value.none)
                continue;
            if (column.kind == REAL)
                print_real(out, value.real);
            else if (column.kind == WHOLE)
                fprintf(out, "%llu", (unsigned long long)value.whole);
            else
                fprintf(out, "%d", value.place);
        }
    }
    putc('\n', out);
}

static json_t *channel_json(const struct view *view, int c)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(view->stats->channels[c].name));
    for (int i = 0; i < columns_of(view); i++) {
        char name[NAME_NBYTES];
        struct column column = column_at(name, view, i);
        struct value value = value_at(view, &column, c);
        json_object_set_new(object, column.name,
                            value.none             ? json_null()
                            : column.kind == REAL  ? gi_json_real(value.real)
                            : column.kind == WHOLE ? json_integer((json_int_t)value.whole)
                                                   : json_integer(value.place));
    }
    return object;
}

static enum gi_status print_json(FILE *out, const struct view *view, struct gi_err *err)
{
    const struct gi_report *report = view->report;
    json_t *channels = json_array();
    json_t *object = gi_report_json(report->file, report->image, report->maxval);
    for (int c = 0; c < view->stats->nchannels; c++)
        json_array_append_new(channels, channel_json(view, c));
    json_object_set_new(object, "channels", channels);
    return gi_json_print(out, object, 0, err);
}

/* Rows of a name of 9 bytes, then whole numbers and reals of 8 and places of 4; -1 and NaN where
 * there is none. */
static enum gi_status write_npy(struct gi_sink *sink, const struct view *view, struct gi_err *err)
{
    static const char *const types[] = {GI_NPY_ORDER "u8", GI_NPY_ORDER "f8", GI_NPY_ORDER "i4"};
    static const size_t nbytes[] = {sizeof(uint64_t), sizeof(double), sizeof(int32_t)};
    char type[ALL_MAX * (NAME_NBYTES + 16)] = "[('channel', 'S9')", name[NAME_NBYTES];
    size_t used = strlen(type);
    for (int i = 0; i < columns_of(view); i++) {
        struct column column = column_at(name, view, i);
        used += (size_t)snprintf(type + used, sizeof type - used, ", ('%s', '%s')", column.name,
                                 types[column.kind]);
    }
    strcpy(type + used, "]");
    const uint64_t rows = (uint64_t)view->stats->nchannels;
    enum gi_status status = gi_npy_head(sink, type, &rows, 1, err);
    for (int c = 0; c < view->stats->nchannels && !status; c++) {
        const struct gi_stats_channel *channel = &view->stats->channels[c];
        char word[9] = "";
        memcpy(word, channel->name, strlen(channel->name));
        status = gi_sink_write(sink, word, sizeof word, err);
        for (int i = 0; i < columns_of(view) && !status; i++) {
            struct column column = column_at(name, view, i);
            status = gi_sink_write(sink, (const char *)channel + column.offset, nbytes[column.kind],
                                   err);
        }
    }
    return status;
}

static enum gi_status print(FILE *out, struct gi_sink *sink, enum gi_table_format format,
                            const struct gi_report *report, struct gi_err *err)
{
    struct view view = {report->result, report->params, report};
    if (format == GI_TABLE_NPY)
        return write_npy(sink, &view, err);
    if (format == GI_TABLE_JSON)
        return print_json(out, &view, err);
    (format == GI_TABLE_CSV ? print_csv : print_text)(out, &view);
    return GI_OK;
}

/* ---- the command ---- */

static enum gi_status write_report(const struct gi_report *report, struct gi_err *err)
{
    return gi_table_file_write(report, print, err);
}

const struct gi_reporter gi_stats_reporter = {
    .filter = &gi_filter_stats,
    .options = gi_table_file_options,
    .output_nbytes = sizeof(struct gi_table_file_params),
    .check = gi_table_file_check,
    .write = write_report,
};

const struct gi_command gi_command_stats = {
    .name = "stats",
    .operands = "INPUT [TABLE]",
    .examples = "gpuimg stats photo.png\n"
                "gpuimg stats scan.tif --percentiles 0.1,50,99.9 --json\n"
                "gpuimg stats sprite.png sprite.npy --opaque\n"
                "gpuimg stats *.png --table all.csv",
    .min_operands = 1,
    .max_operands = 2,
    .sets = {{0}, /* the filter's */
             {"Output", gi_table_file_options, sizeof(struct gi_table_file_params)},
             {"Input", gi_input_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_table_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_stats,
    .run = gi_analysis_run,
};
