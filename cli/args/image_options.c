/* The rows of the set "Input and output".
 * SPDX-License-Identifier: MIT */
#include "cli/args/image_files.h"

#include "filters/color/gray.h"

const struct gi_choice gi_depth_choices[] = {
    {"same", NULL, "the type of the result"},
    {"8", NULL, "whole numbers, 0 to 255"},
    {"16", NULL, "whole numbers, 0 to 65535"},
    {"float", NULL, "32-bit float, 0 to 1"},
    {"1", NULL, "one bit (1-bit, bilevel), for masks of black and white: png, tiff and pbm"},
    {0},
};

static const struct gi_choice work_choices[] = {
    {"same", NULL, "the type of the input file, or of --depth if that has more bits"},
    {"8", NULL, "whole numbers, 0 to 255"},
    {"16", NULL, "whole numbers, 0 to 65535"},
    {"float", NULL, "32-bit float, 0 to 1"},
    {0},
};

const struct gi_choice gi_compression_choices[] = {
    {"0", NULL, NULL},  {"1", NULL, NULL}, {"2", NULL, NULL},  {"3", NULL, NULL},
    {"4", NULL, NULL},  {"5", NULL, NULL}, {"6", NULL, NULL},  {"7", NULL, NULL},
    {"8", NULL, NULL},  {"9", NULL, NULL}, {"g4", NULL, NULL}, {"auto", NULL, NULL},
    {NULL, NULL, NULL},
};

static const struct gi_choice layout_choices[] = {
    {"hwc", NULL, "(height, width, channels)"},
    {"chw", NULL, "channels first: (channels, height, width)"},
    {0},
};

/* In the order of enum gi_subsampling. */
static const struct gi_choice subsampling_choices[] = {
    {"auto", NULL, "as --quality says"},
    {"keep", NULL, "that of an input that is a JPEG in colour, otherwise auto"},
    {"4:4:4", NULL, "colour at the full resolution"},
    {"4:2:2", NULL, "colour at half the width"},
    {"4:2:0", NULL, "colour at half the width and half the height"},
    {0},
};

/* In the order of enum gi_jpeg_use. */
static const struct gi_choice coding_choices[] = {
    {"auto", NULL, "as the input with --lossless, otherwise no"},
    {"yes", NULL, "every JPEG"},
    {"no", NULL, "no JPEG"},
    {0},
};

/* In the order of enum gi_palette_use. */
static const struct gi_choice palette_choices[] = {
    {"auto", NULL,
     "if the input has a palette or fewer than 8 bits per sample, or quantize is applied, and the "
     "result has at most 256 colours"},
    {"never", NULL, "8 or 16 bits for every sample"},
    {"always", NULL, "whatever the input has; other results are an error"},
    {0},
};

/* In the order of gi_save_color.intent. */
static const struct gi_choice intent_choices[] = {
    {"perceptual", NULL, "colours outside the target are fitted in, by the tables of the profile"},
    {"relative", NULL, "the others stay exact, relative to the white of the medium"},
    {"saturation", NULL, "vivid colours stay vivid"},
    {"absolute", NULL, "as relative, with the white of the medium as a colour"},
    {0},
};

/* In the order of enum gi_strip. */
static const struct gi_choice strip_choices[] = {
    {"no", NULL, "keep everything that the output format can hold"},
    {"all", NULL,
     "drop ICC profile, EXIF, IPTC, XMP, texts, resolution, a palette (its colours stay) and all "
     "other parts"},
    {"exif", NULL, "drop EXIF, and XMP, which repeats EXIF"},
    {"gps", NULL, "drop the location: in EXIF, IPTC, GeoTIFF, XMP and texts"},
    {0},
};

#define WORK_DEPTH                                                                                 \
    GI_OPTION("work-depth", CHOICE, struct gi_io_params, work_depth),                              \
        .default_text = "same", .choices = work_choices,                                           \
        .help = "Sample type in which the operation computes: the input is converted to it first"

