/* The topics of help: pages that belong to no single command.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/help/help.h"

#include <string.h>

/* The manuals. Each paragraph is a string, because compilers need not accept literals over 4095
 * bytes. */
static const char *const batch_paragraphs[] = {
    "INPUTS. With --out-dir, --out, --table or --files-from a command takes any number of inputs, "
    "and the operand OUTPUT is left out. gpuimg info and gpuimg stack always take any number of "
    "inputs. --files-from LIST adds the names in a file, one per line; with -0 the names end with "
    "a zero byte, as find -print0 writes them. With --recursive an input may be a folder: the "
    "image files in it and in the folders below it are taken, by their suffixes. Every fifth file "
    "of a numbered series is given by the stride of the shell's braces, as in "
    "frame-{001..100..5}.png, and every fifth file of any list by --shard 1/5.",
    "PATTERNS. --only '*.jpg,*.png' processes only the inputs whose names match, and --except "
    "'*.seg.png' leaves inputs out, also some of those that --only names. Both may be given "
    "several times. --for '*.seg.png' 'resize --size 256x256 --filter nearest' gives the inputs "
    "that match a chain of their own, so that masks are not interpolated like photographs; of "
    "several --for the first one that matches counts, and all other inputs take the chain of the "
    "command. The chain must end as that of the command does, in an image or in the same "
    "analysis. --only and --except are options of stack and pages too, and of compare, where they "
    "choose pairs by the name of the first image. In a pattern * stands for any text, also with a "
    "/, ? for one byte, [a-z] for one "
    "of these letters, \\, for a comma, and **/ at the beginning for any folder or none. A "
    "pattern without / is compared with the last part of the name. A pattern with / is compared "
    "with the whole name: with the path below the folder that --recursive searches, with a path "
    "as it was given, or with the name in the tar, each without ./ at its beginning. Upper and "
    "lower case are equal. Files that are not chosen are left out, as if they had not been named. "
    "Members of a tar that are not chosen are copied as they are, like members that are no "
    "images, and have no row in tables. If no name matches the patterns of an option, there is "
    "a warning, and if no file is left, an error.",
    "OUTPUTS. --out-dir DIR writes each result into the folder DIR, under the name of its input. "
    "With --recursive the folder tree is kept below DIR. --suffix gives the results another "
    "suffix, and so another format. --out gives a template for their names, for example "
    "'{dir}/{stem}_small.{ext}'. If two inputs would have the same output, or an output would "
    "replace an input, the command stops before any work. There is no dry run, but options and "
    "these names are checked before the first image. Existing files are replaced. "
    "To skip existing results use --no-clobber: inputs whose output exists are skipped, whatever "
    "it holds. --report FILE --resume, from the first run on, skips what the same command has "
    "done, and --no-clobber with --report makes an existing file an error. An output file appears "
    "whole or not at all. If an input "
    "has several outputs, as with gpuimg channels split, either all of them appear or none, and "
    "with --no-clobber "
    "one that exists is an error.",
    "TABLES. Commands that measure, such as stats, hash, extract and peaks, and chains that end in "
    "one of these, write tables. --table FILE writes one table for all inputs, with a "
    "column for the "
    "name of the input. Its format follows from the suffix: .csv, .jsonl (an object per input) "
    "or .npy (a structured array). --out-dir and --out write a table per input instead. gpuimg "
    "info writes a table too (--table). The commands integral and cumulative write an array per "
    "input: .npy, or .pfm with --suffix .pfm. gpuimg compare takes two folders and compares the "
    "files of the same name, or it compares the pairs of a list (--pairs). gpuimg stack makes "
    "one image of many.",
    "SPEED. While one image is decoded, others are computed and encoded, on all CPUs and on the "
    "GPUs that --device names, such as cuda:all or cuda:0,2. The first GPU that is open gets "
    "images while the others are opened. GPUs also decode sequential JPEGs of "
    "8 bits and encode JPEGs, with the bytes of libjpeg-turbo. They decode PNGs of 8 and 16 bits "
    "that are not interlaced, and encode PNGs with the default --compression. Each output has the "
    "same bytes as if its image had a command of its own. "
    "Tables are in the order of the inputs. --memory limits the memory of the images in progress. "
    "On a terminal a line shows the progress, the rates, and the stage that limits the speed; "
    "--progress prints this line if standard error is not a terminal. The last line says how many "
    "images were processed, and how many per second; --quiet removes it. To estimate how fast a "
    "batch will be, run it on about 100 of its files.",
    "FAILURES. If a file is bad, or --recursive cannot read a folder, the name is printed on "
    "standard error, the others are processed, and the exit status is 1. With --fail-fast the "
    "command stops at the first bad file. To retry, repeat a command that had --report FILE with "
    "--resume: it skips what is done and tries failed files again. If the machine failed, not a "
    "file (exit status 75), no --table is written, and an older table stays. If one of several "
    "GPUs "
    "can't be opened, the command fails. If images have started on another GPU by then, a warning "
    "is printed instead, and the batch goes on.",
    "EXIT STATUS. 0: everything is done. 1: a file failed. 2: the command line is wrong, and "
    "nothing was done. 75: the machine failed and not a file, for example because of a full "
    "disk, an I/O error, lack of memory, a lost device, or because the folder of an output, "
    "or that of temporary files (TMPDIR), is gone; the command may be tried again. 130 and 143: "
    "the command was stopped by SIGINT or "
    "SIGTERM, and finished the files in progress before it ended. The command compare differs: 1 "
    "means that a limit does not hold, or without limits that a pair differs, and 2 means any "
    "failure.",
    "REPORTS. --report FILE writes a file with a JSON object per line. --resume reads this file "
    "and skips the inputs that it names as finished, unless the size or the time of the input or "
    "of its output has changed.\n"
    "The first line describes the batch. Its fields are \"gpuimg\" (the version), \"chain\" (the "
    "operations), \"with\" (a hash of further images and files that the chain names), \"list\" "
    "(a hash of the names of all inputs), \"files\" (the number of inputs) and \"shard\".\n"
    "Then each input has a line when it is finished, with the fields \"input\", \"output\", "
    "\"status\" (\"done\", \"failed\" or \"passed\"), \"error\", \"width\", \"height\", "
    "\"channels\", \"type\", the sizes and times of both files, and \"ms\" (the milliseconds of "
    "each stage). An input with several results has the field \"outputs\" in place of "
    "\"output\". An input that needs a further image, such as a mask, has the field \"beside\", "
    "which names that image. Names that are not UTF-8 are repeated in the fields \"input_hex\" "
    "and \"output_hex\".\n"
    "In reports of gpuimg compare, a line has the field \"other\" (the second image) in place of "
    "\"output\", and the field \"differs\", which is true if a limit does not hold, or without "
    "limits if the images differ. In reports of gpuimg stack, gpuimg montage and gpuimg merge, "
    "the last line describes the result, and its field \"inputs\" holds the number of inputs.",
    "SHARDS. To divide a batch over several machines, start the same command on each with "
    "another --shard. --shard 3/8 processes the third of eight shares: it takes the inputs with "
    "the numbers 3, 11, 19 and so on in the sorted list. With --shard auto/8 a task of Slurm, "
    "Kubernetes, AWS Batch or GNU parallel takes the share of its own number. gpuimg report "
    "merge merges the reports of the tasks and prints what is missing. gpuimg help cluster has "
    "complete job files.",
    "LONG LISTS. In memory a list takes about 200 bytes per name. A list of --files-from of more "
    "than 64 MiB is not read into memory: its names are read from its file twice, in the order of "
    "the list, once to check them and once to process them, whatever their number. A list from a "
    "pipe is copied to a temporary file in TMPDIR first. This needs a list alone, without other "
    "inputs, --recursive and --tar, and a command with one output per input or with --table. For "
    "such a list:\n"
    "- --shard 3/8 takes the names whose first byte is in the third of eight equal ranges of the "
    "file, and the task reads nothing else of a file, but all of a pipe. {index} is the position "
    "in the list; it makes each "
    "task read the list up to its range.\n"
    "- Before any work, an input whose output is also the output of another input, or an input, is "
    "refused as in short lists if both are in the range of the task. The check keeps 16 bytes per "
    "name in a temporary file in TMPDIR. An output that two tasks have written is reported by "
    "gpuimg report merge.\n"
    "- Symbolic links from one file to another are not followed in this check; instead an input "
    "fails if its output is a symbolic link. A folder in the list, a folder that can't be made and "
    "a name without a format fail when their turn comes, too.\n"
    "- A report has the fields \"list_bytes\" (the size of the list) and \"files\" (the number of "
    "inputs in the range). --resume takes up to 40 bytes of memory per finished input of the task, "
    "and gpuimg report merge about 400 bytes per input.",
    "STREAMS. A stream is several images one after the other, in a pipe or a file. The output "
    "then is a stream too:\n"
    "- PNG, JPEG and WebP images in a pipe or a file are processed one by one, as ffmpeg's "
    "image2pipe writes and reads them. 'gpuimg blur - -' writes each image in the format that it "
    "came in, "
    "and 'gpuimg blur - png:-' writes all as PNG. Other bytes after an image cause a warning, "
    "or with --strict an error. An output that holds one image, such as out.png, is refused; "
    "in.png[0] "
    "is the first image of a file, in.png[1] the second. TIFFs in a pipe are processed as the "
    "pages of one TIFF.\n"
    "- PNM and PAM images in a pipe or a file may be written in any of these formats; 'gpuimg "
    "blur - -' keeps the format of each.\n"
    "- Y4M video of 8 to 16 bits is written as Y4M. Filters process each of its planes as a gray "
    "image. Operations whose result is brightness (edges, gradients, thresholds, masks) process "
    "luma, and chroma becomes neutral. Operations on colours and tones, convolve, and everything "
    "that fills with a colour take each frame as RGB, and so do sizes into which the planes would "
    "not fit: the frame has that size then, "
    "in pixels of luma. Luma and chroma become RGB by BT.709 if the header names it or there are "
    "720 rows or more, otherwise by BT.601; if a new size means the other one for the same planes, "
    "the header names the right one (XMATRIX=709). "
    "'gpuimg convert in.y4m frame-{index:05}.png' writes "
    "frames as images, and gpuimg pages --out out.y4m --fps 25 makes a video of images.\n"
    "- The pages of a TIFF file are processed one by one; see PAGES.\n"
    "If the name of the output has {index} in it, each image of a stream becomes a file, as in "
    "'frame-{index:05}.png'. If the output is a TIFF, each image becomes a page.\n"
    "If a stream ends in the middle of an image, the images before it are written to a pipe, and "
    "the exit status is 1. An output file does not appear then, except with --allow-partial. "
    "With --table the only input may be a stream: the table names its images or planes by their "
    "number. A report has a line per image or frame, with the field \"stream\", and then a line "
    "for the whole stream. With --report a single PNM image counts as a stream too.",
    "PAGES. A multi-page TIFF becomes a TIFF of as many pages: 'gpuimg gaussian stack.tif "
    "out.tif'. Pages may differ in size, depth and channels. Brackets select pages, counted from "
    "0: stack.tif[3], 'stack.tif[0-7]', 'stack.tif[2-]' to the last one, or 'stack.tif[*]' for "
    "all; "
    "'stack.tif[0-7..2]' and '[*..2]' select every second one of these, beginning with the first. "
    "A file whose name has these "
    "brackets comes first. Images of a file one behind the other, and frames of a Y4M file, are "
    "selected in the same way. Smaller versions and masks of pages, as in a pyramid, are left out "
    "with a warning unless their number is given. If the output has a format for one image, "
    "{page} in its name gives a file for each page: 'out-{page:03}.png'; in a batch {page} is a "
    "field of --out. PNM holds the pages one after the other. The output appears as a whole or "
    "not at all, and is a BigTIFF if it exceeds 4 GB.\n"
    "In a batch, and where a command takes each page as an image, files of PNG, JPEG, WebP and PNM "
    "images one after the other are such files too, with numbers in brackets.\n"
    "compare compares page with page. The commands stack, montage and merge take each page as an "
    "image, and --table has a row for each page. gpuimg pages joins images into a TIFF of several "
    "pages. Commands that take one image want the number of its page. The descriptions of "
    "OME-TIFF, of ImageJ and of Python's tifffile are kept if all pages are processed; those of "
    "OME-TIFF and tifffile are kept only while the pages keep their size and type.",
    "TARS. With --tar, both INPUT and OUTPUT are tar files, or - for standard input and output. "
    "A brace list such as 'in-{000..999}.tar' names many tars; there may be as many outputs as "
    "inputs, or one output. Members that are images by their content are processed; they keep "
    "name and format unless --suffix or --format is given. All other members are copied, and the "
    "order stays. A tar appears whole or not at all. A bad member is named on standard error and "
    "left out. If the machine failed during a member, its tar does not appear.\n"
    "Tars in the formats ustar, pax and GNU are read, also compressed by gzip, bzip2, xz or "
    "zstd. The output has the format pax, and its suffix chooses the compression.\n"
    "A report has a line per member, named TAR:MEMBER, with the field \"tar\", and then a line "
    "for the tar. --resume skips the tars that are finished in the report, or without --report "
    "the tars that exist.\n"
    "The name pipe:COMMAND is a tar that a command of the shell writes or reads, as in "
    "WebDataset: 'pipe:s5cmd cat s3://b/in-{000..999}.tar'. /bin/sh -c runs a command per tar. "
    "If its exit status is not 0, the tar fails; 75, or a signal, means that the machine "
    "failed. An output is first written to an unnamed file in $TMPDIR, or else in /var/tmp, and "
    "this file is the standard input of its command, so that nothing is sent of a tar that "
    "failed. The bytes that the command of an input writes go to such a file too, so that no "
    "connection waits for the work, and the command of the next tar runs at the same time, or "
    "those of the next three tars if there is space for them. TMPDIR must have space for two "
    "inputs and an output. If there is space for another output, the next tar is made while the "
    "command of the one before runs; at most two of them run at the same time. An output is "
    "compressed if its command ends in a name with such a "
    "suffix. A brace list gives a command per combination, so a number that is needed twice is "
    "put into a variable: 'pipe:n={000..999}; cat >$n.part && mv $n.part $n.tar'. The exit "
    "status of a pipeline is that of its last command. --resume wants a report for outputs that "
    "are commands. Messages and reports have the text of the commands, which should therefore "
    "hold no passwords.\n"
    "If gpuimg is ended by a signal, also by SIGKILL, all processes of its commands that have not "
    "left their session get SIGTERM, and after 2 s SIGKILL. The command of an output always reads "
    "a whole tar, so that it never takes a part of one for the whole. That is not so for a program "
    "that reads the standard output of gpuimg: it must look at the exit status of gpuimg (set -o "
    "pipefail), or whether the tar has its end of two blocks of zeros.\n"
    "The commands integral and cumulative write an array NAME.npy for each image. Commands that "
    "write tables take any number of tars; the table has a column for the tar before the column "
    "for the member. With --suffix .csv or .json they take two tars like the others, and write a "
    "table for each image. The command compare takes two tars, or two brace lists of the same "
    "length, "
    "and pairs members by name. Tars that commands write are fetched ahead once the sizes of the "
    "first pair are known; TMPDIR must have space for the two tars of a pair.",
    NULL,
};

