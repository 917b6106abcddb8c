/* Frames of Y4M video as RGB images through the engine, and images that become frames.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cli/inputs/stream_internal.h"
#include "cli/log.h"
#include "imgio/small.h"

/* A frame, in the tag of its item. */
struct frame {
    char line[GI_Y4M_LINE_MAX];            /* the line before it */
    struct gi_image planes[GI_Y4M_PLANES]; /* as read */
    struct gi_y4m made;                    /* the video that the result fits into */
};

static void free_planes(struct gi_image *planes)
{
    for (int i = 0; i < GI_Y4M_PLANES; i++)
        gi_image_free(&planes[i]);
}

static void untag(void *tag)
{
    struct frame *frame = tag;
    free_planes(frame->planes);
    free(frame);
}

static struct frame *new_frame(struct gi_item *item)
{
    struct frame *frame = gi_small_calloc(1, sizeof *frame);
    strcpy(frame->line, "FRAME");
    item->source.tag = frame;
    item->source.untag = untag;
    return frame;
}

/* Returns whether an option of the step needs the frame as RGB: --border border and resize's --pad
 * fill with a colour, which in a plane of chroma would be another one, and --trim and --attention
 * would find another rectangle in each plane. */
static bool needs_frame(const struct gi_chain_step *step)
{
    const char *params = step->args.params[GI_SET_STEP_FILTER];
    bool needs = false;
    for (const struct gi_option *row = step->filter->options; params && row->name; row++) {
        const char *value = params + row->offset;
        if (strcmp(row->name, "border") == 0)
            needs = needs || *(const int *)value == GI_BORDER_VALUE;
        else if (row->type == GI_OPT_FLAG &&
                 (!strcmp(row->name, "pad") || !strcmp(row->name, "trim") ||
                  !strcmp(row->name, "attention")))
            needs = needs || *(const bool *)value;
    }
    return needs;
}

void gi_video_choose(struct gi_stream *stream)
{
    const struct gi_chain *chain = stream->chain;
    bool luma = false, rgb = false;
    for (int i = 0; chain && i < chain->n; i++) {
        enum gi_planes planes = chain->steps[i].filter->planes;
        luma = luma || planes == GI_PLANES_LUMA;
        rgb = rgb || planes == GI_PLANES_RGB || needs_frame(&chain->steps[i]);
    }
    stream->video.luma_only = stream->video.to_video && luma;
    stream->video.by_frame = !stream->video.to_video || (!luma && rgb);
}

/* Reads the planes of a frame that is not selected. */
static enum gi_status skip_planes(struct gi_stream *stream, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    stream->video.skipped++;
    for (int i = 0; i < stream->video.head.nplanes && !status; i++) {
        struct gi_image shape = gi_y4m_plane(&stream->video.head, i), plane = {0};
        status = gi_image_alloc(&plane, shape.width, shape.height, 1, shape.type, err);
        if (!status)
            status = gi_y4m_read_plane(&plane, stream->reader, err);
        gi_image_free(&plane);
    }
    return status;
}

enum gi_status gi_video_next_frame(struct gi_stream *stream, char *line, bool *end,
                                   struct gi_err *err)
{
    const struct gi_selection *frames = &stream->video.frames;
    enum gi_status status = GI_OK;
    for (*end = false; !status && !*end; status = skip_planes(stream, err)) {
        uint64_t i = stream->taken;
        bool over = frames->given && frames->last >= 0 && i > (uint64_t)frames->last;
        *end = over;
        if (!over)
            status = gi_y4m_read_frame(line, end, stream->reader, err);
        if (!status && !over && *end && frames->given &&
            (frames->last >= 0 || i == stream->video.skipped))
            status = gi_fail(err, GI_E_UNSUPPORTED, "%s: holds %llu frame%s: want [0] to [%llu]",
                             stream->input, (unsigned long long)i, i == 1 ? "" : "s",
                             (unsigned long long)(i ? i - 1 : 0));
        if (status || *end)
            break;
        stream->taken++;
        if (gi_selection_has(frames, i))
            break;
    }
    return status;
}

/* Reads the next frame; *end becomes true if there is none. */
static enum gi_status read_frame(struct gi_stream *stream, struct frame *frame,
                                 struct gi_item *item, bool *end, struct gi_err *err)
{
    const struct gi_y4m *video = &stream->video.head;
    enum gi_status status = gi_video_next_frame(stream, frame->line, end, err);
    if (status || *end)
        return status;
    struct gi_image luma = gi_y4m_plane(video, 0);
    gi_engine_reserve(item, 8 * gi_image_nbytes(&luma)); /* planes, RGB, and the result */
    for (int i = 0; i < video->nplanes && !status; i++) {
        struct gi_image shape = gi_y4m_plane(video, i);
        status = gi_image_alloc(&frame->planes[i], shape.width, shape.height, 1, shape.type, err);
        if (!status)
            status = gi_y4m_read_plane(&frame->planes[i], stream->reader, err);
    }
    return status;
}

static enum gi_status next(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    struct gi_stream *stream = self;
    struct gi_err fault = {0};
    bool end = false;
    *more = !stream->ended;
    if (!*more)
        return GI_OK;
    struct frame *frame = new_frame(item);
    read_frame(stream, frame, item, &end, &fault);
    if (!gi_stream_has(stream, item, end, &fault, more))
        return GI_OK;
    gi_stream_name_output(stream, item, (int)stream->taken - 1);
    gi_stream_name(stream, item, "frame");
    return GI_OK;
}

