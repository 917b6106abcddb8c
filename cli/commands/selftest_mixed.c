/* The mixed batch of gpuimg selftest: pieces of work with different operations, options, sizes,
 * sample types and channels on several queues of a device at once.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/commands/selftest.h"
#include "filters/pipeline.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

enum {
    /* Pieces per operation; more if few operations are named, see PIECES_LEAST. */
    PIECES_OF_ONE = 4,
    PIECES_LEAST = 64,
    QUEUES = 8,
    SIDE_MAX = 300,
    TRIES = 40,         /* maximum number of random shapes to try until the operation accepts one */
    WORK_MAX = 5000000, /* maximum multiply-adds per piece, by struct gi_cost */
};

/* One operation with its options and images, and the result of the reference. */
struct selftest_mixed_piece {
    const struct gi_filter *filter;
    void *params;
    char text[128]; /* its options, as in struct gi_variant */
    struct gi_image src, others[GI_SOURCES_MAX - 1];
    int nothers;
    struct gi_pipeline *pipeline;
    struct gi_image want; /* of an analysis: in `result` */
    void *result;
};

struct gi_mixed {
    struct selftest_mixed_piece *pieces;
    int n;
    struct gi_queue *reference;
    const struct gi_filter *filter; /* operation whose pieces are being chosen */
    int met;                        /* number of its variants seen so far */
    uint64_t seed;
};

/* ---- pieces ---- */

/* Returns a random number from 0 to n - 1. */
static int draw(struct gi_mixed *mixed, int n)
{
    return (int)(gi_selftest_random(&mixed->seed) % (uint64_t)n);
}

static void free_piece(struct selftest_mixed_piece *piece)
{
    gi_pipeline_free(&piece->pipeline);
    if (piece->result && piece->filter->analysis.free)
        piece->filter->analysis.free(piece->result);
    free(piece->result);
    gi_image_free(&piece->want);
    gi_image_free(&piece->src);
    for (int i = 0; i < GI_SOURCES_MAX - 1; i++)
        gi_image_free(&piece->others[i]);
    free(piece->params);
    *piece = (struct selftest_mixed_piece){0};
}

/* Changes about half of the numeric options (sizes, radii) to random values, at most the geometric
 * mean of the ends of the range. An option keeps its old value if the new value is incompatible
 * with other options. */
static void vary(struct gi_mixed *mixed, struct selftest_mixed_piece *piece)
{
    const struct gi_filter *filter = piece->filter;
    void *before = gi_small_alloc(filter->params_nbytes);
    for (const struct gi_option *row = filter->options; row->name; row++) {
        char text[32];
        bool number = row->type == GI_OPT_ODD || row->type == GI_OPT_REAL;
        if (!number || row->min <= 0 || draw(mixed, 2))
            continue;
        double v = row->min * pow(row->max / row->min, draw(mixed, 64) / 128.0);
        size_t used = strlen(piece->text), room = sizeof piece->text - used;
        snprintf(text, sizeof text, "%.9g", row->type == GI_OPT_ODD ? 2 * floor(v / 2) + 1 : v);
        memcpy(before, piece->params, filter->params_nbytes);
        if (gi_option_read(piece->params, row, text, NULL) ||
            (filter->check && filter->check(piece->params, NULL)))
            memcpy(piece->params, before, filter->params_nbytes);
        else
            snprintf(piece->text + used, room, " --%s %s", row->name, text);
    }
    free(before);
}

/* Copies a variant, which is valid only during the walk. Where an option of the variant names an
 * image, the copy has a static string. */
static void copy_variant(struct gi_mixed *mixed, struct selftest_mixed_piece *piece,
                         const struct gi_variant *variant)
{
    const struct gi_filter *filter = mixed->filter;
    *piece = (struct selftest_mixed_piece){.filter = filter,
                                           .params = gi_small_alloc(filter->params_nbytes)};
    memcpy(piece->params, variant->params, filter->params_nbytes);
    memcpy(piece->text, variant->text, sizeof piece->text);
    for (const struct gi_option *row = filter->options; row->name; row++)
        if (row->type == GI_OPT_IMAGE && gi_option_path(row, piece->params))
            gi_option_read(piece->params, row, "image.png", NULL);
    piece->nothers = gi_filter_others(filter, piece->params);
    vary(mixed, piece);
}

