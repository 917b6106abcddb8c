#!/usr/bin/env python3
"""Opens every page of the gallery's site in headless Chromium, at 390 and 1280 pixels, light and dark.

Usage: browser.py SITE [--links | --shots FOLDER PAGE...]     (make test-site; needs Debian's chromium)

A page fails if the console has an error, a request fails or leaves the folder, a link leads nowhere, the page is wider than the window,
a picture is not shown or has no text, a level of headings is skipped, or text has a contrast below 4.5. The search must find commands by
the words of other programs. --shots writes pictures of whole pages. --links checks only the links, without a browser.
"""
import base64
import html.parser
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

SIZES = (390, 1280)
SCHEMES = ("light", "dark")
SEARCHES = (("median", "op/median.html"), ("sobel", "op/edges.html"), ("otsu", "op/threshold.html"), ("colour", "op/color.html"),
            ("non-local means", "op/nlmeans.html"), ("slurm", "help/cluster.html"), ("createCLAHE", "op/clahe.html"), ("deskew", "op/deskew.html"))
# Runs in the page; returns a list of what is wrong.
CHECK = r"""(async () => {
    const wrong = [], root = document.documentElement;
    const images = [...document.images];
    images.forEach(i => i.loading = "eager");
    await Promise.all(images.map(i => i.complete ? 0 : new Promise(done => { i.onload = i.onerror = done; })));
    for (const i of images) {
        if (!i.naturalWidth) wrong.push(`not shown: ${i.src}`);
        if (!i.hasAttribute("alt") || (!i.alt && !i.closest(".kind"))) wrong.push(`no text: ${i.src}`);
    }
    if (root.scrollWidth > innerWidth) {
        const wide = [...document.querySelectorAll("main *, header *")].find(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest("pre, .scroll, svg"));
        wrong.push(`${root.scrollWidth} pixels wide: ${wide ? wide.outerHTML.slice(0, 90) : "?"}`);
    }
    let level = 0;
    for (const h of document.querySelectorAll("h1, h2, h3, h4")) {
        const n = +h.tagName[1];
        if (n > level + 1) wrong.push(`${h.tagName} after H${level}: ${h.textContent}`);
        level = n;
    }
    if (document.querySelectorAll("h1").length !== 1) wrong.push("want one h1");
    const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const rgb = color => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
    const light = color => { const [r, g, b] = rgb(color).map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
    const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] === 255) return c; } return "white"; };
    const seen = new Set();
    for (const e of document.querySelectorAll("body *")) {
        if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || !e.getClientRects().length || e.closest("script, .skip")) continue;
        const style = getComputedStyle(e), pair = `${e.namespaceURI.endsWith("svg") ? style.fill : style.color} on ${behind(e)}`;
        if (seen.has(pair)) continue;
        seen.add(pair);
        const [a, b] = pair.split(" on ").map(light), ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        if (ratio < 4.5) wrong.push(`contrast ${ratio.toFixed(2)}: ${pair}: ${e.textContent.trim().slice(0, 40)}`);
    }
    return wrong;
})()"""


