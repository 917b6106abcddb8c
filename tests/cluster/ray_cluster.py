"""Runs blur_ray.py of help cluster on three nodes and removes one of them, with an actor and its gpuimg, while they
work.

Usage: ray_cluster.py FOLDER, which has blur_ray.py and photos/.
"""

import os
import sys
import threading
import time

import ray
from ray.cluster_utils import Cluster

folder = sys.argv[1]
NODE = {"num_cpus": 2, "num_gpus": 2, "object_store_memory": 200 << 20, "temp_dir": folder}


def parents():
    """Returns the parent and the name of each process."""
    table = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            name, rest = open(f"/proc/{pid}/stat").read().rsplit(") ", 1)
            table[int(pid)] = int(rest.split()[1]), name.split("(", 1)[1]
        except OSError:
            pass
    return table


def processes_of(node):
    """Returns the gpuimg processes below the node's raylet."""
    raylet = node.all_processes["raylet"][0].process.pid
    table = parents()
    found = []
    for pid, (parent, name) in table.items():
        while name == "gpuimg" and parent > 1:
            if parent == raylet:
                found.append(pid)
            parent = table.get(parent, (0, ""))[0]
    return found


def remove_one():
    """Removes the first worker node that has an actor, once some of the files exist and most do not."""
    while True:
        time.sleep(0.05)
        done = len(os.listdir("blurred"))
        busy = [node for node in others if processes_of(node)]
        if done >= 4 and busy:
            break
    removed.append((done, processes_of(busy[0])))
    cluster.remove_node(busy[0], allow_graceful=False)


os.chdir(folder)
os.makedirs("blurred", exist_ok=True)
cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False, "_system_config": {
    "health_check_initial_delay_ms": 0, "health_check_period_ms": 1000, "health_check_failure_threshold": 3}})
others = [cluster.add_node(**NODE) for _ in range(2)]
ray.init(address=cluster.address)
removed = []
watcher = threading.Thread(target=remove_one, daemon=True)
watcher.start()
exec(compile(open("blur_ray.py").read(), "blur_ray.py", "exec"), {})
watcher.join(10)
assert removed, "no node was removed: no actor was on it, or all was done before"
done, pids = removed[0]
assert pids and done < 60, removed
assert not any(pid in parents() for pid in pids), "gpuimg of the removed node lives on"


@ray.remote
def command():
    """Returns the command that an actor runs with the caller's share of a node."""
    from gpuimg.ray import GpuImg
    return GpuImg("invert", options=["--quiet"])._work.process().command


assert ray.get(command.options(num_cpus=2).remote())[2:] == ["--tar", "--threads", "2", "--quiet", "--", "invert", "-", "-"]
assert ray.get(command.options(num_gpus=1).remote())[2:] == ["--tar", "--quiet", "--", "invert", "-", "-"]
ray.shutdown()
cluster.shutdown()
