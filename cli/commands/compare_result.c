/* The result of gpuimg compare for one pair: as text, JSON, picture, and part of a page.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/commands/compare_pairs.h"
#include "cli/json.h"
#include "cli/log.h"
#include "cli/text.h"
#include "filters/statistics/histogram.h"

enum { CELL = 12 };

static bool is_stdout(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

bool gi_compare_reports_to_stdout(const struct gi_compare_params *p)
{
    return is_stdout(p->junit) || is_stdout(p->html);
}

enum gi_status gi_compare_check_reports(const struct gi_compare_params *p, struct gi_err *err)
{
    return is_stdout(p->junit) && is_stdout(p->html)
               ? gi_fail(err, GI_E_USAGE, "--junit -: --html writes there too")
               : GI_OK;
}

struct gi_compare_columns gi_compare_columns(unsigned metrics)
{
    static const struct {
        struct gi_column column;
        unsigned metric; /* 0: always */
        bool pixels;     /* a channel has none */
    } all[GI_COMPARE_COLUMNS] = {
        {GI_COLUMN("samples", NULL, WHOLE, struct gi_difference, samples), 0, false},
        {GI_COLUMN("differing", NULL, WHOLE, struct gi_difference, differing), 0, false},
        {GI_COLUMN("max_difference", NULL, REAL, struct gi_difference, max), 0, false},
        {GI_COLUMN("mse", NULL, REAL, struct gi_difference, mse), GI_COMPARE_MSE, false},
        {GI_COLUMN("psnr", "dB", REAL, struct gi_difference, psnr), GI_COMPARE_PSNR, false},
        {GI_COLUMN("ssim", NULL, REAL, struct gi_difference, ssim), GI_COMPARE_SSIM, false},
        {GI_COLUMN("ms_ssim", NULL, REAL, struct gi_difference, ms_ssim), GI_COMPARE_MS_SSIM,
         false},
        {GI_COLUMN("ciede2000", NULL, REAL, struct gi_difference, ciede2000), GI_COMPARE_CIEDE2000,
         true},
        {GI_COLUMN("ciede2000_max", NULL, REAL, struct gi_difference, ciede2000_max),
         GI_COMPARE_CIEDE2000, true},
        {GI_COLUMN("ssimulacra2", NULL, REAL, struct gi_difference, ssimulacra2),
         GI_COMPARE_SSIMULACRA2, true},
        {GI_COLUMN("pixelmatch", NULL, WHOLE, struct gi_difference, pixelmatch),
         GI_COMPARE_PIXELMATCH, true},
        {GI_COLUMN("antialiased", NULL, WHOLE, struct gi_difference, antialiased),
         GI_COMPARE_PIXELMATCH, true},
    };
    struct gi_compare_columns columns = {.n = 0};
    for (int i = 0; i < GI_COMPARE_COLUMNS; i++)
        if (!all[i].metric || metrics & all[i].metric) {
            columns.of[columns.n++] = all[i].column;
            columns.nchannel += !all[i].pixels;
        }
    return columns;
}

/* Prints a line for each column after the first, with a value for the whole image and then a value
 * per channel. */
static void print_numbers(FILE *out, const struct gi_comparison *comparison,
                          const struct gi_image *a)
{
    const struct gi_cell_style style = {6, "nan", CELL + 4, CELL};
    const struct gi_compare_columns columns = gi_compare_columns(comparison->metrics);
    int nchannels = comparison->nchannels > 1 ? comparison->nchannels : 0;
    struct gi_difference all[1 + GI_MAX_CHANNELS] = {comparison->all};
    memcpy(all + 1, comparison->channels, sizeof comparison->channels);
    fprintf(out, "%-*s%*s", CELL + 4, "", CELL, "all");
    for (int c = 0; c < nchannels; c++)
        fprintf(out, "%*s", CELL, gi_channel_name(a, c));
    putc('\n', out);
    for (int i = 1; i < columns.n; i++)
        gi_cells_line(out, &columns.of[i], &style, all, sizeof *all,
                      i < columns.nchannel ? 1 + nchannels : 1);
}

