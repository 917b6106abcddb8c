/* The timing of an animation and the number of its frames.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How long a frame of an animation is shown, and how often the animation is played. */
struct gi_timing {
    bool given; /* the image is a frame */
    int delay_ms;
    int plays; /* 0: without end */
};

/* The animation whose first frame was read. */
struct gi_animation_info {
    int frames; /* 2 or more; 0: the file has no animation whose frames can be read */
    int plays;  /* 0: without end */
    int delay_ms_min, delay_ms_max; /* how long a frame is shown */
    int64_t duration_ms;            /* of all frames */
};
