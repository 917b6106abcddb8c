"""From the arguments of a function to a chain and its result.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from ._arrays import ImageLike, Parts, take
from ._chain import USAGE, ArgumentError, Error, _kept, run
from ._further import Further, further
from ._program import find

if TYPE_CHECKING:
    from numpy.typing import NDArray
    Array = NDArray[Any]
    Table = dict[str, Any]
    from ._chain import Result

Color = Union[float, Sequence[float], str]  # a sample value for all channels, one per channel, or "white", "#ff8000"
Level = Union[float, str]  # a sample value, or a percentage of full scale: "50%"
Numbers = Union[float, Sequence[float], str]
Extent = Union[int, Sequence[int], str]  # (width, height), (width, height, x, y), or as in "256x256" and "50%"
Rows = Union["Array", Sequence[Sequence[float]], Mapping[str, Any], str, "os.PathLike[str]"]  # numbers in rows, JSON, or a file


def option_name(argument: str) -> str:
    """The option of an argument: with_ is --with, and border_value --border-value."""
    return "--" + argument.rstrip("_").replace("_", "-")


def _number(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


def _text(value: Any) -> str:
    """The value of an option."""
    if isinstance(value, Mapping):
        return json.dumps(value)
    if isinstance(value, os.PathLike):
        return str(os.path.abspath(value))
    if isinstance(value, np.ndarray) and value.ndim == 2:
        value = value.tolist()
    if isinstance(value, (list, tuple, np.ndarray)):
        if len(value) and isinstance(value[0], (list, tuple)):
            return "; ".join(" ".join(map(_number, row)) for row in value)
        return ",".join(map(_number, value))
    return _number(value)


def _extent(value: Any) -> str:
    if not isinstance(value, (list, tuple)):
        return _text(value)
    return "x".join(map(str, value[:2])) + "".join(f"{offset:+d}" for offset in value[2:])


def _quoted(text: str) -> str:
    """A word of a chain."""
    if '"' not in text:
        return f'"{text}"'
    if "'" in text:
        raise ArgumentError(f"gpuimg: {text}: want no text with both kinds of quotes")
    return f"'{text}'"


def words(arguments: Mapping[str, Any], defaults: Mapping[str, Any]) -> list[str]:
    """Options of the arguments that differ from their defaults."""
    found = []
    for name, value in arguments.items():
        if value is None or value is False or (isinstance(value, (str, int, float)) and value == defaults.get(name)
                                               and type(value) is type(defaults[name])):
            continue
        text = _extent(value) if name in ("size", "cell", "tiles") else _text(value)
        found.append(option_name(name) if value is True else f"{option_name(name)}={text}")
    return found


def _parts(function: str, arguments: dict[str, Any], values: Mapping[str, bool]) -> \
        tuple[list[str], tuple[Further, ...], dict[str, Any], list[str]]:
    """Options of an operation, its further images, arguments of run(), and common options.
    values  its arguments that are images, with whether these are values, not pictures"""
    common: dict[str, Any] = arguments.pop("common")
    call = {"program": common.pop("program", None) or find(), "timeout": common.pop("timeout", None)}
    unknown = sorted(set(common) - set(COMMON))
    if unknown:
        raise TypeError(f"{function}() got an unexpected keyword argument '{unknown[0]}'")
    images = {name: further(arguments[name], values[name]) for name in values if arguments[name] is not None}
    for name, image in images.items():
        arguments[name] = image.path
    defaults = getattr(sys.modules[f"{__package__}._operations"], function).__kwdefaults__
    return words(arguments, defaults or {}), tuple(images.values()), call, words(common, {})


COMMON: tuple[str, ...] = ()  # names of the common options, which the module of the operations sets


def call(name: str, function: str, arguments: dict[str, Any], values: Mapping[str, bool]) -> Any:
    """The result of an operation for the arguments of its function."""
    image = arguments.pop("image")
    options, images, how, common = _parts(function, arguments, values)
    chain = " ".join([name, *map(_quoted, options)])
    found: Result = _kept(chain, tuple(common), how["program"], images)(image, how["timeout"])
    if isinstance(found, dict):
        for channel in found.get("channels", ()):
            if "bins" in channel:
                channel["bins"] = np.array(channel["bins"])
    return found


def _once(arguments: Sequence[str], image: Parts, timeout: float | None, images: Sequence[Further], good: int = 0) -> bytes:
    """What a process of its own writes to standard output for an image."""
    try:
        done = subprocess.run(arguments, input=b"".join(image), capture_output=True, timeout=timeout,
                              pass_fds=[further_image.descriptor for further_image in images])
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"gpuimg: no result after {timeout:g} s") from None
    if done.returncode in (0, good):
        return done.stdout
    said = done.stderr.decode(errors="replace").strip()
    for further_image in images:
        said = said.replace(further_image.path, further_image.name)
    raise (ArgumentError if done.returncode == USAGE else Error)(said or "gpuimg ended without a message")


def labels(function: str, arguments: dict[str, Any], values: Mapping[str, bool]) -> Any:
    """The label image that extract writes."""
    image = take(arguments.pop("image"), bool(arguments["common"].get("strict")))
    options, images, how, common = _parts(function, arguments, values)
    with tempfile.TemporaryDirectory(prefix="gpuimg-") as folder:
        path = os.path.join(folder, "labels.npy")
        _once([how["program"], "extract", *common, *options, *image.options, "--format=json", f"--labels={path}", "-"],
              image.parts, how["timeout"], images)
        return np.load(path, allow_pickle=False)


def compare(function: str, arguments: dict[str, Any], values: Mapping[str, bool]) -> Any:
    """The numbers of two images."""
    image, other = arguments.pop("image"), further(arguments.pop("other"), False)
    options, images, how, common = _parts(function, arguments, values)
    taken = take(image, "--strict" in common)
    # The status is 1 if the images differ.
    text = _once([how["program"], "compare", *common, *options, *taken.options, "--format=json", "-", other.path],
                 taken.parts, how["timeout"], (other, *images), 1)
    if not text:
        raise Error("gpuimg ended without a message")
    table: Table = json.loads(text)
    for name in ("a", "b"):
        table.pop(name, None)
    return table


def stack(function: str, arguments: dict[str, Any], values: Mapping[str, bool]) -> Any:
    """One image of many, which are side by side in the image that the step gets."""
    images = [read(image) for image in arguments.pop("images")]
    if not images:
        raise ValueError("gpuimg: stack: want at least one image")
    kinds = sorted({f"{image.dtype} {image.shape}" for image in images})
    if len(kinds) > 1:
        raise ValueError(f"gpuimg: stack: images of {' and '.join(kinds)}: want one size and type")
    return call(f"stack --images={len(images)}", function, {"image": np.concatenate(images, 1), **arguments}, values)


def read(image: ImageLike, *, options: Sequence[str] = (), program: str | None = None, timeout: float | None = None) -> Array:
    """Returns the array of an image file; an array is returned as it is.

    Parameters
    ----------
    image : array, path, bytes, file object or PIL image
        See help(gpuimg).
    options : sequence of str, optional
        Options of `gpuimg convert`: ("--depth", "float").

    Examples
    --------
    >>> array = gpuimg.read("scan.tif")
    """
    found = image if isinstance(image, np.ndarray) else run(image, "convert", options=options, program=program, timeout=timeout)
    assert isinstance(found, np.ndarray)
    return found


def encode(image: ImageLike, format: str = "png", *, program: str | None = None, timeout: float | None = None, **options: Any) -> bytes:
    """Returns an image as the bytes of a file.

    Parameters
    ----------
    image : array, path, bytes, file object or PIL image
        See help(gpuimg).
    format : str, default 'png'
        Format of the file: png, jpeg, tiff, webp and the others that `gpuimg list` prints.
    **options
        More options of `gpuimg convert`: quality=90, depth="16", compression=9.

    Examples
    --------
    >>> data = gpuimg.encode(array, "jpeg", quality=80)
    """
    taken = take(image)
    return _once([program or find(), "convert", f"--format={format}", *words(options, {}), *taken.options, "-", "-"],
                 taken.parts, timeout, ())
