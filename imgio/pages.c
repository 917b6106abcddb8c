/* Reads the images of a file that stays open.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/frames.h"
#include "imgio/image_next.h"
#include "imgio/metadata/metadata.h"
#include "imgio/pages.h"
#include "imgio/small.h"
#include "imgio/source.h"
#include "imgio/tiff/tiff.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gi_pages {
    atomic_int owners;
    char *file;
    struct gi_source source; /* without bytes: they are the caller's */
    const unsigned char *bytes;
    size_t nbytes;
    /* has no images if the file has only one image, which the decoder finds */
    struct gi_image_list list;
    struct gi_frames *frames; /* NULL: the images are no frames */
    int *selected;            /* numbers of the selected images */
    /* number of selected images, and of images that are not smaller versions or masks of others */
    int n, own;
    bool all, joined;
    bool separate; /* each image is a file of its own, one behind the other */
    struct gi_band_choice bands;
    /* what the file holds besides the selected images, if these are all of its pages */
    int others;       /* smaller versions and masks */
    bool next;        /* another TIFF is behind the pages */
    size_t ntrailing; /* otherwise: bytes behind the pages, after zeros */
};

static const struct gi_format *format_of(const void *bytes, size_t nbytes)
{
    for (int i = 0; gi_formats[i]; i++)
        if (gi_formats[i]->probe && gi_formats[i]->probe(bytes, nbytes))
            return gi_formats[i];
    return NULL;
}

/* Returns whether the format lists the images of a file that begins with these bytes. */
static bool lists(const struct gi_format *format, const void *bytes, size_t nbytes)
{
    return format && format->list &&
           (!format->animation || format->animation->starts(bytes, nbytes));
}

bool gi_pages_starts(const void *bytes, size_t nbytes)
{
    return lists(format_of(bytes, nbytes), bytes, nbytes);
}

bool gi_frames_start(const void *bytes, size_t nbytes)
{
    const struct gi_format *format = format_of(bytes, nbytes);
    return lists(format, bytes, nbytes) && format->animation;
}

/* Returns whether image i is in the range. Without a last number, smaller versions and masks are
 * left out. */
static bool is_in_range(const struct gi_pages *pages, const struct gi_selection *selection, int i)
{
    bool own = !pages->list.images || pages->list.images[i].own;
    return i >= selection->first &&
           (selection->given && selection->last >= 0 ? i <= selection->last : own);
}

static enum gi_status select_pages(struct gi_pages *pages, const struct gi_selection *selection,
                                   struct gi_err *err)
{
    int all = pages->list.images ? pages->list.all : 1, in_range = 0;
    pages->selected = malloc((size_t)(all ? all : 1) * sizeof *pages->selected);
    if (!pages->selected)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a list of %d pages", all);
    pages->all = gi_selection_is_all(selection);
    for (int i = 0; i < all; i++)
        pages->own += !pages->list.images || pages->list.images[i].own;
    for (int i = 0; i < all; i++)
        if (is_in_range(pages, selection, i) &&
            (!selection->given || in_range++ % selection->step == 0))
            pages->selected[pages->n++] = i;
    if (!all)
        return gi_fail(err, GI_E_FORMAT, "is damaged: no image in it");
    return selection->last < all && (pages->n || !selection->first)
               ? GI_OK
               : gi_fail(err, GI_E_UNSUPPORTED,
                         all == 1        ? "holds one page: want [0]"
                         : pages->frames ? "holds %d frames: want [0] to [%d]"
                                         : "holds %d pages: want [0] to [%d]",
                         all, all - 1);
}

static bool find_next_file(size_t *at, const struct gi_pages *pages)
{
    return gi_tiff_find_next(at, pages->bytes, pages->nbytes, pages->list.end);
}

