/* Reads and writes FITS (FITS standard 4.0): headers of 80-byte cards in blocks of 2880 bytes, each
 * followed by an array in big-endian order. The first array of two or three axes is read; planes
 * of the third axis are bands, or red, green and blue if there are three. Unsigned integers of 8
 * and 16 bits and 32-bit floats are read as they are, all others as the nearest 32-bit float of
 * BZERO + BSCALE * stored. The first stored row is the lowest one, unless ROWORDER says TOP-DOWN.
 * SPDX-License-Identifier: MIT */
#include "imgio/fits/fits.h"
#include "imgio/integer.h"
#include "imgio/nodata.h"
#include "imgio/tiff/tags.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODATA = 42113, SKY = GI_FITS_SKY };

/* ---- cards that are carried ---- */

/* Returns whether the card tells of the array or the file, so that the writer makes it anew. */
static bool is_structure(const unsigned char *card)
{
    static const char *const keys[] = {"SIMPLE", "XTENSION", "BITPIX", "EXTEND",
                                       "PCOUNT", "GCOUNT",   "BZERO",  "BSCALE",
                                       "BLANK",  "ROWORDER", "END",    "GROUPS"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (gi_fits_is_key(card, keys[i]))
            return true;
    return memcmp(card, "NAXIS", 5) == 0;
}

static bool starts_with_any(const unsigned char *card, const char *const *starts)
{
    for (; *starts; starts++)
        if (memcmp(card, *starts, strlen(*starts)) == 0)
            return true;
    return false;
}

/* Carries cards as a part with that code. Its place is the height of the image, because the lowest
 * row has the coordinate 1 in a FITS. */
static void carry(struct gi_decode *decode, const struct gi_fits_unit *unit, uint32_t code,
                  unsigned char *cards, size_t n)
{
    struct gi_part part = {.kind = GI_PART_FITS_CARDS,
                           .fate = GI_PART_CARRIED,
                           .code = code,
                           .place = unit->axes[1] < INT_MAX ? (int)unit->axes[1] : 0,
                           .nbytes = GI_FITS_CARD * n,
                           .bytes = cards};
    gi_fits_cards_rename(&part);
    if (n)
        gi_decode_add_part(decode, &part, "%s", part.name);
}

/* Carries the cards in two parts: coordinates of the sky, which hold only for pixels that stay
 * where they are, and others. Those that depend on the samples are dropped. The writer stores the
 * lowest row first, so that coordinates of other files are lost. */
static void add_cards(struct gi_decode *decode, const struct gi_fits_unit *unit)
{
    static const char *const of_pixels[] = {"DATAMIN ", "DATAMAX ", "DATASUM ", "CHECKSUM", NULL};
    static const char *const of_places[] = {
        "CTYPE", "CUNIT", "CRPIX",   "CRVAL",   "CDELT",   "CROTA",   "CD1_", "CD2_",
        "CD3_",  "PC1_",  "PC2_",    "PC3_",    "PV1_",    "PV2_",    "A_",   "B_",
        "AP_",   "BP_",   "WCSAXES", "WCSNAME", "LONPOLE", "LATPOLE", NULL};
    unsigned char *kept = malloc(2 * unit->cards * GI_FITS_CARD);
    size_t n = 0, places = 0, pixels = 0;
    decode->metadata->starved = decode->metadata->starved || !kept;
    for (uint64_t i = 0; kept && i < unit->cards; i++) {
        const unsigned char *card = gi_fits_card(unit, decode->bytes, i);
        if (is_structure(card) || gi_fits_is_key(card, ""))
            continue;
        if (starts_with_any(card, of_pixels))
            pixels++;
        else if (starts_with_any(card, of_places))
            memcpy(kept + GI_FITS_CARD * (unit->cards + places++), card, GI_FITS_CARD);
        else
            memcpy(kept + GI_FITS_CARD * n++, card, GI_FITS_CARD);
    }
    struct gi_part part = {.kind = GI_PART_FIELD, .fate = GI_PART_LOST};
    if (kept)
        carry(decode, unit, 0, kept, n);
    if (places && unit->top_down)
        gi_decode_add_part(decode, &part, "coordinates of the sky (%zu cards)", places);
    else if (kept)
        carry(decode, unit, SKY, kept + GI_FITS_CARD * unit->cards, places);
    free(kept);
    part.fate = GI_PART_DROPPED;
    part.why = "tell of the old samples";
    if (pixels)
        gi_decode_add_part(decode, &part, "checksums and extremes");
}

/* ---- samples ---- */

static int64_t stored_integer(const unsigned char *at, int bits)
{
    return bits == 8    ? *at
           : bits == 16 ? (int16_t)gi_big16(at)
           : bits == 32 ? (int32_t)gi_big32(at)
                        : (int64_t)((uint64_t)gi_big32(at) << 32 | gi_big32(at + 4));
}

static double stored_float(const unsigned char *at, int bits)
{
    union {
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
    } v;
    if (bits == -32) {
        v.u32 = gi_big32(at);
        return (double)v.f32;
    }
    v.u64 = (uint64_t)gi_big32(at) << 32 | gi_big32(at + 4);
    return v.f64;
}

/* Returns the value of a sample as a float, and notes its rounding. */
static float value_of(const struct gi_fits_unit *unit, const unsigned char *at,
                      struct gi_rounding *rounding)
{
    if (unit->bits < 0) {
        double v = stored_float(at, unit->bits);
        return unit->bits == -32 && unit->scale == 1 && unit->zero == 0
                   ? (float)v
                   : gi_rounding_note(rounding, unit->zero + unit->scale * v);
    }
    int64_t stored = stored_integer(at, unit->bits), v;
    const double two63 = 9223372036854775808.0;
    if (unit->scale == 1 && unit->zero == two63 && unit->bits == 64) {
        uint64_t u = (uint64_t)stored ^ UINT64_C(1) << 63;
        gi_rounding_note_integer(rounding, u);
        return (float)u;
    }
    bool whole = unit->scale == 1 && fabs(unit->zero) < 0x1p62 && unit->zero == rint(unit->zero);
    if (!whole || __builtin_add_overflow(stored, (int64_t)unit->zero, &v))
        return gi_rounding_note(rounding, unit->zero + unit->scale * (double)stored);
    gi_rounding_note_integer(rounding, v < 0 ? -(uint64_t)v : (uint64_t)v);
    return (float)v;
}

static enum gi_type type_of(const struct gi_fits_unit *unit)
{
    if (unit->scale == 1 && unit->bits == 8 && unit->zero == 0)
        return GI_U8;
    return unit->scale == 1 && unit->bits == 16 && unit->zero == 32768 ? GI_U16 : GI_F32;
}

static void read_row(struct gi_decode *decode, const struct gi_fits_unit *unit, void *row, size_t c,
                     const unsigned char *in)
{
    const struct gi_image *image = decode->image;
    size_t size = (size_t)abs(unit->bits) / 8, channels = (size_t)image->channels;
    for (size_t x = 0; x < (size_t)image->width; x++, in += size)
        if (image->type == GI_U8)
            ((uint8_t *)row)[x * channels + c] = *in;
        else if (image->type == GI_U16)
            ((uint16_t *)row)[x * channels + c] = (uint16_t)(gi_big16(in) ^ 0x8000);
        else
            ((float *)row)[x * channels + c] = value_of(unit, in, &decode->rounding);
}

static enum gi_status read_samples(struct gi_decode *decode, const struct gi_fits_unit *unit,
                                   struct gi_err *err)
{
    const struct gi_image *image = decode->image;
    const struct gi_window part =
        gi_decode_part(decode, (uint32_t)unit->axes[0], (uint32_t)unit->axes[1]);
    size_t size = (size_t)abs(unit->bits) / 8, row_nbytes = (size_t)unit->axes[0] * size;
    uint64_t height = unit->axes[1];
    uint64_t have = unit->data < decode->nbytes ? (decode->nbytes - unit->data) / row_nbytes : 0;
    uint64_t others = height * (unit->axes[2] - 1);
    if (have < others + height) {
        enum gi_status status = gi_decode_damaged_at(
            decode, err, have > others ? (int)(have - others) : 0, "ends early");
        if (status)
            return status;
    }
    for (int y = 0; y < part.height; y++) {
        uint64_t above = (uint64_t)(part.y + y);
        for (size_t c = 0; c < (size_t)image->channels; c++) {
            uint64_t stored = c * height + (unit->top_down ? above : height - 1 - above);
            if (stored < have)
                read_row(decode, unit, gi_row(image, y), c,
                         decode->bytes + unit->data + stored * row_nbytes + (size_t)part.x * size);
        }
    }
    return GI_OK;
}

static enum gi_status decode_fits(struct gi_decode *decode, struct gi_err *err)
{
    struct gi_fits_unit unit = {0};
    enum gi_status status = gi_fits_find(&unit, decode, err);
    if (status)
        return status;
    int bits = unit.bits;
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != -32 && bits != -64)
        return gi_fail(err, GI_E_FORMAT, "has a damaged header: BITPIX %d", bits);
    if (unit.axes[2] > GI_BANDS_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "has %llu planes: want at most %d",
                       (unsigned long long)unit.axes[2], GI_BANDS_MAX);
    enum gi_type type = type_of(&unit);
    int planes = (int)unit.axes[2];
    decode->info->bits = abs(bits);
    decode->info->integers = type == GI_F32 && bits > 0 && unit.scale == 1;
    decode->info->detail = decode->info->integers ? "integers read as float" : "";
    if (planes != 1 && planes != 3)
        decode->info->bands = (struct gi_bands){planes, 1, -1};
    add_cards(decode, &unit);
    const struct gi_nodata blank = {true, unit.zero + unit.scale * (double)unit.blank, type};
    if (unit.has_blank && bits > 0)
        gi_nodata_name(decode->metadata, &blank);
    gi_decode_window(decode, unit.axes[0], unit.axes[1]);
    status = gi_decode_alloc(decode, unit.axes[0], unit.axes[1], planes, type, err);
    return status || decode->options->header_only ? status : read_samples(decode, &unit, err);
}

