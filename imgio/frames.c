/* Composes the frames of animations on a canvas that is transparent at first. Source: "Portable
 * Network Graphics", third edition, 11.3.6 (the same rules hold in GIF and WebP).
 * SPDX-License-Identifier: MIT */
#include "imgio/frames.h"
#include "imgio/small.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRAMES_MAX = 1 << 20,
    TIMES_MAX = 64, /* the pixels of all frames, to --max-pixels */
    SPARE = 16,
};

/* A composed frame that a thread passed on its way to a later one. */
struct spare {
    int number; /* from 1; 0: none */
    struct gi_image image;
};

struct gi_frames {
    pthread_mutex_t lock;
    const struct gi_animation_kind *kind;
    const unsigned char *bytes;
    size_t nbytes;
    struct gi_animation animation;
    struct gi_image canvas, before; /* RGBA of 8 bits; `before`: for GI_DISPOSE_PREVIOUS */
    int at, most;      /* number of frames on the canvas; largest number that was asked for */
    bool fresh, alpha; /* the canvas is cleared; frames may be transparent */
    /* the frame that can't be read, from 1, and why; 0: none is known */
    int broken;
    struct gi_err fault;
    struct spare spare[SPARE];
};

enum gi_status gi_animation_add(struct gi_animation *animation, const struct gi_frame *frame,
                                struct gi_err *err)
{
    int n = animation->n;
    if (n == FRAMES_MAX)
        return gi_fail(err, GI_E_LIMIT, "has more than %d frames", FRAMES_MAX);
    if (n % 64 == 0) {
        struct gi_frame *grown =
            realloc(animation->frames, ((size_t)n + (size_t)n / 2 / 64 * 64 + 64) * sizeof *grown);
        if (!grown)
            return gi_fail(err, GI_E_MEMORY, "out of memory: a list of frames");
        animation->frames = grown;
    }
    animation->frames[animation->n++] = *frame;
    return GI_OK;
}

enum gi_status gi_frames_list(struct gi_image_list *list, const struct gi_animation_kind *kind,
                              const unsigned char *bytes, size_t nbytes, struct gi_err *err)
{
    struct gi_animation animation = {0};
    struct gi_err unread;
    enum gi_status status = kind->scan(&animation, bytes, nbytes, &unread);
    int n = !status && animation.n > 1 ? animation.n : 1;
    if (status == GI_E_MEMORY || status == GI_E_LIMIT)
        *err = unread;
    else
        status = GI_OK; /* the decoder says what is wrong */
    if (!status && !(list->images = calloc((size_t)n, sizeof *list->images)))
        status = gi_fail(err, GI_E_MEMORY, "out of memory: a list of %d frames", n);
    for (int i = 0; !status && i < n; i++)
        list->images[i] = (struct gi_image_place){.own = true};
    list->all = status ? 0 : n;
    list->end = nbytes; /* the decoder of the first frame names what is behind the animation */
    list->frames = n > 1;
    if (n > 1)
        list->damage = animation.damage;
    free(animation.frames);
    return status;
}

enum gi_status gi_frames_describe(struct gi_animation_info *info,
                                  const struct gi_animation_kind *kind, const unsigned char *bytes,
                                  size_t nbytes, struct gi_err *err)
{
    struct gi_animation a = {0};
    struct gi_err unread;
    *info = (struct gi_animation_info){0};
    if (!kind->starts(bytes, nbytes))
        return GI_OK;
    enum gi_status status = kind->scan(&a, bytes, nbytes, &unread);
    if (!status && a.n > 1)
        *info = (struct gi_animation_info){.frames = a.n,
                                           .plays = a.plays,
                                           .delay_ms_min = a.frames[0].delay_ms,
                                           .delay_ms_max = a.frames[0].delay_ms};
    for (int i = 0; i < info->frames; i++) {
        int delay_ms = a.frames[i].delay_ms;
        info->duration_ms += delay_ms;
        info->delay_ms_min = delay_ms < info->delay_ms_min ? delay_ms : info->delay_ms_min;
        info->delay_ms_max = delay_ms > info->delay_ms_max ? delay_ms : info->delay_ms_max;
    }
    free(a.frames);
    return status == GI_E_MEMORY ? gi_fail(err, status, "%s", unread.text) : GI_OK;
}

/* Returns whether the frame has all pixels of the canvas. */
static bool covers(const struct gi_animation *a, const struct gi_frame *frame)
{
    return frame->width == a->width && frame->height == a->height;
}

