"""What every data set of the room must bear besides the public rules."""

import pickle

import numpy as np


def assert_pickles(dataset):
    """Its first example is the same after the data set went to another process."""
    again = pickle.loads(pickle.dumps(dataset))
    for mine, its in zip(dataset[0], again[0], strict=True):
        np.testing.assert_array_equal(mine, its)
