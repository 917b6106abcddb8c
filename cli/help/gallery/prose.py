"""Turns the Markdown of `gpuimg help --markdown` into HTML, and cuts it into its parts."""
import html
import re
import textwrap

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
LIMITS = re.compile(r"\d|\bdefault\b|\brequired\b|\balso\b|\bnumbers?\b|\bvalues?\b")


class Page:
    """The help of a command or a topic: usage, summary, commands, manual, and lists of options by title."""
    def __init__(self, markdown):
        self.usage, self.summary, self.commands, self.manual, self.sets, self.shared = "", "", [], [], [], []
        blocks = list(split(markdown))[1:]  # without the heading
        if blocks and blocks[0][0] == "text":
            self.usage = blocks.pop(0)[1].replace("Usage: ", "")
        self.summary = unescape(blocks.pop(0)[1]).rstrip(".")
        for kind, text in blocks:
            if kind == "sh":
                self.commands = text.splitlines()
            elif kind == "heading":
                self.sets.append((text, []))
            elif kind == "list" and self.sets:
                self.sets[-1][1].extend(items(text))
            elif self.sets:
                self.shared.append((kind, text))
            else:
                self.manual.append((kind, text))


def split(markdown):
    """Yields the blocks: (kind, text), where kind is heading, sh, text, list or paragraph."""
    lines, at = markdown.splitlines(), 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("```"):
            end = lines.index("```", at + 1)
            yield line[3:], textwrap.dedent("\n".join(lines[at + 1:end]))
            at = end + 1
        elif line.startswith("#"):
            yield "heading", line.lstrip("# ")
            at += 1
        elif not line:
            at += 1
        else:
            end = next((i for i in range(at, len(lines)) if not lines[i] or lines[i].startswith("```")), len(lines))
            yield "list" if line.startswith("- ") else "paragraph", "\n".join(lines[at:end])
            at = end


def items(text):
    """Returns the items of a list of options: (name, text, [(choice, text)])."""
    found = []
    for line in text.splitlines():
        name, about = re.fullmatch(r" *- `([^`]*)`: (.*)", line).groups()
        if line.startswith("  "):
            found[-1][2].append((name, about))
        else:
            found.append((name, about, []))
    return found


def unescape(text):
    return re.sub(r"\\([\\`*_<])", r"\1", text)


def inline(text, link=lambda words: None):
    """Returns the text of a paragraph as HTML. link(words) returns the address of the page of a command, or None."""
    text = html.escape(unescape(text), quote=False)
    text = OPTION.sub(lambda m: f'<code class="o">{m.group()}</code>', text)
    text = re.sub(r"https?://[^\s<>()]+[^\s<>().,]", lambda m: f'<a href="{m.group()}">{m.group()}</a>', text)

    def command(match):
        page = link(match.group(2))
        return f'<a href="{page}">{match.group()}</a>' if page else match.group()
    return re.sub(r"\bgpuimg (help )?([a-z][a-z-]+)", command, text)


def paragraph(text, link):
    """Returns a paragraph and the list at its end, if it has one, as HTML."""
    head, *points = re.split(r"(?m)^- ", text)
    lines = "<br>".join(inline(line.rstrip("\\"), link) for line in re.split(r"\\\n", head.strip())) if head.strip() else ""
    listed = "".join(f"<li>{inline(point.strip(), link)}</li>" for point in points)
    return (f"<p>{lines}</p>" if lines else "") + (f"<ul>{listed}</ul>" if listed else "")


def formulas(text):
    """Returns an indented block: a formula, a file or a table."""
    return f'<pre class="block"><code>{html.escape(text, quote=False)}</code></pre>'


def to_html(blocks, link):
    return "\n".join(formulas(text) if kind == "text" else paragraph(text, link) for kind, text in blocks)


def chapters(blocks, link):
    """The same for a topic, whose paragraphs may begin with a title in capitals: it becomes a heading. Returns the titles too."""
    parts, titles = [], []
    for kind, text in blocks:
        match = re.match(r"([A-Z][A-Z ,]{3,})\. (?=\S)", text) if kind == "paragraph" else None
        if match:
            titles.append(match.group(1).capitalize())
            parts.append(f'<h2 id="{titles[-1].lower().replace(" ", "-")}">{titles[-1]}</h2>')
            text = text[match.end():]
        parts.append(to_html([(kind, text)], link))
    return "\n".join(parts), titles


def options(sets, link):
    """Returns the lists of options as HTML. The range and the default, which the text has in brackets at its end, are set apart."""
    parts = []
    for title, rows in sets:
        parts.append(f'<h3>{html.escape(title)}</h3>\n<dl class="options">' if len(sets) > 1 else '<dl class="options">')
        for name, text, choices in rows:
            match = re.fullmatch(r"(.*?) \(([^()]*(?:\([^()]*\)[^()]*)*)\)", text, re.S)
            about, limits = match.groups() if match and LIMITS.search(match.group(2)) else (text, "")
            limits = f'<span class="limits">{inline(limits)}</span>' if limits else ""
            listed = "".join(f"<li><code>{html.escape(c)}</code> {inline(t, link)}</li>" for c, t in choices)
            parts.append(f"<dt><code>{html.escape(name)}</code></dt><dd>{inline(about, link)} {limits}"
                         + (f"<ul>{listed}</ul>" if listed else "") + "</dd>")
        parts.append("</dl>")
    return "\n".join(parts)
