/* Tables of regions and points. Rows are printed one by one: there may be millions.
 * SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/commands/extract.h"
#include "cli/json.h"
#include "cli/tables/number.h"
#include "imgio/imgio.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/npy.h"

enum { LINE = 1024, REALS = 7, POINTS_A_WRITE = 4096 };

/* Copies text without its end mark. Returns the end. */
static char *put(char *to, const char *words)
{
    size_t n = strlen(words);
    memcpy(to, words, n);
    return to + n;
}

static char *put_csv(char *to, const struct gi_region *r)
{
    const uint64_t whole[] = {r->label, r->area, r->x, r->y, r->width, r->height};
    const double reals[REALS] = {r->centroid_x, r->centroid_y, r->perimeter, r->mean,
                                 r->stddev,     r->min,        r->max};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        to = gi_number_whole(to, whole[i]);
        *to++ = ',';
    }
    for (int i = 0; i < REALS; i++) {
        to = gi_number_real(to, reals[i], "");
        *to++ = i < REALS - 1 ? ',' : '\n';
    }
    return to;
}

static char *put_json(char *to, const struct gi_region *r)
{
    const struct {
        const char *before;
        uint64_t value;
    } whole[] = {{"{\"label\": ", r->label}, {", \"area\": ", r->area},
                 {", \"bbox\": [", r->x},    {", ", r->y},
                 {", ", r->width},           {", ", r->height}};
    const struct {
        const char *before;
        double value;
    } reals[] = {{"], \"centroid\": [", r->centroid_x},
                 {", ", r->centroid_y},
                 {"], \"perimeter\": ", r->perimeter},
                 {", \"mean\": ", r->mean},
                 {", \"stddev\": ", r->stddev},
                 {", \"min\": ", r->min},
                 {", \"max\": ", r->max}};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        to = gi_number_whole(put(to, whole[i].before), whole[i].value);
    for (size_t i = 0; i < REALS; i++)
        to = gi_number_real(put(to, reals[i].before), reals[i].value, "null");
    return put(to, "}");
}

static enum gi_status json_head(struct gi_sink *sink, const struct gi_extract_view *view,
                                struct gi_err *err)
{
    char threshold[GI_NUMBER_NBYTES];
    double value = (double)view->extract->threshold;
    *(view->masked ? put(threshold, "null") : gi_number_real(threshold, value, "null")) = '\0';
    char *quoted = gi_json_dump(gi_json_text(view->file), JSON_ENCODE_ANY);
    if (!quoted)
        return gi_fail(err, GI_E_MEMORY, "out of memory: JSON");
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
    static const char csv_head[] = "label,area,bbox_x,bbox_y,bbox_width,bbox_height,centroid_x,"
                                   "centroid_y,perimeter,mean,stddev,min,max\n";
    const struct gi_extract *extract = view->extract;
    enum gi_status status = GI_OK;
    if (format == GI_TABLE_CSV)
        status = gi_sink_write(sink, csv_head, strlen(csv_head), err);
    else if (format == GI_TABLE_JSON)
        status = json_head(sink, view, err);
    for (uint32_t i = 0; i < extract->n && !status; i++) {
        struct gi_region region = gi_extract_region(extract, extract->order[i]);
        char line[LINE], *end = line;
        if (format == GI_TABLE_CSV)
            end = put_csv(end, &region);
        else if (format == GI_TABLE_JSONL)
            end = put(put_json(end, &region), "\n");
        else
            end = put_json(put(end, i ? ",\n" : "\n"), &region);
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
