"""Numbers as SVG and people read them."""


def coordinate(value):
    """A length in pixels with one decimal at most: "12", "12.5"."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def tick(value):
    """A number on an axis: "0.5", "20", "1e-05"."""
    return f"{value:.4g}"
