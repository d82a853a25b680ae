"""Receipts as tills print them."""

from rendered_documents import words
from rendered_documents.column import Column
from rendered_documents.marks import draw_bars, draw_logo, draw_pen, draw_stamp
from rendered_documents.words import listed, pick

_TITLES = listed(
    "TAX INVOICE|INVOICE|RECEIPT|SIMPLIFIED TAX INVOICE|CASH BILL|CASH RECEIPT|*** RECEIPT ***|-TAX INVOICE-|"
    "OFFICIAL RECEIPT|BILL|CASH SALES|GUEST CHECK|COPY"
)
_KEYS = listed(
    "Invoice No|Date|Time|Cashier|Table|Counter|Bill No|Receipt #|Doc No.|Member|Order|Terminal|Pax|Ref.|Sales Person|"
    "Trans|Customer|Station|Shift|Print on"
)
_TOTALS = listed(
    "Subtotal|Sub Total|Total|TOTAL|Grand Total|Net Total|Cash|Change|Rounding Adjustment|Discount|Service Charge 10%|"
    "Tax 6%|Total Incl. Tax|Total Excl. Tax|Amount Due|Balance|Visa Card|Total Rounded|Total Sales (Inclusive of Tax)|"
    "Round Adj|VAT 19%|Paid|Tips"
)
_HEADS = [
    ("Qty", "Item", "Amount"),
    ("Item", "Qty", "Price", "Amount"),
    ("Description", "U.Price", "Qty", "Total"),
    ("QTY", "DESCRIPTION", "PRICE"),
    ("Code", "Qty", "U/P", "Disc", "Amt"),
    ("ITEM", "PRICE", "AMOUNT (RM)"),
    ("No", "Description", "Total"),
]
_SUMMARY = [
    ("Tax Summary", "Amount", "Tax"),
    ("Code", "Rate", "Net", "Tax"),
    ("Tax Code", "%", "Amt(RM)", "Tax(RM)"),
    ("Summary", "Amount(RM)", "Tax(RM)"),
]
_THANKS = listed(
    "THANK YOU|Thank You! Please Come Again|THANK YOU PLEASE COME AGAIN|GOODS SOLD ARE NOT RETURNABLE|"
    "Goods sold are not refundable|EXCHANGE WITHIN 7 DAYS WITH RECEIPT|NO CASH REFUND|PLEASE COME AGAIN|"
    "Have a nice day!|Please keep this receipt|** END **|CUSTOMER COPY|E. & O. E."
)
_COLONS = [": ", " : ", ":", " "]


def draw_receipt(rng, fonts):
    """A sheet with a receipt."""
    column = Column.by_lot(rng, fonts)
    if rng.random() < 0.15:
        column.y = draw_logo(rng, column.sheet, 300, column.y, rng.uniform(60, 160), fonts)
    _draw_head(rng, column, fonts)
    _draw_keys(rng, column)
    _draw_items(rng, column)
    _draw_totals(rng, column)
    if rng.random() < 0.5:
        _draw_summary(rng, column)
    _draw_foot(rng, column)
    if rng.random() < 0.12:
        height = rng.uniform(2, 4) * column.leading
        width = rng.uniform(0.4, 0.8) * column.width
        draw_bars(rng, column.sheet, 300 - width / 2, column.y + 0.6 * column.leading, width, height)
        column.y += height + 0.6 * column.leading
        column.line(words.digits(rng, int(rng.integers(8, 14))), 0.5)
    sheet = column.finish()
    if rng.random() < 0.12:
        draw_stamp(rng, sheet, fonts)
    for _ in range(int(rng.choice([0, 0, 0, 0, 1, 1, 2, 3]))):
        draw_pen(rng, sheet)
    return sheet


