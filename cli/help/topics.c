/* The topics of help: pages that belong to no single command.
 * SPDX-License-Identifier: MIT */
#include "cli/run/batch_options.h"
#include "cli/run/device_options.h"
#include "cli/inputs/image_files.h"
#include "cli/help/help.h"

#include <string.h>

/* The manuals, one string per paragraph: compilers need not accept literals longer than 4095
 * bytes. */
static const char *const batch_paragraphs[] = {
    "INPUTS. With --out-dir, --out, --table or --files-from a command takes any "
    "number of inputs and no OUTPUT; info and stack always do. --files-from LIST "
    "adds names, one per line, or with -0 as find -print0 writes them. --recursive "
    "takes the image files in folders and below, by their suffixes.",
    "OUTPUTS. --out-dir writes each result into a folder under its input's name; "
    "files found in a folder tree keep their place in it. --suffix gives another "
    "suffix, and with it another format. --out is a template: "
    "'{dir}/{stem}_small.{ext}'. Two inputs with one output, and outputs that would "
    "replace inputs, are errors before any work. A file appears whole or not at all, "
    "and the files of one input, as of channels split and split, appear all or none.",
    "TABLES. stats, histogram, palette, extract and chains that end in one of them "
    "write one table of all inputs with --table, with a column for the file (.csv, "
    ".jsonl with an object per file, or .npy, a structured array), or a table per "
    "input with --out-dir or --out. integral and cumulative write an array per "
    "input, .npy or with --suffix .pfm. info has a table too. compare takes two "
    "folders, paired by the names in both, or --pairs. stack makes one image of many.",
    "SPEED. Different images are decoded, computed and encoded at the same time, on "
    "all CPUs and on the GPUs of --device cuda:all, or cuda:0,2. The results are the "
    "bytes of one command per image, and tables are in the order of the inputs. "
    "--memory bounds the images in progress. On a terminal a line shows the rates "
    "and the stage that limits them; --progress prints it elsewhere.",
    "FAILURES. A bad file, and a folder that --recursive cannot read, is named on "
    "standard error and counted, and the others are processed (exit status 1); "
    "--fail-fast stops at the first. If the machine failed, not a file (exit status "
    "75), no --table is written and an older one stays.",
    "EXIT STATUS. 0: all is done. 1: a file failed; for compare a limit does not "
    "hold, or without limits a pair differs. 2: the command line is wrong, and "
    "nothing was done; for compare any failure. 75: the machine failed, not a file "
    "(disk full, I/O error, out of memory, device lost, the folder of an output gone): "
    "try again. 130 and 143: SIGINT or SIGTERM came; files in progress were finished.",
    "REPORTS. --report FILE writes a JSON object per line. The first has gpuimg (the "
    "version), chain (the operations), with (the hash of further images and files "
    "that the chain names), list (the hash of the names of all inputs), files (their "
    "number) and shard. Then each file has a line when it is finished: input, "
    "output, status (done, failed, passed), error, width, height, channels, type, "
    "sizes and times of both files, and ms, the milliseconds of each stage. For "
    "compare a line has other in place of output, and differs. For stack, montage "
    "and merge a line of the whole follows those of the inputs, with inputs, their "
    "number. An input with several results has outputs; one that needs another "
    "image, such as a mask, has beside. Names that are not UTF-8 are also in "
    "input_hex and output_hex. --resume reads the report and skips finished files if "
    "the size and time of input and output have not changed.",
    "SHARDS. --shard 3/8 takes the third of eight shares: every eighth input of the "
    "sorted list. With auto/8 a task of Slurm, Kubernetes, AWS Batch or GNU parallel "
    "takes the share of its number. gpuimg report merge joins the reports of the "
    "tasks, refuses those of other lists, and prints what is missing, as files or as "
    "a job array of Slurm. See gpuimg help cluster.",
    "STREAMS. PNG, JPEG and WebP images in a row, in a pipe, are processed one by one, as ffmpeg's "
    "image2pipe writes and reads them: 'gpuimg blur - -' writes each in its format, 'gpuimg blur - "
    "png:-' all in one. Bytes behind them that are no image cause a warning, with --strict an "
    "error. TIFF is not among them: a page is chosen by its number. "
    "Several PNM or PAM images in a row, in a pipe or a file, are written in a row in any "
    "of these formats; - to - keeps the format of each. Y4M video (8 to 16 bits) is written as "
    "Y4M: each plane is a gray image. If a stream ends within an image, the images before it are "
    "delivered and the exit status is 1; an output file then does not appear, except with "
    "--allow-partial. With --table the only input may be a stream, whose images or planes are "
    "named by their number. A report has a line per image or frame, with stream, and then one of "
    "the stream; with --report a single PNM image is a stream too.",
    "TARS. With --tar INPUT and OUTPUT are tars, - or brace lists of tars, with as "
    "many outputs as inputs or one. ustar, pax and GNU tars are read, also "
    "compressed by gzip, bzip2, xz or zstd; pax is written, compressed by the "
    "suffix. Members that are images by content are processed and keep their format "
    "and name (--format, --suffix); all others are copied, in order. A tar appears "
    "whole or not at all. A bad member is named and left out; if the machine failed "
    "on one, its tar does not appear. A report has a line per member, named "
    "TAR:MEMBER, with tar, and then one of the tar, which --resume uses; without a "
    "report --resume skips the tars that exist. integral and cumulative turn images "
    "into arrays, NAME.npy. Commands that write tables take any number of tars, with "
    "a column for the tar before that of the member. compare takes two tars or two "
    "brace lists of the same length, and pairs members by name.",
    NULL,
};