/* Appends the images of the file at offset `at`. */
static enum gi_status append_file(struct gi_image_list *list, const struct gi_image_list *file,
                                  size_t at, struct gi_err *err)
{
    struct gi_image_place *grown =
        realloc(list->images, (size_t)(list->all + file->all + 1) * sizeof *grown);
    if (!grown)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a list of pages");
    list->images = grown;
    for (int i = 0; i < file->all; i++) {
        grown[list->all + i] = file->images[i];
        grown[list->all + i].file_at = at;
        grown[list->all + i].file_first = list->all;
    }
    list->all += file->all;
    list->shared_pixels += file->shared_pixels;
    list->end = at + (file->end ? file->end : 1);
    if (!list->damage)
        list->damage = file->all ? file->damage : "a TIFF has no image";
    return GI_OK;
}

/* Sets the end of the file whose images are the last of the list. */
static void end_file(struct gi_image_list *list, size_t end)
{
    for (int i = list->all - 1; i >= 0 && !list->images[i].file_end; i--)
        list->images[i].file_end = end;
}

/* Lists the images of the files behind the first one. */
static enum gi_status list_further_files(struct gi_pages *pages, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (size_t at; !status && find_next_file(&at, pages);) {
        end_file(&pages->list, at);
        const unsigned char *bytes = pages->bytes + at;
        size_t nbytes = pages->nbytes - at;
        struct gi_image_list file = {0};
        const struct gi_format *format = format_of(bytes, nbytes);
        status = format && format->list
                     ? format->list(&file, bytes, nbytes, err)
                     : gi_fail(err, GI_E_IO, "the file changed while it was read");
        if (!status)
            status = append_file(&pages->list, &file, at, err);
        free(file.images);
    }
    return status;
}

/* Notes what the file holds besides its pages, and warns of images. */
static void note_rest(struct gi_pages *pages, struct gi_err *warning)
{
    size_t at, end = pages->list.end;
    bool next = !pages->frames && find_next_file(&at, pages);
    int others = pages->all ? pages->list.all - pages->n : 0;
    if (pages->list.damage)
        gi_fail(warning, GI_E_FORMAT, "is damaged: %s", pages->list.damage);
    else if (next)
        gi_fail(warning, GI_E_UNSUPPORTED,
                "holds another TIFF behind its pages, which is left out");
    else if (others)
        gi_fail(warning, GI_E_UNSUPPORTED, "holds %d %s, which are left out", others,
                pages->list.others ? pages->list.others : "smaller versions or masks of its pages");
    if (!pages->all || pages->list.damage)
        return;
    pages->others = others;
    pages->next = next;
    pages->ntrailing = next ? 0 : gi_tiff_trailing(pages->bytes, pages->nbytes, end);
}

/* Adds what the file holds besides its pages to the parts of its first page. A warning has named
 * images already. Errors: GI_E_MEMORY. */
static enum gi_status add_rest(struct gi_metadata *metadata, const struct gi_pages *pages,
                               struct gi_err *err)
{
    struct gi_part part = {.kind = GI_PART_IMAGES, .fate = GI_PART_LOST, .warned = true};
    if (pages->others && pages->list.others)
        gi_metadata_add_part(metadata, &part, "%d %s", pages->others, pages->list.others);
    else if (pages->others)
        gi_metadata_add_part(metadata, &part, "%d smaller version%s or mask%s of pages",
                             pages->others, pages->others == 1 ? "" : "s",
                             pages->others == 1 ? "" : "s");
    if (pages->next)
        gi_metadata_add_part(metadata, &part, "images after the first TIFF");
    part = (struct gi_part){
        .kind = GI_PART_TRAILING, .fate = GI_PART_LOST, .nbytes = pages->ntrailing};
    if (pages->ntrailing)
        gi_metadata_add_part(metadata, &part, "%zu byte%s after the end", pages->ntrailing,
                             pages->ntrailing == 1 ? "" : "s");
    return metadata->starved ? gi_fail(err, GI_E_MEMORY, "out of memory: parts of a file") : GI_OK;
}

/* Lists the images that are one behind the other, if there are several. The bytes behind the last
 * one belong to it. */
