"""Colours for classes that have none of their own."""


def class_colors(n):
    """n colours, (R, G, B) in [0, 255], by Pascal VOC's rule, black left out: its 20 classes get the kit's own.

    The first 255 differ; then they come again.
    """
    return tuple(_color(1 + label % 255) for label in range(n))


def _color(number):
    color = [0, 0, 0]
    # bit k of the number sets bit 7 - k // 3 of one of the three
    for k in range(8):
        color[k % 3] |= (number >> k & 1) << (7 - k // 3)
    return tuple(color)
