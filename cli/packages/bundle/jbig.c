/* Takes the place of JBIG-KIT, which libtiff needs to link. JBIG-KIT is under the GPL, so packages
 * that bring their own libtiff leave it out: a TIFF with this compression is refused as damaged.
 * The declarations are those of JBIG-KIT 2.1. SPDX-License-Identifier: MIT */
#include <stddef.h>

enum { REFUSED = 1 };

void jbg_dec_init(void *state)
{
}
void jbg_dec_free(void *state)
{
}
int jbg_dec_in(void *state, unsigned char *bytes, size_t nbytes, size_t *taken)
{
    return REFUSED;
}
unsigned char *jbg_dec_getimage(const void *state, int plane)
{
    return NULL;
}
unsigned long jbg_dec_getsize(const void *state)
{
    return 0;
}
int jbg_newlen(unsigned char *bytes, size_t nbytes)
{
    return 0;
}
const char *jbg_strerror(int error)
{
    return "this program has no JBIG";
}
void jbg_enc_init(void *state, unsigned long width, unsigned long height, int planes,
                  unsigned char **plane,
                  void (*write)(unsigned char *start, size_t nbytes, void *file), void *file)
{
}
void jbg_enc_out(void *state)
{
}
void jbg_enc_free(void *state)
{
}
