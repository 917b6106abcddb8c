/* CLAHE at every level of the CPU and on CUDA gives the result of OpenCV's algorithm, which is
 * repeated here step by step (tests/filters/clahe_oracle.py compares with OpenCV itself).
 * Sources: tone
 * SPDX-License-Identifier: MIT */
#include "image_cases.h"
#include "ways_walk.h"
#include "kernels/tone.h"

enum { SEED = 20261123 };

/* Returns the bin in which a float is counted. */
static unsigned sample(const struct gi_image *image, int y, int x, int c)
{
    size_t i = (size_t)(x * image->channels + c);
    if (image->type == GI_F32) {
        double v = floor(65536 * (double)((const float *)gi_row(image, y))[i]);
        return v > 0 ? (unsigned)fmin(v, 65535) : 0;
    }
    return image->type == GI_U8 ? ((const uint8_t *)gi_row(image, y))[i]
                                : ((const uint16_t *)gi_row(image, y))[i];
}

/* Sets some samples to values that only floats can hold. */
static void fill_odd(struct gi_image *image, uint64_t *seed)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 1, 1.5f, -1e30f, 1e-40f};
    for (int y = 0; image->type == GI_F32 && y < image->height; y++)
        ((float *)gi_row(image, y))[case_between(seed, 0, (int)gi_row_samples(image) - 1)] =
            odd[case_between(seed, 0, 7)];
}

/* Computes the lookup table of channel c for the tile whose first pixel is (x0, y0). */
static void exact_table(unsigned *table, const struct gi_image *judge, int c, const int tile[2],
                        int x0, int y0, double clip)
{
    int bins = judge->type == GI_U8 ? 256 : 65536, total = tile[0] * tile[1], sum = 0, spare = 0;
    int *counts = calloc((size_t)bins, sizeof *counts);
    for (int y = y0; y < y0 + tile[1]; y++)
        for (int x = x0; x < x0 + tile[0]; x++)
            counts[sample(judge, gi_border_index(y, judge->height, GI_BORDER_REFLECT101),
                          gi_border_index(x, judge->width, GI_BORDER_REFLECT101), c)]++;
    int limit = (int)fmin(clip * total / bins, 1e9);
    limit = limit < 1 ? 1 : limit;
    for (int v = 0; v < bins && clip > 0; v++)
        if (counts[v] > limit) {
            spare += counts[v] - limit;
            counts[v] = limit;
        }
    for (int v = 0; v < bins; v++)
        counts[v] += spare / bins;
    spare %= bins;
    for (int v = 0, step = spare ? bins / spare : 1; spare > 0; v += step, spare--)
        counts[v]++;
    float scale = (float)(bins - 1) / (float)total;
    for (int v = 0; v < bins; v++) {
        sum += counts[v];
        float f = rintf((float)sum * scale);
        table[v] = f < (float)(bins - 1) ? (unsigned)f : (unsigned)bins - 1;
    }
    free(counts);
}

struct place {
    int before, after;
    float weight;
};

static struct place place_of(int at, int tile, int tiles)
{
    float inverse = 1.0f / (float)tile, product = (float)at * inverse, f = product - 0.5f;
    int i = (int)floorf(f);
    return (struct place){i < 0 ? 0 : i, i + 1 < tiles ? i + 1 : tiles - 1, f - (float)i};
}

static void exact_channel(struct gi_image *dst, const struct gi_image *src,
                          const struct gi_image *judge, int c, const struct gi_clahe *spec)
{
    int n[2] = {spec->across, spec->down}, size[2] = {src->width, src->height}, tile[2];
    bool divides = size[0] % n[0] == 0 && size[1] % n[1] == 0;
    size_t bins = src->type == GI_U8 ? 256 : 65536;
    unsigned *tables = calloc(bins * (size_t)(n[0] * n[1]), sizeof *tables);
    for (int i = 0; i < 2; i++)
        tile[i] = divides ? size[i] / n[i] : (size[i] + n[i] - size[i] % n[i]) / n[i];
    for (int t = 0; t < n[0] * n[1]; t++)
        exact_table(tables + bins * (size_t)t, judge, judge == src ? c : 0, tile,
                    t % n[0] * tile[0], t / n[0] * tile[1], spec->clip);
    for (int y = 0; y < size[1]; y++)
        for (int x = 0; x < size[0]; x++) {
            struct place px = place_of(x, tile[0], n[0]), py = place_of(y, tile[1], n[1]);
            const unsigned *up = tables + sample(src, y, x, c), *down = up;
            up += bins * (size_t)(py.before * n[0]);
            down += bins * (size_t)(py.after * n[0]);
            float a = px.weight, b = py.weight;
            float one = (float)up[bins * (size_t)px.before] * (1 - a);
            float two = (float)up[bins * (size_t)px.after] * a;
            float three = (float)down[bins * (size_t)px.before] * (1 - a);
            float four = (float)down[bins * (size_t)px.after] * a;
            float first = (one + two) * (1 - b), last = (three + four) * b;
            unsigned v = (unsigned)rintf(first + last);
            size_t i = (size_t)(x * src->channels + c);
            float *was = (float *)gi_row(dst, y) + i;
            if (src->type == GI_F32)
                *was = isnan(*was) ? NAN : (first + last) / 65535;
            else if (src->type == GI_U8)
                ((uint8_t *)gi_row(dst, y))[i] = (uint8_t)v;
            else
                ((uint16_t *)gi_row(dst, y))[i] = (uint16_t)v;
        }
    free(tables);
}