static const char *const cluster_paragraphs[] = {
    "--shard 3/8 takes the third of eight shares of a batch: every eighth input of the "
    "sorted list. With --shard auto/8 a task of Slurm, Kubernetes, AWS Batch or GNU "
    "parallel takes the share of its own number. Each task writes a report. gpuimg "
    "report merge joins the reports, refuses those of different lists, and says by its "
    "exit status whether a file is missing. A task that runs again continues its "
    "report (--resume). Exit status 75 means that the machine failed and not a file, "
    "so that the task should run again.",
    "A folder as a job array of Slurm, in the file blur.sbatch:",
    "    #!/bin/sh\n"
    "    #SBATCH --array=1-8 --requeue\n"
    "    gpuimg run 'gaussian --sigma 3 | sharpen' --recursive photos --out-dir blurred --shard "
    "auto/8 \\\n"
    "        --report report-$SLURM_ARRAY_TASK_ID.jsonl --resume && exit\n"
    "    case $?-${SLURM_RESTART_COUNT:-0} in 75-[0-3] | 137-[0-3]) scontrol requeue "
    "\"$SLURM_JOB_ID\" ;; *) exit 1 ;; esac",
    "A second array for the files that are still missing, in the file again.sh:",
    "    gpuimg report merge report-*.jsonl -o report.jsonl ||\n"
    "        sbatch --array=\"$(gpuimg report merge report-*.jsonl --missing array)\" blur.sbatch",
    "An indexed job of Kubernetes, in the file blur.yaml:",
    "    apiVersion: batch/v1\n"
    "    kind: Job\n"
    "    metadata: {name: blur}\n"
    "    spec:\n"
    "      completionMode: Indexed\n"
    "      completions: 8\n"
    "      parallelism: 8\n"
    "      backoffLimitPerIndex: 3\n"
    "      podFailurePolicy:\n"
    "        rules: [{action: FailIndex, onExitCodes: {operator: In, values: [1, 2]}}]\n"
    "      template:\n"
    "        spec:\n"
    "          restartPolicy: Never\n"
    "          containers:\n"
    "          - name: gpuimg\n"
    "            image: gpuimg\n"
    "            workingDir: /data\n"
    "            command: [gpuimg, run, gaussian --sigma 3 | sharpen, --recursive, photos, "
    "--out-dir, blurred,\n"
    "                      --shard, auto/8, --report, report-$(JOB_COMPLETION_INDEX).jsonl, "
    "--resume]\n"
    "            resources: {limits: {nvidia.com/gpu: 1}}\n"
    "            volumeMounts: [{name: data, mountPath: /data}]\n"
    "          volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]",
    "The command that each child of an AWS Batch array runs, in the file child.sh:",
    "    gpuimg run 'gaussian --sigma 3 | sharpen' --recursive photos --out-dir blurred --shard "
    "auto \\\n"
    "        --report report-$AWS_BATCH_JOB_ARRAY_INDEX.jsonl --resume",
    "Ray Data: make install has put gpuimg_ray.py where Python finds it. An actor per "
    "GPU keeps one gpuimg process, through which its images go as a tar.",
    "In the file blur_ray.py:",
    "    import os, ray\n"
    "    from gpuimg_ray import GpuImg\n"
    "\n"
    "    photos = ray.data.read_binary_files(\"photos\", include_paths=True)\n"
    "    blurred = photos.map_batches(GpuImg, fn_constructor_args=(\"gaussian --sigma 3 | "
    "sharpen\",),\n"
    "                                 num_gpus=1, concurrency=3, batch_size=4)\n"
    "    for photo in blurred.iter_rows():\n"
    "        with open(os.path.join(\"blurred\", os.path.basename(photo[\"path\"])), \"wb\") as "
    "file:\n"
    "            file.write(photo[\"bytes\"])",
    "GNU parallel, on this machine or with --sshlogin on others, in the file "
    "parallel.sh:",
    "    seq 8 | parallel --retries 3 \"gpuimg run 'gaussian --sigma 3 | sharpen' --recursive "
    "photos \\\n"
    "        --out-dir blurred --shard auto/8 --report report-{#}.jsonl --resume\"",
    "A makefile that processes new and changed files, photos.mk:",
    "    photos.done: $(wildcard photos/*)\n"
    "    \tgpuimg run 'gaussian --sigma 3 | sharpen' --recursive photos --out-dir blurred --report "
    "report.jsonl --resume\n"
    "    \ttouch $@",
    "Snakemake, which has executors for clusters of its own, in the file Snakefile:",
    "    rule report:\n"
    "        input: expand(\"report-{k}.jsonl\", k=range(1, 9))\n"
    "        output: \"report.jsonl\"\n"
    "        shell: \"gpuimg report merge {input} -o {output}\"\n"
    "\n"
    "    rule shard:\n"
    "        input: \"photos\"\n"
    "        output: \"report-{k}.jsonl\"\n"
    "        shell: \"gpuimg run 'gaussian --sigma 3 | sharpen' --recursive {input} --out-dir "
    "blurred\"\n"
    "               \" --shard {wildcards.k}/8 --report {output}\"",
    NULL,
};

