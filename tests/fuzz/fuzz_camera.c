/* Fuzzes the parser of camera calibrations in JSON and YAML.
 * Sources: filters/geometry/camera*
 * SPDX-License-Identifier: MIT */
#include "small.h"

#include <math.h>

#include "filters/geometry/camera.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    struct gi_camera camera;
    struct gi_err err = {0};
    char *text = nbytes > 4096 ? NULL : malloc(nbytes + 1);
    if (!text)
        return 0;
    memcpy(text, bytes, nbytes);
    text[nbytes] = '\0';
    enum gi_status status = gi_camera_read(&camera, text, &err);
    if (status != err.status || (status && !*err.text))
        abort();
    if (!status && !(camera.fx > 0 && camera.fy > 0 && isfinite(camera.cx) && isfinite(camera.cy)))
        abort();
    for (int i = 0; i < 6 && !status; i++)
        if (!isfinite(camera.k[i]) || !isfinite(camera.p[i % 2]))
            abort();
    free(text);
    return 0;
}
