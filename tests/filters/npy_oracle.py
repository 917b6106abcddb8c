""".npy images: numpy writes the files that gpuimg reads and reads those that it writes, in both byte orders and axis
orders.

Sources: imgio/npy* imgio/rounding*
"""
import os

from _common import Checks, np

c = Checks()
check, run = c.check, c.result
os.chdir(c.folder.name)
rng = np.random.default_rng(3)
for dtype in ("u1", "<u2", ">u2", "<f4", ">f4"):
    for shape in ((5, 7), (5, 7, 1), (5, 7, 2), (5, 7, 3), (5, 7, 4), (1, 1), (300, 500, 3)):
        for order in "CF":
            values = rng.integers(0, 250, shape)
            if len(shape) == 3 and shape[2] % 2 == 0:
                values[..., -1] = 255 if dtype == "u1" else 65535 if "u" in dtype else 1
            array = np.array(values, dtype=dtype, order=order)
            name = f"{dtype} {shape} {order}"
            np.save("in.npy", array)
            result = run("blur", "in.npy", "out.npy", "--k", "1")
            check(f"{name}: {result.stderr}", result.returncode == 0)
            got = np.load("out.npy")
            check(name, got.dtype.newbyteorder("=") == array.dtype.newbyteorder("="))
            check(name, np.array_equal(got.reshape(shape), array.astype(got.dtype)))
# Other types are read as float32 of the nearest value, bool as full scale or 0; the extremes of each type are among
# the samples. numpy's cast to float32 rounds to nearest too.
for dtype in ("?", "i1", "<i2", ">i2", "<i4", ">i4", "<u4", ">u4", "<i8", ">i8", "<u8", ">u8", "<f2", ">f2", "<f8", ">f8"):
    for shape in ((5, 7), (6, 5, 3), (70, 81)):
        for order in "CF":
            array = np.array(np.frombuffer(rng.bytes(8 * int(np.prod(shape))), "u8").reshape(shape))
            kind = np.dtype(dtype)
            if kind.kind in "iu":
                array = array.astype(dtype)
                array.flat[0], array.flat[1] = np.iinfo(kind).min, np.iinfo(kind).max
            elif kind.kind == "f":
                array = (array.astype("i8") * 2.0 ** rng.integers(-100, -50, shape)).astype(dtype)
                array.flat[0], array.flat[1], array.flat[2] = np.inf, -np.finfo(kind).tiny / 8, 1 / 3
            else:
                array = array % 2 == 1
            array = np.array(array, order=order)
            np.save("in.npy", array)
            result = run("convert", "--force", "in.npy", "out.npy")
            want = array * np.uint8(255) if dtype == "?" else array.astype("f4")
            got = np.load("out.npy") if result.returncode == 0 else None
            check(f"{dtype} {shape} {order}: {result.stderr}",
                  got is not None and got.dtype == want.dtype and np.array_equal(got, want))
# Rounding to float32: a warning if integers change, or floats by more than a millionth of their range; with --strict any
# change is an error.
unit = np.linspace(0, 1, 35).reshape(5, 7)
whole = np.arange(35).reshape(5, 7)
for name, array, warns, fails in (
        ("float64 from 0 to 1", unit, False, True), ("exact float64", whole / 4, False, False),
        ("float64 far from 0", 1e9 + unit, True, True), ("float64 with NaN and inf", np.where(whole % 3, np.where(whole % 3 == 1, np.inf, whole), np.nan), False, False),
        ("float64 over float32's range", whole * 1e300, True, True), ("constant float64", 0 * unit + 0.1, False, True),
        ("float64 in Fortran order", np.asfortranarray(1e9 + unit), True, True), ("big-endian float64", (1e9 + unit).astype(">f8"), True, True),
        ("int32 to 2^24", whole.astype("i4") + 2**24 - 34, False, False), ("int32 above 2^24", whole.astype("i4") + 2**24, True, True),
        ("int32 below -2^24", -2**24 - whole.astype("i4"), True, True), ("even int32 to 2^25", 2 * whole.astype("i4") + 2**25 - 68, False, False),
        ("uint32", whole.astype("u4") + np.uint32(2**32 - 35), True, True), ("int64", whole + 2**40, True, True),
        ("the smallest int64", 0 * whole - 2**63, False, False), ("uint64", whole.astype("u8") + np.uint64(2**53), True, True),
        ("float16", unit.astype("f2"), False, False), ("float32", unit.astype("f4"), False, False)):
    np.save("in.npy", array)
    with np.errstate(all="ignore"):  # the table agrees with numpy
        exact = np.array_equal(array.astype("f4").astype(array.dtype), array, equal_nan=array.dtype.kind == "f")
    check(f"{name}: numpy", exact != fails or array.dtype.itemsize == 8 and array.dtype.kind in "iu")
    result = run("convert", "--force", "in.npy", "out.npy")
    words = f"its {8 * array.dtype.itemsize}-bit {'floats' if array.dtype.kind == 'f' else 'integers'}"
    want = f"gpuimg: warning: convert: in.npy: {words} are rounded to 32-bit floats\n" if warns else ""
    check(f"{name}: {result.stderr}", result.returncode == 0 and result.stderr == want)
    check(f"{name} quiet", run("convert", "--force", "-q", "in.npy", "out.npy").stderr == "")
    result = run("convert", "--force", "--strict", "in.npy", "out.npy")
    want = f"gpuimg: convert: in.npy: --strict: {words} would be rounded to 32-bit floats\n" if fails else ""
    check(f"{name} --strict: {result.stderr}", (result.returncode, result.stderr) == (int(fails), want))
