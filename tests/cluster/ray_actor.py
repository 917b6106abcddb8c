"""Tests GpuImg without Ray's nodes: one process for all batches, a new one after it dies, and None for damaged images."""

import os
import threading
import time

import gpuimg
from gpuimg.ray import GpuImg

photos = [open(f"photos/{i:03d}.ppm", "rb").read() for i in range(12)]
blurred = [open(f"one/{i:03d}.ppm", "rb").read() for i in range(12)]

actor = GpuImg("gaussian --sigma 3 | sharpen")
assert list(actor({"bytes": photos})["bytes"]) == blurred
pid = actor._work.process().pid
batch = actor({"bytes": [photos[0], photos[1][:5000], b"", b"no image", photos[2]], "more": [1, 2, 3, 4, 5]})
assert list(batch["bytes"]) == [blurred[0], None, b"", b"no image", blurred[2]], batch
assert batch["more"] == [1, 2, 3, 4, 5]
assert list(actor({"bytes": []})["bytes"]) == []
assert actor._work.process().pid == pid

os.kill(pid, 9)
assert list(actor({"bytes": photos})["bytes"]) == blurred
assert actor._work.process().pid != pid
pid = actor._work.process().pid
threading.Thread(target=lambda: (time.sleep(0.2), os.kill(pid, 9))).start()
assert list(actor({"bytes": photos * 4})["bytes"]) == blurred * 4

other = GpuImg("gaussian --sigma 3 | sharpen", column="photo", options=("--format", "png", "--threads", "1"))
assert other({"photo": photos[:1]})["photo"][0].startswith(b"\x89PNG")
wrong = GpuImg("gaussian --sigma 999")
try:
    wrong({"bytes": photos[:1]})
    raise SystemExit("a chain that is wrong has to fail")
except gpuimg.ArgumentError as error:
    assert "each 0 to 250 px" in str(error), error
del actor, other, wrong
