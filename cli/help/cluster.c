/* The topic of help on batches that run on several machines.
 * SPDX-License-Identifier: MIT */
#include "cli/help/help.h"

const char *const gi_cluster_paragraphs[] = {
    "To divide a batch over several machines, each of them runs the same command with another "
    "--shard. --shard 3/8 processes the third of eight shares: it takes the inputs with the "
    "numbers 3, 11, 19 and so on in the sorted list. With --shard auto/8 a task of Slurm, "
    "Kubernetes, AWS Batch or GNU parallel takes the share of its own number.\n\n"
    "Each task writes a report. A task that is started again continues its report if it has "
    "--resume. Exit status 75 of a task means that the machine failed, not a file, so that the "
    "task should be started again. gpuimg report merge merges the reports; its exit status says "
    "whether a file is missing, and it refuses reports of different lists of inputs.",
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
    "An indexed job of Kubernetes (make image in the sources writes its container image), in the "
    "file blur.yaml:",
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
    "Ray Data: make install puts the module gpuimg.ray where Python finds it. Each GPU, or "
    "without GPUs each of up to three CPUs, has an actor, which keeps one gpuimg process running "
    "and sends its images through this process as "
    "a tar.",
    "In the file blur_ray.py:",
    "    import os, ray\n"
    "    from gpuimg.ray import GpuImg\n"
    "\n"
    "    ray.init(ignore_reinit_error=True)\n"
    "    gpus = 1 if ray.cluster_resources().get(\"GPU\") else 0  # an actor without a GPU has a "
    "CPU\n"
    "    photos = ray.data.read_binary_files(\"photos\", include_paths=True)\n"
    "    blurred = photos.map_batches(GpuImg, fn_constructor_args=(\"gaussian --sigma 3 | "
    "sharpen\",),\n"
    "                                 num_gpus=gpus, concurrency=3 if gpus else (1, 3), "
    "batch_size=4)\n"
    "    for photo in blurred.iter_rows():\n"
    "        with open(os.path.join(\"blurred\", os.path.basename(photo[\"path\"])), \"wb\") as "
    "file:\n"
    "            file.write(photo[\"bytes\"])",
    "With num_gpus=0.25 Ray gives four actors the same GPU in CUDA_VISIBLE_DEVICES, but it divides "
    "neither the memory nor the cores among them. Each gpuimg may take all free memory of the "
    "device, so give each a share by --max-device-bytes, and threads by --threads. CUDA itself "
    "takes "
    "some hundred MiB per process in addition. (--memory limits the memory of the host.)",
    "In the file blur_fractions.py:",
    "    import os, ray\n"
    "    from gpuimg.ray import GpuImg\n"
    "\n"
    "    ray.init(ignore_reinit_error=True)\n"
    "    photos = ray.data.read_binary_files(\"photos\", include_paths=True)\n"
    "    blurred = photos.map_batches(GpuImg, fn_constructor_args=(\"gaussian --sigma 3 | "
    "sharpen\",),\n"
    "                                 fn_constructor_kwargs={\"options\": [\"--max-device-bytes\", "
    "\"4G\", \"--threads\", \"2\"]},\n"
    "                                 num_gpus=0.25, concurrency=4, batch_size=4)\n"
    "    for photo in blurred.iter_rows():\n"
    "        with open(os.path.join(\"blurred\", os.path.basename(photo[\"path\"])), \"wb\") as "
    "file:\n"
    "            file.write(photo[\"bytes\"])",
    "Hugging Face Datasets, Spark and Polars have encoded images in columns of Arrow's record "
    "batches. gpuimg.arrow.GpuImg runs a chain on such a column by one gpuimg per process of "
    "Python; in Spark, frame.mapInArrow(GpuImg(\"gaussian --sigma 3\").batches, frame.schema). "
    "help(gpuimg.arrow) explains it. A data set of files has only their paths, until "
    "embed_table_storage reads their bytes.",
    "In the file blur_datasets.py:",
    "    import datasets, os\n"
    "    from datasets.table import embed_table_storage\n"
    "    from gpuimg.arrow import GpuImg\n"
    "\n"
    "    photos = datasets.load_dataset(\"imagefolder\", data_dir=\"photos\", "
    "split=\"train\").with_format(\"arrow\")\n"
    "    photos = photos.map(embed_table_storage, batched=True, batch_size=64)\n"
    "    blurred = photos.map(GpuImg(\"gaussian --sigma 3 | sharpen\"), batched=True, "
    "batch_size=64)\n"
    "    for photo in blurred.with_format(None).cast_column(\"image\", "
    "datasets.Image(decode=False)):\n"
    "        with open(os.path.join(\"blurred\", os.path.basename(photo[\"image\"][\"path\"])), "
    "\"wb\") as file:\n"
    "            file.write(photo[\"image\"][\"bytes\"])",
    "NeMo Curator reads WebDataset tars. Its ImageReaderStage takes the member NAME.jpg of each "
    "sample, where NAME has no dots, leaves out samples without one, and numbers the images in the "
    "order of the tar. gpuimg makes such tars of tars with images of any format: other members, "
    "such as NAME.json and NAME.txt, are copied, and the order stays. An image that fails is left "
    "out, and the exit status is 1. A task that is started again leaves the tars that exist.",
    "In the file curate.sh:",
    "    gpuimg run 'resize --size 512x512 --no-enlarge' --tar 'raw/{000..003}.tar' "
    "'jpeg/{000..003}.tar' \\\n"
    "        --suffix .jpg --quality 90 --resume",
    "GNU parallel, on this machine or with --sshlogin on others, in the file "
    "parallel.sh:",
    "    seq 8 | parallel --retries 3 \"gpuimg run 'gaussian --sigma 3 | sharpen' --recursive "
    "photos \\\n"
    "        --out-dir blurred --shard auto/8 --report report-{#}.jsonl --resume\"",
    "Tars in an object store: a command reads or writes each of them, here s5cmd. The programs aws "
    "s3 "
    "cp, gcloud storage cp and rclone are used in the same way. A tar that can't be fetched or "
    "sent "
    "whole fails, and --resume processes it again (gpuimg help batch). In the file tars.sh:",
    "    gpuimg resize --size 256x256 --shard auto/8 --report report-$SLURM_ARRAY_TASK_ID.jsonl "
    "--resume \\\n"
    "        --tar 'pipe:s5cmd cat s3://photos/in-{000..999}.tar' 'pipe:s5cmd pipe "
    "s3://photos/out-{000..999}.tar'",
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
