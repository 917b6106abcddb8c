/* Follows the chain of a TIFF's directories, one per page (TIFF 6.0, section 2; BigTIFF after its
 * design at libtiff.org). libtiff could do this, but in time that grows with the square of their
 * number.
 * SPDX-License-Identifier: MIT */
#include "imgio/tiff/tiff.h"

enum { PAGES_MAX = 1 << 20 }; /* libtiff's limit */

struct chain {
    const unsigned char *bytes;
    uint64_t nbytes;
    bool big_endian, big;
};

/* Reads a number of `n` bytes at `at`, which must be within the file. */
static uint64_t get(const struct chain *c, uint64_t at, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++)
        v = v << 8 | c->bytes[at + (c->big_endian ? i : n - 1 - i)];
    return v;
}

/* Returns the offset of the directory after the one at `at`; 0 if there is none. */
static uint64_t next(const struct chain *c, uint64_t at)
{
    unsigned count = c->big ? 8 : 2, entry = c->big ? 20 : 12, offset = c->big ? 8 : 4;
    if (at > c->nbytes || c->nbytes - at < count + offset)
        return 0;
    uint64_t n = get(c, at, count);
    if (n > (c->nbytes - at - count - offset) / entry)
        return 0;
    return get(c, at + count + n * entry, offset);
}

int gi_tiff_find_page(uint64_t *offset, const unsigned char *bytes, size_t nbytes, int page)
{
    struct chain c = {bytes, nbytes, bytes[0] == 'M', bytes[bytes[0] == 'M' ? 3 : 2] == '+'};
    uint64_t at = c.big && nbytes < 16 ? 0 : get(&c, c.big ? 8 : 4, c.big ? 8 : 4);
    uint64_t mark = 0;
    int n = 0, marked = 0;
    *offset = 0;
    for (; at && n < PAGES_MAX; at = next(&c, at), n++) {
        if (at == mark) { /* a cycle, which R. P. Brent's algorithm detects */
            *offset = 0;
            return 0;
        }
        if (n >= 2 * marked) {
            mark = at;
            marked = n;
        }
        if (n == page)
            *offset = at;
    }
    return n;
}
