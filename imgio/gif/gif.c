/* Reads GIF through giflib ("Graphics Interchange Format", version 89a). If no frame is asked for,
 * the first one is placed on the logical screen that the file describes, and pixels outside the
 * frame are transparent. If all colours of the palette are gray, the image is gray. In a build
 * without giflib, only an error message is left.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/metadata/metadata.h"
#include "imgio/gif/gif_frames.h"
#include "imgio/gif/gif_parts.h"

#include <stdlib.h>
#include <string.h>

#if __has_include(<gif_lib.h>)
#include <gif_lib.h>
#if GIFLIB_MAJOR == 5 && GIFLIB_MINOR >= 1
#define HAVE_GIF 1
#endif
#endif
#ifndef HAVE_GIF
#define HAVE_GIF 0
#endif

static bool probe_gif(const unsigned char *bytes, size_t nbytes)
{
    return nbytes >= 6 && (memcmp(bytes, "GIF87a", 6) == 0 || memcmp(bytes, "GIF89a", 6) == 0);
}

#if HAVE_GIF

#define FUNCTIONS(X)                                                                               \
    X(DGifOpen)                                                                                    \
    X(DGifGetRecordType)                                                                           \
    X(DGifGetImageDesc)                                                                            \
    X(DGifGetLine)                                                                                 \
    X(DGifGetExtension)                                                                            \
    X(DGifGetExtensionNext)                                                                        \
    X(DGifExtensionToGCB)                                                                          \
    X(DGifCloseFile)                                                                               \
    X(GifErrorString)
GI_LIBRARY_TABLE(gif_table, FUNCTIONS);
static struct gif_table gif;
static const struct gi_library library =
    GI_LIBRARY(FUNCTIONS, gif, "libgif.so.7", "giflib", "libgif7");
#define LIBRARY &library
#define ENCODE  gi_gif_encode
#define WRITER  &gi_gif_writer

struct reader {
    struct gi_decode *decode;
    GifFileType *file;
    size_t at;       /* next byte of the file */
    bool ended;      /* giflib asked for more bytes than the file has */
    int transparent; /* index of the transparent colour, or NO_TRANSPARENT_COLOR */
    const ColorMapObject *palette;
    GifImageDesc frame;
    int channels;
};

static int read_bytes(GifFileType *file, GifByteType *to, int nbytes)
{
    struct reader *r = file->UserData;
    size_t left = r->decode->nbytes - r->at, n = (size_t)nbytes < left ? (size_t)nbytes : left;
    r->ended = r->ended || n < (size_t)nbytes;
    memcpy(to, r->decode->bytes + r->at, n);
    r->at += n;
    return (int)n;
}

/* Returns the reason for giflib's last error. */
static const char *fault(const struct reader *r)
{
    const char *text = r->file ? gif.GifErrorString(r->file->Error) : NULL;
    return r->ended ? "ends early" : text ? text : "its structure";
}

static enum gi_status fail(const struct reader *r, struct gi_err *err)
{
    if (r->file && r->file->Error == D_GIF_ERR_NOT_ENOUGH_MEM)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    return gi_fail(err, GI_E_FORMAT, "%s%s", r->ended ? "" : "is damaged: ", fault(r));
}

/* Reads the blocks of an extension. Returns false if the extension is damaged. */
static bool read_extension(struct reader *r)
{
    int code;
    GifByteType *block;
    GraphicsControlBlock control;
    if (!gif.DGifGetExtension(r->file, &code, &block))
        return false;
    while (block) {
        if (code == GRAPHICS_EXT_FUNC_CODE &&
            gif.DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK)
            r->transparent = control.TransparentColor;
        if (!gif.DGifGetExtensionNext(r->file, &block))
            return false;
    }
    return true;
}

/* Advances to the first frame, and sets *found to whether there is one. Returns false if the file
 * is damaged. */
static bool find_frame(struct reader *r, bool *found)
{
    GifRecordType type;
    *found = false;
    while (gif.DGifGetRecordType(r->file, &type)) {
        if (type == TERMINATE_RECORD_TYPE)
            return true;
        if (type == IMAGE_DESC_RECORD_TYPE)
            return *found = true;
        if (type == EXTENSION_RECORD_TYPE && !read_extension(r))
            return false;
    }
    return false;
}

