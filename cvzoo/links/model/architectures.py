"""Which models can be built again from what a file says: a list of real objects."""

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.cifar_resnet.listing import ARCHITECTURES as CIFAR_RESNET
from cvzoo.links.model.resnet.listing import ARCHITECTURES as RESNET
from cvzoo.links.model.retinanet.listing import ARCHITECTURES as RETINANET


def architectures() -> tuple[Architecture, ...]:
    """All kinds of models that files can hold."""
    return (*CIFAR_RESNET, *RESNET, *RETINANET)
