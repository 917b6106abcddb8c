/* Writes tables of components and points. Rows are printed one by one, because there may be
 * millions.
 * SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/json.h"
#include "cli/tables/extract_outputs.h"
#include "cli/tables/number.h"
#include "imgio/imgio.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/npy.h"

enum { LINE = 4096, POINTS_A_WRITE = 4096 };

/* A column, with its name in CSV, its name in JSON together with the JSON text before and after the
 * name, and the power to which its values contain the unit of length. The unit of length is
 * appended to both names. */
#define MOMENT(name)                                                                               \
    {                                                                                              \
        name, ", \"" name, "\": ", 0, MOMENTS                                                      \
    }
enum part { ALWAYS, DESCRIPTORS, MOMENTS }; /* the options that add columns */
static const struct extract_table_column {
    const char *name, *json, *after;
    int power;
    enum part part;
} columns[] = {
    {"label", "{\"label", "\": ", 0, ALWAYS},
    {"area", ", \"area", "\": ", 2, ALWAYS},
    {"bbox_x", ", \"bbox\": [", "", 0, ALWAYS},
    {"bbox_y", ", ", "", 0, ALWAYS},
    {"bbox_width", ", ", "", 0, ALWAYS},
    {"bbox_height", ", ", "", 0, ALWAYS},
    {"centroid_x", "], \"centroid", "\": [", 1, ALWAYS},
    {"centroid_y", ", ", "", 1, ALWAYS},
    {"perimeter", "], \"perimeter", "\": ", 1, ALWAYS},
    {"mean", ", \"mean", "\": ", 0, ALWAYS},
    {"stddev", ", \"stddev", "\": ", 0, ALWAYS},
    {"min", ", \"min", "\": ", 0, ALWAYS},
    {"max", ", \"max", "\": ", 0, ALWAYS},
    {"circularity", ", \"circularity", "\": ", 0, DESCRIPTORS},
    {"orientation_deg", ", \"orientation_deg", "\": ", 0, DESCRIPTORS},
    {"major_axis", ", \"major_axis", "\": ", 1, DESCRIPTORS},
    {"minor_axis", ", \"minor_axis", "\": ", 1, DESCRIPTORS},
    {"eccentricity", ", \"eccentricity", "\": ", 0, DESCRIPTORS},
    {"solidity", ", \"solidity", "\": ", 0, DESCRIPTORS},
    {"feret_diameter", ", \"feret_diameter", "\": ", 1, DESCRIPTORS},
    MOMENT("mu20"),
    MOMENT("mu11"),
    MOMENT("mu02"),
    MOMENT("mu30"),
    MOMENT("mu21"),
    MOMENT("mu12"),
    MOMENT("mu03"),
    MOMENT("nu20"),
    MOMENT("nu11"),
    MOMENT("nu02"),
    MOMENT("nu30"),
    MOMENT("nu21"),
    MOMENT("nu12"),
    MOMENT("nu03"),
    MOMENT("hu1"),
    MOMENT("hu2"),
    MOMENT("hu3"),
    MOMENT("hu4"),
    MOMENT("hu5"),
    MOMENT("hu6"),
    MOMENT("hu7"),
};

enum { COLUMNS = sizeof columns / sizeof *columns };

enum { BEFORE_MOMENTS = COLUMNS - 3 * GI_MOMENTS };

/* Fills in the values of a component, in the order of the columns. Integers are below 2^53. */
static void fill(double values[COLUMNS], const struct gi_region *r)
{
    const struct gi_shape_descriptors *s = &r->shape;
    const double all[BEFORE_MOMENTS] = {r->label,      (double)r->area,  r->x,
                                        r->y,          r->width,         r->height,
                                        r->centroid_x, r->centroid_y,    r->perimeter,
                                        r->mean,       r->stddev,        r->min,
                                        r->max,        r->circularity,   s->orientation_deg,
                                        s->major_axis, s->minor_axis,    s->eccentricity,
                                        s->solidity,   s->feret_diameter};
    memcpy(values, all, sizeof all);
    memcpy(values + BEFORE_MOMENTS, r->moments.mu, sizeof r->moments.mu);
    memcpy(values + BEFORE_MOMENTS + GI_MOMENTS, r->moments.nu, sizeof r->moments.nu);
    memcpy(values + BEFORE_MOMENTS + 2 * GI_MOMENTS, r->moments.hu, sizeof r->moments.hu);
}

/* Copies text without its terminating zero. Returns the end of the copy. */
static char *put(char *to, const char *words)
{
    size_t n = strlen(words);
    memcpy(to, words, n);
    return to + n;
}

/* Appends "_um" or "_um2" for a column that has a unit of length. Returns the end. */
static char *put_unit(char *to, const struct extract_table_column *column,
                      const struct gi_extract_view *view)
{
    if (!column->power || !*view->unit)
        return to;
    return put(put(put(to, "_"), view->unit), column->power == 2 ? "2" : "");
}

