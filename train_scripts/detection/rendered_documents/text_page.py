"""Pages of running text: books, letters, papers, menus, in one to three columns."""

from rendered_documents import words
from rendered_documents.invoice import draw_table
from rendered_documents.marks import draw_logo, draw_pen
from rendered_documents.page_style import PageStyle
from rendered_documents.words import pick


def draw_text_page(rng, fonts):
    """A sheet with a page of text."""
    style = PageStyle(rng, fonts, least=9, most=pick(rng, [13, 13, 26]))
    y = style.margin * 0.6
    if rng.random() < 0.15:
        y = draw_logo(rng, style.sheet, 300, y, rng.uniform(30, 90), fonts)
    if rng.random() < 0.7:
        y = style.title(rng, y, words.phrase(rng, int(rng.integers(1, 5)), style.script).capitalize())
    y += style.leading
    n_column = int(rng.choice([1, 1, 2, 2, 3])) if style.size < 12 else 1
    gutter = 2.0 * style.size
    wide = (style.right - style.margin - gutter * (n_column - 1)) / n_column
    n_line = int(rng.integers(6, 46) * min(1.0, 11 / style.size))
    is_justified = rng.random() < 0.4
    low = y
    for column in range(n_column):
        low = max(low, _draw_lines(rng, style, style.margin + column * (wide + gutter), y, wide, n_line, is_justified))
    if rng.random() < 0.2:
        low = draw_table(rng, style, low + style.leading, int(rng.integers(2, 7)))
    if rng.random() < 0.4:
        low += 1.5 * style.leading
        style.put(str(int(rng.integers(1, 900))), 300, low, align=0.5)
    style.sheet.height = low + style.margin * rng.uniform(0.4, 2)
    for _ in range(int(rng.choice([0, 0, 0, 1, 2]))):
        draw_pen(rng, style.sheet)
    return style.sheet


def _draw_lines(rng, style, left, y, wide, n_line, is_justified):
    """Paragraphs below y; where they end."""
    line = 0
    while line < n_line:
        length = int(rng.integers(1, 10))
        if rng.random() < 0.12:
            y += 1.6 * style.leading
            text = words.phrase(rng, int(rng.integers(1, 4)), style.script).capitalize()
            style.put(text, left, y, big=1.25, face=style.bold, room=wide, color=style.accent)
        for k in range(length):
            y += style.leading
            is_last = k == length - 1
            room = wide * (rng.uniform(0.15, 1) if is_last else 1 if is_justified else rng.uniform(0.86, 1))
            text = words.phrase(rng, max(int(wide / style.size / 1.2), 1), style.script)
            text = text.capitalize() if k == 0 else text
            style.put(text, left, y, room=room)
        line += length
        y += style.leading * rng.uniform(0, 1.2)
    return y
