/* .npy, version 1.0: magic, length of the head, a Python dictionary padded to 64 bytes (NumPy
 * enhancement proposal 1).
 * SPDX-License-Identifier: MIT */
#include "cli/npy.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PREAMBLE = 10, ALIGN = 64 };

bool gi_npy_is(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ".npy") == 0;
}

enum gi_status gi_npy_head(struct gi_sink *sink, const char *type, const uint64_t *shape, int ndim,
                           struct gi_err *err)
{
    char words[64] = "", head[512] = "\x93NUMPY\x01";
    snprintf(words, sizeof words, ndim == 1 ? "(%llu,)" : "(%llu, %llu)",
             (unsigned long long)shape[0], (unsigned long long)shape[ndim - 1]);
    int n = snprintf(head + PREAMBLE, sizeof head - PREAMBLE,
                     "{'descr': %s, 'fortran_order': False, 'shape': %s, }", type, words);
    int total = (PREAMBLE + n + 1 + ALIGN - 1) / ALIGN * ALIGN; /* with a newline at the end */
    memset(head + PREAMBLE + n, ' ', (size_t)(total - PREAMBLE - n));
    head[total - 1] = '\n';
    head[8] = (char)((total - PREAMBLE) & 0xff);
    head[9] = (char)((total - PREAMBLE) >> 8);
    return gi_sink_write(sink, head, (size_t)total, err);
}
