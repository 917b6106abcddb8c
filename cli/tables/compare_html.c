/* The page of `gpuimg compare --html`. Bodies wait in an unnamed file beside the page, because
 * pairs come in another order than that of the page, and may not fit in memory.
 * SPDX-License-Identifier: MIT */
#include "cli/tables/compare_html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/log.h"
#include "cli/stop.h"
#include "cli/tables/html.h"
#include "cli/text.h"
#include "imgio/sink.h"
#include "imgio/small.h"

static const char style[] =
    "h2 b {border-radius: .25rem; color: #fff; padding: .1rem .4rem}\n"
    ".failed b {background: #75408e} .differs b {background: #b3261e} .matches b {background: "
    "#1b6b35}\n"
    "pre {overflow-x: auto; margin: .5rem 0}\n"
    "button {font: inherit; margin-right: .25rem}\n"
    ".figures {display: grid; gap: .5rem}\n"
    ".side .figures {grid-template-columns: repeat(3, minmax(0, 1fr))}\n"
    ".slide .f, .slide .s {grid-area: 1/1} .slide .f {z-index: 1; clip-path: inset(0 calc(100% - "
    "var(--x)) 0 0)}\n"
    ".slide .figures {width: fit-content; max-width: 100%; margin: auto}\n"
    ".slide .figures::before {content: ''; grid-area: 1/1; z-index: 2; width: 2px;\n"
    " margin-left: var(--x); background: #e0f}\n"
    ".slide .d, .slide figcaption, .only .f, .only .s {display: none}\n"
    "input {display: none; width: 100%; margin: 0; grid-area: 2/1} .slide input {display: block}\n"
    "[aria-pressed=true] {font-weight: bold}\n";

static const char page_end[] =
    "<script>\n"
    "addEventListener('click', e => {const b = e.target.closest('button'); if (!b) return;\n"
    "  b.closest('.view').className = 'view ' + b.value;\n"
    "  for (const o of b.parentNode.children) o.ariaPressed = o === b});\n"
    "addEventListener('input', e => e.target.closest('.view').style.setProperty('--x', "
    "e.target.value + '%'));\n"
    "</script>\n</html>\n";

static const char views[] =
    "<div class=\"view side\" style=\"--x: 50%\">\n<p>"
    "<button value=\"side\" aria-pressed=\"true\">side by side</button>"
    "<button value=\"slide\" aria-pressed=\"false\">slider</button>"
    "<button value=\"only\" aria-pressed=\"false\">difference</button></p>\n"
    "<div class=\"figures\">\n";

static const char views_end[] =
    "<input type=\"range\" min=\"0\" max=\"100\" step=\"0.1\" value=\"50\" "
    "aria-label=\"first picture on the left, second on the right\">\n</div>\n</div>\n";

/* Where pairs are on the page. */
enum rank { FAILED, DIFFERENT, EQUAL };

struct entry {
    enum rank rank;
    double difference;
    size_t index;        /* in the order of gi_page_add() */
    char *head;          /* HTML with the names, owned here */
    uint64_t at, nbytes; /* of the body in the waiting file */
};

struct gi_page {
    const char *path;
    struct gi_sink *waiting; /* the bodies; NULL before the first one */
    uint64_t nbytes;         /* of the bodies */
    struct entry *entries;
    size_t n, room;
    size_t count[EQUAL + 1]; /* of pairs with this rank */
    struct gi_err fault;     /* the first error of adding a pair */
};

void gi_page_new(struct gi_page **out, const char *path)
{
    *out = NULL;
    if (!path)
        return;
    *out = gi_small_calloc(1, sizeof **out);
    (*out)->path = path;
}

/* ---- bodies ---- */

static enum gi_status put_picture(FILE *out, const struct gi_image *picture, const char *of,
                                  struct gi_err *err)
{
    fprintf(out, "<figure class=\"%c\">", *of);
    enum gi_status status = gi_html_picture(out, picture, "png", of, err);
    fprintf(out, "<figcaption>%s</figcaption></figure>\n", of);
    return status;
}

enum gi_status gi_page_body(struct gi_page_body **body, const char *numbers, double difference,
                            const struct gi_image *const pictures[3], struct gi_err *err)
{
    static const char *const names[] = {"first", "second", "difference"};
    struct gi_text_memory memory;
    FILE *out = gi_text_open_large(&memory);
    enum gi_status status = GI_OK;
    *body = NULL;
    fprintf(out, "<pre>%s</pre>\n%s", numbers, pictures ? views : "");
    for (int i = 0; i < 3 && pictures && !status; i++)
        status = put_picture(out, pictures[i], names[i], err);
    if (pictures)
        fputs(views_end, out);
    char *html = gi_text_close(out, &memory);
    *body = html && !status ? malloc(sizeof **body + memory.nbytes) : NULL;
    if (*body) {
        (*body)->difference = difference;
        (*body)->nbytes = memory.nbytes;
        memcpy((*body)->html, html, memory.nbytes);
    } else if (!status) {
        status = gi_fail(err, GI_E_MEMORY, "out of memory: --html");
    }
    free(html);
    return status;
}

/* ---- the page ---- */

/* Opens the file in which bodies wait. A page that goes to a pipe or a device keeps them in
 * memory. */
