/* Internals of png_decode on CUDA: the task of a launch, and the launchers of its kernels.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_PNG_DECODE_H
#define GI_KERNELS_CUDA_PNG_DECODE_H

#include "kernels/codec.h"
#include "kernels/cuda/cuda.h"

enum {
    PNG_SUBS = 1024,     /* subsequences of a window, each decoded by one thread */
    PNG_SUB_BITS = 128,  /* bits of a subsequence, or twice as many, see window_subs() */
    PNG_FIRST_BIT = 16,  /* of the first block of the stream, behind the head of zlib */
    PNG_LENGTHS = 320,   /* code lengths of a block: 288 literals and lengths, 32 distances */
    PNG_GROUP_ROWS = 32, /* rows whose filters a warp undoes at the same time */
    /* Costs in units of about a microsecond (H200), against png_task.cost_most. */
    PNG_COST_BLOCK = 9,
    PNG_COST_ROUND = 3,
};

/* Reasons to leave the file to imgio, in png_task.status. */
enum { PNG_DAMAGED = 1, PNG_TOO_SLOW = 2 };

/* A byte of the filtered rows that is known: this bit and the byte. Without the bit it is the index
 * of an earlier byte, which it equals. */
static const uint32_t PNG_KNOWN = UINT32_C(1) << 31;

/* This bit in an element of png_task.edges tells that its lower half is a word of a row. Both are
 * stored at once, so the reader needs no fence. */
static const unsigned long long PNG_EDGE_KNOWN = 1ull << 32;

/* A subsequence: its first bit, and the index of its first byte, counted from the first one of the
 * segment. */
struct png_sub {
    uint32_t bit, byte;
};

/* A part of the stream that begins with a block and ends where another segment begins, or at the
 * end of the stream. Segments are found by searching for headers of blocks with dynamic codes, so
 * there may be some that are not part of the stream, for example within a stored block. */
struct png_segment {
    uint32_t first, end; /* its first bit, and the bit behind it */
    uint32_t nbytes;     /* bytes of the filtered rows that it makes */
    uint32_t byte;       /* index of the first one, or PNG_NO_PART */
    uint32_t status;     /* PNG_DAMAGED and so on */
    uint32_t last;       /* not 0: the last block of the stream has been read */
};
static const uint32_t PNG_NO_PART = UINT32_MAX; /* the segment is no part of the stream */

/* A segment in the order of the stream. */
struct png_link {
    uint32_t next;   /* the segment behind it, or PNG_NO_PART */
    uint32_t nbytes; /* that it makes; PNG_NO_PART: it is damaged */
};

/* Subsequences of a block of the stream that are decoded together, or the bytes of a stored block,
 * from stored_at on in the stream. */
struct png_window {
    uint32_t segment;
    uint32_t first_sub, nsubs; /* 0: a stored block */
    uint32_t block;            /* whose codes it has */
    uint32_t end;              /* bit behind its last token */
    uint32_t byte, nbytes;     /* its bytes, counted from the first one of the segment */
    uint32_t stored_at;
};

/* An IDAT chunk: the offset of its data in `src`, and in the stream. */
struct png_idat {
    uint32_t at, first;
};

/* The lengths of the Huffman codes of a block of the stream. */
struct png_lengths {
    uint16_t nliterals, ndistances;
    uint8_t lengths[PNG_LENGTHS]; /* of the literals, then of the distances */
};

/* What the kernels tell each other. It is zero at first. */
struct png_state {
    uint32_t status;  /* PNG_DAMAGED and so on; kernels that find it set do nothing */
    uint32_t damaged; /* not 0: later kernels found damage */
    uint32_t nfound;  /* segments behind the first one */
    uint32_t taken;   /* segments that thread blocks of read_segments() have begun */
    uint32_t nblocks, nwindows, nsubs;
    uint32_t cost;                    /* of all segments */
    uint32_t begun;                   /* thread blocks of undo_filters() that have begun */
    unsigned long long sum, weighted; /* of the bytes, for Adler-32 */
};

