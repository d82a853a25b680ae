"""The training recipe of SegNet."""

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from cvzoo.links.model.config import AbstractConfig, config_field, count_field
from cvzoo.links.model.label_map_transform import ResizeExamples
from cvzoo.links.model.segnet.segnet_basic import SegNetBasic
from cvzoo.training.recipes.recipe import AbstractRecipe
from cvzoo.training.recipes.segmentation_recipe import AbstractSegmentationRecipe
from cvzoo.typing.aliases import Size


@dataclasses.dataclass(frozen=True, kw_only=True)
class SegNetNetwork(AbstractConfig):
    """Configuration of a SegNet. Raises ValueRangeError."""

    channels: int = count_field(64, help="channels of all feature maps", group="model")
    insize: tuple[int, int] | None = count_field(
        None,
        help="(H, W) to which images are resized; None: their own, which must be the same of all",
        unit="pixels",
        group="preparation",
        at_least=16,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class SegNetRecipe(AbstractSegmentationRecipe):
    """All settings of a SegNet's training, on whole images of one size.

    Source: Badrinarayanan, Kendall and Cipolla, SegNet, PAMI 2017, section 4: a constant learning rate of 0.1, batches
    of 12, classes balanced by their median frequency. Where we differ: the learning rate falls to a hundredth.
    """

    model: SegNetNetwork = config_field(SegNetNetwork(), help="the network", group="model")
    batch_size: int = config_field(8, help="images in a batch", unit="images", group="schedule", at_least=1)
    lr: float = config_field(0.1, help="learning rate after the warm-up", group="optimizer", above=0)
    weight_decay: float = config_field(5e-4, help="weight decay, not of vectors", group="optimizer", at_least=0)
    schedule: Literal["cosine", "step", "poly", "constant"] = config_field(
        "cosine", help="course of the learning rate after the warm-up", group="schedule"
    )
    scale_range: tuple[float, float] = config_field(
        (1.0, 1.0), help="images are scaled by a random factor: from, to", group="augmentation", above=0
    )
    class_weight: Literal["none", "median_frequency"] = config_field(
        "median_frequency", help="weights of classes in the loss: median_frequency: of rare ones more", group="loss"
    )

    @property
    def crop_size(self) -> Size | None:
        """The network's input; whole images where it has no size."""
        return self.model.insize

    def resized(self) -> ResizeExamples:
        """To the network's input, as inference does."""
        return ResizeExamples(self.model.insize)

    def check_together(self) -> None:
        """Raises ValueRangeError for random scales without a size."""
        super().check_together()
        sized = self.model.insize is not None or self.scale_range == (1.0, 1.0)
        self.require(sized, "scale_range", "1,1, unless model.insize is given")

    def summary(self) -> str:
        return "SegNet (basic), whole images of one size"

    def build_model(self, label_names: Sequence[str]) -> SegNetBasic:
        return SegNetBasic(
            None, self.pretrained, label_names=label_names, channels=self.model.channels, insize=self.model.insize
        )

    def with_size(self, side: int) -> AbstractRecipe:
        """Height and width of the network's input."""
        return dataclasses.replace(self, model=dataclasses.replace(self.model, insize=(side, side)))


SEGNET_RECIPES: Mapping[str, SegNetRecipe] = MappingProxyType({"segnet": SegNetRecipe()})
