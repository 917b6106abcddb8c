/* Runs Y4M video through the engine. An item is a plane, as a gray image.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cli/args/level_check.h"
#include "cli/inputs/stream_internal.h"
#include "cli/log.h"
#include "cli/run/ready.h"
#include "filters/color/gray.h"
#include "imgio/small.h"

/* The data of a plane, in the tag of its item. */
struct plane {
    int number;                 /* number within its frame */
    char line[GI_Y4M_LINE_MAX]; /* for plane 0: the line before the frame */
    struct gi_image image;      /* the plane as read, later the result */
};

static void untag(void *tag)
{
    struct plane *plane = tag;
    gi_image_free(&plane->image);
    free(plane);
}

static bool is_chroma(const struct gi_y4m *video, int plane)
{
    return plane > 0 && plane < 3 && (video->shift_x || video->shift_y);
}

/* Makes the parameters of chroma from the plans of luma. *fits becomes false if there are none. */
static void subsample(struct gi_stream *stream, const struct gi_pipeline *luma, bool *fits)
{
    const struct gi_chain *chain = stream->chain;
    const struct gi_y4m *video = &stream->video.head;
    stream->video.chroma_params =
        gi_small_calloc((size_t)chain->n, sizeof *stream->video.chroma_params);
    for (int i = 0; i < chain->n; i++) {
        const struct gi_filter *filter = chain->steps[i].filter;
        const struct gi_plan *plan = gi_pipeline_plan(luma, i);
        if (!filter->samples.subsample)
            continue;
        void *params = gi_small_alloc(filter->params_nbytes);
        stream->video.chroma_params[i] = params;
        memcpy(params, chain->steps[i].args.params[GI_SET_STEP_FILTER], filter->params_nbytes);
        if (!plan ||
            !filter->samples.subsample(params, plan, 1 << video->shift_x, 1 << video->shift_y))
            *fits = false;
    }
}

/* Gives the steps the parameters of this plane. */
static void use_plane(struct gi_ready *ready, const struct gi_stream *stream, int plane)
{
    bool chroma = stream->video.chroma_params && is_chroma(&stream->video.head, plane);
    for (int i = 0; chroma && i < ready->chain->n; i++)
        if (stream->video.chroma_params[i])
            ready->steps[i].params = stream->video.chroma_params[i];
}

/* Returns whether each step that has parameters of its own for chroma gets a plane of chroma that
 * is subsampled as the video is. After a transposition of 4:2:2 it is not. */
static bool is_subsampled(const struct gi_stream *stream, const struct gi_pipeline *luma,
                          const struct gi_pipeline *chroma)
{
    for (int i = 0; i < stream->chain->n; i++) {
        const struct gi_plan *of_luma = gi_pipeline_plan(luma, i),
                             *of_chroma = gi_pipeline_plan(chroma, i);
        if (!stream->video.chroma_params[i] || !of_luma || !of_chroma)
            continue;
        struct gi_y4m video = stream->video.head;
        video.width = of_luma->sources[0].width;
        video.height = of_luma->sources[0].height;
        struct gi_image want = gi_y4m_plane(&video, 1);
        if (of_chroma->sources[0].width != want.width ||
            of_chroma->sources[0].height != want.height)
            return false;
    }
    return true;
}

/* Plans the chain for a plane. Sets *result to the shape of the result. Plane 0 decides on the
 * parameters of chroma; its pipeline becomes *luma, which the caller frees. */
static enum gi_status plan_plane(struct gi_stream *stream, struct gi_image *result,
                                 struct gi_ready *ready, int plane, struct gi_pipeline **luma,
                                 bool *fits, struct gi_err *err)
{
    struct gi_image shape = gi_y4m_plane(&stream->video.head, plane);
    struct gi_pipeline *pipeline;
    int failed = -1;
    use_plane(ready, stream, plane);
    enum gi_status status = gi_pipeline_new_within(&pipeline, &stream->io.limits, ready->steps,
                                                   ready->chain->n, &shape, &failed, err);
    if (status)
        return ready->chain->n > 1 && failed >= 0 ? gi_err_prefix(err, "step %d, %s", failed + 1,
                                                                  ready->steps[failed].filter->name)
                                                  : status;
    *result = gi_pipeline_result(pipeline);
    stream->video.made_nbytes[plane] = gi_pipeline_nbytes(pipeline);
    if (plane == 0 && !stream->video.luma_only && is_chroma(&stream->video.head, 1))
        subsample(stream, pipeline, fits);
    else if (is_chroma(&stream->video.head, plane))
        *fits = is_subsampled(stream, *luma, pipeline);
    if (plane == 0)
        *luma = pipeline;
    else
        gi_pipeline_free(&pipeline);
    if (status)
        return status;
    if (result->channels != 1 || result->type != shape.type)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "a plane of Y4M has to stay one channel of its depth, and this chain makes "
                       "another image of it");
    return GI_OK;
}

