/* Counting the colours of an image and finding the nearest colour of a palette, by every way of
 * every backend, against plain loops.
 * Sources: color
 * SPDX-License-Identifier: MIT */
#include "image_cases.h"
#include "ways_walk.h"
#include "kernels/color.h"

enum { SEED = 20261124 };

static uint64_t colour_of(const struct gi_image *image, int y, int x)
{
    uint64_t colour = 0;
    for (int c = 0; c < image->channels; c++) {
        size_t at = (size_t)x * (size_t)image->channels + (size_t)c;
        colour = colour * (image->type == GI_U8 ? 256 : 65536) +
                 (uint64_t)gi_sample(gi_row(image, y), at, image->type);
    }
    return colour;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Checks `found` against the image: the sorted colours of its pixels with their counts. */
static void check_counts(const struct gi_colours *found, const struct gi_image *image,
                         const char *what)
{
    size_t n = (size_t)image->width * (size_t)image->height, at = 0;
    uint64_t *all = malloc(n * sizeof *all);
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            all[(size_t)y * (size_t)image->width + (size_t)x] = colour_of(image, y, x);
    qsort(all, n, sizeof *all, by_number);
    for (size_t i = 0; i < found->n; i++) {
        for (uint64_t k = 0; k < found->each[i].count; k++, at++)
            if (at >= n || all[at] != found->each[i].colour)
                fail_msg("%s: colour %zu is wrong", what, i);
        if (i && found->each[i].colour <= found->each[i - 1].colour)
            fail_msg("%s: colour %zu is out of order", what, i);
    }
    assert_int_equal(at, n);
    free(all);
}

/* `few`: samples take only a few values, in runs. */
static void fill(struct gi_image *image, bool few, uint64_t *seed)
{
    uint64_t pixel = 0;
    case_fill(image, seed);
    for (int y = 0; y < image->height && few; y++)
        for (int x = 0; x < image->width; x++) {
            size_t nbytes = gi_type_nbytes(image->type) * (size_t)image->channels;
            if (case_between(seed, 0, 4) == 0)
                pixel = case_between(seed, 0, 1) ? ~(uint64_t)0 : case_random(seed) & 0x01010101;
            memcpy((char *)gi_row(image, y) + (size_t)x * nbytes, &pixel, nbytes);
        }
}

static void count_all(const struct gi_image *image)
{
    struct gi_err err = {0};
    for (int q = 0; q < WALK_QUEUES; q++)
        for (int i = -1; walk_queues[q] && walk_force(walk_queues[q], "count_colours", i); i++) {
            const struct gi_kernels *k = walk_queues[q]->k;
            struct gi_image on;
            struct gi_colours found = {0};
            assert_int_equal(k->upload(walk_queues[q], &on, image, NULL, &err), GI_OK);
            if (walk_ran(walk_queues[q], "count_colours", i,
                         k->count_colours(walk_queues[q], &found, &on, NULL, &err), &err))
                check_counts(&found, image, walk_what(walk_queues[q], "count_colours", i));
            err = (struct gi_err){0};
            free(found.each);
            k->release(walk_queues[q], &on);
        }
}

static void test_counts(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {1, 17}, {67, 5}, {513, 33}};
    uint64_t seed = SEED;
    for (int s = 0; s < 4; s++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int type = GI_U8; type <= GI_U16; type++)
                for (int few = 0; few < 2; few++) {
                    struct guard g;
                    if (s < 3 && channels == 3 && type == GI_U8 && few)
                        continue; /* each would need a table of 2^24 entries */
                    guard_alloc(&g, sizes[s][0], sizes[s][1], channels, (enum gi_type)type,
                                6 * gi_type_nbytes((enum gi_type)type));
                    fill(&g.image, few, &seed);
                    count_all(&g.image);
                    guard_check(&g);
                    guard_free(&g);
                }
}

static void recolour_one(struct gi_queue *queue, int i, const struct gi_image *src,
                         const struct gi_image *host, struct gi_recolour *spec,
                         const struct gi_image *want)
{
    const struct gi_kernels *k = queue->k;
    struct gi_err err = {0};
    struct guard got;
    struct gi_image from, to, table, back;
    guard_alloc(&got, src->width, src->height, src->channels, src->type, 9);
    assert_int_equal(k->upload(queue, &from, src, NULL, &err), GI_OK);
    assert_int_equal(k->upload(queue, &to, &got.image, NULL, &err), GI_OK);
    assert_int_equal(k->upload(queue, &table, host, NULL, &err), GI_OK);
    spec->table = &table;
    walk_ran(queue, "recolour", i, k->recolour(queue, &to, &from, spec, &err), &err);
    assert_int_equal(k->download(queue, &back, &to, NULL, &err), GI_OK);
    case_equal(&back, want, walk_what(queue, "recolour", i));
    guard_check(&got);
    gi_image_free(&back);
    k->release(queue, &from);
    k->release(queue, &table);
    guard_free(&got);
}

static void test_recolour(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {1, 17}, {17, 1}, {31, 9}, {1027, 5}};
    uint64_t seed = SEED;
    struct gi_recolour spec = {0};
    struct gi_image table;
    assert_int_equal(gi_image_alloc(&table, GI_RECOLOUR_SIDE, GI_RECOLOUR_SIDE, 1, GI_U8, NULL),
                     GI_OK);
    case_fill(&table, &seed);
    for (int i = 0; i < GI_RECOLOUR_MOST; i++)
        for (int c = 0; c < 4; c++)
            spec.colours[i][c] = (uint8_t)case_random(&seed);
    for (int s = 0; s < 5; s++)
        for (int channels = 3; channels <= 4; channels++) {
            struct guard src, want;
            guard_alloc(&src, sizes[s][0], sizes[s][1], channels, GI_U8, 7);
            guard_alloc(&want, sizes[s][0], sizes[s][1], channels, GI_U8, 0);
            case_fill(&src.image, &seed);
            for (int y = 0; y < src.image.height; y++)
                for (int x = 0; x < src.image.width; x++) {
                    const uint8_t *v = (uint8_t *)gi_row(&src.image, y) + x * channels;
                    uint8_t *w = (uint8_t *)gi_row(&want.image, y) + x * channels;
                    int colour = v[0] * 65536 + v[1] * 256 + v[2];
                    int entry = ((uint8_t *)gi_row(&table, colour / 4096))[colour % 4096];
                    memcpy(w, v, (size_t)channels);
                    memcpy(w, spec.colours[entry], 3);
                }
            for (int q = 0; q < WALK_QUEUES; q++)
                for (int i = -1; walk_queues[q] && walk_force(walk_queues[q], "recolour", i); i++)
                    recolour_one(walk_queues[q], i, &src.image, &table, &spec, &want.image);
            guard_check(&src);
            guard_free(&src);
            guard_free(&want);
        }
    gi_image_free(&table);
}

static enum gi_status counted(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *labels, struct gi_err *err)
{
    struct gi_colours found;
    (void)dst;
    return queue->k->count_colours(queue, &found, labels, NULL, err);
}

static enum gi_status recoloured(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *labels, struct gi_err *err)
{
    struct gi_recolour spec = {.table = labels};
    return queue->k->recolour(queue, dst, labels, &spec, err);
}

static void test_types(void **state)
{
    (void)state;
    walk_refuses("count_colours", counted);
    walk_refuses("recolour", recoloured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_recolour),
        cmocka_unit_test(test_types),
        cmocka_unit_test(walk_check_all),
    };
    return cmocka_run_group_tests(tests, walk_open, walk_close);
}
