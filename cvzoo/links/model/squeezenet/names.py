"""torchvision's names in a SqueezeNet, and ours."""

from collections.abc import Mapping, Sequence

from cvzoo.links.model.pretrained.names import Names


def squeezenet_names(stage_names: Sequence[str]) -> Mapping[str, Names]:
    """torchvision's names in a network of these stages, from conv1 to pool10."""
    modules = {"features.0": "conv1/conv", "classifier.1": "conv10/conv"}
    # a relu stands behind conv1
    for i, name in enumerate(stage_names[:-2]):
        if name.startswith("fire"):
            for theirs, ours in (("squeeze", "squeeze"), ("expand1x1", "expand1"), ("expand3x3", "expand3")):
                modules[f"features.{i + 1}.{theirs}"] = f"{name}/{ours}/conv"
    return {"torchvision": Names(marks=("features.0.weight",), modules=modules)}