def _draw_head(rng, column, fonts):
    is_big = rng.random() < 0.5
    company = words.company(rng)
    is_left = rng.random() < 0.12
    align = 0.0 if is_left else 0.5
    big = rng.uniform(1.0, 1.8) if is_big else 1.0
    wide = rng.uniform(1, 1.5) if big == 1 and rng.random() < 0.4 else 1.0
    face = fonts.by_lot(rng, matrix=0.2, hand=0.2) if rng.random() < 0.2 else None
    column.line(company, align, big=big, stretch=wide, face=face)
    if rng.random() < 0.6:
        column.line(
            words.legal_form(rng) if rng.random() < 0.5 else f"({words.digits(rng, 6)}-{pick(rng, 'AHKMTVWX')})", align
        )
    is_capital = rng.random() < 0.7
    for text in words.address(rng):
        column.line(text if is_capital else text.title(), align)
    if rng.random() < 0.8:
        column.line(
            f"{pick(rng, ['Tel', 'TEL', 'Tel No.', 'PHONE', 'T'])}{pick(rng, _COLONS)}{words.phone(rng)}", align
        )
    if rng.random() < 0.3:
        column.line(f"{pick(rng, ['FAX', 'Fax'])}{pick(rng, _COLONS)}{words.phone(rng)}", align)
    if rng.random() < 0.7:
        key = pick(rng, ["Tax ID", "GST ID", "GST REG NO", "VAT NO", "TAX NO.", "UID"])
        column.line(f"{key}{pick(rng, _COLONS)}{words.digits(rng, 12)}", align)
    if rng.random() < 0.2:
        column.line(words.site(rng), align)
    column.gap(rng.uniform(0, 1.2))
    if rng.random() < 0.75:
        column.line(pick(rng, _TITLES), 0.5, big=pick(rng, [1, 1, 1.3, 1.6]))
        column.gap(rng.uniform(0, 0.8))


def _draw_keys(rng, column):
    if rng.random() < 0.3:
        column.rule()
    values = (
        words.code,
        words.date,
        words.clock,
        words.name,
        words.code,
        lambda rng: f"{words.date(rng)} {words.clock(rng)}",
    )
    stop = column.left + column.width * rng.uniform(0.22, 0.42)
    style = int(rng.integers(4))
    for _ in range(int(rng.integers(2, 7))):
        key, value = pick(rng, _KEYS), pick(rng, values)(rng)
        key = key.upper() if column.is_shouting else key
        if style == 0:
            column.row(
                [(0.0, column.left, f"{key}{pick(rng, [':', ' :', ': '])}{' ' if rng.random() < 0.8 else ''}{value}")]
            )
        elif style == 1:
            column.row([(0.0, column.left, key), (0.0, stop, f":{' ' * int(rng.integers(1, 3))}{value}")])
        elif style == 2:
            other = f"{pick(rng, _KEYS)}: {pick(rng, values)(rng)}"
            column.row([(0.0, column.left, f"{key}: {value}"), (1.0, column.right, other)])
        else:
            column.row([(0.0, column.left, value), (1.0, column.right, pick(rng, values)(rng))])
    column.gap(rng.uniform(0, 0.6))


def _draw_items(rng, column):
    head = pick(rng, _HEADS)
    stops = _stops(rng, column, len(head))
    if rng.random() < 0.7:
        column.rule()
    if rng.random() < 0.8:
        column.row([(a, x, t.upper() if column.is_shouting else t) for (a, x), t in zip(stops, head)])
        if rng.random() < 0.7:
            column.rule()
    n = int(rng.choice([1, 2, 3, 4, 5, 6, 8, 10, 14], p=[0.12, 0.16, 0.16, 0.14, 0.12, 0.1, 0.1, 0.06, 0.04]))
    style = int(rng.integers(5))
    tax = pick(rng, ["", "", " S", " SR", " T", " Z"])
    for _ in range(n):
        name = words.product(rng)
        name = name if column.is_shouting or rng.random() < 0.7 else name.title()
        count, each, total = str(int(rng.choice([1, 1, 1, 2, 3, 4, 10]))), words.price(rng), words.price(rng)
        last = (1.0, column.right, total + tax)
        if style == 0:  # a name, and below it how many for how much
            column.row([(0.0, column.left, name), *([(1.0, column.right, "*S")] if rng.random() < 0.2 else [])])
            column.row(
                [(0.0, column.left + rng.choice([0, 2]) * column.size, f"{count} {pick(rng, 'xX@')} {each}"), last]
            )
        elif style == 1:
            column.row([(0.0, column.left, f"{count} {name}"), last])
        elif style == 2:
            indent = column.left + 2.5 * column.size
            column.row([(0.0, column.left, count), (0.0, indent, name), last])
        elif style == 3:  # code, count and prices in columns, the name above
            column.row([(0.0, column.left, name)])
            cells = [words.digits(rng, int(rng.choice([4, 7, 13]))), count, each, total, "0.00"]
            column.row([(a, x, t) for (a, x), t in zip(stops, [cells[0], *cells[1:][: len(stops) - 1]])])
        else:
            rows = {1: [total], 2: [name, total], 3: [name, count, total], 4: [name, each, count, total]}
            row = rows.get(len(stops), [name, count, each, "0.00", total])
            column.row([(a, x, t) for (a, x), t in zip(stops, row)])
        column.gap(rng.choice([0, 0, 0, 0.2]))
    if rng.random() < 0.7:
        column.rule()


