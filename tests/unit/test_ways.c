/* Tables of ways are consistent, an unknown or unsuitable way that is forced causes a message, and
 * the ways that run are counted.
 * Sources: kernels/ways kernels/primitives kernels/kernels.h table kernels/cpu/cpu.h
 *     kernels/cuda/cuda.h
 * SPDX-License-Identifier: MIT */
#include "cases.h"
#include "kernels/kernels.h"
#include "kernels/ways.h"
#include "kernels/convolution.h"

enum { SEED = 20261122 };

static struct gi_queue *scalar;

static void check_tables(const struct gi_kernels *k)
{
    int primitives = 0;
    for (const struct gi_ways *const *ways = k->ways; *ways; ways++, primitives++) {
        assert_ptr_equal(gi_ways_find(k, (*ways)->primitive), *ways);
        for (int i = 0; gi_way_at(*ways, i); i++) {
            const struct gi_way *way = gi_way_at(*ways, i);
            assert_true(way->name[0] && way->what[0] && strlen(way->name) < 32);
            assert_int_equal(strspn(way->name, "abcdefghijklmnopqrstuvwxyz0123456789_"),
                             strlen(way->name));
            for (int j = 0; j < i; j++)
                assert_string_not_equal(way->name, gi_way_at(*ways, j)->name);
        }
    }
    assert_in_range(primitives, 30, 60);
}

TEST(tables_are_sound)
{
    for (int l = 0; l < CASE_LEVELS; l++)
        if (gi_kernels_cpu_level(case_levels[l]))
            check_tables(gi_kernels_cpu_level(case_levels[l]));
    if (gi_kernels_cuda())
        check_tables(gi_kernels_cuda());
}

static void check_force(const char *text, enum gi_status status, const char *says)
{
    struct gi_err err = {0};
    assert_int_equal(gi_queue_force_ways(scalar, text, &err), status);
    if (!strstr(err.text, says))
        fail_msg("%s: \"%s\" says not \"%s\"", text, err.text, says);
}

TEST(forcing_says_what_there_is)
{
    check_force("", GI_OK, "");
    check_force("box:running", GI_OK, "");
    check_force("cpu/box:running,convolve_2d:rows", GI_OK, "");
    check_force("box:walking", GI_E_USAGE, "GPUIMG_WAY=box:walking: want box:WAY, one of small");
    check_force("bux:running", GI_E_USAGE, "want PRIMITIVE:WAY, one of convolve_separable");
    check_force("box", GI_E_USAGE, "want box:WAY");
    check_force("gpu/box:running", GI_E_USAGE, "want cpu/ or cuda/");
    check_force("box:running,box:walking", GI_E_USAGE, "box:walking");
    const struct gi_kernels *cuda = gi_kernels_cuda();
    if (!cuda) {
        check_force("cuda/box:running", GI_E_USAGE, "this build has no cuda");
        return;
    }
    char text[100];
    /* The CPU refuses the names of ways of the other backend. */
    const struct gi_ways *ways = cuda->ways[0];
    snprintf(text, sizeof text, "cuda/%s:%s", ways->primitive, gi_way_at(ways, 0)->name);
    check_force(text, GI_OK, "");
    check_force("cuda/box:walking", GI_E_USAGE, "(cuda)");
}

TEST(uses_are_counted)
{
    struct gi_queue *queue;
    struct gi_way_use uses[8];
    struct guard src, dst;
    uint64_t seed = SEED;
    struct gi_box spec = {.k = 3};
    guard_alloc(&src, 31, 33, 1, GI_U8, 0);
    guard_alloc(&dst, 31, 33, 1, GI_U8, 0);
    case_fill(&src.image, &seed);
    assert_int_equal(setenv("GPUIMG_WAY", "box:narrow", 1), 0);
    queue = case_open(gi_kernels_cpu(), 1);
    assert_int_equal(unsetenv("GPUIMG_WAY"), 0);
    assert_int_equal(gi_queue_ways(queue, uses, 8), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(queue->k->box(queue, &dst.image, &src.image, &spec, NULL), GI_OK);
    assert_int_equal(gi_queue_force_ways(queue, NULL, NULL), GI_OK);
    assert_int_equal(queue->k->box(queue, &dst.image, &src.image, &spec, NULL), GI_OK);
    assert_int_equal(gi_queue_ways(queue, uses, 8), 2);
    assert_string_equal(uses[0].primitive, "box");
    assert_string_equal(uses[0].way, "narrow");
    assert_int_equal(uses[0].runs, 3);
    assert_string_equal(uses[1].way, "small");
    assert_int_equal(uses[1].runs, 1);
    gi_queue_close_alone(&queue);
    guard_free(&src);
    guard_free(&dst);
}

static int open_queue(void **state)
{
    scalar = case_open(gi_kernels_cpu_level("scalar"), 1);
    return 0;
}

static int close_queue(void **state)
{
    gi_queue_close_alone(&scalar);
    return 0;
}

TEST_FRAME(.first = open_queue, .last = close_queue)
