/* Walks the boxes of a HEIF (ISO/IEC 14496-12 and 23008-12) for what libheif does not tell before
 * it decodes: whether the image is gray, and which parts of the file are not read.
 * SPDX-License-Identifier: MIT */
#include "imgio/boxes.h"
#include "imgio/heif/heif.h"
#include "imgio/integer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FULL_HEAD = 4,
    DEPTH_MAX = 4,
    IMAGES_MAX = 1 << 16,
    MOST_METADATA = 1000, /* items whose references are looked up, each along all references */
};

/* Types of items that are images. */
#define IMAGES "hvc1av01gridiovlidenjpegavc1j2k1unci"

static bool find_box(struct gi_box *box, const struct gi_box *in, uint64_t skip, uint32_t type)
{
    for (uint64_t at = skip; gi_box_next(box, in->data, in->n, &at);)
        if (box->type == type)
            return true;
    *box = (struct gi_box){0};
    return false;
}

/* Returns the number of `nbytes` bytes at *at, and moves *at behind it. Beyond the end of the box
 * the number is 0. */
static uint32_t take(const struct gi_box *box, uint64_t *at, unsigned nbytes)
{
    uint32_t v = 0;
    for (unsigned i = 0; i < nbytes; i++)
        v = v << 8 | (*at + i < box->n ? box->data[*at + i] : 0u);
    *at += nbytes;
    return v;
}

/* ---- brands ---- */

static bool is_brand(const unsigned char *brand, const char *brands)
{
    for (; *brands; brands += 4)
        if (memcmp(brand, brands, 4) == 0)
            return true;
    return false;
}

/* Returns the letter of the format, 'h' or 'a', or 0. The brands mif1 and msf1 leave the codec
 * open. */
static char brand_of(const unsigned char *bytes, size_t nbytes)
{
    if (nbytes < 12 || memcmp(bytes + 4, "ftyp", 4) != 0)
        return 0;
    if (is_brand(bytes + 8, "avifavis"))
        return 'a';
    if (is_brand(bytes + 8, "heicheixhevchevxheimheishevmhevs"))
        return 'h';
    if (!is_brand(bytes + 8, "mif1msf1mif2miaf"))
        return 0;
    uint64_t end = gi_big32(bytes);
    for (size_t at = 16; at + 4 <= nbytes && at + 4 <= end; at += 4)
        if (is_brand(bytes + at, "avifavis"))
            return 'a';
    return 'h';
}

bool gi_heic_probe(const unsigned char *bytes, size_t nbytes)
{
    return brand_of(bytes, nbytes) == 'h';
}

bool gi_avif_probe(const unsigned char *bytes, size_t nbytes)
{
    return brand_of(bytes, nbytes) == 'a';
}

/* ---- items and their properties ---- */

/* The boxes in the box meta that tell of items. */
struct items {
    struct gi_box infos, refs, properties, associations;
    uint32_t primary;
};

static bool find_items(struct items *items, const unsigned char *bytes, size_t nbytes)
{
    *items = (struct items){0};
    struct gi_box whole = {.data = bytes, .n = nbytes}, meta, box;
    if (!find_box(&meta, &whole, 0, GI_BOX_TYPE('m', 'e', 't', 'a')))
        return false;
    find_box(&items->infos, &meta, FULL_HEAD, GI_BOX_TYPE('i', 'i', 'n', 'f'));
    find_box(&items->refs, &meta, FULL_HEAD, GI_BOX_TYPE('i', 'r', 'e', 'f'));
    if (!find_box(&box, &meta, FULL_HEAD, GI_BOX_TYPE('p', 'i', 't', 'm')))
        return false;
    uint64_t at = 0;
    unsigned version = take(&box, &at, 4) >> 24;
    items->primary = take(&box, &at, version ? 4 : 2);
    return find_box(&box, &meta, FULL_HEAD, GI_BOX_TYPE('i', 'p', 'r', 'p')) &&
           find_box(&items->properties, &box, 0, GI_BOX_TYPE('i', 'p', 'c', 'o')) &&
           find_box(&items->associations, &box, 0, GI_BOX_TYPE('i', 'p', 'm', 'a'));
}

