/* One run of a primitive in the walk over primitives (primitives.h).
 * SPDX-License-Identifier: MIT */
#include "kernels/kernels.h"
#include "primitives.h"

/* Every primitive by its name, with one signature for all. The functions of GI_PRIMITIVES differ
 * only in their types. */
#define CALL(name, samples, shape, result_type, spec_type)                                         \
    static enum gi_status call_##name(struct gi_queue *queue, void *result,                        \
                                      const struct gi_image *src, const void *spec,                \
                                      struct gi_err *err)                                          \
    {                                                                                              \
        return queue->k->name(queue, result, src, spec, err);                                      \
    }
GI_PRIMITIVES(CALL)

struct primitive {
    const char *name;
    walk_call_fn *call;
    bool (*exists)(const struct gi_kernels *k);
};
#define EXISTS(name, samples, shape, result_type, spec_type)                                       \
    static bool has_##name(const struct gi_kernels *k)                                             \
    {                                                                                              \
        return k->name != NULL;                                                                    \
    }
GI_PRIMITIVES(EXISTS)
#define ROW(name, samples, shape, result_type, spec_type) {#name, call_##name, has_##name},
static const struct primitive primitives[] = {GI_PRIMITIVES(ROW){NULL, NULL, NULL}};

static const struct primitive *find(const char *name)
{
    const struct primitive *p = primitives;
    while (p->name && strcmp(p->name, name))
        p++;
    if (!p->name)
        fail_msg("there is no primitive %s", name);
    return p;
}

walk_call_fn *walk_call(const char *primitive)
{
    return find(primitive)->call;
}

size_t walk_number(const char *primitive)
{
    return (size_t)(find(primitive) - primitives);
}

bool walk_exists(const struct gi_kernels *k, const char *primitive)
{
    return find(primitive)->exists(k);
}

void walk_plain(struct walk_case *c)
{
    struct gi_queue *queue = case_open(gi_kernels_cpu_level("scalar"), 1);
    struct gi_err err = {0};
    if (walk_call(c->row->primitive)(queue, &c->want, &c->srcs[0].image, c->spec, &err))
        fail_msg("%s (%s): %s", c->row->primitive, c->row->what, err.text);
    gi_queue_close_alone(&queue);
}

/* The images of a case on a queue's device, and a copy of the spec whose pointers point to these
 * images. */
struct placed {
    struct gi_image srcs[WALK_SOURCES], others[WALK_OTHERS];
    void *spec;
};

static bool place(struct placed *p, struct gi_queue *queue, const struct walk_case *c,
                  struct gi_err *err)
{
    enum gi_status status = GI_OK;
    *p = (struct placed){.spec = c->spec ? malloc(c->spec_nbytes) : NULL};
    if (c->spec)
        memcpy(p->spec, c->spec, c->spec_nbytes);
    if (c->inner_to) {
        const void *inner = (char *)p->spec + c->inner_to;
        memcpy((char *)p->spec + c->inner_at, &inner, sizeof inner);
    }
    for (int i = 0; !status && i < c->nsrcs; i++)
        status = queue->k->upload(queue, &p->srcs[i], &c->srcs[i].image, NULL, err);
    for (int i = 0; !status && i < c->nothers; i++) {
        const struct gi_image *at = &p->others[i];
        status = queue->k->upload(queue, &p->others[i], &c->others[i].image, NULL, err);
        memcpy((char *)p->spec + c->other_at[i], &at, sizeof(struct gi_image *));
        if (i == 0 && c->again_at)
            memcpy((char *)p->spec + c->again_at, &at, sizeof(struct gi_image *));
    }
    return status == GI_OK;
}

static void take_back(struct placed *p, struct gi_queue *queue, const struct walk_case *c)
{
    for (int i = 0; i < c->nsrcs; i++)
        queue->k->release(queue, &p->srcs[i]);
    for (int i = 0; i < c->nothers; i++)
        queue->k->release(queue, &p->others[i]);
    free(p->spec);
}

/* Runs a primitive that makes an image. `where` is WALK_APART, or the bit number in
 * walk_row.in_place of the image that the result replaces. */
