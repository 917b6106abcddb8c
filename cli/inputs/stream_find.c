/* Finds out which inputs are streams.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/inputs/stream.h"
#include "cli/inputs/stream_internal.h"
#include "cli/log.h"
#include "cli/paths/names.h"
#include "cli/paths/output.h"
#include "imgio/ahead.h"
#include "imgio/small.h"

/* The kind of stream that the output can hold, judged by its name. */
enum target { ONE_IMAGE, PNM, Y4M, EITHER, PAGES, FILES };

static enum target target_of(const char *output, const struct gi_io_params *io, enum gi_joining why)
{
    static const char *const names[] = {"pbm", "pgm", "ppm", "pnm", "pam"};
    static const char *const coded[] = {"png", "jpeg", "webp"}; /* through pipes */
    if (!output)
        return EITHER;
    if (gi_naming_is_many(output))
        return FILES;
    const char *name = gi_save_format(output, io->format);
    if (!name)
        return strcmp(output, "-") == 0 && !io->format ? EITHER : ONE_IMAGE;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return PNM;
    for (size_t i = 0; i < sizeof coded / sizeof *coded; i++)
        if (strcmp(name, coded[i]) == 0 && strcmp(gi_output_file(output), "-") == 0)
            return PNM;
    return strcmp(name, "y4m") == 0 ? Y4M : gi_joins(name, why) ? PAGES : ONE_IMAGE;
}

/* Takes the first image from a pipe, and sets *more to whether further images follow. Data that is
 * not an image ends the stream here, as it does later. */
static enum gi_status find_in_pipe(struct gi_stream *stream, bool *more, struct gi_err *err)
{
    bool end;
    enum gi_status status =
        gi_pnm_next(&stream->pipe.first, &end, stream->reader, &stream->io.limits, err);
    if (!status)
        status = gi_pnm_is_over(&end, stream->reader, err);
    *more = !status && (!end || stream->pipe.single || stream->target == &gi_target_files);
    return status;
}

/* Warns of bytes behind the only image of a pipe, or fails with --strict. A JPEG with an index has
 * images there that belong to it. */
static enum gi_status check_rest(struct gi_stream *stream, struct gi_err *err)
{
    const struct gi_buffer *image = &stream->pipe.first;
    if (gi_image_stream_has_index(image->at, image->nbytes) ||
        !gi_image_stream_is_whole(image->at, image->nbytes))
        return GI_OK;
    if (stream->io.strict)
        return gi_fail(err, GI_E_FORMAT, GI_STREAM_NO_IMAGE, gi_reader_name(stream->reader), 1ULL);
    gi_cli_warn(GI_STREAM_NO_IMAGE, gi_reader_name(stream->reader), 1ULL);
    stream->pipe.rest_named = true;
    return GI_OK;
}

/* Fails because an output of one image can't hold the images of a stream. */
static enum gi_status fail_for_one(const struct gi_stream *stream, const char *output, bool file,
                                   struct gi_err *err)
{
    const char *name = gi_reader_name(stream->reader);
    bool named = file && strcmp(stream->input, "-") != 0;
    return gi_fail(err, GI_E_USAGE,
                   "%s: %s holds one image, and more come through %s: want {index:03} in its "
                   "name, -, a TIFF or a file of PNM%s%s%s",
                   output, gi_save_format(output, stream->io.format), name,
                   named ? ", or the first alone, as " : "", named ? name : "", named ? "[0]" : "");
}

/* Finds out whether a file has several images, one behind the other. */
static enum gi_status find_in_file(struct gi_stream *stream, const char *output, enum target target,
                                   bool *more, struct gi_err *err)
{
    const struct gi_file_bytes file = {.reader = stream->reader};
    uint64_t next;
    enum gi_status status = gi_image_next(&next, &file, 0, err);
    *more = !status && next;
    if (*more && target == ONE_IMAGE)
        return fail_for_one(stream, output, true, err);
    *more = *more || (!status && target != ONE_IMAGE && (stream->pipe.single || target == FILES));
    return status;
}