/* Sets *box to the n-th property of the file, from 1. */
static bool property_at(struct gi_box *box, const struct items *items, uint32_t n)
{
    for (uint64_t at = 0; n && gi_box_next(box, items->properties.data, items->properties.n, &at);)
        if (--n == 0)
            return true;
    return false;
}

/* The numbers of an item's properties. */
struct numbers {
    uint64_t at;
    uint32_t left;
    unsigned nbytes; /* of a number */
};

static struct numbers numbers_of(const struct items *items, uint32_t item)
{
    const struct gi_box *list = &items->associations;
    uint64_t at = 0;
    uint32_t head = take(list, &at, 4), n = take(list, &at, 4);
    unsigned id_nbytes = head >> 24 ? 4 : 2, nbytes = head & 1 ? 2 : 1;
    for (; n && at < list->n; n--) {
        uint32_t id = take(list, &at, id_nbytes), count = take(list, &at, 1);
        if (id == item)
            return (struct numbers){at, count, nbytes};
        at += (uint64_t)count * nbytes;
    }
    return (struct numbers){0};
}

/* Sets *box to the next property. Returns false if there is none. */
static bool next_property(struct gi_box *box, const struct items *items, struct numbers *numbers)
{
    if (!numbers->left)
        return false;
    numbers->left--;
    uint32_t n = take(&items->associations, &numbers->at, numbers->nbytes);
    return property_at(box, items, n & (numbers->nbytes == 2 ? 0x7fff : 0x7f));
}

/* Finds a reference of a type from the item to others. Sets *to to the first of these, or to 0 if
 * all such references name none. Returns false if there is no such reference. */
static bool find_reference(uint32_t *to, const struct items *items, uint32_t item, uint32_t type)
{
    uint64_t at = 0;
    unsigned nbytes = take(&items->refs, &at, 4) >> 24 ? 4 : 2;
    struct gi_box box;
    bool found = false;
    *to = 0;
    while (!*to && gi_box_next(&box, items->refs.data, items->refs.n, &at)) {
        uint64_t in = 0;
        if (box.type != type || take(&box, &in, nbytes) != item)
            continue;
        found = true;
        if (take(&box, &in, 2))
            *to = take(&box, &in, nbytes);
    }
    return found;
}

/* Returns the first item that the item is derived from, such as the first tile of a grid, or 0. */
static uint32_t source_of(const struct items *items, uint32_t item)
{
    uint32_t source;
    return find_reference(&source, items, item, GI_BOX_TYPE('d', 'i', 'm', 'g')) ? source : 0;
}

bool gi_heif_is_gray(const unsigned char *bytes, size_t nbytes, uint32_t item)
{
    struct items items;
    struct gi_box box;
    if (!find_items(&items, bytes, nbytes))
        return false;
    for (int depth = 0; depth < DEPTH_MAX; depth++, item = source_of(&items, item)) {
        struct numbers numbers = numbers_of(&items, item);
        while (next_property(&box, &items, &numbers)) {
            if (box.type == GI_BOX_TYPE('h', 'v', 'c', 'C')) /* ISO/IEC 14496-15, 8.3.3.1.2 */
                return box.n > 16 && (box.data[16] & 3) == 0;
            if (box.type == GI_BOX_TYPE('a', 'v', '1', 'C')) /* AV1 in ISOBMFF, 2.3.3 */
                return box.n > 2 && (box.data[2] >> 4 & 1);
        }
    }
    return false;
}

bool gi_heif_is_turned(const unsigned char *bytes, size_t nbytes, uint32_t item)
{
    struct items items;
    struct gi_box box;
    if (!find_items(&items, bytes, nbytes))
        return false;
    struct numbers numbers = numbers_of(&items, item);
    while (next_property(&box, &items, &numbers))
        if (box.type == GI_BOX_TYPE('i', 'r', 'o', 't') ||
            box.type == GI_BOX_TYPE('i', 'm', 'i', 'r'))
            return true;
    return false;
}