/* Called for each variant. Each variant has the same chance of being kept (reservoir sampling). */
static bool keep_variant(void *arg, const struct gi_variant *variant)
{
    struct gi_mixed *mixed = arg;
    struct selftest_mixed_piece *piece = &mixed->pieces[mixed->n];
    if (variant->heavy || draw(mixed, ++mixed->met))
        return true;
    free_piece(piece);
    copy_variant(mixed, piece, variant);
    return true;
}

/* Returns whether the operation accepts a first source of this shape and would be fast enough. */
static bool takes(const struct selftest_mixed_piece *piece, const struct gi_image *shape)
{
    struct gi_image sources[GI_SOURCES_MAX] = {*shape, *shape, *shape, *shape};
    struct gi_plan plan;
    if (gi_plan_make(&plan, piece->filter, piece->params, sources, 1 + piece->nothers, NULL))
        return false;
    double work = (plan.cost.fmas + plan.cost.other) * shape->width * shape->height;
    gi_plan_free(&plan);
    return work * shape->channels <= WORK_MAX;
}

static enum gi_status run_piece(const struct selftest_mixed_piece *piece, struct gi_queue *queue,
                                struct gi_image *dst, void *result, struct gi_err *err)
{
    struct gi_side side = {.others = piece->others, .result = result};
    return gi_pipeline_run(piece->pipeline, queue, piece->filter->run ? dst : NULL, &piece->src,
                           &side, NULL, err);
}

/* Generates the images of a piece, and computes its result on the reference. GI_E_UNSUPPORTED: the
 * operation does not accept the images. */
static enum gi_status finish_piece(struct gi_mixed *mixed, struct selftest_mixed_piece *piece,
                                   struct gi_err *err)
{
    struct gi_image shape = {0};
    bool taken = false;
    for (int i = 0; i < TRIES && !taken; i++) {
        shape = (struct gi_image){.width = (int)pow(SIDE_MAX, draw(mixed, 1000) / 999.0),
                                  .height = (int)pow(SIDE_MAX, draw(mixed, 1000) / 999.0),
                                  .channels = 1 + draw(mixed, GI_MAX_CHANNELS),
                                  .type = (enum gi_type)draw(mixed, GI_F32 + 1)};
        taken = takes(piece, &shape);
    }
    if (!taken)
        return GI_E_UNSUPPORTED;
    enum gi_status status = GI_OK;
    for (int i = 0; i <= piece->nothers && !status; i++) {
        struct gi_image *image = i ? &piece->others[i - 1] : &piece->src;
        status = gi_image_alloc(image, shape.width, shape.height, shape.channels, shape.type, err);
        if (!status)
            gi_selftest_fill(image, gi_selftest_random(&mixed->seed));
    }
    struct gi_step step = {piece->filter, piece->params, piece->others, piece->nothers};
    if (!status)
        status = gi_pipeline_new(&piece->pipeline, &step, 1, &piece->src, NULL, err);
    piece->result = gi_small_calloc(1, piece->filter->analysis.nbytes + 1);
    return status ? status : run_piece(piece, mixed->reference, &piece->want, piece->result, err);
}

/* Adds a piece for an operation. Adds none if the operation refuses all random images that were
 * tried with its options. */
static enum gi_status add_piece(struct gi_mixed *mixed, const struct gi_filter *filter,
                                struct gi_err *err)
{
    struct selftest_mixed_piece *piece = &mixed->pieces[mixed->n];
    struct gi_err refused = {0};
    mixed->filter = filter;
    mixed->met = 0;
    gi_variants_walk(filter, keep_variant, mixed);
    enum gi_status status = finish_piece(mixed, piece, &refused);
    mixed->n += !status;
    if (!status || status == GI_E_UNSUPPORTED) {
        free_piece(&mixed->pieces[mixed->n]);
        return GI_OK;
    }
    return gi_fail(err, status, "%s: %s", filter->name, refused.text);
}

