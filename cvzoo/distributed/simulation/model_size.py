"""Size and cost of a model's training, measured on random weights, without downloads."""

import functools
import inspect

import numpy as np

from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.links.chain import Chain
from cvzoo.links.model.layer_costs import layer_costs
from cvzoo.links.model.raw_outputs import seeded_photo
from cvzoo.links.model.zoo_member import ZooMember
from cvzoo.typing.aliases import Size

# number of classes of a model whose record does not name them: of COCO, VOC's with background, persons
_CLASSES = {"detection": 80, "instance segmentation": 80, "segmentation": 21, "keypoints": 1}
_BACKWARD = 2  # a backward pass computes two gradients, each as costly as the forward pass


def untrained_model(member: ZooMember) -> Chain:
    """A model of the zoo with random weights, as it is before training; nothing is downloaded.

    Raises UnsupportedError for the models whose architecture is in a file to be downloaded.
    """
    make = member.make
    if not isinstance(make, functools.partial) or "pretrained_model" not in make.keywords:
        raise UnsupportedError(
            f"{member.name} cannot be built without its files", hint="its number of parameters instead"
        )
    given = {name: value for name, value in make.keywords.items() if name != "pretrained_model"}
    takes = inspect.signature(make.func).parameters
    n_class = len(member.weights.label_names) if member.weights.label_names else _CLASSES.get(member.task)
    if n_class is not None and "n_fg_class" in takes:
        given["n_fg_class"] = n_class
    elif n_class is not None and "n_class" in takes:
        given["n_class"] = n_class
    model: Chain = make.func(*make.args, **given)
    return model


def n_trained_parameter(model: Chain) -> int:
    """Number of parameters of a model, each with a gradient."""
    return sum(param.size for param in model.params(include_uninit=False))


def training_flops(model: Chain, size: Size) -> int:
    """Floating-point operations of forward and backward on one image, three times those of inference.

    size: (H, W) of the image, pixels; the model's preprocessing resizes it
    """
    img = seeded_photo(size).astype(np.uint8)
    costs = layer_costs(model, lambda: model.predict([img]))  # type: ignore[attr-defined]
    return (1 + _BACKWARD) * 2 * sum(each.n_multiply_add for each in costs)
