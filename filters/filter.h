/* An operation is one constant struct gi_filter: its name, manual and options, and the functions
 * that make and run its plan. filters.c lists all operations. An operation is the same for every
 * backend, because its `plan` computes weights and tables on the host, in double precision, and its
 * `run` calls primitives through the queue. An operation has no access to argv, files or devices.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/digest.h"
#include "filters/option.h"
#include "filters/plan.h"
#include "imgio/image.h"

/* The heading of the help that lists a command. */
enum gi_group {
    GI_GROUP_TOOLS, /* batches and tools; also the group of operations that set none */
    GI_GROUP_FILTERS,
    GI_GROUP_MORPHOLOGY,
    GI_GROUP_TONE,
    GI_GROUP_COLOR,
    GI_GROUP_GEOMETRY,
    GI_GROUP_IMAGES, /* operations on two or more images */
    GI_GROUP_MEASUREMENT,
    GI_GROUP_REGIONS,
    GI_GROUPS /* number of groups */
};

/* How an operation processes video, whose frames are planes of luma and chroma. */
enum gi_planes {
    GI_PLANES_SINGLY, /* each plane as a gray image */
    GI_PLANES_LUMA,   /* luma alone; chroma becomes neutral, because the result is brightness */
    /* the frame as RGB, because the operation changes tones, mixes channels, takes colours as
     * options or fills uncovered areas with a colour */
    GI_PLANES_RGB,
};

/* How an operation takes its sources. */
struct gi_filter_sources {
    int min, max; /* their number, not counting sources that options name; 0 means 1 */

    /* Called after the image of an option, sources[j], was loaded. Checks the content of that
     * image, `other`, or converts it to what plans expect. `other` is in host memory and owned by
     * the caller. NULL if there is nothing to do. Errors: GI_E_UNSUPPORTED, with a message that
     * does not name the image; GI_E_MEMORY. */
    enum gi_status (*admit)(const void *params, int j, struct gi_image *other, struct gi_err *err);

    /* Returns the factor (1, 2, 4 or 8) by which decoding may reduce the sides of a first source
     * that has the shape of `source`. The reduced shape records the original shape (struct
     * gi_shrunk). NULL if the factor is always 1. */
    int (*shrink)(const void *params, const struct gi_image *source);

    /* Returns whether the result depends on the rectangle *window of the first source alone,
     * whatever its samples are, if that has the shape of `source`. Decoding may then leave out all
     * other samples, which the shape records (struct gi_shrunk with the factor 1). NULL if the
     * whole source is needed. */
    bool (*window)(const void *params, const struct gi_image *source, struct gi_window *window);

    /* Returns the rows of source j, 1 or more, that are needed with rows y0 to y1 - 1 of the first
     * source. If no row is needed, top = bottom. NULL if the same rows are needed. Not called for
     * GI_DEPENDENCY_GLOBAL, which needs all rows. */
    struct gi_span (*beside)(const struct gi_plan *plan, int j, int y0, int y1);

    /* Makes the random choices of the parameters, for an image with this key (filters/random.h),
     * before plans are made. Returns false if the parameters ask for none, and does not change them
     * then. NULL if nothing is random. Parameters for which it was not called have no choices made:
     * the operation then does what it may do least. */
    bool (*draw)(void *params, uint64_t key);

    /* As gi_plan_needs(). Called only for GI_DEPENDENCY_MAPPED. */
    struct gi_span (*needs)(const struct gi_plan *plan, int y0, int y1);
};

/* The meaning of the samples that an operation takes and makes. */
struct gi_filter_samples {
    bool averages; /* the operation averages pixels, so that --linear is useful */
    /* The operation is about colours as such (matrices, palettes, the order of channels). It is
     * refused for bands that are not colours, each of which other operations take as a gray
     * image. */
    bool needs_color;
    bool few_colors; /* the result has at most 256 colours, so that a PNG of it has a palette */
    /* A pixel of the result has no data if a further image has none there (enum gi_mask). */
    bool masks_others;
    /* Returns whether the samples of the result are no longer colours of the space that the file's
     * profile describes. NULL if they always are. */
    bool (*recolors)(const void *params);

    /* Changes parameters that hold for the plane `luma` was made for, to those that give the same
     * region of a plane of chroma. A sample of chroma covers dx x dy pixels of luma. Returns false
     * if no parameters do that exactly; frames are processed as RGB then. NULL if parameters hold
     * for planes of all sizes. */
    bool (*subsample)(void *params, const struct gi_plan *luma, int dx, int dy);

    /* Returns the sample type of the result for sources of `type`. NULL if it is the same type. */
    enum gi_type (*result_type)(const void *params, enum gi_type type);

    /* Prints what a run has chosen by the samples, such as "level 127", to `text`, which is "" and
     * stays so if that is nothing. `state` is what `measure` found, or NULL. The pointer is NULL if
     * samples never decide. */
    void (*tell)(const struct gi_plan *plan, const void *state, char *text, size_t nbytes);
};

/* An analysis turns images into a result of `nbytes` bytes. The caller owns the result, zeroes it
 * before, and frees it by free(), also after an error. An analysis has run(), which takes whole
 * images, or gi_filter.measure and conclude(), which work in bands. If it has all three, plans that
 * are on_host use run(). */
