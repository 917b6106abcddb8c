/* Compares two large files in bands of rows, which are decoded one after the other, so that neither
 * image has to fit in memory. SPDX-License-Identifier: MIT */
#include "cli/commands/compare_pairs.h"

#include "cli/log.h"
#include "cli/run/file_rows.h"
#include "cli/run/watch.h"
#include "kernels/kernels.h"

enum { BAND_NBYTES = 4 << 20 };

/* The two files. */
struct files {
    struct gi_file_rows rows[2];
    struct gi_file_info info[2];
};

/* Returns whether the pair has no other results than numbers, from two files. */
static bool may_take(const struct gi_imaging *imaging, const struct gi_item *item,
                     void *const *params)
{
    const struct gi_compare_params *p = params[GI_SET_PAIR_COMPARE];
    return gi_compare_takes_rows(params[GI_SET_PAIR_FILTER]) && !p->visible && !p->diff &&
           !p->html && !item->source.bytes && !item->source.pages &&
           !gi_imaging_options(imaging)->device->timing;
}

/* Returns whether both images are large, and can be read row by row. In a batch that has memory for
 * both, other pairs are compared meanwhile, and bands are no gain. */
static bool are_large(struct files *files, const struct gi_item *item, bool one)
{
    const uint64_t memory = gi_engine_memory(item->turn.engine);
    uint64_t nbytes = 0;
    for (int i = 0; i < 2; i++) {
        if (!gi_file_rows_look(&files->rows[i], memory, &files->info[i]))
            return false;
        nbytes += gi_image_nbytes(&files->rows[i].shape);
    }
    return one || nbytes > memory;
}

/* Reads the first rows. Sets *parts if the others can be read, too. */
static enum gi_status begin(struct files *files, bool *parts, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    *parts = true;
    for (int i = 0; i < 2 && !status && *parts; i++) {
        struct gi_metadata metadata = {0};
        status = gi_file_rows_first(&files->rows[i], GI_ROWS_FROM_TOP, NULL, parts, &metadata,
                                    &files->info[i], err);
        gi_metadata_free(&metadata);
    }
    return status;
}

/* Compares all rows. */
static enum gi_status compare(struct gi_comparison *result, struct files *files,
                              const struct gi_compare_rules *rules, struct gi_queue *queue,
                              struct gi_err *err)
{
    struct gi_file_rows *a = &files->rows[0], *b = &files->rows[1];
    const size_t forced = gi_file_rows_forced_nbytes();
    const size_t most = (forced ? forced : BAND_NBYTES) / gi_row_nbytes(&a->shape);
    const int height = a->shape.height, step = most < (size_t)height ? (int)most + !most : height;
    enum gi_status status = GI_OK;
    gi_cli_tell("%s and %s: compared in bands of %d rows", a->path, b->path, step);
    gi_compare_rows_begin(result, rules, &a->shape, &b->shape);
    for (int y = 0, bottom; y < height && !status; y = bottom) {
        struct gi_image bands[2];
        bottom = height - y < step ? height : y + step;
        status = gi_file_rows_read(a, &bands[0], y, bottom, err);
        if (!status)
            status = gi_file_rows_read(b, &bands[1], y, bottom, err);
        if (!status)
            status = gi_compare_rows_add(result, rules, &bands[0], &bands[1], queue, err);
    }
    gi_compare_rows_end(result);
    if (!status)
        status = gi_file_rows_end(a, err);
    return status ? status : gi_file_rows_end(b, err);
}

enum gi_status gi_compare_rows(struct gi_compare_pair *pair, bool *taken,
                               struct gi_imaging *imaging, struct gi_item *item,
                               struct gi_further *other, const char *path, void *const *params,
                               struct gi_err *err)
{
    const struct gi_imaging_options *options = gi_imaging_options(imaging);
    const char *const paths[] = {item->line.input, path};
    struct gi_queue *queue = NULL;
    struct files files = {0};
    const struct gi_open_options open = {.threads = gi_imaging_threads(imaging), .keeps = true};
    enum gi_status status = GI_OK;
    *taken = false;
    if (!may_take(imaging, item, params) || other->bytes || other->pages)
        return GI_OK;
    for (int i = 0; i < 2; i++)
        gi_file_rows_open(&files.rows[i], paths[i], options->io, gi_imaging_parallel(imaging));
    if (are_large(&files, item, options->one)) {
        gi_item_note_input(item);
        item->line.shape = pair->a = files.rows[0].shape;
        *taken = true;
        status = gi_compare_check(&files.rows[0].shape, &files.rows[1].shape, err);
        if (status)
            gi_err_prefix(err, "%s and %s", paths[0], path);
        if (!status && !options->one)
            gi_engine_reserve(item, gi_engine_memory(item->turn.engine)); /* to be alone */
        if (!status)
            status = begin(&files, taken, err);
        if (!status && *taken)
            status = gi_queue_open_alone(&queue, gi_kernels_cpu(), &open, err);
        if (!status && *taken)
            status = compare(&pair->comparison, &files, params[GI_SET_PAIR_FILTER], queue, err);
        *taken = *taken || status;
    }
    for (int i = 0; i < 2; i++)
        gi_file_rows_close(&files.rows[i]);
    gi_queue_close_alone(&queue);
    item->source.warned = files.rows[0].loading.again;
    other->warned = files.rows[1].loading.again;
    if (*taken && options->one)
        gi_watch_end(options->one);
    return status;
}
