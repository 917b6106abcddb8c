"""The column of encoded images of gpuimg.arrow against numpy, in batches and tables as Hugging Face Datasets, Spark and Polars
have them. Debian has no pyarrow: it is in an environment of its own, build/venv (tests/tests.mk), and this script runs itself there.

Sources: cli/python/gpuimg/arrow.py cli/python/gpuimg/_column.py
"""
import io
import json
import os
import pickle
import sys

from _common import Checks, need, np, optional

environment = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/venv")
if optional("pyarrow") is None and os.path.exists(environment) and not os.path.samefile(environment, sys.prefix):
    os.execv(f"{environment}/bin/python", [f"{environment}/bin/python", *sys.argv])
(pa,) = need("pyarrow")
import _python
import gpuimg
from gpuimg.arrow import GpuImg

c = Checks()
CPU = ("--device", "cpu")


def pgm(array):
    return b"P5\n%d %d\n255\n" % array.shape[::-1] + array.tobytes()


arrays = [c.rng.integers(0, 256, (20 + i, 30), "u1") for i in range(6)]
files = [pgm(array) for array in arrays]
inverted = [pgm(255 - array) for array in arrays]
damaged = files[1][:300]
invert = GpuImg("invert", options=CPU)

for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
    batch = pa.RecordBatch.from_arrays([pa.array(files, kind), pa.array(range(6))], ["image", "label"])
    got = invert(batch)
    c.check(f"a batch of {kind}", isinstance(got, pa.RecordBatch) and got.schema == batch.schema, got.schema)
    c.check(f"images of {kind}", got.column("image").to_pylist() == inverted and got.column("label").to_pylist() == list(range(6)))
    got = invert(pa.Table.from_batches([batch, batch.slice(2, 3)]))
    c.check(f"a table of {kind}", isinstance(got, pa.Table) and got.column("image").to_pylist() == inverted + inverted[2:5])
nulls = pa.table({"image": pa.array([files[0], None, damaged, b"no image", b"", files[2]], pa.binary())})
c.check("nulls, damage and what is no image", invert(nulls).column("image").to_pylist() == [inverted[0], None, None, b"no image", b"", inverted[2]])
c.check("nothing", invert(nulls.slice(0, 0)).num_rows == 0 and invert(nulls.slice(1, 1)).column("image").to_pylist() == [None])
got = GpuImg("invert", "image", to="negative", options=CPU)(nulls)
c.check("another column", got.column_names == ["image", "negative"] and got.column("image") == nulls.column("image")
        and got.column("negative").to_pylist()[0] == inverted[0])
for failing, words in ((damaged, "damaged"), (None, "")):
    table = pa.table({"image": pa.array([files[0], failing, files[1]], pa.binary())})
    try:
        got = GpuImg("invert", options=CPU, failed="raise")(table)
        c.check("failed='raise'", failing is None and got.column("image").to_pylist() == [inverted[0], None, inverted[1]])
    except gpuimg.Error as error:
        c.check("failed='raise', with the reason", failing is not None and str(error).startswith("gpuimg: ") and ": 1: " in str(error), error)
png = GpuImg("invert", options=(*CPU, "--format", "png"))(nulls).column("image").to_pylist()
c.check("--format", png[0].startswith(b"\x89PNG") and np.array_equal(gpuimg.read(png[0]), 255 - arrays[0]))
tables = GpuImg("stats", options=CPU, to="stats")(nulls).column("stats")
means = [text and json.loads(text)["channels"][0]["mean"] for text in tables.to_pylist()[:3] + tables.to_pylist()[5:]]
c.check("tables are JSON", tables.type == pa.string() and np.allclose([means[0], means[3]], [arrays[0].mean(), arrays[2].mean()]) and means[1] is None, means)

# A struct of bytes and path, as Hugging Face's Image is stored, with the metadata of its schema.
struct = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
rows = [{"bytes": file, "path": f"{i}.pgm"} for i, file in enumerate(files)] + [None, {"bytes": None, "path": "lost.pgm"}]
schema = pa.schema([pa.field("image", struct, metadata={"a": "b"}), ("label", pa.int64())], metadata={"huggingface": "{}"})
table = pa.table({"image": pa.array(rows, struct), "label": range(8)}, schema=schema)
got = invert(table)
want = [{"bytes": file, "path": f"{i}.pgm"} for i, file in enumerate(inverted)] + [None, {"bytes": None, "path": "lost.pgm"}]
c.check("a struct", got.column("image").to_pylist() == want and got.schema.equals(schema, check_metadata=True), got.schema)
c.check("a slice of a struct", invert(table.slice(3, 4)).column("image").to_pylist() == want[3:7])
chunks = pa.chunked_array([pa.array(rows[:2], struct), pa.array(rows[2:5], struct)])
c.check("chunks of a struct", invert(pa.table({"image": chunks})).column("image").to_pylist() == want[:5])

# Spark sends the object to its workers and gives them an iterator; a stream of IPC has the same batches.
batch = pa.RecordBatch.from_arrays([pa.array(files, pa.binary())], ["image"])
to = io.BytesIO()
with pa.ipc.new_stream(to, batch.schema) as stream:
    for _ in range(3):
        stream.write_batch(batch)
with pa.ipc.open_stream(to.getvalue()) as reader:
    results = list(pickle.loads(pickle.dumps(invert)).batches(reader))
c.check("batches of a stream", [b.column(0).to_pylist() for b in results] == [inverted] * 3 and results[0].schema == batch.schema)
pid = os.fork()
if pid == 0:
    os._exit(0 if invert(batch).column(0).to_pylist() == inverted else 1)
c.check("after a fork", os.waitpid(pid, 0)[1] == 0 and invert(batch).column(0).to_pylist() == inverted)
before = invert._work.process().pid
os.kill(before, 9)
c.check("a process that died is replaced", invert(batch).column(0).to_pylist() == inverted and invert._work.process().pid != before)

for name, kind, words, call in (
        ("a wrong chain", gpuimg.ArgumentError, "did you mean gaussian?", lambda: GpuImg("gausian")(batch)),
        ("a wrong option", gpuimg.ArgumentError, "--formatt", lambda: GpuImg("invert", options=("--formatt", "png"))(batch)),
        ("no such column", KeyError, "photo", lambda: GpuImg("invert", "photo")(batch)),
        ("a column of numbers", TypeError, "column of int64", lambda: GpuImg("invert", "label")(table)),
        ("a wrong rule", ValueError, "'null' or 'raise'", lambda: GpuImg("invert", failed="stop"))):
    try:
        call()
        c.check(name, False, "no error")
    except kind as error:
        c.check(name, words in str(error), error)
polars = optional("polars")
if polars:
    frame = polars.DataFrame({"image": files, "label": list(range(6))})
    c.check("polars", polars.from_arrow(invert(frame.to_arrow()))["image"].to_list() == inverted)
datasets = optional("datasets")
if datasets:
    data = datasets.Dataset.from_dict({"image": files, "label": list(range(6))})
    got = data.with_format("arrow").map(invert, batched=True, batch_size=4).with_format(None)
    c.check("datasets", got["image"][:] == inverted and got.features == data.features)
c.end()
