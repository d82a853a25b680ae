"""Invoices: sender, receiver, a table, totals, small print."""

import numpy as np

from rendered_documents import words
from rendered_documents.marks import draw_bars, draw_logo, draw_pen, draw_squares, draw_stamp
from rendered_documents.page_style import PageStyle
from rendered_documents.words import listed, pick

_TITLES = listed(
    "INVOICE|Invoice|TAX INVOICE|Quotation|DELIVERY NOTE|Rechnung|FACTURE|Factura|Statement|PURCHASE ORDER"
)
_KEYS = listed(
    "Invoice No.|Date|Due Date|Customer No.|Order|Ref|Your order|VAT No.|Terms|Page|Project|Kunden-Nr.|Datum"
)
_HEADS = listed("Qty|Unit|Price|Amount|Tax|Disc.|Code|Rate|Total|Hours|Menge|Preis|Date|No.|Balance|Debit|Credit")
_TOTALS = listed("Subtotal|Shipping|VAT 19%|Tax|Discount|TOTAL|Amount due|Balance|Paid|Gesamt|Total TTC|Net")


def draw_invoice(rng, fonts):
    """A sheet with an invoice."""
    style = PageStyle(rng, fonts)
    y = style.margin * rng.uniform(0.5, 1.2)
    if rng.random() < 0.45:
        x = pick(rng, [style.margin + 50, style.right - 50, 300])
        y = draw_logo(rng, style.sheet, x, y, rng.uniform(30, 80), fonts)
    y = style.title(rng, y, pick(rng, _TITLES) if rng.random() < 0.6 else None)
    y = _draw_parties(rng, style, y + style.leading)
    y = draw_table(rng, style, y + style.leading, int(rng.integers(2, 18)))
    y = _draw_totals(rng, style, y)
    y = _draw_small_print(rng, style, y + style.leading)
    style.sheet.height = max(y + style.margin, style.sheet.width * rng.uniform(0.8, 1.414))
    if rng.random() < 0.3:
        draw_stamp(rng, style.sheet, fonts)
    for _ in range(int(rng.choice([0, 0, 0, 1, 2]))):
        draw_pen(rng, style.sheet)
    return style.sheet


def _draw_parties(rng, style, y):
    middle = rng.uniform(0.52, 0.65) * style.sheet.width
    left_room = middle - style.margin - 1.2 * style.size
    key_width = max(style.width(key) for key in _KEYS)
    is_tabular = rng.random() < 0.5
    who = [words.name(rng), *words.address(rng), words.phone(rng), words.site(rng)]
    who = who if rng.random() < 0.5 else [text.title() for text in who]
    for k in range(max(len(who), 5)):
        y += style.leading
        if k < len(who):
            style.put(who[k], style.margin, y, room=left_room)
        if k < 5 and rng.random() < 0.8:
            key, value = pick(rng, _KEYS), pick(rng, [words.code, words.date, words.price])(rng)
            if is_tabular:
                room = style.right - middle - key_width - 1.2 * style.size
                style.put(key, middle, y)
                style.put(value, style.right, y, align=1.0, room=room)
            else:
                style.put(f"{key}: {value}", middle, y, room=style.right - middle)
    return y


def draw_table(rng, style, y, n_row):
    """A table below y with ruled or shaded rows; where it ends."""
    n = int(rng.integers(2, 6))
    shares = np.cumsum([0, rng.uniform(2, 4), *rng.uniform(0.8, 1.4, n)])
    edges = style.margin + (style.right - style.margin) * shares / shares[-1]
    row_height = style.leading * rng.uniform(1.0, 1.7)
    pad = 0.45 * style.size
    is_ruled, is_framed, is_shaded = rng.random() < 0.5, rng.random() < 0.4, rng.random() < 0.3
    light = int(rng.integers(130, 225))
    top = y
    makers = [pick(rng, [words.price, words.price, _count, words.date, words.code]) for _ in range(n)]
    aligns = [float(rng.random() < 0.75) for _ in range(n)]
    for row in range(n_row + 1):
        base = y + 0.5 * row_height + 0.35 * style.size
        if is_shaded and row % 2 == 0:
            shade = (215, 220, 228) if row else tuple(int(c) for c in rng.integers(170, 230, 3))
            block = np.full((2, 2), 255, np.uint8)
            style.sheet.patch(block, edges[0], y, edges[-1] - edges[0], row_height, shade)
        for k in range(n + 1):
            left, right = edges[k] + pad, edges[k + 1] - pad
            if row == 0:
                text = (
                    pick(rng, listed("Description|Item|Bezeichnung|Product|Service")) if k == 0 else pick(rng, _HEADS)
                )
            elif k == 0:
                text = words.product(rng).capitalize() if rng.random() < 0.7 else words.phrase(rng, 3, style.script)
            else:
                text = makers[k - 1](rng) if rng.random() < 0.92 else ""
            align = 0.0 if k == 0 else aligns[k - 1]
            x = left + align * (right - left)
            style.put(text, x, base, align=align, room=right - left, face=style.bold if row == 0 else None)
        y += row_height
        if is_ruled or row == 0:
            style.rule(y, edges[0], edges[-1], rng.choice([0.6, 1, 2]), (light, light, light))
    if is_framed:
        for x in edges:
            style.sheet.stroke([(x, top), (x, y)], 1.0, (light, light, light))
        style.rule(top, edges[0], edges[-1], 1.0, (light, light, light))
    return y


def _count(rng):
    return str(int(rng.integers(1, 100)))


def _draw_totals(rng, style, y):
    stop = style.right - rng.uniform(0.15, 0.3) * style.sheet.width
    for _ in range(int(rng.integers(0, 5))):
        y += style.leading
        big = rng.choice([1, 1, 1, 1.3])
        amount = style.put(words.price(rng, 900), style.right, y, align=1.0, big=big)
        room = min(stop, style.right - amount - style.size)
        style.put(pick(rng, _TOTALS) + pick(rng, ["", ":"]), room, y, align=1.0, big=big, room=room - style.margin)
    return y


def _draw_small_print(rng, style, y):
    if rng.random() < 0.15:
        draw_bars(rng, style.sheet, style.margin, y, rng.uniform(100, 220), 30)
        y += 36
    if rng.random() < 0.15:
        draw_squares(rng, style.sheet, style.right - 70, y, 70)
        y += 76
    for _ in range(int(rng.integers(0, 6))):
        y += style.leading * 0.9
        text = words.phrase(rng, int(rng.integers(4, 16)), style.script)
        style.put(text, style.margin, y, big=0.85, room=style.right - style.margin)
    return y
