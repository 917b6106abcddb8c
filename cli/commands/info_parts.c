/* Prints the parts of a file for gpuimg info.
 * SPDX-License-Identifier: MIT */
#include "cli/commands/info_parts.h"
#include "cli/json.h"

#include <string.h>

/* Returns whether the part is the frames of an animation, which a command that writes an animation
 * reads. */
static bool are_frames(const struct gi_part *part, const struct gi_file_info *info)
{
    return part->kind == GI_PART_IMAGES && part->code == GI_FRAMES && info->animation.frames > 0;
}

static const char *why(const struct gi_part *part, const struct gi_file_info *info)
{
    return are_frames(part, info) ? "to animated GIF, WebP and PNG" : part->why;
}

/* Returns the fate of a part as a word for users. */
static const char *fate_word(const struct gi_part *part, const struct gi_file_info *info)
{
    static const char *const words[] = {
        [GI_PART_CARRIED] = "carried", [GI_PART_DROPPED] = "dropped", [GI_PART_LOST] = "lost"};
    return words[are_frames(part, info) ? GI_PART_CARRIED : part->fate];
}

static bool are_alike(const struct gi_part *a, const struct gi_part *b)
{
    return a->kind == b->kind && a->fate == b->fate && strcmp(a->name, b->name) == 0;
}

void gi_info_parts(FILE *out, const struct gi_metadata *metadata, const struct gi_file_info *info)
{
    const struct gi_parts *parts = &metadata->parts;
    for (const unsigned char *at = NULL; (at = gi_metadata_next_color(metadata, at));)
        fprintf(out, ", chunk %.4s of %u byte%s (carried)", (const char *)at, at[4],
                at[4] == 1 ? "" : "s");
    for (int i = 0; i < parts->n; i++) {
        const struct gi_part *part = &parts->list[i];
        size_t nbytes = 0;
        int before = 0, n = 0;
        for (int k = 0; k < parts->n; k++)
            if (are_alike(&parts->list[k], part)) {
                before += k < i;
                n++;
                nbytes += parts->list[k].nbytes;
            }
        if (before)
            continue;
        fprintf(out, ", %s", part->name);
        if (n > 1)
            fprintf(out, ", %d times", n);
        if (nbytes && part->kind != GI_PART_TRAILING)
            fprintf(out, "%s of %zu byte%s", n > 1 ? "," : "", nbytes, nbytes == 1 ? "" : "s");
        const char *reason = why(part, info);
        fprintf(out, " (%s%s%s)", fate_word(part, info), reason ? ": " : "", reason ? reason : "");
    }
}

static void add_part(json_t *parts, const char *name, size_t nbytes, const char *fate,
                     const char *why)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", gi_json_text(name));
    json_object_set_new(object, "bytes", json_integer((json_int_t)nbytes));
    json_object_set_new(object, "fate", json_string(fate));
    json_object_set_new(object, "why", why ? gi_json_text(why) : json_null());
    json_array_append_new(parts, object);
}

json_t *gi_info_parts_json(const struct gi_metadata *metadata, const struct gi_file_info *info)
{
    json_t *parts = json_array();
    if (metadata->icc)
        add_part(parts, "ICC profile", metadata->icc_nbytes, "carried", NULL);
    if (metadata->exif)
        add_part(parts, "EXIF", metadata->exif_nbytes, "carried", NULL);
    if (metadata->xmp)
        add_part(parts, "XMP", metadata->xmp_nbytes, "carried", NULL);
    for (int i = 0; i < metadata->ntexts; i++)
        add_part(parts, metadata->texts[i].keyword, strlen(metadata->texts[i].text), "carried",
                 "text");
    for (const unsigned char *at = NULL; (at = gi_metadata_next_color(metadata, at));) {
        char name[16];
        snprintf(name, sizeof name, "chunk %.4s", (const char *)at);
        add_part(parts, name, at[4], "carried", NULL);
    }
    for (int i = 0; i < metadata->parts.n; i++) {
        const struct gi_part *part = &metadata->parts.list[i];
        add_part(parts, part->name, part->nbytes, fate_word(part, info), why(part, info));
    }
    return parts;
}

json_t *gi_info_texts_json(const struct gi_metadata *metadata)
{
    json_t *texts = json_array();
    for (int i = 0; i < metadata->ntexts; i++) {
        json_t *text = json_object();
        json_object_set_new(text, "keyword", gi_json_text(metadata->texts[i].keyword));
        json_object_set_new(text, "text", gi_json_text(metadata->texts[i].text));
        json_array_append_new(texts, text);
    }
    return texts;
}
