"""What the two-stage detectors on C4 and their kin are built of."""

import dataclasses

from cvzoo.links.model.config import AbstractConfig, classes_field, config_field, count_field, resized_field
from cvzoo.links.model.faster_rcnn.proposal_creator import ProposalCreator


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbstractFasterRCNNConfig(AbstractConfig):
    """The fields of all Faster R-CNNs on one map."""

    n_fg_class: int = classes_field()
    min_size: int = resized_field(help="length of the resized image's short side")
    max_size: int = resized_field(help="most that the resized image's long side may have")
    ratios: tuple[float, ...] = config_field(help="heights over widths of the anchors", above=0)
    anchor_scales: tuple[float, ...] = config_field(help="sides of the anchors", unit="strides", above=0)
    proposal_creator: ProposalCreator = config_field(help="what keeps the best regions", adjustable=True)


@dataclasses.dataclass(frozen=True, kw_only=True)
class FasterRCNNVGG16Config(AbstractFasterRCNNConfig):
    """What a Faster R-CNN on VGG16 is built of; its fields are the constructor's arguments."""

    base_channels: int = count_field(help="channels of VGG16's first convolution, all others in proportion")
    rpn_channels: int = count_field(help="channels of the region proposal network")
    fc_channels: int = count_field(help="units of fc6 and fc7")


@dataclasses.dataclass(frozen=True, kw_only=True)
class LightHeadRCNNConfig(AbstractFasterRCNNConfig):
    """What a Light-Head R-CNN is built of; its fields are the constructor's arguments."""

    n_layer: int = count_field(help="layers of the ResNet", stored=("widths", 0))
    base_channels: int = count_field(help="channels of the ResNet's first convolution", stored=("widths", 1))
    rpn_channels: int = count_field(help="channels of the region proposal network", stored=("widths", 2))
    mid_channels: int = count_field(help="channels between the large separable convolutions", stored=("widths", 3))
    fc_channels: int = count_field(help="units of the fully connected layer", stored=("widths", 4))


@dataclasses.dataclass(frozen=True, kw_only=True)
class FCISConfig(AbstractConfig):
    """What an FCIS is built of; its fields are the constructor's arguments."""

    n_fg_class: int = classes_field()
    min_size: int = resized_field(help="length of the resized image's short side")
    max_size: int = resized_field(help="most that the resized image's long side may have")
    roi_size: int = count_field(help="cells of a region along a side")
    group_size: int = count_field(help="kinds of cells along a side")
    ratios: tuple[float, ...] = config_field(help="heights over widths of the anchors", above=0)
    anchor_scales: tuple[float, ...] = config_field(help="sides of the anchors", unit="strides", above=0)
    proposal_creator: ProposalCreator = config_field(help="what keeps the best regions", adjustable=True)
    iter2: bool = config_field(help="regions are looked at once more where they were moved to", adjustable=True)
    n_layer: int = count_field(help="layers of the ResNet", stored=("widths", 0))
    base_channels: int = count_field(help="channels of the ResNet's first convolution", stored=("widths", 1))
    rpn_channels: int = count_field(help="channels of the region proposal network", stored=("widths", 2))
    mid_channels: int = count_field(help="channels of the head's first convolution", stored=("widths", 3))
