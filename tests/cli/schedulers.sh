#!/bin/bash
# The ways past one machine of help cluster that need no cluster: each makes the files that one process makes.
. "$(dirname "$0")/lib.sh"
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
    check "$1: the results are those of one process" test "$(checksum)" = "$want"
    check "$1: reports of all" gpuimg report merge report*.jsonl -o merged.jsonl
    check "$1: a line each" test "$(wc -l <merged.jsonl)" = 20
}

# Nineteen, which are no shards of one size.
mkdir -p photos/more
for ((i = 0; i < 19; i++)); do pgm "photos/$([[ $i != *5 ]] || echo more/)$i.pgm" $((20 + i)) 17; done
folder one
expect 0 gpuimg run 'gaussian --sigma 3 | sharpen' --recursive photos --out-dir blurred
want=$(checksum)
check "there are results" test "$(find blurred -type f | wc -l)" = 19

# Shards of a list that each task got in another order; names by the place in the list stay.
folder orders
expect 0 gpuimg blur $(find photos -type f | sort) --out 'one/{index}.{ext}'
for k in 1 2 3; do
    expect 0 gpuimg blur $(find photos -type f | sort) --out 'blurred/{index}.{ext}' --shard $k/3 --report report-$k.jsonl
done
check "{index} is the place in the whole list" diff -r one blurred
rm -rf blurred
for k in 1 2 3; do
    find photos -type f | if ((k == 2)); then sort -r; else sort; fi >other.txt
    expect 0 gpuimg blur --files-from other.txt --out 'blurred/{index}.{ext}' --shard $k/3
done
check "and of the sorted one, whatever order a task was given" diff -r one blurred
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
check "lists in other orders are one list" gpuimg report merge report*.jsonl -o merged.jsonl
check "and all is done once" test "$(cat report*.jsonl | grep -c done)" = 19
expect 0 gpuimg blur --files-from 1 --out-dir few --shard 40/50 --report few.jsonl
check "more shards than files" test ! -s err -a "$(wc -l <few.jsonl)" = 1
expect_error 2 'blur: --shard 4/3: want K/N with K from 1 to N, auto or auto/N' blur --files-from 1 --out-dir made --shard 4/3
expect_error 2 'blur: --shard auto: none of SLURM_ARRAY_TASK_ID, *' blur --files-from 1 --out-dir made --shard auto

# Kubernetes: each pod of the indexed job.
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
    check "Kubernetes: its pods" python3 pods.py
    same "Kubernetes"
else
    skip "Kubernetes: no PyYAML reads the manifest"
fi

# AWS Batch: each child of the array.
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
    skip "GNU parallel: there is none"
fi

folder make
cluster_file photos.mk >photos.mk
check "make" env -u MAKELEVEL -u MAKEFLAGS make -f photos.mk
same "make"
expect 0 env -u MAKELEVEL -u MAKEFLAGS make -q -f photos.mk
touch -d '1 minute' photos/3.pgm
touch -r merged.jsonl then
check "make: again" env -u MAKELEVEL -u MAKEFLAGS make -f photos.mk
check "make: only the new one" test "$(find blurred -newer then -type f)" = "$(find blurred -name 3.pgm)"

folder snakemake
cluster_file Snakefile >Snakefile
if command -v snakemake >/dev/null; then
    check "Snakemake" env HOME="$PWD" snakemake --cores 2 --quiet
    same "Snakemake"
else
    skip "Snakemake: there is none"
fi

cd "$work" || exit 1
finish
