"""What the Inception networks are built of."""

import dataclasses

from cvzoo.links.model.config import (
    AbstractConfig,
    classes_field,
    config_field,
    dropout_field,
    preparation_field,
    width_field,
)
from cvzoo.links.model.preparation.center_crop import CenterCrop


@dataclasses.dataclass(frozen=True, kw_only=True)
class InceptionConfig(AbstractConfig):
    """What a GoogLeNet or an Inception v3 is built of; its fields are the constructors' arguments."""

    n_class: int = classes_field()
    aux: bool = config_field(help="also the classifiers in the middle, which training alone needs")
    width: float = width_field()
    dropout: float = dropout_field()
    preparation: CenterCrop = preparation_field()
