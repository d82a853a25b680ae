"""The training recipe of ESPNet."""

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from cvzoo.links.model.config import AbstractConfig, config_field, count_field
from cvzoo.links.model.espnet.espnet import ESPNet
from cvzoo.links.model.espnet.frame_preparation import FramePreparation
from cvzoo.links.model.label_map_transform import ResizeExamples
from cvzoo.training.recipes.recipe import AbstractRecipe
from cvzoo.training.recipes.segmentation_recipe import AbstractSegmentationRecipe
from cvzoo.typing.aliases import Size


@dataclasses.dataclass(frozen=True, kw_only=True)
class ESPNetNetwork(AbstractConfig):
    """Configuration of an ESPNet. Raises ValueRangeError."""

    depths: tuple[int, int] = count_field(
        (2, 8), help="blocks of the second and the third stage", group="model", at_least=0
    )
    channels: tuple[int, int, int] = count_field((16, 64, 128), help="channels of the three stages", group="model")
    insize: tuple[int, int] = count_field(
        (360, 480), help="(H, W) of the network's input, multiples of 8", unit="pixels", group="preparation", at_least=8
    )

    def check_together(self) -> None:
        """Raises ValueRangeError for too few channels, or another input size."""
        self.require(min(self.channels[1:]) >= 5, "channels", "at least 5 in the second and the third stage")
        self.require(all(side % 8 == 0 for side in self.insize), "insize", "multiples of 8")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ESPNetRecipe(AbstractSegmentationRecipe):
    """All settings of an ESPNet's training; five classes or more.

    Source: Mehta et al., ESPNet: Efficient Spatial Pyramid of Dilated Convolutions, ECCV 2018, section 4.1: Adam with
    0.0005, weight decay 0.0005, classes weighted in the loss. Where we differ: by their median frequency, and the
    decoder is trained with the encoder from the beginning, where the paper trains the encoder first.
    """

    model: ESPNetNetwork = config_field(ESPNetNetwork(), help="the network", group="model")
    optimizer: Literal["adamw", "adam", "sgd", "nesterov"] = config_field(
        "adam", help="optimizer; sgd has momentum, and so has nesterov", group="optimizer"
    )
    lr: float = config_field(5e-4, help="learning rate after the warm-up", group="optimizer", above=0)
    weight_decay: float = config_field(5e-4, help="weight decay, not of vectors", group="optimizer", at_least=0)
    batch_size: int = config_field(8, help="images in a batch", unit="images", group="schedule", at_least=1)
    class_weight: Literal["none", "median_frequency"] = config_field(
        "median_frequency", help="weights of classes in the loss: median_frequency: of rare ones more", group="loss"
    )

    @property
    def crop_size(self) -> Size:
        """The network's input."""
        return self.model.insize

    def resized(self) -> ResizeExamples:
        """To the network's input, as inference does."""
        return ResizeExamples(self.model.insize)

    def summary(self) -> str:
        height, width = self.model.insize
        return f"ESPNet, {height} x {width} pixels, 0.35 million parameters"

    def build_model(self, label_names: Sequence[str]) -> ESPNet:
        m = self.model
        preparation = FramePreparation(m.insize)
        return ESPNet(
            None,
            self.pretrained,
            label_names=label_names,
            depths=m.depths,
            channels=m.channels,
            preparation=preparation,
        )

    def with_size(self, side: int) -> AbstractRecipe:
        """Height and width of the network's input."""
        return dataclasses.replace(self, model=dataclasses.replace(self.model, insize=(side, side)))


ESPNET_RECIPES: Mapping[str, ESPNetRecipe] = MappingProxyType({"espnet": ESPNetRecipe()})
