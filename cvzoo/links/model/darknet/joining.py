"""darknet's layers with several inputs: [route], [shortcut], [scale_channels], [sam]."""

import functools
from collections.abc import Sequence

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.model.darknet.layer import (
    Activation,
    DarknetLayer,
    Shape,
    get_size,
    keep,
    layer_index,
    read_activation,
    refuse_options,
    same_size,
)
from cvzoo.weights.formats.darknet import DarknetSection


def build_route(section: DarknetSection, index: int, shapes: Sequence[Shape]) -> DarknetLayer:
    """Layers concatenated along channels; with groups= only one group of channels of each."""
    refuse_options(section, "stream", "wait_stream")
    numbers = section.get_ints("layers")
    if not numbers:
        raise section.error("layers= names no layer", option="layers")
    places = tuple(layer_index(section, number, index, option="layers") for number in numbers)
    groups = get_size(section, "groups", 1)
    group = section.get_int("group_id", 0)
    if not 0 <= group < groups:
        raise section.error(f"group_id={group} must lie in 0 .. {groups - 1}", option="group_id")
    channels = 0
    for place in places:
        if shapes[place][1:] != shapes[places[0]][1:]:
            raise same_size(section, shapes[places[0]], shapes[place])
        if shapes[place][0] % groups:
            raise section.error(f"{shapes[place][0]} channels do not divide into groups={groups}", option="groups")
        channels += shapes[place][0] // groups
    if groups == 1:
        run = keep if len(places) == 1 else side_by_side
    else:
        run = functools.partial(parts_side_by_side, groups=groups, group=group)
    return DarknetLayer(section, places, run, (channels, *shapes[places[0]][1:]))


def side_by_side(*xs: Variable) -> Variable:
    """(B, sum of C, H, W)."""
    return F.concat(xs, axis=1)


def parts_side_by_side(*xs: Variable, groups: int, group: int) -> Variable:
    """(B, sum of C / groups, H, W): the channels of group `group` of each."""
    parts = []
    for x in xs:
        width = x.shape[1] // groups
        parts.append(x[:, group * width : (group + 1) * width])
    return parts[0] if len(parts) == 1 else F.concat(parts, axis=1)


def build_shortcut(section: DarknetSection, index: int, shapes: Sequence[Shape]) -> DarknetLayer:
    """The sum of the previous layer and earlier ones.

    If the numbers of channels differ, only the common ones are added; an earlier layer that is larger by an integral
    factor is subsampled.
    """
    refuse_options(section, "weights_type", "weights_normalization")
    for option in ("alpha", "beta"):
        if section.get_float(option, 1.0) != 1:
            refuse_options(section, option)
    numbers = section.get_ints("from")
    if not numbers:
        raise section.error("from= names no layer", option="from")
    places = tuple(layer_index(section, number, index, option="from") for number in numbers)
    shape = shapes[index - 1]
    for place in places:
        step = shapes[place][1] // shape[1]
        if shapes[place][1:] != (shape[1] * step, shape[2] * step):
            raise same_size(section, shape, shapes[place])
    run = functools.partial(add_up, activation=read_activation(section, "linear"))
    return DarknetLayer(section, (index - 1, *places), run, shape)


def add_up(x: Variable, *others: Variable, activation: Activation | None) -> Variable:
    """activation(x + others), x's shape (B, C, H, W)."""
    h = x
    for other in others:
        step = other.shape[2] // h.shape[2]
        if step > 1:
            other = other[:, :, ::step, ::step]
        if other.shape[1] > h.shape[1]:
            other = other[:, : h.shape[1]]
        elif other.shape[1] < h.shape[1]:
            n = other.shape[1]
            h = F.concat([h[:, :n] + other, h[:, n:]], axis=1)
            continue
        h = h + other
    return h if activation is None else activation(h)


def build_scale_channels(section: DarknetSection, index: int, shapes: Sequence[Shape]) -> DarknetLayer:
    """The product of an earlier layer and the previous one, per channel (SE), or per pixel with scale_wh=1."""
    place = layer_index(section, section.get_int("from"), index, option="from")
    scale, shape = shapes[index - 1], shapes[place]
    expected = (1, *shape[1:]) if section.get_bool("scale_wh", False) else (shape[0], 1, 1)
    if scale != expected:
        raise section.error(f"the layer before has shape {scale}, to scale {shape} it must have {expected}")
    run = functools.partial(multiply, activation=read_activation(section, "linear"))
    return DarknetLayer(section, (index - 1, place), run, shape)


def build_sam(section: DarknetSection, index: int, shapes: Sequence[Shape]) -> DarknetLayer:
    """The elementwise product of an earlier layer and the previous one (YOLOv4's spatial attention)."""
    place = layer_index(section, section.get_int("from"), index, option="from")
    if shapes[place] != shapes[index - 1]:
        raise same_size(section, shapes[index - 1], shapes[place])
    run = functools.partial(multiply, activation=read_activation(section, "linear"))
    return DarknetLayer(section, (index - 1, place), run, shapes[place])


def multiply(scale: Variable, x: Variable, *, activation: Activation | None) -> Variable:
    """activation(x * scale), x's shape; axes of size 1 of the scale are broadcast."""
    h = x * (scale if scale.shape == x.shape else F.broadcast_to(scale, x.shape))
    return h if activation is None else activation(h)
