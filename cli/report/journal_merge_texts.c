/* The lines of reports that are joined.
 * SPDX-License-Identifier: MIT */
#include "cli/report/journal_merge_texts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "imgio/scratch_file.h"
#include "imgio/buffer.h"
#include "imgio/small.h"

enum { MEMORY_NBYTES = 16 << 20 };

struct gi_journal_merge_texts {
    struct gi_buffer last; /* the last texts, which are behind those of the file */
    uint64_t before;       /* bytes of the file */
    int fd;                /* -1: none */
    struct gi_buffer read; /* a text of the file */
};

/* Moves the texts in memory to the file. */
static enum gi_status spill(struct gi_journal_merge_texts *texts, struct gi_err *err)
{
    enum gi_status status = texts->fd < 0 ? gi_scratch_file_open(&texts->fd, 0, err) : GI_OK;
    if (!status &&
        !gi_scratch_file_write(texts->fd, texts->last.at, texts->last.nbytes, texts->before))
        status = gi_scratch_file_fail(err);
    texts->before += texts->last.nbytes;
    texts->last.nbytes = 0;
    return status;
}

enum gi_status gi_journal_merge_texts_add(struct gi_journal_merge_texts **out, const char *text,
                                          uint64_t *at, struct gi_err *err)
{
    size_t nbytes = strlen(text);
    if (!*out) {
        *out = gi_small_calloc(1, sizeof **out);
        (*out)->fd = -1;
    }
    struct gi_journal_merge_texts *texts = *out;
    if (texts->last.nbytes + nbytes > MEMORY_NBYTES && texts->last.nbytes && spill(texts, err))
        return err->status;
    *at = texts->before + texts->last.nbytes;
    return gi_buffer_append(&texts->last, text, nbytes, err);
}

enum gi_status gi_journal_merge_texts_read(struct gi_journal_merge_texts *texts, uint64_t at,
                                           size_t nbytes, const char **bytes, struct gi_err *err)
{
    struct gi_buffer *read = &texts->read;
    if (at >= texts->before) {
        *bytes = (const char *)texts->last.at + (at - texts->before);
        return GI_OK;
    }
    read->nbytes = 0;
    if (gi_buffer_reserve(read, nbytes, err))
        return err->status;
    *bytes = (const char *)read->at;
    return gi_scratch_file_read(texts->fd, read->at, nbytes, at) ? GI_OK
                                                                 : gi_scratch_file_fail(err);
}

void gi_journal_merge_texts_free(struct gi_journal_merge_texts **texts)
{
    if (*texts && (*texts)->fd >= 0)
        close((*texts)->fd);
    if (*texts) {
        free((*texts)->last.at);
        free((*texts)->read.at);
    }
    free(*texts);
    *texts = NULL;
}