static enum gi_status open_waiting(struct gi_page *page, struct gi_err *err)
{
    enum gi_status status = gi_sink_open(&page->waiting, page->path, false, err);
    if (status || gi_sink_can_patch(page->waiting))
        return status;
    gi_sink_abandon(&page->waiting);
    return gi_sink_open_memory(&page->waiting, page->path, err);
}

static char *make_head(const char *a, const char *b, enum rank rank, const char *why)
{
    static const char *const words[] = {"failed", "differs", "matches"};
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    fprintf(out, "<section class=\"%s\">\n<h2><b>%s</b> <bdi>", words[rank], words[rank]);
    gi_html_text(out, a);
    fputs("</bdi> and <bdi>", out);
    gi_html_text(out, b);
    fputs("</bdi></h2>\n", out);
    if (rank != EQUAL) {
        fputs("<p>", out);
        gi_html_text(out, why);
        fputs("</p>\n", out);
    }
    return gi_text_close(out, &memory);
}

void gi_page_add(struct gi_page *page, const char *a, const char *b, enum gi_status verdict,
                 const char *why, const struct gi_page_body *body)
{
    if (!page || page->fault.status)
        return;
    struct entry entry = {.index = page->n, .at = page->nbytes};
    entry.rank = !verdict ? EQUAL : verdict == GI_E_DIFFERENT ? DIFFERENT : FAILED;
    entry.difference = body ? body->difference : 0;
    if (isnan(entry.difference))
        entry.difference = INFINITY;
    if (body && !page->waiting && open_waiting(page, &page->fault))
        return;
    if (body && gi_sink_write(page->waiting, body->html, body->nbytes, &page->fault))
        return;
    entry.nbytes = body ? body->nbytes : 0;
    entry.head = make_head(a, b, entry.rank, why);
    page->nbytes += entry.nbytes;
    page->count[entry.rank]++;
    if (page->n == page->room) {
        page->room = page->room ? 2 * page->room : 16;
        page->entries = gi_small_realloc(page->entries, page->room, sizeof *page->entries);
    }
    page->entries[page->n++] = entry;
}

static int by_rank(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->difference != y->difference)
        return x->difference > y->difference ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Copies the body of an entry from the waiting file. */
static enum gi_status copy_body(struct gi_sink *sink, const struct gi_page *page,
                                const struct entry *entry, struct gi_err *err)
{
    enum { PART = 1 << 16 };
    char part[PART];
    enum gi_status status = GI_OK;
    for (uint64_t at = 0; at < entry->nbytes && !status; at += PART) {
        size_t n = entry->nbytes - at < PART ? (size_t)(entry->nbytes - at) : PART;
        status = gi_sink_read_at(page->waiting, part, n, entry->at + at, err);
        if (!status)
            status = gi_sink_write(sink, part, n, err);
    }
    return status;
}

static enum gi_status write_page(const struct gi_page *page, struct gi_err *err)
{
    struct gi_sink *sink;
    enum gi_status status = gi_sink_open(&sink, page->path, false, err);
    if (status)
        return status;
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    gi_html_begin(out, "gpuimg compare", "Comparison", style, true);
    fprintf(out, "<p>%zu pair%s: %zu failed, %zu differ%s, %zu match%s</p>\n", page->n,
            page->n == 1 ? "" : "s", page->count[FAILED], page->count[DIFFERENT],
            page->count[DIFFERENT] == 1 ? "s" : "", page->count[EQUAL],
            page->count[EQUAL] == 1 ? "es" : "");
    status = gi_text_write(out, &memory, GI_OK, sink, err);
    for (size_t i = 0; i < page->n && !status; i++) {
        const struct entry *entry = &page->entries[i];
        status = gi_sink_write(sink, entry->head, strlen(entry->head), err);
        if (!status)
            status = copy_body(sink, page, entry, err);
        if (!status)
            status = gi_sink_printf(sink, err, "</section>\n");
    }
    if (!status)
        status = gi_sink_write(sink, page_end, strlen(page_end), err);
    if (!status)
        return gi_sink_commit(&sink, false, err);
    gi_sink_abandon(&sink);
    return status;
}

enum gi_status gi_page_end(struct gi_page **out, enum gi_status status, struct gi_err *err)
{
    struct gi_page *page = *out;
    if (!page || (!page->n && !page->fault.status) || status == GI_E_AGAIN || status == GI_E_PIPE ||
        gi_stop_asked()) {
        gi_page_free(out);
        return status;
    }
    struct gi_err fault = page->fault;
    if (page->n)
        qsort(page->entries, page->n, sizeof *page->entries, by_rank);
    if (!fault.status)
        write_page(page, &fault);
    gi_page_free(out);
    if (fault.status && status && status != GI_E_DIFFERENT)
        gi_cli_log("%s", fault.text); /* the status is that of the pairs */
    if (!fault.status || (status && status != GI_E_DIFFERENT))
        return status;
    *err = fault;
    return fault.status;
}

void gi_page_free(struct gi_page **out)
{
    struct gi_page *page = *out;
    *out = NULL;
    if (!page)
        return;
    for (size_t i = 0; i < page->n; i++)
        free(page->entries[i].head);
    free(page->entries);
    if (page->waiting)
        gi_sink_abandon(&page->waiting);
    free(page);
}
