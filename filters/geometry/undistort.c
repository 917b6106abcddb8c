/* Lens distortion correction by OpenCV's camera model, with radial (k1 to k6) and tangential (p1,
 * p2) coefficients from a calibration file, interpolated by the primitive `remap`.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/camera.h"
#include "filters/geometry/transform.h"

struct undistort_params {
    const char *camera;
    struct gi_transform_params transform;
};

static const struct gi_option options[] = {
    {GI_OPTION("camera", CONTENT, struct undistort_params, camera), .letter = 'c',
     .example = "{\"camera_matrix\": [[40, 0, 15], [0, 42, 17], [0, 0, 1]], "
                "\"distortion_coefficients\": [-0.3, 0.1, 0.01, -0.02, 0.05]}",
     .metavar = "FILE|TEXT", .help = "The calibration, JSON or YAML as OpenCV writes it"},
    GI_TRANSFORM_OPTIONS(struct undistort_params),
    {.name = NULL},
};

static enum gi_status read_camera(struct gi_camera *camera, const struct undistort_params *p,
                                  struct gi_err *err)
{
    if (!p->camera)
        return gi_fail(err, GI_E_USAGE, "--camera: missing: want a calibration, JSON or YAML");
    return gi_camera_read(camera, p->camera, err);
}

static enum gi_status check(void *arg, struct gi_err *err)
{
    struct gi_camera camera;
    return read_camera(&camera, arg, err);
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct undistort_params *p = plan->params;
    struct gi_camera camera;
    enum gi_status status = read_camera(&camera, p, err);
    if (status)
        return status;
    struct gi_remap *transform = gi_transform_plan(plan, &p->transform, 0, err);
    if (!transform)
        return GI_E_MEMORY;
    struct gi_lens *lens = &transform->map.lens;
    transform->map.kind = GI_MAP_LENS;
    *lens = (struct gi_lens){.fx = camera.fx,
                             .fy = camera.fy,
                             .cx = camera.cx,
                             .cy = camera.cy,
                             .per_x = 1 / camera.fx,
                             .per_y = 1 / camera.fy,
                             .at_x = camera.cx,
                             .at_y = camera.cy};
    for (int i = 0; i < 6; i++)
        lens->k[i] = camera.k[i];
    lens->p[0] = camera.p[0];
    lens->p[1] = camera.p[1];
    return GI_OK;
}

const struct gi_filter gi_filter_undistort = {
    .name = "undistort",
    .group = GI_GROUP_GEOMETRY,
    .planes = GI_PLANES_RGB,
    .summary = "Correct lens distortion with a camera calibration",
    .examples =
        "gpuimg undistort frame.png straight.png --camera camera.yml\n"
        "gpuimg undistort frame.jpg straight.jpg --camera camera.json -i bicubic\n"
        "gpuimg undistort frame.png out.png --camera camera.yml --border clamp\n"
        "gpuimg undistort depth-in-alpha.png out.png --camera camera.yml --alpha straight\n"
        "gpuimg undistort frame.png out.png --camera '{\"K\": [[900, 0, 640], [0, 900, 360], "
        "[0, 0, 1]], \"D\": [-0.3, 0.1, 0, 0]}'",
    .manual = "The result is the image that the same camera would give without distortion, like "
              "that of OpenCV's undistort. --camera is a file of OpenCV's FileStorage, JSON or "
              "YAML. It holds the 3 x 3 camera matrix under the name camera_matrix, "
              "cameraMatrix, mtx or K, and 4, 5 or 8 coefficients k1 k2 p1 p2 k3 k4 k5 k6 under "
              "the name distortion_coefficients, dist_coeffs, distCoeffs, dist or D. The file "
              "may have at most 64 kB and 32 levels of lists and mappings, and no YAML "
              "aliases.\n\n"
              "Colours are weighted by alpha, unless --alpha says that it is data. Let x and y be "
              "the distances from the principal "
              "point in focal lengths, and r2 = x^2 + y^2. A pixel of the result is then "
              "interpolated in the input at\n"
              "x' = x k + 2 p1 x y + p2 (r2 + 2 x^2),\n"
              "y' = y k + p1 (r2 + 2 y^2) + 2 p2 x y,\n"
              "where k = (1 + k1 r2 + k2 r2^2 + k3 r2^3) / (1 + k4 r2 + k5 r2^2 + k6 r2^3).",
    .options = options,
    .params_nbytes = sizeof(struct undistort_params),
    .check = check,
    .plan = plan,
    .run = gi_transform_run,
};
