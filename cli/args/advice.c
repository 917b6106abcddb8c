/* Sentences for unknown commands and options.
 * SPDX-License-Identifier: MIT */
#include "cli/args/advice.h"

#include <stddef.h>

static const char no_dry_run[] =
    "there is no dry run, but options and the names of outputs are checked before any work, and "
    "--no-clobber replaces no file";
static const char outlines[] =
    "gpuimg contours IN OUT.svg writes outlines as polygons, gpuimg run 'threshold | gradient' IN "
    "OUT draws them, and gpuimg extract IN --overlay OUT draws boxes around objects";
static const char time_of_batch[] =
    "to estimate the time of a batch run it on about 100 files: its last line "
    "has the images per second";

static const char no_panorama[] = "gpuimg mosaic stitches images whose positions are known, and "
                                  "montage --rows 1 --gap 0 places images side by side";
static const char curve[] = "gpuimg calc 'full * (a / full) ^ 0.8' IN OUT applies a formula, lut a "
                            "table, and levels sets black, white and midtones";
static const char vignettes[] = "gpuimg calc 'a * (1 - hypot(x / width - 0.5, y / height - 0.5) ^ "
                                "2)' IN OUT darkens the corners";
static const char pixels[] = "gpuimg run 'resize --size 10% --filter box | resize --size 1000% "
                             "--filter nearest' IN OUT makes squares of 10 x 10 pixels";
static const char solarized[] = "gpuimg run 'absdiff --value 127 | invert | subtract --value 128' "
                                "IN OUT inverts the upper half of 8 bits";
static const char posters[] =
    "gpuimg run 'divide --value 63.75 | multiply --value 63.75' IN OUT leaves 5 levels per channel "
    "of 8 bits, and gpuimg quantize reduces the number of colours";
static const char polaroids[] =
    "gpuimg run 'pad --margins 20,20,20,80 --border-value white | rotate --angle 5 --expand "
    "--border-value white' IN OUT makes a frame and tilts it";
static const char sketches[] =
    "gpuimg run 'convert --gray | edges | invert' IN OUT draws dark lines on white";
static const char paintings[] = "gpuimg mode --k 9 IN OUT looks as if it were painted in oil";
static const char embossed[] = "gpuimg convolve --kernel '-2 -1 0; -1 1 1; 0 1 2' IN OUT embosses";
static const char motion[] =
    "gpuimg convolve --kernel '9x1: 1 1 1 1 1 1 1 1 1' --normalize IN OUT blurs along rows";
static const char warps[] =
    "gpuimg remap --map MAP moves each pixel to where a map of coordinates says";
static const char tints[] =
    "gpuimg blend --value '#704214' --amount 0.3 IN OUT tints, and color --sepia makes brown tones";
static const char exposures[] =
    "gpuimg multiply --value 2 --linear IN OUT brightens by one stop, and so does gpuimg tonemap "
    "--exposure 1 when it shows an HDR image";
static const char no_recognition[] =
    "nothing is recognised in images, neither text nor codes nor faces; after gpuimg run 'convert "
    "--gray | local-threshold' IN OUT programs such as tesseract and zbarimg read more";
static const char no_network[] =
    "there are no neural networks; gpuimg resize --size 200% IN OUT enlarges by a Lanczos filter";
static const char no_subject[] =
    "subjects are not recognised; gpuimg mask --with MASK removes a background that a mask names, "
    "and gpuimg background one that is uneven";
static const char no_deblur[] =
    "blur can't be reversed; gpuimg sharpen IN OUT raises the contrast of edges";
static const char no_fourier[] = "there is no Fourier transform yet";
static const char no_descriptors[] =
    "key points have no descriptors; gpuimg corners IN finds corners by Harris, Shi-Tomasi or FAST";
static const char no_inpainting[] =
    "missing parts are not painted in; gpuimg median and gpuimg close remove small ones";
static const char no_drawn[] =
    "no images are drawn from nothing; gpuimg pad, blend and composite add to one";