/* Returns whether the canvas may have transparent pixels. */
static bool may_be_transparent(const struct gi_animation *a)
{
    const struct gi_frame *first = a->frames;
    bool shows = !covers(a, first) || first->alpha || first->disposal == GI_DISPOSE_PREVIOUS;
    for (int i = 0; i < a->n && !shows; i++)
        shows = a->frames[i].disposal == GI_DISPOSE_CLEAR ||
                (a->frames[i].alpha && !a->frames[i].blends);
    return shows;
}

enum gi_status gi_frames_open(struct gi_frames **out, const struct gi_animation_kind *kind,
                              const unsigned char *bytes, size_t nbytes,
                              const struct gi_limits *limits, struct gi_err *err)
{
    struct gi_frames *frames = gi_small_calloc(1, sizeof *frames);
    struct gi_animation *a = &frames->animation;
    *out = frames;
    *frames = (struct gi_frames){.kind = kind, .bytes = bytes, .nbytes = nbytes};
    pthread_mutex_init(&frames->lock, NULL);
    enum gi_status status = kind->scan(a, bytes, nbytes, err);
    uint64_t pixels = (uint64_t)a->width * (uint64_t)a->height, all;
    if (!status && a->n > 1 &&
        (__builtin_mul_overflow(pixels, (uint64_t)a->n, &all) ||
         all / TIMES_MAX > limits->max_pixels))
        status =
            gi_fail(err, GI_E_LIMIT,
                    "has %d frames of %d x %d pixels, together more than %d times the limit "
                    "of %llu; --max-pixels raises it",
                    a->n, a->width, a->height, TIMES_MAX, (unsigned long long)limits->max_pixels);
    frames->alpha = !status && a->n > 1 && may_be_transparent(a);
    if (status || a->n < 2)
        gi_frames_close(out);
    return status;
}

void gi_frames_close(struct gi_frames **out)
{
    struct gi_frames *frames = *out;
    *out = NULL;
    if (!frames)
        return;
    for (int i = 0; i < SPARE; i++)
        gi_image_free(&frames->spare[i].image);
    gi_image_free(&frames->canvas);
    gi_image_free(&frames->before);
    pthread_mutex_destroy(&frames->lock);
    free(frames->animation.frames);
    free(frames);
}

/* ---- composing ---- */

/* Draws a pixel over another: both are RGBA with straight alpha. */
static void blend(uint8_t *to, const uint8_t *from)
{
    unsigned alpha = from[3], rest = to[3] * (255u - alpha), all = 255 * alpha + rest;
    if (alpha == 0)
        return;
    for (int c = 0; c < 3; c++)
        to[c] = (uint8_t)((from[c] * 255u * alpha + to[c] * rest + all / 2) / all);
    to[3] = (uint8_t)((all + 127) / 255);
}

/* Reads pixel x of a row with 1 to 4 channels of 8 or 16 bits. */
static void read_pixel(uint8_t to[4], const struct gi_image *image, const void *row, int x)
{
    int channels = image->channels, colors = gi_color_channels(image);
    size_t at = (size_t)x * (size_t)channels;
    uint8_t samples[4];
    for (int c = 0; c < channels; c++)
        samples[c] = image->type == GI_U8
                         ? ((const uint8_t *)row)[at + (size_t)c]
                         : (uint8_t)((((const uint16_t *)row)[at + (size_t)c] + 128u) / 257u);
    for (int c = 0; c < 3; c++)
        to[c] = samples[colors == 3 ? c : 0];
    to[3] = channels > colors ? samples[colors] : 255;
}

static void draw(const struct gi_image *canvas, const struct gi_frame *frame,
                 const struct gi_image *pixels)
{
    uint8_t from[4];
    for (int y = 0; y < pixels->height; y++) {
        const void *row = gi_row(pixels, y);
        uint8_t *to = gi_row(canvas, frame->top + y);
        to += (size_t)4 * (size_t)frame->left;
        for (int x = 0; x < pixels->width; x++, to += 4) {
            read_pixel(from, pixels, row, x);
            if (frame->blends && from[3] < 255)
                blend(to, from);
            else
                memcpy(to, from, 4);
        }
    }
}

static void clear(const struct gi_image *canvas, const struct gi_frame *frame)
{
    for (int y = frame->top; y < frame->top + frame->height; y++)
        memset((uint8_t *)gi_row(canvas, y) + (size_t)4 * (size_t)frame->left, 0,
               (size_t)4 * (size_t)frame->width);
}

static void copy(const struct gi_image *to, const struct gi_image *from)
{
    for (int y = 0; y < from->height; y++)
        memcpy(gi_row(to, y), gi_row(from, y), gi_row_nbytes(from));
}

