/* Writes contours point by point, because there may be millions.
 * SPDX-License-Identifier: MIT */
#include "cli/tables/contours_table.h"

#include <stdlib.h>

#include "cli/json.h"

/* The holes of each outer contour: next[i] is the hole after contour i, or -1. */
struct holes {
    int64_t *next;
};

static enum gi_status find_holes(struct holes *holes, const struct gi_contours *all,
                                 struct gi_err *err)
{
    int64_t *last = malloc(((size_t)all->n + 1) * sizeof *last); /* of each outer contour */
    holes->next = malloc(((size_t)all->n + 1) * sizeof *holes->next);
    if (!last || !holes->next) {
        free(last);
        return gi_fail(err, GI_E_MEMORY, "out of memory: %llu contours",
                       (unsigned long long)all->n);
    }
    for (int64_t i = 0; i < (int64_t)all->n; i++) {
        const struct gi_contour *contour = &all->contours[i];
        holes->next[i] = -1;
        last[i] = i;
        if (!contour->hole)
            continue;
        holes->next[last[contour->parent]] = i;
        last[contour->parent] = i;
    }
    free(last);
    return GI_OK;
}

/* Writes the points of a contour, each with the `format` of x and y. With `reverse` the first point
 * is the same, and the others are in reverse order. */
static enum gi_status put_points(struct gi_sink *sink, const struct gi_contours *all, int64_t i,
                                 bool reverse, const char *format, const char *between,
                                 struct gi_err *err)
{
    const struct gi_contour *contour = &all->contours[i];
    const struct gi_contour_point *points = &all->points[contour->first];
    enum gi_status status = GI_OK;
    for (uint64_t j = 0; j < contour->n && !status; j++) {
        const struct gi_contour_point *p = &points[reverse && j ? contour->n - j : j];
        char text[64]; /* two numbers of up to 11 characters and their punctuation */
        int nbytes = snprintf(text, sizeof text, format, j ? between : "", p->x, p->y);
        status = gi_sink_write(sink, text, (size_t)nbytes, err);
    }
    return status;
}

static enum gi_status write_csv(struct gi_sink *sink, const struct gi_contours *all,
                                struct gi_err *err)
{
    enum gi_status status = gi_sink_printf(sink, err, "contour,parent,hole,label,points\n");
    for (int64_t i = 0; i < (int64_t)all->n && !status; i++) {
        const struct gi_contour *contour = &all->contours[i];
        char parent[24] = "";
        if (contour->parent >= 0)
            snprintf(parent, sizeof parent, "%lld", (long long)contour->parent + 1);
        status = gi_sink_printf(sink, err, "%lld,%s,%d,%lu,\"", (long long)i + 1, parent,
                                contour->hole, (unsigned long)contour->label);
        if (!status)
            status = put_points(sink, all, i, false, "%s%d,%d", " ", err);
        if (!status)
            status = gi_sink_printf(sink, err, "\"\n");
    }
    return status;
}

/* Writes a ring of a polygon, closed by its first point. */
static enum gi_status put_ring(struct gi_sink *sink, const struct gi_contours *all, int64_t i,
                               struct gi_err *err)
{
    const struct gi_contour_point *first = &all->points[all->contours[i].first];
    enum gi_status status = gi_sink_printf(sink, err, "[");
    if (!status)
        status = put_points(sink, all, i, true, "%s[%d, %d]", ", ", err);
    return status ? status : gi_sink_printf(sink, err, ", [%d, %d]]", first->x, first->y);
}

static enum gi_status put_geometry(struct gi_sink *sink, const struct gi_contours *all, int64_t i,
                                   const struct holes *holes, struct gi_err *err)
{
    const struct gi_contour *contour = &all->contours[i];
    enum gi_status status = GI_OK;
    if (contour->n < 3) {
        status = gi_sink_printf(sink, err,
                                contour->n == 1 ? "{\"type\": \"Point\", \"coordinates\": "
                                                : "{\"type\": \"LineString\", \"coordinates\": [");
        if (!status)
            status = put_points(sink, all, i, false, "%s[%d, %d]", ", ", err);
        return status ? status : gi_sink_printf(sink, err, contour->n == 1 ? "}" : "]}");
    }
    status = gi_sink_printf(sink, err, "{\"type\": \"Polygon\", \"coordinates\": [");
    if (!status)
        status = put_ring(sink, all, i, err);
    for (int64_t h = holes->next[i]; h >= 0 && !status; h = holes->next[h])
        if (all->contours[h].n >= 3) {
            status = gi_sink_printf(sink, err, ", ");
            if (!status)
                status = put_ring(sink, all, h, err);
        }
    return status ? status : gi_sink_printf(sink, err, "]}");
}

