/* Prints statistics of the channels as text, CSV, JSON or .npy.
 * SPDX-License-Identifier: MIT */
#include "cli/tables/stats_table.h"

#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/tables/cells.h"
#include "imgio/small.h"

#define COLUMN(kind, name) GI_COLUMN(#name, NULL, kind, struct gi_stats_channel, name)
/* The columns of a channel. Those of percentiles follow that of the median. */
static const struct gi_column columns[] = {
    GI_COLUMN("channel", NULL, NAME, struct gi_stats_channel, name),
    COLUMN(WHOLE, count),
    COLUMN(WHOLE, nan),
    COLUMN(WHOLE, positive_infinity),
    COLUMN(WHOLE, negative_infinity),
    COLUMN(REAL, sum),
    COLUMN(REAL, mean),
    COLUMN(REAL, stddev),
    COLUMN(REAL, variance),
    COLUMN(REAL, min),
    COLUMN(INT, min_x),
    COLUMN(INT, min_y),
    COLUMN(REAL, max),
    COLUMN(INT, max_x),
    COLUMN(INT, max_y),
    COLUMN(REAL, range),
    COLUMN(REAL, l1),
    COLUMN(REAL, l2),
    COLUMN(REAL, rms),
    COLUMN(REAL, entropy),
    COLUMN(WHOLE, unique),
    COLUMN(REAL, median),
};

/* The columns that identify a zone, which precede those of a channel. They are a row number, a
 * column number, the position of a tile, or a label with its bounding box. */
static const struct gi_column zone_columns[] = {
    GI_COLUMN("row", NULL, INT, struct gi_stats_zone, y),
    GI_COLUMN("column", NULL, INT, struct gi_stats_zone, x),
    GI_COLUMN("label", NULL, INT, struct gi_stats_zone, label),
    GI_COLUMN("x", NULL, INT, struct gi_stats_zone, x),
    GI_COLUMN("y", NULL, INT, struct gi_stats_zone, y),
    GI_COLUMN("width", NULL, INT, struct gi_stats_zone, width),
    GI_COLUMN("height", NULL, INT, struct gi_stats_zone, height),
};

static const struct {
    int first, n;
} zone_columns_by[] = {
    [GI_STATS_WHOLE] = {0, 0}, [GI_STATS_ROW] = {0, 1},   [GI_STATS_COLUMN] = {1, 1},
    [GI_STATS_TILE] = {3, 4},  [GI_STATS_LABEL] = {2, 5},
};

enum { COLUMNS = sizeof columns / sizeof *columns, NAME_NBYTES = 40 };

static const struct gi_cell_style text_style = {12, "-", 18, 18}, csv_style = {0, "", 0, 0};

struct view {
    const struct gi_stats *stats;
    const struct gi_stats_channel *channels; /* nchannels for each zone */
    const struct gi_stats_params *asked;
    const struct gi_findings *report;
    int zone; /* number of the zone, from 0; 0 if there are no zones */
    struct gi_column columns[COLUMNS + GI_REALS_MAX];
    int ncolumns;
    char names[GI_REALS_MAX][NAME_NBYTES]; /* of the columns of percentiles */
    const struct gi_column *zone_columns;
    int nzone_columns;
};

/* Fills in the view with its columns. */
static void open_view(struct view *view, const struct gi_stats *stats,
                      const struct gi_stats_channel *channels, const struct gi_stats_params *asked,
                      const struct gi_findings *report)
{
    enum gi_stats_by by = stats->by;
    *view = (struct view){.stats = stats, .channels = channels, .asked = asked, .report = report};
    view->zone_columns = zone_columns + zone_columns_by[by].first;
    view->nzone_columns = zone_columns_by[by].n;
    view->ncolumns = COLUMNS + stats->npercentiles;
    memcpy(view->columns, columns, sizeof columns);
    for (int i = 0; i < COLUMNS; i++)
        view->columns[i].missing = columns[i].offset == offsetof(struct gi_stats_channel, unique) &&
                                   report->image->type == GI_F32;
    for (int i = 0; i < stats->npercentiles; i++) {
        snprintf(view->names[i], NAME_NBYTES, "p%.15g", asked->percentiles.v[i]);
        view->columns[COLUMNS + i] = (struct gi_column)GI_COLUMN(
            view->names[i], NULL, REAL, struct gi_stats_channel, percentiles[i]);
    }
}

