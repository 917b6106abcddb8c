/* The mode filter (most frequent sample of a window) on every level of the CPU and on CUDA, against
 * counting.
 * Sources: rank
 * SPDX-License-Identifier: MIT */
#include "walk_image.h"
#include "kernels/rank.h"

static uint64_t seed = 20261124;

static unsigned sample_at(const struct gi_image *src, const struct gi_border_spec *border, int y,
                          int x, size_t c)
{
    int yi = gi_border_index(y, src->height, border->mode);
    int xi = gi_border_index(x, src->width, border->mode);
    float full = gi_type_full_scale(src->type);
    if (yi < 0 || xi < 0)
        return (unsigned)rintf(fminf(fmaxf(border->value[c], 0), full));
    return (unsigned)gi_sample(gi_row(src, yi), (size_t)xi * (size_t)src->channels + c, src->type);
}

static bool counts_in(const struct gi_median *spec, int j, int i)
{
    for (int r = 0; r < spec->nruns; r++) {
        const struct gi_footprint_run *run = &spec->runs[r];
        if (run->y == j && run->first <= i && i <= run->last)
            return true;
    }
    return !spec->runs;
}

static unsigned most_frequent(const struct gi_image *src, const struct gi_median *spec, int y,
                              int x, size_t c)
{
    static unsigned counts[65536];
    unsigned best = 0;
    bool counted = false;
    for (int turn = 0; turn < 3; turn++) /* counts, compares, and clears */
        for (int j = -spec->height / 2; j < spec->height - spec->height / 2; j++)
            for (int i = -spec->width / 2; i < spec->width - spec->width / 2; i++) {
                if (!counts_in(spec, j, i))
                    continue;
                unsigned v = sample_at(src, &spec->border, y + j, x + i, c);
                if (spec->opaque && gi_has_alpha(src) && !spec->alpha_too &&
                    !sample_at(src, &spec->border, y + j, x + i, (size_t)src->channels - 1))
                    continue;
                counted = true;
                if (turn == 0)
                    counts[v]++;
                else if (turn == 2)
                    counts[v] = 0;
                else if (counts[v] > counts[best] || (counts[v] == counts[best] && v < best))
                    best = v;
            }
    return counted ? best : sample_at(src, &spec->border, y, x, c);
}

static void define(const struct gi_image *dst, const struct gi_image *src,
                   const struct gi_median *spec)
{
    size_t channels = (size_t)src->channels;
    for (int y = 0; y < src->height; y++)
        for (size_t i = 0; i < gi_row_samples(src); i++) {
            bool keep = gi_has_alpha(src) && !spec->alpha_too && i % channels == channels - 1;
            int x = (int)(i / channels);
            unsigned v = keep ? sample_at(src, &spec->border, y, x, i % channels)
                              : most_frequent(src, spec, y, x, i % channels);
            if (src->type == GI_U8)
                ((uint8_t *)gi_row(dst, y))[i] = (uint8_t)v;
            else
                ((uint16_t *)gi_row(dst, y))[i] = (uint16_t)v;
        }
}

static enum gi_status run(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                          const void *spec, struct gi_err *err)
{
    return queue->k->mode(queue, dst, src, spec, err);
}

static void check(const struct gi_image *host, const struct gi_median *spec)
{
    struct gi_image want;
    assert_int_equal(
        gi_image_alloc(&want, host->width, host->height, host->channels, host->type, NULL), GI_OK);
    define(&want, host, spec);
    walk_image("mode", host, &want, spec, run);
    gi_image_free(&want);
}

struct shape {
    int width, height, nruns;
    const struct gi_footprint_run *runs; /* NULL: a rectangle */
};

/* `values`: the number of different samples; 0: any samples. */
static void make(const int *size, int channels, enum gi_type type, const struct shape *window,
                 int border, unsigned values)
{
    struct guard g;
    guard_alloc(&g, size[0], size[1], channels, type, 16);
    case_fill(&g.image, &seed);
    for (int y = 0; values && y < size[1]; y++)
        for (size_t i = 0; i < gi_row_samples(&g.image); i++)
            if (type == GI_U8)
                ((uint8_t *)gi_row(&g.image, y))[i] %= (uint8_t)values;
            else
                ((uint16_t *)gi_row(&g.image, y))[i] %= (uint16_t)values;
    struct gi_median spec = {.width = window->width,
                             .height = window->height,
                             .alpha_too = case_between(&seed, 0, 1),
                             .border = case_border(&seed, (enum gi_border)border, type),
                             .runs = window->runs,
                             .nruns = window->nruns,
                             .opaque = window->runs && case_between(&seed, 0, 2)};
    check(&g.image, &spec);
    guard_check(&g);
    guard_free(&g);
}

static void test_shapes(void **state)
{
    (void)state;
    static const struct gi_footprint_run ring[] = {{-2, -1, 1},
                                                   {-1, -3, -2},
                                                   {-1, 2, 2},
                                                   {1, -3, 2}},
                                         far[] = {{0, 2, 2}},
                                         stripes[] = {{-1, -16, 16}, {128, -150, 150}};
    static const struct shape windows[] = {
        {3, 3, 0, NULL}, {1, 1, 0, NULL},   {5, 5, 0, NULL},     {6, 5, 4, ring},
        {9, 2, 0, NULL}, {4, 7, 0, NULL},   {33, 1, 0, NULL},    {5, 1, 1, far},
        {3, 4, 0, NULL}, {11, 11, 0, NULL}, {301, 257, 0, NULL}, {301, 257, 2, stripes}};
    static const unsigned values[] = {3, 0, 40, 200};
    int turn = 0;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < 5; i++)
        for (int type = GI_U8; type <= GI_U16; type++)
            for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++, turn++)
                for (int w = turn % 2; w < 10; w += 2)
                    make(case_sizes[i], channels, (enum gi_type)type, &windows[w],
                         (turn + w) % CASE_BORDERS, values[(turn + w / 2) % 4]);
    for (int type = GI_U8; type <= GI_U16;
         type++) { /* several tiles; counts of more than 16 bits */
        make((const int[]){300, 9}, 1, (enum gi_type)type, &windows[2], GI_BORDER_CLAMP, 700);
        make((const int[]){300, 9}, 1, (enum gi_type)type, &windows[3], GI_BORDER_WRAP, 30);
        make((const int[]){3, 2}, 1, (enum gi_type)type, &windows[10], GI_BORDER_MIRROR, 2);
        make((const int[]){9, 4}, 1, (enum gi_type)type, &windows[11], GI_BORDER_MIRROR, 2);
    }
}

static enum gi_status of_labels(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *labels, struct gi_err *err)
{
    struct gi_median spec = {.width = 3, .height = 3};
    return queue->k->mode(queue, dst, labels, &spec, err);
}

static void test_types(void **state)
{
    (void)state;
    walk_refuses("mode", of_labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_types),
        cmocka_unit_test(walk_check_all),
    };
    return cmocka_run_group_tests(tests, walk_open, walk_close);
}