static enum gi_status list_separate(struct gi_pages *pages, struct gi_err *err)
{
    enum { IMAGES_MAX = 1 << 20 };
    const struct gi_file_bytes file = {.at = pages->bytes, .nbytes = pages->nbytes};
    struct gi_image_list *list = &pages->list;
    uint64_t next = 0;
    enum gi_status status = gi_image_next(&next, &file, 0, err);
    pages->separate = !status && next;
    for (size_t at = 0; !status && pages->separate && at < pages->nbytes;) {
        bool full = list->all % 64 == 0;
        struct gi_image_place *grown =
            full ? realloc(list->images, ((size_t)list->all + 64) * sizeof *grown) : list->images;
        if (!grown)
            return gi_fail(err, GI_E_MEMORY, "out of memory: a list of images");
        list->images = grown;
        if (list->all == IMAGES_MAX)
            return gi_fail(err, GI_E_LIMIT, "holds more than %d images", IMAGES_MAX);
        size_t end = next ? (size_t)next : pages->nbytes;
        grown[list->all] = (struct gi_image_place){
            .own = true, .file_at = at, .file_end = end, .file_first = list->all};
        list->all++;
        at = end;
        if (next)
            status = gi_image_next(&next, &file, at, err);
    }
    return status;
}

/* Lists the images, and warns of images that are left out. */
static enum gi_status list_pages(struct gi_pages *pages, const struct gi_selection *selection,
                                 const struct gi_load_options *options, struct gi_err *warning,
                                 struct gi_err *err)
{
    const struct gi_format *format = format_of(pages->bytes, pages->nbytes);
    if (!lists(format, pages->bytes, pages->nbytes)) {
        enum gi_status status = list_separate(pages, err);
        return status ? status : select_pages(pages, selection, err);
    }
    enum gi_status status = format->list(&pages->list, pages->bytes, pages->nbytes, err);
    if (!status && pages->list.frames)
        status = gi_frames_open(&pages->frames, format->animation, pages->bytes, pages->nbytes,
                                &options->limits, err);
    int first = pages->list.all;
    if (!status && pages->joined && !pages->list.frames)
        status = list_further_files(pages, err);
    end_file(&pages->list, pages->nbytes);
    if (!status && pages->list.damage && !options->allow_partial)
        status =
            gi_fail(err, GI_E_FORMAT, "is damaged: %s (--allow-partial takes what can be read)",
                    pages->list.damage);
    /* Otherwise each image has bytes of its own, in relation to which it is limited. */
    uint64_t limit = options->limits.max_pixels;
    if (!status && !pages->list.damage && pages->list.shared_pixels > limit)
        status = gi_fail(err, GI_E_LIMIT,
                         "its %d pages share bytes, and have %llu pixels, over the limit of %llu; "
                         "--max-pixels raises it",
                         pages->list.all, (unsigned long long)pages->list.shared_pixels,
                         (unsigned long long)limit);
    if (!status)
        status = select_pages(pages, selection, err);
    if (status)
        return status;
    note_rest(pages, warning);
    pages->all = pages->all && pages->list.all == first;
    return GI_OK;
}

static struct gi_pages *new_pages(const char *path, size_t length)
{
    struct gi_pages *pages = gi_small_calloc(1, sizeof *pages);
    pages->file = gi_small_copy_n(path, length);
    atomic_init(&pages->owners, 1);
    return pages;
}

/* Ends the opening of *out, whose bytes are set unless `status` is an error: lists the images, or
 * closes *out. `name` begins the messages. */
static enum gi_status open_list(struct gi_pages **out, const char *name,
                                const struct gi_selection *selection,
                                const struct gi_load_options *options, enum gi_status status,
                                struct gi_err *warning, struct gi_err *err)
{
    if (!status)
        status = list_pages(*out, selection, options, warning, err);
    if (warning && warning->status)
        gi_err_prefix(warning, "%s", name);
    if (!status)
        return GI_OK;
    gi_pages_close(out, NULL);
    gi_err_prefix(err, "%s", name);
    return status;
}

