"""Writes the pages of the site."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import bench
import gallery
import parts
import prose
from parts import text

HERE = pathlib.Path(__file__).resolve().parent
TITLE = "gpuimg: images from the shell, with the same result everywhere"
ABOUT = ("gpuimg filters, measures and segments images from the shell. It computes on the CPU, or on an NVIDIA GPU where that is "
         "faster, and both give the same bytes.")
# What the pictures of testdata/ show.
ALTS = {"landscape.png": "A lake below mountains in the morning, with conifers on the shore", "scene.png": "Coins on dark cloth and a printed ticket",
        "coins.png": "Gray coins on dark cloth", "coins16.png": "Gray coins on dark cloth, with 16 bits", "scan.png": "A scanned page, skewed, with a shadow at the left and a stain of coffee",
        "cells.png": "Cells in a fluorescence microscope: blue nuclei in green cells", "sky.png": "A spiral galaxy among stars",
        "frame-1.png": "A noisy exposure of stars and a galaxy, with the trail of a satellite",
        "frame-2.png": "The same stars with another trail", "frame-3.png": "The same stars with a third trail"}


# The examples at the top of the first page.
STRIP = ("composite-1", "extract-3", "local-threshold-1", "extract-2")


class Site:
    def __init__(self, gpuimg, folder, listed):
        self.gpuimg, self.folder, self.listed = gpuimg, pathlib.Path(folder), listed
        self.examples, self.groups = gallery.read_examples(), gallery.read_tasks()
        self.markdown = self.printed("help", "--all", "--markdown")
        self.families, self.pages = [], {}
        self.read_help()
        self.timings, self.timing_pages = bench.timings()
        self.index = []  # of the search: title, summary, address, words of other programs, names of options, further words

    def printed(self, *arguments):
        return subprocess.run([self.gpuimg, *arguments], stdout=subprocess.PIPE, check=True).stdout.decode()

    def read_help(self):
        """Reads the families from the list of commands, and the pages of help."""
        first, *rest = re.split(r"(?m)^## gpuimg ", self.markdown)
        for block in re.split(r"(?m)^### ", first)[1:]:
            title, body = block.split("\n", 1)
            self.families.append((title, re.findall(r"(?m)^- `([a-z-]+)`", body)))
        self.topics = self.families.pop()[1]
        for page in rest:
            name = page.split("\n", 1)[0]
            self.pages[name] = prose.Page("## " + page)

    def write(self, address, title, body, description):
        path = self.folder / address
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(parts.frame(title, body, address, description), encoding="utf-8")

    def link(self, up):
        """Returns the function that finds the page of a command or a topic."""
        def find(match):
            if match in self.topics:
                return f"{up}help/{match}.html"
            return f"{up}op/{match}.html" if match in self.pages else None
        return find

    def run_examples(self):
        """Runs the examples and copies their pictures; makes the thumbnails in one batch."""
        (self.folder / "pictures").mkdir(parents=True)
        for name in ALTS:
            shutil.copy(gallery.TESTDATA / name, self.folder / "pictures" / name)
        runner = gallery.Runner(self.gpuimg, os.environ)
        for example in self.examples:
            folder, example.hashes, error = gallery.run_example(runner, example)
            if error:
                raise SystemExit(f"site: {example.name}: {error}")
            example.printed = []
            for result in example.results:
                if result.is_picture:
                    shutil.copy(folder / result.name, self.folder / "pictures" / f"{example.name}{result.name[-4:]}")
                    example.printed.append("")
                else:
                    example.printed.append((folder / result.name).read_text(encoding="utf-8", errors="replace"))
        wanted = [str(p) for p in sorted((self.folder / "pictures").glob("*.png"))]
        self.printed("resize", *wanted, "--out-dir", str(self.folder / "thumbs"), "--suffix", ".jpg", "--size", "320x214", "--fill",
                     "--gravity", "north", "--depth", "8", "--background", "white", "--quality", "86", "--quiet")

    def operation(self, name):
        """Writes the page of a command."""
        page, link = self.pages[name], self.link("../")
        family = next((f for f, names in self.families if name in names), None)
        examples = [e for e in self.examples if e.operation == name]
        others = [s["word"] for s in self.listed["synonyms"] if s["means"].split()[0] == name]
        body = [f'<p class="path"><a href="../commands.html#{anchor(family)}">{text(family)}</a></p><h1>{name}</h1><p class="lead">{text(page.summary)}</p>']
        if others:
            body.append(f'<p class="quiet">Other programs say: {text(", ".join(others))}</p>')
        body.append(f'<p class="usage"><code>{text(page.usage)}</code></p>')
        if examples:
            body.append("<h2>Examples</h2>" + "".join(parts.example_html(e, ALTS, self.folder) for e in examples))
        if page.manual:
            body.append(f'<h2>What it {"does" if family == self.families[-1][0] else "computes"}</h2><div class="prose">' + prose.to_html(page.manual, link) + "</div>")
        if page.commands:
            body.append("<h2>More commands</h2>" + "".join(parts.commands([c]) for c in page.commands))
        if page.sets:
            body.append("<h2>Options</h2>" + prose.options(page.sets, link))
        if page.shared:
            body.append('<div class="quiet">' + prose.to_html(page.shared, link) + "</div>")
        body.append(self.speed_of(name))
        kin = [n for n in dict(self.families)[family] if n != name]
        body.append("<h2>Related</h2><p class=kin>" + " ".join(f'<a href="{n}.html">{n}</a>' for n in kin) + "</p>")
        self.write(f"op/{name}.html", f"gpuimg {name}: {page.summary}", "\n".join(body), f"{page.summary}. Examples with pictures, options, formulas and times.")
        self.find(name, f"op/{name}.html", page, others)

    def find(self, title, address, page, others):
        """Adds a page of help to the index of the search."""
        options = [o for _, rows in page.sets for o in rows]
        names = " ".join([o[0] for o in options] + [c for o in options for c, _ in o[2]])
        words = " ".join([prose.unescape(t) for _, t in page.manual] + [o[1] for o in options])
        self.index.append([title, page.summary, address, " ".join(others), unique(names), unique(words)])

    def speed_of(self, name):
        """Returns the times of an operation, if the bench has them."""
        rows = self.timings.get(name)
        if not rows:
            return ""
        body = "".join(f"<tr><td>{text(work)}</td><td>{us:,.0f}</td><td>{f'{gpu:,.2f}' if gpu else ''}</td></tr>" for work, us, gpu in rows)
        return (f'<h2>Speed</h2><div class="scroll"><table><thead><tr><th>8-bit gray</th><th>CPU, one thread, us per megapixel</th>'
                f'<th>GPU, us per megapixel</th></tr></thead><tbody>{body}</tbody></table></div><p class="quiet">Kernels alone, without files. '
                f'CPU: {text(bench.title(self.timing_pages["cpu"]))}. GPU: {text(bench.title(self.timing_pages["gpu"]))}. '
                f'<a href="../speed.html">Comparisons with other programs</a></p>')

    def topic(self, name):
        page, link = self.pages[f"help {name}"], self.link("../")
        manual, titles = prose.chapters(page.manual, link)
        jump = "".join(f'<a href="#{t.lower().replace(" ", "-")}">{text(t)}</a> ' for t in titles)
        body = [f'<h1>{text(name.capitalize())}</h1><p class="lead">{text(page.summary)}</p><p class="jump">{jump}</p>',
                *(parts.commands([c]) for c in page.commands), f'<div class="prose">{manual}</div>']
        if page.sets:
            body.append("<h2>Options</h2>" + prose.options(page.sets, link))
        self.write(f"help/{name}.html", f"gpuimg help {name}: {page.summary}", "\n".join(body), page.summary)
        others = [s["word"] for s in self.listed["synonyms"] if s["means"].startswith(f"help {name}")]
        self.find(f"help {name}", f"help/{name}.html", page, others)

    def group(self, group):
        """Writes the page of a kind of user."""
        body = [f'<h1>{text(group.title)}</h1><p class="lead">{text(group.text)}</p><ol class="tasks">']
        for number, (task, command) in enumerate(group.tasks, 1):
            used = [n for n in dict.fromkeys(re.findall(r"[a-z][a-z-]+", command)) if n in self.pages and n not in ("run", "list")]
            links = " ".join(f'<a href="../op/{n}.html">{n}</a>' for n in used)
            body.append(f'<li id="t{number}">{self.thumbnail(used, group)}<div><h2>{text(task)}</h2>{parts.commands([command])}<p class="kin">{links}</p></div></li>')
            self.index.append([task, group.title, f"for/{group.name}.html#t{number}", "", "", command])
        self.write(f"for/{group.name}.html", f"gpuimg for {group.title.lower()}: {len(group.tasks)} tasks", "\n".join(body) + "</ol>", group.text)

    def thumbnail(self, used, group):
        """Returns a picture of what the last of the commands does, if possible one of the kind of user that is not yet on the page."""
        shown = [e for n in reversed(used) for e in self.examples if e.operation == n and e.results and e.results[0].name.endswith(".png")]
        best = min(shown, default=None, key=lambda e: (group.picture not in e.inputs(), group.shown.count(e.name)))
        name, alt = (best.name, best.results[0].text) if best else (group.picture[:-4], ALTS[group.picture])
        group.shown.append(name)
        return f'<img src="../thumbs/{name}.jpg" alt="{text(alt)}" width="320" height="214" loading="lazy">'

    def kinds(self, up=""):
        return '<div class="kinds">' + "".join(
            f'<a class="kind" href="{up}for/{g.name}.html"><img src="{up}thumbs/{g.picture[:-4]}.jpg" alt="" width="320" height="214">'
            f'<span><b>{text(g.title)}</b> {len(g.tasks)} tasks</span></a>' for g in self.groups) + "</div>"

    def home(self):
        tasks = {}
        for example in self.examples:
            tasks.setdefault(example.task, []).append(example)
        jump = " ".join(f'<a href="#{anchor(t)}">{text(t)}</a>' for t in sorted(tasks))
        shown = {e.name: e for e in self.examples}
        strip = "".join(f'<a href="op/{shown[n].operation}.html#{n}"><img src="thumbs/{n}.jpg" alt="{text(shown[n].results[0].text)}" width="320" height="214"></a>' for n in STRIP)
        body = [f'<div class="hero"><div><h1>Images from the shell, with the same result everywhere</h1><p class="lead">{text(ABOUT)}</p>'
                + parts.commands(["gpuimg extract coins.png coins.csv --overlay found.png"]) + f'</div><div class="strip">{strip}</div></div>',
                f"<h2>What are your pictures?</h2>{self.kinds()}", f'<h2>What do you want to do?</h2><p class="jump">{jump}</p>']
        for task in sorted(tasks):
            body.append(f'<section><h3 id="{anchor(task)}">{text(task)}</h3>{parts.cards(tasks[task], "")}</section>')
        self.write("index.html", TITLE, "\n".join(body), ABOUT)

    def commands(self):
        body = ['<h1>Commands</h1><p class="lead">All commands and operations by family. An operation is also a step of '
                '<a href="op/run.html">a chain</a>.</p>']
        for family, names in self.families:
            rows = "".join(f'<li><a href="op/{n}.html"><code>{n}</code></a> {text(self.pages[n].summary)}</li>' for n in names)
            shown = [next((e for e in self.examples if e.operation == n and e.results), None) for n in names]
            body.append(f'<section><h2 id="{anchor(family)}">{text(family)}</h2><ul class="list">{rows}</ul>'
                        f'{parts.cards([e for e in shown if e], "")}</section>')
        topics = "".join(f'<li><a href="help/{n}.html"><code>help {n}</code></a> {text(self.pages["help " + n].summary)}</li>' for n in self.topics)
        body.append(f'<section><h2 id="topics">Topics of help</h2><ul class="list">{topics}</ul></section>')
        self.write("commands.html", "Commands of gpuimg by family", "\n".join(body), "All commands and operations of gpuimg by family.")

    def tasks(self):
        count = sum(len(g.tasks) for g in self.groups)
        body = f'<h1>Tasks</h1><p class="lead">{count} tasks of one line each, by kind of picture. Every command is run by the tests.</p>{self.kinds()}'
        for group in self.groups:
            rows = "".join(f'<li><a href="for/{group.name}.html#t{i}">{text(t)}</a></li>' for i, (t, _) in enumerate(group.tasks, 1))
            body += f'<section><h2><a href="for/{group.name}.html">{text(group.title)}</a></h2><ul class="columns">{rows}</ul></section>'
        self.write("tasks.html", "Tasks for gpuimg", body, "Tasks of one line each for photographs, scans, microscopy, video, CI, data sets, astronomy and satellites.")

    def speed(self):
        body = ['<h1>Speed</h1><p class="lead">The tables of the bench as plots. Each dot is a program; the axis is logarithmic. '
                'The tables below the plots have all numbers, also where gpuimg is slower.</p>']
        for title, note, legend, svg, table, source in bench.plots():
            body.append(f'<section><h2>{text(title)}</h2><div class="prose"><p>{prose.inline(note)}</p></div><ul class="legend">{legend}</ul>{svg}'
                        f"<details><summary>Table</summary>{table}<p class=quiet>tests/bench/results/{source}</p></details></section>")
        self.write("speed.html", "Speed of gpuimg beside other programs", "\n".join(body), "Times of gpuimg beside vips, ImageMagick, GraphicsMagick, OpenCV, NPP and nvJPEG.")

    def for_machines(self):
        """Writes the index of the search, llms.txt and all help as Markdown."""
        for example in self.examples:
            if example.results:
                self.index.append([example.title, example.operation, f"op/{example.operation}.html#{example.name}", "", example.task, "; ".join(c for c, _ in example.commands)])
        (self.folder / "index.js").write_text("const GPUIMG_INDEX = " + json.dumps(self.index, ensure_ascii=False, separators=(",", ":")) + ";\n", encoding="utf-8")
        (self.folder / "gpuimg.md").write_text(self.markdown, encoding="utf-8")
        lines = ["# gpuimg", "", f"> {ABOUT}", "", "The program explains itself: `gpuimg help COMMAND`, `gpuimg help WORD`, `gpuimg list --json` (all options with types and ranges).", "",
                 "## Help", "", "- [All help](gpuimg.md): every command, option, range, default and formula as one Markdown document", "", "## Commands", ""]
        lines += [f"- [{n}](op/{n}.html): {self.pages[n].summary}" for _, names in self.families for n in names]
        lines += ["", "## Topics", ""] + [f"- [{n}](help/{n}.html): {self.pages['help ' + n].summary}" for n in self.topics]
        for group in self.groups:
            lines += ["", f"## Tasks: {group.title}", ""] + [f"- {t}: `{c}`" for t, c in group.tasks]
        (self.folder / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        for name in ("style.css", "search.js", "icon.svg"):
            shutil.copy(HERE / name, self.folder / name)

    def all(self):
        self.run_examples()
        for _, names in self.families:
            for name in names:
                self.operation(name)
        for topic in self.topics:
            self.topic(topic)
        for group in self.groups:
            self.group(group)
        self.home()
        self.commands()
        self.tasks()
        self.speed()
        self.for_machines()


def anchor(title):
    return re.sub(r"[^a-z]+", "-", title.lower()).strip("-")


def unique(words):
    """Returns the different words of a text in lower case."""
    return " ".join(dict.fromkeys(re.findall(r"[a-z0-9][a-z0-9_-]+", words.lower())))


def site(gpuimg, folder, listed):
    """Writes the site into a new folder, which then replaces the old one."""
    made = pathlib.Path(f"{folder}.new")
    shutil.rmtree(made, ignore_errors=True)
    made_site = Site(os.path.abspath(gpuimg), made, listed)
    made_site.all()
    shutil.rmtree(folder, ignore_errors=True)
    made.rename(folder)
    pages = sum(1 for _ in pathlib.Path(folder).rglob("*.html"))
    print(f"{folder}/index.html: {pages} pages, {len(made_site.examples)} examples, {sum(len(g.tasks) for g in made_site.groups)} tasks")
