"""Memory between pages that nobody may touch: who reads or writes beyond its array ends the process.

Run as a program, it replays some networks and prints "sound": with "start" or "end" in such memory, directly before or
behind a forbidden page; with "plain" in common memory, for other programs that look on.
"""

import copy
import ctypes
import mmap
import sys

import numpy as np
from compiled_networks import assert_near, eager, photos, replayed

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.backends.onednn.pool import Pool
from cvzoo.graph import program as programs
from cvzoo.graph.memory_plan import Arena, MemoryPlan
from cvzoo.links.chain import Chain

PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int


def pages_for(nbytes):
    return -(-max(nbytes, 1) // PAGE) * PAGE


def room_for(nbytes, at_end):
    """Where in pages between two forbidden ones an array of nbytes lies: (bytes of all pages, offset)."""
    size = pages_for(nbytes)
    return size + 2 * PAGE, PAGE + (size - -(-nbytes // 64) * 64 if at_end else 0)


def forbid(address, nbytes=PAGE):
    assert _libc.mprotect(address, nbytes, 0) == 0


def guarded(nbytes, at_end):
    """(nbytes,) uint8 between forbidden pages."""
    total, offset = room_for(nbytes, at_end)
    memory = np.frombuffer(mmap.mmap(-1, total), np.uint8)
    forbid(memory.ctypes.data)
    forbid(memory.ctypes.data + total - PAGE)
    return memory[offset : offset + nbytes]


def guard_everything(at_end):
    """From now on what kernels write, and each block of a replay, lies between forbidden pages."""
    places = {}

    def take(self, shape, strides, dtype, nbytes):
        return np.ndarray(shape, dtype, guarded(max(nbytes, 1), at_end), 0, strides)

    def plan(lifetimes):
        offsets, end = {}, 0
        for block, (nbytes, _, _) in lifetimes.items():
            total, offset = room_for(nbytes, at_end)
            offsets[block] = end + offset
            end += total
        places[end] = [(offsets[block], nbytes) for block, (nbytes, _, _) in lifetimes.items()]
        return MemoryPlan(offsets, end, 0)

    def reserve(self, nbytes, tenant):
        memory = np.frombuffer(mmap.mmap(-1, pages_for(nbytes)), np.uint8)
        for offset, size in places[tenant.plan.nbytes]:
            start = offset // PAGE * PAGE
            forbid(memory.ctypes.data + start - PAGE)
            forbid(memory.ctypes.data + start + pages_for(size))
        return memory

    Pool.take = take
    programs.plan_memory = plan
    Arena.reserve = reserve


def own(x, at_end):
    y = np.ndarray(x.shape, x.dtype, guarded(x.nbytes, at_end))
    y[...] = x
    return y


class Odd(Chain):
    """Layers of odd numbers of channels, in odd sizes."""

    def __init__(self):
        with self.init_scope():
            self.first = L.Convolution2D(3, 17, 3, stride=2, pad=1)
            self.deep = L.DepthwiseConvolution2D(17, 1, 3, pad=1)
            self.bn = L.BatchNormalization(17)
            self.point = L.Convolution2D(17, 5, 1)
            self.wide = L.Convolution2D(5, 7, 3, pad=2, dilate=2)
            self.up = L.Deconvolution2D(7, 3, 2, stride=2)
            self.fc = L.Linear(15, 11)

    def forward(self, x):
        h = F.relu6(self.bn(self.deep(F.relu(self.first(x)))))
        h = F.leaky_relu(self.point(h), 0.1)
        g = F.max_pooling_2d(h, 3, 2)
        h = F.concat([h, self.wide(h)], axis=1)
        y = self.up(F.sigmoid(h)[:, 5:])
        z = F.concat([F.average(y, axis=(2, 3)), F.average(h, axis=(2, 3))], axis=1)
        return y, g, F.softmax(self.fc(z))


def main(at_end):
    model = Odd()
    for shape in ((1, 3, 13, 19), (3, 3, 8, 8), (2, 3, 31, 7)):
        expected = {seed: eager(model, photos(seed, shape)) for seed in range(2)}
        graph = model.compile(own(photos(0, shape), at_end))
        assert graph.program.n_call >= 5, graph.summary()
        for seed in (0, 1, 0):
            assert_near(replayed(model, own(photos(seed, shape), at_end)), expected[seed])
    learn(at_end)
    print("sound")


def learn(at_end):
    """Steps that are replayed there and back give the network's gradients."""
    plain = Odd()
    model = copy.deepcopy(plain)
    for shape in ((2, 3, 13, 19), (3, 3, 8, 8)):
        graph = model.compile(own(photos(0, shape), at_end), train=True)
        assert graph.program.n_call > 5, graph.summary()
        for seed in range(2):
            for each in (plain, model):
                each.cleargrads()
                ys = each(own(photos(seed, shape), at_end))
                sum(F.sum(y**2) for y in ys[1:]).backward()
            for (name, p), (_, q) in zip(plain.namedparams(), model.namedparams()):
                if p.grad is not None:
                    np.testing.assert_allclose(
                        p.grad, q.grad, rtol=1e-4, atol=1e-5 * np.abs(p.grad).max(), err_msg=name
                    )


if __name__ == "__main__":
    if sys.argv[1] != "plain":
        guard_everything(sys.argv[1] == "end")
    if sys.argv[2:] == ["overrun"]:  # whether the guard guards
        array = guarded(64, sys.argv[1] == "end")
        ctypes.memset(array.ctypes.data - (sys.argv[1] != "end"), 0, 65)
    main(sys.argv[1] == "end")
