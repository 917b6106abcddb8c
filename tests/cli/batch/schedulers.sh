#!/bin/bash
# The lines of help cluster that need no cluster: each scheduler makes the files that one process makes.
# Sources: cli/paths/shard* cli/paths/brace* cli/paths/input_list* cli/help/cluster.c cli/help/topics.c
. "$(dirname "$0")/../lib.sh"
mkdir bin
ln -s "$GPUIMG" bin/gpuimg
export PATH=$work/bin:$PATH GPUIMG_DEVICE=cpu

folder() { # folder NAME: a fresh one with photos, and in it
    cd "$work" && mkdir "$1" && cd "$1" && cp -rp "$work/photos" . || exit 1
}
checksum() { # of all files under blurred/
    (cd blurred && find . -type f -print0 | sort -z | xargs -0 sha256sum) | sha256sum
}
same() { # same NAME: the results are those of one process, and the reports say so
    check "$1: the results equal those of one process" test "$(checksum)" = "$want"
    check "$1: the reports can be merged" gpuimg report merge report*.jsonl -o merged.jsonl
    check "$1: the report has one line per input" test "$(wc -l <merged.jsonl)" = 20
}

# Nineteen inputs, so that shards have different sizes.
mkdir -p photos/more
for ((i = 0; i < 19; i++)); do pgm "photos/$([[ $i != *5 ]] || echo more/)$i.pgm" $((20 + i)) 17; done
folder one
expect 0 gpuimg run 'gaussian --sigma 3 | sharpen' --recursive photos --out-dir blurred
want=$(checksum)
check "all results exist" test "$(find blurred -type f | wc -l)" = 19

# Shards of a list that each task gets in another order; names with the position in the list are the same.
folder orders
expect 0 gpuimg blur $(find photos -type f | sort) --out 'one/{index}.{ext}'
for k in 1 2 3; do
    expect 0 gpuimg blur $(find photos -type f | sort) --out 'blurred/{index}.{ext}' --shard $k/3 --report report-$k.jsonl
done
check "{index} is the position in the whole list" diff -r one blurred
rm -rf blurred
for k in 1 2 3; do
    find photos -type f | if ((k == 2)); then sort -r; else sort; fi >other.txt
    expect 0 gpuimg blur --files-from other.txt --out 'blurred/{index}.{ext}' --shard $k/3
done
check "{index} does not depend on the order of the list" diff -r one blurred
rm -r blurred report*
find photos -type f | sort >1
sort -r 1 >2
shuf --random-source=1 1 >3
for k in 1 2 3; do
    expect 0 gpuimg run 'gaussian --sigma 3 | sharpen' --recursive photos --out-dir blurred --shard $k/3 --report report-$k.jsonl
done
same "shards"
rm -r blurred report*
for k in 1 2 3; do
    expect 0 gpuimg blur --files-from $k --out-dir blurred --out '{dir}/{name}' --shard $k/3 --report report-$k.jsonl
done
check "reports of lists in other orders can be merged" gpuimg report merge report*.jsonl -o merged.jsonl
check "each input is done once" test "$(cat report*.jsonl | grep -c done)" = 19
expect 0 gpuimg blur --files-from 1 --out-dir few --shard 40/50 --report few.jsonl
check "a shard without files ends with one line" grep -qE '^gpuimg: blur: 0 images .* 0 failed$' err
check "and a report of one line" test "$(wc -l <few.jsonl)" = 1
expect_error 2 'blur: --shard 4/3: want K/N with K from 1 to N, auto or auto/N' blur --files-from 1 --out-dir made --shard 4/3
expect_error 2 'blur: --shard auto: none of SLURM_ARRAY_TASK_ID, *' blur --files-from 1 --out-dir made --shard auto

# Kubernetes: each pod of the indexed job is run.
folder kubernetes
cluster_file blur.yaml >blur.yaml
if python3 -c 'import yaml' 2>/dev/null; then
    cat >pods.py <<'END'
import os, subprocess, yaml
job = yaml.safe_load(open("blur.yaml"))["spec"]
assert job["completionMode"] == "Indexed" and job["completions"] == job["parallelism"]
command = job["template"]["spec"]["containers"][0]["command"]
for i in range(job["completions"]):
    words = [w.replace("$(JOB_COMPLETION_INDEX)", str(i)) for w in command]
    subprocess.run(words, check=True, env={**os.environ, "JOB_COMPLETION_INDEX": str(i)})
END
    check "Kubernetes: all pods succeed" python3 pods.py
    same "Kubernetes"
else
    skip "Kubernetes: PyYAML, which parses the manifest, is missing"
fi

# AWS Batch: each child of the array is run.
folder aws
cluster_file child.sh >child.sh
for ((i = 0; i < 8; i++)); do
    AWS_BATCH_JOB_ARRAY_INDEX=$i AWS_BATCH_JOB_ARRAY_SIZE=8 check "AWS Batch: child $i" sh -e child.sh
done
same "AWS Batch"

folder parallel
cluster_file parallel.sh >parallel.sh
if command -v parallel >/dev/null && parallel --version 2>/dev/null | grep -q '^GNU'; then
    mkdir -p .parallel && touch .parallel/will-cite
    PARALLEL_HOME=$PWD/.parallel check "GNU parallel" sh -e parallel.sh
    same "GNU parallel"
else
    skip "GNU parallel is missing"
fi

folder make
cluster_file photos.mk >photos.mk
check "make" env -u MAKELEVEL -u MAKEFLAGS make -f photos.mk
same "make"
expect 0 env -u MAKELEVEL -u MAKEFLAGS make -q -f photos.mk
touch -d '1 minute' photos/3.pgm
touch -r merged.jsonl then
check "make: a second run" env -u MAKELEVEL -u MAKEFLAGS make -f photos.mk
check "make: a second run makes only the new file" test "$(find blurred -newer then -type f)" = "$(find blurred -name 3.pgm)"

folder snakemake
cluster_file Snakefile >Snakefile
if command -v snakemake >/dev/null; then
    check "Snakemake" env HOME="$PWD" snakemake --cores 2 --quiet
    same "Snakemake"
else
    skip "Snakemake is missing"
fi

cd "$work" || exit 1
finish