def _draw_totals(rng, column):
    style = int(rng.integers(3))
    currency = pick(rng, [*words.CURRENCIES, "", "", ""])
    colon = pick(rng, ["", "", ":", " :"])
    stop = column.right - column.width * rng.uniform(0.2, 0.4)
    for _ in range(int(rng.integers(3, 10))):
        label, amount = pick(rng, _TOTALS), words.price(rng, 300)
        label = label.upper() if column.is_shouting else label
        amount = f"{currency} {amount}".strip() if rng.random() < 0.9 else f"-{amount}"
        big = pick(rng, [1.2, 1.5, 1.9]) if rng.random() < 0.15 else 1.0
        stretch = rng.uniform(1.2, 2.0) if rng.random() < 0.12 else 1.0
        if style == 0:
            column.row([(0.0, column.left, label + colon), (1.0, column.right, amount)], big=big, stretch=stretch)
        elif style == 1:
            column.row([(1.0, stop, label + colon), (1.0, column.right, amount)], big=big, stretch=stretch)
        else:
            column.row(
                [(0.0, column.left + column.width * 0.25, label + colon), (1.0, column.right, amount)],
                big=big,
                stretch=stretch,
            )
        column.gap(rng.choice([0, 0, 0, 0.3]))
    if rng.random() < 0.4:
        column.rule()
    if rng.random() < 0.3:
        key = pick(rng, ["Item(s)", "Total Qty", "No of items"])
        cells = [(0.0, column.left, f"{key} : {int(rng.integers(1, 30))}")]
        if rng.random() < 0.4:
            cells.append((1.0, column.right, f"Qty(s) : {int(rng.integers(1, 30))}"))
        column.row(cells)
    column.gap(rng.uniform(0, 0.8))


def _draw_summary(rng, column):
    head = pick(rng, _SUMMARY)
    stops = _stops(rng, column, len(head))
    column.row([(a, x, t) for (a, x), t in zip(stops, head)])
    if rng.random() < 0.3:
        column.rule()
    for _ in range(int(rng.integers(1, 4))):
        first = f"{pick(rng, ['SR', 'S', 'ZR', 'Z', 'A', 'T1'])}{pick(rng, ['', ' @ 6%', '@6%', ' 0%', ' (6%)'])}"
        row = [first, *(words.price(rng, 80) for _ in range(len(head) - 1))]
        if len(head) == 4:
            row[1] = pick(rng, ["6", "0", "6%", "19"])
        column.row([(a, x, t) for (a, x), t in zip(stops, row)])
    column.gap(rng.uniform(0, 0.8))
    if rng.random() < 0.3:
        column.rule()


def _draw_foot(rng, column):
    align = pick(rng, [0.5, 0.5, 0.5, 0.0])
    for _ in range(int(rng.integers(0, 5))):
        text = pick(rng, _THANKS) if rng.random() < 0.75 else words.sentence(rng, int(rng.integers(3, 7)))
        column.line(text.upper() if column.is_shouting else text, align)
    if rng.random() < 0.3:
        column.row(
            [
                (0.0, column.left, f"{words.date(rng)} {words.clock(rng)} {words.code(rng)}"),
                (1.0, column.right, words.code(rng)),
            ]
        )
    if rng.random() < 0.2:
        column.line(words.site(rng), 0.5)


def _stops(rng, column, n):
    """Where n columns stand: the first on the left, the last on the right, those between right-aligned."""
    if n == 1:
        return [(0.0, column.left)]
    first = rng.uniform(0.3, 0.5) if n > 2 else 0.5
    inner = [column.left + column.width * (first + (1 - first) * k / (n - 1)) for k in range(1, n - 1)]
    if n == 3 and rng.random() < 0.4:  # a narrow column of counts, then a wide one
        return [(0.0, column.left), (0.0, column.left + column.width * rng.uniform(0.12, 0.2)), (1.0, column.right)]
    return [(0.0, column.left), *((1.0, x) for x in inner), (1.0, column.right)]