static bool probe_fits(const unsigned char *bytes, size_t nbytes)
{
    return nbytes >= 10 && memcmp(bytes, "SIMPLE  = ", 10) == 0;
}

/* ---- writing ---- */

/* Reads the value of pixels without data as an integer that the file stores. Returns false if there
 * is none. */
static bool blank_of(long long *blank, const struct gi_part *part, enum gi_type type)
{
    char text[64] = "", *end;
    memcpy(text, part->bytes, part->nbytes < sizeof text ? part->nbytes : sizeof text - 1);
    double v = strtod(text, &end);
    *blank = v >= 0 && v <= 65535 ? (long long)v - (type == GI_U16 ? 32768 : 0) : 0;
    return end != text && type != GI_F32 && v >= 0 && v == rint(v) &&
           v <= (double)gi_type_full_scale(type);
}

/* Returns whether the part has cards that hold for an image of this height. */
static bool cards_hold(const struct gi_part *part, const struct gi_image *written)
{
    return part->kind == GI_PART_FITS_CARDS &&
           (part->code != SKY || part->place == written->height);
}

static enum gi_holding fits_holds(const struct gi_part *part, const struct gi_image *written)
{
    long long blank;
    bool nodata = part->kind == GI_PART_GEO && part->code == NODATA && part->place == GI_TAG_ASCII;
    return cards_hold(part, written) || (nodata && blank_of(&blank, part, written->type))
               ? GI_HOLDS
               : GI_CANNOT_HOLD;
}

