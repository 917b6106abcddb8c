#!/usr/bin/env python3
"""Writes the Python package gpuimg into a folder, with a function per operation made from the rows of the program.

Usage: generate.py GPUIMG FOLDER; $EMULATOR, if set, is the command that runs GPUIMG.

SPDX-License-Identifier: MIT
"""

import builtins
import json
import keyword
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap

WIDTH = 100
# Options of every function: those of `gpuimg help common` that concern arrays.
COMMON = ("depth", "work-depth", "gray", "linear", "bands", "rgb", "layout", "nodata", "background", "strict", "allow-partial", "quiet",
          "device", "threads", "max-pixels", "max-bytes", "max-device-bytes")
TABLES = ("stats", "histogram", "palette", "hash", "skew", "extract", "contours", "peaks", "corners", "blobs", "lines", "circles")
VALUES = ("map", "map-y", "labels", "mask-image", "labels-image")  # images that are taken as values, not as pictures
FILES = ("points", "table", "crops")  # images that are named by their paths
TYPES = {"flag": "bool", "int": "int", "odd": "int", "size": "int | str", "real": "float", "text": "str | float",
         "colour": "Color", "image": "ImageLike", "content": "Rows", "level": "Level", "reals": "Numbers", "extent": "Extent",
         "rect": "Extent", "path": "str | os.PathLike[str]"}
WORDS = {"bool": "bool", "int | str": "int", "str | float": "str or float",
         "Color": "float, sequence of float or str", "ImageLike": "image", "Level": "float or str",
         "Numbers": "sequence of float", "Extent": "sequence of int, or str",
         "Rows": "array, sequence of sequences, str or path", "str | os.PathLike[str]": "path"}
LABELS = ("threshold", "mask-image", "invert", "connectivity", "min-area", "max-area", "keep-top", "sort")
COMPARE = ("tolerance", "ignore-region", "ignore", "visible")
STACK = ("method", "kappa")
# Words of sentences that concern command lines.
COMMAND_LINE = r"\bTABLE\b|exit status|\bjq\b|standard (in|out)put|\b[Pp]rint|^It is 2 if|\btars?\b|\bfolders?\b|\bOUTPUT\b" \
    r"|\.(tif|png|jpg|pfm)\b|^Every file|^In that line|^Each page|In this command|\\bmany (images|outputs)\\b|^channels join|^The command has|output of gpuimg"
CALL = ("program : str, optional\n    Path of the program.", "timeout : float, optional\n    Limit in seconds.")


