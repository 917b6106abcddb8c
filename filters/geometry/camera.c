/* Reads the calibration of a camera (intrinsic matrix and distortion coefficients) by libyaml,
 * which also reads JSON, a subset of YAML.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/camera.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <yaml.h>

#include "filters/option.h"
#include "imgio/small.h"

enum { NUMBERS_MAX = 16 };

struct numbers {
    double v[NUMBERS_MAX];
    int n; /* count; NUMBERS_MAX + 1 if there are too many or a value is no number */
};

static bool is_text(const yaml_node_t *node, const char *text)
{
    return node && node->type == YAML_SCALAR_NODE &&
           strcmp((const char *)node->data.scalar.value, text) == 0;
}

/* Returns the value of the key in the mapping `in`, or NULL if there is none. If `nested` is set,
 * also searches mappings inside `in`. */
static yaml_node_t *find(yaml_document_t *document, yaml_node_t *in, const char *key, bool nested)
{
    yaml_node_t *found = NULL;
    if (!in || in->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *pair = in->data.mapping.pairs.start;
         pair < in->data.mapping.pairs.top && !found; pair++) {
        yaml_node_t *value = yaml_document_get_node(document, pair->value);
        if (is_text(yaml_document_get_node(document, pair->key), key))
            found = value;
        else if (nested)
            found = find(document, value, key, true);
    }
    return found;
}

static void gather(struct numbers *numbers, yaml_document_t *document, yaml_node_t *node)
{
    const char *end = "";
    if (numbers->n > NUMBERS_MAX || !node)
        return;
    if (node->type == YAML_MAPPING_NODE) {
        gather(numbers, document, find(document, node, "data", false));
    } else if (node->type == YAML_SEQUENCE_NODE) {
        for (yaml_node_item_t *item = node->data.sequence.items.start;
             item < node->data.sequence.items.top; item++)
            gather(numbers, document, yaml_document_get_node(document, *item));
    } else if (numbers->n == NUMBERS_MAX ||
               !gi_number_read(&numbers->v[numbers->n], (const char *)node->data.scalar.value,
                               &end) ||
               (*end && strcmp(end, ".") != 0)) { /* OpenCV writes floats without a fraction as
                                                     "0." */
        numbers->n = NUMBERS_MAX + 1;
    } else {
        numbers->n++;
    }
}

/* Returns the numbers of the first key that exists. If no key exists, n is 0. */
static struct numbers look_up(yaml_document_t *document, const char *const *keys)
{
    struct numbers numbers = {.n = 0};
    yaml_node_t *root = yaml_document_get_root_node(document), *node = NULL;
    for (; *keys && !node; keys++)
        node = find(document, root, *keys, true);
    gather(&numbers, document, node);
    return numbers;
}

static enum gi_status fill(struct gi_camera *camera, yaml_document_t *document, struct gi_err *err)
{
    static const char *const matrices[] = {"camera_matrix", "cameraMatrix", "mtx", "K", NULL};
    static const char *const coefficients[] = {
        "distortion_coefficients", "dist_coeffs", "distCoeffs", "dist", "D", NULL};
    struct numbers m = look_up(document, matrices), d = look_up(document, coefficients);
    if (m.n != 9 || !(m.v[0] > 0) || !(m.v[4] > 0))
        return gi_fail(err, GI_E_USAGE,
                       "--camera: want a camera_matrix of 3 x 3 numbers, its focal lengths above "
                       "0");
    if (d.n != 4 && d.n != 5 && d.n != 8)
        return gi_fail(
            err, GI_E_USAGE,
            "--camera: want distortion_coefficients, 4, 5 or 8 numbers: k1 k2 p1 p2, k3, "
            "k4 k5 k6");
    *camera = (struct gi_camera){.fx = m.v[0], .fy = m.v[4], .cx = m.v[2], .cy = m.v[5]};
    for (int i = 0; i < d.n; i++)
        *(i < 2 ? &camera->k[i] : i < 4 ? &camera->p[i - 2] : &camera->k[i - 2]) = d.v[i];
    return GI_OK;
}

static enum gi_status fail_parse(const yaml_parser_t *parser, struct gi_err *err)
{
    if (parser->error == YAML_MEMORY_ERROR)
        gi_small_check(NULL);
    return gi_fail(err, GI_E_USAGE, "--camera: line %zu: %s: want JSON or YAML",
                   parser->problem_mark.line + 1, parser->problem ? parser->problem : "damaged");
}

/* Refuses events that make a document expensive. The time of libyaml grows with the square of the
 * depth, and aliases turn a short text into a tree of any size. *depth is the current depth. */
static enum gi_status check_event(const yaml_event_t *event, int *depth, struct gi_err *err)
{
    size_t line = event->start_mark.line + 1;
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return gi_fail(err, GI_E_USAGE, "--camera: line %zu: an alias: want the value itself",
                       line);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        if (++*depth > GI_CAMERA_DEPTH_MAX)
            return gi_fail(err, GI_E_USAGE,
                           "--camera: line %zu: want at most %d levels of lists and mappings", line,
                           GI_CAMERA_DEPTH_MAX);
        return GI_OK;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        --*depth;
        return GI_OK;
    default:
        return GI_OK;
    }
}

/* Checks all events of the text before a document is built. */
static enum gi_status check_text(const char *text, struct gi_err *err)
{
    yaml_parser_t parser;
    yaml_event_t event;
    if (!yaml_parser_initialize(&parser))
        gi_small_check(NULL);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    enum gi_status status = GI_OK;
    int depth = 0;
    bool ended = false;
    while (!ended && !status) {
        if (!yaml_parser_parse(&parser, &event)) {
            status = fail_parse(&parser, err);
            break;
        }
        status = check_event(&event, &depth, err);
        ended = event.type == YAML_DOCUMENT_END_EVENT || event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return status;
}

enum gi_status gi_camera_read(struct gi_camera *camera, const char *text, struct gi_err *err)
{
    yaml_parser_t parser;
    yaml_document_t document;
    size_t nbytes = strlen(text);
    if (nbytes > GI_CAMERA_NBYTES_MAX)
        return gi_fail(err, GI_E_USAGE, "--camera: %zu bytes: want at most %d", nbytes,
                       GI_CAMERA_NBYTES_MAX);
    if (strncmp(text, "%YAML:", 6) == 0) /* a header by OpenCV, which is not valid YAML */
        text += strcspn(text, "\n");
    enum gi_status status = check_text(text, err);
    if (status)
        return status;
    if (!yaml_parser_initialize(&parser))
        gi_small_check(NULL);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    if (yaml_parser_load(&parser, &document)) {
        status = fill(camera, &document, err);
        yaml_document_delete(&document);
    } else {
        status = fail_parse(&parser, err);
    }
    yaml_parser_delete(&parser);
    return status;
}
