/* Finds out which inputs are streams.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/inputs/stream.h"
#include "cli/inputs/stream_internal.h"
#include "cli/run/output.h"

/* The kind of stream that the output can hold, judged by its name. */
enum target { ONE_IMAGE, PNM, Y4M, EITHER };

static enum target target_of(const char *output, const struct gi_io_params *io)
{
    static const char *const names[] = {"pbm", "pgm", "ppm", "pnm", "pam"};
    static const char *const coded[] = {"png", "jpeg", "webp"}; /* through pipes */
    if (!output)
        return EITHER;
    const char *name = gi_save_format(output, io->format);
    if (!name)
        return strcmp(output, "-") == 0 && !io->format ? EITHER : ONE_IMAGE;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return PNM;
    for (size_t i = 0; i < sizeof coded / sizeof *coded; i++)
        if (strcmp(name, coded[i]) == 0 && strcmp(gi_output_file(output), "-") == 0)
            return PNM;
    return strcmp(name, "y4m") == 0 ? Y4M : ONE_IMAGE;
}

/* Takes the first image from a pipe, and sets *more to whether further ones follow. Anything that
 * is not an image ends the stream, now as well as later. */
static enum gi_status find_in_pipe(struct gi_stream *stream, bool *more, struct gi_err *err)
{
    bool end;
    enum gi_status status =
        gi_pnm_next(&stream->first, &end, stream->reader, &stream->io.limits, err);
    if (!status)
        status = gi_pnm_is_over(&end, stream->reader, err);
    *more = !status && (!end || stream->single);
    return status;
}

/* As find_in_pipe(), for PNG, JPEG and WebP and an output that perhaps can't hold several
 * images. */
static enum gi_status find_coded_in_pipe(struct gi_stream *stream, const char *output,
                                         enum target target, bool *more, struct gi_err *err)
{
    bool end, over;
    enum gi_status status =
        gi_image_stream_next(&stream->first, &end, stream->reader, &stream->io.limits, err);
    if (status == GI_E_LIMIT) { /* gi_load() reads on, and says it */
        *err = (struct gi_err){0};
        return GI_OK;
    }
    if (!status)
        status = gi_pnm_is_over(&over, stream->reader, err);
    if (!status)
        status = gi_image_stream_goes_on(more, stream->reader, err);
    if (gi_image_stream_has_index(stream->first.at, stream->first.nbytes))
        *more = false;
    if (!status && *more && target == ONE_IMAGE)
        return gi_fail(err, GI_E_USAGE,
                       "%s: %s holds one image, and more come through %s: want - or a file of PNM",
                       output, gi_save_format(output, stream->io.format),
                       gi_reader_name(stream->reader));
    *more = *more || (!status && stream->single && target != ONE_IMAGE);
    return status;
}

/* Examines the open input. `output` NULL: tables are made. */
static enum gi_status look(struct gi_stream *stream, const char *input, const char *output,
                           enum target target, bool file, bool *found, struct gi_err *err)
{
    const unsigned char *bytes;
    size_t nbytes;
    *found = false;
    enum gi_status status = gi_reader_peek(stream->reader, &bytes, &nbytes, 10, err);
    if (!status && !file && nbytes && bytes[0] == 'R')
        status = gi_image_stream_peek(stream->reader, &bytes, &nbytes, err);
    if (status)
        return status;
    if (gi_y4m_starts(bytes, nbytes)) {
        stream->is_video = *found = target == Y4M || target == EITHER;
        return GI_OK;
    }
    if (target == Y4M)
        return gi_fail(err, GI_E_USAGE, "%s: is for Y4M video, and %s is none", output,
                       gi_reader_name(stream->reader));
    if (output)
        status = gi_cli_check_way(input, output, &stream->io, NULL, err);
    if (!status && !file && gi_image_stream_starts(bytes, nbytes))
        return find_coded_in_pipe(stream, output, target, found, err);
    if (status || target == ONE_IMAGE || !gi_pnm_starts(bytes, nbytes))
        return status;
    if (file && stream->single)
        *found = true;
    else if (file)
        return gi_pnm_has_more(found, stream->reader, err);
    return *found ? GI_OK : find_in_pipe(stream, found, err);
}

/* Moves standard input back to where it began in its file, so that it can be read again. */
static void rewind_input(const char *input, off_t start)
{
    if (strcmp(input, "-") == 0)
        lseek(STDIN_FILENO, start, SEEK_SET);
}

/* Passes on to gi_load() the bytes that were taken from a pipe. */
static enum gi_status hand_over(struct gi_stream *stream, struct gi_io_params *io,
                                struct gi_err *err)
{
    struct gi_ahead *ahead = malloc(sizeof *ahead);
    if (!ahead)
        return gi_fail(err, GI_E_MEMORY, "out of memory: an input");
    *ahead = (struct gi_ahead){stream->first, stream->reader};
    stream->first = (struct gi_buffer){0};
    stream->reader = NULL;
    io->ahead = ahead;
    return GI_OK;
}

static enum gi_status find(struct gi_stream **out, const char *input, const char *output,
                           struct gi_io_params *io, bool single, struct gi_err *err)
{
    enum target target = target_of(output, io);
    bool standard = strcmp(input, "-") == 0, found = false;
    struct stat st;
    *out = NULL;
    if (standard && isatty(STDIN_FILENO))
        return GI_OK;
    int failed = standard ? fstat(STDIN_FILENO, &st) : stat(input, &st);
    if (failed && gi_status_of_errno(errno) == GI_E_AGAIN) /* or the stream ends after one image */
        return gi_fail(err, GI_E_AGAIN, "%s: %s", standard ? "standard input" : input,
                       strerror(errno));
    if (failed || S_ISDIR(st.st_mode) || (target == ONE_IMAGE && S_ISREG(st.st_mode)))
        return GI_OK; /* ordinary loading reports the fault */
    struct gi_stream *stream = *out = calloc(1, sizeof *stream);
    if (!stream)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a stream");
    stream->io = *io;
    stream->single = single;
    stream->input = input;
    stream->output = output ? output : "-";
    bool file = S_ISREG(st.st_mode);
    off_t start = standard && file ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
    enum gi_status status = gi_reader_open(&stream->reader, input, err);
    if (!status)
        status = look(stream, input, output, target, file, &found, err);
    if (!status && !found && file)
        rewind_input(input, start);
    else if (!status && !found)
        status = hand_over(stream, io, err);
    if (!status && found && io->linear)
        status = gi_fail(err, GI_E_UNSUPPORTED, "--linear: not on a stream of images");
    if (status || !found)
        gi_stream_free(out);
    return status;
}

enum gi_status gi_stream_find(struct gi_stream **stream, const char *input, const char *output,
                              struct gi_io_params *io, const struct gi_batch_params *params,
                              struct gi_err *err)
{
    bool reports = params && params->report;
    enum gi_status status = find(stream, input, output, io, reports, err);
    return status || !reports || *stream
               ? status
               : gi_fail(err, GI_E_USAGE,
                         "--report: is for many images: want --out-dir, --out or --tar too, or a "
                         "stream of PNM or Y4M into one");
}
