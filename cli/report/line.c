/* What a report says of an input.
 * SPDX-License-Identifier: MIT */
#include "cli/report/line.h"

#include <stdlib.h>
#include <string.h>

#include "imgio/small.h"

const char *const gi_stage_names[GI_STAGES] = {"decode", "upload", "kernels", "download", "encode"};

int64_t gi_mtime_ns(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

void gi_line_add_part(struct gi_line *line, const char *path)
{
    line->parts = gi_small_realloc(line->parts, line->nparts + 1, sizeof *line->parts);
    line->in_parts = true;
    line->parts[line->nparts++] = (struct gi_line_part){.path = gi_small_copy(path)};
}

void gi_line_free_parts(struct gi_line *line)
{
    for (size_t i = 0; i < line->nparts; i++)
        free(line->parts[i].path);
    free(line->parts);
}

/* Whether there is such a file. */
static bool note(struct gi_line_file *file, const char *path)
{
    struct stat st;
    if (!path || stat(path, &st))
        return false;
    *file = (struct gi_line_file){.nbytes = (uint64_t)st.st_size, .mtime_ns = gi_mtime_ns(&st)};
    return true;
}

void gi_line_note_input(struct gi_line *line)
{
    line->input_file.nbytes = 0;
    note(&line->beside.file, line->beside.path);
    note(&line->input_file, line->input);
}

void gi_line_note_output(struct gi_line *line)
{
    line->output_file.nbytes = 0;
    if (!line->in_parts)
        note(&line->output_file, line->output);
    for (size_t i = 0; i < line->nparts; i++) {
        struct gi_line_part *part = &line->parts[i];
        if (note(&part->file, part->path))
            line->output_file.nbytes += part->file.nbytes;
    }
}

void gi_line_add(struct gi_line *whole, const struct gi_line *part)
{
    whole->input_file.nbytes += part->input_file.nbytes;
    whole->output_file.nbytes += part->output_file.nbytes;
    for (int i = 0; i < GI_STAGES; i++)
        whole->ms[i] += part->ms[i];
    if (part->status) {
        whole->status = part->status;
        whole->err = part->err;
    }
}