/* Encodes the image as a frame of a video into item->made. */
static enum gi_status encode(const struct gi_stream *stream, struct gi_item *item,
                             const struct gi_image *image, struct gi_err *err)
{
    struct frame *frame = item->source.tag;
    struct gi_image planes[GI_Y4M_PLANES] = {{0}};
    struct gi_sink *sink = NULL;
    enum gi_status status = GI_OK;
    frame->made = stream->video.head;
    frame->made.width = image->width;
    frame->made.height = image->height;
    if (!stream->is_video)
        status = gi_y4m_new_head(&frame->made, image->width, image->height,
                                 gi_color_channels(image) == 1, stream->out.rate, err);
    if (!status)
        status = gi_y4m_from_image(planes, image, &frame->made, err);
    if (!status)
        status = gi_sink_open_memory(&sink, item->line.input, err);
    if (!status)
        status = gi_sink_printf(sink, err, "%s\n", frame->line);
    for (int i = 0; i < frame->made.nplanes && !status; i++)
        status = gi_y4m_write_plane(sink, &planes[i], err);
    if (!status)
        status = gi_sink_take(&sink, &item->made.bytes, &item->made.nbytes, err);
    gi_sink_abandon(&sink);
    free_planes(planes);
    item->line.output_file.nbytes = item->made.nbytes;
    return status;
}

/* Makes the image of a frame. */
static enum gi_status take_image(const struct gi_stream *stream, struct gi_item *item,
                                 struct gi_image *image, struct gi_err *err)
{
    struct frame *frame = item->source.tag;
    enum gi_status status = GI_OK;
    for (int i = 0; i < stream->video.head.nplanes && !status; i++) {
        item->line.input_file.nbytes += gi_image_nbytes(&frame->planes[i]);
        status = gi_y4m_widen(&frame->planes[i], stream->video.head.bits, err);
    }
    if (!status)
        status = gi_y4m_to_image(image, frame->planes, &stream->video.head, err);
    free_planes(frame->planes);
    item->line.shape = *image;
    item->line.shape.data = NULL;
    return status ? gi_err_prefix(err, "%s", item->line.input) : GI_OK;
}

enum gi_status gi_video_frame_work(void *self, struct gi_imaging *imaging, struct gi_item *item,
                                   struct gi_err *err)
{
    struct gi_stream *stream = self;
    struct gi_image image = {0};
    struct gi_metadata metadata = {0};
    const struct frame *frame = item->source.tag;
    gi_y4m_metadata(&metadata, &stream->video.head);
    gi_y4m_frame_metadata(&metadata, frame->line);
    enum gi_status status = take_image(stream, item, &image, err);
    struct gi_file_info info = {.bits = 8, .maxval = (unsigned)gi_type_full_scale(image.type)};
    if (!status && stream->chain)
        status = gi_imaging_filter(imaging, item, &image, &metadata, &info, NULL, err);
    if (!status)
        status = stream->target == &gi_target_frames
                     ? encode(stream, item, &image, err)
                     : gi_imaging_save(imaging, item, &image, &metadata, NULL, true, err);
    gi_metadata_free(&metadata);
    gi_image_free(&image);
    return status;
}

/* Names the metadata of an image that becomes a frame of a video. */
static enum gi_status name_losses(const struct gi_image *image, const struct gi_metadata *metadata,
                                  const char *name, const struct gi_io_params *io,
                                  struct gi_err *err)
{
    const struct gi_save_options options = {.strict = io->strict};
    struct gi_err warning = {0};
    enum gi_status status = gi_save_losses(image, metadata, "y4m", name, &options, &warning, err);
    if (!status && *warning.text)
        gi_cli_warn("%s", warning.text);
    return status;
}

enum gi_status gi_video_image_work(void *self, struct gi_imaging *imaging, struct gi_item *item,
                                   struct gi_err *err)
{
    struct gi_stream *stream = self;
    struct gi_image image = {0};
    struct gi_metadata metadata = {0};
    new_frame(item);
    enum gi_status status = gi_imaging_make(imaging, item, &image, &metadata, err);
    if (!status && metadata.bands.n)
        status = gi_fail(err, GI_E_UNSUPPORTED,
                         "%s: has bands, which Y4M does not hold: want some, as in "
                         "x.tif[bands=3,2,1]",
                         item->line.input);
    if (!status)
        status =
            name_losses(&image, &metadata, item->line.input, gi_imaging_options(imaging)->io, err);
    if (!status)
        status = encode(stream, item, &image, err);
    gi_image_free(&image);
    gi_metadata_free(&metadata);
    return status;
}

/* Writes the frame in item->made, and before the first frame the header. */
static enum gi_status put_frame(void *self, struct gi_item *item, struct gi_err *err)
{
    struct gi_stream *stream = self;
    const struct frame *frame = item->source.tag;
    enum gi_status status = GI_OK;
    if (item->line.status)
        return GI_OK;
    const struct gi_y4m *made = &stream->video.made, *own = &frame->made;
    if (!made->width) {
        stream->video.made = *own;
        status = gi_y4m_write_head(stream->out.sink, made, err);
    } else if (own->width != made->width || own->height != made->height ||
               own->nplanes != made->nplanes) {
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "%s: becomes a frame of %d x %d%s, and those before it are %d x %d%s",
                       item->line.input, own->width, own->height, own->nplanes == 1 ? ", gray" : "",
                       made->width, made->height, made->nplanes == 1 ? ", gray" : "");
    }
    if (!status)
        status = gi_sink_write(stream->out.sink, item->made.bytes, item->made.nbytes, err);
    return status ? status : gi_sink_flush(stream->out.sink, err);
}

const struct gi_target_kind gi_target_frames = {
    .ordered = true, .open = gi_stream_open_sink, .put = put_frame, .end = gi_stream_end_sink};

const struct gi_source_kind gi_source_frames = {
    .unit = "frames",
    .waits = "input or output",
    .open = gi_stream_open,
    .next = next,
    .note = gi_stream_note,
    .close = gi_stream_close,
};
