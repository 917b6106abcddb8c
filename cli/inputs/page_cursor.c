/* Goes through the images of a list of files.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/page_cursor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/args/device_options.h"
#include "cli/log.h"
#include "cli/text.h"
#include "imgio/image_next.h"
#include "imgio/small.h"
#include "kernels/parallel.h"

/* Returns whether the first `n` characters of the path end in the suffix of a known format of which
 * a file holds one image. If `joined` is false, a file of any format other than TIFF, ICO and
 * animations does. Such files are not opened here, because their content is checked when they are
 * read. */
static bool has_other_suffix(const char *path, size_t n, bool joined)
{
    static const char single[] = "y4m pfm bmp hdr npy tga";
    const struct gi_format_info *format;
    const char *dot = memrchr(path, '.', n);
    size_t length = dot ? (size_t)(path + n - dot) - 1 : 0;
    for (int i = 0; length && (format = gi_format_at(i)); i++)
        if (gi_text_is_one_of(format->suffixes, dot + 1, length))
            return joined ? gi_text_is_one_of(single, format->name, strlen(format->name))
                          : !gi_text_is_one_of("tiff ico gif webp png", format->name,
                                               strlen(format->name));
    return false;
}

/* Returns whether the file begins like one of several images. With `joined`, these may be one
 * behind the other. Also true if it can't be examined: the opening of its pages tells why. */
static bool starts(const char *file, bool joined)
{
    struct gi_reader *reader;
    unsigned char bytes[64];
    uint64_t next = 0;
    size_t got;
    if (gi_reader_open(&reader, file, NULL))
        return true;
    const struct gi_file_bytes all = {.reader = reader};
    bool yes = gi_reader_glance(reader, bytes, sizeof bytes, 0, &got, NULL) ||
               gi_pages_starts(bytes, got) ||
               (joined && gi_image_follows(bytes, got, NULL) &&
                (gi_image_next(&next, &all, 0, NULL) || next));
    gi_reader_close(&reader);
    return yes;
}

/* Returns false if the file certainly does not have several images. */
static bool may_start(const char *path, size_t n, bool joined)
{
    char *file = strcmp(path, "-") ? gi_small_copy_n(path, n) : NULL;
    struct stat st;
    bool known = file && stat(file, &st) == 0;
    bool may = strcmp(path, "-") != 0 && (!known || (S_ISREG(st.st_mode) && starts(file, joined)));
    free(file);
    return may;
}

/* Returns false if the file certainly does not have several images. Does not look at its content
 * if its suffix tells. */
static bool may_have_pages(const char *path, bool joined)
{
    struct gi_selection selection;
    size_t n = gi_path_file(path, &selection);
    return !has_other_suffix(path, n, joined) && may_start(path, n, joined);
}

static struct gi_load_options options_of(const struct gi_io_params *io)
{
    return (struct gi_load_options){.limits = io->limits, .allow_partial = io->allow_partial};
}

enum gi_status gi_cli_open_pages(struct gi_pages **pages, const char *path, const void *bytes,
                                 size_t nbytes, const struct gi_io_params *io, bool joined,
                                 struct gi_err *err)
{
    const struct gi_load_options options = options_of(io);
    struct gi_err warning = {0};
    enum gi_status status = GI_OK;
    *pages = NULL;
    if (!bytes && may_have_pages(path, joined))
        status = gi_pages_open(pages, path, &options, &warning, err);
    else if (bytes &&
             (gi_pages_starts(bytes, nbytes) || (joined && gi_image_follows(bytes, nbytes, NULL))))
        status = gi_pages_open_memory(pages, bytes, nbytes, false, path, &options, &warning, err);
    if (!status && *warning.text)
        gi_cli_warn("%s", warning.text);
    return status;
}

char *gi_page_name(const struct gi_pages *pages, int i)
{
    return gi_small_format("%s[%d]", gi_pages_file(pages), gi_pages_number(pages, i));
}

void gi_item_take_page(struct gi_item *item, struct gi_pages *pages, int i)
{
    gi_pages_close(&item->source.pages, NULL);
    item->source.pages = gi_pages_share(pages);
    item->source.page = i;
    free(item->line.input);
    item->line.input = gi_page_name(pages, i);
}

static const struct gi_input *input_at(const struct gi_page_cursor *cursor, size_t i)
{
    return cursor->share ? cursor->share[i] : &cursor->list->inputs[i];
}

/* Returns whether all pages of the input are taken. */
static bool expands(const struct gi_page_cursor *cursor, const struct gi_input *input)
{
    struct gi_selection selection = {.several = true};
    if (cursor->named)
        gi_path_file(input->path, &selection);
    return !input->why && selection.several;
}

/* Returns whether images that are one behind the other in the input are taken from here. */
static bool takes_joined(const struct gi_page_cursor *cursor, const struct gi_input *input)
{
    struct gi_selection selection;
    gi_path_file(input->path, &selection);
    return !cursor->tells_joined || selection.several;
}

/* Takes the next page of the open file. */
static void take_page(struct gi_page_cursor *cursor, struct gi_item *item,
                      const struct gi_input *input)
{
    int n = gi_pages_n(cursor->pages);
    gi_item_take_page(item, cursor->pages, cursor->page++);
    if (cursor->page == n)
        gi_pages_close(&cursor->pages, NULL);
    if (n > 1)
        return;
    free(item->line.input);
    item->line.input = gi_small_copy(input->path);
}

/* Opens the next input, if it may have several pages. What was counted holds: a file that has
 * another number of pages now is an error. */