/* Like find_in_pipe(), for PNG, JPEG and WebP, and for an output that perhaps can't hold several
 * images. */
static enum gi_status find_coded_in_pipe(struct gi_stream *stream, const char *output,
                                         enum target target, bool *more, struct gi_err *err)
{
    bool end, over;
    enum gi_status status =
        gi_image_stream_next(&stream->pipe.first, &end, stream->reader, &stream->io.limits, err);
    if (status == GI_E_LIMIT) { /* gi_load() reads on, and says it */
        *err = (struct gi_err){0};
        return GI_OK;
    }
    if (!status)
        status = gi_pnm_is_over(&over, stream->reader, err);
    if (!status)
        status = gi_image_stream_goes_on(more, stream->reader, err);
    if (gi_image_stream_has_index(stream->pipe.first.at, stream->pipe.first.nbytes))
        *more = false;
    if (!status && *more && target == ONE_IMAGE)
        return fail_for_one(stream, output, false, err);
    bool single = stream->pipe.single || target == FILES;
    *more = *more || (!status && single && target != ONE_IMAGE);
    return status || over || *more ? status : check_rest(stream, err);
}

/* Refuses a pipe of several PNM images whose output can't hold them. Decoding reports all other
 * faults. */
static enum gi_status check_pnm_in_pipe(struct gi_stream *stream, const char *output,
                                        struct gi_err *err)
{
    enum { NEXT_NBYTES = 64 };
    const unsigned char *bytes;
    size_t nbytes;
    bool end;
    enum gi_status status =
        gi_pnm_next(&stream->pipe.first, &end, stream->reader, &stream->io.limits, err);
    if (status && status != GI_E_IO && status != GI_E_MEMORY) {
        *err = (struct gi_err){0};
        return GI_OK;
    }
    if (!status)
        status = gi_reader_peek(stream->reader, &bytes, &nbytes, NEXT_NBYTES, err);
    return !status && gi_image_follows(bytes, nbytes, NULL)
               ? fail_for_one(stream, output, false, err)
               : status;
}

/* Sets standard input back to the position of the first byte of its file, so that it can be read
 * again. */
static void rewind_input(const struct gi_stream *stream)
{
    if (strcmp(stream->input, "-") == 0)
        lseek(STDIN_FILENO, stream->pipe.start, SEEK_SET);
}

/* Reads the rest of a pipe, because the pages of a TIFF can be anywhere in it. */
static enum gi_status take_all(struct gi_stream *stream, struct gi_err *err)
{
    enum { STEP_NBYTES = 1 << 20 };
    struct gi_buffer *all = &stream->pipe.first;
    size_t got = 1;
    enum gi_status status = GI_OK;
    while (!status && got) {
        status = gi_reader_append(stream->reader, all, all->nbytes / 2 + STEP_NBYTES, &got, err);
        if (!status && all->nbytes > stream->io.limits.max_bytes)
            status = gi_fail(
                err, GI_E_LIMIT, "%s: more than %llu bytes of input; --max-bytes raises the limit",
                gi_reader_name(stream->reader), (unsigned long long)stream->io.limits.max_bytes);
    }
    return status;
}

/* Checks that pages can go to the output. */
static enum gi_status check_pages(const struct gi_stream *stream, const char *output,
                                  enum target target, struct gi_err *err)
{
    const struct gi_pages *pages = stream->cursor.pages;
    const char *const outputs[] = {output, NULL}, *const inputs[] = {stream->input, NULL};
    const char *dot = output ? strrchr(output, '.') : NULL;
    bool frames = gi_pages_are_frames(pages);
    if (target == ONE_IMAGE && gi_pages_n(pages) > 1)
        return gi_fail(err, GI_E_USAGE,
                       "%s: %s holds one image, and %s has %d %s: want {page} in its name, as in "
                       "%.*s-{page}%s, or one %s, as %s[%d]",
                       output, gi_save_format(output, stream->io.format), stream->input,
                       gi_pages_n(pages), frames ? "frames" : "pages",
                       (int)(dot ? dot - output : (ptrdiff_t)strlen(output)), output,
                       dot ? dot : "", frames ? "frame" : "page", gi_pages_file(pages),
                       gi_pages_number(pages, 0));
    return output && !gi_pages_are_all(pages) && target != FILES
               ? gi_output_check_inputs(outputs, inputs, err)
               : GI_OK;
}

