/* Shared by the bench programs: a line of JSON names a piece of work, a line of JSON answers with
 * its times. The rows themselves are in rows.json, statistics are computed by bench.py.
 * SPDX-License-Identifier: MIT */
#ifndef GI_BENCH_REQUEST_H
#define GI_BENCH_REQUEST_H

#include <jansson.h>
#include <string.h>

#include "filters/geometry/resample_weights.h"
#include "kernels/ways.h"
#include "tests/bench/content.h"

#ifdef __cplusplus
extern "C" {
#endif

enum bench_work {
    BENCH_GAUSSIAN,  /* k x k, separable, sigma k / 6 */
    BENCH_DENSE,     /* any kernel of k x k weights */
    BENCH_BOX,       /* mean of k x k */
    BENCH_ERODE,     /* least of k x k */
    BENCH_MEDIAN,    /* of k x k */
    BENCH_BILATERAL, /* of k x k, sigma k / 3, range 10 % */
    BENCH_NLMEANS,   /* patches of k x k in 21 x 21, strength 4 % */
    BENCH_CLAHE,     /* in 8 x 8 tiles, limit 2 */
    BENCH_SOBEL,     /* magnitude of both gradients */
    BENCH_SOBEL_X,   /* |gradient| along x */
    BENCH_THRESHOLD,
    BENCH_LOCAL_MEAN, /* above the mean of k x k less 10 / 255 of full scale */
    BENCH_SAUVOLA,    /* above the level of k x k, with the deviation */
    BENCH_INTEGRAL,   /* sums of all samples above and left, in 64 bits */
    BENCH_AFFINE,     /* a factor and an offset */
    BENCH_TABLE,      /* a table for all channels; u8 and u16 */
    BENCH_ADD,        /* two images, as the next eight */
    BENCH_SUBTRACT,
    BENCH_MULTIPLY, /* white being 1 */
    BENCH_ABSDIFF,
    BENCH_BLEND,        /* 0.7 of one and 0.3 of another */
    BENCH_MEAN,         /* half of the sum */
    BENCH_DIVIDE,       /* white being 1 */
    BENCH_COMPOSITE,    /* one over another */
    BENCH_MASK,         /* one by the luma of another */
    BENCH_FLIP_H,       /* left and right */
    BENCH_FLIP_V,       /* top and bottom */
    BENCH_TRANSPOSE,    /* of square images */
    BENCH_TURN_90,      /* by a quarter, of square images */
    BENCH_WINDOW,       /* a shift by 13 pixels and 7 rows */
    BENCH_SWAP,         /* the channels in reverse order */
    BENCH_ROTATE,       /* by `degrees` about the middle, the corners empty */
    BENCH_PERSPECTIVE,  /* by a projective map */
    BENCH_POLAR,        /* an image on rays made Cartesian */
    BENCH_RESIZE,       /* to `to` pixels by `filter`, `to` rows of square images */
    BENCH_OPERATION,    /* what `operation` says, all passes of it; the result is of its shape */
    BENCH_LUMA,         /* RGB to gray; these and those above: image to image */
    BENCH_HISTOGRAM,    /* all values; f32: 256 bins from 0 to 1 */
    BENCH_SUM,          /* sums and sums of squares */
    BENCH_REDUCE,       /* sums, sums of squares, extremes and their places */
    BENCH_MATRIX,       /* f32: pixels of BENCH_MATRIX_SIDE numbers by one matrix; CUDA only, as the
                           next one */
    BENCH_DOUBLES,      /* the sum of BENCH_DOUBLES_A_PIXEL doubles a pixel */
    BENCH_SELECT,       /* coordinates and values above half of full scale */
    BENCH_LABEL,        /* labels of the regions above half of full scale */
    BENCH_REGION_STATS, /* their statistics, the labels being there */
    BENCH_COMPONENTS,   /* both */
};

/* The members of a request, each with its default:
 * {"work": "gaussian", "k": 5, "type": "u8", "channels": 1, "alpha": "weigh", "input": "random",
 *  "width": 8192, "height": 8192, "connectivity": 8, "threads": 1, "runs": 15, "peers": true,
 *  "way": "", "ways": false, "save": "", "degrees": 7,
 *  "interpolation": "linear", "to": 4096, "filter": "triangle", "operation": ""} */
struct bench_request {
    enum bench_work work;
    enum gi_type type;
    enum gi_alpha_rule alpha; /* WEIGH, as the filters have it, or PLAIN; PLAIN without alpha */
    struct bench_picture picture;
    int k, channels, connectivity;
    int threads; /* CPU */
    int runs;
    int degrees;                         /* BENCH_ROTATE */
    enum gi_interpolation interpolation; /* maps */
    int to; /* BENCH_RESIZE: pixels in a row of the result, and rows in proportion */
    enum gi_resample_filter filter;
    /* BENCH_OPERATION: its name and options, "erode k=31 shape=disk"; an option that is "other" is
     * a second image, a flag stands alone. */
    char operation[96];
    bool peers;     /* whether they are timed too (CUDA) */
    bool ways;      /* whether each way that takes the work is timed too: {"ways": {NAME: [us]}} */
    char way[32];   /* of the work's primitive (kernels/ways.h), the one to go; "": the quickest */
    char save[256]; /* where the input goes as raw samples without padding; "": nowhere */
};

enum { BENCH_MATRIX_SIDE = 128, BENCH_DOUBLES_A_PIXEL = 16 };

/* Whether no primitive does the work, so that the CPU's program knows it not. */
static inline bool bench_is_pattern(enum bench_work work)
{
    return work == BENCH_MATRIX || work == BENCH_DOUBLES;
}

/* The work of that name; -1: none. */
int bench_work_of(const char *name);

/* Whether the work makes an image from an image by bench_filter_run(). */
static inline bool bench_is_filter(enum bench_work work)
{
    return work <= BENCH_LUMA;
}

/* Whether it takes a second image of the same shape. */
static inline bool bench_has_other(const struct bench_request *request)
{
    return (request->work >= BENCH_ADD && request->work <= BENCH_MASK) ||
           strstr(request->operation, "=other");
}

/* The ways of the work's primitive, its last one's where it takes several; NULL: it has none. */
const struct gi_ways *bench_ways(const struct gi_kernels *k, enum bench_work work);

/* Has the work go way i of bench_ways(); -1: the request's, or any. */
enum gi_status bench_force_way(struct gi_queue *queue, const struct bench_request *request, int i,
                               struct gi_err *err);

/* The shape of the image that the work makes; no samples. */
struct gi_image bench_dst_shape(const struct bench_request *request);

enum { BENCH_K_MAX = 4001, BENCH_DENSE_MAX = 89 };

/* The weights and tables of a filter, host memory, zeroed before the first filling. */
struct bench_weights {
    float taps[BENCH_K_MAX];
    float dense[BENCH_DENSE_MAX * BENCH_DENSE_MAX];
    uint8_t table8[256]; /* square roots */
    uint16_t table16[65536];
    struct gi_plan
        plan;          /* of BENCH_RESIZE, whose tables are a struct gi_resample; of an operation */
    double params[64]; /* the operation's */
    void *state;       /* what its looks fill */
};
enum gi_status bench_weights_fill(struct bench_weights *weights,
                                  const struct bench_request *request, struct gi_err *err);
void bench_weights_free(struct bench_weights *weights);

/* Enqueues one filter; `other`: see bench_has_other(). */
enum gi_status bench_filter_run(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_image *other,
                                const struct bench_request *request,
                                const struct bench_weights *weights, struct gi_err *err);

/* BENCH_OPERATION (operation.c): fills plan, params and state; runs it, looks first. */
enum gi_status bench_operation_fill(struct bench_weights *weights,
                                    const struct bench_request *request, struct gi_err *err);
enum gi_status bench_operation_run(struct gi_queue *queue, struct gi_image *dst,
                                   const struct gi_image *srcs, const struct bench_weights *weights,
                                   struct gi_err *err);

struct gi_histogram_spec bench_histogram_spec(const struct bench_request *request);

/* The fewest bytes, each input read once and each output written once, and multiply-adds that the
 * work can do with; `kept` foreground pixels or regions. */
struct bench_cost {
    double bytes, fmas;
};
struct bench_cost bench_cost_of(const struct bench_request *request, double kept);

/* Reads requests from standard input, one per line, and prints the answers, one object each;
 * `answer` fills an answer, or fails with `err`. Returns the exit status. */
typedef enum gi_status bench_answer_fn(void *self, json_t *object,
                                       const struct bench_request *request, struct gi_err *err);
int bench_serve(void *self, bench_answer_fn *answer);

/* Appends microseconds to the list `name` of `object`, which is made where it is absent. */
void bench_say_time(json_t *object, const char *name, double us);

#ifdef __cplusplus
}
#endif
#endif
