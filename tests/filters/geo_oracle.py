"""GeoTIFF's position follows pixels that an operation moves, or is dropped: each pixel of the result, which tells where it
came from, must have the model coordinates that it had in the input (OGC 19-008r4, 7.1 and Annex B.6).

Sources: imgio/metadata/geo* filters/plan* filters/geometry/layout* filters/geometry/crop* filters/geometry/pad* filters/geometry/shift* imgio/window.c
"""
import os

from _common import Checks, np
from _tags import compose, parse

c = Checks()
check = c.check
os.chdir(c.folder.name)

H, W = 24, 36
IDS = np.arange(1, H * W + 1, dtype="<u2").reshape(H, W)
KEYS = [1, 1, 0, 2, 1024, 0, 1, 1, 1025, 0, 1]
SCALE = (33550, 12, [0.5, 0.25, 1.0])
TIE = (33922, 12, [2.0, 3.0, 0.0, 440000.0, 5e6, 7.0])
MATRIX = (34264, 12, [0.4, 0.1, 0, 440000.0, 0.2, -0.3, 0, 5e6, 0, 0, 1, 0, 0, 0, 0, 1])
POINTS = (33922, 12, [0.0, 0.0, 0, 10.0, 20.0, 0, 36.0, 0, 0, 46.0, 21.0, 0, 0, 24.0, 0, 11.0, 44.0, 0])
KINDS = {"scale": [SCALE, TIE], "matrix": [MATRIX], "points": [POINTS], "both": [SCALE, TIE, MATRIX]}
TAGS = (33550, 33922, 34264)


def tiff(order, geo, point, image=IDS):
    data = image.astype(order + "u2").tobytes()
    h, w = image.shape
    return compose([(256, 3, [w]), (257, 3, [h]), (258, 3, [16]), (259, 3, [1]), (262, 3, [1]), (273, 4, [8]),
                    (277, 3, [1]), (278, 3, [h]), (279, 4, [len(data)]),
                    (34735, 3, KEYS + [2 if point else 1])] + geo, order, data=data)


def position(tags, x, y, point):
    """Returns the model coordinates of raster positions, where (0, 0) is the corner of a pixel."""
    x, y = (x - 0.5, y - 0.5) if point else (x, y)
    if 34264 in tags:
        m = np.array(tags[34264][1]).reshape(4, 4)
        return m[0, 0] * x + m[0, 1] * y + m[0, 3], m[1, 0] * x + m[1, 1] * y + m[1, 3]
    ties = np.array(tags[33922][1]).reshape(-1, 6)
    if 33550 in tags:
        scale = tags[33550][1]
        return ties[0, 3] + (x - ties[0, 0]) * scale[0], ties[0, 4] - (y - ties[0, 1]) * scale[1]
    fit = np.linalg.lstsq(np.c_[ties[:, :2], np.ones(len(ties))], ties[:, 3:5], rcond=None)[0]
    return x * fit[0, 0] + y * fit[1, 0] + fit[2, 0], x * fit[0, 1] + y * fit[1, 1] + fit[2, 1]


def run(words, *options):
    if os.path.exists("out.tif"):
        os.remove("out.tif")
    result = c.result(words[0], *([words[1]] if words[0] == "run" else []), "in.tif", "out.tif",
                      *(words[2:] if words[0] == "run" else words[1:]), *options)
    return result.returncode, result.stderr


def samples():
    c.run("convert", "--force", "out.tif", "out.npy")
    return np.load("out.npy")


def same(a, b):
    return all(np.allclose(u, v, rtol=1e-12, atol=1e-7) for u, v in zip(a, b))


MOVES = [["crop", "--size", "20x10+5+7"], ["crop", "--trim"], ["pad", "--margins", "3,4,5,6"], ["flip", "--h"], ["flip", "--v"],
         ["transpose"], ["rotate", "--angle", "90"], ["rotate", "--angle", "180"], ["rotate", "--angle", "-90"],
         ["shift", "--offset", "3,-2"], ["resize", "--size", "200%", "--filter", "nearest"], ["orient", "--orientation", "7"],
         ["run", "crop --size 20x10+5+7 | rotate --angle 90 | pad --margins 2"], ["invert"],
         ["run", "invert | shift --offset 1,1 | stats"]]


