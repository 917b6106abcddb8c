/* Animations: files of frames that are parts of a picture, which are composed one after the other.
 * A frame is read as a file of its own, cut out of the animation.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/buffer.h"
#include "imgio/format.h"

/* How the rectangle of a frame is changed before the next frame is drawn. */
enum gi_disposal {
    GI_DISPOSE_KEEP,     /* it stays */
    GI_DISPOSE_CLEAR,    /* it becomes transparent */
    GI_DISPOSE_PREVIOUS, /* it becomes what it was before the frame */
};

struct gi_frame {
    size_t at, nbytes;            /* where its bytes are in the file; they end at at + nbytes */
    int left, top, width, height; /* pixels, within the canvas */
    enum gi_disposal disposal;
    bool alpha;  /* may have transparent pixels */
    bool blends; /* with `alpha`: these show the canvas; false: all pixels replace the canvas */
    int delay_ms;
    bool rounded; /* the file has a delay with a fraction of 1 ms */
};

/* The frames of a file. */
struct gi_animation {
    int width, height; /* of the canvas, 1 or more */
    int n;             /* number of frames */
    int plays;         /* 0: without end */
    bool palette;      /* frames have palettes */
    struct gi_frame *frames;
    const char *damage; /* why the frames after these can't be found, or NULL */
};

/* How a format stores animations. */
struct gi_animation_kind {
    /* Returns whether a file that begins with these bytes may have several frames. */
    bool (*starts)(const unsigned char *bytes, size_t nbytes);
    /* Finds the frames by gi_animation_add(). Errors: GI_E_MEMORY, GI_E_FORMAT. */
    enum gi_status (*scan)(struct gi_animation *animation, const unsigned char *bytes,
                           size_t nbytes, struct gi_err *err);
    /* Makes the file of a frame, of the frame's size. Errors: GI_E_MEMORY. */
    enum gi_status (*cut)(struct gi_buffer *file, const unsigned char *bytes, size_t nbytes,
                          const struct gi_frame *frame, struct gi_err *err);
    const struct gi_format *format; /* of the files that `cut` makes */
};

/* Adds a frame. Errors: GI_E_MEMORY, GI_E_LIMIT for too many. */
enum gi_status gi_animation_add(struct gi_animation *animation, const struct gi_frame *frame,
                                struct gi_err *err);

/* Lists the frames of a file (gi_format.list). A file of one frame has one image, and its decoder
 * finds it. */
enum gi_status gi_frames_list(struct gi_image_list *list, const struct gi_animation_kind *kind,
                              const unsigned char *bytes, size_t nbytes, struct gi_err *err);

/* Describes the animation in the bytes; all 0 if there is none or it can't be read. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_frames_describe(struct gi_animation_info *info,
                                  const struct gi_animation_kind *kind, const unsigned char *bytes,
                                  size_t nbytes, struct gi_err *err);

/* An animation whose last composed canvas is kept, so that frames that are read one after the other
 * are each composed once. */
struct gi_frames;
/* Opens the animation in the bytes, which must outlive it. *frames becomes NULL if the file has
 * fewer than two frames. Errors: GI_E_MEMORY, GI_E_FORMAT, and GI_E_LIMIT if the frames have more
 * pixels together than 64 times limits->max_pixels. */
enum gi_status gi_frames_open(struct gi_frames **frames, const struct gi_animation_kind *kind,
                              const unsigned char *bytes, size_t nbytes,
                              const struct gi_limits *limits, struct gi_err *err);
void gi_frames_close(struct gi_frames **frames);

/* Reads frame decode->options->image of the animation, from 1, composed with those before it, as
 * RGB, or as RGBA if the canvas may have transparent pixels. Several threads may call this function
 * at once for the frames of decode->options->frames; without that the animation is opened here.
 * *taken becomes false, and nothing is read, if no frame is asked for or the file has only one. */
enum gi_status gi_frames_decode(struct gi_decode *decode, const struct gi_animation_kind *kind,
                                bool *taken, struct gi_err *err);