/* Computes the size of the output. *fits becomes false if the sizes of its planes are not
 * consistent. */
static enum gi_status plan_video(struct gi_stream *stream, struct gi_ready *ready, bool *fits,
                                 struct gi_err *err)
{
    const struct gi_y4m *video = &stream->video.head;
    struct gi_image result = {0};
    struct gi_pipeline *luma = NULL;
    enum gi_status status = GI_OK;
    stream->video.made = *video;
    for (int i = 0; i < (stream->video.luma_only ? 1 : video->nplanes) && !status && *fits; i++) {
        struct gi_err fault = {0};
        status = plan_plane(stream, &result, ready, i, &luma, fits, &fault);
        if (!status && i == 0) {
            stream->video.made.width = result.width;
            stream->video.made.height = result.height;
        }
        struct gi_image want = gi_y4m_plane(&stream->video.made, i);
        bool differs = result.width != want.width || result.height != want.height;
        if (i > 0 && status != GI_E_MEMORY && (status || differs)) {
            *fits = false;
            status = GI_OK;
        }
        if (status)
            *err = fault;
    }
    if (!stream->video.luma_only)
        gi_y4m_keep_matrix(&stream->video.made, video);
    gi_pipeline_free(&luma);
    return status;
}

enum gi_status gi_video_read_head(struct gi_stream *stream, struct gi_err *err)
{
    const struct gi_io_params *io = &stream->io;
    const char *refused = io->depth && stream->video.to_video ? "--depth"
                          : io->work_depth                    ? "--work-depth"
                          : io->bands.list                    ? "--bands"
                                                              : NULL;
    bool is_luma = stream->video.luma_only && io->gray != GI_GRAY_MEAN; /* --gray changes nothing */
    if (refused)
        return gi_fail(err, GI_E_USAGE, "%s: Y4M's planes go as they are, want it without",
                       refused);
    if (io->gray && !is_luma)
        return gi_fail(err, GI_E_USAGE,
                       "--gray: is not for Y4M video: leave it out, or begin with the step convert "
                       "--gray, as in gpuimg run 'convert --gray | blur'");
    return gi_y4m_read_head(&stream->video.head, stream->reader, &io->limits, err);
}

/* Plans the chain for planes. If chroma can't be planned, or its result would not fit that of luma,
 * the chain processes frames instead. */
static enum gi_status begin_planes(struct gi_stream *stream, struct gi_err *err)
{
    struct gi_ready ready;
    const struct gi_drawn_item video = {.name = gi_reader_name(stream->reader)};
    struct gi_image luma = gi_y4m_plane(&stream->video.head, 0);
    struct gi_file_info info = {.maxval = (1u << stream->video.head.bits) - 1};
    bool fits = true;
    enum gi_status status = gi_ready_make(&ready, stream->chain, &video, err);
    if (!status)
        status = gi_cli_check_levels(ready.steps, stream->chain->n, &luma, &info, &stream->io, err);
    if (!status)
        status = plan_video(stream, &ready, &fits, err);
    gi_ready_free(&ready);
    if (status)
        return gi_err_prefix(err, "%s", gi_reader_name(stream->reader));
    if (!fits) {
        gi_cli_warn("%s: the sizes of luma and chroma would not fit, so its frames go through as "
                    "RGB, which rounds samples, %d x %d pixels of luma",
                    gi_reader_name(stream->reader), stream->video.made.width,
                    stream->video.made.height);
        stream->video.made = (struct gi_y4m){0};
        stream->video.by_frame = true;
    }
    return GI_OK;
}

