/* The lines of reports that are joined. They are in memory up to 16 MiB, and the rest in a
 * temporary file, so that memory grows only with the names of the inputs. SPDX-License-Identifier:
 * MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "imgio/status.h"

struct gi_journal_merge_texts;

/* Adds a text, and sets *at to its place. *texts is made if it is NULL. Errors: GI_E_MEMORY, and as
 * gi_scratch_file_open(). */
enum gi_status gi_journal_merge_texts_add(struct gi_journal_merge_texts **texts, const char *text,
                                          uint64_t *at, struct gi_err *err);
/* Sets *bytes to the `nbytes` bytes of the text at its place, valid until the next call. Errors:
 * as gi_scratch_file_fail(). */
enum gi_status gi_journal_merge_texts_read(struct gi_journal_merge_texts *texts, uint64_t at,
                                           size_t nbytes, const char **bytes, struct gi_err *err);
void gi_journal_merge_texts_free(struct gi_journal_merge_texts **texts);