void gi_compare_print(FILE *out, const struct gi_comparison *comparison, const struct gi_image *a,
                      char **names)
{
    gi_print_safe(out, names[0]);
    fputs(" and ", out);
    gi_print_safe(out, names[1]);
    fprintf(out, ": %d x %d, %d channel%s, compared as %s\n\n", a->width, a->height, a->channels,
            a->channels == 1 ? "" : "s", gi_type_word(comparison->type));
    print_numbers(out, comparison, a);
}

json_t *gi_compare_json(const struct gi_comparison *comparison, const struct gi_image *a,
                        const char *const names[2])
{
    const struct gi_compare_columns columns = gi_compare_columns(comparison->metrics);
    json_t *object = json_object(), *channels = json_array();
    gi_json_set_name(object, "a", names[0]);
    gi_json_set_name(object, "b", names[1]);
    json_object_set_new(object, "width", json_integer(a->width));
    json_object_set_new(object, "height", json_integer(a->height));
    json_object_set_new(object, "depth",
                        json_integer((json_int_t)(8 * gi_type_nbytes(comparison->type))));
    gi_cells_json(object, columns.of, columns.n, &comparison->all);
    for (int c = 0; c < comparison->nchannels; c++) {
        json_t *channel = json_object();
        json_object_set_new(channel, "name", json_string(gi_channel_name(a, c)));
        gi_cells_json(channel, columns.of, columns.nchannel, &comparison->channels[c]);
        json_array_append_new(channels, channel);
    }
    json_object_set_new(object, "channels", channels);
    return object;
}

enum gi_status gi_compare_draw(struct gi_image *picture, const struct gi_image *a,
                               const struct gi_image *b, double gain,
                               const struct gi_compare_rules *rules, struct gi_err *err)
{
    if (!isnan(gain))
        return gi_compare_picture(picture, a, b, gain, rules, err);
    if (rules->metrics & GI_COMPARE_PIXELMATCH)
        return gi_compare_pixelmatch_picture(picture, a, b, rules, err);
    return gi_compare_marks(picture, a, b, rules, err);
}

/* Returns by how much a pair differs, for sorting: the share of pixels that pixelmatch counts, the
 * mean squared error as a share of the largest one, or the share of samples. */
static double degree(const struct gi_comparison *comparison)
{
    const struct gi_difference *all = &comparison->all;
    double full = gi_type_full_scale(comparison->type);
    if (comparison->metrics & GI_COMPARE_PIXELMATCH)
        return (double)all->pixelmatch / (double)comparison->channels[0].samples;
    if (comparison->metrics & (GI_COMPARE_MSE | GI_COMPARE_PSNR))
        return all->mse / (full * full);
    return (double)all->differing / (double)all->samples;
}

enum gi_status gi_compare_body(struct gi_page_body **body, const struct gi_compare_pair *pair,
                               void *const *params, struct gi_err *err)
{
    const struct gi_compare_params *p = params[GI_SET_PAIR_COMPARE];
    const struct gi_compare_rules *rules = params[GI_SET_PAIR_FILTER];
    const struct gi_comparison *comparison = &pair->comparison;
    struct gi_image picture = {0};
    const struct gi_image *const pictures[3] = {&pair->a, &pair->b, &picture};
    /* images of bands have no channels here, and no pictures */
    bool shown = comparison->all.max > 0 && comparison->nchannels;
    struct gi_text_memory memory;
    *body = NULL;
    if (!p->html)
        return GI_OK;
    FILE *out = gi_text_open(&memory);
    print_numbers(out, comparison, &pair->a);
    char *numbers = gi_text_close(out, &memory);
    enum gi_status status =
        shown ? gi_compare_draw(&picture, &pair->a, &pair->b, p->gain, rules, err) : GI_OK;
    if (!status)
        status = gi_page_body(body, numbers, degree(comparison), shown ? pictures : NULL, err);
    gi_image_free(&picture);
    free(numbers);
    return status;
}