enum gi_status gi_pages_open_memory(struct gi_pages **out, const void *bytes, size_t nbytes,
                                    bool joined, const char *name,
                                    const struct gi_load_options *options, struct gi_err *warning,
                                    struct gi_err *err)
{
    const struct gi_selection all = {0};
    if (warning)
        *warning = (struct gi_err){0};
    *out = new_pages(name, strlen(name));
    (*out)->bytes = bytes;
    (*out)->nbytes = nbytes;
    (*out)->joined = joined;
    return open_list(out, name, &all, options, GI_OK, warning, err);
}

enum gi_status gi_pages_open(struct gi_pages **out, const char *path,
                             const struct gi_load_options *options, struct gi_err *warning,
                             struct gi_err *err)
{
    struct gi_selection selection;
    if (warning)
        *warning = (struct gi_err){0};
    struct gi_pages *pages = *out = new_pages(path, gi_path_file(path, &selection));
    enum gi_status status =
        gi_source_open(&pages->source, pages->file, options, gi_format_way, err);
    if (status)
        pages->source = (struct gi_source){0};
    pages->bands = selection.bands;
    pages->bytes = pages->source.bytes;
    pages->nbytes = pages->source.nbytes;
    return open_list(out, path, &selection, options, status, warning, err);
}

struct gi_pages *gi_pages_share(struct gi_pages *pages)
{
    atomic_fetch_add(&pages->owners, 1);
    return pages;
}

enum gi_status gi_pages_close(struct gi_pages **out, struct gi_err *err)
{
    struct gi_pages *pages = *out;
    *out = NULL;
    if (!pages || atomic_fetch_sub(&pages->owners, 1) > 1)
        return GI_OK;
    enum gi_status status = pages->source.bytes ? gi_source_close(&pages->source, err) : GI_OK;
    if (status)
        gi_err_prefix(err, "%s", pages->file);
    gi_frames_close(&pages->frames);
    free(pages->list.images);
    free(pages->selected);
    free(pages->file);
    free(pages);
    return status;
}

int gi_pages_n(const struct gi_pages *pages)
{
    return pages->n;
}

bool gi_pages_are_all(const struct gi_pages *pages)
{
    return pages->all;
}

const char *gi_pages_format(const struct gi_pages *pages)
{
    const struct gi_format *format = format_of(pages->bytes, pages->nbytes);
    return format ? format->info.name : NULL;
}

bool gi_pages_are_frames(const struct gi_pages *pages)
{
    return pages->frames;
}

bool gi_pages_are_separate(const struct gi_pages *pages)
{
    return pages->separate;
}

const char *gi_pages_file(const struct gi_pages *pages)
{
    return pages->file;
}

int gi_pages_number(const struct gi_pages *pages, int i)
{
    return pages->selected[i];
}

enum gi_status gi_pages_load(struct gi_image *image, struct gi_metadata *metadata,
                             struct gi_file_info *info, const struct gi_pages *pages, int i,
                             const char *name, const struct gi_load_options *options,
                             struct gi_err *warning, struct gi_err *err)
{
    struct gi_load_options one = *options;
    if (pages->bands.n)
        one.choose = pages->bands;
    int number = pages->selected[i];
    size_t file_at = 0, file_end = pages->nbytes;
    if (pages->list.images) {
        const struct gi_image_place *place = &pages->list.images[number];
        one.image = pages->separate ? 0 : 1 + number - place->file_first;
        one.frames = pages->frames;
        one.offset = place->offset;
        one.skip = place->skip;
        file_at = place->file_at;
        file_end = place->file_end; /* --max-pixels compares the length of one file with an image */
    }
    enum gi_status status = gi_load_memory(image, metadata, info, pages->bytes + file_at,
                                           file_end - file_at, name, &one, warning, err);
    if (!status && metadata && i == 0 && (status = add_rest(metadata, pages, err))) {
        gi_image_free(image);
        gi_metadata_free(metadata);
    }
    if (info)
        info->images = pages->own;
    return status;
}