static const char *const limits_paragraphs[] = {
    "PIXELS. --max-pixels (default 256Mi) limits the number of pixels of an image and of each "
    "result. It protects against decompression bombs: small files that decode to huge images. So "
    "it does not apply to a file that has at least half as many bytes as its samples, and a "
    "result may always have as many pixels as the input. A member of a compressed tar may exceed "
    "the limit only while it is at most twice as long as the part of the tar that has been "
    "read. Pages of a TIFF that share bytes have together at most that many pixels.\n\n"
    "BYTES. --max-bytes (default 64Gi) always applies. It limits the bytes of the samples of an "
    "image and of a result, of the arrays that gpuimg integral, gpuimg cumulative and gpuimg "
    "extract --labels write, and of an input from a pipe. Both limits are checked before memory "
    "is allocated. In a JPEG the coefficients count as bytes too, and the number of blocks that "
    "all its scans visit is limited, depending on the size of the image. --allow-partial accepts "
    "a damaged image of more than 16 MiB only if at least a sixteenth of its rows can be read.",
    "MEMORY. --memory limits the memory of the images that a batch processes at the same time, "
    "with their results, tables and arrays, and the parts of compressed tars and pipes that are "
    "read ahead (11 to 17 MiB). Lists whose length depends on the samples, such as "
    "lists of regions, are not included. By default the limit is half of the free memory, within "
    "the limit of the cgroup. --max-device-bytes limits the memory on the GPU. An image that "
    "does not fit there is processed in bands of rows, with the same result.\n\n"
    "LARGE IMAGES. A single image of 16 MiB and more (a PNG and a JPEG with restart markers: 256 "
    "MiB), or of more than an eighth of --memory, goes through the CPU in bands of rows, so that "
    "neither it nor the result has to fit in memory: 60000 x 60000 pixels need 100 MB. So does an "
    "image of a batch that with its results needs more than --memory; no other image is processed "
    "meanwhile, and a report has all its time as that of encoding. An input from a pipe, and a "
    "compressed TIFF to a pipe, of more than 32 MiB are first stored in an unnamed file in "
    "$TMPDIR, or else in /var/tmp, if it has space for them. To standard output the first row is "
    "written once it is good. If a later one fails, the output is incomplete, and the exit status "
    "is not 0. Conversions and the tables of gpuimg stats and gpuimg histogram take bands from 256 "
    "MiB on, or for more than an eighth of --memory. gpuimg compare reads two large images in "
    "bands if it only counts samples and computes mse and psnr (--metric, or --quiet without other "
    "limits) of all pixels, and draws nothing. "
    "Images of streams, members of tars, pages, and all images with "
    "--timing have to fit in memory; -v says why an image takes more than --memory. Bands need "
    "TIFF, PNG, JPEG, PNM, PAM or .npy, the same sample type in both, and operations that compute "
    "a row from some rows, as most do. An interlaced PNG, a picture to be turned, flip --v of a "
    "PNG, and indexed results need the whole image, a progressive JPEG its coefficients. Steps "
    "that measure first, such as equalize, read an image again that exceeds --memory. A first "
    "crop reads only what it needs.",
    "KERNELS. The maximum side is 4001 pixels for separable kernels, box filters and the "
    "rectangles of morphology, and 1001 pixels for median, rank and mode filters. Other kernels "
    "have at most 7921 weights (89 x 89). A structuring element of any other shape has at most "
    "4001 horizontal runs of pixels. The page of each command has the ranges of its options.",
    "TABLES. A histogram has at most 65536 bins. gpuimg stats groups by at most 262144 rows, "
    "columns, tiles or labels. The labels of gpuimg extract go up to 2^32 - 1 in .npy files, up "
    "to 2^24 in .pfm files and up to 65535 in other files.",
    "PRECISION. There are no 64-bit samples: float64 and integers above 2^24 are rounded to "
    "32-bit floats (gpuimg help common).",
    "TEXTS. A chain has at most 1000 steps. A calibration file for undistort has at most 64 kB "
    "and 32 levels of lists and mappings, and no YAML aliases.",
    "NOT YET. gpuimg can't do these yet: reading DICOM, PSD, SVG and camera raws; writing "
    "animations of PNG; writing PDF and MP4; "
    "Fourier transforms; writing TIFFs of 2 or 4 "
    "bits per sample. The message about a file in one of these formats names another program for "
    "it.",
    NULL,
};

