"""Count what a reader walks through: files, functions, calls and the deepest stack of some everyday calls.

    python benchmarks/walks.py

Each call is made twice; the second is watched by `sys.setprofile`, so that what is kept after a first call counts for
nothing. Sizes are small: the counts hardly depend on them. Counted are Python functions of the package alone;
generators and comprehensions count as the interpreter has them.
"""

import pathlib
import sys
import tempfile

import numpy as np

import cvzoo
import cvzoo.links as L
from cvzoo.optimizers import MomentumSGD
from cvzoo.serializers import load_model, save_model

PACKAGE = str(pathlib.Path(cvzoo.__file__).parent)


class Walk:
    """Counts of one call."""

    def __init__(self):
        self.files, self.functions, self.calls, self.depth, self.deepest = set(), set(), 0, 0, (0, 0)
        self.stack = []

    def __call__(self, frame, event, _):
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            return
        if event == "call":
            self.calls += 1
            self.files.add(code.co_filename)
            self.functions.add((code.co_filename, code.co_qualname if hasattr(code, "co_qualname") else code.co_name))
            self.stack.append(code.co_filename)
            if len(self.stack) > self.deepest[0]:
                self.deepest = len(self.stack), len(set(self.stack))
        elif event == "return" and self.stack:
            self.stack.pop()


def watched(act):
    """The walk of the second call of `act`."""
    act()
    walk = Walk()
    sys.setprofile(walk)
    try:
        act()
    finally:
        sys.setprofile(None)
    return walk


def _retinanet_loss():
    settings = L.RetinaNetSettings(n_layer=18, base_channels=16, channels=32, head_depth=4)
    loss = L.RetinaNetLoss(L.RetinaNet(n_fg_class=3, settings=settings))
    optimizer = MomentumSGD(0.01).setup(loss)
    x, bbox = np.random.rand(2, 3, 128, 128).astype("f"), np.array([[10, 10, 60, 80]], "f")

    def step():
        loss.cleargrads()
        loss(x, [bbox] * 2, [np.array([1], "i")] * 2).backward()
        optimizer.update()

    step()
    return loss, step


def _compile_and_step(made):
    loss, step = made
    loss.compile(train=True)
    for _ in range(3):
        step()


def walks():
    """Name and what to call."""
    np.random.seed(0)
    img = np.random.randint(0, 256, (3, 64, 96)).astype(np.uint8)
    ssd = L.SSD300(n_fg_class=3)
    yield "image -> SSD300.predict", lambda: ssd.predict([img])
    faster = L.FasterRCNNFPN(3, settings=L.FasterRCNNFPNSettings(min_size=64, max_size=96))
    yield "image -> FasterRCNNFPN.predict", lambda: faster.predict([img])
    pspnet = L.PSPNetResNet101(n_class=3, input_size=(65, 65))
    yield "image -> PSPNet.predict", lambda: pspnet.predict([img])
    classifier = L.ResNet18(n_class=3)
    x, t = np.random.rand(2, 3, 32, 32).astype("f"), np.array([0, 1], np.int32)
    optimizer = MomentumSGD(0.01).setup(classifier)

    def step():
        loss = cvzoo.functions.softmax_cross_entropy(classifier(x), t)
        classifier.cleargrads()
        loss.backward()
        optimizer.update()

    yield "training step of ResNet18, eager", step
    losses = [_retinanet_loss(), _retinanet_loss()]
    yield "RetinaNet-18: compiled, three steps", lambda: _compile_and_step(losses.pop())
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.safetensors"
        save_model(path, ssd)
        yield "load_model(SSD300's file)", lambda: load_model(path)


def main():
    print(f"{'walk':<36} rooms files functions   calls stack files on it")
    for name, act in walks():
        walk = watched(act)
        rooms = {file[len(PACKAGE) + 1 :].split("/")[0] for file in walk.files}
        depth, on_it = walk.deepest
        print(
            f"{name:<36} {len(rooms):5} {len(walk.files):5} {len(walk.functions):9} {walk.calls:7} {depth:5} {on_it:11}"
        )


if __name__ == "__main__":
    main()