static enum gi_status put_number(struct gi_sink *sink, uint64_t *n, const char *key, long long v,
                                 struct gi_err *err)
{
    ++*n;
    return gi_sink_printf(sink, err, "%-8s= %20lld%50s", key, v, "");
}

static enum gi_status fill_block(struct gi_sink *sink, uint64_t nbytes, int byte,
                                 struct gi_err *err)
{
    unsigned char rest[GI_FITS_BLOCK];
    memset(rest, byte, sizeof rest);
    return gi_sink_write(sink, rest, (GI_FITS_BLOCK - nbytes % GI_FITS_BLOCK) % GI_FITS_BLOCK, err);
}

static enum gi_status put_head(struct gi_sink *sink, const struct gi_image *image,
                               const struct gi_metadata *metadata, struct gi_err *err)
{
    const struct gi_parts none = {0}, *parts = metadata ? &metadata->parts : &none;
    const struct gi_part *nodata = gi_parts_find(parts, GI_PART_GEO, NODATA);
    long long blank;
    uint64_t n = 1;
    int naxes = image->channels > 1 ? 3 : 2;
    enum gi_status status = gi_sink_printf(sink, err, "%-8s= %20s%50s", "SIMPLE", "T", "");
    const struct {
        const char *key;
        long long value;
        bool there;
    } numbers[] = {
        {"BITPIX",
         image->type == GI_F32   ? -32
         : image->type == GI_U16 ? 16
                                 : 8,
         true},
        {"NAXIS", naxes, true},
        {"NAXIS1", image->width, true},
        {"NAXIS2", image->height, true},
        {"NAXIS3", image->channels, naxes == 3},
        {"BZERO", 32768, image->type == GI_U16},
        {"BSCALE", 1, image->type == GI_U16},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !status; i++)
        if (numbers[i].there)
            status = put_number(sink, &n, numbers[i].key, numbers[i].value, err);
    if (!status && nodata && nodata->place == GI_TAG_ASCII && blank_of(&blank, nodata, image->type))
        status = put_number(sink, &n, "BLANK", blank, err);
    for (uint32_t code = 0; code <= SKY && !status; code++) {
        const struct gi_part *cards = gi_parts_find(parts, GI_PART_FITS_CARDS, code);
        if (!cards || !cards_hold(cards, image))
            continue;
        status = gi_sink_write(sink, cards->bytes, cards->nbytes, err);
        n += cards->nbytes / GI_FITS_CARD;
    }
    if (!status)
        status = gi_sink_printf(sink, err, "%-80s", "END");
    return status ? status : fill_block(sink, (n + 1) * GI_FITS_CARD, ' ', err);
}

