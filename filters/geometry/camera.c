/* A camera's calibration, by libyaml: JSON is YAML too.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/camera.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <yaml.h>

#include "filters/option.h"

enum { NUMBERS_MAX = 16, DEPTH_MAX = 8 };

struct numbers {
    double v[NUMBERS_MAX];
    int n; /* one more than NUMBERS_MAX: too many, or what is none */
};

static bool is_text(const yaml_node_t *node, const char *text)
{
    return node && node->type == YAML_SCALAR_NODE &&
           strcmp((const char *)node->data.scalar.value, text) == 0;
}

/* What stands under the key, anywhere in the document; NULL: nothing. */
static yaml_node_t *find(yaml_document_t *document, yaml_node_t *in, const char *key, int depth)
{
    yaml_node_t *found = NULL;
    if (!in || in->type != YAML_MAPPING_NODE || depth == DEPTH_MAX)
        return NULL;
    for (yaml_node_pair_t *pair = in->data.mapping.pairs.start;
         pair < in->data.mapping.pairs.top && !found; pair++) {
        yaml_node_t *value = yaml_document_get_node(document, pair->value);
        found = is_text(yaml_document_get_node(document, pair->key), key)
                    ? value
                    : find(document, value, key, depth + 1);
    }
    return found;
}

static void gather(struct numbers *numbers, yaml_document_t *document, yaml_node_t *node, int depth)
{
    const char *end = "";
    if (numbers->n > NUMBERS_MAX || depth == DEPTH_MAX || !node)
        return;
    if (node->type == YAML_MAPPING_NODE) {
        gather(numbers, document, find(document, node, "data", DEPTH_MAX - 1), depth + 1);
    } else if (node->type == YAML_SEQUENCE_NODE) {
        for (yaml_node_item_t *item = node->data.sequence.items.start;
             item < node->data.sequence.items.top; item++)
            gather(numbers, document, yaml_document_get_node(document, *item), depth + 1);
    } else if (numbers->n == NUMBERS_MAX ||
               !gi_number_read(&numbers->v[numbers->n], (const char *)node->data.scalar.value,
                               &end) ||
               (*end && strcmp(end, ".") != 0)) { /* OpenCV writes "0." */
        numbers->n = NUMBERS_MAX + 1;
    } else {
        numbers->n++;
    }
}

/* The numbers under the first key that there is; none: n = 0. */
static struct numbers look_up(yaml_document_t *document, const char *const *keys)
{
    struct numbers numbers = {.n = 0};
    yaml_node_t *root = yaml_document_get_root_node(document), *node = NULL;
    for (; *keys && !node; keys++)
        node = find(document, root, *keys, 0);
    gather(&numbers, document, node, 0);
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

enum gi_status gi_camera_read(struct gi_camera *camera, const char *text, struct gi_err *err)
{
    yaml_parser_t parser;
    yaml_document_t document;
    if (!yaml_parser_initialize(&parser))
        return gi_fail(err, GI_E_MEMORY, "out of memory: a camera");
    if (strncmp(text, "%YAML:", 6) == 0) /* as OpenCV writes it, and YAML does not know it */
        text += strcspn(text, "\n");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    enum gi_status status;
    if (yaml_parser_load(&parser, &document)) {
        status = fill(camera, &document, err);
        yaml_document_delete(&document);
    } else {
        status = gi_fail(err, GI_E_USAGE, "--camera: line %zu: %s: want JSON or YAML",
                         parser.problem_mark.line + 1, parser.problem ? parser.problem : "damaged");
    }
    yaml_parser_delete(&parser);
    return status;
}
