/* SSIMULACRA 2. J. Sneyers, https://github.com/cloudinary/ssimulacra2, version 2.1, from which the
 * weights are. On up to six scales, made by the means of 2 x 2 pixels in linear light, it compares
 * the channels of XYB by three maps: a structural similarity, edges that the second image adds, and
 * edges that it loses (kernels/xyb.h). The score is a weighted sum of two norms of each map.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/ssimulacra2.h"

#include <math.h>
#include <stdlib.h>

#include "filters/color/spaces.h"
#include "kernels/kernels.h"
#include "kernels/xyb.h"

/* In the order channel (X, Y, B), scale, norm (1, 4), map (similarity, added, lost edges). */
static const double weights[3][GI_XYB_SCALES][2][3] = {
    {{{0, 0.0007376606707406586, 0}, {0, 0.0007793481682867309, 0}},
     {{0, 0.0004371155730107379, 0},
      {1.1041726426657346, 0.00066284834129271, 0.00015231632783718752}},
     {{0, 0.0016406437456599754, 0}, {1.8422455520539298, 11.441172603757666, 0}},
     {{0.0007989109436015163, 0.000176816438078653, 0}, {1.8787594979546387, 10.94906990605142, 0}},
     {{0.0007289346991508072, 0.9677937080626833, 0},
      {0.00014003424285435884, 0.9981766977854967, 0.00031949755934435053}},
     {{0.0004550992113792063, 0, 0}, {0.0013648766163243398, 0, 0}}},
    {{{0, 0, 0}, {7.466890328078848, 0, 17.445833984131262}},
     {{0.0006235601634041466, 0, 0},
      {6.683678146179332, 0.00037724407979611296, 1.027889937768264}},
     {{225.20515300849274, 0, 0},
      {19.213238186143016, 0.0011401524586618361, 0.001237755635509985}},
     {{176.39317598450694, 0, 0}, {24.43300999870476, 0.28520802612117757, 0.0004485436923833408}},
     {{0, 0, 0}, {34.77906344483772, 44.835625328877896, 0}},
     {{0, 0, 0}, {0, 0, 0}}},
    {{{0, 0.0008680556573291698, 0}, {0, 0, 0}},
     {{0, 0.0005313191874358747, 0}, {0.00016533814161379112, 0, 0}},
     {{0, 0, 0}, {0.0004179171803251336, 0.0017290828234722833, 0}},
     {{0.0020827005846636437, 0, 0}, {8.826982764996862, 23.19243343998926, 0}},
     {{95.1080498811086, 0.9863978034400682, 0.9834382792465353},
      {0.0012286405048278493, 171.2667255897307, 0.9807858872435379}},
     {{0, 0, 0}, {0.0005130064588990679, 0, 0.00010854057858411537}}},
};

/* Returns the score of the norms of n scales. If there are fewer than six, the weights of a channel
 * follow those of the channel before, as in the program of the source. */
static double score_of(const struct gi_xyb_norms *norms, const struct gi_xyb_layout *layout)
{
    const double *weight = &weights[0][0][0][0];
    double sum = 0;
    for (int c = 0; c < 3; c++)
        for (int s = 0; s < layout->n; s++) {
            double pixels = (double)layout->scales[s].width * (double)layout->scales[s].height;
            for (int i = 0; i < GI_XYB_NORMS; i++) {
                double mean = norms->v[s][c][i / 3 + 2 * (i % 3)] / pixels;
                sum += *weight++ * (i < 3 ? mean : sqrt(sqrt(mean)));
            }
        }
    sum *= 0.9562382616834844;
    sum = 2.326765642916932 * sum - 0.020884521182843837 * sum * sum +
          6.248496625763138e-05 * sum * sum * sum;
    return sum > 0 ? 100 - 10 * pow(sum, 0.6276336467831387) : 100;
}

float *gi_ssimulacra2_light(enum gi_type type)
{
    int full = (int)gi_type_full_scale(type);
    float *light = malloc(((size_t)full + 1) * sizeof *light);
    for (int v = 0; light && v <= full; v++)
        light[v] = (float)gi_srgb_light((double)v / full);
    return light;
}

size_t gi_ssimulacra2_nbytes(int width, int height)
{
    const struct gi_xyb_layout layout = gi_xyb_layout_of(width, height);
    size_t quarter = 3 * sizeof(float) * (((size_t)width + 1) / 2) * (((size_t)height + 1) / 2);
    /* both images, and linear light of the smaller scales of one of them */
    return 2 * sizeof(float) * (size_t)layout.width * (size_t)layout.height + 2 * quarter;
}

enum gi_status gi_ssimulacra2_begin(struct gi_ssimulacra2 *original, struct gi_queue *queue,
                                    const struct gi_image *image, const float *light,
                                    struct gi_err *err)
{
    const struct gi_xyb_layout layout = gi_xyb_layout_of(image->width, image->height);
    const struct gi_xyb spec = {light};
    enum gi_status status = GI_OK;
    *original =
        (struct gi_ssimulacra2){.queue = queue, .width = image->width, .height = image->height};
    for (int i = 0; i < 2 && layout.n && !status; i++)
        status =
            queue->k->alloc(queue, &original->xyb[i], layout.width, layout.height, 1, GI_F32, err);
    if (!status && layout.n)
        status = queue->k->xyb_scales(queue, &original->xyb[0], image, &spec, err);
    if (status)
        gi_ssimulacra2_end(original);
    return status;
}

enum gi_status gi_ssimulacra2_score(double *score, struct gi_ssimulacra2 *original,
                                    const struct gi_image *image, const float *light,
                                    struct gi_err *err)
{
    const struct gi_xyb_layout layout = gi_xyb_layout_of(original->width, original->height);
    const struct gi_xyb spec = {light};
    const struct gi_xyb_compare with = {original->width, original->height, &original->xyb[1]};
    struct gi_queue *queue = original->queue;
    struct gi_xyb_norms norms;
    *score = NAN;
    if (!layout.n)
        return GI_OK;
    enum gi_status status = queue->k->xyb_scales(queue, &original->xyb[1], image, &spec, err);
    if (!status)
        status = queue->k->xyb_norms(queue, &norms, &original->xyb[0], &with, err);
    if (!status)
        *score = score_of(&norms, &layout);
    return status;
}

void gi_ssimulacra2_end(struct gi_ssimulacra2 *original)
{
    for (int i = 0; i < 2; i++)
        if (original->xyb[i].data)
            original->queue->k->release(original->queue, &original->xyb[i]);
    *original = (struct gi_ssimulacra2){0};
}
