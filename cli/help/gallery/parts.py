"""The parts of a page: its frame, cards, commands and examples, as HTML."""
import csv
import html
import io
import re
import struct

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
NAVIGATION = (("index.html", "Gallery"), ("commands.html", "Commands"), ("tasks.html", "Tasks"), ("speed.html", "Speed"), ("help/cluster.html", "Cluster"))


def text(value):
    return html.escape(str(value), quote=True)


def frame(title, body, address, description):
    """Returns a whole page. `address` is its path in the site."""
    up = "../" * address.count("/")
    links = "".join(f'<a href="{up}{page}"{" aria-current=page" if page == address else ""}>{name}</a>' for page, name in NAVIGATION)
    return f"""<!DOCTYPE html>
<html lang="en" data-root="{up}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="{text(description)}">
<title>{text(title)}</title>
<link rel="icon" href="{up}icon.svg">
<link rel="stylesheet" href="{up}style.css">
<script src="{up}index.js" defer></script>
<script src="{up}search.js" defer></script>
</head>
<body>
<a class="skip" href="#main">To the content</a>
<header class="top">
<a class="brand" href="{up}index.html">gpuimg</a>
<nav aria-label="Pages">{links}</nav>
<form class="search" role="search" hidden>
<input type="search" placeholder="Search: median, sauvola, imadjust ..." aria-label="Search commands, options, examples and tasks" autocomplete="off">
<ul class="hits" hidden></ul>
</form>
</header>
<main id="main">
{body}
</main>
<footer>
<p>Each picture here is the result of the command beside it, run when this site was made. Its SHA-256 is compared by <code>make test</code>, on the CPU and, where there is one, on a GPU.</p>
<p><a href="{up}help/compatibility.html">Versions of other programs</a> · <a href="{up}help/limits.html">Limits</a> · <a href="{up}llms.txt">llms.txt</a> · <a href="{up}gpuimg.md">All help as Markdown</a></p>
</footer>
</body>
</html>
"""


def png_size(path):
    """Returns the width and the height of a PNG file."""
    with open(path, "rb") as file:
        return struct.unpack(">II", file.read(24)[16:24])


def image(path, source, alt, lazy=True):
    """Returns an image whose size is known before it is loaded."""
    size = ' width="{}" height="{}"'.format(*png_size(path)) if str(path).endswith(".png") else ""
    return f'<img src="{source}" alt="{text(alt)}"{size}{" loading=lazy decoding=async" if lazy else ""}>'


def commands(lines):
    """Returns commands with a button that copies them; the script shows the button."""
    code = OPTION.sub(r'<span class="o">\g<0></span>', "\n".join(text(line) for line in lines))
    return f'<div class="command"><pre tabindex="0"><code>{code}</code></pre><button type="button" class="copy" hidden>Copy</button></div>'


def table(content):
    """Returns a CSV file as a table."""
    rows = list(csv.reader(io.StringIO(content)))
    head = "".join(f"<th>{text(c)}</th>" for c in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{text(short(c))}</td>" for c in row) + "</tr>" for row in rows[1:13])
    more = f'<p class="quiet">{len(rows) - 13} more rows</p>' if len(rows) > 13 else ""
    return f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{more}'


def short(cell):
    """Returns a number with at most four decimals."""
    try:
        return cell if "." not in cell else f"{float(cell):.4g}" if abs(float(cell)) < 1000 else f"{float(cell):.1f}"
    except ValueError:
        return cell


def card(example, up):
    """Returns a thumbnail that leads to an example, or a piece of its text if it has no picture."""
    result = example.results[0]
    if result.is_picture:
        kind = "svg" if result.name.endswith(".svg") else "jpg"
        source = f"{up}pictures/{example.name}.svg" if kind == "svg" else f"{up}thumbs/{example.name}.jpg"
        shown = f'<img src="{source}" alt="{text(result.text)}" width="320" height="214" loading="lazy" decoding="async">'
    else:
        shown = f'<pre aria-hidden="true">{text(example.printed[0][:420])}</pre>'
    return (f'<a class="card" href="{up}op/{example.operation}.html#{example.name}">{shown}'
            f'<span class="title">{text(example.title)}</span><span class="name">{text(example.operation)}</span></a>')


def cards(examples, up):
    return '<div class="cards">' + "".join(card(e, up) for e in examples if e.results) + "</div>"


def result_html(example, result, printed, folder):
    digest = example.hashes.get(f"{example.name}/{result.name}")
    mark = f'<span class="hash" title="SHA-256 of the {"samples" if result.name.endswith(".png") else "text"}: {digest}">sha256 {digest[:12]}</span>' if digest else ""
    if result.is_picture:
        source = f"{example.name}{'.svg' if result.name.endswith('.svg') else '.png'}"
        body = image(folder / "pictures" / source, f"../pictures/{source}", result.text)
        return f'<figure class="result">{body}<figcaption><b>{text(result.name)}</b> {mark}</figcaption></figure>'
    body = table(printed) if result.name.endswith(".csv") else f'<pre class="printed" tabindex="0">{text(printed)}</pre>'
    name = "" if result.name == "-" else f"<b>{text(result.name)}</b> "
    return f'<figure class="result text" aria-label="{text(result.text)}">{body}<figcaption>{name}{mark}</figcaption></figure>'


def example_html(example, alts, folder):
    """Returns an example: its commands, inputs and results."""
    notes = "".join(f"<p>{text(note)}</p>" for note in example.notes)
    if not example.results:
        return f'<section class="example" id="{example.name}"><h3>{text(example.title)}</h3>{notes}{commands([c for c, _ in example.commands])}</section>'
    inputs = [f'<figure>{image(folder / "pictures" / name, f"../pictures/{name}", alts[name])}<figcaption>{text(name)}</figcaption></figure>'
              for name in example.inputs()[:4]]
    results = "".join(result_html(example, r, p, folder) for r, p in zip(example.results, example.printed))
    wide = " wide" if not example.results[0].is_picture else ""
    before = f'<div class="inputs n{len(inputs)}">{"".join(inputs)}</div>' if inputs else ""
    return (f'<section class="example" id="{example.name}"><h3>{text(example.title)}</h3>{notes}'
            f'{commands([c for c, _ in example.commands])}<div class="pair{wide}">{before}{results}</div></section>')
