/* The calibration of a camera, in the formats that users of OpenCV write.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/status.h"

struct gi_camera {
    double fx, fy, cx, cy; /* pixels */
    double k[6], p[2];     /* radial coefficients k1 to k6; tangential coefficients p1, p2 */
};

enum {
    GI_CAMERA_NBYTES_MAX = 64 << 10,
    GI_CAMERA_DEPTH_MAX = 32, /* maximum depth of lists and mappings */
};

/* Reads JSON or YAML of at most GI_CAMERA_NBYTES_MAX bytes, without aliases. The key camera_matrix,
 * cameraMatrix, mtx or K has the 3 x 3 matrix. The key distortion_coefficients, dist_coeffs,
 * distCoeffs, dist or D has the 4, 5 or 8 coefficients k1 k2 p1 p2 k3 k4 k5 k6. Either value is a
 * list of numbers, a list of lists, or a mapping whose `data` is such a list. Errors: GI_E_USAGE
 * (also for texts that exceed these limits). */
enum gi_status gi_camera_read(struct gi_camera *camera, const char *text, struct gi_err *err);