/* ---- lists of images ---- */

static bool is_one_of(uint32_t type, const char *types)
{
    unsigned char name[4];
    gi_put_big32(name, type);
    return is_brand(name, types);
}

/* An entry of the list of items (ISO/IEC 14496-12, 8.11.6). */
struct info {
    uint32_t item, type;
    bool hidden;
};

/* Reads the entry at *at and moves *at behind it. *at is 0 at first. An entry of an old version has
 * type 0. Returns false if there is none. */
static bool next_info(struct info *info, const struct items *items, uint64_t *at)
{
    struct gi_box box;
    uint64_t in = 0;
    if (!*at)
        take(&items->infos, at, take(&items->infos, at, 4) >> 24 ? 4 : 2);
    if (!gi_box_next(&box, items->infos.data, items->infos.n, at))
        return false;
    uint32_t head = take(&box, &in, 4), version = head >> 24;
    info->hidden = head & 1;
    info->item = take(&box, &in, version >= 3 ? 4 : 2);
    take(&box, &in, 2); /* its protection */
    info->type = version >= 2 ? take(&box, &in, 4) : 0;
    return true;
}

/* Numbers of items. */
struct item_list {
    uint32_t *items;
    size_t n;
};

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Lists the items, in rising order, that are thumbnails of others, or their alpha, depth or gain
 * maps. The caller frees them. */
static enum gi_status find_auxiliary(struct item_list *list, const struct items *items,
                                     struct gi_err *err)
{
    const uint64_t entry_nbytes = 8; /* at least */
    uint64_t at = 0;
    unsigned nbytes = take(&items->refs, &at, 4) >> 24 ? 4 : 2;
    struct gi_box box;
    list->items = malloc((size_t)(items->refs.n / entry_nbytes + 1) * sizeof *list->items);
    if (!list->items)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a list of items");
    while (gi_box_next(&box, items->refs.data, items->refs.n, &at)) {
        uint64_t in = 0;
        if (box.type == GI_BOX_TYPE('t', 'h', 'm', 'b') ||
            box.type == GI_BOX_TYPE('a', 'u', 'x', 'l'))
            list->items[list->n++] = take(&box, &in, nbytes);
    }
    qsort(list->items, list->n, sizeof *list->items, by_number);
    return GI_OK;
}

static enum gi_status add_image(struct gi_image_list *list, uint32_t item, bool primary,
                                struct gi_err *err)
{
    if (list->all % 64 == 0) {
        struct gi_image_place *grown =
            realloc(list->images, ((size_t)list->all + 64) * sizeof *grown);
        if (!grown)
            return gi_fail(err, GI_E_MEMORY, "out of memory: a list of images");
        list->images = grown;
    }
    list->images[list->all++] = (struct gi_image_place){.offset = item, .own = primary};
    return GI_OK;
}

enum gi_status gi_heif_list(struct gi_image_list *list, const unsigned char *bytes, size_t nbytes,
                            struct gi_err *err)
{
    struct items items;
    struct info info;
    struct item_list auxiliary = {0};
    uint64_t at = 0;
    bool found = find_items(&items, bytes, nbytes), has_primary = false;
    enum gi_status status = found ? find_auxiliary(&auxiliary, &items, err) : GI_OK;
    list->end = nbytes;
    list->others = "images beside the primary one";
    while (!status && found && list->all < IMAGES_MAX && next_info(&info, &items, &at)) {
        bool primary = !has_primary && info.item == items.primary;
        bool shown =
            !info.hidden && info.item != items.primary && is_one_of(info.type, IMAGES) &&
            !bsearch(&info.item, auxiliary.items, auxiliary.n, sizeof info.item, by_number);
        has_primary = has_primary || primary;
        if (primary || shown)
            status = add_image(list, info.item, primary, err);
    }
    free(auxiliary.items);
    if (!has_primary) { /* the decoder says what is wrong */
        free(list->images);
        list->images = NULL;
        list->all = 0;
    }
    return status;
}

