/* Parts of a file that no member of struct gi_metadata describes (imgio/parts.h).
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/image_next.h"
#include "imgio/parts.h"
#include "imgio/small.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Counts a part beyond the limits in the last place of the list. */
static void count_further(struct gi_parts *parts)
{
    struct gi_part *last = &parts->list[parts->n - 1];
    if (last->kind != GI_PART_FURTHER) {
        free(last->bytes);
        *last = (struct gi_part){.kind = GI_PART_FURTHER, .fate = GI_PART_LOST, .code = 1};
    }
    last->code++;
    snprintf(last->name, sizeof last->name, "%u further parts", (unsigned)last->code);
}

void gi_metadata_add_part(struct gi_metadata *metadata, const struct gi_part *part,
                          const char *format, ...)
{
    struct gi_parts *parts = &metadata->parts;
    if (parts->n == GI_PARTS_MAX) {
        count_further(parts);
        return;
    }
    struct gi_part *list = parts->list;
    if ((parts->n & (parts->n - 1)) == 0) /* room for a power of two */
        list = gi_small_realloc(list, parts->n ? 2 * (size_t)parts->n : 1, sizeof *list);
    parts->list = list;
    struct gi_part *made = &list[parts->n++];
    *made = *part;
    made->bytes = NULL;
    va_list args;
    va_start(args, format);
    vsnprintf(made->name, sizeof made->name, format, args);
    va_end(args);
    for (char *c = made->name; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    if (part->fate != GI_PART_CARRIED)
        return;
    if (part->nbytes > GI_PARTS_NBYTES_MAX - parts->nbytes) {
        made->fate = GI_PART_LOST;
        made->why = "more bytes than are kept";
        return;
    }
    made->bytes = malloc(part->nbytes + 1); /* not NULL, also if the part is empty */
    if (!made->bytes) {
        metadata->starved = true;
        made->fate = GI_PART_LOST;
        return;
    }
    if (part->nbytes)
        memcpy(made->bytes, part->bytes, part->nbytes);
    parts->nbytes += part->nbytes;
}

static bool has_part(const struct gi_parts *parts, const char *name)
{
    for (int i = 0; i < parts->n; i++)
        if (strcmp(parts->list[i].name, name) == 0)
            return true;
    return false;
}

void gi_metadata_add_losses(struct gi_metadata *metadata, const struct gi_metadata *found)
{
    for (int i = 0; i < found->parts.n; i++) {
        const struct gi_part *part = &found->parts.list[i];
        if (part->kind == GI_PART_FIELD && part->fate == GI_PART_LOST &&
            !has_part(&metadata->parts, part->name))
            gi_metadata_add_part(metadata, part, "%s", part->name);
    }
}

static void add_images(struct gi_decode *decode, uint32_t code, const char *name,
                       const char *warning)
{
    bool warns = !decode->warning->status && !decode->options->header_only;
    if (warns)
        gi_fail(decode->warning, GI_E_UNSUPPORTED, "%s", warning);
    gi_decode_add_part(
        decode,
        &(struct gi_part){
            .kind = GI_PART_IMAGES, .fate = GI_PART_LOST, .code = code, .warned = warns},
        "%s", name);
}

void gi_decode_add_images(struct gi_decode *decode, const char *name, const char *warning)
{
    add_images(decode, 0, name, warning);
}

void gi_decode_add_frames(struct gi_decode *decode, unsigned further, const char *warning)
{
    char name[48];
    snprintf(name, sizeof name, "%u frame%s after the first", further, further == 1 ? "" : "s");
    if (further)
        add_images(decode, GI_FRAMES, name, warning);
}

void gi_decode_add_loss(struct gi_decode *decode, const char *name, const char *warning)
{
    bool warns = !decode->warning->status;
    if (warns)
        gi_fail(decode->warning, GI_E_FORMAT, "%s", warning);
    gi_decode_add_part(
        decode, &(struct gi_part){.kind = GI_PART_FIELD, .fate = GI_PART_LOST, .warned = warns},
        "%s", name);
}

void gi_decode_add_spare_bits(struct gi_decode *decode, const struct gi_spare_bits *spare,
                              uint32_t mask)
{
    if (spare->any && spare->all != mask)
        gi_decode_add_loss(decode, "bits beside the colours",
                           "has bits beside its colours that are not declared as alpha; they are "
                           "left out");
}

void gi_decode_add_cut_colors(struct gi_decode *decode)
{
    static const char name[] = "colours above their alpha";
    if (!has_part(&decode->metadata->parts, name))
        gi_decode_add_part(decode,
                           &(struct gi_part){.kind = GI_PART_FIELD,
                                             .fate = GI_PART_LOST,
                                             .why = "which straight alpha has not"},
                           "%s", name);
}

void gi_decode_add_trailing(struct gi_decode *decode, uint64_t end)
{
    const struct gi_ahead *ahead = decode->options->ahead;
    if (end < decode->nbytes)
        gi_decode_add_part(decode,
                           &(struct gi_part){.kind = GI_PART_TRAILING,
                                             .fate = GI_PART_LOST,
                                             .warned = ahead && ahead->rest_named,
                                             .nbytes = decode->nbytes - (size_t)end},
                           "%llu byte%s after the end",
                           (unsigned long long)(decode->nbytes - (size_t)end),
                           decode->nbytes - (size_t)end == 1 ? "" : "s");
}

void gi_decode_add_rest(struct gi_decode *decode, uint64_t end)
{
    if (end < decode->nbytes)
        decode->followed =
            gi_image_follows(decode->bytes + end, decode->nbytes - (size_t)end, NULL);
    if (!decode->followed)
        gi_decode_add_trailing(decode, end);
}

enum gi_status gi_decode_settle_rest(struct gi_decode *decode, struct gi_err *err)
{
    if (!decode->followed)
        return GI_OK;
    int n = decode->info->images = gi_image_count(decode->bytes, decode->nbytes);
    if (decode->options->header_only)
        return GI_OK;
    if (n > 1)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "holds %d images, and one is wanted: [0] to [%d] after the name", n, n - 1);
    gi_decode_add_images(decode, "images after the first", GI_MORE_IMAGES);
    return GI_OK;
}

void gi_parts_remove(struct gi_parts *parts, bool (*which)(const struct gi_part *part))
{
    int kept = 0;
    for (int i = 0; i < parts->n; i++) {
        struct gi_part *part = &parts->list[i];
        if (which && !which(part)) {
            parts->list[kept++] = *part;
            continue;
        }
        parts->nbytes -= part->bytes ? part->nbytes : 0;
        free(part->bytes);
    }
    parts->n = kept;
    if (kept)
        return;
    free(parts->list);
    parts->list = NULL;
}

const struct gi_part *gi_parts_find(const struct gi_parts *parts, enum gi_part_kind kind,
                                    uint32_t code)
{
    for (int i = 0; i < parts->n; i++) {
        const struct gi_part *part = &parts->list[i];
        if (part->kind == kind && part->code == code && part->fate == GI_PART_CARRIED)
            return part;
    }
    return NULL;
}
