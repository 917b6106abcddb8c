#!/bin/bash
# duplicates --html: groups by size, thumbnails that Pillow reads, hostile names as text, whole or not at all.
# Usage: duplicates_html.sh GPUIMG
# Sources: cli/tables/html* cli/commands/duplicates*
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"
data=$tests/../../testdata
python=$(for p in /usr/bin/python3 python3; do "$p" -c "import PIL" 2>/dev/null && echo $p && break; done)
[[ $python ]] || skip "thumbnails: no Pillow"
python=${python:-python3}
mkdir in
bad=$'in/hostile "\'><script>alert(1)<\\script><img src=x>&amp;\xe2\x80\xae.png'
cp "$data/coins.png" in/a1.png
gpuimg convert "$data/coins.png" in/a2.jpg --quality 60
gpuimg resize "$data/scene.png" in/b1.png --size 25%
cp in/b1.png "$bad"
gpuimg convert in/b1.png in/b2.jpg
cp "$data/picture.png" in/other.png
cat >page.py <<'END'
import base64, html.parser, io, re, sys

class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.sections = [], []
    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        assert tag in "html meta title style h1 h2 p section div figure figcaption bdi img br".split(), tag
        assert set(attrs) <= {"lang", "charset", "http-equiv", "content", "name", "class", "alt", "width", "height", "src"}, attrs
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)
        if tag == "section":
            self.sections.append([[], []])
        if tag == "img":
            kind = re.match("data:image/(png|jpeg);base64,", attrs["src"])
            self.sections[-1][0].append((base64.b64decode(attrs["src"][kind.end():], validate=True), int(attrs["width"]), int(attrs["height"])))
    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag
    def handle_data(self, text):
        if self.open[-1:] == ["bdi"]:
            self.sections[-1][1].append(text)

page = Page()
text = open(sys.argv[1], encoding="utf-8").read()
page.feed(text)
assert not page.open and not re.search(r"https?:|url\(|@import", text)
names = [n for _, names in page.sections for n in names]
print(*[f"{len(p)}/{len(n)}" for p, n in page.sections])
open("names", "w").write("\n".join(names))
def difference(a, b):
    a, b = a.tobytes(), b.convert("RGB").tobytes()
    return sum(abs(x - y) for x, y in zip(a, b)) / len(a)

try:
    from PIL import Image
except ImportError:
    print("no Pillow", file=sys.stderr)
else:
    for pictures, names in page.sections:
        for (data, width, height), name in zip(pictures, names):
            image = Image.open(io.BytesIO(data))
            image.load()
            assert image.size == (width, height) and max(image.size) == 160, image.size
            if "script" not in name:
                whole = Image.open(name).convert("RGB").resize(image.size, Image.Resampling.LANCZOS)
                coded = io.BytesIO()
                whole.save(coded, "JPEG", quality=80)
                near, far = difference(whole, Image.open(coded)), difference(whole, image)
                assert far < near + 2, (name, near, far)
END

expect 0 gpuimg duplicates --recursive in --html page.html
cp out listed
expect_stdout '3/3 2/2' "$python" page.py page.html
check "all that the list has" test "$(grep -c . names)" = "$(grep -c . listed)"
check "the larger group first" test "$(grep -c '^in/b\|hostile' <(head -3 names))" = 3
check "hostile names are text" test "$(grep -c '<script' page.html)" = 0
expect 0 gpuimg duplicates --recursive in --html page.html --thumbnails 4
expect_stdout '3/3 1/2' "$python" page.py page.html
expect 0 gpuimg duplicates --recursive in --html page.html --thumbnails 0
expect_stdout '0/3 0/2' "$python" page.py page.html
cp page.html before.html
for threads in 1 3; do
    expect 0 gpuimg duplicates --recursive in --html threads-$threads.html --threads $threads
done
check "threads" cmp threads-1.html threads-3.html

# From a table, after an image has gone; a group of none.
expect 0 gpuimg hash --recursive in --table hashes.csv
rm in/a2.jpg
expect 0 gpuimg duplicates hashes.csv --html page.html
expect_stdout '3/3 1/2' "$python" page.py page.html
expect 0 gpuimg duplicates in/a1.png in/other.png --html page.html
expect_stdout '' "$python" page.py page.html

# Whole or absent.
rm -f page.html
expect_error 2 'duplicates: in/a1.png: would be written over the input in/a1.png*' duplicates in/a1.png --html in/a1.png
expect_error 2 'duplicates: *standard output*' duplicates in/a1.png in/other.png --html -
expect 75 gpuimg duplicates in/a1.png in/other.png --html /dev/full
expect_error 2 '*' duplicates --recursive in --html same.csv --table same.csv
check "no page beside an error" test ! -e same.csv
finish
