"""Directories of tags of TIFF, BigTIFF and EXIF, composed and parsed byte by byte (TIFF 6.0, section 2)."""
import struct
import zlib

SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}
LETTERS = {1: "B", 3: "H", 4: "I", 6: "b", 8: "h", 9: "i", 11: "f", 12: "d", 13: "I", 16: "Q", 17: "q", 18: "Q"}
EXIF, GPS, INTEROPERABILITY = 34665, 34853, 40965
POINTERS = (EXIF, GPS, INTEROPERABILITY)


def pack(order, kind, values):
    """Returns the bytes of values: numbers, pairs of rationals, or bytes."""
    if isinstance(values, bytes):
        return values
    if kind in (5, 10):
        return b"".join(struct.pack(order + ("II" if kind == 5 else "ii"), *pair) for pair in values)
    return struct.pack(f"{order}{len(values)}{LETTERS[kind]}", *values)


def plain(kind, values):
    """Returns (type, values) in the form of parse()."""
    if isinstance(values, bytes):
        return kind, values
    if kind in (1, 2, 7):
        return kind, bytes(values)
    return kind, tuple(v for pair in values for v in pair) if kind in (5, 10) else tuple(values)


def compose(entries, order="<", big=False, at=None, data=b"", next_directory=0):
    """Returns a file. `entries` are (tag, type, values); values that are a list of entries are a directory to which
    the tag points. `data` follows the header; the directories follow `data`."""
    head = 16 if big else 8
    body = bytearray(data + b"\0" * (len(data) % 2))

    def directory(entries):
        made = []
        for tag, kind, values in sorted(entries, key=lambda e: e[0]):
            if isinstance(values, list) and values and isinstance(values[0], tuple) and len(values[0]) == 3:
                raw = struct.pack(order + ("Q" if SIZES[kind] == 8 else "I"), directory(values))
            else:
                raw = pack(order, kind, values)
            made.append((tag, kind, len(raw) // SIZES.get(kind, 1), raw))
        room, text = (8, "HHQ") if big else (4, "HHI")
        packed = b""
        for tag, kind, n, raw in made:
            if len(raw) > room:
                body.extend(b"\0" * (len(body) % 2))
                place = head + len(body)
                body.extend(raw)
                raw = struct.pack(order + ("Q" if big else "I"), place)
            packed += struct.pack(order + text, tag, kind, n) + raw.ljust(room, b"\0")
        body.extend(b"\0" * (len(body) % 2))
        place = head + len(body)
        body.extend(struct.pack(order + ("Q" if big else "H"), len(made)) + packed
                    + struct.pack(order + ("Q" if big else "I"), next_directory))
        return place

    first = directory(entries)
    mark = b"II" if order == "<" else b"MM"
    start = (mark + struct.pack(order + "HHHQ", 43, 8, 0, first) if big
             else mark + struct.pack(order + "HI", 42, first))
    return start + bytes(body)


def parse(data, at=None):
    """Returns {tag: (type, values)} of a directory, the first one by default. Values are bytes for the types 1, 2 and
    7, otherwise tuples; a directory to which a tag points is a dictionary."""
    order = "<" if data[:2] == b"II" else ">"
    big = struct.unpack(order + "H", data[2:4])[0] == 43
    if at is None:
        at = struct.unpack(order + ("Q" if big else "I"), data[8:16] if big else data[4:8])[0]
    count, entry, room, offset = (8, 20, 8, "Q") if big else (2, 12, 4, "I")
    n = struct.unpack(order + ("Q" if big else "H"), data[at:at + count])[0]
    found, last = {}, -1
    for i in range(n):
        place = at + count + i * entry
        tag, kind, values = struct.unpack(order + "HH" + offset, data[place:place + 4 + room])
        assert tag > last, f"tag {tag} after {last}"
        last = tag
        nbytes, place = values * SIZES[kind], place + 4 + room
        if nbytes > room:
            place = struct.unpack(order + offset, data[place:place + room])[0]
        raw = data[place:place + nbytes]
        assert len(raw) == nbytes, f"tag {tag} ends outside"
        if tag in POINTERS:
            found[tag] = kind, parse(data, struct.unpack(order + ("Q" if SIZES[kind] == 8 else "I"), raw)[0])
        elif kind in (1, 2, 7):
            found[tag] = kind, raw
        elif kind in (5, 10):
            found[tag] = kind, struct.unpack(f"{order}{2 * values}{'I' if kind == 5 else 'i'}", raw)
        else:
            found[tag] = kind, struct.unpack(f"{order}{values}{LETTERS[kind]}", raw)
    return found


def png_resources(data):
    """Returns IPTC and Photoshop's resources of a PNG, in the block of Photoshop that ImageMagick writes; or no bytes."""
    at, found = 8, b""
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + n]
        if kind == b"zTXt" and body.startswith(b"Raw profile type iptc\0\0"):
            found += bytes.fromhex(zlib.decompress(body[23:]).decode().split("\n", 3)[3])
        at += 12 + n
    return found
