"""Concatenation of the instances of several samples."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.transforms.sample.mask_formats import join_masks
from cvzoo.transforms.sample.sample import PER_INSTANCE, Sample


def instances_of_all(samples: Sequence[Sample]) -> dict[str, Any]:
    """The instance fields of all samples by name: concatenated where all samples have the field, else None.

    A label of a whole image is not an instance field; it becomes None.
    """
    known = [sample.instances() for sample in samples]
    joined: dict[str, Any] = dict.fromkeys(PER_INSTANCE)
    for name in PER_INSTANCE:
        if all(name in fields for fields in known):
            parts = [fields[name] for fields in known]
            joined[name] = join_masks(parts, samples[0].size) if name == "mask" else np.concatenate(parts)
    return joined
