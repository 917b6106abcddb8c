/* Every way of encoding a JPEG scan gives the bytes of libjpeg-turbo: at every quality, for gray,
 * full and halved chroma, for all sizes modulo an MCU, and with any restart interval.
 * Sources: codec kernels/jpeg_encode imgio/coded
 * SPDX-License-Identifier: MIT */
#include "jpeg_cases.h"
#include "kernels/kernels.h"
#include "primitives.h"
#include "kernels/codec.h"

struct encode_spec {
    struct gi_jpeg_encode spec;
    struct gi_jpeg_frame frame;
};

static void take_table(struct gi_jpeg_huffman *table, const JHUFF_TBL *from)
{
    memcpy(table->counts, from->bits + 1, sizeof table->counts);
    memcpy(table->values, from->huffval, sizeof table->values);
}

/* Copies the tables that libjpeg writes into a frame. */
static void take_frame(struct gi_jpeg_frame *frame, const struct jpeg_compress_struct *jpeg)
{
    *frame = (struct gi_jpeg_frame){
        .width = (int)jpeg->image_width,
        .height = (int)jpeg->image_height,
        .ncomponents = jpeg->num_components,
        .ycc = jpeg->jpeg_color_space == JCS_YCbCr,
        .restart_interval = jpeg->restart_interval,
    };
    for (int c = 0; c < jpeg->num_components; c++) {
        const jpeg_component_info *info = &jpeg->comp_info[c];
        frame->components[c] = (struct gi_jpeg_component){
            .h = (uint8_t)info->h_samp_factor,
            .v = (uint8_t)info->v_samp_factor,
            .quantization = (uint8_t)info->quant_tbl_no,
            .dc = (uint8_t)info->dc_tbl_no,
            .ac = (uint8_t)info->ac_tbl_no,
        };
    }
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < GI_JPEG_BLOCK; k++)
            frame->quantization[i][k] = jpeg->quant_tbl_ptrs[i]->quantval[k];
        take_table(&frame->dc[i], jpeg->dc_huff_tbl_ptrs[i]);
        take_table(&frame->ac[i], jpeg->ac_huff_tbl_ptrs[i]);
    }
}

/* Encodes the image with libjpeg and returns the scan, which is a part of `file`. */
static struct bytes encode(struct bytes *file, struct gi_jpeg_frame *frame,
                           const struct gi_image *image, int quality, bool halved,
                           unsigned interval)
{
    struct jpeg_making made;
    jpeg_begin(&made, image, image->channels == 1 ? JCS_GRAYSCALE : JCS_RGB, quality);
    made.cinfo.restart_interval = interval;
    made.cinfo.comp_info[0].h_samp_factor = made.cinfo.comp_info[0].v_samp_factor = halved ? 2 : 1;
    take_frame(frame, &made.cinfo);
    *file = jpeg_end(&made, image);
    size_t at = 2;
    const unsigned char *bytes = file->at;
    for (int marker = 0; marker != 0xda;) {
        marker = bytes[at + 1];
        at += 2u + (size_t)(bytes[at + 2] << 8 | bytes[at + 3]);
    }
    return (struct bytes){file->at + at, file->n - at - 2};
}

/* Fills an image with one of several contents: random, smooth, extreme or flat samples. */
static void fill(struct gi_image *image, int content, uint64_t *seed)
{
    uint32_t base = case_random(seed);
    for (int y = 0; y < image->height; y++) {
        uint8_t *row = gi_row(image, y);
        for (int x = 0; x < image->width; x++)
            for (int c = 0; c < image->channels; c++) {
                uint32_t random = case_random(seed);
                int wave = (int)(127.5 + 100 * sin(0.05 * x + 0.03 * y * (c + 1) + base % 7));
                uint8_t *sample = &row[x * image->channels + c];
                switch (content) {
                case 0:
                    *sample = (uint8_t)(random >> 8);
                    break;
                case 1:
                    *sample = (uint8_t)(wave + (int)(random >> 8) % 9);
                    break;
                case 2: /* a checkerboard */
                    *sample = (x + y) % 2 ? 255 : 0;
                    break;
                case 3: /* extremes */
                    *sample = random >> 12 & 1 ? 255 : 0;
                    break;
                case 4: /* a single wave of every frequency in turn */
                    *sample = (uint8_t)(127.5 + 127.5 * cos(M_PI / 16 * (2 * x + 1) * (base % 8)) *
                                                    cos(M_PI / 16 * (2 * y + 1) * (base / 8 % 8)));
                    break;
                default:
                    *sample = (uint8_t)(base >> (8 * c));
                }
            }
    }
}

