/* Prints statistics of the channels as text, CSV, JSON or .npy.
 * SPDX-License-Identifier: MIT */
#include "cli/tables/stats_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "imgio/npy.h"

/* The columns of a table, in this order. The columns of percentiles follow that of the median. */
enum kind { WHOLE, REAL, PLACE };

#define COLUMN(kind, name)                                                                         \
    {                                                                                              \
#name, kind, offsetof(struct gi_stats_channel, name)                                       \
    }
static const struct stats_table_column {
    const char *name;
    enum kind kind; /* WHOLE: uint64_t; REAL: double, NaN if missing; PLACE: int, -1 if missing */
    size_t offset;
} columns[] = {
    COLUMN(WHOLE, count),
    COLUMN(WHOLE, nan),
    COLUMN(WHOLE, positive_infinity),
    COLUMN(WHOLE, negative_infinity),
    COLUMN(REAL, sum),
    COLUMN(REAL, mean),
    COLUMN(REAL, stddev),
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
    const struct gi_stats_channel *channels; /* nchannels for each zone */
    int nchannels;
    const struct gi_stats_params *asked;
    const struct gi_findings *report;
    int zone; /* number of the zone, from 0; 0 if there are no zones */
};

static int zones_of(const struct view *view)
{
    return view->stats->by ? view->stats->nzones : 1;
}

static const struct gi_stats_channel *channel_at(const struct view *view, int c)
{
    return &view->channels[view->zone * view->nchannels + c];
}

/* The columns that identify a zone. They are a row number, a column number, the position of a tile,
 * or a label with its bounding box. */
enum { PARTS_MAX = 5 };
static const char *const part_names[PARTS_MAX] = {"label", "x", "y", "width", "height"};
static const struct {
    int first, end;
} parts_by[] = {
    [GI_STATS_WHOLE] = {0, 0}, [GI_STATS_ROW] = {2, 3},   [GI_STATS_COLUMN] = {1, 2},
    [GI_STATS_TILE] = {1, 5},  [GI_STATS_LABEL] = {0, 5},
};

static const char *zone_name(const struct view *view, int part)
{
    enum gi_stats_by by = view->stats->by;
    return by == GI_STATS_ROW || by == GI_STATS_COLUMN ? view->asked->by : part_names[part];
}

static long zone_number(const struct view *view, int part)
{
    const struct gi_stats_zone *zone = &view->stats->zones[view->zone];
    const long numbers[] = {zone->label, zone->x, zone->y, zone->width, zone->height};
    return numbers[part];
}

static int columns_of(const struct view *view)
{
    return COLUMNS + view->stats->npercentiles;
}

/* Returns column i. If it is a percentile, its name is printed into `name`. */
static struct stats_table_column column_at(char name[NAME_NBYTES], const struct view *view, int i)
{
    if (i < COLUMNS)
        return columns[i];
    snprintf(name, NAME_NBYTES, "p%.15g", view->asked->percentiles.v[i - COLUMNS]);
    return (struct stats_table_column){name, REAL,
                                       offsetof(struct gi_stats_channel, percentiles) +
                                           (size_t)(i - COLUMNS) * sizeof(double)};
}

struct value {
    bool none;
    uint64_t whole;
    double real; /* only for REAL */
    int place;
};