/* One image. All pointers are to device memory.
 *
 * `rows` holds the rows without the bytes that name the filters, in planes: plane p has byte p of
 * each pixel, and a word of it has four pixels. They are in the order in which warps undo the
 * filters. In a group of PNG_GROUP_ROWS rows, word k of row l of a plane is processed at step
 * s = k + l, and is word s * PNG_GROUP_ROWS + l of the group's plane. So the lanes of a warp access
 * neighbouring words. All planes of a group come before those of the next group. */
struct png_task {
    const uint32_t *words; /* the zlib stream, from a multiple of GI_CUDA_ALIGN on */
    uint32_t stream_nbytes;
    /* If chunks hold the stream, they are in `src`, and `words` is memory for the stream. */
    const uint8_t *src;
    const struct png_idat *idats; /* nidats and an end */
    uint32_t nidats;
    uint32_t *remainders; /* of the data of each chunk (kernels/crc32.h), 0 at first */
    uint32_t raw_nbytes; /* of the filtered rows, with the byte before each that names its filter */
    uint32_t row_nbytes; /* of a row without this byte */
    uint32_t height;
    uint32_t pixel_nbytes; /* and number of planes */
    uint32_t nwords;       /* of a row of a plane */
    uint32_t nsteps;       /* of a group */
    uint32_t ngroups;
    struct png_state *state;
    uint32_t *starts; /* a bit for each bit of the stream: whether a segment begins there */
    struct png_segment *segments;
    struct png_link *links;      /* of each segment */
    struct png_lengths *lengths; /* of each block of the stream */
    struct png_window *windows;
    struct png_sub *subs;
    /* How many have room. Segments and blocks have the same limit. */
    uint32_t nblocks_most, nwindows_most, nsubs_most;
    uint32_t *origins; /* of each byte of the filtered rows, see PNG_KNOWN */
    uint8_t *filters;  /* of each row */
    uint32_t *rows;
    /* The last row of each group and plane, without filters: nwords words, each with
     * PNG_EDGE_KNOWN, and 0 at first. */
    unsigned long long *edges;
    uint32_t cost_most; /* limit of the time of a segment */
    uint32_t all_most;  /* limit of the sum of these times */
};

/* Returns the number of segments that were found, with the first one. */
static __device__ inline uint32_t png_nsegments(const struct png_task &task)
{
    return min(task.state->nfound + 1, task.nblocks_most);
}

/* Colours as words whose lowest byte is red. */
struct png_palette {
    uint32_t colors[256];
    uint32_t ncolors;
};

/* Returns whether the GPU has enough shared memory, which is 80 KiB. */
bool gi_cuda_png_fits(const struct gi_cuda_queue *cu);
/* Copies the data of the chunks to where the stream is read, and checks their CRCs. */
enum gi_status gi_cuda_png_gather(struct gi_cuda_queue *cu, const struct png_task *task,
                                  struct gi_err *err);
/* Finds the segments of the stream. */
enum gi_status gi_cuda_png_search(struct gi_cuda_queue *cu, const struct png_task *task,
                                  struct gi_err *err);
/* Reads each segment: finds its blocks, their codes, and the subsequences with their bytes. */
enum gi_status gi_cuda_png_inflate(struct gi_cuda_queue *cu, const struct png_task *task,
                                   struct gi_err *err);
/* Finds which segments follow one another from the first one on, and where their bytes belong. */
enum gi_status gi_cuda_png_join(struct gi_cuda_queue *cu, const struct png_task *task,
                                struct gi_err *err);
/* Fills `origins`. */
enum gi_status gi_cuda_png_expand(struct gi_cuda_queue *cu, const struct png_task *task,
                                  struct gi_err *err);
/* Finds the value of each byte, stores it in `rows` or `filters`, and adds it to the sums. */
enum gi_status gi_cuda_png_resolve(struct gi_cuda_queue *cu, const struct png_task *task,
                                   struct gi_err *err);
/* Undoes the filters in `rows`, compares Adler-32, and stores the image. `palette`, in device
 * memory, is NULL if there is none. */
enum gi_status gi_cuda_png_unfilter(struct gi_cuda_queue *cu, const struct png_task *task,
                                    const struct gi_image *result,
                                    const struct png_palette *palette, struct gi_err *err);

#endif