/* Lists the pages of the input. */
static enum gi_status find_pages(struct gi_stream *stream, const char *input, const char *output,
                                 enum target target, bool file, bool *found, struct gi_err *err)
{
    const struct gi_load_options options = {.limits = stream->io.limits,
                                            .allow_partial = stream->io.allow_partial};
    struct gi_pages **pages = &stream->cursor.pages;
    const char *name = gi_reader_name(stream->reader);
    struct gi_err warning = {0};
    enum gi_status status = file ? GI_OK : take_all(stream, err);
    if (!status && file)
        rewind_input(stream);
    if (!status && file)
        status = gi_pages_open(pages, input, &options, &warning, err);
    else if (!status)
        status = gi_pages_open_memory(pages, stream->pipe.first.at, stream->pipe.first.nbytes, true,
                                      name, &options, &warning, err);
    if (status)
        return status;
    int n = gi_pages_n(*pages);
    *found = n > 1 || target == FILES || (stream->pipe.single && target != ONE_IMAGE);
    if (!*found) /* the decoder warns of what else the file holds */
        return gi_pages_close(pages, err);
    if (*warning.text)
        gi_cli_warn("%s", warning.text);
    stream->is_paged = true;
    stream->expected = (uint64_t)n;
    const char *format = output ? gi_save_format(output, stream->io.format) : NULL;
    enum gi_joining why = gi_pages_are_frames(*pages) ? GI_JOIN_FRAMES : GI_JOIN_PAGES;
    if (output && !format && target == EITHER) /* standard output in the format of the input */
        format = gi_pages_are_frames(*pages) ? gi_pages_format(*pages) : "tiff";
    if (output && target != FILES && gi_joins(format, why)) {
        stream->target = &gi_target_pages;
        stream->io.format = format;
    }
    return check_pages(stream, output, target, err);
}

/* Examines the open input. If `output` is NULL, tables are made. */
static enum gi_status look(struct gi_stream *stream, const char *input, const char *output,
                           enum target target, bool file, bool *found, struct gi_err *err)
{
    const unsigned char *bytes;
    size_t nbytes;
    *found = false;
    enum { FLAGS_AT = 20 }; /* of a WebP that may be an animation */
    enum gi_status status = gi_reader_peek(stream->reader, &bytes, &nbytes, 10, err);
    if (!status && nbytes && bytes[0] == 'R')
        status = gi_image_stream_peek(stream->reader, &bytes, &nbytes, err);
    if (!status && nbytes > 11 && memcmp(bytes + 8, "WEBP", 4) == 0)
        status = gi_reader_peek(stream->reader, &bytes, &nbytes, FLAGS_AT + 1, err);
    if (status)
        return status;
    struct gi_selection selection;
    gi_path_file(input, &selection);
    if (gi_y4m_starts(bytes, nbytes)) {
        bool one = selection.given && !selection.several && target == ONE_IMAGE;
        stream->video.frames = selection;
        if (one)
            stream->target = &gi_target_files;
        stream->is_video = *found = one || target != ONE_IMAGE;
        stream->video.to_video = target == Y4M || target == EITHER;
        if (target == PAGES)
            stream->io.format = gi_save_format(output, stream->io.format);
        return stream->video.to_video || !*found
                   ? GI_OK
                   : gi_cli_check_way(input, output, &stream->io, NULL, err);
    }
    bool paged = gi_pages_starts(bytes, nbytes);
    if (target == Y4M)
        return gi_fail(err, GI_E_USAGE, "%s: is for Y4M video, and %s is none", output,
                       gi_reader_name(stream->reader));
    if (output)
        status = gi_cli_check_way(input, output, &stream->io, NULL, err);
    bool one = selection.given && !selection.several;
    if (paged && target == ONE_IMAGE && !one && gi_frames_start(bytes, nbytes))
        target = target_of(output, &stream->io, GI_JOIN_FRAMES);
    if (paged && target == ONE_IMAGE && !selection.given && gi_frames_start(bytes, nbytes))
        return status; /* the first frame */
    if (!status && paged)
        return find_pages(stream, input, output, target, file, found, err);
    if (!status && file && selection.given && !selection.several)
        return GI_OK;
    if (!status && file && !gi_selection_is_all(&selection))
        return find_pages(stream, input, output, target, file, found, err);
    if (!status && gi_image_stream_starts(bytes, nbytes))
        return file ? find_in_file(stream, output, target, found, err)
                    : find_coded_in_pipe(stream, output, target, found, err);
    if (status || !gi_pnm_starts(bytes, nbytes))
        return status;
    if (target == ONE_IMAGE)
        return file ? find_in_file(stream, output, target, found, err)
                    : check_pnm_in_pipe(stream, output, err);
    if (file && (stream->pipe.single || target == FILES))
        *found = true;
    else if (file)
        return gi_pnm_has_more(found, stream->reader, err);
    return *found ? GI_OK : find_in_pipe(stream, found, err);
}

