#!/bin/bash
# compare --html: the contents of the page, their order, whole or not at all, and nothing that a hostile name could add.
# Usage: compare_html.sh GPUIMG
# Sources: cli/tables/compare_html* cli/commands/compare_result*
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"
data=$tests/../../testdata

mkdir a b
bad=$'hostile "\'><script>alert(1)<\\script><img src=x onerror=alert(2)>&amp;\xe2\x80\xae\xff\a.png'
gpuimg crop "$data/scene.png" a/little.png --rect 300x40+20+30
gpuimg crop "$data/coins16.png" a/much.png --rect 90x80+20+30
cp a/little.png "a/$bad"
cp a/little.png a/equal.png
cp a/little.png a/missing.png
gpuimg blur a/much.png b/much.png --k 9
gpuimg gaussian a/little.png b/little.png --sigma 0.4
gpuimg gaussian a/little.png "b/$bad" --sigma 0.6
cp a/equal.png b/equal.png
cat >page.py <<'END'
import base64, html.parser, re, sys

class Page(html.parser.HTMLParser):
    VOID = {"meta", "img", "input"}
    def __init__(self):
        super().__init__()
        self.tags, self.open, self.sections, self.pictures, self.texts = [], [], [], [], []
    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "section":
            self.sections.append((attrs["class"], []))
        if tag == "img":
            assert attrs["src"].startswith("data:image/png;base64,"), attrs["src"][:40]
            self.pictures.append(base64.b64decode(attrs["src"].partition(",")[2], validate=True))
            self.sections[-1][1].append(attrs["alt"])
        allowed = {"lang", "charset", "http-equiv", "content", "name", "class", "style", "value", "aria-pressed", "aria-label", "type", "min", "max",
                   "step", "alt", "width", "height", "src"}
        assert set(attrs) <= allowed, attrs
    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag
    def handle_data(self, text):
        if self.open and self.open[-1] == "bdi":
            self.texts.append(text)

text = open(sys.argv[1], encoding="utf-8").read()
page = Page()
page.feed(text)
assert not page.open and page.tags.count("script") == 1 and page.tags.count("style") == 1 and not re.search(r"https?:|url\(|@import", text)
for i, picture in enumerate(page.pictures):
    open(f"picture-{i}.png", "wb").write(picture)
for kind, pictures in page.sections:
    print(kind, *pictures)
print(*page.texts, sep="\n", file=open("names", "w"))
END

expect 2 gpuimg compare a b --html page.html --junit j.xml
check 'those that failed are first, then by difference' test "$(python3 page.py page.html | tr '\n' ';')" = \
    "failed;differs first second difference;differs first second difference;differs first second difference;matches;"
check 'the order of the pairs' test "$(sed -n '1~2p' names | sed 's/hostile.*/hostile/' | tr '\n' ' ')" = 'a/missing.png a/much.png a/hostile a/little.png a/equal.png '
check 'a hostile name is text' grep -qF "a/hostile \"'><script>alert(1)<\\script><img src=x onerror=alert(2)>&amp;\\xe2\\x80\\xae\\xff\\x07.png" names
check 'the counts' grep -qF '<p>5 pairs: 1 failed, 3 differ, 1 matches</p>' page.html
gpuimg convert a/much.png much.png --depth 8
check 'the first picture' gpuimg compare picture-0.png much.png
gpuimg convert b/much.png much.png --depth 8
check 'the second picture' gpuimg compare picture-1.png much.png
gpuimg compare a/much.png b/much.png --diff d.png >/dev/null 2>&1
check 'the difference is that of --diff' gpuimg compare picture-2.png d.png
check 'the numbers are those of a single command' grep -qFx "$(gpuimg compare a/much.png b/much.png 2>/dev/null | grep '^psnr')" page.html
cp page.html one.html
expect 2 gpuimg compare a b --html page.html --threads 1 --memory 1
check 'the bytes do not depend on threads and memory' cmp page.html one.html
expect 2 gpuimg compare a b --html pixels.html --metric pixelmatch --gain 4 -q --ignore-region 9x9+0+0
check 'metrics and masks are as without a page' grep -q '^antialiased' pixels.html
check 'a metric that was not asked is not on the page' test "$(grep -c '^psnr' pixels.html)" = 0
expect 1 gpuimg compare a/much.png b/much.png --html single.html
check 'a page of one pair' test "$(python3 page.py single.html)" = 'differs first second difference'
expect 2 gpuimg compare a/missing.png b/missing.png --html single.html
check 'a page of one pair that failed' test "$(python3 page.py single.html)" = failed
expect 1 gpuimg compare a/much.png b/much.png -q --html /dev/stdout
cp out pipe.html
check 'a page to a pipe' test "$(python3 page.py pipe.html)" = 'differs first second difference'
( cd a && tar cf ../a.tar much.png equal.png; cd ../b && tar cf ../b.tar much.png equal.png )
expect 1 gpuimg compare --tar a.tar b.tar --html tar.html
check 'a page of tars' test "$(python3 page.py tar.html | tr '\n' ';')" = 'differs first second difference;matches;'