static bool is_shown(const struct extract_table_column *column, const struct gi_extract *extract)
{
    return column->part == ALWAYS || (column->part == DESCRIPTORS && extract->shapes) ||
           (column->part == MOMENTS && extract->moments);
}

static char *put_head(char *to, const struct gi_extract_view *view)
{
    for (int i = 0; i < COLUMNS; i++)
        if (is_shown(&columns[i], view->extract)) {
            to = put_unit(put(to, columns[i].name), &columns[i], view);
            *to++ = ',';
        }
    to[-1] = '\n';
    return to;
}

static char *put_row(char *to, const struct gi_region *region, const struct gi_extract_view *view,
                     bool json)
{
    double values[COLUMNS], size = view->pixel_size;
    fill(values, region);
    for (int i = 0; i < COLUMNS; i++) {
        double scale = columns[i].power == 2 ? size * size : columns[i].power ? size : 1;
        if (!is_shown(&columns[i], view->extract))
            continue;
        if (json && *columns[i].after)
            to = put(put_unit(put(to, columns[i].json), &columns[i], view), columns[i].after);
        else if (json)
            to = put(to, columns[i].json);
        to = gi_number_real(to, values[i] * scale, json ? "null" : "");
        if (!json)
            *to++ = ',';
    }
    if (json)
        return put(to, "}");
    to[-1] = '\n';
    return to;
}

static enum gi_status json_head(struct gi_sink *sink, const struct gi_extract_view *view,
                                struct gi_err *err)
{
    char threshold[GI_NUMBER_NBYTES];
    double value = (double)view->extract->threshold;
    *(view->masked ? put(threshold, "null") : gi_number_real(threshold, value, "null")) = '\0';
    char *quoted = gi_json_dump(gi_json_text(view->file), JSON_ENCODE_ANY);
    enum gi_status status = gi_sink_printf(
        sink, err,
        "{\"file\": %s, \"width\": %d, \"height\": %d, \"threshold\": %s, \"connectivity\": %d, "
        "\"regions\": [",
        quoted, view->image->width, view->image->height, threshold, view->connectivity);
    free(quoted);
    return status;
}

enum gi_status gi_extract_table(struct gi_sink *sink, const struct gi_extract_view *view,
                                enum gi_table_format format, struct gi_err *err)
{
    const struct gi_extract *extract = view->extract;
    enum gi_status status = GI_OK;
    char line[LINE], *end = line;
    if (format == GI_TABLE_CSV)
        status = gi_sink_write(sink, line, (size_t)(put_head(line, view) - line), err);
    else if (format == GI_TABLE_JSON)
        status = json_head(sink, view, err);
    for (uint32_t i = 0; i < extract->n && !status; i++) {
        struct gi_region region = gi_extract_region(extract, extract->order[i]);
        end = format == GI_TABLE_JSON ? put(line, i ? ",\n" : "\n") : line;
        end = put_row(end, &region, view, format != GI_TABLE_CSV);
        if (format == GI_TABLE_JSONL)
            end = put(end, "\n");
        status = gi_sink_write(sink, line, (size_t)(end - line), err);
    }
    if (!status && format == GI_TABLE_JSON)
        status = gi_sink_printf(sink, err, "%s]}\n", extract->n ? "\n" : "");
    return status;
}

static enum gi_status points_npy(struct gi_sink *sink, const struct gi_pixel_list *points,
                                 struct gi_err *err)
{
    static const char type[] = "[('x', '" GI_NPY_ORDER "u4'), ('y', '" GI_NPY_ORDER
                               "u4'), ('value', '" GI_NPY_ORDER "f4')]";
    struct {
        uint32_t x, y;
        float value;
    } rows[POINTS_A_WRITE];
    enum gi_status status = gi_npy_head(sink, type, &points->n, 1, err);
    for (uint64_t i = 0; i < points->n && !status;) {
        size_t n = 0;
        for (; n < POINTS_A_WRITE && i < points->n; n++, i++) {
            rows[n].x = points->x[i];
            rows[n].y = points->y[i];
            rows[n].value = points->value[i];
        }
        status = gi_sink_write(sink, rows, n * sizeof *rows, err);
    }
    return status;
}

enum gi_status gi_extract_points(struct gi_sink *sink, const struct gi_extract_view *view,
                                 const char *path, struct gi_err *err)
{
    const struct gi_pixel_list *points = &view->extract->points;
    if (gi_npy_is(path))
        return points_npy(sink, points, err);
    enum gi_status status = gi_sink_printf(sink, err, "x,y,value\n");
    for (uint64_t i = 0; i < points->n && !status; i++) {
        char line[4 * GI_NUMBER_NBYTES], *end = gi_number_whole(line, points->x[i]);
        *end++ = ',';
        end = gi_number_whole(end, points->y[i]);
        *end++ = ',';
        double value = (double)points->value[i];
        end = gi_number_real(end, value, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        *end++ = '\n';
        status = gi_sink_write(sink, line, (size_t)(end - line), err);
    }
    return status;
}