static void draw(struct walk_case *c)
{
    if (c->channels % 2 == 0)
        return;
    walk_spec(c, sizeof(struct encode_spec));
    walk_source_here(c);
    fill(&c->srcs[0].image, walk_between(c, 0, 5), c->seed);
    c->inner_at = offsetof(struct encode_spec, spec.frame);
    c->inner_to = offsetof(struct encode_spec, frame);
}

static void define(struct walk_case *c)
{
    struct encode_spec *spec = c->spec;
    bool halved = c->channels == 3 && walk_between(c, 0, 1);
    int mcus = ((c->width + 7) / 8) * ((c->height + 7) / 8), kind = walk_between(c, 0, 3);
    unsigned interval = kind == 0   ? 0
                        : kind == 1 ? (unsigned)walk_between(c, 1, 3)
                                    : (unsigned)walk_between(c, 1, mcus < 65535 ? mcus : 65535);
    struct bytes file;
    struct bytes scan =
        encode(&file, &spec->frame, &c->srcs[0].image, walk_between(c, 1, 100), halved, interval);
    struct gi_jpeg_scan none = {0};
    walk_data(c, &none, sizeof none);
    struct bytes *kept = walk_alloc(c, sizeof *kept + scan.n);
    *kept = (struct bytes){(void *)(kept + 1), scan.n};
    memcpy(kept->at, scan.at, scan.n);
    free(file.at);
    c->data = kept;
}

static bool equal(struct gi_queue *queue, const struct walk_case *c, void *result)
{
    struct gi_jpeg_scan *scan = result;
    const struct bytes *want = c->data;
    bool equal = scan->nbytes == want->n && memcmp(scan->bytes, want->at, want->n) == 0;
    gi_jpeg_scan_free(scan);
    return equal;
}

static void check_image(struct gi_queue *queue, const struct gi_image *image, int quality,
                        bool halved, unsigned interval)
{
    struct bytes file;
    struct gi_jpeg_frame frame;
    struct gi_jpeg_scan scan;
    struct gi_image on;
    struct gi_err err = {0};
    const struct gi_jpeg_encode spec = {.frame = &frame};
    struct bytes want = encode(&file, &frame, image, quality, halved, interval);
    assert_int_equal(queue->k->upload(queue, &on, image, NULL, &err), GI_OK);
    if (queue->k->jpeg_encode(queue, &scan, &on, &spec, &err))
        fail_msg("%s", err.text);
    queue->k->release(queue, &on);
    if (scan.nbytes != want.n || memcmp(scan.bytes, want.at, want.n))
        fail_msg("%s: %d x %d x %d, quality %d, halved %d, interval %u: another scan",
                 queue->k->name, image->width, image->height, image->channels, quality, halved,
                 interval);
    gi_jpeg_scan_free(&scan);
    free(file.at);
}

/* The backends, one queue each; the number of queues is returned. */
static int open_queues(struct gi_queue **queues)
{
    const struct gi_kernels *cuda = case_cuda(1);
    queues[0] = case_open(gi_kernels_cpu(), 2);
    if (cuda)
        queues[1] = case_open(cuda, 1);
    return cuda ? 2 : 1;
}

/* Every quality with every content. */
TEST(every_quality)
{
    struct gi_queue *queues[2];
    uint64_t seed = CASE_SEED;
    int n = open_queues(queues);
    for (int quality = 1; quality <= 100; quality++)
        for (int content = 0; content < 6; content++) {
            struct gi_image image;
            int channels = (quality + content) % 4 == 0 ? 1 : 3;
            if (case_is_left_out())
                continue;
            assert_int_equal(gi_image_alloc(&image, 61, 39, channels, GI_U8, NULL), GI_OK);
            fill(&image, content, &seed);
            for (int i = 0; i < n; i++)
                check_image(queues[i], &image, quality, channels == 3 && content % 2, 0);
            gi_image_free(&image);
        }
    while (n > 0)
        gi_queue_close_alone(&queues[--n]);
}