class Program:
    """What the program says of itself."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.list = json.loads(self.say("list", "--json"))
        self.rows = {row["name"]: row for row in self.list["operations"]}
        self.chain = self.steps()

    def say(self, *arguments):
        emulator = shlex.split(os.environ.get("EMULATOR", ""))
        return subprocess.run([*emulator, self.path, *arguments], check=True, capture_output=True, text=True).stdout

    def steps(self):
        """The options of each operation in a chain, by the list in `gpuimg help run`."""
        text = self.say("help", "run").split("Operations of a chain and their options:\n")[1].split("\n\n")[0]
        steps = {}
        for line in text.splitlines():
            words = line.split()
            if not words[0].startswith("--"):
                options = steps[words.pop(0)] = []
            options += [word[2:] for word in words]
        return steps

    def help(self, name):
        """Paragraphs of the manual, and its lines of examples."""
        text = self.say("help", name).split("\n\nOptions:\n")[0].split("\n\nCommon options ")[0]
        paragraphs = text.split("\n\n")[2:]
        examples = [line.strip() for p in paragraphs for line in p.splitlines() if line.startswith("  gpuimg ")]
        return [p for p in paragraphs if not p.startswith("  gpuimg ") and not re.match("  .*gpuimg", p)], examples

    def required(self, name):
        """Options without which the operation is refused."""
        options = re.split(r"\n  (?=-)", self.say("help", name))
        return {re.search(r"--([a-z-]+)", o)[1] for o in options[1:] if re.search(r"\(([^()]*; )?required\)", " ".join(o.split()))}


def python_name(name):
    """A name that is a keyword ends in an underscore."""
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def function_name(name):
    """So does the name of a function that is a builtin."""
    return name + "_" if hasattr(builtins, name) else python_name(name)


def literal(option):
    """The default as Python has it."""
    default, kind = option["default"], option["type"]
    if kind == "flag":
        return "False"
    if default is None or kind in ("image", "path"):
        return "None"
    if kind in ("int", "odd", "real", "level", "colour", "size") and re.fullmatch(r"-?[0-9.]+", default):
        return default
    if kind == "reals":
        return f"({', '.join(default.split(','))})"
    return repr(default)


def choices(option):
    return [c["name"] for c in option["choices"] if "alias_of" not in c]


def annotation(option):
    if option["type"] != "choice":
        return TYPES[option["type"]]
    names = ", ".join([repr(name) for name in choices(option)] + [name for name in choices(option) if name.isdigit()])
    return f"Literal[{names}]" if "bare" not in option else f"bool | Literal[{names}]"


def parameter(option, required):
    kind, default = annotation(option), literal(option)
    if option["name"] in required:
        return f"{python_name(option['name'])}: {kind}"
    return f"{python_name(option['name'])}: {kind} = {default}" if default != "None" else f"{python_name(option['name'])}: {kind} | None = None"


def wrapped(text, indent=""):
    return textwrap.fill(" ".join(text.split()), WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False,
                         break_on_hyphens=False)


def named(text, options):
    """Text in which options, by name, are arguments."""
    def replace(match):
        name, value = match[1], match[2]
        if name not in options:
            return match[0]
        words = [c["name"] for c in options[name].get("choices", ())]
        if value and value[1:] in words:
            return f"`{python_name(name)}={value[1:]!r}`"
        if value and re.fullmatch("[0-9.]*[0-9]", value[1:]):
            return f"`{python_name(name)}={value[1:]}`"
        return f"`{python_name(name)}`{value or ''}"
    text = re.sub(r"--([a-z](?:[a-z-]*[a-z])?)\b([ =](?:[a-z0-9-]|\.[0-9])+)?", replace, text)
    text = re.sub(r"`\w+` alone means", "True means", text)
    text = re.sub(r"(which )?gpuimg extract --labels writes( it)?", r"\1gpuimg.labels() returns\2", text)
    return re.sub(r"gpuimg help ([a-z-]+)", lambda m: f"help(gpuimg.{function_name(m[1])})", text)


def of_calls(paragraph, options, first=False):
    """A paragraph without the sentences that concern command lines: options that the function has not, files, and
    exit statuses. `first`: its first sentence stays."""
    if paragraph.startswith("  "):
        return paragraph
    kept = []
    for sentence in re.split(r"(?<=[.:])\s+(?=[A-Z])", paragraph):
        bare = re.sub(r"(?<!\w)'[^']*'|gpuimg\s+[a-z]+(\s+--[a-z]+)*", "", sentence)
        foreign = set(re.findall(r"--([a-z](?:[a-z-]*[a-z])?)\b", bare)) - set(options)
        if first and not kept or not foreign and not re.search(COMMAND_LINE, bare):
            kept.append(sentence)
    return " ".join(kept)


def span(option):
    """Range and unit."""
    unit = option.get("unit", "")
    if "min" not in option:
        return unit
    low, high = (f"{option[key]:.15g}" for key in ("min", "max"))
    each = "each " if option["type"] == "reals" else ""
    return f"{'odd, ' if option['type'] == 'odd' else ''}{each}{low} to {high} {unit}".strip()


def described(option, required, known):
    """The entry of a parameter in a docstring."""
    name, default = option["name"], literal(option)
    kind = annotation(option)
    if option["type"] == "choice":
        kind = "{" + ", ".join(map(repr, choices(option))) + "}" + (" or bool" if "bare" in option else "")
    kind = WORDS.get(kind, kind)
    ending = "" if name in required else ", optional" if default == "None" else f", default {default}"
    lines = textwrap.wrap(f"{python_name(name)} : {kind}{ending}", WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    limits = span(option)
    text = named(of_calls(option["help"], known, True), known)
    lines.append(wrapped(f"{text} ({limits})." if limits else text.rstrip(".") + ".", "    "))
    explained = [c for c in option.get("choices", ()) if c.get("help")]
    if explained:
        lines.append("")
    for choice in explained:
        lines.append(textwrap.fill(f"- {choice['name']!r}: {named(choice['help'], known)}", WIDTH, initial_indent="    ",
                                   subsequent_indent="      ", break_on_hyphens=False))
    if explained:
        lines.append("")
    return lines


def value_of(option, text):
    """A value of a command line as an argument."""
    if option["type"] in ("int", "odd", "real", "level", "colour", "size") and re.fullmatch(r"-?[0-9.]+", text):
        return text
    if option["type"] == "reals" and "," in text:
        return f"({text.replace(',', ', ')})"
    if option["type"] == "extent" and re.fullmatch(r"\d+x\d+", text):
        return f"({text.replace('x', ', ')})"
    known = {c["name"]: c.get("alias_of", c["name"]) for c in option.get("choices", ())}
    return repr(known.get(text, text))


def example(function, operation, line, options):
    """A command line as a call; None if it has what no call has."""
    try:
        tokens = shlex.split(line)[1:]
    except ValueError:
        return None
    if tokens.pop(0) != operation:
        return None
    known = {f"--{name}": option for option in options for name in (option["name"], *[n for n in [option.get("also")] if n])}
    known.update({f"-{option['letter']}": option for option in options if "letter" in option})
    operands, arguments = [], []
    while tokens:
        token = tokens.pop(0)
        name, equals, value = token.partition("=")
        if token.startswith("-") and token != "-":
            option = known.get(name)
            if option is None:
                return None
            if option["type"] == "flag" or ("bare" in option and not equals):
                arguments.append(f"{python_name(option['name'])}=True")
                continue
            value = value if equals else tokens.pop(0)
            arguments.append(f"{python_name(option['name'])}={value_of(option, value)}")
        elif re.search(r"[|<>*{$;]|^-$", token):
            return None
        else:
            operands.append(token)
    if not 1 <= len(operands) <= 2:
        return None
    inputs = operands if operation == "compare" else operands[:1]
    return f">>> result = gpuimg.{function}({', '.join([*map(repr, inputs), *arguments])})"


def examples(program, function, operation, options, required):
    lines = program.help(operation)[1]
    common = [o for o in program.rows[operation]["options"] if o["name"] in COMMON]
    found = [call for call in (example(function, operation, line, options + common) for line in lines) if call]
    if not found:
        arguments = [f"{python_name(o['name'])}={value_of(o, o['example'])}" for o in options if "example" in o and o["name"] in required]
        found = [f">>> result = gpuimg.{function}({', '.join(['image', *arguments])})"]
    return [line for call in found for line in textwrap.wrap(call, WIDTH, subsequent_indent="...     ", break_long_words=False,
                                                             break_on_hyphens=False)]


RETURNS = {
    "table": ("dict", "The table, with the members of the JSON that `gpuimg {0} --format json` prints."),
    "histogram": ("dict", "The table, with the members of the JSON that `gpuimg histogram --format json` prints; \"bins\" are arrays."),
    "labels": ("numpy.ndarray", "Array of int32 and of (height, width): each pixel has the label of its region, or 0."),
    "compare": ("dict", "The numbers, with the members of the JSON that `gpuimg compare --format json` prints."),
    "sums": ("numpy.ndarray", "The sums, of the shape of the image."),
    "image": ("numpy.ndarray", "The result, of (height, width) if it has one channel and else of (height, width, channels); it has the "
              "sample type of the input, unless `depth` or the operation gives another one."),
}


def docstring(program, function, operation, options, required, inputs, returns, before=()):
    row = program.rows[operation]
    known = {o["name"]: o for o in [*row["options"], *options] if o["name"] in COMMON or o in options}
    lines = [(before[0] if before else row["summary"]).rstrip(".") + ".", ""]
    for text in [*before[1:], *(of_calls(p, known) for p in program.help(operation)[0])]:
        lines += [named(text, known) if re.match("  ", text) else wrapped(named(text, known)), ""]
    lines += ["Parameters", "----------", *inputs]
    for option in options:
        lines += described(option, required, known)
    lines += ["**common : gpuimg.Common", "    Options of every function, such as `depth`, `gray`, `device` and `timeout`.", ""]
    kind, text = RETURNS[returns]
    lines += ["Returns", "-------", kind, wrapped(text.format(operation), "    "), ""]
    lines += ["Raises", "------", "gpuimg.ArgumentError", "    If an argument has a value that gpuimg refuses.", "gpuimg.Error",
              "    If the image can't be processed.", "", "See Also", "--------", "gpuimg.run : several operations as one chain.", ""]
    lines += ["Examples", "--------", *examples(program, function, operation, options, required)]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).replace("\\", "\\\\").replace('"""', "'''")
    return textwrap.indent(text, "    ").strip()


