"""Instances of several samples in one photo."""

import numpy as np

from cvzoo.transforms.sample.sample import PER_INSTANCE


def instances_of_all(samples):
    """The instances of all samples, fields by name: one after another where all samples know the field, else None.

    The class label of a whole photo does not count; it becomes None.
    """
    known = [sample.instances() for sample in samples]
    return {
        name: np.concatenate([fields[name] for fields in known]) if all(name in fields for fields in known) else None
        for name in PER_INSTANCE
    }
