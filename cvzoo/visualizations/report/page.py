"""The page of HTML reports: self-contained, without network requests."""

import base64
import hashlib
import html
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

NOTHING: Mapping[str, str] = MappingProxyType({})
_CODE = ' class="code"'
_SORTABLE = '<table class="sortable">'
_STYLE = """
:root { color-scheme: light dark; --line: #8885; --soft: #8882; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; padding: 24px; max-width: 1180px; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 19px; margin: 34px 0 8px; }
p { max-width: 78ch; margin: 6px 0; } .soft { opacity: .75; }
nav a { margin-right: 14px; }
.tiles { display: flex; flex-wrap: wrap; gap: 10px; margin: 14px 0; }
.tile { border: 1px solid var(--line); border-radius: 8px; padding: 8px 14px; min-width: 74px; }
.tile b { display: block; font-size: 21px; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 3px 10px; border-bottom: 1px solid var(--soft); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
thead th { position: sticky; top: 0; background: Canvas; }
.sortable { font-size: 13px; } .sortable th, .sortable td { padding: 3px 7px; }
.sortable th { white-space: normal; vertical-align: bottom; max-width: 92px; overflow-wrap: break-word; }
.sortable td:first-child { white-space: normal; min-width: 84px; overflow-wrap: anywhere; }
.sortable button { all: unset; cursor: pointer; max-width: 100%; }
.sortable button:hover { text-decoration: underline; }
.sortable button:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
th[aria-sort="descending"] button::after { content: " ▾"; } th[aria-sort="ascending"] button::after { content: " ▴"; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 2px 14px; margin: 12px 0; font-size: 14px; }
.facts dt { opacity: .75; } .facts dd { margin: 0; overflow-wrap: anywhere; }
.facts .code { font-family: ui-monospace, monospace; font-size: 13px; }
.bar { display: inline-block; height: 9px; background: #2f6fb3; border-radius: 2px; }
.track { display: inline-block; width: 64px; text-align: left; }
.grid { display: flex; flex-wrap: wrap; gap: 14px; }
.plot-text { font: 11px system-ui, sans-serif; } .plot-title { font: 600 12px system-ui, sans-serif; }
.photo { max-width: 100%; height: auto; }
.photo-text { font: 600 11px system-ui, sans-serif; paint-order: stroke; stroke: #000b; stroke-width: 3px; }
figure { margin: 0; max-width: 560px; } figcaption { font-size: 13px; }
.note { border-left: 3px solid #d1662a; padding: 4px 12px; margin: 8px 0; }
details summary { cursor: pointer; }
@media (max-width: 900px) {
  .sortable { font-size: 12px; } .sortable th, .sortable td { padding: 3px 4px; } .track { width: 34px; }
}
@media print { nav { display: none; } }
"""


# Sorts a table by the column whose head is clicked: numbers descending, text ascending, and in reverse at the second
# click; cells without a number are last.
_SORT = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, i) => head.querySelector("button").addEventListener("click", () => {
    const text = row => row.cells[i].textContent.trim();
    const rows = [...table.tBodies[0].rows];
    const isWords = i === 0;
    const first = isWords ? "ascending" : "descending", second = isWords ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? second : first;
    const sign = order === "ascending" ? 1 : -1;
    rows.sort((a, b) => {
      if (isWords) return sign * text(a).localeCompare(text(b));
      const x = parseFloat(text(a)), y = parseFloat(text(b));
      return isNaN(x) || isNaN(y) ? isNaN(x) - isNaN(y) : sign * (x - y);
    });
    heads.forEach(each => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    table.tBodies[0].append(...rows);
  }));
}
"""
_SORT_HASH = base64.b64encode(hashlib.sha256(_SORT.encode("utf-8")).digest()).decode("ascii")


def report_page(
    title: str, subtitle: str, sections: Iterable[tuple[str, str]], *, about: Mapping[str, str] = NOTHING
) -> str:
    """The page's text.

    title, subtitle: plain text; sections: (heading, HTML) each, those without HTML are omitted
    about: entries below the title, name -> plain text: the model, the data ...
    The page's content security policy allows no requests, and no script but the one that sorts tables.
    """
    shown = [(f"s{i}", heading, body) for i, (heading, body) in enumerate(sections) if body]
    links = "".join(f'<a href="#{key}">{html.escape(heading)}</a>' for key, heading, _ in shown)
    bodies = "\n".join(
        f'<section id="{key}"><h2>{html.escape(heading)}</h2>\n{body}</section>' for key, heading, body in shown
    )
    facts = "".join(
        f"<dt>{html.escape(name)}</dt><dd{_CODE if name == 'command' else ''}>{html.escape(value)}</dd>"
        for name, value in about.items()
    )
    facts = f'<dl class="facts">{facts}</dl>' if facts else ""
    is_sortable = _SORTABLE in bodies
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    policy += f"; script-src 'sha256-{_SORT_HASH}'" if is_sortable else ""
    script = f"<script>{_SORT}</script>" if is_sortable else ""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{html.escape(title)}</title><style>{_STYLE}</style></head>
<body><h1>{html.escape(title)}</h1><p class="soft">{html.escape(subtitle)}</p>
{facts}<nav>{links}</nav>
{bodies}
{script}</body></html>
"""


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], *, sorted_by: str | None = None) -> str:
    """An HTML table; cells are plain text unless they are `Markup`.

    heads: str each; rows: as many cells each
    sorted_by: the head of the column by which the rows are sorted, descending; a click on a head sorts by that column
    """
    head = "".join(_head(cell, sorted_by) for cell in heads)
    body = "".join("<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    start = "<table>" if sorted_by is None else _SORTABLE
    return f'<div class="scroll">{start}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


class Markup(str):
    """Text that is HTML already."""


def score(value: float | None, digits: int = 3) -> str:
    """A score as text, an em dash for a missing one (None, NaN or -1)."""
    if value is None or value != value or value == -1:
        return "–"
    return f"{value:.{digits}f}"


def bar(value: float | None) -> Markup:
    """A score after a bar of proportional length, as Markup; a dash for None."""
    if value is None or value != value or value < 0:
        return Markup("–")
    return Markup(f'<span class="track"><span class="bar" style="width:{min(value, 1):.0%}"></span></span> {value:.3f}')


def _head(cell: str, sorted_by: str | None) -> str:
    text = html.escape(str(cell))
    if sorted_by is None:
        return f"<th>{text}</th>"
    mark = ' aria-sort="descending"' if cell == sorted_by else ""
    return f"<th{mark}><button>{text}</button></th>"


def _cell(cell: object) -> str:
    return cell if isinstance(cell, Markup) else html.escape(str(cell))
