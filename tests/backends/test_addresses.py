import numpy as np

from cvzoo.backends.arrays import can_read_addresses, numpy_address


def test_the_addresses_of_arrays_are_where_they_are_looked_for():
    assert can_read_addresses()
    x = np.zeros((4, 6))[1:, ::2]
    assert numpy_address(x) == x.__array_interface__["data"][0]
