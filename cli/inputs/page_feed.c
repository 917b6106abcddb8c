/* The feed of pages: the images of files that have several.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/stream_internal.h"

static enum gi_status next(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    struct gi_stream *stream = self;
    enum gi_status status = gi_page_cursor_next(&stream->cursor, item, more, err);
    if (status || !*more)
        return status;
    const struct gi_pages *pages = item->source.pages;
    stream->taken++;
    item->source.together =
        stream->input && pages && stream->target == GI_STREAM_PAGES && gi_pages_are_all(pages);
    return gi_stream_name_output(stream, item,
                                 pages ? gi_pages_number(pages, item->source.page) : 0, err);
}

const struct gi_feed_kind gi_feed_pages = {
    .unit = "pages",
    .waits = "input or output",
    .next = next,
    .open_report = gi_stream_open_report,
    .note = gi_stream_note,
};