# Channels first: read if no other order is possible or --layout says so, written by --layout.
for shape, words, axis in (((3, 40, 50), (), 0), ((1, 9, 11), (), 0), ((3, 40, 4), ("--layout", "chw"), 0),
                           ((3, 40, 4), (), 2), ((40, 50, 3), ("--layout", "chw"), 2)):
    for dtype in ("u1", ">u2", "<f4", "f8"):
        for order in "CF":
            array = np.array(rng.integers(0, 256, shape), dtype=dtype, order=order)
            array[(slice(None),) * axis + (-1,)] = {"u1": 255, ">u2": 65535}.get(dtype, 1)  # opaque, if it is alpha
            np.save("in.npy", array)
            result = run("convert", "--force", "in.npy", "out.npy", *words)
            want = np.moveaxis(array, axis, 0 if words else 2)
            want = want[..., 0] if want.shape[2] == 1 and not words else want
            got = np.load("out.npy") if result.returncode == 0 else None
            check(f"{dtype} {shape} {order} {words}: {result.stderr}", got is not None and np.array_equal(got, want))
# Labels are integers of any type, as scipy and scikit-image make them.
np.save("image.npy", rng.integers(0, 256, (4, 6)).astype("u1"))
labels = rng.integers(0, 3, (4, 6))
rows = run("stats", "image.npy", "--labels", "labels.npy", "--format", "json")
for dtype in ("u2", "<u4", ">i4", "i8", "u8", "i2"):
    np.save("labels.npy", labels.astype(dtype))
    result = run("stats", "image.npy", "--labels", "labels.npy", "--format", "json")
    rows = rows if rows.returncode == 0 else result
    check(f"labels of {dtype}: {result.stderr}", result.returncode == 0 and result.stdout == rows.stdout != "")
for wrong in (-1, 2**32):
    labels[3, 5] = wrong
    np.save("labels.npy", labels)
    result = run("stats", "image.npy", "--labels", "labels.npy")
    check(f"label {wrong}: {result.stderr}", result.returncode == 1 and "has a label outside 0 to 4294967295" in result.stderr)
for array in (np.zeros(5, "u1"), np.zeros((2, 2), "c8"), np.zeros((2, 2), "S2"),
              np.zeros((2, 2, 2, 2), "u1")):
    np.save("in.npy", array)
    result = run("info", "in.npy")
    check(f"{array.dtype} {array.shape}", result.returncode == 1 and "want" in result.stderr)

# Handwritten headers: those that numpy reads give the same image, and those that it refuses are refused.
good = "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }"
data = bytes(range(40, 52))
for version, words in ((1, good), (2, good), (3, good), (1, good.replace("<", "=")), (1, good.replace("'", '"')),
                       (1, good.replace(", }", "}")), (1, good.replace(": ", ":").replace(", ", ",")),
                       (1, good.replace("False", "True")), (1, good.replace("(2, 3)", "( 2 , 3 , 1 )")),
                       (1, good.replace("(2, 3)", "2, 3")),
                       (1, good.replace("(2, 3)", "(2, 3")), (1, good.replace("(2, 3)", "(2 3)")),
                       (1, good.replace("(2, 3)", "(2, x)")), (1, good.replace("shape", "shap")),
                       (1, good.replace("descr", "desc")), (1, good.replace("fortran", "pascal")),
                       (1, good.replace("'<u2'", "u2")), (1, good.replace("<u2", "<u3")), (1, good.replace("<u2", "?u2")),
                       (1, good.replace("'shape':", "'shape'")), (4, good), (0, good), (1, good + " " * 70000)):
    length = len(words).to_bytes(2 if version < 2 else 4, "little") if len(words) < 65536 else b"\xff\xff"
    with open("in.npy", "wb") as file:
        file.write(b"\x93NUMPY" + bytes([version, 0]) + length + words.encode() + data)
    try:
        want = np.load("in.npy")
    except Exception:
        want = None
    result = run("convert", "--force", "in.npy", "out.npy")
    name = f"version {version}, {words[:90]}: {result.stderr}"
    if want is None:
        check(name, result.returncode == 1)
    elif result.returncode == 0:
        check(name, np.array_equal(np.load("out.npy"), want.reshape(2, 3)))
    else:
        check(name, '"' in words)  # which numpy itself never writes
c.end()
