/* Limits CUDA to the GPUs that a command uses, because CUDA starts up faster with fewer GPUs.
 * SPDX-License-Identifier: MIT */
#pragma once

/* Returns the value of CUDA_VISIBLE_DEVICES that makes CUDA see only the n GPUs `numbers`, in this
 * order. `before` is the present value, or NULL if the variable is not set; the numbers count from
 * 0 among the GPUs that CUDA sees with it. The caller frees the result. Returns NULL if the
 * variable is to stay as it is: if CUDA would not see fewer GPUs, or if it is unknown which GPUs
 * the numbers mean, because they are too high, `before` is not a plain list, or a GPU is divided
 * (MIG). `root` is a prefix of /dev and /proc; it is "" except in tests. */
char *gi_gpus_visible(const char *root, const char *before, const int *numbers, int n);

/* Called before any CUDA call, with the numbers of the GPUs that the process will use, or with n 0
 * if it may use all. Makes CUDA see only these GPUs, if gi_gpus_visible() allows that, and run
 * the kernels of GI_QUEUES_A_GPU queues at a time, if the process does not go on with other
 * commands. Sets ordinals[i] to the number that CUDA then gives to the GPU numbers[i]. Later calls
 * set only the ordinals. For the main thread. */
void gi_gpus_see_only(int *ordinals, const int *numbers, int n);
