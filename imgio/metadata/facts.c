/* Finds what people ask photographs for in EXIF, IPTC, XMP and texts.
 * SPDX-License-Identifier: MIT */
#include "imgio/metadata/facts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/metadata/iptc.h"
#include "imgio/metadata/metadata.h"
#include "imgio/metadata/xmp.h"
#include "imgio/small.h"
#include "imgio/tiff/tags.h"

enum directory { IN_FIRST, IN_EXIF, IN_GPS };

enum { TAG_OFFSET_TIME = 0x9011 }; /* OffsetTimeOriginal */

/* Where a fact is (Exif 2.32, 4.6; IIM 4.2; "XMP Specification", part 2): a tag and its directory,
 * datasets of IPTC, properties of XMP and the keyword of a text. */
static const struct {
    const char *name;
    bool number;
    enum directory in;
    unsigned tag;
    int iptc;
    const char *xmp[3], *keyword;
} rows[GI_FACTS] = {
    [GI_FACT_MAKE] = {"make", .tag = 0x010f, .xmp = {"tiff:Make"}, .keyword = "Make"},
    [GI_FACT_MODEL] = {"model", .tag = 0x0110, .xmp = {"tiff:Model"}, .keyword = "Model"},
    [GI_FACT_LENS] = {"lens", false, IN_EXIF, 0xa434, 0, {"exifEX:LensModel", "aux:Lens"}, NULL},
    [GI_FACT_DATE] = {"date",
                      false,
                      IN_EXIF,
                      0x9003,
                      0,
                      {"exif:DateTimeOriginal", "photoshop:DateCreated", "xmp:CreateDate"},
                      NULL},
    [GI_FACT_EXPOSURE_TIME] =
        {"exposure_time", true, IN_EXIF, 0x829a, 0, {"exif:ExposureTime"}, NULL},
    [GI_FACT_F_NUMBER] = {"f_number", true, IN_EXIF, 0x829d, 0, {"exif:FNumber"}, NULL},
    [GI_FACT_ISO] = {"iso",
                     true,
                     IN_EXIF,
                     0x8827,
                     0,
                     {"exif:ISOSpeedRatings", "exifEX:PhotographicSensitivity"},
                     NULL},
    [GI_FACT_FOCAL_LENGTH] = {"focal_length", true, IN_EXIF, 0x920a, 0, {"exif:FocalLength"}, NULL},
    [GI_FACT_LATITUDE] = {"latitude", true, IN_GPS, 2, 0, {"exif:GPSLatitude"}, NULL},
    [GI_FACT_LONGITUDE] = {"longitude", true, IN_GPS, 4, 0, {"exif:GPSLongitude"}, NULL},
    [GI_FACT_ALTITUDE] = {"altitude", true, IN_GPS, 6, 0, {"exif:GPSAltitude"}, NULL},
    [GI_FACT_TITLE] = {"title", .iptc = GI_IPTC_TITLE, .xmp = {"dc:title"}, .keyword = "Title"},
    [GI_FACT_CAPTION] = {"caption", .tag = 0x010e, .iptc = GI_IPTC_CAPTION,
                         .xmp = {"dc:description"}, .keyword = "Description"},
    [GI_FACT_CREATOR] = {"creator", .tag = 0x013b, .iptc = GI_IPTC_CREATOR, .xmp = {"dc:creator"},
                         .keyword = "Author"},
    [GI_FACT_COPYRIGHT] = {"copyright", .tag = 0x8298, .iptc = GI_IPTC_COPYRIGHT,
                           .xmp = {"dc:rights"}, .keyword = "Copyright"},
    [GI_FACT_KEYWORDS] = {"keywords", .iptc = GI_IPTC_KEYWORD, .xmp = {"dc:subject"}},
};

const char *gi_fact_name(enum gi_fact fact)
{
    return rows[fact].name;
}

bool gi_fact_is_number(enum gi_fact fact)
{
    return rows[fact].number;
}

/* The EXIF block. */
struct exif {
    struct gi_tags tags;
    uint64_t directories[3]; /* by enum directory; 0 if there is none */
};

static struct exif open_exif(const struct gi_metadata *metadata)
{
    struct exif e;
    uint64_t first = gi_tags_open(&e.tags, metadata->exif, metadata->exif_nbytes);
    e.directories[IN_FIRST] = first;
    e.directories[IN_EXIF] = gi_tag_integer_of(&e.tags, first, GI_TAG_EXIF, 0);
    e.directories[IN_GPS] = gi_tag_integer_of(&e.tags, first, GI_TAG_GPS, 0);
    return e;
}

/* Returns the text of a tag without spaces at its ends, in UTF-8, or NULL. */
static char *exif_text(const struct exif *e, enum directory in, unsigned number)
{
    struct gi_tag tag;
    if (!gi_tag_find(&tag, &e->tags, e->directories[in], number) || tag.type != GI_TAG_ASCII)
        return NULL;
    const char *text = (const char *)e->tags.bytes + tag.at;
    size_t n = strnlen(text, tag.nbytes);
    for (; n && text[n - 1] == ' '; n--)
        ;
    for (; n && *text == ' '; n--)
        text++;
    return n ? gi_text_utf8(text, n) : NULL;
}

/* Returns the first letter of a tag of text, or 0. */
static char exif_letter(const struct exif *e, unsigned number)
{
    struct gi_tag tag;
    return gi_tag_find(&tag, &e->tags, e->directories[IN_GPS], number) && tag.nbytes
               ? (char)e->tags.bytes[tag.at]
               : '\0';
}

