/* Files that gpuimg can't read or write, and the programs that convert them.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"

#include <stdio.h>
#include <string.h>

#define RAW                                                                                        \
    "is a camera's raw file: develop it first, as with dcraw -T IN or darktable-cli IN out.tif"
#define VIDEO(suffix)                                                                              \
    "is a video: pipe its frames, as with ffmpeg -i IN." suffix " -f yuv4mpegpipe - | gpuimg"
#define PACKED(by) "is a compressed file: unpack it first, as with " by

/* Kinds of files by the bytes that begin them, each with the command of another program that
 * converts them. Files of ISO/IEC 14496-12 begin with the length of a box, "ftyp" and the brand of
 * the format. */
static const struct {
    size_t at; /* of `bytes` in the file */
    size_t n;
    const char *bytes, *is;
} others[] = {
#define STARTS(at, bytes, is)                                                                      \
    {                                                                                              \
        at, sizeof bytes - 1, bytes, is                                                            \
    }
#define CONVERT(at, bytes, is, by) STARTS(at, bytes, "is " is ": convert it first, as with " by)
    STARTS(0, "%PDF",
           "is a PDF document: convert its pages first, as with pdftoppm -png IN.pdf page"),
    CONVERT(0, "%!PS", "a PostScript document", "gs -sDEVICE=png16m -o out.png IN.ps"),
    CONVERT(0, "\xc5\xd0\xd3\xc6", "a PostScript document", "gs -sDEVICE=png16m -o out.png IN.eps"),
    STARTS(4, "ftypcrx ", RAW),
    STARTS(4, "ftyp", VIDEO("mp4")),
    STARTS(0, "\x1a\x45\xdf\xa3", VIDEO("mkv")),
    STARTS(8, "AVI LIST", VIDEO("avi")),
    CONVERT(0, "II\xbc", "a JPEG XR image", "JxrDecApp -i IN.jxr -o out.tif"),
    CONVERT(128, "DICM", "a DICOM file", "dcmj2pnm +on2 IN.dcm out.png"),
    STARTS(344, "n+1\0",
           "is a NIfTI volume: write its slices first, as with med2image -i IN.nii -o slice.png"),
    STARTS(0, "\x89HDF\r\n\x1a\n",
           "is an HDF5 file: write its arrays as .npy first, as by h5py and numpy.save()"),
    CONVERT(0, "CDF\1", "a NetCDF file", "gdal_translate IN.nc out.tif"),
    CONVERT(0, "CDF\2", "a NetCDF file", "gdal_translate IN.nc out.tif"),
    CONVERT(0, "8BPS", "a Photoshop document", "ImageMagick's magick 'IN.psd[0]' out.png"),
    CONVERT(0, "gimp xcf", "a GIMP document", "xcf2png IN.xcf -o out.png"),
    CONVERT(0, "DDS ", "a DDS texture", "ImageMagick's magick IN.dds out.png"),
    CONVERT(0, "\xabKTX ", "a KTX texture", "ktx extract IN.ktx2 out.png"),
    CONVERT(0, "qoif", "a QOI image", "ffmpeg -i IN.qoi out.png"),
    CONVERT(0, "FLIF", "a FLIF image", "flif -d IN.flif out.png"),
    CONVERT(0, "BPG\xfb", "a BPG image", "bpgdec -o out.png IN.bpg"),
    CONVERT(0, "\x8aMNG\r\n\x1a\n", "an MNG animation", "ImageMagick's magick IN.mng out.png"),
    CONVERT(0, "\x8bJNG\r\n\x1a\n", "a JNG image", "ImageMagick's magick IN.jng out.png"),
    CONVERT(0, "SDPX", "a DPX image", "oiiotool IN.dpx -o out.tif"),
    CONVERT(0, "XPDS", "a DPX image", "oiiotool IN.dpx -o out.tif"),
    CONVERT(0, "\x80\x2a\x5f\xd7", "a Cineon image", "oiiotool IN.cin -o out.tif"),
    CONVERT(0, "\x59\xa6\x6a\x95", "a Sun raster file", "rasttopnm IN.ras >out.ppm"),
    CONVERT(0, "\x01\xda\0\1", "an SGI image", "sgitopnm IN.sgi >out.ppm"),
    CONVERT(0, "\x01\xda\1\1", "an SGI image", "sgitopnm IN.sgi >out.ppm"),
    CONVERT(0, "\x01\xda\0\2", "an SGI image", "sgitopnm IN.sgi >out.ppm"),
    CONVERT(0, "\x01\xda\1\2", "an SGI image", "sgitopnm IN.sgi >out.ppm"),
    CONVERT(0, "\x0a\x05\x01", "a PCX image", "pcxtoppm IN.pcx >out.ppm"),
    CONVERT(0, "/* XPM */", "an XPM image", "xpmtoppm IN.xpm >out.ppm"),
    CONVERT(0, "\xd7\xcd\xc6\x9a", "a Windows metafile", "inkscape -o out.png IN.wmf"),
    CONVERT(40, " EMF", "a Windows metafile", "inkscape -o out.png IN.emf"),
    STARTS(
        0, "AT&TFORM",
        "is a DjVu document: convert its pages first, as with ddjvu -format=tiff IN.djvu out.tif"),
    CONVERT(0, "\xb6\xa6\xf2\x08", "an image of libvips", "vips copy IN.v out.tif"),
    CONVERT(0, "\x08\xf2\xa6\xb6", "an image of libvips", "vips copy IN.v out.tif"),
    CONVERT(0, "ZISRAWFILE", "a microscope's CZI file", "bfconvert IN.czi out.ome.tif"),
    CONVERT(0, "\xda\xce\xbe\x0a", "a microscope's ND2 file", "bfconvert IN.nd2 out.ome.tif"),
    STARTS(8, "CR\2\0", RAW), /* Canon's CR2, a TIFF whose first page is a preview */
    STARTS(0, "II\x1a\0\0\0HEAPCCDR", RAW),
    STARTS(0, "IIRO", RAW),
    STARTS(0, "IIRS", RAW),
    STARTS(0, "MMOR", RAW),
    STARTS(0, "IIU\0", RAW),
    STARTS(0, "FUJIFILMCCD-RAW", RAW),
    STARTS(0, "FOVb", RAW),
    STARTS(0, "\0MRM", RAW),
    STARTS(0, "PK\3\4", "is a ZIP archive: unpack it first, as with unzip IN.zip"),
    STARTS(257, "ustar", "is a tar: want --tar, as in gpuimg blur --tar IN.tar OUT.tar"),
    STARTS(0, "\x1f\x8b", PACKED("gunzip IN.gz")),
    STARTS(0, "BZh", PACKED("bunzip2 IN.bz2")),
    STARTS(0, "\xfd\x37zXZ\0", PACKED("unxz IN.xz")),
    STARTS(0, "\x28\xb5\x2f\xfd", PACKED("unzstd IN.zst")),
#undef CONVERT
#undef STARTS
};