/* Makes the palette of the frame that of the composed image, in which transparent pixels are black.
 */
static void take_palette(struct gi_metadata *to, struct gi_metadata *frame)
{
    unsigned char *entry = frame->palette;
    free(to->palette);
    to->palette = frame->palette;
    to->palette_nbytes = frame->palette_nbytes;
    frame->palette = NULL;
    for (size_t i = 0; i < to->palette_nbytes; i += 4)
        if (!entry[i + 3])
            memset(entry + i, 0, 4);
}

/* Decodes a frame, whose image the caller frees. After damage the image may have some rows. */
static enum gi_status decode_frame(struct gi_image *pixels, const struct gi_frames *frames,
                                   const struct gi_frame *frame, const struct gi_decode *asked,
                                   struct gi_err *damage, struct gi_err *err)
{
    struct gi_buffer file = {0};
    struct gi_metadata metadata = {0};
    struct gi_file_info info = {0};
    const struct gi_load_options options = {.limits = asked->options->limits,
                                            .allow_partial = asked->options->allow_partial};
    *pixels = (struct gi_image){0};
    enum gi_status status = frames->kind->cut(&file, frames->bytes, frames->nbytes, frame, err);
    struct gi_decode decode = {.bytes = file.at,
                               .nbytes = file.nbytes,
                               .options = &options,
                               .image = pixels,
                               .metadata = &metadata,
                               .info = &info,
                               .warning = damage};
    if (!status)
        status = frames->kind->format->decode(&decode, err);
    if (!status && (pixels->width != frame->width || pixels->height != frame->height))
        status = gi_fail(err, GI_E_FORMAT, "is damaged: it has another size");
    if (status)
        gi_image_free(pixels);
    else
        take_palette(asked->metadata, &metadata);
    gi_metadata_free(&metadata);
    free(file.at);
    return status;
}

/* Draws the next frame on the canvas. */
static enum gi_status compose_next(struct gi_frames *frames, struct gi_decode *asked,
                                   struct gi_err *err)
{
    const struct gi_animation *a = &frames->animation;
    const struct gi_frame *frame = &a->frames[frames->at];
    const struct gi_frame *last = frames->fresh ? NULL : frame - 1;
    struct gi_image pixels;
    struct gi_err damage = {0};
    enum gi_status status = GI_OK;
    if (last && last->disposal == GI_DISPOSE_CLEAR)
        clear(&frames->canvas, last);
    else if (last && last->disposal == GI_DISPOSE_PREVIOUS)
        copy(&frames->canvas, &frames->before);
    if (frame->disposal == GI_DISPOSE_PREVIOUS) {
        if (!frames->before.data)
            status = gi_image_alloc(&frames->before, a->width, a->height, 4, GI_U8, err);
        if (!status)
            copy(&frames->before, &frames->canvas);
    }
    if (!status)
        status = decode_frame(&pixels, frames, frame, asked, &damage, err);
    if (status == GI_E_FORMAT && asked->options->allow_partial) {
        damage = *err;
        *err = (struct gi_err){0};
        status = GI_OK;
        pixels = (struct gi_image){0};
    }
    if (status) {
        gi_err_prefix(err, "frame %d", frames->at);
        if (status == GI_E_FORMAT) {
            frames->broken = frames->at + 1;
            frames->fault = *err;
        }
        frames->at = a->n + 1; /* begins again if a frame is asked for */
        return status;
    }
    if (*damage.text && !asked->warning->status)
        gi_fail(asked->warning, GI_E_FORMAT, "frame %d: %s", frames->at, damage.text);
    if (pixels.data)
        draw(&frames->canvas, frame, &pixels);
    gi_image_free(&pixels);
    frames->fresh = false;
    frames->at++;
    return GI_OK;
}

/* Returns the number of frames, up to `number` - 1, that leave nothing on the canvas of frame
 * `number`. */
static int find_start(const struct gi_animation *a, int number)
{
    for (int i = number - 1; i > 0; i--) {
        const struct gi_frame *frame = &a->frames[i], *last = frame - 1;
        if ((covers(a, frame) && !frame->blends && frame->disposal != GI_DISPOSE_PREVIOUS) ||
            (covers(a, last) && last->disposal == GI_DISPOSE_CLEAR))
            return i;
    }
    return 0;
}

/* Keeps a copy of the canvas for the thread that will ask for it, in place of the first frame. If
 * there is no memory for it, that thread composes the frame again. */
