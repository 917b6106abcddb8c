/* The cases of the walk over primitives: their images, specs and results (primitives.h).
 * SPDX-License-Identifier: MIT */
#include "primitives.h"
#include "kernels/footprint.h"

struct walk_memory {
    struct walk_memory *next;
    _Alignas(64) char bytes[];
};

void *walk_alloc(struct walk_case *c, size_t nbytes)
{
    size_t whole = (sizeof(struct walk_memory) + nbytes + 63) / 64 * 64;
    struct walk_memory *m = aligned_alloc(64, whole);
    assert_non_null(m);
    memset(m, 0, whole);
    m->next = c->memory;
    c->memory = m;
    return m->bytes;
}

void *walk_spec(struct walk_case *c, size_t nbytes)
{
    c->spec_nbytes = nbytes;
    return c->spec = walk_alloc(c, nbytes);
}

int walk_between(struct walk_case *c, int lo, int hi)
{
    return case_between(c->seed, lo, hi);
}

float walk_real(struct walk_case *c)
{
    return case_real(c->seed);
}

void walk_fill_odd(struct gi_image *image, uint64_t *seed)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 1e-40f, -1e30f, 3e38f};
    for (int i = 0; image->type == GI_F32 && i < image->width; i++) {
        float *row = gi_row(image, case_between(seed, 0, image->height - 1));
        row[case_between(seed, 0, (int)gi_row_samples(image) - 1)] = odd[case_between(seed, 0, 6)];
    }
}

void walk_fill_odd_bits(struct walk_case *c, struct gi_image *image)
{
    static const uint32_t odd[] = {0x7fc00000, 0xffc12345, 0x7f812345, 0x7f800000, 0xff800000,
                                   0x80000000, 0,          0x00000123, 0xff7fffff, 0x7f7fffff};
    for (int y = 0; image->type == GI_F32 && y < image->height; y++)
        for (size_t i = 0; i < gi_row_samples(image); i++)
            if (walk_between(c, 0, 2) == 0)
                memcpy((float *)gi_row(image, y) + i, &odd[walk_between(c, 0, 9)], 4);
}

static bool is_odd(const struct gi_image *image)
{
    for (int y = 0; image->type == GI_F32 && y < image->height; y++)
        for (size_t i = 0; i < gi_row_samples(image); i++)
            if (!(case_get(image, y, i) >= 0 && case_get(image, y, i) <= 1))
                return true;
    return false;
}

bool walk_is_odd(const struct walk_case *c)
{
    bool odd = false;
    for (int i = 0; i < c->nsrcs; i++)
        odd |= is_odd(&c->srcs[i].image);
    for (int i = 0; i < c->nothers; i++)
        odd |= is_odd(&c->others[i].image);
    return odd;
}

static void make_image(struct walk_case *c, struct guard *guard, const int *size, int channels,
                       enum gi_type type)
{
    guard_alloc(guard, size[0], size[1], channels, type,
                gi_type_nbytes(type) * (size_t)walk_between(c, 0, 70));
    if (type <= GI_F32)
        case_fill(&guard->image, c->seed);
    if (type == GI_F32 && walk_between(c, 0, 3) == 0)
        walk_fill_odd(&guard->image, c->seed);
}

struct gi_image *walk_source(struct walk_case *c, int width, int height, int channels,
                             enum gi_type type)
{
    struct guard *guard = &c->srcs[c->nsrcs++];
    make_image(c, guard, (int[]){width, height}, channels, type);
    return &guard->image;
}

struct gi_image *walk_source_here(struct walk_case *c)
{
    return walk_source(c, c->width, c->height, c->channels, c->type);
}

struct gi_image *walk_other(struct walk_case *c, const struct gi_image **at, int width, int height,
                            int channels, enum gi_type type)
{
    struct guard *guard = &c->others[c->nothers];
    c->other_at[c->nothers++] = (size_t)((char *)at - (char *)c->spec);
    make_image(c, guard, (int[]){width, height}, channels, type);
    *at = &guard->image;
    return &guard->image;
}

struct gi_image *walk_result(struct walk_case *c, int width, int height, int channels,
                             enum gi_type type)
{
    assert_int_equal(gi_image_alloc(&c->want, width, height, channels, type, NULL), GI_OK);
    return &c->want;
}

void *walk_data(struct walk_case *c, const void *start, size_t nbytes)
{
    c->nbytes = nbytes;
    c->start = walk_alloc(c, nbytes);
    c->data = walk_alloc(c, nbytes);
    if (start) {
        memcpy(c->start, start, nbytes);
        memcpy(c->data, start, nbytes);
    }
    return c->data;
}

struct gi_footprint_run *walk_runs(struct walk_case *c, int width, int height, int ax, int ay,
                                   int *n)
{
    struct gi_footprint_run *runs = walk_alloc(c, 2 * (size_t)height * sizeof *runs);
    *n = 0;
    for (int y = 0; y < height; y++) {
        int a = walk_between(c, 0, width - 1), b = walk_between(c, a, width - 1);
        int from = b + walk_between(c, 2, 5), turn = walk_between(c, 0, 3);
        if (turn || (y == height - 1 && *n == 0))
            runs[(*n)++] =
                (struct gi_footprint_run){(int16_t)(y - ay), (int16_t)(a - ax), (int16_t)(b - ax)};
        if (turn > 1 && from < width)
            runs[(*n)++] =
                (struct gi_footprint_run){(int16_t)(y - ay), (int16_t)(from - ax),
                                          (int16_t)(walk_between(c, from, width - 1) - ax)};
    }
    return runs;
}

void walk_free(struct walk_case *c)
{
    while (c->nsrcs > 0)
        guard_free(&c->srcs[--c->nsrcs]);
    while (c->nothers > 0)
        guard_free(&c->others[--c->nothers]);
    gi_image_free(&c->want);
    while (c->memory) {
        struct walk_memory *m = c->memory;
        c->memory = m->next;
        free(m);
    }
}