static void check_queue(struct gi_queue *queue, const struct gi_clahe *spec,
                        const struct gi_image *src, const struct gi_image *judge,
                        const struct gi_image *want, int way)
{
    const struct gi_kernels *k = queue->k;
    struct gi_err err = {0};
    struct gi_image device, judges, dst, back;
    struct guard got;
    guard_alloc(&got, src->width, src->height, src->channels, src->type, 0);
    assert_int_equal(k->upload(queue, &device, src, NULL, &err), GI_OK);
    assert_int_equal(k->upload(queue, &judges, judge, NULL, &err), GI_OK);
    assert_int_equal(k->upload(queue, &dst, &got.image, NULL, &err), GI_OK);
    struct gi_clahe judged = *spec;
    judged.judge = judge == src ? NULL : &judges;
    enum gi_status status = k->clahe(queue, &dst, &device, &judged, &err);
    assert_true(walk_ran(queue, "clahe", way, status, &err));
    assert_int_equal(k->download(queue, &back, &dst, NULL, &err), GI_OK);
    case_equal(&back, want, walk_what(queue, "clahe", way));
    guard_check(&got);
    gi_image_free(&back);
    k->release(queue, &device);
    k->release(queue, &judges);
    guard_free(&got);
}

static void check(const int *size, int channels, enum gi_type type, const struct gi_clahe *spec,
                  bool by_judge, uint64_t *seed)
{
    struct guard src, judge, want;
    guard_alloc(&src, size[0], size[1], channels, type, 3 * gi_type_nbytes(type));
    guard_alloc(&judge, size[0], size[1], 1, type, 0);
    guard_alloc(&want, size[0], size[1], channels, type, 0);
    case_fill(&src.image, seed);
    case_fill(&judge.image, seed);
    fill_odd(&src.image, seed);
    fill_odd(&judge.image, seed);
    for (int y = 0; y < size[1]; y++) /* alpha */
        memcpy(gi_row(&want.image, y), gi_row(&src.image, y), gi_row_nbytes(&src.image));
    const struct gi_image *by = by_judge ? &judge.image : &src.image;
    for (int c = 0; c < gi_colour_channels(&src.image); c++)
        exact_channel(&want.image, &src.image, by, c, spec);
    for (int q = 0; q < WALK_QUEUES; q++)
        for (int way = -1; walk_queues[q] && walk_force(walk_queues[q], "clahe", way); way++)
            check_queue(walk_queues[q], spec, &src.image, by, &want.image, way);
    guard_check(&src);
    guard_free(&src);
    guard_free(&judge);
    guard_free(&want);
}

static void every_shape(void **state)
{
    (void)state;
    static const int tiles[][2] = {{1, 1}, {8, 8}, {3, 2}, {16, 5}, {31, 33}};
    static const double clips[] = {2, 0, 40, 0.01, 1e6};
    uint64_t seed = SEED;
    print_message("seed %d\n", SEED);
    for (int type = GI_U8; type <= GI_F32; type++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int i = 0; i < CASE_SIZES; i++) {
                int turn = case_between(&seed, 0, type == GI_U8 ? 4 : 2);
                turn = type != GI_U8 && turn == 1 ? 0 : turn;
                struct gi_clahe spec = {.across = tiles[turn][0],
                                        .down = tiles[turn][1],
                                        .clip = clips[case_between(&seed, 0, 4)]};
                check(case_sizes[i], channels, (enum gi_type)type, &spec, i % 2, &seed);
            }
}

/* Rows of several blocks, tiles of many rows, and the maximum number of tiles. */
static void large(void **state)
{
    (void)state;
    static const int sizes[][4] = {{2600, 300, 2, 1}, {700, 513, 8, 8}, {300, 260, 256, 256}};
    uint64_t seed = SEED;
    for (int i = 0; i < 3; i++)
        for (int channels = 1; channels <= 3; channels += 2) {
            struct gi_clahe spec = {.across = sizes[i][2], .down = sizes[i][3], .clip = 3.3};
            check(sizes[i], channels, GI_U8, &spec, channels == 3 && i, &seed);
        }
}

static void refused(void **state)
{
    (void)state;
    struct gi_clahe spec = {.across = 1, .down = 1, .clip = 2};
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_err err = {0};
        struct gi_image image, dst;
        if (!walk_queues[q])
            continue;
        const struct gi_kernels *k = walk_queues[q]->k;
        assert_int_equal(k->alloc(walk_queues[q], &image, 3, 2, 1, GI_U32, &err), GI_OK);
        assert_int_equal(k->alloc(walk_queues[q], &dst, 3, 2, 1, GI_U32, &err), GI_OK);
        enum gi_status status = k->clahe(walk_queues[q], &dst, &image, &spec, &err);
        assert_int_equal(status, GI_E_UNSUPPORTED);
        walk_refused("clahe", status, &err);
        k->release(walk_queues[q], &image);
        k->release(walk_queues[q], &dst);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape),
        cmocka_unit_test(large),
        cmocka_unit_test(refused),
        cmocka_unit_test(walk_check_all),
    };
    return cmocka_run_group_tests(tests, walk_open, walk_close);
}