IMAGE = ["image : array, path, bytes, file object or PIL image", "    See help(gpuimg)."]


def define(program, operation, names, *, function=None, call="call", returns="image", first=("image: ImageLike",), inputs=IMAGE,
           before=(), result="Array"):
    """The source of a function."""
    function = function or function_name(operation)
    rows = {option["name"]: option for option in reversed(program.rows[operation]["options"])}
    options = [rows[name] for name in names if name in rows]
    changed = {"ignore": "image", **dict.fromkeys(FILES, "path")}
    options = [{**option, "type": changed.get(option["name"], option["type"])} for option in options]
    required = program.required(operation) & set(names)
    images = {python_name(o["name"]): o["name"] in VALUES for o in options if o["type"] == "image"}
    # The first image that an option names may be given by position.
    leading = [o for o in options if o["name"] in ("with", "reference", "flat", "map")]
    others = sorted((o for o in options if o not in leading), key=lambda o: o["name"] not in required)
    parameters = [*first, *(parameter(o, required) for o in leading), *(["*"] if others else []),
                  *(parameter(o, required) for o in others), "**common: Any" if set(COMMON) & set(names) else "**common: Unpack[Common]"]
    text = docstring(program, function, operation, leading + others, required, inputs, returns, before)
    arguments = f'"{operation}", "{function}"' if call == "call" else f'"{function}"'
    head = textwrap.fill(", ".join(parameters), WIDTH, subsequent_indent=" " * 8, initial_indent=" " * 8, break_long_words=False,
                         break_on_hyphens=False)
    return (f"def {function}(\n{head}) -> {result}:\n    \"\"\"{text}\n    \"\"\"\n"
            f"    found: {result} = _calls.{call}({arguments}, locals(), {images!r})\n    return found\n")