static double exif_number(const struct exif *e, enum gi_fact fact)
{
    struct gi_tag tag;
    if (!gi_tag_find(&tag, &e->tags, e->directories[rows[fact].in], rows[fact].tag))
        return NAN;
    double v = gi_tag_real(&e->tags, &tag, 0);
    char reference = rows[fact].in == IN_GPS ? exif_letter(e, rows[fact].tag - 1) : '\0';
    if (fact == GI_FACT_ALTITUDE)
        return reference == 1 ? -v : v;
    if (rows[fact].in != IN_GPS)
        return v;
    /* Degrees, minutes and seconds; of the last two, some writers leave out the second. */
    double minutes = gi_tag_real(&e->tags, &tag, 1), seconds = gi_tag_real(&e->tags, &tag, 2);
    v += (isfinite(minutes) ? minutes / 60 : 0) + (isfinite(seconds) ? seconds / 3600 : 0);
    return reference == 'S' || reference == 'W' ? -v : v;
}

/* Parses a number of XMP: "0.5", "1/250", or degrees such as "48,30.5N" and "48,30,30N". */
static double parse_number(const char *text)
{
    char *end;
    double v = strtod(text, &end), scale = 1;
    if (end == text)
        return NAN;
    if (*end == '/')
        v /= strtod(end + 1, &end);
    for (int i = 0; i < 2 && *end == ','; i++)
        v += strtod(end + 1, &end) / (scale *= 60);
    return *end == 'S' || *end == 'W' ? -v : v;
}

/* Brings "2026:11:25 10:15:00" into the form of ISO 8601. */
static void mend_date(char *date)
{
    if (strlen(date) >= 10 && date[4] == ':' && date[7] == ':')
        date[4] = date[7] = '-';
    if (strlen(date) > 10 && date[10] == ' ')
        date[10] = 'T';
}

/* Returns the date of EXIF with its time zone, or NULL if there is none, as in "    :  :  ". */
static char *exif_date(const struct exif *e)
{
    char *date = exif_text(e, IN_EXIF, rows[GI_FACT_DATE].tag);
    char *zone =
        date && *date >= '0' && *date <= '9' ? exif_text(e, IN_EXIF, TAG_OFFSET_TIME) : NULL;
    char *whole = date && *date >= '0' && *date <= '9'
                      ? gi_small_format("%s%.8s", date, zone ? zone : "")
                      : NULL;
    free(date);
    free(zone);
    return whole;
}

static char *metadata_text(const struct gi_metadata *metadata, const char *keyword)
{
    for (int i = 0; keyword && i < metadata->ntexts; i++)
        if (strcmp(metadata->texts[i].keyword, keyword) == 0 && *metadata->texts[i].text)
            return gi_small_copy(metadata->texts[i].text);
    return NULL;
}

/* Looks for a text of the fact outside of EXIF. The caller frees it. */
static char *other_text(const struct gi_metadata *metadata, enum gi_fact fact)
{
    const struct gi_part *iptc = gi_parts_find(&metadata->parts, GI_PART_IPTC, 0);
    char *text =
        rows[fact].iptc && iptc ? gi_iptc_text(iptc->bytes, iptc->nbytes, rows[fact].iptc) : NULL;
    char *own;
    for (int i = 0; i < 3 && !text && rows[fact].xmp[i]; i++)
        text = gi_xmp_text(metadata->xmp, metadata->xmp_nbytes, rows[fact].xmp[i]);
    if (!text)
        text = metadata_text(metadata, rows[fact].keyword);
    own = text ? gi_text_utf8(text, strlen(text)) : NULL;
    free(text);
    return own;
}

/* Makes a text fit for a line: without control characters, and not too long. */
static char *tidy(char *text)
{
    size_t n = text ? strlen(text) : 0;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < ' ')
            text[i] = ' ';
    if (n <= GI_FACT_NBYTES_MAX)
        return text;
    for (n = GI_FACT_NBYTES_MAX - 3; n && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
        ;
    memcpy(text + n, "...", 4);
    return text;
}

static char *find_text(const struct exif *e, const struct gi_metadata *metadata, enum gi_fact fact)
{
    char *text = fact == GI_FACT_DATE ? exif_date(e)
                 : rows[fact].tag     ? exif_text(e, rows[fact].in, rows[fact].tag)
                                      : NULL;
    text = text ? text : other_text(metadata, fact);
    if (fact == GI_FACT_DATE && text)
        mend_date(text);
    return tidy(text);
}

static double find_number(const struct exif *e, const struct gi_metadata *metadata,
                          enum gi_fact fact)
{
    double v = exif_number(e, fact);
    char *text = isfinite(v) ? NULL : other_text(metadata, fact);
    v = text ? parse_number(text) : v;
    free(text);
    return isfinite(v) ? v : NAN;
}

void gi_facts_find(struct gi_facts *facts, const struct gi_metadata *metadata)
{
    struct exif e = open_exif(metadata);
    for (int i = 0; i < GI_FACTS; i++) {
        facts->texts[i] = rows[i].number ? NULL : find_text(&e, metadata, i);
        facts->numbers[i] = rows[i].number ? find_number(&e, metadata, i) : NAN;
    }
}

void gi_facts_free(struct gi_facts *facts)
{
    for (int i = 0; i < GI_FACTS; i++)
        free(facts->texts[i]);
    *facts = (struct gi_facts){0};
}
