/* What help tells that is of no command alone: how many images go through one command.
 * SPDX-License-Identifier: MIT */
#include "cli/batch/batch.h"
#include "cli/help.h"

#include <string.h>

/* Of the manual of batches. C compilers need take no longer literals than some. */
static const char *const batch_paragraphs[] = {
    "INPUTS. With --out-dir, --out, --table or --files-from a command takes any number of inputs "
    "and no OUTPUT; info and stack always do. --files-from LIST adds names, one a line, or with -0 "
    "as find -print0 writes them; --recursive takes the image files in folders and below, by their "
    "suffixes.",
    "OUTPUTS. --out-dir puts each result under its input's name into a folder; what was found in a "
    "tree keeps its place there. --suffix gives another suffix, and by it another format. --out is "
    "a template: '{dir}/{stem}_small.{ext}'. Two inputs that would have one output, and outputs "
    "over inputs, are errors before any work. A file appears whole or not at all, and those of "
    "one input, as channels split and split write them, all or none.",
    "TABLES. stats, histogram, palette, extract and chains that end in one of them write one table "
    "of all by --table, with a column for the file (.csv, .jsonl, an object a file, or .npy, a "
    "structured array), or a table each by --out-dir or --out. integral and cumulative write an "
    "array each, .npy or with --suffix .pfm. info has a table too; compare takes two folders, by "
    "the names in both, or --pairs. stack makes one image of many.",
    "SPEED. Decoding, computing and encoding of different images go on at once, on all CPUs and on "
    "the GPUs of --device cuda:all, or cuda:0,2. The results are the bytes of one by one, and "
    "tables are in the order of the inputs. --memory bounds what is under way; on a terminal a "
    "line tells the rates and what bounds them, --progress prints it elsewhere.",
    "FAILURES. A bad file is named on standard error and counted, and the others are done; "
    "--fail-fast ends after the first.",
    "EXIT STATUS. 0: all is done. 1: a file failed; of compare a limit did not hold, or without "
    "limits a pair differs. 2: the command line is wrong, and nothing was done; of compare any "
    "failure. 75: the machine failed, not a file (disk full, I/O error, out of memory, device "
    "lost): try again. 130 and 143: SIGINT or SIGTERM came; what was being written is finished.",
    "REPORTS. --report FILE has a JSON object a line: first gpuimg (the version), chain (what is "
    "done), with (the hash of further images and files that it names), list (the hash of all "
    "inputs' "
    "names), files (how many) and shard; then each file as it "
    "is finished: input, output, status (done, failed, passed), error, width, height, channels, "
    "type, sizes and times of both files, and ms, the milliseconds of each stage. Of compare a "
    "line has other in place of output, and differs. Behind the inputs of stack, montage "
    "and merge stands a line of the whole, with inputs, how many. An input with several results "
    "has outputs, one that goes with another image, as a mask, beside. Names that are no UTF-8 "
    "stand "
    "there as input_hex and output_hex too. --resume reads it and leaves out what is done, where "
    "size and time of input and output are still so.",
    "SHARDS. --shard 3/8 takes the third of eight shares, every eighth input of the sorted list; "
    "with auto/8 a task of Slurm, Kubernetes, AWS Batch or GNU parallel takes that of its number. "
    "gpuimg report merge joins the tasks' reports, refuses those of other lists, and says what is "
    "missing, as files or as an array of Slurm.",
    "STREAMS. Images of PNM or PAM one behind the other, in a pipe or a file, go on so into any of "
    "these formats, - to - each into its own. Y4M video (8 to 16 bits) goes into Y4M: each plane "
    "is a gray image. A stream that breaks off delivers what came before and ends 1; a file then "
    "does not appear, save with --allow-partial. With --table the only input may be a stream, "
    "whose images or planes are named by their place. A report has a line an image or frame, with "
    "stream, and one of the stream behind them; with --report a single PNM image is a stream too.",
    "TARS. With --tar INPUT and OUTPUT are tars, - or brace lists of them, from as many to as many "
    "or into one; ustar, pax and GNU's are read, also packed by gzip, bzip2, xz or zstd, and pax "
    "is written, packed as the suffix says. Members that are images by their content are worked on "
    "and keep their format and name (--format, --suffix), all else passes, in order. A tar appears "
    "whole or not at all. A bad member is named and left out; where the machine failed one its tar "
    "does not appear. A report has a line a member, named TAR:MEMBER, with tar, and behind them "
    "one of the tar, by which --resume goes; without a report that leaves out the tars that are "
    "there. Of integral and cumulative images become their arrays, NAME.npy. Commands that write "
    "tables take any number of tars, with a column for the tar in front of that for the file, its "
    "member; "
    "compare takes two, or as many in either brace list, and pairs members by name.",
    NULL,
};

/* All of them, parted by blank lines, by gi_topic_find(). */
static char text[8192];

static const struct gi_command topics[] = {
    {.name = "batch",
     .summary = "Many images by one command: files, folders, streams, tars, tasks of a cluster",
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
     .manual = text,
     .sets = {{"Options", gi_batch_options, 0},
              {"Of commands that write tables also", gi_table_only_options, 0}}},
};

const struct gi_command *gi_topic_find(const char *name)
{
    size_t n = 0;
    for (int i = 0; batch_paragraphs[i] && n < sizeof text; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i ? "\n\n" : "",
                              batch_paragraphs[i]);
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
        if (strcmp(topics[i].name, name) == 0)
            return &topics[i];
    return NULL;
}
