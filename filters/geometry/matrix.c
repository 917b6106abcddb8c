/* Reads affine and projective matrices from text, and inverts them.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/transform.h"

#include <math.h>
#include <stdio.h>

#include "filters/convolution/kernel_text.h"

bool gi_matrix_invert(double m[9])
{
    double cofactors[9], det = 0, largest = 0;
    for (int i = 0; i < 9; i++) {
        int r = i / 3, c = i % 3, r1 = (r + 1) % 3, r2 = (r + 2) % 3;
        int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
        cofactors[c * 3 + r] = m[r1 * 3 + c1] * m[r2 * 3 + c2] - m[r1 * 3 + c2] * m[r2 * 3 + c1];
    }
    for (int i = 0; i < 3; i++) {
        det += m[i] * cofactors[i * 3];
        largest = fmax(largest, fabs(m[i] * cofactors[i * 3]));
    }
    if (!(fabs(det) > 1e-14 * largest) || !isfinite(det))
        return false;
    double by = fabs(cofactors[8]) > 1e-12 * fabs(det) ? cofactors[8] : det;
    for (int i = 0; i < 9; i++)
        m[i] = cofactors[i] / by;
    return true;
}

enum gi_status gi_matrix_read(double m[9], const char *option, const char *text, bool square,
                              bool inverse, struct gi_err *err)
{
    struct gi_kernel kernel;
    const char *want = square ? "3 rows of 3 numbers" : "2 or 3 rows of 3 numbers";
    if (!text)
        return gi_fail(err, GI_E_USAGE, "--%s: missing: want %s such as \"1 0 5; 0 1 2%s\"", option,
                       want, square ? "; 0 0 1" : "");
    enum gi_status status = gi_kernel_read(&kernel, text, err);
    if (status) {
        gi_err_prefix(err, "--%s", option);
        return status;
    }
    int n = kernel.width * kernel.height;
    bool fits = kernel.width == 3 && (kernel.height == 3 || (kernel.height == 2 && !square));
    for (int i = 0; i < 9; i++)
        m[i] = fits && i < n ? kernel.weights[i] : i == 8;
    if (!fits)
        status = gi_fail(err, GI_E_USAGE, "--%s: %d row%s of %d: want %s", option, kernel.height,
                         kernel.height == 1 ? "" : "s", kernel.width, want);
    gi_kernel_free(&kernel);
    if (!status && !square && (m[6] != 0 || m[7] != 0 || m[8] != 1))
        status = gi_fail(err, GI_E_USAGE, "--%s: a third row of %g %g %g: want 0 0 1", option, m[6],
                         m[7], m[8]);
    double copy[9];
    for (int i = 0; i < 9; i++)
        copy[i] = m[i];
    if (!status && !gi_matrix_invert(inverse ? copy : m))
        status = gi_fail(err, GI_E_USAGE, "--%s: it has no inverse: want one that has", option);
    return status;
}