static int zones_of(const struct view *view)
{
    return view->stats->by ? view->stats->nzones : 1;
}

static const struct gi_stats_zone *zone_of(const struct view *view)
{
    return view->stats->by ? &view->stats->zones[view->zone] : NULL;
}

/* Returns the channels of the zone. */
static const struct gi_stats_channel *channels_of(const struct view *view)
{
    return &view->channels[view->zone * view->stats->nchannels];
}

/* ---- text ---- */

/* Returns whether a column is shown. Counts of samples that are not finite are shown only if there
 * are any. */
static bool shows(const struct view *view, const struct gi_column *column)
{
    bool any = column->offset < offsetof(struct gi_stats_channel, nan) ||
               column->offset > offsetof(struct gi_stats_channel, negative_infinity);
    for (int c = 0; c < view->stats->nchannels && !any; c++)
        any = *(const uint64_t *)(const void *)((const char *)&channels_of(view)[c] +
                                                column->offset) > 0;
    return any;
}

/* Prints the position of the minimum or maximum: "min at           12,7". */
static void print_place(FILE *out, const struct view *view, bool max)
{
    char cell[40];
    fprintf(out, "%-*s", text_style.name_width, max ? "max at" : "min at");
    for (int c = 0; c < view->stats->nchannels; c++) {
        const struct gi_stats_channel *channel = &channels_of(view)[c];
        int x = max ? channel->max_x : channel->min_x, y = max ? channel->max_y : channel->min_y;
        snprintf(cell, sizeof cell, x < 0 ? "-" : "%d,%d", x, y);
        fprintf(out, "%*s", text_style.width, cell);
    }
    putc('\n', out);
}

/* Prints "row 12", "at 64,128: 64 x 32" or "label 3 at 64,128: 64 x 32". */
static void print_zone(FILE *out, const struct view *view)
{
    const struct gi_stats_zone *zone = zone_of(view);
    putc('\n', out);
    if (view->nzone_columns == 1) {
        fprintf(out, "%s %d", view->asked->by, view->stats->by == GI_STATS_ROW ? zone->y : zone->x);
        return;
    }
    if (zone->label)
        fprintf(out, "label %lu ", (unsigned long)zone->label);
    fprintf(out, "at %d,%d: %d x %d", zone->x, zone->y, zone->width, zone->height);
}

static void print_channels(FILE *out, const struct view *view)
{
    const struct gi_stats_channel *channels = channels_of(view);
    fprintf(out, "\n\n%-*s", text_style.name_width, "");
    for (int c = 0; c < view->stats->nchannels; c++)
        fprintf(out, "%*s", text_style.width, channels[c].name);
    putc('\n', out);
    for (int i = 1; i < view->ncolumns; i++) {
        const struct gi_column *column = &view->columns[i];
        if (column->type != GI_COLUMN_INT && shows(view, column))
            gi_cells_line(out, column, &text_style, channels, sizeof *channels,
                          view->stats->nchannels);
        else if (column->type == GI_COLUMN_INT && column[-1].type == GI_COLUMN_REAL)
            print_place(out, view, column->offset == offsetof(struct gi_stats_channel, max_x));
    }
}

static void print_text(FILE *out, struct view *view)
{
    gi_report_print_head(out, view->report->file, view->report->image, view->report->maxval);
    for (view->zone = 0; view->zone < zones_of(view); view->zone++) {
        if (view->stats->by)
            print_zone(out, view);
        print_channels(out, view);
    }
}

/* ---- tables ---- */

static void print_csv(FILE *out, struct view *view)
{
    const char *comma = view->nzone_columns ? "," : "";
    gi_cells_csv_names(out, view->zone_columns, view->nzone_columns);
    fputs(comma, out);
    gi_cells_csv_names(out, view->columns, view->ncolumns);
    putc('\n', out);
    for (view->zone = 0; view->zone < zones_of(view); view->zone++)
        for (int c = 0; c < view->stats->nchannels; c++) {
            gi_cells_csv(out, view->zone_columns, view->nzone_columns, &csv_style, zone_of(view));
            fputs(comma, out);
            gi_cells_csv(out, view->columns, view->ncolumns, &csv_style, &channels_of(view)[c]);
            putc('\n', out);
        }
}