static enum gi_status open_next(struct gi_page_cursor *cursor, const struct gi_input *input,
                                struct gi_err *fault)
{
    struct gi_page_count *counted = cursor->counted ? &cursor->counted[cursor->next] : NULL;
    enum gi_status status = GI_OK;
    cursor->next++;
    cursor->page = 0;
    if (counted && counted->fault) {
        *fault = *counted->fault;
        return fault->status;
    }
    if (counted && counted->pages) {
        cursor->pages = counted->pages;
        counted->pages = NULL;
    } else if (counted ? counted->n > 0 : expands(cursor, input)) {
        status = gi_cli_open_pages(&cursor->pages, input->path, NULL, 0, cursor->io,
                                   takes_joined(cursor, input), fault);
    }
    int n = cursor->pages ? gi_pages_n(cursor->pages) : 0;
    if (status || !counted || n == counted->n)
        return status;
    gi_pages_close(&cursor->pages, NULL);
    return gi_fail(fault, GI_E_IO, "%s: the file changed after its pages were counted: %d, now %d",
                   input->path, counted->n, n ? n : 1);
}

/* Sets *input to the input of the next page. */
static enum gi_status next_input(struct gi_page_cursor *cursor, const struct gi_input **input,
                                 bool *more, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    *input = &cursor->current;
    *more = cursor->pages || cursor->next < cursor->n;
    if (cursor->stream && !cursor->pages)
        status = gi_list_stream_next(cursor->stream, &cursor->current, more, err);
    if (*more && !cursor->stream)
        *input = input_at(cursor, cursor->next - (cursor->pages != NULL));
    return status;
}

enum gi_status gi_page_cursor_next(struct gi_page_cursor *cursor, struct gi_item *item, bool *more,
                                   struct gi_err *err)
{
    struct gi_err fault;
    const struct gi_input *input;
    enum gi_status status = next_input(cursor, &input, more, err);
    if (status || !*more)
        return status;
    item->source.place = cursor->stream ? 0 : (size_t)(input - cursor->list->inputs);
    item->source.number = cursor->stream ? input->number - 1 : item->source.place;
    item->source.rule = input->rule;
    if (!cursor->pages)
        status = open_next(cursor, input, &fault);
    if (cursor->pages) {
        take_page(cursor, item, input);
        return GI_OK;
    }
    item->line.input = gi_small_copy(input->path);
    if (status) {
        item->line.status = fault.status;
        item->line.err = fault;
    } else {
        gi_item_refuse(item, input);
    }
    return GI_OK;
}

void gi_page_cursor_close(struct gi_page_cursor *cursor)
{
    gi_pages_close(&cursor->pages, NULL);
    for (size_t i = 0; i < cursor->n && cursor->counted; i++) {
        gi_pages_close(&cursor->counted[i].pages, NULL);
        free(cursor->counted[i].fault);
    }
    free(cursor->counted);
    cursor->counted = NULL;
}

/* Counts the pages of an input, which is opened for that. */
static enum gi_status count_pages(struct gi_page_count *counted,
                                  const struct gi_page_cursor *cursor, const struct gi_input *input,
                                  bool keep, struct gi_err *err)
{
    const struct gi_load_options options = options_of(cursor->io);
    struct gi_err fault, warning = {0};
    enum gi_status status = gi_pages_open(&counted->pages, input->path, &options, &warning, &fault);
    if (status && status != GI_E_MEMORY) {
        counted->fault = gi_small_alloc(sizeof fault);
        *counted->fault = fault;
        return GI_OK;
    }
    if (status) {
        *err = fault;
        return status;
    }
    counted->n = counted->pages ? gi_pages_n(counted->pages) : 0;
    if (counted->n <= 1 || !keep)
        gi_pages_close(&counted->pages, NULL);
    else if (*warning.text)
        gi_cli_warn("%s", warning.text);
    return GI_OK;
}

/* Several threads read the beginnings of the inputs, even on one CPU, because they wait for the
 * file system. */
enum { LOOKING_MIN = 8, A_JOB = 16 };

static void look_at(void *arg, int job, void *scratch)
{
    const struct gi_page_cursor *cursor = arg;
    size_t first = (size_t)job * A_JOB, end = first + A_JOB;
    (void)scratch;
    for (size_t i = first; i < end && i < cursor->n; i++) {
        const struct gi_input *input = input_at(cursor, i);
        cursor->counted[i].may_have_pages =
            expands(cursor, input) && may_have_pages(input->path, takes_joined(cursor, input));
    }
}

static enum gi_status look_at_all(struct gi_page_cursor *cursor, struct gi_err *err)
{
    struct gi_pool *pool;
    int threads = gi_thread_count(0);
    enum gi_status status = gi_pool_new(&pool, threads > LOOKING_MIN ? threads : LOOKING_MIN, err);
    if (status)
        return status;
    status = gi_pool_run(pool, (int)((cursor->n + A_JOB - 1) / A_JOB), look_at, cursor, 0, err);
    gi_pool_free(&pool);
    return status;
}

enum gi_status gi_page_cursor_count(size_t *n, struct gi_page_cursor *cursor, struct gi_err *err)
{
    enum { KEPT_MAX = 64 }; /* open files */
    int kept = 0;
    enum gi_status status = GI_OK;
    *n = 0;
    cursor->counted = calloc(cursor->n ? cursor->n : 1, sizeof *cursor->counted);
    if (!cursor->counted)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a list of files");
    status = look_at_all(cursor, err);
    for (size_t i = 0; i < cursor->n && !status; i++) {
        struct gi_page_count *counted = &cursor->counted[i];
        if (counted->may_have_pages)
            status = count_pages(counted, cursor, input_at(cursor, i), kept < KEPT_MAX, err);
        kept += counted->pages != NULL;
        *n += counted->n > 1 ? (size_t)counted->n : 1;
    }
    return status;
}
