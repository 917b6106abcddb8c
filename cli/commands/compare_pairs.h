/* What comparing one pair and comparing many pairs share.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/run/imaging.h"
#include "cli/tables/cells.h"
#include "cli/tables/compare_html.h"
#include "filters/statistics/compare.h"

/* The sets of options of the command. */
enum {
    GI_SET_PAIR_FILTER,
    GI_SET_PAIR_COMPARE,
    GI_SET_PAIR_INPUT,
    GI_SET_PAIR_DEVICE,
    GI_SET_PAIRS
};

/* The options of the set "Options". */
struct gi_compare_params {
    /* NAN: not limited */
    double max_diff, min_psnr, min_ssim, min_ms_ssim, max_ciede2000, min_ssimulacra2;
    const char *max_differing; /* a count, or "0.1%"; NULL: not limited */
    int format;                /* 0 text, 1 JSON */
    const char *diff;          /* a file, of many pairs a folder */
    double gain;
    const char *ignore, *junit, *html;
    bool visible;
};

/* Returns whether --junit or --html writes to standard output, which then has no other text. */
bool gi_compare_reports_to_stdout(const struct gi_compare_params *p);
/* Refuses two reports on standard output. Errors: GI_E_USAGE. */
enum gi_status gi_compare_check_reports(const struct gi_compare_params *p, struct gi_err *err);

/* Two images and their difference. */
struct gi_compare_pair {
    struct gi_image a, b;
    struct gi_comparison comparison;
};

/* Compares the images of the pair, of which at least one has bands, of the meaning `bands`. Only
 * the differences of all samples are found; the comparison has no channels. Errors:
 * GI_E_UNSUPPORTED (other bands, or none), and as gi_imaging_step() (compare_bands.c). */
enum gi_status gi_compare_bands(struct gi_compare_pair *pair, struct gi_imaging *imaging,
                                struct gi_item *item, const struct gi_bands bands[2],
                                void *const *params, struct gi_err *err);

/* Compares two large files row by row, if only counts and sums over pixels are asked and both can
 * be read so. *taken tells whether that was done; pair->a then has no samples. Otherwise sets what
 * has been warned of in the item and in `other` (compare_rows.c). Errors: as gi_compare_pair(). */
enum gi_status gi_compare_rows(struct gi_compare_pair *pair, bool *taken,
                               struct gi_imaging *imaging, struct gi_item *item,
                               struct gi_further *other, const char *path, void *const *params,
                               struct gi_err *err);

/* Loads the image of the item and the second image of the pair, and compares them. The second image
 * is where `from` says, as for gi_imaging_load_further(), or in the file `other`. `params` are
 * those of the command. The caller frees both images, also after an error. */
enum gi_status gi_compare_pair(struct gi_compare_pair *pair, struct gi_imaging *imaging,
                               struct gi_item *item, const char *other,
                               const struct gi_further *from, void *const *params,
                               struct gi_err *err);

/* Checks the difference against the limits. If no limit was given, all samples must be equal within
 * the tolerance, or with the metric pixelmatch no pixel may look different. NaN exceeds every
 * limit. Errors: GI_E_DIFFERENT. */
enum gi_status gi_compare_judge(const struct gi_comparison *comparison,
                                const struct gi_compare_params *p, struct gi_err *err);

/* If --ignore was given, loads its mask into `mask`, and makes `rules` refer to `mask`. The caller
 * frees `mask`, also after an error. Errors: as gi_cli_load(). */
enum gi_status gi_compare_load_mask(struct gi_image *mask, struct gi_compare_rules *rules,
                                    const struct gi_compare_params *p,
                                    const struct gi_io_params *io, struct gi_err *err);

/* Saves the picture of --diff at `path`. */
enum gi_status gi_compare_save_picture(const struct gi_image *a, const struct gi_image *b,
                                       const char *path, void *const *params,
                                       const struct gi_io_params *io, int threads,
                                       struct gi_err *err);

/* The columns of a struct gi_difference for these metrics (enum gi_compare_metric). */
enum { GI_COMPARE_COLUMNS = 12 };
struct gi_compare_columns {
    struct gi_column of[GI_COMPARE_COLUMNS];
    int n;
    int nchannel; /* the number of columns, the first ones, that channels have too */
};
struct gi_compare_columns gi_compare_columns(unsigned metrics);

/* Prints names, shape and numbers of a pair as lines of text. */
void gi_compare_print(FILE *out, const struct gi_comparison *comparison, const struct gi_image *a,
                      char **names);

/* Makes the picture of --diff and --html, which the caller frees. `gain` is NAN without --gain.
 * Errors: as gi_compare_picture(). */
enum gi_status gi_compare_draw(struct gi_image *picture, const struct gi_image *a,
                               const struct gi_image *b, double gain,
                               const struct gi_compare_rules *rules, struct gi_err *err);

/* With --html, makes the body of a pair for the page, which the caller frees by free(). Otherwise
 * *body becomes NULL. Errors: as gi_page_body() and gi_compare_draw(). */
enum gi_status gi_compare_body(struct gi_page_body **body, const struct gi_compare_pair *pair,
                               void *const *params, struct gi_err *err);

/* Returns the object that --json prints. The object is incomplete if memory ran out (cli/json.h).
 * `a` is either of the images; its shape is printed. */
json_t *gi_compare_json(const struct gi_comparison *comparison, const struct gi_image *a,
                        const char *const names[2]);

/* Finds out whether the operands and options ask for many pairs. They do if the operands are two
 * folders or two files of several pages, or if --pairs, --table, --report, --shard, --tar, --only
 * or --except was given. Errors: GI_E_AGAIN, GI_E_MEMORY if the machine did not tell. */
enum gi_status gi_pairs_are_wanted(bool *wanted, void *const *params, char **operands,
                                   int noperands, struct gi_err *err);

/* Compares many pairs and writes one table. Errors: GI_E_DIFFERENT if a pair exceeds a limit, or
 * differs and there are no limits; otherwise as gi_batch_run(). */
enum gi_status gi_pairs_run(const struct gi_command *command, void *const *params, char **operands,
                            int noperands, struct gi_err *err);