static struct value value_at(const struct view *view, const struct stats_table_column *column,
                             int c)
{
    const struct gi_stats_channel *channel = channel_at(view, c);
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

/* Returns whether a column is shown. Counts of samples that are not finite are shown only if there
 * are any. */
static bool shows(const struct view *view, const struct stats_table_column *column)
{
    bool odd = column->offset >= offsetof(struct gi_stats_channel, nan) &&
               column->offset <= offsetof(struct gi_stats_channel, negative_infinity);
    bool any = !odd;
    for (int c = 0; c < view->nchannels; c++)
        any = any || value_at(view, column, c).whole;
    return any && column->kind != PLACE;
}

static void text_row(FILE *out, const struct view *view, const struct stats_table_column *column)
{
    char name[NAME_NBYTES];
    snprintf(name, sizeof name, "%s", column->name);
    for (char *p = name; *p; p++)
        *p = *p == '_' ? ' ' : *p;
    fprintf(out, "%-*s", CELL, name);
    for (int c = 0; c < view->nchannels; c++) {
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

/* Prints x and y: "min at           12,7". */
static void text_place(FILE *out, const struct view *view, const struct stats_table_column *x)
{
    char cell[CELL * 2];
    snprintf(cell, sizeof cell, "%.3s at", x->name);
    fprintf(out, "%-*s", CELL, cell);
    for (int c = 0; c < view->nchannels; c++) {
        int at[2] = {value_at(view, &x[0], c).place, value_at(view, &x[1], c).place};
        snprintf(cell, sizeof cell, at[0] < 0 ? "-" : "%d,%d", at[0], at[1]);
        fprintf(out, "%*s", CELL, cell);
    }
    putc('\n', out);
}

/* Prints "row 12", "at 64,128: 64 x 32" or "label 3 at 64,128: 64 x 32". */
static void print_zone(FILE *out, const struct view *view)
{
    const struct gi_stats_zone *zone = &view->stats->zones[view->zone];
    enum gi_stats_by by = view->stats->by;
    if (by == GI_STATS_ROW || by == GI_STATS_COLUMN) {
        fprintf(out, "\n%s %ld", view->asked->by, zone_number(view, parts_by[by].first));
        return;
    }
    putc('\n', out);
    if (zone->label)
        fprintf(out, "label %lu ", (unsigned long)zone->label);
    fprintf(out, "at %d,%d: %d x %d", zone->x, zone->y, zone->width, zone->height);
}

static void print_channels(FILE *out, const struct view *view)
{
    fprintf(out, "\n\n%-*s", CELL, "");
    for (int c = 0; c < view->nchannels; c++)
        fprintf(out, "%*s", CELL, channel_at(view, c)->name);
    putc('\n', out);
    for (int i = 0; i < columns_of(view); i++) {
        char name[NAME_NBYTES];
        struct stats_table_column column = column_at(name, view, i);
        if (shows(view, &column))
            text_row(out, view, &column);
        else if (column.kind == PLACE && columns[i - 1].kind == REAL)
            text_place(out, view, &columns[i]);
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

/* Prints the shortest decimal number that reads back as `value`. */
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

static void csv_row(FILE *out, const struct view *view, int c)
{
    char name[NAME_NBYTES];
    enum gi_stats_by by = view->stats->by;
    putc('\n', out);
    for (int i = parts_by[by].first; i < parts_by[by].end; i++)
        fprintf(out, "%ld,", zone_number(view, i));
    fputs(channel_at(view, c)->name, out);
    for (int i = 0; i < columns_of(view); i++) {
        struct stats_table_column column = column_at(name, view, i);
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

static void print_csv(FILE *out, struct view *view)
{
    char name[NAME_NBYTES];
    enum gi_stats_by by = view->stats->by;
    for (int i = parts_by[by].first; i < parts_by[by].end; i++)
        fprintf(out, "%s,", zone_name(view, i));
    fputs("channel", out);
    for (int i = 0; i < columns_of(view); i++)
        fprintf(out, ",%s", column_at(name, view, i).name);
    for (view->zone = 0; view->zone < zones_of(view); view->zone++)
        for (int c = 0; c < view->nchannels; c++)
            csv_row(out, view, c);
    putc('\n', out);
}

static json_t *channel_json(const struct view *view, int c)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(channel_at(view, c)->name));
    for (int i = 0; i < columns_of(view); i++) {
        char name[NAME_NBYTES];
        struct stats_table_column column = column_at(name, view, i);
        struct value value = value_at(view, &column, c);
        json_object_set_new(object, column.name,
                            value.none             ? json_null()
                            : column.kind == REAL  ? gi_json_real(value.real)
                            : column.kind == WHOLE ? json_integer((json_int_t)value.whole)
                                                   : json_integer(value.place));
    }
    /* The name of stddev before 0.1.0, for programs that read it. */
    json_object_set(object, "deviation", json_object_get(object, "stddev"));
    return object;
}

static json_t *channels_json(const struct view *view)
{
    json_t *channels = json_array();
    for (int c = 0; c < view->nchannels; c++)
        json_array_append_new(channels, channel_json(view, c));
    return channels;
}

static json_t *zone_json(const struct view *view)
{
    json_t *object = json_object();
    enum gi_stats_by by = view->stats->by;
    for (int i = parts_by[by].first; i < parts_by[by].end; i++)
        json_object_set_new(object, zone_name(view, i), json_integer(zone_number(view, i)));
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

/* Describes a row as a structured type of NumPy. First come the coordinates of the zone with 4
 * bytes each, and a name of 9 bytes. Then come integers and reals of 8 bytes, and coordinates of 4
 * bytes. The values -1 and NaN mean missing. */
static void npy_type(char *type, size_t nbytes, const struct view *view)
{
    static const char *const types[] = {GI_NPY_ORDER "u8", GI_NPY_ORDER "f8", GI_NPY_ORDER "i4"};
    char name[NAME_NBYTES];
    enum gi_stats_by by = view->stats->by;
    size_t used = (size_t)snprintf(type, nbytes, "[");
    for (int i = parts_by[by].first; i < parts_by[by].end; i++)
        used += (size_t)snprintf(type + used, nbytes - used, "('%s', '%s'), ", zone_name(view, i),
                                 types[PLACE]);
    used += (size_t)snprintf(type + used, nbytes - used, "('channel', 'S9')");
    for (int i = 0; i < columns_of(view); i++) {
        struct stats_table_column column = column_at(name, view, i);
        used += (size_t)snprintf(type + used, nbytes - used, ", ('%s', '%s')", column.name,
                                 types[column.kind]);
    }
    snprintf(type + used, nbytes - used, "]");
}

static enum gi_status npy_row(struct gi_sink *sink, const struct view *view, int c,
                              struct gi_err *err)
{
    static const size_t nbytes[] = {sizeof(uint64_t), sizeof(double), sizeof(int32_t)};
    const struct gi_stats_channel *channel = channel_at(view, c);
    char word[9] = "", name[NAME_NBYTES];
    enum gi_stats_by by = view->stats->by;
    enum gi_status status = GI_OK;
    for (int i = parts_by[by].first; i < parts_by[by].end && !status; i++) {
        int32_t number = (int32_t)zone_number(view, i);
        status = gi_sink_write(sink, &number, sizeof number, err);
    }
    memcpy(word, channel->name, strlen(channel->name));
    if (!status)
        status = gi_sink_write(sink, word, sizeof word, err);
    for (int i = 0; i < columns_of(view) && !status; i++) {
        struct stats_table_column column = column_at(name, view, i);
        status =
            gi_sink_write(sink, (const char *)channel + column.offset, nbytes[column.kind], err);
    }
    return status;
}

static enum gi_status write_npy(struct gi_sink *sink, struct view *view, struct gi_err *err)
{
    char type[(ALL_MAX + PARTS_MAX + 1) * (NAME_NBYTES + 16)];
    const uint64_t rows = (uint64_t)zones_of(view) * (uint64_t)view->nchannels;
    npy_type(type, sizeof type, view);
    enum gi_status status = gi_npy_head(sink, type, &rows, 1, err);
    for (view->zone = 0; view->zone < zones_of(view); view->zone++)
        for (int c = 0; c < view->nchannels && !status; c++)
            status = npy_row(sink, view, c, err);
    return status;
}

enum gi_status gi_stats_print(FILE *out, struct gi_sink *sink, enum gi_table_format format,
                              const struct gi_findings *report, struct gi_err *err)
{
    const struct gi_stats *stats = report->result;
    struct view view = {stats, gi_stats_channels(stats), stats->nchannels, report->params, report,
                        0};
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
    const struct gi_stats whole = {.npercentiles = p->percentiles.n};
    struct gi_stats_channel *channels = calloc((size_t)sums->nchannels + 1, sizeof *channels);
    if (!channels)
        return gi_fail(err, GI_E_MEMORY, "out of memory: --total");
    struct view view = {&whole, channels, sums->nchannels, p, &report, 0};
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