#define IO_INPUT                                                                                   \
    {GI_OPTION("keep-orientation", FLAG, struct gi_io_params, encoding.keep_orientation),          \
     .help = "Do not turn images upright: pixels are processed as they are stored, and the "       \
             "output keeps the EXIF orientation, by which viewers turn it. Formats without EXIF "  \
             "lose it, as do HEIC and AVIF"},                                                      \
        {GI_OPTION("allow-partial", FLAG, struct gi_io_params, allow_partial),                     \
         .help =                                                                                   \
             "Use the readable part of a damaged file, with a warning; missing samples are 0. "    \
             "Without this option a damaged file is an error"},                                    \
        {GI_OPTION("gray", CHOICE, struct gi_io_params, gray),                                     \
         .also = "grey",                                                                           \
         .bare = "bt709",                                                                          \
         .default_text = "no",                                                                     \
         .choices = gi_gray_choices,                                                               \
         .help = "Convert colour to gray before the operation; --gray alone means --gray=bt709. "  \
                 "An ICC profile for colour is dropped"},                                          \
        {GI_OPTION("bands", TEXT, struct gi_io_params, bands.list), .metavar = "LIST",             \
         .help = "Use these bands of every input, counted from 1: 1 is gray, 3,2,1 is RGB, "       \
                 "1,2,3,a4 is RGB with band 4 as alpha, and 1-6 are six bands. Brackets on a "     \
                 "name, as in 'x.tif[bands=3,2,1]', do that for one file, and override this. "     \
                 "Images that options name have all bands"},                                       \
        {GI_OPTION("rgb", FLAG, struct gi_io_params, bands.rgb),                                   \
         .help = "Short for --bands 1,2,3: the first three bands are red, green and blue"},        \
        {GI_OPTION("layout", CHOICE, struct gi_io_params, encoding.layout), .default_text = "hwc", \
         .choices = layout_choices,                                                                \
         .help = "Order of the axes in .npy files: of the output, and of an input whose shape "    \
                 "allows both orders. In an input the axis of 1 to 4 is the channels, so that "    \
                 "(3, 480, 640) is RGB; if there is none, the shorter one of the first and the "   \
                 "last axis; and if both have 1 to 4 or are equally long, or with chw, this "      \
                 "option decides. gpuimg info and -v tell what was taken"},                        \
        {GI_OPTION("nodata", TEXT, struct gi_io_params, nodata), .metavar = "VALUE",               \
         .help = "Value of pixels without data, or none; by default GDAL_NODATA of a TIFF. "       \
                 "Filters, stats and histogram ignore them; stack, compare and other "             \
                 "measurements count them, with a warning. A filter that reaches data fills them " \
                 "from it, and the others keep the value. A result that happens to be the value "  \
                 "is taken for no data by the next command. In an image with alpha they become "   \
                 "transparent"},                                                                   \
        {GI_OPTION("quiet", FLAG, struct gi_io_params, quiet), .letter = 'q',                      \
         .help = "Print no warnings"},                                                             \
        {GI_OPTION("max-pixels", SIZE, struct gi_io_params, limits.max_pixels),                    \
         .default_text = "256Mi",                                                                  \
         .min = 1,                                                                                 \
         .max = 4294967294.0,                                                                      \
         .unit = "pixels",                                                                         \
         .help =                                                                                   \
             "Refuse images and results with more pixels, with two exceptions: an image whose "    \
             "file has at least half as many bytes as its samples, and a result that has no "      \
             "more pixels than the input"},                                                        \
    {                                                                                              \
        GI_OPTION("max-bytes", SIZE, struct gi_io_params, limits.max_bytes),                       \
            .default_text = "64Gi", .min = 1, .max = 1e15, .unit = "bytes",                        \
            .help = "Refuse images and results whose samples take more bytes, and longer input "   \
                    "from a pipe"                                                                  \
    }

const struct gi_option gi_input_options[] = {{WORK_DEPTH, .also = "depth"}, IO_INPUT, {0}};