/* Returns whether the bytes begin a cursor of Windows, whose four bytes are not enough
 * to tell. Its list has 1 to 255 images here, and a byte of the first entry is 0. */
static bool is_cursor(const unsigned char *bytes, size_t nbytes)
{
    return nbytes >= 22 && !bytes[0] && !bytes[1] && bytes[2] == 2 && !bytes[3] && bytes[4] &&
           !bytes[5] && !bytes[9];
}

/* Returns whether the text has the element `name`, as in "<svg", near its start. */
static bool has_element(const unsigned char *bytes, size_t nbytes, const char *name)
{
    enum { NEAR = 4096 };
    char text[NEAR + 1];
    size_t n = nbytes < NEAR ? nbytes : NEAR, at = 0;
    while (at < n && (strchr(" \t\r\n", bytes[at]) || (at < 3 && bytes[at] >= 0xbb))) /* a BOM */
        at++;
    if (at == n || bytes[at] != '<')
        return false;
    memcpy(text, bytes + at, n - at);
    text[n - at] = 0;
    return strcasestr(text, name) != NULL;
}

const char *gi_other_file(const unsigned char *bytes, size_t nbytes)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (nbytes >= others[i].at + others[i].n &&
            !memcmp(bytes + others[i].at, others[i].bytes, others[i].n))
            return others[i].is;
    if (is_cursor(bytes, nbytes))
        return "is a cursor of Windows: take its images out first, as with icotool -x IN.ico";
    if (has_element(bytes, nbytes, "<svg"))
        return "is an SVG drawing: convert it first, as with rsvg-convert -o out.png IN.svg";
    if (has_element(bytes, nbytes, "<html"))
        return "is an HTML page, perhaps the error of a server";
    return NULL;
}

/* Suffixes of files that other programs make of images, and how. */
static const struct {
    const char *suffixes, *by;
} other_writers[] = {
    {" mp4 mov mkv avi webm ",
     "gpuimg writes Y4M, which ffmpeg turns into it, as with gpuimg ... - | "
     "ffmpeg -i - OUT.mp4"},
    {" pdf ", "img2pdf makes it of PNG, JPEG or TIFF files"},
    {" tar tgz ", "--tar is for tars of images, as in gpuimg blur --tar IN.tar OUT.tar"},
    {" dpx cin ", "write a TIFF, and convert it by oiiotool"},
    {" jp2 j2k jpx jpf jpc j2c ", "write a PNG or TIFF, and convert it by opj_compress"},
    {" jxr wdp hdp ", "write a TIFF, and convert it by JxrEncApp"},
    {" dcm dicom ", "write a JPEG or BMP, and convert it by img2dcm"},
    {" nii ", "write a .npy, and convert it by nibabel"},
    {" h5 hdf5 nc mat ", "write a .npy, and convert it by numpy and h5py"},
    {" npz zip ", "write files of their own, and pack them"},
    {" cur psd dds qoi ", "write a PNG, and convert it by ImageMagick"},
    {" xcf ", "write a PNG or TIFF, and open it in GIMP"},
    {" svg eps ps ",
     "write a PNG, and embed or trace it by another program, as by inkscape or potrace"},
    {" dng cr2 cr3 nef arw orf rw2 raf pef ", "raws come from cameras: write a TIFF of 16 bits"},
};

const char *gi_other_writer(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    char word[16] = "";
    if (dot && (!slash || dot > slash))
        snprintf(word, sizeof word, " %s ", dot + 1);
    for (size_t i = 0; *word && i < sizeof other_writers / sizeof *other_writers; i++)
        if (strcasestr(other_writers[i].suffixes, word))
            return other_writers[i].by;
    return NULL;
}
