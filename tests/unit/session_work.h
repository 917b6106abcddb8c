/* Images that several threads run through a session, with the results that the CPU gives.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cases.h"

#include "cli/run/session.h"

enum { THREADS = 8, IMAGES = 40, RUNS = 160 };

/* The images, which threads take one after another. */
struct work {
    struct gi_session *session;
    struct gi_pipeline *pipeline;
    struct gi_image srcs[IMAGES], want[IMAGES], made[RUNS];
    enum gi_status statuses[RUNS];
    int next;
    int failed;  /* all images that were not made */
    int refused; /* of these, by a refused launch */
};

/* Makes the images and a pipeline for them. The caller opens the session. free_work() also frees
 * the session. */
void make_work(struct work *work);
void free_work(struct work *work);
/* Runs all images by THREADS threads. */
void run_threads(struct work *work);
/* Counts the images that failed and those that were refused, and compares the others. */
void check_work(struct work *work);
