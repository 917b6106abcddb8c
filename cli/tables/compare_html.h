/* The page of `gpuimg compare --html`: one HTML file with all pairs, their pictures and numbers,
 * which needs no other file and no network.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

struct gi_page;

/* What the page shows of a pair besides names and verdict, in memory of malloc(). */
struct gi_page_body {
    double difference; /* by which pairs are sorted; NAN counts as infinite */
    size_t nbytes;
    char html[]; /* nbytes bytes */
};

/* Starts the file at `path`, which must outlive *page. If `path` is NULL, *page becomes NULL, and
 * the other functions do nothing. gi_page_end() or gi_page_free() frees *page. */
void gi_page_new(struct gi_page **page, const char *path);

/* Makes the body of a pair, which the caller frees by free(). `numbers` is text of several lines.
 * `pictures` are the first image, the second one and their difference, as PNG of 8 bits; NULL if
 * none are shown. Many threads may call this at once. Errors: GI_E_MEMORY, and as
 * gi_save_memory(). */
enum gi_status gi_page_body(struct gi_page_body **body, const char *numbers, double difference,
                            const struct gi_image *const pictures[3], struct gi_err *err);

/* Adds a pair. `verdict` and `why` are as for gi_junit_add(). `body` may be NULL. An error is
 * reported by gi_page_end(). */
void gi_page_add(struct gi_page *page, const char *a, const char *b, enum gi_status verdict,
                 const char *why, const struct gi_page_body *body);

/* Writes the file, with pairs that failed first, then those that differ, then the others, each by
 * decreasing difference, and frees *page. Otherwise as gi_junit_end(), but an error of writing is
 * also logged if `status` is another error. */
enum gi_status gi_page_end(struct gi_page **page, enum gi_status status, struct gi_err *err);
void gi_page_free(struct gi_page **page);
