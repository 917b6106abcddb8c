/* Numbers in environment variables.
 * SPDX-License-Identifier: MIT */
#include "cli/environment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum gi_status gi_environment_bytes(const char *name, uint64_t *nbytes, struct gi_err *err)
{
    const char *text = getenv(name);
    if (!text || !*text)
        return GI_OK;
    errno = 0;
    unsigned long long value = strtoull(text, NULL, 10);
    if (text[strspn(text, "0123456789")] || errno)
        return gi_fail(err, GI_E_USAGE, "%s=%s: want a number of bytes", name, text);
    *nbytes = value;
    return GI_OK;
}
