/* The backends: one table of functions, filled once by kernels/cpu/ and once by kernels/cuda/.
 *
 * Every primitive gives the same bytes on every backend, thread count and instruction level. So
 * each comment below is a definition: the order of the float32 operations it names is binding,
 * `fmaf` is the fused one, nothing else is contracted, and sums start at +0. Images that a
 * primitive takes live on its backend (made by `alloc`, `upload` or another primitive of the same
 * queue). `dst` and `src` never overlap. Primitives enqueue; only `wait`, `sync`, copies without a
 * ticket and those that return host results wait for the device.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_KERNELS_H
#define GI_KERNELS_KERNELS_H

#include "imgio/image.h"
#include "kernels/border.h"
#include "kernels/clahe.h"
#include "kernels/colour.h"
#include "kernels/combine.h"
#include "kernels/device.h"
#include "kernels/flood.h"
#include "kernels/histogram.h"
#include "kernels/move.h"
#include "kernels/local.h"
#include "kernels/map.h"
#include "kernels/pairs.h"
#include "kernels/paint.h"
#include "kernels/parallel.h"
#include "kernels/rank.h"
#include "kernels/reduce.h"
#include "kernels/scan.h"
#include "kernels/scatter.h"
#include "kernels/veil.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GI_TAPS_MAX = 4001,    /* taps of one side of a separable kernel, and k of a box: at 8 bits its
                              sum, 255 * 4001^2, fits in 32 bits unsigned */
    GI_TAPS_BLOCK = 32,    /* of a separable kernel in one chain of fmaf: longer ones drift */
    GI_WEIGHTS_MAX = 7921, /* weights of a dense kernel, 89 x 89: with them a CUDA launch stays
                              within the 32764 bytes of constant memory for its arguments */
};

/* How a primitive that mixes pixels treats alpha; images without alpha take GI_ALPHA_PLAIN always
 * (the primitive sees to that). With c a colour sample, a its pixel's alpha, full the full scale:
 *   PLAIN  every channel is filtered alike.
 *   WEIGH  colour is filtered as c * a, alpha as a; let A = (filtered a) * (1 / sum of the weights)
 *          (the reciprocal computed once in float; 1 for a box). Where A > 0 colour is
 *          (filtered c * a) / A, elsewhere 0 (before the finish) and alpha 0. Alpha becomes A.
 *   KEEP   colour is filtered as c * a, the result divided by full; alpha is copied from `src`.
 * The product c * a is one float32 multiplication. */
enum gi_alpha_rule { GI_ALPHA_PLAIN, GI_ALPHA_WEIGH, GI_ALPHA_KEEP };

/* What happens to a filtered colour value f (after the alpha rule's division) before it is stored;
 * s is the source sample at the same place. Alpha skips this under every rule, GI_ALPHA_PLAIN too.
 */
enum gi_finish_kind {
    GI_FINISH_STORE, /* f + bias */
    GI_FINISH_ABS,   /* |f| + bias */
    /* From here on alpha stays as `src` has it. */
    GI_FINISH_UNSHARP, /* d = s - f; |d| > threshold ? fmaf(amount, d, s) : s */
    GI_FINISH_ABOVE,   /* d = s - f; d > threshold ? amount : bias */
};

/* Does it look at the source? */
#define GI_FINISH_COMPARES(kind) ((kind) >= GI_FINISH_UNSHARP)

struct gi_finish {
    enum gi_finish_kind kind;
    float bias;              /* sample units */
    float amount, threshold; /* UNSHARP: a factor, ABOVE: sample units; sample units */
};

/* The last step, the same everywhere: to an integer type round half to even, below 0 (and NaN) to
 * 0, above full scale to full scale; to GI_F32 as it is, but any NaN as 0x7fc00000 (processors
 * differ in the NaNs they make, so all primitives but luma of gray store only this one). */

/* Rows first: r(y, x) = sum over i of row[i] * src(y, x + i - row_anchor), then
 * f(y, x) = sum over j of col[j] * r(y + j - col_anchor, x): both as fmaf(weight, sample, sum) with
 * the index ascending. This is correlation: the taps are not turned round. A row outside the image
 * under GI_BORDER_VALUE is a row of border values and goes through the row taps like any other.
 *
 * More than GI_TAPS_BLOCK taps are summed in blocks of that many consecutive taps (the last one may
 * be shorter), each a chain of fmaf from +0. The blocks' sums p are added in order, in float32,
 * with a carry: s = the first p, c = 0; then for each further one y = p - c;  t = s + y;  e = (t -
 * s) - y;  c = e, or 0 where e is infinite or NaN;  s = t (so an infinite sum stays infinite). W.
 * Kahan, "Further remarks on reducing truncation errors", CACM 8(1), 1965. */