static enum walk_outcome run_image(struct gi_queue *queue, const struct walk_case *c,
                                   walk_call_fn *call, int where, char *wrong, size_t size,
                                   struct gi_err *err)
{
    const struct gi_image *want = &c->want;
    struct placed p;
    struct guard got;
    struct gi_image dst, back = {0};
    enum walk_outcome outcome = WALK_DIFFERENT;
    /* A result that replaces an image begins with the old image's samples. */
    const struct gi_image *old = where == WALK_APART ? NULL
                                 : where == 0        ? &c->srcs[0].image
                                                     : &c->others[where - 1].image;
    guard_alloc(&got, want->width, want->height, want->channels, want->type,
                old ? old->stride - gi_row_nbytes(old)
                    : gi_type_nbytes(want->type) * (size_t)(c->turn % 7));
    for (int y = 0; y < want->height; y++)
        if (old)
            memcpy(gi_row(&got.image, y), gi_row(old, y), gi_row_nbytes(old));
        else
            memset(gi_row(&got.image, y), 0x5a, gi_row_nbytes(want));
    if (place(&p, queue, c, err) && !queue->k->upload(queue, &dst, &got.image, NULL, err)) {
        struct gi_image *replaced = where == WALK_APART ? NULL
                                    : where == 0        ? &p.srcs[0]
                                                        : &p.others[where - 1];
        struct gi_image was = replaced ? *replaced : (struct gi_image){0};
        if (replaced)
            *replaced = dst;
        enum gi_status status = call(queue, replaced ? replaced : &dst, &p.srcs[0], p.spec, err);
        if (replaced)
            *replaced = was;
        const char *refusal = c->row->may_refuse;
        if (status) {
            outcome = status != GI_E_UNSUPPORTED              ? WALK_DIFFERENT
                      : refusal && strstr(err->text, refusal) ? WALK_EQUAL
                                                              : WALK_NOT_TAKEN;
            queue->k->release(queue, &dst);
        } else if (queue->k->download(queue, &back, &dst, NULL, err)) {
            outcome = WALK_DIFFERENT;
        } else if (!case_difference(&back, want, wrong, size)) {
            outcome = WALK_EQUAL;
        }
    }
    if (outcome == WALK_EQUAL && !guard_is_whole(&got)) {
        snprintf(wrong, size, "bytes around the result have changed");
        outcome = WALK_DIFFERENT;
    }
    gi_image_free(&back);
    take_back(&p, queue, c);
    guard_free(&got);
    return outcome;
}

/* Runs a primitive whose result is data in host memory. */
static enum walk_outcome run_data(struct gi_queue *queue, const struct walk_case *c,
                                  walk_call_fn *call, char *wrong, size_t size, struct gi_err *err)
{
    struct placed p;
    enum walk_outcome outcome = WALK_DIFFERENT;
    void *got = malloc(c->nbytes);
    memcpy(got, c->start, c->nbytes);
    if (place(&p, queue, c, err)) {
        enum gi_status status = call(queue, got, &p.srcs[0], p.spec, err);
        if (status)
            outcome = status == GI_E_UNSUPPORTED ? WALK_NOT_TAKEN : WALK_DIFFERENT;
        else if (c->row->equal ? c->row->equal(queue, c, got) : !memcmp(got, c->data, c->nbytes))
            outcome = WALK_EQUAL;
        else
            snprintf(wrong, size, "another result");
    }
    take_back(&p, queue, c);
    free(got);
    return outcome;
}

enum walk_outcome walk_run(struct gi_queue *queue, const struct walk_case *c, int where,
                           char *wrong, size_t size)
{
    struct gi_err err = {0};
    walk_call_fn *call = walk_call(c->row->primitive);
    *wrong = '\0';
    enum walk_outcome outcome = c->want.data ? run_image(queue, c, call, where, wrong, size, &err)
                                             : run_data(queue, c, call, wrong, size, &err);
    if (outcome != WALK_EQUAL && !*wrong)
        snprintf(wrong, size, "%.390s", err.text);
    return outcome;
}
