/* lcms2 as it is loaded, for the files that use it. GI_HAS_LCMS is defined if its header exists.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "imgio/library.h"

#if __has_include(<lcms2.h>)
#define GI_HAS_LCMS
#include <lcms2.h>
#include <lcms2_plugin.h>

#define GI_LCMS_FUNCTIONS(X)                                                                       \
    X(cmsCreateContext)                                                                            \
    X(cmsDeleteContext)                                                                            \
    X(cmsGetContextUserData)                                                                       \
    X(cmsOpenProfileFromMemTHR)                                                                    \
    X(cmsCloseProfile)                                                                             \
    X(cmsReadTag)                                                                                  \
    X(cmsGetToneCurveParametricType)                                                               \
    X(cmsGetToneCurveEstimatedTable)                                                               \
    X(cmsGetToneCurveEstimatedTableEntries)                                                        \
    X(cmsEvalToneCurveFloat)                                                                       \
    X(cmsGetColorSpace)                                                                            \
    X(cmsCreate_sRGBProfileTHR)                                                                    \
    X(cmsCreateTransformTHR)                                                                       \
    X(cmsDoTransform)                                                                              \
    X(cmsDeleteTransform)                                                                          \
    X(cmsCreateRGBProfileTHR)                                                                      \
    X(cmsCreateGrayProfileTHR)                                                                     \
    X(cmsBuildParametricToneCurve)                                                                 \
    X(cmsFreeToneCurve)                                                                            \
    X(cmsD50_xyY)                                                                                  \
    X(cmsMLUalloc)                                                                                 \
    X(cmsMLUsetASCII)                                                                              \
    X(cmsMLUfree)                                                                                  \
    X(cmsWriteTag)                                                                                 \
    X(cmsSaveProfileToMem)                                                                         \
    X(cmsIsMatrixShaper)                                                                           \
    X(cmsTransform2DeviceLink)                                                                     \
    X(cmsPipelineGetPtrToFirstStage)                                                               \
    X(cmsStageNext)                                                                                \
    X(cmsStageType)                                                                                \
    X(cmsStageData)                                                                                \
    X(cmsStageInputChannels)                                                                       \
    X(cmsStageOutputChannels)
GI_LIBRARY_TABLE(gi_lcms_table, GI_LCMS_FUNCTIONS);
extern struct gi_lcms_table gi_lcms;

/* Opens a context that limits allocations to 16 MiB each, which cmsDeleteContext() closes. *starved
 * must outlive it, and becomes true if memory runs out. Returns NULL then. */
cmsContext gi_lcms_open(bool *starved);

/* Opens a profile without its float tables. Returns NULL if it is damaged or memory ran out. */
cmsHPROFILE gi_lcms_profile(cmsContext context, const void *bytes, size_t nbytes, bool *starved);
#endif
