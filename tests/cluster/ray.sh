#!/bin/bash
# Runs the lines of help cluster for Ray Data on three nodes of ray.cluster_utils.Cluster, one of which is removed meanwhile: the
# files must equal those of one process. The nodes are in a network namespace that has only a loopback, all of their
# processes end with the script, and their GPUs are fakes.
# Usage: ray.sh GPUIMG; Ray is installed in build/ray (make test-cluster).
# Sources: cli/python/gpuimg/ray.py
PATH=$PATH:/usr/sbin
python=$(dirname "$0")/../../build/ray/bin/python
give_up() {
    echo "skipped: Ray: $1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
if [[ ! ${GPUIMG_CLUSTER_ALONE-} ]]; then
    [[ -x ${python%python}ray ]] || give_up "it is not in build/ray: make test-cluster puts it there"
    alone=(unshare --pid --net --fork --kill-child --mount-proc)
    ((EUID)) && alone+=(--user --map-root-user)
    "${alone[@]}" ip link set lo up 2>/dev/null || give_up "unshare can't make a namespace of network and processes here"
    GPUIMG_CLUSTER_ALONE=1 exec "${alone[@]}" bash "$0" "$@"
fi
python=$(readlink -f "$(dirname "$python")")/python
. "$(dirname "$0")/../cli/lib.sh"
ip link set lo up
mkdir bin ray # Ray stores the address of its head there instead of in /tmp/ray, which may be another user's
ln -s "$GPUIMG" bin/gpuimg
"$python" "$tests/../../cli/python/generate.py" "$GPUIMG" python/gpuimg || exit 1
export PATH=$work/bin:$PATH HOME=$work PYTHONPATH=$work/python PYTHONDONTWRITEBYTECODE=1 GPUIMG_DEVICE=cpu
export RAY_TMPDIR=$work RAY_USAGE_STATS_ENABLED=0 RAY_AUTH_MODE=disabled RAY_DATA_DISABLE_PROGRESS_BARS=1

cluster_file blur_ray.py >blur_ray.py
check "help cluster has lines for Ray" grep -q GpuImg blur_ray.py
mkdir photos
python3 - <<'END'
import random
for i in range(60):
    with open(f"photos/{i:03d}.ppm", "wb") as f:
        f.write(b"P6 448 448 255\n" + random.Random(i).randbytes(3 * 448 * 448))
END
expect 0 gpuimg run 'gaussian --sigma 3 | sharpen' --recursive photos --out-dir one
check "the actor works without nodes" "$python" "$tests/../cluster/ray_actor.py"
# The machine has no GPU: the actors take CPUs.
cat >no_gpu.py <<'END'
import ray
ray.init(num_cpus=2, num_gpus=0, object_store_memory=200 << 20, include_dashboard=False)
exec(compile(open("blur_ray.py").read(), "blur_ray.py", "exec"), {})
END
mkdir blurred
check "a machine without a GPU" timeout 200 "$python" no_gpu.py
check "without a GPU: the files equal those of one process" diff -rq blurred one
# Four actors share a GPU: each sees the same one, and tells gpuimg how much of its memory it may take.
mv bin/gpuimg bin/original
cat >bin/gpuimg <<END
#!/bin/sh
echo "\$PPID \$CUDA_VISIBLE_DEVICES \$*" >>"$work/fractions.log"
exec "$work/bin/original" "\$@"
END
chmod +x bin/gpuimg
cluster_file blur_fractions.py >blur_fractions.py
sed 's/num_cpus=2, num_gpus=0/num_cpus=8, num_gpus=1/; s/blur_ray/blur_fractions/' no_gpu.py >one_gpu.py
rm -rf blurred && mkdir blurred
check "fractions of a GPU" timeout 200 "$python" one_gpu.py
check "fractions of a GPU: the files equal those of one process" diff -rq blurred one
# Ray may give all tars to two or three of the four actors.
check "fractions of a GPU: the actors have the same device" \
    test "$(awk '/ run --tar .*--max-device-bytes 4G --threads 2/ {print $1, $2}' fractions.log | sort -u | awk '{n += $2 == "0"} END {print (NR >= 2 && n == NR)}')" = 1
mv bin/original bin/gpuimg
rm -rf blurred
check "three nodes, one of which is removed" timeout 300 "$python" "$tests/../cluster/ray_cluster.py" "$work"
cp check.log ray.log
check "the files equal those of one process" diff -rq blurred one
check "there are 60 files" test "$(find blurred -type f | wc -l)" = 60
((failed)) && tail -n 40 ray.log
finish
