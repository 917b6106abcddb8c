#!/bin/bash
# Runs the lines of help cluster for Hugging Face Datasets and for the tars of NeMo Curator: the files must equal those of one
# process, and the readers of WebDataset tars must find each sample, in its order, with the image that gpuimg makes of it alone.
# Usage: datasets.sh GPUIMG; the packages are in build/datasets (make test-cluster). NeMo Curator reads tars by NVIDIA's DALI,
# which reads them here too if it is installed there.
# Sources: cli/python/gpuimg/arrow.py cli/help/cluster.c
python=$(dirname "$0")/../../build/datasets/bin/python
if [[ ! -x $python ]]; then
    echo "skipped: data sets: they are not in build/datasets: make test-cluster puts them there"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
python=$(readlink -f "$(dirname "$python")")/python
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
mkdir bin
ln -s "$GPUIMG" bin/gpuimg
"$python" "$tests/../../cli/python/generate.py" "$GPUIMG" python/gpuimg || exit 1
export PATH=$work/bin:$PATH HOME=$work PYTHONPATH=$work/python PYTHONDONTWRITEBYTECODE=1 GPUIMG_DEVICE=cpu
export HF_HOME=$work/huggingface HF_HUB_OFFLINE=1 HF_DATASETS_DISABLE_PROGRESS_BARS=1

# Hugging Face Datasets.
cluster_file blur_datasets.py >blur_datasets.py
check "help cluster has lines for Hugging Face Datasets" grep -q load_dataset blur_datasets.py
mkdir photos blurred
"$python" - <<'END'
import random
for i in range(70):
    with open(f"photos/{i:03d}.ppm", "wb") as f:
        f.write(b"P6 40 30 255\n" + random.Random(i).randbytes(3 * 40 * 30))
END
expect 0 gpuimg run 'gaussian --sigma 3 | sharpen' --recursive photos --out-dir one
check "Hugging Face Datasets" timeout 100 "$python" blur_datasets.py
check "Hugging Face Datasets: the files equal those of one process" diff -rq blurred one

# Tars of samples: images of three formats, one that is damaged, captions and JSON.
cluster_file curate.sh >curate.sh
check "help cluster has lines for NeMo Curator" grep -q 'suffix .jpg' curate.sh
mkdir raw jpeg
expect 0 gpuimg convert --recursive photos --out-dir png --suffix .png
"$python" - <<'END'
import io, json, tarfile
for t in range(4):
    with tarfile.open(f"raw/{t:03d}.tar", "w") as tar:
        for i in range(t * 10, t * 10 + 10):
            image = open(f"photos/{i:03d}.ppm", "rb").read()
            kind = "png" if i % 3 else "ppm"
            if kind == "png":
                image = open(f"png/{i:03d}.png", "rb").read()
            for suffix, data in (("json", json.dumps({"number": i}).encode()), (kind, image[:90] if i == 13 else image),
                                 ("txt", b"caption %d" % i)):
                member = tarfile.TarInfo(f"part/{i:09d}.{suffix}")
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
END
expect 1 sh -e curate.sh
check "the damaged image is left out" grep -q '1 member was left out' err
expect 0 gpuimg run 'resize --size 512x512 --no-enlarge' --recursive photos --out-dir alone --suffix .jpg --quality 90
cat >read.py <<'END'
import glob
import webdataset
tars = sorted(glob.glob("jpeg/*.tar"))
samples = list(webdataset.WebDataset(tars, shardshuffle=False))
assert len(samples) == 40, len(samples)
for i, sample in enumerate(samples):
    assert sample["__key__"] == f"part/{i:09d}" and sample["txt"] == b"caption %d" % i, sample
    assert sample["json"] == b'{"number": %d}' % i
    if i == 13:
        assert "jpg" not in sample
    else:
        assert sample["jpg"] == open(f"alone/{i:03d}.jpg", "rb").read(), i
END
check "webdataset reads the samples" "$python" read.py
stat -c '%n %Y' jpeg/*.tar >before
expect 0 sh -e curate.sh
check "a task that is started again leaves the tars" cmp before <(stat -c '%n %Y' jpeg/*.tar)
# The pipeline of nemo_curator.stages.image.io.image_reader 1.4, on the CPU.
cat >dali.py <<'END'
import glob
import numpy
from nvidia.dali import fn, pipeline_def, types
from PIL import Image

@pipeline_def(batch_size=7, num_threads=2, device_id=None)
def pipeline():
    files = fn.readers.webdataset(paths=sorted(glob.glob("jpeg/*.tar")), ext=["jpg"], missing_component_behavior="skip")
    return fn.decoders.image(files, device="cpu", output_type=types.RGB)

pipe = pipeline()
pipe.build()
n = next(iter(pipe.epoch_size().values()))
assert n == 39, n
images = []
while len(images) < n:
    (batch,) = pipe.run()
    images += [batch.at(i) for i in range(len(batch))]
for image, i in zip(images, [i for i in range(40) if i != 13]):
    want = numpy.asarray(Image.open(f"alone/{i:03d}.jpg"), "i2")
    assert image.shape == want.shape and abs(image - want).max() <= 16, i
END
if "$python" -c 'import nvidia.dali' 2>/dev/null; then
    check "NeMo Curator's pipeline of DALI reads the images" "$python" dali.py
else
    skip "NeMo Curator's reader: nvidia-dali-cuda120 is not in build/datasets"
fi
finish
