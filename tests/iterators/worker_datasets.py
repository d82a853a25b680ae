"""Data sets that other processes can import."""

import os
import signal
import time

import numpy as np

from cvzoo.config.randomness import random_generator


class Numbers:
    """Example i: (an array of i, i, a random number)."""

    def __init__(self, n=23, shape=(3, 8, 9)):
        self.n = n
        self.shape = shape

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        return np.full(self.shape, index, np.float32), np.int32(index), random_generator().random()

    def name(self, index):
        return f"photos/{index}.jpg"


class Odd(Numbers):
    """Example 5 is trouble of some kind."""

    def __init__(self, kind, n=12):
        super().__init__(n)
        self.kind = kind

    def __getitem__(self, index):
        if index == 5:
            if self.kind == "error":
                raise ValueError("the image is cut off")
            if self.kind == "stop":
                raise StopIteration
            if self.kind == "unpicklable error":
                raise Unpicklable("no way", 1)
            if self.kind == "unpicklable value":
                return lambda: None
            if self.kind == "exit":
                os._exit(3)
            if self.kind == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.kind == "hang":
                time.sleep(600)
        return super().__getitem__(index)


class Unpicklable(Exception):
    def __init__(self, text, number):
        super().__init__(text)

    def __reduce__(self):
        raise TypeError("cannot be pickled")


class BrokenOnArrival(Numbers):
    def __setstate__(self, state):
        raise OSError("the files are on another machine")


class Convolving(Numbers):
    """Runs a kernel of the fast backend in a worker."""

    def __getitem__(self, index):
        import cvzoo.functions as F

        x = np.ones((4, 16, 40, 40), np.float32)
        y = F.convolution_2d(x, np.ones((16, 16, 3, 3), np.float32), pad=1)
        return float(y.array.sum()), index
