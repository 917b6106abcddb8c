/* The walk over primitives, which all their tests share. A test draws cases (a spec and images) and
 * defines their results in plain loops. walk_rows() compares every way of every backend with them:
 * at each instruction level of the CPU and on CUDA, with several numbers of threads, in place where
 * allowed, and at the end on several queues of one device at once, each with another case.
 * SPDX-License-Identifier: MIT */
#ifndef GI_TESTS_PRIMITIVES_H
#define GI_TESTS_PRIMITIVES_H

#include "cases.h"
#include "kernels/ways.h"

enum { WALK_SOURCES = 4, WALK_OTHERS = 3 };

/* One call of a primitive with the result that it must have. The walk sets the first members (up to
 * `seed`), the row's draw() sets the inputs, and the row's define() sets the result. */
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
    size_t again_at;           /* offset in the spec of a second pointer to others[0]; 0: none */
    size_t inner_at, inner_to; /* offsets in the spec of a pointer and of its target; 0: none */
    /* The result is an image, or data in host memory. `data` begins as `start`, since some
     * primitives add to it. */
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
    const int (*sizes)[2]; /* widths and heights, up to a width of 0; NULL: the usual ones */
    /* Which images `dst` may replace: bit 0 for `src`, bit i + 1 for others[i]. */
    unsigned in_place;
    bool few; /* true: one border mode per shape, because the cases are slow or have no border */
    bool some_ways; /* another test runs the ways that these cases do not take */
    /* Compares a result that is not plain data, and frees it; NULL: compares the bytes. */
    bool (*equal)(struct gi_queue *queue, const struct walk_case *c, void *result);
};

/* A row: primitive, cases, draw(), define() and further members. */
#define WALK_ROW(name, cases, drawn, ...)                                                          \
    {                                                                                              \
        .primitive = name, .what = cases, .draw = drawn, .define = __VA_ARGS__                     \
    }

/* Memory of the case, zeroed. */
void *walk_alloc(struct walk_case *c, size_t nbytes);

/* Makes the spec: nbytes of zeros. */
void *walk_spec(struct walk_case *c, size_t nbytes);
#define WALK_SPEC(c, type) ((type *)walk_spec(c, sizeof(type)))

/* Both make an image with random samples: the next source, or the next further image, whose pointer
 * in the spec is `at`. In a fourth of the cases floats have a few infinities and NaNs. */
struct gi_image *walk_source(struct walk_case *c, int width, int height, int channels,
                             enum gi_type type);
struct gi_image *walk_other(struct walk_case *c, const struct gi_image **at, int width, int height,
                            int channels, enum gi_type type);
/* Makes the next source in the shape and type of the case. */
struct gi_image *walk_source_here(struct walk_case *c);

/* Makes the image `want`, or data that begin as `start` (NULL: zeros). */
struct gi_image *walk_result(struct walk_case *c, int width, int height, int channels,
                             enum gi_type type);
void *walk_data(struct walk_case *c, const void *start, size_t nbytes);

/* Returns whether an image of the case has floats outside 0 to 1. */
bool walk_is_odd(const struct walk_case *c);

/* Fills `want` with the result of plain C on one thread, for a row whose define() then compares it
 * with a definition in double. */
void walk_plain(struct walk_case *c);

/* Draw a random integer from lo to hi, and a random float from -1 to 1. */
int walk_between(struct walk_case *c, int lo, int hi);
float walk_real(struct walk_case *c);

/* Draws up to two runs in each row of a rectangle with its anchor at (ax, ay). */
struct gi_footprint_run *walk_runs(struct walk_case *c, int width, int height, int ax, int ay,
                                   int *n);

/* Sets some floats to infinities, NaNs, -0 and subnormal numbers. */
void walk_fill_odd(struct gi_image *image, uint64_t *seed);

/* Frees everything that the case has made. */
void walk_free(struct walk_case *c);

/* ---- for primitives.c ---- */

/* The primitives of GI_PRIMITIVES by name: the function, with one signature for all, the number in
 * this list, and whether a backend has it. */
typedef enum gi_status walk_call_fn(struct gi_queue *queue, void *result,
                                    const struct gi_image *src, const void *spec,
                                    struct gi_err *err);
walk_call_fn *walk_call(const char *primitive);
size_t walk_number(const char *primitive);
bool walk_exists(const struct gi_kernels *k, const char *primitive);

/* Runs a case on a queue, and describes a difference in `wrong`. `where` is the image that `dst`
 * replaces, by the bits of walk_row.in_place, or WALK_APART. NOT_TAKEN: by the forced way. */
enum walk_outcome { WALK_EQUAL, WALK_DIFFERENT, WALK_NOT_TAKEN };
enum { WALK_APART = -1 };
enum walk_outcome walk_run(struct gi_queue *queue, const struct walk_case *c, int where,
                           char *wrong, size_t size);

/* The main() of a test: opens queues of all levels and of CUDA, walks the rows, tests that every
 * way of their primitives has run and that images of labels are refused, and runs the tests `more`.
 * Words of the command line select rows by primitive. */
int walk_main(int argc, char **argv, const struct walk_row *rows, size_t nrows,
              const struct CMUnitTest *more, size_t nmore);

#endif
