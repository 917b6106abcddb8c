/* Pointwise operations of CUDA give the bytes of the CPU's, which test_cpu_pointwise.c holds to
 * their definitions: for every type, channel count, alpha rule and size, also in place.
 * Sources: tone
 * SPDX-License-Identifier: MIT */
#include "cuda_pair.h"
#include "pointwise_cases.h"

enum { SEED = 20260119, PLACES = 3 };

static struct pointwise_tables tables;

static void want_device(void)
{
    if (cuda)
        return;
    print_message("skipped: %s\n", reason);
    skip();
}

static void upload(struct gi_image *device, const struct gi_image *host)
{
    struct gi_err err = {0};
    if (cuda->k->upload(cuda, device, host, NULL, &err))
        fail_msg("%s", err.text);
}

static void run(struct gi_queue *queue, const struct gi_pointwise *spec, struct gi_image *dst,
                const struct gi_image *src, const struct gi_image *other)
{
    struct gi_err err = {0};
    struct gi_pointwise with = *spec;
    with.other = pointwise_has_two(spec->op) ? other : NULL;
    if (queue->k->pointwise(queue, dst, src, &with, &err))
        fail_msg("%s: %s", pointwise_names[spec->op], err.text);
}

/* Writes into an image that was 0x5a everywhere, over the first source and over the second. */
static void check(const struct gi_pointwise *spec, const struct gi_image *src,
                  const struct gi_image *other)
{
    struct gi_err err = {0};
    struct gi_image want, poison, host;
    assert_int_equal(gi_image_alloc(&want, src->width, src->height, src->channels, src->type, &err),
                     GI_OK);
    assert_int_equal(
        gi_image_alloc(&poison, src->width, src->height, src->channels, src->type, &err), GI_OK);
    memset(poison.data, 0x5a, poison.stride * (size_t)poison.height);
    run(cpu, spec, &want, src, other);
    for (int place = 0; place < PLACES; place++) {
        struct gi_image first, second, third;
        char what[100];
        upload(&first, src);
        upload(&second, other);
        upload(&third, &poison);
        struct gi_image *dst = place == 0 ? &third : place == 1 ? &first : &second;
        run(cuda, spec, dst, &first, &second);
        snprintf(what, sizeof what, "%s, alpha too %d, place %d", pointwise_names[spec->op],
                 spec->alpha_too, place);
        if (cuda->k->download(cuda, &host, dst, NULL, &err)) /* frees dst */
            fail_msg("%s: %s", what, err.text);
        case_equal(&host, &want, what);
        gi_image_free(&host);
        struct gi_image *left[] = {&first, &second, &third};
        for (int i = 0; i < 3; i++)
            if (left[i]->data)
                cuda->k->release(cuda, left[i]);
    }
    gi_image_free(&want);
    gi_image_free(&poison);
}

static void walk_size(const int *size, int channels, enum gi_type type, bool odd, uint64_t *seed)
{
    struct gi_image sources[2];
    struct gi_err err = {0};
    for (int s = 0; s < 2; s++) {
        assert_int_equal(gi_image_alloc(&sources[s], size[0], size[1], channels, type, &err),
                         GI_OK);
        case_fill(&sources[s], seed);
        if (odd)
            fill_odd(&sources[s], seed);
    }
    for (int op = 0; op < POINTWISE_OPERATIONS; op++) {
        struct gi_pointwise spec;
        random_pointwise(&spec, &tables, (enum gi_pointwise_op)op, &sources[0], seed);
        check(&spec, &sources[0], &sources[1]);
    }
    gi_image_free(&sources[0]);
    gi_image_free(&sources[1]);
}

static void every_shape_equals_cpu(void **state)
{
    (void)state;
    /* In addition to the usual sizes: rows of many blocks, more rows than a grid has, and several
     * iterations of the persistent blocks. */
    static const int more[][2] = {{5003, 7}, {3, 66001}, {4099, 1201}};
    uint64_t seed = SEED;
    want_device();
    print_message("seed %d\n", SEED);
    for (int i = 0; i < CASE_SIZES + 3; i++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int type = GI_U8; type <= GI_F32; type++)
                for (int turn = 0; turn < (i < CASE_SIZES ? 4 : 1); turn++) {
                    if (quick() && (i > 4 || turn > 1))
                        continue;
                    walk_size(i < CASE_SIZES ? case_sizes[i] : more[i - CASE_SIZES], channels,
                              (enum gi_type)type, turn % 2 == 1, &seed);
                }
}

/* Every pair of bytes, every 16-bit sample with others, floats at and just below the steps of a
 * table. */
static void all_values_equal_cpu(void **state)
{
    (void)state;
    static const float t[] = {0, 1, 0.5f, 0.1f, 2};
    struct gi_err err = {0};
    uint64_t seed = SEED;
    want_device();
    for (int type = GI_U8; type <= GI_F32; type++) {
        struct gi_image a, b;
        int width = type == GI_U8 ? 256 : 65536, height = type == GI_U8 ? 256 : 12;
        assert_int_equal(gi_image_alloc(&a, width, height, 1, (enum gi_type)type, &err), GI_OK);
        assert_int_equal(gi_image_alloc(&b, width, height, 1, (enum gi_type)type, &err), GI_OK);
        case_fill(&b, &seed);
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                if (type == GI_U16) {
                    ((uint16_t *)gi_row(&a, y))[x] = (uint16_t)x;
                } else if (type == GI_F32) {
                    float v = (float)x / 65536;
                    ((float *)gi_row(&a, y))[x] = y % 2 ? nextafterf(v, -1) : v;
                } else {
                    ((uint8_t *)gi_row(&a, y))[x] = (uint8_t)x;
                    ((uint8_t *)gi_row(&b, y))[x] = (uint8_t)y;
                }
            }
        for (int op = 0; op < POINTWISE_OPERATIONS; op++)
            for (int i = 0; i < (quick() ? 1 : 5); i++) {
                struct gi_pointwise spec;
                random_pointwise(&spec, &tables, (enum gi_pointwise_op)op, &a, &seed);
                spec.t = t[i];
                check(&spec, &a, &b);
            }
        gi_image_free(&a);
        gi_image_free(&b);
    }
}

static void other_types_are_refused(void **state)
{
    (void)state;
    struct gi_err err = {0};
    struct gi_image image;
    struct gi_threshold zero = {0};
    want_device();
    assert_int_equal(cuda->k->alloc(cuda, &image, 5, 3, 1, GI_U32, &err), GI_OK);
    for (int op = 0; op < POINTWISE_OPERATIONS; op++) {
        struct gi_pointwise spec = {
            .op = (enum gi_pointwise_op)op, .table = {tables.entry[0]}, .other = &image};
        assert_int_equal(cuda->k->pointwise(cuda, &image, &image, &spec, &err), GI_E_UNSUPPORTED);
    }
    assert_int_equal(cuda->k->threshold(cuda, &image, &image, &zero, &err), GI_E_UNSUPPORTED);
    assert_int_equal(cuda->k->luma(cuda, &image, &image, NULL, &err), GI_E_UNSUPPORTED);
    cuda->k->release(cuda, &image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_equals_cpu),
        cmocka_unit_test(all_values_equal_cpu),
        cmocka_unit_test(other_types_are_refused),
    };
    return cmocka_run_group_tests(tests, open_both, close_both);
}
