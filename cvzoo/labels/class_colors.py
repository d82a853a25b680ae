"""Colors for the classes of data sets that define none."""


def class_colors(n: int) -> tuple[tuple[int, int, int], ...]:
    """n colors, (R, G, B) in [0, 255], of Pascal VOC's color map without black, its color of the background.

    The first 255 are distinct; then they repeat.
    """
    return tuple(voc_color(1 + label % 255) for label in range(n))


def voc_color(label: int) -> tuple[int, int, int]:
    """The color (R, G, B) in [0, 255] of a label in Pascal VOC's color map; 0 is black."""
    color = [0, 0, 0]
    # bit k of the label sets bit 7 - k // 3 of channel k % 3, the rule of the VOC development kit
    for k in range(8):
        color[k % 3] |= (label >> k & 1) << (7 - k // 3)
    return color[0], color[1], color[2]