static const char *const compatibility_paragraphs[] = {
    "VERSIONS. The help pages compare results with those of OpenCV 4.6, SciPy 1.10, scikit-image "
    "0.19, Pillow 9.4, NumPy 1.24 and Matplotlib 3.6, and files with those of libpng 1.6, "
    "libjpeg-turbo 2.1 "
    "(djpeg), libtiff 4.5, libwebp 1.2 (dwebp), netpbm 11.1 and FFmpeg 5.1, unless a page names "
    "another version. Other versions may give other results.",
    "TESTS. Each of these comparisons has a test, which the file tests/claims in the source "
    "names. make test fails if help or README makes a comparison that is not listed there.",
    "INTERPOLATION. OpenCV rounds coordinates to 1/32 pixel before it interpolates. Its "
    "rotations, affine and perspective transforms, remap, polar images and undistort therefore "
    "differ from those of gpuimg by up to 1/64 of the difference between neighbouring pixels "
    "along each axis.",
    NULL,
};

static const char *const common_paragraphs[] = {
    "In place of a file name, - means standard input or output, and png:- means standard output "
    "in the format PNG. scan.tif[3] is the fourth page of a TIFF, and 'scan.tif[0-7]' are its "
    "first eight pages, of which 'scan.tif[0-7..2]' takes every second. gpuimg help batch "
    "describes how to process many images in one command.",
    "Bands: a file may have more samples per pixel than gray or RGB and alpha, as TIFFs of "
    "satellites (multispectral), arrays and PAM files do. A sample of a TIFF is alpha only if the "
    "file says so, by ExtraSamples 1 or 2; near infrared beside RGB is a band. Brackets choose "
    "bands, counted from 1: 'x.tif[bands=1]' is gray, 'x.tif[bands=3,2,1]' is RGB, "
    "'x.tif[bands=1,2,3,a4]' is RGB with band 4 as alpha, and 'x.tif[2][bands=1]' is a band of a "
    "page. --bands 3,2,1 does so for every input: files, members of tars and standard input; "
    "--rgb is short for --bands 1,2,3. Operations process the colours with their alpha, and each "
    "further band as a gray image; TIFF, .npy and PAM files get all bands, and TIFF also keeps "
    "which of them are colours and alpha. Operations that want colours, such as color, and "
    "commands that measure one image want bands that are chosen. The image of an option such as "
    "--with has the same bands, which are paired, or is gray and used for every band. gpuimg info "
    "counts the bands, and its --hash covers all of them; compare compares all, and stats, "
    "histogram, integral and cumulative measure each of them.",
    "In a TIFF, unsigned integers of 1 to 16 bits are scaled to the range of 8 or 16 bits. "
    "Signed integers, integers of 32 or 64 bits and floats become 32-bit floats of the same value. "
    "NumPy arrays and TIFFs of 64-bit floats (float64, double precision) are computed and written "
    "as 32-bit floats. A warning names a file whose integers change by that, above 2^24, or whose "
    "floats lose more than a millionth of their range. With --strict any change is an error. A "
    "frame of an animation is a page: an animated GIF, WebP or PNG becomes an animation in GIF, "
    "WebP and PNG (.png or .apng), with its delays and loops, and the pages of a TIFF, which lose "
    "these by name, as a GIF does delays that are no multiple of 10 ms; in a format "
    "that holds one image, such as JPEG, its first frame is read, with a warning, or the frame "
    "that is named, as in a.gif[3], and --out 'f-{index:03}.png' writes all. Frames are composed "
    "as a "
    "viewer shows them, so each one is whole, in 8 bits of RGB, or RGBA if it may be transparent. "
    "A frame of a GIF is written with a palette of its own, and with only the rectangle that "
    "differs from the frame before. So are those of a PNG, all with the depth and channels that "
    "hold each frame, or a palette of 256 colours if that holds all; viewers that know no animated "
    "PNG show its first frame. Frames of a WebP are whole, so it can be longer than the input. "
    "Pages of a TIFF and other images become an animated PNG only by gpuimg pages. --delay and "
    "--loop change how they are played. gpuimg pages joins images into one.",
    "HEIC and AVIF are read and written by libheif (package libheif1), and their bytes depend on "
    "the versions of its encoders, x265 and libaom. The primary image is read, turned as the file "
    "says, and others by their numbers: a.heic[1] is one, a.heic[0-3] are several. Depth and gain "
    "maps and the frames of sequences are named as lost. A sequence without a still image cannot "
    "be read. Samples of 10 and 12 bits become v * 65535 / 1023 or v * 65535 / 4095, rounded to "
    "nearest. An image of 16 bits is written with 10 bits if these hold all its samples (HEIC "
    "only), else with 12 bits; what that rounds is a loss, named in a warning. Alpha of AVIF is "
    "always lossless. A file with the code of a colour space, such as Display P3 or HLG, keeps it "
    "as the chunk cICP of a PNG. HEIC has at least 16 pixels per side.",
    "JPEG XL is read and written by libjxl (package libjxl0.7), and the bytes of its files depend "
    "on the version of libjxl. The first frame is read, with alpha; the data of a JPEG that some "
    "files hold beside it are dropped. Samples of other depths than 8 and 16 bits are scaled, as "
    "those of HEIC. --quality 100 writes 8 and 16 bits and floats without loss; below it the "
    "visible difference is that of cjxl --quality. Floats without a profile are declared as linear "
    "light, other samples as sRGB, unless cICP, or gAMA and cHRM, of a PNG name another colour "
    "space, as Display P3 or PQ. A colour space that a JPEG XL names is read as an ICC profile. A "
    "lossy file with a profile that libjxl can't describe by numbers is decoded to sRGB.",
    "The first image of a FITS file with two or three axes is read, and x.fits[1] is the second "
    "one; other images and tables are named as lost, and tile-compressed images want funpack "
    "first. Three planes are red, green and blue, other numbers are bands ('x.fits[bands=2]'). The "
    "first row of the file is the lowest one of the image, unless the card ROWORDER says TOP-DOWN; "
    "astropy has it as row 0 of an array. BITPIX 8 and 16 with BZERO 32768 are read as 8 and 16 "
    "bits, all others as floats of the value BZERO + BSCALE * v, with a warning if that rounds. "
    "BLANK marks pixels without data, as GDAL's tag does; NaN wants --nodata nan. Cards are "
    "carried from FITS to FITS, those with coordinates of the sky only if no pixel moves. Written "
    "are BITPIX 8, 16 and -32, without alpha.",
    "OpenEXR is read and written by OpenEXRCore (package libopenexr-3-1-30). Read are R, G, B and "
    "A, or Y and A, of the first part, else of its first layer, else all channels as bands; other "
    "channels, parts and attributes are lost by name. Deep data are refused. Half floats are read "
    "as floats of the same value, and an image is written in half floats if these hold every "
    "sample. Colours are multiplied by alpha in the file, and divided by it when read. "
    "--compression 0 writes no compression, all others ZIP.",
    "JPEG 2000 (.jp2, .j2k) is read by OpenJPEG (package libopenjp2-7): gray or RGB with or "
    "without alpha, of 1 to 16 bits, which are scaled as those of HEIC, and also of more bits or "
    "with a sign, as floats of the same value. Components with fewer samples are enlarged by "
    "repeating these, palettes are applied, and sYCC becomes RGB. The profile, the resolution, "
    "EXIF, XMP and a comment are kept; other boxes and further images are lost by name. CMYK and "
    "CIELAB are refused. Writing wants opj_compress.",
    "Damage is an error, with status 1, also if all pixels are there: an end of the file or a part "
    "of its ICC profile that is missing. --allow-partial takes what can be read. A chunk of a PNG "
    "that is not critical and has a wrong checksum, a bad tag of a TIFF, and runs of a "
    "BMP beyond the ends of its rows are left out, with a warning; with --strict this is an error. "
    "So are data of a PNG or GIF behind the last pixel, and bits of a BMP or TGA beside the "
    "colours, such as the fourth of 4 bytes, that the file does not declare as alpha, unless all "
    "of them are 0 or all are 1. A critical chunk that gpuimg does not know is left out of a PNG "
    "with --allow-partial, and is an error without it. "
    "The error about a file that gpuimg can't read names a program that converts it.",
    "Metadata: the result has that of the input. That of further images, such as a mask, is not "
    "taken, except that a result of several inputs (stack, montage, mosaic, channels join) has "
    "what all of them share: EXIF, XMP, IPTC, profile, resolution, and each text, tag, chunk and "
    "FITS card on its own. A position (GeoTIFF, sky) stays if it holds for the result. merge keeps "
    "all of the first layer. A warning names the rest. Colours are combined without a conversion: "
    "if the ICC profile or the colour chunks of the image of --with, --flat, --dark, --reference "
    "or --crops differ from those of the input, a warning says so. An image without them counts "
    "as one in the colours of the input. With --strict these warnings, and those about parts of a "
    "further image that are not read, are errors.",
    "Images are turned upright by the orientation of EXIF, or by that of XMP if EXIF has none, "
    "unless --keep-orientation is given, and always in a HEIC or AVIF. Inks of a CMYK JPEG are "
    "taken as Adobe's programs store them, with 0 for full ink. Size, "
    "resolution, number of samples and colour space of the image, where EXIF, XMP and other "
    "metadata repeat them, are those of the result. Places of a subject in EXIF and of an image in "
    "a panorama (GPano in XMP) move with the pixels; a panorama that is mirrored, turned or "
    "distorted loses the latter by name. A GIF has texts as comments, XMP and the ICC profile of "
    "an RGB image, and a PNG has "
    "IPTC and Photoshop's resources as a text, as exiftool reads them.",
    "The gain map of an HDR photograph (Ultra HDR, ISO 21496-1, Apple) is carried from JPEG to "
    "JPEG, as it is, if the picture is only encoded again or resized as a whole. It is turned with "
    "the picture by flips and quarter turns. It is dropped by name if tones or colours change or "
    "parts of the picture are cut off. In HEIC, AVIF and all other formats gain maps are lost by "
    "name.",
    NULL,
};