struct gi_separable {
    const float *row, *col;     /* host memory, read before the primitive returns */
    int nrow, ncol;             /* 1 to GI_TAPS_MAX */
    int row_anchor, col_anchor; /* 0 <= anchor < n */
    float sum;                  /* of all weights (row sum times column sum), for GI_ALPHA_WEIGH */
    enum gi_alpha_rule alpha;
    struct gi_edge edge;
    struct gi_finish finish;
};

/* f(y, x) = sum of weights[j * width + i] * src(y + j - anchor_y, x + i - anchor_x), as
 * fmaf(weight, sample, sum) in the order j ascending, within it i ascending. Correlation too. */
struct gi_dense {
    const float *weights; /* host memory, read before the primitive returns */
    int width, height;    /* each 1 or more, the product at most GI_WEIGHTS_MAX */
    int anchor_x, anchor_y;
    float sum;
    enum gi_alpha_rule alpha;
    struct gi_edge edge;
    struct gi_finish finish;
};

/* The mean of k x k pixels, k odd, 1 to GI_TAPS_MAX; GI_U8 and GI_U16 only. Exact in integers:
 * (2 * S + N) / (2 * N) rounded down, S the sum of the samples, N = k * k. Border values are
 * rounded to integers (half to even, saturated) first. With alpha under WEIGH: colour is (2 * S +
 * A) / (2 * A) rounded down, S the sum of c * a, A the sum of a (0 where A is 0); alpha is its own
 * mean. */
struct gi_box {
    int k;
    enum gi_alpha_rule alpha; /* PLAIN or WEIGH */
    struct gi_edge edge;
};

/* Gradient magnitude of a 3 x 3 operator. With D = (-1, 0, 1) and S = smooth, each as in
 * gi_separable: gx = rows by D then columns by S, gy = rows by S then columns by D;
 * f = sqrtf(fmaf(gx, gx, gy * gy)), correctly rounded. Finish: STORE. */
struct gi_gradient {
    float smooth[3];
    enum gi_alpha_rule alpha; /* PLAIN or KEEP */
    struct gi_edge edge;
};

/* The result for a sample alone, or with the sample at the same position of a second image. a is
 * the sample of `src`, b that of `other`; then the last step, as for all primitives. On GI_U8 and
 * GI_U16 all except AFFINE and BLEND have exact integer results. */
enum gi_point_op {
    GI_POINT_AFFINE,   /* fmaf(scale, a, offset), both of a's channel */
    GI_POINT_TABLE,    /* entry a of the table of a's channel; GI_F32: gi_unit_bin(a), NaN stays */
    GI_POINT_ADD,      /* a + b; from here on there are two images */
    GI_POINT_SUBTRACT, /* a - b */
    GI_POINT_MULTIPLY, /* a * b, on integers a * b / full scale, rounded (there are no ties) */
    GI_POINT_BLEND,    /* fmaf(t, b, fmaf(-t, a, a)): of finite samples a at 0 and b at 1 */
    GI_POINT_MIDDLE,   /* fmaf(1/2, b, 1/2 * a), which infinities have too */
    GI_POINT_MINIMUM,  /* b where a > b, else a; NaN where either is NaN */
    GI_POINT_MAXIMUM,  /* b where b > a, else a; NaN where either is NaN */
    GI_POINT_DIFFERENCE, /* |a - b| */
    GI_POINT_OUTLIER,    /* b where |a - b| > t, else a */
};

struct gi_point {
    enum gi_point_op op;
    bool alpha_too; /* alpha is a channel like the others; else the result has the alpha of `src` */
    float scale[GI_MAX_CHANNELS], offset[GI_MAX_CHANNELS]; /* AFFINE: a factor; sample units */
    float t; /* BLEND: any number; OUTLIER: 0 or more, sample units */
    /* TABLE: 256 or 65536 entries of the images' type for each channel, of GI_F32 numbers; alpha's
     * (the last) looked at only where `alpha_too`; several may be the same one, which is quicker.
     * NULL, of GI_F32 only: the channel stays. Host memory, read before the primitive returns. */
    const void *table[GI_MAX_CHANNELS];
};