static bool is_gray(const ColorMapObject *palette)
{
    for (int i = 0; i < palette->ColorCount; i++) {
        GifColorType c = palette->Colors[i];
        if (c.Red != c.Green || c.Red != c.Blue)
            return false;
    }
    return true;
}

static void keep_palette(const struct reader *r)
{
    struct gi_metadata *metadata = r->decode->metadata;
    uint8_t entries[256][4];
    int n = r->palette->ColorCount < 256 ? r->palette->ColorCount : 256;
    for (int i = 0; i < n; i++) {
        const GifColorType c = r->palette->Colors[i];
        const uint8_t entry[] = {c.Red, c.Green, c.Blue, i == r->transparent ? 0 : 255};
        memcpy(entries[i], entry, sizeof entry);
    }
    gi_metadata_keep(metadata, &metadata->palette, &metadata->palette_nbytes, entries,
                     4 * (size_t)n);
}

/* Reads the header of the file and of its first frame, and makes the image. */
static enum gi_status read_head(struct reader *r, struct gi_err *err)
{
    bool found;
    if (!find_frame(r, &found))
        return fail(r, err);
    if (!found)
        return gi_fail(err, GI_E_FORMAT, "holds no image");
    if (!gif.DGifGetImageDesc(r->file))
        return fail(r, err);
    GifImageDesc frame = r->frame = r->file->Image;
    r->palette = frame.ColorMap ? frame.ColorMap : r->file->SColorMap;
    if (!r->palette || frame.Width < 1 || frame.Height < 1)
        return gi_fail(err, GI_E_FORMAT, "is damaged: %s",
                       r->palette ? "its image has no pixels" : "it has no palette");
    /* Like browsers, enlarges the screen if a frame extends beyond it. */
    int width = frame.Left + frame.Width, height = frame.Top + frame.Height;
    bool covered = width >= r->file->SWidth && height >= r->file->SHeight;
    width = width > r->file->SWidth ? width : r->file->SWidth;
    height = height > r->file->SHeight ? height : r->file->SHeight;
    covered = covered && !frame.Left && !frame.Top;
    bool alpha = !covered || r->transparent != NO_TRANSPARENT_COLOR;
    r->channels = (is_gray(r->palette) ? 1 : 3) + alpha;
    r->decode->info->bits = r->palette->BitsPerPixel;
    r->decode->info->maxval = 255;
    r->decode->info->detail = frame.Interlace ? "palette, interlaced" : "palette";
    keep_palette(r);
    enum gi_status status =
        gi_decode_check_flat(r->decode, (uint64_t)width * (uint64_t)height, err);
    return status ? status
                  : gi_decode_alloc(r->decode, (uint64_t)width, (uint64_t)height, r->channels,
                                    GI_U8, err);
}

/* Writes a row. Returns false if an index is outside the palette. */
static bool put_line(const struct reader *r, int y, const GifPixelType *line)
{
    int channels = r->channels, colors = channels < 3 ? 1 : 3;
    uint8_t *to = gi_row(r->decode->image, r->frame.Top + y);
    to += (size_t)r->frame.Left * (size_t)channels;
    for (int x = 0; x < r->frame.Width; x++, to += channels) {
        if (line[x] >= r->palette->ColorCount)
            return false;
        GifColorType c = r->palette->Colors[line[x]];
        to[0] = c.Red;
        if (colors == 3) {
            to[1] = c.Green;
            to[2] = c.Blue;
        }
        if (channels > colors)
            to[colors] = line[x] == r->transparent ? 0 : 255;
    }
    return true;
}

/* Returns the offset behind the blocks of data at `at`, each of which begins with its length. The
 * last one is empty. Returns `nbytes` or more if the file ends before. */
static size_t skip_blocks(const unsigned char *bytes, size_t nbytes, size_t at)
{
    while (at < nbytes && bytes[at])
        at += 1u + bytes[at];
    return at + 1;
}

