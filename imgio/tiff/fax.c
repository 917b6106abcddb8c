/* Compresses rows of bits by CCITT Group 4 (ITU-T T.6), through libtiff, which writes a TIFF of one
 * strip into memory here. Only the bytes of the strip are used.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "imgio/tiff/tiff_reader.h"

#if GI_HAVE_TIFF

/* The file that libtiff writes. */
struct memory {
    unsigned char *bytes;
    size_t nbytes, capacity, at;
    struct gi_err fault; /* the first error */
};

static int on_error(TIFF *file, void *self, const char *module, const char *format, va_list args)
{
    struct memory *memory = self;
    char text[256];
    vsnprintf(text, sizeof text, format, args);
    if (!memory->fault.status)
        gi_fail(&memory->fault, GI_E_MEMORY, "libtiff: %s", text);
    return 1;
}

static tmsize_t read_nothing(thandle_t self, void *to, tmsize_t nbytes)
{
    return 0;
}

static tmsize_t write_bytes(thandle_t self, void *from, tmsize_t nbytes)
{
    struct memory *memory = self;
    size_t end = memory->at + (size_t)nbytes;
    if (end > memory->capacity) {
        unsigned char *grown = realloc(memory->bytes, 2 * end);
        if (!grown) {
            gi_fail(&memory->fault, GI_E_MEMORY, "out of memory");
            return 0;
        }
        memory->bytes = grown;
        memory->capacity = 2 * end;
    }
    memcpy(memory->bytes + memory->at, from, (size_t)nbytes);
    memory->at = end;
    memory->nbytes = end > memory->nbytes ? end : memory->nbytes;
    return nbytes;
}

static toff_t seek_to(thandle_t self, toff_t offset, int whence)
{
    struct memory *memory = self;
    uint64_t base = whence == SEEK_CUR ? memory->at : whence == SEEK_END ? memory->nbytes : 0;
    if (base + offset > memory->nbytes)
        return (toff_t)-1;
    return memory->at = (size_t)(base + offset);
}

static int close_nothing(thandle_t self)
{
    return 0;
}

static toff_t file_size(thandle_t self)
{
    return ((struct memory *)self)->nbytes;
}

static TIFF *open_file(struct memory *memory)
{
    TIFFOpenOptions *options = gi_tiff.TIFFOpenOptionsAlloc();
    if (!options)
        return NULL;
    gi_tiff.TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, memory);
    gi_tiff.TIFFOpenOptionsSetWarningHandlerExtR(options, on_error, memory);
    TIFF *file = gi_tiff.TIFFClientOpenExt("TIFF", "w", memory, read_nothing, write_bytes, seek_to,
                                           close_nothing, file_size, NULL, NULL, options);
    gi_tiff.TIFFOpenOptionsFree(options);
    return file;
}

enum gi_status gi_tiff_fax(void **bytes, size_t *nbytes, const void *rows, int width, int height,
                           struct gi_err *err)
{
    struct memory memory = {0};
    *bytes = NULL;
    *nbytes = 0;
    enum gi_status status = gi_library_load(&gi_tiff_library, err);
    TIFF *file = status ? NULL : open_file(&memory);
    if (!status && !file)
        status = gi_fail(err, GI_E_MEMORY, "out of memory for the TIFF compressor");
    if (status) {
        free(memory.bytes);
        return status;
    }
    gi_tiff.TIFFSetField(file, TIFFTAG_IMAGEWIDTH, (uint32_t)width);
    gi_tiff.TIFFSetField(file, TIFFTAG_IMAGELENGTH, (uint32_t)height);
    gi_tiff.TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 1);
    gi_tiff.TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, 1);
    gi_tiff.TIFFSetField(file, TIFFTAG_COMPRESSION, COMPRESSION_CCITTFAX4);
    gi_tiff.TIFFSetField(file, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISWHITE);
    gi_tiff.TIFFSetField(file, TIFFTAG_ROWSPERSTRIP, (uint32_t)height);
    size_t before = memory.nbytes;
    tmsize_t raw = (tmsize_t)((size_t)(width + 7) / 8 * (size_t)height);
    bool good = gi_tiff.TIFFWriteEncodedStrip(file, 0, (void *)rows, raw) == raw;
    if (good) {
        *nbytes = memory.nbytes - before;
        *bytes = malloc(*nbytes);
    }
    if (*bytes)
        memcpy(*bytes, memory.bytes + before, *nbytes);
    else
        status = gi_fail(err, GI_E_MEMORY, "%s",
                         *memory.fault.text ? memory.fault.text
                                            : "out of memory for the TIFF compressor");
    gi_tiff.TIFFClose(file); /* writes a directory, which is not used */
    free(memory.bytes);
    return status;
}

#else

enum gi_status gi_tiff_fax(void **bytes, size_t *nbytes, const void *rows, int width, int height,
                           struct gi_err *err)
{
    *bytes = NULL;
    *nbytes = 0;
    return gi_fail(err, GI_E_UNSUPPORTED,
                   "this build has no libtiff, which --compression g4 needs");
}

#endif