static const char no_noise[] = "noise is not added; gpuimg nlmeans IN OUT removes it";
static const char corners_round[] = "gpuimg mask --with MASK IN OUT rounds corners by a mask";
static const char no_names[] =
    "files are not renamed; gpuimg convert --out '{date}/{name}' writes copies named by their "
    "dates, and gpuimg hash and duplicates compare them";
static const char no_display[] = "gpuimg shows nothing on a screen: it writes files";
static const char no_watch[] = "folders are not watched; gpuimg help batch explains --resume, with "
                               "which a run takes only what is new";
static const char no_video[] = "gpuimg reads and writes Y4M, which ffmpeg makes of a video and "
                               "turns into one (gpuimg help batch)";
static const char no_pdf[] =
    "PDF and SVG are not read; pdftoppm -png and rsvg-convert make images of them";
static const char no_raw[] =
    "raw files of cameras are not read; dcraw -T and darktable-cli make TIFFs of them";
static const char no_key[] =
    "no colour becomes transparent; gpuimg mask --with MASK makes what a mask names transparent";
static const char no_retouch[] =
    "nothing is retouched by hand; gpuimg composite --with IMAGE lays an image over another";
static const char shadows[] = "a shadow takes two images: gpuimg composite --with IMAGE --mode "
                              "under lays one under the other";
static const char alphas[] =
    "gpuimg convert --background COLOUR removes alpha, and gpuimg channels takes and adds it";