struct gi_analysis {
    size_t nbytes;
    enum gi_status (*run)(const struct gi_plan *plan, struct gi_queue *queue, void *result,
                          const struct gi_image *srcs, struct gi_err *err);
    /* Makes the result on the host from the measurements. */
    enum gi_status (*conclude)(const struct gi_plan *plan, void *result, const void *state,
                               struct gi_err *err);
    void (*free)(void *result);
    /* Takes all members of the result into a digest, by which selftest and tests compare results.
     */
    void (*digest)(const void *result, struct gi_digest *digest);
    bool leaves_out_masked; /* it leaves out pixels without data (enum gi_mask) */
    /* Requests the parts of the result that no option requests. */
    void (*ask_all)(void *params);
};

struct gi_filter {
    const char *name; /* name of the command, and of the file in filters/ */
    enum gi_group group;
    const char *summary; /* one line, no full stop */
    const char *manual;  /* paragraphs, separated by blank lines; formulas have a source */
    /* Three lines or more like "gpuimg blur in.png out.png --k 5", for operations from image to
     * image. */
    const char *examples;
    const struct gi_option *options;
    size_t params_nbytes;
    enum gi_planes planes;
    /* Checks options against each other before any file is read, and fills in values that follow
     * from others. NULL if there is nothing to check. Errors: GI_E_USAGE. */
    enum gi_status (*check)(void *params, struct gi_err *err);

    /* Fills in everything that follows from parameters and shapes (filters/plan.h). NULL if nothing
     * follows. Errors: as gi_plan_make(). */
    enum gi_status (*plan)(struct gi_plan *plan, struct gi_err *err);

    /* Computes the result from the sources. NULL for an analysis. Errors: those of the
     * primitives. */
    enum gi_status (*run)(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err);

    /* Measures the sources before `run`, in plan->passes passes, and accumulates results in
     * `state`. It is called for every band of pass 0, then for every band of pass 1, and so on. */
    enum gi_status (*measure)(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                              const struct gi_look *look, struct gi_err *err);

    /* Called only if plan->late is set. Completes the plan that `plan` made, from the measurements
     * in `state`. The members `late` and `passes` are already reset. Errors: as `plan`. */
    enum gi_status (*settle)(struct gi_plan *plan, const void *state, struct gi_err *err);

    struct gi_filter_sources sources;
    struct gi_filter_samples samples;
    struct gi_analysis analysis;
};

/* All operations in the order of the help; NULL ends the list. */
extern const struct gi_filter *const gi_filters[];

/* Returns the operation of that name, or NULL. */
const struct gi_filter *gi_filter_find(const char *name);

/* Returns parameters of an operation, which have their defaults. The caller frees them. */
void *gi_filter_params(const struct gi_filter *filter);

/* Returns the option row of the i-th image, counted from 0, that options name. Returns NULL if
 * options name at most i images. */
const struct gi_option *gi_filter_image(const struct gi_filter *filter, const void *params, int i);
/* Returns the path that this option has, without the name of an option that is `named`. */
const char *gi_option_path(const struct gi_option *row, const void *params);
/* Returns the path in "NAME=PATH", whose name has letters, digits and underscores, or `text`. */
const char *gi_named_path(const char *text);
/* Returns the number of sources after the first source. This is the number of images that options
 * name, or if there are none, what the minimum number of sources requires. */
int gi_filter_others(const struct gi_filter *filter, const void *params);

/* Returns whether two results of an analysis have equal members; reals are equal if their bits are,
 * or if both are NaN. */
bool gi_results_equal(const struct gi_filter *analysis, const void *a, const void *b);

/* Option rows that several operations share. The options --border and --border-value set a struct
 * gi_border_params, which is the member `border` of the struct type `params`. */
struct gi_border_params {
    int mode; /* enum gi_border */
    struct gi_color value;
};

extern const struct gi_choice gi_border_choices[];

#define GI_BORDER_OPTIONS(params)                                                                  \
    {GI_OPTION("border", CHOICE, params, border.mode), .default_text = "clamp",                    \
     .choices = gi_border_choices,                                                                 \
     .help = "Border mode: which values the pixels outside the image have"},                       \
    {                                                                                              \
        GI_OPTION("border-value", COLOR, params, border.value),                                    \
            .default_text = "0",                                                                   \
            .help = "Value of the pixels outside the image, for --border border. Give one sample " \
                    "value for all channels, or one per channel with alpha last"                   \
    }

/* The option row of --border-value for operations that add pixels. `what` begins its help text. The
 * option --background is an alias there. `member` is the struct gi_border_params within
 * `params`. */
#define GI_ADDED_VALUE_OPTION(params, member, what)                                                \
    {                                                                                              \
        GI_OPTION("border-value", COLOR, params, member.value),                                    \
            .also = "background", .default_text = "0",                                             \
            .help = what ". In this command --background means this option, not the common one. "  \
                         "Give one sample value for all channels, or one per channel with alpha "  \
                         "last"                                                                    \
    }

/* Returns the border specification for an image of the type and channels of `src`.
 * gi_color_pixel() converts the border value. */
struct gi_border_spec gi_border_spec_from(const struct gi_border_params *params,
                                          const struct gi_image *src);
