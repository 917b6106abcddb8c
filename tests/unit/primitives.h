/* The walk over primitives, which all their tests share. A test makes random cases (a spec and
 * images), and defines their results in plain loops. WALK_ROWS() compares every way of every
 * backend with these results: at each instruction level of the CPU and on CUDA, with several
 * numbers of threads, and in place where that is allowed. At the end several queues of one device
 * run at once, each with another case.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cases.h"
#include "kernels/ways.h"

enum { WALK_SOURCES = 4, WALK_OTHERS = 3 };

/* One call of a primitive, and the result that the call must have. The walk sets the first members
 * (up to `seed`), the row's draw() sets the inputs, and the row's define() sets the result. */
struct walk_case {
    const struct walk_row *row;
    enum gi_type type;
    int channels, width, height;
    enum gi_border border;
    int turn;   /* the number of the case in its row */
    bool large; /* the definition should stay quick */
    uint64_t *seed;

    void *spec;
    size_t spec_nbytes;
    struct guard srcs[WALK_SOURCES]; /* the first one or ones are `src` */
    int nsrcs;
    struct guard others[WALK_OTHERS]; /* images that the spec names */
    size_t other_at[WALK_OTHERS];     /* offset in the spec of the pointer to others[i] */
    int nothers;
    /* offset in the spec of a second pointer to others[0], or 0 if there is none */
    size_t again_at;
    /* offsets in the spec of a pointer and of the pointer's target, or 0 if there is none */
    size_t inner_at, inner_to;
    /* The result is either the image `want` or `data` in host memory. Data begin as a copy of
     * `start` before the call, because some primitives add to their result. */
    struct gi_image want;
    void *start, *data;
    size_t nbytes;

    struct walk_memory *memory;
};

typedef void walk_draw_fn(struct walk_case *c);

/* A kind of cases of a primitive. */
struct walk_row {
    const char *primitive;
    const char *what; /* the cases: "few taps" */
    walk_draw_fn *draw, *define;
    /* Widths and heights, ended by a width of 0. NULL means the usual sizes. */
    const int (*sizes)[2];
    /* The images that `dst` may replace. Bit 0 stands for `src`, bit i + 1 for others[i]. */
    unsigned in_place;
    /* If true, each shape runs with one border mode only, because the cases are slow or have no
     * border. */
    bool few;
    /* If true, another test runs the ways that these cases do not take. */
    bool some_ways;
    /* NULL, or a part of the message of GI_E_UNSUPPORTED with which a backend may refuse a case. */
    const char *may_refuse;
    /* Compares a result that is not plain data, and frees this result. If NULL, the bytes are
     * compared. */
    bool (*equal)(struct gi_queue *queue, const struct walk_case *c, void *result);
};

/* Initializes a row. The arguments are the primitive, the cases, draw(), define() and further
 * members. */
#define WALK_ROW(name, cases, drawn, ...)                                                          \
    {                                                                                              \
        .primitive = name, .what = cases, .draw = drawn, .define = __VA_ARGS__                     \
    }

/* Memory of the case, zeroed. */
void *walk_alloc(struct walk_case *c, size_t nbytes);

/* Makes the spec: nbytes of zeros. */
void *walk_spec(struct walk_case *c, size_t nbytes);
#define WALK_SPEC(c, type) ((type *)walk_spec(c, sizeof(type)))

/* Both functions make an image with random samples. walk_source() makes the next source.
 * walk_other() makes the next further image, to which the pointer `at` in the spec will point. In a
 * fourth of the cases, float images have a few infinities and NaNs. */
struct gi_image *walk_source(struct walk_case *c, int width, int height, int channels,
                             enum gi_type type);
struct gi_image *walk_other(struct walk_case *c, const struct gi_image **at, int width, int height,
                            int channels, enum gi_type type);
/* Makes the next source with the shape and type of the case. */
struct gi_image *walk_source_here(struct walk_case *c);

/* walk_result() makes the image `want`. walk_data() makes data that begin as a copy of `start`, or
 * as zeros if `start` is NULL. */
struct gi_image *walk_result(struct walk_case *c, int width, int height, int channels,
                             enum gi_type type);
void *walk_data(struct walk_case *c, const void *start, size_t nbytes);

/* Returns whether an image of the case has floats outside 0 to 1. */
bool walk_is_odd(const struct walk_case *c);

/* Fills `want` with the result of plain C on one thread. Some rows' define() then compares this
 * result with a definition in double. */
void walk_plain(struct walk_case *c);

/* Return a random integer from lo to hi, and a random float from -1 to 1. */
int walk_between(struct walk_case *c, int lo, int hi);
float walk_real(struct walk_case *c);

/* Makes up to two random runs in each row of a rectangle whose anchor is at (ax, ay). */
struct gi_footprint_run *walk_runs(struct walk_case *c, int width, int height, int ax, int ay,
                                   int *n);

/* Sets some floats to infinities, NaNs, -0 and subnormal numbers. */
void walk_fill_odd(struct gi_image *image, uint64_t *seed);
/* Sets a third of the floats to unusual values, most of which integer types can't hold. */
void walk_fill_odd_bits(struct walk_case *c, struct gi_image *image);

/* Frees everything that the case has made. */
void walk_free(struct walk_case *c);

/* ---- for primitives.c ---- */

/* Functions that find a primitive of GI_PRIMITIVES by its name: the function to call, which has the
 * same signature for all primitives, the number in that list, and whether a backend has it. */
typedef enum gi_status walk_call_fn(struct gi_queue *queue, void *result,
                                    const struct gi_image *src, const void *spec,
                                    struct gi_err *err);
walk_call_fn *walk_call(const char *primitive);
size_t walk_number(const char *primitive);
bool walk_exists(const struct gi_kernels *k, const char *primitive);

/* Runs a case on a queue, and describes a difference in `wrong`. `where` is the bit number in
 * walk_row.in_place of the image that `dst` replaces, or WALK_APART. WALK_NOT_TAKEN means that the
 * forced way does not take the case. */
enum walk_outcome { WALK_EQUAL, WALK_DIFFERENT, WALK_NOT_TAKEN };
enum { WALK_APART = -1 };
enum walk_outcome walk_run(struct gi_queue *queue, const struct walk_case *c, int where,
                           char *wrong, size_t size);

/* Adds the tests of the walk: it opens queues of all levels and of CUDA, and walks the rows, an
 * array. It tests that every way of their primitives has run, and that images of labels are
 * refused. Words of the command line select rows by the name of the primitive. */
#define WALK_ROWS(rows)                                                                            \
    __attribute__((constructor)) static void walk_rows_are_used(void)                              \
    {                                                                                              \
        walk_use(rows, sizeof(rows) / sizeof *(rows));                                             \
    }
void walk_use(const struct walk_row *rows, size_t nrows);
