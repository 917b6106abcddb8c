/* Makes OME-XML.
 * SPDX-License-Identifier: MIT */
#include "imgio/tiff/ome.h"

#include <stdlib.h>
#include <string.h>

#include "imgio/small.h"
#include "imgio/tiff/directory_write.h"

/* Returns the text as XML's character data in ASCII, because the tag is ASCII. Characters that XML
 * lacks become spaces, as do damaged ones. */
static char *escaped(const char *text)
{
    char *made = gi_small_alloc(sizeof "&#1114111;" * strlen(text) + 1), *to = made;
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        unsigned c = *p++, more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
        uint32_t v = c >= 0x80 ? c & (0x3fu >> more) : c;
        bool broken = c >= 0x80 && !more;
        for (; more && !broken; more--) {
            broken = (*p & 0xc0) != 0x80;
            v = broken ? v : v << 6 | (*p++ & 0x3f);
        }
        bool is = !broken && (v >= 0x20 || v == '\t' || v == '\n' || v == '\r') && v < 0x110000 &&
                  !(v >= 0xd800 && v < 0xe000) && v != 0xfffe && v != 0xffff;
        if (!is || (v < 0x80 && v != '&' && v != '<' && v != '>'))
            *to++ = is ? (char)v : ' ';
        else
            to += sprintf(to, "&#%u;", (unsigned)v);
    }
    *to = '\0';
    return made;
}

/* Returns the attributes of the size of a pixel, if the resolution has a unit. */
static char *physical_size(const struct gi_metadata *metadata)
{
    const double um_per_inch = 25400;
    if (metadata->no_unit || !(metadata->dpi_x > 0 && metadata->dpi_y > 0))
        return gi_small_copy("");
    return gi_small_format(" PhysicalSizeX=\"%.9g\" PhysicalSizeXUnit=\"&#181;m\""
                           " PhysicalSizeY=\"%.9g\" PhysicalSizeYUnit=\"&#181;m\"",
                           um_per_inch / metadata->dpi_x, um_per_inch / metadata->dpi_y);
}

char *gi_ome_text(const struct gi_image *shape, const struct gi_metadata *metadata)
{
    static const char *const types[] = {[GI_U8] = "uint8", [GI_U16] = "uint16", [GI_F32] = "float"};
    char *own = gi_tiff_description(metadata), *text = escaped(own);
    char *size = physical_size(metadata);
    bool big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    char *made = gi_small_format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\""
        " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\""
        " xsi:schemaLocation=\"http://www.openmicroscopy.org/Schemas/OME/2016-06"
        " http://www.openmicroscopy.org/Schemas/OME/2016-06/ome.xsd\" Creator=\"gpuimg\">\n"
        "<Image ID=\"Image:0\">%s%s%s\n"
        "<Pixels ID=\"Pixels:0\" DimensionOrder=\"XYCZT\" Type=\"%s\" BigEndian=\"%s\""
        " Interleaved=\"true\" SizeX=\"%d\" SizeY=\"%d\" SizeZ=\"1\" SizeC=\"%d\" SizeT=\"1\"%s>\n"
        "<Channel ID=\"Channel:0:0\" SamplesPerPixel=\"%d\"/>\n"
        "<TiffData IFD=\"0\" FirstZ=\"0\" FirstC=\"0\" FirstT=\"0\" PlaneCount=\"1\"/>\n"
        "</Pixels>\n"
        "</Image>\n"
        "</OME>",
        *text ? "<Description>" : "", text, *text ? "</Description>" : "", types[shape->type],
        big_endian ? "true" : "false", shape->width, shape->height, shape->channels, size,
        shape->channels);
    free(own);
    free(text);
    free(size);
    return made;
}