/* Passes the bytes that were taken from a pipe to gi_load(). */
static void hand_over(struct gi_stream *stream, struct gi_io_params *io)
{
    struct gi_ahead *ahead = gi_small_alloc(sizeof *ahead);
    *ahead = (struct gi_ahead){.bytes = stream->pipe.first,
                               .reader = stream->reader,
                               .rest_named = stream->pipe.rest_named};
    stream->pipe.first = (struct gi_buffer){0};
    stream->reader = NULL;
    io->passed.ahead = ahead;
}

/* Finds the file of an input, and sets *path to its name without brackets, which the caller frees.
 * Sets *absent to true if the file can't be found; ordinary loading will report that. Errors:
 * GI_E_AGAIN if the machine failed, because the stream would otherwise end after its first image.
 */
static enum gi_status find_file(char **path, struct stat *st, bool *absent, const char *input,
                                struct gi_err *err)
{
    struct gi_selection selection;
    bool standard = strcmp(input, "-") == 0;
    *path = gi_small_copy_n(input, gi_path_file(input, &selection));
    *absent = standard && isatty(STDIN_FILENO);
    if (*absent)
        return GI_OK;
    *absent = (standard ? fstat(STDIN_FILENO, st) : stat(*path, st)) != 0;
    if (*absent && gi_status_of_errno(errno) == GI_E_AGAIN)
        return gi_fail(err, GI_E_AGAIN, "%s: %s", standard ? "standard input" : input,
                       strerror(errno));
    *absent = *absent || S_ISDIR(st->st_mode);
    return GI_OK;
}

enum gi_status gi_stream_take_pipe(const char *input, struct gi_io_params *io, struct gi_err *err)
{
    struct gi_reader *reader;
    struct stat st;
    bool absent;
    char *path;
    enum gi_status status = find_file(&path, &st, &absent, input, err);
    if (!status && !absent && strcmp(path, input) == 0 && S_ISFIFO(st.st_mode) &&
        !(status = gi_reader_open(&reader, path, err))) {
        io->passed.ahead = gi_small_calloc(1, sizeof *io->passed.ahead);
        io->passed.ahead->reader = reader;
    }
    free(path);
    return status;
}

/* Returns whether the regular file begins like one that may have several images. `input` is its
 * path, with brackets perhaps, which a video needs here: only a stream reads its frames. */
static bool may_have_several(const char *path, const char *input)
{
    bool standard = strcmp(path, "-") == 0;
    unsigned char bytes[64];
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : pread(fd, bytes, sizeof bytes, standard ? lseek(fd, 0, SEEK_CUR) : 0);
    if (fd >= 0 && !standard)
        close(fd);
    return n > 0 &&
           (gi_pages_starts(bytes, (size_t)n) || gi_image_follows(bytes, (size_t)n, NULL) ||
            (input[strlen(path)] == '[' && gi_y4m_starts(bytes, (size_t)n)));
}