const struct gi_option gi_io_options[] = {
    {GI_OPTION("format", TEXT, struct gi_io_params, format), .metavar = "NAME",
     .help = "Format of the output, for example png, whatever its suffix is; without this option "
             "the suffix or a prefix as in png:- decides. gpuimg list has the names"},
    {GI_OPTION("quality", INT, struct gi_io_params, encoding.quality), .zero = "keep",
     .default_text = "keep", .min = 1, .max = 100,
     .help =
         "Quality of JPEG, WebP, HEIC, AVIF and JPEG XL. keep: a JPEG that is made of a JPEG has "
         "the "
         "quantization tables and the chroma subsampling of its input, as they are stored (also "
         "if the image is turned), and a gray one that is made of a colour one the table of the "
         "luma; quality 90 in all other cases: other formats, colour made of "
         "gray, CMYK, and one image of several. Below 90, JPEG, HEIC and AVIF have chroma "
         "subsampling 4:2:0 "
         "(colour at half the resolution), and from 90 on 4:4:4 (no subsampling); at 100, WebP, "
         "HEIC, AVIF and JPEG XL are lossless"},
    {GI_OPTION("subsampling", CHOICE, struct gi_io_params, encoding.jpeg.subsampling),
     .default_text = "auto", .choices = subsampling_choices, .metavar = "RATIO",
     .help = "Chroma subsampling of JPEG"},
    {GI_OPTION("max-file-size", SIZE, struct gi_io_params, encoding.max_file_size), .min = 1,
     .max = 1e15, .unit = "bytes",
     .help = "Write a JPEG, WebP, HEIC, AVIF or JPEG XL with the highest quality at which the "
             "file, with its metadata and its gain map, "
             "has at most this size; --quality N limits the quality. It is an error if quality 1 "
             "is too large. The image is encoded up to 8 times, on the CPU"},
    {GI_OPTION("target-ssimulacra2", REAL, struct gi_io_params, encoding.target.ssimulacra2),
     .min = 0, .max = 100, .metavar = "SCORE",
     .help = "Write a JPEG, WebP, HEIC, AVIF or JPEG XL with the lowest quality at which the image "
             "that is read back has at least this score of SSIMULACRA 2 (gpuimg help compare): 90 "
             "looks like the original, 70 is high quality. The next lower quality does not reach "
             "it. --quality N limits the quality. It is "
             "an error if no quality reaches the score. At most 8 qualities are tried, of a "
             "photograph about 4. The qualities of a JPEG are tried where --device says, if the "
             "command has this option, other files on the CPU"},
    {GI_OPTION("target-ssim", REAL, struct gi_io_params, encoding.target.ssim), .min = 0, .max = 1,
     .metavar = "SSIM", .help = "The same for a structural similarity, such as 0.98"},
    {GI_OPTION("progressive", CHOICE, struct gi_io_params, encoding.jpeg.progressive),
     .bare = "yes", .default_text = "auto", .choices = coding_choices, .metavar = "WHEN",
     .help = "Write a progressive JPEG, which viewers can show before it is complete. The "
             "samples are the same. One thread encodes it, on the CPU. --progressive alone means "
             "--progressive=yes"},
    {GI_OPTION("optimize", CHOICE, struct gi_io_params, encoding.jpeg.optimize), .bare = "yes",
     .default_text = "auto", .choices = coding_choices, .metavar = "WHEN",
     .help =
         "Compute the Huffman tables of a JPEG for the image, as --progressive always does. "
         "The samples are the same in a smaller file. One thread encodes it, on the CPU. "
         "--optimize alone means --optimize=yes, and no means the tables of the standard (ITU-T "
         "T.81, Annex K)"},
    {GI_OPTION("palette", CHOICE, struct gi_io_params, encoding.palette), .default_text = "auto",
     .choices = palette_choices, .metavar = "WHEN",
     .help = "Write a PNG with a palette of 2 to 256 colours, or a gray one with 1, 2 or 4 bits. "
             "Pixels that are read back are the same. The palette of the input, with its order, "
             "unused entries and transparency, stays if it has all colours of the result, unless "
             "quantize is applied"},
    GI_COMPRESSION_OPTION(struct gi_io_params, encoding.compression),
    {GI_OPTION("dpi", REAL, struct gi_io_params, encoding.dpi), .min = 1, .max = 100000,
     .unit = "pixels per inch",
     .help = "Resolution (pixel density) to store in PNG, JPEG, TIFF and BMP files; by default "
             "that of the "
             "input"},
    {GI_OPTION("delay", REAL, struct gi_io_params, encoding.timing.delay_ms), .max = 655350,
     .unit = "ms",
     .help = "How long a frame of an animated GIF, WebP or PNG is shown. By default the delays of "
             "the input stay, and frames made of other images get 100"},
    {GI_OPTION("loop", REAL, struct gi_io_params, encoding.timing.plays), .max = 65535,
     .help = "How often an animation is played; 0 is without end. By default as the input, and 0 "
             "for frames made of other images"},
    {GI_OPTION("depth", CHOICE, struct gi_io_params, depth), .also = "bits", .default_text = "same",
     .choices = gi_depth_choices,
     .help = "Sample type of the output: the result is converted to it last"},
    {WORK_DEPTH},
    {GI_OPTION("background", TEXT, struct gi_io_params, background), .metavar = "COLOUR",
     .help = "Flatten: composite the result over this colour (for example white, #rgb or "
             "#rrggbb) and drop alpha. Without this option alpha is kept; if the output format has "
             "no alpha, the result is composited over black"},
    {GI_OPTION("strip", CHOICE, struct gi_io_params, encoding.strip), .bare = "all",
     .default_text = "no", .choices = strip_choices,
     .help = "Drop metadata of the input; --strip alone means --strip=all. A JPEG is encoded again "
             "with --quality"},
    {GI_OPTION("linear", FLAG, struct gi_io_params, linear),
     .help = "Work in linear light: samples are decoded with the curves of the file's profile, "
             "or with that of sRGB, before the operation, and encoded again after it. Sample "
             "values in options are then in the range 0 to 1. Possible for operations that mix "
             "pixels, for chains and for --gray"},
    {GI_OPTION("profile", TEXT, struct gi_io_params, encoding.color.profile),
     .metavar = "NAME|FILE",
     .help = "Convert the colours of the result to this ICC profile, and store it: srgb, "
             "display-p3, adobe-rgb, gray (with the curve of sRGB) or the file of a profile for "
             "RGB or gray. The input's own profile tells its colours; without one it is taken as "
             "sRGB, with a warning unless nothing has to change. CMYK becomes sRGB by its profile "
             "when it is read. Alpha stays. lcms2 computes each pixel on its own at full "
             "precision, so that the bytes depend on its version only"},
    {GI_OPTION("intent", CHOICE, struct gi_io_params, encoding.color.intent),
     .default_text = "relative", .choices = intent_choices,
     .help = "For --profile: the rendering intent"},
    {GI_OPTION("no-black-point", FLAG, struct gi_io_params, encoding.color.no_black_point),
     .help = "For --profile: no black point compensation, which maps the darkest colour of one "
             "profile to that of the other"},
    {GI_OPTION("assign", TEXT, struct gi_io_params, encoding.color.assign), .metavar = "NAME|FILE",
     .help = "Take this ICC profile as that of the result, without changing samples, in place of "
             "the input's own; with --profile it is converted from there"},
    {GI_OPTION("no-clobber", FLAG, struct gi_io_params, no_clobber),
     .help = "Do not overwrite existing files: an output that exists is an error. A batch without "
             "--report skips the inputs of such outputs"},
    {GI_OPTION("durable", FLAG, struct gi_io_params, durable),
     .help = "Wait until the output is safe on the disk (fsync) before it gets its name"},
    {GI_OPTION("strict", FLAG, struct gi_io_params, strict),
     .help = "Fail, instead of printing a warning, if the output format cannot hold everything "
             "that the input has (gpuimg info lists its parts), a part is dropped or not read, "
             "64-bit floats or integers change when they are rounded to 32-bit floats, or an "
             "option has a surprising effect, such as a colour on a gray image"},
    IO_INPUT,
    {0},
};