enum gi_status gi_video_begin(struct gi_stream *stream, struct gi_err *err)
{
    if (!stream->chain && stream->video.to_video)
        return gi_fail(
            err, GI_E_UNSUPPORTED,
            "%s: is a Y4M video, which goes through operations alone: want one of them, as in "
            "gpuimg run 'convert --gray'",
            gi_reader_name(stream->reader));
    gi_video_choose(stream);
    enum gi_status status = gi_video_read_head(stream, err);
    if (status)
        return status;
    if (!stream->video.by_frame)
        status = begin_planes(stream, err);
    if (status)
        return status;
    if (stream->video.to_video)
        stream->target = stream->video.by_frame ? &gi_target_frames : &gi_target_planes;
    if (stream->video.head.interlaced)
        gi_cli_warn("%s: is interlaced, and goes frame by frame, both fields as one",
                    gi_reader_name(stream->reader));
    return GI_OK;
}

/* Reads the next plane. Sets *end to true if there are no more frames. */
static enum gi_status read_plane(struct gi_stream *stream, struct plane *plane,
                                 struct gi_item *item, bool *end, struct gi_err *err)
{
    struct gi_image shape = gi_y4m_plane(&stream->video.head, stream->video.plane);
    enum gi_status status = GI_OK;
    *end = false;
    if (stream->video.plane == 0)
        status = gi_video_next_frame(stream, plane->line, end, err);
    if (status || *end)
        return status;
    gi_engine_reserve(item,
                      gi_image_nbytes(&shape) + stream->video.made_nbytes[stream->video.plane]);
    status = gi_image_alloc_from(&plane->image, stream->video.allocator, shape.width, shape.height,
                                 1, shape.type, err);
    if (!status)
        status = gi_y4m_read_plane(&plane->image, stream->reader, err);
    plane->number = stream->video.plane;
    stream->video.plane = (stream->video.plane + 1) % stream->video.head.nplanes;
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
    struct plane *plane = gi_small_calloc(1, sizeof *plane);
    item->source.tag = plane;
    item->source.untag = untag;
    read_plane(stream, plane, item, &end, &fault);
    if (gi_stream_has(stream, item, end, &fault, more))
        gi_stream_name(stream, item, "frame");
    return GI_OK;
}

static enum gi_status take_plane(void *self, struct gi_item *item, struct gi_image *image,
                                 struct gi_err *err)
{
    struct gi_stream *stream = self;
    static const char *const names[GI_Y4M_PLANES] = {"Y", "Cb", "Cr", "alpha"};
    struct plane *plane = item->source.tag;
    *image = plane->image;
    plane->image = (struct gi_image){0};
    item->line.input_file.nbytes = gi_image_nbytes(image);
    item->line.shape = *image;
    item->line.shape.data = NULL;
    if (gi_y4m_widen(image, stream->video.head.bits, err))
        return gi_err_prefix(err, "%s", item->line.input);
    if (stream->video.head.nplanes == 1)
        return GI_OK;
    char *name = gi_small_format("%s %s", item->line.input, names[plane->number]);
    free(item->line.input);
    item->line.input = name;
    return GI_OK;
}

/* If only luma was processed, makes chroma neutral and alpha opaque. */
static enum gi_status replace_chroma(struct gi_stream *stream, struct gi_item *item,
                                     const struct gi_image *shape, struct gi_err *err)
{
    struct plane *plane = item->source.tag;
    gi_image_free(&plane->image);
    enum gi_status status =
        gi_image_alloc(&plane->image, shape->width, shape->height, 1, shape->type, err);
    if (status)
        return status;
    gi_y4m_fill_neutral(&plane->image, plane->number, stream->video.head.bits);
    item->line.output_file.nbytes = gi_image_nbytes(&plane->image);
    return GI_OK;
}