enum gi_status gi_mixed_new(struct gi_mixed **out, char **operations, int noperations,
                            struct gi_queue *reference, struct gi_err *err)
{
    int named = 0;
    for (int i = 0; gi_filters[i]; i++)
        named += gi_operation_is_named(gi_filters[i]->name, operations, noperations);
    int each = named * PIECES_OF_ONE < PIECES_LEAST ? PIECES_LEAST / named : PIECES_OF_ONE;
    struct gi_mixed *mixed = *out = gi_small_calloc(1, sizeof *mixed);
    /* and one that may be discarded */
    mixed->pieces = gi_small_calloc((size_t)(named * each) + 1, sizeof *mixed->pieces);
    mixed->reference = reference;
    enum gi_status status = GI_OK;
    for (int i = 0; gi_filters[i] && !status; i++)
        for (int j = 0; j < each && !status; j++)
            if (gi_operation_is_named(gi_filters[i]->name, operations, noperations))
                status = add_piece(mixed, gi_filters[i], err);
    return status;
}

void gi_mixed_free(struct gi_mixed **mixed)
{
    if (!*mixed)
        return;
    for (int i = 0; (*mixed)->pieces && i <= (*mixed)->n; i++)
        free_piece(&(*mixed)->pieces[i]);
    free((*mixed)->pieces);
    free(*mixed);
    *mixed = NULL;
}

/* ---- queues ---- */

/* A queue with a thread of its own. */
struct hand {
    pthread_t thread;
    const struct gi_mixed *mixed;
    struct gi_device *device;
    int number, runs;
    char difference[512]; /* "": none yet */
};

static void describe(struct hand *hand, const struct selftest_mixed_piece *piece, const char *what)
{
    const struct gi_image *src = &piece->src;
    snprintf(hand->difference, sizeof hand->difference, "%s, %d x %d, %d channels, %s, %s: %.160s",
             piece->filter->name, src->width, src->height, src->channels, gi_type_word(src->type),
             *piece->text ? piece->text : "defaults", what);
}

static void check_piece(struct hand *hand, struct gi_queue *queue,
                        const struct selftest_mixed_piece *piece)
{
    const struct gi_filter *filter = piece->filter;
    struct gi_image got = {0};
    struct gi_err err = {0};
    char what[160] = "";
    void *result = gi_small_calloc(1, filter->analysis.nbytes + 1);
    if (run_piece(piece, queue, &got, result, &err))
        describe(hand, piece, err.text);
    else if (!filter->run && !gi_results_equal(filter, piece->result, result))
        describe(hand, piece, "the results differ");
    else if (filter->run && gi_selftest_differ(what, &piece->want, &got))
        describe(hand, piece, what);
    if (filter->analysis.free)
        filter->analysis.free(result);
    free(result);
    gi_image_free(&got);
    hand->runs++;
}

/* Runs all pieces on one queue. Whether it goes forwards or backwards, and from which piece,
 * depends on the number of the queue. */
static void *work(void *arg)
{
    struct hand *hand = arg;
    const struct gi_kernels *k = hand->device->k;
    const struct gi_mixed *mixed = hand->mixed;
    struct gi_queue *queue;
    struct gi_err err = {0};
    if (k->queue_open(&queue, hand->device, &err)) {
        snprintf(hand->difference, sizeof hand->difference, "%.500s", err.text);
        return NULL;
    }
    for (int i = 0; i < mixed->n && !*hand->difference; i++) {
        int from = hand->number * mixed->n / QUEUES, step = hand->number % 2 ? i : mixed->n - i;
        check_piece(hand, queue, &mixed->pieces[(from + step) % mixed->n]);
    }
    k->queue_close(&queue);
    return NULL;
}

int gi_mixed_run(const struct gi_mixed *mixed, struct gi_device *device, char difference[512])
{
    struct hand hands[QUEUES];
    int n = 0, runs = 0;
    *difference = '\0';
    for (; n < QUEUES; n++) {
        hands[n] = (struct hand){.mixed = mixed, .device = device, .number = n};
        if (pthread_create(&hands[n].thread, NULL, work, &hands[n]))
            break;
    }
    if (n < QUEUES)
        snprintf(difference, 512, "only %d of %d threads could be started", n, QUEUES);
    for (int i = 0; i < n; i++) {
        pthread_join(hands[i].thread, NULL);
        runs += hands[i].runs;
        if (*hands[i].difference && !*difference)
            memcpy(difference, hands[i].difference, 512);
    }
    return runs;
}