static const struct topic {
    struct gi_command row; /* its manual is filled in later */
    const char *const *paragraphs;
} topics[] = {
    {{.name = "batch",
      .summary = "Many images in one command: files, folders, streams, tars",
      .examples =
          "gpuimg blur --k 5 --out-dir out photos/*.jpg\n"
          "gpuimg gaussian --sigma 3 --recursive photos --out-dir out --suffix .png\n"
          "find . -name '*.tif' -print0 | gpuimg invert --files-from - -0 --out "
          "'{dir}/{stem}_negative.{ext}'\n"
          "gpuimg run 'gaussian | edges' --recursive scans --out-dir out --report out.jsonl "
          "--resume\n"
          "gpuimg histogram photos/*.jpg --table all.csv\n"
          "ffmpeg -i in.mp4 -f yuv4mpegpipe - | gpuimg gaussian - - | ffmpeg -i - out.mp4\n"
          "gpuimg blur --tar 'in-{000..999}.tar' 'out-{000..999}.tar'\n"
          "gpuimg blur --recursive photos --out-dir out --shard auto/8 --report report-3.jsonl",
      .sets = {{"Options", gi_batch_options, 0},
               {"Options of commands that write tables", gi_table_only_options, 0}}},
     batch_paragraphs},
    {{.name = "cluster",
      .summary = "One batch on several machines: Slurm, Kubernetes, AWS Batch, Ray, make",
      .examples =
          "gpuimg blur --recursive photos --out-dir out --shard 3/8 --report report-3.jsonl\n"
          "gpuimg report merge report-*.jsonl -o report.jsonl"},
     gi_cluster_paragraphs},
    {{.name = "common",
      .summary = "Options that most commands share",
      .sets = {{"Input and output (commands that only read have fewer of them)", gi_io_options, 0},
               {"Running", gi_device_options, 0}}},
     common_paragraphs},
    {{.name = "compatibility",
      .summary = "Versions of other programs that help compares results with"},
     compatibility_paragraphs},
    {{.name = "limits",
      .summary = "Limits on sizes, memory and kernels, and the options that raise them",
      .examples = "gpuimg convert huge.png out.tif --max-pixels 4G\n"
                  "gpuimg blur --recursive scans --out-dir out --memory 8Gi"},
     limits_paragraphs},
    {{.name = "promises",
      .summary = "What you can rely on: bytes, accuracy, metadata, files, exit status",
      .examples = "gpuimg selftest --quick\n"
                  "gpuimg selftest --digest | tail -1\n"
                  "gpuimg convert in.tif out.png --strict"},
     gi_promises_paragraphs},
};

bool gi_topic_at(struct gi_command *topic, int index)
{
    static char text[16384];
    if (index < 0 || (size_t)index >= sizeof topics / sizeof *topics)
        return false;
    size_t n = 0;
    for (const char *const *p = topics[index].paragraphs; *p && n < sizeof text; p++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? "\n\n" : "", *p);
    *topic = topics[index].row;
    topic->manual = text;
    return true;
}

bool gi_topic_find(struct gi_command *topic, const char *name)
{
    for (int i = 0; gi_topic_at(topic, i); i++)
        if (strcmp(topic->name, name) == 0)
            return true;
    return false;
}