/* One side of a resampling: result i is made of the `taps` source samples from place
 * first[i] - origin on, by row phase[i] of the weights; that never leaves the source. */
struct gi_resample_side {
    int n;                /* results: the width or the height of `dst` */
    int taps;             /* 1 or more */
    int origin;           /* the position that comes first in `src`, which may be a band of rows */
    int nphases;          /* rows of weights */
    const int32_t *first; /* n, never descending */
    const int32_t *phase; /* n, 0 to nphases - 1 */
    const float *weights; /* nphases rows of `taps` */
    const float *sums;    /* nphases: of each row, where that is not 1; else NULL, for both sides */
    const int32_t *integers; /* the same in 2^-22, for gi_resample.integer; else NULL */
};

/* A separable resampling. The tables are host memory, read before the primitive returns.
 *
 * Columns first: c(y, x) = sum over t of col.weights[phase][t] * src(col.first[y] + t, x), then
 * f(y, x) = sum over t of row.weights[phase][t] * c(y, row.first[x] + t), t ascending, both summed
 * as in gi_separable. With `sums` f is divided by the product of its row's and its column's, so
 * that whole weights make exact means. Alpha by its rule, the sum of the weights being 1; then the
 * last step.
 *
 * With `integer`, GI_U8 only, as Pillow's Image.resize computes (libImaging/Resample.c): rows first
 * by row.integers, then columns by col.integers, or with `columns_first` the other way round, 8
 * bits between the passes, each sum S of 32 bits rounded to (S + 2^21) >> 22 and cut off at 0 and
 * 255. Under WEIGH colour goes in as c * a / 255, t = c * a + 128; (t + (t >> 8)) >> 8, and comes
 * out as 255 * c / a cut off, 255 at most, but as it is where a is 0 or 255 (Convert.c: rgbA2rgba
 * and rgba2rgbA). */
struct gi_resample {
    struct gi_resample_side row, col; /* along a row: of columns of pixels; along a column */
    enum gi_alpha_rule alpha;         /* PLAIN or WEIGH */
    bool integer, columns_first;
};

/* A pixel is foreground where its sample of `on` is > above; with `invert` where it is not.
 * `on` has one channel. NaN is not > anything. */
struct gi_predicate {
    const struct gi_image *on;
    float above; /* sample units */
    bool invert;
};

/* Sums of quantised samples, exact in integers so that no order matters. q is the sample itself for
 * integer types. For GI_F32 q = rint((v - lo) * ((2^31 - 1) / (hi - lo))) in double, v clamped to
 * lo..hi, 0 where hi <= lo or hi - lo is not finite; NaN is left out. 2^32 samples at most. */
struct gi_sums {
    uint64_t n;               /* samples counted */
    uint64_t q;               /* sum of q */
    uint64_t q2_low, q2_high; /* sum of the lower 32 bits of q * q, and of the upper 32 bits */
};

/* Host memory: the coordinates and values of the foreground, in raster order. */
struct gi_points {
    uint64_t n;
    uint32_t *x, *y; /* n each; pixels from the left, rows from the top */
    float *value;    /* n; the sample of the value image */
};

/* One region of a label image, as integer sums. */
struct gi_region_sums {
    uint64_t area;                       /* pixels */
    uint64_t sum_x, sum_y;               /* of pixel coordinates (centres at whole numbers) */
    uint32_t min_x, min_y, max_x, max_y; /* inclusive */
    struct gi_sums value;      /* of the intensity; n is smaller than area where it is NaN */
    uint32_t min_key, max_key; /* of the intensity: the sample, or gi_float_key(); NaN left out;
                                  min_key > max_key: none */
    /* Perimeter after Benkrid and Crookes as scikit-image counts it (neighborhood=4): border pixels
     * are those of the region with one of their 4 neighbours outside it (outside the image counts);
     * each border pixel is classed by 10 * (diagonal border neighbours of the region)
     * + 2 * (4-neighbours that are border pixels of the region) + 1. Classes 5 7 15 17 25 27 count
     * in straight, 21 33 in diagonal, 13 23 in mixed; others nowhere. */
    uint64_t straight, diagonal, mixed;
};

