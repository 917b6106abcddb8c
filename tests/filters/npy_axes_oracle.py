"""Which axis of an array has the channels: the stated rule, against numpy's axes; info and -v say it.

Sources: imgio/npy
"""
import itertools
import json

from _common import Checks, np

c = Checks()


def rule(shape, chw):
    """Returns whether the first axis has the channels, and what info says of it."""
    first, last = shape[0], shape[2]
    if first <= 4 and last <= 4:
        return chw, "channels first (as --layout says)" if chw else "channels last (--layout chw takes the first axis)"
    if first <= 4 or last <= 4:
        return first <= 4, "channels first" if first <= 4 else ""
    if first > 1024 or last > 1024:
        return first <= 1024, ""
    if chw or first == last:
        return chw, "channels first (as --layout says)" if chw else "channels last (--layout chw takes the first axis)"
    return first < last, "channels first (the shorter axis)" if first < last else "channels last (the shorter axis)"


LENGTHS = (1, 3, 4, 5, 7, 13, 40, 1024, 1025)
for first, last, dtype in itertools.product(LENGTHS, LENGTHS, (np.uint8, np.uint16, np.float32)):
    shape = (first, 6, last)
    if first > 1024 and last > 1024 or dtype != np.uint8 and (first not in (3, 13) or last not in (3, 40)):
        continue
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    np.save(c.path("a.npy"), array)
    for layout in ("hwc", "chw"):
        is_first, says = rule(shape, layout == "chw")
        if not says and is_first:
            continue  # the last axis is too long for channels
        h, w, n = (6, last, first) if is_first else (first, 6, last)
        info = json.loads(c.run("info", "--json", c.path("a.npy"), "--layout", layout))
        c.check(f"info of {shape} {layout}", (info["height"], info["width"], info["channels"]) == (h, w, n), str(info))
        c.check(f"info of {shape} {layout} says", info["detail"] == says, info["detail"])
        result = c.result("stats", c.path("a.npy"), "--json", "-v", "--layout", layout)
        found = [ch["max"] for ch in json.loads(result.stdout)["channels"]]
        c.check(f"stats of {shape} {layout}", found == array.max((1, 2) if is_first else (0, 1)).astype(float).tolist())
        c.check(f"-v of {shape} {layout}", (f"array with {says}: {w} x {h}" in result.stderr) if says else "array with" not in result.stderr, result.stderr)
        c.check(f"silent without -v: {shape}", c.result("stats", c.path("a.npy"), "--layout", layout).stderr == "")
np.save(c.path("a.npy"), np.asfortranarray(np.zeros((3, 9, 20), np.uint8)))
c.check("Fortran order", json.loads(c.run("info", "--json", c.path("a.npy")))["detail"] == "Fortran order, channels first")
np.save(c.path("a.npy"), np.zeros((9, 20, 3), np.int32))
c.check("integers", json.loads(c.run("info", "--json", c.path("a.npy")))["detail"] == "integers read as float")
c.check("the rule is in the help", "the shorter one of the first and the" in " ".join(c.run("help", "common").decode().split()))
c.end()