static void make_row(unsigned char *out, const struct gi_image *image, int y, size_t c)
{
    size_t channels = (size_t)image->channels;
    const void *row = gi_row(image, y);
    for (size_t i = c; i < gi_row_samples(image); i += channels)
        if (image->type == GI_U8) {
            *out++ = ((const uint8_t *)row)[i];
        } else if (image->type == GI_U16) {
            gi_put_big16(out, (uint16_t)(((const uint16_t *)row)[i] ^ 0x8000));
            out += 2;
        } else {
            uint32_t v;
            memcpy(&v, (const float *)row + i, sizeof v);
            gi_put_big32(out, v);
            out += 4;
        }
}

static enum gi_status encode_fits(struct gi_sink *sink, const struct gi_image *image,
                                  const struct gi_metadata *metadata,
                                  const struct gi_save_options *options, struct gi_err *err)
{
    size_t row_nbytes = (size_t)image->width * gi_type_nbytes(image->type);
    unsigned char *row = malloc(row_nbytes);
    enum gi_status status =
        row ? put_head(sink, image, metadata, err) : gi_fail(err, GI_E_MEMORY, "out of memory");
    for (int c = 0; c < image->channels; c++)
        for (int y = image->height; y-- > 0 && !status;) {
            make_row(row, image, y, (size_t)c);
            status = gi_sink_write(sink, row, row_nbytes, err);
        }
    free(row);
    uint64_t nbytes = (uint64_t)row_nbytes * (uint64_t)image->height * (uint64_t)image->channels;
    return status ? status : fill_block(sink, nbytes, 0, err);
}

const struct gi_format gi_format_fits = {
    .info = {.name = "fits",
             .suffixes = "fits fit fts",
             .summary = "Flexible Image Transport System",
             GI_READS_AND_WRITES,
             GI_HOLDS_INTEGERS,
             .f32 = true},
    .probe = probe_fits,
    .decode = decode_fits,
    .encode = encode_fits,
    .list = gi_fits_list,
    .holds = fits_holds,
    .bands = true,
    .raw = true,
    GI_HOLDS_GRAY_AND_RGB,
};