static const char *const limits_paragraphs[] = {
    "IMAGES. --max-pixels (default 256Mi) bounds the pixels of an image and of every result. It "
    "protects against decompression bombs, files that are much smaller than their samples: a file "
    "of at least half as many bytes as its samples may have any number of pixels, and a result may "
    "always have as many pixels as the input. A member of a compressed tar is read beyond the "
    "limit only while it is at most twice the bytes of the tar read so far. --max-bytes (default "
    "64Gi) bounds the bytes of samples of an image and of a result, of the arrays of integral, "
    "cumulative and extract --labels, and of an input from a pipe, always. All are checked before "
    "memory is taken. The coefficients of a JPEG count as bytes, and its scans as work. "
    "--allow-partial accepts a damaged image of more than 16 MiB only if at least a sixteenth of "
    "its rows can be read.",
    "MEMORY. --memory bounds the images that a batch processes at the same time, with "
    "their results, tables and arrays, but not lists whose length depends on the "
    "samples, such as regions; "
    "without it the bound is half of the free memory, within the limit of the cgroup. "
    "--max-device-bytes bounds the memory on the GPU. An image that does not fit there "
    "is processed in bands, with the same result.",
    "LARGE FILES. An input file is mapped into memory and not copied: a gray PGM of 60000 "
    "x 60000 pixels (3.6 GB) is blurred on a machine with 8 GB of free memory with the "
    "default options.",
    "KERNELS. Separable kernels, box filters and rectangles of morphology have at most "
    "4001 taps per side, median, rank and mode filters 1001, other kernels at most "
    "7921 weights (89 x 89). A structuring element that is no rectangle has at most "
    "4001 runs of pixels. The range of every option is on the page of its command.",
    "TABLES. A histogram has at most 65536 bins, stats at most 262144 rows, columns, "
    "tiles or labels. Labels of extract are at most 2^32 - 1 in .npy, 2^24 in .pfm and "
    "65535 in other files.",
    "TEXTS. A chain has at most 1000 steps. A calibration for undistort has at most 64 kB, "
    "32 levels of lists and mappings, and no aliases.",
    NULL,
};

static const char *const compatibility_paragraphs[] = {
    "VERSIONS. Help compares results with those of OpenCV 4.6, SciPy 1.10, scikit-image 0.19, "
    "Pillow 9.4 and NumPy 1.24, and files with those of libpng 1.6, libjpeg-turbo 2.1 (djpeg), "
    "libtiff 4.5, libwebp 1.2 (dwebp), netpbm 11.1 and FFmpeg 5.1, unless a page names another "
    "version. Other versions may give other results.",
    "TESTS. Each of these comparisons has a test, and the file tests/claims of the source "
    "names it. make test reports a comparison in help or in README that is not listed there.",
    "INTERPOLATION. OpenCV rounds coordinates to 1/32 pixel before it interpolates. Its "
    "rotations, affine and perspective transforms, remap, polar images and undistort therefore "
    "differ by up to 1/64 of the difference between neighbouring pixels along each axis.",
    NULL,
};

static const char *const common_paragraphs[] = {
    "Many images: gpuimg help batch. An operand - is standard input or output; png:- names "
    "the format too, and scan.tif[3] is the fourth page of a TIFF.",
    "Samples of a TIFF: unsigned integers of 1 to 16 bits are scaled to the range of 8 or 16 "
    "bits; signed integers, integers of 32 bits and floats become 32-bit floats of the same "
    "value. An animated WebP or GIF gives its first frame, with a warning.",
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
     cluster_paragraphs},
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
};

bool gi_topic_at(struct gi_command *topic, int index)
{
    static char text[8192];
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
