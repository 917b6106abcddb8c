/* Walks the boxes of a file.
 * SPDX-License-Identifier: MIT */
#include "imgio/boxes.h"

#include "imgio/integer.h"

enum { HEAD = 8, LARGE_HEAD = 16 };

bool gi_box_next(struct gi_box *box, const unsigned char *bytes, uint64_t nbytes, uint64_t *at)
{
    if (*at > nbytes || nbytes - *at < HEAD)
        return false;
    const unsigned char *head = bytes + *at;
    uint64_t rest = nbytes - *at, length = gi_big32(head), used = HEAD;
    if (length == 1) { /* a length of 64 bits follows */
        if (rest < LARGE_HEAD)
            return false;
        length = (uint64_t)gi_big32(head + 8) << 32 | gi_big32(head + 12);
        used = LARGE_HEAD;
    } else if (length == 0) {
        length = rest;
    }
    if (length < used)
        return false;
    uint64_t there = length < rest ? length : rest;
    *box = (struct gi_box){.type = gi_big32(head + 4),
                           .data = head + used,
                           .n = there - used,
                           .whole = length <= rest};
    *at += there;
    return true;
}

void gi_box_name(char name[5], uint32_t type)
{
    gi_put_big32((unsigned char *)name, type);
    for (int i = 0; i < 4; i++)
        name[i] = name[i] >= ' ' && name[i] <= '~' ? name[i] : '?';
    name[4] = 0;
}