def moves():
    for words in MOVES:
        for kind, geo in KINDS.items():
            for order, point in (("<", False), (">", True)):
                write(tiff(order, geo, point))
                status, said = run(words, "--strict")
                name = f"{' '.join(words)}, {kind}, {order}, {point}"
                check(f"{name}: {said}", status == 0)
                if status:
                    continue
                tags, got = parse(open("out.tif", "rb").read()), samples()
                got = 65535 - got if any("invert" in w for w in words) else got
                y, x = np.nonzero(got[:, :] if "pad" not in " ".join(words) and "shift" not in " ".join(words)
                                  else (got > 0) & (got <= H * W))
                before = got[y, x].astype(int) - 1
                by = 2 if words[0] == "resize" else 1
                if by == 2:  # the centres of pairs of equal pixels
                    pick = (x % 2 == 0) & (y % 2 == 0)
                    x, y, before = x[pick] + 0.5, y[pick] + 0.5, before[pick]
                want = position({t: (k, v) for t, k, v in geo}, before % W + 0.5, before // W + 0.5, point)
                check(f"{name}: {[tags.get(t) for t in TAGS]}", len(x) > 0
                      and same(position(tags, x + 0.5, y + 0.5, point), want))
                check(f"{name}: keys", tags[34735][1] == tuple(KEYS + [2 if point else 1]))


def write(data):
    with open("in.tif", "wb") as f:
        f.write(data)


def sizes():
    """Corners of a resized image stay where they are."""
    for size in ("50%", "12x8", "100x10", "33%"):
        for kind, geo in KINDS.items():
            for point in (False, True):
                write(tiff("<", geo, point))
                status, said = run(["resize", "--size", size, "--stretch"], "--strict")
                tags, (h, w) = parse(open("out.tif", "rb").read()), samples().shape
                corners = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
                check(f"resize {size}, {kind}, {point}: {said}", status == 0 and
                      same(position(tags, corners[:, 0] * w, corners[:, 1] * h, point),
                           position({t: (k, v) for t, k, v in geo}, corners[:, 0] * W, corners[:, 1] * H, point)))


def lost():
    """Operations without a simple map drop the position by name, and fail with --strict."""
    table = "map.npy"
    np.save(table, np.zeros((5, 5, 2), np.float32))
    for words in (["rotate", "--angle", "30"], ["perspective", "--to", "1,0,36,0,36,24,0,24"], ["warp-polar"],
                  ["undistort", "--camera", '{"K": [[30, 0, 18], [0, 30, 12], [0, 0, 1]], "D": [-0.3, 0.1, 0, 0]}'],
                  ["affine", "--matrix", "1 0.1 0; 0 1 0"], ["remap", "--map", "map.npy"]):
        for kind, geo in KINDS.items():
            write(tiff("<", geo, False))
            status, said = run(words)
            if status == 2:
                check(f"{words}: {said}", False)
                continue
            tags = parse(open("out.tif", "rb").read())
            check(f"{words}, {kind}: {said}", status == 0 and not set(TAGS) & set(tags) and 34735 in tags
                  and all(f"GeoTIFF tag {t}" in said for t, _, _ in geo))
            check(f"{words}, {kind}, --strict", run(words, "--strict")[0] == 1)
    write(tiff("<", [(33550, 3, [1, 2, 3]), TIE], False))
    check("a scale of another type is dropped", "33550" in run(["flip", "--h"])[1])


def statistics():
    """Statistics of the old samples leave GDAL's metadata; other items stay."""
    text = (b'<GDALMetadata>\n  <Item name="STATISTICS_MEAN" sample="0">12.5</Item>\n  <Item name="unit">m</Item>\n'
            b'  <Item name="STATISTICS_MAXIMUM" sample="0">99</Item>\n</GDALMetadata>\0')
    write(tiff("<", [(42112, 2, text)], False))
    check("not changed", run(["convert"], "--strict")[0] == 0
          and parse(open("out.tif", "rb").read())[42112] == (2, text))
    said = run(["invert"])[1]
    got = parse(open("out.tif", "rb").read())[42112][1]
    check(f"changed: {said} {got}", "statistics" in said and b"STATISTICS" not in got and b'"unit">m<' in got)
    check("changed, --strict", run(["invert"], "--strict")[0] == 1)


def tagged():
    """An orientation that is written turns the stored pixels and the position, and back when it is read."""
    for orientation in range(1, 9):
        write(tiff("<", [SCALE, TIE], False))
        check("orient", run(["orient", "--tag", str(orientation)], "--strict")[0] == 0)
        os.replace("out.tif", "in.tif")
        run(["convert"])
        tags = parse(open("out.tif", "rb").read())
        x, y = np.array([0, W, 3]), np.array([0, 5, H])
        check(f"orientation {orientation} written: {[tags.get(t) for t in TAGS]}", np.array_equal(samples(), IDS) and same(
            position(tags, x, y, False), position({t: (k, v) for t, k, v in (SCALE, TIE)}, x, y, False)))


PACKET = (b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
          b'<rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="%d"/></rdf:RDF></x:xmpmeta>')


def upright(orientation):
    return {1: IDS, 2: IDS[:, ::-1], 3: IDS[::-1, ::-1], 4: IDS[::-1], 5: IDS.T, 6: np.rot90(IDS, -1),
            7: np.rot90(IDS.T, 2), 8: np.rot90(IDS)}[orientation]


def orientation_entries(tag, xmp):
    return ([(274, 3, [tag])] if tag is not None else []) + ([(700, 1, PACKET % xmp)] if xmp is not None else [])


def conflicts():
    """The tag counts before XMP, also if it is invalid, as in Pillow; a picture in a SubIFD has the orientation of its
    page if it has none. crop reads only a part of the file, and must know the orientation before."""
    values = (None, 0, 1, 3, 6, 8, 9)
    for order in "<>":
        cases = [(orientation_entries(tag, xmp), [], tag if tag is not None else xmp) for tag in values for xmp in values]
        for page in ((6, None), (None, 8), (None, None), (9, 5)):
            for own in ((None, None), (3, None), (None, 5), (0, 6), (1, 8)):
                first = [v for v in own + page if v is not None]
                cases.append((orientation_entries(*own), orientation_entries(*page), first[0] if first else 1))
        for own, page, wanted in cases:
            data = IDS.astype(order + "u2").tobytes()
            picture = [(256, 3, [W]), (257, 3, [H]), (258, 3, [16]), (259, 3, [1]), (262, 3, [1]), (273, 4, [8]),
                       (277, 3, [1]), (278, 3, [H]), (279, 4, [len(data)])] + own
            small = [(254, 4, [1]), (256, 3, [2]), (257, 3, [2]), (258, 3, [8]), (259, 3, [1]), (262, 3, [1]), (273, 4, [8]),
                     (277, 3, [1]), (278, 3, [2]), (279, 4, [4]), (330, 4, picture)] + page
            whole = upright(wanted if wanted in range(1, 9) else 1)
            for entries in [small] if page else [picture, small]:
                write(compose(entries, order, data=data))
                for words, want in ((["convert"], whole), (["crop", "--size", "12x9+5+4"], whole[4:13, 5:17])):
                    name = f"own {[e[:2] for e in own]}, of the page {[e[:2] for e in page]}: {wanted}, {words[0]}"
                    said = run(words)
                    check(f"{name}: {said}", said[0] == 0 and np.array_equal(samples(), want))


def stored():
    """An orientation in the file, as a tag or in XMP, turns the pixels, and the position with them, also where crop reads
    only a part of the file."""
    for orientation in range(2, 9):
        turned = upright(orientation)
        for entry in ((274, 3, [orientation]), (700, 1, PACKET % orientation)):
            for words, whole in ((["convert"], turned), (["crop", "--size", "12x9+5+4"], turned[4:13, 5:17])):
                write(tiff("<", [SCALE, TIE, entry], False))
                name = f"orientation {orientation} in tag {entry[0]}, {words[0]}"
                check(name, run(words, "--strict")[0] == 0)
                tags, got = parse(open("out.tif", "rb").read()), samples()
                check(f"{name}: samples", np.array_equal(got, whole))
                y, x = np.nonzero(got)
                before = got[y, x].astype(int) - 1
                want = position({t: (k, v) for t, k, v in (SCALE, TIE)}, before % W + 0.5, before // W + 0.5, False)
                check(f"{name}: position", same(position(tags, x + 0.5, y + 0.5, False), want))


def places():
    """Positions on a page and ImageJ's overlays stay while pixels stay, and are named where pixels have moved."""
    page = [(286, 5, [(3, 1)]), (287, 5, [(5, 2)]), (33300, 4, [99]), (33301, 4, [88])]
    for kinds, moved in ((b"over", True), (b"roi ", True), (b"revo", True), (b" ior", True), (b"labl", False)):
        imagej = [(50838, 4, [12, 4]), (50839, 1, b"IJIJ" + kinds + b"\0\0\0\1abcd")]
        for words, stays in ((["invert"], True), (["crop", "--size", "20x10+5+7"], False), (["flip", "--h"], False),
                             (["resize", "--size", "50%"], False), (["crop", "--size", f"{W}x{H}"], True)):
            write(tiff("<", page + imagej, False))
            lost = [] if stays else page + (imagej[1:] if moved else [])
            said = run(words)[1]
            tags = parse(open("out.tif", "rb").read())
            for tag, kind, values in page + imagej[1:]:
                is_lost = tag in [t for t, _, _ in lost]
                check(f"{words[0]}: tag {tag}: {said}", (tag not in tags) == is_lost == (f"tag {tag}" in said))
            check(f"{words[0]} --strict", run(words, "--strict")[0] == (1 if lost else 0))


moves()
sizes()
places()
lost()
statistics()
tagged()
stored()
conflicts()
c.end()
