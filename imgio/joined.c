/* Joins images into one file.
 * SPDX-License-Identifier: MIT */
#include "imgio/joined_kinds.h"

#include "imgio/metadata/metadata.h"
#include "imgio/pages.h"
#include "imgio/sink.h"
#include "imgio/small.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DELAY_MS = 100 };

struct gi_joiner {
    struct gi_sink *sink;
    struct gi_page_writer *pages;      /* of a TIFF, or NULL */
    const struct gi_joined_kind *kind; /* of an animation, or NULL */
    struct gi_joined_timing timing;
    struct gi_joined joined;
    struct gi_metadata first; /* of the first frame of an animation */
    char lost[96];            /* names of what later frames have beside it */
};

static const struct gi_joined_kind *find(const char *format)
{
    static const struct gi_joined_kind *const kinds[] = {&gi_joined_gif, &gi_joined_webp,
                                                         &gi_joined_png, &gi_joined_ico};
    for (size_t i = 0; format && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i]->format, format) == 0)
            return kinds[i];
    return NULL;
}

bool gi_joins(const char *format, enum gi_joining why)
{
    const struct gi_joined_kind *kind = find(format);
    return kind ? kind->reasons >> why & 1
                : format && strcmp(format, "tiff") == 0 && why != GI_JOIN_SIZES;
}

enum gi_status gi_joiner_new(struct gi_joiner **out, struct gi_sink *sink, const char *format,
                             const struct gi_joined_timing *timing, struct gi_err *err)
{
    struct gi_joiner *joiner = *out = gi_small_calloc(1, sizeof *joiner);
    joiner->sink = sink;
    joiner->kind = find(format);
    joiner->timing = *timing;
    return joiner->kind ? GI_OK : gi_page_writer_new(&joiner->pages, sink, 0, err);
}

static void name_lost(struct gi_joiner *joiner, bool lost, const char *name)
{
    size_t used = strlen(joiner->lost);
    if (lost && !strstr(joiner->lost, name))
        snprintf(joiner->lost + used, sizeof joiner->lost - used, "%s%s", used ? ", " : "", name);
}

static bool differs(const void *a, size_t na, const void *b, size_t nb)
{
    return na && (na != nb || memcmp(a, b, na) != 0);
}

/* Returns whether a text is not among those of the first frame. */
static bool has_other_text(const struct gi_metadata *metadata, const struct gi_metadata *first)
{
    bool other = false;
    for (int i = 0; i < metadata->ntexts && !other; i++) {
        other = true;
        for (int k = 0; k < first->ntexts && other; k++)
            other = strcmp(metadata->texts[i].keyword, first->texts[k].keyword) != 0 ||
                    strcmp(metadata->texts[i].text, first->texts[k].text) != 0;
    }
    return other;
}

/* Compares the metadata of a frame with those of the first. */
static void compare_metadata(struct gi_joiner *joiner, const unsigned char *bytes, size_t nbytes)
{
    const struct gi_load_options options = {
        .limits = {UINT64_MAX, UINT64_MAX}, .keep_orientation = true, .header_only = true};
    struct gi_metadata m = {0}, *first = &joiner->first;
    struct gi_image image = {0};
    if (gi_load_memory(&image, &m, NULL, bytes, nbytes, "a frame", &options, NULL, NULL))
        return;
    if (joiner->joined.n) {
        name_lost(joiner, differs(m.icc, m.icc_nbytes, first->icc, first->icc_nbytes),
                  "the ICC profile");
        name_lost(joiner,
                  !(gi_metadata_is_srgb(&m) && gi_metadata_is_srgb(first)) &&
                      differs(m.color, m.color_nbytes, first->color, first->color_nbytes),
                  "the colour (gAMA, cHRM, cICP)");
        name_lost(joiner, differs(m.exif, m.exif_nbytes, first->exif, first->exif_nbytes), "EXIF");
        name_lost(joiner, differs(m.xmp, m.xmp_nbytes, first->xmp, first->xmp_nbytes), "XMP");
        name_lost(joiner, has_other_text(&m, first), "texts");
        gi_metadata_free(&m);
    } else {
        *first = m;
    }
}

static enum gi_status add_frame(struct gi_joiner *joiner, const unsigned char *bytes, size_t nbytes,
                                const struct gi_timing *timing, struct gi_err *err)
{
    struct gi_joined *joined = &joiner->joined;
    int delay_ms = joiner->timing.delay_ms >= 0 ? joiner->timing.delay_ms
                   : timing->given              ? timing->delay_ms
                                                : DELAY_MS;
    int width, height;
    joiner->kind->measure(&width, &height, bytes, nbytes);
    if (!joined->n) {
        joined->width = width;
        joined->height = height;
        joined->plays = joiner->timing.plays >= 0 ? joiner->timing.plays
                        : timing->given           ? timing->plays
                                                  : 0;
    } else if (!joiner->kind->any_size && (width != joined->width || height != joined->height)) {
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "%s: frame %d has %d x %d pixels, and the first %d x %d: want frames of one "
                       "size (gpuimg resize --size %dx%d --pad)",
                       joiner->sink->name, joined->n, width, height, joined->width, joined->height,
                       joined->width, joined->height);
    }
    if (!joiner->kind->any_size)
        compare_metadata(joiner, bytes, nbytes);
    enum gi_status status = joiner->kind->add(joined, bytes, nbytes, delay_ms, err);
    if (status)
        return gi_err_prefix(err, "%s: frame %d", joiner->sink->name, joined->n);
    joined->end_ms += delay_ms;
    joined->n++;
    return GI_OK;
}

enum gi_status gi_joiner_add(struct gi_joiner *joiner, void *bytes, size_t nbytes,
                             const struct gi_timing *timing, struct gi_err *err)
{
    if (joiner->pages)
        return gi_page_writer_add(joiner->pages, bytes, nbytes, err);
    enum gi_status status = add_frame(joiner, bytes, nbytes, timing, err);
    free(bytes);
    return status;
}

enum gi_status gi_joiner_end(struct gi_joiner *joiner, struct gi_err *err)
{
    if (joiner->pages)
        return gi_page_writer_end(joiner->pages, err);
    struct gi_joined *joined = &joiner->joined;
    if (!joined->n)
        return GI_OK;
    enum gi_status status = joiner->kind->end(joined, err);
    if (status)
        return gi_err_prefix(err, "%s", joiner->sink->name);
    return gi_sink_write(joiner->sink, joined->file.at, joined->file.nbytes, err);
}

const char *gi_joiner_lost(const struct gi_joiner *joiner)
{
    return joiner->lost;
}

void gi_joiner_free(struct gi_joiner **out)
{
    struct gi_joiner *joiner = *out;
    *out = NULL;
    if (!joiner)
        return;
    gi_page_writer_free(&joiner->pages);
    gi_metadata_free(&joiner->first);
    if (joiner->joined.state)
        joiner->kind->release(joiner->joined.state);
    free(joiner->joined.file.at);
    free(joiner->joined.after.at);
    free(joiner);
}
