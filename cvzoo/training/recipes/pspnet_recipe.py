"""The training recipe of PSPNet."""

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from cvzoo.links.link import Link
from cvzoo.links.model.config import AbstractConfig, config_field, count_field
from cvzoo.links.model.pspnet.pspnet import PSPNet
from cvzoo.optimizers.hooks.gradient_scaling import GradientScaling
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.training.recipes.recipe import AbstractRecipe
from cvzoo.training.recipes.segmentation_recipe import AbstractSegmentationRecipe
from cvzoo.typing.aliases import Size

_HEADS = ("/predictor/ppm", "/predictor/head_conv", "/predictor/aux_conv")


@dataclasses.dataclass(frozen=True, kw_only=True)
class PSPNetNetwork(AbstractConfig):
    """Configuration of a PSPNet. Raises ValueRangeError."""

    n_layer: int = count_field(50, help="depth of the ResNet: 50, 101 or 10", group="model")
    base_channels: int = count_field(64, help="channels of the backbone's first convolution", group="model")
    window: tuple[int, int] = count_field(
        (473, 473), help="(H, W) of the crops and of the windows of inference", unit="pixels", group="model", at_least=8
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class PSPNetRecipe(AbstractSegmentationRecipe):
    """All settings of a PSPNet's training.

    Source: Zhao et al., Pyramid Scene Parsing Network, CVPR 2017, section 5.1: poly, a base learning rate of 0.01 for
    batches of 16 and the learning rate of new layers tenfold. Where we differ: the learning rate is for batches of 4.
    """

    model: PSPNetNetwork = config_field(PSPNetNetwork(), help="the network", group="model")
    lr: float = config_field(2.5e-3, help="learning rate after the warm-up", group="optimizer", above=0)
    head_lr: float = config_field(
        10.0, help="learning rate of the heads, as a multiple of lr; of sgd and nesterov", group="optimizer", above=0
    )
    angle: float = config_field(
        10.0, help="images are rotated by at most this", unit="degrees", group="augmentation", at_least=0
    )

    @property
    def crop_size(self) -> Size:
        """The window."""
        return self.model.window

    def summary(self) -> str:
        height, width = self.model.window
        return f"PSPNet on ResNet-{self.model.n_layer}, windows of {height} x {width} pixels"

    def build_model(self, label_names: Sequence[str]) -> PSPNet:
        """With an auxiliary head, for training."""
        m = self.model
        return PSPNet(
            m.n_layer,
            None,
            self.pretrained,
            m.window,
            label_names=label_names,
            base_channels=m.base_channels,
            aux=True,
        )

    def build_optimizer(self, loss: Link) -> AbstractOptimizer:
        """The optimizer, with another learning rate of the heads."""
        optimizer = super().build_optimizer(loss)
        if self.head_lr != 1 and self.optimizer in ("sgd", "nesterov"):
            optimizer.add_hook(GradientScaling(self.head_lr, only=lambda path, _: path.startswith(_HEADS)))
        return optimizer

    def with_size(self, side: int) -> AbstractRecipe:
        """The side of the window."""
        return dataclasses.replace(self, model=dataclasses.replace(self.model, window=(side, side)))


PSPNET_RECIPES: Mapping[str, PSPNetRecipe] = MappingProxyType(
    {
        "pspnet_resnet10_small": PSPNetRecipe(
            model=PSPNetNetwork(n_layer=10, base_channels=32, window=(241, 321)), lr=0.01, head_lr=1.0
        ),
        "pspnet_resnet50": PSPNetRecipe(),
        "pspnet_resnet101": PSPNetRecipe(model=PSPNetNetwork(n_layer=101)),
    }
)