/* Walks from the end of the first frame to the trailer, and counts the frames on the way. */
static enum gi_status read_rest(struct reader *r, struct gi_err *err)
{
    enum { EXTENSION = 0x21, FRAME = 0x2c, TRAILER = 0x3b, FRAME_HEAD = 10 };
    const unsigned char *bytes = r->decode->bytes;
    size_t at = r->at, nbytes = r->decode->nbytes;
    int frames = 1;
    while (at < nbytes && bytes[at] != TRAILER) {
        if (bytes[at] == EXTENSION) { /* its label follows */
            at = skip_blocks(bytes, nbytes, at + 2);
        } else if (bytes[at] == FRAME && nbytes - at >= FRAME_HEAD) {
            unsigned flags = bytes[at + FRAME_HEAD - 1];
            size_t palette = flags & 0x80 ? 3u << ((flags & 7) + 1) : 0;
            at = skip_blocks(bytes, nbytes, at + FRAME_HEAD + palette + 1);
            frames += at <= nbytes;
        } else if (bytes[at] == 0) { /* a surplus end of blocks, which some writers add */
            at++;
        } else {
            return gi_decode_damaged(r->decode, err, "%s, behind frame %d",
                                     bytes[at] == FRAME ? "ends early" : "is damaged", frames);
        }
    }
    if (at >= nbytes)
        return gi_decode_damaged(r->decode, err, "ends early, behind frame %d", frames);
    return GI_OK;
}

static enum gi_status read_lines(struct reader *r, GifPixelType *line, struct gi_err *err)
{
    /* interlaced rows: appendix E */
    static const int starts[] = {0, 4, 2, 1, 0}, steps[] = {8, 8, 4, 2, 1};
    int done = 0;
    for (int pass = r->frame.Interlace ? 0 : 4; pass < (r->frame.Interlace ? 4 : 5); pass++)
        for (int y = starts[pass]; y < r->frame.Height; y += steps[pass], done++) {
            if (!gif.DGifGetLine(r->file, line, r->frame.Width))
                return gi_decode_damaged_at(r->decode, err, done, "%s%s",
                                            r->ended ? "" : "is damaged: ", fault(r));
            if (!put_line(r, y, line))
                return gi_decode_damaged_at(r->decode, err, done,
                                            "is damaged: a colour beyond its palette");
        }
    return read_rest(r, err);
}

static enum gi_status read_frame(struct reader *r, struct gi_err *err)
{
    const struct gi_image *image = r->decode->image;
    GifPixelType *line = malloc((size_t)r->frame.Width);
    if (!line)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    bool covered = r->frame.Width == image->width && r->frame.Height == image->height;
    for (int y = 0; y < image->height && !covered; y++)
        memset(gi_row(image, y), 0, gi_row_nbytes(image));
    enum gi_status status = read_lines(r, line, err);
    free(line);
    return status;
}

static enum gi_status decode_gif(struct gi_decode *decode, struct gi_err *err)
{
    struct reader r = {.decode = decode, .transparent = NO_TRANSPARENT_COLOR};
    int code = 0;
    bool taken;
    enum gi_status status = gi_frames_decode(decode, &gi_gif_animation, &taken, err);
    if (taken)
        return status;
    r.file = gif.DGifOpen(&r, read_bytes, &code);
    if (!r.file && code == D_GIF_ERR_NOT_ENOUGH_MEM)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    if (!r.file)
        return fail(&r, err);
    status = read_head(&r, err);
    if (!status && !decode->options->header_only)
        status = read_frame(&r, err);
    gif.DGifCloseFile(r.file, &code);
    return status;
}

#else
#define decode_gif NULL
#define LIBRARY    NULL
#define ENCODE     NULL
#define WRITER     NULL
#endif

const struct gi_format gi_format_gif = {
    .info = {.name = "gif",
             .suffixes = "gif",
             .summary = "Graphics Interchange Format, also animated",
             .reads = HAVE_GIF,
             .writes = HAVE_GIF,
             .u8 = true,
             .alpha = true,
             .missing = HAVE_GIF ? NULL : "giflib"},
    .probe = probe_gif,
    .decode = decode_gif,
    .texts = true,
    .icc = true,
    .holds_xmp = gi_gif_holds_xmp,
    .encode = ENCODE,
    .parts = gi_gif_parts,
    .list = gi_gif_list,
    .animation = &gi_gif_animation,
    .reads_by = LIBRARY,
    .writes_by = WRITER,
    .rgb = true,
};
