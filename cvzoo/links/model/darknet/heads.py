"""darknet's heads, [yolo] and [region]."""

from cvzoo.links.model.darknet.layer import DarknetLayer, Shape, get_size, keep, refuse_options
from cvzoo.links.model.decoding.grid_cells import RegionHead, YoloHead
from cvzoo.weights.formats.darknet import DarknetSection


def build_yolo(section: DarknetSection, index: int, shape: Shape) -> tuple[DarknetLayer, YoloHead]:
    """The layer of a [yolo] head in the network, and the head."""
    anchors = _anchors(section)
    n_anchor = get_size(section, "num", 1, most=1024)
    mask = section.get_ints("mask", tuple(range(n_anchor)))
    if not mask or not all(0 <= i < len(anchors) for i in mask):
        raise section.error(f"mask= must choose of the {len(anchors)} anchors, 0 .. {len(anchors) - 1}", option="mask")
    head = YoloHead(
        tuple(anchors[i] for i in mask),
        get_size(section, "classes", 20),
        scale_xy=section.get_float("scale_x_y", 1.0),
        new_coords=section.get_bool("new_coords", False),
    )
    return _placed(section, index, shape, head), head


def build_region(section: DarknetSection, index: int, shape: Shape) -> tuple[DarknetLayer, RegionHead]:
    """The layer of a [region] head in the network, and the head."""
    refuse_options(section, "tree", "map", "background")
    if section.get_int("coords", 4) != 4:
        refuse_options(section, "coords")
    anchors = _anchors(section)
    n_anchor = get_size(section, "num", 1, most=1024)
    if len(anchors) < n_anchor:
        raise section.error(f"num={n_anchor}, but anchors= holds {len(anchors)} pairs", option="anchors")
    head = RegionHead(anchors[:n_anchor], get_size(section, "classes", 20), softmax=section.get_bool("softmax", False))
    return _placed(section, index, shape, head), head


def _placed(section: DarknetSection, index: int, shape: Shape, head: YoloHead | RegionHead) -> DarknetLayer:
    if shape[0] != head.n_channel:
        raise section.error(
            f"{len(head.anchors)} anchors and {head.n_class} classes need {head.n_channel} channels, "
            f"the layer before has {shape[0]}",
            hint=f"filters={head.n_channel} in the [convolutional] before",
        )
    return DarknetLayer(section, (index - 1,), keep, shape)


def _anchors(section: DarknetSection) -> tuple[tuple[float, float], ...]:
    """(height, width) of each anchor; the file has width first."""
    numbers = section.get_floats("anchors")
    if not numbers or len(numbers) % 2:
        raise section.error(f"anchors= must be pairs of width and height, got {len(numbers)} numbers", option="anchors")
    if min(numbers) <= 0:
        raise section.error("anchors= must be positive", option="anchors")
    return tuple(zip(numbers[1::2], numbers[::2]))
