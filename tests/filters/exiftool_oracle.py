"""What exiftool reads of a photograph (EXIF, GPS, IPTC, XMP, Photoshop, ICC profile, comment) it reads of the result in every
format too, or a warning names it. exiftool writes the metadata into files of pixels alone; skipped without exiftool.

Sources: imgio/losses* imgio/metadata/photoshop* imgio/png/png_text* imgio/gif/gif_parts* imgio/jpeg/jpeg_segments* imgio/webp/webp_parts* imgio/tiff/directory_write* imgio/tiff/tiff_parts*
"""
import json
import os
import re
import shutil
import subprocess

import numpy as np

from _common import Checks, write

c = Checks()
if not shutil.which("exiftool"):
    c.skip("there is no exiftool (libimage-exiftool-perl)")
    c.end()

GIVEN = {
    "EXIF": {"Make": "A maker", "Model": "A model", "Artist": "José Ñ", "Copyright": "2026 somebody", "Software": "a program",
             "DateTimeOriginal": "2026:11:25 10:15:00", "OffsetTimeOriginal": "+01:00", "ExposureTime": 0.004, "FNumber": 2.8, "ISO": 320,
             "LensModel": "A lens", "UserComment": "of a user", "GPSLatitude": 48.5, "GPSLatitudeRef": "N", "GPSLongitude": 11.25,
             "GPSLongitudeRef": "E", "GPSAltitude": 512.5, "ImageDescription": "a picture", "ImageUniqueID": "0123456789abcdef"},
    "IPTC": {"Keywords": ["one", "two"], "City": "Köln", "Caption-Abstract": "x" * 700, "ObjectName": "a name", "By-line": "José",
             "CodedCharacterSet": "UTF8"},
    "XMP": {"Title": "a <title> & \"more\"", "Subject": ["red", "Grüße"], "Rating": 4, "Creator": ["José"], "City": "Köln",
            "Label": "y" * 900},
    "Photoshop": {"URL": "https://example.org/"},
    "File": {"Comment": "a comment, äöü"},
}
NAMES = {"EXIF": "EXIF", "IPTC": "IPTC", "XMP": "XMP", "Photoshop": "Photoshop resources", "ICC_Profile": "the ICC profile",
         "File": "texts"}
ICC = next((path for path in ("/usr/share/color/icc/ghostscript/srgb.icc", "/usr/share/color/icc/colord/sRGB.icc")
            if os.path.exists(path)), None)


def exiftool(*words):
    return subprocess.run(["exiftool", *words], check=True, capture_output=True).stdout


def tags_of(path):
    """{group: {name: value}} of the groups that are given."""
    found = {}
    for key, value in json.loads(exiftool("-j", "-n", "-a", "-G0", "-struct", path))[0].items():
        group, _, name = key.partition(":")
        found.setdefault(group, {})[name] = value
    return found


def given_in(tags):
    """The tags of `tags` that were given, and the whole profile."""
    found = {group: {name: tags[group][name] for name in names if name in tags.get(group, {})} for group, names in GIVEN.items()}
    found["ICC_Profile"] = {name: value for name, value in tags.get("ICC_Profile", {}).items()}
    comment = tags.get("File", {}).get("Comment") or tags.get("PNG", {}).get("Comment")
    found["File"] = {"Comment": comment} if comment else {}
    return {group: names for group, names in found.items() if names}


def make(suffix):
    """A file of pixels with all metadata that exiftool can write into its format."""
    path = c.path(f"in.{suffix}")
    pixels = c.rng.integers(0, 9, (40, 60, 3)).astype(np.uint8) * 28
    write(c.path("in.ppm"), pixels - pixels % 84)
    c.run("convert", c.path("in.ppm"), path)
    for group, names in GIVEN.items():
        words = []
        for name, value in names.items():
            for each in value if isinstance(value, list) else [value]:
                words.append(f"-{'' if group == 'File' else group + ':'}{name}={each}")
        subprocess.run(["exiftool", "-q", "-q", "-m", "-n", "-overwrite_original", *words, path], check=False, capture_output=True)
    if ICC:
        subprocess.run(["exiftool", "-q", "-q", "-overwrite_original", f"-icc_profile<={ICC}", path], check=False, capture_output=True)
    return path


def held_by(path, suffix):
    """The tags of an output, those of the PNG in an ICO, or what a PPM has before its samples."""
    data = open(path, "rb").read()
    if suffix == "ico":
        with open(c.path("inner.png"), "wb") as f:
            f.write(data[data.index(b"\x89PNG"):])
    return ({"PNM": {"Comment": data[:99].decode(errors="replace")}} if suffix == "ppm" else
            tags_of(c.path("inner.png")) if suffix == "ico" else {} if suffix == "tga" else tags_of(path))


def holds(group, name, value, made, suffix):
    """A comment and the description of a TIFF, which is a text and no EXIF, may be in any text. JPEG XL describes sRGB by
    numbers."""
    if group == "File" or name == "ImageDescription":
        return value in json.dumps(made, ensure_ascii=False)
    return made.get(group, {}).get(name) == value or (group == "ICC_Profile" and suffix == "jxl")


formats = c.run("list").decode()
suffixes = [s for s, name in (("jpg", "jpeg"), ("png", "png"), ("tif", "tiff"), ("webp", "webp"), ("gif", "gif"), ("avif", "avif"),
                              ("heic", "heic"), ("jxl", "jxl")) if re.search(rf"^ *{name} .*", formats, re.M)]
for suffix in suffixes:
    path = make(suffix)
    before = given_in(tags_of(path))
    c.check(f"{suffix}: exiftool wrote something", before, before)
    for other in suffixes + ["bmp", "tga", "ppm", "ico"]:
        made = c.path(f"out.{other}")
        got = c.result("flip", "--h", path, made)
        strict = c.result("flip", "--h", path, c.path(f"strict.{other}"), "--strict")
        c.check(f"{suffix} to {other}", got.returncode == 0, got.stderr)
        c.check(f"{suffix} to {other}: --strict", (strict.returncode == 0) == (got.stderr == ""), got.stderr + strict.stderr)
        after = held_by(made, other)
        for group, names in before.items():
            missing = {name: value for name, value in names.items() if not holds(group, name, value, after, other)}
            words = "texts" if list(missing) == ["ImageDescription"] and suffix == "tif" else NAMES[group]
            named = re.search(rf"(hold|write to \w+:|read:|dropped:|,) ([^;]*, )?({words}|\d+ tags? of {group})", got.stderr)
            c.check(f"{suffix} to {other}: {group} is held or named", not missing or named, f"{str(missing)[:200]} {got.stderr}")
            c.check(f"{suffix} to {other}: {group} is not held and named", missing or not named, got.stderr)
c.end()