static enum gi_status write_geojson(struct gi_sink *sink, const struct gi_contours_view *view,
                                    const struct holes *holes, struct gi_err *err)
{
    const struct gi_contours *all = view->contours;
    char *file = gi_json_dump(gi_json_text(view->file), JSON_ENCODE_ANY);
    enum gi_status status =
        gi_sink_printf(sink, err,
                       "{\"type\": \"FeatureCollection\", \"file\": %s, \"width\": %d, \"height\": "
                       "%d, \"features\": [",
                       file, view->image->width, view->image->height);
    free(file);
    bool first = true;
    for (int64_t i = 0; i < (int64_t)all->n && !status; i++) {
        const struct gi_contour *contour = &all->contours[i];
        if (contour->hole)
            continue;
        status = gi_sink_printf(sink, err,
                                "%s\n{\"type\": \"Feature\", \"properties\": {\"contour\": %lld, "
                                "\"label\": %lu}, \"geometry\": ",
                                first ? "" : ",", (long long)i + 1, (unsigned long)contour->label);
        first = false;
        if (!status)
            status = put_geometry(sink, all, i, holes, err);
        if (!status)
            status = gi_sink_printf(sink, err, "}");
    }
    return status ? status : gi_sink_printf(sink, err, "%s]}\n", first ? "" : "\n");
}

static enum gi_status put_path(struct gi_sink *sink, const struct gi_contours *all, int64_t i,
                               struct gi_err *err)
{
    enum gi_status status = gi_sink_printf(sink, err, "M");
    if (!status)
        status = put_points(sink, all, i, false, "%s%d.5,%d.5", "L", err);
    return status ? status : gi_sink_printf(sink, err, "Z");
}

static enum gi_status write_svg(struct gi_sink *sink, const struct gi_contours_view *view,
                                const struct holes *holes, struct gi_err *err)
{
    const struct gi_contours *all = view->contours;
    const int width = view->image->width, height = view->image->height;
    enum gi_status status =
        gi_sink_printf(sink, err,
                       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                       "viewBox=\"0 0 %d %d\">\n<g fill=\"#4a90d9\" fill-opacity=\"0.4\" "
                       "fill-rule=\"evenodd\" stroke=\"#000\" stroke-linejoin=\"round\">\n",
                       width, height, width, height);
    for (int64_t i = 0; i < (int64_t)all->n && !status; i++) {
        const struct gi_contour *contour = &all->contours[i];
        if (contour->hole)
            continue;
        status = gi_sink_printf(sink, err, "<path id=\"contour-%lld\" data-label=\"%lu\" d=\"",
                                (long long)i + 1, (unsigned long)contour->label);
        for (int64_t h = i; h >= 0 && !status; h = holes->next[h])
            status = put_path(sink, all, h, err);
        if (!status)
            status = gi_sink_printf(sink, err, "\"/>\n");
    }
    return status ? status : gi_sink_printf(sink, err, "</g>\n</svg>\n");
}

enum gi_status gi_contours_write(struct gi_sink *sink, const struct gi_contours_view *view,
                                 enum gi_contours_format format, struct gi_err *err)
{
    struct holes holes = {NULL};
    if (format == GI_CONTOURS_CSV)
        return write_csv(sink, view->contours, err);
    enum gi_status status = find_holes(&holes, view->contours, err);
    if (!status)
        status = format == GI_CONTOURS_SVG ? write_svg(sink, view, &holes, err)
                                           : write_geojson(sink, view, &holes, err);
    free(holes.next);
    return status;
}