/* In the order of the words. */
const struct gi_advice gi_command_advice_rows[] = {
    {"nlmeans", "add-noise", no_noise},
    {"nlmeans", "addnoise", no_noise},
    {"channels", "alpha", alphas},
    {"mask", "background-removal", no_subject},
    {"local-threshold", "barcode", no_recognition},
    {"contours", "boundary", outlines},
    {"edges", "cartoon", sketches},
    {"edges", "charcoal", sketches},
    {"pad", "checkerboard", no_drawn},
    {"mask", "chroma-key", no_key},
    {"mask", "chromakey", no_key},
    {"local-threshold", "classify", no_recognition},
    {"composite", "clone", no_retouch},
    {"blend", "colorize", tints},
    {"resize", "colorizer", no_network},
    {"blend", "colourize", tints},
    {"pad", "create", no_drawn},
    {"calc", "curve", curve},
    {"calc", "curves", curve},
    {"mask", "cutout", no_subject},
    {"sharpen", "deblur", no_deblur},
    {"sharpen", "deconvolution", no_deblur},
    {"sharpen", "deconvolve", no_deblur},
    {"local-threshold", "detect", no_recognition},
    {"convolve", "dft", no_fourier},
    {"remap", "displace", warps},
    {"convert", "display", no_display},
    {"remap", "distort", warps},
    {"convert", "dng", no_raw},
    {"composite", "drop-shadow", shadows},
    {"help batch", "dry-run", no_dry_run},
    {"convolve", "emboss", embossed},
    {"resize", "esrgan", no_network},
    {"help batch", "estimate", time_of_batch},
    {"multiply", "exposure", exposures},
    {"local-threshold", "face", no_recognition},
    {"local-threshold", "faces", no_recognition},
    {"corners", "features", no_descriptors},
    {"help batch", "ffmpeg", no_video},
    {"convolve", "fft", no_fourier},
    {"remap", "fisheye", warps},
    {"convolve", "fourier", no_fourier},
    {"pad", "generate", no_drawn},
    {"pad", "gradient-fill", no_drawn},
    {"nlmeans", "grain", no_noise},
    {"mask", "green-screen", no_key},
    {"mask", "greenscreen", no_key},
    {"convert", "gui", no_display},
    {"composite", "heal", no_retouch},
    {"convolve", "ifft", no_fourier},
    {"remap", "implode", warps},
    {"convert", "imshow", no_display},
    {"median", "inpaint", no_inpainting},
    {"corners", "keypoints", no_descriptors},
    {"remap", "liquify", warps},
    {"convolve", "motion-blur", motion},
    {"convolve", "motionblur", motion},
    {"help batch", "mp4", no_video},
    {"nlmeans", "noise", no_noise},
    {"local-threshold", "ocr", no_recognition},
    {"mode", "oil-paint", paintings},
    {"mode", "oilify", paintings},
    {"mode", "oilpaint", paintings},
    {"corners", "orb", no_descriptors},
    {"convert", "organize", no_names},
    {"contours", "outline", outlines},
    {"contours", "outlines", outlines},
    {"mode", "paint", paintings},
    {"montage", "panorama", no_panorama},
    {"convert", "pdf", no_pdf},
    {"edges", "pencil", sketches},
    {"resize", "pixelate", pixels},
    {"resize", "pixelize", pixels},
    {"resize", "pixellate", pixels},
    {"pad", "polaroid", polaroids},
    {"quantize", "posterise", posters},
    {"quantize", "posterize", posters},
    {"local-threshold", "qr", no_recognition},
    {"local-threshold", "qr-code", no_recognition},
    {"local-threshold", "qrcode", no_recognition},
    {"convert", "rasterize", no_pdf},
    {"convert", "raw", no_raw},
    {"composite", "redeye", no_retouch},
    {"mask", "rembg", no_subject},
    {"mask", "remove-background", no_subject},
    {"mask", "remove-bg", no_subject},
    {"mask", "removebg", no_subject},
    {"convert", "rename", no_names},
    {"composite", "retouch", no_retouch},
    {"remap", "ripple", warps},
    {"mask", "round-corners", corners_round},
    {"mask", "rounded-corners", corners_round},
    {"convert", "screenshot", no_display},
    {"composite", "shadow", shadows},
    {"convert", "show", no_display},
    {"corners", "sift", no_descriptors},
    {"edges", "sketch", sketches},
    {"absdiff", "solarise", solarized},
    {"absdiff", "solarize", solarized},
    {"pad", "solid", no_drawn},
    {"convert", "sort", no_names},
    {"mosaic", "stitch", no_panorama},
    {"mosaic", "stitching", no_panorama},
    {"resize", "super-resolution", no_network},
    {"resize", "superres", no_network},
    {"resize", "superresolution", no_network},
    {"convert", "svg", no_pdf},
    {"remap", "swirl", warps},
    {"blend", "tint", tints},
    {"channels", "transparency", alphas},
    {"channels", "transparent", alphas},
    {"help batch", "video", no_video},
    {"convert", "view", no_display},
    {"calc", "vignette", vignettes},
    {"resize", "waifu2x", no_network},
    {"help batch", "watch", no_watch},
    {"remap", "wave", warps},
    {NULL, NULL, NULL},
};

const struct gi_advice gi_option_advice_rows[] = {
    {"info", "blurhash", "gpuimg hash --method blurhash IN prints it"},
    {"info", "thumbhash", "gpuimg hash --method thumbhash IN prints it"},
    {"crop", "square",
     "gpuimg resize --size 512x512 --fill makes squares, and gpuimg crop --size 512x512 --gravity "
     "center cuts one out"},
    {"normalize", "amount", "gpuimg levels --black 3% --white 97% gives more contrast"},
    {"palette", "colors", "gpuimg run 'quantize --colors 5 | palette' IN finds the main colours"},
    {NULL, "dry-run", no_dry_run},
    {NULL, "band", "bands are chosen as x.tif[bands=3,2,1]"},
    {NULL, "bands", "bands are chosen as x.tif[bands=3,2,1]"},
    {NULL, "lossless",
     "gpuimg flip, rotate, transpose, crop and orient have it for JPEG, without a chain; WebP, "
     "HEIC, AVIF and JPEG XL are lossless at --quality 100"},
    {NULL, "page", "pages are chosen as x.tif[0-2] or x.tif[0-8..2]"},
    {NULL, "pages", "pages are chosen as x.tif[0-2] or x.tif[0-8..2]"},
    {0},
};
