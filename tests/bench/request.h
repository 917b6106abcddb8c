/* The protocol of the bench programs. A request is one line of JSON, which describes a piece of
 * work. The answer is one line of JSON with the times of that work. All pieces of work are listed
 * in rows.json. bench.py computes the statistics.
 * SPDX-License-Identifier: MIT */
#ifndef GI_BENCH_REQUEST_H
#define GI_BENCH_REQUEST_H

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "filters/geometry/resample_weights.h"
#include "kernels/ways.h"
#include "kernels/statistics.h"
#include "tests/bench/picture.h"

#ifdef __cplusplus
extern "C" {
#endif

enum bench_work {
    BENCH_GAUSSIAN,  /* k x k, separable, sigma k / 6 */
    BENCH_DENSE,     /* any kernel of k x k weights */
    BENCH_BOX,       /* mean of k x k */
    BENCH_ERODE,     /* minimum of k x k */
    BENCH_MEDIAN,    /* of k x k */
    BENCH_BILATERAL, /* of k x k, sigma k / 3, range 10 % */
    BENCH_NLMEANS,   /* patches of k x k in 21 x 21, strength 4 % */
    BENCH_CLAHE,     /* in 8 x 8 tiles, limit 2 */
    BENCH_SOBEL,     /* magnitude of both gradients */
    BENCH_SOBEL_X,   /* |gradient| along x */
    BENCH_THRESHOLD,
    BENCH_LOCAL_MEAN, /* adaptive threshold: the mean of k x k samples minus 10/255 of full scale */
    BENCH_SAUVOLA,    /* adaptive threshold by mean and deviation of k x k samples */
    BENCH_INTEGRAL,   /* integral image: 64-bit sums of all samples above and to the left */
    BENCH_AFFINE,     /* a factor and an offset */
    BENCH_TABLE,      /* a table for all channels; u8 and u16 */
    BENCH_ADD,        /* two images, like the next eight */
    BENCH_SUBTRACT,
    BENCH_MULTIPLY, /* white is 1 */
    BENCH_ABSDIFF,
    BENCH_BLEND,       /* 0.7 of an image and 0.3 of another */
    BENCH_MEAN,        /* half of the sum */
    BENCH_DIVIDE,      /* white is 1 */
    BENCH_COMPOSITE,   /* an image over another */
    BENCH_MASK,        /* an image masked by the luma of another */
    BENCH_FLIP_H,      /* left to right */
    BENCH_FLIP_V,      /* top to bottom */
    BENCH_TRANSPOSE,   /* square images */
    BENCH_TURN_90,     /* a quarter turn of square images */
    BENCH_WINDOW,      /* a shift by 13 pixels and 7 rows */
    BENCH_SWAP,        /* the channels in reverse order */
    BENCH_ROTATE,      /* by `degrees` about the centre, with empty corners */
    BENCH_PERSPECTIVE, /* by a projective map */
    BENCH_POLAR,       /* a polar image to Cartesian */
    /* the map's floats X, Y are in two channels (bench_map()), as in the next three */
    BENCH_MAP_LENS,
    BENCH_MAP_POLAR,
    BENCH_MAP_JITTER,
    BENCH_MAP_RANDOM,
    BENCH_RESIZE,    /* the result is `to` pixels wide, by `filter`; square images get `to` rows */
    BENCH_OPERATION, /* all passes of `operation`, whose result has the input's shape */
    BENCH_LUMA,      /* RGB to gray; all work up to here makes an image */
    BENCH_HISTOGRAM, /* all values; f32: 256 bins from 0 to 1 */
    BENCH_SUM,       /* sums and sums of squares */
    BENCH_REDUCE,    /* sums, sums of squares, minima and maxima with their positions */
    /* f32: pixels of BENCH_MATRIX_SIDE channels times a matrix. Only on CUDA, as all up to
     * BENCH_DOUBLES. */
    BENCH_MATRIX,
    BENCH_SORT,         /* f32 gray: as many random 32-bit keys */
    BENCH_BODIES,       /* f32 RGBA: x, y, z and mass of bodies; the acceleration of each by all */
    BENCH_TREE,         /* f32 gray: the sum, as a tree whose nodes add `by` values */
    BENCH_DOUBLES,      /* the sum of BENCH_DOUBLES_A_PIXEL doubles per pixel */
    BENCH_SELECT,       /* stream compaction: coordinates and values above half of full scale */
    BENCH_LABEL,        /* connected components above half of full scale */
    BENCH_REGION_STATS, /* sums of the regions of given labels */
    BENCH_COMPONENTS,   /* BENCH_LABEL and BENCH_REGION_STATS */
};

/* The members of a request, each with its default:
 * {"work": "gaussian", "k": 5, "type": "u8", "channels": 1, "alpha": "weigh", "input": "random",
 *  "width": 8192, "height": 8192, "connectivity": 8, "threads": 1, "runs": 15, "peers": true,
 *  "way": "", "ways": false, "save": "", "degrees": 7,
 *  "interpolation": "linear", "by": 2, "to": 4096, "filter": "triangle", "operation": ""} */
struct bench_request {
    enum bench_work work;
    enum gi_type type;
    enum gi_alpha_rule alpha; /* GI_ALPHA_WEIGH, as filters use it, or GI_ALPHA_PLAIN */
    struct bench_picture picture;
    int k, channels, connectivity;
    int threads; /* CPU */
    int runs;
    int degrees;                         /* BENCH_ROTATE */
    enum gi_interpolation interpolation; /* maps */
    int by;                              /* BENCH_TREE: 2, 4 or 8 */
    int to; /* BENCH_RESIZE: width of the result, whose height is in proportion; default: half */
    enum gi_resample_filter filter;
    /* BENCH_OPERATION: the operation's name and options, as in "erode k=31 shape=disk". A flag is
     * written without a value. The value "other" means a second image. */
    char operation[96];
    bool peers; /* whether peers are timed too (CUDA) */
    /* also time every way that accepts the work, which adds {"ways": {NAME: [us]}} */
    bool ways;
    char way[32];   /* name of a way to force (kernels/ways.h), or "" for the fastest way */
    char save[256]; /* path to which the input is written, as raw samples without padding, or "" */
};

enum {
    BENCH_MATRIX_SIDE = 128,
    BENCH_DOUBLES_A_PIXEL = 16,
    BENCH_SORT_PASSES = 4,
    BENCH_BODIES_FMAS = 10, /* per pair of bodies: 20 operations, as NVIDIA's sample counts them */
};

/* Returns whether no primitive does the work. bench_cpu can't do such work. */
static inline bool bench_is_pattern(enum bench_work work)
{
    return work >= BENCH_MATRIX && work <= BENCH_DOUBLES;
}

/* Returns the work of that name, or -1. */
int bench_work_of(const char *name);

/* Returns whether the work makes an image from an image, so that bench_filter_run() runs it. */
static inline bool bench_is_filter(enum bench_work work)
{
    return work <= BENCH_LUMA;
}

/* Returns whether the work needs a second image of the same shape. */
static inline bool bench_has_other(const struct bench_request *request)
{
    return (request->work >= BENCH_ADD && request->work <= BENCH_MASK) ||
           strstr(request->operation, "=other");
}

/* Returns whether the second image is a coordinate map, which has the shape bench_map_shape(). */
static inline bool bench_has_map(const struct bench_request *request)
{
    return request->work >= BENCH_MAP_LENS && request->work <= BENCH_MAP_RANDOM;
}

static inline struct gi_image bench_map_shape(const struct bench_request *request)
{
    struct gi_image shape;
    memset(&shape, 0, sizeof shape);
    shape.width = request->picture.width;
    shape.height = request->picture.height;
    shape.channels = 2;
    shape.type = GI_F32;
    return shape;
}

/* Computes channel c (0 is X, 1 is Y) at (x, y) in the coordinate map of a work. */
GI_HOST_DEVICE static inline float bench_map(const struct bench_request *request, int x, int y,
                                             int c)
{
    float w = (float)request->picture.width, h = (float)request->picture.height;
    float dx = (float)x - w / 2, dy = (float)y - h / 2, at = c ? (float)y : (float)x;
    float r2 = (dx * dx + dy * dy) / (w * w);
    uint64_t key = bench_key(x, y, c, 1);
    switch (request->work) {
    case BENCH_MAP_LENS:
        return at + (c ? dy : dx) * 0.2f * (r2 - 0.5f);
    case BENCH_MAP_POLAR:
        return c ? (atan2f(dy, dx) + 3.14159265f) * h / 6.2831853f : 1.4f * w * sqrtf(r2);
    case BENCH_MAP_JITTER: /* a sum of four random numbers in 0..1 has standard deviation 0.577 */
        return at + 5.2f * (bench_unit(key) + bench_unit(key + 4) + bench_unit(key + 8) +
                            bench_unit(key + 12) - 2);
    default:
        return bench_unit(key) * (c ? h - 2 : w - 2);
    }
}

/* Returns the ways of the work's primitive, or of the last primitive if the work runs several.
 * Returns NULL if no primitive does the work. */
const struct gi_ways *bench_ways(const struct gi_kernels *k, enum bench_work work);

/* Forces way i of bench_ways(). If i is -1, forces the way that the request names, or none. */
enum gi_status bench_force_way(struct gi_queue *queue, const struct bench_request *request, int i,
                               struct gi_err *err);

/* Returns the shape of the work's result, without samples. */
struct gi_image bench_dst_shape(const struct bench_request *request);

enum { BENCH_K_MAX = 4001, BENCH_DENSE_MAX = 89 };

/* Weights and tables of a filter in host memory. All bytes are zero before the first use. */
struct bench_weights {
    float taps[BENCH_K_MAX];
    float dense[BENCH_DENSE_MAX * BENCH_DENSE_MAX];
    uint8_t table8[256]; /* square roots */
    uint16_t table16[65536];
    /* for BENCH_OPERATION, and for BENCH_RESIZE, whose tables are a struct gi_resample */
    struct gi_plan plan;
    double params[256]; /* the operation's */
    void *state;        /* the state that its looks fill */
};
enum gi_status bench_weights_fill(struct bench_weights *weights,
                                  const struct bench_request *request, struct gi_err *err);
void bench_weights_free(struct bench_weights *weights);

/* Enqueues one filter. `other` is used if bench_has_other() or bench_has_map() returns true. */
enum gi_status bench_filter_run(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_image *other,
                                const struct bench_request *request,
                                const struct bench_weights *weights, struct gi_err *err);

/* For BENCH_OPERATION (operation.c). bench_operation_fill() fills plan, params and state.
 * bench_operation_run() runs the looks (passes that only read) and the operation. */
enum gi_status bench_operation_fill(struct bench_weights *weights,
                                    const struct bench_request *request, struct gi_err *err);
enum gi_status bench_operation_run(struct gi_queue *queue, struct gi_image *dst,
                                   const struct gi_image *srcs, const struct bench_weights *weights,
                                   struct gi_err *err);

struct gi_histogram_spec bench_histogram_spec(const struct bench_request *request);

/* Lower bounds of the cost of the work: the number of bytes if each input is read once and each
 * output is written once, and the number of multiply-adds. `kept` is the number of foreground
 * pixels or regions that the run found. */
struct bench_cost {
    double bytes, fmas;
};
struct bench_cost bench_cost_of(const struct bench_request *request, double kept);

/* Reads requests from standard input, one per line, and prints a JSON object for each request.
 * `answer` fills that object, or fails with `err`. Returns the exit status. */
typedef enum gi_status bench_answer_fn(void *self, json_t *object,
                                       const struct bench_request *request, struct gi_err *err);
int bench_serve(void *self, bench_answer_fn *answer);

/* Appends microseconds to the list `name` of `object`. Makes the list if it does not exist. */
void bench_log_time(json_t *object, const char *name, double us);

#ifdef __cplusplus
}
#endif
#endif