/* Every size modulo an MCU of 16 x 16 pixels. */
TEST(every_size)
{
    struct gi_queue *queues[2];
    uint64_t seed = CASE_SEED;
    int n = open_queues(queues);
    for (int width = 1; width <= 33; width += width < 18 ? 1 : 5)
        for (int height = 1; height <= 17; height++)
            for (int channels = 1; channels <= 3; channels += 2) {
                struct gi_image image;
                if (case_is_left_out())
                    continue;
                assert_int_equal(gi_image_alloc(&image, width, height, channels, GI_U8, NULL),
                                 GI_OK);
                fill(&image, (width + height) % 3, &seed);
                for (int i = 0; i < n; i++)
                    for (int halved = 0; halved < (channels == 3 ? 2 : 1); halved++)
                        check_image(queues[i], &image, case_between(&seed, 1, 100), halved,
                                    (unsigned)case_between(&seed, 0, 4));
                gi_image_free(&image);
            }
    while (n > 0)
        gi_queue_close_alone(&queues[--n]);
}

/* Frames that the primitive does not take are refused. */
TEST(others_are_refused)
{
    struct gi_queue *queues[2];
    struct gi_image image, on;
    struct gi_jpeg_scan scan;
    struct gi_jpeg_frame good, frame;
    struct bytes file;
    int n = open_queues(queues);
    const struct gi_jpeg_encode spec = {.frame = &frame};
    assert_int_equal(gi_image_alloc(&image, 20, 10, 3, GI_U8, NULL), GI_OK);
    fill(&image, 5, &(uint64_t){1});
    encode(&file, &good, &image, 50, false, 0);
    for (int i = 0; i < n; i++)
        for (int wrong = 0; wrong < 13; wrong++) {
            frame = good;
            frame.width += wrong == 1;
            frame.ncomponents -= wrong == 2 ? 2 : 0;
            frame.ycc = wrong != 3;
            frame.components[0].h += wrong == 4; /* 4:2:2 */
            frame.components[1].v += wrong == 5;
            frame.quantization[1][63] = wrong == 6 ? 256 : frame.quantization[1][63];
            frame.ac[1].counts[15] -= wrong == 7; /* without its last code */
            frame.quantization[0][0] = wrong == 8 ? 0 : frame.quantization[0][0];
            frame.components[2].dc = wrong == 9 ? 4 : frame.components[2].dc;
            for (int k = 0; k < 256; k++) { /* another symbol instead of 16 zeros, or of the end */
                uint8_t *symbol = &frame.ac[wrong % 2].values[k];
                *symbol = wrong >= 10 && *symbol == (wrong < 12 ? 0xf0 : 0) ? 0xff : *symbol;
            }
            assert_int_equal(queues[i]->k->upload(queues[i], &on, &image, NULL, NULL), GI_OK);
            enum gi_status status = queues[i]->k->jpeg_encode(queues[i], &scan, &on, &spec, NULL);
            assert_int_equal(status, wrong ? GI_E_UNSUPPORTED : GI_OK);
            if (!status)
                gi_jpeg_scan_free(&scan);
            queues[i]->k->release(queues[i], &on);
        }
    while (n > 0)
        gi_queue_close_alone(&queues[--n]);
    free(file.at);
    gi_image_free(&image);
}

static const int sizes[][2] = {{1, 1},     {8, 8},     {17, 9},   {31, 33},    {257, 129},
                               {300, 8},   {8, 300},   {511, 16}, {16, 511},   {1000, 3},
                               {255, 255}, {333, 222}, {640, 48}, {1021, 733}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("jpeg_encode", "all frames", draw, define, .sizes = sizes, .equal = equal),
};

WALK_ROWS(rows)
