#!/bin/bash
# Runs the job array of help cluster on a real Slurm: munged, slurmctld and slurmd on this host, a node that claims 8 cores. Two
# tasks are killed with -9: one requeues itself, like a task whose machine failed, and the other one is requeued. The
# results must equal those of one process. A PID namespace ends all processes with the script.
# Sources: cli/paths/shard* cli/report
if [[ ! ${GPUIMG_CLUSTER_ALONE-} ]]; then
    for tool in munged slurmctld slurmd sbatch; do
        PATH=$PATH:/usr/sbin command -v $tool >/dev/null && continue
        echo "skipped: Slurm: no $tool here: try make deps test-cluster"
        echo "0 passed, 0 failed, 1 skipped"
        exit 0
    done
    alone=(unshare --pid --fork --kill-child --mount-proc)
    # A process that is root only inside the namespace may not drop groups, which Slurm's root does.
    ((EUID)) && alone+=(--user --map-current-user)
    if ! "${alone[@]}" true 2>/dev/null; then
        echo "skipped: Slurm: unshare can't make a namespace of processes here"
        echo "0 passed, 0 failed, 1 skipped"
        exit 0
    fi
    GPUIMG_CLUSTER_ALONE=1 exec "${alone[@]}" bash "$0" "$@"
fi
. "$(dirname "$0")/../cli/lib.sh"
# The machine of task 5 fails the first time.
mkdir bin
cat >bin/gpuimg <<END
#!/bin/sh
[ "\$SLURM_ARRAY_TASK_ID-\$SLURM_RESTART_COUNT" != 5- ] || exit 75
exec "$GPUIMG" "\$@"
END
chmod +x bin/gpuimg
export PATH=$work/bin:$PATH:/usr/sbin GPUIMG_DEVICE=cpu

wait_for() { # wait_for SECONDS COMMAND...: until it succeeds
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < end)) || return 1
        sleep 0.05
    done
}