enum gi_interpolation { GI_NEAREST, GI_LINEAR, GI_CUBIC };
/* dst(x, y) from the pixels around (X, Y). i = floor(X), t = X - i as float, j and u so from Y:
 *   NEAREST  the pixel (floor(X + 1/2), floor(Y + 1/2)).
 *   LINEAR   mix(mix(p(i, j), p(i + 1, j), t), mix(p(i, j + 1), p(i + 1, j + 1), t), u) where
 *            mix(a, b, t) = fmaf(t, b - a, a), but a where t is 0.
 *   CUBIC    rows first, then the column: the sums of gi_warp_weights() times p(i - 1) to p(i + 2),
 *            as fmaf(weight, sample, sum) from +0 with the index ascending, without the taps whose
 *            weight is 0. R. Keys, "Cubic convolution interpolation", IEEE ASSP 29(6), 1981.
 * Then the last step. Pixels outside are `edge`'s, save that under GI_MAP_RINGS rows wrap; but
 * under GI_BORDER_VALUE a pixel of the result none of whose taps is in the source has the edge's
 * value as it is. */
struct gi_warp {
    struct gi_map map;
    enum gi_interpolation interpolation;
    float cubic;              /* Keys' a */
    enum gi_alpha_rule alpha; /* PLAIN or WEIGH, by a sum of weights of 1; NEAREST is PLAIN */
    struct gi_edge edge;
    int height;       /* rows of the whole source, of which `src` holds those that are needed */
    int src_y, dst_y; /* the row of the whole that is the first of `src`, of `dst`; under
                         GI_BORDER_WRAP `src` may begin or end past it, where it stands again */
};

/* Primitives, image to image. `dst` is made by the caller: same width, height and type as
 * `src`, and the same channels unless said. All take 1 to 4 channels of GI_U8, GI_U16 and
 * GI_F32 unless said. Errors: GI_E_MEMORY, GI_E_DEVICE_MEMORY, GI_E_DEVICE. */
typedef enum gi_status gi_convolve_separable_fn(struct gi_queue *queue, struct gi_image *dst,
                                                const struct gi_image *src,
                                                const struct gi_separable *spec,
                                                struct gi_err *err);
typedef enum gi_status gi_convolve_2d_fn(struct gi_queue *queue, struct gi_image *dst,
                                         const struct gi_image *src, const struct gi_dense *spec,
                                         struct gi_err *err);
typedef enum gi_status gi_box_fn(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, const struct gi_box *spec,
                                 struct gi_err *err);
typedef enum gi_status gi_gradient_fn(struct gi_queue *queue, struct gi_image *dst,
                                      const struct gi_image *src, const struct gi_gradient *spec,
                                      struct gi_err *err);
/* `other` has the shape, channels and type of `src`, and is NULL for operations of one image. `dst`
 * may be `src` or `other` itself, the same samples at the same stride. Errors too: GI_E_UNSUPPORTED
 * for a type that the operation does not take. */
typedef enum gi_status gi_pointwise_fn(struct gi_queue *queue, struct gi_image *dst,
                                       const struct gi_image *src, const struct gi_image *other,
                                       const struct gi_point *spec, struct gi_err *err);
/* Colour samples: full scale where (sample > above) != invert, else 0; alpha is copied. `dst` may
 * be `src`. */
typedef enum gi_status gi_threshold_fn(struct gi_queue *queue, struct gi_image *dst,
                                       const struct gi_image *src, float above, bool invert,
                                       struct gi_err *err);
/* `dst` has one channel: gray as it is, or luma of Rec. ITU-R BT.709 on the stored values,
 * fmaf(0.0722f, b, fmaf(0.7152f, g, 0.2126f * r)), rounded as everywhere. Alpha is dropped. */
typedef enum gi_status gi_luma_fn(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *src, struct gi_err *err);

/* `dst` has the width row.n and the height col.n. */
typedef enum gi_status gi_resample_fn(struct gi_queue *queue, struct gi_image *dst,
                                      const struct gi_image *src, const struct gi_resample *spec,
                                      struct gi_err *err);
/* `dst` has any width and height; spec->field is on the backend too. */
typedef enum gi_status gi_warp_fn(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_warp *spec,
                                  struct gi_err *err);

/* Primitives with host results; they wait. */

/* sums[c] += the sums of channel c, quantised by lo[c] and hi[c] (GI_F32 only; else unused). */
typedef enum gi_status gi_moments_fn(struct gi_queue *queue, struct gi_sums *sums,
                                     const struct gi_image *src, const float *lo, const float *hi,
                                     struct gi_err *err);
/* `points` is made here; the caller frees it with gi_points_free(). `values` has one channel
 * and the shape of predicate->on. */
typedef enum gi_status gi_select_fn(struct gi_queue *queue, struct gi_points *points,
                                    const struct gi_image *values,
                                    const struct gi_predicate *predicate, struct gi_err *err);
