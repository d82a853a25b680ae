"""matplotlib figures in the style of cvzoo's plots, as SVG or as image files.

In SVG, text, axes and grids have the color of the surrounding text (`currentColor`), so that a plot is readable on
light and dark pages, and text is in the page's font. Output is reproducible to the byte.
"""

import contextlib
import html
import io
import re
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.reporting.import_matplotlib import import_matplotlib

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

# colors with enough contrast on white and on black; in order of use
COLORS = ("#2f6fb3", "#d1662a", "#3c8d40", "#a4499b", "#8a7a1f", "#1f8f8f")
INK = "#222324"  # of text and axes; replaced by `currentColor` in SVG
PLOT_ENDINGS = (".pdf", ".png", ".svg")
_DPI = 72  # so that one point of matplotlib is one pixel
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "cvzoo",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "legend.fontsize": 10,
    "legend.framealpha": 0,
    "lines.linewidth": 1.6,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": INK,
    "grid.alpha": 0.15,
    "grid.linewidth": 0.8,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "figure.dpi": _DPI,
    "savefig.dpi": _DPI,
}
_TOOLTIP = "tooltip:"
_LOCK = threading.RLock()  # matplotlib's settings are global

# removed from SVG: metadata, styles for the whole page, ids of groups, which are not unique on a page with several
# plots, names of fonts, rotations by 0
_SHORTER = (
    (r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->|<defs>\s*</defs>", ""),
    (r'<g id="[^"]*"/>', ""),
    (r'<g id="[^"]*">', "<g>"),
    (r"font-family: [^;\"]*; ", ""),
    (r"font: (?:bold|[67]00) ([\d.]+px) [^;\"]*", r"font-weight: bold; font-size: \1"),  # these two: matplotlib 3.9
    (r"font: (?:[a-z0-9]+ )*([\d.]+px) [^;\"]*", r"font-size: \1"),
    (r' transform="rotate\(-?0(\.0)? [^)]*\)"', ""),
    (r"\s*\n\s*", "\n"),
)
# added in files: colors for light and dark pages, and the namespaces of SVG
_ALONE = (
    "<style>svg{color:#222324;background:#fff}@media(prefers-color-scheme:dark){svg{color:#e0e0de;background:#161616}}"
    "</style>"
)


@contextlib.contextmanager
def plot_figure(size: tuple[int, int], *, math: bool = False) -> Iterator["Figure"]:
    """A figure in cvzoo's style, which applies within the block, whatever the program's settings; needs no display.

    size: (height, width) in pixels
    math: whether text between dollar signs is a formula, as in the ticks of a logarithmic axis
    Raises MissingExtraError if matplotlib is not installed.
    """
    matplotlib = import_matplotlib()
    height, width = size
    with _LOCK, matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        matplotlib.rcParams["text.parse_math"] = math
        matplotlib.rcParams["axes.prop_cycle"] = matplotlib.cycler(color=COLORS)
        yield matplotlib.figure.Figure(figsize=(width / _DPI, height / _DPI))


def set_tooltip(artist: "Artist", text: str) -> None:
    """Add a tooltip to a patch, in SVG."""
    artist.set_gid(_TOOLTIP + text)


def figure_svg(figure: "Figure", title: str) -> str:
    """The figure as HTML, an svg element of the class "plot". title: text alternative, for accessibility"""
    return _element(figure, title, 'class="plot"').replace("xlink:href", "href")


def figure_file(figure: "Figure", ending: str, title: str = "") -> bytes:
    """The figure as the bytes of a file: .svg, which adapts to light or dark mode of the viewer, .png or .pdf.

    Raises ValueRangeError for an unknown extension.
    """
    if ending == ".svg":
        names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        return _element(figure, title, names).replace("</title>", f"</title>{_ALONE}", 1).encode()
    dates = {".png": {"Software": None}, ".pdf": {"CreationDate": None, "Creator": None, "Producer": None}}
    if ending not in dates:
        raise ValueRangeError(f"a plot cannot be written as {ending!r}", expected=" or ".join(PLOT_ENDINGS), got=ending)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=ending[1:], facecolor="white", metadata=dates[ending])
    return buffer.getvalue()


def _element(figure: "Figure", title: str, attributes: str) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    width, height = (round(inches * _DPI) for inches in figure.get_size_inches())
    text = buffer.getvalue()
    text = text[text.index(">", text.index("<svg ")) + 1 : text.rindex("</svg>")]
    text = re.sub(rf'<g id="{_TOOLTIP}([^"]*)">', r"<g><title>\1</title>", text)
    for pattern, instead in _SHORTER:
        text = re.sub(pattern, instead, text, flags=re.DOTALL)
    text = text.replace(INK, "currentColor")
    return (
        f'<svg {attributes} viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'style="stroke-linejoin:round;font-family:system-ui,sans-serif"><title>{html.escape(title)}</title>{text}</svg>'
    )