class Browser:
    """Chromium, driven by its protocol through a pipe."""
    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(prefix="site-")
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()

        def pipes():  # the protocol is read from descriptor 3 and written to 4
            read, write = os.dup(to_read), os.dup(to_write)
            os.dup2(read, 3)
            os.dup2(write, 4)
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}", "about:blank"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.number, self.rest, self.events, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def read(self):
        while b"\0" not in self.rest:
            part = os.read(self.back, 1 << 20)
            if not part:
                raise SystemExit("browser: Chromium has ended")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"browser: {method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self.read())

    def open(self, url, width):
        """Opens a page and returns the errors of its console and its requests."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.events = []
        self.call("Page.navigate", url=url)
        self.wait("Page.loadEventFired")
        return self.errors()

    def errors(self):
        found = []
        for event in self.events:
            method, p = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(p["exceptionDetails"].get("exception", {}).get("description", p["exceptionDetails"]["text"]))
            elif method == "Log.entryAdded" and p["entry"]["level"] == "error":
                found.append(p["entry"]["text"])
            elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning"):
                found.append(str(p["args"]))
            elif method == "Network.loadingFailed" and not p.get("canceled"):
                found.append(f"request: {p['errorText']}")
            elif method == "Network.requestWillBeSent" and not p["request"]["url"].startswith(("file:", "data:")):
                found.append(f"leaves the folder: {p['request']['url']}")
        self.events = []
        return found

    def evaluate(self, script):
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            return [str(answer["exceptionDetails"])]
        return answer["result"].get("value")

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def shot(self, path):
        self.evaluate(CHECK)  # loads all pictures
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self):
        self.session = None
        self.call("Browser.close")
        self.process.wait(30)


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.ids = [], set()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.links += [attributes[a] for a in ("href", "src") if a in attributes]
        if "id" in attributes:
            self.ids.add(attributes["id"])


def check_links(site, pages):
    """Returns the links that lead nowhere."""
    parsed = {}
    for page in pages:
        parsed[page] = Links()
        parsed[page].feed(page.read_text(encoding="utf-8"))
    wrong = []
    for page, links in parsed.items():
        for link in links.links:
            if link.startswith(("http:", "https:")):
                continue
            path, _, anchor = urllib.parse.unquote(link).partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists() or (anchor and target in parsed and anchor not in parsed[target].ids):
                wrong.append(f"{page.relative_to(site)}: {link} leads nowhere")
    index = (site / "index.js").read_text(encoding="utf-8")
    for _, _, address, *_ in json.loads(index[index.index("["):index.rindex("]") + 1]):
        path, _, anchor = address.partition("#")
        if site / path not in parsed or (anchor and anchor not in parsed[site / path].ids):
            wrong.append(f"the search leads to {address}, which is not there")
    return wrong


def check_search(browser, site):
    wrong = browser.open((site / "op" / "blur.html").as_uri(), 1280)
    for words, want in SEARCHES:
        script = f"""(() => {{ const i = document.querySelector(".search input"); i.value = {json.dumps(words)};
            i.dispatchEvent(new Event("input")); return document.querySelector(".hits a")?.getAttribute("href") ?? ""; }})()"""
        got = browser.evaluate(script)
        if got != f"../{want}":
            wrong.append(f"search: {words}: {got}, want {want}")
    return wrong


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if "--links" in sys.argv:
        site = pathlib.Path(sys.argv[1]).resolve()
        wrong = check_links(site, sorted(site.rglob("*.html")))
        print(*wrong, sep="\n")
        sys.exit(bool(wrong))
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program:
        print("SKIP: chromium is missing: apt-get install chromium\n0 passed, 0 failed, 1 skipped")
        return
    site = pathlib.Path(sys.argv[1]).resolve()
    browser = Browser(program)
    if "--shots" in sys.argv:
        folder = pathlib.Path(sys.argv[3])
        folder.mkdir(parents=True, exist_ok=True)
        for page in sys.argv[4:]:
            for width in SIZES:
                for scheme in SCHEMES:
                    browser.scheme(scheme)
                    browser.open((site / page).as_uri(), width)
                    browser.shot(folder / f"{page.replace('/', '-').removesuffix('.html')}-{width}-{scheme}.png")
        browser.close()
        return
    pages = sorted(site.rglob("*.html"))
    wrong, passed = check_links(site, pages) + check_search(browser, site), 0
    for page in pages:
        for width in SIZES:
            errors = browser.open(page.as_uri(), width)
            for scheme in SCHEMES:
                browser.scheme(scheme)
                found = errors + browser.evaluate(CHECK) + browser.errors()
                wrong += [f"{page.relative_to(site)} at {width}, {scheme}: {e}" for e in found]
                passed += not found
    browser.close()
    for line in wrong:
        print(f"FAILED: {line}")
    print(f"{len(pages)} pages\n{passed} passed, {len(wrong)} failed, 0 skipped")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
