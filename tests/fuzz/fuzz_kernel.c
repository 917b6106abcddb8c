/* Fuzzes the parser of weights in `convolve --kernel`.
 * Sources: filters/convolution/kernel_text*
 * SPDX-License-Identifier: MIT */
#include "small.h"

#include <math.h>

#include "filters/convolution/kernel_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    struct gi_kernel kernel = {0};
    struct gi_err err = {0};
    char *text = small_text(bytes, nbytes);
    if (!text)
        return 0;
    enum gi_status status = gi_kernel_read(&kernel, text, &err);
    if (status != err.status || (status && !*err.text))
        abort();
    for (int i = 0; !status && i < kernel.width * kernel.height; i++)
        if (!isfinite(kernel.weights[i]))
            abort();
    free(kernel.weights);
    free(text);
    return 0;
}
