"""split and merge against numpy: a layer is the image at the pixels with its label, and merged layers give the image.

Sources: filters/regions/labels* cli/commands/split_layers.c cli/commands/merge_layers.c
"""
import glob
import os

from _common import Checks, np, random_image, read, suffix, write

FULL = {np.uint8: 255, np.uint16: 65535, np.float32: 1}
c = Checks()


def with_alpha(image, full):
    v = image[:, :, None] if image.ndim == 2 else image
    return v if v.shape[2] % 2 == 0 else np.dstack([v, np.full(v.shape[:2], full, v.dtype)])


def layers(dtype, shape, label_type):
    image, full = random_image(c.rng, shape, dtype), FULL[dtype]
    own = [1, 2, 7, 200] if label_type != np.uint32 else [1, 70000, 70001, 2**24 - 1]
    labels = c.rng.choice([0, *own], shape[:2]).astype(label_type)
    source, numbers, folder = c.path("in" + suffix(image)), c.path("labels" + suffix(labels)), c.path("layers")
    write(source, image)
    if label_type == np.uint32:
        numbers = c.path("labels.npy")
        np.save(numbers, labels)
    else:
        write(numbers, labels)
    c.run("split", source, "--labels", numbers, "--out-dir", folder, "--format", "pam", "--force")
    name = f"{np.dtype(dtype).name} {shape}, labels {np.dtype(label_type).name}"
    names = sorted(os.path.basename(path) for path in glob.glob(folder + "/*"))
    c.check(f"{name}: names", names == [f"layer-{label:06}.pam" for label in own], names)
    whole = with_alpha(image, full)
    for label in own:
        want = np.where((labels == label)[:, :, None] & (whole[:, :, -1:] > 0), whole, 0)
        c.check(f"{name}: layer {label}", np.array_equal(read(f"{folder}/layer-{label:06}.pam"), want))
    c.run("merge", *(f"{folder}/{n}" for n in names), c.path("out.pam"))
    want = np.where((labels > 0)[:, :, None] & (whole[:, :, -1:] > 0), whole, 0)
    c.check(f"{name}: merged", np.array_equal(read(c.path("out.pam")), want))
    if image.ndim == 2 or image.shape[2] == 3:
        kind = suffix(image)[1:]
        c.run("split", source, "--labels", numbers, "--out-dir", c.path(f"filled-{kind}-{np.dtype(dtype).name}"), "--format", kind, "--fill", "white")
        got = read(c.path(f"filled-{kind}-{np.dtype(dtype).name}/layer-{own[2]:06}.{kind}"))
        mine = labels == own[2]
        c.check(f"{name}: filled", np.array_equal(got, np.where(mine if image.ndim == 2 else mine[:, :, None], image, full)))


layers(np.uint8, (19, 31), np.uint8)
layers(np.uint8, (19, 31, 3), np.uint16)
layers(np.uint8, (19, 31, 4), np.float32)
layers(np.uint16, (19, 31, 3), np.uint8)
layers(np.uint16, (23, 5, 2), np.uint8)
layers(np.uint16, (23, 35), np.uint32)
c.end()
