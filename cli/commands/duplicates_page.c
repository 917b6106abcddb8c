/* The page of gpuimg duplicates --html: groups by decreasing size, with thumbnails.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "cli/commands/duplicates.h"
#include "cli/stop.h"
#include "cli/tables/html.h"
#include "cli/text.h"
#include "filters/pipeline.h"
#include "filters/statistics/hash_groups.h"
#include "imgio/sink.h"
#include "imgio/small.h"
#include "kernels/kernels.h"
#include "kernels/parallel.h"

extern const struct gi_filter gi_filter_resize;

enum { SIDE = 160 }; /* maximum width and height of a thumbnail */

static const char style[] =
    ".group {display: grid; gap: .5rem; align-items: end;\n"
    " grid-template-columns: repeat(auto-fill, minmax(min(10rem, 100%), 1fr))}\n"
    "figcaption {font-size: .8rem; overflow-wrap: anywhere} ul {margin: .5rem 0}\n";

/* A group: the members order[from] to order[from + n - 1]. */
struct group {
    size_t from, n;
    int number; /* in the output of the command, from 1 */
};

struct page {
    const struct gi_duplicates_page *asked;
    struct group *groups;
    size_t ngroups;
    void *resize; /* parameters of the operation */
    size_t *at;   /* the place in `order` of each picture that is made */
    char **html;  /* by place in `order`: its <img>, or NULL */
    struct size {
        int width, height;
    } * sizes; /* by place in `order`; 0: unknown */
};

/* ---- thumbnails ---- */

/* The factor by which the decoder may reduce a JPEG. */
static int shrink(void *arg, const struct gi_image *picture)
{
    int longest = picture->width > picture->height ? picture->width : picture->height, by = 8;
    while (by > 1 && longest / by < 2 * SIDE)
        by /= 2;
    return by;
}

static void ignore(void *arg, const struct gi_image *shape)
{
}

static enum gi_status reduce(struct gi_image *made, const struct gi_image *image,
                             const struct page *page, struct gi_err *err)
{
    const struct gi_open_options open = {.threads = 1};
    struct gi_queue *queue = NULL;
    enum gi_status status = gi_queue_open_alone(&queue, gi_kernels_cpu(), &open, err);
    if (!status)
        status = gi_run_one(queue, made, NULL, image, &gi_filter_resize, page->resize, err);
    gi_queue_close_alone(&queue);
    return status;
}

/* Makes the thumbnail of an image. One that can't be read any more has none. */
static void make_thumbnail(void *arg, int index, void *scratch)
{
    struct page *page = arg;
    size_t at = page->at[index];
    const struct gi_hashed_image *from = &page->asked->hashed->images[page->asked->order[at]];
    const struct gi_shape_listener listener = {.tell = ignore, .shrink = shrink};
    const struct gi_loading loading = {.again = true, .listener = &listener};
    struct gi_image image = {0}, made = {0};
    struct gi_text_memory memory;
    if (gi_stop_asked() || from->tar)
        return;
    enum gi_status status =
        gi_cli_load_by(&image, NULL, NULL, from->file, page->asked->io, &loading, NULL);
    if (!status)
        status = reduce(&made, &image, page, NULL);
    const struct gi_shrunk *whole = &image.shrunk;
    if (!status)
        page->sizes[at] = whole->by ? (struct size){whole->width, whole->height}
                                    : (struct size){image.width, image.height};
    FILE *out = gi_text_open_large(&memory);
    bool alpha = gi_color_channels(&image) != image.channels;
    if (!status)
        status = gi_html_picture(out, &made, alpha ? "png" : "jpeg", "", NULL);
    page->html[at] = gi_text_close(out, &memory);
    if (status) {
        free(page->html[at]);
        page->html[at] = NULL;
    }
    gi_image_free(&image);
    gi_image_free(&made);
}

/* Makes the first thumbnails of the page. */
static enum gi_status make_thumbnails(struct page *page, struct gi_err *err)
{
    const struct gi_duplicates_page *asked = page->asked;
    int n = 0, most = asked->thumbnails;
    const struct gi_option *rows = gi_filter_resize.options;
    enum gi_status status = gi_option_set(page->resize, rows, "size", "160x160", err);
    if (!status)
        status = gi_option_set(page->resize, rows, "no-enlarge", NULL, err);
    if (!status)
        status = gi_filter_resize.check(page->resize, err);
    for (size_t g = 0; g < page->ngroups; g++)
        for (size_t i = 0; i < page->groups[g].n && n < most; i++)
            page->at[n++] = page->groups[g].from + i;
    return status || !n ? status : gi_pool_run(asked->pool, n, make_thumbnail, page, 0, err);
}