expect_error 2 'compare: --html a/much.png: is the input a/much.png, want another file' compare a b --html a/much.png
expect_error 2 'compare: *a/much.png*' compare a/much.png b/much.png --html a/much.png
# A report on standard output is the only text there.
for names in 'a b' 'a/equal.png b/equal.png'; do
    # shellcheck disable=SC2086 # words
    check "--junit - of $names" python3 -c 'import sys, xml.etree.ElementTree as t; t.parse(sys.stdin)' < <(gpuimg compare $names --junit - 2>/dev/null)
done
expect_error 2 'compare: --junit -: --html writes there too' compare a b --junit - --html -
expect_error 2 'compare: --table -: --junit or --html writes there too' compare a b --junit - --table -
expect_error 2 'compare: --junit x.xml: is the file of --html too, want another one' compare a b --html x.xml --junit x.xml
expect 2 gpuimg compare a b --html none/page.html
check 'a folder that is missing is named' grep -q "^gpuimg: compare: none/page.html: " err
expect 2 gpuimg compare a/equal.png b/equal.png --html none/page.html
check 'a page that cannot be written is an error without other ones' grep -q "^gpuimg: compare: none/page.html: " err
echo old >page.html
( ulimit -f 1; exec "$GPUIMG" compare a b --html page.html -q ) >out 2>err
check "a page that does not fit: status $?" test "$(grep -c 'page.html: ' err)" = 1
check 'leaves the older file' test "$(<page.html) $(ls ./*.html | wc -l)" = 'old 6'

# In Chromium: no error, no request, all pictures shown, text that can be read, and controls that work.
cat >look.py <<'END'
import pathlib, shutil, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import browser
b = browser.Browser(shutil.which("chromium"))
wrong = b.open(pathlib.Path("one.html").resolve().as_uri(), 1280) + b.evaluate(browser.CHECK)
wrong += b.evaluate("""(() => {
    const view = document.querySelector(".view"), range = view.querySelector("input"), shown = e => e.getClientRects().length > 0, wrong = [];
    if (shown(range)) wrong.push("the slider is shown side by side");
    view.querySelector("[value=slide]").click();
    range.value = 25;
    range.dispatchEvent(new Event("input", {bubbles: true}));
    if (!shown(range)) wrong.push("no slider");
    if (!getComputedStyle(view.querySelector(".f")).clipPath.includes("75%")) wrong.push("the slider does not clip: " + getComputedStyle(view.querySelector(".f")).clipPath);
    view.querySelector("[value=only]").click();
    if (shown(view.querySelector(".f")) || !shown(view.querySelector(".d"))) wrong.push("not the difference alone");
    return wrong;
})()""") + b.errors()
b.close()
print(*wrong, sep="\n", end="")
END
if sanitized; then
    skip 'the page in Chromium: the other build writes the same one'
elif command -v chromium >/dev/null; then
    expect_stdout '' python3 look.py "$tests/../site"
else
    skip 'chromium is missing'
fi
finish