enum gi_status gi_heif_choose(uint32_t *item, int *images, const struct gi_decode *decode,
                              struct gi_err *err)
{
    const struct gi_load_options *options = decode->options;
    struct gi_image_list list = {0};
    enum gi_status status = gi_heif_list(&list, decode->bytes, decode->nbytes, err);
    *images = list.all ? list.all : 1;
    *item = 0;
    if (!status && options->image > *images)
        status = *images == 1 ? gi_fail(err, GI_E_UNSUPPORTED, "holds one image: want [0]")
                              : gi_fail(err, GI_E_UNSUPPORTED, "holds %d images: want [0] to [%d]",
                                        *images, *images - 1);
    for (int i = 0; !status && i < list.all; i++)
        if (options->image ? i == options->image - 1 : list.images[i].own)
            *item = (uint32_t)list.images[i].offset;
    free(list.images);
    return status;
}

/* ---- parts ---- */

static void add(struct gi_decode *decode, const char *kind, uint32_t type, uint64_t nbytes)
{
    char name[5];
    gi_box_name(name, type);
    const struct gi_part part = {
        .kind = GI_PART_FIELD, .fate = GI_PART_LOST, .code = type, .nbytes = (size_t)nbytes};
    gi_decode_add_part(decode, &part, "%s %s", kind, name);
}

/* Returns whether the item describes another one, as EXIF and XMP do. libheif leaves out those that
 * do not. */
static bool describes_any(const struct items *items, uint32_t item)
{
    uint32_t described;
    return find_reference(&described, items, item, GI_BOX_TYPE('c', 'd', 's', 'c'));
}

/* Lists kinds of items that libheif does not read, such as tmap, a gain map of ISO 21496-1, and
 * metadata that belong to no image. */
static void list_items(struct gi_decode *decode, const struct items *items)
{
    uint64_t at = 0;
    struct info info;
    int left = MOST_METADATA;
    while (next_info(&info, items, &at)) {
        bool metadata = info.type && is_one_of(info.type, "Exifmimeuri ");
        bool read = metadata && (left-- <= 0 || describes_any(items, info.item));
        if (info.type && !is_one_of(info.type, IMAGES) && !read)
            add(decode, "item", info.type, 0);
    }
}

static void list_properties(struct gi_decode *decode, const struct items *items, uint32_t item)
{
    struct gi_box box;
    struct numbers numbers = numbers_of(items, item);
    while (next_property(&box, items, &numbers)) {
        bool square = box.type == GI_BOX_TYPE('p', 'a', 's', 'p') && box.n >= 8 &&
                      memcmp(box.data, box.data + 4, 4) == 0;
        if (!square && !is_one_of(box.type, "ispepixihvcCav1CcolrirotimirclapauxClselfreeskip"))
            add(decode, "property", box.type, box.n);
    }
}

enum gi_status gi_heif_parts(struct gi_decode *decode, uint32_t item, struct gi_err *err)
{
    struct items items;
    struct gi_box box;
    uint64_t at = 0;
    bool sequence = false, still = false;
    while (gi_box_next(&box, decode->bytes, decode->nbytes, &at)) {
        if (!box.whole)
            return gi_decode_damaged_beside(decode, err, "ends early: %zu bytes", decode->nbytes);
        still = still || box.type == GI_BOX_TYPE('m', 'e', 't', 'a');
        sequence = sequence || box.type == GI_BOX_TYPE('m', 'o', 'o', 'v');
        if (box.type == GI_BOX_TYPE('m', 'o', 'o', 'v'))
            gi_decode_add_images(decode, "the frames of its sequence", GI_MORE_FRAMES);
        else if (!is_one_of(box.type, "ftypmetamdatidatfreeskipwide"))
            add(decode, "box", box.type, box.n);
    }
    if (sequence && !still)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "is a sequence without a still image, which libheif can't read: want ffmpeg "
                       "-i FILE to make frames of it");
    gi_decode_add_trailing(decode, at);
    if (find_items(&items, decode->bytes, decode->nbytes)) {
        list_items(decode, &items);
        list_properties(decode, &items, item);
    }
    return GI_OK;
}