def operations(program):
    """The names of the functions and their sources."""
    found = {}
    for name, options in program.chain.items():
        if name in ("stack", "run"):
            continue
        returns = name if name == "histogram" else "table" if name in TABLES else "sums" if name in ("integral", "cumulative") else "image"
        rows = {o["name"]: o for o in reversed(program.rows[name]["options"])}
        left_out = ("to", "format", "no-clobber", "compression", "force", "log", "bars", "total", "crop-margin", "crop-format")
        if name not in TABLES + ("integral", "cumulative"):
            left_out = ()
        names = [o for o in options if o in rows and o not in left_out and (rows[o]["type"] != "path" or name not in TABLES)]
        found[function_name(name)] = define(program, name, names, returns=returns, result="Table" if name in TABLES else "Array")
    found["labels"] = define(program, "extract", LABELS, function="labels", call="labels", returns="labels", before=(
        "Label image of connected components", "Each call starts a process of its own."))
    two = ["image, other : array, path, bytes, file object or PIL image", "    The images A and B; see help(gpuimg)."]
    found["compare"] = define(program, "compare", COMPARE, call="compare", returns="compare", result="Table",
                              first=("image: ImageLike", "other: ImageLike"), inputs=two)
    many = ["images : sequence of images", "    Arrays, paths, bytes, file objects or PIL images; see help(gpuimg)."]
    found["stack"] = define(program, "stack", STACK, call="stack", first=("images: Sequence[ImageLike]",), inputs=many)
    return found


def common(program):
    """The dict of common options."""
    rows = {o["name"]: o for o in program.rows["gaussian"]["options"]}
    lines = ["Options of every function.", ""]
    fields = []
    for name in COMMON:
        lines += described({**rows[name], "default": rows[name]["default"]}, set(), {name: rows[name] for name in COMMON})
        fields.append(f"    {python_name(name)}: {annotation(rows[name])}")
    lines += [*CALL]
    fields += ["    program: str", "    timeout: float"]
    text = textwrap.indent(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)), "    ").strip()
    return f"class Common(TypedDict, total=False):\n    \"\"\"{text}\n    \"\"\"\n\n" + "\n".join(fields) + "\n"


HEAD = '''"""A function per operation. Generated by cli/python/generate.py from the rows of gpuimg {version}; do not edit.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from . import _calls
from ._arrays import ImageLike
from ._calls import Color, Extent, Level, Numbers, Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack
    Array = NDArray[Any]
    Table = dict[str, Any]

__all__: list[str] = {names!r}


'''


def main():
    program, folder = Program(sys.argv[1]), sys.argv[2]
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpuimg")
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(source):
        if name.endswith((".py", ".typed")):
            shutil.copyfile(os.path.join(source, name), os.path.join(folder, name))
    found = operations(program)
    text = HEAD.format(version=program.list["version"], names=["Common", *found])
    text += "\n\n".join([common(program), *found.values()])
    text += f"\n\n_calls.COMMON = {tuple(map(python_name, COMMON))!r}\n"
    compile(text, "_operations.py", "exec")
    names = f'"""Names of the functions, and the version. Generated by cli/python/generate.py."""\n\n' \
        f'VERSION = {program.list["version"]!r}\nNAMES = {["Common", *found]!r}\n'
    for name, content in (("_names.py", names), ("_operations.py", text)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(content)


if __name__ == "__main__":
    main()
