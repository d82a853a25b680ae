"""Instances of several samples in one photo."""

import numpy as np

from cvzoo.transforms.sample.mask_forms import join_masks
from cvzoo.transforms.sample.sample import PER_INSTANCE


def instances_of_all(samples):
    """The instances of all samples, fields by name: one after another where all samples know the field, else None.

    The class label of a whole photo does not count; it becomes None.
    """
    known = [sample.instances() for sample in samples]
    joined = dict.fromkeys(PER_INSTANCE)
    for name in PER_INSTANCE:
        if all(name in fields for fields in known):
            parts = [fields[name] for fields in known]
            joined[name] = join_masks(parts, samples[0].size) if name == "mask" else np.concatenate(parts)
    return joined
