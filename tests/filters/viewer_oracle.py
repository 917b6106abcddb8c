"""Tiles open in OpenSeadragon in headless Chromium: every tile that it asks for is there and has the size that it expects, and the canvas shows the image.

Its script is taken from Debian's python-openslide-examples into build/openseadragon by `make deps test` (tests/tests.mk). With SHOTS=FOLDER the test
keeps pictures of the viewer there.
Sources: cli/commands/tiles_layout.c cli/commands/tiles.c filters/geometry/pyramid.c
"""
import base64
import http.server
import json
import math
import os
import shutil
import sys
import threading

from _common import Checks, np, write

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "../../build/openseadragon/openseadragon.js")
CHROMIUM = shutil.which("chromium")
for missing, what in ((not CHROMIUM, "Chromium is missing"), (not os.path.exists(SCRIPT), "OpenSeadragon is missing: make deps test")):
    if missing:
        print(f"SKIP: {what}\n0 passed, 0 failed, 1 skipped")
        sys.exit(0)
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "../site"))
import browser  # noqa: E402 (after the path)

WIDTH, HEIGHT, BLOCK, VIEW = 1300, 970, 50, (600, 450)
PAGE = """<!DOCTYPE html><meta charset="utf-8"><title>tiles</title><body style="margin: 0"><div id="v" style="width: %dpx; height: %dpx; background: white"></div>
<script src="openseadragon.js"></script>""" % VIEW
OPEN = """new Promise((done, fail) => {
    window.viewer = OpenSeadragon({id: "v", tileSources: %s, prefixUrl: "", showNavigationControl: false, animationTime: 0, blendTime: 0, immediateRender: true,
                                   minPixelRatio: 1, maxZoomPixelRatio: 4, visibilityRatio: 0});
    viewer.addHandler("open", () => done("open"));
    viewer.addHandler("open-failed", e => done("failed: " + e.message));
    viewer.addHandler("tile-load-failed", e => (window.failed = window.failed || []).push(e.tile.url || e.message));
})"""
# Loads every tile of every level, and returns [url, level, width, height, wanted width, wanted height] of each.
TILES = """(async () => {
    const source = viewer.world.getItemAt(0).source, found = [];
    for (let level = source.minLevel; level <= source.maxLevel; level++) {
        const n = source.getNumTiles(level);
        for (let y = 0; y < n.y; y++)
            for (let x = 0; x < n.x; x++) {
                const url = source.getTileUrl(level, x, y), image = new Image(), want = source.getTileBounds(level, x, y, true);
                image.src = url;
                await image.decode().catch(() => 0);
                found.push([url, level, image.naturalWidth, image.naturalHeight, want.width, want.height]);
            }
    }
    return found;
})()"""
# Shows the image with its pixel (x, y) in the middle, `scale` pixels of the view per pixel of the image, and returns the colour there.
PIXEL = """(async () => {
    const item = viewer.world.getItemAt(0), wait = ms => new Promise(done => setTimeout(done, ms)), view = viewer.viewport;
    view.zoomTo(view.imageToViewportZoom(%g), null, true);
    view.panTo(view.imageToViewportCoordinates(%g, %g), true);
    viewer.forceRedraw();
    for (let i = 0; i < 400; i++) {
        await wait(25);
        if (i > 3 && item.getFullyLoaded() && !viewer.world.needsDraw())
            break;
    }
    const canvas = viewer.drawer.canvas;
    return [item.getFullyLoaded(), ...canvas.getContext("2d").getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data];
})()"""

c = Checks()
os.chdir(c.folder.name)
answers = {}


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the folder, and remembers the status of each path."""
    def do_GET(self):
        if self.path == "/favicon.ico":
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def log_request(self, code="-", size="-"):
        answers[self.path] = int(code)

    def log_message(self, *args):
        pass


def colour(x, y):
    """Returns the colour of the block at (x, y); all blocks around it have other colours."""
    i, j = x // BLOCK, y // BLOCK
    return i * 9 % 256, j * 12 % 256, (i * 7 + j * 11) % 256


y, x = np.mgrid[:HEIGHT, :WIDTH]
write("in.ppm", np.dstack(colour(x, y)).astype(np.uint8))
shutil.copy(SCRIPT, "openseadragon.js")
with open("page.html", "w", encoding="utf-8") as f:
    f.write(PAGE)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
address = f"http://127.0.0.1:{server.server_address[1]}"
threading.Thread(target=server.serve_forever, daemon=True).start()
chromium = browser.Browser(CHROMIUM)


def look(name, source, *words, tiles=0):
    c.run("tiles", "in.ppm", name, "--format", "png", *words)
    answers.clear()
    wrong = [e for e in chromium.open(f"{address}/page.html", 1000) if address not in e]
    said = chromium.evaluate(OPEN % json.dumps(source))
    c.check(f"{name}: opens", said == "open", said)
    if said != "open":
        return
    found = chromium.evaluate(TILES)
    odd = [t for t in found if t[2:4] != [math.ceil(round(n, 6)) for n in t[4:6]]]  # its levels have fractions of pixels
    c.check(f"{name}: sizes of tiles", not odd, odd[:3])
    levels = len({t[1] for t in found})
    c.check(f"{name}: {tiles} tiles", len({t[0] for t in found}) == len(found) == tiles, (len(found), levels))
    for scale, px, py in ((0.2, 625, 475), (0.45, 1275, 925), (1, 75, 75), (3, 1275, 925)):
        got = chromium.evaluate(PIXEL % (scale, px + .5, py + .5))
        c.check(f"{name}: pixel {px}, {py} at {scale}", got == [True, *colour(px, py), 255], (got, colour(px, py)))
    if os.environ.get("SHOTS"):
        chromium.evaluate(PIXEL % (0.4, WIDTH / 2, HEIGHT / 2))
        data = chromium.call("Page.captureScreenshot", format="png")["data"]
        with open(os.path.join(os.environ["SHOTS"], f"{name}.png"), "wb") as f:
            f.write(base64.b64decode(data))
    failed = chromium.evaluate("window.failed || []")
    wrong += [e for e in chromium.errors() if address not in e]
    c.check(f"{name}: no errors", not failed and not wrong, failed + wrong)
    bad = {path: code for path, code in answers.items() if code >= 400}
    c.check(f"{name}: every request is answered", not bad and len(answers) >= tiles, list(bad.items())[:3])


def count(size, most):
    """The tiles of all levels down to one of at most `most` pixels per side."""
    w, h, n = WIDTH, HEIGHT, 0
    while True:
        n += -(-w // size) * -(-h // size)
        if max(w, h) <= most:
            return n
        w, h = (w + 1) // 2, (h + 1) // 2


os.environ.pop("GPUIMG_BAND_BYTES", None)
look("dz", "dz.dzi", tiles=count(254, 1))
look("dz-odd", "dz-odd.dzi", "--tile-size", 100, "--overlap", 7, tiles=count(100, 1))
look("iiif", "iiif/info.json", "--layout", "iiif", "--id", f"{address}/iiif", tiles=count(512, 512))
look("iiif-near", "iiif-near/info.json", "--layout", "iiif", "--tile-size", 256, tiles=count(256, 256))
look("zoomify", {"type": "zoomifytileservice", "width": WIDTH, "height": HEIGHT, "tilesUrl": "zoomify/", "fileFormat": "png"}, "--layout", "zoomify", tiles=count(256, 256))
chromium.close()
server.shutdown()
c.end()