/* ---- the page ---- */

static int by_size(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void find_groups(struct page *page)
{
    const struct gi_duplicates_page *asked = page->asked;
    for (size_t i = 0; i < asked->n; i++) {
        if (i == 0 || asked->first[asked->order[i]] != asked->first[asked->order[i - 1]]) {
            size_t g = page->ngroups++;
            page->groups[g] = (struct group){.from = i, .number = (int)g + 1};
        }
        page->groups[page->ngroups - 1].n++;
    }
    if (page->ngroups)
        qsort(page->groups, page->ngroups, sizeof *page->groups, by_size);
}

static void put_member(FILE *out, const struct page *page, const struct group *group, size_t i)
{
    const struct gi_duplicates_page *asked = page->asked;
    const struct gi_hashed *hashed = asked->hashed;
    size_t at = group->from + i;
    const struct gi_hashed_image *image = &hashed->images[asked->order[at]];
    const char *html = page->html[at];
    int distance = gi_hash_distance(gi_hashed_at(hashed, asked->order[group->from]),
                                    gi_hashed_at(hashed, asked->order[at]), hashed->words);
    fprintf(out, html ? "<figure>%s<figcaption><bdi>" : "<figure><figcaption><bdi>",
            html ? html : "");
    if (image->tar) {
        gi_html_text(out, image->tar);
        fputs(": ", out);
    }
    gi_html_text(out, image->file);
    fputs("</bdi>", out);
    if (page->sizes[at].width)
        fprintf(out, "<br>%d x %d", page->sizes[at].width, page->sizes[at].height);
    fprintf(out, "<br>%d bit%s</figcaption></figure>\n", distance, distance == 1 ? "" : "s");
}

static enum gi_status write_group(struct gi_sink *sink, const struct page *page,
                                  const struct group *group, struct gi_err *err)
{
    struct gi_text_memory memory;
    FILE *out = gi_text_open_large(&memory);
    fprintf(out, "<section>\n<h2>Group %d: %zu images</h2>\n<div class=\"group\">\n", group->number,
            group->n);
    for (size_t i = 0; i < group->n; i++)
        put_member(out, page, group, i);
    fputs("</div>\n</section>\n", out);
    char *text = gi_text_close(out, &memory);
    enum gi_status status = text ? gi_sink_write(sink, text, memory.nbytes, err)
                                 : gi_fail(err, GI_E_MEMORY, "out of memory: --html");
    free(text);
    return status;
}

static enum gi_status write_page(const struct page *page, struct gi_err *err)
{
    struct gi_sink *sink;
    struct gi_text_memory memory;
    enum gi_status status = gi_sink_open(&sink, page->asked->path, false, err);
    if (status)
        return status;
    FILE *out = gi_text_open(&memory);
    gi_html_begin(out, "gpuimg duplicates", "Similar images", style, false);
    fprintf(out,
            "<p>%zu group%s with %zu of %zu images. Each image has the number of bits in "
            "which its hash differs from that of the first one.</p>\n",
            page->ngroups, page->ngroups == 1 ? "" : "s", page->asked->n, page->asked->hashed->n);
    status = gi_text_write(out, &memory, GI_OK, sink, err);
    for (size_t g = 0; g < page->ngroups && !status; g++)
        status = write_group(sink, page, &page->groups[g], err);
    if (!status)
        status = gi_sink_printf(sink, err, "</html>\n");
    if (!status)
        return gi_sink_commit(&sink, false, err);
    gi_sink_abandon(&sink);
    return status;
}

enum gi_status gi_duplicates_write_page(const struct gi_duplicates_page *asked, struct gi_err *err)
{
    size_t n = asked->n, most = (size_t)asked->thumbnails < n ? (size_t)asked->thumbnails : n;
    struct page page = {.asked = asked,
                        .groups = malloc((n + 1) * sizeof *page.groups),
                        .resize = gi_filter_params(&gi_filter_resize),
                        .at = malloc((most + 1) * sizeof *page.at),
                        .html = calloc(n + 1, sizeof *page.html),
                        .sizes = calloc(n + 1, sizeof *page.sizes)};
    enum gi_status status = GI_OK;
    if (!page.groups || !page.at || !page.html || !page.sizes)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: --html");
    if (!status) {
        find_groups(&page);
        status = make_thumbnails(&page, err);
    }
    if (!status && !gi_stop_asked())
        status = write_page(&page, err);
    for (size_t i = 0; page.html && i < n; i++)
        free(page.html[i]);
    free(page.html);
    free(page.sizes);
    free(page.at);
    free(page.groups);
    free(page.resize);
    return status;
}