static json_t *channels_json(const struct view *view)
{
    json_t *channels = json_array();
    for (int c = 0; c < view->stats->nchannels; c++) {
        const struct gi_stats_channel *channel = &channels_of(view)[c];
        json_t *object = json_object();
        json_object_set_new(object, "name", json_string(channel->name));
        gi_cells_json(object, view->columns + 1, view->ncolumns - 1, channel);
        /* The name of stddev before 0.1.0, for programs that read it. */
        json_object_set(object, "deviation", json_object_get(object, "stddev"));
        json_array_append_new(channels, object);
    }
    return channels;
}

static json_t *zone_json(const struct view *view)
{
    json_t *object = json_object();
    gi_cells_json(object, view->zone_columns, view->nzone_columns, zone_of(view));
    json_object_set_new(object, "channels", channels_json(view));
    return object;
}

static enum gi_status print_json(FILE *out, struct view *view, struct gi_err *err)
{
    const struct gi_findings *report = view->report;
    json_t *object = gi_report_json(report->file, report->image, report->maxval);
    if (!view->stats->by) {
        json_object_set_new(object, "channels", channels_json(view));
        return gi_json_print(out, object, 0, err);
    }
    json_t *zones = json_array();
    for (view->zone = 0; view->zone < view->stats->nzones; view->zone++)
        json_array_append_new(zones, zone_json(view));
    json_object_set_new(object, "by", json_string(view->asked->by ? view->asked->by : "label"));
    json_object_set_new(object, "zones", zones);
    return gi_json_print(out, object, 0, err);
}

static enum gi_status write_npy(struct gi_sink *sink, struct view *view, struct gi_err *err)
{
    const uint64_t rows = (uint64_t)zones_of(view) * (uint64_t)view->stats->nchannels;
    struct gi_column all[sizeof zone_columns / sizeof *zone_columns + COLUMNS + GI_REALS_MAX];
    int n = view->nzone_columns;
    memcpy(all, view->zone_columns, (size_t)n * sizeof *all);
    memcpy(all + n, view->columns, (size_t)view->ncolumns * sizeof *all);
    enum gi_status status = gi_cells_npy_head(sink, all, n + view->ncolumns, rows, err);
    for (view->zone = 0; view->zone < zones_of(view); view->zone++)
        for (int c = 0; c < view->stats->nchannels && !status; c++) {
            status = gi_cells_npy(sink, view->zone_columns, n, zone_of(view), err);
            if (!status)
                status =
                    gi_cells_npy(sink, view->columns, view->ncolumns, &channels_of(view)[c], err);
        }
    return status;
}

enum gi_status gi_stats_print(FILE *out, struct gi_sink *sink, enum gi_table_format format,
                              const struct gi_findings *report, struct gi_err *err)
{
    const struct gi_stats *stats = report->result;
    struct view view;
    open_view(&view, stats, gi_stats_channels(stats), report->params, report);
    if (format == GI_TABLE_NPY)
        return write_npy(sink, &view, err);
    if (format == GI_TABLE_JSON)
        return print_json(out, &view, err);
    (format == GI_TABLE_CSV ? print_csv : print_text)(out, &view);
    return GI_OK;
}

enum gi_status gi_stats_print_total(FILE *out, const struct gi_stats_total *sums,
                                    const struct gi_stats_params *p, bool json, struct gi_err *err)
{
    const struct gi_image image = {.type = GI_F32};
    const struct gi_findings report = {.image = &image};
    const struct gi_stats whole = {.nchannels = sums->nchannels, .npercentiles = p->percentiles.n};
    struct gi_stats_channel *channels =
        gi_small_calloc((size_t)sums->nchannels + 1, sizeof *channels);
    struct view view;
    open_view(&view, &whole, channels, p, &report);
    for (int c = 0; c < sums->nchannels; c++)
        gi_stats_total_channel(&channels[c], sums, c, p);
    if (!json) {
        print_csv(out, &view);
        free(channels);
        return GI_OK;
    }
    json_t *object = json_object();
    json_object_set_new(object, "file", json_string("total"));
    json_object_set_new(object, "images", json_integer((json_int_t)sums->images));
    json_object_set_new(object, "channels", channels_json(&view));
    free(channels);
    return gi_json_print_for(-1, out, object, 0, err);
}