static enum gi_status new_stream(struct gi_stream **out, const char *input, const char *output,
                                 const struct gi_io_params *io, enum target target,
                                 struct gi_err *err)
{
    struct gi_stream *stream = *out = gi_small_calloc(1, sizeof *stream);
    stream->io = *io;
    stream->input = input;
    stream->out.path = output ? output : "-";
    stream->target = !output           ? NULL
                     : target == FILES ? &gi_target_files
                     : target == PAGES ? &gi_target_pages
                                       : &gi_target_joined;
    stream->cursor =
        (struct gi_page_cursor){.list = &stream->list, .io = &stream->io, .n = 1, .next = 1};
    return gi_list_add(&stream->list, input, err);
}

enum gi_status gi_stream_of_files(struct gi_stream **out, struct gi_list *list, const char *output,
                                  const char *rate, const struct gi_io_params *io,
                                  struct gi_err *err)
{
    enum target target = target_of(output, io, GI_JOIN_ASKED);
    *out = NULL;
    enum gi_status status = target == Y4M ? GI_OK : gi_cli_check_save(output, io, err);
    if (!status && target == PNM && gi_joins(gi_save_format(output, io->format), GI_JOIN_ASKED))
        status = gi_fail(err, GI_E_USAGE,
                         "%s: an animated %s can't go to standard output: want a file, or --format "
                         "gif",
                         output, gi_save_format(output, io->format));
    else if (!status && target != PAGES && target != Y4M)
        status = gi_fail(
            err, GI_E_USAGE,
            "%s: %s holds one image: want a TIFF, an animation (GIF, WebP or PNG), an ICO or Y4M",
            output, gi_save_format(output, io->format));
    if (status)
        return status;
    struct gi_stream *stream = *out = gi_small_calloc(1, sizeof *stream);
    stream->io = *io;
    stream->io.format = target == Y4M ? NULL : gi_save_format(output, io->format);
    stream->out.path = output;
    stream->target = target == Y4M ? &gi_target_frames : &gi_target_pages;
    stream->out.rate = rate;
    stream->is_paged = true;
    stream->list = *list;
    *list = (struct gi_list){0};
    stream->cursor =
        (struct gi_page_cursor){.list = &stream->list, .io = &stream->io, .n = stream->list.n};
    return GI_OK;
}

static enum gi_status find(struct gi_stream **out, const char *input, const char *output,
                           struct gi_io_params *io, bool single, struct gi_err *err)
{
    enum target target = target_of(output, io, GI_JOIN_PAGES);
    bool found = false, absent;
    struct stat st;
    char *path;
    *out = NULL;
    enum gi_status status = find_file(&path, &st, &absent, input, err);
    bool file = !status && !absent && S_ISREG(st.st_mode);
    if (status || absent || (file && target == ONE_IMAGE && !may_have_several(path, input))) {
        free(path);
        return status;
    }
    status = new_stream(out, input, output, io, target, err);
    struct gi_stream *stream = *out;
    if (!status && file && strcmp(path, "-") == 0)
        stream->pipe.start = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (!status)
        status = gi_reader_open(&stream->reader, path, err);
    if (!status) {
        stream->pipe.single = single;
        stream->pipe.first = gi_buffer_spilling(GI_BUFFER_SPILLS_FROM_NBYTES);
        status = look(stream, input, output, target, file, &found, err);
    }
    if (!status && file && (!found || stream->is_paged))
        rewind_input(stream);
    else if (!status && !found)
        hand_over(stream, io);
    if (!status && found && !stream->is_paged) /* the items own their bytes */
        status = gi_buffer_take_back(&stream->pipe.first, err);
    if (!status && found && io->linear && !stream->is_paged)
        status = gi_fail(err, GI_E_UNSUPPORTED, "--linear: not on a stream of images");
    if (status || !found)
        gi_stream_free(out);
    free(path);
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
