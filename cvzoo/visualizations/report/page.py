"""The frame of a report: one HTML page that asks nobody for anything."""

import html

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
.bar { display: inline-block; height: 9px; background: #2f6fb3; border-radius: 2px; }
.track { display: inline-block; width: 80px; text-align: left; }
.grid { display: flex; flex-wrap: wrap; gap: 14px; }
.plot-text { font: 11px system-ui, sans-serif; } .plot-title { font: 600 12px system-ui, sans-serif; }
.photo { max-width: 100%; height: auto; }
.photo-text { font: 600 11px system-ui, sans-serif; paint-order: stroke; stroke: #000b; stroke-width: 3px; }
figure { margin: 0; max-width: 560px; } figcaption { font-size: 13px; }
.note { border-left: 3px solid #d1662a; padding: 4px 12px; margin: 8px 0; }
details summary { cursor: pointer; }
@media print { nav { display: none; } }
"""


def report_page(title, subtitle, sections):
    """The page's text.

    title, subtitle: plain text; sections: (heading, piece of HTML) each, those without a piece are left out
    """
    shown = [(f"s{i}", heading, body) for i, (heading, body) in enumerate(sections) if body]
    links = "".join(f'<a href="#{key}">{html.escape(heading)}</a>' for key, heading, _ in shown)
    bodies = "\n".join(
        f'<section id="{key}"><h2>{html.escape(heading)}</h2>\n{body}</section>' for key, heading, body in shown
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>{html.escape(title)}</title><style>{_STYLE}</style></head>
<body><h1>{html.escape(title)}</h1><p class="soft">{html.escape(subtitle)}</p>
<nav>{links}</nav>
{bodies}
</body></html>
"""


def table(heads, rows):
    """An HTML table; cells are plain text unless they are `Markup`. heads: str each; rows: as many cells each."""
    head = "".join(f"<th>{html.escape(str(cell))}</th>" for cell in heads)
    body = "".join("<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


class Markup(str):
    """Text that is HTML already."""


def score(value, digits=3):
    """A score as text, an em dash where there is none (None, NaN or -1)."""
    if value is None or value != value or value == -1:
        return "–"
    return f"{value:.{digits}f}"


def bar(value):
    """A score with a bar of its length, as Markup; a dash for None."""
    if value is None or value != value or value < 0:
        return Markup("–")
    return Markup(f'{value:.3f} <span class="track"><span class="bar" style="width:{min(value, 1):.0%}"></span></span>')


def _cell(cell):
    return cell if isinstance(cell, Markup) else html.escape(str(cell))
