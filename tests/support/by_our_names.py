"""Arrays of a publisher's file by our names, without a file."""

from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.pretrained.names import Arrays, Names, publisher_of


def by_our_names(arrays: Arrays, names: Mapping[str, Names], n_class: int | None = None) -> dict[str, np.ndarray]:
    """The arrays by our names, whoever of the table published them. n_class: of the model to be."""
    publisher = publisher_of(arrays, names)
    return dict(arrays) if publisher is None else names[publisher](arrays, n_class)
