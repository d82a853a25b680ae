"""Colours for classes that have none of their own."""


def class_colors(n: int) -> tuple[tuple[int, int, int], ...]:
    """n colours, (R, G, B) in [0, 255], by Pascal VOC's rule, black left out: its 20 classes get the kit's own.

    The first 255 differ; then they come again.
    """
    return tuple(voc_color(1 + label % 255) for label in range(n))


def voc_color(number: int) -> tuple[int, int, int]:
    """The colour (R, G, B) in [0, 255] that Pascal VOC's development kit gives to a class number; 0 is black."""
    color = [0, 0, 0]
    # bit k of the number sets bit 7 - k // 3 of one of the three
    for k in range(8):
        color[k % 3] |= (number >> k & 1) << (7 - k // 3)
    return color[0], color[1], color[2]
