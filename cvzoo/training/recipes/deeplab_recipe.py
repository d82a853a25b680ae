"""The training recipes of DeepLab v3, FCN and LR-ASPP, which see images with a short side of one length, and of v3+."""

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cvzoo.links.model.config import AbstractConfig, config_field, count_field
from cvzoo.links.model.deeplab.deeplab_v3 import DeepLabV3
from cvzoo.links.model.deeplab.deeplab_v3_plus import DeepLabV3plusXception65
from cvzoo.links.model.dense_backbone import Backbone
from cvzoo.links.model.fcn.fcn import FCN
from cvzoo.links.model.label_map_transform import ResizeExamples
from cvzoo.links.model.lraspp.lraspp import LRASPPMobileNetV3Large
from cvzoo.training.recipes.recipe import AbstractRecipe
from cvzoo.training.recipes.segmentation_recipe import AbstractSegmentationRecipe
from cvzoo.typing.aliases import Size


def _width_field() -> Any:
    return config_field(1.0, help="channels, as a multiple of those published", group="model", above=0, at_most=20)


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbstractShortSideNetwork(AbstractConfig):
    """A network with a fixed short side of its input images. Raises ValueRangeError."""

    width: float = _width_field()
    short: int = count_field(
        520, help="short side of images, and side of the square crops", unit="pixels", group="preparation", at_least=16
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DenseNetwork(AbstractShortSideNetwork):
    """An FCN or a DeepLab v3 on a dilated backbone. Raises ValueRangeError."""

    backbone: Backbone = config_field("resnet50", help="the backbone, see DenseBackbone", group="model")


@dataclasses.dataclass(frozen=True, kw_only=True)
class LRASPPNetwork(AbstractShortSideNetwork):
    """An LR-ASPP on MobileNetV3. Raises ValueRangeError."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbstractShortSideRecipe(AbstractSegmentationRecipe, abc.ABC):
    """A recipe of a network that is trained on images resized to a fixed short side, as in inference."""

    model: AbstractShortSideNetwork = config_field(help="the network", group="model")

    @property
    def crop_size(self) -> Size:
        """A square of the short side."""
        return self.model.short, self.model.short

    def resized(self) -> ResizeExamples:
        """Resizes to the short side of inference."""
        return ResizeExamples(short=self.model.short)

    def with_size(self, side: int) -> AbstractRecipe:
        """The short side."""
        return dataclasses.replace(self, model=dataclasses.replace(self.model, short=side))


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeepLabV3Recipe(AbstractShortSideRecipe):
    """All settings of a DeepLab v3's training.

    Source: Chen et al., Rethinking Atrous Convolution for Semantic Image Segmentation, 2017, section 4: poly, 0.007 for
    batches of 16. Where we differ: the learning rate is for batches of 4, the stride is 8, as in torchvision.
    """

    model: DenseNetwork = config_field(DenseNetwork(), help="the network", group="model")
    lr: float = config_field(2.5e-3, help="learning rate after the warm-up", group="optimizer", above=0)

    def summary(self) -> str:
        return f"DeepLab v3 on {self.model.backbone}, crops of {self.model.short} x {self.model.short} pixels"

    def build_model(self, label_names: Sequence[str]) -> DeepLabV3:
        m = self.model
        return DeepLabV3(m.backbone, None, self.pretrained, label_names=label_names, width=m.width, short=m.short)


@dataclasses.dataclass(frozen=True, kw_only=True)
class FCNRecipe(AbstractShortSideRecipe):
    """All settings of an FCN's training, the baseline of DeepLab v3 on the same backbone.

    Source: Long, Shelhamer and Darrell, Fully Convolutional Networks for Semantic Segmentation, CVPR 2015; network,
    poly and 0.01 for batches of 16 as torchvision has them, here for batches of 4.
    """

    model: DenseNetwork = config_field(DenseNetwork(), help="the network", group="model")
    lr: float = config_field(2.5e-3, help="learning rate after the warm-up", group="optimizer", above=0)

    def summary(self) -> str:
        return f"FCN on {self.model.backbone}, crops of {self.model.short} x {self.model.short} pixels"

    def build_model(self, label_names: Sequence[str]) -> FCN:
        m = self.model
        return FCN(m.backbone, None, self.pretrained, label_names=label_names, width=m.width, short=m.short)


@dataclasses.dataclass(frozen=True, kw_only=True)
class LRASPPRecipe(AbstractShortSideRecipe):
    """All settings of the training of LR-ASPP on MobileNetV3, a network for small devices.

    Source: Howard et al., Searching for MobileNetV3, ICCV 2019, section 6.4; learning rate and schedule as torchvision.
    """

    model: LRASPPNetwork = config_field(LRASPPNetwork(), help="the network", group="model")
    lr: float = config_field(5e-3, help="learning rate after the warm-up", group="optimizer", above=0)

    def summary(self) -> str:
        return f"LR-ASPP on MobileNetV3 large, crops of {self.model.short} x {self.model.short} pixels"

    def build_model(self, label_names: Sequence[str]) -> LRASPPMobileNetV3Large:
        m = self.model
        return LRASPPMobileNetV3Large(None, self.pretrained, label_names=label_names, width=m.width, short=m.short)


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeepLabV3plusNetwork(AbstractConfig):
    """A DeepLab v3+ on Xception. Raises ValueRangeError."""

    width: float = _width_field()
    middle_blocks: int = count_field(16, help="blocks of Xception's middle flow", group="model", at_least=1)
    window: tuple[int, int] = count_field(
        (513, 513),
        help="(H, W) of the crops; smaller images are padded to it in inference",
        unit="pixels",
        group="preparation",
        at_least=16,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeepLabV3plusRecipe(AbstractSegmentationRecipe):
    """All settings of a DeepLab v3+'s training.

    Source: Chen et al., Encoder-Decoder with Atrous Separable Convolution, ECCV 2018, section 4: as DeepLab v3's.
    """

    model: DeepLabV3plusNetwork = config_field(DeepLabV3plusNetwork(), help="the network", group="model")
    lr: float = config_field(2.5e-3, help="learning rate after the warm-up", group="optimizer", above=0)

    @property
    def crop_size(self) -> Size:
        """The window."""
        return self.model.window

    def summary(self) -> str:
        height, width = self.model.window
        return f"DeepLab v3+ on Xception-65, crops of {height} x {width} pixels"

    def build_model(self, label_names: Sequence[str]) -> DeepLabV3plusXception65:
        m = self.model
        return DeepLabV3plusXception65(
            None, self.pretrained, m.window, label_names=label_names, width=m.width, middle_blocks=m.middle_blocks
        )

    def with_size(self, side: int) -> AbstractRecipe:
        """The side of the window."""
        return dataclasses.replace(self, model=dataclasses.replace(self.model, window=(side, side)))


DEEPLAB_RECIPES: Mapping[str, AbstractSegmentationRecipe] = MappingProxyType(
    {
        "deeplab_v3_resnet18_small": DeepLabV3Recipe(
            model=DenseNetwork(backbone="resnet18", width=0.5, short=240), lr=0.01
        ),
        **{
            f"deeplab_v3_{backbone}": DeepLabV3Recipe(model=DenseNetwork(backbone=backbone))
            for backbone in ("resnet50", "resnet101", "mobilenet_v3_large")
        },
        **{
            f"fcn_{backbone}": FCNRecipe(model=DenseNetwork(backbone=backbone))
            for backbone in ("resnet50", "resnet101")
        },
        "lraspp_mobilenet_v3_large": LRASPPRecipe(),
        "deeplab_v3plus_xception65": DeepLabV3plusRecipe(),
    }
)
