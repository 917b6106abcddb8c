/* Parses the requests and prints the answers of the bench programs.
 * SPDX-License-Identifier: MIT */
#include "tests/bench/request.h"

#include <stdio.h>
#include <string.h>

static const char *const types[] = {[GI_U8] = "u8", [GI_U16] = "u16", [GI_F32] = "f32", NULL};
static const char *const alphas[] = {[GI_ALPHA_PLAIN] = "plain", [GI_ALPHA_WEIGH] = "weigh", NULL};
static const char *const interpolations[] = {
    [GI_NEAREST] = "nearest", [GI_LINEAR] = "linear", [GI_CUBIC] = "cubic", NULL};
static const char *const filters[] = {[GI_RESAMPLE_NEAREST] = "nearest",
                                      [GI_RESAMPLE_BOX] = "box",
                                      [GI_RESAMPLE_AREA] = "area",
                                      [GI_RESAMPLE_TRIANGLE] = "triangle",
                                      [GI_RESAMPLE_HAMMING] = "hamming",
                                      [GI_RESAMPLE_HERMITE] = "hermite",
                                      [GI_RESAMPLE_MITCHELL] = "mitchell",
                                      [GI_RESAMPLE_CATROM] = "catrom",
                                      [GI_RESAMPLE_LANCZOS2] = "lanczos2",
                                      [GI_RESAMPLE_LANCZOS3] = "lanczos3",
                                      NULL};
static const char *const contents[] = {[BENCH_RANDOM] = "random",
                                       [BENCH_CONSTANT] = "constant",
                                       [BENCH_PHOTO] = "photo",
                                       [BENCH_NOISE] = "noise",
                                       [BENCH_CHECKERBOARD] = "checkerboard",
                                       [BENCH_SPIRAL] = "spiral",
                                       NULL};

static int index_of(const char *const *names, const char *name)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static enum gi_status refuse(struct gi_err *err, const char *what)
{
    return gi_fail(err, GI_E_USAGE, "request: %s", what);
}

/* Checks the shape and the type of an image for work that no primitive does. */
static enum gi_status check_pattern(const struct bench_request *request, struct gi_err *err)
{
    int64_t pixels = (int64_t)request->picture.width * request->picture.height;
    bool bodies = request->work == BENCH_BODIES;
    if (request->by != 2 && request->by != 4 && request->by != 8)
        return refuse(err, "by: want 2, 4 or 8");
    if (request->work < BENCH_MATRIX || request->work >= BENCH_DOUBLES)
        return GI_OK;
    if (request->type != GI_F32 || request->channels != (bodies ? 4 : 1))
        return refuse(err, bodies ? "want f32 RGBA" : "want f32 gray");
    if (request->work == BENCH_MATRIX && pixels < BENCH_MATRIX_SIDE * BENCH_MATRIX_SIDE)
        return refuse(err, "want 128 x 128 pixels or more");
    return GI_OK;
}

static enum gi_status parse(struct bench_request *request, json_t *json, struct gi_err *err)
{
    const char *work = "gaussian", *type = "u8", *input = "random", *save = "", *alpha = "weigh";
    const char *way = "", *filter = "triangle", *interpolation = "linear", *operation = "";
    int peers = 1, ways = 0;
    /* also clears the padding, because requests are compared as bytes */
    memset(request, 0, sizeof *request);
    request->picture.width = request->picture.height = 8192;
    request->k = 5;
    request->channels = request->threads = 1;
    request->connectivity = 8;
    request->runs = 15;
    request->degrees = 7;
    request->by = 2;
    if (json_unpack(
            json,
            "{s?s, s?s, s?s, s?s, s?s, s?i, s?i, s?i, s?i, s?i, s?i, s?i, s?b, s?b, s?s, s?i, s?s, "
            "s?i, s?s, s?s, s?i}",
            "work", &work, "type", &type, "input", &input, "save", &save, "alpha", &alpha, "width",
            &request->picture.width, "height", &request->picture.height, "k", &request->k,
            "channels", &request->channels, "connectivity", &request->connectivity, "threads",
            &request->threads, "runs", &request->runs, "peers", &peers, "ways", &ways, "way", &way,
            "degrees", &request->degrees, "interpolation", &interpolation, "to", &request->to,
            "filter", &filter, "operation", &operation, "by", &request->by))
        return refuse(err, "a member has the wrong type");
    int w = bench_work_of(work), t = index_of(types, type), c = index_of(contents, input);
    int a = index_of(alphas, alpha), f = index_of(filters, filter),
        i = index_of(interpolations, interpolation);
    if (w < 0 || t < 0 || c < 0 || a < 0 || f < 0 || i < 0)
        return refuse(err, "unknown work, type, input, alpha, filter or interpolation");
    request->filter = (enum gi_resample_filter)f;
    if (request->to == 0)
        request->to = request->picture.width > 1 ? request->picture.width / 2 : 1;
    request->peers = peers != 0;
    request->ways = ways != 0;
    request->interpolation = (enum gi_interpolation)i;
    snprintf(request->way, sizeof request->way, "%s", way);
    request->work = (enum bench_work)w;
    request->type = (enum gi_type)t;
    request->alpha = request->channels % 2 ? GI_ALPHA_PLAIN : (enum gi_alpha_rule)a;
    request->picture.content = (enum bench_content)c;
    if (request->k < 1 || request->k > BENCH_K_MAX || request->k % 2 == 0 ||
        (w == BENCH_DENSE && request->k > BENCH_DENSE_MAX))
        return refuse(err, "k is out of range");
    if (request->channels < 1 || request->channels > 4 || request->picture.width < 1 ||
        request->picture.height < 1 || request->runs < 1 || request->threads < 1 ||
        request->to < 1 || bench_dst_shape(request).height < 1)
        return refuse(err, "a number is out of range");
    if (check_pattern(request, err))
        return err->status;
    if ((w == BENCH_TRANSPOSE || w == BENCH_TURN_90) &&
        request->picture.width != request->picture.height)
        return refuse(err, "want a square image");
    if (snprintf(request->operation, sizeof request->operation, "%s", operation) >=
        (int)sizeof request->operation)
        return refuse(err, "operation: too long");
    if (snprintf(request->save, sizeof request->save, "%s", save) >= (int)sizeof request->save)
        return refuse(err, "save: too long a path");
    return GI_OK;
}

void bench_log_time(json_t *object, const char *name, double us)
{
    json_t *list = json_object_get(object, name);
    if (!list) {
        list = json_array();
        json_object_set_new(object, name, list);
    }
    json_array_append_new(list, json_real(us));
}

int bench_serve(void *self, bench_answer_fn *answer)
{
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        struct bench_request request;
        struct gi_err err = {0};
        json_t *json = json_loads(line, 0, NULL), *object = json_object();
        if (!json)
            refuse(&err, "not JSON");
        else if (parse(&request, json, &err) == GI_OK)
            answer(self, object, &request, &err);
        if (err.status)
            json_object_set_new(object, "error", json_string(err.text));
        json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
        putchar('\n');
        fflush(stdout);
        json_decref(object);
        json_decref(json);
    }
    return 0;
}