enum gi_status gi_video_work(void *self, struct gi_imaging *imaging, struct gi_item *item,
                             struct gi_err *err)
{
    struct gi_stream *stream = self;
    struct plane *plane = item->source.tag;
    struct gi_image made = {0};
    struct gi_ready ready;
    const struct gi_drawn_item video = {.name = gi_reader_name(stream->reader)};
    item->line.input_file.nbytes = gi_image_nbytes(&plane->image);
    enum gi_status status = gi_y4m_widen(&plane->image, stream->video.head.bits, err);
    if (status)
        return gi_err_prefix(err, "%s", item->line.input);
    struct gi_image want = gi_y4m_plane(&stream->video.made, plane->number);
    if (stream->video.luma_only && plane->number)
        return replace_chroma(stream, item, &want, err);
    status = gi_ready_make(&ready, stream->chain, &video, err);
    if (!status)
        use_plane(&ready, stream, plane->number);
    if (!status)
        status = gi_imaging_compute(imaging, item, &made, &plane->image, &ready, err);
    gi_ready_free(&ready);
    gi_image_free(&plane->image);
    plane->image = made;
    if (!status && (made.width != want.width || made.height != want.height))
        status = gi_fail(err, GI_E_UNSUPPORTED,
                         "plane %d comes out as %d x %d, and the video is made for %d x %d",
                         plane->number, made.width, made.height, want.width, want.height);
    if (status)
        return gi_err_prefix(err, "%s", item->line.input);
    gi_y4m_narrow(&plane->image, stream->video.head.bits);
    item->line.output_file.nbytes = gi_image_nbytes(&plane->image);
    return GI_OK;
}

/* Writes a frame after all of its planes have been delivered. */
static enum gi_status write_frame(struct gi_stream *stream, struct gi_err *err)
{
    enum gi_status status = gi_sink_printf(stream->out.sink, err, "%s\n", stream->video.line);
    for (int i = 0; i < stream->video.head.nplanes; i++) {
        if (!status)
            status = gi_y4m_write_plane(stream->out.sink, &stream->video.planes[i], err);
        gi_image_free(&stream->video.planes[i]);
    }
    return status ? status : gi_sink_flush(stream->out.sink, err);
}

static enum gi_status open_planes(void *self, struct gi_imaging *imaging, struct gi_err *err)
{
    struct gi_stream *stream = self;
    enum gi_status status = gi_stream_open_sink(stream, imaging, err);
    return status ? status : gi_y4m_write_head(stream->out.sink, &stream->video.made, err);
}

/* Keeps the planes of a frame until the last plane arrives, so that no part of an incomplete frame
 * is written. */
static enum gi_status put_plane(void *self, struct gi_item *item, struct gi_err *err)
{
    struct gi_stream *stream = self;
    struct plane *plane = item->source.tag;
    if (item->line.status)
        return GI_OK;
    if (plane->number == 0)
        memcpy(stream->video.line, plane->line, sizeof stream->video.line);
    stream->video.planes[plane->number] = plane->image;
    plane->image = (struct gi_image){0};
    return plane->number + 1 == stream->video.head.nplanes ? write_frame(stream, err) : GI_OK;
}

/* Frees the planes of an incomplete frame while the devices whose memory has them are open. */
static enum gi_status end_planes(void *self, enum gi_status status, struct gi_err *err)
{
    struct gi_stream *stream = self;
    for (int i = 0; i < GI_Y4M_PLANES; i++)
        gi_image_free(&stream->video.planes[i]);
    return gi_stream_end_sink(stream, status, err);
}

const struct gi_target_kind gi_target_planes = {
    .ordered = true, .open = open_planes, .put = put_plane, .end = end_planes};

/* Adds a plane to the line of its frame in the report. Writes this line after the last plane. In a
 * table each plane is an image. */
static enum gi_status note_plane(void *self, struct gi_item *item, struct gi_err *err)
{
    struct gi_stream *stream = self;
    const struct plane *plane = item->source.tag;
    const struct gi_line *line = &item->line;
    struct gi_line *frame = &stream->video.frame;
    if (!stream->target)
        return gi_stream_note(stream, item, err);
    if (plane->number == 0)
        *frame = (struct gi_line){.shape = gi_y4m_plane(&stream->video.head, 0)};
    frame->input = line->input;
    frame->shape.channels = stream->video.head.nplanes;
    gi_line_add(frame, line);
    item->made.last = line->status != GI_OK;
    return line->status || plane->number + 1 == stream->video.head.nplanes
               ? gi_stream_note_line(stream, frame, err)
               : GI_OK;
}

const struct gi_source_kind gi_source_planes = {
    .unit = "frames",
    .waits = "input or output",
    .open = gi_stream_open,
    .next = next,
    .take = take_plane,
    .note = note_plane,
    .close = gi_stream_close,
};