/* Connected components of the foreground, connectivity 4 or 8. `labels` (GI_U32, one channel,
 * on the backend) is made here and released by the caller: 0 for background and 1 to *n in
 * raster order of each component's first pixel. At most 2^32 - 2 pixels. */
typedef enum gi_status gi_label_fn(struct gi_queue *queue, struct gi_image *labels, uint32_t *n,
                                   const struct gi_predicate *predicate, int connectivity,
                                   struct gi_err *err);
/* regions[l - 1] is set to the sums of label l, 1 <= l <= n (host memory, n entries). `labels`
 * and n are what label() gave. `values` has one channel and the shape of `labels`; lo, hi
 * quantise GI_F32 values as in gi_sums. */
typedef enum gi_status gi_region_stats_fn(struct gi_queue *queue, struct gi_region_sums *regions,
                                          uint32_t n, const struct gi_image *labels,
                                          const struct gi_image *values, float lo, float hi,
                                          struct gi_err *err);

struct gi_ways;
struct gi_kernels {
    enum gi_device_kind kind;
    const char *name; /* "cpu" or "cuda" */

    /* Life. `probe` fills at most `max` infos and returns how many devices there are; -1 with `err`
     * where the driver is missing or fails. device_open() may take 0.3 s on CUDA, and is safe on a
     * side thread; a device outlives its queues, and these what they made. `close` takes and nulls;
     * NULL: nothing happens. Errors: GI_E_DEVICE, GI_E_DEVICE_MEMORY, GI_E_MEMORY. */
    int (*probe)(struct gi_device_info *infos, int max, struct gi_err *err);
    /* What an open device says of itself; asks no other one. Errors: GI_E_DEVICE. */
    enum gi_status (*describe)(struct gi_device *device, struct gi_device_info *info,
                               struct gi_err *err);
    enum gi_status (*device_open)(struct gi_device **device, const struct gi_open_options *options,
                                  struct gi_err *err);
    void (*device_close)(struct gi_device **device);
    enum gi_status (*queue_open)(struct gi_queue **queue, struct gi_device *device,
                                 struct gi_err *err);
    void (*queue_close)(struct gi_queue **queue);

    /* What the queue can take now. Queues of one device share its memory in equal parts. */
    void (*limits)(struct gi_queue *queue, struct gi_device_limits *limits);

    /* Host memory that is kept and reused, and that copies to and from the device reach without a
     * stop on the way: pinned once. Images made from it are freed before the device is closed.
     * NULL: plain memory does as well (a CPU that keeps none). */
    const struct gi_allocator *(*host_allocator)(struct gi_device *device);

    /* Memory. `alloc` makes an image of the shape with uninitialised samples; `release` frees it (a
     * view: forgets it) and sets `data` to NULL. `upload` makes `dst` from a host image that must
     * outlive it (the CPU's is a view). `download` consumes the backend's `src` and makes the host
     * image `host`, which the caller frees with gi_image_free(); `download_into` consumes `src`,
     * too, but fills an existing host image of the same shape, which may be rows of another one.
     *
     * Copies are enqueued and fill `ticket`: the host's samples must not change (upload) and are
     * valid (download) only after wait() for it, or sync(). With a NULL ticket the call itself
     * waits. wait() zeroes the ticket, and may be called on another thread than the queue's.
     * Errors: GI_E_MEMORY, GI_E_DEVICE_MEMORY, GI_E_DEVICE; then nothing is left to free. */
    enum gi_status (*alloc)(struct gi_queue *queue, struct gi_image *image, int width, int height,
                            int channels, enum gi_type type, struct gi_err *err);
    void (*release)(struct gi_queue *queue, struct gi_image *image);
    enum gi_status (*upload)(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *host, struct gi_ticket *ticket,
                             struct gi_err *err);
    enum gi_status (*download)(struct gi_queue *queue, struct gi_image *host, struct gi_image *src,
                               struct gi_ticket *ticket, struct gi_err *err);
    enum gi_status (*download_into)(struct gi_queue *queue, const struct gi_image *host,
                                    struct gi_image *src, struct gi_ticket *ticket,
                                    struct gi_err *err);
    enum gi_status (*wait)(struct gi_queue *queue, struct gi_ticket *ticket, struct gi_err *err);
    enum gi_status (*sync)(struct gi_queue *queue, struct gi_err *err);
    /* dst = src, of one shape, both on the backend. Errors: GI_E_DEVICE. */
    enum gi_status (*copy)(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                           struct gi_err *err);
    /* Host work on the queue's threads, as gi_pool_run(). */
    enum gi_status (*jobs)(struct gi_queue *queue, int njobs, gi_job_fn *fn, void *arg,
                           size_t scratch_nbytes, struct gi_err *err);

