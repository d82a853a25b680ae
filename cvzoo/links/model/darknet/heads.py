"""darknet's heads, [yolo] and [region]."""

import itertools
from collections.abc import Sequence

from cvzoo.links.model.darknet.layer import DarknetLayer, Shape, get_size, keep, refuse_options
from cvzoo.links.model.decoding.grid_cells import RegionHead, YoloHead
from cvzoo.weights.formats.darknet import DarknetSection, read_darknet_cfg


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


def with_heads(cfg: str, n_class: int, anchors: Sequence[tuple[float, float]] | None = None) -> str:
    """The text of a cfg whose heads have other classes, and the convolutions before them the channels that this needs.

    cfg: the text
    anchors: (height, width) each, in place of all that the heads list, of which their masks choose; None: as they are
    Raises FileFormatError that names the line of a head without a convolution before it, or of other anchors.
    """
    sections = read_darknet_cfg(cfg)
    changes: list[tuple[DarknetSection, dict[str, object]]] = []
    for before, section in itertools.pairwise(sections):
        if section.name not in ("yolo", "region"):
            continue
        if before.name not in ("convolutional", "conv"):
            raise section.error("the layer before a head must be [convolutional] to have other classes")
        n_listed = len(_anchors(section))
        n_anchor = n_own = get_size(section, "num", 1, most=1024)
        if section.name == "yolo":
            n_own = len(section.get_ints("mask", tuple(range(n_anchor))))
        changes.append((before, {"filters": n_own * (5 + n_class)}))
        options: dict[str, object] = {"classes": n_class}
        if anchors is not None:
            if len(anchors) != n_listed:
                raise section.error(f"the cfg has {n_listed} anchors, {len(anchors)} are given", option="anchors")
            options["anchors"] = ",".join(f"{width:g},{height:g}" for height, width in anchors)
        changes.append((section, options))
    lines = cfg.split("\n")
    for section, options in reversed(changes):  # lines are only added behind those that are still to be found
        for name, value in options.items():
            if name in section.option_lines:
                lines[section.option_lines[name] - 1] = f"{name}={value}"
        lines[section.line : section.line] = [f"{k}={v}" for k, v in options.items() if k not in section.option_lines]
    return "\n".join(lines)


def listed_anchors(cfg: str) -> int:
    """How many anchors each [yolo] or [region] of a cfg's text lists, of which its mask chooses."""
    return max((len(_anchors(each)) for each in read_darknet_cfg(cfg) if each.name in ("yolo", "region")), default=0)