static void keep_spare(struct gi_frames *frames)
{
    struct spare *spare = frames->spare;
    for (int i = 1; i < SPARE; i++)
        if (frames->spare[i].number < spare->number)
            spare = &frames->spare[i];
    gi_image_free(&spare->image);
    const struct gi_animation *a = &frames->animation;
    bool made = gi_image_alloc(&spare->image, a->width, a->height, 4, GI_U8, NULL) == GI_OK;
    spare->number = made ? frames->at : 0;
    if (made)
        copy(&spare->image, &frames->canvas);
}

static struct spare *find_spare(struct gi_frames *frames, int number)
{
    for (int i = 0; i < SPARE; i++)
        if (frames->spare[i].number == number)
            return &frames->spare[i];
    return NULL;
}

/* Copies the canvas into an image of three or four channels. */
static void give(const struct gi_image *to, const struct gi_image *canvas)
{
    for (int y = 0; y < to->height; y++) {
        const uint8_t *from = gi_row(canvas, y);
        uint8_t *row = gi_row(to, y);
        if (to->channels == 4)
            memcpy(row, from, gi_row_nbytes(to));
        else
            for (int x = 0; x < to->width; x++)
                memcpy(row + (ptrdiff_t)3 * x, from + (ptrdiff_t)4 * x, 3);
    }
}

/* Composes frame `number` into the image. */
static enum gi_status compose(struct gi_frames *frames, struct gi_decode *decode, int number,
                              struct gi_err *err)
{
    const struct gi_animation *a = &frames->animation;
    struct spare *spare = find_spare(frames, number);
    enum gi_status status = GI_OK;
    if (spare) {
        give(decode->image, &spare->image);
        gi_image_free(&spare->image);
        spare->number = 0;
        return GI_OK;
    }
    if (!frames->canvas.data)
        status = gi_image_alloc(&frames->canvas, a->width, a->height, 4, GI_U8, err);
    bool next = frames->most && frames->at == number - 1;
    int start = next ? frames->at : find_start(a, number);
    if (number >= frames->broken && start < frames->broken) {
        *err = frames->fault;
        return err->status;
    }
    if (!status && (frames->at > number || frames->at < start || !frames->most)) {
        frames->at = start;
        frames->fresh = true;
        for (int y = 0; y < a->height; y++)
            memset(gi_row(&frames->canvas, y), 0, gi_row_nbytes(&frames->canvas));
    }
    while (!status && frames->at < number) {
        status = compose_next(frames, decode, err);
        if (!status && frames->at < number && frames->most && frames->at > frames->most)
            keep_spare(frames);
    }
    frames->most = number > frames->most ? number : frames->most;
    if (!status)
        give(decode->image, &frames->canvas);
    return status;
}

static enum gi_status decode_of(struct gi_frames *frames, struct gi_decode *decode,
                                struct gi_err *err)
{
    const struct gi_animation *a = &frames->animation;
    int number = decode->options->image;
    if (number > a->n)
        return gi_fail(err, GI_E_UNSUPPORTED, "holds %d frames: want [0] to [%d]", a->n, a->n - 1);
    decode->info->bits = 8;
    decode->info->maxval = 255;
    decode->info->detail = a->palette ? "palette, frame, composed" : "frame, composed";
    decode->metadata->timing = (struct gi_timing){
        .given = true, .delay_ms = a->frames[number - 1].delay_ms, .plays = a->plays};
    if (a->frames[number - 1].rounded)
        gi_decode_add_part(decode, &(struct gi_part){.kind = GI_PART_FIELD, .fate = GI_PART_LOST},
                           "fraction of a millisecond of the delay");
    enum gi_status status = gi_decode_alloc(decode, (uint64_t)a->width, (uint64_t)a->height,
                                            frames->alpha ? 4 : 3, GI_U8, err);
    if (status || decode->options->header_only)
        return status;
    pthread_mutex_lock(&frames->lock);
    status = compose(frames, decode, number, err);
    pthread_mutex_unlock(&frames->lock);
    return status;
}

enum gi_status gi_frames_decode(struct gi_decode *decode, const struct gi_animation_kind *kind,
                                bool *taken, struct gi_err *err)
{
    struct gi_frames *frames = decode->options->frames, *own = NULL;
    struct gi_err unread;
    enum gi_status status = GI_OK;
    err = err ? err : &unread;
    if (!frames && decode->options->image)
        status = gi_frames_open(&own, kind, decode->bytes, decode->nbytes, &decode->options->limits,
                                err);
    if (!frames)
        frames = own;
    *taken = status || frames;
    if (frames)
        status = decode_of(frames, decode, err);
    gi_frames_close(&own);
    return status;
}
