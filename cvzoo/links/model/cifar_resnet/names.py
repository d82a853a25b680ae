"""The names in the published files of the CIFAR ResNets, and ours."""

import re

from cvzoo.links.model.pretrained.names import Names

_AROUND = {"conv1": "conv1/conv", "bn1": "conv1/bn", "linear": "fc"}


def cifar_resnet_place(module: str) -> str | None:
    """Our path of a module, None where there is none."""
    module = module.removeprefix("module.")
    match = re.fullmatch(r"layer([123])\.(\d+)\.(conv|bn)([12])", module)
    if match is None:
        return _AROUND.get(module)
    stage, block, kind, k = match.groups()
    return f"stage{stage}/{block}/conv{k}/{kind}"


NAMES = {"the publisher": Names(marks=(), modules=cifar_resnet_place)}