# A cluster of one host. It claims more CPUs than it has, so that all tasks of the array run at once; all share one real CPU,
# so that no task is done before it is killed.
start_slurm() {
    local state=$work/slurm port cpu
    mkdir -p "$state"/{munge,controller,node}
    chmod 755 "$work" "$state" "$state/munge"
    (umask 077 && head -c 1024 /dev/urandom >"$state/munge/key")
    munged --foreground --force --key-file="$state/munge/key" --socket="$state/munge/socket" --pid-file="$state/munge/pid" \
        --log-file="$state/munge/log" --seed-file="$state/munge/seed" >"$state/munge/out" 2>&1 &
    port=$(python3 -c 'import socket
s = [socket.socket() for _ in range(2)]
for x in s: x.bind(("127.0.0.1", 0))
print(*(x.getsockname()[1] for x in s))')
    export SLURM_CONF=$state/slurm.conf
    cat >"$SLURM_CONF" <<END
ClusterName=gpuimg
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=${port% *}
SlurmdPort=${port#* }
AuthType=auth/munge
AuthInfo=socket=$state/munge/socket
CredType=cred/munge
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
StateSaveLocation=$state/controller
SlurmdSpoolDir=$state/node
SlurmctldPidFile=$state/controller.pid
SlurmdPidFile=$state/node.pid
SlurmctldLogFile=$state/controller.log
SlurmdLogFile=$state/node.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1
KillWait=1
NodeName=node NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP
END
    wait_for 10 munge -S "$state/munge/socket" -n
    slurmctld -D -i >"$state/controller.out" 2>&1 &
    cpu=$(taskset -cp $$)
    cpu=${cpu##* }
    taskset -c "${cpu%%[-,]*}" slurmd -D -N node >"$state/node.out" 2>&1 &
    wait_for 30 node_is_idle
}
node_is_idle() { [[ $(sinfo -h -o %t) == idle ]]; }
checksum() { (cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum) | sha256sum; }

# Returns whether all N tasks of the array are completed. Slurm delays a requeued task by two minutes, because slurmd refuses
# a job that has just ended: here some seconds are enough.
is_completed() { # is_completed JOB N
    local id
    for id in $(squeue -h -r -t pending -o %i); do scontrol update jobid="$id" StartTime=now; done
    [[ $(squeue -h -r -t completed -j "$1" -o %T | wc -l) == "$2" ]]
}

# pids prints the processes of task K whose name matches PATTERN; is_under_way tells whether some but not all of its files are done.
pids() { # pids K PATTERN
    local p
    for p in $(grep -lzx "SLURM_ARRAY_TASK_ID=$1" /proc/[0-9]*/environ 2>/dev/null); do
        p=${p%/environ}
        [[ $(<"$p/comm") =~ $2 ]] && echo "${p##*/}"
    done
}
is_under_way() { # is_under_way K
    local lines
    lines=$(wc -l <"report-$1.jsonl") && ((lines > 2))
}
kill_task() { # kill_task K PATTERN: kills with -9 while it works
    check "task $1 works" wait_for 60 is_under_way "$1"
    # shellcheck disable=SC2046
    check "task $1 is killed" kill -9 $(pids "$1" "$2")
    check "task $1 was killed before its end" test "$(grep -c '"done"' "report-$1.jsonl")" -lt "$each"
}

if ! start_slurm; then
    fail 'Slurm starts' "$(tail -n 3 slurm/*.log slurm/*.out)"
    finish
    exit
fi
each=48
mkdir photos
python3 - $((8 * each)) <<'END'
import random, sys
for i in range(int(sys.argv[1])):
    with open(f"photos/{i:03d}.ppm", "wb") as f:
        f.write(b"P6 448 448 255\n" + random.Random(i).randbytes(3 * 448 * 448))
END
cluster_file blur.sbatch >blur.sbatch
cluster_file again.sh >again.sh
check "help cluster has an array of 8" grep -qx '#SBATCH --array=1-8 .*' blur.sbatch

job=$(sbatch --parsable blur.sbatch)
check "the array is accepted" test "$job"
kill_task 3 '^gpuimg$' # the script lives and requeues itself
kill_task 6 '^(gpuimg|slurm_script)$'
task_failed() { [[ $(squeue -h -t all -r -o '%K %T') == *"6 FAILED"* ]]; }
check "task 6 failed" wait_for 20 task_failed
expect 1 gpuimg report merge report-*.jsonl -o all.jsonl
check "report merge counts missing files" grep -qE 'of 384 files 0 failed and [0-9]+ never ran' err
check "task 6 is requeued" scontrol requeue "${job}_6"
sleep 3
check "the array ends" wait_for 60 is_completed "$job" 8
for k in 3 5 6; do
    check "task $k ran twice" test "$(scontrol show job "${job}_$k" | grep -c 'Restarts=1')" = 1
done
expect 0 gpuimg report merge report-*.jsonl -o report.jsonl
check "the report has one line per input" test "$(wc -l <report.jsonl)" = $((8 * each + 1))

# The reports of two tasks are lost, and the results of one: these tasks run again, by number.
cp report.jsonl whole.jsonl
rm report-2.jsonl report-7.jsonl
jq -r 'select(.output) | .output' whole.jsonl | awk 'NR % 8 == 2' | xargs rm
expect 1 gpuimg report merge report-*.jsonl --missing array
check "--missing names the two tasks" grep -qx '2,7' out
check "the second array of help cluster" sh -e again.sh
check "the second array ends" wait_for 60 is_completed "$(squeue -h -t all -o %F | sort -n | tail -1)" 2
expect 0 gpuimg report merge report-*.jsonl -o report.jsonl
check "the report is the same as before" cmp <(jq -c '[.input, .status]' whole.jsonl) <(jq -c '[.input, .status]' report.jsonl)

expect 0 gpuimg run 'gaussian --sigma 3 | sharpen' --recursive photos --out-dir one
check "all results" test "$(find one -type f | wc -l)" = $((8 * each))
check "the results are those of one process" test "$(checksum blurred)" = "$(checksum one)"
check "no temporary file is left" test -z "$(find blurred -type f ! -name '*.ppm')"
((failed)) && squeue -t all -r -o '%i %T %r %S' && tail -n 5 slurm/*.log slurm-*.out
finish