    /* A stopwatch of `nmarks` marks: `mark` notes a point in the queue's stream of work, `ms` gives
     * the time between two such points after a sync (CUDA events on CUDA, the monotonic clock on
     * the CPU). Freed before its queue is closed; NULL: marks nothing, frees nothing. Errors:
     * GI_E_MEMORY, GI_E_DEVICE. */
    enum gi_status (*stopwatch_new)(struct gi_stopwatch **watch, struct gi_queue *queue, int nmarks,
                                    struct gi_err *err);
    void (*stopwatch_mark)(struct gi_stopwatch *watch, int mark);
    double (*stopwatch_ms)(const struct gi_stopwatch *watch, int from, int to);
    void (*stopwatch_free)(struct gi_stopwatch **watch);

    /* Names the following calls and enqueued work for profilers (NVTX on CUDA); NULL ends the last
     * name that has not ended. Called on the thread that continues the work. */
    void (*range)(struct gi_queue *queue, const char *name);

    /* Measures, in about 0.2 s. Errors: GI_E_MEMORY, GI_E_DEVICE_MEMORY, GI_E_DEVICE. */
    enum gi_status (*roofline)(struct gi_queue *queue, struct gi_roofline *roofline,
                               struct gi_err *err);

    const struct gi_ways *const *ways; /* of the primitives (kernels/ways.h); NULL ends them */

    /* Primitives, each defined at its type above. */
    gi_convolve_separable_fn *convolve_separable;
    gi_convolve_2d_fn *convolve_2d;
    gi_box_fn *box;
    gi_extreme_fn *extreme; /* kernels/rank.h, as ball, median and mode */
    gi_ball_fn *ball;
    gi_median_fn *median;
    gi_mode_fn *mode;
    gi_veil_fn *veil;           /* kernels/veil.h */
    gi_bilateral_fn *bilateral; /* kernels/pairs.h, as the next */
    gi_nlmeans_fn *nlmeans;
    gi_gradient_fn *gradient;
    gi_pointwise_fn *pointwise;
    gi_threshold_fn *threshold;
    gi_combine_fn *combine; /* kernels/combine.h */
    gi_luma_fn *luma;
    gi_clahe_fn *clahe; /* kernels/clahe.h */
    gi_mix_fn *mix;     /* kernels/colour.h, as those below */
    gi_count_colours_fn *count_colours;
    gi_recolour_fn *recolour;
    gi_histogram_fn *histogram; /* kernels/histogram.h */
    gi_moments_fn *moments;
    gi_select_fn *select;
    gi_label_fn *label;
    gi_region_stats_fn *region_stats;
    gi_paint_fn *paint;     /* kernels/paint.h */
    gi_flood_fn *flood;     /* kernels/flood.h; NULL: not here, by label and what follows it */
    gi_scatter_fn *scatter; /* kernels/scatter.h */
    gi_window_fn *window;   /* kernels/move.h, as those below */
    gi_turn_fn *turn;
    gi_shuffle_fn *shuffle;
    gi_bounds_fn *bounds;
    gi_reduce_fn *reduce;                   /* kernels/reduce.h */
    gi_local_threshold_fn *local_threshold; /* kernels/local.h */
    gi_local_spread_fn *local_spread;
    gi_bernsen_fn *bernsen;
    gi_scan_fn *scan; /* kernels/scan.h */
    gi_resample_fn *resample;
    gi_warp_fn *warp;
};

/* The CPU table for the best instruction level of this machine, capped by the environment variable
 * GPUIMG_CPU. Its name: gi_cpu_level(). */
const struct gi_kernels *gi_kernels_cpu(void);
const char *gi_cpu_level(void);

/* The name of level i of this build, from the plainest on ("scalar"); NULL past the last one. */
const char *gi_cpu_level_at(int i);

/* The CPU table of a level by name, NULL where this build or machine has it not. For tests. */
const struct gi_kernels *gi_kernels_cpu_level(const char *level);

/* The CUDA table; NULL in a build without CUDA. Calls no driver function. */
const struct gi_kernels *gi_kernels_cuda(void);

void gi_points_free(struct gi_points *points);

#ifdef __cplusplus
}
#endif
#endif
