"""The names in the published files of the face detector."""

from collections.abc import Mapping

from cvzoo.links.model.pretrained.names import Names


def face_names(has_block: bool) -> Mapping[str, Names]:
    """The publisher's names and ours.

    has_block: the receptive field block stands in the base
    """
    modules = {"base_net.0.0": "base/0/conv", "base_net.0.1": "base/0/bn"}
    for i in range(1, 13):
        if has_block and i == 7:
            modules.update(_block(f"base_net.{i}", f"base/{i}"))
            continue
        for part, first in (("depthwise", 0), ("pointwise", 3)):
            modules[f"base_net.{i}.{first}"] = f"base/{i}/{part}/conv"
            modules[f"base_net.{i}.{first + 1}"] = f"base/{i}/{part}/bn"
    modules |= {"extras.0.0": "extra/0/conv", "extras.0.2.0": "extra/1/conv", "extras.0.2.2": "extra/2/conv"}
    for theirs, ours in (("classification_headers", "score_heads"), ("regression_headers", "box_heads")):
        for i in range(3):
            modules[f"{theirs}.{i}.0"] = f"{ours}/{i}/0/conv"
            modules[f"{theirs}.{i}.2"] = f"{ours}/{i}/1"
        modules[f"{theirs}.3"] = f"{ours}/3"
    return {"the publisher": Names(marks=("base_net.0.0.weight",), modules=modules)}


def _block(theirs: str, ours: str) -> dict[str, str]:
    places = {f"branch{k}.{i}": f"branch{k}/{i}" for k, n in ((0, 3), (1, 3), (2, 4)) for i in range(n)}
    places |= {"ConvLinear": "join", "shortcut": "shortcut"}
    return {
        f"{theirs}.{place}.{part}": f"{ours}/{path}/{part}" for place, path in places.items() for part in ("conv", "bn")
    }
